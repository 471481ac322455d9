/* Runs that end when what is asked of them is final: never before, and with the same table. */
#include "campaign/settled.h"
#include "campaign/worker.h"
#include "support.h"

#include <dirent.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------- the rest of the run -- */

/* Continues to the end and looks whether what `over` promised came true. */
typedef struct witness {
    const ff_settled *settled;
    uint64_t at; /* row in which it was known; 0: never */
    int episodes;
    ff_row_body body[FF_MAX_BODIES];
    bool broken;
} witness;

static ff_status watch(void *self, const ff_row *row) {
    witness *w = self;
    const ff_scenario *scenario = w->settled->scenario;
    if (!w->settled->over)
        return FF_OK;
    if (!w->at) {
        w->at = row->k;
        w->episodes = w->settled->metrics->episodes;
        memcpy(w->body, row->body, sizeof w->body);
    }
    for (int c = 0; c < scenario->contacts; c++)
        w->broken |= row->touching[c];
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_rigid_state *s = &row->body[i].satellite, *then = &w->body[i].satellite;
        w->broken |= memcmp(&s->velocity, &then->velocity, sizeof s->velocity) != 0;
        w->broken |= memcmp(&s->omega, &then->omega, sizeof s->omega) != 0;
    }
    return FF_OK;
}

/* The whole run; returns the row from which on it was settled, 0: never. */
static uint64_t run_whole(const char *text) {
    static ff_scenario scenario;
    char message[1024] = "", warnings[1024];
    if (ff_scenario_parse("t", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s\n%s", message, text);
    ff_metrics metrics;
    assert_int_equal(ff_metrics_init(&scenario, &metrics), FF_OK);
    ff_settled settled;
    ff_settled_begin(&settled, &scenario, &metrics);
    witness w = {.settled = &settled};
    const ff_sink sinks[3] = {
        ff_metrics_sink(&metrics), ff_settled_sink(&settled), {.self = &w, .row = watch}};
    const ff_run_options options = {.sinks = sinks, .count = 3};
    ff_run_result result;
    ff_run(&scenario, &options, &result);
    if (w.at && (w.broken || result.status != FF_OK || metrics.episodes != w.episodes))
        fail_msg("settled at row %llu, but then: %s, contacts %d -> %d, %s\n%s", (unsigned long long)w.at,
                 w.broken ? "touched or changed its velocity" : "flew on", w.episodes, metrics.episodes,
                 result.message, text);
    ff_metrics_free(&metrics);
    return w.at;
}

static const char head[] = "name: t\ntime: {cycle: 0.004, duration: %g}\nmethod: %s\n";

/* Walls on all sides at random, points off the centre, rotation, every robot and sensor that the proof
 * admits: where a run is called settled, the rest of it is free flight. */
static void test_random_runs_never_settle_too_early(void **state) {
    (void)state;
    static const char *const methods[] = {"direct",
                                          "tdpa",
                                          "damping",
                                          "impact",
                                          "fused",
                                          "tdpa\ntdpa: {reading: printed}",
                                          "damping\ndamping: {reading: printed}",
                                          "direct\nintegrator: splitting",
                                          "tdpa\nintegrator: euler"};
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    int settled = 0, early = 0;
    const int cases = test_count(40, 2000);
    for (int n = 0; n < cases; n++) {
        char text[2048];
        const double duration = 3.0;
        int used = snprintf(text, sizeof text, head, duration,
                            methods[(int)ff_rng_range(&rng, 0.0, sizeof methods / sizeof *methods)]);
        const bool centre = ff_rng_uniform(&rng) < 0.5, turns = ff_rng_uniform(&rng) < 0.3;
        const ff_vec3 v = test_random_vec3(&rng, 0.1);
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "satellites:\n  body:\n    mass: %.3f\n    inertia: [20, 30, 40]\n"
                         "    velocity: [%.9g, %.9g, %.9g]\n    angular_velocity: [0, 0, %.9g]\n"
                         "    points: {tip: [%.9g, %.9g, 0.1]}\n",
                         ff_rng_range(&rng, 20.0, 400.0), v.x, v.y, v.z,
                         turns ? ff_rng_range(&rng, -0.1, 0.1) : 0.0, ff_rng_range(&rng, -0.1, 0.1),
                         ff_rng_range(&rng, -0.1, 0.1));
        const double delay = ff_rng_range(&rng, 0.0, 0.06);
        switch ((int)ff_rng_range(&rng, 0.0, 4.0)) {
        case 0:
            break;
        case 1:
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "    robot: {kind: lag, delay: %.6f, frequency: %.3f, damping: %.3f}\n", delay,
                             ff_rng_range(&rng, 4.0, 40.0), ff_rng_range(&rng, 0.7, 2.0));
            break;
        case 2:
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "    robot: {kind: delay, delay: %.6f, jitter: %.6f, lost: %.3f}\n", delay,
                             ff_rng_range(&rng, 0.0, 0.3) * delay, ff_rng_range(&rng, 0.0, 0.3));
            break;
        default:
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "    robot: {kind: delay, delay: %.6f}\n", delay);
        }
        if (ff_rng_uniform(&rng) < 0.5)
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "    sensor: {kind: noisy, delay: %.6f, lost: %.3f}\n",
                             ff_rng_range(&rng, 0.0, 0.02), ff_rng_range(&rng, 0.0, 0.2));
        if (ff_rng_uniform(&rng) < 0.2) {
            const double from = ff_rng_range(&rng, 0.0, duration);
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "loads:\n  - {body: body, force: [%.6f, %.6f, 0], from: %.6f, to: %.6f}\n",
                             ff_rng_range(&rng, -20.0, 20.0), ff_rng_range(&rng, -20.0, 20.0), from,
                             from + ff_rng_range(&rng, 0.01, 0.3));
        }
        used += snprintf(text + used, sizeof text - (size_t)used, "contacts:\n");
        const int walls = 1 + (int)ff_rng_range(&rng, 0.0, 3.0);
        for (int w = 0; w < walls; w++) { /* the first one lies ahead, the others anywhere around */
            const ff_vec3 aside = test_random_vec3(&rng, w ? 1.0 : 0.3),
                          n_w = ff_vec3_unit(w ? aside : ff_vec3_sub(ff_vec3_scale(0.1, aside), v)),
                          at = ff_vec3_scale(-(centre ? 0.0 : 0.2) - ff_rng_range(&rng, 0.01, 0.1), n_w);
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "  - {name: w%d, kind: wall, body: body, point: %s, at: [%.9g, %.9g, %.9g], "
                             "normal: [%.9g, %.9g, %.9g], stiffness: %.3f, damping: %.3f}\n",
                             w, centre ? "com" : "tip", at.x, at.y, at.z, n_w.x, n_w.y, n_w.z,
                             1000.0 * exp(ff_rng_range(&rng, 0.0, 3.0)), ff_rng_range(&rng, 0.0, 100.0));
        }
        assert_true(used < (int)sizeof text);
        const uint64_t at = run_whole(text);
        settled += at > 0;
        early += at > 0 && at < 600;
    }
    print_message("%d of %d settled, %d of them in the first four fifths\n", settled, cases, early);
    assert_true(early > 0);
}

/* What is not known to be final runs to its end; beside each its neighbour that settles. */
static void test_settles_where_it_is_known_and_nowhere_else(void **state) {
    (void)state;
    static const char body[] =
        "satellites:\n  body:\n    mass: 200\n    inertia: [20, 20, 20]\n    velocity: [0.05, 0, 0]\n";
    static const char wall[] =
        "contacts:\n  - {name: right, kind: wall, body: body, at: [0.02, 0, 0], normal: [-1, 0, 0], "
        "stiffness: 20000, damping: 0}\n";
    static const struct {
        double duration;
        const char *method, *more, *contacts;
        bool settles;
    } cases[] = {
        /* the contact lasts from 0.4 s to pi/10 s later */
        {2.0, "direct", "", "", true},
        {2.0, "tdpa", "    robot: {kind: delay, delay: 0.016}\n", "", true},
        {2.0, "damping", "    sensor: {kind: noisy, delay: 0.004}\n", "", true},
        {2.0, "impact", "", "", true},
        {2.0, "fused", "", "", true},
        {2.0, "direct", "    robot: {kind: lag, delay: 0.008, frequency: 20}\n", "", true},
        {2.0, "direct", "    robot: {kind: lag, delay: 0.008, frequency: 20, damping: 0.9}\n", "", false},
        {2.0, "direct", "    robot: {kind: limited, delay: 0.008, velocity: 1}\n", "", false},
        {2.0, "direct", "    sensor: {kind: noisy, force_noise: 0.001}\n", "", false},
        {2.0, "direct", "    sensor: {kind: noisy, bandwidth: 50}\n", "", false},
        {2.0, "direct", "    sensor: {kind: noisy, bias: [0.001, 0, 0, 0, 0, 0]}\n", "", false},
        {2.0, "direct", "    safety: {velocity: 1}\n", "", false},
        {2.0, "direct", "    mockup: {mass: 5}\n", "", false},
        {2.0, "direct\nintegrator: passive", "", "", false},
        {2.0, "ideal", "", "", false},
        /* a wall behind it, 5 cm a second from 0.71 s on: reached in 2 s, and one that is not */
        {2.0, "direct", "",
         "  - {name: left, kind: wall, body: body, at: [-0.03, 0, 0], normal: [1, 0, 0], stiffness: 20000, "
         "damping: 0}\n",
         false},
        {2.0, "direct", "",
         "  - {name: left, kind: wall, body: body, at: [-0.05, 0, 0], normal: [1, 0, 0], stiffness: 20000, "
         "damping: 0}\n",
         true},
        /* a method that predicts may change how far ahead it commands: not towards a wall */
        {2.0, "fused", "",
         "  - {name: left, kind: wall, body: body, at: [-10, 0, 0], normal: [1, 0, 0], stiffness: 20000, "
         "damping: 0}\n",
         false},
        {2.0, "direct", "",
         "  - {name: stop, kind: stops, body: body, position: [9, 9, 9], stiffness: 20000, damping: 0}\n",
         false},
        /* a push that is still to come, and one that is over */
        {2.0, "direct", "", "loads:\n  - {body: body, force: [1, 0, 0], from: 1.9, to: 1.95}\n", false},
        {2.0, "direct", "", "loads:\n  - {body: body, force: [1, 0, 0], from: 0.1, to: 0.2}\n", true},
        {0.8, "direct", "", "", true},
        {0.7, "direct", "", "", false}, /* in contact at the end */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1600];
        int used = snprintf(text, sizeof text, head, cases[i].duration, cases[i].method);
        snprintf(text + used, sizeof text - (size_t)used, "%s%s%s%s", body, cases[i].more, wall,
                 cases[i].contacts);
        const uint64_t at = run_whole(text);
        if ((at > 0) != cases[i].settles)
            fail_msg("case %zu: settled at row %llu\n%s", i, (unsigned long long)at, text);
    }
}

/* --------------------------------------------------------------------------------- shipped campaigns -- */

static void compare_sample(ff_campaign *c, ff_references *references, uint64_t index) {
    static ff_record record[2][FF_CAMPAIGN_METHODS];
    char message[512];
    int count[2];
    for (int whole = 0; whole < 2; whole++) {
        c->settles = !whole;
        ff_worker *worker = ff_worker_create(c, references, NULL, message, sizeof message);
        assert_non_null(worker);
        assert_int_equal(ff_worker_run(worker, index, UINT32_MAX, record[whole], &count[whole]), FF_OK);
        ff_worker_free(worker);
    }
    assert_int_equal(count[0], count[1]);
    for (int m = 0; m < count[0]; m++) {
        const ff_record *a = &record[0][m], *b = &record[1][m];
        assert_int_equal(a->status, b->status);
        assert_string_equal(a->reason, b->reason);
        for (int i = 0; i < c->metrics; i++)
            if (memcmp(&a->metric[i], &b->metric[i], sizeof a->metric[i]) != 0)
                fail_msg("%s, sample %llu, %s, %s: %.17g, to the end %.17g", c->name,
                         (unsigned long long)index, c->method[m].variant.label, c->metric[i].name,
                         a->metric[i], b->metric[i]);
    }
}

/* `until` in the file, and what stands for it where it is not there. */
static void test_until_defaults_to_what_the_metrics_allow(void **state) {
    (void)state;
    static const struct {
        const char *more;
        bool settles;
    } cases[] = {
        {"", true}, /* rebound_error, peak_force_ratio */
        {"until: settled\n", true},
        {"until: end\n", false},
        {"metrics: {a: rebound_error, b: velocity_error}\n", false},
        {"metrics: {a: velocity_error}\nuntil: end\n", false},
        {"metrics: {a: pass}\n", false},
        {"metrics: {a: counters.held}\n", false}, /* found in the text of the summary */
        {"metrics: {a: satellites.body.robot.travel_m}\n", false},
        {"metrics: {a: satellites.body.final.position_m.0}\n", false},
        {"metrics: {a: satellites.body.final.velocity_mps.0, b: energy_ratio, c: contacts, d: omega_tau,\n"
         "  e: satellites.body.contacts.right.peak_force_N, f: satellites.body.max_kinetic_energy_J,\n"
         "  g: satellites.body.error_vs_ideal.peak_force_ratio}\n",
         true},
    };
    char path[] = "/tmp/ff_settled_XXXXXX", message[1024];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    ff_campaign *c = calloc(1, sizeof *c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        const int n =
            snprintf(text, sizeof text,
                     "name: t\nbase: " FF_SOURCE_DIR "/scenarios/wall.yaml\nsamples: 1\n%s", cases[i].more);
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, text, (size_t)n, 0), n);
        if (ff_campaign_load(path, NULL, c, message, sizeof message, NULL, 0) != FF_OK)
            fail_msg("%s", message);
        if (c->settles != cases[i].settles)
            fail_msg("%s: settles %d", cases[i].more, c->settles);
        ff_campaign_free(c);
    }
    free(c);
    close(file);
    unlink(path);
}

/* What nobody asks for is not gathered: beside a metric that needs all of it the others are the same. */
static void test_brief_metrics_are_those_of_whole_ones(void **state) {
    (void)state;
    static const char *const asked =
        "rebound_error, rebound_ratio, peak_force_ratio, energy_ratio, velocity_error, "
        "angular_velocity_error, "
        "contacts, pass, satellites.body.initial.kinetic_energy_J, satellites.body.max_kinetic_energy_J, "
        "satellites.body.final.position_m.2, satellites.body.final.attitude_wxyz.1, "
        "satellites.body.passivity.max_force_correction_N, "
        "satellites.body.passivity.max_velocity_correction_mps, satellites.body.contacts.0.impulse_Ns.2, "
        "satellites.body.error_vs_ideal.peak_force_ratio";
    static const char *const detailed[] = {"counters.held",
                                           "satellites.body.robot.travel_m",
                                           "satellites.body.robot.rotation_rad",
                                           "satellites.body.robot.max_tracking_error_m",
                                           "satellites.body.error_vs_ideal.position_m",
                                           "satellites.body.error_vs_ideal.attitude_rad"};
    enum { DETAILED = sizeof detailed / sizeof *detailed };
    static ff_record record[FF_CAMPAIGN_METHODS], brief[FF_CAMPAIGN_METHODS];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    const uint64_t index = (uint64_t)ff_rng_range(&rng, 0.0, 10000.0);
    char path[] = "/tmp/ff_settled_XXXXXX", text[4096], message[1024];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    ff_references *references = ff_references_create((size_t)16 << 20);
    ff_campaign *c = calloc(1, sizeof *c);
    for (int d = -1; d < DETAILED; d++) {
        const int n =
            snprintf(text, sizeof text,
                     "name: t\nbase: " FF_SOURCE_DIR "/campaigns/bases/six-dof.yaml\nsamples: 10000\n"
                     "methods: [tdpa, impact]\nvary:\n  satellites.body.mass: {log: [50, 2000]}\n"
                     "  satellites.body.angular_velocity.0: {list: [0.02]}\n"
                     "metrics: [%s%s%s]\n",
                     asked, d < 0 ? "" : ", ", d < 0 ? "" : detailed[d]);
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, text, (size_t)n, 0), n);
        if (ff_campaign_load(path, NULL, c, message, sizeof message, NULL, 0) != FF_OK)
            fail_msg("%s", message);
        int count;
        ff_worker *worker = ff_worker_create(c, references, NULL, message, sizeof message);
        assert_non_null(worker);
        assert_int_equal(ff_worker_run(worker, index, UINT32_MAX, d < 0 ? brief : record, &count), FF_OK);
        for (int m = 0; m < count && d >= 0; m++) {
            for (int i = 0; i < c->metrics - 1; i++)
                if (memcmp(&brief[m].metric[i], &record[m].metric[i], sizeof brief[m].metric[i]) != 0)
                    fail_msg("%s beside %s: %.17g, alone %.17g", c->metric[i].name, detailed[d],
                             record[m].metric[i], brief[m].metric[i]);
            /* and the one that asks for more has it: the robot moves, follows late, is not the reference */
            if (d > 0 && !(record[m].metric[c->metrics - 1] > 0.0))
                fail_msg("%s is %.17g", detailed[d], record[m].metric[c->metrics - 1]);
        }
        ff_worker_free(worker);
        ff_campaign_free(c);
    }
    ff_references_free(references);
    free(c);
    close(file);
    unlink(path);
}

/* One sample of each at random, all with FF_TEST_LONG. */
static void test_tables_of_shipped_campaigns_are_those_of_whole_runs(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    DIR *folder = opendir(FF_SOURCE_DIR "/campaigns");
    assert_non_null(folder);
    int compared = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!strstr(entry->d_name, ".yaml"))
            continue;
        char path[512], message[1024];
        snprintf(path, sizeof path, FF_SOURCE_DIR "/campaigns/%.200s", entry->d_name);
        ff_campaign *c = calloc(1, sizeof *c);
        if (ff_campaign_load(path, NULL, c, message, sizeof message, NULL, 0) != FF_OK)
            fail_msg("%s", message);
        if (c->settles) { /* else its runs go to their end anyway */
            ff_references *references = ff_references_create((size_t)16 << 20);
            compared++;
            for (uint64_t i = 0; i < (test_long() ? c->samples : 1); i++)
                compare_sample(c, references,
                               test_long() ? i : (uint64_t)ff_rng_range(&rng, 0.0, (double)c->samples));
            ff_references_free(references);
        }
        ff_campaign_free(c);
        free(c);
    }
    closedir(folder);
    assert_int_equal(compared,
                     8); /* all but integrators and random-6dof: they ask for errors up to the end */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_runs_never_settle_too_early),
        cmocka_unit_test(test_settles_where_it_is_known_and_nowhere_else),
        cmocka_unit_test(test_until_defaults_to_what_the_metrics_allow),
        cmocka_unit_test(test_brief_metrics_are_those_of_whole_ones),
        cmocka_unit_test(test_tables_of_shipped_campaigns_are_those_of_whole_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
