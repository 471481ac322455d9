/* campaign/journal.h - finished runs, appended one by one. A record is one write(2) with a checksum, so a
 * killed process leaves at most one torn record at the end, which the next opening cuts off. Records come in
 * the order of work; ff_journal_each gives them in the order of samples in bounded memory. */
#ifndef FF_CAMPAIGN_JOURNAL_H
#define FF_CAMPAIGN_JOURNAL_H

#include "campaign/campaign.h"

enum { FF_REASON_SIZE = 200 };
#define FF_REASON_LATE "failed: ran past its limit" /* such a run is made again by the next resume */

/* One run: sample * methods + method. */
typedef struct ff_record {
    uint64_t slot;
    ff_status status;
    double metric[FF_CAMPAIGN_METRICS];
    char reason[FF_REASON_SIZE]; /* "" when all is well */
} ff_record;

enum { FF_RECORD_BYTES = 24 + 8 * FF_CAMPAIGN_METRICS + FF_REASON_SIZE };

/* Which slots are done, and where in the file each block of slots lies. Blocks that are full or empty hold
 * no bits: since work goes forward, few are in between however many samples there are. */
typedef struct ff_slots {
    uint64_t count, done;
    uint64_t blocks;
    struct ff_slot_block {
        uint32_t done;
        uint64_t *bits;
        uint64_t first, last; /* offsets of its records */
    } * block;
} ff_slots;

typedef struct ff_journal {
    int file;
    char path[4400];
    uint64_t size;   /* bytes of whole records */
    int metrics;     /* in each record */
    bool checked;    /* every sample's scenario has been validated */
    uint64_t synced; /* size at the last fsync */
    ff_slots slots;
    uint64_t damaged; /* bytes inside that no record claims; their samples run again */
    uint64_t torn;    /* bytes cut off at the end */
} ff_journal;

/* Opens or creates folder/results.journal and reads what is done. FF_ERR_FORMAT: it belongs to another
 * campaign or is not a journal; FF_ERR_IO, FF_ERR_MEMORY. The message is one line. The folder is locked by
 * whoever opens it (runs/runs.h). */
ff_status ff_journal_open(const char *folder, const ff_campaign *campaign, ff_journal *journal, char *message,
                          size_t size);
void ff_journal_close(ff_journal *journal);
/* What a complete run did is taken over into a new folder, as a file of its own: the former run stays what
 * its manifest says, whatever is appended. FF_ERR_IO: errno. */
ff_status ff_journal_copy(const char *from, const char *to);
/* Appends encoded records; on failure (a full disk) the file keeps whole records only. FF_ERR_IO: errno. */
ff_status ff_journal_append(ff_journal *journal, const void *bytes, size_t count);
ff_status ff_journal_mark_checked(ff_journal *journal);
ff_status ff_journal_sync(ff_journal *journal);
/* Takes into account what was appended since the opening. */
ff_status ff_journal_rescan(ff_journal *journal);
/* Every record in the order of slots. A negative status of `take` ends it and is returned. */
ff_status ff_journal_each(ff_journal *journal, ff_status (*take)(void *user, const ff_record *record),
                          void *user);

size_t ff_record_encode(const ff_record *record, int metrics, unsigned char *bytes);

ff_status ff_slots_create(ff_slots *slots, uint64_t count);
void ff_slots_free(ff_slots *slots);
bool ff_slots_has(const ff_slots *slots, uint64_t slot);
/* false: it was there already, or memory ran out (then it stays undone). */
bool ff_slots_add(ff_slots *slots, uint64_t slot, uint64_t offset);

#endif
