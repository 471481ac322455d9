/* abi/identify.c - what a log says of the facility, from a file or from columns in memory. */
#include "abi/internal.h"

#include <stdlib.h>
#include <string.h>

#include "catalog/library.h"
#include "record/table.h"
#include "session/identify.h"

/* Rows in memory. */
static int take_columns(const char *path, const ffh_identify_options *o, ff_log_table *table,
                        ffh_error *error) {
    char message[512];
    if (ff_log_table_take(path, o->columns, o->name, o->value, (size_t)o->rows, table, message,
                          sizeof message) == FF_OK)
        return FFH_OK;
    return ff__abi_fail(error, FFH_ARGUMENT, "%s", message);
}

char *ffh_identify(const char *path, const char *what, const ffh_identify_options *options,
                   ffh_error *error) {
    static const ffh_identify_options none;
    const ffh_identify_options *o = options ? options : &none;
    ff_log_identify_config config = {.file = path,
                                     .body = o->body,
                                     .delay_max = o->delay_max > 0.0 ? o->delay_max : FF_NAN,
                                     .skew = o->skew,
                                     .gravity = ff_vec3_make(o->gravity[0], o->gravity[1], o->gravity[2]),
                                     .catalog = &ff_catalog_closed};
    ff_notes notes = {.error = ""};
    ff_session *session = NULL;
    ff_log_table table = {0};
    ff__abi_clear(error);
    if (!ff_log_identify_parse(what, &config.what)) {
        ff__abi_fail(error, FFH_ARGUMENT, "cannot identify '%s', allowed: delay, contact, payload", what);
        return NULL;
    }
    if (o->columns && take_columns(path, o, &table, error) != FFH_OK)
        return NULL;
    config.table = o->columns ? &table : NULL;
    ff_outcome outcome = FF_DONE;
    if (o->scenario) {
        session = ff_session_open(o->scenario, NULL, &outcome, &notes);
        config.scenario = session ? &session->scenario : NULL;
    } else
        config.own = !o->columns && config.what == FF_LOG_IDENTIFY_PAYLOAD;
    ff_log_identified found = {0};
    if (outcome == FF_DONE)
        outcome = ff_log_identify(&config, &found, &notes);
    ff_log_table_free(&table);
    ff_session_close(session);
    if (outcome == FF_DONE)
        return found.json;
    if (outcome == FF_FAILED && found.bodies && !notes.error[0])
        ff_notes_error(&notes, outcome, "%s", found.line[0]);
    free(found.json);
    ff__abi_notes(error, outcome == FF_FAILED ? FFH_RUN : FFH_SCENARIO, outcome, &notes);
    return NULL;
}
