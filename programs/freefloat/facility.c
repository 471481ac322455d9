#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "text/json.h"
#include "rt/facility.h"
#include "session.h"

static const char help[] =
    "usage: freefloat facility FILE [options]\n\n"
    "Serves the scenario's robots and sensors as devices on this computer: for each "
    "satellite a KUKA controller "
    "(RSI,\nXML over UDP) and an ATI sensor (RDT over UDP, scale over HTTP), with "
    "delay, limits and contacts behind "
    "them.\nfreefloat rt FILE is their client. Ends with Ctrl-C.\n\n"
    "  --lockstep         time advances only with the client's answer\n"
    "  --once             end after the first client\n"
    "  --set PATH=VALUE   overrides one key (may be given again); give rt the same\n"
    "  --method M         as given to rt; the devices do not depend on it\n"
    "  --rsi-port N       the client's port for telegrams (default 59152, or the "
    "scenario's; next ones for more "
    "bodies)\n"
    "  --ati-port N       the sensor's port for records (default 49152)\n"
    "  --http-port N      the sensor's port for its page (default 49180)\n"
    "  --timeout N        late answers in a row that stop the controller (default 10)\n"
    "  --json             print the counts at the end as JSON, and nothing before\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 done, 1 a port is taken, 2 bad usage or scenario\n"
    "example: freefloat facility scenarios/deos-client.yaml\n";

static atomic_bool stop;

static void on_signal(int number) {
    (void)number;
    atomic_store(&stop, true);
}

static void say(void *user, const char *line) {
    if (*(const bool *)user)
        return;
    printf("%s\n", line);
    fflush(stdout);
}

static void print_json(const ff_scenario *scenario, const ff_facility_result *result) {
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "scenario", scenario->name);
    ff_json_string(&json, "status", ff_status_name(result->status));
    ff_json_integer(&json, "sessions", (long long)result->sessions);
    ff_json_integer(&json, "cycles", (long long)result->cycles);
    ff_json_integer(&json, "records", (long long)result->records);
    ff_json_integer(&json, "stolen", (long long)result->stolen);
    ff_json_open(&json, "robots", '{');
    for (int i = 0; i < scenario->satellites; i++) {
        ff_json_open(&json, scenario->satellite[i].name, '{');
        ff_json_integer(&json, "late", (long long)result->rsi[i].late);
        ff_json_vec3(&json, "position_m", result->robot[i].T.p);
        ff_json_number(&json, "force_N", result->force[i]);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, '}');
    ff_json_close(&json, '}');
    if (!json.failed)
        fputs(json.text, stdout);
    ff_json_free(&json);
}

int ff_cmd_facility(int argc, char **argv) {
    const char *file = NULL, *sets[FF_MAX_SETS], *rsi = NULL, *ati = NULL, *http = NULL, *method = NULL,
               *late = NULL;
    int set_count = 0, status;
    bool lockstep = false, once = false, quiet = false, json = false;
    const ff_option options[] = {FF_OPT_FLAG("--lockstep", &lockstep),
                                 FF_OPT_FLAG("--once", &once),
                                 FF_OPT_FLAG("--quiet", &quiet),
                                 FF_OPT_LIST("--set", sets, &set_count),
                                 FF_OPT("--rsi-port", &rsi),
                                 FF_OPT("--ati-port", &ati),
                                 FF_OPT("--http-port", &http),
                                 FF_OPT("--method", &method),
                                 FF_OPT("--timeout", &late),
                                 FF_OPT_FLAG("--json", &json),
                                 {0}};
    if (ff_cli_parse(argc, argv, "facility", help, options, "scenario", &file, &status))
        return status;
    ff_facility_options facility = {
        .lockstep = lockstep, .once = once, .stop = &stop, .say = say, .user = &quiet};
    if (late) {
        char *end = NULL;
        const long n = strtol(late, &end, 10);
        if (!*late || *end || n < 1 || n > 100000) {
            ff_cli_error("--timeout %s: allowed: 1 to 100000 answers", late);
            return FF_EXIT_USAGE;
        }
        facility.timeout = (unsigned)n;
    }
    if (ff_cli_ports(rsi, ati, http, &facility.ports) != 0)
        return FF_EXIT_USAGE;
    const ff_scenario_options load = {.set = sets, .sets = set_count, .method = method};
    ff_session *session = ff_session_open(file, &load, &status);
    if (session) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        ff_facility_result result;
        quiet = quiet || json;
        ff_facility_run(&session->scenario, &facility, &result);
        if (json)
            print_json(&session->scenario, &result);
        if (result.status < 0) {
            ff_cli_error("freefloat facility: %s",
                         *result.message ? result.message : ff_status_text(result.status));
            status = result.status == FF_ERR_DEVICE ? FF_EXIT_FAILED : FF_EXIT_USAGE;
        }
    }
    ff_session_close(session);
    return status;
}
