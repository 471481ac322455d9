/* Satellites: their points, arms and on-board software. */
#include "scenario/internal.h"
#include "text/number.h"

#include <stdio.h>
#include <string.h>

bool ff__read_points(ff_reader *r, const ff_node *node, const ff_key *key, ff_satellite *satellite) {
    satellite->points = 1;
    satellite->point[0] = (ff_point){.name = "com"};
    if (node->kind != FF_NODE_MAP)
        return ff_reader_fail(r, node->place, "points must be a map, not %s, allowed: {tip: [x, y, z]}",
                              ff_node_kind_text(node));
    bool good = true;
    for (const ff_node *child = node->child; child && (good || ff_reader_all(r)); child = child->next) {
        if (strcmp(child->key, "com") == 0) {
            good =
                ff_reader_fail(r, child->key_place, "the point 'com' always exists, allowed: another name");
            continue;
        }
        good = ff_reader_name(r, child->key_place, "point", child->key) && good;
        if (!good && !ff_reader_all(r))
            return false;
        if (satellite->points == FF_MAX_POINTS)
            return ff_reader_fail(r, child->key_place, "more than %d points, allowed: fewer",
                                  FF_MAX_POINTS - 1);
        ff_point *point = &satellite->point[satellite->points++];
        ff_key item = *key;
        item.key = child->key;
        item.type = FF_TYPE_VEC3;
        snprintf(point->name, sizeof point->name, "%s", child->key);
        good = ff_reader_numbers(r, child, &item, 3, point->r.a) && good;
    }
    return good;
}

/* What is wrong with a number of it, or with the mass, was said; `weight` is that of the mass, NULL: none. */
static bool check_inertia(ff_reader *r, const ff_node *node, const ff_node *weight, const char *key,
                          ff_rigid_config config) {
    if (r->faults) {
        bool given = node != NULL && ff_reader_sound(r, node), read = false, in_range;
        double number;
        for (int i = 0; i < 9; i++)
            read = read || config.inertia.m[i / 3][i % 3] != 0.0;
        /* zero: as it stands there, or it belongs to another kind and was not read */
        for (const ff_node *item = given && !read ? node->child : NULL; item; item = item->next)
            given = given && ff_number_parse(item->text, &number, &in_range) && number == 0.0;
        if (!given)
            return true;
        if (!weight || !ff_reader_sound(r, weight))
            config.mass = 1.0;
    }
    if (ff_rigid_validate(&config) == FF_OK)
        return true;
    ff_vec3 moment;
    ff_mat3 axes;
    ff_mat3_eigen(config.inertia, &moment, &axes);
    const char *const wrong =
        moment.x > 0.0 ? "violates the triangle inequality" : "is not positive definite";
    return ff_reader_fail(
        r, node->place,
        "%s %s: principal moments %.6g, %.6g, %.6g, allowed: all > 0 and none above the sum of the "
        "other two [kg m2]",
        key, wrong, moment.x, moment.y, moment.z);
}

bool ff__read_links(ff_reader *r, const ff_node *node, const ff_key *key, ff_servicer_arm *arm) {
    if (arm->links > 0)
        return ff_reader_fail(r, node->place, "links beside a model, allowed: one of them");
    if (node->kind != FF_NODE_LIST || node->count < 1 || node->count > FF_MAX_ARM_LINKS)
        return ff_reader_fail(r, node->place,
                              "links must be a list of 1 to %d, allowed: - {mass, inertia, ...} items",
                              FF_MAX_ARM_LINKS);
    bool good = true;
    for (const ff_node *item = node->child; item && (good || ff_reader_all(r)); item = item->next) {
        ff_servicer_link *link = &arm->link[arm->links];
        snprintf(link->name, sizeof link->name, "link%d", arm->links + 1);
        good = ff__read_section(r, item, key->section, link) && good;
        if (!good && !ff_reader_all(r))
            return false;
        link->row.upper = link->row.velocity = FF_INF;
        link->row.lower = -FF_INF;
        link->row.parent = arm->links - 1; /* the base is -1 */
        const ff_node *parent = ff_node_find(item, "parent");
        if (parent) {
            link->row.parent = strcmp(link->parent, "base") == 0 ? FF_TREE_BASE : -2;
            for (int i = 0; i < arm->links; i++)
                if (strcmp(arm->link[i].name, link->parent) == 0)
                    link->row.parent = i;
            if (link->row.parent == -2)
                good = ff_reader_fail(r, parent->place,
                                      "no link '%s' stands above '%s', allowed: base, or a link above "
                                      "(closed loops are not supported)",
                                      ff_show(link->parent).text, ff_show(link->name).text);
        }
        arm->joints += link->row.joint != FF_JOINT_FIXED;
        arm->links++;
    }
    return good;
}

static bool read_joints(ff_reader *r, const ff_node *section, const ff_section *keys,
                        const ff_servicer_arm *arm, double *q) {
    const ff_node *node = ff_node_find(section, "joints");
    if (!node)
        return true;
    if (node->kind != FF_NODE_LIST)
        return ff_reader_fail(r, node->place, "joints must be a list, not %s, allowed: [q1, q2, ...]",
                              ff_node_kind_text(node));
    if (node->count != arm->joints)
        return ff_reader_fail(r, node->place,
                              "joints has %d values, allowed: one for each of the arm's %d joints",
                              node->count, arm->joints);
    return ff_reader_numbers(r, node, ff__find_key(keys, "joints"), arm->joints, q);
}

static bool check_positions(ff_reader *r, const ff_node *node, const ff_servicer_arm *arm, const double *q) {
    for (int i = 0; i < arm->links; i++) {
        const ff_servicer_link *link = &arm->link[i];
        if (link->row.joint == FF_JOINT_FIXED)
            continue;
        if (!(*q >= link->row.lower && *q <= link->row.upper))
            return ff_reader_fail(r, node->place,
                                  "joints: the joint of '%s' is at %.9g, allowed: %.9g to %.9g",
                                  ff_show(link->name).text, *q, link->row.lower, link->row.upper);
        q++;
    }
    return true;
}

static const ff_section *below(const ff_section *section, const char *key) {
    return ff__find_key(section, key)->section;
}

static bool check_most(ff_reader *r, const ff_node *node, const char *key, double value, double most) {
    const ff_node *given = ff_node_find(node, key);
    return value <= most || ff_reader_fail(r, given ? given->place : node->place,
                                           "%s is %.9g, allowed: at most %.9g", key, value, most);
}

static bool check_ipv4(ff_reader *r, const ff_node *node, const char *key, const char *text) {
    const ff_node *given = ff_node_find(node, key);
    unsigned part[4];
    char after;
    bool good = sscanf(text, "%3u.%3u.%3u.%3u%c", &part[0], &part[1], &part[2], &part[3], &after) == 4 &&
                text[strspn(text, "0123456789.")] == 0;
    for (int i = 0; i < 4 && good; i++)
        good = part[i] <= 255;
    return good ||
           ff_reader_fail(r, given ? given->place : node->place,
                          "%s is '%s', allowed: an IPv4 address, e.g. 127.0.0.1", key, ff_show(text).text);
}

static bool check_obsw(ff_reader *r, const ff_node *node, ff_obsw_config *o) {
    const ff_node *navigation = ff_node_find(node, "navigation");
    if (!ff_node_find(node, "hold"))
        o->hold = FF_NAN; /* ten cycles, once the cycle is known */
    if (!ff_node_find(node, "timeout"))
        o->timeout = o->kind == 1 ? 1.0 : 0.5;
    const struct {
        const ff_node *in;
        const char *key;
        double value, most;
        bool udp;
    } bound[] = {{navigation, "delay", o->navigation.delay, 60, false},
                 {navigation, "star_tracker_delay", o->navigation.star_tracker_delay, 60, false},
                 {navigation, "gyro_delay", o->navigation.gyro_delay, 60, false},
                 {navigation, "encoder_delay", o->navigation.encoder_delay, 60, false},
                 {node, "timeout", o->timeout, 60, false},
                 {node, "port", (double)o->port, 65535, true},
                 {node, "local_port", (double)o->local_port, 65535, true},
                 {node, "apid", (double)o->apid, 2046, true},
                 {node, "command_apid", (double)o->command_apid, 2046, true},
                 {node, "connect", o->connect, 600, true}};
    const bool all = ff_reader_all(r);
    bool good = true;
    for (size_t i = 0; i < sizeof bound / sizeof *bound && (good || all); i++)
        if (bound[i].in && (!bound[i].udp || o->kind == 2))
            good = check_most(r, bound[i].in, bound[i].key, bound[i].value, bound[i].most) && good;
    if (o->kind != 2 || (!good && !all))
        return good;
    if (o->port == 0)
        good = ff_reader_fail(r, node->place, "port is 0, allowed: 1 to 65535");
    if (good || all)
        good = check_ipv4(r, node, "address", o->address) && good;
    if (good || all)
        good = check_ipv4(r, node, "local_address", o->local_address) && good;
    return good;
}

/* Arm and on-board software belong together; the tree must be physical. */
static bool read_servicer(ff_reader *r, const ff_node *node, const ff_section *section,
                          ff_satellite *satellite) {
    const ff_node *arm = ff_node_find(node, "arm"), *obsw = ff_node_find(node, "obsw");
    satellite->arm.present = arm != NULL;
    if (!arm && obsw)
        return ff_reader_fail(r, obsw->place, "obsw without an arm, allowed: on a satellite with an arm");
    if (!arm)
        return true;
    if (!obsw)
        return ff_reader_fail(r, arm->place,
                              "an arm without obsw, allowed: obsw: {goal: {position: [x, y, z]}}");
    if (satellite->arm.links == 0)
        return ff_reader_fail(r, arm->place, "%s lacks the key 'links', allowed: list, or model: FILE.urdf",
                              ff__where(r));
    const bool all = ff_reader_all(r);
    bool good = read_joints(r, arm, below(section, "arm"), &satellite->arm, satellite->arm.q) &&
                check_positions(r, arm, &satellite->arm, satellite->arm.q);
    if (!good && !all)
        return false;
    memcpy(satellite->obsw.q, satellite->arm.q, sizeof satellite->obsw.q);
    const bool leads = ff_node_find(obsw, "joints") || good; /* else they are the arm's */
    good = (!leads || (read_joints(r, obsw, below(section, "obsw"), &satellite->arm, satellite->obsw.q) &&
                       check_positions(r, obsw, &satellite->arm, satellite->obsw.q))) &&
           good;
    if (!good && !all)
        return false;
    good = check_obsw(r, obsw, &satellite->obsw) && good;
    if (!good && !all)
        return false;
    if (satellite->obsw.kind != 0)
        satellite->obsw.goal = ff_pose_identity();
    else if (!(satellite->obsw.arrive > satellite->obsw.approach))
        good = ff_reader_fail(r, obsw->place, "arrive is %.9g, allowed: after approach = %.9g [s]",
                              satellite->obsw.arrive, satellite->obsw.approach);
    if (!good && !all)
        return false;
    ff_tree_config tree;
    ff_tree_link_config link[FF_MAX_ARM_LINKS];
    char text[200];
    ff_scenario_tree(satellite, &tree, link);
    if (satellite->arm.joints < 1 || ff_tree_validate(&tree, text, sizeof text) != FF_OK)
        return ff_reader_fail(r, arm->place, "the arm configuration is invalid: %s",
                              satellite->arm.joints < 1 ? "no joint moves" : text);
    return good;
}

/* safety: cautious. For a first run: slow, near, soft, and ended early rather than late. docs/safety.md has
 * the table. */
static const struct {
    const char *key;
    size_t offset;
    double value;
} cautious[] = {
#define CAUTIOUS(field, value) \
    { #field, offsetof(ff_safety_limits, field), value }
    CAUTIOUS(velocity, 0.1),
    CAUTIOUS(angular_velocity, 0.2),
    CAUTIOUS(acceleration, 2.0),
    CAUTIOUS(angular_acceleration, 4.0),
    CAUTIOUS(jerk, 500.0),
    CAUTIOUS(force, 100.0),
    CAUTIOUS(torque, 20.0),
    CAUTIOUS(spike, 50.0),
    CAUTIOUS(energy, 1.0),
    CAUTIOUS(tracking, 0.005),
    CAUTIOUS(stop_acceleration, 1.0),
    CAUTIOUS(stop_angular_acceleration, 2.0),
#undef CAUTIOUS
};
enum { CAUTIOUS_BOX = 250 }; /* [mm] half width on each axis */

static void fill_cautious(const ff_node *safety, ff_safety_limits *limits) {
    for (size_t i = 0; i < sizeof cautious / sizeof *cautious; i++)
        if (!ff_node_find(safety, cautious[i].key))
            memcpy((char *)limits + cautious[i].offset, &cautious[i].value, sizeof cautious[i].value);
    if (!ff_node_find(safety, "box"))
        limits->box = ff_vec3_make(1e-3 * CAUTIOUS_BOX, 1e-3 * CAUTIOUS_BOX, 1e-3 * CAUTIOUS_BOX);
}

/* How a robot stops is not a limit. */
static void name_limits(const ff_node *safety, ff_satellite *satellite) {
    if (!safety)
        return;
    const bool preset = satellite->safety.preset != 0;
    if (preset)
        fill_cautious(safety, &satellite->safety);
    satellite->safety_named.any = preset;
    for (const ff_node *key = safety->child; key; key = key->next)
        satellite->safety_named.any |= strncmp(key->key, "stop_", 5) != 0 && strcmp(key->key, "preset") != 0;
    satellite->safety_named.tracking = preset || ff_node_find(safety, "tracking") != NULL;
    satellite->safety_named.age = ff_node_find(safety, "age") != NULL;
    satellite->safety_named.missed = ff_node_find(safety, "missed") != NULL;
}

/* Keys of a device that do not go together. */
static bool check_device(ff_reader *r, const ff_node *node, ff_device_kind kind, int n,
                         const ff_device_settings *settings) {
    const ff_device *device = n >= 0 ? ff_device_of(kind, n) : NULL;
    const char *why = device && device->refuse ? device->refuse(settings) : NULL;
    return !why || ff_reader_fail(r, node->place, "%s: %s", device->name, why);
}

/* As many axes as the device commands, each by its name where it has names, and none on a rail as well. */
static bool check_axes(ff_reader *r, const ff_node *robot, const ff_satellite *satellite) {
    const int n = (int)satellite->robot.kind - (int)FF_ROBOT_DEVICE;
    const ff_device *device = n >= 0 ? ff_device_of(FF_DEVICE_ROBOT, n) : NULL;
    const int axes = ff_satellite_axes(satellite);
    if (!device)
        return true;
    const ff_node *arm = ff_node_find(robot, "arm"), *names = ff_node_find(robot, "joints"),
                  *rail = ff_node_find(robot, "rail");
    if (axes > (device->axes ? device->axes : 6))
        return ff_reader_fail(r, arm->place,
                              "the arm has %d axes, allowed with %s: six, as its controllers have (seven: "
                              "kind: ros2)",
                              axes, device->name);
    if (rail && !device->rides)
        return ff_reader_fail(r, rail->key_place,
                              "%s commands no external axis, allowed with a rail: kind: kuka-rsi",
                              device->name);
    if (device->axes && axes != (*satellite->robot.device.joints[6] ? 7 : 6))
        return ff_reader_fail(r, names ? names->place : arm->place,
                              "the arm has %d axes and `joints` %s names, allowed: one for each", axes,
                              axes == 6 ? "seven" : "six");
    return true;
}

static bool read_satellite(ff_reader *r, const ff_node *node, const ff_section *section,
                           ff_satellite *satellite) {
    ff_limiter_default(&satellite->limits);
    const bool all = ff_reader_all(r), whole = ff__read_section(r, node, section, satellite);
    if ((!whole && !all) || (all && node->kind != FF_NODE_MAP))
        return false;
    const ff_node *weight = ff_node_find(node, "mass");
    bool good = check_inertia(r, ff_node_find(node, "inertia"), weight, "inertia", satellite->rigid) && whole;
    if (!good && !all)
        return false;
    /* an arm is checked as a whole */
    static const char *const servicer[] = {"mass", "inertia", "arm", "obsw", NULL};
    good = (!ff_reader_sound_keys(r, node, servicer) || read_servicer(r, node, section, satellite)) && good;
    if (!good && !all)
        return false;
    if (satellite->robot.kind >= FF_ROBOT_DEVICE && satellite->robot.device.lookahead > 0.0) {
        /* smoothed over that time: critically damped, a ramp is followed so much later */
        satellite->robot.damping = 1.0;
        satellite->robot.frequency = 1.0 / (FF_PI * satellite->robot.device.lookahead);
    }
    satellite->robot.rail.present = ff_node_find(ff_node_find(node, "robot"), "rail") != NULL;
    satellite->robot.device.rail = satellite->robot.rail.present;
    const ff_node *robot = ff_node_find(node, "robot"), *own = ff_node_find(robot, "inertia"),
                  *sensor = ff_node_find(node, "sensor"), *own_weight = ff_node_find(robot, "mass");
    good = (!ff_reader_sound(r, robot) ||
            check_device(r, robot, FF_DEVICE_ROBOT, (int)satellite->robot.kind - (int)FF_ROBOT_DEVICE,
                         &satellite->robot.device)) &&
           (!ff_reader_sound(r, robot) || check_axes(r, robot, satellite)) && good;
    if (!good && !all)
        return false;
    good = (!ff_reader_sound(r, sensor) ||
            check_device(r, sensor, FF_DEVICE_SENSOR, (int)satellite->sensor.kind - (int)FF_SENSOR_DEVICE,
                         &satellite->sensor.device)) &&
           good;
    if (!good && !all)
        return false;
    if (!own_weight)
        satellite->robot.inertia.mass = satellite->rigid.mass;
    if (!own)
        satellite->robot.inertia.inertia = satellite->rigid.inertia;
    else
        good = check_inertia(r, own, own_weight ? own_weight : weight, "inertia", satellite->robot.inertia) &&
               good;
    if (!good && !all)
        return false;
    const ff_vec3 wired = satellite->sensor.wired;
    int seen = 0;
    for (int i = 0; i < 3; i++)
        for (int axis = 1; axis <= 3; axis++)
            seen |= fabs(wired.a[i]) == (double)axis ? 1 << axis : 0;
    const ff_node *wiring = ff_node_find(sensor, "wired");
    if (wiring && seen != 14 && ff_reader_sound(r, wiring) &&
        ff_reader_sound(r, ff_node_find(sensor, "kind")))
        good = ff_reader_fail(r, wiring->place,
                              "sensor.wired must name each axis once, allowed: 1, 2, 3, each with its sign");
    if (!good && !all)
        return false;
    name_limits(ff_node_find(node, "safety"), satellite);
    const ff_node *mockup = ff_node_find(node, "mockup");
    satellite->mockup.present = mockup != NULL;
    satellite->mesh.present = ff_node_find(node, "mesh") != NULL;
    const ff_node *inertia = ff_node_find(mockup, "inertia");
    bool point_mass = true;
    for (int i = 0; i < 9; i++)
        point_mass = point_mass && satellite->mockup.inertia.m[i / 3][i % 3] == 0.0;
    return (!inertia || point_mass ||
            check_inertia(r, inertia, ff_node_find(mockup, "mass"), "inertia",
                          (ff_rigid_config){satellite->mockup.mass, satellite->mockup.inertia})) &&
           good;
}

bool ff__read_satellites(ff_reader *r, const ff_node *node, const ff_key *key) {
    ff_scenario *s = r->scenario;
    if (node->kind != FF_NODE_MAP)
        return ff_reader_fail(r, node->place,
                              "satellites must be a map, not %s, allowed: {NAME: {mass, inertia, ...}}",
                              ff_node_kind_text(node));
    if (node->count < 1 || node->count > FF_MAX_BODIES)
        return ff_reader_fail(r, node->place, "%d satellites, allowed: 1 to %d", node->count, FF_MAX_BODIES);
    bool good = true;
    for (const ff_node *child = node->child; child && (good || ff_reader_all(r)); child = child->next) {
        ff_satellite *satellite = &s->satellite[s->satellites++];
        snprintf(satellite->name, sizeof satellite->name, "%s", child->key);
        snprintf(r->path, sizeof r->path, "satellites.%s", child->key);
        good = ff_reader_name(r, child->key_place, "satellite", child->key) &&
               read_satellite(r, child, key->section, satellite) && good;
    }
    r->path[0] = 0;
    return good;
}
