/* Pictures of a campaign as SVG: maps of a metric over two columns (one panel for each method, the same
 * colours for all, a line at the requirement), curves over one column, distributions. Plain shapes and text,
 * no scripts; they open in a browser, a report and a word processor alike. */
#include "campaign/output.h"
#include "report/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PANEL_W = 300,
    PANEL_H = 240,
    LEFT = 74,
    TOP = 58,
    GAP_X = 96,
    GAP_Y = 84,
    RIGHT = 120,
    BOTTOM = 56,
    LIMIT_H = 18
};

typedef struct canvas {
    FILE *file;
    char *text;
    size_t size;
} canvas;

static bool canvas_open(canvas *c, double width, double height) {
    *c = (canvas){0};
    c->file = open_memstream(&c->text, &c->size);
    if (!c->file)
        return false;
    fprintf(c->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
            "%.0f\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\" fill=\"#222\">\n"
            "<defs><pattern id=\"none\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#e4e4e4\"/><rect "
            "width=\"2\" height=\"6\" fill=\"#b0b0b0\"/></pattern></defs>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
    return true;
}

static char *canvas_close(canvas *c) {
    fputs("</svg>\n", c->file);
    const bool bad = ferror(c->file) != 0;
    if (fclose(c->file) != 0 || bad) {
        free(c->text);
        return NULL;
    }
    return c->text;
}

static void put_label(FILE *f, double x, double y, const char *style, const char *text, const char *unit) {
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    ff_report_put_text(f, text);
    if (*unit) {
        fputs(" [", f);
        ff_report_put_text(f, unit);
        fputs("]", f);
    }
    fputs("</text>\n", f);
}

/* ---------------------------------------------------------------------------------------------- scales -- */

typedef struct scale {
    double from, to; /* values */
    double a, b;     /* places */
    bool log;
} scale;

static double place_on(const scale *s, double value) {
    const double part =
        s->log ? log(value / s->from) / log(s->to / s->from) : (value - s->from) / (s->to - s->from);
    return s->a + part * (s->b - s->a);
}

static int add_tick(double *tick, int count, const scale *s, double value) {
    if (count < 12 && value >= s->from - 1e-9 * fabs(s->to - s->from) &&
        value <= s->to + 1e-9 * fabs(s->to - s->from))
        tick[count++] = fabs(value) < 1e-12 * fabs(s->to - s->from) ? 0.0 : value;
    return count;
}

/* 1, 2, 5 times powers of ten, about five of them. */
static int ticks(const scale *s, double *tick) {
    int count = 0;
    if (s->log) {
        const double decades = log10(s->to / s->from);
        const int low = (int)floor(log10(s->from)) - 1, high = (int)ceil(log10(s->to)) + 1;
        const int stride = decades > 9.0 ? (int)(decades / 5.0) : 1;
        for (int e = low; e <= high; e += stride) {
            count = add_tick(tick, count, s, pow(10.0, e));
            if (decades < 2.5) {
                count = add_tick(tick, count, s, 2.0 * pow(10.0, e));
                count = add_tick(tick, count, s, 5.0 * pow(10.0, e));
            }
        }
        if (count >= 2)
            return count;
        count = 0;
    }
    const double raw = (s->to - s->from) / 5.0, size = pow(10.0, floor(log10(raw)));
    const double step = raw / size < 1.5   ? size
                        : raw / size < 3.5 ? 2.0 * size
                        : raw / size < 7.5 ? 5.0 * size
                                           : 10.0 * size;
    for (double n = ceil(s->from / step - 1e-9);
         n * step <= s->to * (1.0 + 1e-12) + 1e-9 * step && count < 12; n += 1.0)
        count = add_tick(tick, count, s, n * step);
    return count;
}

static void axis_x(FILE *f, const scale *s, double y, const char *name, const char *unit) {
    double tick[12];
    const int n = ticks(s, tick);
    for (int i = 0; i < n; i++) {
        const double x = place_on(s, tick[i]);
        fprintf(f,
                "<path d=\"M%.1f %.1fv4\" stroke=\"#444\"/><text x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"middle\">%.6g</text>\n",
                x, y, x, y + 16.0, tick[i]);
    }
    put_label(f, 0.5 * (s->a + s->b), y + 34.0, "text-anchor=\"middle\"", name, unit);
}

static void axis_y(FILE *f, const scale *s, double x, const char *name, const char *unit) {
    double tick[12];
    const int n = ticks(s, tick);
    for (int i = 0; i < n; i++) {
        const double y = place_on(s, tick[i]);
        fprintf(f,
                "<path d=\"M%.1f %.1fh-4\" stroke=\"#444\"/><text x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"end\">%.6g</text>\n",
                x, y, x - 7.0, y + 4.0, tick[i]);
    }
    char style[120];
    const double middle = 0.5 * (s->a + s->b);
    snprintf(style, sizeof style, "text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", x - 52.0,
             middle);
    put_label(f, x - 52.0, middle, style, name, unit);
}

/* A long path keeps its end, where it differs. */
static const char *tail(const char *text, size_t most) {
    const size_t n = strlen(text);
    if (n <= most)
        return text;
    const char *at = text + n - most;
    const char *dot = strchr(at, '.');
    return dot ? dot + 1 : at;
}

/* Dark blue to yellow, even in lightness, readable without colour. */
static void colour(double part, char *text) {
    static const double stop[][3] = {{68, 1, 84},    {71, 44, 122},  {59, 81, 139},
                                     {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
                                     {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
    const int last = (int)(sizeof stop / sizeof *stop) - 1;
    part = part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part;
    int i = (int)(part * last);
    i = i >= last ? last - 1 : i;
    const double s = part * last - i;
    int rgb[3];
    for (int k = 0; k < 3; k++)
        rgb[k] = (int)(stop[i][k] + s * (stop[i + 1][k] - stop[i][k]) + 0.5);
    snprintf(text, 16, "#%02x%02x%02x", (unsigned)rgb[0] & 255u, (unsigned)rgb[1] & 255u,
             (unsigned)rgb[2] & 255u);
}

static const char *const line_colour[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#000000", "#8c564b"};

/* ------------------------------------------------------------------------------------------------ maps -- */

static const ff_cell *cell_at(const ff_picture *p, int method, int x, int y) {
    return &p->cell[(method * p->y.count + y) * p->x.count + x];
}

/* Logarithmic where values differ by more than a factor of 50 and none is negative; rounding's depths, more
 * than five decades down, need no colours of their own. */
static scale value_scale(const ff_output *o, const ff_picture *p) {
    if (p->share)
        return (scale){.from = 0.0, .to = 1.0};
    scale s = {.from = FF_INF, .to = -FF_INF};
    double positive = FF_INF;
    for (int i = 0; i < o->campaign->methods * p->x.count * p->y.count; i++) {
        const ff_cell *cell = &p->cell[i];
        if (!cell->count)
            continue;
        const double least =
            p->y.column < 0 ? cell->sum / (double)cell->count : cell->most; /* that is drawn */
        s.from = fmin(s.from, least);
        s.to = fmax(s.to, cell->most);
        if (least > 0.0)
            positive = fmin(positive, least);
    }
    if (!(s.to >= s.from)) {
        s.from = 0.0;
        s.to = 1.0;
    }
    s.log = s.from >= 0.0 && s.to / positive > 50.0;
    if (s.log)
        s.from = fmax(positive, s.to / 1e5);
    if (s.to == s.from) {
        const double pad = fmax(0.01 * fabs(s.to), 1e-12);
        s.from -= pad;
        s.to += pad;
        s.log = false;
    }
    return s;
}

static const char *const limit_dash[FF_MAP_LIMITS] = {"none", "7 4", "2 4", "9 3 2 3"};

/* A line of pieces, edged in white so that it shows on every colour. */
static void put_segments(FILE *f, const ff_segment *segment, int count, const scale *sx, const scale *sy,
                         const char *stroke, const char *dash) {
    for (int pass = 0; pass < 2; pass++) {
        fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linecap=\"round\"",
                pass ? stroke : "#fff", pass ? "1.8" : "4");
        if (pass && strcmp(dash, "none") != 0)
            fprintf(f, " stroke-dasharray=\"%s\"", dash);
        fputs(" d=\"", f);
        for (int i = 0; i < count; i++) {
            const ff_segment *s = &segment[i];
            /* pieces that follow each other are one line, so that dashes continue */
            if (i == 0 || s->x[0] != segment[i - 1].x[1] || s->y[0] != segment[i - 1].y[1])
                fprintf(f, "M%.1f %.1f", place_on(sx, s->x[0]), place_on(sy, s->y[0]));
            fprintf(f, "L%.1f %.1f", place_on(sx, s->x[1]), place_on(sy, s->y[1]));
        }
        fputs("\"/>\n", f);
    }
}

static void map_lines(FILE *f, const ff_output *o, int map, int method, const scale *sx, const scale *sy) {
    const ff_campaign_map *m = &o->campaign->map[map];
    const ff_picture *p = &o->picture[map];
    ff_segment *segment = o->segment;
    for (int i = 0; i < m->limits; i++) {
        const ff_cell *cell = ff_picture_limit(o, map, i, method);
        const int n = ff_picture_contour(p, cell, true, m->limit[i].at, segment);
        put_segments(f, segment, n, sx, sy, "#000", limit_dash[i]);
    }
    if (isfinite(m->contour)) {
        const int n = ff_picture_contour(p, cell_at(p, method, 0, 0), false, m->contour, segment);
        put_segments(f, segment, n, sx, sy, "#d00", "none");
    }
}

/* Whether a limit's line lies in the picture at all. */
static bool limit_shown(const ff_output *o, int map, int limit) {
    const ff_picture *p = &o->picture[map];
    const ff_map_limit *l = &o->campaign->map[map].limit[limit];
    bool above = false, below = false;
    for (int m = 0; m < (p->y.column < 0 ? 1 : o->campaign->methods); m++)
        for (int i = 0; i < p->x.count * p->y.count; i++) {
            const ff_cell *cell = &ff_picture_limit(o, map, limit, m)[i];
            above = above || (cell->count && cell->sum / (double)cell->count > l->at);
            below = below || (cell->count && cell->sum / (double)cell->count <= l->at);
        }
    return (above && below) || !isfinite(l->at);
}

/* One line of text for each limit, from y down. */
static void put_limits(FILE *f, const ff_output *o, int n, double x, double y) {
    const ff_campaign_map *map = &o->campaign->map[n];
    for (int i = 0; i < map->limits; i++, y += LIMIT_H) {
        fprintf(f, "<path d=\"M%.1f %.1fh30\" stroke=\"#000\" stroke-width=\"1.8\"", x, y - 4.0);
        if (strcmp(limit_dash[i], "none") != 0)
            fprintf(f, " stroke-dasharray=\"%s\"", limit_dash[i]);
        fputs("/>\n", f);
        char text[FF_LABEL_SIZE + 32];
        snprintf(text, sizeof text, "%s%s", map->limit[i].label,
                 limit_shown(o, n, i) ? "" : " (outside this picture)");
        put_label(f, x + 38.0, y, "", text, "");
    }
}

static void panel(FILE *f, const ff_output *o, int map, int method, double left, double top,
                  const scale *values) {
    const ff_campaign *c = o->campaign;
    const ff_picture *p = &o->picture[map];
    const scale sx = {p->x.edge[0], p->x.edge[p->x.count], left, left + PANEL_W, p->x.log};
    const scale sy = {p->y.edge[0], p->y.edge[p->y.count], top + PANEL_H, top, p->y.log};
    put_label(f, left, top - 8.0, "font-weight=\"bold\"", c->method[method].variant.label, "");
    fprintf(f,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"#f6f6f6\"/>\n"
            "<g shape-rendering=\"crispEdges\">\n",
            left, top, PANEL_W, PANEL_H);
    for (int y = 0; y < p->y.count; y++)
        for (int x = 0; x < p->x.count; x++) {
            const ff_cell *cell = cell_at(p, method, x, y);
            if (!cell->count && !cell->failed)
                continue;
            char fill[16] = "url(#none)";
            if (cell->count) {
                const scale part = {values->from, values->to, 0.0, 1.0, values->log};
                colour(place_on(&part, fmax(cell->most, values->log ? values->from : cell->most)), fill);
            }
            const double x0 = place_on(&sx, p->x.edge[x]), x1 = place_on(&sx, p->x.edge[x + 1]);
            const double y1 = place_on(&sy, p->y.edge[y]), y0 = place_on(&sy, p->y.edge[y + 1]);
            fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x0, y0,
                    x1 - x0, y1 - y0, fill);
        }
    fputs("</g>\n", f);
    map_lines(f, o, map, method, &sx, &sy);
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444\"/>\n",
            left, top, PANEL_W, PANEL_H);
    axis_x(f, &sx, top + PANEL_H, tail(ff_campaign_column(c, p->x.column), 44),
           ff_campaign_unit(c, p->x.column));
    axis_y(f, &sy, left, tail(ff_campaign_column(c, p->y.column), 34), ff_campaign_unit(c, p->y.column));
}

static void legend(FILE *f, const ff_output *o, int map, double x, double y, const scale *values) {
    const ff_campaign *c = o->campaign;
    const ff_metric *metric = &c->metric[c->map[map].show];
    const scale s = {values->from, values->to, y + PANEL_H, y, values->log};
    const int steps = 60;
    fputs("<g shape-rendering=\"crispEdges\">\n", f);
    for (int i = 0; i < steps; i++) {
        char fill[16];
        colour((i + 0.5) / steps, fill);
        fprintf(f, "<rect x=\"%.1f\" y=\"%.2f\" width=\"14\" height=\"%.2f\" fill=\"%s\"/>\n", x,
                y + PANEL_H * (1.0 - (i + 1.0) / steps), (double)PANEL_H / steps + 0.5, fill);
    }
    fputs("</g>\n", f);
    double tick[12];
    const int n = ticks(&s, tick);
    for (int i = 0; i < n; i++)
        fprintf(f, "<text x=\"%.1f\" y=\"%.1f\">%.4g</text>\n", x + 19.0, place_on(&s, tick[i]) + 4.0,
                tick[i]);
    put_label(f, x, y - 8.0, "font-weight=\"bold\"", tail(metric->name, 16), metric->unit);
    const double level = c->map[map].contour;
    if (isfinite(level))
        fprintf(f,
                "<path d=\"M%.1f %.1fh14\" stroke=\"#d00\" stroke-width=\"1.8\"/><text x=\"%.1f\" "
                "y=\"%.1f\">%s %.4g</text>\n",
                x, y + PANEL_H + 18.0, x + 19.0, y + PANEL_H + 22.0,
                o->picture[map].share ? "share" : "limit", level);
    fprintf(f,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\" fill=\"url(#none)\"/><text x=\"%.1f\" "
            "y=\"%.1f\">no value</text>\n",
            x, y + PANEL_H + 30.0, x + 19.0, y + PANEL_H + 39.0);
}

static void title(FILE *f, const ff_output *o, int map) {
    const ff_campaign *c = o->campaign;
    const ff_picture *p = &o->picture[map];
    char text[400];
    snprintf(text, sizeof text, "%s: %s", c->name, c->metric[c->map[map].show].name);
    put_label(f, 16.0, 22.0, "font-size=\"14\" font-weight=\"bold\"", text, "");
    snprintf(text, sizeof text, "%llu samples; %s", (unsigned long long)c->samples,
             p->share          ? "share of the runs"
             : p->y.column < 0 ? "line: mean of each place, dashed: largest"
                               : "each cell: the largest value in it");
    put_label(f, 16.0, 38.0, "fill=\"#666\"", text, "");
}

/* Of the first method: limits follow from the scenario. The column itself where it has a value on the
 * scale, or upright lines where it crosses its level. */
static void curve_limit(FILE *f, const ff_output *o, int map, int limit, const scale *sx, const scale *sy) {
    const ff_picture *p = &o->picture[map];
    const ff_map_limit *l = &o->campaign->map[map].limit[limit];
    const ff_cell *cell = ff_picture_limit(o, map, limit, 0);
    fputs("<path fill=\"none\" stroke=\"#000\" stroke-width=\"1.8\"", f);
    if (strcmp(limit_dash[limit], "none") != 0)
        fprintf(f, " stroke-dasharray=\"%s\"", limit_dash[limit]);
    fputs(" d=\"", f);
    if (isfinite(l->at)) {
        double at[8];
        const int n = ff_picture_crossings(p, cell, l->at, at, 8);
        for (int i = 0; i < n; i++)
            fprintf(f, "M%.1f %.1fV%.1f", place_on(sx, at[i]), sy->a, sy->b);
    }
    bool pen = false;
    for (int x = 0; !isfinite(l->at) && x < p->x.count; x++) {
        const double value = cell[x].count ? cell[x].sum / (double)cell[x].count : FF_NAN;
        const bool shown = value >= sy->from && value <= sy->to;
        if (shown)
            fprintf(f, "%s%.1f %.1f", pen ? "L" : "M", place_on(sx, p->x.at[x]), place_on(sy, value));
        pen = shown;
    }
    fputs("\"/>\n", f);
}

static char *draw_curves(ff_output *o, int map) {
    const ff_campaign *c = o->campaign;
    const ff_picture *p = &o->picture[map];
    const double width = LEFT + 460 + 250, height = TOP + 300 + BOTTOM;
    canvas paper;
    if (!canvas_open(&paper, width, height + LIMIT_H * c->map[map].limits))
        return NULL;
    FILE *f = paper.file;
    title(f, o, map);
    scale values = value_scale(o, p);
    const double level = c->map[map].contour;
    const double room = values.log ? 1e3 : 5.0; /* a limit far away would flatten the curves */
    const bool near =
        isfinite(level) && level < room * values.to && (!values.log || level > values.from / room);
    if (near) {
        values.to = fmax(values.to, level);
        values.from = fmin(values.from, level);
    }
    const bool points = !p->x.bins;
    const scale sx = {points ? p->x.at[0] : p->x.edge[0],
                      points ? p->x.at[p->x.count - 1] : p->x.edge[p->x.count], LEFT, LEFT + 460, p->x.log};
    scale sy = {values.from, values.to, TOP + 300, TOP, values.log};
    if (!sy.log) {
        const double pad = 0.04 * (sy.to - sy.from);
        sy.from -= sy.from == 0.0 ? 0.0 : pad;
        sy.to += pad;
    }
    fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"460\" height=\"300\" fill=\"none\" stroke=\"#444\"/>\n", LEFT,
            TOP);
    for (int m = 0; m < c->methods; m++) {
        const char *stroke = line_colour[m % (int)(sizeof line_colour / sizeof *line_colour)];
        for (int kind = 0; kind < (p->share ? 1 : 2); kind++) {
            fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"", stroke,
                    kind ? "1" : "2", kind ? " stroke-dasharray=\"4 3\"" : "");
            bool pen = false;
            for (int x = 0; x < p->x.count; x++) {
                const ff_cell *cell = cell_at(p, m, x, 0);
                if (!cell->count) {
                    pen = pen && !cell->failed; /* a hole where runs failed */
                    continue;
                }
                const double value = kind ? cell->most : cell->sum / (double)cell->count;
                const double shown = sy.log ? fmax(value, sy.from) : value;
                fprintf(f, "%s%.1f %.1f", pen ? "L" : "M", place_on(&sx, p->x.at[x]), place_on(&sy, shown));
                pen = true;
            }
            fputs("\"/>\n", f);
        }
        const double y = TOP + 12 + 18.0 * m;
        fprintf(f, "<path d=\"M%d %.1fh18\" stroke=\"%s\" stroke-width=\"2\"/>\n", LEFT + 478, y - 4.0,
                stroke);
        put_label(f, LEFT + 502, y, "", c->method[m].variant.label, "");
    }
    if (near) {
        fprintf(f, "<path d=\"M%d %.1fh460\" stroke=\"#d00\" stroke-dasharray=\"2 3\"/>\n", LEFT,
                place_on(&sy, level));
        fprintf(f, "<text x=\"%d\" y=\"%.1f\" fill=\"#d00\" text-anchor=\"end\">%s %.4g</text>\n", LEFT + 456,
                place_on(&sy, level) - 4.0, p->share ? "share" : "limit", level);
    }
    for (int i = 0; i < c->map[map].limits; i++)
        curve_limit(f, o, map, i, &sx, &sy);
    put_limits(f, o, map, LEFT, height + 4.0);
    axis_x(f, &sx, TOP + 300, ff_campaign_column(c, p->x.column), ff_campaign_unit(c, p->x.column));
    axis_y(f, &sy, LEFT, c->metric[c->map[map].show].name, c->metric[c->map[map].show].unit);
    return canvas_close(&paper);
}

char *ff_figure_map(ff_output *o, int map) {
    const ff_campaign *c = o->campaign;
    const ff_picture *p = &o->picture[map];
    if (!p->cell || !p->x.count || !p->y.count)
        return NULL;
    if (p->y.column < 0)
        return draw_curves(o, map);
    const int columns = c->methods < 3 ? c->methods : 3, rows = (c->methods + columns - 1) / columns;
    const double width = LEFT + columns * PANEL_W + (columns - 1) * GAP_X + RIGHT,
                 height = TOP + 10 + rows * PANEL_H + (rows - 1) * GAP_Y + BOTTOM;
    canvas paper;
    if (!canvas_open(&paper, width, height + LIMIT_H * c->map[map].limits))
        return NULL;
    const scale values = value_scale(o, p);
    title(paper.file, o, map);
    for (int m = 0; m < c->methods; m++) {
        const int column = m % columns, row = m / columns;
        panel(paper.file, o, map, m, LEFT + column * (PANEL_W + GAP_X), TOP + 10 + row * (PANEL_H + GAP_Y),
              &values);
    }
    legend(paper.file, o, map, width - RIGHT + 22.0, TOP + 10, &values);
    put_limits(paper.file, o, map, LEFT, height + 4.0);
    return canvas_close(&paper);
}

/* --------------------------------------------------------------------------------------- distributions -- */

char *ff_figure_bars(ff_output *o, int metric) {
    const ff_campaign *c = o->campaign;
    const ff_bars *bars = &o->bars[metric];
    if (!(bars->to > bars->from))
        return NULL;
    const double width = LEFT + 460 + 250, height = TOP + 200 + BOTTOM;
    canvas paper;
    if (!canvas_open(&paper, width, height))
        return NULL;
    FILE *f = paper.file;
    char text[400];
    snprintf(text, sizeof text, "%s: distribution of %s", c->name, c->metric[metric].name);
    put_label(f, 16.0, 22.0, "font-size=\"14\" font-weight=\"bold\"", text, "");
    put_label(f, 16.0, 38.0, "fill=\"#666\"", "share of the runs; what lies beyond stands in the end bars",
              "");
    double most = 0.0;
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; i < FF_BARS; i++)
            if (o->spread[m][metric].count)
                most = fmax(most, (double)bars->count[m][i] / (double)o->spread[m][metric].count);
    const scale sx = {bars->from, bars->to, LEFT, LEFT + 460, bars->log};
    const scale sy = {0.0, most > 0.0 ? 1.05 * most : 1.0, TOP + 200, TOP, false};
    for (int m = 0; m < c->methods; m++) {
        const ff_spread *s = &o->spread[m][metric];
        const char *stroke = line_colour[m % (int)(sizeof line_colour / sizeof *line_colour)];
        const double y = TOP + 12 + 18.0 * m;
        fprintf(f, "<path d=\"M%d %.1fh18\" stroke=\"%s\" stroke-width=\"2\"/>\n", LEFT + 478, y - 4.0,
                stroke);
        put_label(f, LEFT + 502, y, "", c->method[m].variant.label, "");
        if (!s->count)
            continue;
        fprintf(f, "<path fill=\"%s\" fill-opacity=\"0.12\" stroke=\"%s\" stroke-width=\"1.5\" d=\"M%d %d",
                stroke, stroke, LEFT, TOP + 200);
        for (int i = 0; i < FF_BARS; i++)
            fprintf(f, "V%.1fH%.1f", place_on(&sy, (double)bars->count[m][i] / (double)s->count),
                    LEFT + 460.0 * (i + 1) / FF_BARS);
        fprintf(f, "V%d\"/>\n", TOP + 200);
    }
    const double limit = ff_metric_requirement(&c->metric[metric], &c->scenario);
    if (isfinite(limit) && limit > bars->from && limit < bars->to)
        fprintf(
            f,
            "<path d=\"M%.1f %dv200\" stroke=\"#d00\" stroke-dasharray=\"2 3\"/><text x=\"%.1f\" y=\"%d\" "
            "fill=\"#d00\">limit %.4g</text>\n",
            place_on(&sx, limit), TOP, place_on(&sx, limit) + 4.0, TOP + 12, limit);
    fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"460\" height=\"200\" fill=\"none\" stroke=\"#444\"/>\n", LEFT,
            TOP);
    axis_x(f, &sx, TOP + 200, c->metric[metric].name, c->metric[metric].unit);
    axis_y(f, &sy, LEFT, "share of the runs", "");
    return canvas_close(&paper);
}
