/* The network station against a controller and a sensor that the test plays itself, over loopback, one
 * thread: what a telegram becomes, what is filled in where some are lost, who is ignored, what goes out, and
 * the end. The controller reports its arrivals as in lock step, so that no clock of this computer decides
 * anything. */
#include "support.h"

#include "devices/ati/ati.h"
#include "devices/rsi/rsi.h"
#include "network/network.h"
#include "rt/ports.h"
#include "text/clock.h"

#include <pthread.h>

static const char text[] = "name: station\ntime: {cycle: 0.004, duration: 1}\nmethod: direct\nsatellites:\n"
                           "  body: {mass: 50, inertia: [5, 6, 7], robot: {kind: delay, delay: 0.008}}\n";

static ff_scenario scenario;
static ff_plan plan;
static ff_addresses address;
static ff_network network;
static ff_station station;
static ff_sample sample;
static atomic_bool stop;
static ff_pose park;
static struct {
    int robot, sensor;
    ff_http_server *page;
    struct sockaddr_in client; /* who reads the sensor */
    uint64_t cycle;            /* of the controller */
    uint32_t records, steady;  /* all, and the last one's second count */
    uint64_t late;             /* answers */
    unsigned signals;
    uint64_t signal[FF_RSI_SIGNALS]; /* of the controller */
} peer;

static bool wanted_heartbeat, wanted_cartesian;
static uint64_t jump;   /* [cycles] of the controller's counter, and no time */
static bool uncounted;  /* telegrams without Delay */
static bool anchored;   /* telegrams with RSol */
static double limit[2]; /* [deg mm] of corrections, in its telegrams; 0: not there */

static int begin(void **state) {
    (void)state;
    char message[256] = "", warnings[256];
    assert_int_equal(ff_scenario_parse("text", text, sizeof text - 1, NULL, &scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    scenario.satellite[0].sensor.range_force = 100.0; /* less than the page says */
    assert_int_equal(ff_plan_create(&scenario, &plan, message, sizeof message), FF_OK);
    plan.body[0].heartbeat = wanted_heartbeat;
    plan.body[0].cartesian = wanted_cartesian;
    const ff_ports ports = free_ports();
    assert_int_equal(ff_addresses_find(&scenario, &ports, &address, message, sizeof message), FF_OK);
    assert_true(address.virtual);
    memset(&peer, 0, sizeof peer);
    struct sockaddr_in any;
    ff_socket_address("127.0.0.1", 0, &any);
    assert_int_equal(ff_socket_open(&any, &peer.robot, NULL, message, sizeof message), FF_OK);
    assert_int_equal(ff_socket_open(&address.body[0].sensor_at, &peer.sensor, NULL, message, sizeof message),
                     FF_OK);
    static char xml[FF_ATI_XML_MAX];
    size_t used;
    ff_ati_page page = ff_ati_page_default();
    page.has_range = true;
    for (int a = 0; a < 6; a++)
        page.range[a] = a < 3 ? 660.0 : 60.0;
    assert_int_equal(ff_ati_page_encode(&page, xml, sizeof xml - 1, &used), FF_OK);
    xml[used] = 0;
    assert_int_equal(
        ff_http_serve(&address.body[0].page_at, FF_ATI_HTTP_PATH, xml, &peer.page, message, sizeof message),
        FF_OK);
    park = ff_plan_runup(&plan, 0, -FF_INF).T;
    const ff_network_options options = {.wait = 30.0, .silence = 0.02, .stop = &stop};
    station = ff_network_station(&network, &scenario, &plan, &address, &options);
    sample = (ff_sample){0};
    const double lead = 0.0;
    if (station.open(station.self, &lead, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    const ff_safety_limits limits = scenario.satellite[0].safety;
    ff_output_config output;
    ff_plan_output(&scenario.satellite[0], &limits, plan.cycle, &output);
    station.bound(station.self, 0, &limits, &output);
    return 0;
}

static int end(void **state) {
    (void)state;
    station.close(station.self);
    ff_http_stop(peer.page);
    close(peer.robot);
    close(peer.sensor);
    return 0;
}

/* The controller's telegram of its next cycle but `lost`, with the robot moved by x [m]; and a record. */
static void send_telegram(uint64_t lost, double x, double force) {
    ff_rsi_rob rob = {.fields = FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | FF_RSI_DELAY | FF_RSI_ARRIVAL};
    rob.fields &= uncounted ? ~(unsigned)FF_RSI_DELAY : ~0u;
    rob.fields |= (anchored ? FF_RSI_RSOL : 0) | (limit[0] > 0.0 || limit[1] > 0.0 ? FF_RSI_LIM : 0);
    memcpy(rob.limit, limit, sizeof limit);
    char bytes[FF_RSI_READ_MAX];
    size_t used;
    peer.cycle += 1 + lost;
    peer.late += lost;
    ff_pose T = park;
    T.p.x += x;
    ff_arm_joints joints;
    ff_arm_info info;
    assert_int_equal(ff_arm_inverse(&plan.body[0].arm, &T, &plan.body[0].home, &joints, &info), FF_OK);
    ff_rsi_from_pose(ff_plan_to_base(&plan.body[0], T), rob.rist);
    ff_arm_to_kuka(&joints, rob.aipos, &rob.eipos[0]);
    rob.delay = peer.late;
    rob.fields |= peer.signals ? FF_RSI_KRC : 0;
    rob.signals = peer.signals;
    memcpy(rob.signal, peer.signal, sizeof peer.signal);
    rob.ipoc = 1000 + 4 * (peer.cycle + jump);
    rob.arrival_ns = 4000000 * peer.cycle;
    assert_int_equal(ff_rsi_rob_encode(&rob, 9, bytes, sizeof bytes, &used), FF_OK);
    ff_socket_send(peer.robot, bytes, used, &address.body[0].robot_at);
    if (!peer.client.sin_port)
        return;
    const ff_ati_record record = {.rdt_sequence = ++peer.records,
                                  .ft_sequence = peer.records,
                                  .counts = {(int32_t)(1e6 * force), (int32_t)peer.records, 0, 0,
                                             (int32_t)(-1e5 * force)}}; /* and a torque */
    peer.steady = peer.records;
    uint8_t raw[FF_ATI_RECORD_SIZE];
    assert_int_equal(ff_ati_record_encode(&record, raw, sizeof raw), FF_OK);
    ff_socket_send(peer.sensor, raw, sizeof raw, &peer.client);
}

/* The one answer to the last telegram. */
static void take_answer(ff_rsi_sen *sen) {
    char bytes[FF_RSI_READ_MAX];
    struct sockaddr_in from;
    int64_t stamp;
    const ff_rsi_names names = ff_rsi_names_default();
    const long size = ff_socket_receive(peer.robot, bytes, sizeof bytes, &from, &stamp);
    assert_true(size > 0);
    assert_int_equal(ff_rsi_sen_decode(&names, bytes, (size_t)size, sen), FF_OK);
    assert_int_equal(sen->ipoc, 1000 + 4 * peer.cycle);
    assert_int_equal(ff_socket_receive(peer.robot, bytes, sizeof bytes, &from, &stamp), 0);
}

static void write_command(double x, unsigned led) {
    const ff_setpoint command = {{park.q, ff_vec3_add(park.p, ff_vec3_make(x, 0, 0))}, ff_twist_zero()};
    const ff_wrench none = ff_wrench_zero();
    ff_sent sent;
    station.write(station.self, 0, &command, led, &none, NULL, &sent);
}

/* One cycle at rest. */
static void stand(ff_rsi_sen *sen) {
    send_telegram(0, 0.0, 1.0);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    write_command(0.0, 0);
    take_answer(sen);
}

static void lead(ff_setpoint command) {
    const ff_wrench none = ff_wrench_zero();
    ff_sent sent;
    station.write(station.self, 0, &command, 1u | FF_LED_AHEAD, &none, NULL, &sent);
}

/* Until both devices are heard. */
static void meet(void) {
    ff_rsi_sen sen;
    uint8_t bytes[64];
    int64_t stamp;
    stand(&sen);
    assert_false(sample.speaks);
    const long size = ff_socket_receive(peer.sensor, bytes, sizeof bytes, &peer.client, &stamp);
    ff_ati_request request;
    assert_true(size > 0 && ff_ati_request_decode(bytes, (size_t)size, &request) == FF_OK);
    assert_int_equal(request.command, FF_ATI_START);
    stand(&sen);
    assert_true(sample.speaks);
}

static void test_sample(void **state) {
    (void)state;
    ff_rsi_sen sen;
    meet();
    send_telegram(0, 0.001, 2.5);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    const ff_sample_body *body = &sample.body[0];
    assert_vec3_near(body->sensor.T_wb.p, ff_vec3_add(park.p, ff_vec3_make(0.001, 0, 0)), 1e-11);
    assert_near(body->sensor.f_s.f.x, 2.5, 1e-12);
    assert_true(body->sensor.age == 0.0 && !sample.filled && sample.lost == 0 && sample.missed == 0.0);
    assert_true(body->device.reached && !body->device.moved && body->device.health == FF_OK);
    const ff_pose T = ff_arm_forward(&plan.body[0].arm, &body->device.joints);
    assert_vec3_near(T.p, body->sensor.T_wb.p, 1e-9);
    assert_int_equal(sample.found.code, FF_TRIP_NONE);
    write_command(0.0, 0);
    take_answer(&sen); /* never moved: nothing is corrected */
    for (int a = 0; a < 6; a++)
        assert_true(sen.value[FF_RSI_TAG_AXES + a] == 0.0);
    /* without a record the last one ages by a cycle */
    peer.client.sin_port = 0;
    send_telegram(0, 0.001, 0.0);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    assert_near(body->sensor.age, 0.004, 1e-15);
    double force, torque;
    station.range(station.self, 0, &force, &torque);
    assert_near(force, 100.0, 0.0); /* the smaller of the scenario's and its own */
    assert_near(torque, 60.0, 1e-12);
}

/* A robot that moves so fast that its stop would end beyond the arm's reach or beyond the end of an axis: the
 * trip says by how much [m], [deg], and which axis, as the same arm with wider axes shows it. */
static void test_the_end_of_a_stop_is_within_the_arm(void **state) {
    (void)state;
    bool seen[2] = {false, false};
    for (int n = 0; n < 12; n++) {
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        meet();
        ff_rsi_sen sen;
        ff_setpoint command = {park, ff_twist_zero()};
        command.twist.v.a[n % 3] = (n % 2 ? -1.0 : 1.0) * (n < 6 ? 1.0 : 1.9);
        for (int k = 0; k < 2; k++) {
            send_telegram(0, 0.0, 1.0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            if (k == 0) {
                lead(command);
                take_answer(&sen);
            }
        }
        const double T = plan.cycle, v = ff_vec3_norm(command.twist.v),
                     stops = v / network.body[0].limits.stop_acceleration;
        ff_pose rest = park;
        rest.p = ff_vec3_axpy(T + 0.5 * stops, command.twist.v, park.p);
        ff_arm_model wide = plan.body[0].arm;
        for (int a = 0; a < 6; a++) {
            wide.config.lower[a] = -2.0 * FF_PI;
            wide.config.upper[a] = 2.0 * FF_PI;
        }
        ff_arm_joints joints;
        ff_arm_info info;
        const bool reached = ff_arm_inverse(&wide, &rest, &plan.body[0].home, &joints, &info) == FF_OK;
        double excess = 0.0;
        int axis = 0;
        for (int a = 0; a < 6 && reached; a++) {
            const double over = fmax(joints.a[a] - plan.body[0].arm.config.upper[a],
                                     plan.body[0].arm.config.lower[a] - joints.a[a]);
            if (over > excess) {
                excess = over;
                axis = a + 1;
            }
        }
        const ff_trip *found = &sample.found;
        if (found->code == FF_TRIP_JOINT) {
            assert_near(found->value, excess * 180.0 / FF_PI, 1e-6);
            assert_int_equal(found->axis, axis);
        } else if (found->code == FF_TRIP_REACH) {
            assert_true(!reached && found->value > 0.1 && found->value < 0.5 * v * stops);
        } else if (found->code == FF_TRIP_NONE)
            assert_true(reached && excess == 0.0);
        seen[0] |= found->code == FF_TRIP_JOINT;
        seen[1] |= found->code == FF_TRIP_REACH;
    }
    assert_true(seen[0] && seen[1]);
}

/* Three telegrams lost: the controller's Delay has grown by them. By one less its program may have begun
 * again: nothing is answered. */
static void test_delay_counts_what_was_lost(void **state) {
    (void)state;
    for (uint64_t less = 0; less < 2; less++) {
        ff_rsi_sen sen;
        if (less > 0) {
            end(NULL);
            begin(NULL);
        }
        meet();
        for (int n = 0; n < 20; n++) {
            send_telegram(0, 0.0, 1.0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            write_command(0.0, 1u);
            take_answer(&sen);
        }
        peer.late -= less; /* send_telegram adds what is lost */
        send_telegram(3, 0.0, 1.0);
        for (int n = 0; n < 4; n++) {
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            assert_int_equal(sample.filled, n < 3);
        }
        assert_int_equal(sample.found.code, less == 0 ? FF_TRIP_NONE : FF_TRIP_RESTART);
        write_command(0.0, 1u);
        if (less == 0)
            take_answer(&sen);
        else {
            char bytes[FF_RSI_READ_MAX];
            struct sockaddr_in from;
            int64_t stamp;
            assert_int_equal(ff_socket_receive(peer.robot, bytes, sizeof bytes, &from, &stamp), 0);
        }
    }
}

/* As many lost as may be, and one more: then a robot that does not say where its corrections count from is
 * not answered any more. One that was never moved has none. */
static void test_more_lost_than_may_be(void **state) {
    (void)state;
    const uint64_t most = (uint64_t)scenario.satellite[0].safety.missed;
    for (int n = 0; n < 5; n++) {
        ff_rsi_sen sen;
        if (n > 0)
            end(NULL);
        if (n > 0)
            begin(NULL);
        anchored = n == 1;
        const bool moved = n != 2, more = n < 3, silent = moved && more && !anchored;
        meet();
        for (int k = 0; k < 20; k++) {
            send_telegram(0, 0.0, 1.0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            write_command(0.0, moved ? 1u : 0u);
            take_answer(&sen);
        }
        send_telegram(more ? most + 1 : most, 0.0, 1.0);
        ff_trip found = {.code = FF_TRIP_NONE};
        do {
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            if (found.code == FF_TRIP_NONE)
                found = sample.found;
        } while (sample.filled);
        assert_int_equal(found.code, silent ? FF_TRIP_MISSED : FF_TRIP_NONE);
        if (silent) {
            assert_near(found.value, (double)(most + 1), 0.0);
            assert_near(found.limit, (double)most, 0.0);
            assert_false(sample.body[0].device.reached);
        }
        for (int k = 0; k < 3; k++) { /* and none of its next ones */
            write_command(0.0, moved ? 1u : 0u);
            char bytes[FF_RSI_READ_MAX];
            struct sockaddr_in from;
            int64_t stamp;
            const bool came = ff_socket_receive(peer.robot, bytes, sizeof bytes, &from, &stamp) > 0;
            assert_int_equal(came, !silent);
            send_telegram(0, 0.0, 1.0);
            peer.late += silent;
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
        }
        anchored = false;
    }
}

/* Three telegrams lost while the robot moves on: their cycles lie on the line between. */
static void test_lost_telegrams_are_filled_in(void **state) {
    (void)state;
    meet();
    send_telegram(3, 0.004, 1.0);
    for (int n = 1; n <= 4; n++) {
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        assert_int_equal(sample.filled, n < 4);
        assert_int_equal(sample.lost, n == 1 ? 3 : 0);
        assert_near(sample.body[0].sensor.T_wb.p.x, park.p.x + 0.001 * n, 1e-10);
    }
    assert_near(sample.missed, 3.0, 0.0);
    assert_near(sample.body[0].sensor.twist.v.x, 0.25, 1e-6);
}

/* One record to whoever reads the sensor. */
static void send_record(double force, uint32_t status) {
    const ff_ati_record record = {
        .rdt_sequence = ++peer.records,
        .ft_sequence = peer.records,
        .status = status,
        .counts = {(int32_t)lround(1e6 * force), (int32_t)peer.steady, 0, 0, (int32_t)lround(-1e5 * force)}};
    uint8_t raw[FF_ATI_RECORD_SIZE];
    assert_int_equal(ff_ati_record_encode(&record, raw, sizeof raw), FF_OK);
    ff_socket_send(peer.sensor, raw, sizeof raw, &peer.client);
}

/* Every record between two telegrams is judged, the newest is the reading: the largest, the one that is off
 * both the newest and the last cycle's, the worst status; how many must not be used, or are farther than
 * `spike` from the last cycle's. */
static void test_every_record_is_judged(void **state) {
    (void)state;
    static const struct {
        double force[3];
        uint32_t status;
        double most, jump;
        uint64_t bad, spiked;
        ff_status health;
    } each[] = {{{1.0, 1.0, 1.0}, 0, 1.0, 0.0, 0, 0, FF_OK},
                {{1.0, 41.0, 1.0}, 0, 41.0, 40.0, 0, 1, FF_OK},
                {{1.0, 26.0, 1.0}, 0, 26.0, 25.0, 0, 0, FF_OK},  /* not farther than its limit */
                {{11.0, 21.0, 31.0}, 0, 31.0, 0.0, 0, 1, FF_OK}, /* a force that rises */
                {{1.0, -60.0, 1.0}, 0, 60.0, 61.0, 0, 1, FF_OK},
                {{1.0, 100.0, 1.0}, 0, 100.0, 99.0, 1, 1, FF_OK},
                {{1.0, 1.0, 1.0}, 0x80000001u, 1.0, 0.0, 1, 0, FF_ERR_DEVICE}};
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        ff_rsi_sen sen;
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        meet();
        network.body[0].limits.spike = 25.0;
        stand(&sen);
        const uint64_t bad = network.body[0].bad, spiked = network.body[0].spiked;
        for (int r = 0; r < 2; r++)
            send_record(each[n].force[r], r ? each[n].status : 0);
        send_telegram(0, 0.0, each[n].force[2]);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        const ff_sample_device *d = &sample.body[0].device;
        assert_near(sample.body[0].sensor.f_s.f.x, each[n].force[2], 1e-9);
        assert_near(d->most_force, each[n].most, 1e-9);
        assert_near(d->most_torque, 0.1 * each[n].most, 1e-9);
        assert_near(d->jump, each[n].jump, 1e-9);
        assert_int_equal(network.body[0].bad - bad, each[n].bad);
        assert_int_equal(network.body[0].spiked - spiked, each[n].spiked);
        if ((d->health < 0) != (each[n].health < 0))
            fail_msg("%d: health %d", (int)n, d->health);
        assert_near(d->word, (double)each[n].status, 0.0);
        assert_near(sample.body[0].sensor.age, 0.0, 0.0);
        write_command(0.0, 0);
        take_answer(&sen);
        stand(&sen); /* and the next cycle begins anew */
        assert_int_equal(sample.body[0].device.health, FF_OK);
        assert_near(sample.body[0].device.most_force, 1.0, 1e-9);
    }
}

/* The controller's clock counts its telegrams, those that were lost, too; a counter that jumps by more than a
 * few in no time is not time that passes. */
static void test_ticks_of_the_controllers_clock(void **state) {
    (void)state;
    static const struct {
        uint64_t lost, jump, ticks;
    } each[] = {{0, 0, 1},   {1, 0, 2}, {3, 0, 4}, {7, 0, 8}, {0, 5, 1},
                {0, 100, 1}, {0, 4, 5}, {3, 3, 7}, {3, 5, 9}, {3, 6, 1}}; /* in less than half its time */
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        ff_rsi_sen sen;
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        meet();
        for (int k = 0; k < 10; k++)
            stand(&sen);
        const uint64_t before = network.body[0].ticks;
        assert_int_equal(before, 11); /* of twelve telegrams */
        jump = each[n].jump;
        send_telegram(each[n].lost, 0.0, 1.0);
        jump = 0;
        while (station.wait(station.self, &sample) == FF_OK && sample.filled)
            ;
        assert_int_equal(network.body[0].ticks - before, each[n].ticks);
    }
}

/* By Cartesian corrections the tool may turn by 5 degrees: where a stop would bring it further the run ends,
 * with both angles. */
static void test_cartesian_turn(void **state) {
    (void)state;
    const double deg = FF_PI / 180.0;
    for (int n = 0; n < 2; n++) {
        ff_rsi_sen sen;
        end(NULL);
        wanted_cartesian = true;
        begin(NULL);
        wanted_cartesian = false;
        meet();
        double turned = 0.0;
        const double speed = 0.2; /* [rad/s]: with 2 rad/s2 it stops within 0.01 rad */
        bool found = false;
        for (int k = 0; k < 200 && !found; k++) {
            send_telegram(0, 0.0, 1.0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            found = sample.found.code == FF_TRIP_ROTATION;
            if (found)
                break;
            assert_true(turned < 5.0 * deg);
            turned += speed * plan.cycle;
            const ff_quat turn = ff_quat_exp(ff_vec3_make(0, n ? 0 : turned, n ? -turned : 0));
            const ff_setpoint to = {{ff_quat_mul(park.q, turn), park.p},
                                    {ff_vec3_make(0, n ? 0 : speed, n ? -speed : 0), ff_vec3_zero()}};
            const ff_wrench none = ff_wrench_zero();
            ff_sent sent;
            station.write(station.self, 0, &to, 1u | FF_LED_AHEAD, &none, NULL, &sent);
            take_answer(&sen);
        }
        assert_true(found);
        assert_near(sample.found.limit, 5.0, 1e-9);
        assert_true(sample.found.value > 5.0 && sample.found.value < 5.1);
        assert_int_equal(sample.found.body, 0);
    }
}

/* The controller's own signals: one that changes, or that is not there any more, is found with its name,
 * while the robot stands as while it moves. Those it never sent are not missed. */
static void test_the_controllers_signals(void **state) {
    (void)state;
    static const uint64_t good[FF_RSI_SIGNALS] = {4, 1, 0, 80, 1};
    static const struct {
        unsigned signals, at;
        uint64_t value;
        const char *of; /* NULL: nothing is found */
    } each[] = {{0x1f, 0, 1, "operating mode"},
                {0x1f, 1, 0, "drives"},
                {0x1f, 2, 1, "emergency stop"},
                {0x1f, 3, 100, "override"},
                {0x1f, 4, 0, "program"},
                {0x1d, 0, 4, "drives"},
                {0x1f, 0, 4, NULL},
                {0, 0, 4, "operating mode"}};
    for (size_t n = 0; n < 2 * sizeof each / sizeof *each; n++) {
        const size_t c = n / 2;
        const bool moves = n % 2;
        ff_rsi_sen sen;
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        peer.signals = 0x1f;
        memcpy(peer.signal, good, sizeof good);
        meet();
        for (int k = 0; k < 5; k++) {
            send_telegram(0, 0.0, 1.0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            assert_int_equal(sample.found.code, FF_TRIP_NONE);
            write_command(0.0, moves ? 1u : 0u);
            take_answer(&sen);
        }
        peer.signals = each[c].signals;
        peer.signal[each[c].at] = each[c].value;
        send_telegram(0, 0.0, 1.0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        assert_int_equal(sample.found.code, each[c].of ? FF_TRIP_CONTROLLER : FF_TRIP_NONE);
        if (!each[c].of)
            continue;
        char sentence[FF_TRIP_SENTENCE], expected[64];
        assert_string_equal(sample.found.of, each[c].of);
        ff_trip_sentence(&sample.found, NULL, sentence, sizeof sentence);
        snprintf(expected, sizeof expected, "CONTROLLER: %s: ", each[c].of);
        assert_int_equal(strncmp(sentence, expected, strlen(expected)), 0);
    }
}

/* A real robot, whose telegrams do not say where its corrections count from, does not move, unless the
 * scenario has it that they never do. */
static void test_where_corrections_count_from(void **state) {
    (void)state;
    for (int n = 0; n < 16; n++) {
        ff_device_settings *named = &scenario.satellite[0].robot.device;
        ff_rsi_sen sen;
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        anchored = n & 1;
        address.body[0].virtual = !(n & 2);
        named->no_rsol = n & 4;
        named->no_aspos = n & 8;
        meet();
        stand(&sen);
        assert_int_equal(sample.found.code, n == 2 || n == 6 || n == 10 ? FF_TRIP_ORIGIN : FF_TRIP_NONE);
        anchored = named->no_rsol = named->no_aspos = false;
    }
}

/* Limits of corrections that the controller has are the scenario's, to a thousandth; where that has none,
 * they count. */
static void test_the_controllers_limits(void **state) {
    (void)state;
    static const struct {
        double told[2], named[2]; /* [deg mm] */
        bool wrong;
    } each[] = {{{5, 200}, {5, 200}, false},    {{5.004, 200}, {5, 200}, false},
                {{5.006, 200}, {5, 200}, true}, {{5, 199.7}, {5, 200}, true},
                {{4.994, 200}, {5, 200}, true}, {{5, 200}, {FF_INF, FF_INF}, false},
                {{5, 200}, {0, 0}, false},      {{0, 0}, {5, 200}, false}};
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        ff_device_settings *named = &scenario.satellite[0].robot.device;
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        named->clip_deg = each[n].named[0];
        named->clip_mm = each[n].named[1];
        const double axis = network.body[0].axis, shift = network.body[0].shift;
        memcpy(limit, each[n].told, sizeof limit);
        meet();
        assert_int_equal(sample.found.code, each[n].wrong ? FF_TRIP_CORRECTION : FF_TRIP_NONE);
        assert_true(network.body[0].axis == (limit[0] > 0 ? fmin(axis, FF_PI / 180.0 * limit[0]) : axis));
        assert_true(network.body[0].shift == (limit[1] > 0 ? fmin(shift, 1e-3 * limit[1]) : shift));
        assert_true(network.body[0].turn <= network.body[0].axis);
        memset(limit, 0, sizeof limit);
    }
}

/* The heartbeat: a counter that grows with every answer, and the state that the run has reported; none unless
 * it is asked for. */
static void test_heartbeat(void **state) {
    (void)state;
    ff_rsi_sen sen;
    meet();
    stand(&sen);
    assert_false(sen.alive);
    end(NULL);
    wanted_heartbeat = true;
    begin(NULL);
    wanted_heartbeat = false;
    meet();
    uint64_t last = 1;
    for (int n = 0; n < 20; n++) {
        station.tell(station.self, n);
        send_telegram(0, 0.0, 1.0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        write_command(0.0, n > 10 ? 1u : 0u);
        take_answer(&sen);
        assert_true(sen.alive && sen.beat == last + 1 && sen.state == (uint64_t)n);
        last = sen.beat;
    }
}

/* A counter that is ahead of the time belongs to a program that has begun again: its corrections count from
 * another origin, and nothing is answered. Where the telegram carries Delay one cycle shows it; where it does
 * not, a counter that jumps by more than jitter explains. A robot that has never been moved has no totals. */
static void test_a_counter_ahead_of_the_time(void **state) {
    (void)state;
    static const struct {
        uint64_t jump, late; /* [cycles] */
        bool uncounted, still, answered;
    } each[] = {{1, 0, false, false, false},   {2, 1, false, false, false}, {100, 0, false, false, false},
                {100, 1, false, false, false}, {5, 0, true, false, false},  {100, 0, true, false, false},
                {4, 0, true, false, true},     {100, 0, false, true, true}, {100, 0, true, true, true},
                {0, 0, false, false, true},    {0, 0, true, false, true},   {0, 1, false, false, true}};
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        ff_rsi_sen sen;
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        uncounted = each[n].uncounted;
        meet();
        const unsigned led = each[n].still ? 0u : 1u | FF_LED_AHEAD;
        for (int k = 0; k < 60; k++) {
            const double x = each[n].still || k == 0 ? 0.0 : network.body[0].output.pose.p.x - park.p.x;
            send_telegram(0, x, 1.0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            write_command(0.05, led);
            take_answer(&sen);
        }
        jump = each[n].jump;
        peer.late += each[n].late;
        send_telegram(0, each[n].still ? 0.0 : network.body[0].output.pose.p.x - park.p.x, 1.0);
        jump = 0;
        while (station.wait(station.self, &sample) == FF_OK && sample.filled)
            ;
        assert_int_equal(sample.found.code, each[n].answered ? FF_TRIP_NONE : FF_TRIP_RESTART);
        write_command(0.05, led);
        char bytes[FF_RSI_READ_MAX];
        struct sockaddr_in from;
        int64_t stamp;
        const bool came = ff_socket_receive(peer.robot, bytes, sizeof bytes, &from, &stamp) > 0;
        if (came != each[n].answered)
            fail_msg("%d: %s", (int)n, came ? "answered" : "not answered");
        uncounted = false;
    }
}

/* What is shown on the pendant goes with one answer. */
static void test_a_text_is_shown_once(void **state) {
    (void)state;
    ff_rsi_sen sen;
    meet();
    station.show(station.self, 0, "push +x");
    stand(&sen);
    assert_true(sen.has_text);
    assert_string_equal(sen.text, "push +x");
    stand(&sen);
    assert_false(sen.has_text);
}

static void test_strangers_and_garbage(void **state) {
    (void)state;
    char message[128];
    struct sockaddr_in any;
    int fd;
    ff_rsi_sen sen;
    meet();
    ff_socket_address("127.0.0.1", 0, &any);
    assert_int_equal(ff_socket_open(&any, &fd, NULL, message, sizeof message), FF_OK);
    ff_socket_send(fd, "<Rob/>", 6, &address.body[0].robot_at);
    ff_socket_send(peer.robot, "<Rob", 4, &address.body[0].robot_at);
    stand(&sen);
    assert_int_equal(network.strangers, 1);
    ff_device_counters count;
    address.body[0].robot->count(network.body[0].robot, &count);
    assert_int_equal(count.malformed, 1);
    close(fd);
}

/* Led by 1 mm the robot gets there within its limits, brakes where nothing leads it, and is stopped. */
static void test_command_brake_and_end(void **state) {
    (void)state;
    ff_rsi_sen sen;
    meet();
    double x = 0.0, last = 0.0, step = 0.0;
    for (int n = 0; n < 400; n++) {
        send_telegram(0, x, 1.0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        assert_int_equal(sample.found.code, FF_TRIP_NONE);
        write_command(0.001, 1u | FF_LED_AHEAD);
        take_answer(&sen);
        ff_arm_joints joints = network.body[0].axes.at;
        x = ff_arm_forward(&plan.body[0].arm, &joints).p.x - park.p.x; /* a cycle behind */
        step = fmax(step, fabs(x - last));
        last = x;
    }
    assert_near(x, 0.001, 1e-9);
    assert_true(step > 0.0 && step <= network.body[0].output_config.velocity * plan.cycle * (1.0 + 1e-6));
    assert_true(sample.body[0].device.moved && !sample.body[0].rests);
    for (int n = 0; n < 5; n++) {
        send_telegram(0, x, 1.0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        write_command(0.0, 0);
        take_answer(&sen);
        assert_false(sen.tags & FF_RSI_STOP);
    }
    assert_true(sample.body[0].rests);
    send_telegram(0, x, 1.0);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    assert_false(network.body[0].ended);
    station.release(station.self);
    take_answer(&sen);
    assert_true(sen.tags & FF_RSI_STOP);
    assert_true(network.body[0].ended);
}

/* The robot's next telegram comes a tenth of a second late: the stop is kept for it. */
static void *late_telegram(void *self) {
    (void)self;
    ff_clock_sleep_until(ff_clock_now() + 100000000);
    send_telegram(0, 0.0, 1.0);
    return NULL;
}

static void test_the_stop_waits_for_a_late_telegram(void **state) {
    (void)state;
    ff_rsi_sen sen;
    meet();
    network.options.silence = 20.0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, late_telegram, NULL), 0);
    station.release(station.self);
    pthread_join(thread, NULL);
    take_answer(&sen);
    assert_true(sen.tags & FF_RSI_STOP);
    /* nobody speaks any more: silence, and no longer */
    network.body[0].ended = false;
    network.options.silence = 0.02;
    const int64_t begun = ff_clock_now();
    station.release(station.self);
    assert_true(ff_clock_now() - begun >= 20000000);
    assert_false(network.body[0].ended);
}

/* A robot that stands against a command that moves, in a stop as well: found in the tenth cycle, not before,
 * and as long as the command moves. One that follows a cycle or two behind never is. */
static void test_a_robot_that_stands_is_found(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) { /* stands; follows; stands while it is braked */
        ff_rsi_sen sen;
        if (n > 0) {
            end(NULL);
            begin(NULL);
        }
        meet();
        double x = 0.0, led = 0.0;
        int first = -1, moves = -1;
        double accepted[120];
        bool before = false;
        for (int k = 0; k < 120; k++) {
            send_telegram(0, n == 1 ? x : 0.0, 1.0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            const bool found = sample.found.code == FF_TRIP_STANDS;
            assert_int_equal(found, sample.body[0].device.stands);
            /* by the page: less than a tenth of what the command has moved by in eight cycles, whichever of
             * the last answers it may be at, two cycles less than its delay of two to three more; seen twice
             */
            accepted[k] = network.body[0].output.pose.p.x;
            double moved = k >= 13 ? FF_INF : 0.0;
            for (int d = 0; d <= 5 && k >= 13; d++)
                moved = fmin(moved, fabs(accepted[k - d] - accepted[k - d - 8]));
            const bool now_stands = n != 1 && moved > 1e-4;
            if (k >= 15 && found != (now_stands && before))
                fail_msg("%d: cycle %d: %d, by %g m", n, k, found, moved);
            before = now_stands;
            if (found && first < 0) {
                first = k;
                assert_true(sample.found.value > 1e-4);
                assert_near(sample.found.limit, 0.1 * sample.found.value, 1e-12);
            }
            led += k < 60 ? 0.05 * plan.cycle : 0.0;
            if (n == 2 && k >= 20)
                write_command(0.0, 0);
            else
                write_command(led, 1u | (n == 2 ? 0u : (unsigned)FF_LED_AHEAD));
            take_answer(&sen);
            ff_arm_joints joints = network.body[0].axes.sent;
            const double now = ff_arm_forward(&plan.body[0].arm, &joints).p.x - park.p.x;
            if (moves < 0 && now > 1e-6)
                moves = k;
            x = now;
        }
        assert_true(moves >= 0 && (n == 1) == (first < 0));
        if (n == 1)
            continue;
        assert_true(first - moves >= 9);
    }
}

static void test_silence(void **state) {
    (void)state;
    meet();
    assert_true(sample.body[0].device.silence >= 0.0);
    assert_int_equal(station.wait(station.self, &sample), FF_ERR_DEVICE);
    assert_true(sample.silent);
    assert_true(sample.body[0].device.silence >= 0.02); /* the live page's bar reaches its limit */
    assert_int_equal(sample.found.code, FF_TRIP_SILENT);
    assert_near(sample.found.limit, 0.02, 1e-15);
}

/* The operator's stop ends the wait for devices that never speak. */
static void test_stop_before_any_device(void **state) {
    (void)state;
    atomic_store(&stop, true);
    assert_int_equal(station.wait(station.self, &sample), FF_ERR_LIMIT);
    atomic_store(&stop, false);
}

/* A second one beside it: the robot's port is taken; then a page that is none, and one that nobody serves. */
static void test_what_cannot_be_opened_is_said(void **state) {
    (void)state;
    static ff_network second;
    char message[256] = "";
    const double lead = 0.0;
    ff_addresses other = address;
    ff_network_options options = {.wait = 0.01, .stop = &stop};
    ff_station s = ff_network_station(&second, &scenario, &plan, &other, &options);
    assert_int_equal(s.open(s.self, &lead, message, sizeof message), FF_ERR_DEVICE);
    assert_non_null(strstr(message, "cannot be bound"));
    const ff_ports ports = free_ports();
    assert_int_equal(ff_addresses_find(&scenario, &ports, &other, message, sizeof message), FF_OK);
    ff_http_server *page;
    assert_int_equal(
        ff_http_serve(&other.body[0].page_at, FF_ATI_HTTP_PATH, "<netft>", &page, message, sizeof message),
        FF_OK);
    s = ff_network_station(&second, &scenario, &plan, &other, &options);
    assert_int_equal(s.open(s.self, &lead, message, sizeof message), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "the sensor's page: "));
    ff_http_stop(page);
    s = ff_network_station(&second, &scenario, &plan, &other, &options);
    assert_int_equal(s.open(s.self, &lead, message, sizeof message), FF_ERR_DEVICE); /* after its wait */
    assert_non_null(strstr(message, "no answer to HTTP GET"));
    struct sockaddr_in again; /* and the robot's port was given back each time */
    int fd;
    again = other.body[0].robot_at;
    assert_int_equal(ff_socket_open(&again, &fd, NULL, message, sizeof message), FF_OK);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sample, begin, end),
        cmocka_unit_test_setup_teardown(test_lost_telegrams_are_filled_in, begin, end),
        cmocka_unit_test_setup_teardown(test_delay_counts_what_was_lost, begin, end),
        cmocka_unit_test_setup_teardown(test_more_lost_than_may_be, begin, end),
        cmocka_unit_test_setup_teardown(test_the_end_of_a_stop_is_within_the_arm, begin, end),
        cmocka_unit_test_setup_teardown(test_every_record_is_judged, begin, end),
        cmocka_unit_test_setup_teardown(test_ticks_of_the_controllers_clock, begin, end),
        cmocka_unit_test_setup_teardown(test_a_text_is_shown_once, begin, end),
        cmocka_unit_test_setup_teardown(test_cartesian_turn, begin, end),
        cmocka_unit_test_setup_teardown(test_a_robot_that_stands_is_found, begin, end),
        cmocka_unit_test_setup_teardown(test_the_controllers_signals, begin, end),
        cmocka_unit_test_setup_teardown(test_heartbeat, begin, end),
        cmocka_unit_test_setup_teardown(test_where_corrections_count_from, begin, end),
        cmocka_unit_test_setup_teardown(test_the_controllers_limits, begin, end),
        cmocka_unit_test_setup_teardown(test_a_counter_ahead_of_the_time, begin, end),
        cmocka_unit_test_setup_teardown(test_strangers_and_garbage, begin, end),
        cmocka_unit_test_setup_teardown(test_command_brake_and_end, begin, end),
        cmocka_unit_test_setup_teardown(test_the_stop_waits_for_a_late_telegram, begin, end),
        cmocka_unit_test_setup_teardown(test_silence, begin, end),
        cmocka_unit_test_setup_teardown(test_stop_before_any_device, begin, end),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_opened_is_said, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
