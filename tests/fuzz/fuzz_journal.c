/* Any bytes behind a campaign's journal head: every record given out stands once, in order. 'R' and two bytes
 * begin a whole record, for chance alone finds no checksum. */
#include "campaign/journal.h"

#include <unistd.h>

#include "fuzz.h"

enum { SLOTS = 40, MOST = 1 << 16 };

static ff_status take(void *user, const ff_record *record) {
    uint64_t *next = user;
    FUZZ_CHECK(record->slot >= *next && record->slot < SLOTS && strlen(record->reason) < FF_REASON_SIZE);
    *next = record->slot + 1;
    return FF_OK;
}

/* The head that such a campaign's journal has. */
static size_t make_head(const ff_campaign *campaign, const char *path, const char *folder, uint8_t *head) {
    ff_journal journal;
    char message[5000];
    unlink(path);
    FUZZ_CHECK(ff_journal_open(folder, campaign, &journal, message, sizeof message) == FF_OK);
    ff_journal_close(&journal);
    FILE *f = fopen(path, "rb");
    FUZZ_CHECK(f);
    const size_t n = fread(head, 1, 4096, f);
    fclose(f);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ff_campaign *campaign;
    static uint8_t file[MOST];
    static size_t head;
    char folder[64], message[5000] = "";
    const char *path = fuzz_file("results.journal", bytes, 0);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (!campaign) {
        campaign = calloc(1, sizeof *campaign);
        campaign->samples = SLOTS / 2;
        campaign->methods = 2;
        campaign->metrics = 2;
        head = make_head(campaign, path, folder, file);
    }
    size_t n = head;
    for (size_t i = 0; i < size && n + FF_RECORD_BYTES < MOST; i++)
        if (bytes[i] == 'R' && i + 2 < size) {
            ff_record record = {.slot = bytes[i + 1] % (SLOTS + 2), .status = -(bytes[i + 2] & 1)};
            if (bytes[i + 2] & 2)
                snprintf(record.reason, sizeof record.reason, FF_REASON_LATE " of 1 s");
            n += ff_record_encode(&record, campaign->metrics, file + n);
            i += 2;
        } else {
            file[n++] = bytes[i];
        }
    if (size && bytes[0] == 'H') /* of another campaign, or damaged */
        file[bytes[size - 1] % head] ^= 1;
    fuzz_file("results.journal", file, n);
    if (size && bytes[0] == 'H')
        file[bytes[size - 1] % head] ^= 1;
    ff_journal journal;
    const ff_status status = ff_journal_open(folder, campaign, &journal, message, sizeof message);
    if (status != FF_OK) {
        FUZZ_CHECK(message[0]);
        return 0;
    }
    uint64_t next = 0;
    FUZZ_CHECK(ff_journal_rescan(&journal) == FF_OK && ff_journal_each(&journal, take, &next) == FF_OK);
    ff_journal_close(&journal);
    return 0;
}
