/* A loop in static memory that is large enough for every method of the library. */
#ifndef FF_TESTS_LOOP_SUPPORT_H
#define FF_TESTS_LOOP_SUPPORT_H

#include "freefloat/freefloat.h"
#include "support.h"

#define TEST_LOOP_MODEL(name)  \
    static union {             \
        ff_loop_model at;      \
        double bytes[1 << 13]; \
    } name##_memory;           \
    static ff_loop_model *const name = &name##_memory.at
#define TEST_LOOP_STATE(name)  \
    static union {             \
        ff_loop_state at;      \
        double bytes[1 << 18]; \
    } name##_memory;           \
    static ff_loop_state *const name = &name##_memory.at
enum { TEST_MODEL_BYTES = 8 << 13, TEST_STATE_BYTES = 8 << 18 };

static inline ff_status test_loop_create(const ff_loop_config *config, ff_loop_model *model, char *message,
                                         size_t size) {
    return ff_loop_create(config, model, TEST_MODEL_BYTES, message, size);
}

static inline void test_loop_reset(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                                   ff_loop_out *out) {
    assert_int_equal(ff_loop_reset(model, state, TEST_STATE_BYTES, info, out), FF_OK);
}

/* The method of a configuration with its defaults, variant 0 or 1 (printed); and one of its settings. */
static inline void test_method(ff_loop_config *config, const ff_method *method, int variant) {
    config->method = method;
    ff_settings_default(method, variant, &config->setting);
}

static inline void test_setting(ff_loop_config *config, const char *name, double value) {
    if (ff_settings_set(config->method, &config->setting, name, value) != FF_OK)
        fail_msg("%s refuses %s: %g", config->method->name, name, value);
}

#endif
