/* A method library that is wrong in the way that -D names; without one it is good and does nothing. */
#include <freefloat/method.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
#ifndef NAME
#define NAME "idle"
#endif

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
static ff_status step(const void *m, void *s, const ff_method_in *in, ff_method_out *out) {
    long *k = s;
    (void)m, (void)in;
    ++*k;
#ifdef NAN_AT
    if (*k == NAN_AT)
        out->f_b[0].f.x = FF_NAN;
#endif
#ifdef CRASH_AT
    if (*k == CRASH_AT)
        abort();
#endif
#ifdef HANG_AT
    while (*k == HANG_AT)
        pause();
#endif
    (void)out;
    return FF_OK;
}

#ifdef REPORT /* values that their types do not have */
static const char *const labels[] = {"none", "some", NULL};
static const ff_report_column column[] = {
    {.name = "choice", .unit = "", .type = FF_REPORT_CHOICE, .run = true, .label = labels, .help = ""},
    {.name = "count", .unit = "", .type = FF_REPORT_INTEGER, .run = true, .help = ""},
    {.name = "flags", .unit = "", .type = FF_REPORT_FLAGS, .run = true, .label = labels, .help = ""}};
static void report(const void *m, const void *s, int body, double *values) {
    (void)m, (void)s, (void)body;
    values[0] = 99.0;
    values[1] = FF_INF;
    values[2] = -1.0;
}
#endif

static const ff_method method = {.abi = FF_METHOD_ABI,
                                 .size = sizeof(ff_method),
                                 .name = NAME,
                                 .version = "1",
                                 .help = "",
                                 .can = FF_CAN_RELATIVE,
#ifdef REPORT
                                 .column = column,
                                 .columns = 3,
                                 .report = report,
#endif
                                 .check = check,
                                 .bytes = bytes,
                                 .create = create,
                                 .reset = reset,
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
