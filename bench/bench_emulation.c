/* One step of the emulation of a seven-joint flexible arm (m = 14, and m = 20 on a floating base) by a
 * six-joint robot: mean, median and worst time of a closed loop, and the instructions of one step, counted
 * one by one by ptrace: a typical step, and one that starts so far off the constraint that Newton uses all
 * its passes. The limit is 20 us in the mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "freefloat/emulation.h"

enum { STEPS = 20000 };

/* Instructions of one step in a child that stops before and after it; -1 where ptrace is not allowed. */
static long count_instructions(const ff_emulation_model *model, const ff_emulation_state *from,
                               ff_emulation_work *work, const ff_emulation_in *in, double T) {
    const pid_t child = fork();
    if (child == 0) {
        ff_emulation_state state = *from;
        ff_emulation_out out;
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        ff_emulation_step(model, &state, work, in, T, &out);
        _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return -1;
    long count = 0;
    while (WIFSTOPPED(status)) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child)
            break;
        count++;
    }
    return count;
}

static void *block[4];
static int blocks;

static void *need(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return block[blocks++] = memory;
}

static void links(ff_tree_link_config *link, int joints, double mass, double length, bool seven) {
    for (int i = 0; i < joints; i++) {
        ff_tree_link_default(&link[i]);
        link[i].parent = i - 1;
        link[i].pose.p = ff_vec3_make(0, 0, i ? length : 0.2);
        const bool along = seven ? i % 2 == 0 : i == 0 || i == 3 || i == 5;
        link[i].axis = ff_vec3_make(0, along ? 0 : 1, along ? 1 : 0);
        link[i].mass = mass;
        link[i].com = ff_vec3_make(0.01, 0.005 * i, 0.5 * length);
        link[i].inertia[0] = link[i].inertia[1] = link[i].inertia[2] = mass * length * length / 12.0;
    }
}

static ff_tree_mechanism make(const ff_tree_config *config) {
    ff_tree_mechanism m = {.base = ff_pose_identity()};
    ff_tree_model *tree;
    const size_t bytes = ff_tree_memsize(config);
    char message[200] = "";
    if (ff_tree_create(config, need(bytes), bytes, &tree, message, sizeof message) != FF_OK) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    const size_t work = ff_tree_work_memsize(tree);
    if (ff_tree_work_create(tree, need(work), work, &m.tree_work) != FF_OK)
        exit(1);
    m.tree = tree;
    m.frame = (ff_tree_frame){(int)config->links - 1, {{1, 0, 0, 0}, {{0, 0, 0.2}}}};
    return m;
}

/* The robot under the held torque, outside the clock. */
static void move(const ff_mechanism *robot, ff_mechanism_terms *terms, double *q, double *v,
                 const double *torque, const double *f, double T) {
    double a[6];
    robot->terms(robot, q, v, FF_TERMS_ALL, terms);
    for (size_t j = 0; j < 6; j++) {
        a[j] = torque[j] - terms->h[j];
        for (size_t i = 0; i < 6; i++)
            a[j] += terms->J[i * 6 + j] * f[i];
    }
    if (ff_cholesky_factor(6, terms->M) != FF_OK)
        exit(1);
    ff_cholesky_solve(6, terms->M, a);
    for (size_t j = 0; j < 6; j++) {
        q[j] += T * v[j] + 0.5 * T * T * a[j];
        v[j] += T * a[j];
    }
}

static void bench(bool floating, ff_emulation_scheme scheme) {
    static ff_emulation_work work;
    static double time_ns[STEPS];
    ff_tree_link_config target_link[7], robot_link[6];
    links(target_link, 7, 4.0, 0.25, true);
    links(robot_link, 6, 8.0, 0.3, false);
    ff_tree_config tc = {.fixed_base = !floating, .links = 7, .link = target_link, .base_mass = 300};
    tc.base_inertia[0] = tc.base_inertia[1] = tc.base_inertia[2] = 60;
    ff_tree_mechanism ts = make(&tc);
    ff_tree_mechanism tr = make(&(ff_tree_config){.fixed_base = true, .links = 6, .link = robot_link});
    ts.flexible = true;
    for (int i = 0; i < 7; i++) {
        ts.motor_inertia[i] = 0.3;
        ts.stiffness[i] = 150;
        ts.damping[i] = 1;
    }
    tr.gravity = ff_vec3_make(0, 0, -9.81);
    ff_mechanism target, robot;
    ff_emulation_config config;
    ff_emulation_model model;
    ff_emulation_state state;
    ff_emulation_out out;
    ff_emulation_default(&config);
    config.scheme = scheme;
    if (ff_tree_mechanism_create(&ts, &target) != FF_OK || ff_tree_mechanism_create(&tr, &robot) != FF_OK ||
        ff_emulation_create(&config, &target, &robot, &model, NULL, 0) != FF_OK)
        exit(1);
    double q_s[21] = {0}, v_s[20] = {0}, q0[6] = {0.3, 0.7, 0.8, -0.4, 0.9, 0.2}, v0[6] = {0};
    static const double joints[7] = {0.2, 0.6, -0.3, 0.9, 0.2, 0.7, 0.1};
    if (floating)
        q_s[0] = 1;
    for (size_t i = 0; i < 7; i++)
        q_s[(floating ? 7 : 0) + i] = q_s[(floating ? 14 : 7) + i] = joints[i];
    static ff_mechanism_terms a, b;
    target.terms(&target, q_s, v_s, FF_TERMS_ALL, &a);
    robot.terms(&robot, q0, v0, FF_TERMS_ALL, &b);
    tr.base = ff_pose_mul(a.pose.pose, ff_pose_inverse(b.pose.pose));
    if (ff_emulation_reset(&model, &state, &work, q_s, v_s, q0, v0) != FF_OK)
        exit(1);

    double sum = 0, worst = 0;
    const double T = 0.001, force[20] = {0};
    size_t faults = 0;
    for (int k = -1000; k < STEPS; k++) {
        double f[6];
        for (int i = 0; i < 6; i++)
            f[i] = 0.5 * sin(3 * (k + 1000) * T + i);
        const ff_emulation_in in = {q0, v0, f, force, NULL};
        const double t0 = bench_now_ns();
        const ff_status status = ff_emulation_step(&model, &state, &work, &in, T, &out);
        const double spent = bench_now_ns() - t0;
        move(&robot, &a, q0, v0, out.torque, f, T);
        if (k < 0)
            continue;
        faults += status < 0;
        time_ns[k] = spent;
        sum += spent;
        worst = fmax(worst, spent);
    }
    bench_sort(time_ns, STEPS);
    printf("m = %2zu, n = 6, %-11s  mean %6.2f us  median %6.2f us  worst %7.2f us", target.dof,
           scheme == FF_EMULATION_FREE ? "free" : "constrained", sum / STEPS / 1e3, time_ns[STEPS / 2] / 1e3,
           worst / 1e3);
    fflush(stdout);
    const double f[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    const ff_emulation_in in = {q0, v0, f, force, NULL};
    const long typical = count_instructions(&model, &state, &work, &in, T);
    for (size_t i = 0; i < 7; i++) /* nowhere near the constraint */
        state.q[(floating ? 7 : 0) + i] += i % 2 ? 1.1 : -1.3;
    const long most = count_instructions(&model, &state, &work, &in, T);
    if (typical < 0)
        printf("  instructions not countable here");
    else
        printf("  instructions %ld, at most %ld", typical, most);
    puts(faults ? "  FAULTS" : "");
    while (blocks > 0)
        free(block[--blocks]);
}

int main(void) {
    for (int floating = 0; floating < 2; floating++)
        for (int scheme = 0; scheme < 2; scheme++)
            bench(floating, scheme ? FF_EMULATION_FREE : FF_EMULATION_CONSTRAINED);
    puts("limit: 20 us in the mean for m = 14");
    return 0;
}
