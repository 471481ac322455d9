/* session/identify.h - what a recorded run says of the facility (fit/log.h), satellite by satellite: as
 * sentences and as JSON. */
#ifndef FF_SESSION_IDENTIFY_H
#define FF_SESSION_IDENTIFY_H

#include "fit/log.h"
#include "scenario/scenario.h"
#include "text/notes.h"

typedef enum ff_log_identify_what {
    FF_LOG_IDENTIFY_DELAY,
    FF_LOG_IDENTIFY_CONTACT,
    FF_LOG_IDENTIFY_PAYLOAD
} ff_log_identify_what;

typedef struct ff_log_identify_config {
    const char *file; /* log.csv or log.mcap */
    ff_log_identify_what what;
    const char *body;            /* only this satellite; NULL: all */
    double delay_max;            /* [s] delay: largest that is tried; FF_NAN: fit/log.h chooses */
    double skew;                 /* [s] contact: by how much the force is older than the pose */
    ff_vec3 gravity;             /* [m/s2] payload, without a scenario; sensor at the CoM */
    const ff_scenario *scenario; /* payload: gravity and the sensor's place; NULL: `gravity` */
    const ff_catalog *catalog;   /* `own`: methods that the log's scenario names */
    const ff_log_table *table;   /* rows in memory; `file` is then what they are called; NULL: in the file */
    bool own;                    /* payload: the scenario that an MCAP log brings, where it does */
} ff_log_identify_config;

typedef struct ff_log_identified {
    int bodies;                    /* that were asked for */
    char line[FF_LOG_BODIES][700]; /* "client: delay 20.000 +- 0.001 ms, ..." or why nothing was found */
    char *json;                    /* the caller's to free; NULL without memory */
} ff_log_identified;

/* "delay", "contact", "payload". False: another word. */
bool ff_log_identify_parse(const char *word, ff_log_identify_what *what);
/* FF_DONE: something was found; FF_FAILED: of no satellite, out->line says why; FF_REFUSED, and a line in
 * notes: the log, or it has no such satellite. A satellite that says nothing does not silence the others. */
ff_outcome ff_log_identify(const ff_log_identify_config *config, ff_log_identified *out, ff_notes *notes);

#endif
