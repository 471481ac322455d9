/* The ring and the history in it, against plain arrays. */
#include "support.h"

#include "history/history.h"

static ff_rng rng;

static ff_vec3 any(double size) {
    return ff_vec3_make(ff_rng_range(&rng, -size, size), ff_rng_range(&rng, -size, size),
                        ff_rng_range(&rng, -size, size));
}

static void test_bits_hold_the_rows(void **unused) {
    (void)unused;
    for (int n = 0; n < 200; n++) {
        const double rows = ff_rng_range(&rng, 0.0, 5000.0);
        const int bits = ff__ring_bits(rows, 3, 10), need = (int)ceil(log2(fmax(rows, 1.0)));
        assert_int_equal(bits, need < 3 ? 3 : need > 10 ? 10 : need);
    }
    assert_int_equal(ff__ring_bits(FF_INF, 3, 10), 10);
    assert_int_equal(ff__ring_bits(64.0, 3, 10), 6);
}

/* Series side by side, rows of any size: what was written last at k modulo the rows is what is found. */
static void test_ring_wraps_around_like_an_array(void **unused) {
    (void)unused;
    enum { MOST = 1 << 5, SERIES = 3 };
    static struct {
        ff__ring ring;
        double rows[SERIES * MOST * 4];
    } memory, moved;
    static double truth[SERIES][1000];
    for (int n = 0; n < 50; n++) {
        const int bits = 1 + (int)(ff_rng_next(&rng) % 5), wide = 1 + (int)(ff_rng_next(&rng) % 4);
        const uint64_t rows = UINT64_C(1) << bits;
        const size_t bytes = (size_t)wide * sizeof(double);
        assert_int_equal(ff__ring_bytes(bits, SERIES, bytes), SERIES * rows * bytes);
        ff__ring_place(&memory.ring, bits, bytes, memory.rows);
        assert_int_equal(ff__ring_rows(&memory.ring), rows);
        for (uint64_t k = 0; k < 1000; k++)
            for (int s = 0; s < SERIES; s++) {
                double *row = ff__ring_at(&memory.ring, s, k);
                assert_true(row >= memory.rows && row + wide <= memory.rows + SERIES * rows * (size_t)wide);
                row[0] = row[wide - 1] = truth[s][k] = ff_rng_uniform(&rng);
            }
        memcpy(&moved, &memory, sizeof moved);
        for (uint64_t k = 1000 - rows; k < 1000; k++)
            for (int s = 0; s < SERIES; s++) {
                const double *row = ff__ring_at(&moved.ring, s, k);
                assert_true(row >= moved.rows && row < moved.rows + SERIES * MOST * 4);
                assert_true(row[0] == truth[s][k] && row[wide - 1] == truth[s][k]);
            }
    }
}

typedef struct row {
    ff__past past;
    double own;
} row;

static struct {
    ff__history history;
    row rows[FF_MAX_BODIES << 4];
} memory;

static void test_history_holds_the_newest_rows(void **unused) {
    (void)unused;
    enum { BITS = 4, ROWS = 1 << BITS, BODIES = 3 };
    static ff_rigid_state truth[100][BODIES];
    ff_rigid_load load[BODIES];
    ff__history_reset(&memory.history, BITS, BODIES, sizeof(row), memory.rows);
    assert_true(ff__history_at(&memory.history, BODIES - 1, 0)->limit == 0.0);
    for (uint64_t k = 0; k < 100; k++) {
        for (int i = 0; i < BODIES; i++) {
            truth[k][i] = (ff_rigid_state){any(1), ff_quat_exp(any(1)), any(1), any(1)};
            load[i] = (ff_rigid_load){any(1), any(1)};
        }
        ff__history_at(&memory.history, 1, k)->limit = (double)k; /* left by a march */
        assert_int_equal(ff__history_push(&memory.history, truth[k], load), FF_OK);
        assert_int_equal(memory.history.count, k + 1);
        assert_true(ff__history_at(&memory.history, 1, k)->limit == (double)k);
        for (uint64_t j = k < ROWS ? 0 : k - ROWS + 1; j <= k; j++)
            for (int i = 0; i < BODIES; i++)
                assert_memory_equal(&ff__history_at(&memory.history, i, j)->body, &truth[j][i],
                                    sizeof truth[j][i]);
        assert_memory_equal(&ff__history_at(&memory.history, 2, k)->load, &load[2], sizeof load[2]);
    }
}

/* A number that is not finite would spread over the whole past: the row is refused, nothing changes. */
static void test_push_of_a_row_that_is_not_finite_is_refused(void **unused) {
    (void)unused;
    enum { BITS = 2, BODIES = 2, NUMBERS = sizeof(ff_rigid_state) / sizeof(double) };
    const ff_rigid_state good = {.attitude = {1, 0, 0, 0}};
    ff__history_reset(&memory.history, BITS, BODIES, sizeof(row), memory.rows);
    for (int n = 0; n < 2 * (NUMBERS + 6); n++) {
        ff_rigid_state body[BODIES] = {good, good};
        ff_rigid_load load[BODIES] = {{any(1), any(1)}, {any(1), any(1)}};
        assert_int_equal(ff__history_push(&memory.history, body, load), FF_OK);
        static unsigned char before[sizeof memory];
        memcpy(before, &memory, sizeof memory);
        const int i = n & 1, at = n >> 1;
        const double bad = ff_rng_uniform(&rng) < 0.5 ? FF_NAN : -FF_INF;
        if (at < NUMBERS)
            ((double *)&body[i])[at] = bad;
        else
            ((double *)&load[i])[at - NUMBERS] = bad;
        assert_int_equal(ff__history_push(&memory.history, body, load), FF_ERR_NOT_FINITE);
        assert_memory_equal(before, &memory, sizeof memory);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_hold_the_rows),
        cmocka_unit_test(test_ring_wraps_around_like_an_array),
        cmocka_unit_test(test_history_holds_the_newest_rows),
        cmocka_unit_test(test_push_of_a_row_that_is_not_finite_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
