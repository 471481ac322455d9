/* The table of the check: go and no-go. */
#include "executive/check.h"

#include <stdio.h>

static ff_check_row *append(ff_check *check, int body, const char *what, const char *key) {
    if (check->rows < FF_CHECK_ROWS) /* always: the table holds every row that there is */
        check->rows++;
    ff_check_row *row = &check->row[check->rows - 1];
    *row = (ff_check_row){.body = body, .what = what, .key = key, .limit = FF_NAN, .unit = ""};
    return row;
}

static void judge_value(ff_check *check, int body, const char *what, const char *key, double value,
                        double limit, bool go, const char *unit, ff_trip_code code, const char *reason) {
    ff_check_row *row = append(check, body, what, key);
    row->value = value;
    row->limit = limit;
    row->unit = unit;
    row->verdict = go ? FF_CHECK_GO : FF_CHECK_NO_GO;
    if (row->verdict == FF_CHECK_GO)
        return;
    snprintf(row->reason, sizeof row->reason, "%s", reason ? reason : ff_trip_text(code));
    if (check->no_go.code != FF_TRIP_NONE)
        return;
    check->no_go = (ff_trip){.code = code, .body = body, .value = value, .limit = limit};
    snprintf(check->reason, sizeof check->reason, "%s", row->reason);
}

void ff_check_add(ff_check *check, int body, const char *what, const char *key, double value, double limit,
                  const char *unit, ff_trip_code code, const char *reason) {
    judge_value(check, body, what, key, value, limit, value <= limit, unit, code, reason);
}

void ff_check_least(ff_check *check, int body, const char *what, const char *key, double value, double limit,
                    const char *unit, ff_trip_code code, const char *reason) {
    judge_value(check, body, what, key, value, limit, value >= limit, unit, code, reason);
}

void ff_check_show(ff_check *check, int body, const char *what, const char *key, double value,
                   const char *unit) {
    ff_check_row *row = append(check, body, what, key);
    row->value = value;
    row->unit = unit;
    row->verdict = FF_CHECK_SHOWN;
}

void ff_check_skip(ff_check *check, int body, const char *what, const char *key, const char *reason) {
    ff_check_row *row = append(check, body, what, key);
    row->value = FF_NAN;
    row->verdict = FF_CHECK_SKIPPED;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}
