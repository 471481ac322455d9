/* executive/executive.h - the one cycle of a run: a station's sample in, the robots' commands and a row out.
 *
 * Whatever the station is (virtual facility, devices on the network, recorded log), this is the order of
 * events; ff_executive_cycle reads as its table of contents. Neither threads nor sockets nor the clock are
 * used. */
#ifndef FF_EXECUTIVE_EXECUTIVE_H
#define FF_EXECUTIVE_EXECUTIVE_H

#include "executive/guard.h"
#include "executive/preflight.h"
#include "executive/run.h"
#include "executive/virtual_contact.h"
#include "facility/station.h"
#include "text/keep.h"

/* Who attends a run on devices. Called in the cycle: neither may wait. */
typedef struct ff_attendant {
    void *self;
    bool (*stops)(void *self);    /* the end was asked for */
    ff_trip (*finds)(void *self); /* what it has found wrong, or NONE */
} ff_attendant;

/* What leads the robots before t = 0 and after the end; on devices only. */
typedef struct ff_phases {
    ff_plan *plan;                           /* NULL: the run begins in FLOAT and needs no stop at its end */
    ff_preflight *preflight;                 /* CHECK and TEST */
    ff_attendant attendant;                  /* the operator's side */
    double lead[FF_MAX_BODIES];              /* [s] by which the method's commands are ahead */
    ff_output_config output[FF_MAX_BODIES];  /* what each answer keeps */
    bool passed;                             /* every check says go */
    bool arrived;                            /* where the motion begins */
    uint64_t approached;                     /* cycles of the approach */
    ff_pose stood[FF_MAX_BODIES];            /* where it began */
    double span;                             /* [s] that it takes */
    bool begun;                              /* the run-up: from here on the run's time is known */
    uint64_t runup;                          /* cycles of it done */
    bool finished;                           /* the last row was made */
    bool hold;                               /* ordered: come to rest and stay, until a stop */
    unsigned rest;                           /* cycles since the stop was done */
    uint64_t since;                          /* cycles since the last of the loop: of braking and holding */
    ff_wrench used[FF_MAX_BODIES];           /* contact wrench of the loop's last cycle */
    uint64_t missed, missed_at_rest, filled; /* cycles without a telegram; before the motion; filled in */
} ff_phases;

/* What whoever steps a run puts in place of its own, from the next cycle on. */
typedef struct ff_meddling {
    bool loads, commands[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES];  /* beside those of the scenario */
    ff_setpoint command[FF_MAX_BODIES]; /* in place of the loop's, in the robots' frame */
} ff_meddling;

/* Large: not on the stack. */
typedef struct ff_executive {
    const ff_scenario *scenario;   /* lent by the caller until close, as the next three */
    const ff_run_options *options; /* sinks, reference, orders between cycles */
    ff_run_result *result;         /* status, message and counters are kept here */
    int64_t (*now)(void);          /* clock that times the step; NULL: it is not timed */
    ff_station station;
    ff_guard guard;            /* state of the run, and its limits */
    ff_trip found;             /* by the loop: judged in the next cycle */
    ff_phases phases;          /* on devices */
    unsigned led;              /* bodies that a stop leads out of a contact */
    uint64_t tick;             /* cycles of the station so far */
    uint64_t k;                /* cycle of the loop: those of a stop are not counted */
    uint64_t done;             /* cycles of the loop since the program began; not a state */
    bool final;                /* it is the last: where everything stands at the end */
    bool ended;                /* no more cycles: the end was reached, or result->status says why not */
    bool stepped;              /* in this cycle the loop was */
    bool guided;               /* and the guidance has ordered */
    double step_ns, total_ns;  /* time of this cycle's step, of all */
    ff_rigid_state nominal;    /* motion at this cycle */
    ff_loop_config config;     /* as the scenario asks */
    ff_loop_memory loop;       /* model and state in memory of the size that they need */
    ff_joints_memory joints;   /* and what they point to, where a body has joints */
    int servicer;              /* that body; -1: there is none */
    ff_virtual_contacts touch; /* that no sensor feels */
    ff_guidance_order order;   /* of the guidance, for it */
    ff_arm_order arm;          /* and what the arm is to do of it */
    ff_loop_in in;
    ff_loop_out out;
    ff_sample sample;
    ff_sent sent[FF_MAX_BODIES]; /* of this cycle's commands, really */
    ff_row row;
    ff_row_arms arms; /* whose axes no device reports */
    ff_meddling meddling;
} ff_executive;

/* Prepares the loop and opens the station. FF_OK, or a negative status and a sentence, both in *result: then
 * nothing is left open. */
ff_status ff_executive_open(ff_executive *executive, const ff_scenario *scenario, ff_station station,
                            const ff_run_options *options, int64_t (*now)(void), ff_run_result *result);
/* The same on devices, from OFF. The preflight is open; plan and preflight are lent until close. The run-up
 * begins as much earlier as the method's commands are ahead. */
ff_status ff_executive_open_devices(ff_executive *executive, const ff_scenario *scenario, ff_station station,
                                    ff_plan *plan, ff_preflight *preflight, ff_attendant attendant,
                                    const ff_run_options *options, int64_t (*now)(void),
                                    ff_run_result *result);
/* One cycle; the one after the scenario's last ends the run. Returns result->status: FF_OK, or what ended the
 * run: FF_ERR_LIMIT (stopped between two cycles, or a limit was broken and the robots have come to rest),
 * FF_ERR_DIVERGED, what the station's wait and the sinks say. */
ff_status ff_executive_cycle(ff_executive *executive);
/* [s] of the run; negative in the run-up. It stands still where the loop does: before the run-up, after the
 * end. */
double ff_executive_time(const ff_executive *executive);
/* The same, and it goes on after the end: when something happens. Before the run-up, while nobody knows when
 * that will be, it is the time at which it begins. */
double ff_executive_clock(const ff_executive *executive);
/* On devices: the limits may have been tightened. */
void ff_executive_bound(ff_executive *executive);
/* On devices: executive->row becomes that of a cycle in which nothing came out of the loop, with what was
 * measured and commanded. */
void ff_executive_row(ff_executive *executive, bool final, double t);
/* The same, given to the sinks as a cycle outside the run: run-up, tests of the check, the one that tripped.
 */
void ff_executive_aside(ff_executive *executive, double t);
/* On devices, between two cycles: robots that are held leave a contact once more. */
void ff_executive_retreat(ff_executive *e);
/* Ends a run that has not ended, with FF_ERR_LIMIT; the message says when. */
void ff_executive_stop(ff_executive *executive);
/* State in virtual time, but for the station's (text/keep.h). */
void ff_executive_keep(ff_executive *executive, ff_keeper *keeper);
/* Closes the station and completes *result. */
void ff_executive_close(ff_executive *executive);

/* About a hundred calls a run, never more: the callback may draw. False: it wants the run to stop. */
bool ff_run_progress(const ff_run_options *options, uint64_t k, uint64_t cycles);

#endif
