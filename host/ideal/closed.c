#include "ideal/closed.h"

#include <stdlib.h>

/* One body: straight flight between contacts; in a contact the depth d of the centre of mass obeys
 *   m d'' + c d' + k d = 0,  d(0) = 0,  d'(0) = u,
 * d(s) = u/wd e^(-a s) sin(wd s) with a = c/2m, w0^2 = k/m, wd^2 = w0^2 - a^2 > 0. The force
 *   k d + c d' = m u/wd e^(-a s) (A sin(wd s) + B cos(wd s)),  A = w0^2 - 2 a^2,  B = 2 a wd
 * ends at wd s = pi - atan2(B, A); from there the body leaves with the speed it has, and since d falls while
 * d' stays the force does not come back. */
typedef struct bounce {
    int contact;
    double start, end;          /* [s] */
    ff_vec3 position, velocity; /* at start */
    ff_vec3 normal;             /* to the free side */
    double u;                   /* d' at start > 0 */
    double a, wd, A, B, mass;
} bounce;

static double depth(const bounce *b, double s) {
    return b->u / b->wd * exp(-b->a * s) * sin(b->wd * s);
}

static double rate(const bounce *b, double s) {
    return b->u * exp(-b->a * s) * (cos(b->wd * s) - b->a / b->wd * sin(b->wd * s));
}

static double force(const bounce *b, double s) {
    return b->mass * b->u / b->wd * exp(-b->a * s) * (b->A * sin(b->wd * s) + b->B * cos(b->wd * s));
}

/* Tangential motion continues; the normal part is the depth's. */
static void inside(const bounce *b, double s, ff_rigid_state *state) {
    const ff_vec3 tangent = ff_vec3_axpy(b->u, b->normal, b->velocity); /* v + u n: no normal part left */
    state->position = ff_vec3_axpy(s, tangent, ff_vec3_axpy(-depth(b, s), b->normal, b->position));
    state->velocity = ff_vec3_axpy(-rate(b, s), b->normal, tangent);
}

static double peak(const bounce *b) {
    /* d/ds of e^(-a s)(A sin + B cos) = 0 */
    const double s = atan2(b->A * b->wd - b->a * b->B, b->a * b->A + b->B * b->wd) / b->wd;
    const double first = force(b, 0.0); /* a damper's force begins with a jump */
    return s > 0.0 && s < b->end - b->start ? fmax(first, force(b, s)) : first;
}

/* The body turns evenly when its angular momentum lies along its angular velocity. */
static bool turns_evenly(const ff_satellite *satellite) {
    const ff_vec3 w = satellite->start.omega;
    const ff_vec3 g = ff_vec3_cross(w, ff_mat3_apply(&satellite->rigid.inertia, w));
    return g.x == 0.0 && g.y == 0.0 && g.z == 0.0;
}

static bool has_closed_form(const ff_scenario *s) {
    if (s->loads || s->contacts > 4)
        return false;
    for (int i = 0; i < s->satellites; i++)
        if (!turns_evenly(&s->satellite[i]))
            return false;
    for (int c = 0; c < s->contacts; c++) {
        const ff_contact *x = &s->contact[c];
        const double m = s->satellite[x->body].rigid.mass, a = x->satellite_damping / (2.0 * m);
        if (x->kind != FF_CONTACT_WALL || x->law || x->friction != 0.0 || x->damping_depth != 0.0 ||
            x->point.x != 0.0 || x->point.y != 0.0 || x->point.z != 0.0 ||
            !(x->satellite_stiffness / m > 1.0001 * a * a))
            return false;
        for (int d = 0; d < c; d++) { /* walls of one body: parallel, or two could touch at once */
            const ff_contact *y = &s->contact[d];
            const ff_vec3 n = ff_vec3_cross(x->normal, y->normal);
            if (y->body == x->body && ff_vec3_norm(n) > 0.0)
                return false;
        }
    }
    return true;
}

static double outside(const ff_contact *wall, ff_vec3 p) {
    return ff_vec3_dot(wall->normal, ff_vec3_sub(p, wall->at));
}

enum { MOST_BOUNCES = 64 }; /* of one body; more are left to the solver */

/* Follows one body through the run. false: the case is not one of ours after all. */
static bool follow(const ff_scenario *s, int body, double last, bounce *list, int *count) {
    const ff_satellite *satellite = &s->satellite[body];
    ff_vec3 p = satellite->start.position, v = satellite->start.velocity;
    double t = 0.0;
    int left = -1; /* the wall that was just left */
    for (int c = 0; c < s->contacts; c++)
        if (s->contact[c].body == body && !(outside(&s->contact[c], p) > 0.0))
            return false;
    for (;;) {
        int next = -1;
        double when = last;
        for (int c = 0; c < s->contacts; c++) {
            const ff_contact *wall = &s->contact[c];
            const double speed = -ff_vec3_dot(wall->normal, v);
            if (wall->body != body || c == left || !(speed > 0.0))
                continue;
            const double at = t + outside(wall, p) / speed;
            if (at < when) {
                when = at;
                next = c;
            }
        }
        if (next < 0)
            return true;
        if (*count == MOST_BOUNCES)
            return false;
        const ff_contact *wall = &s->contact[next];
        bounce *b = &list[(*count)++];
        const double m = satellite->rigid.mass, a = wall->satellite_damping / (2.0 * m),
                     w2 = wall->satellite_stiffness / m;
        *b = (bounce){.contact = next, .start = when, .normal = wall->normal, .a = a, .mass = m};
        b->position = ff_vec3_axpy(when - t, v, p);
        b->velocity = v;
        b->u = -ff_vec3_dot(wall->normal, v);
        b->wd = sqrt(w2 - a * a);
        b->A = w2 - 2.0 * a * a;
        b->B = 2.0 * a * b->wd;
        const double lasts = (FF_PI - atan2(b->B, b->A)) / b->wd;
        /* another wall within the dent: two would touch at once */
        const double deepest = atan2(b->wd, b->a) / b->wd;
        ff_rigid_state state;
        inside(b, deepest, &state);
        for (int c = 0; c < s->contacts; c++)
            if (s->contact[c].body == body && c != next && !(outside(&s->contact[c], state.position) > 0.0))
                return false;
        b->end = when + lasts;
        if (*count > 1 && list[*count - 2].contact == next)
            return false; /* cannot be without a second wall: rounding */
        inside(b, lasts, &state);
        p = state.position;
        v = state.velocity;
        t = b->end;
        left = next;
        if (t >= last)
            return true;
    }
}

static ff_quat turned(const ff_satellite *satellite, double t) {
    return ff_quat_mul(satellite->start.attitude, ff_quat_exp(ff_vec3_scale(t, satellite->start.omega)));
}

/* Samples one body at every cycle and writes its contacts. */
static void write_body(const ff_scenario *s, int body, const bounce *list, int count, double last,
                       ff_ideal_result *result) {
    const ff_satellite *satellite = &s->satellite[body];
    ff_rigid_state state = satellite->start;
    ff_vec3 p = state.position, v = state.velocity;
    double t0 = 0.0, fastest = ff_vec3_norm(v);
    int n = 0;
    const double angle = ff_vec3_norm(satellite->start.omega);
    for (uint64_t k = 0; k < result->samples; k++) {
        const double t = (double)k * s->cycle;
        while (n < count && list[n].end <= t) { /* passed: the flight after it */
            inside(&list[n], list[n].end - list[n].start, &state);
            p = state.position;
            v = state.velocity;
            t0 = list[n].end;
            n++;
        }
        ff_rigid_load load = {ff_vec3_zero(), ff_vec3_zero()};
        if (n < count && list[n].start <= t) {
            inside(&list[n], t - list[n].start, &state);
            if (t > list[n].start)
                load.force = ff_vec3_scale(force(&list[n], t - list[n].start), list[n].normal);
        } else {
            state.position = ff_vec3_axpy(t - t0, v, p);
            state.velocity = v;
        }
        if (angle > 0.0)
            state.attitude = turned(satellite, t);
        result->state[k * (uint64_t)result->bodies + (uint64_t)body] = state;
        result->contact_load[k * (uint64_t)result->bodies + (uint64_t)body] = load;
    }
    for (int i = 0; i < count; i++) {
        const bounce *b = &list[i];
        ff_ideal_contact *c = &result->contact[result->contacts++];
        const bool open = last - b->end < FF_IDEAL_CLOSE_CYCLES * s->cycle * (1.0 - 1e-12);
        *c = (ff_ideal_contact){.contact = b->contact, .start = b->start, .end = open ? FF_NAN : b->end};
        for (int j = 0; j < 2; j++) {
            const double at = j ? fmin(b->end, last) : b->start;
            ff_rigid_state *x = j ? &c->after[0] : &c->before[0];
            *x = satellite->start;
            inside(b, at - b->start, x);
            x->attitude = turned(satellite, at);
            fastest = fmax(fastest, ff_vec3_norm(x->velocity));
        }
        if (open) /* left just before the end, or not at all */
            c->after[0] = result->state[(result->samples - 1) * (uint64_t)result->bodies + (uint64_t)body];
        if (b->end > last) { /* the largest force so far */
            bounce part = *b;
            part.end = last;
            c->peak_force = fmax(peak(&part), force(b, last - b->start));
        } else
            c->peak_force = peak(b);
        /* nothing else pushes: one contact at a time, no loads */
        c->impulse =
            ff_vec3_scale(satellite->rigid.mass, ff_vec3_sub(c->after[0].velocity, c->before[0].velocity));
    }
    ff_rigid_model model;
    state = satellite->start;
    state.velocity = ff_vec3_make(fastest, 0.0, 0.0);
    if (ff_rigid_create(&satellite->rigid, &model) == FF_OK)
        result->max_kinetic_energy[body] = ff_rigid_kinetic_energy(&model, &state);
}

static int by_start(const void *a, const void *b) {
    const double x = ((const ff_ideal_contact *)a)->start, y = ((const ff_ideal_contact *)b)->start;
    return (x > y) - (x < y);
}

ff_status ff_ideal_closed(const ff_scenario *scenario, ff_ideal_result *result) {
    *result = (ff_ideal_result){0};
    if (!has_closed_form(scenario))
        return FF_ERR_UNSUPPORTED;
    const double last = (double)scenario->cycles * scenario->cycle;
    bounce *list = malloc(sizeof *list * MOST_BOUNCES * FF_MAX_BODIES);
    int own[FF_MAX_BODIES] = {0}, count = 0;
    ff_status status = list ? FF_OK : FF_ERR_MEMORY;
    for (int i = 0; i < scenario->satellites && status == FF_OK; i++) {
        if (!follow(scenario, i, last, list + (ptrdiff_t)i * MOST_BOUNCES, &own[i]))
            status = FF_ERR_UNSUPPORTED;
        count += own[i];
    }
    if (status == FF_OK) {
        result->samples = scenario->cycles + 1;
        result->bodies = scenario->satellites;
        const size_t size = (size_t)result->samples * (size_t)result->bodies;
        result->state = malloc(size * sizeof *result->state);
        result->contact_load = malloc(size * sizeof *result->contact_load);
        result->contact = malloc(((size_t)count + 1) * sizeof *result->contact);
        if (!result->state || !result->contact_load || !result->contact)
            status = FF_ERR_MEMORY;
    }
    if (status == FF_OK) {
        for (int i = 0; i < scenario->satellites; i++)
            write_body(scenario, i, list + (ptrdiff_t)i * MOST_BOUNCES, own[i], last, result);
        qsort(result->contact, (size_t)result->contacts, sizeof *result->contact, by_start);
        result->events = (uint64_t)count;
    } else
        ff_ideal_free(result);
    free(list);
    return status;
}
