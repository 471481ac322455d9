/* Numbers as text: what is one, what is out of range, and that the shortest form reads back to the bit. JSON
 * is written with the same numbers. */
#include "support.h"

#include "text/json.h"
#include "text/number.h"

static void test_parse_takes_the_whole_text_or_nothing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},         {"7", 7},      {"-0", -0.0},   {"+1.5", 1.5},         {".5", 0.5},
                {"5.", 5},        {"1e3", 1000}, {"1E-3", 1e-3}, {"-2.5e+2", -250},     {"00012", 12},
                {"1e308", 1e308}, {"0e999", 0},  {"0.1", 0.1},   {"4.9e-324", 4.9e-324}};
    static const char *const bad[] = {"",    "+",   ".",  "e5", "1e",  "1e+",   "1000kg", "0x10", "nan",
                                      "inf", "1,5", " 1", "1 ", "--1", "1.2.3", "1e5.0",  "1_000"};
    double value;
    bool in_range;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(ff_number_parse(good[i].text, &value, &in_range));
        assert_true(in_range);
        assert_memory_equal(&value, &good[i].value, sizeof value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (ff_number_parse(bad[i], &value, &in_range))
            fail_msg("'%s' was read as %g", bad[i], value);
    assert_true(ff_number_parse("1e309", &value, &in_range) && !in_range);
    assert_true(ff_number_parse("1e-400", &value, &in_range) && !in_range);
}

static void test_format_reads_back_to_the_bit(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    char text[FF_NUMBER_SIZE];
    for (int n = 0; n < test_count(20000, 2000000); n++) {
        const double x = ff_rng_normal(&rng) * pow(10.0, floor(ff_rng_range(&rng, -300.0, 300.0)));
        double back;
        bool in_range;
        ff_number_format(x, text);
        assert_true(strlen(text) < FF_NUMBER_SIZE);
        assert_true(ff_number_parse(text, &back, &in_range));
        if (memcmp(&x, &back, sizeof x) != 0)
            fail_msg("%.17g was written as %s", x, text);
    }
    ff_number_format(0.1, text);
    assert_string_equal(text, "0.1"); /* no more digits than needed */
    ff_number_format(1e22, text);
    assert_string_equal(text, "1e+22");
    ff_number_format(FF_NAN, text);
    assert_string_equal(text, "null");
    ff_number_format(-FF_INF, text);
    assert_string_equal(text, "null");
}

/* The digits of a text without its point and sign, and the power of ten of the last one. */
static int digits_of(const char *text, uint64_t *digits, int *exponent) {
    *digits = 0;
    *exponent = 0;
    bool point = false;
    for (; *text && *text != 'e'; text++)
        if (*text == '.')
            point = true;
        else if (*text != '-') {
            *digits = 10 * *digits + (uint64_t)(*text - '0');
            *exponent -= point;
        }
    if (*text == 'e')
        *exponent += atoi(text + 1);
    int n = 0;
    while (*digits % 10 == 0)
        *digits /= 10, ++*exponent;
    for (uint64_t d = *digits; d; d /= 10)
        n++;
    return n;
}

static bool reads_as(uint64_t digits, int exponent, double x) {
    char text[48];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    return strtod(text, NULL) == x;
}

/* By brute force: no decimal with one digit less reads back, and where C's own rounding to as many digits
 * does, it is the same one. */
static void test_no_shorter_decimal_reads_back(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < test_count(20000, 1000000); n++) {
        uint64_t bits = ((uint64_t)(ff_rng_uniform(&rng) * 4294967296.0) << 32) |
                        (uint64_t)(ff_rng_uniform(&rng) * 4294967296.0);
        if (n % 4 == 1)
            bits &= 0x7ff0000000000003u; /* a power of two and its neighbours: their intervals are lopsided */
        else if (n % 4 == 2)
            bits &= 0x800fffffffffffffu; /* below the smallest normal number */
        double x;
        memcpy(&x, &bits, sizeof x);
        if (n % 4 == 3)
            x = floor(ff_rng_uniform(&rng) * 1e6) / 1000.0; /* as people write them */
        x = fabs(x);
        if (!isfinite(x) || x == 0.0)
            continue;
        char text[FF_NUMBER_SIZE], other[48];
        const int length = ff_number_shortest(x, text);
        assert_int_equal(length, strlen(text));
        uint64_t digits, theirs;
        int exponent, theirs_exponent;
        const int count = digits_of(text, &digits, &exponent);
        if (!reads_as(digits, exponent, x) || count > 17)
            fail_msg("%.17g was written as %s", x, text);
        for (uint64_t shorter = digits / 10; count > 1 && shorter <= digits / 10 + 1; shorter++)
            if (reads_as(shorter, exponent + 1, x))
                fail_msg("%.17g was written as %s, %llue%d is shorter", x, text, (unsigned long long)shorter,
                         exponent + 1);
        snprintf(other, sizeof other, "%.*e", count - 1, x);
        if (strtod(other, NULL) == x && digits_of(other, &theirs, &theirs_exponent) == count &&
            (theirs != digits || theirs_exponent != exponent))
            fail_msg("%.17g was written as %s, %s is nearer", x, text, other);
    }
    static const struct {
        double x;
        const char *text;
    } form[] = {{0.0, "0"},
                {-0.0, "-0"},
                {1.0, "1"},
                {-10.0, "-10"},
                {1e16, "10000000000000000"},
                {1e17, "1e+17"},
                {1e23, "1e+23"},
                {0.0001, "0.0001"},
                {-0.00012, "-0.00012"},
                {1e-5, "1e-05"},
                {1.5e-5, "1.5e-05"},
                {5e-324, "5e-324"},
                {1.7976931348623157e308, "1.7976931348623157e+308"},
                {123.456, "123.456"},
                {9007199254740993.0, "9007199254740992"}};
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        char text[FF_NUMBER_SIZE];
        ff_number_shortest(form[i].x, text);
        assert_string_equal(text, form[i].text);
    }
}

/* Any double, drawn values, halves of the ninth digit and their neighbours, powers of ten: what C's own %.9g
 * writes; and short decimals read as C reads them. */
static void test_nine_digits_are_those_of_c(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int n = 0; n < test_count(40000, 2000000); n++) {
        const uint64_t bits = ff_rng_next(&rng);
        const double power = pow(10.0, (double)(bits % 40) - 20.0);
        double x = ff_rng_range(&rng, -1.0, 1.0) * power;
        if (n % 5 == 0)
            memcpy(&x, &bits, sizeof x);
        else if (n % 5 == 1)
            x = (floor(ff_rng_range(&rng, 1e8, 1e9)) + 0.5) * (n % 2 ? 1.0 : power);
        else if (n % 5 == 2)
            x = nextafter(power, bits >> 62 ? HUGE_VAL : 0.0);
        else if (n % 5 == 3)
            x = (double)((bits >> 32) % 2000) * (n % 2 ? 0.001 : 0.25);
        char text[FF_NUMBER_SIZE], theirs[48];
        const int length = ff_number_nine(x, text);
        snprintf(theirs, sizeof theirs, "%.9g", x);
        if (strcmp(text, theirs) != 0 || length != (int)strlen(text))
            fail_msg("%.17g was written as %s, not %s", x, text, theirs);
        const uint64_t integer = n % 100 ? bits >> (bits & 63) : (uint64_t)(n / 100);
        ff_number_integer(integer, text);
        assert_true(strtoull(text, NULL, 10) == integer && (text[0] != '0' || integer == 0));
        double back;
        bool in_range;
        const double wanted = strtod(theirs, NULL);
        if (isfinite(wanted) &&
            (!ff_number_parse(theirs, &back, &in_range) || memcmp(&back, &wanted, sizeof back) != 0))
            fail_msg("%s was read as %.17g", theirs, back);
    }
}

static void test_json_commas_escapes_and_null(void **state) {
    (void)state;
    ff_json j;
    ff_json_init(&j, false);
    ff_json_open(&j, NULL, '{');
    ff_json_string(&j, "a\"b", "line\nand \\ and \x01");
    ff_json_number(&j, "n", FF_NAN);
    ff_json_string(&j, "none", NULL);
    ff_json_bool(&j, "yes", true);
    ff_json_integer(&j, "i", -9007199254740993);
    ff_json_open(&j, "list", '[');
    ff_json_number(&j, NULL, 0.5);
    ff_json_vec3(&j, NULL, ff_vec3_make(1.0, 2.0, 3.0));
    ff_json_close(&j, ']');
    ff_json_open(&j, "empty", '{');
    ff_json_close(&j, '}');
    ff_json_close(&j, '}');
    assert_false(j.failed);
    assert_string_equal(j.text,
                        "{\"a\\\"b\":\"line\\u000aand \\\\ and \\u0001\",\"n\":null,\"none\":null,"
                        "\"yes\":true,\"i\":-9007199254740993,\"list\":[0.5,[1,2,3]],\"empty\":{}}\n");
    assert_int_equal(j.length, strlen(j.text));
    ff_json_free(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_takes_the_whole_text_or_nothing),
        cmocka_unit_test(test_format_reads_back_to_the_bit),
        cmocka_unit_test(test_no_shorter_decimal_reads_back),
        cmocka_unit_test(test_nine_digits_are_those_of_c),
        cmocka_unit_test(test_json_commas_escapes_and_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
