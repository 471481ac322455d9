/* ATI Net F/T as a device: the client of ati.h behind the table of device.h. */
#include "devices/ati/ati.h"
#include "devices/device.h"

#include <string.h>

typedef struct sensor {
    ff_ati_client_config config;
    ff_ati_client_state client;
    ff_ati_page page;
    ff_ati_scale scale;
    int32_t counts[6]; /* of the newest record */
    unsigned repeats;
    bool axia; /* an Ethernet Axia */
} sensor;

static void open(void *self, const ff_device_settings *settings) {
    sensor *s = self;
    (void)settings;
    s->config = ff_ati_client_config_default();
    ff_ati_client_reset(&s->client);
    ff_ati_client_start(&s->client);
}

/* Single blocks, whatever its buffer size is set to. */
static void open_axia(void *self, const ff_device_settings *settings) {
    sensor *s = self;
    open(self, settings);
    s->config.start.command = FF_ATI_START_BLOCK;
    s->axia = true;
}

/* Of a sensor without a page. */
static void open_onrobot(void *self, const ff_device_settings *settings) {
    sensor *s = self;
    open(self, settings);
    s->page = ff_ati_page_default();
    s->page.counts_per_force = ff_device_onrobot.counts[0];
    s->page.counts_per_torque = ff_device_onrobot.counts[1];
    ff_ati_page_scale(&s->page, &s->scale);
}

static ff_status configure(void *self, const char *page, size_t size) {
    sensor *s = self;
    const ff_status status = ff_ati_page_decode(page, size, &s->page);
    return status == FF_OK ? ff_ati_page_scale(&s->page, &s->scale) : status;
}

static void range(const void *self, ff_device_range *range) {
    const sensor *s = self;
    *range = (ff_device_range){.turn = FF_INF,
                               .axis = FF_INF,
                               .shift = FF_INF,
                               .force = ff_ati_page_range(&s->page, false),
                               .torque = ff_ati_page_range(&s->page, true)};
}

static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    sensor *s = self;
    ff_ati_record record;
    const ff_status status = ff_ati_client_receive(&s->config, &s->client, now, bytes, size, &record);
    if (status == FF_INFO_STALE || status == FF_ERR_FORMAT || status == FF_ERR_SIZE)
        return status;
    ff_status health = status == FF_INFO_GAP ? FF_OK : status;
    if (s->axia && status != FF_INFO_HELD)
        health = ff_axia_status_check(record.status);
    s->repeats = memcmp(s->counts, record.counts, sizeof s->counts) == 0 ? s->repeats + 1 : 0;
    memcpy(s->counts, record.counts, sizeof s->counts);
    sample->sensor = (ff_sensor_report){.f_s = ff_ati_to_wrench(s->scale, record.counts),
                                        .force = s->scale.force,
                                        .torque = s->scale.torque,
                                        .stamp = record.ft_sequence,
                                        .repeats = s->repeats,
                                        .word = record.status,
                                        .health = health == FF_INFO_LIMITED ? FF_OK : health};
    return status == FF_INFO_GAP ? FF_INFO_GAP : FF_OK;
}

static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    sensor *s = self;
    (void)order;
    return ff_ati_client_poll(&s->config, &s->client, now, bytes, size, used);
}

/* Nothing, if it was never started. */
static ff_status stop(void *self, void *bytes, size_t size, size_t *used) {
    sensor *s = self;
    *used = 0;
    if (!s->client.starts)
        return FF_OK;
    return ff_ati_request_encode(&(ff_ati_request){.command = FF_ATI_STOP}, bytes, size, used);
}

static void count(const void *self, ff_device_counters *counters) {
    const sensor *s = self;
    const ff_ati_sequence *sequence = &s->client.sequence;
    *counters = (ff_device_counters){.received = sequence->received,
                                     .lost = sequence->lost,
                                     .repeated = sequence->repeated,
                                     .reordered = sequence->reordered,
                                     .malformed = s->client.malformed,
                                     .restarts = sequence->restarts};
}

static const ff_setting setting[] = {
    FF_DEVICE_PORT("port", port, "49152", "UDP port of its records."),
    FF_DEVICE_PORT(
        "http_port", page_port, "0",
        "TCP port of its configuration page; 0: 80, as on the device, of a virtual one (on loopback) 49180."),
};

/* A Net F/T and an Axia have port, records and page in common; start and status word are their own. */
#define ATI_DEVICE(its_name, its_article, its_open)                                                   \
    {                                                                                                 \
        .name = its_name,                                                                             \
        .help = its_article " over RDT; `run` and `facility` give it the errors named here.",         \
        .kind = FF_DEVICE_SENSOR, .setting = setting, .settings = sizeof setting / sizeof *setting,   \
        .port = FF_ATI_PORT, .second = 49180, .page = FF_ATI_HTTP_PATH, .bytes = sizeof(sensor),      \
        .open = its_open, .configure = configure, .range = range, .sample = sample, .answer = answer, \
        .stop = stop, .count = count                                                                  \
    }

const ff_device ff_device_ati = ATI_DEVICE("ati-rdt", "an ATI sensor", open);
const ff_device ff_device_axia = ATI_DEVICE("ati-axia", "an ATI Ethernet Axia", open_axia);

/* Requests and records are the Net F/T's; the scale is fixed at 1/10000 N and 1/100000 N m, as its converter
 * is commonly used: not compared with the maker's own text. */
const ff_device ff_device_onrobot = {.name = "onrobot-udp",
                                     .help = "an OnRobot (OptoForce) HEX sensor at its Ethernet converter; "
                                             "`run` and `facility` give it the errors named here.",
                                     .kind = FF_DEVICE_SENSOR,
                                     .setting = setting,
                                     .settings = 1, /* no page: its port alone */
                                     .port = FF_ATI_PORT,
                                     .counts = {1e4, 1e5},
                                     .bytes = sizeof(sensor),
                                     .open = open_onrobot,
                                     .range = range,
                                     .sample = sample,
                                     .answer = answer,
                                     .stop = stop,
                                     .count = count};
