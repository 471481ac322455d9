/* A method library that has the fault that -D names; without one it is good and does nothing. What
 * happens AT a step beyond the 64th is not seen when the library is tried, only in the run. */
#include <freefloat/method.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ROUND
#include <fenv.h>
__attribute__((constructor)) static void round_upward(void) {
    fesetround(FE_UPWARD);
}
#endif
#ifdef CRASH_LOAD
__attribute__((constructor)) static void crash(void) {
    abort();
}
#endif
#ifdef HANG_LOAD
__attribute__((constructor)) static void hang(void) {
    for (;;)
        pause();
}
#endif
#ifdef FORK_LOAD
__attribute__((constructor)) static void split(void) {
    fork();
}
#endif
#ifdef CRASH_UNLOAD
__attribute__((destructor)) static void crash_late(void) {
    abort();
}
#endif
#ifdef HANG_UNLOAD
__attribute__((destructor)) static void hang_late(void) {
    for (;;)
        pause();
}
#endif
#ifndef NAME
#define NAME "idle"
#endif
#ifndef AT
#define AT 80
#endif

typedef struct settings {
    double share;
} settings;

static ff_status check(const ff_world *w, const void *s, uint64_t given, ff_complaint *why) {
    (void)w, (void)s, (void)given;
    *why = (ff_complaint){"", "it never likes anything"};
#ifdef REFUSE
    return FF_ERR_ARGUMENT;
#else
    return FF_OK;
#endif
}
static size_t bytes(const ff_world *w, const void *s, size_t *state) {
    (void)w, (void)s;
    *state = sizeof(long);
#ifdef BIG
    return (size_t)65 << 20;
#else
    return 8;
#endif
}
static void create(const ff_world *w, const void *s, uint64_t given, void *m) {
    (void)w, (void)s, (void)given, (void)m;
}
static void reset(const void *m, const ff_rigid_state *b, void *s) {
    (void)m, (void)b;
    memset(s, 0, sizeof(long));
}

/* The fault of this library, in step number AT. */
static void fail(long *k, ff_method_out *out) {
    (void)k, (void)out;
#ifdef NOT_FINITE
    out->f_b[0].f.x = FF_NAN;
#endif
#ifdef CRASH
    *(volatile int *)(uintptr_t)(*k - AT) = 1; /* address 0 */
#endif
#ifdef HANG
    for (;;)
        pause();
#endif
#ifdef EXIT
    exit(0);
#endif
#ifdef EXIT_AT_ONCE
    _exit(0);
#endif
#ifdef FORK
    fork();
#endif
#ifdef WRITE
    ((volatile char *)k)[WRITE] = 1;
#endif
}

static ff_status step(const void *m, void *s, const ff_method_in *in, ff_method_out *out) {
    long *k = s;
    (void)m, (void)in;
    if (++*k == AT)
        fail(k, out);
    return FF_OK;
}

static const char *const labels[] = {"none", "some", NULL};
static const ff_report_column column[] = {
    {.name = "choice", .unit = "", .type = FF_REPORT_CHOICE, .run = true, .label = labels, .help = ""},
    {.name = "count", .unit = "", .type = FF_REPORT_INTEGER, .run = true, .help = ""},
#ifdef TWICE
    {.name = "count", .unit = "", .type = FF_REPORT_INTEGER, .run = true, .help = ""},
#endif
    {.name = "flags", .unit = "", .type = FF_REPORT_FLAGS, .run = true, .label = labels, .help = ""}};

/* Values that their types do not have. */
static void report(const void *m, const void *s, int body, double *values) {
    (void)m, (void)s;
    if (body >= 0)
        return;
#ifdef CRASH_REPORT
    if (*(const long *)s > AT)
        abort();
#endif
    values[0] = 99.0;
    values[1] = FF_INF;
    values[2] = -1.0;
}

#ifdef DEFAULT
static void defaults(int variant, void *s) {
    (void)variant;
    ((settings *)s)->share = DEFAULT;
}
#endif
#ifdef LEAD
static double lead(const void *m, const void *s, int body) {
    (void)m, (void)body;
    return *(const long *)s >= AT ? LEAD : 0.0;
}
#endif
#ifdef THRESHOLD
static void detector(const void *m, ff_detector_config *config) {
    (void)m;
    config->force_on = THRESHOLD;
}
#endif
#ifndef SHARE
#define SHARE 0.5
#endif

static const ff_setting table[] = {FF_SETTING_OF(settings, share, "", SHARE, 0.0, 1.0, "nothing")};

static const ff_method method = {FF_METHOD(NAME, "1", ""),
                                 FF_METHOD_TAKES(table, settings),
                                 .can = FF_CAN_RELATIVE,
                                 .column = column,
                                 .columns = sizeof column / sizeof *column,
                                 .report = report,
                                 .check = check,
                                 .bytes = bytes,
                                 .create = create,
                                 .reset = reset,
#ifdef DEFAULT
                                 .defaults = defaults,
#endif
#ifdef LEAD
                                 .lead = lead,
#endif
#ifdef THRESHOLD
                                 .detector = detector,
#endif
#ifndef BROKEN
                                 .step = step
#endif
};

const ff_method *ff_method_entry(uint32_t abi);
const ff_method *ff_method_entry(uint32_t abi) {
#ifdef OLD
    return abi == FF_METHOD_ABI + 1 ? &method : NULL;
#else
    (void)abi;
    return &method;
#endif
}
