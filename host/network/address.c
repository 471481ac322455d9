#include "network/address.h"

#include <stdio.h>
#include <string.h>

#define FF_HTTP_PORT 49180

static ff_status refuse(const char *name, char *message, size_t size, const char *text) {
    snprintf(message, size, "satellites.%s: %s", name, text);
    return FF_ERR_ARGUMENT;
}

/* The device of a kind that the scenario names, which then gives address and ports; else a virtual one. */
static const ff_device *device_of(ff_device_kind kind, const char *name, bool *named) {
    const ff_device *device = ff_device_find(kind, name);
    *named = strcmp(device->name, name) == 0;
    return device;
}

static unsigned port_of(unsigned option, unsigned scenario, bool named, unsigned usual, unsigned step) {
    return option ? option + step : named ? scenario : usual + step;
}

static ff_status find(const ff_satellite *satellite, const ff_ports *ports, int i, ff_address *body,
                      char *message, size_t size) {
    const ff_robot_config *robot = &satellite->robot;
    const ff_sensor_config *sensor = &satellite->sensor;
    const unsigned step = (unsigned)i;
    bool own_robot, own_sensor;
    body->robot = device_of(FF_DEVICE_ROBOT, ff_robot_names[robot->kind], &own_robot);
    body->sensor = device_of(FF_DEVICE_SENSOR, ff_sensor_names[sensor->kind], &own_sensor);
    const unsigned robot_port =
        port_of(ports->rsi_port, (unsigned)robot->port, own_robot, body->robot->port, step);
    const unsigned sensor_port =
        port_of(ports->ati_port, (unsigned)sensor->port, own_sensor, body->sensor->port, step);
    const unsigned page_port =
        port_of(ports->http_port, (unsigned)sensor->http_port, own_sensor, FF_HTTP_PORT, step);
    if (ff_socket_address(own_robot ? robot->address : "127.0.0.1", robot_port, &body->robot_at) != FF_OK)
        return refuse(satellite->name, message, size,
                      "robot.address and port must be an IPv4 address and at most 65535");
    const char *address = own_sensor ? sensor->address : "127.0.0.1";
    if (ff_socket_address(address, sensor_port, &body->sensor_at) != FF_OK ||
        ff_socket_address(address, page_port, &body->page_at) != FF_OK)
        return refuse(satellite->name, message, size,
                      "sensor.address and its ports must be an IPv4 address and at most 65535");
    body->virtual = ff_socket_is_loopback(&body->robot_at) && ff_socket_is_loopback(&body->sensor_at);
    return FF_OK;
}

ff_status ff_addresses_find(const ff_scenario *scenario, const ff_ports *ports, ff_addresses *addresses,
                            char *message, size_t size) {
    *addresses = (ff_addresses){.virtual = true};
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_status status = find(&scenario->satellite[i], ports, i, &addresses->body[i], message, size);
        if (status != FF_OK)
            return status;
        addresses->virtual &= addresses->body[i].virtual;
    }
    return FF_OK;
}
