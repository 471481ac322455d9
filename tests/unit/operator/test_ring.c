/* The telemetry ring: nothing lost below its size, order kept, drops counted, under a real second thread. */
#include <pthread.h>

#include "operator/ring.h"
#include "support.h"

typedef struct item {
    uint64_t number, check[20];
} item;

static void test_push_full_refused_and_counted(void **state) {
    (void)state;
    ff_ring ring;
    assert_int_equal(ff_ring_create(&ring, sizeof(int), 5), FF_OK); /* raised to 8 */
    int n = 0, got;
    assert_false(ff_ring_pop(&ring, &got));
    for (; n < 8; n++)
        assert_true(ff_ring_push(&ring, &n));
    assert_false(ff_ring_push(&ring, &n));
    assert_int_equal(ff_ring_dropped(&ring), 1);
    for (int i = 0; i < 8; i++) {
        assert_true(ff_ring_pop(&ring, &got));
        assert_int_equal(got, i);
    }
    assert_false(ff_ring_pop(&ring, &got));
    assert_true(ff_ring_push(&ring, &n));
    ff_ring_free(&ring);
    assert_int_equal(ff_ring_create(&ring, 0, 8), FF_ERR_ARGUMENT);
    assert_int_equal(ff_ring_create(&ring, 8, 0), FF_ERR_ARGUMENT);
}

static ff_ring shared;
static uint64_t count;

static void *produce(void *unused) {
    (void)unused;
    for (uint64_t n = 1; n <= count; n++) {
        item i = {.number = n};
        for (int k = 0; k < 20; k++)
            i.check[k] = n * 2654435761u + (uint64_t)k;
        ff_ring_push(&shared, &i);
    }
    return NULL;
}

static void test_two_threads_order_kept_drops_add_up(void **state) {
    (void)state;
    count = (uint64_t)test_count(200000, 20000000);
    assert_int_equal(ff_ring_create(&shared, sizeof(item), 64), FF_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, NULL), 0);
    uint64_t last = 0, taken = 0;
    item i;
    for (bool ended = false; !ended;) {
        const bool any = ff_ring_pop(&shared, &i);
        if (any) {
            assert_true(i.number > last);
            for (int k = 0; k < 20; k++)
                assert_true(i.check[k] == i.number * 2654435761u + (uint64_t)k);
            last = i.number;
            taken++;
        }
        ended = !any && taken + ff_ring_dropped(&shared) == count;
    }
    pthread_join(thread, NULL);
    assert_true(taken + ff_ring_dropped(&shared) == count);
    ff_ring_free(&shared);
}

static ff_claims claims;
static ff_claim open_claim[512];
static bool given_up[512];

static void *give_up(void *unused) {
    (void)unused;
    for (int i = 0; i < 512; i++)
        given_up[i] = ff_claim_take(open_claim[i]);
    return NULL;
}

/* Two threads want the same: one of them has it, never both and never neither. */
static void test_a_claim_is_taken_once(void **state) {
    (void)state;
    int mine = 0;
    for (int round = 0; round < 200; round++) {
        pthread_t thread;
        for (int i = 0; i < 512; i++)
            open_claim[i] = ff_claim_open(&claims);
        assert_int_equal(pthread_create(&thread, NULL, give_up, NULL), 0);
        bool had[512];
        for (int i = 511; i >= 0; i--)
            mine += had[i] = ff_claim_take(open_claim[i]);
        pthread_join(thread, NULL);
        for (int i = 0; i < 512; i++)
            assert_true(had[i] != given_up[i]);
    }
    print_message("%d of %d were this thread's\n", mine, 200 * 512);
    const ff_claim old = ff_claim_open(&claims); /* too old: counts as given up */
    for (int i = 0; i < FF_CLAIMS; i++)
        ff_claim_open(&claims);
    assert_false(ff_claim_waits(old) || ff_claim_take(old));
    assert_true(ff_claim_waits((ff_claim){0}) && ff_claim_take((ff_claim){0}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_full_refused_and_counted),
        cmocka_unit_test(test_two_threads_order_kept_drops_add_up),
        cmocka_unit_test(test_a_claim_is_taken_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
