#include "record/rosbag.h"

#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 1 << 16 };

/* Said once or seldom: transient local, depth 1, so that who comes late gets it, too. */
static bool kept_topic(ff_mcap_text topic) {
    return ff_mcap_text_equal(topic, "/scene") || ff_mcap_text_equal(topic, "/robot_description") ||
           ff_mcap_text_equal(topic, "/tf_static") || ff_mcap_text_equal(topic, "/state") ||
           ff_mcap_text_equal(topic, "/tuning");
}

static void put_quality(FILE *out, bool kept) {
    static const char never[] = "sec: 9223372036\\n    nsec: 854775807\\n";
    if (kept)
        fprintf(out,
                "\"- history: 1\\n  depth: 1\\n  reliability: 1\\n  durability: 1\\n  deadline:\\n    %s  "
                "lifespan:\\n    %s  liveliness: 1\\n  liveliness_lease_duration:\\n    %s  "
                "avoid_ros_namespace_conventions: false\"\n",
                never, never, never);
    else
        fputs("\"\"\n", out);
}

/* A name between quotes: nothing that YAML would take for anything else. */
static void put_text(FILE *out, ff_mcap_text text) {
    fputc('"', out);
    for (size_t i = 0; i < text.size; i++) {
        const unsigned char c = (unsigned char)text.at[i];
        if (c < 0x20 || c == '"' || c == '\\')
            fprintf(out, "\\x%02x", c);
        else
            fputc(c, out);
    }
    fputs("\"\n", out);
}

static ff_status count_messages(ff_mcap_reader *reader, uint64_t *count, uint64_t *first, uint64_t *last,
                                uint64_t *all) {
    *all = *last = 0;
    *first = UINT64_MAX;
    for (bool end = false;;) {
        ff_mcap_message m;
        const ff_status status = ff_mcap_reader_next(reader, &m, &end);
        if (status == FF_ERR_IO || status == FF_ERR_MEMORY)
            return status;
        if (end)
            break;
        if (status != FF_OK)
            continue;
        count[m.channel]++;
        ++*all;
        *first = m.log_time < *first ? m.log_time : *first;
        *last = m.log_time > *last ? m.log_time : *last;
    }
    *first = *all ? *first : 0;
    return FF_OK;
}

ff_status ff_rosbag_metadata(const char *path, const char *name, FILE *out, int *topics, uint64_t *messages) {
    ff_mcap_reader *reader;
    ff_status status = ff_mcap_reader_open(path, &reader);
    if (status != FF_OK)
        return status;
    uint64_t *count = calloc(CHANNELS, sizeof *count), first, last;
    status = count ? count_messages(reader, count, &first, &last, messages) : FF_ERR_MEMORY;
    *topics = 0;
    if (status == FF_OK) {
        const unsigned long long from = first, length = last - first, all = *messages;
        fprintf(out,
                "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: mcap\n  duration:\n    "
                "nanoseconds: %llu\n  starting_time:\n    nanoseconds_since_epoch: %llu\n  message_count: "
                "%llu\n  topics_with_message_count:\n",
                length, from, all);
        for (int i = 1; i < CHANNELS; i++) {
            const ff_mcap_channel *channel = count[i] ? ff_mcap_reader_channel(reader, (uint16_t)i) : NULL;
            const ff_mcap_schema *schema = channel ? ff_mcap_reader_schema(reader, channel->schema) : NULL;
            if (!schema)
                continue;
            ++*topics;
            fputs("    - topic_metadata:\n        name: ", out);
            put_text(out, channel->topic);
            fputs("        type: ", out);
            put_text(out, schema->name);
            fputs("        serialization_format: cdr\n        offered_qos_profiles: ", out);
            put_quality(out, kept_topic(channel->topic));
            fprintf(out, "      message_count: %llu\n", (unsigned long long)count[i]);
        }
        fprintf(
            out,
            "  compression_format: \"\"\n  compression_mode: \"\"\n  relative_file_paths:\n    - %s\n  "
            "files:\n"
            "    - path: %s\n      starting_time:\n        nanoseconds_since_epoch: %llu\n      duration:\n"
            "        nanoseconds: %llu\n      message_count: %llu\n",
            name, name, from, length, all);
        status = ferror(out) ? FF_ERR_IO : FF_OK;
    }
    free(count);
    ff_mcap_reader_close(reader);
    return status;
}
