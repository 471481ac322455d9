/* The table of topics: names that ROS takes, whatever the satellites are called; who wants nothing gets
 * nothing; live and logged topics of a row say the same. */
#include "record/topics.h"

#include <ctype.h>

#include "support.h"

static const char text[] =
    "name: t\ntime: {cycle: 0.004, duration: 1}\nsatellites:\n  a b: {mass: 1, inertia: [1, 1, 1]}\n"
    "  a!b: {mass: 1, inertia: [1, 1, 1], position: [3, 0, 0]}\n  2_x: {mass: 1, inertia: [1, 1, 1], "
    "position: [6, 0, 0]}\n";

static ff_scenario scenario;
static int taken[FF_TOPICS_MAX];
static uint64_t newest[FF_TOPICS_MAX]; /* stamp */
static unsigned char pose[256];
static size_t pose_size;
static int pose_topic;
static char frame[FF_TOPICS_MAX][64]; /* frame_id of a message with a header */

static ff_status take(void *self, int topic, uint64_t stamp, const void *bytes, size_t size) {
    (void)self;
    newest[topic] = stamp;
    taken[topic]++;
    uint32_t length = 0; /* CDR: encapsulation, seconds, nanoseconds, the string with its zero */
    if (size >= 16)
        memcpy(&length, (const char *)bytes + 12, sizeof length);
    if (length > 0 && length < sizeof *frame && 16 + length <= size)
        memcpy(frame[topic], (const char *)bytes + 16, length);
    if (topic == pose_topic) {
        assert_true(size <= sizeof pose);
        memcpy(pose, bytes, size);
        pose_size = size;
    }
    return FF_OK;
}

static bool nothing(void *self, int topic) {
    (void)self;
    (void)topic;
    return false;
}

static void test_names(void **state) {
    (void)state;
    for (int use = FF_TOPIC_LOG; use <= FF_TOPIC_LIVE; use++) {
        static ff_topics topics;
        assert_int_equal(ff_topics_init(&scenario, (ff_topic_use)use, &topics), FF_OK);
        for (int i = 0; i < topics.count; i++) {
            const char *name = topics.topic[i].name;
            assert_true(name[0] == '/' && topics.topic[i].schema && strstr(topics.topic[i].type, "/msg/"));
            for (const char *c = name; *c; c++) {
                assert_true(isalnum((unsigned char)*c) || *c == '_' || *c == '/');
                assert_false(c[0] == '/' && (isdigit((unsigned char)c[1]) || c[1] == '/' || !c[1]));
            }
            for (int k = 0; k < i; k++)
                assert_string_not_equal(name, topics.topic[k].name);
        }
        assert_true(topics.body[1].pose >= 0);
        assert_string_equal(topics.topic[topics.body[1].pose].name, "/a_b_1/pose");
        ff_topics_free(&topics);
    }
}

static int find(const ff_topics *topics, const char *name) {
    for (int i = 0; i < topics->count; i++)
        if (strcmp(topics->topic[i].name, name) == 0)
            return i;
    return -1;
}

/* A log is played as the run was seen: what one has by a name the other has, too, in the same type. */
static void test_log_and_live_have_one_table(void **state) {
    (void)state;
    static ff_topics use[2];
    assert_int_equal(ff_topics_init(&scenario, FF_TOPIC_LIVE, &use[0]), FF_OK);
    assert_int_equal(ff_topics_init(&scenario, FF_TOPIC_LOG, &use[1]), FF_OK);
    for (int u = 0; u < 2; u++)
        for (int i = 0; i < use[u].count; i++) {
            const ff_topic *topic = &use[u].topic[i];
            const int other = find(&use[!u], topic->name);
            const bool alone = strcmp(topic->name, u ? "/input" : "/diagnostics") == 0;
            assert_int_equal(other < 0, alone);
            assert_true(alone || (strcmp(use[!u].topic[other].type, topic->type) == 0 &&
                                  use[!u].topic[other].use == topic->use));
        }
    ff_topics_free(&use[0]);
    ff_topics_free(&use[1]);
}

static void test_rows(void **state) {
    (void)state;
    static ff_topics live, logged;
    static ff_row row;
    static unsigned char first[256];
    const ff_topic_taker all = {.take = take}, none = {.wants = nothing, .take = take};
    assert_int_equal(ff_topics_init(&scenario, FF_TOPIC_LIVE, &live), FF_OK);
    assert_int_equal(ff_topics_init(&scenario, FF_TOPIC_LOG, &logged), FF_OK);
    row.t = 0.5;
    for (int i = 0; i < 3; i++) {
        row.body[i].satellite.attitude = ff_quat_identity();
        row.body[i].robot.T = row.body[i].command.T = row.body[i].inertial.T = ff_pose_identity();
    }
    row.body[2].satellite.position = ff_vec3_make(1, 2, 3);
    assert_int_equal(ff_topics_begin(&live, &none), FF_OK);
    assert_int_equal(ff_topics_row(&live, &row, &none), FF_OK);
    for (int i = 0; i < live.count; i++)
        assert_int_equal(taken[i], 0);
    pose_topic = live.body[2].pose;
    assert_int_equal(ff_topics_begin(&live, &all), FF_OK);
    assert_int_equal(ff_topics_row(&live, &row, &all), FF_OK);
    assert_true(taken[live.clock] == 1 && taken[live.tf_static] == 1 && taken[live.scene] == 1 &&
                taken[live.body[2].raw] == 1 && taken[live.body[0].applied] == 1 && taken[live.joints] == 0);
    memcpy(first, pose, pose_size);
    const size_t size = pose_size;
    /* of one instant twice: the stamps increase; a row outside of the run's time is stamped later by that */
    for (int i = 0; i < 2; i++)
        assert_int_equal(ff_topics_event(&live, 0.5, 0, FF_EVENT_INFO, "e", FF_NAN, FF_NAN, &all), FF_OK);
    assert_int_equal(newest[live.event], ff_topics_stamp(0.5) + 1);
    assert_int_equal(newest[live.body[2].pose], ff_topics_stamp(0.5));
    row.rested = 2.0;
    assert_int_equal(ff_topics_row(&live, &row, &all), FF_OK);
    assert_int_equal(newest[live.body[2].pose], ff_topics_stamp(2.5));
    assert_int_equal(newest[live.clock], ff_topics_stamp(2.5));
    row.rested = 0.0;
    pose_topic = logged.body[2].pose;
    memset(frame, 0, sizeof frame);
    assert_int_equal(ff_topics_row(&logged, &row, &all), FF_OK);
    assert_int_equal(pose_size, size);
    assert_memory_equal(pose, first, size);
    /* what each is in: a pose in the inertial frame, a twist in its own, a wrench where it is measured */
    for (int i = 0; i < 3; i++) {
        char robot[FF_NAME_SIZE + 8];
        snprintf(robot, sizeof robot, "%s/robot", scenario.satellite[i].name);
        assert_string_equal(frame[logged.body[i].pose], "inertial");
        assert_string_equal(frame[logged.body[i].twist], scenario.satellite[i].name);
        assert_string_equal(frame[logged.body[i].wrench], robot);
    }
    ff_topics_free(&live);
    ff_topics_free(&logged);
}

static int load(void **state) {
    (void)state;
    char message[512], warnings[256];
    return ff_scenario_parse("T", text, sizeof text - 1, NULL, &scenario, message, sizeof message, warnings,
                             sizeof warnings) == FF_OK
               ? 0
               : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_log_and_live_have_one_table),
                                       cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, load, NULL);
}
