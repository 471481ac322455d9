/* The servicer's tree (free base, seven joints) against MuJoCo on the same model in the same run: mass matrix
 * and bias, forward dynamics, Coriolis matrix, Jacobian. Rounds are interleaved, so that both feel the same
 * machine; the best and the median round are printed. Positions change from call to call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

#include "bench.h"
#include "../tests/servicer_model.h"

enum { CALLS = 1000, ROUNDS = 201, STATES = 64 };

static void mujoco_error(const char *message) {
    fprintf(stderr, "MuJoCo: %s\n", message);
    exit(1);
}

static void body_xml(FILE *out, const servicer_model *s, int i) {
    const ff_tree_link_config *k = &s->link[i];
    fprintf(
        out,
        "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><joint type='hinge' axis='0 0 1'/>"
        "<inertial pos='%.17g %.17g %.17g' mass='%.17g' fullinertia='%.17g %.17g %.17g %.17g %.17g %.17g'/>",
        k->pose.p.x, k->pose.p.y, k->pose.p.z, k->pose.q.w, k->pose.q.x, k->pose.q.y, k->pose.q.z, k->com.x,
        k->com.y, k->com.z, k->mass, k->inertia[0], k->inertia[1], k->inertia[2], k->inertia[3],
        k->inertia[4], k->inertia[5]);
    if (i + 1 < SERVICER_JOINTS)
        body_xml(out, s, i + 1);
    fprintf(out, "</body>");
}

static mjModel *mujoco_model(const servicer_model *s) {
    char path[] = "/tmp/freefloat-bench-XXXXXX";
    const int file = mkstemp(path);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!out)
        mujoco_error("no temporary file");
    const double *j = s->config.base_inertia;
    fprintf(out,
            "<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81'/><worldbody><body><freejoint/>"
            "<inertial pos='0 0 0' mass='%.17g' fullinertia='%.17g %.17g %.17g %.17g %.17g %.17g'/>",
            s->config.base_mass, j[0], j[1], j[2], j[3], j[4], j[5]);
    body_xml(out, s, 0);
    fprintf(out, "</body></worldbody></mujoco>");
    fclose(out);
    char error[500] = "";
    mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
    remove(path);
    if (!m)
        mujoco_error(error);
    return m;
}

static ff_tree_model *tree;
static ff_tree_work *work;
static ff_tree_state states[STATES];
static ff_tree_force forces[STATES];
static mjModel *mj;
static mjData *data;
static double qpos[STATES][14], qvel[STATES][13];
static volatile double sink;
static const ff_vec3 gravity = {{0, 0, -9.81}};

static void ours_kinematics(int k) {
    ff_tree_kinematics(tree, &states[k], work, gravity);
    sink = work != NULL;
}

static void ours_mass_and_bias(int k) {
    double M[13 * 13], bias[13];
    ff_tree_kinematics(tree, &states[k], work, gravity);
    ff_tree_mass_matrix(tree, work, M);
    ff_tree_bias(tree, work, bias);
    sink = M[168] + bias[12];
}

static void ours_forward(int k) {
    ff_tree_acceleration a;
    ff_tree_kinematics(tree, &states[k], work, gravity);
    if (ff_tree_forward_dynamics(tree, work, &forces[k], NULL, &a))
        mujoco_error("forward dynamics failed");
    sink = a.qdd[6];
}

static void ours_coriolis(int k) {
    double C[13 * 13];
    ff_tree_kinematics(tree, &states[k], work, gravity);
    ff_tree_coriolis(tree, work, C);
    sink = C[168];
}

static void ours_jacobian(int k) {
    double J[6 * 13];
    const ff_tree_frame frame = servicer_gripper();
    ff_tree_positions(tree, &states[k], work, gravity);
    ff_tree_frame_jacobian(tree, work, &frame, J);
    sink = J[77];
}

static void theirs_set(int k) {
    memcpy(data->qpos, qpos[k], sizeof qpos[k]);
    memcpy(data->qvel, qvel[k], sizeof qvel[k]);
}

static void theirs_mass_and_bias(int k) {
    theirs_set(k);
    mj_kinematics(mj, data);
    mj_comPos(mj, data);
    mj_crb(mj, data);
    mj_comVel(mj, data);
    mj_rne(mj, data, 0, data->qfrc_bias);
    sink = data->qfrc_bias[12];
}

static void theirs_forward(int k) {
    double x[13];
    theirs_mass_and_bias(k);
    mj_factorM(mj, data);
    for (int i = 0; i < 13; i++)
        x[i] = (i < 6 ? 0.0 : forces[k].torque[i - 6]) - data->qfrc_bias[i];
    mj_solveM(mj, data, x, x, 1);
    sink = x[12];
}

static void theirs_jacobian(int k) {
    double p[39], r[39];
    theirs_set(k);
    mj_kinematics(mj, data);
    mj_comPos(mj, data);
    mj_jacBody(mj, data, p, r, mj->nbody - 1);
    sink = p[38];
}

typedef struct contest {
    const char *name;
    void (*ours)(int);
    void (*theirs)(int);
} contest;

static double round_ns(void (*call)(int)) {
    const double start = bench_now_ns();
    for (int i = 0; i < CALLS; i++)
        call(i % STATES);
    return (bench_now_ns() - start) / CALLS;
}

int main(int argc, char **argv) {
    mju_user_error = mujoco_error;
    servicer_model servicer;
    servicer_model_make(&servicer);
    static max_align_t model_memory[2048], work_memory[4096];
    char message[200];
    if (ff_tree_create(&servicer.config, model_memory, sizeof model_memory, &tree, message, sizeof message) ||
        ff_tree_work_create(tree, work_memory, sizeof work_memory, &work))
        mujoco_error(message);
    mj = mujoco_model(&servicer);
    data = mj_makeData(mj);

    ff_rng rng;
    ff_rng_seed(&rng, 1, 0);
    for (int k = 0; k < STATES; k++) {
        ff_tree_state_default(&states[k]);
        for (int i = 0; i < 3; i++) {
            states[k].base.p.a[i] = ff_rng_range(&rng, -1, 1);
            states[k].twist.w.a[i] = ff_rng_range(&rng, -1, 1);
            states[k].twist.v.a[i] = ff_rng_range(&rng, -1, 1);
        }
        states[k].base.q = ff_quat_unit(
            (ff_quat){ff_rng_normal(&rng), ff_rng_normal(&rng), ff_rng_normal(&rng), ff_rng_normal(&rng)});
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            states[k].q[i] = ff_rng_range(&rng, -3, 3);
            states[k].qd[i] = ff_rng_range(&rng, -1, 1);
            forces[k].torque[i] = ff_rng_range(&rng, -10, 10);
            qpos[k][7 + i] = states[k].q[i];
            qvel[k][6 + i] = states[k].qd[i];
        }
        const ff_quat q = states[k].base.q;
        const ff_vec3 v = ff_quat_rotate(q, states[k].twist.v);
        memcpy(qpos[k], states[k].base.p.a, 3 * sizeof(double));
        memcpy(&qpos[k][3], (double[]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
        memcpy(qvel[k], v.a, 3 * sizeof(double));
        memcpy(&qvel[k][3], states[k].twist.w.a, 3 * sizeof(double));
    }

    if (argc > 1 && strcmp(argv[1], "--once") == 0) {
        /* for instruction counts: valgrind --tool=callgrind --toggle-collect='ours_*' bench_tree_mujoco
         * --once */
        for (int k = 0; k < STATES; k++) {
            ours_mass_and_bias(k);
            ours_forward(k);
            theirs_mass_and_bias(k);
        }
        return 0;
    }

    static const contest contests[] = {
        {"kinematics", ours_kinematics, NULL},
        {"mass matrix and bias", ours_mass_and_bias, theirs_mass_and_bias},
        {"forward dynamics", ours_forward, theirs_forward},
        {"Coriolis matrix", ours_coriolis, NULL},
        {"Jacobian", ours_jacobian, theirs_jacobian},
    };
    printf("tree of the servicer, free base and %d joints; ns per call, best and median of %d rounds of %d "
           "calls\n",
           SERVICER_JOINTS, ROUNDS, CALLS);
    printf("%-22s %9s %9s %9s %9s %7s\n", "", "ours", "median", "MuJoCo", "median", "ratio");
    for (size_t c = 0; c < sizeof contests / sizeof contests[0]; c++) {
        static double ours[ROUNDS], theirs[ROUNDS];
        for (int r = 0; r < ROUNDS; r++) {
            ours[r] = round_ns(contests[c].ours);
            theirs[r] = contests[c].theirs ? round_ns(contests[c].theirs) : 0.0;
        }
        bench_sort(ours, ROUNDS);
        bench_sort(theirs, ROUNDS);
        printf("%-22s %9.0f %9.0f ", contests[c].name, ours[0], ours[ROUNDS / 2]);
        if (contests[c].theirs)
            printf("%9.0f %9.0f %7.2f\n", theirs[0], theirs[ROUNDS / 2],
                   theirs[ROUNDS / 2] / ours[ROUNDS / 2]);
        else
            printf("\n");
        char name[64];
        snprintf(name, sizeof name, "tree of 7 joints: %s", contests[c].name);
        bench_row(name, "ns", ours[0], contests[c].theirs ? "MuJoCo" : "", theirs[0]);
    }
    mj_deleteData(data);
    mj_deleteModel(mj);
    return 0;
}
