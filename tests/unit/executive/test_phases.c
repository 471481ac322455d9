/* The phases of a run on devices, on a scripted station whose robot is where it was commanded a cycle ago:
 * check, approach, run-up, loop and stop, lost telegrams, silence, a refusal, a robot that stands. No socket,
 * no thread, no clock. */
#include "unit/executive/bench.h"

static void test_from_off_to_end(void **state) {
    (void)state;
    begin(0.0);
    end(true);
    assert_string_equal(seen.states, "CHECK ZEROED ARMED APPROACH RUNUP FLOAT BRAKE HOLD END ");
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    assert_int_equal(result.safety.state, FF_STATE_HOLD);
    assert_int_equal(seen.rows, scenario.cycles + 1);
    assert_true(seen.last.final && desk.releases == 1);
    /* at t = 0 the robot, a cycle behind, is on its way to the start with the body's speed */
    assert_near(seen.first.body[0].robot.twist.v.x, 0.05, 1e-9);
    assert_near(seen.first.body[0].robot.T.p.x, -0.05 * 0.004, 1e-9);
    assert_near(seen.first.body[0].command.T.p.x, 0.0, 1e-12);
    assert_int_equal(seen.asides, desk.plan.runup); /* and it was there at the start of the approach */
    assert_true(desk.largest_step <= 0.05 * 0.004 * (1.0 + 1e-9));
    assert_near(result.safety.rest[0].T.p.x, 0.05 * 0.4, 1e-9); /* free flight */
    /* the run-up is counted down to t = 0 */
    const double T = 0.004, before = -(double)desk.plan.runup * T;
    assert_true(desk.plan.runup > 0);
    assert_near(seen.first_aside.t, before, 1e-12);
    assert_near(seen.last_aside.t, -T, 1e-12);
    for (int n = 0; n < 5; n++)
        assert_near(seen.state_t[n], before, 1e-12);
    assert_near(seen.state_t[5], 0.0, 0.0);   /* FLOAT */
    assert_near(seen.state_t[6], 0.4, 1e-12); /* BRAKE */
    assert_near(result.safety.ended, 0.4, 1e-12);
    assert_int_equal(seen.event, FF_TRIP_FINISHED);
    assert_int_equal(seen.level, FF_EVENT_INFO);
    assert_string_equal(seen.event_text, ff_trip_text(FF_TRIP_FINISHED));
    assert_near(seen.event_t, 0.4, 1e-12);
    /* the stop: 0.1 s without motion and two cycles, 27, to rounding 28; with the last of them begin 26 */
    assert_int_equal(executive.phases.since, 52);
    assert_near(seen.state_t[7], 0.4 + 26 * T, 1.5 * T); /* HOLD */
    assert_near(seen.state_t[8], 0.4 + 52 * T, 1e-12);   /* END */
    assert_near(seen.said_t, seen.state_t[7], T);
    assert_int_equal(executive.phases.rest, 26);
    assert_string_equal(seen.said, "body: nothing pushes: the robot holds where it stopped");
    assert_int_equal(seen.said_level, FF_EVENT_INFO);
    assert_true(result.safety.stopped[0] && !result.safety.retreated[0]);
    assert_int_equal(result.safety.why[0], FF_STOP_FREE);
    assert_int_equal(desk.closes, 1);
    assert_int_equal(desk.writes, desk.waits - 1);
    assert_int_equal(desk.leads, desk.plan.runup + scenario.cycles + 1);
}

/* 0.5 mm beside: the approach leads it to the start, by steps of at most 15/8 of the mean speed. */
static void test_approach(void **state) {
    (void)state;
    begin(5e-4);
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    assert_int_equal(seen.asides, desk.plan.runup + 125); /* 0.5 s */
    assert_near(seen.first_aside.t, -(double)desk.plan.runup * 0.004 - 0.5 + 0.004, 1e-12);
    const ff_setpoint first = ff_trial_between(
        (ff_pose){ff_plan_runup(&desk.plan, 0, -FF_INF).T.q,
                  ff_vec3_add(ff_plan_runup(&desk.plan, 0, -FF_INF).T.p, ff_vec3_make(0, 5e-4, 0))},
        ff_plan_runup(&desk.plan, 0, -FF_INF).T, 0.004 / 0.5, 0.5);
    assert_vec3_near(seen.first_aside.body[0].command.T.p, first.T.p, 1e-15);
    assert_vec3_near(seen.first_aside.body[0].command.twist.v, first.twist.v, 1e-15);
    assert_near(seen.first.body[0].robot.T.p.y, 0.0, 1e-12);
    assert_true(desk.largest_step <= 0.05 * 0.004 * (1.0 + 1e-9));
}

/* With tight limits it takes its time: no difference of the commands is more than half of them. */
static void test_approach_within_tight_limits(void **state) {
    (void)state;
    static const struct {
        double velocity, acceleration, jerk, span;
    } each[] = {{0.002, 1e3, 1e6, 1.875 * 1e-3 / 0.002},
                {2.0, 0.004, 1e6, 0},
                {2.0, 1e3, 0.02, 0},
                {2.0, 1e3, 1e6, 0.5}};
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        begin(5e-4);
        while (executive.guard.walk.state != FF_STATE_APPROACH) {
            ff_executive_cycle(&executive);
            attend(true);
        }
        ff_output_config *o = &executive.phases.output[0];
        o->velocity = each[n].velocity;
        o->acceleration = each[n].acceleration;
        o->jerk = each[n].jerk;
        double y[4] = {5e-4, 5e-4, 5e-4, 5e-4}, worst[3] = {0};
        const double T = 0.004;
        int cycles = 0;
        for (; executive.guard.walk.state == FF_STATE_APPROACH && cycles < 5000; cycles++) {
            ff_executive_cycle(&executive);
            if (executive.guard.walk.state != FF_STATE_APPROACH)
                break;
            memmove(y + 1, y, 3 * sizeof *y);
            y[0] = executive.out.command[0].T.p.y;
            worst[0] = fmax(worst[0], fabs(y[0] - y[1]) / T);
            worst[1] = fmax(worst[1], fabs(y[0] - 2 * y[1] + y[2]) / (T * T));
            worst[2] = fmax(worst[2], fabs(y[0] - 3 * y[1] + 3 * y[2] - y[3]) / (T * T * T));
        }
        assert_near(y[0], 0.0, 1e-9);
        assert_true(worst[0] <= 0.5 * each[n].velocity * 1.001 && worst[1] <= 0.5 * each[n].acceleration &&
                    worst[2] <= 0.5 * each[n].jerk);
        /* and no longer than that asks for */
        assert_true(n == 3 || worst[0] > 0.49 * each[n].velocity || worst[1] > 0.49 * each[n].acceleration ||
                    worst[2] > 0.45 * each[n].jerk);
        if (each[n].span > 0.0)
            assert_near(cycles * T, each[n].span, 2.5 * T);
        desk.stopped = true;
        end(true);
    }
}

/* Within 1 um and 1 urad it is there already. */
static void test_an_approach_that_is_not_needed(void **state) {
    (void)state;
    const struct {
        double off, turned;
        bool approaches;
    } each[] = {{0.9e-6, 0.0, false}, {1.1e-6, 0.0, true}, {0.0, 0.9e-6, false}, {0.0, 1.1e-6, true}};
    for (int n = 0; n < 4; n++) {
        begin(each[n].off);
        desk.at.q = ff_quat_mul(desk.at.q, ff_quat_exp(ff_vec3_make(0, 0, each[n].turned)));
        while (executive.guard.walk.state != FF_STATE_APPROACH) {
            ff_executive_cycle(&executive);
            attend(true);
        }
        ff_executive_cycle(&executive);
        assert_int_equal(executive.guard.walk.state, each[n].approaches ? FF_STATE_APPROACH : FF_STATE_RUNUP);
        assert_int_equal(seen.asides, 1);
        assert_near(seen.first_aside.t, -(double)desk.plan.runup * 0.004 - (each[n].approaches ? 0.496 : 0.0),
                    1e-12);
        desk.stopped = true;
        end(true);
        assert_int_equal(result.safety.cause.code, FF_TRIP_OPERATOR);
    }
}

/* 5 mm beside is refused: nothing is led. */
static void test_no_go(void **state) {
    (void)state;
    begin(5e-3);
    end(true);
    assert_string_equal(seen.states, "CHECK FAULT END ");
    assert_int_equal(result.safety.cause.code, FF_TRIP_START);
    assert_int_equal(desk.leads, 0);
    assert_int_equal(seen.rows, 0);
    assert_int_equal(desk.releases, 1);
}

static void test_refused_by_the_operator(void **state) {
    (void)state;
    begin(0.0);
    end(false);
    assert_string_equal(seen.states, "CHECK HOLD END ");
    assert_int_equal(result.safety.cause.code, FF_TRIP_OPERATOR);
    assert_int_equal(desk.leads, 0);
}

/* Lost telegrams: their cycles are computed and recorded afterwards, and nothing is written for them. */
static void test_lost_telegrams(void **state) {
    (void)state;
    begin(0.0);
    desk.lose = 3;
    end(true);
    assert_int_equal(seen.rows, scenario.cycles + 1);
    assert_int_equal(executive.phases.missed, 3);
    assert_int_equal(executive.phases.missed_at_rest, 0);
    assert_int_equal(executive.phases.filled, 3);
    assert_int_equal(desk.writes, desk.waits - 3 - 1); /* and with the last of all the robot is released */
    assert_int_equal(seen.last.missed, 3);
    assert_int_equal(seen.filled, 3);
}

/* In the run-up they pass as time does; the approach is not made without the robot. */
static void test_telegrams_lost_before_the_start(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) {
        begin(n == 1 ? 5e-4 : 0.0);
        desk.lose_in = n == 1 ? FF_STATE_APPROACH : FF_STATE_RUNUP;
        desk.lose = n == 2 ? desk.plan.runup + 7 : 3;
        const uint64_t lost = desk.lose;
        end(true);
        assert_int_equal(seen.rows, scenario.cycles + 1);
        assert_int_equal(executive.phases.missed, lost);
        assert_int_equal(executive.phases.missed_at_rest, 0);
        assert_int_equal(executive.phases.filled, n == 1 ? 0 : lost);
        assert_int_equal(executive.phases.runup, desk.plan.runup);
        assert_int_equal(desk.writes, desk.waits - lost - 1);
        assert_near(seen.first.t, 0.0, 0.0);
        /* asides: what the robot was led through; the cycle in which the loss is noticed belongs to it */
        assert_int_equal(seen.asides_before, n == 0   ? desk.plan.runup - 3
                                             : n == 1 ? desk.plan.runup + 125
                                                      : 1);
        assert_int_equal(seen.filled, n == 2 ? 8 : 0);
        assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    }
}

/* Before the devices have spoken nothing is counted, except what was missed, at rest. */
static void test_before_the_devices_speak(void **state) {
    (void)state;
    begin(0.0);
    desk.speaks_at = 6;
    desk.lose_in = FF_STATE_OFF;
    desk.lose = 2;
    for (int n = 0; n < 5; n++) {
        ff_executive_cycle(&executive);
        assert_int_equal(executive.guard.walk.state, FF_STATE_OFF);
    }
    ff_executive_cycle(&executive);
    assert_int_equal(executive.guard.walk.state, FF_STATE_CHECK);
    end(true);
    assert_int_equal(result.info.held, 0);
    assert_int_equal(executive.phases.missed, 2);
    assert_int_equal(executive.phases.missed_at_rest, 2);
    assert_int_equal(seen.last.missed, 2);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
}

/* The operator's stop before any device spoke: nothing is released, and that is the cause. */
static void test_a_station_that_stops_waiting(void **state) {
    (void)state;
    begin(0.0);
    desk.failure = FF_ERR_LIMIT;
    desk.fails_at = 3;
    end(true);
    assert_int_equal(desk.releases, 0);
    assert_int_equal(desk.closes, 1);
    assert_int_equal(result.safety.cause.code, FF_TRIP_OPERATOR);
    assert_string_equal(seen.states, "CHECK END ");
}

/* The station's range counts (the smaller of the scenario's and the sensor's own); one that is not positive
 * is refused. */
static void test_ranges(void **state) {
    (void)state;
    desk = fresh;
    desk.force_range = 300.0;
    desk.torque_range = 5.0;
    assert_int_equal(try("direct", 0.05, "sensor: {kind: noisy, range: [400, 30]},", 0.0), FF_OK);
    const ff_wrench_config *wrench = &executive.loop.model->config.body[0].wrench;
    assert_near(wrench->force_limit, 300.0, 0.0);
    assert_near(wrench->torque_limit, 5.0, 0.0);
    ff_executive_close(&executive);
    ff_preflight_close(&preflight);
    desk = fresh;
    desk.torque_range = -1.0;
    assert_true(try("direct", 0.05, "", 0.0) < 0);
    assert_true(result.status < 0);
    assert_non_null(strstr(result.message, "range is not positive"));
    assert_int_equal(desk.closes, 1);
    ff_preflight_close(&preflight);
}

/* A method that predicts is led ahead from the run-up on, which begins so much earlier. */
static void test_a_method_that_predicts(void **state) {
    (void)state;
    begin(0.0);
    const uint64_t runup = desk.plan.runup;
    end(true);
    desk = fresh;
    assert_int_equal(try("impact", 0.05, "", 0.0), FF_OK);
    const double lead = ff_loop_lead(executive.loop.model, executive.loop.state, 0);
    assert_true(lead > 0.0);
    assert_near(executive.phases.lead[0], lead, 0.0);
    assert_int_equal(desk.plan.runup, runup + (uint64_t)ceil(lead / 0.004));
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    assert_true(desk.largest_step <= 0.05 * 0.004 * (1.0 + 1e-9));
    assert_near(seen.first.body[0].command.T.p.x, 0.05 * lead, 1e-9);
    /* at rest there is no run-up, whatever the method */
    desk = fresh;
    assert_int_equal(try("impact", 0.0, "", 0.0), FF_OK);
    assert_int_equal(desk.plan.runup, 0);
    end(true);
    assert_int_equal(seen.asides, 0);
    assert_near(seen.state_t[0], 0.0, 0.0);
    assert_int_equal(seen.rows, scenario.cycles + 1);
}

/* What the answers keep is what the limits are judged by; after a stop nothing accelerates more than it. */
static void test_bounds(void **state) {
    (void)state;
    desk = fresh;
    assert_int_equal(try("direct", 0.05,
                         "safety: {acceleration: 2, stop_acceleration: 0.5, stop_angular_acceleration: 0.25, "
                         "box: [0.4, free, free]},",
                         0.0),
                     FF_OK);
    ff_output_config planned;
    ff_plan_output(&scenario.satellite[0], &executive.guard.config.limits[0], 0.004, &planned);
    assert_int_equal(desk.bounded, 1);
    assert_near(desk.output.acceleration, planned.acceleration, 0.0);
    assert_near(desk.output.stop_acceleration, 0.5, 0.0);
    assert_true(desk.output.boxed);
    assert_near(desk.output.box.x, 0.4, 0.0);
    assert_near(executive.guard.config.stop_jerk[0], planned.jerk, 0.0);
    assert_true(planned.acceleration > 0.5);
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    assert_true(desk.bounded > 1);
    assert_near(desk.output.acceleration, 0.5, 0.0);
    assert_near(desk.output.angular_acceleration, 0.25, 0.0);
}

/* What was found wrong by the loop comes first, then by the station, then by the attendant. */
static void test_who_finds_what(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) {
        begin(0.0);
        while (executive.guard.walk.state != FF_STATE_FLOAT) {
            ff_executive_cycle(&executive);
            attend(true);
        }
        desk.attendant = (ff_trip){.code = FF_TRIP_RECORDER, .value = 7.0, .limit = 6.0};
        desk.trips_at = n ? desk.waits + 1 : 0;
        desk.trips = (ff_trip){.code = FF_TRIP_LATE, .value = 5.0, .limit = 4.0};
        if (n == 2)
            executive.found = (ff_trip){.code = FF_TRIP_METHOD, .value = 3.0, .limit = 2.0};
        const uint64_t asides = seen.asides;
        const double t = ff_executive_time(&executive);
        ff_executive_cycle(&executive);
        assert_int_equal(seen.event, n == 2 ? FF_TRIP_METHOD : n ? FF_TRIP_LATE : FF_TRIP_RECORDER);
        assert_near(seen.event_value, n == 2 ? 3.0 : n ? 5.0 : 7.0, 0.0);
        assert_near(seen.event_limit, n == 2 ? 2.0 : n ? 4.0 : 6.0, 0.0);
        assert_int_equal(seen.level, FF_EVENT_FAULT);
        assert_near(seen.event_t, t, 0.0);
        assert_int_equal(seen.asides, asides + 1); /* the cycle that tripped is kept, too */
        assert_near(seen.last_aside.t, t, 0.0);
        assert_int_equal(executive.guard.walk.state, FF_STATE_BRAKE);
        end(true);
        assert_near(result.safety.ended, t, 0.0);
        assert_int_equal(result.safety.state, FF_STATE_FAULT);
    }
}

/* Pressed while it holds: a fault, and it is released at once, since it rests already. */
static void test_a_held_robot_that_is_pressed(void **state) {
    (void)state;
    desk = fresh;
    assert_int_equal(try("direct", 0.05, "safety: {force: 40},", 0.0), FF_OK);
    while (executive.guard.walk.state != FF_STATE_FLOAT) {
        ff_executive_cycle(&executive);
        attend(true);
    }
    executive.phases.hold = true;
    for (int n = 0; n < 100; n++)
        ff_executive_cycle(&executive);
    assert_int_equal(executive.guard.walk.state, FF_STATE_HOLD);
    desk.force.y = 39.0;
    ff_executive_cycle(&executive);
    assert_false(executive.ended);
    desk.force.y = -41.0;
    ff_executive_cycle(&executive);
    assert_true(executive.ended);
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FORCE);
    assert_near(result.safety.cause.value, 41.0, 1e-9);
    assert_int_equal(result.safety.state, FF_STATE_FAULT);
    assert_int_equal(desk.releases, 1);
}

/* The mean at standstill becomes the zero, what the tests found the mock-up and the skew; a sensor of
 * which at most a quarter of the records repeated the one before must not keep repeating itself. */
static void test_the_zero(void **state) {
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        begin(0.0);
        desk.force = ff_vec3_make(0.25, -0.5, 1.0);
        while (!atomic_load(&preflight.measured))
            ff_executive_cycle(&executive);
        attend(false);
        atomic_store(&preflight.refused, false);
        assert_int_equal(preflight.check.no_go.code, FF_TRIP_NONE);
        ff_check_body *found = &preflight.check.body[0];
        assert_vec3_near(found->bias.f, desk.force, 1e-12);
        found->repeated = noisy ? 0.25 : 0.26;
        found->aligned = found->weighed = noisy;
        found->skew.value = 0.003;
        found->payload.mass.value = 12.0;
        for (int a = 0; a < 3; a++)
            found->payload.com[a].value = 0.1 * (a + 1);
        ff_executive_cycle(&executive);
        assert_false(executive.guard.body[0].noisy);
        assert_int_equal(executive.guard.walk.state, FF_STATE_CHECK);
        atomic_store(&preflight.passed, true);
        ff_executive_cycle(&executive);
        assert_int_equal(executive.guard.walk.state, FF_STATE_ZEROED);
        assert_int_equal(executive.guard.body[0].noisy, noisy);
        ff_loop_calibration c;
        ff_loop_calibrated(executive.loop.model, &c);
        assert_vec3_near(c.sensor[0].bias_s.f, desk.force, 1e-12);
        assert_near(c.sensor[0].mockup_mass, noisy ? 12.0 : 0.0, 0.0);
        assert_vec3_near(c.sensor[0].mockup_com_b,
                         noisy ? ff_vec3_make(0.1, 0.1 * 2, 0.1 * 3) : ff_vec3_zero(), 0.0);
        assert_near(c.skew, noisy ? 0.003 : 0.0, 0.0);
        ff_executive_cycle(&executive);
        assert_int_equal(executive.guard.walk.state, FF_STATE_ZEROED); /* not armed */
        assert_vec3_near(executive.out.measured_b[0].f, ff_vec3_zero(), 1e-12);
        desk.stopped = true;
        end(true);
        assert_int_equal(result.safety.cause.code, FF_TRIP_OPERATOR);
        assert_int_equal(desk.leads, 0);
    }
}

/* What stage 1 has learnt of an elastic mount before t = 0 is forgotten there, once. */
static void test_the_mount_begins_with_the_run(void **state) {
    (void)state;
    begin(0.0);
    double *learnt = &executive.loop.state->mount[0].x[1][2];
    double *other = &executive.loop.state->mount[1].x[1][2];
    *learnt = *other = 5.0;
    while (seen.rows == 0) {
        assert_near(*learnt, 5.0, 0.0);
        ff_executive_cycle(&executive);
        attend(true);
    }
    assert_near(*learnt, 0.0, 0.0);
    assert_near(*other, 5.0, 0.0);
    *learnt = 6.0;
    ff_executive_cycle(&executive);
    assert_near(*learnt, 6.0, 0.0);
    end(true);
}

/* A sample that was interpolated afterwards is not judged: nobody measured it. */
static void test_a_filled_sample_does_not_trip(void **state) {
    (void)state;
    for (int filled = 0; filled < 2; filled++) {
        desk = fresh;
        assert_int_equal(try("direct", 0.05, "safety: {force: 40},", 0.0), FF_OK);
        while (executive.guard.walk.state != FF_STATE_FLOAT) {
            ff_executive_cycle(&executive);
            attend(true);
        }
        desk.lose = filled ? 2 : 0;
        desk.force.y = 41.0;
        ff_executive_cycle(&executive);
        assert_int_equal(executive.sample.filled, filled);
        assert_int_equal(executive.guard.walk.cause.code, filled ? FF_TRIP_NONE : FF_TRIP_FORCE);
        end(true);
        assert_int_equal(result.safety.cause.code, FF_TRIP_FORCE); /* with the next that was measured */
    }
}

/* Each row holds the force of its own sample, the last one that of the cycle before. */
static void test_a_force_that_grows(void **state) {
    (void)state;
    begin(0.0);
    while (executive.guard.walk.state != FF_STATE_FLOAT) {
        ff_executive_cycle(&executive);
        attend(true);
    }
    while (!executive.ended) {
        desk.force.z += 1e-6;
        ff_executive_cycle(&executive);
        if (seen.rows && !seen.last.final && !executive.phases.finished)
            assert_near(seen.last.body[0].measured_b.f.z, desk.force.z, 1e-12);
    }
    end(true);
    assert_true(seen.last.final && seen.last.body[0].measured_b.f.z > 9.8e-5);
}

/* Into a wall whose force is limited: it brakes, and the stop leads it out, slowly. */
static void test_out_of_a_contact(void **state) {
    (void)state;
    desk = fresh;
    assert_int_equal(try("direct", 0.05, "safety: {force: 8},", 0.0), FF_OK);
    desk.wall = 0.01;
    while (!atomic_load(&preflight.measured))
        ff_executive_cycle(&executive);
    atomic_store(&preflight.passed, true); /* whatever the check says */
    atomic_store(&preflight.armed, true);
    end(true);
    assert_string_equal(seen.states,
                        "CHECK ZEROED ARMED APPROACH RUNUP FLOAT CONTACT BRAKE RETREAT FAULT END ");
    assert_int_equal(result.safety.cause.code, FF_TRIP_FORCE);
    assert_true(result.safety.retreated[0] && result.safety.stopped[0]);
    assert_int_equal(result.safety.why[0], FF_STOP_RETREATED);
    assert_true(result.safety.rest[0].T.p.x <= 0.01 && result.safety.rest[0].T.p.x > 0.0089);
    assert_string_equal(seen.said, "body: the robot has retreated out of the contact");
    assert_true(desk.leads > desk.plan.runup + seen.rows);
}

static void test_silence(void **state) {
    (void)state;
    begin(0.0);
    desk.silent_at = 300;
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_SILENT);
    assert_int_equal(result.safety.state, FF_STATE_FAULT);
    assert_int_equal(seen.event, FF_TRIP_SILENT);
    assert_int_equal(desk.releases, 1);
    assert_int_equal(desk.waits, 300);
    assert_near(seen.event_value, 0.1, 0.0);
    assert_int_equal(seen.level, FF_EVENT_FAULT);
}

/* Held, it stays until the stop. */
static void test_hold_stays(void **state) {
    (void)state;
    begin(0.0);
    while (executive.guard.walk.state != FF_STATE_FLOAT) {
        ff_executive_cycle(&executive);
        attend(true);
    }
    executive.phases.hold = true;
    for (int n = 0; n < 500; n++)
        assert_int_equal(ff_executive_cycle(&executive), FF_OK);
    assert_false(executive.ended);
    assert_int_equal(executive.guard.walk.state, FF_STATE_HOLD);
    desk.stopped = true;
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_OPERATOR);
    assert_true(seen.rows < scenario.cycles);
}

/* What strikes the sensor for a cycle before `arm` is not in the zero: a quiet standstill is waited for. */
static void test_the_zero_is_of_a_quiet_standstill(void **state) {
    (void)state;
    for (int n = 0; n < 2; n++) { /* nothing; a force */
        begin(0.0);
        desk.force = ff_vec3_make(0.25, -0.5, 1.0);
        while (executive.guard.walk.state != FF_STATE_ZEROED) {
            ff_executive_cycle(&executive);
            attend(true);
        }
        int waited = 0;
        for (; executive.guard.walk.state == FF_STATE_ZEROED && waited < 1000; waited++) {
            const bool struck = waited == 50;
            desk.force = ff_vec3_make(0.25 + (struck && n == 1 ? 150.0 : 0.0), -0.5, 1.0);
            ff_executive_cycle(&executive);
        }
        ff_loop_calibration c;
        ff_loop_calibrated(executive.loop.model, &c);
        assert_vec3_near(c.sensor[0].bias_s.f, ff_vec3_make(0.25, -0.5, 1.0), 1e-12);
        assert_vec3_near(c.sensor[0].bias_s.t, ff_vec3_zero(), 1e-12);
        assert_true(n ? waited > 150 && waited < 155 : waited > 99 && waited < 103);
        desk.stopped = true;
        end(true);
    }
}

/* A robot that was moved between the check and `arm` is not led back: FAULT, and nothing moves. */
static void test_moved_before_arming(void **state) {
    (void)state;
    begin(0.0);
    while (executive.guard.walk.state != FF_STATE_ZEROED) {
        ff_executive_cycle(&executive);
        attend(executive.guard.walk.state != FF_STATE_ZEROED);
    }
    desk.at.p.y += 1.1e-3;
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_START);
    assert_near(result.safety.cause.value, 1.1, 1e-6);
    assert_int_equal(result.safety.state, FF_STATE_FAULT);
    assert_int_equal(desk.leads, 0);
}

/* A robot that stood is led back to where it stands; a trip in the run-up ends the run before its first row.
 */
static void test_standing_robot(void **state) {
    (void)state;
    begin(0.0);
    while (executive.guard.walk.state != FF_STATE_RUNUP) {
        ff_executive_cycle(&executive);
        attend(true);
    }
    for (int n = 0; n < 20; n++)
        ff_executive_cycle(&executive);
    desk.trips_at = desk.waits + 1;
    desk.trips = (ff_trip){.code = FF_TRIP_STANDS, .value = 1e-3};
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_STANDS);
    assert_int_equal(result.safety.state, FF_STATE_FAULT);
    assert_int_equal(seen.rows, 0);
    assert_true(result.safety.ended < 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_off_to_end),
        cmocka_unit_test(test_approach),
        cmocka_unit_test(test_approach_within_tight_limits),
        cmocka_unit_test(test_no_go),
        cmocka_unit_test(test_refused_by_the_operator),
        cmocka_unit_test(test_lost_telegrams),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_hold_stays),
        cmocka_unit_test(test_standing_robot),
        cmocka_unit_test(test_moved_before_arming),
        cmocka_unit_test(test_the_zero_is_of_a_quiet_standstill),
        cmocka_unit_test(test_telegrams_lost_before_the_start),
        cmocka_unit_test(test_before_the_devices_speak),
        cmocka_unit_test(test_a_station_that_stops_waiting),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_a_method_that_predicts),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_a_force_that_grows),
        cmocka_unit_test(test_the_mount_begins_with_the_run),
        cmocka_unit_test(test_a_filled_sample_does_not_trip),
        cmocka_unit_test(test_an_approach_that_is_not_needed),
        cmocka_unit_test(test_who_finds_what),
        cmocka_unit_test(test_a_held_robot_that_is_pressed),
        cmocka_unit_test(test_the_zero),
        cmocka_unit_test(test_out_of_a_contact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
