/* The axes of robots that no device reports: their forward kinematics is the robot's pose, they stay on their
 * branch, and where there are none nothing is claimed. */
#include "support.h"

#include "facility/plan.h"
#include "rows/axes.h"

static ff_scenario scenario;

static void load(const char *file, const char *const *set, int sets) {
    char message[1024], warnings[2048];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_load(file, &options, &scenario, message, sizeof message, warnings, sizeof warnings) !=
        FF_OK)
        fail_msg("%s", message);
}

static double apart(const ff_arm_model *arm, const ff_arm_joints *joints, ff_pose T) {
    const ff_pose at = ff_arm_forward(arm, joints);
    return fmax(ff_vec3_norm(ff_vec3_sub(at.p, T.p)), ff_quat_angle(at.q, T.q));
}

/* A wave of some centimetres and degrees about the start, in every direction. */
static ff_pose wave(ff_pose start, const double phase[6], double t) {
    ff_vec3 d, r;
    for (int i = 0; i < 3; i++) {
        d.a[i] = 0.04 * (sin(2.0 * t + phase[i]) - sin(phase[i]));
        r.a[i] = 0.08 * (sin(2.0 * t + phase[3 + i]) - sin(phase[3 + i]));
    }
    return (ff_pose){ff_quat_unit(ff_quat_mul(start.q, ff_quat_exp(r))), ff_vec3_add(start.p, d)};
}

static ff_status ignore(void *self, const ff_row *row) {
    (void)self;
    (void)row;
    return FF_OK;
}

static void test_axes_are_the_pose_s(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"scenarios/deos-client.yaml", NULL, NULL},
        {"scenarios/ur10e-client.yaml", NULL, NULL},
        {"scenarios/papers/lange/fig-6-joints.yaml", NULL, NULL},
        {"scenarios/ur10e-client.yaml", "satellites.client.robot.arm=ur20",
         "satellites.client.robot.base={position: [1.0, 0.05, -0.25]}"},
        {"scenarios/deos-client.yaml",
         "satellites.client.robot={kind: delay, delay: 0.04, rail: {axis: [1, 0, 0], length: 2, speed: 1}}",
         NULL},
    };
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    ff_row *row = calloc(1, sizeof *row);
    const ff_sink sink = {.axes = true, .row = ignore};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        load(cases[c][0], &cases[c][1], (cases[c][1] != NULL) + (cases[c][2] != NULL));
        ff_row_arms arms;
        ff_row_arms_open(&scenario, &sink, 1, &arms);
        assert_true(arms.wanted);
        assert_int_equal(arms.arm[0].config.axes, ff_satellite_axes(&scenario.satellite[0]));
        const ff_pose start = ff_setpoint_from_state(&scenario.satellite[0].start).T;
        double phase[6];
        for (int i = 0; i < 6; i++)
            phase[i] = 6.0 * ff_rng_uniform(&rng);
        ff_arm_joints before = arms.at[0];
        for (int k = 0; k < test_count(300, 20000); k++) {
            ff_row_body *b = &row->body[0];
            b->robot.T = wave(start, phase, scenario.cycle * k);
            ff_row_arms_find(&arms, row);
            if (!(apart(&arms.arm[0], &b->device.joints, b->robot.T) < 1e-9))
                fail_msg("%s, row %d: off by %g", cases[c][0], k,
                         apart(&arms.arm[0], &b->device.joints, b->robot.T));
            /* no other branch: an axis turns by what the motion asks, 0.3 rad/s of six ways, not by pi */
            for (int a = 0; a < FF_ARM_AXES; a++)
                assert_true(fabs(b->device.joints.a[a] - before.a[a]) < 0.2);
            before = b->device.joints;
        }
        /* out of reach: nothing, and found again where it was */
        const ff_arm_joints last = arms.at[0];
        const ff_pose back = row->body[0].robot.T;
        row->body[0].robot.T.p.x += 100.0;
        ff_row_arms_find(&arms, row);
        assert_true(isnan(row->body[0].device.joints.a[0]) && isnan(row->body[0].device.joints.rail));
        row->body[0].robot.T = back;
        ff_row_arms_find(&arms, row);
        assert_true(fabs(row->body[0].device.joints.a[2] - last.a[2]) < 1e-6);
    }
    /* nobody shows them */
    const ff_sink blind = {.row = ignore};
    ff_row_arms none;
    ff_row_arms_open(&scenario, &blind, 1, &none);
    ff_row_arms_find(&none, row);
    assert_false(none.wanted);
    assert_true(isnan(row->body[0].device.joints.a[0]));
    free(row);
}

/* Any robot but a device stands upright at its ready posture when the satellite starts, however that is
 * turned. */
static void test_stand_ins_stand_upright(void **state) {
    (void)state;
    static const char *const set[] = {"satellites.client.attitude=[0.8, 0.2, -0.4, 0.4]"};
    load("scenarios/deos-client.yaml", set, 1);
    char message[256];
    ff_arm_model arm;
    ff_arm_joints joints;
    assert_int_equal(ff_plan_place(&scenario, 0, false, &arm, &joints, message, sizeof message), FF_OK);
    const ff_vec3 up = ff_quat_rotate(arm.config.base.q, ff_vec3_make(0.0, 0.0, 1.0));
    assert_true(fabs(up.z - 1.0) < 1e-12);
    for (int a = 0; a < 6; a++)
        assert_true(fabs(joints.a[a] - arm.config.ready[a]) < 1e-9);
    assert_true(apart(&arm, &joints, ff_setpoint_from_state(&scenario.satellite[0].start).T) < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes_are_the_pose_s),
        cmocka_unit_test(test_stand_ins_stand_upright),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
