#include "papers.h"

#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "text/json.h"
#include "variant.h"

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

typedef struct paper {
    const char *key, *title;
    void (*run)(ff_paper_table *table);
} paper;

static const paper papers[] = {
    {"destefano2019", "De Stefano, Balachandran, Secchi 2019: passivity layer for delay and integration",
     ff_paper_destefano2019},
    {"he2022", "He, Shen, Gao 2022: passivity with the contact damping identified on line", ff_paper_he2022},
    {"destefano2021",
     "De Stefano, Mishra, Giordano, Lampariello, Ott 2021: relative dynamics, capture of Envisat",
     ff_paper_destefano2021},
    {"aghili", "Aghili: emulation of another robot, contact stability", ff_paper_aghili},
    {"lange", "Lange, Grunwald, Albu-Schaeffer: hard impacts of two satellites on two robots",
     ff_paper_lange},
};

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

ff_paper_case *ff_paper_run(ff_paper_table *table, const char *file, const char *variant, ...) {
    const char *sets[FF_MAX_SETS];
    int count = 0;
    va_list arguments;
    va_start(arguments, variant);
    for (const char *set; count < FF_MAX_SETS && (set = va_arg(arguments, const char *)) != NULL;)
        sets[count++] = set;
    va_end(arguments);

    char path[PATH_MAX + 64];
    ff_variant parsed[FF_MAX_VARIANTS];
    ff_paper_case *c = calloc(1, sizeof *c);
    if (!c || !find_file(file, path, sizeof path)) {
        ff_cli_error("freefloat papers: scenarios/papers/%s not found; run from the project's folder", file);
        table->failed = true;
        free(c);
        return NULL;
    }
    const ff_session_options options = {.quiet = table->quiet, .extra = {c, probe_row}};
    if (ff_variants_parse(variant, parsed) != 1 ||
        ff_variant_load(&c->session, path, &parsed[0], sets, count) != FF_EXIT_DONE ||
        ff_session_execute(&c->session, &options) == FF_EXIT_USAGE || !c->session.summary) {
        table->failed = true;
        ff_paper_case_free(c);
        return NULL;
    }
    return c;
}

void ff_paper_case_free(ff_paper_case *c) {
    if (c)
        ff_session_free(&c->session);
    free(c);
}

void ff_paper_cases_free(ff_paper_case *const *c, size_t count) {
    for (size_t i = 0; i < count; i++)
        ff_paper_case_free(c[i]);
}

ff_paper_row *ff_paper_add(ff_paper_table *table, const char *claim, const char *says) {
    if (table->rows == table->capacity) {
        const int capacity = table->capacity ? 2 * table->capacity : 32;
        ff_paper_row *row = realloc(table->row, (size_t)capacity * sizeof *row);
        if (!row)
            abort();
        table->row = row;
        table->capacity = capacity;
    }
    ff_paper_row *row = &table->row[table->rows++];
    *row = (ff_paper_row){0};
    FF_CELL(row->claim, "%s", claim);
    FF_CELL(row->paper, "%s", says);
    return row;
}

const ff_episode *ff_paper_episode(const ff_paper_case *c, int n) {
    return c && n < c->session.metrics.episodes ? &c->session.metrics.episode[n] : NULL;
}

ff_episode_info ff_paper_info(const ff_paper_case *c, int n) {
    ff_episode_info info = {.cov = FF_NAN, .cof = FF_NAN, .restitution = FF_NAN};
    if (ff_paper_episode(c, n))
        ff_metrics_episode(&c->session.metrics, n, &info);
    return info;
}

static void print_table(const ff_paper_table *table) {
    ff_table out;
    ff_table_init(&out, 6);
    ff_table_add(&out, "claim|paper|printed|ours|ideal|remark");
    for (int i = 0; i < table->rows; i++) {
        const ff_paper_row *r = &table->row[i];
        ff_table_add(&out, "%s|%s|%s|%s|%s|%s", r->claim, *r->paper ? r->paper : "-",
                     *r->printed ? r->printed : "-", *r->ours ? r->ours : "-", *r->ideal ? r->ideal : "-",
                     r->remark);
    }
    ff_table_print(&out);
    ff_table_free(&out);
}

static void add_json(ff_json *json, const char *key, const ff_paper_table *table) {
    ff_json_open(json, key, '[');
    for (int i = 0; i < table->rows; i++) {
        const ff_paper_row *r = &table->row[i];
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
        known = known || strcmp(papers[i].key, key) == 0;
    if (!known) {
        char keys[256] = "";
        for (size_t i = 0, n = 0; i < count; i++)
            n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", i ? ", " : "", papers[i].key);
        ff_cli_error("freefloat papers: '%s' is no paper; allowed: %s", key, keys);
        return FF_EXIT_USAGE;
    }
    ff_json text;
    ff_json_init(&text, true);
    ff_json_open(&text, NULL, '{');
    for (size_t i = 0; i < count && !ff_cli_interrupted(); i++) {
        if (key && strcmp(papers[i].key, key) != 0)
            continue;
        ff_paper_table table = {.quiet = quiet || json};
        papers[i].run(&table);
        failed = failed || table.failed;
        if (json) {
            add_json(&text, papers[i].key, &table);
        } else {
            printf("%s%s%s  %s\n", ff_cli_bold(), papers[i].key, ff_cli_plain(), papers[i].title);
            print_table(&table);
        }
        free(table.row);
    }
    ff_json_close(&text, '}');
    if (json && text.text)
        fputs(text.text, stdout);
    ff_json_free(&text);
    return failed ? FF_EXIT_FAILED : FF_EXIT_DONE;
}
