/* Sensors: statistics of the noise, converter, filter, delay, and that a seed gives the same bits. */
#include "unit/facility/plants.h"

/* A body pressed into a wall along x; the command's depth is the signal: 1000 N/m. */
static void sensor_scenario(ff_scenario *s) {
    make_scenario(s, 1);
    s->satellite[0].sensor.kind = FF_SENSOR_NOISY;
    s->contacts = 1;
    s->contact[0] = make_wall(ff_vec3_make(0, 0.5, 0), ff_vec3_zero(), ff_vec3_make(1, 0, 0), 1000, 0);
}

static ff_wrench read_at(ff_plant *plant, uint64_t k, double newtons) {
    ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
    c.T.p.x = -newtons / 1000.0;
    ff_plant_write(plant, k, &c);
    ff_loop_in in;
    assert_int_equal(ff_plant_read(plant, k, &in, NULL), FF_OK);
    return in.sensor[0].f_s;
}

/* A noisy sensor without any fault is the ideal one. */
static void test_noisy_without_faults_is_ideal(void **state) {
    (void)state;
    ff_scenario s;
    sensor_scenario(&s);
    ff_plant *plant = make_plant(&s);
    const ff_wrench f = read_at(plant, 0, 10.0);
    assert_vec3_near(f.f, ff_vec3_make(10, 0, 0), 1e-12);
    assert_vec3_near(f.t, ff_vec3_make(0, 0, -5), 1e-12);
    ff_plant_free(plant);
}

/* Wrong wiring permutes and mirrors the axes of force and torque alike; a turned sensor reads in its own
 * axes. */
static void test_wrong_wiring_and_mounting(void **state) {
    (void)state;
    ff_scenario s;
    sensor_scenario(&s);
    s.satellite[0].sensor.wired = ff_vec3_make(-2, 3, 1); /* channel x carries -y, y carries z, z carries x */
    ff_plant *plant = make_plant(&s);
    ff_wrench f = read_at(plant, 0, 10.0);
    assert_vec3_near(f.f, ff_vec3_make(0, 0, 10), 1e-12);
    assert_vec3_near(f.t, ff_vec3_make(0, -5, 0), 1e-12);
    ff_plant_free(plant);
    s.satellite[0].sensor.wired = ff_vec3_make(1, 2, 3); /* right */
    s.satellite[0].sensor.turned = ff_quat_exp(ff_vec3_make(0, 0, 0.5 * FF_PI));
    plant = make_plant(&s);
    f = read_at(plant, 0, 10.0);
    assert_vec3_near(f.f, ff_vec3_make(0, -10, 0),
                     1e-12); /* x of the body is -y of a sensor turned by 90 deg */
    assert_vec3_near(f.t, ff_vec3_make(0, 0, -5), 1e-12);
    ff_plant_free(plant);
}

/* A reading that is lost is stood in for by the last, with its age; the noise of the others stays as it is
 * without losses. */
static void test_lost_readings_repeat_the_last_with_its_age(void **state) {
    (void)state;
    enum { N = 20000 };
    ff_scenario s;
    sensor_scenario(&s);
    s.satellite[0].sensor.force_noise = 0.3;
    ff_plant *whole = make_plant(&s);
    s.satellite[0].sensor.lost = 0.2;
    ff_plant *plant = make_plant(&s);
    int lost = 0, twice = 0;
    unsigned aged = 0;
    ff_wrench last = ff_wrench_zero();
    for (uint64_t k = 0; k < N; k++) {
        const double newtons = 1.0 + (double)(k % 10);
        const ff_wrench right = read_at(whole, k, newtons), f = read_at(plant, k, newtons);
        ff_loop_in in;
        assert_int_equal(ff_plant_read(plant, k, &in, NULL), FF_OK);
        const bool gone = in.sensor[0].age > 0.0;
        twice += gone && aged > 0;
        aged = gone ? aged + 1 : 0;
        lost += gone;
        assert_near(in.sensor[0].age, aged * s.cycle, 1e-15);
        assert_memory_equal(&f, gone ? &last : &right, sizeof f);
        last = f;
    }
    assert_near((double)lost / N, 0.2, 5.0 * sqrt(0.16 / N));
    assert_near((double)twice / N, 0.04, 5.0 * sqrt(0.04 / N));
    ff_plant_free(plant);
    ff_plant_free(whole);
}

static void test_noise_mean_and_deviation(void **state) {
    (void)state;
    ff_scenario s;
    sensor_scenario(&s);
    ff_sensor_config *c = &s.satellite[0].sensor;
    c->force_noise = 0.3;
    c->torque_noise = 0.02;
    c->bias = (ff_wrench){{{0.1, -0.2, 0.3}}, {{1, 2, -3}}};
    ff_plant *plant = make_plant(&s);
    enum { N = 100000 };
    double sum[6] = {0}, square[6] = {0}, lag[6] = {0}, last[6] = {0}, cross = 0;
    for (uint64_t k = 0; k < N; k++) {
        const ff_wrench f = read_at(plant, k, 10.0);
        double e[6];
        for (int i = 0; i < 3; i++) {
            e[i] = f.f.a[i] - c->bias.f.a[i] - (i == 0 ? 10.0 : 0.0);
            e[3 + i] = f.t.a[i] - c->bias.t.a[i] - (i == 2 ? -5.0 : 0.0);
        }
        for (int i = 0; i < 6; i++) {
            sum[i] += e[i];
            square[i] += e[i] * e[i];
            lag[i] += e[i] * last[i];
            last[i] = e[i];
        }
        cross += e[0] * e[1];
    }
    for (int i = 0; i < 6; i++) {
        const double sd = i < 3 ? 0.3 : 0.02;
        /* five sigma of each estimate */
        assert_near(sum[i] / N, 0.0, 5 * sd / sqrt(N));
        assert_near(sqrt(square[i] / N), sd, 5 * sd / sqrt(2.0 * N));
        assert_near(lag[i] / N, 0.0, 5 * sd * sd / sqrt(N)); /* white */
    }
    assert_near(cross / N, 0.0, 5 * 0.09 / sqrt(N)); /* axes independent */
    ff_plant_free(plant);
}

static void test_same_seed_same_bits_after_reset(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 2);
    for (int i = 0; i < 2; i++) {
        s.satellite[i].sensor.kind = FF_SENSOR_NOISY;
        s.satellite[i].sensor.force_noise = 1.0;
        s.satellite[i].sensor.torque_noise = 1.0;
        s.satellite[i].sensor.bandwidth = 30.0;
        s.satellite[i].sensor.delay = 0.0093;
    }
    s.contacts = 1;
    s.contact[0] = make_wall(ff_vec3_zero(), ff_vec3_zero(), ff_vec3_make(1, 0, 0), 1000, 0);
    ff_plant *plant = make_plant(&s), *twin = make_plant(&s);
    s.seed = 2;
    ff_plant *other = make_plant(&s);
    static ff_wrench_in first[101][2];
    ff_loop_in in;
    bool differs = false, bodies_differ = false;
    for (int round = 0; round < 2; round++) {
        for (uint64_t k = 0; k < 101; k++) { /* odd: a normal pair is left half used at the reset */
            ff_setpoint c[2] = {{ff_pose_identity(), ff_twist_zero()}, {ff_pose_identity(), ff_twist_zero()}};
            c[0].T.p.x = -0.01 * sin(0.1 * (double)k);
            ff_plant_write(plant, k, c);
            ff_plant_read(plant, k, &in, NULL);
            if (round == 0) {
                memcpy(first[k], in.sensor, sizeof first[k]);
                ff_plant_write(twin, k, c);
                ff_plant_read(twin, k, &in, NULL);
                assert_memory_equal(first[k], in.sensor, sizeof first[k]);
                ff_plant_write(other, k, c);
                ff_plant_read(other, k, &in, NULL);
                differs |= in.sensor[0].f_s.f.y != first[k][0].f_s.f.y;
                bodies_differ |= first[k][0].f_s.f.y != first[k][1].f_s.f.y;
            } else {
                assert_memory_equal(first[k], in.sensor, sizeof first[k]);
            }
        }
        ff_plant_reset(plant);
    }
    assert_true(differs);
    assert_true(bodies_differ);
    ff_plant_free(plant);
    ff_plant_free(twin);
    ff_plant_free(other);
}

static void test_resolution_rounds_to_quanta(void **state) {
    (void)state;
    ff_scenario s;
    sensor_scenario(&s);
    s.satellite[0].sensor.resolution_force = 0.25;
    s.satellite[0].sensor.resolution_torque = 0.125;
    ff_plant *plant = make_plant(&s);
    const double in[] = {10.0, 10.1, 10.13, 10.37, 10.38, 0.12, 0.13},
                 out[] = {10, 10, 10.25, 10.25, 10.5, 0, 0.25};
    for (uint64_t k = 0; k < 7; k++) {
        const ff_wrench f = read_at(plant, k, in[k]);
        assert_near(f.f.x, out[k], 0.0);
        assert_near(f.t.z, -0.125 * round(0.5 * in[k] / 0.125), 0.0);
    }
    ff_plant_free(plant);
}

/* Beyond its range the sensor shows the range: stage 1 with that limit calls it saturated. */
static void test_range_clips_and_loop_sees_saturation(void **state) {
    (void)state;
    ff_scenario s;
    sensor_scenario(&s);
    s.satellite[0].sensor.range_force = 20.0;
    s.satellite[0].sensor.range_torque = 7.0;
    ff_plant *plant = make_plant(&s);
    assert_near(read_at(plant, 0, 13.9).f.x, 13.9, 1e-12);
    ff_wrench f = read_at(plant, 1, 15.0);
    assert_near(f.f.x, 15.0, 1e-12);
    assert_near(f.t.z, -7.0, 0.0);
    f = read_at(plant, 2, 1e6);
    assert_near(f.f.x, 20.0, 0.0);
    ff_wrench_config config;
    ff_wrench_default(&config);
    config.force_limit = 20.0;
    config.torque_limit = 7.0;
    ff_loop_in in;
    ff_plant_read(plant, 2, &in, NULL);
    ff_wrench f_b;
    assert_int_equal(ff_wrench_condition(&config, &in.sensor[0], &f_b), FF_INFO_SATURATED);
    ff_plant_free(plant);
}

static void test_drift_ramps(void **state) {
    (void)state;
    ff_scenario s;
    sensor_scenario(&s);
    s.satellite[0].sensor.drift_force = 2.0;
    s.satellite[0].sensor.drift_torque = -0.5;
    ff_plant *plant = make_plant(&s);
    for (uint64_t k = 0; k < 500; k++) {
        const ff_wrench f = read_at(plant, k, 10.0);
        const double t = (double)k * s.cycle;
        assert_vec3_near(f.f, ff_vec3_make(10 + 2 * t, 2 * t, 2 * t), 1e-12);
        assert_vec3_near(f.t, ff_vec3_make(-0.5 * t, -0.5 * t, -5 - 0.5 * t), 1e-12);
    }
    ff_plant_free(plant);
}

/* A ramp from a steady start: y = s (t - 1/wc + exp(-wc t)/wc), exactly; and a ramp's lag of 1/wc in the end.
 */
static void test_bandwidth_is_first_order(void **state) {
    (void)state;
    ff_scenario s;
    sensor_scenario(&s);
    s.satellite[0].sensor.bandwidth = 12.0;
    ff_plant *plant = make_plant(&s);
    const double wc = 2 * FF_PI * 12.0;
    for (uint64_t k = 0; k < 300; k++) {
        const double t = (double)k * s.cycle;
        const ff_wrench f = read_at(plant, k, 10.0 + 50.0 * t);
        const double y = 10.0 + 50.0 * (t - 1 / wc + exp(-wc * t) / wc);
        assert_near(f.f.x, y, 1e-11);
        assert_near(f.t.z, -0.5 * y, 1e-11);
    }
    ff_plant_free(plant);
}

static void test_delay_whole_and_fraction(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    const double cycles[] = {0, 1, 2, 3, 7, 0.25, 1.5, 3.75, 8.1};
    for (size_t run = 0; run < sizeof cycles / sizeof *cycles; run++) {
        ff_scenario s;
        sensor_scenario(&s);
        s.satellite[0].sensor.delay = cycles[run] * s.cycle;
        ff_plant *plant = make_plant(&s);
        double signal[60];
        for (int k = 0; k < 60; k++) {
            signal[k] = ff_rng_range(&rng, 0.0, 20.0);
            const ff_wrench f = read_at(plant, (uint64_t)k, signal[k]);
            const double at = k - cycles[run];
            const int a = (int)floor(at);
            const double u = at - a;
            const double x0 = signal[a < 0 ? 0 : a], x1 = signal[a + 1 < 0 ? 0 : a + 1 > k ? k : a + 1];
            assert_near(f.f.x, u == 0.0 ? x0 : (1 - u) * x0 + u * x1, 1e-12);
        }
        ff_plant_free(plant);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noisy_without_faults_is_ideal),
        cmocka_unit_test(test_wrong_wiring_and_mounting),
        cmocka_unit_test(test_lost_readings_repeat_the_last_with_its_age),
        cmocka_unit_test(test_noise_mean_and_deviation),
        cmocka_unit_test(test_same_seed_same_bits_after_reset),
        cmocka_unit_test(test_resolution_rounds_to_quanta),
        cmocka_unit_test(test_range_clips_and_loop_sees_saturation),
        cmocka_unit_test(test_drift_ramps),
        cmocka_unit_test(test_bandwidth_is_first_order),
        cmocka_unit_test(test_delay_whole_and_fraction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
