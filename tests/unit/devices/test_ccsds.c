/* Space packets: the published vectors, round trips, damaged packets. */
#include "devices/ccsds/ccsds.h"

#include "support.h"

static void test_cfs_no_op_golden(void **state) {
    (void)state;
    const uint8_t golden[] = {0x18, 0x06, 0xc0, 0x00, 0x00, 0x01, 0x00, 0x20};
    uint8_t bytes[64];
    size_t used;
    const ff_ccsds_cfs_command no_op = {.apid = 6};
    assert_int_equal(ff_ccsds_cfs_command_encode(&no_op, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 8);
    assert_memory_equal(bytes, golden, 8);
    ff_ccsds_cfs_command got;
    assert_int_equal(ff_ccsds_cfs_command_decode(golden, 8, &got), FF_OK);
    assert_true(got.apid == 6 && got.function == 0 && got.payload_size == 0);
}

static void test_pus_golden(void **state) {
    (void)state;
    const uint8_t ping[] = {0x18, 0x01, 0xc0, 0x00, 0x00, 0x06, 0x2f, 0x11, 0x01, 0x00, 0x00, 0x16, 0x1d};
    const uint8_t reply[] = {0x08, 0x01, 0xc0, 0x00, 0x00, 0x08, 0x20, 0x11,
                             0x02, 0x00, 0x00, 0x00, 0x00, 0x86, 0xd7};
    uint8_t bytes[64];
    size_t used;
    const ff_ccsds_pus_command tc = {.apid = 1, .ack = 15, .service = 17, .subtype = 1};
    assert_int_equal(ff_ccsds_pus_command_encode(&tc, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, sizeof ping);
    assert_memory_equal(bytes, ping, sizeof ping);
    const ff_ccsds_pus_telemetry tm = {.apid = 1, .service = 17, .subtype = 2};
    assert_int_equal(ff_ccsds_pus_telemetry_encode(&tm, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, sizeof reply);
    assert_memory_equal(bytes, reply, sizeof reply);
    ff_ccsds_pus_command c;
    ff_ccsds_pus_telemetry t;
    assert_int_equal(ff_ccsds_pus_command_decode(ping, sizeof ping, &c), FF_OK);
    assert_true(c.ack == 15 && c.service == 17 && c.subtype == 1 && c.payload_size == 0);
    assert_int_equal(ff_ccsds_pus_telemetry_decode(reply, sizeof reply, &t), FF_OK);
    assert_true(t.service == 17 && t.subtype == 2 && t.payload_size == 0);
    assert_int_equal(ff_ccsds_pus_command_decode(reply, sizeof reply, &c), FF_ERR_FORMAT);
    assert_int_equal(ff_ccsds_crc16((const uint8_t *)"123456789", 9),
                     0x29b1); /* the catalogue's check value */
}

static void test_round_trips_and_damage(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    static uint8_t payload[1024], bytes[2048];
    size_t used;
    for (int i = 0; i < test_count(3000, 100000); i++) {
        const size_t n = (size_t)(ff_rng_next(&rng) % sizeof payload);
        for (size_t k = 0; k < n; k++)
            payload[k] = (uint8_t)ff_rng_next(&rng);
        const uint16_t apid = (uint16_t)(ff_rng_next(&rng) & 0x7ff),
                       count = (uint16_t)(ff_rng_next(&rng) & 0x3fff);
        const size_t bit = (size_t)ff_rng_next(&rng);
        ff_ccsds_cfs_command cc = {apid, count, (uint8_t)(ff_rng_next(&rng) & 0x7f), payload, n}, cc2;
        assert_int_equal(ff_ccsds_cfs_command_encode(&cc, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(ff_ccsds_cfs_command_decode(bytes, used, &cc2), FF_OK);
        assert_true(cc2.apid == apid && cc2.count == count && cc2.function == cc.function &&
                    cc2.payload_size == n);
        assert_memory_equal(cc2.payload, payload, n);
        bytes[bit / 8 % used] ^=
            (uint8_t)(1u << bit % 8); /* any single bit: the checksum or the header tells */
        assert_true(ff_ccsds_cfs_command_decode(bytes, used, &cc2) < 0);
        ff_ccsds_cfs_telemetry ct = {apid,    count, (uint32_t)ff_rng_next(&rng), (uint16_t)ff_rng_next(&rng),
                                     payload, n},
                               ct2;
        assert_int_equal(ff_ccsds_cfs_telemetry_encode(&ct, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(ff_ccsds_cfs_telemetry_decode(bytes, used, &ct2), FF_OK);
        assert_true(ct2.seconds == ct.seconds && ct2.subseconds == ct.subseconds && ct2.apid == apid);
        assert_memory_equal(ct2.payload, payload, n);
        ff_ccsds_pus_command pc = {apid, count, (uint8_t)(bit & 15), 3, 25, (uint16_t)bit, payload, n}, pc2;
        assert_int_equal(ff_ccsds_pus_command_encode(&pc, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(ff_ccsds_pus_command_decode(bytes, used, &pc2), FF_OK);
        assert_true(pc2.source == pc.source && pc2.ack == pc.ack && pc2.payload_size == n);
        bytes[bit / 8 % used] ^= (uint8_t)(1u << bit % 8);
        assert_true(ff_ccsds_pus_command_decode(bytes, used, &pc2) < 0);
        ff_ccsds_pus_telemetry pt = {apid, count, (uint8_t)(bit & 15), 3, 25, (uint16_t)bit, 9, payload, n},
                               pt2;
        assert_int_equal(ff_ccsds_pus_telemetry_encode(&pt, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(ff_ccsds_pus_telemetry_decode(bytes, used, &pt2), FF_OK);
        assert_true(pt2.type_count == pt.type_count && pt2.destination == 9 &&
                    pt2.time_status == pt.time_status);
        assert_memory_equal(pt2.payload, payload, n);
    }
}

static void test_refuses(void **state) {
    (void)state;
    uint8_t bytes[64];
    size_t used;
    ff_ccsds_primary p = {.segmentation = 3, .size = 7};
    assert_int_equal(ff_ccsds_primary_encode(&p, bytes, 5), FF_ERR_SIZE);
    assert_int_equal(ff_ccsds_primary_encode(&p, bytes, 6), FF_OK);
    p.apid = 0x800;
    assert_int_equal(ff_ccsds_primary_encode(&p, bytes, 6), FF_ERR_ARGUMENT);
    p = (ff_ccsds_primary){.size = 6};
    assert_int_equal(ff_ccsds_primary_encode(&p, bytes, 6), FF_ERR_ARGUMENT);
    p.size = FF_CCSDS_PACKET_MAX + 1;
    assert_int_equal(ff_ccsds_primary_encode(&p, bytes, 6), FF_ERR_ARGUMENT);
    assert_int_equal(ff_ccsds_primary_decode(bytes, 5, &p), FF_ERR_SIZE);
    assert_int_equal(ff_ccsds_primary_decode((uint8_t[]){0x18, 6, 0xc0, 0, 0, 1, 0}, 7, &p), FF_ERR_SIZE);
    assert_int_equal(ff_ccsds_primary_decode((uint8_t[]){0x38, 6, 0xc0, 0, 0, 0, 0}, 7, &p),
                     FF_ERR_UNSUPPORTED);
    ff_ccsds_cfs_command c = {.apid = 6, .function = 0x80};
    assert_int_equal(ff_ccsds_cfs_command_encode(&c, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    c.function = 1;
    assert_int_equal(ff_ccsds_cfs_command_encode(&c, bytes, 7, &used), FF_ERR_SIZE);
    c.payload_size = FF_CCSDS_PACKET_MAX;
    assert_int_equal(ff_ccsds_cfs_command_encode(&c, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(used, 0);
    /* trailing bytes, no secondary header, too short for it */
    assert_int_equal(ff_ccsds_cfs_command_decode((uint8_t[]){0x18, 6, 0xc0, 0, 0, 1, 0, 0x20, 0}, 9, &c),
                     FF_ERR_FORMAT);
    assert_int_equal(ff_ccsds_cfs_command_decode((uint8_t[]){0x10, 6, 0xc0, 0, 0, 1, 0, 0x28}, 8, &c),
                     FF_ERR_FORMAT);
    assert_int_equal(ff_ccsds_cfs_command_decode((uint8_t[]){0x18, 6, 0xc0, 0, 0, 0, 0x21}, 7, &c),
                     FF_ERR_FORMAT);
    ff_ccsds_pus_command pc = {.ack = 16};
    assert_int_equal(ff_ccsds_pus_command_encode(&pc, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    ff_ccsds_pus_telemetry pt = {.time_status = 16};
    assert_int_equal(ff_ccsds_pus_telemetry_encode(&pt, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    pt = (ff_ccsds_pus_telemetry){.apid = 1};
    ff_ccsds_pus_telemetry_encode(&pt, bytes, sizeof bytes, &used);
    bytes[6] = 0x10; /* PUS-A */
    const uint16_t crc = ff_ccsds_crc16(bytes, used - 2);
    bytes[used - 2] = (uint8_t)(crc >> 8);
    bytes[used - 1] = (uint8_t)crc;
    assert_int_equal(ff_ccsds_pus_telemetry_decode(bytes, used, &pt), FF_ERR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cfs_no_op_golden), cmocka_unit_test(test_pus_golden),
        cmocka_unit_test(test_round_trips_and_damage), cmocka_unit_test(test_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
