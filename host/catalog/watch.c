/* A watched program: what the parent sees of the child is a shared page with every call that is under way. */
#include "catalog/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
        char name[32], path[1024];
    } named[FF_WATCHED];
    call by[CALLERS];
    atomic_int callers;
    atomic_int last;     /* n of the last call that began */
    atomic_int at_fault; /* n + 1 of who did `why`; 0: nobody */
    char why[200];
    atomic_bool finished; /* the program reached its end */
} page;

static page *shared; /* NULL: nothing is watched */
static _Thread_local int caller = -1;

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

static bool is_crash(int number) {
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGKILL};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (crashes[i] == number)
            return true;
    return false;
}

/* One line; "" where the child ended as it should. */
static void judge(int status, bool late, double patience, char *line, size_t size) {
    const call *c = under_way();
    const int guilty = atomic_load(&shared->at_fault),
              n = guilty ? guilty - 1 : atomic_load(c ? &c->n : &shared->last);
    const char *name = shared->named[n].name, *path = shared->named[n].path;
    const char *doing = c ? atomic_load(&c->doing) : NULL;
    *line = 0;
    if (late)
        snprintf(line, size, "method '%s' (%s) does not return when it is %s: ended after %.3g s", name, path,
                 doing ? doing : "called", patience);
    else if (guilty)
        snprintf(line, size, "method '%s' (%s) %s%s%s", name, path, shared->why, doing ? " when it is " : "",
                 doing ? doing : "");
    else if (WIFSIGNALED(status) && doing)
        snprintf(line, size, "method '%s' (%s) crashes when it is %s: %s", name, path, doing,
                 strsignal(WTERMSIG(status)));
    else if (WIFSIGNALED(status))
        snprintf(line, size,
                 "the program crashed (%s) after method '%s' (%s) was called: it may have overwritten memory "
                 "that is not its own",
                 strsignal(WTERMSIG(status)), name, path);
    else if (!atomic_load(&shared->finished))
        snprintf(line, size, "method '%s' (%s) ends the program%s%s: there is no result", name, path,
                 doing ? " when it is " : "", doing ? doing : "");
}

static _Noreturn void await(pid_t child, double patience, const sigset_t *signals) {
    const struct timespec look = {0, 50000000};
    int status = 0;
    bool late = false;
    for (;;) {
        siginfo_t info;
        const int number = sigtimedwait(signals, &info, &look);
        /* what a terminal sends has reached the child already */
        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
            kill(child, number);
        if (waitpid(child, &status, WNOHANG) == child)
            break;
        const call *c = under_way();
        const long long begun = c ? atomic_load(&c->begun) : 0;
        if (begun && (double)((long long)ff_clock_now() - begun) > 1e9 * patience) {
            late = true;
            kill(child, SIGKILL);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
            break;
        }
    }
    if (!late && WIFSIGNALED(status) && !is_crash(WTERMSIG(status))) { /* it was asked to end: so do we */
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_UNBLOCK, signals, NULL);
        raise(WTERMSIG(status));
    }
    char line[1600];
    judge(status, late, patience, line, sizeof line);
    if (*line)
        fprintf(stderr, "%s\n", line);
    fflush(stderr);
    _exit(*line ? FF_WATCH_STATUS : WEXITSTATUS(status));
}

/* ------------------------------------------------------------------------------------------- the child -- */

/* A library that makes a process of its own would run all that follows twice. */
static void before_fork(void) {
    if (shared && caller >= 0 && atomic_load(&shared->by[caller].begun))
        ff_watch_fault(atomic_load(&shared->by[caller].n), "starts a process of its own");
}

void ff_watch_crash_plainly(void) {
    const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], SIG_DFL);
}

bool ff_watch_start(double patience) {
    if (shared)
        return true;
    page *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    sigset_t signals, before;
    sigemptyset(&signals);
    const int watched[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&signals, watched[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child > 0) {
        shared = p;
        await(child, patience, &signals);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child < 0) {
        munmap(p, sizeof *p);
        return false;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(FF_WATCH_STATUS);
    ff_watch_crash_plainly();
    pthread_atfork(before_fork, NULL, NULL);
    shared = p;
    return true;
}

void ff_watch_name(int n, const char *name, const char *path) {
    snprintf(shared->named[n].name, sizeof shared->named[n].name, "%s", name);
    snprintf(shared->named[n].path, sizeof shared->named[n].path, "%s", path);
}

void ff_watch_enter(int n, const char *doing) {
    if (caller < 0) {
        caller = atomic_fetch_add(&shared->callers, 1);
        caller = caller < CALLERS ? caller : CALLERS - 1;
    }
    call *c = &shared->by[caller];
    atomic_store(&c->n, n);
    atomic_store(&shared->last, n);
    atomic_store(&c->doing, doing);
    atomic_store(&c->begun, (long long)ff_clock_now());
}

void ff_watch_leave(void) {
    atomic_store(&shared->by[caller].begun, 0);
}

_Noreturn void ff_watch_fault(int n, const char *why) {
    snprintf(shared->why, sizeof shared->why, "%s", why);
    atomic_store(&shared->at_fault, n + 1);
    _exit(FF_WATCH_STATUS);
}

void ff_watch_end(int status) {
    if (!shared)
        return;
    fflush(NULL);
    atomic_store(&shared->finished, true);
    _exit(status);
}
