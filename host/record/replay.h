/* record/replay.h - runs a log again: the executive on the log's station, every row compared bit for bit. */
#ifndef FF_RECORD_REPLAY_H
#define FF_RECORD_REPLAY_H

#include "record/logfile.h"

typedef struct ff_replay_result {
    uint64_t cycles; /* compared */
    uint64_t damaged;
    bool cut;       /* the log was not closed: its writer was killed */
    bool differs;   /* the first difference: */
    uint64_t cycle; /* in this cycle */
    char column[FF_COLUMN_NAME];
    double recorded, replayed;
} ff_replay_result;

/* Can this program replay the log. FF_ERR_UNSUPPORTED, and a sentence that says which version can. */
ff_status ff_replay_check(const ff_logfile *file, char *message, size_t size);
/* FF_OK, also when a row differs. With a sentence: FF_ERR_FORMAT, FF_ERR_UNSUPPORTED (the ideal reference and
 * emulations have no loop), FF_ERR_LIMIT (stopped), FF_ERR_MEMORY. */
ff_status ff_replay(ff_logfile *file, const ff_scenario *scenario, ff_replay_result *result, char *message,
                    size_t size);

#endif
