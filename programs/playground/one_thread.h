/* playground/one_thread.h - in place of <pthread.h> in the module of the page: a worker has one thread, so
 * what is done once needs a flag, and a lock nothing. */
#ifndef FF_PLAYGROUND_ONE_THREAD_H
#define FF_PLAYGROUND_ONE_THREAD_H

typedef int pthread_once_t, pthread_mutex_t;
#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_INITIALIZER 0

static inline int pthread_once(pthread_once_t *once, void (*function)(void)) {
    if (!*once) {
        *once = 1;
        function();
    }
    return 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *mutex) {
    (void)mutex;
    return 0;
}
static inline int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    (void)mutex;
    return 0;
}

#endif
