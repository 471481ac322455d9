/* A scripted station of devices whose robot is where it was commanded a cycle ago, what a sink sees of the
 * run, and the attendant of its check. Every row is compared with the sample that it is made of. */
#ifndef FF_TESTS_BENCH_H
#define FF_TESTS_BENCH_H

#include "support.h"

#include "executive/executive.h"

typedef struct bench {
    ff_plan plan;
    ff_pose at;
    ff_setpoint to;
    bool moved, rests;
    uint64_t waits, writes, leads, releases;
    uint64_t lose, filling; /* before this wait so many telegrams are lost; still to be filled */
    uint64_t silent_at;     /* wait */
    ff_trip trips;          /* found by the station, once */
    uint64_t trips_at;
    double largest_step; /* [m] of a command */
    bool stopped;        /* by the operator */
    ff_state lose_in;    /* the telegrams are lost in this state */
    uint64_t speaks_at;  /* wait; before that the sensor is not heard */
    ff_status failure;   /* of the wait `fails_at` */
    uint64_t fails_at;
    double force_range, torque_range;
    ff_vec3 force;     /* [N] that the sensor reads */
    double wall;       /* [m] where 5000 N/m begin along x; FF_INF: nowhere */
    ff_trip attendant; /* what that finds */
    uint64_t bounded;  /* times, with: */
    ff_output_config output;
    uint64_t closes;
    unsigned led;                     /* last written */
    void (*alter)(ff_sample *sample); /* the next samples; NULL: they stay */
} bench;

static bench desk;
static ff_scenario scenario;
static ff_preflight preflight;
static ff_executive executive;
static ff_run_result result;

static ff_status open_bench(void *self, const double *lead, char *message, size_t size) {
    (void)self;
    (void)lead;
    (void)message;
    (void)size;
    return FF_OK;
}

static const ff_row_body no_body;
static const ff_wrench_in no_reading;

/* Of a body that there is not nothing is read, kept or commanded. */
static void check_others(void) {
    const ff_executive *e = &executive;
    assert_memory_equal(&e->row.body[1], &no_body, sizeof no_body);
    assert_memory_equal(&e->in.sensor[1], &no_reading, sizeof no_reading);
    assert_memory_equal(&e->out.command[1], &no_body.command, sizeof no_body.command);
    assert_memory_equal(&e->out.next[1], &no_body.command, sizeof no_body.command);
    assert_memory_equal(&e->sent[1], &no_body.sent, sizeof no_body.sent);
    assert_near(e->in.sent[1].lag, 0.0, 0.0);
    assert_false(e->guard.body[1].noisy || e->guard.body[1].stop.started || result.safety.stopped[1]);
    assert_near(e->phases.stood[1].q.w, 0.0, 0.0);
    assert_near(result.safety.rest[1].T.q.w, 0.0, 0.0);
}

/* Beside the bodies: something other than a stop or a test moves the robots. */
static void check_led(unsigned led) {
    check_others();
    const ff_state state = executive.guard.walk.state;
    const bool ahead = state >= FF_STATE_APPROACH && state <= FF_STATE_CONTACT;
    assert_int_equal(!!(led & FF_LED_AHEAD), ahead);
    assert_int_equal(led & ~(unsigned)(FF_LED_AHEAD | 1), 0);
}

static void offer(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal) {
    (void)self;
    (void)k;
    (void)next;
    (void)nominal;
    check_led(led);
}

static ff_status wait(void *self, ff_sample *sample) {
    bench *b = self;
    b->waits++;
    sample->found = (ff_trip){.code = FF_TRIP_NONE};
    if (b->silent_at && b->waits >= b->silent_at) {
        sample->silent = true;
        sample->found = (ff_trip){.code = FF_TRIP_SILENT, .value = 0.1, .limit = 0.1};
        return FF_ERR_DEVICE;
    }
    if (b->failure < 0 && b->waits == b->fails_at)
        return b->failure;
    const bool begins = b->filling == 0 && b->lose && executive.guard.walk.state == b->lose_in;
    if (begins)
        b->filling = b->lose + 1;
    sample->lost = begins ? b->lose : 0;
    if (begins)
        b->lose = 0;
    b->filling -= b->filling > 0;
    sample->filled = b->filling > 0;
    sample->speaks = b->waits >= b->speaks_at;
    sample->lateness_ns = 1000.0 + (double)b->waits;
    sample->io_ns = 2000.0 + (double)b->waits;
    if (b->trips_at && b->waits == b->trips_at)
        sample->found = b->trips;
    sample->body[1].sensor = (ff_wrench_in){.f_s.f.x = 7.0, .T_wb = b->at};
    sample->body[1].sent = sample->body[1].next = (ff_sent){.to.T = b->at, .lag = 1.0};
    ff_sample_body *body = &sample->body[0];
    body->sensor = (ff_wrench_in){.T_wb = b->at, .twist = b->to.twist};
    body->sensor.f_s.f = b->force;
    if (b->at.p.x > b->wall)
        body->sensor.f_s.f.x -= 5000.0 * (b->at.p.x - b->wall);
    if (!sample->speaks)
        body->sensor.f_s.f.x = FF_NAN;
    body->sent = (ff_sent){.to = b->to};
    body->next = (ff_sent){.to = {b->at, b->to.twist}};
    body->rests = b->rests;
    body->device = (ff_sample_device){.reached = true,
                                      .moved = b->moved,
                                      .has_clock = true,
                                      .drift = 1e-6,
                                      .offset = 2.0,
                                      .residual = 3e-6,
                                      .rms = 4e-6};
    ff_arm_info info;
    assert_int_equal(
        ff_arm_inverse(&b->plan.body[0].arm, &b->at, &b->plan.body[0].home, &body->device.joints, &info),
        FF_OK);
    if (b->alter)
        b->alter(sample);
    return FF_OK;
}

static void write(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_wrench *measured_b, const ff_arm_order *order, ff_sent *sent) {
    bench *b = self;
    (void)k;
    (void)order;
    (void)measured_b;
    assert_int_equal(b->releases, 0);
    check_led(led);
    b->writes++;
    b->led = led;
    b->rests = !(led & 1u);
    b->to.twist = ff_twist_zero();
    sent[0] = (ff_sent){.to = command[0]};
    if (!(led & 1u))
        return;
    b->leads++;
    b->moved = true;
    b->to = command[0];
    b->largest_step = fmax(b->largest_step, ff_vec3_norm(ff_vec3_sub(command[0].T.p, b->at.p)));
    b->at = command[0].T;
}

static const ff_truth *truth(const void *self) {
    (void)self;
    return NULL;
}

static void range(const void *self, int body, double *force, double *torque) {
    const bench *b = self;
    assert_int_equal(body, 0);
    *force = b->force_range;
    *torque = b->torque_range;
}

static void bound(void *self, int body, const ff_safety_limits *limits, const ff_output_config *output) {
    bench *b = self;
    assert_int_equal(body, 0);
    assert_ptr_equal(limits, &executive.guard.config.limits[0]);
    assert_int_equal(ff_output_validate(output), FF_OK);
    b->bounded++;
    b->output = *output;
}

static void show(void *self, int body, const char *text) {
    (void)self;
    (void)body;
    (void)text;
}

static void release(void *self) {
    ((bench *)self)->releases++;
}

static void close_bench(void *self) {
    ((bench *)self)->closes++;
}

static bool stops(void *self) {
    return ((bench *)self)->stopped;
}

static ff_trip finds(void *self) {
    return ((bench *)self)->attendant;
}

static struct {
    uint64_t rows, asides, asides_before; /* of the latter: before the first row */
    ff_row first, last, first_aside, last_aside;
    char states[256];
    double state_t[16];
    int state_count;
    int event;
    ff_event_level level;
    char event_text[160], said[160];
    double said_t;
    ff_event_level said_level;
    double event_t, event_value, event_limit;
    uint64_t filled;
} seen;

static ff_status see_row(void *self, const ff_row *row) {
    (void)self;
    if (seen.rows++ == 0)
        seen.first = *row;
    assert_int_equal(row->k, seen.rows - 1);
    assert_near(row->t, (double)row->k * 0.004, 1e-12);
    assert_int_equal(row->final, row->k == scenario.cycles);
    assert_int_equal(executive.stepped, !row->final);
    if (row->final) /* it has no input of its own */
        assert_memory_equal(&row->body[0].measured_b, &seen.last.body[0].measured_b, sizeof(ff_wrench));
    assert_near(row->lateness_ns, 1000.0 + (double)desk.waits, 0.0);
    assert_near(row->io_ns, 2000.0 + (double)desk.waits, 0.0);
    const ff_row_body *b = &row->body[0];
    const ff_wrench_in *sensor = &executive.sample.body[0].sensor;
    assert_memory_equal(&b->robot.T, &sensor->T_wb, sizeof b->robot.T);
    assert_memory_equal(&b->robot.twist, &sensor->twist, sizeof b->robot.twist);
    assert_vec3_near(b->inertial.T.p, sensor->T_wb.p, 1e-15);
    assert_true(b->device.has_joints && b->device.has_clock);
    assert_memory_equal(&b->device.joints, &executive.sample.body[0].device.joints, sizeof b->device.joints);
    assert_near(b->device.drift, 1e-6, 0.0);
    assert_near(b->device.offset, 2.0, 0.0);
    assert_near(b->device.residual, 3e-6, 0.0);
    assert_near(b->device.rms, 4e-6, 0.0);
    if (executive.sample.filled) { /* nothing new was sent */
        seen.filled++;
        assert_int_equal(ff_state_commands(executive.guard.walk.state), FF_COMMANDS_LOOP);
        assert_vec3_near(b->command.T.p, executive.sample.body[0].sent.to.T.p, 0.0);
    }
    seen.last = *row;
    return FF_OK;
}

static void see_aside(void *self, const ff_row *row) {
    (void)self;
    assert_true(row->aside && !row->final && !executive.stepped);
    if (seen.asides++ == 0)
        seen.first_aside = *row;
    seen.last_aside = *row;
    seen.asides_before += seen.rows == 0;
    const ff_row_body *b = &row->body[0];
    const ff_wrench_in *sensor = &executive.sample.body[0].sensor;
    assert_memory_equal(&b->robot.T, &sensor->T_wb, sizeof b->robot.T);
    assert_memory_equal(&b->robot.twist, &sensor->twist, sizeof b->robot.twist);
    assert_vec3_near(b->inertial.T.p, sensor->T_wb.p, 1e-15);
    assert_memory_equal(&b->command, &executive.out.command[0], sizeof b->command);
    assert_memory_equal(&b->measured_b, &executive.out.measured_b[0], sizeof b->measured_b);
    assert_memory_equal(&b->sensor, sensor, sizeof b->sensor);
    assert_near(row->lateness_ns, executive.sample.lateness_ns, 0.0);
    if (executive.guard.walk.state == FF_STATE_RUNUP) { /* ahead by what the method is */
        const ff_setpoint planned = ff_plan_runup(&desk.plan, 0, row->t + executive.phases.lead[0]);
        assert_memory_equal(&b->command, &planned, sizeof planned);
    }
}

static ff_status see_state(void *self, double t, int state, const char *name) {
    (void)self;
    assert_string_equal(name, ff_state_name((ff_state)state));
    assert_true(seen.state_count < 16);
    seen.state_t[seen.state_count++] = t;
    strcat(strcat(seen.states, name), " ");
    return FF_OK;
}

static ff_status see_event(void *self, double t, int code, ff_event_level level, const char *text,
                           double value, double limit) {
    (void)self;
    seen.event = code;
    seen.event_t = t;
    seen.level = level;
    snprintf(seen.event_text, sizeof seen.event_text, "%s", text);
    seen.event_value = value;
    seen.event_limit = limit;
    return FF_OK;
}

static void see_said(void *self, double t, ff_event_level level, const char *text) {
    (void)self;
    seen.said_t = t;
    seen.said_level = level;
    snprintf(seen.said, sizeof seen.said, "%s", text);
}

static const ff_sink sink = {
    .row = see_row, .state = see_state, .event = see_event, .aside = see_aside, .say = see_said};
static const ff_run_options options = {.sinks = &sink, .count = 1};

static const char *tests_of_check = "push: skip";

/* A body at `speed` [m/s] along x, on a robot that stands `off` [m] beside its start; the robot's delay is a
 * cycle. */
static ff_status try(const char *method, double speed, const char *more, double off) {
    char text[1024], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: phases\ntime: {cycle: 0.004, duration: 0.4}\nmethod: %s\nsatellites:\n"
             "  body: {mass: 50, inertia: [5, 6, 7], velocity: [%g, 0, 0], %s\n"
             "         robot: {kind: delay, delay: 0.004}, check: {%s}}\n"
             "contacts:\n  - {name: wall, kind: wall, body: body, at: [0.5, 0, 0], normal: [-1, 0, 0],\n"
             "     stiffness: 5000}\n",
             method, speed, more, tests_of_check);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    memset(&seen, 0, sizeof seen);
    memset(&preflight, 0, sizeof preflight);
    memset(&executive, 0, sizeof executive);
    result = (ff_run_result){0};
    assert_int_equal(ff_plan_create(&scenario, &desk.plan, message, sizeof message), FF_OK);
    desk.at = ff_plan_runup(&desk.plan, 0, -FF_INF).T;
    desk.at.p.y += off;
    assert_int_equal(ff_preflight_open(&preflight, &scenario, &desk.plan, true, message, sizeof message),
                     FF_OK);
    const ff_station station = {.self = &desk,
                                .devices = true,
                                .open = open_bench,
                                .offer = offer,
                                .wait = wait,
                                .write = write,
                                .truth = truth,
                                .range = range,
                                .bound = bound,
                                .show = show,
                                .release = release,
                                .close = close_bench};
    const ff_attendant attendant = {&desk, stops, finds};
    return ff_executive_open_devices(&executive, &scenario, station, &desk.plan, &preflight, attendant,
                                     &options, NULL, &result);
}

static const bench fresh = {
    .rests = true, .lose_in = FF_STATE_FLOAT, .force_range = 500.0, .torque_range = FF_INF, .wall = FF_INF};

/* At 50 mm/s into nothing. */
static inline void begin(double off) {
    desk = fresh;
    if (try("direct", 0.05, "", off) != FF_OK)
        fail_msg("%s", result.message);
    assert_near(executive.loop.model->config.body[0].wrench.force_limit, 500.0, 0.0);
}

/* What the attendant does, between two cycles. */
static inline void attend(bool arms) {
    static const ff_ideal_result *const none;
    const ff_preflight_view view = {executive.loop.model, executive.phases.output, none,
                                    &executive.guard.config};
    if (!atomic_load(&preflight.measured) || atomic_load(&preflight.passed) ||
        atomic_load(&preflight.refused))
        return;
    ff_preflight_evaluate(&preflight, &view, false);
    if (arms && preflight.check.no_go.code == FF_TRIP_NONE) {
        atomic_store(&preflight.passed, true);
        atomic_store(&preflight.armed, true);
    } else
        atomic_store(&preflight.refused, true);
}

static inline void end(bool arms) {
    for (int n = 0; n < 4000 && !executive.ended; n++) {
        ff_executive_cycle(&executive);
        attend(arms);
    }
    assert_true(executive.ended);
    ff_executive_close(&executive);
    ff_preflight_close(&preflight);
    check_others();
    assert_true(result.safety.watched);
}

#endif
