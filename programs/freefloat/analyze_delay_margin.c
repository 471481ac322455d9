#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/delay_margin.h"
#include "catalog/library.h"
#include "analyze.h"
#include "show.h"

static const char help[] =
    "usage: freefloat analyze delay-margin FILE [options]\n\n"
    "Go or no go before contact: for the scenario's first contact w*tau (contact frequency times loop "
    "delay), the rebound\n"
    "and the largest force by theory and by simulation under each method, the largest delay that keeps the\n"
    "requirements, and a map over stiffness and delay (delay-margin.html and .csv).\n\n"
    "  --method M           the method that GO or NO GO is about (default the file's)\n"
    "  --methods A,B        judge only these, or libraries (./x.so) (default all that are built in)\n"
    "  --delay-max S        [s] largest delay tried (default four times the scenario's, at least 2/w up to "
    "0.25)\n"
    "  --map N              delays and stiffnesses of the map, 0 for none (default 7, maximum 25)\n"
    "  --span X             the map goes from stiffness/X to stiffness*X (default 4)\n"
    "  --set PATH=VALUE     overrides one key of the scenario (may be given again)\n"
    "  --out DIR            folder for the map (default out/NAME-delay-margin); --force as for run\n"
    "  --json               print one JSON object instead of the table\n"
    "  --quiet              print nothing but errors\n\n"
    "exit status: 0 done (also for NO GO), 1 the analysis failed, 2 bad usage or scenario\n"
    "example: freefloat analyze delay-margin scenarios/deos-client.yaml\n";

static const char *cell(double value, const char *format, char text[24]) {
    snprintf(text, 24, "-");
    if (!isfinite(value))
        return text;
    if (format[0] == 'm') /* seconds as ms */
        snprintf(text, 24, "%.4g", 1e3 * value);
    else if (format[0] == 'r')
        snprintf(text, 24, "%.4f", value);
    else
        snprintf(text, 24, "%.4g", value);
    return text;
}

static void print_table(const ff_scenario *s, const ff_delay_margin *m, const char *sentence) {
    char a[8][24];
    ff_cli_sentence("%s", sentence);
    printf("\n");
    ff_cli_sentence("contact %s at %.3f s: effective mass %.4g kg, %.4g N/m, approach %.4g m/s, w %.4g rad/s",
                    s->contact[m->contact].name, m->start, m->mass, m->stiffness, m->speed, m->frequency);
    ff_cli_sentence(
        "loop delay %.4g ms, w tau %.3g; rebound ideal %s, law e exp(pi w tau/2) %.4f; force ideal "
        "%.4g N",
        1e3 * m->delay, m->w_tau, cell(m->rebound_ideal, "r", a[0]), m->rebound_law, m->peak_ideal);
    printf("\n");
    ff_table table;
    ff_table_init(&table, 9);
    ff_table_add(&table, "method|rebound theory|rebound|force theory N|force N|force/ideal|velocity error "
                         "m/s|requirements|largest delay ms");
    for (int i = 0; i < m->methods; i++) {
        const ff_delay_method *one = &m->method[i];
        char reach[40] = "none";
        if (isfinite(one->largest_delay))
            snprintf(reach, sizeof reach, "%s%.4g", one->at_least ? ">= " : "", 1e3 * one->largest_delay);
        ff_table_add(&table, "%s|%s|%s|%s|%s|%s|%s|%s|%s", one->method->name,
                     cell(one->rebound_theory, "r", a[0]), cell(one->now.rebound, "r", a[1]),
                     cell(one->peak_force_theory, "g", a[2]), cell(one->now.peak_force, "g", a[3]),
                     cell(one->now.peak_force_ratio, "g", a[4]), cell(one->now.velocity_error, "g", a[5]),
                     one->now.met          ? "met"
                     : one->now.status < 0 ? "failed"
                                           : "not met",
                     reach);
        if (*one->message)
            ff_table_add(&table, "  %s", one->message);
    }
    ff_table_print(&table);
    ff_table_free(&table);
}

/* Reads the options that are numbers. 0, or -1 after one line. */
static int numbers(const char *delay_max, const char *map, const char *span, ff_delay_margin_config *config) {
    double n = config->map;
    if (delay_max && (!ff_cli_number(delay_max, &config->delay_max) || !(config->delay_max > 0.0))) {
        ff_cli_error("freefloat analyze delay-margin: --delay-max '%s', allowed: > 0 [s]", delay_max);
        return -1;
    }
    if (map && (!ff_cli_number(map, &n) || n < 0.0 || n > FF_DELAY_MAP || n != floor(n))) {
        ff_cli_error("freefloat analyze delay-margin: --map '%s', allowed: 0 to %d", map, FF_DELAY_MAP);
        return -1;
    }
    config->map = (int)n;
    if (span && (!ff_cli_number(span, &config->stiffness_span) || !(config->stiffness_span > 1.0))) {
        ff_cli_error("freefloat analyze delay-margin: --span '%s', allowed: > 1", span);
        return -1;
    }
    return 0;
}

/* Into a folder of its own, which does not take the place of the scenario's run. csv, html: where they are.
 */
static int write_map(const ff_session *session, const ff_delay_margin *m, const char *out, bool force,
                     char csv[FF_FILE_PATH], char html[FF_FILE_PATH]) {
    char name[FF_NAME_SIZE + 16];
    snprintf(name, sizeof name, "%s-delay-margin", session->scenario.name);
    ff_run_inputs inputs = {0};
    ff_run_inputs_scenario(&inputs, session->path, &session->scenario);
    const ff_run_wanted wanted = {.out = out,
                                  .name = name,
                                  .force = force,
                                  .command = "analyze delay-margin",
                                  .method = session->label,
                                  .inputs = &inputs,
                                  .program = ff_cli_program()};
    ff_run_folder folder;
    int status = ff_show_begin(&wanted, &folder);
    if (status == FF_EXIT_DONE) {
        snprintf(csv, FF_FILE_PATH, "%.4300s/delay-margin.csv", folder.path);
        snprintf(html, FF_FILE_PATH, "%.4300s/delay-margin.html", folder.path);
        const bool written = ff_delay_margin_write_csv(m, csv) == FF_OK &&
                             ff_delay_margin_write_html(&session->scenario, m, html) == FF_OK;
        if (!written)
            ff_cli_error("%s: cannot be written (%s)", csv, strerror(errno));
        const ff_run_end end = {.whole = written, .exit_status = written ? FF_EXIT_DONE : FF_EXIT_FAILED};
        status = ff_show_finish(&folder, &end);
        snprintf(csv, FF_FILE_PATH, "%.4300s/delay-margin.csv", folder.shown);
        snprintf(html, FF_FILE_PATH, "%.4300s/delay-margin.html", folder.shown);
    }
    ff_run_inputs_free(&inputs);
    return status;
}

static void tell_runs(void *progress, double runs) {
    ff_progress_phase(progress, 0.0, 1.0, runs, "runs");
}

int ff_analyze_delay_margin(int argc, char **argv) {
    const char *file = NULL, *method = NULL, *methods = NULL, *delay_max = NULL, *map = NULL, *span = NULL,
               *out = NULL, *sets[FF_MAX_SETS];
    int set_count = 0, status;
    bool json = false, quiet = false, force = false;
    const ff_option options[] = {FF_OPT("--method", &method),
                                 FF_OPT("--methods", &methods),
                                 FF_OPT("--delay-max", &delay_max),
                                 FF_OPT("--map", &map),
                                 FF_OPT("--span", &span),
                                 FF_OPT_LIST("--set", sets, &set_count),
                                 FF_OPT("--out", &out),
                                 FF_OPT_FLAG("--force", &force),
                                 FF_OPT_FLAG("--json", &json),
                                 FF_OPT_FLAG("--quiet", &quiet),
                                 {0}};
    if (ff_cli_parse(argc, argv, "analyze delay-margin", help, options, "scenario", &file, &status))
        return status;
    ff_delay_margin_config config;
    ff_delay_margin_default(&config);
    char message[256] = "";
    if (numbers(delay_max, map, span, &config) != 0)
        return FF_EXIT_USAGE;
    const ff_scenario_options load = {
        .set = sets, .sets = set_count, .method = method, .catalog = &ff_catalog_libraries};
    ff_session *session = ff_show_open(file, &load, &status);
    if (!session)
        return status;
    if (methods && ff_delay_margin_pick(&config, methods, &ff_catalog_libraries, &session->scenario, message,
                                        sizeof message) != FF_OK) {
        ff_cli_error("freefloat analyze delay-margin: --methods: %s", message);
        ff_session_close(session);
        return FF_EXIT_USAGE;
    }
    const ff_scenario *scenario = &session->scenario;
    ff_progress progress;
    ff_progress_start(&progress, "delay margin", quiet || json);
    config.progress = ff_progress_update;
    config.begin = tell_runs;
    config.user = &progress;
    ff_delay_margin margin;
    const ff_status done = ff_delay_margin_analyze(scenario, &config, &margin, message, sizeof message);
    ff_progress_stop(&progress);
    if (done < 0) {
        ff_cli_error("%s: %s", file, *message ? message : ff_status_text(done));
        status = done == FF_ERR_ARGUMENT || done == FF_ERR_UNSUPPORTED ? FF_EXIT_USAGE : FF_EXIT_FAILED;
    } else {
        char sentence[512], csv[FF_FILE_PATH] = "", html[FF_FILE_PATH] = "";
        ff_delay_margin_sentence(scenario, &margin, sentence, sizeof sentence);
        if (margin.cells)
            status = write_map(session, &margin, out, force, csv, html);
        if (json) {
            const int printed =
                ff_cli_json(ff_delay_margin_json(scenario, &margin, *csv ? csv : NULL, *html ? html : NULL));
            status = status ? status : printed;
        } else if (!quiet) {
            print_table(scenario, &margin, sentence);
            if (*html) {
                putchar('\n');
                ff_cli_line("map %s, %s", html, csv);
            }
        }
        ff_delay_margin_free(&margin);
    }
    ff_session_close(session);
    return status;
}
