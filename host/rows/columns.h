/* rows/columns.h - a row as named columns with units: one list of fields that CSV, MCAP, MATLAB files, the
 * pages, the replay and docs/report.md are made from. */
#ifndef FF_ROWS_COLUMNS_H
#define FF_ROWS_COLUMNS_H

#include "rows/row.h"

enum { FF_COLUMN_NAME = 2 * FF_NAME_SIZE };

typedef enum ff_field_type {
    FF_FIELD_NUMBER,   /* double */
    FF_FIELD_VEC3,     /* ff_vec3: columns .x .y .z */
    FF_FIELD_QUAT,     /* ff_quat: .w .x .y .z */
    FF_FIELD_FLAG,     /* bool: 0 or 1 */
    FF_FIELD_INT,      /* int or ff_status */
    FF_FIELD_UNSIGNED, /* unsigned */
    FF_FIELD_COMPUTED  /* what `compute` makes of the part; cannot be read back */
} ff_field_type;

enum {                         /* flags */
       FF_FIELD_UNDRAWN = 1,   /* the report's page leaves it out */
       FF_FIELD_PLANT = 2,     /* made by the plant or the devices: a replay of the loop does not make it */
       FF_FIELD_REFERENCE = 4, /* made from the ideal reference, which a replay does not solve */
       FF_FIELD_TIMING = 8,    /* no two runs have the same */
       FF_FIELD_UNREPEATABLE = 16 /* acted before the value that is recorded: a replay starts behind it */
};

typedef struct ff_field {
    const char *name, *unit;
    ff_field_type type;
    unsigned flags;
    size_t offset; /* [bytes] in its part of the row */
    double (*compute)(const void *part);
    const char *text; /* what it is */
} ff_field;

/* A part of the row and its fields; a part stands once or once per satellite, joint or contact. */
typedef enum ff_part {
    FF_PART_TIME,
    FF_PART_BODY,     /* per satellite */
    FF_PART_INERTIAL, /* per satellite, in scenarios with frame: relative */
    FF_PART_AXIS,     /* per axis of each satellite's robot */
    FF_PART_RAIL,     /* per satellite whose robot stands on one */
    FF_PART_LEDGER,   /* of the satellite with an arm: what the ledger of a rigid one does not have */
    FF_PART_JOINT,    /* per joint of the satellite with an arm */
    FF_PART_SERVICER, /* of that satellite */
    FF_PART_FORCE,    /* per contact */
    FF_PART_TOUCHING, /* per contact */
    FF_PART_CYCLE,
    FF_PART_INPUT,  /* per satellite: the loop's input, enough to repeat its step */
    FF_PART_TUNING, /* what orders may change of the loop */
    FF_PART_BIAS,   /* the same, per satellite */
    FF_PARTS
} ff_part;

typedef struct ff_part_fields {
    const char *prefix; /* of its columns, for the docs: "NAME." */
    const ff_field *field;
    int count;
} ff_part_fields;

const ff_part_fields *ff_columns_part(ff_part part);

typedef struct ff_column {
    const ff_field *field;
    size_t part; /* [bytes] where the field's part begins in the row */
    size_t at;   /* [bytes] where the value stands */
    int numbers; /* columns from here on that stand side by side as doubles; 0: this one is none */
} ff_column;

typedef struct ff_columns {
    int count;
    char (*name)[FF_COLUMN_NAME]; /* "client.velocity.x [m/s]" */
    ff_column *column;
} ff_columns;

/* Every column of the log; the columns of the loop's input; those of what orders change. FF_ERR_MEMORY. */
ff_status ff_columns_init(const ff_scenario *scenario, ff_columns *columns);
ff_status ff_columns_init_input(const ff_scenario *scenario, ff_columns *columns);
ff_status ff_columns_init_tuning(const ff_scenario *scenario, ff_columns *columns);
/* Leaves out those with one of these flags. */
void ff_columns_leave_out(ff_columns *columns, unsigned flags);
void ff_columns_free(ff_columns *columns);

enum { FF_COLUMNS_TUNING_MAX = 3 + 6 * FF_MAX_BODIES }; /* columns of ff_columns_init_tuning */

/* values[columns->count] in the order of the names. */
void ff_columns_values(const ff_columns *columns, const ff_row *row, double *values);
/* And back, bit for bit, computed ones left out; the rest of the row is not touched. */
void ff_columns_take(const ff_columns *columns, const double *values, ff_row *row);
/* Index of "BODY.WHAT", or of "WHAT" for an empty body; -1: there is none. */
int ff_columns_find(const ff_columns *columns, const char *body, const char *what);

#endif
