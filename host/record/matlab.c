/* record/matlab.c - columns as a MATLAB file of version 5: a header, then one uncompressed matrix of doubles
 * a column, in this computer's byte order, which the header names. */
#include "record/logfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 63 }; /* characters of a name in MATLAB */

/* Of a name that is too long the middle is left out: the end says what the column is. */
static void fit(const char *full, int room, char name[LONGEST + 1]) {
    enum { TAIL = 32 };
    const int n = (int)strlen(full);
    if (n <= room)
        snprintf(name, LONGEST + 1, "%s", full);
    else
        snprintf(name, LONGEST + 1, "%.*s_%s", room - 1 - TAIL, full, full + n - TAIL);
}

/* "client.velocity.x [m/s]" -> client_velocity_x; no leading digit. */
static void variable_name(const char *column, char name[LONGEST + 1]) {
    char full[FF_COLUMN_NAME + 1];
    size_t n = 0;
    if (!((*column >= 'a' && *column <= 'z') || (*column >= 'A' && *column <= 'Z')))
        full[n++] = 'x';
    const char *unit = strrchr(column, '['); /* a satellite's name may have brackets, but no point */
    const char *end =
        unit && unit > column && unit[-1] == ' ' && !strchr(unit, '.') ? unit - 1 : column + strlen(column);
    for (const char *c = column; c < end && n < sizeof full - 1; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        full[n++] = plain ? *c : '_';
    }
    full[n] = 0;
    fit(full, LONGEST, name);
}

/* MATLAB keeps the last of two variables of one name: the second is numbered. */
static void make_unique(char (*names)[LONGEST + 1], int i) {
    char wanted[LONGEST + 1];
    memcpy(wanted, names[i], sizeof wanted);
    for (int other = 0, number = 2; other < i; other++)
        if (strcmp(names[other], names[i]) == 0) {
            char end[12];
            const int digits = snprintf(end, sizeof end, "_%d", number++);
            fit(wanted, LONGEST - digits, names[i]);
            const size_t n = strlen(names[i]);
            snprintf(names[i] + n, sizeof names[i] - n, "%s", end);
            other = -1;
        }
}

/* MAT-File Level 5: kinds of elements, each a tag of kind and size [bytes] and then its content, filled to
 * eight bytes. */
enum {
    MI_INT8 = 1,
    MI_INT32 = 5,
    MI_UINT32 = 6,
    MI_DOUBLE = 9,
    MI_MATRIX = 14,
    MX_DOUBLE = 6,
    HEADER_TEXT = 116
};

static bool put_preamble(FILE *file) {
    char text[HEADER_TEXT];
    static const char says[] = "MATLAB 5.0 MAT-file, written by freefloat";
    memset(text, ' ', sizeof text);
    memcpy(text, says, sizeof says - 1);
    const uint32_t unused[2] = {0, 0};
    const uint16_t version[2] = {0x0100, 'M' << 8 | 'I'};
    return fwrite(text, sizeof text, 1, file) == 1 && fwrite(unused, sizeof unused, 1, file) == 1 &&
           fwrite(version, sizeof version, 1, file) == 1;
}

/* rows x 1; a variable that its size [bytes] of 31 bits cannot say is refused. */
static bool put_column(FILE *file, const char *name, const double *values, size_t rows) {
    const uint32_t n = (uint32_t)strlen(name), filled = (n + 7) / 8 * 8;
    const char padding[8] = {0};
    if (rows > (INT32_MAX - 64 - LONGEST) / sizeof *values) {
        errno = EFBIG;
        return false;
    }
    const uint32_t bytes = (uint32_t)(rows * sizeof *values);
    const uint32_t head[] = {MI_MATRIX,      16 + 16 + 8 + filled + 8 + bytes,
                             MI_UINT32,      8,
                             MX_DOUBLE,      0,
                             MI_INT32,       8,
                             (uint32_t)rows, 1,
                             MI_INT8,        n};
    const uint32_t data[] = {MI_DOUBLE, bytes};
    return fwrite(head, sizeof head, 1, file) == 1 && fwrite(name, 1, n, file) == n &&
           fwrite(padding, 1, filled - n, file) == filled - n && fwrite(data, sizeof data, 1, file) == 1 &&
           fwrite(values, sizeof *values, rows, file) == rows;
}

ff_status ff_matlab_write(FILE *file, int columns, char (*name)[FF_COLUMN_NAME], const double *values,
                          size_t rows) {
    char(*variable)[LONGEST + 1] = calloc((size_t)columns + 1, sizeof *variable);
    if (!variable)
        return FF_ERR_MEMORY;
    bool good = put_preamble(file);
    for (int i = 0; i < columns && good; i++) {
        variable_name(name[i], variable[i]);
        make_unique(variable, i);
        good = put_column(file, variable[i], &values[(size_t)i * rows], rows);
    }
    free(variable);
    return good && fflush(file) == 0 ? FF_OK : FF_ERR_IO;
}
