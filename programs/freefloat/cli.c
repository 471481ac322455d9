#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commit.h"
#include "text/version.h"
#include "scenario/reader.h"
#include "text/clock.h"
#include "text/message.h"
#include "text/shipped.h"

static volatile sig_atomic_t interrupted;
static bool silent; /* --quiet: nothing but errors */

static void on_interrupt(int signal_number) {
    if (interrupted && signal_number != SIGHUP) { /* the second time it is not asked but ended */
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    interrupted = 1;
}

void ff_cli_on_request(void (*handler)(int)) {
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
    if (signal(SIGHUP, handler) == SIG_IGN) /* nohup */
        signal(SIGHUP, SIG_IGN);
}

const char *ff_commit(void) {
    return *FF_COMMIT ? FF_COMMIT : "unknown";
}

static ff_run_program program;

void ff_cli_started(int argc, char **argv) {
    program = (ff_run_program){.argc = argc, .argv = argv, .commit = *FF_COMMIT ? FF_COMMIT : NULL};
}

const ff_run_program *ff_cli_program(void) {
    return &program;
}

bool ff_cli_interrupted(void) {
    return interrupted != 0;
}

/* Whatever stands in names, paths and foreign files, it is one line and orders nothing of a terminal. */
static void put_line(FILE *file, const char *format, va_list arguments) {
    char line[4 * FF_FILE_PATH];
    vsnprintf(line, sizeof line, format, arguments);
    ff_flatten(line);
    fprintf(file, "%s\n", line);
}

void ff_cli_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    put_line(stderr, format, arguments);
    va_end(arguments);
}

void ff_cli_line(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_line(stdout, format, arguments);
    va_end(arguments);
}

int ff_cli_json(char *text) {
    if (text)
        fputs(text, stdout);
    else
        ff_cli_error("no memory for the JSON text");
    free(text);
    return text ? FF_EXIT_DONE : FF_EXIT_FAILED; /* NOLINT: only whether there was one */
}

void ff_cli_lines(const char *lines) {
    for (size_t n; *lines; lines += n + (lines[n] == '\n')) {
        n = strcspn(lines, "\n");
        ff_cli_error("%.*s", (int)n, lines);
    }
}

void ff_cli_warn_lines(const char *lines) {
    if (!silent)
        ff_cli_lines(lines);
}

static const ff_option *find_option(const ff_option *option, const char *name, size_t length) {
    for (; option->name; option++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

bool ff_cli_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

int ff_cli_missing(const char *command, const char *what) {
    ff_cli_error("freefloat %s: which %s? see freefloat %s --help", command, what, command);
    return FF_EXIT_USAGE;
}

/* false after one line */
static bool take_value(const char *command, const ff_option *option, const char *value) {
    if (option->list && *option->count == FF_MAX_SETS) {
        ff_cli_error("freefloat %s: more than %d %s", command, FF_MAX_SETS, option->name);
        return false;
    }
    if (option->value && !*value) {
        ff_cli_error("freefloat %s: %s needs a value, it is empty", command, option->name);
        return false;
    }
    if (option->number && !ff_cli_number(value, option->number)) {
        ff_cli_error("freefloat %s: %s '%s' is not a finite number", command, option->name, value);
        return false;
    }
    if (option->list)
        option->list[(*option->count)++] = value;
    else if (option->value)
        *option->value = value;
    return true;
}

static void refuse_option(const char *command, const ff_option *options, const char *given, size_t length) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, given);
    ff_guess guess = {.wrong = name};
    for (const ff_option *o = options; o->name; o++)
        ff_guess_add(&guess, o->name);
    ff_cli_error("freefloat %s: unknown option '%s'%s; see freefloat %s --help", command, ff_show(name).text,
                 ff_guess_hint(&guess).text, command);
}

enum { WIDTH = 80 };

/* Where the next lines of a line that is too long begin: below what an option, a command or a label explains.
 */
static size_t hanging(const char *line, size_t length) {
    const size_t margin = strspn(line, " ");
    for (size_t i = margin + 1; margin && i + 2 < length && i < 30; i++)
        if (line[i] == ' ' && line[i + 1] == ' ' && line[i + 2] != ' ')
            return i + 2;
    return strncmp(line, "usage: ", 7) == 0 ? 7 : margin < 30 ? margin : 2;
}

/* end: what a broken line ends with. */
static void wrap_line(FILE *out, const char *line, size_t length, size_t indent, const char *end) {
    for (size_t at = 0; length > WIDTH - at;) {
        size_t n = WIDTH - at - strlen(end);
        while (n > 0 && line[n] != ' ')
            n--;
        if (n <= (at ? 0 : indent)) /* one long word */
            n = strcspn(line, " ") < length ? strcspn(line + indent, " ") + indent : length;
        if (n >= length)
            break;
        fprintf(out, "%.*s%s\n%*s", (int)n, line, end, (int)indent, "");
        const size_t next = n + strspn(line + n, " ");
        line += next;
        length -= next;
        at = indent;
    }
    fprintf(out, "%.*s\n", (int)length, line);
}

void ff_cli_sentence(const char *format, ...) {
    char line[4 * FF_FILE_PATH];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ff_flatten(line);
    wrap_line(stdout, line, strlen(line), 2, "");
}

/* A line that another one continues: prose, or what is said of an option, which stands below its own. */
static bool continues(const char *line, size_t n, const char *next) {
    if (*line == ' ')
        return hanging(line, n) > strspn(line, " ") && strspn(next, " ") == hanging(line, n);
    return n > WIDTH && *next && !strchr(" \n", *next) && strncmp(next, "exit status", 11) != 0 &&
           strncmp(next, "example", 7) != 0;
}

void ff_cli_wrapped(FILE *out, const char *text) {
    char prose[1024];
    bool command = false; /* an example is to be copied: a shell reads it on */
    while (*text) {
        const char *const first = text;
        const size_t length = strcspn(text, "\n"), indent = hanging(first, length);
        size_t n = length, used = 0;
        const char *line = first;
        text += n + (text[n] == '\n');
        while (continues(first, length, text) && used + n + strcspn(text, "\n") + 2 < sizeof prose) {
            used += (size_t)snprintf(prose + used, sizeof prose - used, "%.*s ", (int)n, line);
            text += strspn(text, " ");
            line = text;
            n = strcspn(text, "\n");
            text += n + (text[n] == '\n');
        }
        if (used) {
            n = used + (size_t)snprintf(prose + used, sizeof prose - used, "%.*s", (int)n, line);
            line = prose;
        }
        command = strncmp(first, "example: ", 9) == 0 || (command && *first == ' ');
        wrap_line(out, line, n, command ? 11 : indent, command ? " \\" : "");
    }
}

/* A scenario or campaign that is named without a path may be one that is shipped. False: it is neither that
 * nor a file, and a line says so. */
static bool find_shipped(const char *command, const char *what, const char **word) {
    static char path[FF_FILE_PATH];
    const bool campaign = what && strcmp(what, "campaign") == 0;
    const char *const kind = campaign ? "campaigns" : "scenarios";
    if (!campaign && strcmp(command, "rt") != 0 && (!what || strcmp(what, "scenario") != 0))
        return true;
    if (ff_shipped_find(kind, *word, path)) {
        *word = path;
        return true;
    }
    if (ff_shipped_find(campaign ? "scenarios" : "campaigns", *word, path)) {
        ff_cli_error("freefloat %s: '%s' is a %s that is shipped, allowed: a %s; freefloat %s takes it",
                     command, ff_show(*word).text, campaign ? "scenario" : "campaign",
                     campaign ? "campaign" : "scenario", campaign ? "run" : "campaign");
        return false;
    }
    struct stat there;
    char name[32][FF_SHIPPED_NAME];
    const int count = ff_shipped_names(kind, name, 32);
    if (strpbrk(*word, "/.") || strcmp(*word, "-") == 0 || stat(*word, &there) == 0 || errno != ENOENT ||
        !count)
        return true; /* a path: its reader says what is wrong */
    ff_names all = {"", 0};
    ff_guess guess = {.wrong = *word};
    for (int i = 0; i < count; i++) {
        ff_names_add(&all, name[i]);
        ff_guess_add(&guess, name[i]);
    }
    ff_cli_error("freefloat %s: there is no file '%s' and none of that name is shipped%s; shipped: %s",
                 command, ff_show(*word).text, ff_guess_hint(&guess).text, all.text);
    return false;
}

int ff_cli_parse(int argc, char **argv, const char *command, const char *help, const ff_option *options,
                 const char *what, const char **word, int *exit_status) {
    *exit_status = FF_EXIT_USAGE;
    if (word)
        *word = NULL;
    for (int i = 1; i < argc; i++) {
        const char *given = argv[i];
        if (strcmp(given, "--help") == 0 || strcmp(given, "-h") == 0) {
            ff_cli_wrapped(stdout, help);
            *exit_status = FF_EXIT_DONE;
            return 1;
        }
        if (given[0] != '-' || given[1] == 0) { /* "-" is the standard input */
            if (!word || *word) {
                ff_cli_error("freefloat %s: unexpected '%s'; see freefloat %s --help", command, given,
                             command);
                return 1;
            }
            *word = given;
            continue;
        }
        const char *equals = strchr(given, '=');
        const size_t length = equals ? (size_t)(equals - given) : strlen(given);
        const ff_option *option = find_option(options, given, length);
        if (!option) {
            refuse_option(command, options, given, length);
            return 1;
        }
        if (option->flag) {
            if (equals) {
                ff_cli_error("freefloat %s: %s takes no value", command, option->name);
                return 1;
            }
            *option->flag = true;
            silent = silent || strcmp(option->name, "--quiet") == 0;
            continue;
        }
        const char *value = equals              ? equals + 1
                            : option->otherwise ? option->otherwise
                            : i + 1 < argc      ? argv[++i]
                                                : NULL;
        if (!value) {
            ff_cli_error("freefloat %s: %s needs a value", command, option->name);
            return 1;
        }
        if (!take_value(command, option, value))
            return 1;
    }
    ff_cli_on_request(on_interrupt);
    if (word && *word && what && strcmp(what, "log") == 0 && strcmp(*word, "-") == 0) {
        ff_cli_error(
            "freefloat %s: a log is not read from the standard input, allowed: a file; scenarios and "
            "campaigns are",
            command);
        return 1;
    }
    if (word && *word && !find_shipped(command, what, word))
        return 1;
    if (!what || !word || *word)
        return 0;
    *exit_status = ff_cli_missing(command, what);
    return 1;
}

/* ------------------------------------------------------------------------------------------ progress -- */

void ff_progress_start(ff_progress *progress, const char *label, bool quiet) {
    *progress = (ff_progress){.label = label, .enabled = !quiet && isatty(STDERR_FILENO), .to = 1.0};
    progress->begin = progress->last = ff_clock_seconds();
}

void ff_progress_phase(ff_progress *progress, double from, double to, double amount, const char *unit) {
    progress->from = from;
    progress->to = to;
    progress->amount = amount;
    progress->unit = unit;
    progress->phase = ff_clock_seconds();
}

/* "12.3 k" */
static void short_number(double value, char text[16]) {
    static const char *const prefix[] = {"", " k", " M", " G"};
    int i = 0;
    for (; value >= 999.5 && i < 3; i++)
        value /= 1e3;
    snprintf(text, 16, "%.3g%s", value, prefix[i]);
}

bool ff_progress_update(void *self, double part) {
    ff_progress *progress = self;
    if (interrupted)
        return false;
    const double t = ff_clock_seconds(), done = part;
    if (!(done > 0.0)) /* nothing is done yet: what follows is timed from here */
        progress->phase = t;
    part = progress->from + part * (progress->to - progress->from);
    if (!progress->enabled || t - progress->begin < 1.0 || t - progress->last < 0.1)
        return true;
    progress->last = t;
    progress->shown = true;
    char bar[31];
    const int filled = (int)(30.0 * part);
    for (int i = 0; i < 30; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[30] = 0;
    /* of the last phase its own pace, which that of another says nothing of */
    const bool last = progress->to >= 1.0;
    const double reached = last ? done : part, since = t - (last ? progress->phase : progress->begin);
    fprintf(stderr, "\r%s [%s] %3.0f %%", progress->label, bar, 100.0 * part);
    if (progress->amount > 0.0 && t > progress->phase) {
        char rate[16];
        short_number(progress->amount * done / (t - progress->phase), rate);
        fprintf(stderr, "  %s %s/s", rate, progress->unit);
    }
    if (reached > 1e-3 && since > 0.0)
        fprintf(stderr, "  %.0f s left ", since * (1.0 - reached) / reached);
    fputs("\033[K", stderr);
    fflush(stderr);
    return true;
}

void ff_progress_clear(void) {
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}
void ff_progress_stop(ff_progress *progress) {
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

/* On stderr: stdout may be JSON. The token stands behind '#', which a browser never sends to anyone. */
void ff_cli_live(const ff_live *live, bool control) {
    static const char *const names[] = {"live", "foxglove", "ros"};
    static const char *const mark[] = {"#token=", "?token=", ""};
    for (; live; live = ff_live_next(live)) {
        const ff_live_kind kind = ff_live_get_kind(live);
        const bool token = control && *mark[kind];
        fprintf(stderr, "%s %s%s%s\n", names[kind], ff_live_url(live), token ? mark[kind] : "",
                token ? ff_live_token(live) : "");
    }
}

const char *ff_cli_door(const ff_live_doors *doors) {
    return doors->page ? "--live" : doors->foxglove ? "--foxglove" : doors->ros ? "--ros" : NULL;
}

bool ff_cli_doors(const char *command, ff_live_doors *doors) {
    static char loopback[32];
    if (doors->control && !doors->page && !doors->foxglove) {
        ff_cli_error("freefloat %s: --control needs --live or --foxglove; see freefloat %s --help", command,
                     command);
        return false;
    }
    if (doors->ros_allow && !doors->ros) {
        ff_cli_error("freefloat %s: --ros-allow needs --ros; see freefloat %s --help", command, command);
        return false;
    }
    if (doors->ros && strcmp(doors->ros, FF_CLI_ROS) == 0) {
        const char *domain = getenv("ROS_DOMAIN_ID");
        if (domain && *domain && (strspn(domain, "0123456789") != strlen(domain) || strlen(domain) > 3)) {
            ff_cli_error("ROS_DOMAIN_ID is '%s', allowed: 0 to 232", domain);
            return false;
        }
        snprintf(loopback, sizeof loopback, "127.0.0.1:%s", domain && *domain ? domain : "0");
        doors->ros = loopback;
    }
    return true;
}

bool ff_cli_colour(void) {
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

const char *ff_cli_green(void) {
    return ff_cli_colour() ? "\033[32m" : "";
}
const char *ff_cli_red(void) {
    return ff_cli_colour() ? "\033[31m" : "";
}
const char *ff_cli_bold(void) {
    return ff_cli_colour() ? "\033[1m" : "";
}
const char *ff_cli_plain(void) {
    return ff_cli_colour() ? "\033[0m" : "";
}
