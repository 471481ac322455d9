#include "papers.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "text/json.h"
#include "session/variant.h"

static const char help[] =
    "usage: freefloat papers [KEY] [options]\n\n"
    "Reruns the published cases and prints, for each number or claim: the paper's value, what its equations "
    "give as\n"
    "printed, what freefloat's default gives, the ideal, and a remark where they differ.\n\n"
    "  KEY                one paper; default all: destefano2019, he2022, destefano2021,\n"
    "                     lange, aghili, as far as they are built\n"
    "  --json             print the table as JSON\n"
    "  --quiet            no progress\n\n"
    "exit status: 0 done, 1 a case failed, 2 bad usage\n"
    "example: freefloat papers destefano2019\n";

static const ff_paper *const papers[] = {&ff_paper_destefano2019, &ff_paper_he2022, &ff_paper_destefano2021,
                                         &ff_paper_aghili, &ff_paper_lange};

/* scenarios/papers/FILE below the working folder, beside the program, or where it was installed. */
static bool find_file(const char *file, char *path, size_t size) {
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    const char *folder = n > 0 ? dirname(self) : ".";
    const char *const places[] = {"scenarios/papers", "../scenarios/papers",
                                  "../share/freefloat/scenarios/papers"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s%s%s/%s", i ? folder : "", i ? "/" : "", places[i], file);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static ff_status probe_row(void *self, const ff_row *row) {
    ff_paper_case *c = self;
    const ff_row_body *b = &row->body[0];
    ff_paper_probe *p = &c->probe;
    p->observer_end = -(b->energy.exchanged + b->energy.delay);
    p->environment_end = -b->energy.exchanged;
    p->observer_min = fmin(p->observer_min, p->observer_end);
    p->environment_min = fmin(p->environment_min, p->environment_end);
    p->final = b->satellite;
    const ff_rigid_model *m = &c->session.metrics.model[0];
    const double drift = ff_rigid_kinetic_energy(m, &b->satellite) - ff_rigid_kinetic_energy(m, &b->ideal);
    p->energy_drift = fmax(p->energy_drift, fabs(drift));
    return FF_OK;
}

/* --------------------------------------------------------------------------------------------- runs -- */

static void free_case(ff_paper_case *c) {
    if (c)
        ff_session_free(&c->session);
    free(c);
}

/* NULL after one line on stderr. */
static ff_paper_case *run_case(const ff_paper_spec *spec, bool quiet) {
    char path[PATH_MAX + 64];
    ff_variant parsed[FF_MAX_VARIANTS];
    int sets = 0;
    while (sets < (int)(sizeof spec->set / sizeof *spec->set) && spec->set[sets])
        sets++;
    ff_paper_case *c = calloc(1, sizeof *c);
    if (!c || !find_file(spec->file, path, sizeof path)) {
        ff_cli_error("freefloat papers: scenarios/papers/%s not found; run from the project's folder",
                     spec->file);
        free(c);
        return NULL;
    }
    const ff_session_options options = {.extra = {.self = c, .row = probe_row}};
    const ff_scenario_options load = {.set = spec->set, .sets = sets};
    ff_notes notes = {.error = ""};
    const bool loaded = ff_variants_parse(spec->variant, NULL, parsed, &notes) == 1 &&
                        ff_variant_load(&c->session, path, &parsed[0], &load, &notes) == FF_DONE;
    ff_show_notes(&notes);
    if (!loaded || ff_show_execute(&c->session, &options, quiet) == FF_EXIT_USAGE || !c->session.summary) {
        free_case(c);
        return NULL;
    }
    return c;
}

const ff_metrics *ff_paper_metrics(const ff_paper_runs *runs, int run) {
    return runs->run[run] ? &runs->run[run]->session.metrics : NULL;
}

const ff_episode *ff_paper_episode(const ff_paper_runs *runs, int run, int n) {
    const ff_metrics *m = ff_paper_metrics(runs, run);
    return m && n < m->episodes ? &m->episode[n] : NULL;
}

ff_episode_info ff_paper_info(const ff_paper_runs *runs, int run, int n) {
    ff_episode_info info = {.cov = FF_NAN, .cof = FF_NAN, .restitution = FF_NAN};
    if (ff_paper_episode(runs, run, n))
        ff_metrics_episode(ff_paper_metrics(runs, run), n, &info);
    return info;
}

/* -------------------------------------------------------------------------------------------- table -- */

typedef struct row {
    char claim[128], paper[64], printed[64], ours[64], ideal[64], remark[160];
} row;

typedef struct table {
    row *row;
    int rows;
    bool failed; /* a case could not be run */
} table;

static void fill(const ff_paper_cell *cell, const ff_paper_runs *runs, char *text, size_t size) {
    double x[2] = {FF_NAN, FF_NAN};
    if (cell->text) {
        cell->text(runs, cell->run, cell->argument, text, size);
    } else if (cell->number) {
        cell->number(runs, cell->run, cell->argument, x);
        snprintf(text, size, cell->format, x[0], x[1]);
    } else if (cell->format) {
        snprintf(text, size, "%s", cell->format);
    }
}

static void add_row(table *t, const ff_paper_entry *e, const ff_paper_runs *runs) {
    row *all = realloc(t->row, (size_t)(t->rows + 1) * sizeof *all);
    if (!all)
        abort();
    t->row = all;
    row *r = &all[t->rows++];
    *r = (row){0};
    snprintf(r->claim, sizeof r->claim, "%s", e->claim);
    snprintf(r->paper, sizeof r->paper, "%s", e->paper);
    fill(&e->printed, runs, r->printed, sizeof r->printed);
    fill(&e->ours, runs, r->ours, sizeof r->ours);
    fill(&e->ideal, runs, r->ideal, sizeof r->ideal);
    fill(&e->remark, runs, r->remark, sizeof r->remark);
}

static void run_group(table *t, const ff_paper_group *g, bool quiet) {
    ff_paper_runs runs = {0};
    bool good = true;
    for (int i = 0; i < g->specs; i++) {
        runs.run[i] = run_case(&g->spec[i], quiet);
        good = good && runs.run[i];
    }
    t->failed = t->failed || !good;
    good = good || !g->whole;
    if (good && g->prepare) {
        runs.memory = calloc(1, g->bytes);
        good = runs.memory && g->prepare(&runs);
        t->failed = t->failed || !good;
    }
    for (int i = 0; i < g->entries && good; i++)
        add_row(t, &g->entry[i], &runs);
    for (int i = 0; i < g->specs; i++)
        free_case(runs.run[i]);
    free(runs.memory);
}

static void print_table(const table *t) {
    ff_table out;
    ff_table_init(&out, 6);
    out.wide = true;
    ff_table_add(&out, "claim|paper|printed|ours|ideal|remark");
    for (int i = 0; i < t->rows; i++) {
        const row *r = &t->row[i];
        ff_table_add(&out, "%s|%s|%s|%s|%s|%s", r->claim, *r->paper ? r->paper : "-",
                     *r->printed ? r->printed : "-", *r->ours ? r->ours : "-", *r->ideal ? r->ideal : "-",
                     r->remark);
    }
    ff_table_print(&out);
    ff_table_free(&out);
}

static void add_json(ff_json *json, const char *key, const table *t) {
    ff_json_open(json, key, '[');
    for (int i = 0; i < t->rows; i++) {
        const row *r = &t->row[i];
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "claim", r->claim);
        ff_json_string(json, "paper", *r->paper ? r->paper : NULL);
        ff_json_string(json, "printed", *r->printed ? r->printed : NULL);
        ff_json_string(json, "ours", *r->ours ? r->ours : NULL);
        ff_json_string(json, "ideal", *r->ideal ? r->ideal : NULL);
        ff_json_string(json, "remark", r->remark);
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
}

int ff_cmd_papers(int argc, char **argv) {
    const char *key = NULL;
    int status;
    bool json = false, quiet = false;
    const ff_option options[] = {FF_OPT_FLAG("--json", &json), FF_OPT_FLAG("--quiet", &quiet), {0}};
    if (ff_cli_parse(argc, argv, "papers", help, options, NULL, &key, &status))
        return status;
    const size_t count = sizeof papers / sizeof *papers;
    bool known = key == NULL, failed = false;
    for (size_t i = 0; i < count && key; i++)
        known = known || strcmp(papers[i]->key, key) == 0;
    if (!known) {
        char keys[256] = "";
        for (size_t i = 0, n = 0; i < count; i++)
            n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", i ? ", " : "", papers[i]->key);
        ff_cli_error("freefloat papers: '%s' is not a paper reproduced here; allowed: %s", key, keys);
        return FF_EXIT_USAGE;
    }
    ff_json text;
    ff_json_init(&text, true);
    ff_json_open(&text, NULL, '{');
    for (size_t i = 0; i < count && !ff_cli_interrupted(); i++) {
        if (key && strcmp(papers[i]->key, key) != 0)
            continue;
        table t = {0};
        for (int g = 0; g < papers[i]->groups; g++)
            run_group(&t, &papers[i]->group[g], quiet || json);
        failed = failed || t.failed;
        if (json) {
            add_json(&text, papers[i]->key, &t);
        } else {
            printf("%s%s%s  %s\n", ff_cli_bold(), papers[i]->key, ff_cli_plain(), papers[i]->title);
            print_table(&t);
        }
        free(t.row);
    }
    ff_json_close(&text, '}');
    char *const whole = ff_json_take(&text);
    if (!json)
        free(whole);
    else if (ff_cli_json(whole) != FF_EXIT_DONE)
        failed = true;
    return failed ? FF_EXIT_FAILED : FF_EXIT_DONE;
}
