/* A library tried in a child: each thing it may do wrong is a sentence. */
#include "catalog/probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "catalog/watch.h"
#include "text/clock.h"

bool ff_probe_finite(int bodies, const ff_method_out *out) {
    bool finite = true;
    for (int i = 0; i < bodies; i++) {
        finite = finite && ff_wrench_finite(out->f_b[i]) && ff_rigid_finite(&out->body[i]);
        if (out->has_next[i])
            finite = finite && ff_rigid_finite(&out->next[i]);
        if (out->has_command)
            finite = finite && ff_rigid_finite(&out->command[i]) && ff_rigid_finite(&out->next_command[i]) &&
                     isfinite(out->lead[i]);
    }
    return finite;
}

bool ff_probe_lead(double lead) {
    return lead >= 0.0 && lead < 10.0;
}

/* Its constructors and its entry may change rounding, exceptions and precision only for themselves. */
static const ff_method *enter_library(void *symbol) {
    ff_method_entry_function *entry;
    fenv_t environment;
    memcpy(&entry, &symbol, sizeof entry); /* POSIX lets an object pointer stand for a function */
    fegetenv(&environment);
    const ff_method *method = entry(FF_METHOD_ABI);
    fesetenv(&environment);
    return method;
}

const ff_method *ff_probe_load(const char *path, char *why, size_t size) {
    fenv_t environment;
    fegetenv(&environment);
    void *const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fesetenv(&environment);
    if (!handle) {
        snprintf(why, size, "not a shared library that loads here: %s", dlerror());
        return NULL;
    }
    void *const symbol = dlsym(handle, "ff_method_entry");
    if (!symbol) {
        snprintf(why, size, "not a method library: it does not export ff_method_entry");
        return NULL;
    }
    const ff_method *method = enter_library(symbol);
    if (!method || method->abi != FF_METHOD_ABI || method->size != sizeof *method) {
        snprintf(why, size,
                 "built for another freefloat/method.h (this program has abi %u): build it again with this "
                 "version's header",
                 FF_METHOD_ABI);
        return NULL;
    }
    const char *wrong;
    if (ff_method_validate(method, &wrong) == FF_OK)
        return method;
    snprintf(why, size, "its table is refused: %s", wrong);
    return NULL;
}

/* What both processes see. */
typedef struct room {
    char doing[64];
    char why[400];
    char name[32];
    bool good;
} room;

static bool good_defaults(const ff_method *m, room *r) {
    ff_settings settings;
    const char *name = "";
    snprintf(r->doing, sizeof r->doing, "asked for its defaults");
    for (int variant = 0; variant < (m->variants > 1 ? 2 : 1); variant++) {
        ff_settings_default(m, variant, &settings);
        if (ff_settings_validate(m, &settings, &name) != FF_OK) {
            snprintf(r->why, sizeof r->why, "the default of its setting '%.100s' is %.6g, outside its range",
                     name, ff_settings_get(m, &settings, name));
            return false;
        }
    }
    return true;
}

/* What it says of the last step. */
static bool good_report(const ff_method *m, const void *model, const void *state, room *r) {
    double values[FF_METHOD_VALUES];
    snprintf(r->doing, sizeof r->doing, "asked for its lead");
    const double lead = m->lead ? m->lead(model, state, 0) : 0.0;
    if (!ff_probe_lead(lead)) {
        snprintf(r->why, sizeof r->why, "its lead is %.6g, allowed: 0 to 10 s", lead);
        return false;
    }
    snprintf(r->doing, sizeof r->doing, "asked for its report");
    for (int body = -1; m->report && body < 1; body++)
        m->report(model, state, body, values);
    return true;
}

/* One satellite of 100 kg that meets a wall and leaves it. */
static bool try_method(const ff_method *m, size_t most, room *r) {
    ff_world world = {.integrate = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 0.004}, .bodies = 1};
    const ff_rigid_config rigid = {100.0, ff_mat3_diag(10, 10, 10)};
    ff_rigid_state body = {.attitude = {1, 0, 0, 0}, .velocity = {{0.05, 0, 0}}};
    ff_settings settings;
    ff_complaint complaint = {"", "it does not say why"};
    world.grasp = (ff_world_grasp){.body = -1, .against = -1};
    ff_rigid_create(&rigid, &world.body[0].rigid);
    world.body[0].start = body;
    if (!good_defaults(m, r))
        return false;
    ff_settings_default(m, 0, &settings);
    if (m->resolve)
        m->resolve(&world, 0, settings.bytes);
    snprintf(r->doing, sizeof r->doing, "asked to check its defaults");
    if (ff_method_check(m, &world, settings.bytes, 0, &complaint) != FF_OK) {
        snprintf(r->why, sizeof r->why, "it refuses its own defaults: %.200s",
                 complaint.text ? complaint.text : "");
        return false;
    }
    snprintf(r->doing, sizeof r->doing, "asked for its memory");
    size_t state_bytes = 0;
    const size_t model_bytes = ff_method_bytes(m, &world, settings.bytes, &state_bytes);
    if (model_bytes > most || state_bytes > most - model_bytes) {
        snprintf(r->why, sizeof r->why, "it asks for %zu + %zu bytes of memory, allowed: %zu in all",
                 model_bytes, state_bytes, most);
        return false;
    }
    void *model = calloc(1, model_bytes + 1), *state = calloc(1, state_bytes + 1);
    if (!model || !state)
        return false;
    snprintf(r->doing, sizeof r->doing, "created");
    ff_method_create(m, &world, settings.bytes, 0, model);
    ff_detector_config detector;
    if (ff_method_detector(m, &world, model, &detector) && ff_detector_validate(&detector) != FF_OK) {
        snprintf(r->why, sizeof r->why, "its thresholds of contact are negative or not finite");
        return false;
    }
    ff_method_reset(m, model, &body, state);
    snprintf(r->doing, sizeof r->doing, "stepped");
    for (int k = 0; k < 64; k++) {
        const double f = k > 20 && k < 40 ? -50.0 : 0.0;
        const ff_body_sample sample = {.f_b = {.f = {{f, 0, 0}}},
                                       .T_wr = ff_rigid_pose(&body),
                                       .twist_r = {body.omega, body.velocity},
                                       .valid = true};
        const ff_detection detected = {.contact = f != 0.0, .began = k == 21, .ended = k == 40};
        ff_integrate_state output;
        ff_integrate_reset(&body, &output);
        const ff_sent sent = {.to = ff_setpoint_from_state(&body)};
        const ff_method_in in = {.cycle = 0.004,
                                 .bodies = 1,
                                 .body = &body,
                                 .rigid = &world.body[0].rigid,
                                 .sample = &sample,
                                 .detected = &detected,
                                 .output = &output,
                                 .sent = &sent};
        ff_method_out out = {.body = {body}};
        const ff_status status = m->step(model, state, &in, &out);
        if (status < 0) {
            snprintf(r->why, sizeof r->why, "its step fails in a simple contact: %s", ff_status_text(status));
            return false;
        }
        if (!ff_probe_finite(1, &out)) {
            snprintf(r->why, sizeof r->why,
                     "its step returns values that are not finite in a simple contact");
            return false;
        }
        if ((k == 30 || k == 60) && !good_report(m, model, state, r))
            return false;
        snprintf(r->doing, sizeof r->doing, "stepped");
        body.velocity = ff_vec3_axpy(0.004 / 100.0, out.f_b[0].f, body.velocity);
        body.position = ff_vec3_axpy(0.004, body.velocity, body.position);
    }
    return true;
}

static _Noreturn void live(const char *path, size_t most, pid_t parent, room *r) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    const int null = open("/dev/null", O_WRONLY); /* what it prints is not ours */
    if (null >= 0) {
        dup2(null, 1);
        dup2(null, 2);
    }
    ff_watch_crash_plainly();
    snprintf(r->doing, sizeof r->doing, "loaded");
    const pid_t self = getpid();
    const ff_method *method = ff_probe_load(path, r->why, sizeof r->why);
    const bool good = method && getpid() == self && try_method(method, most, r);
    if (getpid() != self)
        _exit(0); /* a process of its own */
    if (waitpid(-1, NULL, WNOHANG) >= 0)
        snprintf(r->why, sizeof r->why, "it starts a process of its own");
    else if (good) {
        snprintf(r->name, sizeof r->name, "%s", method->name);
        r->good = true;
    }
    _exit(0);
}

bool ff_probe(const char *path, size_t most, double patience, char name[32], char *why, size_t size) {
    room *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(why, size, "cannot be tried in a process of its own");
    if (r == MAP_FAILED)
        return false;
    const pid_t parent = getpid();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        live(path, most, parent, r);
    int status = 0;
    bool over = child < 0;
    const double end = ff_clock_seconds() + patience;
    while (!over && ff_clock_seconds() < end) {
        const struct timespec pause = {0, 500000};
        over = waitpid(child, &status, WNOHANG) == child;
        if (!over)
            nanosleep(&pause, NULL);
    }
    if (!over) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        snprintf(why, size, "does not return when it is %s: ended after %.3g s", r->doing, patience);
    } else if (child > 0 && WIFSIGNALED(status))
        snprintf(why, size, "crashes when it is %s: %s", r->doing, strsignal(WTERMSIG(status)));
    else if (child > 0 && !r->good && !*r->why)
        snprintf(why, size, "ends the process when it is %s", r->doing);
    else if (child > 0 && !r->good)
        snprintf(why, size, "%s", r->why);
    const bool good = over && child > 0 && WIFEXITED(status) && r->good;
    memcpy(name, r->name, sizeof r->name);
    munmap(r, sizeof *r);
    return good;
}
