/* obsw/computer.h - the servicer's computer: its sensors, its software (built in, a shared object, a program
 * over UDP, or a recording), and what is done when the software is late, silent or sends what is not a
 * number.
 *
 * One path for all kinds: a good answer acts; without one the last good answer is held for `hold`, then
 * nothing acts. The thrusters' limits act after that, on whatever the software asked for. */
#ifndef FF_OBSW_COMPUTER_H
#define FF_OBSW_COMPUTER_H

#include "obsw/builtin.h"
#include "obsw/exchange.h"
#include "obsw/sensors.h"
#include "obsw/shared.h"
#include "scenario/scenario.h"
#include "text/keep.h"

typedef enum ff_obsw_kind { FF_OBSW_BUILTIN, FF_OBSW_SHARED, FF_OBSW_UDP } ff_obsw_kind;

/* What a recording says the software answered in cycle k; false: it says nothing. */
typedef struct ff_obsw_record {
    void *self;
    bool (*read)(void *self, uint64_t k, ff_obsw_out *out);
} ff_obsw_record;

typedef struct ff_computer_config {
    ff_obsw_kind kind;
    double cycle; /* [s] */
    uint64_t seed;
    ff_navigation_config navigation;
    double hold;                      /* [s] a good answer acts so long without a new one */
    double force_limit, torque_limit; /* [N, N m] of the thrusters, each axis; FF_INF */
    ff_builtin_config builtin;        /* tree and work are needed for every kind: they say the joints */
    const char *library;              /* FF_OBSW_SHARED */
    ff_held *held;                    /* has its bytes; NULL: they are read when it is opened */
    double library_timeout;           /* [s] wall clock, for one step; its start may take ten times as long */
    ff_obsw_udp_config udp;           /* FF_OBSW_UDP */
    ff_obsw_opener *opener;           /* FF_OBSW_UDP; NULL: there is no network */
    ff_obsw_record record;            /* read NULL: none; else instead of the software */
    const ff_obsw_call *call;         /* NULL: none; likewise */
} ff_computer_config;

typedef enum ff_obsw_action { FF_OBSW_FRESH, FF_OBSW_HELD, FF_OBSW_ZERO } ff_obsw_action;

typedef struct ff_obsw_info {
    uint64_t steps;
    uint64_t missed;                /* cycles without a good answer: none came, or one that is not a number */
    uint64_t held, zeroed;          /* cycles in which the last good answer acted; in which nothing did */
    uint64_t saturated;             /* cycles with a thruster at its limit */
    double longest_silence;         /* [s] */
    double most_force, most_torque; /* [N, N m] asked for, largest axis */
    ff_obsw_exchange_info exchange; /* UDP */
    ff_obsw_shared_info shared;     /* a shared object's process */
} ff_obsw_info;

typedef struct ff_computer {
    ff_computer_config config;
    size_t joints;
    ff_obsw_sensors sensors;
    ff_obsw_shared shared;
    ff_obsw_exchange exchange;
    ff_obsw_in in;
    ff_obsw_out safe;
    double heard; /* [s] when the last good answer came; negative: never */
    ff_obsw_info info;
} ff_computer;

void ff_computer_default(ff_computer_config *config);
/* That of a scenario with an arm; the built-in controller's tree and work are the caller's. */
void ff_computer_configure(const ff_scenario *scenario, ff_computer_config *config);
/* The built-in controller holds from the moment the gripper has really closed, and stays passive once it has
 * let go. Before the step of time t. */
void ff_computer_gripper(ff_computer *computer, bool closed, double t);
/* Force [N] and torque [N m] of the thrusters on the base, base axes, about its origin. */
ff_wrench ff_obsw_thrust(const ff_obsw_out *out);
/* FF_ERR_DEVICE, FF_ERR_MEMORY, FF_ERR_ARGUMENT, FF_ERR_UNSUPPORTED with one sentence. */
ff_status ff_computer_open(const ff_computer_config *config, ff_computer *computer, char *message,
                           size_t size);
void ff_computer_close(ff_computer *computer);
/* Its state (text/keep.h); refused where the software is a process of its own. */
void ff_computer_keep(ff_computer *computer, ff_keeper *keeper);
/* One cycle; states are inertial, mapped by (23). *out is what acts, finite and within the thrusters' limits.
 * FF_OK; FF_ERR_DEVICE with a sentence: a program over UDP never answered, a shared object did not survive
 * its first step. */
ff_status ff_computer_step(ff_computer *computer, double t, const ff_rigid_state *client,
                           const ff_rigid_state *base, const double *q, const double *qd, ff_obsw_out *out,
                           ff_obsw_action *action, char *message, size_t size);
const char *ff_obsw_kind_name(ff_obsw_kind kind);

#endif
