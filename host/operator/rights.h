/* operator/rights.h - what the operating system grants a real-time thread. */
#ifndef FF_OPERATOR_RIGHTS_H
#define FF_OPERATOR_RIGHTS_H

#include "freefloat/base.h"

#include <sched.h>

typedef struct ff_rights {
    bool fifo;   /* SCHED_FIFO was granted */
    bool locked; /* mlockall */
    bool pinned; /* to `cpu` */
    bool awake;  /* deep idle states were held off */
    int cpu;
    int latency_fd;    /* of the request that holds them off; -1 once released */
    char missing[200]; /* one sentence when something was refused; else empty */
} ff_rights;

/* The CPU of a real-time thread: `cpu`, or, below 0, the last one that this thread may use; -1: not known. */
int ff_rights_cpu(int cpu);
/* For the calling thread: SCHED_FIFO at `priority`, CPU affinity (cpu < 0: the last one allowed), all memory
 * locked, the stack touched. `awake` asks the kernel, for the whole computer, to wake without delay: no idle
 * state that takes longer to leave than zero (/dev/cpu_dma_latency, held until ff_rights_release). What is
 * refused is said in `missing`; the thread then runs as well as it can. Memory that any thread frees from
 * then on stays with the process: to give it back, the kernel interrupts every CPU that runs one of its
 * threads. */
void ff_rights_take(int priority, int cpu, bool awake, ff_rights *rights);
/* The calling thread keeps off the CPU of a real-time thread, unless that is the only one: a system call
 * there would end before the real-time thread begins. `before` (or NULL) is where it might run until then. */
void ff_rights_stand_aside(int cpu, cpu_set_t *before);
/* Lets the computer sleep again. */
void ff_rights_release(ff_rights *rights);

typedef struct ff_faults {
    int64_t minor, major, involuntary; /* page faults and preemptions of the calling thread so far */
} ff_faults;

ff_faults ff_faults_now(void);

#endif
