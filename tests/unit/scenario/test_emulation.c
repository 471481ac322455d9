/* The section `emulation` of a scenario. */
#include "support.h"

#include "emulate/emulate.h"
#include "scenario/scenario.h"

static ff_scenario s;
static char message[1024], warnings[1024];

#define HEAD "name: e\ntime: {cycle: 0.002, duration: 3}\n"
#define TARGET "  target: {link_inertia: 0.05, drive_inertia: 0.1, length: 0.3, stiffness: 3}\n"

static ff_status parse(const char *text) {
    return ff_scenario_parse("F", text, strlen(text), NULL, &s, message, sizeof message, warnings,
                             sizeof warnings);
}

static void test_smallest_emulation_takes_its_defaults(void **state) {
    (void)state;
    if (parse(HEAD "emulation:\n" TARGET "  robot: {inertia: 0.04}\n") != FF_OK)
        fail_msg("%s", message);
    assert_true(s.emulates);
    assert_int_equal(s.satellites, 0);
    const ff_emulate_joint *e = &s.emulation;
    assert_near(e->target.link_inertia, 0.05, 0);
    assert_near(e->target.damping, 0, 0);
    assert_near(e->robot_inertia, 0.04, 0);
    assert_true(isinf(e->actuator_bandwidth) && isinf(e->torque_limit));
    assert_near(e->emulation.velocity_gain, 20, 0);
    assert_near(e->emulation.position_gain, 100, 0);
    assert_int_equal(e->emulation.scheme, FF_EMULATION_CONSTRAINED);
    assert_true(e->emulation.drift_compensation);
    assert_false(e->sampled);
    assert_near(e->wall_stiffness, 0, 0);
    assert_near(e->cycle, 0.002, 0);
    assert_near(e->duration, 3, 0);
    ff_emulate_result r;
    assert_int_equal(ff_emulate_joint_run(e, &r, message, sizeof message, warnings, sizeof warnings), FF_OK);
    assert_int_equal(r.samples, 1501);
    assert_true(isnan(r.contact_s));
    ff_emulate_free(&r);
}

static void test_every_key_arrives(void **state) {
    (void)state;
    if (parse(HEAD "emulation:\n" TARGET
                   "  robot: {inertia: 0.05, friction: 0.1, gravity_torque: 0.5, gravity_model_error: -0.1, "
                   "friction_model_error: 0.2, actuator_bandwidth: 30, actuator_delay: 0.004, torque_limit: "
                   "9, force_bias: "
                   "0.3, force_noise: 0.01}\n"
                   "  gains: {velocity: 8, position: 16, force: 0.2}\n  scheme: free\n  controller: sampled\n"
                   "  torque: -0.5\n  wall: {at: 0.1, stiffness: 5000, damping: 3}\n") != FF_OK)
        fail_msg("%s", message);
    const ff_emulate_joint *e = &s.emulation;
    const double got[] = {e->robot_friction,
                          e->gravity_torque,
                          e->gravity_model_error,
                          e->friction_model_error,
                          e->actuator_bandwidth,
                          e->actuator_delay,
                          e->torque_limit,
                          e->force_bias,
                          e->force_noise,
                          e->emulation.velocity_gain,
                          e->emulation.position_gain,
                          e->emulation.force_gain,
                          e->torque,
                          e->wall_at,
                          e->wall_stiffness,
                          e->wall_damping};
    const double want[] = {0.1, 0.5, -0.1, 0.2, 30, 0.004, 9, 0.3, 0.01, 8, 16, 0.2, -0.5, 0.1, 5000, 3};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_near(got[i], want[i], 0);
    assert_int_equal(e->emulation.scheme, FF_EMULATION_FREE);
    assert_true(e->sampled);
}

static void test_bad_emulations_are_refused_with_their_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {HEAD "emulation:\n  robot: {inertia: 0.05}\n", "F:4:3: emulation lacks the key 'target'"},
        {HEAD "emulation:\n" TARGET "  robot: {inertia: 0}\n", "F:5:20: inertia is 0, allowed: > 0 [kg m2]"},
        {HEAD "emulation:\n" TARGET "  robot: {inertia: 1}\n  scheme: loose\n", "F:6:11: "},
        {HEAD "emulation:\n" TARGET "  robot: {inertia: 1, mass: 2}\n",
         "F:5:23: unknown key 'mass' in emulation.robot"},
        {HEAD "emulation:\n" TARGET "  robot: {inertia: 1}\ncontacts: []\n",
         "F:6:1: key 'contacts' does not belong to an emulation"},
        {HEAD, "the scenario lacks the key 'satellites'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].text), FF_ERR_FORMAT);
        if (!strstr(message, bad[i].says))
            fail_msg("'%s' does not say '%s'", message, bad[i].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest_emulation_takes_its_defaults),
        cmocka_unit_test(test_every_key_arrives),
        cmocka_unit_test(test_bad_emulations_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
