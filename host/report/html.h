/* report/html.h - report.html: one self-contained file with the verdict, the plots and the 3-D replay.
 *
 * The caller makes one series per run, adds one row per cycle, and writes all runs into one page. The page's
 * script and style come from web/, bundled by the build; without Node they are a plain page of tables.
 *
 * Names follow one convention, `what [unit]`, time first: "t [s]", "client.velocity.x [m/s]",
 * "client.ideal.velocity.x [m/s]", "contact.front.force [N]", "timing.compute [ns]". docs/report.md lists
 * them all. The page shows what is there. Names and labels may hold any text: they are shown, never run. */
#ifndef FF_REPORT_HTML_H
#define FF_REPORT_HTML_H

#include <stdio.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "freefloat/base.h"

/* A table in bounded memory (record/thin.h). Beside its rows up to 12544 rows are kept as they are in and
 * around contacts (a column "contact.*.touching" is not 0) and at the end (report/detail.h): the page shows
 * both as one table. Columns "timing.*" also get a histogram of every row. */
typedef struct ff_report_series ff_report_series;

/* names: `columns` strings "name [unit]" (the unit may be absent), the first is the time; they are copied.
 * NULL without memory or when columns < 1. */
ff_report_series *ff_report_series_create(int columns, const char *const *names);
void ff_report_series_destroy(ff_report_series *series); /* NULL is allowed */
/* row: `columns` values, time first and never falling. A value that is not finite leaves a gap.
 * FF_ERR_ARGUMENT: the time is not finite or falls (the row is not taken); FF_ERR_MEMORY. */
ff_status ff_report_add_row(ff_report_series *series, const double *row);
size_t ff_report_series_rows(const ff_report_series *series); /* rows kept so far */
/* Value of a kept row: row < rows, column < columns. */
double ff_report_series_value(const ff_report_series *series, size_t row, int column);

typedef struct ff_report_contact {
    const char *name;
    double start, end; /* [s] end: NaN while still open */
} ff_report_contact;

typedef struct ff_report_run {
    const char *label;                /* the method or variant, e.g. "tdpa:reading=printed" */
    const char *summary;              /* JSON, as in summary.json; required */
    const ff_report_series *series;   /* NULL: no plots, no replay */
    const ff_report_contact *contact; /* shaded in the plots; NULL: the summary's contacts */
    int contacts;
    const char *geometry; /* JSON from ff_report_geometry; NULL: boxes of one size, no walls */
} ff_report_run;

typedef struct ff_report_options {
    size_t max_bytes; /* base64 data of all runs together; more is decimated further. 0: 2.1 MB, and 0.7 MB
                         for each run beyond the first; 4 MB once a series is longer than its table */
    bool raw;         /* do not compress the data (always so when built without zlib) */
} ff_report_options;

/* Writes path (through path.part, so that a reader never sees half a file). Two or more runs are overlaid and
 * ranked. FF_ERR_ARGUMENT: n < 1 or a run without summary; FF_ERR_IO; FF_ERR_MEMORY. */
ff_status ff_report_write(const char *path, const char *title, const ff_report_run *runs, int n);
/* The same with choices; options may be NULL. */
ff_status ff_report_write_with(const char *path, const char *title, const ff_report_run *runs, int n,
                               const ff_report_options *options);

/* The same page with a study instead of runs: JSON from report/study.h. */
ff_status ff_report_write_study(const char *path, const char *title, const char *study);

/* Text with the three characters escaped that HTML and XML do not take. */
void ff_report_put_text(FILE *file, const char *text);

#endif
