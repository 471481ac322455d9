/* loop/cycle.h - what one cycle of the loop computes in passing, and the part of bodies with joints in it. */
#ifndef FF_LOOP_CYCLE_H
#define FF_LOOP_CYCLE_H

#include "loop/stage.h"

typedef struct ff__cycle {
    ff_body_sample sample[FF_MAX_BODIES];   /* 1 */
    double compliance[FF_MAX_BODIES][6][6]; /* of elastic robots */
    ff_gears gears[FF_MAX_BODIES];
    ff_rigid_state next[FF_MAX_BODIES]; /* satellites at t_(k+1), with their output velocities */
    ff_integrate_state integrate[FF_MAX_BODIES];
    ff_integrate_out step[FF_MAX_BODIES]; /* and energies */
    ff_nominal_state nominal;
    /* with joints: */
    ff_wrench port;      /* contact wrench on the port, its own axes: measured, then as felt */
    ff_rigid_state ride; /* satellite as its port moves */
    ff_body_state tree;  /* at t_(k+1) */
} ff__cycle;

static inline bool ff__has_joints(const ff_loop_config *config, int i) {
    return config->joints.tree && config->joints.body == i;
}

/* The body's inertia at the start. *what names the part that is refused. */
ff_status ff__joints_check(const ff_loop_config *config, int i, ff_rigid_model *rigid, const char **what);
/* Kinetic energy at the start. */
double ff__joints_reset(const ff_loop_model *model, ff_loop_state *state);
/* New joints: base, view and ledger. FF_ERR_NOT_FINITE. */
ff_status ff__joints_measure(const ff_loop_model *model, ff_loop_state *state, const ff_loop_in *in,
                             ff_loop_out *out);
/* After stage 1, which knows no joints: the port's wrench about the base's origin, and its reactions. */
void ff__joints_place(const ff_loop_model *model, const ff_loop_state *state, ff_loop_out *out);
/* Between stages 1 and 3: what the method is shown: wrench and motion of the port, reactions. */
void ff__joints_see(const ff_loop_model *model, const ff_loop_state *state, const ff_loop_in *in,
                    const ff_loop_out *out, ff__cycle *c);
/* Stages 2 and 3 of a loop with joints. */
ff_status ff__joints_correct(const ff_loop_model *model, ff_loop_state *state, ff__cycle *c, ff_method_in *in,
                             ff_method_out *out);
/* The body from t_k to t_(k+1). */
void ff__joints_advance(const ff_loop_model *model, const ff_loop_state *state, const ff_loop_in *in,
                        const ff_method_out *felt, ff__cycle *c);
/* The second half of a held wrench at the end of the cycle, on the port or on a body i that feels its
 * reaction. */
void ff__joints_finish(const ff_loop_model *model, int i, ff__cycle *c);
void ff__joints_book(const ff_loop_model *model, const ff_loop_state *state, const ff__cycle *c,
                     ff_wrench F_c, ff_energy *energy);

#endif
