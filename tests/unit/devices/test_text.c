/* Numbers and small XML documents: against the C library in its own locale, and hostile bytes. */
#include "devices/text.h"

#include <locale.h>

#include "support.h"

static ff_status read_number(const char *text, double *value) {
    return ff_text_read_double((ff_span){text, strlen(text)}, value);
}

static void test_read_double_equals_strtod(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int i = 0; i < test_count(20000, 1000000); i++) {
        char text[64];
        const double x = ff_rng_range(&rng, -1, 1) * pow(10, floor(ff_rng_range(&rng, -6, 10)));
        const char *const forms[] = {"%.4f", "%.6f", "%.9f", "%.15g", "%.7e"};
        snprintf(text, sizeof text, forms[i % 5], x);
        double got = FF_NAN;
        assert_int_equal(read_number(text, &got), FF_OK);
        const double want = strtod(text, NULL);
        /* exact where digits and power are exact; %.15g reaches beyond 22 rarely */
        assert_near(got, want, i % 5 < 3 && fabs(x) < 1e6 ? 0.0 : fabs(want) * 2.3e-16);
    }
}

static void test_read_double_refuses(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",    " ",   "nan", "NaN", "inf", "-inf",  "Infinity", "0x10", "1,5",  "1.5 ",  " 1.5", "1e", "1e+",
        "--1", "+-1", ".",   "-",   "-.",  "1.2.3", "1e5.0",    "1e 5", "12a4", "1_000", "e5",   "1f", "١"};
    double x = 7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (read_number(bad[i], &x) != FF_ERR_FORMAT)
            fail_msg("'%s' was taken for a number", bad[i]);
    }
    assert_int_equal(read_number("1e309", &x), FF_ERR_NOT_FINITE);
    assert_int_equal(read_number("-1e99999999", &x), FF_ERR_NOT_FINITE);
    assert_int_equal(read_number("00000000000000000000000000000000000000000000000000000000000000001", &x),
                     FF_ERR_FORMAT);
    assert_near(x, 7, 0);
    assert_int_equal(read_number("1e-999", &x), FF_OK);
    assert_near(x, 0, 0);
    assert_int_equal(read_number("-0", &x), FF_OK);
    assert_int_equal(read_number("+.5e1", &x), FF_OK);
    assert_near(x, 5, 0);
    assert_int_equal(read_number("123456789012345678901234567890", &x), FF_OK);
    assert_near(x, 123456789012345678901234567890.0, 2e14);
    assert_int_equal(read_number("1.7976931348623157e308", &x), FF_OK);
}

static void test_integers(void **state) {
    (void)state;
    uint64_t u = 0;
    int64_t s = 0;
    assert_int_equal(ff_text_read_u64((ff_span){"18446744073709551615", 20}, &u), FF_OK);
    assert_true(u == UINT64_MAX);
    assert_int_equal(ff_text_read_u64((ff_span){"18446744073709551616", 20}, &u), FF_ERR_FORMAT);
    assert_int_equal(ff_text_read_u64((ff_span){"-1", 2}, &u), FF_ERR_FORMAT);
    assert_int_equal(ff_text_read_u64((ff_span){"", 0}, &u), FF_ERR_FORMAT);
    assert_int_equal(ff_text_read_u64((ff_span){"000000000000000000001", 21}, &u), FF_ERR_FORMAT);
    assert_int_equal(ff_text_read_i64((ff_span){"", 0}, &s), FF_ERR_FORMAT);
    assert_int_equal(ff_text_read_i64((ff_span){"+7", 2}, &s), FF_OK);
    assert_true(s == 7);
    assert_int_equal(ff_text_read_i64((ff_span){"-42", 3}, &s), FF_OK);
    assert_true(s == -42);
    assert_int_equal(ff_text_read_i64((ff_span){"9223372036854775808", 19}, &s), FF_ERR_FORMAT);
    assert_int_equal(ff_text_read_i64((ff_span){"-", 1}, &s), FF_ERR_FORMAT);
}

static void test_put_double_equals_printf(void **state) {
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* if it exists: a comma must not appear */
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int i = 0; i < test_count(20000, 1000000); i++) {
        const int decimals = (int)(ff_rng_next(&rng) % 10);
        const double x = ff_rng_range(&rng, -1, 1) * pow(10, floor(ff_rng_range(&rng, -9, 10)));
        char ours[64], theirs[64];
        ff_text_out out;
        ff_text_begin(&out, ours, sizeof ours);
        ff_text_put_double(&out, x, decimals);
        assert_int_equal(out.status, FF_OK);
        setlocale(LC_ALL, "C");
        snprintf(theirs, sizeof theirs, "%.*f", decimals, x);
        const char *want =
            theirs[0] == '-' && strspn(theirs + 1, "0.") == strlen(theirs + 1) ? theirs + 1 : theirs;
        assert_string_equal(ours, want);
        assert_near(ff_text_round(x, decimals), strtod(want, NULL), 0);
    }
}

/* Values next to the middle between two that can be printed: which one is nearer is decided below the last
 * bit of the product, and printf decides on the exact value. */
static void test_ties_equal_printf(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    for (int i = 0; i < 2000; i++) {
        const double x =
            (ff_rng_next(&rng) % 2 ? 1.0 : -1.0) * ((double)(ff_rng_next(&rng) % 1000000) + 0.5) / 1e9;
        char ours[64], theirs[64];
        ff_text_out out;
        ff_text_begin(&out, ours, sizeof ours);
        ff_text_put_double(&out, x, 9);
        snprintf(theirs, sizeof theirs, "%.9f", x);
        if (strcmp(theirs, "-0.000000000") != 0)
            assert_string_equal(ours, theirs);
    }
    /* what has no place in a telegram is not rounded either */
    assert_true(isnan(ff_text_round(FF_NAN, 3)));
    assert_near(ff_text_round(1.25e9, 0), 1.25e9, 0);
    assert_near(ff_text_round(0.123, -1), 0.123, 0);
    assert_near(ff_text_round(0.123, FF_TEXT_DECIMALS_MAX + 1), 0.123, 0);
}

static void test_put_refuses(void **state) {
    (void)state;
    char text[8];
    ff_text_out out;
    const struct {
        double x;
        int decimals;
        ff_status status;
    } cases[] = {{FF_NAN, 3, FF_ERR_NOT_FINITE}, {-FF_INF, 3, FF_ERR_NOT_FINITE}, {1.1e9, 0, FF_ERR_ARGUMENT},
                 {1, -1, FF_ERR_ARGUMENT},       {1, 10, FF_ERR_ARGUMENT},        {123456.5, 4, FF_ERR_SIZE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ff_text_begin(&out, text, sizeof text);
        ff_text_put_double(&out, cases[i].x, cases[i].decimals);
        assert_int_equal(out.status, cases[i].status);
        ff_text_put(&out, "x"); /* the first fault stays */
        assert_int_equal(out.status, cases[i].status);
        assert_int_equal(out.used, 0);
    }
    ff_text_begin(&out, text, 0);
    assert_int_equal(out.status, FF_ERR_SIZE);
    ff_text_begin(&out, text, sizeof text);
    ff_text_put_u64(&out, 1234567);
    assert_string_equal(text, "1234567");
    ff_text_put(&out, "7");
    assert_int_equal(out.status, FF_ERR_SIZE);
}

static void test_escape_round_trip(void **state) {
    (void)state;
    char escaped[128], back[64];
    ff_text_out out;
    ff_text_begin(&out, escaped, sizeof escaped);
    ff_text_put_escaped(&out, (ff_span){"a<b>&\"c'\x01z", 10});
    assert_string_equal(escaped, "a&lt;b&gt;&amp;&quot;c&apos; z");
    assert_int_equal(ff_xml_unescape((ff_span){escaped, strlen(escaped)}, back, sizeof back), FF_OK);
    assert_string_equal(back, "a<b>&\"c' z");
    assert_int_equal(ff_xml_unescape((ff_span){"&#65;&#x42;", 11}, back, sizeof back), FF_OK);
    assert_string_equal(back, "AB");
    assert_int_equal(ff_xml_unescape((ff_span){"&#x4a;&#x4F;", 12}, back, sizeof back), FF_OK);
    assert_string_equal(back, "JO");
    static const char *const bad[] = {"&",      "&amp",   "&nope;", "&#;",   "&#x;",  "&#0;", "&#300;",
                                      "&#x1g;", "&#x1G;", "&#1a;",  "&#1A;", "&#x/;", "&;"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ff_xml_unescape((ff_span){bad[i], strlen(bad[i])}, back, sizeof back),
                         FF_ERR_FORMAT);
    assert_int_equal(ff_xml_unescape((ff_span){"abcd", 4}, back, 4), FF_ERR_SIZE);
    assert_int_equal(ff_xml_unescape((ff_span){"", 0}, back, 0), FF_ERR_SIZE);
}

static ff_status walk(const char *text) {
    ff_xml_reader reader;
    ff_xml_token token;
    ff_xml_begin(&reader, text, strlen(text));
    ff_status status = ff_xml_next(&reader, &token);
    if (status != FF_OK || token.kind != FF_XML_OPEN)
        return status == FF_OK ? FF_ERR_FORMAT : status;
    for (bool end = token.empty; !end;) {
        ff_span content;
        status = ff_xml_child(&reader, "r", &token, &content, &end);
        if (status != FF_OK)
            return status;
        ff_span attributes = token.attributes, name, value;
        for (bool found = !end; found;) {
            status = ff_xml_attribute(&attributes, &name, &value, &found);
            if (status != FF_OK)
                return status;
        }
    }
    return ff_xml_finish(&reader);
}

static void test_xml(void **state) {
    (void)state;
    static const char *const good[] = {
        "<r/>", "<r></r>", "<?xml version='1.0'?><!-- c --><r> <a x='1' y = \"2>3\"/> <b>t</b> </r>\r\n",
        "<r><a><b><c/></b>text</a></r>", "<r ></r >"};
    static const char *const bad[] = {"",
                                      "<",
                                      "<r",
                                      "<r>",
                                      "</r>",
                                      "<r><a></r>",
                                      "<r><a></b></r>",
                                      "<r>stray</r>",
                                      "<r></r>x",
                                      "<r></r><r/>",
                                      "<r><a x=1/></r>",
                                      "<r><a x/></r>",
                                      "<r><a x=\"1/></r>",
                                      "<r><a x='1'y='2'/></r>",
                                      "<r><a><a><a><a><a><a><a><a><a>",
                                      "<r><a x=\"1\" <b/></r>",
                                      "<r><!-- </r>",
                                      "<?xml <r/>",
                                      "<r>< a/></r>"};
    ff_span open = {" x=\"1", 5}, name, value; /* the element ends before the quote does */
    bool found;
    assert_int_equal(ff_xml_attribute(&open, &name, &value, &found), FF_ERR_FORMAT);
    assert_false(found);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (walk(good[i]) != FF_OK)
            fail_msg("refused %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (walk(bad[i]) != FF_ERR_FORMAT)
            fail_msg("took %s", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read_double_equals_strtod),
                                       cmocka_unit_test(test_read_double_refuses),
                                       cmocka_unit_test(test_integers),
                                       cmocka_unit_test(test_put_double_equals_printf),
                                       cmocka_unit_test(test_ties_equal_printf),
                                       cmocka_unit_test(test_put_refuses),
                                       cmocka_unit_test(test_escape_round_trip),
                                       cmocka_unit_test(test_xml)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
