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
    const char *name;      /* "--out" */
    const char **value;    /* set to the last value given */
    double *number;        /* the same, finite */
    bool *flag;            /* takes no value */
    const char *otherwise; /* may stand alone, then it is this; a value comes behind = */
    const char **list;     /* collects every value, up to FF_MAX_SETS */
    int *count;
} ff_option;

#define FF_OPT(name_, value_) \
    { .name = (name_), .value = (value_) }
#define FF_OPT_MAYBE(name_, value_, otherwise_) \
    { .name = (name_), .value = (value_), .otherwise = (otherwise_) }
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
/* The same broken between words where it is longer than 80 columns: a sentence, not a path that is copied. */
void ff_cli_sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));
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
/* Who asks the program to end: Ctrl-C, SIGTERM, a terminal that is gone (unless nohup says that it does not
 * matter). */
void ff_cli_on_request(void (*handler)(int));

/* A table with aligned columns; the first row is the head. Numbers right, words left. Where it is wider than
 * 80 columns headings are broken, and what still does not fit stands below, behind the first columns (`keys`)
 * again. */
enum { FF_TABLE_COLUMNS = 16 };
typedef struct ff_table {
    int columns, rows, capacity;
    int keys;    /* columns that say what a row is; 1 unless set */
    bool failed; /* no memory for a line */
    char (*cell)[96];
} ff_table;

void ff_table_init(ff_table *table, int columns);
void ff_table_add(ff_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ff_table_print(const ff_table *table);
void ff_table_free(ff_table *table);

/* Where a run can be watched; with control the token, once. */
void ff_cli_live(const ff_live *live, bool control);
#define FF_CLI_ROS "loopback"
/* The options of who may watch, for `ff_option` lists. */
#define FF_CLI_DOORS(doors_)                                                                              \
    FF_OPT("--live", &(doors_)->page), FF_OPT_MAYBE("--foxglove", &(doors_)->foxglove, "127.0.0.1:8765"), \
        FF_OPT_MAYBE("--ros", &(doors_)->ros, FF_CLI_ROS), FF_OPT("--ros-allow", &(doors_)->ros_allow),   \
        FF_OPT_FLAG("--control", &(doors_)->control)
#define FF_CLI_DOORS_HELP                                                                                    \
    "  --foxglove[=ADDRESS]   the same for Foxglove, by default at 127.0.0.1:8765: docs/ros2.md\n"           \
    "  --ros[=ADDRESS:DOMAIN]   the same for ROS 2, by default on 127.0.0.1 and in ROS_DOMAIN_ID's domain\n" \
    "  --ros-allow LIST   what ROS 2 may order: hold, stop, resume, retreat, zero, set (default hold,stop\n" \
    "                     on loopback, else nothing)\n"                                                      \
    "  --control          with --live, --foxglove: prints a token once; who has it may zero and tune\n"
/* Whether what was given of them fits together, and defaults; prints one line if not. */
bool ff_cli_doors(const char *command, ff_live_doors *doors);
/* The first of them that is open, as an option; NULL: none. */
const char *ff_cli_door(const ff_live_doors *doors);

bool ff_cli_colour(void); /* stdout is a terminal and NO_COLOR is not set */
const char *ff_cli_green(void);
const char *ff_cli_red(void);
const char *ff_cli_bold(void);
const char *ff_cli_plain(void);

#endif
