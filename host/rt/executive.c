#include "rt/executive.h"

#include "rt/ring.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHECK_CYCLES = 100, /* samples at standstill */
    SETTLE_CYCLES = 25, /* rest after a stop, before RSI is ended */
    TRACK = 512,        /* commands remembered for the tracking error */
    FROZEN_RECORDS = 25,
    DATAGRAMS = 32 /* read at most in one cycle: a flood does not stop the loop */
};

void ff_histogram_add(ff_histogram *h, int64_t ns) {
    const int64_t us = ns < 0 ? 0 : ns / 1000;
    h->bin[us < FF_HISTOGRAM_BINS ? us : FF_HISTOGRAM_BINS - 1]++;
    h->count++;
    if (ns > h->largest_ns)
        h->largest_ns = ns;
}

double ff_histogram_at(const ff_histogram *h, double part) {
    uint64_t sum = 0;
    for (int i = 0; i < FF_HISTOGRAM_BINS; i++) {
        sum += h->bin[i];
        if ((double)sum >= part * (double)h->count && h->count)
            return i + 1 < FF_HISTOGRAM_BINS ? (double)(i + 1) : 1e-3 * (double)h->largest_ns;
    }
    return 0.0;
}

typedef struct body {
    int rsi_fd, ati_fd;
    bool known; /* the controller's address */
    struct sockaddr_in peer;
    ff_rsi_client_config rsi_config;
    ff_rsi_client_state rsi;
    ff_rsi_rob rob;
    bool fresh;
    bool again;    /* repeats the last command */
    uint64_t late; /* telegrams answered after their cycle */
    uint64_t gap;  /* cycles lost before this telegram */
    ff_ati_client_config ati_config;
    ff_ati_client_state ati;
    ff_ati_scale scale;
    ff_ati_record record;
    bool has_record;
    ff_status ati_status;
    unsigned same;  /* records in a row with the same six counts */
    unsigned aged;  /* [cycles] since the last record */
    ff_wrench bias; /* sensor frame */
    ff_pose pose;   /* of the last telegram */
    ff_motion_state motion;
    ff_setpoint measured;
    ff_twist acceleration;
    ff_wrench_config wrench; /* to know the force before the loop's step */
    ff_wrench f_b;
    bool force_valid;
    ff_vec3 last_force; /* [N] inertial, last valid */
    ff_arm_joints joints;
    ff_setpoint command;
    ff_vec3 track[TRACK];
    uint64_t tracked;
    unsigned window;
    ff_stop_state stop;
    struct {
        ff_wrench sum, square;
        ff_pose first;
        double apart, apart_angle, moved;
    } standing;
} body;

typedef struct executive {
    const ff_scenario *scenario;
    const ff_run_options *run;
    const ff_rt_options *options;
    ff_rt_result *result;
    ff_plan plan;
    double lead[FF_MAX_BODIES]; /* [s] by which the method's commands are ahead */
    body body[FF_MAX_BODIES];

    ff_loop_config loop_config;
    ff_loop_model model;
    ff_loop_state state;
    ff_loop_in in;
    ff_loop_out out;
    ff_row row;

    ff_safety_config safety_config;
    ff_safety_state safety;
    ff_trip other;       /* found by the executive, told in the next cycle */
    unsigned standing;   /* cycles of CHECK */
    uint64_t runup;      /* cycles of it done */
    bool finished;       /* the last row was made */
    unsigned rest;       /* cycles since the stop was done */
    ff_faults faults;    /* when it began to float */
    int64_t wake, began; /* [ns] this cycle, and k = 0 */
    double io_ns;

    ff_ring rows, notes;
    ff_telemetry telemetry;
    ff_tuning tuning;
    bool held, stopped; /* asked for by the owner of commands */
    uint64_t since;     /* cycles since the last of the loop: of braking and holding */
    double level[FF_MAX_BODIES][FF_LEVEL_COUNT];
    atomic_bool ready, measured, checked, armed, ended, recorder_failed, quit;
    ff_status recorder_status;

    /* recorder */
    ff_row *last;
    size_t last_capacity, last_next, last_count;
    ff_touch touch;
} executive;

static double run_time(const executive *e) {
    return e->runup < e->plan.runup ? -(double)(e->plan.runup - e->runup) * e->plan.cycle
                                    : (double)e->state.k * e->plan.cycle;
}

static bool asked_to_stop(const executive *e) {
    return e->stopped || atomic_load_explicit(e->options->stop, memory_order_relaxed) ||
           atomic_load_explicit(&e->quit, memory_order_relaxed);
}

static void note_state(executive *e) {
    const ff_rt_note note = {.kind = FF_NOTE_STATE, .t = run_time(e), .state = e->safety.name};
    ff_ring_push(&e->notes, &note);
}

/* ---------------------------------------------------------------------------------------------- devices --
 */

/* Newest usable record of those that wait. */
static void drain_sensor(executive *e, body *b, double now) {
    uint8_t bytes[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE + 8];
    size_t used;
    struct sockaddr_in from;
    int64_t stamp;
    const ff_plan_body *plan = &e->plan.body[b - e->body];
    bool came = false;
    for (int n = 0; n < DATAGRAMS; n++) {
        const long size = ff_socket_receive(b->ati_fd, bytes, sizeof bytes, &from, &stamp);
        if (size == 0)
            break;
        if (size > 0 && !ff_socket_same(&from, &plan->ati)) {
            e->result->strangers++;
            continue;
        }
        ff_ati_record record;
        const ff_status status =
            ff_ati_client_receive(&b->ati_config, &b->ati, now, bytes, size > 0 ? (size_t)size : 0, &record);
        if (status == FF_INFO_STALE || status == FF_ERR_FORMAT)
            continue;
        b->same = memcmp(b->record.counts, record.counts, sizeof record.counts) == 0 ? b->same + 1 : 0;
        b->record = record;
        b->has_record = came = true;
        b->ati_status = status == FF_INFO_GAP || status == FF_INFO_LIMITED ? FF_OK : status;
    }
    b->aged = came ? 0 : b->aged + 1;
    if (ff_ati_client_poll(&b->ati_config, &b->ati, now, bytes, sizeof bytes, &used) == FF_OK && used)
        ff_socket_send(b->ati_fd, bytes, used, &plan->ati);
}

/* One telegram of this body, if one waits. */
static bool take_telegram(executive *e, body *b, int64_t *arrived) {
    char text[FF_RSI_READ_MAX + 8];
    struct sockaddr_in from;
    for (int n = 0; n < DATAGRAMS; n++) {
        const long size = ff_socket_receive(b->rsi_fd, text, sizeof text, &from, arrived);
        if (size == 0)
            return false;
        if (size > 0 && b->known && !ff_socket_same(&from, &b->peer)) {
            e->result->strangers++;
            continue;
        }
        const uint64_t lost = b->rsi.info.lost;
        const ff_status status = ff_rsi_client_receive(
            &b->rsi_config, &b->rsi, text, size > 0 ? (size_t)size : FF_RSI_READ_MAX + 1, &b->rob);
        if (status != FF_OK && status != FF_INFO_GAP)
            continue;
        b->peer = from;
        b->known = true;
        b->gap = b->rsi.info.lost - lost;
        b->fresh = true;
        return true;
    }
    return false;
}

static void answer(executive *e, int i, bool hold, bool end);

/* A telegram that came too late for its cycle is answered with the command of that cycle: the robot goes on
 * where it was told to, and the others do not notice. */
static void answer_latecomers(executive *e) {
    int64_t arrived;
    for (int i = 1; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        if (e->safety.name == FF_SAFE_OFF || !take_telegram(e, b, &arrived))
            continue;
        b->late++;
        b->again = true;
        answer(e, i, b->tracked == 0, false);
        b->again = false;
    }
}

/* Waits for the pacing robot's next telegram. False: silence. */
static bool wait_telegram(executive *e, double patience) {
    body *b = &e->body[0];
    int64_t arrived = 0;
    const int64_t begin = ff_clock_now(), give_up = begin + (int64_t)(1e9 * patience);
    for (;;) {
        if (take_telegram(e, b, &arrived))
            break;
        const int64_t left = give_up - ff_clock_now();
        if (left <= 0 ||
            (atomic_load_explicit(e->options->stop, memory_order_relaxed) && e->safety.name == FF_SAFE_OFF))
            return false;
        const int64_t nap = left < 50000000 ? left : 50000000;
        const struct timespec t = {0, (long)nap};
        struct pollfd p[FF_MAX_BODIES];
        for (int i = 0; i < e->plan.bodies; i++)
            p[i] = (struct pollfd){.fd = e->body[i].rsi_fd, .events = POLLIN};
        /* the others' next telegrams may be here before the pacing one: they wait for their cycle */
        ppoll(p, 1, e->plan.bodies > 1 ? &(struct timespec){0, 500000} : &t, NULL);
        if (e->plan.bodies > 1 && ff_clock_now() - begin > (int64_t)(1e9 * e->plan.cycle))
            answer_latecomers(e);
        if (e->safety.name == FF_SAFE_OFF)
            for (int i = 0; i < e->plan.bodies; i++)
                drain_sensor(e, &e->body[i], 1e-9 * (double)ff_clock_now());
    }
    e->wake = ff_clock_now();
    if (arrived && e->safety.name >= FF_SAFE_FLOAT)
        ff_histogram_add(&e->result->lateness, ff_clock_real() - arrived);
    e->row.lateness_ns = arrived ? (double)(ff_clock_real() - arrived) : 0.0;
    /* the others belong to the same cycle; the one that does not come in time is extrapolated */
    for (int i = 1; i < e->plan.bodies; i++) {
        body *other = &e->body[i];
        const int64_t until = e->wake + (int64_t)(0.5e9 * e->plan.cycle);
        while (!take_telegram(e, other, &arrived) && ff_clock_now() < until) {
            const struct timespec t = {0, 100000};
            struct pollfd p = {.fd = other->rsi_fd, .events = POLLIN};
            ppoll(&p, 1, &t, NULL);
        }
    }
    const double now = 1e-9 * (double)e->wake;
    for (int i = 0; i < e->plan.bodies; i++)
        drain_sensor(e, &e->body[i], now);
    e->io_ns = (double)(ff_clock_now() - e->wake);
    return true;
}

/* --------------------------------------------------------------------------------------------- measuring --
 */

static void measure(executive *e, int i, ff_pose T) {
    body *b = &e->body[i];
    b->measured = ff_motion_step(&b->motion, T, e->plan.cycle, &b->acceleration);
    ff_wrench_in *in = &e->in.sensor[i];
    in->f_s = ff_wrench_sub(ff_ati_to_wrench(b->scale, b->record.counts), b->bias);
    in->age = (double)b->aged * e->plan.cycle;
    in->T_wb = b->measured.T;
    in->twist = b->measured.twist;
    in->acceleration = b->acceleration;
    const ff_status status = ff_wrench_condition(&b->wrench, in, &b->f_b);
    b->force_valid = status == FF_OK && b->ati_status == FF_OK && b->aged == 0;
    if (b->force_valid)
        b->last_force = ff_quat_rotate(b->measured.T.q, b->f_b.f);
}

static double tracking_error(const body *b) {
    double least = FF_INF;
    const uint64_t n = b->tracked < b->window ? b->tracked : b->window;
    for (uint64_t j = 1; j <= n; j++)
        least = fmin(least, ff_vec3_norm(ff_vec3_sub(b->track[(b->tracked - j) % TRACK], b->measured.T.p)));
    return n ? least : 0.0;
}

static void stand(executive *e, int i) {
    body *b = &e->body[i];
    const ff_wrench f_s = e->in.sensor[i].f_s;
    if (e->standing == 0) {
        b->standing.sum = b->standing.square = ff_wrench_zero();
        b->standing.first = b->measured.T;
        b->standing.apart = b->standing.apart_angle = b->standing.moved = 0.0;
    }
    b->standing.sum = ff_wrench_add(b->standing.sum, f_s);
    for (int a = 0; a < 3; a++) {
        b->standing.square.f.a[a] += f_s.f.a[a] * f_s.f.a[a];
        b->standing.square.t.a[a] += f_s.t.a[a] * f_s.t.a[a];
    }
    const ff_arm_joints joints = ff_arm_from_kuka(b->rob.aipos, b->rob.eipos[0]);
    const ff_pose T = ff_arm_forward(&e->plan.body[i].arm, &joints);
    b->standing.apart = fmax(b->standing.apart, ff_vec3_norm(ff_vec3_sub(T.p, b->measured.T.p)));
    b->standing.apart_angle = fmax(b->standing.apart_angle, ff_quat_angle(T.q, b->measured.T.q));
    b->standing.moved =
        fmax(b->standing.moved, ff_vec3_norm(ff_vec3_sub(b->measured.T.p, b->standing.first.p)));
}

/* ---------------------------------------------------------------------------------------------- commands --
 */

static void push_row(executive *e) {
    e->row.missed = e->result->missed;
    e->row.io_ns = e->io_ns;
    for (int i = 0; i < e->plan.bodies; i++)
        e->row.body[i].inertial = e->row.body[i].robot = e->body[i].measured;
    ff_ring_push(&e->rows, &e->row);
}

/* Once a cycle, whatever the state: the newest row, and how far it is to each limit. */
static void show_cycle(executive *e) {
    ff_sample *s = e->telemetry.out;
    if (!s || e->safety.name == FF_SAFE_OFF)
        return;
    const bool looped = e->safety.name >= FF_SAFE_FLOAT && e->runup >= e->plan.runup && e->since == 0;
    if (!looped) { /* nothing came out of the loop in this cycle */
        const double lateness = e->row.lateness_ns;
        ff_row_begin(e->scenario, &e->state, e->state.k, true, &e->row);
        for (int i = 0; i < e->plan.bodies; i++) {
            ff_row_body *b = &e->row.body[i];
            b->inertial = b->robot = e->body[i].measured;
            b->command = e->body[i].command;
            b->measured_b = e->body[i].f_b;
        }
        e->row.io_ns = e->io_ns;
        e->row.lateness_ns = lateness;
        e->row.missed = e->result->missed;
        e->row.final = false;
        e->row.t = run_time(e) + (double)e->since * e->plan.cycle;
    }
    s->row = e->row;
    s->state = e->safety.name;
    memcpy(s->level, e->level, sizeof s->level);
    ff_telemetry_push(&e->telemetry, s);
}

/* What the owner of commands asks, between two cycles. */
static void take_orders(executive *e) {
    if (!e->telemetry.running)
        return;
    ff_tuning_access a = {.t = run_time(e),
                          .cycle = e->plan.cycle,
                          .bodies = e->plan.bodies,
                          .moves = e->safety.name == FF_SAFE_FLOAT || e->safety.name == FF_SAFE_CONTACT,
                          .touching = e->safety.name == FF_SAFE_CONTACT,
                          .model = &e->model,
                          .safety = &e->safety_config};
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        a.touching |= e->state.k > 0 && e->out.fidelity.in_contact[i];
        a.bias[i] = &b->bias;
        a.reading_s[i] = ff_tuning_reading(&b->wrench, b->measured.T, b->f_b);
    }
    ff_tuning_advance(&e->tuning, &a);
    ff_tuning_apply(&e->tuning, &a);
    e->held |= a.hold;
    e->stopped |= a.stop;
    if (a.changed) { /* into the log, too: a replay knows the scenario only */
        const ff_tuning_parameter *p = &e->tuning.table.parameter[a.changed - 1];
        ff_rt_note note = {.kind = FF_NOTE_TEXT,
                           .t = a.t,
                           .state = e->safety.name,
                           .trip = {.value = p->value, .limit = a.was}};
        memcpy(note.text, p->name, sizeof note.text < sizeof p->name ? sizeof note.text : sizeof p->name);
        note.text[sizeof note.text - 1] = 0;
        ff_ring_push(&e->notes, &note);
    }
}

/* One cycle of the loop on e->in. */
static void float_once(executive *e, bool filled) {
    const ff_scenario *scenario = e->scenario;
    const double lateness = e->row.lateness_ns;
    const bool final = e->state.k == scenario->cycles;
    const double t = (double)e->state.k * e->plan.cycle;
    for (int i = 0; i < e->plan.bodies; i++)
        e->in.load[i] = ff_scenario_load_at(scenario, i, t);
    ff_row_begin(scenario, &e->state, e->state.k, final, &e->row);
    e->row.lateness_ns = lateness;
    e->row.filled = filled;
    ff_status status = FF_OK;
    if (final) {
        ff_row_settle(scenario, &e->out);
        e->finished = true;
    } else {
        const int64_t begin = ff_clock_now();
        status = ff_loop_step(&e->model, &e->state, &e->result->run.info, &e->in, &e->out);
        const int64_t took = ff_clock_now() - begin;
        e->row.compute_ns = (double)took;
        ff_histogram_add(&e->result->compute, took);
    }
    ff_row_loop(scenario, &e->in, &e->out, status, &e->row);
    push_row(e);
    if (status < 0)
        e->other = (ff_trip){.code = FF_TRIP_DIVERGED};
    for (int i = 0; i < e->plan.bodies; i++)
        e->body[i].command = e->out.command[i];
}

/* The robot's command as an answer to its last telegram. */
static void answer(executive *e, int i, bool hold, bool end) {
    body *b = &e->body[i];
    const ff_plan_body *plan = &e->plan.body[i];
    ff_rsi_command command = {.stop = end};
    bool give = !hold;
    if (give && plan->channel == FF_RSI_BY_AXES) {
        ff_arm_joints joints;
        ff_arm_info info;
        if (ff_arm_inverse(&plan->arm, &b->command.T, &b->joints, &joints, &info) == FF_OK) {
            b->joints = joints;
        } else if (e->other.code == FF_TRIP_NONE) {
            e->other = (ff_trip){.code = FF_TRIP_JOINT, .body = i, .value = (double)info.axis};
        }
        memcpy(command.axes, b->joints.a, sizeof command.axes);
    } else if (give) {
        command.pose = ff_plan_to_rist(plan, b->command.T);
    } else if (end) { /* the last correction with the stop tag */
        give = b->tracked > 0;
        memcpy(command.axes, b->joints.a, sizeof command.axes);
        command.pose = ff_plan_to_rist(plan, b->command.T);
    }
    if (!hold && !b->again)
        b->track[b->tracked++ % TRACK] = b->command.T.p;
    if (!b->fresh)
        return;
    b->fresh = false;
    char text[FF_RSI_SEND_MAX];
    size_t used;
    if (end && !give) { /* never moved: hold where the first telegram found the robot */
        ff_rsi_rob_axes(&b->rsi.first, command.axes);
        command.pose = ff_rsi_rob_pose(&b->rsi.first);
        give = true;
    }
    const ff_status status =
        ff_rsi_client_answer(&b->rsi_config, &b->rsi, give ? &command : NULL, text, sizeof text, &used);
    if (status == FF_ERR_LIMIT && e->other.code == FF_TRIP_NONE)
        e->other = (ff_trip){.code = FF_TRIP_JOINT, .body = i, .limit = b->rsi_config.max_rotation};
    if (used)
        ff_socket_send(b->rsi_fd, text, used, &b->peer);
}

/* Poses of this cycle; before it, those of the cycles whose telegram was lost, on a line between: the loop's
 * time goes on with the robot's. */
static void advance(executive *e, bool floats) {
    const uint64_t gap = e->body[0].gap < 64 ? e->body[0].gap : 64;
    e->result->missed += e->body[0].gap;
    ff_pose from[FF_MAX_BODIES], to[FF_MAX_BODIES];
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        from[i] = b->motion.known ? b->pose : ff_plan_from_rist(&e->plan.body[i], ff_rsi_rob_pose(&b->rob));
        to[i] = ff_plan_from_rist(&e->plan.body[i], ff_rsi_rob_pose(&b->rob));
        if (!b->fresh && i > 0 && b->motion.known) { /* the other robot's telegram is late */
            to[i].p = ff_vec3_axpy(e->plan.cycle, b->measured.twist.v, b->pose.p);
            to[i].q = ff_quat_mul(b->pose.q, ff_quat_exp(ff_vec3_scale(e->plan.cycle, b->measured.twist.w)));
        }
        b->pose = to[i];
    }
    for (uint64_t j = 1; j <= gap; j++) {
        for (int i = 0; i < e->plan.bodies; i++)
            measure(e, i, ff_pose_interpolate(from[i], to[i], (double)j / (double)(gap + 1)));
        if (!floats)
            continue;
        if (e->runup < e->plan.runup)
            e->runup++;
        else if (!e->finished)
            float_once(e, true);
        e->result->filled++;
    }
    for (int i = 0; i < e->plan.bodies; i++)
        measure(e, i, to[i]);
}

static ff_trip_code sensor_trip(const executive *e, const body *b, double *value) {
    const int i = (int)(b - e->body);
    const double age = (double)b->aged * e->plan.cycle;
    *value = age;
    if (b->ati.phase == FF_ATI_FAILED || age > e->safety_config.limits[i].age)
        return FF_TRIP_AGE;
    *value = (double)b->record.status;
    if (b->ati_status == FF_INFO_SATURATED)
        return FF_TRIP_RANGE;
    if (b->ati_status == FF_INFO_HELD)
        return FF_TRIP_FROZEN;
    if (b->ati_status < 0)
        return FF_TRIP_SENSOR;
    *value = (double)b->same;
    /* a sensor that was seen to be noisy does not repeat six counts for long */
    if (e->result->check.body[i].force_noise > 5e-6 && b->same >= FROZEN_RECORDS)
        return FF_TRIP_FROZEN;
    const double force = ff_vec3_norm(e->in.sensor[i].f_s.f);
    *value = force;
    if (fabs(force) >= b->wrench.force_limit || ff_vec3_norm(e->in.sensor[i].f_s.t) >= b->wrench.torque_limit)
        return FF_TRIP_RANGE;
    return FF_TRIP_NONE;
}

static ff_safety_action judge(executive *e, bool silent) {
    ff_safety_in in = {.missed = (double)e->body[0].gap};
    bool speaks = true;
    for (int i = 0; i < e->plan.bodies; i++) {
        const body *b = &e->body[i];
        ff_safety_body_in *at = &in.body[i];
        at->measured = b->measured;
        at->command = b->command;
        at->f_b = b->f_b;
        at->force_valid = b->force_valid;
        at->sensor = sensor_trip(e, b, &at->sensor_value);
        at->age = (double)b->aged * e->plan.cycle;
        at->energy = e->state.energy[i].exchanged + e->state.energy[i].delay;
        at->tracking = tracking_error(b);
        at->clipped = b->rsi.info.clipped;
        at->clipped_by = b->rsi.info.clipped_by;
        speaks &= b->known && b->has_record;
    }
    in.ready = speaks;
    in.checked = atomic_load_explicit(&e->checked, memory_order_acquire);
    in.arm = atomic_load_explicit(&e->armed, memory_order_acquire);
    in.start = true; /* the operator's arming is the start, too */
    in.other = e->other;
    e->other = (ff_trip){.code = FF_TRIP_NONE};
    if (silent)
        in.other =
            (ff_trip){.code = FF_TRIP_SILENT, .value = e->options->silence > 0 ? e->options->silence : 0.1};
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
        ff_levels(&e->safety_config, &e->safety, &in, i, e->level[i]);
    const ff_safety_action action = ff_safety_step(&e->safety_config, &e->safety, &in, &tripped);
    if (tripped) {
        const ff_rt_note note = {
            .kind = FF_NOTE_TRIP, .t = run_time(e), .state = e->safety.name, .trip = e->safety.trip};
        ff_ring_push(&e->notes, &note);
    }
    if (e->safety.name != before)
        note_state(e);
    if (before == FF_SAFE_ARMED && e->safety.name == FF_SAFE_FLOAT)
        e->faults = ff_faults_now();
    return action;
}

/* The zero is taken between CHECK and ZEROED: the checks' mean is the bias. */
static void take_zero(executive *e) {
    for (int i = 0; i < e->plan.bodies; i++)
        e->body[i].bias = e->result->check.body[i].bias;
}

/* True when everything has come to rest and RSI may end. */
static bool brake(executive *e) {
    bool done = true;
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        if (b->tracked == 0) /* never moved */
            continue;
        if (!b->stop.started) {
            ff_stop_start(&b->stop, b->command);
            continue;
        }
        if (!b->stop.done)
            ff_stop_step(&e->safety_config, i, &b->stop, b->last_force, b->force_valid);
        b->command = b->stop.command;
        e->result->retreated |= b->stop.retreats;
        done &= b->stop.done;
    }
    return done;
}

/* In lock step the run's time can pass faster than the wall's. There is no deadline then, and the recorder is
 * waited for; in wall-clock time this never waits. */
static void spare_recorder(const executive *e) {
    while (ff_ring_count(&e->rows) > 3 * (e->rows.mask / 4) &&
           (double)(ff_clock_now() - e->began) < 0.5e9 * (double)e->state.k * e->plan.cycle &&
           !atomic_load_explicit(&e->recorder_failed, memory_order_relaxed))
        ff_clock_sleep_until(ff_clock_now() + 1000000);
}

static void *real_time(void *self) {
    executive *e = self;
    ff_rights_take(e->options->priority ? e->options->priority : 80,
                   e->options->priority ? e->options->cpu : -1, &e->result->rights);
    if (e->options->enter)
        e->options->enter(e->options->user);
    for (;;) {
        const bool off = e->safety.name == FF_SAFE_OFF;
        const double patience = off ? (e->options->wait > 0.0 ? e->options->wait : 10.0)
                                : e->options->silence > 0.0 ? e->options->silence
                                                            : 0.1;
        if (!wait_telegram(e, patience)) {
            const bool asked = off && atomic_load(e->options->stop);
            if (!asked)
                judge(e, true);
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
                stand(e, i);
            if (++e->standing == CHECK_CYCLES)
                atomic_store_explicit(&e->measured, true, memory_order_release);
        }
        if (before == FF_SAFE_CHECK && e->safety.name == FF_SAFE_ZEROED)
            take_zero(e);
        if (action == FF_ACT_MOVE) {
            if (e->runup < e->plan.runup) {
                const double t = run_time(e);
                for (int i = 0; i < e->plan.bodies; i++)
                    e->body[i].command = ff_plan_runup(&e->plan, i, t + e->lead[i]);
                e->runup++;
            } else if (!e->finished) {
                if (e->state.k == 0)
                    e->began = e->wake;
                float_once(e, false);
                spare_recorder(e);
            }
            for (int i = 0; i < e->plan.bodies; i++)
                answer(e, i, false, false);
        } else if (action == FF_ACT_BRAKE) {
            const bool done = brake(e);
            e->rest += done;
            e->since++;
            /* told to hold, it stays until it is told to end, or something fails */
            const bool stays = e->held && !e->finished && e->safety.name == FF_SAFE_HOLD && !asked_to_stop(e);
            const bool end = e->rest > SETTLE_CYCLES && !stays;
            for (int i = 0; i < e->plan.bodies; i++)
                answer(e, i, e->body[i].tracked == 0, end);
            if (end)
                break;
        } else {
            for (int i = 0; i < e->plan.bodies; i++)
                answer(e, i, true, false);
        }
        const int64_t took = ff_clock_now() - e->wake;
        if (action == FF_ACT_MOVE)
            ff_histogram_add(&e->result->io, took - (int64_t)e->row.compute_ns);
        show_cycle(e);
        take_orders(e);
    }
    const ff_faults now = ff_faults_now();
    e->result->faults = (ff_faults){now.minor - e->faults.minor, now.major - e->faults.major,
                                    now.involuntary - e->faults.involuntary};
    if (e->options->leave)
        e->options->leave(e->options->user);
    atomic_store_explicit(&e->ended, true, memory_order_release);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------- recorder --
 */

static void record_row(executive *e, ff_row *row) {
    const ff_ideal_result *ideal = e->run->ideal;
    for (int i = 0; i < e->scenario->satellites; i++)
        if (ideal && row->k < ideal->samples)
            row->body[i].ideal = ideal->state[row->k * (uint64_t)ideal->bodies + (uint64_t)i];
    ff_touch_find(&e->touch, row);
    e->last[e->last_next] = *row;
    e->last_next = (e->last_next + 1) % e->last_capacity;
    e->last_count += e->last_count < e->last_capacity;
    for (int s = 0; s < e->run->count && e->recorder_status == FF_OK; s++) {
        const ff_status status = e->run->sinks[s].row(e->run->sinks[s].self, row);
        if (status < 0) {
            e->recorder_status = status;
            atomic_store(&e->recorder_failed, true);
        }
    }
    e->result->run.cycles = row->k;
}

static void record_note(executive *e, const ff_rt_note *note) {
    ff_log *log = e->options->log ? *e->options->log : NULL;
    if (log && note->kind == FF_NOTE_STATE)
        ff_log_state(log, note->t, (int)note->state, ff_safety_state_name(note->state));
    if (log && note->kind == FF_NOTE_TRIP) {
        const bool orderly = note->trip.code <= FF_TRIP_FINISHED;
        ff_log_event(log, note->t, (int)note->trip.code, orderly ? FF_MESSAGE_INFO : FF_MESSAGE_FAULT,
                     ff_trip_text(note->trip.code), note->trip.value, note->trip.limit);
    }
    if (log && note->kind == FF_NOTE_TEXT)
        ff_log_event(log, note->t, 0, FF_MESSAGE_INFO, note->text, note->trip.value, note->trip.limit);
    if (e->options->note)
        e->options->note(e->options->user, note);
}

/* Evaluates what was measured at standstill. In the caller's thread, while the robot holds. */
static void evaluate(executive *e) {
    ff_rt_check *check = &e->result->check;
    double noise[FF_MAX_BODIES] = {0};
    check->no_go = (ff_trip){.code = FF_TRIP_NONE};
#define NO_GO(what, is, most)                                                                       \
    do {                                                                                            \
        if (!((is) <= (most)) && check->no_go.code == FF_TRIP_NONE)                                 \
            check->no_go = (ff_trip){                                                               \
                .code = (what), .body = i, .value = (is), .limit = (most), .state = FF_SAFE_FAULT}; \
    } while (0)
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        const double n = CHECK_CYCLES, deg = FF_PI / 180.0;
        const ff_wrench mean = ff_wrench_scale(1.0 / n, b->standing.sum);
        double force = 0.0, torque = 0.0;
        for (int a = 0; a < 3; a++) {
            force = fmax(force, b->standing.square.f.a[a] / n - mean.f.a[a] * mean.f.a[a]);
            torque = fmax(torque, b->standing.square.t.a[a] / n - mean.t.a[a] * mean.t.a[a]);
        }
        ff_wrench weight = ff_wrench_zero();
        if (b->wrench.mockup_mass > 0.0 && !b->wrench.environment) {
            const ff_wrench_in rest = {.T_wb = b->standing.first};
            weight =
                ff_wrench_transform(ff_pose_inverse(b->wrench.T_bs), ff_wrench_mockup(&b->wrench, &rest));
        }
        check->body[i].bias = ff_wrench_sub(mean, weight);
        check->body[i].force_noise = noise[i] = sqrt(fmax(0.0, force));
        check->body[i].torque_noise = sqrt(fmax(0.0, torque));
        check->body[i].drift = noise[i] / sqrt(n) / e->scenario->satellite[i].rigid.mass;
        check->body[i].apart = b->standing.apart;
        check->body[i].apart_angle = b->standing.apart_angle;
        check->body[i].moved = b->standing.moved;
        const ff_pose park = ff_plan_runup(&e->plan, i, -FF_INF).T;
        check->body[i].off = ff_vec3_norm(ff_vec3_sub(park.p, b->standing.first.p));
        check->body[i].off_angle = ff_quat_angle(park.q, b->standing.first.q);
        ff_safety_forecast(e->scenario, i, &check->body[i].forecast);
        NO_GO(FF_TRIP_KINEMATICS, check->body[i].apart, 1e-3);
        NO_GO(FF_TRIP_KINEMATICS, check->body[i].apart_angle, 0.1 * deg);
        NO_GO(FF_TRIP_START, check->body[i].off, 1e-3);
        NO_GO(FF_TRIP_START, check->body[i].off_angle, 0.1 * deg);
        NO_GO(FF_TRIP_STANDSTILL, check->body[i].moved, 1e-3);
        const double range = b->wrench.force_limit;
        NO_GO(FF_TRIP_BIAS, ff_vec3_norm(check->body[i].bias.f) + 5.0 * noise[i], 0.5 * range);
        if (check->body[i].forecast.verdict != FF_TRIP_NONE && check->no_go.code == FF_TRIP_NONE)
            check->no_go = (ff_trip){.code = check->body[i].forecast.verdict,
                                     .body = i,
                                     .value = check->body[i].forecast.value,
                                     .limit = check->body[i].forecast.limit,
                                     .state = FF_SAFE_FAULT};
        e->touch.threshold[i] = fmax(2e-6, 5.0 * noise[i]);
        atomic_store_explicit(&e->telemetry.threshold[i], e->touch.threshold[i], memory_order_relaxed);
    }
#undef NO_GO
    /* the limits' thresholds use the measured noise: nothing moves yet, the real-time thread only reads them
     * while it moves */
    for (int i = 0; i < e->plan.bodies; i++)
        e->safety_config.contact[i] = fmax(1e-3, 5.0 * noise[i]);
}

/* The caller's thread: records, asks the operator, waits for the end. */
static void attend(executive *e) {
    ff_row *row = malloc(sizeof *row);
    bool evaluated = false;
    while (row) {
        const bool ended = atomic_load_explicit(&e->ended, memory_order_acquire);
        ff_rt_note note;
        bool any = false;
        while (ff_ring_pop(&e->rows, row)) {
            record_row(e, row);
            any = true;
            if (ff_ring_dropped(&e->rows))
                atomic_store(&e->recorder_failed, true);
        }
        while (ff_ring_pop(&e->notes, &note))
            record_note(e, &note);
        if (ended && !any)
            break;
        if (!evaluated && atomic_load_explicit(&e->measured, memory_order_acquire)) {
            evaluated = true;
            evaluate(e);
            const ff_rt_check *check = &e->result->check;
            const bool go = check->no_go.code == FF_TRIP_NONE;
            const bool yes = e->options->confirm ? e->options->confirm(e->options->user, check)
                                                 : e->plan.virtual;
            if (go)
                atomic_store_explicit(&e->checked, true, memory_order_release);
            if (go && yes)
                atomic_store_explicit(&e->armed, true, memory_order_release);
            else
                atomic_store(&e->quit, true);
        }
        if (e->run->progress && !any)
            e->run->progress(e->run->user, (double)e->result->run.cycles / (double)e->scenario->cycles);
        if (!any)
            ff_clock_sleep_until(ff_clock_now() + 2000000);
    }
    free(row);
}

/* ----------------------------------------------------------------------------------------------- opening --
 */

static ff_status read_scale(executive *e, int i, char *message, size_t size) {
    char *page = malloc(FF_ATI_XML_MAX + 1024);
    size_t used = 0;
    ff_ati_page parsed;
    ff_status status = page ? FF_OK : FF_ERR_MEMORY;
    /* the facility may be starting at this moment */
    const int64_t give_up =
        ff_clock_now() + (int64_t)(1e9 * (e->options->wait > 0.0 ? e->options->wait : 10.0));
    for (; !status;) {
        status = ff_http_get(&e->plan.body[i].http, FF_ATI_HTTP_PATH, 1.0, page, FF_ATI_XML_MAX, &used,
                             message, size);
        if (status != FF_ERR_DEVICE || ff_clock_now() > give_up || atomic_load(e->options->stop))
            break;
        status = FF_OK;
        ff_clock_sleep_until(ff_clock_now() + 50000000);
    }
    if (!status) {
        message[0] = 0;
        status = ff_ati_page_decode(page, used, &parsed);
        if (!status)
            status = ff_ati_page_scale(&parsed, &e->body[i].scale);
        if (status != FF_OK)
            snprintf(message, size, "the sensor's page: %s", ff_status_text(status));
        else if (parsed.has_range) {
            e->body[i].wrench.force_limit = fmin(e->body[i].wrench.force_limit, parsed.range[0]);
            e->body[i].wrench.torque_limit = fmin(e->body[i].wrench.torque_limit, parsed.range[3]);
        }
    }
    free(page);
    return status;
}

static ff_status open_body(executive *e, int i, char *message, size_t size) {
    body *b = &e->body[i];
    const ff_plan_body *plan = &e->plan.body[i];
    ff_status status = ff_socket_open(&plan->rsi, &b->rsi_fd, NULL, message, size);
    if (status != FF_OK)
        return status;
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (ff_socket_is_loopback(&plan->ati))
        any.sin_addr = plan->ati.sin_addr;
    status = ff_socket_open(&any, &b->ati_fd, NULL, message, size);
    if (status != FF_OK)
        return status;
    const double cycles = ceil(plan->delay / e->plan.cycle);
    b->window = (unsigned)fmin(TRACK, cycles + 50.0);
    b->rsi_config = ff_rsi_client_config_default();
    b->rsi_config.channel = plan->channel;
    b->rsi_config.mode = plan->mode;
    b->rsi_config.decimals = 9;
    b->rsi_config.ipoc_step = 0;
    b->rsi_config.clip_window = (unsigned)fmin(FF_RSI_WINDOW_MAX, cycles + 50.0);
    ff_rsi_client_reset(&b->rsi);
    b->ati_config = ff_ati_client_config_default();
    ff_ati_client_reset(&b->ati);
    ff_ati_client_start(&b->ati);
    b->joints = plan->home;
    b->command = ff_plan_runup(&e->plan, i, -FF_INF);
    b->wrench = e->loop_config.body[i].wrench;
    return read_scale(e, i, message, size);
}

static ff_status open_all(executive *e, char *message, size_t size) {
    const ff_scenario *scenario = e->scenario;
    ff_status status = ff_plan_create(scenario, &e->options->ports, &e->plan, message, size);
    if (status != FF_OK)
        return status;
    if (!e->plan.virtual && !e->options->confirm) {
        snprintf(message, size, "real devices are armed by the operator at the console, after the check");
        return FF_ERR_ARGUMENT;
    }
    ff_scenario_loop(scenario, &e->loop_config);
    if ((status = ff_loop_create(&e->loop_config, &e->model, message, size)) != FF_OK)
        return status;
    ff_loop_reset(&e->model, &e->state, &e->result->run.info, &e->out);
    /* a method that predicts issues its commands ahead of the motion: so does the run-up, and begins earlier
     */
    double most = 0.0;
    for (int i = 0; i < e->plan.bodies; i++) {
        e->lead[i] = fmax(0.0, ff_fidelity_lead(&e->model.fidelity, &e->state.fidelity, i));
        most = fmax(most, e->lead[i]);
    }
    if (e->plan.runup)
        e->plan.runup += (uint64_t)ceil(most / e->plan.cycle);
    ff_safety_configure(scenario, NULL, &e->safety_config);
    ff_safety_reset(&e->safety);
    if ((status = ff_touch_create(&e->touch, scenario, message, size)) != FF_OK)
        return status;
    /* two seconds and more: the recorder may be held up by its disk */
    const size_t slots = (size_t)fmax(1024.0, ceil(2.5 / e->plan.cycle));
    e->last_capacity = (size_t)fmax(16.0, ceil(2.0 / e->plan.cycle));
    e->last = calloc(e->last_capacity, sizeof *e->last);
    if (!e->last || ff_ring_create(&e->rows, sizeof(ff_row), slots) != FF_OK ||
        ff_tuning_create(&e->tuning, scenario, true) != FF_OK ||
        ff_ring_create(&e->notes, sizeof(ff_rt_note), 64) != FF_OK) {
        snprintf(message, size, "no memory for the recorder's ring");
        return FF_ERR_MEMORY;
    }
    for (int i = 0; i < e->plan.bodies && !status; i++)
        status = open_body(e, i, message, size);
    if (!status)
        status = ff_telemetry_start(&e->telemetry, &e->options->viewer, &e->tuning, &e->touch, e->run->ideal);
    return status;
}

static void conclude(executive *e) {
    ff_rt_result *result = e->result;
    ff_run_result *run = &result->run;
    result->state = e->safety.name;
    result->trip = e->safety.trip;
    for (int i = 0; i < e->plan.bodies; i++) {
        result->rsi[i] = e->body[i].rsi.info;
        result->ati[i] = e->body[i].ati.sequence;
        result->robot[i] = e->body[i].measured;
    }
    result->dropped_rows = ff_ring_dropped(&e->rows);
    result->dropped_telemetry = ff_ring_dropped(&e->telemetry.samples);
    run->cycle_mean_ns = 0.0;
    for (int n = 0; n < FF_HISTOGRAM_BINS && result->compute.count; n++)
        run->cycle_mean_ns +=
            ((double)n + 0.5) * 1e3 * (double)result->compute.bin[n] / (double)result->compute.count;
    run->cycle_max_ns = (double)result->compute.largest_ns;
    /* oldest first */
    result->last = calloc(e->last_count + 1, sizeof *result->last);
    for (size_t n = 0; result->last && n < e->last_count; n++)
        result->last[n] = e->last[(e->last_next + e->last_capacity - e->last_count + n) % e->last_capacity];
    result->last_count = result->last ? e->last_count : 0;
    if (run->status != FF_OK)
        return;
    const ff_trip *trip = &result->trip;
    if (trip->code == FF_TRIP_FINISHED) {
        run->status = e->recorder_status;
        return;
    }
    run->status = e->recorder_status != FF_OK ? e->recorder_status : FF_ERR_LIMIT;
    snprintf(run->message, sizeof run->message, "%s%s%s: %s (%.6g, allowed %.6g %s)",
             ff_safety_state_name(result->state), result->trip.code == FF_TRIP_NONE ? "" : ", ",
             ff_trip_name(result->trip.code), ff_trip_text(result->trip.code), result->trip.value,
             result->trip.limit, ff_trip_unit(result->trip.code));
}

void ff_rt_run(const ff_scenario *scenario, const ff_run_options *run, const ff_rt_options *options,
               ff_rt_result *result) {
    *result = (ff_rt_result){0};
    executive *e = calloc(1, sizeof *e);
    if (!e) {
        result->run.status = FF_ERR_MEMORY;
        return;
    }
    e->scenario = scenario;
    e->run = run;
    e->options = options;
    e->result = result;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        e->body[i].rsi_fd = e->body[i].ati_fd = -1;
    result->run.status = open_all(e, result->run.message, sizeof result->run.message);
    if (result->run.status == FF_OK) {
        const int64_t begin = ff_clock_now();
        pthread_t thread;
        if (pthread_create(&thread, NULL, real_time, e) != 0) {
            result->run.status = FF_ERR_MEMORY;
            snprintf(result->run.message, sizeof result->run.message, "no thread for the loop");
        } else {
            attend(e);
            pthread_join(thread, NULL);
        }
        result->run.wall_s = 1e-9 * (double)(ff_clock_now() - begin);
    }
    ff_telemetry_stop(&e->telemetry);
    conclude(e);
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
    ff_ring_free(&e->rows);
    ff_tuning_free(&e->tuning);
    ff_ring_free(&e->notes);
    free(e->last);
    free(e);
}
