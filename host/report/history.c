/* States and events as they come, for summary.json and the report. */
#include "report/history.h"

#include "safety/safety.h"
#include "text/json.h"

#include <math.h>
#include <stdio.h>

static void add_event(ff_history *history, double t, bool state, ff_event_level level, const char *text) {
    if (history->count < FF_HISTORY_SIZE) {
        history->entry[history->count].t = t;
        history->entry[history->count].state = state;
        history->entry[history->count].level = level;
        snprintf(history->entry[history->count].text, sizeof history->entry[0].text, "%s", text);
    }
    history->count++;
}

static ff_status take_row(void *self, const ff_row *row) {
    (void)self;
    (void)row;
    return FF_OK;
}

static ff_status take_state(void *self, double t, int state, const char *name) {
    (void)state;
    add_event(self, t, true, FF_EVENT_INFO, name);
    return FF_OK;
}

static ff_status take_event(void *self, double t, int code, ff_event_level level, const char *text,
                            double value, double limit) {
    char line[160];
    const char *unit = ff_trip_unit((ff_trip_code)code);
    if (code && isfinite(value) && isfinite(limit) && limit != 0.0) /* a trip: a note's text says its own */
        snprintf(line, sizeof line, "%s (%.6g, allowed %.6g%s%s)", text, value, limit, *unit ? " " : "",
                 unit);
    else
        snprintf(line, sizeof line, "%s", text);
    add_event(self, t, false, level, line);
    return FF_OK;
}

ff_sink ff_history_sink(ff_history *history) {
    return (ff_sink){.self = history, .row = take_row, .state = take_state, .event = take_event};
}

char *ff_history_json(const ff_history *history) {
    static const char *const level[] = {"info", "warning", "fault"};
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '[');
    for (int i = 0; i < history->count && i < FF_HISTORY_SIZE; i++) {
        ff_json_open(&json, NULL, '{');
        ff_json_number(&json, "time_s", history->entry[i].t);
        if (!history->entry[i].state)
            ff_json_string(&json, "level", level[history->entry[i].level]);
        ff_json_string(&json, history->entry[i].state ? "state" : "text", history->entry[i].text);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    return ff_json_take(&json);
}
