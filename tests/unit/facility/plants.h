/* A scenario built by hand, as the loader would fill it. */
#ifndef FF_TESTS_FACILITY_PLANTS_H
#define FF_TESTS_FACILITY_PLANTS_H

#include "support.h"

#include "facility/plant.h"
#include "plant_support.h"

static inline void make_satellite(ff_satellite *s, const char *name) {
    *s = (ff_satellite){0};
    snprintf(s->name, sizeof s->name, "%s", name);
    s->rigid = (ff_rigid_config){280.0, ff_mat3_diag(18, 20, 22)};
    s->start.attitude = ff_quat_identity();
    s->points = 1;
    s->robot = test_robot(FF_ROBOT_IDEAL, 0.0);
    s->sensor = test_sensor();
}

static inline void make_scenario(ff_scenario *s, int satellites) {
    static const char *const names[FF_MAX_BODIES] = {"client", "servicer", "third", "fourth"};
    *s = (ff_scenario){0};
    s->cycle = 0.004;
    s->duration = 1.0;
    s->cycles = 250;
    s->seed = 1;
    s->facility_pose = ff_pose_identity();
    s->satellites = satellites;
    for (int i = 0; i < satellites; i++)
        make_satellite(&s->satellite[i], names[i]);
}

static inline ff_contact make_wall(ff_vec3 point, ff_vec3 at, ff_vec3 normal, double k, double c) {
    return (ff_contact){.name = "front",
                        .kind = FF_CONTACT_WALL,
                        .against = -1,
                        .point = point,
                        .at = at,
                        .normal = normal,
                        .stiffness = k,
                        .damping = c,
                        .depth = FF_INF};
}

static inline ff_plant *make_plant(const ff_scenario *scenario) {
    char message[256] = "";
    ff_plant *plant = ff_plant_create(scenario, message, sizeof message, NULL);
    if (!plant)
        fail_msg("ff_plant_create: %s", message);
    return plant;
}

static inline ff_setpoint random_setpoint(ff_rng *rng, double size) {
    ff_setpoint s;
    s.T = test_random_pose(rng, size);
    s.twist.v = test_random_vec3(rng, 1.0);
    s.twist.w = test_random_vec3(rng, 1.0);
    return s;
}

/* Quaternions, sign apart. */
#define assert_quat_near(a, b, tolerance) assert_near(ff_quat_angle((a), (b)), 0.0, (tolerance))

#endif
