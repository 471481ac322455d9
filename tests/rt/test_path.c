/* The robots' true path through every situation in which they are commanded, in lock step: between two cycles
 * nothing accelerates them by more than the stop may, the motion itself requires, or the controller does that
 * holds them. */
#include "sides.h"

/* Of one robot: the largest second differences of its path, and where. */
typedef struct shaken {
    double linear, angular; /* [m/s2], [rad/s2] */
    double speed, turn;     /* [m/s], [rad/s] */
    uint64_t at, turned_at; /* cycles */
    double axis;            /* [rad/s] of the fastest axis, as the loop saw it */
    ff_arm_joints joints;
    uint64_t seen;
    ff_pose last;
    ff_vec3 v, w;
} shaken;

typedef struct course {
    ff_scenario scenario, truth;
    ff_facility_result facility;
    ff_rt_result rt;
    sides both;
    uint64_t halt; /* cycle of the operator's stop, 0: none */
    double hold;   /* [s] of the run when the viewer orders to hold, 0: never */
    bool stops;    /* the operator stops it while it holds */
    atomic_bool due, given;
    uint64_t held; /* cycle in which the order was given */
    shaken robot[2];
} course;

/* The viewer has a thread of its own, and in lock step nobody waits for it: here the facility does, when the
 * robot has come as far as the order is due, and when it has held for long enough. Until then at most the
 * wait for a silent controller. */
static void await(const atomic_bool *flag) {
    for (int n = 0; n < 15000 && !atomic_load(flag); n++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void await_viewer(course *c, uint64_t k) {
    const ff_rigid_state *start = &c->scenario.satellite[0].start;
    const double v2 = ff_vec3_dot(start->velocity, start->velocity),
                 t = ff_vec3_dot(ff_vec3_sub(c->robot[0].last.p, start->position), start->velocity) / v2;
    if (!c->held && (t > c->hold + 0.1 || atomic_load(&c->given))) {
        await(&c->given);
        c->held = k;
    } else if (c->held && c->stops && (double)(k - c->held) * c->scenario.cycle > 1.2)
        await(&c->both.halt);
}

static void watch(void *self, uint64_t k, const ff_truth *truth) {
    course *c = self;
    const double T = c->scenario.cycle;
    for (int i = 0; i < c->scenario.satellites; i++) {
        shaken *s = &c->robot[i];
        const ff_pose a = s->last, b = truth->robot[i].T;
        s->last = b;
        if (k == 0) {
            s->v = s->w = ff_vec3_zero();
            continue;
        }
        const ff_vec3 v = ff_vec3_scale(1.0 / T, ff_vec3_sub(b.p, a.p)),
                      w = ff_quat_rotate(
                          a.q, ff_vec3_scale(1.0 / T, ff_quat_log(ff_quat_mul(ff_quat_conj(a.q), b.q))));
        const double linear = ff_vec3_norm(ff_vec3_sub(v, s->v)) / T,
                     angular = ff_vec3_norm(ff_vec3_sub(w, s->w)) / T;
        s->at = linear > s->linear ? k : s->at;
        s->turned_at = angular > s->angular ? k : s->turned_at;
        s->linear = fmax(s->linear, linear);
        s->angular = fmax(s->angular, angular);
        s->speed = fmax(s->speed, ff_vec3_norm(v));
        s->turn = fmax(s->turn, ff_vec3_norm(w));
        s->v = v;
        s->w = w;
    }
    if (c->halt && k == c->halt)
        atomic_store(&c->both.halt, true);
    if (c->hold > 0.0)
        await_viewer(c, k);
}

static ff_status keep(void *self, const ff_row *row) {
    course *c = self;
    for (int i = 0; i < c->scenario.satellites; i++) {
        shaken *s = &c->robot[i];
        const ff_arm_joints *now = &row->body[i].device.joints;
        for (int a = 0; a < 6 && s->seen; a++)
            s->axis = fmax(s->axis, fabs(now->a[a] - s->joints.a[a]) / c->scenario.cycle);
        s->joints = *now;
        s->seen++;
    }
    return FF_OK;
}

static void see(void *self, const ff_telemetry_sample *sample) {
    course *c = self;
    if (sample->row.t > c->hold && sample->state >= FF_STATE_FLOAT)
        atomic_store(&c->due, true);
    if (c->stops && atomic_load(&c->given) && sample->state == FF_STATE_HOLD && sample->row.t > c->hold + 1.0)
        atomic_store(&c->both.halt, true);
}

static bool order(void *self, ff_order *o) {
    course *c = self;
    if (atomic_load(&c->given) || !atomic_load(&c->due))
        return false;
    *o = (ff_order){.verb = FF_ORDER_HOLD};
    atomic_store(&c->given, true);
    return true;
}

static void answered(void *self, const ff_order_answer *a, const char *words) {
    (void)self;
    (void)a;
    (void)words;
}

/* The overrides after "truth:" hold only for the facility. */
static course *go(const char *text, const char *const *set, uint64_t halt, double hold, bool stops) {
    course *c = calloc(1, sizeof *c);
    load_both(&c->scenario, &c->truth, text, set);
    c->halt = halt;
    c->hold = hold;
    c->stops = stops;
    c->both = (sides){.scenario = &c->scenario,
                      .truth = &c->truth,
                      .facility_options = {.lockstep = true, .watch = watch, .user = c},
                      .options = {.wait = 30.0},
                      .sink = {.self = c, .row = keep},
                      .facility = &c->facility,
                      .rt = &c->rt};
    if (hold > 0.0)
        c->both.options.viewer = (ff_viewer){c, see, order, answered};
    run_sides(&c->both);
    return c;
}

static void drop(course *c) {
    free(c->rt.last);
    free(c);
}

typedef struct tried {
    const char *name;
    ff_trip_code code;
    double steps[2]; /* of v T, of each robot, that the controller does; see below */
    uint64_t halt;
    double hold;
    const char *set[8];
} tried;

/* apart: the second robot has a clock of its own. */
static void follow(const char *text, const tried *t, bool apart) {
    course *c = go(text, t->set, t->halt, t->hold, t->code == FF_TRIP_OPERATOR);
    bool bad = c->rt.trip.code != t->code;
    for (int i = 0; i < c->scenario.satellites; i++) {
        const shaken s = c->robot[i];
        const ff_satellite *satellite = &c->scenario.satellite[i];
        const double T = c->scenario.cycle, v = ff_vec3_norm(satellite->start.velocity),
                     w = ff_vec3_norm(satellite->start.omega),
                     wider = i == 1 && apart ? (t->steps[i] > 0.0 ? 3.5 : 2.2) : 1.01;
        /* the run-up's quintic needs 15/8 of v in 0.4 s */
        const double linear = fmax(satellite->safety.stop_acceleration, fmax(4.69, t->steps[i] / T) * v),
                     angular =
                         fmax(satellite->safety.stop_angular_acceleration, fmax(4.69, t->steps[i] / T) * w);
        const bool over = s.linear > linear * wider || s.angular > angular * wider ||
                          s.axis > 284.0 * FF_PI / 180.0; /* no axis of the wrist turns over */
        bad |= over;
        print_message("%-40s %-9s %-8s %8.3f of %7.3f m/s2 (cycle %llu), %8.3f of %7.3f rad/s2 (cycle %llu), "
                      "axis %.3f rad/s%s\n",
                      t->name, ff_trip_name(c->rt.trip.code), satellite->name, s.linear, linear * wider,
                      (unsigned long long)s.at, s.angular, angular * wider, (unsigned long long)s.turned_at,
                      s.axis, over ? " <--" : "");
    }
    if (bad && !getenv("FF_PATH_ALL"))
        fail_msg("%s: %s | %s", t->name, c->rt.run.message, c->facility.message);
    drop(c);
}

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define FAULT(text) "facility.faults=[{kind: " text "}]"

/* ------------------------------------------------------------------------------------------- one robot -- */

static const char one[] =
    ONE_BODY("path", "1.2", "[0.05, 0.01, 0]",
             "    angular_velocity: [0.02, -0.05, 0.3]\n"
             "    check: {push: skip}\n") "  - {name: right, kind: wall, at: [0.5, 0, 0], normal: [-1, 0, "
                                          "0], stiffness: 5000, damping: 5}\n";

#define TILTS "satellites.body.check={push: skip, weight: poses, delay: chirp}"
#define GRAVITY "facility.gravity=[0, 0, -9.81]"
#define MOCKUP "satellites.body.mockup={mass: 5, com: [0, 0, 0.1]}"
#define RSI(more)                                                                                      \
    "satellites.body.robot={kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}, tool: " \
    "{attitude: [0, 0, 1, 0]}" more "}"
#define SLOWLY "satellites.body.angular_velocity=[0, 0, 0.02]"

static void test_check_motions(void **state) {
    (void)state;
    static const tried cases[] = {
        {"tilts and chirp", FF_TRIP_FINISHED, {0}, 0, 0, {TILTS, GRAVITY, MOCKUP}},
        {"tilts, Ctrl-C in a tilt", FF_TRIP_OPERATOR, {0}, 400, 0, {TILTS, GRAVITY, MOCKUP}},
        {"tilts, ft-silent in a tilt",
         FF_TRIP_AGE,
         {0},
         0,
         0,
         {TILTS, GRAVITY, MOCKUP, FAULT("ft-silent, from: 1.1")}},
        {"tilts, Ctrl-C at rest", FF_TRIP_OPERATOR, {0}, 1150, 0, {TILTS, GRAVITY, MOCKUP}},
        {"chirp, Ctrl-C",
         FF_TRIP_OPERATOR,
         {0},
         900,
         0,
         {"satellites.body.check={push: skip, delay: chirp}"}},
        {"chirp, ft-silent",
         FF_TRIP_AGE,
         {0},
         0,
         0,
         {"satellites.body.check={push: skip, delay: chirp}", FAULT("ft-silent, from: 3")}},
        {"chirp, aside",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(""), SLOWLY, "satellites.body.check={push: skip, delay: chirp}",
          FAULT("robot-aside, value: 0.0009")}},
        {"aside", FF_TRIP_FINISHED, {0}, 0, 0, {RSI(""), SLOWLY, FAULT("robot-aside, value: 0.0009")}},
        {"aside, Ctrl-C while it approaches",
         FF_TRIP_OPERATOR,
         {0},
         160,
         0,
         {RSI(""), SLOWLY, FAULT("robot-aside, value: 0.0009")}},
        {"aside, a telegram lost while it approaches",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(""), SLOWLY, "satellites.body.velocity=[0, 0, 0]",
          "facility.faults=[{kind: robot-aside, value: 0.0009}, {kind: rob-lost, from: 0.2, to: 0.216}]"}},
        {"tool off", FF_TRIP_FINISHED, {0}, 0, 0, {RSI(""), SLOWLY, FAULT("tool-off, value: 0.0009")}},
        {"tool off, chirp",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(""), SLOWLY, "satellites.body.check={push: skip, delay: chirp}",
          FAULT("tool-off, value: 0.0009")}},
        {"other axes", FF_TRIP_FINISHED, {0}, 0, 0, {RSI(""), FAULT("arm-elsewhere, value: 0")}},
        {"other axes, tilts",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(""), TILTS, GRAVITY, MOCKUP, FAULT("arm-elsewhere, value: 0")}},
        {"other axes on a rail",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(", rail: {axis: [0, 1, 0], length: 6, speed: 1.5}"), "satellites.body.velocity=[0.02, 0.2, 0]",
          FAULT("arm-elsewhere, value: 0.7")}},
    };
    for (size_t n = 0; n < COUNT(cases); n++)
        follow(one, &cases[n], false);
}

static void test_run(void **state) {
    (void)state;
    static const tried cases[] = {
        {"run-up, loop, end", FF_TRIP_FINISHED, {0}, 0, 0, {NULL}},
        {"asymmetric",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {"satellites.body.inertia=[10, 15, 7]", "satellites.body.angular_velocity=[0.2, -0.3, 0.3]"}},
        {"fused", FF_TRIP_FINISHED, {0}, 0, 0, {"method=fused", "satellites.body.robot.delay=0.08"}},
        {"impact", FF_TRIP_FINISHED, {0}, 0, 0, {"method=impact", "satellites.body.robot.delay=0.08"}},
        {"damping", FF_TRIP_FINISHED, {0}, 0, 0, {"method=damping", "satellites.body.robot.delay=0.08"}},
        {"Ctrl-C in the run-up", FF_TRIP_OPERATOR, {0}, 170, 0, {NULL}},
        {"Ctrl-C while it floats", FF_TRIP_OPERATOR, {0}, 350, 0, {NULL}},
        {"held, then stopped", FF_TRIP_OPERATOR, {0}, 0, 0.3, {"time.duration=30"}},
        {"held, pressed",
         FF_TRIP_FORCE,
         {0},
         0,
         0.3,
         {"time.duration=30", "satellites.body.safety={force: 60}",
          FAULT("ft-offset, value: 100, from: 1.5")}},
        {"turning too fast",
         FF_TRIP_ANGULAR_VELOCITY,
         {0},
         0,
         0,
         {"satellites.body.safety={angular_velocity: 0.25}"}},
        {"relative frame",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {"frame=relative", "contacts=[]", "nominal={kind: prescribed, twist: [0.02, 0, 0, 0, 0, 0.1]}"}},
        {"8 telegrams lost", FF_TRIP_MISSED, {1}, 0, 0, {FAULT("rob-lost, from: 0.7, to: 0.732")}},
        {"ipoc jumps", FF_TRIP_RESTART, {1}, 0, 0, {FAULT("ipoc-jump, from: 0.7, to: 0.704")}},
        {"a telegram lost", FF_TRIP_FINISHED, {2}, 0, 0, {FAULT("rob-lost, from: 0.7, to: 0.704")}},
        {"an answer lost", FF_TRIP_FINISHED, {2}, 0, 0, {FAULT("answer-lost, from: 0.7, to: 0.704")}},
    };
    for (size_t n = 0; n < COUNT(cases); n++)
        follow(one, &cases[n], false);
}

static void test_channels(void **state) {
    (void)state;
    static const tried cases[] = {
        {"kr120", FF_TRIP_FINISHED, {0}, 0, 0, {RSI("")}},
        {"kr120, relative corrections", FF_TRIP_FINISHED, {0}, 0, 0, {RSI(", corrections: relative")}},
        {"kr120, relative, stopped", FF_TRIP_OPERATOR, {0}, 300, 0, {RSI(", corrections: relative")}},
        {"relative, a telegram lost",
         FF_TRIP_FINISHED,
         {2},
         0,
         0,
         {RSI(", corrections: relative"), FAULT("rob-lost, from: 0.7, to: 0.704")}},
        {"relative, 8 telegrams lost",
         FF_TRIP_MISSED,
         {1},
         0,
         0,
         {RSI(", corrections: relative"), FAULT("rob-lost, from: 0.7, to: 0.732")}},
        {"cartesian", FF_TRIP_FINISHED, {0}, 0, 0, {RSI(", channel: cartesian"), SLOWLY}},
        {"cartesian, relative",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(", channel: cartesian, corrections: relative"), SLOWLY}},
        {"cartesian, stopped", FF_TRIP_OPERATOR, {0}, 300, 0, {RSI(", channel: cartesian"), SLOWLY}},
        {"rail",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(", rail: {axis: [0, 1, 0], length: 6, speed: 1.5}"),
          "satellites.body.velocity=[0.02, 0.2, 0]"}},
        {"rail, slow",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {RSI(", rail: {axis: [0, 1, 0], length: 6, speed: 0.1}"),
          "satellites.body.velocity=[0.02, 0.2, 0]"}},
        {"rail, stopped",
         FF_TRIP_OPERATOR,
         {0},
         300,
         0,
         {RSI(", rail: {axis: [0, 1, 0], length: 6, speed: 1.5}"),
          "satellites.body.velocity=[0.02, 0.2, 0]"}},
        {"cartesian, turned too far",
         FF_TRIP_ROTATION,
         {0},
         0,
         0,
         {RSI(", channel: cartesian"), "satellites.body.angular_velocity=[0, 0, 0.1]"}},
        {"stretched",
         FF_TRIP_AXIS,
         {0},
         0,
         0,
         {RSI(""), "satellites.body.velocity=[0.3, 0, 0]", "satellites.body.angular_velocity=[0, 0, 0]",
          "contacts.right.at=[5, 0, 0]", "time.duration=5"}},
        {"joint",
         FF_TRIP_JOINT,
         {0},
         0,
         0,
         {RSI(""), "satellites.body.velocity=[0, 0, 0]", "satellites.body.angular_velocity=[0, 0.5, 0]",
          "time.duration=6"}},
        {"kr16",
         FF_TRIP_FINISHED,
         {0},
         0,
         0,
         {"satellites.body.robot={kind: kuka-rsi, delay: 0.016, arm: kr16, base: {position: [-1, 0, -1.2]}, "
          "tool: {attitude: [0, 0, 1, 0]}}"}},
        {"close to the wrist's singularity",
         FF_TRIP_AXIS,
         {0},
         0,
         0,
         {"satellites.body.velocity=[0, 0, 0]", "satellites.body.angular_velocity=[0.003, -0.5, 0.001]",
          "time.duration=4"}},
        {"past the wrist's singularity",
         FF_TRIP_AXIS,
         {0},
         0,
         0,
         {"satellites.body.velocity=[0, 0, 0]", "satellites.body.angular_velocity=[0.03, -0.5, 0.01]",
          "time.duration=4"}},
        {"the wrist in the other direction",
         FF_TRIP_JOINT,
         {0},
         0,
         0,
         {"satellites.body.velocity=[0, 0, 0]", "satellites.body.angular_velocity=[0.003, 0.5, 0.001]",
          "time.duration=4"}},
    };
    for (size_t n = 0; n < COUNT(cases); n++)
        follow(one, &cases[n], false);
}

/* ------------------------------------------------------------------------------------------ two robots -- */

static const char two[] =
    "name: path\n"
    "time: {cycle: 0.004, duration: 2}\n"
    "method: tdpa\n"
    "satellites:\n"
    "  client: {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0], angular_velocity: [0, 0.1, 0], "
    "robot: {kind: delay, delay: "
    "0.016}, check: {push: skip}}\n"
    "  servicer: {mass: 300, inertia: [30, 30, 30], position: [-1, 0, 0], velocity: [0.03, 0.05, 0],\n"
    "    angular_velocity: [0, 0, 0.2], robot: {kind: delay, delay: 0.02}, check: {push: skip}}\n";

/* What a controller does that holds its robot, and then lets it catch up, is given in steps of v T: one for
 * the hold, n + 1 for n cycles that are made up for. A clock of its own is a parabola in the facility: it
 * overshoots by half its step at either end. */
static void test_two_robots(void **state) {
    (void)state;
    static const struct {
        const char *name, *fault;
        ff_trip_code code;
        double steps[2];
    } cases[] = {
        {"nothing", "", FF_TRIP_FINISHED, {0, 0}},
        {"the second silent", "{kind: robot-silent, body: servicer, from: 1}", FF_TRIP_SILENT, {0, 1}},
        {"the first silent", "{kind: robot-silent, body: client, from: 1}", FF_TRIP_SILENT, {1, 0}},
        {"8 of the first lost", "{kind: rob-lost, body: client, from: 1, to: 1.032}", FF_TRIP_MISSED, {1, 0}},
        {"8 of the second lost",
         "{kind: rob-lost, body: servicer, from: 1, to: 1.032}",
         FF_TRIP_MISSED,
         {0, 1}},
        {"4 of the first lost",
         "{kind: rob-lost, body: client, from: 1, to: 1.016}",
         FF_TRIP_FINISHED,
         {5, 0}},
        {"4 of the second lost",
         "{kind: rob-lost, body: servicer, from: 1, to: 1.016}",
         FF_TRIP_FINISHED,
         {0, 5}},
        /* led on by a velocity that was still growing: a quarter of a step too short */
        {"4 of the first lost in the run-up",
         "{kind: rob-lost, body: client, from: 0.2, to: 0.216}",
         FF_TRIP_FINISHED,
         {5, 0.25}},
        {"the first one's counter jumps",
         "{kind: ipoc-jump, body: client, from: 1, to: 1.004}",
         FF_TRIP_RESTART,
         {1, 0}},
        {"the second one's counter jumps",
         "{kind: ipoc-jump, body: servicer, from: 1, to: 1.004}",
         FF_TRIP_RESTART,
         {0, 1}},
        {"the second one's sensor silent", "{kind: ft-silent, body: servicer, from: 1}", FF_TRIP_AGE, {0, 0}},
        {"a trip, then the first silent",
         "{kind: ft-silent, body: client, from: 0.98}, {kind: robot-silent, body: client, from: 1.02}",
         FF_TRIP_AGE,
         {1, 0}},
    };
    static const int ppm[] = {0, 300, -1000};
    for (size_t n = 0; n < COUNT(cases); n++)
        /* a leap would be the parabola's, not the robot's */
        for (size_t d = 0; d < (cases[n].steps[1] > 1.0 ? 1 : COUNT(ppm)); d++) {
            char name[80], faults[300];
            snprintf(name, sizeof name, "%s, %d ppm", cases[n].name, ppm[d]);
            snprintf(faults, sizeof faults,
                     "facility.faults=[%s%s{kind: clock-drift, body: servicer, value: %d}]", cases[n].fault,
                     *cases[n].fault ? ", " : "", ppm[d]);
            const tried t = {.name = name,
                             .code = cases[n].code,
                             .steps = {cases[n].steps[0], cases[n].steps[1]},
                             .set = {faults}};
            follow(two, &t, ppm[d] != 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_motions),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_two_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
