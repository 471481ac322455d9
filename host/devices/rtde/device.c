/* Universal Robots' e-Series as a device: RTDE (rtde.h) behind the table of device.h.
 *
 * RTDE does not move a robot: a program on its controller must. We upload it (script port, text), it reads
 * its set points from RTDE's input registers and calls servoj in each step:
 *   int 24   our count of orders; the controller's watchdog stops the program when it is not written for 0.1
 * s int 25   0 hold, 1 servo, 2 end int 26   the number of this run: orders of another one (registers outlive
 * a program) are not obeyed int 27   the run's state int 28   a text for the operator, as a number (ur.h) int
 * 29   the order that this one is a step from int 30   what it is a step from: 0 motion, 1 rest after a step
 * without an order, 2 rest, whether or not double 24 to 29   target of the six joints [rad] double 30
 * timestamp of the telegram that is answered [s] and writes int output 24, the count it has taken, 25, the
 * number of the run it belongs to, and 26, its steps since then. Numbers from 24 on are the external
 * clients'.
 *
 * Orders are bounded as steps from the one before. On their way they may be delayed, and one that comes with
 * its successor is overwritten: so the program takes an order only if it is at the very one that it is a step
 * from, in motion or, after a step without an order, at rest, as it was made for. Whatever happens on the
 * way, what is executed is a chain of steps that were made to follow each other; where it breaks, the robot
 * holds its last target until we see that, and a new chain begins there, from rest. docs/protocols.md has the
 * exchange and the policies. */
#include "devices/device.h"
#include "devices/rtde/rtde.h"
#include "devices/rtde/ur.h"

#include <string.h>

enum {
    BEHIND = 3, /* orders that may be on their way: one step of the program, one of RTDE, one between */
    KEPT = 256  /* orders of which the target is remembered */
};

typedef enum stage { HELLO, VERSION, OUTPUTS, INPUTS, START, PROGRAM, RUNS } stage;

/* Places in the flattened outputs. */
enum {
    AT_TIME = 0,
    AT_Q = 1,
    AT_POSE = 7,
    AT_RUNTIME = 13,
    AT_STATUS,
    AT_SAFETY,
    AT_SCALING,
    AT_TAKEN,
    AT_RUN,
    AT_STOOD,
    AT_ARRIVES,
    AT_RECORDS, /* four */
    OUTPUT_VALUES = AT_RECORDS + FF_UR_RECORDS
};

typedef struct robot {
    ff_device_settings settings;
    stage stage;
    ff_rtde_recipe outputs, inputs;
    double value[OUTPUT_VALUES]; /* of the newest telegram */
    bool known;                  /* there is one */
    bool waits;                  /* for its answer */
    bool restarted;              /* latched */
    int32_t count, taken;        /* orders sent, and the controller's echo */
    int32_t mode;                /* of the last order */
    double sent[6];              /* [rad] last target; where it stands, once the chain of orders is broken */
    double at[6];                /* [rad] target of the order that was taken */
    double kept[KEPT][6];        /* [rad] targets of the last orders */
    struct {
        int32_t from, base;  /* its first order, and the one that this is a step from */
        bool anew;           /* the next order begins another one */
        double waited, most; /* [cycles] since the program took an order; until the first is overdue */
        int still;           /* steps in a row without motion, at most 2 */
    } chain;
    ff_device_counters counters;
} robot;

static void open(void *self, const ff_device_settings *settings) {
    robot *r = self;
    *r = (robot){.settings = *settings};
    if (!(r->settings.cycle > 0.0))
        r->settings.cycle = 0.002;
    r->chain.anew = true;
    r->chain.most = 1.0 + BEHIND;
}

static void range(const void *self, ff_device_range *range) {
    (void)self;
    *range =
        (ff_device_range){.turn = FF_INF, .axis = FF_INF, .shift = FF_INF, .force = FF_INF, .torque = FF_INF};
}

static size_t frame(const void *bytes, size_t size) {
    ff_rtde_packet packet;
    size_t taken;
    const ff_status status = ff_rtde_decode(bytes, size, &packet, &taken);
    return status < 0 ? SIZE_MAX : taken;
}

/* ---------------------------------------------------------------------------------------------- opening --
 */

static size_t program(const void *self, char *text, size_t size) {
    const ff_device_settings *s = &((const robot *)self)->settings;
    const ff_vec3 turn = ff_quat_log(s->tool.q);
    const double tcp[6] = {s->tool.p.x, s->tool.p.y, s->tool.p.z, turn.x, turn.y, turn.z};
    ff_text_out out;
    ff_text_begin(&out, text, size);
    ff_text_put(&out, "def freefloat():\n  set_tcp(p[");
    for (int i = 0; i < 6; i++) {
        ff_text_put(&out, i ? ", " : "");
        ff_text_put_double(&out, tcp[i], 9);
    }
    ff_text_put(&out, "])\n"
                      "  write_output_integer_register(24, 0)\n"
                      "  write_output_integer_register(25, ");
    ff_text_put_u64(&out, s->run);
    ff_text_put(&out, ")\n"
                      "  rtde_set_watchdog(\"input_int_register_24\", 10, \"stop\")\n"
                      "  hold = get_actual_joint_positions()\n"
                      "  taken = 0\n"
                      "  stood = 1\n"
                      "  go = True\n"
                      "  while go:\n"
                      "    count = read_input_integer_register(24)\n"
                      "    mode = read_input_integer_register(25)\n"
                      "    fits = count > taken and read_input_integer_register(29) == taken\n"
                      "    rest = read_input_integer_register(30)\n"
                      "    if (stood > 0 and rest == 0) or (stood == 0 and rest == 1):\n"
                      "      fits = False\n"
                      "    end\n"
                      "    if read_input_integer_register(26) != ");
    ff_text_put_u64(&out, s->run);
    ff_text_put(&out, ":\n"
                      "      fits = False\n"
                      "      mode = 0\n"
                      "    end\n"
                      "    stood = stood + 1\n"
                      "    if fits:\n"
                      "      taken = count\n"
                      "      stood = 0\n"
                      "    end\n"
                      "    if fits and mode == 1:\n"
                      "      hold = [");
    for (unsigned n = 24; n < 30; n++) {
        ff_text_put(&out, n > 24 ? ", read_input_float_register(" : "read_input_float_register(");
        ff_text_put_u64(&out, n);
        ff_text_put(&out, ")");
    }
    ff_text_put(&out, "]\n"
                      "    end\n"
                      "    go = mode != 2\n"
                      "    servoj(hold, t=");
    ff_text_put_double(&out, s->cycle, 6);
    ff_text_put(&out, ", lookahead_time=");
    ff_text_put_double(&out, s->lookahead, 6);
    ff_text_put(&out, ", gain=");
    ff_text_put_double(&out, s->gain, 0);
    ff_text_put(&out, ")\n"
                      "    write_output_integer_register(24, taken)\n"
                      "    write_output_integer_register(26, stood)\n"
                      "  end\n"
                      "  stopj(2.0)\n"
                      "end\n");
    return out.status == FF_OK ? out.used : 0;
}

/* From what motion the next order is a step: one that repeats itself may be followed after standing, too. */
static double begins(const robot *r) {
    return r->chain.anew ? FF_UR_RESTS : r->chain.still > 1 ? FF_UR_ANY : FF_UR_MOVES;
}

static ff_status encode(robot *r, int32_t mode, int32_t state, const char *text, void *bytes, size_t size,
                        size_t *used) {
    double value[7 + 6 + 1] = {r->count,
                               mode,
                               r->settings.run,
                               state,
                               ff_ur_text_number(text),
                               r->chain.anew ? r->taken : r->count - 1,
                               begins(r)};
    memcpy(value + 7, r->sent, sizeof r->sent);
    value[13] = r->value[AT_TIME];
    return ff_rtde_data_encode(&r->inputs, value, bytes, size, used);
}

static ff_status refuse(char *message, size_t size, const char *what) {
    FF_TEXT_LINE(message, size, "the robot's controller: ", what);
    return FF_ERR_DEVICE;
}

/* The reply to an outputs or inputs request: every field of the type that we count on. */
static ff_status take_recipe(const ff_rtde_packet *packet, const char *names, const uint8_t *type,
                             size_t fields, ff_rtde_recipe *recipe, char *message, size_t size) {
    size_t bad = 0;
    ff_status status = ff_rtde_recipe_decode(packet, recipe, &bad);
    if (status == FF_OK && recipe->count != fields)
        status = FF_ERR_FORMAT;
    for (size_t i = 0; status == FF_OK && i < fields; i++)
        if (recipe->fields[i] != type[i]) {
            bad = i;
            status = FF_ERR_UNSUPPORTED;
        }
    if (status == FF_OK)
        return FF_OK;
    const char *name = names;
    for (size_t i = 0; i < bad && strchr(name, ','); i++)
        name = strchr(name, ',') + 1;
    if (status == FF_ERR_UNSUPPORTED) {
        char field[64] = "";
        const size_t length = strcspn(name, ",");
        memcpy(field, name, length < sizeof field ? length : sizeof field - 1);
        FF_TEXT_LINE(message, size, "the robot's controller: RTDE field ", field,
                     " is not there, of another type, or another client writes it");
    } else
        refuse(message, size, "an RTDE recipe cannot be read");
    return FF_ERR_DEVICE;
}

static ff_status decode_values(const robot *r, const ff_rtde_packet *packet, double *value) {
    return ff_rtde_data_decode(&r->outputs, packet, value, OUTPUT_VALUES);
}

/* What keeps the program from running. */
static void name_obstacle(const double *value, char *message, size_t size) {
    const uint32_t status = (uint32_t)value[AT_STATUS], safety = (uint32_t)value[AT_SAFETY];
    const char *why = safety & FF_UR_SAFETY_PROTECTIVE   ? "a protective stop is on"
                      : safety & FF_UR_SAFETY_EMERGENCY  ? "an emergency stop is on"
                      : safety & FF_UR_SAFETY_OTHER      ? "its safety system has stopped it"
                      : !(status & FF_UR_STATUS_POWERED) ? "the arm is not powered on"
                                                         : "is it in local control? Set it to remote control";
    char word[2][24];
    for (int i = 0; i < 2; i++) {
        ff_text_out out;
        ff_text_begin(&out, word[i], sizeof word[i] - 1);
        ff_text_put_u64(&out, i ? safety : status);
        word[i][out.used] = 0;
    }
    FF_TEXT_LINE(message, size, "the robot's controller does not run the program that was sent: ", why,
                 " (robot status ", word[0], ", safety status ", word[1], ")");
}

static ff_status await_program(robot *r, const ff_rtde_packet *packet, char *message, size_t size) {
    double value[OUTPUT_VALUES];
    if (packet->type != FF_RTDE_DATA || decode_values(r, packet, value) != FF_OK)
        return FF_INFO_HELD;
    memcpy(r->value, value, sizeof value);
    name_obstacle(value, message, size);
    if (value[AT_RUN] != (double)r->settings.run || !((uint32_t)value[AT_STATUS] & FF_UR_STATUS_RUNS))
        return FF_INFO_HELD;
    r->stage = RUNS;
    return FF_OK;
}

static ff_status greet(void *self, const void *bytes, size_t size, void *out, size_t room, size_t *used,
                       char *message, size_t message_size) {
    robot *r = self;
    ff_rtde_packet packet = {0};
    size_t taken;
    ff_status status;
    *used = 0;
    if (bytes && ff_rtde_decode(bytes, size, &packet, &taken) != FF_OK)
        return refuse(message, message_size, "its answer is not RTDE");
    ff_rtde_message said;
    if (bytes && packet.type == FF_RTDE_TEXT && ff_rtde_message_decode(&packet, &said) == FF_OK) {
        if (said.level > 1)
            return FF_INFO_HELD;
        char text[161] = "";
        memcpy(text, said.text.at, said.text.size < sizeof text ? said.text.size : sizeof text - 1);
        FF_TEXT_LINE(message, message_size, "the robot's controller says: ", text);
        return FF_ERR_DEVICE;
    }
    switch (r->stage) {
    case HELLO:
        r->stage = VERSION;
        FF_TEXT_LINE(message, message_size, "the robot's controller does not answer to RTDE");
        return ff_rtde_version_encode(FF_RTDE_VERSION, out, room, used) == FF_OK ? FF_INFO_HELD : FF_ERR_SIZE;
    case VERSION:
        if (ff_rtde_accepted(&packet) != FF_OK)
            return refuse(message, message_size,
                          "RTDE protocol version 2 is refused, allowed: e-Series, "
                          "software 5 or newer");
        r->stage = OUTPUTS;
        status = ff_rtde_outputs_encode(1.0 / r->settings.cycle, FF_UR_OUTPUTS, out, room, used);
        if (status == FF_ERR_ARGUMENT)
            return refuse(message, message_size,
                          "time.cycle is too short, allowed: 0.002 s and more (500 Hz)");
        return status == FF_OK ? FF_INFO_HELD : status;
    case OUTPUTS: {
        static const uint8_t type[] = FF_UR_OUTPUT_TYPES;
        status = take_recipe(&packet, FF_UR_OUTPUTS, type, sizeof type, &r->outputs, message, message_size);
        if (status != FF_OK)
            return status;
        r->stage = INPUTS;
        status = ff_rtde_inputs_encode(FF_UR_INPUTS, out, room, used);
        return status == FF_OK ? FF_INFO_HELD : status;
    }
    case INPUTS: {
        static const uint8_t type[] = FF_UR_INPUT_TYPES;
        status = take_recipe(&packet, FF_UR_INPUTS, type, sizeof type, &r->inputs, message, message_size);
        if (status != FF_OK)
            return status;
        r->stage = START;
        status = ff_rtde_encode(FF_RTDE_START, NULL, 0, out, room, used);
        return status == FF_OK ? FF_INFO_HELD : status;
    }
    case START:
        if (packet.type == FF_RTDE_DATA)
            return FF_INFO_HELD;
        if (ff_rtde_accepted(&packet) != FF_OK)
            return refuse(message, message_size, "RTDE does not start");
        r->stage = PROGRAM;
        /* registers outlive programs: ours hold nothing old when it begins */
        status = encode(r, FF_UR_HOLD, 0, NULL, out, room, used);
        return status == FF_OK ? FF_INFO_LIMITED : status;
    case PROGRAM:
        return await_program(r, &packet, message, message_size);
    case RUNS:
        return FF_OK;
    }
    return FF_ERR_FORMAT;
}

/* -------------------------------------------------------------------------------------------- telegrams --
 */

static ff_pose pose_of(const double *value) {
    return (ff_pose){ff_quat_exp(ff_vec3_make(value[3], value[4], value[5])),
                     ff_vec3_make(value[0], value[1], value[2])};
}

static void put_signals(const double *value, ff_robot_report *report) {
    const uint32_t status = (uint32_t)value[AT_STATUS], safety = (uint32_t)value[AT_SAFETY];
    report->signals = 1u << FF_SIGNAL_DRIVES | 1u << FF_SIGNAL_EMERGENCY | 1u << FF_SIGNAL_OVERRIDE |
                      1u << FF_SIGNAL_PROGRAM | 1u << FF_SIGNAL_PROTECTIVE;
    report->signal[FF_SIGNAL_DRIVES] = (status & FF_UR_STATUS_POWERED) != 0;
    report->signal[FF_SIGNAL_EMERGENCY] = (safety & FF_UR_SAFETY_EMERGENCY) != 0;
    /* a stop pauses the program: the stop is what is reported */
    const uint32_t stops = FF_UR_SAFETY_EMERGENCY | FF_UR_SAFETY_PROTECTIVE | FF_UR_SAFETY_OTHER;
    report->signal[FF_SIGNAL_PROGRAM] = (status & FF_UR_STATUS_RUNS) != 0 || (safety & stops) != 0;
    report->signal[FF_SIGNAL_PROTECTIVE] = (safety & (FF_UR_SAFETY_PROTECTIVE | FF_UR_SAFETY_OTHER)) != 0;
    report->signal[FF_SIGNAL_OVERRIDE] = (unsigned)lround(100.0 * fmin(fmax(value[AT_SCALING], 0.0), 10.0));
}

/* Whether the orders that are on their way are still steps from where the program is. `most`, the patience
 * with a new chain, is not renewed before the program has taken an order: one that never comes to it is late
 * in every cycle. */
static bool follow_chain(robot *r, int32_t taken, double stood, double cycles) {
    const bool grown = taken > r->taken, begun = taken >= r->chain.from;
    r->chain.waited = grown ? 0.0 : r->chain.waited + cycles;
    const bool on = begun ? !(stood > 0.0) && r->count - taken <= BEHIND
                          : taken == r->chain.base && r->chain.waited <= r->chain.most;
    if (grown && !begun)
        r->chain.most = -1.0;
    return on && !r->waits;
}

/* The robot holds the target of the order that the program took last. */
static void begin_anew(robot *r, int32_t taken) {
    memcpy(r->sent, r->at, sizeof r->sent);
    if (taken >= r->chain.from || r->chain.most < 0.0)
        r->chain.most = r->chain.waited + BEHIND;
    r->chain.anew = true;
}

static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    robot *r = self;
    ff_rtde_packet packet;
    size_t whole;
    double value[OUTPUT_VALUES];
    (void)now;
    if (size > FF_DEVICE_READ_MAX || ff_rtde_decode(bytes, size, &packet, &whole) != FF_OK || whole != size) {
        r->counters.malformed++;
        return FF_ERR_FORMAT;
    }
    if (packet.type != FF_RTDE_DATA) { /* a text between, a late reply */
        r->counters.empty++;
        return FF_INFO_STALE;
    }
    if (decode_values(r, &packet, value) != FF_OK) {
        r->counters.malformed++;
        return FF_ERR_FORMAT;
    }
    const double since = value[AT_TIME] - r->value[AT_TIME];
    if (r->known && !(since > 0.0)) {
        if (since < -1.0) /* its clock began again */
            r->restarted = true;
        *(since == 0.0 ? &r->counters.repeated : &r->counters.reordered) += 1;
        return r->restarted ? FF_ERR_DEVICE : FF_INFO_STALE;
    }
    const double cycles = r->known ? fmin(round(since / r->settings.cycle), 1e9) : 1.0;
    const uint64_t lost = cycles > 1.0 ? (uint64_t)cycles - 1 : 0;
    const int32_t taken = (int32_t)value[AT_TAKEN];
    /* The program that we sent runs, and is at an order that we know. */
    const bool ours = value[AT_RUN] == (double)r->settings.run;
    const bool kept = taken == r->taken || (taken > r->taken && taken <= r->count && r->count - taken < KEPT);
    if (r->known && (!ours || !kept))
        r->restarted = true;
    if (kept && taken > r->taken)
        memcpy(r->at, r->kept[taken % KEPT], sizeof r->at);
    const bool follows = !r->restarted && follow_chain(r, taken, value[AT_STOOD], cycles);
    r->counters.received++;
    r->counters.lost += lost;
    r->counters.unanswered += r->waits;
    r->counters.late += r->known && !follows;
    sample->robot = (ff_robot_report){.pose = pose_of(value + AT_POSE),
                                      .lost = lost,
                                      .anchored = true, /* poses, not corrections */
                                      .taken = r->known && follows && !r->waits,
                                      .stood = !follows,
                                      .back = r->known && !follows && !r->restarted,
                                      .late = lost + (r->known && !follows),
                                      .restarted = r->restarted,
                                      .arrives = value[AT_ARRIVES] > 0.0 ? value[AT_ARRIVES] : FF_NAN};
    memcpy(sample->robot.joints.a, value + AT_Q, 6 * sizeof *value);
    for (int i = 0; i < FF_MAX_BODIES; i++)
        sample->robot.record_arrives[i] =
            i < FF_UR_RECORDS && value[AT_RECORDS + i] > 0.0 ? value[AT_RECORDS + i] : FF_NAN;
    put_signals(value, &sample->robot);
    if (!r->known) { /* where it stands before the first order */
        memcpy(r->sent, value + AT_Q, sizeof r->sent);
        memcpy(r->at, value + AT_Q, sizeof r->at);
    } else if (!follows && !r->restarted)
        begin_anew(r, taken);
    memcpy(r->value, value, sizeof value);
    r->taken = taken;
    r->known = r->waits = true;
    return lost ? FF_INFO_GAP : FF_OK;
}

/* A robot that was never moved holds where it stands. */
static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    robot *r = self;
    (void)now;
    *used = 0;
    if (!r->waits)
        return FF_ERR_ARGUMENT;
    ff_status status = FF_OK;
    if (order->moves) {
        bool finite = true;
        for (int a = 0; a < 6; a++)
            finite = finite && isfinite(order->joints.a[a]);
        if (finite) {
            memcpy(r->sent, order->joints.a, sizeof r->sent);
            r->mode = FF_UR_SERVO;
        } else {
            r->counters.refused++;
            status = FF_ERR_NOT_FINITE;
        }
    }
    const double *before = r->chain.anew ? r->at : r->kept[r->count % KEPT];
    const bool same = !memcmp(r->sent, before, sizeof r->sent);
    r->count++;
    const ff_status made =
        encode(r, order->stop ? FF_UR_END : r->mode, order->state, order->text, bytes, size, used);
    if (made != FF_OK) {
        r->count--;
        *used = 0;
        return made;
    }
    if (r->chain.anew) {
        r->chain.from = r->count;
        r->chain.base = r->taken;
    }
    r->chain.still = !same ? 0 : r->chain.anew || r->chain.still ? 2 : 1;
    r->chain.anew = false;
    memcpy(r->kept[r->count % KEPT], r->sent, sizeof r->sent);
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

static const ff_setting setting[] = {
    FF_DEVICE_PORT("port", port, "30004", "TCP port of RTDE at the controller."),
    FF_DEVICE_PORT("script_port", page_port, "30002",
                   "TCP port at which the controller takes the program that follows our set points."),
    {.name = "arm",
     .type = FF_SETTING_CHOICE,
     .unit = "",
     .offset = FF_DEVICE_SETTING(arm),
     .absent = "ur10e",
     .choice = ff_arm_names,
     .help = "Kinematics; of a calibrated arm better by its own URDF file."},
    {.name = "lookahead",
     .type = FF_SETTING_REAL,
     .unit = "s",
     .offset = FF_DEVICE_SETTING(lookahead),
     .absent = "0.03",
     .low = 0.03,
     .high = 0.2,
     .help = "`lookahead_time` of servoj: the controller smooths the set points over it. The virtual robot "
             "follows so much later, critically damped, after `delay`."},
    {.name = "gain",
     .type = FF_SETTING_REAL,
     .unit = "",
     .offset = FF_DEVICE_SETTING(gain),
     .absent = "2000",
     .low = 100,
     .high = 2000,
     .help = "`gain` of servoj."},
};

const ff_device ff_device_rtde = {
    .name = "ur-rtde",
    .help = "a Universal Robots controller (e-Series or newer) over RTDE, `address` "
            "is its own; `run` and `facility` take it for `delay` and `lookahead`.",
    .kind = FF_DEVICE_ROBOT,
    .setting = setting,
    .settings = sizeof setting / sizeof *setting,
    .port = FF_RTDE_PORT,
    .second = FF_UR_SCRIPT_PORT,
    .bytes = sizeof(robot),
    .open = open,
    .range = range,
    .frame = frame,
    .greet = greet,
    .program = program,
    .sample = sample,
    .answer = answer,
    .sent = sent,
    .count = count};
