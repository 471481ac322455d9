/* What a page draws first of a long log: the smallest and largest value of each bucket of cycles against a
 * look at every cycle; the attachment of the MCAP file read back. */
#include "folder_support.h"

#include "record/overview.h"

enum { WIDTH = 3 };

/* Random walks with spikes, gaps, and a column that is one gap. */
static float *draw(ff_rng *rng, size_t cycles) {
    float *all = malloc(cycles * WIDTH * sizeof *all);
    double walk = 0.0;
    for (size_t i = 0; i < cycles; i++) {
        walk += ff_rng_normal(rng);
        all[i * WIDTH] = (float)walk;
        all[i * WIDTH + 1] = ff_rng_uniform(rng) < 0.3 ? NAN : (float)ff_rng_normal(rng);
        all[i * WIDTH + 2] = NAN;
    }
    return all;
}

static void check_pair(const float *all, size_t first, size_t last, size_t column, double one, double two) {
    size_t low = SIZE_MAX, high = SIZE_MAX; /* where it was first reached */
    for (size_t i = first; i < last; i++) {
        const float v = all[i * WIDTH + column];
        if (isnan(v))
            continue;
        if (low == SIZE_MAX || v < all[low * WIDTH + column])
            low = i;
        if (high == SIZE_MAX || v > all[high * WIDTH + column])
            high = i;
    }
    if (low == SIZE_MAX) {
        assert_true(isnan(one) && isnan(two));
        return;
    }
    const double smallest = (double)all[low * WIDTH + column], largest = (double)all[high * WIDTH + column];
    assert_near(fmin(one, two), smallest, 0.0);
    assert_near(fmax(one, two), largest, 0.0);
    if (low != high && smallest < largest)
        assert_near(one, low < high ? smallest : largest, 0.0); /* in the order in which they came */
}

static ff_thin fill(const float *all, size_t cycles) {
    ff_thin thin;
    assert_int_equal(ff_thin_init(WIDTH, &thin), FF_OK);
    for (size_t i = 0; i < cycles; i++)
        assert_int_equal(ff_thin_add(&thin, 0.001 * (double)i, all + i * WIDTH), FF_OK);
    return thin;
}

static void test_buckets_hold_the_extremes_of_their_cycles(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < test_count(4, 100); n++) {
        const size_t cycles = FF_THIN_ROWS + 1 + (size_t)(ff_rng_uniform(&rng) * 1e5);
        float *all = draw(&rng, cycles);
        ff_thin thin = fill(all, cycles);
        assert_int_equal(thin.cycles, cycles);
        assert_true(thin.bucket > 1 && ff_thin_count(&thin) <= FF_THIN_ROWS + 2);
        const size_t bucket = (size_t)thin.bucket;
        for (size_t r = 0; r + 1 < thin.rows; r += 2) {
            assert_near(ff_thin_value(&thin, r, 0), 0.001 * (double)(r / 2 * bucket), 0.0);
            for (size_t c = 0; c < WIDTH; c++)
                check_pair(all, r / 2 * bucket, (r / 2 + 1) * bucket, c, ff_thin_value(&thin, r, c + 1),
                           ff_thin_value(&thin, r + 1, c + 1));
        }
        ff_thin_free(&thin);
        free(all);
    }
}

static uint64_t number(const char *at, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return x;
}

static void check_attachment(const ff_overview *o, const ff_codec *codec) {
    char path[] = "/tmp/freefloat-overview-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    const ff_mcap_writer_config config = ff_mcap_writer_config_default();
    ff_mcap_writer *writer;
    ff_mcap_reader *reader;
    ff_mcap_text data;
    assert_int_equal(ff_mcap_writer_open(path, &config, &writer), FF_OK);
    assert_int_equal(ff_overview_write(o, codec, writer), FF_OK);
    assert_int_equal(ff_mcap_writer_close(writer), FF_OK);
    assert_int_equal(ff_mcap_reader_open(path, &reader), FF_OK);
    const ff_status found = ff_mcap_reader_attachment(reader, FF_OVERVIEW_NAME, &data);
    if (o->thin.bucket == 1) {
        assert_int_equal(found, FF_ERR_ARGUMENT); /* a short log is without */
    } else {
        assert_int_equal(found, FF_OK);
        const size_t rows = ff_thin_count(&o->thin), size = rows * (8 + 4 * WIDTH);
        assert_int_equal(number(data.at, 4), FF_OVERVIEW_VERSION);
        assert_int_equal(number(data.at + 4, 4), WIDTH);
        assert_int_equal(number(data.at + 8, 4), rows);
        assert_int_equal(number(data.at + 12, 4), codec ? 1 : 0);
        assert_int_equal(number(data.at + 16, 8), o->thin.bucket);
        assert_int_equal(number(data.at + 24, 8), o->thin.cycles);
        char *plain = malloc(size);
        if (codec) {
            assert_int_equal(
                codec->expand(plain, size, data.at + FF_OVERVIEW_HEAD, data.size - FF_OVERVIEW_HEAD), size);
        } else {
            assert_int_equal(data.size, FF_OVERVIEW_HEAD + size);
            memcpy(plain, data.at + FF_OVERVIEW_HEAD, size);
        }
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c <= WIDTH; c++) {
                double value;
                float single;
                if (c == 0) {
                    memcpy(&value, plain + 8 * r, sizeof value);
                } else {
                    memcpy(&single, plain + 8 * rows + 4 * (rows * (c - 1) + r), sizeof single);
                    value = (double)single;
                }
                const double truth = ff_thin_value(&o->thin, r, c);
                assert_true(value == truth || (isnan(value) && isnan(truth)));
            }
        free(plain);
    }
    ff_mcap_reader_close(reader);
    unlink(path);
}

static void test_attachment_reads_back(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    const size_t counts[] = {FF_THIN_ROWS, FF_THIN_ROWS + 1,
                             FF_THIN_ROWS + 1 + (size_t)(ff_rng_uniform(&rng) * 3e4)};
    for (int i = 0; i < 3; i++) {
        float *all = draw(&rng, counts[i]);
        ff_overview overview = {.thin = fill(all, counts[i])};
        check_attachment(&overview, NULL);
        if (ff_codec_zstd())
            check_attachment(&overview, ff_codec_zstd());
        ff_overview_free(&overview);
        free(all);
    }
}

static void test_falling_time_is_refused(void **state) {
    (void)state;
    const float value[WIDTH] = {0};
    ff_thin thin;
    assert_int_equal(ff_thin_init(WIDTH, &thin), FF_OK);
    assert_int_equal(ff_thin_add(&thin, 1.0, value), FF_OK);
    assert_int_equal(ff_thin_add(&thin, 0.5, value), FF_ERR_ARGUMENT);
    assert_int_equal(ff_thin_add(&thin, (double)NAN, value), FF_ERR_ARGUMENT);
    assert_int_equal(ff_thin_count(&thin), 1);
    ff_thin_free(&thin);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buckets_hold_the_extremes_of_their_cycles),
                                       cmocka_unit_test(test_attachment_reads_back),
                                       cmocka_unit_test(test_falling_time_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
