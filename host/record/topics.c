#include "record/topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The run's t = 0 lies ten seconds after the epoch of its stamps: what happens before it has a time too. */
#define EPOCH 10.0
#define SCENE 0.02 /* [s] between two arrows of a force: what an eye sees */

uint64_t ff_topics_stamp(double t) {
    const double ns = 1e9 * (t + EPOCH);
    return ns > 0.0 ? (uint64_t)llround(ns) : 0;
}

static uint64_t row_stamp(const ff_row *row) {
    return ff_topics_stamp(row->t + row->rested);
}

/* ------------------------------------------------------------------------------------------ the table -- */

/* "a,b,c"; malloc'ed. Names hold no comma: the scenario refuses it. */
static char *join_columns(const ff_columns *columns) {
    size_t size = 1;
    for (int i = 0; i < columns->count; i++)
        size += strlen(columns->name[i]) + 1;
    char *text = malloc(size), *at = text;
    for (int i = 0; text && i < columns->count; i++)
        at += sprintf(at, "%s%s", i ? "," : "", columns->name[i]);
    return text;
}

/* A topic of this use; -1 for another's. */
static int list_topic(ff_topics *t, ff_message_kind kind, unsigned use, const char *name) {
    if (!(use & t->use))
        return -1;
    ff_topic *topic = &t->topic[t->count];
    *topic = (ff_topic){.kind = kind, .use = use};
    snprintf(topic->name, sizeof topic->name, "%s", name);
    if (kind < FF_MESSAGE_KINDS) {
        snprintf(topic->type, sizeof topic->type, "%s", ff_message_type(kind));
        topic->schema = ff_message_schema(kind);
    }
    return t->count++;
}

static int list_columns(ff_topics *t, const char *type, unsigned use, const char *name, const char *schema,
                        const char *columns) {
    const int n = list_topic(t, FF_MESSAGE_KINDS, use, name);
    if (n >= 0) {
        snprintf(t->topic[n].type, sizeof t->topic[n].type, "freefloat_msgs/msg/%s", type);
        t->topic[n].schema = schema;
        t->topic[n].columns = columns;
    }
    return n;
}

/* A part of a topic's name as ROS takes it: letters, digits, underscores, no digit first; numbered where two
 * satellites would have the same. */
static void clean(ff_topics *t, int i) {
    char *name = t->body[i].name;
    const char *from = t->scenario->satellite[i].name;
    size_t n = 0;
    if (*from >= '0' && *from <= '9')
        name[n++] = '_';
    for (; *from && n + 8 < sizeof t->body[i].name; from++) {
        const char c = *from;
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name[n++] = good ? c : '_';
    }
    name[n] = 0;
    for (int k = 0; k < i; k++)
        if (strcmp(t->body[k].name, name) == 0)
            snprintf(name + n, 8, "_%c", '0' + i);
}

static void add_body(ff_topics *t, int i) {
    enum { BOTH = FF_TOPIC_LOG | FF_TOPIC_LIVE };
    const struct {
        ff_message_kind kind;
        const char *part;
        int *number;
        unsigned use;
    } list[] = {
        {FF_MESSAGE_POSE_STAMPED, "pose", &t->body[i].pose, BOTH},
        {FF_MESSAGE_TWIST_STAMPED, "twist", &t->body[i].twist, BOTH},
        {FF_MESSAGE_POSE_STAMPED, "robot/pose", &t->body[i].robot, BOTH},
        {FF_MESSAGE_POSE_STAMPED, "target", &t->body[i].command, BOTH},
        {FF_MESSAGE_WRENCH_STAMPED, "wrench", &t->body[i].wrench, BOTH | FF_TOPIC_SENSOR},
        {FF_MESSAGE_ENERGY, "energy", &t->body[i].energy, BOTH},
        {FF_MESSAGE_CLOCK, "clock", &t->body[i].clock, BOTH},
        {FF_MESSAGE_WRENCH_STAMPED, "wrench/raw", &t->body[i].raw, BOTH | FF_TOPIC_SENSOR},
        {FF_MESSAGE_WRENCH_STAMPED, "wrench/applied", &t->body[i].applied, BOTH | FF_TOPIC_SENSOR},
    };
    clean(t, i);
    for (size_t c = 0; c < sizeof list / sizeof *list; c++) {
        char name[FF_TOPIC_NAME];
        snprintf(name, sizeof name, "/%s/%s", t->body[i].name, list[c].part);
        *list[c].number = list_topic(t, list[c].kind, list[c].use, name);
    }
}

static void add_all(ff_topics *t) {
    enum { BOTH = FF_TOPIC_LOG | FF_TOPIC_LIVE, LATCHED = FF_TOPIC_LATCHED, EVERY = FF_TOPIC_EVERY };
    const ff_scenario *s = t->scenario;
    t->cycle = list_columns(t, "Cycle", BOTH, "/cycle", t->text[1], t->text[0]);
    t->input = list_columns(t, "Input", FF_TOPIC_LOG, "/input", t->text[3], t->text[2]);
    t->tuning = list_columns(t, "Tuning", BOTH | LATCHED, "/tuning", t->text[5], t->text[4]);
    t->state = list_topic(t, FF_MESSAGE_STATE, BOTH | LATCHED, "/state");
    t->event = list_topic(t, FF_MESSAGE_EVENT, BOTH | EVERY, "/event");
    t->timing = list_topic(t, FF_MESSAGE_TIMING, BOTH, "/timing");
    t->tf = list_topic(t, FF_MESSAGE_TF, BOTH | EVERY, "/tf");
    t->description = -1;
    if (s->models || ff_scenario_servicer(s) >= 0)
        t->description = list_topic(t, FF_MESSAGE_TEXT, BOTH | LATCHED, "/robot_description");
    t->scene = list_topic(t, FF_MESSAGE_MARKERS, BOTH | LATCHED, "/scene");
    t->forces = list_topic(t, FF_MESSAGE_MARKERS, BOTH, "/forces");
    for (int i = 0; i < s->satellites; i++)
        add_body(t, i);
    t->tf_static = list_topic(t, FF_MESSAGE_TF, BOTH | LATCHED, "/tf_static");
    t->joints = list_topic(t, FF_MESSAGE_JOINT_STATE, BOTH, "/joint_states");
    t->clock = list_topic(t, FF_MESSAGE_TIME, BOTH, "/clock");
    t->diagnostics = list_topic(t, FF_MESSAGE_DIAGNOSTICS, FF_TOPIC_LIVE, "/diagnostics");
}

ff_status ff_topics_init(const ff_scenario *scenario, ff_topic_use use, ff_topics *t) {
    *t = (ff_topics){.scenario = scenario, .use = use, .drawn = -FF_INF};
    ff_status status = ff_columns_init(scenario, &t->columns);
    if (!status)
        status = ff_columns_init_input(scenario, &t->inputs);
    if (!status)
        status = ff_columns_init_tuning(scenario, &t->tunings);
    const ff_columns *list[] = {&t->columns, &t->inputs, &t->tunings};
    for (int i = 0; i < 3 && !status; i++) {
        t->text[2 * i] = join_columns(list[i]);
        t->text[2 * i + 1] = t->text[2 * i] ? ff_message_columns_schema(t->text[2 * i]) : NULL;
        status = t->text[2 * i + 1] ? FF_OK : FF_ERR_MEMORY;
    }
    const size_t most = (size_t)(t->columns.count > t->inputs.count ? t->columns.count : t->inputs.count);
    t->size = most * sizeof(double) + 65536 + FF_SCENE_FORCES_BYTES;
    t->values = malloc((most + 1) * sizeof *t->values);
    t->buffer = malloc(t->size);
    if (!status && (!t->values || !t->buffer))
        status = FF_ERR_MEMORY;
    if (status) {
        ff_topics_free(t);
        return status;
    }
    ff_scene_sizes(scenario, t->drawn_size);
    add_all(t);
    return FF_OK;
}

void ff_topics_free(ff_topics *t) {
    ff_columns_free(&t->columns);
    ff_columns_free(&t->inputs);
    ff_columns_free(&t->tunings);
    for (int i = 0; i < 6; i++)
        free(t->text[i]);
    free(t->values);
    free(t->buffer);
    *t = (ff_topics){0};
}

/* ------------------------------------------------------------------------------------------ messages -- */

static bool wanted(const ff_topic_taker *taker, int topic) {
    return topic >= 0 && (!taker->wants || taker->wants(taker->self, topic));
}

/* What is said of one instant on one topic is told apart by a nanosecond: a topic's stamps increase. */
static uint64_t next_stamp(ff_topics *t, int topic, double time) {
    const uint64_t at = ff_topics_stamp(time);
    t->stamp[topic] = at > t->stamp[topic] ? at : t->stamp[topic] + 1;
    return t->stamp[topic];
}

static ff_status hand_over(const ff_topics *t, const ff_topic_taker *taker, int topic, uint64_t stamp,
                           ff_status encoded, size_t used) {
    return encoded != FF_OK ? encoded : taker->take(taker->self, topic, stamp, t->buffer, used);
}

/* A robot as the viewers read it, at the run's start: the URDF file itself, or one of an arm's table. */
ff_status ff_topics_describe(ff_topics *t, const char *text, size_t length, const ff_topic_taker *taker) {
    const size_t size = length + 64;
    const uint64_t at = ff_topics_stamp(0.0);
    char *copy = malloc(size), *bytes = malloc(size);
    size_t used = 0;
    ff_status status = copy && bytes ? FF_OK : FF_ERR_MEMORY;
    if (!status) {
        memcpy(copy, text, length);
        copy[length] = 0;
        status = ff_message_text(copy, bytes, size, &used);
    }
    if (!status && wanted(taker, t->description))
        status = taker->take(taker->self, t->description, at, bytes, used);
    free(copy);
    free(bytes);
    return status;
}

/* The lab as viewers expect it, `world`, and the sensors. */
static ff_status put_static(ff_topics *t, const ff_topic_taker *taker) {
    ff_message_transform frame[1 + FF_MAX_BODIES] = {{"world", "inertial", t->scenario->facility_pose}};
    char robot[FF_MAX_BODIES][FF_NAME_SIZE + 8], sensor[FF_MAX_BODIES][FF_NAME_SIZE + 8];
    int n = 1;
    for (int i = 0; i < t->scenario->satellites; i++) {
        const ff_satellite *s = &t->scenario->satellite[i];
        snprintf(robot[i], sizeof robot[i], "%s/robot", s->name);
        snprintf(sensor[i], sizeof sensor[i], "%s/sensor", s->name);
        const ff_pose T_bs = ff_pose_mul(ff_pose_inverse(s->robot.tool), s->sensor.pose);
        frame[n++] = (ff_message_transform){s->sensor.environment ? "world" : robot[i], sensor[i],
                                            s->sensor.environment ? s->sensor.pose : T_bs};
    }
    size_t used;
    const uint64_t at = ff_topics_stamp(0.0);
    const ff_status status = ff_message_tf(at, n, frame, t->buffer, t->size, &used);
    return hand_over(t, taker, t->tf_static, at, status, used);
}

ff_status ff_topics_begin(ff_topics *t, const ff_topic_taker *taker) {
    ff_status status = FF_OK;
    if (!t->scenario->models && ff_scenario_servicer(t->scenario) >= 0) {
        char *text = ff_scene_urdf(t->scenario);
        status = text ? ff_topics_describe(t, text, strlen(text), taker) : FF_ERR_MEMORY;
        free(text);
    }
    /* bodies and walls, once: viewers keep the newest message of a topic */
    void *bytes = NULL;
    size_t used;
    const uint64_t at = ff_topics_stamp(0.0);
    if (!status && wanted(taker, t->scene)) {
        status = ff_scene_bodies(t->scenario, at, &bytes, &used);
        if (!status)
            status = taker->take(taker->self, t->scene, at, bytes, used);
        free(bytes);
    }
    if (!status && wanted(taker, t->tf_static))
        status = put_static(t, taker);
    return status;
}

ff_status ff_topics_event(ff_topics *t, double time, int code, ff_event_level level, const char *text,
                          double value, double limit, const ff_topic_taker *taker) {
    size_t used;
    if (!wanted(taker, t->event))
        return FF_OK;
    const uint64_t at = next_stamp(t, t->event, time);
    const ff_status encoded =
        ff_message_event(at, code, (uint8_t)level, text, value, limit, t->buffer, t->size, &used);
    return hand_over(t, taker, t->event, at, encoded, used);
}

ff_status ff_topics_state(ff_topics *t, double time, int state, const char *name,
                          const ff_topic_taker *taker) {
    size_t used;
    if (!wanted(taker, t->state))
        return FF_OK;
    const uint64_t at = next_stamp(t, t->state, time);
    const ff_status encoded = ff_message_state(at, (uint8_t)state, name, t->buffer, t->size, &used);
    return hand_over(t, taker, t->state, at, encoded, used);
}

ff_status ff_topics_diagnostics(ff_topics *t, double time, int n, const ff_message_diagnostic *status,
                                const ff_topic_taker *taker) {
    size_t used;
    if (!wanted(taker, t->diagnostics))
        return FF_OK;
    const uint64_t at = next_stamp(t, t->diagnostics, time);
    const ff_status encoded = ff_message_diagnostics(at, n, status, t->buffer, t->size, &used);
    return hand_over(t, taker, t->diagnostics, at, encoded, used);
}

/* ---------------------------------------------------------------------------------------------- rows -- */

enum { AXES = 7 };

/* Six and the rail, or seven: an arm of seven stands on none. */
static double axis_of(const ff_scenario *s, int body, const ff_arm_joints *joints, int a, const char **name) {
    static const char *const names[] = {"A1", "A2", "A3", "A4", "A5", "A6", "E1", "A7"};
    const bool rail = a == AXES - 1 && ff_satellite_axes(&s->satellite[body]) < AXES;
    *name = names[a + (a == AXES - 1 && !rail)];
    return rail ? joints->rail : joints->a[a];
}

static int axes_of(const ff_satellite *s) {
    return s->robot.rail.present ? AXES : ff_satellite_axes(s);
}

static ff_status take_clock(ff_topics *t, const ff_row *row, int i, const ff_topic_taker *taker) {
    const ff_row_device *d = &row->body[i].device;
    const uint64_t at = row_stamp(row);
    size_t used;
    if (!d->has_clock || !wanted(taker, t->body[i].clock))
        return FF_OK;
    const ff_message_clock clock = {d->drift, d->offset, d->residual, d->rms};
    const ff_status status = ff_message_put_clock(at, &clock, t->buffer, t->size, &used);
    return hand_over(t, taker, t->body[i].clock, at, status, used);
}

static ff_status take_wrenches(ff_topics *t, const ff_row *row, int i, const ff_topic_taker *taker) {
    const ff_row_body *b = &row->body[i];
    const char *name = t->scenario->satellite[i].name;
    const uint64_t at = row_stamp(row);
    char robot[FF_NAME_SIZE + 8], sensor[FF_NAME_SIZE + 8];
    snprintf(robot, sizeof robot, "%s/robot", name); /* measured at the robot, in its axes */
    snprintf(sensor, sizeof sensor, "%s/sensor", name);
    const struct {
        int topic;
        const char *frame;
        ff_wrench wrench;
    } list[] = {{t->body[i].wrench, robot, b->measured_b},
                {t->body[i].raw, sensor, b->sensor.f_s},
                {t->body[i].applied, name, b->corrected_b}};
    ff_status status = FF_OK;
    for (size_t k = 0; k < sizeof list / sizeof *list && !status; k++) {
        size_t used;
        if (!wanted(taker, list[k].topic))
            continue;
        status = ff_message_wrench(at, list[k].frame, list[k].wrench, t->buffer, t->size, &used);
        status = hand_over(t, taker, list[k].topic, at, status, used);
    }
    return status;
}

static ff_status take_poses(ff_topics *t, const ff_row *row, int i, const ff_topic_taker *taker) {
    const ff_row_body *b = &row->body[i];
    const char *name = t->scenario->satellite[i].name;
    const char *frame = t->scenario->frame == FF_FRAME_RELATIVE ? "robots" : "inertial";
    const uint64_t at = row_stamp(row);
    size_t used;
    ff_status status = FF_OK;
    if (wanted(taker, t->body[i].pose)) {
        status = ff_message_pose(at, "inertial", ff_rigid_pose(&b->satellite), t->buffer, t->size, &used);
        status = hand_over(t, taker, t->body[i].pose, at, status, used);
    }
    if (!status && wanted(taker, t->body[i].twist)) {
        const ff_twist twist = {b->satellite.omega, /* both in the satellite's own axes, as ROS has it */
                                ff_quat_unrotate(b->satellite.attitude, b->satellite.velocity)};
        status = ff_message_twist(at, name, twist, t->buffer, t->size, &used);
        status = hand_over(t, taker, t->body[i].twist, at, status, used);
    }
    if (!status && wanted(taker, t->body[i].robot)) {
        status = ff_message_pose(at, frame, b->robot.T, t->buffer, t->size, &used);
        status = hand_over(t, taker, t->body[i].robot, at, status, used);
    }
    if (!status && wanted(taker, t->body[i].command)) {
        status = ff_message_pose(at, frame, b->command.T, t->buffer, t->size, &used);
        status = hand_over(t, taker, t->body[i].command, at, status, used);
    }
    return status;
}

static ff_status take_body(ff_topics *t, const ff_row *row, int i, const ff_topic_taker *taker) {
    const ff_row_body *b = &row->body[i];
    const uint64_t at = row_stamp(row);
    ff_status status = take_poses(t, row, i, taker);
    if (!status)
        status = take_wrenches(t, row, i, taker);
    if (!status && wanted(taker, t->body[i].energy)) {
        size_t used;
        const ff_message_energy energy = {b->energy.kinetic, b->energy.exchanged, b->observer[0],
                                          -b->energy.force_controller};
        status = ff_message_put_energy(at, &energy, t->buffer, t->size, &used);
        status = hand_over(t, taker, t->body[i].energy, at, status, used);
    }
    if (!status && t->use == FF_TOPIC_LOG && b->in_contact != t->body[i].in_contact) {
        t->body[i].in_contact = b->in_contact;
        char text[FF_NAME_SIZE + 32];
        snprintf(text, sizeof text, "%s: contact %s", t->scenario->satellite[i].name,
                 b->in_contact ? "begins" : "ends");
        status =
            ff_topics_event(t, row->t, 0, FF_EVENT_INFO, text, ff_vec3_norm(b->measured_b.f), FF_NAN, taker);
    }
    return status;
}

/* Arrows and an arm's links, not in every cycle. */
static ff_status take_scene(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    const ff_scenario *s = t->scenario;
    const size_t contacts = (size_t)s->contacts * sizeof *row->touching;
    if (row->t >= t->drawn && row->t < t->drawn + SCENE - 0.5 * s->cycle && !row->final &&
        memcmp(row->touching, t->touching, contacts) == 0)
        return FF_OK;
    t->drawn = row->t;
    memcpy(t->touching, row->touching, contacts);
    const uint64_t at = row_stamp(row);
    ff_status status = FF_OK;
    size_t used;
    if (s->contacts && wanted(taker, t->forces)) {
        status = ff_scene_forces(s, t->drawn_size, row, at, t->buffer, t->size, &used);
        status = hand_over(t, taker, t->forces, at, status, used);
    }
    ff_scene_names names;
    ff_message_transform link[FF_SCENE_LINK_FRAMES];
    const int links = wanted(taker, t->tf) ? ff_scene_frames(s, row, &names, link) : 0;
    if (status || !links)
        return status;
    status = ff_message_tf(at, links, link, t->buffer, t->size, &used);
    return hand_over(t, taker, t->tf, at, status, used);
}

/* Satellites and robots in the inertial frame. */
static ff_status take_frames(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    const ff_scenario *s = t->scenario;
    ff_message_transform transform[2 * FF_MAX_BODIES + 1];
    char robot[FF_MAX_BODIES][FF_NAME_SIZE + 8];
    int n = 0;
    if (!wanted(taker, t->tf))
        return FF_OK;
    for (int i = 0; i < s->satellites; i++) {
        snprintf(robot[i], sizeof robot[i], "%s/robot", s->satellite[i].name);
        transform[n++] =
            (ff_message_transform){"inertial", s->satellite[i].name, ff_rigid_pose(&row->body[i].satellite)};
        transform[n++] = (ff_message_transform){"inertial", robot[i], row->body[i].inertial.T};
    }
    if (s->frame == FF_FRAME_RELATIVE) /* the frame that the robots move in, (23) */
        transform[n++] = (ff_message_transform){
            "inertial", "robots",
            ff_pose_mul(row->body[0].inertial.T, ff_pose_inverse(row->body[0].robot.T))};
    size_t used;
    const ff_status status = ff_message_tf(row_stamp(row), n, transform, t->buffer, t->size, &used);
    return hand_over(t, taker, t->tf, row_stamp(row), status, used);
}

/* The joints of an arm, by the names of its description. */
static ff_status take_arm(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    const int servicer = ff_scenario_servicer(t->scenario);
    const uint64_t at = row_stamp(row);
    const char *names[FF_MAX_ARM_LINKS];
    int n = 0;
    size_t used;
    if (servicer < 0)
        return FF_OK;
    const ff_satellite *s = &t->scenario->satellite[servicer];
    for (int i = 0; i < s->arm.links && n < s->arm.joints; i++)
        if (s->arm.link[i].row.joint != FF_JOINT_FIXED)
            names[n++] = *s->arm.link[i].joint ? s->arm.link[i].joint : s->arm.link[i].name;
    if (n == 0)
        return FF_OK;
    const ff_row_servicer *q = &row->servicer;
    const ff_status status =
        ff_message_joints(at, s->name, (size_t)n, names, q->q, q->qd, q->motor, t->buffer, t->size, &used);
    return hand_over(t, taker, t->joints, at, status, used);
}

/* The axes of every robot, as NAME/A1: positions alone, for they report no more. Behind an arm's own message,
 * which has velocities and torques, by a nanosecond. */
static ff_status take_axes(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    const ff_scenario *s = t->scenario;
    const uint64_t at = row_stamp(row) + (ff_scenario_servicer(s) >= 0);
    const char *names[AXES * FF_MAX_BODIES];
    char axis[AXES * FF_MAX_BODIES][FF_NAME_SIZE + 4];
    double q[AXES * FF_MAX_BODIES];
    int n = 0;
    size_t used;
    for (int i = 0; i < s->satellites; i++)
        for (int a = 0; row->body[i].device.has_joints && a < axes_of(&s->satellite[i]); a++) {
            const char *own;
            q[n] = axis_of(s, i, &row->body[i].device.joints, a, &own);
            snprintf(axis[n], sizeof axis[n], "%s/%s", s->satellite[i].name, own);
            names[n] = axis[n];
            n++;
        }
    if (n == 0)
        return FF_OK;
    const ff_status status =
        ff_message_joints(at, "", (size_t)n, names, q, NULL, NULL, t->buffer, t->size, &used);
    return hand_over(t, taker, t->joints, at, status, used);
}

static ff_status take_joints(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    if (!wanted(taker, t->joints))
        return FF_OK;
    const ff_status status = take_arm(t, row, taker);
    return status ? status : take_axes(t, row, taker);
}

static ff_status put_values(ff_topics *t, const ff_row *row, int topic, const ff_columns *columns,
                            const ff_topic_taker *taker) {
    const uint64_t at = row_stamp(row);
    size_t used;
    if (!wanted(taker, topic))
        return FF_OK;
    ff_columns_values(columns, row, t->values);
    const ff_status status =
        ff_message_cycle(at, row->k, t->values, (size_t)columns->count, t->buffer, t->size, &used);
    return hand_over(t, taker, topic, at, status, used);
}

/* Before its row: a log that is cut anywhere holds what its rows were made with. */
static ff_status take_tuned(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    double values[FF_COLUMNS_TUNING_MAX];
    const size_t n = (size_t)t->tunings.count;
    if (!row->tuned.known || !wanted(taker, t->tuning))
        return FF_OK;
    ff_columns_values(&t->tunings, row, values);
    if (t->has_tuned && memcmp(values, t->tuned, n * sizeof *values) == 0)
        return FF_OK;
    memcpy(t->tuned, values, n * sizeof *values);
    t->has_tuned = true;
    return put_values(t, row, t->tuning, &t->tunings, taker);
}

static ff_status take_timing(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    const ff_message_timing timing = {.cycle = row->k,
                                      .lateness = 1e-9 * row->lateness_ns,
                                      .compute = 1e-9 * row->compute_ns,
                                      .io = 1e-9 * row->io_ns,
                                      .missed = row->missed,
                                      .dropped = row->dropped};
    const uint64_t at = row_stamp(row);
    ff_status status = FF_OK;
    size_t used;
    if (wanted(taker, t->timing)) {
        status = ff_message_put_timing(at, &timing, t->buffer, t->size, &used);
        status = hand_over(t, taker, t->timing, at, status, used);
    }
    if (!status && wanted(taker, t->clock)) {
        status = ff_message_time(at, t->buffer, t->size, &used);
        status = hand_over(t, taker, t->clock, at, status, used);
    }
    return status;
}

ff_status ff_topics_row(ff_topics *t, const ff_row *row, const ff_topic_taker *taker) {
    ff_status status = take_tuned(t, row, taker);
    if (!status)
        status = put_values(t, row, t->cycle, &t->columns, taker);
    if (!status && !row->final)
        status = put_values(t, row, t->input, &t->inputs, taker);
    if (!status)
        status = take_timing(t, row, taker);
    for (int i = 0; i < t->scenario->satellites && !status; i++)
        if ((status = take_body(t, row, i, taker)) == FF_OK)
            status = take_clock(t, row, i, taker);
    if (!status)
        status = take_frames(t, row, taker);
    if (!status)
        status = take_joints(t, row, taker);
    if (!status)
        status = take_scene(t, row, taker);
    if (!status && t->use == FF_TOPIC_LOG && row->status != t->last) {
        t->last = row->status;
        status = ff_topics_event(t, row->t, row->status,
                                 row->status < 0   ? FF_EVENT_FAULT
                                 : row->status > 0 ? FF_EVENT_WARNING
                                                   : FF_EVENT_INFO,
                                 ff_status_text(row->status), FF_NAN, FF_NAN, taker);
    }
    return status;
}
