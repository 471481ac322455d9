#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "record/thin.h"
#include "report/detail.h"
#include "report/pack.h"
#include "text/file.h"
#include "text/version.h"

/* The page, from web/ (generated source). It holds the two marks below once each. */
extern const unsigned char ff_report_template[];
extern const size_t ff_report_template_size;
static const char TITLE_MARK[] = "<!--ff:title-->";
static const char DATA_MARK[] = "<!--ff:data-->";

enum {
    BINS_PER_DECADE = 20,
    BIN_DECADES = 9, /* 10 ns to 10 s */
    BINS = BINS_PER_DECADE * BIN_DECADES
};
static const double BIN_START = 10; /* [ns] */

typedef struct histogram {
    int column;
    uint64_t count[BINS];
} histogram;

struct ff_report_series {
    int columns;
    char **name;
    ff_thin thin;
    int histograms;
    histogram *histogram;
    int touching;             /* columns "contact.*.touching" */
    int *touch;               /* [touching] */
    float *single;            /* [columns - 1] the row that is being added */
    ff_report_detail *detail; /* once the table has become too short */
};

/* ---------------------------------------------------------------------------------------------- series -- */

static char *copy_string(const char *s) {
    size_t n = strlen(s) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, s, n);
    return copy;
}

void ff_report_series_destroy(ff_report_series *series) {
    if (!series)
        return;
    for (int i = 0; series->name && i < series->columns; i++)
        free(series->name[i]);
    free(series->name);
    ff_thin_free(&series->thin);
    free(series->histogram);
    free(series->touch);
    free(series->single);
    ff_report_detail_destroy(series->detail);
    free(series);
}

static bool says_touching(const char *name) {
    static const char END[] = ".touching";
    const size_t n = strlen(name);
    return strncmp(name, "contact.", 8) == 0 && n >= sizeof END - 1 &&
           !strcmp(name + n - (sizeof END - 1), END);
}

ff_report_series *ff_report_series_create(int columns, const char *const *names) {
    if (columns < 1 || !names)
        return NULL;
    ff_report_series *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->columns = columns;
    s->name = calloc((size_t)columns, sizeof *s->name);
    s->touch = calloc((size_t)columns, sizeof *s->touch);
    s->single = calloc((size_t)columns, sizeof *s->single);
    bool complete = ff_thin_init((size_t)columns - 1, &s->thin) == FF_OK && s->name && s->touch && s->single;
    for (int i = 0; complete && i < columns; i++) {
        s->name[i] = copy_string(names[i]);
        complete = s->name[i] != NULL;
        s->histograms += i > 0 && strncmp(names[i], "timing.", 7) == 0;
        if (i > 0 && says_touching(names[i]))
            s->touch[s->touching++] = i - 1;
    }
    if (complete && s->histograms > 0) {
        s->histogram = calloc((size_t)s->histograms, sizeof *s->histogram);
        complete = s->histogram != NULL;
        for (int i = 1, h = 0; complete && i < columns; i++)
            if (strncmp(names[i], "timing.", 7) == 0)
                s->histogram[h++].column = i;
    }
    if (!complete) {
        ff_report_series_destroy(s);
        return NULL;
    }
    return s;
}

static void count_timing(ff_report_series *s, const double *row) {
    for (int h = 0; h < s->histograms; h++) {
        double ns = row[s->histogram[h].column];
        if (!(ns > 0 && isfinite(ns))) /* not measured */
            continue;
        double bin = ns > BIN_START ? floor(log10(ns / BIN_START) * BINS_PER_DECADE) : 0;
        s->histogram[h].count[(int)fmin(bin, BINS - 1)]++;
    }
}

static void add_detail(ff_report_series *s, double time, const float *value) {
    bool touching = false;
    for (int i = 0; i < s->touching; i++)
        touching = touching || value[s->touch[i]] > 0;
    ff_report_detail_add(s->detail, time, value, touching);
}

/* From here on buckets: the cycles kept so far are looked through for contacts. */
static ff_status begin_detail(ff_report_series *s) {
    const size_t width = (size_t)s->columns - 1;
    s->detail = ff_report_detail_create(width);
    if (!s->detail)
        return FF_ERR_MEMORY;
    for (size_t r = 0; r < s->thin.rows; r++)
        add_detail(s, s->thin.time[r], s->thin.value + r * width);
    return FF_OK;
}

ff_status ff_report_add_row(ff_report_series *s, const double *row) {
    for (int c = 1; c < s->columns; c++)
        s->single[c - 1] = (float)row[c];
    if (s->thin.cycles == FF_THIN_ROWS && !s->detail && begin_detail(s) != FF_OK)
        return FF_ERR_MEMORY;
    const ff_status status = ff_thin_add(&s->thin, row[0], s->single);
    if (status)
        return status;
    if (s->detail)
        add_detail(s, row[0], s->single);
    count_timing(s, row);
    return FF_OK;
}

size_t ff_report_series_rows(const ff_report_series *series) {
    return ff_thin_count(&series->thin);
}

double ff_report_series_value(const ff_report_series *s, size_t row, int column) {
    return ff_thin_value(&s->thin, row, (size_t)column);
}

/* ---------------------------------------------------------------------------------------------- blocks -- */

/* One run's numbers: the series' own, or a copy that was merged; and joined with the cycles around contacts.
 */
typedef struct block {
    ff_report_table table;
    uint64_t bucket;
    double *time; /* the copy */
    float *value;
    size_t detail; /* cycles that are kept as they are, at most */
    ff_report_joined joined;
    bool *constant; /* [width] */
    unsigned char *data;
    size_t size;
} block;

static void block_free(block *b) {
    free(b->time);
    free(b->value);
    free(b->constant);
    free(b->data);
    ff_report_joined_free(&b->joined);
    *b = (block){0};
}

static ff_status block_copy(const ff_report_series *s, block *b) {
    const size_t width = b->table.width, rows = b->table.rows;
    b->time = malloc((rows + 1) * sizeof *b->time);
    b->value = malloc((rows * width + 1) * sizeof *b->value);
    if (!b->time || !b->value)
        return FF_ERR_MEMORY;
    memcpy(b->time, s->thin.time, s->thin.rows * sizeof *b->time);
    memcpy(b->value, s->thin.value, s->thin.rows * width * sizeof *b->value);
    for (size_t r = s->thin.rows; r < rows; r++) { /* the open bucket */
        b->time[r] = ff_report_series_value(s, r, 0);
        for (size_t c = 0; c < width; c++)
            b->value[r * width + c] = (float)ff_report_series_value(s, r, (int)c + 1);
    }
    b->table.time = b->time;
    b->table.value = b->value;
    return FF_OK;
}

/* What the page gets. */
static const ff_report_table *block_table(const block *b) {
    return b->joined.time ? &b->joined.table : &b->table;
}

static ff_status block_encode(const ff_report_series *s, block *b, bool raw) {
    free(b->data);
    b->data = NULL;
    ff_report_joined_free(&b->joined);
    if (b->detail > 0) {
        const ff_status status = ff_report_detail_join(s->detail, b->detail, &b->table, &b->joined);
        if (status)
            return status;
    }
    b->data = ff_report_pack(block_table(b), raw, b->constant, &b->size);
    return b->data ? FF_OK : FF_ERR_MEMORY;
}

static ff_status block_create(const ff_report_series *s, block *b, bool raw) {
    b->table = (ff_report_table){.rows = ff_report_series_rows(s),
                                 .width = (size_t)s->columns - 1,
                                 .time = s->thin.time,
                                 .value = s->thin.value};
    b->bucket = s->thin.bucket;
    b->detail = s->detail ? ff_report_detail_rows(s->detail) : 0;
    b->constant = malloc(b->table.width + 1);
    if (!b->constant || (s->thin.pending && block_copy(s, b) != FF_OK))
        return FF_ERR_MEMORY;
    return block_encode(s, b, raw);
}

/* Half as many rows: of the cycles around contacts where they are more, else of the others. */
static ff_status block_merge(const ff_report_series *s, block *b, bool raw) {
    if (b->detail > b->table.rows) {
        b->detail /= 2;
        return block_encode(s, b, raw);
    }
    if (!b->value && block_copy(s, b) != FF_OK)
        return FF_ERR_MEMORY;
    ff_thin_merge(&b->table.rows, b->time, b->value, b->table.width);
    b->bucket = b->bucket == 1 ? 4 : 2 * b->bucket;
    return block_encode(s, b, raw);
}

/* ---------------------------------------------------------------------------------------------- output -- */

static void put_base64(FILE *f, const unsigned char *data, size_t size) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { THREES = 1024 };
    char text[4 * THREES];
    size_t n = 0, i = 0;
    for (; i + 3 <= size; i += 3, n += 4) {
        if (n == sizeof text) {
            fwrite(text, 1, n, f);
            n = 0;
        }
        const unsigned v = (unsigned)data[i] << 16 | (unsigned)data[i + 1] << 8 | data[i + 2];
        text[n] = digit[v >> 18];
        text[n + 1] = digit[v >> 12 & 63];
        text[n + 2] = digit[v >> 6 & 63];
        text[n + 3] = digit[v & 63];
    }
    fwrite(text, 1, n, f);
    if (i < size) {
        const bool two = size - i > 1;
        const unsigned v = (unsigned)data[i] << 16 | (two ? (unsigned)data[i + 1] << 8 : 0);
        const char last[4] = {digit[v >> 18], digit[v >> 12 & 63], two ? digit[v >> 6 & 63] : '=', '='};
        fwrite(last, 1, 4, f);
    }
}

/* Inside a script element no '<' may stand: "</script" would end it. In JSON '<' occurs only in strings. */
static void put_json(FILE *f, const char *json) {
    for (; *json; json++)
        if (*json == '<')
            fputs("\\u003c", f);
        else
            putc(*json, f);
}

static void put_string(FILE *f, const char *s, size_t size) {
    putc('"', f);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c == '<')
            fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void put_number(FILE *f, double value) {
    if (isfinite(value))
        fprintf(f, "%.17g", value);
    else
        fputs("null", f);
}

void ff_report_put_text(FILE *f, const char *s) {
    for (; *s; s++)
        switch (*s) {
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '&':
            fputs("&amp;", f);
            break;
        default:
            putc(*s, f);
        }
}

static void put_name(FILE *f, const char *name) {
    size_t n = strlen(name);
    const char *bracket = n && name[n - 1] == ']' ? strrchr(name, '[') : NULL;
    size_t end = bracket ? (size_t)(bracket - name) : n;
    while (end > 0 && name[end - 1] == ' ')
        end--;
    fputs("\"name\":", f);
    put_string(f, name, end);
    fputs(",\"unit\":", f);
    put_string(f, bracket ? bracket + 1 : "", bracket ? n - 2 - (size_t)(bracket - name) : 0);
}

static void put_histograms(FILE *f, const ff_report_series *s) {
    fputs(",\"histograms\":[", f);
    for (int h = 0; h < s->histograms; h++) {
        const histogram *g = &s->histogram[h];
        fprintf(f, "%s{", h ? "," : "");
        put_name(f, s->name[g->column]);
        fprintf(f, ",\"start\":%g,\"per_decade\":%d,\"count\":[", BIN_START, BINS_PER_DECADE);
        for (int i = 0; i < BINS; i++)
            fprintf(f, "%s%llu", i ? "," : "", (unsigned long long)g->count[i]);
        fputs("]}", f);
    }
    putc(']', f);
}

/* Where every cycle is there, from and to. */
static void put_spans(FILE *f, const block *b) {
    fputs(",\"whole\":[", f);
    for (size_t i = 0; i < b->joined.spans; i++)
        fprintf(f, "%s[%.17g,%.17g]", i ? "," : "", b->joined.span[i].from, b->joined.span[i].to);
    putc(']', f);
}

static void put_run(FILE *f, const ff_report_run *run, const block *b, int index, bool raw) {
    fputs("{\"label\":", f);
    put_string(f, run->label ? run->label : "", run->label ? strlen(run->label) : 0);
    fputs(",\"summary\":", f);
    put_json(f, run->summary);
    fputs(",\"geometry\":", f);
    put_json(f, run->geometry ? run->geometry : "null");
    fputs(",\"contacts\":", f);
    if (run->contact) {
        putc('[', f);
        for (int i = 0; i < run->contacts; i++) {
            fprintf(f, "%s{\"name\":", i ? "," : "");
            put_string(f, run->contact[i].name, strlen(run->contact[i].name));
            fputs(",\"start_s\":", f);
            put_number(f, run->contact[i].start);
            fputs(",\"end_s\":", f);
            put_number(f, run->contact[i].end);
            putc('}', f);
        }
        putc(']', f);
    } else {
        fputs("null", f);
    }
    fputs(",\"series\":", f);
    if (run->series) {
        fprintf(
            f, "{\"block\":\"ff-series-%d\",\"encoding\":\"%s\",\"rows\":%zu,\"cycles\":%llu,\"bucket\":%llu",
            index, raw ? "raw" : "deflate", block_table(b)->rows,
            (unsigned long long)run->series->thin.cycles, (unsigned long long)b->bucket);
        put_spans(f, b);
        fputs(",\"columns\":[{", f);
        put_name(f, run->series->name[0]);
        putc('}', f);
        for (size_t c = 0; c < b->table.width; c++) {
            fputs(",{", f);
            put_name(f, run->series->name[c + 1]);
            if (b->constant[c]) {
                fputs(",\"constant\":", f);
                put_number(f, b->table.rows ? (double)block_table(b)->value[c] : FF_NAN);
            }
            putc('}', f);
        }
        putc(']', f);
        put_histograms(f, run->series);
        putc('}', f);
    } else {
        fputs("null", f);
    }
    putc('}', f);
}

typedef struct content { /* of a page: runs, or a study */
    const ff_report_run *runs;
    const block *blocks;
    int n;
    bool raw;
    const char *study;
} content;

static void put_data(FILE *f, const char *title, const content *c) {
    const ff_report_run *runs = c->runs;
    const block *blocks = c->blocks;
    const int n = c->n;
    const bool raw = c->raw;
    fputs("<script type=\"application/json\" id=\"ff-data\">{\"version\":1,\"generator\":", f);
    char generator[64];
    snprintf(generator, sizeof generator, "freefloat %s", ff_version());
    put_string(f, generator, strlen(generator));
    fputs(",\"title\":", f);
    put_string(f, title, strlen(title));
    if (c->study) {
        fputs(",\"study\":", f);
        put_json(f, c->study);
        fputs("}</script>\n", f);
        return;
    }
    fputs(",\"runs\":[", f);
    for (int i = 0; i < n; i++) {
        if (i)
            putc(',', f);
        put_run(f, &runs[i], &blocks[i], i, raw);
    }
    fputs("]}</script>\n", f);
    for (int i = 0; i < n; i++)
        if (runs[i].series) {
            fprintf(f, "<script type=\"text/plain\" id=\"ff-series-%d\">", i);
            put_base64(f, blocks[i].data, blocks[i].size);
            fputs("</script>\n", f);
        }
}

static ff_status encode_runs(const ff_report_run *runs, block *blocks, int n, size_t budget, bool raw) {
    for (int i = 0; i < n; i++) {
        if (!runs[i].series)
            continue;
        const ff_status status = block_create(runs[i].series, &blocks[i], raw);
        if (status)
            return status;
    }
    for (;;) {
        size_t total = 0;
        int largest = 0;
        for (int i = 0; i < n; i++) {
            total += (blocks[i].size + 2) / 3 * 4;
            if (blocks[i].size > blocks[largest].size)
                largest = i;
        }
        block *b = &blocks[largest];
        if (total <= budget || b->table.rows < 64)
            return FF_OK;
        const ff_status status = block_merge(runs[largest].series, b, raw);
        if (status)
            return status;
    }
}

static ff_status write_page(const char *path, const char *title, const content *c) {
    const unsigned char *page = ff_report_template, *end = page + ff_report_template_size;
    const unsigned char *title_at = memmem(page, ff_report_template_size, TITLE_MARK, sizeof TITLE_MARK - 1);
    const unsigned char *data_at = memmem(page, ff_report_template_size, DATA_MARK, sizeof DATA_MARK - 1);
    if (!title_at || !data_at || data_at < title_at)
        return FF_ERR_FORMAT;
    ff_file_whole whole;
    const ff_status status = ff_file_begin(path, &whole);
    if (status != FF_OK)
        return status;
    FILE *f = whole.file;
    fwrite(page, 1, (size_t)(title_at - page), f);
    ff_report_put_text(f, title);
    page = title_at + sizeof TITLE_MARK - 1;
    fwrite(page, 1, (size_t)(data_at - page), f);
    put_data(f, title, c);
    page = data_at + sizeof DATA_MARK - 1;
    fwrite(page, 1, (size_t)(end - page), f);
    return ff_file_end(&whole, true);
}

ff_status ff_report_write_study(const char *path, const char *title, const char *study) {
    return path && title && study ? write_page(path, title, &(content){.study = study}) : FF_ERR_ARGUMENT;
}

ff_status ff_report_write_with(const char *path, const char *title, const ff_report_run *runs, int n,
                               const ff_report_options *options) {
    if (n < 1 || !path || !title)
        return FF_ERR_ARGUMENT;
    for (int i = 0; i < n; i++)
        if (!runs[i].summary)
            return FF_ERR_ARGUMENT;
    bool raw = options && options->raw;
#ifndef FF_HAVE_ZLIB
    raw = true;
#endif
    size_t budget = 2100000 + 700000 * (size_t)(n - 1);
    for (int i = 0; i < n; i++)
        if (runs[i].series && runs[i].series->thin.bucket > 1)
            budget = 4000000;
    if (options && options->max_bytes)
        budget = options->max_bytes;
    block *blocks = calloc((size_t)n, sizeof *blocks);
    ff_status status = blocks ? encode_runs(runs, blocks, n, budget, raw) : FF_ERR_MEMORY;
    if (!status)
        status = write_page(path, title, &(content){.runs = runs, .blocks = blocks, .n = n, .raw = raw});
    for (int i = 0; blocks && i < n; i++)
        block_free(&blocks[i]);
    free(blocks);
    return status;
}

ff_status ff_report_write(const char *path, const char *title, const ff_report_run *runs, int n) {
    return ff_report_write_with(path, title, runs, n, NULL);
}
