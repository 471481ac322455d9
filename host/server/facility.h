/* server/facility.h - the virtual facility as devices on the network: a KUKA controller (RSI) and an ATI
 * sensor (RDT, HTTP) for each satellite, with the scenario's plant behind them. */
#ifndef FF_SERVER_FACILITY_H
#define FF_SERVER_FACILITY_H

#include "devices/ati/ati.h"
#include "devices/rsi/rsi.h"
#include "devices/torque/torque.h"
#include "facility/plant.h"
#include "network/address.h"

#include <stdatomic.h>

typedef struct ff_facility_options {
    ff_ports ports;
    bool lockstep;    /* time advances only with the answer */
    bool once;        /* end after the first client's session */
    double patience;  /* [s] lockstep: an answer that takes longer ends the session; 0: 20 */
    unsigned timeout; /* late answers in a row that stop RSI; 0: 10, as on a controller */
    const atomic_bool *stop;
    /* one line for the user; may be NULL */
    void (*say)(void *user, const char *line);
    void *user;
    atomic_bool *ready; /* set once the devices serve; may be NULL */
    /* what is really there in each cycle of the first robot; for tests; may be NULL */
    void (*watch)(void *user, uint64_t k, const ff_truth *truth);
    /* each cycle (session from 0, IPOC) of a controller that has met its client: the answer that it took
     * (NULL: none in time, the tags hold their values), and the pose of the body that it makes of it
     * (scenario's frame); may be NULL
     */
    void (*received)(void *user, int body, uint64_t session, uint64_t ipoc, const ff_rsi_sen *answer,
                     const ff_pose *T);
} ff_facility_options;

typedef struct ff_facility_result {
    ff_status status;
    char message[256];
    uint64_t sessions; /* clients served */
    uint64_t cycles;   /* of the last session */
    ff_rsi_stop stopped;
    ff_rsi_controller_info rsi[FF_MAX_BODIES];
    uint64_t injected[FF_FAULTS];     /* cycles of the last session in which each fault acted */
    uint64_t records, stolen;         /* sensors: records sent, streams taken over by a second client */
    ff_setpoint robot[FF_MAX_BODIES]; /* where the robots stood at the end */
    double force[FF_MAX_BODIES];      /* [N] true contact force then */
    /* of an emulation: what only the facility knows of the contact, and the arm's commands */
    double contact_s, peak_force;
    ff_torque_arm_counters arm;
} ff_facility_result;

/* Serves until stopped. FF_ERR_DEVICE (a port is taken), FF_ERR_UNSUPPORTED, FF_ERR_MEMORY with a sentence in
 * the result. */
void ff_facility_run(const ff_scenario *scenario, const ff_facility_options *options,
                     ff_facility_result *result);

/* Writes the files of each KUKA controller of the scenario into the folder, of several into one for each
 * satellite. FF_ERR_UNSUPPORTED: it names none; FF_ERR_IO; the plan's errors; each with a sentence. */
ff_status ff_facility_files(const ff_scenario *scenario, const ff_ports *ports, const char *folder,
                            char *message, size_t size);

#endif
