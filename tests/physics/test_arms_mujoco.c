/* The arms' kinematics against MuJoCo over random poses: the makers' rows as URDF files, read by MuJoCo and
 * by the scenario's own reader. */
#include "freefloat/command.h"
#include "scenario/urdf.h"

#include "../unit/command/arms.h"
#include "support.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <unistd.h>

static void write_urdf(const arm_urdf *arm, const ff_arm_config *config, char *text, size_t size) {
    size_t n = (size_t)snprintf(text, size, "<robot name='arm'>\n<link name='l0'/>\n");
    for (int i = 0; i <= arm->axes; i++) {
        const arm_row *row = &arm->row[i];
        const bool fixed = i == arm->axes;
        n += (size_t)snprintf(text + n, size - n,
                              "<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' "
                              "ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
                              "<joint name='j%d' type='%s'><parent link='l%d'/><child link='l%d'/>"
                              "<origin xyz='%.17g %.17g %.17g' rpy='%.17g %.17g %.17g'/>"
                              "<axis xyz='%.17g %.17g %.17g'/>",
                              i + 1, i + 1, fixed ? "fixed" : "revolute", i, i + 1, row->xyz[0], row->xyz[1],
                              row->xyz[2], row->rpy[0], row->rpy[1], row->rpy[2], row->axis[0], row->axis[1],
                              row->axis[2]);
        if (!fixed)
            n += (size_t)snprintf(text + n, size - n,
                                  "<limit lower='%.17g' upper='%.17g' effort='1' velocity='%.17g'/>",
                                  config->lower[i], config->upper[i], config->speed[i]);
        n += (size_t)snprintf(text + n, size - n, "</joint>\n");
    }
    snprintf(text + n, size - n, "</robot>\n");
}

static double apart(const ff_pose *T, const mjtNum *p, const mjtNum *R) {
    const ff_mat3 own = ff_quat_to_mat3(T->q);
    double worst = 0;
    for (int r = 0; r < 3; r++) {
        worst = fmax(worst, fabs(T->p.a[r] - p[r]));
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(own.m[r][c] - R[3 * r + c]));
    }
    return worst;
}

static void test_arms_are_where_mujoco_puts_them(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    static char text[16384];
    static ff_urdf urdf;
    for (int n = 0; n < ARM_URDFS; n++) {
        const arm_urdf *arm = &arm_urdfs[n];
        ff_arm_config named, read;
        ff_arm_model model, from_file;
        char message[400] = "", path[64];
        ff_arm_default(arm->kind, &named);
        assert_int_equal(ff_arm_create(&named, &model), FF_OK);
        write_urdf(arm, &named, text, sizeof text);
        assert_int_equal(ff_urdf_parse("F", text, strlen(text), true, &urdf, message, sizeof message), FF_OK);
        char tip[16];
        snprintf(tip, sizeof tip, "l%d", arm->axes + 1);
        assert_int_equal(ff_urdf_arm("F", &urdf, "l0", tip, &read, message, sizeof message), FF_OK);
        assert_int_equal(ff_arm_create(&read, &from_file), FF_OK);
        assert_int_equal(from_file.form, model.form); /* the same inverse from the file as by name */

        snprintf(path, sizeof path, "/tmp/ff_arm_%d_%d.xml", (int)getpid(), n);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        /* the fixed tip would be merged into its parent, and moving frames renamed to their CoM */
        fputs(text, file);
        fclose(file);
        char error[400] = "";
        mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
        unlink(path);
        if (!m)
            fail_msg("MuJoCo: %s", error);
        mjData *d = mj_makeData(m);
        assert_int_equal(m->nq, arm->axes);
        char last[16];
        snprintf(last, sizeof last, "l%d", arm->axes);
        const int body = mj_name2id(m, mjOBJ_BODY, last);
        assert_true(body > 0);
        ff_arm_config open = read; /* the last moving link: MuJoCo has no frame of its own for a fixed tip */
        assert_int_equal(ff_urdf_arm("F", &urdf, "", last, &open, message, sizeof message), FF_OK);
        ff_arm_model to_last;
        assert_int_equal(ff_arm_create(&open, &to_last), FF_OK);
        double worst = 0, worst_inverse = 0;
        for (int i = 0; i < test_count(300, 100000); i++) {
            ff_arm_joints j = {.rail = 0};
            for (int a = 0; a < arm->axes; a++)
                d->qpos[a] = j.a[a] = ff_rng_range(&rng, named.lower[a], named.upper[a]);
            mj_kinematics(m, d);
            const ff_pose T = ff_arm_forward(&to_last, &j);
            worst = fmax(worst, apart(&T, d->xpos + 3 * body, d->xmat + 9 * body));
            const ff_pose tipped = ff_arm_forward(&from_file, &j), by_name = ff_arm_forward(&model, &j);
            worst = fmax(worst, ff_vec3_norm(ff_vec3_sub(tipped.p, by_name.p)));
            worst = fmax(worst, ff_quat_angle(tipped.q, by_name.q));
            /* the inverse, looked at by MuJoCo */
            if (!(ff_arm_singularity(&to_last, &j).smallest > 1e-3))
                continue;
            ff_arm_joints near = j, back;
            for (int a = 0; a < arm->axes; a++)
                near.a[a] += ff_rng_range(&rng, -1e-3, 1e-3);
            if (ff_arm_inverse(&to_last, &T, &near, &back, NULL) != FF_OK)
                continue; /* the seventh axis at an end */
            for (int a = 0; a < arm->axes; a++)
                d->qpos[a] = back.a[a];
            mj_kinematics(m, d);
            worst_inverse = fmax(worst_inverse, apart(&T, d->xpos + 3 * body, d->xmat + 9 * body));
        }
        print_message("%s: forward %.1e, inverse %.1e beside MuJoCo\n", ff_arm_name(arm->kind), worst,
                      worst_inverse);
        assert_true(worst < 1e-9);
        assert_true(worst_inverse < 1e-9);
        mj_deleteData(d);
        mj_deleteModel(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arms_are_where_mujoco_puts_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
