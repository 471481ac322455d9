#include "record/mcap_format.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct ff_mcap_reader {
    const uint8_t *at;
    size_t size;
    bool mapped;
    size_t pos;                  /* next record of the file */
    size_t chunk_pos, chunk_end; /* next record of the open chunk; equal: none open */
    bool done;
    ff_mcap_channel *channel;
    ff_mcap_schema *schema;
    size_t channels, channel_size, schemas, schema_size;
    uint32_t channel_of[65536], schema_of[65536]; /* id -> index + 1 */
    ff_mcap_reader_info info;
};

/* A cursor that turns bad at the first read beyond its end. */
typedef struct cursor {
    const uint8_t *at;
    size_t left;
    bool bad;
} cursor;

static uint64_t get_uint(cursor *c, int bytes) {
    if (c->bad || c->left < (size_t)bytes) {
        c->bad = true;
        return 0;
    }
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | c->at[i];
    c->at += bytes;
    c->left -= (size_t)bytes;
    return x;
}

static ff_mcap_text get_bytes(cursor *c, uint64_t size) {
    if (c->bad || c->left < size) {
        c->bad = true;
        return (ff_mcap_text){"", 0};
    }
    const ff_mcap_text text = {(const char *)c->at, (size_t)size};
    c->at += size;
    c->left -= (size_t)size;
    return text;
}

static ff_mcap_text get_text(cursor *c) {
    return get_bytes(c, get_uint(c, 4));
}

/* The record at pos; false if it does not lie whole within limit. */
static bool get_record(const ff_mcap_reader *r, size_t pos, size_t limit, int *op, cursor *body) {
    if (limit - pos < MCAP_RECORD_HEAD)
        return false;
    cursor head = {r->at + pos, MCAP_RECORD_HEAD, false};
    *op = (int)get_uint(&head, 1);
    const uint64_t length = get_uint(&head, 8);
    if (length > limit - pos - MCAP_RECORD_HEAD || *op == 0)
        return false;
    *body = (cursor){r->at + pos + MCAP_RECORD_HEAD, (size_t)length, false};
    return true;
}

static void read_summary(ff_mcap_reader *r) {
    enum { TAIL = MCAP_RECORD_HEAD + MCAP_FOOTER_BODY + sizeof mcap_magic };
    r->info.summary = FF_INFO_GAP;
    if (r->size < sizeof mcap_magic + TAIL ||
        memcmp(r->at + r->size - sizeof mcap_magic, mcap_magic, sizeof mcap_magic) != 0)
        return;
    const size_t footer = r->size - TAIL;
    int op;
    cursor body;
    if (!get_record(r, footer, r->size - sizeof mcap_magic, &op, &body) || op != MCAP_FOOTER ||
        body.left != MCAP_FOOTER_BODY)
        return;
    r->info.closed = true;
    const uint64_t summary = get_uint(&body, 8);
    get_uint(&body, 8);
    const uint32_t crc = (uint32_t)get_uint(&body, 4);
    if (summary == 0)
        return;
    r->info.summary = FF_ERR_FORMAT;
    if (summary < sizeof mcap_magic || summary > footer)
        return;
    if (crc && crc != ff_mcap_crc32(0, r->at + summary, r->size - sizeof mcap_magic - 4 - (size_t)summary))
        return;
    for (size_t pos = (size_t)summary; pos < footer;) {
        if (!get_record(r, pos, footer, &op, &body))
            return;
        pos += MCAP_RECORD_HEAD + body.left;
        if (op == MCAP_STATISTICS)
            r->info.messages = get_uint(&body, 8);
    }
    r->info.summary = FF_OK;
}

static ff_status reader_new(const void *bytes, size_t size, bool mapped, ff_mcap_reader **reader) {
    *reader = NULL;
    if (size < sizeof mcap_magic || memcmp(bytes, mcap_magic, sizeof mcap_magic) != 0)
        return FF_ERR_FORMAT;
    ff_mcap_reader *r = calloc(1, sizeof *r);
    if (!r)
        return FF_ERR_MEMORY;
    r->at = bytes;
    r->size = size;
    r->mapped = mapped;
    r->pos = sizeof mcap_magic;
    read_summary(r);
    *reader = r;
    return FF_OK;
}

ff_status ff_mcap_reader_memory(const void *bytes, size_t size, ff_mcap_reader **reader) {
    return reader_new(bytes, size, false, reader);
}

ff_status ff_mcap_reader_open(const char *path, ff_mcap_reader **reader) {
    *reader = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FF_ERR_IO;
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return FF_ERR_IO;
    }
    const size_t size = (size_t)info.st_size;
    void *map = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    close(fd);
    if (size == 0)
        return FF_ERR_FORMAT;
    if (map == MAP_FAILED)
        return FF_ERR_IO;
    const ff_status status = reader_new(map, size, true, reader);
    if (status != FF_OK)
        munmap(map, size);
    return status;
}

void ff_mcap_reader_close(ff_mcap_reader *r) {
    if (!r)
        return;
    if (r->mapped)
        munmap((void *)(uintptr_t)r->at, r->size);
    free(r->channel);
    free(r->schema);
    free(r);
}

void ff_mcap_reader_rewind(ff_mcap_reader *r) {
    r->pos = sizeof mcap_magic;
    r->chunk_pos = r->chunk_end = 0;
    r->done = false;
    r->info.truncated = false;
    r->info.bad_chunks = 0;
}

ff_mcap_reader_info ff_mcap_reader_get_info(const ff_mcap_reader *r) {
    return r->info;
}

const ff_mcap_channel *ff_mcap_reader_channel(const ff_mcap_reader *r, uint16_t id) {
    return r->channel_of[id] ? &r->channel[r->channel_of[id] - 1] : NULL;
}

const ff_mcap_schema *ff_mcap_reader_schema(const ff_mcap_reader *r, uint16_t id) {
    return r->schema_of[id] ? &r->schema[r->schema_of[id] - 1] : NULL;
}

static ff_status take_schema(ff_mcap_reader *r, cursor *body) {
    ff_mcap_schema s;
    s.id = (uint16_t)get_uint(body, 2);
    s.name = get_text(body);
    s.encoding = get_text(body);
    s.data = get_text(body);
    if (body->bad || s.id == 0)
        return FF_ERR_FORMAT;
    if (r->schema_of[s.id]) /* repeated records must be equal; the first counts */
        return FF_OK;
    if (r->schemas == r->schema_size) {
        const size_t grown = r->schema_size ? 2 * r->schema_size : 16;
        ff_mcap_schema *schema = realloc(r->schema, grown * sizeof *schema);
        if (!schema)
            return FF_ERR_MEMORY;
        r->schema = schema;
        r->schema_size = grown;
    }
    r->schema[r->schemas++] = s;
    r->schema_of[s.id] = (uint32_t)r->schemas;
    return FF_OK;
}

static ff_status take_channel(ff_mcap_reader *r, cursor *body) {
    ff_mcap_channel c;
    c.id = (uint16_t)get_uint(body, 2);
    c.schema = (uint16_t)get_uint(body, 2);
    c.topic = get_text(body);
    c.encoding = get_text(body);
    c.metadata = get_text(body);
    if (body->bad)
        return FF_ERR_FORMAT;
    if (r->channel_of[c.id])
        return FF_OK;
    if (r->channels == r->channel_size) {
        const size_t grown = r->channel_size ? 2 * r->channel_size : 16;
        ff_mcap_channel *channel = realloc(r->channel, grown * sizeof *channel);
        if (!channel)
            return FF_ERR_MEMORY;
        r->channel = channel;
        r->channel_size = grown;
    }
    r->channel[r->channels++] = c;
    r->channel_of[c.id] = (uint32_t)r->channels;
    return FF_OK;
}

static ff_status take_message(const ff_mcap_reader *r, cursor *body, ff_mcap_message *message) {
    ff_mcap_message m;
    m.channel = (uint16_t)get_uint(body, 2);
    m.sequence = (uint32_t)get_uint(body, 4);
    m.log_time = get_uint(body, 8);
    m.publish_time = get_uint(body, 8);
    m.data = body->at;
    m.size = body->left;
    if (body->bad || !r->channel_of[m.channel])
        return FF_ERR_FORMAT;
    *message = m;
    return FF_OK;
}

static ff_status open_chunk(ff_mcap_reader *r, cursor *body) {
    get_uint(body, 8);
    get_uint(body, 8);
    const uint64_t plain = get_uint(body, 8);
    const uint32_t crc = (uint32_t)get_uint(body, 4);
    const ff_mcap_text compression = get_text(body);
    const ff_mcap_text records = get_bytes(body, get_uint(body, 8));
    ff_status status = FF_OK;
    if (body->bad)
        status = FF_ERR_FORMAT;
    else if (compression.size)
        status = FF_ERR_UNSUPPORTED;
    else if (plain != records.size || (crc && crc != ff_mcap_crc32(0, records.at, records.size)))
        status = FF_ERR_FORMAT;
    if (status != FF_OK) {
        r->info.bad_chunks++;
        return status;
    }
    r->chunk_pos = (size_t)((const uint8_t *)records.at - r->at);
    r->chunk_end = r->chunk_pos + records.size;
    return FF_OK;
}

ff_status ff_mcap_reader_next(ff_mcap_reader *r, ff_mcap_message *message, bool *end) {
    *end = false;
    while (!r->done) {
        const bool inside = r->chunk_pos < r->chunk_end;
        const size_t pos = inside ? r->chunk_pos : r->pos, limit = inside ? r->chunk_end : r->size;
        int op;
        cursor body;
        if (!get_record(r, pos, limit, &op, &body)) {
            if (inside) { /* its CRC was right or absent: written wrong; the rest of the chunk cannot be
                             trusted */
                r->chunk_pos = r->chunk_end;
                r->info.bad_chunks++;
                return FF_ERR_FORMAT;
            }
            r->done = true;
            r->info.truncated = pos < r->size; /* else unclosed, but whole to the last record */
            if (r->info.closed)                /* a footer is there, so a length in between is wrong */
                return FF_ERR_FORMAT;
            break;
        }
        const size_t next = pos + MCAP_RECORD_HEAD + body.left;
        if (inside)
            r->chunk_pos = next;
        else
            r->pos = next;
        ff_status status = FF_OK;
        switch (op) {
        case MCAP_SCHEMA:
            status = take_schema(r, &body);
            break;
        case MCAP_CHANNEL:
            status = take_channel(r, &body);
            break;
        case MCAP_MESSAGE:
            return take_message(r, &body, message);
        case MCAP_CHUNK:
            status = inside ? FF_ERR_FORMAT : open_chunk(r, &body);
            break;
        case MCAP_DATA_END: {
            const uint32_t crc = (uint32_t)get_uint(&body, 4);
            if (inside || body.bad)
                return FF_ERR_FORMAT;
            r->done = true;
            if (crc && crc != ff_mcap_crc32(0, r->at, pos))
                return FF_ERR_FORMAT;
            if (!r->info.closed) /* cut within the summary: all messages are there */
                r->info.truncated = true;
            break;
        }
        case MCAP_FOOTER:
            r->done = true;
            break;
        default: /* indexes, metadata, attachments, and what later versions may add */
            break;
        }
        if (status != FF_OK)
            return status;
    }
    *end = true;
    return FF_OK;
}

ff_status ff_mcap_map_get(ff_mcap_text map, const char *key, ff_mcap_text *value) {
    cursor c = {(const uint8_t *)map.at, map.size, false};
    while (c.left) {
        const ff_mcap_text k = get_text(&c), v = get_text(&c);
        if (c.bad)
            return FF_ERR_FORMAT;
        if (ff_mcap_text_equal(k, key)) {
            *value = v;
            return FF_OK;
        }
    }
    return FF_ERR_ARGUMENT;
}

ff_status ff_mcap_reader_metadata(const ff_mcap_reader *r, const char *name, const char *key,
                                  ff_mcap_text *value) {
    int op;
    cursor body;
    for (size_t pos = sizeof mcap_magic; get_record(r, pos, r->size, &op, &body) && op != MCAP_FOOTER;) {
        pos += MCAP_RECORD_HEAD + body.left;
        if (op != MCAP_METADATA)
            continue;
        const ff_mcap_text n = get_text(&body), map = get_text(&body);
        if (body.bad)
            return FF_ERR_FORMAT;
        if (ff_mcap_text_equal(n, name))
            return ff_mcap_map_get(map, key, value);
    }
    return FF_ERR_ARGUMENT;
}

ff_status ff_mcap_reader_attachment(const ff_mcap_reader *r, const char *name, ff_mcap_text *data) {
    int op;
    cursor body;
    for (size_t pos = sizeof mcap_magic; get_record(r, pos, r->size, &op, &body) && op != MCAP_FOOTER;) {
        pos += MCAP_RECORD_HEAD + body.left;
        if (op != MCAP_ATTACHMENT)
            continue;
        const cursor whole = body;
        get_uint(&body, 8);
        get_uint(&body, 8);
        const ff_mcap_text n = get_text(&body);
        get_text(&body);
        const ff_mcap_text bytes = get_bytes(&body, get_uint(&body, 8));
        const size_t covered = whole.left - body.left;
        const uint32_t crc = (uint32_t)get_uint(&body, 4);
        if (body.bad)
            return FF_ERR_FORMAT;
        if (!ff_mcap_text_equal(n, name))
            continue;
        if (crc && crc != ff_mcap_crc32(0, whole.at, covered))
            return FF_ERR_FORMAT;
        *data = bytes;
        return FF_OK;
    }
    return FF_ERR_ARGUMENT;
}
