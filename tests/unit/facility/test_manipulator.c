/* The servicer's arm as a device of the plant: at rest under gravity as in orbit, under its brakes, its
 * gripper and its bumps. */
#include "mission_support.h"

static ff_scenario scenario;
static ff_plant *plant;

/* Client and servicer at rest in the lab, robots commanded to stay. */
static void make(const char *const *set, int sets) {
    char message[300] = "";
    mission_load(set, sets, 4, &scenario);
    scenario.frame = FF_FRAME_ABSOLUTE;
    scenario.facility_pose.q = ff_quat_from_abc(0.3, -0.2, 0.4); /* gravity along no axis */
    for (int i = 0; i < 2; i++)
        scenario.satellite[i].start.velocity = scenario.satellite[i].start.omega = ff_vec3_zero();
    plant = ff_plant_create(&scenario, message, sizeof message, NULL);
    if (!plant)
        fail_msg("%s", message);
}

static const ff_sample_joints *cycle(uint64_t k, const ff_arm_order *order) {
    ff_setpoint command[FF_MAX_BODIES];
    const ff_rigid_state inertial = {.attitude = {1, 0, 0, 0}};
    for (int i = 0; i < 2; i++)
        command[i] = ff_setpoint_from_state(&scenario.satellite[i].start);
    ff_plant_write_nominal(plant, &inertial);
    ff_plant_write(plant, k, command);
    assert_int_equal(ff_plant_read(plant, k, NULL, NULL), FF_OK);
    ff_plant_write_arm(plant, order);
    return ff_plant_joints(plant);
}

/* In orbit an arm without torque on a base at rest stays where it is; so it does on the ground, where its
 * motors carry its weight: the joints stay to the tolerance of a torque that is held for a millisecond. */
static void test_no_torque_no_motion_under_gravity(void **state) {
    (void)state;
    make(NULL, 0);
    const ff_arm_order none = {0};
    double off = 0, weight = 0;
    for (uint64_t k = 0; k <= 250; k++) {
        const ff_sample_joints *j = cycle(k, &none);
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            off = fmax(off, fabs(j->q[i] - scenario.satellite[SERVICER].arm.q[i]));
            weight = fmax(weight, fabs(j->motor[i]));
        }
    }
    ff_plant_free(plant);
    print_message("a second under gravity, motors up to %.1f N m: %.2g rad\n", weight, off);
    assert_true(weight > 10);
    assert_true(off < 1e-9);
}

/* The first joint is pushed for 0.1 s, then the brakes act: it stops within v/(e r), r = 50 rad/s, and stays.
 */
static void test_brakes_hold_the_joints(void **state) {
    (void)state;
    make(NULL, 0);
    const ff_arm_order push = {.torque = {2}}, hold = {.holds = true};
    uint64_t k = 0;
    for (; k <= 25; k++)
        cycle(k, &push);
    const ff_sample_joints at = *cycle(k++, &hold);
    const double v = fabs(at.qd[0]);
    assert_true(v > 0.01);
    double moved = 0;
    const ff_sample_joints *now = NULL;
    for (; k <= 300; k++) {
        now = cycle(k, &hold);
        for (int i = 0; i < SERVICER_JOINTS; i++)
            moved = fmax(moved, fabs(now->q[i] - at.q[i]));
    }
    print_message("braked from %.3g rad/s: %.3g rad on, then %.2g rad/s\n", v, moved, fabs(now->qd[0]));
    double most = 0;
    for (int i = 0; i < SERVICER_JOINTS; i++) {
        most = fmax(most, fabs(at.qd[i]));
        assert_true(fabs(now->qd[i]) < 1e-3 * v);
    }
    assert_true(moved <= most / (M_E * 50.0) * 1.02);
    ff_plant_free(plant);
}

/* A gripper closes when it is ordered to if it is within reach, and opens. */
static void test_gripper_closes_within_reach_and_opens(void **state) {
    (void)state;
    static const char *const set[] = {"contacts.grip.closes=0.1", "contacts.grip.opens=0.2"};
    for (int far = 0; far < 2; far++) {
        make(set, 2);
        ff_plant_free(plant);
        char message[300] = "";
        scenario.contact[GRIP].reach = far ? 1e-3 : 10.0; /* the arm is folded: half a metre away */
        plant = ff_plant_create(&scenario, message, sizeof message, NULL);
        assert_non_null(plant);
        for (uint64_t k = 0; k <= 80; k++) {
            const ff_arm_order order = {.grips = k + 1 >= 25 && k + 1 < 50}; /* for the next cycle */
            const ff_sample_joints *j = cycle(k, &order);
            const bool closed = !far && k >= 25 && k < 50;
            assert_int_equal(j->closed, closed);
            assert_int_equal(ff_plant_truth(plant)->touching[GRIP], closed);
        }
        ff_plant_free(plant);
    }
}

/* The gripper stands 1 mm behind a plane of 1e4 N/m on the client: the sensor reads 10 N along its normal,
 * and both robots feel it, equal and opposite. */
static void test_bump_gives_its_force(void **state) {
    (void)state;
    make(NULL, 0);
    ff_plant_free(plant);
    char message[300] = "";
    ff_capture see;
    assert_int_equal(ff_capture_open(&see, &scenario, message, sizeof message), FF_OK);
    ff_tree_state x;
    const ff_satellite *servicer = &scenario.satellite[SERVICER];
    const ff_tree_frame frame = ff_scenario_gripper(servicer);
    ff_tree_state_default(&x);
    x.base = ff_rigid_pose(&servicer->start);
    memcpy(x.q, servicer->arm.q, sizeof servicer->arm.q);
    ff_tree_kinematics(see.tree.model, &x, see.tree.work, ff_vec3_zero());
    const ff_pose gripper = ff_tree_frame_pose(see.tree.model, see.tree.work, &frame);
    const ff_vec3 normal = ff_vec3_unit(ff_vec3_make(-1, 0.5, 0.25));
    const ff_pose client = ff_rigid_pose(&scenario.satellite[CLIENT].start);
    scenario.contacts = 2;
    scenario.contact[1] =
        (ff_contact){.name = "bump",
                     .kind = FF_CONTACT_PAIR,
                     .body = SERVICER,
                     .against = CLIENT,
                     .at = ff_vec3_axpy(1e-3, normal, ff_pose_apply(ff_pose_inverse(client), gripper.p)),
                     .normal = normal,
                     .stiffness = 1e4,
                     .satellite_stiffness = 1e4};
    plant = ff_plant_create(&scenario, message, sizeof message, NULL);
    assert_non_null(plant);
    cycle(0, &(ff_arm_order){0});
    const ff_truth *truth = ff_plant_truth(plant);
    const ff_vec3 F = ff_quat_rotate(client.q, ff_vec3_scale(10, normal));
    assert_true(truth->touching[1] && !truth->touching[0]);
    assert_vec3_near(truth->force[1], F, 1e-9);
    assert_vec3_near(ff_quat_rotate(gripper.q, ff_plant_sensors(plant)[SERVICER].f_s.f), F, 1e-9);
    assert_vec3_near(ff_quat_rotate(client.q, truth->contact_b[CLIENT].f), ff_vec3_neg(F), 1e-9);
    assert_vec3_near(ff_quat_rotate(x.base.q, truth->contact_b[SERVICER].f), F, 1e-9);
    /* about the client's CoM: r x -F */
    const ff_vec3 torque = ff_vec3_cross(ff_vec3_sub(gripper.p, client.p), ff_vec3_neg(F));
    assert_vec3_near(ff_quat_rotate(client.q, truth->contact_b[CLIENT].t), torque, 1e-8);
    ff_plant_free(plant);
    ff_capture_close(&see);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_torque_no_motion_under_gravity),
        cmocka_unit_test(test_brakes_hold_the_joints),
        cmocka_unit_test(test_gripper_closes_within_reach_and_opens),
        cmocka_unit_test(test_bump_gives_its_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
