/* The module mpi: messages between ranks by MPI. */
#include <mpi.h>

#include "campaign/ranks.h"
#include "text/module.h"

static MPI_Request posted = MPI_REQUEST_NULL; /* MPI is one to a process, and so is this */

static bool start(int *rank, int *count) {
    int given;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS)
        return false;
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, count);
    return true;
}

static void stop(void) {
    MPI_Finalize();
}

static uint64_t least(uint64_t value) {
    uint64_t of_all = value;
    MPI_Allreduce(&value, &of_all, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return of_all;
}

static bool probe(int *from, int *kind, size_t *bytes) {
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

static void receive(int from, int kind, void *data, size_t bytes) {
    MPI_Recv(data, (int)bytes, MPI_BYTE, from, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to, int kind, const void *data, size_t bytes) {
    MPI_Send(data, (int)bytes, MPI_BYTE, to, kind, MPI_COMM_WORLD);
}

static void post(int to, int kind, const void *data, size_t bytes) {
    MPI_Isend(data, (int)bytes, MPI_BYTE, to, kind, MPI_COMM_WORLD, &posted);
}

static bool sent(void) {
    int done = 1;
    if (posted != MPI_REQUEST_NULL)
        MPI_Test(&posted, &done, MPI_STATUS_IGNORE);
    return done != 0;
}

static const ff_ranks_table table = {start, stop, least, probe, receive, send, post, sent};

const ff_module ff_module_offer = {FF_MODULE_VERSION, &table};
