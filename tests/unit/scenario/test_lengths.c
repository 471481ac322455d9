/* A robot's arm by Denavit and Hartenberg's lengths: UR's own table is the arm that is built in, with its
 * closed inverse; any other has the forward map of its rows, multiplied out here as matrices, and an inverse;
 * what does not fit is refused with a sentence. */
#include "freefloat/command.h"
#include "scenario/scenario.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static ff_scenario scenario;
static char message[1024], warnings[4096];

static ff_status load(const char *set) {
    const ff_scenario_options options = {.set = &set, .sets = 1};
    return ff_scenario_load(FF_SOURCE_DIR "/scenarios/ur10e-client.yaml", &options, &scenario, message,
                            sizeof message, warnings, sizeof warnings);
}

#define LIMITS                                                                                              \
    "lower: [-6.2, -6.2, -3.1, -6.2, -6.2, -6.2], upper: [6.2, 6.2, 3.1, 6.2, 6.2, 6.2], speed: [2, 2, 3, " \
    "3, "                                                                                                   \
    "3, 3], ready: [0, -1.5, 1.5, -1.5, -1.5, 0]"
#define UR10E "a: [0, -0.6127, -0.57155, 0, 0, 0], d: [0.1807, 0, 0, 0.17415, 0.11985, 0.11655], "

static double apart(ff_pose a, ff_pose b) {
    return fmax(ff_vec3_norm(ff_vec3_sub(a.p, b.p)), ff_quat_angle(a.q, b.q));
}

static void test_a_maker_s_table_is_the_arm_of_that_name(void **state) {
    (void)state;
    assert_int_equal(
        load("satellites.client.robot.arm={" UR10E "alpha_deg: [90, 0, 0, 90, -90, 0], " LIMITS "}"), FF_OK);
    assert_true(scenario.satellite[0].robot.device.own);
    ff_arm_config named, own;
    ff_arm_model by_name, by_lengths;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    ff_arm_default(FF_ARM_UR10E, &named);
    ff_satellite_arm(&scenario.satellite[0], &own);
    assert_int_equal(ff_arm_create(&named, &by_name), FF_OK);
    assert_int_equal(ff_arm_create(&own, &by_lengths), FF_OK);
    assert_int_equal(by_lengths.form, FF_ARM_OFFSET); /* right angles are exact: the closed inverse */
    assert_near(by_lengths.reach, by_name.reach, 1e-12);
    double worst = 0;
    for (int n = 0; n < 1000; n++) {
        ff_arm_joints j = {.rail = 0}, back;
        for (int a = 0; a < 6; a++)
            j.a[a] = ff_rng_range(&rng, -3.0, 3.0);
        const ff_pose T = ff_arm_forward(&by_lengths, &j);
        worst = fmax(worst, apart(T, ff_arm_forward(&by_name, &j)));
        if (ff_arm_singularity(&by_lengths, &j).smallest > 1e-3 &&
            ff_arm_inverse(&by_lengths, &T, &j, &back, NULL) == FF_OK)
            worst = fmax(worst, apart(T, ff_arm_forward(&by_lengths, &back)));
    }
    assert_true(worst < 1e-9);
}

/* Rz(theta) Tz(d) Tx(a) Rx(alpha), row by row, as a textbook prints it. */
static void multiply(double T[4][4], double theta, double d, double a, double alpha) {
    const double ct = cos(theta), st = sin(theta), ca = cos(alpha), sa = sin(alpha);
    const double A[4][4] = {
        {ct, -st * ca, st * sa, a * ct}, {st, ct * ca, -ct * sa, a * st}, {0, sa, ca, d}, {0, 0, 0, 1}};
    double out[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            out[i][j] = 0;
            for (int k = 0; k < 4; k++)
                out[i][j] += T[i][k] * A[k][j];
        }
    memcpy(T, out, sizeof out);
}

static void put_list(char *text, size_t size, const char *name, const double *x) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s: [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g], ", name, x[0], x[1],
             x[2], x[3], x[4], x[5]);
}

static void test_any_rows_are_multiplied_out(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    const double deg = FF_PI / 180.0;
    double worst = 0;
    int solved = 0;
    for (int n = 0; n < 20; n++) {
        double a[6], d[6], alpha[6], theta[6];
        for (int i = 0; i < 6; i++) {
            a[i] = ff_rng_range(&rng, 0.05, 0.6);
            d[i] = ff_rng_range(&rng, -0.4, 0.4);
            alpha[i] = ff_rng_range(&rng, 30, 150);
            theta[i] = ff_rng_range(&rng, -180, 180);
        }
        char text[2048] = "satellites.client.robot={kind: ur-rtde, arm: {";
        put_list(text, sizeof text, "a", a);
        put_list(text, sizeof text, "d", d);
        put_list(text, sizeof text, "alpha_deg", alpha);
        put_list(text, sizeof text, "theta_deg", theta);
        strcat(text, LIMITS "}}");
        assert_int_equal(load(text), FF_OK);
        ff_arm_config own;
        ff_arm_model model;
        ff_satellite_arm(&scenario.satellite[0], &own);
        assert_int_equal(ff_arm_create(&own, &model), FF_OK);
        for (int k = 0; k < 20; k++) {
            ff_arm_joints j = {.rail = 0}, near, back;
            double T[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
            for (int i = 0; i < 6; i++) {
                j.a[i] = ff_rng_range(&rng, -3.0, 3.0);
                multiply(T, j.a[i] + theta[i] * deg, d[i], a[i], alpha[i] * deg);
            }
            const ff_pose ours = ff_arm_forward(&model, &j);
            const ff_mat3 R = ff_quat_to_mat3(ours.q);
            for (int r = 0; r < 3; r++) {
                worst = fmax(worst, fabs(ours.p.a[r] - T[r][3]));
                for (int c = 0; c < 3; c++)
                    worst = fmax(worst, fabs(R.m[r][c] - T[r][c]));
            }
            near = j;
            for (int i = 0; i < 6; i++)
                near.a[i] += ff_rng_range(&rng, -1e-3, 1e-3);
            if (ff_arm_singularity(&model, &j).smallest > 0.05 &&
                ff_arm_inverse(&model, &ours, &near, &back, NULL) == FF_OK) {
                solved++;
                assert_true(apart(ours, ff_arm_forward(&model, &back)) < 1e-9);
            }
        }
    }
    print_message("rows multiplied out: off by %.2g; %d inverses\n", worst, solved);
    assert_true(worst < 1e-13 * 100); /* six products of numbers of size 4 */
    assert_true(solved > 20);
}

static void refuse(const char *arm, const char *says) {
    char set[2048];
    snprintf(set, sizeof set, "satellites.client.robot.arm=%s", arm);
    assert_true(load(set) < 0);
    if (!strstr(message, says))
        fail_msg("not '%s': %s", says, message);
}

static void test_what_does_not_fit_is_refused(void **state) {
    (void)state;
    refuse("{" LIMITS "}", "arm has neither a model nor six or seven numbers under a");
    refuse("{a: [0, 1, 2], " LIMITS "}", "arm has neither a model nor six or seven numbers under a");
    refuse("{" UR10E LIMITS "}", "arm lacks the key 'alpha_deg', allowed: one number for each axis");
    refuse("{" UR10E "alpha_deg: [90, 0, 0, 90, -90], " LIMITS "}",
           "alpha_deg must be a list of 6, allowed: one number for each axis of `a`");
    refuse("{" UR10E "alpha_deg: [90, 0, 0, 90, -90, x], " LIMITS "}", "alpha_deg");
    refuse("{model: none.urdf, a: [1, 1, 1, 1, 1, 1]}", "a beside a model, allowed: one of them");
    refuse("{a: [0, 1, 1, 1, 1, 1], d: [0, 0, 0, 0, 0, 0], alpha_deg: [90, 0, 0, 90, -90, 0], lower: [1, 1, "
           "1, 1, "
           "1, 1], upper: [2, 2, 1, 2, 2, 2], speed: [1, 1, 1, 1, 1, 1]}",
           "upper of axis 3 is 1, allowed: above lower, 1 [rad]");
    refuse("{a: [0, 0, 0, 0, 0, 0, 0], d: [0.3, 0, 0.3, 0, 0.4, 0, 0.1], alpha_deg: [-90, 90, 90, -90, -90, "
           "90, 0], "
           "lower: [-1, -1, -1, -1, -1, -1, -1], upper: [1, 1, 1, 1, 1, 1, 1], speed: [1, 1, 1, 1, 1, 1, 1]}",
           "the arm has 7 axes, allowed with ur-rtde: six");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_maker_s_table_is_the_arm_of_that_name),
        cmocka_unit_test(test_any_rows_are_multiplied_out),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
