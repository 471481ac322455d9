#include "obsw/shared.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "text/clock.h"
#include "text/image.h"
#include <unistd.h>

typedef enum order { ORDER_STEP, ORDER_END } order;

/* What both processes see. One of them owns it at a time: the semaphores hand it over. */
struct ff_obsw_room {
    sem_t ask, answer;
    order order;
    ff_obsw_setup setup;
    ff_obsw_in in;
    ff_obsw_out out;
    int returned; /* by step; after the start: 0 it is ready */
    char message[400];
};

/* ------------------------------------------------------------------------------------------ the child -- */

typedef struct software {
    void *library, *self;
    int (*step)(void *self, const ff_obsw_in *in, ff_obsw_out *out);
    void (*destroy)(void *self);
} software;

/* dlsym gives an object pointer; POSIX lets it stand for a function. */
static bool find(void *library, const char *name, void *function, size_t bytes) {
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, bytes);
    return symbol != NULL;
}

static bool load(software *s, const ff_held_file *file, struct ff_obsw_room *room) {
    const char *const path = file->path;
    char why[260];
    uint32_t (*version)(void);
    void *(*create)(const ff_obsw_setup *);
    char *const message = room->message;
    const size_t size = sizeof room->message;
    *s = (software){.library = ff_image_load(file, why, sizeof why)};
    if (!s->library) {
        snprintf(message, size, "the on-board software does not load: %.90s: %s", path, why);
        return false;
    }
    const char *lacks = NULL;
    if (!find(s->library, "ff_obsw_version", &version, sizeof version))
        lacks = "ff_obsw_version";
    else if (!find(s->library, "ff_obsw_create", &create, sizeof create))
        lacks = "ff_obsw_create";
    else if (!find(s->library, "ff_obsw_step", &s->step, sizeof s->step))
        lacks = "ff_obsw_step";
    else if (!find(s->library, "ff_obsw_destroy", &s->destroy, sizeof s->destroy))
        lacks = "ff_obsw_destroy";
    if (lacks)
        snprintf(message, size, "the on-board software %s lacks the function %s", path, lacks);
    else if (version() != FF_OBSW_VERSION)
        snprintf(message, size, "the on-board software %s is of version %u, allowed: %u", path, version(),
                 FF_OBSW_VERSION);
    else if (!(s->self = create(&room->setup)))
        snprintf(message, size, "the on-board software %s refuses to start", path);
    else
        return true;
    return false;
}

/* Looks for some ten microseconds before it sleeps: to wake a sleeper takes longer than a step. It does not
 * yield meanwhile: on a busy machine that gives a whole time slice away. */
static bool look(sem_t *semaphore) {
    for (int i = 0; i < 2000; i++)
        if (sem_trywait(semaphore) == 0)
            return true;
    return false;
}

static void take_semaphore(sem_t *semaphore) {
    if (look(semaphore))
        return;
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

/* Our files and sockets are out of its reach: a stray write of it would stand in the log. What it prints is
 * shown. */
static void close_ours(void) {
    const int null = open("/dev/null", O_RDONLY);
    if (null > 0)
        dup2(null, 0);
    close_range(3, ~0u, 0);
}

static _Noreturn void live(struct ff_obsw_room *room, const ff_held_file *file, pid_t parent) {
    software s;
    signal(SIGINT, SIG_IGN); /* a key stops the run, and the run ends this */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    close_ours();
    const bool ready = load(&s, file, room);
    room->returned = ready ? 0 : 1;
    sem_post(&room->answer);
    while (ready) {
        take_semaphore(&room->ask);
        if (room->order == ORDER_END)
            break;
        room->returned = s.step(s.self, &room->in, &room->out);
        sem_post(&room->answer);
    }
    if (ready)
        s.destroy(s.self);
    fflush(NULL);
    _exit(0);
}

/* ----------------------------------------------------------------------------------------- the parent -- */

/* Reaps the child if it has ended. */
static bool is_gone(ff_obsw_shared *s) {
    int status;
    if (s->info.died)
        return true;
    const pid_t one = waitpid(s->child, &status, WNOHANG);
    if (one != s->child)
        return false;
    s->info.died = true;
    s->info.died_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return true;
}

/* True: it has answered. Waits in short pieces, because a dead child posts nothing. */
static bool wait_answer(ff_obsw_shared *s, double wait) {
    const double end = ff_clock_seconds() + wait;
    if (look(&s->room->answer))
        return true;
    for (;;) {
        const double left = end - ff_clock_seconds(), piece = left < 0.01 ? left : 0.01;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        const long ns = until.tv_nsec + (long)(1e9 * (piece > 0.0 ? piece : 0.0));
        until.tv_sec += ns / 1000000000;
        until.tv_nsec = ns % 1000000000;
        if (sem_timedwait(&s->room->answer, &until) == 0)
            return true;
        if (is_gone(s)) /* it may have answered, then ended */
            return sem_trywait(&s->room->answer) == 0;
        if (ff_clock_seconds() >= end)
            return false;
    }
}

static void end_child(ff_obsw_shared *s) {
    if (s->child > 0 && !is_gone(s)) {
        kill(s->child, SIGKILL);
        while (waitpid(s->child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    sem_destroy(&s->room->ask);
    sem_destroy(&s->room->answer);
    munmap(s->room, sizeof *s->room);
    s->room = NULL;
    s->child = 0;
}

bool ff_obsw_shared_text(const ff_obsw_shared_info *info, double timeout, char *text, size_t size) {
    if (info->died && info->died_signal)
        snprintf(text, size, "the on-board software crashed in its step at %.3f s: %s", info->died_at,
                 strsignal(info->died_signal));
    else if (info->died)
        snprintf(text, size, "the on-board software ended its process in its step at %.3f s", info->died_at);
    else if (info->stuck)
        snprintf(text, size, "the on-board software did not return from its step at %.3f s within %g s",
                 info->stuck_at, timeout);
    return info->died || info->stuck;
}

static ff_status open_file(ff_obsw_shared *shared, const ff_held_file *file, const ff_obsw_setup *setup,
                           double timeout, char *message, size_t size) {
    const char *const path = file->path;
    struct ff_obsw_room *const room =
        mmap(NULL, sizeof *room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return FF_ERR_MEMORY;
    memset(room, 0, sizeof *room);
    room->setup = *setup;
    shared->room = room;
    sem_init(&room->ask, 1, 0);
    sem_init(&room->answer, 1, 0);
    fflush(NULL); /* else what is not printed yet would be printed twice */
    const pid_t parent = getpid();
    shared->child = fork();
    if (shared->child == 0)
        live(room, file, parent);
    bool ready = false;
    if (shared->child < 0)
        snprintf(message, size, "the on-board software gets no process: %s", strerror(errno));
    else if (!wait_answer(shared, 10.0 * timeout)) {
        if (shared->info.died && shared->info.died_signal)
            snprintf(message, size, "the on-board software %s crashed in its start: %s", path,
                     strsignal(shared->info.died_signal));
        else if (shared->info.died)
            snprintf(message, size, "the on-board software %s ended in its start", path);
        else
            snprintf(message, size, "the on-board software %s did not return from its start within %g s",
                     path, 10.0 * timeout);
    } else if (room->returned != 0)
        snprintf(message, size, "%s", room->message);
    else
        ready = true;
    if (ready)
        return FF_OK;
    end_child(shared);
    return FF_ERR_DEVICE;
}

ff_status ff_obsw_shared_open(ff_obsw_shared *shared, ff_held *held, const char *path,
                              const ff_obsw_setup *setup, double timeout, char *message, size_t size) {
    *shared = (ff_obsw_shared){.timeout = timeout};
    ff_held own = {0};
    const ff_held_file *file;
    char why[200] = "";
    ff_status status = ff_image_read(held ? held : &own, path, &file, why, sizeof why);
    if (status == FF_OK)
        status = open_file(shared, file, setup, timeout, message, size);
    else {
        snprintf(message, size, "the on-board software does not load: %s: %s", path, why);
        status = status == FF_ERR_MEMORY ? status : FF_ERR_DEVICE;
    }
    ff_held_free(&own);
    return status;
}

ff_status ff_obsw_shared_step(ff_obsw_shared *s, const ff_obsw_in *in, ff_obsw_out *out) {
    if (!s->room || s->info.died)
        return FF_INFO_HELD;
    if (s->busy) {
        if (sem_trywait(&s->room->answer) != 0) {
            if (is_gone(s))
                s->info.died_at = in->t;
            return FF_INFO_HELD;
        }
        s->busy = false; /* an answer to sensors of before: not used */
    }
    s->room->in = *in;
    s->room->out = *out;
    s->room->order = ORDER_STEP;
    sem_post(&s->room->ask);
    if (wait_answer(s, s->timeout)) {
        *out = s->room->out;
        return s->room->returned == 0 ? FF_OK : FF_INFO_HELD;
    }
    if (s->info.died)
        s->info.died_at = in->t;
    else {
        s->busy = true;
        if (s->info.stuck++ == 0)
            s->info.stuck_at = in->t;
    }
    return FF_INFO_HELD;
}

void ff_obsw_shared_close(ff_obsw_shared *s) {
    if (!s->room)
        return;
    if (!s->busy && !s->info.died) {
        s->room->order = ORDER_END;
        sem_post(&s->room->ask);
        for (const double end = ff_clock_seconds() + s->timeout; !is_gone(s) && ff_clock_seconds() < end;)
            nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    end_child(s);
}
