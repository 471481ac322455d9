/* RTDE: the published handshake, recipes, round trips, hostile bytes. */
#include "devices/rtde/rtde.h"

#include "support.h"

static void test_handshake_golden(void **state) {
    (void)state;
    uint8_t bytes[64];
    size_t used, taken;
    ff_rtde_packet packet;
    assert_int_equal(ff_rtde_version_encode(2, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 5);
    assert_memory_equal(bytes, ((uint8_t[]){0, 5, 0x56, 0, 2}), 5);
    const uint8_t reply[] = {0, 4, 0x56, 1, 0, 4, 0x53, 0};
    for (size_t n = 0; n < 4; n++) /* a stream arrives in pieces */
        assert_int_equal(ff_rtde_decode(reply, n, &packet, &taken), FF_INFO_HELD);
    assert_int_equal(ff_rtde_decode(reply, sizeof reply, &packet, &taken), FF_OK);
    assert_int_equal(taken, 4);
    assert_int_equal(ff_rtde_accepted(&packet), FF_OK);
    assert_int_equal(ff_rtde_decode(reply + 4, 4, &packet, &taken), FF_OK);
    assert_int_equal(ff_rtde_accepted(&packet), FF_ERR_DEVICE);
    packet.type = 'U';
    assert_int_equal(ff_rtde_accepted(&packet), FF_ERR_FORMAT);
    assert_int_equal(ff_rtde_decode((uint8_t[]){0, 2, 0}, 3, &packet, &taken), FF_ERR_FORMAT);
    assert_int_equal(ff_rtde_outputs_encode(125, "actual_q", bytes, sizeof bytes, &used), FF_OK);
    assert_memory_equal(bytes, "\0\x13O\x40\x5f\x40\0\0\0\0\0actual_q", 19);
    assert_int_equal(ff_rtde_outputs_encode(501, "actual_q", bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_outputs_encode(500, "", bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_outputs_encode(500, "actual_q", bytes, 18, &used), FF_ERR_SIZE);
    assert_int_equal(ff_rtde_inputs_encode("input_int_register_0", bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(ff_rtde_inputs_encode("", bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_encode('S', NULL, 0, bytes, sizeof bytes, &used), FF_OK);
    assert_int_equal(used, 3);
    assert_int_equal(ff_rtde_encode('S', bytes, 65533, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
}

static ff_status recipe_of(const char *types, ff_rtde_recipe *recipe, size_t *bad) {
    static uint8_t payload[4096];
    payload[0] = 7;
    memcpy(payload + 1, types, strlen(types));
    return ff_rtde_recipe_decode(&(ff_rtde_packet){'O', payload, 1 + strlen(types)}, recipe, bad);
}

static void test_recipe_and_data(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    ff_rtde_recipe recipe;
    size_t bad = 99, used, taken;
    assert_int_equal(recipe_of("DOUBLE,NOT_FOUND", &recipe, &bad), FF_ERR_UNSUPPORTED);
    assert_int_equal(bad, 1);
    assert_int_equal(recipe_of("IN_USE", &recipe, &bad), FF_ERR_UNSUPPORTED);
    assert_int_equal(recipe_of("DOUBLE,", &recipe, &bad), FF_ERR_UNSUPPORTED);
    assert_int_equal(recipe_of("", &recipe, &bad), FF_ERR_FORMAT);
    char many[1024] = "BOOL";
    for (int i = 0; i < FF_RTDE_FIELDS_MAX; i++)
        strcat(many, ",BOOL");
    assert_int_equal(recipe_of(many, &recipe, &bad), FF_ERR_SIZE);
    assert_int_equal(
        recipe_of("DOUBLE,VECTOR6D,VECTOR3D,UINT32,INT32,UINT64,BOOL,UINT8,VECTOR6INT32,VECTOR6UINT32",
                  &recipe, &bad),
        FF_OK);
    assert_true(recipe.id == 7 && recipe.values == 27 &&
                recipe.bytes == 1 + 80 + 4 + 4 + 8 + 1 + 1 + 24 + 24);
    uint8_t bytes[256];
    ff_rtde_packet packet;
    double values[27], back[27];
    for (int i = 0; i < 1000; i++) {
        for (int k = 0; k < 10; k++)
            values[k] = ff_rng_normal(&rng) * pow(10, ff_rng_range(&rng, -12, 12));
        for (int k = 10; k < 27; k++)
            values[k] = floor(ff_rng_range(&rng, 0, 4294967295.0));
        values[11] = -floor(ff_rng_range(&rng, 0, 2147483648.0));
        values[13] = i % 2;
        values[14] = i % 256;
        for (int k = 15; k < 21; k++)
            values[k] -= 2147483648.0;
        assert_int_equal(ff_rtde_data_encode(&recipe, values, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(ff_rtde_decode(bytes, used, &packet, &taken), FF_OK);
        assert_int_equal(ff_rtde_data_decode(&recipe, &packet, back, 27), FF_OK);
        assert_memory_equal(back, values, sizeof values);
    }
    assert_int_equal(ff_rtde_data_decode(&recipe, &packet, back, 26), FF_ERR_SIZE);
    assert_int_equal(ff_rtde_data_encode(&recipe, values, bytes, used - 1, &used), FF_ERR_SIZE);
    for (int k = 0; k < 27; k++) {
        double wrong[27];
        memcpy(wrong, values, sizeof wrong);
        wrong[k] = k < 10 ? FF_NAN : 1e30;
        assert_int_equal(ff_rtde_data_encode(&recipe, wrong, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    }
    ff_rtde_data_encode(&recipe, values, bytes, sizeof bytes, &used);
    memset(bytes + 4, 0xff, 8); /* NaN */
    ff_rtde_decode(bytes, used, &packet, &taken);
    assert_int_equal(ff_rtde_data_decode(&recipe, &packet, back, 27), FF_ERR_NOT_FINITE);
    bytes[3] = 8;
    assert_int_equal(ff_rtde_data_decode(&recipe, &packet, back, 27), FF_ERR_FORMAT);
}

/* What each kind of field cannot hold, and what no packet of the protocol is. */
static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        double good, bad[4];
    } cases[] = {{"BOOL", 1, {0.5, 2, -1, FF_NAN}},
                 {"UINT8", 255, {0.5, 256, -1, FF_INF}},
                 {"UINT32", 4294967295.0, {0.5, 4294967296.0, -1, FF_NAN}},
                 {"UINT64", 9007199254740992.0, {0.5, 18446744073709551616.0, -1, FF_NAN}},
                 {"INT32", -2147483648.0, {0.5, 2147483648.0, -2147483649.0, FF_NAN}}};
    ff_rtde_recipe recipe;
    uint8_t bytes[2048];
    size_t bad, used;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(recipe_of(cases[i].kind, &recipe, &bad), FF_OK);
        assert_int_equal(ff_rtde_data_encode(&recipe, &cases[i].good, bytes, sizeof bytes, &used), FF_OK);
        assert_int_equal(used, 3 + recipe.bytes);
        for (int n = 0; n < 4; n++)
            assert_int_equal(ff_rtde_data_encode(&recipe, &cases[i].bad[n], bytes, sizeof bytes, &used),
                             FF_ERR_ARGUMENT);
    }
    /* another type, a length that is not the recipe's */
    double value;
    const uint8_t one[] = {7, 1, 0};
    assert_int_equal(recipe_of("BOOL", &recipe, &bad), FF_OK);
    assert_int_equal(ff_rtde_data_decode(&recipe, &(ff_rtde_packet){'U', one, 2}, &value, 1), FF_OK);
    assert_int_equal(ff_rtde_data_decode(&recipe, &(ff_rtde_packet){'M', one, 2}, &value, 1), FF_ERR_FORMAT);
    assert_int_equal(ff_rtde_data_decode(&recipe, &(ff_rtde_packet){'U', one, 3}, &value, 1), FF_ERR_FORMAT);
    assert_int_equal(
        ff_rtde_recipe_decode(&(ff_rtde_packet){'M', (const uint8_t *)"\7BOOL", 5}, &recipe, &bad),
        FF_ERR_FORMAT);
    assert_int_equal(
        ff_rtde_recipe_decode(&(ff_rtde_packet){'I', (const uint8_t *)"\7BOOL", 5}, &recipe, &bad), FF_OK);
    /* yes or no, in one byte */
    const uint8_t yes = 1, no = 0, neither = 2;
    assert_int_equal(ff_rtde_accepted(&(ff_rtde_packet){'V', &yes, 1}), FF_OK);
    assert_int_equal(ff_rtde_accepted(&(ff_rtde_packet){'S', &yes, 1}), FF_OK);
    assert_int_equal(ff_rtde_accepted(&(ff_rtde_packet){'P', &no, 1}), FF_ERR_DEVICE);
    assert_int_equal(ff_rtde_accepted(&(ff_rtde_packet){'V', &neither, 1}), FF_ERR_FORMAT);
    assert_int_equal(ff_rtde_accepted(&(ff_rtde_packet){'U', &yes, 1}), FF_ERR_FORMAT);
    assert_int_equal(ff_rtde_accepted(&(ff_rtde_packet){'V', one, 2}), FF_ERR_FORMAT);
    const uint8_t text[] = {0, 0, 1};
    ff_rtde_message message;
    assert_int_equal(ff_rtde_message_decode(&(ff_rtde_packet){'V', text, 3}, &message), FF_ERR_FORMAT);
    /* requests */
    char names[FF_RTDE_NAMES_MAX + 2];
    memset(names, 'a', sizeof names);
    names[sizeof names - 1] = 0;
    static const double frequency[] = {0.0, -1.0, 500.1};
    for (int i = 0; i < 3; i++)
        assert_int_equal(ff_rtde_outputs_encode(frequency[i], "q", bytes, sizeof bytes, &used),
                         FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_outputs_encode(FF_NAN, "q", bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_outputs_encode(125.0, "", bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_outputs_encode(125.0, names, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_outputs_encode(125.0, "q", bytes, 11, &used), FF_ERR_SIZE);
    assert_int_equal(ff_rtde_inputs_encode("", bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_inputs_encode(names, bytes, sizeof bytes, &used), FF_ERR_ARGUMENT);
    assert_int_equal(ff_rtde_version_encode(2, bytes, 4, &used), FF_ERR_SIZE);
    assert_int_equal(used, 0);
}

static void test_text_and_noise(void **state) {
    (void)state;
    ff_rtde_message message;
    const uint8_t text[] = {2, 'h', 'i', 3, 'P', 'o', 'l', 1};
    assert_int_equal(ff_rtde_message_decode(&(ff_rtde_packet){'M', text, 8}, &message), FF_OK);
    assert_true(ff_span_equal(message.text, "hi") && ff_span_equal(message.source, "Pol") &&
                message.level == 1);
    for (size_t n = 0; n < 8; n++)
        assert_int_equal(ff_rtde_message_decode(&(ff_rtde_packet){'M', text, n}, &message), FF_ERR_FORMAT);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int i = 0; i < test_count(20000, 500000); i++) {
        const size_t n = (size_t)(ff_rng_next(&rng) % 40);
        uint8_t *noise = malloc(n + 1);
        for (size_t k = 0; k < n; k++)
            noise[k] = (uint8_t)ff_rng_next(&rng);
        ff_rtde_packet packet;
        ff_rtde_recipe recipe;
        size_t taken, bad;
        if (ff_rtde_decode(noise, n, &packet, &taken) == FF_OK)
            assert_true(taken <= n && packet.payload + packet.size == noise + taken);
        ff_rtde_message_decode(&(ff_rtde_packet){'M', noise, n}, &message);
        ff_rtde_recipe_decode(&(ff_rtde_packet){'O', noise, n}, &recipe, &bad);
        free(noise);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handshake_golden), cmocka_unit_test(test_recipe_and_data),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_text_and_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
