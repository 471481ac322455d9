/* The orbit of a scenario with an arm, against what nothing can change: momentum, and energy where nobody
 * gives any. */
#include "mission_support.h"

static ff_scenario scenario;

/* No thrust; joint torques of some newton metres, or none. */
static bool swing(void *self, uint64_t k, ff_obsw_out *out) {
    const double *torque = self;
    for (int i = 0; i < SERVICER_JOINTS; i++)
        out->joint_torque[i] = *torque * sin(0.004 * (double)k + i) / (1 + i);
    return true;
}

/* With torques at the joints and a grasp: the momentum of the pair stays to the order of RK4. */
static void test_momentum_is_kept(void **state) {
    (void)state;
    static const char *const set[] = {"contacts.grip.closes=0.5"};
    char message[300] = "";
    double torque = 1;
    mission_load(set, 1, 2, &scenario);
    const mission_options options = {.record = {&torque, swing}};
    assert_int_equal(mission_try_orbit(&scenario, &options, &orbit, message, sizeof message), FF_OK);
    const mission_row *a = &orbit.row[0];
    double linear = 0, origin = 0, moved = 0, force = 0;
    for (int k = 0; k < orbit.n; k++) {
        const mission_row *r = &orbit.row[k];
        linear = fmax(linear, ff_vec3_norm(ff_vec3_sub(r->see.linear, a->see.linear)));
        origin = fmax(origin, ff_vec3_norm(ff_vec3_sub(r->see.origin, a->see.origin)));
        moved = fmax(moved, fabs(r->q[0] - a->q[0]));
        force = fmax(force, ff_vec3_norm(r->F_e.f));
    }
    print_message("joints by %.2f rad, contact up to %.0f N: momentum %.2g of %.3g N s, %.2g of %.3g N m s\n",
                  moved, force, linear, ff_vec3_norm(a->see.linear), origin, ff_vec3_norm(a->see.origin));
    assert_true(moved > 0.05 && force > 1);
    assert_true(linear < 1e-9 * ff_vec3_norm(a->see.linear));
    assert_true(origin < 1e-9 * ff_vec3_norm(a->see.origin));
}

/* Without torques and contact the kinetic energy of both stays, though the joints swing under the base's
 * rotation; a spring without damper gives back what it took. */
static void test_energy_is_kept(void **state) {
    (void)state;
    char message[300] = "";
    double torque = 0;
    for (int bump = 0; bump < 2; bump++) {
        mission_load(NULL, 0, 2, &scenario);
        if (bump) { /* the gripper meets a plane at 20 mm/s after 0.1 s */
            ff_satellite *servicer = &scenario.satellite[SERVICER];
            memcpy(servicer->arm.q, servicer_reached, sizeof servicer_reached);
            mission_fly_along(&scenario, servicer->obsw.goal);
            servicer->start.position.x -= 0.002;
            servicer->start.velocity.x += 0.02;
            scenario.contacts = 2;
            scenario.contact[1] = (ff_contact){.name = "bump",
                                               .kind = FF_CONTACT_PAIR,
                                               .body = SERVICER,
                                               .against = CLIENT,
                                               .at = scenario.contact[GRIP].at,
                                               .normal = {{-1, 0, 0}},
                                               .stiffness = 2000,
                                               .satellite_stiffness = 2000};
        }
        const mission_options options = {.record = {&torque, swing}};
        assert_int_equal(mission_try_orbit(&scenario, &options, &orbit, message, sizeof message), FF_OK);
        ff_rigid_model client;
        assert_int_equal(ff_rigid_create(&scenario.satellite[CLIENT].rigid, &client), FF_OK);
        double start = 0, off = 0, force = 0;
        for (int k = 0; k < orbit.n; k++) {
            const mission_row *r = &orbit.row[k];
            const double E = ff_rigid_kinetic_energy(&client, &r->client) + r->see.energy;
            const double f = ff_vec3_norm(r->bump), spring = 0.5 * f * f / 2000;
            if (k == 0)
                start = E;
            off = fmax(off, fabs(E + spring - start));
            force = fmax(force, f);
        }
        print_message("%s: energy off by %.2g of %.4g J, force up to %.2f N\n", bump ? "bump" : "free", off,
                      start, force);
        /* free: RK4; a bump: its onset lies within a step of 1/8 ms, where f rises with 40 N/s */
        assert_true(off < (bump ? 1e-8 : 1e-10) * start);
        assert_int_equal(force > 0.5, bump);
    }
}

/* What the reference keeps is what the orbit's rows say: samples and contacts. */
static ff_status count(void *self, const ff_orbit_row *row) {
    int *n = self;
    n[0]++;
    n[1] += row->touching[GRIP];
    return FF_OK;
}

static void test_solve_keeps_the_rows(void **state) {
    (void)state;
    static const char *const set[] = {"contacts.grip.closes=0.5", "contacts.grip.opens=1"};
    char message[300] = "";
    int n[2] = {0, 0};
    mission_load(set, 2, 2, &scenario);
    assert_int_equal(ff_orbit_run(&scenario, NULL, (ff_obsw_record){0}, (ff_orbit_sink){n, count}, message,
                                  sizeof message),
                     FF_OK);
    assert_int_equal(n[0], 501);
    assert_int_equal(n[1], 125);
    ff_ideal_result result;
    assert_int_equal(ff_orbit_solve(&scenario, NULL, &result, message, sizeof message), FF_OK);
    assert_int_equal(result.samples, 501);
    assert_int_equal(result.contacts, 1);
    assert_near(result.contact[0].start, 0.5, 1e-9);
    assert_near(result.contact[0].end, 1.0, 1e-9);
    assert_true(result.contact[0].peak_force > 1);
    mission_fly(&scenario, &orbit);
    for (int k = 0; k < orbit.n; k++) {
        assert_memory_equal(&result.state[2 * k + CLIENT], &orbit.row[k].client, sizeof(ff_rigid_state));
        assert_memory_equal(&result.state[2 * k + SERVICER], &orbit.row[k].base, sizeof(ff_rigid_state));
    }
    ff_ideal_free(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_energy_is_kept),
        cmocka_unit_test(test_solve_keeps_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
