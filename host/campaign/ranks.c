#include "campaign/ranks.h"

#include <stdlib.h>

#include "text/module.h"

/* Open MPI, MPICH and Slurm each leave their own mark. */
static bool started_by_mpi(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i]))
            return true;
    return false;
}

/* A single task needs no messages. */
static bool alone(void) {
    static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS",
                                         "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *text = getenv(counts[i]);
        if (text && strtol(text, NULL, 10) > 1)
            return false;
    }
    return true;
}

ff_status ff_ranks_start(ff_ranks *ranks, char *message, size_t size) {
    *ranks = (ff_ranks){.count = 1};
    if (!started_by_mpi())
        return FF_OK;
    ranks->table = ff_module_table("mpi", message, size);
    if (!ranks->table)
        return alone() ? FF_OK : FF_ERR_UNSUPPORTED;
    ranks->on = ranks->table->start(&ranks->rank, &ranks->count);
    return FF_OK;
}

void ff_ranks_stop(ff_ranks *ranks) {
    if (ranks->on)
        ranks->table->stop();
    ranks->on = false;
}

uint64_t ff_ranks_least(const ff_ranks *ranks, uint64_t value) {
    return ranks->on ? ranks->table->least(value) : value;
}

bool ff_ranks_probe(const ff_ranks *ranks, int *from, int *kind, size_t *bytes) {
    return ranks->on && ranks->table->probe(from, kind, bytes);
}

void ff_ranks_receive(const ff_ranks *ranks, int from, int kind, void *data, size_t bytes) {
    if (ranks->on)
        ranks->table->receive(from, kind, data, bytes);
}

void ff_ranks_send(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes) {
    if (ranks->on)
        ranks->table->send(to, kind, data, bytes);
}

void ff_ranks_post(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes) {
    if (ranks->on)
        ranks->table->post(to, kind, data, bytes);
}

bool ff_ranks_sent(const ff_ranks *ranks) {
    return !ranks->on || ranks->table->sent();
}
