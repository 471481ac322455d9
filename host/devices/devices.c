/* The list of devices: one line for each. */
#include "devices/device.h"

#include <string.h>

static const ff_device *const devices[] = {
    &ff_device_rsi,
    &ff_device_ati,
};

const ff_device *ff_device_at(size_t n) {
    return n < sizeof devices / sizeof *devices ? devices[n] : NULL;
}

const ff_device *ff_device_find(ff_device_kind kind, const char *name) {
    const ff_device *first = NULL, *device;
    for (size_t n = 0; (device = ff_device_at(n)) != NULL; n++) {
        if (device->kind != kind)
            continue;
        if (!first)
            first = device;
        if (strcmp(device->name, name) == 0)
            return device;
    }
    return first;
}
