/* Sensors and commands of on-board software on the wire. */
#include "devices/ccsds/onboard.h"
#include "support.h"

static void fill(ff_rng *rng, double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        x[i] = ff_rng_range(rng, -1e3, 1e3);
}

static void random_in(ff_rng *rng, uint32_t joints, ff_obsw_in *in) {
    *in = (ff_obsw_in){.sequence = ff_rng_next(rng), .t = ff_rng_range(rng, 0, 1e4)};
    fill(rng, &in->camera_t, 1);
    fill(rng, in->client_position, 3);
    fill(rng, in->client_attitude, 4);
    fill(rng, in->client_velocity, 3);
    fill(rng, in->client_angular_velocity, 3);
    fill(rng, in->attitude, 4);
    fill(rng, in->angular_velocity, 3);
    fill(rng, in->q, joints);
    fill(rng, in->qd, joints);
    fill(rng, &in->star_tracker_t, 1);
    fill(rng, &in->gyro_t, 1);
    fill(rng, &in->encoder_t, 1);
}

static void random_out(ff_rng *rng, uint32_t joints, ff_obsw_out *out) {
    *out = (ff_obsw_out){.phase = (uint32_t)ff_rng_next(rng)};
    fill(rng, out->force, 3);
    fill(rng, out->torque, 3);
    fill(rng, out->joint_torque, joints);
    fill(rng, &out->storage, 1);
    fill(rng, &out->dissipation, 1);
}

static void test_both_ways_every_bit_for_both_headers(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int i = 0; i < 400; i++) {
        ff_obsw_wire wire;
        ff_obsw_wire_default(&wire);
        wire.pus = i % 2;
        const uint32_t joints = (uint32_t)(i % (FF_OBSW_JOINTS + 1));
        ff_obsw_frame f = {.joints = joints,
                           .session = (uint32_t)ff_rng_next(&rng),
                           .cycle = 0.004,
                           .lockstep = i % 3 == 0,
                           .count = ff_rng_next(&rng) & 0x3fff},
                      g;
        ff_obsw_in in, in2;
        ff_obsw_out out, out2;
        uint8_t bytes[1024];
        size_t used;
        random_in(&rng, joints, &in);
        random_out(&rng, joints, &out);
        f.sequence = in.sequence;
        f.t = in.t;
        assert_int_equal(ff_obsw_sensors_encode(&wire, &f, &in, bytes, sizeof bytes, &used), FF_OK);
        assert_true(wire.pus || used <= FF_OBSW_PACKET_MAX);
        assert_int_equal(ff_obsw_sensors_decode(&wire, bytes, used, &g, &in2), FF_OBSW_TAKEN);
        assert_memory_equal(&in, &in2, sizeof in);
        assert_int_equal(g.session, f.session);
        assert_int_equal(g.lockstep, f.lockstep);
        assert_int_equal(g.count, f.count);
        assert_near(g.cycle, f.cycle, 0);
        assert_int_equal(ff_obsw_command_encode(&wire, &f, &out, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(ff_obsw_command_decode(&wire, joints, bytes, used, &g, &out2), FF_OBSW_TAKEN);
        assert_memory_equal(&out, &out2, sizeof out);
        assert_true(g.sequence == f.sequence && g.session == f.session && g.count == f.count);
        assert_near(g.t, f.t, 0);
        /* one bit turned anywhere is never taken for the same command */
        const size_t bit = ff_rng_next(&rng) % (8 * used);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(ff_obsw_command_decode(&wire, joints, bytes, used, &g, &out2), FF_OBSW_TAKEN);
    }
}

/* docs/obsw.md: these offsets are what others build on. */
static void test_layout_is_the_documented_one(void **state) {
    (void)state;
    ff_obsw_wire wire;
    ff_obsw_wire_default(&wire);
    ff_obsw_frame f = {
        .joints = 2, .session = 0x01020304, .sequence = 5, .t = 1.5, .cycle = 0.25, .count = 9};
    ff_obsw_in in = {.camera_t = 2, .star_tracker_t = 3, .gyro_t = 4, .encoder_t = 5};
    in.client_position[0] = in.client_attitude[0] = in.client_velocity[0] = in.client_angular_velocity[0] = 1;
    in.attitude[0] = in.angular_velocity[0] = in.q[0] = in.qd[0] = 1;
    uint8_t b[400];
    size_t used;
    assert_int_equal(ff_obsw_sensors_encode(&wire, &f, &in, b, sizeof b, &used), FF_OK);
    assert_int_equal(used, 16 + 232 + 32);
    const uint8_t head[] = {0x08, 0xa0, 0xc0, 9, 0x01, 0x11, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0};
    assert_memory_equal(b, head, sizeof head);
    const uint8_t fixed[] = {2, 0, 0, 0, 2, 0, 0, 0, 4, 3, 2, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(b + 16, fixed, sizeof fixed);
    static const struct {
        int at;
        double value;
    } number[] = {{24, 1.5}, {32, 0.25}, {40, 2},  {48, 1},  {72, 1},  {104, 1}, {128, 1},
                  {152, 3},  {160, 1},   {192, 4}, {200, 1}, {224, 5}, {232, 1}, {248, 1}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        double x; /* this machine is little-endian, as is all that Debian 12 runs on */
        memcpy(&x, b + 16 + number[i].at, sizeof x);
        assert_near(x, number[i].value, 0);
    }
    ff_obsw_out out = {.phase = 7, .storage = 3, .dissipation = 4};
    out.force[0] = 1;
    out.torque[0] = 2;
    out.joint_torque[1] = 6;
    assert_int_equal(ff_obsw_command_encode(&wire, &f, &out, b, sizeof b, &used), FF_OK);
    assert_int_equal(used, 8 + 96 + 16);
    const uint8_t command[] = {0x18, 0xa1, 0xc0, 9, 0, 113, 1};
    assert_memory_equal(b, command, sizeof command);
    static const int place[] = {24, 32, 56, 80, 88, 104};
    static const double expected[] = {1.5, 1, 2, 3, 4, 6};
    for (int i = 0; i < 6; i++) {
        double x;
        memcpy(&x, b + 8 + place[i], sizeof x);
        assert_near(x, expected[i], 0);
    }
}

static void test_each_bad_command_is_refused_for_its_reason(void **state) {
    (void)state;
    for (int pus = 0; pus < 2; pus++) {
        ff_obsw_wire wire, other;
        ff_obsw_wire_default(&wire);
        wire.pus = pus;
        other = wire;
        other.apid_command = 200;
        const ff_obsw_frame f = {.joints = 3, .session = 1, .sequence = 2};
        ff_obsw_frame g = {.session = 99};
        ff_obsw_out out = {.storage = FF_NAN, .dissipation = FF_NAN}, got = {.phase = 99};
        uint8_t b[400], c[400];
        size_t used;
        assert_int_equal(ff_obsw_command_encode(&wire, &f, &out, b, sizeof b, &used), FF_OK);
        assert_int_equal(ff_obsw_command_decode(&wire, 3, b, used, &g, &got),
                         FF_OBSW_TAKEN); /* NaN: not reported */
        g = (ff_obsw_frame){.session = 99};
        got = (ff_obsw_out){.phase = 99};
        for (size_t n = 0; n < used; n++)
            assert_int_equal(ff_obsw_command_decode(&wire, 3, b, n, &g, &got), FF_OBSW_SHORT);
        memcpy(c, b, used);
        c[used] = 0;
        assert_int_equal(ff_obsw_command_decode(&wire, 3, c, used + 1, &g, &got), FF_OBSW_LONG);
        c[used - 3] ^= 0x40;
        assert_int_equal(ff_obsw_command_decode(&wire, 3, c, used, &g, &got), FF_OBSW_CHECKSUM);
        assert_int_equal(ff_obsw_command_decode(&other, 3, b, used, &g, &got), FF_OBSW_FOREIGN);
        assert_int_equal(ff_obsw_command_decode(&wire, 4, b, used, &g, &got), FF_OBSW_VERSIONS);
        ff_obsw_frame fewer = f;
        fewer.joints = 2;
        ff_obsw_command_encode(&wire, &fewer, &out, b, sizeof b, &used);
        assert_int_equal(ff_obsw_command_decode(&wire, 3, b, used, &g, &got), FF_OBSW_VERSIONS);
        for (int i = 0; i < 7; i++) {
            ff_obsw_out bad = out;
            if (i < 3)
                bad.force[i] = i ? FF_NAN : FF_INF;
            else if (i < 6)
                bad.torque[i - 3] = FF_NAN;
            else
                bad.joint_torque[2] = -FF_INF;
            ff_obsw_command_encode(&wire, &f, &bad, b, sizeof b, &used);
            assert_int_equal(ff_obsw_command_decode(&wire, 3, b, used, &g, &got), FF_OBSW_NOT_FINITE);
        }
        /* telemetry is not a command */
        ff_obsw_in in = {0};
        ff_obsw_sensors_encode(&wire, &f, &in, b, sizeof b, &used);
        assert_int_equal(ff_obsw_command_decode(&wire, 3, b, used, &g, &got), FF_OBSW_FOREIGN);
        assert_int_equal(g.session, 99); /* nothing was written */
        assert_int_equal(got.phase, 99);
    }
    ff_obsw_wire wire;
    size_t used;
    uint8_t b[64];
    ff_obsw_wire_default(&wire);
    const ff_obsw_frame many = {.joints = FF_OBSW_JOINTS + 1}, one = {.joints = 1};
    const ff_obsw_in in = {0};
    const ff_obsw_out out = {0};
    assert_int_equal(ff_obsw_sensors_encode(&wire, &many, &in, b, sizeof b, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_obsw_command_encode(&wire, &many, &out, b, sizeof b, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_obsw_sensors_encode(&wire, &one, &in, b, sizeof b, &used), FF_ERR_SIZE);
    assert_int_equal(ff_obsw_command_encode(&wire, &one, &out, b, sizeof b, &used), FF_ERR_SIZE);
    for (int i = 0; i < FF_OBSW_REFUSALS; i++)
        assert_non_null(ff_obsw_refusal_name((ff_obsw_refusal)i));
}

/* The other side's part, as the Python and C examples rely on it. */
static void test_each_bad_sensor_packet_is_refused_for_its_reason(void **state) {
    (void)state;
    const ff_obsw_frame f = {.joints = 3, .session = 1, .sequence = 2};
    const ff_obsw_in in = {0};
    const ff_obsw_out out = {0};
    for (int pus = 0; pus < 2; pus++) {
        ff_obsw_wire wire, other;
        ff_obsw_wire_default(&wire);
        wire.pus = pus;
        other = wire;
        other.apid_sensors = 200;
        ff_obsw_frame g = {.session = 99};
        ff_obsw_in got = {.t = 99};
        uint8_t b[500];
        size_t used;
        assert_int_equal(ff_obsw_sensors_encode(&wire, &f, &in, b, sizeof b, &used), FF_OK);
        for (size_t n = 0; n < used; n++)
            assert_int_equal(ff_obsw_sensors_decode(&wire, b, n, &g, &got), FF_OBSW_SHORT);
        b[used] = 0;
        assert_int_equal(ff_obsw_sensors_decode(&wire, b, used + 1, &g, &got), FF_OBSW_LONG);
        assert_int_equal(ff_obsw_sensors_decode(&other, b, used, &g, &got), FF_OBSW_FOREIGN);
        b[0] ^= 0x08; /* without its secondary header */
        assert_int_equal(ff_obsw_sensors_decode(&wire, b, used, &g, &got), FF_OBSW_FOREIGN);
        assert_int_equal(ff_obsw_command_encode(&wire, &f, &out, b, sizeof b, &used), FF_OK);
        assert_int_equal(ff_obsw_sensors_decode(&wire, b, used, &g, &got), FF_OBSW_FOREIGN);
        assert_int_equal(g.session, 99); /* nothing was written */
        assert_near(got.t, 99, 0);
    }
    /* the payload of cFS telemetry has no checksum: version and joints are judged, too */
    static const struct {
        uint8_t version, joints;
        ff_obsw_refusal refusal;
    } cases[] = {{FF_OBSW_VERSION, 3, FF_OBSW_TAKEN},
                 {FF_OBSW_VERSION + 1, 3, FF_OBSW_VERSIONS},
                 {FF_OBSW_VERSION, FF_OBSW_JOINTS + 1, FF_OBSW_VERSIONS},
                 {FF_OBSW_VERSION, 4, FF_OBSW_SHORT},
                 {FF_OBSW_VERSION, 2, FF_OBSW_LONG}};
    ff_obsw_wire wire;
    ff_obsw_frame g;
    ff_obsw_in got;
    uint8_t b[500], empty[FF_OBSW_PUS_TIME] = {0};
    size_t used;
    ff_obsw_wire_default(&wire);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_obsw_sensors_encode(&wire, &f, &in, b, sizeof b, &used);
        b[16] = cases[i].version;
        b[20] = cases[i].joints;
        assert_int_equal(ff_obsw_sensors_decode(&wire, b, used, &g, &got), cases[i].refusal);
    }
    const ff_ccsds_cfs_telemetry small = {.apid = wire.apid_sensors, .payload = empty, .payload_size = 4};
    assert_int_equal(ff_ccsds_cfs_telemetry_encode(&small, b, sizeof b, &used), FF_OK);
    assert_int_equal(ff_obsw_sensors_decode(&wire, b, used, &g, &got), FF_OBSW_SHORT);
    const ff_ccsds_cfs_command function = {
        .apid = wire.apid_command, .function = FF_OBSW_FUNCTION + 1, .payload = empty, .payload_size = 4};
    ff_obsw_out command;
    assert_int_equal(ff_ccsds_cfs_command_encode(&function, b, sizeof b, &used), FF_OK);
    assert_int_equal(ff_obsw_command_decode(&wire, 3, b, used, &g, &command), FF_OBSW_FOREIGN);
    /* PUS: another service, another subtype, a payload shorter than its time */
    wire.pus = true;
    for (int n = 0; n < 3; n++) {
        const ff_ccsds_pus_telemetry t = {.apid = wire.apid_sensors,
                                          .service = FF_OBSW_PUS_SERVICE + (n == 0),
                                          .subtype = FF_OBSW_PUS_SENSORS + (n == 1),
                                          .payload = empty,
                                          .payload_size = FF_OBSW_PUS_TIME - 1};
        assert_int_equal(ff_ccsds_pus_telemetry_encode(&t, b, sizeof b, &used), FF_OK);
        assert_int_equal(ff_obsw_sensors_decode(&wire, b, used, &g, &got),
                         n < 2 ? FF_OBSW_FOREIGN : FF_OBSW_SHORT);
        const ff_ccsds_pus_command c = {.apid = wire.apid_command,
                                        .service = FF_OBSW_PUS_SERVICE + (n == 0),
                                        .subtype = FF_OBSW_PUS_COMMAND + (n == 1),
                                        .payload = empty,
                                        .payload_size = 4};
        assert_int_equal(ff_ccsds_pus_command_encode(&c, b, sizeof b, &used), FF_OK);
        assert_int_equal(ff_obsw_command_decode(&wire, 3, b, used, &g, &command),
                         n < 2 ? FF_OBSW_FOREIGN : FF_OBSW_SHORT);
    }
    assert_string_equal(ff_obsw_refusal_name(FF_OBSW_TAKEN), "taken");
    assert_string_equal(ff_obsw_refusal_name(FF_OBSW_REFUSALS), "taken");
    assert_string_equal(ff_obsw_refusal_name(FF_OBSW_OLD), "old");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways_every_bit_for_both_headers),
        cmocka_unit_test(test_layout_is_the_documented_one),
        cmocka_unit_test(test_each_bad_command_is_refused_for_its_reason),
        cmocka_unit_test(test_each_bad_sensor_packet_is_refused_for_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
