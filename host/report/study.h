/* report/study.h - a page of tables, maps and curves with the report's own plots: for campaigns and analyses.
 *
 * One JSON text is filled in order (open, tables, maps, curves, close) and written into the report's page. */
#ifndef FF_REPORT_STUDY_H
#define FF_REPORT_STUDY_H

#include "text/json.h"

typedef struct ff_study {
    ff_json json;
    int part;   /* 0: tables, 1: maps, 2: curves */
    bool lines; /* of the map that is open */
} ff_study;

/* One axis of a map: `count` cells, count + 1 edges. */
typedef struct ff_study_axis {
    const char *name, *unit;
    bool log;
    int count;
    const double *at, *edge;
} ff_study_axis;

typedef struct ff_study_map {
    const char *title, *note, *unit;
    bool log;
    bool share;   /* of runs that pass: more is better, the limit is the least */
    double limit; /* FF_NAN: none */
    ff_study_axis x, y;
    double point[2]; /* of the scenario itself on x and y; FF_NAN: not on this map */
} ff_study_map;

typedef struct ff_study_curves {
    const char *title, *note, *unit;
    bool log, steps;
    bool share;   /* as of a map */
    double limit; /* FF_NAN: none */
    const char *x_name, *x_unit;
    bool x_log;
    double point; /* the user's own value on x; FF_NAN: none */
} ff_study_curves;

/* What the page opens with: good, bad, or neither where nothing was judged; a word or two, and the sentence.
 */
typedef enum ff_study_verdict { FF_STUDY_NONE, FF_STUDY_GOOD, FF_STUDY_BAD } ff_study_verdict;
void ff_study_open(ff_study *study, ff_study_verdict verdict, const char *word, const char *lead);
/* heads: "#..." stands to the right. Rows follow, then the end. `after`: below the plots. */
void ff_study_table(ff_study *study, const char *title, bool after, const char *const *heads, int count);
void ff_study_row(ff_study *study, const char *const *cells, int count);
void ff_study_table_end(ff_study *study);
/* A map, one panel of y.count rows of x.count values for each label; not finite: no value, FF_INF: not run.
 */
void ff_study_map_open(ff_study *study, const ff_study_map *map);
void ff_study_panel(ff_study *study, const char *label, const double *values, int columns, int rows);
/* After the panels: a line in one of them, `count` pieces [x0, y0, x1, y1] in the units of the axes. */
void ff_study_map_line(ff_study *study, int panel, int style, const char *label, const double *pieces,
                       int count);
void ff_study_map_end(ff_study *study);
/* Curves over one axis. */
void ff_study_curves_open(ff_study *study, const ff_study_curves *curves);
void ff_study_line(ff_study *study, const char *label, int style, bool pale, const double *x, const double *y,
                   int count);
void ff_study_curves_end(ff_study *study);
/* Ends it and writes the page, through path.part. FF_ERR_IO, FF_ERR_MEMORY, FF_ERR_FORMAT. */
ff_status ff_study_write(ff_study *study, const char *path, const char *title);

#endif
