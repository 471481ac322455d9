/* A plant for tests of `fused`: one body, robots with delay, lag or an acceleration limit, walls that move
 * and vanish, sensors that lie. Written apart from host/facility. */
#ifndef FF_TESTS_FUSED_PLANT_H
#define FF_TESTS_FUSED_PLANT_H

#include "support.h"

#include "loop_support.h"

typedef struct fused_wall_truth {
    ff_vec3 at, n; /* n unit, out of the wall */
    double k, c;   /* law: depth^power (k + c rate), power 1: k depth + c rate */
    double power;  /* 0 or 1: linear */
    double mu;     /* Coulomb */
    bool gone;
} fused_wall_truth;

typedef struct fused_plant {
    double T, delay, jitter; /* [s] */
    double lag;              /* [rad/s] critically damped second order; 0: none */
    double acceleration;     /* [m/s2] per axis; 0: no limit */
    double noise, torque_noise;
    double spike, dropout; /* probability in a cycle */
    double spike_size;     /* [N] */
    int skew;              /* [cycles] the force is so old */
    ff_vec3 tip;           /* body axes */
    int walls;
    fused_wall_truth wall[2];
    ff_rng rng;
    /* running */
    ff_setpoint ring[1024];
    ff_wrench old[16];
    ff_setpoint now;
    bool started;
    ff_setpoint target;
    double force; /* [N] true, at the robot */
    int touching; /* wall index or -1 */
} fused_plant;

static inline void fused_plant_start(fused_plant *p, const ff_rigid_state *s, double lead) {
    for (int i = 0; i < 1024; i++) {
        const double t = -(double)(1024 - i) * p->T + lead;
        p->ring[i] = (ff_setpoint){{ff_quat_mul(s->attitude, ff_quat_exp(ff_vec3_scale(t, s->omega))),
                                    ff_vec3_axpy(t, s->velocity, s->position)},
                                   {s->omega, s->velocity}};
    }
    memset(p->old, 0, sizeof p->old);
    p->started = false;
}

static inline ff_setpoint fused_plant_delayed(const fused_plant *p, uint64_t k, double delay) {
    const double index = (double)k + 1024.0 - delay / p->T, low = floor(index + 1e-9);
    double part = index - low;
    part = part < 1e-9 ? 0.0 : part;
    const ff_setpoint a = p->ring[(uint64_t)low % 1024], b = p->ring[((uint64_t)low + 1) % 1024];
    if (part == 0.0)
        return a;
    return (ff_setpoint){ff_pose_interpolate(a.T, b.T, part),
                         ff_twist_add(a.twist, ff_twist_scale(part, ff_twist_sub(b.twist, a.twist)))};
}

/* Moves the robot to cycle k and reads the sensor. */
static inline void fused_plant_cycle(fused_plant *p, uint64_t k, ff_loop_in *in) {
    const double late = p->delay + (p->jitter > 0.0 ? p->jitter * ff_rng_uniform(&p->rng) : 0.0);
    const ff_setpoint target = fused_plant_delayed(p, k, fmax(late, p->T));
    if (!p->started) {
        p->now = p->target = target;
        if (p->lag > 0.0)
            p->now.T.p = ff_vec3_axpy(-2.0 / p->lag, target.twist.v, target.T.p);
        p->started = true;
    } else if (p->lag > 0.0 || p->acceleration > 0.0) {
        enum { STEPS = 40 };
        const double h = p->T / STEPS;
        for (int i = 0; i < STEPS; i++)
            for (int a = 0; a < 3; a++) {
                double *x = &p->now.T.p.a[a], *v = &p->now.twist.v.a[a];
                if (p->lag > 0.0) {
                    const double to =
                        p->target.T.p.a[a] + (target.T.p.a[a] - p->target.T.p.a[a]) * (i + 0.5) / STEPS;
                    *v += h * (p->lag * p->lag * (to - *x) - 2.0 * p->lag * *v);
                    *x += h * *v;
                } else { /* bang-bang towards the moving target */
                    const double left = p->T - (i + 1) * h,
                                 gap = target.T.p.a[a] - target.twist.v.a[a] * left - *x;
                    const double dv = target.twist.v.a[a] - *v;
                    if (fabs(gap) < fabs(target.twist.v.a[a]) * 2.0 * h + 1e-9 &&
                        fabs(dv) < p->acceleration * 2.0 * h) {
                        *x += gap;
                        *v += dv;
                    } else {
                        const double s = gap + copysign(dv * dv / (2.0 * p->acceleration), dv);
                        *v += copysign(p->acceleration, s) * h;
                        *x += *v * h;
                    }
                }
            }
        p->now.T.q = target.T.q;
        p->now.twist.w = target.twist.w;
        p->target = target;
    } else
        p->now = target;

    const ff_setpoint *r = &p->now;
    ff_wrench f_b = ff_wrench_zero();
    p->force = 0.0;
    p->touching = -1;
    for (int w = 0; w < p->walls; w++) {
        const fused_wall_truth *y = &p->wall[w];
        const ff_vec3 tip = ff_pose_apply(r->T, p->tip);
        const ff_vec3 v = ff_vec3_add(r->twist.v, ff_quat_rotate(r->T.q, ff_vec3_cross(r->twist.w, p->tip)));
        const double d = -ff_vec3_dot(y->n, ff_vec3_sub(tip, y->at)), rate = -ff_vec3_dot(y->n, v);
        if (y->gone || d <= 0.0)
            continue;
        const double f = y->power > 1.0 ? pow(d, y->power) * (y->k + y->c * rate) : y->k * d + y->c * rate;
        if (!(f > 0.0))
            continue;
        ff_vec3 F = ff_vec3_scale(f, y->n);
        const ff_vec3 slide = ff_vec3_axpy(rate, y->n, v);
        const double speed = ff_vec3_norm(slide);
        if (y->mu > 0.0 && speed > 0.0)
            F = ff_vec3_axpy(-y->mu * f * fmin(1.0, speed / 1e-4) / speed, slide, F);
        const ff_vec3 F_b = ff_quat_unrotate(r->T.q, F);
        f_b.f = ff_vec3_add(f_b.f, F_b);
        f_b.t = ff_vec3_add(f_b.t, ff_vec3_cross(p->tip, F_b));
        p->force = fmax(p->force, f);
        p->touching = w;
    }
    p->old[k % 16] = f_b;
    f_b = p->old[(k + 16 - (uint64_t)p->skew) % 16];
    for (int a = 0; a < 3; a++) {
        if (p->noise > 0.0)
            f_b.f.a[a] += p->noise * ff_rng_normal(&p->rng);
        if (p->torque_noise > 0.0)
            f_b.t.a[a] += p->torque_noise * ff_rng_normal(&p->rng);
    }
    if (p->spike > 0.0 && ff_rng_uniform(&p->rng) < p->spike)
        f_b.f.a[ff_rng_next(&p->rng) % 3] += p->spike_size * ff_rng_range(&p->rng, -1.0, 1.0);
    if (p->dropout > 0.0 && ff_rng_uniform(&p->rng) < p->dropout)
        f_b = ff_wrench_zero();
    in->sensor[0] = (ff_wrench_in){.f_s = f_b, .T_wb = r->T, .twist = r->twist};
    in->load[0] = (ff_rigid_load){ff_vec3_zero(), ff_vec3_zero()};
}

/* The ideal contact: the body itself against one wall, in small steps from the given state; returns the time
 * of release. */
static inline double fused_ideal(const fused_plant *p, int w, const ff_rigid_model *m, double h,
                                 ff_rigid_state *x, double *peak) {
    const fused_wall_truth *y = &p->wall[w];
    bool inside = false;
    *peak = 0.0;
    for (int i = 0; i < 100000000; i++) {
        ff_integrate_coast(m, 0.5 * h, h, x);
        const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(x), p->tip);
        const ff_vec3 v = ff_rigid_point_velocity(x, p->tip);
        const double d = -ff_vec3_dot(y->n, ff_vec3_sub(tip, y->at)), rate = -ff_vec3_dot(y->n, v);
        double f = 0.0;
        if (d > 0.0)
            f = y->power > 1.0 ? pow(d, y->power) * (y->k + y->c * rate) : y->k * d + y->c * rate;
        if (f > 0.0) {
            inside = true;
            *peak = fmax(*peak, f);
            ff_vec3 F = ff_vec3_scale(f, y->n);
            const ff_vec3 slide = ff_vec3_axpy(rate, y->n, v);
            const double speed = ff_vec3_norm(slide);
            if (y->mu > 0.0 && speed > 0.0)
                F = ff_vec3_axpy(-y->mu * f * fmin(1.0, speed / 1e-4) / speed, slide, F);
            x->velocity = ff_vec3_axpy(h * m->mass_inv, F, x->velocity);
            const ff_vec3 M = ff_vec3_cross(p->tip, ff_quat_unrotate(x->attitude, F));
            x->omega = ff_vec3_axpy(h, ff_mat3_apply(&m->inertia_inv, M), x->omega);
        } else if (inside)
            return (i + 1) * h;
        ff_integrate_coast(m, 0.5 * h, h, x);
    }
    return FF_NAN;
}

#endif
