/* The state of the process that foreign code shares with the program. */
#include "catalog/process.h"

#include <locale.h>
#include <pthread.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef struct place {
    bool exists;
    dev_t device;
    ino_t file;
} place;

static const int SIGNALS[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGALRM,
                              SIGUSR1, SIGUSR2, SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT};
enum { COUNT = sizeof SIGNALS / sizeof *SIGNALS };

static const int LIMITS[] = {RLIMIT_FSIZE, RLIMIT_NOFILE};

static struct {
    place standard[3], folder;
    struct rlimit limit[2];
    uintptr_t handler[COUNT];
} noted;
static _Thread_local sigset_t mask;

static place place_of(int result, const struct stat *s) {
    return result == 0 ? (place){true, s->st_dev, s->st_ino} : (place){0};
}

static bool same(place a, place b) {
    return a.exists == b.exists && a.device == b.device && a.file == b.file;
}

static place standard(int descriptor) {
    struct stat s;
    const int result = fstat(descriptor, &s);
    return place_of(result, &s);
}

static place folder(void) {
    struct stat s;
    const int result = stat(".", &s);
    return place_of(result, &s);
}

static uintptr_t handler(int number) {
    struct sigaction a;
    return sigaction(number, NULL, &a) == 0 ? (uintptr_t)a.sa_handler : 0;
}

/* In the program's own code, wherever that was loaded. */
static bool ours(uintptr_t handler) {
    Dl_info there, here;
    return dladdr((const void *)handler, &there) && dladdr((const void *)(uintptr_t)ff_process_note, &here) &&
           there.dli_fbase == here.dli_fbase;
}

void ff_process_note_thread(void) {
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
}

void ff_process_note(void) {
    for (int i = 0; i < 3; i++)
        noted.standard[i] = standard(i);
    noted.folder = folder();
    for (int i = 0; i < 2; i++)
        getrlimit(LIMITS[i], &noted.limit[i]);
    for (int i = 0; i < COUNT; i++)
        noted.handler[i] = handler(SIGNALS[i]);
    ff_process_note_thread();
}

const char *ff_process_changed(void) {
    static const char *const standards[] = {"closes or replaces the standard input",
                                            "closes or replaces the standard output",
                                            "closes or replaces the standard error"};
    for (int i = 0; i < 3; i++)
        if (!same(standard(i), noted.standard[i]))
            return standards[i];
    if (!same(folder(), noted.folder))
        return "changes the working folder";
    for (int i = 0; i < 2; i++) {
        struct rlimit limit;
        getrlimit(LIMITS[i], &limit);
        if (limit.rlim_cur != noted.limit[i].rlim_cur || limit.rlim_max != noted.limit[i].rlim_max)
            return "changes a limit of the process";
    }
    for (int i = 0; i < COUNT; i++) {
        const uintptr_t now = handler(SIGNALS[i]);
        const bool own = ours(now) || (SIGNALS[i] == SIGPIPE &&
                                       now == (uintptr_t)SIG_IGN); /* rt and the live page's server */
        if (now != noted.handler[i] && !own)
            return "changes the handler of a signal";
    }
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    for (int i = 0; i < COUNT; i++)
        if (sigismember(&now, SIGNALS[i]) != sigismember(&mask, SIGNALS[i]))
            return "changes which signals are blocked";
    if (localeconv()->decimal_point[0] != '.')
        return "changes the locale";
    return NULL;
}
