/* Arms from scenarios [aghili, section 3]: rigid, flexible, redundant and free-floating targets, compared
 * with the target simulated directly, and what is refused. */
#include "support.h"

#include "emulate/arm.h"
#include "scenario/scenario.h"

static ff_scenario s;
static char message[1024], warnings[2048];

static ff_status load(const char *file, const char *const *sets, int count) {
    const ff_scenario_options options = {.set = sets, .sets = count};
    char path[512];
    snprintf(path, sizeof path, FF_SOURCE_DIR "/scenarios/%s", file);
    return ff_scenario_load(path, &options, &s, message, sizeof message, warnings, sizeof warnings);
}

static void check(const char *name, double force) {
    ff_emulate_result r;
    if (ff_emulate_arms_run(&s.arms, &r, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s: %s", name, message);
    print_message("%s: contact %.6f s, peak %.3f N, pose %.2g, state %.2g, force %.2g N, energy %.2g J\n",
                  name, r.contact_s, r.peak_force, r.pose_error, r.state_error, r.contact_error,
                  r.energy_error);
    assert_true(r.peak_force > force);
    assert_near(r.contact_s, r.contact_direct_s, 1e-9);
    assert_true(r.pose_error <= 1e-8);
    assert_true(r.state_error <= 1e-8);
    assert_true(r.contact_error <= 1e-6);
    assert_true(r.energy_error <= 1e-8);
    assert_string_equal(warnings, "");
    ff_emulate_free(&r);
}

static void test_planar_arms_equal_the_direct_simulation(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        const char *const sets[] = {variant & 1 ? "emulation.scheme=free" : "emulation.scheme=constrained",
                                    variant & 2 ? "emulation.target.joints=rigid"
                                                : "emulation.target.joints=flexible",
                                    "time.duration=0.8"};
        if (load("planar-arm-emulation.yaml", sets, 3) != FF_OK)
            fail_msg("%s", message);
        check(variant & 2 ? "rigid" : "flexible", 1.0);
    }
}

static void test_space_robots_equal_the_direct_simulation(void **state) {
    (void)state;
    for (int variant = 0; variant < test_count(4, 8); variant++) {
        const bool floating = !(variant & 2);
        const char *const sets[] = {
            variant & 1 ? "emulation.scheme=free" : "emulation.scheme=constrained",
            floating ? "emulation.target.base=floating" : "emulation.target.base=fixed",
            variant & 4 ? "emulation.target.joints=rigid" : "emulation.target.joints=flexible",
            "time.duration=1.0"};
        if (load("space-robot-emulation.yaml", sets, 4) != FF_OK)
            fail_msg("%s", message);
        check(floating ? "floating base, accommodation" : "fixed base, accommodation", 0.1);
    }
}

/* The controller that Appendix E names, on its one joint: it moves as commanded, and yields in contact. */
static void test_one_joint_accommodates(void **state) {
    (void)state;
    const char *const sets[] = {"emulation.accommodation={rate: [0.1, 0, 0], compliance: 2.0e-3, gain: 1}",
                                "emulation.scheme=free", "time.duration=10"};
    char path[512], *text, *line;
    snprintf(path, sizeof path, FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text = calloc(1, 8192);
    assert_true(fread(text, 1, 8191, file) > 0);
    fclose(file);
    line = strstr(text, "  torque: 0.5"); /* one of the two drives the target */
    assert_non_null(line);
    assert_int_equal(load("papers/aghili/appendix-e.yaml", sets, 3), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "torque and accommodation"));
    memset(line, ' ', strcspn(line, "\n"));
    const ff_scenario_options options = {.set = sets, .sets = 3};
    if (ff_scenario_parse("F", text, strlen(text), &options, &s, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    free(text);
    ff_emulate_result r;
    assert_int_equal(
        ff_emulate_joint_run(&s.emulation, &r, message, sizeof message, warnings, sizeof warnings), FF_OK);
    assert_true(r.pose_error <= 1e-8);
    assert_true(r.contact_error <= 1e-6);
    /* at rest in contact the motor pushes with gain * (rate + compliance f)/l, and f l balances it */
    const double l = 0.3, f = -0.1 / (l * l + 2e-3);
    print_message("accommodation settles at %.5f N, expected %.5f N\n", r.final_force, f);
    assert_near(r.final_force, f, 1e-3);
    ff_emulate_free(&r);
}

static void test_robot_placed_elsewhere_is_solved_for(void **state) {
    (void)state;
    const char *const sets[] = {"emulation.robot.place.position=[0.05, 0.03, 0]", "time.duration=0.5"};
    if (load("planar-arm-emulation.yaml", sets, 2) != FF_OK)
        fail_msg("%s", message);
    check("base moved", 0.1);
    const char *const far[] = {"emulation.robot.place.position=[3, 0, 0]"};
    assert_int_equal(load("planar-arm-emulation.yaml", far, 1), FF_OK);
    ff_emulate_result r;
    assert_true(ff_emulate_arms_run(&s.arms, &r, message, sizeof message, warnings, sizeof warnings) < 0);
    assert_true(strstr(message, "cannot show") || strstr(message, "singular"));
}

/* Q of two equal arms is the identity; a robot twice as heavy halves it. */
static void test_inertia_ratio_of_scenarios(void **state) {
    (void)state;
    double Q[36];
    size_t n;
    const char *const sets[] = {
        "emulation.robot.links.0={mass: 4, com: [0.25, 0.01, 0], inertia: [0.084, 0.084, 0.084], start: 0.3}",
        "emulation.robot.links.1={mass: 4, com: [0.25, 0.02, 0], inertia: [0.084, 0.084, 0.084], "
        "pose: {position: [0.5, 0, 0]}, start: 0.9}"};
    assert_int_equal(load("planar-arm-emulation.yaml", sets, 2), FF_OK);
    assert_int_equal(ff_emulate_arms_ratio(&s.arms, &n, Q, message, sizeof message), FF_OK);
    assert_int_equal(n, 2);
    const double expected[4] = {0.5, 0, 0, 0.5};
    for (int i = 0; i < 4; i++)
        assert_near(Q[i], expected[i], 1e-12);
}

static void test_bad_arms_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *file, *set, *expect;
    } bad[] = {
        {"planar-arm-emulation.yaml", "emulation.robot.device.kind=kuka-rsi", "allowed: joint-torque"},
        {"planar-arm-emulation.yaml", "emulation.robot.device.port=65536",
         "port is 65536, allowed: 0 to 65535"},
        {"planar-arm-emulation.yaml", "emulation.robot.links.1.upper=0.8",
         "link 2 starts at 0.9 rad, allowed: -inf to 0.8"},
        {"planar-arm-emulation.yaml", "emulation.robot.links.0.velocity=0", "velocity is 0, allowed: > 0"},
        {"planar-arm-emulation.yaml", "emulation.robot.kind=joint", "does not belong to robot kind 'joint'"},
        {"planar-arm-emulation.yaml", "emulation.gains.velocity=0", "velocity is 0, allowed: > 0"},
        {"planar-arm-emulation.yaml", "emulation.gains.position=-1", "position is -1, allowed: > 0"},
        {"planar-arm-emulation.yaml", "emulation.target.links.0.inertia=[0.1, 0.1, 0.3]",
         "inertia of link 1"},
        {"planar-arm-emulation.yaml", "emulation.robot.links.1.inertia=[-0.1, 0.1, 0.1]",
         "inertia of link 2"},
        {"planar-arm-emulation.yaml", "emulation.target.links.1.motor_inertia=0",
         "link 2 has no motor_inertia"},
        {"planar-arm-emulation.yaml", "emulation.target.task=pose", "links, allowed: "},
        {"planar-arm-emulation.yaml", "emulation.wall={at: 0.1, stiffness: 10}", "allowed: surface"},
        {"planar-arm-emulation.yaml", "emulation.torque=1", "drive in each link"},
        {"planar-arm-emulation.yaml", "emulation.target.links=[]", "links"},
        {"space-robot-emulation.yaml", "emulation.target.base_mass=0", "base_mass > 0"},
        {"papers/aghili/appendix-e.yaml",
         "emulation.surface={at: [0, 0, 0], normal: [1, 0, 0], stiffness: 1}", "allowed: wall"},
        {"papers/aghili/appendix-e.yaml", "emulation.wall.at=-0.1", "at is -0.1, allowed: > 0"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const set[] = {bad[i].set};
        if (load(bad[i].file, set, 1) == FF_OK)
            fail_msg("%s was taken", bad[i].set);
        if (!strstr(message, bad[i].expect))
            fail_msg("%s: expected '%s' in: %s", bad[i].set, bad[i].expect, message);
        assert_null(strchr(message, '\n'));
    }
    /* found when the arms are put together */
    static const struct {
        const char *set, *expect;
    } late[] = {
        {"emulation.surface.at=[0.5, 0, 0]", "starts inside the wall"},
        {"emulation.target.links.1.start=0", "singular"},
    };
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        const char *const set[] = {late[i].set, "emulation.robot.links.1.start=0"};
        ff_emulate_result r;
        if (load("planar-arm-emulation.yaml", set, i == 1 ? 2 : 1) != FF_OK)
            fail_msg("%s", message);
        if (ff_emulate_arms_run(&s.arms, &r, message, sizeof message, warnings, sizeof warnings) == FF_OK)
            fail_msg("%s ran", late[i].set);
        if (!strstr(message, late[i].expect))
            fail_msg("%s: expected '%s' in: %s", late[i].set, late[i].expect, message);
        ff_emulate_free(&r);
    }
}

/* What the scenario's reader would not let through is refused once more where arms are put together, and so
 * is what only shows there. */
static void test_arms_that_do_not_fit(void **state) {
    (void)state;
    ff_emulate_arms good, a;
    assert_int_equal(load("planar-arm-emulation.yaml", (const char *const[]){"time.duration=0.02"}, 1),
                     FF_OK);
    good = s.arms;
#define REFUSED(change, status, says)                                                                     \
    do {                                                                                                  \
        ff_emulate_result r;                                                                              \
        a = good;                                                                                         \
        change;                                                                                           \
        assert_int_equal(ff_emulate_arms_run(&a, &r, message, sizeof message, warnings, sizeof warnings), \
                         status);                                                                         \
        if (!strstr(message, says))                                                                       \
            fail_msg("'%s' lacks '%s'", message, says);                                                   \
        assert_null(r.sample);                                                                            \
        double Q[36];                                                                                     \
        size_t n;                                                                                         \
        message[0] = 0;                                                                                   \
        if (strncmp(says, "time", 4) != 0 && strncmp(says, "act", 3) != 0 &&                              \
            strncmp(says, "wall", 4) != 0) {                                                              \
            assert_int_equal(ff_emulate_arms_ratio(&a, &n, Q, message, sizeof message), status);          \
            assert_non_null(strstr(message, says));                                                       \
        }                                                                                                 \
    } while (0)
    REFUSED(a.robot.links = 1, FF_ERR_SIZE,
            "robot: 1 links, allowed: 2, as many as the task has coordinates");
    REFUSED(a.target.links = 1, FF_ERR_SIZE,
            "target: 1 links, allowed: at least the 2 coordinates of the task");
    REFUSED(a.robot.flexible = true, FF_ERR_ARGUMENT, "robot: allowed is a rigid arm on a fixed base");
    REFUSED(a.robot.floating = true, FF_ERR_ARGUMENT, "robot: allowed is a rigid arm on a fixed base");
    REFUSED(a.target.link[1].motor_inertia = 0.0, FF_ERR_INERTIA,
            "target: a motor's inertia must be > 0 (flexible: true)");
    REFUSED(a.target.link[0].row.mass = -1.0, FF_ERR_MASS, "target: link 0: the mass must be positive");
    REFUSED(a.robot.link[1].row.inertia.m[0][0] = -1.0, FF_ERR_INERTIA, "robot: link 1: the inertia");
    REFUSED(a.robot.base.p.x = 50.0, FF_ERR_REACH, "the robot cannot show the target's start pose");
    REFUSED(a.cycle = 0.0, FF_ERR_ARGUMENT, "time: cycle must be > 0");
    REFUSED(a.cycle = FF_INF, FF_ERR_ARGUMENT, "time: cycle must be > 0");
    REFUSED(a.duration = FF_NAN, FF_ERR_ARGUMENT, "time: cycle must be > 0");
    REFUSED(a.duration = 1e-6, FF_ERR_ARGUMENT, "time: cycle must be > 0 and duration at least one cycle");
    REFUSED(a.actuator_bandwidth = 0.0, FF_ERR_ARGUMENT, "actuator_bandwidth must be > 0");
    REFUSED(a.actuator_delay = -1.0, FF_ERR_ARGUMENT, "actuator delay must be >= 0");
    REFUSED(a.actuator_delay = FF_INF, FF_ERR_ARGUMENT, "actuator delay must be >= 0");
    REFUSED(a.wall.stiffness = 0.0, FF_ERR_ARGUMENT, "wall: stiffness must be > 0");
    REFUSED(a.wall.stiffness = FF_INF, FF_ERR_ARGUMENT, "wall: stiffness must be > 0");
    REFUSED(a.wall.damping = -1.0, FF_ERR_ARGUMENT, "wall: stiffness must be > 0, damping >= 0");
    REFUSED(a.wall.damping = FF_INF, FF_ERR_ARGUMENT, "wall: stiffness must be > 0, damping >= 0");
#undef REFUSED
}

/* In the plane, too: a robot without a place stands where the end effectors meet, here where it stood anyway,
 * and accommodation drives the target. */
static void test_planar_arms_without_a_place_accommodate(void **state) {
    (void)state;
    const char *const sets[] = {"emulation.accommodation={rate: [0.05, 0, 0], compliance: 1.0e-3, gain: 20}",
                                "time.duration=0.5", "emulation.surface.at=[0.66, 0, 0]"};
    assert_int_equal(load("planar-arm-emulation.yaml", sets, 3), FF_OK);
    s.arms.robot.base_given = false;
    ff_emulate_result r;
    if (ff_emulate_arms_run(&s.arms, &r, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    assert_true(r.pose_error <= 1e-8 && r.state_error <= 1e-8);
    assert_true(r.sample[r.samples - 1].p_r[0] > r.sample[0].p_r[0] + 0.005); /* it moves as commanded */
    ff_emulate_free(&r);
}

/* A sampled controller whose torque comes late by a delay: the longer, the farther from the direct arm;
 * fractions of a cycle lie between the whole ones. */
static void test_late_torques(void **state) {
    (void)state;
    double before = 0.0;
    for (int half = 0; half <= 4; half++) { /* 0, 0.5 ... 2 cycles */
        char delay[64];
        snprintf(delay, sizeof delay, "emulation.robot.actuator_delay=%g", 0.5 * half * 0.001);
        const char *const sets[] = {"time.duration=0.1", "time.cycle=0.001", "emulation.controller=sampled",
                                    delay};
        assert_int_equal(load("planar-arm-emulation.yaml", sets, 4), FF_OK);
        ff_emulate_result r;
        if (ff_emulate_arms_run(&s.arms, &r, message, sizeof message, warnings, sizeof warnings) != FF_OK)
            fail_msg("%s", message);
        assert_true(r.pose_error > before);
        before = r.pose_error;
        ff_emulate_free(&r);
    }
    assert_true(before < 0.05);
}

static void test_slow_actuators_are_warned_of(void **state) {
    (void)state;
    const char *const sets[] = {"emulation.robot.actuator_bandwidth=8", "time.duration=0.02"};
    assert_int_equal(load("planar-arm-emulation.yaml", sets, 2), FF_OK);
    ff_emulate_result r;
    assert_int_equal(ff_emulate_arms_run(&s.arms, &r, message, sizeof message, warnings, sizeof warnings),
                     FF_OK);
    assert_non_null(strstr(warnings, "actuator_bandwidth 8 rad/s is below the controller's, 10 rad/s"));
    assert_non_null(strstr(warnings, "not stable"));
    ff_emulate_free(&r);
}

/* The robot as a device drives it: brakes bring a moving joint to rest where they fell in, as the closed form
 * of a critically damped joint says, and take no time of the plant's; the controller alone gives the torques
 * of a whole run. */
static void test_robot_apart_from_its_controller(void **state) {
    (void)state;
    const char *const sets[] = {"emulation.controller=sampled", "time.duration=0.3", "time.cycle=0.001"};
    assert_int_equal(load("planar-arm-emulation.yaml", sets, 3), FF_OK);
    ff_joint_limits limits;
    ff_scenario_emulator_limits(&s, &limits);
    assert_true(limits.joints == 2 && isinf(limits.torque[1]) && limits.lower[0] == -FF_INF);
    assert_string_equal(s.emulator_at.address, "127.0.0.1");
    assert_int_equal(s.emulator_at.device.port, 30300);
    ff_emulate_machine machine;
    ff_status status;
    assert_int_equal(ff_emulate_arms_open(&s.arms, &machine, message, sizeof message), FF_OK);
    ff_emulate_result r;
    assert_int_equal(ff_emulate_run(&machine.config, &r, message, sizeof message), FF_OK);
    ff_emulate_plant *plant = ff_emulate_plant_create(&machine.config, message, sizeof message, &status);
    ff_emulate_controller *controller =
        ff_emulate_controller_create(&machine.config, message, sizeof message, &status);
    assert_non_null(plant);
    assert_non_null(controller);
    const ff_emulate_robot robot = ff_emulate_plant_robot(plant);
    ff_emulate_reading x, y;
    for (uint64_t k = 0; k < 250; k++) {
        double torque[FF_EMULATION_TASK_MAX];
        assert_int_equal(robot.read(robot.self, &x), FF_OK);
        assert_int_equal(ff_emulate_controller_step(controller, k, &x, torque), FF_OK);
        assert_memory_equal(torque, r.sample[k].torque, 2 * sizeof *torque);
        assert_int_equal(robot.drive(robot.self, torque), FF_OK);
    }
    assert_int_equal(robot.read(robot.self, &x), FF_OK);
    for (int n = 1; n <= 300; n++) {
        const double rate = 50.0, t = 0.001 * n;
        ff_emulate_plant_brake(plant, rate);
        assert_int_equal(robot.read(robot.self, &y), FF_OK);
        for (int i = 0; i < 2; i++) {
            assert_near(y.q[i], x.q[i] + x.v[i] * t * exp(-rate * t), 1e-13);
            assert_near(y.v[i], x.v[i] * (1.0 - rate * t) * exp(-rate * t), 1e-12);
        }
    }
    assert_true(fabs(x.v[0]) > 1e-3);
    double first, peak;
    ff_emulate_plant_contact(plant, &first, &peak);
    assert_true(isnan(first) && peak == 0.0);
    ff_emulate_plant_free(plant);
    ff_emulate_controller_free(controller);
    ff_emulate_free(&r);
    ff_emulate_machine_close(&machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_robot_apart_from_its_controller),
        cmocka_unit_test(test_planar_arms_equal_the_direct_simulation),
        cmocka_unit_test(test_space_robots_equal_the_direct_simulation),
        cmocka_unit_test(test_one_joint_accommodates),
        cmocka_unit_test(test_robot_placed_elsewhere_is_solved_for),
        cmocka_unit_test(test_inertia_ratio_of_scenarios),
        cmocka_unit_test(test_bad_arms_are_refused),
        cmocka_unit_test(test_arms_that_do_not_fit),
        cmocka_unit_test(test_planar_arms_without_a_place_accommodate),
        cmocka_unit_test(test_late_torques),
        cmocka_unit_test(test_slow_actuators_are_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
