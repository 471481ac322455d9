/* Any messages of a Foxglove client, parted by \0\n, the first byte of each: bit 0 binary, bit 1 a client
 * that came with the token. Each is answered or the client is closed; without the token nothing guarded
 * reaches the loop, and what does lies in its range. Then all that waits for the client is read. */
#include "live/foxglove.h"

#include <math.h>

#include "fuzz.h"

/* nothing is served here */
extern const unsigned char ff_live_page[];
extern const size_t ff_live_page_size;
const unsigned char ff_live_page[1] = {0};
const size_t ff_live_page_size = 1;

static const char text[] = "name: f\ntime: {cycle: 0.004, duration: 1}\nmethod: tdpa\nsatellites: {a b: "
                           "{mass: 1, inertia: [1, 1, 1]}}\n";

static ff_live *start(void) {
    static ff_scenario scenario;
    static ff_live_config config;
    char message[512], warnings[256];
    ff_live *live = aligned_alloc(64, (sizeof *live + 63) / 64 * 64);
    FUZZ_CHECK(live);
    memset(live, 0, sizeof *live);
    FUZZ_CHECK(ff_scenario_parse("F", text, sizeof text - 1, NULL, &scenario, message, sizeof message,
                                 warnings, sizeof warnings) == FF_OK);
    config.scenario = &scenario;
    live->open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_STOP);
    live->guarded = FF_LIVE_BIT(FF_LIVE_SET) | FF_LIVE_BIT(FF_LIVE_ZERO);
    live->control = live->loopback = true;
    live->last_t = -FF_INF;
    live->row = calloc(1, sizeof *live->row);
    live->parameters = 1;
    live->parameter[0] = (ff_live_parameter){.name = "gain", .low = 0.5, .high = 2.0, .value = 1.0};
    atomic_init(&live->parameter_now[0], 1.0);
    live->room.now = ff_clock_now;
    live->room.order = ff_live__order;
    live->room.overdue = ff_live__overdue;
    FUZZ_CHECK(live->row && ff_ring_create(&live->commands, sizeof(ff_live_command), FF_LIVE_QUEUE) == FF_OK);
    FUZZ_CHECK(ff_foxglove_create(live, &config, "session", &live->foxglove) == FF_OK);
    return live;
}

static void read_all(ff_foxglove_client *c) {
    ff_foxglove_out out;
    size_t sum = 0;
    for (int n = 0; ff_foxglove_calls.due(c) && ff_foxglove_calls.next(c, &out); n++) {
        FUZZ_CHECK(n < 10000 && out.head_size + out.size > 0);
        for (size_t i = 0; i < out.size; i += 61)
            sum += ((const unsigned char *)out.body)[i];
    }
    FUZZ_CHECK(sum); /* the greeting at least */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ff_live *live;
    if (!live)
        live = start();
    ff_foxglove_client *client[2];
    for (int i = 0; i < 2; i++)
        FUZZ_CHECK((client[i] = ff_foxglove_calls.enter(live->foxglove, (uint32_t)i + 1, i == 1)) != NULL);
    bool open[2] = {true, true};
    while (size > 0) {
        const uint8_t *end = memmem(bytes, size, "\0\n", 2);
        const size_t n = end ? (size_t)(end - bytes) : size;
        const int who = n ? bytes[0] >> 1 & 1 : 0;
        if (n && open[who]) {
            char *copy = malloc(n); /* a block of its own: no byte behind it */
            memcpy(copy, bytes + 1, n - 1);
            open[who] = ff_foxglove_calls.hear(client[who], copy, n - 1, bytes[0] & 1);
            free(copy);
            ff_foxglove_calls.tick(live->foxglove, true);
        }
        bytes += end ? n + 2 : n;
        size -= end ? n + 2 : n;
    }
    ff_live_command command;
    while (ff_ring_pop(&live->commands, &command)) {
        const unsigned bit = FF_LIVE_BIT(command.verb);
        FUZZ_CHECK((live->open | live->guarded) & bit);
        FUZZ_CHECK(!(live->guarded & bit) || command.viewer == 2);
        if (command.verb == FF_LIVE_SET)
            FUZZ_CHECK(command.parameter == 0 && command.value >= 0.5 && command.value <= 2.0);
        const ff_live_reply reply = {command.viewer, command.id, bit & live->open, "done"};
        ff_foxglove_calls.answer(client[command.viewer - 1], &reply);
    }
    for (int i = 0; i < 2; i++) {
        read_all(client[i]);
        ff_foxglove_calls.leave(client[i]);
    }
    return 0;
}
