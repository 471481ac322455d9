#include "report/collect.h"

#include <stdlib.h>

void ff_report_collector_free(ff_report_collector *collector) {
    ff_columns_free(&collector->columns);
    free(collector->kept);
    free(collector->values);
    free(collector->row);
    ff_report_series_destroy(collector->series);
    *collector = (ff_report_collector){0};
}

ff_status ff_report_collector_init(const ff_scenario *scenario, ff_report_collector *c) {
    *c = (ff_report_collector){0};
    ff_status status = ff_columns_init(scenario, &c->columns);
    if (status)
        return status;
    size_t n = (size_t)c->columns.count;
    c->kept = calloc(n, sizeof *c->kept);
    c->values = calloc(n, sizeof *c->values);
    c->row = calloc(n, sizeof *c->row);
    const char **names = calloc(n, sizeof *names);
    if (c->kept && c->values && c->row && names) {
        for (int i = 0; i < c->columns.count; i++)
            if (!(c->columns.column[i].field->flags & FF_FIELD_UNDRAWN)) {
                c->kept[c->count] = i;
                names[c->count++] = c->columns.name[i];
            }
        c->series = ff_report_series_create(c->count, names);
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
    for (int i = 0; i < c->count; i++)
        c->row[i] = c->values[c->kept[i]];
    return ff_report_add_row(c->series, c->row);
}

ff_sink ff_report_collector_sink(ff_report_collector *collector) {
    return (ff_sink){.self = collector, .row = collect_row};
}
