/* Guard pages around the memory of foreign code, and the crash at one of them in words.
 *
 *   memory: header | ... | guard pages | pattern, block | guard pages | ... */
#include "catalog/chamber.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct header {
    size_t block; /* bytes now */
    size_t pages; /* bytes between the guards */
    size_t end;   /* of the block, from the upper guard downward */
} header;

enum { PATTERN = 0x5b, STACK = 32768 };

static _Thread_local struct {
    const void *memory;
    const char *what;
} used[FF_CHAMBERS];
static void (*explain)(const char *why);

static size_t page_bytes(void) {
    static size_t bytes;
    if (!bytes)
        bytes = (size_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

/* Of each guard: addresses alone, no memory. */
static size_t guarded(void) {
    return 16 * page_bytes();
}

static size_t rounded(size_t bytes, size_t to) {
    return (bytes + to - 1) / to * to;
}

static header header_of(const void *memory) {
    header h;
    memcpy(&h, memory, sizeof h);
    return h;
}

/* The lower guard. */
static char *guard_of(const void *memory) {
    return (char *)rounded((uintptr_t)memory + sizeof(header), page_bytes());
}

void *ff_chamber_take(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void ff_chamber_give(void *memory, size_t bytes) {
    if (memory)
        munmap(memory, bytes);
}

size_t ff_chamber_bytes(size_t block) {
    return rounded(sizeof(header), 16) + page_bytes() + 2 * guarded() + rounded(block, page_bytes());
}

void ff_chamber_fit(void *memory, size_t block) {
    header h = header_of(memory);
    char *from = guard_of(memory) + guarded();
    h.block = block;
    h.end = 0;
    memcpy(memory, &h, sizeof h);
    memset(from, PATTERN, h.pages - block);
}

void ff_chamber_open(void *memory, size_t block) {
    header h = {block, rounded(block, page_bytes()), rounded(block, 16) - block};
    memcpy(memory, &h, sizeof h);
    char *guard = guard_of(memory), *from = guard + guarded(), *to = from + h.pages;
    mprotect(from, h.pages, PROT_READ | PROT_WRITE);
    mprotect(guard, guarded(), PROT_NONE);
    mprotect(to, guarded(), PROT_NONE);
    memset(from, PATTERN, h.pages - block - h.end);
    memset(to - h.end, PATTERN, h.end);
}

size_t ff_chamber_size(const void *memory) {
    return header_of(memory).block;
}

void *ff_chamber_block(const void *memory) {
    const header h = header_of(memory);
    return guard_of(memory) + guarded() + h.pages - h.end - h.block;
}

void ff_chamber_lock(const void *memory, bool locked) {
    const header h = header_of(memory);
    if (h.pages)
        mprotect(guard_of(memory) + guarded(), h.pages, locked ? PROT_READ : PROT_READ | PROT_WRITE);
}

/* All of it is the pattern: the first byte is, and each is as the one before. */
static bool stands(const char *from, size_t bytes) {
    return !bytes || (*from == PATTERN && memcmp(from, from + 1, bytes - 1) == 0);
}

bool ff_chamber_whole(const void *memory) {
    const header h = header_of(memory);
    const char *from = guard_of(memory) + guarded(), *to = from + h.pages;
    return stands(from, h.pages - h.end - h.block) && stands(to - h.end, h.end);
}

void ff_chamber_using(int slot, const void *memory, const char *what) {
    used[slot].memory = memory;
    used[slot].what = what;
}

/* A crash: at a guard or at a locked block of this thread's call it is said what it was; else it is one. */
static void on_crash(int number, siginfo_t *info, void *context) {
    (void)context;
    for (int i = 0; i < FF_CHAMBERS; i++) {
        if (!used[i].memory)
            continue;
        const char *guard = guard_of(used[i].memory), *at = info->si_addr;
        const size_t pages = header_of(used[i].memory).pages;
        char why[80];
        if (at < guard || at >= guard + pages + 2 * guarded())
            continue;
        const bool inside = at >= guard + guarded() && at < guard + guarded() + pages;
        snprintf(why, sizeof why,
                 inside ? "writes into %s after it was created" : "reads or writes beyond %s", used[i].what);
        explain(why);
    }
    signal(number, SIG_DFL);
    raise(number);
}

void ff_chamber_explain(void (*say)(const char *why)) {
    static const int plain[] = {SIGFPE, SIGILL, SIGABRT}, ours[] = {SIGSEGV, SIGBUS};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        signal(plain[i], SIG_DFL);
    struct sigaction a = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    explain = say;
    sigemptyset(&a.sa_mask);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        sigaction(ours[i], &a, NULL);
    ff_chamber_stack();
}

void ff_chamber_stack(void) {
    static _Thread_local char memory[STACK];
    const stack_t mine = {.ss_sp = memory, .ss_size = sizeof memory};
    stack_t there;
    if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE)) /* a sanitizer has its own */
        sigaltstack(&mine, NULL);
}
