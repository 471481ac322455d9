/* record/overview.h - what a page draws first of a long log: the rows of /cycle as record/thin.h keeps them,
 * an attachment of the MCAP file. A log that lacks it (short, or not closed) is whole all the same.
 *
 * The attachment, little-endian: uint32 version, columns beside the time, rows, packing (0: none, 1: zstd);
 * uint64 cycles for each pair of rows, cycles of the run; then, packed: the times as float64, each column's
 * values as float32, one column after the other in the order of /cycle. */
#ifndef FF_RECORD_OVERVIEW_H
#define FF_RECORD_OVERVIEW_H

#include "record/mcap.h"
#include "record/thin.h"
#include "rows/columns.h"

enum { FF_OVERVIEW_VERSION = 1, FF_OVERVIEW_HEAD = 32 /* [bytes] */ };
#define FF_OVERVIEW_NAME "freefloat.overview"

typedef struct ff_overview {
    ff_thin thin;
    double *row;  /* [columns] */
    float *value; /* the same without the time */
} ff_overview;

/* FF_ERR_MEMORY. */
ff_status ff_overview_init(const ff_columns *columns, ff_overview *overview);
void ff_overview_free(ff_overview *overview);
/* FF_ERR_MEMORY. */
ff_status ff_overview_take(ff_overview *overview, const ff_columns *columns, const ff_row *row);
/* Nothing for a run of which every row is in the table. codec: NULL for none. FF_ERR_MEMORY, or the writer's
 * status. */
ff_status ff_overview_write(const ff_overview *overview, const ff_codec *codec, ff_mcap_writer *writer);

#endif
