/* report/limits.h - the limits that a run is held against, as columns of its log. */
#ifndef FF_REPORT_LIMITS_H
#define FF_REPORT_LIMITS_H

#include "rows/columns.h"

enum { FF_REPORT_LIMITS = 64 };

typedef struct ff_report_limit {
    char name[FF_NAME_SIZE + 48];
    const char *unit;
    double limit;
    int column, count; /* the norm of these columns of ff_columns */
    double scale;      /* value = scale * norm */
    bool trips;        /* false: a requirement, the run continues when it is exceeded */
} ff_report_limit;

/* Requirements, the limits of what is sent, the sensors' ranges, the cycle; with `devices` those of the
 * safety limits that columns show. Returns how many. */
int ff_report_limits(const ff_scenario *scenario, const ff_columns *columns, bool devices,
                     ff_report_limit limit[FF_REPORT_LIMITS]);

#endif
