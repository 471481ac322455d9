#include "rt/internal.h"

#include <stdio.h>

/* The command from which a stop begins: the last one, or, after a gap, what the robot was last told. The loop
 * has gone on through the lost cycles, or those that a counter jumped over, but the robot has not: its
 * controller held, and it stands. After a mere jump, and where another robot's telegrams were lost, it moves.
 */
static ff_setpoint stops_from(const ff_executive *e, const ff_rt_body *b) {
    if (b->gapped && b->held)
        return (ff_setpoint){b->sent.T, ff_twist_zero()};
    if (!b->gapped && !e->body[0].gapped)
        return b->command;
    if (b == e->body || !ff__rt_clock_known(e, b) || !ff__rt_clock_known(e, e->body))
        return b->sent;
    /* given for its own telegram's time; a stop goes on from the pacing robot's last */
    return ff_follow_along(&b->sent, e->pace - e->plan.cycle - b->sent_for);
}

/* True when everything has come to rest and RSI may end. */
bool ff__rt_brake(ff_executive *e) {
    bool done = true;
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        if (b->tracked == 0) /* never moved */
            continue;
        if (!b->stop.started) { /* its first step follows at once: the same command again would be a jerk */
            b->command = b->before = stops_from(e, b);
            ff_stop_start(&b->stop, b->command);
            b->stop.grasped = ff__rt_now(e) >= e->safety_config.grasp[i];
        }
        if (!b->stop.done) {
            ff_stop_step(&e->safety_config, i, &b->stop, b->last_force, b->force_valid);
            if (b->stop.done) {
                ff_rt_note note = {.kind = FF_NOTE_SAY, .t = ff__rt_now(e), .state = e->safety.name};
                snprintf(note.text, sizeof note.text, "%s: %s", e->scenario->satellite[i].name,
                         ff_stop_text(b->stop.why));
                ff_ring_push(&e->notes, &note);
                e->result->stopped[i] = b->stop.why;
            }
        }
        b->command = b->stop.command;
        e->result->retreated |= b->stop.retreats;
        done &= b->stop.done;
    }
    return done;
}

/* A robot that had its answer when the stop was sent gets the stop with its next telegram. */
void ff__rt_end_others(ff_executive *e) {
    const int64_t until = ff_clock_now() + (int64_t)(2e9 * e->plan.cycle);
    for (int i = 1; i < e->plan.bodies; i++) {
        int64_t arrived;
        ff_rt_body *b = &e->body[i];
        while (!b->ended && ff_clock_now() < until) {
            if (ff__rt_take_telegram(e, b, &arrived))
                ff__rt_answer(e, i, b->tracked == 0, true);
            else
                ff_clock_sleep_until(ff_clock_now() + 200000);
        }
    }
}

/* The pacing robot is gone; the others still speak: each is braked at the pace of its own telegrams. */
void ff__rt_brake_others(ff_executive *e, double patience) {
    unsigned rest[FF_MAX_BODIES] = {0};
    bool alone[FF_MAX_BODIES] = {false};
    int64_t arrived, heard = ff_clock_now();
    bool any = e->plan.bodies > 1;
    while (any && 1e-9 * (double)(ff_clock_now() - heard) < patience) {
        any = false;
        for (int i = 1; i < e->plan.bodies; i++) {
            ff_rt_body *b = &e->body[i];
            if (b->tracked == 0 || b->ended)
                continue;
            any = true;
            if (!b->fresh && !ff__rt_take_telegram(e, b, &arrived))
                continue;
            heard = ff_clock_now();
            if (!alone[i]) { /* from where it has been led meanwhile, in a stop that had begun, too */
                const ff_setpoint now = ff__rt_command_for(e, b);
                ff_stop_start(&b->stop, now);
                alone[i] = true;
            } else if (!b->stop.done)
                ff_stop_step(&e->safety_config, i, &b->stop, b->last_force, false);
            b->command = b->before = b->stop.command;
            e->pace = ff_follow_time(&b->follow);
            rest[i] += b->stop.done;
            ff__rt_answer(e, i, false, rest[i] > FF_RT_SETTLE_CYCLES);
        }
        ff_clock_sleep_until(ff_clock_now() + 200000);
    }
}
