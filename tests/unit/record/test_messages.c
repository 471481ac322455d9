/* CDR bytes: sizes and layout known from another vendor's DDS, round trips, short buffers. */
#include "record/messages.h"

#include "support.h"

static void test_wrench_layout(void **state) {
    (void)state;
    uint8_t b[128];
    size_t n;
    const ff_wrench w = {{{4, 5, 6}}, {{1, 2, 3}}};
    assert_int_equal(ff_message_wrench(3000000007u, "ft_sensor", w, b, sizeof b, &n), FF_OK);
    /* 4 header + 72: stamp 8, length 4, text 10, padding 2, six doubles 48 */
    assert_int_equal(n, 4 + 72);
    const uint8_t head[] = {0, 1, 0,   0,   3,   0,   0,   0,   7,   0,   0,   0, 10, 0,
                            0, 0, 'f', 't', '_', 's', 'e', 'n', 's', 'o', 'r', 0, 0,  0};
    assert_memory_equal(b, head, sizeof head);
    const double values[6] = {1, 2, 3, 4, 5, 6}; /* force first */
    assert_memory_equal(b + 28, values, sizeof values);
    for (size_t k = 0; k < n; k++) {
        size_t m = 1;
        assert_int_equal(ff_message_wrench(3000000007u, "ft_sensor", w, b, k, &m), FF_ERR_SIZE);
        assert_int_equal(m, 0);
    }
}

static void test_cycle_keeps_every_bit(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    static double values[300], back[300];
    static uint8_t b[4096];
    for (int i = 0; i < test_count(500, 20000); i++) {
        const size_t count = (size_t)(ff_rng_next(&rng) % 300);
        for (size_t k = 0; k < count; k++) {
            const uint64_t bits = ff_rng_next(&rng); /* any pattern: NaN payloads and signed zeros too */
            memcpy(&values[k], &bits, 8);
        }
        const uint64_t t = ff_rng_next(&rng) % (UINT64_C(4000000000) * 1000000000u),
                       cycle = ff_rng_next(&rng);
        size_t n, m;
        assert_int_equal(ff_message_cycle(t, cycle, values, count, b, sizeof b, &n), FF_OK);
        uint64_t t2, cycle2;
        assert_int_equal(ff_message_read_cycle(b, n, &t2, &cycle2, back, 300, &m), FF_OK);
        assert_true(t2 == t && cycle2 == cycle && m == count);
        if (count) {
            assert_memory_equal(back, values, 8 * count);
            assert_int_equal(ff_message_read_cycle(b, n, &t2, &cycle2, back, count - 1, &m), FF_ERR_SIZE);
        }
        for (int k = 0; k < 5; k++) {
            const size_t cut = (size_t)(ff_rng_next(&rng) % n);
            uint8_t *copy = malloc(cut + 1);
            memcpy(copy, b, cut);
            assert_int_equal(ff_message_read_cycle(copy, cut, &t2, &cycle2, back, 300, &m), FF_ERR_FORMAT);
            free(copy);
        }
    }
    b[1] = 0; /* big-endian header */
    uint64_t t2, cycle2;
    size_t m;
    assert_int_equal(ff_message_read_cycle(b, 100, &t2, &cycle2, back, 300, &m), FF_ERR_FORMAT);
}

static void test_state_and_event(void **state) {
    (void)state;
    uint8_t b[256];
    size_t n;
    uint64_t t;
    uint8_t s, level;
    char text[32];
    assert_int_equal(ff_message_state(5, 6, "HOLD", b, sizeof b, &n), FF_OK);
    assert_int_equal(ff_message_read_state(b, n, &t, &s, text, sizeof text), FF_OK);
    assert_true(t == 5 && s == 6);
    assert_string_equal(text, "HOLD");
    assert_int_equal(ff_message_read_state(b, n, &t, &s, text, 4), FF_ERR_SIZE);
    assert_int_equal(ff_message_read_state(b, n - 1, &t, &s, text, sizeof text), FF_ERR_FORMAT);
    int32_t code;
    double value, limit;
    assert_int_equal(ff_message_event(1500000000, -9, 2, "pose box", 1.25, -0.5, b, sizeof b, &n), FF_OK);
    assert_int_equal(ff_message_read_event(b, n, &t, &code, &level, text, sizeof text, &value, &limit),
                     FF_OK);
    assert_true(t == 1500000000 && code == -9 && level == 2);
    assert_near(value, 1.25, 0);
    assert_near(limit, -0.5, 0);
    assert_string_equal(text, "pose box");
    assert_int_equal(ff_message_read_event(b, n, &t, &code, &level, text, 8, &value, &limit), FF_ERR_SIZE);
    assert_int_equal(ff_message_read_event(b, n - 1, &t, &code, &level, text, 32, &value, &limit),
                     FF_ERR_FORMAT);
}

/* ros2/freefloat_msgs is what is written, word for word; FF_UPDATE=1 writes it anew. */
static void test_the_package_has_our_messages(void **state) {
    (void)state;
    static const ff_message_kind kinds[] = {FF_MESSAGE_ENERGY, FF_MESSAGE_TIMING, FF_MESSAGE_STATE,
                                            FF_MESSAGE_EVENT, FF_MESSAGE_CLOCK};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *text = ff_message_schema(kinds[i]), *end = strstr(text, "====");
        char path[256], have[2048] = "", want[2048];
        snprintf(want, sizeof want, "%.*s", (int)(end - text), text);
        snprintf(path, sizeof path, FF_SOURCE_DIR "/ros2/freefloat_msgs/msg/%s.msg",
                 strrchr(ff_message_type(kinds[i]), '/') + 1);
        FILE *file = fopen(path, getenv("FF_UPDATE") ? "w+" : "r");
        assert_non_null(file);
        if (getenv("FF_UPDATE")) {
            fputs(want, file);
            rewind(file);
        }
        assert_true(fread(have, 1, sizeof have - 1, file) > 0);
        fclose(file);
        assert_string_equal(have, want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrench_layout), cmocka_unit_test(test_cycle_keeps_every_bit),
        cmocka_unit_test(test_state_and_event), cmocka_unit_test(test_the_package_has_our_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
