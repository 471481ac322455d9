/* The bars and the trips agree: a limit trips in ff_safety_examine exactly when its level is above it. */
#include "devices/rsi/rsi.h"
#include "executive/walk.h"
#include "safety/levels.h"
#include "support.h"

static ff_rng rng;

static ff_vec3 some(double size) {
    return test_random_vec3(&rng, size);
}

static void fill(ff_safety_in *in) {
    *in = (ff_safety_in){.missed = floor(ff_rng_range(&rng, 0, 4))};
    in->body[0].measured =
        (ff_setpoint){.T = {.q = ff_quat_identity(), .p = some(0.1)}, .twist = {some(0.1), some(0.1)}};
    in->body[0].command = in->body[0].measured;
    in->body[0].command.twist = (ff_twist){some(0.1), some(0.1)};
    in->body[0].f_b = (ff_wrench){some(5), some(50)};
    in->body[0].force_valid = true;
    in->body[0].energy = ff_rng_range(&rng, -1, 1);
    in->body[0].tracking = ff_rng_range(&rng, 0, 0.01);
}

static void test_levels_above_exactly_when_tripped(void **state) {
    (void)state;
    int trips = 0, rests = 0;
    ff_rng_seed(&rng, test_seed(), 0);
    for (int n = 0; n < test_count(20000, 1000000); n++) {
        ff_safety_config config = {.bodies = 1, .cycle = 0.004, .delay = {0.02}, .contact = {1e-3}};
        config.limits[0] = (ff_safety_limits){.box = ff_vec3_make(0.3, 0.3, 0.3),
                                              .velocity = 1,
                                              .angular_velocity = 1,
                                              .acceleration = 100,
                                              .angular_acceleration = 100,
                                              .jerk = 1e5,
                                              .force = 300,
                                              .torque = 30,
                                              .spike = 300,
                                              .energy = 3,
                                              .tracking = 0.03,
                                              .age = 0.1,
                                              .missed = 10,
                                              .stop_acceleration = 0.5};
        config.stop_jerk[0] = FF_INF;
        config.origin[0] = some(0.1);
        ff_limiter_default(&config.bounded[0]);
        const ff_level_name tight = (ff_level_name)(n % FF_LEVEL_COUNT);
        /* judged by the executive: it alone knows the sensor's clock, the arm and the run's options */
        if (tight == FF_LEVEL_AGE || tight == FF_LEVEL_JOINT || tight == FF_LEVEL_SILENT)
            continue;
        ff_walk before = {.state = FF_STATE_FLOAT, .memory.seen = (int)ff_rng_range(&rng, 0, 4)};
        before.memory.force_last[0] = some(50);
        before.memory.twist_last[0] = (ff_twist){some(0.1), some(0.1)};
        before.memory.acceleration_last[0] = some(20);
        ff_safety_in in = {0};
        fill(&in);
        if (tight == FF_LEVEL_FROZEN)
            in.body[0].same = floor(ff_rng_range(&rng, FF_SAFETY_SAME - 2, FF_SAFETY_SAME + 3));
        if (tight == FF_LEVEL_CLIPPED)
            in.body[0].apart = floor(ff_rng_range(&rng, FF_SAFETY_APART - 2, FF_SAFETY_APART + 3));
        double level[FF_LEVEL_COUNT];
        ff_levels(&config, &before.memory, &in, 0, level);
        /* a limit just above or just below the level, all others wide */
        double limit = level[tight] * (ff_rng_range(&rng, 0, 1) < 0.5 ? 0.999 : 1.001);
        switch (tight) {
#define SET(name, trip, text, field)    \
    case FF_LEVEL_##name:               \
        config.limits[0].field = limit; \
        break;
            FF_LEVELS(SET)
#undef SET
        default: /* its limit is fixed */
            limit = tight == FF_LEVEL_FROZEN ? FF_SAFETY_SAME : FF_SAFETY_APART;
            break;
        }
        assert_near(ff_level_limit(&config.limits[0], tight), limit, 0.0);
        const ff_trip found = ff_safety_examine(&config, &before.memory, &in);
        const bool tripped = found.code != FF_TRIP_NONE;
        if (tripped != (level[tight] > limit))
            fail_msg("%s: %s by %.17g, limit %.17g; level %.17g, its limit %.17g", ff_level_text(tight),
                     ff_trip_name(found.code), found.value, found.limit, level[tight], limit);
        if (tripped) {
            assert_int_equal(found.code, ff_level_trip(tight));
            if (tight != FF_LEVEL_CLIPPED) /* that one measures how far it is off, not for how long */
                assert_near(found.value, level[tight], 0.0);
        }
        trips += tripped;
        rests += !tripped;
    }
    assert_true(trips > 100 && rests > 100);
}

/* Those that the executive judges are shown as it saw them: the age that tripped, or the sample's. */
static void test_levels_of_the_sensor_and_the_arm(void **state) {
    (void)state;
    ff_rng_seed(&rng, test_seed(), 1);
    const ff_safety_config config = {.bodies = 1, .cycle = 0.004};
    const ff_walk before = {.state = FF_STATE_FLOAT};
    ff_safety_in in = {0};
    double level[FF_LEVEL_COUNT];
    fill(&in);
    in.body[0].age = 0.008;
    in.body[0].joint = 0.7;
    in.body[0].sensor_value = 0.024;
    in.body[0].sensor = FF_TRIP_RANGE;
    ff_levels(&config, &before.memory, &in, 0, level);
    assert_near(level[FF_LEVEL_AGE], 0.008, 0.0);
    assert_near(level[FF_LEVEL_JOINT], 0.7, 0.0);
    in.body[0].sensor = FF_TRIP_AGE;
    ff_levels(&config, &before.memory, &in, 0, level);
    assert_near(level[FF_LEVEL_AGE], 0.024, 0.0);
    assert_string_equal(ff_level_unit(FF_LEVEL_BOX_Z), "m");
    assert_string_equal(ff_level_unit(FF_LEVEL_TORQUE), "N m");
    assert_string_equal(ff_level_unit(FF_LEVEL_CLIPPED), "cycles");
}

static void test_levels_clipping_as_the_client_counts(void **state) {
    (void)state;
    assert_int_equal(ff_rsi_client_config_default().clip_cycles, FF_SAFETY_APART + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels_above_exactly_when_tripped),
                                       cmocka_unit_test(test_levels_of_the_sensor_and_the_arm),
                                       cmocka_unit_test(test_levels_clipping_as_the_client_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
