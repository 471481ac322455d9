#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/workspace.h"
#include "catalog/library.h"
#include "analyze.h"
#include "scenario/reader.h"
#include "scenario/urdf.h"
#include "show.h"

static const char help[] =
    "usage: freefloat analyze workspace FILE [options]\n\n"
    "How long each satellite's ideal motion stays inside a robot arm's reach (ranges, singularities, "
    "speeds), "
    "as it is and\n"
    "relative to the nominal motion, beside a ball of 1.744 m around the start. "
    "Base, tool\n"
    "and rail are those of the scenario's robot; where it names neither base nor tool, the arm is placed "
    "where it keeps the\n"
    "motion longest.\n\n"
    "  --arm NAME           kr120, kr16, kr210, ur5e, ur10e, ur20, fr3, iiwa14, or a file NAME.urdf\n"
    "                       (default: that of the scenario's robot where it is a device, else kr120)\n"
    "  --tip LINK           of a file: the link that is the flange (default the last one)\n"
    "  --margin X           least distance from a singularity, 0 to 1 (default 0.02)\n"
    "  --ball M             [m] radius of that ball (default 1.744)\n"
    "  --set PATH=VALUE     overrides one key of the scenario (may be given again)\n"
    "  --json               print one JSON object instead of the table\n"
    "  --quiet              print nothing but errors\n\n"
    "exit status: 0 done, 1 the analysis failed, 2 bad usage or scenario\n"
    "example: freefloat analyze workspace scenarios/deos-client.yaml --set time.duration=120\n";

static void print_table(const ff_scenario *s, const ff_workspace *w) {
    char sentence[512];
    ff_table table;
    ff_table_init(&table, 8);
    ff_table_add(&table, "satellite|motion|inside s|outside from s|why|travel m|turn deg|ball left s");
    for (int i = 0; i < w->bodies; i++) {
        ff_workspace_sentence(s, w, i, sentence, sizeof sentence);
        ff_cli_sentence("%s", sentence);
        for (int r = 0; r < 2; r++) {
            const ff_workspace_span *p = r ? &w->relative[i] : &w->absolute[i];
            char end[24] = "-", ball[24] = "-";
            if (p->reason != FF_WORKSPACE_INSIDE)
                snprintf(end, sizeof end, "%.4g", isnan(p->from) ? 0.0 : p->until);
            if (isfinite(p->ball))
                snprintf(ball, sizeof ball, "%.4g", p->ball);
            ff_table_add(&table, "%s|%s|%.4g|%s|%s|%.4g|%.4g|%s", s->satellite[i].name,
                         r ? "relative" : "absolute", isnan(p->from) ? 0.0 : p->until - p->from, end,
                         ff_workspace_reason_text(p->reason), p->travel, 180.0 / FF_PI * p->turn, ball);
        }
    }
    printf("\n");
    ff_table_print(&table);
    ff_table_free(&table);
    for (int i = 0; i < w->bodies; i++)
        if (w->absolute[i].placed)
            ff_cli_sentence(
                "%s: the scenario names no base and tool; placed with the base at [%.3g, %.3g, %.3g]",
                s->satellite[i].name, w->absolute[i].base.p.x, w->absolute[i].base.p.y,
                w->absolute[i].base.p.z);
}

/* By its name, or from its file. */
static bool choose_arm(const char *arm, const char *tip, ff_workspace_config *config) {
    const size_t length = arm ? strlen(arm) : 0;
    const bool file = length > 5 && strcmp(arm + length - 5, ".urdf") == 0;
    if (tip && !file) {
        ff_cli_error("freefloat analyze workspace: --tip '%s' without a file, allowed: --arm FILE.urdf", tip);
        return false;
    }
    if (file) {
        char message[400] = "";
        static ff_urdf urdf;
        ff_status status = ff_urdf_load(NULL, arm, true, &urdf, message, sizeof message);
        const bool read = status == FF_OK;
        if (read)
            status = ff_urdf_arm(arm, &urdf, "", tip ? tip : "", &config->arm, message, sizeof message);
        if (status == FF_ERR_IO)
            ff_cli_error("freefloat analyze workspace: --arm '%s' cannot be read: %s", arm, message);
        else if (status != FF_OK)
            ff_cli_error("%s", message);
        config->name = arm;
        return status == FF_OK;
    }
    int kind = 0;
    while (arm && ff_arm_names[kind] && strcmp(arm, ff_arm_names[kind]) != 0)
        kind++;
    if (!ff_arm_names[kind]) {
        ff_cli_error("freefloat analyze workspace: --arm '%s'%s, allowed: kr120, kr16, kr210, ur5e, ur10e, "
                     "ur20, fr3, iiwa14, or a file NAME.urdf",
                     arm, ff_guess_among(arm, strlen(arm), ff_arm_names).text);
        return false;
    }
    if (arm) {
        config->name = arm;
        ff_arm_default((ff_arm_kind)kind, &config->arm);
    }
    return true;
}

int ff_analyze_workspace(int argc, char **argv) {
    const char *file = NULL, *arm = NULL, *tip = NULL, *margin = NULL, *ball = NULL, *sets[FF_MAX_SETS];
    int set_count = 0, status;
    bool json = false, quiet = false;
    const ff_option options[] = {FF_OPT("--arm", &arm),
                                 FF_OPT("--tip", &tip),
                                 FF_OPT("--margin", &margin),
                                 FF_OPT("--ball", &ball),
                                 FF_OPT_LIST("--set", sets, &set_count),
                                 FF_OPT_FLAG("--json", &json),
                                 FF_OPT_FLAG("--quiet", &quiet),
                                 {0}};
    if (ff_cli_parse(argc, argv, "analyze workspace", help, options, "scenario", &file, &status))
        return status;
    ff_workspace_config config;
    ff_workspace_default(&config);
    if (!choose_arm(arm, tip, &config))
        return FF_EXIT_USAGE;
    if (margin &&
        (!ff_cli_number(margin, &config.margin) || !(config.margin >= 0.0 && config.margin < 1.0))) {
        ff_cli_error("freefloat analyze workspace: --margin '%s', allowed: 0 to 1", margin);
        return FF_EXIT_USAGE;
    }
    if (ball && (!ff_cli_number(ball, &config.ball) || !(config.ball > 0.0))) {
        ff_cli_error("freefloat analyze workspace: --ball '%s', allowed: > 0 [m]", ball);
        return FF_EXIT_USAGE;
    }
    const ff_scenario_options load = {.set = sets, .sets = set_count, .catalog = &ff_catalog_libraries};
    ff_session *session = ff_show_open(file, &load, &status);
    if (session) {
        ff_workspace workspace;
        const ff_robot_config *robot = &session->scenario.satellite[0].robot;
        if (!arm && robot->kind >= FF_ROBOT_DEVICE) {
            ff_satellite_arm(&session->scenario.satellite[0], &config.arm);
            config.name = robot->device.own ? "the scenario's" : ff_arm_name(robot->device.arm);
        }
        char message[256] = "";
        ff_progress progress;
        ff_progress_start(&progress, "workspace", quiet || json);
        ff_progress_phase(&progress, 0.0, 1.0, 2.0 * session->scenario.satellites, "motions");
        config.progress = ff_progress_update;
        config.user = &progress;
        const ff_status done =
            ff_workspace_analyze(&session->scenario, &config, &workspace, message, sizeof message);
        ff_progress_stop(&progress);
        if (done < 0) {
            ff_cli_error("%s: %s", file, *message ? message : ff_status_text(done));
            status = done == FF_ERR_UNSUPPORTED || done == FF_ERR_ARGUMENT ? FF_EXIT_USAGE : FF_EXIT_FAILED;
        } else if (json) {
            status = ff_cli_json(ff_workspace_json(&session->scenario, &workspace, &config));
        } else if (!quiet) {
            print_table(&session->scenario, &workspace);
        }
    }
    ff_session_close(session);
    return status;
}
