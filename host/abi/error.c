/* abi/error.c - what went wrong, as a struct that other languages raise. */
#include "abi/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/version.h"

int ffh_abi(void) {
    return FFH_ABI;
}

const char *ffh_version(void) {
    return ff_version();
}

void ffh_free(void *text) {
    free(text);
}

void ff__abi_clear(ffh_error *error) {
    if (!error)
        return;
    error->kind = error->outcome = error->line = error->column = 0;
    error->file[0] = error->text[0] = error->warning[0] = 0;
}

int ff__abi_fail(ffh_error *error, int kind, const char *format, ...) {
    if (!error)
        return kind;
    ff__abi_clear(error);
    error->kind = kind;
    error->outcome = kind == FFH_RUN || kind == FFH_STOPPED || kind == FFH_MEMORY ? FF_FAILED : FF_REFUSED;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return kind;
}

/* FILE:LINE:COL: or FILE:LINE: at the beginning of a line; FILE may hold colons itself. */
static void find_place(ffh_error *error) {
    const size_t end = strcspn(error->text, "\n");
    for (size_t i = 1; i < end; i++) {
        int line, column = 0, used = 0;
        if (error->text[i] != ':' || sscanf(error->text + i, ":%d%n", &line, &used) < 1)
            continue;
        const char *rest = error->text + i + used;
        if (sscanf(rest, ":%d%n", &column, &used) == 1)
            rest += used;
        if (rest[0] != ':' || rest[1] != ' ')
            continue;
        snprintf(error->file, sizeof error->file, "%.*s", (int)i, error->text);
        error->line = line;
        error->column = column;
        return;
    }
}

int ff__abi_notes(ffh_error *error, int kind, ff_outcome outcome, const ff_notes *notes) {
    if (!error)
        return outcome == FF_DONE ? FFH_OK : kind;
    ff__abi_clear(error);
    snprintf(error->warning, sizeof error->warning, "%s", notes->warning);
    error->outcome = (int)outcome;
    if (outcome == FF_DONE)
        return FFH_OK;
    snprintf(error->text, sizeof error->text, "%s", notes->error);
    const size_t length = strlen(error->text);
    if (length && error->text[length - 1] == '\n')
        error->text[length - 1] = 0;
    if (kind == FFH_SCENARIO && strncmp(error->text, "--method ", 9) == 0)
        kind = FFH_METHOD;
    error->kind = kind;
    find_place(error);
    return kind;
}

bool ff__abi_finite(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}
