/* Two controllers and two sensors that a test of the network room plays itself, over loopback, one thread.
 * Their telegrams say when they arrive, as in lock step, so that no clock of this computer decides anything.
 */
#ifndef FF_TESTS_NETWORK_TWO_H
#define FF_TESTS_NETWORK_TWO_H

#include "support.h"

#include "devices/ati/ati.h"
#include "devices/rsi/rsi.h"
#include "network/network.h"
#include "rt/ports.h"

static const double T = 0.004;

static const char two_text[] =
    "name: two\ntime: {cycle: 0.004, duration: 1}\nmethod: direct\nsatellites:\n"
    "  a: {mass: 50, inertia: [5, 6, 7], robot: {kind: delay, delay: 0.008}}\n"
    "  b: {mass: 50, inertia: [5, 6, 7], position: [0, 1, 0], robot: {kind: delay, delay: 0.008}}\n";

static ff_scenario scenario;
static ff_plan plan;
static ff_addresses address;
static ff_network network;
static ff_station station;
static ff_sample sample;
static atomic_bool never;
static struct {
    int robot, sensor;
    ff_http_server *page;
    struct sockaddr_in client;
    uint64_t cycle, late;
    uint32_t records;
    double off;    /* [cycles] by which its telegrams come after the first one's */
    double x;      /* [m] where its robot is, from its start */
    double turned; /* [rad] the same, about its own z */
    unsigned signals;
    uint64_t signal[FF_RSI_SIGNALS]; /* of the controller */
    uint32_t pace, count;            /* of the sensor: counts a record, 0 is 1; the last one */
} peer[2];

static bool by_axes;   /* the robots are commanded by axes */
static bool unstamped; /* telegrams do not say when they arrive: this computer's clock counts */

static inline int begin(void **state) {
    (void)state;
    static char xml[FF_ATI_XML_MAX];
    char message[256] = "", warnings[256];
    size_t used;
    assert_int_equal(ff_scenario_parse("two", two_text, sizeof two_text - 1, NULL, &scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    assert_int_equal(ff_plan_create(&scenario, &plan, message, sizeof message), FF_OK);
    const ff_ports ports = free_ports();
    assert_int_equal(ff_addresses_find(&scenario, &ports, &address, message, sizeof message), FF_OK);
    memset(peer, 0, sizeof peer);
    const ff_ati_page page = ff_ati_page_default();
    assert_int_equal(ff_ati_page_encode(&page, xml, sizeof xml - 1, &used), FF_OK);
    xml[used] = 0;
    struct sockaddr_in any;
    ff_socket_address("127.0.0.1", 0, &any);
    for (int i = 0; i < 2; i++) {
        plan.body[i].cartesian = !by_axes;
        assert_int_equal(ff_socket_open(&any, &peer[i].robot, NULL, message, sizeof message), FF_OK);
        assert_int_equal(
            ff_socket_open(&address.body[i].sensor_at, &peer[i].sensor, NULL, message, sizeof message),
            FF_OK);
        assert_int_equal(ff_http_serve(&address.body[i].page_at, FF_ATI_HTTP_PATH, xml, &peer[i].page,
                                       message, sizeof message),
                         FF_OK);
    }
    const ff_network_options options = {.wait = 30.0, .silence = 0.02, .stop = &never};
    station = ff_network_station(&network, &scenario, &plan, &address, &options);
    sample = (ff_sample){0};
    const double lead[2] = {0};
    if (station.open(station.self, lead, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    for (int i = 0; i < 2; i++) {
        const ff_safety_limits limits = scenario.satellite[i].safety;
        ff_output_config output;
        ff_plan_output(&scenario.satellite[i], &limits, plan.cycle, &output);
        station.bound(station.self, i, &limits, &output);
    }
    return 0;
}

static inline int end(void **state) {
    (void)state;
    station.close(station.self);
    for (int i = 0; i < 2; i++) {
        ff_http_stop(peer[i].page);
        close(peer[i].robot);
        close(peer[i].sensor);
    }
    return 0;
}

/* The next telegram of this controller but `lost`, and a record. */
static inline void tell(int i, uint64_t lost) {
    ff_rsi_rob rob = {.fields = FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | FF_RSI_DELAY | FF_RSI_ARRIVAL};
    rob.fields &= unstamped ? ~(unsigned)FF_RSI_ARRIVAL : ~0u;
    char bytes[FF_RSI_READ_MAX];
    size_t used;
    peer[i].cycle += 1 + lost;
    peer[i].late += lost;
    ff_pose T0 = ff_plan_runup(&plan, i, -FF_INF).T;
    T0.p.x += peer[i].x;
    T0.q = ff_quat_mul(T0.q, ff_quat_exp(ff_vec3_make(0.0, 0.0, peer[i].turned)));
    ff_rsi_from_pose(ff_plan_to_base(&plan.body[i], T0), rob.rist);
    ff_arm_to_kuka(&plan.body[i].home, rob.aipos, &rob.eipos[0]);
    rob.delay = peer[i].late;
    rob.fields |= peer[i].signals ? FF_RSI_KRC : 0;
    rob.signals = peer[i].signals;
    memcpy(rob.signal, peer[i].signal, sizeof rob.signal);
    rob.ipoc = 1000 + 4 * peer[i].cycle;
    rob.arrival_ns = (uint64_t)llround(4e6 * ((double)peer[i].cycle + peer[i].off));
    assert_int_equal(ff_rsi_rob_encode(&rob, 9, bytes, sizeof bytes, &used), FF_OK);
    ff_socket_send(peer[i].robot, bytes, used, &address.body[i].robot_at);
    if (!peer[i].client.sin_port)
        return;
    peer[i].count += peer[i].pace ? peer[i].pace : 1;
    const ff_ati_record record = {.rdt_sequence = ++peer[i].records, .ft_sequence = peer[i].count};
    uint8_t raw[FF_ATI_RECORD_SIZE];
    assert_int_equal(ff_ati_record_encode(&record, raw, sizeof raw), FF_OK);
    ff_socket_send(peer[i].sensor, raw, sizeof raw, &peer[i].client);
}

/* The answer that waits for this controller: x of its correction [m]; NAN: there is none. Never two. */
static inline double answer_x(int i) {
    char bytes[FF_RSI_READ_MAX];
    struct sockaddr_in from;
    int64_t stamp;
    ff_rsi_sen sen;
    const ff_rsi_names names = ff_rsi_names_default();
    const long size = ff_socket_receive(peer[i].robot, bytes, sizeof bytes, &from, &stamp);
    if (size <= 0)
        return FF_NAN;
    assert_int_equal(ff_rsi_sen_decode(&names, bytes, (size_t)size, &sen), FF_OK);
    assert_int_equal(sen.ipoc, 1000 + 4 * peer[i].cycle);
    assert_int_equal(ff_socket_receive(peer[i].robot, bytes, sizeof bytes, &from, &stamp), 0);
    ff_pose at[2] = {ff_plan_runup(&plan, i, -FF_INF).T, ff_plan_runup(&plan, i, -FF_INF).T};
    at[1].p.x += 1.0; /* the controller's own axes are others than ours */
    const ff_vec3 along =
        ff_vec3_sub(ff_plan_to_base(&plan.body[i], at[1]).p, ff_plan_to_base(&plan.body[i], at[0]).p);
    const double *sent = &sen.value[FF_RSI_TAG_CARTESIAN];
    return 1e-3 * ff_vec3_dot(along, ff_vec3_make(sent[0], sent[1], sent[2]));
}

/* Both are led at v [m/s] along x, the command of the first telegram at x; v < 0: both stand. */
static inline void command(double x, double v) {
    ff_setpoint led[2];
    const ff_wrench none[2] = {ff_wrench_zero(), ff_wrench_zero()};
    ff_sent sent[2];
    for (int i = 0; i < 2; i++) {
        led[i] = (ff_setpoint){ff_plan_runup(&plan, i, -FF_INF).T, ff_twist_zero()};
        led[i].T.p.x += x;
        led[i].twist.v.x = fmax(v, 0.0);
    }
    station.write(station.self, 0, led, v < 0.0 ? 0u : 3u, none, NULL, sent);
}

/* All answers that wait for this controller are taken: how many. */
static inline int answers(int i) {
    char bytes[FF_RSI_READ_MAX];
    struct sockaddr_in from;
    int64_t stamp;
    int count = 0;
    while (ff_socket_receive(peer[i].robot, bytes, sizeof bytes, &from, &stamp) > 0)
        count++;
    return count;
}

/* Cycles at rest, both telegrams before the wait; a sensor's address is learned from its first request. */
static inline void stand(int count) {
    for (int n = 0; n < count; n++) {
        tell(1, 0);
        tell(0, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        command(0.0, -1.0);
        for (int i = 0; i < 2; i++) {
            uint8_t bytes[64];
            int64_t stamp;
            answers(i);
            if (!peer[i].client.sin_port)
                ff_socket_receive(peer[i].sensor, bytes, sizeof bytes, &peer[i].client, &stamp);
        }
    }
}

/* Until all devices are heard and both clocks are known; the second one's telegrams `off` cycles later. */
static inline void meet(double off) {
    peer[1].off = off;
    stand(60);
    assert_true(sample.speaks && sample.body[0].device.has_clock && sample.body[1].device.has_clock);
    assert_int_equal(sample.found.code, FF_TRIP_NONE);
}

#endif
