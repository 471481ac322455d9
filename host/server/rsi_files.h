/* server/rsi_files.h - what a KUKA controller needs to speak with us, made from the settings: contexts for
 * RSI 3 and for RSI 4 and 5, the Ethernet object's file, the programs. docs/facility.md says where they go,
 * and which public sources the formats were taken from. */
#ifndef FF_SERVER_RSI_FILES_H
#define FF_SERVER_RSI_FILES_H

#include "devices/rsi/settings.h"

typedef struct ff_rsi_cell {
    const ff_device_settings *settings; /* with rail, cycle and tool */
    const char *address;                /* this computer's */
    unsigned port;
    const char *title; /* one line for the heads of the files */
    double axes[6];    /* [deg] where the run begins */
    double rail;       /* [mm] of its travel; 0: there is none */
} ff_rsi_cell;

/* The n-th file from 0: *name is its path below the folder; returns the length of its text, which is complete
 * if that is less than `size`. 0: there is none. */
size_t ff_rsi_file(const ff_rsi_cell *cell, int n, const char **name, char *text, size_t size);

#endif
