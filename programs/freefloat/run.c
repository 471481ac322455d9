#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/library.h"
#include "commands.h"
#include "live/control.h"
#include "session/sandbox.h"
#include "show.h"
#include "text/file.h"

static const char help[] =
    "usage: freefloat run FILE [options]\n\n"
    "Runs a scenario on the virtual facility in virtual time and writes summary.json, report.html and the "
    "logs.\n\n"
    "  --method M         ideal, direct, tdpa ...: instead of the file's\n"
    "  --set PATH=VALUE   overrides one key, e.g. contacts.front.damping=3 (may be given again)\n"
    "  --out DIR          folder for the files (default out/NAME): new, empty, or a complete run's\n"
    "  --force            also into a folder that is something else's, or a run's that was not completed\n"
    "  --log LIST         csv, mcap (zstd chunks where libzstd is there),\n"
    "                     mcap-plain or none, separated by commas (default csv)\n"
    "  --live ADDRESS     paces the run in wall-clock time and shows it on a page, e.g. "
    "127.0.0.1:8080\n" FF_CLI_DOORS_HELP "  --json             print the summary instead of the table\n"
    "  --strict           exit 1 when the verdict is fail\n"
    "  --quiet            print nothing but errors\n"
    "  --sandbox          for a stranger's scenario: no library, no file outside its folder, no network; at "
    "most\n"
    "                     2 GiB of memory, 600 s of processor time, 1 GiB for a file\n\n"
    "exit status: 0 done, 1 the run failed, 2 bad usage or scenario\n"
    "example: freefloat run scenarios/deos-client.yaml --method direct --set "
    "satellites.client.robot.delay=0.02\n";

static int start_live(ff_live_control *control, ff_session *session, ff_live_doors *doors,
                      ff_session_options *options) {
    char message[256] = "no memory";
    if (session->scenario.emulates) {
        ff_cli_error("%s: emulations have no live page yet; their report shows them", ff_cli_door(doors));
        return FF_EXIT_USAGE;
    }
    doors->description = ff_session_description(session);
    if (!control || ff_live_control_start(control, &session->scenario, doors, message, sizeof message) < 0) {
        ff_cli_error("%s", message);
        return FF_EXIT_USAGE;
    }
    control->interrupted = ff_cli_interrupted;
    options->extra = ff_live_control_sink(control);
    options->between = ff_live_control_between;
    options->between_user = control;
    ff_cli_live(control->live, doors->control);
    return FF_EXIT_DONE;
}

static void end_live(ff_live_control *control, const ff_session *session) {
    if (control->live) {
        const double t = (double)session->run.cycles * session->scenario.cycle;
        const bool fault = session->run.status < 0 && !control->stopped && !ff_cli_interrupted();
        if (fault)
            ff_live_event(control->live, FF_LIVE_ALARM, t, session->run.message);
        else if (session->summary)
            ff_show_verdict_live(session, control->live);
        ff_live_set_phase(control->live, fault                                      ? FF_LIVE_FAULT
                                         : control->stopped || ff_cli_interrupted() ? FF_LIVE_STOPPED
                                                                                    : FF_LIVE_ENDED);
        ff_live_control_stop(control);
    }
    free(control);
}

static int run_session(ff_session *session, const ff_show_ask *ask, ff_session_options *options,
                       ff_live_doors *doors) {
    const bool live = ff_cli_door(doors) != NULL;
    ff_live_control *control = live ? calloc(1, sizeof *control) : NULL;
    ff_session_claim claim;
    ff_notes notes = {.error = ""};
    int status =
        (int)ff_session_claim_folder(session, ask->out, ask->force, ff_cli_program(), &claim, &notes);
    ff_show_notes(&notes);
    if (status == FF_EXIT_DONE && live) /* nobody is shown a run that is refused */
        status = start_live(control, session, doors, options);
    options->out = claim.folder.path;
    if (status == FF_EXIT_DONE)
        status = ff_show_execute(session, options, ask->quiet || ask->json);
    if (control)
        end_live(control, session);
    if (claim.folder.lock >= 0)
        status = ff_show_result(session, &claim.folder, ask, status,
                                ff_cli_interrupted() && session->run.status < 0, NULL, NULL);
    ff_session_claim_free(&claim);
    return status;
}

int ff_cmd_run(int argc, char **argv) {
    const char *file, *method = NULL;
    int status;
    bool sandbox = false;
    ff_live_doors doors = {0};
    ff_show_ask ask = {.log = "csv"};
    const ff_option options[] = {FF_OPT("--method", &method),
                                 FF_SHOW_OPTS(&ask),
                                 FF_CLI_DOORS(&doors),
                                 FF_OPT_FLAG("--sandbox", &sandbox),
                                 {0}};
    if (ff_cli_parse(argc, argv, "run", help, options, "scenario", &file, &status))
        return status;
    if (!ff_cli_doors("run", &doors))
        return FF_EXIT_USAGE;
    const char *live = ff_cli_door(&doors);
    if (sandbox && live) {
        ff_cli_error("freefloat run: %s needs a socket, which --sandbox does not give", live);
        return FF_EXIT_USAGE;
    }
    char message[FF_FILE_PATH + 200];
    if (sandbox && ff_sandbox_enter(file, message, sizeof message) != FF_OK) {
        ff_cli_error("%s", message);
        return FF_EXIT_USAGE;
    }
    ff_session_options session_options = {0};
    if (ff_show_logs(ask.log, &session_options) != 0)
        return FF_EXIT_USAGE;
    const ff_scenario_options load = {.set = ask.set,
                                      .sets = ask.sets,
                                      .method = method,
                                      .catalog = sandbox ? &ff_sandbox_catalog : &ff_catalog_libraries};
    ff_session *session = ff_show_open(file, &load, &status);
    if (!session)
        return status;
    if (sandbox && !ff_sandbox_allows(&session->scenario, message, sizeof message)) {
        ff_cli_error("%s: %s", file, message);
        ff_session_close(session);
        return FF_EXIT_USAGE;
    }
    if (!session->scenario.method && !session->scenario.emulates && ff_scenario_bounded(&session->scenario))
        ff_cli_warn_lines("warning: 'limits' and 'safety' do not act under method ideal: it has no robots");
    status = run_session(session, &ask, &session_options, &doors);
    ff_session_close(session);
    return status;
}
