#include "safety/levels.h"

const char *ff_level_text(ff_level_name level) {
    static const char *const text[] = {
#define FF_LEVEL_TEXT(name, trip, words, field) words,
        FF_LEVELS(FF_LEVEL_TEXT)
#undef FF_LEVEL_TEXT
#define FF_LEVEL_TEXT(name, trip, words, unit, field, most) words,
            FF_LEVELS_FIXED(FF_LEVEL_TEXT)
#undef FF_LEVEL_TEXT
    };
    return (unsigned)level < FF_LEVEL_COUNT ? text[level] : "?";
}

ff_trip_code ff_level_trip(ff_level_name level) {
    static const ff_trip_code trip[] = {
#define FF_LEVEL_TRIP(name, code, words, field) FF_TRIP_##code,
        FF_LEVELS(FF_LEVEL_TRIP)
#undef FF_LEVEL_TRIP
#define FF_LEVEL_TRIP(name, code, words, unit, field, most) FF_TRIP_##code,
            FF_LEVELS_FIXED(FF_LEVEL_TRIP)
#undef FF_LEVEL_TRIP
    };
    return (unsigned)level < FF_LEVEL_COUNT ? trip[level] : FF_TRIP_NONE;
}

const char *ff_level_unit(ff_level_name level) {
    switch (level) {
#define FF_LEVEL_UNIT(name, trip, words, unit, field, most) \
    case FF_LEVEL_##name:                                   \
        return unit;
        FF_LEVELS_FIXED(FF_LEVEL_UNIT)
#undef FF_LEVEL_UNIT
    default:
        return ff_trip_unit(ff_level_trip(level));
    }
}

double ff_level_limit(const ff_safety_limits *limits, ff_level_name level) {
    switch (level) {
#define FF_LEVEL_LIMIT(name, trip, words, field) \
    case FF_LEVEL_##name:                        \
        return limits->field;
        FF_LEVELS(FF_LEVEL_LIMIT)
#undef FF_LEVEL_LIMIT
#define FF_LEVEL_LIMIT(name, trip, words, unit, field, most) \
    case FF_LEVEL_##name:                                    \
        return most;
        FF_LEVELS_FIXED(FF_LEVEL_LIMIT)
#undef FF_LEVEL_LIMIT
    default:
        return FF_INF;
    }
}

void ff_levels(const ff_safety_config *config, const ff_safety_memory *state, const ff_safety_in *in,
               int body, double level[FF_LEVEL_COUNT]) {
    const ff_safety_body_in *b = &in->body[body];
    const ff_limiter_config *most = &config->bounded[body];
    const ff_vec3 far = ff_safety_farthest(config, body, b);
    for (int a = 0; a < 3; a++)
        level[FF_LEVEL_BOX_X + a] = far.a[a];
    level[FF_LEVEL_VELOCITY] =
        fmax(ff_vec3_norm(b->measured.twist.v), fmin(ff_vec3_norm(b->command.twist.v), most->velocity));
    level[FF_LEVEL_ANGULAR_VELOCITY] = fmax(ff_vec3_norm(b->measured.twist.w),
                                            fmin(ff_vec3_norm(b->command.twist.w), most->angular_velocity));
    level[FF_LEVEL_FORCE] = ff_vec3_norm(b->f_b.f);
    level[FF_LEVEL_TORQUE] = ff_vec3_norm(b->f_b.t);
    level[FF_LEVEL_ENERGY] = b->energy;
    level[FF_LEVEL_TRACKING] = b->tracking;
    level[FF_LEVEL_AGE] = b->sensor == FF_TRIP_AGE ? b->sensor_value : b->age;
    level[FF_LEVEL_MISSED] = in->missed;
#define FF_LEVEL_VALUE(name, trip, words, unit, field, most) level[FF_LEVEL_##name] = b->field;
    FF_LEVELS_FIXED(FF_LEVEL_VALUE)
#undef FF_LEVEL_VALUE
    /* differences need neighbours, as in ff_safety_examine */
    level[FF_LEVEL_SPIKE] = level[FF_LEVEL_ACCELERATION] = level[FF_LEVEL_ANGULAR_ACCELERATION] =
        level[FF_LEVEL_JERK] = 0.0;
    if (state->seen < 1)
        return;
    const double T = ff_safety_between(config, in);
    const ff_twist change = ff_twist_sub(b->command.twist, state->twist_last[body]);
    const ff_vec3 acceleration = ff_vec3_scale(1.0 / T, change.v);
    level[FF_LEVEL_SPIKE] = fmax(b->jump, ff_vec3_norm(ff_vec3_sub(b->f_b.f, state->force_last[body])));
    level[FF_LEVEL_ACCELERATION] = fmin(ff_vec3_norm(acceleration), most->acceleration);
    level[FF_LEVEL_ANGULAR_ACCELERATION] = fmin(ff_vec3_norm(change.w) / T, most->angular_acceleration);
    if (state->seen >= 2)
        level[FF_LEVEL_JERK] = fmin(ff_safety_jerk(state, body, acceleration, T), most->jerk);
}
