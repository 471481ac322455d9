/* KUKA RobotSensorInterface as a device: the client of rsi.h behind the table of device.h. */
#include "devices/rsi/internal.h"
#include "devices/rsi/settings.h"

#include <string.h>

typedef struct robot {
    ff_rsi_client_config config;
    ff_rsi_client_state client;
} robot;

static bool put_name(char name[FF_RSI_NAME_SIZE], const char *given) {
    const size_t size = strlen(given);
    if (size >= FF_RSI_NAME_SIZE)
        return false;
    if (size)
        memcpy(name, given, size + 1);
    return true;
}

ff_status ff_rsi_names_of(const ff_device_settings *settings, ff_rsi_names *names) {
    *names = ff_rsi_names_default();
    const bool fits = put_name(names->type, settings->sentype) && put_name(names->axes, settings->axes_tag) &&
                      put_name(names->cartesian, settings->cartesian_tag) &&
                      put_name(names->external, settings->external_tag) &&
                      put_name(names->stop, settings->stop_tag);
    return fits ? ff_rsi_names_validate(names) : FF_ERR_ARGUMENT;
}

static double known(double limit) {
    return limit > 0.0 ? limit : FF_INF;
}

static const char *refuse(const ff_device_settings *settings) {
    ff_rsi_names names;
    if (ff_rsi_names_of(settings, &names) != FF_OK)
        return "sentype and the tags are names of XML elements, allowed: 1 to 23 letters, digits, _ and -, a "
               "letter or _ first, the tags apart from each other and from IPOC, EStr, Life";
    if (settings->rail && settings->no_eipos)
        return "a rail is followed by EIPos, allowed: eipos: on";
    return NULL;
}

static void open(void *self, const ff_device_settings *settings) {
    robot *r = self;
    r->config = ff_rsi_client_config_default();
    ff_rsi_names_of(settings, &r->config.names);
    r->config.most_axis = DEG * known(settings->clip_deg);
    r->config.most_shift = 1e-3 * known(settings->clip_mm);
    r->config.channel = settings->cartesian ? FF_RSI_BY_CARTESIAN : FF_RSI_BY_AXES;
    r->config.mode = settings->increments ? FF_RSI_RELATIVE : FF_RSI_ABSOLUTE;
    r->config.decimals = 9;
    r->config.ipoc_step = 0;
    r->config.heartbeat = settings->heartbeat;
    r->config.use_external = r->config.external_linear[0] = settings->rail;
    r->config.clip_window = settings->window < FF_RSI_WINDOW_MAX ? settings->window : FF_RSI_WINDOW_MAX;
    ff_rsi_client_reset(&r->client);
}

static void range(const void *self, ff_device_range *range) {
    const robot *r = self;
    *range = (ff_device_range){.turn = fmin(r->config.max_rotation, r->config.most_axis),
                               .axis = r->config.most_axis,
                               .shift = r->config.most_shift,
                               .force = FF_INF,
                               .torque = FF_INF};
}

static void report(const robot *r, const ff_rsi_rob *rob, uint64_t lost, ff_robot_report *report) {
    const ff_rsi_client_state *client = &r->client;
    *report = (ff_robot_report){
        .pose = ff_rsi_rob_pose(rob),
        .joints = ff_arm_from_kuka(rob->aipos, rob->eipos[0]),
        .lost = client->info.lost - lost,
        .taken = client->taken,
        .stood = client->stood,
        .late = client->late,
        .restarted = client->restarted,
        .anchored = r->config.mode == FF_RSI_RELATIVE || rob->fields & (FF_RSI_RSOL | FF_RSI_ASPOS),
        .apart = client->apart,
        .clipped = client->info.clipped,
        .clipped_by = client->info.clipped_by,
        .clipped_limit = client->info.clipped_tag < 3 ? 1e3 * r->config.clip_translation
                                                      : r->config.clip_rotation * 180.0 / FF_PI};
    const bool told = rob->fields & FF_RSI_LIM;
    report->clip_deg = told ? rob->limit[0] : 0.0;
    report->clip_mm = told ? rob->limit[1] : 0.0;
    report->signals = rob->signals;
    for (int n = 0; n < FF_RSI_SIGNALS; n++)
        report->signal[n] = (unsigned)fmin((double)rob->signal[n], 1e9);
    report->arrives = rob->fields & FF_RSI_ARRIVAL ? 1e-9 * (double)rob->arrival_ns : FF_NAN;
    for (int i = 0; i < FF_RSI_RECORDS; i++)
        report->record_arrives[i] = rob->record_ns[i] ? 1e-9 * (double)rob->record_ns[i] : FF_NAN;
}

static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    robot *r = self;
    const uint64_t lost = r->client.info.lost;
    ff_rsi_rob rob;
    (void)now;
    const ff_status status = ff_rsi_client_receive(&r->config, &r->client, bytes, size, &rob);
    if ((status == FF_OK || status == FF_INFO_GAP) && !(rob.fields & FF_RSI_RIST)) { /* where is it? */
        r->client.info.malformed++;
        return FF_ERR_FORMAT;
    }
    if (status == FF_OK || status == FF_INFO_GAP)
        report(r, &rob, lost, &sample->robot);
    return status == FF_INFO_STALE && r->client.restarted ? FF_ERR_DEVICE : status;
}

/* A robot that was never moved holds where its first telegram found it. */
static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    robot *r = self;
    ff_rsi_command command = {.stop = order->stop, .text = order->text};
    (void)now;
    r->client.phase = (uint64_t)order->state;
    if (order->moves) {
        command.pose = order->pose;
        for (int a = 0; a < 6; a++)
            command.axes[a] = order->joints.a[a];
        command.external[0] = order->joints.rail;
    } else {
        command.pose = ff_rsi_rob_pose(&r->client.first);
        ff_rsi_rob_axes(&r->client.first, command.axes);
        command.external[0] = 1e-3 * r->client.first.eipos[0];
    }
    const bool gives = order->moves || order->stop || order->text;
    return ff_rsi_client_answer(&r->config, &r->client, gives ? &command : NULL, bytes, size, used);
}

static void sent(const void *self, ff_robot_order *order) {
    const robot *r = self;
    const ff_rsi_rob *first = &r->client.first;
    const double *total = r->client.sent;
    if (r->config.channel == FF_RSI_BY_CARTESIAN) {
        const ff_pose from = ff_rsi_rob_pose(first), d = ff_rsi_to_pose(total);
        order->pose = (ff_pose){ff_quat_mul(d.q, from.q), ff_vec3_add(from.p, d.p)};
        return;
    }
    for (int a = 0; a < 6; a++)
        order->joints.a[a] = DEG * (first->aipos[a] + total[FF_RSI_TAG_AXES + a]);
    if (r->config.use_external)
        order->joints.rail = 1e-3 * (first->eipos[0] + total[FF_RSI_TAG_EXTERNAL]);
}

static void count(const void *self, ff_device_counters *counters) {
    const ff_rsi_client_info *info = &((const robot *)self)->client.info;
    *counters = (ff_device_counters){.received = info->received,
                                     .lost = info->lost,
                                     .repeated = info->repeated,
                                     .reordered = info->reordered,
                                     .malformed = info->malformed,
                                     .empty = info->empty,
                                     .answered = info->answered,
                                     .unanswered = info->unanswered,
                                     .refused = info->refused,
                                     .late = info->late};
}

static const char *const channel_words[] = {"axes", "cartesian", NULL};
static const char *const correction_words[] = {"absolute", "relative", NULL};
static const char *const clip_words[] = {"usual", NULL};
static const char *const eipos_words[] = {"on", "off", NULL};
static const char *const heartbeat_words[] = {"off", "on", NULL};
#define SWITCH(key, field, usual, words, sentence)                                \
    {                                                                             \
        .name = (key), .type = FF_SETTING_BOOLEAN, .unit = "", .choice = (words), \
        .offset = FF_DEVICE_SETTING(field), .absent = (usual), .help = (sentence) \
    }
static const ff_setting setting[] = {
    FF_DEVICE_PORT("port", port, "59152", "UDP port of the same."),
    {.name = "arm",
     .type = FF_SETTING_CHOICE,
     .unit = "",
     .offset = FF_DEVICE_SETTING(arm),
     .absent = "kr120",
     .choice = ff_arm_names,
     .help = "Kinematics."},
    {.name = "channel",
     .type = FF_SETTING_BOOLEAN,
     .unit = "",
     .offset = FF_DEVICE_SETTING(cartesian),
     .absent = "axes",
     .choice = channel_words,
     .help = "Corrections of axes by our own kinematics, or Cartesian ones (at most 5 degrees of rotation)."},
    {.name = "corrections",
     .type = FF_SETTING_BOOLEAN,
     .unit = "",
     .offset = FF_DEVICE_SETTING(increments),
     .absent = "absolute",
     .choice = correction_words,
     .help = "As RSI_ON names it on the controller."},
    {.name = "heartbeat",
     .type = FF_SETTING_BOOLEAN,
     .unit = "",
     .offset = FF_DEVICE_SETTING(heartbeat),
     .absent = "off",
     .choice = heartbeat_words,
     .help = "Each answer carries a counter and the run's state for a watchdog on the controller "
             "(docs/safety.md)."},
    FF_DEVICE_TEXT("sentype", sentype, "ImFree", "SENTYPE of the controller's file: Type of each answer."),
    FF_DEVICE_TEXT("axes_tag", axes_tag, "AK", "Element of the answers with corrections of axes."),
    FF_DEVICE_TEXT("cartesian_tag", cartesian_tag, "RKorr", "The same, of Cartesian corrections."),
    FF_DEVICE_TEXT("external_tag", external_tag, "EK", "The same, of the external axis."),
    FF_DEVICE_TEXT("stop_tag", stop_tag, "Stop", "The same, that ends the motion."),
    SWITCH("rsol", no_rsol, "on", eipos_words,
           "Whether the telegrams carry RSol, the pose without the corrections: of the files and the virtual "
           "controller. A program that began again is seen by it (docs/safety.md)."),
    SWITCH("aspos", no_aspos, "on", eipos_words, "The same of ASPos, the axes without the corrections."),
    SWITCH("eipos", no_eipos, "on", eipos_words, "The same of EIPos, the external axes: a rail needs it."),
    {.name = "clip_deg",
     .type = FF_SETTING_REAL,
     .unit = "deg",
     .offset = FF_DEVICE_SETTING(clip_deg),
     .absent = "usual",
     .choice = clip_words,
     .low = 0,
     .high = 180,
     .above_low = true,
     .help = "AXISCORR's limit of each axis, or POSCORR's of the rotation: it goes into the controller's "
             "files, the virtual controller keeps it, and a run ends before it. `usual`: 5 in the files, "
             "KUKA's own; the virtual controller has none."},
    {.name = "clip_mm",
     .type = FF_SETTING_REAL,
     .unit = "mm",
     .offset = FF_DEVICE_SETTING(clip_mm),
     .absent = "usual",
     .choice = clip_words,
     .low = 0,
     .high = 10000,
     .above_low = true,
     .help = "POSCORR's limit of x, y and z, or AXISCORREXT's of a rail."},
};

const ff_device ff_device_rsi = {.name = "kuka-rsi",
                                 .help = "a controller on the network; `run` and `facility` take it for "
                                         "`delay`.",
                                 .kind = FF_DEVICE_ROBOT,
                                 .setting = setting,
                                 .settings = sizeof setting / sizeof *setting,
                                 .port = FF_RSI_PORT,
                                 .rides = true,
                                 .bytes = sizeof(robot),
                                 .refuse = refuse,
                                 .open = open,
                                 .range = range,
                                 .sample = sample,
                                 .answer = answer,
                                 .sent = sent,
                                 .count = count};
