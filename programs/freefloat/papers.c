#include "papers.h"
#include "scenario/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "text/json.h"
#include "text/shipped.h"
#include "session/variant.h"

static const char help[] =
    "usage: freefloat papers [KEY] [options]\n\n"
    "Reruns the published cases and prints, for each number or claim: the paper's\n"
    "value, what its equations give as printed, what freefloat's default gives, the\n"
    "best variant by its name and the method fused where they differ, the ideal,\n"
    "whether the claim is reproduced, and a remark. Each row asserts its numbers: one\n"
    "that is not what it should be is said on stderr, and the exit status is 1.\n\n"
    "  KEY                one paper; default all: destefano2019, he2022, destefano2021,\n"
    "                     aghili, lange\n"
    "  --short            without the cases that take seconds\n"
    "  --json             print the table as JSON, with what each row asserts\n"
    "  --quiet            no progress\n\n"
    "reproduced: yes; no; as printed, best variant, fused: not by the default, but by\n"
    "that column; fitted: an input that the paper does not state was chosen to meet\n"
    "the number, which therefore shows nothing.\n\n"
    "exit status: 0 done, 1 a case failed or a row is not what it asserts, 2 bad usage\n"
    "example: freefloat papers destefano2019\n";

static const ff_paper *const papers[] = {&ff_paper_destefano2019, &ff_paper_he2022, &ff_paper_destefano2021,
                                         &ff_paper_aghili, &ff_paper_lange};

/* scenarios/papers/FILE below the working folder, or the one that is shipped. */
static bool find_file(const char *file, char path[FF_FILE_PATH]) {
    char name[FF_FILE_PATH];
    snprintf(name, sizeof name, "scenarios/papers/%s", file);
    if (ff_shipped_find("scenarios", name, path))
        return true;
    memcpy(path, name, sizeof name);
    return access(path, R_OK) == 0;
}

static void split_energy(const ff_rigid_model *m, const ff_rigid_state *x, double H[2]) {
    H[0] = 0.5 * m->mass * ff_vec3_dot(x->velocity, x->velocity);
    H[1] = 0.5 * ff_vec3_dot(x->omega, ff_mat3_apply(&m->inertia, x->omega));
}

/* The ledgers of destefano2019, Figs 6, 8, 16, 17, 20, 21, 26, 27. */
static void probe_energy(ff_paper_probe *p, const ff_rigid_model *m, double T, const ff_row_body *b) {
    const ff_rigid_state *x = &b->satellite;
    const ff_rigid_load measured = ff_rigid_load_from_body(x->attitude, b->measured_b),
                        acting = ff_rigid_load_from_body(x->attitude, b->corrected_b);
    const ff_vec3 force = ff_vec3_add(acting.force, b->load.force),
                  torque = ff_vec3_add(acting.torque, b->load.torque);
    double H[2], ideal[2];
    split_energy(m, x, H);
    split_energy(m, &b->ideal, ideal);
    ff_rigid_state output = *x;
    output.velocity = ff_vec3_sub(x->velocity, p->correction.v);
    output.omega = ff_vec3_sub(x->omega, p->correction.w);
    double out[2];
    split_energy(m, &output, out);
    if (p->begun) { /* the cycle before ends here */
        p->port[0] += T * ff_vec3_dot(p->last.force, output.velocity);
        p->port[1] += T * ff_vec3_dot(p->last.torque, output.omega);
    }
    p->observer[0] -= T * ff_vec3_dot(measured.force, x->velocity);
    p->observer[1] -= T * ff_vec3_dot(measured.torque, x->omega);
    const ff_vec3 Sw = ff_vec3_cross(ff_mat3_apply(&m->inertia, x->omega), x->omega);
    p->extra[0] += 0.5 * T * T * m->mass_inv * ff_vec3_dot(force, force);
    p->extra[1] += 0.5 * T * T *
                   (ff_vec3_dot(Sw, ff_mat3_apply(&m->inertia_inv, Sw)) +
                    ff_vec3_dot(torque, ff_mat3_apply(&m->inertia_inv, torque)));
    for (int i = 0; i < 2; i++) {
        if (!p->begun)
            p->start[i] = H[i];
        p->observer_low[i] = fmin(p->observer_low[i], p->observer[i]);
        p->energy_error[i] = fmax(p->energy_error[i], fabs(H[i] - ideal[i]));
        p->output_error[i] = fmax(p->output_error[i], fabs(out[i] - ideal[i]));
        p->port_error[i] = fmax(p->port_error[i], fabs(H[i] - p->start[i] - p->port[i]));
    }
    if (!p->begun)
        p->velocity = x->velocity;
    for (int i = 0; i < 3; i++)
        if (p->velocity.a[i] != 0.0)
            p->axis = fmax(p->axis, fabs(x->velocity.a[i] / p->velocity.a[i]));
    p->force = fmax(p->force, ff_vec3_norm(measured.force));
    p->torque = fmax(p->torque, ff_vec3_norm(measured.torque));
    p->last = (ff_rigid_load){force, torque};
    p->correction = b->velocity_correction;
    p->begun = true;
}

/* lange, (36), (37): where contact 0 lies on the body that it is against, from the true poses and the
 * direction of the true force alone: the foot of the tool's point on the force's line through the tip. */
static void probe_contact(ff_paper_probe *p, const ff_contact *c, const ff_row *row) {
    const ff_vec3 force = row->contact_force[0];
    if (c->kind != FF_CONTACT_CONE || !(ff_vec3_norm(force) > 0.0))
        return;
    const ff_pose on = row->body[c->against].inertial.T;
    const ff_vec3 tip = ff_pose_apply(row->body[c->body].inertial.T, c->point),
                  n = ff_quat_unrotate(on.q, ff_vec3_unit(force)),
                  from = ff_vec3_sub(ff_quat_unrotate(on.q, ff_vec3_sub(tip, on.p)), c->apex),
                  at = ff_vec3_add(c->apex, ff_vec3_axpy(-ff_vec3_dot(from, n), n, from));
    const double square = ff_vec3_dot(force, force);
    p->touched = ff_vec3_axpy(square, at, p->touched);
    p->touched_weight += square;
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
    if (c->session.scenario.satellites > 1)
        p->star_tracker =
            fmax(p->star_tracker, ff_quat_angle(row->body[1].inertial.T.q, row->body[1].ideal.attitude));
    if (c->session.scenario.contacts > 0)
        probe_contact(p, &c->session.scenario.contact[0], row);
    probe_energy(p, &c->session.metrics.model[0], c->session.scenario.cycle, b);
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
    char path[FF_FILE_PATH];
    ff_variant parsed[FF_MAX_VARIANTS];
    int sets = 0;
    while (sets < (int)(sizeof spec->set / sizeof *spec->set) && spec->set[sets])
        sets++;
    ff_paper_case *c = calloc(1, sizeof *c);
    if (!c || !find_file(spec->file, path)) {
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
    const ff_paper_entry *entry;
    char printed[64], ours[64], best[64], fused[64], ideal[64], remark[256];
    double x[FF_COLUMNS][2];
} row;

typedef struct table {
    row *row;
    int rows;
    bool failed; /* a case could not be run, or a row is not what it asserts */
} table;

static const char *const column_name[] = {"printed", "ours", "best", "fused", "ideal"};

static void fill(const ff_paper_cell *cell, const ff_paper_runs *runs, char *text, size_t size, double x[2]) {
    x[0] = x[1] = FF_NAN;
    if (cell->number)
        cell->number(runs, cell->run, cell->argument, x);
    if (cell->text)
        cell->text(runs, cell->run, cell->argument, text, size);
    else if (cell->number)
        snprintf(text, size, cell->format, x[0], x[1]);
    else if (cell->format)
        snprintf(text, size, "%s", cell->format);
}

static void add_row(table *t, const ff_paper_entry *e, const ff_paper_runs *runs) {
    row *all = realloc(t->row, (size_t)(t->rows + 1) * sizeof *all);
    double unused[2];
    if (!all)
        abort();
    t->row = all;
    row *r = &all[t->rows++];
    *r = (row){.entry = e};
    fill(&e->printed, runs, r->printed, sizeof r->printed, r->x[FF_COLUMN_PRINTED]);
    fill(&e->ours, runs, r->ours, sizeof r->ours, r->x[FF_COLUMN_OURS]);
    fill(&e->best, runs, r->best, sizeof r->best, r->x[FF_COLUMN_BEST]);
    fill(&e->fused, runs, r->fused, sizeof r->fused, r->x[FF_COLUMN_FUSED]);
    fill(&e->ideal, runs, r->ideal, sizeof r->ideal, r->x[FF_COLUMN_IDEAL]);
    fill(&e->remark, runs, r->remark, sizeof r->remark, unused);
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

/* --------------------------------------------------------------------------------------- assertions -- */

static bool between(double x, double low, double high) {
    return x >= low && x <= high;
}

/* Does the column keep to the paper's word? */
static bool keeps(const row *r, ff_paper_column column) {
    return between(r->x[column][0], r->entry->word.low, r->entry->word.high);
}

static bool said_to_keep(const row *r, ff_paper_column column) {
    return strchr(r->entry->word.kept_by, "pobf"[column]) != NULL;
}

/* yes, no, fitted, "as printed", "best variant", "fused"; NULL: nothing to compare. */
static const char *reproduced(const row *r) {
    const ff_paper_word *word = &r->entry->word;
    if (!word->kept_by)
        return NULL;
    if (word->fitted)
        return "fitted";
    if (said_to_keep(r, FF_COLUMN_OURS))
        return "yes";
    if (said_to_keep(r, FF_COLUMN_PRINTED))
        return "as printed";
    if (said_to_keep(r, FF_COLUMN_BEST))
        return "best variant";
    return said_to_keep(r, FF_COLUMN_FUSED) ? "fused" : "no";
}

static bool complain(const row *r, ff_paper_column column, const ff_paper_check *c, const char *what) {
    ff_cli_error("freefloat papers: %s: %s is %.9g, %s %.9g to %.9g", r->entry->claim, column_name[column],
                 r->x[column][c->part], what, c->low, c->high);
    return false;
}

/* Each assertion that does not hold is said in one line. */
static bool judge_row(const row *r) {
    const ff_paper_entry *e = r->entry;
    bool good = true, any = e->word.kept_by != NULL;
    const ff_paper_check word = {.low = e->word.low, .high = e->word.high};
    for (int c = FF_COLUMN_PRINTED; c < FF_COLUMN_IDEAL && any; c++) {
        const bool number = !isnan(r->x[c][0]);
        if ((number || said_to_keep(r, c)) && keeps(r, c) != said_to_keep(r, c))
            good = complain(r, c, &word,
                            said_to_keep(r, c) ? "the paper says" : "and no longer outside the paper's");
    }
    for (int i = 0; i < FF_PAPER_CHECKS && e->check[i].given; i++) {
        const ff_paper_check *c = &e->check[i];
        any = true;
        if (!between(r->x[c->column][c->part], c->low, c->high))
            good = complain(r, c->column, c, "expected");
    }
    if (!any)
        ff_cli_error("freefloat papers: %s: the row asserts nothing", e->claim);
    return good && any;
}

/* -------------------------------------------------------------------------------------------- output -- */

/* Words of `text` from column `at` on, in lines of at most 80; returns the column. */
static int flow(const char *text, int at, int indent) {
    for (bool first = true; *text; first = false) {
        const int n = (int)strcspn(text, " ");
        if (at + n + 1 > 80) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", n, text);
        at += n;
        text += n + (text[n] == ' ');
    }
    return at;
}

enum { INDENT = 4 };

/* "name value" after a semicolon, kept together where a line holds it. */
static int add_value(const char *name, const char *value, const char *of, int at) {
    char text[200];
    if (!value || !*value)
        return at;
    const int n =
        snprintf(text, sizeof text, "%s %s%s%s%s", name, value, of ? " (" : "", of ? of : "", of ? ")" : "");
    if (at > INDENT) {
        putchar(';');
        at++;
        if (at + n + 2 > 80) {
            printf("\n%*s", INDENT, "");
            at = INDENT;
        } else {
            putchar(' ');
            at++;
        }
    }
    return flow(text, at, INDENT);
}

static void print_row(const row *r) {
    const ff_paper_entry *e = r->entry;
    flow(e->claim, 0, 2);
    printf("\n%*s", INDENT, "");
    int at = add_value("paper", e->paper, NULL, INDENT);
    at = add_value("printed", r->printed, NULL, at);
    at = add_value("ours", r->ours, NULL, at);
    at = add_value("best", r->best, e->best_name, at);
    at = add_value("fused", r->fused, NULL, at);
    at = add_value("ideal", r->ideal, NULL, at);
    add_value("reproduced:", reproduced(r), NULL, at);
    putchar('\n');
    if (*r->remark) {
        printf("%*s", INDENT, "");
        flow(r->remark, INDENT, INDENT);
        putchar('\n');
    }
}

static void json_text(ff_json *json, const char *key, const char *text) {
    ff_json_string(json, key, text && *text ? text : NULL);
}

static void json_check(ff_json *json, const char *column, double value, double low, double high) {
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "column", column);
    ff_json_number(json, "value", value);
    ff_json_number(json, "low", low);
    ff_json_number(json, "high", high);
    ff_json_close(json, '}');
}

static void add_json(ff_json *json, const char *key, const table *t) {
    ff_json_open(json, key, '[');
    for (int i = 0; i < t->rows; i++) {
        const row *r = &t->row[i];
        const ff_paper_entry *e = r->entry;
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "claim", e->claim);
        json_text(json, "paper", e->paper);
        json_text(json, "printed", r->printed);
        json_text(json, "ours", r->ours);
        json_text(json, "best", r->best);
        json_text(json, "best_variant", e->best_name);
        json_text(json, "fused", r->fused);
        json_text(json, "ideal", r->ideal);
        json_text(json, "reproduced", reproduced(r));
        ff_json_open(json, "asserted", '[');
        for (int c = FF_COLUMN_PRINTED; c < FF_COLUMN_IDEAL && e->word.kept_by; c++)
            if (said_to_keep(r, c))
                json_check(json, column_name[c], r->x[c][0], e->word.low, e->word.high);
        for (int c = 0; c < FF_PAPER_CHECKS && e->check[c].given; c++)
            json_check(json, column_name[e->check[c].column], r->x[e->check[c].column][e->check[c].part],
                       e->check[c].low, e->check[c].high);
        ff_json_close(json, ']');
        ff_json_string(json, "remark", r->remark);
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
}

int ff_cmd_papers(int argc, char **argv) {
    const char *key = NULL;
    int status;
    bool json = false, quiet = false, brief = false;
    const ff_option options[] = {
        FF_OPT_FLAG("--json", &json), FF_OPT_FLAG("--quiet", &quiet), FF_OPT_FLAG("--short", &brief), {0}};
    if (ff_cli_parse(argc, argv, "papers", help, options, NULL, &key, &status))
        return status;
    const size_t count = sizeof papers / sizeof *papers;
    bool known = key == NULL, failed = false;
    for (size_t i = 0; i < count && key; i++)
        known = known || strcmp(papers[i]->key, key) == 0;
    if (!known) {
        char keys[256] = "";
        ff_guess guess = {.wrong = key};
        for (size_t i = 0, n = 0; i < count; i++) {
            n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", i ? ", " : "", papers[i]->key);
            ff_guess_add(&guess, papers[i]->key);
        }
        ff_cli_error("freefloat papers: '%s' is not a paper reproduced here%s; allowed: %s",
                     ff_show(key).text, ff_guess_hint(&guess).text, keys);
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
            if (!brief || !papers[i]->group[g].slow)
                run_group(&t, &papers[i]->group[g], quiet || json);
        if (json) {
            add_json(&text, papers[i]->key, &t);
        } else {
            printf("%s%s%s  ", ff_cli_bold(), papers[i]->key, ff_cli_plain());
            flow(papers[i]->title, (int)strlen(papers[i]->key) + 2, 2);
            putchar('\n');
            for (int r = 0; r < t.rows; r++)
                print_row(&t.row[r]);
        }
        for (int r = 0; r < t.rows; r++)
            t.failed = !judge_row(&t.row[r]) || t.failed;
        failed = failed || t.failed;
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
