#include "fit/log.h"

#include <stdlib.h>
#include <string.h>

void ff_log_table_free(ff_log_table *table) {
    free(table->name);
    free(table->value);
    *table = (ff_log_table){0};
}

int ff_log_table_column(const ff_log_table *table, const char *name) {
    for (int i = 0; i < table->columns; i++)
        if (strcmp(table->name[i], name) == 0)
            return i;
    return -1;
}
