#include "rows/sink.h"

ff_status ff_sinks_row(const ff_sink *sinks, int count, const ff_row *row) {
    ff_status status = FF_OK;
    for (int i = 0; i < count && status >= 0; i++)
        status = sinks[i].row(sinks[i].self, row);
    return status;
}

ff_status ff_sinks_state(const ff_sink *sinks, int count, double t, int state, const char *name) {
    ff_status status = FF_OK;
    for (int i = 0; i < count && status >= 0; i++)
        if (sinks[i].state)
            status = sinks[i].state(sinks[i].self, t, state, name);
    return status;
}

ff_status ff_sinks_event(const ff_sink *sinks, int count, double t, int code, ff_event_level level,
                         const char *text, double value, double limit) {
    ff_status status = FF_OK;
    for (int i = 0; i < count && status >= 0; i++)
        if (sinks[i].event)
            status = sinks[i].event(sinks[i].self, t, code, level, text, value, limit);
    return status;
}

ff_status ff_sinks_found(const ff_sink *sinks, int count, const char *const *set, int sets) {
    ff_status status = FF_OK;
    for (int i = 0; i < count && status >= 0; i++)
        if (sinks[i].found)
            status = sinks[i].found(sinks[i].self, set, sets);
    return status;
}

ff_status ff_sinks_flush(const ff_sink *sinks, int count) {
    ff_status status = FF_OK;
    for (int i = 0; i < count && status >= 0; i++)
        if (sinks[i].flush)
            status = sinks[i].flush(sinks[i].self);
    return status;
}

void ff_sinks_aside(const ff_sink *sinks, int count, const ff_row *row) {
    for (int i = 0; i < count; i++)
        if (sinks[i].aside)
            sinks[i].aside(sinks[i].self, row);
}

void ff_sinks_say(const ff_sink *sinks, int count, double t, ff_event_level level, const char *text) {
    for (int i = 0; i < count; i++)
        if (sinks[i].say)
            sinks[i].say(sinks[i].self, t, level, text);
}
