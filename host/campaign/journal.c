#include "campaign/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK = 65536,         /* slots of one block */
    HEAD = 64,             /* bytes before the first record */
    WINDOW = 1 << 20,      /* slots put in order at once */
    BUFFER = 1 << 20,      /* bytes read at once */
    RECORD_MAGIC = 0xF10A, /* starts every record */
};
static const uint64_t checked_slot = UINT64_MAX;

/* ------------------------------------------------------------------------------------------- records -- */

static uint32_t checksum(const unsigned char *bytes, size_t count) {
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a, folded */
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return (uint32_t)(hash ^ hash >> 32);
}

static void put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* magic 2, length 2, checksum 4 (of all that follows), slot 8, status 4, reason's length 2, zero 2, metrics,
 * reason; little endian. */
size_t ff_record_encode(const ff_record *record, int metrics, unsigned char *bytes) {
    const size_t reason = strnlen(record->reason, FF_REASON_SIZE - 1);
    size_t n = 24;
    put(bytes + 8, record->slot, 8);
    put(bytes + 16, (uint32_t)record->status, 4);
    put(bytes + 20, reason, 2);
    put(bytes + 22, 0, 2);
    for (int i = 0; i < metrics; i++, n += 8) {
        uint64_t bits;
        memcpy(&bits, &record->metric[i], 8);
        put(bytes + n, bits, 8);
    }
    memcpy(bytes + n, record->reason, reason);
    n += reason;
    put(bytes, RECORD_MAGIC, 2);
    put(bytes + 2, n, 2);
    put(bytes + 4, checksum(bytes + 8, n - 8), 4);
    return n;
}

/* Bytes of the record at the start; 0 when there is no whole one. */
static size_t decode_record(const unsigned char *bytes, size_t count, int metrics, ff_record *record) {
    if (count < 24 || get(bytes, 2) != RECORD_MAGIC)
        return 0;
    const size_t n = (size_t)get(bytes + 2, 2), reason = (size_t)get(bytes + 20, 2);
    if (n > count || reason >= FF_REASON_SIZE || n != 24 + 8 * (size_t)metrics + reason ||
        get(bytes + 4, 4) != checksum(bytes + 8, n - 8))
        return 0;
    record->slot = get(bytes + 8, 8);
    record->status = (ff_status)(int32_t)get(bytes + 16, 4);
    for (int i = 0; i < metrics; i++) {
        const uint64_t bits = get(bytes + 24 + 8 * i, 8);
        memcpy(&record->metric[i], &bits, 8);
    }
    memcpy(record->reason, bytes + 24 + 8 * metrics, reason);
    record->reason[reason] = 0;
    return n;
}

/* --------------------------------------------------------------------------------------------- slots -- */

ff_status ff_slots_create(ff_slots *slots, uint64_t count) {
    *slots = (ff_slots){.count = count, .blocks = (count + BLOCK - 1) / BLOCK};
    slots->block = calloc((size_t)slots->blocks + 1, sizeof *slots->block);
    return slots->block ? FF_OK : FF_ERR_MEMORY;
}

void ff_slots_free(ff_slots *slots) {
    for (uint64_t i = 0; slots->block && i < slots->blocks; i++)
        free(slots->block[i].bits);
    free(slots->block);
    *slots = (ff_slots){0};
}

static uint32_t block_size(const ff_slots *slots, uint64_t block) {
    const uint64_t left = slots->count - block * BLOCK;
    return left < BLOCK ? (uint32_t)left : BLOCK;
}

bool ff_slots_has(const ff_slots *slots, uint64_t slot) {
    const struct ff_slot_block *block = &slots->block[slot / BLOCK];
    if (block->done == block_size(slots, slot / BLOCK))
        return true;
    return block->bits && (block->bits[slot % BLOCK / 64] >> (slot % 64) & 1u);
}

bool ff_slots_add(ff_slots *slots, uint64_t slot, uint64_t offset) {
    if (slot >= slots->count)
        return false;
    struct ff_slot_block *block = &slots->block[slot / BLOCK];
    if (ff_slots_has(slots, slot)) { /* made again */
        block->last = offset > block->last ? offset : block->last;
        return false;
    }
    if (!block->bits) {
        block->bits = calloc(BLOCK / 64, sizeof *block->bits);
        if (!block->bits)
            return false;
        block->first = block->last = offset;
    }
    block->bits[slot % BLOCK / 64] |= (uint64_t)1 << (slot % 64);
    block->first = offset < block->first ? offset : block->first;
    block->last = offset > block->last ? offset : block->last;
    slots->done++;
    if (++block->done == block_size(slots, slot / BLOCK)) {
        free(block->bits);
        block->bits = NULL;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------- reading -- */

typedef struct scanner {
    int file;
    uint64_t offset; /* of buffer[0] */
    size_t count;
    unsigned char *buffer;
} scanner;

/* Bytes from `offset` on, at least one record's worth unless the file ends. */
static const unsigned char *at(scanner *s, uint64_t offset, size_t *count) {
    if (offset < s->offset || offset + FF_RECORD_BYTES > s->offset + s->count) {
        s->offset = offset;
        s->count = 0;
        while (s->count < BUFFER) {
            const ssize_t n =
                pread(s->file, s->buffer + s->count, BUFFER - s->count, (off_t)(offset + s->count));
            if (n > 0)
                s->count += (size_t)n;
            else if (n == 0 || errno != EINTR)
                break;
        }
    }
    *count = (size_t)(s->offset + s->count - offset);
    return s->buffer + (offset - s->offset);
}

/* Walks over the records in [from, to); what is not a record is passed over byte by byte until one begins.
 * *last is the end of the last whole record, *damaged counts what lies between records. FF_ERR_MEMORY,
 * FF_ERR_IO: not all of it was seen, and nothing may be cut off. */
static ff_status scan(ff_journal *journal, uint64_t from, uint64_t to,
                      void (*take)(void *user, const ff_record *record, uint64_t offset), void *user,
                      uint64_t *last, uint64_t *damaged) {
    scanner s = {.file = journal->file, .buffer = malloc(BUFFER)};
    ff_record *record = malloc(sizeof *record);
    uint64_t offset = from, end = from;
    ff_status status = s.buffer && record ? FF_OK : FF_ERR_MEMORY;
    while (status == FF_OK && offset < to) {
        size_t count;
        const unsigned char *bytes = at(&s, offset, &count);
        const size_t n = decode_record(bytes, count, journal->metrics, record);
        if (!n) {
            if (!count)
                status = FF_ERR_IO;
            offset++;
            continue;
        }
        *damaged += offset - end;
        take(user, record, offset);
        offset += n;
        end = offset;
    }
    free(s.buffer);
    free(record);
    *last = end;
    return status;
}

static void note(void *user, const ff_record *record, uint64_t offset) {
    ff_journal *journal = user;
    if (record->slot == checked_slot)
        journal->checked = true;
    else
        ff_slots_add(&journal->slots, record->slot, offset);
}

/* At the start: a run that was too slow then may not be now. */
static void note_lasting(void *user, const ff_record *record, uint64_t offset) {
    if (strncmp(record->reason, FF_REASON_LATE, sizeof FF_REASON_LATE - 1) != 0)
        note(user, record, offset);
}

ff_status ff_journal_rescan(ff_journal *journal) {
    const uint64_t count = journal->slots.count;
    ff_slots_free(&journal->slots);
    if (ff_slots_create(&journal->slots, count) != FF_OK)
        return FF_ERR_MEMORY;
    journal->damaged = 0;
    uint64_t ignored;
    return scan(journal, HEAD, journal->size, note, journal, &ignored, &journal->damaged);
}

typedef struct window {
    uint64_t first, count; /* slots */
    uint64_t *offset;      /* 0: none */
} window;

static void place(void *user, const ff_record *record, uint64_t offset) {
    window *w = user;
    if (record->slot >= w->first && record->slot < w->first + w->count) /* made again: the last one counts */
        w->offset[record->slot - w->first] = offset;
}

ff_status ff_journal_each(ff_journal *journal, ff_status (*take)(void *user, const ff_record *record),
                          void *user) {
    const ff_slots *slots = &journal->slots;
    const uint64_t size = slots->count < WINDOW ? slots->count : WINDOW;
    window w = {.offset = malloc(((size_t)size + 1) * sizeof *w.offset)};
    scanner s = {.file = journal->file, .buffer = malloc(BUFFER)};
    ff_record *record = malloc(sizeof *record);
    ff_status status = w.offset && s.buffer && record ? FF_OK : FF_ERR_MEMORY;
    for (w.first = 0; w.first < slots->count && status >= 0; w.first += WINDOW) {
        w.count = slots->count - w.first < WINDOW ? slots->count - w.first : WINDOW;
        memset(w.offset, 0, (size_t)w.count * sizeof *w.offset);
        uint64_t from = UINT64_MAX, to = 0, last, ignored = 0;
        for (uint64_t b = w.first / BLOCK; b < slots->blocks && b * BLOCK < w.first + w.count; b++)
            if (slots->block[b].done) {
                from = slots->block[b].first < from ? slots->block[b].first : from;
                to = slots->block[b].last > to ? slots->block[b].last : to;
            }
        if (from <= to)
            status = scan(journal, from, to + 1, place, &w, &last, &ignored);
        for (uint64_t i = 0; i < w.count && status >= 0; i++) {
            size_t count;
            if (!w.offset[i])
                continue;
            const unsigned char *bytes = at(&s, w.offset[i], &count);
            if (!decode_record(bytes, count, journal->metrics, record))
                status = FF_ERR_IO;
            else
                status = take(user, record);
        }
    }
    free(w.offset);
    free(s.buffer);
    free(record);
    return status;
}

/* --------------------------------------------------------------------------------------------- writing -- */

ff_status ff_journal_append(ff_journal *journal, const void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        const ssize_t n =
            pwrite(journal->file, (const char *)bytes + done, count - done, (off_t)(journal->size + done));
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno == EINTR)
            continue;
        else {
            const int why = n == 0 ? ENOSPC : errno;
            if (ftruncate(journal->file, (off_t)journal->size) != 0) { /* cut off at the next opening */
            }
            errno = why;
            return FF_ERR_IO;
        }
    }
    journal->size += count;
    return FF_OK;
}

ff_status ff_journal_copy(const char *from, const char *to) {
    char path[FF_FILE_PATH], bytes[65536];
    ff_file_whole whole;
    snprintf(path, sizeof path, "%.4300s/results.journal", from);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return FF_ERR_IO;
    snprintf(path, sizeof path, "%.4300s/results.journal", to);
    ff_status status = ff_file_begin(path, &whole);
    if (status == FF_OK) {
        ssize_t n;
        do
            n = read(file, bytes, sizeof bytes);
        while (n > 0 && fwrite(bytes, 1, (size_t)n, whole.file) == (size_t)n);
        const int why = errno;
        status = ff_file_end(&whole, n == 0);
        if (n < 0)
            errno = why;
    }
    const int why = errno;
    close(file);
    errno = why;
    return status;
}

ff_status ff_journal_mark_checked(ff_journal *journal) {
    unsigned char bytes[FF_RECORD_BYTES];
    ff_record record = {.slot = checked_slot};
    journal->checked = true;
    return ff_journal_append(journal, bytes, ff_record_encode(&record, journal->metrics, bytes));
}

ff_status ff_journal_sync(ff_journal *journal) {
    if (journal->synced == journal->size)
        return FF_OK;
    journal->synced = journal->size;
    return fdatasync(journal->file) == 0 || errno == EINVAL || errno == EROFS ? FF_OK : FF_ERR_IO;
}

/* Of all before it; the head ends with it. */
static void put_head_sum(char *head) {
    char text[8];
    snprintf(text, sizeof text, "%04x\n", checksum((const unsigned char *)head, HEAD - 5) & 0xFFFFu);
    memcpy(head + HEAD - 5, text, 5);
}

/* "freefloat campaign 2 HASH HASH METRICS", blanks, a checksum and a new line, 64 bytes: `head` shows it. */
static void make_head(const ff_campaign *campaign, char *head) {
    char text[HEAD + 1];
    const int n = snprintf(text, sizeof text, "freefloat campaign 2 %016llx%016llx %d",
                           (unsigned long long)campaign->hash[0], (unsigned long long)campaign->hash[1],
                           campaign->metrics);
    memset(head, ' ', HEAD);
    memcpy(head, text, (size_t)(n < HEAD - 6 ? n : HEAD - 6));
    put_head_sum(head);
}

/* Why a journal is not this campaign's. */
static const char *refusal(const char *found, ssize_t had) {
    char again[HEAD];
    if (had < HEAD || memcmp(found, "freefloat campaign ", 19) != 0)
        return "%s: not a journal of a campaign, or a damaged header of one; choose another folder with "
               "--out";
    memcpy(again, found, HEAD);
    put_head_sum(again);
    return found[19] == '2' && memcmp(found, again, HEAD) != 0
               ? "%s: damaged journal header: it is not known which campaign's results these are; choose "
                 "another "
                 "folder with --out, or begin anew with --force"
               : "%s: holds the results of another campaign (its file, base scenario or program differs); "
                 "choose "
                 "another folder with --out, or remove this one";
}

static ff_status give_up(ff_journal *journal, ff_status status) {
    if (journal->file >= 0)
        close(journal->file);
    journal->file = -1;
    ff_slots_free(&journal->slots);
    return status;
}

ff_status ff_journal_open(const char *folder, const ff_campaign *campaign, ff_journal *journal, char *message,
                          size_t size) {
    char head[HEAD], found[HEAD];
    *journal = (ff_journal){.metrics = campaign->metrics};
    snprintf(journal->path, sizeof journal->path, "%.4200s/results.journal", folder);
    journal->file = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    struct stat info;
    if (journal->file < 0 || fstat(journal->file, &info) != 0) {
        snprintf(message, size, "%s: cannot be written (%s); choose another folder with --out", journal->path,
                 errno == ELOOP ? "it is a link, through which nothing is written" : strerror(errno));
        return give_up(journal, FF_ERR_IO);
    }
    if (ff_slots_create(&journal->slots, campaign->samples * (uint64_t)campaign->methods) != FF_OK) {
        snprintf(message, size, "no memory for %llu runs",
                 (unsigned long long)campaign->samples * (unsigned long long)campaign->methods);
        return give_up(journal, FF_ERR_MEMORY);
    }
    make_head(campaign, head);
    const ssize_t had = pread(journal->file, found, HEAD, 0);
    if (had < 0) {
        snprintf(message, size, "%s: cannot be read (%s)", journal->path, strerror(errno));
        return give_up(journal, FF_ERR_IO);
    }
    if (had < HEAD && memcmp(found, head, (size_t)had) == 0) { /* new, or cut in its head */
        journal->torn = (uint64_t)had;
        if (ftruncate(journal->file, 0) != 0 || ff_journal_append(journal, head, HEAD) != FF_OK) {
            snprintf(message, size, "%s: cannot be written (%s)", journal->path, strerror(errno));
            return give_up(journal, FF_ERR_IO);
        }
        return FF_OK;
    }
    if (had < HEAD || memcmp(found, head, HEAD) != 0) {
        snprintf(message, size, refusal(found, had), journal->path);
        return give_up(journal, FF_ERR_FORMAT);
    }
    const uint64_t length = (uint64_t)info.st_size;
    const ff_status seen =
        scan(journal, HEAD, length, note_lasting, journal, &journal->size, &journal->damaged);
    if (seen != FF_OK) {
        snprintf(message, size, "%s: cannot be read (%s)", journal->path,
                 seen == FF_ERR_MEMORY ? "no memory" : strerror(errno ? errno : EIO));
        return give_up(journal, seen);
    }
    journal->torn = length - journal->size;
    if (journal->torn && ftruncate(journal->file, (off_t)journal->size) != 0) {
        snprintf(message, size, "%s: its torn end cannot be cut off (%s)", journal->path, strerror(errno));
        return give_up(journal, FF_ERR_IO);
    }
    journal->synced = journal->size;
    return FF_OK;
}

void ff_journal_close(ff_journal *journal) {
    if (journal->file >= 0 && journal->path[0])
        ff_journal_sync(journal);
    give_up(journal, FF_OK);
}
