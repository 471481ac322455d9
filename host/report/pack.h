/* report/pack.h - a table of numbers as the bytes that the report's page unpacks (web/src/data.ts). */
#ifndef FF_REPORT_PACK_H
#define FF_REPORT_PACK_H

#include <stdbool.h>
#include <stddef.h>

/* time [rows], then the values row by row [rows][width]; not finite: a gap. */
typedef struct ff_report_table {
    size_t rows, width;
    const double *time;
    const float *value;
} ff_report_table;

/* The bytes of time as float64 and of each column that is not constant as float32, little endian; constant
 * [width] says which are. raw: as they are. Otherwise each array begins with a byte: 2 for its second
 * differences (of the numbers' bits, taken as integers from 0, 0; zigzag, seven bits a byte, the lowest
 * first), which are small where a motion is smooth; 1 for its bytes by their place in the number (all lowest
 * ones, then all second ones, ...), where they would be longer; and all of it is deflated. The caller frees
 * the bytes; NULL: no memory. */
unsigned char *ff_report_pack(const ff_report_table *table, bool raw, bool *constant, size_t *size);

#endif
