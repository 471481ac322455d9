/* The stop: the output stages bring the robots there; here is when the stop is over, where a robot
 * retreats to, and the end of RSI. */
#include "rt/internal.h"

#include <stdio.h>

/* A robot that stood still against its command stands behind it: the command goes back to where it is, as
 * fast as the limits allow. A robot that is let go meanwhile makes a step of what is left. */
static bool goes_back(const ff_executive *e, int i) {
    const ff_rt_body *b = &e->body[i];
    return e->walk.cause.code == FF_TRIP_STANDS && e->walk.cause.body == i && !b->stop.done &&
           (ff_vec3_norm(ff_vec3_sub(b->output.pose.p, b->stood.p)) > 1e-5 ||
            ff_quat_angle(b->output.pose.q, b->stood.q) > 1e-5);
}

static void say_why(ff_executive *e, int i) {
    ff_rt_note note = {.kind = FF_NOTE_SAY, .t = ff__rt_now(e), .state = e->walk.state};
    snprintf(note.text, sizeof note.text, "%s: %s", e->scenario->satellite[i].name,
             ff_stop_text(e->body[i].stop.why));
    ff_ring_push(&e->notes, &note);
    e->result->stopped[i] = e->body[i].stop.why;
}

/* True when everything has come to rest and RSI may end. */
bool ff__rt_brake(ff_executive *e) {
    bool done = true;
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        const bool silent = i > 0 && e->pace - b->arrived > ff__rt_patience(e);
        if (!b->output.moved || b->strange || silent) /* never moved, never answered again, or beyond reach */
            continue;
        if (!b->stop.started) {
            ff_stop_start(&b->stop);
            b->stop.grasped = ff__rt_now(e) >= e->safety_config.grasp[i];
            b->stood = b->measured.T;
            b->out.rests = false;
        }
        const bool back = goes_back(e, i);
        if (!back)
            ff_output_slow(&b->output_config);
        if (!b->stop.done && !back) {
            const ff_stop_in in = {b->output.pose, b->out.rests, b->last_force,
                                   b->force_valid && !ff_trip_by_sensor(e->walk.cause.code), b->measured.T};
            ff_stop_step(&e->safety_config, i, &b->stop, &in);
            if (b->stop.done)
                say_why(e, i);
        }
        b->command = back           ? (ff_setpoint){b->stood, ff_twist_zero()}
                     : b->stop.goes ? b->stop.target
                                    : b->out.to;
        if (back || b->stop.goes)
            ff__rt_aim(e, i);
        else
            ff_output_brake(&b->output);
        e->result->retreated |= b->stop.retreats;
        done &= b->stop.done;
    }
    return done;
}

/* A robot that had its answer when the stop was sent gets the stop with its next telegram; one that continues
 * has not had it, and gets it again. */
void ff__rt_end_all(ff_executive *e) {
    const int64_t patience = (int64_t)(2e9 * e->plan.cycle);
    int64_t arrived, until = ff_clock_now() + patience;
    for (int tries = 0; tries < 20 && ff_clock_now() < until;) {
        bool any = false;
        for (int i = 0; i < e->plan.bodies; i++)
            if (ff__rt_take_telegram(e, &e->body[i], &arrived)) {
                ff__rt_answer(e, i, true);
                any = true;
            }
        tries += any;
        if (any)
            until = ff_clock_now() + patience;
        else
            ff_clock_sleep_until(ff_clock_now() + 200000);
    }
}

/* The pacing robot is gone; the others still speak: each is braked at the pace of its own telegrams. */
void ff__rt_brake_others(ff_executive *e, double patience) {
    unsigned rest[FF_MAX_BODIES] = {0};
    int64_t arrived, heard = ff_clock_now();
    bool any = e->plan.bodies > 1;
    while (any && 1e-9 * (double)(ff_clock_now() - heard) < patience) {
        any = false;
        for (int i = 1; i < e->plan.bodies; i++) {
            ff_rt_body *b = &e->body[i];
            if (!b->output.moved || b->ended || b->strange)
                continue;
            any = true;
            if (!b->fresh && !ff__rt_take_telegram(e, b, &arrived))
                continue;
            heard = ff_clock_now();
            ff_output_brake(&b->output);
            ff__rt_answer(e, i, rest[i] > FF_RT_SETTLE_CYCLES);
            rest[i] += b->out.rests;
        }
        ff_clock_sleep_until(ff_clock_now() + 200000);
    }
}
