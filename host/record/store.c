#include "record/store.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Columns begin in different lines of the cache: their rows are written together. */
enum { LINE = 8, APART = 9 * LINE, POPULATED = 16 << 20 /* [bytes] */ };

/* "client.velocity.x [m/s]" */
static void split(const char *title, ff_store_column *column) {
    const char *open = strstr(title, " [");
    const size_t name = open ? (size_t)(open - title) : strlen(title);
    snprintf(column->name, sizeof column->name, "%.*s", (int)name, title);
    if (open)
        snprintf(column->unit, sizeof column->unit, "%.*s", (int)(strlen(open) - 3), open + 2);
}

static ff_status allocate(ff_store *store, int count, uint64_t rows) {
    store->count = count;
    store->room = rows;
    store->column = calloc((size_t)count + 1, sizeof *store->column);
    store->row = calloc((size_t)count + 1, sizeof *store->row);
    store->take = calloc((size_t)count + 1, sizeof *store->take);
    for (int i = 0; i < count && store->row; i++)
        store->row[i] = FF_NAN; /* before the first row */
    return store->column && store->row && store->take ? FF_OK : FF_ERR_MEMORY;
}

/* The pages of a run of ordinary length are taken at once: one by one, as rows come, they cost more than the
 * rows. */
static void populate(void *memory, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    const uintptr_t page = 4096, from = ((uintptr_t)memory + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)memory + bytes) / page * page;
    if (bytes <= POPULATED && to > from) /* a system that cannot does as it always does */
        madvise((void *)from, to - from, MADV_POPULATE_WRITE); // NOLINT(performance-no-int-to-ptr)
#else
    (void)memory;
    (void)bytes;
#endif
}

/* Memory for those that are taken. */
static ff_status lay_out(ff_store *store) {
    const uint64_t stride = store->room / LINE * LINE + APART;
    if (!store->taken)
        return FF_OK;
    if (stride > SIZE_MAX / sizeof(double) / (uint64_t)store->taken)
        return FF_ERR_MEMORY;
    const size_t bytes = (size_t)stride * (size_t)store->taken * sizeof(double);
    store->memory = malloc(bytes);
    store->block = malloc(FF_STORE_BLOCK * (size_t)store->taken * sizeof *store->block);
    if (!store->memory || !store->block)
        return FF_ERR_MEMORY;
    populate(store->memory, bytes);
    for (int i = 0; i < store->taken; i++)
        store->column[store->take[i]].value = store->memory + (uint64_t)i * stride;
    return FF_OK;
}

ff_status ff_store_init(const ff_scenario *scenario, const char *const *record, int patterns,
                        const char **wrong, ff_store *store) {
    *store = (ff_store){0};
    ff_status status = ff_columns_init(scenario, &store->columns);
    if (status == FF_OK)
        status = allocate(store, store->columns.count, scenario->cycles + 1);
    for (int c = 0; c < store->count && status == FF_OK; c++) {
        split(store->columns.name[c], &store->column[c]);
        bool taken = !record;
        for (int p = 0; p < patterns && record && !taken; p++)
            taken = fnmatch(record[p], store->column[c].name, 0) == 0;
        if (taken)
            store->take[store->taken++] = c;
    }
    for (int p = 0; p < patterns && record && status == FF_OK; p++) {
        bool found = false;
        for (int c = 0; c < store->count && !found; c++)
            found = fnmatch(record[p], store->column[c].name, 0) == 0;
        if (!found) {
            *wrong = record[p];
            status = FF_ERR_ARGUMENT;
        }
    }
    if (status == FF_OK)
        status = lay_out(store);
    if (status != FF_OK)
        ff_store_free(store);
    return status;
}

ff_status ff_store_init_table(int count, const char *const *names, uint64_t rows, ff_store *store) {
    *store = (ff_store){0};
    ff_status status = allocate(store, count, rows);
    for (int c = 0; c < count && status == FF_OK; c++) {
        split(names[c], &store->column[c]);
        store->take[store->taken++] = c;
    }
    if (status == FF_OK)
        status = lay_out(store);
    if (status == FF_OK)
        store->rows = store->filed = rows;
    else
        ff_store_free(store);
    return status;
}

void ff_store_free(ff_store *store) {
    ff_columns_free(&store->columns);
    free(store->column);
    free(store->row);
    free(store->take);
    free(store->memory);
    free(store->block);
    *store = (ff_store){0};
}

void ff_store_file(ff_store *store) {
    const uint64_t n = store->rows - store->filed;
    for (int i = 0; i < store->taken && n; i++) {
        double *to = store->column[store->take[i]].value + store->filed;
        const double *from = store->block + i;
        for (uint64_t k = 0; k < n; k++)
            to[k] = from[k * (uint64_t)store->taken];
    }
    store->filed = store->rows;
}

static ff_status take_row(void *self, const ff_row *row) {
    ff_store *store = self;
    ff_columns_values(&store->columns, row, store->row);
    if (store->rows == store->room)
        return FF_OK; /* a stop: its rows are not the run's */
    double *to = store->block + (store->rows - store->filed) * (uint64_t)store->taken;
    if (store->taken == store->count)
        memcpy(to, store->row, (size_t)store->count * sizeof *to);
    else
        for (int i = 0; i < store->taken; i++)
            to[i] = store->row[store->take[i]];
    store->rows++;
    if (store->rows - store->filed == FF_STORE_BLOCK)
        ff_store_file(store);
    return FF_OK;
}

ff_sink ff_store_sink(ff_store *store) {
    return (ff_sink){.self = store, .axes = true, .row = take_row};
}

void ff_store_keep(ff_store *store, ff_keeper *keeper) {
    ff_store_file(store);
    uint64_t rows = store->rows;
    ff_keep(keeper, &rows, sizeof rows);
    ff_keep(keeper, store->row, (size_t)store->count * sizeof *store->row);
    if (rows > store->room) {
        keeper->failed = true;
        return;
    }
    for (int i = 0; i < store->taken; i++)
        ff_keep(keeper, store->column[store->take[i]].value, (size_t)rows * sizeof(double));
    if (keeper->does == FF_KEEP_RESTORE && !keeper->failed)
        store->rows = store->filed = rows;
}
