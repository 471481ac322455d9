/* record/table.h - a log as one table of numbers, for the fits. */
#ifndef FF_RECORD_TABLE_H
#define FF_RECORD_TABLE_H

#include "fit/log.h"

/* Reads log.csv or log.mcap. FF_ERR_IO, FF_ERR_FORMAT (FILE:LINE: what is wrong), FF_ERR_MEMORY; FF_OK with a
 * message: what of the log is missing. Free with ff_log_table_free. */
ff_status ff_log_table_read(const char *path, ff_log_table *table, char *message, size_t size);

/* The same from columns in memory, names without units. */
ff_status ff_log_table_take(const char *label, int columns, const char *const *name,
                            const double *const *value, size_t rows, ff_log_table *table, char *message,
                            size_t size);

#endif
