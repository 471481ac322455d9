/* devices/rsi/internal.h - what both sides of RSI compute from a telegram's degrees. */
#ifndef FF_DEVICES_RSI_INTERNAL_H
#define FF_DEVICES_RSI_INTERNAL_H

#include "devices/rsi/rsi.h"

#define DEG (FF_PI / 180.0)

/* Rotation of a Cartesian total [deg] as a quaternion. */
static inline ff_quat rotation_of(const double total[6]) {
    return ff_quat_from_abc(total[3] * DEG, total[4] * DEG, total[5] * DEG);
}

#endif
