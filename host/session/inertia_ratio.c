/* session/inertia_ratio.c - Q from a file of numbers or from a scenario that emulates. */
#include "session/inertia_ratio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulate/arm.h"
#include "scenario/scenario.h"
#include "text/number.h"

static ff_status read_scenario(const char *path, size_t *n, double *Q, char *message, size_t size) {
    char warnings[1024];
    ff_scenario *scenario = malloc(sizeof *scenario);
    if (!scenario) {
        snprintf(message, size, "no memory");
        return FF_ERR_MEMORY;
    }
    ff_status status = ff_scenario_load(path, NULL, scenario, message, size, warnings, sizeof warnings);
    if (status == FF_OK && !scenario->emulates) {
        snprintf(message, size, "%s: --inertia-ratio needs a scenario with the key 'emulation'", path);
        status = FF_ERR_FORMAT;
    } else if (status == FF_OK && scenario->target == FF_TARGET_ARM) {
        status = ff_emulate_arms_ratio(&scenario->arms, n, Q, message, size);
    } else if (status == FF_OK) {
        *n = 1;
        Q[0] = scenario->emulation.target.link_inertia / scenario->emulation.robot_inertia;
    }
    free(scenario);
    return status;
}

static bool is_scenario(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* The numbers of one line into row[6]. False, and the word that does not fit. */
static bool read_row(char *line, double row[6], size_t *columns, const char **word) {
    char *save = NULL;
    *columns = 0;
    for (char *w = strtok_r(line, " ,;\t\r", &save); w; w = strtok_r(NULL, " ,;\t\r", &save)) {
        bool in_range;
        *word = w;
        if (*columns == 6 || !ff_number_parse(w, &row[*columns], &in_range) || !in_range)
            return false;
        ++*columns;
    }
    return true;
}

static ff_status read_matrix(FILE *file, const char *path, size_t *n, double *Q, char *message, size_t size) {
    char line[1024];
    size_t rows = 0, columns;
    *n = 0;
    for (size_t at = 1; fgets(line, sizeof line, file); at++) {
        const char *word = "";
        double row[6];
        line[strcspn(line, "#\n")] = '\0';
        if (!read_row(line, row, &columns, &word) || (columns && rows == 6)) {
            snprintf(message, size, "%s:%zu: '%s' does not fit, allowed are up to 6 rows of up to 6 numbers",
                     path, at, word);
            return FF_ERR_FORMAT;
        }
        if (columns == 0)
            continue;
        *n = rows ? *n : columns;
        if (columns != *n) {
            snprintf(message, size, "%s:%zu: row %zu has not %zu numbers, allowed is a square matrix", path,
                     at, rows + 1, *n);
            return FF_ERR_FORMAT;
        }
        memcpy(Q + rows++ * *n, row, *n * sizeof *row);
    }
    if (rows && rows == *n)
        return FF_OK;
    snprintf(message, size, "%s: %zu rows of %zu numbers, allowed is a square matrix", path, rows, *n);
    return FF_ERR_FORMAT;
}

ff_status ff_inertia_ratio_read(const char *path, size_t *n, double Q[36], char *message, size_t size) {
    if (is_scenario(path))
        return read_scenario(path, n, Q, message, size);
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(message, size, "--inertia-ratio '%s' is neither a number nor a readable file", path);
        return FF_ERR_IO;
    }
    const ff_status status = read_matrix(file, path, n, Q, message, size);
    fclose(file);
    return status;
}
