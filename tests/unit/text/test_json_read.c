/* The reader of strangers' JSON against RFC 8259: what is JSON is read as it stands, what is not is refused,
 * cut or changed anywhere it reads nothing outside of its bytes. */
#include "text/json_read.h"

#include "support.h"

static int read_text(const char *text, ff_json_token *token, int capacity) {
    const size_t n = strlen(text);
    char *copy = malloc(n ? n : 1); /* no byte behind it */
    memcpy(copy, text, n);
    const int count = ff_json_read(copy, n, token, capacity);
    free(copy);
    return count;
}

static void test_what_is_json(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int tokens;
    } good[] = {{"null", 1},
                {" true ", 1},
                {"-0.5e+3", 1},
                {"\"\"", 1},
                {"[]", 1},
                {"{}", 1},
                {"[1,[2],{\"a\":3}]", 7},
                {"{\"a\":[],\"b\":{}}", 5},
                {"\"\\u00e9\\n\"", 1},
                {"[[[[[[[[]]]]]]]]", 8}};
    ff_json_token token[16];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(read_text(good[i].text, token, 16), good[i].tokens);
    static const char *const bad[] = {"",           " ",       "nul",
                                      "[1,]",       "{\"a\"}", "{a:1}",
                                      "{\"a\":1,}", "01",      "1.",
                                      ".5",         "+1",      "1e",
                                      "\"",         "\"\\x\"", "\"\\u12g4\"",
                                      "\"\n\"",     "[1 2]",   "[1] [2]",
                                      "'a'",        "NaN",     "[[[[[[[[[1]]]]]]]]]",
                                      "{\"a\":1}}", "\"\\u12", "-"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_text(bad[i], token, 16) >= 0)
            fail_msg("taken for JSON: %s", bad[i]);
    assert_int_equal(read_text("[1,2,3]", token, 3), -1); /* no room */
}

static void test_members_and_values(void **state) {
    (void)state;
    static const char text[] = "{\"op\":\"s\\u0065t\",\"n\":[1.5,-2,4294967295,1e999,true],\"d\":1,\"d\":2,"
                               "\"face\":\"\\ud83d\\ude00\",\"half\":\"\\ud83d\",\"zero\":\"\\u0000\"}";
    ff_json_token t[32];
    double value;
    unsigned whole;
    char out[16];
    assert_int_equal(ff_json_read(text, sizeof text - 1, t, 32), 20);
    assert_true(ff_json_is(&t[ff_json_member(t, 0, "op")], "set"));
    const int list = ff_json_member(t, 0, "n");
    assert_true(ff_json_value(&t[list + 1], &value) && value == 1.5);
    assert_false(ff_json_whole(&t[list + 1], 10, &whole) || ff_json_whole(&t[list + 2], 10, &whole));
    assert_true(ff_json_whole(&t[list + 3], UINT32_MAX, &whole) && whole == UINT32_MAX);
    assert_false(ff_json_whole(&t[list + 3], 10, &whole));
    assert_false(ff_json_value(&t[list + 4], &value)); /* not finite */
    assert_false(ff_json_value(&t[list + 5], &value));
    assert_int_equal(ff_json_member(t, 0, "d"), -1); /* twice */
    assert_int_equal(ff_json_member(t, 0, "no"), -1);
    assert_int_equal(ff_json_member(t, list, "op"), -1); /* not an object */
    assert_true(ff_json_text(&t[ff_json_member(t, 0, "face")], out, sizeof out));
    assert_string_equal(out, "\xf0\x9f\x98\x80");
    assert_false(ff_json_text(&t[ff_json_member(t, 0, "face")], out, 4)); /* no room */
    assert_false(ff_json_text(&t[ff_json_member(t, 0, "half")], out, sizeof out));
    assert_false(ff_json_text(&t[ff_json_member(t, 0, "zero")], out, sizeof out));
}

static void test_cut_and_changed(void **state) {
    (void)state;
    static const char text[] =
        "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":-2.5e3},null],\"x\":\"\\u00e9\"}";
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    ff_json_token t[64];
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *copy = malloc(n + 1);
        memcpy(copy, text, n);
        assert_int_equal(ff_json_read(copy, n, t, 64), -1);
        free(copy);
    }
    for (int i = 0; i < test_count(5000, 200000); i++) {
        char *copy = malloc(sizeof text - 1), out[64];
        memcpy(copy, text, sizeof text - 1);
        copy[ff_rng_next(&rng) % (sizeof text - 1)] = (char)ff_rng_next(&rng);
        const int count = ff_json_read(copy, sizeof text - 1, t, 64);
        for (int k = 0; k < count; k++) {
            assert_true(t[k].next > k && t[k].next <= count);
            ff_json_text(&t[k], out, sizeof out);
        }
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_is_json),
                                       cmocka_unit_test(test_members_and_values),
                                       cmocka_unit_test(test_cut_and_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
