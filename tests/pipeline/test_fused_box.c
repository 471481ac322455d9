/* fused in random boxes: a body whose tip bounces between six walls, at its CoM or off it, spinning, with and
 * without noise. What is judged is what a robot feels, and what is left of the motion: no command beyond the
 * limits of the output stage, no energy gained or, beyond three of its own standard deviations, lost, and in
 * the long form no force beyond three times the largest of the reference but in one box of a hundred.
 *
 *   FF_BOXES=n  so many    FF_BOX=i  this one alone    FF_SECONDS=s  so long    FF_NOISE=N  that noise in all
 *   FF_KEEP=folder  their scenarios, to run by hand */
#include "pipeline/draw.h"
#include "run_support.h"

#include "freefloat/fidelity.h"
#include "freefloat/output.h"

static ff_scenario scenario;
static ff_metrics metrics;

/* ------------------------------------------------------------------------------------------------- draws --
 */

/* 6 to 12 cm wide, elastic; 36 to 112 samples in contact, w tau up to .9: contacts often overlap. */
static void compose(ff_rng *rng, double noise, double duration, text *t) {
    const double mass = exp(ff_rng_range(rng, log(50), log(500))),
                 w = exp(ff_rng_range(rng, log(7), log(22)));
    const double half = ff_rng_range(rng, .03, .06), speed = ff_rng_range(rng, .03, .11),
                 delay = ff_rng_uniform(rng) < .5 ? .016 : .04;
    const bool lever = ff_rng_uniform(rng) < .7;
    const ff_vec3 velocity = ff_vec3_scale(speed, direction(rng));
    const ff_vec3 tip = ff_vec3_scale(lever ? ff_rng_range(rng, .05, .6) : 0, direction(rng));
    const ff_vec3 rate = ff_vec3_scale(lever ? ff_rng_range(rng, 0, .05) : 0, direction(rng));
    ff_vec3 inertia = ff_vec3_make(.17, .22, .28);
    for (int i = 0; i < 3; i++)
        inertia.a[i] *= mass * ff_rng_range(rng, .9, 1.1);
    t->used = 0;
    say(t, "name: box\ntime: {cycle: 0.004, duration: %.12g, seed: %d}\nmethod: fused\nsatellites:\n  sat:\n",
        duration, 1 + (int)(ff_rng_uniform(rng) * 1e6));
    say(t, "    mass: %.12g\n    inertia: " V3 "\n    velocity: " V3 "\n    angular_velocity: " V3 "\n", mass,
        OF(inertia), OF(velocity), OF(rate));
    say(t, "    robot: {kind: delay, delay: %.12g}\n    points: {tip: " V3 "}\n", delay, OF(tip));
    if (noise > 0)
        say(t, "    sensor: {kind: noisy, force_noise: %.12g, torque_noise: %.12g}\n", noise, .03 * noise);
    say(t, "contacts:\n");
    for (int i = 0; i < 6; i++) {
        ff_vec3 n = ff_vec3_zero();
        n.a[i / 2] = i % 2 ? 1 : -1;
        const ff_vec3 at = ff_vec3_axpy(-half, n, tip);
        say(t,
            "  - {name: %c%c, kind: wall, body: sat, point: tip, at: " V3 ", normal: " V3
            ", stiffness: %.12g, damping: 0}\n",
            'x' + i / 2, i % 2 ? 'm' : 'p', OF(at), OF(n), mass * w * w);
    }
}

/* ------------------------------------------------------------------------------------------------ judged --
 */

/* Largest size of a command's differences: velocity, acceleration, jerk. */
typedef struct motion {
    int known;
    ff_vec3 last[3];
    double most[3];
} motion;

static void differ(motion *m, ff_vec3 step, double cycle) {
    ff_vec3 d = ff_vec3_scale(1 / cycle, step);
    for (int i = 0; i < 3; i++) {
        const ff_vec3 before = m->last[i];
        m->last[i] = d;
        m->most[i] = fmax(m->most[i], ff_vec3_norm(d));
        if (i >= m->known)
            break;
        d = ff_vec3_scale(1 / cycle, ff_vec3_sub(d, before));
    }
    m->known++;
}

typedef struct watch {
    bool begun;
    ff_pose last;
    motion place, turn;
    double force, lag, energy, ideal, start, most;
    double energy_sd; /* as the method reports it */
    uint64_t at_force;
} watch;

static ff_status watch_row(void *self, const ff_row *row) {
    watch *w = self;
    const ff_row_body *b = &row->body[0];
    w->most = fmax(w->most, b->energy.kinetic);
    if (row->final)
        return FF_OK;
    bool touches = b->in_contact; /* then a part of the energy is in the surface */
    for (int i = 0; i < scenario.contacts; i++)
        touches |= row->touching[i];
    if (!touches && !b->settling) {
        const double *sd = ff_method_value(&ff_method_fused, false, b->report, "energy_sd_J");
        w->energy = b->energy.kinetic;
        w->energy_sd = b->reports > 0 && sd ? *sd : 0;
    }
    if (!w->begun)
        w->start = b->energy.kinetic;
    else {
        differ(&w->place, ff_vec3_sub(b->command.T.p, w->last.p), scenario.cycle);
        differ(&w->turn, ff_quat_log(ff_quat_mul(ff_quat_conj(w->last.q), b->command.T.q)), scenario.cycle);
    }
    w->begun = true;
    w->last = b->command.T;
    w->lag = fmax(w->lag, b->lag);
    if (ff_vec3_norm(b->measured_b.f) > w->force) {
        w->force = ff_vec3_norm(b->measured_b.f);
        w->at_force = row->k;
    }
    return FF_OK;
}

static void keep(const text *t, int i) {
    const char *folder = getenv("FF_KEEP");
    char path[512];
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/box_%d.yaml", folder, i);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(t->at, 1, t->used, file);
    fclose(file);
}

/* Whether the force stays below three times the reference's. */
static bool run_box(uint64_t seed, int i, double noise, double duration) {
    static text t;
    ff_rng rng;
    ff_rng_seed(&rng, seed, 100 + (uint64_t)i);
    compose(&rng, noise, duration, &t);
    keep(&t, i);
    char message[256] = "", warnings[512] = "";
    if (ff_scenario_parse("text", t.at, t.used, NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s\n%s", message, t.at);
    ff_ideal_result ideal;
    ff_run_result result;
    watch w = {0};
    test_run(&scenario, (ff_sink){.self = &w, .row = watch_row}, &metrics, &ideal, &result);
    double most = 0; /* also of walls together */
    for (int c = 0; c < ideal.contacts; c++)
        most = fmax(most, ideal.contact[c].peak_force);
    for (uint64_t n = 0; n < ideal.samples; n++)
        most = fmax(most, ff_vec3_norm(ideal.contact_load[n].force));
    print_message(
        "box %3d, %.1f N: step %5.3f mm, %6.3f m/s2, %6.1f m/s3; turning %6.3f, %6.1f; behind %5.2f "
        "mm; force %.3f of %.1f N at %.3f s; energy %.5f, sd %.5f; %d contacts\n",
        i, noise, 1e3 * w.place.most[0] * scenario.cycle, w.place.most[1], w.place.most[2], w.turn.most[1],
        w.turn.most[2], 1e3 * w.lag, w.force / most, most, (double)w.at_force * scenario.cycle,
        w.energy / w.start, w.energy_sd / w.start, ideal.contacts);
    ff_output_config limits;
    ff_scenario_watched_output(&scenario, 0, &limits);
    /* differences of poses in the log's doubles: 1e-16 m / T^3 is 2e-9 m/s3 */
    const bool smooth = w.place.most[1] < limits.acceleration * (1 + 1e-6) &&
                        w.place.most[2] < limits.jerk * (1 + 1e-6) &&
                        w.turn.most[1] < limits.angular_acceleration * (1 + 1e-6) &&
                        w.turn.most[2] < limits.angular_jerk * (1 + 1e-6);
    const bool passive = w.most < w.start * (1 + 1e-12), gentle = !(w.force > 3 * most);
    /* of the last flight; 1e-3 for boxes whose contacts are all but exact */
    const bool honest = !(w.start - w.energy > 3 * w.energy_sd + 1e-3 * w.start);
    if (!smooth || !passive || !gentle || !honest)
        print_message("  not as it must be:%s%s%s%s\n", smooth ? "" : " command", passive ? "" : " energy",
                      gentle ? "" : " force", honest ? "" : " energy's deviation");
    assert_true(smooth && passive && honest);
    ff_metrics_free(&metrics);
    ff_ideal_free(&ideal);
    return gentle;
}

static void test_boxes(void **unused) {
    (void)unused;
    const uint64_t seed = test_seed();
    const char *count = getenv("FF_BOXES"), *only = getenv("FF_BOX"), *seconds = getenv("FF_SECONDS"),
               *noise = getenv("FF_NOISE");
    const int boxes = count ? atoi(count) : test_count(4, 200);
    const double duration = seconds ? atof(seconds) : test_count(12, 60);
    int wrong = 0;
    for (int i = 0; i < boxes; i++)
        if (!only || i == atoi(only))
            wrong += !run_box(seed, i, noise ? atof(noise) : i % 2 ? .2 : 0, duration);
    print_message("%d of %d beyond three times the reference's largest force\n", wrong, boxes);
    if (boxes >= 50)
        assert_true(wrong <= boxes / 100);
}

static void test_an_hour(void **unused) {
    (void)unused;
    if (!test_long())
        return;
    const uint64_t seed = test_seed();
    assert_true(run_box(seed, 1000, 0, 3600));
    assert_true(run_box(seed, 1001, .2, 3600));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boxes), cmocka_unit_test(test_an_hour)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
