/* Any requests of a ROS 2 client, parted by \0\n, the first byte of each its service: answered once or not at
 * all, with the asker's own numbers; what was not allowed never reaches the loop, and what does lies in its
 * range. */
#include "live/ros.h"

#include "fuzz.h"

/* nothing is served here */
extern const unsigned char ff_live_page[];
extern const size_t ff_live_page_size;
const unsigned char ff_live_page[1] = {0};
const size_t ff_live_page_size = 1;

static const char text[] = "name: f\ntime: {cycle: 0.004, duration: 1}\nmethod: tdpa\nsatellites: {a b: "
                           "{mass: 1, inertia: [1, 1, 1]}}\n";
static int replies;

static void publish(void *self, int topic, const void *bytes, size_t size) {
    (void)self;
    FUZZ_CHECK(topic >= 0 && bytes && size >= 4);
}

static void reply(void *self, int service, const void *bytes, size_t size) {
    (void)self;
    (void)service;
    FUZZ_CHECK(bytes && size >= 20);
    replies++;
}

static bool drain(ff_live *live) {
    (void)live;
    return false;
}

static ff_live *start(void) {
    static const ff_ros_wire wire = {NULL, publish, reply};
    static ff_scenario scenario;
    static ff_live_config config;
    char message[512], warnings[256];
    ff_live *live = aligned_alloc(64, (sizeof *live + 63) / 64 * 64);
    FUZZ_CHECK(live);
    memset(live, 0, sizeof *live);
    FUZZ_CHECK(ff_scenario_parse("F", text, sizeof text - 1, NULL, &scenario, message, sizeof message,
                                 warnings, sizeof warnings) == FF_OK);
    config.scenario = &scenario;
    config.allowed = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_SET);
    live->open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_STOP);
    live->guarded = FF_LIVE_BIT(FF_LIVE_SET) | FF_LIVE_BIT(FF_LIVE_ZERO);
    live->last_t = -FF_INF;
    live->parameters = 1;
    live->parameter[0] = (ff_live_parameter){.name = "gain", .low = 0.5, .high = 2.0, .value = 1.0};
    live->room.now = ff_clock_now;
    live->room.order = ff_live__order;
    live->room.overdue = ff_live__overdue;
    live->room.pop = ff_ring_pop;
    live->room.drain = drain;
    FUZZ_CHECK(ff_ring_create(&live->commands, sizeof(ff_live_command), FF_LIVE_QUEUE) == FF_OK);
    FUZZ_CHECK(ff_ring_create(&live->replies, sizeof(ff_live_reply), 2 * FF_LIVE_QUEUE) == FF_OK);
    FUZZ_CHECK(ff_ros_create(live, &config, &live->ros) == FF_OK);
    ff_ros_calls.begin(live->ros, &wire);
    return live;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ff_live *live;
    if (!live)
        live = start();
    int requests = 0;
    replies = 0;
    while (size > 0) {
        const uint8_t *end = memmem(bytes, size, "\0\n", 2);
        const size_t n = end ? (size_t)(end - bytes) : size;
        if (n) {
            uint8_t *copy = malloc(n); /* a block of its own: no byte behind it */
            memcpy(copy, bytes + 1, n - 1);
            ff_ros_calls.request(live->ros, bytes[0] % (ff_ros_calls.services(live->ros) + 1), copy, n - 1);
            free(copy);
            requests++;
        }
        bytes += end ? n + 2 : n;
        size -= end ? n + 2 : n;
        ff_live_command command;
        while (ff_ring_pop(&live->commands, &command)) {
            FUZZ_CHECK(command.verb == FF_LIVE_HOLD || command.verb == FF_LIVE_SET);
            if (command.verb == FF_LIVE_SET)
                FUZZ_CHECK(command.parameter == 0 && command.value >= 0.5 && command.value <= 2.0);
            const ff_live_reply done = {command.viewer, command.id, true, "done"};
            ff_ring_push(&live->replies, &done);
        }
        ff_ros_calls.tick(live->ros);
    }
    FUZZ_CHECK(replies <= requests);
    return 0;
}
