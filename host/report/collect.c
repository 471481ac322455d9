#include "report/collect.h"

#include <stdlib.h>
#include <string.h>

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
    return (ff_sink){.self = collector, .axes = true, .row = collect_row};
}

ff_status ff_report_collector_take(const ff_scenario *scenario, const ff_store *rows,
                                   ff_report_collector *c) {
    ff_status status = ff_report_collector_init(scenario, c);
    if (status != FF_OK)
        return status;
    const double **from = calloc((size_t)c->columns.count + 1, sizeof *from);
    for (int i = 0, s = 0; i < c->columns.count && from; i++, s++) { /* both in the order of one list */
        while (s < rows->count && strcmp(rows->columns.name[s], c->columns.name[i]) != 0)
            s++;
        from[i] = s < rows->count ? rows->column[s].value : NULL;
    }
    if (!from)
        status = FF_ERR_MEMORY;
    for (uint64_t k = 0; k < rows->rows && status == FF_OK; k++) {
        for (int i = 0; i < c->columns.count; i++)
            c->values[i] = from[i] ? from[i][k] : FF_NAN;
        if (!from[0])
            c->values[0] = (double)k * scenario->cycle;
        status = ff_report_add_row(c->series, c->values);
    }
    free(from);
    if (status != FF_OK)
        ff_report_collector_free(c);
    return status;
}
