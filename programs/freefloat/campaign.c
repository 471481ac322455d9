#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/json.h"
#include "campaign/conduct.h"
#include "catalog/library.h"
#include "commands.h"
#include "show.h"
#include "text/clock.h"
#include "text/message.h"

static const char help[] =
    "usage: freefloat campaign FILE [options]\n"
    "       mpirun -np N freefloat campaign FILE [options]\n\n"
    "Runs a base scenario many times over varied parameters and methods (docs/campaigns.md) and writes\n"
    "results.csv, summary.json, report.html and maps as SVG. Stopped by Ctrl-C, by a kill or by a power "
    "cut,\n"
    "started again, it continues where it stopped.\n\n"
    "  --threads N   threads of this process (default: all cores; 1 under mpirun)\n"
    "  --out DIR     folder for the files (default out/NAME): new, empty, or of the same campaign\n"
    "  --force       begin anew where another campaign was begun, or in a folder that is something else's\n"
    "  --dry-run     say how many runs, how long, how much disk; run nothing but a few probes\n"
    "  --yes         allow more than 1e9 samples\n"
    "  --json        print the summary instead of the table\n"
    "  --quiet       print nothing but errors\n\n"
    "exit status: 0 done, 1 stopped or the disk failed, 2 bad usage, campaign or scenario\n"
    "example: freefloat campaign campaigns/delay-stiffness.yaml --threads 2\n";

typedef struct options {
    const char *file, *out;
    int threads;
    bool dry_run, yes, json, quiet, force;
} options;

/* -------------------------------------------------------------------------------------------- progress -- */

typedef struct bar {
    ff_progress progress;
    char label[96];
    const char *what;
    uint64_t start; /* done before this process began */
    bool started, quiet;
} bar;

static bool show(void *user, uint64_t done, uint64_t total) {
    bar *b = user;
    if (!b->started) {
        b->started = true;
        b->start = done;
    }
    const double seconds = ff_clock_seconds() - b->progress.begin;
    const uint64_t fresh = done - b->start, left = total - b->start;
    snprintf(b->label, sizeof b->label, "%s %llu of %llu, %.0f/s", b->what, (unsigned long long)done,
             (unsigned long long)total, seconds > 0.0 ? (double)fresh / seconds : 0.0);
    return ff_progress_update(&b->progress, left ? (double)fresh / (double)left : 1.0);
}

static void bar_begin(void *user, const char *what) {
    bar *b = user;
    *b = (bar){.what = what, .quiet = b->quiet};
    ff_progress_start(&b->progress, b->label, b->quiet);
}

static void bar_end(void *user) {
    bar *b = user;
    ff_progress_stop(&b->progress);
}

static const char *duration_text(double seconds, char *text, size_t size) {
    if (seconds < 120.0)
        snprintf(text, size, "%.3g s", seconds);
    else if (seconds < 7200.0)
        snprintf(text, size, "%.0f min", seconds / 60.0);
    else if (seconds < 172800.0)
        snprintf(text, size, "%.1f h", seconds / 3600.0);
    else
        snprintf(text, size, "%.1f days", seconds / 86400.0);
    return text;
}

static const char *bytes_text(double bytes, char *text, size_t size) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int i = 0;
    for (; bytes >= 1000.0 && i < 5; i++)
        bytes /= 1000.0;
    snprintf(text, size, "%.3g %s", bytes, unit[i]);
    return text;
}

/* --------------------------------------------------------------------------------------------- dry run -- */

static int dry_run(const ff_campaign *c, const options *o, const ff_ranks *ranks) {
    ff_notes notes = {.error = ""};
    ff_conduct_cost cost;
    const double workers = (double)o->threads * ranks->count;
    const ff_outcome outcome = ff_conduct_estimate(c, workers, &cost, &notes);
    ff_show_notes(&notes);
    if (outcome != FF_DONE)
        return (int)outcome;
    char text[2][32];
    if (o->json) {
        ff_json json;
        ff_json_init(&json, true);
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "campaign", c->name);
        ff_json_integer(&json, "samples", (long long)c->samples);
        ff_json_integer(&json, "methods", c->methods);
        ff_json_integer(&json, "runs", (long long)cost.runs);
        ff_json_integer(&json, "workers", (long long)workers);
        ff_json_number(&json, "seconds", cost.seconds);
        ff_json_number(&json, "bytes", cost.bytes);
        ff_json_integer(&json, "probes", cost.probes);
        ff_json_integer(&json, "probes_failed", cost.probes_failed);
        ff_json_close(&json, '}');
        return ff_cli_json(ff_json_take(&json));
    }
    printf("%llu samples x %d methods = %.0f runs\n", (unsigned long long)c->samples, c->methods, cost.runs);
    printf("about %s on %.0f thread%s (%.3g ms a sample; %d probe runs, %d failed)\n",
           duration_text(cost.seconds, text[0], sizeof text[0]), workers, workers > 1 ? "s" : "",
           1e3 * cost.sample_s, cost.probes, cost.probes_failed);
    printf("about %s of disk, without the logs that `keep` asks for\n",
           bytes_text(cost.bytes, text[1], sizeof text[1]));
    printf("nothing was written\n");
    return FF_EXIT_DONE;
}

/* ------------------------------------------------------------------------------------------------ end -- */

/* One line for a metric under a method, or under all where the method does not matter; where nothing is
 * missing there is no column for it. */
static void add_spread(ff_table *table, ff_output *output, int metric, int method) {
    const ff_metric *m = &output->campaign->metric[metric];
    ff_spread *s = &output->spread[method][metric];
    static const double part[] = {0.0, 0.5, 0.95, 1.0};
    char missing[24] = "-", value[4][24];
    if (s->missing)
        snprintf(missing, sizeof missing, "%llu", (unsigned long long)s->missing);
    for (int i = 0; i < 4; i++) {
        const double v = ff_spread_quantile(s, part[i]);
        snprintf(value[i], sizeof value[i], isfinite(v) ? "%.4g" : "-", ff_output_shown(output, metric, v));
    }
    ff_table_add(table, "%s%s%s%s|%s|%llu|%s|%s|%s|%s|%s", m->name, *m->unit ? " [" : "", m->unit,
                 *m->unit ? "]" : "",
                 m->scenario_only ? "all" : output->campaign->method[method].variant.label,
                 (unsigned long long)s->count, missing, value[0], value[1], value[2], value[3]);
}

static void print_table(ff_output *output) {
    const ff_campaign *c = output->campaign;
    ff_table table;
    ff_table_init(&table, 8);
    table.keys = 2;
    ff_table_add(&table, "metric|method|runs|missing|least|median|95 %%|largest");
    for (int i = 0; i < c->metrics; i++)
        for (int m = 0; m < (c->metric[i].scenario_only ? 1 : c->methods); m++)
            add_spread(&table, output, i, m);
    ff_table_print(&table);
    ff_table_free(&table);
    printf("\nworst by %s, and how to run each again:\n", c->metric[c->worst_by].name);
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; i < output->worsts[m] && i < 3; i++) {
            const ff_listed *run = &output->worst[m][i];
            char *command = ff_campaign_command(c, run->slot / (uint64_t)c->methods, m);
            ff_cli_line("  %.4g  %s", ff_output_shown(output, c->worst_by, run->value),
                        command ? command : "");
            free(command);
        }
    if (output->failed)
        printf("\n%llu of %llu runs failed; the first:\n", (unsigned long long)output->failed,
               (unsigned long long)output->runs);
    for (int i = 0; i < output->faileds && i < 3; i++) {
        const ff_listed *run = &output->listed[i];
        char *command =
            ff_campaign_command(c, run->slot / (uint64_t)c->methods, (int)(run->slot % (uint64_t)c->methods));
        ff_cli_line("  %s: %s", run->reason, command ? command : "");
        free(command);
    }
}

/* What was made, where it is. */
static void print_end(const ff_conduct *conduct, const char *folder) {
    const ff_pool_result *pool = &conduct->pool;
    char text[32];
    print_table(conduct->output);
    if (pool->runs)
        printf("\n%llu runs in %s, %.0f a second", (unsigned long long)pool->runs,
               duration_text(pool->seconds, text, sizeof text), (double)pool->runs / pool->seconds);
    if (pool->references)
        printf("; %llu ideal references, shared %llu times", (unsigned long long)pool->references,
               (unsigned long long)pool->shared);
    putchar('\n');
    ff_cli_line("report in %s/report.html, table in %s/results.csv%s", folder, folder,
                conduct->kept > 0 ? ", logs in kept/" : "");
}

/* Repairs are reported even with --quiet. */
static void say(ff_notes *notes) {
    ff_cli_lines(notes->warning);
    ff_cli_lines(notes->error);
    ff_notes_clear(notes);
}

/* Everything after the campaign was read, on every rank; rank 0 keeps the files. */
static int execute(const ff_campaign *c, const options *o, ff_ranks *ranks) {
    const bool leader = ranks->rank == 0;
    ff_notes notes = {.error = ""};
    ff_conduct_place place;
    const bool begun =
        leader && ff_conduct_claim(c, o->out, o->force, ff_cli_program(), &place, &notes) == FF_DONE;
    bar b = {.quiet = o->quiet || o->json || !leader};
    const ff_conduct_options choices = {.folder = begun ? place.folder.path : NULL,
                                        .threads = o->threads,
                                        .begin = bar_begin,
                                        .progress = show,
                                        .end = bar_end,
                                        .user = &b};
    ff_conduct conduct;
    ff_outcome outcome = ff_conduct_begin(c, ranks, &choices, &conduct, &notes);
    const uint64_t before = conduct.journal.slots.done;
    say(&notes);
    if (outcome == FF_DONE && before && !b.quiet)
        fprintf(stderr, "%llu of %llu runs are done already\n", (unsigned long long)before,
                (unsigned long long)conduct.journal.slots.count);
    if (outcome == FF_DONE)
        outcome = ff_conduct_run(&conduct, ranks, &notes);
    if (leader && conduct.pool.stopped)
        ff_cli_error("stopped with %llu of %llu runs done; continue with the same command: freefloat "
                     "campaign %s%s%s",
                     (unsigned long long)before + (unsigned long long)conduct.pool.runs,
                     (unsigned long long)conduct.journal.slots.count, o->file, o->out ? " --out " : "",
                     o->out ? o->out : "");
    else if (leader && outcome == FF_DONE)
        outcome = ff_conduct_finish(&conduct, &notes);
    say(&notes);
    if (begun && outcome == FF_REFUSED) {
        ff_conduct_free(&conduct);
        ff_run_abandon(&place.folder);
    } else if (begun) {
        const ff_run_end end = {
            .whole = outcome == FF_DONE, .stopped = conduct.pool.stopped, .exit_status = (int)outcome};
        if (ff_run_finish(&place.folder, &end, &notes) != FF_DONE)
            outcome = FF_FAILED;
        say(&notes);
    }
    if (conduct.output && o->json) {
        if (ff_cli_json(ff_page_json(conduct.output, conduct.pool.seconds)) != FF_EXIT_DONE)
            outcome = FF_FAILED;
    } else if (conduct.output && !o->quiet)
        print_end(&conduct, outcome == FF_DONE ? place.folder.shown : place.folder.path);
    ff_conduct_free(&conduct);
    return (int)outcome;
}

/* Ranks other than 0 are silent, but for one that alone cannot read the campaign. */
static int with_ranks(const options *o, ff_campaign *c, bool bad, const char *message, const char *warnings,
                      ff_ranks *ranks) {
    int status = FF_EXIT_DONE;
    const uint64_t first = ff_ranks_least(ranks, bad ? (uint64_t)ranks->rank : UINT64_MAX);
    if (ranks->rank == 0)
        ff_cli_warn_lines(warnings);
    if (first != UINT64_MAX) {
        if (bad && first == (uint64_t)ranks->rank)
            ff_cli_error("%s%s", message,
                         ranks->rank ? " (on another rank; ranks must see the same files)" : "");
        status = FF_EXIT_USAGE;
    } else if (ff_ranks_least(ranks, c->hash[0]) != c->hash[0] ||
               ff_ranks_least(ranks, c->hash[1]) != c->hash[1]) {
        ff_cli_error("%s: the ranks see different files", o->file);
        status = FF_EXIT_USAGE;
    } else if (c->samples > 1000000000u && !o->yes && !o->dry_run) {
        if (ranks->rank == 0)
            ff_cli_error("%s: %llu samples are more than 1e9; --dry-run says what they cost, --yes runs them",
                         o->file, (unsigned long long)c->samples);
        status = FF_EXIT_USAGE;
    } else if (o->dry_run) {
        if (ranks->rank == 0)
            status = dry_run(c, o, ranks);
    } else
        status = execute(c, o, ranks);
    return status;
}

int ff_cmd_campaign(int argc, char **argv) {
    options o = {0};
    const char *threads = NULL;
    int status;
    const ff_option list[] = {FF_OPT("--threads", &threads),    FF_OPT("--out", &o.out),
                              FF_OPT_FLAG("--force", &o.force), FF_OPT_FLAG("--dry-run", &o.dry_run),
                              FF_OPT_FLAG("--yes", &o.yes),     FF_OPT_FLAG("--json", &o.json),
                              FF_OPT_FLAG("--quiet", &o.quiet), {0}};
    if (ff_cli_parse(argc, argv, "campaign", help, list, "campaign", &o.file, &status))
        return status;
    if (threads) {
        char *end;
        const long n = strtol(threads, &end, 10);
        if (*end || end == threads || n < 1 || n > 4096) {
            ff_cli_error("--threads %s: allowed: a whole number from 1 to 4096", threads);
            return FF_EXIT_USAGE;
        }
        o.threads = (int)n;
    }
    char message[2048], warnings[4096];
    ff_campaign *c = calloc(1, sizeof *c);
    if (!c) {
        ff_cli_error("freefloat campaign: no memory");
        return FF_EXIT_FAILED;
    }
    /* before there are ranks: a method library makes this a process of its own, which MPI would not survive
     */
    const bool bad = ff_campaign_load(o.file, &ff_catalog_libraries, c, message, sizeof message, warnings,
                                      sizeof warnings) < 0;
    ff_ranks ranks;
    if (ff_ranks_start(&ranks, message, sizeof message) != FF_OK) {
        ff_cli_error("freefloat campaign: %s", message);
        ff_campaign_free(c);
        free(c);
        return FF_EXIT_FAILED;
    }
    if (!o.threads) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        o.threads = ranks.on || cores < 1 ? 1 : (int)cores;
    }
    status = with_ranks(&o, c, bad, message, warnings, &ranks);
    ff_ranks_stop(&ranks);
    ff_campaign_free(c);
    free(c);
    return status;
}
