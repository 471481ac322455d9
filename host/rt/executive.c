#include "rt/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

double ff__rt_now(const ff_executive *e) {
    return e->runup < e->plan.runup ? -(double)(e->plan.runup - e->runup) * e->plan.cycle
                                    : (double)e->state->k * e->plan.cycle;
}

/* All robots are led to their commands. */
static void aim_all(ff_executive *e) {
    for (int i = 0; i < e->plan.bodies; i++)
        ff__rt_aim(e, i);
}

/* The approach, from where the robots stand to where their motion begins: one cycle. False: they are there.
 */
static bool approach(ff_executive *e) {
    static const double span = 0.5; /* [s] for 1 mm and 0.1 deg, the maximum that CHECK lets pass */
    if (e->arrived)
        return false;
    if (e->approached++ == 0) {
        bool there = true;
        for (int i = 0; i < e->plan.bodies; i++) {
            const ff_pose park = ff_plan_runup(&e->plan, i, -FF_INF).T;
            e->body[i].stood = e->body[i].measured.T;
            there &= ff_vec3_norm(ff_vec3_sub(park.p, e->body[i].stood.p)) < 1e-6 &&
                     ff_quat_angle(park.q, e->body[i].stood.q) < 1e-6;
        }
        if (there) { /* to the telegrams' decimals */
            e->arrived = true;
            return false;
        }
    }
    const double t = (double)e->approached * e->plan.cycle;
    for (int i = 0; i < e->plan.bodies; i++)
        e->body[i].command =
            ff_trial_between(e->body[i].stood, ff_plan_runup(&e->plan, i, -FF_INF).T, t / span, span);
    e->arrived = t >= span;
    ff__rt_push_aside(e, ff__rt_now(e) - span + t);
    return true;
}

static bool asked_to_stop(const ff_executive *e) {
    return e->stopped || atomic_load_explicit(e->options->stop, memory_order_relaxed) ||
           atomic_load_explicit(&e->quit, memory_order_relaxed);
}

static void note_state(ff_executive *e, ff_state before) {
    if (e->walk.state == before)
        return;
    const ff_rt_note note = {.kind = FF_NOTE_STATE, .t = ff__rt_now(e), .state = e->walk.state};
    ff_ring_push(&e->notes, &note);
}

/* An event, reported if it leads to another state. */
static void go(ff_executive *e, ff_state_event event) {
    const ff_state before = e->walk.state;
    ff_walk_on(&e->walk, event);
    note_state(e, before);
}

static double largest(ff_vec3 v) {
    return fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
}

/* The range is the sensor's own: it ends where the reading does, whatever bias is subtracted later. A count
 * below it is at it: the counts are rounded. */
static bool beyond_range(const ff_executive *e, int i) {
    const ff_rt_body *b = &e->body[i];
    return b->most_force >= ff__rt_wrench(e, i)->force_limit - b->record.force ||
           b->most_torque >= ff__rt_wrench(e, i)->torque_limit - b->record.torque;
}

/* What was measured of one body, as the loop takes it. */
static void fill(ff_executive *e, int i, ff_pose T) {
    ff_rt_body *b = &e->body[i];
    b->measured = ff_motion_step(&b->motion, T, e->plan.cycle, &b->acceleration);
    ff_wrench_in *in = &e->in.sensor[i];
    in->f_s = b->record.f_s;
    b->most_force = largest(in->f_s.f);
    b->most_torque = largest(in->f_s.t);
    in->age = (double)b->aged * e->plan.cycle;
    in->T_wb = b->measured.T;
    in->twist = b->measured.twist;
    in->acceleration = b->acceleration;
}

/* Stage 1 of the loop, once a cycle: the limits judge the contact wrench that the loop uses. */
static void condition(ff_executive *e, bool floats) {
    ff_loop_info idle = {0}; /* outside the run nothing is counted */
    /* what stage 1 has learnt before t = 0 is not part of the run, which a log repeats from there */
    for (int i = 0; i < e->plan.bodies && floats && e->runup >= e->plan.runup && e->state->k == 0; i++)
        ff_mount_reset(&e->state->mount[i]);
    ff_loop_measure(e->model, e->state, floats ? &e->result->run.info : &idle, &e->in, &e->out);
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        b->force_valid = e->out.sensor_status[i] == FF_OK && b->record.health == FF_OK && b->aged == 0 &&
                         !beyond_range(e, i);
        if (b->force_valid)
            b->last_force = ff_quat_rotate(b->measured.T.q, e->out.measured_b[i].f);
    }
}

static double tracking_error(const ff_rt_body *b) {
    double least = FF_INF;
    const uint64_t n = b->tracked < b->window ? b->tracked : b->window;
    for (uint64_t j = 1; j <= n; j++)
        least = fmin(least,
                     ff_vec3_norm(ff_vec3_sub(b->track[(b->tracked - j) % FF_RT_TRACK].p, b->measured.T.p)));
    return n ? least : 0.0;
}

/* One cycle of the loop on e->in. */
static void float_once(ff_executive *e) {
    const ff_scenario *scenario = e->scenario;
    const double lateness = e->row.lateness_ns;
    const bool final = e->state->k == scenario->cycles;
    const double t = (double)e->state->k * e->plan.cycle;
    for (int i = 0; i < e->plan.bodies; i++)
        e->in.load[i] = ff_scenario_load_at(scenario, i, t);
    ff_row_begin(scenario, e->state, e->state->k, final, &e->row);
    e->row.lateness_ns = lateness;
    e->nominal = e->state->nominal.motion;
    ff_status status = FF_OK;
    if (final) {
        ff_row_settle(scenario, &e->out);
        memcpy(e->out.measured_b, e->used, sizeof e->used); /* the last row has no input of its own */
        e->finished = true;
    } else {
        ff_tuned_get(e->model, e->plan.bodies, &e->row.tuned);
        const int64_t begin = ff_clock_now();
        status = ff_loop_advance(e->model, e->state, &e->result->run.info, &e->in, &e->out);
        const int64_t took = ff_clock_now() - begin;
        e->row.compute_ns = (double)took;
        ff_histogram_add(&e->result->compute, took);
        memcpy(e->used, e->out.measured_b, sizeof e->used);
    }
    ff_row_loop(scenario, e->model, e->state, &e->in, &e->out, status, &e->row);
    ff__rt_push_row(e);
    if (status < 0)
        e->other = (ff_trip){.code = FF_TRIP_DIVERGED};
    for (int i = 0; i < e->plan.bodies; i++)
        e->body[i].command = e->out.command[i];
}

/* Poses of this cycle; before it, those of the cycles whose telegram was lost, on a line between: the loop's
 * time continues with the robot's. */
static void advance(ff_executive *e, bool floats) {
    const uint64_t gap = e->body[0].gap < 64 ? e->body[0].gap : 64;
    e->result->missed += e->body[0].gap;
    e->result->missed_at_rest += floats ? 0 : e->body[0].gap;
    ff_pose from[FF_MAX_BODIES], to[FF_MAX_BODIES];
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        from[i] = b->motion.known ? b->pose : ff_plan_from_rist(&e->plan.body[i], b->report.pose);
        to[i] = ff_plan_from_rist(&e->plan.body[i], b->report.pose);
        if (i > 0 && ff__rt_clock_known(e, b) && ff__rt_clock_known(e, e->body))
            to[i] = ff_follow_at(&b->follow, e->plan.cycle, e->pace);
        b->pose = to[i];
    }
    for (uint64_t j = 1; j <= gap; j++) {
        for (int i = 0; i < e->plan.bodies; i++)
            fill(e, i, ff_pose_interpolate(from[i], to[i], (double)j / (double)(gap + 1)));
        condition(e, floats);
        if (!floats)
            continue;
        if (!e->arrived) /* the approach continues from where the robot was held */
            continue;
        if (e->runup < e->plan.runup)
            e->runup++;
        else if (!e->finished) {
            go(e, FF_ON_BEGIN);
            float_once(e);
        }
        e->result->filled++;
    }
    for (int i = 0; i < e->plan.bodies; i++)
        fill(e, i, to[i]);
    condition(e, floats);
}

static ff_trip_code sensor_trip(const ff_executive *e, const ff_rt_body *b, double *value, double *limit) {
    const int i = (int)(b - e->body);
    const double age = (double)b->aged * e->plan.cycle;
    *value = age;
    *limit = e->safety_config.limits[i].age;
    if (b->sensor_failed || age > e->safety_config.limits[i].age)
        return FF_TRIP_AGE;
    *value = (double)b->record.word;
    *limit = 0.0;
    if (b->record.health == FF_INFO_SATURATED)
        return FF_TRIP_RANGE;
    if (b->record.health == FF_INFO_HELD)
        return FF_TRIP_FROZEN;
    if (b->record.health < 0)
        return FF_TRIP_SENSOR;
    const ff_wrench_config *wrench = ff__rt_wrench(e, i);
    const ff_wrench net = ff_wrench_sub(e->in.sensor[i].f_s, wrench->bias_s);
    *value = fmax(ff_vec3_norm(net.f), b->most_force);
    *limit = wrench->force_limit;
    if (*value >= *limit - b->record.force)
        return FF_TRIP_RANGE;
    *value = fmax(ff_vec3_norm(net.t), b->most_torque);
    *limit = wrench->torque_limit;
    if (*value >= *limit - b->record.torque)
        return FF_TRIP_RANGE;
    return FF_TRIP_NONE;
}

/* How far the joint that is nearest to an end of its range has moved towards it. */
static double joint_share(const ff_rt_body *b, const ff_arm_model *arm) {
    double share = 0.0;
    for (int a = 0; a < 6; a++) {
        const double low = arm->config.lower[a], high = arm->config.upper[a];
        share = fmax(share, fabs(2.0 * b->axes.at.a[a] - low - high) / (high - low));
    }
    return share;
}

double ff__rt_patience(const ff_executive *e) {
    if (e->walk.state == FF_STATE_OFF)
        return e->options->wait > 0.0 ? e->options->wait : 10.0;
    return e->options->silence > 0.0 ? e->options->silence : 0.1;
}

/* What the devices and the loop say of this cycle, for the limits. */
static void gather(ff_executive *e, bool checked, ff_safety_in *in) {
    const double silence = ff__rt_patience(e);
    for (int i = 0; i < e->plan.bodies; i++) {
        const ff_rt_body *b = &e->body[i];
        ff_safety_body_in *at = &in->body[i];
        at->measured = b->measured;
        at->command = b->command;
        /* no zero yet in the tests of the check */
        at->f_b = e->walk.state == FF_STATE_TEST ? ff_wrench_sub(e->out.measured_b[i], b->rest_b)
                                                 : e->out.measured_b[i];
        at->force_valid = b->force_valid;
        at->sensor = sensor_trip(e, b, &at->sensor_value, &at->sensor_limit);
        at->age = (double)b->aged * e->plan.cycle;
        at->energy = e->state->energy[i].exchanged + e->state->energy[i].delay;
        /* a pose that is led on without telegrams says nothing of the robot */
        at->tracking = e->pace - b->arrived < 1.5 * e->plan.cycle ? tracking_error(b) : 0.0;
        at->lag = b->out.lag;
        at->clipped = b->report.clipped;
        at->clipped_by = b->report.clipped_by;
        at->clipped_limit = b->report.clipped_limit;
        at->same = checked && e->result->check.body[i].force_noise > 5e-6 ? (double)b->record.repeats : 0.0;
        at->apart = b->report.apart;
        at->joint = !e->plan.body[i].cartesian ? joint_share(b, &e->plan.body[i].arm) : 0.0;
        in->missed = fmax(in->missed, (double)b->gap);
        if (i > 0 && b->known && e->pace - b->arrived > silence && e->other.code == FF_TRIP_NONE)
            e->other =
                (ff_trip){.code = FF_TRIP_SILENT, .body = i, .value = e->pace - b->arrived, .limit = silence};
        if (b->strange && e->other.code == FF_TRIP_NONE)
            e->other = (ff_trip){.code = FF_TRIP_RESTART, .body = i};
        e->body[i].gap = 0;
    }
}

/* What the executive has found itself. */
static ff_trip found(ff_executive *e, bool silent) {
    ff_trip trip = e->other;
    e->other = (ff_trip){.code = FF_TRIP_NONE};
    if (silent && trip.code == FF_TRIP_NONE)
        trip = (ff_trip){.code = FF_TRIP_SILENT, .value = ff__rt_patience(e), .limit = ff__rt_patience(e)};
    if (atomic_load_explicit(&e->recorder_failed, memory_order_relaxed) && trip.code == FF_TRIP_NONE)
        trip = (ff_trip){.code = FF_TRIP_RECORDER, .value = (double)ff_ring_dropped(&e->rows)};
    if (atomic_load_explicit(&e->quit, memory_order_acquire) && trip.code == FF_TRIP_NONE &&
        (e->walk.state == FF_STATE_CHECK || e->walk.state == FF_STATE_TEST))
        trip = e->result->check.no_go; /* NONE: the operator said no */
    return trip;
}

/* The next step towards motion, one a cycle: each of them is seen in a state of its own. */
static void walk_on(ff_executive *e, bool checked) {
    bool speaks = true;
    for (int i = 0; i < e->plan.bodies; i++)
        speaks &= e->body[i].known && e->body[i].has_record;
    switch (e->walk.state) {
    case FF_STATE_OFF:
        if (speaks)
            ff_walk_on(&e->walk, FF_ON_READY);
        break;
    case FF_STATE_CHECK:
        if (checked)
            ff_walk_on(&e->walk, FF_ON_PASSED);
        break;
    case FF_STATE_ZEROED:
        if (atomic_load_explicit(&e->armed, memory_order_acquire))
            ff_walk_on(&e->walk, FF_ON_ARM);
        break;
    case FF_STATE_ARMED: /* the operator's arming is the start, too */
        ff_walk_on(&e->walk, FF_ON_START);
        e->faults = ff_faults_now();
        break;
    default:
        break;
    }
}

/* The limits, and where the run stands. */
static void judge(ff_executive *e, bool silent) {
    /* what the check found is another thread's until this says that it is done */
    const bool checked = atomic_load_explicit(&e->checked, memory_order_acquire);
    const ff_state before = e->walk.state;
    ff_safety_in in = {0};
    gather(e, checked, &in);
    const bool stop = e->finished || e->held || asked_to_stop(e);
    for (int i = 0; i < e->plan.bodies && e->telemetry.running; i++)
        ff_levels(&e->safety_config, &e->walk.memory, &in, i, e->level[i]);
    const bool ends = ff_walk_judge(&e->safety_config, &e->walk, &in, found(e, silent),
                                    !stop         ? FF_TRIP_NONE
                                    : e->finished ? FF_TRIP_FINISHED
                                                  : FF_TRIP_OPERATOR);
    if (silent)
        ff_walk_on(&e->walk, FF_ON_GONE);
    if (ends) {
        if (ff_walk_failed(&e->walk) && e->body[0].output.moved)
            ff__rt_push_aside(e, ff__rt_now(e));
        const ff_rt_note note = {
            .kind = FF_NOTE_TRIP, .t = ff__rt_now(e), .state = e->walk.state, .trip = e->walk.cause};
        ff_ring_push(&e->notes, &note);
    }
    walk_on(e, checked);
    note_state(e, before);
}

/* The zero is taken between CHECK and ZEROED: the checks' mean is the bias, and the identified mock-up takes
 * the place of the scenario's. */
static void take_zero(ff_executive *e) {
    ff_loop_calibration c;
    ff_loop_calibrated(e->model, &c);
    double skew = FF_NAN; /* the methods know one for all sensors: the largest, as from the scenario */
    for (int i = 0; i < e->plan.bodies; i++) {
        const ff_rt_check_body *found = &e->result->check.body[i];
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
    if (ff_loop_calibrate(e->model, &c) != FF_OK)
        e->other = (ff_trip){.code = FF_TRIP_WEIGHT};
}

static bool leads(ff_state state) {
    return ff_state_moves(state) && state != FF_STATE_TEST;
}

/* What was measured in this cycle. */
static void measure_all(ff_executive *e) {
    if (e->walk.state != FF_STATE_OFF) {
        advance(e, leads(e->walk.state));
        return;
    }
    /* both devices must speak before anything is looked at */
    for (int i = 0; i < e->plan.bodies; i++) {
        if (e->body[i].known)
            fill(e, i, ff_plan_from_rist(&e->plan.body[i], e->body[i].report.pose));
        e->body[i].pose = e->body[i].measured.T;
    }
    condition(e, false);
}

/* CHECK and TEST: the standstill, then the tests. The zero is taken when all have passed. */
static void check(ff_executive *e, ff_state before) {
    const bool checks = e->walk.state == FF_STATE_CHECK || e->walk.state == FF_STATE_TEST;
    if (before == FF_STATE_CHECK && !atomic_load(&e->measured)) {
        for (int i = 0; i < e->plan.bodies; i++)
            ff__rt_stand(e, i);
        if (++e->standing == FF_RT_CHECK_CYCLES)
            atomic_store_explicit(&e->measured, true, memory_order_release);
    } else if (checks && atomic_load_explicit(&e->tests, memory_order_acquire) &&
               !atomic_load_explicit(&e->tested, memory_order_relaxed)) {
        ff__rt_test_once(e);
        go(e, e->testing ? FF_ON_TEST : FF_ON_TESTED);
    }
    if (before == FF_STATE_CHECK && e->walk.state == FF_STATE_ZEROED)
        take_zero(e);
}

/* APPROACH, RUNUP, FLOAT, CONTACT: the next command. */
static void move(ff_executive *e) {
    if (e->walk.state == FF_STATE_APPROACH && !approach(e))
        go(e, FF_ON_ARRIVED);
    if (e->walk.state == FF_STATE_RUNUP) {
        const double t = ff__rt_now(e);
        if (e->runup < e->plan.runup) {
            for (int i = 0; i < e->plan.bodies; i++)
                e->body[i].command = ff_plan_runup(&e->plan, i, t + e->lead[i]);
            ff__rt_push_aside(e, t);
            e->runup++;
        } else
            go(e, FF_ON_BEGIN);
    }
    if (e->walk.state >= FF_STATE_FLOAT && !e->finished) {
        if (e->state->k == 0)
            e->began = e->wake;
        float_once(e);
        ff__rt_spare_recorder(e, e->began, e->state->k);
    }
    aim_all(e);
    for (int i = 0; i < e->plan.bodies; i++)
        ff__rt_answer(e, i, false);
}

/* BRAKE, RETREAT, HOLD, FAULT. False: it is over, and the robots' controllers are informed. */
static bool come_to_rest(ff_executive *e) {
    const bool done = ff__rt_brake(e);
    for (int i = 0; i < e->plan.bodies; i++)
        if (e->body[i].stop.goes)
            go(e, FF_ON_PUSHED);
    if (done)
        go(e, ff_walk_failed(&e->walk) ? FF_ON_FAILED : FF_ON_RESTED);
    e->rest += done;
    e->since++;
    /* commanded to hold, it stays until it is commanded to end, or something fails */
    const bool stays = e->held && !e->finished && e->walk.state == FF_STATE_HOLD && !asked_to_stop(e);
    const bool end = e->rest > FF_RT_SETTLE_CYCLES && !stays;
    for (int i = 0; i < e->plan.bodies; i++)
        ff__rt_answer(e, i, end);
    if (end)
        ff__rt_end_all(e);
    return !end;
}

/* OFF, CHECK, TEST, ZEROED, ARMED: held where they are, but for the tests. */
static void rest(ff_executive *e) {
    for (int i = 0; i < e->plan.bodies; i++) {
        if (e->testing)
            ff__rt_aim(e, i);
        else
            ff_output_brake(&e->body[i].output);
        ff__rt_answer(e, i, false);
    }
}

/* One cycle. False: it was the last. */
static bool cycle(ff_executive *e) {
    const ff_state before = e->walk.state;
    const double patience = ff__rt_patience(e);
    if (!ff__rt_wait_telegram(e, patience)) {
        if (before != FF_STATE_OFF || !atomic_load(e->options->stop))
            judge(e, true);
        ff__rt_brake_others(e, patience);
        return false;
    }
    measure_all(e);
    judge(e, false);
    check(e, before);
    bool on = true;
    if (e->walk.state >= FF_STATE_BRAKE)
        on = come_to_rest(e);
    else if (leads(before)) {
        move(e);
        ff_histogram_add(&e->result->io, ff_clock_now() - e->wake - (int64_t)e->row.compute_ns);
    } else
        rest(e);
    if (on) {
        ff__rt_show_cycle(e);
        ff__rt_take_orders(e);
    }
    return on;
}

static void *real_time(void *self) {
    ff_executive *e = self;
    e->epoch = ff_clock_now();
    e->virtual_now = FF_NAN;
    ff_rights_take(e->options->priority ? e->options->priority : 80,
                   e->options->priority ? e->options->cpu : -1, !e->options->doze, &e->result->rights);
    if (e->options->enter)
        e->options->enter(e->options->user);
    e->faults = ff_faults_now();
    while (cycle(e))
        ;
    e->result->state = e->walk.state;
    go(e, FF_ON_CLOSE);
    const ff_faults now = ff_faults_now();
    e->result->faults = (ff_faults){now.minor - e->faults.minor, now.major - e->faults.major,
                                    now.involuntary - e->faults.involuntary};
    if (e->options->leave)
        e->options->leave(e->options->user);
    atomic_store_explicit(&e->ended, true, memory_order_release);
    atomic_store(&e->result->ended, true);
    return NULL;
}

void ff_rt_run(const ff_scenario *scenario, const ff_run_options *run, const ff_rt_options *options,
               ff_rt_result *result) {
    *result = (ff_rt_result){0};
    ff_executive *e = calloc(1, sizeof *e);
    if (!e) {
        result->run.status = FF_ERR_MEMORY;
        return;
    }
    e->scenario = scenario;
    e->run = run;
    e->options = options;
    e->result = result;
    e->fitting = e->fitting_sensor = ff_clockfit_default();
    e->fitting_sensor.drift = 0.005; /* its nominal period is a guess from records that jitter */
    for (int i = 0; i < FF_MAX_BODIES; i++)
        e->body[i].robot_fd = e->body[i].sensor_fd = -1;
    result->run.status = ff__rt_open_all(e, result->run.message, sizeof result->run.message);
    if (result->run.status == FF_OK) {
        const int64_t begin = ff_clock_now();
        pthread_t thread;
        if (pthread_create(&thread, NULL, real_time, e) != 0) {
            result->run.status = FF_ERR_MEMORY;
            snprintf(result->run.message, sizeof result->run.message, "no thread for the loop");
        } else {
            ff__rt_attend(e);
            pthread_join(thread, NULL);
        }
        result->run.wall_s = 1e-9 * (double)(ff_clock_now() - begin);
    }
    ff_rights_release(&result->rights);
    ff_telemetry_stop(&e->telemetry);
    ff__rt_conclude(e);
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        ff_rt_body *b = &e->body[i];
        if (b->sensor_fd >= 0) { /* leave the sensor silent */
            uint8_t bytes[FF_DEVICE_SEND_MAX];
            size_t used;
            if (b->sensor_device->stop(b->sensor, bytes, sizeof bytes, &used) == FF_OK && used)
                ff_socket_send(b->sensor_fd, bytes, used, &e->plan.body[i].sensor_at);
            close(b->sensor_fd);
        }
        if (b->robot_fd >= 0)
            close(b->robot_fd);
        free(b->robot);
        free(b->sensor);
        free(b->sample);
    }
    ff_ring_free(&e->rows);
    ff_tuning_free(&e->tuning);
    ff_ring_free(&e->notes);
    free(e->last);
    ff_loop_memory_close(&e->loop);
    free(e);
}
