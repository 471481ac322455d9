/* monitor/internal.h - the monitor's own reading and writing of telegrams. */
#ifndef FF_MONITOR_INTERNAL_H
#define FF_MONITOR_INTERNAL_H

#include "monitor/monitor.h"

#define MONITOR_DEG (FF_PI / 180.0)

/* What is read of a telegram of the controller (Rob). */
typedef struct monitor_rob {
    double tool[6];        /* RIst: [mm], [deg] */
    double axis[6];        /* AIPos [deg]; zero where it is absent */
    double set[2][6];      /* RSol [mm], [deg] and ASPos [deg]: where the corrections count from */
    bool has_axes, counts; /* counts: Delay is in it */
    bool has_set[2];
    uint64_t delay, ipoc;
} monitor_rob;

/* What is read of an answer (Sen). */
typedef struct monitor_sen {
    double value[6]; /* [deg], or [mm] and [deg] */
    bool stop;
    uint64_t ipoc;
} monitor_sen;

/* False: malformed, incomplete, an element twice, a number that is not finite. */
bool monitor_read_rob(const char *bytes, size_t size, monitor_rob *rob);
/* The same; also false with corrections by any other channel than the given one. */
bool monitor_read_sen(const char *bytes, size_t size, bool axes, monitor_sen *sen);
/* 0: it does not fit. */
size_t monitor_write_sen(const monitor_sen *sen, bool axes, const char *text, char *buffer, size_t size);

#endif
