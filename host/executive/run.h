/* executive/run.h - a scenario from its start to its end in virtual time: what a run is asked, what it
 * answers. A run on devices (operator/operator.h) takes and gives the same. */
#ifndef FF_EXECUTIVE_RUN_H
#define FF_EXECUTIVE_RUN_H

#include "executive/guidance.h"
#include "executive/walk.h"
#include "ideal/ideal.h"
#include "obsw/computer.h"
#include "rows/axes.h"
#include "rows/sink.h"
#include "text/keep.h"

/* What may be looked at and changed between two cycles. model, in and out are NULL for the method
 * `ideal`: nothing of it is tuned. */
typedef struct ff_run_access {
    uint64_t k; /* the cycle that comes next */
    double t;   /* [s] its time */
    ff_loop_model *model;
    const ff_loop_in *in;   /* last cycle's readings; meaningless before the first */
    const ff_loop_out *out; /* and what the loop made of them */
} ff_run_access;

typedef struct ff_run_options {
    const ff_ideal_result *ideal; /* reference for the rows; needed for method ideal; may be NULL otherwise */
    const ff_sink *sinks;
    int count;
    bool timing;                               /* measure each step */
    bool (*progress)(void *user, double part); /* may be NULL; false stops the run */
    void *user;
    bool (*between)(void *user, const ff_run_access *access); /* before each cycle: may wait (a paced run) and
                                                                  tune; may be NULL; false stops the run */
    void *between_user;
    ff_guidance guidance;   /* orders for a servicer with an arm; step NULL: its on-board software */
    ff_obsw_record record;  /* read NULL: none; else answers in place of the on-board software */
    ff_obsw_opener *opener; /* reaches on-board software over UDP; NULL: such scenarios are refused */
} ff_run_options;

/* A device's clock against this computer's, as fitted; of a run on devices. */
typedef struct ff_run_clock {
    bool known;
    double drift_ppm;  /* its seconds are longer than ours by so much */
    double residual_s; /* rms of the arrivals about the fit */
    double largest_s;  /* in size */
    uint64_t restarts; /* it was set meanwhile */
    double sensor_hz;  /* the sensor's count a second of ours; 0: not known */
    double sensor_s;   /* rms of its records about their fit */
} ff_run_clock;

/* How a run with limits ended. */
typedef struct ff_run_safety {
    bool watched;   /* limits acted; else nothing below is known */
    ff_state state; /* END: it came to its end, or was interrupted; HOLD, FAULT: it was stopped */
    ff_trip cause;  /* why */
    double ended;   /* [s] when */
    bool stopped[FF_MAX_BODIES], retreated[FF_MAX_BODIES];
    ff_stop_why why[FF_MAX_BODIES];  /* what the stop came to */
    ff_setpoint rest[FF_MAX_BODIES]; /* measured at the end */
} ff_run_safety;

typedef struct ff_run_result {
    ff_status status;  /* FF_OK, FF_ERR_DIVERGED, FF_ERR_IO (a sink), FF_ERR_DEVICE ... */
    uint64_t cycles;   /* done */
    ff_obsw_info obsw; /* of the on-board software */
    ff_run_safety safety;
    ff_loop_info info; /* counters of refused samples and held commands */
    uint64_t limited;  /* commands of a robot that were not sent as they are, because a limit acts */
    int reports;       /* what the method reports of the run, by its columns */
    double report[FF_METHOD_VALUES];
    double wall_s;                      /* time the loop and plant took */
    double cycle_mean_ns, cycle_max_ns; /* of the loop's step; 0 without timing */
    ff_run_clock clock[FF_MAX_BODIES];  /* each satellite's robot and sensor */
    char message[400];                  /* one sentence when status is negative */
} ff_run_result;

/* Everything that ff_run does before the first cycle, and nothing more: loop and virtual facility are opened
 * and closed, on-board software is configured but not started. result->status and message are those with
 * which ff_run would refuse the scenario. */
void ff_run_prepare(const ff_scenario *scenario, ff_run_result *result);
/* Runs the scenario on the virtual facility to its end, or to the first fault. Rows: one per cycle and a last
 * one with `final`. */
void ff_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result);

/* The same cycle by cycle. */
typedef struct ff_running ff_running;

/* Opens a run, which lends from `scenario` and `result`; options are copied, what they point to is lent.
 * NULL: result->status and message say why; FF_ERR_UNSUPPORTED also: method ideal of a scenario with an arm,
 * whose orbit is flown in one piece. */
ff_running *ff_running_open(const ff_scenario *scenario, const ff_run_options *options,
                            ff_run_result *result);
/* One cycle, with its row. False: the run has ended, at its end or as result->status says; nothing was done.
 */
bool ff_running_cycle(ff_running *running);
/* Ends a run between two cycles. */
void ff_running_stop(ff_running *running);
/* Completes *result. NULL is allowed. */
void ff_running_close(ff_running *running);
/* State between two cycles (text/keep.h). Refused: on-board software in a process of its own, whose state is
 * not ours. */
void ff_running_keep(ff_running *running, ff_keeper *keeper);
/* What acts from the next cycle on, until it is set again, of one satellite. A load beside the scenario's:
 * force inertial, torque in body axes. A hand on the mock-up: a wrench about the CoM in the robot's body axes
 * that the sensor feels beside the contacts'. A command in place of the loop's, in the robots' frame; NULL:
 * the loop's again. FF_ERR_UNSUPPORTED: the method is ideal, which has neither robots nor sensors. */
ff_status ff_running_load(ff_running *running, int body, ff_rigid_load load);
ff_status ff_running_push(ff_running *running, int body, ff_wrench push_b);
ff_status ff_running_command(ff_running *running, int body, const ff_setpoint *command);

#endif
