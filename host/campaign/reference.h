/* campaign/reference.h - ideal references shared by the samples that have one in common: what robots,
 * sensors and methods do does not change them. Threads share the store. */
#ifndef FF_CAMPAIGN_REFERENCE_H
#define FF_CAMPAIGN_REFERENCE_H

#include "ideal/ideal.h"

typedef struct ff_references ff_references;
typedef struct ff_reference {
    ff_ideal_result result;
    ff_status status;
    char message[200];
    /* of the store */
    uint64_t key[2];
    int users;
    bool ready;
    uint64_t used; /* when last */
    size_t bytes;
    struct ff_reference *next;
} ff_reference;

/* limit: bytes kept for later samples. NULL when there is no memory. */
ff_references *ff_references_create(size_t limit);
void ff_references_free(ff_references *store);
/* Waits for another thread that computes the same one. Release every reference that was taken; NULL: no
 * memory. A reference that was stopped by `progress` is not kept. */
const ff_reference *ff_references_take(ff_references *store, const ff_scenario *scenario,
                                       ff_ideal_progress progress, void *user);
void ff_references_release(ff_references *store, const ff_reference *reference);
/* How many were computed and how many were found. */
void ff_references_count(ff_references *store, uint64_t *computed, uint64_t *found);

#endif
