/* The contract of every device in the list: hostile datagrams change counters only, a state is plain memory
 * without anything behind it, a robot is answered once, a sensor is started and left silent. */
#include "devices/ati/ati.h"
#include "devices/device.h"
#include "devices/ros2/ros2.h"
#include "devices/rsi/rsi.h"
#include "devices/rtde/controller.h"
#include "devices/torque/torque.h"
#include "devices/udp/udp.h"

#include "support.h"

#include <stddef.h>
#include <stdlib.h>

enum { RUN = 7 };
static ff_ur_link ur_link; /* the controller's side of a stream that was greeted */

static const ff_device_settings settings_of_all = {
    .window = 50,
    .cycle = 0.004,
    .lookahead = 0.03,
    .gain = 2000,
    .run = RUN,
    .states = "/joint_states",
    .command = "/commands",
    .topic = "/wrench",
    .joints = {"a", "b", "c", "d", "e", "f"},
    .tool = {.q = {.w = 1.0}},
};

static size_t ros2_datagram(const ff_device *device, int n, uint8_t *bytes, size_t size) {
    const uint64_t stamp = UINT64_C(1700000000000000000) + (uint64_t)((int64_t)4000000 * n);
    const ff_link_head head = {.arrived = (int64_t)stamp + 100000, .from = 5, .readers = 1};
    const double q[FF_ARM_AXES] = {0, -1.5, 1.5, 0, 0.8, 1e-3 * (n > 0 ? n : 0)};
    const double rates[FF_ARM_AXES] = {0};
    const ff_wrench wrench = {ff_vec3_make(0, 0, 1e-3 * n), ff_vec3_make(1, 2, 3)};
    size_t used = 0;
    memcpy(bytes, &head, sizeof head);
    const ff_status made =
        device->kind == FF_DEVICE_ROBOT
            ? ff_ros2_states_encode(stamp, "", &settings_of_all, q, rates, 6, bytes + sizeof head,
                                    size - sizeof head, &used)
            : ff_ros2_wrench_encode(stamp, "", &wrench, bytes + sizeof head, size - sizeof head, &used);
    assert_int_equal(made, FF_OK);
    return used + sizeof head;
}

/* The conversation before the first telegram, with the virtual controller. */
static void greet(const ff_device *device, void *state) {
    uint8_t out[FF_DEVICE_SEND_MAX], in[FF_DEVICE_READ_MAX];
    char message[200], text[FF_DEVICE_TEXT_MAX];
    size_t used, size = 0;
    if (device->topics) { /* messages that were there before the first telegram */
        assert_int_equal(device->greet(state, NULL, 0, out, sizeof out, &used, message, sizeof message),
                         FF_INFO_HELD);
        ff_status held = FF_INFO_HELD;
        for (int n = -9; n < 0; n++) {
            assert_int_equal(held, FF_INFO_HELD);
            held = device->greet(state, in, ros2_datagram(device, n, in, sizeof in), out, sizeof out, &used,
                                 message, sizeof message);
        }
        assert_int_equal(held, FF_OK);
        return;
    }
    ff_ur_registers registers = {0};
    ff_ur_report report = {.timestamp = 99.0, .status = 3, .safety = 1};
    ur_link = (ff_ur_link){0};
    ff_status status = device->greet(state, NULL, 0, out, sizeof out, &used, message, sizeof message);
    for (int n = 0; n < 20 && status > 0; n++) {
        size = 0;
        if (used)
            assert_true(ff_ur_link_receive(&ur_link, out, used, false, &registers, in, sizeof in, &size) >=
                        0);
        if (status == FF_INFO_LIMITED)
            report.integer[1] = (double)ff_ur_program_run(text, device->program(state, text, sizeof text));
        if (!size)
            assert_int_equal(ff_ur_link_send(&ur_link, &report, in, sizeof in, &size), FF_OK);
        assert_int_equal(device->frame(in, size - 1), 0);
        assert_int_equal(device->frame(in, size), size);
        status = device->greet(state, in, size, out, sizeof out, &used, message, sizeof message);
    }
    assert_int_equal(status, FF_OK);
}

/* A sensor as a scenario may describe it: its 16-bit counter passes its end in the tests. */
static const ff_device_settings described = {.listen = 0,
                                             .size = 40,
                                             .number = FF_UDP_INT32,
                                             .little = true,
                                             .force_at = {{8, 12, 16}},
                                             .torque_at = {{20, 24, 28}},
                                             .force_scale = 1e-3,
                                             .torque_scale = 1e-4,
                                             .force_unit = "N",
                                             .torque_unit = "Nm",
                                             .counter = 4,
                                             .counter_bytes = 2,
                                             .status = 36,
                                             .status_bytes = 4,
                                             .mark = "a5 5A",
                                             .request = "01",
                                             .farewell = "00ff",
                                             .window = 50,
                                             .cycle = 0.004,
                                             .run = RUN};

/* The n-th datagram that a healthy device of this kind sends. */
static size_t datagram(const ff_device *device, unsigned n, uint8_t *bytes, size_t size) {
    size_t used = 0;
    if (device->topics)
        return ros2_datagram(device, (int)n, bytes, size);
    if (strcmp(device->name, "kuka-rsi") == 0) {
        const ff_rsi_rob rob = {.fields = FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | FF_RSI_DELAY,
                                .rist = {500.0 + 0.1 * n, 0, 900, 10, 20, 30},
                                .aipos = {0, -90, 90, 0, 45, 0.1 * n},
                                .ipoc = 4000 + 4 * n};
        assert_int_equal(ff_rsi_rob_encode(&rob, 6, (char *)bytes, size, &used), FF_OK);
        return used;
    }
    if (strncmp(device->name, "ur-", 3) == 0) {
        const ff_ur_report report = {.timestamp = 100.0 + 0.004 * n,
                                     .q = {0, -1.5, 1.5, -1.5, -1.5, 0.001 * n},
                                     .pose = {0.7 + 1e-4 * n, 0.1, 0.5, 3.1, 0.1, 0},
                                     .runtime = FF_UR_PLAYING,
                                     .status = 3,
                                     .safety = 1,
                                     .scaling = 1,
                                     .integer = {n < 5 ? n : n - 1, RUN}};
        assert_int_equal(ff_ur_link_send(&ur_link, &report, bytes, size, &used), FF_OK);
        return used;
    }
    if (strcmp(device->name, "udp") == 0) {
        const ff_udp_record record = {.value = {1000, n, 0, 0, 0, -5}, .counter = 65530 + n};
        ff_udp_layout layout;
        assert_null(ff_udp_layout_of(&described, &layout));
        assert_int_equal(ff_udp_encode(&layout, &record, bytes), FF_OK);
        assert_true(size >= layout.size);
        return layout.size;
    }
    if (strcmp(device->name, "joint-torque") == 0) {
        const ff_torque_telegram telegram = {.joints = 3,
                                             .state = FF_TORQUE_COMMANDING,
                                             .session = 9,
                                             .sequence = n,
                                             .echo = n - 1,
                                             .run = RUN,
                                             .time = 0.001 * n,
                                             .cycle = 0.001,
                                             .wrench = {1, 2, 3, 4, 5, 6},
                                             .q = {0.1, -0.2, 0.3 + 1e-4 * n},
                                             .torque = {7, 8, 9}};
        assert_int_equal(ff_torque_telegram_encode(&telegram, bytes, size, &used), FF_OK);
        return used;
    }
    assert_true(device->counts[0] > 0.0 ||
                strncmp(device->name, "ati-", 4) == 0); /* a new device sends its own here */
    const ff_ati_record record = {
        .rdt_sequence = n + 1, .ft_sequence = 7 * n + 3, .counts = {1000000, (int32_t)n, 0, 0, 0, -5}};
    assert_int_equal(ff_ati_record_encode(&record, bytes, size), FF_OK);
    return FF_ATI_RECORD_SIZE;
}

static void *opened(const ff_device *device) {
    void *state = calloc(1, device->bytes);
    assert_non_null(state);
    device->open(state, strcmp(device->name, "udp") == 0 ? &described : &settings_of_all);
    assert_true((device->frame || device->topics) == (device->greet != NULL));
    if (device->greet)
        greet(device, state);
    if (device->page) {
        char page[FF_DEVICE_PAGE_MAX];
        size_t used;
        const ff_ati_page healthy = ff_ati_page_default();
        assert_int_equal(ff_ati_page_encode(&healthy, page, sizeof page, &used), FF_OK);
        assert_true(device->configure(state, page, used / 2) < 0);
        assert_int_equal(device->configure(state, page, used), FF_OK);
    }
    ff_device_range range;
    device->range(state, &range);
    assert_true(range.axis > 0.0 && range.shift > 0.0);
    assert_true(range.turn > 0.0 && range.force > 0.0 && range.torque > 0.0);
    return state;
}

/* Its keys lie inside the settings, apart from each other, with a sentence and words for each choice. */
static void check_settings(const ff_device *device) {
    assert_true(device->name && *device->name && device->help && *device->help);
    bool port = false;
    for (unsigned i = 0; i < device->settings; i++) {
        const ff_setting *a = &device->setting[i];
        assert_true(a->name && a->unit && a->absent && a->help && *a->help);
        assert_true(a->offset < offsetof(ff_device_settings, rail)); /* beyond: not the file's */
        assert_true(a->type != FF_SETTING_CHOICE || a->choice);
        port |= strcmp(a->name, "port") == 0 && (unsigned)strtoul(a->absent, NULL, 10) == device->port;
        for (unsigned j = 0; j < i; j++)
            assert_true(a->offset != device->setting[j].offset && strcmp(a->name, device->setting[j].name));
    }
    assert_true(port || device->settings == 0 || device->topics); /* the usual one is the table's; none: the
                                                                     robot's, or no port at all */
}

static void test_list(void **unused) {
    (void)unused;
    const ff_device *device;
    int many[3] = {0};
    for (size_t n = 0; (device = ff_device_at(n)) != NULL; n++) {
        const bool answered = device->kind != FF_DEVICE_SENSOR; /* telegram by telegram */
        assert_ptr_equal(ff_device_of(device->kind, many[device->kind]++), device);
        check_settings(device);
        assert_true((device->topics || device->port > 0) && device->port < 65536 && device->bytes > 0);
        assert_true(device->open && device->range && device->sample && device->answer && device->count);
        assert_true((device->sent != NULL) == answered && (device->stop != NULL) == !answered);
        assert_true((device->configure != NULL) == (device->page != NULL));
    }
    for (int kind = 0; kind < 3; kind++) {
        assert_true(many[kind] > 0);
        assert_null(ff_device_of((ff_device_kind)kind, many[kind]));
    }
}

/* One cycle of a device: its datagram, and what it is sent. */
static ff_status exchange(const ff_device *device, void *state, unsigned n, ff_device_sample *sample,
                          uint8_t *sent, size_t *used) {
    uint8_t bytes[FF_DEVICE_READ_MAX];
    const double now = 0.004 * n;
    const size_t size = datagram(device, n, bytes, sizeof bytes);
    const ff_status status = device->sample(state, now, bytes, size, sample);
    const ff_robot_order order = {.moves = true,
                                  .joints = {.a = {0, -1.5, 1.5, 0, 0.8, 1e-3 * n}},
                                  .torque = (const double[]){3, -1.5, 1e-3 * n}};
    device->answer(state, now, device->kind == FF_DEVICE_SENSOR ? NULL : &order, sent, FF_DEVICE_SEND_MAX,
                   used);
    return status;
}

/* Two that run in turns, one of which moves house between two cycles, do what one alone does. */
static void test_state_is_plain_memory(void **unused) {
    (void)unused;
    const ff_device *device;
    for (size_t d = 0; (device = ff_device_at(d)) != NULL; d++) {
        void *a = opened(device), *b = opened(device);
        for (unsigned n = 0; n < 40; n++) {
            uint8_t sent[2][FF_DEVICE_SEND_MAX];
            size_t used[2];
            ff_device_sample sample[2] = {0};
            const ff_status status = exchange(device, a, n, &sample[0], sent[0], &used[0]);
            assert_int_equal(exchange(device, b, n, &sample[1], sent[1], &used[1]), status);
            assert_int_equal(used[0], used[1]);
            assert_memory_equal(sent[0], sent[1], used[0]);
            assert_memory_equal(&sample[0].arm, &sample[1].arm, sizeof sample[0].arm);
            assert_true(ff_vec3_norm(ff_vec3_sub(sample[0].sensor.f_s.f, sample[1].sensor.f_s.f)) == 0.0 &&
                        ff_vec3_norm(ff_vec3_sub(sample[0].robot.pose.p, sample[1].robot.pose.p)) == 0.0);
            void *moved = malloc(device->bytes);
            assert_non_null(moved);
            memcpy(moved, a, device->bytes);
            memset(a, 0xa5, device->bytes);
            free(a);
            a = moved;
        }
        free(a);
        free(b);
    }
}

/* Lost, repeated and older datagrams, and bytes that are none. */
static void test_hostile_datagrams(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    const ff_device *device;
    for (size_t d = 0; (device = ff_device_at(d)) != NULL; d++) {
        void *state = opened(device);
        ff_device_sample sample = {0};
        ff_device_counters count;
        uint8_t bytes[FF_DEVICE_READ_MAX + 1] = {0}, sent[FF_DEVICE_SEND_MAX];
        size_t used;
        device->answer(state, 0.0, &(ff_robot_order){0}, sent, sizeof sent, &used); /* starts a sensor */
        for (unsigned n = 0; n < 4; n++)                                            /* the fifth is lost */
            assert_int_equal(exchange(device, state, n, &sample, sent, &used), FF_OK);
        assert_int_equal(exchange(device, state, 5, &sample, sent, &used), FF_INFO_GAP);
        assert_int_equal(exchange(device, state, 5, &sample, sent, &used), FF_INFO_STALE);
        assert_int_equal(exchange(device, state, 3, &sample, sent, &used), FF_INFO_STALE);
        device->count(state, &count);
        assert_int_equal(count.received, 5);
        assert_int_equal(count.lost, 1);
        assert_int_equal(count.repeated + count.reordered, 2);
        assert_int_equal(device->sample(state, 0.1, bytes, FF_DEVICE_READ_MAX + 1, &sample) < 0, true);
        uint64_t malformed = 1;
        const ff_device_sample before = sample;
        for (int n = 0; n < 2000; n++) {
            size_t size = datagram(device, 6, bytes, sizeof bytes);
            size = (size_t)(ff_rng_uniform(&rng) * (double)size); /* cut: never whole */
            malformed += device->sample(state, 0.1, bytes, size, &sample) < 0;
        }
        device->count(state, &count);
        assert_int_equal(count.malformed, malformed);
        assert_int_equal(malformed, 2001);
        assert_memory_equal(&before, &sample, sizeof sample);
        assert_int_equal(exchange(device, state, 6, &sample, sent, &used), FF_OK);
        free(state);
    }
}

/* A robot gets one answer a telegram, rounded as it says; a sensor is asked to begin and to be silent. */
static void test_answers(void **unused) {
    (void)unused;
    const ff_device *device;
    for (size_t d = 0; (device = ff_device_at(d)) != NULL; d++) {
        void *state = opened(device);
        ff_device_sample sample = {0};
        uint8_t sent[FF_DEVICE_SEND_MAX];
        size_t used;
        if (device->kind == FF_DEVICE_SENSOR && device->topics) { /* speaks to all, whoever reads it */
            assert_int_equal(device->answer(state, 0.0, NULL, sent, sizeof sent, &used), FF_OK);
            assert_int_equal(used, 0);
            assert_int_equal(device->stop(state, sent, sizeof sent, &used), FF_OK);
            assert_int_equal(used, 0);
        } else if (device->kind == FF_DEVICE_SENSOR) {
            assert_int_equal(device->stop(state, sent, sizeof sent, &used), FF_OK);
            assert_int_equal(used > 0, device->frame != NULL); /* nobody has started it but who greeted it */
            assert_int_equal(device->answer(state, 0.0, NULL, sent, sizeof sent, &used), FF_OK);
            assert_int_equal(used > 0, device->frame == NULL);
            assert_int_equal(device->stop(state, sent, sizeof sent, &used), FF_OK);
            assert_true(used > 0);
        } else {
            assert_int_equal(exchange(device, state, 0, &sample, sent, &used), FF_OK);
            assert_true(used > 0);
            double torque[3] = {0};
            ff_robot_order rounded = {0}, order = {.moves = true, .torque = torque};
            const bool arm = device->kind == FF_DEVICE_ARM;
            device->sent(state, &rounded);
            assert_near(arm ? rounded.torque[1] : rounded.joints.a[1], -1.5, 1e-9);
            assert_true(device->answer(state, 0.0, &order, sent, sizeof sent, &used) < 0);
            assert_int_equal(used, 0); /* a second one is not due */
            order.joints.a[2] = torque[2] = FF_NAN;
            uint8_t bytes[FF_DEVICE_READ_MAX];
            device->sample(state, 0.0, bytes, datagram(device, 1, bytes, sizeof bytes), &sample);
            assert_int_equal(device->answer(state, 0.0, &order, sent, sizeof sent, &used), FF_ERR_NOT_FINITE);
            assert_true(used > 0); /* holds */
            const ff_robot_order held = rounded;
            device->sent(state, &rounded);
            assert_memory_equal(&held.joints, &rounded.joints, sizeof held.joints);
        }
        free(state);
    }
}

/* One value of a configuration, set to what it must not be. */
typedef struct spoil {
    size_t at;
    double number; /* where is_number */
    bool is_number;
    uint64_t bits; /* else: the lowest of them, `bytes` wide */
    size_t bytes;
} spoil;

static void put(void *config, const spoil *s) {
    char *at = (char *)config + s->at;
    memcpy(at, s->is_number ? (const void *)&s->number : (const void *)&s->bits,
           s->is_number ? sizeof s->number : s->bytes);
}

#define NUMBER(type, field, value) \
    { offsetof(type, field), value, true, 0, 0 }
#define WORD(type, field, value) \
    { offsetof(type, field), 0, false, (uint64_t)(value), sizeof(((type *)0)->field) }

/* Each value that a configuration must not have, alone in one that is good. */
static void test_bad_configurations(void **unused) {
    (void)unused;
    const spoil client[] = {
        WORD(ff_rsi_client_config, names.axes[0], 0),
        WORD(ff_rsi_client_config, mode, 9),
        WORD(ff_rsi_client_config, channel, 9),
        WORD(ff_rsi_client_config, decimals, -1),
        WORD(ff_rsi_client_config, decimals, FF_TEXT_DECIMALS_MAX + 1),
        NUMBER(ff_rsi_client_config, max_rotation, 0.0),
        NUMBER(ff_rsi_client_config, max_rotation, 3.2), /* above pi */
        NUMBER(ff_rsi_client_config, most_axis, 0.0),
        NUMBER(ff_rsi_client_config, most_shift, FF_NAN),
        NUMBER(ff_rsi_client_config, clip_translation, 0.0),
        NUMBER(ff_rsi_client_config, clip_rotation, FF_NAN),
        WORD(ff_rsi_client_config, clip_cycles, 0),
        WORD(ff_rsi_client_config, clip_window, 0),
        WORD(ff_rsi_client_config, clip_window, FF_RSI_WINDOW_MAX + 1),
    };
    for (size_t n = 0; n < sizeof client / sizeof *client; n++) {
        ff_rsi_client_config c = ff_rsi_client_config_default();
        assert_int_equal(ff_rsi_client_config_validate(&c), FF_OK);
        put(&c, &client[n]);
        if (ff_rsi_client_config_validate(&c) != FF_ERR_ARGUMENT)
            fail_msg("client %zu was taken", n);
    }
    const spoil controller[] = {
        WORD(ff_rsi_controller_config, names.type[0], 0),
        WORD(ff_rsi_controller_config, mode, 9),
        WORD(ff_rsi_controller_config, decimals, -1),
        WORD(ff_rsi_controller_config, decimals, FF_TEXT_DECIMALS_MAX + 1),
        WORD(ff_rsi_controller_config, ipoc_step, 0),
        WORD(ff_rsi_controller_config, fields, FF_RSI_DELAY), /* neither pose nor axes */
        WORD(ff_rsi_controller_config, fields, 512 | FF_RSI_RIST),
        NUMBER(ff_rsi_controller_config, poscorr_lower_mm[2], 0.1),
        NUMBER(ff_rsi_controller_config, poscorr_upper_mm[0], -0.1),
        NUMBER(ff_rsi_controller_config, poscorr_rotation_deg, FF_NAN),
        NUMBER(ff_rsi_controller_config, axiscorr_lower[11], 0.1),
        NUMBER(ff_rsi_controller_config, axiscorr_upper[5], FF_NAN),
        NUMBER(ff_rsi_controller_config, axiscorrmon[6], -0.1),
        NUMBER(ff_rsi_controller_config, poscorrmon_translation_mm, -0.1),
        NUMBER(ff_rsi_controller_config, poscorrmon_rotation_deg, -0.1),
    };
    for (size_t n = 0; n < sizeof controller / sizeof *controller; n++) {
        ff_rsi_controller_config c = ff_rsi_controller_config_default(FF_RSI_ABSOLUTE);
        assert_int_equal(ff_rsi_controller_config_validate(&c), FF_OK);
        put(&c, &controller[n]);
        if (ff_rsi_controller_config_validate(&c) != FF_ERR_ARGUMENT)
            fail_msg("controller %zu was taken", n);
    }
    const spoil sensor[] = {
        WORD(ff_ati_client_config, start.command, FF_ATI_BIAS),
        WORD(ff_ati_client_config, start.command, FF_ATI_STOP), NUMBER(ff_ati_client_config, retry, 0.0),
        NUMBER(ff_ati_client_config, silence, FF_NAN), WORD(ff_ati_client_config, retries, 0)};
    for (size_t n = 0; n < sizeof sensor / sizeof *sensor; n++) {
        ff_ati_client_config c = ff_ati_client_config_default();
        assert_int_equal(ff_ati_client_config_validate(&c), FF_OK);
        put(&c, &sensor[n]);
        if (ff_ati_client_config_validate(&c) != FF_ERR_ARGUMENT)
            fail_msg("sensor %zu was taken", n);
    }
    const spoil page[] = {
        NUMBER(ff_ati_page, counts_per_force, 0.0), NUMBER(ff_ati_page, counts_per_force, FF_INF),
        NUMBER(ff_ati_page, counts_per_torque, FF_NAN), NUMBER(ff_ati_page, counts_per_torque, FF_INF)};
    for (size_t n = 0; n < sizeof page / sizeof *page; n++) {
        ff_ati_page p = ff_ati_page_default();
        ff_ati_scale scale;
        put(&p, &page[n]);
        assert_int_equal(ff_ati_page_scale(&p, &scale), FF_ERR_ARGUMENT);
    }
}

/* Corrections beyond the controller's limits are refused, whether the settings name them or its telegrams do,
 * and the last answer holds; its names are those of the settings. */
static void test_limits_of_corrections(void **unused) {
    (void)unused;
    const ff_device *device = &ff_device_rsi;
    for (int told = 0; told < 2; told++)
        for (int cartesian = 0; cartesian < 2; cartesian++) {
            ff_device_settings settings = {
                .window = 50, .cartesian = cartesian, .clip_deg = 2.0, .clip_mm = 30.0};
            strcpy(settings.sentype, "Cell");
            strcpy(settings.axes_tag, "AKorr");
            strcpy(settings.cartesian_tag, "Pose");
            if (told)
                settings.clip_deg = settings.clip_mm = FF_INF;
            assert_null(device->refuse(&settings));
            const ff_rsi_rob rob = {.fields =
                                        FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | (told ? FF_RSI_LIM : 0),
                                    .rist = {500.0, 0, 900, 0, 0, 0},
                                    .aipos = {0, -90, 90, 0, 45, 0},
                                    .limit = {2.0, 30.0},
                                    .ipoc = 4};
            char bytes[FF_DEVICE_READ_MAX], sent[FF_DEVICE_SEND_MAX];
            void *state = calloc(1, device->bytes);
            ff_device_sample sample = {0};
            size_t used;
            assert_non_null(state);
            device->open(state, &settings);
            for (int n = 0; n < 6; n++) { /* just inside, just beyond: a turn, a shift */
                ff_rsi_rob next = rob;
                next.ipoc += 4 * (uint64_t)n;
                assert_int_equal(ff_rsi_rob_encode(&next, 6, bytes, sizeof bytes, &used), FF_OK);
                assert_int_equal(device->sample(state, 0.0, bytes, used, &sample), FF_OK);
                assert_near(sample.robot.clip_deg, told ? 2.0 : 0.0, 1e-9);
                assert_near(sample.robot.clip_mm, told ? 30.0 : 0.0, 1e-9);
                const bool beyond = n == 1 || n == 3;
                const double turn = (n < 2 ? n == 1 ? 2.001 : -1.999 : 0.0) * FF_PI / 180.0,
                             shift = n == 2   ? -0.02999
                                     : n == 3 ? 0.03001
                                              : 0.0;
                ff_robot_order order = {
                    .moves = true, .pose = sample.robot.pose, .joints = sample.robot.joints};
                order.pose.q = ff_quat_mul(ff_quat_exp(ff_vec3_make(0.0, turn, 0.0)), order.pose.q);
                order.pose.p.y += shift;
                order.joints.a[3] += n == 3 ? -2.001 * FF_PI / 180.0 : turn;
                assert_int_equal(device->answer(state, 0.0, &order, sent, sizeof sent, &used),
                                 beyond ? FF_ERR_LIMIT : FF_OK);
                assert_true(used > 0 && used < sizeof sent);
                sent[used] = 0;
                assert_non_null(strstr(sent, "<Sen Type=\"Cell\">"));
                assert_non_null(strstr(sent, cartesian ? "<Pose X=" : "<AKorr A1="));
            }
            free(state);
        }
    ff_device_settings bad = {.rail = true, .no_eipos = true};
    assert_non_null(device->refuse(&bad));
    bad = (ff_device_settings){.axes_tag = "EK"};
    assert_non_null(device->refuse(&bad));
    bad = (ff_device_settings){.stop_tag = "1st"};
    assert_non_null(device->refuse(&bad));
}

/* What a robot with Cartesian corrections, or on a rail, says that it was sent is what it was ordered. */
static void test_what_was_sent(void **unused) {
    (void)unused;
    const ff_device *device = ff_device_of(FF_DEVICE_ROBOT, 0);
    for (int rail = 0; rail < 2; rail++) {
        const ff_device_settings settings = {.window = 50, .cartesian = !rail, .rail = rail};
        void *state = calloc(1, device->bytes);
        ff_device_sample sample = {0};
        uint8_t bytes[FF_DEVICE_READ_MAX], sent[FF_DEVICE_SEND_MAX];
        size_t used;
        assert_non_null(state);
        device->open(state, &settings);
        assert_int_equal(device->sample(state, 0.0, bytes, datagram(device, 0, bytes, sizeof bytes), &sample),
                         FF_OK);
        ff_robot_order order = {.moves = true, .pose = sample.robot.pose, .joints = sample.robot.joints},
                       said = {0};
        order.pose.p.x += 0.012;
        order.pose.q = ff_quat_mul(ff_quat_exp(ff_vec3_make(0.01, -0.02, 0.03)), order.pose.q);
        order.joints.a[4] += 0.02;
        order.joints.rail += 0.25;
        assert_int_equal(device->answer(state, 0.0, &order, sent, sizeof sent, &used), FF_OK);
        device->sent(state, &said);
        if (rail) { /* nine decimals of a degree or millimetre, half of the last */
            assert_near(said.joints.rail, order.joints.rail, 0.51e-12);
            for (int a = 0; a < 6; a++)
                assert_near(said.joints.a[a], order.joints.a[a], 0.51e-9 * FF_PI / 180.0);
        } else {
            for (int a = 0; a < 3; a++)
                assert_near(said.pose.p.a[a], order.pose.p.a[a], 0.51e-12);
            assert_near(ff_quat_angle(said.pose.q, order.pose.q), 0.0, 3 * 0.51e-9 * FF_PI / 180.0);
        }
        free(state);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_state_is_plain_memory),
        cmocka_unit_test(test_hostile_datagrams),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_bad_configurations),
        cmocka_unit_test(test_limits_of_corrections),
        cmocka_unit_test(test_what_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
