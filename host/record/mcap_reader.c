/* Reads MCAP from a file or from memory, piece by piece: a chunk at a time is held, so that a file that grows
 * shorter meanwhile is a status, not a signal. After damage the next chunk or attachment whose shape and
 * checksum are right is looked for: what was lost is what was damaged. */
#include "record/cursor.h"
#include "record/mcap_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WINDOW = 16384,    /* [bytes] read at once, at least */
    SEARCH = 64 << 20, /* [bytes] of checksums in a search, and as many files' sizes: */
    SEARCH_FILES = 8,  /* a file made of false beginnings is not worth more */
    EXPANDED = 1 << 28 /* [bytes] of one chunk: what a few bytes may claim to be */
};

/* Metadata, or an attachment, which is read when it is asked for. */
typedef struct item {
    int op;
    uint64_t pos; /* of its body */
    uint64_t length;
    uint8_t *bytes; /* of its body; NULL: not read yet */
} item;

typedef struct record {
    int op;
    uint64_t body, length; /* where, and how many bytes */
} record;

/* A channel or schema, on bytes of its own. */
typedef struct entry {
    bool checked; /* they stood under a checksum */
    union {
        ff_mcap_channel channel;
        ff_mcap_schema schema;
    } is;
    uint8_t bytes[];
} entry;

struct ff_mcap_reader {
    const uint8_t *memory; /* the caller's; NULL: a file */
    int fd;
    uint64_t size;
    uint64_t limit;   /* where the data ends: before DataEnd, the footer or the cut */
    uint64_t summary; /* where the summary begins; 0: not known */
    ff_status lost;   /* the file cannot be read any more */
    struct {
        uint8_t *at;
        size_t room, used;
        uint64_t from;
    } window;
    uint64_t pos;                /* next record of the file */
    const uint8_t *records;      /* of the open chunk */
    size_t chunk_pos, chunk_end; /* next record of it; equal: none open */
    bool chunk_checked;          /* it has a CRC, which is right */
    uint8_t *expanded;           /* the records of a compressed chunk */
    size_t expanded_room;
    uint64_t budget; /* [bytes] of checksums that searches may still compute */
    bool done;
    item *item;
    size_t items, item_size;
    bool items_lost; /* something was damaged: what is not found may have been there */
    entry *channel[65536], *schema[65536];
    size_t ids; /* no id is as large */
    ff_mcap_reader_info info;
};

/* -------------------------------------------------------------------------------------------- bytes -- */

static ff_status fill(const ff_mcap_reader *r, uint64_t pos, size_t n, uint8_t *to) {
    for (size_t done = 0; done < n;) {
        const ssize_t got = pread(r->fd, to + done, n - done, (off_t)(pos + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) /* 0: it was longer when it was opened */
            return FF_ERR_IO;
        done += (size_t)got;
    }
    return FF_OK;
}

/* n bytes at pos, which lie within the file: valid until the next call. NULL: r->lost says why. */
static const uint8_t *look(ff_mcap_reader *r, uint64_t pos, uint64_t n) {
    if (r->memory)
        return r->memory + pos;
    if (pos >= r->window.from && n <= r->window.used && pos - r->window.from <= r->window.used - n)
        return r->window.at + (pos - r->window.from);
    const uint64_t left = r->size - pos, want = n > WINDOW ? n : left < WINDOW ? left : WINDOW;
    r->window.used = 0;
    if (want > r->window.room) {
        uint8_t *grown = want < SIZE_MAX ? realloc(r->window.at, (size_t)want) : NULL;
        if (!grown) {
            r->lost = FF_ERR_MEMORY;
            return NULL;
        }
        r->window.at = grown;
        r->window.room = (size_t)want;
    }
    if (r->lost || (r->lost = fill(r, pos, (size_t)want, r->window.at)) != FF_OK)
        return NULL;
    r->window.from = pos;
    r->window.used = (size_t)want;
    return r->window.at;
}

/* CRC-32 of n bytes at pos. False: they cannot be read. */
static bool crc_of(ff_mcap_reader *r, uint64_t pos, uint64_t n, uint32_t *crc) {
    *crc = 0;
    while (n) {
        const size_t part = n < 4 * WINDOW ? (size_t)n : 4 * WINDOW;
        const uint8_t *at = look(r, pos, part);
        if (!at)
            return false;
        *crc = ff_mcap_crc32(*crc, at, part);
        pos += part;
        n -= part;
    }
    return true;
}

static uint64_t uint_at(ff_mcap_reader *r, uint64_t pos, int bytes) {
    const uint8_t *at = look(r, pos, (uint64_t)bytes);
    cursor c = {at, at ? (size_t)bytes : 0, false};
    return get_uint(&c, bytes);
}

/* ------------------------------------------------------------------------------------------- records -- */

/* What a record's body is made of: numbers of so many bytes, s and l: a text after its length (4 or 8 bytes).
 * NULL: it has no place among the data. A message has none either: it stands in a chunk, under its checksum.
 */
static const char *shape_of(int op) {
    switch (op) {
    case MCAP_HEADER:
    case MCAP_METADATA:
        return "ss";
    case MCAP_SCHEMA:
        return "2sss";
    case MCAP_CHANNEL:
        return "22sss";
    case MCAP_CHUNK:
        return "8884sl";
    case MCAP_MESSAGE_INDEX:
        return "2s";
    case MCAP_ATTACHMENT:
        return "88ssl4";
    case MCAP_DATA_END:
        return "4";
    default:
        return NULL;
    }
}

/* Of one record: where each of its parts begins. False: it does not have its shape to the byte. */
static bool shaped(ff_mcap_reader *r, const record *rec, uint64_t *part) {
    const char *shape = shape_of(rec->op);
    uint64_t at = rec->body, left = rec->length;
    for (; shape && *shape; shape++) {
        uint64_t n = (uint64_t)(*shape - '0');
        const int prefix = *shape == 's' ? 4 : *shape == 'l' ? 8 : 0;
        if (prefix) {
            if (left < (uint64_t)prefix)
                return false;
            n = uint_at(r, at, prefix);
            at += (uint64_t)prefix;
            left -= (uint64_t)prefix;
        }
        if (n > left)
            return false;
        *part++ = at;
        at += n;
        left -= n;
    }
    return shape && left == 0 && !r->lost;
}

enum { PARTS = 6 };

/* The head at pos; false if the record does not lie whole before the limit. */
static bool head_at(ff_mcap_reader *r, uint64_t pos, uint64_t limit, record *rec) {
    if (limit - pos < MCAP_RECORD_HEAD)
        return false;
    rec->op = (int)uint_at(r, pos, 1);
    rec->length = uint_at(r, pos + 1, 8);
    rec->body = pos + MCAP_RECORD_HEAD;
    return rec->op != 0 && rec->length <= limit - rec->body && !r->lost;
}

/* The records of a compressed chunk into r->expanded, under their checksum. FF_ERR_FORMAT: damaged;
 * FF_ERR_UNSUPPORTED: by another compression, too large, or the module is missing. */
static ff_status expand(ff_mcap_reader *r, const record *rec, const uint64_t *part) {
    const uint64_t plain = uint_at(r, part[2], 8), size = rec->body + rec->length - part[5];
    const uint32_t want = (uint32_t)uint_at(r, part[3], 4);
    const ff_codec *codec = NULL;
    const uint8_t *at = look(r, part[4], rec->body + rec->length - part[4]);
    if (!at)
        return r->lost;
    if (part[5] - part[4] == 12 && memcmp(at, "zstd", 4) == 0)
        codec = ff_codec_zstd();
    if (!codec || plain > EXPANDED)
        return FF_ERR_UNSUPPORTED;
    if (plain > r->expanded_room) {
        free(r->expanded);
        r->expanded = malloc((size_t)plain);
        r->expanded_room = r->expanded ? (size_t)plain : 0;
        if (!r->expanded)
            return r->lost = FF_ERR_MEMORY;
    }
    const bool whole = plain > 0 && codec->expand(r->expanded, (size_t)plain, at + (part[5] - part[4]),
                                                  (size_t)size) == plain;
    return whole && (!want || ff_mcap_crc32(0, r->expanded, (size_t)plain) == want) ? FF_OK : FF_ERR_FORMAT;
}

/* A chunk's compression has a name, which stands before the records' length. */
static bool compressed(const record *rec, const uint64_t *part) {
    return rec->op == MCAP_CHUNK && part[5] - part[4] > 8;
}

/* Checksum of a chunk or attachment that is not compressed. */
static bool checked(ff_mcap_reader *r, const record *rec, const uint64_t *part, bool *none) {
    const bool chunk = rec->op == MCAP_CHUNK;
    const uint64_t from = chunk ? part[5] : rec->body,
                   end = chunk ? rec->body + rec->length : part[5]; /* what it covers */
    const uint32_t want = (uint32_t)uint_at(r, part[chunk ? 3 : 5], 4);
    uint32_t crc;
    *none = want == 0;
    return *none || (crc_of(r, from, end - from, &crc) && crc == want);
}

/* The first chunk or attachment from pos on that is whole; the limit if there is none. */
static uint64_t resynchronise(ff_mcap_reader *r, uint64_t pos) {
    for (; pos < r->limit && r->limit - pos > MCAP_RECORD_HEAD && !r->lost; pos++) {
        record rec;
        uint64_t part[PARTS];
        bool none;
        const uint64_t op = uint_at(r, pos, 1);
        if ((op != MCAP_CHUNK && op != MCAP_ATTACHMENT) || !head_at(r, pos, r->limit, &rec) ||
            !shaped(r, &rec, part))
            continue;
        const bool packed = compressed(&rec, part);
        const uint64_t plain = packed ? uint_at(r, part[2], 8) : 0;
        const uint64_t cost = rec.length + (plain < EXPANDED ? plain : EXPANDED);
        if (cost > r->budget)
            break;
        r->budget -= cost;
        if (packed ? expand(r, &rec, part) == FF_OK : checked(r, &rec, part, &none))
            return pos;
    }
    return r->limit;
}

/* Whether a record surely begins there; DataEnd would end all. */
static bool begins(ff_mcap_reader *r, uint64_t pos) {
    record rec;
    uint64_t part[PARTS];
    return pos == r->limit ||
           (head_at(r, pos, r->limit, &rec) && rec.op != MCAP_DATA_END && shaped(r, &rec, part));
}

typedef enum step { RECORD, DAMAGE, END } step;

/* The record at *pos, which moves behind it. Damaged: it moves to where reading can continue. */
static step next_record(ff_mcap_reader *r, uint64_t *pos, record *rec, uint64_t *part) {
    if (*pos >= r->limit)
        return END;
    const bool fits = head_at(r, *pos, r->limit, rec);
    if (fits && shaped(r, rec, part)) {
        *pos = rec->body + rec->length;
        return RECORD;
    }
    const uint64_t next = rec->body + rec->length;
    if (fits && begins(r, next)) {
        *pos = next; /* its length is right */
        return DAMAGE;
    }
    const uint64_t found = resynchronise(r, *pos + 1);
    if (found == r->limit && !r->info.closed) {
        r->info.truncated = true;
        return END;
    }
    *pos = found;
    return DAMAGE;
}

/* ------------------------------------------------------------------------------------ channels, items -- */

static ff_status take_entry(ff_mcap_reader *r, int op, const uint8_t *body, size_t length, bool checked) {
    entry *e = malloc(sizeof *e + length);
    if (!e)
        return FF_ERR_MEMORY;
    memcpy(e->bytes, body, length);
    cursor c = {e->bytes, length, false};
    const uint16_t id = (uint16_t)get_uint(&c, 2),
                   schema = op == MCAP_CHANNEL ? (uint16_t)get_uint(&c, 2) : 0;
    const ff_mcap_text name = get_text(&c), encoding = get_text(&c), data = get_text(&c);
    e->checked = checked;
    if (op == MCAP_CHANNEL)
        e->is.channel = (ff_mcap_channel){id, schema, name, encoding, data};
    else
        e->is.schema = (ff_mcap_schema){id, name, encoding, data};
    entry **slot = op == MCAP_CHANNEL ? &r->channel[id] : &r->schema[id];
    const bool bad = c.bad || (op == MCAP_SCHEMA && id == 0);
    /* repeated records must be equal: the first counts, except that a checksum makes a better one */
    if (bad || (*slot && ((*slot)->checked || !checked))) {
        free(e);
        return bad ? FF_ERR_FORMAT : FF_OK;
    }
    free(*slot);
    *slot = e;
    if (id >= r->ids)
        r->ids = (size_t)id + 1;
    return FF_OK;
}

/* Its body, read once. */
static ff_status item_body(const ff_mcap_reader *r, item *it, cursor *body) {
    if (!r->memory && !it->bytes) {
        it->bytes = it->length < SIZE_MAX ? malloc((size_t)it->length + 1) : NULL;
        if (!it->bytes)
            return FF_ERR_MEMORY;
        if (fill(r, it->pos, (size_t)it->length, it->bytes) != FF_OK) {
            free(it->bytes);
            it->bytes = NULL;
            return FF_ERR_IO;
        }
    }
    *body = (cursor){r->memory ? r->memory + it->pos : it->bytes, (size_t)it->length, false};
    return FF_OK;
}

static ff_status take_item(ff_mcap_reader *r, const record *rec) {
    if (r->items == r->item_size) {
        const size_t grown = r->item_size ? 2 * r->item_size : 16;
        item *more = realloc(r->item, grown * sizeof *more);
        if (!more)
            return FF_ERR_MEMORY;
        r->item = more;
        r->item_size = grown;
    }
    item *it = &r->item[r->items++];
    *it = (item){rec->op, rec->body, rec->length, NULL};
    cursor body;
    return rec->op == MCAP_METADATA ? item_body(r, it, &body) : FF_OK;
}

/* Where metadata and attachments stand. */
static ff_status find_items(ff_mcap_reader *r) {
    uint64_t pos = sizeof mcap_magic, part[PARTS];
    record rec;
    ff_status status = FF_OK;
    for (step s; !status && (s = next_record(r, &pos, &rec, part)) != END && !r->lost;) {
        if (s == RECORD && rec.op == MCAP_DATA_END)
            break;
        if (s == RECORD && (rec.op == MCAP_METADATA || rec.op == MCAP_ATTACHMENT))
            status = take_item(r, &rec);
        r->items_lost = r->items_lost || s == DAMAGE;
    }
    r->items_lost = r->items_lost || r->info.truncated;
    return status ? status : r->lost;
}

/* ------------------------------------------------------------------------------------------- opening -- */

/* Where the data ends, and from a summary that is right the channels. */
static ff_status read_summary(ff_mcap_reader *r) {
    enum { TAIL = MCAP_RECORD_HEAD + MCAP_FOOTER_BODY + sizeof mcap_magic, DATA_END = MCAP_RECORD_HEAD + 4 };
    r->info.summary = FF_INFO_GAP;
    r->limit = r->size;
    if (r->size < sizeof mcap_magic + TAIL)
        return FF_OK;
    const uint64_t footer = r->size - TAIL;
    const uint8_t *tail = look(r, footer, TAIL);
    if (!tail)
        return r->lost;
    if (memcmp(tail + TAIL - sizeof mcap_magic, mcap_magic, sizeof mcap_magic) != 0 ||
        tail[0] != MCAP_FOOTER || uint_at(r, footer + 1, 8) != MCAP_FOOTER_BODY)
        return FF_OK;
    r->info.closed = true;
    r->limit = footer;
    const uint64_t summary = uint_at(r, footer + MCAP_RECORD_HEAD, 8);
    const uint32_t want = (uint32_t)uint_at(r, footer + MCAP_RECORD_HEAD + 16, 4);
    if (summary == 0)
        return FF_OK;
    r->info.summary = FF_ERR_FORMAT;
    uint32_t crc = 0;
    if (summary < sizeof mcap_magic || summary > footer ||
        (want && (!crc_of(r, summary, footer + MCAP_RECORD_HEAD + 16 - summary, &crc) || crc != want)))
        return r->lost;
    ff_status status = FF_OK;
    record rec;
    for (uint64_t pos = summary; pos < footer && !status; pos = rec.body + rec.length) {
        if (!head_at(r, pos, footer, &rec))
            return r->lost;
        if (rec.op == MCAP_STATISTICS && rec.length >= 8)
            r->info.messages = uint_at(r, rec.body, 8);
        if (rec.op != MCAP_SCHEMA && rec.op != MCAP_CHANNEL)
            continue;
        const uint8_t *body = look(r, rec.body, rec.length);
        status = body ? take_entry(r, rec.op, body, (size_t)rec.length, want != 0) : r->lost;
    }
    if (status == FF_ERR_FORMAT)
        return FF_OK;
    r->summary = summary;
    r->limit = summary < sizeof mcap_magic + DATA_END ? sizeof mcap_magic : summary - DATA_END;
    r->info.summary = FF_OK;
    return status ? status : r->lost;
}

/* A damaged byte of the magic does not make another file of it. */
static bool has_magic(const uint8_t *at) {
    int same = 0;
    for (size_t i = 0; i < sizeof mcap_magic; i++)
        same += at[i] == mcap_magic[i];
    return same >= (int)sizeof mcap_magic - 1;
}

static void renew_budget(ff_mcap_reader *r) {
    r->budget = r->size < UINT64_MAX / SEARCH_FILES - SEARCH ? SEARCH + SEARCH_FILES * r->size : UINT64_MAX;
}

static ff_status reader_new(const uint8_t *bytes, int fd, uint64_t size, ff_mcap_reader **reader) {
    *reader = NULL;
    if (size < sizeof mcap_magic)
        return FF_ERR_FORMAT;
    ff_mcap_reader *r = calloc(1, sizeof *r);
    if (!r)
        return FF_ERR_MEMORY;
    r->memory = bytes;
    r->fd = fd;
    r->size = size;
    const uint8_t *start = look(r, 0, sizeof mcap_magic);
    ff_status status = !start ? r->lost : has_magic(start) ? FF_OK : FF_ERR_FORMAT;
    renew_budget(r);
    if (!status)
        status = read_summary(r);
    if (!status)
        status = find_items(r);
    ff_mcap_reader_rewind(r);
    if (!status) {
        *reader = r;
        return FF_OK;
    }
    r->fd = -1;
    ff_mcap_reader_close(r);
    return status;
}

ff_status ff_mcap_reader_memory(const void *bytes, size_t size, ff_mcap_reader **reader) {
    return reader_new(bytes, -1, size, reader);
}

ff_status ff_mcap_reader_open(const char *path, ff_mcap_reader **reader) {
    *reader = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer does not wait */
    if (fd < 0)
        return FF_ERR_IO;
    struct stat info;
    ff_status status = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? FF_OK : FF_ERR_IO;
    if (!status)
        status = reader_new(NULL, fd, (uint64_t)info.st_size, reader);
    if (status)
        close(fd);
    return status;
}

void ff_mcap_reader_close(ff_mcap_reader *r) {
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    for (size_t i = 0; i < r->ids; i++) {
        free(r->channel[i]);
        free(r->schema[i]);
    }
    for (size_t i = 0; i < r->items; i++)
        free(r->item[i].bytes);
    free(r->item);
    free(r->window.at);
    free(r->expanded);
    free(r);
}

void ff_mcap_reader_rewind(ff_mcap_reader *r) {
    r->pos = sizeof mcap_magic;
    r->chunk_pos = r->chunk_end = 0;
    r->done = false;
    r->info.truncated = false;
    r->info.bad_chunks = 0;
    renew_budget(r);
}

ff_mcap_reader_info ff_mcap_reader_get_info(const ff_mcap_reader *r) {
    return r->info;
}

const ff_mcap_channel *ff_mcap_reader_channel(const ff_mcap_reader *r, uint16_t id) {
    return r->channel[id] ? &r->channel[id]->is.channel : NULL;
}

const ff_mcap_schema *ff_mcap_reader_schema(const ff_mcap_reader *r, uint16_t id) {
    return r->schema[id] ? &r->schema[id]->is.schema : NULL;
}

/* ------------------------------------------------------------------------------------------ messages -- */

static ff_status take_message(const ff_mcap_reader *r, cursor *body, ff_mcap_message *message) {
    ff_mcap_message m;
    m.channel = (uint16_t)get_uint(body, 2);
    m.sequence = (uint32_t)get_uint(body, 4);
    m.log_time = get_uint(body, 8);
    m.publish_time = get_uint(body, 8);
    m.data = body->at;
    m.size = body->left;
    if (body->bad || !r->channel[m.channel])
        return FF_ERR_FORMAT;
    *message = m;
    return FF_OK;
}

static ff_status open_chunk(ff_mcap_reader *r, const record *rec, const uint64_t *part) {
    const uint64_t plain = uint_at(r, part[2], 8), size = rec->body + rec->length - part[5];
    const bool packed = compressed(rec, part);
    bool none = packed && uint_at(r, part[3], 4) == 0;
    ff_status status = FF_OK;
    if (!look(r, part[5], size))
        return r->lost;
    if (packed)
        status = expand(r, rec, part);
    else if (plain != size || !checked(r, rec, part, &none))
        status = FF_ERR_FORMAT;
    if (r->lost)
        return r->lost;
    if (status != FF_OK) {
        r->info.bad_chunks++;
        return status;
    }
    /* still there: nothing else was looked at but a part of it */
    r->records = packed ? r->expanded : look(r, part[5], size);
    if (!r->records)
        return r->lost;
    r->chunk_pos = 0;
    r->chunk_end = (size_t)(packed ? plain : size);
    r->chunk_checked = !none;
    return FF_OK;
}

/* The next record of the open chunk. *found: it was a message. */
static ff_status next_inside(ff_mcap_reader *r, ff_mcap_message *message, bool *found) {
    cursor c = {r->records + r->chunk_pos, r->chunk_end - r->chunk_pos, false};
    const int op = (int)get_uint(&c, 1);
    const uint64_t length = get_uint(&c, 8);
    if (c.bad || op == 0 || length > c.left) {
        /* its CRC was right or absent: written wrong; the rest of the chunk cannot be trusted */
        r->chunk_pos = r->chunk_end;
        r->info.bad_chunks++;
        return FF_ERR_FORMAT;
    }
    cursor body = {c.at, (size_t)length, false};
    r->chunk_pos += MCAP_RECORD_HEAD + (size_t)length;
    *found = op == MCAP_MESSAGE;
    if (op == MCAP_SCHEMA || op == MCAP_CHANNEL)
        return take_entry(r, op, body.at, body.left, r->chunk_checked);
    return *found                                    ? take_message(r, &body, message)
           : op == MCAP_CHUNK || op == MCAP_DATA_END ? FF_ERR_FORMAT
                                                     : FF_OK;
}

/* At the end of the data: its checksum. */
static ff_status end_data(ff_mcap_reader *r, uint64_t pos) {
    record rec;
    r->done = true;
    if (!head_at(r, pos, r->size, &rec) || rec.op != MCAP_DATA_END || rec.length != 4)
        return r->lost ? r->lost : FF_ERR_FORMAT;
    const uint32_t want = (uint32_t)uint_at(r, rec.body, 4);
    uint32_t crc;
    if (want && (!crc_of(r, 0, pos, &crc) || crc != want))
        return r->lost ? r->lost : FF_ERR_FORMAT;
    r->info.truncated = !r->info.closed; /* cut within the summary: all messages are there */
    return r->lost;
}

/* The next record that stands in no chunk. */
static ff_status next_outside(ff_mcap_reader *r) {
    record rec = {0};
    uint64_t part[PARTS];
    const uint64_t pos = r->pos;
    const step s = next_record(r, &r->pos, &rec, part);
    if (r->lost)
        return r->lost;
    if (s == DAMAGE) {
        r->info.bad_chunks += rec.op == MCAP_CHUNK;
        return FF_ERR_FORMAT;
    }
    if (s == END) {
        r->done = true;
        return r->summary ? end_data(r, r->limit) : r->info.closed ? FF_ERR_FORMAT : FF_OK;
    }
    switch (rec.op) {
    case MCAP_SCHEMA:
    case MCAP_CHANNEL: {
        const uint8_t *at = look(r, rec.body, rec.length);
        return at ? take_entry(r, rec.op, at, (size_t)rec.length, false) : r->lost;
    }
    case MCAP_CHUNK:
        return open_chunk(r, &rec, part);
    case MCAP_DATA_END:
        return r->summary ? FF_ERR_FORMAT : end_data(r, pos); /* known to stand elsewhere: no end */
    default:                                                  /* indexes, metadata, attachments */
        return FF_OK;
    }
}

ff_status ff_mcap_reader_next(ff_mcap_reader *r, ff_mcap_message *message, bool *end) {
    *end = false;
    while (!r->done) {
        bool found = false;
        const ff_status status =
            r->chunk_pos < r->chunk_end ? next_inside(r, message, &found) : next_outside(r);
        r->done = r->done || r->lost;
        if (found || status != FF_OK)
            return status;
    }
    *end = true;
    return FF_OK;
}

/* ------------------------------------------------------------------------- metadata and attachments -- */

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
    for (size_t i = 0; i < r->items; i++) {
        cursor body;
        if (r->item[i].op != MCAP_METADATA)
            continue;
        const ff_status status = item_body(r, &r->item[i], &body);
        if (status != FF_OK)
            return status;
        const ff_mcap_text n = get_text(&body), map = get_text(&body);
        if (ff_mcap_text_equal(n, name))
            return ff_mcap_map_get(map, key, value);
    }
    return r->items_lost ? FF_ERR_FORMAT : FF_ERR_ARGUMENT;
}

ff_status ff_mcap_reader_attachment(const ff_mcap_reader *r, const char *name, ff_mcap_text *data) {
    for (size_t i = 0; i < r->items; i++) {
        cursor body;
        if (r->item[i].op != MCAP_ATTACHMENT)
            continue;
        const ff_status status = item_body(r, &r->item[i], &body);
        if (status != FF_OK)
            return status;
        const cursor whole = body;
        get_uint(&body, 8);
        get_uint(&body, 8);
        const ff_mcap_text n = get_text(&body);
        get_text(&body);
        const ff_mcap_text bytes = get_bytes(&body, get_uint(&body, 8));
        const size_t covered = whole.left - body.left;
        const uint32_t crc = (uint32_t)get_uint(&body, 4);
        if (!ff_mcap_text_equal(n, name))
            continue;
        if (body.bad || (crc && crc != ff_mcap_crc32(0, whole.at, covered)))
            return FF_ERR_FORMAT;
        *data = bytes;
        return FF_OK;
    }
    return r->items_lost ? FF_ERR_FORMAT : FF_ERR_ARGUMENT;
}
