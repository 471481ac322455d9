/* campaign/ranks.h - processes that mpirun started together; alone, one rank of one. MPI is loaded (module
 * mpi) and set up only when the environment says that mpirun (or srun) started this process. Only the main
 * thread calls these. */
#ifndef FF_CAMPAIGN_RANKS_H
#define FF_CAMPAIGN_RANKS_H

#include "freefloat/base.h"

/* Of the module mpi: the functions below, where MPI is running. */
typedef struct ff_ranks_table {
    bool (*start)(int *rank, int *count);
    void (*stop)(void);
    uint64_t (*least)(uint64_t value);
    bool (*probe)(int *from, int *kind, size_t *bytes);
    void (*receive)(int from, int kind, void *data, size_t bytes);
    void (*send)(int to, int kind, const void *data, size_t bytes);
    void (*post)(int to, int kind, const void *data, size_t bytes);
    bool (*sent)(void);
} ff_ranks_table;

typedef struct ff_ranks {
    int rank, count;
    bool on; /* MPI is running */
    const ff_ranks_table *table;
} ff_ranks;

/* FF_OK. FF_ERR_UNSUPPORTED with a line: several were started together, and the module mpi is missing. */
ff_status ff_ranks_start(ff_ranks *ranks, char *message, size_t size);
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
