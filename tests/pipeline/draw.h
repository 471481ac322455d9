/* Scenarios drawn at random as text, for pipelines. */
#ifndef FF_TESTS_PIPELINE_DRAW_H
#define FF_TESTS_PIPELINE_DRAW_H

#include "support.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct text {
    char at[8192];
    size_t used;
} text;

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    t->used += (size_t)vsnprintf(t->at + t->used, sizeof t->at - t->used, format, list);
    va_end(list);
    assert_true(t->used < sizeof t->at);
}

#define V3 "[%.12g, %.12g, %.12g]"
#define OF(v) (v).x, (v).y, (v).z

static ff_vec3 direction(ff_rng *rng) {
    return ff_vec3_unit(ff_vec3_make(ff_rng_normal(rng), ff_rng_normal(rng), ff_rng_normal(rng)));
}

#endif
