/* The executive's cycle on a scripted station: what it asks of a station and when, what it makes of samples,
 * and what ends a run. */
#include "unit/executive/script.h"

#include "executive/reference.h"

#include "facility/virtual.h"

static ff_scenario scenario;
static ff_executive executive;

enum { CYCLES = 20, ROWS = CYCLES + 1 };

static void load(const char *method, const char *rest) {
    char text[1024], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: script\ntime: {cycle: 0.01, duration: 0.2}\nmethod: %s\nsatellites:\n"
             "  body: {mass: 50, inertia: [5, 6, 7], velocity: [0.02, 0, 0]}\n%s",
             method, rest);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(scenario.cycles, CYCLES);
}

typedef struct rows {
    ff_row row[ROWS];
    int count;
    int refuses_at; /* this row; -1: none */
} rows;

static rows kept;

static ff_status keep(void *self, const ff_row *row) {
    static const ff_row_body no_body; /* of a satellite that there is not nothing is known */
    rows *r = self;
    assert_memory_equal(&row->body[1], &no_body, sizeof no_body);
    assert_near(executive.in.sensor[1].f_s.f.x, 0.0, 0.0);
    assert_near(executive.in.sent[1].lag, 0.0, 0.0);
    assert_false(executive.sent[1].limited);
    assert_true(r->count < ROWS);
    if (r->count == r->refuses_at)
        return FF_ERR_IO;
    r->row[r->count++] = *row;
    return FF_OK;
}

static const ff_sink sink = {.self = &kept, .row = keep};

static ff_status run(script *s, const ff_run_options *more, ff_run_result *result) {
    const ff_run_options options = more ? *more : (ff_run_options){.sinks = &sink, .count = 1};
    s->bodies = scenario.satellites;
    kept.count = 0;
    *result = (ff_run_result){0};
    if (ff_executive_open(&executive, &scenario, script_station(s), &options, NULL, result) != FF_OK)
        return result->status;
    int cycles = 0;
    while (!executive.ended) {
        ff_executive_cycle(&executive);
        assert_true(++cycles <= ROWS);
    }
    const ff_status status = ff_executive_cycle(&executive); /* an ended run stays ended */
    assert_int_equal(status, result->status);
    ff_executive_close(&executive);
    return result->status;
}

static void test_every_cycle_offers_waits_writes_and_the_last_only_looks(void **unused) {
    (void)unused;
    script s = {.spoils = -1};
    ff_run_result result;
    kept.refuses_at = -1;
    load("direct", "");
    assert_int_equal(run(&s, NULL, &result), FF_OK);
    char expected[SCRIPT_CALLS] = "";
    for (int k = 0; k < CYCLES; k++)
        strcat(expected, "OWX");
    strcat(expected, "OW");
    assert_string_equal(s.calls, expected);
    assert_int_equal(s.opened, 1);
    assert_int_equal(s.closed, 1);
    assert_int_equal(result.cycles, CYCLES);
    assert_int_equal(kept.count, ROWS);
    for (int k = 0; k < ROWS; k++) {
        assert_int_equal(kept.row[k].tuned.known, k < CYCLES); /* the last computes nothing */
        assert_int_equal(kept.row[k].k, k);
        assert_true(kept.row[k].t == (double)k * scenario.cycle);
        assert_int_equal(kept.row[k].final, k == CYCLES);
    }
}

/* Whoever steps the run commands a robot: the station is offered that, and given it. */
static void test_a_robot_that_is_commanded_from_outside(void **unused) {
    (void)unused;
    script s = {.spoils = -1, .bodies = 1};
    ff_run_result result = {0};
    const ff_run_options options = {.sinks = &sink, .count = 1};
    kept.refuses_at = -1;
    kept.count = 0;
    load("direct", "");
    assert_int_equal(ff_executive_open(&executive, &scenario, script_station(&s), &options, NULL, &result),
                     FF_OK);
    for (int k = 0; k < 4; k++) {
        const double x = 0.01 * (k + 1);
        executive.meddling.commands[0] = k != 2;
        executive.meddling.commands[1] = true; /* there is no such robot */
        executive.meddling.command[1].T.q.w = 1.0;
        executive.meddling.command[0] = (ff_setpoint){{{1, 0, 0, 0}, {{x, 0.5, 0}}}, ff_twist_zero()};
        ff_executive_cycle(&executive);
        assert_int_equal(s.offered[0].T.p.y == 0.5, k != 2);
        assert_near(executive.out.next[1].T.q.w, 0.0, 0.0);
        assert_int_equal(s.written[0].T.p.y == 0.5, k != 2);
        if (k != 2)
            assert_near(s.offered[0].T.p.x, x, 0.0);
    }
    ff_executive_close(&executive);
}

/* A contact of which nothing is real: what is computed for it stands beside what the sensor reads. */
static void test_a_virtual_contact_pushes(void **unused) {
    (void)unused;
    script s = {.spoils = -1};
    ff_run_result result;
    kept.refuses_at = -1;
    load("direct",
         "contacts:\n  - {kind: wall, body: body, source: virtual, point: com, at: [0, 0, 0], normal: "
         "[-1, 0, 0], stiffness: 100}\n");
    assert_int_equal(run(&s, NULL, &result), FF_OK);
    assert_true(kept.row[CYCLES].body[0].satellite.velocity.x < 0.02); /* it goes into the wall */
}

/* `direct` with lie-midpoint integrates a constant force exactly: v = v0 + t F/m at every t_k; the position
 * gains T v(k+1). The load of the last cycle that acts is that of t_(k-1). */
static void test_samples_and_loads_move_the_satellite_as_the_contract_says(void **unused) {
    (void)unused;
    script s = {.spoils = -1, .force = {.f = {{0.0, 3.0, 0.0}}}};
    ff_run_result result;
    kept.refuses_at = -1;
    load("direct", "loads:\n  - {body: body, kind: pulse, force: [2, 0, 0], from: 0.05, to: 0.1}\n");
    assert_int_equal(run(&s, NULL, &result), FF_OK);
    const double T = scenario.cycle, m = 50.0;
    double y = 0.0;
    for (int k = 0; k < ROWS; k++) {
        const ff_rigid_state *b = &kept.row[k].body[0].satellite;
        const int pushed = k < 5 ? 0 : k < 10 ? k - 5 : 5; /* cycles with the load before t_k */
        assert_near(b->velocity.x, 0.02 + pushed * T * 2.0 / m, 1e-15);
        assert_near(b->velocity.y, k * T * 3.0 / m, 1e-15);
        y += k ? T * (k * T * 3.0 / m) : 0.0;
        assert_near(b->position.y, y, 1e-15);
        assert_near(kept.row[k].body[0].measured_b.f.y, 3.0, 1e-15);
    }
    assert_near(s.measured[0].f.y, 3.0, 1e-15); /* the station is given what the loop measured */
    assert_vec3_near(s.offered[0].T.p, kept.row[CYCLES].body[0].command.T.p, 0.0);
}

/* Whatever number of a sample is not one: nothing moves in that cycle, every command stays finite, the run
 * continues. */
static void test_a_sample_that_is_not_finite_holds_the_robots_for_a_cycle(void **unused) {
    (void)unused;
    const int numbers = (int)(offsetof(ff_wrench_in, acceleration) / sizeof(double));
    kept.refuses_at = -1;
    for (int n = 0; n < numbers; n++) {
        script s = {.spoils = n, .spoils_at = 7, .force = {.f = {{0.0, 3.0, 0.0}}}};
        ff_run_result result;
        load("direct", "");
        assert_int_equal(run(&s, NULL, &result), FF_OK);
        assert_int_equal(kept.row[7].status, FF_INFO_HELD);
        assert_int_equal(result.info.held, 1);
        const ff_row_body *before = &kept.row[7].body[0], *after = &kept.row[8].body[0];
        assert_memory_equal(&before->satellite, &after->satellite, sizeof after->satellite);
        for (int k = 0; k < ROWS; k++) {
            assert_true(ff_rigid_finite(&kept.row[k].body[0].satellite));
            assert_true(ff_pose_finite(kept.row[k].body[0].command.T));
            assert_true(ff_twist_finite(kept.row[k].body[0].command.twist));
        }
        /* one cycle without the force */
        assert_near(kept.row[CYCLES].body[0].satellite.velocity.y, (CYCLES - 1) * scenario.cycle * 3.0 / 50.0,
                    1e-15);
    }
}

static void test_a_station_that_fails_ends_the_run_there(void **unused) {
    (void)unused;
    const ff_status faults[] = {FF_ERR_DIVERGED, FF_ERR_DEVICE, FF_ERR_FORMAT};
    kept.refuses_at = -1;
    for (int f = 0; f < 3; f++)
        for (uint64_t at = 0; at <= CYCLES; at += 5) {
            script s = {.spoils = -1, .fails_at = at, .failure = faults[f]};
            ff_run_result result;
            load("direct", "");
            assert_int_equal(run(&s, NULL, &result), faults[f]);
            assert_int_equal(kept.count, at);
            assert_int_equal(result.cycles, at ? at - 1 : 0);
            assert_int_equal(s.closed, 1);
            char when[32];
            snprintf(when, sizeof when, "at %.3f s: ", (double)at * scenario.cycle);
            assert_non_null(strstr(result.message, when));
            assert_non_null(strstr(result.message, ff_status_text(faults[f])));
        }
}

static void test_a_force_beyond_all_numbers_ends_the_run_with_its_row(void **unused) {
    (void)unused;
    script s = {.spoils = -1, .force = {.f = {{1e300, 0.0, 0.0}}}};
    ff_run_result result;
    kept.refuses_at = -1;
    load("direct", "");
    assert_int_equal(run(&s, NULL, &result), FF_ERR_DIVERGED);
    assert_int_equal(kept.count, 1); /* the row says what was measured */
    assert_int_equal(kept.row[0].status, FF_ERR_DIVERGED);
    assert_true(ff_pose_finite(s.written[0].T));
    assert_int_equal(s.closed, 1);
}

static void test_a_sink_that_fails_ends_the_run(void **unused) {
    (void)unused;
    script s = {.spoils = -1};
    ff_run_result result;
    kept.refuses_at = 4;
    load("direct", "");
    assert_int_equal(run(&s, NULL, &result), FF_ERR_IO);
    assert_int_equal(kept.count, 4);
    assert_int_equal(result.cycles, 3);
    assert_int_equal(s.closed, 1);
}

static void test_a_station_that_does_not_open_is_not_closed(void **unused) {
    (void)unused;
    script s = {.spoils = -1, .refuses = FF_ERR_DEVICE};
    ff_run_result result;
    load("direct", "");
    assert_int_equal(run(&s, NULL, &result), FF_ERR_DEVICE);
    assert_string_equal(result.message, "the script refuses");
    assert_int_equal(s.closed, 0);
    assert_int_equal(s.count, 0);
}

typedef struct stops {
    uint64_t at;
    int asked;
} stops;

static bool stop_at(void *self, const ff_run_access *access) {
    stops *s = self;
    s->asked++;
    assert_true(access->t == (double)access->k * scenario.cycle);
    return access->k != s->at;
}

static void test_orders_come_before_every_cycle_and_may_stop_it(void **unused) {
    (void)unused;
    for (uint64_t at = 0; at <= CYCLES + 1; at += 7) {
        script s = {.spoils = -1};
        stops asked = {.at = at};
        ff_run_result result;
        kept.refuses_at = -1;
        load("direct", "");
        const ff_run_options options = {
            .sinks = &sink, .count = 1, .between = stop_at, .between_user = &asked};
        const bool whole = at > CYCLES;
        assert_int_equal(run(&s, &options, &result), whole ? FF_OK : FF_ERR_LIMIT);
        assert_int_equal(asked.asked, whole ? ROWS : (int)at + 1);
        assert_int_equal(kept.count, whole ? ROWS : (int)at);
        char when[40];
        snprintf(when, sizeof when, "stopped at %.3f s", (double)at * scenario.cycle);
        assert_string_equal(result.message, whole ? "" : when);
    }
}

/* The orders see the loop: its model and what went into and came out of the cycle before. */
static bool look_at(void *self, const ff_run_access *access) {
    int *asked = self;
    assert_ptr_equal(access->model, executive.loop.model);
    assert_ptr_equal(access->in, &executive.in);
    assert_ptr_equal(access->out, &executive.out);
    ++*asked;
    return true;
}

/* A clock that takes 100 ns longer between two calls each time: the step of cycle k takes 100 (2k + 2) ns. */
static int64_t ticks, longer;

static int64_t slower(void) {
    longer += 100;
    return ticks += longer;
}

static void test_the_step_is_timed(void **unused) {
    (void)unused;
    for (int n = 0; n < 2; n++) { /* the second run begins anew */
        script s = {.spoils = -1, .bodies = 1};
        int asked = 0;
        const ff_run_options options = {
            .sinks = &sink, .count = 1, .between = look_at, .between_user = &asked};
        ff_run_result result = {0};
        kept.refuses_at = -1;
        kept.count = 0;
        ticks = longer = 0;
        load("direct", "");
        assert_int_equal(
            ff_executive_open(&executive, &scenario, script_station(&s), &options, slower, &result), FF_OK);
        while (!executive.ended)
            ff_executive_cycle(&executive);
        ff_executive_close(&executive);
        double sum = 0.0;
        for (int k = 0; k < CYCLES; k++) {
            const double took = 100.0 * (2.0 * k + 2.0);
            assert_near(kept.row[k].compute_ns, took, 0.0);
            sum += took;
        }
        assert_near(kept.row[CYCLES].compute_ns, 0.0, 0.0); /* nothing is computed any more */
        assert_near(result.cycle_max_ns, 100.0 * 2.0 * CYCLES, 0.0);
        assert_near(result.cycle_mean_ns, sum / CYCLES, 1e-9);
        assert_int_equal(asked, ROWS);
    }
    script s = {.spoils = -1};
    ff_run_result result;
    assert_int_equal(run(&s, NULL, &result), FF_OK);
    assert_near(kept.row[3].compute_ns, 0.0, 0.0);
    assert_near(result.cycle_mean_ns + result.cycle_max_ns, 0.0, 0.0);
}

/* Rows hold what is really there and the reference, where somebody knows; what is commanded too late counts
 * as limited, but not at the end. */
static void test_rows_hold_truth_and_reference(void **unused) {
    (void)unused;
    static ff_rigid_state motion[10];
    for (int k = 0; k < 10; k++)
        motion[k] = (ff_rigid_state){.position = {{k, 2.0, 3.0}}, .attitude = {1, 0, 0, 0}};
    const ff_ideal_result ideal = {.samples = 10, .bodies = 1, .state = motion};
    const ff_truth there = {.robot[0] = {.T.p = {{4, 5, 6}}},
                            .inertial[0] = {.T.p = {{7, 8, 9}}},
                            .force[0] = {{1, 2, 3}},
                            .touching[0] = true,
                            .force[1] = {{-1, 0, 0}},
                            .force[2] = {{9, 9, 9}},
                            .touching[2] = true,
                            .robot[1] = {.T.p = {{4, 5, 6}}}};
    for (int n = 0; n < 2; n++) {
        script s = {.spoils = -1, .behind = n ? 1e-3 : 0.0, .truth = n ? &there : NULL};
        const ff_run_options options = {.sinks = &sink, .count = 1, .ideal = n ? &ideal : NULL};
        ff_run_result result;
        load("direct",
             "contacts:\n"
             "  - {kind: wall, name: a, body: body, at: [5, 0, 0], normal: [-1, 0, 0], stiffness: 9}\n"
             "  - {kind: wall, name: b, body: body, at: [6, 0, 0], normal: [-1, 0, 0], stiffness: 9}\n");
        assert_int_equal(run(&s, &options, &result), FF_OK);
        assert_int_equal(result.limited, n ? CYCLES : 0);
        for (int k = 0; k < ROWS; k++) {
            const ff_row *row = &kept.row[k];
            const ff_row_body *b = &row->body[0];
            if (n && k < 10)
                assert_memory_equal(&b->ideal, &motion[k], sizeof b->ideal);
            else
                assert_true(isnan(b->ideal.position.x));
            assert_vec3_near(b->robot.T.p, n ? there.robot[0].T.p : ff_vec3_zero(), 0.0);
            assert_vec3_near(b->inertial.T.p, n ? there.inertial[0].T.p : ff_vec3_zero(), 0.0);
            for (int c = 0; c < 2; c++) {
                assert_vec3_near(row->contact_force[c], n ? there.force[c] : ff_vec3_zero(), 0.0);
                assert_int_equal(row->touching[c], n && c == 0);
            }
            assert_vec3_near(row->contact_force[2], ff_vec3_zero(), 0.0);
            assert_false(row->touching[2]);
            assert_near(b->lag, n && k < CYCLES ? 1e-3 : 0.0, 0.0);
            assert_int_equal(b->limited, n && k < CYCLES);
        }
    }
}

/* The station learns at its opening how far the commands are ahead, and with each offer the nominal motion of
 * that cycle. */
static void test_what_the_station_learns(void **unused) {
    (void)unused;
    script s = {.spoils = -1};
    ff_run_result result;
    kept.refuses_at = -1;
    load("impact", "contacts:\n  - {kind: wall, name: wall, body: body, at: [5, 0, 0], normal: [-1, 0, 0], "
                   "stiffness: 20000, damping: 5}\n");
    scenario.satellite[0].robot.kind = FF_ROBOT_DELAY;
    scenario.satellite[0].robot.delay = 0.02;
    assert_int_equal(run(&s, NULL, &result), FF_OK);
    assert_near(s.lead[0], 0.02, 0.011); /* the robot's delay, to a cycle */
    assert_near(s.offered[0].T.p.x - kept.row[CYCLES].body[0].satellite.position.x, 0.02 * s.lead[0], 1e-12);
    load("direct", "");
    assert_int_equal(run(&s, NULL, &result), FF_OK);
    assert_near(s.lead[0], 0.0, 0.0);
    load("direct", "frame: relative\nnominal: {kind: satellite, of: body}\n");
    s = (script){.spoils = -1};
    assert_int_equal(run(&s, NULL, &result), FF_OK);
    assert_near(s.nominal.position.x, 0.02 * CYCLES * scenario.cycle, 1e-12);
    assert_near(s.nominal.velocity.x, 0.02, 1e-12);
}

/* Called about a hundred times, with the part that is done. */
static struct {
    int calls;
    double last, stop;
} drawn;

static bool draw(void *user, double part) {
    (void)user;
    assert_true(drawn.calls == 0 ? part == 0.0 : part > drawn.last);
    drawn.calls++;
    drawn.last = part;
    return part < drawn.stop;
}

static void test_progress(void **unused) {
    (void)unused;
    const struct {
        uint64_t cycles;
        int calls;
        double last;
    } each[] = {{100, 101, 1.0}, {127, 128, 1.0}, {128, 65, 1.0}, {1280, 117, 1276.0 / 1280.0}};
    const ff_run_options options = {.progress = draw};
    for (int n = 0; n < 4; n++) {
        memset(&drawn, 0, sizeof drawn);
        drawn.stop = 2.0;
        for (uint64_t k = 0; k <= each[n].cycles; k++)
            assert_true(ff_run_progress(&options, k, each[n].cycles));
        assert_int_equal(drawn.calls, each[n].calls);
        assert_near(drawn.last, each[n].last, 0.0);
    }
    memset(&drawn, 0, sizeof drawn);
    drawn.stop = 0.5;
    assert_true(ff_run_progress(&options, 0, 100));
    assert_true(ff_run_progress(&options, 49, 100));
    assert_false(ff_run_progress(&options, 50, 100));
    assert_true(ff_run_progress(&(ff_run_options){0}, 50, 100));
}

/* ---------------------------------------------------------------------------------------------- boundary --
 */

/* A virtual station that keeps its samples. */
typedef struct tap {
    ff_virtual facility;
    ff_station inside;
    ff_sample sample[ROWS];
    uint64_t count;
} tap;

static tap wire;

static ff_status tapped(void *self, ff_sample *sample) {
    const ff_status status = wire.inside.wait(self, sample);
    wire.sample[wire.count++] = *sample;
    return status;
}

/* Everything after a sample is a function of the samples: a run on the samples of another has its rows, bit
 * for bit. */
static void test_rows_follow_from_the_samples_alone(void **unused) {
    (void)unused;
    static const char *const methods[] = {"direct", "tdpa", "damping", "impact", "fused"};
    static rows first;
    int reported = 0;
    for (int m = 0; m < 5; m++) {
        load(methods[m],
             "contacts:\n  - {kind: wall, name: wall, body: body, at: [0.0005, 0, 0], normal: [-1, 0, "
             "0], stiffness: 20000, damping: 5}\n");
        scenario.satellite[0].robot.kind = FF_ROBOT_DELAY;
        scenario.satellite[0].robot.delay = 0.02;
        wire.count = 0;
        wire.inside = ff_virtual_station(&wire.facility, &scenario);
        ff_station station = wire.inside;
        station.wait = tapped;
        const ff_run_options options = {.sinks = &sink, .count = 1};
        ff_run_result result = {0};
        kept.count = 0;
        kept.refuses_at = -1;
        assert_int_equal(ff_executive_open(&executive, &scenario, station, &options, NULL, &result), FF_OK);
        while (!executive.ended)
            ff_executive_cycle(&executive);
        double report[FF_METHOD_VALUES] = {0}; /* of the run, before its state is gone */
        const int reports = ff_loop_report(executive.loop.model, executive.loop.state, -1, report);
        ff_executive_close(&executive);
        assert_int_equal(result.status, FF_OK);
        assert_int_equal(result.reports, reports);
        assert_memory_equal(result.report, report, sizeof report);
        reported += reports;
        memcpy(&first, &kept, sizeof first);
        double pushed = 0.0;
        for (int k = 0; k < ROWS; k++)
            pushed = fmax(pushed, fabs(first.row[k].body[0].measured_b.f.x));
        assert_true(pushed > 1.0); /* there was a contact */

        script s = {.spoils = -1, .said = wire.sample};
        assert_int_equal(run(&s, NULL, &result), FF_OK);
        for (int k = 0; k < ROWS; k++) {
            const ff_row *a = &first.row[k], *b = &kept.row[k];
            assert_memory_equal(&a->body[0].satellite, &b->body[0].satellite, sizeof a->body[0].satellite);
            assert_memory_equal(&a->body[0].command, &b->body[0].command, sizeof a->body[0].command);
            assert_memory_equal(&a->body[0].corrected_b, &b->body[0].corrected_b,
                                sizeof a->body[0].corrected_b);
            assert_memory_equal(&a->body[0].energy, &b->body[0].energy, sizeof a->body[0].energy);
        }
    }
    assert_true(reported > 0);
}

/* ------------------------------------------------------------------------------------------- reference --
 */

enum { SAMPLES = 40 };

static struct {
    const ff_ideal_result *ideal;
    const ff_scenario *scenario;
    uint64_t rows, stop_at;
    bool relative;
} mirror;

/* A row of the reference is the reference: motion, loads on the body's own axes, and which contact is open.
 */
static ff_status see_reference(void *self, const ff_row *row) {
    (void)self;
    const ff_ideal_result *ideal = mirror.ideal;
    const uint64_t k = mirror.rows++;
    assert_int_equal(row->k, k);
    assert_near(row->t, (double)k * mirror.scenario->cycle, 0.0);
    assert_int_equal(row->final, k == mirror.scenario->cycles);
    const ff_rigid_state *nominal = &ideal->state[2 * k + 1];
    for (uint64_t i = 0; i < 2; i++) {
        const ff_row_body *b = &row->body[i];
        const ff_rigid_state *is = &ideal->state[2 * k + i];
        const ff_rigid_load load = ideal->contact_load[2 * k + i];
        const ff_rigid_state shown = mirror.relative ? ff_relative_from_absolute(nominal, is) : *is;
        const ff_setpoint to = ff_setpoint_from_state(&shown), inertial = ff_setpoint_from_state(is);
        assert_memory_equal(&b->satellite, is, sizeof *is);
        assert_memory_equal(&b->ideal, is, sizeof *is);
        assert_memory_equal(&b->inertial, &inertial, sizeof inertial);
        assert_memory_equal(&b->command, &to, sizeof to);
        assert_memory_equal(&b->robot, &to, sizeof to);
        assert_near(b->load.force.z, i == 1 && k >= 5 && k < 9 ? 2.0 : 0.0, 0.0);
        assert_vec3_near(ff_quat_rotate(is->attitude, b->measured_b.f), load.force, 1e-12);
        assert_vec3_near(b->corrected_b.t, load.torque, 0.0);
        assert_int_equal(b->in_contact, ff_vec3_norm(load.force) > 0.0 || ff_vec3_norm(load.torque) > 0.0);
        const ff_satellite *satellite = &mirror.scenario->satellite[i];
        ff_rigid_model model;
        ff_rigid_create(&satellite->rigid, &model);
        assert_near(b->energy.kinetic, ff_rigid_kinetic_energy(&model, is), 1e-12);
        assert_true(isnan(b->observer[0]) && isnan(b->observer[5]) && isnan(b->identified_stiffness) &&
                    isnan(b->identified_damping) && isnan(b->identified_damping_sd));
    }
    /* contact 0: [3, 10) and [20, 25) cycles; contact 1: from 12 on, never left */
    const bool open[2] = {(k >= 3 && k < 10) || (k >= 20 && k < 25), k >= 12};
    for (int c = 0; c < 2; c++) {
        assert_int_equal(row->touching[c], open[c]);
        const ff_vec3 force = ideal->contact_load[2 * k + (uint64_t)mirror.scenario->contact[c].body].force;
        assert_vec3_near(row->contact_force[c], open[c] ? force : ff_vec3_zero(), 0.0);
    }
    return mirror.stop_at && k == mirror.stop_at ? FF_ERR_IO : FF_OK;
}

static bool until_seven(void *user, const ff_run_access *access) {
    (void)user;
    assert_near(access->t, (double)access->k * mirror.scenario->cycle, 0.0);
    return access->k < 7;
}

static bool until_half(void *user, double part) {
    (void)user;
    return part < 0.5;
}

static void test_the_reference_as_a_run(void **state) {
    (void)state;
    static ff_scenario s;
    static ff_rigid_state motion[2 * SAMPLES];
    static ff_rigid_load load[2 * SAMPLES];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    s = (ff_scenario){.satellites = 2, .contacts = 2, .cycle = 0.004, .cycles = SAMPLES - 1};
    s.contact[1].body = 1;
    s.loads = 1;
    s.load[0] = (ff_load){.body = 1, .kind = FF_LOAD_PULSE, .from = 4.5 * s.cycle, .to = 8.5 * s.cycle};
    s.load[0].force.z = 2.0;
    for (int i = 0; i < 2; i++) {
        s.satellite[i].rigid =
            (ff_rigid_config){.mass = 10.0 + i, .inertia = ff_mat3_diag(1.0, 2.0 + i, 2.5)};
        s.satellite[i].arm.joints = 0;
    }
    for (int n = 0; n < 2 * SAMPLES; n++) {
        const ff_pose at = test_random_pose(&rng, 1.0);
        motion[n] = (ff_rigid_state){.position = at.p,
                                     .attitude = at.q,
                                     .velocity = test_random_vec3(&rng, 0.1),
                                     .omega = test_random_vec3(&rng, 0.1)};
        if (n / 2 % 2) /* none, a force alone, a torque alone, both: of either body */
            load[n].force = test_random_vec3(&rng, 5.0);
        if (n / 4 % 2)
            load[n].torque = test_random_vec3(&rng, 1.0);
    }
    const double T = s.cycle;
    ff_ideal_contact contact[] = {{.contact = 0, .start = 3 * T, .end = 10 * T},
                                  {.contact = 1, .start = 12 * T, .end = FF_NAN},
                                  {.contact = 0, .start = 20 * T, .end = 25 * T}};
    const ff_ideal_result ideal = {.samples = SAMPLES,
                                   .bodies = 2,
                                   .state = motion,
                                   .contact_load = load,
                                   .contacts = 3,
                                   .contact = contact};
    const ff_sink mirror_sink = {.row = see_reference};
    for (int n = 0; n < 5; n++) {
        ff_run_options options = {.ideal = &ideal, .sinks = &mirror_sink, .count = 1};
        ff_run_result run = {0};
        mirror.ideal = &ideal;
        mirror.scenario = &s;
        mirror.rows = 0;
        mirror.relative = n == 1;
        mirror.stop_at = n == 4 ? 5 : 0;
        s.frame = n == 1 ? FF_FRAME_RELATIVE : FF_FRAME_ABSOLUTE;
        s.nominal = FF_NOMINAL_SATELLITE;
        s.nominal_of = 1;
        if (n == 2)
            options.between = until_seven;
        if (n == 3)
            options.progress = until_half;
        ff_run(&s, &options, &run);
        static const ff_status status[] = {FF_OK, FF_OK, FF_ERR_LIMIT, FF_ERR_LIMIT, FF_ERR_IO};
        static const uint64_t count[] = {SAMPLES, SAMPLES, 7, 21, 6};
        assert_int_equal(run.status, status[n]);
        assert_int_equal(mirror.rows, count[n]);
        assert_int_equal(run.cycles, count[n] - 1);
        if (n == 2)
            assert_string_equal(run.message, "stopped at 0.028 s");
    }
    const ff_run_options none = {.count = 0};
    ff_run_result run = {0};
    ff_run(&s, &none, &run);
    assert_int_equal(run.status, FF_ERR_ARGUMENT);
    assert_non_null(strstr(run.message, "reference"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cycle_offers_waits_writes_and_the_last_only_looks),
        cmocka_unit_test(test_samples_and_loads_move_the_satellite_as_the_contract_says),
        cmocka_unit_test(test_a_robot_that_is_commanded_from_outside),
        cmocka_unit_test(test_a_virtual_contact_pushes),
        cmocka_unit_test(test_a_sample_that_is_not_finite_holds_the_robots_for_a_cycle),
        cmocka_unit_test(test_a_station_that_fails_ends_the_run_there),
        cmocka_unit_test(test_a_force_beyond_all_numbers_ends_the_run_with_its_row),
        cmocka_unit_test(test_a_sink_that_fails_ends_the_run),
        cmocka_unit_test(test_a_station_that_does_not_open_is_not_closed),
        cmocka_unit_test(test_orders_come_before_every_cycle_and_may_stop_it),
        cmocka_unit_test(test_the_step_is_timed),
        cmocka_unit_test(test_rows_hold_truth_and_reference),
        cmocka_unit_test(test_what_the_station_learns),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_rows_follow_from_the_samples_alone),
        cmocka_unit_test(test_the_reference_as_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
