/* One run of the random campaign: a body or two before walls, a method, limits, and 1 to 4 faults. What is
 * drawn is kept in plain numbers for the judge, and written as a scenario for the product. */
#ifndef FF_TESTS_RT_CAMPAIGN_DRAW_H
#define FF_TESTS_RT_CAMPAIGN_DRAW_H

#include "support.h"

#include "scenario/scenario.h"

enum { FAULTS_MOST = 4 };

/* What a fault can be the reason of, for the judge. */
enum {
    HITS_WIRE = 1,     /* telegrams of the robot, or the answers to them */
    HITS_ANSWERS = 2,  /* the answers: the controller calls them late */
    HITS_ROBOT = 4,    /* it does not do what it is sent */
    HITS_VALUE = 8,    /* what the sensor says is not what acts on it */
    HITS_RECORDS = 16, /* which of its records come */
    HITS_SILENT = 32,  /* the controller falls silent, or ends RSI */
    HITS_PLANT = 64,   /* the facility is not as the scenario has it */
    HITS_SIGNAL = 128  /* what the controller says of itself, where it does */
};

typedef struct kind_drawn {
    ff_fault_kind kind;
    const char *word;
    double low, high; /* of its value */
    unsigned hits;
    double most; /* [cycles] it lasts at most; 0: may last to the end; < 0: of the set-up, always there */
    double weight;
} kind_drawn;

static const kind_drawn kinds_drawn[] = {
    {FF_FAULT_ROB_LOST, "rob-lost", 0, 0, HITS_WIRE, 12, 3},
    {FF_FAULT_ROB_LATE, "rob-late", 0, 0.004, HITS_WIRE, 60, 1},
    {FF_FAULT_ROB_REPEATED, "rob-repeated", 0, 0, HITS_WIRE, 60, 1},
    {FF_FAULT_ROB_REORDERED, "rob-reordered", 0, 0, HITS_WIRE, 60, 1},
    {FF_FAULT_ROB_CORRUPT, "rob-corrupt", 0, 0, HITS_WIRE, 8, 1},
    {FF_FAULT_ROB_CUT, "rob-cut", 0, 0, HITS_WIRE, 8, 1},
    {FF_FAULT_ROB_NAN, "rob-nan", 0, 0, HITS_WIRE, 8, 1},
    {FF_FAULT_ROB_EMPTY, "rob-empty", 0, 0, HITS_WIRE, 8, 1},
    {FF_FAULT_ROB_LONG, "rob-long", 0, 0, HITS_WIRE, 8, 1},
    {FF_FAULT_ROB_INCOMPLETE, "rob-incomplete", 0, 0, HITS_WIRE, 8, 1},
    {FF_FAULT_IPOC_JUMP, "ipoc-jump", 0, 0, HITS_WIRE, 2, 1},
    {FF_FAULT_ROBOT_SILENT, "robot-silent", 0, 0, HITS_WIRE | HITS_SILENT, 30, 0.7},
    {FF_FAULT_ROBOT_STUCK, "robot-stuck", 0, 0, HITS_ROBOT, 80, 2},
    {FF_FAULT_ROBOT_JUMP, "robot-jump", -0.05, 0.05, HITS_ROBOT, 20, 1},
    {FF_FAULT_ROBOT_SLOW, "robot-slow", 0.05, 0.9, HITS_ROBOT, 80, 1},
    {FF_FAULT_ROBOT_CLIPPED, "robot-clipped", 0, 0, HITS_ROBOT, 0, 1},
    {FF_FAULT_ROBOT_ABORTS, "robot-aborts", 0, 0, HITS_SILENT, 1, 0.4},
    {FF_FAULT_ANSWER_LOST, "answer-lost", 0, 0, HITS_WIRE | HITS_ANSWERS | HITS_SILENT, 12, 3},
    {FF_FAULT_ANSWER_LATE, "answer-late", 0, 0, HITS_WIRE | HITS_ANSWERS | HITS_SILENT, 12, 2},
    {FF_FAULT_FT_LOST, "ft-lost", 0, 0, HITS_RECORDS, 12, 1},
    {FF_FAULT_FT_REPEATED, "ft-repeated", 0, 0, HITS_RECORDS, 60, 1},
    {FF_FAULT_FT_REORDERED, "ft-reordered", 0, 0, HITS_RECORDS, 60, 1},
    {FF_FAULT_FT_CORRUPT, "ft-corrupt", 0, 0, HITS_RECORDS, 12, 1},
    {FF_FAULT_FT_SILENT, "ft-silent", 0, 0, HITS_RECORDS, 0, 1},
    {FF_FAULT_FT_FROZEN, "ft-frozen", 0, 0, HITS_RECORDS | HITS_VALUE, 60, 1},
    {FF_FAULT_FT_STUCK, "ft-stuck", 0, 0, HITS_RECORDS | HITS_VALUE, 60, 1},
    {FF_FAULT_FT_SATURATED, "ft-saturated", 0, 0, HITS_VALUE, 20, 1},
    {FF_FAULT_FT_BROKEN, "ft-broken", 0, 0, HITS_VALUE, 20, 1},
    {FF_FAULT_FT_DRIFT, "ft-drift", -100, 100, HITS_VALUE, 0, 2},
    {FF_FAULT_FT_SPIKE, "ft-spike", -400, 400, HITS_VALUE, 2, 2},
    {FF_FAULT_FT_OFFSET, "ft-offset", -650, 650, HITS_VALUE, 0, 2},
    {FF_FAULT_FT_RESTART, "ft-restart", 0, 0, HITS_RECORDS, 2, 1},
    {FF_FAULT_STRANGER, "stranger", 0, 0, 0, 60, 1},
    {FF_FAULT_JITTER, "jitter", 0, 0.002, HITS_WIRE | HITS_RECORDS, 60, 1},
    {FF_FAULT_CLOCK_STEP, "clock-step", 0, 0.01, HITS_WIRE, 1, 1},
    {FF_FAULT_FT_FLOOD, "ft-flood", 1, 600, HITS_RECORDS, 8, 0.5},
    {FF_FAULT_SECOND_CLIENT, "second-client", 0, 0, HITS_RECORDS, 1, 0.5},
    {FF_FAULT_FT_SWAPPED, "ft-swapped", 0, 0, HITS_VALUE, -1, 0.5},
    {FF_FAULT_FT_MIRRORED, "ft-mirrored", 1, 6.99, HITS_VALUE, -1, 1},
    {FF_FAULT_FT_TURNED, "ft-turned", -180, 180, HITS_VALUE, -1, 1},
    {FF_FAULT_FT_DEAF, "ft-deaf", 0, 0, HITS_VALUE, -1, 1},
    {FF_FAULT_ROBOT_LATER, "robot-later", 0, 0.02, HITS_PLANT, -1, 1},
    {FF_FAULT_WALL_HARDER, "wall-harder", 1, 20, HITS_PLANT, -1, 1},
    {FF_FAULT_FT_FAST, "ft-fast", 2, 64, 0, -1, 2},
    {FF_FAULT_ROBOT_RESTARTS, "robot-restarts", -1, 1, HITS_WIRE | HITS_SILENT, 9, 2},
    {FF_FAULT_KRC_MODE, "krc-mode", 1, 4.99, HITS_SIGNAL, 60, 1},
    {FF_FAULT_KRC_DRIVES, "krc-drives", 0, 0, HITS_SIGNAL | HITS_ROBOT, 80, 1},
    {FF_FAULT_KRC_ESTOP, "krc-estop", 0, 0, HITS_SIGNAL | HITS_ROBOT, 80, 1},
    {FF_FAULT_KRC_OVERRIDE, "krc-override", -60, 100.99, HITS_SIGNAL | HITS_ROBOT, 80, 1}, /* below 0: 0 */
    {FF_FAULT_KRC_PROGRAM, "krc-program", 0, 0, HITS_SIGNAL | HITS_ROBOT, 80, 1},
    {FF_FAULT_KRC_LOST, "krc-lost", 0, 5.99, HITS_SIGNAL, 60, 1},
};

typedef struct body_drawn {
    ff_vec3 p, v, w;
    double mass, inertia, delay;
    double limit[2][3]; /* translation, rotation: velocity, acceleration, jerk */
    double stop[2];     /* accelerations of a stop */
    ff_vec3 box;
    double force, energy;
} body_drawn;

typedef struct run_drawn {
    const char *method;
    int bodies, faults;
    double cycle, duration;
    body_drawn body[2];
    bool signals; /* the controllers say mode, drives, emergency stop, override, program */
    struct {
        int kind; /* of kinds_drawn */
        int body;
        double value;
    } fault[FAULTS_MOST];
    uint64_t halt; /* the operator's stop, so many cycles after the first motion; 0: none */
    char text[4096];
} run_drawn;

typedef struct pen {
    char *text;
    size_t size, used;
} pen;

static inline void put(pen *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void put(pen *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(p->text + p->used, p->size - p->used, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < p->size - p->used);
    p->used += (size_t)n;
}

static inline double between(ff_rng *rng, double low, double high) {
    return ff_rng_range(rng, low, high);
}

static inline double by_ratio(ff_rng *rng, double low, double high) {
    return low * exp(ff_rng_uniform(rng) * log(high / low));
}

static inline bool chance(ff_rng *rng, double p) {
    return ff_rng_uniform(rng) < p;
}

/* A number as the scenario will have it. */
static inline double written(double x) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    return strtod(text, NULL);
}

/* Limits as keys of one section: `names` of those that this section has. */
static inline void put_limits(pen *p, const body_drawn *b, bool angular_jerk) {
    put(p, "velocity: %.6g, acceleration: %.6g, jerk: %.6g, ", b->limit[0][0], b->limit[0][1],
        b->limit[0][2]);
    put(p, "angular_velocity: %.6g, angular_acceleration: %.6g", b->limit[1][0], b->limit[1][1]);
    if (angular_jerk)
        put(p, ", angular_jerk: %.6g", b->limit[1][2]);
}

/* Speeds, limits that a run may begin with, and a wall ahead. */
static inline void draw_body(ff_rng *rng, run_drawn *r, int i, pen *satellites, pen *contacts) {
    body_drawn *b = &r->body[i];
    const double speed = written(by_ratio(rng, 0.01, 0.25)), turn = by_ratio(rng, 0.005, 0.2);
    const bool direct = strcmp(r->method, "direct") == 0;
    b->mass = written(by_ratio(rng, 30, 500));
    b->inertia = written(0.1 * b->mass);
    b->delay = r->cycle * floor(between(rng, 1, 6));
    b->p = ff_vec3_make(0.0, i ? 1.0 : 0.0, 0.0);
    b->v = ff_vec3_make(speed, written(0.2 * speed * between(rng, -1, 1)),
                        written(0.2 * speed * between(rng, -1, 1)));
    for (int a = 0; a < 3; a++)
        b->w.a[a] = written(chance(rng, 0.5) ? turn * between(rng, -1, 1) : 0.0);
    /* contacts that the check lets pass: omega tau below its bound */
    const double omega = fmin(between(rng, 0.05, direct ? 0.45 : 0.9) / (b->delay + r->cycle),
                              700.0 / (b->mass * speed)); /* and the sensor measures */
    const double noise = chance(rng, 0.5) ? 0.05 : 0.0;
    const double k = written(b->mass * omega * omega), c = written(between(rng, 0, 0.3) * b->mass * omega);
    const double peak = ff_vec3_norm(b->v) * b->mass * omega * exp(omega * (b->delay + r->cycle));
    const double speed_most = ff_vec3_norm(b->v), turn_most = ff_vec3_norm(b->w);
    b->limit[0][0] = written(speed_most * by_ratio(rng, 1.05, 4));
    b->limit[0][1] = written(by_ratio(rng, 0.3, 8));
    b->limit[0][2] = written(b->limit[0][1] / by_ratio(rng, 0.004, 0.08));
    b->limit[1][0] = written(fmax(0.02, turn_most) * by_ratio(rng, 1.05, 4));
    b->limit[1][1] = written(by_ratio(rng, 0.3, 8));
    b->stop[0] = written(by_ratio(rng, 0.2, 3));
    b->stop[1] = written(by_ratio(rng, 0.2, 3));
    b->force = written(peak * by_ratio(rng, 1.02, 4));
    b->energy = written(1e-3 + 0.5 * b->mass * speed_most * speed_most * by_ratio(rng, 0.02, 2));
    const bool apart = chance(rng, 0.5); /* `limits` bound what is sent, `safety` trips as well */
    b->limit[1][2] = apart ? written(b->limit[1][1] / by_ratio(rng, 0.004, 0.08)) : 5000.0;
    for (int a = 0; a < 3; a++)
        b->box.a[a] = written(0.02 + fabs(b->v.a[a]) * by_ratio(rng, 0.4, 3));
    put(satellites,
        "  body%d: {mass: %.6g, inertia: [%.6g, %.6g, %.6g], position: [%g, %g, %g],\n"
        "    velocity: [%.6g, %.6g, %.6g], angular_velocity: [%.6g, %.6g, %.6g], check: {push: skip},\n"
        "    robot: {kind: delay, delay: %.6g}, sensor: {kind: noisy, force_noise: %g, torque_noise: %g},\n  "
        "  ",
        i, b->mass, b->inertia, b->inertia, b->inertia, b->p.x, b->p.y, b->p.z, b->v.x, b->v.y, b->v.z,
        b->w.x, b->w.y, b->w.z, b->delay, noise, chance(rng, 0.5) ? 0.005 : 0.0);
    if (apart) {
        put(satellites, "limits: {");
        put_limits(satellites, b, true);
        put(satellites, "},\n    ");
    }
    put(satellites, "safety: {");
    if (!apart) {
        put_limits(satellites, b, false);
        put(satellites, ", ");
    }
    put(satellites,
        "box: [%.6g, %.6g, %.6g], force: %.6g, energy: %.6g, stop_acceleration: %.6g, "
        "stop_angular_acceleration: %.6g",
        b->box.x, b->box.y, b->box.z, b->force, b->energy, b->stop[0], b->stop[1]);
    if (chance(rng,
               0.3)) /* the noise alone, 0.05 sqrt(2) N on each axis, reaches 0.6 N once in 1e15 cycles */
        put(satellites, ", spike: %.6g", written(fmax(0.6, b->force * by_ratio(rng, 0.1, 1))));
    put(satellites, "}}\n");
    put(contacts,
        "  - {name: wall%d, kind: wall, body: body%d, at: [%.6g, 0, 0], normal: [-1, 0, 0], "
        "stiffness: %.6g, damping: %.6g}\n",
        i, i, written(speed * r->duration * between(rng, 0.1, 1.2)), k, c);
}

static inline int draw_kind(ff_rng *rng) {
    const int count = (int)(sizeof kinds_drawn / sizeof *kinds_drawn);
    double all = 0.0;
    for (int n = 0; n < count; n++)
        all += kinds_drawn[n].weight;
    double left = all * ff_rng_uniform(rng);
    int n = 0;
    while (n < count - 1 && (left -= kinds_drawn[n].weight) > 0.0)
        n++;
    return n;
}

/* Times count from the first motion: the run-up takes half a second and more, the stop follows the run. */
static inline void draw_faults(ff_rng *rng, run_drawn *r, pen *p) {
    r->faults = 1 + (int)(ff_rng_uniform(rng) * FAULTS_MOST) % FAULTS_MOST;
    r->signals = chance(rng, 0.5);
    put(p, "facility:\n  signals: %s\n  faults:\n", r->signals ? "on" : "off");
    double last = 0.0;
    for (int n = 0; n < r->faults; n++) {
        const kind_drawn *kind = &kinds_drawn[r->fault[n].kind = draw_kind(rng)];
        r->fault[n].body = chance(rng, 0.5) && r->bodies > 1;
        double value = between(rng, kind->low, kind->high);
        if (kind->kind == FF_FAULT_FT_MIRRORED || kind->kind == FF_FAULT_FT_FLOOD ||
            kind->kind == FF_FAULT_FT_FAST || kind->hits & HITS_SIGNAL)
            value = fmax(0.0, floor(value));
        if (kind->kind == FF_FAULT_ROBOT_RESTARTS && !r->signals) /* would leave no trace */
            value = fmin(value, 0.0);
        r->fault[n].value = value;
        /* often in the wake of the one before */
        const double from = n && chance(rng, 0.5) ? last + r->cycle * floor(by_ratio(rng, 1, 60))
                                                  : between(rng, 0.0, r->duration + 1.0);
        const double cycles = floor(by_ratio(rng, 1, kind->most > 0 ? kind->most + 0.99 : 200));
        last = r->cycle * floor(from / r->cycle);
        put(p, "    - {kind: %s, body: body%d, value: %.6g", kind->word, r->fault[n].body, value);
        if (kind->most >= 0)
            put(p, ", from: %.4f", fmax(0.0, last - 0.5 * r->cycle));
        if (kind->most > 0 || (kind->most == 0 && chance(rng, 0.5)))
            put(p, ", to: %.4f", last + r->cycle * (cycles - 0.5));
        if (kind->most > 0 && cycles > 4 && chance(rng, 0.3))
            put(p, ", probability: %.3f", between(rng, 0.05, 0.9));
        put(p, "}\n");
    }
}

static inline void draw_run(uint64_t seed, int number, run_drawn *r) {
    static const char *const methods[] = {"direct", "tdpa", "damping", "impact", "fused"};
    char satellites[2048] = "", contacts[512] = "";
    pen all = {r->text, sizeof r->text, 0}, s = {satellites, sizeof satellites, 0},
        c = {contacts, sizeof contacts, 0};
    ff_rng rng;
    ff_rng_seed(&rng, seed, (uint64_t)number);
    *r = (run_drawn){.method = methods[number % 5], .cycle = 0.004};
    r->bodies = chance(&rng, 0.2) ? 2 : 1;
    r->duration = 0.004 * floor(between(&rng, 75, 200));
    for (int i = 0; i < r->bodies; i++)
        draw_body(&rng, r, i, &s, &c);
    if (chance(&rng, 0.1))
        r->halt = (uint64_t)between(&rng, 1.0, (r->duration + 1.0) / r->cycle);
    put(&all, "name: campaign\ntime: {cycle: %g, duration: %g, seed: %u}\nmethod: %s\nsatellites:\n%s",
        r->cycle, r->duration, (unsigned)(ff_rng_uniform(&rng) * 1e6), r->method, satellites);
    put(&all, "contacts:\n%s", contacts);
    draw_faults(&rng, r, &all);
}

#endif
