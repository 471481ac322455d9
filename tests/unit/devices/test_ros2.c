/* A robot behind its ROS 2 driver by bytes alone: messages by the specification, what is refused before
 * anything moves, what is passed over or named in a run, and that nothing is sent before the robot shall
 * move. */
#include "devices/ros2/ros2.h"

#include "support.h"

#include <stdlib.h>
#include <string.h>

static const ff_device_settings settings = {.cycle = 0.004,
                                            .states = "/joint_states",
                                            .command = "/commands",
                                            .topic = "/wrench",
                                            .joints = {"j1", "j2", "j3", "j4", "j5", "j6"}};
static const double home[6] = {0.1, -1.5, 1.5, -1.5, -1.5, 0.2};

typedef struct words { /* of one message */
    int n;             /* its number: stamp 4 ms n */
    double ahead;      /* [s] its stamp of its arrival */
    ff_link_head head;
    const char *frame;
    const char *names[9]; /* NULL: the end */
    double q[9];
    int rates; /* velocities in it: as many, each 100 times its place; the rest of the message follows */
} words;

static words healthy(int n) {
    words w = {.n = n,
               .ahead = -1e-4,
               .head = {.from = 7, .readers = 1},
               .frame = "",
               .names = {"j6", "j5", "gripper", "j4", "j3", "j2", "j1", NULL}};
    const double q[] = {home[5], home[4], 0.02, home[3], home[2], home[1], home[0]};
    memcpy(w.q, q, sizeof q);
    return w;
}

/* CDR by hand: OMG's XCDR1, little endian, alignment from the end of its header. */
static size_t put(uint8_t *bytes, size_t at, uint64_t value, size_t size) {
    at = at + (size - (at - 4) % size) % size;
    for (size_t i = 0; i < size; i++)
        bytes[at + i] = (uint8_t)(value >> 8 * i);
    return at + size;
}

static size_t put_text(uint8_t *bytes, size_t at, const char *text) {
    at = put(bytes, at, strlen(text) + 1, 4);
    memcpy(bytes + at, text, strlen(text) + 1);
    return at + strlen(text) + 1;
}

static size_t put_real(uint8_t *bytes, size_t at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put(bytes, at, bits, 8);
}

static size_t message(const words *w, uint8_t *out) {
    static uint8_t bytes[FF_DEVICE_READ_MAX];
    const int64_t stamp = INT64_C(1700000000000000000) + INT64_C(4000000) * w->n;
    ff_link_head head = w->head;
    head.arrived = stamp - (int64_t)(1e9 * w->ahead);
    size_t at = 4, count = 0;
    memset(bytes, 0, sizeof bytes);
    bytes[1] = 1;
    bytes[3] = 3; /* options: somebody's padding */
    at = put(bytes, at, (uint64_t)stamp / 1000000000u, 4);
    at = put(bytes, at, (uint64_t)stamp % 1000000000u, 4);
    at = put_text(bytes, at, w->frame);
    while (w->names[count])
        count++;
    at = put(bytes, at, count, 4);
    for (size_t i = 0; i < count; i++)
        at = put_text(bytes, at, w->names[i]);
    at = put(bytes, at, count, 4);
    for (size_t i = 0; i < count; i++)
        at = put_real(bytes, at, w->q[i]);
    at = put(bytes, at, (uint64_t)w->rates, 4);
    for (int i = 0; i < w->rates; i++)
        at = put_real(bytes, at, i == 2 ? FF_NAN : 100.0 * i); /* the gripper has none */
    at = put(bytes, at, 0, 4);
    memcpy(out, &head, sizeof head);
    memcpy(out + sizeof head, bytes, at);
    return sizeof head + at;
}

static uint8_t in[FF_DEVICE_READ_MAX + 64], out[FF_DEVICE_SEND_MAX];
static size_t used;
static char said[300];

static ff_status greet(void *robot, const words *w) {
    return ff_device_ros2.greet(robot, w ? in : NULL, w ? message(w, in) : 0, out, sizeof out, &used, said,
                                sizeof said);
}

static void *opened(const ff_device_settings *with) {
    void *robot = calloc(1, ff_device_ros2.bytes);
    assert_non_null(robot);
    ff_device_ros2.open(robot, with);
    assert_int_equal(greet(robot, NULL), FF_INFO_HELD);
    return robot;
}

/* Greeted, with its first telegram. */
static void *met(void) {
    void *robot = opened(&settings);
    for (int n = 0; n < 9; n++) {
        const words w = healthy(n);
        assert_int_equal(greet(robot, &w), n < 8 ? FF_INFO_HELD : FF_OK);
        assert_int_equal(used, 0);
    }
    return robot;
}

static ff_status sample(void *robot, const words *w, ff_device_sample *s) {
    return ff_device_ros2.sample(robot, 0.0, in, message(w, in), s);
}

static void refused(const words *w, const ff_device_settings *with, ff_status expected, const char *text) {
    void *robot = opened(with);
    assert_int_equal(greet(robot, w), expected);
    if (!strstr(said, text))
        fail_msg("'%s' is not in: %s", text, said);
    assert_int_equal(used, 0);
    free(robot);
}

static void test_refusals(void **unused) {
    (void)unused;
    words w = healthy(0);
    w.names[4] = "other";
    refused(&w, &settings, FF_ERR_DEVICE, "/joint_states has no joint 'j3', allowed: all of `joints`");
    w = healthy(0);
    w.names[2] = "j3";
    refused(&w, &settings, FF_ERR_DEVICE, "the joint 'j3' twice");
    w = healthy(0);
    w.q[1] = FF_NAN;
    refused(&w, &settings, FF_INFO_HELD, "not a number");
    w = healthy(0);
    w.names[0] = NULL;
    refused(&w, &settings, FF_INFO_HELD, "has none of the joints");
    w = healthy(0);
    w.ahead = 2.0;
    refused(&w, &settings, FF_ERR_DEVICE, "2.000 s ahead of this computer's clock, allowed: 0.5 s");
    w.ahead = -3600.0;
    refused(&w, &settings, FF_INFO_HELD, "3600.000 s behind");
    w = healthy(0);
    w.head.rivals = 1;
    refused(&w, &settings, FF_ERR_DEVICE, "somebody else publishes /commands");
    w = healthy(0);
    w.head.readers = 0;
    refused(&w, &settings, FF_INFO_HELD, "nobody reads /commands");
    ff_device_settings virtual = settings;
    virtual.facility = true;
    w = healthy(0);
    refused(&w, &virtual, FF_ERR_DEVICE, "is not that of freefloat facility");
    void *robot = opened(&settings); /* two publishers; then another period */
    w = healthy(0);
    assert_int_equal(greet(robot, &w), FF_INFO_HELD);
    w = healthy(1);
    w.head.from = 8;
    assert_int_equal(greet(robot, &w), FF_ERR_DEVICE);
    assert_non_null(strstr(said, "two publishers"));
    ff_device_ros2.open(robot, &settings);
    for (int n = 0; n < 9; n++) {
        w = healthy(2 * n);
        assert_int_equal(greet(robot, &w), n < 8 ? FF_INFO_HELD : FF_ERR_DEVICE);
    }
    assert_non_null(strstr(said, "comes every 8.000 ms and time.cycle is 4.000 ms"));
    free(robot);
}

/* Order mapped, losses by the stamps, others passed over; nothing sent before a motion, then six positions.
 */
static void test_run(void **unused) {
    (void)unused;
    void *robot = met();
    ff_device_sample s;
    ff_device_counters count;
    words w = healthy(10);
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    for (int a = 0; a < 6; a++)
        assert_true(s.robot.joints.a[a] == home[a]);
    assert_true(isnan(s.robot.arrives));
    ff_robot_order order = {.moves = false};
    assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used), FF_OK);
    assert_int_equal(used, 0);
    w = healthy(10);
    assert_int_equal(sample(robot, &w, &s), FF_INFO_STALE); /* again */
    w = healthy(9);
    assert_int_equal(sample(robot, &w, &s), FF_INFO_STALE); /* older */
    w = healthy(11);
    w.names[0] = NULL; /* a gripper's publisher */
    assert_int_equal(sample(robot, &w, &s), FF_INFO_STALE);
    w = healthy(11);
    w.q[3] = FF_INF;
    assert_int_equal(sample(robot, &w, &s), FF_ERR_FORMAT);
    w = healthy(13);
    assert_int_equal(sample(robot, &w, &s), FF_INFO_GAP);
    assert_int_equal(s.robot.lost, 2);
    assert_true(s.robot.taken && s.robot.late == 2);
    order = (ff_robot_order){.moves = true};
    memcpy(order.joints.a, home, sizeof home);
    order.joints.a[5] = FF_NAN;
    assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used), FF_ERR_NOT_FINITE);
    assert_int_equal(used, 0);
    w = healthy(14);
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    order.joints.a[5] = 0.201;
    assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used), FF_OK);
    uint8_t wanted[128] = {0, 1, 0, 0}; /* no dimensions, no offset, six doubles */
    size_t at = put(wanted, 4, 0, 4);
    at = put(wanted, at, 0, 4);
    at = put(wanted, at, 6, 4);
    for (int a = 0; a < 6; a++)
        at = put_real(wanted, at, order.joints.a[a]);
    assert_int_equal(used, at);
    assert_memory_equal(out, wanted, at);
    assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used), FF_ERR_ARGUMENT);
    w = healthy(15);
    w.head.rivals = 2;
    w.head.readers = 0;
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    assert_int_equal(s.robot.signal[FF_SIGNAL_RIVALS], 2);
    assert_int_equal(s.robot.signal[FF_SIGNAL_READERS], 0);
    assert_int_equal(s.robot.signal[FF_SIGNAL_OTHERS], 0);
    w = healthy(16);
    w.head.from = 8;
    assert_int_equal(sample(robot, &w, &s), FF_INFO_STALE);
    w = healthy(16);
    w.ahead = 0.5001;
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    assert_int_equal(s.robot.signal[FF_SIGNAL_OTHERS], 1);
    assert_int_equal(s.robot.signal[FF_SIGNAL_AHEAD], 501); /* [ms] */
    assert_true(s.robot.signals >> FF_SIGNAL_AHEAD & 1u);
    ff_device_ros2.count(robot, &count);
    assert_int_equal(count.received, 5);
    assert_int_equal(count.lost, 2);
    free(robot);
}

/* Moved by somebody between the first telegram and the first command: the command does not go out. */
static void test_strayed(void **unused) {
    (void)unused;
    void *robot = met();
    ff_device_sample s;
    words w = healthy(10);
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    w = healthy(11);
    w.q[0] += 0.03;
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    ff_robot_order order = {.moves = true};
    memcpy(order.joints.a, home, sizeof home);
    ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used);
    assert_int_equal(used, 0);
    w.n = 12;
    sample(robot, &w, &s);
    assert_true(s.robot.restarted);
    free(robot);
}

/* Velocities where they are asked for: mapped as the positions are; without them it is not that driver. The
 * virtual driver is sent its velocities behind its positions, a real one never. */
/* Seven joints: each mapped by its name, none may be missing, seven positions are sent. */
static void test_seven(void **unused) {
    (void)unused;
    ff_device_settings seven = settings;
    snprintf(seven.joints[6], sizeof seven.joints[6], "j7");
    words w = healthy(0);
    refused(&w, &seven, FF_ERR_DEVICE, "/joint_states has no joint 'j7'");
    w.names[2] = "j7";
    void *robot = opened(&seven);
    for (w.n = 0; w.n < 9; w.n++)
        assert_int_equal(greet(robot, &w), w.n < 8 ? FF_INFO_HELD : FF_OK);
    ff_device_sample s = {0};
    w.n = 9;
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    for (int a = 0; a < 7; a++)
        assert_true(s.robot.joints.a[a] == (a < 6 ? home[a] : 0.02));
    ff_robot_order order = {.moves = true, .joints = s.robot.joints};
    order.joints.a[6] = 0.03;
    assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used), FF_OK);
    double q[FF_ARM_AXES] = {0}, rates[FF_ARM_AXES];
    bool rated;
    char label[FF_ROS2_LABEL];
    memset(in, 0, sizeof(ff_link_head));
    memcpy(in + sizeof(ff_link_head), out, used);
    assert_int_equal(ff_ros2_command_decode(in, sizeof(ff_link_head) + used, 6, q, rates, &rated, label),
                     FF_ERR_SIZE);
    assert_int_equal(ff_ros2_command_decode(in, sizeof(ff_link_head) + used, 7, q, rates, &rated, label),
                     FF_OK);
    assert_memory_equal(q, order.joints.a, sizeof q);
    order.joints.a[6] = FF_NAN;
    w.n = 10;
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used), FF_ERR_NOT_FINITE);
    free(robot);
}

static void test_velocities(void **unused) {
    (void)unused;
    ff_device_settings with = settings;
    ff_device_sample s;
    with.reported = true;
    words w = healthy(0);
    refused(&w, &with, FF_ERR_DEVICE, "has no velocities");
    w.rates = 6; /* of seven joints */
    refused(&w, &with, FF_ERR_DEVICE, "allowed: `velocities: differences`");
    for (int virtual = 0; virtual < 2; virtual ++) {
        with.facility = virtual;
        void *robot = opened(&with);
        w = healthy(10);
        w.frame = virtual ? FF_ROS2_VIRTUAL : "";
        assert_int_equal(sample(robot, &w, &s), FF_ERR_FORMAT);
        w.rates = 7;
        assert_int_equal(sample(robot, &w, &s), FF_OK);
        assert_true(s.robot.rated);
        for (int a = 0; a < 6; a++)
            assert_true(s.robot.rates[a] == 100.0 * (a < 4 ? 6 - a : 5 - a));
        ff_robot_order order = {.moves = true, .rates = {1, 2, 3, 4, 5, 6}};
        memcpy(order.joints.a, home, sizeof home);
        assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used), FF_OK);
        double q[FF_ARM_AXES], rates[FF_ARM_AXES];
        bool rated;
        char label[FF_ROS2_LABEL];
        memset(in, 0, sizeof(ff_link_head));
        memcpy(in + sizeof(ff_link_head), out, used);
        assert_int_equal(ff_ros2_command_decode(in, sizeof(ff_link_head) + used, 6, q, rates, &rated, label),
                         FF_OK);
        assert_memory_equal(q, home, sizeof home);
        assert_true(rated == (virtual == 1) && rates[5] == (virtual ? 6.0 : 0.0));
        w = healthy(11);
        w.frame = virtual ? FF_ROS2_VIRTUAL : "";
        w.rates = 7;
        assert_int_equal(sample(robot, &w, &s), FF_OK);
        order.rates[3] = FF_NAN;
        assert_int_equal(ff_device_ros2.answer(robot, 0.0, &order, out, sizeof out, &used),
                         FF_ERR_NOT_FINITE);
        free(robot);
    }
    w = healthy(1); /* not asked for: passed over, whatever they are */
    w.rates = 3;
    void *robot = met();
    assert_int_equal(sample(robot, &w, &s), FF_OK);
    assert_false(s.robot.rated);
    free(robot);
}

static void test_wrench(void **unused) {
    (void)unused;
    const ff_device *d = &ff_device_ros2_wrench;
    void *sensor = calloc(1, d->bytes);
    assert_non_null(sensor);
    d->open(sensor, &settings);
    ff_device_sample s;
    for (int n = 0; n < 14; n++) {
        ff_wrench wrench = {ff_vec3_make(4, 5, n), ff_vec3_make(1, 2, 3)};
        const uint64_t stamp =
            UINT64_C(1700000000000000000) + UINT64_C(2000000) * (uint64_t)(n > 9 ? n + 3 : n);
        ff_link_head head = {.arrived = (int64_t)stamp, .from = n == 13 ? 8 : 7};
        if (n == 12)
            wrench.f.x = FF_NAN;
        memcpy(in, &head, sizeof head);
        ff_ros2_wrench_encode(stamp, "tool0", &wrench, in + sizeof head, sizeof in - sizeof head, &used);
        const size_t size = used + sizeof head;
        if (n < 9) {
            assert_int_equal(d->greet(sensor, in, size, out, sizeof out, &used, said, sizeof said),
                             n < 8 ? FF_INFO_HELD : FF_OK);
            continue;
        }
        for (size_t cut = 0; n == 9 && cut < size; cut += 5)
            assert_true(d->sample(sensor, 0.0, in, cut, &s) < 0);
        assert_int_equal(d->sample(sensor, 0.0, in, size, &s), n == 10 ? FF_INFO_GAP : FF_OK);
        assert_int_equal(d->sample(sensor, 0.0, in, size, &(ff_device_sample){.sensor.repeats = 0}),
                         FF_INFO_STALE);
        assert_int_equal(s.sensor.stamp, n > 9 ? n - 8 + 3 : 1);            /* by its own period, 2 ms */
        assert_int_equal(s.sensor.health, n == 13 ? FF_ERR_DEVICE : FF_OK); /* a second publisher */
        assert_true(s.sensor.f_s.f.y == 2.0 && s.sensor.f_s.t.z == wrench.t.z);
    }
    free(sensor);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals), cmocka_unit_test(test_run),
                                       cmocka_unit_test(test_strayed),  cmocka_unit_test(test_velocities),
                                       cmocka_unit_test(test_seven),    cmocka_unit_test(test_wrench)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
