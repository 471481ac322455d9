/* What a log says of the facility, from tables made by closed forms: the delay and lag of a robot, the
 * stiffness of a contact, the weight behind a sensor; and what each fit refuses. Rates from poses are exact
 * for a motion of constant acceleration. */
#include "support.h"

#include "fit/log.h"
#include "fit/motion.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------- tables --
 */

static const char *const group[] = {"command.position",         "command.attitude",       "command.velocity",
                                    "command.angular_velocity", "robot.position",         "robot.attitude",
                                    "robot.velocity",           "robot.angular_velocity", "force_measured",
                                    "torque_measured",          "sensor.force",           "sensor.torque"};
enum { GROUPS = 12, PER_BODY = 39 };
enum { U, UQ, DU, UW, X, XQ, DX, XW, FM, TM, SF, ST };
static ff_log_table table;
static char message[256];

static void make_table(int bodies, size_t rows, double cycle) {
    table = (ff_log_table){.rows = rows, .cycle = cycle, .bodies = bodies};
    table.columns = bodies * PER_BODY + 1;
    table.name = calloc((size_t)table.columns, sizeof *table.name);
    table.value = calloc((size_t)table.columns * rows, sizeof *table.value);
    assert_true(table.name && table.value);
    int c = 0;
    for (int b = 0; b < bodies; b++) {
        snprintf(table.body[b], FF_LOG_NAME, "b%d", b);
        for (int g = 0; g < GROUPS; g++) {
            const bool quaternion = g == UQ || g == XQ;
            for (int i = quaternion ? 0 : 1; i < 4; i++)
                snprintf(table.name[c++], FF_LOG_NAME, "b%d.%s.%c", b, group[g], "wxyz"[i]);
        }
        snprintf(table.name[c++], FF_LOG_NAME, "b%d.in_contact", b);
    }
    snprintf(table.name[c++], FF_LOG_NAME, "t");
    assert_int_equal(c, table.columns);
    for (size_t k = 0; k < rows; k++)
        for (int b = 0; b < bodies; b++)
            for (int g = UQ; g <= XQ; g += XQ - UQ)
                for (int i = 0; i < table.columns; i++) {
                    char name[64];
                    snprintf(name, sizeof name, "b%d.%s.w", b, group[g]);
                    if (strcmp(table.name[i], name) == 0)
                        table.value[k * (size_t)table.columns + (size_t)i] = 1.0;
                }
}

static double *cell(int body, int g, size_t k) {
    static const int at[GROUPS] = {0, 3, 7, 10, 13, 16, 20, 23, 26, 29, 32, 35};
    return &table.value[k * (size_t)table.columns + (size_t)(body * PER_BODY + at[g])];
}

static void put(int body, int g, size_t k, ff_vec3 v) {
    memcpy(cell(body, g, k), v.a, sizeof v.a);
}

static void put_turn(int body, int g, size_t k, ff_vec3 turn) {
    const ff_quat q = ff_quat_exp(turn);
    memcpy(cell(body, g, k), (double[]){q.w, q.x, q.y, q.z}, 4 * sizeof(double));
}

/* A column under another name is missing. */
static void hide(const char *name, bool hidden) {
    char shown[FF_LOG_NAME], other[FF_LOG_NAME];
    snprintf(shown, sizeof shown, "%s", name);
    snprintf(other, sizeof other, "-%s", name);
    const int column = ff_log_table_column(&table, hidden ? shown : other);
    assert_true(column >= 0);
    snprintf(table.name[column], FF_LOG_NAME, "%s", hidden ? other : shown);
}

/* -------------------------------------------------------------------------------------------------- delay --
 */

/* Two sines that never repeat together, and their rates. */
static ff_vec3 path(double t) {
    return ff_vec3_make(0.05 * sin(3.0 * t), 0.03 * sin(1.7 * t), 0.02 * cos(2.3 * t));
}

static ff_vec3 rate(double t) {
    return ff_vec3_make(0.15 * cos(3.0 * t), 0.051 * cos(1.7 * t), -0.046 * sin(2.3 * t));
}

static void refuse_delay(int body, double delay_max, const char *said) {
    ff_log_delay out;
    assert_int_equal(ff_log_identify_delay(&table, body, delay_max, &out, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_string_equal(message, said);
    assert_true(isnan(out.delay.value));
}

/* A whole number of cycles late, in position or in attitude alone: found to the last digits. */
static void test_pure_delay(void **state) {
    (void)state;
    for (int turning = 0; turning < 2; turning++) {
        make_table(1, 800, 0.004);
        for (size_t k = 0; k < table.rows; k++) {
            const double t = 0.004 * (double)k, late = t - 10 * 0.004;
            if (turning) { /* about one axis: body rate and rotation vector's rate agree */
                put_turn(0, UQ, k, ff_vec3_make(path(t).x, 0, 0));
                put_turn(0, XQ, k, ff_vec3_make(path(late).x, 0, 0));
                put(0, UW, k, ff_vec3_make(rate(t).x, 0, 0));
                put(0, XW, k, ff_vec3_make(rate(late).x, 0, 0));
            } else {
                put(0, U, k, path(t));
                put(0, DU, k, rate(t));
                put(0, X, k, path(late));
                put(0, DX, k, rate(late));
            }
        }
        ff_log_delay out;
        assert_int_equal(ff_log_identify_delay(&table, 0, FF_NAN, &out, message, sizeof message), FF_OK);
        assert_int_equal(out.lag, FF_LOG_LAG_NONE);
        assert_int_equal(out.rotation, turning);
        assert_near(out.delay.value, 0.04, 1e-9);
        assert_true(out.residual < 1e-9 && isnan(out.time.value) && isnan(out.frequency.value));
        ff_log_table_free(&table);
        assert_null(table.value);
    }
}

/* T x' + x = u(t - d): a sine is followed at 1/sqrt(1 + (wT)^2), atan(wT) late. What is left is the command's
 * own: straight between rows, (w h)^2/8 = 1.8e-5 of its amplitude. */
static void test_first_order_lag(void **state) {
    (void)state;
    const double T = 0.05, d = 0.02, w = 3.0;
    make_table(1, 1500, 0.004);
    for (size_t k = 0; k < table.rows; k++) {
        const double t = 0.004 * (double)k, gain = 0.05 / sqrt(1.0 + w * w * T * T),
                     phase = w * (t - d) - atan(w * T);
        put(0, U, k, ff_vec3_make(0.05 * sin(w * t), 0, 0));
        put(0, DU, k, ff_vec3_make(0.05 * w * cos(w * t), 0, 0));
        put(0, X, k, ff_vec3_make(gain * sin(phase), 0, 0));
        put(0, DX, k, ff_vec3_make(gain * w * cos(phase), 0, 0));
    }
    ff_log_delay out;
    assert_int_equal(ff_log_identify_delay(&table, 0, 0.2, &out, message, sizeof message), FF_OK);
    assert_int_equal(out.lag, FF_LOG_LAG_FIRST);
    assert_near(out.time.value, T, 1e-3 * T);
    assert_near(out.delay.value, d, 1e-3 * T); /* what one takes the other lacks */
    assert_true(isnan(out.frequency.value));
    ff_log_table_free(&table);
}

/* Of a long log the stretch with the most motion is looked at: here the end. */
static void test_long_log(void **state) {
    (void)state;
    make_table(1, 15000, 0.004);
    for (size_t k = 0; k < table.rows; k++) {
        const double t = 0.004 * (double)k - 45.0, late = t - 0.02;
        if (t > 0.0) {
            put(0, U, k, ff_vec3_make(0.05 * t * t, 0, 0));
            put(0, DU, k, ff_vec3_make(0.1 * t, 0, 0));
        }
        if (late > 0.0) {
            put(0, X, k, ff_vec3_make(0.05 * late * late, 0, 0));
            put(0, DX, k, ff_vec3_make(0.1 * late, 0, 0));
        }
    }
    ff_log_delay out;
    assert_int_equal(ff_log_identify_delay(&table, 0, 0.1, &out, message, sizeof message), FF_OK);
    assert_near(out.delay.value, 0.02, 1e-6);
    assert_true(out.rows < 12000);
    ff_log_table_free(&table);
}

/* A delay beyond the largest that is tried is not that one: whatever else the models have to offer. */
static void test_delay_beyond_the_bound(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    make_table(1, 400, 0.004);
    for (int draw = 0; draw < 4; draw++) {
        const double longest = 0.1, d = longest * (draw ? ff_rng_range(&rng, 1.05, 2.5) : 0.9);
        for (size_t k = 0; k < table.rows; k++) {
            const double t = 0.004 * (double)k;
            put(0, U, k, path(t));
            put(0, DU, k, rate(t));
            put(0, X, k, path(t - d));
            put(0, DX, k, rate(t - d));
        }
        ff_log_delay out;
        const ff_status status = ff_log_identify_delay(&table, 0, longest, &out, message, sizeof message);
        if (draw == 0) {
            assert_int_equal(status, FF_OK);
            assert_near(out.delay.value, d,
                        1e-5); /* straight between rows: (w h)^2/8 of 0.05 m at 0.15 m/s */
            continue;
        }
        if (status == FF_OK)
            print_message("delay %g found as %g\n", d, out.delay.value);
        refuse_delay(0, longest, "the delay is not below the largest that is tried, 100 ms");
        assert_true(out.rows > 0);
    }
    ff_log_table_free(&table);
}

static void test_delay_refusals(void **state) {
    (void)state;
    make_table(1, 200, 0.004);
    refuse_delay(-1, FF_NAN, "the log has no such body");
    refuse_delay(1, FF_NAN, "the log has no such body");
    refuse_delay(0, 0.0, "the largest delay must be > 0");
    refuse_delay(0, FF_NAN, "the robot hardly moved: its delay cannot be seen");
    static const char *const needed[] = {"b0.command.position.x", "b0.command.attitude.w",
                                         "b0.command.velocity.x", "b0.command.angular_velocity.x",
                                         "b0.robot.position.x",   "b0.robot.attitude.w",
                                         "b0.robot.velocity.x",   "b0.robot.angular_velocity.x",
                                         "b0.force_measured.x",   "b0.torque_measured.x"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        hide(needed[i], true);
        refuse_delay(0, FF_NAN, "the log lacks command or robot columns of this body");
        hide(needed[i], false);
    }
    for (size_t k = 0; k < table.rows; k++)
        put(0, U, k, path(0.004 * (double)k));
    refuse_delay(0, 1.0, "the log is too short for the largest delay that is tried");
    for (int g = U; g <= DX; g += g == U ? 2 : g == DU ? 2 : 2) { /* position and velocity of both */
        if (g == UQ || g == XQ)
            continue;
        const double kept = *cell(0, g, 150);
        *cell(0, g, 150) = FF_NAN;
        refuse_delay(0, 0.1, "the log holds values that are not finite");
        *cell(0, g, 150) = kept;
    }
    table.rows = 20;
    refuse_delay(0, FF_NAN, "the log is too short for the largest delay that is tried");
    table.rows = 200;
    ff_log_table_free(&table);
}

/* ------------------------------------------------------------------------------------------------ contact --
 */

/* A body swings into a wall at x = 0 twice, or into another body that swings against it; the tip is at r, the
 * force `late` cycles old. f = -(k d + c d') on the first body. */
static const double K = 2000.0, C = 15.0;
static const ff_vec3 tip = {{0.3, -0.2, 0.4}};

static void make_contact(bool pair, double late) {
    make_table(pair ? 2 : 1, 1000, 0.004);
    for (size_t k = 0; k < table.rows; k++) {
        const double w = 2.0 * FF_PI / 2.0, share = pair ? 0.6 : 1.0;
        const double t = 0.004 * (double)k, then = t - 0.004 * late;
        const double d = 0.01 * sin(w * then), v = 0.01 * w * cos(w * then);
        const double f = d > 0.0 ? fmax(0.0, K * d + C * v) : 0.0;
        for (int b = 0; b < table.bodies; b++) {
            const double sign = b ? -1.0 : 1.0, part = b ? 1.0 - share : share;
            const ff_vec3 force = ff_vec3_make(-sign * f, 0, 0);
            put(b, X, k, ff_vec3_make(sign * part * 0.01 * sin(w * t), 0, 0));
            put(b, DX, k, ff_vec3_make(sign * part * 0.01 * w * cos(w * t), 0, 0));
            put(b, FM, k, force);
            put(b, TM, k, ff_vec3_cross(tip, force));
        }
    }
}

static void test_contact_is_found(void **state) {
    (void)state;
    for (int pair = 0; pair < 2; pair++)
        for (int late = 0; late < 3; late++) {
            make_contact(pair, late == 2 ? 1.5 : late);
            ff_log_contact out;
            const double skew = 0.004 * (late == 2 ? 1.5 : late);
            assert_int_equal(ff_log_identify_contact(&table, 0, skew, &out, message, sizeof message), FF_OK);
            /* between rows a sine is straight to (w h)^2/8 = 2e-5 of the swing: of 20 N, and of the damping
             * by what that is of 15 N s/m * 0.03 m/s */
            assert_near(out.stiffness.value, K, late == 2 ? 1e-3 * K : 1e-6 * K);
            assert_near(out.damping.value, C, late == 2 ? 1e-2 * C : 1e-6 * C);
            assert_int_equal(out.other, pair ? 1 : -1);
            assert_int_equal(out.contacts, 2);
            /* across the force: along it the tip cannot be seen */
            assert_near(out.point.y, tip.y, 1e-4);
            assert_near(out.point.z, tip.z, 1e-4);
            ff_log_table_free(&table);
        }
}

/* Noise of a row that is partly that of the row before, of one variance. */
static double alike(ff_rng *rng, double rho, double *last) {
    *last = rho * *last + sqrt(1.0 - rho * rho) * ff_rng_normal(rng);
    return *last;
}

/* Errors are as large as their standard deviations say, whatever the noise has to do with that of the row
 * before. Of `draws` errors the rms lies within 4/sqrt(2 draws) of one deviation; rho itself is known
 * to 1/sqrt(rows) and thereby the factor of a few hundred rows to a tenth. */
static void assert_calibrated(const char *what, double squares, int draws) {
    const double ratio = sqrt(squares / draws), within = 0.1 + 4.0 / sqrt(2.0 * draws);
    print_message("%s: errors are %.2f times their deviation\n", what, ratio);
    assert_true(ratio > 1.0 - within && ratio < 1.0 + within);
}

static void test_contact_deviations(void **state) {
    (void)state;
    enum { DRAWS = 200 };
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    double squares[2] = {0};
    make_contact(false, 0.0);
    double *exact = calloc(table.rows, sizeof *exact);
    assert_non_null(exact);
    for (size_t k = 0; k < table.rows; k++)
        exact[k] = *cell(0, FM, k);
    for (int draw = 0; draw < DRAWS; draw++) {
        const double rho = ff_rng_range(&rng, 0.0, 0.8);
        double last = ff_rng_normal(&rng);
        for (size_t k = 0; k < table.rows; k++) {
            const double noise = 0.01 * alike(&rng, rho, &last);
            const ff_vec3 force = ff_vec3_make(exact[k] ? exact[k] + noise : 0.0, 0, 0);
            put(0, FM, k, force);
            put(0, TM, k, ff_vec3_cross(tip, force));
        }
        ff_log_contact out;
        assert_int_equal(ff_log_identify_contact(&table, 0, 0.0, &out, message, sizeof message), FF_OK);
        squares[0] += pow((out.stiffness.value - K) / out.stiffness.sd, 2);
        squares[1] += pow((out.damping.value - C) / out.damping.sd, 2);
    }
    assert_calibrated("stiffness", squares[0], DRAWS);
    assert_calibrated("damping", squares[1], DRAWS);
    free(exact);
    ff_log_table_free(&table);
}

static void refuse_contact(int body, const char *said) {
    ff_log_contact out;
    assert_int_equal(ff_log_identify_contact(&table, body, 0.0, &out, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_string_equal(message, said);
    assert_true(isnan(out.stiffness.value));
}

static void test_contact_refusals(void **state) {
    (void)state;
    make_contact(false, 0.0);
    refuse_contact(-1, "the log lacks robot or force columns of this body");
    refuse_contact(1, "the log lacks robot or force columns of this body");
    hide("b0.force_measured.x", true);
    refuse_contact(0, "the log lacks robot or force columns of this body");
    hide("b0.force_measured.x", false);
    for (size_t k = 0; k < table.rows; k++) /* never six rows in a row */
        if (k % 5 == 0)
            put(0, FM, k, ff_vec3_zero());
    refuse_contact(0, "the log holds no contact of at least six rows of this body");
    for (size_t k = 0; k < table.rows; k++)
        put(0, FM, k, ff_vec3_zero());
    refuse_contact(0, "the log holds no contact of at least six rows of this body");
    /* the force turns all the time: no row is along the mean */
    for (size_t k = 100; k < 140; k++)
        put(0, FM, k, ff_vec3_make(1.0, k % 2 ? 9.0 : -9.0, 0));
    refuse_contact(0, "the log holds no contact of at least six rows of this body");
    ff_log_table_free(&table);
}

/* ------------------------------------------------------------------------------------------------ payload --
 */

/* A mock-up at rest in many attitudes: weight at its CoM, a bias, a sensor turned and shifted in the body. */
static const ff_vec3 gravity = {{0, 0, -9.81}}, com = {{0.02, -0.03, 0.11}};
static const ff_wrench bias = {{{0.05, -0.02, 0.01}}, {{1.5, -0.7, 0.4}}};

static ff_pose sensor_pose(void) {
    return (ff_pose){ff_quat_exp(ff_vec3_make(0.1, 0.2, -0.3)), ff_vec3_make(0.01, 0.02, -0.05)};
}

static void make_payload(double mass, double turn) {
    make_table(1, 400, 0.01);
    for (size_t k = 0; k < table.rows; k++) {
        const double s = turn * sin(0.05 * (double)k);
        put_turn(0, XQ, k, ff_vec3_make(s, 0.7 * turn * sin(0.031 * (double)k), 0));
        const ff_quat q = ff_quat_exp(ff_vec3_make(s, 0.7 * turn * sin(0.031 * (double)k), 0));
        const ff_vec3 f = ff_vec3_scale(mass, ff_quat_unrotate(q, gravity));
        const ff_wrench read = ff_wrench_add(
            ff_wrench_transform(ff_pose_inverse(sensor_pose()), (ff_wrench){ff_vec3_cross(com, f), f}), bias);
        put(0, SF, k, read.f);
        put(0, ST, k, read.t);
    }
}

static ff_status payload(ff_vec3 g, ff_log_payload *out) {
    return ff_log_identify_payload(&table, 0, g, sensor_pose(), out, message, sizeof message);
}

static void test_payload_is_weighed(void **state) {
    (void)state;
    make_payload(12.0, 0.8);
    ff_log_payload out;
    /* rows in contact, by the loop's detector or by the contacts themselves, hold anything */
    for (int named = 0; named < 3; named++) {
        if (named == 2)
            hide("t", true), snprintf(table.name[table.columns - 1], FF_LOG_NAME, "contact.front.touching");
        for (size_t k = 100; named && k < 150; k++) {
            put(0, SF, k, ff_vec3_make(500, 0, 0));
            *(named == 2 ? &table.value[(k + 1) * (size_t)table.columns - 1] : cell(0, ST, k) + 3) =
                1.0; /* in_contact follows the torque */
        }
        assert_int_equal(payload(gravity, &out), FF_OK);
        assert_near(out.mass.value, 12.0, 1e-6);
        for (int i = 0; i < 3; i++) {
            assert_near(out.com[i].value, com.a[i], 1e-7);
            assert_near(out.bias.f.a[i], bias.f.a[i], 1e-6);
            assert_near(out.bias.t.a[i], bias.t.a[i], 1e-6);
        }
        assert_true(out.residual_force < 1e-6 && out.turned > 0.5);
        assert_true(out.rows == (named ? 398u - 52u : 398u));
    }
    ff_log_table_free(&table);
}

static void test_payload_deviations(void **state) {
    (void)state;
    enum { DRAWS = 60 };
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    double squares[2] = {0};
    make_payload(12.0, 0.8);
    ff_vec3 *exact = calloc(table.rows, 2 * sizeof *exact);
    assert_non_null(exact);
    for (size_t k = 0; k < table.rows; k++) {
        memcpy(exact[2 * k].a, cell(0, SF, k), sizeof exact->a);
        memcpy(exact[2 * k + 1].a, cell(0, ST, k), sizeof exact->a);
    }
    for (int draw = 0; draw < DRAWS; draw++) {
        const double rho = ff_rng_range(&rng, 0.0, 0.8);
        double last[6] = {0};
        for (size_t k = 0; k < table.rows; k++)
            for (int i = 0; i < 6; i++)
                cell(0, i < 3 ? SF : ST, k)[i % 3] = exact[2 * k + (i < 3 ? 0 : 1)].a[i % 3] +
                                                     (i < 3 ? 0.5 : 0.05) * alike(&rng, rho, last + i);
        ff_log_payload out;
        assert_int_equal(payload(gravity, &out), FF_OK);
        squares[0] += pow((out.mass.value - 12.0) / out.mass.sd, 2);
        squares[1] += pow((out.com[2].value - com.z) / out.com[2].sd, 2);
    }
    assert_calibrated("mass", squares[0], DRAWS);
    assert_calibrated("CoM", squares[1], DRAWS);
    free(exact);
    ff_log_table_free(&table);
}

static void refuse_payload(ff_vec3 g, const char *said) {
    ff_log_payload out;
    assert_int_equal(payload(g, &out), FF_ERR_ARGUMENT);
    assert_string_equal(message, said);
    assert_true(isnan(out.mass.value));
}

static void test_payload_refusals(void **state) {
    (void)state;
    ff_log_payload out;
    make_payload(12.0, 0.8);
    refuse_payload(ff_vec3_zero(), "without gravity a mock-up at rest weighs nothing");
    refuse_payload(ff_vec3_make(0, 0, FF_INF), "without gravity a mock-up at rest weighs nothing");
    assert_int_equal(
        ff_log_identify_payload(&table, 1, gravity, sensor_pose(), &out, message, sizeof message),
        FF_ERR_ARGUMENT);
    assert_string_equal(message, "the log lacks robot columns of this body");
    static const char *const raw[] = {"b0.sensor.force.x", "b0.sensor.torque.x"};
    for (int i = 0; i < 2; i++) {
        hide(raw[i], true);
        refuse_payload(gravity,
                       "the log lacks the sensor's raw reading (NAME.sensor.force, NAME.sensor.torque)");
        hide(raw[i], false);
    }
    table.rows = 11;
    refuse_payload(gravity, "the log holds fewer than ten rows without contact");
    ff_log_table_free(&table);
    make_payload(12.0, 0.01);
    refuse_payload(gravity,
                   "the mock-up turned by less than 3 degrees: its weight cannot be separated from the "
                   "sensor's bias");
    ff_log_table_free(&table);
    make_payload(0.0, 0.8);
    refuse_payload(gravity, "the sensor reads no weight: there is no mock-up, or the run had no gravity");
    ff_log_table_free(&table);
}

/* ------------------------------------------------------------------------------------------------- motion --
 */

/* p = p0 + v t + a t^2/2: second-order differences have no error, the acceleration from the fourth pose on.
 */
static void test_rates_of_a_parabola(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    const ff_vec3 p0 = test_random_vec3(&rng, 1), v0 = test_random_vec3(&rng, 1),
                  a = test_random_vec3(&rng, 3);
    const ff_quat q0 = ff_quat_exp(test_random_vec3(&rng, 1));
    const ff_vec3 w = test_random_vec3(&rng, 1); /* constant, so the body rate is exact, too */
    const double h = 0.004;
    ff_motion_state motion = {0};
    for (int k = 0; k < 50; k++) {
        const double t = h * k;
        const ff_pose T = {ff_quat_mul(q0, ff_quat_exp(ff_vec3_scale(t, w))),
                           ff_vec3_axpy(0.5 * t * t, a, ff_vec3_axpy(t, v0, p0))};
        ff_twist acceleration;
        const ff_setpoint now = ff_motion_step(&motion, T, h, &acceleration);
        assert_true(memcmp(&now.T, &T, sizeof T) == 0);
        const double round = 1e-15 * 20.0 / h; /* of positions of a few metres */
        if (k == 0)
            assert_true(ff_vec3_norm(now.twist.v) == 0.0 && ff_vec3_norm(acceleration.v) == 0.0);
        if (k == 1) /* first order: half a cycle late */
            assert_vec3_near(now.twist.v, ff_vec3_axpy(0.5 * h, a, v0), round);
        if (k >= 2) {
            assert_vec3_near(now.twist.v, ff_vec3_axpy(t, a, v0), round);
            assert_vec3_near(now.twist.w, w, round);
        }
        if (k >= 3) {
            assert_vec3_near(acceleration.v, a, 2 * round / h);
            assert_vec3_near(acceleration.w, ff_vec3_zero(), 2 * round / h);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pure_delay),         cmocka_unit_test(test_first_order_lag),
        cmocka_unit_test(test_long_log),           cmocka_unit_test(test_delay_beyond_the_bound),
        cmocka_unit_test(test_delay_refusals),     cmocka_unit_test(test_contact_is_found),
        cmocka_unit_test(test_contact_deviations), cmocka_unit_test(test_contact_refusals),
        cmocka_unit_test(test_payload_is_weighed), cmocka_unit_test(test_payload_deviations),
        cmocka_unit_test(test_payload_refusals),   cmocka_unit_test(test_rates_of_a_parabola),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
