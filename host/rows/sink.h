/* rows/sink.h - who takes a run's rows and what happens between them: logs, metrics, report, live page. */
#ifndef FF_ROWS_SINK_H
#define FF_ROWS_SINK_H

#include "rows/row.h"

typedef enum ff_event_level { FF_EVENT_INFO, FF_EVENT_WARNING, FF_EVENT_FAULT } ff_event_level;

#define FF_SINK_FLUSH 0.1 /* [s] of run time: the longest stretch of rows that a kill loses */

/* All calls come from one thread. t: run time [s], also before zero. A negative status of `row` ends the run.
 * Only `row` is required: NULL means that the sink does not record such things. */
typedef struct ff_sink {
    void *self;
    bool axes; /* it shows the robots' axes, which cost some microseconds a cycle (rows/axes.h) */
    ff_status (*row)(void *self, const ff_row *row); /* in order */
    /* state of the safety layer */
    ff_status (*state)(void *self, double t, int state, const char *name);
    ff_status (*event)(void *self, double t, int code, ff_event_level level, const char *text, double value,
                       double limit);
    /* overrides that the check before a run found ("fused.skew=0.001"), once: a replay applies them after
     * those of the command line */
    ff_status (*found)(void *self, const char *const *set, int count);
    /* what was handed over so far reaches the file: rows see to it themselves, states and events before and
     * after them do not */
    ff_status (*flush)(void *self);
    /* on devices, for whoever attends the run: a cycle outside of it (row->aside), a line for the operator */
    void (*aside)(void *self, const ff_row *row);
    void (*say)(void *self, double t, ff_event_level level, const char *text);
} ff_sink;

/* To every sink in turn, up to the first one that fails; returns its status. */
ff_status ff_sinks_row(const ff_sink *sinks, int count, const ff_row *row);
ff_status ff_sinks_state(const ff_sink *sinks, int count, double t, int state, const char *name);
ff_status ff_sinks_event(const ff_sink *sinks, int count, double t, int code, ff_event_level level,
                         const char *text, double value, double limit);
ff_status ff_sinks_found(const ff_sink *sinks, int count, const char *const *set, int sets);
ff_status ff_sinks_flush(const ff_sink *sinks, int count);
void ff_sinks_aside(const ff_sink *sinks, int count, const ff_row *row);
void ff_sinks_say(const ff_sink *sinks, int count, double t, ff_event_level level, const char *text);

#endif
