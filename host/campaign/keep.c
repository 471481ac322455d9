/* campaign/keep.c - the logs that a campaign keeps: runs repeat to the bit, so a log is made when it is known
 * that it is wanted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/conduct.h"
#include "campaign/worker.h"
#include "record/csv.h"
#include "runs/runs.h"
#include "session/session.h"

typedef struct kept_log {
    ff_csv csv;
    const char *path;
    ff_status opened; /* FF_ERR_MEMORY before the run comes to it */
} kept_log;

static ff_sink open_log(void *user, const ff_scenario *scenario) {
    kept_log *l = user;
    l->opened = ff_csv_open(l->path, scenario, &l->csv);
    return l->opened == FF_OK ? ff_csv_sink(&l->csv) : (ff_sink){0};
}

/* log.csv, summary.json and the command that makes them again. */
static bool write_run(ff_worker *worker, const ff_campaign *c, uint64_t index, int method, bool failed,
                      const char *folder, ff_notes *notes) {
    char path[4400];
    snprintf(path, sizeof path, "%.4300s/log.csv", folder);
    kept_log l = {.path = path, .opened = FF_ERR_MEMORY};
    ff_worker_view view;
    const ff_status status = ff_worker_rerun(worker, index, method, open_log, &l, &view);
    if (l.opened != FF_OK || ff_csv_close(&l.csv, true) != FF_OK) {
        ff_notes_error(notes, FF_FAILED, "%s: cannot be written (%s)", path,
                       l.opened == FF_ERR_MEMORY ? "no memory" : strerror(errno ? errno : ENOSPC));
        return false;
    }
    bool good = failed || (status == FF_OK && view.run->status >= 0);
    if (!good) /* it succeeded before: want of memory */
        ff_notes_error(notes, FF_FAILED, "%s: the run cannot be repeated, for want of memory", folder);
    char *text = status == FF_OK ? ff_summary_json(view.metrics, view.run) : NULL;
    if (text && good)
        good = ff_session_write(folder, "summary.json", text, notes) == FF_DONE;
    char *command = ff_campaign_command(c, index, method), *line = NULL;
    const bool whole = command && asprintf(&line, "%s\n", command) > 0 && (text || status != FF_OK);
    if (!whole)
        ff_notes_error(notes, FF_FAILED, "%s: no memory", folder);
    good = whole && good && ff_session_write(folder, "command", line, notes) == FF_DONE;
    free(line);
    free(command);
    free(text);
    return good;
}

static bool keep_one(ff_worker *worker, const ff_conduct *conduct, uint64_t slot, bool failed,
                     ff_notes *notes) {
    const ff_campaign *c = conduct->campaign;
    const uint64_t index = slot / (uint64_t)c->methods;
    const int method = (int)(slot % (uint64_t)c->methods);
    char name[64 + FF_NAME_SIZE];
    snprintf(name, sizeof name, "%llu-%s", (unsigned long long)index, c->method[method].variant.label);
    char kept[FF_FILE_PATH], folder[FF_FILE_PATH];
    if (!ff_run_below(conduct->options.folder, "kept", kept) || !ff_run_below(kept, name, folder)) {
        ff_notes_error(notes, FF_FAILED, "%s/kept: its path is too long", conduct->options.folder);
        return false;
    }
    return ff_session_make_folder(folder, notes) == FF_DONE &&
           write_run(worker, c, index, method, failed, folder, notes);
}

static bool count(const ff_conduct *conduct, int made, int wanted) {
    return !conduct->options.progress ||
           conduct->options.progress(conduct->options.user, (uint64_t)made, (uint64_t)wanted);
}

int ff__conduct_keep(const ff_conduct *conduct, ff_notes *notes) {
    const ff_campaign *c = conduct->campaign;
    const ff_output *output = conduct->output;
    char message[512] = "no memory";
    int wanted = c->keep_failed ? output->faileds : 0, made = 0;
    for (int m = 0; m < c->methods; m++)
        wanted += c->keep_worst ? output->worsts[m] : 0;
    if (!wanted)
        return 0;
    ff_references *references = ff_references_create((size_t)16 << 20);
    ff_worker *worker = references ? ff_worker_create(c, references, NULL, message, sizeof message) : NULL;
    bool good = worker != NULL;
    if (!good)
        ff_notes_error(notes, FF_FAILED, "%s", message);
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; good && c->keep_worst && i < output->worsts[m]; i++)
            good = keep_one(worker, conduct, output->worst[m][i].slot, false, notes) &&
                   count(conduct, ++made, wanted);
    for (int i = 0; good && c->keep_failed && i < output->faileds; i++)
        good =
            keep_one(worker, conduct, output->listed[i].slot, true, notes) && count(conduct, ++made, wanted);
    ff_worker_free(worker);
    ff_references_free(references);
    return good ? made : -1;
}
