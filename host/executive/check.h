/* executive/check.h - what is tried and judged before arming: the hand-push test, the small motions that
 * identify weight and delay, and the table of go and no-go. Pure functions: no socket, no clock, no thread.
 */
#ifndef FF_EXECUTIVE_CHECK_H
#define FF_EXECUTIVE_CHECK_H

#include "fit/log.h"
#include "facility/plan.h"
#include "safety/safety.h"

/* ------------------------------------------------------------------------------------------ the report -- */

typedef enum ff_check_verdict {
    FF_CHECK_GO,
    FF_CHECK_NO_GO,
    FF_CHECK_SKIPPED, /* the scenario asked to leave it out */
    FF_CHECK_SHOWN    /* a number without a limit */
} ff_check_verdict;

typedef struct ff_check_row {
    int body;
    const char *what; /* "bias and noise" */
    const char *key;  /* "bias_noise_N": its name in summary.json */
    double value;     /* as shown */
    double limit;     /* FF_NAN: none */
    const char *unit;
    ff_check_verdict verdict;
    char reason[160]; /* a sentence; may be empty */
} ff_check_row;

enum { FF_CHECK_ROWS = 32 * FF_MAX_BODIES };

/* One push: what was asked for and what the sensor said. */
typedef struct ff_check_push {
    bool done, right;
    int seen;       /* axis that dominates: 0..5 for x y z force or torque */
    bool negative;  /* and its sign */
    double part;    /* largest other component over the asked one; > 1: another one dominates */
    ff_vec3 sample; /* [N] or [N m] mean over the push, body axes */
} ff_check_push;

/* What was found of one body. */
typedef struct ff_check_body {
    ff_wrench bias;            /* [N m, N] reading at rest, sensor frame, without the mock-up's weight */
    double force_noise;        /* [N] sd, largest axis */
    double torque_noise;       /* [N m] */
    double repeated;           /* part of the records with the counts of the one before */
    double drift;              /* [m/s2] what the zero leaves: noise of the mean, and the weight's residual */
    double apart, apart_angle; /* [m, rad] FK(AIPos) from RIst */
    double off, off_angle;     /* [m, rad] robot from its park pose */
    double moved;              /* [m] while it should have stood */
    ff_check_push push[6];
    bool weighed; /* by poses */
    ff_log_payload payload;
    bool timed; /* by a chirp */
    ff_log_delay delay;
    bool aligned;     /* force against pose, by the same chirp */
    ff_estimate skew; /* [s] the force is so much older */
    ff_forecast forecast;
} ff_check_body;

/* What was measured at standstill and by the tests, and what is to be expected. */
typedef struct ff_check {
    ff_check_body body[FF_MAX_BODIES];
    ff_check_row row[FF_CHECK_ROWS];
    int rows;
    ff_trip no_go;    /* NONE: go; else the first no-go of the table */
    char reason[200]; /* its sentence */
} ff_check;

/* Appends a row: beyond the limit (_least: below it) it is a no-go with `code`. The reason may be NULL. */
void ff_check_add(ff_check *check, int body, const char *what, const char *key, double value, double limit,
                  const char *unit, ff_trip_code code, const char *reason);
void ff_check_least(ff_check *check, int body, const char *what, const char *key, double value, double limit,
                    const char *unit, ff_trip_code code, const char *reason);
void ff_check_show(ff_check *check, int body, const char *what, const char *key, double value,
                   const char *unit);
/* Left out, and why. */
void ff_check_skip(ff_check *check, int body, const char *what, const char *key, const char *reason);
/* The table as text, one line a row; and as JSON, an object. malloc'ed; NULL: no memory. */
char *ff_check_text(const ff_scenario *scenario, const ff_check *check);
char *ff_check_json(const ff_scenario *scenario, const ff_check *check);

/* -------------------------------------------------------------------------------------- hand-push test -- */

/* What the operator is asked for, one after the other: "push +x" ... "twist +z". The same text goes to the
 * controller's pendant (EStr); a virtual facility obeys it. */
const char *ff_push_text(int axis);
/* Of a text on the pendant; -1: none. */
int ff_push_asked(const char *text);
/* [N] or [N m] beyond which a reading counts as a push. */
double ff_push_threshold(int axis, double noise, double range);
/* What the virtual hand does t [s] after it was asked: not exactly along the axis, as no hand is. False: it
 * is done. */
bool ff_push_virtual(int axis, double t, double noise, double range, ff_wrench *push_b);

typedef struct ff_push_state {
    int axis;
    double waited; /* [s] */
    bool pushed;
    unsigned released; /* [cycles] */
    ff_vec3 sum;
    unsigned count;
} ff_push_state;

void ff_push_start(ff_push_state *state, int axis);
/* One cycle with the reading less its value at rest, body axes about the CoM. True when the push is over, or
 * was waited for in vain. */
bool ff_push_step(ff_push_state *state, double threshold, double wait, double cycle, ff_wrench f_b,
                  ff_check_push *push);
/* The axis asked for must carry at least twice what each other one does, with its sign. The sentence names
 * what was asked and what was seen. */
void ff_push_judge(int axis, ff_check_push *push, char *reason, size_t size);

/* --------------------------------------------------------------------------------------- small motions -- */

/* Tilts about two axes across gravity, then the chirp; at rest at the park pose before and after. */
typedef struct ff_trial {
    ff_pose park;
    double cycle;
    bool poses, chirp;
    ff_vec3 tilt[6];         /* rotation vectors in body axes, first and last zero */
    double move, dwell;      /* [s] of one tilt, and rest after it */
    double amplitude;        /* [m] */
    ff_vec3 direction;       /* of the chirp: it goes there and back, never in the other direction */
    double tilt_end, settle; /* [s] */
    double end;              /* [s] of everything */
} ff_trial;

/* Whether the robot tilts the mock-up; else *why has the reason. */
bool ff_trial_weighs(const ff_scenario *scenario, int body, const char **why);
/* From the scenario; the motions keep half of what the robot's answers may do (ff_plan_output). */
void ff_trial_plan(const ff_scenario *scenario, const ff_plan *plan, int body, ff_trial *trial);
/* [s] that such a path takes, at half of what the robot's answers may do. */
double ff_trial_span(const ff_output_config *limit, ff_pose from, ff_pose to);
/* A smooth path from one pose to another, at rest at both ends; u from 0 to 1 in `span` [s]. */
ff_setpoint ff_trial_between(ff_pose from, ff_pose to, double u, double span);
ff_setpoint ff_trial_at(const ff_trial *trial, double t);
/* FF_ERR_REACH with a sentence. */
ff_status ff_trial_reach(const ff_trial *trial, const ff_plan_body *body, char *message, size_t size);

/* One cycle of the trial, kept for the fits. */
typedef struct ff_trial_sample {
    ff_setpoint command, robot;
    ff_wrench f_s; /* raw */
} ff_trial_sample;

/* Mass, CoM and bias from the tilts. */
ff_status ff_trial_weigh(const ff_trial *trial, const ff_wrench_config *frames, const ff_trial_sample *sample,
                         size_t count, ff_log_payload *payload, char *message, size_t size);
/* [N] largest mean force that bias and weight leave while the robot rests at a tilt. */
double ff_trial_drift(const ff_trial *trial, const ff_wrench_config *fitted, ff_wrench bias_s,
                      const ff_trial_sample *sample, size_t count);
/* Delay from the chirp. */
ff_status ff_trial_time(const ff_trial *trial, const ff_trial_sample *sample, size_t count, double longest,
                        ff_log_delay *delay, char *message, size_t size);

/* By how much the force is older than the pose, from the mock-up's inertia force while the chirp moves it.
 * `behind` [s]: that force's own age, half a cycle for virtual sensors, whose robots' acceleration is the
 * mean over the last cycle. FF_ERR_ARGUMENT with a sentence where the force cannot be seen. */
ff_status ff_trial_align(const ff_trial *trial, const ff_wrench_config *frames, double behind,
                         const ff_trial_sample *sample, size_t count, ff_estimate *skew, char *message,
                         size_t size);

/* Smallest distance [rad] from a joint's end over a motion of `samples` states, one a cycle; negative: the
 * first state that the arm cannot reach. *when [s]. */
double ff_check_margin(const ff_plan_body *body, const ff_rigid_state *state, size_t stride, uint64_t samples,
                       double cycle, double *when);
/* The largest share of its speed that an axis (1 to 6) needs for this motion, and when [s]; as far as the arm
 * reaches. */
double ff_check_speed(const ff_plan_body *body, const ff_rigid_state *state, size_t stride, uint64_t samples,
                      double cycle, int *axis, double *when);

#endif
