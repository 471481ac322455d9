/* What every test needs: cmocka, close-enough checks on vectors, and a seed that is printed. */
#ifndef FF_TESTS_SUPPORT_H
#define FF_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "freefloat/base.h"

/* |a - b| <= tolerance, also false for NaN; prints both values. */
#define assert_near(a, b, tolerance)                                                             \
    do {                                                                                         \
        const double near_a_ = (a), near_b_ = (b), near_t_ = (tolerance);                        \
        if (!(fabs(near_a_ - near_b_) <= near_t_))                                               \
            fail_msg("%s = %.15g, %s = %.15g, difference %.3g > %.3g", #a, near_a_, #b, near_b_, \
                     fabs(near_a_ - near_b_), near_t_);                                          \
    } while (0)

#define assert_vec3_near(actual, expected, tolerance)                                                       \
    do {                                                                                                    \
        const ff_vec3 va_ = (actual), vb_ = (expected);                                                     \
        for (int vi_ = 0; vi_ < 3; vi_++)                                                                   \
            if (!(fabs(va_.a[vi_] - vb_.a[vi_]) <= (tolerance)))                                            \
                fail_msg("%s = [%.12g %.12g %.12g], %s = [%.12g %.12g %.12g], beyond %.3g", #actual, va_.x, \
                         va_.y, va_.z, #expected, vb_.x, vb_.y, vb_.z, (double)(tolerance));                \
    } while (0)

/* FF_SEED in the environment repeats a run; otherwise the seed is the usual one: for figures that a page
 * states for one draw. */
static inline uint64_t test_seed_or(uint64_t usual) {
    const char *text = getenv("FF_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 0) : usual;
    print_message("seed %llu (FF_SEED repeats it)\n", (unsigned long long)seed);
    return seed;
}

/* Random cases: another seed in each run, the same one for all cases of a program. */
static inline uint64_t test_seed(void) {
    static uint64_t fresh;
    if (!fresh) {
        struct timespec now;
        timespec_get(&now, TIME_UTC);
        fresh = 1 + (uint64_t)(now.tv_sec * 1000 + now.tv_nsec / 1000000) % 1000000000u;
    }
    return test_seed_or(fresh);
}

/* A case that cannot run here says why. The program then ends with test_ended(cmocka_run_group_tests(...)):
 * CTest lists it as skipped unless a case failed. */
static int test_skipped_ __attribute__((unused));
#define test_skip(why)                        \
    do {                                      \
        print_message("left out: %s\n", why); \
        test_skipped_ = 1;                    \
        skip();                               \
    } while (0)

static inline int test_ended(int failed) {
    return failed ? failed : test_skipped_ ? 77 : 0;
}

static inline int test_long(void) {
    const char *text = getenv("FF_TEST_LONG");
    return text && *text && strcmp(text, "0") != 0;
}

/* How many random cases: the short count, or the long one under make test-long. */
static inline int test_count(int shorter, int longer) {
    return test_long() ? longer : shorter;
}

static inline ff_vec3 test_random_vec3(ff_rng *rng, double size) {
    ff_vec3 v;
    for (int i = 0; i < 3; i++)
        v.a[i] = ff_rng_range(rng, -size, size);
    return v;
}

static inline ff_quat test_random_quat(ff_rng *rng) {
    return ff_quat_unit(
        (ff_quat){ff_rng_normal(rng), ff_rng_normal(rng), ff_rng_normal(rng), ff_rng_normal(rng)});
}

static inline ff_pose test_random_pose(ff_rng *rng, double size) {
    ff_pose pose;
    pose.q = test_random_quat(rng);
    pose.p = test_random_vec3(rng, size);
    return pose;
}

#endif
