#include "record/log.h"

#include "text/clock.h"
#include "text/file.h"
#include "text/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The run's t = 0 lies ten seconds after the log's epoch: what happens before it has a time too. */
#define FF_LOG_EPOCH 10.0
#define FF_LOG_SCENE 0.02 /* [s] between two arrows of a force: what an eye sees */

static uint64_t stamp(double t) {
    const double ns = 1e9 * (t + FF_LOG_EPOCH);
    return ns > 0.0 ? (uint64_t)llround(ns) : 0;
}

/* ---------------------------------------------------------------------------------------------- opening --
 */

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

static ff_status add_body(ff_log *log, uint16_t schemas[FF_MESSAGE_KINDS], int i) {
    const char *name = log->scenario->satellite[i].name;
    const struct {
        ff_message_kind kind;
        const char *format;
        uint16_t *channel;
    } list[] = {
        {FF_MESSAGE_POSE_STAMPED, "/%s/pose", &log->body[i].pose},
        {FF_MESSAGE_TWIST_STAMPED, "/%s/twist", &log->body[i].twist},
        {FF_MESSAGE_POSE_STAMPED, "/%s/robot/pose", &log->body[i].robot},
        {FF_MESSAGE_POSE_STAMPED, "/%s/command/pose", &log->body[i].command},
        {FF_MESSAGE_WRENCH_STAMPED, "/%s/wrench", &log->body[i].wrench},
        {FF_MESSAGE_ENERGY, "/%s/energy", &log->body[i].energy},
        {FF_MESSAGE_JOINT_STATE, "/%s/joints", &log->body[i].joints},
        {FF_MESSAGE_CLOCK, "/%s/clock", &log->body[i].clock},
    };
    for (size_t c = 0; c < sizeof list / sizeof *list; c++) {
        char topic[FF_NAME_SIZE + 32], clean[FF_NAME_SIZE];
        snprintf(clean, sizeof clean, "%s", name);
        for (char *at = clean; *at; at++)
            *at = *at == ' ' ? '_' : *at;
        /* the formats stand in the table above */
        const char *slot = strstr(list[c].format, "%s");
        snprintf(topic, sizeof topic, "%.*s%s%s", (int)(slot - list[c].format), list[c].format, clean,
                 slot + 2);
        const ff_status status =
            ff_message_add_channel(log->writer, schemas, list[c].kind, topic, NULL, 0, list[c].channel);
        if (status != FF_OK)
            return status;
    }
    return FF_OK;
}

static ff_status take_found(void *self, const char *const *set, int count) {
    ff_log *log = self;
    char keys[FF_LOG_MAX_FOUND][16];
    ff_mcap_pair pairs[FF_LOG_MAX_FOUND];
    if (count > FF_LOG_MAX_FOUND)
        return FF_ERR_SIZE;
    for (int i = 0; i < count; i++) {
        snprintf(keys[i], sizeof keys[i], "set.%d", i);
        pairs[i] = (ff_mcap_pair){keys[i], set[i]};
    }
    return ff_mcap_writer_metadata(log->writer, "freefloat.check", pairs, (size_t)count);
}

static ff_status add_metadata(ff_log *log, const ff_log_source *source) {
    char keys[FF_LOG_MAX_SETS][16], cycle[40], format[16];
    ff_mcap_pair pairs[FF_LOG_MAX_SETS + 20];
    size_t n = 0;
    snprintf(cycle, sizeof cycle, "%.17g", log->scenario->cycle);
    pairs[n++] = (ff_mcap_pair){"version", ff_version()};
    snprintf(format, sizeof format, "%d", FF_LOG_FORMAT);
    pairs[n++] = (ff_mcap_pair){"format", format};
    char started[32] = "", host[256] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    gethostname(host, sizeof host - 1);
    pairs[n++] = (ff_mcap_pair){"commit", ff_commit()};
    pairs[n++] = (ff_mcap_pair){"started", started};
    pairs[n++] = (ff_mcap_pair){"host", host};
    pairs[n++] = (ff_mcap_pair){"name", log->scenario->name};
    pairs[n++] = (ff_mcap_pair){"file", source->path ? source->path : ""};
    /* what it ran under, and what the command line asked for: a replay asks for the same */
    pairs[n++] = (ff_mcap_pair){"method", ff_scenario_method_name(log->scenario)};
    pairs[n++] = (ff_mcap_pair){"option.method", source->method ? source->method : ""};
    const ff_method_library *library = ff_scenario_library(log->scenario);
    char settings[1024];
    if (library) { /* no version of ours says what it does */
        ff_scenario_settings_text(log->scenario, settings, sizeof settings);
        pairs[n++] = (ff_mcap_pair){"method.name", library->method->name};
        pairs[n++] = (ff_mcap_pair){"method.version", library->method->version};
        pairs[n++] = (ff_mcap_pair){"method.library", library->path};
        pairs[n++] = (ff_mcap_pair){"method.sha256", library->hash};
        pairs[n++] = (ff_mcap_pair){"method.settings", settings};
    }
    pairs[n++] = (ff_mcap_pair){"cycle", cycle};
    for (int i = 0; i < source->sets && i < FF_LOG_MAX_SETS; i++) {
        snprintf(keys[i], sizeof keys[i], "set.%d", i);
        pairs[n++] = (ff_mcap_pair){keys[i], source->set[i]};
    }
    return ff_mcap_writer_metadata(log->writer, "freefloat", pairs, n);
}

static ff_status add_channels(ff_log *log) {
    uint16_t schemas[FF_MESSAGE_KINDS] = {0};
    char *columns = join_columns(&log->columns), *inputs = join_columns(&log->inputs),
         *tuning = join_columns(&log->tunings);
    ff_status status = columns && inputs && tuning ? FF_OK : FF_ERR_MEMORY;
    if (!status)
        status = ff_message_add_columns(log->writer, "Cycle", "/cycle", columns, &log->cycle);
    if (!status)
        status = ff_message_add_columns(log->writer, "Input", "/input", inputs, &log->input);
    if (!status)
        status = ff_message_add_columns(log->writer, "Tuning", "/tuning", tuning, &log->tuning);
    free(columns);
    free(inputs);
    free(tuning);
    if (!status)
        status =
            ff_message_add_channel(log->writer, schemas, FF_MESSAGE_STATE, "/state", NULL, 0, &log->state);
    if (!status)
        status =
            ff_message_add_channel(log->writer, schemas, FF_MESSAGE_EVENT, "/event", NULL, 0, &log->event);
    if (!status)
        status =
            ff_message_add_channel(log->writer, schemas, FF_MESSAGE_TIMING, "/timing", NULL, 0, &log->timing);
    if (!status)
        status = ff_message_add_channel(log->writer, schemas, FF_MESSAGE_TF, "/tf", NULL, 0, &log->tf);
    if (!status && (log->scenario->models || ff_scenario_servicer(log->scenario) >= 0))
        status = ff_message_add_channel(log->writer, schemas, FF_MESSAGE_TEXT, "/robot_description", NULL, 0,
                                        &log->description);
    if (!status)
        status =
            ff_message_add_channel(log->writer, schemas, FF_MESSAGE_MARKERS, "/scene", NULL, 0, &log->scene);
    if (!status)
        status = ff_message_add_channel(log->writer, schemas, FF_MESSAGE_MARKERS, "/forces", NULL, 0,
                                        &log->forces);
    for (int i = 0; i < log->scenario->satellites && !status; i++)
        status = add_body(log, schemas, i);
    return status;
}

/* Bodies and walls, once: viewers keep the newest message of a topic. */
static ff_status draw(ff_log *log) {
    void *bytes;
    size_t used;
    ff_status status = ff_scene_bodies(log->scenario, stamp(0.0), &bytes, &used);
    if (!status)
        status = ff_mcap_writer_message(log->writer, log->scene, stamp(0.0), stamp(0.0), bytes, used);
    free(bytes);
    return status;
}

/* A robot as the viewers read it, at the run's start: the URDF file itself, or one of an arm's table. */
static ff_status describe(ff_log *log, const char *text, size_t length) {
    const size_t size = length + 64;
    char *copy = malloc(size), *bytes = malloc(size);
    size_t used = 0;
    ff_status status = copy && bytes ? FF_OK : FF_ERR_MEMORY;
    if (!status) {
        memcpy(copy, text, length);
        copy[length] = 0;
        status = ff_message_text(copy, bytes, size, &used);
    }
    if (!status)
        status = ff_mcap_writer_message(log->writer, log->description, stamp(0.0), stamp(0.0), bytes, used);
    free(copy);
    free(bytes);
    return status;
}

ff_status ff_log_open(const char *path, const ff_scenario *scenario, const ff_log_source *source,
                      ff_log *log) {
    ff_mcap_writer_config config = ff_mcap_writer_config_default();
    config.codec = source->compress ? ff_codec_zstd() : NULL;
    *log = (ff_log){.scenario = scenario, .sync = source->sync};
    ff_status status = ff_columns_init(scenario, &log->columns);
    if (!status)
        status = ff_columns_init_input(scenario, &log->inputs);
    if (!status)
        status = ff_columns_init_tuning(scenario, &log->tunings);
    const size_t most =
        (size_t)(log->columns.count > log->inputs.count ? log->columns.count : log->inputs.count);
    log->size = most * sizeof(double) + 4096 + FF_SCENE_FORCES_BYTES;
    log->drawn = -FF_INF;
    ff_scene_sizes(scenario, log->drawn_size);
    log->values = malloc((most + 1) * sizeof *log->values);
    log->buffer = malloc(log->size);
    if (!status && (!log->values || !log->buffer))
        status = FF_ERR_MEMORY;
    if (!status)
        status = ff_mcap_writer_open(path, &config, &log->writer);
    if (!status && log->sync)
        status = ff_folder_sync(path); /* the file's name is on the disk, too */
    if (!status)
        status = add_metadata(log, source);
    if (!status && source->text)
        status = ff_mcap_writer_attachment(log->writer, "scenario.yaml", "application/yaml", 0, source->text,
                                           source->length);
    for (int i = 0; i < scenario->models && !status; i++)
        if (source->model_text[i]) {
            char name[FF_NAME_SIZE + 16];
            snprintf(name, sizeof name, "model/%s", scenario->model[i]);
            status = ff_mcap_writer_attachment(log->writer, name, "application/xml", 0, source->model_text[i],
                                               source->model_length[i]);
        }
    if (!status)
        status = add_channels(log);
    for (int i = 0; i < scenario->models && !status; i++)
        if (source->model_text[i])
            status = describe(log, source->model_text[i], source->model_length[i]);
    if (!status && !scenario->models && ff_scenario_servicer(scenario) >= 0) {
        char *text = ff_scene_urdf(scenario);
        status = text ? describe(log, text, strlen(text)) : FF_ERR_MEMORY;
        free(text);
    }
    if (!status)
        status = draw(log);
    if (status != FF_OK)
        ff_log_close(log);
    return status;
}

/* ------------------------------------------------------------------------------------------------ rows -- */

static ff_status put_message(ff_log *log, uint16_t channel, double t, ff_status encoded, size_t used) {
    return encoded != FF_OK
               ? encoded
               : ff_mcap_writer_message(log->writer, channel, stamp(t), stamp(t), log->buffer, used);
}

static ff_status take_event(void *self, double t, int code, ff_event_level level, const char *text,
                            double value, double limit) {
    ff_log *log = self;
    size_t used;
    const ff_status encoded =
        ff_message_event(stamp(t), code, (uint8_t)level, text, value, limit, log->buffer, log->size, &used);
    return put_message(log, log->event, t, encoded, used);
}

static ff_status take_state(void *self, double t, int state, const char *name) {
    ff_log *log = self;
    size_t used;
    const ff_status encoded = ff_message_state(stamp(t), (uint8_t)state, name, log->buffer, log->size, &used);
    return put_message(log, log->state, t, encoded, used);
}

static ff_status put_timing(ff_log *log, double t, const ff_message_timing *timing) {
    size_t used;
    const ff_status encoded = ff_message_put_timing(stamp(t), timing, log->buffer, log->size, &used);
    return put_message(log, log->timing, t, encoded, used);
}

static ff_status take_device(ff_log *log, const ff_row *row, int i) {
    static const char *const names[] = {"A1", "A2", "A3", "A4", "A5", "A6", "E1"};
    const ff_row_device *d = &row->body[i].device;
    ff_status status = FF_OK;
    size_t used;
    if (d->has_joints) {
        double position[7];
        memcpy(position, d->joints.a, sizeof d->joints.a);
        position[6] = d->joints.rail;
        status = ff_message_joints(stamp(row->t), "", 7, names, position, NULL, NULL, log->buffer, log->size,
                                   &used);
        status = put_message(log, log->body[i].joints, row->t, status, used);
    }
    if (!status && d->has_clock) {
        const ff_message_clock clock = {d->drift, d->offset, d->residual, d->rms};
        status = ff_message_put_clock(stamp(row->t), &clock, log->buffer, log->size, &used);
        status = put_message(log, log->body[i].clock, row->t, status, used);
    }
    return status;
}

static ff_status take_body(ff_log *log, const ff_row *row, int i) {
    const ff_row_body *b = &row->body[i];
    const char *name = log->scenario->satellite[i].name;
    const uint64_t at = stamp(row->t);
    void *buffer = log->buffer;
    const size_t size = log->size;
    size_t used;
    ff_status status = ff_message_pose(at, "inertial", ff_rigid_pose(&b->satellite), buffer, size, &used);
    if ((status = put_message(log, log->body[i].pose, row->t, status, used)) != FF_OK)
        return status;
    const ff_twist twist = {b->satellite.omega, /* both in the satellite's own axes, as ROS has it */
                            ff_quat_unrotate(b->satellite.attitude, b->satellite.velocity)};
    status = ff_message_twist(at, name, twist, buffer, size, &used);
    if ((status = put_message(log, log->body[i].twist, row->t, status, used)) != FF_OK)
        return status;
    const char *frame = log->scenario->frame == FF_FRAME_RELATIVE ? "robots" : "inertial";
    status = ff_message_pose(at, frame, b->robot.T, buffer, size, &used);
    if ((status = put_message(log, log->body[i].robot, row->t, status, used)) != FF_OK)
        return status;
    status = ff_message_pose(at, frame, b->command.T, buffer, size, &used);
    if ((status = put_message(log, log->body[i].command, row->t, status, used)) != FF_OK)
        return status;
    char robot[FF_NAME_SIZE + 8]; /* measured at the robot, in its axes */
    snprintf(robot, sizeof robot, "%s/robot", name);
    status = ff_message_wrench(at, robot, b->measured_b, buffer, size, &used);
    if ((status = put_message(log, log->body[i].wrench, row->t, status, used)) != FF_OK)
        return status;
    const ff_message_energy energy = {b->energy.kinetic, b->energy.exchanged, b->observer[0],
                                      -b->energy.force_controller};
    status = ff_message_put_energy(at, &energy, buffer, size, &used);
    if ((status = put_message(log, log->body[i].energy, row->t, status, used)) != FF_OK)
        return status;
    if (b->in_contact != log->body[i].in_contact) {
        log->body[i].in_contact = b->in_contact;
        char text[FF_NAME_SIZE + 32];
        snprintf(text, sizeof text, "%s: contact %s", name, b->in_contact ? "begins" : "ends");
        return take_event(log, row->t, 0, FF_EVENT_INFO, text, ff_vec3_norm(b->measured_b.f), FF_NAN);
    }
    return FF_OK;
}

/* Arrows and an arm's links, not in every cycle. */
static ff_status take_scene(ff_log *log, const ff_row *row) {
    const ff_scenario *s = log->scenario;
    const size_t contacts = (size_t)s->contacts * sizeof *row->touching;
    if (row->t < log->drawn + FF_LOG_SCENE - 0.5 * s->cycle && !row->final &&
        memcmp(row->touching, log->touching, contacts) == 0)
        return FF_OK;
    log->drawn = row->t;
    memcpy(log->touching, row->touching, contacts);
    ff_status status = FF_OK;
    size_t used;
    if (s->contacts) {
        status = ff_scene_forces(s, log->drawn_size, row, stamp(row->t), log->buffer, log->size, &used);
        status = put_message(log, log->forces, row->t, status, used);
    }
    ff_scene_names names;
    ff_message_transform link[FF_SCENE_LINK_FRAMES];
    const int links = ff_scene_frames(s, row, &names, link);
    if (status || !links)
        return status;
    status = ff_message_tf(stamp(row->t), links, link, log->buffer, log->size, &used);
    return put_message(log, log->tf, row->t, status, used);
}

/* Satellites and robots in the inertial frame, and the joints of an arm. */
static ff_status take_frames(ff_log *log, const ff_row *row) {
    const ff_scenario *s = log->scenario;
    ff_message_transform transform[2 * FF_MAX_BODIES + 1];
    char robot[FF_MAX_BODIES][FF_NAME_SIZE + 8];
    int n = 0;
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
    ff_status status = ff_message_tf(stamp(row->t), n, transform, log->buffer, log->size, &used);
    status = put_message(log, log->tf, row->t, status, used);
    const int servicer = ff_scenario_servicer(s);
    if (status || servicer < 0)
        return status;
    const ff_servicer_arm *arm = &s->satellite[servicer].arm;
    const char *names[FF_MAX_ARM_LINKS];
    int joints = 0;
    for (int i = 0; i < arm->links && joints < arm->joints; i++)
        if (arm->link[i].row.joint != FF_JOINT_FIXED)
            names[joints++] = *arm->link[i].joint ? arm->link[i].joint : arm->link[i].name;
    status =
        ff_message_joints(stamp(row->t), s->satellite[servicer].name, (size_t)joints, names, row->servicer.q,
                          row->servicer.qd, row->servicer.motor, log->buffer, log->size, &used);
    return put_message(log, log->body[servicer].joints, row->t, status, used);
}

/* In a run that is faster than time the disk is not asked for more than it is in one that is not. */
static ff_status flush(void *self) {
    ff_log *log = self;
    const int64_t now = log->sync ? ff_clock_now() : 0;
    const ff_status status = ff_mcap_writer_flush(log->writer);
    if (status != FF_OK || !log->sync || now - log->synced < (int64_t)(0.5e9 * FF_SINK_FLUSH))
        return status;
    log->synced = now;
    return ff_mcap_writer_sync(log->writer);
}

/* Before its row: a log that is cut anywhere holds what its rows were made with. */
static ff_status take_tuned(ff_log *log, const ff_row *row) {
    double values[FF_COLUMNS_TUNING_MAX];
    const size_t n = (size_t)log->tunings.count;
    if (!row->tuned.known)
        return FF_OK;
    ff_columns_values(&log->tunings, row, values);
    if (log->has_tuned && memcmp(values, log->tuned, n * sizeof *values) == 0)
        return FF_OK;
    memcpy(log->tuned, values, n * sizeof *values);
    log->has_tuned = true;
    size_t used;
    const ff_status encoded =
        ff_message_cycle(stamp(row->t), row->k, values, n, log->buffer, log->size, &used);
    return put_message(log, log->tuning, row->t, encoded, used);
}

static ff_status take(void *self, const ff_row *row) {
    ff_log *log = self;
    size_t used;
    if (!log->started) {
        log->started = true;
        log->flushed = row->t;
    }
    ff_status status = take_tuned(log, row);
    if (status != FF_OK)
        return status;
    ff_columns_values(&log->columns, row, log->values);
    status = ff_message_cycle(stamp(row->t), row->k, log->values, (size_t)log->columns.count, log->buffer,
                              log->size, &used);
    if ((status = put_message(log, log->cycle, row->t, status, used)) != FF_OK)
        return status;
    if (!row->final) {
        ff_columns_values(&log->inputs, row, log->values);
        status = ff_message_cycle(stamp(row->t), row->k, log->values, (size_t)log->inputs.count, log->buffer,
                                  log->size, &used);
        if ((status = put_message(log, log->input, row->t, status, used)) != FF_OK)
            return status;
    }
    const ff_message_timing timing = {.cycle = row->k,
                                      .lateness = 1e-9 * row->lateness_ns,
                                      .compute = 1e-9 * row->compute_ns,
                                      .io = 1e-9 * row->io_ns,
                                      .missed = row->missed,
                                      .dropped = row->dropped};
    if ((status = put_timing(log, row->t, &timing)) != FF_OK)
        return status;
    for (int i = 0; i < log->scenario->satellites; i++)
        if ((status = take_body(log, row, i)) != FF_OK || (status = take_device(log, row, i)) != FF_OK)
            return status;
    if ((status = take_frames(log, row)) != FF_OK || (status = take_scene(log, row)) != FF_OK)
        return status;
    if (row->status != log->last) {
        log->last = row->status;
        status = take_event(log, row->t, row->status,
                            row->status < 0   ? FF_EVENT_FAULT
                            : row->status > 0 ? FF_EVENT_WARNING
                                              : FF_EVENT_INFO,
                            ff_status_text(row->status), FF_NAN, FF_NAN);
        if (status != FF_OK)
            return status;
    }
    /* one row more would lie beyond the bound */
    if (row->t + 2.0 * log->scenario->cycle - log->flushed > FF_SINK_FLUSH || row->status < 0) {
        log->flushed = row->t + log->scenario->cycle;
        return flush(log);
    }
    return FF_OK;
}

ff_sink ff_log_sink(ff_log *log) {
    return (ff_sink){.self = log,
                     .row = take,
                     .state = take_state,
                     .event = take_event,
                     .found = take_found,
                     .flush = flush};
}

ff_status ff_log_close(ff_log *log) {
    ff_status status = FF_OK;
    if (log->writer)
        status = ff_mcap_writer_close(log->writer);
    ff_columns_free(&log->columns);
    ff_columns_free(&log->inputs);
    ff_columns_free(&log->tunings);
    free(log->values);
    free(log->buffer);
    *log = (ff_log){0};
    return status;
}
