/* The table that the loop is given in place of a library's: each function calls the library's, watched, with
 * its memory in chambers (catalog/chamber.h) and the floating-point environment kept. */
#include "catalog/calls.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "catalog/chamber.h"
#include "catalog/watch.h"

static ff_method inner[FF_WATCHED]; /* the libraries' own tables */

/* ---------------------------------------------------------------------------------------------- one call --
 *
 * The library may change rounding, exceptions and precision only for itself: what it left is gone before
 * anything of ours computes. */

typedef struct guard {
    fenv_t environment;
} guard;

static guard enter(int n, const char *doing, const void *model, const void *state) {
    guard g;
    fegetenv(&g.environment);
    ff_chamber_using(0, model, "its model");
    ff_chamber_using(1, state, "its state");
    ff_chamber_using(2, NULL, NULL);
    ff_watch_enter(n, doing);
    return g;
}

static void restore(const guard *g) {
    fesetenv(&g->environment);
}

/* Not called again and again in a run. */
static void leave(void) {
    ff_watch_leave(true);
}

static void check_state(int n, const void *state) {
    if (!ff_chamber_whole(state))
        ff_watch_fault(n, "writes beyond its state");
}

/* A status of this program: FF_OK or a fault. */
static ff_status known(int n, ff_status status) {
    if (status > 0 || (status < 0 && strcmp(ff_status_name(status), "FF_STATUS_UNKNOWN") == 0)) {
        char why[80];
        snprintf(why, sizeof why, "returns the status %d, allowed: FF_OK or a fault of ff_status",
                 (int)status);
        ff_watch_fault(n, why);
    }
    return status;
}

/* One line that can be shown; a wild pointer crashes here, inside of the call. */
static bool is_line(const char *text) {
    size_t n = 0;
    for (; text && text[n]; n++)
        if (n >= FF_METHOD_TEXT || (unsigned char)text[n] < 0x20 || text[n] == 0x7f)
            return false;
    return text != NULL;
}

/* [s] by which a command may lie ahead. */
static bool lead_good(double lead) {
    return lead >= 0.0 && lead < 10.0;
}

/* ------------------------------------------------------------------------------------------------ memory --
 *
 * The loop's memory for the model holds one chamber; that for the state three: the state, what a step
 * returns, what a report returns. */

static size_t values_bytes(int n) {
    const int body = ff_method_values(&inner[n], false), run = ff_method_values(&inner[n], true);
    return (size_t)(body > run ? body : run) * sizeof(double);
}

static void *out_of(const void *state) {
    return (char *)(uintptr_t)state + ff_chamber_bytes(ff_chamber_size(state));
}

static void *values_of(const void *state) {
    return (char *)out_of(state) + ff_chamber_bytes(sizeof(ff_method_out));
}

/* ------------------------------------------------------------------------------------------------- calls --
 */

/* A struct of settings that the library fills: in a chamber of the size that its table says. */
static void *lend_settings(int n, const void *settings) {
    void *const memory = ff_chamber_take(ff_chamber_bytes(inner[n].setting_bytes));
    if (!memory)
        ff_watch_fault(n, "leaves no memory for its settings");
    ff_chamber_open(memory, inner[n].setting_bytes);
    memcpy(ff_chamber_block(memory), settings, inner[n].setting_bytes);
    return memory;
}

static void return_settings(int n, void *memory, void *settings) {
    if (!ff_chamber_whole(memory))
        ff_watch_fault(n, "writes beyond its settings");
    memcpy(settings, ff_chamber_block(memory), inner[n].setting_bytes);
    ff_chamber_give(memory, ff_chamber_bytes(inner[n].setting_bytes));
}

/* What it may only read it is given as copies. */
typedef struct asked {
    ff_world room;
    const ff_world *world; /* NULL where there is none */
    ff_settings settings;
} asked;

static void ask(int n, const ff_world *world, const void *settings, asked *a) {
    if (world)
        a->room = *world;
    a->world = world ? &a->room : NULL;
    memcpy(a->settings.bytes, settings, inner[n].setting_bytes);
}

static void call_defaults(int n, int variant, void *settings) {
    void *const lent = lend_settings(n, settings);
    const guard g = enter(n, "asked for its defaults", NULL, NULL);
    ff_chamber_using(2, lent, "its settings");
    inner[n].defaults(variant, ff_chamber_block(lent));
    restore(&g);
    return_settings(n, lent, settings);
    leave();
}

static void call_resolve(int n, const ff_world *world, uint64_t given, void *settings) {
    void *const lent = lend_settings(n, settings);
    const ff_world copy = *world;
    const guard g = enter(n, "asked for its settings", NULL, NULL);
    ff_chamber_using(2, lent, "its settings");
    inner[n].resolve(&copy, given, ff_chamber_block(lent));
    restore(&g);
    return_settings(n, lent, settings);
    leave();
}

static size_t inner_bytes(int n, const ff_world *world, const void *settings, size_t *state) {
    asked a;
    ask(n, world, settings, &a);
    const guard g = enter(n, "asked for its memory", NULL, NULL);
    const size_t model = ff_method_bytes(&inner[n], a.world, a.settings.bytes, state);
    restore(&g);
    leave();
    return model;
}

static size_t call_bytes(int n, const ff_world *world, const void *settings, size_t *state) {
    const size_t model = inner_bytes(n, world, settings, state);
    *state = ff_chamber_bytes(*state) + ff_chamber_bytes(sizeof(ff_method_out)) +
             ff_chamber_bytes(values_bytes(n));
    return sizeof(size_t) + ff_chamber_bytes(model);
}

static ff_status call_check(int n, const ff_world *world, const void *settings, uint64_t given,
                            ff_complaint *complaint) {
    asked a;
    ask(n, world, settings, &a);
    const guard g = enter(n, "asked to check its settings", NULL, NULL);
    const ff_status status = ff_method_check(&inner[n], a.world, a.settings.bytes, given, complaint);
    restore(&g);
    known(n, status);
    if (!is_line(complaint->setting) || !is_line(complaint->text))
        *complaint = (ff_complaint){"", "its settings are refused, and it does not say why in one line"};
    leave();
    if (status != FF_OK || !world)
        return status;
    size_t state = 0;
    const size_t model = inner_bytes(n, world, settings, &state);
    if (model <= FF_LIBRARY_BYTES && state <= FF_LIBRARY_BYTES - model)
        return FF_OK;
    static char text[FF_WATCHED][96];
    snprintf(text[n], sizeof text[n], "method '%.40s' asks for more than 64 MB of memory", inner[n].name);
    *complaint = (ff_complaint){"", text[n]};
    return FF_ERR_LIMIT;
}

/* The model's memory begins with the size of the state. */
static void *model_of(const void *model) {
    return (char *)(uintptr_t)model + sizeof(size_t);
}

static void call_create(int n, const ff_world *world, const void *settings, uint64_t given, void *memory) {
    size_t state = 0;
    const size_t own = inner_bytes(n, world, settings, &state);
    void *const model = model_of(memory);
    memcpy(memory, &state, sizeof state);
    ff_chamber_open(model, own);
    asked a;
    ask(n, world, settings, &a);
    const guard g = enter(n, "created", model, NULL);
    ff_method_create(&inner[n], a.world, a.settings.bytes, given, ff_chamber_block(model));
    restore(&g);
    if (!ff_chamber_whole(model))
        ff_watch_fault(n, "writes beyond its model");
    ff_chamber_lock(model, true);
    leave();
}

static ff_status call_update(int n, void *memory, const ff_world *world, const void *settings,
                             uint64_t given) {
    void *const model = model_of(memory);
    asked a;
    ask(n, world, settings, &a);
    ff_chamber_lock(model, false);
    const guard g = enter(n, "updated", model, NULL);
    const ff_status status =
        ff_method_update(&inner[n], ff_chamber_block(model), a.world, a.settings.bytes, given);
    restore(&g);
    known(n, status);
    if (!ff_chamber_whole(model))
        ff_watch_fault(n, "writes beyond its model");
    ff_chamber_lock(model, true);
    leave();
    return status;
}

static void call_detector(int n, const void *memory, ff_detector_config *config) {
    const void *const model = model_of(memory);
    const guard g = enter(n, "asked for its thresholds", model, NULL);
    inner[n].detector(ff_chamber_block(model), config);
    restore(&g);
    if (ff_detector_validate(config) != FF_OK)
        ff_watch_fault(n, "gives thresholds that are negative or not finite");
    leave();
}

static void call_reset(int n, const void *memory, const ff_rigid_state *body, void *state) {
    const void *const model = model_of(memory);
    ff_rigid_state copy[FF_MAX_BODIES];
    size_t bytes;
    memcpy(&bytes, memory, sizeof bytes);
    memcpy(copy, body, sizeof copy);
    ff_chamber_open(state, bytes);
    ff_chamber_open(out_of(state), sizeof(ff_method_out));
    ff_chamber_open(values_of(state), values_bytes(n));
    const guard g = enter(n, "reset", model, state);
    ff_method_reset(&inner[n], ff_chamber_block(model), copy, ff_chamber_block(state));
    restore(&g);
    check_state(n, state);
    leave();
}

static double call_lead(int n, const void *memory, const void *state, int body) {
    const void *const model = model_of(memory);
    const guard g = enter(n, "asked for its lead", model, state);
    const double lead = inner[n].lead(ff_chamber_block(model), ff_chamber_block(state), body);
    restore(&g);
    if (!lead_good(lead)) {
        char why[80];
        snprintf(why, sizeof why, "gives a lead of %.6g, allowed: 0 to 10 s", lead);
        ff_watch_fault(n, why);
    }
    ff_watch_leave(false);
    return lead;
}

/* What a step may read: copies, so that nothing of the loop changes by it. */
typedef struct copies {
    ff_rigid_state body[FF_MAX_BODIES], base[FF_MAX_BODIES];
    ff_rigid_model rigid[FF_MAX_BODIES];
    ff_body_sample sample[FF_MAX_BODIES];
    ff_detection detected[FF_MAX_BODIES];
    ff_integrate_state output[FF_MAX_BODIES];
    ff_sent sent[FF_MAX_BODIES];
    ff_body_view view[FF_MAX_BODIES];
    const ff_body_view *views[FF_MAX_BODIES];
    double compliance[FF_MAX_BODIES][6][6];
    ff_gears gears[FF_MAX_BODIES];
} copies;

static ff_method_in copy_in(const ff_method_in *in, copies *c) {
    ff_method_in mine = *in;
    const size_t n = (size_t)in->bodies;
    mine.body = memcpy(c->body, in->body, n * sizeof *in->body);
    mine.rigid = memcpy(c->rigid, in->rigid, n * sizeof *in->rigid);
    mine.sample = memcpy(c->sample, in->sample, n * sizeof *in->sample);
    mine.detected = memcpy(c->detected, in->detected, n * sizeof *in->detected);
    mine.output = memcpy(c->output, in->output, n * sizeof *in->output);
    mine.sent = memcpy(c->sent, in->sent, n * sizeof *in->sent);
    for (size_t i = 0; i < n && i < FF_MAX_BODIES; i++) {
        if (in->sample[i].compliance)
            c->sample[i].compliance = (const double(*)[6])memcpy(c->compliance[i], in->sample[i].compliance,
                                                                 sizeof c->compliance[i]);
        if (in->sample[i].gears)
            c->sample[i].gears = memcpy(&c->gears[i], in->sample[i].gears, sizeof c->gears[i]);
    }
    if (in->base)
        mine.base = memcpy(c->base, in->base, n * sizeof *in->base);
    for (size_t i = 0; in->view && i < n && i < FF_MAX_BODIES; i++)
        c->views[i] = memcpy(&c->view[i], in->view[i], sizeof c->view[i]);
    if (in->view)
        mine.view = c->views;
    return mine;
}

/* Nothing that the loop would use is not finite. */
static bool all_finite(int bodies, const ff_method_out *out) {
    bool good = true;
    for (int i = 0; i < bodies; i++) {
        good = good && ff_wrench_finite(out->f_b[i]) && ff_rigid_finite(&out->body[i]);
        if (out->has_next[i])
            good = good && ff_rigid_finite(&out->next[i]);
        if (out->has_command)
            good = good && ff_rigid_finite(&out->command[i]) && ff_rigid_finite(&out->next_command[i]);
    }
    return good;
}

/* Of length 1, to more than rounding; what is not finite is judged before. */
static bool turned(const ff_rigid_state *s) {
    const ff_quat q = s->attitude;
    return !(fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0) > 1e-6);
}

/* What is not a value but a word between the method and the loop; and attitudes. */
static void check_returned(int n, int bodies, const ff_method_out *out) {
    for (int i = 0; i < bodies; i++)
        if (out->has_command && !lead_good(out->lead[i]))
            ff_watch_fault(n, "returns a lead outside of 0 to 10 s");
    for (int i = 0; i < bodies; i++)
        if (!turned(&out->body[i]) || (out->has_next[i] && !turned(&out->next[i])) ||
            (out->has_command && (!turned(&out->command[i]) || !turned(&out->next_command[i]))))
            ff_watch_fault(n, "returns an attitude that is not a unit quaternion");
    if (out->observers != 0 && out->observers != 1 && out->observers != 6)
        ff_watch_fault(n, "returns a number of observers that is not 0, 1 or 6");
}

static ff_status call_step(int n, const void *memory, void *state, const ff_method_in *in,
                           ff_method_out *out) {
    const void *const model = model_of(memory), *const returned = out_of(state);
    ff_method_out *const mine = ff_chamber_block(returned);
    copies c;
    const ff_method_in given = copy_in(in, &c);
    *mine = *out;
    const guard g = enter(n, "stepped", model, state);
    ff_chamber_using(2, returned, "what it returns");
    const ff_status status = inner[n].step(ff_chamber_block(model), ff_chamber_block(state), &given, mine);
    restore(&g);
    known(n, status);
    check_state(n, state);
    if (!ff_chamber_whole(returned))
        ff_watch_fault(n, "writes beyond what it returns");
    check_returned(n, in->bodies, mine);
    ff_watch_leave(false);
    *out = *mine;
    return status == FF_OK && !all_finite(in->bodies, out) ? FF_ERR_NOT_FINITE : status;
}

static void call_report(int n, const void *memory, const void *state, int body, double *values) {
    const void *const model = model_of(memory);
    void *const returned = values_of(state);
    const size_t count = (size_t)ff_method_values(&inner[n], body < 0);
    ff_chamber_fit(returned, count * sizeof *values);
    double *const mine = ff_chamber_block(returned);
    for (size_t i = 0; i < count; i++)
        mine[i] = FF_NAN; /* not said */
    const guard g = enter(n, "asked for its report", model, state);
    ff_chamber_using(2, returned, "its columns");
    inner[n].report(ff_chamber_block(model), ff_chamber_block(state), body, mine);
    restore(&g);
    check_state(n, state);
    if (!ff_chamber_whole(returned))
        ff_watch_fault(n, "writes beyond its columns");
    memcpy(values, mine, count * sizeof *values);
    leave();
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
static const ff_method calls[FF_WATCHED] = {TABLE(0), TABLE(1), TABLE(2), TABLE(3)};

void ff_calls_wrap(int n, const ff_method *library, ff_method *outer) {
    const ff_method *own = &calls[n];
    inner[n] = *library;
    *outer = *library;
    outer->defaults = library->defaults ? own->defaults : NULL;
    outer->resolve = library->resolve ? own->resolve : NULL;
    outer->check = own->check;
    outer->bytes = own->bytes;
    outer->create = own->create;
    outer->update = own->update;
    outer->detector = library->detector ? own->detector : NULL;
    outer->reset = own->reset;
    outer->lead = library->lead ? own->lead : NULL;
    outer->step = own->step;
    outer->report = library->report ? own->report : NULL;
}
