/* What a man in the middle shows: the sensor's zero that drifts while the operator decides. Judged by the
 * answers that pass on their way to the controller, not by what the loop says. */
#include "middle.h"

#include "text/clock.h"

static const char text[] = ONE_BODY(
    "middle", "1", "[0.02, 0, 0]",
    "    check: {push: skip}\n"
    "    safety: {force: 80}\n") "  - {name: right, kind: wall, at: [0.5, 0, 0], normal: [-1, 0, 0], "
                                 "stiffness: 3000, damping: 5}\n";

typedef struct drifting {
    middle m;
    ff_scenario scenario;
    ff_facility_result facility;
    ff_rt_result rt;
    ff_vec3 drift;      /* [N] of the sensor's zero while the operator decides */
    ff_vec3 twist;      /* [N m] the same */
    atomic_bool drifts; /* from the question on */
    atomic_int records; /* that carried it */
    double largest;     /* [deg] of any correction */
    int answers, stops;
    ff_row last;
    double force; /* [N] largest that the loop saw in flight */
} drifting;

static void shift(void *user, ff_ati_record *record) {
    drifting *d = user;
    if (!atomic_load(&d->drifts))
        return;
    for (int a = 0; a < 3; a++) { /* counts of the virtual sensor: a millionth */
        record->counts[a] += (int32_t)lround(1e6 * d->drift.a[a]);
        record->counts[3 + a] += (int32_t)lround(1e6 * d->twist.a[a]);
    }
    atomic_fetch_add(&d->records, 1);
}

static void see_answer(void *user, const ff_rsi_sen *answer) {
    drifting *d = user;
    for (int a = 0; a < 6; a++)
        d->largest = fmax(d->largest, fabs(answer->value[FF_RSI_TAG_AXES + a]));
    d->answers++;
    d->stops += answer->tags & FF_RSI_STOP ? 1 : 0;
}

/* The question: the zero drifts, and the operator arms after a second of it. */
static bool decide(void *user, const ff_check *check) {
    drifting *d = user;
    if (check->no_go.code != FF_TRIP_NONE)
        return false;
    atomic_store(&d->drifts, true);
    while (atomic_load(&d->records) < 250 && !atomic_load(&d->rt.ended))
        ff_clock_sleep_until(ff_clock_now() + 1000000);
    return true;
}

static ff_status see_row(void *self, const ff_row *row) {
    drifting *d = self;
    d->last = *row;
    d->force = fmax(d->force, ff_vec3_norm(row->body[0].measured_b.f));
    return FF_OK;
}

static drifting *drift_by(ff_vec3 force, ff_vec3 torque) {
    drifting *d = calloc(1, sizeof *d);
    load(&d->scenario, text, NULL, 0);
    d->drift = force;
    d->twist = torque;
    d->m = (middle){.both = {.scenario = &d->scenario,
                             .truth = &d->scenario,
                             .facility_options = {.lockstep = true},
                             .options = {.wait = 30.0, .confirm = decide, .user = d},
                             .sink = {.self = d, .row = see_row},
                             .facility = &d->facility,
                             .rt = &d->rt},
                    .record = shift,
                    .answer = see_answer,
                    .user = d};
    run_middle(&d->m);
    return d;
}

static void drop(drifting *d) {
    free(d->rt.last);
    free(d);
}

/* More than a hand's push is no drift: 5 N, or 0.5 N m, and nothing moves; the message has the value and its
 * limit. */
static void test_a_zero_that_drifts_before_arming(void **state) {
    (void)state;
    static const struct {
        ff_vec3 force, torque;
        double value, limit;
        const char *says;
    } cases[] = {
        {{{5.0, 0.0, 0.0}},
         {{0.0, 0.0, 0.0}},
         5.0,
         2.0,
         "ZERO: the reading at rest has changed since the check (5, allowed 2 N or N m)"},
        {{{0.0, -3.0, 4.0}}, {{0.0, 0.0, 0.0}}, 5.0, 2.0, "(5, allowed 2 N or N m)"},
        {{{0.0, 0.0, 0.0}}, {{0.0, 0.5, 0.0}}, 0.5, 0.2, "(0.5, allowed 0.2 N or N m)"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        drifting *d = drift_by(cases[n].force, cases[n].torque);
        print_message("%s; %d answers\n", d->rt.run.message, d->answers);
        assert_int_equal(d->rt.trip.code, FF_TRIP_ZERO);
        assert_int_equal(d->rt.state, FF_STATE_FAULT);
        assert_near(d->rt.trip.value, cases[n].value, 1e-5);
        assert_near(d->rt.trip.limit, cases[n].limit, 1e-12);
        assert_non_null(strstr(d->rt.run.message, cases[n].says));
        assert_true(d->largest == 0.0 && d->answers > 100 && d->stops == 1);
        drop(d);
    }
}

/* Less than that is taken into the zero: the satellite flies as if there were none. With the old zero its
 * speed would change by 1.5 N over 100 kg, 15 mm/s in the second. */
static void test_a_small_drift_is_taken_into_the_zero(void **state) {
    (void)state;
    drifting *d = drift_by(ff_vec3_make(0.0, 1.5, 0.0), ff_vec3_make(0.1, 0.0, 0.0));
    if (d->rt.trip.code != FF_TRIP_FINISHED)
        fail_msg("%s", d->rt.run.message);
    print_message("%.3g N in flight, %.9f m/s at the end\n", d->force,
                  ff_vec3_norm(d->last.body[0].satellite.velocity));
    assert_true(d->force < 2e-6); /* a count */
    assert_vec3_near(d->last.body[0].satellite.velocity, ff_vec3_make(0.02, 0.0, 0.0), 1e-7);
    assert_true(d->largest > 0.1 && d->stops == 1);
    drop(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zero_that_drifts_before_arming),
        cmocka_unit_test(test_a_small_drift_is_taken_into_the_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
