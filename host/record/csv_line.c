/* One line of CSV, of whatever has columns: logs and what a study prints. */
#include "record/csv.h"
#include "text/number.h"

#include <stdio.h>
#include <string.h>

static void put_title(FILE *file, const char *name) {
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
        put_title(file, name[i]);
    }
    return fputc('\n', file) == EOF ? FF_ERR_IO : FF_OK;
}

ff_status ff_csv_write_line(FILE *file, int count, const double *values) {
    enum { ROOM = 4096, FIELD = FF_NUMBER_SIZE + 1 };
    char text[ROOM];
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        const double v = values[i];
        if (n > ROOM - FIELD) { /* a call for each number costs as much as the number */
            if (fwrite(text, 1, n, file) != n)
                return FF_ERR_IO;
            n = 0;
        }
        if (v == 0.0 && !signbit(v)) /* most are */
            text[n++] = '0';
        else if (isfinite(v))
            n += (size_t)ff_number_shortest(v, text + n);
        else if (!isnan(v)) { /* what was not measured is an empty field */
            memcpy(text + n, "-inf" + (v > 0.0), 4);
            n += v > 0.0 ? 3 : 4;
        }
        text[n++] = i + 1 < count ? ',' : '\n';
    }
    return fwrite(text, 1, n, file) == n ? FF_OK : FF_ERR_IO;
}
