#include "report/pairing.h"

ff_vec3 ff_metrics_point_velocity(const ff_contact *contact, const ff_rigid_state *state) {
    const ff_vec3 v = ff_rigid_point_velocity(&state[0], contact->point);
    if (contact->against < 0)
        return v;
    const ff_vec3 p = ff_pose_apply(ff_rigid_pose(&state[0]), contact->point);
    const ff_vec3 r = ff_quat_unrotate(state[1].attitude, ff_vec3_sub(p, state[1].position));
    return ff_vec3_sub(v, ff_rigid_point_velocity(&state[1], r));
}

/* One contact, of the run or of the reference. */
typedef struct meeting {
    int contact;
    double start, end; /* [s] the last time where it is open */
    bool open;
    double peak; /* [N] */
    const ff_rigid_state *before, *after;
} meeting;

/* All of them, in order of start. */
typedef struct meetings {
    const ff_metrics *run;        /* or */
    const ff_ideal_result *ideal; /* the other is NULL */
    const ff_scenario *scenario;
    int count;
    double last; /* [s] */
} meetings;

static meeting at(const meetings *m, int n) {
    meeting x;
    if (m->ideal) {
        const ff_ideal_contact *c = &m->ideal->contact[n];
        x = (meeting){c->contact, c->start, c->end, false, c->peak_force, c->before, c->after};
    } else {
        const ff_episode *e = &m->run->episode[n];
        x = (meeting){e->contact, e->start, e->end, false, e->peak_robot_force, e->before, e->after};
    }
    x.open = isnan(x.end);
    if (x.open)
        x.end = m->last;
    return x;
}

static bool share_a_body(const ff_contact *a, const ff_contact *b) {
    return a->body == b->body || (a->against >= 0 && (a->against == b->body || a->against == b->against)) ||
           (b->against >= 0 && b->against == a->body);
}

enum { NEAR = 64 };              /* so many before and after one are looked at */
static const double WEAK = 0.05; /* of the largest: a force, or a speed, that proves nothing */

static double pause_of(const meetings *m) {
    return FF_END_CYCLES * m->scenario->cycle;
}

/* From the end of the contact before on these bodies, or from the start of the run [s]. */
static double flight_before(const meetings *m, int n) {
    const meeting x = at(m, n);
    double from = 0.0;
    for (int i = n - 1; i >= 0 && i > n - NEAR; i--) {
        const meeting y = at(m, i);
        if (y.end <= x.start &&
            share_a_body(&m->scenario->contact[x.contact], &m->scenario->contact[y.contact]))
            from = fmax(from, y.end);
    }
    return x.start - from;
}

static ff_vec3 tip_of(const ff_contact *contact, const ff_rigid_state *state) {
    const ff_vec3 p = ff_pose_apply(ff_rigid_pose(&state[0]), contact->point);
    return contact->against < 0 ? p : ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&state[1])), p);
}

static void note(double *largest, double value) {
    if (!(value <= *largest) && !isnan(*largest))
        *largest = value;
}

/* ------------------------------------------------------------------------------------- change of velocity --
 */

/* A body from its free flight before a contact to that behind it: contacts at the same time change its motion
 * together. */
typedef struct passage {
    const ff_rigid_state *before, *after;
    double start, end, speed; /* [s], [s], [m/s] of the contact point, the fastest */
    bool open;
} passage;

static const ff_rigid_state *state_of(const ff_contact *contact, const ff_rigid_state *both, int body) {
    return &both[contact->body == body ? 0 : 1];
}

static bool touches(const ff_contact *contact, int body) {
    return contact->body == body || contact->against == body;
}

static void join_passage(const meetings *m, int n, int body, passage *p) {
    const meeting x = at(m, n);
    const ff_contact *c = &m->scenario->contact[x.contact];
    if (!p->before || x.start < p->start) {
        p->before = state_of(c, x.before, body);
        p->start = x.start;
    }
    if (!p->after || x.end > p->end) {
        p->after = state_of(c, x.after, body);
        p->end = x.end;
    }
    p->open = p->open || x.open;
    p->speed = fmax(p->speed, ff_vec3_norm(ff_metrics_point_velocity(c, x.before)));
}

/* Of a body through the contacts first..last and all that overlap with them. */
static passage passage_of(const meetings *m, int first, int last, int body) {
    passage p = {0};
    const int begin = first < NEAR ? 0 : first - NEAR;
    join_passage(m, first, body, &p);
    join_passage(m, last, body, &p);
    for (bool more = true; more;) {
        more = false;
        for (int i = begin; i < m->count && i < last + NEAR; i++) {
            const meeting x = at(m, i);
            if (x.start > p.end + pause_of(m))
                break;
            if (!touches(&m->scenario->contact[x.contact], body) || x.end + pause_of(m) < p.start)
                continue;
            const passage was = p;
            join_passage(m, i, body, &p);
            more = more || p.start < was.start || p.end > was.end;
        }
    }
    return p;
}

/* [N s] of one load from `a` to `b`. */
static ff_vec3 load_impulse(const ff_load *l, double a, double b) {
    const double from = fmax(a, l->from), to = fmin(b, l->to), L = l->to - l->from;
    if (!(to > from))
        return ff_vec3_zero();
    const double s = FF_PI * (from - l->from) / L, t = FF_PI * (to - l->from) / L;
    double time = to - from;
    if (l->kind == FF_LOAD_HALFSINE)
        time = L / FF_PI * (cos(s) - cos(t));
    else if (l->kind == FF_LOAD_SIN2)
        time = 0.5 * (time - 0.5 * L / FF_PI * (sin(2.0 * t) - sin(2.0 * s)));
    return ff_vec3_scale(time, l->force);
}

/* Change of velocity by contacts alone, and of angular momentum over mass and radius of gyration, over the
 * approach speed. */
typedef struct change {
    ff_vec3 v, h;
} change;

static change change_of(const ff_metrics *metrics, int body, const passage *p) {
    const ff_scenario *s = metrics->scenario;
    const ff_rigid_config *rigid = &s->satellite[body].rigid;
    const double trace = rigid->inertia.m[0][0] + rigid->inertia.m[1][1] + rigid->inertia.m[2][2],
                 radius = sqrt(0.5 * trace / rigid->mass);
    ff_vec3 v = ff_vec3_sub(p->after->velocity, p->before->velocity), h = ff_vec3_zero();
    bool torque = false;
    for (int i = 0; i < s->loads; i++)
        if (s->load[i].body == body) {
            v = ff_vec3_axpy(-1.0 / rigid->mass, load_impulse(&s->load[i], p->start, p->end), v);
            torque = torque || ff_vec3_norm(s->load[i].torque) > 0.0;
        }
    if (!torque) /* a torque in body axes has no closed form */
        for (int j = 0; j < 2; j++) {
            const ff_rigid_state *x = j ? p->after : p->before;
            const ff_vec3 spin = ff_quat_rotate(x->attitude, ff_mat3_apply(&rigid->inertia, x->omega));
            h = ff_vec3_axpy((j ? 1.0 : -1.0) / (rigid->mass * radius), spin, h);
        }
    return (change){ff_vec3_scale(1.0 / p->speed, v), ff_vec3_scale(1.0 / p->speed, h)};
}

static void compare_changes(ff_metrics *metrics, const meetings *run, int first, int last,
                            const meetings *ideal, int j, double fastest, int body) {
    if (metrics->scenario->satellite[body].arm.present)
        return; /* thrusters and joints push it, too */
    const passage p = passage_of(run, first, last, body), q = passage_of(ideal, j, j, body);
    if (p.open || q.open || !(p.speed > 0.0) || !(q.speed > WEAK * fastest))
        return;
    const change a = change_of(metrics, body, &p), b = change_of(metrics, body, &q);
    metrics->rebounds = true;
    note(&metrics->restitution_error[body], ff_vec3_norm(ff_vec3_sub(a.v, b.v)));
    note(&metrics->restitution_error[body], ff_vec3_norm(ff_vec3_sub(a.h, b.h)));
}

/* -------------------------------------------------------------------------------------------- partners -- */

typedef struct pairing {
    ff_metrics *metrics;
    meetings run, ideal;
    double strongest; /* [N] of the reference */
    double fastest;   /* [m/s] of its contact points */
} pairing;

static void diverge(pairing *p, const ff_contact *contact, double t) {
    for (int j = 0; j < (contact->against >= 0 ? 2 : 1); j++) {
        double *first = &p->metrics->diverged[j ? contact->against : contact->body];
        *first = fmin(t, *first); /* not of FF_NAN */
    }
}

static void compare_forces(pairing *p, const ff_contact *contact, double force, double right) {
    for (int j = 0; j < (contact->against >= 0 ? 2 : 1); j++)
        if (force > 0.0 || right > 0.0) { /* a torque alone (stops of rotation) has no force to compare */
            p->metrics->forces = true;
            note(&p->metrics->peak_force_ratio[j ? contact->against : contact->body], force / right);
        }
}

/* A contact of the run without a partner. */
static void stand_alone(pairing *p, int n) {
    const meeting e = at(&p->run, n);
    const ff_contact *contact = &p->metrics->scenario->contact[e.contact];
    compare_forces(p, contact, e.peak, p->strongest);
    if (e.peak > WEAK * p->strongest && e.start + 0.5 * flight_before(&p->run, n) < p->run.last)
        diverge(p, contact, e.start);
}

/* How far the begins may be apart [s]. */
static double allowed(const pairing *p, int j, double after) {
    const meeting x = at(&p->ideal, j);
    const double gap = fmin(after - x.start, flight_before(&p->ideal, j));
    return x.end - x.start + pause_of(&p->ideal) + 0.5 * gap;
}

/* Episodes p..end - 1 of one surface lie nearest to its reference contact j. */
static void pair_cell(pairing *p, int j, double T, int begin, int end) {
    const meeting x = at(&p->ideal, j);
    const ff_contact *contact = &p->metrics->scenario->contact[x.contact];
    const double speed = fmax(ff_vec3_norm(ff_metrics_point_velocity(contact, x.before)),
                              ff_vec3_norm(ff_metrics_point_velocity(contact, x.after)));
    const ff_vec3 tip = tip_of(contact, x.before);
    int best = -1, first, last;
    double late = T;
    for (int n = begin; n < end; n++) {
        const meeting e = at(&p->run, n);
        if (e.contact == x.contact && fabs(e.start - x.start) <= late &&
            ff_vec3_norm(ff_vec3_sub(tip_of(contact, e.before), tip)) <= T * speed + 1e-9) {
            best = n;
            late = fabs(e.start - x.start);
        }
    }
    first = last = best;
    for (int n = begin; n < end; n++) {
        const meeting e = at(&p->run, n);
        if (e.contact != x.contact)
            continue;
        if (best < 0 || e.start > x.end + late + pause_of(&p->run) ||
            e.end < x.start - late - pause_of(&p->run)) {
            stand_alone(p, n);
            continue;
        }
        first = n < first ? n : first;
        last = n > last ? n : last;
        compare_forces(p, contact, e.peak, x.peak);
    }
    if (best < 0) {
        bool covered = x.peak <= WEAK * p->strongest || x.start + T > p->run.last;
        for (int n = begin - 1; n >= 0 && n > begin - NEAR && !covered; n--) {
            const meeting e = at(&p->run, n);
            covered = e.contact == x.contact && e.end + pause_of(&p->run) > x.start;
        }
        if (!covered)
            diverge(p, contact, x.start);
        return;
    }
    const meeting e = at(&p->run, last);
    for (int k = 0; k < (contact->against >= 0 ? 2 : 1); k++) {
        const int body = k ? contact->against : contact->body;
        if (!e.open && !x.open)
            note(&p->metrics->rebound_error[body],
                 fabs(ff_vec3_norm(e.after[k].velocity) - ff_vec3_norm(x.after[k].velocity)));
        compare_changes(p->metrics, &p->run, first, last, &p->ideal, j, p->fastest, body);
    }
}

/* The next of the reference on surface c from j on; its count if there is none. */
static int next_of(const meetings *m, int c, int j) {
    while (j < m->count && at(m, j).contact != c)
        j++;
    return j;
}

static void pair_surface(pairing *p, int c) {
    int n = 0;
    for (int j = next_of(&p->ideal, c, 0); j < p->ideal.count;) {
        const int next = next_of(&p->ideal, c, j + 1);
        const double start = at(&p->ideal, j).start,
                     after = next < p->ideal.count ? at(&p->ideal, next).start : FF_INF;
        const int begin = n;
        while (n < p->run.count && at(&p->run, n).start <= 0.5 * (start + after))
            n++;
        pair_cell(p, j, allowed(p, j, after), begin, n);
        j = next;
    }
    for (; n < p->run.count && next_of(&p->ideal, c, 0) == p->ideal.count; n++)
        if (at(&p->run, n).contact == c)
            stand_alone(p, n);
}

void ff_metrics_compare(ff_metrics *metrics, const ff_ideal_result *ideal) {
    const ff_scenario *s = metrics->scenario;
    pairing p = {.metrics = metrics,
                 .run = {metrics, NULL, s, metrics->episodes, metrics->t},
                 .ideal = {NULL, ideal, s, ideal->contacts, (double)s->cycles * s->cycle}};
    for (int j = 0; j < ideal->contacts; j++) {
        const meeting x = at(&p.ideal, j);
        p.strongest = fmax(p.strongest, x.peak);
        p.fastest =
            fmax(p.fastest, ff_vec3_norm(ff_metrics_point_velocity(&s->contact[x.contact], x.before)));
    }
    for (int c = 0; c < s->contacts; c++)
        pair_surface(&p, c);
}
