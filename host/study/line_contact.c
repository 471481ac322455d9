#include "study/delay_margin.h"

#include <stdlib.h>

/* Without delay, released at zero force [lange, IV-C]: exp(-(pi - 2 asin z) z / sqrt(1 - z^2)),
 * z = c/(2 sqrt(k m)); for z >= 1 the limits of the same solution. */
static double restitution(double mass, double stiffness, double damping) {
    const double z = 0.5 * damping / sqrt(stiffness * mass);
    if (z < 1.0 - 1e-6)
        return exp(-(FF_PI - 2.0 * asin(z)) * z / sqrt(1.0 - z * z));
    if (z < 1.0 + 1e-6)
        return exp(-2.0);
    /* Overdamped: k x + c x' = 0 where (r1/r2)^2 = exp((r1 - r2) w t) with r = -z +- sqrt(z^2 - 1). */
    const double s = sqrt(z * z - 1.0), slow = -z + s, fast = -z - s;
    const double wt = 2.0 * log(fast / slow) / (slow - fast);
    return -(slow * exp(slow * wt) - fast * exp(fast * wt)) / (slow - fast);
}

/* k x + c(x) x', never pulling; c grows by the smooth step of [he2022, (24)]. */
static double push(const ff_line_contact *c, double x, double v) {
    if (!(x >= 0.0))
        return 0.0;
    const double s = c->damping_depth > 0.0 ? fmin(x / c->damping_depth, 1.0) : 1.0;
    return fmax(0.0, c->stiffness * x + c->damping * s * s * (3.0 - 2.0 * s) * v);
}

/* No delay, any damping: midpoint rule, 1e4 steps a period. */
static void step_sharp(const ff_line_contact *c, ff_line_rebound *out) {
    const double h = 2.0 * FF_PI * sqrt(c->mass / c->stiffness) / 1e4;
    double x = 0.0, v = c->speed;
    for (int k = 1; k < 100000; k++) {
        const double x_mid = x + 0.5 * h * v, v_mid = v - 0.5 * h * push(c, x, v) / c->mass;
        x += h * v_mid;
        v -= h * push(c, x_mid, v_mid) / c->mass;
        const double force = push(c, x, v);
        out->peak = fmax(out->peak, force);
        if (force <= 0.0 && v < 0.0) {
            out->rebound = -v / c->speed;
            out->duration = k * h;
            return;
        }
    }
}

/* Velocity Verlet with a line of past states; the delay is a whole number of steps. The force depends on the
 * past alone, so each step is exact in it to second order. */
ff_status ff_line_contact_solve(const ff_line_contact *c, ff_line_rebound *out) {
    *out = (ff_line_rebound){FF_NAN, 0.0, FF_NAN};
    if (!(c->mass > 0.0) || !(c->stiffness > 0.0) || !(c->damping >= 0.0) || !(c->speed > 0.0) ||
        !(c->delay >= 0.0) || !(c->damping_depth >= 0.0) ||
        !isfinite(c->mass + c->stiffness + c->damping + c->damping_depth + c->speed + c->delay))
        return FF_ERR_ARGUMENT;
    const double w = sqrt(c->stiffness / c->mass), z = 0.5 * c->damping / sqrt(c->stiffness * c->mass);
    if (!(c->delay > 0.0) && c->damping_depth > 0.0) {
        step_sharp(c, out);
        return FF_OK;
    }
    if (!(c->delay > 0.0)) {
        out->rebound = restitution(c->mass, c->stiffness, c->damping);
        if (z < 0.5) { /* each derivative turns the phase by b; the force is largest where x''' = 0 */
            const double r = sqrt(1.0 - z * z), b = atan2(r, -z), wt = (2.0 * FF_PI - 3.0 * b) / r;
            out->peak = c->speed * sqrt(c->stiffness * c->mass) * exp(-z * wt);
        } else {
            out->peak = c->damping * c->speed;
        }
        return FF_OK;
    }
    if (w * c->delay > 1e3)
        return FF_ERR_ARGUMENT;
    const double step = fmin(c->delay / 64.0, 1e-3 / w);
    const size_t back = (size_t)ceil(c->delay / step - 1e-9);
    const double h = c->delay / (double)back;
    double *line = malloc(2 * back * sizeof *line);
    if (!line)
        return FF_ERR_MEMORY;
    for (size_t i = 0; i < back; i++) { /* t = i h - delay + delay: the robot touches at t = 0 */
        line[2 * i] = c->speed * h * (double)i;
        line[2 * i + 1] = c->speed;
    }
    /* The satellite is `delay` ahead of the robot that just touches. */
    double x = c->speed * c->delay, v = c->speed, force = push(c, 0.0, c->speed), t = 0.0;
    const double longest = 40.0 / w + 40.0 * c->delay;
    size_t at = 0;
    while (t < longest) {
        const double a = -force / c->mass;
        line[2 * at] = x;
        line[2 * at + 1] = v;
        at = (at + 1) % back;
        const double x_r = line[2 * at], v_r = line[2 * at + 1];
        const double next = push(c, x_r, v_r);
        x += h * (v + 0.5 * h * a);
        v += 0.5 * h * (a - next / c->mass);
        force = next;
        t += h;
        out->peak = fmax(out->peak, force);
        if (force <= 0.0 && v_r < 0.0) { /* the robot leaves */
            out->rebound = -v / c->speed;
            out->duration = t;
            break;
        }
    }
    free(line);
    return FF_OK;
}
