/* Names of the kinds of robots and sensors. Not beside the table of keys: whoever names one needs no reader.
 */
#include "scenario/scenario.h"

/* In the order of their enums. */
static const char *const robot_names[] = {"ideal", "delay", "lag", "limited", "joints", "wrench", "mujoco"};
static const char *const sensor_names[] = {"ideal", "noisy"};

static const char *device_name(ff_device_kind kind, int n) {
    const ff_device *device = ff_device_of(kind, n);
    return device ? device->name : NULL;
}

const char *ff_robot_name(int kind) {
    return kind < FF_ROBOT_DEVICE ? robot_names[kind] : device_name(FF_DEVICE_ROBOT, kind - FF_ROBOT_DEVICE);
}

const char *ff_sensor_name(int kind) {
    return kind < FF_SENSOR_DEVICE ? sensor_names[kind]
                                   : device_name(FF_DEVICE_SENSOR, kind - FF_SENSOR_DEVICE);
}
