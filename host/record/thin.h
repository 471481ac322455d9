/* record/thin.h - a run's numbers in bounded memory: what a page can draw of a run of any length.
 *
 * At most FF_THIN_ROWS rows, one float a column (double for time). Up to there every row is kept as it is.
 * Beyond, each bucket of cycles becomes two rows, the smallest and the largest value of every column in the
 * order in which they came, so that no spike is lost; the bucket doubles whenever the table is full. */
#ifndef FF_RECORD_THIN_H
#define FF_RECORD_THIN_H

#include <stdbool.h>
#include "freefloat/base.h"

enum { FF_THIN_ROWS = 16384 }; /* a multiple of four: four rows merge into two */

typedef struct ff_extreme {
    float low, high;
    bool low_first, any;
} ff_extreme;

typedef struct ff_thin {
    size_t width; /* columns beside the time */
    size_t rows, allocated;
    double *time;           /* [rows] */
    float *value;           /* [rows][width] */
    uint64_t cycles;        /* rows added */
    uint64_t bucket;        /* cycles for each pair of rows; 1: rows are kept as they are */
    uint64_t pending;       /* cycles in the open bucket */
    double pending_time[3]; /* first, middle, last */
    ff_extreme *open;       /* [width] */
} ff_thin;

/* FF_ERR_MEMORY. */
ff_status ff_thin_init(size_t width, ff_thin *thin);
void ff_thin_free(ff_thin *thin);
/* A value that is not finite leaves a gap. FF_ERR_ARGUMENT: the time is not finite or falls (the row is not
 * taken); FF_ERR_MEMORY. */
ff_status ff_thin_add(ff_thin *thin, double time, const float *value);
/* Of the rows to look at, the open bucket's included: how many; one's value (column 0 is the time). */
size_t ff_thin_count(const ff_thin *thin);
double ff_thin_value(const ff_thin *thin, size_t row, size_t column);
/* Every four rows become two; those left over (at most three) stay at the end as they are. */
void ff_thin_merge(size_t *rows, double *time, float *value, size_t width);

#endif
