/* Time of one whole servicer cycle: client, nominal motion, base (18), arm torque (22), mapping (23); and of
 * the rigid loop in both frames. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../tests/servicer_model.h"
#include "freefloat/loop.h"

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { RUNS = 20000 };
static double sample[RUNS];

static void report(const char *name) {
    double sum = 0;
    for (int i = 0; i < RUNS; i++)
        sum += sample[i];
    qsort(sample, RUNS, sizeof *sample, ascending);
    printf("%-34s mean %8.0f ns  median %8.0f  p99 %8.0f  worst %8.0f\n", name, sum / RUNS, sample[RUNS / 2],
           sample[RUNS * 99 / 100], sample[RUNS - 1]);
}

static void servicer(void) {
    static _Alignas(64) unsigned char a[200000], b[200000];
    servicer_model table;
    ff_tree_model *tree;
    ff_tree_work *work;
    servicer_model_make(&table);
    if (ff_tree_create(&table.config, a, sizeof a, &tree, NULL, 0) != FF_OK ||
        ff_tree_work_create(tree, b, sizeof b, &work) != FF_OK)
        return;
    static ff_capture_config config;
    static ff_capture_model model;
    static ff_capture_state state;
    static ff_capture_in in;
    static ff_capture_out out;
    config.integrate = (ff_integrate_config){.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 0.004};
    config.client = (ff_rigid_config){7828, ff_mat3_diag(17000, 124800, 129100)};
    config.client_start = (ff_rigid_state){.attitude = {1, 0, 0, 0}, .omega = {{0.01, 0.02, -0.04}}};
    config.servicer = (ff_servicer_model){tree, servicer_gripper(), {{0, 0, -9.81}}};
    ff_tree_state_default(&config.servicer_start);
    config.servicer_start.base.p.x = -5;
    for (int i = 0; i < 2; i++)
        ff_gate_default(&config.gate[i]);
    if (ff_capture_create(&config, &model, NULL, 0) != FF_OK)
        return;
    ff_capture_reset(&model, &state, work, &out);
    static ff_servicer_in arm;
    ff_tree_state orbit;
    double tau[FF_TREE_JOINTS_MAX];
    for (int k = 0; k < RUNS; k++) {
        for (int i = 0; i < 2; i++)
            in.robot[i] = out.next[i];
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            in.q[i] = 0.5 + 0.3 * sin(0.001 * k + i);
            in.qd[i] = 0.1 * cos(0.001 * k + i);
        }
        in.F_e = (ff_wrench){{{0.1, 0.2, 0.3}}, {{5, -3, 2}}};
        const double begin = now_ns();
        ff_capture_servicer_in(&model, &state, &in.robot[1], &arm);
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            arm.q[i] = in.q[i];
            arm.qd[i] = in.qd[i];
        }
        ff_servicer_torque(&model.config.servicer, work, &arm, tau);
        ff_servicer_map(&model.config.servicer, &arm, &orbit);
        ff_capture_step(&model, &state, work, &in, &out);
        sample[k] = now_ns() - begin;
    }
    report("servicer cycle, base and 7 joints");
}

static void rigid(bool relative) {
    static ff_loop_config config;
    static ff_loop_model model;
    static ff_loop_state state;
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
    if (ff_loop_create(&config, &model, NULL, 0) != FF_OK)
        return;
    ff_loop_reset(&model, &state, &info, &out);
    for (int k = 0; k < RUNS; k++) {
        for (int i = 0; i < 2; i++) {
            in.sensor[i].T_wb = out.next[i].T;
            in.sensor[i].twist = out.next[i].twist;
        }
        const double begin = now_ns();
        for (int n = 0; n < 8; n++)
            ff_loop_step(&model, &state, &info, &in, &out);
        sample[k] = (now_ns() - begin) / 8;
    }
    report(relative ? "two rigid bodies, relative" : "two rigid bodies, absolute");
}

int main(void) {
    servicer();
    rigid(false);
    rigid(true);
    return 0;
}
