#include "record/csv.h"
#include "text/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_name(FILE *file, const char *name) {
    if (!name[strcspn(name, ",\"\n\r")]) {
        fputs(name, file);
        return;
    }
    fputc('"', file);
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            fputc('"', file);
        fputc(*c == '\n' || *c == '\r' ? ' ' : *c, file);
    }
    fputc('"', file);
}

ff_status ff_csv_write_header(FILE *file, int count, char (*name)[FF_COLUMN_NAME]) {
    for (int i = 0; i < count; i++) {
        if (i)
            fputc(',', file);
        put_name(file, name[i]);
    }
    return fputc('\n', file) == EOF ? FF_ERR_IO : FF_OK;
}

ff_status ff_csv_write_line(FILE *file, int count, const double *values) {
    for (int i = 0; i < count; i++) {
        char text[FF_NUMBER_SIZE + 1];
        const double v = values[i];
        int n = 0; /* an empty field: nothing was measured */
        if (v == 0.0)
            text[n++] = '0';
        else if (isfinite(v))
            n = ff_number_shortest(v, text);
        else if (!isnan(v))
            n = snprintf(text, sizeof text, "%g", v);
        text[n++] = i + 1 < count ? ',' : '\n';
        if (fwrite(text, 1, (size_t)n, file) != (size_t)n)
            return FF_ERR_IO;
    }
    return FF_OK;
}

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

static ff_status take(void *self, const ff_row *row) {
    ff_csv *csv = self;
    ff_columns_values(&csv->columns, row, csv->values);
    return ff_csv_write_line(csv->whole.file, csv->columns.count, csv->values);
}

ff_sink ff_csv_sink(ff_csv *csv) {
    return (ff_sink){.self = csv, .row = take};
}

ff_status ff_csv_close(ff_csv *csv, bool good) {
    const ff_status status = ff_file_end(&csv->whole, good);
    ff_columns_free(&csv->columns);
    free(csv->values);
    csv->values = NULL;
    return status;
}
