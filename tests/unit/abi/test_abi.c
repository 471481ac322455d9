/* libfreefloat-host from C: a run, its columns, steps, states, errors, parts; with nothing left behind
 * (ASan). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/freefloat_host.h"
#include "folder_support.h"

#define SCENARIO FF_SOURCE_DIR "/scenarios/deos-client.yaml"

static const char *const brief[] = {"time.duration=2"};
static ffh_error error;

static ffh_sim *open_brief(const ffh_options *more) {
    ffh_options o = more ? *more : (ffh_options){0};
    o.set = brief;
    o.sets = 1;
    ffh_sim *sim = ffh_open(SCENARIO, &o, &error);
    if (!sim)
        print_message("%s\n", error.text);
    assert_non_null(sim);
    return sim;
}

static const double *column(ffh_sim *sim, const char *name) {
    assert_true(ffh_rows(sim) > 0);
    ffh_column c;
    for (int i = 0; ffh_column_at(sim, i, &c) == FFH_OK; i++)
        if (strcmp(c.name, name) == 0)
            return c.value;
    fail_msg("no column %s", name);
    return NULL;
}

static void assert_same(ffh_sim *a, ffh_sim *b) {
    ffh_column x, y;
    assert_int_equal(ffh_columns(a), ffh_columns(b));
    assert_int_equal(ffh_rows(a), ffh_rows(b));
    for (int i = 0; i < ffh_columns(a); i++) {
        ffh_column_at(a, i, &x);
        ffh_column_at(b, i, &y);
        assert_string_equal(x.name, y.name);
        if (strncmp(x.name, "timing", 6) != 0)
            assert_memory_equal(x.value, y.value, (size_t)ffh_rows(a) * sizeof(double));
    }
}

static void test_run_and_steps(void **state) {
    (void)state;
    assert_int_equal(ffh_abi(), FFH_ABI);
    ffh_sim *whole = open_brief(NULL), *steps = open_brief(NULL);
    ffh_info info;
    ffh_describe(whole, &info);
    assert_string_equal(info.name, "deos-client");
    assert_int_equal(info.cycles, 500);
    assert_string_equal(info.body[0], "client");
    assert_null(ffh_summary(whole));
    assert_int_equal(ffh_run(whole, &error), FFH_OK);
    assert_int_equal(ffh_rows(whole), 501);
    assert_non_null(strstr(ffh_summary(whole), "\"verdict\""));
    assert_int_equal(ffh_run(whole, &error), FFH_ARGUMENT); /* once */
    assert_int_equal(ffh_cycle(steps), 0);                  /* not begun */
    assert_int_equal(ffh_begin(steps, &error), FFH_OK);
    assert_int_equal(ffh_begin(steps, &error), FFH_OK);
    while (ffh_cycle(steps))
        ;
    assert_int_equal(ffh_end(steps, &error), FFH_OK);
    assert_same(whole, steps);
    assert_int_equal(ffh_column_at(whole, -1, &(ffh_column){0}), FFH_ARGUMENT);
    ffh_close(whole);
    ffh_close(steps);
    ffh_close(NULL);
    for (int files = 0; files < 2; files++) { /* closed in the middle */
        ffh_sim *left = open_brief(&(ffh_options){.out = files ? in_folder("left") : NULL});
        assert_int_equal(ffh_begin(left, &error), FFH_OK);
        assert_int_equal(ffh_step(left, 7), 7);
        ffh_close(left);
    }
}

static void test_states(void **state) {
    (void)state;
    ffh_sim *a = open_brief(NULL), *b = open_brief(NULL);
    assert_int_equal(ffh_state_size(a, &error), 0); /* nothing runs yet */
    assert_int_equal(error.kind, FFH_ARGUMENT);
    ffh_begin(a, &error);
    ffh_begin(b, &error);
    ffh_step(a, 123);
    const size_t size = ffh_state_size(a, &error);
    unsigned char *kept = malloc(size);
    assert_int_equal(ffh_save(a, kept, size - 1, &error), FFH_ARGUMENT);
    assert_int_equal(ffh_save(a, kept, size, &error), FFH_OK);
    assert_int_equal(ffh_push(a, 0, (double[6]){10, 0, 0, 0, 0, 0}, &error), FFH_OK);
    ffh_step(a, 50);
    assert_int_equal(ffh_restore(a, kept, size, &error), FFH_OK);
    assert_int_equal(ffh_restore(b, kept, size, &error), FFH_OK);
    while (ffh_cycle(a) & ffh_cycle(b))
        ;
    assert_int_equal(ffh_failure(a, &error), FFH_OK);
    assert_int_equal(ffh_restore(a, kept, size, &error), FFH_OK); /* from its last cycle, too */
    while (ffh_cycle(a))
        ;
    ffh_end(a, &error);
    ffh_end(b, &error);
    assert_int_equal(ffh_failure(a, &error), FFH_ARGUMENT);
    assert_int_equal(ffh_restore(a, kept, size, &error), FFH_ARGUMENT);
    assert_same(a, b);
    ffh_sim *c = open_brief(&(ffh_options){.method = "direct"});
    ffh_begin(c, &error);
    assert_int_equal(ffh_restore(c, kept, size, &error), FFH_STATE);
    for (size_t at = 0; at < size; at += size / 40 + 1) { /* a bit anywhere */
        kept[at] ^= 1;
        ffh_sim *d = open_brief(NULL);
        ffh_begin(d, &error);
        assert_int_equal(ffh_restore(d, kept, size, &error), FFH_STATE);
        ffh_close(d);
        kept[at] ^= 1;
    }
    free(kept);
    ffh_close(a);
    ffh_close(b);
    ffh_close(c);
}

static void test_refusals(void **state) {
    (void)state;
    static const char bad[] =
        "name: x\ntime: {cycle: 0.004, duration: 1}\nsatellites:\n  c: {mass: -1, inertia: [1, 1, 1]}\n";
    assert_null(ffh_open("a:1:b.yaml", &(ffh_options){.text = bad, .length = sizeof bad - 1}, &error));
    assert_int_equal(error.kind, FFH_SCENARIO);
    assert_int_equal(error.outcome, 2);
    assert_int_equal(error.line, 4);
    assert_int_equal(error.column, 13);
    assert_non_null(strstr(error.text, "mass is -1, allowed: > 0 [kg]"));
    assert_null(ffh_open(SCENARIO, &(ffh_options){.method = "none"}, &error));
    assert_int_equal(error.kind, FFH_METHOD);
    assert_null(ffh_open(SCENARIO, &(ffh_options){.method = "tdpa:reading"}, &error));
    assert_int_equal(error.kind, FFH_METHOD);
    const char *const columns[] = {"nothing.*"};
    assert_null(ffh_open(SCENARIO, &(ffh_options){.record = columns, .records = 1}, &error));
    assert_int_equal(error.kind, FFH_ARGUMENT);
    assert_null(ffh_open(SCENARIO, &(ffh_options){.log = "xls"}, NULL)); /* nobody asks why */
    assert_null(ffh_open(NULL, NULL, &error));
    assert_null(ffh_campaign_run(SCENARIO, NULL, &error));
    assert_int_equal(error.kind, FFH_SCENARIO);
    assert_null(ffh_identify("/nowhere", "delay", NULL, &error));
    assert_null(ffh_tree_urdf(SCENARIO, NULL, &error));
    assert_int_equal(error.line, 1);
    ffh_sim *sim = open_brief(NULL);
    assert_int_equal(ffh_push(sim, 0, (double[6]){0}, &error), FFH_ARGUMENT); /* nothing runs */
    ffh_begin(sim, &error);
    assert_int_equal(ffh_push(sim, 3, (double[6]){0}, &error), FFH_ARGUMENT);
    assert_int_equal(ffh_load(sim, 0, (double[6]){NAN}, &error), FFH_ARGUMENT);
    assert_int_equal(ffh_command(sim, 0, (double[13]){0}, &error), FFH_ARGUMENT);
    assert_int_equal(ffh_report(&sim, 1, "/nowhere", &error), FFH_ARGUMENT);
    ffh_close(sim);
}

/* ------------------------------------------------------------------------------------------------- parts --
 */

typedef struct counter {
    int calls, stop_at;
} counter;

static int own_step(void *user, ffh_method_io *io) {
    counter *c = user;
    io->out[0].force[2] = io->in[0].force[2];
    return ++c->calls == c->stop_at;
}

static double own_law(void *user, double depth, double rate) {
    counter *c = user;
    c->calls++;
    return 2000 * depth + 5 * rate;
}

static int own_sensor(void *user, double t, double *f) {
    counter *c = user;
    (void)t;
    (void)f;
    return ++c->calls == c->stop_at;
}

static void test_parts(void **state) {
    (void)state;
    ffh_sim *direct = open_brief(&(ffh_options){.method = "direct"});
    assert_int_equal(ffh_run(direct, &error), FFH_OK);
    static ffh_method_io io;
    counter method = {0}, law = {0}, sensor = {0};
    const char *name = "front", *body = "client";
    ffh_contact_law *laws = own_law;
    ffh_sensor_law *sensors = own_sensor;
    void *users[2] = {&law, &sensor};
    ffh_parts parts = {.method_name = "own",
                       .method = own_step,
                       .method_user = &method,
                       .method_io = &io,
                       .contacts = 1,
                       .contact_name = &name,
                       .contact_law = &laws,
                       .contact_user = &users[0],
                       .sensors = 1,
                       .sensor_body = &body,
                       .sensor_law = &sensors,
                       .sensor_user = &users[1]};
    ffh_sim *own = open_brief(&(ffh_options){.parts = &parts});
    assert_int_equal(ffh_run(own, &error), FFH_OK);
    assert_int_equal(method.calls, 500);
    assert_int_equal(sensor.calls, 501);
    assert_true(law.calls > 100);
    assert_memory_equal(column(own, "client.velocity.z"), column(direct, "client.velocity.z"),
                        501 * sizeof(double));
    ffh_close(own);
    ffh_close(direct);
    /* each of them can stop it */
    for (int n = 0; n < 2; n++) {
        method = (counter){.stop_at = n == 0 ? 100 : 0};
        sensor = (counter){.stop_at = n == 1 ? 100 : 0};
        own = open_brief(&(ffh_options){.parts = &parts});
        assert_int_equal(ffh_run(own, &error), FFH_STOPPED);
        assert_int_equal(ffh_rows(own), 100);
        assert_non_null(strstr(ffh_summary(own), "\"fail\""));
        ffh_close(own);
    }
    name = "nowhere";
    assert_null(ffh_open(SCENARIO, &(ffh_options){.parts = &parts}, &error));
    assert_int_equal(error.kind, FFH_ARGUMENT);
    parts.method_name = "tdpa";
    assert_null(ffh_open(SCENARIO, &(ffh_options){.parts = &parts}, &error));
    assert_int_equal(error.kind, FFH_METHOD);
}

static void test_numerics(void **state) {
    (void)state;
    ffh_tree *tree = ffh_tree_urdf(FF_SOURCE_DIR "/scenarios/envisat-arm.urdf", NULL, &error);
    assert_non_null(tree);
    ffh_tree_info info;
    ffh_tree_describe(tree, &info);
    assert_int_equal(info.joints, 7);
    double q[2 * 7] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}, M[2 * 49], v[14], kinetic[2];
    for (int i = 0; i < 14; i++)
        v[i] = 0.1 * i;
    const ffh_tree_ask ask = {.q = q, .v = v, .link = -1, .mass_matrix = M, .kinetic = kinetic};
    assert_int_equal(ffh_tree_evaluate(tree, &ask, 2, &error), FFH_OK);
    double sum = 0;
    for (int i = 0; i < 49; i++)
        sum += 0.5 * v[7 + i / 7] * M[49 + i] * v[7 + i % 7];
    assert_near(sum, kinetic[1], 1e-12 * kinetic[1]);
    ffh_tree_close(tree);
    const ffh_rigid body = {.mass = 2, .inertia = {1, 1, 1}};
    const double x[13] = {0, 0, 0, 1, 0, 0, 0, 3};
    double after[13], energy;
    assert_int_equal(
        ffh_rigid_advance(&body, "euler", 0.5, 1, x, NULL, (double[6]){4}, 0, after, NULL, &error), FFH_OK);
    assert_near(after[7], 4.0, 0.0);
    assert_int_equal(ffh_rigid_measure(&body, after, 1, &energy, NULL, &error), FFH_OK);
    assert_near(energy, 16.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_run_and_steps), cmocka_unit_test(test_states),
                                       cmocka_unit_test(test_refusals), cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_numerics)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
