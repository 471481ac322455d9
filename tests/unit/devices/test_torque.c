/* The protocol of an arm that is commanded by joint torques: its bytes against bytes written down by hand,
 * and both sides of it against each other through a wire that loses, repeats and reorders. */
#include "devices/torque/torque.h"

#include "support.h"

#include <stdlib.h>

static const ff_torque_telegram telegram = {.joints = 2,
                                            .state = FF_TORQUE_COMMANDING,
                                            .flags = FF_TORQUE_CLOSED | FF_TORQUE_LOCKSTEP,
                                            .session = 0x01020304,
                                            .sequence = 5,
                                            .echo = 4,
                                            .run = 77,
                                            .late = 1,
                                            .time = 1.0,
                                            .cycle = 0.5,
                                            .arrives = 2.0,
                                            .wrench = {1, 2, 3, 4, 5, 6},
                                            .q = {-2, 0.5},
                                            .qd = {1, -1},
                                            .torque = {8, 16},
                                            .external = {32, 64}};

/* Bit by bit, as the polynomial says. */
static uint16_t crc16(const uint8_t *bytes, size_t size) {
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= (uint16_t)(bytes[i] << 8);
        for (int b = 0; b < 8; b++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

static void reseal(uint8_t *bytes, size_t size) {
    const uint16_t crc = crc16(bytes, size - 2);
    bytes[size - 2] = (uint8_t)crc;
    bytes[size - 1] = (uint8_t)(crc >> 8);
}

/* The table of docs/protocols.md, place by place. */
static void test_bytes(void **unused) {
    (void)unused;
    uint8_t bytes[FF_TORQUE_TELEGRAM_MAX];
    size_t used;
    assert_int_equal(ff_torque_telegram_encode(&telegram, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 106 + 2 * 32);
    const uint8_t head[] = {'F',  'F',  'J', 'T', 170, 0, 1, 2, 2, 0, 5,    0,   0x04, 0x03,
                            0x02, 0x01, 5,   0,   0,   0, 4, 0, 0, 0, 77,   0,   0,    0,
                            1,    0,    0,   0,   0,   0, 0, 0, 0, 0, 0xf0, 0x3f}; /* time: 1.0 */
    assert_memory_equal(bytes, head, sizeof head);
    const uint8_t half[] = {0, 0, 0, 0, 0, 0, 0xe0, 0x3f}, minus_two[] = {0, 0, 0, 0, 0, 0, 0, 0xc0},
                  sixty_four[] = {0, 0, 0, 0, 0, 0, 0x50, 0x40};
    assert_memory_equal(bytes + 40, half, 8);
    assert_memory_equal(bytes + 104, minus_two, 8);
    assert_memory_equal(bytes + 112, half, 8);
    assert_memory_equal(bytes + 160, sixty_four, 8);
    assert_int_equal(bytes[used - 2] | bytes[used - 1] << 8, crc16(bytes, used - 2));
    ff_torque_telegram back;
    assert_int_equal(ff_torque_telegram_decode(bytes, used, &back), FF_OK);
    assert_memory_equal(&back, &telegram, sizeof back);

    const ff_torque_command command = {.joints = 1,
                                       .mode = FF_TORQUE_TORQUE,
                                       .grips = true,
                                       .session = 3,
                                       .sequence = 0x0a0b0c0d,
                                       .run = 2,
                                       .torque = {0.5},
                                       .q = {-2}};
    assert_int_equal(ff_torque_command_encode(&command, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 26 + 16);
    const uint8_t whole[] = {'F', 'F', 'J',  'C',  42,   0,    1, 1, 1, 1, 0, 0,   3, 0,
                             0,   0,   0x0d, 0x0c, 0x0b, 0x0a, 2, 0, 0, 0, 0, 0,   0, 0,
                             0,   0,   0xe0, 0x3f, 0,    0,    0, 0, 0, 0, 0, 0xc0};
    assert_memory_equal(bytes, whole, sizeof whole);
    ff_torque_command again;
    assert_int_equal(ff_torque_command_decode(bytes, used, &again), FF_OK);
    assert_memory_equal(&again, &command, sizeof again);
}

/* Any one bit, any length but its own, and numbers that are none. */
static void test_refused(void **unused) {
    (void)unused;
    uint8_t bytes[FF_TORQUE_TELEGRAM_MAX];
    size_t used, other;
    ff_torque_telegram back, t = telegram;
    assert_int_equal(ff_torque_telegram_encode(&t, bytes, sizeof bytes, &used), FF_OK);
    for (size_t bit = 0; bit < 8 * used; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const ff_status status = ff_torque_telegram_decode(bytes, used, &back);
        assert_true(status == FF_ERR_FORMAT || status == FF_ERR_SIZE); /* nothing is believed of it */
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t size = 0; size < used; size++)
        assert_true(ff_torque_telegram_decode(bytes, size, &back) < 0);
    assert_int_equal(ff_torque_telegram_decode(bytes, used + 1, &back), FF_ERR_SIZE);
    bytes[6] = 2;
    reseal(bytes, used);
    assert_int_equal(ff_torque_telegram_decode(bytes, used, &back), FF_ERR_UNSUPPORTED);
    assert_int_equal(ff_torque_telegram_encode(&t, bytes, used - 1, &other), FF_ERR_SIZE);
    t.qd[1] = FF_NAN;
    assert_int_equal(ff_torque_telegram_encode(&t, bytes, sizeof bytes, &other), FF_ERR_ARGUMENT);
    t = telegram;
    t.joints = 0;
    assert_int_equal(ff_torque_telegram_encode(&t, bytes, sizeof bytes, &other), FF_ERR_ARGUMENT);
    t = telegram;
    t.session = 0;
    assert_int_equal(ff_torque_telegram_encode(&t, bytes, sizeof bytes, &other), FF_ERR_ARGUMENT);
    assert_string_equal(ff_torque_fault_text(FF_TORQUE_FAULT_SILENT), "no command in time");
    assert_string_equal(ff_torque_fault_text(99), "unknown");
}

/* Not a number in a command whose CRC is right: what a broken client would send. */
static void test_not_finite(void **unused) {
    (void)unused;
    uint8_t bytes[FF_TORQUE_COMMAND_MAX];
    size_t used;
    ff_torque_command c = {.joints = 1, .session = 1, .run = 1, .torque = {1.0}}, back;
    for (unsigned high = 0xf0; high <= 0xf8; high += 8) {
        assert_int_equal(ff_torque_command_encode(&c, bytes, sizeof bytes, &used), FF_OK);
        bytes[30] = (uint8_t)high; /* infinity, then not a number */
        bytes[31] = 0x7f;
        reseal(bytes, used);
        assert_int_equal(ff_torque_command_decode(bytes, used, &back), FF_ERR_NOT_FINITE);
    }
}

/* Both sides. */
typedef struct couple {
    ff_torque_arm_config config;
    ff_torque_arm arm;
    void *client;
    ff_device_sample sample;
    ff_torque_measured measured;
    ff_torque_action action;
    uint8_t sent[FF_TORQUE_TELEGRAM_MAX], reply[FF_DEVICE_SEND_MAX];
    size_t sent_size, reply_size;
} couple;

static void open_couple(couple *c) {
    *c = (couple){.config = ff_torque_arm_default()};
    c->config.limits.joints = 2;
    for (int i = 0; i < 2; i++) {
        c->config.limits.torque[i] = 10;
        c->config.limits.speed[i] = 2;
        c->config.limits.lower[i] = -1;
        c->config.limits.upper[i] = 1;
    }
    assert_int_equal(ff_torque_arm_validate(&c->config), FF_OK);
    ff_torque_arm_reset(&c->arm, 1);
    c->client = calloc(1, ff_device_torque.bytes);
    assert_non_null(c->client);
    ff_device_torque.open(c->client,
                          &(ff_device_settings){.run = 5, .cycle = 0.001, .limits = &c->config.limits});
}

static ff_status hear(couple *c) {
    assert_int_equal(
        ff_torque_arm_send(&c->config, &c->arm, &c->measured, c->sent, sizeof c->sent, &c->sent_size), FF_OK);
    return ff_device_torque.sample(c->client, 0.0, c->sent, c->sent_size, &c->sample);
}

static ff_status say(couple *c, const double *torque, bool stop) {
    const ff_robot_order order = {.moves = torque != NULL, .torque = torque, .stop = stop, .grips = true};
    return ff_device_torque.answer(c->client, 0.0, &order, c->reply, sizeof c->reply, &c->reply_size);
}

static void finish(couple *c, bool arrives) {
    if (arrives)
        assert_int_equal(ff_torque_arm_receive(&c->config, &c->arm, c->reply, c->reply_size), FF_OK);
    ff_torque_arm_finish(&c->config, &c->arm, &c->action);
}

/* One whole cycle; torque NULL: brakes. */
static ff_status turn(couple *c, const double *torque) {
    hear(c);
    const ff_status status = say(c, torque, false);
    finish(c, true);
    return status;
}

/* Nobody begins with a torque; a lost command repeats the last one, three times, then the brakes fall in for
 * good. */
static void test_states(void **unused) {
    (void)unused;
    couple c;
    const double torque[2] = {4, -3};
    open_couple(&c);
    turn(&c, torque); /* early: it holds */
    assert_true(c.action.brakes && c.arm.count.early == 1 && c.arm.state == FF_TORQUE_MONITORING);
    assert_true(c.action.grips);
    assert_true(c.sample.arm.state == FF_TORQUE_IDLE && !c.sample.arm.commands);
    turn(&c, NULL);
    assert_true(c.action.brakes && c.sample.arm.taken);
    turn(&c, torque);
    assert_true(!c.action.brakes && c.action.torque[0] == 4 && c.action.torque[1] == -3);
    for (unsigned n = 1; n <= c.config.silent + 1; n++) { /* commands that are lost */
        hear(&c);
        assert_int_equal(c.sample.arm.taken, n == 1);
        assert_true(c.sample.arm.commands);
        say(&c, torque, false);
        finish(&c, false);
        assert_int_equal(c.action.brakes, n > c.config.silent);
        assert_true(c.action.torque[0] == (n > c.config.silent ? 0.0 : 4.0));
    }
    turn(&c, torque);
    assert_true(c.action.brakes && c.sample.arm.fault == FF_TORQUE_FAULT_SILENT);
    ff_device_counters count;
    ff_device_torque.count(c.client, &count);
    assert_int_equal(count.late, c.config.silent + 1);
    free(c.client);
    /* an end in order, and a client that waits: neither is a fault */
    open_couple(&c);
    turn(&c, NULL);
    turn(&c, torque);
    hear(&c);
    say(&c, torque, true);
    finish(&c, true);
    assert_true(c.action.brakes && c.arm.state == FF_TORQUE_IDLE && c.arm.run == 0);
    turn(&c, NULL);
    for (int n = 0; n < 5; n++) {
        hear(&c);
        finish(&c, false);
    }
    assert_true(c.arm.state == FF_TORQUE_IDLE && c.arm.fault == FF_TORQUE_FAULT_NONE);
    free(c.client);
}

/* Commands that are none of the open telegram's, of a second client, or computed on other joints. */
static void test_strange(void **unused) {
    (void)unused;
    couple c;
    const double torque[2] = {1, 1};
    open_couple(&c);
    turn(&c, NULL);
    turn(&c, torque);
    uint8_t old[FF_DEVICE_SEND_MAX];
    const size_t size = c.reply_size;
    memcpy(old, c.reply, size);
    hear(&c);
    assert_int_equal(ff_torque_arm_receive(&c.config, &c.arm, old, size), FF_INFO_STALE);
    ff_torque_command other;
    say(&c, torque, false);
    assert_int_equal(ff_torque_command_decode(c.reply, c.reply_size, &other), FF_OK);
    const ff_torque_command right = other;
    uint8_t bytes[FF_DEVICE_SEND_MAX];
    size_t used;
    for (int n = 0; n < 4; n++) {
        other = right;
        other.run += n == 0;
        other.session += n == 1;
        other.q[1] += n == 2 ? 0.11 : 0.0;
        other.joints += n == 3;
        assert_int_equal(ff_torque_command_encode(&other, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(ff_torque_arm_receive(&c.config, &c.arm, bytes, used),
                         n == 3 ? FF_ERR_SIZE : FF_ERR_DEVICE);
    }
    assert_int_equal(c.arm.count.strange, 3);
    assert_int_equal(ff_torque_arm_receive(&c.config, &c.arm, c.reply, c.reply_size), FF_OK);
    assert_int_equal(ff_torque_arm_receive(&c.config, &c.arm, c.reply, c.reply_size), FF_INFO_STALE);
    ff_torque_arm_finish(&c.config, &c.arm, &c.action);
    assert_true(!c.action.brakes);
    /* the arm begins again: it is not answered any more */
    ff_torque_arm_reset(&c.arm, 2);
    assert_int_equal(hear(&c), FF_ERR_DEVICE);
    assert_true(say(&c, torque, false) < 0 && c.reply_size == 0);
    free(c.client);
    /* before the first torque it is met anew */
    open_couple(&c);
    turn(&c, NULL);
    ff_torque_arm_reset(&c.arm, 2);
    assert_int_equal(hear(&c), FF_OK);
    free(c.client);
}

/* Whatever is ordered, no more than the motors' torque leaves, and nothing once a joint is beyond its limits.
 */
static void test_limits(void **unused) {
    (void)unused;
    couple c;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    open_couple(&c);
    turn(&c, NULL);
    for (int n = 0; n < 200; n++) {
        const double torque[2] = {40 * ff_rng_uniform(&rng) - 20, 1e300 * (ff_rng_uniform(&rng) - 0.5)};
        const ff_status status = turn(&c, torque);
        assert_int_equal(status, FF_INFO_LIMITED);
        ff_torque_command sent;
        assert_int_equal(ff_torque_command_decode(c.reply, c.reply_size, &sent), FF_OK);
        for (int i = 0; i < 2; i++)
            assert_true(fabs(sent.torque[i]) <= 10 && fabs(c.action.torque[i]) <= 10);
    }
    /* a command from elsewhere is clipped by the arm itself, which says so */
    ff_torque_command strong;
    hear(&c);
    say(&c, (const double[]){1, 1}, false);
    assert_int_equal(ff_torque_command_decode(c.reply, c.reply_size, &strong), FF_OK);
    strong.torque[0] = -1e6;
    assert_int_equal(ff_torque_command_encode(&strong, c.reply, sizeof c.reply, &c.reply_size), FF_OK);
    finish(&c, true);
    assert_true(c.action.torque[0] == -10);
    hear(&c);
    assert_true(c.sample.arm.clipped);
    assert_int_equal(say(&c, (const double[]){FF_NAN, 1}, false), FF_ERR_NOT_FINITE);
    finish(&c, true);
    assert_true(c.action.brakes);
    free(c.client);
    for (int n = 0; n < 4; n++) { /* position and speed, both ends */
        open_couple(&c);
        turn(&c, NULL);
        turn(&c, (const double[]){1, 1});
        if (n < 2)
            c.measured.q[n] = n ? -1.001 : 1.001;
        else
            c.measured.qd[n - 2] = n == 3 ? -2.001 : 2.001;
        assert_int_equal(turn(&c, (const double[]){1, 1}), FF_ERR_LIMIT);
        assert_true(c.action.brakes);
        assert_int_equal(c.sample.arm.fault, n < 2 ? FF_TORQUE_FAULT_POSITION : FF_TORQUE_FAULT_SPEED);
        free(c.client);
    }
    ff_torque_arm_config bad = c.config;
    bad.limits.torque[0] = 0;
    assert_int_equal(ff_torque_arm_validate(&bad), FF_ERR_ARGUMENT);
    bad = c.config;
    bad.cycle = FF_NAN;
    assert_int_equal(ff_torque_arm_validate(&bad), FF_ERR_ARGUMENT);
}

/* A wire that loses, repeats and reorders both ways: the counters of both sides add up, and what acts is what
 * was ordered on the telegram it answers, or the one before. */
static void test_wire(void **unused) {
    (void)unused;
    couple c;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    open_couple(&c);
    c.config.silent = 1000;
    turn(&c, NULL);
    turn(&c, (const double[]){0, 0});
    uint8_t before[FF_TORQUE_TELEGRAM_MAX], late[FF_DEVICE_SEND_MAX];
    size_t before_size = 0, late_size = 0;
    uint64_t lost = 0, repeated = 0, reordered = 0, dropped = 0, stale = 0;
    double last = 0.0;
    bool missing = false;
    for (int n = 0; n < 2000; n++) {
        const double luck = ff_rng_uniform(&rng);
        assert_int_equal(
            ff_torque_arm_send(&c.config, &c.arm, &c.measured, c.sent, sizeof c.sent, &c.sent_size), FF_OK);
        const bool arrives = luck > 0.1;
        bool acts = false;
        if (arrives) {
            assert_int_equal(ff_device_torque.sample(c.client, 0.0, c.sent, c.sent_size, &c.sample),
                             missing ? FF_INFO_GAP : FF_OK);
            missing = false;
            if (luck < 0.2) {
                assert_int_equal(ff_device_torque.sample(c.client, 0.0, c.sent, c.sent_size, &c.sample),
                                 FF_INFO_STALE);
                repeated++;
            } else if (luck < 0.3 && before_size) {
                assert_int_equal(ff_device_torque.sample(c.client, 0.0, before, before_size, &c.sample),
                                 FF_INFO_STALE);
                reordered++;
            }
            memcpy(before, c.sent, c.sent_size);
            before_size = c.sent_size;
            const double torque[2] = {0.001 * n, 1};
            assert_int_equal(say(&c, torque, false), FF_OK);
            if (luck > 0.4) {
                assert_int_equal(ff_torque_arm_receive(&c.config, &c.arm, c.reply, c.reply_size), FF_OK);
                acts = true;
            } else {
                dropped++;
                memcpy(late, c.reply, c.reply_size);
                late_size = c.reply_size;
            }
        } else {
            lost++;
            missing = true;
            before_size = 0; /* the one that is newest is not older than the newest */
        }
        if (acts && late_size) { /* comes behind a newer one */
            assert_int_equal(ff_torque_arm_receive(&c.config, &c.arm, late, late_size), FF_INFO_STALE);
            late_size = 0;
            stale++;
        }
        ff_torque_arm_finish(&c.config, &c.arm, &c.action);
        last = acts ? 0.001 * n : last;
        assert_true(!c.action.brakes && c.action.torque[0] == last);
    }
    ff_device_counters count;
    ff_device_torque.count(c.client, &count);
    assert_int_equal(count.lost, lost - missing);
    assert_int_equal(count.repeated + count.reordered, repeated + reordered);
    assert_int_equal(c.arm.count.stale, stale);
    assert_int_equal(c.arm.count.late, lost + dropped);
    assert_int_equal(c.arm.count.taken, 2002 - lost - dropped);
    free(c.client);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),  cmocka_unit_test(test_refused), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_states), cmocka_unit_test(test_strange), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_wire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
