/* Datagrams of two controllers and two sensors: who is asked and answered before all have spoken, how old a
 * record is by the clock, how far back a robot is remembered, and how far ahead its axes are looked at. */
#include "two.h"

#include "text/clock.h"

#include <sys/socket.h>

/* The first requests of the sensors' streams come while nobody has heard from a robot. */
static void test_sensors_are_asked_before_a_robot_speaks(void **state) {
    (void)state;
    network.options.wait = 0.03;
    assert_true(station.wait(station.self, &sample) != FF_OK);
    for (int i = 0; i < 2; i++) {
        uint8_t bytes[64];
        int64_t stamp;
        ff_ati_request request;
        const long size = ff_socket_receive(peer[i].sensor, bytes, sizeof bytes, &peer[i].client, &stamp);
        assert_true(size > 0 && ff_ati_request_decode(bytes, (size_t)size, &request) == FF_OK);
        assert_int_equal(request.command, FF_ATI_START);
    }
}

/* The requests that came to this sensor since. */
static int requests(int i) {
    uint8_t bytes[64];
    int64_t stamp;
    struct sockaddr_in from;
    ff_ati_request request;
    int count = 0;
    for (long size; (size = ff_socket_receive(peer[i].sensor, bytes, sizeof bytes, &from, &stamp)) > 0;)
        count +=
            ff_ati_request_decode(bytes, (size_t)size, &request) == FF_OK && request.command == FF_ATI_START;
    return count;
}

/* A sensor that does not send is asked again every tenth of a second, no earlier, while no robot speaks and
 * when all have spoken; and the silence of a robot is as long as it is said to be. */
static void test_a_sensor_is_asked_again(void **state) {
    (void)state;
    network.options.wait = 0.35;
    int asked[2] = {0};
    const int64_t begun = ff_clock_now();
    bool timely = false; /* a busy machine may be late, but not each time */
    for (int tries = 0; tries < 20 && !(timely && asked[0] > 3); tries++) {
        const int64_t from = ff_clock_now();
        assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
        const double took = 1e-9 * (double)(ff_clock_now() - from);
        assert_true(took >= 0.35 && sample.body[0].device.silence >= 0.35);
        assert_true(sample.body[0].device.silence <= took);
        timely |= took < 0.6;
        for (int i = 0; i < 2; i++) {
            asked[i] += requests(i);
            assert_true(asked[i] <= 1 + (int)(1e-8 * (double)(ff_clock_now() - begun)));
        }
    }
    assert_true(timely && asked[0] > 3 && abs(asked[1] - asked[0]) <= 1);
}

/* A flood of a robot's telegrams does not stop the loop: 32 are read at a time, and the rest is left. */
static void test_a_flood_is_read_in_parts(void **state) {
    (void)state;
    for (int n = 0; n < 100; n++)
        tell(1, 0);
    tell(0, 0);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    assert_int_equal(network.body[1].ticks, 63); /* before the pacing telegram, and after it */
}

/* Between two cycles that bring records the stream counts as lost after a tenth of a second, and not before;
 * the other sensor's goes on. */
static void test_a_stream_that_is_lost_is_asked_for_again(void **state) {
    (void)state;
    meet(0.25);
    requests(0);
    requests(1);
    for (int i = 0; i < 2; i++) {
        network.body[i].limits.age = 100.0;
        const struct sockaddr_in client = peer[i].client;
        const int64_t last = ff_clock_now();
        stand(1);
        peer[i].client.sin_port = 0; /* sends no more */
        int again = 0;
        while (!again) {
            tell(1, 0);
            tell(0, 0);
            const int64_t before = ff_clock_now();
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            command(0.0, -1.0);
            answers(0);
            answers(1);
            again = requests(i);
            assert_int_equal(requests(!i), 0);
            if (again)
                assert_true(ff_clock_now() - last >= 100000000);
            else
                assert_true(before - last < 1000000000);
            ff_clock_sleep_until(ff_clock_now() + 5000000);
        }
        assert_int_equal(again, 1);
        peer[i].client = client;
        peer[i].records = 0; /* it begins anew */
        stand(1);
        assert_int_equal(network.body[i].aged, 0);
    }
}

/* Two telegrams wait, each before its record: the second one's is the newest there is, and not old. */
static void test_a_record_behind_its_telegram_is_not_old(void **state) {
    (void)state;
    unstamped = true;
    stand(6);
    int fresh = 0; /* not where the machine stands while both clocks are read */
    for (int round = 0; round < 5; round++) {
        tell(0, 0);
        tell(0, 0);
        for (int n = 0; n < 2; n++) {
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            command(0.0, -1.0);
        }
        fresh += network.body[0].aged == 0;
        answers(0);
    }
    assert_true(fresh > 0);
    unstamped = false;
}

/* By the clock: a second robot's telegram waits for the pacing one's for half a cycle, and not at all only
 * where the machine itself stood for as long; then it is answered without. */
static void test_half_a_cycle_by_the_clock(void **state) {
    (void)state;
    unstamped = true;
    stand(6);
    assert_true(sample.speaks && !ff_network_clock_known(&network, 0));
    int waited = 0;
    for (int n = 0; n < 20 && !waited; n++) {
        network.options.silence = 1e-4;
        tell(1, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
        waited += answers(1) == 0;
        network.options.silence = 0.02;
        if (waited) {
            assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
            assert_int_equal(answers(1), 1);
        }
        network.silent = false;
    }
    assert_int_equal(waited, 1);
    unstamped = false;
}

/* The second robot's clock is known, the pacing one's not yet: which half of a cycle a telegram belongs to is
 * not known, either, and it waits. */
static void test_only_the_second_clock_is_known(void **state) {
    (void)state;
    peer[0].cycle = 76;
    peer[1].off = -0.75; /* its next telegram comes in the first half of the cycle that runs */
    for (int n = 0; n < 4; n++) {
        for (int m = 0; m < 20; m++)
            tell(1, 0);
        tell(0, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        command(0.0, -1.0);
        for (int i = 0; i < 2; i++) {
            uint8_t bytes[64];
            int64_t stamp;
            answers(i);
            if (n < 2 || peer[i].client.sin_port)
                continue; /* heard only with the last ones */
            ff_socket_receive(peer[i].sensor, bytes, sizeof bytes, &peer[i].client, &stamp);
        }
    }
    stand(1);
    assert_true(sample.speaks);
    assert_true(ff_network_clock_known(&network, 1) && !ff_network_clock_known(&network, 0));
    network.options.silence = 1e-3;
    tell(1, 0);
    assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
    assert_int_equal(answers(1), 0);
}

/* 256 datagrams of a sensor's port are read in a cycle: a record behind 254 strangers is the newest there is,
 * one behind 255 is used and may not be, one behind 256 is left. */
static void test_records_behind_strangers(void **state) {
    (void)state;
    meet(0.25);
    struct sockaddr_in any;
    char message[160];
    int stranger;
    ff_socket_address("127.0.0.1", 0, &any);
    assert_int_equal(ff_socket_open(&any, &stranger, NULL, message, sizeof message), FF_OK);
    for (int n = 254; n <= 256; n++) {
        stand(2);
        assert_int_equal(network.body[0].aged, 0);
        const uint64_t strangers = network.strangers;
        for (int m = 0; m < n; m++)
            ff_socket_send(stranger, "x", 1, &peer[0].client);
        stand(1);
        assert_int_equal(network.strangers - strangers, n);
        assert_int_equal(network.body[0].aged, n > 254);
        assert_int_equal(network.body[0].record.stamp, n > 255 ? peer[0].count - 1 : peer[0].count);
    }
    close(stranger);
}

/* Garbage is malformed, and no sign of another origin, while the robot moves, too. */
static void test_garbage_in_motion(void **state) {
    (void)state;
    meet(0.25);
    for (int k = 1; k < 20; k++) {
        if (k == 10)
            ff_socket_send(peer[0].robot, "<Rob", 4, &address.body[0].robot_at);
        tell(1, 0);
        tell(0, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        assert_int_equal(sample.found.code, FF_TRIP_NONE);
        command(1e-5 * k, 1e-5 / T);
        answers(1);
        peer[0].x = answer_x(0);
        assert_false(isnan(peer[0].x) || network.body[0].strange);
        peer[1].x = peer[0].x;
    }
    ff_device_counters count;
    address.body[0].robot->count(network.body[0].robot, &count);
    assert_int_equal(count.malformed, 1);
}

/* In lock step the time is the pacing robot's, whoever else has spoken since. */
static void test_the_time_is_the_pacing_robots(void **state) {
    (void)state;
    meet(0.25);
    for (int n = 0; n < 3; n++) {
        stand(1);
        assert_near(network.virtual_now, T * (double)peer[0].cycle, 1e-9);
        assert_near(network.body[0].arrived, T * (double)peer[0].cycle, 1e-9);
        assert_near(network.body[1].arrived, T * ((double)peer[1].cycle + 0.25), 1e-9);
        tell(1, 0); /* the second one's alone, in the first half of the cycle: answered at once */
        network.options.silence = 0.01;
        assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
        assert_near(network.virtual_now, T * (double)peer[0].cycle, 1e-9);
        network.silent = false;
        answers(1);
        tell(0, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        command(0.0, -1.0);
        answers(0);
    }
}

/* Until both clocks are known the second robot is answered for the pacing one's time: both get the command as
 * it is. */
static void test_before_the_clocks_are_known(void **state) {
    (void)state;
    const double v = 0.02;
    peer[1].off = 0.3;
    stand(4);
    assert_true(sample.speaks);
    double x = 0.0;
    for (int k = 0; k < 30; k++) {
        assert_false(ff_network_clock_known(&network, 1));
        tell(1, 0);
        tell(0, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        assert_int_equal(sample.found.code, FF_TRIP_NONE);
        x += v * T;
        command(x, v);
        peer[0].x = answer_x(0);
        peer[1].x = answer_x(1);
        assert_near(peer[0].x, x, 1e-10);
        assert_near(peer[1].x, x, 1e-10);
    }
}

/* The second robot's telegram waits for the first one's. In lock step the looks are counted, not the time;
 * the first one is silent then. What a sensor has sent counts, not how often it was looked for. */
static void test_a_telegram_that_waits(void **state) {
    (void)state;
    meet(0.7);
    assert_int_equal(network.body[0].ft.records, network.body[1].ft.records);
    const uint64_t records = network.body[0].ft.records;
    const struct sockaddr_in client = peer[0].client;
    peer[0].client.sin_port = 0;
    tell(0, 0);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    assert_int_equal(network.body[0].ft.records, records);
    command(0.0, -1.0);
    answers(0);
    peer[0].client = client;
    tell(1, 0);
    assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
    assert_int_equal(sample.found.code, FF_TRIP_SILENT);
    assert_true(network.body[1].naps > 0 && network.body[0].naps == 0);
    stand(2); /* both speak again: what waits now has not waited yet */
    assert_int_equal(network.body[1].naps, 0);
    for (int i = 0; i < 2; i++) { /* and a sensor that sends is not asked for anything, not even by nothing */
        char byte;
        assert_true(recv(peer[i].sensor, &byte, 1, MSG_DONTWAIT) < 0);
    }
}

/* A robot that stands is found over as many of its answers as are remembered, 512 with the window of eight
 * cycles; one whose delay is longer by a cycle is not judged, for the oldest are overwritten. */
static void test_a_delay_that_is_just_remembered(void **state) {
    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        if (longer) {
            end(NULL);
            begin(NULL);
        }
        plan.body[0].delay = T * (double)(FF_NETWORK_TRACK - FF_NETWORK_STANDS - 1 - 3 + longer) - 1e-9;
        stand(60);
        int found = 0, first = -1;
        double x = 0.0;
        for (int k = 0; k < FF_NETWORK_TRACK + 20; k++) {
            peer[1].x = x; /* the second one follows */
            tell(1, 0);
            tell(0, 0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            assert_false(sample.body[1].device.stands);
            found += sample.body[0].device.stands;
            if (found == 1 && first < 0)
                first = k;
            x += 0.02 * T;
            command(x, 0.02);
            answers(0);
            answers(1);
        }
        assert_int_equal(found > 0, !longer);
        /* 512 telegrams behind the one that led it first, the second of them in a row */
        assert_int_equal(first, longer ? -1 : FF_NETWORK_TRACK + 1);
    }
}

/* By this computer's clock: a record's age counts from the kernel's stamp, also where telegrams have waited
 * for us, and is not more than the telegrams since. */
static void test_the_age_of_a_record_by_the_clock(void **state) {
    (void)state;
    unstamped = true;
    stand(6);
    assert_true(sample.speaks);
    const struct sockaddr_in client = peer[0].client;
    for (int round = 0; round < 3; round++) {
        const double from = 1e-9 * (double)(ff_clock_now() - network.epoch);
        peer[0].client = client;
        tell(0, 0); /* with its record */
        const double to = 1e-9 * (double)(ff_clock_now() - network.epoch);
        peer[0].client.sin_port = 0;
        tell(0, 0); /* two that wait behind it, without */
        tell(0, 0);
        const double last = 1e-9 * (double)(ff_clock_now() - network.epoch);
        for (int n = 0; n < 3; n++) {
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            command(0.0, -1.0);
            assert_true(network.body[0].record_at >= from - 1e-4 && network.body[0].record_at <= to + 1e-4);
            const double most = fmin(n, ceil((last - from) / T + 1e-3));
            if (!(sample.body[0].sensor.age <= most * T + 1e-12))
                fail_msg("telegram %d: %g s, at most %g", n, sample.body[0].sensor.age, most * T);
            answers(0);
        }
        ff_clock_sleep_until(ff_clock_now() + 10000000); /* and one that comes later is older */
        const int64_t before = ff_clock_now();
        tell(0, 0);
        const int64_t sent = ff_clock_now();
        ff_clock_sleep_until(sent + 3000000); /* read late: by how much is known */
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        assert_true(network.lateness_ns > 2.9e6 &&
                    network.lateness_ns < (double)(ff_clock_now() - before) + 1e5);
        command(0.0, -1.0);
        answers(0);
        assert_true(sample.body[0].sensor.age >= 2.0 * T);
    }
    unstamped = false;
}

/* The sensor's own count against our clock: its period from the first hundred records, from then on by how
 * much that clock is off; a sensor that begins again is a new one. */
static void test_the_clock_of_a_sensor(void **state) {
    (void)state;
    peer[0].pace = peer[1].pace = 7;
    stand(3); /* heard with the last of them */
    const uint64_t before = network.body[0].ft.records;
    const uint32_t count = peer[0].count;
    stand(99 - (int)before);
    assert_int_equal(network.body[0].ft.records, 99);
    assert_int_equal(network.body[0].ft.count, 7 * 98);
    assert_int_equal(peer[0].count - count, 7 * (99 - before));
    assert_near(network.body[0].ft.tick, 0.0, 0.0);
    assert_int_equal(network.body[0].ft.fit.count, 0); /* nothing is fitted to a period that is not known */
    stand(1);
    assert_int_equal(network.body[0].ft.fit.count, 1);
    assert_near(network.body[0].ft.tick, T / 7.0, 1e-12);
    for (int n = 0; n < 2500; n++) { /* now each of its records comes by 1e-4 later: our clock is ahead */
        peer[0].off += 1e-4;
        peer[1].off += 1e-4;
        stand(1);
    }
    assert_int_equal(network.body[0].ft.count, 7 * (99 + 2500));
    assert_near(network.body[0].ft.fit.rate, 1e-4, 2e-5);
    peer[0].count = 5; /* behind what it was */
    peer[0].records += 1;
    stand(1);
    assert_int_equal(network.body[0].ft.records, 1);
    assert_int_equal(network.body[0].ft.count, 0);
    assert_near(network.body[0].ft.tick, 0.0, 0.0);
    stand(1);
    assert_int_equal(network.body[0].ft.count, 7);
}

/* One cycle in which both are led to where they are. */
static void lead(void) {
    tell(1, 0);
    tell(0, 0);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    const double took = (double)(ff_clock_now() - network.wake);
    assert_true(network.io_ns >= 0.0 && network.io_ns <= took);
    command(0.0, 0.0);
    answers(0);
    answers(1);
}

/* Answers that a controller calls late, in a row: found beyond as many as may be missed, of whichever robot,
 * and one in time begins a new row. */
static void test_late_answers_in_a_row(void **state) {
    (void)state;
    for (int who = 0; who < 2; who++) {
        if (who) {
            end(NULL);
            begin(NULL);
        }
        meet(0.25);
        network.body[0].limits.missed = network.body[1].limits.missed = 3.0;
        lead();
        lead();
        for (int n = 1; n <= 12; n++) {
            peer[who].late += n != 3 && n != 6;
            lead();
            const int row = n < 3 ? n : n < 6 ? n - 3 : n - 6;
            assert_int_equal(sample.found.code, row > 3 ? FF_TRIP_LATE : FF_TRIP_NONE);
            if (row > 3) {
                assert_int_equal(sample.found.body, who);
                assert_near(sample.found.value, row, 0.0);
                assert_near(sample.found.limit, 3.0, 0.0);
            }
        }
    }
}

/* A controller's signal by itself: what must have one value has it from the first telegram on, what must stay
 * stays as it was first said, also where that was later than the first telegram. */
static void test_a_signal_by_itself(void **state) {
    (void)state;
    static const struct {
        int which;
        uint64_t first, then; /* FF_RSI_SIGNALS: mode, drives, emergency stop, override, program */
        bool at_once, later;
    } each[] = {{0, 4, 4, false, false}, {0, 4, 1, false, true},  {3, 80, 100, false, true},
                {3, 0, 0, false, false}, {1, 0, 0, true, true},   {1, 1, 0, false, true},
                {2, 1, 1, true, true},   {2, 0, 1, false, true},  {4, 0, 0, true, true},
                {4, 1, 0, false, true},  {2, 0, 0, false, false}, {4, 1, 1, false, false}};
    for (size_t n = 0; n < 2 * sizeof each / sizeof *each; n++) {
        const int who = (int)n % 2;
        if (n) {
            end(NULL);
            begin(NULL);
        }
        stand(4);
        peer[who].signals = 1u << each[n / 2].which;
        peer[who].signal[each[n / 2].which] = each[n / 2].first;
        stand(1);
        assert_int_equal(sample.found.code, each[n / 2].at_once ? FF_TRIP_CONTROLLER : FF_TRIP_NONE);
        stand(1);
        peer[who].signal[each[n / 2].which] = each[n / 2].then;
        for (int k = 0; k < 2; k++) { /* and it stays wrong */
            stand(1);
            assert_int_equal(sample.found.code, each[n / 2].later ? FF_TRIP_CONTROLLER : FF_TRIP_NONE);
            if (each[n / 2].later)
                assert_int_equal(sample.found.body, who);
        }
    }
}

/* The second robot does not wait for a first one that is silent: in the first half of a cycle it is answered
 * when it is read, by this computer's clock after half a cycle at the latest. */
static void test_the_second_does_not_wait_for_a_silent_first(void **state) {
    (void)state;
    for (int clock = 0; clock < 2; clock++) {
        if (clock) {
            end(NULL);
            begin(NULL);
        }
        unstamped = clock;
        if (clock)
            stand(6);
        else
            meet(0.1);
        tell(0, 0); /* its last one */
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        command(0.0, -1.0);
        assert_int_equal(answers(0), 1);
        assert_int_equal(answers(1), 0);
        tell(1, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
        assert_int_equal(sample.found.code, FF_TRIP_SILENT);
        assert_int_equal(answers(1), 1);
        unstamped = false;
    }
}

/* ------------------------------------------------------------------------------------------------- axes --
 */

static ff_arm_joints axes_at(ff_pose at, const ff_arm_joints *near) {
    ff_arm_joints joints;
    ff_arm_info info;
    assert_int_equal(ff_arm_inverse(&plan.body[0].arm, &at, near, &joints, &info), FF_OK);
    return joints;
}

/* A pose that moves on with its twist. */
static ff_pose on(const ff_setpoint *s, double shift, double turn) {
    return (ff_pose){ff_quat_mul(s->T.q, ff_quat_exp(ff_vec3_scale(turn, s->twist.w))),
                     ff_vec3_axpy(shift, s->twist.v, s->T.p)};
}

/* Led along a line and turned, towards where an axis would have to be faster than it can: found, with axis,
 * speed and limit, in the first cycle in which it would be too fast from where a stop that begins one cycle
 * later ends, with the speed there is now. */
static void test_axes_are_looked_at_ahead(void **state) {
    (void)state;
    const double deg = FF_PI / 180.0;
    for (int n = 0; n < 4; n++) {
        end(NULL);
        by_axes = true;
        begin(NULL);
        const double sign = n & 1 ? 1.0 : -1.0, v = 0.1, w = n & 2 ? 0.15 : 0.0;
        ff_arm_config *arm = &plan.body[0].arm.config;
        const ff_setpoint start = ff_plan_runup(&plan, 0, -FF_INF);
        /* the axis whose share in the motion grows most becomes slow */
        const ff_vec3 about = ff_vec3_scale(-sign * w, ff_vec3_unit(ff_vec3_make(0.3, 1.0, 0.5)));
        const ff_setpoint line = {start.T, {about, ff_vec3_make(sign * v, 0, 0)}};
        ff_arm_joints q[4], near = plan.body[0].home;
        for (int k = 0; k < 4; k++) {
            const double t = (k / 2 ? 0.8 : 0.0) + (k % 2 ? T : 0.0);
            near = q[k] = axes_at(on(&line, t, t), &near);
        }
        int axis = 0;
        double grows = 0.0;
        for (int a = 0; a < 6; a++) {
            const double now = fabs(q[1].a[a] - q[0].a[a]) / T, then = fabs(q[3].a[a] - q[2].a[a]) / T;
            if (then - now > grows) {
                grows = then - now;
                axis = a;
                arm->speed[a] = 0.5 * (now + then);
            } else if (then > 0.2 * arm->speed[a])
                arm->speed[a] = 10.0;
        }
        for (int a = 0; a < 6; a++)
            if (a != axis)
                arm->speed[a] = 10.0;
        assert_true(grows > 1e-3);
        stand(60);
        double far = 0.0, speed = 0.0, last = 0.0;
        ff_arm_joints at = plan.body[0].home;
        bool expected = false, found = false;
        ff_setpoint to = {start.T, ff_twist_zero()};
        double value = 0.0;
        for (int k = 0; k < 600 && !found; k++) {
            peer[0].x = last * sign;
            tell(1, 0);
            tell(0, 0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            found = sample.found.code == FF_TRIP_AXIS;
            if (found != expected)
                fail_msg("%d: cycle %d, %g m: %s %d", n, k, far, ff_trip_name(sample.found.code), expected);
            if (found)
                break;
            last = far;
            speed = fmin(v, speed + 1.0 * T); /* 1 m/s2 */
            far += speed * T;
            to.twist.v = ff_vec3_make(sign * speed, 0, 0);
            to.twist.w = ff_vec3_scale(speed / v, about);
            to.T = on(&line, far / v, far / v);
            const double stop = speed / network.body[0].limits.stop_acceleration,
                         turn = w * speed / v / network.body[0].limits.stop_angular_acceleration;
            at = axes_at(to.T, &at);
            const ff_arm_joints rest = axes_at(on(&to, T + 0.5 * stop, T + 0.5 * turn), &at),
                                next = axes_at(on(&to, 2.0 * T + 0.5 * stop, 2.0 * T + 0.5 * turn), &rest);
            value = fabs(next.a[axis] - rest.a[axis]) / T;
            expected = value > arm->speed[axis];
            const ff_setpoint both[2] = {to, ff_plan_runup(&plan, 1, -FF_INF)};
            const ff_wrench none[2] = {ff_wrench_zero(), ff_wrench_zero()};
            ff_sent sent[2];
            station.write(station.self, 0, both, 1u | FF_LED_AHEAD, none, NULL, sent);
            answers(0);
            answers(1);
        }
        assert_true(found);
        assert_int_equal(sample.found.axis, axis + 1);
        assert_near(sample.found.limit, arm->speed[axis] / deg, 1e-9);
        assert_near(sample.found.value, value / deg, 1e-3 * value / deg);
        by_axes = false;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sensors_are_asked_before_a_robot_speaks, begin, end),
        cmocka_unit_test_setup_teardown(test_a_sensor_is_asked_again, begin, end),
        cmocka_unit_test_setup_teardown(test_a_flood_is_read_in_parts, begin, end),
        cmocka_unit_test_setup_teardown(test_a_stream_that_is_lost_is_asked_for_again, begin, end),
        cmocka_unit_test_setup_teardown(test_the_time_is_the_pacing_robots, begin, end),
        cmocka_unit_test_setup_teardown(test_a_record_behind_its_telegram_is_not_old, begin, end),
        cmocka_unit_test_setup_teardown(test_half_a_cycle_by_the_clock, begin, end),
        cmocka_unit_test_setup_teardown(test_only_the_second_clock_is_known, begin, end),
        cmocka_unit_test_setup_teardown(test_records_behind_strangers, begin, end),
        cmocka_unit_test_setup_teardown(test_garbage_in_motion, begin, end),
        cmocka_unit_test_setup_teardown(test_before_the_clocks_are_known, begin, end),
        cmocka_unit_test_setup_teardown(test_a_telegram_that_waits, begin, end),
        cmocka_unit_test_setup_teardown(test_a_delay_that_is_just_remembered, begin, end),
        cmocka_unit_test_setup_teardown(test_the_age_of_a_record_by_the_clock, begin, end),
        cmocka_unit_test_setup_teardown(test_the_clock_of_a_sensor, begin, end),
        cmocka_unit_test_setup_teardown(test_late_answers_in_a_row, begin, end),
        cmocka_unit_test_setup_teardown(test_a_signal_by_itself, begin, end),
        cmocka_unit_test_setup_teardown(test_the_second_does_not_wait_for_a_silent_first, begin, end),
        cmocka_unit_test_setup_teardown(test_axes_are_looked_at_ahead, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
