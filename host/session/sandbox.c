#include "session/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "text/file.h"
#include "text/message.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* -------------------------------------------------------------------------------------------- the system --
 */

#ifdef ARCHITECTURE

/* What no run needs: the network, other programs and processes, the system's own affairs. */
static const int refused[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_kill,
    SYS_mount,
    SYS_umount2,
    SYS_chroot,
    SYS_pivot_root,
    SYS_setns,
    SYS_unshare,
    SYS_bpf,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_userfaultfd,
    SYS_init_module,
    SYS_kexec_load,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_setuid,
    SYS_setgid,
    SYS_mknodat,
    SYS_perf_event_open,
    SYS_io_uring_setup,
    SYS_open_by_handle_at,
    SYS_pidfd_getfd,
    SYS_fsopen,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
};
enum { REFUSED = sizeof refused / sizeof *refused };

static bool filter_calls(void) {
    struct sock_filter code[REFUSED * 2 + 16];
    unsigned short n = 0;
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define UNLESS(value) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, 1) /* passes over the next one */
    code[n++] = (struct sock_filter)LOAD(arch);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)LOAD(nr);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1); /* x32 */
    code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | EPERM);
    for (int i = 0; i < REFUSED; i++) {
        code[n++] = (struct sock_filter)UNLESS(refused[i]);
        code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | EPERM);
    }
    code[n++] = (struct sock_filter)UNLESS(SYS_clone3); /* its flags cannot be seen: libc takes clone */
    code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
    code[n++] = (struct sock_filter)LOAD(args[0]);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_VM, 1, 0); /* a thread */
    code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ERRNO | EPERM);
    code[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {n, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

static bool filter_calls(void) {
    errno = ENOSYS;
    return false;
}

#endif

static void past_its_time(int number) {
    static const char text[] = "--sandbox: stopped after 600 s of processor time\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) >= 0)
        _exit(1);
    _exit(1);
}

static bool limit_resources(void) {
    static const struct {
        int what;
        rlim_t soft, hard;
    } limits[] = {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they map far more than they use */
        {RLIMIT_AS, (rlim_t)FF_SANDBOX_MEMORY << 20, (rlim_t)FF_SANDBOX_MEMORY << 20},
#endif
        {RLIMIT_CPU, FF_SANDBOX_TIME, FF_SANDBOX_TIME + 5},
        {RLIMIT_FSIZE, (rlim_t)FF_SANDBOX_FILE << 20, (rlim_t)FF_SANDBOX_FILE << 20},
        {RLIMIT_NOFILE, 64, 64},
        {RLIMIT_CORE, 0, 0}
    };
    signal(SIGXCPU, past_its_time);
    signal(SIGXFSZ, SIG_IGN); /* the write fails, and is said */
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit now;
        if (getrlimit(limits[i].what, &now) != 0)
            return false;
        const struct rlimit less = {limits[i].soft < now.rlim_max ? limits[i].soft : now.rlim_max,
                                    limits[i].hard < now.rlim_max ? limits[i].hard : now.rlim_max};
        if (setrlimit(limits[i].what, &less) != 0)
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------------------- the scenario
 * -- */

ff_status ff_sandbox_enter(const char *scenario, char *message, size_t size) {
    const char *slash = strrchr(scenario, '/');
    char folder[FF_FILE_PATH];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - scenario) + 1 : 1, slash ? scenario : ".");
    if (ff_file_confine(folder) != FF_OK)
        return ff_refuse(FF_ERR_IO, message, size, "%s: %s", folder, strerror(errno));
    if (!limit_resources() || !filter_calls())
        return ff_refuse(
            FF_ERR_UNSUPPORTED, message, size,
            "--sandbox: this system cannot limit the program (%s): run it in a container of your own",
            strerror(errno));
    return FF_OK;
}

static const ff_method_library *no_library(const char *path, char *message, size_t size) {
    (void)path;
    snprintf(message, size, "--sandbox loads no library");
    return NULL;
}

const ff_catalog ff_sandbox_catalog = {.open = no_library};

bool ff_sandbox_allows(const ff_scenario *scenario, char *message, size_t size) {
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *s = &scenario->satellite[i];
        if (s->obsw.kind != 0) {
            snprintf(message, size,
                     "satellites.%s.obsw: --sandbox loads no library and opens no socket, allowed: builtin",
                     s->name);
            return false;
        }
    }
    return true;
}
