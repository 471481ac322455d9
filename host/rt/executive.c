#include "rt/executive.h"

#include "rt/follow.h"
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
    DATAGRAMS = 32      /* read at most in one cycle: a flood does not stop the loop */
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
    bool again;         /* repeats the last command */
    bool ended;         /* was told to stop */
    uint64_t late;      /* telegrams answered after their cycle */
    uint64_t gap;       /* cycles lost before this telegram */
    ff_follow follow;   /* its poses and its controller's clock */
    uint64_t ticks;     /* of that clock since the first telegram [cycles] */
    double arrived;     /* [s] local time of the newest telegram's arrival */
    int64_t taken;      /* [ns] when it was read */
    ff_setpoint before; /* the command before this one */
    struct {
        ff_clockfit_state fit;
        uint64_t count, records; /* ft_sequence since the first record, and how many records told */
        uint32_t last;
        double first, tick; /* [s] arrival of the first; period of ft_sequence, 0: not known yet */
    } ft;
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
    /* tests of CHECK */
    ff_trial trial;
    ff_trial_sample *sample;
    size_t samples, sample_capacity;
    ff_wrench rest_b;    /* contact wrench at standstill, before the zero */
    const char *text;    /* to the pendant with the next answer */
    double threshold[2]; /* [N], [N m] of a push */
    ff_push_state push;
    bool weighed; /* the mock-up is the identified one, not the scenario's */
    ff_wrench_config identified;
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
    ff_rigid_state nominal; /* at this cycle */
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
    int64_t epoch;       /* [ns] of the local time */
    double pace;         /* [s] local time of the running cycle, by the pacing robot's clock */
    double virtual_now;  /* [s] lock step: arrival of its newest telegram; else NaN */
    ff_clockfit_config fitting;
    double io_ns;

    ff_ring rows, notes;
    ff_telemetry telemetry;
    ff_tuning tuning;
    bool held, stopped; /* asked for by the owner of commands */
    uint64_t since;     /* cycles since the last of the loop: of braking and holding */
    double level[FF_MAX_BODIES][FF_LEVEL_COUNT];
    atomic_bool ready, measured, tests, tested, checked, armed, ended, recorder_failed, quit;
    bool testing;         /* the robot moves for a test */
    uint64_t trial_cycle; /* of the test motions */
    double trial_end;     /* [s] of the longest */
    int64_t trial_began;  /* [ns] */
    int push_body, push_axis;
    bool asked; /* the push was asked for */
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

/* [s] when a datagram arrived, by the kernel's stamp. */
static double local_time(const executive *e, int64_t stamp) {
    const int64_t now = ff_clock_now(), age = stamp ? ff_clock_real() - stamp : 0;
    return 1e-9 * (double)(now - (age > 0 ? age : 0) - e->epoch);
}

/* ft_sequence against our clock. How many a second the sensor makes is its own affair: taken from the first
 * records. */
static void fit_sensor(executive *e, body *b, const ff_ati_record *record, int64_t stamp) {
    const double local = isnan(e->virtual_now) ? local_time(e, stamp) : e->virtual_now;
    const uint32_t step = record->ft_sequence - b->ft.last;
    b->ft.last = record->ft_sequence;
    if (b->ft.records++ == 0 || step > INT32_MAX) { /* the first, or a sensor that began again */
        b->ft.records = 1;
        b->ft.count = 0;
        b->ft.first = local;
        b->ft.tick = 0.0;
        ff_clockfit_reset(&b->ft.fit);
        return;
    }
    b->ft.count += step;
    if (b->ft.records == CHECK_CYCLES && b->ft.count && local > b->ft.first)
        b->ft.tick = (local - b->ft.first) / (double)b->ft.count;
    if (b->ft.tick > 0.0)
        ff_clockfit_add(&e->fitting, &b->ft.fit, (double)b->ft.count * b->ft.tick, local);
}

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
        fit_sensor(e, b, &record, stamp);
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
        b->ticks += b->follow.count ? 1 + b->gap : 0;
        b->taken = ff_clock_now();
        b->arrived = local_time(e, *arrived);
        if (e->plan.virtual && b->rob.fields & FF_RSI_ARRIVAL) {
            b->arrived = 1e-9 * (double)b->rob.arrival_ns;
            if (b == e->body)
                e->virtual_now = b->arrived;
        }
        ff_follow_add(&e->fitting, &b->follow, (double)b->ticks * e->plan.cycle, b->arrived,
                      ff_plan_from_rist(&e->plan.body[b - e->body], ff_rsi_rob_pose(&b->rob)));
        return true;
    }
    return false;
}

static void answer(executive *e, int i, bool hold, bool end);

static bool clock_known(const executive *e, const body *b) {
    return ff_clockfit_ready(&e->fitting, &b->follow.fit);
}

/* A command made at the pacing robot's time, at the time of this robot's newest telegram. */
static ff_setpoint command_for(const executive *e, const body *b) {
    if (b == e->body || !clock_known(e, b) || !clock_known(e, e->body))
        return b->command;
    const double braking = e->safety_config.limits[b - e->body].stop_acceleration;
    return ff_follow_command(&b->before, &b->command, e->plan.cycle, braking,
                             ff_follow_time(&b->follow) - e->pace);
}

static void answer_at_once(executive *e, int i) {
    body *b = &e->body[i];
    b->again = true;
    answer(e, i, b->tracked == 0, false);
    b->again = false;
}

/* The other robots' telegrams come when their own clocks say so, and nobody waits for them. One that belongs
 * to the first half of the running cycle is answered now, from the command there is; a later one waits for
 * the pacing robot's next, but not longer than half a cycle. Which half it is says the fitted time, not the
 * arrival: jitter does not make it change sides, and a late packet is answered as if it had come in time. */
static void attend_others(executive *e) {
    int64_t arrived;
    const bool off = e->safety.name == FF_SAFE_OFF; /* nothing is answered yet but the newest */
    /* in lock step the pacing telegram follows at once, but a busy machine may be long over it */
    const int64_t patience = isnan(e->virtual_now) ? (int64_t)(0.5e9 * e->plan.cycle) : 50000000;
    for (int i = 1; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        for (int n = 0; n < DATAGRAMS; n++) {
            if (!off && b->fresh && ff_clock_now() - b->taken > patience) {
                b->late++;
                answer_at_once(e, i);
            }
            const uint64_t gap = b->gap;
            if ((b->fresh && !off) || !take_telegram(e, b, &arrived))
                break;
            b->gap = gap > b->gap ? gap : b->gap;
            if (!off && clock_known(e, b) && clock_known(e, e->body) &&
                ff_follow_time(&b->follow) - e->pace < 0.5 * e->plan.cycle)
                answer_at_once(e, i);
        }
    }
}

/* Waits for the pacing robot's next telegram. False: silence. */
static bool wait_telegram(executive *e, double patience) {
    body *b = &e->body[0];
    int64_t arrived = 0;
    const int64_t begin = ff_clock_now(), give_up = begin + (int64_t)(1e9 * patience);
    for (;;) {
        attend_others(e);
        if (take_telegram(e, b, &arrived))
            break;
        const int64_t left = give_up - ff_clock_now();
        if (left <= 0 ||
            (atomic_load_explicit(e->options->stop, memory_order_relaxed) && e->safety.name == FF_SAFE_OFF))
            return false;
        const int64_t nap = left < 50000000 ? left : 50000000;
        const struct timespec t = {0, (long)nap};
        struct pollfd p[FF_MAX_BODIES];
        bool waits = false; /* a telegram that is not read yet must not keep us awake */
        for (int i = 0; i < e->plan.bodies; i++) {
            p[i] = (struct pollfd){.fd = e->body[i].rsi_fd, .events = POLLIN};
            waits |= i > 0 && (e->body[i].fresh || e->safety.name == FF_SAFE_OFF);
        }
        ppoll(p, waits ? 1 : (nfds_t)e->plan.bodies, waits ? &(struct timespec){0, 500000} : &t, NULL);
        if (e->safety.name == FF_SAFE_OFF)
            for (int i = 0; i < e->plan.bodies; i++)
                drain_sensor(e, &e->body[i], 1e-9 * (double)ff_clock_now());
    }
    e->wake = ff_clock_now();
    attend_others(e); /* sent before the pacing telegram, perhaps, but not read yet */
    if (arrived && e->safety.name >= FF_SAFE_FLOAT)
        ff_histogram_add(&e->result->lateness, ff_clock_real() - arrived);
    e->row.lateness_ns = arrived ? (double)(ff_clock_real() - arrived) : 0.0;
    e->pace = clock_known(e, b) ? ff_follow_time(&b->follow) : b->arrived;
    for (int i = 0; i < e->plan.bodies; i++)
        e->body[i].before = e->body[i].command;
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
    if (b->weighed) { /* the loop removes the scenario's mock-up: here what is between it and the real one */
        const ff_wrench more =
            ff_wrench_sub(ff_wrench_mockup(&b->identified, in), ff_wrench_mockup(&b->wrench, in));
        in->f_s = ff_wrench_sub(in->f_s, ff_wrench_transform(ff_pose_inverse(b->wrench.T_bs), more));
    }
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
    b->rest_b = ff_wrench_add(e->standing ? b->rest_b : ff_wrench_zero(),
                              ff_wrench_scale(1.0 / CHECK_CYCLES, b->f_b));
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
    for (int i = 0; i < e->plan.bodies; i++) {
        const body *b = &e->body[i];
        const ff_clockfit_state *fit = &b->follow.fit;
        e->row.body[i].robot = b->measured;
        e->row.body[i].inertial = ff_loop_to_inertial(&e->model, &e->nominal, b->measured);
        e->row.body[i].device = (ff_row_device){.has_joints = true,
                                                .has_clock = clock_known(e, b),
                                                .joints = ff_arm_from_kuka(b->rob.aipos, b->rob.eipos[0]),
                                                .drift = fit->rate,
                                                .offset = fit->offset,
                                                .residual = fit->residual,
                                                .rms = ff_clockfit_rms(fit)};
    }
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
            b->robot = e->body[i].measured;
            b->inertial = ff_loop_to_inertial(&e->model, &e->nominal, e->body[i].measured);
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

/* A cycle outside the run, for the last 2 s before a fault: run-up, tests of CHECK, the one that tripped. */
static void push_aside(executive *e, double t) {
    const double lateness = e->row.lateness_ns;
    ff_row_begin(e->scenario, &e->state, e->state.k, false, &e->row);
    e->row.t = t;
    e->row.aside = true;
    e->row.lateness_ns = lateness;
    e->row.missed = e->result->missed;
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_row_body *b = &e->row.body[i];
        b->robot = e->body[i].measured;
        b->inertial = ff_loop_to_inertial(&e->model, &e->nominal, e->body[i].measured);
        b->command = e->body[i].command;
        b->measured_b = e->body[i].f_b;
        b->sensor = e->in.sensor[i];
    }
    ff_ring_push(&e->rows, &e->row);
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
    e->nominal = e->state.nominal.motion;
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
        const ff_pose T = command_for(e, b).T;
        if (ff_arm_inverse_after(&plan->arm, &T, &b->joints, e->plan.cycle, &joints, &info) == FF_OK) {
            b->joints = joints;
        } else if (e->other.code == FF_TRIP_NONE) {
            const bool joint = info.reason == FF_ARM_JOINT_LIMIT;
            e->other = (ff_trip){.code = joint ? FF_TRIP_JOINT : FF_TRIP_REACH,
                                 .body = i,
                                 .value = joint ? info.excess * 180.0 / FF_PI : info.excess,
                                 .axis = joint ? info.axis : 0};
        }
        memcpy(command.axes, b->joints.a, sizeof command.axes);
        command.external[0] = b->joints.rail;
    } else if (give) {
        command.pose = ff_plan_to_rist(plan, command_for(e, b).T);
    } else if (end) { /* the last correction with the stop tag */
        give = b->tracked > 0;
        memcpy(command.axes, b->joints.a, sizeof command.axes);
        command.external[0] = b->joints.rail;
        command.pose = ff_plan_to_rist(plan, b->command.T);
    }
    if (!hold && !b->again)
        b->track[b->tracked++ % TRACK] = b->command.T.p;
    if (!b->fresh)
        return;
    b->fresh = false;
    char text[FF_RSI_SEND_MAX];
    size_t used;
    command.text = b->text;
    b->text = NULL;
    if ((end || command.text) && !give) { /* never moved: hold where the first telegram found the robot */
        ff_rsi_rob_axes(&b->rsi.first, command.axes);
        command.external[0] = 1e-3 * b->rsi.first.eipos[0];
        command.pose = ff_rsi_rob_pose(&b->rsi.first);
        give = true;
    }
    const ff_status status =
        ff_rsi_client_answer(&b->rsi_config, &b->rsi, give ? &command : NULL, text, sizeof text, &used);
    if (status == FF_ERR_LIMIT && e->other.code == FF_TRIP_NONE)
        e->other = (ff_trip){.code = FF_TRIP_ROTATION,
                             .body = i,
                             .value = ff_quat_angle(command.pose.q, ff_rsi_rob_pose(&b->rsi.first).q) *
                                      180.0 / FF_PI,
                             .limit = b->rsi_config.max_rotation * 180.0 / FF_PI};
    if (used)
        ff_socket_send(b->rsi_fd, text, used, &b->peer);
    b->ended |= end;
}

/* Poses of this cycle; before it, those of the cycles whose telegram was lost, on a line between: the loop's
 * time goes on with the robot's. */
static void advance(executive *e, bool floats) {
    const uint64_t gap = e->body[0].gap < 64 ? e->body[0].gap : 64;
    e->result->missed += e->body[0].gap;
    e->result->missed_at_rest += floats ? 0 : e->body[0].gap;
    ff_pose from[FF_MAX_BODIES], to[FF_MAX_BODIES];
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        from[i] = b->motion.known ? b->pose : ff_plan_from_rist(&e->plan.body[i], ff_rsi_rob_pose(&b->rob));
        to[i] = ff_plan_from_rist(&e->plan.body[i], ff_rsi_rob_pose(&b->rob));
        if (i > 0 && clock_known(e, b) && clock_known(e, e->body))
            to[i] = ff_follow_at(&b->follow, e->plan.cycle, e->pace);
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

static ff_trip_code sensor_trip(const executive *e, const body *b, double *value, double *limit) {
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
    *value = ff_vec3_norm(e->in.sensor[i].f_s.f);
    *limit = b->wrench.force_limit;
    if (*value >= *limit)
        return FF_TRIP_RANGE;
    *value = ff_vec3_norm(e->in.sensor[i].f_s.t);
    *limit = b->wrench.torque_limit;
    if (*value >= *limit)
        return FF_TRIP_RANGE;
    return FF_TRIP_NONE;
}

/* How far the joint that is nearest to an end of its range is on its way there. */
static double joint_share(const body *b, const ff_arm_model *arm) {
    double share = 0.0;
    for (int a = 0; a < 6; a++) {
        const double low = arm->config.lower[a], high = arm->config.upper[a];
        share = fmax(share, fabs(2.0 * b->joints.a[a] - low - high) / (high - low));
    }
    return share;
}

static ff_safety_action judge(executive *e, bool silent) {
    ff_safety_in in = {0};
    bool speaks = true;
    const double silence = e->options->silence > 0 ? e->options->silence : 0.1;
    for (int i = 0; i < e->plan.bodies; i++) {
        const body *b = &e->body[i];
        ff_safety_body_in *at = &in.body[i];
        at->measured = b->measured;
        at->command = b->command;
        at->f_b = e->testing ? ff_wrench_sub(b->f_b, b->rest_b) : b->f_b; /* no zero yet in CHECK */
        at->force_valid = b->force_valid;
        at->sensor = sensor_trip(e, b, &at->sensor_value, &at->sensor_limit);
        at->age = (double)b->aged * e->plan.cycle;
        at->energy = e->state.energy[i].exchanged + e->state.energy[i].delay;
        at->tracking = tracking_error(b);
        at->clipped = b->rsi.info.clipped;
        at->clipped_by = b->rsi.info.clipped_by;
        at->clipped_limit = b->rsi.info.clipped_tag < 3 ? 1e3 * b->rsi_config.clip_translation
                                                        : b->rsi_config.clip_rotation * 180.0 / FF_PI;
        at->same = e->result->check.body[i].force_noise > 5e-6 ? (double)b->same : 0.0;
        at->apart = b->rsi.apart;
        at->joint = e->plan.body[i].channel == FF_RSI_BY_AXES ? joint_share(b, &e->plan.body[i].arm) : 0.0;
        speaks &= b->known && b->has_record;
        in.missed = fmax(in.missed, (double)b->gap);
        if (i > 0 && b->known && e->pace - b->arrived > silence && e->other.code == FF_TRIP_NONE)
            e->other =
                (ff_trip){.code = FF_TRIP_SILENT, .body = i, .value = e->pace - b->arrived, .limit = silence};
        e->body[i].gap = 0;
    }
    in.ready = speaks;
    in.testing = e->testing;
    in.checked = atomic_load_explicit(&e->checked, memory_order_acquire);
    in.arm = atomic_load_explicit(&e->armed, memory_order_acquire);
    in.start = true; /* the operator's arming is the start, too */
    in.other = e->other;
    e->other = (ff_trip){.code = FF_TRIP_NONE};
    if (silent)
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
        ff_levels(&e->safety_config, &e->safety, &in, i, e->level[i]);
    const ff_safety_action action = ff_safety_step(&e->safety_config, &e->safety, &in, &tripped);
    if (tripped) {
        if (e->safety.trip.code > FF_TRIP_FINISHED && e->body[0].tracked)
            push_aside(e, run_time(e));
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
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        b->bias = e->result->check.body[i].bias;
        if (!e->result->check.body[i].weighed)
            continue;
        b->identified = b->wrench;
        b->identified.mockup_mass = e->result->check.body[i].payload.mass.value;
        for (int a = 0; a < 3; a++)
            b->identified.mockup_com_b.a[a] = e->result->check.body[i].payload.com[a].value;
        b->weighed = true;
    }
}

/* In lock step the run's time can pass faster than the wall's. There is no deadline then, and the recorder is
 * waited for; in wall-clock time this never waits. */
static void spare_recorder(const executive *e, int64_t began, uint64_t cycles) {
    while (ff_ring_count(&e->rows) > 3 * (e->rows.mask / 4) &&
           (double)(ff_clock_now() - began) < 0.5e9 * (double)cycles * e->plan.cycle &&
           !atomic_load_explicit(&e->recorder_failed, memory_order_relaxed))
        ff_clock_sleep_until(ff_clock_now() + 1000000);
}

/* One cycle of the tests of CHECK: the small motions of all robots together, then the pushes one by one. */
static void test_once(executive *e) {
    const double t = (double)e->trial_cycle * e->plan.cycle;
    e->testing = false;
    for (int i = 0; i < e->plan.bodies; i++)
        e->testing |= t < e->body[i].trial.end;
    if (e->testing) {
        e->trial_cycle++;
        for (int i = 0; i < e->plan.bodies; i++) {
            body *b = &e->body[i];
            b->command = ff_trial_at(&b->trial, t);
            if (b->samples < b->sample_capacity)
                b->sample[b->samples++] =
                    (ff_trial_sample){b->command, b->measured, ff_ati_to_wrench(b->scale, b->record.counts)};
        }
        if (e->trial_cycle == 1)
            e->trial_began = e->wake;
        push_aside(e, run_time(e) - e->trial_end + t);
        spare_recorder(e, e->trial_began, e->trial_cycle);
        return;
    }
    while (e->push_body < e->plan.bodies && e->scenario->satellite[e->push_body].check.no_push)
        e->push_body++;
    if (e->push_body == e->plan.bodies) {
        atomic_store_explicit(&e->tested, true, memory_order_release);
        return;
    }
    body *b = &e->body[e->push_body];
    const ff_satellite *satellite = &e->scenario->satellite[e->push_body];
    if (!e->asked) {
        ff_rt_note note = {.kind = FF_NOTE_SAY, .t = run_time(e), .state = e->safety.name};
        snprintf(note.text, sizeof note.text, "%s: %s%s", satellite->name, ff_push_text(e->push_axis),
                 e->push_axis < 3 ? " along the mock-up's axis, then let go"
                                  : " about the mock-up's axis, right-handed, then let go");
        ff_ring_push(&e->notes, &note);
        ff_push_start(&b->push, e->push_axis);
        e->asked = true;
    }
    ff_check_push *push = &e->result->check.body[e->push_body].push[e->push_axis];
    if (!ff_push_step(&b->push, b->threshold[e->push_axis >= 3], satellite->check.wait, e->plan.cycle,
                      ff_wrench_sub(b->f_b, b->rest_b), push)) {
        b->text = ff_push_text(e->push_axis);
        return;
    }
    e->asked = false;
    if (++e->push_axis == 6 || push->seen < 0) { /* in vain once: the others need not be waited for */
        e->push_axis = 0;
        e->push_body++;
    }
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
            b->stop.grasped = run_time(e) >= e->safety_config.grasp[i];
            continue;
        }
        if (!b->stop.done) {
            ff_stop_step(&e->safety_config, i, &b->stop, b->last_force, b->force_valid);
            if (b->stop.done) {
                ff_rt_note note = {.kind = FF_NOTE_SAY, .t = run_time(e), .state = e->safety.name};
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
static void end_others(executive *e) {
    const int64_t until = ff_clock_now() + (int64_t)(2e9 * e->plan.cycle);
    for (int i = 1; i < e->plan.bodies; i++) {
        int64_t arrived;
        body *b = &e->body[i];
        while (!b->ended && ff_clock_now() < until) {
            if (take_telegram(e, b, &arrived))
                answer(e, i, b->tracked == 0, true);
            else
                ff_clock_sleep_until(ff_clock_now() + 200000);
        }
    }
}

/* The pacing robot is gone; the others still speak: each is braked at the pace of its own telegrams. */
static void brake_others(executive *e, double patience) {
    unsigned rest[FF_MAX_BODIES] = {0};
    int64_t arrived, heard = ff_clock_now();
    bool any = e->plan.bodies > 1;
    while (any && 1e-9 * (double)(ff_clock_now() - heard) < patience) {
        any = false;
        for (int i = 1; i < e->plan.bodies; i++) {
            body *b = &e->body[i];
            if (b->tracked == 0 || b->ended)
                continue;
            any = true;
            if (!b->fresh && !take_telegram(e, b, &arrived))
                continue;
            heard = ff_clock_now();
            if (!b->stop.started) { /* from where it has been led meanwhile */
                const ff_setpoint now = command_for(e, b);
                ff_stop_start(&b->stop, now);
            } else if (!b->stop.done)
                ff_stop_step(&e->safety_config, i, &b->stop, b->last_force, false);
            b->command = b->before = b->stop.command;
            e->pace = ff_follow_time(&b->follow);
            rest[i] += b->stop.done;
            answer(e, i, false, rest[i] > SETTLE_CYCLES);
        }
        ff_clock_sleep_until(ff_clock_now() + 200000);
    }
}

static void *real_time(void *self) {
    executive *e = self;
    e->epoch = ff_clock_now();
    e->virtual_now = FF_NAN;
    ff_rights_take(e->options->priority ? e->options->priority : 80,
                   e->options->priority ? e->options->cpu : -1, !e->options->doze, &e->result->rights);
    if (e->options->enter)
        e->options->enter(e->options->user);
    e->faults = ff_faults_now();
    for (;;) {
        const bool off = e->safety.name == FF_SAFE_OFF;
        const double patience = off ? (e->options->wait > 0.0 ? e->options->wait : 10.0)
                                : e->options->silence > 0.0 ? e->options->silence
                                                            : 0.1;
        if (!wait_telegram(e, patience)) {
            const bool asked = off && atomic_load(e->options->stop);
            if (!asked)
                judge(e, true);
            brake_others(e, patience);
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
        } else if (e->safety.name == FF_SAFE_CHECK && atomic_load_explicit(&e->tests, memory_order_acquire) &&
                   !atomic_load_explicit(&e->tested, memory_order_relaxed))
            test_once(e);
        if (before == FF_SAFE_CHECK && e->safety.name == FF_SAFE_ZEROED)
            take_zero(e);
        if (action == FF_ACT_MOVE) {
            if (e->runup < e->plan.runup) {
                const double t = run_time(e);
                for (int i = 0; i < e->plan.bodies; i++)
                    e->body[i].command = ff_plan_runup(&e->plan, i, t + e->lead[i]);
                push_aside(e, t);
                e->runup++;
            } else if (!e->finished) {
                if (e->state.k == 0)
                    e->began = e->wake;
                float_once(e, false);
                spare_recorder(e, e->began, e->state.k);
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
            if (end) {
                end_others(e);
                break;
            }
        } else {
            for (int i = 0; i < e->plan.bodies; i++)
                answer(e, i, !e->testing, false);
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
    if (row->aside)
        return;
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

/* The weight in the sensor frame at a pose. */
static ff_wrench weight_at(const ff_wrench_config *wrench, ff_pose T_wb) {
    if (!(wrench->mockup_mass > 0.0) || wrench->environment)
        return ff_wrench_zero();
    const ff_wrench_in rest = {.T_wb = T_wb};
    return ff_wrench_transform(ff_pose_inverse(wrench->T_bs), ff_wrench_mockup(wrench, &rest));
}

/* Weight and delay from the test motions. What the fits leave at rest is the drift that remains. */
static void evaluate_trial(executive *e, int i) {
    body *b = &e->body[i];
    ff_rt_check *check = &e->result->check;
    char message[160] = "the robot did not move";
    const double mass = e->scenario->satellite[i].rigid.mass;
    if (b->trial.poses) {
        const ff_status status = ff_trial_weigh(&b->trial, &b->wrench, b->sample, b->samples,
                                                &check->body[i].payload, message, sizeof message);
        const ff_log_payload *p = &check->body[i].payload;
        check->body[i].weighed = status == FF_OK;
        if (status != FF_OK) {
            ff_check_add(check, i, "mock-up's mass", "mockup_mass_kg", FF_NAN, FF_NAN, "kg", FF_TRIP_WEIGHT,
                         message);
        } else {
            static const char *const what[] = {"mock-up's CoM, x", "mock-up's CoM, y", "mock-up's CoM, z"};
            static const char *const key[] = {"mockup_com_x_m", "mockup_com_y_m", "mockup_com_z_m"};
            ff_check_add(check, i, "mock-up's mass", "mockup_mass_kg", p->mass.value, FF_INF, "kg",
                         FF_TRIP_WEIGHT, NULL);
            for (int a = 0; a < 3; a++)
                ff_check_show(check, i, what[a], key[a], p->com[a].value, "m");
            check->body[i].bias = p->bias;
            ff_wrench_config fitted = b->wrench;
            fitted.mockup_mass = p->mass.value;
            fitted.mockup_com_b = ff_vec3_make(p->com[0].value, p->com[1].value, p->com[2].value);
            check->body[i].drift = ff_trial_drift(&b->trial, &fitted, p->bias, b->sample, b->samples) / mass;
        }
    }
    /* an answer is never older than the telegram before: one cycle at least */
    const double cycle = e->plan.cycle, said = fmax(e->plan.body[i].delay, cycle);
    if (b->trial.chirp) {
        const ff_status status = ff_trial_time(&b->trial, b->sample, b->samples, fmax(0.2, 2.0 * said),
                                               &check->body[i].delay, message, sizeof message);
        const ff_log_delay *d = &check->body[i].delay;
        check->body[i].timed = status == FF_OK;
        ff_check_add(check, i, "delay, apart from robot.delay", "delay_error_cycles",
                     status == FF_OK ? fabs(d->delay.value - said) / cycle : FF_NAN, 1.0, "cycles",
                     FF_TRIP_DELAY, status == FF_OK ? NULL : message);
        if (status == FF_OK)
            ff_check_show(check, i, "delay, by the chirp", "delay_ms", 1e3 * d->delay.value, "ms");
    } else {
        ff_check_show(check, i, "delay, from the scenario", "delay_ms", 1e3 * said, "ms");
    }
}

static void evaluate_pushes(executive *e, int i) {
    ff_rt_check *check = &e->result->check;
    static const char *const key[] = {"push_x", "push_y", "push_z", "twist_x", "twist_y", "twist_z"};
    if (e->scenario->satellite[i].check.no_push) {
        ff_check_skip(check, i, "hand-push test", "push");
        return;
    }
    for (int axis = 0; axis < 6; axis++) {
        ff_check_push *push = &check->body[i].push[axis];
        char reason[160];
        if (!push->done)
            continue;
        ff_push_judge(axis, push, reason, sizeof reason);
        ff_check_add(check, i, ff_push_text(axis), key[axis], push->part, 0.5, "", FF_TRIP_PUSH, reason);
    }
}

/* Evaluates what was measured at standstill and, once they were made, by the tests. In the caller's thread,
 * while the robot holds. */
static void evaluate(executive *e, bool tested) {
    ff_rt_check *check = &e->result->check;
    const double deg = FF_PI / 180.0;
    check->no_go = (ff_trip){.code = FF_TRIP_NONE};
    check->rows = 0;
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        const double n = CHECK_CYCLES;
        const ff_wrench mean = ff_wrench_scale(1.0 / n, b->standing.sum);
        double force = 0.0, torque = 0.0;
        for (int a = 0; a < 3; a++) {
            force = fmax(force, b->standing.square.f.a[a] / n - mean.f.a[a] * mean.f.a[a]);
            torque = fmax(torque, b->standing.square.t.a[a] / n - mean.t.a[a] * mean.t.a[a]);
        }
        const double noise = sqrt(fmax(0.0, force));
        check->body[i].bias = ff_wrench_sub(mean, weight_at(&b->wrench, b->standing.first));
        check->body[i].force_noise = noise;
        check->body[i].torque_noise = sqrt(fmax(0.0, torque));
        check->body[i].drift = noise / sqrt(n) / e->scenario->satellite[i].rigid.mass;
        check->body[i].apart = b->standing.apart;
        check->body[i].apart_angle = b->standing.apart_angle;
        check->body[i].moved = b->standing.moved;
        const ff_pose park = ff_plan_runup(&e->plan, i, -FF_INF).T;
        check->body[i].off = ff_vec3_norm(ff_vec3_sub(park.p, b->standing.first.p));
        check->body[i].off_angle = ff_quat_angle(park.q, b->standing.first.q);
        ff_check_add(check, i, "axes against pose", "kinematics_mm", 1e3 * check->body[i].apart, 1.0, "mm",
                     FF_TRIP_KINEMATICS, NULL);
        ff_check_add(check, i, "axes against pose", "kinematics_deg", check->body[i].apart_angle / deg, 0.1,
                     "deg", FF_TRIP_KINEMATICS, NULL);
        ff_check_add(check, i, "from the start of the run", "start_mm", 1e3 * check->body[i].off, 1.0, "mm",
                     FF_TRIP_START, NULL);
        ff_check_add(check, i, "from the start of the run", "start_deg", check->body[i].off_angle / deg, 0.1,
                     "deg", FF_TRIP_START, NULL);
        ff_check_add(check, i, "moved at standstill", "standstill_mm", 1e3 * check->body[i].moved, 1.0, "mm",
                     FF_TRIP_STANDSTILL, NULL);
        if (tested)
            evaluate_trial(e, i);
        if (tested)
            evaluate_pushes(e, i);
        const double range = b->wrench.force_limit;
        ff_check_add(check, i, "bias and 5 sd of the noise", "bias_N",
                     ff_vec3_norm(check->body[i].bias.f) + 5.0 * noise, 0.5 * range, "N", FF_TRIP_BIAS, NULL);
        ff_check_show(check, i, "force noise, sd", "force_noise_N", noise, "N");
        ff_check_show(check, i, "torque noise, sd", "torque_noise_Nm", check->body[i].torque_noise, "N m");
        ff_check_show(check, i, "residual drift", "drift_mmps2", 1e3 * check->body[i].drift, "mm/s2");
        const ff_ideal_result *ideal = e->run->ideal;
        if (ideal && ideal->samples) {
            double when;
            const double margin = ff_check_margin(&e->plan.body[i], ideal->state + i, (size_t)ideal->bodies,
                                                  ideal->samples, e->plan.cycle, &when);
            char reason[160];
            snprintf(reason, sizeof reason, "the true motion leaves the arm's reach at %.2f s", when);
            check->body[i].margin = margin;
            check->body[i].margin_time = when;
            ff_check_least(check, i, "joints of the true motion", "joint_margin_deg", margin / deg, 0.0,
                           "deg", isfinite(margin) ? FF_TRIP_JOINT : FF_TRIP_REACH, reason);
        }
        ff_forecast *forecast = &check->body[i].forecast;
        ff_safety_forecast(e->scenario, i, check->body[i].timed ? check->body[i].delay.delay.value : FF_NAN,
                           forecast);
        ff_check_add(check, i, "contact frequency times delay", "w_tau", forecast->w_tau, forecast->most, "",
                     FF_TRIP_NO_GO, NULL);
        ff_check_add(check, i, "predicted force and limit", "peak_force_N", forecast->force,
                     e->scenario->satellite[i].safety.force, "N", FF_TRIP_FORCE, NULL);
        ff_check_add(check, i, "predicted force and range", "peak_force_range_N", forecast->force, range, "N",
                     FF_TRIP_RANGE, NULL);
        e->touch.threshold[i] = fmax(2e-6, 5.0 * noise);
        atomic_store_explicit(&e->telemetry.threshold[i], e->touch.threshold[i], memory_order_relaxed);
        /* the limits' thresholds use the measured noise: the real-time thread reads them only while it moves
         */
        e->safety_config.contact[i] = fmax(1e-3, 5.0 * noise);
        b->threshold[0] = ff_push_threshold(0, noise, range);
        b->threshold[1] = ff_push_threshold(3, check->body[i].torque_noise, b->wrench.torque_limit);
    }
}

/* The tests of CHECK, if there are any. True: they run; false: there is nothing more to wait for. */
static bool begin_tests(executive *e) {
    ff_rt_check *check = &e->result->check;
    bool any = false, moves = false;
    for (int i = 0; i < e->plan.bodies; i++) {
        body *b = &e->body[i];
        char message[160];
        any |= !e->scenario->satellite[i].check.no_push;
        if (!(b->trial.end > 0.0))
            continue;
        moves = true;
        if (ff_trial_reach(&b->trial, &e->plan.body[i], message, sizeof message) != FF_OK)
            ff_check_add(check, i, "reach of the test motion", "trial_reach", 1.0, 0.0, "", FF_TRIP_REACH,
                         message);
    }
    if (check->no_go.code != FF_TRIP_NONE || !(any || moves))
        return false;
    if (moves && !(e->options->permit ? e->options->permit(e->options->user, check) : e->plan.virtual)) {
        atomic_store(&e->quit, true);
        return true;
    }
    atomic_store_explicit(&e->tests, true, memory_order_release);
    return true;
}

static void ask_operator(executive *e) {
    const ff_rt_check *check = &e->result->check;
    const bool go = check->no_go.code == FF_TRIP_NONE;
    const bool yes = e->options->confirm ? e->options->confirm(e->options->user, check) : e->plan.virtual;
    if (go)
        atomic_store_explicit(&e->checked, true, memory_order_release);
    if (go && yes)
        atomic_store_explicit(&e->armed, true, memory_order_release);
    else
        atomic_store(&e->quit, true);
}

/* The caller's thread: records, asks the operator, waits for the end. */
static void attend(executive *e) {
    ff_row *row = malloc(sizeof *row);
    bool evaluated = false, decided = false;
    int64_t busy = ff_clock_now(); /* [ns] when the last row came */
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
        if (any)
            busy = ff_clock_now();
        else if (e->options->log && *e->options->log &&
                 ff_clock_now() - busy > (int64_t)(0.5e9 * FF_LOG_FLUSH)) { /* no rows: before, after them */
            ff_log_flush(*e->options->log);
            busy = ff_clock_now();
        }
        if (ended && !any)
            break;
        if (!evaluated && atomic_load_explicit(&e->measured, memory_order_acquire)) {
            evaluated = true;
            evaluate(e, false);
            if (e->result->check.no_go.code != FF_TRIP_NONE || !begin_tests(e)) {
                decided = true;
                if (e->result->check.no_go.code == FF_TRIP_NONE)
                    evaluate(e, true); /* says what was left out */
                ask_operator(e);
            }
        }
        if (evaluated && !decided && atomic_load_explicit(&e->tested, memory_order_acquire)) {
            decided = true;
            evaluate(e, true);
            ask_operator(e);
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
    b->rsi_config.use_external = b->rsi_config.external_linear[0] =
        plan->arm.config.rail.rule != FF_ARM_RAIL_NONE;
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
    for (int i = 0; i < e->plan.bodies && !status; i++) {
        body *b = &e->body[i];
        ff_trial_plan(scenario, &e->plan, i, &b->trial);
        e->trial_end = fmax(e->trial_end, b->trial.end);
        if (b->trial.end > 0.0) {
            b->sample_capacity = (size_t)(b->trial.end / e->plan.cycle) + 2;
            b->sample = calloc(b->sample_capacity, sizeof *b->sample);
            if (!b->sample) {
                snprintf(message, size, "no memory for the tests");
                return FF_ERR_MEMORY;
            }
        }
        status = open_body(e, i, message, size);
    }
    if (!status)
        status = ff_telemetry_start(&e->telemetry, &e->options->viewer, &e->tuning, &e->touch, e->run->ideal);
    return status;
}

static ff_run_clock clock_of(const executive *e, int i) {
    const body *b = &e->body[i];
    ff_run_clock clock = {.known = clock_known(e, b)};
    if (!clock.known)
        return clock;
    clock.drift_ppm = ff_clockfit_ppm(&b->follow.fit);
    clock.residual_s = ff_clockfit_rms(&b->follow.fit);
    clock.largest_s = b->follow.fit.largest;
    clock.restarts = b->follow.fit.restarts;
    if (ff_clockfit_ready(&e->fitting, &b->ft.fit)) {
        clock.sensor_hz = 1.0 / (b->ft.tick * (1.0 + b->ft.fit.rate));
        clock.sensor_s = ff_clockfit_rms(&b->ft.fit);
    }
    return clock;
}

static void conclude(executive *e) {
    ff_rt_result *result = e->result;
    ff_run_result *run = &result->run;
    result->state = e->safety.name;
    result->trip = e->safety.trip;
    for (int i = 0; i < e->plan.bodies; i++) {
        result->rsi[i] = e->body[i].rsi.info;
        run->clock[i] = clock_of(e, i);
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
    /* a no-go says what was seen, a limit its value */
    char sentence[200];
    ff_trip_sentence(trip, sentence, sizeof sentence);
    const ff_rt_check *check = &result->check;
    if (check->no_go.code != FF_TRIP_NONE && check->no_go.code == trip->code &&
        strcmp(check->reason, ff_trip_text(trip->code)) != 0)
        snprintf(sentence, sizeof sentence, "%s: %.180s", ff_trip_name(trip->code), check->reason);
    snprintf(run->message, sizeof run->message, "%s, %s", ff_safety_state_name(result->state), sentence);
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
    e->fitting = ff_clockfit_default();
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
    ff_rights_release(&result->rights);
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
    for (int i = 0; i < FF_MAX_BODIES; i++)
        free(e->body[i].sample);
    ff_ring_free(&e->rows);
    ff_tuning_free(&e->tuning);
    ff_ring_free(&e->notes);
    free(e->last);
    free(e);
}
