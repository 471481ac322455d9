/* Preloaded into rt: what its real-time thread calls between its two looks at its page faults (getrusage of the
 * thread), which stand around the loop: memory, locks, DDS. One line on the standard error at the end. With
 * FF_WATCH_TRY it does one of each itself, which must be found. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct counts {
    unsigned long memory, locks, dds;
} counts;

static _Thread_local counts now __attribute__((tls_model("initial-exec")));
static _Thread_local unsigned looks __attribute__((tls_model("initial-exec")));
static counts found; /* of the thread that looked last, up to then */
static unsigned looked;
static _Atomic(const char *) first;

int dds_get_guid(int entity, void *guid);

/* A symbol of the library behind this one: data, whatever ISO C thinks of functions. */
static void find(void *function, const char *name) {
    void *const symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void note(unsigned long *count, const char *name) {
    if (!looks)
        return;
    *count += 1;
    const char *none = NULL;
    atomic_compare_exchange_strong(&first, &none, name);
}

static void try(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *volatile memory = malloc(1);
    free(memory);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    dds_get_guid(0, NULL);
}

int getrusage(__rusage_who_t who, struct rusage *usage) {
    static int (*next)(__rusage_who_t, struct rusage *);
    if (!next)
        find(&next, "getrusage");
    if (who == RUSAGE_THREAD && looks++) {
        if (getenv("FF_WATCH_TRY"))
            try();
        found = now;
        looked = looks;
    }
    return next(who, usage);
}

/* ------------------------------------------------------------------------------------------- memory --
 */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size) {
    note(&now.memory, "malloc");
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    note(&now.memory, "calloc");
    return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
    note(&now.memory, "realloc");
    return __libc_realloc(memory, size);
}
void free(void *memory) {
    if (memory)
        note(&now.memory, "free");
    __libc_free(memory);
}

/* -------------------------------------------------------------------------------------- locks and DDS --
 */

#define WATCH(type, name, count, parameters, arguments) \
    type name parameters {                              \
        static type(*next) parameters;                  \
        if (!next)                                      \
            find(&next, #name);                         \
        note(&now.count, #name);                        \
        return next arguments;                          \
    }

WATCH(int, pthread_mutex_lock, locks, (pthread_mutex_t * m), (m))
WATCH(int, pthread_mutex_trylock, locks, (pthread_mutex_t * m), (m))
WATCH(int, pthread_rwlock_rdlock, locks, (pthread_rwlock_t * m), (m))
WATCH(int, pthread_rwlock_wrlock, locks, (pthread_rwlock_t * m), (m))
WATCH(int, pthread_cond_wait, locks, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
WATCH(int, pthread_cond_signal, locks, (pthread_cond_t * c), (c))
WATCH(int, pthread_cond_broadcast, locks, (pthread_cond_t * c), (c))
WATCH(int, dds_write, dds, (int writer, const void *data), (writer, data))
WATCH(int, dds_writecdr, dds, (int writer, void *data), (writer, data))
WATCH(int, dds_take, dds, (int reader, void **to, void *info, size_t size, unsigned most),
      (reader, to, info, size, most))
WATCH(int, dds_takecdr, dds, (int reader, void **to, unsigned most, void *info, unsigned mask),
      (reader, to, most, info, mask))
WATCH(int, dds_get_guid, dds, (int entity, void *guid), (entity, guid))

__attribute__((destructor)) static void say(void) {
    const char *name = atomic_load(&first);
    if (looked)
        fprintf(stderr, "watched: %lu of memory, %lu locks, %lu of DDS (%s)\n", found.memory, found.locks,
                found.dds, name ? name : "none");
}
