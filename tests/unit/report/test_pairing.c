/* Which contact of a run is which of the reference, from contacts written down by hand: what is late, early,
 * split, merged, missing, too many, elsewhere; and what their changes of velocity differ by. */
#include "report/pairing.h"

#include "support.h"

enum { A, B, MOST = 16 };
static const double CYCLE = 0.01;
static ff_scenario scenario;
static ff_metrics metrics;
static ff_ideal_contact partner[MOST];
static ff_ideal_result ideal;

/* One satellite of 100 kg before two walls, for 10 s; nothing has touched. */
static void fresh(void) {
    memset(&scenario, 0, sizeof scenario);
    memset(partner, 0, sizeof partner);
    scenario.cycle = CYCLE;
    scenario.cycles = 1000;
    scenario.satellites = 2;
    scenario.method = &ff_method_direct;
    for (int i = 0; i < 2; i++) {
        scenario.satellite[i].rigid = (ff_rigid_config){100.0, ff_mat3_diag(30, 40, 50)};
        scenario.satellite[i].start.attitude = ff_quat_identity();
    }
    scenario.contacts = 2;
    for (int c = 0; c < 2; c++)
        scenario.contact[c] =
            (ff_contact){.kind = FF_CONTACT_WALL, .body = A, .against = -1, .normal = {{c ? 1 : -1, 0, 0}}};
    scenario.requirements = (ff_requirements){1, 1, 2, 0.05};
    if (metrics.episode)
        ff_metrics_reset(&scenario, &metrics);
    else
        assert_int_equal(ff_metrics_init(&scenario, &metrics), FF_OK);
    for (int c = 0; c < FF_MAX_CONTACTS; c++)
        metrics.open[c] = -1;
    metrics.t = 10.0;
    metrics.rows = 1; /* something was run */
    ideal = (ff_ideal_result){.bodies = 2, .contact = partner};
}

static ff_rigid_state moving(double x, double v) {
    return (ff_rigid_state){.position = {{x, 0, 0}}, .velocity = {{v, 0, 0}}, .attitude = ff_quat_identity()};
}

/* At 0.1 m/s towards the wall, leaving with `after`. */
static ff_ideal_contact *right(int c, double start, double end, double peak, double after) {
    const double in = c ? -0.1 : 0.1;
    ff_ideal_contact *x = &partner[ideal.contacts++];
    *x = (ff_ideal_contact){.contact = c, .start = start, .end = end, .peak_force = peak};
    x->before[0] = moving(0, in);
    x->after[0] = moving(0, c ? after : -after);
    return x;
}

static ff_episode *found(int c, double start, double end, double peak, double after) {
    const double in = c ? -0.1 : 0.1;
    ff_episode *e = &metrics.episode[metrics.episodes++];
    *e = (ff_episode){.contact = c, .start = start, .end = end, .peak_robot_force = peak};
    e->before[0] = moving(0, in);
    e->after[0] = moving(0, c ? after : -after);
    return e;
}

static void judge(double ratio, double rebound, double restitution, double diverged) {
    ff_metrics_finish(&metrics, &ideal, FF_OK);
    if (isinf(ratio))
        assert_true(isinf(metrics.peak_force_ratio[A]));
    else
        assert_near(metrics.peak_force_ratio[A], ratio, 1e-9);
    assert_near(metrics.rebound_error[A], rebound, 1e-9);
    assert_near(metrics.restitution_error[A], restitution, 1e-9);
    if (isnan(diverged))
        assert_true(isnan(metrics.diverged[A]));
    else
        assert_near(metrics.diverged[A], diverged, 1e-12);
    assert_int_equal(metrics.requirement[3].met, restitution <= 0.05 && isnan(diverged));
    assert_true(isnan(metrics.diverged[B]));
}

/* Late by a delay, to and fro between the walls. */
static void test_late_contacts_are_paired(void **state) {
    (void)state;
    fresh();
    for (int i = 0; i < 4; i++) {
        right(i % 2, 1 + i, 1.2 + i, 10, 0.08);
        found(i % 2, 1.04 + i, 1.25 + i, i == 2 ? 12 : 11, i == 3 ? 0.082 : 0.08);
    }
    judge(1.2, 0.002, 0.02, FF_NAN);
    assert_true(metrics.pass);
    /* the same run, each contact the reference's: nothing differs */
    fresh();
    right(0, 0.004, 0.2, 10, 0.08); /* at once: a delay is longer than the flight before */
    found(0, 0.05, 0.25, 10, 0.08);
    judge(1, 0, 0, FF_NAN);
}

/* One that the run leaves out, or makes beside the reference's, shifts no other: by ordinal the ratio would
 * be 10. */
static void test_missing_and_additional_contacts(void **state) {
    (void)state;
    fresh();
    right(0, 1, 1.2, 10, 0.08), right(0, 3, 3.2, 100, 0.08), right(0, 5, 5.2, 10, 0.08);
    found(0, 1, 1.2, 10, 0.08), found(0, 5, 5.2, 10, 0.08);
    judge(1, 0, 0, 3);
    assert_false(metrics.pass);
    fresh();
    right(0, 1, 1.2, 100, 0.08), right(0, 5, 5.2, 10, 0.08);
    found(0, 1, 1.2, 100, 0.08), found(0, 3, 3.1, 90, 0.08), found(0, 5, 5.2, 10, 0.08);
    judge(1, 0, 0, 3); /* 90 N over the largest that should be: below 1 */
    fresh();
    right(0, 1, 1.2, 10, 0.08);
    found(0, 1, 1.2, 10, 0.08), found(1, 3, 3.2, 25, 0.08); /* the other wall was never to be met */
    judge(2.5, 0, 0, 3);
    fresh();
    found(0, 1, 1.2, 10, 0.08); /* nothing was to be touched at all */
    judge(FF_INF, 0, 0, 1);
}

/* Weaker than a twentieth, or cut off by the end of the run. */
static void test_what_needs_no_partner(void **state) {
    (void)state;
    fresh();
    right(0, 1, 1.2, 100, 0.08), right(0, 3, 3.2, 4.9, 0.08);
    found(0, 1, 1.2, 100, 0.08), found(0, 6, 6.2, 4.9, 0.08);
    judge(1, 0, 0, FF_NAN);
    partner[1].peak_force = 5.1;
    metrics.episode[1].peak_robot_force = 0.0;
    metrics.peak_force_ratio[A] = 0.0;
    judge(1, 0, 0, 3);
    fresh();
    right(0, 1, 1.2, 100, 0.08), right(1, 9.9, FF_NAN, 100, 0.08); /* the run would be a little late */
    found(0, 1, 1.2, 100, 0.08);
    judge(1, 0, 0, FF_NAN);
    fresh();
    right(0, 1, 1.2, 100, 0.08);
    found(0, 1, 1.2, 100, 0.08), found(1, 9.9, FF_NAN, 100, 0.08); /* or early */
    judge(1, 0, 0, FF_NAN);
}

/* A run that ended early: what the reference touches after its end is not missed, before it is; and nothing
 * is judged that was not measured. */
static void test_a_run_that_ended_early(void **state) {
    (void)state;
    fresh();
    metrics.t = 2.5;
    right(0, 1, 1.2, 10, 0.08), right(1, 3, 3.2, 10, 0.08), right(0, 5, 5.2, 10, 0.08);
    found(0, 1, 1.2, 10, 0.08);
    judge(1, 0, 0, FF_NAN);
    assert_true(metrics.requirement[2].judged && metrics.requirement[3].judged);
    metrics.episodes = 0; /* the first is missing: that is a difference */
    metrics.forces = metrics.rebounds = false;
    judge(1, 0, 0, 1);
    assert_true(metrics.requirement[3].judged);
    fresh(); /* in its first contact: a force, no rebound yet */
    metrics.t = 1.1;
    right(0, 1, 1.2, 10, 0.08), right(1, 3, 3.2, 10, 0.08);
    found(0, 1, FF_NAN, 9, 0.05);
    judge(0.9, 0, 0, FF_NAN);
    assert_true(metrics.requirement[2].judged);
    assert_false(metrics.requirement[3].judged);
    fresh(); /* before it: neither */
    metrics.t = 0.9;
    right(0, 1, 1.2, 10, 0.08);
    judge(0, 0, 0, FF_NAN);
    assert_true(metrics.requirement[0].judged);
    assert_false(metrics.requirement[2].judged || metrics.requirement[3].judged);
    ff_metrics_finish(&metrics, NULL, FF_OK);
    assert_false(metrics.requirement[0].judged);
}

/* A contact that chatters is one; two that the run does not tell apart are not missed. */
static void test_split_and_merged_contacts(void **state) {
    (void)state;
    fresh();
    right(0, 1, 1.5, 10, 0.05);
    found(0, 1.02, 1.1, 11, 0.09), found(0, 1.2, 1.3, 12, 0.03), found(0, 1.4, 1.52, 10, 0.04);
    metrics.episode[2].before[0].velocity.x = 0.03; /* from the first of them to the last it counts */
    judge(1.2, 0.01, 0.1, FF_NAN);
    fresh();
    right(0, 1, 1.2, 10, 0.05), right(0, 1.4, 1.6, 10, 0.05);
    found(0, 1, 1.61, 10, 0.05);
    judge(1, 0, 0, FF_NAN);
    fresh(); /* pressed for ever, while the run still bounces */
    right(0, 1, FF_NAN, 10, 0.0);
    for (int i = 0; i < 5; i++)
        found(0, 1 + i, 1.5 + i, 10, 0.05);
    judge(1, 0, 0, FF_NAN);
}

/* Too late, and at the right time elsewhere: half the flight is the limit, beside contact and five cycles. */
static void test_limits_of_time_and_place(void **state) {
    (void)state;
    for (int far = 0; far < 2; far++) {
        const double T = 0.2 + 0.05 + 0.5 * 2.0,
                     late = T + (far ? 1e-6 : -1e-6); /* 1.2 to 3.2 s is the flight */
        fresh();
        right(0, 1, 1.2, 10, 0.08), right(1, 3.2, 3.4, 10, 0.08);
        found(0, 1, 1.2, 10, 0.08), found(1, 3.2 + late, 3.4 + late, 10, 0.08);
        judge(1, 0, 0, far ? 3.2 : FF_NAN);
        fresh();
        right(0, 1, 1.2, 10, 0.08), right(1, 3.2, 3.4, 10, 0.08);
        found(0, 1, 1.2, 10, 0.08), found(1, 3.2, 3.4, 10, 0.08)->before[0].position.y = late * 0.1;
        judge(1, 0, 0, far ? 3.2 : FF_NAN);
        /* where the next one on that wall is nearer than the flight was long, half the time to it */
        const double soon = 0.2 + 0.05 + 0.5 * 0.8 + (far ? 1e-6 : -1e-6);
        fresh();
        right(0, 3, 3.2, 10, 0.08), right(0, 3.8, FF_NAN, 10, 0.0);
        found(0, 3 - soon, 3.2, 10, 0.08), found(0, 3.8, FF_NAN, 10, 0.0);
        judge(1, 0, 0, far ? 3 - soon : FF_NAN);
        /* between contacts on the same wall the nearer one counts */
        fresh();
        right(0, 2, 2.2, 10, 0.08), right(0, 4, 4.2, 20, 0.08);
        found(0, far ? 3.1 : 2.9, 3.2, 10, 0.08);
        judge(far ? 0.5 : 1, 0, 0, far ? 2 : 4);
    }
}

/* Change of velocity over the approach speed: each over its own, less the loads, with the turn; contacts at
 * the same time together. */
static void test_change_of_velocity(void **state) {
    (void)state;
    fresh(); /* twice as fast, the same restitution */
    right(0, 1, 1.2, 10, 0.08);
    ff_episode *e = found(0, 1, 1.2, 20, 0.16);
    e->before[0].velocity.x = 0.2;
    judge(2, 0.08, 0, FF_NAN);
    static const ff_load_kind kind[] = {FF_LOAD_PULSE, FF_LOAD_HALFSINE, FF_LOAD_SIN2};
    for (int i = 0; i < 3; i++) { /* the contact lasts from 1 to 1.3 instead of 1.2 s, the load remains */
        fresh();
        right(0, 1, 1.2, 10, 0.08);
        e = found(0, 1.02, 1.3, 10, 0.08);
        scenario.loads = 1;
        scenario.load[0] = (ff_load){.kind = kind[i], .force = {{0, 5, 0}}, .from = 0.7, .to = 1.25};
        double gained = 0.0;
        for (int n = 0; n < 100000; n++) {
            const double t = 1.0 + 0.3 * (n + 0.5) / 100000;
            const double dv = ff_load_at(&scenario.load[0], t).force.y * 0.3 / 100000 / 100.0;
            gained += t > 1.02 ? dv : 0.0;
            if (t < 1.2)
                partner[0].after[0].velocity.y += dv;
        }
        e->after[0].velocity.y = gained;
        ff_metrics_finish(&metrics, &ideal, FF_OK);
        assert_near(metrics.restitution_error[A], 0.0, 2e-6); /* a sample of the sum at each edge: 7.5e-7 */
    }
    fresh(); /* turns: angular momentum over 100 kg and the radius of gyration, sqrt(60/100) */
    right(0, 1, 1.2, 10, 0.08);
    e = found(0, 1, 1.2, 10, 0.08);
    e->before[0].attitude = ff_quat_exp(ff_vec3_make(0, 0, 1));
    e->after[0].attitude = ff_quat_exp(ff_vec3_make(0, 0, 2));
    partner[0].before[0].omega.z = e->before[0].omega.z = 0.3;
    partner[0].after[0].omega.z = 0.4;
    e->after[0].omega.z = 0.42;
    judge(1, 0, 50 * 0.02 / (100 * sqrt(0.6)) / 0.1, FF_NAN);
    scenario.loads = 1; /* but under a torque nothing is said of it */
    scenario.load[0] = (ff_load){.torque = {{0, 0, 1}}, .from = 5, .to = 6};
    metrics.restitution_error[A] = 0.0;
    judge(1, 0, 0, FF_NAN);
    fresh(); /* a corner: in the run the first wall is left while the second still pushes */
    right(0, 1, 1.2, 10, 0.08), right(1, 1.1, 1.5, 10, 0.05);
    found(0, 1, 1.2, 10, 0.03), found(1, 1.1, 1.5, 10, 0.05);
    judge(1, 0.05, 0, FF_NAN);
    fresh(); /* slow beside the other: a twentieth of its speed */
    right(0, 1, 1.2, 10, 0.08), right(1, 3, 3.2, 10, 0.004)->before[0].velocity.x = -0.0049;
    found(0, 1, 1.2, 10, 0.08), found(1, 3, 3.2, 10, 0.002)->before[0].velocity.x = -0.0049;
    judge(1, 0.002, 0, FF_NAN);
}

/* A contact of the partner ends the flight, too; the partner may be the first satellite, and be turned. */
static void test_partners(void **state) {
    (void)state;
    for (int with = 0; with < 2; with++) {
        fresh();
        scenario.contact[0] = (ff_contact){.kind = FF_CONTACT_PAIR, .body = B, .against = A};
        scenario.contact[1].body = with ? A : B;
        scenario.contact[1].against = -1;
        ff_ideal_contact *y = right(1, 1, 2.9, 10, 0.08), *x = right(0, 3, 3.2, 10, 0.02);
        ff_episode *f = found(1, 1, 2.9, 10, 0.08),
                   *e = found(0, 3.8, 4.0, 10, 0.02); /* late by 0.8 s: 0.3 are allowed */
        y->before[1] = y->after[1] = f->before[1] = f->after[1] = moving(0, 0);
        x->before[1] = x->after[1] = e->before[1] = e->after[1] = moving(0, 0);
        ff_metrics_finish(&metrics, &ideal, FF_OK);
        assert_near(metrics.diverged[A], 3.0, 1e-12);
        assert_near(metrics.diverged[B], 3.0, 1e-12);
    }
    /* v_a + w_a x r_a - v_b - w_b x (p - x_b), inertial */
    const ff_contact touch = {.against = 1, .point = {{0, 0.5, 0}}};
    ff_rigid_state both[2] = {moving(1, 0.1), moving(3, 0.02)};
    both[0].omega.z = 0.2;
    both[1].attitude = ff_quat_exp(ff_vec3_make(0.5 * FF_PI, 0, 0)); /* its y is z */
    both[1].omega.y = 0.3;
    assert_vec3_near(ff_metrics_point_velocity(&touch, both),
                     ff_vec3_make(0.1 - 0.1 - 0.02 + 0.3 * 0.5, 0.3 * 2.0, 0), 1e-12);
}

/* Both satellites of a pair, seen from the partner's axes. */
static void test_pairs(void **state) {
    (void)state;
    for (int aside = 0; aside < 2; aside++) {
        fresh();
        scenario.contact[0].kind = FF_CONTACT_PAIR;
        scenario.contact[0].against = B;
        ff_ideal_contact *x = right(0, 1, 1.2, 10, 0.02);
        ff_episode *e = found(0, 1, 1.2, 12, 0.02);
        x->before[1] = x->after[1] = e->before[1] = e->after[1] = moving(0, 0);
        x->after[1].velocity.x = 0.05;
        e->after[1].velocity.x = 0.06;
        /* moved together nothing differs; the one alone by more than it moves in the limit's time */
        e->before[0].position.y = 5;
        e->before[1].position.y = aside ? 0 : 5;
        ff_metrics_finish(&metrics, &ideal, FF_OK);
        for (int i = 0; i < 2; i++) {
            assert_near(metrics.peak_force_ratio[i], 1.2, 1e-12);
            assert_int_equal(isnan(metrics.diverged[i]), !aside);
        }
        assert_near(metrics.restitution_error[B], aside ? 0 : 0.1, 1e-9);
        assert_near(metrics.rebound_error[B], aside ? 0 : 0.01, 1e-9);
    }
}

static int free_metrics(void **state) {
    (void)state;
    ff_metrics_free(&metrics);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_contacts_are_paired),
        cmocka_unit_test(test_missing_and_additional_contacts),
        cmocka_unit_test(test_what_needs_no_partner),
        cmocka_unit_test(test_a_run_that_ended_early),
        cmocka_unit_test(test_split_and_merged_contacts),
        cmocka_unit_test(test_limits_of_time_and_place),
        cmocka_unit_test(test_change_of_velocity),
        cmocka_unit_test(test_partners),
        cmocka_unit_test(test_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, free_metrics);
}
