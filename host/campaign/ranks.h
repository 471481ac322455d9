/* campaign/ranks.h - processes that mpirun started together; alone, one rank of one. MPI is set up only when
 * the environment says that mpirun (or srun) started this process. Only the main thread calls these. */
#ifndef FF_CAMPAIGN_RANKS_H
#define FF_CAMPAIGN_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ff_ranks {
    int rank, count;
    bool on; /* MPI is running */
} ff_ranks;

void ff_ranks_start(ff_ranks *ranks);
void ff_ranks_stop(ff_ranks *ranks);
/* The smallest of all ranks' values; every rank must call it. */
uint64_t ff_ranks_least(const ff_ranks *ranks, uint64_t value);
/* Is a message waiting? From whom, of what kind and length. */
bool ff_ranks_probe(const ff_ranks *ranks, int *from, int *kind, size_t *bytes);
void ff_ranks_receive(const ff_ranks *ranks, int from, int kind, void *data, size_t bytes);
void ff_ranks_send(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes);
/* Starts to send and returns at once; one at a time. The data must stay until ff_ranks_sent says true. */
void ff_ranks_post(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes);
bool ff_ranks_sent(const ff_ranks *ranks);

#endif
