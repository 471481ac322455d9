/* freefloat: the command line. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "catalog/watch.h"
#include "cli.h"
#include "commands.h"
#include "scenario/reader.h"
#include "text/file.h"
#include "text/shipped.h"
#include "text/version.h"

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} command;

static const command commands[] = {
    {"check", ff_cmd_check, "is a scenario valid; if not, every mistake"},
    {"schema", ff_cmd_schema, "the scenario's keys as a JSON Schema, for editors"},
    {"run", ff_cmd_run, "run a scenario on the virtual facility"},
    {"compare", ff_cmd_compare, "the same scenario under several methods, one report"},
    {"papers", ff_cmd_papers, "rerun the published cases, paper beside ours"},
    {"campaign", ff_cmd_campaign, "many runs over varied parameters, on threads and under mpirun"},
    {"analyze", ff_cmd_analyze,
     "ask before anything moves: contact stability, delay margin, workspace, logs"},
    {"rt", ff_cmd_rt, "the same scenario in wall-clock time on its devices"},
    {"facility", ff_cmd_facility, "the virtual facility as devices: RSI or RTDE robot, ATI sensor"},
    {"guard", ff_cmd_guard, "an independent watch between a controller and rt that stops the robot"},
    {"replay", ff_cmd_replay,
     "feed a log's inputs to the loop again: the same bits, or the first difference"},
    {"export", ff_cmd_export, "turn a log into CSV or MATLAB files"},
    {"view", ff_cmd_view, "a recorded run on the live page"},
    {"playground", ff_cmd_playground, "write the page that runs every method in a browser"},
    {"runs", ff_cmd_runs, "the runs that are kept: list, compare, remove"},
    {"verify", ff_cmd_verify, "is a run still what its manifest says, does its log give the same bits"},
};

static void usage(FILE *out) {
    fputs("freefloat - makes a position-controlled robot move as a satellite floats\n\n"
          "usage: freefloat COMMAND [options]      (freefloat COMMAND --help explains one)\n\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[160];
        snprintf(line, sizeof line, "  %-11s %s\n", commands[i].name, commands[i].help);
        ff_cli_wrapped(out, line);
    }
    ff_cli_wrapped(out,
                   "\nexample: freefloat compare scenarios/deos-client.yaml --methods ideal,direct,tdpa\n");
    char folder[FF_FILE_PATH];
    if (ff_shipped_installed(folder))
        fprintf(out, "docs/, scenarios/, campaigns/ and examples/ are in %s\n", folder);
}

static int run_command(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return FF_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        usage(stdout);
        return FF_EXIT_DONE;
    }
    char explain[] = "--help", *asked[] = {argv[0], argv[argc > 2 ? 2 : 1], explain, NULL};
    if (strcmp(argv[1], "help") == 0) { /* help COMMAND */
        argc = 3;
        argv = asked;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("freefloat %s\n", ff_version());
        return FF_EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    ff_guess guess = {.wrong = argv[1]};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        ff_guess_add(&guess, commands[i].name);
    ff_guess_add(&guess, "--help");
    ff_guess_add(&guess, "--version");
    ff_cli_error("freefloat: unknown command '%s'%s; freefloat --help lists them", ff_show(argv[1]).text,
                 ff_guess_hint(&guess).text);
    return FF_EXIT_USAGE;
}

/* What was printed has arrived, or the command has failed. */
static int close_output(int status) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    ff_cli_error("freefloat: the standard output cannot be written (%s)", strerror(errno ? errno : EIO));
    return status == FF_EXIT_DONE ? FF_EXIT_FAILED : status;
}

/* Where the caller closed a standard stream, the next file would take its number, and what is printed would
 * stand in a log. What takes its place fails as a closed one does. */
static bool hold_streams(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

/* A write to the standard output that is interrupted is no failure. */
static bool open_output(void) {
    static const int standard = STDOUT_FILENO;
    FILE *stream = ff_file_stream(&standard);
    if (!stream || setvbuf(stream, NULL, isatty(standard) ? _IOLBF : _IOFBF, BUFSIZ) != 0)
        return false;
    stdout = stream;
    return true;
}

int main(int argc, char **argv) {
    if (!hold_streams() || !open_output())
        return FF_EXIT_FAILED;
    signal(SIGXFSZ, SIG_IGN); /* a file that cannot grow is an error to report, as a full disk is */
    ff_cli_started(argc, argv);
    const int status = close_output(run_command(argc, argv));
    ff_watch_end(status);
    return status;
}
