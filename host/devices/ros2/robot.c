/* A robot that has a ROS 2 driver as a device: its joint states pace, each is answered by the positions that
 * its controller shall follow (ros2_control's forward_command_controller). The driver says neither where its
 * tool is nor what it made of a command: the pose is the arm's, and a command counts as taken once it was
 * sent. Nothing is published on its topic before the robot shall move; the virtual facility, whose cycle
 * waits for an answer, gets one on a topic of its own, in which there is nothing to move to. */
#include "devices/ros2/ros2.h"

#include "devices/text.h"

#include <string.h>

#define MOVED 0.02        /* [rad] from the first telegram: somebody else has moved it */
#define APART_PERIOD 0.25 /* part of a cycle by which the driver's period may be another one */

typedef struct robot {
    ff_device_settings settings;
    char aside[sizeof((ff_device_settings *)0)->command + sizeof FF_ROS2_ASIDE];
    ff_ros2_pace pace;
    uint64_t from, stamp; /* publisher; of the newest telegram */
    bool known, waits, moved;
    bool blamed;            /* a message of ours was refused while it was greeted */
    bool restarted, others; /* latched */
    unsigned ahead;         /* [ms], so is it: of the first stamp that was too far; 0: none */
    int axes;
    double first[FF_ARM_AXES], q[FF_ARM_AXES], sent[FF_ARM_AXES], rates[FF_ARM_AXES];
    ff_device_counters counters;
} robot;

static void open(void *self, const ff_device_settings *settings) {
    robot *r = self;
    *r = (robot){.settings = *settings, .axes = ff_ros2_axes(settings)};
    if (!(r->settings.cycle > 0.0))
        r->settings.cycle = 0.004;
    ff_text_out out;
    ff_text_begin(&out, r->aside, sizeof r->aside - 1);
    ff_text_put(&out, r->settings.command);
    ff_text_put(&out, FF_ROS2_ASIDE);
    r->aside[out.used] = 0;
}

static void range(const void *self, ff_device_range *range) {
    (void)self;
    *range =
        (ff_device_range){.turn = FF_INF, .axis = FF_INF, .shift = FF_INF, .force = FF_INF, .torque = FF_INF};
}

static void topics(const void *self, ff_device_topics *topics) {
    const robot *r = self;
    *topics = (ff_device_topics){r->settings.states, FF_ROS2_STATES, r->settings.command, FF_ROS2_COMMAND,
                                 r->settings.facility ? r->aside : NULL};
}

/* ----------------------------------------------------------------------------------------- greeting --
 */

static void put_ms(double s, char *text, size_t size) {
    ff_text_out out;
    ff_text_begin(&out, text, size - 1);
    ff_text_put_double(&out, fmin(1e3 * s, 1e9), 3);
    text[out.used] = 0;
}

/* The joints are all there, once, with what the settings take from them. */
static ff_status whole(const robot *r, const ff_ros2_states *states, char *message, size_t size) {
    for (int a = 0; a < r->axes; a++)
        if (!(states->found >> a & 1u)) {
            FF_TEXT_LINE(message, size, r->settings.states, " has no joint '", r->settings.joints[a],
                         "', allowed: all of `joints`, each by the name that the driver has for it");
            return FF_ERR_DEVICE;
        }
    if (states->twice >= 0) {
        FF_TEXT_LINE(message, size, r->settings.states, " has the joint '", r->settings.joints[states->twice],
                     "' twice, allowed: once (its position would be either of two)");
        return FF_ERR_DEVICE;
    }
    if (r->settings.reported && !states->rated) {
        FF_TEXT_LINE(message, size, r->settings.states,
                     " has no velocities, or such as are not a number, allowed: `velocities: differences`");
        return FF_ERR_DEVICE;
    }
    return FF_OK;
}

static ff_status greet(void *self, const void *packet, size_t size, void *bytes, size_t room, size_t *used,
                       char *message, size_t message_size) {
    robot *r = self;
    const char *topic = r->settings.states, *command = r->settings.command;
    (void)bytes, (void)room;
    *used = 0;
    if (!packet) {
        FF_TEXT_LINE(message, message_size, "nobody publishes ", topic, " (" FF_ROS2_STATES ")");
        return FF_INFO_HELD;
    }
    ff_ros2_states states;
    const ff_status decoded = ff_ros2_states_decode(packet, size, &r->settings, &states);
    if (decoded != FF_OK || !states.found) {
        if (decoded == FF_OK && r->blamed) /* a gripper's: what is wrong with ours was said */
            return FF_INFO_HELD;
        r->blamed = decoded != FF_OK;
        FF_TEXT_LINE(message, message_size, topic,
                     decoded == FF_ERR_NOT_FINITE
                         ? ": a joint's position is not a number, allowed: finite (rad)"
                     : decoded != FF_OK
                         ? ": its messages cannot be read, allowed: as many positions as names, in CDR"
                         : " has none of the joints, allowed: those of `joints`, by the driver's names");
        return FF_INFO_HELD;
    }
    const ff_ros2_message *m = &states.message;
    ff_status status = whole(r, &states, message, message_size);
    if (status == FF_OK)
        status = ff_ros2_greet(&r->settings, topic, m, r->from, message, message_size);
    if (status != FF_OK)
        return status;
    r->from = m->head.from;
    if (m->head.rivals) {
        FF_TEXT_LINE(message, message_size, "somebody else publishes ", command,
                     " too, allowed: this program alone; `ros2 topic info -v` names who");
        return FF_ERR_DEVICE;
    }
    if (!m->head.readers) {
        FF_TEXT_LINE(message, message_size, "nobody reads ", command,
                     " (" FF_ROS2_COMMAND "): is the controller active?");
        return FF_INFO_HELD;
    }
    const double period = ff_ros2_period(&r->pace, m->stamp), cycle = r->settings.cycle;
    if (!(period > 0.0)) {
        FF_TEXT_LINE(message, message_size, topic, ": too few messages with newer stamps");
        return FF_INFO_HELD;
    }
    if (fabs(period - cycle) > APART_PERIOD * cycle) {
        char own[32], asked[32];
        put_ms(period, own, sizeof own);
        put_ms(cycle, asked, sizeof asked);
        FF_TEXT_LINE(message, message_size, topic, " comes every ", own, " ms and time.cycle is ", asked,
                     " ms, allowed: the same (update_rate of the driver)");
        return FF_ERR_DEVICE;
    }
    return FF_OK;
}

/* ---------------------------------------------------------------------------------------- telegrams --
 */

static ff_status refuse(uint64_t *counter, ff_status status) {
    *counter += 1;
    return status;
}

static void put_signals(const robot *r, const ff_link_head *head, ff_robot_report *report) {
    report->signals =
        1u << FF_SIGNAL_RIVALS | 1u << FF_SIGNAL_READERS | 1u << FF_SIGNAL_OTHERS | 1u << FF_SIGNAL_AHEAD;
    report->signal[FF_SIGNAL_RIVALS] = head->rivals;
    report->signal[FF_SIGNAL_READERS] = head->readers > 0;
    report->signal[FF_SIGNAL_OTHERS] = r->others;
    report->signal[FF_SIGNAL_AHEAD] = r->ahead;
}

static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    robot *r = self;
    ff_device_counters *count = &r->counters;
    ff_ros2_states states;
    (void)now;
    if (size > FF_DEVICE_READ_MAX || ff_ros2_states_decode(bytes, size, &r->settings, &states) != FF_OK)
        return refuse(&count->malformed, FF_ERR_FORMAT);
    const ff_ros2_message *m = &states.message;
    if (!states.found) /* a gripper's, for example */
        return refuse(&count->empty, FF_INFO_STALE);
    if (states.found != (1u << r->axes) - 1 || states.twice >= 0 || (r->settings.reported && !states.rated) ||
        (r->settings.facility && m->mark == FF_ROS2_NO_MARK))
        return refuse(&count->malformed, FF_ERR_FORMAT);
    if (!r->from)
        r->from = m->head.from;
    if (m->head.from != r->from) {
        r->others = true;
        return refuse(&count->malformed, FF_INFO_STALE);
    }
    const double ahead = ff_ros2_ahead(m), since = 1e-9 * (double)(int64_t)(m->stamp - r->stamp);
    if (ahead < -FF_ROS2_APART)
        return refuse(&count->reordered, FF_INFO_STALE);
    if (r->known && !(since > 0.0)) {
        r->restarted |= since < -1.0;
        *(since == 0.0 ? &count->repeated : &count->reordered) += 1;
        return r->restarted ? FF_ERR_DEVICE : FF_INFO_STALE;
    }
    if (ahead > FF_ROS2_APART && !r->ahead)
        r->ahead = (unsigned)fmin(ceil(1e3 * ahead), 1e9); /* above the limit also in whole ones */
    const double cycles = r->known && !r->ahead ? fmin(round(since / r->settings.cycle), 1e9) : 1.0;
    const uint64_t lost = cycles > 1.0 ? (uint64_t)cycles - 1 : 0;
    const bool unanswered = r->known && r->waits;
    count->received++;
    count->lost += lost;
    count->unanswered += unanswered;
    sample->robot = (ff_robot_report){.pose = ff_pose_identity(),
                                      .lost = lost,
                                      .taken = r->known && !unanswered,
                                      .stood = unanswered,
                                      .late = lost + unanswered,
                                      .restarted = r->restarted,
                                      .anchored = true, /* joints, not corrections */
                                      .arrives = m->mark == FF_ROS2_MARK_LOCKSTEP && r->settings.facility
                                                     ? 1e-9 * (double)m->stamp
                                                     : FF_NAN};
    memcpy(sample->robot.joints.a, states.q, sizeof states.q);
    sample->robot.rated = r->settings.reported;
    memcpy(sample->robot.rates, states.rates, sizeof states.rates);
    for (int i = 0; i < FF_MAX_BODIES; i++)
        sample->robot.record_arrives[i] = FF_NAN;
    put_signals(r, &m->head, &sample->robot);
    if (!r->known) {
        memcpy(r->first, states.q, sizeof r->first);
        memcpy(r->sent, states.q, sizeof r->sent);
    }
    memcpy(r->q, states.q, sizeof r->q);
    r->stamp = m->stamp;
    r->known = r->waits = true;
    return lost ? FF_INFO_GAP : FF_OK;
}

/* The first motion begins where the first telegram found the robot: is it still there. */
static bool strayed(const robot *r) {
    bool away = false;
    for (int a = 0; a < r->axes && !r->moved; a++)
        away = away || fabs(r->q[a] - r->first[a]) > MOVED;
    return away;
}

static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    robot *r = self;
    ff_status status = FF_OK;
    (void)now;
    *used = 0;
    if (!r->waits)
        return FF_ERR_ARGUMENT;
    if (order->moves) {
        bool finite = true;
        for (int a = 0; a < r->axes; a++)
            finite = finite && isfinite(order->joints.a[a]) && isfinite(order->rates[a]);
        if (!finite) {
            r->counters.refused++;
            status = FF_ERR_NOT_FINITE;
        } else if (strayed(r)) {
            r->restarted = true;
            r->counters.refused++;
        } else {
            memcpy(r->sent, order->joints.a, sizeof r->sent);
            memcpy(r->rates, order->rates, sizeof r->rates);
            r->moved = true;
        }
    }
    const char *label = !r->settings.facility ? NULL : order->stop ? FF_ROS2_END : order->text;
    ff_status made = FF_OK;
    if (r->moved)
        made = ff_ros2_command_encode(r->axes, r->sent, r->settings.facility ? r->rates : NULL, label, bytes,
                                      size, used);
    else if (r->settings.facility && !order->moves)
        made = ff_ros2_label_encode(label, bytes, size, used);
    if (made != FF_OK)
        return made;
    r->waits = false;
    r->counters.answered++;
    return status;
}

static void sent(const void *self, ff_robot_order *order) {
    const robot *r = self;
    memcpy(order->joints.a, r->sent, sizeof r->sent);
}

static void count(const void *self, ff_device_counters *counters) {
    *counters = ((const robot *)self)->counters;
}

static const char *const velocity_words[] = {"differences", "reported", NULL};

static const ff_setting setting[] = {
    {.name = "joints",
     .type = FF_SETTING_NAMES,
     .unit = "",
     .offset = FF_DEVICE_SETTING(joints),
     .absent = "[shoulder_pan_joint, shoulder_lift_joint, elbow_joint, wrist_1_joint, wrist_2_joint, "
               "wrist_3_joint]",
     .help = "Joints as the driver names them, six or seven, in the order of the arm's axes. The messages "
             "may have them in "
             "any order, and others beside them."},
    {.name = "command",
     .type = FF_SETTING_TOPIC,
     .unit = "",
     .offset = FF_DEVICE_SETTING(command),
     .absent = "/forward_position_controller/commands",
     .help = "Topic of the positions that the robot is sent (std_msgs/Float64MultiArray, in the order of "
             "`joints`)."},
    {.name = "states",
     .type = FF_SETTING_TOPIC,
     .unit = "",
     .offset = FF_DEVICE_SETTING(states),
     .absent = "/joint_states",
     .help = "Topic of the positions that it reports (sensor_msgs/JointState), one message every "
             "`time.cycle`."},
    {.name = "velocities",
     .type = FF_SETTING_BOOLEAN,
     .unit = "",
     .offset = FF_DEVICE_SETTING(reported),
     .absent = "differences",
     .choice = velocity_words,
     .help = "The robot's velocity from its positions alone, or as `states` reports it: of a driver whose "
             "velocities are measured, at the same instant as its positions."},
    FF_ROS2_PLACE,
    {.name = "arm",
     .type = FF_SETTING_CHOICE,
     .unit = "",
     .offset = FF_DEVICE_SETTING(arm),
     .absent = "ur10e",
     .choice = ff_arm_names,
     .help = "Kinematics, by which alone the pose is known: of a calibrated arm by its own URDF file."},
};

const ff_device ff_device_ros2 = {
    .name = "ros2",
    .help =
        "a robot behind its ROS 2 driver, which this computer reaches from the interface `address`; `run` "
        "and `facility` take it for `delay`.",
    .kind = FF_DEVICE_ROBOT,
    .setting = setting,
    .settings = sizeof setting / sizeof *setting,
    .jointed = true,
    .axes = FF_ARM_AXES,
    .bytes = sizeof(robot),
    .open = open,
    .range = range,
    .topics = topics,
    .greet = greet,
    .sample = sample,
    .answer = answer,
    .sent = sent,
    .count = count};
