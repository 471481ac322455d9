/* Time of one whole servicer cycle: client, nominal motion, base (18), arm torque (22), mapping (23); and of
 * the rigid loop in both frames.
 * bench_servicer count servicer|tdpa|damping|absolute|relative: the same steps without clock, for callgrind
 * (tools/bench). */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "../tests/servicer_model.h"
#include "freefloat/loop.h"

enum { RUNS = 20000, COUNTED = 1000 };
static double sample[RUNS];
static int runs = RUNS;

static void report(const char *name) {
    double sum = 0;
    if (runs < RUNS)
        return;
    for (int i = 0; i < RUNS; i++)
        sum += sample[i];
    bench_sort(sample, RUNS);
    printf("%-34s mean %8.0f ns  median %8.0f  p99 %8.0f  worst %8.0f\n", name, sum / RUNS, sample[RUNS / 2],
           sample[RUNS * 99 / 100], sample[RUNS - 1]);
}

static struct bench_servicer {
    ff_tree_work *work;
    ff_servicer_model servicer;
    ff_loop_config config;
    ff_loop_model *model;
    ff_loop_state *state;
    ff_loop_info info;
    ff_loop_in in;
    ff_loop_out out;
    ff_servicer_in arm;
    ff_tree_state orbit;
    double tau[FF_TREE_JOINTS_MAX];
} s;

/* One whole cycle; a function of its own so that instructions can be counted by its name. */
__attribute__((noinline)) void ff_bench_servicer_cycle(void);
__attribute__((noinline)) void ff_bench_servicer_cycle(void) {
    const ff_rigid_state *n = &s.state->nominal.motion;
    const ff_wrench_in *robot = &s.in.sensor[1];
    s.arm.g_n = ff_rigid_pose(n);
    s.arm.V_n = ff_rigid_twist(n);
    s.arm.A_n = ff_rigid_body_acceleration(&s.model->nominal.model, s.arm.V_n, ff_wrench_zero());
    s.arm.g_m = robot->T_wb;
    s.arm.V_m = (ff_twist){robot->twist.w, ff_quat_unrotate(robot->T_wb.q, robot->twist.v)};
    for (int i = 0; i < SERVICER_JOINTS; i++) {
        s.arm.q[i] = s.in.q[1][i];
        s.arm.qd[i] = s.in.qd[1][i];
    }
    ff_servicer_torque(&s.servicer, s.work, &s.arm, s.tau);
    ff_servicer_map(&s.servicer, &s.arm, &s.orbit);
    ff_loop_step(s.model, s.state, &s.info, &s.in, &s.out);
}

static bool prepare(const ff_method *method) {
    static _Alignas(64) unsigned char a[200000], b[200000], c[200000], d[100000];
    static _Alignas(64) unsigned char e[4000000];
    servicer_model table;
    ff_tree_model *tree;
    ff_body body;
    servicer_model_make(&table);
    ff_loop_config *config = &s.config;
    ff_loop_default(config);
    ff_loop_joints_config *joints = &config->joints;
    joints->body = 1;
    joints->port = servicer_gripper();
    if (ff_tree_create(&table.config, a, sizeof a, &tree, NULL, 0) != FF_OK ||
        ff_tree_work_create(tree, b, sizeof b, &s.work) != FF_OK ||
        ff_body_tree(tree, 1, &joints->port, &body) != FF_OK ||
        ff_body_work_create(&body, c, sizeof c, &joints->work) != FF_OK)
        return false;
    joints->tree = tree;
    s.servicer = (ff_servicer_model){tree, servicer_gripper(), {{0, 0, -9.81}}};
    config->bodies = 2;
    config->body[0].rigid = (ff_rigid_config){7828, ff_mat3_diag(17000, 124800, 129100)};
    config->body[0].start.omega = ff_vec3_make(0.01, 0.02, -0.04);
    config->body[0].reacts = true;
    config->body[1].start.position.x = -5;
    config->relative.enabled = true;
    config->method = method;
    ff_settings_default(method, 0, &config->setting);
    config->world.grasp = (ff_world_grasp){.body = 1};
    s.model = (ff_loop_model *)(void *)d;
    s.state = (ff_loop_state *)(void *)e;
    return ff_loop_create(config, s.model, sizeof d, NULL, 0) == FF_OK &&
           ff_loop_reset(s.model, s.state, sizeof e, &s.info, &s.out) == FF_OK;
}

static void servicer(const ff_method *method) {
    if (!prepare(method))
        return;
    for (int k = 0; k < runs; k++) {
        for (int i = 0; i < 2; i++)
            s.in.sensor[i] = (ff_wrench_in){.T_wb = s.out.next[i].T, .twist = s.out.next[i].twist};
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            s.in.q[1][i] = 0.5 + 0.3 * sin(0.001 * k + i);
            s.in.qd[1][i] = 0.1 * cos(0.001 * k + i);
        }
        /* a contact comes and goes: the worst cycle is in it */
        const double push = k % 200 < 100 ? sin(FF_PI * (k % 200) / 100.0) : 0.0;
        s.in.sensor[1].f_s = (ff_wrench){ff_vec3_scale(push, ff_vec3_make(0.1, 0.2, 0.3)),
                                         ff_vec3_scale(push, ff_vec3_make(5, -3, 2))};
        const double begin = bench_now_ns();
        ff_bench_servicer_cycle();
        sample[k] = bench_now_ns() - begin;
    }
    char name[64];
    snprintf(name, sizeof name, "servicer cycle, 7 joints, %s", method->name);
    report(name);
}

static void rigid(bool relative) {
    static ff_loop_config config;
    ff_loop_state *state;
    static ff_loop_info info;
    static ff_loop_in in;
    static ff_loop_out out;
    ff_loop_default(&config);
    config.bodies = 2;
    for (int i = 0; i < 2; i++) {
        config.body[i].rigid = (ff_rigid_config){i ? 1500 : 7828, ff_mat3_diag(900, 1100, 1200)};
        config.body[i].start.omega = ff_vec3_make(0.01, 0.02, -0.04);
    }
    config.relative.enabled = relative;
    ff_loop_model *model = bench_loop(&config, &state, &info, &out);
    if (!model)
        return;
    for (int k = 0; k < runs; k++) {
        for (int i = 0; i < 2; i++) {
            in.sensor[i].T_wb = out.next[i].T;
            in.sensor[i].twist = out.next[i].twist;
        }
        const double begin = bench_now_ns();
        for (int n = 0; n < (runs < RUNS ? 1 : 8); n++)
            ff_loop_step(model, state, &info, &in, &out);
        sample[k] = (bench_now_ns() - begin) / 8;
    }
    free(model);
    free(state);
    report(relative ? "two rigid bodies, relative" : "two rigid bodies, absolute");
}

int main(int argc, char **argv) {
    const char *what = argc > 2 && strcmp(argv[1], "count") == 0 ? argv[2] : NULL;
    if (what)
        runs = COUNTED;
    if (!what || strcmp(what, "servicer") == 0)
        servicer(&ff_method_direct);
    if (!what || strcmp(what, "tdpa") == 0)
        servicer(&ff_method_tdpa);
    if (!what || strcmp(what, "damping") == 0)
        servicer(&ff_method_damping);
    if (!what || strcmp(what, "absolute") == 0)
        rigid(false);
    if (!what || strcmp(what, "relative") == 0)
        rigid(true);
    return 0;
}
