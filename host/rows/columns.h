/* rows/columns.h - a row as named columns with units: one list for CSV, MCAP and the report. */
#ifndef FF_ROWS_COLUMNS_H
#define FF_ROWS_COLUMNS_H

#include "rows/row.h"

enum { FF_COLUMN_NAME = 2 * FF_NAME_SIZE };

typedef struct ff_columns {
    int count;
    char (*name)[FF_COLUMN_NAME]; /* "client.velocity.x [m/s]" */
    int satellites, contacts;
    int servicer, joints; /* of the satellite with an arm; -1, 0 */
    bool relative; /* the robots move in a frame of their own: their inertial motion has columns, too */
} ff_columns;

ff_status ff_columns_init(const ff_scenario *scenario, ff_columns *columns);
void ff_columns_free(ff_columns *columns);
/* values[columns->count] in the order of the names. */
void ff_columns_values(const ff_columns *columns, const ff_row *row, double *values);

#endif
