/* Limits of a scenario's first contact that follow from the scenario alone, in closed form: what no method
 * can pass, where `direct` becomes unstable, and the borders of the domain in which `fused` is known to be
 * right. Derivations: docs/methods/fused.md, sections 6 and 9. One mass along the normal, as it starts. */
#include "study/delay_margin.h"
#include "campaign/metric.h"

/* [m/s] how fast the contact closes at the start; FF_NAN where no single normal is defined. */
static double closing_speed(const ff_scenario *scenario, const ff_contact *contact) {
    const ff_satellite *body = &scenario->satellite[contact->body];
    ff_vec3 v = ff_rigid_point_velocity(&body->start, contact->point), n = contact->normal;
    if (contact->kind == FF_CONTACT_PAIR) {
        const ff_satellite *other = &scenario->satellite[contact->against];
        n = ff_quat_rotate(other->start.attitude, n);
        v = ff_vec3_sub(v, ff_rigid_point_velocity(&other->start, contact->at));
    } else if (contact->kind != FF_CONTACT_WALL)
        return FF_NAN;
    return -ff_vec3_dot(v, n);
}

typedef struct line {
    double mass, stiffness, damping; /* as the robot meets it */
    double speed, cycle;
    double delay;                   /* [s] of the robot and of the force */
    double skew;                    /* [s] by which the force is older than the pose */
    double noise;                   /* [N] */
    double rate;                    /* [rad/s] w */
    double peak, duration, rebound; /* of the ideal contact */
} line;

/* Time from touch to zero force: the force is proportional to sin(wd t + phase), see metric.c. For
 * z >= 1 it ends only in the limit. */
static double ideal_duration(double mass, double k, double c) {
    const double a = c / (2.0 * mass), w2 = k / mass, wd2 = w2 - a * a;
    if (!(wd2 > 0.0))
        return FF_NAN;
    const double wd = sqrt(wd2);
    return (FF_PI - atan2(2.0 * a * wd, w2 - 2.0 * a * a)) / wd;
}

static bool first_contact(const ff_scenario *scenario, line *l) {
    if (!scenario->contacts)
        return false;
    const ff_contact *contact = &scenario->contact[0];
    const ff_sensor_config *sensor = &scenario->satellite[contact->body].sensor;
    *l = (line){.mass = ff_effective_mass(scenario, contact),
                .stiffness = contact->stiffness,
                .damping = contact->damping,
                .speed = closing_speed(scenario, contact),
                .cycle = scenario->cycle};
    if (sensor->kind != FF_SENSOR_IDEAL) {
        l->noise = sensor->force_noise;
        l->skew = sensor->delay;
    }
    l->rate = sqrt(l->stiffness / l->mass);
    l->delay = ff_omega_tau(scenario) / l->rate + l->skew;
    const ff_line_contact ideal = {.mass = l->mass,
                                   .stiffness = contact->satellite_stiffness,
                                   .damping = contact->satellite_damping,
                                   .damping_depth = contact->damping_depth,
                                   .speed = l->speed};
    ff_line_rebound out;
    if (ff_line_contact_solve(&ideal, &out) != FF_OK)
        return false;
    l->peak = out.peak;
    l->rebound = out.rebound;
    l->duration =
        isfinite(out.duration) ? out.duration : ideal_duration(l->mass, ideal.stiffness, ideal.damping);
    return true;
}

/* m s^2 + (c s + k) e^(-s tau) = 0: |k + j c w| = m w^2 at the border, where tau = atan(c w/k)/w. */
static double largest_stable_delay(double mass, double k, double c) {
    const double z2 = c * c / (4.0 * k * mass), x = 2.0 * z2 + sqrt(4.0 * z2 * z2 + 1.0); /* (w/w0)^2 */
    const double w = sqrt(x * k / mass);
    return atan(c * w / k) / w;
}

/* sd(e) (F/sigma) sqrt(N) of the best estimate of k, c and x0 from N readings of the force along the ideal
 * contact: the rows are (x, v, -k) in units in which m = k = v = 1, e depends on z = c/2 alone, so that
 * de/dk = -z/2 e', de/dc = e'/2, ln e = -(pi - 2 asin z) z/sqrt(1 - z^2). 2.1 at z = 0, 0.9 at z = 0.4. */
static double cramer_rao(const line *l, double damping, double stiffness) {
    enum { ROWS = 400 };
    const double z = damping / (2.0 * sqrt(stiffness * l->mass)), r2 = 1.0 - z * z;
    if (!(r2 > 0.0))
        return FF_NAN;
    const double r = sqrt(r2), end = l->duration * sqrt(stiffness / l->mass);
    double M[3][3] = {{0}};
    for (int n = 0; n < ROWS; n++) {
        const double t = (n + 0.5) / ROWS * end, d = exp(-z * t);
        const double row[3] = {d / r * sin(r * t), d * (cos(r * t) - z / r * sin(r * t)), -1.0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                M[i][j] += row[i] * row[j] / ROWS;
    }
    const double slope = l->rebound * (2.0 * z / r2 - (FF_PI - 2.0 * asin(z)) / (r2 * r));
    double y[3] = {-0.5 * z * slope, 0.5 * slope, 0.0}, sum = 0.0; /* y' M^-1 y by elimination */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < i; j++) {
            const double part = M[i][j] / M[j][j];
            for (int k = j; k < 3; k++)
                M[i][k] -= part * M[j][k];
            y[i] -= part * y[j];
        }
        sum += y[i] * y[i] / M[i][i];
    }
    return sqrt(sum) * l->peak / (l->speed * sqrt(stiffness * l->mass));
}

double ff_limit_value(ff_limit limit, const ff_scenario *scenario) {
    line l;
    if (!first_contact(scenario, &l))
        return FF_NAN;
    const double samples = l.duration / l.cycle;
    const double relative = l.noise / l.peak / sqrt(samples);
    switch (limit) {
    case FF_LIMIT_CAUSAL:
        return fmax(1.0, l.speed * (l.stiffness * (l.delay + l.cycle) + l.damping) / l.peak);
    case FF_LIMIT_CAUSAL_FLOOR:
        return fmax(1.0, l.speed * (l.stiffness * l.delay + l.damping) / l.peak);
    case FF_LIMIT_NOISE:
        return l.speed * relative *
               cramer_rao(&l, scenario->contact[0].satellite_damping,
                          scenario->contact[0].satellite_stiffness);
    case FF_LIMIT_NOISE_FIGURE:
        return l.speed * (0.003 + 7.0 * relative);
    case FF_LIMIT_SKEW:
        return l.speed * 0.5 * FF_PI * l.rate * l.skew * l.rebound;
    case FF_LIMIT_SKEW_SHARE:
        return 0.5 * FF_PI * l.rate * l.skew;
    case FF_LIMIT_DIRECT:
        return l.delay / largest_stable_delay(l.mass, l.stiffness, l.damping);
    case FF_LIMIT_SAMPLES:
        return samples;
    default:
        return l.peak / l.noise;
    }
}
