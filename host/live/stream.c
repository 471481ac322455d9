/* From the loop's rows to what viewers get: at most one frame a tick, the newest row of those that came, the
 * largest value of every limit among them, and the events that they show. No sockets here. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "live/foxglove.h"
#include "live/ros.h"
#include "text/module.h"
#include "report/geometry.h"
#include "text/file.h"
#include "text/json.h"

/* ------------------------------------------------------------------------------------------ the loop's side
 */

static bool push(ff_live *live, const double *gauge, const void *data, size_t size, unsigned flags) {
    const ff_live_item item = {ff_clock_now(), live->late_ns, flags};
    atomic_fetch_add_explicit(&live->pushed, 1, memory_order_relaxed);
    unsigned char *slot = ff_ring_slot(&live->ring);
    if (!slot)
        return false;
    memcpy(slot, &item, sizeof item);
    const size_t gauges = (size_t)live->gauges * sizeof *gauge;
    if (gauge)
        memcpy(slot + sizeof item, gauge, gauges);
    else
        memset(slot + sizeof item, 0, gauges);
    memcpy(slot + sizeof item + gauges, data, size);
    live->late_ns = 0.0;
    ff_ring_publish(&live->ring);
    return true;
}

bool ff_live_behind(const ff_live *live) {
    bool behind = false;
    for (; live; live = live->next)
        behind = behind || (live->kind == FF_LIVE_ROS && ff_ring_count(&live->ring) > live->ring.mask / 2);
    return behind;
}

bool ff_live_push(ff_live *live, const ff_row *row, const double *gauge) {
    bool all = true;
    for (; live; live = live->next)
        all = live->rows && push(live, gauge, row, sizeof *row, 0) && all;
    return all;
}

bool ff_live_push_values(ff_live *live, const double *values, unsigned flags) {
    return !live->rows && push(live, NULL, values, (size_t)live->count * sizeof *values, flags);
}

void ff_live_set_phase(ff_live *live, ff_live_phase phase) {
    for (; live; live = live->next)
        atomic_store_explicit(&live->phase, (int)phase, memory_order_release);
}

void ff_live_set_state(ff_live *live, const char *state) {
    for (; live; live = live->next)
        atomic_store_explicit(&live->state, state, memory_order_release);
}

void ff_live_set_before(ff_live *live, bool before) {
    for (; live; live = live->next)
        atomic_store_explicit(&live->before, before, memory_order_release);
}

/* When something happened, for who watches: before the motion nobody knows. */
static double when(const ff_live *live, double t) {
    return atomic_load_explicit(&live->before, memory_order_acquire) ? FF_NAN : t;
}

void ff_live_set_limit(ff_live *live, int limit, double value) {
    for (; live; live = live->next)
        if (limit >= 0 && limit < live->limits)
            atomic_store_explicit(&live->limit_now[limit], value, memory_order_relaxed);
}

void ff_live_set_parameter(ff_live *live, int parameter, double value) {
    for (; live; live = live->next)
        if (parameter >= 0 && parameter < live->parameters)
            atomic_store_explicit(&live->parameter_now[parameter], value, memory_order_relaxed);
}

void ff_live_set_late(ff_live *live, double late_ns) {
    for (; live; live = live->next)
        if (late_ns > live->late_ns)
            live->late_ns = late_ns;
}

static void copy_text(char *to, const char *from) {
    size_t n = 0;
    for (; from[n] && n + 1 < FF_LIVE_TEXT; n++)
        to[n] = from[n];
    to[n] = 0;
}

bool ff_live_event(ff_live *live, ff_live_level level, double t, const char *text) {
    ff_live_note note = {.level = level};
    copy_text(note.text, text);
    bool all = true;
    for (; live; live = live->next) {
        note.t = when(live, t);
        all = ff_ring_push(&live->notes, &note) && all;
    }
    return all;
}

bool ff_live_next_command(ff_live *live, ff_live_command *command) {
    for (; live; live = live->next)
        while (ff_ring_pop(&live->commands, command))
            if (ff_claim_waits(command->claim))
                return true;
    return false;
}

bool ff_live_answer(ff_live *live, const ff_live_command *command, bool done, const char *text) {
    ff_live_reply reply = {.viewer = command->viewer, .id = command->id, .done = done};
    copy_text(reply.text, text);
    for (; live; live = live->next)
        if (live->index == command->viewer >> 24)
            return ff_ring_push(&live->replies, &reply);
    return false;
}

/* ------------------------------------------------------------------------------------- the server's side --
 */

static void note(ff_live *live, ff_live_level level, double t, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void note(ff_live *live, ff_live_level level, double t, const char *format, ...) {
    ff_live_note *n = &live->note[live->noted++ % FF_LIVE_EVENTS];
    n->level = level;
    n->t = when(live, t);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(n->text, sizeof n->text, format, arguments);
    va_end(arguments);
}

/* Time begins anew. Events stay where it is the same run, whose motion begins after its check. */
static void forget(ff_live *live, bool events) {
    live->oldest = live->made;
    if (events)
        live->note_oldest = live->noted;
    for (int i = 0; i < live->touches; i++)
        live->touch[i].on = false;
    memset(live->exceeded, 0, sizeof live->exceeded);
    live->last_status = 0.0;
}

static void watch_touch(ff_live *live, ff_live_touch *touch, double t) {
    const bool on = live->value[touch->touching] > 0.0;
    const double force = touch->force >= 0 ? live->value[touch->force] : FF_NAN;
    if (on && !touch->on) {
        touch->start = t;
        touch->peak = 0.0;
        note(live, FF_LIVE_INFO, t, "contact at %s", touch->name);
    }
    if (on || touch->on) {
        touch->quiet = on ? 0 : touch->quiet + 1;
        if (touch->quiet == 1)
            touch->end = t;
        if (force > touch->peak)
            touch->peak = force;
    }
    if (touch->on && touch->quiet == FF_LIVE_QUIET) {
        touch->on = false;
        note(live, FF_LIVE_INFO, t, "released %s after %.3f s, maximum %.2f N", touch->name,
             touch->end - touch->start, touch->peak);
    } else if (on) {
        touch->on = true;
    }
}

static double norm_of(const ff_live *live, const ff_live_limit *l) {
    double square = 0.0;
    for (int c = 0; c < l->count; c++) {
        const double v = live->value[l->column + c] - (l->minus ? live->value[l->minus + c] : 0.0);
        square += v * v;
    }
    return l->scale * sqrt(square);
}

static void watch(ff_live *live) {
    const double t = live->value[0];
    for (int i = 0; i < live->touches; i++)
        watch_touch(live, &live->touch[i], t);
    for (int i = 0; i < live->limits; i++) {
        const ff_live_limit *l = &live->limit[i];
        const double value = l->gauge ? l->scale * live->gauge[l->gauge - 1] : norm_of(live, l);
        if (value > live->most[i] || isnan(live->most[i]))
            live->most[i] = value;
        const double limit = atomic_load_explicit(&live->limit_now[i], memory_order_relaxed);
        const bool above = value > limit;
        if (above && !live->exceeded[i])
            note(live, l->trips ? FF_LIVE_ALARM : FF_LIVE_WARNING, t, "%s is %.4g %s, more than %.4g",
                 l->name, value, l->unit, limit);
        live->exceeded[i] = above || (live->exceeded[i] && value > 0.8 * limit);
    }
    if (live->status_column >= 0) {
        const double status = live->value[live->status_column];
        if (status != live->last_status && status != 0.0)
            note(live, status < 0.0 ? FF_LIVE_ALARM : FF_LIVE_WARNING, t, "the loop says: %s",
                 ff_status_text((ff_status)(int)status));
        live->last_status = status;
    }
}

typedef struct gathered { /* of the rows since the last frame */
    int rows;
    double late, compute, io; /* [ns] */
    bool restart;
} gathered;

static void make_frame(ff_live *live, gathered *g, int64_t stamp) {
    const uint64_t at = live->made % FF_LIVE_HISTORY;
    double *frame = live->frame + at * (uint64_t)live->width;
    const double head[FF_LIVE_HEAD] = {g->restart, 0.0,        g->rows, (double)ff_ring_dropped(&live->ring),
                                       g->late,    g->compute, g->io};
    memcpy(frame, head, sizeof head);
    memcpy(frame + FF_LIVE_HEAD, live->most, (size_t)live->limits * sizeof *frame);
    memcpy(frame + FF_LIVE_HEAD + live->limits, live->value, (size_t)live->count * sizeof *frame);
    live->stamp[at] = live->last_stamp = stamp;
    live->made++;
    if (live->made - live->oldest > FF_LIVE_HISTORY)
        live->oldest = live->made - FF_LIVE_HISTORY;
    atomic_fetch_add_explicit(&live->frames_made, 1, memory_order_relaxed);
    *g = (gathered){0};
    for (int i = 0; i < live->limits; i++)
        live->most[i] = FF_NAN;
}

static void read_row(ff_live *live, gathered *g) {
    const size_t gauges = (size_t)live->gauges * sizeof *live->gauge;
    if (live->rows) {
        ff_row *row = live->row;
        memcpy(live->gauge, live->in + sizeof(ff_live_item), gauges);
        memcpy(row, live->in + sizeof(ff_live_item) + gauges, sizeof *row);
        ff_columns_values(&live->columns, row, live->value);
        g->compute = fmax(g->compute, row->compute_ns);
        g->io = fmax(g->io, row->io_ns);
        if (live->each)
            live->each(live);
    } else {
        memcpy(live->value, live->in + sizeof(ff_live_item), (size_t)live->count * sizeof *live->value);
    }
}

bool ff_live__drain(ff_live *live) {
    ff_live_note pushed;
    while (ff_ring_pop(&live->notes, &pushed)) {
        pushed.text[FF_LIVE_TEXT - 1] = 0;
        live->note[live->noted++ % FF_LIVE_EVENTS] = pushed;
    }
    const uint64_t before = live->made;
    gathered g = {0};
    ff_live_item item = {0};
    for (int i = 0; i < live->limits; i++)
        live->most[i] = FF_NAN;
    /* a burst longer than the ring is left for the next tick: the tick's own time stays bounded */
    for (size_t n = 0; n <= live->ring.mask && ff_ring_pop(&live->ring, live->in); n++) {
        memcpy(&item, live->in, sizeof item);
        read_row(live, &g);
        if ((item.flags & FF_LIVE_RESTART) || live->value[0] < live->last_t) {
            forget(live, (item.flags & FF_LIVE_RESTART) || !live->rows);
            g.restart = true;
        }
        live->last_t = live->value[0];
        g.late = fmax(g.late, item.late_ns);
        watch(live);
        g.rows++;
        if (item.flags & FF_LIVE_KEEP)
            make_frame(live, &g, item.stamp_ns);
    }
    if (g.rows)
        make_frame(live, &g, item.stamp_ns);
    return live->made > before;
}

/* ------------------------------------------------------------------------------------------------- texts --
 */

static char *finish(ff_json *json) {
    ff_json_close(json, '}');
    return ff_json_take(json);
}

static void begin(ff_json *json, const char *kind) {
    ff_json_init(json, false);
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "kind", kind);
}

char *ff_live__note_json(const ff_live_note *n, uint64_t number) {
    static const char *const level[] = {"info", "warning", "alarm"};
    ff_json json;
    begin(&json, "event");
    ff_json_integer(&json, "number", (long long)number);
    ff_json_string(&json, "level", level[n->level]);
    ff_json_number(&json, "t", n->t);
    ff_json_string(&json, "text", n->text);
    return finish(&json);
}

char *ff_live__reply_json(const ff_live_reply *reply) {
    ff_json json;
    begin(&json, "answer");
    ff_json_integer(&json, "id", reply->id);
    ff_json_bool(&json, "done", reply->done);
    ff_json_string(&json, "text", reply->text);
    return finish(&json);
}

char *ff_live__status_json(const ff_live *live) {
    static const char *const phase[] = {"starting", "running", "held", "ended", "stopped", "fault"};
    ff_json json;
    begin(&json, "status");
    ff_json_string(&json, "phase", phase[atomic_load_explicit(&live->phase, memory_order_acquire)]);
    ff_json_string(&json, "state", atomic_load_explicit(&live->state, memory_order_acquire));
    if (atomic_load_explicit(&live->before, memory_order_acquire))
        ff_json_bool(&json, "before", true);
    ff_json_number(&json, "age_s",
                   live->last_stamp ? 1e-9 * (double)(ff_clock_now() - live->last_stamp) : FF_NAN);
    ff_json_integer(&json, "dropped", (long long)ff_ring_dropped(&live->ring));
    ff_json_integer(&json, "viewers", atomic_load_explicit(&live->viewers, memory_order_relaxed));
    ff_json_open(&json, "limits", '['); /* as they are now: some may be tightened */
    for (int i = 0; i < live->limits; i++)
        ff_json_number(&json, NULL, atomic_load_explicit(&live->limit_now[i], memory_order_relaxed));
    ff_json_close(&json, ']');
    ff_json_open(&json, "files", '[');
    for (int i = 0; i < atomic_load_explicit(&live->files, memory_order_acquire); i++)
        ff_json_string(&json, NULL, live->file[i].name);
    ff_json_close(&json, ']');
    return finish(&json);
}

/* Appends `"key":raw` to an open object; raw is JSON already. */
static void raw(ff_json *json, const char *key, const char *text) {
    static const char placeholder[] = "null";
    ff_json_string(json, key, NULL);
    if (!text || json->failed)
        return;
    const size_t n = strlen(text), keep = json->length - (sizeof placeholder - 1);
    char *grown = realloc(json->text, keep + n + 256);
    if (!grown) {
        json->failed = true;
        return;
    }
    memcpy(grown + keep, text, n + 1);
    json->text = grown;
    json->length = keep + n;
    json->capacity = keep + n + 256;
}

static void write_verbs(ff_json *json, const char *key, unsigned bits) {
    ff_json_open(json, key, '[');
    for (int v = 0; v < FF_LIVE_VERBS; v++)
        if (bits & FF_LIVE_BIT(v))
            ff_json_string(json, NULL, ff_live_verb_name((ff_live_verb)v));
    ff_json_close(json, ']');
}

static char *make_hello(const ff_live *live, const ff_live_config *config, const char *session) {
    const ff_scenario *s = config->scenario;
    ff_json json;
    begin(&json, "hello");
    ff_json_integer(&json, "version", 1);
    ff_json_string(&json, "session", session);
    ff_json_string(&json, "mode", config->mode);
    ff_json_string(&json, "title", config->title ? config->title : s ? s->name : "");
    ff_json_string(&json, "method", s ? ff_scenario_method_name(s) : NULL);
    ff_json_number(&json, "cycle_s", s ? s->cycle : FF_NAN);
    ff_json_number(&json, "begin_s", config->begin);
    ff_json_number(&json, "end_s", s ? (double)s->cycles * s->cycle : config->end);
    ff_json_integer(&json, "head", FF_LIVE_HEAD);
    ff_json_open(&json, "columns", '[');
    for (int i = 0; i < live->count; i++)
        ff_json_string(&json, NULL, s ? live->columns.name[i] : config->names[i]);
    ff_json_close(&json, ']');
    ff_json_open(&json, "limits", '[');
    for (int i = 0; i < live->limits; i++) {
        const ff_live_limit *l = &live->limit[i];
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "name", l->name);
        ff_json_string(&json, "unit", l->unit);
        ff_json_number(&json, "limit", l->limit);
        ff_json_bool(&json, "trips", l->trips);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    ff_json_open(&json, "parameters", '[');
    for (int i = 0; i < live->parameters; i++) {
        const ff_live_parameter *p = &live->parameter[i];
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "name", p->name);
        ff_json_string(&json, "unit", p->unit);
        ff_json_string(&json, "effect", p->effect);
        ff_json_number(&json, "low", p->low);
        ff_json_number(&json, "high", p->high);
        ff_json_number(&json, "value", p->value);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    write_verbs(&json, "open", live->loopback ? live->open : 0);
    write_verbs(&json, "guarded",
                !live->control   ? 0
                : live->loopback ? live->guarded
                                 : live->guarded | live->open);
    char *geometry = s ? ff_report_geometry(s, false) : NULL;
    json.failed = json.failed || (s && !geometry); /* a page that shows no satellites would look empty */
    raw(&json, "geometry", geometry);
    raw(&json, "summary", config->summary);
    raw(&json, "document", config->document);
    free(geometry);
    return finish(&json);
}

/* ----------------------------------------------------------------------------------------- start and end --
 */

static ff_status parse_address(ff_live *live, const char *address, char *message, size_t size) {
    const char *colon = strrchr(address, ':');
    char *end = NULL;
    const long port = colon ? strtol(colon + 1, &end, 10) : -1;
    const size_t n = colon ? (size_t)(colon - address) : 0;
    int part[4], used = 0;
    if (n == 9 && strncmp(address, "localhost", 9) == 0)
        snprintf(live->host, sizeof live->host, "127.0.0.1");
    else if (n < sizeof live->host)
        snprintf(live->host, sizeof live->host, "%.*s", (int)n, address);
    if (!colon || end == colon + 1 || *end || port < 0 || port > 65535 ||
        sscanf(live->host, "%3d.%3d.%3d.%3d%n", &part[0], &part[1], &part[2], &part[3], &used) != 4 ||
        live->host[used] || part[0] > 255 || part[1] > 255 || part[2] > 255 || part[3] > 255) {
        snprintf(message, size, "'%s' is not an address; allowed: ADDRESS:%s", address,
                 live->kind == FF_LIVE_ROS        ? "DOMAIN, e.g. 127.0.0.1:0"
                 : live->kind == FF_LIVE_FOXGLOVE ? "PORT, e.g. 127.0.0.1:8765"
                                                  : "PORT, e.g. 127.0.0.1:8080");
        return FF_ERR_ARGUMENT;
    }
    if (part[0] == 0) {
        snprintf(message, size, "'%s': name one address of this machine, not all of them", address);
        return FF_ERR_ARGUMENT;
    }
    live->loopback = part[0] == 127;
    live->port = (int)port;
    return FF_OK;
}

static ff_status draw(char *hex, size_t bytes) {
    unsigned char random[16];
    if (getrandom(random, bytes, 0) != (ssize_t)bytes)
        return FF_ERR_DEVICE;
    for (size_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", random[i]);
    return FF_OK;
}

static int ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Columns that the events are read from. */
static void find_columns(ff_live *live, const ff_live_config *config) {
    live->status_column = -1;
    for (int i = 0; i < live->count; i++) {
        const char *name = live->rows ? live->columns.name[i] : config->names[i];
        if (strcmp(name, "status") == 0)
            live->status_column = i;
        if (strncmp(name, "contact.", 8) == 0 && ends_with(name, ".touching") &&
            live->touches < FF_MAX_CONTACTS) {
            ff_live_touch *touch = &live->touch[live->touches++];
            *touch = (ff_live_touch){.touching = i, .force = -1};
            snprintf(touch->name, sizeof touch->name, "%.*s", (int)(strlen(name) - 17), name + 8);
            char force[FF_COLUMN_NAME + 24];
            snprintf(force, sizeof force, "contact.%s.force [N]", touch->name);
            for (int k = 0; k < live->count; k++)
                if (strcmp(live->rows ? live->columns.name[k] : config->names[k], force) == 0)
                    touch->force = k;
        }
    }
}

static ff_status allocate(ff_live *live, const ff_live_config *config) {
    const size_t payload = live->rows ? sizeof(ff_row) : (size_t)live->count * sizeof(double);
    const size_t item = sizeof(ff_live_item) + (size_t)live->gauges * sizeof(double) + payload;
    const size_t history = FF_LIVE_HISTORY;
    live->width = FF_LIVE_HEAD + live->limits + live->count;
    ff_status status = ff_ring_create(&live->ring, item, config->capacity ? config->capacity : 1024);
    if (!status)
        status = ff_ring_create(&live->notes, sizeof(ff_live_note), 64);
    if (!status)
        status = ff_ring_create(&live->commands, sizeof(ff_live_command), FF_LIVE_QUEUE);
    if (!status)
        status = ff_ring_create(&live->replies, sizeof(ff_live_reply), 2 * FF_LIVE_QUEUE);
    live->in = calloc(1, item);
    live->row = calloc(1, sizeof *live->row);
    live->value = calloc((size_t)live->count, sizeof *live->value);
    live->gauge = calloc((size_t)live->gauges + 1, sizeof *live->gauge);
    live->most = calloc(FF_LIVE_MAX_LIMITS, sizeof *live->most);
    live->frame = calloc(history * (size_t)live->width, sizeof *live->frame);
    live->stamp = calloc(history, sizeof *live->stamp);
    if (!live->in || !live->row || !live->value || !live->gauge || !live->most || !live->frame ||
        !live->stamp)
        status = FF_ERR_MEMORY;
    return status;
}

static void release(ff_live *live) {
    ff_ring_free(&live->ring);
    ff_ring_free(&live->notes);
    ff_ring_free(&live->commands);
    ff_ring_free(&live->replies);
    ff_columns_free(&live->columns);
    ff_foxglove_free(live->foxglove);
    ff_ros_free(live->ros);
    free(live->in);
    free(live->row);
    free(live->value);
    free(live->gauge);
    free(live->most);
    free(live->frame);
    free(live->stamp);
    free(live->hello);
    for (int i = 0; i < FF_LIVE_FILES; i++)
        free(live->file[i].text);
    free(live);
}

extern const unsigned char ff_live_page[];
extern const size_t ff_live_page_size;

static ff_status serve(ff_live *live, char *message, size_t size) {
    live->room = (ff_live_room){.page = ff_live_page,
                                .page_size = ff_live_page_size,
                                .now = ff_clock_now,
                                .drain = ff_live__drain,
                                .parse = ff_live__parse,
                                .token = ff_live__token,
                                .note_json = ff_live__note_json,
                                .reply_json = ff_live__reply_json,
                                .status_json = ff_live__status_json,
                                .stand_aside = ff_rights_stand_aside,
                                .order = ff_live__order,
                                .overdue = ff_live__overdue,
                                .pop = ff_ring_pop,
                                .foxglove = &ff_foxglove_calls,
                                .ros = &ff_ros_calls};
    if (live->kind == FF_LIVE_ROS) { /* the one that may be missing in a build */
        char why[200];
        live->module = ff_module_table("ros", why, sizeof why);
        if (!live->module)
            snprintf(message, size, "ROS 2 needs Cyclone DDS when freefloat is built: %s", why);
    } else
        live->module = ff_module_table("live", message, size);
    return live->module ? live->module->start(live, message, size) : FF_ERR_UNSUPPORTED;
}

/* What a new viewer gets first. */
static ff_status greet(ff_live *live, const ff_live_config *config, const char *session) {
    if (live->kind == FF_LIVE_FOXGLOVE)
        return ff_foxglove_create(live, config, session, &live->foxglove);
    if (live->kind == FF_LIVE_ROS)
        return ff_ros_create(live, config, &live->ros);
    live->hello = make_hello(live, config, session);
    return live->hello ? FF_OK : FF_ERR_MEMORY;
}

ff_status ff_live_start(const ff_live_config *config, ff_live **out, char *message, size_t size) {
    *out = NULL;
    snprintf(message, size, "no memory");
    ff_live *live = aligned_alloc(64, (sizeof *live + 63) / 64 * 64);
    if (!live)
        return FF_ERR_MEMORY;
    memset(live, 0, sizeof *live);
    live->open = config->open;
    live->guarded = config->guarded;
    live->control = config->control;
    live->loop_cpu = config->loop_cpu;
    live->rows = config->scenario != NULL;
    live->count = config->columns;
    live->gauges = live->rows ? config->gauges : 0;
    live->limits = config->limits;
    memcpy(live->limit, config->limit, sizeof live->limit);
    for (int i = 0; i < live->limits; i++)
        atomic_init(&live->limit_now[i], config->limit[i].limit);
    live->parameters = config->parameters;
    memcpy(live->parameter, config->parameter, sizeof live->parameter);
    for (int i = 0; i < live->parameters; i++)
        atomic_init(&live->parameter_now[i], config->parameter[i].value);
    live->kind = config->kind;
    for (const ff_live *other = config->join; other; other = other->next)
        live->index++;
    atomic_init(&live->phase, FF_LIVE_STARTING);
    atomic_init(&live->state, NULL);
    live->last_t = -FF_INF;
    ff_status status = FF_OK;
    if (live->rows) {
        status = ff_columns_init(config->scenario, &live->columns);
        live->count = live->columns.count;
    }
    if (!status)
        status = parse_address(live, config->address, message, size);
    char session[17] = "";
    if (!status)
        status = draw(session, 8);
    if (!status && live->control && config->join)
        memcpy(live->token, config->join->token, sizeof live->token);
    else if (!status && live->control)
        status = draw(live->token, 16);
    if (!status)
        status = allocate(live, config);
    if (!status) {
        find_columns(live, config);
        status = greet(live, config, session);
    }
    if (!status)
        status = serve(live, message, size);
    if (status) {
        release(live);
        return status;
    }
    for (ff_live *last = config->join; last; last = last->next)
        if (!last->next) {
            last->next = live;
            break;
        }
    *out = live;
    return FF_OK;
}

ff_status ff_live_open(ff_live_config *config, const ff_live_doors *doors, ff_live **live, char *message,
                       size_t size) {
    const struct {
        ff_live_kind kind;
        const char *address, *option;
    } list[] = {{FF_LIVE_PAGE, doors->page, "--live"},
                {FF_LIVE_FOXGLOVE, doors->foxglove, "--foxglove"},
                {FF_LIVE_ROS, doors->ros, "--ros"}};
    char why[200];
    *live = NULL;
    config->control = doors->control;
    config->description = doors->description;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        ff_live *one;
        if (!list[i].address)
            continue;
        config->allowed = 0;
        if (list[i].kind == FF_LIVE_ROS && doors->ros_allow) {
            if (!ff_ros_allow(doors->ros_allow, &config->allowed, why, sizeof why)) {
                snprintf(message, size, "--ros-allow: %s", why);
                ff_live_stop(*live);
                *live = NULL;
                return FF_ERR_ARGUMENT;
            }
        } else if (strncmp(list[i].address, "127.", 4) == 0)
            config->allowed = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_STOP);
        config->kind = list[i].kind;
        config->address = list[i].address;
        config->join = *live;
        config->capacity =
            list[i].kind == FF_LIVE_ROS ? 4096 : 0; /* each row is sent: four seconds at 1 kHz */
        const ff_status status = ff_live_start(config, &one, why, sizeof why);
        if (status < 0) {
            snprintf(message, size, "%s: %s", list[i].option, why);
            ff_live_stop(*live);
            *live = NULL;
            return status;
        }
        *live = *live ? *live : one;
    }
    return FF_OK;
}

void ff_live_stop(ff_live *live) {
    while (live) {
        ff_live *next = live->next;
        live->module->stop(live);
        release(live);
        live = next;
    }
}

const char *ff_live_url(const ff_live *live) {
    return live->url;
}

ff_live_kind ff_live_get_kind(const ff_live *live) {
    return live->kind;
}

ff_live *ff_live_next(const ff_live *live) {
    return live->next;
}

const char *ff_live_token(const ff_live *live) {
    return live->token;
}

ff_status ff_live_offer(ff_live *live, const char *folder, const char *name) {
    const int n = atomic_load_explicit(&live->files, memory_order_relaxed);
    char path[FF_FILE_PATH];
    ff_live_file *file = &live->file[n < FF_LIVE_FILES ? n : 0];
    if (n == FF_LIVE_FILES || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return FF_ERR_SIZE;
    const ff_status status = ff_file_read(path, 256u << 20, &file->text, &file->size, NULL, 0);
    if (status != FF_OK)
        return status;
    snprintf(file->name, sizeof file->name, "%s", name);
    atomic_store_explicit(&live->files, n + 1, memory_order_release);
    return FF_OK;
}

ff_live_info ff_live_get_info(const ff_live *live) {
    ff_live_info info = {0};
    for (; live; live = live->next) {
        info.rows += atomic_load_explicit(&live->pushed, memory_order_relaxed);
        info.dropped += ff_ring_dropped(&live->ring);
        info.frames += atomic_load_explicit(&live->frames_made, memory_order_relaxed);
        info.viewers += atomic_load_explicit(&live->viewers, memory_order_relaxed);
    }
    return info;
}
