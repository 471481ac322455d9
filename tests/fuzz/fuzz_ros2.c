/* Any bytes as a driver's joint states, its wrench, or a command: to the readers, and to the devices before
 * and after they were greeted. What is read is finite or said not to be; nothing is sent that was not
 * ordered. */
#include "devices/ros2/ros2.h"

#include "fuzz.h"

#include <string.h>

static const ff_device_settings settings = {
    .cycle = 0.004, .states = "/s", .command = "/c", .topic = "/w", .joints = {"a", "b", "c", "d", "e", "f"}};

static void try_device(const ff_device *device, const uint8_t *bytes, size_t size) {
    static _Alignas(16) uint8_t state[8192];
    uint8_t out[FF_DEVICE_SEND_MAX];
    char message[200];
    size_t used;
    FUZZ_CHECK(device->bytes <= sizeof state);
    device->open(state, &settings);
    device->greet(state, bytes, size, out, sizeof out, &used, message, sizeof message);
    FUZZ_CHECK(used == 0 && memchr(message, 0, sizeof message));
    for (int n = 0; n < 2; n++) {
        ff_device_sample sample;
        const ff_status status = device->sample(state, 0.0, bytes, size, &sample);
        const ff_robot_order rests = {.moves = false};
        if (device->kind != FF_DEVICE_ROBOT)
            continue;
        for (int a = 0; a < 6 && status >= 0 && status != FF_INFO_STALE; a++)
            FUZZ_CHECK(isfinite(sample.robot.joints.a[a]));
        device->answer(state, 0.0, &rests, out, sizeof out, &used);
        FUZZ_CHECK(used == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    double q[FF_ARM_AXES] = {0}, rates[FF_ARM_AXES] = {0};
    bool rated;
    char label[FF_ROS2_LABEL];
    for (int axes = 6; axes <= FF_ARM_AXES; axes++)
        if (ff_ros2_command_decode(bytes, size, axes, q, rates, &rated, label) == FF_OK)
            for (int a = 0; a < axes; a++)
                FUZZ_CHECK(isfinite(q[a]) && isfinite(rates[a]));
    FUZZ_CHECK(size < sizeof(ff_link_head) || memchr(label, 0, sizeof label));
    try_device(&ff_device_ros2, bytes, size);
    try_device(&ff_device_ros2_wrench, bytes, size);
    return 0;
}
