/* A library loaded, and its method tried: each thing that is wrong with it is a sentence. */
#include "catalog/probe.h"

#include <dlfcn.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "catalog/calls.h"
#include "catalog/chamber.h"
#include "catalog/watch.h"
#include "text/image.h"

const ff_method *ff_probe_table(const ff_held_file *file, char *why, size_t size) {
    char loader[300];
    ff_method_entry_function *entry;
    fenv_t environment; /* its constructors and its entry may change it only for themselves */
    const ff_method *method = NULL;
    fegetenv(&environment);
    void *const handle = ff_image_load(file, loader, sizeof loader);
    void *const symbol = handle ? dlsym(handle, "ff_method_entry") : NULL;
    if (symbol) {
        memcpy(&entry, &symbol, sizeof entry); /* POSIX lets an object pointer stand for a function */
        method = entry(FF_METHOD_ABI);
    }
    fesetenv(&environment);
    const char *wrong = NULL;
    if (!handle)
        snprintf(why, size, "not a shared library that loads here: %s", loader);
    else if (!symbol)
        snprintf(why, size, "not a method library: it does not export ff_method_entry");
    else if (!method)
        snprintf(why, size,
                 "built for another freefloat/method.h (this program has abi %u): build it again with this "
                 "version's header",
                 FF_METHOD_ABI);
    else if (method->abi != FF_METHOD_ABI)
        snprintf(why, size,
                 "its abi is %u, allowed: %u: build it again with this version's freefloat/method.h",
                 method->abi, FF_METHOD_ABI);
    else if (method->size != sizeof *method)
        snprintf(why, size,
                 "its table has %u bytes, allowed: the size of ff_method, %zu: build it again with this "
                 "version's freefloat/method.h",
                 method->size, sizeof *method);
    else if (ff_method_validate(method, &wrong) != FF_OK)
        snprintf(why, size, "its table is refused: %s", wrong);
    else
        return method;
    return NULL;
}

const ff_method *ff_probe_load(int n, const ff_held_file *file, char *why, size_t size) {
    ff_watch_enter(n, "loaded");
    const ff_method *method = ff_probe_table(file, why, size);
    ff_watch_leave(true);
    return method;
}

static bool good_defaults(const ff_method *m, char *why, size_t size) {
    ff_settings settings;
    const char *name = "";
    for (int variant = 0; variant < (m->variants > 1 ? 2 : 1); variant++) {
        ff_settings_default(m, variant, &settings);
        if (ff_settings_validate(m, &settings, &name) != FF_OK) {
            snprintf(why, size, "the default of its setting '%s' is %.6g, outside its range", name,
                     ff_settings_get(m, &settings, name));
            return false;
        }
    }
    return true;
}

/* Cycle k of a satellite of 100 kg that meets a wall and leaves it. */
static ff_status step(const ff_method *m, int k, const ff_world *world, const void *model, void *state,
                      ff_rigid_state *body) {
    const double f = k > 20 && k < 40 ? -50.0 : 0.0;
    const ff_body_sample sample = {.f_b = {.f = {{f, 0, 0}}},
                                   .T_wr = ff_rigid_pose(body),
                                   .twist_r = {body->omega, body->velocity},
                                   .valid = true};
    const ff_detection detected = {.contact = f != 0.0, .began = k == 21, .ended = k == 40};
    ff_integrate_state output;
    ff_integrate_reset(body, &output);
    const ff_sent sent = {.to = ff_setpoint_from_state(body)};
    const ff_method_in in = {.cycle = 0.004,
                             .bodies = 1,
                             .body = body,
                             .rigid = &world->body[0].rigid,
                             .sample = &sample,
                             .detected = &detected,
                             .output = &output,
                             .sent = &sent};
    ff_method_out out = {.body = {*body}};
    const ff_status status = m->step(model, state, &in, &out);
    body->velocity = ff_vec3_axpy(0.004 / 100.0, out.f_b[0].f, body->velocity);
    body->position = ff_vec3_axpy(0.004, body->velocity, body->position);
    return status;
}

/* What it says of the last step; what it should not say ends the process. */
static void ask_report(const ff_method *m, const void *model, const void *state) {
    double values[FF_METHOD_VALUES];
    if (m->lead)
        m->lead(model, state, 0);
    for (int body = -1; m->report && body < 1; body++)
        m->report(model, state, body, values);
}

bool ff_probe_method(const ff_method *m, char *why, size_t size) {
    ff_world world = {.integrate = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 0.004}, .bodies = 1};
    const ff_rigid_config rigid = {100.0, ff_mat3_diag(10, 10, 10)};
    ff_rigid_state body[FF_MAX_BODIES] = {{.attitude = {1, 0, 0, 0}, .velocity = {{0.05, 0, 0}}}};
    ff_settings settings;
    ff_complaint complaint = {"", "it does not say why"};
    world.grasp = (ff_world_grasp){.body = -1, .against = -1};
    ff_rigid_create(&rigid, &world.body[0].rigid);
    world.body[0].start = body[0];
    if (!good_defaults(m, why, size))
        return false;
    ff_settings_default(m, 0, &settings);
    if (m->resolve)
        m->resolve(&world, 0, settings.bytes);
    if (ff_method_check(m, &world, settings.bytes, 0, &complaint) != FF_OK) {
        snprintf(why, size, "it refuses its own defaults: %s", complaint.text);
        return false;
    }
    size_t state_bytes = 0;
    const size_t model_bytes = ff_method_bytes(m, &world, settings.bytes, &state_bytes);
    void *model = ff_chamber_take(model_bytes), *state = ff_chamber_take(state_bytes);
    if (!model || !state) {
        snprintf(why, size, "no memory to try it: %zu + %zu bytes", model_bytes, state_bytes);
        return false;
    }
    ff_method_create(m, &world, settings.bytes, 0, model);
    ff_detector_config detector;
    ff_method_detector(m, &world, model, &detector);
    ff_method_reset(m, model, body, state);
    for (int k = 0; k < 64; k++) {
        const ff_status status = step(m, k, &world, model, state, body);
        if (status != FF_OK) {
            snprintf(why, size, "its step fails in a simple contact: %s", ff_status_text(status));
            return false;
        }
        if (k == 30 || k == 60)
            ask_report(m, model, state);
    }
    ff_method_update(m, model, &world, settings.bytes, 0);
    return true;
}
