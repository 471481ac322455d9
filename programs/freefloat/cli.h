/* What all sub-commands share: options, messages, progress, tables. Only programs/ prints. */
#ifndef FF_CLI_H
#define FF_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "live/live.h"

enum { FF_EXIT_DONE = 0, FF_EXIT_FAILED = 1, FF_EXIT_USAGE = 2, FF_MAX_SETS = 64 };

/* An option takes a value unless `flag` is given. */
typedef struct ff_option {
    const char *name;   /* "--out" */
    const char **value; /* set to the last value given, or NULL */
    bool *flag;
    const char **list; /* collects every value, up to FF_MAX_SETS */
    int *count;
} ff_option;

/* Parses argv into options and at most `most` positional words. Answers --help by printing `help` and
 * returning 1 with *exit_status = 0. Returns 0 to go on, 1 to exit with *exit_status. */
int ff_cli_parse(int argc, char **argv, const ff_option *options, int count, const char *help,
                 const char **words, int most, int *found, int *exit_status);
/* "freefloat COMMAND: message" on stderr. */
void ff_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void ff_cli_warn_lines(const char *lines); /* one warning a line */

/* Ports of --rsi-port, --ati-port, --http-port (NULL: not given); prints one line and returns -1. */
struct ff_plan_options;
int ff_cli_ports(const char *rsi, const char *ati, const char *http, struct ff_plan_options *ports);
/* freefloat rt --selftest. Exit status. */
int ff_cli_selftest(bool json, bool doze);

/* A progress bar on a terminal, from the second second on. */
typedef struct ff_progress {
    const char *label;
    bool enabled;
    bool shown;
    double begin, last; /* [s] */
    double from, to;    /* part of the whole that this phase covers */
    double phase;       /* [s] when it began */
    double amount;      /* of `unit` in this phase, for the rate; 0: no rate is told */
    const char *unit;
} ff_progress;

void ff_progress_start(ff_progress *progress, const char *label, bool quiet);
/* The next phase covers from..to of the bar and does `amount` units of work (0: no rate is told). */
void ff_progress_phase(ff_progress *progress, double from, double to, double amount, const char *unit);
/* Callback for long work; false after Ctrl-C. */
bool ff_progress_update(void *progress, double part);
void ff_progress_stop(ff_progress *progress);
/* Makes room for a line of text where a bar may stand. */
void ff_progress_clear(void);
bool ff_cli_interrupted(void);

/* A table with aligned columns; the first row is the head. Numbers right, words left. */
typedef struct ff_table {
    int columns, rows, capacity;
    char (*cell)[96];
} ff_table;

void ff_table_init(ff_table *table, int columns);
void ff_table_add(ff_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ff_table_print(const ff_table *table);
void ff_table_free(ff_table *table);

/* Where the page is, and with control its token, once. */
void ff_cli_live(const ff_live *live, bool control);

bool ff_cli_colour(void); /* stdout is a terminal and NO_COLOR is not set */
const char *ff_cli_green(void);
const char *ff_cli_red(void);
const char *ff_cli_bold(void);
const char *ff_cli_plain(void);

#endif
