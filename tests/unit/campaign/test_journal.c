/* The journal: records survive cuts and damage, come back in order, and quantiles of any number are right. */
#include "campaign/journal.h"
#include "campaign/output.h"
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/ff_journal_XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT: our own folder */
}

static ff_campaign *campaign(uint64_t samples, int methods, uint64_t hash) {
    ff_campaign *c = calloc(1, sizeof *c);
    c->samples = samples;
    c->methods = methods;
    c->metrics = 2;
    c->hash[0] = hash;
    return c;
}

static void fresh(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/results.journal", folder);
    unlink(path);
}

static size_t encode(uint64_t slot, unsigned char *bytes) {
    ff_record r = {
        .slot = slot, .status = slot % 7 ? FF_OK : FF_ERR_DIVERGED, .metric = {(double)slot, FF_NAN}};
    if (r.status < 0)
        snprintf(r.reason, sizeof r.reason, "failed: reason %llu", (unsigned long long)slot);
    return ff_record_encode(&r, 2, bytes);
}

static void append(ff_journal *j, uint64_t slot) {
    unsigned char bytes[FF_RECORD_BYTES];
    assert_int_equal(ff_journal_append(j, bytes, encode(slot, bytes)), FF_OK);
}

typedef struct seen {
    uint64_t next, count, stride;
} seen;

static ff_status in_order(void *user, const ff_record *record) {
    seen *s = user;
    assert_int_equal(record->slot, s->next);
    assert_true(record->metric[0] == (double)record->slot && isnan(record->metric[1]));
    assert_int_equal(record->status, record->slot % 7 ? FF_OK : FF_ERR_DIVERGED);
    assert_int_equal(record->reason[0] == 0, record->slot % 7 != 0);
    s->next += s->stride;
    s->count++;
    return FF_OK;
}

static void test_records_come_back_in_order(void **state) {
    (void)state;
    const uint64_t count = (uint64_t)test_count(70000, 2500000); /* more than one block, then one window */
    ff_campaign *c = campaign(count / 2, 2, 1);
    ff_journal j;
    char message[512];
    fresh();
    assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_OK);
    static unsigned char bytes[100 * FF_RECORD_BYTES]; /* a hundred at once, as a worker does */
    for (uint64_t i = 0; i < count / 100; i++) {       /* a permutation: 79 is prime to the counts */
        size_t size = 0;
        for (uint64_t n = 0; n < 100; n++) /* a record out of order costs a read of a whole buffer: in few */
            size += encode(i * 79 % (count / 100) * 100 + (i % 16 ? n : n * 7919 % 100), bytes + size);
        assert_int_equal(ff_journal_append(&j, bytes, size), FF_OK);
    }
    assert_int_equal(ff_journal_rescan(&j), FF_OK);
    assert_int_equal(j.slots.done, count);
    seen s = {.stride = 1};
    assert_int_equal(ff_journal_each(&j, in_order, &s), FF_OK);
    assert_int_equal(s.count, count);
    ff_journal_close(&j);
    free(c);
}

static void test_any_cut_keeps_whole_records(void **state) {
    (void)state;
    ff_campaign *c = campaign(10, 1, 1);
    ff_journal j;
    char message[512], path[128];
    fresh();
    assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_OK);
    snprintf(path, sizeof path, "%s/results.journal", folder);
    uint64_t end[11] = {j.size};
    for (uint64_t i = 0; i < 10; i++) {
        append(&j, i);
        end[i + 1] = j.size;
    }
    ff_journal_close(&j);
    for (off_t cut = (off_t)end[10]; cut >= 0; cut--) {
        assert_int_equal(truncate(path, cut), 0);
        assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_OK);
        uint64_t whole = 0;
        while (whole < 10 && end[whole + 1] <= (uint64_t)cut)
            whole++;
        assert_int_equal(j.slots.done, whole);
        assert_int_equal(j.torn, (uint64_t)cut < end[0] ? (uint64_t)cut : (uint64_t)cut - end[whole]);
        for (uint64_t i = 0; i < 10; i++)
            assert_int_equal(ff_slots_has(&j.slots, i), i < whole);
        /* and it continues: the missing ones are appended and all are there */
        if (cut % 50 == 0) {
            for (uint64_t i = whole; i < 10; i++)
                append(&j, i);
            ff_journal_rescan(&j);
            seen s = {.stride = 1};
            assert_int_equal(ff_journal_each(&j, in_order, &s), FF_OK);
            assert_int_equal(s.count, 10);
        }
        ff_journal_close(&j);
    }
    free(c);
}

static void test_a_flipped_bit_costs_one_record(void **state) {
    (void)state;
    ff_campaign *c = campaign(10, 1, 1);
    ff_journal j;
    char message[512];
    fresh();
    assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_OK);
    for (uint64_t i = 0; i < 5; i++)
        append(&j, i);
    const uint64_t middle = j.size;
    for (uint64_t i = 5; i < 10; i++)
        append(&j, i);
    unsigned char byte;
    assert_int_equal(pread(j.file, &byte, 1, (off_t)middle + 9), 1);
    byte ^= 4;
    assert_int_equal(pwrite(j.file, &byte, 1, (off_t)middle + 9), 1);
    ff_journal_close(&j);
    assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_OK);
    assert_int_equal(j.slots.done, 9);
    assert_false(ff_slots_has(&j.slots, 5));
    assert_true(j.damaged > 0 && j.torn == 0);
    ff_journal_close(&j);
    free(c);
}

static void test_another_campaign_is_refused_and_nothing_lost(void **state) {
    (void)state;
    ff_campaign *c = campaign(10, 1, 1), *other = campaign(10, 1, 2);
    ff_journal j;
    char message[512], path[128];
    struct stat before, after;
    fresh();
    assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_OK);
    append(&j, 3);
    snprintf(path, sizeof path, "%s/results.journal", folder);
    ff_journal_close(&j);
    stat(path, &before);
    assert_int_equal(ff_journal_open(folder, other, &j, message, sizeof message), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "another campaign"));
    stat(path, &after);
    assert_int_equal(before.st_size, after.st_size);
    FILE *file = fopen(path, "w");
    fputs("index,method,something that is no journal at all, and long enough to fill a head\n", file);
    fclose(file);
    assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "not a journal"));
    fresh();
    assert_int_equal(ff_journal_open("/proc", c, &j, message, sizeof message), FF_ERR_IO);
    free(c);
    free(other);
}

static void test_nothing_is_written_through_a_link(void **state) {
    (void)state;
    ff_journal j;
    char message[256], path[128], target[128];
    struct stat info;
    ff_campaign *c = campaign(10, 1, 5);
    snprintf(path, sizeof path, "%s/results.journal", folder);
    snprintf(target, sizeof target, "%s/mine", folder);
    fresh();
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(ff_journal_open(folder, c, &j, message, sizeof message), FF_ERR_IO);
    assert_non_null(strstr(message, "it is a link"));
    assert_int_equal(stat(target, &info), -1); /* it would have been made */
    fresh();
    free(c);
}

static void test_slots_hold_bits_only_where_work_is(void **state) {
    (void)state;
    ff_slots slots;
    assert_int_equal(ff_slots_create(&slots, 1000000), FF_OK);
    for (uint64_t i = 0; i < 1000000; i++)
        assert_true(ff_slots_add(&slots, i, 64 + i));
    assert_false(ff_slots_add(&slots, 5, 64));
    assert_false(ff_slots_add(&slots, 1000000, 64));
    assert_int_equal(slots.done, 1000000);
    for (uint64_t i = 0; i < slots.blocks; i++)
        assert_null(slots.block[i].bits);
    assert_true(ff_slots_has(&slots, 999999));
    ff_slots_free(&slots);
}

static void test_quantiles_exact_and_sketched(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    ff_spread exact = {.room = 20000}, sketch = {.room = 100};
    for (int i = 0; i < 20000; i++) {
        const double value = (i % 3 ? 1.0 : -1.0) * exp(ff_rng_range(&rng, -12.0, 12.0));
        ff_spread_add(&exact, value);
        ff_spread_add(&sketch, value);
    }
    ff_spread_add(&exact, FF_NAN);
    assert_int_equal(exact.missing, 1);
    assert_null(sketch.value);
    for (double part = 0.0; part <= 1.0; part += 0.05) {
        const double a = ff_spread_quantile(&exact, part), b = ff_spread_quantile(&sketch, part);
        assert_near(b, a, 0.025 * fabs(a)); /* 1 % of the bucket, and the gap between two values */
    }
    free(exact.value);
    free(sketch.bucket);
    ff_spread none = {.room = 5};
    assert_true(isnan(ff_spread_quantile(&none, 0.5)));
}

/* What is rounding is shown as 0: by the limit where there is one, else beside the largest under any method.
 */
static void test_rounding_is_shown_as_zero(void **state) {
    (void)state;
    ff_campaign *c = calloc(1, sizeof *c);
    ff_output *o = calloc(1, sizeof *o);
    assert_true(c && o);
    o->campaign = c;
    c->methods = c->metrics = 2;
    c->scenario.requirements.velocity_error = 0.01;
    c->metric[0].kind = FF_METRIC_ERROR; /* judged by the scenario's limit */
    c->metric[1].kind = FF_METRIC_TEXT;
    assert_near(ff_output_shown(o, 0, 1.1e-8), 1.1e-8, 0.0);
    assert_near(ff_output_shown(o, 0, -0.9e-8), 0.0, 0.0);
    assert_near(ff_output_shown(o, 1, 1.1e-15), 1.1e-15, 0.0);
    assert_near(ff_output_shown(o, 1, 0.9e-15), 0.0, 0.0);
    o->spread[1][1] = (ff_spread){.count = 2, .least = -20.0, .most = 10.0};
    assert_near(ff_output_shown(o, 1, 2.1e-11), 2.1e-11, 0.0);
    assert_near(ff_output_shown(o, 1, -1.9e-11), 0.0, 0.0);
    assert_true(isnan(ff_output_shown(o, 1, FF_NAN)));
    free(o);
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_come_back_in_order),
        cmocka_unit_test(test_any_cut_keeps_whole_records),
        cmocka_unit_test(test_a_flipped_bit_costs_one_record),
        cmocka_unit_test(test_another_campaign_is_refused_and_nothing_lost),
        cmocka_unit_test(test_nothing_is_written_through_a_link),
        cmocka_unit_test(test_slots_hold_bits_only_where_work_is),
        cmocka_unit_test(test_quantiles_exact_and_sketched),
        cmocka_unit_test(test_rounding_is_shown_as_zero),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
