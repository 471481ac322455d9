/* Contacts of one body at one time, fitted together: shared by several.c (when, and what becomes of it),
 * edges.c (where the fit begins), vary.c (normals of one tip) and refine.c (the fit). docs/methods/fused.md,
 * 9 */
#ifndef FF_FIDELITY_FUSED_SEVERAL_H
#define FF_FIDELITY_FUSED_SEVERAL_H

#include "fidelity/fused/fused.h"

/* How far a fit has come; REST_JOINT: none is under way. */
enum { REST_JOINT, GLANCE, PICK, START, SURFACE, VARY, BUILD, WRITE, REPLAY };
enum {
    JOINT_ROWS = 64, /* rows of a fit, at most: beyond they are thinned out */
    JOINT_STARTS = 2
};

typedef struct joint_row {
    ff_rigid_state x;
    ff_vec3 F, M; /* inertial, body axes */
} joint_row;

/* One contact in one row: n in body axes, depth, its rate, and what the surface makes of them. */
typedef struct joint_act {
    ff_vec3 a, arm, d, u; /* normal in body axes, r x a, tip from where depth is counted, its velocity */
    double p, v, f;
} joint_act;

static inline joint_row joint_row_of(fused_state *state, const fused_joint *z, uint64_t i) {
    const fused_sample *s = fused_at(state, z->body, i);
    return (joint_row){fused_robot_of(s), s->force, s->torque};
}

static inline joint_act joint_act_of(const fused_point *q, const ff_rigid_state *x) {
    joint_act y;
    y.a = ff_quat_unrotate(x->attitude, q->n);
    y.arm = ff_vec3_cross(q->r, y.a);
    y.d = ff_vec3_sub(ff_pose_apply(ff_rigid_pose(x), q->r), q->at);
    y.u = ff_rigid_point_velocity(x, q->r);
    y.p = -ff_vec3_dot(q->n, y.d) - q->x0;
    y.v = -ff_vec3_dot(q->n, y.u);
    y.f = y.p > 0.0 ? fmax(0.0, q->k * y.p + q->c * y.v) : 0.0;
    return y;
}

/* Two directions across a normal, and the normal turned towards them. */
static inline void joint_tangents(ff_vec3 n, ff_vec3 e[2]) {
    e[0] = ff_vec3_unit(fabs(n.x) < 0.6 ? ff_vec3_cross(n, ff_vec3_make(1, 0, 0))
                                        : ff_vec3_cross(n, ff_vec3_make(0, 1, 0)));
    e[1] = ff_vec3_cross(n, e[0]);
}

static inline ff_vec3 joint_tilted(ff_vec3 n, double a, double b) {
    ff_vec3 e[2];
    joint_tangents(n, e);
    return ff_vec3_unit(ff_vec3_axpy(a, e[0], ff_vec3_axpy(b, e[1], n)));
}

static inline double joint_dot(const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Misfit of a row that noise makes. */
static inline double joint_expected(const fused_config *config, const fused_joint *z) {
    return 3.0 * square(config->force_noise / z->unit) + 3.0 * square(config->torque_noise / z->unit_t);
}

static inline uint64_t joint_stride(const fused_joint *z) {
    return 1 + (z->to - z->from) / JOINT_ROWS;
}

static inline double joint_rows(const fused_joint *z) {
    return (double)(1 + (z->to - z->from) / joint_stride(z));
}

static inline bool joint_exact(const fused_config *config, const fused_joint *z) {
    return z->J_best < joint_rows(z) * (1.3 * joint_expected(config, z) + 0.05);
}

/* edges.c */
/* Forces of the contacts in `mask` that make up a wrench, by least squares. */
void ff__fused_divide(const fused_joint *z, const fused_point *q, const joint_act *act, unsigned mask,
                      ff_vec3 F, ff_vec3 M, double *f);
/* The row that lies furthest outside the span of those picked; first of all the earliest one. */
void ff__fused_pick_row(fused_state *state, fused_joint *z, double noise);
/* The row picked joins the span. False where its wrench is not one of a force at a point. */
bool ff__fused_add_edge(fused_state *state, fused_joint *z);
/* Begins to look for where the next start begins, if there is one; takes the misfit of a place that was
 * tried, FF_INF where there is none, and chooses the next. */
void ff__fused_next_start(fused_joint *z);
void ff__fused_judge_probe(fused_joint *z, double J);
/* Where the fit begins. */
bool ff__fused_place_points(fused_state *state, fused_joint *z);
/* Stiffness, damping and place of contact j of those at q from its part of the wrenches. */
bool ff__fused_find_surface(const fused_model *model, fused_state *state, const fused_joint *z,
                            fused_point *q, int j, int *work);

/* vary.c */
void ff__fused_begin_vary(fused_joint *z);
void ff__fused_vary_on(const fused_model *model, fused_state *state, fused_joint *z, int *work);

/* refine.c */
void ff__fused_begin_build(fused_joint *z, fused_system *s);
/* Adds row i to the sums. */
void ff__fused_add_row(fused_state *state, const fused_joint *z, fused_system *s, uint64_t i);
/* The sums at the first points of a start, or at a trial, are complete. */
void ff__fused_judge_trial(const fused_config *config, fused_joint *z);

#endif
