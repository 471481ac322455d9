#include "report/collect.h"

#include <stdlib.h>

void ff_report_collector_free(ff_report_collector *collector) {
    ff_columns_free(&collector->columns);
    free(collector->values);
    ff_report_series_destroy(collector->series);
    *collector = (ff_report_collector){0};
}

ff_status ff_report_collector_init(const ff_scenario *scenario, ff_report_collector *c) {
    *c = (ff_report_collector){0};
    ff_status status = ff_columns_init(scenario, &c->columns);
    if (status)
        return status;
    ff_columns_leave_out(&c->columns, FF_FIELD_UNDRAWN);
    size_t n = (size_t)c->columns.count;
    c->values = calloc(n, sizeof *c->values);
    const char **names = calloc(n, sizeof *names);
    if (c->values && names) {
        for (size_t i = 0; i < n; i++)
            names[i] = c->columns.name[i];
        c->series = ff_report_series_create(c->columns.count, names);
    }
    free(names);
    if (c->series)
        return FF_OK;
    ff_report_collector_free(c);
    return FF_ERR_MEMORY;
}

static ff_status collect_row(void *self, const ff_row *row) {
    ff_report_collector *c = self;
    ff_columns_values(&c->columns, row, c->values);
    return ff_report_add_row(c->series, c->values);
}

ff_sink ff_report_collector_sink(ff_report_collector *collector) {
    return (ff_sink){.self = collector, .row = collect_row};
}
