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

/* The way from where the robots stand to where their motion begins: one cycle of it. False: they are there.
 */
static bool approach(ff_executive *e) {
    static const double span = 0.5; /* [s] for 1 mm and 0.1 deg, the most that CHECK lets pass */
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

static void note_state(ff_executive *e) {
    const ff_rt_note note = {.kind = FF_NOTE_STATE, .t = ff__rt_now(e), .state = e->safety.name};
    ff_ring_push(&e->notes, &note);
}

static double largest(ff_vec3 v) {
    return fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
}

/* The range is the sensor's own: it ends where the reading does, whatever bias is subtracted later. A count
 * below it is at it: the counts are rounded. */
static bool beyond_range(const ff_rt_body *b) {
    return b->most_force >= b->wrench.force_limit - b->scale.force ||
           b->most_torque >= b->wrench.torque_limit - b->scale.torque;
}

static void measure(ff_executive *e, int i, ff_pose T) {
    ff_rt_body *b = &e->body[i];
    b->measured = ff_motion_step(&b->motion, T, e->plan.cycle, &b->acceleration);
    ff_wrench_in *in = &e->in.sensor[i];
    const ff_wrench read = ff_ati_to_wrench(b->scale, b->record.counts);
    b->most_force = largest(read.f);
    b->most_torque = largest(read.t);
    in->f_s = ff_wrench_sub(read, b->bias);
    in->age = (double)b->aged * e->plan.cycle;
    in->T_wb = b->measured.T;
    in->twist = b->measured.twist;
    in->acceleration = b->acceleration;
    if (b->weighed) { /* the loop removes the scenario's mock-up: here what is between it and the real one */
        const ff_wrench more =
            ff_wrench_sub(ff_wrench_mockup(&b->identified, in), ff_wrench_mockup(&b->wrench, in));
        in->f_s = ff_wrench_sub(in->f_s, ff_wrench_transform(ff_pose_inverse(b->wrench.T_bs), more));
    }
    const ff_status status = ff_wrench_condition(&b->wrench, in, &b->f_b);
    b->force_valid = status == FF_OK && b->ati_status == FF_OK && b->aged == 0 && !beyond_range(b);
    if (b->force_valid)
        b->last_force = ff_quat_rotate(b->measured.T.q, b->f_b.f);
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
        e->finished = true;
    } else {
        ff_tuned_get(e->model, e->plan.bodies, &e->row.tuned);
        const int64_t begin = ff_clock_now();
        status = ff_loop_step(e->model, e->state, &e->result->run.info, &e->in, &e->out);
        const int64_t took = ff_clock_now() - begin;
        e->row.compute_ns = (double)took;
        ff_histogram_add(&e->result->compute, took);
    }
    ff_row_loop(scenario, e->model, e->state, &e->in, &e->out, status, &e->row);
    ff__rt_push_row(e);
    if (status < 0)
        e->other = (ff_trip){.code = FF_TRIP_DIVERGED};
    for (int i = 0; i < e->plan.bodies; i++)
        e->body[i].command = e->out.command[i];
}

/* Poses of this cycle; before it, those of the cycles whose telegram was lost, on a line between: the loop's
 * time goes on with the robot's. */
static void advance(ff_executive *e, bool floats) {
    const uint64_t gap = e->body[0].gap < 64 ? e->body[0].gap : 64;
    e->result->missed += e->body[0].gap;
    e->result->missed_at_rest += floats ? 0 : e->body[0].gap;
    ff_pose from[FF_MAX_BODIES], to[FF_MAX_BODIES];
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        from[i] = b->motion.known ? b->pose : ff_plan_from_rist(&e->plan.body[i], ff_rsi_rob_pose(&b->rob));
        to[i] = ff_plan_from_rist(&e->plan.body[i], ff_rsi_rob_pose(&b->rob));
        if (i > 0 && ff__rt_clock_known(e, b) && ff__rt_clock_known(e, e->body))
            to[i] = ff_follow_at(&b->follow, e->plan.cycle, e->pace);
        b->pose = to[i];
    }
    for (uint64_t j = 1; j <= gap; j++) {
        for (int i = 0; i < e->plan.bodies; i++)
            measure(e, i, ff_pose_interpolate(from[i], to[i], (double)j / (double)(gap + 1)));
        if (!floats)
            continue;
        if (!e->arrived) /* the approach goes on from where the robot was held */
            continue;
        if (e->runup < e->plan.runup)
            e->runup++;
        else if (!e->finished)
            float_once(e);
        e->result->filled++;
    }
    for (int i = 0; i < e->plan.bodies; i++)
        measure(e, i, to[i]);
}

static ff_trip_code sensor_trip(const ff_executive *e, const ff_rt_body *b, double *value, double *limit) {
    const int i = (int)(b - e->body);
    const double age = (double)b->aged * e->plan.cycle;
    *value = age;
    *limit = e->safety_config.limits[i].age;
    if (b->ati.phase == FF_ATI_FAILED || age > e->safety_config.limits[i].age)
        return FF_TRIP_AGE;
    *value = (double)b->record.status;
    *limit = 0.0;
    if (b->ati_status == FF_INFO_SATURATED)
        return FF_TRIP_RANGE;
    if (b->ati_status == FF_INFO_HELD)
        return FF_TRIP_FROZEN;
    if (b->ati_status < 0)
        return FF_TRIP_SENSOR;
    *value = fmax(ff_vec3_norm(e->in.sensor[i].f_s.f), b->most_force);
    *limit = b->wrench.force_limit;
    if (*value >= *limit - b->scale.force)
        return FF_TRIP_RANGE;
    *value = fmax(ff_vec3_norm(e->in.sensor[i].f_s.t), b->most_torque);
    *limit = b->wrench.torque_limit;
    if (*value >= *limit - b->scale.torque)
        return FF_TRIP_RANGE;
    return FF_TRIP_NONE;
}

/* How far the joint that is nearest to an end of its range is on its way there. */
static double joint_share(const ff_rt_body *b, const ff_arm_model *arm) {
    double share = 0.0;
    for (int a = 0; a < 6; a++) {
        const double low = arm->config.lower[a], high = arm->config.upper[a];
        share = fmax(share, fabs(2.0 * b->axes.at.a[a] - low - high) / (high - low));
    }
    return share;
}

double ff__rt_patience(const ff_executive *e) {
    if (e->safety.name == FF_SAFE_OFF)
        return e->options->wait > 0.0 ? e->options->wait : 10.0;
    return e->options->silence > 0.0 ? e->options->silence : 0.1;
}

static ff_safety_action judge(ff_executive *e, bool silent) {
    /* what the check found is another thread's until this says that it is done */
    ff_safety_in in = {.checked = atomic_load_explicit(&e->checked, memory_order_acquire)};
    bool speaks = true;
    const double silence = ff__rt_patience(e);
    for (int i = 0; i < e->plan.bodies; i++) {
        const ff_rt_body *b = &e->body[i];
        ff_safety_body_in *at = &in.body[i];
        at->measured = b->measured;
        at->command = b->command;
        at->f_b = e->testing ? ff_wrench_sub(b->f_b, b->rest_b) : b->f_b; /* no zero yet in CHECK */
        at->force_valid = b->force_valid;
        at->sensor = sensor_trip(e, b, &at->sensor_value, &at->sensor_limit);
        at->age = (double)b->aged * e->plan.cycle;
        at->energy = e->state->energy[i].exchanged + e->state->energy[i].delay;
        at->tracking = tracking_error(b);
        at->lag = b->out.lag;
        at->clipped = b->rsi.info.clipped;
        at->clipped_by = b->rsi.info.clipped_by;
        at->clipped_limit = b->rsi.info.clipped_tag < 3 ? 1e3 * b->rsi_config.clip_translation
                                                        : b->rsi_config.clip_rotation * 180.0 / FF_PI;
        at->same = in.checked && e->result->check.body[i].force_noise > 5e-6 ? (double)b->same : 0.0;
        at->apart = b->rsi.apart;
        at->joint = e->plan.body[i].channel == FF_RSI_BY_AXES ? joint_share(b, &e->plan.body[i].arm) : 0.0;
        speaks &= b->known && b->has_record;
        in.missed = fmax(in.missed, (double)b->gap);
        if (i > 0 && b->known && e->pace - b->arrived > silence && e->other.code == FF_TRIP_NONE)
            e->other =
                (ff_trip){.code = FF_TRIP_SILENT, .body = i, .value = e->pace - b->arrived, .limit = silence};
        if (b->strange && e->other.code == FF_TRIP_NONE)
            e->other = (ff_trip){.code = FF_TRIP_RESTART, .body = i};
        e->body[i].gap = 0;
    }
    in.ready = speaks;
    in.testing = e->testing;
    in.arm = atomic_load_explicit(&e->armed, memory_order_acquire);
    in.start = true; /* the operator's arming is the start, too */
    in.other = e->other;
    e->other = (ff_trip){.code = FF_TRIP_NONE};
    if (silent && in.other.code == FF_TRIP_NONE)
        in.other = (ff_trip){.code = FF_TRIP_SILENT, .value = silence, .limit = silence};
    if (atomic_load_explicit(&e->recorder_failed, memory_order_relaxed) && in.other.code == FF_TRIP_NONE &&
        e->safety.name != FF_SAFE_FAULT)
        in.other = (ff_trip){.code = FF_TRIP_RECORDER, .value = (double)ff_ring_dropped(&e->rows)};
    if (atomic_load_explicit(&e->quit, memory_order_acquire) && in.other.code == FF_TRIP_NONE &&
        e->safety.name == FF_SAFE_CHECK)
        in.other = e->result->check.no_go; /* NONE: the operator said no */
    if (e->finished || e->held || asked_to_stop(e)) {
        in.stop = true;
        in.stop_reason = e->finished ? FF_TRIP_FINISHED : FF_TRIP_OPERATOR;
    }
    const ff_safety_name before = e->safety.name;
    bool tripped;
    for (int i = 0; i < e->plan.bodies && e->telemetry.running; i++)
        ff_levels(&e->safety_config, &e->safety.memory, &in, i, e->level[i]);
    const ff_safety_action action = ff_safety_step(&e->safety_config, &e->safety, &in, &tripped);
    if (tripped) {
        if (e->safety.trip.code > FF_TRIP_FINISHED && e->body[0].output.moved)
            ff__rt_push_aside(e, ff__rt_now(e));
        const ff_rt_note note = {
            .kind = FF_NOTE_TRIP, .t = ff__rt_now(e), .state = e->safety.name, .trip = e->safety.trip};
        ff_ring_push(&e->notes, &note);
    }
    if (e->safety.name != before)
        note_state(e);
    if (before == FF_SAFE_ARMED && e->safety.name == FF_SAFE_FLOAT)
        e->faults = ff_faults_now();
    return action;
}

/* The zero is taken between CHECK and ZEROED: the checks' mean is the bias. */
static void take_zero(ff_executive *e) {
    double skew = FF_NAN; /* the methods know one for all sensors: the largest, as from the scenario */
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        b->bias = e->result->check.body[i].bias;
        if (e->result->check.body[i].aligned)
            skew = isnan(skew) ? e->result->check.body[i].skew.value
                               : fmax(skew, e->result->check.body[i].skew.value);
        if (!e->result->check.body[i].weighed)
            continue;
        b->identified = b->wrench;
        b->identified.mockup_mass = e->result->check.body[i].payload.mass.value;
        for (int a = 0; a < 3; a++)
            b->identified.mockup_com_b.a[a] = e->result->check.body[i].payload.com[a].value;
        b->weighed = true;
    }
    if (!isnan(skew)) {
        ff_world world = e->model->config.world;
        ff_settings setting = e->model->config.setting;
        world.skew = skew;
        ff_settings_forget(e->model->config.method, &setting, "skew"); /* what was measured holds */
        ff_loop_update(e->model, &world, &setting);
    }
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
    for (;;) {
        const bool off = e->safety.name == FF_SAFE_OFF;
        const double patience = ff__rt_patience(e);
        if (!ff__rt_wait_telegram(e, patience)) {
            const bool asked = off && atomic_load(e->options->stop);
            if (!asked)
                judge(e, true);
            ff__rt_brake_others(e, patience);
            break;
        }
        if (off) { /* both devices must speak before anything is looked at */
            for (int i = 0; i < e->plan.bodies; i++)
                if (e->body[i].known)
                    measure(e, i, ff_plan_from_rist(&e->plan.body[i], ff_rsi_rob_pose(&e->body[i].rob)));
            for (int i = 0; i < e->plan.bodies; i++)
                e->body[i].pose = e->body[i].measured.T;
        } else {
            const bool floats = e->safety.name == FF_SAFE_FLOAT || e->safety.name == FF_SAFE_CONTACT;
            advance(e, floats);
        }
        const ff_safety_name before = e->safety.name;
        const ff_safety_action action = judge(e, false);
        if (before == FF_SAFE_CHECK && !atomic_load(&e->measured)) {
            for (int i = 0; i < e->plan.bodies; i++)
                ff__rt_stand(e, i);
            if (++e->standing == FF_RT_CHECK_CYCLES)
                atomic_store_explicit(&e->measured, true, memory_order_release);
        } else if (e->safety.name == FF_SAFE_CHECK && atomic_load_explicit(&e->tests, memory_order_acquire) &&
                   !atomic_load_explicit(&e->tested, memory_order_relaxed))
            ff__rt_test_once(e);
        if (before == FF_SAFE_CHECK && e->safety.name == FF_SAFE_ZEROED)
            take_zero(e);
        if (action == FF_ACT_MOVE) {
            if (approach(e))
                ;
            else if (e->runup < e->plan.runup) {
                const double t = ff__rt_now(e);
                for (int i = 0; i < e->plan.bodies; i++)
                    e->body[i].command = ff_plan_runup(&e->plan, i, t + e->lead[i]);
                ff__rt_push_aside(e, t);
                e->runup++;
            } else if (!e->finished) {
                if (e->state->k == 0)
                    e->began = e->wake;
                float_once(e);
                ff__rt_spare_recorder(e, e->began, e->state->k);
            }
            aim_all(e);
            for (int i = 0; i < e->plan.bodies; i++)
                ff__rt_answer(e, i, false);
        } else if (action == FF_ACT_BRAKE) {
            const bool done = ff__rt_brake(e);
            e->rest += done;
            e->since++;
            /* told to hold, it stays until it is told to end, or something fails */
            const bool stays = e->held && !e->finished && e->safety.name == FF_SAFE_HOLD && !asked_to_stop(e);
            const bool end = e->rest > FF_RT_SETTLE_CYCLES && !stays;
            for (int i = 0; i < e->plan.bodies; i++)
                ff__rt_answer(e, i, end);
            if (end) {
                ff__rt_end_others(e);
                break;
            }
        } else {
            for (int i = 0; i < e->plan.bodies; i++) {
                if (e->testing)
                    ff__rt_aim(e, i);
                else
                    ff_output_brake(&e->body[i].output);
                ff__rt_answer(e, i, false);
            }
        }
        const int64_t took = ff_clock_now() - e->wake;
        if (action == FF_ACT_MOVE)
            ff_histogram_add(&e->result->io, took - (int64_t)e->row.compute_ns);
        ff__rt_show_cycle(e);
        ff__rt_take_orders(e);
    }
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
        e->body[i].rsi_fd = e->body[i].ati_fd = -1;
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
        if (e->body[i].ati_fd >= 0 && e->body[i].ati.starts) { /* leave the sensor silent */
            const ff_ati_request stop = {.command = FF_ATI_STOP};
            uint8_t bytes[FF_ATI_EXTENDED_SIZE];
            size_t used;
            if (ff_ati_request_encode(&stop, bytes, sizeof bytes, &used) == FF_OK)
                ff_socket_send(e->body[i].ati_fd, bytes, used, &e->plan.body[i].ati);
        }
        if (e->body[i].rsi_fd >= 0)
            close(e->body[i].rsi_fd);
        if (e->body[i].ati_fd >= 0)
            close(e->body[i].ati_fd);
    }
    for (int i = 0; i < FF_MAX_BODIES; i++)
        free(e->body[i].sample);
    ff_ring_free(&e->rows);
    ff_tuning_free(&e->tuning);
    ff_ring_free(&e->notes);
    free(e->last);
    free(e);
}
