/* Sentences into a caller's buffer: never beyond it, and counted in full. Digests and clocks. */
#include "support.h"

#include <unistd.h>

#include "text/clock.h"
#include "text/json.h"
#include "text/message.h"
#include "text/sha256.h"

static void test_refuse_writes_and_returns(void **state) {
    (void)state;
    char text[12];
    memset(text, '#', sizeof text);
    assert_int_equal(ff_refuse(FF_ERR_FORMAT, text, 10, "%d is too long for this", 12345), FF_ERR_FORMAT);
    assert_string_equal(text, "12345 is ");
    assert_true(text[10] == '#'); /* the byte behind the buffer */
    assert_int_equal(ff_refuse(FF_ERR_IO, NULL, 0, "nobody reads it"), FF_ERR_IO);
    assert_int_equal(ff_refuse(FF_ERR_IO, text, 0, "no room"), FF_ERR_IO);
    assert_string_equal(text, "12345 is ");
}

static void test_append_counts_in_a_first_pass(void **state) {
    (void)state;
    char text[32];
    for (size_t size = 1; size <= sizeof text; size++) {
        size_t counted = ff_append(NULL, 0, 0, "%s-%d", "abc", 42), used;
        counted = ff_append(NULL, 0, counted, "%s", "!");
        assert_int_equal(counted, 7);
        memset(text, '#', sizeof text);
        text[0] = 0;
        used = ff_append(text, size, 0, "%s-%d", "abc", 42);
        used = ff_append(text, size, used, "%s", "!");
        assert_int_equal(used, counted); /* as if it had fitted */
        const size_t kept = size - 1 < 7 ? size - 1 : 7;
        assert_memory_equal(text, "abc-42!", kept);
        assert_int_equal(text[kept], 0);
        if (size < sizeof text)
            assert_true(text[size] == '#');
    }
}

static void test_refuse_at_is_one_line(void **state) {
    (void)state;
    char text[64];
    const ff_refusal to = {"a\nb", text, sizeof text}, nobody = {"a", NULL, 9}, no_room = {"a", text, 0};
    assert_false(ff_refuse_at(&to, 7, "x\ty\x7fz %d", 3));
    assert_string_equal(text, "a?b:7: x?y?z 3");
    assert_false(ff_refuse_at(&nobody, 1, "lost"));
    assert_false(ff_refuse_at(&no_room, 1, "lost"));
    assert_string_equal(text, "a?b:7: x?y?z 3");
    const ff_refusal cut = {"a long label", text, 9}; /* not even the label fits */
    assert_false(ff_refuse_at(&cut, 1, "lost"));
    assert_string_equal(text, "a long l");
}

static void test_utf8_whole_taken_broken_not(void **state) {
    (void)state;
    /* RFC 3629, 4: the first and last of each length; one less or more is overlong, a surrogate, too large */
    static const struct {
        const char *text;
        uint32_t code;
    } whole[] = {{"a", 'a'},
                 {"\xc2\x80", 0x80},
                 {"\xdf\xbf", 0x7ff},
                 {"\xe0\xa0\x80", 0x800},
                 {"\xed\x9f\xbf", 0xd7ff},
                 {"\xee\x80\x80", 0xe000},
                 {"\xef\xbf\xbf", 0xffff},
                 {"\xf0\x90\x80\x80", 0x10000},
                 {"\xf4\x8f\xbf\xbf", 0x10ffff}};
    static const char *const broken[] = {"\xc1\xbf",
                                         "\xe0\x9f\xbf",
                                         "\xed\xa0\x80",
                                         "\xf0\x8f\xbf\xbf",
                                         "\xf4\x90\x80\x80",
                                         "\xf5\x80\x80\x80",
                                         "\x80",
                                         "\xff",
                                         "\xc3-",
                                         "\xe2\x82-"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        uint32_t code = 0;
        const size_t n = strlen(whole[i].text);
        assert_int_equal(ff_utf8(whole[i].text, n, &code), n);
        assert_int_equal(code, whole[i].code);
        assert_int_equal(ff_utf8(whole[i].text, n - 1, &code), 0); /* not all of it is there */
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        uint32_t code;
        assert_int_equal(ff_utf8(broken[i], SIZE_MAX, &code), 0);
    }
}

/* What a terminal or a reader would take for an order, an end of line or a turn of direction is never shown,
 * and is escaped in JSON; bytes that are not text are '?' in both. */
static void test_only_what_can_be_shown_is(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown, *json;
    } cases[] = {{"a\xc3\xb6\xe2\x82\xac\xf0\x9f\x9b\xb0 ~", "a\xc3\xb6\xe2\x82\xac\xf0\x9f\x9b\xb0 ~",
                  "\"a\xc3\xb6\xe2\x82\xac\xf0\x9f\x9b\xb0 ~\""},
                 {"a\033[31m\n\x7f", "a?[31m??", "\"a\\u001b[31m\\u000a\\u007f\""},
                 {"\xc2\x9b"
                  "1m\xc2\x85",
                  "??1m??", "\"\\u009b1m\\u0085\""},
                 {"\xe2\x80\xae\xe2\x81\xa6\xd8\x9c", "????????", "\"\\u202e\\u2066\\u061c\""},
                 {"\xe2\x80\xa8\xef\xbb\xbf", "??????", "\"\\u2028\\ufeff\""},
                 {"\xf0\x9f\xbf\xbe", "????", "\"\\ufffd\""},
                 {"\xff-\xc3-\"\\", "?-?-\"\\", "\"?-?-\\\"\\\\\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        ff_json json;
        snprintf(text, sizeof text, "%s", cases[i].text);
        assert_int_equal(ff_shown_text(text), strcmp(cases[i].text, cases[i].shown) == 0);
        ff_flatten(text);
        assert_string_equal(text, cases[i].shown);
        assert_true(ff_shown_text(text));
        ff_json_init(&json, false);
        ff_json_string(&json, NULL, cases[i].text);
        assert_string_equal(json.text, cases[i].json);
        ff_json_free(&json);
    }
}

/* FIPS 180-4's own examples, the lengths around a block's end, and a million letters. */
static void test_sha256(void **state) {
    (void)state;
    char text[FF_SHA256_TEXT];
    static const struct {
        const char *bytes, *digest;
    } row[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ff_sha256(row[i].bytes, strlen(row[i].bytes), text);
        assert_string_equal(text, row[i].digest);
    }
    static char many[1000000];
    memset(many, 'a', sizeof many);
    ff_sha256(many, sizeof many, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* In pieces of any length, and from a file: the same digest as at once. A folder, a pipe and nothing have
 * none. */
static void test_sha256_pieces_and_files_give_the_same(void **state) {
    (void)state;
    static unsigned char bytes[70000];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)ff_rng_range(&rng, 0.0, 256.0);
    char whole[FF_SHA256_TEXT], text[FF_SHA256_TEXT], path[] = "/tmp/ff_sha_XXXXXX";
    for (int trial = 0; trial < 100; trial++) {
        const size_t size = (size_t)ff_rng_range(&rng, 0.0, trial < 50 ? 200.0 : sizeof bytes);
        ff_sha256(bytes, size, whole);
        ff_sha256_state s;
        ff_sha256_begin(&s);
        for (size_t at = 0; at < size;) {
            size_t n = (size_t)ff_rng_range(&rng, 0.0, trial % 2 ? 70.0 : 5000.0);
            n = n < size - at ? n : size - at;
            ff_sha256_add(&s, bytes + at, n);
            at += n;
        }
        ff_sha256_end(&s, text);
        assert_string_equal(text, whole);
    }
    const int file = mkstemp(path);
    assert_int_equal(write(file, bytes, sizeof bytes), sizeof bytes);
    close(file);
    uint64_t size = 0;
    ff_sha256(bytes, sizeof bytes, whole);
    assert_int_equal(ff_sha256_file(path, true, text, &size), FF_OK);
    assert_string_equal(text, whole);
    assert_int_equal(size, sizeof bytes);
    unlink(path);
    static const char *const none[] = {"/tmp", "/dev/null", "/nonexistent/file"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ff_sha256_file(none[i], false, text, &size), FF_ERR_IO);
        assert_string_equal(text, "");
    }
}

/* Whether the processor has instructions for it or not: blocks by the standard's arithmetic, padded here,
 * have the same digest. */
static void test_sha256_is_the_same_without_instructions_for_it(void **state) {
    (void)state;
    unsigned char bytes[64 * 9 + 64];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int trial = 0; trial < 200; trial++) {
        const size_t blocks = (size_t)ff_rng_range(&rng, 1.0, 10.0), size = 64 * blocks;
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)ff_rng_range(&rng, 0.0, 256.0);
        char whole[FF_SHA256_TEXT], text[FF_SHA256_TEXT];
        ff_sha256(bytes, size, whole);
        ff_sha256_state s;
        ff_sha256_begin(&s);
        memset(bytes + size, 0, 64);
        bytes[size] = 0x80;
        bytes[size + 62] = (unsigned char)(8 * size >> 8);
        bytes[size + 63] = (unsigned char)(8 * size);
        ff__sha256_blocks(s.H, bytes, blocks + 1);
        for (int i = 0; i < 8; i++)
            snprintf(text + 8 * i, 9, "%08x", s.H[i]);
        assert_string_equal(text, whole);
    }
}

/* Never early; what it says is by how much it is late. */
static void test_sleep_until(void **state) {
    (void)state;
    const int64_t from = ff_clock_now(), to = from + 2000000;
    const int64_t late = ff_clock_sleep_until(to);
    assert_true(late >= 0 && ff_clock_now() >= to + late);
    assert_true(ff_clock_sleep_until(from) >= 2000000); /* past already */
    assert_true(ff_clock_real() > INT64_C(1600000000000000000) && ff_clock_seconds() > 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse_writes_and_returns),
        cmocka_unit_test(test_append_counts_in_a_first_pass),
        cmocka_unit_test(test_refuse_at_is_one_line),
        cmocka_unit_test(test_utf8_whole_taken_broken_not),
        cmocka_unit_test(test_only_what_can_be_shown_is),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_sha256_pieces_and_files_give_the_same),
        cmocka_unit_test(test_sha256_is_the_same_without_instructions_for_it),
        cmocka_unit_test(test_sleep_until),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
