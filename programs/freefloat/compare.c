#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "catalog/library.h"
#include "session/variant.h"
#include "text/json.h"
#include "show.h"

static const char help[] =
    "usage: freefloat compare FILE --methods A,B:key=value,... [options]\n\n"
    "Runs the same scenario under several methods or variants and shows them side by "
    "side. A variant sets keys of its\n"
    "method (tdpa:reading=printed), or any key by its full path "
    "(tdpa:time.cycle=0.001, tdpa:integrator=passive).\n"
    "Files go to DIR/METHOD/ each, and one report.html to DIR. A method that cannot run "
    "the scenario, is none,\nhas wrong settings or crashes is a row "
    "'refused' with its reason; the others run.\n\n"
    "  --methods LIST     default ideal,direct,tdpa\n"
    "  --set PATH=VALUE   overrides one key for all (may be given again)\n"
    "  --out DIR          default out/NAME; --force as for run\n"
    "  --log LIST         csv, mcap (zstd chunks where libzstd is there),\n"
    "                     mcap-plain or none (default csv)\n"
    "  --json             print the summaries as one JSON object\n"
    "  --strict           exit 1 when a verdict is fail\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 done, 1 a run failed, 2 bad usage or scenario, a method that is none or has wrong\n"
    "settings (after the others), or every method is refused\n"
    "example: freefloat compare scenarios/deos-client.yaml --methods "
    "ideal,direct,tdpa,tdpa:reading=printed\n";

/* The speed of satellite i after a contact. */
static void put_speed(const ff_session *session, int i, const ff_episode *e, char text[16]) {
    if (!e)
        snprintf(text, 16, "-");
    else if (isnan(e->end))
        snprintf(text, 16, "open");
    else
        snprintf(text, 16, "%.5f",
                 ff_vec3_norm(e->after[session->scenario.contact[e->contact].body == i ? 0 : 1].velocity));
}

static void add_row(ff_table *table, const ff_session *session, int i) {
    const ff_metrics *metrics = &session->metrics;
    const ff_episode *first = NULL, *last = NULL;
    int n = 0;
    for (int k = 0; k < metrics->episodes; k++) {
        const ff_contact *contact = &session->scenario.contact[metrics->episode[k].contact];
        if (contact->body != i && contact->against != i)
            continue;
        last = &metrics->episode[k];
        first = first ? first : last;
        n++;
    }
    char speed[2][16];
    put_speed(session, i, first, speed[0]);
    put_speed(session, i, last, speed[1]);
    const ff_body_metrics *m = &metrics->body[i];
    ff_table_add(table, "%s|%s|%d%s|%s|%s|%.5f|%.4f|%.3f|%.4g", session->label,
                 metrics->pass ? "pass" : "fail", n, metrics->more ? "+" : "", speed[0], speed[1],
                 m->error_velocity, m->error_omega * 180.0 / FF_PI, metrics->peak_force_ratio[i],
                 m->final_energy);
}

static void print_table(const ff_session *const *sessions, int count, const ff_comparison *all) {
    const ff_scenario *scenario = &sessions[0]->scenario;
    for (int i = 0; i < scenario->satellites; i++) {
        printf("%s%s%s: speed after the first and the last contact, largest error against\n"
               "ideal, peak robot force over ideal, energy at the end\n",
               ff_cli_bold(), scenario->satellite[i].name, ff_cli_plain());
        ff_table table;
        ff_table_init(&table, 9);
        ff_table_add(&table,
                     "method|verdict|contacts|first m/s|last m/s|error m/s|error deg/s|force ratio|energy J");
        for (int s = 0; s < count; s++)
            add_row(&table, sessions[s], i);
        ff_table_print(&table);
        ff_table_free(&table);
    }
    for (int s = 0; s < count; s++)
        if (!sessions[s]->metrics.pass) {
            char reason[320];
            ff_show_reason(sessions[s], reason, sizeof reason);
            printf("%s fails: ", sessions[s]->label);
            ff_show_list(strlen(sessions[s]->label) + 8, reason);
        }
    for (int k = 0; k < all->refusals; k++)
        ff_cli_sentence("%s refused: %s", all->refused[k].label, all->refused[k].why);
}

/* Where no table says it. */
static void say_refused(const ff_comparison *all) {
    for (int k = 0; k < all->refusals; k++)
        ff_cli_error("%s refused: %s", all->refused[k].label, all->refused[k].why);
}

static void print_entry(bool first, const char *label, const char *value) {
    ff_json key;
    ff_json_init(&key, false);
    ff_json_string(&key, NULL, label);
    printf("%s%s: %s", first ? "" : ", ", key.text ? key.text : "\"\"", value);
    ff_json_free(&key);
}

static void print_json(const ff_session *const *sessions, int count, const ff_comparison *all) {
    fputs("{", stdout);
    for (int s = 0; s < count; s++)
        print_entry(s == 0, sessions[s]->label, sessions[s]->summary ? sessions[s]->summary : "null");
    for (int k = 0; k < all->refusals; k++) {
        ff_json entry;
        ff_json_init(&entry, false);
        ff_json_open(&entry, NULL, '{');
        ff_json_string(&entry, "refused", all->refused[k].why);
        ff_json_close(&entry, '}');
        print_entry(count + k == 0, all->refused[k].label, entry.text ? entry.text : "null");
        ff_json_free(&entry);
    }
    fputs("}\n", stdout);
}

static void run_once(void *self) {
    const ff_session_options nothing = {0};
    ff_notes notes = {.error = ""};
    ff_session_execute(self, &nothing, &notes);
}

/* A library's run is tried in a process of its own: what ends that does not end the comparison. */
static bool survives(ff_comparison *all, ff_session *session) {
    const ff_method_library *library = ff_scenario_library(&session->scenario);
    if (!library || all->count < 2 ||
        ff_catalog_try(run_once, session, session->refusal, sizeof session->refusal))
        return true;
    char why[sizeof session->refusal];
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, session->refusal);
    snprintf(session->refusal, sizeof session->refusal, "its library %.400s %.500s", library->path, why);
    session->run.status = FF_ERR_UNSUPPORTED;
    ff_comparison_refuse(all, session);
    return false;
}

/* Runs all of them into folders of their own. */
static int run_all(ff_comparison *all, const ff_run_folder *folder, const ff_show_ask *ask,
                   ff_session_options *options) {
    int status = FF_EXIT_DONE;
    char sub[FF_FILE_PATH];
    options->out = sub;
    for (int i = 0; i < all->count && status != FF_EXIT_USAGE && !ff_cli_interrupted(); i++) {
        if (!ff_run_below(folder->path, all->session[i]->label, sub)) {
            ff_cli_error("%s: its path is too long for results", folder->path);
            return FF_EXIT_USAGE;
        }
        if (!survives(all, all->session[i])) {
            status = FF_EXIT_FAILED;
            continue;
        }
        ff_notes notes = {.error = ""};
        const int result = ff_show_executed(all->session[i], options, ask->quiet || ask->json, &notes);
        const bool refused = result == FF_EXIT_USAGE && all->session[i]->run.status == FF_ERR_UNSUPPORTED;
        if (refused) {
            ff_comparison_refuse(all, all->session[i]);
            *notes.error = 0;
        }
        ff_show_notes(&notes);
        if (refused)
            continue;
        if (result > status)
            status = result;
        if (ask->strict && !all->session[i]->metrics.pass && status == FF_EXIT_DONE)
            status = FF_EXIT_FAILED;
    }
    return status;
}

/* Writes the report, switches the folder in and shows them side by side. */
static int show_all(ff_comparison *all, ff_run_folder *folder, const ff_show_ask *ask, int status) {
    const ff_session *done[FF_MAX_VARIANTS];
    int n = 0, passed = 0;
    bool whole = true;
    for (int i = 0; i < all->count; i++)
        if (all->session[i]->summary) {
            whole = whole && all->session[i]->whole;
            passed += all->session[i]->metrics.pass;
            done[n++] = all->session[i];
        } else if (all->session[i]->run.status != FF_ERR_UNSUPPORTED)
            whole = false; /* neither run nor refused */
    if (!n || status == FF_EXIT_USAGE) {
        say_refused(all);
        ff_run_abandon(folder);
        return !n && all->refusals && status == FF_EXIT_DONE ? FF_EXIT_USAGE : status;
    }
    const bool written = ff_show_report(done, n, folder->path) == FF_EXIT_DONE;
    status = all->mistaken && status == FF_EXIT_DONE ? FF_EXIT_USAGE : status;
    char verdict[40];
    snprintf(verdict, sizeof verdict, "%d of %d pass", passed, n);
    const ff_run_end end = {.whole = whole && written,
                            .stopped = ff_cli_interrupted(),
                            .exit_status = status == FF_EXIT_DONE && !written ? FF_EXIT_FAILED : status,
                            .verdict = verdict};
    status = ff_show_finish(folder, &end);
    if (ask->json || ask->quiet)
        say_refused(all);
    if (ask->json) {
        print_json(done, n, all);
    } else if (!ask->quiet) {
        print_table(done, n, all);
        if (written)
            ff_cli_line("report %s/report.html", end.whole && !end.stopped ? folder->shown : folder->path);
    }
    return status;
}

static int compare(ff_comparison *all, const char *methods, const ff_show_ask *ask,
                   ff_session_options *options) {
    ff_run_inputs inputs = {0};
    for (int i = 0; i < all->count; i++)
        ff_run_inputs_scenario(&inputs, all->session[i]->path, &all->session[i]->scenario);
    const ff_run_wanted wanted = {.out = ask->out,
                                  .name = all->session[0]->scenario.name,
                                  .force = ask->force,
                                  .command = "compare",
                                  .method = methods,
                                  .inputs = &inputs,
                                  .program = ff_cli_program()};
    ff_run_folder folder;
    int status = ff_show_begin(&wanted, &folder);
    if (status == FF_EXIT_DONE) {
        status = run_all(all, &folder, ask, options);
        status = show_all(all, &folder, ask, status);
    }
    ff_run_inputs_free(&inputs);
    return status;
}

int ff_cmd_compare(int argc, char **argv) {
    const char *file, *methods = "ideal,direct,tdpa";
    int status;
    ff_show_ask ask = {.log = "csv"};
    const ff_option options[] = {FF_OPT("--methods", &methods), FF_SHOW_OPTS(&ask), {0}};
    if (ff_cli_parse(argc, argv, "compare", help, options, "scenario", &file, &status))
        return status;
    ff_session_options session_options = {0};
    if (ff_show_logs(ask.log, &session_options) != 0)
        return FF_EXIT_USAGE;

    ff_variant variant[FF_MAX_VARIANTS];
    ff_notes notes = {.error = ""};
    const int count = ff_variants_parse(methods, &ff_catalog_libraries, variant, &notes);
    if (count < 1) {
        ff_show_notes(&notes);
        return FF_EXIT_USAGE;
    }
    ff_cli_warn_lines(notes.warning); /* its errors are those of the refused */
    const ff_scenario_options common = {.set = ask.set, .sets = ask.sets, .catalog = &ff_catalog_libraries};
    ff_comparison all;
    status = (int)ff_comparison_open(file, variant, count, &common, &all, ff_show_notes);
    if (status == FF_EXIT_DONE)
        status = compare(&all, methods, &ask, &session_options);
    else
        say_refused(&all);
    ff_comparison_close(&all);
    return status;
}
