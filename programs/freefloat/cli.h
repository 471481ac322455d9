/* What all sub-commands share: options, messages, progress, tables. Only programs/ prints. */
#ifndef FF_CLI_H
#define FF_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "live/live.h"
#include "runs/runs.h"
#include "text/notes.h"

enum { FF_EXIT_DONE = FF_DONE, FF_EXIT_FAILED = FF_FAILED, FF_EXIT_USAGE = FF_REFUSED, FF_MAX_SETS = 64 };

/* One option; which field is set says what it takes. A list of options ends with {0}. */
typedef struct ff_option {
    const char *name;   /* "--out" */
    const char **value; /* set to the last value given */
    double *number;     /* the same, finite */
    bool *flag;         /* takes no value */
    const char **list;  /* collects every value, up to FF_MAX_SETS */
    int *count;
} ff_option;

#define FF_OPT(name_, value_) \
    { .name = (name_), .value = (value_) }
#define FF_OPT_NUMBER(name_, number_) \
    { .name = (name_), .number = (number_) }
#define FF_OPT_FLAG(name_, flag_) \
    { .name = (name_), .flag = (flag_) }
#define FF_OPT_LIST(name_, list_, count_) \
    { .name = (name_), .list = (list_), .count = (count_) }

/* Parses the words of "freefloat COMMAND" into options and at most one word that is none (word NULL: there
 * may be none). `what` names that word ("scenario") where it must be given, else NULL. Answers --help by
 * printing `help` and returning 1 with *exit_status = 0. Returns 0 to continue, 1 to exit with *exit_status.
 */
int ff_cli_parse(int argc, char **argv, const char *command, const char *help, const ff_option *options,
                 const char *what, const char **word, int *exit_status);
/* Lines of a text, those of more than 80 columns broken between words. */
void ff_cli_wrapped(FILE *out, const char *text);
/* Says that `what` is missing; FF_EXIT_USAGE. */
int ff_cli_missing(const char *command, const char *what);
/* A finite number and nothing else. */
bool ff_cli_number(const char *text, double *value);
/* "freefloat COMMAND: message" on stderr. */
void ff_cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One line to the standard output, of texts that are not our own: names, paths, what files say. */
void ff_cli_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a malloc'ed text on stdout and frees it; NULL: says that memory ran out, FF_EXIT_FAILED. */
int ff_cli_json(char *text);
void ff_cli_lines(const char *lines);      /* one error a line */
void ff_cli_warn_lines(const char *lines); /* one warning a line */

/* Ports of --rsi-port, --ati-port, --http-port (NULL: not given); prints one line and returns -1. */
struct ff_ports;
int ff_cli_ports(const char *rsi, const char *ati, const char *http, struct ff_ports *ports);
/* What was started, for manifests: set once by main. */
void ff_cli_started(int argc, char **argv);
const ff_run_program *ff_cli_program(void);

/* freefloat rt --selftest. Exit status. */
int ff_cli_selftest(bool json, bool deep_idle);
/* The ladder of docs/safety.md; protocol.json and protocol.html go to `out` (NULL: commissioning). */
int ff_cli_commission(const char *out);

/* A progress bar on a terminal, from the second second on. */
typedef struct ff_progress {
    const char *label;
    bool enabled;
    bool shown;
    double begin, last; /* [s] */
    double from, to;    /* part of the whole that this phase covers */
    double phase;       /* [s] when it began */
    double amount;      /* of `unit` in this phase, for the rate; 0: no rate is shown */
    const char *unit;
} ff_progress;

void ff_progress_start(ff_progress *progress, const char *label, bool quiet);
/* The next phase covers from..to of the bar and does `amount` units of work (0: no rate is shown). */
void ff_progress_phase(ff_progress *progress, double from, double to, double amount, const char *unit);
/* Callback for long work; false after Ctrl-C. */
bool ff_progress_update(void *progress, double part);
void ff_progress_stop(ff_progress *progress);
/* Makes room for a line of text where a bar may stand. */
void ff_progress_clear(void);
bool ff_cli_interrupted(void);

/* A table with aligned columns; the first row is the head. Numbers right, words left. Where it is wider than
 * 80 columns headings are broken, and what still does not fit stands below, behind the first column again. */
enum { FF_TABLE_COLUMNS = 16 };
typedef struct ff_table {
    int columns, rows, capacity;
    bool failed; /* no memory for a line */
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
