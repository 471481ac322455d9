/* Scenario files: what they mean, and that every mistake is one line with the right place. */
#include "loop_support.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenario/internal.h"

static ff_scenario s;
static char message[1024], warnings[4096];

static const char contract[] =
    "name: deos-client\n"                           /* 1 */
    "time: {cycle: 0.004, duration: 30, seed: 1}\n" /* 2 */
    "method: tdpa\n"                                /* 3 */
    "integrator: lie-midpoint\n"                    /* 4 */
    "frame: absolute\n"                             /* 5 */
    "satellites:\n"                                 /* 6 */
    "  client:\n"                                   /* 7 */
    "    mass: 280\n"                               /* 8 */
    "    inertia: [18, 20, 22]\n"                   /* 9 */
    "    position: [0, 0, 0]\n"                     /* 10 */
    "    attitude: [1, 0, 0, 0]\n"                  /* 11 */
    "    velocity: [0.01, 0.015, 0.02]\n"           /* 12 */
    "    angular_velocity: [0.01, 0.02, 0.03]\n"    /* 13 */
    "    points: {tip: [0.3, -0.2, 0.4]}\n"         /* 14 */
    "    robot: {kind: delay, delay: 0.040}\n"      /* 15 */
    "    sensor: {kind: ideal}\n"                   /* 16 */
    "contacts:\n"                                   /* 17 */
    "  - {name: front, kind: wall, body: client, point: com, at: [0, 0, 0.03], normal: [0, 0, -1], "
    "stiffness: 2000, damping: 5}\n"                                       /* 18 */
    "loads:\n"                                                             /* 19 */
    "  - {body: client, kind: pulse, force: [6, 0, 0], from: 5, to: 10}\n" /* 20 */
    "requirements: {velocity_error: 0.01, angular_velocity_error: 0.0087, peak_force_ratio: 1.2}\n";

static const char minimal[] = "name: a\n"
                              "time: {cycle: 0.004, duration: 1}\n"
                              "satellites: {b: {mass: 2, inertia: [1, 1, 1]}}\n";

static const char two[] = "name: two\n"
                          "time: {cycle: 0.004, duration: 1}\n"
                          "satellites:\n"
                          "  servicer: {mass: 20, inertia: [1, 1, 1], points: {nose: [1, 2, 3]}}\n"
                          "  client: {mass: 2, inertia: [1, 1, 1]}\n";

static ff_status parse_sets(const char *text, const char *const *set, int sets, const char *method) {
    const ff_scenario_options options = {.set = set, .sets = sets, .method = method};
    memset(message, 'x', sizeof message);
    return ff_scenario_parse("F", text, strlen(text), &options, &s, message, sizeof message, warnings,
                             sizeof warnings);
}

static ff_status parse(const char *text) {
    return parse_sets(text, NULL, 0, NULL);
}

static void expect_good(const char *text) {
    if (parse(text) != FF_OK)
        fail_msg("refused: %s", message);
    assert_string_equal(message, "");
}

static void expect_status(const char *text, ff_status status, const char *expected) {
    assert_int_equal(parse(text), status);
    assert_string_equal(message, expected);
}

static void expect_bad(const char *text, const char *expected) {
    expect_status(text, FF_ERR_FORMAT, expected);
}

/* text with one piece replaced; the piece must be there */
static const char *with(const char *text, const char *old, const char *new) {
    static char buffer[8192];
    const char *at = strstr(text, old);
    assert_non_null(at);
    snprintf(buffer, sizeof buffer, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return buffer;
}

static void set_good(const char *text, const char *assignment) {
    if (parse_sets(text, &assignment, 1, NULL) != FF_OK)
        fail_msg("refused: %s", message);
}

static void set_bad(const char *text, const char *assignment, const char *expected) {
    char line[1200];
    assert_int_equal(parse_sets(text, &assignment, 1, NULL), FF_ERR_FORMAT);
    snprintf(line, sizeof line, "--set %s: %s", assignment, expected);
    assert_string_equal(message, line);
}

/* Of every device in the list: its name is a kind, its settings are keys with the defaults of its table, and
 * no key of another kind. A new device needs nothing here. */
static void test_devices_are_kinds_with_their_keys(void **state) {
    (void)state;
    const ff_device *device;
    for (size_t n = 0; (device = ff_device_at(n)) != NULL; n++) {
        const bool robot = device->kind == FF_DEVICE_ROBOT;
        if (device->kind == FF_DEVICE_ARM) /* of an emulation */
            continue;
        const char *const part = robot ? "robot" : "sensor";
        char set[256], expected[256];
        snprintf(set, sizeof set, "satellites.b.%s={kind: %s}", part, device->name);
        set_good(minimal, set);
        const ff_satellite *b = &s.satellite[0];
        const int kind = robot ? (int)b->robot.kind : (int)b->sensor.kind;
        assert_string_equal(robot ? ff_robot_name(kind) : ff_sensor_name(kind), device->name);
        assert_string_equal(robot ? b->robot.address : b->sensor.address, "127.0.0.1");
        const ff_device_settings usual = robot ? b->robot.device : b->sensor.device;
        assert_int_equal(usual.port, device->settings ? device->port : 0); /* none: the robot's */
        for (unsigned k = 0; k < device->settings; k++) { /* the default, written out, changes nothing */
            const ff_setting *setting = &device->setting[k];
            snprintf(set, sizeof set, "satellites.b.%s={kind: %s, %s: %s}", part, device->name, setting->name,
                     setting->absent);
            set_good(minimal, set);
            assert_memory_equal(robot ? &b->robot.device : &b->sensor.device, &usual, sizeof usual);
            snprintf(set, sizeof set, "satellites.b.%s={%s: %s}", part, setting->name, setting->absent);
            snprintf(expected, sizeof expected, "key '%s' does not belong to %s kind 'ideal', allowed: kind",
                     setting->name, part);
            assert_int_equal(parse_sets(minimal, &(const char *){set}, 1, NULL), FF_ERR_FORMAT);
            assert_non_null(strstr(message, expected));
            if (setting->type != FF_SETTING_INTEGER)
                continue;
            snprintf(set, sizeof set, "satellites.b.%s={kind: %s, %s: %g}", part, device->name, setting->name,
                     setting->high + 1.0);
            snprintf(expected, sizeof expected, "%s is %g, allowed: 0 to %g", setting->name,
                     setting->high + 1.0, setting->high);
            set_bad(minimal, set, expected);
        }
    }
    assert_null(ff_robot_name(31));
    set_good(
        minimal,
        "satellites.b.robot={kind: kuka-rsi, port: 7, arm: kr16, channel: cartesian, corrections: relative}");
    const ff_device_settings *d = &s.satellite[0].robot.device;
    assert_true(d->port == 7 && d->arm == FF_ARM_KR16 && d->cartesian && d->increments);
}

/* Two devices may call a setting alike: each kind has its own default and its own range. */
static void test_kinds_share_a_key(void **state) {
    (void)state;
    typedef struct thing {
        int kind;
        double port;
    } thing;
    static const char *const words[] = {"one", "other", NULL};
    const ff_key key[] = {
        {.key = "kind", .type = FF_TYPE_WORD, .unit = "", .words = words, .fallback = "none"},
        {.key = "port",
         .type = FF_TYPE_NUMBER,
         .unit = "",
         .fallback = "none",
         .offset = offsetof(thing, port),
         .kinds = 1,
         .own = true,
         .range = FF_RANGE_POSITIVE},
        {.key = "port",
         .type = FF_TYPE_NUMBER,
         .unit = "",
         .fallback = "required",
         .offset = offsetof(thing, port),
         .kinds = 2,
         .own = true},
    };
    const ff_section section = {"thing", "thing", key, 3, ""};
    static const struct {
        const char *text, *expected; /* NULL: read */
        double port;
    } row[] = {{"{kind: one}", NULL, FF_INF},
               {"{kind: one, port: 3}", NULL, 3},
               {"{kind: one, port: -3}", "F:1:19: port is -3, allowed: > 0", 0},
               {"{kind: other, port: -3}", NULL, -3},
               {"{kind: other}", "F:1:1: the scenario lacks the key 'port', allowed: number", 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ff_tree tree = {0};
        ff_node *root;
        ff_tree_error error;
        assert_int_equal(ff_tree_parse(&tree, row[i].text, strlen(row[i].text), NULL, &root, &error), FF_OK);
        ff_reader r = {
            .label = "F", .tree = &tree, .scenario = &s, .message = message, .size = sizeof message};
        thing t = {0, 0};
        message[0] = 0;
        assert_int_equal(ff__read_section(&r, root, &section, &t), row[i].expected == NULL);
        assert_string_equal(message, row[i].expected ? row[i].expected : "");
        if (!row[i].expected)
            assert_true(t.port == row[i].port);
        ff_tree_free(&tree);
    }
}

/* -------------------------------------------------------------------------------------------- meaning -- */

static void test_contract_example_is_read(void **state) {
    (void)state;
    expect_good(contract);
    assert_string_equal(warnings, "");
    assert_string_equal(s.name, "deos-client");
    assert_true(s.cycle == 0.004 && s.duration == 30.0 && s.cycles == 7500 && s.seed == 1);
    assert_ptr_equal(s.method, &ff_method_tdpa);
    assert_int_equal(s.integrate.scheme, FF_SCHEME_LIE_MIDPOINT);
    assert_true(s.integrate.cycle == 0.004 && !s.integrate.passive_printed);
    assert_int_equal(s.satellites, 1);
    const ff_satellite *c = &s.satellite[0];
    assert_string_equal(c->name, "client");
    assert_true(c->rigid.mass == 280.0);
    assert_true(c->rigid.inertia.m[0][0] == 18 && c->rigid.inertia.m[1][1] == 20 &&
                c->rigid.inertia.m[2][2] == 22 && c->rigid.inertia.m[0][1] == 0);
    assert_vec3_near(c->start.velocity, ff_vec3_make(0.01, 0.015, 0.02), 0.0);
    assert_vec3_near(c->start.omega, ff_vec3_make(0.01, 0.02, 0.03), 0.0);
    assert_int_equal(c->points, 2);
    assert_string_equal(c->point[0].name, "com");
    assert_string_equal(c->point[1].name, "tip");
    assert_vec3_near(c->point[1].r, ff_vec3_make(0.3, -0.2, 0.4), 0.0);
    assert_int_equal(c->robot.kind, FF_ROBOT_DELAY);
    assert_true(c->robot.delay == 0.04 && !c->robot.rail.present && !c->mockup.present);
    assert_true(isinf(c->limits.velocity) && isinf(c->sensor.range_force) && isinf(c->sensor.bandwidth));
    assert_int_equal(s.contacts, 1);
    const ff_contact *wall = &s.contact[0];
    assert_string_equal(wall->name, "front");
    assert_int_equal(wall->kind, FF_CONTACT_WALL);
    assert_int_equal(wall->against, -1);
    assert_vec3_near(wall->at, ff_vec3_make(0, 0, 0.03), 0.0);
    assert_vec3_near(wall->normal, ff_vec3_make(0, 0, -1), 0.0);
    assert_true(wall->stiffness == 2000 && wall->damping == 5 && wall->satellite_stiffness == 2000 &&
                wall->satellite_damping == 5 && wall->friction == 0 && wall->damping_depth == 0);
    assert_int_equal(s.loads, 1);
    assert_true(s.load[0].from == 5 && s.load[0].to == 10 && s.load[0].force.x == 6);
    assert_true(s.requirements.velocity_error == 0.01 && s.requirements.angular_velocity_error == 0.0087 &&
                s.requirements.peak_force_ratio == 1.2);
}

static void test_defaults_of_the_smallest_scenario(void **state) {
    (void)state;
    expect_good(minimal);
    assert_ptr_equal(s.method, &ff_method_tdpa);
    assert_int_equal(s.integrate.scheme, FF_SCHEME_LIE_MIDPOINT);
    assert_int_equal(s.frame, FF_FRAME_ABSOLUTE);
    assert_int_equal(s.satellite[0].robot.kind, FF_ROBOT_IDEAL);
    assert_int_equal(s.satellite[0].sensor.kind, FF_SENSOR_IDEAL);
    assert_true(s.satellite[0].start.attitude.w == 1.0 && s.satellite[0].robot.tool.q.w == 1.0 &&
                s.satellite[0].sensor.pose.q.w == 1.0 && s.facility_pose.q.w == 1.0);
    assert_true(s.satellite[0].robot.damping == 1.0 && s.seed == 1 && s.contacts == 0 && s.loads == 0);
    assert_true(s.requirements.velocity_error == 0.01 && s.requirements.angular_velocity_error == 0.0087 &&
                s.requirements.peak_force_ratio == 1.2);
    for (int m = 0; ff_method_at(m); m++) { /* whatever the reader does, the method's own defaults hold */
        ff_settings defaults;
        ff_settings_default(ff_method_at(m), 0, &defaults);
        assert_memory_equal(ff_scenario_setting(&s, ff_method_at(m)), &defaults, sizeof defaults);
    }
}

static void test_robot_kinds(void **state) {
    (void)state;
    expect_good(with(contract, "{kind: delay, delay: 0.040}",
                     "{kind: lag, frequency: 8, base: {position: [1, 2, 3]}, tool: {attitude: [0, 1, 0, 0]}, "
                     "rail: {axis: [2, 0, 0], length: 10, speed: 1.5}}"));
    const ff_robot_config *robot = &s.satellite[0].robot;
    assert_int_equal(robot->kind, FF_ROBOT_LAG);
    assert_true(robot->frequency == 8 && robot->damping == 1 && robot->delay == 0 && robot->tool.q.x == 1);
    assert_vec3_near(robot->base.p, ff_vec3_make(1, 2, 3), 0.0);
    assert_true(robot->rail.present && robot->rail.length == 10 && robot->rail.speed == 1.5);
    assert_vec3_near(robot->rail.axis, ff_vec3_make(1, 0, 0), 0.0);
    expect_good(with(contract, "{kind: delay, delay: 0.040}",
                     "{kind: limited, delay: 0.01, velocity: 2, angular_jerk: 3}"));
    assert_int_equal(robot->kind, FF_ROBOT_LIMITED);
    assert_true(robot->velocity == 2 && isinf(robot->jerk) && robot->angular_jerk == 3 &&
                isinf(robot->acceleration));
}

static void test_sensor_and_mockup(void **state) {
    (void)state;
    expect_good(
        with(contract, "sensor: {kind: ideal}",
             "sensor: {kind: noisy, mount: environment, pose: {position: [1, 0, 0]}, force_noise: 0.1, "
             "torque_noise: 0.01, bias: [1, 2, 3, 4, 5, 6], drift: [7, 8], resolution: 0.5, range: [9, 10], "
             "bandwidth: 11, delay: 0.012}\n"
             "    mockup: {mass: 13, com: [0, 0, 1], inertia: [3, 4, 5, 0.1, 0.2, 0.3]}\n"
             "    limits: {velocity: 14}"));
    const ff_sensor_config *sensor = &s.satellite[0].sensor;
    assert_true(sensor->environment && sensor->pose.p.x == 1 && sensor->force_noise == 0.1 &&
                sensor->torque_noise == 0.01);
    /* force first in the file, angular first inside */
    assert_vec3_near(sensor->bias.f, ff_vec3_make(1, 2, 3), 0.0);
    assert_vec3_near(sensor->bias.t, ff_vec3_make(4, 5, 6), 0.0);
    assert_true(sensor->drift_force == 7 && sensor->drift_torque == 8 && sensor->resolution_force == 0.5 &&
                sensor->resolution_torque == 0 && sensor->range_force == 9 && sensor->range_torque == 10 &&
                sensor->bandwidth == 11 && sensor->delay == 0.012);
    const ff_mockup_config *mockup = &s.satellite[0].mockup;
    assert_true(mockup->present && mockup->mass == 13 && mockup->com.z == 1);
    assert_true(mockup->inertia.m[0][1] == 0.1 && mockup->inertia.m[2][0] == 0.2 &&
                mockup->inertia.m[1][2] == 0.3 && mockup->inertia.m[2][2] == 5);
    assert_true(s.satellite[0].limits.velocity == 14 && isinf(s.satellite[0].limits.acceleration));
}

static void refuse_compressed(const char *text, const char *name, const char *depth) {
    char expected[128];
    snprintf(expected, sizeof expected, "contact %s is compressed by %s at the start, allowed: apart, or",
             name, depth);
    assert_int_equal(parse(text), FF_ERR_FORMAT);
    if (!strstr(message, expected))
        fail_msg("'%s' lacks '%s'", message, expected);
}

/* How deep a contact is compressed at the start: planes, the cone's wall, apex and face, stops of both kinds.
 */
static void test_start_in_penetration(void **state) {
    (void)state;
    static const struct {
        const char *contact, *depth; /* NULL: apart */
    } cases[] = {
        {"kind: wall, at: [0.51, 0, 0], normal: [-1, 0, 0]", NULL},
        {"kind: wall, at: [0.5, 0, 0], normal: [-1, 0, 0]", NULL}, /* touching is not compressed */
        {"kind: wall, at: [0.497, 0, 0], normal: [-1, 0, 0]", "0.003 m"},
        {"kind: pair, against: b, at: [0, 0, 0.001], normal: [0, 0, 1]",
         "0.001 m"}, /* b is turned: its z is -y */
        {"kind: pair, against: b, at: [0, 0, -0.001], normal: [0, 0, 1]", NULL},
        /* the tip lies 0.5 m before b along its x */
        {"kind: cone, against: b, apex: [-0.2, 0, 0], axis: [-1, 0, 0], half_angle: 0.7", NULL},
        {"kind: cone, against: b, apex: [-0.52, 0, 0], axis: [-1, 0, 0], half_angle: 0.7", "0.02 m"},
        {"kind: cone, against: b, apex: [-0.2, 0.149, 0], axis: [-1, 0, 0], half_angle: 0.463647609", NULL},
        {"kind: cone, against: b, apex: [-0.2, 0.3, 0], axis: [-1, 0, 0], half_angle: 0.785398163397448",
         NULL},
        {"kind: cone, against: b, apex: [-0.2, 0.31, 0], axis: [-1, 0, 0], half_angle: 0.785398163397448, "
         "depth: 0.4",
         "0.00707 m"},
        {"kind: cone, against: b, apex: [-0.2, 0.4, 0], axis: [-1, 0, 0], half_angle: 0.785398163397448, "
         "depth: 0.302",
         "0.002 m"},
        {"kind: cone, against: b, apex: [-0.2, 0.4, 0], axis: [-1, 0, 0], half_angle: 0.785398163397448, "
         "depth: 0.299",
         NULL},
        {"kind: stops, position: [0.1, free, free], rotation: [0.01, 0.01, 0.01], rotation_stiffness: 1",
         NULL},
        {"kind: stops, position: [free, 0.019, free]", "0.001 m"},
        {"kind: stops, position: [0.1, 0.1, 0.1], rotation: [0.004, free, free], rotation_stiffness: 1",
         "0.001 rad"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool stops = strstr(cases[i].contact, "stops") != NULL;
        char text[1024];
        snprintf(text, sizeof text,
                 "name: t\ntime: {cycle: 0.01, duration: 1}\nsatellites:\n"
                 "  a: {mass: 2, inertia: [1, 1, 1], position: [0, %s, 0]%s}\n"
                 "  b: {mass: 2, inertia: [1, 1, 1], position: [1, 0, 0], attitude: [0.7071067811865476, "
                 "0.7071067811865476, 0, 0]}\n"
                 "contacts:\n  - {name: c, body: a, %s, %s, stiffness: 10}\n",
                 stops ? "-0.02" : "0", stops ? ", attitude: [0.999996875, 0.0025, 0, 0]" : "",
                 cases[i].contact, stops ? "damping: 0" : "point: [0.5, 0, 0]");
        if (cases[i].depth)
            refuse_compressed(text, "c", cases[i].depth);
        else
            expect_good(text);
        snprintf(text + strlen(text), sizeof text - strlen(text), "allow_penetration: true\n");
        expect_good(text);
    }
}

static void test_contact_kinds(void **state) {
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, "%s%s", two,
             "contacts:\n"
             "  - {kind: pair, body: client, against: servicer, at: [1, 2, 3], normal: [0, 3, 4], stiffness: "
             "[3000, "
             "6000], damping: 7, satellite: {damping: 8}, friction: 0.3, damping_depth: 0.001}\n"
             "  - {kind: cone, name: nozzle, body: servicer, point: nose, against: client, apex: [0, 0, 1], "
             "axis: [0, "
             "0, 2], half_angle: 0.5, stiffness: 10}\n"
             "  - {kind: stops, body: client, position: [0.1, free, 0.2], stiffness: 5, rotation: [free, "
             "0.3, free], "
             "rotation_stiffness: 6, rotation_damping: 1}\n"
             "  - {kind: wall, body: servicer, point: [4, 5, 6], at: [0, 0, 0], normal: [1e-200, 0, 0], "
             "stiffness: 1, "
             "satellite: {stiffness: 2}}\n"
             "  - {kind: grasp, body: client, against: servicer, at: [0, 0, 0], stiffness: 1, "
             "rotation_stiffness: 2}\n");
    char *end = text + strlen(text);
    refuse_compressed(text, "contact1", "3.6 m");
    snprintf(end, sizeof text - (size_t)(end - text), "allow_penetration: true\n");
    expect_good(text);
    assert_true(s.allow_penetration);
    assert_int_equal(s.contacts, 5);
    const ff_contact *c = s.contact;
    assert_string_equal(c[0].name, "contact1");
    assert_true(c[0].body == 1 && c[0].against == 0);
    assert_vec3_near(c[0].normal, ff_vec3_make(0, 0.6, 0.8), 2e-16);
    assert_near(c[0].stiffness, 2000.0, 1e-12);
    assert_true(c[0].satellite_stiffness == c[0].stiffness && c[0].damping == 7 &&
                c[0].satellite_damping == 8 && c[0].friction == 0.3 && c[0].damping_depth == 0.001);
    assert_string_equal(c[1].name, "nozzle");
    assert_vec3_near(c[1].point, ff_vec3_make(1, 2, 3), 0.0);
    assert_true(c[1].half_angle == 0.5 && isinf(c[1].depth) && c[1].axis.z == 1 && c[1].apex.z == 1);
    assert_string_equal(c[2].name, "contact3");
    assert_true(c[2].stop_position.x == 0.1 && isinf(c[2].stop_position.y) && c[2].stop_rotation.y == 0.3 &&
                isinf(c[2].stop_rotation.x) && c[2].rotation_stiffness == 6 && c[2].rotation_damping == 1);
    assert_vec3_near(c[3].point, ff_vec3_make(4, 5, 6), 0.0);
    assert_true(c[3].normal.x == 1.0 && c[3].stiffness == 1 && c[3].satellite_stiffness == 2);
    assert_int_equal(c[4].kind, FF_CONTACT_GRASP);
    assert_int_equal(s.nominal_of, 1); /* the satellite named client */
}

static double tdpa(const char *name) {
    return ff_settings_get(&ff_method_tdpa, ff_scenario_setting(&s, &ff_method_tdpa), name);
}

static void test_tdpa_settings(void **state) {
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, "%stdpa: {law: clamp, reading: printed, threshold: 2}\n", minimal);
    expect_good(text);
    assert_true(s.integrate.passive_printed);
    assert_near(tdpa("reading"), 1, 0);
    assert_near(tdpa("observer"), 1, 0);
    assert_near(tdpa("velocity"), 1, 0);
    assert_near(tdpa("reset"), 1, 0);
    assert_near(tdpa("law"), 0, 0); /* single settings override */
    assert_near(tdpa("threshold"), 2, 0);
    const uint64_t given = ff_scenario_setting(&s, &ff_method_tdpa)->given;
    for (uint32_t n = 0; n < ff_method_tdpa.settings; n++) {
        const char *name = ff_method_tdpa.setting[n].name;
        assert_int_equal(given >> n & 1u, strcmp(name, "law") == 0 || strcmp(name, "reading") == 0 ||
                                              strcmp(name, "threshold") == 0);
    }
}

static void test_quaternion_is_normalised_with_a_warning(void **state) {
    (void)state;
    expect_good(with(contract, "attitude: [1, 0, 0, 0]", "attitude: [3, 0, 4, 0]"));
    assert_near(s.satellite[0].start.attitude.w, 0.6, 1e-16);
    assert_near(s.satellite[0].start.attitude.y, 0.8, 1e-16);
    assert_string_equal(warnings, "F:11:15: warning: attitude has length 5 instead of 1, it is normalised");
    expect_good(with(contract, "attitude: [1, 0, 0, 0]", "attitude: [1.0000005, 0, 0, 0]"));
    assert_string_equal(warnings, "");
    assert_true(s.satellite[0].start.attitude.w == 1.0);
}

/* The same attitude in three forms; where the axes go is known without any formula of ours. */
static void test_an_attitude_has_three_forms(void **state) {
    (void)state;
    const char *const old = "attitude: [1, 0, 0, 0]";
    expect_good(with(contract, old, "attitude: {abc_deg: [90, 0, 0]}")); /* about z: x goes to y */
    ff_vec3 x = ff_quat_rotate(s.satellite[0].start.attitude, ff_vec3_make(1, 0, 0));
    assert_true(fabs(x.y - 1.0) < 1e-15 && fabs(x.x) < 1e-15 && fabs(x.z) < 1e-15);
    expect_good(with(contract, old, "attitude: {abc_deg: [0, 90, 0]}")); /* about y: x goes to -z */
    x = ff_quat_rotate(s.satellite[0].start.attitude, ff_vec3_make(1, 0, 0));
    assert_true(fabs(x.z + 1.0) < 1e-15);
    /* A, then B about the turned y: x goes to y by A, and B, now about -x, leaves it there */
    expect_good(with(contract, old, "attitude: {abc_deg: [90, 90, 0]}"));
    const ff_quat abc = s.satellite[0].start.attitude;
    const ff_vec3 z = ff_quat_rotate(abc, ff_vec3_make(0, 0, 1));
    assert_true(fabs(z.y - 1.0) < 1e-15); /* z goes to x by B, which A has taken to y */
    expect_good(with(contract, old, "attitude: {rpy: [0, 1.5707963267948966, 1.5707963267948966]}"));
    assert_true(ff_quat_angle(abc, s.satellite[0].start.attitude) < 1e-15);
    expect_good(with(contract, old, "attitude: {rpy: [1.5707963267948966, 0, 0]}")); /* roll: y goes to z */
    const ff_vec3 y = ff_quat_rotate(s.satellite[0].start.attitude, ff_vec3_make(0, 1, 0));
    assert_true(fabs(y.z - 1.0) < 1e-15);
    expect_good(with(contract, old, "attitude: {quaternion: [0.6, 0, 0.8, 0]}"));
    assert_near(s.satellite[0].start.attitude.y, 0.8, 1e-16);
}

static void test_words_stand_in_the_order_of_their_enums(void **state) {
    (void)state;
    set_good(minimal, "method=ideal");
    assert_null(s.method);
    for (int m = 0; ff_method_at(m); m++) {
        char set[64];
        snprintf(set, sizeof set, "method=%s", ff_method_at(m)->name);
        set_good(minimal, set);
        assert_ptr_equal(s.method, ff_method_at(m));
    }
    for (int i = 0; i <= FF_SCHEME_SPLITTING; i++) {
        char set[64];
        snprintf(set, sizeof set, "integrator=%s", ff_scheme_name((ff_scheme)i));
        set_good(minimal, set);
        assert_int_equal(s.integrate.scheme, i);
    }
    static const char *const sensor[] = {"ideal", "noisy", "ati-rdt"};
    static const char *const robot[] = {"ideal",  "delay",  "lag, frequency: 1", "limited", "joints",
                                        "wrench", "mujoco", "kuka-rsi",          "ur-rtde"};
    static const char *const load[] = {"pulse", "halfsine", "sin2"};
    for (int i = 0; i < 8; i++) {
        char set[128];
        snprintf(set, sizeof set, "satellites.b.robot={kind: %s}", robot[i]);
        set_good(minimal, set);
        assert_int_equal(s.satellite[0].robot.kind, i);
    }
    for (int i = 0; i < 3; i++) {
        char set[128];
        snprintf(set, sizeof set, "satellites.b.sensor.kind=%s", sensor[i]);
        set_good(minimal, set);
        assert_int_equal(s.satellite[0].sensor.kind, i);
        snprintf(set, sizeof set, "loads=[{kind: %s, from: 0, to: 1, torque: [1, 2, 3]}]", load[i]);
        set_good(minimal, set);
        assert_int_equal(s.load[0].kind, i);
    }
    set_good(minimal, "tdpa={observer: axis, velocity: start, reset: never, law: damper}");
    ff_settings printed;
    ff_settings_default(&ff_method_tdpa, 1, &printed);
    static const char *const same[] = {"observer", "velocity", "reset", "law"};
    for (int i = 0; i < 4; i++)
        assert_near(tdpa(same[i]), ff_settings_get(&ff_method_tdpa, &printed, same[i]), 0);
    assert_near(tdpa("reading"), 0, 0);
    set_good(minimal, "passive.reading=printed");
    assert_true(s.integrate.passive_printed && tdpa("reading") == 0);
}

/* --------------------------------------------------------------------------------------------- --set -- */

static void test_set_changes_values(void **state) {
    (void)state;
    set_good(contract, "contacts.front.damping=3");
    assert_true(s.contact[0].damping == 3 && s.contact[0].satellite_damping == 3);
    set_good(contract, "contacts.0.damping=4");
    assert_true(s.contact[0].damping == 4);
    set_good(contract, "satellites.client.velocity.1=1e4");
    assert_vec3_near(s.satellite[0].start.velocity, ff_vec3_make(0.01, 1e4, 0.02), 0.0);
    set_good(contract, "satellites.client.robot={kind: delay, delay: 0.04}");
    set_good(contract, "satellites.client.robot.delay=0.01");
    assert_true(s.satellite[0].robot.delay == 0.01);
    set_good(minimal, "satellites.b.robot={kind: lag, frequency: 3}");
    assert_true(s.satellite[0].robot.frequency == 3);
    set_good(minimal, "tdpa.reading=printed");
    assert_near(tdpa("reading"), 1, 0);
    set_good(minimal, "contacts.0={kind: wall, at: [0, 0, 0], normal: [1, 0, 0], stiffness: 1}");
    assert_int_equal(s.contacts, 1);
    set_good(contract, "contacts.1={kind: wall, at: [0, 0, 0], normal: [1, 0, 0], stiffness: 1}");
    assert_int_equal(s.contacts, 2);
    assert_string_equal(s.contact[1].name, "contact2");
    set_good(with(contract, "name: front, ", ""), "contacts.contact1.damping=9");
    assert_true(s.contact[0].damping == 9);
    set_good(contract, "name=a = b");
    assert_string_equal(s.name, "a = b");

    const char *const several[] = {"satellites.b.robot.kind=delay", "satellites.b.robot.delay=0.5",
                                   "satellites.b.mass=1", "satellites.b.mass=3"};
    assert_int_equal(parse_sets(minimal, several, 4, "direct"), FF_OK);
    assert_true(s.satellite[0].robot.delay == 0.5 && s.satellite[0].rigid.mass == 3);
    assert_ptr_equal(s.method, &ff_method_direct);
}

static void test_set_errors_name_the_set(void **state) {
    (void)state;
    set_bad(contract, "contacts.frnt.damping=3",
            "no item 'frnt' in contacts (did you mean 'front'?), allowed: front, or an index from 0 to 1");
    set_bad(contract, "contacts.2.damping=3",
            "no item '2' in contacts, allowed: front, or an index from 0 to 1");
    set_bad(contract, "time.cycle.x=3", "'cycle' is a plain value and has no 'x', allowed: a path to a key");
    set_bad(contract, "damping", "no value, allowed: path=value, e.g. contacts.front.damping=3");
    set_bad(contract, "=3", "no path, allowed: path=value, e.g. contacts.front.damping=3");
    set_bad(contract, "time..cycle=3", "an empty name in the path, allowed: names separated by single dots");
    set_bad(contract, "time.cycle=", "no value, allowed: path=value, e.g. contacts.front.damping=3");
    set_bad(contract, "time.cycle=[1",
            "not valid YAML: did not find expected ',' or ']' (while parsing a flow sequence)");
    set_bad(contract, "time.cicle=3",
            "unknown key 'cicle' in time (did you mean 'cycle'?), allowed: cycle, duration, seed");
    set_bad(contract, "satellites.client.mass=1000kg",
            "mass must be a number, not '1000kg', allowed: a finite number > 0 [kg]");
    set_bad(contract, "satellites.client.mass=-1", "mass is -1, allowed: > 0 [kg]");
    set_bad(minimal, "satellites.b.robot.delay=0.01",
            "key 'delay' does not belong to robot kind 'ideal', allowed: kind, pose_noise, velocity_noise, "
            "base, tool, rail");
    set_bad(
        minimal, "satellites.c.mass=1",
        "satellites.c lacks the key 'inertia', allowed: [xx, yy, zz] or [xx, yy, zz, xy, xz, yz] [kg m2]");
    set_bad(minimal, "method=impakt",
            "unknown method 'impakt' (did you mean 'impact'?), allowed: ideal, direct, tdpa, damping, "
            "impact, fused");
    assert_int_equal(parse_sets(minimal, NULL, 0, "dirct"), FF_ERR_FORMAT);
    assert_string_equal(message,
                        "--method dirct: unknown method 'dirct' (did you mean 'direct'?), allowed: ideal, "
                        "direct, tdpa, damping, impact, fused");
    const char *lines = "name=\"a\nb\"\n";
    assert_int_equal(parse_sets(minimal, &lines, 1, NULL), FF_OK); /* YAML folds the break to a space */
    lines = "na\nme=1";
    assert_int_equal(parse_sets(minimal, &lines, 1, NULL), FF_ERR_FORMAT);
    assert_null(strchr(message, '\n'));
}

/* ------------------------------------------------------------------------------------------ bad input -- */

static void test_numbers_are_strict(void **state) {
    (void)state;
    static const char *const refused[] = {"1000kg", "nan",  ".nan",     "inf",   ".inf",  "-.inf", "0x10",
                                          "1e",     "e5",   "1e5.0",    "1 000", "1_000", "--1",   "+",
                                          ".",      "true", "abc",      "1.2.3", "~",     "null",  "'280'",
                                          "\"1\"",  "1e+",  "infinity", "1d3",   "0b1",   "1,5"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char value[64];
        snprintf(value, sizeof value, "mass: %s\n", refused[i]);
        assert_int_equal(parse(with(contract, "mass: 280\n", value)), FF_ERR_FORMAT);
        if (strncmp(message, "F:8:11: mass must be a number, not ", 35) != 0)
            fail_msg("%s: %s", refused[i], message);
        assert_non_null(strstr(message, ", allowed: a finite number > 0 [kg]"));
    }
    static const struct {
        const char *text;
        double value;
    } taken[] = {{"1e4", 1e4},  {"+5", 5},    {"5.", 5},         {".5", 0.5},
                 {"1E+2", 100}, {"0012", 12}, {"2.5e-3", 2.5e-3}};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        char value[64];
        snprintf(value, sizeof value, "mass: %s\n", taken[i].text);
        expect_good(with(contract, "mass: 280\n", value));
        assert_true(s.satellite[0].rigid.mass == taken[i].value);
    }
    expect_bad(with(contract, "mass: 280", "mass: 1000kg"),
               "F:8:11: mass must be a number, not '1000kg', allowed: a finite number > 0 [kg]");
    expect_bad(with(contract, "mass: 280", "mass: 1e999"),
               "F:8:11: mass is 1e999, allowed: a number of size 1e-30 to 1e30");
    expect_bad(with(contract, "mass: 280", "mass: 1e-999"),
               "F:8:11: mass is 1e-999, allowed: a number of size 1e-30 to 1e30");
    expect_bad(with(contract, "mass: 280", "mass: 1.01e30"),
               "F:8:11: mass is 1.01e30, allowed: a number of size 1e-30 to 1e30");
    expect_bad(with(contract, "mass: 280", "mass: 9.9e-31"),
               "F:8:11: mass is 9.9e-31, allowed: a number of size 1e-30 to 1e30");
    expect_bad(with(contract, "mass: 280", "mass:"),
               "F:8:10: mass must be a number, not empty, allowed: a finite number > 0 [kg]");
    expect_bad(with(contract, "mass: 280", "mass: [1]"),
               "F:8:11: mass must be a number, not a list, allowed: a finite number > 0 [kg]");
    /* in a flow map a comma ends the value: 0,004 becomes 0 and a key without value */
    assert_int_equal(parse(with(contract, "cycle: 0.004", "cycle: 0,004")), FF_ERR_FORMAT);
    assert_string_equal(message, "F:2:17: unknown key '004' in time, allowed: cycle, duration, seed");
    expect_bad(
        with(contract, "time: {cycle: 0.004, duration: 30, seed: 1}", "time:\n  cycle: 0,004\n  duration: 3"),
        "F:3:10: cycle must be a number, not '0,004', allowed: a finite number > 0 [s]");
    static const char *const whole[] = {"1.0", "-1", "1e3", "18446744073709551616", "x", "[1]", "'1'", ""};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        char value[64];
        snprintf(value, sizeof value, "seed: %s}", whole[i]);
        assert_int_equal(parse(with(contract, "seed: 1}", value)), FF_ERR_FORMAT);
        assert_non_null(strstr(message, "seed must be a whole number, not "));
    }
    expect_good(with(contract, "seed: 1}", "seed: 18446744073709551615}"));
    assert_true(s.seed == UINT64_MAX);
}

static void test_keys_are_strict(void **state) {
    (void)state;
    char top[512] = "F:3:1: unknown key 'metod' in the scenario (did you mean 'method'?), allowed: ";
    for (int i = 0; i < ff_schema_top()->keys; i++) {
        strncat(top, i ? ", " : "", sizeof top - strlen(top) - 1);
        strncat(top, ff_schema_top()->key[i].key, sizeof top - strlen(top) - 1);
    }
    expect_bad(with(contract, "method:", "metod:"), top);
    expect_bad(with(contract, "    mass: 280\n", "    mass: 280\n    mass: 281\n"),
               "F:9:5: duplicate key 'mass', it stands already in line 8 column 5");
    expect_bad(with(contract, "    mass: 280\n", ""),
               "F:8:5: satellites.client lacks the key 'mass', allowed: number [kg]");
    expect_bad(with(contract, "name: deos-client\n", ""),
               "F:1:1: the scenario lacks the key 'name', allowed: text");
    expect_bad("name: x\ntime: {cycle: 1, duration: 1}\n",
               "F:1:1: the scenario lacks the key 'satellites', allowed: map");
    expect_bad(with(contract, "time: {cycle: 0.004, ", "time: {"),
               "F:2:7: time lacks the key 'cycle', allowed: number [s]");
    expect_bad(with(contract, "{kind: delay, delay: 0.040}", "{kind: delay, frequency: 8}"),
               "F:15:26: key 'frequency' does not belong to robot kind 'delay', allowed: kind, delay, "
               "jitter, lost, pose_noise, velocity_noise, base, "
               "tool, rail");
    expect_bad(with(contract, "{kind: delay, delay: 0.040}", "{kind: lag}"),
               "F:15:12: satellites.client.robot lacks the key 'frequency', allowed: number [Hz]");
    expect_bad(with(contract, "{kind: delay, delay: 0.040}", "{kind: delayed}"),
               "F:15:19: unknown kind 'delayed' (did you mean 'delay'?), allowed: ideal, delay, lag, "
               "limited, joints, "
               "wrench, mujoco, kuka-rsi, ur-rtde, ros2");
    expect_bad(with(contract, "{kind: delay, delay: 0.040}", "delay"),
               "F:15:12: satellites.client.robot must be a map, not a plain value, allowed: keys with "
               "values, or {}");
    expect_bad(
        with(contract, "sensor: {kind: ideal}", "sensor: {force_noise: 1}"),
        "F:16:14: key 'force_noise' does not belong to sensor kind 'ideal', allowed: kind, mount, pose");
    expect_bad(with(contract, "kind: wall", "kind: wall, half_angle: 1"),
               "F:18:31: key 'half_angle' does not belong to contact kind 'wall', allowed: name, kind, body, "
               "point, at, "
               "normal, source, stiffness, damping, satellite, damping_depth, friction");
    expect_bad(
        with(contract, "method: tdpa", "method: {a: 1}"),
        "F:3:9: method must be a word, not a map, allowed: ideal, direct, tdpa, damping, impact, fused");
    expect_bad(with(contract, "integrator: lie-midpoint", "integrator: rk4"),
               "F:4:13: unknown integrator 'rk4', allowed: lie-midpoint, euler, passive, splitting");
    expect_bad(with(contract, "frame: absolute", "frame: relative\nnominal: {kind: free, twist: [1]}"),
               "F:6:23: key 'twist' does not belong to nominal motion kind 'free', allowed: kind");
    expect_bad(
        with(contract, "frame: absolute",
             "frame: relative\nnominal: {kind: satellite, of: client}\nrelative: {form: integrated}"),
        "F:7:18: form 'integrated' does not go with nominal kind 'satellite', allowed: free, prescribed");
    expect_bad(with(contract, "loads:\n  - {body: client, kind: pulse, force: [6, 0, 0], from: 5, to: 10}",
                    "loads:"),
               "F:19:7: loads must be a list, not empty, allowed: - {...} items, or []");
    expect_bad("- a\n- b\n",
               "F:1:1: the scenario must be a map, not a list, allowed: keys with values, or {}");
    expect_bad("just text\n",
               "F:1:1: the scenario must be a map, not a plain value, allowed: keys with values, or {}");
    expect_bad(with(contract, "name: deos-client", "name: \"\\t\""),
               "F:1:7: name is '?', allowed: 1 to 127 bytes of printable text");
    expect_bad(with(contract, "name: deos-client", "name: \"\""),
               "F:1:7: name is '', allowed: 1 to 127 bytes of printable text");
    expect_bad(with(contract, "  client:\n", "  a.b:\n"),
               "F:7:3: satellite 'a.b' is not a valid name, allowed: 1 to 127 bytes, not only digits, none "
               "of . / , = "
               ": \" \\");
    assert_int_equal(parse(with(contract, "method: tdpa", "method: magic")), FF_ERR_FORMAT);
    assert_string_equal(
        message, "F:3:9: unknown method 'magic', allowed: ideal, direct, tdpa, damping, impact, fused");
}

static void test_values_must_be_physical(void **state) {
    (void)state;
    expect_bad(with(contract, "mass: 280", "mass: 0"), "F:8:11: mass is 0, allowed: > 0 [kg]");
    expect_bad(with(contract, "mass: 280", "mass: -280"), "F:8:11: mass is -280, allowed: > 0 [kg]");
    expect_bad(with(contract, "[18, 20, 22]", "[1, 1, 3]"),
               "F:9:14: inertia violates the triangle inequality: principal moments 1, 1, 3, allowed: all > "
               "0 and none "
               "above the sum of the other two [kg m2]");
    expect_bad(with(contract, "[18, 20, 22]", "[1, 1, -1]"),
               "F:9:14: inertia is not positive definite: principal moments -1, 1, 1, allowed: all > 0 and "
               "none above the "
               "sum of the other two [kg m2]");
    expect_bad(with(contract, "[18, 20, 22]", "[18, 20]"),
               "F:9:14: inertia has 2 values, allowed: [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]");
    expect_bad(with(contract, "position: [0, 0, 0]", "position: 0"),
               "F:10:15: position must be a list, not a plain value, allowed: [x, y, z]");
    expect_bad(with(contract, "attitude: [1, 0, 0, 0]", "attitude: [0, 0, 0, 0]"),
               "F:11:15: attitude is the zero quaternion, allowed: unit length, scalar first");
    expect_bad(with(contract, "normal: [0, 0, -1]", "normal: [0, 0, 0]"),
               "F:18:83: normal is zero, allowed: a direction of any other length");
    expect_bad(with(contract, "cycle: 0.004", "cycle: 0"), "F:2:15: cycle is 0, allowed: > 0 [s]");
    expect_bad(with(contract, "cycle: 0.004", "cycle: -0.004"), "F:2:15: cycle is -0.004, allowed: > 0 [s]");
    expect_bad(with(contract, "duration: 30", "duration: 0.001"),
               "F:2:32: duration is 0.001, allowed: at least one cycle, 0.004 [s]");
    expect_bad(with(contract, "duration: 30", "duration: 4000004"),
               "F:2:32: duration is 4000004, 1e+09 cycles, allowed: at most 1e9 cycles");
    expect_good(with(contract, "duration: 30", "duration: 4e6"));
    assert_int_equal(s.cycles, 1000000000);
    expect_bad(with(contract, "delay: 0.040", "delay: -1"), "F:15:33: delay is -1, allowed: >= 0 [s]");
    expect_bad(with(contract, "stiffness: 2000", "stiffness: 0"),
               "F:18:106: stiffness is 0, allowed: > 0 [N/m]");
    expect_bad(with(contract, "stiffness: 2000", "stiffness: -2000"),
               "F:18:106: stiffness is -2000, allowed: > 0 [N/m]");
    expect_bad(with(contract, "stiffness: 2000", "stiffness: 2000, satellite: {stiffness: -1}"),
               "F:18:135: stiffness is -1, allowed: > 0 [N/m]");
    expect_bad(with(contract, "stiffness: 2000", "stiffness: [1, 0]"),
               "F:18:110: stiffness is 0, allowed: > 0 [N/m]");
    expect_bad(with(contract, "stiffness: 2000, ", ""),
               "F:18:5: contact 1 lacks the key 'stiffness', allowed: > 0 [N/m]");
    expect_bad(with(contract, "damping: 5", "damping: -5"), "F:18:121: damping is -5, allowed: >= 0 [N s/m]");
    expect_bad(with(contract, "body: client, point", "body: clint, point"),
               "F:18:37: body: no satellite is named 'clint' (did you mean 'client'?), allowed: client");
    expect_bad(
        with(contract, "point: com", "point: tap"),
        "F:18:52: satellite client has no point 'tap' (did you mean 'tip'?), allowed: com, tip, [x, y, z]");
    expect_bad(with(contract, "to: 10", "to: 5"), "F:20:64: to is 5, allowed: after from = 5 [s]");
    expect_bad(with(contract, "force: [6, 0, 0], ", ""),
               "F:20:5: load 1 is empty, allowed: force [N], torque [N m] or both");
    expect_bad(with(contract, "{tip:", "{com:"),
               "F:14:14: the point 'com' always exists, allowed: another name");
    char text[2048];
    snprintf(text, sizeof text, "%s%s", two,
             "contacts:\n  - {kind: cone, body: client, against: client, apex: [0, 0, 0], axis: [1, 0, 0], "
             "half_angle: "
             "1, stiffness: 1}\n");
    expect_bad(text, "F:7:41: against names the body itself, allowed: another satellite");
    expect_bad(with(text, "against: client", "against: servicr"),
               "F:7:41: against: no satellite is named 'servicr' (did you mean 'servicer'?), allowed: "
               "servicer, client");
    expect_bad(with(text, "half_angle: 1", "half_angle: 1.6"),
               "F:7:95: half_angle is 1.6, allowed: > 0 and < pi/2 [rad]");
    expect_bad(with(text, "half_angle: 1", "half_angle: 0"),
               "F:7:95: half_angle is 0, allowed: > 0 and < pi/2 [rad]");
    expect_bad(with(text, "half_angle: 1", "half_angle: -0.5"),
               "F:7:95: half_angle is -0.5, allowed: > 0 and < pi/2 [rad]");
    expect_bad(with(text, "half_angle: 1, stiffness: 1", "half_angle: 1, stiffness: 0"),
               "F:7:109: stiffness is 0, allowed: > 0 [N/m]");
    expect_bad(with(text, "axis: [1, 0, 0]", "axis: [0, 0, 0]"),
               "F:7:72: axis is zero, allowed: a direction of any other length");
    expect_bad(with(text, "body: client, ", ""),
               "F:7:5: contact 1 lacks the key 'body', allowed: servicer, client");
    snprintf(text, sizeof text, "%s%s", minimal,
             "contacts:\n"
             "  - {name: a, kind: wall, at: [0, 0, 0], normal: [1, 0, 0], stiffness: 1}\n"
             "  - {name: a, kind: wall, at: [0, 0, 0], normal: [1, 0, 0], stiffness: 1}\n");
    expect_bad(text, "F:6:12: contact 1 is also named 'a', allowed: names of their own");
    snprintf(text, sizeof text, "%s%s", minimal, "contacts: [{kind: stops, stiffness: 1}]\n");
    expect_bad(text, "F:4:12: contact 1 has no stop, allowed: position [m], rotation [rad] or both");
    snprintf(text, sizeof text, "%s%s", minimal, "contacts: [{kind: stops, rotation: [1, free, free]}]\n");
    expect_bad(text, "F:4:12: contact 1 lacks the key 'rotation_stiffness', allowed: > 0 [N m/rad]");
    expect_bad("name: a\ntime: {cycle: 1, duration: 1}\nsatellites: {}\n",
               "F:3:13: 0 satellites, allowed: 1 to 4");
}

static void test_yaml_is_bounded(void **state) {
    (void)state;
    expect_bad("", "F:1:1: the file is empty, allowed: a scenario with name, time and satellites");
    expect_bad("# only a comment\n",
               "F:1:1: the file is empty, allowed: a scenario with name, time and satellites");
    expect_bad("name: a\n---\nname: b\n", "F:2:1: a second document, allowed: one per file");
    expect_bad("name: &x a\n", "F:1:7: an anchor '&x', allowed: values written out");
    expect_bad("name: *x\n", "F:1:7: an alias '*x', allowed: values written out");
    expect_bad("name: !!str a\n", "F:1:7: a tag 'tag:yaml.org,2002:str', allowed: plain values");
    expect_bad("[1, 2]: a\n", "F:1:1: a list as a key, allowed: a word");
    expect_bad("{a: 1}: a\n", "F:1:1: a map as a key, allowed: a word");
    expect_bad("name: \"a\\0b\"\n", "F:1:7: a zero byte inside a text, allowed: printable characters");
    expect_bad("name: a\nfoo: \x01\n", "F:2:6: a control character (0x01), allowed: a YAML text file");
    expect_bad("name: a\nf\xc3\xb6o: \xff\n",
               "F:2:6: the text is not UTF-8 (byte 0xff), allowed: a YAML text file");
    expect_bad("name: \xc0\x80\n", "F:1:7: the text is not UTF-8 (byte 0xc0), allowed: a YAML text file");
    expect_bad("name: \xed\xa0\x80\n", "F:1:7: the text is not UTF-8 (byte 0xed), allowed: a YAML text file");
    expect_bad("name: \xe2\x82", "F:1:7: the text is not UTF-8 (byte 0xe2), allowed: a YAML text file");
    expect_bad("time: {cycle: 0.004, duration",
               "F:1:30: not valid YAML: did not find expected ',' or '}' (while parsing a flow mapping)");
    expect_bad("name: 'a\n",
               "F:2:1: not valid YAML: found unexpected end of stream (while scanning a quoted scalar)");
    expect_bad("a:\n\tb: 1\n",
               "F:2:1: not valid YAML: found character that cannot start any token (while scanning for "
               "the next token)");
    assert_int_equal(ff_scenario_parse("F", "name: a\0b", 9, NULL, &s, message, sizeof message, NULL, 0),
                     FF_ERR_FORMAT);
    assert_string_equal(message, "F:1:8: a control character (0x00), allowed: a YAML text file");

    static char deep[200001];
    memset(deep, '[', 100000);
    memset(deep + 100000, ']', 100000);
    expect_bad(deep, "F:1:33: nested more than 32 levels deep, allowed: fewer");
    char *large = malloc(200000);
    assert_non_null(large);
    strcpy(large, "a: [");
    for (size_t i = 0; i < 50000; i++)
        memcpy(large + 4 + 2 * i, "1,", 3);
    expect_bad(large, "F:1:20001: more than 10000 values, allowed: fewer");
    free(large);
    const char laughs[] = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
    expect_bad(laughs, "F:1:4: an anchor '&a', allowed: values written out");
    expect_good("\xef\xbb\xbfname: a\r\ntime: {cycle: 0.004, duration: 1}\r\nsatellites: {b: {mass: 2, "
                "inertia: [1, 1, "
                "1]}}\r\n");
    expect_good(
        "{\"name\": \"a\", \"time\": {\"cycle\": 1, \"duration\": 1}, \"satellites\": {\"b\": {\"mass\": 2, "
        "\"inertia\": [1, 1, 1]}}}");
}

static void expect_load(const char *path, ff_status status, const char *expected) {
    char line[1200];
    assert_int_equal(ff_scenario_load(path, NULL, &s, message, sizeof message, warnings, sizeof warnings),
                     status);
    snprintf(line, sizeof line, "%s%s", path, expected);
    assert_string_equal(message, line);
}

static void test_files_that_are_none(void **state) {
    (void)state;
    char folder[] = "/tmp/ff_scenario_XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    expect_load(folder, FF_ERR_IO, ":1:1: this is a folder, allowed: a YAML file");
    snprintf(path, sizeof path, "%s/file", folder);
    expect_load(path, FF_ERR_IO, ":1:1: the file cannot be read: No such file or directory");
    int file = open(path, O_CREAT | O_RDWR, 0600);
    assert_true(file >= 0);
    expect_load(path, FF_ERR_FORMAT,
                ":1:1: the file is empty, allowed: a scenario with name, time and satellites");
    assert_int_equal(ftruncate(file, 100000000), 0); /* sparse: refused by its size, never read */
    expect_load(path, FF_ERR_FORMAT, ":1:1: the file has 100000000 bytes, allowed: at most 16 MB");
    assert_int_equal(ftruncate(file, 4), 0);
    expect_load(path, FF_ERR_FORMAT, ":1:1: a control character (0x00), allowed: a YAML text file");
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(write(file, contract, sizeof contract - 1), sizeof contract - 1);
    assert_int_equal(ff_scenario_load(path, NULL, &s, message, sizeof message, warnings, sizeof warnings),
                     FF_OK);
    close(file);
    unlink(path);
    rmdir(folder);
    expect_load("/dev/zero", FF_ERR_FORMAT, ":1:1: the file has 16777217 bytes, allowed: at most 16 MB");
}

/* Broken files of every sort: a status, one line, never a crash (the sanitizers watch). */
static void test_random_damage_never_crashes(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    static const char pool[] = "{}[]:,-&*!|>'\"%@`#\n\t .0123456789eEaxy~?\\\x80\xff";
    const int count = test_count(4000, 200000);
    for (int n = 0; n < count; n++) {
        char text[2048];
        size_t length = sizeof contract - 1;
        memcpy(text, contract, length);
        if (n % 3 == 0)
            length = (size_t)ff_rng_range(&rng, 0.0, (double)length);
        for (int k = (int)ff_rng_range(&rng, 0.0, 6.0); k > 0 && length > 1; k--) {
            const size_t at = (size_t)ff_rng_range(&rng, 0.0, (double)length);
            const size_t from = (size_t)ff_rng_range(&rng, 0.0, (double)length);
            const char c = pool[(size_t)ff_rng_range(&rng, 0.0, (double)(sizeof pool - 1))];
            switch ((int)ff_rng_range(&rng, 0.0, 3.0)) {
            case 0:
                text[at] = c;
                break;
            case 1: /* a piece moves over another */
                memmove(text + at, text + from, (length - (at > from ? at : from)) / 2);
                break;
            default: /* a piece is cut out */
                memmove(text + at, text + at + (length - at) / 8, length - at - (length - at) / 8);
                length -= (length - at) / 8;
            }
        }
        char *exact = malloc(length + 1); /* so that a read beyond the end is seen */
        assert_non_null(exact);
        memcpy(exact, text, length);
        const ff_status status = ff_scenario_parse("F", exact, length, NULL, &s, message, sizeof message,
                                                   warnings, sizeof warnings);
        free(exact);
        assert_true(status == FF_OK || status == FF_ERR_FORMAT);
        assert_null(strchr(message, '\n'));
        if (status == FF_OK) {
            ff_loop_config loop;
            ff_scenario_loop(&s, &loop);
            assert_true(s.cycles >= 1 && ff_rigid_validate(&s.satellite[0].rigid) == FF_OK);
        } else {
            int line = 0, column = 0, end = 0;
            assert_int_equal(sscanf(message, "F:%d:%d: %n", &line, &column, &end), 2);
            assert_true(line >= 1 && column >= 1 && end > 0 && message[end]);
        }
    }
}

static void test_small_buffers(void **state) {
    (void)state;
    for (size_t size = 0; size < 80; size++) {
        char *m = malloc(size + 1), *w = malloc(size + 1);
        assert_true(m && w);
        ff_scenario_parse("FILE", "name: [", 7, NULL, &s, m, size, w, size);
        const char *text = with(contract, "attitude: [1, 0, 0, 0]", "attitude: [2, 0, 0, 0]");
        ff_scenario_parse("FILE", text, strlen(text), NULL, &s, m, size, w, size);
        free(m);
        free(w);
    }
    assert_int_equal(ff_scenario_parse("F", "", 0, NULL, &s, NULL, 0, NULL, 0), FF_ERR_FORMAT);
}

/* ------------------------------------------------------------------------------------- loads and loop -- */

static void test_load_at(void **state) {
    (void)state;
    ff_load load = {.force = {{6, 0, 0}}, .torque = {{0, 2, 0}}, .from = 5, .to = 10};
    assert_true(ff_load_at(&load, 4.999).force.x == 0 && ff_load_at(&load, 5).force.x == 6 &&
                ff_load_at(&load, 9.999).torque.y == 2 && ff_load_at(&load, 10).force.x == 0);
    load.kind = FF_LOAD_HALFSINE;
    assert_near(ff_load_at(&load, 7.5).force.x, 6.0, 1e-15);
    assert_near(ff_load_at(&load, 6.0).force.x, 6.0 * 0.58778525229247313, 1e-14);
    load.kind = FF_LOAD_SIN2;
    assert_near(ff_load_at(&load, 6.0).torque.y, 2.0 * 0.34549150281252629, 1e-14);
    assert_true(ff_load_at(&load, 5.0).force.x == 0.0);
    s.loads = 3;
    s.load[0] = s.load[1] = s.load[2] = load;
    s.load[1].body = 1;
    assert_near(ff_scenario_load_at(&s, 0, 7.5).force.x, 12.0, 1e-14);
    assert_near(ff_scenario_load_at(&s, 1, 7.5).force.x, 6.0, 1e-14);
}

static void test_loop_configuration(void **state) {
    (void)state;
    ff_loop_config loop;
    TEST_LOOP_MODEL(model);
    expect_good(with(
        two, "client: {mass: 2, inertia: [1, 1, 1]}",
        "client:\n"
        "    mass: 2\n"
        "    inertia: [1, 1, 1]\n"
        "    robot: {tool: {position: [0, 0, 0.5], attitude: [0.7071067811865476, 0, 0, "
        "0.7071067811865476]}}\n"
        "    sensor: {kind: noisy, pose: {position: [0.1, 0, 0.2]}, force_noise: 0.1, torque_noise: 0.02, "
        "bias: [1, 1, 1, 1, 1, 1], range: [100, 10]}\n"
        "    mockup: {mass: 3, com: [0, 0, 1]}\n"
        "    limits: {velocity: 4}\n"
        "facility: {gravity: [0, 0, -9.81]}\n"));
    ff_scenario_loop(&s, &loop);
    assert_int_equal(test_loop_create(&loop, model, message, sizeof message), FF_OK);
    assert_int_equal(loop.bodies, 2);
    const ff_wrench_config *wrench = &loop.body[1].wrench;
    /* the CoM lies 0.5 above the flange and is turned by +90 degrees about z: the sensor at (0.1, 0, 0.2) of
     * the flange lies at (0, -0.1, -0.3) of the body */
    assert_vec3_near(wrench->T_bs.p, ff_vec3_make(0, -0.1, -0.3), 1e-15);
    assert_near(wrench->T_bs.q.z, -sqrt(0.5), 1e-15);
    assert_true(wrench->force_limit == 100 && wrench->torque_limit == 10 && wrench->mockup_mass == 3 &&
                wrench->mockup_com_b.z == 1 && wrench->gravity_w.z == -9.81 && wrench->bias_s.f.x == 0);
    ff_output_config output[2]; /* `limits` are the output stage's */
    for (int i = 0; i < 2; i++)
        ff_scenario_watched_output(&s, i, &output[i]);
    assert_true(output[1].velocity == 4 && output[1].cycle == 0.004 && isinf(output[1].acceleration) &&
                isinf(output[0].velocity));
    assert_true(ff_scenario_bounded(&s) && !ff_scenario_watched(&s));
    assert_near(model->stage.detector.force_on, 0.5, 1e-15);
    assert_near(model->stage.detector.torque_on, 0.1, 1e-15);

    set_good(minimal, "satellites.b.sensor={mount: environment, pose: {position: [1, 2, 3]}}");
    ff_scenario_loop(&s, &loop);
    assert_true(loop.body[0].wrench.environment && loop.world.force_noise == 0.0);
    assert_vec3_near(loop.body[0].wrench.T_ws.p, ff_vec3_make(1, 2, 3), 0.0);
    assert_vec3_near(loop.body[0].wrench.T_bs.p, ff_vec3_zero(), 0.0);
}

/* ----------------------------------------------------------------------- documentation and the examples --
 */

static char *slurp(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    const size_t n = fread(text, 1, (1 << 20) - 1, file);
    text[n] = 0;
    fclose(file);
    return text;
}

/* FF_UPDATE=1 writes docs/scenario.md anew. */
static void test_reference_is_the_committed_one(void **state) {
    (void)state;
    const char *committed = FF_SOURCE_DIR "/docs/scenario.md";
    if (getenv("FF_UPDATE"))
        assert_int_equal(ff_scenario_write_reference(committed), FF_OK);
    char path[] = "/tmp/ff_reference_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(ff_scenario_write_reference(path), FF_OK);
    char *now = slurp(path), *then = slurp(committed);
    unlink(path);
    if (strcmp(now, then) != 0)
        fail_msg("docs/scenario.md is not what the schema says; FF_UPDATE=1 and this test write it anew");
    char *example = strstr(then, "```yaml\n");
    assert_non_null(example);
    example += strlen("```yaml\n");
    char *end = strstr(example, "```");
    assert_non_null(end);
    *end = 0;
    expect_good(example);
    free(now);
    free(then);
    assert_int_equal(ff_scenario_write_reference("/nowhere/x"), FF_ERR_IO);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(ff_scenario_write_reference("/dev/full"), FF_ERR_IO);
}

static int scenarios_seen;

static int load_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info;
    (void)walk;
    const size_t length = strlen(path);
    if (type != FTW_F || length < 5 || strcmp(path + length - 5, ".yaml") != 0)
        return 0;
    scenarios_seen++;
    if (ff_scenario_load(path, NULL, &s, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    if (warnings[0])
        fail_msg("%s", warnings);
    return 0;
}

static void test_every_scenario_of_the_repository_is_read(void **state) {
    (void)state;
    assert_int_equal(nftw(FF_SOURCE_DIR "/scenarios", load_one, 8, FTW_PHYS), 0);
    assert_true(scenarios_seen >= 3);
}

static void check_section(const char *text, const ff_section *section) {
    for (int i = 0; i < section->keys; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s:", section->key[i].key);
        if (!strstr(text, key))
            fail_msg("scenarios/template.yaml does not show %s of %s", key, section->path);
        if (section->key[i].section)
            check_section(text, section->key[i].section);
    }
}

/* Settings of impact: what it cannot do, and what is seldom meant. */
static void test_impact_settings(void **unused) {
    (void)unused;
    const char *const good[] = {"method=impact",
                                "impact={stiffness: identified, guess: 1500, restitution: 0.8}"};
    assert_int_equal(parse_sets(contract, good, 2, NULL), FF_OK);
    const ff_settings *impact = ff_scenario_setting(&s, &ff_method_impact);
    assert_true(ff_settings_get(&ff_method_impact, impact, "stiffness") == FF_INF);
    static ff_loop_config loop;
    ff_scenario_loop(&s, &loop);
    assert_near(ff_settings_get(&ff_method_impact, &loop.setting, "guess"), 1500, 0);
    assert_near(ff_settings_get(&ff_method_impact, &loop.setting, "restitution"), 0.8, 0);
    assert_near(loop.world.body[0].delay, 0.040, 0);
    assert_int_equal(loop.world.contacts, 1);
    set_bad(contract, "impact.restitution=0.2", "restitution is 0.2, allowed: 0.3 to 1");
    set_bad(contract, "impact.guess=5",
            "guess belongs to stiffness: identified, allowed: stiffness: identified");
    set_bad(contract, "impact.stiffness=0", "stiffness is 0, allowed: > 0 [N/m]");
    const char *const stops[] = {"method=impact",
                                 "contacts=[{kind: stops, position: [1, 1, 1], stiffness: 5}]"};
    assert_int_equal(parse_sets(contract, stops, 2, NULL), FF_ERR_UNSUPPORTED); /* another method can */
    assert_non_null(strstr(message, "does not know contacts of this kind, allowed: wall, pair, cone"));
    const char *const deep[] = {"contacts.front.at=[0, 0, -0.01]"};
    assert_int_equal(parse_sets(contract, deep, 1, NULL), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "contact front is compressed by 0.01 m at the start, allowed: apart, or "
                                    "allow_penetration: true"));
}

static void expect_warning(const char *text, const char *expected) {
    if (parse(text) != FF_OK)
        fail_msg("%s", message);
    assert_string_equal(warnings, expected);
}

/* A start that the robot's limits do not allow; in `frame: relative` its speed is another one. */
static void test_starts_above_a_limit(void **unused) {
    (void)unused;
    static const char fast[] =
        "name: t\ntime: {cycle: 0.01, duration: 1}\nsatellites:\n"
        "  a: {mass: 2, inertia: [1, 1, 1], velocity: [0.3, 0.4, 0], angular_velocity: [0, 0, -2],\n"
        "      limits: {velocity: 0.49, angular_velocity: 2}}\n";
    expect_warning(fast, "F:4:6: warning: satellite a starts at 0.5 m/s, its robot may move at 0.49 "
                         "(limits.velocity): it lags from the start");
    expect_warning(with(fast, "angular_velocity: 2}", "angular_velocity: 1.5}"),
                   "F:4:6: warning: satellite a starts at 0.5 m/s, its robot may move at 0.49 "
                   "(limits.velocity): it lags from "
                   "the start\nF:4:6: warning: satellite a starts at 2 rad/s, its robot may turn at 1.5 "
                   "(limits.angular_velocity): it lags from the start");
    expect_warning(with(fast, "velocity: 0.49", "velocity: 0.5"), "");
    expect_warning(with(fast, "satellites:", "frame: relative\nsatellites:"), "");
}

/* Geometry that nothing reaches is reported; what may touch after all is not. */
static void test_contacts_that_cannot_touch(void **unused) {
    (void)unused;
#define HEAD "name: t\ntime: {cycle: 0.01, duration: 9.99}\nsatellites:\n"
#define FAR(name, gap)                                                                                     \
    ": warning: contact " name " cannot touch: nothing pushes the satellites, and in 9.99 s they come no " \
    "nearer than " gap " m"
    static const char wall[] =
        HEAD "  a: {mass: 2, inertia: [1, 1, 1], velocity: [-0.1, 0, 0], points: {tip: [0.2, 0, 0]}}\n"
             "contacts:\n"
             "  - {name: w, kind: wall, point: tip, at: [0.5, 0, 0], normal: [-1, 0, 0], stiffness: 1}\n";
    expect_warning(wall, "F:6:5" FAR("w", "0.3"));
    expect_warning(with(wall, "velocity: [-0.1", "velocity: [0.029"), "F:6:5" FAR("w", "0.01"));
    expect_warning(with(wall, "velocity: [-0.1", "velocity: [0.031"), "");
    char text[8192];
    /* a body that turns: anywhere on the sphere of its point */
    expect_warning(with(wall, "points", "angular_velocity: [0, 0, 1], points"), "F:6:5" FAR("w", "0.3"));
    snprintf(text, sizeof text, "%s", with(wall, "points", "angular_velocity: [0, 0, 1], points"));
    expect_warning(with(text, "[0.2, 0, 0]", "[-0.2, 0, 0.5]"), "");
    snprintf(text, sizeof text, "%sloads: [{force: [1, 0, 0], from: 1, to: 2}]\n", wall);
    expect_warning(text, "");
    /* another wall may send it back */
    snprintf(text, sizeof text,
             "%s  - {name: back, kind: wall, at: [-0.5, 0, 0], normal: [1, 0, 0], stiffness: 1}\n", wall);
    expect_warning(text, "");
    expect_warning(with(text, "-0.5, 0, 0]", "-1.5, 0, 0]"),
                   "F:6:5" FAR("w", "0.3") "\nF:7:5" FAR("back", "0.5"));

    static const char pair[] =
        HEAD "  a: {mass: 2, inertia: [1, 1, 1], position: [1, 0, 0], velocity: [0.1, 0, 0]}\n"
             "  b: {mass: 2, inertia: [1, 1, 1], velocity: [0.05, 0, 0]}\n"
             "contacts:\n"
             "  - {name: p, kind: pair, body: a, against: b, at: [0.4, 0, 0], normal: "
             "[1, 0, 0], stiffness: 1}\n";
    expect_warning(pair, "F:7:5" FAR("p", "0.6"));
    expect_warning(with(pair, "velocity: [0.05", "velocity: [0.2"), "");
    expect_warning(with(pair, "velocity: [0.05", "angular_velocity: [0, 0, 1], velocity: [0.05"), "");
    /* a plane behind everything, however it turns: 1.5 m apart at the end */
    snprintf(text, sizeof text, "%s",
             with(pair, "velocity: [0.05", "angular_velocity: [0, 0, 1], velocity: [0.05"));
    expect_warning(with(text, "at: [0.4", "at: [-2"), "F:7:5" FAR("p", "0.5"));
    /* a third body that may be hit moves the others */
    snprintf(text, sizeof text,
             "%s  - {name: q, kind: wall, body: b, at: [0.2, 0, 0], normal: [-1, 0, 0], stiffness: 1}\n",
             pair);
    expect_warning(text, "");

    static const char cone[] =
        HEAD "  a: {mass: 2, inertia: [1, 1, 1], position: [1, 0, 0], velocity: [0.1, 0, 0]}\n"
             "  b: {mass: 2, inertia: [1, 1, 1]}\n"
             "contacts:\n"
             "  - {name: c, kind: cone, body: a, against: b, apex: [0, 0, 0], axis: [1, 0, "
             "0], half_angle: 0.5235987755982988, depth: 0.5, stiffness: 1}\n";
    expect_warning(cone, "F:7:5" FAR("c", "0.5")); /* beyond the mouth, and leaves */
    expect_warning(with(cone, "depth: 0.5, ", ""), "F:7:5" FAR("c", "0.5")); /* in the cavity: 1 sin 30 deg */
    expect_warning(with(cone, "position: [1", "position: [0.4"),
                   "F:7:5" FAR("c", "0.2")); /* out of the mouth */
    expect_warning(with(cone, "velocity: [0.1", "velocity: [-0.2"), "");
    expect_warning(with(cone, "velocity: [0.1, 0", "velocity: [-0.06, 0.06"), "");
#undef HEAD
#undef FAR
}

static void test_template_shows_every_key(void **state) {
    (void)state;
    char *text = slurp(FF_SOURCE_DIR "/scenarios/template.yaml");
    check_section(text, ff_schema_top());
    free(text);
}

/* A small capture: the arm's errors are found before anything moves. */
static const char capture[] =
    "name: c\n"
    "time: {cycle: 0.004, duration: 1}\n"
    "method: direct\n"
    "satellites:\n"
    "  client: {mass: 100, inertia: [10, 10, 10]}\n"
    "  servicer:\n"
    "    mass: 500\n"
    "    inertia: [90, 90, 90]\n"
    "    arm:\n"
    "      links:\n"
    "        - {name: upper, mass: 4, inertia: [1, 1, 1]}\n"
    "        - {name: lower, mass: 3, inertia: [1, 1, 1], pose: {position: [0, 0, 0.5]}}\n"
    "      joints: [0.1, 0.2]\n"
    "    obsw: {goal: {position: [-3, 0, 0]}}\n"
    "contacts:\n"
    "  - {kind: grasp, body: servicer, against: client, at: [1, 0, 0], stiffness: 100, rotation_stiffness: "
    "10}\n";

static void test_arm_is_read_and_checked(void **state) {
    (void)state;
    assert_int_equal(ff_scenario_parse("F", capture, strlen(capture), NULL, &s, message, sizeof message,
                                       warnings, sizeof warnings),
                     FF_OK);
    assert_int_equal(ff_scenario_servicer(&s), 1);
    assert_int_equal(s.satellite[1].arm.joints, 2);
    assert_near(s.satellite[1].arm.q[1], 0.2, 0);
    assert_near(s.satellite[1].obsw.q[1], 0.2, 0);
    assert_near(s.satellite[1].arm.cycle, 0.001, 0);
    assert_int_equal(s.satellite[1].arm.link[1].row.parent, 0);
    expect_bad(with(capture, "{name: upper, mass: 4,", "{name: upper, parent: lower, mass: 4,"),
               "F:11:33: no link 'lower' stands above 'upper', allowed: base, or a link above (closed loops "
               "are not supported)");
    expect_bad(with(capture, "{name: upper, mass: 4,", "{name: upper,"),
               "F:11:11: satellites.servicer.arm lacks the key 'mass', allowed: number [kg]");
    expect_bad(with(capture, "joints: [0.1, 0.2]", "joints: [0.1]"),
               "F:13:15: joints has 1 values, allowed: one for each of the arm's 2 joints");
    expect_status(
        with(capture, "method: direct", "method: impact"), FF_ERR_UNSUPPORTED,
        "F:3:9: method 'impact' computes the contact force itself, but the arm's joints have felt the "
        "measured one (docs/methods/arm.md), allowed: ideal, direct, tdpa, damping, fused");
    const char *watched =
        with(capture, "inertia: [10, 10, 10]}", "inertia: [10, 10, 10], safety: {force: 5}}");
    assert_int_equal(ff_scenario_parse("F", watched, strlen(watched), NULL, &s, message, sizeof message,
                                       warnings, sizeof warnings),
                     FF_OK);
    assert_true(ff_scenario_watched(&s)); /* limits act beside an arm too */
    assert_int_equal(s.nominal_of, 0);
    /* what an arm may touch, and how long it holds */
    static const char grasp[] = "rotation_stiffness: 10}\n";
    assert_true(isinf(s.contact[0].opens));
    const char *more =
        with(capture, grasp,
             "rotation_stiffness: 10, closes: 2, opens: 3}\n"
             "  - {kind: pair, body: servicer, against: client, at: [1, 0, 0], normal: [-1, 0, "
             "0], stiffness: 50}\n");
    assert_int_equal(ff_scenario_parse("F", more, strlen(more), NULL, &s, message, sizeof message, warnings,
                                       sizeof warnings),
                     FF_OK);
    assert_near(s.contact[0].opens, 3, 0);
    assert_string_equal(warnings, ""); /* the tip is the gripper's, not the base's */
    expect_bad(with(capture, grasp, "rotation_stiffness: 10, closes: 2, opens: 2}\n"),
               "F:16:3: the grasp opens at 2 s, allowed: after it closes, 2 s");
    expect_bad(with(capture, grasp,
                    "rotation_stiffness: 10}\n"
                    "  - {kind: wall, body: servicer, at: [1, 0, 0], normal: [-1, 0, 0], stiffness: 50}\n"),
               "F:16:3: contacts of a scenario with an arm, allowed: one grasp and any pairs, whose body is "
               "'servicer'");
    expect_bad(with(capture, "    obsw: {goal: {position: [-3, 0, 0]}}\n", ""),
               "F:10:7: an arm without obsw, allowed: obsw: {goal: {position: [x, y, z]}}");
    const char *const wrong[] = {"mass: 3, inertia: [1, 1, 1]", "mass: 3, inertia: [1, 1, 5]",
                                 "mass: 3, inertia: [1, 1, 1]", "mass: 0, inertia: [1, 1, 1]"};
    for (int i = 0; i < 4; i += 2) { /* the tree says which link */
        const char *text = with(capture, wrong[i], wrong[i + 1]);
        assert_int_equal(ff_scenario_parse("F", text, strlen(text), NULL, &s, message, sizeof message,
                                           warnings, sizeof warnings),
                         FF_ERR_FORMAT);
        assert_non_null(strstr(message, "the arm configuration is invalid:"));
        assert_non_null(strstr(message, "lower"));
    }
}

static void test_faults_are_read_and_checked(void **state) {
    (void)state;
    static const struct {
        const char *word;
        ff_fault_kind kind;
    } some[] = {{"rob-lost", FF_FAULT_ROB_LOST},
                {"ft-restart", FF_FAULT_FT_RESTART},
                {"clock-step", FF_FAULT_CLOCK_STEP},
                {"second-client", FF_FAULT_SECOND_CLIENT},
                {"loop-interrupted", FF_FAULT_LOOP_INTERRUPTED},
                {"loop-terminated", FF_FAULT_LOOP_TERMINATED},
                {"loop-killed", FF_FAULT_LOOP_KILLED},
                {"loop-stalled", FF_FAULT_LOOP_STALLED},
                {"disk-full", FF_FAULT_DISK_FULL},
                {"facility-killed", FF_FAULT_FACILITY_KILLED},
                {"clock-drift", FF_FAULT_CLOCK_DRIFT},
                {"ft-mirrored", FF_FAULT_FT_MIRRORED},
                {"robot-aside", FF_FAULT_ROBOT_ASIDE},
                {"wall-harder", FF_FAULT_WALL_HARDER}};
    for (size_t n = 0; n < sizeof some / sizeof *some; n++) {
        char set[128];
        snprintf(set, sizeof set, "facility.faults=[{kind: %s, from: 1, to: 2, value: 3}]", some[n].word);
        set_good(minimal, set);
        assert_int_equal(s.faults, 1);
        assert_int_equal(s.fault[0].kind, some[n].kind);
        assert_true(s.fault[0].from == 1 && s.fault[0].to == 2 && s.fault[0].value == 3);
    }
    set_bad(minimal, "facility.faults=[{kind: ft-mirrored}]",
            "value is 0, allowed: an axis, 1 to 6 (Fx to Tz)");
    set_bad(minimal, "facility.faults=[{kind: ft-mirrored, value: 1.5}]",
            "value is 1.5, allowed: an axis, 1 to 6 (Fx to Tz)");
    set_bad(minimal, "facility.faults=[{kind: wall-harder}]",
            "value is 0, allowed: above 0, times the stiffness");
    set_bad(minimal, "facility.faults=[{kind: rob-lost, from: 2, to: 1}]",
            "to is 1, allowed: after from = 2 [s]");
}

/* Every key of the on-board software and its sensors arrives; what is absent has its default. */
static void test_onboard_software_is_read(void **state) {
    (void)state;
    const char *text = with(
        capture, "obsw: {goal: {position: [-3, 0, 0]}}",
        "obsw: {kind: udp, address: 10.0.0.2, port: 5000, local_address: 10.0.0.1, local_port: 5001, mode: "
        "free, "
        "packets: pus, apid: 11, command_apid: 12, timeout: 0.25, connect: 3, hold: 0.5, thrust: [20, 10],\n"
        "      navigation: {rate: 10, delay: 0.1, position: 1, attitude: 2, velocity: 3, angular_rate: 4, "
        "star_tracker: 5, "
        "star_tracker_rate: 6, star_tracker_delay: 7, gyro: 8, gyro_rate: 9, gyro_delay: 11, encoder: 12, "
        "encoder_speed: 13, encoder_rate: 14, encoder_delay: 15}}");
    if (ff_scenario_parse("F", text, strlen(text), NULL, &s, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    const ff_obsw_config *o = &s.satellite[1].obsw;
    assert_int_equal(o->kind, 2);
    assert_string_equal(o->address, "10.0.0.2");
    assert_string_equal(o->local_address, "10.0.0.1");
    assert_true(o->port == 5000 && o->local_port == 5001 && o->apid == 11 && o->command_apid == 12);
    assert_true(o->mode == 1 && o->packets == 1);
    assert_near(o->timeout + 10 * o->connect + 100 * o->hold, 0.25 + 30 + 50, 0);
    assert_near(o->force_limit + 100 * o->torque_limit, 1020, 0);
    const double got[] = {o->navigation.rate,
                          o->navigation.delay,
                          o->navigation.position,
                          o->navigation.attitude,
                          o->navigation.velocity,
                          o->navigation.angular_rate,
                          o->navigation.star_tracker,
                          o->navigation.star_tracker_rate,
                          o->navigation.star_tracker_delay,
                          o->navigation.gyro,
                          o->navigation.gyro_rate,
                          o->navigation.gyro_delay,
                          o->navigation.encoder,
                          o->navigation.encoder_speed,
                          o->navigation.encoder_rate,
                          o->navigation.encoder_delay};
    const double expected[] = {10, 0.1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15};
    for (int i = 0; i < 16; i++)
        assert_near(got[i], expected[i], 0);
    text = with(capture, "obsw: {goal: {position: [-3, 0, 0]}}", "obsw: {kind: udp}");
    assert_int_equal(ff_scenario_parse("F", text, strlen(text), NULL, &s, message, sizeof message, warnings,
                                       sizeof warnings),
                     FF_OK);
    assert_near(o->hold, 10 * s.cycle, 1e-15);
    assert_true(o->port == 1234 && o->local_port == 1235 && o->mode == 0 && o->packets == 0);
    assert_true(isinf(o->force_limit) && isinf(o->torque_limit));
}

/* `safety: cautious` fills what is not named, by word or beside other keys; nothing without it. */
static void test_cautious_limits(void **state) {
    (void)state;
    const char *const word[] = {"satellites.client.safety=cautious"};
    const char *const map[] = {
        "satellites.client.safety={preset: cautious, force: 30, box: [1, 2, free], missed: 3}"};
    const char *const none[] = {"satellites.client.safety={stop_acceleration: 3}"};
    assert_int_equal(parse_sets(contract, word, 1, NULL), FF_OK);
    const ff_satellite *c = &s.satellite[0];
    const ff_safety_limits *l = &c->safety;
    const double all[] = {l->velocity,     l->angular_velocity,
                          l->acceleration, l->angular_acceleration,
                          l->jerk,         l->force,
                          l->torque,       l->spike,
                          l->energy,       l->box.x,
                          l->box.y,        l->box.z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_true(all[i] > 0.0 && isfinite(all[i]));
    assert_true(c->safety_named.any && c->safety_named.tracking && !c->safety_named.missed);
    assert_near(l->velocity, 0.1, 0.0);
    assert_near(l->force, 100.0, 0.0);
    assert_near(l->box.z, 0.25, 0.0);
    assert_int_equal(parse_sets(contract, map, 1, NULL), FF_OK);
    assert_near(l->force, 30.0, 0.0);
    assert_near(l->velocity, 0.1, 0.0);
    assert_near(l->missed, 3.0, 0.0);
    assert_true(l->box.y == 2.0 && isinf(l->box.z) && c->safety_named.missed);
    assert_int_equal(parse_sets(contract, none, 1, NULL), FF_OK);
    assert_true(isinf(l->force) && isinf(l->box.x) && !c->safety_named.any);
    assert_near(l->stop_acceleration, 3.0, 0.0);
    set_bad(contract, "satellites.client.safety=careful",
            "satellites.client.safety must be a map, not a plain value, allowed: keys with values, or {}, or "
            "cautious");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_are_read_and_checked),
        cmocka_unit_test(test_onboard_software_is_read),
        cmocka_unit_test(test_devices_are_kinds_with_their_keys),
        cmocka_unit_test(test_kinds_share_a_key),
        cmocka_unit_test(test_contract_example_is_read),
        cmocka_unit_test(test_defaults_of_the_smallest_scenario),
        cmocka_unit_test(test_robot_kinds),
        cmocka_unit_test(test_sensor_and_mockup),
        cmocka_unit_test(test_contact_kinds),
        cmocka_unit_test(test_start_in_penetration),
        cmocka_unit_test(test_tdpa_settings),
        cmocka_unit_test(test_quaternion_is_normalised_with_a_warning),
        cmocka_unit_test(test_an_attitude_has_three_forms),
        cmocka_unit_test(test_words_stand_in_the_order_of_their_enums),
        cmocka_unit_test(test_arm_is_read_and_checked),
        cmocka_unit_test(test_set_changes_values),
        cmocka_unit_test(test_set_errors_name_the_set),
        cmocka_unit_test(test_numbers_are_strict),
        cmocka_unit_test(test_keys_are_strict),
        cmocka_unit_test(test_values_must_be_physical),
        cmocka_unit_test(test_yaml_is_bounded),
        cmocka_unit_test(test_files_that_are_none),
        cmocka_unit_test(test_random_damage_never_crashes),
        cmocka_unit_test(test_small_buffers),
        cmocka_unit_test(test_load_at),
        cmocka_unit_test(test_loop_configuration),
        cmocka_unit_test(test_reference_is_the_committed_one),
        cmocka_unit_test(test_every_scenario_of_the_repository_is_read),
        cmocka_unit_test(test_contacts_that_cannot_touch),
        cmocka_unit_test(test_starts_above_a_limit),
        cmocka_unit_test(test_template_shows_every_key),
        cmocka_unit_test(test_cautious_limits),
        cmocka_unit_test(test_impact_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
