/* Every key of the schema is asked for a value of each wrong kind and outside each end of its range; what
 * does not go together is asked for case by case. Each refusal is one line with the place of the value, the
 * key, what is wrong and what is allowed. */
#include "support.h"

#include "scenario/internal.h"
#include "scenario/methods.h"

static ff_scenario s, scratch;
static char message[1 << 16], warnings[4096];

/* ------------------------------------------------------------------------------------------- every key -- */

static int cases, complaints;
#define complain(...) (complaints++, print_error(__VA_ARGS__), print_error("\n"))

/* Values that no key of this type takes, NULL at the end. */
static const char *const *wrong_kinds(ff_type type) {
    static const char *const number[] = {"x", "[1]", "{a: 1}", "'1'", "nan", "1e999", "~", NULL};
    static const char *const integer[] = {"x", "-1", "1.5", "[1]", "'1'", "18446744073709551616", "~", NULL};
    static const char *const text[] = {"~", "[a]", "''", "\"a\\tb\"", NULL};
    static const char *const name[] = {"~", "[a]", "''", "a.b", "a/b", "7", "' a'", "'a '", NULL};
    static const char *const word[] = {"no-such-word", "[a]", "''", NULL};
    static const char *const three[] = {"1", "[1, 2]", "[1, 2, 3, 4]", "[1, x, 3]", "{}", NULL};
    static const char *const direction[] = {"1", "[1, 2]", "[0, 0, 0]", "[1, x, 3]", NULL};
    static const char *const widths[] = {"1", "[1, 2]", "[free, x, 3]", "{}", NULL};
    static const char *const quaternion[] = {"1",
                                             "[1, 0, 0]",
                                             "[0, 0, 0, 0]",
                                             "[1, x, 0, 0]",
                                             "{}",
                                             "{abc: [1, 2, 3]}",
                                             "{abc_deg: [1, 2]}",
                                             "{rpy: [1, x, 0]}",
                                             "{rpy: [0, 0, 0], abc_deg: [0, 0, 0]}",
                                             "{quaternion: [1, 0, 0]}",
                                             NULL};
    static const char *const inertia[] = {"1", "[1, 2]", "[1, 2, 3, 4]", "[1, x, 3]", NULL};
    static const char *const six[] = {"1", "[1, 2, 3]", "[1, 2, 3, 4, 5, x]", NULL};
    static const char *const pair[] = {"x", "[1, 2, 3]", "[1, x]", "{}", NULL};
    static const char *const map[] = {"1", "[1]", "~", "{no-such-key: 1}", NULL};
    static const char *const list[] = {"1", "{a: 1}", NULL};
    static const char *const file[] = {"[a]", "''", "no/such/file", NULL};
    static const char *const none[] = {NULL};
    static const char *const topic[] = {"[a]", "''",  "joint_states", "/", "/a//b",
                                        "/a/", "/1a", "/a b",         NULL};
    static const char *const names[] = {"a",
                                        "{}",
                                        "[a, b, c, d, e]",
                                        "[a, b, c, d, e, f, g, h]",
                                        "[a, b, c, d, e, a]",
                                        "[a, b, c, d, e, [f]]",
                                        NULL};
    switch (type) {
    case FF_TYPE_TOPIC:
        return topic;
    case FF_TYPE_NAMES:
        return names;
    case FF_TYPE_NUMBER:
    case FF_TYPE_NUMBER_OR_WORD:
        return number;
    case FF_TYPE_INTEGER:
        return integer;
    case FF_TYPE_TEXT:
        return text;
    case FF_TYPE_NAME:
        return name;
    case FF_TYPE_WORD:
    case FF_TYPE_FLAG:
    case FF_TYPE_BODY:
        return word;
    case FF_TYPE_VEC3:
    case FF_TYPE_ABC_DEG:
    case FF_TYPE_RPY:
        return three;
    case FF_TYPE_DIRECTION:
        return direction;
    case FF_TYPE_HALF_WIDTHS:
        return widths;
    case FF_TYPE_QUATERNION:
        return quaternion;
    case FF_TYPE_INERTIA:
        return inertia;
    case FF_TYPE_WRENCH:
    case FF_TYPE_TWIST:
    case FF_TYPE_SIX:
        return six;
    case FF_TYPE_PAIR:
    case FF_TYPE_SERIES:
        return pair;
    case FF_TYPE_SECTION:
    case FF_TYPE_METHOD:
        return map;
    case FF_TYPE_CONTACTS:
    case FF_TYPE_LOADS:
    case FF_TYPE_LINKS:
    case FF_TYPE_CHAIN:
    case FF_TYPE_FAULTS:
    case FF_TYPE_DRIVES:
        return list;
    case FF_TYPE_ROBOT_ARM:
        return word;
    case FF_TYPE_ARM_MODEL:
    case FF_TYPE_CHAIN_MODEL:
    case FF_TYPE_MESH:
        return file;
    case FF_TYPE_METHOD_NAME: /* read before the table, or with what it belongs to */
    case FF_TYPE_POINT:
    case FF_TYPE_POINTS:
    case FF_TYPE_SATELLITES:
    case FF_TYPE_JOINTS:
    case FF_TYPE_SITE:
        break;
    }
    return none;
}

/* One section of one key, all mistakes asked for: the line about the value, which stands at `column`. */
static const char *refusal(const ff_section *section, const char *text, int column, int length) {
    ff_tree tree = {0};
    ff_node *root = NULL;
    ff_tree_error error;
    const ff_scenario_options options = {.all = true};
    memset(&scratch, 0, sizeof scratch);
    memset(&s, 0, sizeof s);
    message[0] = 0;
    assert_int_equal(ff_tree_parse(&tree, text, strlen(text), NULL, &root, &error), FF_OK);
    for (int m = 0; ff_method_at(m); m++)
        s.setup[s.setups++].method = ff_method_at(m);
    ff_reader r = {.label = "F",
                   .tree = &tree,
                   .scenario = &s,
                   .options = &options,
                   .message = message,
                   .size = sizeof message,
                   .warnings = warnings,
                   .warnings_size = sizeof warnings};
    assert_false(ff__read_section(&r, root, section, &scratch));
    ff_tree_free(&tree);
    for (char *line = message; *line; line += strlen(line) + 1) {
        char *end = strchr(line, '\n');
        int at = 0, used = 0;
        if (sscanf(line, "F:1:%d: %n", &at, &used) == 1 && at >= column && at < column + length) {
            if (end)
                *end = 0;
            return line + used;
        }
        if (!end)
            break;
        *end = 0;
    }
    complain("%s of '%s': no line about column %d in '%s'", text, section->path, column, message);
    return "";
}

static void expect_refused(const ff_section *section, const ff_key *key, const char *kind, const char *bad) {
    char text[512];
    const int column = 1 + (kind ? snprintf(text, sizeof text, "{kind: %s, %s: ", kind, key->key)
                                 : snprintf(text, sizeof text, "{%s: ", key->key));
    snprintf(text + column - 1, sizeof text - (size_t)column, "%s}", bad);
    const char *said = refusal(section, text, column, (int)strlen(bad));
    cases++;
    /* which key (a file's by its name, a map's by its path), and what to do */
    if (!strstr(said, key->key) && !strstr(said, "no/such") && !strstr(said, "no-such"))
        complain("%s of '%s': '%s' does not name the key", text, section->path, said);
    if (!strstr(said, "allowed: "))
        complain("%s of '%s': '%s' does not say what is allowed", text, section->path, said);
    if (strcmp(key->key, "kind") != 0 && key->type == FF_TYPE_NUMBER && !strstr(said, ff_range_text(key)) &&
        !strstr(said, "of size"))
        complain("%s of '%s': '%s' lacks '%s'", text, section->path, said, ff_range_text(key));
}

/* Numbers just beyond the ends of a key's range. */
static int beyond(const ff_key *key, char out[2][32]) {
    const double low = key->range == FF_RANGE_BOUNDS ? key->low : 0.0;
    const double high = key->range == FF_RANGE_ACUTE    ? FF_PI / 2
                        : key->range == FF_RANGE_SHARE  ? 1.0
                        : key->range == FF_RANGE_BOUNDS ? key->high
                                                        : FF_INF;
    const bool open_low = key->range == FF_RANGE_BOUNDS
                              ? key->above_low
                              : key->range != FF_RANGE_NOT_NEGATIVE && key->range != FF_RANGE_SHARE;
    const bool open_high = key->range == FF_RANGE_BOUNDS ? key->below_high : true;
    int n = 0;
    if (key->range == FF_RANGE_ANY)
        return 0;
    if (isfinite(low))
        snprintf(out[n++], 32, "%.17g", open_low ? low : low - 1.0);
    if (isfinite(high))
        snprintf(out[n++], 32, "%.17g", open_high ? high : high + 1.0);
    return n;
}

static void check_key(const ff_section *section, const ff_key *key, const char *kind) {
    const char *const *bad = wrong_kinds(key->type);
    for (int i = 0; bad[i]; i++)
        expect_refused(section, key, kind, bad[i]);
    char out[2][32];
    const bool number = key->type == FF_TYPE_NUMBER || key->type == FF_TYPE_NUMBER_OR_WORD ||
                        key->type == FF_TYPE_PAIR || key->type == FF_TYPE_SERIES;
    const int ends = number || key->type == FF_TYPE_INTEGER ? beyond(key, out) : 0;
    for (int i = 0; i < ends; i++)
        if (number || out[i][0] != '-')
            expect_refused(section, key, kind, out[i]);
}

static void check_section(const ff_section *section, const ff_section **seen, int *count) {
    for (int i = 0; i < *count; i++)
        if (seen[i] == section)
            return;
    assert_true(*count < 100);
    seen[(*count)++] = section;
    const ff_key *kind = ff__find_key(section, "kind");
    for (int i = 0; i < section->keys; i++) {
        const ff_key *key = &section->key[i];
        if (key == kind) {
            check_key(section, key, NULL);
            continue;
        }
        if (!kind || key->kinds == 0)
            check_key(section, key, kind ? kind->words[0] : NULL);
        for (int k = 0; kind && key->kinds && kind->words[k]; k++) {
            char text[256];
            if (key->kinds >> k & 1u)
                check_key(section, key, kind->words[k]);
            else { /* foreign: at the key itself */
                const int at = snprintf(text, sizeof text, "{kind: %s, ", kind->words[k]) + 1;
                snprintf(text + at - 1, sizeof text - (size_t)at, "%s: 1}", key->key);
                const ff_key *other = NULL; /* another one of the name belongs to this kind */
                for (int j = 0; j < section->keys; j++)
                    if (strcmp(section->key[j].key, key->key) == 0 && section->key[j].kinds >> k & 1u)
                        other = &section->key[j];
                if (other)
                    continue;
                assert_non_null(strstr(refusal(section, text, at, 1), "does not belong to"));
                cases++;
            }
        }
        if (key->section)
            check_section(key->section, seen, count);
    }
}

static void test_every_key_refuses_what_it_cannot_be(void **state) {
    (void)state;
    const ff_section *seen[100];
    int count = 0;
    check_section(ff_schema_top(), seen, &count);
    assert_int_equal(complaints, 0);
    assert_true(count > 25 && cases > 1000);
}

/* ------------------------------------------------------------------------------------- what goes together --
 */

/* A scenario of the repository with up to three values set. `of`: the one that is refused, from 0; IN_FILE: a
 * place of the file; SHORTENED: a value too long to be repeated. */
enum { IN_FILE = -1, SHORTENED = -2 };
/* clang-format off */
static const struct {
    const char *file, *set[4];
    int of;
    const char *said;
} together[] = {
    {"wall", {"contacts.0={name: g, kind: grasp, body: body, against: x}"}, 0, "against: no satellite is named 'x', allowed: body"},
    {"deos-client", {"contacts.front.opens=3"}, 0, "key 'opens' does not belong to contact kind 'wall', allowed: name, kind, body, point, at, normal, source, stiffness, damping, satellite, damping_depth, friction"},
    {"envisat-capture", {"satellites.third={mass: 1, inertia: [1, 1, 1]}"}, IN_FILE, "14:3: a scenario with an arm has 3 satellites, allowed: the servicer and one client without an arm"},
    {"envisat-capture", {"contacts.1={kind: wall, body: client, at: [0, 0, 9], normal: [0, 0, -1], stiffness: 1}"}, IN_FILE, "55:3: contacts of a scenario with an arm, allowed: one grasp and any pairs, whose body is 'servicer'"},
    {"envisat-capture", {"contacts.1={kind: grasp, body: servicer, against: client, at: [0, 0, 9], closes: 1, stiffness: 1, rotation_stiffness: 1}"}, IN_FILE, "55:3: contacts of a scenario with an arm, allowed: one grasp and any pairs, whose body is 'servicer'"},
    {"envisat-capture", {"contacts.grip.opens=3"}, IN_FILE, "55:3: the grasp opens at 3 s, allowed: after it closes, 32.6 s"},
    {"envisat-capture", {"method=impact"}, 0, "method 'impact' computes the contact force itself, but the arm's joints have felt the measured one (docs/methods/arm.md), allowed: ideal, direct, tdpa, damping, fused"},
    {"envisat-capture", {"integrator=euler"}, 0, "integrator 'euler' does not go with an arm, allowed: lie-midpoint"},
    {"envisat-capture", {"satellites.servicer.arm.cycle=0.003"}, IN_FILE, "14:3: the arm's cycle is 0.003, allowed: the loop's divided by a whole number"},
    {"envisat-capture", {"satellites.servicer.arm.cycle=0.02"}, IN_FILE, "14:3: the arm's cycle is 0.02, allowed: the loop's divided by a whole number"},
    {"envisat-capture", {"nominal={kind: satellite, body: client}"}, 0, "unknown key 'body' in nominal, allowed: kind, of"},
    {"envisat-capture", {"relative.form=integrated"}, 0, "form 'integrated' does not go with an arm, allowed: algebraic"},
    {"envisat-capture", {"satellites.servicer.obsw.kind=udp"}, IN_FILE, "51:7: key 'goal' does not belong to on-board software kind 'udp', allowed: kind, address, port, local_address, local_port, mode, packets, apid, command_apid, timeout, connect, hold, thrust, navigation"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, port: 0}"}, 0, "port is 0, allowed: 1 to 65535"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, address: 1.2.3}"}, 0, "address is '1.2.3', allowed: an IPv4 address, e.g. 127.0.0.1"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, address: 1.2.3.4x}"}, 0, "address is '1.2.3.4x', allowed: an IPv4 address, e.g. 127.0.0.1"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, address: 1.2.3.400}"}, 0, "address is '1.2.3.400', allowed: an IPv4 address, e.g. 127.0.0.1"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, local_address: here}"}, 0, "local_address is 'here', allowed: an IPv4 address, e.g. 127.0.0.1"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, port: 70000}"}, 0, "port is 70000, allowed: at most 65535"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, local_port: 70000}"}, 0, "local_port is 70000, allowed: at most 65535"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, apid: 3000}"}, 0, "apid is 3000, allowed: at most 2046"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, command_apid: 3000}"}, 0, "command_apid is 3000, allowed: at most 2046"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, timeout: 61}"}, 0, "timeout is 61, allowed: at most 60"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, connect: 601}"}, 0, "connect is 601, allowed: at most 600"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, navigation: {delay: 61}}"}, 0, "delay is 61, allowed: at most 60"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, navigation: {star_tracker_delay: 61}}"}, 0, "star_tracker_delay is 61, allowed: at most 60"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, navigation: {gyro_delay: 61}}"}, 0, "gyro_delay is 61, allowed: at most 60"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: udp, navigation: {encoder_delay: 61}}"}, 0, "encoder_delay is 61, allowed: at most 60"},
    {"envisat-capture", {"satellites.servicer.obsw.arrive=3", "satellites.servicer.obsw.approach=4"}, IN_FILE, "51:7: arrive is 3, allowed: after approach = 4 [s]"},
    {"envisat-capture", {"satellites.servicer.obsw.joints=[1, 2]"}, 0, "joints has 2 values, allowed: one for each of the arm's 7 joints"},
    {"ros2-client", {"satellites.client.robot.rail={axis: [1, 0, 0], length: 2}"}, 0, "ros2 commands no external axis, allowed with a rail: kind: kuka-rsi"},
    {"ur10e-client", {"satellites.client.robot.rail={axis: [1, 0, 0], length: 2}"}, 0, "ur-rtde commands no external axis, allowed with a rail: kind: kuka-rsi"},
    {"envisat-capture", {"satellites.servicer.obsw.joints=3"}, 0, "joints must be a list, not a plain value, allowed: [q1, q2, ...]"},
    {"envisat-capture", {"satellites.servicer.arm.joints=[1, 2, 3, 4, 5, 6, x]"}, 0, "joints must be a number, not 'x', allowed: a finite number [rad]"},
    {"envisat-capture", {"satellites.client.obsw={}"}, 0, "satellites.client.obsw lacks the key 'goal', allowed: map"},
    {"envisat-capture", {"satellites.servicer.arm.links=[]"}, 0, "links must be a list of 1 to 32, allowed: - {mass, inertia, ...} items"},
    {"envisat-capture", {"satellites.servicer.arm.links=3"}, 0, "links must be a list of 1 to 32, allowed: - {mass, inertia, ...} items"},
    {"envisat-capture", {"satellites.servicer.arm.links=[{mass: 1, inertia: [1, 1, 1], joint: fixed}]", "satellites.servicer.arm.joints=[]", "satellites.servicer.obsw.joints=[]"}, IN_FILE, "30:7: the arm configuration is invalid: no joint moves"},
    {"envisat-capture", {"satellites.servicer.arm.links.3.parent=nobody"}, 0, "no link 'nobody' stands above 'link4', allowed: base, or a link above (closed loops are not supported)"},
    {"envisat-capture", {"satellites.servicer.arm.links.3.mass=0"}, IN_FILE, "30:7: the arm configuration is invalid: link 3 (link4): it has inertia but no mass; the mass must be positive"},
    {"envisat-capture", {"satellites.servicer.arm.links.3.inertia=[1, 1, 9]"}, IN_FILE, "30:7: the arm configuration is invalid: link 3 (link4): the inertia must be positive definite and obey the triangle inequality"},
    {"deos-client", {"satellites.client.points=3"}, 0, "points must be a map, not a plain value, allowed: {tip: [x, y, z]}"},
    {"deos-client", {"satellites.client.points={a.b: [1, 2, 3]}"}, 0, "point 'a.b' is not a valid name, allowed: 1 to 127 bytes, not only digits, none of . / , = : \" \\"},
    {"deos-client", {"satellites.client.points={a: [1, 2]}"}, 0, "a has 2 values, allowed: [x, y, z]"},
    {"deos-client", {"satellites.client.points={com: [1, 2, 3]}"}, 0, "the point 'com' always exists, allowed: another name"},
    {"deos-client", {"satellites.client.robot={kind: wrench, inertia: [1, 1, 9]}"}, 0, "inertia violates the triangle inequality: principal moments 1, 1, 9, allowed: all > 0 and none above the sum of the other two [kg m2]"},
    {"deos-client", {"satellites.client.sensor={kind: noisy, wired: [1, 1, 3]}"}, 0, "sensor.wired must name each axis once, allowed: 1, 2, 3, each with its sign"},
    {"deos-client", {"satellites.client.sensor={kind: noisy, wired: [1, 2, 4]}"}, 0, "sensor.wired must name each axis once, allowed: 1, 2, 3, each with its sign"},
    {"deos-client", {"satellites.client.mockup={mass: 3, inertia: [1, 1, 9]}"}, 0, "inertia violates the triangle inequality: principal moments 1, 1, 9, allowed: all > 0 and none above the sum of the other two [kg m2]"},
    {"deos-client", {"satellites.client.inertia=[-1, 1, 1]"}, 0, "inertia is not positive definite: principal moments -1, 1, 1, allowed: all > 0 and none above the sum of the other two [kg m2]"},
    {"deos-client", {"satellites={}"}, 0, "0 satellites, allowed: 1 to 4"},
    {"deos-client", {"satellites=3"}, 0, "satellites must be a map, not a plain value, allowed: {NAME: {mass, inertia, ...}}"},
    {"deos-client", {"satellites={a.b: {mass: 1, inertia: [1, 1, 1]}}"}, 0, "satellite 'a.b' is not a valid name, allowed: 1 to 127 bytes, not only digits, none of . / , = : \" \\"},
    {"deos-client", {"contacts.front.point=[1, 2]"}, 0, "point has 2 values, allowed: [x, y, z]"},
    {"deos-client", {"contacts.front.point=nose"}, 0, "satellite client has no point 'nose', allowed: com, tip, [x, y, z]"},
    {"deos-client", {"contacts.front.point={}"}, 0, "point must be a name or three numbers, not a map, allowed: com, tip, [x, y, z]"},
    {"deos-client", {"contacts.front.point="}, 0, "no value, allowed: path=value, e.g. contacts.front.damping=3"},
    {"deos-client", {"contacts.front.body=[]"}, 0, "body must be a satellite's name, not a list, allowed: client"},
    {"deos-client", {"contacts.front.body=clinet"}, 0, "body: no satellite is named 'clinet' (did you mean 'client'?), allowed: client"},
    {"deos-client", {"contacts.front.normal=[0, 0, 0]"}, 0, "normal is zero, allowed: a direction of any other length"},
    {"deos-client", {"contacts=3"}, 0, "contacts must be a list, not a plain value, allowed: - {...} items, or []"},
    {"deos-client", {"contacts.1={name: front, kind: wall, body: client, at: [0, 0, 9], normal: [0, 0, -1], stiffness: 1}"}, 0, "contact 1 is also named 'front', allowed: names of their own"},
    {"deos-client", {"contacts.0={kind: cone, body: client, against: client, apex: [0, 0, 0], axis: [0, 0, 1], half_angle: 1, depth: 1, stiffness: 1}"}, 0, "against names the body itself, allowed: another satellite"},
    {"deos-client", {"contacts.0.stiffness=[0, 1]"}, 0, "stiffness is 0, allowed: > 0 [N/m]"},
    {"deos-client", {"contacts.0={kind: stops, body: client, stiffness: 1, position: [free, 1, -1]}"}, 0, "position is -1, allowed: >= 0 [m]"},
    {"deos-client", {"loads.0.body=nobody"}, 0, "body: no satellite is named 'nobody', allowed: client"},
    {"deos-client", {"loads.0.to=0"}, 0, "load 1 lacks the key 'from', allowed: number [s]"},
    {"deos-client", {"loads.0={body: client, kind: pulse, force: [6, 0, 0], from: 9, to: 5}"}, 0, "to is 5, allowed: after from = 9 [s]"},
    {"deos-client", {"facility.faults=[{kind: rob-lost, body: nobody}]"}, 0, "body: no satellite is named 'nobody', allowed: client"},
    {"deos-client", {"facility.faults=3"}, 0, "faults must be a list, not a plain value, allowed: - {...} items, or []"},
    {"deos-client", {"integrator=passive", "contact_wrench=held"}, 1, "contact_wrench 'held' does not go with integrator 'passive', allowed: lie-midpoint, splitting"},
    {"deos-client", {"frame=relative", "relative.form=integrated", "integrator=passive"}, 1, "form 'integrated' does not go with passive, allowed: lie-midpoint, euler"},
    {"deos-client", {"frame=relative", "relative.form=integrated", "nominal={kind: satellite, body: client}"}, 2, "unknown key 'body' in nominal, allowed: kind, of"},
    {"deos-client", {"frame=relative", "nominal={kind: satellite}"}, 1, "nominal lacks the key 'of', allowed: satellite's name"},
    {"deos-client", {"time.cycle=1e-9", "time.duration=1e9"}, 1, "duration is 1e+09, 1e+18 cycles, allowed: at most 1e9 cycles"},
    {"deos-client", {"emulation={}"}, IN_FILE, "24:1: key 'satellites' does not belong to an emulation, allowed: emulation alone"},
    {"planar-arm-emulation", {"satellites={}"}, 0, "key 'satellites' does not belong to an emulation, allowed: emulation alone"},
    {"planar-arm-emulation", {"frame=relative"}, 0, "key 'frame' does not belong to an emulation, allowed: emulation alone"},
    {"planar-arm-emulation", {"emulation.robot={kind: joint, inertia: 1}"}, 0, "the robot is one joint, allowed: kind: arm, as the target is"},
    {"planar-arm-emulation", {"emulation.wall={at: 1, stiffness: 1}"}, 0, "key 'wall' does not belong to this target, allowed: surface"},
    {"planar-arm-emulation", {"emulation.torque=3"}, 0, "an arm's torques stand with its links, allowed: drive in each link"},
    {"planar-arm-emulation", {"emulation.accommodation={rate: [1, 0, 0], gain: 1}", "emulation.torque=3"}, 1, "torque and accommodation both drive the target, allowed: one of them"},
    {"planar-arm-emulation", {"emulation.target.links=[]"}, IN_FILE, "9:5: emulation.target lacks the key 'links', allowed: list, or model: FILE.urdf"},
    {"planar-arm-emulation", {"emulation.target.links=3"}, 0, "links must be a list, not a plain value, allowed: - {...} items, or []"},
    {"planar-arm-emulation", {"emulation.robot.links.2={mass: 1, inertia: [1, 1, 1]}"}, IN_FILE, "19:5: the robot has 3 links, allowed: 2 for this task"},
    {"planar-arm-emulation", {"emulation.target.task=pose"}, IN_FILE, "19:5: the robot has 2 links, allowed: 6 for this task"},
    {"planar-arm-emulation", {"emulation.target.links.0.inertia=[1, 1, 9]"}, 0, "the inertia of link 1 is not that of a body, allowed: positive definite, triangle inequality"},
    {"planar-arm-emulation", {"emulation.target.links.0.mass=x"}, 0, "mass must be a number, not 'x', allowed: a finite number > 0 [kg]"},
    {"planar-arm-emulation", {"emulation.target.links.1.motor_inertia=0"}, IN_FILE, "9:5: link 2 has no motor_inertia, allowed: > 0 [kg m2] with joints: flexible"},
    {"planar-arm-emulation", {"emulation.target.base=floating"}, IN_FILE, "9:5: a floating base needs base_mass > 0 and a base_inertia that is positive definite"},
    {"planar-arm-emulation", {"emulation.target.links.7={mass: 1, inertia: [1, 1, 1]}"}, 0, "no item '7' in links, allowed: 0, 1, or an index from 0 to 2"},
    {"space-robot-emulation", {"emulation.target.base_mass=0"}, IN_FILE, "10:5: a floating base needs base_mass > 0 and a base_inertia that is positive definite"},
    {"space-robot-emulation", {"emulation.robot.links.6={mass: 1, inertia: [1, 1, 1]}"}, IN_FILE, "26:5: the robot has 7 links, allowed: 6 for this task"},
    {"space-robot-emulation", {"emulation.target.task=plane"}, IN_FILE, "26:5: the robot has 6 links, allowed: 2 for this task"},
    {"papers/aghili/appendix-e", {"emulation.surface={at: [1, 0, 0], normal: [1, 0, 0], stiffness: 1}"}, 0, "key 'surface' does not belong to this target, allowed: wall"},
    {"papers/aghili/appendix-e", {"emulation.accommodation={rate: [1, 0, 0], gain: 1}"}, IN_FILE, "11:3: torque and accommodation both drive the target, allowed: one of them"},
    {"papers/aghili/appendix-e", {"emulation.robot.kind=arm"}, IN_FILE, "7:11: key 'inertia' does not belong to robot kind 'arm', allowed: kind, gravity_model_error, friction_model_error, actuator_bandwidth, actuator_delay, force_bias, force_noise, place, tip, gravity, model, drives, links, device"},
    {"deos-client", {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g.h=1"}, 0, "a path of more than 32 names, allowed: fewer"},
    {"deos-client", {"contacts.nobody.damping=1"}, 0, "no item 'nobody' in contacts, allowed: front, back, or an index from 0 to 2"},
    {"deos-client", {"contacts.9.damping=1"}, 0, "no item '9' in contacts, allowed: front, back, or an index from 0 to 2"},
    {"deos-client", {"loads.nobody.to=1"}, 0, "loads must be a list, not a map, allowed: - {...} items, or []"},
    {"deos-client", {"name.x=1"}, 0, "'name' is a plain value and has no 'x', allowed: a path to a key"},
    {"deos-client", {"satellites..mass=1"}, 0, "an empty name in the path, allowed: names separated by single dots"},
    {"deos-client", {"=1"}, 0, "no path, allowed: path=value, e.g. contacts.front.damping=3"},
    {"deos-client", {"x"}, 0, "no value, allowed: path=value, e.g. contacts.front.damping=3"},
    {"deos-client", {"x="}, 0, "no value, allowed: path=value, e.g. contacts.front.damping=3"},
    {"deos-client", {"time=!tag 3"}, 0, "a tag '!tag', allowed: plain values"},
    {"deos-client", {"time=!tag {a: 1}"}, 0, "a tag '!tag', allowed: plain values"},
    {"deos-client", {"time=*alias"}, 0, "an alias '*alias', allowed: values written out"},
    {"deos-client", {"time=&a 3"}, 0, "an anchor '&a', allowed: values written out"},
    {"deos-client", {"time=&a {b: 1}"}, 0, "an anchor '&a', allowed: values written out"},
    {"deos-client", {"time={{a: b}: 1}"}, 0, "a map as a key, allowed: a word"},
    {"deos-client", {"method=./x.so"}, 0, "method library ./x.so: method libraries are not loaded here"},
    {"deos-client", {"method=[a]"}, 0, "method must be a word, not a list, allowed: ideal, direct, tdpa, damping, impact, fused"},
    {"deos-client", {"tdpa={reading: 3}"}, 0, "unknown reading '3', allowed: default, printed"},
    {"deos-client", {"tdpa={no: 3}"}, 0, "unknown key 'no' in tdpa, allowed: reading, observer, velocity, reset, law, pair, threshold, torque_threshold"},
    {"deos-client", {"fused={noise: -1}"}, 0, "unknown key 'noise' in fused, allowed: delay, tracking, force_noise, torque_noise, skew, stiffness, look_back, sensor_lag, zero, pose_noise, velocity_noise"},
    {"deos-client", {"satellites.client.mesh={file: /nowhere.stl}"}, 0, "mesh '/nowhere.stl': No such file or directory, allowed: an STL or OBJ file of at most 20000 triangles, from the scenario's folder"},
    {"deos-client", {"satellites.client.mesh={file: [1]}"}, 0, "file must be text, not a list, allowed: 1 to 127 bytes"},
    {"envisat-capture", {"nominal={kind: satellite, of: client}"}, 0, "nominal kind 'satellite' does not go with an arm, allowed: free, prescribed"},
    {"envisat-capture", {"satellites.client.obsw={kind: udp}"}, 0, "obsw without an arm, allowed: on a satellite with an arm"},
    {"envisat-capture", {"satellites.client.arm={links: [{mass: 1, inertia: [1, 1, 1]}]}", "satellites.client.obsw={kind: udp}"}, IN_FILE, "14:3: a scenario with an arm has 2 satellites, allowed: the servicer and one client without an arm"},
    {"deos-client", {"contacts.0={kind: grasp, body: client, against: other, at: [0, 0, 0], closes: 1, opens: 2, stiffness: 1, rotation_stiffness: 1}", "satellites.other={mass: 1, inertia: [1, 1, 1]}", "contacts.1={kind: wall, body: client, at: [0, 0, 9], normal: [0, 0, -1], stiffness: 1}"}, IN_FILE, "38:3: only the gripper of an arm opens again, allowed: no key 'opens'"},
    {"deos-client", {"frame=relative", "relative.form=integrated", "nominal={kind: satellite, of: client}"}, 1, "form 'integrated' does not go with nominal kind 'satellite', allowed: free, prescribed"},
    {"deos-client", {"satellites.client.points={a: [1, 2, 3], a1: [1, 2, 3], a2: [1, 2, 3], a3: [1, 2, 3], a4: [1, 2, 3], a5: [1, 2, 3], a6: [1, 2, 3], a7: [1, 2, 3], a8: [1, 2, 3], a9: [1, 2, 3], b1: [1, 2, 3], b2: [1, 2, 3], b3: [1, 2, 3], b4: [1, 2, 3], b5: [1, 2, 3], b6: [1, 2, 3], b7: [1, 2, 3]}"}, SHORTENED, "--set satellites.client.points={a: [1, 2, 3], a1: [1, 2, 3], a2: [...: more than 15 points, allowed: fewer"},
    {"deos-client", {"satellites={a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}, c: {mass: 1, inertia: [1, 1, 1]}, d: {mass: 1, inertia: [1, 1, 1]}, e: {mass: 1, inertia: [1, 1, 1]}}"}, 0, "5 satellites, allowed: 1 to 4"},
    {"deos-client", {"facility.faults=[{kind: no}]"}, 0, "unknown kind 'no', allowed: rob-lost, rob-late, rob-repeated, rob-reordered, rob-corrupt, rob-cut, rob-nan, rob-empty, rob-long, rob-incomplete, ipoc-jump, robot-silent, robot-stuck, robot-jump, robot-slow, robot-clipped, robot-aborts, answer-lost, answer-late, ft-lost, ft-repeated, ft-reordered, ft-corrupt, ft-silent, ft-frozen, ft-stuck, ft-saturated, ft-broken, ft-drift, ft-spike, ft-offset, ft-restart, stranger, jitter, clock-step, ft-flood, second-client, loop-interrupted, loop-terminated, loop-killed, loop-stalled, disk-full, facility-killed, clock-drift, ft-clock-drift, ft-swapped, ft-mirrored, ft-turned, ft-deaf, robot-later, robot-aside, arm-elsewhere, tool-off, wall-harder, robot-restarts, ft-fast, krc-mode, krc-drives, krc-estop, krc-override, krc-program, krc-lost, protective-stop, arm-lost, arm-stops"},
    {"deos-client", {"loads.0={body: client, kind: sin, force: [6, 0, 0], from: 9, to: 5}"}, 0, "unknown kind 'sin' (did you mean 'sin2'?), allowed: pulse, halfsine, sin2"},
    {"deos-client", {"loads.0={body: client, kind: pulse, from: 5, to: 9}"}, 0, "load 1 is empty, allowed: force [N], torque [N m] or both"},
    {"deos-client", {"contacts.0={body: client}"}, 0, "contact 1 lacks the key 'kind', allowed: word"},
    {"deos-client", {"contacts.0={kind: pair, body: client, at: [0, 0, 0], normal: [0, 0, 1], stiffness: 1}"}, 0, "contact 1 lacks the key 'against', allowed: satellite's name"},
    {"planar-arm-emulation", {"emulation.robot.links=[]"}, IN_FILE, "19:5: emulation.robot lacks the key 'links', allowed: list, or model: FILE.urdf"},
    {"planar-arm-emulation", {"emulation.target.links=[{mass: 2, inertia: [1, 1, 1], motor_inertia: 1}]"}, IN_FILE, "9:5: the target has 1 links, allowed: at least 2 for this task"},
    {"planar-arm-emulation", {"emulation.robot.drives=[{}]"}, 0, "drives without a model, allowed: beside model: FILE.urdf"},
    {"planar-arm-emulation", {"emulation.robot.model=m.urdf"}, 0, "model 'm.urdf' cannot be read: No such file or directory, allowed: a URDF file, from the scenario's folder"},
    {"planar-arm-emulation", {"emulation.robot.links=[{mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1]}]"}, SHORTENED, "--set emulation.robot.links=[{mass: 1, inertia: [1, 1, 1]}, {mass:...: 8 links, allowed: at most 7"},
    {"deos-client", {"damping={reading: printed, known: {stiffness: -1}}"}, 0, "stiffness is -1, allowed: > 0 [N/m]"},
    {"deos-client", {"damping={known: 3}"}, 0, "damping.known must be a map, not a plain value, allowed: keys with values, or {}"},
    {"deos-client", {"impact={restitution: 2}"}, 0, "restitution is 2, allowed: 0.3 to 1"},
    {"deos-client", {"contacts.0=3"}, 0, "contact 1 must be a map, not a plain value, allowed: keys with values, or {}"},
    {"deos-client", {"loads.0=3"}, 0, "load 1 must be a map, not a plain value, allowed: keys with values, or {}"},
    {"deos-client", {"satellites.client=3"}, 0, "satellites.client must be a map, not a plain value, allowed: keys with values, or {}"},
    {"deos-client", {"time=3"}, 0, "time must be a map, not a plain value, allowed: keys with values, or {}"},
    {"deos-client", {"time.seed=-1"}, 0, "seed must be a whole number, not -1, allowed: 0 to 18446744073709551615"},
    {"deos-client", {"satellites.client.safety={force: 0}"}, 0, "force is 0, allowed: > 0 [N]"},
    {"deos-client", {"satellites.client.limits={velocity: 0}"}, 0, "velocity is 0, allowed: > 0 [m/s]"},
    {"deos-client", {"requirements={velocity_error: 0}"}, 0, "velocity_error is 0, allowed: > 0 [m/s]"},
    {"deos-client", {"tdpa.threshold=x"}, 0, "threshold must be a number, not 'x', allowed: a finite number >= 0 [N]"},
    {"deos-client", {"integrator=passive", "passive.rest=3"}, 1, "unknown key 'rest' in passive, allowed: reading, rotation"},
    {"envisat-capture", {"satellites.servicer.arm.links.0.name=a/b"}, 0, "name 'a/b' is not a valid name, allowed: 1 to 127 bytes, not only digits, none of . / , = : \" \\"},
    {"envisat-capture", {"satellites.servicer.obsw={kind: shared}"}, 0, "satellites.servicer.obsw lacks the key 'library', allowed: text"},
    {"deos-client", {"facility.faults=[{kind: ft-mirrored, value: 0}]"}, 0, "value is 0, allowed: an axis, 1 to 6 (Fx to Tz)"},
    {"deos-client", {"facility.faults=[{kind: ft-mirrored, value: 7}]"}, 0, "value is 7, allowed: an axis, 1 to 6 (Fx to Tz)"},
    {"deos-client", {"facility.faults=[{kind: ft-mirrored, value: 1.5}]"}, 0, "value is 1.5, allowed: an axis, 1 to 6 (Fx to Tz)"},
    {"deos-client", {"facility.faults=[{kind: krc-mode}]"}, 0, "value is 0, allowed: a mode, 1 to 4 (T1, T2, AUT, EXT)"},
    {"deos-client", {"facility.faults=[{kind: krc-mode, value: 5}]"}, 0, "value is 5, allowed: a mode, 1 to 4 (T1, T2, AUT, EXT)"},
    {"deos-client", {"facility.faults=[{kind: krc-override, value: 0.5}]"}, 0, "value is 0.5, allowed: whole percent, 0 to 100"},
    {"deos-client", {"facility.faults=[{kind: krc-lost, value: 6}]"}, 0, "value is 6, allowed: a signal, 1 to 5 (Mode to Pro), or 0: all"},
    {"deos-client", {"facility.faults=[{kind: wall-harder, value: 0}]"}, 0, "value is 0, allowed: above 0, times the stiffness"},
    {"deos-client", {"facility.faults=[{kind: rob-lost, from: 3, to: 2}]"}, 0, "to is 2, allowed: after from = 3 [s]"},
};
/* clang-format on */

static void test_what_does_not_go_together(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof together / sizeof *together; i++) {
        char path[512], expected[2048];
        const ff_scenario_options options = {.set = together[i].set,
                                             .sets = together[i].set[1] ? together[i].set[2] ? 3 : 2 : 1};
        snprintf(path, sizeof path, FF_SOURCE_DIR "/scenarios/%s.yaml", together[i].file);
        const ff_status status =
            ff_scenario_load(path, &options, &s, message, sizeof message, warnings, sizeof warnings);
        if (together[i].of >= 0)
            snprintf(expected, sizeof expected, "--set %s: %s", together[i].set[together[i].of],
                     together[i].said);
        else
            snprintf(expected, sizeof expected, "%s%s%s", together[i].of == IN_FILE ? path : "",
                     together[i].of == IN_FILE ? ":" : "", together[i].said);
        assert_string_equal(message, expected);
        /* a method that cannot run it is no mistake of the file */
        assert_int_equal(status, strstr(message, "computes the contact force itself") ? FF_ERR_UNSUPPORTED
                                                                                      : FF_ERR_FORMAT);
    }
}

/* What only nearly looks wrong is read, and means what it says. */
static void test_what_does_go_together(void **state) {
    (void)state;
    static const struct {
        const char *file, *set;
    } row[] = {{"envisat-capture", "satellites.servicer.arm.links.3.parent=base"},
               {"envisat-capture", "satellites.servicer.arm.links.3.parent=link1"},
               {"deos-client", "satellites.client.sensor={kind: noisy, wired: [-2, 1, 3]}"},
               {"deos-client", "contacts.0.stiffness=[2000, 3000]"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[512];
        const ff_scenario_options options = {.set = &row[i].set, .sets = 1};
        snprintf(path, sizeof path, FF_SOURCE_DIR "/scenarios/%s.yaml", row[i].file);
        assert_int_equal(
            ff_scenario_load(path, &options, &s, message, sizeof message, warnings, sizeof warnings), FF_OK);
        assert_string_equal(message, "");
        const int servicer = ff_scenario_servicer(&s);
        if (i < 2)
            assert_int_equal(s.satellite[servicer].arm.link[3].row.parent, i == 0 ? FF_TREE_BASE : 0);
        if (i == 2)
            assert_true(s.satellite[0].sensor.wired.x == -2 && s.satellite[0].sensor.wired.y == 1);
        if (i == 3) /* 1/(1/2000 + 1/3000) */
            assert_near(s.contact[0].stiffness, 1200, 1e-10);
    }
}

/* Bytes that are no text, where they stand. */
static void test_text_that_is_not_text(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *said;
    } row[] = {
        {"a: \xff", "F:1:4: the text is not UTF-8 (byte 0xff), allowed: a YAML text file"},
        {"a: \x80", "F:1:4: the text is not UTF-8 (byte 0x80), allowed: a YAML text file"},
        {"a: \xc0\x80", "F:1:4: the text is not UTF-8 (byte 0xc0), allowed: a YAML text file"},
        {"a: \xe2\x82", "F:1:4: the text is not UTF-8 (byte 0xe2), allowed: a YAML text file"},
        {"a: \xe2\x41\x82", "F:1:4: the text is not UTF-8 (byte 0xe2), allowed: a YAML text file"},
        {"a: \xed\xa0\x80", "F:1:4: the text is not UTF-8 (byte 0xed), allowed: a YAML text file"},
        {"a: \xf4\x90\x80\x80", "F:1:4: the text is not UTF-8 (byte 0xf4), allowed: a YAML text file"},
        {"a: \xf8\x90\x80\x80", "F:1:4: the text is not UTF-8 (byte 0xf8), allowed: a YAML text file"},
        {"a: b\n\001", "F:2:1: a control character (0x01), allowed: a YAML text file"},
        {"a: b\n \x7f", "F:2:2: a control character (0x7f), allowed: a YAML text file"},
        {"a: \xc2\x80", "F:1:4: a control character (0x80), allowed: a YAML text file"},
        {"a: \xef\xbf\xbe", "F:1:4: a control character (0xfffe), allowed: a YAML text file"},
        {"a: \xef\xbf\xbf", "F:1:4: a control character (0xffff), allowed: a YAML text file"},
        {"a: \xef\xbb\xbf", "F:1:4: a control character (0xfeff), allowed: a YAML text file"},
        {"a: \"x\\0y\"", "F:1:4: a zero byte inside a text, allowed: printable characters"},
        {"\xef\xbb\xbf", "F:1:1: the file is empty, allowed: a scenario"},
        {"{[a]: 1}", "F:1:2: a list as a key, allowed: a word"},
        {"[1, 2]", "F:1:1: "},
        {"a: b\n---\na: c", "F:2:1: a second document, allowed: one per file"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(ff_scenario_parse("F", row[i].bytes, strlen(row[i].bytes), NULL, &s, message,
                                           sizeof message, warnings, sizeof warnings),
                         FF_ERR_FORMAT);
        if (strncmp(message, row[i].said, strlen(row[i].said)) != 0)
            fail_msg("%zu: '%s', not '%s'", i, message, row[i].said);
    }
    /* longer than allowed: not looked at */
    assert_int_equal(ff_scenario_parse("F", "", (size_t)FF_TREE_BYTES + 1, NULL, &s, message, sizeof message,
                                       warnings, sizeof warnings),
                     FF_ERR_FORMAT);
    assert_string_equal(message, "F:1:1: the file has 16777217 bytes, allowed: at most 16 MB");
    ff_scenario_template *t = NULL;
    assert_int_equal(ff_scenario_template_create("F", "", (size_t)FF_TREE_BYTES + 1, NULL, NULL, 0, &t,
                                                 message, sizeof message),
                     FF_ERR_FORMAT);
    assert_string_equal(message, "F:1:1: the file has 16777217 bytes, allowed: at most 16 MB");
    assert_null(t);
    assert_int_equal(ff_scenario_template_create("F", "", 0, NULL, NULL, 0, &t, message, sizeof message),
                     FF_ERR_FORMAT);
    ff_scenario_template_free(NULL); /* nothing */
    /* nobody to tell */
    assert_int_equal(ff_scenario_parse("F", "a: 1", 4, NULL, &s, NULL, 0, NULL, 0), FF_ERR_FORMAT);
}

/* ----------------------------------------------------------------------------------- methods and settings --
 */

/* A library's method with a setting of each type. */
typedef struct own {
    double real, open, up, down, word_or_number;
    uint64_t whole;
    bool flag;
    int choice;
    ff_vec3 vector;
    double inner;
} own;
static const char *const own_words[] = {"first", "second", NULL}, *const own_none[] = {"none", NULL};
#define OWN(field) .name = #field, .offset = offsetof(own, field), .unit = "", .help = "", .absent = "0"
static const ff_setting own_setting[] = {
    {OWN(real), .type = FF_SETTING_REAL, .low = -1, .high = 2},
    {OWN(open), .type = FF_SETTING_REAL, .low = -1, .high = 2, .above_low = true, .below_high = true},
    {OWN(up), .type = FF_SETTING_REAL, .low = 3, .high = FF_INF, .above_low = true, .initial = 4},
    {OWN(down), .type = FF_SETTING_REAL, .low = -FF_INF, .high = 3, .below_high = true},
    {OWN(word_or_number), .type = FF_SETTING_REAL, .low = -FF_INF, .high = FF_INF, .choice = own_none},
    {OWN(whole), .type = FF_SETTING_INTEGER, .low = 2, .high = 5, .initial = 2},
    {OWN(flag), .type = FF_SETTING_BOOLEAN},
    {OWN(choice), .type = FF_SETTING_CHOICE, .choice = own_words},
    {OWN(vector), .type = FF_SETTING_VECTOR, .low = -FF_INF, .high = 1},
    {.name = "group", .type = FF_SETTING_GROUP, .unit = "", .help = "", .absent = "{}"},
    {.name = "group.inner",
     .type = FF_SETTING_REAL,
     .offset = offsetof(own, inner),
     .unit = "N",
     .help = "",
     .absent = "0",
     .low = 0,
     .high = FF_INF}};
static const ff_method own_method = {.abi = FF_METHOD_ABI,
                                     .size = sizeof(ff_method),
                                     .name = "own",
                                     .version = "1",
                                     .help = "",
                                     .setting = own_setting,
                                     .settings = sizeof own_setting / sizeof *own_setting,
                                     .setting_bytes = sizeof(own)};
static ff_method_section own_section;
static ff_method_library own_library = {.method = &own_method, .section = &own_section, .hash = "abc"};

static const ff_method_library *open_own(const char *path, char *text, size_t size) {
    if (strcmp(path, "./own.so") == 0)
        return &own_library;
    snprintf(text, size, "no such library");
    return NULL;
}

static const ff_catalog libraries = {.open = open_own}, closed = {.open = NULL};

static ff_status read_with(const ff_catalog *catalog, const char *method, const char *more) {
    char text[1200];
    snprintf(text, sizeof text,
             "name: a\ntime: {cycle: 0.004, duration: 1}\nsatellites: {b: {mass: 2, inertia: [1, 1, 1]}}\n%s",
             more);
    const ff_scenario_options options = {.catalog = catalog, .method = method};
    return ff_scenario_parse("F", text, strlen(text), &options, &s, message, sizeof message, warnings,
                             sizeof warnings);
}

static void test_settings_of_a_method_library(void **state) {
    (void)state;
    ff_method_section_create(&own_method, &own_section);
    assert_int_equal(
        read_with(&libraries, NULL,
                  "method: ./own.so\n"
                  "own: {real: -1, open: 1.5, up: 3.5, down: -9, word_or_number: none, whole: 5, "
                  "flag: true, choice: second, vector: [1, -2, 0.5], group: {inner: 7}}\n"),
        FF_OK);
    const own *o = (const own *)ff_scenario_setting(&s, &own_method)->bytes;
    assert_true(o->real == -1 && o->open == 1.5 && o->up == 3.5 && o->down == -9 && isinf(o->word_or_number));
    assert_true(o->whole == 5 && o->flag && o->choice == 1 && o->vector.y == -2 && o->inner == 7);
    assert_string_equal(ff_scenario_method_name(&s), "own");
    char text[512];
    ff_scenario_settings_text(&s, text, sizeof text);
    assert_string_equal(text,
                        "real: -1, open: 1.5, up: 3.5, down: -9, word_or_number: inf, whole: 5, flag: 1, "
                        "choice: second, group.inner: 7");
    ff_scenario_settings_text(&s, text, 12); /* cut, not beyond */
    assert_string_equal(text, "real: -1, o");
    static const struct {
        const char *more, *said;
    } row[] = {{"own: {real: 2.5}", "F:5:13: real is 2.5, allowed: -1 to 2"},
               {"own: {open: 2}", "F:5:13: open is 2, allowed: > -1 and < 2"},
               {"own: {open: -1}", "F:5:13: open is -1, allowed: > -1 and < 2"},
               {"own: {up: 3}", "F:5:11: up is 3, allowed: > 3"},
               {"own: {down: 3}", "F:5:13: down is 3, allowed: < 3"},
               {"own: {word_or_number: some}", "F:5:23: word_or_number must be a number, not 'some'"},
               {"own: {whole: 6}", "F:5:14: whole is 6, allowed: 2 to 5"},
               {"own: {flag: 2}", "F:5:13: unknown flag '2', allowed: false, true"},
               {"own: {choice: third}", "F:5:15: unknown choice 'third', allowed: first, second"},
               {"own: {vector: [1, 2, 0]}", "F:5:19: vector is 2, allowed: <= 1"},
               {"own: {group: {inner: -1}}", "F:5:22: inner is -1, allowed: >= 0 [N]"},
               {"own: {nothing: 1}", "F:5:7: unknown key 'nothing' in own, allowed: real, open"},
               {"other: {}", "F:5:1: unknown key 'other' in the scenario"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char more[128];
        snprintf(more, sizeof more, "method: ./own.so\n%s\n", row[i].more);
        assert_int_equal(read_with(&libraries, NULL, more), FF_ERR_FORMAT);
        if (strncmp(message, row[i].said, strlen(row[i].said)) != 0)
            fail_msg("'%s', not '%s'", message, row[i].said);
    }
    /* another method is asked for: the library's map may stay in the file, where libraries are opened */
    assert_int_equal(read_with(&libraries, "tdpa", "method: ./own.so\nown: {real: 1}\n"), FF_OK);
    assert_ptr_equal(s.method, &ff_method_tdpa);
    assert_int_equal(read_with(&libraries, "tdpa", "method: ./gone.so\n"), FF_OK);
    assert_int_equal(read_with(&libraries, "./own.so", ""), FF_OK);
    assert_ptr_equal(ff_scenario_library(&s), &own_library);
    assert_int_equal(read_with(&libraries, "./gone.so", ""), FF_ERR_FORMAT);
    assert_string_equal(message, "--method ./gone.so: no such library");
    assert_int_equal(read_with(NULL, NULL, "method: ./own.so\n"), FF_ERR_FORMAT);
    assert_string_equal(message, "F:4:9: method library ./own.so: method libraries are not loaded here");
    assert_int_equal(read_with(&libraries, NULL, "method: ./gone.so\n"), FF_ERR_FORMAT);
    assert_string_equal(message, "F:4:9: method library ./gone.so: no such library");
    /* left closed: read as with `direct`, what no key explains is taken for its settings */
    char file[1024];
    snprintf(file, sizeof file, "method: %s\nown: {anything: 1}\n", FF_SOURCE_DIR "/README.md");
    assert_int_equal(read_with(&closed, NULL, file), FF_OK);
    assert_ptr_equal(s.method, &ff_method_direct);
    assert_string_equal(s.unchecked, FF_SOURCE_DIR "/README.md");
    assert_non_null(strstr(warnings, "is not loaded: its settings are unchecked"));
    snprintf(file, sizeof file, "method: %s\nown: 1\n", FF_SOURCE_DIR "/README.md");
    assert_int_equal(read_with(&closed, NULL, file), FF_ERR_FORMAT);
    assert_int_equal(read_with(&closed, NULL, "method: ./gone.so\n"), FF_ERR_FORMAT);
    assert_string_equal(message,
                        "F:4:9: method library ./gone.so: cannot be read: No such file or directory");
    assert_int_equal(read_with(&closed, "./gone.so", ""), FF_ERR_FORMAT);
    assert_string_equal(message, "--method ./gone.so: cannot be read: No such file or directory");
    assert_int_equal(read_with(&closed, FF_SOURCE_DIR "/docs", ""), FF_ERR_FORMAT);
    assert_non_null(strstr(message, ": cannot be read: not a regular file"));
    /* what a scenario may be run with beside its own method */
    assert_int_equal(read_with(&libraries, NULL, "method: ./own.so\n"), FF_OK);
    assert_ptr_equal(ff_scenario_take_method(&s, &libraries, "./own.so", message, sizeof message),
                     &own_method);
    assert_ptr_equal(ff_scenario_take_method(&s, NULL, "tdpa", message, sizeof message), &ff_method_tdpa);
    assert_null(ff_scenario_take_method(&s, &libraries, "./gone.so", message, sizeof message));
    assert_string_equal(message, "no such library");
    assert_null(ff_scenario_take_method(&s, NULL, "tpda", message, sizeof message));
    assert_string_equal(
        message, "is not a method, allowed: direct, tdpa, damping, impact, fused, or the path of a library");
    assert_int_equal(read_with(&libraries, NULL, ""), FF_OK);
    const int had = s.setups;
    assert_ptr_equal(ff_scenario_take_method(&s, &libraries, "./own.so", message, sizeof message),
                     &own_method);
    assert_int_equal(s.setups, had + 1); /* with its defaults */
    assert_true(((const own *)ff_scenario_setting(&s, &own_method)->bytes)->up == 4);
    s.setups = FF_MAX_METHODS;
    s.setup[had].method = NULL;
    assert_null(ff_scenario_take_method(&s, &libraries, "./own.so", message, sizeof message));
    assert_string_equal(message, "more than 12 methods, allowed: fewer");
}

static void test_words_for_methods(void **state) {
    (void)state;
    char text[64];
    message[0] = 0;
    assert_string_equal(ff_scenario_method_word(NULL, "tdpa", message, sizeof message), "tdpa");
    assert_string_equal(ff_scenario_method_word(&libraries, "./own.so", message, sizeof message), "own");
    assert_null(ff_scenario_method_word(&libraries, "./gone.so", message, sizeof message));
    assert_string_equal(message, "no such library");
    assert_ptr_equal(ff_scenario_method_library(&libraries, "./own.so", message, sizeof message),
                     &own_library);
    assert_null(ff_scenario_method_library(&libraries, "./gone.so", message, sizeof message));
    assert_string_equal(message, "no such library");
    assert_null(ff_scenario_method_library(NULL, "tdpa", message, sizeof message));
    assert_string_equal(message, "");
    static const struct {
        const char *text, *set;
    } row[] = {{"threshold=3", "tdpa.threshold=3"},
               {"integrator=euler", "integrator=euler"},
               {"satellites.b.mass=3", "satellites.b.mass=3"},
               {"reading", "tdpa.reading"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_true(ff_scenario_variant_set("tdpa", row[i].text, strlen(row[i].text), text, sizeof text));
        assert_string_equal(text, row[i].set);
    }
    assert_false(ff_scenario_variant_set("tdpa", "threshold=3", 11, text, 16));
    assert_true(ff_scenario_variant_set("tdpa", "threshold=3", 11, text, 17));
}

/* -------------------------------------------------------------------------- every mistake, not the first --
 */

typedef struct slot { /* in the text: what is right, what is wrong, what is said of it */
    const char *right, *wrong, *said;
} slot;

static const slot slots[] = {
    {"cycle: 0.004", "cycle: -1", "cycle is -1"},
    {"seed: 1", "sead: 1", "unknown key 'sead'"},
    {"mass: 280", "mass: -5", "mass is -5"},
    {"inertia: [18, 20, 22]", "inertia: [0, 0, 0]", "inertia is not positive definite"},
    {"position: [0, 0, 0]", "position: [0, 0]", "position"},
    {"points: {tip: [0.3, 0, 0]}", "points: {com: [0.3, 0, 0]}", "the point 'com' always exists"},
    {"kind: delay, delay: 0.04", "kind: delay, delay: x", "delay must be a number"},
    {"mockup: {mass: 3, inertia: [1, 1, 1]}", "mockup: {mass: 3, inertia: [1, 1, 9]}", "triangle inequality"},
    {"wired: [1, 2, 3]", "wired: [1, 2, 2]", "wired must name each axis once"},
    {"mass: 90, ", "", "lacks the key 'mass'"},
    {"inertia: [2, 2, 2]", "inertia: [1, 1, 5]", "principal moments 1, 1, 5"},
    {"body: a, at: [0, 0, 1]", "body: a, at: [0, 0, -1]", "contact front is compressed by 1 m"},
    {"stiffness: 2000", "stifness: 2000", "unknown key 'stifness'"},
    {"normal: [0, 0, -1]", "normal: [0, 0, 0]", "normal"},
    {"body: a, against: b", "body: a, against: a", "against names the body itself"},
    {"position: [1, 1, 1], rotation: [1, 1, 1], stiffness: 9", "stiffness: 9", "contact 3 has no stop"},
    {"rotation_stiffness: 7", "rotation_damping: 0", "contact 4 lacks the key 'rotation_stiffness'"},
    {"from: 1, to: 2, force: [1, 0, 0]", "from: 2, to: 1, force: [1, 0, 0]",
     "to is 1, allowed: after from = 2"},
    {"from: 3, to: 4, torque: [1, 0, 0]", "from: 3, to: 4", "load 2 is empty"},
    {"kind: ft-mirrored, value: 3", "kind: ft-mirrored, value: 9", "value is 9"},
    {"kind: ft-offset, from: 1, to: 2", "kind: ft-offset, from: 2, to: 1",
     "to is 1, allowed: after from = 2"},
    {"method: tdpa", "method: tpda", "unknown method 'tpda'"},
    {"integrator: splitting", "integrator: euler",
     "contact_wrench 'held' does not go with integrator 'euler'"},
    {"source: real", "source: unreal", "unreal"},
};
enum { SLOTS = sizeof slots / sizeof *slots };

static const char layout[] =
    "name: x\n"
    "time: {cycle: 0.004, duration: 8, seed: 1}\n"
    "method: tdpa\n"
    "integrator: splitting\n"
    "contact_wrench: held\n"
    "satellites:\n"
    "  a:\n"
    "    mass: 280\n"
    "    inertia: [18, 20, 22]\n"
    "    position: [0, 0, 0]\n"
    "    points: {tip: [0.3, 0, 0]}\n"
    "    robot: {kind: delay, delay: 0.04}\n"
    "    sensor: {kind: ati-rdt, wired: [1, 2, 3]}\n"
    "    mockup: {mass: 3, inertia: [1, 1, 1]}\n"
    "  b: {mass: 90, inertia: [2, 2, 2], position: [5, 0, 0]}\n"
    "contacts:\n"
    "  - {name: front, kind: wall, body: a, at: [0, 0, 1], normal: [0, 0, -1], "
    "stiffness: 2000, source: real}\n"
    "  - {name: both, kind: pair, body: a, against: b, at: [-1, 0, 0], normal: [-1, 0, 0], stiffness: 5}\n"
    "  - {name: ends, kind: stops, body: a, position: [1, 1, 1], rotation: [1, 1, 1], "
    "stiffness: 9, rotation_stiffness: 9}\n"
    "  - {name: turns, kind: stops, body: a, rotation: [1, 1, 1], rotation_stiffness: 7}\n"
    "loads:\n"
    "  - {body: a, from: 1, to: 2, force: [1, 0, 0]}\n"
    "  - {body: a, from: 3, to: 4, torque: [1, 0, 0]}\n"
    "facility:\n"
    "  faults:\n"
    "    - {kind: ft-mirrored, value: 3}\n"
    "    - {kind: ft-offset, from: 1, to: 2}\n";

/* What needs a value that the other mistake takes away is not asked for beside it. */
static bool hides(int mistake, int by) {
    static const char *const pair[][2] = {{"[0, 0, -1]", "position: [0, 0]"},
                                          {"[0, 0, -1]", "normal: [0, 0, 0]"}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
        if (strstr(slots[mistake].wrong, pair[i][0]) && !strncmp(slots[mistake].wrong, "body", 4) &&
            strstr(slots[by].wrong, pair[i][1]))
            return true;
    return false;
}

static void make_mistakes(const int *which, int count, char *text, size_t size) {
    snprintf(text, size, "%s", layout);
    for (int i = 0; i < count; i++) {
        const slot *m = &slots[which[i]];
        char rest[sizeof layout + 400];
        char *at = strstr(text, m->right);
        assert_non_null(at);
        snprintf(rest, sizeof rest, "%s", at + strlen(m->right));
        snprintf(at, size - (size_t)(at - text), "%s%s", m->wrong, rest);
    }
}

static void check_mistakes(const int *which, int count) {
    static char text[sizeof layout + 400];
    const ff_scenario_options all = {.all = true};
    make_mistakes(which, count, text, sizeof text);
    const ff_status status = ff_scenario_parse("x", text, strlen(text), &all, &s, message, sizeof message,
                                               warnings, sizeof warnings);
    if (count == 0 && status != FF_OK)
        fail_msg("the layout is wrong: %s", message);
    assert_true(count == 0 || status < 0);
    for (int i = 0; i < count; i++) {
        bool hidden = false;
        for (int k = 0; k < count; k++)
            hidden = hidden || hides(which[i], which[k]);
        if (!hidden && !strstr(message, slots[which[i]].said))
            complain("'%s' is not reported beside '%s' and '%s': %s", slots[which[i]].wrong,
                     slots[which[(i + 1) % count]].wrong, slots[which[(i + 2) % count]].wrong, message);
    }
}

static void test_every_mistake_is_reported(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    complaints = 0;
    check_mistakes(NULL, 0);
    for (int a = 0; a < SLOTS; a++)
        for (int b = a; b < SLOTS; b++)
            check_mistakes((int[]){a, b}, a == b ? 1 : 2);
    for (int n = 0; n < test_count(300, 20000); n++) {
        int which[3];
        for (int i = 0; i < 3; i++)
            which[i] = (int)(ff_rng_uniform(&rng) * SLOTS) % SLOTS;
        if (which[0] != which[1] && which[1] != which[2] && which[0] != which[2])
            check_mistakes(which, 3);
    }
    assert_int_equal(complaints, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_refuses_what_it_cannot_be),
        cmocka_unit_test(test_what_does_not_go_together),
        cmocka_unit_test(test_every_mistake_is_reported),
        cmocka_unit_test(test_what_does_go_together),
        cmocka_unit_test(test_text_that_is_not_text),
        cmocka_unit_test(test_settings_of_a_method_library),
        cmocka_unit_test(test_words_for_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
