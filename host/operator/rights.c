#include "operator/rights.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Touches what the thread will use, so that no page is missing later. */
static void touch_stack(void) {
    volatile char stack[256 * 1024];
    for (size_t i = 0; i < sizeof stack; i += 1024)
        stack[i] = 0;
    (void)stack[0];
}

/* The request lives as long as the file is open. */
static bool stay_awake(int *fd) {
    const int32_t latency_us = 0;
    *fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        return false;
    if (write(*fd, &latency_us, sizeof latency_us) == (ssize_t)sizeof latency_us)
        return true;
    close(*fd);
    return false;
}

void ff_rights_release(ff_rights *rights) {
    if (rights->awake && rights->latency_fd >= 0)
        close(rights->latency_fd);
    rights->latency_fd = -1;
}

int ff_rights_cpu(int cpu) {
    cpu_set_t set;
    if (cpu < 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET((size_t)i, &set))
                cpu = i;
    return cpu;
}

void ff_rights_stand_aside(int cpu, cpu_set_t *before) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        CPU_ZERO(&set);
    if (before)
        *before = set;
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_CLR((size_t)cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set); /* refused: it runs where it may */
}

/* A page that is given back is forgotten on every CPU of the process, by an interrupt. */
static void keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

void ff_rights_take(int priority, int cpu, bool awake, ff_rights *rights) {
    *rights = (ff_rights){.cpu = ff_rights_cpu(cpu)};
    cpu_set_t set;
    if (rights->cpu >= 0) {
        CPU_ZERO(&set);
        CPU_SET((size_t)rights->cpu, &set);
        rights->pinned = sched_setaffinity(0, sizeof set, &set) == 0;
    }
    rights->awake = awake && stay_awake(&rights->latency_fd);
    rights->locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
    keep_memory();
    const struct sched_param parameter = {.sched_priority = priority};
    rights->fifo = sched_setscheduler(0, SCHED_FIFO, &parameter) == 0;
    touch_stack();
    const struct {
        bool granted;
        const char *name;
    } asked[] = {{rights->fifo, "SCHED_FIFO"},
                 {rights->locked, "locked memory"},
                 {rights->pinned, "CPU affinity"},
                 {rights->awake || !awake, "an awake processor (/dev/cpu_dma_latency)"}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (!asked[i].granted)
            used += (size_t)snprintf(rights->missing + used, sizeof rights->missing - used, "%s%s",
                                     used ? ", " : "not granted: ", asked[i].name);
    if (used)
        snprintf(rights->missing + used, sizeof rights->missing - used, "; running best effort");
}

ff_faults ff_faults_now(void) {
    struct rusage use;
    if (getrusage(RUSAGE_THREAD, &use) != 0)
        return (ff_faults){-1, -1, -1};
    return (ff_faults){use.ru_minflt, use.ru_majflt, use.ru_nivcsw};
}
