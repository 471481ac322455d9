#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/library.h"
#include "analyze.h"
#include "session/identify.h"
#include "show.h"

static const char help[] =
    "usage: freefloat analyze log FILE --identify delay|contact|payload [options]\n\n"
    "What a recorded run (log.csv, log.mcap) says of the facility, each number with its standard deviation:\n"
    "  delay      the robot's pure delay, apart from its lag: command against robot pose\n"
    "  contact    stiffness and damping of what was touched: robot motion against measured force\n"
    "  payload    mass and centre of mass of the mock-up, and the sensor's bias: raw reading against "
    "gravity\n\n"
    "  --body NAME          only this satellite (default all)\n"
    "  --delay-max S        [s] delay: largest that is tried (default 0.5, maximum a quarter of the log)\n"
    "  --skew S             [s] contact: by how much the force is older than the pose (default 0)\n"
    "  --scenario FILE      payload: gravity and the sensor's place from this scenario (an MCAP log brings "
    "its own)\n"
    "  --gravity X,Y,Z      [m/s2] payload: instead (default 0,0,-9.81)\n"
    "  --json               print one JSON object\n"
    "  --quiet              print nothing but errors\n\n"
    "exit status: 0 done, 1 nothing could be identified, 2 bad usage or log\n"
    "example: freefloat analyze log out/deos-client/log.csv --identify delay\n";

static bool read_gravity(const char *text, ff_vec3 *g) {
    char part[64];
    for (int i = 0; i < 3; i++) {
        const size_t n = strcspn(text, ",");
        if (n == 0 || n >= sizeof part || (i < 2) != (text[n] == ','))
            return false;
        memcpy(part, text, n);
        part[n] = 0;
        if (!ff_cli_number(part, &g->a[i]))
            return false;
        text += n + 1;
    }
    return true;
}

int ff_analyze_log(int argc, char **argv) {
    const char *file = NULL, *what = NULL, *body = NULL, *delay_max = NULL, *skew = NULL, *scenario = NULL,
               *gravity = NULL;
    int status;
    bool json = false, quiet = false;
    const ff_option options[] = {
        FF_OPT("--identify", &what),  FF_OPT("--body", &body),         FF_OPT("--delay-max", &delay_max),
        FF_OPT("--skew", &skew),      FF_OPT("--scenario", &scenario), FF_OPT("--gravity", &gravity),
        FF_OPT_FLAG("--json", &json), FF_OPT_FLAG("--quiet", &quiet),  {0}};
    if (ff_cli_parse(argc, argv, "analyze log", help, options, "log", &file, &status))
        return status;
    ff_log_identify_config r = {.file = file,
                                .body = body,
                                .delay_max = FF_NAN,
                                .gravity = {{0, 0, -9.81}},
                                .catalog = &ff_catalog_closed}; /* nothing runs */
    if (!what || !ff_log_identify_parse(what, &r.what)) {
        ff_cli_error("freefloat analyze log: --identify %s%s%s, allowed: delay, contact, payload",
                     what ? "'" : "is missing", what ? what : "", what ? "'" : "");
        return FF_EXIT_USAGE;
    }
    if (delay_max && (!ff_cli_number(delay_max, &r.delay_max) || !(r.delay_max > 0.0))) {
        ff_cli_error("freefloat analyze log: --delay-max '%s', allowed: > 0 [s]", delay_max);
        return FF_EXIT_USAGE;
    }
    if (skew && (!ff_cli_number(skew, &r.skew) || !(r.skew >= 0.0))) {
        ff_cli_error("freefloat analyze log: --skew '%s', allowed: >= 0 [s]", skew);
        return FF_EXIT_USAGE;
    }
    if (gravity && !read_gravity(gravity, &r.gravity)) {
        ff_cli_error("freefloat analyze log: --gravity '%s', allowed: X,Y,Z [m/s2]", gravity);
        return FF_EXIT_USAGE;
    }
    ff_session *session = NULL;
    if (scenario) {
        session = ff_show_open(scenario, NULL, &status);
        if (!session)
            return status;
        r.scenario = &session->scenario;
    }
    r.own = !scenario && !gravity && r.what == FF_LOG_IDENTIFY_PAYLOAD;
    ff_log_identified found;
    ff_notes notes = {.error = ""};
    status = (int)ff_log_identify(&r, &found, &notes);
    ff_show_notes(&notes);
    for (int i = 0; i < found.bodies && !json; i++) {
        if (status == FF_EXIT_FAILED)
            ff_cli_error("%s: %s", file, found.line[i]);
        else if (!quiet)
            ff_cli_sentence("%s", found.line[i]);
    }
    if (!json)
        free(found.json);
    else if (status != FF_EXIT_USAGE && ff_cli_json(found.json) != FF_EXIT_DONE)
        status = FF_EXIT_FAILED;
    ff_session_close(session);
    return status;
}
