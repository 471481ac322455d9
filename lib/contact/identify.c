/* Identification of the touched surface [he2022, 3.3], and the measurement lead (10).
 *
 *   symbol                 here
 *   p_Op, v_Op (16), (17)  in->step, in->speed: the caller moves a body-fixed point, see fidelity/damping.c
 *   dp_s, dv_s, dF_s       H[0], H[1], z of INCREMENTS, (18)-(20)
 *   X = [k_d, c_d]         state->x[0..1]          A, G   identity
 *   Z, H of (22)           z, H                    R, Q   state->R, state->Q
 *
 * Departures from print, with their reasons (docs/methods/he2022.md):
 *  - the default form keeps the force itself instead of its increments, with the unknown offset F_0 as a
 * third state: increments of white noise are correlated, which the filter does not know, and the force step c
 * v at the first touch, the best sign of damping, is not an increment. INCREMENTS remains.
 *  - parameters do not wander in the default form: the estimate is the least-squares one over the contact.
 *  - one constant c, fitted, is the mean of c over the squared speed, which loading and unloading dominate;
 * the paper's average is over time. On the wall of (23), (24), whose damping grows with depth, they differ by
 * half. GRADED lets c be a polynomial of the depth, c + c_1 q + c_2 q^2, q = p/scale: its mean over time
 * follows.
 *  - estimates are published only after sd(k)/k is small, bounded (k > 0, c >= 0, rate), and each bound that
 *    acts is reported; the filter's own state stays free, or its covariance would lie.
 *  - Sage-Husa's mean of the noise is not estimated (it diverges); R and Q are kept in a range.
 *  - all scales come from the contact itself: first force over depth k_0, sqrt(k_0 m), pi sqrt(m/k_0). */
#include "freefloat/contact.h"

enum { K, C, F0, C1, C2, STATES, PLAIN = C1 };

void ff_identify_default(ff_identify_config *config) {
    *config = (ff_identify_config){.form = FF_IDENTIFY_OFFSET,
                                   .adapt = FF_IDENTIFY_FIXED,
                                   .forget = 0.98,
                                   .prior = 0.1,
                                   .trust = 0.015,
                                   .rate = 0.1};
}

void ff_identify_printed(ff_identify_config *config) {
    ff_identify_default(config);
    config->form = FF_IDENTIFY_INCREMENTS;
    config->stiffness_walk = 0.1;
    config->damping_walk = 0.01;
    config->prior = 0.05;
    config->trust = 0.05;
}

static bool not_negative(double x) {
    return x >= 0.0 && isfinite(x);
}

ff_status ff_identify_validate(const ff_identify_config *c) {
    if ((int)c->form < 0 || c->form > FF_IDENTIFY_INCREMENTS || (int)c->adapt < 0 ||
        c->adapt > FF_IDENTIFY_RQ || !(c->forget > 0.0 && c->forget < 1.0) || !not_negative(c->noise) ||
        !isfinite(c->skew) || !(c->prior > 0.0) || !isfinite(c->prior) || !not_negative(c->stiffness_walk) ||
        !not_negative(c->damping_walk) || !(c->trust > 0.0) || !(c->rate > 0.0))
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

void ff_identify_reset(ff_identify_state *state) {
    *state = (ff_identify_state){0};
}

/* Force over depth, once it stands out of the noise, gives every scale; nothing else is assumed of the
 * surface. A damper makes it too large, never too small: then the prior is only weaker. */
static bool start(const ff_identify_config *config, ff_identify_state *s, const ff_identify_in *in) {
    const double travel = s->p_aligned - s->p_first, depth = travel + fabs(in->speed) * in->cycle;
    if (!(in->force > 10.0 * config->noise) || !(travel > 0.0) || !(in->mass > 0.0))
        return false;
    const double k0 = in->force / depth, c0 = 2.0 * config->prior * sqrt(k0 * in->mass);
    if (!isfinite(k0))
        return false;
    /* what the model itself leaves out: a thousandth of the force that this speed will raise */
    const double rest = 1e-3 * fmax(fabs(in->speed) * sqrt(k0 * in->mass), fabs(in->force));
    const double scale =
        config->form == FF_IDENTIFY_INCREMENTS ? 2.0 : 1.0; /* of a difference of two samples */
    const double f0 = k0 * fabs(in->speed) * in->cycle + 5.0 * config->noise;
    s->x[K] = k0;
    s->x[C] = s->x[C1] = s->x[C2] = 0.0;
    s->x[F0] = s->force_first;
    s->scale = fmax(fabs(s->speed_first) * sqrt(in->mass / k0), depth);
    s->q_sum = s->qq_sum = 0.0;
    s->updates = 0;
    for (int i = 0; i < STATES; i++)
        for (int j = 0; j < STATES; j++)
            s->P[i][j] = 0.0;
    s->P[K][K] = k0 * k0;
    s->P[C][C] = c0 * c0;
    if (config->graded)
        s->P[C1][C1] = s->P[C2][C2] = c0 * c0;
    s->P[F0][F0] = config->form == FF_IDENTIFY_OFFSET ? f0 * f0 : 0.0;
    s->R = s->R_nominal = scale * (config->noise * config->noise + rest * rest);
    s->weight = 1.0;
    s->misfit = s->misfit_weight = 0.0;
    s->started = true;
    return true;
}

/* Process noise of one cycle from the walks, which are given for one contact of pi sqrt(m/k). */
static void walk(const ff_identify_config *config, ff_identify_state *s, const ff_identify_in *in) {
    const double k = s->published ? s->stiffness : fabs(s->x[K]);
    const double part = in->cycle / (FF_PI * sqrt(in->mass / k));
    s->Q[0] = part * config->stiffness_walk * config->stiffness_walk * k * k;
    s->Q[1] = part * config->damping_walk * config->damping_walk * k * in->mass;
}

static double clip(double x, double low, double high, unsigned *bounds) {
    if (x >= low && x <= high)
        return x;
    *bounds |= FF_BOUND_NOISE;
    return x > high ? high : low;
}

/* With delay the robot goes deeper than the satellite would, and where damping grows with depth it meets more
 * of it. Weights v_own(p)/v(p), with v_own = v_0 sqrt(1 - (p/p_own)^2) and p_own = v_0 sqrt(m/k), make the
 * squared speeds under the sum those of the satellite's own contact: the estimate is then the damping that
 * dissipates there what the surface would. Deeper samples keep a tenth: at long delays there is little else.
 */
static double weight_of(const ff_identify_state *s, const ff_identify_in *in, double p, double speed) {
    const double v0 = s->speed_first, k = s->x[K];
    if (!(v0 > 0.0) || !(k > 0.0))
        return 1.0;
    const double d = p / (v0 * sqrt(in->mass / k));
    const double own = d < 1.0 ? sqrt(1.0 - d * d) : 0.0;
    return fmin(1.0, fmax(0.1, own * v0 / fmax(fabs(speed), 0.05 * v0)));
}

/* (22) with Sage-Husa's noise: d = (1 - b)/(1 - b^(n+1)), R <- (1-d) R + d (e^2 - H P H'),
 * Q <- (1-d) Q + d (G e^2 G' + P+ - P), each kept within a hundredth and a hundred times its nominal size. */
static void update(const ff_identify_config *config, ff_identify_state *s, const double H[STATES], double z,
                   double weight, unsigned *bounds) {
    const int n = config->graded ? STATES : PLAIN;
    double PH[STATES], S = 0.0, e = z;
    const double before[2] = {s->P[K][K], s->P[C][C]}, nominal[2] = {s->Q[0], s->Q[1]};
    s->P[K][K] += s->Q[0];
    s->P[C][C] += s->Q[1];
    for (int i = 0; i < n; i++) {
        PH[i] = 0.0;
        for (int j = 0; j < n; j++)
            PH[i] += s->P[i][j] * H[j];
        e -= H[i] * s->x[i];
    }
    for (int i = 0; i < n; i++)
        S += H[i] * PH[i];
    s->weight *= config->forget;
    const double d = (1.0 - config->forget) / (1.0 - s->weight);
    if (config->adapt != FF_IDENTIFY_FIXED)
        s->R = clip((1.0 - d) * s->R + d * (e * e - S), 1e-2 * s->R_nominal, 1e2 * s->R_nominal, bounds);
    const double noise = s->R / weight;
    S += noise;
    if (!(S > 0.0))
        return;
    /* residual after the update, over its expectation: surprises of the prior hardly count */
    s->misfit += e * e * noise / (S * S);
    s->misfit_weight += noise / S;
    for (int i = 0; i < n; i++) {
        s->x[i] += PH[i] / S * e;
        for (int j = 0; j < n; j++)
            s->P[i][j] -= PH[i] * PH[j] / S;
    }
    if (config->adapt == FF_IDENTIFY_RQ)
        for (int i = K; i <= C; i++) {
            const double gain = PH[i] / S, floor = 1e-12 * before[i];
            const double learnt = (1.0 - d) * s->Q[i] + d * (gain * gain * e * e + s->P[i][i] - before[i]);
            s->Q[i] = clip(learnt, 1e-2 * nominal[i] + floor, 1e2 * nominal[i] + floor, bounds);
        }
}

static double limited(double value, double last, double most, unsigned *bounds) {
    if (fabs(value - last) <= most)
        return value;
    *bounds |= FF_BOUND_RATE;
    return last + copysign(most, value - last);
}

/* A linear function of the estimate, and its standard deviation. A surface that is none of the models leaves
 * residuals larger than the noise explains: the covariance is scaled by them, so that the stated uncertainty
 * is honest. */
static double value_of(const ff_identify_state *s, const double g[STATES], double *sd) {
    double value = 0.0, variance = 0.0;
    for (int i = 0; i < STATES; i++) {
        value += g[i] * s->x[i];
        for (int j = 0; j < STATES; j++)
            variance += g[i] * s->P[i][j] * g[j];
    }
    const double part = s->misfit_weight > 0.0 ? s->misfit / s->misfit_weight : 1.0;
    *sd = sqrt(fmax(0.0, variance) * fmax(1.0, part));
    return value;
}

static double stiffness_of(const ff_identify_state *s, double *sd) {
    return value_of(s, (const double[STATES]){[K] = 1.0}, sd);
}

static double damping_of(const ff_identify_state *s, double *sd) {
    return value_of(s, (const double[STATES]){[C] = 1.0}, sd);
}

/* The mean of c over the time of the robot's contact. */
static double mean_damping_of(const ff_identify_state *s, double *sd) {
    const double n = (double)s->updates;
    return value_of(s, (const double[STATES]){[C] = 1.0, [C1] = s->q_sum / n, [C2] = s->qq_sum / n}, sd);
}

static void publish(const ff_identify_config *config, ff_identify_state *s, double mass, unsigned *bounds) {
    double sd_k, sd_c, k = stiffness_of(s, &sd_k), c = damping_of(s, &sd_c);
    const double free = c;
    if (!s->published) {
        if (!(k > 0.0) || !(sd_k <= config->trust * k))
            return;
    } else {
        k = limited(k, s->stiffness, config->rate * s->stiffness, bounds);
        c = limited(c, s->damping, config->rate * sqrt(s->stiffness * mass), bounds);
    }
    if (!(k > 0.0)) {
        k = s->stiffness;
        *bounds |= FF_BOUND_STIFFNESS;
    }
    if (!(c >= 0.0)) {
        c = 0.0;
        *bounds |= FF_BOUND_DAMPING;
    }
    s->stiffness = k;
    s->damping = c;
    s->stiffness_sum += k;
    s->damping_sum += free; /* the mean of bounded values would be too large where they scatter about zero */
    s->count++;
    s->published = true;
}

void ff_identify_step(const ff_identify_config *config, ff_identify_state *s, const ff_identify_in *in,
                      ff_identify_out *out) {
    *out = (ff_identify_out){.stiffness = FF_NAN,
                             .damping = FF_NAN,
                             .stiffness_sd = FF_NAN,
                             .damping_sd = FF_NAN,
                             .mean_stiffness = FF_NAN,
                             .mean_damping = FF_NAN,
                             .mean_damping_sd = FF_NAN};
    /* The pose at the force's time: one millisecond of misalignment shifts the damping by -k times it. */
    const double a = s->begun && in->cycle > 0.0 ? (in->speed - s->speed) / in->cycle : 0.0;
    const double p = s->begun ? s->p + in->step : 0.0;
    const double p_aligned = p - config->skew * (in->speed - 0.5 * config->skew * a);
    const double speed = in->speed - config->skew * a;
    const double p_last = s->p_aligned, speed_last = s->speed_aligned, force_last = s->force;
    s->p = p;
    s->force = in->force;
    s->speed = in->speed;
    s->p_aligned = p_aligned;
    s->speed_aligned = speed;
    if (!s->begun) {
        s->begun = true;
        s->force_first = in->force;
        s->p_first = p_aligned;
        s->speed_first = speed;
        return;
    }
    if (!s->started) {
        start(config, s, in);
        if (s->started)
            walk(config, s, in);
        return;
    }
    if (config->adapt != FF_IDENTIFY_RQ)
        walk(config, s, in);
    if (config->form == FF_IDENTIFY_INCREMENTS) {
        const double H[STATES] = {p_aligned - p_last, speed - speed_last};
        update(config, s, H, in->force - force_last, 1.0, &out->bounds);
    } else {
        const double p_0 = p_aligned - s->p_first, q = config->graded ? p_0 / s->scale : 0.0;
        const double H[STATES] = {p_0, speed, 1.0, q * speed, q * q * speed};
        s->q_sum += q;
        s->qq_sum += q * q;
        s->updates++;
        update(config, s, H, in->force, config->shallow ? weight_of(s, in, p_0, speed) : 1.0, &out->bounds);
    }
    publish(config, s, in->mass, &out->bounds);
    if (!s->published)
        return;
    out->valid = true;
    out->stiffness = s->stiffness;
    out->damping = s->damping;
    stiffness_of(s, &out->stiffness_sd);
    damping_of(s, &out->damping_sd);
    if (config->form == FF_IDENTIFY_INCREMENTS) {
        out->mean_stiffness = s->stiffness_sum / (double)s->count;
        out->mean_damping = fmax(0.0, s->damping_sum / (double)s->count);
        out->mean_damping_sd = out->damping_sd;
    } else {
        out->mean_stiffness = s->stiffness; /* all of the contact is in the fit already */
        out->mean_damping = fmax(0.0, mean_damping_of(s, &out->mean_damping_sd));
    }
}

ff_vec3 ff_contact_point(ff_wrench wrench) {
    const double ff = ff_vec3_dot(wrench.f, wrench.f);
    return ff > 0.0 ? ff_vec3_scale(1.0 / ff, ff_vec3_cross(wrench.f, wrench.t)) : ff_vec3_zero();
}

double ff_contact_restitution(double z) {
    if (!(z > 0.0))
        return 1.0;
    /* above critical damping the two roots are real: the same formula with acosh, continuous at z = 1 */
    if (z < 0.999)
        return exp(-(FF_PI - 2.0 * asin(z)) * z / sqrt(1.0 - z * z));
    if (z <= 1.001)
        return exp(-2.0);
    return exp(-2.0 * acosh(z) * z / sqrt(z * z - 1.0));
}

typedef struct ride { /* in units of v_0 sqrt(m/k), v_0 and m v_0^2/2 */
    double s, u, loss;
} ride;

/* One step of Runge-Kutta's fourth order: s' = u, u' = -(s + 2 z u), loss' = 4 z u^2. */
static ride ride_on(ride r, double z, double h) {
    const double a1 = -(r.s + 2.0 * z * r.u), u2 = r.u + 0.5 * h * a1;
    const double a2 = -(r.s + 0.5 * h * r.u + 2.0 * z * u2), u3 = r.u + 0.5 * h * a2;
    const double a3 = -(r.s + 0.5 * h * u2 + 2.0 * z * u3), u4 = r.u + h * a3;
    const double a4 = -(r.s + h * u3 + 2.0 * z * u4);
    return (ride){r.s + h / 6.0 * (r.u + 2.0 * u2 + 2.0 * u3 + u4),
                  r.u + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4),
                  r.loss + 4.0 * z * h / 6.0 * (r.u * r.u + 2.0 * u2 * u2 + 2.0 * u3 * u3 + u4 * u4)};
}

double ff_contact_loss(double z) {
    enum { STEPS = 32, MOST = 8 * STEPS };
    if (!(z > 0.0))
        return 0.0;
    const double h = FF_PI / STEPS / (1.0 + z);
    ride r = {.u = 1.0};
    for (int i = 0; i < MOST; i++) {
        const ride next = ride_on(r, z, h);
        const double force = r.s + 2.0 * z * r.u, then = next.s + 2.0 * z * next.u;
        if (!(then > 0.0)) {
            r = ride_on(r, z, h * force / (force - then));
            break;
        }
        r = next;
    }
    return fmin(r.loss + r.s * r.s, 1.0); /* what the spring still holds then, its own damper takes */
}

/* ------------------------------------------------------------------------------------------------ lead -- */

ff_status ff_lead_validate(const ff_lead_config *config) {
    return not_negative(config->time) && not_negative(config->filter) ? FF_OK : FF_ERR_ARGUMENT;
}

void ff_lead_reset(ff_lead_state *state) {
    *state = (ff_lead_state){0};
}

/* (10) is called a low pass in the text but is a lead, 1 + tau_m s: differentiated on a filtered signal. */
ff_wrench ff_lead_step(const ff_lead_config *config, ff_lead_state *state, double cycle, ff_wrench measured) {
    if (!(config->time > 0.0))
        return measured;
    if (state->begun) {
        const ff_wrench slope = ff_wrench_scale(1.0 / cycle, ff_wrench_sub(measured, state->last));
        const double part = cycle / (config->filter + cycle);
        state->slope = ff_wrench_add(state->slope, ff_wrench_scale(part, ff_wrench_sub(slope, state->slope)));
    }
    state->begun = true;
    state->last = measured;
    return ff_wrench_add(measured, ff_wrench_scale(config->time, state->slope));
}

/* e = exp(-(pi - 2 asin z) z/sqrt(1 - z^2)): the spring-damper released when its force is zero, not when it
 * is straight again. Monotone in z from 1 down to
 * exp(-2) = 0.135 at z = 1, solved by bisection. */
double ff_contact_damping_ratio(double restitution) {
    if (!(restitution < 1.0))
        return 0.0;
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 60; i++) {
        const double z = 0.5 * (low + high);
        const double e = exp(-(FF_PI - 2.0 * asin(z)) * z / sqrt(1.0 - z * z));
        if (e > restitution)
            low = z;
        else
            high = z;
    }
    return 0.5 * (low + high);
}

/* d_c = d_t + |f|^-2 (f x m_t), m_t = m - d_t x f, from (36), (37). */
ff_vec3 ff_contact_tool_point(ff_wrench f_b, ff_vec3 d_t) {
    const double square = ff_vec3_dot(f_b.f, f_b.f);
    if (!(square > 0.0))
        return d_t;
    const ff_vec3 m_t = ff_vec3_sub(f_b.t, ff_vec3_cross(d_t, f_b.f));
    return ff_vec3_axpy(1.0 / square, ff_vec3_cross(f_b.f, m_t), d_t);
}
