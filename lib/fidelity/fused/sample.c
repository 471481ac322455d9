/* fused: one cycle of one robot and its sensor, as the rest of the method wants it: the motion of the tip's
 * body at the time of the force, and the force without the sensor's offset (docs/methods/fused.md, 2).
 *
 *   time     the force is `skew` older than the pose: the motion of then, from the samples before
 *   lag      the sensor is a low pass: the motion passes through the same one. What a law makes of it inside
 *            the surface is then what the sensor makes of the law's force
 *   gears    the robot yields to the wrench: its encoders do not see by how much, the loop's model of them
 * does zero     what the sensor reads in flight is its offset, and how that drifts */
#include "fidelity/fused/fused.h"

#include <string.h>

enum { ZERO_LATE = 32 }; /* cycles by which the offset is learnt late, at most: an onset may lie in them */
static const double slope_first = 0.05; /* [N/s] that a sensor may drift, standard deviation, */
static const double slope_walk = 0.01;  /* [N/s/sqrt(s)] and by how much that changes */

/* Between two measured motions, `back` seconds before the later one: Hermite's cubic. Where the velocities do
 * not explain the step, as after a correction of the command, it was made evenly. */
static ff_setpoint between(const ff_setpoint *a, const ff_setpoint *b, double back, double T) {
    ff_setpoint x = *b;
    const double u = 1.0 - back / T;
    const ff_vec3 step = ff_vec3_sub(b->T.p, a->T.p), dw = ff_vec3_sub(b->twist.w, a->twist.w);
    const ff_vec3 mean = ff_vec3_scale(0.5 * T, ff_vec3_add(a->twist.v, b->twist.v));
    x.twist.w = ff_vec3_axpy(u, dw, a->twist.w);
    if (ff_vec3_norm(ff_vec3_sub(step, mean)) > 0.05 * ff_vec3_norm(mean)) {
        const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(b->T.q), a->T.q));
        x.T.p = ff_vec3_axpy(u, step, a->T.p);
        x.T.q = ff_quat_mul(b->T.q, ff_quat_exp(ff_vec3_scale(back / T, turn)));
        x.twist.v = ff_vec3_axpy(u, ff_vec3_sub(b->twist.v, a->twist.v), a->twist.v);
        return x;
    }
    const double h1 = u * u * (3.0 - 2.0 * u), g0 = u * (1.0 - u) * (1.0 - u), g1 = u * u * (u - 1.0);
    x.T.p = ff_vec3_axpy(h1, step, a->T.p);
    x.T.p = ff_vec3_axpy(T * g0, a->twist.v, ff_vec3_axpy(T * g1, b->twist.v, x.T.p));
    const double dh = 6.0 * u * (1.0 - u) / T, d0 = (1.0 - u) * (1.0 - 3.0 * u), d1 = u * (3.0 * u - 2.0);
    x.twist.v = ff_vec3_axpy(d0, a->twist.v, ff_vec3_axpy(d1, b->twist.v, ff_vec3_scale(dh, step)));
    x.T.q = ff_quat_mul(
        b->T.q, ff_quat_exp(ff_vec3_axpy(0.5 * back * back / T, dw, ff_vec3_scale(-back, b->twist.w))));
    return x;
}

/* The robot `skew` before row k. A pose that is older than the force is carried on as it moves. */
static ff_setpoint then(fused_state *state, int body, uint64_t k, double skew, double T) {
    const ff_setpoint *now = &fused_at(state, body, k)->measured;
    if (skew == 0.0 || k == 0)
        return *now;
    const double cycles = fmin(floor(fmax(0.0, skew) / T), (double)fused_look_back(state));
    const uint64_t whole = (uint64_t)cycles < k - 1 ? (uint64_t)cycles : k - 1;
    return between(&fused_at(state, body, k - whole - 1)->measured,
                   &fused_at(state, body, k - whole)->measured, skew - (double)whole * T, T);
}

/* y' = (x - y)/lag, exact for an x that runs linearly over the cycle, as the offset y - x. */
static ff_vec3 behind(ff_vec3 offset, ff_vec3 step, double corner, double decay) {
    const ff_vec3 s = ff_vec3_scale(1.0 / corner, step);
    return ff_vec3_sub(ff_vec3_scale(decay, ff_vec3_add(offset, s)), s);
}

static void low_pass(fused_lag *z, ff_setpoint *x, double lag, double T) {
    const double corner = T / lag, decay = exp(-corner);
    if (!z->begun) { /* as if it had always moved like this */
        *z = (fused_lag){.begun = true,
                         .last = *x,
                         .off = {.p = ff_vec3_scale(-lag, x->twist.v), .q = ff_vec3_scale(-lag, x->twist.w)}};
    } else {
        const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(z->last.T.q), x->T.q));
        z->off.p = behind(z->off.p, ff_vec3_sub(x->T.p, z->last.T.p), corner, decay);
        z->off.q = behind(z->off.q, turn, corner, decay);
        z->off.v = behind(z->off.v, ff_vec3_sub(x->twist.v, z->last.twist.v), corner, decay);
        z->off.w = behind(z->off.w, ff_vec3_sub(x->twist.w, z->last.twist.w), corner, decay);
        z->last = *x;
    }
    x->T.p = ff_vec3_add(x->T.p, z->off.p);
    x->T.q = ff_quat_mul(x->T.q, ff_quat_exp(z->off.q));
    x->twist.v = ff_vec3_add(x->twist.v, z->off.v);
    x->twist.w = ff_vec3_add(x->twist.w, z->off.w);
}

/* The offset's line: value and slope at cycle k, their covariance in units of the reading's variance. */
static void zero_forward(const fused_config *config, fused_zero *z, double T) {
    z->at = ff_wrench_add(z->at, ff_wrench_scale(T, z->slope));
    z->P[0] += T * (2.0 * z->P[1] + T * z->P[2]);
    z->P[1] += T * z->P[2];
    z->P[2] += square(slope_walk / fmax(config->force_noise, zero_noise_least)) * T;
}

/* A reading `late` seconds ago, in flight. */
static void zero_learn(fused_zero *z, ff_wrench reading, double late) {
    const double p0 = z->P[0] - 2.0 * late * z->P[1] + late * late * z->P[2]; /* of the offset then */
    const double c0 = z->P[0] - late * z->P[1], c1 = z->P[1] - late * z->P[2], s = 1.0 / (p0 + 1.0);
    const ff_wrench off = ff_wrench_sub(reading, ff_wrench_sub(z->at, ff_wrench_scale(late, z->slope)));
    z->at = ff_wrench_add(z->at, ff_wrench_scale(c0 * s, off));
    z->slope = ff_wrench_add(z->slope, ff_wrench_scale(c1 * s, off));
    z->P[0] -= c0 * c0 * s;
    z->P[1] -= c0 * c1 * s;
    z->P[2] -= c1 * c1 * s;
}

/* The line begins with what was read in some rows. */
static fused_zero zero_from(const fused_config *config, ff_wrench sum, int rows, uint64_t next) {
    return (fused_zero){
        .known = true,
        .at = ff_wrench_scale(1.0 / rows, sum),
        .next = next,
        .P = {1.0 / rows, 0.0, square(slope_first / fmax(config->force_noise, zero_noise_least))}};
}

/* The reading without the offset. A run begins in flight: what is read in its first cycle is the sensor's
 * zero. Then it is learnt while nothing is touched, late by ZERO_LATE cycles or half of the flight. */
static ff_wrench without_offset(const fused_config *config, fused_state *state, int body, uint64_t k,
                                const ff_body_sample *y, double T) {
    fused_zero *z = &state->zero[body];
    fused_at(state, body, k)->reading = y->f_b;
    if (!z->known) {
        if (y->valid)
            *z = zero_from(config, y->f_b, 1, k + 1);
        return y->valid ? ff_wrench_zero() : y->f_b;
    }
    zero_forward(config, z, T);
    if (!ff__fused_touched(state, body) && !ff__fused_settling(state, body)) {
        const uint64_t since = state->free_since[body],
                       late = k - since < 2 * ZERO_LATE ? (k - since) / 2 : ZERO_LATE;
        z->next = z->next > since ? z->next : since + 1;
        for (int i = 0; i < 2 && z->next + late <= k; i++, z->next++)
            if (fused_at(state, body, z->next)->valid)
                zero_learn(z, fused_at(state, body, z->next)->reading, (double)(k - z->next) * T);
    }
    return ff_wrench_sub(y->f_b, z->at);
}

void ff__fused_zero_here(const fused_config *config, fused_state *state, int body, uint64_t k, int rows) {
    ff_wrench sum = ff_wrench_zero();
    for (int i = 0; i < rows; i++)
        sum = ff_wrench_add(sum, fused_at(state, body, k - (uint64_t)i)->reading);
    state->zero[body] = zero_from(config, sum, rows, k + 1);
}

ff_status ff__fused_store(const fused_model *model, fused_state *state, const ff_method_in *in,
                          const ff_rigid_state *body, uint64_t k) {
    const fused_config *config = &model->config;
    const double T = model->integrate.cycle;
    ff_rigid_load load[FF_MAX_BODIES];
    for (int i = 0; i < model->bodies; i++)
        load[i] = in->sample[i].load;
    const ff_status status = ff__history_push(&state->history, body, load);
    for (int i = 0; i < model->bodies && status == FF_OK; i++) {
        fused_sample *x = fused_at(state, i, k);
        const ff_body_sample *y = &in->sample[i];
        const ff_wrench f = config->zero ? without_offset(config, state, i, k, y, T) : y->f_b;
        x->valid = y->valid;
        x->measured = (ff_setpoint){y->T_wr, y->twist_r};
        ff_setpoint m = then(state, i, k, config->skew, T);
        if (config->sensor_lag > 0.0)
            low_pass(&state->lag[i], &m, config->sensor_lag, T);
        x->T_r = m.T;
        x->twist_r = m.twist;
        x->force = ff_quat_rotate(x->T_r.q, f.f);
        x->torque = f.t;
        if (y->gears) { /* the sensor sits behind them */
            ff__fused_give_way(&state->gears[i], y->gears, T, x);
            memcpy(state->gears[i].C, y->compliance, sizeof state->gears[i].C);
            if (model->yields)
                *(fused_axes *)ff__ring_at(&state->axes, i, k) = state->gears[i].now;
            x->force = ff_quat_rotate(x->T_r.q, f.f);
        }
        x->hears = model->hears && !y->gears;
    }
    return status;
}
