/* campaign/pool.h - the work of a campaign over threads and ranks. Samples are handed out one by one in order
 * of their index, since their costs differ; rank 0 keeps the journal and works too. */
#ifndef FF_CAMPAIGN_POOL_H
#define FF_CAMPAIGN_POOL_H

#include "campaign/journal.h"
#include "campaign/ranks.h"

typedef struct ff_pool_options {
    int threads; /* of this rank, >= 1 */
    /* Called a few times a second by the main thread of rank 0: runs done of all. false stops the work. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} ff_pool_options;

typedef struct ff_pool_result {
    bool stopped;                /* by progress */
    uint64_t runs;               /* made now */
    double seconds;              /* they took */
    uint64_t references, shared; /* ideal references computed, and found in store (this rank) */
    char message[512];           /* one line when the status is negative */
} ff_pool_result;

/* Every sample's scenario is read and checked, before anything runs. FF_ERR_FORMAT: the line of the first bad
 * one in result->message. The ranks share the work; all must call it. */
ff_status ff_pool_check(const ff_campaign *campaign, const ff_ranks *ranks, const ff_pool_options *options,
                        ff_pool_result *result);
/* Runs what the journal lacks (journal: rank 0 only). FF_ERR_IO: it cannot be written; what is in it stays.
 */
ff_status ff_pool_run(const ff_campaign *campaign, ff_journal *journal, const ff_ranks *ranks,
                      const ff_pool_options *options, ff_pool_result *result);

#endif
