#include "report/detail.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = FF_REPORT_DETAIL_ROWS / 2 };

/* The newest `capacity` rows of those put. */
typedef struct store {
    size_t capacity, put;
    double *time;
    uint64_t *cycle;
    float *value; /* [capacity][width] */
} store;

struct ff_report_detail {
    size_t width;
    uint64_t cycles; /* added */
    uint64_t stored; /* cycles up to here are in first or last, or too far from a contact */
    uint64_t until;  /* cycles before this one are near a contact */
    store recent;    /* the newest ones, whatever they are */
    store first, last;
};

static bool store_create(store *s, size_t capacity, size_t width) {
    s->capacity = capacity;
    s->time = malloc(capacity * sizeof *s->time);
    s->cycle = malloc(capacity * sizeof *s->cycle);
    s->value = malloc((capacity * width + 1) * sizeof *s->value);
    return s->time && s->cycle && s->value;
}

static void store_free(store *s) {
    free(s->time);
    free(s->cycle);
    free(s->value);
}

static void store_put(store *s, size_t width, uint64_t cycle, double time, const float *value) {
    const size_t at = s->put++ % s->capacity;
    s->time[at] = time;
    s->cycle[at] = cycle;
    memcpy(s->value + at * width, value, width * sizeof *value);
}

static size_t store_rows(const store *s) {
    return s->put < s->capacity ? s->put : s->capacity;
}

/* Place of the i-th of its rows, the oldest first. */
static size_t store_at(const store *s, size_t i) {
    return (s->put - store_rows(s) + i) % s->capacity;
}

ff_report_detail *ff_report_detail_create(size_t width) {
    ff_report_detail *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->width = width;
    if (store_create(&d->recent, FF_REPORT_NEAR, width) && store_create(&d->first, HALF, width) &&
        store_create(&d->last, HALF, width))
        return d;
    ff_report_detail_destroy(d);
    return NULL;
}

void ff_report_detail_destroy(ff_report_detail *d) {
    if (!d)
        return;
    store_free(&d->recent);
    store_free(&d->first);
    store_free(&d->last);
    free(d);
}

/* The recent cycles that are not stored yet, in their order. */
static void keep_recent(ff_report_detail *d) {
    for (size_t i = 0, n = store_rows(&d->recent); i < n; i++) {
        const size_t at = store_at(&d->recent, i);
        if (d->recent.cycle[at] < d->stored)
            continue;
        store *into = d->first.put < d->first.capacity ? &d->first : &d->last;
        store_put(into, d->width, d->recent.cycle[at], d->recent.time[at], d->recent.value + at * d->width);
    }
    d->stored = d->cycles;
}

void ff_report_detail_add(ff_report_detail *d, double time, const float *value, bool touching) {
    store_put(&d->recent, d->width, d->cycles++, time, value);
    if (touching)
        d->until = d->cycles + FF_REPORT_NEAR;
    if (d->cycles < d->until || touching)
        keep_recent(d);
}

/* ------------------------------------------------------------------------------------------------ join -- */

typedef struct row {
    double time;
    uint64_t cycle;
    const float *value;
} row;

static size_t waiting(const ff_report_detail *d) { /* recent ones that no contact has kept */
    size_t n = 0;
    for (size_t i = 0; i < store_rows(&d->recent); i++)
        n += d->recent.cycle[store_at(&d->recent, i)] >= d->stored;
    return n;
}

size_t ff_report_detail_rows(const ff_report_detail *d) {
    return store_rows(&d->first) + store_rows(&d->last) + waiting(d);
}

static row detail_row(const ff_report_detail *d, size_t i) {
    const store *s = &d->first;
    if (i >= store_rows(s)) {
        i -= store_rows(s);
        s = &d->last;
        if (i >= store_rows(s)) {
            i = i - store_rows(s) + store_rows(&d->recent) - waiting(d);
            s = &d->recent;
        }
    }
    const size_t at = store_at(s, i);
    return (row){s->time[at], s->cycle[at], s->value + at * d->width};
}

void ff_report_joined_free(ff_report_joined *j) {
    free(j->time);
    free(j->value);
    free(j->span);
    *j = (ff_report_joined){0};
}

/* The stretch that t is in, by half a cycle; NULL: none. */
static const ff_report_span *span_at(const ff_report_joined *j, double t, double half) {
    size_t low = 0, high = j->spans; /* the first that ends at t or later */
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (j->span[mid].to + half < t)
            low = mid + 1;
        else
            high = mid;
    }
    return low < j->spans && j->span[low].from - half <= t ? &j->span[low] : NULL;
}

/* Where the two rows of a bucket that lasts until `end` stand: beside the stretches; false: all of its cycles
 * are kept. */
static bool place(const ff_report_joined *j, double pair[2], double end, double half) {
    const ff_report_span *a = span_at(j, pair[0], half);
    if (a && a->to + 3 * half > end)
        return false;
    if (a)
        pair[0] = a->to + half;
    const ff_report_span *b = span_at(j, pair[1], half);
    if (b)
        pair[1] = b->from - half;
    if (pair[1] < pair[0])
        pair[1] = pair[0];
    return true;
}

static void join(ff_report_joined *j, double time, const float *value) {
    j->time[j->table.rows] = time;
    memcpy(j->value + j->table.rows++ * j->table.width, value, j->table.width * sizeof *value);
}

/* Cycles up to the time, in their order. */
static const row *put_until(ff_report_joined *j, const row *next, const row *end, double time) {
    for (; next < end && next->time <= time; next++)
        join(j, next->time, next->value);
    return next;
}

static row *choose(const ff_report_detail *d, size_t kept, ff_report_joined *j, double *cycle) {
    row *list = malloc((kept + 1) * sizeof *list);
    if (!list)
        return NULL;
    const size_t all = ff_report_detail_rows(d);
    for (size_t i = 0; i < kept; i++) {
        list[i] = detail_row(d, i < kept / 2 ? i : all - kept + i);
        if (i > 0 && list[i].cycle == list[i - 1].cycle + 1)
            j->span[j->spans - 1].to = list[i].time;
        else
            j->span[j->spans++] = (ff_report_span){list[i].time, list[i].time};
    }
    const row *newest = &list[kept - 1];
    *cycle = kept > 1 ? (newest->time - list->time) / (double)(newest->cycle - list->cycle) : 0;
    return list;
}

ff_status ff_report_detail_join(const ff_report_detail *d, size_t rows, const ff_report_table *thin,
                                ff_report_joined *j) {
    const size_t all = ff_report_detail_rows(d), kept = rows < all ? rows : all;
    *j = (ff_report_joined){.table.width = d->width};
    j->time = malloc((thin->rows + kept + 1) * sizeof *j->time);
    j->value = malloc(((thin->rows + kept) * d->width + 1) * sizeof *j->value);
    j->span = malloc((kept + 1) * sizeof *j->span);
    double cycle = 0;
    row *list = j->time && j->value && j->span ? choose(d, kept, j, &cycle) : NULL;
    if (!list) {
        ff_report_joined_free(j);
        return FF_ERR_MEMORY;
    }
    const row *next = list, *end = list + kept;
    for (size_t g = 0; g < thin->rows; g += 2) {
        const bool two = g + 1 < thin->rows;
        double pair[2] = {thin->time[g], thin->time[two ? g + 1 : g]};
        if (!place(j, pair, g + 2 < thin->rows ? thin->time[g + 2] : pair[1], cycle / 2))
            continue;
        for (size_t k = 0; k <= two; k++) {
            next = put_until(j, next, end, pair[k]);
            join(j, pair[k], thin->value + (g + k) * d->width);
        }
    }
    put_until(j, next, end, HUGE_VAL);
    free(list);
    j->table.time = j->time;
    j->table.value = j->value;
    return FF_OK;
}
