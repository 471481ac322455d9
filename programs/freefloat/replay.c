#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/library.h"
#include "commands.h"
#include "record/replay.h"
#include "text/version.h"
#include "text/json.h"
#include "show.h"

static const char help[] =
    "usage: freefloat replay LOG\n\n"
    "Feeds the inputs recorded in a log.mcap to the loop and compares what comes out with what was recorded, "
    "bit "
    "for bit.\n\n"
    "  --trust            runs a method library that the log names: code of whoever made it\n"
    "  --json             print the result as JSON\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 the same bits (of a log that was cut off: of the rows that it holds, with a warning),\n"
    "1 a difference (its cycle and column are printed), 2 bad usage or log\n"
    "example: freefloat run scenarios/wall.yaml --log mcap && freefloat replay out/wall/log.mcap\n";

static int print_json(const char *path, const ff_scenario *scenario, const ff_replay_result *result) {
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "log", path);
    ff_json_integer(&json, "cycles", (long long)result->cycles);
    ff_json_bool(&json, "same", !result->differs);
    ff_json_bool(&json, "cut", result->cut);
    if (result->differs) {
        ff_json_integer(&json, "cycle", (long long)result->cycle);
        ff_json_number(&json, "t_s", (double)result->cycle * scenario->cycle);
        ff_json_string(&json, "column", result->column);
        ff_json_number(&json, "recorded", result->recorded);
        ff_json_number(&json, "replayed", result->replayed);
    }
    ff_json_close(&json, '}');
    return ff_cli_json(ff_json_take(&json));
}

int ff_cmd_replay(int argc, char **argv) {
    const char *path = NULL;
    int exit_status;
    bool quiet = false, json = false, trust = false;
    const ff_option options[] = {
        FF_OPT_FLAG("--trust", &trust), FF_OPT_FLAG("--quiet", &quiet), FF_OPT_FLAG("--json", &json), {0}};
    if (ff_cli_parse(argc, argv, "replay", help, options, "log", &path, &exit_status))
        return exit_status;
    char message[1024] = "";
    ff_logfile file;
    ff_scenario *scenario = malloc(sizeof *scenario);
    ff_replay_result result = {0};
    ff_status status = scenario ? ff_logfile_open(path, &file, message, sizeof message) : FF_ERR_MEMORY;
    if (status != FF_OK) {
        ff_cli_error("%s: %s", path, *message ? message : ff_status_text(status));
        free(scenario);
        return FF_EXIT_USAGE;
    }
    status = ff_replay_check(&file, message, sizeof message);
    if (status == FF_OK && strcmp(file.version, ff_version()) != 0)
        ff_cli_error(
            "warning: %s: written by version %s, replayed by %s: if bits differ, replay it with that version",
            path, file.version, ff_version());
    if (status == FF_OK)
        status = ff_logfile_scenario(&file, trust ? &ff_catalog_libraries : &ff_catalog_strange, scenario,
                                     message, sizeof message);
    if (status == FF_OK) {
        ff_progress progress;
        ff_progress_start(&progress, "replay", quiet || json);
        ff_progress_phase(&progress, 0.0, 1.0, (double)scenario->cycles, "cycles");
        file.progress = ff_progress_update;
        file.user = &progress;
        status = ff_replay(&file, scenario, &result, message, sizeof message);
        ff_progress_stop(&progress);
    }
    ff_logfile_close(&file);
    if (status != FF_OK) {
        ff_cli_error("%s: %s", path, message);
        exit_status = status == FF_ERR_LIMIT ? FF_EXIT_FAILED : FF_EXIT_USAGE;
    } else if (json) {
        exit_status = print_json(path, scenario, &result);
        if (result.differs)
            exit_status = FF_EXIT_FAILED;
    } else if (result.differs) {
        ff_cli_line("cycle %llu (%.3f s): %s differs: recorded %.17g, replayed %.17g, difference %.3g",
                    (unsigned long long)result.cycle, (double)result.cycle * scenario->cycle, result.column,
                    result.recorded, result.replayed, result.replayed - result.recorded);
        exit_status = FF_EXIT_FAILED;
    } else {
        if (result.cut)
            ff_cli_error("warning: %s: the log was cut off: its writer did not close it", path);
        if (!quiet)
            printf("%llu cycles replayed, the same bits%s\n", (unsigned long long)result.cycles,
                   result.cut ? " (of what the log holds)" : "");
        exit_status = FF_EXIT_DONE;
    }
    free(scenario);
    return exit_status;
}
