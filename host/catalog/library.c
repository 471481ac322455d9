/* Methods in shared objects: the table that the loop sees calls the library's, with the floating-point
 * environment kept, its memory fenced, and every call watched. */
#include "catalog/library.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/probe.h"
#include "catalog/watch.h"
#include "scenario/methods.h"
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
static const double PATIENCE = 5.0; /* [s] for one call */

/* Around every call: it is watched, and the library may change rounding, exceptions and precision only for
 * itself. */
typedef struct guard {
    fenv_t environment;
} guard;

static guard enter(int n, const char *doing) {
    guard g;
    fegetenv(&g.environment);
    ff_watch_enter(n, doing);
    return g;
}

static void leave(const guard *g) {
    ff_watch_leave();
    fesetenv(&g->environment);
}

/* -------------------------------------------------------------------------------------------- memory --
 *
 * Model and state of the library lie between two fences of the wrapper's own; the front one holds the sizes.
 */

enum { FENCE = 64, WORDS = FENCE / 8 };
static const uint64_t MARK = UINT64_C(0x9d3c5a71e4b8206f);

typedef struct fence {
    uint64_t word[WORDS]; /* [0] bytes behind it, [1] bytes of the state; the rest: MARK by place */
} fence;

static size_t rounded(size_t bytes) {
    return (bytes + 15) & ~(size_t)15;
}
static size_t fenced(size_t bytes) {
    return rounded(bytes) + 2 * sizeof(fence);
}
static void *inside(const void *memory) {
    return (void *)((uintptr_t)memory + sizeof(fence));
}

static void set_fences(void *memory, size_t bytes, size_t state_bytes) {
    fence f = {{bytes, state_bytes}};
    for (int i = 2; i < WORDS; i++)
        f.word[i] = MARK * (uint64_t)i ^ bytes ^ state_bytes;
    memcpy(memory, &f, sizeof f);
    /* from the last byte on: what lies between it and the next 16 belongs to nobody */
    memset((char *)inside(memory) + bytes, 0x5b, fenced(bytes) - sizeof f - bytes);
}

static bool fences_stand(const void *memory) {
    fence f;
    memcpy(&f, memory, sizeof f);
    for (int i = 2; i < WORDS; i++)
        if (f.word[i] != (MARK * (uint64_t)i ^ f.word[0] ^ f.word[1]))
            return false;
    const unsigned char *end = (const unsigned char *)inside(memory) + f.word[0];
    const size_t behind = fenced(f.word[0]) - sizeof f - f.word[0];
    for (size_t i = 0; i < behind; i++)
        if (end[i] != 0x5b)
            return false;
    return true;
}

static void check_fences(int n, const void *model, const void *state) {
    if (!fences_stand(model))
        ff_watch_fault(n, "writes beyond its model");
    if (state && !fences_stand(state))
        ff_watch_fault(n, "writes beyond its state");
}

/* ------------------------------------------------------------------------------------------------ calls --
 */

static void call_defaults(int n, int variant, void *settings) {
    const guard g = enter(n, "asked for its defaults");
    loaded[n].inner->defaults(variant, settings);
    leave(&g);
}

static void call_resolve(int n, const ff_world *world, uint64_t given, void *settings) {
    const guard g = enter(n, "asked for its settings");
    loaded[n].inner->resolve(world, given, settings);
    leave(&g);
}

static size_t inner_bytes(int n, const ff_world *world, const void *settings, size_t *state) {
    const guard g = enter(n, "asked for its memory");
    const size_t model = ff_method_bytes(loaded[n].inner, world, settings, state);
    leave(&g);
    return model;
}

static size_t call_bytes(int n, const ff_world *world, const void *settings, size_t *state) {
    const size_t model = inner_bytes(n, world, settings, state);
    *state = fenced(*state);
    return fenced(model);
}

static ff_status call_check(int n, const ff_world *world, const void *settings, uint64_t given,
                            ff_complaint *complaint) {
    const guard g = enter(n, "asked to check its settings");
    const ff_status status = ff_method_check(loaded[n].inner, world, settings, given, complaint);
    leave(&g);
    if (!complaint->setting || !complaint->text)
        *complaint = (ff_complaint){"", "its settings are refused, and it does not say why"};
    if (status != FF_OK || !world)
        return status;
    size_t state = 0;
    const size_t model = inner_bytes(n, world, settings, &state);
    if (model <= FF_LIBRARY_BYTES && state <= FF_LIBRARY_BYTES - model)
        return FF_OK;
    *complaint = (ff_complaint){"", "it asks for more than 64 MB of memory"};
    return FF_ERR_SIZE;
}

static void call_create(int n, const ff_world *world, const void *settings, uint64_t given, void *model) {
    size_t state = 0;
    const size_t own = inner_bytes(n, world, settings, &state);
    set_fences(model, own, state);
    const guard g = enter(n, "created");
    ff_method_create(loaded[n].inner, world, settings, given, inside(model));
    check_fences(n, model, NULL);
    leave(&g);
}

static ff_status call_update(int n, void *model, const ff_world *world, const void *settings,
                             uint64_t given) {
    const guard g = enter(n, "updated");
    const ff_status status = ff_method_update(loaded[n].inner, inside(model), world, settings, given);
    check_fences(n, model, NULL);
    leave(&g);
    return status;
}

static void call_detector(int n, const void *model, ff_detector_config *config) {
    const guard g = enter(n, "asked for its thresholds");
    loaded[n].inner->detector(inside(model), config);
    if (ff_detector_validate(config) != FF_OK)
        ff_watch_fault(n, "gives thresholds that are negative or not finite");
    leave(&g);
}

static void call_reset(int n, const void *model, const ff_rigid_state *body, void *state) {
    fence sizes;
    memcpy(&sizes, model, sizeof sizes);
    set_fences(state, sizes.word[1], 0);
    const guard g = enter(n, "reset");
    ff_method_reset(loaded[n].inner, inside(model), body, inside(state));
    check_fences(n, model, state);
    leave(&g);
}

static double call_lead(int n, const void *model, const void *state, int body) {
    const guard g = enter(n, "asked for its lead");
    const double lead = loaded[n].inner->lead(inside(model), inside(state), body);
    if (!ff_probe_lead(lead))
        ff_watch_fault(n, "gives a lead outside of 0 to 10 s");
    leave(&g);
    return lead;
}

static ff_status call_step(int n, const void *model, void *state, const ff_method_in *in,
                           ff_method_out *out) {
    const guard g = enter(n, "stepped");
    const ff_status status = loaded[n].inner->step(inside(model), inside(state), in, out);
    check_fences(n, model, state);
    leave(&g);
    return status == FF_OK && !ff_probe_finite(in->bodies, out) ? FF_ERR_NOT_FINITE : status;
}

static void call_report(int n, const void *model, const void *state, int body, double *values) {
    const guard g = enter(n, "asked for its report");
    loaded[n].inner->report(inside(model), inside(state), body, values);
    check_fences(n, model, state);
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
    outer->update = own->update;
    outer->detector = inner->detector ? own->detector : NULL;
    outer->reset = own->reset;
    outer->lead = inner->lead ? own->lead : NULL;
    outer->step = own->step;
    outer->report = inner->report ? own->report : NULL;
}

/* ----------------------------------------------------------------------------------------------- opening --
 */

/* Whose the name is already; NULL: nobody's. */
static const char *taken_by(const char *name) {
    if (strcmp(name, "ideal") == 0 || ff_method_find(name))
        return "one that is built in";
    for (int i = 0; i < count; i++)
        if (strcmp(loaded[i].outer.name, name) == 0)
            return loaded[i].shown.path;
    static const char *const summary[] = {"status", "verdict",        "timing",     "seed",         "version",
                                          "pairs",  "method_library", "satellites", "requirements", "safety"};
    for (size_t i = 0; i < sizeof summary / sizeof *summary; i++)
        if (strcmp(summary[i], name) == 0)
            return "a key of summary.json";
    const ff_section *top = ff_schema_top();
    for (int i = 0; i < top->keys; i++)
        if (strcmp(top->key[i].key, name) == 0)
            return "a key of the scenario";
    return NULL;
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
    char name[32] = "";
    if (!ff_probe(whole, FF_LIBRARY_BYTES, PATIENCE, name, why, sizeof why))
        return refuse(message, size, path, why);
    const char *by = taken_by(name);
    if (by) {
        snprintf(message, size, "%s: its method is named '%s', as %s; allowed: another name", path, name, by);
        return NULL;
    }
    library *l = &loaded[count];
    char *bytes = NULL;
    size_t length = 0;
    if (ff_file_read(whole, (size_t)1 << 30, &bytes, &length, NULL, 0) != FF_OK)
        return refuse(message, size, path, "cannot be read");
    ff_sha256(bytes, length, l->shown.hash);
    free(bytes);
    if (!ff_watch_start(PATIENCE))
        return refuse(message, size, path, "cannot run in a process of its own");
    ff_watch_name(count, name, whole);
    ff_watch_enter(count, "loaded");
    l->inner = ff_probe_load(whole, why, sizeof why);
    ff_watch_leave();
    if (!l->inner)
        return refuse(message, size, path, why);
    memcpy(l->shown.path, whole, strlen(whole) + 1);
    wrap(count);
    l->shown.method = &l->outer;
    ff_method_section_create(&l->outer, &l->section);
    l->shown.section = &l->section;
    count++;
    return &l->shown;
}

const ff_catalog ff_catalog_libraries = {ff_library_open}, ff_catalog_guarded = {refuse_all},
                 ff_catalog_closed = {NULL};
