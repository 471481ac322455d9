/* record/store.h - the rows of a run in memory, column by column: each one array of doubles that stays where
 * it is while the run adds to it, so that who looks at it needs no copy. The columns are those of log.csv. */
#ifndef FF_RECORD_STORE_H
#define FF_RECORD_STORE_H

#include "rows/columns.h"
#include "rows/sink.h"
#include "text/keep.h"

typedef struct ff_store_column {
    char name[FF_COLUMN_NAME]; /* without its unit */
    char unit[32];             /* "" none */
    double *value;             /* rows of it; NULL: it is not recorded */
} ff_store_column;

enum { FF_STORE_BLOCK = 32 }; /* rows that are filed together: every column is a page of its own */

typedef struct ff_store {
    int count;
    ff_store_column *column;
    uint64_t rows, room; /* recorded; that there is memory for */
    uint64_t filed;      /* of the rows: those that stand in the columns; the others wait in `block` */
    ff_columns columns;  /* of the rows; empty where they are not a run's */
    double *row;         /* the newest row, all columns, whatever is recorded */
    int taken;           /* columns that are recorded, */
    int *take;           /* and their numbers */
    double *memory;
    double *block; /* [FF_STORE_BLOCK][taken] */
} ff_store;

/* Of a run of this scenario, whose rows the sink takes. record: patterns as of a shell ("client.*") for the
 * names of the columns that are recorded; NULL: all. FF_ERR_MEMORY; FF_ERR_ARGUMENT: *wrong is a pattern that
 * no column has. After a failure nothing needs to be freed. */
ff_status ff_store_init(const ff_scenario *scenario, const char *const *record, int patterns,
                        const char **wrong, ff_store *store);
/* Of any table: `names` as "what [unit]", all recorded, `rows` of them there; the values are the caller's to
 * fill in. FF_ERR_MEMORY. */
ff_status ff_store_init_table(int count, const char *const *names, uint64_t rows, ff_store *store);
void ff_store_free(ff_store *store);
ff_sink ff_store_sink(ff_store *store);
/* Every row is in its column's array. Before one is looked at. */
void ff_store_file(ff_store *store);
/* What is recorded so far (text/keep.h). */
void ff_store_keep(ff_store *store, ff_keeper *keeper);

#endif
