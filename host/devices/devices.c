/* The list of devices: one line for each. */
#include "devices/device.h"

const char *const ff_arm_names[] = {"kr120", "kr16", NULL};

static const ff_device *const devices[] = {
    &ff_device_rsi,
    &ff_device_ati,
};

const ff_device *ff_device_at(size_t n) {
    return n < sizeof devices / sizeof *devices ? devices[n] : NULL;
}

const ff_device *ff_device_of(ff_device_kind kind, int n) {
    const ff_device *device;
    for (size_t at = 0; (device = ff_device_at(at)) != NULL; at++)
        if (device->kind == kind && n-- == 0)
            return device;
    return NULL;
}
