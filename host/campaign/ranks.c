#include "campaign/ranks.h"

#include <stdlib.h>

#ifdef FF_HAVE_MPI
#include <mpi.h>

static MPI_Request posted = MPI_REQUEST_NULL; /* MPI is one to a process, and so is this */

/* Open MPI, MPICH and Slurm each leave their own mark. */
static bool started_by_mpi(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i]))
            return true;
    return false;
}

void ff_ranks_start(ff_ranks *ranks) {
    *ranks = (ff_ranks){.count = 1};
    if (!started_by_mpi())
        return;
    int given;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
    ranks->on = true;
}

void ff_ranks_stop(ff_ranks *ranks) {
    if (ranks->on)
        MPI_Finalize();
    ranks->on = false;
}

uint64_t ff_ranks_least(const ff_ranks *ranks, uint64_t value) {
    uint64_t least = value;
    if (ranks->on)
        MPI_Allreduce(&value, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least;
}

bool ff_ranks_probe(const ff_ranks *ranks, int *from, int *kind, size_t *bytes) {
    if (!ranks->on)
        return false;
    int found = 0, count = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
    if (!found)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &count);
    *from = status.MPI_SOURCE;
    *kind = status.MPI_TAG;
    *bytes = (size_t)count;
    return true;
}

void ff_ranks_receive(const ff_ranks *ranks, int from, int kind, void *data, size_t bytes) {
    if (ranks->on)
        MPI_Recv(data, (int)bytes, MPI_BYTE, from, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void ff_ranks_send(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes) {
    if (ranks->on)
        MPI_Send(data, (int)bytes, MPI_BYTE, to, kind, MPI_COMM_WORLD);
}

void ff_ranks_post(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes) {
    if (ranks->on)
        MPI_Isend(data, (int)bytes, MPI_BYTE, to, kind, MPI_COMM_WORLD, &posted);
}

bool ff_ranks_sent(const ff_ranks *ranks) {
    int done = 1;
    if (ranks->on && posted != MPI_REQUEST_NULL)
        MPI_Test(&posted, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

#else

void ff_ranks_start(ff_ranks *ranks) {
    *ranks = (ff_ranks){.count = 1};
}
void ff_ranks_stop(ff_ranks *ranks) {
    ranks->on = false;
}
uint64_t ff_ranks_least(const ff_ranks *ranks, uint64_t value) {
    (void)ranks;
    return value;
}
bool ff_ranks_probe(const ff_ranks *ranks, int *from, int *kind, size_t *bytes) {
    (void)ranks, (void)from, (void)kind, (void)bytes;
    return false;
}
void ff_ranks_receive(const ff_ranks *ranks, int from, int kind, void *data, size_t bytes) {
    (void)ranks, (void)from, (void)kind, (void)data, (void)bytes;
}
void ff_ranks_send(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes) {
    (void)ranks, (void)to, (void)kind, (void)data, (void)bytes;
}
void ff_ranks_post(const ff_ranks *ranks, int to, int kind, const void *data, size_t bytes) {
    (void)ranks, (void)to, (void)kind, (void)data, (void)bytes;
}
bool ff_ranks_sent(const ff_ranks *ranks) {
    (void)ranks;
    return true;
}
#endif
