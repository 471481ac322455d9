/* Robot and sensor as a scenario file would default them. */
#ifndef FF_TESTS_PLANT_SUPPORT_H
#define FF_TESTS_PLANT_SUPPORT_H

#include "scenario/scenario.h"

static inline ff_robot_config test_robot(ff_robot_kind kind, double delay) {
    return (ff_robot_config){.kind = kind,
                             .delay = delay,
                             .frequency = 10.0,
                             .damping = 1.0,
                             .velocity = FF_INF,
                             .acceleration = FF_INF,
                             .jerk = FF_INF,
                             .angular_velocity = FF_INF,
                             .angular_acceleration = FF_INF,
                             .angular_jerk = FF_INF,
                             .base = ff_pose_identity(),
                             .tool = ff_pose_identity()};
}

static inline ff_sensor_config test_sensor(void) {
    return (ff_sensor_config){
        .pose = ff_pose_identity(), .range_force = FF_INF, .range_torque = FF_INF, .bandwidth = FF_INF};
}

/* Every method with its defaults, and one of them chosen. */
static inline void test_methods(ff_scenario *s, const ff_method *method) {
    s->method = method;
    s->setups = 0;
    for (int m = 0; ff_method_at(m); m++) {
        s->setup[s->setups].method = ff_method_at(m);
        ff_settings_default(ff_method_at(m), 0, &s->setup[s->setups++].setting);
    }
}

#endif
