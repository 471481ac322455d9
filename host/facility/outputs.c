#include "facility/outputs.h"

#include <string.h>

void ff_outputs_open(const ff_output_config *config, int bodies, double cycle, ff_outputs *outputs) {
    *outputs = (ff_outputs){.act = config != NULL, .bodies = bodies, .cycle = cycle};
    for (int i = 0; i < bodies && config; i++)
        outputs->body[i].config = config[i];
}

/* Before t = 0 the robots have moved with the initial twist: they are one step behind the first command. */
static void begin(ff_outputs *outputs, const ff_setpoint *first) {
    const double T = outputs->cycle;
    for (int i = 0; i < outputs->bodies; i++) {
        const ff_twist V = first[i].twist;
        const ff_quat turn = ff_quat_exp(ff_vec3_scale(-T, V.w));
        const ff_pose before = {ff_quat_unit(ff_quat_mul(first[i].T.q, turn)),
                                ff_vec3_axpy(-T, V.v, first[i].T.p)};
        ff_output_reset(&outputs->body[i].state, before);
        outputs->body[i].state.velocity = V;
        outputs->body[i].state.moved = true;
    }
}

static void bound(ff_outputs *outputs, int i, double t, const ff_setpoint *command, bool led) {
    ff_output_config *config = &outputs->body[i].config;
    ff_output_state *state = &outputs->body[i].state;
    ff_output_out *out = &outputs->body[i].out;
    if (led)
        ff_output_target(state, command, t);
    else {
        ff_output_brake(state);
        if (out->rests) /* what leads it from there on, out of a contact, is part of the stop */
            ff_output_slow(config);
    }
    ff_output_step(config, state, t, out);
}

static void take(ff_outputs *outputs, int i, ff_sent *sent) {
    const ff_output_out *out = &outputs->body[i].out;
    if (!outputs->body[i].beyond)
        outputs->body[i].rest = out->rest;
    outputs->body[i].beyond |= out->beyond;
    outputs->body[i].boxed = out->beyond || (outputs->body[i].boxed && out->limited);
    *sent = (ff_sent){out->to, out->lag, out->limited || out->braking};
}

static void pass(const ff_outputs *outputs, const ff_setpoint *command, ff_sent *sent) {
    for (int i = 0; i < outputs->bodies; i++)
        sent[i] = (ff_sent){.to = command[i]};
}

void ff_outputs_offer(ff_outputs *outputs, uint64_t k, const ff_setpoint *command, unsigned led, bool unseen,
                      ff_sent *sent) {
    if (!outputs->act) {
        pass(outputs, command, sent);
        return;
    }
    if (k == 0)
        begin(outputs, command);
    for (int i = 0; i < outputs->bodies; i++) {
        if (k > 0)
            ff_output_confirm(&outputs->body[i].state, true, false);
        outputs->body[i].before = outputs->body[i].state;
        outputs->body[i].offered = command[i];
        outputs->body[i].leads = !unseen && led >> i & 1u;
        if (!unseen) {
            bound(outputs, i, (double)k * outputs->cycle, &command[i], outputs->body[i].leads);
            take(outputs, i, &sent[i]);
        }
    }
    if (unseen)
        pass(outputs, command, sent);
}

/* What was offered is commanded: the answer to it stands. */
static bool stands(const ff_outputs *outputs, int i, uint64_t k, const ff_setpoint *command, bool led) {
    return k > 0 && led && outputs->body[i].leads &&
           memcmp(command, &outputs->body[i].offered, sizeof *command) == 0;
}

void ff_outputs_write(ff_outputs *outputs, uint64_t k, const ff_setpoint *command, unsigned led,
                      ff_sent *sent) {
    if (!outputs->act) {
        pass(outputs, command, sent);
        return;
    }
    bool again[FF_MAX_BODIES];
    for (int i = 0; i < outputs->bodies; i++) {
        again[i] = !stands(outputs, i, k, &command[i], led >> i & 1u);
        if (again[i])
            outputs->body[i].state = outputs->body[i].before;
        outputs->body[i].beyond = false;
    }
    if (k == 0) /* a predicting method commands ahead of what was offered */
        begin(outputs, command);
    for (int i = 0; i < outputs->bodies; i++) {
        if (again[i])
            bound(outputs, i, (double)k * outputs->cycle, &command[i], led >> i & 1u);
        take(outputs, i, &sent[i]);
    }
}

ff_vec3 ff_outputs_ahead(const ff_outputs *outputs, int body) {
    return outputs->body[body].rest;
}

bool ff_outputs_rest(const ff_outputs *outputs, int body) {
    return outputs->act && outputs->body[body].out.rests;
}
