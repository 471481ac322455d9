/* executive/preflight.h - CHECK and TEST: what is measured at standstill and by small motions and pushes
 * before a robot may be armed. The cycle measures and sets targets; whoever attends the run evaluates, in
 * another thread, what a flag says is complete. */
#ifndef FF_EXECUTIVE_PREFLIGHT_H
#define FF_EXECUTIVE_PREFLIGHT_H

#include "executive/check.h"
#include "ideal/ideal.h"

#include <stdatomic.h>

enum { FF_PREFLIGHT_CYCLES = 100 }; /* samples at standstill */
/* where a run begins the robot stands, in the check and at arming, within */
#define FF_PREFLIGHT_START_MM 1.0
#define FF_PREFLIGHT_START_DEG 0.1

typedef struct ff_preflight_body {
    /* at standstill */
    ff_wrench reading; /* the first raw one */
    ff_wrench sum;     /* of the raw readings */
    ff_wrench square;  /* of what they differ from the first: two large squares would leave no small noise */
    unsigned repeated; /* records with the counts of the one before */
    ff_wrench rest_b;  /* contact wrench, before the zero */
    ff_pose first;
    double apart, apart_angle, moved;
    ff_wrench again,
        latest;      /* [N], [N m] sensor frame: sum of a standstill after the check, mean of the last one */
    ff_wrench began; /* the first reading of that standstill */
    /* the small motions */
    ff_trial trial;
    ff_trial_sample *sample;
    size_t samples, capacity;
    /* the pushes */
    double threshold[2]; /* [N], [N m] */
    ff_push_state push;
} ff_preflight_body;

typedef struct ff_preflight {
    const ff_scenario *scenario; /* kept, not copied, as the plan */
    const ff_plan *plan;
    bool virtual; /* every device is */
    ff_check check;
    /* the cycle says: measured, tested; the attendant: tests may begin, all has passed, arm, or not */
    atomic_bool measured, tested;
    atomic_bool tests, passed, armed, refused;
    unsigned standing;    /* cycles of it */
    unsigned renewing;    /* cycles of the standstill that is measured again until the operator arms */
    bool renewed;         /* it was, at least once */
    bool testing;         /* the robots move for a test */
    uint64_t trial_cycle; /* of the test motions */
    double trial_end;     /* [s] of the longest */
    int push_body, push_axis;
    bool asked; /* the push was asked for */
    ff_preflight_body body[FF_MAX_BODIES];
} ff_preflight;

/* Of memory that is zero. FF_OK; FF_ERR_MEMORY with a sentence. */
ff_status ff_preflight_open(ff_preflight *preflight, const ff_scenario *scenario, const ff_plan *plan,
                            bool virtual, char *message, size_t size);
void ff_preflight_close(ff_preflight *preflight);

/* What the evaluation needs of a run that is open. */
typedef struct ff_preflight_view {
    const ff_loop_model *model;
    const ff_output_config *output; /* of each body */
    const ff_ideal_result *ideal;   /* may be NULL */
    ff_safety_config *safety;       /* the thresholds of a contact follow the noise */
} ff_preflight_view;

/* The attendant's thread, while the robots hold: fills the table with what was measured at standstill and,
 * once they were made, by the tests. */
void ff_preflight_evaluate(ff_preflight *preflight, const ff_preflight_view *view, bool tested);
/* The tests that the scenario asks for; *moves: the robots move for them. A motion out of reach is a no-go.
 */
bool ff_preflight_has_tests(ff_preflight *preflight, bool *moves);

#endif
