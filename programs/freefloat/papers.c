#include "commands.h"

#include "cli.h"

int ff_cmd_papers(int argc, char **argv) {
    (void)argc;
    (void)argv;
    ff_cli_error("freefloat papers: not yet");
    return FF_EXIT_USAGE;
}
