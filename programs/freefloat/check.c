/* freefloat check: is a scenario valid, and if not, every mistake. Nothing runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/library.h"
#include "cli.h"
#include "commands.h"
#include "session/sandbox.h"
#include "session/session.h"
#include "session/variant.h"
#include "text/file.h"
#include "text/json.h"

static const char help[] =
    "usage: freefloat check FILE [options]\n\n"
    "Says whether a scenario is valid and its method can run it, up to the first cycle; otherwise every "
    "mistake, a line\n"
    "each. Nothing moves, and a method library must be there but is not loaded: its settings stay "
    "unchecked.\n\n"
    "  --method M         as with freefloat run\n"
    "  --set PATH=VALUE   overrides one value; may be given again\n"
    "  --trust            load the method library that the scenario names and check its settings\n"
    "  --json             print the result as JSON\n"
    "  --quiet            print nothing but mistakes\n"
    "  --sandbox          for a stranger's scenario: as with freefloat run\n\n"
    "exit status: 0 valid, 1 the result could not be printed, 2 bad usage or not valid\n"
    "example: freefloat check scenarios/deos-client.yaml --method fused\n";

typedef struct verdict {
    ff_variant variant; /* of --method METHOD:key=value */
    ff_scenario scenario;
    bool valid;
    char mistakes[16384], warnings[4096];
    ff_notes notes;
} verdict;

static void put_lines(ff_json *json, const char *key, char *lines) {
    ff_json_open(json, key, '[');
    for (char *line = lines, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        const char last = *end;
        *end = 0;
        ff_json_string(json, NULL, line);
        if (last)
            *end++ = last;
    }
    ff_json_close(json, ']');
}

static int print_json(const char *file, verdict *v) {
    const ff_scenario *s = &v->scenario;
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "file", file);
    ff_json_bool(&json, "valid", v->valid);
    if (v->valid) {
        ff_json_string(&json, "scenario", s->name);
        ff_json_string(&json, "method", *s->unchecked ? NULL : ff_scenario_method_name(s));
        ff_json_string(&json, "method_library",
                       *s->unchecked            ? s->unchecked
                       : ff_scenario_library(s) ? ff_scenario_library(s)->path
                                                : NULL);
        ff_json_bool(&json, "settings_unchecked", *s->unchecked != 0);
        ff_json_integer(&json, "satellites", s->satellites);
        ff_json_integer(&json, "contacts", s->contacts);
        ff_json_integer(&json, "loads", s->loads);
        ff_json_integer(&json, "cycles", (long long)s->cycles);
        ff_json_number(&json, "cycle_s", s->cycle);
    }
    put_lines(&json, "mistakes", v->mistakes);
    put_lines(&json, "warnings", v->warnings);
    ff_json_close(&json, '}');
    return ff_cli_json(ff_json_take(&json));
}

static void print_line(const char *file, const verdict *v) {
    const ff_scenario *s = &v->scenario;
    char text[FF_FILE_PATH] = "an emulation";
    if (!s->emulates)
        snprintf(text, sizeof text, "%s%s%s, %d satellite%s, %d contact%s",
                 *s->unchecked ? "method library " : "method ",
                 *s->unchecked ? s->unchecked : ff_scenario_method_name(s),
                 *s->unchecked ? ", settings unchecked" : "", s->satellites, s->satellites == 1 ? "" : "s",
                 s->contacts, s->contacts == 1 ? "" : "s");
    ff_cli_line("%s: valid: %s, %llu cycles of %.9g s", file, text, (unsigned long long)s->cycles, s->cycle);
}

int ff_cmd_check(int argc, char **argv) {
    const char *file = NULL, *method = NULL, *sets[FF_MAX_SETS];
    int count = 0, status;
    bool trust = false, json = false, quiet = false, sandbox = false;
    const ff_option options[] = {FF_OPT("--method", &method),
                                 FF_OPT_LIST("--set", sets, &count),
                                 FF_OPT_FLAG("--trust", &trust),
                                 FF_OPT_FLAG("--json", &json),
                                 FF_OPT_FLAG("--quiet", &quiet),
                                 FF_OPT_FLAG("--sandbox", &sandbox),
                                 {0}};
    if (ff_cli_parse(argc, argv, "check", help, options, "scenario", &file, &status))
        return status;
    char message[FF_FILE_PATH + 200];
    if (sandbox && ff_sandbox_enter(file, message, sizeof message) != FF_OK) {
        ff_cli_error("%s", message);
        return FF_EXIT_USAGE;
    }
    verdict *v = calloc(1, sizeof *v);
    if (!v) {
        ff_cli_error("freefloat check: no memory");
        return FF_EXIT_FAILED;
    }
    const ff_scenario_options load = {.set = sets,
                                      .sets = count,
                                      .method = method,
                                      .catalog = sandbox ? &ff_sandbox_catalog
                                                 : trust ? &ff_catalog_libraries
                                                         : &ff_catalog_closed,
                                      .all = true};
    const char *all[FF_LOG_MAX_SETS + FF_VARIANT_SETS];
    ff_scenario_options made;
    v->valid = ff_variant_options(&load, &v->variant, all, &made, v->mistakes, sizeof v->mistakes) &&
               ff_scenario_load(file, &made, &v->scenario, v->mistakes, sizeof v->mistakes, v->warnings,
                                sizeof v->warnings) == FF_OK;
    if (v->valid && sandbox && !ff_sandbox_allows(&v->scenario, message, sizeof message)) {
        v->valid = false;
        snprintf(v->mistakes, sizeof v->mistakes, "%s: %s", file, message);
    }
    if (v->valid) { /* what only the run itself refuses, before its first cycle */
        ff_notes_clear(&v->notes);
        v->valid = ff_session_prepare(&v->scenario, &v->notes) == FF_DONE;
        snprintf(v->mistakes, sizeof v->mistakes, "%.*s", (int)strcspn(v->notes.error, "\n"), v->notes.error);
    }
    status = FF_EXIT_DONE;
    if (json)
        status = print_json(file, v);
    else {
        ff_cli_warn_lines(v->warnings);
        if (!v->valid)
            ff_cli_lines(v->mistakes);
        else if (!quiet)
            print_line(file, v);
    }
    if (!v->valid)
        status = FF_EXIT_USAGE;
    free(v);
    return status;
}
