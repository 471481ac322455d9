/* record/mcap.h - MCAP log files: an append-only writer and a reader that also takes files cut off anywhere.
 *
 * Layout: magic, Header, data (Schema, Channel, Chunk with MessageIndex, Metadata, Attachment), DataEnd,
 * summary, Footer, magic. Chunks carry a CRC-32 and may be compressed (record/codec.h). Every flush is one
 * write(2): what was flushed survives a kill -9, what was synced a power cut. When a write fails, the file is
 * cut back to the last whole record, the writer keeps FF_ERR_IO for good, and no footer is written: such a
 * file reads as an unclosed one, never as a complete one. Not for the real-time thread. */
#ifndef FF_RECORD_MCAP_H
#define FF_RECORD_MCAP_H

#include "freefloat/base.h"
#include "record/codec.h"

typedef struct ff_mcap_text {
    const char *at; /* not NUL-terminated */
    size_t size;    /* [bytes] */
} ff_mcap_text;

bool ff_mcap_text_equal(ff_mcap_text text, const char *other);

/* CRC-32 as zlib's: polynomial 0xedb88320, start and final complement; crc is 0 or the result so far. */
uint32_t ff_mcap_crc32(uint32_t crc, const void *bytes, size_t size);
/* Of two pieces one after the other: from the checksum of the first, that of the second alone, and the
 * second's size. */
uint32_t ff_mcap_crc32_join(uint32_t crc, uint32_t next, uint64_t size);

typedef struct ff_mcap_pair {
    const char *key, *value;
} ff_mcap_pair;

/* ---------------------------------------------------------------------------------------------- writer -- */

typedef struct ff_mcap_writer ff_mcap_writer;

typedef struct ff_mcap_writer_config {
    const char *profile;   /* "ros2" or "" */
    const char *library;   /* who wrote the file */
    size_t chunk_size;     /* [bytes] a chunk is written at the latest when it has grown to this */
    const ff_codec *codec; /* of its chunks; NULL: as they are */
} ff_mcap_writer_config;

ff_mcap_writer_config
ff_mcap_writer_config_default(void); /* ros2, freefloat and its version, 1 MiB, as they are */

/* Creates or empties the file. FF_ERR_IO, FF_ERR_MEMORY; *writer is NULL then. */
ff_status ff_mcap_writer_open(const char *path, const ff_mcap_writer_config *config, ff_mcap_writer **writer);
/* Ids count from 1. FF_ERR_SIZE: 65535 are in use. */
ff_status ff_mcap_writer_add_schema(ff_mcap_writer *writer, const char *name, const char *encoding,
                                    const void *data, size_t size, uint16_t *id);
/* FF_ERR_ARGUMENT: no such schema (0 is none). */
ff_status ff_mcap_writer_add_channel(ff_mcap_writer *writer, uint16_t schema, const char *topic,
                                     const char *encoding, const ff_mcap_pair *metadata, size_t pairs,
                                     uint16_t *id);
/* Times in ns. The sequence number counts per channel. FF_ERR_ARGUMENT: no such channel. */
ff_status ff_mcap_writer_message(ff_mcap_writer *writer, uint16_t channel, uint64_t log_time,
                                 uint64_t publish_time, const void *data, size_t size);
ff_status ff_mcap_writer_metadata(ff_mcap_writer *writer, const char *name, const ff_mcap_pair *pairs,
                                  size_t count);
ff_status ff_mcap_writer_attachment(ff_mcap_writer *writer, const char *name, const char *media_type,
                                    uint64_t log_time, const void *data, size_t size);
/* Writes the open chunk, if it has messages. */
ff_status ff_mcap_writer_flush(ff_mcap_writer *writer);
/* What was flushed reaches the disk before this returns, which takes it some milliseconds; then close does
 * the same. FF_ERR_IO. */
ff_status ff_mcap_writer_sync(ff_mcap_writer *writer);
/* Flushes, writes summary and footer, frees the writer (also on error; NULL is fine). FF_OK only if the whole
 * file was written and closed without error; after FF_ERR_IO errno says why the first write failed. */
ff_status ff_mcap_writer_close(ff_mcap_writer *writer);

/* ---------------------------------------------------------------------------------------------- reader -- */

typedef struct ff_mcap_reader ff_mcap_reader;

typedef struct ff_mcap_schema {
    uint16_t id;
    ff_mcap_text name, encoding, data;
} ff_mcap_schema;

typedef struct ff_mcap_channel {
    uint16_t id, schema;
    ff_mcap_text topic, encoding;
    ff_mcap_text metadata; /* raw map: ff_mcap_map_get */
} ff_mcap_channel;

typedef struct ff_mcap_message {
    uint16_t channel;
    uint32_t sequence;
    uint64_t log_time, publish_time; /* [ns] */
    const uint8_t *data;             /* until the next call of next */
    size_t size;                     /* [bytes] */
} ff_mcap_message;

typedef struct ff_mcap_reader_info {
    bool closed;         /* footer and final magic are there */
    ff_status summary;   /* FF_OK: CRC of the summary is right; FF_ERR_FORMAT: damaged; FF_INFO_GAP: none */
    uint64_t messages;   /* of the summary's statistics; 0 without */
    bool truncated;      /* the data ended inside a record */
    uint64_t bad_chunks; /* chunks skipped so far: CRC, size or compression */
} ff_mcap_reader_info;

/* FF_ERR_IO; FF_ERR_FORMAT: no MCAP magic; FF_ERR_MEMORY. */
ff_status ff_mcap_reader_open(const char *path, ff_mcap_reader **reader);
/* The same on bytes that the caller keeps. */
ff_status ff_mcap_reader_memory(const void *bytes, size_t size, ff_mcap_reader **reader);
void ff_mcap_reader_close(ff_mcap_reader *reader); /* NULL is fine */
/* The next message in file order. *end: no more, message untouched. FF_ERR_FORMAT: a damaged chunk (CRC) or
 * record, passed over up to where the next whole record is found, or the checksum of the whole data is wrong;
 * FF_ERR_UNSUPPORTED: a chunk that cannot be expanded here, passed over; the next call continues after it.
 * FF_ERR_IO: the file became shorter or cannot be read any more, FF_ERR_MEMORY: nothing more follows. A cut
 * file ends as a whole one does, with info.truncated. */
ff_status ff_mcap_reader_next(ff_mcap_reader *reader, ff_mcap_message *message, bool *end);
void ff_mcap_reader_rewind(ff_mcap_reader *reader);
/* Known once their record was passed; NULL before. Pointers hold until the next call of next. */
const ff_mcap_channel *ff_mcap_reader_channel(const ff_mcap_reader *reader, uint16_t id);
const ff_mcap_schema *ff_mcap_reader_schema(const ff_mcap_reader *reader, uint16_t id);
ff_mcap_reader_info ff_mcap_reader_get_info(const ff_mcap_reader *reader);
/* Searches the whole file, whatever next has reached. FF_ERR_ARGUMENT: not there; FF_ERR_FORMAT: damaged. */
ff_status ff_mcap_reader_metadata(const ff_mcap_reader *reader, const char *name, const char *key,
                                  ff_mcap_text *value);
ff_status ff_mcap_reader_attachment(const ff_mcap_reader *reader, const char *name, ff_mcap_text *data);
/* FF_ERR_ARGUMENT: no such key; FF_ERR_FORMAT: not a map. */
ff_status ff_mcap_map_get(ff_mcap_text map, const char *key, ff_mcap_text *value);

#endif
