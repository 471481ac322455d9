/* report/history.h - what happened in a run beside its rows: states, trips, orders, in their order. */
#ifndef FF_REPORT_HISTORY_H
#define FF_REPORT_HISTORY_H

#include "rows/sink.h"

enum { FF_HISTORY_SIZE = 256 };

typedef struct ff_history {
    int count; /* of all; those beyond the size are counted, not kept */
    struct {
        double t; /* [s] of the run */
        bool state;
        ff_event_level level;
        char text[160];
    } entry[FF_HISTORY_SIZE];
} ff_history;

ff_sink ff_history_sink(ff_history *history);
/* [{"time_s": ..., "state": "CONTACT"}, {"time_s": ..., "level": "fault", "text": ...}], malloc'ed; NULL: no
 * memory. */
char *ff_history_json(const ff_history *history);

#endif
