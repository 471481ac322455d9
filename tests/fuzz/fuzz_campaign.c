/* Any bytes as a campaign: samples whose scenarios can be made, or one line that says why not. Nothing runs.
 */
#include "campaign/campaign.h"
#include "campaign/metric.h"
#include "executive/run.h"
#include "report/metrics.h"
#include "session/session.h"

#include "fuzz.h"

/* What a run would take: metrics that are read from a summary are not known here, since that asks for one. */
ff_status ff_metrics_init(const ff_scenario *scenario, ff_metrics *metrics) {
    (void)scenario;
    (void)metrics;
    return FF_ERR_MEMORY;
}

void ff_metrics_free(ff_metrics *metrics) {
    (void)metrics;
}

ff_sink ff_metrics_sink(ff_metrics *metrics) {
    return (ff_sink){.self = metrics};
}

void ff_metrics_finish(ff_metrics *metrics, const ff_ideal_result *ideal, ff_status status) {
    (void)metrics;
    (void)ideal;
    (void)status;
}

char *ff_summary_json(const ff_metrics *metrics, const ff_run_result *run) {
    (void)metrics;
    (void)run;
    return NULL;
}

void ff_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    (void)scenario;
    (void)options;
    (void)result;
    abort();
}

double ff_limit_value(ff_limit limit, const ff_scenario *scenario) {
    (void)limit;
    (void)scenario;
    return FF_NAN;
}

ff_outcome ff_session_load(ff_session *session, const char *path, const ff_scenario_options *options,
                           ff_notes *notes) {
    (void)session;
    (void)path;
    (void)options;
    (void)notes;
    abort();
}

void ff_session_close(ff_session *session) {
    (void)session;
    abort();
}

static const char base[] = "name: base\ntime: {cycle: 0.004, duration: 1}\nmethod: direct\nsatellites:\n  "
                           "body: {mass: 200, inertia: [20, 20, 20], "
                           "velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.016}}\ncontacts:\n  - "
                           "{name: right, kind: wall, body: body, at: "
                           "[0.05, 0, 0], normal: [-1, 0, 0], stiffness: 2000}\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ff_campaign campaign;
    char message[5000] = "", warnings[4096] = "";
    fuzz_file("base.yaml", (const uint8_t *)base, sizeof base - 1);
    const char *path = fuzz_file("c.yaml", bytes, size);
    const ff_status status =
        ff_campaign_load(path, NULL, &campaign, message, sizeof message, warnings, sizeof warnings);
    FUZZ_CHECK((status == FF_OK) == (message[0] == 0) && !strchr(message, '\n'));
    if (status == FF_OK) {
        static ff_campaign_case sample;
        ff_campaign_sample(&campaign, campaign.samples - 1, &sample);
        char *command = ff_campaign_command(&campaign, campaign.samples - 1, 0);
        FUZZ_CHECK(command && strstr(command, "freefloat run "));
        free(command);
    }
    ff_campaign_free(&campaign);
    return 0;
}
