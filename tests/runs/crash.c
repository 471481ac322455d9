/* A library to be preloaded into a program that writes files: it ends the program, or lets one call or all
 * calls from there on fail, at the n-th call that changes a file, a name or what is on the disk, or at the
 * n-th allocation; or it cuts the power there: the program ends, and of each file what was written since its
 * last fsync is gone. The C library's own calls are seen, too: a filter of the kernel (seccomp) raises SIGSYS
 * for each.
 *
 *   FF_CRASH=kill:N | cut:N | fail:N | full:N | kill-memory:N | fail-memory:N | count:0
 *   FF_CRASH_COUNT=FILE     how many calls and allocations there were, written at the end */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static enum { NOTHING, KILL, CUT, FAIL, FULL, KILL_MEMORY, FAIL_MEMORY } action;
static long wanted;
static atomic_long calls, allocations;
static const char *count_file;

/* ------------------------------------------------------------------------------------------- the call -- */

/* The one place in this process from which calls pass the filter: its address is known there. */
#if defined(__x86_64__)
__asm__(
    ".text\n.globl crash_call\ncrash_call:\n"
    "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\nmov 8(%rsp),%r9\n"
    "syscall\n.globl crash_after\ncrash_after:\nret\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl crash_call\ncrash_call:\n"
        "mov x8,x0\nmov x0,x1\nmov x1,x2\nmov x2,x3\nmov x3,x4\nmov x4,x5\nmov x5,x6\nsvc #0\n"
        ".globl crash_after\ncrash_after:\nret\n");
#endif
long crash_call(long number, long a, long b, long c, long d, long e, long f);
extern const char crash_after[];

static const int watched[] = {
    SYS_write,     SYS_pwrite64, SYS_writev,    SYS_renameat2, SYS_renameat, SYS_fsync,  SYS_fdatasync,
    SYS_ftruncate, SYS_mkdirat,  SYS_symlinkat, SYS_unlinkat,  SYS_linkat,   SYS_openat,
#ifdef SYS_rename
    SYS_rename,    SYS_mkdir,    SYS_symlink,   SYS_unlink,    SYS_rmdir,    SYS_link,
#endif
};

/* --------------------------------------------------------------------------------------- what is synced --
 */

/* Files with bytes that are not on the disk, by descriptors of our own: those of the program may be closed,
 * and hold locks. */
static struct unsynced {
    dev_t device;
    ino_t inode;
    off_t kept; /* bytes that were synced */
    int file;   /* 0: none */
} unsynced[256];

static struct unsynced *find_unsynced(int file, struct stat *info) {
    struct unsynced *free = NULL;
    if (fstat(file, info) != 0 || !S_ISREG(info->st_mode))
        return NULL;
    for (int i = 0; i < 256; i++) {
        struct unsynced *u = &unsynced[i];
        if (u->file && u->device == info->st_dev && u->inode == info->st_ino)
            return u;
        free = !u->file && !free ? u : free;
    }
    if (!free) /* say so rather than keep what a cut would take */
        _exit(78);
    return free;
}

static void note_write(int file) {
    struct stat info;
    char path[40];
    struct unsynced *u = find_unsynced(file, &info);
    if (!u || u->file)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    *u = (struct unsynced){info.st_dev, info.st_ino, info.st_size, open(path, O_WRONLY | O_CLOEXEC)};
}

static void note_sync(int file) {
    struct stat info;
    struct unsynced *u = find_unsynced(file, &info);
    if (u && u->file)
        close(u->file);
    if (u)
        u->file = 0;
}

static void cut_power(void) {
    for (int i = 0; i < 256; i++)
        if (unsynced[i].file > 0)
            crash_call(SYS_ftruncate, unsynced[i].file, unsynced[i].kept, 0, 0, 0, 0);
    crash_call(SYS_kill, getpid(), SIGKILL, 0, 0, 0, 0);
}

static int decide(long number, const long a[6]) {
    const int writes = number == SYS_write || number == SYS_pwrite64 || number == SYS_writev;
    if ((writes && a[0] <= 2) || (number == SYS_openat && !(a[2] & O_CREAT)))
        return 0;
    const long n = ++calls;
    if (action == KILL && n == wanted)
        crash_call(SYS_kill, getpid(), SIGKILL, 0, 0, 0, 0);
    if (action == CUT && n == wanted)
        cut_power();
    if (action == CUT && writes)
        note_write((int)a[0]);
    const int takes = writes || number == SYS_openat || number == SYS_mkdirat || number == SYS_symlinkat ||
                      number == SYS_linkat || number == SYS_fsync || number == SYS_fdatasync;
    if ((action == FAIL && n == wanted) || (action == FULL && n >= wanted && takes)) /* what takes space */
        return number == SYS_fsync || number == SYS_fdatasync ? EIO : ENOSPC;
    return 0;
}

static void on_call(int signal, siginfo_t *info, void *context) {
    (void)signal;
    ucontext_t *u = context;
    const long number = info->si_syscall;
#if defined(__x86_64__)
    greg_t *r = u->uc_mcontext.gregs;
    const long a[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    greg_t *result = &r[REG_RAX];
#else
    unsigned long long *r = u->uc_mcontext.regs;
    const long a[6] = {(long)r[0], (long)r[1], (long)r[2], (long)r[3], (long)r[4], (long)r[5]};
    unsigned long long *result = &r[0];
#endif
    const int error = decide(number, a);
    const long done = error ? -error : crash_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (action == CUT && done == 0 && (number == SYS_fsync || number == SYS_fdatasync))
        note_sync((int)a[0]);
    memcpy(result, &done, sizeof done);
}

/* Calls that are watched raise SIGSYS, unless they come from crash_call. */
static void install(void) {
    enum { COUNT = sizeof watched / sizeof *watched };
    const uint64_t from = (uint64_t)(uintptr_t)crash_after;
    struct sock_filter program[COUNT + 8], *p = program;
    *p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                        offsetof(struct seccomp_data, instruction_pointer));
    *p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)from, 0, 3);
    *p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                        offsetof(struct seccomp_data, instruction_pointer) + 4);
    *p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(from >> 32), 0, 1);
    *p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    *p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++)
        *p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)watched[i],
                                            (uint8_t)(COUNT - i), 0);
    *p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    *p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    const struct sock_fprog filter = {(unsigned short)(p - program), program};
    const struct sigaction handle = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &handle, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(77);
}

/* ---------------------------------------------------------------------------------------------- memory -- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

/* Only what the program or the C library asks for: SUNDIALS does not survive without memory. */
static struct { uintptr_t from, to; } asking[2];

static int note_object(struct dl_phdr_info *object, size_t size, void *user) {
    (void)size;
    int *number = user;
    const int slot = (*number)++ == 0 ? 0 : strstr(object->dlpi_name, "/libc.so") ? 1 : -1;
    for (int i = 0; slot >= 0 && i < object->dlpi_phnum; i++) {
        const uintptr_t from = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && (object->dlpi_phdr[i].p_flags & PF_X)) {
            asking[slot].from = from;
            asking[slot].to = from + object->dlpi_phdr[i].p_memsz;
        }
    }
    return 0;
}

static int without(const void *caller) {
    const uintptr_t at = (uintptr_t)caller;
    if (!(at >= asking[0].from && at < asking[0].to) && !(at >= asking[1].from && at < asking[1].to))
        return 0;
    const long n = ++allocations;
    if (action == KILL_MEMORY && n == wanted)
        kill(getpid(), SIGKILL);
    if (action != FAIL_MEMORY || n != wanted)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    return without(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    return without(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
    return without(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

/* -------------------------------------------------------------------------------------------- both ends --
 */

__attribute__((constructor)) static void begin(void) {
    static const char *const word[] = {"count", "kill", "cut", "fail", "full", "kill-memory", "fail-memory"};
    const char *text = getenv("FF_CRASH");
    const char *colon = text ? strchr(text, ':') : NULL;
    count_file = getenv("FF_CRASH_COUNT");
    for (int i = 0; colon && i < 7; i++)
        if (strlen(word[i]) == (size_t)(colon - text) && strncmp(text, word[i], strlen(word[i])) == 0)
            action = i;
    wanted = colon ? atol(colon + 1) : 0;
    int objects = 0;
    dl_iterate_phdr(note_object, &objects);
    calls = allocations = 0;
    install();
}

__attribute__((destructor)) static void end(void) {
    char text[64];
    const int n = snprintf(text, sizeof text, "%ld %ld\n", (long)calls, (long)allocations);
    const int file = count_file ? open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file >= 0)
        crash_call(SYS_write, file, (long)(uintptr_t)text, n, 0, 0, 0);
}
