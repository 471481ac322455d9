/* A sensor that the scenario describes: bytes against Python's struct module, every way of writing a number,
 * policies of its client. */
#include "devices/udp/udp.h"

#include "support.h"

static ff_device_settings usual(void) {
    return (ff_device_settings){.size = 36,
                                .number = FF_UDP_INT32,
                                .force_at = {{12, 16, 20}},
                                .torque_at = {{24, 28, 32}},
                                .force_scale = 1.0,
                                .torque_scale = 1.0,
                                .force_unit = "N",
                                .torque_unit = "Nm",
                                .counter = FF_INF,
                                .counter_bytes = 4,
                                .status = FF_INF,
                                .status_bytes = 4,
                                .mark = "absent",
                                .request = "absent",
                                .farewell = "absent",
                                .listen = 7};
}

/* Bytes as Python's struct.pack gives them: "<H2xhhhhhhI" and ">2sdddddd". */
static void test_bytes(void **unused) {
    (void)unused;
    ff_device_settings s = usual();
    ff_udp_layout layout;
    ff_udp_record record;
    s.size = 20;
    s.number = FF_UDP_INT16;
    s.little = true;
    s.force_at = ff_vec3_make(4, 6, 8);
    s.torque_at = ff_vec3_make(10, 12, 14);
    s.counter = 0;
    s.counter_bytes = 2;
    s.status = 16;
    s.force_scale = 0.5;
    strcpy(s.force_unit, "lbf");
    strcpy(s.torque_unit, "N-mm");
    const uint8_t small[] = {0x39, 0x30, 0, 0, 0xff, 0x7f, 0x00, 0x80, 1, 0,
                             0xff, 0xff, 2, 0, 0xfe, 0xff, 4,    3,    2, 1};
    assert_null(ff_udp_layout_of(&s, &layout));
    assert_near(layout.scale[0], 0.5 * 0.45359237 * 9.80665, 1e-15);
    assert_near(layout.scale[1], 1e-3, 1e-18);
    assert_int_equal(ff_udp_decode(&layout, small, sizeof small, &record), FF_OK);
    const double expected[] = {32767, -32768, 1, -1, 2, -2};
    for (int n = 0; n < 6; n++)
        assert_near(record.value[n], expected[n], 0.0);
    assert_int_equal(record.counter, 12345);
    assert_int_equal(record.status, 0x01020304);
    s = usual();
    s.size = 50;
    s.number = FF_UDP_FLOAT64;
    s.force_at = ff_vec3_make(2, 10, 18);
    s.torque_at = ff_vec3_make(26, 34, 42);
    strcpy(s.mark, "4654");
    uint8_t large[50] = {'F', 'T', 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xc0, 0x00};
    assert_null(ff_udp_layout_of(&s, &layout));
    assert_int_equal(ff_udp_decode(&layout, large, sizeof large, &record), FF_OK);
    assert_true(record.value[0] == 1.5 && record.value[1] == -2.0 && record.value[2] == 0.0);
    large[2] = 0x7f; /* not a number */
    assert_int_equal(ff_udp_decode(&layout, large, sizeof large, &record), FF_ERR_NOT_FINITE);
    large[2] = 0x3f;
    large[1] = 't';
    assert_int_equal(ff_udp_decode(&layout, large, sizeof large, &record), FF_ERR_FORMAT);
    assert_int_equal(ff_udp_decode(&layout, large, 49, &record), FF_ERR_FORMAT);
    assert_true(record.value[0] == 1.5); /* left alone */
}

/* What is encoded is decoded, in every order, width and place; what does not fit is said. */
static void test_round_trip(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    static const size_t width[] = {2, 4, 4, 8};
    for (int n = 0; n < 2000; n++) {
        ff_device_settings s = usual();
        s.number = n % 4;
        s.little = n / 4 % 2;
        const double w = (double)width[s.number], from = floor(40.0 * ff_rng_uniform(&rng));
        for (int a = 0; a < 3; a++) {
            s.force_at.a[a] = from + w * a;
            s.torque_at.a[2 - a] = from + w * (a + 3);
        }
        s.counter_bytes = n % 3 == 2 ? 4u : (unsigned)n % 3u + 1u;
        s.counter = from + 6 * w;
        s.status = s.counter + 4;
        s.status_bytes = 1;
        s.size = (uint64_t)s.status + 1;
        ff_udp_layout layout;
        ff_udp_record in = {0}, out;
        uint8_t bytes[FF_UDP_SIZE_MAX];
        assert_null(ff_udp_layout_of(&s, &layout));
        for (int a = 0; a < 6; a++) {
            in.value[a] = 30000.0 * (2.0 * ff_rng_uniform(&rng) - 1.0);
            in.value[a] = s.number < 2    ? rint(in.value[a]) + 0.0 /* an integer has no -0 */
                          : s.number == 2 ? (double)(float)in.value[a]
                                          : in.value[a];
        }
        in.counter = n % 3 == 0 ? (uint32_t)n & 255 : (uint32_t)n;
        in.status = (uint32_t)n & 255;
        assert_int_equal(ff_udp_encode(&layout, &in, bytes), FF_OK);
        assert_int_equal(ff_udp_decode(&layout, bytes, layout.size, &out), FF_OK);
        assert_memory_equal(in.value, out.value, sizeof in.value);
        assert_int_equal(in.counter, out.counter);
        assert_int_equal(in.status, out.status);
        in.value[3] = 4e9;
        assert_int_equal(ff_udp_encode(&layout, &in, bytes), s.number < 2 ? FF_INFO_SATURATED : FF_OK);
    }
}

/* Each thing that describes no record, with a sentence that says what is allowed. */
static void test_bad_layouts(void **unused) {
    (void)unused;
    ff_udp_layout layout;
    for (int n = 0; n < 14; n++) {
        ff_device_settings s = usual();
        assert_null(ff_udp_layout_of(&s, &layout));
        if (n == 0)
            s.size = 0;
        if (n == 1)
            s.size = 1025;
        if (n == 2)
            strcpy(s.force_unit, "stone");
        if (n == 3)
            strcpy(s.torque_unit, "N"); /* a force */
        if (n == 4)
            s.torque_at.z = 33;
        if (n == 5)
            s.force_at.x = 12.5;
        if (n == 6)
            s.force_at.x = -1;
        if (n == 7)
            s.force_at.y = 13; /* into Fx */
        if (n == 8)
            s.counter = 33;
        if (n == 9)
            s.counter = 0, s.counter_bytes = 3;
        if (n == 10)
            s.status = 36;
        if (n == 11)
            strcpy(s.request, "0x12");
        if (n == 12)
            strcpy(s.mark, "123");
        if (n == 13)
            s.listen = 0;
        const char *why = ff_udp_layout_of(&s, &layout);
        if (!why || !strstr(why, "allowed: "))
            fail_msg("layout %d was taken", n);
    }
}

/* It is asked until it speaks, again after a silence, and given up; a status is a fault; a counter that began
 * anew is followed. */
static void test_client(void **unused) {
    (void)unused;
    const ff_device *device = &ff_device_udp;
    ff_device_settings s = usual();
    ff_udp_layout layout;
    strcpy(s.request, "beef");
    strcpy(s.farewell, "00");
    s.counter = 0;
    s.status = 4;
    void *state = calloc(1, device->bytes);
    uint8_t bytes[FF_DEVICE_SEND_MAX];
    size_t used;
    ff_device_sample sample;
    ff_device_counters counters;
    assert_non_null(state);
    assert_null(ff_udp_layout_of(&s, &layout));
    device->open(state, &s);
    int asked = 0;
    double t = 0.0;
    ff_status status = FF_OK;
    for (; status == FF_OK && t < 10.0; t += 0.004) {
        status = device->answer(state, t, NULL, bytes, sizeof bytes, &used);
        asked += used > 0;
        assert_true(used == 0 || (used == 2 && bytes[0] == 0xbe && bytes[1] == 0xef));
    }
    assert_int_equal(status, FF_ERR_DEVICE);
    assert_int_equal(asked, 21); /* the first and 20 more */
    assert_true(t > 2.0 && t < 2.4);
    ff_udp_record record = {.value = {1, 2, 3, 4, 5, 6}, .counter = 5000};
    for (int n = 0; n < 4; n++) { /* speaks, sick, behind by one, anew */
        record.counter = n < 2 ? 5000 + (uint32_t)n : n == 2 ? 5000 : 1;
        record.status = n == 1 ? 8 : 0;
        uint8_t datagram[FF_UDP_SIZE_MAX];
        ff_udp_encode(&layout, &record, datagram);
        assert_int_equal(device->sample(state, t, datagram, layout.size, &sample),
                         n == 2 ? FF_INFO_STALE : FF_OK);
        assert_int_equal(sample.sensor.health, n == 1 || n == 2 ? FF_ERR_DEVICE : FF_OK);
    }
    device->count(state, &counters);
    assert_true(counters.received == 3 && counters.reordered == 1 && counters.restarts == 1 &&
                counters.lost == 0);
    assert_int_equal(sample.sensor.repeats, 2);
    assert_int_equal(device->stop(state, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 1);
    free(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bad_layouts),
        cmocka_unit_test(test_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
