#include "record/thin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

enum { FIRST_ROWS = 1024, LARGE_PAGE = 2 << 20 };

ff_status ff_thin_init(size_t width, ff_thin *thin) {
    *thin = (ff_thin){.width = width, .bucket = 1};
    thin->open = calloc(width + 1, sizeof *thin->open);
    return thin->open ? FF_OK : FF_ERR_MEMORY;
}

void ff_thin_free(ff_thin *thin) {
    free(thin->time);
    free(thin->value);
    free(thin->open);
    *thin = (ff_thin){0};
}

static void extreme_add(ff_extreme *e, float value) {
    if (!isfinite(value))
        return;
    if (!e->any) {
        *e = (ff_extreme){.low = value, .high = value, .low_first = true, .any = true};
        return;
    }
    if (value < e->low) {
        e->low = value;
        e->low_first = false;
    }
    if (value > e->high) {
        e->high = value;
        e->low_first = true;
    }
}

static void extreme_get(const ff_extreme *e, float *first, float *second) {
    *first = !e->any ? NAN : e->low_first ? e->low : e->high;
    *second = !e->any ? NAN : e->low_first ? e->high : e->low;
}

void ff_thin_merge(size_t *rows, double *time, float *value, size_t width) {
    size_t groups = *rows / 4, rest = *rows % 4;
    for (size_t g = 0; g < groups; g++) {
        time[2 * g] = time[4 * g];
        time[2 * g + 1] = time[4 * g + 2];
        for (size_t c = 0; c < width; c++) {
            ff_extreme e = {.any = false};
            for (size_t r = 0; r < 4; r++)
                extreme_add(&e, value[(4 * g + r) * width + c]);
            extreme_get(&e, &value[2 * g * width + c], &value[(2 * g + 1) * width + c]);
        }
    }
    memmove(time + 2 * groups, time + 4 * groups, rest * sizeof *time);
    memmove(value + 2 * groups * width, value + 4 * groups * width, rest * width * sizeof *value);
    *rows = 2 * groups + rest;
}

/* A short run's rows, then at once all that there can be: what is not touched is no memory. In large pages,
 * where the system has them, because most of what a long run takes from it first are these. */
static ff_status reserve(ff_thin *t) {
    if (t->rows < t->allocated)
        return FF_OK;
    const size_t want = t->allocated ? FF_THIN_ROWS : FIRST_ROWS,
                 bytes =
                     ((want * t->width + 1) * sizeof *t->value + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    double *time = realloc(t->time, want * sizeof *time);
    if (time)
        t->time = time;
    float *value = t->allocated ? aligned_alloc(LARGE_PAGE, bytes) : malloc(bytes);
    if (!time || !value) {
        free(value);
        return FF_ERR_MEMORY;
    }
#ifdef MADV_HUGEPAGE
    if (t->rows)
        madvise(value, bytes, MADV_HUGEPAGE); /* a hint */
#endif
    if (t->rows)
        memcpy(value, t->value, t->rows * t->width * sizeof *value);
    free(t->value);
    t->value = value;
    t->allocated = want;
    return FF_OK;
}

ff_status ff_thin_add(ff_thin *t, double time, const float *value) {
    const size_t width = t->width;
    const double last = t->pending ? t->pending_time[2] : t->rows ? t->time[t->rows - 1] : -HUGE_VAL;
    if (!isfinite(time) || time < last)
        return FF_ERR_ARGUMENT;
    if (t->bucket == 1 && t->rows < FF_THIN_ROWS) {
        const ff_status status = reserve(t);
        if (status)
            return status;
        t->time[t->rows] = time;
        memcpy(t->value + t->rows * width, value, width * sizeof *value);
        t->rows++;
        t->cycles++;
        return FF_OK;
    }
    if (t->rows == FF_THIN_ROWS) { /* allocated in full by now */
        ff_thin_merge(&t->rows, t->time, t->value, width);
        t->bucket = t->bucket == 1 ? 4 : 2 * t->bucket;
    }
    if (t->pending == 0) {
        t->pending_time[0] = time;
        memset(t->open, 0, width * sizeof *t->open);
    }
    if (t->pending == t->bucket / 2)
        t->pending_time[1] = time;
    t->pending_time[2] = time;
    for (size_t c = 0; c < width; c++)
        extreme_add(&t->open[c], value[c]);
    t->cycles++;
    if (++t->pending == t->bucket) {
        for (size_t c = 0; c < width; c++)
            extreme_get(&t->open[c], &t->value[t->rows * width + c], &t->value[(t->rows + 1) * width + c]);
        t->time[t->rows] = t->pending_time[0];
        t->time[t->rows + 1] = t->pending_time[1];
        t->rows += 2;
        t->pending = 0;
    }
    return FF_OK;
}

size_t ff_thin_count(const ff_thin *thin) {
    return thin->rows + (thin->pending > 1 ? 2 : thin->pending);
}

double ff_thin_value(const ff_thin *t, size_t row, size_t column) {
    if (row < t->rows)
        return column == 0 ? t->time[row] : (double)t->value[row * t->width + column - 1];
    if (column == 0)
        return t->pending_time[row == t->rows ? 0 : 2];
    float pair[2];
    extreme_get(&t->open[column - 1], &pair[0], &pair[1]);
    return (double)pair[row - t->rows];
}
