/* A robot that takes the answers of the output stage and judges them from its own poses alone: velocity,
 * acceleration and jerk over their limits; and random limits. */
#ifndef FF_TEST_OUTPUT_ROBOT_H
#define FF_TEST_OUTPUT_ROBOT_H

#include "freefloat/output.h"
#include "support.h"

/* A robot that accepts answers: its own differences, from poses alone. */
typedef struct robot {
    ff_pose at;
    ff_vec3 v[2], a[2]; /* translation in the lab, rotation in body axes */
} robot;

typedef struct worst {
    double ratio[2][3]; /* translation, rotation; velocity, acceleration, jerk over their limits */
} worst;

/* Rotation vector of a^-1 b from the matrix, not from the library's logarithm. */
static inline ff_vec3 turned(ff_quat a, ff_quat b) {
    const ff_quat q = ff_quat_mul(ff_quat_conj(a), b);
    const double s = q.w < 0.0 ? -1.0 : 1.0, n = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    const double f = n > 1e-12 ? 2.0 * atan2(n, s * q.w) / n : 2.0;
    return ff_vec3_make(s * f * q.x, s * f * q.y, s * f * q.z);
}

static inline double limit_of(const ff_output_config *c, int part, int order) {
    const double linear[] = {c->velocity, c->acceleration, c->jerk},
                 angular[] = {c->angular_velocity, c->angular_acceleration, c->angular_jerk};
    return part ? angular[order] : linear[order];
}

/* The step to `to` as the robot would make it; taken or not. grain: half of it per pose is the wire's. */
static inline void step(const ff_output_config *c, robot *r, ff_pose to, bool take, worst *w) {
    const double T = c->cycle;
    const ff_vec3 d[2] = {ff_vec3_sub(to.p, r->at.p), turned(r->at.q, to.q)};
    for (int part = 0; part < 2; part++) {
        const ff_vec3 v = ff_vec3_scale(1.0 / T, d[part]),
                      a = ff_vec3_scale(1.0 / T, ff_vec3_sub(v, r->v[part])),
                      j = ff_vec3_scale(1.0 / T, ff_vec3_sub(a, r->a[part]));
        const double is[3] = {ff_vec3_norm(v), ff_vec3_norm(a), ff_vec3_norm(j)};
        const double grain = part ? c->angular_resolution + 1e-14 : c->resolution + 1e-14;
        for (int order = 0; order < 3; order++) {
            const double noise = grain * 2.0 * pow(2.0, order) / pow(T, order + 1);
            if (isfinite(limit_of(c, part, order)))
                w->ratio[part][order] =
                    fmax(w->ratio[part][order], (is[order] - noise) / limit_of(c, part, order));
        }
        if (take) {
            r->v[part] = v;
            r->a[part] = a;
        }
    }
    if (take)
        r->at = to;
}

static inline void stand(robot *r) {
    for (int part = 0; part < 2; part++)
        r->v[part] = r->a[part] = ff_vec3_zero();
}

static inline void assert_kept(const worst *w, const char *what) {
    for (int part = 0; part < 2; part++)
        for (int order = 0; order < 3; order++)
            if (!(w->ratio[part][order] <= 1.0 + 1e-6))
                fail_msg("%s: %s %s is %.9g of its limit", what, part ? "angular" : "linear",
                         (const char *[]){"velocity", "acceleration", "jerk"}[order], w->ratio[part][order]);
}

static inline double log_range(ff_rng *rng, double low, double high) {
    return exp(ff_rng_range(rng, log(low), log(high)));
}

static inline ff_output_config random_config(ff_rng *rng) {
    ff_output_config c;
    ff_output_default(&c);
    c.cycle = ff_rng_uniform(rng) < 0.5 ? 0.004 : log_range(rng, 0.001, 0.012);
    c.velocity = log_range(rng, 0.05, 2.0);
    c.acceleration = log_range(rng, 0.1, 20.0);
    c.jerk = log_range(rng, 2.0, 5000.0);
    c.angular_velocity = log_range(rng, 0.05, 2.0);
    c.angular_acceleration = log_range(rng, 0.2, 30.0);
    c.angular_jerk = log_range(rng, 2.0, 5000.0);
    c.stop_acceleration = log_range(rng, 0.1, 5.0);
    c.stop_angular_acceleration = log_range(rng, 0.1, 5.0);
    c.patience = 5.0 * c.cycle;
    assert_int_equal(ff_output_validate(&c), FF_OK);
    return c;
}

#endif
