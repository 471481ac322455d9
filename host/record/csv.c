#include "record/csv.h"
#include "text/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ff_status ff_csv_open(const char *path, const ff_scenario *scenario, ff_csv *csv) {
    *csv = (ff_csv){0};
    ff_status status = ff_columns_init(scenario, &csv->columns);
    if (status == FF_OK) {
        csv->values = malloc((size_t)csv->columns.count * sizeof *csv->values);
        status = csv->values ? ff_file_begin(path, &csv->whole) : FF_ERR_MEMORY;
    }
    if (status == FF_OK)
        return ff_csv_write_header(csv->whole.file, csv->columns.count, csv->columns.name);
    ff_columns_free(&csv->columns);
    free(csv->values);
    csv->values = NULL;
    return status;
}

static ff_status take_row(void *self, const ff_row *row) {
    ff_csv *csv = self;
    ff_columns_values(&csv->columns, row, csv->values);
    return ff_csv_write_line(csv->whole.file, csv->columns.count, csv->values);
}

ff_sink ff_csv_sink(ff_csv *csv) {
    return (ff_sink){.self = csv, .axes = true, .row = take_row};
}

ff_status ff_csv_close(ff_csv *csv, bool keep) {
    char cut[FF_FILE_PATH];
    const char *dot = strrchr(csv->whole.path, '.');
    snprintf(cut, sizeof cut, "%.*s.cut.csv", (int)(dot ? dot - csv->whole.path : FF_FILE_PATH - 16),
             csv->whole.path);
    const ff_status status = keep ? ff_file_rescue(&csv->whole, cut) : ff_file_end(&csv->whole, false);
    ff_columns_free(&csv->columns);
    free(csv->values);
    csv->values = NULL;
    return status;
}
