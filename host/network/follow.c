#include "network/follow.h"

void ff_follow_add(const ff_clockfit_config *config, ff_follow *f, double stamp, double local, ff_pose T) {
    const uint64_t restarts = f->fit.restarts;
    ff_clockfit_add(config, &f->fit, stamp, local);
    if (f->fit.restarts != restarts) /* the old poses belong to another clock */
        f->count = 0;
    f->stamp[2] = f->stamp[1];
    f->T[2] = f->T[1];
    f->stamp[1] = f->stamp[0];
    f->T[1] = f->T[0];
    f->stamp[0] = stamp;
    f->T[0] = T;
    f->count += f->count < 3;
}

double ff_follow_time(const ff_follow *f) {
    return ff_clockfit_local(&f->fit, f->stamp[0]);
}

/* Newton's form on nodes 0, -a, -b: c1 h + c2 h (h + a). */
typedef struct parabola {
    ff_vec3 c1, c2;
    double a;
} parabola;

static parabola through(ff_vec3 y1, double a, ff_vec3 y2, double b, bool three) {
    parabola p = {ff_vec3_scale(-1.0 / a, y1), ff_vec3_zero(), a};
    if (three) {
        const ff_vec3 slope = ff_vec3_scale(1.0 / (b - a), ff_vec3_sub(y1, y2));
        p.c2 = ff_vec3_scale(1.0 / b, ff_vec3_sub(p.c1, slope));
    }
    return p;
}

static ff_vec3 at(const parabola *p, double h, double straight) {
    const double bent = h < straight ? h : straight, rest = h - bent;
    const ff_vec3 y = ff_vec3_axpy(bent * (bent + p->a), p->c2, ff_vec3_scale(bent, p->c1));
    const ff_vec3 slope = ff_vec3_axpy(2.0 * bent + p->a, p->c2, p->c1);
    return ff_vec3_axpy(rest, slope, y);
}

ff_pose ff_follow_at(const ff_follow *f, double cycle, double local) {
    const double scale = 1.0 + f->fit.rate, newest = ff_follow_time(f), h = local - newest;
    if (f->count < 2 || h == 0.0)
        return f->T[0];
    const double a = scale * (f->stamp[0] - f->stamp[1]), b = scale * (f->stamp[0] - f->stamp[2]);
    const bool three = f->count > 2;
    const ff_quat inverse = ff_quat_conj(f->T[0].q);
    const parabola p = through(ff_vec3_sub(f->T[1].p, f->T[0].p), a, ff_vec3_sub(f->T[2].p, f->T[0].p), b,
                               three),
                   r = through(ff_quat_log(ff_quat_mul(inverse, f->T[1].q)), a,
                               ff_quat_log(ff_quat_mul(inverse, f->T[2].q)), b, three);
    const double straight = 1.5 * cycle;
    return (ff_pose){ff_quat_unit(ff_quat_mul(f->T[0].q, ff_quat_exp(at(&r, h, straight)))),
                     ff_vec3_add(f->T[0].p, at(&p, h, straight))};
}

ff_setpoint ff_follow_along(const ff_setpoint *command, double dt) {
    ff_setpoint c = *command;
    c.T.p = ff_vec3_axpy(dt, c.twist.v, c.T.p);
    c.T.q = ff_quat_unit(ff_quat_mul(c.T.q, ff_quat_exp(ff_vec3_scale(dt, c.twist.w))));
    return c;
}
