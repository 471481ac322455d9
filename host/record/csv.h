/* record/csv.h - log.csv: one header line, one line per cycle, named columns with units. */
#ifndef FF_RECORD_CSV_H
#define FF_RECORD_CSV_H

#include "rows/columns.h"
#include "rows/sink.h"
#include "text/file.h"

typedef struct ff_csv {
    ff_file_whole whole;
    ff_columns columns;
    double *values;
} ff_csv;

/* The file appears when it is closed. FF_ERR_IO with errno when it cannot be created, FF_ERR_MEMORY. */
ff_status ff_csv_open(const char *path, const ff_scenario *scenario, ff_csv *csv);
ff_sink ff_csv_sink(ff_csv *csv);
/* Puts the file in its place, with the rows that could be written, or removes it (`keep` false). FF_ERR_IO
 * with errno when it does not stand there whole (a full disk shows here at the latest). */
ff_status ff_csv_close(ff_csv *csv, bool keep);

/* The same lines for any table: the fewest digits that read back to the same bits, an empty field for NaN.
 * FF_ERR_IO. */
ff_status ff_csv_write_header(FILE *file, int count, char (*name)[FF_COLUMN_NAME]);
ff_status ff_csv_write_line(FILE *file, int count, const double *values);

#endif
