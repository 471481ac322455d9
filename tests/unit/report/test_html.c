/* The report's table keeps every row while it fits, and every extreme beyond; the file is whole and escaped.
 */
#include <math.h>
#include <unistd.h>
#include "support.h"
#include "report/detail.h"
#include "report/geometry.h"
#include "report/html.h"
#include "report/pack.h"
#ifdef FF_HAVE_ZLIB
#include <zlib.h>
#endif

static const char *const NAMES[] = {"t [s]", "a.velocity.x [m/s]", "a.energy.kinetic [J]",
                                    "timing.compute [ns]"};

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, f), *size);
    text[*size] = 0;
    fclose(f);
    return text;
}

static void scratch_path(char *path, size_t size, const char *name) {
    const char *dir = getenv("TMPDIR");
    snprintf(path, size, "%s/ff-report-%ld-%s", dir ? dir : "/tmp", (long)getpid(), name);
}

static void test_add_row_short_run_keeps_every_row(void **state) {
    (void)state;
    ff_report_series *s = ff_report_series_create(4, NAMES);
    assert_non_null(s);
    for (int k = 0; k < 16384; k++) {
        double row[] = {k * 0.004, sin(k), k % 7, 2000};
        assert_int_equal(ff_report_add_row(s, row), FF_OK);
    }
    assert_int_equal(ff_report_series_rows(s), 16384);
    for (int k = 0; k < 16384; k += 13) {
        assert_true(ff_report_series_value(s, (size_t)k, 0) == k * 0.004);
        assert_true(ff_report_series_value(s, (size_t)k, 1) == (double)(float)sin(k));
    }
    ff_report_series_destroy(s);
}

/* Against the plain definition: in every bucket the two rows are the smallest and the largest of its cycles,
 * in the order in which they came. */
static void test_add_row_long_run_keeps_extremes_in_order(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    int lengths[] = {16385, 40000, 100003, 262144};
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        int rows = lengths[n];
        double *truth = malloc((size_t)rows * sizeof *truth);
        assert_non_null(truth);
        ff_report_series *s = ff_report_series_create(4, NAMES);
        assert_non_null(s);
        for (int k = 0; k < rows; k++) {
            truth[k] = (double)(float)ff_rng_normal(&rng);
            double row[] = {k * 0.001, truth[k], k, 100};
            assert_int_equal(ff_report_add_row(s, row), FF_OK);
        }
        /* the third row begins the second pair */
        size_t bucket = (size_t)llround(ff_report_series_value(s, 2, 0) / 0.001),
               kept = ff_report_series_rows(s);
        assert_true(bucket >= 4 && kept <= 16384 + 2);
        for (size_t pair = 0; 2 * pair + 1 < kept; pair++) {
            size_t from = pair * bucket, to = from + bucket < (size_t)rows ? from + bucket : (size_t)rows;
            size_t low = from, high = from;
            for (size_t k = from; k < to; k++) {
                low = truth[k] < truth[low] ? k : low;
                high = truth[k] > truth[high] ? k : high;
            }
            assert_true(ff_report_series_value(s, 2 * pair, 1) == truth[low < high ? low : high]);
            assert_true(ff_report_series_value(s, 2 * pair + 1, 1) == truth[low < high ? high : low]);
            assert_true(ff_report_series_value(s, 2 * pair, 0) == (double)from * 0.001);
        }
        assert_true(ff_report_series_value(s, kept - 1, 2) == rows - 1);
        ff_report_series_destroy(s);
        free(truth);
    }
}

static void test_add_row_gaps_and_bad_times(void **state) {
    (void)state;
    ff_report_series *s = ff_report_series_create(4, NAMES);
    assert_non_null(s);
    double row[] = {1, FF_NAN, HUGE_VAL, FF_NAN};
    assert_int_equal(ff_report_add_row(s, row), FF_OK);
    row[0] = 0.5;
    assert_int_equal(ff_report_add_row(s, row), FF_ERR_ARGUMENT);
    row[0] = FF_NAN;
    assert_int_equal(ff_report_add_row(s, row), FF_ERR_ARGUMENT);
    assert_int_equal(ff_report_series_rows(s), 1);
    assert_true(isnan(ff_report_series_value(s, 0, 1)));
    ff_report_series_destroy(s);
    assert_null(ff_report_series_create(0, NAMES));
}

static void test_write_bad_arguments_and_paths(void **state) {
    (void)state;
    ff_report_run run = {.label = "m", .summary = "{}"};
    assert_int_equal(ff_report_write("/nonexistent-folder/r.html", "t", &run, 1), FF_ERR_IO);
    assert_int_equal(ff_report_write("/tmp/x.html", "t", &run, 0), FF_ERR_ARGUMENT);
    run.summary = NULL;
    assert_int_equal(ff_report_write("/tmp/x.html", "t", &run, 1), FF_ERR_ARGUMENT);
}

/* No '<' of a name or of the JSON reaches the page unescaped. */
static void test_write_hostile_names_are_escaped(void **state) {
    (void)state;
    const char *names[] = {"t [s]", "</script><script>evil(1)</script>.velocity.x [m/s]"};
    ff_report_series *s = ff_report_series_create(2, names);
    assert_non_null(s);
    for (int k = 0; k < 10; k++) {
        double row[] = {k, k * k};
        assert_int_equal(ff_report_add_row(s, row), FF_OK);
    }
    ff_report_contact contact = {"<i>evil(2)", 1, FF_NAN};
    ff_report_run run = {.label = "<u>evil(3)",
                         .summary = "{\"scenario\":\"</script><b>evil(4)\"}",
                         .series = s,
                         .contact = &contact,
                         .contacts = 1,
                         .geometry = "{\"satellites\":[],\"contacts\":[]}"};
    char path[512];
    scratch_path(path, sizeof path, "hostile.html");
    assert_int_equal(ff_report_write(path, "<title>&evil(5)", &run, 1), FF_OK);
    size_t size = 0;
    char *text = read_file(path, &size);
    const char *bad[] = {"<script>evil", "</script>.vel", "<i>evil", "<u>evil", "<b>evil", "<title>&evil"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_null(strstr(text, bad[i]));
    assert_non_null(strstr(text, "\\u003cu>evil(3)"));
    assert_non_null(strstr(text, "&lt;title&gt;&amp;evil(5)"));
    assert_null(strstr(text, "<!--ff:"));
    assert_non_null(strstr(text, "</html>"));
    assert_non_null(strstr(text, "Content-Security-Policy"));
    free(text);
    unlink(path);
    ff_report_series_destroy(s);
}

#ifdef FF_HAVE_ZLIB
/* As web/src/data.ts reads them. */
static const unsigned char *unpack(const unsigned char *at, size_t rows, size_t bytes, uint64_t *bits) {
    const uint64_t mask = bytes == 8 ? UINT64_MAX : UINT32_MAX;
    const int form = *at++;
    memset(bits, 0, rows * sizeof *bits);
    if (form == 1) {
        for (size_t k = 0; k < bytes; k++)
            for (size_t r = 0; r < rows; r++)
                bits[r] |= (uint64_t)*at++ << (8 * k);
        return at;
    }
    assert_int_equal(form, 2);
    for (size_t r = 0; r < rows; r++) {
        uint64_t z = 0;
        unsigned shift = 0;
        for (; *at > 127; shift += 7)
            z |= (uint64_t)(*at++ & 127) << shift;
        z |= (uint64_t)*at++ << shift;
        const uint64_t d = z >> 1 ^ (0 - (z & 1));
        bits[r] = (d + 2 * (r > 0 ? bits[r - 1] : 0) - (r > 1 ? bits[r - 2] : 0)) & mask;
    }
    return at;
}

/* Smooth motions, noise, jumps through all of float's range, signs, gaps, constants: each number comes back
 * with its bits, and smooth columns take less than half of theirs. */
static void test_packed_numbers_come_back(void **state) {
    (void)state;
    enum { WIDTH = 37, ROWS = 400 };
    static double time[ROWS];
    static float value[ROWS * WIDTH];
    static uint64_t bits[ROWS];
    static unsigned char plain[ROWS * (8 + 5 * WIDTH) + 100];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    for (int trial = 0; trial < 20; trial++) {
        const size_t rows = trial == 0   ? 0
                            : trial == 1 ? 1
                            : trial == 2 ? ROWS
                                         : 1 + ff_rng_next(&rng) % ROWS,
                     width = trial < 3 ? WIDTH : 1 + ff_rng_next(&rng) % WIDTH;
        double at = ff_rng_range(&rng, -1.0, 100.0), a[WIDTH], w[WIDTH];
        for (size_t c = 0; c < width; c++) {
            a[c] = pow(10.0, ff_rng_range(&rng, -6.0, 6.0));
            w[c] = ff_rng_range(&rng, 0.0, 0.01);
        }
        for (size_t r = 0; r < rows; r++) {
            time[r] = at += trial % 2 ? 0.004 : ff_rng_range(&rng, 0.0, 1.0);
            for (size_t c = 0; c < width; c++) {
                float *v = &value[r * width + c];
                uint32_t any = (uint32_t)ff_rng_next(&rng);
                if (c % 6 == 0)
                    *v = (float)(a[c] * (2.0 + sin(w[c] * (double)r)));
                else if (c % 6 == 1)
                    *v = (float)(a[c] * ff_rng_normal(&rng));
                else if (c % 6 == 2)
                    memcpy(v, &any, sizeof any);
                else if (c % 6 == 3)
                    *v = any % 2 ? 0.0f : -0.0f;
                else if (c % 6 == 4)
                    *v = any % 50 ? (float)a[c] : any % 3 ? NAN : INFINITY;
                else
                    *v = (float)a[c];
            }
        }
        bool constant[WIDTH];
        size_t size;
        const ff_report_table table = {.rows = rows, .width = width, .time = time, .value = value};
        unsigned char *packed = ff_report_pack(&table, false, constant, &size);
        assert_non_null(packed);
        uLongf length = sizeof plain;
        assert_int_equal(uncompress(plain, &length, packed, (uLong)size), Z_OK);
        free(packed);
        const unsigned char *from = unpack(plain, rows, 8, bits);
        for (size_t r = 0; r < rows; r++)
            assert_memory_equal(&bits[r], &time[r], sizeof bits[r]);
        for (size_t c = 0; c < width; c++) {
            if (c % 6 == 3 || c % 6 == 5 || rows < 2)
                assert_true(constant[c]);
            if (constant[c]) {
                for (size_t r = 1; r < rows; r++)
                    assert_true(value[r * width + c] == value[c] ||
                                (!isfinite(value[r * width + c]) && !isfinite(value[c])));
                continue;
            }
            const unsigned char *start = from;
            from = unpack(from, rows, 4, bits);
            assert_true((size_t)(from - start) <= 4 * rows + 1);
            /* the curvature is below w^2 of the value, 1e-4 of 2^23 units of its last bit: two bytes. The
             * first two take five, and where a power of two is passed, six times at most, two take three */
            if (c % 6 == 0)
                assert_true((size_t)(from - start) <= 2 * rows + 24);
            for (size_t r = 0; r < rows; r++) {
                const uint32_t word = (uint32_t)bits[r];
                float back;
                memcpy(&back, &word, sizeof back);
                if (isfinite(value[r * width + c]))
                    assert_memory_equal(&back, &value[r * width + c], sizeof back);
                else
                    assert_true(isnan(back));
            }
        }
        assert_ptr_equal(from, plain + length);
    }
}
#endif

/* Incompressible data in 70 columns stays within the budget, whatever the length. */
static void test_write_stays_within_budget(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    enum { COLUMNS = 70 };
    char text[COLUMNS][32];
    const char *names[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        snprintf(text[i], sizeof text[i],
                 i > 1   ? "a.column.%d [m]"
                 : i > 0 ? "contact.%d.touching"
                         : "t [s]",
                 i);
        names[i] = text[i];
    }
    int lengths[] = {7500, 40000};
    size_t limit[] = {3000000, 5000000};
    for (int n = 0; n < 2; n++) {
        ff_report_series *s = ff_report_series_create(COLUMNS, names);
        assert_non_null(s);
        for (int k = 0; k < lengths[n]; k++) {
            double row[COLUMNS] = {k * 0.004};
            for (int i = 1; i < COLUMNS; i++)
                row[i] = ff_rng_normal(&rng);
            assert_int_equal(ff_report_add_row(s, row), FF_OK);
        }
        for (int raw = 0; raw < 2; raw++) {
            ff_report_run run = {.label = "noise", .summary = "{}", .series = s};
            ff_report_options options = {.raw = raw};
            char path[512];
            scratch_path(path, sizeof path, "budget.html");
            assert_int_equal(ff_report_write_with(path, "noise", &run, 1, &options), FF_OK);
            size_t size = 0;
            free(read_file(path, &size));
            assert_true(size < limit[n]);
            unlink(path);
        }
        ff_report_series_destroy(s);
    }
}

/* Against the plain definition: cycles near a contact, the first and the last of them, and the run's end are
 * there as they were, and nothing stands between them; of every bucket that has a cycle which is not, both
 * extremes stand within the bucket's time, and in order. */
static void test_cycles_around_contacts_are_kept(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    enum { CYCLES = 40000, HALF = FF_REPORT_DETAIL_ROWS / 2, NEAR = FF_REPORT_NEAR };
    static bool touching[CYCLES], kept[CYCLES];
    static float truth[CYCLES], thin[CYCLES];
    static double time[CYCLES];
    for (int trial = 0; trial < 12; trial++) {
        const int cycles = trial < 2 ? 300 * trial + 40 : 1 + (int)(ff_rng_next(&rng) % CYCLES);
        const int bucket = 4 << ff_rng_next(&rng) % 8;
        const double often = trial % 3 == 0 ? 0.0 : pow(10.0, ff_rng_range(&rng, -4.0, -2.0));
        ff_report_detail *d = ff_report_detail_create(1);
        assert_non_null(d);
        for (int k = 0, left = 0; k < cycles; k++) {
            left = left > 0 ? left - 1 : ff_rng_uniform(&rng) < often ? (int)(ff_rng_next(&rng) % 900) : 0;
            touching[k] = left > 0;
            truth[k] = (float)ff_rng_normal(&rng);
            ff_report_detail_add(d, 0.001 * k, &truth[k], touching[k]);
        }
        /* what is kept, by the definition; `near` counts those close to a contact */
        int near = 0, seen = 0, last = -2 * NEAR;
        static bool close_by[CYCLES];
        memset(close_by, 0, sizeof close_by);
        for (int k = 0; k < cycles; k++) {
            last = touching[k] ? k : last;
            close_by[k] = k - last < NEAR;
        }
        last = 2 * CYCLES;
        for (int k = cycles - 1; k >= 0; k--) {
            last = touching[k] ? k : last;
            close_by[k] = close_by[k] || last - k < NEAR;
            near += close_by[k];
        }
        int want = 0;
        for (int k = 0; k < cycles; k++) {
            seen += close_by[k];
            kept[k] = (close_by[k] && (seen <= HALF || seen > near - HALF)) || k >= cycles - NEAR;
            want += kept[k];
        }
        size_t rows = 0;
        for (int from = 0; from < cycles; from += bucket) {
            const int to = from + bucket < cycles ? from + bucket : cycles;
            float low = truth[from], high = truth[from];
            for (int k = from; k < to; k++) {
                low = fminf(low, truth[k]);
                high = fmaxf(high, truth[k]);
            }
            time[rows] = 0.001 * from;
            thin[rows++] = low;
            time[rows] = 0.001 * (to - from > bucket / 2 ? from + bucket / 2 : to - 1);
            thin[rows++] = high;
        }
        const ff_report_table table = {.rows = rows, .width = 1, .time = time, .value = thin};
        ff_report_joined j;
        assert_int_equal(ff_report_detail_rows(d), want);
        assert_int_equal(ff_report_detail_join(d, (size_t)want, &table, &j), FF_OK);
        size_t at = 0, span = 0;
        for (int from = 0; from < cycles; from += bucket) {
            const int to = from + bucket < cycles ? from + bucket : cycles;
            const size_t g = 2 * (size_t)(from / bucket);
            int gaps = 0, extremes = 0;
            for (int k = from; k < to; k++)
                gaps += !kept[k];
            for (int k = from; at < j.table.rows && j.time[at] < 0.001 * to - 0.00025; at++) {
                assert_true(at == 0 || j.time[at] >= j.time[at - 1]);
                if (extremes < 2 && gaps > 0 && j.value[at] == thin[g + (size_t)extremes] &&
                    !(k < to && kept[k] && j.time[at] == 0.001 * k)) {
                    extremes++;
                    continue;
                }
                while (k < to && !kept[k])
                    k++;
                assert_true(k < to);
                assert_true(j.time[at] == 0.001 * k && j.value[at] == truth[k]);
                k++;
            }
            assert_int_equal(extremes, gaps > 0 ? 2 : 0);
        }
        assert_int_equal(at, j.table.rows);
        for (int k = 0; k < cycles; k++) { /* the stretches are those of the cycles */
            if (kept[k] && (k == 0 || !kept[k - 1]))
                assert_true(j.span[span].from == 0.001 * k);
            if (kept[k] && (k + 1 == cycles || !kept[k + 1]))
                assert_true(j.span[span++].to == 0.001 * k);
        }
        assert_int_equal(span, j.spans);
        ff_report_joined_free(&j);
        ff_report_detail_destroy(d);
    }
}

static void test_geometry_is_json_of_the_scenario(void **state) {
    (void)state;
    ff_scenario *scenario = calloc(1, sizeof *scenario);
    assert_non_null(scenario);
    scenario->satellites = 1;
    ff_satellite *sat = &scenario->satellite[0];
    snprintf(sat->name, sizeof sat->name, "a\"b");
    sat->rigid.mass = 280;
    sat->rigid.inertia = ff_mat3_diag(18, 20, 22);
    sat->points = 1;
    snprintf(sat->point[0].name, sizeof sat->point[0].name, "com");
    sat->robot.kind = FF_ROBOT_DELAY;
    sat->robot.delay = 0.04;
    scenario->contacts = 1;
    scenario->contact[0] =
        (ff_contact){.kind = FF_CONTACT_WALL, .against = -1, .normal = {{0, 0, -1}}, .at = {{0, 0, 0.03}}};
    snprintf(scenario->contact[0].name, sizeof scenario->contact[0].name, "front");
    scenario->requirements.velocity_error = 0.01;
    char *json = ff_report_geometry(scenario, false);
    assert_string_equal(
        json,
        "{\"satellites\":[{\"name\":\"a\\\"b\",\"mass_kg\":280,\"inertia_kgm2\":[18,20,22,0,0,0],"
        "\"points\":{\"com\":[0,0,0]},\"robot\":{\"kind\":\"delay\",\"delay_s\":0.04}}],"
        "\"contacts\":[{\"name\":\"front\",\"kind\":\"wall\",\"body\":\"a\\\"b\",\"against\":null,"
        "\"point\":[0,0,0],\"at\":[0,0,0.03],\"normal\":[0,0,-1]}],\"relative\":false,"
        "\"limits\":[{\"name\":\"velocity error of a\\\"b\",\"unit\":\"m/s\",\"limit\":0.01,\"scale\":1,"
        "\"trips\":false,\"columns\":[\"a\\\"b.error.velocity\"]}]}\n");
    free(json);
    /* shapes of contacts, a mesh as base64 of what its file holds, an arm's links */
    char path[512];
    scratch_path(path, sizeof path, "tetra.obj");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", f);
    fclose(f);
    sat->mesh = (ff_mesh_config){.present = true, .scale = 2.0, .pose = ff_pose_identity()};
    assert_true(strlen(path) < sizeof sat->mesh.file);
    strcpy(sat->mesh.file, path);
    scenario->contacts = 2;
    scenario->contact[0] = (ff_contact){
        .kind = FF_CONTACT_CONE, .against = 0, .axis = {{1, 0, 0}}, .half_angle = 0.5, .depth = FF_INF};
    scenario->contact[1] =
        (ff_contact){.kind = FF_CONTACT_STOPS, .against = -1, .stop_position = {{0.1, 0.2, 0.3}}};
    sat->arm.present = true;
    sat->arm.links = 3;
    sat->arm.joints = 2;
    static const ff_joint_kind joint[] = {FF_JOINT_FIXED, FF_JOINT_PRISMATIC, FF_JOINT_REVOLUTE};
    for (int i = 0; i < 3; i++) {
        sat->arm.link[i].row.joint = joint[i];
        sat->arm.link[i].row.parent = i ? i - 1 : FF_TREE_BASE;
    }
    sat->safety.force = 50.0;
    sat->safety.velocity = 0.5;
    json = ff_report_geometry(scenario, true);
    assert_non_null(json);
    static const char *const words[] = {"\"kind\":\"cone\"",
                                        "\"half_angle_rad\":0.5,\"depth_m\":null",
                                        "\"stop_position\":[0.1,0.2,0.3]",
                                        "\"joint\":\"fixed\",\"q\":-1",
                                        "\"joint\":\"prismatic\",\"q\":0",
                                        "\"joint\":\"revolute\",\"q\":1",
                                        "\"name\":\"contact force of a\\\"b\"",
                                        "\"limit\":50",
                                        "robot's velocity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(json, words[i]))
            fail_msg("no %s in %s", words[i], json);
    /* four corners of three floats are 48 bytes: 64 letters without padding; twice (1, 0, 0): AAAAQA.. */
    const char *vertices = strstr(json, "\"vertices\":\"");
    assert_non_null(vertices);
    vertices += strlen("\"vertices\":\"");
    assert_int_equal(strcspn(vertices, "\""), 64);
    assert_memory_equal(vertices,
                        "AAAAAAAAAAAAAAAA"
                        "AAAAQAAAAAAAAAAA"
                        "AAAAAAAAAEAAAAAA"
                        "AAAAAAAAAAAAAABA",
                        64);
    free(json);
    unlink(path);
    free(scenario);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add_row_short_run_keeps_every_row),
        cmocka_unit_test(test_add_row_long_run_keeps_extremes_in_order),
        cmocka_unit_test(test_add_row_gaps_and_bad_times),
        cmocka_unit_test(test_write_bad_arguments_and_paths),
        cmocka_unit_test(test_write_hostile_names_are_escaped),
#ifdef FF_HAVE_ZLIB
        cmocka_unit_test(test_packed_numbers_come_back),
#endif
        cmocka_unit_test(test_write_stays_within_budget),
        cmocka_unit_test(test_cycles_around_contacts_are_kept),
        cmocka_unit_test(test_geometry_is_json_of_the_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
