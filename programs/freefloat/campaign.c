#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "campaign/output.h"
#include "campaign/pool.h"
#include "campaign/worker.h"
#include "catalog/library.h"
#include "commands.h"
#include "record/csv.h"
#include "session.h"
#include "text/clock.h"

static const char help[] =
    "usage: freefloat campaign FILE [options]\n"
    "       mpirun -np N freefloat campaign FILE [options]\n\n"
    "Runs a base scenario many times over varied parameters and methods (docs/campaigns.md) and writes\n"
    "results.csv, summary.json, report.html and maps as SVG. Stopped by Ctrl-C, by a kill or by a power "
    "cut,\n"
    "started again, it continues where it stopped.\n\n"
    "  --threads N   threads of this process (default: all cores; 1 under mpirun)\n"
    "  --out DIR     folder for the files (default out/NAME)\n"
    "  --dry-run     say how many runs, how long, how much disk; run nothing but a few probes\n"
    "  --yes         allow more than 1e9 samples\n"
    "  --json        print the summary instead of the table\n"
    "  --quiet       print nothing but errors\n\n"
    "exit status: 0 done, 1 stopped or the disk failed, 2 bad usage, campaign or scenario\n"
    "example: freefloat campaign campaigns/delay-stiffness.yaml --threads 2\n";

typedef struct options {
    const char *file, *out;
    int threads;
    bool dry_run, yes, json, quiet;
} options;

/* -------------------------------------------------------------------------------------------- progress -- */

typedef struct bar {
    ff_progress progress;
    char label[96];
    const char *what;
    uint64_t start; /* done before this process began */
    bool started;
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

static void bar_start(bar *b, const char *what, bool quiet) {
    *b = (bar){.what = what};
    ff_progress_start(&b->progress, b->label, quiet);
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

/* A few samples, spread over the whole, at most about a second of them. */
static int dry_run(const ff_campaign *c, const options *o, const ff_ranks *ranks) {
    char message[512];
    ff_references *references = ff_references_create((size_t)16 << 20);
    ff_worker *worker = references ? ff_worker_create(c, references, NULL, message, sizeof message) : NULL;
    ff_record *records = malloc(sizeof *records * (size_t)c->methods);
    if (!worker || !records) {
        ff_cli_error("freefloat campaign: no memory");
        ff_worker_free(worker);
        ff_references_free(references);
        free(records);
        return FF_EXIT_FAILED;
    }
    const double begin = ff_clock_seconds();
    uint64_t probes = 0, most = c->samples < 256 ? c->samples : 256;
    int failed = 0, runs = 0;
    double first = 0.0;
    for (; probes < most && ff_clock_seconds() - begin < 1.0; probes++) {
        int count;
        const uint64_t index = (uint64_t)((double)c->samples * ((double)probes + 0.5) / (double)most);
        ff_worker_run(worker, index, UINT32_MAX, records, &count);
        for (int i = 0; i < count; i++)
            failed += records[i].status < 0;
        runs += count;
        if (probes == 0)
            first = ff_clock_seconds() - begin; /* caches fill here */
    }
    const double spent = ff_clock_seconds() - begin;
    const double each = probes > 1 ? (spent - first) / (double)(probes - 1) : spent;
    const double workers = (double)o->threads * ranks->count;
    const double all = each * (double)c->samples / workers + 2e-5 * (double)c->samples * c->methods;
    const double total = (double)c->samples * c->methods;
    const double bytes = total * (24.0 + 8.0 * c->metrics + 20.0 + 12.0 * c->varies + 20.0 * c->metrics);
    char text[2][32];
    if (o->json)
        printf(
            "{\"campaign\": \"%s\", \"samples\": %llu, \"methods\": %d, \"runs\": %.0f, \"workers\": %.0f, "
            "\"seconds\": %.6g, \"bytes\": %.6g, \"probes\": %d, \"probes_failed\": %d}\n",
            c->name, (unsigned long long)c->samples, c->methods, total, workers, all, bytes, runs, failed);
    else {
        printf("%llu samples x %d methods = %.0f runs\n", (unsigned long long)c->samples, c->methods, total);
        printf("about %s on %.0f thread%s (%.3g ms a sample; %d probe runs, %d failed)\n",
               duration_text(all, text[0], sizeof text[0]), workers, workers > 1 ? "s" : "", 1e3 * each, runs,
               failed);
        printf("about %s of disk, without the logs that `keep` asks for\n",
               bytes_text(bytes, text[1], sizeof text[1]));
        printf("nothing was written\n");
    }
    ff_worker_free(worker);
    ff_references_free(references);
    free(records);
    return FF_EXIT_DONE;
}

/* ----------------------------------------------------------------------------------------- kept logs -- */

typedef struct kept_log {
    ff_csv csv;
    const char *path;
    bool open;
} kept_log;

static ff_sink open_log(void *user, const ff_scenario *scenario) {
    kept_log *l = user;
    l->open = ff_csv_open(l->path, scenario, &l->csv) == FF_OK;
    return l->open ? ff_csv_sink(&l->csv) : (ff_sink){0};
}

/* Runs repeat to the bit: a log is made when it is known that it is wanted. */
static bool keep_log(ff_worker *worker, const ff_campaign *c, uint64_t slot, const char *folder) {
    const uint64_t index = slot / (uint64_t)c->methods;
    const int method = (int)(slot % (uint64_t)c->methods);
    char name[64 + FF_NAME_SIZE], path[4400];
    snprintf(name, sizeof name, "%llu-%s", (unsigned long long)index, c->method[method].label);
    char *kept = ff_session_folder(folder, NULL, "kept"), *sub = ff_session_folder(kept, NULL, name);
    bool good = kept && sub && ff_make_folder(sub) == 0;
    if (good) {
        snprintf(path, sizeof path, "%.4300s/log.csv", sub);
        kept_log l = {.path = path};
        ff_worker_view view;
        const ff_status status = ff_worker_rerun(worker, index, method, open_log, &l, &view);
        good = l.open && ff_csv_close(&l.csv, true) == FF_OK;
        if (!good)
            ff_cli_error("%s: cannot be written (%s)", path, strerror(errno ? errno : ENOSPC));
        char *text = good && status == FF_OK ? ff_summary_json(view.metrics, view.run) : NULL;
        if (text)
            good = ff_write_whole(sub, "summary.json", text) == 0;
        free(text);
        char *command = ff_campaign_command(c, index, method), *line = NULL;
        if (command && asprintf(&line, "%s\n", command) > 0)
            good = good && ff_write_whole(sub, "command", line) == 0;
        free(line);
        free(command);
    }
    free(kept);
    free(sub);
    return good;
}

static int keep_logs(const ff_campaign *c, const ff_output *output, const char *folder, bool quiet) {
    char message[512];
    int wanted = c->keep_failed ? output->faileds : 0, made = 0;
    for (int m = 0; m < c->methods; m++)
        wanted += c->keep_worst ? output->worsts[m] : 0;
    if (!wanted)
        return 0;
    ff_references *references = ff_references_create((size_t)16 << 20);
    ff_worker *worker = references ? ff_worker_create(c, references, NULL, message, sizeof message) : NULL;
    bar b;
    bar_start(&b, "logs", quiet);
    bool good = worker != NULL;
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; good && c->keep_worst && i < output->worsts[m]; i++) {
            good = keep_log(worker, c, output->worst[m][i].slot, folder) &&
                   show(&b, (uint64_t)++made, (uint64_t)wanted);
        }
    for (int i = 0; good && c->keep_failed && i < output->faileds; i++)
        good = keep_log(worker, c, output->listed[i].slot, folder) &&
               show(&b, (uint64_t)++made, (uint64_t)wanted);
    ff_progress_stop(&b.progress);
    ff_worker_free(worker);
    ff_references_free(references);
    return good ? made : -1;
}

/* ------------------------------------------------------------------------------------------------ end -- */

static bool write_figure(const char *folder, const char *kind, int number, const char *metric, char *svg) {
    char name[FF_NAME_SIZE + 40];
    if (!svg)
        return true; /* nothing to show */
    if (number >= 0)
        snprintf(name, sizeof name, "%s-%d-%s", kind, number + 1, metric);
    else
        snprintf(name, sizeof name, "%s-%s", kind, metric);
    char *safe = ff_session_folder("", NULL, name); /* "/name" with plain characters */
    char file[FF_NAME_SIZE + 48];
    snprintf(file, sizeof file, "%.160s.svg", safe ? safe + 1 : name);
    const bool good = ff_write_whole(folder, file, svg) == 0;
    free(safe);
    free(svg);
    return good;
}

static bool write_text(const char *folder, const char *name, char *text) {
    const bool good = text && ff_write_whole(folder, name, text) == 0;
    if (!text)
        ff_cli_error("%s/%s: no memory", folder, name);
    free(text);
    return good;
}

static void print_table(ff_output *output) {
    const ff_campaign *c = output->campaign;
    ff_table table;
    ff_table_init(&table, 8);
    ff_table_add(&table, "metric|method|runs|missing|least|median|95 %%|largest");
    for (int i = 0; i < c->metrics; i++)
        for (int m = 0; m < c->methods; m++) {
            ff_spread *s = &output->spread[m][i];
            char name[200];
            snprintf(name, sizeof name, "%s%s%s%s", c->metric[i].name, *c->metric[i].unit ? " [" : "",
                     c->metric[i].unit, *c->metric[i].unit ? "]" : "");
            if (s->count)
                ff_table_add(&table, "%s|%s|%llu|%llu|%.4g|%.4g|%.4g|%.4g", name, c->method[m].label,
                             (unsigned long long)s->count, (unsigned long long)s->missing,
                             ff_spread_quantile(s, 0.0), ff_spread_quantile(s, 0.5),
                             ff_spread_quantile(s, 0.95), ff_spread_quantile(s, 1.0));
            else
                ff_table_add(&table, "%s|%s|0|%llu|-|-|-|-", name, c->method[m].label,
                             (unsigned long long)s->missing);
        }
    ff_table_print(&table);
    ff_table_free(&table);
    printf("\nworst by %s, and how to run each again:\n", c->metric[c->worst_by].name);
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; i < output->worsts[m] && i < 3; i++) {
            const ff_listed *run = &output->worst[m][i];
            char *command = ff_campaign_command(c, run->slot / (uint64_t)c->methods, m);
            printf("  %.4g  %s\n", run->value, command ? command : "");
            free(command);
        }
    if (output->failed)
        printf("\n%llu of %llu runs failed; the first:\n", (unsigned long long)output->failed,
               (unsigned long long)output->runs);
    for (int i = 0; i < output->faileds && i < 3; i++) {
        const ff_listed *run = &output->listed[i];
        char *command =
            ff_campaign_command(c, run->slot / (uint64_t)c->methods, (int)(run->slot % (uint64_t)c->methods));
        printf("  %s: %s\n", run->reason, command ? command : "");
        free(command);
    }
}

static int finish(const ff_campaign *c, ff_journal *journal, const char *folder, const options *o,
                  const ff_pool_result *pool) {
    char message[4600];
    ff_output *output = calloc(1, sizeof *output);
    ff_status status = output ? ff_journal_rescan(journal) : FF_ERR_MEMORY;
    int result = FF_EXIT_FAILED;
    snprintf(message, sizeof message, "no memory for the results");
    if (status >= 0)
        status = ff_output_make(c, journal, folder, output, message, sizeof message);
    if (status < 0) {
        ff_cli_error("%s; the runs are kept in %s", message, journal->path);
    } else {
        bool good = true;
        for (int i = 0; i < c->maps; i++)
            good = write_figure(folder, "map", i, c->metric[c->map[i].show].name, ff_figure_map(output, i)) &&
                   good;
        for (int i = 0; i < c->metrics; i++)
            if (!c->metric[i].scenario_only)
                good =
                    write_figure(folder, "distribution", -1, c->metric[i].name, ff_figure_bars(output, i)) &&
                    good;
        good = write_text(folder, "summary.json", ff_page_json(output, pool->seconds)) && good;
        snprintf(message, sizeof message, "%s/report.html", folder);
        if (ff_page_write(output, message) < 0) {
            ff_cli_error("%s: cannot be written (%s)", message, strerror(errno));
            good = false;
        }
        const int kept = keep_logs(c, output, folder, o->quiet || o->json);
        good = good && kept >= 0;
        if (o->json) {
            char *json = ff_page_json(output, pool->seconds);
            fputs(json ? json : "{}\n", stdout);
            free(json);
        } else if (!o->quiet) {
            print_table(output);
            char text[32];
            if (pool->runs)
                printf("\n%llu runs in %s, %.0f a second", (unsigned long long)pool->runs,
                       duration_text(pool->seconds, text, sizeof text), (double)pool->runs / pool->seconds);
            if (pool->references)
                printf("; %llu ideal references, shared %llu times", (unsigned long long)pool->references,
                       (unsigned long long)pool->shared);
            printf("\nreport in %s/report.html, table in %s/results.csv%s\n", folder, folder,
                   kept > 0 ? ", logs in kept/" : "");
        }
        result = good ? FF_EXIT_DONE : FF_EXIT_FAILED;
    }
    if (output)
        ff_output_free(output);
    free(output);
    return result;
}

/* A table that was cut is written again from the journal; one without a journal is someone else's. */
static int check_table(const char *folder, bool *cut) {
    char table[4400], journal[4400];
    struct stat info;
    snprintf(table, sizeof table, "%.4200s/results.csv", folder);
    snprintf(journal, sizeof journal, "%.4200s/results.journal", folder);
    *cut = false;
    if (stat(table, &info) != 0)
        return FF_EXIT_DONE;
    if (access(journal, F_OK) != 0) {
        ff_cli_error(
            "%s: stands there without its results.journal; choose another folder with --out, or remove "
            "this table",
            table);
        return FF_EXIT_USAGE;
    }
    FILE *file = fopen(table, "r");
    if (file) {
        *cut = info.st_size == 0 || fseek(file, -1, SEEK_END) != 0 || fgetc(file) != '\n';
        fclose(file);
    }
    return FF_EXIT_DONE;
}

static void tell_repairs(const ff_journal *journal, const char *folder, bool cut, bool quiet) {
    const uint64_t done = journal->slots.done;
    if (cut)
        fprintf(stderr, "notice: %s/results.csv was cut; it is written again from the journal\n", folder);
    if (journal->torn)
        fprintf(stderr,
                "notice: %s ended in a torn record (%llu bytes); it is cut off and its run made again\n",
                journal->path, (unsigned long long)journal->torn);
    if (journal->damaged)
        fprintf(stderr, "notice: %s has %llu damaged bytes; their runs are made again\n", journal->path,
                (unsigned long long)journal->damaged);
    if (done && !quiet)
        fprintf(stderr, "%llu of %llu runs are done already\n", (unsigned long long)done,
                (unsigned long long)journal->slots.count);
}

/* Everything after the campaign was read, on every rank; rank 0 keeps the files. */
static int execute(const ff_campaign *c, const options *o, ff_ranks *ranks) {
    char message[4600] = "";
    ff_journal journal = {.file = -1};
    char *folder = NULL;
    bool cut = false;
    int status = FF_EXIT_DONE;
    if (ranks->rank == 0) {
        folder = ff_session_folder(o->out, c->name, NULL);
        status = !folder                       ? FF_EXIT_FAILED
                 : ff_make_folder(folder) == 0 ? check_table(folder, &cut)
                                               : FF_EXIT_USAGE;
        if (status == FF_EXIT_DONE &&
            ff_journal_open(folder, c, &journal, message, sizeof message) != FF_OK) {
            ff_cli_error("%s", message);
            status = FF_EXIT_USAGE;
        } else if (status == FF_EXIT_DONE)
            tell_repairs(&journal, folder, cut, o->quiet || o->json);
    }
    if (ff_ranks_least(ranks, status == FF_EXIT_DONE ? 1 : 0) == 0) {
        ff_journal_close(&journal);
        free(folder);
        return status ? status : FF_EXIT_USAGE;
    }
    ff_pool_result result = {0};
    bar b;
    ff_pool_options pool = {.threads = o->threads, .progress = show, .user = &b};
    ff_status done = FF_OK;
    /* the other ranks do not know whether it was done: they follow rank 0 */
    const bool check = ff_ranks_least(ranks, ranks->rank || journal.checked ? 1 : 0) == 0;
    if (check) {
        bar_start(&b, "checking", o->quiet || o->json || ranks->rank);
        done = ff_pool_check(c, ranks, &pool, &result);
        ff_progress_stop(&b.progress);
        if (done >= 0 && !result.stopped && ranks->rank == 0 && ff_journal_mark_checked(&journal) != FF_OK) {
            snprintf(result.message, sizeof result.message, "%.400s: cannot be written (%s)", journal.path,
                     strerror(errno));
            done = FF_ERR_IO;
        }
        done = ff_ranks_least(ranks, done < 0 ? 0 : 1) ? FF_OK : done < 0 ? done : FF_ERR_DEVICE;
    }
    if (done >= 0 && !result.stopped) {
        bar_start(&b, "runs", o->quiet || o->json || ranks->rank);
        done = ff_pool_run(c, ranks->rank ? NULL : &journal, ranks, &pool, &result);
        ff_progress_stop(&b.progress);
    }
    const bool leader = ranks->rank == 0;
    ff_ranks_stop(ranks);
    if (leader && done < 0) {
        ff_cli_error("%s", result.message);
        status = done == FF_ERR_FORMAT ? FF_EXIT_USAGE : FF_EXIT_FAILED;
        if (done == FF_ERR_IO)
            ff_cli_error(
                "what was written stays; free disk space and run the same command again to continue");
        if (done == FF_ERR_FORMAT && journal.slots.done == 0)
            unlink(journal.path); /* nothing has run: nothing is left */
    } else if (leader && result.stopped) {
        ff_cli_error("stopped with %llu of %llu runs done; continue with the same command: freefloat "
                     "campaign %s --out %s",
                     (unsigned long long)journal.slots.done + (unsigned long long)result.runs,
                     (unsigned long long)journal.slots.count, o->file, folder);
        status = FF_EXIT_FAILED;
    } else if (leader)
        status = finish(c, &journal, folder, o, &result);
    if (leader)
        ff_journal_close(&journal);
    free(folder);
    return status;
}

/* Ranks other than 0 are silent, but for one that alone cannot read the campaign. */
static int with_ranks(const options *o, ff_ranks *ranks) {
    char message[2048], warnings[4096];
    ff_campaign *c = calloc(1, sizeof *c);
    if (!c)
        return FF_EXIT_FAILED;
    const ff_status loaded = ff_campaign_load(o->file, &ff_catalog_libraries, c, message, sizeof message,
                                              warnings, sizeof warnings);
    int status = FF_EXIT_DONE;
    const bool bad = loaded < 0;
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
    ff_campaign_free(c);
    free(c);
    return status;
}

int ff_cmd_campaign(int argc, char **argv) {
    options o = {0};
    const char *threads = NULL;
    int status;
    const ff_option list[] = {FF_OPT("--threads", &threads),
                              FF_OPT("--out", &o.out),
                              FF_OPT_FLAG("--dry-run", &o.dry_run),
                              FF_OPT_FLAG("--yes", &o.yes),
                              FF_OPT_FLAG("--json", &o.json),
                              FF_OPT_FLAG("--quiet", &o.quiet),
                              {0}};
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
    ff_ranks ranks;
    ff_ranks_start(&ranks);
    if (!o.threads) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        o.threads = ranks.on || cores < 1 ? 1 : (int)cores;
    }
    status = with_ranks(&o, &ranks);
    ff_ranks_stop(&ranks);
    return status;
}
