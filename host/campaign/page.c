/* summary.json and report.html of a campaign. */
#include "campaign/output.h"

#include "text/version.h"
#include "text/json.h"
#include "report/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double parts[] = {0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};
static const char *const part_names[] = {"min", "q05", "q25", "median", "q75", "q95", "max"};
enum { PARTS = 7 };

static void listed(ff_json *json, const ff_campaign *c, const ff_listed *run, const char *status) {
    const uint64_t index = run->slot / (uint64_t)c->methods;
    const int method = (int)(run->slot % (uint64_t)c->methods);
    char *command = ff_campaign_command(c, index, method);
    json->failed = json->failed || !command;
    ff_json_open(json, NULL, '{');
    ff_json_integer(json, "index", (long long)index);
    ff_json_string(json, "method", c->method[method].variant.label);
    if (isfinite(run->value)) {
        ff_json_string(json, "metric", c->metric[c->worst_by].name);
        ff_json_number(json, "value", run->value);
    }
    ff_json_string(json, "status", status);
    ff_json_string(json, "command", command);
    ff_json_close(json, '}');
    free(command);
}

/* Methods from outside: which they were, to the byte. Nothing without any. */
static void libraries(ff_json *json, const ff_campaign *c) {
    bool any = false;
    for (int m = 0; m < c->methods; m++) {
        const ff_method_library *library = c->method[m].library;
        if (!library)
            continue;
        if (!any)
            ff_json_open(json, "method_libraries", '{');
        any = true;
        ff_json_open(json, c->method[m].variant.label, '{');
        ff_json_string(json, "path", library->path);
        ff_json_string(json, "sha256", library->hash);
        ff_json_string(json, "version", library->method->version);
        ff_json_close(json, '}');
    }
    if (any)
        ff_json_close(json, '}');
}

char *ff_page_json(ff_output *o, double seconds) {
    const ff_campaign *c = o->campaign;
    char hash[40];
    snprintf(hash, sizeof hash, "%016llx%016llx", (unsigned long long)c->hash[0],
             (unsigned long long)c->hash[1]);
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "campaign", c->name);
    ff_json_string(&json, "base", c->base);
    ff_json_string(&json, "version", ff_version());
    ff_json_string(&json, "hash", hash);
    ff_json_integer(&json, "seed", (long long)c->seed);
    ff_json_integer(&json, "samples", (long long)c->samples);
    ff_json_integer(&json, "runs", (long long)o->runs);
    ff_json_integer(&json, "failed", (long long)o->failed);
    ff_json_number(&json, "seconds", seconds);
    libraries(&json, c);
    ff_json_open(&json, "methods", '{');
    for (int m = 0; m < c->methods; m++) {
        ff_json_open(&json, c->method[m].variant.label, '{');
        for (int i = 0; i < c->metrics; i++) {
            ff_spread *s = &o->spread[m][i];
            ff_json_open(&json, c->metric[i].name, '{');
            ff_json_string(&json, "unit", c->metric[i].unit);
            ff_json_integer(&json, "count", (long long)s->count);
            ff_json_integer(&json, "missing", (long long)s->missing);
            for (int q = 0; q < PARTS; q++)
                ff_json_number(&json, part_names[q], ff_spread_quantile(s, parts[q]));
            ff_json_number(&json, "mean", s->count ? s->sum / (double)s->count : FF_NAN);
            ff_json_close(&json, '}');
        }
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, '}');
    ff_json_open(&json, "worst", '[');
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; i < o->worsts[m]; i++)
            listed(&json, c, &o->worst[m][i], "ok");
    ff_json_close(&json, ']');
    ff_json_open(&json, "failures", '[');
    for (int i = 0; i < o->faileds; i++)
        listed(&json, c, &o->listed[i], o->listed[i].reason);
    ff_json_close(&json, ']');
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}

/* ------------------------------------------------------------------------------------------------- page --
 */

static void put_value(char text[32], double value) {
    if (isfinite(value))
        snprintf(text, 32, "%.4g", value);
    else
        snprintf(text, 32, "\xe2\x80\x93");
}

/* A value; below a millionth of its limit it is rounding, and 0. */
static double relevant(double value, double limit) {
    return fabs(value) < 1e-6 * fabs(limit) ? 0.0 : value;
}

static void values_table(ff_study *study, ff_output *o) {
    static const char *const heads[] = {"Metric", "Unit",  "Method",  "#Runs", "#Missing", "#Mean", "#Min",
                                        "#5 %",   "#25 %", "#Median", "#75 %", "#95 %",    "#Max"};
    const ff_campaign *c = o->campaign;
    ff_study_table(study, "Values", true, heads, 6 + PARTS);
    for (int i = 0; i < c->metrics; i++) {
        const bool same = c->metric[i].scenario_only; /* whatever the method */
        for (int m = 0; m < (same ? 1 : c->methods); m++) {
            ff_spread *s = &o->spread[m][i];
            char number[3 + PARTS][32];
            const char *cell[6 + PARTS] = {
                c->metric[i].name, c->metric[i].unit, same ? "all" : c->method[m].variant.label,
                number[0],         number[1],         number[2]};
            snprintf(number[0], sizeof number[0], "%llu", (unsigned long long)s->count);
            snprintf(number[1], sizeof number[1], "%llu", (unsigned long long)s->missing);
            put_value(number[2], ff_output_shown(o, i, s->count ? s->sum / (double)s->count : FF_NAN));
            for (int q = 0; q < PARTS; q++) {
                put_value(number[3 + q], ff_output_shown(o, i, ff_spread_quantile(s, parts[q])));
                cell[6 + q] = number[3 + q];
            }
            ff_study_row(study, cell, 6 + PARTS);
        }
    }
    ff_study_table_end(study);
}

static void runs_row(ff_study *study, const ff_output *o, const ff_listed *run, const char *status) {
    const ff_campaign *c = o->campaign;
    const int method = (int)(run->slot % (uint64_t)c->methods);
    const uint64_t index = run->slot / (uint64_t)c->methods;
    char *command = ff_campaign_command(c, index, method), sample[24], value[32];
    snprintf(sample, sizeof sample, "%llu", (unsigned long long)index);
    put_value(value, ff_output_shown(o, c->worst_by, run->value));
    study->json.failed = study->json.failed || !command;
    const char *const cell[] = {sample, c->method[method].variant.label, status ? status : value, command};
    ff_study_row(study, cell, 4);
    free(command);
}

static void runs_tables(ff_study *study, const ff_output *o) {
    const ff_campaign *c = o->campaign;
    char title[FF_NAME_SIZE + 32];
    static const char *const worst[] = {"Sample", "Method", "#Value", "Run it again"}, *const failed[] = {
                                                                                           "Sample", "Method",
                                                                                           "Reason",
                                                                                           "Run it again"};
    snprintf(title, sizeof title, "Worst cases by %s", c->metric[c->worst_by].name);
    ff_study_table(study, title, true, worst, 4);
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; i < o->worsts[m]; i++)
            runs_row(study, o, &o->worst[m][i], NULL);
    ff_study_table_end(study);
    ff_study_table(study,
                   o->failed > (uint64_t)o->faileds ? "Failed runs (the first hundred)" : "Failed runs", true,
                   failed, 4);
    for (int i = 0; i < o->faileds; i++)
        runs_row(study, o, &o->listed[i], o->listed[i].reason);
    ff_study_table_end(study);
}

static const ff_cell *cell_of(const ff_picture *p, int method, int x, int y) {
    return &p->cell[(method * p->y.count + y) * p->x.count + x];
}

/* Logarithmic where values differ by more than a factor of 50 and none is negative. */
static bool log_values(const ff_output *o, const ff_picture *p, double limit) {
    double least = FF_INF, positive = FF_INF, most = -FF_INF;
    for (int i = 0; i < o->campaign->methods * p->x.count * p->y.count; i++)
        if (p->cell[i].count) {
            const double v = relevant(p->cell[i].most, limit);
            least = fmin(least, v);
            most = fmax(most, v);
            positive = v > 0.0 ? fmin(positive, v) : positive;
        }
    return least >= 0.0 && most / positive > 50.0;
}

static ff_study_axis axis_of(const ff_campaign *c, const ff_axis *a) {
    return (ff_study_axis){
        ff_campaign_column(c, a->column), ff_campaign_unit(c, a->column), a->log, a->count, a->at, a->edge};
}

/* The limits of a map, as its pictures have them. */
static void map_limits(ff_study *study, const ff_output *o, int n) {
    const ff_campaign_map *m = &o->campaign->map[n];
    ff_segment *segment = o->segment;
    double *piece = malloc(FF_CONTOUR_SEGMENTS * 4 * sizeof *piece);
    study->json.failed = study->json.failed || !piece;
    for (int i = 0; piece && i < m->limits; i++)
        for (int k = 0; k < o->campaign->methods; k++) {
            const int count = ff_picture_contour(&o->picture[n], ff_picture_limit(o, n, i, k), true,
                                                 m->limit[i].at, segment);
            for (int j = 0; j < count; j++) {
                piece[4 * j] = segment[j].x[0];
                piece[4 * j + 1] = segment[j].y[0];
                piece[4 * j + 2] = segment[j].x[1];
                piece[4 * j + 3] = segment[j].y[1];
            }
            if (count)
                ff_study_map_line(study, k, i, m->limit[i].label, piece, count);
        }
    free(piece);
}

static double own_value(ff_study *study, const ff_campaign *c, int column) {
    double value;
    study->json.failed |= ff_campaign_own(c, column, &value) != FF_OK;
    return value;
}

static void map(ff_study *study, const ff_output *o, int n) {
    const ff_campaign *c = o->campaign;
    const ff_picture *p = &o->picture[n];
    const ff_metric *metric = &c->metric[c->map[n].show];
    const ff_study_map m = {.title = metric->name,
                            .note = p->share ? "share of the runs" : "each cell: the largest value in it",
                            .unit = metric->unit,
                            .log = !p->share && log_values(o, p, c->map[n].contour),
                            .share = p->share,
                            .limit = c->map[n].contour,
                            .x = axis_of(c, &p->x),
                            .y = axis_of(c, &p->y),
                            .point = {own_value(study, c, p->x.column), own_value(study, c, p->y.column)}};
    ff_study_map_open(study, &m);
    for (int k = 0; k < c->methods; k++) {
        static double value[FF_AXIS_CELLS * FF_AXIS_CELLS];
        for (int y = 0; y < p->y.count; y++)
            for (int x = 0; x < p->x.count; x++) {
                const ff_cell *cell = cell_of(p, k, x, y);
                value[y * p->x.count + x] = cell->count ? cell->most : cell->failed ? FF_NAN : FF_INF;
            }
        ff_study_panel(study, c->method[k].variant.label, value, p->x.count, p->y.count);
    }
    map_limits(study, o, n);
    ff_study_map_end(study);
}

/* A limit as one more line; where it has a level, two points upright at each crossing. */
static void curve_limits(ff_study *study, const ff_output *o, int n, const double *ends, bool log) {
    const ff_campaign *c = o->campaign;
    const ff_picture *p = &o->picture[n];
    for (int i = 0; i < c->map[n].limits; i++) {
        const ff_map_limit *limit = &c->map[n].limit[i];
        const ff_cell *cell = ff_picture_limit(o, n, i, 0);
        double at[8], y[FF_AXIS_CELLS];
        if (isfinite(limit->at)) {
            const int count = ff_picture_crossings(p, cell, limit->at, at, 8);
            for (int k = 0; k < count; k++) {
                const double upright[2] = {at[k], at[k]};
                ff_study_line(study, limit->label, c->methods + i, false, upright, ends, 2);
            }
            continue;
        }
        for (int x = 0; x < p->x.count; x++) {
            y[x] = cell[x].count ? cell[x].sum / (double)cell[x].count : FF_NAN;
            if (log && !(y[x] > 0.0))
                y[x] = FF_NAN;
        }
        ff_study_line(study, limit->label, c->methods + i, false, p->x.at, y, p->x.count);
    }
}

/* The base scenario on an axis; FF_NAN where it lies beyond what was varied. */
static double own_between(ff_study *study, const ff_campaign *c, const ff_axis *a) {
    const double own = own_value(study, c, a->column);
    return own >= a->edge[0] && own <= a->edge[a->count] ? own : FF_NAN;
}

static void curves(ff_study *study, const ff_output *o, int n) {
    const ff_campaign *c = o->campaign;
    const ff_picture *p = &o->picture[n];
    const ff_metric *metric = &c->metric[c->map[n].show];
    const ff_study_curves s = {.title = metric->name,
                               .note =
                                   p->share ? "share of the runs" : "line: mean of each place; pale: largest",
                               .unit = metric->unit,
                               .log = !p->share && log_values(o, p, c->map[n].contour),
                               .share = p->share,
                               .limit = c->map[n].contour,
                               .x_name = ff_campaign_column(c, p->x.column),
                               .x_unit = ff_campaign_unit(c, p->x.column),
                               .x_log = p->x.log,
                               .point = own_between(study, c, &p->x)};
    ff_study_curves_open(study, &s);
    double ends[2] = {FF_NAN, FF_NAN}; /* of what is drawn */
    for (int k = 0; k < c->methods; k++) {
        double mean[FF_AXIS_CELLS], most[FF_AXIS_CELLS];
        for (int x = 0; x < p->x.count; x++) {
            const ff_cell *cell = cell_of(p, k, x, 0);
            most[x] = cell->count ? cell->most : FF_NAN;
            mean[x] = cell->count ? cell->sum / (double)cell->count : FF_NAN;
            mean[x] = relevant(mean[x], s.limit);
            most[x] = relevant(most[x], s.limit);
            if (s.log && !(mean[x] > 0.0))
                continue;                     /* a logarithmic axis has no zero */
            ends[0] = fmin(ends[0], mean[x]); /* fmin and fmax pass over what is not a number */
            ends[1] = fmax(ends[1], most[x]);
        }
        char label[FF_NAME_SIZE + 16];
        snprintf(label, sizeof label, "%s, largest", c->method[k].variant.label);
        if (!p->share)
            ff_study_line(study, label, k, true, p->x.at, most, p->x.count);
        ff_study_line(study, c->method[k].variant.label, k, false, p->x.at, mean, p->x.count);
    }
    curve_limits(study, o, n, ends, s.log);
    ff_study_curves_end(study);
}

static void distribution(ff_study *study, const ff_output *o, int metric) {
    const ff_campaign *c = o->campaign;
    const ff_bars *bars = &o->bars[metric];
    if (!(bars->to > bars->from))
        return;
    char title[FF_NAME_SIZE + 32];
    snprintf(title, sizeof title, "distribution of %s", c->metric[metric].name);
    const ff_study_curves s = {.title = title,
                               .note = "share of the runs; what lies beyond stands in the end bars",
                               .unit = "",
                               .steps = true,
                               .limit = FF_NAN,
                               .x_name = c->metric[metric].name,
                               .x_unit = c->metric[metric].unit,
                               .x_log = bars->log,
                               .point = FF_NAN};
    double x[FF_BARS + 1];
    for (int i = 0; i <= FF_BARS; i++) {
        const double part = (double)i / FF_BARS;
        x[i] = bars->log ? bars->from * pow(bars->to / bars->from, part)
                         : bars->from + part * (bars->to - bars->from);
    }
    ff_study_curves_open(study, &s);
    for (int m = 0; m < c->methods; m++) {
        const double count = (double)o->spread[m][metric].count;
        double y[FF_BARS + 1];
        for (int i = 0; i <= FF_BARS; i++)
            y[i] = count > 0.0 ? (double)bars->count[m][i < FF_BARS ? i : FF_BARS - 1] / count : FF_NAN;
        ff_study_line(study, c->method[m].variant.label, m, false, x, y, FF_BARS + 1);
    }
    ff_study_curves_end(study);
}

/* Whether the largest value of every metric that has a requirement stays within it; false without one. */
static bool keeps(ff_output *o, int method) {
    const ff_campaign *c = o->campaign;
    bool good = true, any = false;
    for (int i = 0; i < c->metrics; i++) {
        const double limit = ff_metric_requirement(&c->metric[i], &c->scenario);
        ff_spread *s = &o->spread[method][i];
        any = any || isfinite(limit);
        good = good && (!isfinite(limit) || (s->count && ff_spread_quantile(s, 1.0) <= limit));
    }
    return any && good;
}

static bool judged(const ff_campaign *c) {
    bool any = false;
    for (int i = 0; i < c->metrics; i++)
        any = any || isfinite(ff_metric_requirement(&c->metric[i], &c->scenario));
    return any;
}

/* The word and, as the beginning of the sentence, which methods they are. */
static ff_study_verdict judge(ff_output *o, char *word, size_t size, char *who, size_t who_size) {
    const ff_campaign *c = o->campaign;
    int keep = 0;
    size_t n = 0;
    for (int k = 0; k < c->methods; k++)
        if (keeps(o, k)) {
            n += (size_t)snprintf(who + n, n < who_size ? who_size - n : 0, "%s%s", keep ? ", " : "",
                                  c->method[k].variant.label);
            n = n < who_size ? n : who_size - 1;
            keep++;
        }
    int share = 0;
    while (share < c->metrics && !ff_metric_share(&c->metric[share]))
        share++;
    for (int k = 0; k < c->methods && !keep && share < c->metrics && n + 1 < who_size; k++) {
        const ff_spread *s = &o->spread[k][share]; /* none in every sample: in which share */
        n += (size_t)snprintf(who + n, who_size - n, "%s%s in %.3g %%", k ? ", " : "Kept by ",
                              c->method[k].variant.label, 100.0 * s->sum / (double)(s->count ? s->count : 1));
        n = n < who_size ? n : who_size - 1;
    }
    snprintf(who + n, who_size - n, "%s", keep ? ". " : n ? " of the samples. " : "");
    if (!judged(c)) {
        snprintf(word, size, "Not judged: no metric has a requirement");
        return FF_STUDY_NONE;
    }
    snprintf(word, size, "%d of %d method%s keep%s the requirements in every sample", keep, c->methods,
             c->methods == 1 ? "" : "s", keep == 1 ? "s" : "");
    return keep ? FF_STUDY_GOOD : FF_STUDY_BAD;
}

/* What is judged, in a row for each method: the share that passes, the largest value of each requirement. */
static void methods_table(ff_study *study, ff_output *o) {
    const ff_campaign *c = o->campaign;
    enum { MOST = FF_CAMPAIGN_METRICS + 2 };
    static char head[MOST][FF_NAME_SIZE + 64], text[MOST][32];
    const char *heads[MOST] = {"Method"}, *cells[MOST];
    int column[MOST], columns = 1;
    for (int i = 0; i < c->metrics; i++) {
        const double limit = ff_metric_requirement(&c->metric[i], &c->scenario);
        if (ff_metric_share(&c->metric[i]))
            snprintf(head[columns], sizeof head[0], "#%s, share", c->metric[i].name);
        else if (isfinite(limit))
            snprintf(head[columns], sizeof head[0], "#%s, largest (limit %.4g%s%s)", c->metric[i].name, limit,
                     *c->metric[i].unit ? " " : "", c->metric[i].unit);
        else
            continue;
        column[columns] = i;
        heads[columns] = head[columns];
        columns++;
    }
    if (columns == 1)
        return;
    heads[columns++] = "Requirements";
    ff_study_table(study, "Methods", false, heads, columns);
    for (int k = 0; k < c->methods; k++) {
        cells[0] = c->method[k].variant.label;
        for (int n = 1; n < columns - 1; n++) {
            ff_spread *s = &o->spread[k][column[n]];
            const ff_metric *metric = &c->metric[column[n]];
            put_value(text[n], !s->count ? FF_NAN
                               : ff_metric_share(metric)
                                   ? s->sum / (double)s->count
                                   : ff_output_shown(o, column[n], ff_spread_quantile(s, 1.0)));
            cells[n] = text[n];
        }
        cells[columns - 1] = !judged(c) ? "not judged" : keeps(o, k) ? "kept in every sample" : "not kept";
        ff_study_row(study, cells, columns);
    }
    ff_study_table_end(study);
}

ff_status ff_page_write(ff_output *o, const char *path) {
    const ff_campaign *c = o->campaign;
    char lead[5600], word[96], who[1000];
    const ff_study_verdict verdict = judge(o, word, sizeof word, who, sizeof who);
    snprintf(lead, sizeof lead,
             "%s%llu samples, %d method%s, %llu runs, %llu failed. Base scenario %s, seed %llu.", who,
             (unsigned long long)c->samples, c->methods, c->methods > 1 ? "s" : "",
             (unsigned long long)o->runs, (unsigned long long)o->failed, c->base,
             (unsigned long long)c->seed);
    ff_study study;
    ff_study_open(&study, verdict, word, lead);
    methods_table(&study, o);
    values_table(&study, o);
    runs_tables(&study, o);
    for (int pass = 0; pass < 2; pass++) /* maps before curves */
        for (int i = 0; i < c->maps; i++) {
            const ff_picture *p = &o->picture[i];
            if (!p->cell || !p->x.count || !p->y.count || (p->y.column < 0) != (pass == 1))
                continue;
            if (pass == 0)
                map(&study, o, i);
            else
                curves(&study, o, i);
        }
    for (int i = 0; i < c->metrics; i++)
        if (!c->metric[i].scenario_only && !ff_metric_share(&c->metric[i]))
            distribution(&study, o, i);
    return ff_study_write(&study, path, c->name);
}
