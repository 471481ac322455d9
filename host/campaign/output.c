#include "campaign/output.h"

#include "text/file.h"
#include "text/json.h"
#include "text/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- quantiles -- */

/* Buckets of equal ratio: a value in bucket i lies within 1 % of its middle. Zero and what is smaller than
 * 1e-15 share one. */
#define RATIO 1.02
enum { SIDE = 3500, ZERO = SIDE, BUCKETS = 2 * SIDE + 1, EXACT = 1 << 16, ALL_EXACT = 1 << 22 };

static int bucket_of(double value) {
    const double size = fabs(value);
    if (!(size > 1e-15))
        return ZERO;
    int n = (int)(log(size / 1e-15) / log(RATIO)) + 1;
    n = n > SIDE ? SIDE : n;
    return value > 0.0 ? ZERO + n : ZERO - n;
}

static double bucket_middle(int bucket) {
    const int n = abs(bucket - ZERO);
    const double size = n ? 1e-15 * pow(RATIO, n - 0.5) : 0.0;
    return bucket < ZERO ? -size : size;
}

ff_status ff_spread_add(ff_spread *s, double value) {
    if (!isfinite(value)) {
        s->missing++;
        return FF_OK;
    }
    s->least = s->count && s->least < value ? s->least : value;
    s->most = s->count && s->most > value ? s->most : value;
    s->sum += value;
    if (!s->bucket && s->count < s->room) {
        if (!s->value)
            s->value = malloc(s->room * sizeof *s->value);
        if (!s->value)
            return FF_ERR_MEMORY;
        s->value[s->count++] = value;
        return FF_OK;
    }
    if (!s->bucket) {
        s->bucket = calloc(BUCKETS, sizeof *s->bucket);
        if (!s->bucket)
            return FF_ERR_MEMORY;
        for (uint64_t i = 0; s->value && i < s->count; i++)
            s->bucket[bucket_of(s->value[i])]++;
        free(s->value);
        s->value = NULL;
    }
    s->bucket[bucket_of(value)]++;
    s->count++;
    return FF_OK;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double ff_spread_quantile(ff_spread *s, double part) {
    if (!s->count)
        return FF_NAN;
    if (s->value) {
        qsort(s->value, (size_t)s->count, sizeof *s->value, by_value);
        const double at = part * (double)(s->count - 1);
        const uint64_t i = (uint64_t)at, j = i + 1 < s->count ? i + 1 : i;
        return s->value[i] + (at - (double)i) * (s->value[j] - s->value[i]);
    }
    if (part <= 0.0 || part >= 1.0 || !s->bucket)
        return part < 0.5 ? s->least : s->most;
    const uint64_t rank = (uint64_t)(part * (double)(s->count - 1));
    uint64_t seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
        seen += s->bucket[i];
        if (seen > rank)
            return fmin(fmax(bucket_middle(i), s->least), s->most);
    }
    return s->most;
}

double ff_output_shown(const ff_output *output, int metric, double value) {
    const ff_campaign *c = output->campaign;
    const double limit = ff_metric_requirement(&c->metric[metric], &c->scenario);
    double floor = 1e-6 * fabs(limit);
    if (!(floor > 0.0 && isfinite(floor))) {
        floor = 1e-15;
        for (int m = 0; m < c->methods; m++) {
            const ff_spread *s = &output->spread[m][metric];
            if (s->count)
                floor = fmax(floor, 1e-12 * fmax(fabs(s->least), fabs(s->most)));
        }
    }
    return fabs(value) < floor ? 0.0 : value;
}

/* ---------------------------------------------------------------------------------------------- worst -- */

/* How many worst runs are listed for each method. */
static int count_worst(const ff_campaign *campaign) {
    return campaign->keep_worst ? campaign->keep_worst : 3;
}

static void rank_worst(ff_output *o, int method, const ff_record *record) {
    const double value = record->metric[o->campaign->worst_by];
    const int most = count_worst(o->campaign);
    ff_listed *list = o->worst[method];
    int n = o->worsts[method];
    if (!isfinite(value) || (n == most && !(value > list[n - 1].value)))
        return;
    if (n == most)
        n--;
    else
        o->worsts[method]++;
    for (; n > 0 && value > list[n - 1].value; n--)
        list[n] = list[n - 1];
    list[n] = (ff_listed){.slot = record->slot, .value = value};
}

/* ------------------------------------------------------------------------------------------- first pass --
 */

/* What a column that no list describes turns out to hold. */
typedef struct range {
    bool used;
    double least, most;
    int count;
    double value[FF_AXIS_CELLS];
    bool many;
} range;

typedef struct pass {
    ff_output *output;
    FILE *csv;
    ff_campaign_case sample;
    uint64_t index; /* of sample */
    range column[FF_CAMPAIGN_VARY + FF_CAMPAIGN_METRICS];
} pass;

static void quote(FILE *file, const char *text) {
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static double column_value(const pass *p, int column, const ff_record *record) {
    const ff_campaign *c = p->output->campaign;
    return column < c->varies ? ff_campaign_case_number(c, &p->sample, column)
                              : record->metric[column - c->varies];
}

static void widen(range *r, double value) {
    if (!r->used || !isfinite(value))
        return;
    if (!r->count || value < r->least)
        r->least = value;
    if (!r->count || value > r->most)
        r->most = value;
    /* equal to six digits is equal: a metric's rounding makes no new cell */
    for (int i = 0; i < r->count; i++)
        if (fabs(r->value[i] - value) <= 1e-6 * fabs(value))
            return;
    if (r->count == FF_AXIS_CELLS)
        r->many = true;
    else
        r->value[r->count++] = value;
}

static void meet(pass *p, const ff_record *record) {
    const ff_campaign *c = p->output->campaign;
    const uint64_t index = record->slot / (uint64_t)c->methods;
    if (p->index != index) {
        p->index = index;
        ff_campaign_sample(c, index, &p->sample);
    }
}

static ff_status take_first(void *user, const ff_record *record) {
    pass *p = user;
    ff_output *o = p->output;
    const ff_campaign *c = o->campaign;
    const int method = (int)(record->slot % (uint64_t)c->methods);
    meet(p, record);
    char index[FF_NUMBER_SIZE];
    ff_number_integer(p->index, index);
    fputs(index, p->csv);
    fputc(',', p->csv);
    fputs(c->method[method].variant.label, p->csv);
    for (int i = 0; i < c->varies; i++) {
        fputc(',', p->csv);
        quote(p->csv, ff_campaign_case_text(c, &p->sample, i));
    }
    for (int i = 0; i < c->metrics; i++) {
        char text[32] = "";
        if (isfinite(record->metric[i]))
            ff_number_format(record->metric[i], text);
        fputc(',', p->csv);
        fputs(text, p->csv);
        if (ff_spread_add(&o->spread[method][i], record->metric[i]) != FF_OK)
            return FF_ERR_MEMORY;
    }
    fputc(',', p->csv);
    quote(p->csv, record->status < 0 ? record->reason : "ok");
    fputc('\n', p->csv);
    o->runs++;
    if (record->status < 0) {
        o->failed++;
        if (o->faileds < FF_LISTED_FAILED) {
            ff_listed *failed = &o->listed[o->faileds++];
            *failed = (ff_listed){.slot = record->slot, .value = FF_NAN};
            memcpy(failed->reason, record->reason, sizeof failed->reason);
        }
    } else
        rank_worst(o, method, record);
    for (int i = 0; i < c->varies + c->metrics; i++)
        if (p->column[i].used)
            widen(&p->column[i], column_value(p, i, record));
    return ferror(p->csv) ? FF_ERR_IO : FF_OK;
}

static void write_head(const ff_campaign *c, FILE *csv) {
    fputs("index,method", csv);
    for (int i = 0; i < c->varies + c->metrics; i++) {
        fputc(',', csv);
        quote(csv, ff_campaign_column(c, i));
    }
    fputs(",status\n", csv);
}

/* -------------------------------------------------------------------------------------------- pictures -- */

/* Few samples, few bins: a cell without a sample says nothing. */
static int bins_for(const ff_campaign *c, bool flat) {
    const double n = flat ? sqrt((double)c->samples / 5.0) : (double)c->samples / 10.0;
    return n < 6.0 ? 6 : n > FF_AXIS_BINS ? FF_AXIS_BINS : (int)n;
}

static void make_axis(const ff_campaign *c, int column, bool log_scale, bool flat, const range *r,
                      ff_axis *axis) {
    *axis = (ff_axis){.column = column, .log = log_scale};
    if (column < 0 || !r->count) {
        axis->count = 1;
        axis->edge[1] = 1.0;
        return;
    }
    const bool positive = r->least > 0.0;
    axis->log = positive && (log_scale || r->most / r->least > 30.0);
    axis->bins = r->many || (column < c->varies && c->vary[column].kind < FF_VARY_LINEAR);
    if (axis->bins) {
        axis->count = bins_for(c, flat);
        for (int i = 0; i <= axis->count; i++) {
            const double s = (double)i / axis->count;
            axis->edge[i] =
                axis->log ? r->least * pow(r->most / r->least, s) : r->least + s * (r->most - r->least);
        }
        for (int i = 0; i < axis->count; i++)
            axis->at[i] = axis->log ? sqrt(axis->edge[i] * axis->edge[i + 1])
                                    : 0.5 * (axis->edge[i] + axis->edge[i + 1]);
        return;
    }
    axis->count = r->count;
    memcpy(axis->at, r->value, sizeof axis->at);
    qsort(axis->at, (size_t)axis->count, sizeof *axis->at, by_value);
    for (int i = 1; i < axis->count; i++)
        axis->edge[i] =
            axis->log ? sqrt(axis->at[i - 1] * axis->at[i]) : 0.5 * (axis->at[i - 1] + axis->at[i]);
    const int n = axis->count;
    const double first = n > 1 ? axis->edge[1] : axis->at[0] + 0.5, last = n > 1 ? axis->edge[n - 1] : first;
    axis->edge[0] = axis->log ? axis->at[0] * axis->at[0] / first : 2.0 * axis->at[0] - first;
    axis->edge[n] = axis->log ? axis->at[n - 1] * axis->at[n - 1] / last : 2.0 * axis->at[n - 1] - last;
    if (n == 1)
        axis->edge[1] = axis->at[0] + 0.5;
}

static int axis_cell(const ff_axis *axis, double value) {
    if (axis->column < 0)
        return 0;
    if (!isfinite(value))
        return -1;
    int low = 0, high = axis->count - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (value >= axis->edge[middle])
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void add_to_cell(ff_cell *cell, double value) {
    if (!isfinite(value)) {
        cell->failed++;
        return;
    }
    cell->most = cell->count && cell->most > value ? cell->most : value;
    cell->sum += value;
    cell->count++;
}

static ff_status take_second(void *user, const ff_record *record) {
    pass *p = user;
    ff_output *o = p->output;
    const ff_campaign *c = o->campaign;
    const int method = (int)(record->slot % (uint64_t)c->methods);
    meet(p, record);
    for (int i = 0; i < c->maps; i++) {
        ff_picture *picture = &o->picture[i];
        const int x = axis_cell(&picture->x, column_value(p, picture->x.column, record));
        const int y =
            picture->y.column < 0 ? 0 : axis_cell(&picture->y, column_value(p, picture->y.column, record));
        if (x < 0 || y < 0)
            continue;
        const int own = (method * picture->y.count + y) * picture->x.count + x;
        add_to_cell(&picture->cell[own], record->metric[c->map[i].show]);
        const int layer = c->methods * picture->y.count * picture->x.count;
        for (int n = 0; n < c->map[i].limits; n++)
            add_to_cell(&picture->limit[n * layer + own], column_value(p, c->map[i].limit[n].column, record));
    }
    for (int i = 0; i < c->metrics; i++) {
        ff_bars *bars = &o->bars[i];
        const double value = record->metric[i];
        if (!isfinite(value) || !(bars->to > bars->from) || (bars->log && !(value > 0.0)))
            continue;
        const double part = bars->log ? log(value / bars->from) / log(bars->to / bars->from)
                                      : (value - bars->from) / (bars->to - bars->from);
        int n = (int)floor(part * FF_BARS);
        n = n < 0 ? 0 : n >= FF_BARS ? FF_BARS - 1 : n;
        bars->count[method][n]++;
    }
    return FF_OK;
}

/* From the 0.5 % to the 99.5 % quantile of all methods; what lies beyond is counted in the end bars. */
static void make_bars(ff_output *o, int metric) {
    const ff_campaign *c = o->campaign;
    ff_bars *bars = &o->bars[metric];
    double low = FF_INF, high = -FF_INF, least = FF_INF;
    for (int m = 0; m < c->methods; m++) {
        ff_spread *s = &o->spread[m][metric];
        if (!s->count)
            continue;
        low = fmin(low, ff_spread_quantile(s, 0.005));
        high = fmax(high, ff_spread_quantile(s, 0.995));
        least = fmin(least, s->least);
    }
    if (!(high >= low))
        return;
    bars->log = least > 0.0 && high / low > 100.0;
    bars->from = low;
    bars->to = high;
    if (high == low) {
        const double pad = fmax(fabs(low) * 0.01, 1e-12);
        bars->from -= pad;
        bars->to += pad;
        bars->log = false;
    }
}

static ff_status prepare_second(pass *p) {
    ff_output *o = p->output;
    const ff_campaign *c = o->campaign;
    static const range none;
    o->bars = calloc((size_t)c->metrics + 1, sizeof *o->bars);
    o->segment = malloc(FF_CONTOUR_SEGMENTS * sizeof *o->segment);
    if (!o->bars || !o->segment)
        return FF_ERR_MEMORY;
    for (int i = 0; i < c->metrics; i++)
        make_bars(o, i);
    for (int i = 0; i < c->maps; i++) {
        const ff_campaign_map *map = &c->map[i];
        ff_picture *picture = &o->picture[i];
        picture->share = ff_metric_share(&c->metric[map->show]);
        make_axis(c, map->x, map->log_x, map->y >= 0, &p->column[map->x], &picture->x);
        make_axis(c, map->y, map->log_y, true, map->y < 0 ? &none : &p->column[map->y], &picture->y);
        const size_t layer = (size_t)c->methods * (size_t)picture->x.count * (size_t)picture->y.count + 1;
        picture->cell = calloc(layer, sizeof *picture->cell);
        picture->limit = map->limits ? calloc(layer * (size_t)map->limits, sizeof *picture->limit) : NULL;
        if (!picture->cell || (map->limits && !picture->limit))
            return FF_ERR_MEMORY;
    }
    p->index = UINT64_MAX;
    return FF_OK;
}

/* Of yes and no a cell shows the share of yes. */
static void make_shares(ff_output *o) {
    const ff_campaign *c = o->campaign;
    for (int i = 0; i < c->maps; i++) {
        const ff_picture *picture = &o->picture[i];
        for (int n = 0; picture->share && n < c->methods * picture->x.count * picture->y.count; n++)
            if (picture->cell[n].count)
                picture->cell[n].most = picture->cell[n].sum / (double)picture->cell[n].count;
    }
}

/* ------------------------------------------------------------------------------------------------- all -- */

ff_status ff_output_make(const ff_campaign *campaign, ff_journal *journal, const char *folder,
                         ff_output *output, char *message, size_t size) {
    char path[FF_FILE_PATH];
    memset(output, 0, sizeof *output);
    output->campaign = campaign;
    const int room = ALL_EXACT / (campaign->methods * campaign->metrics);
    for (int m = 0; m < campaign->methods; m++)
        for (int i = 0; i < campaign->metrics; i++)
            output->spread[m][i].room = (uint32_t)(room < EXACT ? room : EXACT);
    snprintf(path, sizeof path, "%.4200s/results.csv", folder);
    pass *p = calloc(1, sizeof *p);
    if (!p) {
        snprintf(message, size, "no memory for the table");
        return FF_ERR_MEMORY;
    }
    p->output = output;
    p->index = UINT64_MAX;
    for (int i = 0; i < campaign->maps; i++) {
        p->column[campaign->map[i].x].used = true;
        if (campaign->map[i].y >= 0)
            p->column[campaign->map[i].y].used = true;
    }
    ff_file_whole whole;
    ff_status status = ff_file_begin(path, &whole);
    if (status >= 0) {
        p->csv = whole.file;
        write_head(campaign, p->csv);
        status = ff_journal_each(journal, take_first, p);
        const ff_status ended = ff_file_keep(&whole, status >= 0);
        status = status < 0 ? status : ended;
    }
    if (status == FF_ERR_IO)
        snprintf(message, size, "%s: cannot be written (%s)", path, strerror(errno ? errno : ENOSPC));
    else if (status < 0)
        snprintf(message, size, "%s: %s", path, ff_status_text(status));
    if (status >= 0) {
        status = prepare_second(p);
        if (status >= 0)
            status = ff_journal_each(journal, take_second, p);
        if (status < 0)
            snprintf(message, size, "%s: %s", path, ff_status_text(status));
        else
            make_shares(output);
    }
    free(p);
    return status;
}

void ff_output_free(ff_output *output) {
    for (int m = 0; m < FF_CAMPAIGN_METHODS; m++)
        for (int i = 0; i < FF_CAMPAIGN_METRICS; i++) {
            free(output->spread[m][i].value);
            free(output->spread[m][i].bucket);
        }
    for (int i = 0; i < FF_CAMPAIGN_MAPS; i++) {
        free(output->picture[i].cell);
        free(output->picture[i].limit);
    }
    free(output->bars);
    free(output->segment);
}
