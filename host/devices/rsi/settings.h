/* devices/rsi/settings.h - names on the wire as a scenario has them. */
#ifndef FF_DEVICES_RSI_SETTINGS_H
#define FF_DEVICES_RSI_SETTINGS_H

#include "devices/device.h"
#include "devices/rsi/rsi.h"

/* Names of the settings, the usual ones where they are empty. FF_ERR_ARGUMENT: they are no names. */
ff_status ff_rsi_names_of(const ff_device_settings *settings, ff_rsi_names *names);

#endif
