/* record/csv.h - log.csv: one header line, one line per cycle, named columns with units. */
#ifndef FF_RECORD_CSV_H
#define FF_RECORD_CSV_H

#include <stdio.h>

#include "rows/columns.h"
#include "rows/sink.h"

typedef struct ff_csv {
    FILE *file;
    ff_columns columns;
    double *values;
} ff_csv;

/* FF_ERR_IO when the file cannot be created. */
ff_status ff_csv_open(const char *path, const ff_scenario *scenario, ff_csv *csv);
ff_sink ff_csv_sink(ff_csv *csv);
/* FF_ERR_IO when not everything reached the file (a full disk shows here at the latest). */
ff_status ff_csv_close(ff_csv *csv);

/* The same lines for any table: %.17g, an empty field for NaN. FF_ERR_IO. */
ff_status ff_csv_write_header(FILE *file, int count, char (*name)[FF_COLUMN_NAME]);
ff_status ff_csv_write_line(FILE *file, int count, const double *values);

#endif
