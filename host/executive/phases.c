/* The phases of a run on devices before t = 0: the check, the approach to where the motion begins, the run-up
 * to its speed. They only set the robots' commands; what is sent is decided by the output stages. */
#include "executive/internal.h"

static ff_state state_of(const ff_executive *e) {
    return e->guard.walk.state;
}

/* No sensor reports an error or is read further from where this standstill began than by a hand's push: one
 * record of 300 N in a hundred would be 3 N of the zero. */
static bool is_quiet(ff_executive *e) {
    ff_preflight *p = e->phases.preflight;
    for (int i = 0; i < e->scenario->satellites; i++) {
        ff_preflight_body *b = &p->body[i];
        const ff_wrench now = e->in.sensor[i].f_s;
        if (p->renewing == 0)
            b->began = now;
        const ff_wrench off = ff_wrench_sub(now, b->began);
        if (e->sample.body[i].device.health != FF_OK || !(ff_vec3_norm(off.f) <= b->threshold[0]) ||
            !(ff_vec3_norm(off.t) <= b->threshold[1]))
            return false;
    }
    return true;
}

/* While the operator decides, the standstill is measured again and again: what is armed is not older than
 * that. */
static void stand_again(ff_executive *e) {
    ff_preflight *p = e->phases.preflight;
    if (!is_quiet(e)) {
        for (int i = 0; i < e->scenario->satellites; i++)
            p->body[i].again = ff_wrench_zero();
        p->renewing = 0;
        p->renewed = false; /* `arm` waits for a quiet standstill */
        return;
    }
    const bool last = ++p->renewing == FF_PREFLIGHT_CYCLES;
    for (int i = 0; i < e->scenario->satellites; i++) {
        ff_preflight_body *b = &p->body[i];
        b->again = ff_wrench_add(b->again, e->in.sensor[i].f_s);
        if (last) {
            b->latest = ff_wrench_scale(1.0 / FF_PREFLIGHT_CYCLES, b->again);
            b->again = ff_wrench_zero();
        }
    }
    if (last) {
        p->renewing = 0;
        p->renewed = true;
    }
}

/* The zero follows what the sensor has drifted since the check. More than a hand's push is not a drift:
 * false. */
static bool renew_zero(ff_executive *e) {
    ff_loop_calibration c;
    ff_loop_calibrated(e->loop.model, &c);
    for (int i = 0; i < e->scenario->satellites; i++) {
        const ff_preflight_body *b = &e->phases.preflight->body[i];
        const ff_wrench drift = ff_wrench_sub(b->latest, ff_wrench_scale(1.0 / FF_PREFLIGHT_CYCLES, b->sum));
        const double size[2] = {ff_vec3_norm(drift.f), ff_vec3_norm(drift.t)};
        const int n = size[0] <= b->threshold[0]; /* the force first */
        if (!(size[n] <= b->threshold[n])) {
            e->found = (ff_trip){.code = FF_TRIP_ZERO, .body = i, .value = size[n], .limit = b->threshold[n]};
            return false;
        }
        c.sensor[i].bias_s = ff_wrench_add(c.sensor[i].bias_s, drift);
    }
    return ff_loop_calibrate(e->loop.model, &c) == FF_OK;
}

/* The check's start holds at arming, too: a robot that was moved meanwhile is not led back. False: it was. */
static bool stands_at_start(ff_executive *e) {
    const double deg = FF_PI / 180.0;
    for (int i = 0; i < e->scenario->satellites; i++) {
        const ff_pose start = ff_plan_runup(e->phases.plan, i, -FF_INF).T, at = e->sample.body[i].sensor.T_wb;
        const double off = 1e3 * ff_vec3_norm(ff_vec3_sub(at.p, start.p)),
                     turned = ff_quat_angle(at.q, start.q) / deg;
        const bool moved = !(off <= FF_PREFLIGHT_START_MM);
        if (!moved && turned <= FF_PREFLIGHT_START_DEG)
            continue;
        e->found = (ff_trip){.code = FF_TRIP_START,
                             .body = i,
                             .value = moved ? off : turned,
                             .limit = moved ? FF_PREFLIGHT_START_MM : FF_PREFLIGHT_START_DEG};
        return false;
    }
    return true;
}

void ff__phases_walk(ff_executive *e) {
    ff_preflight *preflight = e->phases.preflight;
    ff_walk *walk = &e->guard.walk;
    switch (walk->state) {
    case FF_STATE_OFF:
        if (e->sample.speaks)
            ff_walk_on(walk, FF_ON_READY);
        break;
    case FF_STATE_CHECK:
        if (e->phases.passed)
            ff_walk_on(walk, FF_ON_PASSED);
        break;
    case FF_STATE_ZEROED:
        if (preflight->renewed && atomic_load_explicit(&preflight->armed, memory_order_acquire) &&
            stands_at_start(e) && renew_zero(e))
            ff_walk_on(walk, FF_ON_ARM);
        break;
    case FF_STATE_ARMED: /* the operator's arming is the start, too */
        ff_walk_on(walk, FF_ON_START);
        break;
    default:
        break;
    }
}

/* The zero is taken between CHECK and ZEROED: the check's mean is the bias, and the identified mock-up takes
 * the place of the scenario's. */
static void take_zero(ff_executive *e) {
    ff_loop_calibration c;
    ff_loop_calibrated(e->loop.model, &c);
    double skew = FF_NAN; /* the methods know one for all sensors: the largest, as from the scenario */
    for (int i = 0; i < e->scenario->satellites; i++) {
        const ff_check_body *found = &e->phases.preflight->check.body[i];
        c.sensor[i].bias_s = found->bias;
        if (found->aligned)
            skew = isnan(skew) ? found->skew.value : fmax(skew, found->skew.value);
        if (!found->weighed)
            continue;
        c.sensor[i].mockup_mass = found->payload.mass.value;
        for (int a = 0; a < 3; a++)
            c.sensor[i].mockup_com_b.a[a] = found->payload.com[a].value;
    }
    if (!isnan(skew))
        c.skew = skew;
    if (ff_loop_calibrate(e->loop.model, &c) != FF_OK)
        e->found = (ff_trip){.code = FF_TRIP_WEIGHT};
}

/* The standstill, then the tests. The zero is taken when all have passed. */
void ff__phases_check(ff_executive *e, ff_state before) {
    ff_preflight *preflight = e->phases.preflight;
    const bool checks = state_of(e) == FF_STATE_CHECK || state_of(e) == FF_STATE_TEST;
    preflight->testing = preflight->testing && checks;
    if (before == FF_STATE_CHECK && !atomic_load(&preflight->measured)) {
        for (int i = 0; i < e->scenario->satellites; i++)
            ff__preflight_stand(e, i);
        if (++preflight->standing == FF_PREFLIGHT_CYCLES)
            atomic_store_explicit(&preflight->measured, true, memory_order_release);
    } else if (checks && atomic_load_explicit(&preflight->tests, memory_order_acquire) &&
               !atomic_load_explicit(&preflight->tested, memory_order_relaxed)) {
        ff__preflight_test(e);
        ff__executive_go(e, preflight->testing ? FF_ON_TEST : FF_ON_TESTED);
    }
    if (before == FF_STATE_CHECK && state_of(e) == FF_STATE_ZEROED)
        take_zero(e);
    else if (before == FF_STATE_ZEROED)
        stand_again(e);
}

/* From where the robots stand to where their motion begins: one cycle. False: they are there. */
static bool approach(ff_executive *e) {
    ff_phases *p = &e->phases;
    if (p->arrived)
        return false;
    if (p->approached++ == 0) {
        bool there = true;
        p->span = 0.5; /* [s] for 1 mm and 0.1 deg, the maximum that CHECK lets pass; more by tight limits */
        for (int i = 0; i < e->scenario->satellites; i++) {
            const ff_pose park = ff_plan_runup(p->plan, i, -FF_INF).T;
            p->stood[i] = e->sample.body[i].sensor.T_wb;
            there &= ff_vec3_norm(ff_vec3_sub(park.p, p->stood[i].p)) < 1e-6 &&
                     ff_quat_angle(park.q, p->stood[i].q) < 1e-6;
            p->span = fmax(p->span, ff_trial_span(&p->output[i], p->stood[i], park));
        }
        if (there) { /* to the telegrams' decimals */
            p->arrived = true;
            return false;
        }
    }
    const double t = (double)p->approached * p->plan->cycle;
    for (int i = 0; i < e->scenario->satellites; i++)
        e->out.command[i] =
            ff_trial_between(p->stood[i], ff_plan_runup(p->plan, i, -FF_INF).T, t / p->span, p->span);
    p->arrived = t >= p->span;
    ff_executive_aside(e, ff_executive_time(e) - p->span + t);
    return true;
}

/* One cycle of the run-up. */
static void run_up(ff_executive *e) {
    ff_phases *p = &e->phases;
    const double t = ff_executive_time(e);
    for (int i = 0; i < e->scenario->satellites; i++)
        e->out.command[i] = ff_plan_runup(p->plan, i, t + p->lead[i]);
    p->runup++;
}

bool ff__phases_lead(ff_executive *e) {
    ff_phases *p = &e->phases;
    if (state_of(e) == FF_STATE_APPROACH && !approach(e))
        ff__executive_go(e, FF_ON_ARRIVED);
    if (state_of(e) == FF_STATE_RUNUP) {
        const double t = ff_executive_time(e);
        if (p->runup < p->plan->runup) {
            run_up(e);
            ff_executive_aside(e, t);
        } else
            ff__executive_go(e, FF_ON_BEGIN);
    }
    return ff_state_commands(state_of(e)) == FF_COMMANDS_LOOP && !p->finished;
}

bool ff__phases_fill(ff_executive *e) {
    ff_phases *p = &e->phases;
    if (!p->arrived) /* the approach continues from where the robot was held */
        return false;
    p->filled++;
    if (p->runup < p->plan->runup) {
        run_up(e);
        return false;
    }
    if (!p->finished)
        ff__executive_go(e, FF_ON_BEGIN);
    return !p->finished;
}
