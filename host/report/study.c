#include "report/study.h"

#include "report/html.h"

void ff_study_open(ff_study *s, ff_study_verdict verdict, const char *word, const char *lead) {
    static const char *const name[] = {"none", "good", "bad"};
    s->part = 0;
    s->lines = false;
    ff_json_init(&s->json, false);
    ff_json_open(&s->json, NULL, '{');
    ff_json_string(&s->json, "verdict", name[verdict]);
    ff_json_string(&s->json, "word", word);
    ff_json_string(&s->json, "lead", lead);
    ff_json_open(&s->json, "tables", '[');
}

/* Tables may also come last: they are distinguished by `after`, so that all stand in one list. */
static void go_to(ff_study *s, int part) {
    static const char *const name[] = {"tables", "maps", "curves"};
    while (s->part < part) {
        ff_json_close(&s->json, ']');
        ff_json_open(&s->json, name[++s->part], '[');
    }
}

void ff_study_table(ff_study *s, const char *title, bool after, const char *const *heads, int count) {
    ff_json_open(&s->json, NULL, '{');
    ff_json_string(&s->json, "title", title);
    ff_json_bool(&s->json, "after", after);
    ff_json_open(&s->json, "heads", '[');
    for (int i = 0; i < count; i++)
        ff_json_string(&s->json, NULL, heads[i]);
    ff_json_close(&s->json, ']');
    ff_json_open(&s->json, "rows", '[');
}

void ff_study_row(ff_study *s, const char *const *cells, int count) {
    ff_json_open(&s->json, NULL, '[');
    for (int i = 0; i < count; i++)
        ff_json_string(&s->json, NULL, cells[i] ? cells[i] : "");
    ff_json_close(&s->json, ']');
}

void ff_study_table_end(ff_study *s) {
    ff_json_close(&s->json, ']');
    ff_json_close(&s->json, '}');
}

static void axis(ff_json *json, const char *key, const ff_study_axis *a) {
    ff_json_open(json, key, '{');
    ff_json_string(json, "name", a->name);
    ff_json_string(json, "unit", a->unit);
    ff_json_bool(json, "log", a->log);
    ff_json_vector(json, "at", a->at, a->count);
    ff_json_vector(json, "edge", a->edge, a->count + 1);
    ff_json_close(json, '}');
}

void ff_study_map_open(ff_study *s, const ff_study_map *m) {
    go_to(s, 1);
    ff_json_open(&s->json, NULL, '{');
    ff_json_string(&s->json, "title", m->title);
    ff_json_string(&s->json, "note", m->note);
    ff_json_string(&s->json, "unit", m->unit);
    ff_json_bool(&s->json, "log", m->log);
    ff_json_bool(&s->json, "share", m->share);
    ff_json_number(&s->json, "limit", m->limit);
    axis(&s->json, "x", &m->x);
    axis(&s->json, "y", &m->y);
    ff_json_vector(&s->json, "point", m->point, 2);
    ff_json_open(&s->json, "panels", '[');
}

void ff_study_panel(ff_study *s, const char *label, const double *values, int columns, int rows) {
    ff_json_open(&s->json, NULL, '{');
    ff_json_string(&s->json, "label", label);
    ff_json_open(&s->json, "values", '[');
    for (int y = 0; y < rows; y++) {
        ff_json_open(&s->json, NULL, '[');
        for (int x = 0; x < columns; x++) {
            const double v = values[y * columns + x];
            if (isinf(v))
                ff_json_string(&s->json, NULL, "");
            else
                ff_json_number(&s->json, NULL, v);
        }
        ff_json_close(&s->json, ']');
    }
    ff_json_close(&s->json, ']');
    ff_json_close(&s->json, '}');
}

void ff_study_map_line(ff_study *s, int panel, int style, const char *label, const double *pieces,
                       int count) {
    if (!s->lines) {
        ff_json_close(&s->json, ']');
        ff_json_open(&s->json, "lines", '[');
        s->lines = true;
    }
    ff_json_open(&s->json, NULL, '{');
    ff_json_integer(&s->json, "panel", panel);
    ff_json_integer(&s->json, "style", style);
    ff_json_string(&s->json, "label", label);
    ff_json_vector(&s->json, "pieces", pieces, 4 * count);
    ff_json_close(&s->json, '}');
}

void ff_study_map_end(ff_study *s) {
    s->lines = false;
    ff_json_close(&s->json, ']');
    ff_json_close(&s->json, '}');
}

void ff_study_curves_open(ff_study *s, const ff_study_curves *c) {
    go_to(s, 2);
    ff_json_open(&s->json, NULL, '{');
    ff_json_string(&s->json, "title", c->title);
    ff_json_string(&s->json, "note", c->note);
    ff_json_string(&s->json, "unit", c->unit);
    ff_json_bool(&s->json, "log", c->log);
    ff_json_bool(&s->json, "steps", c->steps);
    ff_json_bool(&s->json, "share", c->share);
    ff_json_number(&s->json, "point", c->point);
    ff_json_number(&s->json, "limit", c->limit);
    ff_json_open(&s->json, "x", '{');
    ff_json_string(&s->json, "name", c->x_name);
    ff_json_string(&s->json, "unit", c->x_unit);
    ff_json_bool(&s->json, "log", c->x_log);
    ff_json_close(&s->json, '}');
    ff_json_open(&s->json, "lines", '[');
}

void ff_study_line(ff_study *s, const char *label, int style, bool pale, const double *x, const double *y,
                   int count) {
    ff_json_open(&s->json, NULL, '{');
    ff_json_string(&s->json, "label", label);
    ff_json_integer(&s->json, "style", style);
    ff_json_bool(&s->json, "pale", pale);
    ff_json_vector(&s->json, "x", x, count);
    ff_json_vector(&s->json, "y", y, count);
    ff_json_close(&s->json, '}');
}

void ff_study_curves_end(ff_study *s) {
    ff_json_close(&s->json, ']');
    ff_json_close(&s->json, '}');
}

ff_status ff_study_write(ff_study *s, const char *path, const char *title) {
    go_to(s, 2);
    ff_json_close(&s->json, ']');
    ff_json_close(&s->json, '}');
    const ff_status status =
        s->json.failed ? FF_ERR_MEMORY : ff_report_write_study(path, title, s->json.text);
    ff_json_free(&s->json);
    return status;
}
