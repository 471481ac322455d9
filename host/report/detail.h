/* report/detail.h - every cycle where a long run is looked at closely: in and around its contacts and at its
 * end, beside the table that keeps only the smallest and largest value of each bucket of cycles.
 *
 * Kept are the first FF_REPORT_DETAIL_ROWS / 2 cycles that touch or are within FF_REPORT_NEAR cycles of one
 * that does, the last as many, and the last FF_REPORT_NEAR of the run. */
#ifndef FF_REPORT_DETAIL_H
#define FF_REPORT_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include "freefloat/base.h"
#include "report/pack.h"

enum { FF_REPORT_NEAR = 256, FF_REPORT_DETAIL_ROWS = 12288 };

typedef struct ff_report_detail ff_report_detail;

/* NULL: no memory. */
ff_report_detail *ff_report_detail_create(size_t width);
void ff_report_detail_destroy(ff_report_detail *detail); /* NULL is allowed */
/* One cycle after the other. */
void ff_report_detail_add(ff_report_detail *detail, double time, const float *value, bool touching);
size_t ff_report_detail_rows(const ff_report_detail *detail);

typedef struct ff_report_span {
    double from, to; /* [s] first and last cycle of a stretch without a gap */
} ff_report_span;

/* Pairs of rows (smallest and largest of a bucket) and cycles in one table, by time. */
typedef struct ff_report_joined {
    ff_report_table table;
    double *time;
    float *value;
    ff_report_span *span; /* where every cycle is in it */
    size_t spans;
} ff_report_joined;

void ff_report_joined_free(ff_report_joined *joined);
/* thin: rows in pairs; its buckets of which every cycle is kept are left out, the rows of the others stand
 * where no cycle is. Of the cycles kept the first and the last half of `rows`. FF_ERR_MEMORY. */
ff_status ff_report_detail_join(const ff_report_detail *detail, size_t rows, const ff_report_table *thin,
                                ff_report_joined *joined);

#endif
