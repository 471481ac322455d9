/* Memory that runs out: the n-th allocation of a piece of work fails, for every n until the work needs fewer.
 * Tests named *_memory.c are linked so that malloc, calloc, realloc and strdup of our own code pass through
 * here; what other libraries allocate does not. */
#ifndef FF_TESTS_MEMORY_SUPPORT_H
#define FF_TESTS_MEMORY_SUPPORT_H

#include <stdatomic.h>

#include "support.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static atomic_long memory_left = -1; /* allocations until one fails; negative: none does */
static atomic_bool memory_hit;
static void *memory_caller;

static bool memory_fails(void *caller) {
    if (atomic_load(&memory_left) < 0 || atomic_fetch_sub(&memory_left, 1) != 0)
        return false;
    atomic_store(&memory_hit, true);
    memory_caller = caller;
    return true;
}

void *__wrap_malloc(size_t size) {
    return memory_fails(__builtin_return_address(0)) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return memory_fails(__builtin_return_address(0)) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
    return memory_fails(__builtin_return_address(0)) ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text) {
    return memory_fails(__builtin_return_address(0)) ? NULL : __real_strdup(text);
}

/* Where the failed allocation was: for addr2line -e PROGRAM. */
static inline const char *memory_place(void) {
    extern const char __executable_start[];
    static char text[64];
    snprintf(text, sizeof text, "at %#tx", (const char *)memory_caller - __executable_start - 1);
    return text;
}

/* The work, with every allocation failing once: `work` does it all, frees it all, and says whether it
 * succeeded; text is what it has to say. One that met a failure must not have succeeded, and must say why.
 * Returns how many allocations there were. */
static inline int memory_sweep(bool (*work)(void *user, const char **text), void *user) {
    for (int n = 0;; n++) {
        const char *text = "";
        atomic_store(&memory_hit, false);
        atomic_store(&memory_left, n);
        const bool good = work(user, &text);
        atomic_store(&memory_left, -1);
        const bool hit = atomic_load(&memory_hit);
        if (!hit && !good)
            fail_msg("without a failure, after %d: %s", n, text);
        if (!hit)
            return n;
        if (good)
            fail_msg("allocation %d failed and nobody noticed; %s", n, memory_place());
        if (!strstr(text, "memory"))
            fail_msg("allocation %d failed, the message is: '%s'; %s", n, text, memory_place());
    }
}

#endif
