#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/library.h"
#include "commands.h"
#include "text/json.h"
#include "server/facility.h"
#include "show.h"

static const char help[] =
    "usage: freefloat facility FILE [options]\n\n"
    "Serves the scenario's robots and sensors as devices on this computer: for each "
    "satellite a robot's controller "
    "(KUKA's RSI,\nXML over UDP, or UR's RTDE over TCP, or a ROS 2 driver over DDS) and an ATI sensor (RDT "
    "over UDP, scale over HTTP), "
    "with "
    "delay, limits and contacts behind "
    "them;\nof an emulation an arm that is commanded by joint torques.\nfreefloat rt FILE is their client. "
    "Ends with Ctrl-C.\n\n"
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
    "  --controller-files DIR  write what a real KUKA controller needs for this scenario (contexts for RSI "
    "3, "
    "4 and 5,\n"
    "                     the Ethernet object's file, KRL programs) into DIR, and end (docs/facility.md)\n"
    "  --answers FILE     write the answers sent to each controller, cycle by cycle, as CSV\n"
    "  --json             print the counts at the end as JSON, and nothing before\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 done, 1 a port is taken, 2 bad usage or scenario\n"
    "example: freefloat facility scenarios/deos-client.yaml\n";

static atomic_bool stop;

static void on_signal(int number) {
    (void)number;
    atomic_store(&stop, true);
}

/* Who receives what the devices send, and what is sent to them. */
typedef struct listener {
    bool quiet;
    const ff_scenario *scenario;
    FILE *answers; /* or NULL */
} listener;

static void say(void *user, const char *line) {
    const listener *l = user;
    if (l->quiet)
        return;
    printf("%s\n", line);
    fflush(stdout);
}

static const char answers_head[] =
    "satellite,session,ipoc,answered,X [mm],Y [mm],Z [mm],A [deg],B [deg],C [deg],A1 "
    "[deg],A2 [deg],A3 [deg],A4 [deg],"
    "A5 [deg],A6 [deg],E1,E2,E3,E4,E5,E6,stop,position.x [m],position.y "
    "[m],position.z [m],attitude.w,attitude.x,"
    "attitude.y,attitude.z\n";

static void write_answer(void *user, int body, uint64_t session, uint64_t ipoc, const ff_rsi_sen *answer,
                         const ff_pose *T) {
    const listener *l = user;
    fprintf(l->answers, "%s,%llu,%llu,%d", l->scenario->satellite[body].name, (unsigned long long)session,
            (unsigned long long)ipoc, answer != NULL);
    for (int n = 0; n < FF_RSI_TAGS; n++)
        if (answer && (answer->tags & (1u << n)))
            fprintf(l->answers, ",%.17g", answer->value[n]);
        else
            fputc(',', l->answers);
    fprintf(l->answers, ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", T->p.x, T->p.y, T->p.z, T->q.w,
            T->q.x, T->q.y, T->q.z);
}

/* False: the file cannot be written; said. */
static bool open_answers(const char *path, listener *l, ff_facility_options *facility) {
    l->answers = fopen(path, "w");
    if (!l->answers) {
        ff_cli_error("--answers %s: %s", path, strerror(errno));
        return false;
    }
    fputs(answers_head, l->answers);
    facility->received = write_answer;
    return true;
}

static int write_files(const ff_scenario *scenario, const ff_ports *ports, const char *folder, bool quiet) {
    char message[512];
    const ff_status status = ff_facility_files(scenario, ports, folder, message, sizeof message);
    if (status != FF_OK) {
        ff_cli_error("freefloat facility: %s", message);
        return status == FF_ERR_IO ? FF_EXIT_FAILED : FF_EXIT_USAGE;
    }
    if (!quiet)
        printf("%s: %s\n", folder, message);
    return 0;
}

static int print_json(const ff_scenario *scenario, const ff_facility_result *result) {
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "scenario", scenario->name);
    ff_json_string(&json, "status", ff_status_name(result->status));
    ff_json_integer(&json, "sessions", (long long)result->sessions);
    ff_json_integer(&json, "cycles", (long long)result->cycles);
    ff_json_integer(&json, "records", (long long)result->records);
    ff_json_integer(&json, "stolen", (long long)result->stolen);
    if (scenario->emulates) {
        const ff_torque_arm_counters *c = &result->arm;
        ff_json_open(&json, "arm", '{');
        ff_json_number(&json, "contact_s", result->contact_s);
        ff_json_number(&json, "peak_force_N", result->peak_force);
        ff_json_integer(&json, "taken", (long long)c->taken);
        ff_json_integer(&json, "late", (long long)c->late);
        ff_json_integer(&json, "stale", (long long)c->stale);
        ff_json_integer(&json, "strange", (long long)c->strange);
        ff_json_integer(&json, "malformed", (long long)c->malformed);
        ff_json_integer(&json, "clipped", (long long)c->clipped);
        ff_json_close(&json, '}');
    }
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
    return ff_cli_json(ff_json_take(&json));
}

int ff_cmd_facility(int argc, char **argv) {
    const char *file = NULL, *sets[FF_MAX_SETS], *rsi = NULL, *ati = NULL, *http = NULL, *method = NULL,
               *late = NULL, *answers = NULL, *files = NULL;
    int set_count = 0, status;
    bool lockstep = false, once = false, json = false;
    listener heard = {0};
    const ff_option options[] = {FF_OPT_FLAG("--lockstep", &lockstep),
                                 FF_OPT_FLAG("--once", &once),
                                 FF_OPT_FLAG("--quiet", &heard.quiet),
                                 FF_OPT_LIST("--set", sets, &set_count),
                                 FF_OPT("--rsi-port", &rsi),
                                 FF_OPT("--ati-port", &ati),
                                 FF_OPT("--http-port", &http),
                                 FF_OPT("--method", &method),
                                 FF_OPT("--timeout", &late),
                                 FF_OPT("--answers", &answers),
                                 FF_OPT_FLAG("--json", &json),
                                 FF_OPT("--controller-files", &files),
                                 {0}};
    if (ff_cli_parse(argc, argv, "facility", help, options, "scenario", &file, &status))
        return status;
    ff_facility_options facility = {
        .lockstep = lockstep, .once = once, .stop = &stop, .say = say, .user = &heard};
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
    const ff_scenario_options load = {
        .set = sets, .sets = set_count, .method = method, .catalog = &ff_catalog_libraries};
    ff_session *session = ff_show_open(file, &load, &status);
    if (session && files) {
        status = write_files(&session->scenario, &facility.ports, files, heard.quiet);
        ff_session_close(session);
        return status;
    }
    if (session && answers && !open_answers(answers, &heard, &facility))
        status = FF_EXIT_FAILED;
    else if (session) {
        heard.scenario = &session->scenario;
        ff_cli_on_request(on_signal);
        ff_facility_result result;
        heard.quiet |= json;
        ff_facility_run(&session->scenario, &facility, &result);
        if (json)
            status = print_json(&session->scenario, &result);
        if (result.status < 0) {
            ff_cli_error("freefloat facility: %s",
                         *result.message ? result.message : ff_status_text(result.status));
            status = result.status == FF_ERR_DEVICE ? FF_EXIT_FAILED : FF_EXIT_USAGE;
        }
    }
    if (heard.answers && fclose(heard.answers) != 0) {
        ff_cli_error("--answers %s: %s", answers, strerror(errno));
        status = FF_EXIT_FAILED;
    }
    ff_session_close(session);
    return status;
}
