/* The list of devices as an array. */
#include "devices/device.h"

const char *const ff_arm_names[] = {
#define ARM_NAME(kind, name, text) name,
    FF_ARMS(ARM_NAME)
#undef ARM_NAME
        NULL};

const char *const ff_device_text[] = {"TEXT", NULL};

#define ENTRY(name) &ff_device_##name,
static const ff_device *const devices[] = {FF_DEVICES(ENTRY)};

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
