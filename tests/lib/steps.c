/* The steps whose instructions are counted: tools/instructions runs this under callgrind, which collects
 * inside of count_*() alone and writes what it has at each dump(). One line on stdout for each dump: a name,
 * and how many calls it holds. The executive's calls of ff_loop_advance come here by the linker (--wrap). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "campaign/worker.h"
#include "executive/run.h"
#include "record/csv.h"
#include "record/log.h"
#include "servicer_model.h"

#define ALONE __attribute__((noinline))

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void dump(void);
ALONE void dump(void) {
    __asm__ volatile("");
}

static void report(const char *name, long calls) {
    printf("%s %ld\n", name, calls);
    dump();
}

/* ---------------------------------------------------------------------------------------------- the tree --
 */

enum { POSTURES = 8 };

static ff_tree_model *tree;
static ff_tree_work *work;
static ff_tree_state state;
static ff_tree_force force;
static volatile double kept;

void count_jacobian(void);
ALONE void count_jacobian(void) {
    double J[6 * 13];
    const ff_tree_frame frame = servicer_gripper();
    ff_tree_positions(tree, &state, work, ff_vec3_zero());
    ff_tree_frame_jacobian(tree, work, &frame, J);
    kept = J[77];
}

void count_mass_and_bias(void);
ALONE void count_mass_and_bias(void) {
    double M[13 * 13], bias[13];
    ff_tree_kinematics(tree, &state, work, ff_vec3_zero());
    ff_tree_mass_matrix(tree, work, M);
    ff_tree_bias(tree, work, bias);
    kept = M[168] + bias[12];
}

void count_forward(void);
ALONE void count_forward(void) {
    ff_tree_acceleration a;
    ff_tree_kinematics(tree, &state, work, ff_vec3_zero());
    if (ff_tree_forward_dynamics(tree, work, &force, NULL, &a) != FF_OK)
        fail("forward dynamics failed");
    kept = a.qdd[6];
}

static void tree_steps(void) {
    static servicer_model servicer;
    static max_align_t model_memory[2048], work_memory[4096];
    char message[200] = "";
    servicer_model_make(&servicer);
    if (ff_tree_create(&servicer.config, model_memory, sizeof model_memory, &tree, message, sizeof message) ||
        ff_tree_work_create(tree, work_memory, sizeof work_memory, &work))
        fail(message);
    static const struct {
        const char *name;
        void (*call)(void);
    } call[] = {{"tree-jacobian", count_jacobian},
                {"tree-mass-and-bias", count_mass_and_bias},
                {"tree-forward", count_forward}};
    for (size_t c = 0; c < sizeof call / sizeof *call; c++) {
        for (int k = 0; k < POSTURES; k++) {
            ff_tree_state_default(&state);
            for (int i = 0; i < SERVICER_JOINTS; i++) {
                state.q[i] = 0.4 * (k - 3) + 0.3 * i;
                state.qd[i] = 0.1 * (i - k);
                force.torque[i] = 1.0 - 0.2 * i;
            }
            call[c].call();
        }
        report(call[c].name, POSTURES);
    }
}

/* --------------------------------------------------------------------------------------------- whole runs --
 */

static const char text[] =
    "name: steps\ntime: {cycle: 0.004, duration: 0.6}\nsatellites:\n"
    "  body: {mass: 280, inertia: [18, 20, 22], velocity: [0.005, 0, 0.05],\n"
    "         angular_velocity: [0.01, 0.02, 0.01], points: {tip: [0.1, 0.05, 0.3]},\n"
    "         robot: {kind: delay, delay: 0.04}, sensor: {kind: noisy, force_noise: 0.2}}\n"
    "contacts:\n  - {name: wall, kind: wall, body: body, point: tip, at: [0, 0, 0.305], normal: [0, 0, -1],\n"
    "     stiffness: 43750, damping: 5}\n";
static const char *const late[] = {"time.cycle=0.001", "time.duration=0.2",
                                   "satellites.body.robot.delay=0.016", "contacts.wall.stiffness=700000"};

static enum { NOTHING, STEPS, EACH_STEP } counted;
static const char *counted_name;
static long counted_calls;

ff_status __real_ff_loop_advance(const ff_loop_model *model, ff_loop_state *s, ff_loop_info *info,
                                 const ff_loop_in *in, ff_loop_out *out);
ff_status __wrap_ff_loop_advance(const ff_loop_model *model, ff_loop_state *s, ff_loop_info *info,
                                 const ff_loop_in *in, ff_loop_out *out);
ff_status count_step(const ff_loop_model *model, ff_loop_state *s, ff_loop_info *info, const ff_loop_in *in,
                     ff_loop_out *out);

ALONE ff_status count_step(const ff_loop_model *model, ff_loop_state *s, ff_loop_info *info,
                           const ff_loop_in *in, ff_loop_out *out) {
    return __real_ff_loop_advance(model, s, info, in, out);
}

ff_status __wrap_ff_loop_advance(const ff_loop_model *model, ff_loop_state *s, ff_loop_info *info,
                                 const ff_loop_in *in, ff_loop_out *out) {
    if (counted == NOTHING)
        return __real_ff_loop_advance(model, s, info, in, out);
    const ff_status status = count_step(model, s, info, in, out);
    counted_calls++;
    if (counted == EACH_STEP)
        report(counted_name, 1);
    return status;
}

void count_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result);
ALONE void count_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    ff_run(scenario, options, result);
}

static ff_scenario *scenario_of(const char *method, bool quick) {
    static ff_scenario scenario;
    char message[512], warnings[512];
    const ff_scenario_options options = {
        .method = method, .set = quick ? late : NULL, .sets = quick ? (int)(sizeof late / sizeof *late) : 0};
    if (ff_scenario_parse("steps", text, sizeof text - 1, &options, &scenario, message, sizeof message,
                          warnings, sizeof warnings) != FF_OK)
        fail(message);
    return &scenario;
}

static void method_steps(const char *name, const char *method, bool quick, bool each) {
    const ff_scenario *scenario = scenario_of(method, quick);
    ff_run_result result;
    counted = each ? EACH_STEP : STEPS;
    counted_name = name;
    counted_calls = 0;
    ff_run(scenario, &(ff_run_options){0}, &result);
    counted = NOTHING;
    if (result.status != FF_OK)
        fail(result.message);
    if (!each)
        report(name, counted_calls);
}

static void whole_run(void) {
    const ff_scenario *scenario = scenario_of("tdpa", false);
    ff_run_result result;
    count_run(scenario, &(ff_run_options){0}, &result);
    report("cycle-with-plant-tdpa", (long)result.cycles);
}

/* --------------------------------------------------------------------------------------------------- logs --
 */

static ff_sink inner;

ff_status count_row(void *self, const ff_row *row);
ALONE ff_status count_row(void *self, const ff_row *row) {
    counted_calls++;
    return inner.row(self, row);
}

static void rows_of_run(const char *name, const ff_scenario *scenario) {
    ff_run_result result;
    ff_sink sink = inner;
    sink.row = count_row;
    counted_calls = 0;
    ff_run(scenario, &(ff_run_options){.sinks = &sink, .count = 1}, &result);
    if (result.status != FF_OK)
        fail(result.message);
    report(name, counted_calls);
}

static void log_rows(const char *folder) {
    static ff_csv csv;
    static ff_log log;
    char path[128];
    const ff_scenario *scenario = scenario_of("tdpa", false);
    snprintf(path, sizeof path, "%s/log.csv", folder);
    if (ff_csv_open(path, scenario, &csv) != FF_OK)
        fail(path);
    inner = ff_csv_sink(&csv);
    rows_of_run("row-of-log.csv", scenario);
    if (ff_csv_close(&csv, true) != FF_OK)
        fail(path);
    unlink(path);
    snprintf(path, sizeof path, "%s/log.mcap", folder);
    if (ff_log_open(path, scenario,
                    &(ff_log_source){.path = "steps", .text = text, .length = sizeof text - 1},
                    &log) != FF_OK)
        fail(path);
    inner = ff_log_sink(&log);
    rows_of_run("row-of-log.mcap", scenario);
    if (ff_log_close(&log) != FF_OK)
        fail(path);
    unlink(path);
}

/* ----------------------------------------------------------------------------------------------- campaign --
 */

ff_status count_sample(ff_worker *worker, uint64_t index, uint32_t mask, ff_record *records, int *count);
ALONE ff_status count_sample(ff_worker *worker, uint64_t index, uint32_t mask, ff_record *records,
                             int *count) {
    return ff_worker_run(worker, index, mask, records, count);
}

static void campaign_samples(const char *name, const char *file, int samples) {
    static ff_campaign campaign;
    static ff_record record[FF_CAMPAIGN_METHODS];
    char path[256], message[1024];
    int count;
    snprintf(path, sizeof path, FF_SOURCE_DIR "/campaigns/%s", file);
    if (ff_campaign_load(path, NULL, &campaign, message, sizeof message, NULL, 0) != FF_OK)
        fail(message);
    /* impact and fused, if any, have steps of their own above */
    const uint32_t mask = ((1u << campaign.methods) - 1) & 7u;
    ff_references *store = ff_references_create((size_t)16 << 20);
    ff_worker *worker = ff_worker_create(&campaign, store, NULL, message, sizeof message);
    if (!worker)
        fail(message);
    for (int i = 0; i < samples; i++)
        if (count_sample(worker, (uint64_t)i, mask, record, &count) != FF_OK)
            fail(file);
    report(name, samples);
    ff_worker_free(worker);
    ff_references_free(store);
    ff_campaign_free(&campaign);
}

int main(void) {
    char folder[] = "/tmp/ff_steps_XXXXXX";
    if (!mkdtemp(folder))
        fail("no temporary folder");
    setvbuf(stdout, NULL, _IOLBF, 0);
    tree_steps();
    method_steps("step-direct", "direct", false, false);
    method_steps("step-tdpa", "tdpa", false, false);
    method_steps("step-damping", "damping", false, false);
    method_steps("step-impact", "impact", false, false);
    method_steps("step-fused-1ms", "fused", true, true);
    whole_run();
    log_rows(folder);
    campaign_samples("sample-delay-stiffness", "delay-stiffness.yaml", 3);
    campaign_samples("sample-random-6dof", "random-6dof.yaml", 1);
    rmdir(folder);
    return 0;
}
