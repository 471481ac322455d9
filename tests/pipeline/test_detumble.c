/* The capture to its end (scenarios/envisat-detumble.yaml): a torque of the thrusters stops the tumble of
 * both, and nothing else does. In orbit, where momentum is kept but for what the thrusters do. */
#include "mission_support.h"

static ff_scenario scenario;

static void load(const char *const *set, int sets) {
    char message[400] = "", warnings[400];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_load(FF_SOURCE_DIR "/scenarios/envisat-detumble.yaml", &options, &scenario, message,
                         sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    mission_last(&scenario, 60); /* as many rows as are kept */
}

static int row_at(const mission_record *r, double t) {
    int k = 0;
    while (k + 1 < r->n && r->row[k].t < t)
        k++;
    return k;
}

/* The client's rate [rad/s]. */
static double spin(const mission_row *r) {
    return ff_vec3_norm(r->client.omega);
}

static void test_thrusters_stop_the_tumble(void **state) {
    (void)state;
    load(NULL, 0);
    mission_fly(&scenario, &orbit);
    const int from = row_at(&orbit, 24.1), to = orbit.n - 1;
    const ff_vec3 p = orbit.row[from].see.linear;
    ff_vec3 impulse = ff_vec3_zero();
    double drift = 0, angular = 0, power = -FF_INF;
    for (int k = from; k < to; k++) {
        const mission_row *a = &orbit.row[k], *b = &orbit.row[k + 1];
        const ff_vec3 torque =
            ff_vec3_make(a->actuation.torque[0], a->actuation.torque[1], a->actuation.torque[2]);
        assert_int_equal(a->actuation.phase, 5);
        for (int i = 0; i < 3; i++) /* a pure torque */
            assert_near(a->actuation.force[i], 0.0, 0.0);
        power = fmax(power, ff_vec3_dot(torque, a->base.omega));
        /* held in body axes over a cycle: the mean of both ends is right to the square of its angle */
        impulse = ff_vec3_axpy(
            0.5 * (b->t - a->t),
            ff_vec3_add(ff_quat_rotate(a->base.attitude, torque), ff_quat_rotate(b->base.attitude, torque)),
            impulse);
        drift = fmax(drift, ff_vec3_norm(ff_vec3_sub(b->see.linear, p)));
        angular =
            fmax(angular,
                 ff_vec3_norm(ff_vec3_sub(ff_vec3_sub(b->see.origin, orbit.row[from].see.origin), impulse)));
    }
    const double start = spin(&orbit.row[0]), end = spin(&orbit.row[to]);
    print_message(
        "tumble %.4f deg/s at the start, %.4f at 60 s; relative rate %.2g; linear momentum off by %.2g N s, "
        "angular by %.2g of %.0f N m s, greatest power of the thrusters %.2g W\n",
        start / DEG, end / DEG, ff_vec3_norm(orbit.row[to].see.rate), drift, angular, ff_vec3_norm(impulse),
        power);
    assert_true(drift < 1e-6 && angular < 1e-6 * ff_vec3_norm(impulse));
    assert_true(power <= 0.0); /* it only ever brakes */
    assert_true(end < 0.1 * start);
}

/* The arm alone ends the motion between the two, and leaves them turning: momentum is kept. */
static void test_without_thrusters_both_go_on_turning(void **state) {
    (void)state;
    static const char *const set[] = {"satellites.servicer.obsw.detumble=1000"};
    load(set, 1);
    mission_fly(&scenario, &orbit);
    const int from = row_at(&orbit, 24.1), to = orbit.n - 1;
    double drift = 0, angular = 0;
    for (int k = from; k <= to; k++) {
        const mission_row *r = &orbit.row[k];
        assert_int_equal(r->actuation.phase, 3);
        drift = fmax(drift, ff_vec3_norm(ff_vec3_sub(r->see.linear, orbit.row[from].see.linear)));
        angular = fmax(angular, ff_vec3_norm(ff_vec3_sub(r->see.origin, orbit.row[from].see.origin)));
    }
    const double start = spin(&orbit.row[0]), end = spin(&orbit.row[to]);
    const double between = ff_vec3_norm(orbit.row[to].see.rate);
    print_message(
        "without: %.4f and %.4f deg/s, %.2g rad/s between them; momentum off by %.2g N s, %.2g N m s\n",
        start / DEG, end / DEG, between, drift, angular);
    assert_true(drift < 1e-6 && angular < 1e-3);
    assert_true(fabs(end - start) < 0.02 * start && between < 0.02 * start);
}

/* On robots that are 40 ms late the client comes to rest as in orbit. */
static void test_on_late_robots_as_in_orbit(void **state) {
    (void)state;
    if (!test_long())
        return;
    load(NULL, 0);
    mission_fly(&scenario, &orbit);
    mission_run(&scenario, &facility);
    const int to = facility.n - 1;
    const double off = ff_vec3_norm(ff_vec3_sub(facility.row[to].client.omega, orbit.row[to].client.omega));
    print_message("facility: %.4f deg/s at 60 s, %.2g rad/s off the orbit\n", spin(&facility.row[to]) / DEG,
                  off);
    assert_true(off < 0.02 * spin(&orbit.row[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_thrusters_stop_the_tumble),
                                       cmocka_unit_test(test_without_thrusters_both_go_on_turning),
                                       cmocka_unit_test(test_on_late_robots_as_in_orbit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
