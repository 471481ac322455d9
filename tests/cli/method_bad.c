/* A method library with the fault that the environment names, FF_BAD=FUNCTION:ACT[@CALL]: the ACT in call
 * number CALL (1 unless given) of FUNCTION, `load` for its constructor; without it the library is good and
 * does nothing. What happens at a step beyond the 64th is not seen when the library is tried, only in the
 * run. */
#include <fcntl.h>
#include <fenv.h>
#include <freefloat/method.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

typedef struct settings {
    double share;
} settings;

/* What the fault may reach. */
typedef struct reach {
    void *model, *state, *out, *values, *settings;
    const ff_method_in *in;
    ff_status status;
    double number; /* that the function returns */
} reach;

static volatile int sink;
static const char *complaint = "it never likes anything";

static void ignore(int number) {
    sink = number;
}
static void *forever(void *unused) {
    for (;;)
        pause();
    return unused;
}
static int recurse(volatile int *depth) {
    volatile int here[1024] = {*depth};
    return recurse(here) + here[7];
}
/* write=TARGET+OFFSET */
static void write_to(const reach *r, const char *where) {
    const char *sign = where + strcspn(where, "+-");
    const struct {
        const char *name;
        void *at;
    } targets[] = {{"model", r->model},       {"state", r->state},
                   {"out", r->out},           {"values", r->values},
                   {"settings", r->settings}, {"input", r->in ? (void *)(uintptr_t)r->in->body : NULL}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i].at && strncmp(where, targets[i].name, (size_t)(sign - where)) == 0)
            ((volatile char *)targets[i].at)[strtol(sign, NULL, 10)] ^= 0x11;
}

/* Another file in the place of this one. */
static void swap(void) {
    const char *path = getenv("FF_BAD_PATH"), *other = getenv("FF_BAD_OTHER");
    if (path && other)
        sink = rename(other, path);
}
static void fill(void) {
    for (size_t i = 0; i < 1000; i++)
        memset(malloc((size_t)1 << 28), 1, 1); /* 256 GB of addresses, and no check */
}
/* What it returns that is not a number of physics. */
static void answer(const char *act, reach *r) {
    ff_method_out *out = r->out;
    if (strcmp(act, "complain") == 0)
        complaint = "two\nlines";
    else if (strcmp(act, "complain-wild") == 0)
        complaint = (const char *)8;
    else if (strcmp(act, "lead") == 0 && out) {
        out->has_command = true;
        out->lead[0] = 1e300;
    } else if (strcmp(act, "attitude") == 0 && out) {
        out->has_next[0] = true;
        memset(&out->next[0], 0, sizeof out->next[0]);
    } else if (strcmp(act, "observers") == 0 && out)
        out->observers = 1000;
    if (strncmp(act, "complain", 8) == 0)
        r->status = FF_ERR_ARGUMENT;
}

static void hold(const char *act) {
    sigset_t all;
    sigfillset(&all);
    if (strcmp(act, "hang") == 0)
        forever(NULL);
    else if (strcmp(act, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, forever, NULL);
    } else if (strcmp(act, "end-thread") == 0)
        pthread_exit(NULL);
    else if (strcmp(act, "handler") == 0)
        signal(SIGINT, ignore);
    else if (strcmp(act, "ignore") == 0)
        signal(SIGTERM, SIG_IGN);
    else if (strcmp(act, "mask") == 0)
        sigprocmask(SIG_BLOCK, &all, NULL);
    else if (strcmp(act, "alarm") == 0) {
        const struct itimerval soon = {.it_value = {0, 1}};
        setitimer(ITIMER_REAL, &soon, NULL);
        while (!sink)
            ;
    } else if (strcmp(act, "terminate") == 0)
        raise(SIGTERM);
    else if (strcmp(act, "fork") == 0)
        fork();
    else if (strcmp(act, "clone") == 0 && syscall(SYS_fork) == 0)
        forever(NULL);
}

static void perform(const char *act, reach *r) {
    volatile double zero = 0.0;
    int depth = 0;
    jmp_buf here;
    hold(act);
    answer(act, r);
    if (strcmp(act, "crash") == 0)
        *(volatile int *)(uintptr_t)sink = 1; /* address 0 */
    else if (strcmp(act, "swap") == 0)
        swap();
    else if (strcmp(act, "fill") == 0)
        fill();
    else if (strcmp(act, "abort") == 0)
        abort();
    else if (strcmp(act, "exit") == 0)
        exit(0);
    else if (strcmp(act, "_exit") == 0)
        _exit(0);
    else if (strcmp(act, "recurse") == 0)
        sink = recurse(&depth);
    else if (strcmp(act, "close") == 0)
        close(1);
    else if (strcmp(act, "close-all") == 0)
        for (int i = 0; i < 1024; i++)
            close(i);
    else if (strcmp(act, "replace") == 0)
        dup2(open("/", O_RDONLY), 2);
    else if (strcmp(act, "limit") == 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
    else if (strcmp(act, "chdir") == 0)
        sink = chdir("/");
    else if (strcmp(act, "locale") == 0)
        sink = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    else if (strcmp(act, "round") == 0)
        fesetround(FE_UPWARD);
    else if (strcmp(act, "trap") == 0)
        feenableexcept(FE_ALL_EXCEPT);
    else if (strcmp(act, "divide") == 0) {
        feenableexcept(FE_DIVBYZERO);
        sink = 1.0 / zero > 0.0;
    } else if (strcmp(act, "jump") == 0) {
        if (setjmp(here) == 0)
            longjmp(here, 1);
    } else if (strncmp(act, "write=", 6) == 0)
        write_to(r, act + 6);
    else if (strncmp(act, "status=", 7) == 0)
        r->status = (ff_status)strtol(act + 7, NULL, 10);
    else if (strncmp(act, "value=", 6) == 0)
        r->number = strtod(act + 6, NULL);
    else if (strcmp(act, "nan") == 0 && r->out)
        ((ff_method_out *)r->out)->f_b[0].f.x = FF_NAN;
}

/* The fault of this library, if `function` is where it happens. */
static void misbehave(const char *function, reach *r) {
    static int calls;
    const char *bad = getenv("FF_BAD"), *colon = bad ? strchr(bad, ':') : NULL;
    char act[64];
    if (!colon || strncmp(bad, function, (size_t)(colon - bad)) != 0 || function[colon - bad])
        return;
    const size_t n = strcspn(colon + 1, "@");
    const long at = colon[1 + n] ? strtol(colon + 2 + n, NULL, 10) : 1;
    if (++calls != at || n >= sizeof act)
        return;
    memcpy(act, colon + 1, n);
    act[n] = 0;
    perform(act, r);
}

__attribute__((constructor)) static void load(void) {
    misbehave("load", &(reach){0});
}
__attribute__((destructor)) static void unload(void) {
    misbehave("unload", &(reach){0});
}

static void defaults(int variant, void *s) {
    (void)variant;
    reach r = {.settings = s, .number = 0.5};
    misbehave("defaults", &r);
    ((settings *)s)->share = r.number;
}
static ff_status check(const ff_world *w, const void *s, uint64_t given, ff_complaint *why) {
    reach r = {.settings = (void *)(uintptr_t)s, .status = FF_OK};
    (void)w, (void)given;
    misbehave("check", &r);
    *why = (ff_complaint){"", complaint};
    return r.status;
}
static size_t bytes(const ff_world *w, const void *s, size_t *state) {
    reach r = {.number = 8.0};
    (void)w, (void)s;
    *state = sizeof(long);
    misbehave("bytes", &r);
    return (size_t)r.number;
}
static void create(const ff_world *w, const void *s, uint64_t given, void *m) {
    (void)w, (void)s, (void)given;
    misbehave("create", &(reach){.model = m});
}
static void reset(const void *m, const ff_rigid_state *b, void *s) {
    (void)b;
    memset(s, 0, sizeof(long));
    misbehave("reset", &(reach){.model = (void *)(uintptr_t)m, .state = s});
}
static void detector(const void *m, ff_detector_config *config) {
    reach r = {.model = (void *)(uintptr_t)m, .number = config->force_on};
    misbehave("detector", &r);
    config->force_on = r.number;
}
static double lead(const void *m, const void *s, int body) {
    reach r = {.model = (void *)(uintptr_t)m, .state = (void *)(uintptr_t)s};
    (void)body;
    misbehave("lead", &r);
    return r.number;
}
static ff_status step(const void *m, void *s, const ff_method_in *in, ff_method_out *out) {
    reach r = {.model = (void *)(uintptr_t)m, .state = s, .out = out, .in = in, .status = FF_OK};
    ++*(long *)s;
    for (int i = 0; i < in->bodies; i++)
        out->f_b[i] = in->sample[i].f_b;
    misbehave("step", &r);
    return r.status;
}

static const char *const labels[] = {"none", "some", NULL};
static const ff_report_column column[] = {
    {.name = "choice", .unit = "", .type = FF_REPORT_CHOICE, .run = true, .label = labels, .help = ""},
    {.name = "count", .unit = "", .type = FF_REPORT_INTEGER, .run = true, .help = ""},
    {.name = "flags", .unit = "", .type = FF_REPORT_FLAGS, .run = true, .label = labels, .help = ""},
    {.name = "steps", .unit = "", .type = FF_REPORT_INTEGER, .run = true, .help = ""},
    {.name = "last", .unit = "", .type = FF_REPORT_INTEGER, .help = ""}};

/* Values that their types do not have, and how often it was stepped. */
static void report(const void *m, const void *s, int body, double *values) {
    reach r = {.model = (void *)(uintptr_t)m, .state = (void *)(uintptr_t)s, .values = values};
    misbehave("report", &r);
    const double steps = (double)*(const long *)s;
    if (body >= 0) {
        values[0] = steps;
        return;
    }
    values[0] = 99.0;
    values[1] = FF_INF;
    values[2] = -1.0;
    values[3] = steps;
}

static const ff_setting table[] = {FF_SETTING_OF(settings, share, "", 0.5, 0.0, 1.0, "nothing")};

static ff_method method = {FF_METHOD("idle", "1", ""),
                           FF_METHOD_TAKES(table, settings),
                           .column = column,
                           .columns = sizeof column / sizeof *column,
                           .report = report,
                           .check = check,
                           .bytes = bytes,
                           .create = create,
                           .defaults = defaults,
                           .detector = detector,
                           .lead = lead,
                           .reset = reset,
                           .step = step};

/* FF_BAD=table:FIELD=VALUE changes the table. */
const ff_method *ff_method_entry(uint32_t abi);
const ff_method *ff_method_entry(uint32_t abi) {
    static char name[16384];
    struct stat s;
    const char *bad = getenv("FF_BAD");
    misbehave("entry", &(reach){0});
    if (!bad || strncmp(bad, "table:", 6) != 0)
        return abi == FF_METHOD_ABI ? &method : NULL;
    bad += 6;
    const char *equals = strchr(bad, '=');
    snprintf(name, sizeof name, "%s", equals ? equals + 1 : "");
    if (strncmp(bad, "name=", 5) == 0)
        method.name = name;
    else if (strncmp(bad, "late-name=", 10) == 0 && fstat(2, &s) == 0 && !S_ISCHR(s.st_mode))
        method.name = name; /* a trial has /dev/null there */
    else if (strcmp(bad, "no-step") == 0)
        method.step = NULL;
    else if (strcmp(bad, "abi") == 0)
        method.abi++;
    else if (strcmp(bad, "size") == 0)
        method.size -= 8;
    else if (strcmp(bad, "can-all") == 0)
        method.can = FF_CAN_TREE | FF_CAN_RELATIVE;
    else if (strcmp(bad, "null") == 0)
        return NULL;
    else if (strcmp(bad, "wild") == 0)
        method.help = (const char *)8;
    return &method;
}
