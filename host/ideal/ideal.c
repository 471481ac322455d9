/* CVODE (Adams, functional iteration) one internal step at a time. After each step the events of every
 * contact unit are sought on CVODE's own interpolant; at the earliest one the mode changes and the solver
 * starts anew, so it never steps across a jump. The location is ours, not CVodeRootInit's, because three
 * things are needed that it does not give: a unit that has just changed mode stands at the root itself and
 * must not fire again; a point that only grazes a surface inside one long step has no sign change at the
 * step's ends; and the simultaneous events of several contacts must change together. */
#include "ideal/problem.h"
#include "ideal/vector.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

enum {
    MAX_STALL = 64,   /* mode changes without progress of time */
    MAX_PIECES = 1024 /* of a step, in which events are looked for */
};
#define MAX_STEPS UINT64_C(200000000)
#define MAX_STEPS_OF_CYCLE UINT64_C(2000000) /* a contact of a microsecond takes a few hundred */

typedef struct solver {
    ff_ideal_problem problem;
    const ff_scenario *scenario;
    ff_ideal_result *result;
    double tolerance;
    int n; /* states */
    SUNContext context;
    N_Vector y;
    N_Vector scratch; /* interpolated state */
    SUNNonlinearSolver nonlinear;
    void *cvode;
    double t_end;
    uint64_t next_sample;
    int stalled;
    /* the contacts' running records */
    int open[FF_MAX_CONTACTS];   /* index into result->contact, or -1 */
    bool ended[FF_MAX_CONTACTS]; /* the open record's force is zero since its `end` */
    int capacity;                /* of result->contact */
    bool failed;                 /* interpolation or memory failed; status says which */
    ff_status status;
    ff_ideal_progress progress;
    void *user;
    double next_progress;
    double since; /* [s] when the steps of `within` began: one cycle is looked at */
    uint64_t within;
} solver;

/* ------------------------------------------------------------------------------------- CVODE's callbacks --
 */

static int rhs(realtype t, N_Vector y, N_Vector dy, void *user) {
    const solver *s = user;
    ff__ideal_derivative(&s->problem, t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    return 0;
}

static double norm3(const double *a) {
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* Error weights by the size of vectors, not of components: a component passing through zero must not ask for
 * more than the motion has. Position is judged by what matters in contact, a depth of centimetres, not by the
 * distance from the origin, of which only the rounding enters. The floors of the speeds are 1 mm/s and
 * 1 mrad/s. */
static int weights(N_Vector yv, N_Vector wv, void *user) {
    const solver *s = user;
    const double *y = N_VGetArrayPointer(yv);
    double *w = N_VGetArrayPointer(wv);
    for (int i = 0; i < s->n; i += FF_IDEAL_BODY_SIZE) {
        const double p = 0.02 * s->tolerance + 16.0 * DBL_EPSILON * norm3(y + i),
                     v = s->tolerance * (1e-3 + norm3(y + i + 7)),
                     r = s->tolerance * (1e-3 + norm3(y + i + 10));
        if (!isfinite(p) || !isfinite(v) || !isfinite(r))
            return -1;
        for (int k = 0; k < 3; k++) {
            w[i + k] = 1.0 / p;
            w[i + 7 + k] = 1.0 / v;
            w[i + 10 + k] = 1.0 / r;
        }
        for (int k = 3; k < 7; k++)
            w[i + k] = 1.0 / s->tolerance;
    }
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is CVODE's */
static void silent(int code, const char *module, const char *function, char *text, void *user) {
    (void)code;
    (void)module;
    (void)function;
    (void)text;
    (void)user;
}

/* The state at a time inside the last step. */
static const double *state_at(solver *s, double t) {
    if (CVodeGetDky(s->cvode, t, 0, s->scratch) != CV_SUCCESS) {
        s->failed = true;
        s->status = FF_ERR_CONVERGENCE;
    }
    return N_VGetArrayPointer(s->scratch);
}

/* ----------------------------------------------------------------------------------------------- events --
 */

enum { FORCE_EVENT, GATE_EVENT, FACE_EVENT, EVENTS };

/* Event functions of a unit, by mode: an event is where one becomes positive.
 * OUT: the gate opens. IN: the force ends, LOST: it returns; both: the gate closes, a cone's other surface is
 * nearer. */
static int events_of(const solver *s, const ff_ideal_unit *unit) {
    if (unit->mode == FF_IDEAL_OUT)
        return FORCE_EVENT + 1;
    return s->scenario->contact[unit->contact].kind == FF_CONTACT_CONE ? EVENTS : FACE_EVENT;
}

static double event_value(ff_ideal_mode mode, int which, const ff_ideal_value *v) {
    if (which == GATE_EVENT)
        return -v->gate;
    if (which == FACE_EVENT)
        return v->past;
    switch (mode) {
    case FF_IDEAL_OUT:
        return v->gate;
    case FF_IDEAL_IN:
        return -v->force;
    case FF_IDEAL_LOST:
    default:
        return v->force;
    }
}

static double event_at(solver *s, int unit, int which, double t, ff_ideal_value *at) {
    const ff_ideal_unit *u = &s->problem.unit[unit];
    ff_ideal_value value[12] = {{0}};
    ff__ideal_values(&s->problem, u->contact, state_at(s, t), value);
    *at = value[unit - s->problem.first_unit[u->contact]];
    return event_value(u->mode, which, at);
}

/* The root of an event function with e(a) <= 0 < e(b), to the last bits of t; the end where e > 0. Illinois,
 * with a bisection every third step so that it always ends. */
static double locate(solver *s, int unit, int which, double a, double ea, double b, double eb) {
    if (ea == 0.0)
        return a;
    const double close = 4.0 * DBL_EPSILON * fmax(fabs(a), fabs(b));
    int kept = 0; /* which end stayed in the last step */
    for (int i = 0; i < 200 && b - a > close && !s->failed; i++) {
        double t = i % 3 == 2 ? 0.5 * (a + b) : b - eb * (b - a) / (eb - ea);
        /* A secant that lands on an end is moved by the resolution, so both ends close in. */
        t = fmin(fmax(t, a + 0.5 * close), b - 0.5 * close);
        ff_ideal_value v;
        const double e = event_at(s, unit, which, t, &v);
        if (e > 0.0) {
            b = t;
            eb = e;
            ea *= kept == 1 ? 0.5 : 1.0;
            kept = 1;
        } else {
            a = t;
            ea = e;
            eb *= kept == 2 ? 0.5 : 1.0;
            kept = 2;
        }
    }
    return b;
}

/* Whether an event function rises at t, an end of [a, b]. Out of contact that is the approach; otherwise a
 * difference taken inwards, as the law contains the depth more than once. */
static bool rises(solver *s, int unit, int which, double t, const ff_ideal_value *v, double a, double b) {
    const ff_ideal_mode mode = s->problem.unit[unit].mode;
    if (mode == FF_IDEAL_OUT)
        return v->rate > 0.0;
    const double h = 1e-3 * (b - a), other = t - a < b - t ? t + h : t - h;
    ff_ideal_value beside;
    const double e = event_at(s, unit, which, other, &beside), here = event_value(mode, which, v);
    return other > t ? e > here : here > e;
}

/* An event function that rises at a and falls at b, not positive at either: looks for a time between where it
 * is positive (a point that only grazes, a force that returns before the release or ends for a moment).
 * FF_NAN if there is none. */
static double hump(solver *s, int unit, int which, double a, const ff_ideal_value *va, double b,
                   const ff_ideal_value *vb) {
    if (!rises(s, unit, which, a, va, a, b) || rises(s, unit, which, b, vb, a, b))
        return FF_NAN;
    for (int i = 0; i < 60 && b - a > 1e-12 * fmax(1.0, fabs(b)) && !s->failed; i++) {
        const double t = 0.5 * (a + b);
        ff_ideal_value v;
        if (event_at(s, unit, which, t, &v) > 0.0)
            return t;
        if (rises(s, unit, which, t, &v, a, b))
            a = t;
        else
            b = t;
    }
    return FF_NAN;
}

/* Into how many pieces [a, b] is cut, so that an event function has one hump in each: an eighth of the depth
 * over which damping grows, of the cone's mouth when its face can be reached. Everything else bends no faster
 * than the motion, which CVODE's own step resolves. */
static int pieces(const solver *s, const ff_ideal_unit *unit, double h, const ff_ideal_value *va,
                  const ff_ideal_value *vb) {
    const ff_contact *c = &s->scenario->contact[unit->contact];
    const double speed = fmax(va->speed, vb->speed);
    double length = HUGE_VAL;
    if (unit->mode != FF_IDEAL_OUT && unit->axis < 3 && c->damping_depth > 0.0)
        length = 0.125 * c->damping_depth;
    if (c->kind == FF_CONTACT_CONE && isfinite(c->depth) && va->gate + 2.0 * speed * h > 0.0)
        length = fmin(length, 0.125 * c->depth * fmin(1.0, tan(c->half_angle)));
    return (int)fmin(fmax(ceil(speed * h / length), 1.0), MAX_PIECES);
}

/* The first event of one kind in a piece; HUGE_VAL: none. */
static double event_within(solver *s, int unit, int which, double a, const ff_ideal_value *va, double b,
                           const ff_ideal_value *vb, bool first) {
    const ff_ideal_mode mode = s->problem.unit[unit].mode;
    const double ea = event_value(mode, which, va);
    double eb = event_value(mode, which, vb), end = b;
    /* a depth that ends and returns took the force with it */
    if (eb <= 0.0 && ea <= 0.0 && !(mode == FF_IDEAL_IN && which == GATE_EVENT)) {
        const double inside = hump(s, unit, which, a, va, b, vb);
        if (isfinite(inside)) {
            ff_ideal_value v;
            end = inside;
            eb = event_at(s, unit, which, end, &v);
        }
    }
    if (!(eb > 0.0))
        return HUGE_VAL;
    if (ea <= 0.0)
        return locate(s, unit, which, a, ea, end, eb);
    /* it stood beyond the root by rounding and continues from there */
    return first && eb > ea && s->stalled < MAX_STALL ? a : HUGE_VAL;
}

typedef struct event {
    double t;                        /* HUGE_VAL: none */
    double time[FF_IDEAL_MAX_UNITS]; /* each unit's earliest */
    int which[FF_IDEAL_MAX_UNITS];
} event;

static void find_events(solver *s, double a, const ff_ideal_value *va, double b, const ff_ideal_value *vb,
                        event *found) {
    found->t = HUGE_VAL;
    for (int u = 0; u < s->problem.units; u++) {
        const ff_ideal_unit *unit = &s->problem.unit[u];
        const int n = pieces(s, unit, b - a, &va[u], &vb[u]);
        ff_ideal_value left = va[u], right;
        double from = a;
        found->time[u] = HUGE_VAL;
        for (int i = 1; i <= n && found->time[u] == HUGE_VAL; i++) {
            const double to = i == n ? b : a + (b - a) * i / n;
            right = vb[u];
            if (i < n)
                event_at(s, u, FORCE_EVENT, to, &right);
            for (int which = 0; which < events_of(s, unit); which++) {
                const double t = event_within(s, u, which, from, &left, to, &right, i == 1);
                if (t < found->time[u]) {
                    found->time[u] = t;
                    found->which[u] = which;
                }
            }
            left = right;
            from = to;
        }
        found->t = fmin(found->t, found->time[u]);
    }
}

static ff_ideal_mode inside_mode(const ff_ideal_value *v) {
    return v->force > 0.0 || v->damping == 0.0 ? FF_IDEAL_IN : FF_IDEAL_LOST;
}

static ff_ideal_mode next_mode(ff_ideal_mode mode, int which, const ff_ideal_value *v) {
    if (mode == FF_IDEAL_OUT)
        return v->rate >= 0.0 || v->force > 0.0 ? FF_IDEAL_IN : FF_IDEAL_LOST;
    if (which == GATE_EVENT)
        return FF_IDEAL_OUT;
    if (which == FACE_EVENT)
        return inside_mode(v);
    if (mode == FF_IDEAL_LOST)
        return FF_IDEAL_IN;
    /* Without damping the force ends where the depth does. */
    return v->damping == 0.0 || v->gate <= 0.0 ? FF_IDEAL_OUT : FF_IDEAL_LOST;
}

/* v: the values before the event, which become those of the surface that acts from now on. */
static void change_mode(solver *s, int u, int which, const double *y, ff_ideal_value *v) {
    ff_ideal_unit *unit = &s->problem.unit[u];
    if (unit->mode == FF_IDEAL_OUT)
        unit->face = v->face;
    if (which == FACE_EVENT) {
        unit->face = !unit->face;
        ff__ideal_values(&s->problem, unit->contact, y, v); /* a cone's one unit */
    }
    unit->mode = next_mode(unit->mode, which, v);
}

static void all_values(const solver *s, const double *y, ff_ideal_value *value) {
    for (int c = 0; c < s->scenario->contacts; c++)
        ff__ideal_values(&s->problem, c, y, value + s->problem.first_unit[c]);
}

/* --------------------------------------------------------------------------------------- contact records --
 */

static bool pushing(const solver *s, int contact) {
    for (int u = s->problem.first_unit[contact]; u < s->problem.first_unit[contact + 1]; u++)
        if (s->problem.unit[u].mode == FF_IDEAL_IN)
            return true;
    return false;
}

static void put_states(const solver *s, int contact, const double *y, ff_rigid_state *state) {
    const ff_contact *c = &s->scenario->contact[contact];
    const bool both = c->kind != FF_CONTACT_WALL && c->kind != FF_CONTACT_STOPS && c->against >= 0;
    state[0] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * c->body);
    state[1] = both ? ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * c->against) : state[0];
}

/* Keeps the records in step with the modes after they changed at t. */
static void note_contacts(solver *s, double t, const double *y) {
    for (int c = 0; c < s->scenario->contacts; c++) {
        const bool now = pushing(s, c);
        ff_ideal_contact *record = s->open[c] >= 0 ? &s->result->contact[s->open[c]] : NULL;
        if (now && record && s->ended[c]) {
            if (t - record->end < FF_IDEAL_CLOSE_CYCLES * s->scenario->cycle)
                s->ended[c] = false;
            else
                record = NULL; /* that one is over */
        }
        if (now && !record) {
            if (!s->result->contact || s->result->contacts == s->capacity) {
                const int capacity = s->capacity ? 2 * s->capacity : 16;
                ff_ideal_contact *larger = realloc(s->result->contact, (size_t)capacity * sizeof *larger);
                if (!larger) {
                    s->failed = true;
                    s->status = FF_ERR_MEMORY;
                    return;
                }
                s->result->contact = larger;
                s->capacity = capacity;
            }
            s->open[c] = s->result->contacts++;
            s->ended[c] = false;
            record = &s->result->contact[s->open[c]];
            *record = (ff_ideal_contact){.contact = c, .start = t, .end = FF_NAN};
            put_states(s, c, y, record->before);
        } else if (!now && record && !s->ended[c]) {
            s->ended[c] = true;
            record->end = t;
            put_states(s, c, y, record->after);
        }
    }
}

static ff_vec3 force_at(solver *s, int contact, double t) {
    const double *y = state_at(s, t);
    ff_rigid_state state[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES] = {0};
    for (int i = 0; i < s->scenario->satellites; i++)
        state[i] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * i);
    return ff__ideal_contact_load(&s->problem, contact, state, load);
}

static double size_at(solver *s, int contact, double t) {
    return ff_vec3_norm(force_at(s, contact, t));
}

/* The largest force of a contact inside [a, b]: five samples, then a golden section around the largest,
 * unless the force plainly rises or falls through the whole step. At a smooth maximum the value is known to
 * the square of what its time is. The same samples give the impulse, by Boole's rule: a step is smooth. */
static void track_force(solver *s, int contact, double a, double b) {
    enum { PARTS = 4 };
    static const double weight[PARTS + 1] = {7.0 / 90.0, 32.0 / 90.0, 12.0 / 90.0, 32.0 / 90.0, 7.0 / 90.0};
    ff_ideal_contact *record = &s->result->contact[s->open[contact]];
    double *peak = &record->peak_force, f[PARTS + 1];
    int best = 0;
    for (int i = 0; i <= PARTS; i++) {
        const ff_vec3 F = force_at(s, contact, i == PARTS ? b : a + (b - a) * i / PARTS);
        record->impulse = ff_vec3_axpy(weight[i] * (b - a), F, record->impulse);
        f[i] = ff_vec3_norm(F);
        if (f[i] > f[best])
            best = i;
    }
    const double h = (b - a) / PARTS;
    *peak = fmax(*peak, f[best]);
    if (best == 0 && size_at(s, contact, a + 1e-3 * h) <= f[0])
        return;
    if (best == PARTS && size_at(s, contact, b - 1e-3 * h) <= f[PARTS])
        return;
    if (f[best] < 0.9 * *peak)
        return;
    const double golden = 0.5 * (sqrt(5.0) - 1.0);
    double lo = fmax(a, a + h * (best - 1)), hi = fmin(b, a + h * (best + 1));
    double x1 = hi - golden * (hi - lo), x2 = lo + golden * (hi - lo);
    double f1 = size_at(s, contact, x1), f2 = size_at(s, contact, x2);
    for (int i = 0; i < 30 && !s->failed; i++) {
        *peak = fmax(*peak, fmax(f1, f2));
        if (f1 > f2) {
            hi = x2;
            x2 = x1;
            f2 = f1;
            x1 = hi - golden * (hi - lo);
            f1 = size_at(s, contact, x1);
        } else {
            lo = x1;
            x1 = x2;
            f1 = f2;
            x2 = lo + golden * (hi - lo);
            f2 = size_at(s, contact, x2);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- sampling --
 */

static void note_energy(solver *s, int body, const ff_rigid_state *state) {
    double *most = &s->result->max_kinetic_energy[body];
    *most = fmax(*most, ff_rigid_kinetic_energy(&s->problem.model[body], state));
}

static void sample(solver *s, const double *y) {
    const int bodies = s->scenario->satellites;
    ff_rigid_state *state = s->result->state + s->next_sample * (uint64_t)bodies;
    ff_rigid_load *load = s->result->contact_load + s->next_sample * (uint64_t)bodies;
    memset(load, 0, (size_t)bodies * sizeof *load);
    for (int i = 0; i < bodies; i++) {
        state[i] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * i);
        note_energy(s, i, &state[i]);
    }
    for (int c = 0; c < s->scenario->contacts; c++)
        ff__ideal_contact_load(&s->problem, c, state, load);
    s->next_sample++;
}

static void sample_until(solver *s, double b) {
    while (s->next_sample < s->result->samples && !s->failed) {
        const double t = (double)s->next_sample * s->scenario->cycle;
        if (t > b)
            break;
        sample(s, state_at(s, t));
    }
}

/* ------------------------------------------------------------------------------------------- the solution --
 */

/* The next edge of a load after t, or the end. */
static double next_edge(const solver *s, double t) {
    double edge = s->t_end;
    for (int i = 0; i < s->scenario->loads; i++) {
        const ff_load *l = &s->scenario->load[i];
        if (!(l->to > l->from))
            continue;
        if (l->from > t)
            edge = fmin(edge, l->from);
        if (l->to > t)
            edge = fmin(edge, l->to);
    }
    for (int i = 0; i < s->scenario->contacts; i++) /* a gripper is armed */
        if (s->scenario->contact[i].kind == FF_CONTACT_GRASP && s->scenario->contact[i].closes > t)
            edge = fmin(edge, s->scenario->contact[i].closes);
    return edge;
}

/* A quarter of the shortest shaped load that acts: its start is flat, and an error estimate made there could
 * let the first step jump over it. */
static double longest_step(const solver *s) {
    double longest = s->t_end;
    for (int i = 0; i < s->scenario->loads; i++) {
        const ff_load *l = &s->scenario->load[i];
        if (s->problem.load_on[i] && l->kind != FF_LOAD_PULSE)
            longest = fmin(longest, 0.25 * (l->to - l->from));
    }
    return longest;
}

static ff_status fail(ff_status status, char *message, size_t size, const char *what, double t) {
    snprintf(message, size, "%s at t = %.9g s", what, t);
    return status;
}

static ff_status restart(solver *s, double t, double stop, char *message, size_t size) {
    double *y = N_VGetArrayPointer(s->y);
    for (int i = 0; i < s->n; i += FF_IDEAL_BODY_SIZE) {
        const ff_rigid_state state = ff__ideal_unpack(y + i);
        ff__ideal_pack(&state, y + i);
        note_energy(s, i / FF_IDEAL_BODY_SIZE, &state);
    }
    int flags = CVodeReInit(s->cvode, t, s->y); /* each 0, or below */
    flags |= CVodeSetStopTime(s->cvode, stop);
    flags |= CVodeSetMaxStep(s->cvode, longest_step(s));
    if (flags != CV_SUCCESS)
        return fail(FF_ERR_CONVERGENCE, message, size, "the solver did not start", t);
    return FF_OK;
}

/* Each hundredth of the run, and every thousand steps: what takes long can be stopped, too. */
static bool report_progress(solver *s, double t) {
    if (!s->progress || (t < s->next_progress && s->result->steps % 1000 != 0))
        return true;
    while (s->next_progress <= t)
        s->next_progress += 0.01 * s->t_end;
    return s->progress(s->user, fmin(1.0, t / s->t_end));
}

/* One smooth stretch, up to the next event or `stop`; *t is where it ended. */
static ff_status stretch(solver *s, double *t, double stop, char *message, size_t size) {
    ff_ideal_value value[2][FF_IDEAL_MAX_UNITS] = {{{0}}};
    int now = 0;
    double a = *t;
    double *y = N_VGetArrayPointer(s->y);
    all_values(s, y, value[now]);
    while (a < stop) {
        double b;
        const int flag = CVode(s->cvode, stop, s->y, &b, CV_ONE_STEP);
        if (flag < 0) {
            char *name = CVodeGetReturnFlagName(flag);
            char what[96];
            snprintf(what, sizeof what, "CVODE stops with %s", name ? name : "an error");
            free(name);
            return fail(FF_ERR_CONVERGENCE, message, size, what, a);
        }
        if (++s->result->steps > MAX_STEPS || ++s->within > MAX_STEPS_OF_CYCLE)
            return fail(FF_ERR_CONVERGENCE, message, size,
                        "the solver needs too many steps (a contact too stiff, a spin too fast)", a);
        if (b >= s->since + s->scenario->cycle) {
            s->since = b;
            s->within = 0;
        }
        for (int i = 0; i < s->n; i++)
            if (!isfinite(y[i]))
                return fail(FF_ERR_DIVERGED, message, size, "the motion diverged", a);
        event found = {.t = HUGE_VAL};
        if (s->problem.units > 0) {
            all_values(s, y, value[1 - now]);
            find_events(s, a, value[now], b, value[1 - now], &found);
        }
        const bool happened = isfinite(found.t);
        if (happened)
            b = found.t;
        sample_until(s, b);
        for (int c = 0; c < s->scenario->contacts; c++)
            if (b > a && pushing(s, c))
                track_force(s, c, a, b);
        s->stalled = b > a ? 0 : s->stalled + 1;
        if (happened) {
            memcpy(y, state_at(s, b), (size_t)s->n * sizeof *y);
            all_values(s, y, value[now]);
            const double same = b + 4.0 * DBL_EPSILON * b;
            for (int u = 0; u < s->problem.units; u++)
                if (found.time[u] <= same) {
                    change_mode(s, u, found.which[u], y, &value[now][u]);
                    s->result->events++;
                }
            ff__ideal_set_grasps(&s->problem, b, y);
            note_contacts(s, b, y);
        } else {
            for (int i = 0; i < s->scenario->satellites; i++) {
                const ff_rigid_state state = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * i);
                note_energy(s, i, &state);
            }
        }
        if (s->failed)
            return fail(s->status, message, size, ff_status_text(s->status), b);
        if (!report_progress(s, b))
            return fail(FF_ERR_LIMIT, message, size, "stopped", b);
        *t = a = b;
        now = 1 - now;
        if (happened)
            return FF_OK;
    }
    return FF_OK;
}

static ff_status solve(solver *s, char *message, size_t size) {
    double *y = N_VGetArrayPointer(s->y), t = 0.0;
    ff_ideal_value value[FF_IDEAL_MAX_UNITS] = {{0}};
    for (int i = 0; i < s->scenario->satellites; i++)
        ff__ideal_pack(&s->scenario->satellite[i].start, y + FF_IDEAL_BODY_SIZE * i);
    ff__ideal_set_grasps(&s->problem, t, y);
    all_values(s, y, value);
    for (int u = 0; u < s->problem.units; u++)
        if (value[u].gate > 0.0) {
            s->problem.unit[u].face = value[u].face;
            s->problem.unit[u].mode = inside_mode(&value[u]);
        }
    note_contacts(s, t, y);
    sample(s, y);
    while (t < s->t_end) {
        const double stop = next_edge(s, t);
        ff__ideal_set_loads(&s->problem, t);
        ff__ideal_set_grasps(&s->problem, t, y);
        note_contacts(s, t, y);
        ff_status status = restart(s, t, stop, message, size);
        if (status == FF_OK)
            status = stretch(s, &t, stop, message, size);
        if (status != FF_OK)
            return status;
    }
    for (int c = 0; c < s->scenario->contacts; c++) {
        if (s->open[c] < 0)
            continue;
        ff_ideal_contact *record = &s->result->contact[s->open[c]];
        if (s->ended[c] && t - record->end >= FF_IDEAL_CLOSE_CYCLES * s->scenario->cycle * (1.0 - 1e-12))
            continue;
        record->end = FF_NAN;
        put_states(s, c, y, record->after);
    }
    return FF_OK;
}

static bool create_solver(solver *s) {
    if (SUNContext_Create(NULL, &s->context) != 0)
        return false;
    s->y = N_VNew_Serial(s->n, s->context);
    s->scratch = N_VNew_Serial(s->n, s->context);
    ff_vector_quicken(s->y);
    ff_vector_quicken(s->scratch);
    s->cvode = CVodeCreate(CV_ADAMS, s->context);
    if (!s->y || !s->scratch || !s->cvode)
        return false;
    N_VConst(0.0, s->y);
    s->nonlinear = SUNNonlinSol_FixedPoint(s->y, 0, s->context);
    int flags = CVodeSetErrHandlerFn(s->cvode, silent, NULL); /* each 0, or below: then there is no memory */
    flags |= CVodeInit(s->cvode, rhs, 0.0, s->y);
    flags |= CVodeSetUserData(s->cvode, s);
    flags |= CVodeWFtolerances(s->cvode, weights);
    flags |= CVodeSetNonlinearSolver(s->cvode, s->nonlinear); /* refuses NULL */
    flags |= CVodeSetMaxHnilWarns(s->cvode, -1);
    return flags == CV_SUCCESS;
}

/* What was not made is NULL, which each of these leaves alone. */
static void free_solver(solver *s) {
    CVodeFree(&s->cvode);
    SUNNonlinSolFree(s->nonlinear);
    N_VDestroy(s->y);
    N_VDestroy(s->scratch);
    SUNContext_Free(&s->context);
}

ff_status ff_ideal_solve_within(const ff_scenario *scenario, double tolerance, ff_ideal_progress progress,
                                void *user, ff_ideal_result *result, char *message, size_t size) {
    memset(result, 0, sizeof *result);
    if (size > 0)
        message[0] = '\0';
    if (!(tolerance >= 1e-14 && tolerance <= 1e-6)) {
        snprintf(message, size, "the tolerance must lie in 1e-14..1e-6");
        return FF_ERR_ARGUMENT;
    }
    solver *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(message, size, "no memory for the ideal reference");
        return FF_ERR_MEMORY;
    }
    ff_status status = ff__ideal_problem_create(scenario, &s->problem, message, size);
    if (status != FF_OK) {
        free(s);
        return status;
    }
    s->scenario = scenario;
    s->result = result;
    s->tolerance = tolerance;
    s->n = FF_IDEAL_BODY_SIZE * scenario->satellites;
    s->t_end = (double)scenario->cycles * scenario->cycle;
    s->progress = progress;
    s->user = user;
    for (int c = 0; c < FF_MAX_CONTACTS; c++)
        s->open[c] = -1;
    const size_t bodies = (size_t)scenario->satellites, one = sizeof(ff_rigid_state) + sizeof(ff_rigid_load);
    result->bodies = scenario->satellites;
    result->samples = scenario->cycles + 1;
    if (scenario->cycles < SIZE_MAX / (one * bodies) - 1) {
        result->state = malloc(result->samples * bodies * sizeof *result->state);
        result->contact_load = malloc(result->samples * bodies * sizeof *result->contact_load);
    }
    if (!result->state || !result->contact_load || !create_solver(s)) {
        snprintf(message, size, "no memory for the ideal reference of %llu cycles",
                 (unsigned long long)scenario->cycles);
        status = FF_ERR_MEMORY;
    } else
        status = solve(s, message, size);
    free_solver(s);
    free(s);
    if (status != FF_OK)
        ff_ideal_free(result);
    return status;
}

ff_status ff_ideal_solve(const ff_scenario *scenario, ff_ideal_progress progress, void *user,
                         ff_ideal_result *result, char *message, size_t size) {
    return ff_ideal_solve_within(scenario, FF_IDEAL_TOLERANCE, progress, user, result, message, size);
}

void ff_ideal_free(ff_ideal_result *result) {
    free(result->state);
    free(result->contact_load);
    free(result->contact);
    memset(result, 0, sizeof *result);
}
