/* A watched process: what the parent sees of the child is a shared page with every call that is under way. */
#include "catalog/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "catalog/chamber.h"
#include "catalog/process.h"
#include "text/clock.h"

enum { CALLERS = 128 };

/* The call of one thread. */
typedef struct call {
    atomic_llong begun; /* [ns]; 0: none is under way */
    atomic_int n;
    _Atomic(const char *) doing; /* a constant: the same address in both processes */
} call;

typedef struct page {
    struct {
        char name[32], path[4096];
    } named[FF_WATCHED];
    call by[CALLERS];
    atomic_int callers;
    atomic_int last;     /* n of the last call that began */
    atomic_int at_fault; /* n + 1 of who did `why`; 0: nobody */
    char why[400];
    atomic_bool finished; /* the program reached its end */
} page;

static page *shared; /* NULL: nothing is watched */
static _Thread_local int caller = -1;
static _Thread_local long long inspected;  /* [ns] when this thread did last */
static const long long INSPECT = 10000000; /* [ns] */

/* ------------------------------------------------------------------------------------------ the parent -- */

/* The call that is under way, the longest first; NULL: none. */
static const call *under_way(void) {
    const call *found = NULL;
    const int n = atomic_load(&shared->callers);
    for (int i = 0; i < n && i < CALLERS; i++) {
        const call *c = &shared->by[i];
        const long long begun = atomic_load(&c->begun);
        if (begun && (!found || begun < atomic_load(&found->begun)))
            found = c;
    }
    return found;
}

/* What the child did wrong, without a name; "": nothing. `asked`: who watches was asked to end, too. */
static void judge(int status, bool late, bool asked, double patience, char *why, size_t size) {
    const call *c = under_way();
    const char *doing = c ? atomic_load(&c->doing) : NULL;
    const char *when = doing ? " when it is " : "", *what = doing ? doing : "";
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    *why = 0;
    if (late)
        snprintf(why, size, "does not return when it is %s: ended after %.3g s", doing ? doing : "called",
                 patience);
    else if (atomic_load(&shared->at_fault))
        snprintf(why, size, "%s%s%s", shared->why, when, what);
    else if (number && !asked && doing)
        snprintf(why, size, "crashes when it is %s: %s", doing, strsignal(number));
    else if (number && !asked)
        snprintf(
            why, size,
            "may have overwritten memory that is not its own: the program crashed after it was called (%s)",
            strsignal(number));
    else if (!number && !atomic_load(&shared->finished))
        snprintf(why, size, "ends the program%s%s: there is no result", when, what);
}

/* Is this how a process is asked to end from outside, a closed pipe included? Who called for it is the
 * question where foreign code runs: then the parent has seen the signal as well. */
static bool is_request(int number, const sigset_t *seen) {
    static const int requests[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
    if (number == SIGPIPE || sigismember(seen, number) == 1)
        return true;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (requests[i] == number)
            return !under_way();
    return false;
}

/* Until the child has ended, or a call of it lasted too long. `signals`, where given, are blocked: they are
 * passed on to it, and kept in `seen`. */
static bool await(pid_t child, double patience, const sigset_t *signals, sigset_t *seen, int *status) {
    const struct timespec look = {0, signals ? 50000000 : 500000};
    sigemptyset(seen);
    for (bool ended = false;;) {
        siginfo_t info = {0};
        const int number = signals ? sigtimedwait(signals, &info, ended ? &(struct timespec){0} : &look)
                                   : nanosleep(&look, NULL);
        if (number > 0 && number != SIGCHLD) {
            sigaddset(seen, number);
            if (info.si_code != SI_KERNEL && !ended) /* what a terminal sends has reached the child already */
                kill(child, number);
        }
        if (ended && (!signals || number <= 0))
            return false;
        if (ended || waitpid(child, status, WNOHANG) == child) {
            ended = true;
            continue;
        }
        const call *c = under_way();
        const long long begun = c ? atomic_load(&c->begun) : 0;
        if (begun && (double)((long long)ff_clock_now() - begun) > 1e9 * patience) {
            kill(child, SIGKILL);
            while (waitpid(child, status, 0) < 0 && errno == EINTR)
                ;
            return true;
        }
    }
}

static _Noreturn void watch(pid_t child, double patience, const sigset_t *signals) {
    int status = 0;
    sigset_t seen;
    const bool late = await(child, patience, signals, &seen, &status);
    const bool asked = !late && WIFSIGNALED(status) && is_request(WTERMSIG(status), &seen);
    char why[400];
    judge(status, late, asked, patience, why, sizeof why);
    if (!*why && WIFSIGNALED(status)) { /* it was asked to end: so do we */
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_UNBLOCK, signals, NULL);
        raise(WTERMSIG(status));
    }
    if (*why) {
        const call *c = under_way();
        const int guilty = atomic_load(&shared->at_fault),
                  n = guilty ? guilty - 1 : atomic_load(c ? &c->n : &shared->last);
        fprintf(stderr, "method '%s' (%s) %s\n", shared->named[n].name, shared->named[n].path, why);
    }
    fflush(stderr);
    _exit(*why ? FF_WATCH_STATUS : WEXITSTATUS(status));
}

/* ------------------------------------------------------------------------------------------- the child -- */

/* A library that makes a process of its own would run all that follows twice. */
static void before_fork(void) {
    ff_watch_fault_here("starts a process of its own");
}

/* A new page, and a child that has it; 0 in the child, -1: none. */
static pid_t split(page **p) {
    *p = mmap(NULL, sizeof **p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (*p == MAP_FAILED)
        return -1;
    fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child < 0)
        munmap(*p, sizeof **p);
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(FF_WATCH_STATUS);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none); /* one line says it */
    static bool registered;
    if (!registered)
        pthread_atfork(before_fork, NULL, NULL);
    registered = true;
    caller = -1;
    shared = *p;
    ff_chamber_explain(ff_watch_fault_here);
    return 0;
}

/* What it prints or leaves open is not ours, and ours are out of its reach; 1 GB more than now is enough. */
static void isolate(void) {
    setpgid(0, 0); /* what it starts is ended with it */
    FILE *statm = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (statm && fscanf(statm, "%lu", &pages) == 1) {
        const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)1 << 30);
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    }
    if (statm)
        fclose(statm);
    const int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
    close_range(3, ~0u, 0);
}

/* Of this process. */
static int threads(void) {
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *d; tasks && (d = readdir(tasks));)
        n += d->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return n;
}

bool ff_watch_try(double patience, void (*trial)(void *self), void *self, char *why, size_t size) {
    page *const outer = shared, *p;
    const pid_t child = split(&p);
    if (child == 0) {
        isolate();
        ff_process_note();
        const int before = threads();
        trial(self);
        if (threads() != before)
            ff_watch_fault(0, "starts a thread of its own");
        if (waitpid(-1, NULL, WNOHANG) >= 0)
            ff_watch_fault(0, "starts a process of its own");
        ff_watch_end(0);
    }
    snprintf(why, size, "cannot be tried in a process of its own");
    if (child < 0)
        return false;
    int status = 0;
    sigset_t seen;
    shared = p;
    const bool late = await(child, patience, NULL, &seen, &status);
    kill(-child, SIGKILL);
    judge(status, late, false, patience, why, size);
    shared = outer;
    munmap(p, sizeof *p);
    return !*why;
}

bool ff_watch_start(double patience) {
    if (shared)
        return true;
    sigset_t signals, before;
    sigemptyset(&signals);
    const int watched[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&signals, watched[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    page *p;
    const pid_t child = split(&p);
    if (child > 0) {
        shared = p;
        watch(child, patience, &signals);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child == 0)
        ff_process_note();
    return child == 0;
}

void ff_watch_name(int n, const char *name, const char *path) {
    snprintf(shared->named[n].name, sizeof shared->named[n].name, "%s", name);
    snprintf(shared->named[n].path, sizeof shared->named[n].path, "%s", path);
}

void ff_watch_enter(int n, const char *doing) {
    if (caller < 0) {
        caller = atomic_fetch_add(&shared->callers, 1);
        caller = caller < CALLERS ? caller : CALLERS - 1;
        ff_chamber_stack();
        ff_process_note_thread();
    }
    call *c = &shared->by[caller];
    atomic_store(&c->n, n);
    atomic_store(&shared->last, n);
    atomic_store(&c->doing, doing);
    atomic_store(&c->begun, (long long)ff_clock_now());
}

static void inspect(int n) {
    const char *changed = ff_process_changed();
    if (changed)
        ff_watch_fault(n, changed);
}

void ff_watch_inspect(void) {
    if (shared && caller >= 0)
        inspect(atomic_load(&shared->last));
}

void ff_watch_leave(bool rare) {
    call *c = &shared->by[caller];
    const long long begun = atomic_load(&c->begun);
    if (rare || begun - inspected > INSPECT) {
        inspected = begun;
        inspect(atomic_load(&c->n));
    }
    atomic_store(&c->begun, 0);
}

_Noreturn void ff_watch_fault(int n, const char *why) {
    snprintf(shared->why, sizeof shared->why, "%s", why);
    atomic_store(&shared->at_fault, n + 1);
    _exit(FF_WATCH_STATUS);
}

void ff_watch_fault_here(const char *why) {
    if (shared && caller >= 0 && atomic_load(&shared->by[caller].begun))
        ff_watch_fault(atomic_load(&shared->by[caller].n), why);
}

void ff_watch_end(int status) {
    if (!shared)
        return;
    ff_watch_inspect();
    fflush(NULL);
    atomic_store(&shared->finished, true);
    _exit(status);
}
