/* campaign/worker.h - runs samples, one after another, in memory of its own: one worker for each thread. */
#ifndef FF_CAMPAIGN_WORKER_H
#define FF_CAMPAIGN_WORKER_H

#include <stdatomic.h>

#include "campaign/journal.h"
#include "campaign/reference.h"

typedef struct ff_worker ff_worker;

/* stop (may be NULL): set by another thread to leave the run at hand. references may be NULL when the
 * campaign needs none. NULL with a message. */
ff_worker *ff_worker_create(const ff_campaign *campaign, ff_references *references, const atomic_bool *stop,
                            char *message, size_t size);
void ff_worker_free(ff_worker *worker);
/* Reads and checks the sample's scenario under every method. FF_ERR_FORMAT with a line. */
ff_status ff_worker_check(ff_worker *worker, uint64_t index, char *message, size_t size);
/* Runs the sample under the methods of the mask, one record each, in order of methods. A run that diverges,
 * faults or takes too long is a record with its reason. FF_ERR_LIMIT: stopped, no record counts. */
ff_status ff_worker_run(ff_worker *worker, uint64_t index, uint32_t mask, ff_record *records, int *count);
/* One run again with a sink more (a log); fills what a report wants. Valid until the next call. */
typedef struct ff_worker_view {
    const ff_metrics *metrics;
    const ff_run_result *run;
} ff_worker_view;
/* prepare is called with the scenario before the run and returns the sink. */
ff_status ff_worker_rerun(ff_worker *worker, uint64_t index, int method,
                          ff_sink (*prepare)(void *user, const ff_scenario *scenario), void *user,
                          ff_worker_view *view);

#endif
