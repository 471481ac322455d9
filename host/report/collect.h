/* report/collect.h - a run's rows as the report's series. */
#ifndef FF_REPORT_COLLECT_H
#define FF_REPORT_COLLECT_H

#include "record/store.h"
#include "rows/columns.h"
#include "rows/sink.h"
#include "report/html.h"

typedef struct ff_report_collector {
    ff_columns columns; /* that the page shows */
    double *values;
    ff_report_series *series; /* for ff_report_run.series */
} ff_report_collector;

/* FF_ERR_MEMORY. After a failure nothing needs to be freed. */
ff_status ff_report_collector_init(const ff_scenario *scenario, ff_report_collector *collector);
/* The same from rows that were recorded; a column that was not stays empty. */
ff_status ff_report_collector_take(const ff_scenario *scenario, const ff_store *rows,
                                   ff_report_collector *collector);
void ff_report_collector_free(ff_report_collector *collector);
ff_sink ff_report_collector_sink(ff_report_collector *collector);

#endif
