#include "record/overview.h"

#include <stdlib.h>
#include <string.h>

#include "text/little.h"

ff_status ff_overview_init(const ff_columns *columns, ff_overview *o) {
    *o = (ff_overview){.row = calloc((size_t)columns->count, sizeof *o->row),
                       .value = calloc((size_t)columns->count, sizeof *o->value)};
    if (o->row && o->value && ff_thin_init((size_t)columns->count - 1, &o->thin) == FF_OK)
        return FF_OK;
    ff_overview_free(o);
    return FF_ERR_MEMORY;
}

void ff_overview_free(ff_overview *o) {
    ff_thin_free(&o->thin);
    free(o->row);
    free(o->value);
    *o = (ff_overview){0};
}

ff_status ff_overview_take(ff_overview *o, const ff_columns *columns, const ff_row *row) {
    ff_columns_values(columns, row, o->row);
    for (size_t c = 0; c < o->thin.width; c++)
        o->value[c] = (float)o->row[c + 1];
    return ff_thin_add(&o->thin, o->row[0], o->value) == FF_ERR_MEMORY ? FF_ERR_MEMORY : FF_OK;
}

static void put_buckets(const ff_thin *t, size_t rows, uint8_t *at) {
    for (size_t r = 0; r < rows; r++) {
        const double time = ff_thin_value(t, r, 0);
        uint64_t bits;
        memcpy(&bits, &time, sizeof bits);
        at = ff_store_little(at, bits, 8);
    }
    for (size_t c = 1; c <= t->width; c++)
        for (size_t r = 0; r < rows; r++) {
            const float value = (float)ff_thin_value(t, r, c);
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            at = ff_store_little(at, bits, 4);
        }
}

ff_status ff_overview_write(const ff_overview *o, const ff_codec *codec, ff_mcap_writer *writer) {
    const ff_thin *t = &o->thin;
    if (t->bucket <= 1)
        return FF_OK;
    const size_t rows = ff_thin_count(t), size = rows * (8 + 4 * t->width);
    void *context = codec ? codec->create() : NULL;
    const size_t room = context ? codec->bound(size) : 0;
    uint8_t *plain = malloc(FF_OVERVIEW_HEAD + size), *packed = room ? malloc(FF_OVERVIEW_HEAD + room) : NULL;
    ff_status status = FF_ERR_MEMORY;
    if (plain && (packed || !room)) {
        put_buckets(t, rows, plain + FF_OVERVIEW_HEAD);
        const size_t used =
            packed ? codec->compress(context, packed + FF_OVERVIEW_HEAD, room, plain + FF_OVERVIEW_HEAD, size)
                   : 0;
        uint8_t *out = used ? packed : plain;
        uint8_t *at = ff_store_little(out, FF_OVERVIEW_VERSION, 4);
        at = ff_store_little(at, t->width, 4);
        at = ff_store_little(at, rows, 4);
        at = ff_store_little(at, used ? 1 : 0, 4);
        at = ff_store_little(at, t->bucket, 8);
        ff_store_little(at, t->cycles, 8);
        status = ff_mcap_writer_attachment(writer, FF_OVERVIEW_NAME, "application/octet-stream", 0, out,
                                           FF_OVERVIEW_HEAD + (used ? used : size));
    }
    free(plain);
    free(packed);
    if (context)
        codec->destroy(context);
    return status;
}
