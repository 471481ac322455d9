/* Methods in shared objects: the table that the loop sees calls the library's, with the floating-point
 * environment kept and a watchdog on every call. */
#include "catalog/library.h"

#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/probe.h"
#include "scenario/methods.h"
#include "text/clock.h"
#include "text/file.h"
#include "text/sha256.h"

typedef struct library {
    const ff_method *inner; /* the library's own table */
    ff_method outer;        /* what the loop is given */
    ff_method_section section;
    ff_method_library shown;
} library;

static library loaded[FF_LIBRARIES];
static int count;

/* -------------------------------------------------------------------------------------------- watchdog -- */

enum { CALLERS = 128 };
static atomic_llong begun[CALLERS]; /* [ns] when the call of each thread began; 0: none is under way */
static atomic_int in_library[CALLERS];
static atomic_int callers;
static _Thread_local int caller = -1;
static double patience = 5.0; /* [s] */

static void end_process(const char *message) {
    fprintf(stderr, "%s\n", message);
    fflush(NULL);
    _exit(1);
}
static ff_library_stalled *stalled = end_process;

void ff_library_on_stall(ff_library_stalled *function, double seconds) {
    stalled = function ? function : end_process;
    if (seconds > 0.0)
        patience = seconds;
}

static void *watch(void *unused) {
    (void)unused;
    for (;;) {
        const struct timespec pause = {0, 50000000};
        nanosleep(&pause, NULL);
        const long long now = (long long)ff_clock_now();
        const int n = atomic_load(&callers);
        for (int i = 0; i < n && i < CALLERS; i++) {
            const long long since = atomic_load(&begun[i]);
            if (since == 0 || (double)(now - since) < 1e9 * patience)
                continue;
            char message[512];
            const library *l = &loaded[atomic_load(&in_library[i])];
            snprintf(message, sizeof message, "method '%s' (%s) does not return: ended after %.3g s",
                     l->inner->name, l->shown.path, patience);
            atomic_store(&begun[i], 0);
            stalled(message);
        }
    }
    return NULL;
}

static void start_watchdog(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
}

/* Around every call: the library may change rounding, exceptions and precision only for itself. */
typedef struct guard {
    fenv_t environment;
} guard;

static guard enter(int n) {
    guard g;
    if (caller < 0) {
        caller = atomic_fetch_add(&callers, 1);
        caller = caller < CALLERS ? caller : CALLERS - 1;
    }
    atomic_store(&in_library[caller], n);
    atomic_store(&begun[caller], (long long)ff_clock_now());
    fegetenv(&g.environment);
    return g;
}

static void leave(const guard *g) {
    fesetenv(&g->environment);
    atomic_store(&begun[caller], 0);
}

/* ------------------------------------------------------------------------------------------------ calls --
 */

static void call_defaults(int n, int variant, void *settings) {
    const guard g = enter(n);
    loaded[n].inner->defaults(variant, settings);
    leave(&g);
}

static void call_resolve(int n, const ff_world *world, uint64_t given, void *settings) {
    const guard g = enter(n);
    loaded[n].inner->resolve(world, given, settings);
    leave(&g);
}

static size_t call_bytes(int n, const ff_world *world, const void *settings, size_t *state) {
    const guard g = enter(n);
    const size_t model = ff_method_bytes(loaded[n].inner, world, settings, state);
    leave(&g);
    return model;
}

static ff_status call_check(int n, const ff_world *world, const void *settings, uint64_t given,
                            ff_complaint *complaint) {
    const guard g = enter(n);
    const ff_status status = ff_method_check(loaded[n].inner, world, settings, given, complaint);
    leave(&g);
    if (!complaint->setting || !complaint->text)
        *complaint = (ff_complaint){"", "its settings are refused, and it does not say why"};
    if (status != FF_OK || !world)
        return status;
    size_t state = 0;
    const size_t model = call_bytes(n, world, settings, &state);
    if (model <= FF_LIBRARY_BYTES && state <= FF_LIBRARY_BYTES - model)
        return FF_OK;
    *complaint = (ff_complaint){"", "it asks for more than 64 MB of memory"};
    return FF_ERR_SIZE;
}

static void call_create(int n, const ff_world *world, const void *settings, uint64_t given, void *model) {
    const guard g = enter(n);
    ff_method_create(loaded[n].inner, world, settings, given, model);
    leave(&g);
}

static ff_status call_update(int n, void *model, const ff_world *world, const void *settings,
                             uint64_t given) {
    const guard g = enter(n);
    const ff_status status = loaded[n].inner->update(model, world, settings, given);
    leave(&g);
    return status;
}

static void call_detector(int n, const void *model, ff_detector_config *config) {
    const ff_detector_config preset = *config;
    const guard g = enter(n);
    loaded[n].inner->detector(model, config);
    leave(&g);
    if (ff_detector_validate(config) != FF_OK)
        *config = preset;
}

static void call_reset(int n, const void *model, const ff_rigid_state *body, void *state) {
    const guard g = enter(n);
    ff_method_reset(loaded[n].inner, model, body, state);
    leave(&g);
}

static double call_lead(int n, const void *model, const void *state, int body) {
    const guard g = enter(n);
    const double lead = loaded[n].inner->lead(model, state, body);
    leave(&g);
    return lead >= 0.0 && lead < 10.0 ? lead : 0.0;
}

static ff_status call_step(int n, const void *model, void *state, const ff_method_in *in,
                           ff_method_out *out) {
    const guard g = enter(n);
    const ff_status status = loaded[n].inner->step(model, state, in, out);
    leave(&g);
    return status == FF_OK && !ff_probe_finite(in->bodies, out) ? FF_ERR_NOT_FINITE : status;
}

static void call_report(int n, const void *model, const void *state, int body, double *values) {
    const guard g = enter(n);
    loaded[n].inner->report(model, state, body, values);
    leave(&g);
}

/* A method's functions know nothing of the library they are called for: a set of them for each. */
#define CALLS(n)                                                                                            \
    static void defaults_##n(int variant, void *settings) {                                                 \
        call_defaults(n, variant, settings);                                                                \
    }                                                                                                       \
    static void resolve_##n(const ff_world *world, uint64_t given, void *settings) {                        \
        call_resolve(n, world, given, settings);                                                            \
    }                                                                                                       \
    static ff_status check_##n(const ff_world *world, const void *settings, uint64_t given,                 \
                               ff_complaint *c) {                                                           \
        return call_check(n, world, settings, given, c);                                                    \
    }                                                                                                       \
    static size_t bytes_##n(const ff_world *world, const void *settings, size_t *state) {                   \
        return call_bytes(n, world, settings, state);                                                       \
    }                                                                                                       \
    static void create_##n(const ff_world *world, const void *settings, uint64_t given, void *model) {      \
        call_create(n, world, settings, given, model);                                                      \
    }                                                                                                       \
    static ff_status update_##n(void *model, const ff_world *world, const void *settings, uint64_t given) { \
        return call_update(n, model, world, settings, given);                                               \
    }                                                                                                       \
    static void detector_##n(const void *model, ff_detector_config *config) {                               \
        call_detector(n, model, config);                                                                    \
    }                                                                                                       \
    static void reset_##n(const void *model, const ff_rigid_state *body, void *state) {                     \
        call_reset(n, model, body, state);                                                                  \
    }                                                                                                       \
    static double lead_##n(const void *model, const void *state, int body) {                                \
        return call_lead(n, model, state, body);                                                            \
    }                                                                                                       \
    static ff_status step_##n(const void *model, void *state, const ff_method_in *in, ff_method_out *out) { \
        return call_step(n, model, state, in, out);                                                         \
    }                                                                                                       \
    static void report_##n(const void *model, const void *state, int body, double *values) {                \
        call_report(n, model, state, body, values);                                                         \
    }
#define TABLE(n)                                                                                  \
    {                                                                                             \
        .defaults = defaults_##n, .resolve = resolve_##n, .check = check_##n, .bytes = bytes_##n, \
        .create = create_##n, .update = update_##n, .detector = detector_##n, .reset = reset_##n, \
        .lead = lead_##n, .step = step_##n, .report = report_##n                                  \
    }
CALLS(0)
CALLS(1)
CALLS(2)
CALLS(3)
static const ff_method calls[FF_LIBRARIES] = {TABLE(0), TABLE(1), TABLE(2), TABLE(3)};

static void wrap(int n) {
    const ff_method *inner = loaded[n].inner, *own = &calls[n];
    ff_method *outer = &loaded[n].outer;
    *outer = *inner;
    outer->defaults = inner->defaults ? own->defaults : NULL;
    outer->resolve = inner->resolve ? own->resolve : NULL;
    outer->check = own->check;
    outer->bytes = own->bytes;
    outer->create = own->create;
    outer->update = inner->update ? own->update : NULL;
    outer->detector = inner->detector ? own->detector : NULL;
    outer->reset = own->reset;
    outer->lead = inner->lead ? own->lead : NULL;
    outer->step = own->step;
    outer->report = inner->report ? own->report : NULL;
}

/* ----------------------------------------------------------------------------------------------- opening --
 */

static bool name_taken(const char *name, const char **by) {
    *by = "built in";
    if (strcmp(name, "ideal") == 0 || ff_method_find(name))
        return true;
    for (int i = 0; i < count; i++)
        if (strcmp(loaded[i].outer.name, name) == 0) {
            *by = loaded[i].shown.path;
            return true;
        }
    return false;
}

static const ff_method_library *refuse(char *message, size_t size, const char *path, const char *why) {
    snprintf(message, size, "%s: %s", path, why);
    return NULL;
}

static const ff_method_library *refuse_all(const char *path, char *message, size_t size) {
    return refuse(message, size, path, "method libraries run on devices only with --trust-method");
}

const ff_method_library *ff_library_open(const char *path, char *message, size_t size) {
    char whole[4096], why[400];
    if (!realpath(path, whole) || strlen(whole) >= sizeof loaded->shown.path)
        return refuse(message, size, path, "cannot be read: no such file, or its path is too long");
    for (int i = 0; i < count; i++)
        if (strcmp(loaded[i].shown.path, whole) == 0)
            return &loaded[i].shown;
    if (count == FF_LIBRARIES)
        return refuse(message, size, path, "more than 4 method libraries, allowed: fewer");
    if (!ff_probe(whole, FF_LIBRARY_BYTES, patience, why, sizeof why))
        return refuse(message, size, path, why);
    library *l = &loaded[count];
    char *bytes = NULL;
    size_t length = 0;
    if (ff_file_read(whole, (size_t)1 << 30, &bytes, &length, NULL, 0) != FF_OK)
        return refuse(message, size, path, "cannot be read");
    ff_sha256(bytes, length, l->shown.hash);
    free(bytes);
    l->inner = ff_probe_load(whole, why, sizeof why);
    if (!l->inner)
        return refuse(message, size, path, why);
    const char *by;
    if (name_taken(l->inner->name, &by)) {
        snprintf(message, size, "%s: its method is named '%s', as one that is %s; allowed: another name",
                 path, l->inner->name, by);
        return NULL;
    }
    memcpy(l->shown.path, whole, strlen(whole) + 1);
    wrap(count);
    l->shown.method = &l->outer;
    ff_method_section_create(&l->outer, &l->section);
    l->shown.section = &l->section;
    if (count++ == 0)
        start_watchdog();
    return &l->shown;
}

const ff_catalog ff_catalog_libraries = {ff_library_open}, ff_catalog_guarded = {refuse_all};
