#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "live/control.h"
#include "session.h"

static const char help[] =
    "usage: freefloat run FILE [options]\n\n"
    "Runs a scenario on the virtual facility in virtual time and writes summary.json, report.html and the "
    "logs.\n\n"
    "  --method M         ideal, direct, tdpa ...: instead of the file's\n"
    "  --set PATH=VALUE   overrides one key, e.g. contacts.front.damping=3 (may be given again)\n"
    "  --out DIR          folder for the files (default out/NAME)\n"
    "  --log LIST         csv, mcap or none, separated by commas (default csv)\n"
    "  --live ADDRESS     paces the run in wall-clock time and shows it on a page, e.g. 127.0.0.1:8080\n"
    "  --control          with --live: prints a token once; who has it may zero and tune from the page\n"
    "  --json             print the summary instead of the table\n"
    "  --strict           exit 1 when the verdict is fail\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 done, 1 the run failed, 2 bad usage or scenario\n"
    "example: freefloat run scenarios/deos-client.yaml --method direct --set "
    "satellites.client.robot.delay=0.02\n";

static int start_live(ff_live_control *control, ff_session *session, const char *address, bool token,
                      ff_session_options *options) {
    char message[256] = "no memory";
    if (session->scenario.emulates) {
        ff_cli_error("--live: emulations have no live page yet; their report shows them");
        return FF_EXIT_USAGE;
    }
    if (!control ||
        ff_live_control_start(control, &session->scenario, address, token, message, sizeof message) < 0) {
        ff_cli_error("--live: %s", message);
        return FF_EXIT_USAGE;
    }
    control->interrupted = ff_cli_interrupted;
    options->extra = ff_live_control_sink(control);
    options->between = ff_live_control_between;
    options->between_user = control;
    ff_cli_live(control->live, token);
    return FF_EXIT_DONE;
}

static void end_live(ff_live_control *control, const ff_session *session) {
    if (control->live) {
        const double t = (double)session->run.cycles * session->scenario.cycle;
        const bool fault = session->run.status < 0 && !control->stopped && !ff_cli_interrupted();
        if (fault)
            ff_live_event(control->live, FF_LIVE_ALARM, t, session->run.message);
        else if (session->summary)
            ff_live_event(control->live, session->metrics.pass ? FF_LIVE_INFO : FF_LIVE_WARNING, t,
                          session->metrics.pass
                              ? "ended: every requirement is met"
                              : "ended: not every requirement is met, the report says which");
        ff_live_set_phase(control->live, fault                                      ? FF_LIVE_FAULT
                                         : control->stopped || ff_cli_interrupted() ? FF_LIVE_STOPPED
                                                                                    : FF_LIVE_ENDED);
        ff_live_control_stop(control);
    }
    free(control);
}

int ff_cmd_run(int argc, char **argv) {
    const char *file = NULL, *method = NULL, *out = NULL, *log = "csv", *live = NULL, *sets[FF_MAX_SETS];
    int set_count = 0, words, status;
    bool json = false, strict = false, quiet = false, token = false;
    const ff_option options[] = {
        {"--method", &method, NULL, NULL, NULL}, {"--set", NULL, NULL, sets, &set_count},
        {"--out", &out, NULL, NULL, NULL},       {"--log", &log, NULL, NULL, NULL},
        {"--json", NULL, &json, NULL, NULL},     {"--strict", NULL, &strict, NULL, NULL},
        {"--quiet", NULL, &quiet, NULL, NULL},   {"--live", &live, NULL, NULL, NULL},
        {"--control", NULL, &token, NULL, NULL},
    };
    if (ff_cli_parse(argc, argv, options, sizeof options / sizeof *options, help, &file, 1, &words, &status))
        return status;
    if (!file) {
        ff_cli_error("freefloat run: which scenario? see freefloat run --help");
        return FF_EXIT_USAGE;
    }
    if (token && !live) {
        ff_cli_error("freefloat run: --control needs --live; see freefloat run --help");
        return FF_EXIT_USAGE;
    }
    ff_session_options session_options = {.quiet = quiet || json};
    if (ff_session_logs(log, &session_options) != 0)
        return FF_EXIT_USAGE;
    const ff_scenario_options load = {.set = sets, .sets = set_count, .method = method};
    ff_session *session = calloc(1, sizeof *session);
    if (!session)
        return FF_EXIT_FAILED;
    status = ff_session_load(session, file, &load);
    if (status == FF_EXIT_DONE) {
        char *folder = ff_session_folder(out, session->scenario.name, NULL);
        session_options.out = folder;
        ff_live_control *control = live ? calloc(1, sizeof *control) : NULL;
        status = live ? start_live(control, session, live, token, &session_options) : FF_EXIT_DONE;
        if (status == FF_EXIT_DONE)
            status = ff_session_execute(session, &session_options);
        if (control)
            end_live(control, session);
        if (session->summary) {
            const ff_session *one = session;
            if (ff_session_report(&one, 1, folder) != 0 && status == FF_EXIT_DONE)
                status = FF_EXIT_FAILED;
            if (json)
                fputs(session->summary, stdout);
            else if (!quiet) {
                ff_session_print(session);
                printf("report %s/report.html\n", folder);
            }
            if (strict && status == FF_EXIT_DONE && !session->metrics.pass)
                status = FF_EXIT_FAILED;
        }
        free(folder);
        ff_session_free(session);
    }
    free(session);
    return status;
}
