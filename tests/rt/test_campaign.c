/* A random campaign on telegrams, in lock step: 1 to 4 faults at random times under every method, with limits
 * configured. The judge shares nothing with the loop: it knows what was drawn, sees the answers that the
 * controllers take, turns them into poses by kinematics of its own, and looks at where the virtual robots
 * really are. `FF_SEED=n FF_RUN=m` repeats one run, `FF_RUNS=m` asks for another number of them. */
#include "campaign_draw.h"
#include "own_arm.h"
#include "sides.h"

enum {
    CYCLES = 6000,
    ROWS = 2048,
    NOTES = 12,
    STILL = 8,
    MISSED = 5 /* `safety.missed`, where it is not named */
};

/* Levers of the six axes from the body are below 3 m, and the answers have nine decimals of a degree, each
 * rounded by half of one: the pose that the controller makes is off by less than this [m], [rad]. */
static const double grain[2] = {6.0 * 3.0 * 0.5e-9 * DEG, 6.0 * 0.5e-9 * DEG};

typedef struct seen {
    uint64_t k;
    bool answered;
    ff_vec3 p, x, y; /* origin and two unit points of the body, from the axes that it was sent */
    bool stop;
} seen;

typedef struct track {
    seen at[CYCLES];
    int count;
    ff_pose real[CYCLES]; /* the robot itself, by the facility's cycle */
    double force[CYCLES]; /* [N] true */
    double apart;         /* [m] own kinematics from the controller's */
} track;

typedef struct row_kept {
    double t;
    ff_vec3 robot[2];
    double energy[2]; /* [J] of the satellite, by its own velocities */
} row_kept;

typedef struct run {
    run_drawn drawn;
    ff_scenario scenario;
    ff_facility_result facility;
    ff_rt_result rt;
    sides both;
    ff_plan plan;
    track body[2];
    row_kept row[ROWS];
    int rows;
    uint64_t k, cycles, moving; /* the first robot moves from this one on */
    char note[NOTES][200];
    int notes;
    double worst[2][3]; /* largest ratio to a limit */
    double longest;     /* [cycles] of a stop beyond its time */
    double boxed;       /* largest ratio to the box, of what was sent and of the robot itself */
    double gained[2];   /* energy that a predicting, a passive method gains, over what is allowed */
} run;

static void blame(run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void blame(run *r, const char *format, ...) {
    va_list list;
    if (r->notes == NOTES)
        return;
    va_start(list, format);
    vsnprintf(r->note[r->notes++], sizeof r->note[0], format, list);
    va_end(list);
}

/* ----------------------------------------------------------------------------------------------- record --
 */

static double root(ff_vec3 v) {
    return sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
}

static void watch(void *user, uint64_t k, const ff_truth *truth) {
    run *r = user;
    r->k = k;
    if (k >= CYCLES)
        return;
    r->cycles = k + 1;
    for (int i = 0; i < r->drawn.bodies; i++) {
        r->body[i].real[k] = truth->robot[i].T;
        r->body[i].force[k] = ff_vec3_norm(truth->contact_b[i].f);
    }
    if (!r->moving && root(ff_vec3_sub(r->body[0].real[k].p, r->body[0].real[0].p)) > 1e-6)
        r->moving = k;
    if (r->drawn.halt && r->moving && k == r->moving + r->drawn.halt)
        atomic_store(&r->both.halt, true);
}

/* A fault of this kind has acted, and was drawn for this body. */
static bool acted_on(const run *r, ff_fault_kind kind, int body) {
    for (int n = 0; n < r->drawn.faults; n++)
        if (kinds_drawn[r->drawn.fault[n].kind].kind == kind && r->drawn.fault[n].body == body)
            return r->facility.injected[kind] > 0;
    return false;
}

static void received(void *user, int body, uint64_t session, uint64_t ipoc, const ff_rsi_sen *answer,
                     const ff_pose *T) {
    (void)session;
    (void)ipoc;
    run *r = user;
    track *t = &r->body[body];
    if (t->count == CYCLES)
        return;
    seen *s = &t->at[t->count];
    if (r->facility.injected[FF_FAULT_ROBOT_ABORTS]) /* what the controller's monitor refuses is not done */
        answer = NULL;
    *s = (seen){.k = r->k, .answered = answer != NULL};
    s->p = T->p;
    s->x = ff_pose_apply(*T, ff_vec3_make(1, 0, 0));
    s->y = ff_pose_apply(*T, ff_vec3_make(0, 1, 0));
    if (answer && !acted_on(r, FF_FAULT_ROBOT_RESTARTS, body)) { /* after it another origin counts */
        double a[6];
        for (int i = 0; i < 6; i++)
            a[i] = r->plan.body[body].home.a[i] + DEG * answer->value[FF_RSI_TAG_AXES + i];
        const ff_arm_model *arm = &r->plan.body[body].arm;
        const ff_vec3 theirs = s->x;
        s->p = body_point(arm, a, ff_vec3_zero());
        s->x = body_point(arm, a, ff_vec3_make(1, 0, 0));
        s->y = body_point(arm, a, ff_vec3_make(0, 1, 0));
        if (r->facility.injected[FF_FAULT_ROBOT_CLIPPED] == 0)
            t->apart = fmax(t->apart, ff_vec3_norm(ff_vec3_sub(s->x, theirs)));
    } else if (!answer && t->count) { /* the tags hold their values */
        const seen *before = s - 1;
        s->p = before->p;
        s->x = before->x;
        s->y = before->y;
    }
    s->stop = answer && answer->tags & FF_RSI_STOP;
    t->count++;
}

static ff_status keep_row(void *self, const ff_row *row) {
    run *r = self;
    if (r->rows == ROWS)
        return FF_OK;
    row_kept *kept = &r->row[r->rows++];
    kept->t = row->t;
    for (int i = 0; i < r->drawn.bodies; i++) {
        const body_drawn *b = &r->drawn.body[i];
        const ff_rigid_state *s = &row->body[i].satellite;
        kept->robot[i] = row->body[i].robot.T.p;
        kept->energy[i] = 0.5 * (b->mass * ff_vec3_dot(s->velocity, s->velocity) +
                                 b->inertia * ff_vec3_dot(s->omega, s->omega));
    }
    return FF_OK;
}

/* ---------------------------------------------------------------------------------------------- helpers --
 */

/* The body's axes as it was sent them; the columns of a rotation matrix. */
static void axes_of(const seen *s, ff_vec3 c[3]) {
    c[0] = ff_vec3_sub(s->x, s->p);
    c[1] = ff_vec3_sub(s->y, s->p);
    c[2] = ff_vec3_cross(c[0], c[1]);
}

/* Step of the origin, and of the attitude as a rotation vector in the axes before: for a small angle twice
 * the antisymmetric part of R0' R1, to its third power. */
static void step_of(const seen *before, const seen *s, ff_vec3 d[2]) {
    ff_vec3 c0[3], c1[3];
    axes_of(before, c0);
    axes_of(s, c1);
    d[0] = ff_vec3_sub(s->p, before->p);
    for (int a = 0; a < 3; a++)
        d[1].a[a] = 0.5 * (ff_vec3_dot(c0[(a + 2) % 3], c1[(a + 1) % 3]) -
                           ff_vec3_dot(c0[(a + 1) % 3], c1[(a + 2) % 3]));
}

static unsigned hits(const run *r) {
    unsigned all = 0;
    for (int n = 0; n < r->drawn.faults; n++) {
        const kind_drawn *kind = &kinds_drawn[r->drawn.fault[n].kind];
        if (kind->most < 0 || r->facility.injected[kind->kind])
            all |= kind->hits;
    }
    return all;
}

/* The robot of this body did not do what it was sent: what it is sent goes back to where it stands. */
static bool stood(const run *r, int body) {
    for (int n = 0; n < r->drawn.faults; n++) {
        const kind_drawn *kind = &kinds_drawn[r->drawn.fault[n].kind];
        if (r->drawn.fault[n].body == body && kind->hits & HITS_ROBOT && r->facility.injected[kind->kind])
            return true;
    }
    return false;
}

static bool injected(const run *r, ff_fault_kind kind) {
    return r->facility.injected[kind] > 0;
}

/* A controller has said something else of itself than at its first telegram, in three telegrams or more: a
 * mode that is not EXT, an override that is not 100 %, or any other of its signals. Lost ones are not looked
 * for. */
static bool signalled(const run *r) {
    bool any = false;
    for (int n = 0; n < r->drawn.faults; n++) {
        const kind_drawn *kind = &kinds_drawn[r->drawn.fault[n].kind];
        const double value = r->drawn.fault[n].value;
        const bool same = (kind->kind == FF_FAULT_KRC_MODE && value == 4.0) ||
                          (kind->kind == FF_FAULT_KRC_OVERRIDE && value == 100.0);
        any |= kind->hits & HITS_SIGNAL && !same && r->facility.injected[kind->kind] >= 3;
    }
    return any && r->drawn.signals && !(hits(r) & (HITS_WIRE | HITS_SILENT));
}

/* The facility's cycle in which the run ended: the product's rows and what was really there show the same
 * robot. Most rows agree on the difference of the two clocks. -1: not to be seen. */
static long trip_cycle(const run *r) {
    static int votes[CYCLES];
    memset(votes, 0, sizeof votes);
    const double T = r->drawn.cycle;
    for (size_t n = 0; n < r->rt.last_count; n++) {
        const ff_row *row = &r->rt.last[n];
        for (uint64_t k = 0; k < r->cycles; k++)
            if (root(ff_vec3_sub(row->body[0].robot.T.p, r->body[0].real[k].p)) < 2e-7) {
                const long off = (long)k - lround(row->t / T);
                if (off >= 0 && off < CYCLES)
                    votes[off]++;
            }
    }
    int best = 0;
    for (int n = 1; n < CYCLES; n++)
        best = votes[n] > votes[best] ? n : best;
    if (votes[best] < 3)
        return -1;
    /* the loop's time follows a counter that jumps, the robot's does not; in the run-up no cycle is filled in
     */
    bool jumped = false;
    for (int n = 0; n < r->drawn.faults; n++)
        jumped |= kinds_drawn[r->drawn.fault[n].kind].kind == FF_FAULT_IPOC_JUMP && !r->drawn.fault[n].body;
    /* a fault keeps the cycle that tripped, an orderly stop follows the last row; a fault in such a stop is
     * kept with its own time, cycles after the loop's last row (lost cycles are filled in there) */
    const size_t n = r->rt.last_count;
    const double since = n > 1 ? r->rt.last[n - 1].t - r->rt.last[n - 2].t : T;
    const bool stopped = r->rt.last[n - 1].t > 0.0 && fabs(since - T) > 0.5 * T;
    const double ended = r->rt.last[n - 1 - stopped].t;
    const bool orderly =
        r->rt.trip.code == FF_TRIP_FINISHED || r->rt.trip.code == FF_TRIP_OPERATOR || stopped;
    return best + lround(ended / T) + orderly -
           (jumped && r->rt.trip.code == FF_TRIP_RESTART && !stopped && r->rt.last[n - 1].t > 0.0 ? MISSED
                                                                                                  : 0);
}

/* ------------------------------------------------------------------------------------------------ judge --
 */

/* Every step that a robot was sent: velocity, acceleration, jerk. Without an answer the controller holds, and
 * the motion begins again from rest. */
static void judge_sent(run *r, int i) {
    static const char *const part[] = {"", "angular "}, *const order[] = {"velocity", "acceleration", "jerk"};
    const track *t = &r->body[i];
    const body_drawn *b = &r->drawn.body[i];
    const double T = r->drawn.cycle;
    ff_vec3 v[2] = {{{0}}}, a[2] = {{{0}}};
    bool reported[2][3] = {{0}};
    for (int n = 1; n < t->count; n++) {
        const seen *s = &t->at[n];
        ff_vec3 d[2];
        step_of(s - 1, s, d);
        for (int p = 0; p < 2; p++) {
            const ff_vec3 now = ff_vec3_scale(1.0 / T, d[p]),
                          acc = ff_vec3_scale(1.0 / T, ff_vec3_sub(now, v[p])),
                          jerk = ff_vec3_scale(1.0 / T, ff_vec3_sub(acc, a[p]));
            const double is[3] = {root(now), root(acc), root(jerk)},
                         rounding[3] = {2.0 * grain[p] / T, 4.0 * grain[p] / (T * T),
                                        8.0 * grain[p] / (T * T * T)};
            v[p] = s->answered ? now : ff_vec3_zero();
            a[p] = s->answered ? acc : ff_vec3_zero();
            for (int o = 0; o < 3 && s->answered; o++) {
                const double ratio = (is[o] - rounding[o]) / b->limit[p][o];
                r->worst[p][o] = fmax(r->worst[p][o], ratio);
                if (!(ratio <= 1.0 + 1e-6) && !reported[p][o]) { /* rounding is taken off */
                    reported[p][o] = true;
                    blame(r, "body%d is sent %s%s %.6g, limit %.6g, in cycle %llu", i, part[p], order[o],
                          is[o], b->limit[p][o], (unsigned long long)s->k);
                }
            }
        }
    }
    if (!(t->apart < 1e-8))
        blame(r, "body%d: the controller's kinematics differ by %g m", i, t->apart);
}

/* Where the robot is sent and where it is: inside its box, or no further out than where it began. */
static void judge_box(run *r, int i) {
    const track *t = &r->body[i];
    const body_drawn *b = &r->drawn.body[i];
    for (int a = 0; a < 3; a++) {
        double sent = 0.0, real = 0.0;
        const double most = fmax(b->box.a[a], t->count ? fabs(t->at[0].p.a[a] - b->p.a[a]) : 0.0);
        for (int n = 0; n < t->count; n++)
            sent = fmax(sent, fabs(t->at[n].p.a[a] - b->p.a[a]));
        for (uint64_t k = 0; k < r->cycles; k++)
            real = fmax(real, fabs(t->real[k].p.a[a] - b->p.a[a]));
        const double more = most + 2.0 * grain[0] + 1e-9;
        r->boxed = fmax(r->boxed, (fmax(sent, real) - (more - most)) / most);
        if (!(sent <= more) || !(real <= more))
            blame(r, "body%d leaves its box along %c: sent %.6g, robot %.6g, limit %.6g m", i, "xyz"[a], sent,
                  real, most);
    }
}

/* The robot itself. It is never faster than its limit. Where it does not do what it is sent and is let go, it
 * makes at once what it was sent since: over its delay, the ten cycles in which that is recognised, two of a
 * gap, and the time in which the command turns. */
static void judge_robot(run *r, int i) {
    const track *t = &r->body[i];
    const body_drawn *b = &r->drawn.body[i];
    const double T = r->drawn.cycle, most = b->limit[0][0];
    const bool lets_go = hits(r) & HITS_ROBOT;
    double fastest = 0.0;
    uint64_t when = 0;
    for (uint64_t k = 1; k < r->cycles; k++) {
        const double v = root(ff_vec3_sub(t->real[k].p, t->real[k - 1].p)) / T;
        if (v > fastest) {
            fastest = v;
            when = k;
        }
    }
    const double until = 12.0 * T + b->delay + most / b->limit[0][1] + b->limit[0][1] / b->limit[0][2];
    if (!(fastest <= most * (lets_go ? until / T : 1.01) + 2.0 * grain[0] / T))
        blame(r, "body%d's robot makes %.6g m/s, limit %.6g, in cycle %llu", i, fastest, most,
              (unsigned long long)when);
}

/* From the cycle of the trip on: at rest within the time of a stop from there and five cycles; what follows
 * is a retreat of 5 mm at most, and everything stands at the end. */
static void judge_rest(run *r, int i, long trip) {
    const track *t = &r->body[i];
    const body_drawn *b = &r->drawn.body[i];
    const double T = r->drawn.cycle;
    ff_vec3 d[2], v[2] = {{{0}}}, a[2] = {{{0}}};
    const bool lonely = i > 0 && r->rt.trip.code == FF_TRIP_SILENT && r->rt.trip.body == 0;
    double allowed = 0.0;
    int rest = 0, from = -1, still = 0;
    if (t->count < 4)
        return;
    step_of(&t->at[t->count - 2], &t->at[t->count - 1], d);
    /* not answered any more: at once, or in the stop that another cause has begun */
    const bool begun_again = (r->rt.trip.code == FF_TRIP_RESTART && r->rt.trip.body == i) ||
                             acted_on(r, FF_FAULT_IPOC_JUMP, i) || acted_on(r, FF_FAULT_ROBOT_RESTARTS, i);
    if (!begun_again && (!(root(d[0]) <= 2.0 * grain[0]) || !(root(d[1]) <= 2.0 * grain[1])))
        blame(r, "body%d is sent a motion of %.3g m, %.3g rad at the end", i, root(d[0]), root(d[1]));
    const double last =
        root(ff_vec3_sub(t->real[r->cycles - 1].p, t->real[r->cycles > 1 ? r->cycles - 2 : 0].p));
    if (!(last <= 1e-7) && !(hits(r) & (HITS_SILENT | HITS_WIRE | HITS_ROBOT)))
        blame(r, "body%d's robot moves at the end: %.3g m in a cycle", i, last);
    if (trip < 0 || begun_again || stood(r, i))
        return;
    for (int n = 1; n < t->count; n++) {
        step_of(&t->at[n - 1], &t->at[n], d);
        for (int p = 0; p < 2; p++) {
            const ff_vec3 now = t->at[n].answered ? ff_vec3_scale(1.0 / T, d[p]) : ff_vec3_zero();
            a[p] = ff_vec3_scale(1.0 / T, ff_vec3_sub(now, v[p]));
            v[p] = now;
        }
        /* the answer of the trip's own cycle brakes; the second robot may have had it already. Where the
         * first falls silent, the second is without targets, and its stage brakes by itself after five cycles
         */
        if (from < 0 && (long)t->at[n].k + 1 >= trip + (i > 0) + (lonely ? 5 : 0)) {
            from = n;
            for (int p = 0; p < 2; p++) {
                /* a difference is the mean about the beginning of its cycle: at the end the acceleration may
                 * be a cycle's jerk larger, and the speed by half of what it adds in one */
                const double A = fmin(b->stop[p], b->limit[p][1]), J = b->limit[p][2],
                             acc = fmin(root(a[p]) + J * T, b->limit[p][1]);
                const double speed = root(v[p]) + 0.5 * T * acc + acc * acc / (2.0 * J);
                allowed = fmax(allowed, speed / A + A / J + acc / J);
            }
        }
        const bool stands = root(v[0]) * T <= 2.0 * grain[0] && root(v[1]) * T <= 2.0 * grain[1];
        still = from >= 0 && stands ? still + 1 : 0;
        /* one cycle is where a motion turns, or an answer that was lost; a controller may end before */
        if (still == STILL || (still && n + 1 == t->count)) {
            rest = n - still + 1;
            break;
        }
    }
    if (from < 0)
        return;
    r->longest = fmax(r->longest, rest - from - 1 - allowed / T);
    if (!rest || !((rest - from - 1) * T <= allowed + 5.0 * T + 1e-9))
        blame(r, "body%d rests %d cycles after the trip in cycle %ld, allowed %.1f", i,
              rest ? rest - from - 1 : -1, trip, allowed / T + 5.0);
    const double retreat = 5e-3; /* whatever it is stopped or held by meanwhile */
    for (int n = rest; rest && n < t->count; n++)
        if (!(root(ff_vec3_sub(t->at[n].p, t->at[rest].p)) <= retreat)) {
            blame(r, "body%d goes %.6g m after it stood", i, root(ff_vec3_sub(t->at[n].p, t->at[rest].p)));
            break;
        }
}

/* What the satellite has gained since t = 0. The contact gives at most `safety.energy` and one cycle more, or
 * as many as may be missed in a row: their force is below its limit, and works at the satellite's own speed.
 * Beyond that direct, tdpa, damping  never add anything: tdpa and damping take away, direct does nothing;
 *   impact, fused          may correct what they did before, up to what the contact is due: no more than the
 *                          satellite brought along, for a contact that gives back what it got.
 * tdpa and damping have one observer for all bodies: one may gain what another has lost, the sum counts.
 * While the sensor says what acts on it, no method but direct gains anything, whatever wire and robot do, but
 * the work of the true force in one cycle, or in those that may be missed, which it knows only after that.
 */
static void judge_energy(run *r, int i) {
    const body_drawn *b = &r->drawn.body[i];
    const bool honest = !(hits(r) & (HITS_VALUE | HITS_RECORDS)),
               all = strcmp(r->drawn.method, "tdpa") == 0 || strcmp(r->drawn.method, "damping") == 0;
    double most = 0.0, when = 0.0, E0 = 0.0, work = 0.0;
    for (int n = 0; n < r->rows; n++) {
        double gain = 0.0;
        for (int j = 0; j < r->drawn.bodies; j++)
            gain += j == i || (all && honest) ? r->row[n].energy[j] - r->row[0].energy[j] : 0.0;
        if (gain > most) {
            most = gain;
            when = r->row[n].t;
        }
    }
    for (int j = 0; j < r->drawn.bodies && r->rows; j++) {
        if (j != i && !(all && honest))
            continue;
        const double own = r->row[0].energy[j];
        double peak = 0.0;
        for (uint64_t k = 0; k < r->cycles; k++)
            peak = fmax(peak, r->body[j].force[k]);
        E0 += own;
        /* the force of a cycle is known after it, where telegrams are lost after as many as may be missed */
        work += (hits(r) & HITS_WIRE ? 1 + MISSED : 1) * peak *
                sqrt(2.0 * (own + most) / r->drawn.body[j].mass) * r->drawn.cycle;
    }
    const double v = sqrt(2.0 * (E0 + most) / b->mass), w = sqrt(2.0 * (E0 + most) / b->inertia);
    const char *method = r->drawn.method;
    const bool passive = strcmp(method, "tdpa") == 0 || strcmp(method, "damping") == 0,
               predicts = strcmp(method, "impact") == 0 || strcmp(method, "fused") == 0;
    const double limit =
        (passive || predicts) && honest
            ? 1e-9 * E0 + work
            : b->energy + (1 + MISSED) * b->force * (v + w) * r->drawn.cycle + (predicts ? E0 : 0.0);
    if ((passive || predicts) && honest && limit > 0.0)
        r->gained[passive] = fmax(r->gained[passive], most / limit);
    if (!(most <= limit))
        blame(r, "body%d gains %.6g J of %.6g by %.3f s, allowed %.6g", i, most, E0, when, limit);
}

/* A cause that is named, and that something explains. */
static void judge_cause(run *r) {
    const unsigned hit = hits(r);
    const ff_state state = r->rt.run.safety.state;
    const ff_trip_code code = r->rt.trip.code;
    double touched = 0.0;
    uint64_t held = 0;
    bool at_limit = false; /* a robot that makes up for what it lost is as fast as it may be */
    for (int i = 0; i < r->drawn.bodies; i++) {
        for (uint64_t k = 0; k < r->cycles; k++)
            touched = fmax(touched, r->body[i].force[k]);
        for (int n = 0; n < r->body[i].count; n++)
            held += !r->body[i].at[n].answered;
        for (uint64_t k = 1; k < r->cycles; k++)
            at_limit |= root(ff_vec3_sub(r->body[i].real[k].p, r->body[i].real[k - 1].p)) >=
                        0.99 * r->drawn.body[i].limit[0][0] * r->drawn.cycle;
    }
    const bool forced = touched > 0.0 || hit & HITS_VALUE;
    bool explained = false;
    switch (code) {
    case FF_TRIP_FINISHED:
        explained = true;
        break;
    case FF_TRIP_OPERATOR:
        explained = r->drawn.halt > 0;
        break;
    case FF_TRIP_BOX: /* judge_box says how far it came */
        explained = true;
        break;
    case FF_TRIP_VELOCITY:
    case FF_TRIP_ANGULAR_VELOCITY:
        explained = forced || at_limit || hit & (HITS_ROBOT | HITS_WIRE);
        break;
    case FF_TRIP_ACCELERATION:
    case FF_TRIP_ANGULAR_ACCELERATION:
    case FF_TRIP_JERK:
    case FF_TRIP_FORCE:
    case FF_TRIP_SPIKE:
    case FF_TRIP_ENERGY:
        explained = forced;
        break;
    case FF_TRIP_TRACKING:
    case FF_TRIP_CLIPPED:
    case FF_TRIP_STANDS:
        explained = hit & HITS_ROBOT;
        break;
    case FF_TRIP_LAG:
        explained = forced || held;
        break;
    case FF_TRIP_AGE:
        explained = hit & HITS_RECORDS;
        break;
    case FF_TRIP_RANGE: /* 32 bits of a millionth of a newton */
        explained = hit & HITS_VALUE || touched > 2140.0;
        break;
    case FF_TRIP_SENSOR:
    case FF_TRIP_FROZEN:
        explained = hit & HITS_VALUE;
        break;
    case FF_TRIP_MISSED:
        explained = hit & HITS_WIRE;
        break;
    case FF_TRIP_SILENT:
        explained = injected(r, FF_FAULT_ROBOT_SILENT) || injected(r, FF_FAULT_ROBOT_ABORTS);
        for (int i = 0; i < r->drawn.bodies; i++) /* or the controller has ended RSI */
            explained |= r->facility.rsi[i].late >= 10;
        break;
    case FF_TRIP_RESTART:
        explained = injected(r, FF_FAULT_ROBOT_RESTARTS) || injected(r, FF_FAULT_IPOC_JUMP);
        break;
    case FF_TRIP_LATE:
        /* an old telegram of which the loop knows only a spoilt copy is new to it, and a cycle late */
        explained = hit & HITS_ANSWERS || (injected(r, FF_FAULT_ROB_REORDERED) && hit & HITS_WIRE);
        break;
    case FF_TRIP_CONTROLLER:
        explained = hit & HITS_SIGNAL && r->drawn.signals;
        break;
    default:
        break;
    }
    const bool orderly = code == FF_TRIP_FINISHED || code == FF_TRIP_OPERATOR;
    if (state != (orderly ? FF_STATE_HOLD : FF_STATE_FAULT))
        blame(r, "ends in %s by %s", ff_state_name(state), ff_trip_name(code));
    if (orderly && signalled(r))
        blame(r, "ends by %s although a controller's signals have changed", ff_trip_name(code));
    if (!explained)
        blame(r, "nothing explains %s", ff_trip_name(code));
    if (!r->rt.run.message[0] && !orderly)
        blame(r, "no message");
}

/* -------------------------------------------------------------------------------------------------- run --
 */

static run *go(uint64_t seed, int number) {
    run *r = calloc(1, sizeof *r);
    char message[256];
    draw_run(seed, number, &r->drawn);
    load(&r->scenario, r->drawn.text, NULL, 0);
    r->both = (sides){.scenario = &r->scenario,
                      .truth = &r->scenario,
                      .facility_options = {.lockstep = true, .watch = watch, .received = received, .user = r},
                      .options = {.wait = 30.0},
                      .sink = {.self = r, .row = keep_row},
                      .facility = &r->facility,
                      .rt = &r->rt};
    assert_int_equal(ff_plan_create(&r->scenario, &r->plan, message, sizeof message), FF_OK);
    run_sides(&r->both);
    return r;
}

static void judge(run *r) {
    const long trip = r->rt.last_count ? trip_cycle(r) : -1;
    for (int i = 0; i < r->drawn.bodies; i++) {
        judge_sent(r, i);
        judge_box(r, i);
        judge_robot(r, i);
        judge_rest(r, i, trip);
        judge_energy(r, i);
    }
    judge_cause(r);
}

static void test_random_faults(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    const char *only = getenv("FF_RUN");
    const char *more = getenv("FF_RUNS");
    const int count = more ? atoi(more) : test_count(60, 2000), first = only ? atoi(only) : 0,
              end = only ? first + 1 : count;
    int bad = 0, codes[FF_TRIP_CODES] = {0};
    double worst[2][3] = {{0}}, longest = 0.0, boxed = 0.0, gained[2] = {0};
    for (int n = first; n < end; n++) {
        run *r = go(seed, n);
        judge(r);
        codes[r->rt.trip.code]++;
        longest = fmax(longest, r->longest);
        boxed = fmax(boxed, r->boxed);
        for (int p = 0; p < 2; p++)
            gained[p] = fmax(gained[p], r->gained[p]);
        for (int p = 0; p < 2; p++)
            for (int o = 0; o < 3; o++)
                worst[p][o] = fmax(worst[p][o], r->worst[p][o]);
        if (r->notes || only) {
            bad += r->notes > 0;
            print_message("run %d, FF_SEED=%llu FF_RUN=%d: %s by %s: %s | %s\n", n, (unsigned long long)seed,
                          n, ff_state_name(r->rt.run.safety.state), ff_trip_name(r->rt.trip.code),
                          r->rt.run.message, r->facility.message);
            for (int m = 0; m < r->notes; m++)
                print_message("  %s\n", r->note[m]);
            puts(r->drawn.text); /* longer than a message may be */
        }
        free(r->rt.last);
        free(r);
    }
    for (int c = 0; c < FF_TRIP_CODES; c++)
        if (codes[c])
            print_message("%s %d  ", ff_trip_name((ff_trip_code)c), codes[c]);
    print_message("\nlargest of what was sent, over its limit: velocity %.4f, acceleration %.4f, jerk %.4f; "
                  "rotation %.4f, %.4f, %.4f; box %.4f; longest stop %.1f cycles beyond its time; impact "
                  "and fused gain %.2f of the energy that is allowed, tdpa and damping %.2f\n",
                  worst[0][0], worst[0][1], worst[0][2], worst[1][0], worst[1][1], worst[1][2], boxed,
                  longest, gained[0], gained[1]);
    if (bad)
        fail_msg("%d of %d runs", bad, end - first);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
