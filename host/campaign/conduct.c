/* campaign/conduct.c - begin, run, finish. */
#include "campaign/conduct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runs/runs.h"
#include "session/session.h"
#include "text/message.h"

/* ---------------------------------------------------------------------------------------------- begin -- */

/* A table that was cut is written again from the journal. */
static void check_table(const char *folder, ff_notes *notes) {
    char table[4400];
    struct stat info;
    snprintf(table, sizeof table, "%.4200s/results.csv", folder);
    FILE *file = stat(table, &info) == 0 ? fopen(table, "r") : NULL;
    if (!file)
        return;
    if (info.st_size == 0 || fseek(file, -1, SEEK_END) != 0 || fgetc(file) != '\n')
        ff_notes_warning(notes, "notice: %s was cut; it is written again from the journal", table);
    fclose(file);
}

static void note_repairs(const ff_journal *journal, ff_notes *notes) {
    if (journal->torn)
        ff_notes_warning(
            notes, "notice: %s ended in a torn record (%llu bytes); it is cut off and its run made again",
            journal->path, (unsigned long long)journal->torn);
    if (journal->damaged)
        ff_notes_warning(notes, "notice: %s has %llu damaged bytes; their runs are made again", journal->path,
                         (unsigned long long)journal->damaged);
}

ff_outcome ff_conduct_claim(const ff_campaign *c, const char *out, bool force, const ff_run_program *program,
                            ff_conduct_place *place, ff_notes *notes) {
    ff_run_folder *folder = &place->folder;
    size_t used = 0;
    *place = (ff_conduct_place){.folder = {.lock = -1}};
    for (int m = 0; m < c->methods; m++)
        used = ff_append(place->methods, sizeof place->methods, used, "%s%s", m ? "," : "",
                         c->method[m].variant.label);
    snprintf(place->key, sizeof place->key, "%016llx%016llx", (unsigned long long)c->hash[0],
             (unsigned long long)c->hash[1]);
    const ff_run_wanted wanted = {.out = out,
                                  .name = c->name,
                                  .force = force,
                                  .command = "campaign",
                                  .method = place->methods,
                                  .key = place->key,
                                  .inputs = &c->inputs,
                                  .program = program};
    const ff_outcome outcome = ff_run_begin(&wanted, folder, notes);
    if (outcome == FF_DONE && *folder->former && ff_journal_copy(folder->former, folder->path) != FF_OK)
        ff_notes_warning(notes, "notice: %s/results.journal cannot be taken over (%s); all is run again",
                         folder->former, strerror(errno));
    return outcome;
}

ff_outcome ff_conduct_begin(const ff_campaign *campaign, const ff_ranks *ranks,
                            const ff_conduct_options *options, ff_conduct *conduct, ff_notes *notes) {
    char message[4600] = "";
    *conduct = (ff_conduct){.campaign = campaign, .options = *options, .journal = {.file = -1}};
    ff_outcome outcome = FF_DONE;
    if (ranks->rank == 0) {
        if (!options->folder)
            outcome = FF_REFUSED;
        else
            check_table(options->folder, notes);
        if (outcome == FF_DONE &&
            ff_journal_open(options->folder, campaign, &conduct->journal, message, sizeof message) != FF_OK)
            outcome = ff_notes_error(notes, FF_REFUSED, "%s", message);
        if (outcome == FF_DONE)
            note_repairs(&conduct->journal, notes);
    }
    return ff_ranks_least(ranks, outcome == FF_DONE ? 1 : 0) ? FF_DONE : FF_REFUSED;
}

/* ------------------------------------------------------------------------------------------------ run -- */

static void begin(const ff_conduct *conduct, const char *what) {
    if (conduct->options.begin)
        conduct->options.begin(conduct->options.user, what);
}

static void end(const ff_conduct *conduct) {
    if (conduct->options.end)
        conduct->options.end(conduct->options.user);
}

static ff_status check_samples(ff_conduct *conduct, const ff_ranks *ranks, const ff_pool_options *pool) {
    ff_pool_result *result = &conduct->pool;
    begin(conduct, "checking");
    ff_status done = ff_pool_check(conduct->campaign, ranks, pool, result);
    end(conduct);
    if (done >= 0 && !result->stopped && ranks->rank == 0 &&
        ff_journal_mark_checked(&conduct->journal) != FF_OK) {
        snprintf(result->message, sizeof result->message, "%.400s: cannot be written (%s)",
                 conduct->journal.path, strerror(errno));
        done = FF_ERR_IO;
    }
    return ff_ranks_least(ranks, done < 0 ? 0 : 1) ? FF_OK : done < 0 ? done : FF_ERR_DEVICE;
}

static ff_outcome conclude(const ff_conduct *conduct, ff_status done, ff_notes *notes) {
    if (done >= 0)
        return conduct->pool.stopped ? FF_FAILED : FF_DONE;
    ff_notes_error(notes, FF_FAILED, "%s", conduct->pool.message);
    if (done == FF_ERR_IO)
        ff_notes_error(notes, FF_FAILED,
                       "what was written stays; free disk space and run the same command again to continue");
    if (done != FF_ERR_FORMAT)
        return FF_FAILED;
    if (conduct->journal.slots.done == 0)
        unlink(conduct->journal.path); /* nothing has run: nothing is left */
    return FF_REFUSED;
}

ff_outcome ff_conduct_run(ff_conduct *conduct, ff_ranks *ranks, ff_notes *notes) {
    const ff_pool_options pool = {.threads = conduct->options.threads,
                                  .progress = conduct->options.progress,
                                  .user = conduct->options.user};
    const bool leader = ranks->rank == 0;
    ff_status done = FF_OK;
    /* the other ranks do not know whether it was done: they follow rank 0 */
    if (ff_ranks_least(ranks, !leader || conduct->journal.checked ? 1 : 0) == 0)
        done = check_samples(conduct, ranks, &pool);
    if (done >= 0 && !conduct->pool.stopped) {
        begin(conduct, "runs");
        done =
            ff_pool_run(conduct->campaign, leader ? &conduct->journal : NULL, ranks, &pool, &conduct->pool);
        end(conduct);
    }
    ff_ranks_stop(ranks);
    return leader ? conclude(conduct, done, notes) : FF_DONE;
}

/* --------------------------------------------------------------------------------------------- finish -- */

static ff_outcome write_figure(const char *folder, const char *kind, int number, const char *metric,
                               char *svg, ff_notes *notes) {
    char name[FF_NAME_SIZE + 40], file[FF_NAME_SIZE + 48];
    if (!svg)
        return FF_DONE; /* nothing to show */
    if (number >= 0)
        snprintf(name, sizeof name, "%s-%d-%s", kind, number + 1, metric);
    else
        snprintf(name, sizeof name, "%s-%s", kind, metric);
    ff_run_plain(name, file, 161);
    memcpy(file + strlen(file), ".svg", 5);
    const ff_outcome outcome = ff_session_write(folder, file, svg, notes);
    free(svg);
    return outcome;
}

static bool write_results(ff_conduct *conduct, ff_notes *notes) {
    const ff_campaign *c = conduct->campaign;
    const char *folder = conduct->options.folder;
    int failed = 0;
    for (int i = 0; i < c->maps; i++)
        failed += write_figure(folder, "map", i, c->metric[c->map[i].show].name,
                               ff_figure_map(conduct->output, i), notes) != FF_DONE;
    for (int i = 0; i < c->metrics; i++)
        if (!c->metric[i].scenario_only)
            failed += write_figure(folder, "distribution", -1, c->metric[i].name,
                                   ff_figure_bars(conduct->output, i), notes) != FF_DONE;
    char *json = ff_page_json(conduct->output, conduct->pool.seconds), page[4400];
    failed += (json ? ff_session_write(folder, "summary.json", json, notes)
                    : ff_notes_error(notes, FF_FAILED, "%s/summary.json: no memory", folder)) != FF_DONE;
    free(json);
    snprintf(page, sizeof page, "%s/report.html", folder);
    const ff_status status = ff_page_write(conduct->output, page);
    if (status < 0) {
        ff_notes_error(notes, FF_FAILED, "%s: cannot be written (%s)", page,
                       status == FF_ERR_MEMORY ? "no memory" : strerror(errno));
        failed++;
    }
    return failed == 0;
}

ff_outcome ff_conduct_finish(ff_conduct *conduct, ff_notes *notes) {
    char message[4600] = "no memory for the results";
    ff_output *output = calloc(1, sizeof *output);
    ff_status status = output ? ff_journal_rescan(&conduct->journal) : FF_ERR_MEMORY;
    if (status >= 0 && conduct->journal.slots.done < conduct->journal.slots.count)
        status = FF_ERR_MEMORY; /* every run is in the file: the list of them could not grow */
    if (status >= 0)
        status = ff_output_make(conduct->campaign, &conduct->journal, conduct->options.folder, output,
                                message, sizeof message);
    if (status < 0) {
        if (output)
            ff_output_free(output);
        free(output);
        return ff_notes_error(notes, FF_FAILED, "%s; the runs are kept in %s", message,
                              conduct->journal.path);
    }
    conduct->output = output;
    const bool written = write_results(conduct, notes);
    begin(conduct, "logs");
    conduct->kept = ff__conduct_keep(conduct, notes);
    end(conduct);
    return written && conduct->kept >= 0 ? FF_DONE : FF_FAILED;
}

void ff_conduct_free(ff_conduct *conduct) {
    if (conduct->output)
        ff_output_free(conduct->output);
    free(conduct->output);
    conduct->output = NULL;
    ff_journal_close(&conduct->journal);
}
