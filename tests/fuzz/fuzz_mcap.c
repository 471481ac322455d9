/* Any file to the log reader, and any message body to the decoders. Reading ends, and every byte given out
 * exists. */
#include "record/mcap.h"
#include "record/messages.h"

#include "fuzz.h"

static unsigned sum;

static void touch(const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        sum += ((const uint8_t *)bytes)[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    double values[64], value, limit;
    uint64_t time, cycle;
    size_t n;
    char text[64];
    uint8_t small;
    int32_t code;
    ff_message_read_cycle(bytes, size, &time, &cycle, values, 64, &n);
    ff_message_read_state(bytes, size, &time, &small, text, sizeof text);
    ff_message_read_event(bytes, size, &time, &code, &small, text, sizeof text, &value, &limit);
    ff_mcap_reader *r; /* now from memory, now as a file */
    if ((size % 8 ? ff_mcap_reader_memory(bytes, size, &r)
                  : ff_mcap_reader_open(fuzz_file("log.mcap", bytes, size), &r)) != FF_OK)
        return 0;
    size_t calls = 0;
    for (bool end = false; !end;) {
        ff_mcap_message m;
        FUZZ_CHECK(calls++ <= size); /* every call takes a record of at least nine bytes */
        if (ff_mcap_reader_next(r, &m, &end) != FF_OK || end)
            continue;
        touch(m.data, m.size);
        const ff_mcap_channel *c = ff_mcap_reader_channel(r, m.channel);
        FUZZ_CHECK(c != NULL);
        touch(c->topic.at, c->topic.size);
        ff_mcap_text found;
        if (ff_mcap_map_get(c->metadata, "columns", &found) == FF_OK)
            touch(found.at, found.size);
        const ff_mcap_schema *s = ff_mcap_reader_schema(r, c->schema);
        if (s)
            touch(s->data.at, s->data.size);
        ff_message_read_cycle(m.data, m.size, &time, &cycle, values, 64, &n);
    }
    ff_mcap_text found;
    if (ff_mcap_reader_metadata(r, "freefloat", "scenario", &found) == FF_OK)
        touch(found.at, found.size);
    if (ff_mcap_reader_attachment(r, "scenario.yaml", &found) == FF_OK)
        touch(found.at, found.size);
    ff_mcap_reader_close(r);
    return 0;
}
