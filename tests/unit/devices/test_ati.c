/* RDT and the configuration page: known bytes, wrap-safe sequences, both sides against each other. */
#include "devices/ati/ati.h"
#include "devices/device.h"

#include "support.h"

#include <stdlib.h>

static void test_request_golden(void **state) {
    (void)state;
    uint8_t bytes[16];
    size_t used;
    const ff_ati_request start = {.command = FF_ATI_START};
    assert_int_equal(ff_ati_request_encode(&start, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 8);
    assert_memory_equal(bytes, ((uint8_t[]){0x12, 0x34, 0x00, 0x02, 0, 0, 0, 0}), 8);
    const ff_ati_request extended = {.command = FF_ATI_START,
                                     .count = 0x01020304,
                                     .extended = true,
                                     .address = {127, 0, 0, 1},
                                     .port = 49153};
    assert_int_equal(ff_ati_request_encode(&extended, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 14);
    assert_memory_equal(bytes, ((uint8_t[]){0x12, 0x34, 0x80, 0x02, 1, 2, 3, 4, 127, 0, 0, 1, 0xc0, 0x01}),
                        14);
    ff_ati_request got;
    assert_int_equal(ff_ati_request_decode(bytes, 14, &got), FF_OK);
    assert_true(got.extended && got.command == FF_ATI_START && got.count == 0x01020304 && got.port == 49153);
    assert_memory_equal(got.address, extended.address, 4);
    /* wrong lengths, header, command */
    assert_int_equal(ff_ati_request_decode(bytes, 8, &got), FF_ERR_FORMAT);
    assert_int_equal(ff_ati_request_decode(bytes, 7, &got), FF_ERR_FORMAT);
    bytes[2] = 0;
    assert_int_equal(ff_ati_request_decode(bytes, 14, &got), FF_ERR_FORMAT);
    bytes[3] = 0x43;
    assert_int_equal(ff_ati_request_decode(bytes, 8, &got), FF_ERR_UNSUPPORTED);
    bytes[0] = 0;
    assert_int_equal(ff_ati_request_decode(bytes, 8, &got), FF_ERR_FORMAT);
    assert_int_equal(ff_ati_request_encode(&extended, bytes, 13, &used), FF_ERR_SIZE);
    assert_int_equal(ff_ati_request_encode(&(ff_ati_request){.command = 0x8002}, bytes, 14, &used),
                     FF_ERR_ARGUMENT);
}

static void test_record_golden_and_round_trip(void **state) {
    (void)state;
    const uint8_t golden[36] = {0,    0,    0,    1,    0,    0,    1,    0,    0x80, 2, 0, 0,
                                0,    0x0f, 0x42, 0x40, 0xff, 0xf0, 0xbd, 0xc0, 0,    0, 0, 0,
                                0x7f, 0xff, 0xff, 0xff, 0x80, 0,    0,    0,    0,    0, 0, 2};
    ff_ati_record r[3];
    size_t n;
    assert_int_equal(ff_ati_records_decode(golden, 36, r, 3, &n), FF_OK);
    assert_true(n == 1 && r->rdt_sequence == 1 && r->ft_sequence == 256 && r->status == 0x80020000u);
    assert_true(r->counts[0] == 1000000 && r->counts[1] == -1000000 && r->counts[3] == INT32_MAX &&
                r->counts[4] == INT32_MIN && r->counts[5] == 2);
    const ff_wrench w = ff_ati_to_wrench((ff_ati_scale){1e-6, 1e-6}, r->counts);
    assert_vec3_near(w.f, ff_vec3_make(1, -1, 0), 1e-15);
    assert_near(w.t.z, 2e-6, 1e-20);
    uint8_t bytes[36 * 4];
    assert_int_equal(ff_ati_record_encode(r, bytes, 36), FF_OK);
    assert_memory_equal(bytes, golden, 36);
    assert_int_equal(ff_ati_record_encode(r, bytes, 35), FF_ERR_SIZE);
    for (int i = 0; i < 4; i++) {
        r->rdt_sequence = (uint32_t)i;
        ff_ati_record_encode(r, bytes + 36 * i, 36);
    }
    assert_int_equal(ff_ati_records_decode(bytes, 144, r, 3, &n), FF_ERR_SIZE);
    assert_int_equal(ff_ati_records_decode(bytes, 108, r, 3, &n), FF_OK);
    assert_true(n == 3 && r[2].rdt_sequence == 2);
    assert_int_equal(ff_ati_records_decode(bytes, 0, r, 3, &n), FF_ERR_FORMAT);
    assert_int_equal(ff_ati_records_decode(bytes, 37, r, 3, &n), FF_ERR_FORMAT);
    static uint8_t many[36 * (FF_ATI_BUFFERED_MAX + 1)];
    assert_int_equal(ff_ati_records_decode(many, sizeof many, r, 3, &n), FF_ERR_FORMAT);
}

static void test_status_word(void **state) {
    (void)state;
    char text[256];
    assert_int_equal(ff_ati_status_check(0), FF_OK);
    assert_string_equal(ff_ati_status_text(0, text, sizeof text), "healthy");
    assert_int_equal(ff_ati_status_check(0x80020000u), FF_INFO_SATURATED);
    assert_int_equal(ff_ati_status_check(0x00020000u), FF_INFO_SATURATED);
    assert_int_equal(ff_ati_status_check(0x80010000u), FF_INFO_LIMITED);
    assert_int_equal(ff_ati_status_check(0x80030000u), FF_INFO_SATURATED);
    assert_int_equal(ff_ati_status_check(0x80000000u), FF_ERR_DEVICE);
    for (int bit = 0; bit < 32; bit++)
        if (bit != 17 && bit != 16)
            assert_int_equal(ff_ati_status_check(UINT32_C(1) << bit), FF_ERR_DEVICE);
    assert_string_equal(ff_ati_status_text(0x80020000u, text, sizeof text), "error, saturated or A/D");
    assert_string_equal(ff_ati_status_text(1u << 15, text, sizeof text), "reserved bit");
    ff_ati_status_text(0xffffffffu, text, 10); /* cut, never beyond */
    assert_true(strlen(text) < 10);
}

static void test_page_round_trip(void **state) {
    (void)state;
    ff_ati_page page = ff_ati_page_default(), got;
    strcpy(page.torque_unit, "N-m");
    page.has_range = page.has_bias = true;
    const double range[6] = {660, 660, 1980, 60, 60, 60.5}, bias[6] = {1, -2, 3, -4, 5, -6};
    memcpy(page.range, range, sizeof range);
    memcpy(page.bias, bias, sizeof bias);
    char text[2048];
    size_t used;
    assert_int_equal(ff_ati_page_encode(&page, text, sizeof text, &used), FF_OK);
    assert_non_null(strstr(text, "<cfgcpf>1000000</cfgcpf>"));
    assert_non_null(strstr(text, "<comrdte>Enabled</comrdte>"));
    assert_int_equal(ff_ati_page_decode(text, used, &got), FF_OK);
    assert_near(got.counts_per_force, 1e6, 0);
    for (int i = 0; i < 6; i++) {
        assert_near(got.range[i], range[i], 0);
        assert_near(got.bias[i], bias[i], 0);
    }
    assert_true(got.rate == 1000 && got.buffer == 1 && got.rdt_enabled && got.status == 0);
    assert_string_equal(got.product, page.product);
    ff_ati_scale scale;
    assert_int_equal(ff_ati_page_scale(&got, &scale), FF_OK);
    assert_near(scale.force, 1e-6, 0);
    assert_int_equal(ff_ati_page_encode(&page, text, 100, &used), FF_ERR_SIZE);
    page.counts_per_force = FF_NAN;
    assert_int_equal(ff_ati_page_encode(&page, text, sizeof text, &used), FF_ERR_NOT_FINITE);
}

#define PAGE(cpf, cpt, fu, tu, more)                                                            \
    "<?xml version=\"1.0\"?><netft><cfgcpf>" cpf "</cfgcpf><cfgcpt>" cpt "</cfgcpt><scfgfu>" fu \
    "</scfgfu><scfgtu>" tu "</scfgtu>" more "</netft>"

static void test_page_refuses(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ff_status status;
    } cases[] = {
        {PAGE("1000000", "1000000", "N", "Nm", "<runrate>7000</runrate>"), FF_OK},
        {PAGE("1000000", "1000000", "lbf", "lbf-in", ""), FF_OK},
        {PAGE("1000000", "1000000", "Nm", "N", ""), FF_ERR_UNSUPPORTED},
        {PAGE("1000000", "1000000", "N", "furlong", ""), FF_ERR_UNSUPPORTED},
        {PAGE("1000000", "1000000", "N", "Nm", "<comrdte>Disabled</comrdte>"), FF_ERR_UNSUPPORTED},
        {PAGE("0", "1000000", "N", "Nm", ""), FF_ERR_ARGUMENT},
        {PAGE("-5", "1000000", "N", "Nm", ""), FF_ERR_ARGUMENT},
        {PAGE("nan", "1000000", "N", "Nm", ""), FF_ERR_FORMAT},
        {PAGE("1e999", "1000000", "N", "Nm", ""), FF_ERR_NOT_FINITE},
        {PAGE("1,0", "1000000", "N", "Nm", ""), FF_ERR_FORMAT},
        {PAGE("1", "1", "NNNNNNNNNNNNNNNNNN", "Nm", ""), FF_ERR_FORMAT},
        {PAGE("1", "1", "N", "Nm", "<cfgcpf>1</cfgcpf>"), FF_ERR_FORMAT},
        {PAGE("1", "1", "N", "Nm", "<cfgmr>1;2;3;4;5</cfgmr>"), FF_ERR_FORMAT},
        {PAGE("1", "1", "N", "Nm", "<cfgmr>1;2;3;4;5;6;7</cfgmr>"), FF_ERR_FORMAT},
        {PAGE("1", "1", "N", "Nm", "<cfgmr>1;2;3;4;5;6;</cfgmr>"), FF_OK},
        {PAGE("1", "1", "N", "Nm", "<comrdtrate>-1</comrdtrate>"), FF_ERR_FORMAT},
        {"<netft><cfgcpf>1</cfgcpf></netft>", FF_ERR_FORMAT},
        {"<html></html>", FF_ERR_FORMAT},
        {"", FF_ERR_FORMAT},
    };
    ff_ati_page page;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ff_status got = ff_ati_page_decode(cases[i].text, strlen(cases[i].text), &page);
        if (got != cases[i].status)
            fail_msg("%s: %s", cases[i].text, ff_status_name(got));
    }
    static char large[FF_ATI_XML_MAX + 1];
    assert_int_equal(ff_ati_page_decode(large, sizeof large, &page), FF_ERR_SIZE);
    assert_int_equal(ff_ati_page_decode(cases[1].text, strlen(cases[1].text), &page), FF_OK);
    ff_ati_scale scale;
    ff_ati_page_scale(&page, &scale);
    assert_near(scale.force, 4.4482216152605e-6, 1e-18);
    assert_near(scale.torque, 0.1129848290276167e-6, 1e-21);
}

static void test_counts(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    const ff_ati_scale scale = {1e-6, 2e-6};
    int32_t counts[6];
    for (int i = 0; i < 1000; i++) {
        const ff_wrench w = {test_random_vec3(&rng, 100), test_random_vec3(&rng, 1000)};
        assert_int_equal(ff_ati_from_wrench(scale, w, counts), FF_OK);
        const ff_wrench back = ff_ati_to_wrench(scale, counts);
        assert_vec3_near(back.f, w.f, 0.5000001e-6);
        assert_vec3_near(back.t, w.t, 1.0000001e-6);
    }
    ff_wrench w = ff_wrench_zero();
    w.f.x = 3000;
    w.t.z = -1e300;
    assert_int_equal(ff_ati_from_wrench(scale, w, counts), FF_INFO_SATURATED);
    assert_true(counts[0] == INT32_MAX && counts[5] == INT32_MIN && counts[1] == 0);
    w.f.y = FF_NAN;
    counts[0] = 5;
    assert_int_equal(ff_ati_from_wrench(scale, w, counts), FF_ERR_NOT_FINITE);
    assert_int_equal(counts[0], 5);
}

static void test_sequence(void **state) {
    (void)state;
    ff_ati_sequence s = {0};
    const struct {
        uint32_t n;
        ff_status status;
    } steps[] = {
        {0xfffffffdu, FF_OK}, {0xfffffffeu, FF_OK}, {0xffffffffu, FF_OK}, {0, FF_OK},
        {2, FF_INFO_GAP},     {1, FF_INFO_STALE},   {2, FF_INFO_STALE},   {0xffffffffu, FF_INFO_STALE},
        {3, FF_OK},           {10, FF_INFO_GAP}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(ff_ati_sequence_step(&s, steps[i].n), steps[i].status);
    assert_true(s.received == 7 && s.lost == 7 && s.repeated == 1 && s.reordered == 2 && s.restarts == 0);
    s.last = 50000;
    assert_int_equal(ff_ati_sequence_step(&s, 1), FF_INFO_GAP);
    assert_true(s.restarts == 1 && s.last == 1);
    assert_int_equal(ff_ati_sequence_step(&s, 2), FF_OK);
}

static const ff_ati_peer here = {{127, 0, 0, 1}, 40000}, there = {{127, 0, 0, 1}, 40001};

static void test_client_and_server(void **state) {
    (void)state;
    const ff_ati_client_config cc = ff_ati_client_config_default();
    assert_int_equal(ff_ati_client_config_validate(&cc), FF_OK);
    const ff_ati_server_config sc = {.buffer = 1};
    ff_ati_client_state c;
    ff_ati_server_state s;
    ff_ati_client_reset(&c);
    ff_ati_server_reset(&s);
    uint8_t bytes[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE], out[16];
    size_t used, sent;
    ff_ati_record record;
    ff_ati_client_poll(&cc, &c, 0, out, sizeof out, &sent);
    assert_int_equal(sent, 0); /* idle asks nothing */
    ff_ati_client_start(&c);
    int starts = 0, got = 0;
    for (int k = 0; k < 1000; k++) {
        const double now = 0.001 * k;
        assert_int_equal(ff_ati_client_poll(&cc, &c, now, out, sizeof out, &sent), FF_OK);
        starts += sent != 0;
        if (sent && starts > 2) /* two start requests are lost */
            assert_int_equal(ff_ati_server_receive(&s, here, out, sent), FF_OK);
        const int32_t counts[6] = {k, -k, 2 * k, 0, 0, 7};
        assert_int_equal(ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used), FF_OK);
        if (used) {
            assert_int_equal(ff_ati_client_receive(&cc, &c, now, bytes, used, &record), FF_OK);
            assert_true(record.counts[2] == 2 * k && record.ft_sequence == (uint32_t)k + 1);
            got++;
        }
    }
    assert_int_equal(starts, 3);
    assert_int_equal(got, 800);
    assert_true(c.phase == FF_ATI_STREAMING && c.sequence.lost == 0 && c.sequence.received == 800);
    /* bias: what follows is relative to the last sample */
    ff_ati_client_bias(&c);
    ff_ati_client_poll(&cc, &c, 1.0, out, sizeof out, &sent);
    assert_memory_equal(out, ((uint8_t[]){0x12, 0x34, 0x00, 0x42, 0, 0, 0, 0}), 8);
    ff_ati_server_receive(&s, here, out, sent);
    const int32_t counts[6] = {1000, 0, 0, 0, 0, 7};
    ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used);
    ff_ati_client_receive(&cc, &c, 1.0, bytes, used, &record);
    assert_true(record.counts[0] == 1 && record.counts[1] == 999 && record.counts[5] == 0);
    /* silence: asks again; a fresh numbering is not a reorder */
    ff_ati_client_poll(&cc, &c, 1.05, out, sizeof out, &sent);
    assert_int_equal(sent, 0);
    ff_ati_client_poll(&cc, &c, 1.2, out, sizeof out, &sent);
    assert_int_equal(sent, 8);
    ff_ati_server_receive(&s, here, out, sent);
    ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_OK);
    assert_true(record.rdt_sequence == 1 && c.sequence.reordered == 0);
    /* repeated, gap, malformed, unhealthy */
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_INFO_STALE);
    ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used);
    ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_INFO_GAP);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, 35, &record), FF_ERR_FORMAT);
    ff_ati_server_sample(&sc, &s, 0x80020000u, counts, bytes, sizeof bytes, &used);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_INFO_SATURATED);
    ff_ati_server_sample(&sc, &s, 0x80010000u, counts, bytes, sizeof bytes, &used);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_INFO_LIMITED);
    ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used); /* latched until reset */
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_INFO_LIMITED);
    ff_ati_server_receive(&s, here, (uint8_t[]){0x12, 0x34, 0, 0x41, 0, 0, 0, 0}, 8);
    ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_OK);
    ff_ati_server_sample(&sc, &s, 0xc0000000u, counts, bytes, sizeof bytes, &used);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, bytes, used, &record), FF_ERR_DEVICE);
    assert_true(c.unhealthy == 4 && c.malformed == 1);
    /* of several records in a datagram, the one that reports a fault comes before the newest */
    uint8_t three[3 * FF_ATI_RECORD_SIZE];
    static const uint32_t words[][3] = {{0, 0x80000001u, 0}, {0x80020000u, 0, 0}, {0, 0x80010000u, 0}};
    static const ff_status healths[] = {FF_ERR_DEVICE, FF_INFO_SATURATED, FF_OK};
    for (int n = 0; n < 3; n++) {
        for (int k = 0; k < 3; k++) {
            ff_ati_server_receive(&s, here, (uint8_t[]){0x12, 0x34, 0, 0x41, 0, 0, 0, 0}, 8);
            ff_ati_server_sample(&sc, &s, words[n][k], counts, three + k * FF_ATI_RECORD_SIZE,
                                 FF_ATI_RECORD_SIZE, &used);
        }
        assert_int_equal(ff_ati_client_receive(&cc, &c, 1.2, three, sizeof three, &record), healths[n]);
        assert_int_equal(record.status, n < 2 ? words[n][1 - n] : 0);
    }
    /* a second client steals the stream */
    assert_int_equal(ff_ati_server_receive(&s, there, (uint8_t[]){0x12, 0x34, 0, 2, 0, 0, 0, 0}, 8),
                     FF_INFO_LIMITED);
    assert_int_equal(s.peer.port, there.port);
    assert_true(s.stolen == 1);
    assert_int_equal(ff_ati_server_receive(&s, there, bytes, 3), FF_ERR_FORMAT);
    assert_int_equal(ff_ati_server_receive(&s, there, (uint8_t[]){0x12, 0x34, 0, 9, 0, 0, 0, 0}, 8),
                     FF_ERR_UNSUPPORTED);
    /* stop */
    ff_ati_client_stop(&c);
    ff_ati_client_poll(&cc, &c, 1.3, out, sizeof out, &sent);
    ff_ati_server_receive(&s, here, out, sent);
    ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used);
    assert_int_equal(used, 0);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 1.3, bytes, 36, &record), FF_INFO_STALE);
}

static void test_client_gives_up(void **state) {
    (void)state;
    const ff_ati_client_config cc = ff_ati_client_config_default();
    ff_ati_client_state c;
    ff_ati_client_reset(&c);
    ff_ati_client_start(&c);
    uint8_t out[16];
    size_t sent;
    int starts = 0;
    ff_status status = FF_OK;
    for (int k = 0; k < 10000 && status == FF_OK; k++) {
        status = ff_ati_client_poll(&cc, &c, 0.001 * k, out, sizeof out, &sent);
        starts += sent != 0;
    }
    assert_int_equal(status, FF_ERR_DEVICE);
    assert_int_equal(starts, 20);
    assert_int_equal(ff_ati_client_poll(&cc, &c, 100, out, sizeof out, &sent), FF_ERR_DEVICE);
    ff_ati_client_start(&c); /* only an order starts it again */
    assert_int_equal(ff_ati_client_poll(&cc, &c, 101, out, 4, &sent), FF_ERR_SIZE);
    assert_int_equal(ff_ati_client_poll(&cc, &c, 101, out, sizeof out, &sent), FF_OK);
    assert_int_equal(sent, 8);
    ff_ati_client_config bad = cc;
    bad.start.command = FF_ATI_BIAS;
    assert_int_equal(ff_ati_client_config_validate(&bad), FF_ERR_ARGUMENT);
    bad = cc;
    bad.retry = 0;
    assert_int_equal(ff_ati_client_config_validate(&bad), FF_ERR_ARGUMENT);
}

/* A silent spell, a start, but records of the old numbering are still under way: those of the new one are
 * used at once. */
static void test_restart_with_records_under_way(void **state) {
    (void)state;
    const ff_ati_client_config cc = ff_ati_client_config_default();
    ff_ati_client_state c;
    ff_ati_client_reset(&c);
    ff_ati_client_start(&c);
    uint8_t bytes[FF_ATI_RECORD_SIZE];
    size_t sent;
    ff_ati_record record;
    uint32_t sample = 5000;
    ff_ati_client_poll(&cc, &c, 0.0, bytes, sizeof bytes, &sent);
    const struct {
        uint32_t from, to;
        double now;
        ff_status status;
        bool asks; /* before it */
    } parts[] = {{1, 700, 0.1, FF_OK, false},
                 {830, 832, 0.2101, FF_INFO_GAP, true},
                 {1, 900, 0.2102, FF_OK, false}, /* the new numbering */
                 {899, 899, 0.2102, FF_INFO_STALE, false}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        ff_ati_client_poll(&cc, &c, i ? 0.21 : 0.0, bytes, sizeof bytes, &sent);
        assert_int_equal(sent, parts[i].asks ? 8 : 0);
        for (uint32_t n = parts[i].from; n <= parts[i].to; n++) {
            const ff_ati_record r = {.rdt_sequence = n, .ft_sequence = sample++};
            ff_ati_record_encode(&r, bytes, sizeof bytes);
            assert_int_equal(ff_ati_client_receive(&cc, &c, parts[i].now, bytes, sizeof bytes, &record),
                             n == parts[i].from || parts[i].status == FF_OK ? parts[i].status : FF_OK);
        }
    }
    assert_true(c.sequence.received == 1603 && c.sequence.lost == 129 && c.sequence.reordered == 1);
    assert_int_equal(c.starts, 2);
}

static void test_range_in_si(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double force, torque;
    } cases[] = {
        {PAGE("1", "1", "N", "Nm", "<cfgmr>580;580;1160;20;20;20</cfgmr>"), 580, 20},
        {PAGE("1", "1", "lbf", "lbf-in", "<cfgmr>130;130;400;400;400;400</cfgmr>"), 578.268809983865,
         45.193931611046},
        {PAGE("1", "1", "kN", "N-mm", "<cfgmr>0.66;0.5;1.98;60000;60000;50000;</cfgmr>"), 500, 50},
        {PAGE("1", "1", "N", "Nm", "<cfgmr>0;0;0;0;0;0</cfgmr>"), FF_INF, FF_INF},
        {PAGE("1", "1", "N", "Nm", ""), FF_INF, FF_INF},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_ati_page page;
        assert_int_equal(ff_ati_page_decode(cases[i].text, strlen(cases[i].text), &page), FF_OK);
        const double force = ff_ati_page_range(&page, false), torque = ff_ati_page_range(&page, true);
        if (isinf(cases[i].force))
            assert_true(isinf(force) && isinf(torque));
        else {
            assert_near(force, cases[i].force, 1e-9);
            assert_near(torque, cases[i].torque, 1e-9);
        }
    }
}

/* The limits of what a number may be: a step back of up to 1000 is an old record, a larger one a sensor that
 * began again. A start that was answered forgets its tries; silence and retries act at their times. */
static void test_client_has_its_bounds(void **state) {
    (void)state;
    for (uint32_t back = 999; back <= 1002; back++) {
        ff_ati_sequence s = {.started = true, .last = 70000};
        assert_int_equal(ff_ati_sequence_step(&s, 70000 - back), back <= 1000 ? FF_INFO_STALE : FF_INFO_GAP);
        assert_int_equal(s.restarts, back > 1000);
        assert_int_equal(s.last, back > 1000 ? 70000 - back : 70000);
    }
    const ff_ati_client_config cc = ff_ati_client_config_default();
    ff_ati_client_state c;
    ff_ati_client_reset(&c);
    ff_ati_client_start(&c);
    uint8_t bytes[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE], out[16];
    size_t sent;
    ff_ati_record record;
    ff_ati_client_bias(&c); /* before it streams there is nothing to be zeroed */
    double now = 0.0, asked = -1.0;
    int starts = 0;
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < 150; k++, now += 0.01) { /* 1.5 s without an answer: 15 tries of 20 */
            assert_int_equal(ff_ati_client_poll(&cc, &c, now, out, sizeof out, &sent), FF_OK);
            if (!sent)
                continue;
            assert_int_equal(out[3], FF_ATI_START);
            assert_true(asked < 0.0 || (now - asked > 0.099 && now - asked < 0.121));
            asked = now;
            starts++;
        }
        assert_true(starts >= 13 && starts <= 15);
        /* a record whose ft_sequence is that of the state before any record: the first repeats nothing */
        const ff_ati_record r = {.rdt_sequence = 500u - 400u * (unsigned)round, .ft_sequence = 0};
        ff_ati_record_encode(&r, bytes, sizeof bytes);
        assert_int_equal(ff_ati_client_receive(&cc, &c, now, bytes, 36, &record), FF_OK);
        assert_int_equal(c.same, round); /* the second one repeats the first */
        assert_int_equal(c.sequence.lost + c.sequence.reordered, 0);
        assert_int_equal(c.tries, 0);
        ff_ati_client_poll(&cc, &c, now + 0.001, out, sizeof out, &sent);
        assert_int_equal(sent, round ? 0 : 8); /* the bias, once */
        now += 0.05;
        ff_ati_client_poll(&cc, &c, now, out, sizeof out, &sent);
        assert_int_equal(sent, 0);
        now += 0.051; /* 0.101 s of silence */
        ff_ati_client_poll(&cc, &c, now, out, sizeof out, &sent);
        assert_int_equal(sent, 8);
        assert_int_equal(out[3], FF_ATI_START);
        asked = now;
        now += 0.01;
        starts = 0;
    }
    /* a gap inside a datagram is one, also if its last record is in order */
    ff_ati_client_reset(&c);
    ff_ati_client_start(&c);
    ff_ati_client_poll(&cc, &c, 0, out, sizeof out, &sent);
    static const uint32_t number[] = {1, 4, 5};
    for (int k = 0; k < 3; k++) {
        const ff_ati_record r = {.rdt_sequence = number[k], .ft_sequence = number[k]};
        ff_ati_record_encode(&r, bytes + 36 * k, 36);
    }
    assert_int_equal(ff_ati_client_receive(&cc, &c, 0, bytes, 108, &record), FF_INFO_GAP);
    assert_int_equal(c.sequence.lost, 2);
    assert_int_equal(record.rdt_sequence, 5);
    /* what still comes after the stop is not a stream, however new */
    ff_ati_client_stop(&c);
    ff_ati_client_poll(&cc, &c, 0, out, sizeof out, &sent);
    ff_ati_record_encode(&(ff_ati_record){.rdt_sequence = 6, .ft_sequence = 6}, bytes, 36);
    assert_int_equal(ff_ati_client_receive(&cc, &c, 0, bytes, 36, &record), FF_INFO_STALE);
    assert_int_equal(c.phase, FF_ATI_IDLE);
    assert_int_equal(record.rdt_sequence, 5);
}

static void test_buffered_counted_and_frozen(void **state) {
    (void)state;
    ff_ati_client_config cc = ff_ati_client_config_default();
    cc.start.command = FF_ATI_START_BUFFERED;
    cc.start.count = 25;
    const ff_ati_server_config sc = {.buffer = 10};
    ff_ati_client_state c;
    ff_ati_server_state s;
    ff_ati_client_reset(&c);
    ff_ati_server_reset(&s);
    ff_ati_client_start(&c);
    uint8_t bytes[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE];
    size_t used, datagrams = 0, last = 0;
    ff_ati_record record;
    ff_ati_client_poll(&cc, &c, 0, bytes, sizeof bytes, &used);
    ff_ati_server_receive(&s, here, bytes, used);
    const int32_t counts[6] = {1, 2, 3, 4, 5, 6};
    for (int k = 0; k < 100; k++) {
        assert_int_equal(ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used), FF_OK);
        if (used) {
            assert_int_equal(ff_ati_client_receive(&cc, &c, 0, bytes, used, &record), FF_OK);
            datagrams++;
            last = used / 36;
        }
    }
    assert_true(datagrams == 3 && last == 5 && c.sequence.received == 25 && record.rdt_sequence == 25);
    assert_int_equal(
        ff_ati_server_sample(&(ff_ati_server_config){0}, &s, 0, counts, bytes, sizeof bytes, &used),
        FF_ERR_ARGUMENT);
    ff_ati_server_receive(&s, here, (uint8_t[]){0x12, 0x34, 0, 3, 0, 0, 0, 0}, 8);
    assert_int_equal(ff_ati_server_sample(&sc, &s, 0, counts, bytes, 359, &used), FF_ERR_SIZE);
    /* bias pushes a count out of 32 bit */
    s.bias[0] = INT32_MIN;
    assert_int_equal(ff_ati_server_sample(&sc, &s, 0, counts, bytes, sizeof bytes, &used), FF_INFO_SATURATED);
    /* a sensor that repeats one sample under new record numbers */
    int frozen_at = 0;
    for (int k = 1; k < 100 && !frozen_at; k++) {
        const ff_ati_record r = {.rdt_sequence = 25 + (uint32_t)k, .ft_sequence = 77};
        ff_ati_record_encode(&r, bytes, sizeof bytes);
        if (ff_ati_client_receive(&cc, &c, 0, bytes, 36, &record) == FF_INFO_HELD)
            frozen_at = k;
    }
    assert_int_equal(frozen_at, 51);
}

/* An OnRobot sensor: the same records, its own fixed scale, no page. */
static void test_onrobot_scale(void **unused) {
    (void)unused;
    const ff_device *device = &ff_device_onrobot;
    void *state = calloc(1, device->bytes);
    ff_device_sample sample = {0};
    ff_device_range range;
    uint8_t bytes[FF_ATI_RECORD_SIZE];
    const ff_ati_record record = {
        .rdt_sequence = 1, .ft_sequence = 1, .counts = {10000, -20000, 5, 100000, -1, 7}};
    assert_non_null(state);
    assert_null(device->page);
    device->open(state, &(ff_device_settings){0});
    device->range(state, &range);
    assert_true(isinf(range.force) && isinf(range.torque)); /* not said: sensor.range */
    assert_int_equal(ff_ati_record_encode(&record, bytes, sizeof bytes), FF_OK);
    assert_int_equal(device->sample(state, 0.0, bytes, sizeof bytes, &sample), FF_OK);
    assert_near(sample.sensor.f_s.f.x, 1, 1e-15);
    assert_near(sample.sensor.f_s.f.y, -2, 1e-15);
    assert_near(sample.sensor.f_s.f.z, 5e-4, 1e-15);
    assert_near(sample.sensor.f_s.t.x, 1, 1e-15);
    assert_near(sample.sensor.f_s.t.y, -1e-5, 1e-15);
    assert_near(sample.sensor.force, 1e-4, 1e-18);
    free(state);
}

/* An Ethernet Axia: started with single blocks; its status word by ATI's table of bit patterns. */
static void test_axia_start_and_status(void **unused) {
    (void)unused;
    static const struct {
        uint32_t word;
        ff_status health;
    } cases[] = {{0, FF_OK},
                 {0x00010000, FF_OK}, /* a monitor condition latched */
                 {0xC0000000, FF_INFO_SATURATED},
                 {0x88000000, FF_INFO_SATURATED},
                 {0xC8010000, FF_INFO_SATURATED},
                 {0x80000001, FF_ERR_DEVICE}, /* temperature */
                 {0x80000002, FF_ERR_DEVICE}, /* supply voltage */
                 {0x80000005, FF_ERR_DEVICE}, /* and a broken gauge */
                 {0x00000008, FF_ERR_DEVICE}, /* busy */
                 {0x10000000, FF_ERR_DEVICE}, /* simulated */
                 {0xA0000000, FF_ERR_DEVICE}, /* calibration */
                 {0xC0000001, FF_ERR_DEVICE},
                 {0x80000000, FF_ERR_DEVICE},
                 {0x80020000, FF_ERR_DEVICE}}; /* a Net F/T's saturation is reserved here */
    const ff_device *device = &ff_device_axia;
    void *state = calloc(1, device->bytes);
    assert_non_null(state);
    uint8_t bytes[FF_ATI_RECORD_SIZE];
    size_t used;
    device->open(state, &(ff_device_settings){0});
    assert_int_equal(device->answer(state, 0.0, NULL, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 8);
    assert_memory_equal(bytes, "\x12\x34\x00\x01\x00\x00\x00\x00", 8);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_device_sample sample = {0};
        const ff_ati_record record = {.rdt_sequence = 1 + i,
                                      .ft_sequence = 40 * i,
                                      .status = cases[i].word,
                                      .counts = {1, 2, 3, 4, 5, 6}};
        assert_int_equal(ff_ati_record_encode(&record, bytes, sizeof bytes), FF_OK);
        assert_int_equal(device->sample(state, 0.0, bytes, sizeof bytes, &sample), FF_OK);
        assert_int_equal(sample.sensor.health, cases[i].health);
        assert_int_equal(sample.sensor.word, cases[i].word);
    }
    free(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_onrobot_scale),
                                       cmocka_unit_test(test_axia_start_and_status),
                                       cmocka_unit_test(test_request_golden),
                                       cmocka_unit_test(test_record_golden_and_round_trip),
                                       cmocka_unit_test(test_status_word),
                                       cmocka_unit_test(test_page_round_trip),
                                       cmocka_unit_test(test_page_refuses),
                                       cmocka_unit_test(test_counts),
                                       cmocka_unit_test(test_sequence),
                                       cmocka_unit_test(test_client_and_server),
                                       cmocka_unit_test(test_client_gives_up),
                                       cmocka_unit_test(test_restart_with_records_under_way),
                                       cmocka_unit_test(test_range_in_si),
                                       cmocka_unit_test(test_client_has_its_bounds),
                                       cmocka_unit_test(test_buffered_counted_and_frozen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
