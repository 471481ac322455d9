/* A method's table: everything that makes one invalid, and settings of every type by name, at both ends of
 * their ranges. */
#include "loop_support.h"

typedef struct box {
    double real, limited, open;
    uint64_t count;
    bool flag;
    int word;
    ff_vec3 vector;
    double inner;
} box;

static const char *const words[] = {"one", "two", "three", NULL}, *const lonely[] = {"one", NULL},
                         *const endless[] = {"endless", NULL};

static const ff_setting good_settings[] = {
    {"real", FF_SETTING_REAL, "N", offsetof(box, real), "1.5", -2.0, 3.0, .help = "h", .effect = "e",
     .tune_low = -1.0, .tune_high = 2.0, .initial = 1.5},
    {"limited", FF_SETTING_REAL, "", offsetof(box, limited), "0.5", 0.0, 1.0, .above_low = true,
     .below_high = true, .help = "h", .initial = 0.5},
    {"open", FF_SETTING_REAL, "", offsetof(box, open), "2", 0.0, FF_INF, .choice = endless, .help = "h",
     .initial = 2.0},
    {"count", FF_SETTING_INTEGER, "", offsetof(box, count), "7", 0.0, 1e6, .help = "h", .initial = 7.0},
    {"flag", FF_SETTING_BOOLEAN, "", offsetof(box, flag), "true", 0.0, 1.0, .help = "h", .initial = 1.0},
    {"word", FF_SETTING_CHOICE, "", offsetof(box, word), "two", 0.0, 2.0, .choice = words, .help = "h",
     .initial = 1.0},
    {"vector", FF_SETTING_VECTOR, "m", offsetof(box, vector), "(none)", -FF_INF, FF_INF, .help = "h"},
    {"group", FF_SETTING_GROUP, "", 0, "{}", 0.0, 0.0, .help = "h"},
    {"group.inner", FF_SETTING_REAL, "", offsetof(box, inner), "4", 0.0, 9.0, .help = "h", .initial = 4.0},
};
enum { SETTINGS = sizeof good_settings / sizeof *good_settings };

static const ff_report_column good_columns[] = {
    {"a_N", "N", FF_REPORT_REAL, false, NULL, "h"}, {"b", "m", FF_REPORT_VECTOR, false, NULL, "h"},
    {"c", "", FF_REPORT_CHOICE, false, words, "h"}, {"a_N", "N", FF_REPORT_REAL, true, NULL, "h"},
    {"d", "", FF_REPORT_FLAGS, true, words, "h"},
};
enum { COLUMNS = sizeof good_columns / sizeof *good_columns };

static ff_setting settings[SETTINGS];
static ff_report_column columns[COLUMNS];
static ff_method method;

static ff_status step(const void *m, void *s, const ff_method_in *in, ff_method_out *out) {
    (void)m;
    (void)s;
    (void)in;
    (void)out;
    return FF_OK;
}
static void report(const void *m, const void *s, int body, double *values) {
    (void)m;
    (void)s;
    (void)body;
    (void)values;
}
static size_t bytes(const ff_world *w, const void *s, size_t *state) {
    (void)w;
    (void)s;
    return *state = 8;
}
static void create(const ff_world *w, const void *s, uint64_t given, void *m) {
    (void)w;
    (void)s;
    (void)given;
    (void)m;
}
static void reset(const void *m, const ff_rigid_state *body, void *s) {
    (void)m;
    (void)body;
    (void)s;
}

static void make(void) {
    memcpy(settings, good_settings, sizeof settings);
    memcpy(columns, good_columns, sizeof columns);
    method = (ff_method){FF_METHOD("A-good_Name9", "1", "h"),
                         FF_METHOD_TAKES(settings, box),
                         .variants = 1,
                         .model_bytes = 8,
                         .state_bytes = 8,
                         .step = step,
                         .column = columns,
                         .columns = COLUMNS,
                         .report = report};
}

static void refused(const char *part) {
    const char *why = "";
    if (ff_method_validate(&method, &why) != FF_ERR_ARGUMENT || !strstr(why, part))
        fail_msg("\"%s\" instead of \"%s\"", why, part);
    assert_int_equal(ff_method_validate(&method, NULL), FF_ERR_ARGUMENT);
}

#define BROKEN(change, part) \
    do {                     \
        make();              \
        change;              \
        refused(part);       \
    } while (0)

static void test_what_breaks_a_table(void **unused) {
    (void)unused;
    const char *why = "x";
    make();
    assert_int_equal(ff_method_validate(&method, &why), FF_OK);
    assert_string_equal(why, "");
    method.bytes = bytes;
    method.create = create;
    method.reset = reset;
    assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
    BROKEN(method.abi++, "abi");
    BROKEN(method.size--, "size");
    BROKEN(method.name = NULL, "name");
    BROKEN(method.name = "", "name");
    BROKEN(method.name = "12345678901234567890123456789012", "name");
    make();
    method.name = "1234567890123456789012345678901";
    assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
    /* the letters beside each range */
    const char *const odd[] = {"a`", "a{", "a@", "a[", "a/", "a:", "a b", "a.b", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        BROKEN(method.name = odd[i], "name");
    const char *const fine[] = {"a", "z", "A", "Z", "0", "9", "-", "_"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        make();
        method.name = fine[i];
        assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
    }
    BROKEN(method.version = NULL, "version");
    BROKEN(method.help = NULL, "help");
    BROKEN(method.step = NULL, "step");
    BROKEN((method.bytes = bytes, method.reset = reset), "create");
    BROKEN((method.bytes = bytes, method.create = create), "reset");
    BROKEN(method.settings = FF_METHOD_SETTINGS + 1, "64 settings");
    BROKEN(method.setting_bytes = FF_METHOD_SETTING_BYTES + 1, "512 bytes");
    BROKEN(method.setting = NULL, "table of its settings");
    BROKEN(method.version = "1\n2", "version");
    BROKEN(method.help = "a\x7f", "help");
    BROKEN(method.needs = 16, "needs");
    BROKEN(method.can = 8, "can");
    BROKEN(method.variants = 3, "2 variants");
    static char text[FF_METHOD_TEXT + 2];
    make();
    memset(text, 'x', FF_METHOD_TEXT);
    method.version = text;
    assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
    text[FF_METHOD_TEXT] = 'x';
    refused("at most 500 bytes");
    /* as many as there may be */
    static ff_setting many[FF_METHOD_SETTINGS];
    static char names[FF_METHOD_SETTINGS][8];
    make();
    for (int i = 0; i < FF_METHOD_SETTINGS; i++) {
        snprintf(names[i], sizeof names[i], "s%d", i);
        many[i] = good_settings[1];
        many[i].name = names[i];
        many[i].offset = 8 * (size_t)i;
    }
    method.setting = many;
    method.settings = FF_METHOD_SETTINGS;
    method.setting_bytes = FF_METHOD_SETTING_BYTES;
    assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
}

static void test_what_breaks_a_setting(void **unused) {
    (void)unused;
    static const char *too_many[FF_METHOD_WORDS + 2];
    BROKEN(settings[0].name = NULL, "name of a setting");
    BROKEN(settings[0].name = "", "name of a setting");
    BROKEN(settings[0].name = "a b", "name of a setting");
    BROKEN(settings[0].unit = NULL, "lacks unit");
    BROKEN(settings[0].absent = NULL, "lacks unit, default");
    BROKEN(settings[0].help = NULL, "or help");
    BROKEN(settings[0].help = "a\tb", "or help");
    BROKEN(settings[0].effect = "\n", "effect");
    BROKEN(settings[0].type = (ff_setting_type)-1, "type of a setting");
    BROKEN(settings[0].type = (ff_setting_type)(FF_SETTING_GROUP + 1), "type of a setting");
    BROKEN(settings[5].choice = lonely, "words of its choice");
    BROKEN(settings[5].choice = NULL, "words of its choice");
    for (int i = 0; i <= FF_METHOD_WORDS; i++)
        too_many[i] = "w";
    BROKEN(settings[5].choice = too_many, "words of its choice");
    BROKEN(settings[0].low = 4.0, "range of a setting is empty");
    BROKEN(settings[0].high = FF_NAN, "range of a setting is empty");
    BROKEN(settings[0].tune_low = 2.5, "range for tuning");  /* above tune_high */
    BROKEN(settings[0].tune_low = -2.5, "range for tuning"); /* below low */
    BROKEN(settings[0].tune_high = 3.5, "range for tuning"); /* above high */
    BROKEN(settings[4].effect = "e", "not a real number");
    BROKEN(settings[0].offset = sizeof(box) - 7, "beyond setting_bytes");
    BROKEN(settings[0].offset = sizeof(box) + 1, "beyond setting_bytes");
    BROKEN(settings[3].offset = sizeof(box) - 7, "beyond setting_bytes");
    BROKEN(settings[4].offset = sizeof(box), "beyond setting_bytes");
    BROKEN(settings[5].offset = sizeof(box) - 3, "beyond setting_bytes");
    BROKEN(settings[6].offset = sizeof(box) - 23, "beyond setting_bytes");
    BROKEN(settings[0].offset += 4, "not aligned");
    BROKEN(settings[5].offset += 1, "not aligned");
    BROKEN(settings[1].offset = settings[0].offset, "overlap");
    BROKEN(settings[0].offset = settings[6].offset + 16, "overlap"); /* inside a vector */
    make(); /* at the very end of a struct that is larger */
    method.setting_bytes = sizeof(box) + 8;
    settings[0].offset = sizeof(box);
    settings[7].offset = sizeof(box) + 8; /* a group takes no room */
    settings[0].tune_low = settings[0].low;
    settings[0].tune_high = settings[0].high;
    assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
    BROKEN(settings[1].name = "real", "one name");
    BROKEN(settings[8].name = "other.inner", "name of a setting"); /* no such group */
    BROKEN(settings[8].name = "groups.inner", "name of a setting");
    BROKEN(settings[8].name = "grou.inner", "name of a setting");
    BROKEN(settings[8].name = "graup.inner", "name of a setting");
    BROKEN(settings[8].name = "group.", "name of a setting");
    BROKEN(settings[8].name = "group.a.b", "name of a setting");
    BROKEN(settings[8].type = FF_SETTING_GROUP, "name of a setting"); /* no group in a group */
    BROKEN((settings[7].type = FF_SETTING_REAL, settings[7].offset = sizeof(box),
            method.setting_bytes = sizeof(box) + 8),
           "name of a setting");                                   /* a setting is no group */
    BROKEN(settings[1].name = "group.early", "name of a setting"); /* before its group */
}

static void test_what_breaks_a_report(void **unused) {
    (void)unused;
    BROKEN(method.column = NULL, "column");
    BROKEN(method.report = NULL, "column");
    BROKEN(method.columns = 2 * FF_METHOD_VALUES + 1, "column");
    BROKEN(columns[0].name = NULL, "column");
    BROKEN(columns[0].name = "", "column");
    BROKEN(columns[0].unit = NULL, "column");
    BROKEN(columns[0].help = NULL, "column");
    BROKEN(columns[2].label = NULL, "column");
    BROKEN(columns[4].label = NULL, "column");
    BROKEN(columns[1].name = "a_N", "one name");
    BROKEN(columns[0].name = "a N", "name of a column");
    BROKEN(columns[0].unit = "\r", "lacks unit");
    BROKEN(columns[0].type = (ff_report_type)-1, "type of a column");
    BROKEN(columns[0].type = (ff_report_type)(FF_REPORT_VECTOR + 1), "type of a column");
    static const char *const one[] = {"none", NULL};
    BROKEN(columns[4].label = one, "lacks its words"); /* of flags: none, and what stands before a list */
    static ff_report_column many[FF_METHOD_VALUES + 2];
    static char names[FF_METHOD_VALUES + 2][8];
    for (int run = 0; run < 2; run++) {
        make();
        for (int i = 0; i < FF_METHOD_VALUES + 2; i++) {
            snprintf(names[i], sizeof names[i], "c%d", i);
            many[i] = (ff_report_column){names[i], "", FF_REPORT_REAL, run, NULL, "h"};
        }
        method.column = many;
        method.columns = FF_METHOD_VALUES;
        assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
        assert_int_equal(ff_method_values(&method, run), FF_METHOD_VALUES);
        assert_int_equal(ff_method_values(&method, !run), 0);
        many[3].type = FF_REPORT_VECTOR;
        refused("40 values");
        method.columns = FF_METHOD_VALUES - 2;
        assert_int_equal(ff_method_values(&method, run), FF_METHOD_VALUES);
        assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
    }
    make();
    double values[8];
    assert_int_equal(ff_method_values(&method, false), 5);
    assert_int_equal(ff_method_values(&method, true), 2);
    assert_ptr_equal(ff_method_value(&method, false, values, "c"), &values[4]);
    assert_ptr_equal(ff_method_value(&method, true, values, "d"), &values[1]);
    assert_null(ff_method_value(&method, true, values, "c"));
}

static void test_settings_of_every_type(void **unused) {
    (void)unused;
    make();
    ff_settings s;
    ff_settings_default(&method, 0, &s);
    box b;
    memcpy(&b, s.bytes, sizeof b);
    assert_true(b.real == 1.5 && b.limited == 0.5 && b.open == 2.0 && b.count == 7 && b.flag && b.word == 1 &&
                b.inner == 4.0);
    assert_true(s.given == 0);
    const struct {
        const char *name;
        double value;
        bool good;
    } cases[] = {{"real", -2.0, true},          {"real", 3.0, true},      {"real", -2.1, false},
                 {"real", 3.1, false},          {"real", FF_NAN, false},  {"real", FF_INF, false},
                 {"limited", 0.0, false},       {"limited", 1.0, false},  {"limited", 1e-9, true},
                 {"limited", 1.0 - 1e-9, true}, {"open", FF_INF, true},   {"open", -FF_INF, false},
                 {"open", 1e300, true},         {"open", FF_NAN, false},  {"count", 0.0, true},
                 {"count", 1e6, true},          {"count", 1.5, false},    {"count", -1.0, false},
                 {"count", 1e6 + 1, false},     {"count", FF_NAN, false}, {"flag", 0.0, true},
                 {"flag", 1.0, true},           {"flag", 0.5, false},     {"flag", 2.0, false},
                 {"word", 0.0, true},           {"word", 2.0, true},      {"word", 3.0, false},
                 {"word", -1.0, false},         {"word", 0.5, false},     {"word", FF_NAN, false},
                 {"vector", 1.0, false},        {"group", 1.0, false},    {"group.inner", 9.0, true},
                 {"nothing", 1.0, false},       {"inner", 1.0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_settings_default(&method, 0, &s);
        const ff_settings before = s;
        const ff_status status = ff_settings_set(&method, &s, cases[i].name, cases[i].value);
        if (status != (cases[i].good ? FF_OK : FF_ERR_ARGUMENT))
            fail_msg("%s: %g", cases[i].name, cases[i].value);
        const int n = ff_setting_find(&method, cases[i].name);
        if (cases[i].good) {
            assert_true(ff_settings_get(&method, &s, cases[i].name) == cases[i].value);
            assert_true(s.given == UINT64_C(1) << n);
            /* nothing else moved */
            for (int k = 0; k < SETTINGS; k++)
                if (k != n && k != 6 && k != 7)
                    assert_true(ff_settings_get(&method, &s, settings[k].name) ==
                                ff_settings_get(&method, &before, settings[k].name));
            ff_settings_forget(&method, &s, "nothing");
            assert_true(s.given == UINT64_C(1) << n);
            ff_settings_forget(&method, &s, cases[i].name);
            assert_true(s.given == 0);
        } else {
            assert_memory_equal(&s, &before, sizeof s);
        }
    }
    assert_true(isnan(ff_settings_get(&method, &s, "vector")) &&
                isnan(ff_settings_get(&method, &s, "group")) &&
                isnan(ff_settings_get(&method, &s, "nothing")));
    /* a default outside the range is refused; one in words is nobody's number */
    BROKEN(settings[0].initial = 99.0, "default");
    BROKEN(settings[5].initial = 3.0, "default");
    make();
    settings[0].initial = 99.0;
    settings[0].absent = "(as the world is)";
    assert_int_equal(ff_method_validate(&method, NULL), FF_OK);
    ff_settings_default(&method, 0, &s);
    assert_true(ff_settings_get(&method, &s, "real") == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_breaks_a_table),
        cmocka_unit_test(test_what_breaks_a_setting),
        cmocka_unit_test(test_what_breaks_a_report),
        cmocka_unit_test(test_settings_of_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
