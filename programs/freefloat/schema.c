/* freefloat schema: the scenario's keys as a JSON Schema, for editors. */
#include <stdbool.h>

#include "cli.h"
#include "commands.h"
#include "scenario/json_schema.h"

static const char help[] =
    "usage: freefloat schema\n\n"
    "Prints the JSON Schema (draft 2020-12) of scenario files, made from the table that reads them: an "
    "editor "
    "then completes keys, explains them and marks mistakes. With a YAML language server the first line\n"
    "  # yaml-language-server: $schema=scenario.schema.json\n"
    "of a scenario names the file. What a schema cannot say (names that must exist, an inertia that is not "
    "physical) freefloat check says.\n\n"
    "exit status: 0 done, 1 it could not be printed, 2 bad usage\n"
    "example: freefloat schema > scenario.schema.json\n";

int ff_cmd_schema(int argc, char **argv) {
    int status;
    const ff_option options[] = {{0}};
    if (ff_cli_parse(argc, argv, "schema", help, options, NULL, NULL, &status))
        return status;
    return ff_cli_json(ff_scenario_json_schema());
}
