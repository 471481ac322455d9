#include "record/logfile.h"

#ifdef FF_HAVE_MATIO

#include <matio.h>
#include <stdio.h>
#include <string.h>

/* "client.velocity.x [m/s]" -> client_velocity_x; MATLAB takes 63 characters and no leading digit. */
static void variable_name(const char *column, char name[64]) {
    size_t n = 0;
    if (!((*column >= 'a' && *column <= 'z') || (*column >= 'A' && *column <= 'Z')))
        name[n++] = 'x';
    for (const char *c = column; *c && strncmp(c, " [", 2) != 0 && n < 63; c++) {
        const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        name[n++] = plain ? *c : '_';
    }
    name[n] = 0;
}

ff_status ff_matlab_write(const char *path, int columns, char (*name)[FF_COLUMN_NAME], const double *values,
                          size_t rows) {
    mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    if (!file)
        return FF_ERR_IO;
    bool good = true;
    for (int i = 0; i < columns && good; i++) {
        char variable[64];
        size_t size[2] = {rows, 1};
        variable_name(name[i], variable);
        /* the data are copied by matio's writer, not changed */
        matvar_t *matvar = Mat_VarCreate(variable, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size,
                                         (void *)(uintptr_t)&values[(size_t)i * rows], MAT_F_DONT_COPY_DATA);
        good = matvar && Mat_VarWrite(file, matvar, MAT_COMPRESSION_NONE) == 0;
        if (matvar)
            Mat_VarFree(matvar);
    }
    good = Mat_Close(file) == 0 && good;
    return good ? FF_OK : FF_ERR_IO;
}

#else

ff_status ff_matlab_write(const char *path, int columns, char (*name)[FF_COLUMN_NAME], const double *values,
                          size_t rows) {
    (void)path, (void)columns, (void)name, (void)values, (void)rows;
    return FF_ERR_UNSUPPORTED;
}

#endif
