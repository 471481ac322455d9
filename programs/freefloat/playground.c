/* freefloat playground: writes the page that runs every method in a browser. The page is built beside the
 * modules (tools/playground.sh); this copies it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "cli.h"
#include "commands.h"
#include "text/file.h"
#include "text/module.h"

static const char help[] =
    "usage: freefloat playground [--out FILE] [options]\n\n"
    "Writes one static page, without network: six satellites, one for each method, meet the same wall side "
    "by "
    "side,\n"
    "with sliders, the scenario's text and its check. It runs this program, compiled for the browser: the "
    "same digits.\n\n"
    "  --out FILE         where (default playground.html)\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 written, 1 it was not built or cannot be written, 2 bad usage\n"
    "example: freefloat playground --out playground.html\n";

enum { PAGE_BYTES = 8 << 20, REASON_BYTES = 4096 };

/* Why there is no page: what the build said, if it came so far. */
static void explain(void) {
    char path[FF_FILE_PATH], *reason = NULL;
    size_t length;
    if (ff_module_path("playground.html.missing", path, sizeof path))
        ff_file_read_own(path, REASON_BYTES, &reason, &length, NULL, 0);
    if (reason)
        reason[strcspn(reason, "\n")] = 0;
    ff_cli_error("freefloat playground: the page was not built: %s",
                 reason && *reason ? reason : "run make playground in the source tree");
    free(reason);
}

int ff_cmd_playground(int argc, char **argv) {
    const char *out = "playground.html";
    bool quiet = false;
    int status;
    const ff_option options[] = {FF_OPT("--out", &out), FF_OPT_FLAG("--quiet", &quiet), {0}};
    if (ff_cli_parse(argc, argv, "playground", help, options, NULL, NULL, &status))
        return status;
    char path[FF_FILE_PATH], why[256] = "", *page = NULL;
    size_t length;
    if (!ff_module_path("playground.html", path, sizeof path)) {
        explain();
        return FF_EXIT_FAILED;
    }
    if (ff_file_read_own(path, PAGE_BYTES, &page, &length, why, sizeof why) != FF_OK) {
        ff_cli_error("freefloat playground: %s: %s", path, why);
        return FF_EXIT_FAILED;
    }
    const ff_status written = ff_file_replace(out, page);
    free(page);
    if (written != FF_OK) {
        ff_cli_error("%s: cannot be written (%s)", out, strerror(errno));
        return FF_EXIT_FAILED;
    }
    if (!quiet)
        ff_cli_line("%s: %.2f MB; open it in a browser", out, 1e-6 * (double)length);
    return FF_EXIT_DONE;
}
