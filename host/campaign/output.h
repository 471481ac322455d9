/* campaign/output.h - from the journal to what people read: the table in order of samples, quantiles, worst
 * cases, maps and distributions. Two passes over the records, in bounded memory. */
#ifndef FF_CAMPAIGN_OUTPUT_H
#define FF_CAMPAIGN_OUTPUT_H

#include "campaign/journal.h"

enum {
    FF_AXIS_CELLS = 64,
    FF_AXIS_BINS = 24,
    FF_BARS = 40,          /* of a distribution */
    FF_LISTED_FAILED = 100 /* failed runs that are listed and kept */
};

/* Values of one metric under one method. Exact up to a number of values, then to 1 %. */
typedef struct ff_spread {
    uint64_t count, missing;
    double sum, least, most;
    double *value; /* while exact */
    uint32_t room;
    uint64_t *bucket; /* afterwards */
} ff_spread;

typedef struct ff_listed {
    uint64_t slot;
    double value; /* of the metric that ranks */
    char reason[FF_REASON_SIZE];
} ff_listed;

/* One axis of a picture. */
typedef struct ff_axis {
    int column;
    bool bins; /* ranges, not single values */
    bool log;
    int count;
    double at[FF_AXIS_CELLS];       /* centres, rising */
    double edge[FF_AXIS_CELLS + 1]; /* between them */
} ff_axis;

typedef struct ff_cell {
    uint64_t count, failed; /* failed: or without a value */
    double most, sum;       /* most: of a share the mean */
} ff_cell;

typedef struct ff_picture {
    bool share;     /* of ff_metric_share */
    ff_axis x, y;   /* y.count 1: curves */
    ff_cell *cell;  /* [method][y][x] */
    ff_cell *limit; /* [limit][method][y][x]: the columns of the limits; NULL without */
} ff_picture;

/* A piece of a line, in the units of the axes. */
typedef struct ff_segment {
    double x[2], y[2];
} ff_segment;
enum { FF_CONTOUR_SEGMENTS = 2 * (FF_AXIS_CELLS - 1) * (FF_AXIS_CELLS - 1) };

typedef struct ff_bars {
    double from, to;
    bool log;
    uint64_t count[FF_CAMPAIGN_METHODS][FF_BARS];
} ff_bars;

typedef struct ff_output {
    const ff_campaign *campaign;
    uint64_t runs, failed;
    ff_spread spread[FF_CAMPAIGN_METHODS][FF_CAMPAIGN_METRICS];
    int worsts[FF_CAMPAIGN_METHODS];
    ff_listed worst[FF_CAMPAIGN_METHODS][FF_CAMPAIGN_WORST];
    int faileds;
    ff_listed listed[FF_LISTED_FAILED];
    ff_picture picture[FF_CAMPAIGN_MAPS];
    ff_bars *bars;       /* [metric] */
    ff_segment *segment; /* [FF_CONTOUR_SEGMENTS] scratch of the contours */
} ff_output;

/* Writes folder/results.csv (whole, or not at all) and gathers the rest. FF_ERR_IO, FF_ERR_MEMORY with a
 * line. Free with ff_output_free, also after a failure; calloc it, it is large. */
ff_status ff_output_make(const ff_campaign *campaign, ff_journal *journal, const char *folder,
                         ff_output *output, char *message, size_t size);
void ff_output_free(ff_output *output);
/* 0 <= part <= 1; FF_NAN without values. */
double ff_spread_quantile(ff_spread *spread, double part);
/* The value of a metric as people are shown it: 0 where it is rounding, that is below a millionth of its
 * limit, or without one below 1e-12 of the largest under any method, or 1e-15. */
double ff_output_shown(const ff_output *output, int metric, double value);
ff_status ff_spread_add(ff_spread *spread, double value); /* FF_ERR_MEMORY: nothing was added */

/* campaign/contour.c: where the cells of one method cross a level, between their centres: at most
 * FF_CONTOUR_SEGMENTS pieces, how many is returned. `mean`: the cells' means, not their largest values. */
int ff_picture_contour(const ff_picture *picture, const ff_cell *cell, bool mean, double level,
                       ff_segment *segment);
/* The cells of a limit's column under one method. */
const ff_cell *ff_picture_limit(const ff_output *output, int map, int limit, int method);
/* In curves: the places on x where a limit's column crosses its level; at most `most`. */
int ff_picture_crossings(const ff_picture *picture, const ff_cell *cell, double level, double *at, int most);

/* campaign/figures.c: a picture or a distribution as SVG; malloc'ed. */
char *ff_figure_map(ff_output *output, int map);
char *ff_figure_bars(ff_output *output, int metric);
/* campaign/page.c: summary.json, malloc'ed; report.html with the report's own plots. */
char *ff_page_json(ff_output *output, double seconds);
ff_status ff_page_write(ff_output *output, const char *path);

#endif
