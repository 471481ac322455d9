#include "server/outside.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool ff_outside_is(ff_fault_kind kind) {
    return kind >= FF_FAULT_LOOP_INTERRUPTED && kind <= FF_FAULT_FACILITY_KILLED;
}

/* ----------------------------------------------------------------------------------- whose socket is it? --
 */

/* Inode of the UDP socket that is bound there, by proc(5): /proc/net/udp; 0: none. */
static unsigned long socket_inode(const struct sockaddr_in *at) {
    FILE *file = fopen("/proc/net/udp", "re");
    if (!file)
        return 0;
    char line[256];
    unsigned long found = 0;
    while (!found && fgets(line, sizeof line, file)) {
        unsigned address, port;
        unsigned long inode;
        if (sscanf(line, " %*[0-9]: %x:%x %*x:%*x %*x %*x:%*x %*x:%*x %*x %*u %*u %lu", &address, &port,
                   &inode) == 3 &&
            port == ntohs(at->sin_port) && (address == 0 || address == at->sin_addr.s_addr))
            found = inode;
    }
    fclose(file);
    return found;
}

static bool holds(const char *pid, const char *link) {
    char folder[64], path[320], target[64];
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", pid);
    DIR *dir = opendir(folder);
    if (!dir)
        return false;
    bool found = false;
    for (const struct dirent *e; !found && (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = 0;
        found = strcmp(target, link) == 0;
    }
    closedir(dir);
    return found;
}

pid_t ff_outside_owner(const struct sockaddr_in *at) {
    const unsigned long inode = socket_inode(at);
    DIR *dir = inode ? opendir("/proc") : NULL;
    if (!dir)
        return 0;
    char link[64];
    snprintf(link, sizeof link, "socket:[%lu]", inode);
    pid_t owner = 0;
    for (const struct dirent *e; !owner && (e = readdir(dir)) != NULL;)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && holds(e->d_name, link))
            owner = (pid_t)strtol(e->d_name, NULL, 10);
    closedir(dir);
    return owner == getpid() ? 0 : owner;
}

/* ----------------------------------------------------------------------------------------------- strikes --
 */

/* As on a full disk no file of the process can grow. Its pipes and terminals are not files. */
static bool fill(pid_t pid, bool full) {
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_FSIZE, NULL, &limit) != 0)
        return false;
    limit.rlim_cur = full ? 0 : limit.rlim_max;
    return prlimit(pid, RLIMIT_FSIZE, &limit, NULL) == 0;
}

void ff_outside_release(ff_outside *outside) {
    if (outside->stalled)
        kill(outside->loop, SIGCONT);
    outside->stalled = false;
}

static const char *send_once(ff_outside *outside, ff_fault_kind kind, int number, const char *line) {
    if (outside->done[kind])
        return NULL;
    outside->done[kind] = true;
    return kill(outside->loop, number) == 0 ? line : "a fault: the loop's process takes no signal";
}

const char *ff_outside_strike(ff_outside *outside, ff_fault_kind kind, bool acts) {
    if (kind == FF_FAULT_FACILITY_KILLED) {
        if (acts)
            raise(SIGKILL);
        return NULL;
    }
    if (acts && outside->loop <= 0) {
        const bool said = outside->done[kind];
        outside->done[kind] = true;
        return said ? NULL : "a fault: the loop's process cannot be seen from here, nothing was done to it";
    }
    switch (kind) {
    case FF_FAULT_LOOP_INTERRUPTED:
        return acts ? send_once(outside, kind, SIGINT, "a fault: SIGINT to the loop") : NULL;
    case FF_FAULT_LOOP_TERMINATED:
        return acts ? send_once(outside, kind, SIGTERM, "a fault: SIGTERM to the loop") : NULL;
    case FF_FAULT_LOOP_KILLED:
        return acts ? send_once(outside, kind, SIGKILL, "a fault: the loop was killed") : NULL;
    case FF_FAULT_LOOP_STALLED:
        if (acts && !outside->stalled) {
            outside->stalled = kill(outside->loop, SIGSTOP) == 0;
            return outside->stalled ? "a fault: the loop stands still" : NULL;
        }
        if (!acts && outside->stalled) {
            ff_outside_release(outside);
            return "a fault: the loop continues";
        }
        return NULL;
    case FF_FAULT_DISK_FULL:
        if (acts == outside->full)
            return NULL;
        outside->full = acts;
        if (!fill(outside->loop, acts))
            return "a fault: the loop's files cannot be limited";
        return acts ? "a fault: the loop's files cannot grow" : "a fault: the loop's files can grow again";
    default:
        return NULL;
    }
}
