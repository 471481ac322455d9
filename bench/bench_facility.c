/* Time of one cycle of the virtual facility: write and read, one body on one wall, in contact. */
#include "bench.h"
#include "facility/plant.h"

#include <stdio.h>

static bool measure(const char *name, ff_robot_kind robot, double delay, ff_sensor_kind sensor) {
    static ff_scenario s;
    s = (ff_scenario){.cycle = 0.004, .seed = 1, .satellites = 1, .contacts = 1};
    s.facility_pose = ff_pose_identity();
    ff_satellite *a = &s.satellite[0];
    a->start.attitude = ff_quat_identity();
    a->robot = (ff_robot_config){.kind = robot,
                                 .delay = delay,
                                 .frequency = 10.0,
                                 .damping = 1.0,
                                 .velocity = 1.0,
                                 .acceleration = 10.0,
                                 .jerk = 1000.0,
                                 .angular_velocity = 1.0,
                                 .angular_acceleration = 10.0,
                                 .angular_jerk = 1000.0,
                                 .base = {{1, 0, 0, 0}, {{0, 0, 0}}},
                                 .tool = {{1, 0, 0, 0}, {{0, 0, 0}}}};
    a->sensor = (ff_sensor_config){.kind = sensor,
                                   .pose = {{1, 0, 0, 0}, {{0, 0, 0}}},
                                   .force_noise = 0.1,
                                   .torque_noise = 0.01,
                                   .range_force = FF_INF,
                                   .range_torque = FF_INF,
                                   .bandwidth = FF_INF};
    s.contact[0] = (ff_contact){.kind = FF_CONTACT_WALL,
                                .against = -1,
                                .point = {{0.3, -0.2, 0.4}},
                                .at = {{0, 0, 1.0}},
                                .normal = {{0, 0, 1}},
                                .stiffness = 2000,
                                .damping = 5};
    char message[256];
    ff_plant *plant = ff_plant_create(&s, message, sizeof message, NULL);
    if (!plant) {
        printf("%s: %s\n", name, message);
        return false;
    }
    ff_loop_in in;
    ff_truth truth;
    double best = FF_INF, sum = 0.0;
    enum { BATCH = 20000, BATCHES = 50 };
    uint64_t k = 0;
    for (int b = 0; b < BATCHES; b++) {
        const double start = bench_now_ns();
        for (int i = 0; i < BATCH; i++, k++) {
            ff_setpoint c = {{{1, 0, 0, 0}, {{0, 0, 1e-9 * (double)i}}}, ff_twist_zero()};
            ff_plant_write(plant, k, &c);
            ff_plant_read(plant, k, &in, &truth);
            sum += in.sensor[0].f_s.f.z;
        }
        best = fmin(best, (bench_now_ns() - start) / BATCH);
    }
    printf("%-28s %7.1f ns per cycle (best of %d batches; checksum %.3g)\n", name, best, BATCHES, sum);
    ff_plant_free(plant);
    return true;
}

int main(void) {
    const bool good[] = {
        measure("ideal robot, ideal sensor", FF_ROBOT_IDEAL, 0.0, FF_SENSOR_IDEAL),
        measure("delay 10 cycles", FF_ROBOT_DELAY, 0.040, FF_SENSOR_IDEAL),
        measure("delay 10.5 cycles", FF_ROBOT_DELAY, 0.042, FF_SENSOR_IDEAL),
        measure("lag", FF_ROBOT_LAG, 0.040, FF_SENSOR_IDEAL),
        measure("limited", FF_ROBOT_LIMITED, 0.040, FF_SENSOR_IDEAL),
        measure("delay, noisy sensor", FF_ROBOT_DELAY, 0.040, FF_SENSOR_NOISY),
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!good[i])
            return 1; /* a case that does not run is not a benchmark */
    return 0;
}
