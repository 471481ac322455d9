/* network/address.h - which devices a scenario names, and where they are. */
#ifndef FF_NETWORK_ADDRESS_H
#define FF_NETWORK_ADDRESS_H

#include "devices/device.h"
#include "net/socket.h"
#include "scenario/scenario.h"

typedef struct ff_ports {
    unsigned rsi_port, ati_port, http_port; /* 0: the scenario's; the second body takes the next one */
} ff_ports;

/* Of one body. */
typedef struct ff_address {
    const ff_device *robot, *sensor;
    struct sockaddr_in robot_at;   /* where this computer listens for the controller; of a stream: it */
    struct sockaddr_in program_at; /* of a stream: where its program is sent */
    struct sockaddr_in sensor_at, page_at; /* the sensor, and its page */
    bool virtual;                          /* nothing outside this computer can be behind these addresses */
} ff_address;

typedef struct ff_addresses {
    bool virtual;         /* all of them */
    const ff_device *arm; /* the servicer's; NULL: there is none */
    struct sockaddr_in arm_at;
    ff_address body[FF_MAX_BODIES];
} ff_addresses;

/* FF_OK, or FF_ERR_ARGUMENT with a sentence. A virtual kind of robot or sensor is reached as the first device
 * of the list, on this computer. */
ff_status ff_addresses_find(const ff_scenario *scenario, const ff_ports *ports, ff_addresses *addresses,
                            char *message, size_t size);
/* The same of an arm: of --rsi-port it takes the next one after `robots` of them. */
ff_status ff_address_find_arm(const ff_arm_device *arm, const ff_ports *ports, int robots,
                              const ff_device **device, struct sockaddr_in *at, char *message, size_t size);

#endif
