#include "record/logfile.h"

#ifdef FF_HAVE_MATIO

#include <matio.h>
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

/* The library does not say when the disk is full: the file must be a header and so many whole variables. */
static bool is_whole(const char *path, int variables) {
    enum { HEADER = 128, MATRIX = 14 };
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    long at = HEADER;
    uint32_t tag[2]; /* kind and size [bytes], in this computer's order */
    bool good = true;
    for (int i = 0; i < variables && good; i++) {
        good = fseek(file, at, SEEK_SET) == 0 && fread(tag, sizeof tag, 1, file) == 1 && tag[0] == MATRIX;
        at += (long)sizeof tag + (long)tag[1];
    }
    good = good && fseek(file, 0, SEEK_END) == 0 && ftell(file) == at;
    fclose(file);
    return good;
}

ff_status ff_matlab_write(const char *path, int columns, char (*name)[FF_COLUMN_NAME], const double *values,
                          size_t rows) {
    char(*variable)[LONGEST + 1] = calloc((size_t)columns + 1, sizeof *variable);
    if (!variable)
        return FF_ERR_MEMORY;
    mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    if (!file) {
        free(variable);
        return FF_ERR_IO;
    }
    bool good = true;
    for (int i = 0; i < columns && good; i++) {
        size_t size[2] = {rows, 1};
        variable_name(name[i], variable[i]);
        make_unique(variable, i);
        /* the data are copied by matio's writer, not changed */
        matvar_t *matvar = Mat_VarCreate(variable[i], MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size,
                                         (void *)(uintptr_t)&values[(size_t)i * rows], MAT_F_DONT_COPY_DATA);
        good = matvar && Mat_VarWrite(file, matvar, MAT_COMPRESSION_NONE) == 0;
        if (matvar)
            Mat_VarFree(matvar);
    }
    free(variable);
    good = Mat_Close(file) == 0 && good && is_whole(path, columns);
    return good ? FF_OK : FF_ERR_IO;
}

#else

ff_status ff_matlab_write(const char *path, int columns, char (*name)[FF_COLUMN_NAME], const double *values,
                          size_t rows) {
    (void)path, (void)columns, (void)name, (void)values, (void)rows;
    return FF_ERR_UNSUPPORTED;
}

#endif
