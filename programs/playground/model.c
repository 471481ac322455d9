/* playground/model.c - the program as a WebAssembly module: a scenario's text in, its mistakes or its run
 * out.
 *
 * It is the session of host/session with its file in memory (text/held.h): what the page shows is what
 * `freefloat run` writes. One session at a time; every pointer that is handed out lasts until the next call
 * of ff_play_check or ff_play_run. Texts are UTF-8 and end with a zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/geometry.h"
#include "rows/columns.h"
#include "scenario/tree.h"
#include "session/session.h"
#include "text/json.h"

#define EXPORT(name) __attribute__((export_name(#name), used))

enum {
    MOST_ROWS = 20000,     /* that reach the page */
    MOST_CYCLES = 4000000, /* that a run may have: beyond, the page would stand still for minutes */
    MOST_SETS = 32
};

static const char *const LABEL = "scenario.yaml";

/* Rows as the page gets them: every `stride`th and the last. */
typedef struct table {
    ff_columns columns;
    int *chosen, width;  /* of the columns, those that were asked for */
    char *names;         /* one a line */
    double *all, *value; /* one row; `rows` rows of `width` */
    size_t rows, room, seen, stride;
} table;

static ff_session session;
static bool is_open;
static ff_notes notes;
static table rows;
static char *geometry, *input;

static const char *or_empty(const char *text) {
    return text ? text : "";
}

static void clear(void) {
    if (is_open)
        ff_session_free(&session);
    is_open = false;
    ff_columns_free(&rows.columns);
    free(rows.chosen);
    free(rows.names);
    free(rows.all);
    free(rows.value);
    rows = (table){0};
    free(geometry);
    geometry = NULL;
    ff_notes_clear(&notes);
}

/* Room for the texts of the next call. NULL: no memory. */
EXPORT(reserve) char *ff_play_reserve(size_t bytes) {
    free(input);
    return input = malloc(bytes + 1);
}

/* One "path=value" a line, cut apart in place. */
static int split(char *sets, const char *set[MOST_SETS]) {
    int count = 0;
    for (char *line = strtok(sets, "\n"); line && count < MOST_SETS; line = strtok(NULL, "\n"))
        set[count++] = line;
    return count;
}

static ff_held held;

static ff_scenario_options options_of(const char *text, const char *method, char *sets,
                                      const char *set[MOST_SETS]) {
    clear();
    ff_held_free(&held);
    if (ff_held_put(&held, LABEL, text, strlen(text)) != FF_OK)
        ff_notes_error(&notes, FF_FAILED, "no memory");
    return (ff_scenario_options){
        .set = set, .sets = split(sets, set), .method = *method ? method : NULL, .held = &held};
}

/* 0: valid; 2: not, every mistake a line of `error`, as freefloat check prints them. */
EXPORT(check) int ff_play_check(const char *text, const char *method, char *sets) {
    static ff_scenario scenario;
    const char *set[MOST_SETS];
    ff_scenario_options options = options_of(text, method, sets, set);
    options.all = true;
    const ff_status status = ff_scenario_load(LABEL, &options, &scenario, notes.error, sizeof notes.error,
                                              notes.warning, sizeof notes.warning);
    return status == FF_OK ? ff_session_prepare(&scenario, &notes) : FF_REFUSED;
}

/* Where the numbers stand under a key: [[line, column, text], ...], null without any. */
static void put_places(ff_json *json, const char *key, const ff_node *node) {
    ff_json_open(json, key, '[');
    for (const ff_node *n = node && node->kind == FF_NODE_LIST ? node->child : node; n;
         n = node->kind == FF_NODE_LIST ? n->next : NULL)
        if (n->kind == FF_NODE_SCALAR && !n->quoted) {
            ff_json_open(json, NULL, '[');
            ff_json_integer(json, NULL, n->place.line);
            ff_json_integer(json, NULL, n->place.column);
            ff_json_string(json, NULL, n->text);
            ff_json_close(json, ']');
        }
    ff_json_close(json, ']');
}

/* JSON: where the numbers stand in the text that the sliders move. "" for a text that is not YAML. */
EXPORT(outline) const char *ff_play_outline(const char *text) {
    static char *json_text;
    ff_tree tree = {0};
    ff_tree_error error;
    ff_json json;
    free(json_text);
    json_text = NULL;
    if (ff_tree_parse(&tree, text, strlen(text), NULL, &tree.root, &error) == FF_OK && tree.root) {
        ff_json_init(&json, false);
        ff_json_open(&json, NULL, '{');
        put_places(&json, "cycle", ff_node_at(tree.root, "time.cycle"));
        const ff_node *list = ff_node_find(tree.root, "satellites");
        ff_json_open(&json, "satellites", '[');
        for (const ff_node *n = list ? list->child : NULL; n; n = n->next) {
            ff_json_open(&json, NULL, '{');
            ff_json_string(&json, "name", n->key ? n->key : "");
            put_places(&json, "mass", ff_node_find(n, "mass"));
            put_places(&json, "velocity", ff_node_find(n, "velocity"));
            put_places(&json, "delay", ff_node_at(n, "robot.delay"));
            put_places(&json, "noise", ff_node_at(n, "sensor.force_noise"));
            ff_json_close(&json, '}');
        }
        ff_json_close(&json, ']');
        list = ff_node_find(tree.root, "contacts");
        ff_json_open(&json, "contacts", '[');
        for (const ff_node *n = list ? list->child : NULL; n; n = n->next) {
            ff_json_open(&json, NULL, '{');
            put_places(&json, "stiffness", ff_node_find(n, "stiffness"));
            put_places(&json, "damping", ff_node_find(n, "damping"));
            ff_json_close(&json, '}');
        }
        ff_json_close(&json, ']');
        ff_json_close(&json, '}');
        json_text = ff_json_take(&json);
    }
    ff_tree_free(&tree);
    return or_empty(json_text);
}

static bool is_asked(const char *columns, const char *name) {
    if (!*columns)
        return true;
    const size_t length = strcspn(name, "[");
    const size_t bare = length > 0 && name[length - 1] == ' ' ? length - 1 : length;
    for (const char *line = columns; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t asked = strcspn(line, "\n"); /* whole, or what stands behind the satellite's name */
        if (asked <= bare && strncmp(name + bare - asked, line, asked) == 0 &&
            (asked == bare || name[bare - asked - 1] == '.'))
            return true;
    }
    return false;
}

static bool open_table(const char *columns) {
    if (ff_columns_init(&session.scenario, &rows.columns) != FF_OK)
        return false;
    const size_t count = (size_t)rows.columns.count;
    rows.chosen = calloc(count, sizeof *rows.chosen);
    rows.all = calloc(count, sizeof *rows.all);
    rows.names = calloc(count, FF_COLUMN_NAME);
    if (!rows.chosen || !rows.all || !rows.names)
        return false;
    char *end = rows.names;
    for (int c = 0; c < rows.columns.count; c++)
        if (c == 0 || is_asked(columns, rows.columns.name[c])) {
            rows.chosen[rows.width++] = c;
            end += sprintf(end, "%s\n", rows.columns.name[c]);
        }
    const size_t cycles = (size_t)session.scenario.cycles + 1;
    rows.stride = (cycles + MOST_ROWS - 1) / MOST_ROWS;
    rows.room = cycles / rows.stride + 2;
    rows.value = malloc(rows.room * (size_t)rows.width * sizeof *rows.value);
    return rows.value != NULL;
}

static ff_status take_row(void *self, const ff_row *row) {
    table *t = self;
    if ((t->seen++ % t->stride == 0 || row->final) && t->rows < t->room) {
        ff_columns_values(&t->columns, row, t->all);
        double *to = t->value + t->rows++ * (size_t)t->width;
        for (int c = 0; c < t->width; c++)
            to[c] = t->all[t->chosen[c]];
    }
    return FF_OK;
}

/* Runs the scenario. columns: the names to keep, one a line, without satellite and unit ("velocity.z"); none:
 * all. 0: done, whatever the verdict; 1: it began and failed, with a summary as far as there is one; 2:
 * refused. */
EXPORT(run) int ff_play_run(const char *text, const char *method, char *sets, const char *columns) {
    const char *set[MOST_SETS];
    const ff_scenario_options load = options_of(text, method, sets, set);
    ff_outcome outcome = ff_session_load(&session, LABEL, &load, &notes);
    if (outcome != FF_DONE)
        return outcome;
    is_open = true;
    const ff_scenario *s = &session.scenario;
    if (s->cycles > MOST_CYCLES)
        return ff_notes_error(&notes, FF_REFUSED,
                              "%s: %llu cycles, the page runs at most %d; use freefloat run", s->name,
                              (unsigned long long)s->cycles, (int)MOST_CYCLES);
    ff_session_options options = {0};
    if (!s->emulates) {
        if (!open_table(columns))
            return ff_notes_error(&notes, FF_FAILED, "no memory");
        options.extra =
            (ff_sink){.self = &rows, .axes = is_asked(columns, "client.robot.axis.1.angle"), .row = take_row};
    }
    outcome = ff_session_execute(&session, &options, &notes);
    geometry = s->emulates ? NULL : ff_report_geometry(s, false);
    return outcome;
}

EXPORT(error) const char *ff_play_error(void) {
    return notes.error;
}
EXPORT(warning) const char *ff_play_warning(void) {
    return notes.warning;
}
EXPORT(summary) const char *ff_play_summary(void) {
    return or_empty(is_open ? session.summary : NULL);
}
EXPORT(geometry) const char *ff_play_geometry(void) {
    return or_empty(geometry);
}
EXPORT(names) const char *ff_play_names(void) {
    return or_empty(rows.names);
}
EXPORT(rows) size_t ff_play_rows(void) {
    return rows.rows;
}
EXPORT(values) const double *ff_play_values(void) {
    return rows.value;
}
