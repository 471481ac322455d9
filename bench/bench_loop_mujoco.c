/* One 6-DoF loop step under each integrator and method, beside MuJoCo's mj_step of one free body, in one run:
 * batches are interleaved, the median of the batches is shown, so that a busy machine disturbs both alike.
 * Then the real-time factor of a whole virtual run without log or reference. Instructions: valgrind
 * --tool=callgrind bench_loop_mujoco count */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "executive/run.h"

enum { BATCH = 500, BATCHES = 401 }; /* short batches: most of them fall between two preemptions */

typedef struct subject {
    const char *name;
    ff_scheme scheme;
    const ff_method *method;
    ff_loop_model *model;
    ff_loop_state *state;
    ff_loop_info info;
    ff_loop_in in;
    ff_loop_out out;
    double ns[BATCHES];
} subject;

static void subject_start(subject *s) {
    ff_loop_config config;
    ff_loop_default(&config);
    config.integrate.scheme = s->scheme;
    config.method = s->method;
    ff_settings_default(s->method, 0, &config.setting);
    config.body[0].rigid.mass = 280;
    config.body[0].rigid.inertia = ff_mat3_diag(18, 20, 22);
    config.body[0].start.velocity = ff_vec3_make(0.01, 0.015, 0.02);
    config.body[0].start.omega = ff_vec3_make(0.01, 0.02, 0.03);
    s->model = bench_loop(&config, &s->state, &s->info, &s->out);
    if (!s->model)
        abort();
}

/* A wrench that swings, so that contact begins, reverses and ends again and again. */
static void subject_batch(subject *s, int count) {
    for (int k = 0; k < count; k++) {
        const double f = 10.0 * sin(0.01 * (double)s->state->k);
        s->in.sensor[0].T_wb = s->out.next[0].T;
        s->in.sensor[0].twist = s->out.next[0].twist;
        s->in.sensor[0].f_s = (ff_wrench){{{0.1 * f, -0.05 * f, 0.02 * f}}, {{f > 0 ? 0 : f, 0.3 * f, f}}};
        if (ff_loop_step(s->model, s->state, &s->info, &s->in, &s->out) != FF_OK)
            abort();
    }
}

static void on_error(const char *message) {
    fprintf(stderr, "MuJoCo: %s\n", message);
    exit(1);
}

static mjModel *free_body(void) {
    static const char xml[] =
        "<mujoco><option timestep='0.004' gravity='0 0 0'/><worldbody><body><freejoint/>"
        "<inertial pos='0 0 0' mass='280' diaginertia='18 20 22'/></body></worldbody></mujoco>";
    mjVFS vfs;
    mj_defaultVFS(&vfs);
    mj_makeEmptyFileVFS(&vfs, "body.xml", (int)strlen(xml));
    memcpy(vfs.filedata[mj_findFileVFS(&vfs, "body.xml")], xml, strlen(xml));
    char error[256];
    mjModel *m = mj_loadXML("body.xml", &vfs, error, sizeof error);
    mj_deleteVFS(&vfs);
    if (!m)
        on_error(error);
    return m;
}

static void real_time_factor(void) {
    ff_scenario *s = malloc(sizeof *s);
    char message[256], warnings[256];
    const char *const sets[] = {"time.duration=600"};
    const ff_scenario_options options = {.set = sets, .sets = 1};
    if (!s || ff_scenario_load("scenarios/deos-client.yaml", &options, s, message, sizeof message, warnings,
                               sizeof warnings) != FF_OK) {
        printf("real-time factor: run from the project's folder\n");
        free(s);
        return;
    }
    double factor[5];
    for (int i = 0; i < 5; i++) {
        const ff_run_options run = {0};
        ff_run_result result;
        ff_run(s, &run, &result);
        factor[i] = s->duration / result.wall_s;
    }
    printf("real-time factor of run, T = %g s, no log, no reference: %.0f (aim 5000)\n", s->cycle,
           bench_median(factor, 5));
    free(s);
}

int main(int argc, char **argv) {
    static subject subjects[] = {
        {.name = "tdpa, lie-midpoint", .scheme = FF_SCHEME_LIE_MIDPOINT, .method = &ff_method_tdpa},
        {.name = "tdpa, euler", .scheme = FF_SCHEME_EULER, .method = &ff_method_tdpa},
        {.name = "tdpa, passive", .scheme = FF_SCHEME_PASSIVE, .method = &ff_method_tdpa},
        {.name = "tdpa, splitting", .scheme = FF_SCHEME_SPLITTING, .method = &ff_method_tdpa},
        {.name = "direct, lie-midpoint", .scheme = FF_SCHEME_LIE_MIDPOINT, .method = &ff_method_direct}};
    const int count = sizeof subjects / sizeof *subjects;
    for (int i = 0; i < count; i++)
        subject_start(&subjects[i]);
    if (argc > 1 && strcmp(argv[1], "count") == 0) { /* for callgrind: the default step alone */
        subject_batch(&subjects[0], 1000);
        return 0;
    }
    mju_user_error = on_error;
    mjModel *m = free_body();
    mjData *d = mj_makeData(m);
    d->qvel[0] = 0.01, d->qvel[3] = 0.1, d->qvel[4] = 0.2;
    double mujoco[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
        for (int i = 0; i < count; i++) {
            const double begin = bench_now_ns();
            subject_batch(&subjects[i], BATCH);
            subjects[i].ns[b] = (bench_now_ns() - begin) / BATCH;
        }
        const double begin = bench_now_ns();
        for (int k = 0; k < BATCH; k++)
            mj_step(m, d);
        mujoco[b] = (bench_now_ns() - begin) / BATCH;
    }
    const double reference = bench_median(mujoco, BATCHES);
    printf("loop step, one body, 6 DoF          ns   MuJoCo's mj_step over it\n");
    for (int i = 0; i < count; i++) {
        const double ns = bench_median(subjects[i].ns, BATCHES);
        printf("%-30s %8.0f   %.2f\n", subjects[i].name, ns, reference / ns);
        char name[64];
        snprintf(name, sizeof name, "loop step: %s", subjects[i].name);
        bench_row(name, "ns", ns, "MuJoCo's mj_step, free body", reference);
    }
    printf("%-30s %8.0f   1    (aim of the step: 500 ns or less)\n", "mj_step of one free body", reference);
    mj_deleteData(d);
    mj_deleteModel(m);
    real_time_factor();
    return 0;
}
