/* MCAP: known bytes, whole files, files cut anywhere or killed, damaged ones, a full disk.
 * With FF_MCAP_SAMPLE=PATH the program only writes the sample log that tests/record reads with public
 * packages. */
#include "record/mcap.h"
#include "record/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum {
    CYCLE = FF_MESSAGE_KINDS,
    SAMPLES = 1000,
    COLUMNS = 7,
    PUBLISHED = 1000 /* [ns] before the log time */
};

static double column(int k, int i) {
    return sin(0.1 * k + i) * pow(10, i - 3);
}

static const uint64_t epoch = UINT64_C(1700000000000000000);

static void path_of(const char *name, char *path, size_t size) {
    snprintf(path, size, "%s/test_mcap_%s.%d.mcap", FF_BUILD_DIR, name, (int)getpid());
}

static bool sync_each_chunk;
static const ff_codec *sample_codec; /* of the chunks; NULL: as they are */

/* Every message kind at 4 ms; a chunk each 25 cycles (0.1 s). */
static ff_status write_sample(const char *path, int samples, bool finish, ff_mcap_writer **open) {
    ff_mcap_writer_config config = ff_mcap_writer_config_default();
    config.codec = sample_codec;
    ff_mcap_writer *w;
    ff_status status = ff_mcap_writer_open(path, &config, &w);
    if (status != FF_OK)
        return status;
    uint16_t schemas[FF_MESSAGE_KINDS] = {0}, ch[FF_MESSAGE_KINDS + 1];
    static const char *const topics[FF_MESSAGE_KINDS] = {"/wrench",
                                                         "/pose",
                                                         "/twist",
                                                         "/joints",
                                                         "/energy",
                                                         "/timing",
                                                         "/state",
                                                         "/event",
                                                         "/clock",
                                                         "/tf",
                                                         "/robot_description",
                                                         "/scene",
                                                         "/diagnostics",
                                                         "/ros_clock"};
    for (int i = 0; i < FF_MESSAGE_KINDS && status == FF_OK; i++)
        status = ff_message_add_channel(w, schemas, (ff_message_kind)i, topics[i], NULL, 0, &ch[i]);
    if (status == FF_OK) /* two become equal as fields, one begins with a digit */
        status = ff_message_add_columns(w, "Cycle", "/cycle",
                                        "t [s],a.b.x [m],a.b_x [m],7.up,A b [m/s],c5,c6", &ch[CYCLE]);
    const ff_mcap_pair run[] = {{"scenario", "name: sample\n"}, {"version", FF_VERSION}};
    if (status == FF_OK)
        status = ff_mcap_writer_metadata(w, "freefloat", run, 2);
    if (status == FF_OK)
        status = ff_mcap_writer_attachment(w, "scenario.yaml", "text/yaml", epoch, "name: sample\n", 13);
    for (int k = 0; k < samples && status == FF_OK; k++) {
        const uint64_t t = epoch + (uint64_t)k * 4000000u;
        uint8_t b[1024];
        size_t n;
        const ff_vec3 u = ff_vec3_make(k, 0.5 * k, -k), v = ff_vec3_make(1, 2, 3);
        const char *const names[] = {"a1", "axis_2", "x"};
        const double q[] = {0.1 * k, 2, 3};
        double values[COLUMNS];
        for (int i = 0; i < COLUMNS; i++)
            values[i] = column(k, i);
#define WRITE(kind, encode)                                                       \
    do {                                                                          \
        if (status == FF_OK)                                                      \
            status = (encode);                                                    \
        if (status == FF_OK)                                                      \
            status = ff_mcap_writer_message(w, ch[kind], t, t - PUBLISHED, b, n); \
    } while (0)
        WRITE(FF_MESSAGE_WRENCH_STAMPED,
              ff_message_wrench(t, "ft_sensor", (ff_wrench){v, u}, b, sizeof b, &n));
        WRITE(FF_MESSAGE_POSE_STAMPED,
              ff_message_pose(t, "world", (ff_pose){{0.8, 0.6, 0, 0}, u}, b, sizeof b, &n));
        WRITE(FF_MESSAGE_TWIST_STAMPED, ff_message_twist(t, "w", (ff_twist){v, u}, b, sizeof b, &n));
        WRITE(FF_MESSAGE_JOINT_STATE,
              ff_message_joints(t, "", 3, names, q, k % 2 ? q : NULL, NULL, b, sizeof b, &n));
        WRITE(FF_MESSAGE_ENERGY,
              ff_message_put_energy(t, &(ff_message_energy){k, 2, -3, 4}, b, sizeof b, &n));
        WRITE(FF_MESSAGE_TIMING,
              ff_message_put_timing(t, &(ff_message_timing){(uint64_t)k, 1e-6, 2e-6, 3e-6, 4, 5}, b, sizeof b,
                                    &n));
        WRITE(FF_MESSAGE_CLOCK,
              ff_message_put_clock(t, &(ff_message_clock){2e-4, k, -1e-3, 5e-4}, b, sizeof b, &n));
        if (k % 100 == 0) {
            WRITE(FF_MESSAGE_STATE, ff_message_state(t, 4, "FLOAT", b, sizeof b, &n));
            WRITE(FF_MESSAGE_EVENT, ff_message_event(t, -9, 2, "force limit", 12.5, 10, b, sizeof b, &n));
        }
        const ff_message_transform frames[] = {
            {"inertial", "client", {{0.8, 0.6, 0, 0}, u}},
            {"inertial", "client/robot", {{1, 0, 0, 0}, v}},
        };
        WRITE(FF_MESSAGE_TF, ff_message_tf(t, 2, frames, b, sizeof b, &n));
        if (k % 100 == 0) {
            const ff_vec3 ends[] = {u, v};
            const ff_message_marker markers[] = {{.frame = "inertial",
                                                  .ns = "walls",
                                                  .id = k,
                                                  .shape = FF_SHAPE_CUBE,
                                                  .pose = {{0.8, 0.6, 0, 0}, u},
                                                  .scale = v,
                                                  .color = {0.25f, 0.5f, 0.75f, 1.0f}},
                                                 {.frame = "client",
                                                  .ns = "f",
                                                  .id = -1,
                                                  .shape = FF_SHAPE_LINES,
                                                  .gone = true,
                                                  .pose = {{1, 0, 0, 0}, v},
                                                  .scale = v,
                                                  .point = ends,
                                                  .points = 2}};
            WRITE(FF_MESSAGE_MARKERS, ff_message_markers(t, 2, markers, b, sizeof b, &n));
        }
        if (k % 100 == 0)
            WRITE(FF_MESSAGE_TEXT, ff_message_text("<robot name=\"a\"/>", b, sizeof b, &n));
        if (k % 100 == 0) {
            const ff_message_diagnostic health = {1, "loop", "late", "pc", 1, {{"late [s]", "0.001"}}};
            WRITE(FF_MESSAGE_DIAGNOSTICS, ff_message_diagnostics(t, 1, &health, b, sizeof b, &n));
            WRITE(FF_MESSAGE_TIME, ff_message_time(t, b, sizeof b, &n));
        }
        WRITE(CYCLE, ff_message_cycle(t, (uint64_t)k, values, COLUMNS, b, sizeof b, &n));
        if (k % 25 == 24 && status == FF_OK)
            status = ff_mcap_writer_flush(w);
        if (k % 25 == 24 && status == FF_OK && sync_each_chunk)
            status = ff_mcap_writer_sync(w);
    }
    if (!finish) {
        *open = w;
        return status;
    }
    const ff_status closed = ff_mcap_writer_close(w);
    return status != FF_OK ? status : closed;
}

typedef struct counts {
    int messages, cycles, errors;
    uint64_t last_cycle;
    ff_mcap_reader_info info;
} counts;

/* Reads all; each cycle must carry its own bits. */
static counts read_all(ff_mcap_reader *r) {
    counts c = {0};
    for (;;) {
        ff_mcap_message m;
        bool end;
        const ff_status status = ff_mcap_reader_next(r, &m, &end);
        if (end)
            break;
        if (status != FF_OK) {
            assert_true(++c.errors < 1000);
            continue;
        }
        c.messages++;
        const ff_mcap_channel *channel = ff_mcap_reader_channel(r, m.channel);
        assert_non_null(channel);
        if (!ff_mcap_text_equal(channel->topic, "/cycle"))
            continue;
        double values[COLUMNS];
        uint64_t time, cycle;
        size_t n;
        assert_int_equal(ff_message_read_cycle(m.data, m.size, &time, &cycle, values, COLUMNS, &n), FF_OK);
        assert_true(n == COLUMNS && time == m.log_time && time == m.publish_time + PUBLISHED &&
                    time == epoch + cycle * 4000000u && m.sequence == cycle);
        for (int i = 0; i < COLUMNS; i++) {
            const double want = column((int)cycle, i);
            assert_memory_equal(&values[i], &want, sizeof want);
        }
        c.last_cycle = cycle;
        c.cycles++;
    }
    c.info = ff_mcap_reader_get_info(r);
    return c;
}

static uint8_t *slurp(const char *path, size_t *size) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    *size = (size_t)info.st_size;
    uint8_t *bytes = malloc(*size);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static void test_crc32(void **state) {
    (void)state;
    assert_true(ff_mcap_crc32(0, "123456789", 9) == 0xcbf43926u); /* the catalogue's check value */
    assert_true(ff_mcap_crc32(ff_mcap_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926u);
    assert_true(ff_mcap_crc32(0, "", 0) == 0);
    /* bit by bit, any length and any cut */
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int n = 0; n < 200; n++) {
        uint8_t bytes[300];
        const size_t size = (size_t)(301.0 * ff_rng_uniform(&rng)),
                     cut = (size_t)((double)(size + 1) * ff_rng_uniform(&rng));
        uint32_t crc = 0xffffffffu;
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)(256.0 * ff_rng_uniform(&rng));
            crc ^= bytes[i];
            for (int k = 0; k < 8; k++)
                crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
        assert_true(ff_mcap_crc32(0, bytes, size) == ~crc);
        assert_true(ff_mcap_crc32(ff_mcap_crc32(0, bytes, cut), bytes + cut, size - cut) == ~crc);
        assert_true(ff_mcap_crc32_join(ff_mcap_crc32(0, bytes, cut),
                                       ff_mcap_crc32(0, bytes + cut, size - cut), size - cut) == ~crc);
    }
}

static void whole_file(void) {
    char path[512];
    path_of("whole", path, sizeof path);
    assert_int_equal(write_sample(path, SAMPLES, true, NULL), FF_OK);
    ff_mcap_reader *r;
    assert_int_equal(ff_mcap_reader_open(path, &r), FF_OK);
    for (int pass = 0; pass < 2; pass++) {
        const counts c = read_all(r);
        assert_int_equal(c.cycles, SAMPLES);
        assert_int_equal(c.messages, 9 * SAMPLES + 6 * SAMPLES / 100);
        assert_int_equal(c.errors, 0);
        assert_true(c.info.closed && !c.info.truncated && c.info.summary == FF_OK);
        assert_true(c.info.messages == (uint64_t)c.messages);
        ff_mcap_reader_rewind(r);
    }
    const ff_mcap_channel *channel = ff_mcap_reader_channel(r, CYCLE + 1);
    ff_mcap_text text;
    assert_int_equal(ff_mcap_map_get(channel->metadata, "columns", &text), FF_OK);
    assert_true(ff_mcap_text_equal(text, "t [s],a.b.x [m],a.b_x [m],7.up,A b [m/s],c5,c6"));
    assert_int_equal(ff_mcap_map_get(channel->metadata, "nothing", &text), FF_ERR_ARGUMENT);
    assert_int_equal(ff_mcap_map_get((ff_mcap_text){"abc", 3}, "a", &text), FF_ERR_FORMAT);
    assert_true(ff_mcap_text_equal(channel->encoding, "cdr"));
    const ff_mcap_schema *schema = ff_mcap_reader_schema(r, channel->schema);
    assert_true(ff_mcap_text_equal(schema->name, "freefloat_msgs/msg/Cycle"));
    assert_true(ff_mcap_text_equal(schema->encoding, "ros2msg"));
    for (int id = 1; id <= FF_MESSAGE_KINDS; id++) { /* one schema a kind, with what it depends on */
        schema = ff_mcap_reader_schema(r, (uint16_t)id);
        assert_non_null(memmem(schema->name.at, schema->name.size, "/msg/", 5));
        if (id != FF_MESSAGE_TEXT + 1) /* a text has no time of its own */
            assert_non_null(memmem(schema->data.at, schema->data.size, "MSG: builtin_interfaces/Time\n", 29));
    }
    assert_null(ff_mcap_reader_channel(r, 500));
    assert_null(ff_mcap_reader_schema(r, 0));
    assert_int_equal(ff_mcap_reader_metadata(r, "freefloat", "scenario", &text), FF_OK);
    assert_true(ff_mcap_text_equal(text, "name: sample\n"));
    assert_int_equal(ff_mcap_reader_metadata(r, "freefloat", "nothing", &text), FF_ERR_ARGUMENT);
    assert_int_equal(ff_mcap_reader_metadata(r, "nothing", "scenario", &text), FF_ERR_ARGUMENT);
    assert_int_equal(ff_mcap_reader_attachment(r, "scenario.yaml", &text), FF_OK);
    assert_true(ff_mcap_text_equal(text, "name: sample\n"));
    assert_int_equal(ff_mcap_reader_attachment(r, "nothing", &text), FF_ERR_ARGUMENT);
    ff_mcap_reader_close(r);
    unlink(path);
}

static void test_whole_file(void **state) {
    (void)state;
    whole_file();
    sample_codec = ff_codec_zstd();
    if (sample_codec) /* the same messages, and fewer bytes */
        whole_file();
    sample_codec = NULL;
}

/* Cut at n: every message of the chunks that lie whole before n, none of the rest. In the short form close
 * together around the ends of records, where something changes, and wide apart within them. */
static void test_cut_anywhere(void **state) {
    (void)state;
    char path[512];
    path_of("cut", path, sizeof path);
    assert_int_equal(write_sample(path, 100, true, NULL), FF_OK);
    size_t size;
    uint8_t *bytes = slurp(path, &size);
    unlink(path);
    size_t ends[8] = {0};
    int chunks = 0;
    uint8_t *busy = calloc(size, 1); /* near the end of a record */
    for (size_t pos = 8; bytes[pos] != 0x0f;) {
        memset(busy + (pos > 32 ? pos - 32 : 0), 1, pos > 32 ? 64 : 32);
        uint64_t length = 0;
        for (int i = 7; i >= 0; i--)
            length = length << 8 | bytes[pos + 1 + (size_t)i];
        const int op = bytes[pos];
        pos += 9 + length;
        if (op == 6)
            ends[chunks++] = pos;
    }
    assert_int_equal(chunks, 4);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (size_t n = 0; n < size; n += test_long() ? 1 : 1 + ff_rng_next(&rng) % (busy[n] ? 40 : 600)) {
        uint8_t *cut = malloc(n ? n : 1); /* its own block, so that a sanitizer sees a read beyond */
        memcpy(cut, bytes, n);
        ff_mcap_reader *r;
        const ff_status status = ff_mcap_reader_memory(cut, n, &r);
        assert_int_equal(status, n < 8 ? FF_ERR_FORMAT : FF_OK);
        if (status == FF_OK) {
            const counts c = read_all(r);
            int want = 0;
            for (int i = 0; i < chunks; i++)
                want += n >= ends[i] ? 25 : 0;
            assert_int_equal(c.cycles, want);
            assert_int_equal(c.errors, 0);
            assert_false(c.info.closed);
            ff_mcap_reader_close(r);
        }
        free(cut);
    }
    free(busy);
    free(bytes);
}

/* kill -9 after k cycles with a flush each 25: at most 25 are lost. */
static void test_killed_writer(void **state) {
    (void)state;
    char path[512];
    path_of("killed", path, sizeof path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ff_mcap_writer *w;
        write_sample(path, 180, false, &w);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ff_mcap_reader *r;
    assert_int_equal(ff_mcap_reader_open(path, &r), FF_OK);
    const counts c = read_all(r);
    assert_int_equal(c.cycles, 175);
    assert_int_equal(c.errors, 0);
    assert_false(c.info.closed);
    assert_int_equal(c.info.summary, FF_INFO_GAP);
    ff_mcap_reader_close(r);
    unlink(path);
}

/* One flipped bit is always noticed: a chunk, the data's checksum, or the summary's. */
static void test_damage_is_noticed(void **state) {
    (void)state;
    char path[512];
    path_of("damage", path, sizeof path);
    assert_int_equal(write_sample(path, 100, true, NULL), FF_OK);
    size_t size;
    uint8_t *bytes = slurp(path, &size);
    unlink(path);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int i = 0; i < test_count(400, 20000); i++) {
        const size_t at = 8 + (size_t)(ff_rng_next(&rng) % (size - 8));
        const uint8_t bit = (uint8_t)(1u << ff_rng_next(&rng) % 8);
        bytes[at] ^= bit;
        ff_mcap_reader *r;
        if (ff_mcap_reader_memory(bytes, size, &r) == FF_OK) {
            int faults = 0;
            for (;;) { /* values may be damaged where only the last checksum can tell: do not compare them */
                ff_mcap_message m;
                bool end;
                const ff_status status = ff_mcap_reader_next(r, &m, &end);
                if (end)
                    break;
                faults += status != FF_OK;
            }
            const ff_mcap_reader_info info = ff_mcap_reader_get_info(r);
            if (!faults && info.closed && info.summary == FF_OK)
                fail_msg("bit %02x of byte %zu of %zu went unnoticed", bit, at, size);
            ff_mcap_reader_close(r);
        }
        bytes[at] ^= bit;
    }
    /* damage inside one chunk costs that chunk only */
    ff_mcap_reader *r;
    size_t chunk = 8;
    while (bytes[chunk] != 6) {
        uint64_t length = 0;
        for (int i = 7; i >= 0; i--)
            length = length << 8 | bytes[chunk + 1 + (size_t)i];
        chunk += 9 + length;
    }
    bytes[chunk + 500] ^= 1;
    assert_int_equal(ff_mcap_reader_memory(bytes, size, &r), FF_OK);
    counts c = read_all(r);
    assert_int_equal(c.cycles, 75);
    assert_int_equal(c.errors, 2); /* the chunk and the data's checksum */
    assert_true(c.info.bad_chunks == 1);
    ff_mcap_reader_close(r);
    bytes[chunk + 500] ^= 1;
    /* a compressed chunk is said to be unsupported: name it by growing its compression string over the length
     * field */
    bytes[chunk + 9 + 28] = 1;
    assert_int_equal(ff_mcap_reader_memory(bytes, size, &r), FF_OK);
    ff_mcap_message m;
    bool end;
    const ff_status status = ff_mcap_reader_next(r, &m, &end);
    assert_true(status == FF_ERR_FORMAT || status == FF_ERR_UNSUPPORTED);
    ff_mcap_reader_close(r);
    free(bytes);
}

/* One flipped bit anywhere, in a closed file and in one that was never closed: every row that stands in no
 * damaged chunk is there, with its own bits; at most one chunk (25 rows) is lost. */
static void flip_bits(void) {
    char path[512];
    path_of("flip", path, sizeof path);
    ff_mcap_writer *open = NULL;
    for (int closed = 0; closed < 2; closed++) {
        assert_int_equal(write_sample(path, 100, closed, &open), FF_OK);
        size_t size;
        uint8_t *bytes = slurp(path, &size);
        if (!closed)
            ff_mcap_writer_close(open);
        unlink(path);
        ff_rng rng;
        ff_rng_seed(&rng, test_seed(), 5);
        int lossless = 0;
        const int flips = test_count(150, 20000);
        for (int i = 0; i < flips; i++) {
            /* heads of records are rare: half of the bits fall into one */
            size_t at = (size_t)(ff_rng_next(&rng) % size);
            if (i % 2) {
                const int number = (int)(ff_rng_next(&rng) % 40);
                at = 8;
                for (int n = 0; n < number; n++) {
                    uint64_t length = 0;
                    for (int b = 7; b >= 0; b--)
                        length = length << 8 | bytes[at + 1 + (size_t)b];
                    if (at + 9 + length >= size - 9)
                        break;
                    at += 9 + length;
                }
                at += (size_t)(ff_rng_next(&rng) % 9);
            }
            const uint8_t bit = (uint8_t)(1u << ff_rng_next(&rng) % 8);
            bytes[at] ^= bit;
            ff_mcap_reader *r;
            if (ff_mcap_reader_memory(bytes, size, &r) != FF_OK)
                fail_msg("bit %02x of byte %zu of %zu: not opened", bit, at, size);
            const counts c = read_all(r);
            if (c.cycles != 100 && c.cycles != 75)
                fail_msg("bit %02x of byte %zu of %zu, closed %d: %d rows", bit, at, size, closed, c.cycles);
            if (c.cycles == 75 && !c.errors && !c.info.truncated)
                fail_msg("bit %02x of byte %zu of %zu, closed %d: 25 rows lost in silence", bit, at, size,
                         closed);
            lossless += c.cycles == 100;
            ff_mcap_reader_close(r);
            bytes[at] ^= bit;
        }
        assert_in_range(lossless, 1, flips - 1); /* both were drawn */
        free(bytes);
    }
}

static void test_a_flipped_bit_costs_one_chunk(void **state) {
    (void)state;
    flip_bits();
    sample_codec = ff_codec_zstd();
    if (sample_codec)
        flip_bits();
    sample_codec = NULL;
}

/* Compressed chunks: smaller by what rows have in common; a chunk that claims more than it holds, or more
 * than a program would ever write, is passed over and said. */
static void test_compressed_chunks(void **state) {
    (void)state;
    if (!ff_codec_zstd())
        test_skip("built without libzstd");
    char path[512];
    path_of("packed", path, sizeof path);
    size_t plain, packed;
    assert_int_equal(write_sample(path, 100, true, NULL), FF_OK);
    free(slurp(path, &plain));
    sample_codec = ff_codec_zstd();
    assert_int_equal(write_sample(path, 100, true, NULL), FF_OK);
    sample_codec = NULL;
    uint8_t *bytes = slurp(path, &packed);
    unlink(path);
    assert_true(packed < plain / 2);
    const uint8_t *chunk = memmem(bytes, packed, "\4\0\0\0zstd", 8);
    assert_non_null(chunk);
    uint8_t *claim = bytes + (chunk - bytes) - 12; /* uncompressed size, in front of CRC and name */
    static const struct {
        size_t byte;
        uint8_t value;
        ff_status want;
    } claims[] = {{0, 1, FF_ERR_FORMAT}, {4, 1, FF_ERR_UNSUPPORTED}, {7, 0x80, FF_ERR_UNSUPPORTED}};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        claim[claims[i].byte] ^= claims[i].value;
        ff_mcap_reader *r;
        assert_int_equal(ff_mcap_reader_memory(bytes, packed, &r), FF_OK);
        ff_mcap_message m;
        bool end;
        assert_int_equal(ff_mcap_reader_next(r, &m, &end), claims[i].want);
        const counts c = read_all(r);
        assert_int_equal(c.cycles, 75);
        assert_true(c.info.bad_chunks == 1);
        ff_mcap_reader_close(r);
        claim[claims[i].byte] ^= claims[i].value;
    }
    free(bytes);
}

/* A file that is cut while it is read: a status once, then the end. */
static void test_a_file_that_shrinks_is_said(void **state) {
    (void)state;
    char path[512];
    path_of("shrink", path, sizeof path);
    for (int part = 0; part < 4; part++) {
        assert_int_equal(write_sample(path, 200, true, NULL), FF_OK);
        ff_mcap_reader *r;
        assert_int_equal(ff_mcap_reader_open(path, &r), FF_OK);
        ff_mcap_message m;
        bool end = false;
        for (int i = 0; i < 50 * part; i++)
            assert_int_equal(ff_mcap_reader_next(r, &m, &end), FF_OK);
        assert_int_equal(truncate(path, 100), 0);
        ff_status status = FF_OK;
        int messages = 0;
        while (status == FF_OK && !end) { /* what was read already, no more */
            status = ff_mcap_reader_next(r, &m, &end);
            assert_true(++messages <= 8 * 25 + 4);
        }
        assert_int_equal(status, FF_ERR_IO);
        assert_int_equal(ff_mcap_reader_next(r, &m, &end), FF_OK);
        assert_true(end);
        ff_mcap_text text;
        assert_int_equal(ff_mcap_reader_attachment(r, "scenario.yaml", &text), FF_ERR_IO);
        ff_mcap_reader_close(r);
    }
    unlink(path);
}

static void test_compressed_chunk_is_unsupported(void **state) {
    (void)state;
    uint8_t file[8 + 9 + 8 + 8 + 8 + 4 + 4 + 3 + 8];
    memset(file, 0, sizeof file);
    memcpy(file, "\x89MCAP0\r\n", 8);
    file[8] = 6;
    file[9] = sizeof file - 17;
    file[17 + 28] = 3;
    memcpy(file + 17 + 32, "lz4", 3);
    ff_mcap_reader *r;
    assert_int_equal(ff_mcap_reader_memory(file, sizeof file, &r), FF_OK);
    ff_mcap_message m;
    bool end;
    assert_int_equal(ff_mcap_reader_next(r, &m, &end), FF_ERR_UNSUPPORTED);
    assert_int_equal(ff_mcap_reader_next(r, &m, &end), FF_OK);
    assert_true(end && ff_mcap_reader_get_info(r).bad_chunks == 1);
    ff_mcap_reader_close(r);
}

/* ------------------------------------------------------------------------------- files made by hand -- */

enum {
    SCHEMA = 3,
    CHANNEL,
    MESSAGE,
    CHUNK,
    DATA_END = 15,
    METADATA = 12,
    ATTACHMENT = 9,
    FOOTER = 2,
    UNKNOWN = 99
};

typedef struct made {
    uint8_t bytes[1024];
    size_t n;
} made;

static void number(made *m, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        m->bytes[m->n++] = (uint8_t)(value >> 8 * i);
}

static void append(made *m, const void *bytes, size_t n) {
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
}

static void record(made *m, int op, const made *body, size_t said) {
    number(m, (uint64_t)op, 1);
    number(m, said, 8);
    append(m, body->bytes, body->n);
}

static made text_body(int numbers, const uint64_t *value, const int *bytes, int texts) {
    made b = {.n = 0};
    for (int i = 0; i < numbers; i++)
        number(&b, value[i], bytes[i]);
    for (int i = 0; i < texts; i++)
        number(&b, 0, 4);
    return b;
}

#define BODY(texts, bytes, ...) \
    text_body((int)(sizeof(uint64_t[]){__VA_ARGS__} / 8), (uint64_t[]){__VA_ARGS__}, (int[])bytes, texts)
#define SIZES(...) \
    { __VA_ARGS__ }

static made magic(void) {
    made m = {.n = 0};
    append(&m, "\x89MCAP0\r\n", 8);
    return m;
}

/* A chunk of these records, without a checksum. */
static made chunk_of(const made *records, uint64_t plain) {
    made b = {.n = 0};
    number(&b, 0, 8);
    number(&b, 0, 8);
    number(&b, plain, 8);
    number(&b, 0, 4);
    number(&b, 0, 4);
    number(&b, records->n, 8);
    append(&b, records->bytes, records->n);
    return b;
}

/* What each wrong record costs: itself or its chunk, never what follows. A good message comes after it. */
static void test_one_wrong_record_costs_no_other(void **state) {
    (void)state;
    const made schema = BODY(3, SIZES(2), 1), channel = BODY(3, SIZES(2, 2), 1, 1),
               message = BODY(0, SIZES(2, 4, 8, 8), 1, 7, 100, 90), no_schema = BODY(3, SIZES(2), 0),
               short_schema = BODY(1, SIZES(2), 2), short_channel = BODY(1, SIZES(2, 2), 2, 0),
               stranger = BODY(0, SIZES(2, 4, 8, 8), 9, 0, 0, 0), short_message = BODY(0, SIZES(2), 1),
               nothing = {.n = 0}, cut = BODY(0, SIZES(2), 0);
    made inner = {.n = 0}, longer = {.n = 0}, nested = {.n = 0}, ended = {.n = 0}, unknown = {.n = 0};
    record(&inner, MESSAGE, &message, message.n);
    record(&longer, MESSAGE, &message, message.n + 50); /* its length leads out of the chunk */
    const made good_chunk = chunk_of(&inner, inner.n), bad_length = chunk_of(&longer, longer.n),
               other_size = chunk_of(&inner, inner.n + 1);
    record(&nested, CHUNK, &good_chunk, good_chunk.n);
    record(&ended, DATA_END, &cut, cut.n);
    record(&unknown, MESSAGE, &stranger, stranger.n);
    record(&unknown, MESSAGE, &short_message, short_message.n);
    record(&unknown, MESSAGE, &message, message.n);
    const made chunk_in_chunk = chunk_of(&nested, nested.n), end_in_chunk = chunk_of(&ended, ended.n),
               stranger_in_chunk = chunk_of(&unknown, unknown.n);
    const struct {
        int op;
        const made *body;
        int errors, messages, bad_chunks;
    } cases[] = {{UNKNOWN, &schema, 1, 1, 0}, /* it may have been a chunk: passed over, and said */
                 {SCHEMA, &schema, 0, 1, 0},
                 {SCHEMA, &no_schema, 1, 1, 0},
                 {SCHEMA, &short_schema, 1, 1, 0},
                 {CHANNEL, &channel, 0, 1, 0}, /* said twice: the first counts */
                 {CHANNEL, &short_channel, 1, 1, 0},
                 {MESSAGE, &message, 1, 1, 0},
                 {MESSAGE, &stranger, 1, 1, 0}, /* in no chunk: without a checksum */
                 {MESSAGE, &short_message, 1, 1, 0},
                 {CHUNK, &good_chunk, 0, 2, 0},
                 {CHUNK, &other_size, 1, 1, 1},
                 {CHUNK, &cut, 1, 1, 1},
                 {CHUNK, &bad_length, 1, 1, 1},
                 {CHUNK, &chunk_in_chunk, 1, 1, 0},
                 {CHUNK, &end_in_chunk, 1, 1, 0},
                 {CHUNK, &stranger_in_chunk, 2, 2, 0},
                 /* of no channel, too short */ {DATA_END, &cut, 1, 1, 0},
                 {FOOTER, &nothing, 1, 1, 0}}; /* no end: that is at the end */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made m = magic();
        record(&m, SCHEMA, &schema, schema.n);
        record(&m, CHANNEL, &channel, channel.n);
        record(&m, cases[i].op, cases[i].body, cases[i].body->n);
        record(&m, CHUNK, &good_chunk, good_chunk.n);
        ff_mcap_reader *r;
        assert_int_equal(ff_mcap_reader_memory(m.bytes, m.n, &r), FF_OK);
        int errors = 0, messages = 0;
        for (bool end = false; !end;) {
            ff_mcap_message got = {0};
            const ff_status status = ff_mcap_reader_next(r, &got, &end);
            errors += status != FF_OK;
            if (status == FF_OK && !end) {
                assert_true(got.sequence == 7 && got.log_time == 100 && got.publish_time == 90);
                messages++;
            }
        }
        if (errors != cases[i].errors || messages != cases[i].messages ||
            ff_mcap_reader_get_info(r).bad_chunks != (uint64_t)cases[i].bad_chunks)
            fail_msg("case %zu: %d errors, %d messages", i, errors, messages);
        assert_int_equal(ff_mcap_reader_schema(r, 1)->id, 1);
        assert_null(ff_mcap_reader_schema(r, 2));
        ff_mcap_reader_close(r);
    }
}

/* The footer's summary: none, in its place, before the file, behind it, with a wrong checksum, of broken
 * records. */
static void test_summaries_are_checked(void **state) {
    (void)state;
    const made statistics = BODY(0, SIZES(8), 41), nothing = {.n = 0};
    static const struct {
        uint64_t at;
        uint32_t crc;
        bool broken;
        int op;
        bool closed;
        ff_status summary;
    } cases[] = {{0, 0, false, FOOTER, true, FF_INFO_GAP},       {8, 0, false, FOOTER, true, FF_OK},
                 {7, 0, false, FOOTER, true, FF_ERR_FORMAT},     {900, 0, false, FOOTER, true, FF_ERR_FORMAT},
                 {8, 12345, false, FOOTER, true, FF_ERR_FORMAT}, {8, 0, true, FOOTER, true, FF_ERR_FORMAT},
                 {8, 0, false, UNKNOWN, false, FF_INFO_GAP}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made m = magic();
        record(&m, 11, &statistics, statistics.n + (cases[i].broken ? 90 : 0));
        const made footer = BODY(0, SIZES(8, 8, 4), cases[i].at, 0, cases[i].crc);
        record(&m, cases[i].op, &footer, footer.n);
        append(&m, "\x89MCAP0\r\n", 8);
        ff_mcap_reader *r;
        assert_int_equal(ff_mcap_reader_memory(m.bytes, m.n, &r), FF_OK);
        const ff_mcap_reader_info info = ff_mcap_reader_get_info(r);
        if (info.closed != cases[i].closed || info.summary != cases[i].summary)
            fail_msg("case %zu: closed %d, summary %d", i, info.closed, info.summary);
        assert_int_equal(info.messages, info.summary == FF_OK ? 41 : 0);
        ff_mcap_reader_close(r);
    }
    /* metadata and attachments that are cut, or whose checksum is wrong, are not taken for absent */
    made m = magic(), named = {.n = 0}, attached = {.n = 0};
    number(&named, 1, 4);
    append(&named, "n", 1);
    number(&named, 3, 4); /* a map of three bytes: not even a key */
    append(&named, "abc", 3);
    record(&m, METADATA, &named, named.n);
    number(&attached, 0, 8);
    number(&attached, 0, 8);
    number(&attached, 1, 4);
    append(&attached, "a", 1);
    number(&attached, 0, 4);
    number(&attached, 2, 8);
    append(&attached, "hi", 2);
    number(&attached, 77, 4); /* its checksum */
    record(&m, ATTACHMENT, &attached, attached.n);
    ff_mcap_reader *r;
    ff_mcap_text text;
    assert_int_equal(ff_mcap_reader_memory(m.bytes, m.n, &r), FF_OK);
    assert_int_equal(ff_mcap_reader_metadata(r, "n", "k", &text), FF_ERR_FORMAT);
    assert_int_equal(ff_mcap_reader_metadata(r, "other", "k", &text), FF_ERR_ARGUMENT);
    assert_int_equal(ff_mcap_reader_attachment(r, "a", &text), FF_ERR_FORMAT);
    assert_int_equal(ff_mcap_reader_attachment(r, "b", &text), FF_ERR_ARGUMENT);
    memset(m.bytes + m.n - 4, 0, 4); /* without a checksum it is taken as it is */
    assert_int_equal(ff_mcap_reader_attachment(r, "a", &text), FF_OK);
    assert_true(ff_mcap_text_equal(text, "hi"));
    ff_mcap_reader_close(r);
    made short_one = magic();
    record(&short_one, METADATA, &nothing, 0);
    record(&short_one, ATTACHMENT, &nothing, 0);
    assert_int_equal(ff_mcap_reader_memory(short_one.bytes, short_one.n, &r), FF_OK);
    assert_int_equal(ff_mcap_reader_metadata(r, "n", "k", &text), FF_ERR_FORMAT);
    assert_int_equal(ff_mcap_reader_attachment(r, "a", &text), FF_ERR_FORMAT);
    ff_mcap_reader_close(r);
}

static void test_writer_refuses(void **state) {
    (void)state;
    char path[512];
    path_of("refuse", path, sizeof path);
    const ff_mcap_writer_config config = ff_mcap_writer_config_default();
    ff_mcap_writer *w;
    uint16_t id;
    assert_int_equal(ff_mcap_writer_open("/nonexistent/x.mcap", &config, &w), FF_ERR_IO);
    assert_null(w);
    assert_int_equal(ff_mcap_writer_open(path, &config, &w), FF_OK);
    assert_int_equal(ff_mcap_writer_add_channel(w, 1, "/t", "cdr", NULL, 0, &id), FF_ERR_ARGUMENT);
    assert_int_equal(ff_mcap_writer_message(w, 0, 0, 0, "", 0), FF_ERR_ARGUMENT);
    assert_int_equal(ff_mcap_writer_message(w, 1, 0, 0, "", 0), FF_ERR_ARGUMENT);
    assert_int_equal(ff_mcap_writer_add_channel(w, 0, "/t", "raw", NULL, 0, &id), FF_OK);
    for (int i = 0; i < 70000; i++) {
        const ff_status status = ff_mcap_writer_add_channel(w, 0, "/t", "raw", NULL, 0, &id);
        assert_int_equal(status, id == UINT16_MAX && i > 65533 ? FF_ERR_SIZE : FF_OK);
    }
    assert_int_equal(ff_mcap_writer_close(w), FF_OK); /* a refusal is not a fault of the file */
    assert_int_equal(ff_mcap_writer_close(NULL), FF_OK);
    ff_mcap_reader *r;
    assert_int_equal(ff_mcap_reader_open(path, &r), FF_OK);
    assert_int_equal(read_all(r).messages, 0);
    assert_int_equal(ff_mcap_reader_get_info(r).summary, FF_OK);
    ff_mcap_reader_close(r);
    unlink(path);
    assert_int_equal(ff_mcap_reader_open("/nonexistent/x.mcap", &r), FF_ERR_IO);
    assert_int_equal(ff_mcap_reader_open("/", &r), FF_ERR_IO);
    assert_int_equal(ff_mcap_reader_open("/dev/null", &r), FF_ERR_IO);
    assert_int_equal(ff_mcap_reader_memory("\x89MCAP0\r", 7, &r), FF_ERR_FORMAT);
    assert_int_equal(ff_mcap_reader_memory("not an mcap file", 16, &r), FF_ERR_FORMAT);
    ff_mcap_reader_close(NULL);
}

/* ---------------------------------------------------------------------------------------- power cuts -- */

/* A disk that keeps what is written in sectors: fdatasync makes all of them lasting; at a cut each of the
 * others is there or not, whatever came before it, and the file is as long as any of them made it. */
enum { SECTOR = 512, DISK = 1 << 18, SECTORS = DISK / SECTOR };

static struct {
    bool on;
    uint8_t now[DISK], lasting[DISK];
    size_t size, lasting_size; /* [bytes] */
    int syncs;
    uint32_t left; /* calls of write and fdatasync until the power goes */
    bool dead;
} disk;

/* In place of libc's, for the log alone: a dead disk takes all and keeps nothing. */
ssize_t write(int fd, const void *bytes, size_t n) {
    if (!disk.on || fd <= 2)
        return syscall(SYS_write, fd, bytes, n);
    if (!disk.dead && disk.left-- == 0)
        disk.dead = true;
    if (!disk.dead) {
        assert_true(disk.size + n <= DISK);
        memcpy(disk.now + disk.size, bytes, n);
        disk.size += n;
    }
    return (ssize_t)n;
}

int fdatasync(int fd) {
    if (!disk.on)
        return (int)syscall(SYS_fdatasync, fd);
    if (!disk.dead && disk.left-- == 0)
        disk.dead = true;
    if (!disk.dead) {
        memcpy(disk.lasting, disk.now, disk.size);
        disk.lasting_size = disk.size;
        disk.syncs++;
    }
    return 0;
}

/* The bytes that are found after the cut. */
static size_t surviving(ff_rng *rng, uint8_t *bytes) {
    memcpy(bytes, disk.lasting, disk.lasting_size);
    memset(bytes + disk.lasting_size, 0, DISK - disk.lasting_size);
    size_t size = disk.lasting_size;
    const uint64_t kept = (uint64_t[]){0, 50, 99, 100}[ff_rng_next(rng) % 4]; /* [%] of the sectors */
    for (size_t at = disk.lasting_size / SECTOR * SECTOR; at < disk.size; at += SECTOR)
        if (ff_rng_next(rng) % 100 < kept) {
            const size_t end = at + SECTOR < disk.size ? at + SECTOR : disk.size;
            memcpy(bytes + at, disk.now + at, end - at);
            size = end > size ? end : size;
        }
    return size;
}

/* Chunks of 25 rows, a sync after each: whenever the power goes, every row that was synced is there with its
 * bits, and none that was not written. */
static void test_power_cuts_cost_nothing_that_was_synced(void **state) {
    (void)state;
    char path[512];
    path_of("power", path, sizeof path);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    static uint8_t bytes[DISK];
    int whole = 0, more = 0;
    for (int i = 0; i < test_count(200, 2000); i++) {
        memset(&disk, 0, sizeof disk);
        disk.left = (uint32_t)(ff_rng_next(&rng) % 60); /* of some 40 */
        disk.on = true;
        sync_each_chunk = true;
        assert_int_equal(write_sample(path, 100, true, NULL), FF_OK);
        sync_each_chunk = false;
        disk.on = false;
        unlink(path);
        const size_t size = surviving(&rng, bytes);
        ff_mcap_reader *r;
        if (ff_mcap_reader_memory(bytes, size, &r) != FF_OK) {
            assert_int_equal(disk.syncs, 0);
            continue;
        }
        const counts c = read_all(r); /* which compares every bit */
        const int synced = disk.syncs < 4 ? 25 * disk.syncs : 100;
        if (c.cycles < synced)
            fail_msg("%d rows of %d that were synced (cut %d)", c.cycles, synced, i);
        whole += disk.syncs == 5;
        more += c.cycles > synced;
        assert_true(disk.syncs < 5 || (c.info.closed && c.errors == 0));
        ff_mcap_reader_close(r);
    }
    print_message("%d logs were whole, in %d rows survived that were not synced\n", whole, more);
    assert_true(whole > 0); /* cuts fell before and after the end */
}

/* A disk that fills up: the limit on the file size stands for it, for it stops a write half way. */
static void test_full_disk(void **state) {
    (void)state;
    const ff_mcap_writer_config config = ff_mcap_writer_config_default();
    ff_mcap_writer *w;
    assert_int_equal(ff_mcap_writer_open("/dev/full", &config, &w), FF_ERR_IO);
    assert_null(w);
    char path[512];
    path_of("full", path, sizeof path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child ==
        0) { /* the limit holds for the whole process: in a child, which reports by its exit status */
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){200000, 200000});
        ff_mcap_writer *full = NULL;
        if (write_sample(path, SAMPLES, false, &full) != FF_ERR_IO)
            _exit(1);
        if (ff_mcap_writer_flush(full) != FF_ERR_IO ||
            ff_mcap_writer_message(full, 1, 0, 0, "", 0) != FF_ERR_IO)
            _exit(2);
        errno = 0;
        if (ff_mcap_writer_close(full) != FF_ERR_IO || errno != EFBIG)
            _exit(3);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    ff_mcap_reader *r;
    assert_int_equal(ff_mcap_reader_open(path, &r), FF_OK);
    const counts c = read_all(r);
    assert_true(c.cycles > 0 && c.cycles < SAMPLES && c.cycles % 25 == 0);
    assert_int_equal(c.errors, 0);
    assert_false(c.info.closed || c.info.truncated);
    ff_mcap_reader_close(r);
    unlink(path);
}

int main(void) {
    const char *sample = getenv("FF_MCAP_SAMPLE");
    if (sample)
        return write_sample(sample, SAMPLES, true, NULL) == FF_OK ? 0 : 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crc32),
                                       cmocka_unit_test(test_whole_file),
                                       cmocka_unit_test(test_cut_anywhere),
                                       cmocka_unit_test(test_killed_writer),
                                       cmocka_unit_test(test_damage_is_noticed),
                                       cmocka_unit_test(test_a_flipped_bit_costs_one_chunk),
                                       cmocka_unit_test(test_a_file_that_shrinks_is_said),
                                       cmocka_unit_test(test_power_cuts_cost_nothing_that_was_synced),
                                       cmocka_unit_test(test_compressed_chunk_is_unsupported),
                                       cmocka_unit_test(test_compressed_chunks),
                                       cmocka_unit_test(test_one_wrong_record_costs_no_other),
                                       cmocka_unit_test(test_summaries_are_checked),
                                       cmocka_unit_test(test_writer_refuses),
                                       cmocka_unit_test(test_full_disk)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
