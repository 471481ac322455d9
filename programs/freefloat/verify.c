/* freefloat verify: is a run still what its manifest says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <stdio.h>
#include <string.h>

#include "catalog/library.h"
#include "cli.h"
#include "commands.h"
#include "runs/list.h"
#include "text/json.h"

static const char help[] = "usage: freefloat verify DIR\n\n"
                           "Takes the SHA-256 of every input and result of a run again, compares them with\n"
                           "its manifest.json (docs/runs.md), and replays each log.mcap bit for bit. An\n"
                           "input that has changed since is named, and is no fault of the results. DIR may\n"
                           "also be NAME/ID or an ID of freefloat runs.\n\n"
                           "  --trust       runs a method library that a log names: code of whoever made it\n"
                           "  --json        print the findings as JSON\n"
                           "  --quiet       print nothing but errors\n\n"
                           "exit status: 0 the same, 1 something differs, 2 bad usage or not a complete run\n"
                           "example: freefloat run wall.yaml --log csv,mcap && freefloat verify out/wall\n";

typedef struct output {
    bool json, quiet;
    ff_json text;
} output;

static void take(void *user, const ff_run_finding *f) {
    output *o = user;
    const bool other = strcmp(f->kind, "other") == 0;
    ff_json_open(&o->text, NULL, '{');
    ff_json_string(&o->text, "kind", f->kind);
    ff_json_string(&o->text, "what", f->what);
    ff_json_string(&o->text, "recorded", f->a);
    ff_json_string(&o->text, "found", f->b);
    ff_json_bool(&o->text, "same", f->good);
    ff_json_close(&o->text, '}');
    if (o->json)
        return;
    if (!f->good && strcmp(f->kind, "input") != 0)
        ff_cli_error("%s %s differs: recorded %.64s, found %s", f->kind, f->what, f->a, f->b);
    else if (!o->quiet && !f->good)
        ff_cli_line("input   %s %s: %s", f->what,
                    strchr(f->b, ' ') ? /* no hash */ "is not where it was" : "has changed since", f->b);
    else if (!o->quiet && strcmp(f->kind, "log") == 0)
        ff_cli_line("log     %s replayed: %s", f->what, f->b);
    else if (!o->quiet)
        ff_cli_line("%-7s %s%s", f->kind, f->what, other ? " is not of this run" : ": same");
}

int ff_cmd_verify(int argc, char **argv) {
    const char *word = NULL;
    int status;
    output o = {0};
    bool trust = false;
    const ff_option options[] = {FF_OPT_FLAG("--trust", &trust),
                                 FF_OPT_FLAG("--json", &o.json),
                                 FF_OPT_FLAG("--quiet", &o.quiet),
                                 {0}};
    if (ff_cli_parse(argc, argv, "verify", help, options, "run", &word, &status))
        return status;
    char path[FF_FILE_PATH],
        message[256] = "there is no such folder, and no such run; freefloat runs lists them";
    ff_run_verify result = {0};
    ff_json_init(&o.text, true);
    ff_json_open(&o.text, NULL, '{');
    ff_json_open(&o.text, "findings", '[');
    const bool found = ff_runs_find(word, path);
    if (!found && errno != ENOENT)
        snprintf(message, sizeof message, "it cannot be looked at (%s)", strerror(errno));
    const ff_status verified = found
                                   ? ff_runs_verify(path, trust ? &ff_catalog_libraries : &ff_catalog_strange,
                                                    take, &o, &result, message, sizeof message)
                                   : FF_ERR_IO;
    ff_json_close(&o.text, ']');
    ff_json_bool(&o.text, "same", result.different == 0);
    ff_json_integer(&o.text, "checked", result.checked);
    ff_json_integer(&o.text, "different", result.different);
    ff_json_integer(&o.text, "inputs_changed", result.changed);
    ff_json_integer(&o.text, "replayed", result.replayed);
    ff_json_close(&o.text, '}');
    if (verified != FF_OK) {
        ff_json_free(&o.text);
        ff_cli_error("%s: %s", word, message);
        return verified == FF_ERR_MEMORY ? FF_EXIT_FAILED : FF_EXIT_USAGE;
    }
    status = result.different ? FF_EXIT_FAILED : FF_EXIT_DONE;
    char *const text = ff_json_take(&o.text);
    if (o.json && ff_cli_json(text) != FF_EXIT_DONE)
        status = FF_EXIT_FAILED;
    if (!o.json)
        ff_json_free(&(ff_json){.text = text});
    if (!o.json && !o.quiet)
        ff_cli_line("%s: %s%s%s", word,
                    result.different ? "something differs, or could not be replayed" : "the same bits",
                    result.changed ? "; not every input is what it was" : "",
                    result.replayed || result.different ? ""
                                                        : " (no log.mcap to replay: run with --log mcap)");
    return status;
}
