/* abi/campaign.c - a campaign run into its folder, and its table as arrays: campaign/conduct.h behind a
 * handle. */
#include "abi/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign/conduct.h"
#include "catalog/library.h"
#include "text/shipped.h"

struct ffh_campaign {
    ff_campaign campaign;
    char *summary;
    char folder[FF_FILE_PATH];
    double *values;          /* varied[varies][samples], then metrics[metrics][samples][methods] */
    ff_campaign_case sample; /* that was asked for last */
    int (*progress)(void *user, double part);
    void *user;
};

void ffh_campaign_close(ffh_campaign *c) {
    if (!c)
        return;
    ff_campaign_free(&c->campaign);
    free(c->summary);
    free(c->values);
    free(c);
}

static size_t varied(const ffh_campaign *c) {
    return (size_t)c->campaign.varies * (size_t)c->campaign.samples;
}

static size_t runs(const ffh_campaign *c) {
    return (size_t)c->campaign.samples * (size_t)c->campaign.methods;
}

static ff_status take_record(void *user, const ff_record *record) {
    ffh_campaign *c = user;
    for (int m = 0; m < c->campaign.metrics; m++)
        c->values[varied(c) + (size_t)m * runs(c) + (size_t)record->slot] = record->metric[m];
    return FF_OK;
}

static int read_table(ffh_campaign *c, ff_journal *journal, ffh_error *error) {
    const size_t count = varied(c) + (size_t)c->campaign.metrics * runs(c);
    c->values = malloc((count + 1) * sizeof *c->values);
    if (!c->values)
        return ff__abi_fail(error, FFH_MEMORY, "%s: no memory for %zu values", c->campaign.path, count);
    for (size_t i = 0; i < count; i++)
        c->values[i] = FF_NAN;
    for (uint64_t s = 0; s < c->campaign.samples; s++) {
        ff_campaign_sample(&c->campaign, s, &c->sample);
        for (int v = 0; v < c->campaign.varies; v++)
            c->values[(size_t)v * (size_t)c->campaign.samples + (size_t)s] =
                ff_campaign_case_number(&c->campaign, &c->sample, v);
    }
    if (ff_journal_each(journal, take_record, c) < 0)
        return ff__abi_fail(error, FFH_FILES, "%s: its journal cannot be read", c->campaign.path);
    return FFH_OK;
}

static bool count_runs(void *user, uint64_t done, uint64_t total) {
    const ffh_campaign *c = user;
    return !c->progress || c->progress(c->user, total ? (double)done / (double)total : 0.0);
}

/* In its folder, which is claimed. */
static int conduct(ffh_campaign *c, ff_run_folder *folder, int threads, ff_notes *notes, ffh_error *error) {
    ff_ranks alone = {.count = 1};
    const ff_conduct_options options = {
        .folder = folder->path, .threads = threads, .progress = count_runs, .user = c};
    ff_conduct conduct_;
    ff_outcome outcome = ff_conduct_begin(&c->campaign, &alone, &options, &conduct_, notes);
    if (outcome == FF_DONE)
        outcome = ff_conduct_run(&conduct_, &alone, notes);
    const bool stopped = conduct_.pool.stopped;
    if (outcome == FF_DONE && !stopped)
        outcome = ff_conduct_finish(&conduct_, notes);
    int kind = outcome == FF_DONE ? FFH_OK : outcome == FF_REFUSED ? FFH_SCENARIO : FFH_FILES;
    if (stopped) {
        ff_notes_error(notes, FF_FAILED, "%s: stopped; what is done is kept in %s", c->campaign.path,
                       folder->path);
        outcome = FF_FAILED;
        kind = FFH_STOPPED;
    }
    if (outcome == FF_DONE && conduct_.output)
        c->summary = ff_page_json(conduct_.output, conduct_.pool.seconds);
    kind = ff__abi_notes(error, kind, outcome, notes);
    if (kind == FFH_OK)
        kind = read_table(c, &conduct_.journal, error);
    ff_conduct_free(&conduct_);
    if (outcome == FF_REFUSED) {
        ff_run_abandon(folder);
        return kind;
    }
    const ff_run_end end = {.whole = outcome == FF_DONE, .stopped = stopped, .exit_status = (int)outcome};
    if (ff_run_finish(folder, &end, notes) != FF_DONE && kind == FFH_OK)
        kind = ff__abi_notes(error, FFH_FILES, FF_FAILED, notes);
    snprintf(c->folder, sizeof c->folder, "%s", end.whole ? folder->shown : folder->path);
    return kind;
}

ffh_campaign *ffh_campaign_run(const char *path, const ffh_campaign_options *options, ffh_error *error) {
    static const ffh_campaign_options none = {.out = ""};
    const ffh_campaign_options *o = options ? options : &none;
    ff_notes notes = {.error = ""};
    char message[2048], warnings[4096], shipped[FF_FILE_PATH];
    ff__abi_clear(error);
    if (ff_shipped_find("campaigns", path, shipped))
        path = shipped;
    ffh_campaign *c = calloc(1, sizeof *c);
    if (!c) {
        ff__abi_fail(error, FFH_MEMORY, "%s: no memory", path);
        return NULL;
    }
    c->progress = o->progress;
    c->user = o->user;
    if (ff_campaign_load(path, &ff_catalog_trusted, &c->campaign, message, sizeof message, warnings,
                         sizeof warnings) < 0) {
        const ff_outcome refused = ff_notes_error(&notes, FF_REFUSED, "%s", message);
        ff__abi_notes(error, FFH_SCENARIO, refused, &notes);
        ffh_campaign_close(c);
        return NULL;
    }
    ff_notes_warning(&notes, "%s", warnings);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const int threads = o->threads > 0 ? o->threads : cores > 0 ? (int)cores : 1;
    ff_conduct_place place;
    const ff_outcome claimed =
        ff_conduct_claim(&c->campaign, o->out && *o->out ? o->out : NULL, o->force, NULL, &place, &notes);
    int kind = FFH_FILES;
    if (claimed == FF_DONE)
        kind = conduct(c, &place.folder, threads, &notes, error);
    else
        ff__abi_notes(error, FFH_FILES, claimed, &notes);
    if (kind == FFH_OK)
        return c;
    ffh_campaign_close(c);
    return NULL;
}

void ffh_campaign_describe(const ffh_campaign *c, ffh_campaign_info *info) {
    *info = (ffh_campaign_info){.name = c->campaign.name,
                                .folder = c->folder,
                                .summary = c->summary,
                                .samples = c->campaign.samples,
                                .methods = c->campaign.methods,
                                .varied = c->campaign.varies,
                                .metrics = c->campaign.metrics};
}

const char *ffh_campaign_method(const ffh_campaign *c, int method) {
    return method >= 0 && method < c->campaign.methods ? c->campaign.method[method].variant.label : NULL;
}

const double *ffh_campaign_column(const ffh_campaign *c, int column, const char **name, const char **unit) {
    const int vary = c->campaign.varies;
    if (column < 0 || column >= vary + c->campaign.metrics)
        return NULL;
    *name = ff_campaign_column(&c->campaign, column);
    *unit = ff_campaign_unit(&c->campaign, column);
    return column < vary ? c->values + (size_t)column * (size_t)c->campaign.samples
                         : c->values + varied(c) + (size_t)(column - vary) * runs(c);
}

const char *ffh_campaign_text(ffh_campaign *c, int column, uint64_t sample) {
    if (column < 0 || column >= c->campaign.varies || c->campaign.vary[column].numeric ||
        sample >= c->campaign.samples)
        return NULL;
    ff_campaign_sample(&c->campaign, sample, &c->sample);
    return ff_campaign_case_text(&c->campaign, &c->sample, column);
}
