#include "record/mcap_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/little.h"

bool ff_mcap_text_equal(ff_mcap_text text, const char *other) {
    const size_t size = strlen(other);
    return text.size == size && memcmp(text.at, other, size) == 0;
}

/* ---------------------------------------------------------------------------------------- growing bytes --
 */

typedef struct buffer {
    uint8_t *at;
    size_t used, size;
    bool failed; /* no memory: contents are not to be used */
} buffer;

/* Room for size bytes more. */
static bool reserve(buffer *b, size_t size) {
    if (size <= b->size - b->used)
        return true;
    size_t grown = b->size ? b->size : 256;
    while (grown - b->used < size) {
        if (grown > SIZE_MAX / 2)
            return false;
        grown *= 2;
    }
    uint8_t *at = realloc(b->at, grown);
    if (!at)
        return false;
    b->at = at;
    b->size = grown;
    return true;
}

static void put(buffer *b, const void *bytes, size_t size) {
    if (b->failed || size == 0)
        return;
    if (!reserve(b, size)) {
        b->failed = true;
        return;
    }
    memcpy(b->at + b->used, bytes, size);
    b->used += size;
}

static inline void put_uint(buffer *b, uint64_t x, size_t bytes) {
    uint8_t raw[8];
    ff_store_little(raw, x, bytes);
    put(b, raw, bytes);
}

static void set_uint(buffer *b, size_t at, uint64_t x, size_t bytes) {
    if (!b->failed)
        ff_store_little(b->at + at, x, bytes);
}

static void put_text(buffer *b, const char *text) {
    const size_t size = strlen(text);
    put_uint(b, size, 4);
    put(b, text, size);
}

/* Opens a record; the length is set when it is closed. */
static size_t record_begin(buffer *b, int op) {
    put_uint(b, (uint64_t)op, 1);
    put_uint(b, 0, 8);
    return b->used;
}

static void record_end(buffer *b, size_t body) {
    set_uint(b, body - 8, b->used - body, 8);
}

static void put_pairs(buffer *b, const ff_mcap_pair *pairs, size_t count) {
    const size_t length = b->used;
    put_uint(b, 0, 4);
    for (size_t i = 0; i < count; i++) {
        put_text(b, pairs[i].key);
        put_text(b, pairs[i].value);
    }
    set_uint(b, length, b->used - length - 4, 4);
}

/* ---------------------------------------------------------------------------------------------- writer -- */

typedef struct channel_slot {
    uint32_t sequence; /* of the next message */
    uint64_t count;    /* messages in written chunks */
    uint64_t pending;  /* messages in the open chunk */
    buffer index;      /* (time, offset) pairs of the open chunk */
} channel_slot;

enum {
    CHUNK_HEAD = 9 + 8 + 8 + 8 + 4 + 4 +
                 8, /* bytes of a chunk before its records: times, size, checksum, no compression, size */
    MESSAGE_HEAD = 9 + 2 + 4 + 8 + 8 /* bytes of a message before its data */
};

struct ff_mcap_writer {
    int fd;
    struct stat opened; /* the file it is */
    bool syncs, unsynced;
    ff_status status; /* first fault, kept for good */
    int error;        /* errno then */
    uint64_t offset;  /* [bytes] whole records in the file */
    uint32_t crc;     /* of all of them */
    size_t chunk_size;
    buffer chunk;          /* the open one: room for its head, its records */
    buffer out;            /* what the next write takes between chunks, or a compressed one */
    const ff_codec *codec; /* of chunks; NULL: as they are */
    void *context;         /* its own */
    buffer packed;         /* the open chunk's records, compressed */
    uint64_t start, end;   /* [ns] of the open chunk */
    uint64_t pending;
    uint16_t schemas, channels;
    bool named;         /* all channels stand in a written or in the open chunk, too: under its checksum */
    channel_slot *slot; /* slot[id - 1] */
    size_t slots;
    buffer schema_records, channel_records, chunk_index, attachment_index,
        metadata_index; /* for the summary */
    uint64_t messages, first, last;
    uint32_t chunks, attachments, metadata;
};

ff_mcap_writer_config ff_mcap_writer_config_default(void) {
    return (ff_mcap_writer_config){"ros2", "freefloat " FF_VERSION, (size_t)1 << 20, NULL};
}

static ff_status fail(ff_mcap_writer *w, ff_status status) {
    if (w->status == FF_OK) {
        w->status = status;
        w->error = errno;
    }
    return w->status;
}

/* All of b, or nothing that a reader could take for a record. Bytes of which the checksum is known are not
 * added again: `known` of them from CHUNK_HEAD on. */
static ff_status emit_known(ff_mcap_writer *w, buffer *b, size_t known, uint32_t crc) {
    if (w->status != FF_OK)
        return w->status;
    if (b->failed)
        return fail(w, FF_ERR_MEMORY);
    size_t done = 0;
    while (done < b->used) {
        const ssize_t n = write(w->fd, b->at + done, b->used - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            const ff_status failed = fail(w, FF_ERR_IO);
            if (ftruncate(w->fd, (off_t)w->offset) != 0) {
                /* not a regular file: the reader drops the cut record by its length */
            }
            return failed;
        }
        done += (size_t)n;
    }
    size_t from = 0;
    if (known) {
        from = CHUNK_HEAD + known;
        w->crc = ff_mcap_crc32_join(ff_mcap_crc32(w->crc, b->at, CHUNK_HEAD), crc, known);
    }
    w->crc = ff_mcap_crc32(w->crc, b->at + from, b->used - from);
    w->offset += b->used;
    b->used = 0;
    w->unsynced = true;
    return FF_OK;
}

static ff_status emit(ff_mcap_writer *w) {
    return emit_known(w, &w->out, 0, 0);
}

ff_status ff_mcap_writer_sync(ff_mcap_writer *w) {
    w->syncs = true;
    if (w->status != FF_OK || !w->unsynced)
        return w->status;
    if (fdatasync(w->fd) != 0 && errno != EINVAL && errno != EROFS) /* of a pipe, or a device */
        return fail(w, FF_ERR_IO);
    w->unsynced = false;
    return FF_OK;
}

static void writer_free(ff_mcap_writer *w) {
    for (size_t i = 0; i < w->slots; i++)
        free(w->slot[i].index.at);
    free(w->slot);
    free(w->chunk.at);
    free(w->out.at);
    free(w->packed.at);
    if (w->codec)
        w->codec->destroy(w->context);
    free(w->schema_records.at);
    free(w->channel_records.at);
    free(w->chunk_index.at);
    free(w->attachment_index.at);
    free(w->metadata_index.at);
    free(w);
}

ff_status ff_mcap_writer_open(const char *path, const ff_mcap_writer_config *config,
                              ff_mcap_writer **writer) {
    *writer = NULL;
    ff_mcap_writer *w = calloc(1, sizeof *w);
    if (!w)
        return FF_ERR_MEMORY;
    w->chunk_size = config->chunk_size;
    w->codec = config->codec;
    if (w->codec && !(w->context = w->codec->create())) {
        writer_free(w);
        return FF_ERR_MEMORY;
    }
    w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (w->fd < 0 || fstat(w->fd, &w->opened) != 0) {
        writer_free(w);
        return FF_ERR_IO;
    }
    put(&w->out, mcap_magic, sizeof mcap_magic);
    const size_t body = record_begin(&w->out, MCAP_HEADER);
    put_text(&w->out, config->profile);
    put_text(&w->out, config->library);
    record_end(&w->out, body);
    const ff_status status = emit(w);
    if (status != FF_OK) {
        close(w->fd);
        writer_free(w);
        return status;
    }
    *writer = w;
    return FF_OK;
}

ff_status ff_mcap_writer_add_schema(ff_mcap_writer *w, const char *name, const char *encoding,
                                    const void *data, size_t size, uint16_t *id) {
    if (w->status != FF_OK)
        return w->status;
    if (w->schemas == UINT16_MAX)
        return FF_ERR_SIZE;
    if (size > UINT32_MAX)
        return FF_ERR_ARGUMENT;
    const size_t body = record_begin(&w->out, MCAP_SCHEMA);
    put_uint(&w->out, (uint64_t)w->schemas + 1, 2);
    put_text(&w->out, name);
    put_text(&w->out, encoding);
    put_uint(&w->out, size, 4);
    put(&w->out, data, size);
    record_end(&w->out, body);
    if (!w->out.failed)
        put(&w->schema_records, w->out.at, w->out.used);
    const ff_status status = emit(w);
    if (status != FF_OK)
        return status;
    *id = ++w->schemas;
    return FF_OK;
}

ff_status ff_mcap_writer_add_channel(ff_mcap_writer *w, uint16_t schema, const char *topic,
                                     const char *encoding, const ff_mcap_pair *metadata, size_t pairs,
                                     uint16_t *id) {
    if (w->status != FF_OK)
        return w->status;
    if (schema > w->schemas)
        return FF_ERR_ARGUMENT;
    if (w->channels == UINT16_MAX)
        return FF_ERR_SIZE;
    if (w->channels == w->slots) {
        const size_t grown = w->slots ? 2 * w->slots : 16;
        channel_slot *slot = realloc(w->slot, grown * sizeof *slot);
        if (!slot)
            return fail(w, FF_ERR_MEMORY);
        memset(slot + w->slots, 0, (grown - w->slots) * sizeof *slot);
        w->slot = slot;
        w->slots = grown;
    }
    const size_t body = record_begin(&w->out, MCAP_CHANNEL);
    put_uint(&w->out, (uint64_t)w->channels + 1, 2);
    put_uint(&w->out, schema, 2);
    put_text(&w->out, topic);
    put_text(&w->out, encoding);
    put_pairs(&w->out, metadata, pairs);
    record_end(&w->out, body);
    if (!w->out.failed)
        put(&w->channel_records, w->out.at, w->out.used);
    const ff_status status = emit(w);
    if (status != FF_OK)
        return status;
    *id = ++w->channels;
    w->named = false;
    return FF_OK;
}

ff_status ff_mcap_writer_message(ff_mcap_writer *w, uint16_t channel, uint64_t log_time,
                                 uint64_t publish_time, const void *data, size_t size) {
    if (w->status != FF_OK)
        return w->status;
    if (channel == 0 || channel > w->channels)
        return FF_ERR_ARGUMENT;
    if (w->pending == 0) {
        static const uint8_t room[CHUNK_HEAD];
        put(&w->chunk, room, sizeof room);
    }
    if (w->pending == 0 && !w->named) {
        put(&w->chunk, w->schema_records.at, w->schema_records.used);
        put(&w->chunk, w->channel_records.at, w->channel_records.used);
        w->chunk.failed |= w->schema_records.failed || w->channel_records.failed;
        w->named = true;
    }
    channel_slot *slot = &w->slot[channel - 1];
    uint8_t entry[16], head[MESSAGE_HEAD], *at = head;
    ff_store_little(ff_store_little(entry, log_time, 8), w->chunk.used - CHUNK_HEAD, 8);
    put(&slot->index, entry, sizeof entry);
    at = ff_store_little(at, MCAP_MESSAGE, 1);
    at = ff_store_little(at, MESSAGE_HEAD - 9 + size, 8);
    at = ff_store_little(at, channel, 2);
    at = ff_store_little(at, slot->sequence, 4);
    at = ff_store_little(at, log_time, 8);
    ff_store_little(at, publish_time, 8);
    put(&w->chunk, head, sizeof head);
    put(&w->chunk, data, size);
    if (w->chunk.failed || slot->index.failed)
        return fail(w, FF_ERR_MEMORY);
    slot->sequence++;
    slot->pending++;
    if (w->pending == 0 || log_time < w->start)
        w->start = log_time;
    if (w->pending == 0 || log_time > w->end)
        w->end = log_time;
    w->pending++;
    return w->chunk.used - CHUNK_HEAD >= w->chunk_size ? ff_mcap_writer_flush(w) : FF_OK;
}

/* The open chunk as it is written. */
typedef struct closed_chunk {
    buffer *out;      /* holds the record; what follows it is put there, too */
    const char *how;  /* it is compressed; "": not */
    uint64_t records; /* [bytes] */
    uint64_t written; /* [bytes] of the records, compressed or not */
    uint32_t crc;     /* of the records */
} closed_chunk;

/* Records compressed into w->packed: false where there is no codec, or it gives up. */
static bool pack(ff_mcap_writer *w, const uint8_t *records, size_t size) {
    if (!w->codec)
        return false;
    w->packed.used = 0;
    const size_t room = w->codec->bound(size);
    if (!reserve(&w->packed, room)) {
        w->chunk.failed = true; /* nothing is written, and it is said */
        return false;
    }
    w->packed.used = w->codec->compress(w->context, w->packed.at, room, records, size);
    return w->packed.used > 0;
}

/* Not compressed, the head goes into the room before the records. */
static closed_chunk close_chunk(ff_mcap_writer *w) {
    const uint64_t records = w->chunk.used - CHUNK_HEAD;
    const uint8_t *first = w->chunk.at + CHUNK_HEAD;
    closed_chunk c = {&w->chunk, "", records, records, ff_mcap_crc32(0, first, records)};
    if (!pack(w, first, records)) {
        uint8_t *at = ff_store_little(w->chunk.at, MCAP_CHUNK, 1);
        at = ff_store_little(at, w->chunk.used - 9, 8);
        at = ff_store_little(at, w->start, 8);
        at = ff_store_little(at, w->end, 8);
        at = ff_store_little(at, records, 8);
        at = ff_store_little(at, c.crc, 4);
        at = ff_store_little(at, 0, 4); /* the length of "" */
        ff_store_little(at, records, 8);
        return c;
    }
    c = (closed_chunk){&w->out, w->codec->name, records, w->packed.used, c.crc};
    const size_t body = record_begin(c.out, MCAP_CHUNK);
    put_uint(c.out, w->start, 8);
    put_uint(c.out, w->end, 8);
    put_uint(c.out, records, 8);
    put_uint(c.out, c.crc, 4);
    put_text(c.out, c.how);
    put_uint(c.out, w->packed.used, 8);
    put(c.out, w->packed.at, w->packed.used);
    record_end(c.out, body);
    return c;
}

ff_status ff_mcap_writer_flush(ff_mcap_writer *w) {
    if (w->status != FF_OK)
        return w->status;
    if (w->pending == 0)
        return FF_OK;
    const closed_chunk c = close_chunk(w);
    buffer *out = c.out, *index = &w->chunk_index;
    const uint64_t chunk_at = w->offset, chunk_length = out->used;

    const size_t entry = index->used; /* taken back if the write fails */
    const size_t index_body = record_begin(index, MCAP_CHUNK_INDEX);
    put_uint(index, w->start, 8);
    put_uint(index, w->end, 8);
    put_uint(index, chunk_at, 8);
    put_uint(index, chunk_length, 8);
    const size_t map = index->used;
    put_uint(index, 0, 4);
    for (uint16_t i = 0; i < w->channels; i++) {
        const channel_slot *slot = &w->slot[i];
        if (slot->pending == 0)
            continue;
        put_uint(index, (uint64_t)i + 1, 2);
        put_uint(index, chunk_at + out->used, 8);
        const size_t body = record_begin(out, MCAP_MESSAGE_INDEX);
        put_uint(out, (uint64_t)i + 1, 2);
        put_uint(out, slot->index.used, 4);
        put(out, slot->index.at, slot->index.used);
        record_end(out, body);
    }
    set_uint(index, map, index->used - map - 4, 4);
    put_uint(index, out->used - chunk_length, 8);
    put_text(index, c.how);
    put_uint(index, c.written, 8);
    put_uint(index, c.records, 8);
    record_end(index, index_body);
    const ff_status status =
        index->failed ? fail(w, FF_ERR_MEMORY) : emit_known(w, out, *c.how ? 0 : c.records, c.crc);
    if (status != FF_OK) {
        index->used = entry;
        return status;
    }
    w->chunk.used = 0;
    if (w->messages == 0 || w->start < w->first)
        w->first = w->start;
    if (w->messages == 0 || w->end > w->last)
        w->last = w->end;
    w->messages += w->pending;
    w->chunks++;
    for (uint16_t i = 0; i < w->channels; i++) {
        w->slot[i].count += w->slot[i].pending;
        w->slot[i].pending = 0;
        w->slot[i].index.used = 0;
    }
    w->pending = 0;
    return FF_OK;
}

ff_status ff_mcap_writer_metadata(ff_mcap_writer *w, const char *name, const ff_mcap_pair *pairs,
                                  size_t count) {
    if (w->status != FF_OK)
        return w->status;
    const uint64_t at = w->offset;
    const size_t body = record_begin(&w->out, MCAP_METADATA);
    put_text(&w->out, name);
    put_pairs(&w->out, pairs, count);
    record_end(&w->out, body);
    const uint64_t length = w->out.used;
    const ff_status status = emit(w);
    if (status != FF_OK)
        return status;
    buffer *index = &w->metadata_index;
    const size_t index_body = record_begin(index, MCAP_METADATA_INDEX);
    put_uint(index, at, 8);
    put_uint(index, length, 8);
    put_text(index, name);
    record_end(index, index_body);
    w->metadata++;
    return index->failed ? fail(w, FF_ERR_MEMORY) : FF_OK;
}

ff_status ff_mcap_writer_attachment(ff_mcap_writer *w, const char *name, const char *media_type,
                                    uint64_t log_time, const void *data, size_t size) {
    if (w->status != FF_OK)
        return w->status;
    const uint64_t at = w->offset;
    const size_t body = record_begin(&w->out, MCAP_ATTACHMENT);
    put_uint(&w->out, log_time, 8);
    put_uint(&w->out, log_time, 8);
    put_text(&w->out, name);
    put_text(&w->out, media_type);
    put_uint(&w->out, size, 8);
    put(&w->out, data, size);
    if (!w->out.failed)
        put_uint(&w->out, ff_mcap_crc32(0, w->out.at + body, w->out.used - body), 4);
    record_end(&w->out, body);
    const uint64_t length = w->out.used;
    const ff_status status = emit(w);
    if (status != FF_OK)
        return status;
    buffer *index = &w->attachment_index;
    const size_t index_body = record_begin(index, MCAP_ATTACHMENT_INDEX);
    put_uint(index, at, 8);
    put_uint(index, length, 8);
    put_uint(index, log_time, 8);
    put_uint(index, log_time, 8);
    put_uint(index, size, 8);
    put_text(index, name);
    put_text(index, media_type);
    record_end(index, index_body);
    w->attachments++;
    return index->failed ? fail(w, FF_ERR_MEMORY) : FF_OK;
}

/* DataEnd, summary grouped by op, one SummaryOffset for each group, footer. */
static ff_status put_tail(ff_mcap_writer *w) {
    buffer *out = &w->out, statistics = {0};
    size_t body = record_begin(out, MCAP_DATA_END);
    put_uint(out, w->crc, 4);
    record_end(out, body);

    body = record_begin(&statistics, MCAP_STATISTICS);
    put_uint(&statistics, w->messages, 8);
    put_uint(&statistics, w->schemas, 2);
    put_uint(&statistics, w->channels, 4);
    put_uint(&statistics, w->attachments, 4);
    put_uint(&statistics, w->metadata, 4);
    put_uint(&statistics, w->chunks, 4);
    put_uint(&statistics, w->first, 8);
    put_uint(&statistics, w->last, 8);
    put_uint(&statistics, (uint64_t)w->channels * 10, 4);
    for (uint16_t i = 0; i < w->channels; i++) {
        put_uint(&statistics, (uint64_t)i + 1, 2);
        put_uint(&statistics, w->slot[i].count, 8);
    }
    record_end(&statistics, body);

    const struct {
        int op;
        const buffer *records;
    } groups[] = {{MCAP_SCHEMA, &w->schema_records},
                  {MCAP_CHANNEL, &w->channel_records},
                  {MCAP_STATISTICS, &statistics},
                  {MCAP_CHUNK_INDEX, &w->chunk_index},
                  {MCAP_ATTACHMENT_INDEX, &w->attachment_index},
                  {MCAP_METADATA_INDEX, &w->metadata_index}};
    enum { GROUPS = sizeof groups / sizeof groups[0] };
    const size_t summary = out->used;
    uint64_t start[GROUPS];
    for (int i = 0; i < GROUPS; i++) {
        start[i] = w->offset + out->used;
        put(out, groups[i].records->at, groups[i].records->used);
        out->failed |= groups[i].records->failed;
    }
    const uint64_t offsets = w->offset + out->used;
    for (int i = 0; i < GROUPS; i++) {
        if (groups[i].records->used == 0)
            continue;
        body = record_begin(out, MCAP_SUMMARY_OFFSET);
        put_uint(out, (uint64_t)groups[i].op, 1);
        put_uint(out, start[i], 8);
        put_uint(out, groups[i].records->used, 8);
        record_end(out, body);
    }
    free(statistics.at);
    put_uint(out, MCAP_FOOTER, 1);
    put_uint(out, MCAP_FOOTER_BODY, 8);
    put_uint(out, w->offset + summary, 8);
    put_uint(out, offsets, 8);
    if (out->failed)
        return fail(w, FF_ERR_MEMORY);
    put_uint(out, ff_mcap_crc32(0, out->at + summary, out->used - summary), 4);
    put(out, mcap_magic, sizeof mcap_magic);
    return emit(w);
}

ff_status ff_mcap_writer_close(ff_mcap_writer *w) {
    if (!w)
        return FF_OK;
    ff_status status = ff_mcap_writer_flush(w);
    if (status == FF_OK)
        status = put_tail(w);
    if (status == FF_OK && w->syncs)
        status = ff_mcap_writer_sync(w);
    struct stat now;
    int error = w->error;
    if (status == FF_OK && (fstat(w->fd, &now) != 0 || now.st_dev != w->opened.st_dev ||
                            now.st_ino != w->opened.st_ino)) { /* the descriptor is another file by now */
        status = FF_ERR_IO;
        error = EBADF;
    }
    if (close(w->fd) != 0 && status == FF_OK)
        status = FF_ERR_IO;
    else if (error)
        errno = error; /* of the first write that failed, maybe in another thread */
    writer_free(w);
    return status;
}
