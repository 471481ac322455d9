/* RSI: the fact sheet's telegrams as golden vectors, round trips, hostile input, and both sides against each
 * other. */
#include "devices/rsi/rsi.h"

#include "support.h"

#define DEG (FF_PI / 180.0)

static const char rob_text[] =
    "<Rob Type=\"KUKA\"><RIst X=\"540.5000\" Y=\"0.0000\" Z=\"915.2500\" A=\"180.0000\" B=\"0.0000\" "
    "C=\"180.0000\"/>"
    "<AIPos A1=\"0.0000\" A2=\"-90.0000\" A3=\"90.0000\" A4=\"0.0000\" A5=\"90.0000\" A6=\"0.0000\"/>"
    "<EIPos E1=\"0.0000\" E2=\"0.0000\" E3=\"0.0000\" E4=\"0.0000\" E5=\"0.0000\" E6=\"0.0000\"/>"
    "<Delay D=\"0\"/><IPOC>4208163</IPOC></Rob>";
static const char sen_text[] =
    "<Sen Type=\"ImFree\"><RKorr X=\"0.0120\" Y=\"0.0000\" Z=\"-0.0040\" A=\"0.0000\" "
    "B=\"0.0000\" C=\"0.0010\"/><IPOC>4208163</IPOC></Sen>";

static ff_status decode_rob(const char *text, ff_rsi_rob *rob) {
    return ff_rsi_rob_decode(text, strlen(text), rob);
}

static void test_rob_golden(void **state) {
    (void)state;
    ff_rsi_rob rob;
    assert_int_equal(decode_rob(rob_text, &rob), FF_OK);
    assert_int_equal(rob.fields, FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | FF_RSI_DELAY);
    assert_near(rob.rist[0], 540.5, 0);
    assert_near(rob.rist[2], 915.25, 0);
    assert_near(rob.rist[3], 180, 0);
    assert_near(rob.aipos[1], -90, 0);
    assert_true(rob.ipoc == 4208163 && rob.delay == 0);
    char text[FF_RSI_SEND_MAX];
    size_t used;
    assert_int_equal(ff_rsi_rob_encode(&rob, 4, text, sizeof text, &used), FF_OK);
    assert_string_equal(text, rob_text);
    assert_int_equal(used, strlen(rob_text));
}

/* What a controller says of itself, and the heartbeat towards it: to the byte, each part by itself, and
 * nothing twice or that is not a count. */
static void test_signals_and_heartbeat(void **state) {
    (void)state;
    static const char krc[] = "<Rob Type=\"KUKA\"><Delay D=\"0\"/><Krc Mode=\"4\" Drives=\"1\" EStop=\"0\" "
                              "Ovr=\"100\" Pro=\"1\"/><IPOC>12</IPOC></Rob>";
    static const char life[] = "<Sen Type=\"ImFree\"><Life B=\"9999\" S=\"7\"/><IPOC>12</IPOC></Sen>";
    char text[FF_RSI_SEND_MAX];
    size_t used;
    ff_rsi_rob rob;
    assert_int_equal(decode_rob(krc, &rob), FF_OK);
    assert_int_equal(rob.fields, FF_RSI_DELAY | FF_RSI_KRC);
    assert_int_equal(rob.signals, 0x1f);
    static const uint64_t value[FF_RSI_SIGNALS] = {4, 1, 0, 100, 1};
    assert_memory_equal(rob.signal, value, sizeof value);
    assert_int_equal(ff_rsi_rob_encode(&rob, 4, text, sizeof text, &used), FF_OK);
    assert_string_equal(text, krc);
    assert_int_equal(decode_rob("<Rob><Krc Ovr=\"30\" New=\"x\"/><IPOC>1</IPOC></Rob>", &rob), FF_OK);
    assert_true(rob.signals == 8 && rob.signal[3] == 30);
    static const char *const bad[] = {"<Krc Mode=\"4\" Mode=\"4\"/>", "<Krc Mode=\"-1\"/>",
                                      "<Krc Drives=\"on\"/>", "<Krc/><Krc/>", "<Krc Mode=4/>"};
    for (int n = 0; n < 5; n++) {
        snprintf(text, sizeof text, "<Rob>%s<IPOC>1</IPOC></Rob>", bad[n]);
        assert_int_equal(decode_rob(text, &rob), FF_ERR_FORMAT);
    }
    const ff_rsi_names names = ff_rsi_names_default();
    ff_rsi_sen sen;
    assert_int_equal(ff_rsi_sen_decode(&names, life, strlen(life), &sen), FF_OK);
    assert_true(sen.alive && sen.beat == 9999 && sen.state == 7);
    assert_int_equal(ff_rsi_sen_encode(&names, &sen, 4, text, sizeof text, &used), FF_OK);
    assert_string_equal(text, life);
    static const char *const worse[] = {"<Life B=\"1\"/>", "<Life S=\"1\"/>",
                                        "<Life B=\"1\" S=\"1\"/><Life/>"};
    for (int n = 0; n < 3; n++) {
        snprintf(text, sizeof text, "<Sen Type=\"ImFree\">%s<IPOC>1</IPOC></Sen>", worse[n]);
        assert_int_equal(ff_rsi_sen_decode(&names, text, strlen(text), &sen), FF_ERR_FORMAT);
    }
}

static void test_sen_golden(void **state) {
    (void)state;
    const ff_rsi_names names = ff_rsi_names_default();
    ff_rsi_sen sen;
    assert_int_equal(ff_rsi_sen_decode(&names, sen_text, strlen(sen_text), &sen), FF_OK);
    assert_int_equal(sen.tags, FF_RSI_ALL_CARTESIAN);
    assert_near(sen.value[0], 0.012, 0);
    assert_near(sen.value[2], -0.004, 0);
    assert_near(sen.value[5], 0.001, 0);
    char text[FF_RSI_SEND_MAX];
    size_t used;
    assert_int_equal(ff_rsi_sen_encode(&names, &sen, 4, text, sizeof text, &used), FF_OK);
    assert_string_equal(text, sen_text);
}

static void test_rob_is_read_by_name(void **state) {
    (void)state;
    ff_rsi_rob rob;
    assert_int_equal(
        decode_rob("<?xml version=\"1.0\"?>\n<Rob TYPE='KUKA'>\n <IPOC> 18446744073709551615 </IPOC>\n"
                   " <Tech C11=\"oops\"><x/></Tech><Delay D=\"7\" />\n"
                   " <ASPos A6=\"6\" A5=\"5\" A4=\"4\" A3=\"3\" A2=\"2\" A1=\"1\" />\n"
                   " <RSol X=\"1e1\" Y=\"+2\" Z=\"-.5\" C=\"3\" B=\"2\" A=\"1\" Q=\"nan\"></RSol>\n"
                   " <EIPos E1=\"12.5\"/>\n</Rob>\r\n",
                   &rob),
        FF_OK);
    assert_int_equal(rob.fields, FF_RSI_ASPOS | FF_RSI_RSOL | FF_RSI_EIPOS | FF_RSI_DELAY);
    assert_true(rob.ipoc == UINT64_MAX && rob.delay == 7);
    assert_near(rob.aspos[0], 1, 0);
    assert_near(rob.aspos[5], 6, 0);
    assert_near(rob.rsol[0], 10, 0);
    assert_near(rob.rsol[3], 1, 0);
    assert_near(rob.rsol[5], 3, 0);
    assert_near(rob.eipos[0], 12.5, 0);
    /* trailing NULs are common, and the first frame of RSI 2 is empty */
    assert_int_equal(ff_rsi_rob_decode("<Rob><IPOC>1</IPOC></Rob>\0\0", 27, &rob), FF_OK);
    assert_int_equal(decode_rob("<Rob Type=\"KUKA\"></Rob>", &rob), FF_INFO_HELD);
    assert_int_equal(decode_rob("<Rob/>", &rob), FF_INFO_HELD);
}

static void test_rob_refuses(void **state) {
    (void)state;
#define AXES "A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6=\"0\"/>"
    static const struct {
        const char *text;
        ff_status status;
    } cases[] = {
        {"", FF_ERR_FORMAT},
        {"Rob", FF_ERR_FORMAT},
        {"<Sen><IPOC>1</IPOC></Sen>", FF_ERR_FORMAT},
        {"<Rob><Delay D=\"0\"/></Rob>", FF_ERR_FORMAT}, /* no IPOC */
        {"<Rob><IPOC></IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><IPOC>-1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><IPOC>1.0</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><IPOC>18446744073709551616</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><IPOC>1</IPOC><IPOC>2</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><IPOC>1</IPOC>", FF_ERR_FORMAT},
        {"<Rob><IPOC>1</IPOC></Rob>x", FF_ERR_FORMAT},
        {"<Rob><Delay/><IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><Delay D=\"-1\"/><IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><Delay D=\"1\"/><Delay D=\"1\"/><IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><AIPos " AXES "<IPOC>1</IPOC></Rob>", FF_ERR_FORMAT}, /* A1 missing */
        {"<Rob><AIPos A1=\"nan\" " AXES "<IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><AIPos A1=\"1,5\" " AXES "<IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><AIPos A1=\"\" " AXES "<IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><AIPos A1=\"1e999\" " AXES "<IPOC>1</IPOC></Rob>", FF_ERR_NOT_FINITE},
        {"<Rob><AIPos A1=\"1\" A1=\"1\" " AXES "<IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Rob><EIPos/><IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
    };
    ff_rsi_rob rob = {.ipoc = 99};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (decode_rob(cases[i].text, &rob) != cases[i].status)
            fail_msg("%s: %s", cases[i].text, ff_status_name(decode_rob(cases[i].text, &rob)));
    }
    assert_true(rob.ipoc == 99);
    static char large[FF_RSI_READ_MAX + 1];
    assert_int_equal(ff_rsi_rob_decode(large, sizeof large, &rob), FF_ERR_SIZE);
    /* every cut of a good telegram is refused or empty, and reads nothing beyond */
    for (size_t n = 0; n < strlen(rob_text); n++) {
        char *cut = malloc(n + 1);
        memcpy(cut, rob_text, n);
        assert_int_equal(ff_rsi_rob_decode(cut, n, &rob), FF_ERR_FORMAT);
        free(cut);
    }
}

static void test_sen_refuses(void **state) {
    (void)state;
    const ff_rsi_names names = ff_rsi_names_default();
    static const struct {
        const char *text;
        ff_status status;
    } cases[] = {
        {"<Sen Type=\"Other\"><IPOC>1</IPOC></Sen>", FF_ERR_UNSUPPORTED},
        {"<Sen><IPOC>1</IPOC></Sen>", FF_ERR_UNSUPPORTED},
        {"<Sen Type=\"ImFree\"></Sen>", FF_ERR_FORMAT},
        {"<Sen Type=\"ImFree\"><RKorr X=\"1\"/><RKorr Y=\"1\"/><IPOC>1</IPOC></Sen>", FF_ERR_FORMAT},
        {"<Sen Type=\"ImFree\"><RKorr X=\"inf\"/><IPOC>1</IPOC></Sen>", FF_ERR_FORMAT},
        {"<Sen Type=\"ImFree\"><AK A1=\"1e400\"/><IPOC>1</IPOC></Sen>", FF_ERR_NOT_FINITE},
        {"<Sen Type=\"ImFree\"><Stop>x</Stop><IPOC>1</IPOC></Sen>", FF_ERR_FORMAT},
        {"<Sen Type=\"ImFree\"><Stop>1</Stop><Stop>1</Stop><IPOC>1</IPOC></Sen>", FF_ERR_FORMAT},
        {"<Sen Type=\"ImFree\"><EStr>&bad;</EStr><IPOC>1</IPOC></Sen>", FF_ERR_FORMAT},
        {"<Sen Type=\"ImFree\"><IPOC>1</IPOC><IPOC>1</IPOC></Sen>", FF_ERR_FORMAT},
        {"<Rob Type=\"ImFree\"><IPOC>1</IPOC></Rob>", FF_ERR_FORMAT},
        {"<Sen Type=\"ImFree\"><Any Z=\"q\"/><RKorr X=\"2\"/><IPOC>1</IPOC></Sen>", FF_OK},
    };
    ff_rsi_sen sen;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (ff_rsi_sen_decode(&names, cases[i].text, strlen(cases[i].text), &sen) != cases[i].status)
            fail_msg("%s", cases[i].text);
    assert_int_equal(sen.tags, 1);
    static char large[FF_RSI_READ_MAX + 1];
    assert_int_equal(ff_rsi_sen_decode(&names, large, sizeof large, &sen), FF_ERR_SIZE);
}

static void test_names_are_checked(void **state) {
    (void)state;
    ff_rsi_names names = ff_rsi_names_default();
    assert_int_equal(ff_rsi_names_validate(&names), FF_OK);
    static const char *const bad[] = {"", "IPOC", "EStr", "RKorr", "a b", "1a", "a\"", "<a>"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        strcpy(names.axes, bad[i]);
        assert_int_equal(ff_rsi_names_validate(&names), FF_ERR_ARGUMENT);
    }
    names = ff_rsi_names_default();
    memset(names.type, 'x', sizeof names.type);
    assert_int_equal(ff_rsi_names_validate(&names), FF_ERR_ARGUMENT);
    strcpy(names.type, "a\"b");
    assert_int_equal(ff_rsi_names_validate(&names), FF_ERR_ARGUMENT);
}

static void test_random_round_trips(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    ff_rsi_names names = ff_rsi_names_default();
    strcpy(names.axes, "AKorr");
    strcpy(names.type, "KROSHU");
    char text[FF_RSI_SEND_MAX];
    size_t used;
    for (int i = 0; i < test_count(3000, 100000); i++) {
        const int decimals = (int)(ff_rng_next(&rng) % 6);
        ff_rsi_rob rob = {.fields = (unsigned)(ff_rng_next(&rng) % 64), .ipoc = ff_rng_next(&rng)}, rob2;
        double *const sets[5] = {rob.rist, rob.rsol, rob.aipos, rob.aspos, rob.eipos};
        for (int k = 0; k < 5; k++)
            for (int a = 0; a < 6 && (rob.fields >> k & 1); a++)
                sets[k][a] = ff_text_round(ff_rng_range(&rng, -4000, 4000), decimals);
        if (rob.fields & FF_RSI_DELAY)
            rob.delay = ff_rng_next(&rng) % 1000000;
        assert_int_equal(ff_rsi_rob_encode(&rob, decimals, text, sizeof text, &used), FF_OK);
        assert_null(strstr(text, " />"));
        memset(&rob2, 0xff, sizeof rob2);
        assert_int_equal(ff_rsi_rob_decode(text, used, &rob2), FF_OK);
        assert_true(rob2.fields == rob.fields && rob2.ipoc == rob.ipoc && rob2.delay == rob.delay);
        for (int a = 0; a < 6; a++) {
            assert_near(rob2.rist[a], rob.rist[a], 0);
            assert_near(rob2.rsol[a], rob.rsol[a], 0);
            assert_near(rob2.aipos[a], rob.aipos[a], 0);
            assert_near(rob2.aspos[a], rob.aspos[a], 0);
            assert_near(rob2.eipos[a], rob.eipos[a], 0);
        }
        ff_rsi_sen sen = {.tags = (uint32_t)(ff_rng_next(&rng) & 0x7ffff), .ipoc = ff_rng_next(&rng)}, sen2;
        for (int k = 0; k < 18; k++)
            if (sen.tags >> k & 1)
                sen.value[k] = ff_text_round(ff_rng_range(&rng, -500, 500), decimals);
        sen.value[18] = (sen.tags >> 18 & 1) && ff_rng_next(&rng) % 2;
        sen.has_text = ff_rng_next(&rng) % 2;
        if (sen.has_text)
            for (int k = 0; k < 20; k++)
                sen.text[k] = (char)('!' + ff_rng_next(&rng) % 90);
        assert_int_equal(ff_rsi_sen_encode(&names, &sen, decimals, text, sizeof text, &used), FF_OK);
        assert_int_equal(ff_rsi_sen_decode(&names, text, used, &sen2), FF_OK);
        assert_true(sen2.tags == sen.tags && sen2.ipoc == sen.ipoc && sen2.has_text == sen.has_text);
        assert_string_equal(sen2.text, sen.text);
        for (int k = 0; k < 19; k++)
            assert_near(sen2.value[k], sen.value[k], 0);
    }
    ff_rsi_rob rob = {.fields = FF_RSI_RIST, .rist = {FF_NAN}};
    assert_int_equal(ff_rsi_rob_encode(&rob, 4, text, sizeof text, &used), FF_ERR_NOT_FINITE);
    assert_int_equal(used, 0);
    rob.rist[0] = 1e10;
    assert_int_equal(ff_rsi_rob_encode(&rob, 4, text, sizeof text, &used), FF_ERR_ARGUMENT);
    rob.rist[0] = 0;
    assert_int_equal(ff_rsi_rob_encode(&rob, 4, text, 40, &used), FF_ERR_SIZE);
}

/* A real buffer full of noise, and good telegrams with bytes changed, must only ever give a status. */
static void test_hostile_bytes(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    const ff_rsi_names names = ff_rsi_names_default();
    for (int i = 0; i < test_count(20000, 500000); i++) {
        const char *from = i % 2 ? rob_text : sen_text;
        const size_t n = strlen(from);
        char *bytes = malloc(n);
        memcpy(bytes, from, n);
        for (int k = 0; k < 1 + i % 5; k++)
            bytes[ff_rng_next(&rng) % n] = (char)ff_rng_next(&rng);
        ff_rsi_rob rob;
        ff_rsi_sen sen;
        ff_rsi_rob_decode(bytes, n, &rob);
        if (ff_rsi_sen_decode(&names, bytes, n, &sen) == FF_OK)
            for (int k = 0; k < 18; k++)
                assert_true(isfinite(sen.value[k]));
        free(bytes);
    }
}

static void test_pose_conversion(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    /* A turns about z first: the tool's x axis goes to y */
    const ff_pose a90 = ff_rsi_to_pose((double[6]){1000, -2000, 500, 90, 0, 0});
    assert_vec3_near(a90.p, ff_vec3_make(1, -2, 0.5), 0);
    assert_vec3_near(ff_quat_rotate(a90.q, ff_vec3_make(1, 0, 0)), ff_vec3_make(0, 1, 0), 1e-15);
    const ff_pose c90 = ff_rsi_to_pose((double[6]){0, 0, 0, 0, 0, 90});
    assert_vec3_near(ff_quat_rotate(c90.q, ff_vec3_make(0, 1, 0)), ff_vec3_make(0, 0, 1), 1e-15);
    for (int i = 0; i < 1000; i++) {
        const ff_pose pose = test_random_pose(&rng, 3);
        double wire[6];
        ff_rsi_from_pose(pose, wire);
        const ff_pose back = ff_rsi_to_pose(wire);
        assert_vec3_near(back.p, pose.p, 1e-14);
        assert_near(ff_quat_angle(back.q, pose.q), 0, 1e-7); /* near B = 90 deg A and C trade places */
    }
}

/* ------------------------------------------------------------------------------------ both sides -- */

typedef struct bench {
    ff_rsi_controller_config cc;
    ff_rsi_controller_state cs;
    ff_rsi_client_config pc;
    ff_rsi_client_state ps;
    ff_rsi_rob rob, seen;
    char rob_bytes[FF_RSI_SEND_MAX], sen_bytes[FF_RSI_SEND_MAX];
    size_t rob_size, sen_size;
    ff_rsi_correction correction;
} bench;

static void bench_reset(bench *b, ff_rsi_mode mode, ff_rsi_channel channel) {
    memset(b, 0, sizeof *b);
    b->cc = ff_rsi_controller_config_default(mode);
    b->pc = ff_rsi_client_config_default();
    b->pc.mode = mode;
    b->pc.channel = channel;
    assert_int_equal(ff_rsi_client_config_validate(&b->pc), FF_OK);
    assert_int_equal(ff_rsi_controller_config_validate(&b->cc), FF_OK);
    ff_rsi_controller_reset(&b->cc, &b->cs);
    ff_rsi_client_reset(&b->ps);
    const double rist[6] = {500, 100, 900, 30, 10, -20}, aipos[6] = {5, -80, 100, 0, 70, 3};
    memcpy(b->rob.rist, rist, sizeof rist);
    memcpy(b->rob.aipos, aipos, sizeof aipos);
}

static ff_status bench_ask(bench *b) {
    assert_int_equal(
        ff_rsi_controller_send(&b->cc, &b->cs, &b->rob, b->rob_bytes, sizeof b->rob_bytes, &b->rob_size),
        FF_OK);
    return ff_rsi_client_receive(&b->pc, &b->ps, b->rob_bytes, b->rob_size, &b->seen);
}

static ff_status bench_answer(bench *b, const ff_rsi_command *command) {
    return ff_rsi_client_answer(&b->pc, &b->ps, command, b->sen_bytes, sizeof b->sen_bytes, &b->sen_size);
}

static ff_status bench_deliver(bench *b) {
    return ff_rsi_controller_receive(&b->cc, &b->cs, b->sen_bytes, b->sen_size);
}

static ff_status bench_finish(bench *b) {
    return ff_rsi_controller_finish(&b->cc, &b->cs, &b->correction);
}

static ff_rsi_command axes_command(const bench *b, double degrees) {
    ff_rsi_command command = {.pose = ff_pose_identity()};
    for (int i = 0; i < 6; i++)
        command.axes[i] = (b->ps.first.aipos[i] + degrees * (i + 1) / 6.0) * DEG;
    return command;
}

static void test_axes_reach_the_controller(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        bench b;
        bench_reset(&b, (ff_rsi_mode)mode, FF_RSI_BY_AXES);
        b.pc.decimals = 4;
        for (int k = 0; k < 1000; k++) {
            assert_int_equal(bench_ask(&b), FF_OK);
            const ff_rsi_command command = axes_command(&b, 3 * sin(0.01 * k));
            assert_int_equal(bench_answer(&b, &command), FF_OK);
            assert_int_equal(bench_deliver(&b), FF_OK);
            assert_int_equal(bench_finish(&b), FF_OK);
            for (int i = 0; i < 6; i++) { /* rounding to 1e-4 deg never adds up, also not in relative mode */
                assert_near(b.correction.axes[i] / DEG, command.axes[i] / DEG - b.ps.first.aipos[i],
                            0.5001e-4);
                b.rob.aipos[i] = b.ps.first.aipos[i] + b.correction.axes[i] / DEG;
            }
        }
        assert_true(b.ps.info.answered == 1000 && b.cs.info.accepted == 1000 && b.cs.info.late == 0);
        assert_false(b.ps.info.clipped);
    }
}

static void test_cartesian_reaches_the_controller(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        bench b;
        bench_reset(&b, (ff_rsi_mode)mode, FF_RSI_BY_CARTESIAN);
        const ff_pose first = ff_rsi_to_pose(b.rob.rist);
        for (int k = 0; k < 500; k++) {
            const double s = sin(0.02 * k);
            assert_int_equal(bench_ask(&b), FF_OK);
            const ff_quat turn = ff_quat_exp(ff_vec3_make(0.02 * s, -0.03 * s, 0.04 * s * s));
            const ff_rsi_command command = {
                .pose = {ff_quat_mul(turn, first.q),
                         ff_vec3_add(first.p, ff_vec3_make(0.004 * s, -0.002, 0.003 * s))}};
            assert_int_equal(bench_answer(&b, &command), FF_OK);
            assert_int_equal(bench_deliver(&b), FF_OK);
            const ff_status status = bench_finish(&b);
            assert_int_equal(status, FF_OK);
            /* the controller moves p_start + d and R(d) R_start */
            const ff_pose now = {ff_quat_mul(b.correction.pose.q, first.q),
                                 ff_vec3_add(first.p, b.correction.pose.p)};
            assert_vec3_near(now.p, command.pose.p, 0.51e-9);
            assert_near(ff_quat_angle(now.q, command.pose.q), 0,
                        2e-8); /* three angles of 0.5e-6 deg, and acos-free angle */
            ff_rsi_from_pose(now, b.rob.rist);
        }
        assert_false(b.ps.info.clipped);
        /* refused beyond 5 deg: the last correction is held and still sent */
        const ff_rsi_correction before = b.correction;
        assert_int_equal(bench_ask(&b), FF_OK);
        ff_rsi_command far = {
            .pose = {ff_quat_mul(ff_quat_exp(ff_vec3_make(0, 0, 5.1 * DEG)), first.q), first.p}};
        assert_int_equal(bench_answer(&b, &far), FF_ERR_LIMIT);
        assert_true(b.sen_size > 0);
        assert_int_equal(bench_deliver(&b), FF_OK);
        assert_int_equal(bench_finish(&b), FF_OK);
        assert_vec3_near(b.correction.pose.p, before.pose.p, 1e-15);
        assert_near(ff_quat_angle(b.correction.pose.q, before.pose.q), 0, 1e-15);
        far.pose.p.y = FF_NAN;
        assert_int_equal(bench_ask(&b), FF_OK);
        assert_int_equal(bench_answer(&b, &far), FF_ERR_NOT_FINITE);
        assert_int_equal(bench_deliver(&b), FF_OK);
        assert_int_equal(bench_finish(&b), FF_OK);
        assert_vec3_near(b.correction.pose.p, before.pose.p, 1e-15);
        assert_true(b.ps.info.refused == 2);
    }
}

static void test_external_axis_in_metres(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    b.pc.use_external = true;
    b.pc.external_linear[0] = b.cc.external_linear[0] = true;
    b.rob.eipos[0] = 1500;
    bench_ask(&b);
    ff_rsi_command command = axes_command(&b, 0);
    command.external[0] = 1.502;
    command.text = "drive <on> & \"off\"";
    assert_int_equal(bench_answer(&b, &command), FF_OK);
    assert_non_null(strstr(b.sen_bytes, "<EK E1=\"2.000000\""));
    assert_int_equal(bench_deliver(&b), FF_OK);
    assert_int_equal(bench_finish(&b), FF_OK);
    assert_near(b.correction.external[0], 0.002, 1e-12);
    assert_string_equal(b.cs.text, "drive <on> & \"off\"");
}

/* A lost answer: HOLDON repeats or zeroes, Delay counts, the client sees the count. */
static void test_late_answers(void **state) {
    (void)state;
    for (int hold = 0; hold < 2; hold++)
        for (int mode = 0; mode < 2; mode++) {
            bench b;
            bench_reset(&b, (ff_rsi_mode)mode, FF_RSI_BY_AXES);
            for (int i = 0; i < FF_RSI_TAGS; i++)
                b.cc.holdon[i] = hold;
            bench_ask(&b);
            ff_rsi_command command = axes_command(&b, 1.2);
            bench_answer(&b, &command);
            bench_deliver(&b);
            assert_int_equal(bench_finish(&b), FF_OK);
            assert_near(b.correction.axes[5] / DEG, 1.2, 1e-9);
            bench_ask(&b); /* its answer is lost */
            bench_answer(&b, &command);
            assert_int_equal(bench_finish(&b), FF_INFO_HELD);
            double want; /* absolute: repeat or jump to the start pose; relative: repeat the increment or
                            stand */
            if (mode == FF_RSI_ABSOLUTE)
                want = hold ? 1.2 : 0.0;
            else
                want = hold ? 2.4 : 1.2;
            assert_near(b.correction.axes[5] / DEG, want, 1e-9);
            bench_ask(&b);
            assert_true(b.seen.delay == 1 && b.ps.info.late == 1 && b.cs.info.late == 1);
            /* the answer of the cycle before arrives now: discarded */
            assert_int_equal(bench_deliver(&b), FF_INFO_STALE);
            assert_true(b.cs.info.too_late == 1);
            bench_answer(&b, &command);
            assert_int_equal(bench_deliver(&b), FF_OK);
            assert_int_equal(bench_deliver(&b), FF_INFO_STALE);
            assert_true(b.cs.info.repeated == 1);
            assert_int_equal(bench_finish(&b), FF_OK);
        }
}

/* HOLDON belongs to each tag: a telegram without a tag treats it as a missing value. */
static void test_holdon_by_tag(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_CARTESIAN);
    b.cc.holdon[1] = false;
    ff_rsi_sen sen = {.tags = 3, .value = {2, 3}, .ipoc = 4};
    bench_ask(&b);
    ff_rsi_sen_encode(&b.cc.names, &sen, 3, b.sen_bytes, sizeof b.sen_bytes, &b.sen_size);
    assert_int_equal(bench_deliver(&b), FF_OK);
    assert_int_equal(bench_finish(&b), FF_OK);
    assert_vec3_near(b.correction.pose.p, ff_vec3_make(0.002, 0.003, 0), 1e-15);
    sen = (ff_rsi_sen){.tags = 4, .value = {0, 0, 1}, .ipoc = 8};
    bench_ask(&b);
    ff_rsi_sen_encode(&b.cc.names, &sen, 3, b.sen_bytes, sizeof b.sen_bytes, &b.sen_size);
    bench_deliver(&b);
    assert_int_equal(bench_finish(&b), FF_OK);
    assert_vec3_near(b.correction.pose.p, ff_vec3_make(0.002, 0, 0.001), 1e-15);
}

static void test_timeout_stops(void **state) {
    (void)state;
    for (int total = 0; total < 2; total++) {
        bench b;
        bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
        b.cc.timeout_total = total;
        int k = 0;
        for (; k < 100 && b.cs.stopped == FF_RSI_RUNNING; k++) {
            bench_ask(&b);
            const ff_rsi_command command = axes_command(&b, 0.6);
            bench_answer(&b, &command);
            if (k % 2 == 0 && k < 40)
                bench_deliver(&b);
            const ff_status status = bench_finish(&b);
            if (b.cs.stopped)
                assert_int_equal(status, FF_ERR_DEVICE);
        }
        assert_int_equal(b.cs.stopped, FF_RSI_STOP_TIMEOUT);
        /* every second answer: ten in all after 20 cycles; ten in a row from cycle 39 on */
        assert_int_equal(k, total ? 20 : 49);
        assert_near(b.correction.axes[5] / DEG, 0.6, 1e-9);
        size_t used = 1;
        assert_int_equal(ff_rsi_controller_send(&b.cc, &b.cs, &b.rob, b.rob_bytes, sizeof b.rob_bytes, &used),
                         FF_ERR_DEVICE);
        assert_int_equal(used, 0);
        assert_int_equal(bench_finish(&b), FF_ERR_DEVICE);
    }
}

static void test_clip_monitor_and_detector(void **state) {
    (void)state;
    for (int channel = 0; channel < 2; channel++) {
        bench b;
        bench_reset(&b, FF_RSI_ABSOLUTE, (ff_rsi_channel)channel);
        const ff_pose first = ff_rsi_to_pose(b.rob.rist);
        int clipped_at = -1, seen_at = -1;
        for (int k = 0; k < 200; k++) { /* 0.05 mm or deg per cycle: the clip at 5 acts from k = 101 */
            bench_ask(&b);
            ff_rsi_command command = {.pose = first};
            command.pose.p.x += 0.05e-3 * k;
            for (int i = 0; i < 6; i++)
                command.axes[i] = (b.ps.first.aipos[i] + (i == 2 ? 0.05 * k : 0)) * DEG;
            assert_int_equal(bench_answer(&b, &command), FF_OK);
            bench_deliver(&b);
            const ff_status status = bench_finish(&b);
            assert_int_equal(status, k > 100 ? FF_INFO_LIMITED : FF_OK);
            if (clipped_at < 0 && status == FF_INFO_LIMITED)
                clipped_at = k;
            if (seen_at < 0 && b.ps.info.clipped)
                seen_at = k;
            ff_rsi_from_pose((ff_pose){first.q, ff_vec3_add(first.p, b.correction.pose.p)}, b.rob.rist);
            for (int i = 0; i < 6; i++)
                b.rob.aipos[i] = b.ps.first.aipos[i] + b.correction.axes[i] / DEG;
        }
        assert_int_equal(clipped_at, 101);
        assert_true(seen_at > clipped_at && seen_at < 190);
        assert_int_equal(b.ps.info.clipped_tag,
                         channel == FF_RSI_BY_AXES ? FF_RSI_TAG_AXES + 2 : FF_RSI_TAG_CARTESIAN);
        assert_true(b.cs.info.clipped == 99);
    }
    /* clip widened, monitor left at 6: abort, and the correction beyond it is not applied */
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    b.cc.axiscorr_upper[0] = 100;
    bench_ask(&b);
    ff_rsi_command command = axes_command(&b, 0);
    command.axes[0] += 5.9 * DEG;
    bench_answer(&b, &command);
    bench_deliver(&b);
    assert_int_equal(bench_finish(&b), FF_OK);
    bench_ask(&b);
    command.axes[0] += 0.2 * DEG;
    bench_answer(&b, &command);
    bench_deliver(&b);
    assert_int_equal(bench_finish(&b), FF_ERR_LIMIT);
    assert_int_equal(b.cs.stopped, FF_RSI_STOP_MONITOR);
    assert_near(b.correction.axes[0] / DEG, 5.9, 1e-6);
    /* the length of three clipped components exceeds POSCORRMON */
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_CARTESIAN);
    ff_rsi_sen sen = {.tags = 7, .value = {9, 9, 9}, .ipoc = 4};
    bench_ask(&b);
    ff_rsi_sen_encode(&b.cc.names, &sen, 3, b.sen_bytes, sizeof b.sen_bytes, &b.sen_size);
    bench_deliver(&b);
    assert_int_equal(bench_finish(&b), FF_ERR_LIMIT);
    /* rotation is clipped about its own axis */
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_CARTESIAN);
    sen = (ff_rsi_sen){.tags = 0x38, .value = {0, 0, 0, 0, 20, 0}, .ipoc = 4};
    bench_ask(&b);
    ff_rsi_sen_encode(&b.cc.names, &sen, 3, b.sen_bytes, sizeof b.sen_bytes, &b.sen_size);
    bench_deliver(&b);
    assert_int_equal(bench_finish(&b), FF_INFO_LIMITED);
    assert_vec3_near(ff_quat_log(b.correction.pose.q), ff_vec3_make(0, 5 * DEG, 0), 1e-12);
}

/* A robot that follows with 10 cycles of delay is not called clipped. */
static void test_detector_forgives_delay(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    double past[16][6] = {{0}};
    for (int k = 0; k < 400; k++) {
        for (int i = 0; i < 6; i++)
            b.rob.aipos[i] = k < 10 ? b.rob.aipos[i] : b.ps.first.aipos[i] + past[(k - 10) % 16][i];
        bench_ask(&b);
        const ff_rsi_command command = axes_command(&b, 4 * sin(0.05 * k)); /* up to 2 deg behind */
        bench_answer(&b, &command);
        bench_deliver(&b);
        bench_finish(&b);
        for (int i = 0; i < 6; i++)
            past[k % 16][i] = b.correction.axes[i] / DEG;
    }
    assert_false(b.ps.info.clipped);
}

/* A robot that stands off its command by a little less or more than the bound, either way, on each kind of
 * correction: clipped in the tenth cycle in a row, by how much and where; a good cycle between begins anew.
 */
static void test_detector_has_its_bounds(void **state) {
    (void)state;
    static const struct {
        ff_rsi_channel channel;
        int tag;
        double bound; /* [mm or deg] */
    } cases[] = {{FF_RSI_BY_CARTESIAN, FF_RSI_TAG_CARTESIAN + 1, 1.0},
                 {FF_RSI_BY_CARTESIAN, FF_RSI_TAG_CARTESIAN + 3, 0.1},
                 {FF_RSI_BY_AXES, FF_RSI_TAG_AXES + 4, 0.1},
                 {FF_RSI_BY_AXES, FF_RSI_TAG_EXTERNAL + 0, 1.0},
                 {FF_RSI_BY_AXES, FF_RSI_TAG_EXTERNAL + 1, 0.1}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        for (int way = 0; way < 4; way++)
            for (int broken = 0; broken < 2; broken++) {
                bench b;
                bench_reset(&b, FF_RSI_ABSOLUTE, cases[n].channel);
                b.pc.use_external = cases[n].tag >= FF_RSI_TAG_EXTERNAL;
                b.pc.external_linear[0] = b.cc.external_linear[0] = true;
                b.rob.eipos[0] = 1500;
                b.rob.eipos[1] = -40;
                const ff_rsi_rob home = b.rob;
                const double off = (way % 2 ? 1.0 : -1.0) * (way < 2 ? 0.95 : 1.05) * cases[n].bound;
                int clipped_at = -1;
                for (int k = 0; k < 40 && clipped_at < 0; k++) {
                    b.rob = home;
                    if (k >= 10 && !(broken && k == 19)) {
                        if (cases[n].tag == FF_RSI_TAG_CARTESIAN + 1)
                            b.rob.rist[1] += off;
                        else if (cases[n].tag == FF_RSI_TAG_CARTESIAN + 3) {
                            ff_pose T = ff_rsi_to_pose(home.rist);
                            T.q = ff_quat_mul(ff_quat_exp(ff_vec3_make(0, off * DEG, 0)), T.q);
                            ff_rsi_from_pose(T, b.rob.rist);
                        } else if (cases[n].tag < FF_RSI_TAG_EXTERNAL)
                            b.rob.aipos[4] += off;
                        else
                            b.rob.eipos[cases[n].tag - FF_RSI_TAG_EXTERNAL] += off;
                    }
                    bench_ask(&b);
                    if (b.ps.info.clipped)
                        clipped_at = k;
                    ff_rsi_command command = axes_command(&b, 0);
                    command.pose = ff_rsi_to_pose(home.rist);
                    command.external[0] = 1.5;
                    command.external[1] = -40 * DEG;
                    assert_int_equal(bench_answer(&b, &command), FF_OK);
                    bench_deliver(&b);
                    bench_finish(&b);
                }
                assert_int_equal(clipped_at, way < 2 ? -1 : broken ? 29 : 19);
                if (way < 2)
                    continue;
                assert_int_equal(b.ps.info.clipped_tag, cases[n].tag);
                assert_near(b.ps.info.clipped_by, fabs(off), 2e-6);
            }
}

/* The command of a turning robot is composed, not subtracted: a robot that follows a large turn of a
 * large first attitude exactly is not clipped. */
static void test_detector_knows_turns(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_CARTESIAN);
    b.rob.rist[3] = 100;
    b.rob.rist[4] = 40;
    b.rob.rist[5] = -70;
    const ff_pose first = ff_rsi_to_pose(b.rob.rist);
    for (int k = 0; k < 60; k++) {
        bench_ask(&b);
        assert_int_equal(b.ps.apart, 0);
        const double angle = 0.07 * DEG * k;
        const ff_rsi_command command = {
            .pose = {ff_quat_mul(ff_quat_exp(ff_vec3_make(angle, 0, 0)), first.q), first.p}};
        assert_int_equal(bench_answer(&b, &command), FF_OK);
        bench_deliver(&b);
        bench_finish(&b);
        ff_rsi_from_pose(command.pose, b.rob.rist);
    }
}

/* Late answers are counted from our first telegram on; a controller that began again counts from zero. A gap
 * between the first two telegrams does not stay the cycle. A drive that is asked for must be reported. */
static void test_client_counts_from_its_first_telegram(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    const struct {
        int ipoc, delay, late, lost;
        ff_status status;
    } steps[] = {{100, 7, 0, 0, FF_OK}, {112, 7, 0, 0, FF_OK},        {116, 9, 2, 0, FF_OK},
                 {120, 9, 2, 0, FF_OK}, {132, 10, 3, 2, FF_INFO_GAP}, {136, 1, 1, 2, FF_OK}};
    char text[256];
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        snprintf(text, sizeof text,
                 "<Rob><AIPos A1=\"1\" A2=\"1\" A3=\"1\" A4=\"1\" A5=\"1\" A6=\"1\"/><Delay D=\"%d\"/>"
                 "<IPOC>%d</IPOC></Rob>",
                 steps[i].delay, steps[i].ipoc);
        assert_int_equal(ff_rsi_client_receive(&b.pc, &b.ps, text, strlen(text), &b.seen), steps[i].status);
        assert_int_equal(b.ps.info.late, steps[i].late);
        assert_int_equal(b.ps.info.lost, steps[i].lost);
    }
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    b.pc.use_external = true;
    assert_int_equal(ff_rsi_client_receive(&b.pc, &b.ps, text, strlen(text), &b.seen), FF_ERR_FORMAT);
    /* a robot led by its axes need not report its pose, nor one led by its pose the axes */
    for (int channel = 0; channel < 2; channel++) {
        bench_reset(&b, FF_RSI_ABSOLUTE, (ff_rsi_channel)channel);
        b.cc.fields = channel == FF_RSI_BY_AXES ? FF_RSI_AIPOS : FF_RSI_RIST;
        assert_int_equal(bench_ask(&b), FF_OK);
        bench_reset(&b, FF_RSI_ABSOLUTE, (ff_rsi_channel)channel);
        b.cc.fields = channel == FF_RSI_BY_AXES ? FF_RSI_RIST : FF_RSI_AIPOS;
        assert_int_equal(bench_ask(&b), FF_ERR_FORMAT);
    }
}

/* What has become of an answer, by IPOC and Delay; what was not taken does not count. */
static void test_client_knows_what_was_taken(void **state) {
    (void)state;
    static const struct {
        int ipoc, delay;
        bool answer, taken, stood, restarted;
    } steps[] = {
        {4, 3, true, false, false, false},
        {8, 3, true, true, false, false},  /* the next IPOC, the same Delay */
        {12, 4, true, false, true, false}, /* called late */
        {24, 6, true, true, true, false},  /* two telegrams lost, both late: the answer before was taken */
        {36, 9, true, false, true, false}, /* two lost, three late */
        {44, 9, true, true, false, false}, /* the counter jumped: nobody held */
        {48, 9, false, true, false, false},
        {52, 10, true, false, true, false}, /* none was sent */
        {56, 0, true, true, false, true},   /* Delay began again: latched */
        {60, 0, true, true, false, true},
    };
    ff_rsi_client_config config = ff_rsi_client_config_default();
    config.ipoc_step = 4;
    ff_rsi_client_state s;
    ff_rsi_client_reset(&s);
    double accepted = 0.0;
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
        char text[256], answer[FF_RSI_SEND_MAX];
        size_t used;
        ff_rsi_rob rob;
        snprintf(text, sizeof text,
                 "<Rob><AIPos A1=\"0\" A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6=\"0\"/><Delay D=\"%d\"/>"
                 "<IPOC>%d</IPOC></Rob>",
                 steps[n].delay, steps[n].ipoc);
        const double sent = s.sent[FF_RSI_TAG_AXES];
        assert_true(ff_rsi_client_receive(&config, &s, text, strlen(text), &rob) >= 0);
        if (n) {
            assert_int_equal(s.taken, steps[n].taken);
            assert_int_equal(s.stood, steps[n].stood);
            accepted = s.taken ? sent : accepted;
            assert_near(s.sent[FF_RSI_TAG_AXES], accepted, 0.0);
        }
        assert_int_equal(s.restarted, steps[n].restarted);
        const ff_rsi_command command = {.axes = {1e-3 * (double)(n + 1)}};
        if (steps[n].answer)
            assert_int_equal(ff_rsi_client_answer(&config, &s, &command, answer, sizeof answer, &used),
                             FF_OK);
    }
    /* IPOC: one that was overtaken is none, two in order are */
    for (int n = 0; n < 3; n++) {
        ff_rsi_client_state old = s;
        old.restarted = false;
        const int back[3][2] = {{20, 20}, {24, 20}, {20, 24}};
        for (int k = 0; k < 2; k++) {
            char text[256];
            ff_rsi_rob rob;
            snprintf(text, sizeof text,
                     "<Rob><AIPos A1=\"0\" A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6=\"0\"/><Delay D=\"0\"/>"
                     "<IPOC>%d</IPOC></Rob>",
                     back[n][k]);
            assert_int_equal(ff_rsi_client_receive(&config, &old, text, strlen(text), &rob), FF_INFO_STALE);
        }
        assert_int_equal(old.restarted, n == 2);
    }
}

/* The program's own set point does not follow the corrections: where it is another one, they count from
 * another origin, though IPOC and Delay count on. What was said once must be said. */
static void test_the_set_point_is_the_origin(void **state) {
    (void)state;
    static const struct {
        const char *set; /* of the second telegram */
        bool restarted;
        ff_status status;
    } cases[] = {
        {"<RSol X=\"100\" Y=\"0\" Z=\"-7\" A=\"180\" B=\"0\" C=\"1\"/><ASPos A1=\"1\" A2=\"2\" A3=\"3\" "
         "A4=\"4\" A5=\"5\" A6=\"6\"/>",
         false, FF_OK},
        {"<RSol X=\"100.000009\" Y=\"0\" Z=\"-7\" A=\"-179.999995\" B=\"0\" C=\"1\"/><ASPos A1=\"1\" "
         "A2=\"2\" "
         "A3=\"3\" A4=\"4\" A5=\"5\" A6=\"6.000009\"/>",
         false, FF_OK},
        {"<RSol X=\"100\" Y=\"0\" Z=\"-7.000011\" A=\"180\" B=\"0\" C=\"1\"/><ASPos A1=\"1\" A2=\"2\" "
         "A3=\"3\" "
         "A4=\"4\" A5=\"5\" A6=\"6\"/>",
         true, FF_OK},
        {"<RSol X=\"99.999989\" Y=\"0\" Z=\"-7\" A=\"180\" B=\"0\" C=\"1\"/><ASPos A1=\"1\" A2=\"2\" "
         "A3=\"3\" "
         "A4=\"4\" A5=\"5\" A6=\"6\"/>",
         true, FF_OK},
        {"<RSol X=\"100\" Y=\"0\" Z=\"-7\" A=\"180\" B=\"0.000011\" C=\"1\"/><ASPos A1=\"1\" A2=\"2\" "
         "A3=\"3\" "
         "A4=\"4\" A5=\"5\" A6=\"6\"/>",
         true, FF_OK},
        {"<RSol X=\"100\" Y=\"0\" Z=\"-7\" A=\"180\" B=\"0\" C=\"1\"/><ASPos A1=\"1\" A2=\"2\" A3=\"3\" "
         "A4=\"4\" A5=\"5\" A6=\"5.999989\"/>",
         true, FF_OK},
        {"<RSol X=\"100\" Y=\"0\" Z=\"-7\" A=\"180\" B=\"0\" C=\"1\"/>", false, FF_ERR_FORMAT},
        {"", false, FF_ERR_FORMAT},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        ff_rsi_client_config config = ff_rsi_client_config_default();
        ff_rsi_client_state s;
        ff_rsi_client_reset(&s);
        for (int k = 0; k < 2; k++) {
            char text[640];
            ff_rsi_rob rob;
            snprintf(text, sizeof text,
                     "<Rob><AIPos A1=\"0\" A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6=\"0\"/>%s<Delay "
                     "D=\"0\"/><IPOC>%d</IPOC></Rob>",
                     cases[k ? n : 0].set, 4 + 4 * k);
            assert_int_equal(ff_rsi_client_receive(&config, &s, text, strlen(text), &rob),
                             k ? cases[n].status : FF_OK);
        }
        assert_int_equal(s.restarted, cases[n].restarted);
        assert_int_equal(s.info.malformed, cases[n].status != FF_OK);
    }
}

/* A Delay that is missing for a while does not begin at 0, and one that comes later does not count: neither
 * makes an answer late that was taken. */
static void test_a_delay_that_comes_and_goes(void **state) {
    (void)state;
    for (int later = 0; later < 2; later++) {
        ff_rsi_client_config config = ff_rsi_client_config_default();
        ff_rsi_client_state s;
        ff_rsi_client_reset(&s);
        for (int k = 0; k < 9; k++) {
            char text[256], answer[FF_RSI_SEND_MAX];
            size_t used;
            ff_rsi_rob rob;
            const bool says = later ? k > 3 : k < 3 || k > 5;
            /* those that are not answered are late */
            snprintf(text, sizeof text,
                     "<Rob><AIPos A1=\"0\" A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6=\"0\"/>%s%s%s"
                     "<IPOC>%d</IPOC></Rob>",
                     says ? "<Delay D=\"" : "", says ? (!later && k > 5 ? "10" : "7") : "",
                     says ? "\"/>" : "", 4 + 4 * k);
            const ff_status status = ff_rsi_client_receive(&config, &s, text, strlen(text), &rob);
            assert_int_equal(status, !says && !later    ? FF_ERR_FORMAT
                                     : !later && k == 6 ? FF_INFO_GAP
                                                        : FF_OK);
            if (status < 0)
                continue;
            assert_int_equal(s.taken, k > 0);
            assert_false(s.restarted);
            assert_int_equal(s.stood, !later && k == 6);
            const ff_rsi_command command = {.axes = {1e-3 * (k + 1)}};
            assert_int_equal(ff_rsi_client_answer(&config, &s, &command, answer, sizeof answer, &used),
                             FF_OK);
        }
    }
}

/* What the first telegram carried, every one carries: without it the robot would be at 0, or its counter. */
static void test_what_the_first_telegram_carried(void **state) {
    (void)state;
    const unsigned all =
        FF_RSI_RIST | FF_RSI_RSOL | FF_RSI_AIPOS | FF_RSI_ASPOS | FF_RSI_EIPOS | FF_RSI_DELAY;
    for (unsigned without = 1; without <= FF_RSI_DELAY; without *= 2)
        for (int channel = 0; channel < 2; channel++)
            for (int ever = 0; ever < 2; ever++) {
                bench b;
                bench_reset(&b, FF_RSI_ABSOLUTE, (ff_rsi_channel)channel);
                const bool needed = without == (channel == FF_RSI_BY_AXES ? FF_RSI_AIPOS : FF_RSI_RIST);
                b.cc.fields = ever ? all : all & ~without;
                assert_int_equal(bench_ask(&b), !ever && needed ? FF_ERR_FORMAT : FF_OK);
                if (!ever)
                    continue;
                bench_answer(&b, NULL);
                bench_deliver(&b);
                assert_int_equal(bench_finish(&b), FF_OK);
                b.cc.fields = all & ~without;
                assert_int_equal(bench_ask(&b), FF_ERR_FORMAT);
                assert_int_equal(b.ps.info.malformed, 1);
            }
}

static void test_stop_tag(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    bench_ask(&b);
    ff_rsi_command command = axes_command(&b, 0);
    command.stop = true;
    bench_answer(&b, &command);
    assert_non_null(strstr(b.sen_bytes, "<Stop>1</Stop>"));
    bench_deliver(&b);
    assert_int_equal(bench_finish(&b), FF_ERR_DEVICE);
    assert_int_equal(b.cs.stopped, FF_RSI_STOP_ASKED);
}

static void test_client_counts(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    const char *const axes =
        "<Rob><AIPos A1=\"1\" A2=\"1\" A3=\"1\" A4=\"1\" A5=\"1\" A6=\"1\"/><IPOC>%d</IPOC></Rob>";
    const struct {
        int ipoc;
        ff_status status;
    } steps[] = {{100, FF_OK},       {104, FF_OK},         {104, FF_INFO_STALE}, {108, FF_OK},
                 {120, FF_INFO_GAP}, {112, FF_INFO_STALE}, {124, FF_OK}};
    char text[256];
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        snprintf(text, sizeof text, axes, steps[i].ipoc);
        assert_int_equal(ff_rsi_client_receive(&b.pc, &b.ps, text, strlen(text), &b.seen), steps[i].status);
    }
    assert_int_equal(ff_rsi_client_receive(&b.pc, &b.ps, "<Rob/>", 6, &b.seen), FF_INFO_HELD);
    assert_int_equal(ff_rsi_client_receive(&b.pc, &b.ps, "<Rob><IPOC>128</IPOC></Rob>", 27, &b.seen),
                     FF_ERR_FORMAT);
    const ff_rsi_client_info *info = &b.ps.info;
    assert_true(info->received == 5 && info->repeated == 1 && info->reordered == 1 && info->lost == 2);
    assert_true(info->empty == 1 && info->malformed == 1 && info->unanswered == 4);
    assert_int_equal(bench_answer(&b, NULL), FF_OK); /* hold before any command: zero */
    assert_non_null(strstr(b.sen_bytes, "A1=\"0.000000\""));
    assert_non_null(strstr(b.sen_bytes, "<IPOC>124</IPOC>"));
    assert_int_equal(bench_answer(&b, NULL), FF_ERR_ARGUMENT);
    assert_int_equal(b.sen_size, 0);
    snprintf(text, sizeof text, axes, 128);
    ff_rsi_client_receive(&b.pc, &b.ps, text, strlen(text), &b.seen);
    assert_int_equal(ff_rsi_client_answer(&b.pc, &b.ps, NULL, b.sen_bytes, 20, &b.sen_size), FF_ERR_SIZE);
    ff_rsi_command huge = axes_command(&b, 0);
    huge.axes[3] = 1e12;
    assert_int_equal(bench_answer(&b, &huge), FF_ERR_LIMIT);
    assert_true(b.sen_size > 0);
}

static void test_controller_refuses(void **state) {
    (void)state;
    bench b;
    bench_reset(&b, FF_RSI_ABSOLUTE, FF_RSI_BY_AXES);
    assert_int_equal(bench_finish(&b), FF_ERR_ARGUMENT);
    bench_ask(&b);
    size_t used;
    assert_int_equal(ff_rsi_controller_send(&b.cc, &b.cs, &b.rob, b.rob_bytes, sizeof b.rob_bytes, &used),
                     FF_ERR_ARGUMENT);
    const char *const strange[] = {"<Sen Type=\"ImFree\"><IPOC>5</IPOC></Sen>",
                                   "<Sen Type=\"ImFree\"><IPOC>0</IPOC></Sen>",
                                   "<Sen Type=\"ImFree\"><IPOC>400</IPOC></Sen>"};
    for (int i = 0; i < 3; i++)
        assert_int_equal(ff_rsi_controller_receive(&b.cc, &b.cs, strange[i], strlen(strange[i])),
                         FF_ERR_ARGUMENT);
    assert_int_equal(ff_rsi_controller_receive(&b.cc, &b.cs, "x", 1), FF_ERR_FORMAT);
    assert_true(b.cs.info.strange == 3 && b.cs.info.malformed == 1 && b.cs.info.accepted == 0);
    b.cc.only_send = true;
    assert_int_equal(bench_finish(&b), FF_OK);
    assert_true(b.cs.info.late == 0);
    ff_rsi_controller_config c = ff_rsi_controller_config_default(FF_RSI_RELATIVE);
    assert_false(c.holdon[0]);
    c.axiscorr_lower[3] = FF_NAN;
    assert_int_equal(ff_rsi_controller_config_validate(&c), FF_ERR_ARGUMENT);
    c = ff_rsi_controller_config_default(FF_RSI_ABSOLUTE);
    c.ipoc_step = 0;
    assert_int_equal(ff_rsi_controller_config_validate(&c), FF_ERR_ARGUMENT);
    ff_rsi_client_config p = ff_rsi_client_config_default();
    p.clip_window = FF_RSI_WINDOW_MAX + 1;
    assert_int_equal(ff_rsi_client_config_validate(&p), FF_ERR_ARGUMENT);
    p = ff_rsi_client_config_default();
    p.max_rotation = FF_NAN;
    assert_int_equal(ff_rsi_client_config_validate(&p), FF_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rob_golden),
                                       cmocka_unit_test(test_sen_golden),
                                       cmocka_unit_test(test_signals_and_heartbeat),
                                       cmocka_unit_test(test_rob_is_read_by_name),
                                       cmocka_unit_test(test_rob_refuses),
                                       cmocka_unit_test(test_sen_refuses),
                                       cmocka_unit_test(test_names_are_checked),
                                       cmocka_unit_test(test_random_round_trips),
                                       cmocka_unit_test(test_hostile_bytes),
                                       cmocka_unit_test(test_pose_conversion),
                                       cmocka_unit_test(test_axes_reach_the_controller),
                                       cmocka_unit_test(test_cartesian_reaches_the_controller),
                                       cmocka_unit_test(test_external_axis_in_metres),
                                       cmocka_unit_test(test_late_answers),
                                       cmocka_unit_test(test_holdon_by_tag),
                                       cmocka_unit_test(test_timeout_stops),
                                       cmocka_unit_test(test_clip_monitor_and_detector),
                                       cmocka_unit_test(test_detector_forgives_delay),
                                       cmocka_unit_test(test_client_knows_what_was_taken),
                                       cmocka_unit_test(test_the_set_point_is_the_origin),
                                       cmocka_unit_test(test_a_delay_that_comes_and_goes),
                                       cmocka_unit_test(test_what_the_first_telegram_carried),
                                       cmocka_unit_test(test_stop_tag),
                                       cmocka_unit_test(test_detector_has_its_bounds),
                                       cmocka_unit_test(test_detector_knows_turns),
                                       cmocka_unit_test(test_client_counts_from_its_first_telegram),
                                       cmocka_unit_test(test_client_counts),
                                       cmocka_unit_test(test_controller_refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
