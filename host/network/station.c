/* The station: opening and closing the devices, the sample of a cycle, and the end. */
#include "network/internal.h"

#include "text/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- open --
 */

/* What the sensor says of itself. */
static ff_status read_page(ff_network *s, int i, char *message, size_t size) {
    const ff_device *device = s->address->body[i].sensor;
    if (!device->page)
        return FF_OK;
    char *page = malloc(FF_DEVICE_PAGE_MAX + 1024);
    size_t used = 0;
    ff_status status = page ? FF_OK : FF_ERR_MEMORY;
    if (!page)
        snprintf(message, size, "no memory for the sensor's page");
    /* the facility may be starting at this moment: asked again soon, then less and less often */
    int64_t nap = 1000000;
    const int64_t give_up = ff_clock_now() + (int64_t)(1e9 * ff__network_patience(s));
    for (; !status;) {
        status = ff_http_get(&s->address->body[i].page_at, device->page, 1.0, page, FF_DEVICE_PAGE_MAX, &used,
                             message, size);
        if (status != FF_ERR_DEVICE || ff_clock_now() > give_up || atomic_load(s->options.stop))
            break;
        status = FF_OK;
        ff_clock_sleep_until(ff_clock_now() + nap);
        nap = nap < 25000000 ? 2 * nap : 50000000;
    }
    if (!status) {
        s->heard = true;
        message[0] = 0;
        status = device->configure(s->body[i].sensor, page, used);
        if (status != FF_OK)
            snprintf(message, size, "the sensor's page: %s", ff_status_text(status));
    }
    free(page);
    return status;
}

/* Not that of any program that ran before. */
static uint32_t run_number(int body) {
    return (uint32_t)((uint64_t)ff_clock_real() / 1000000 + (uint64_t)body) % 0x7fffffffu + 1u;
}

static ff_status open_body(ff_network *s, int i, char *message, size_t size) {
    ff_network_body *b = &s->body[i];
    const ff_address *address = &s->address->body[i];
    const ff_plan_body *plan = &s->plan->body[i];
    b->robot = calloc(1, address->robot->bytes);
    b->sensor = calloc(1, address->sensor->bytes);
    if (!b->robot || !b->sensor) {
        snprintf(message, size, "no memory for the devices");
        return FF_ERR_MEMORY;
    }
    ff_status status = FF_OK;
    if (!address->robot->frame && !address->robot->topics)
        status = ff_socket_open(&address->robot_at, &b->robot_fd, NULL, message, size);
    if (status != FF_OK)
        return status;
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (ff_socket_is_loopback(&address->sensor_at))
        any.sin_addr = address->sensor_at.sin_addr;
    any.sin_port = htons((uint16_t)s->scenario->satellite[i].sensor.device.listen);
    if (!address->sensor->frame && !address->sensor->topics)
        status = ff_socket_open(&any, &b->sensor_fd, NULL, message, size);
    if (status != FF_OK)
        return status;
    const ff_device_settings *robot = &s->scenario->satellite[i].robot.device;
    b->window = (unsigned)fmin(FF_NETWORK_TRACK, ceil(plan->delay / s->plan->cycle) + 50.0);
    ff_device_settings settings = *robot; /* with what follows from the rest of the scenario */
    settings.cartesian = plan->cartesian;
    settings.increments = plan->increments;
    settings.heartbeat = plan->heartbeat;
    settings.rail = plan->arm.config.rail.rule != FF_ARM_RAIL_NONE;
    settings.window = b->window;
    settings.cycle = s->plan->cycle;
    settings.tool = plan->arm.config.tool;
    settings.run = run_number(i);
    const ff_sensor_config *sensor = &s->scenario->satellite[i].sensor;
    ff_device_settings sensing = sensor->device;
    sensing.cycle = s->plan->cycle;
    sensing.run = run_number(i);
    ff_device_range range;
    address->robot->open(b->robot, &settings);
    address->robot->range(b->robot, &range);
    b->turn = range.turn;
    b->axis = range.axis;
    b->shift = range.shift;
    address->sensor->open(b->sensor, &sensing);
    ff_axes_reset(&b->axes, &plan->home);
    b->T_ba = ff_pose_identity();
    status = read_page(s, i, message, size);
    if (status == FF_OK && address->sensor->frame)
        status =
            ff_stream_open(&b->sensor_stream, address->sensor, b->sensor, &address->sensor_at, NULL,
                           ff__network_patience(s), s->options.stop, &b->sensor_fd, &s->heard, message, size);
    if (status == FF_OK && address->sensor->topics) {
        status = ff_stream_join(&b->sensor_link, address->sensor, b->sensor, &sensing, &address->sensor_at,
                                ff__network_patience(s), s->options.loop_cpu, s->options.stop, &s->heard,
                                message, size);
        b->sensor_fd = b->sensor_link.fd;
    }
    if (status == FF_OK && address->robot->topics) {
        status = ff_stream_join(&b->link, address->robot, b->robot, &settings, &address->robot_at,
                                ff__network_patience(s), s->options.loop_cpu, s->options.stop, &s->heard,
                                message, size);
        b->robot_fd = b->link.fd;
    }
    if (status == FF_OK && address->robot->frame) {
        status =
            ff_stream_open(&b->stream, address->robot, b->robot, &address->robot_at, &address->program_at,
                           ff__network_patience(s), s->options.stop, &b->robot_fd, &s->heard, message, size);
    }
    if (status != FF_OK)
        return status;
    /* a sensor's range is the smaller of the scenario's and its own: here, for all that ask */
    address->sensor->range(b->sensor, &range);
    b->force_range = fmin(range.force, sensor->range_force);
    b->torque_range = fmin(range.torque, sensor->range_torque);
    return FF_OK;
}

static void close_all(void *self) {
    ff_network *s = self;
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        ff_network_body *b = &s->body[i];
        const ff_address *address = &s->address->body[i];
        if (b->sensor_fd >= 0) { /* leave the sensor silent */
            uint8_t bytes[FF_DEVICE_SEND_MAX];
            size_t used;
            if (address->sensor->stop(b->sensor, bytes, sizeof bytes, &used) == FF_OK && used)
                ff_socket_send(b->sensor_fd, bytes, used, &address->sensor_at);
            if (b->sensor_link.fd < 0)
                close(b->sensor_fd);
        }
        if (b->robot_fd >= 0 && b->link.fd < 0)
            close(b->robot_fd);
        ff_link_close(&b->link);
        ff_link_close(&b->sensor_link);
        b->robot_fd = b->sensor_fd = -1;
        free(b->robot);
        free(b->sensor);
        b->robot = b->sensor = NULL;
    }
    ff__network_close_arm(s);
}

static ff_status open_all(void *self, const double *lead, char *message, size_t size) {
    ff_network *s = self;
    (void)lead; /* the run-up has it */
    ff_status status = FF_OK;
    for (int i = 0; i < s->plan->bodies && !status; i++)
        status = open_body(s, i, message, size);
    if (status == FF_OK)
        status = ff__network_open_arm(s, run_number(s->plan->bodies), message, size);
    if (status != FF_OK)
        close_all(s);
    return status;
}

static void range(const void *self, int i, double *force, double *torque) {
    const ff_network *s = self;
    *force = s->body[i].force_range;
    *torque = s->body[i].torque_range;
}

static void bound(void *self, int i, const ff_safety_limits *limits, const ff_output_config *output) {
    ff_network *s = self;
    s->body[i].limits = *limits;
    s->body[i].output_config = *output;
}

static void show(void *self, int i, const char *text) {
    ((ff_network *)self)->body[i].text = text;
}

static void tell(void *self, int state) {
    ((ff_network *)self)->state = state;
}

/* ----------------------------------------------------------------------------------------------- sample --
 */

/* Once every device speaks: the arm is led on from where it stands, in the branch of its own axes, from the
 * carriage's own place, and from its own pose. What that and the controller's differ by, up to the check's
 * limits, would be a jump in the first command. */
static void anchor(ff_network *s, int i) {
    ff_network_body *b = &s->body[i];
    ff_plan_body *plan = &s->plan->body[i];
    const ff_arm_joints joints = b->report.joints;
    const ff_pose T = ff_arm_forward(&plan->arm, &joints);
    plan->home = joints;
    ff_axes_reset(&b->axes, &joints);
    b->T_ba = ff_pose_mul(ff_pose_inverse(ff_plan_from_base(plan, b->report.pose)), T);
    b->T_ba.q = ff_quat_unit(b->T_ba.q);
    if (plan->arm.config.rail.rule == FF_ARM_RAIL_FOLLOW)
        plan->arm.config.rail.standoff = ff_arm_along(&plan->arm, &T) - joints.rail;
}

/* Poses of this cycle, the others' at the pacing robot's time; before it, those of the cycles whose telegram
 * was lost, on a line between: the loop's time continues with the robot's. */
static void begin_cycle(ff_network *s) {
    s->fill.lost = s->speaks ? s->body[0].gap : 0;
    /* more than may be missed end the run: a satellite that is led on without a sensor for as long tells
     * nothing */
    const double most = fmin(FF_NETWORK_FILLED, s->body[0].limits.missed);
    s->fill.left = (uint64_t)fmin((double)s->fill.lost, most);
    s->fill.of = s->fill.left + 1;
    for (int i = 0; i < s->plan->bodies; i++) {
        ff_network_body *b = &s->body[i];
        const ff_pose at = ff_plan_from_base(&s->plan->body[i], b->report.pose);
        if (s->speaks && !s->anchored)
            anchor(s, i);
        s->fill.from[i] = b->motion.known ? b->pose : at;
        s->fill.to[i] = at;
        if (s->speaks && i > 0 && ff_network_clock_known(s, i) && ff_network_clock_known(s, 0))
            s->fill.to[i] = ff_follow_at(&b->follow, s->plan->cycle, s->pace);
    }
    s->anchored = s->speaks;
}

static double tracking_error(const ff_network_body *b) {
    double least = FF_INF;
    const uint64_t n = b->tracked < b->window ? b->tracked : b->window;
    for (uint64_t j = 1; j <= n; j++)
        least =
            fmin(least,
                 ff_vec3_norm(ff_vec3_sub(b->track[(b->tracked - j) % FF_NETWORK_TRACK].p, b->measured.T.p)));
    return n ? least : 0.0;
}

/* How far the joint that is nearest to an end of its range has moved towards it. */
static double joint_share(const ff_network_body *b, const ff_arm_model *arm) {
    double share = 0.0;
    for (int a = 0; a < arm->config.axes; a++) {
        const double low = arm->config.lower[a], high = arm->config.upper[a];
        share = fmax(share, fabs(2.0 * b->axes.at.a[a] - low - high) / (high - low));
    }
    return share;
}

static void report_device(const ff_network *s, int i, ff_sample_device *device) {
    const ff_network_body *b = &s->body[i];
    const ff_plan_body *plan = &s->plan->body[i];
    const ff_clockfit_state *fit = &b->follow.fit;
    const double T = s->plan->cycle, unheard = s->pace - b->arrived;
    *device = (ff_sample_device){.reached = !b->strange && !(i > 0 && unheard > ff__network_patience(s)),
                                 .moved = b->output.moved,
                                 .stands = b->standing_for > 1,
                                 .joints = b->report.joints,
                                 /* a pose that is led on without telegrams says nothing of the robot */
                                 .tracking = unheard < 1.5 * T ? tracking_error(b) : 0.0,
                                 .joint = plan->cartesian ? 0.0 : joint_share(b, &plan->arm),
                                 .apart = b->report.apart,
                                 .clipped = b->report.clipped,
                                 .clipped_by = b->report.clipped_by,
                                 .clipped_limit = b->report.clipped_limit,
                                 .silence = i > 0 ? fmax(0.0, unheard) : s->waited,
                                 .given_up = b->given_up,
                                 .health = b->since.health,
                                 .word = (double)b->since.word,
                                 .most_force = b->since.force,
                                 .most_torque = b->since.torque,
                                 .jump = fmin(ff_vec3_norm(ff_vec3_sub(b->since.far, b->since.from)),
                                              ff_vec3_norm(ff_vec3_sub(b->since.far, b->record.f_s.f))),
                                 .repeats = (double)b->record.repeats,
                                 .force = b->record.force,
                                 .torque = b->record.torque,
                                 .has_clock = ff_network_clock_known(s, i),
                                 .drift = fit->rate,
                                 .offset = fit->offset,
                                 .residual = fit->residual,
                                 .rms = ff_clockfit_rms(fit)};
}

/* filled: in a cycle whose telegram was lost, and that was not answered. */
static void report_body(ff_network *s, int i, ff_pose T, bool filled, ff_sample_body *body) {
    ff_network_body *b = &s->body[i];
    /* one that has a clock of its own was there at another time than the pacing one */
    if (b->known && b->report.rated && !filled && i == 0)
        b->measured =
            ff_motion_given(&b->motion, &(ff_setpoint){T, b->twist}, s->plan->cycle, &b->acceleration);
    else if (b->known) /* its pose is not known before */
        b->measured = ff_motion_step(&b->motion, T, s->plan->cycle, &b->acceleration);
    body->sensor.f_s = b->record.f_s;
    body->sensor.age = (double)b->aged * s->plan->cycle;
    body->sensor.T_wb = b->measured.T;
    body->sensor.twist = b->measured.twist;
    body->sensor.acceleration = b->acceleration;
    body->sent = (ff_sent){b->out.to, b->out.lag, b->out.limited || b->out.braking || filled};
    body->next = (ff_sent){.to = {b->output.pose, b->out.to.twist}}; /* it stands there without an answer */
    body->rests = b->out.rests;
    body->rest = b->output.moved ? b->rest : b->measured.T.p;
    body->boxed = b->boxed;
    b->beyond = b->beyond && filled;
    report_device(s, i, &body->device);
}

/* What is wrong, and what was lost, once a telegram. */
static void report_faults(ff_network *s, ff_sample *sample) {
    const double silence = ff__network_patience(s);
    sample->missed = 0.0;
    for (int i = 0; i < s->plan->bodies; i++) {
        ff_network_body *b = &s->body[i];
        const double unheard = s->pace - b->arrived;
        sample->missed = fmax(sample->missed, (double)b->gap);
        b->gap = 0;
        if (i > 0 && b->known && unheard > silence)
            ff__network_find(
                s, (ff_trip){.code = FF_TRIP_SILENT, .body = i, .value = unheard, .limit = silence});
        if (b->strange)
            ff__network_find(s, (ff_trip){.code = b->strange, .body = i});
    }
    if (s->silent)
        ff__network_find(s, (ff_trip){.code = FF_TRIP_SILENT, .value = silence, .limit = silence});
    if (!s->speaks && s->asked == 0)
        s->asked = ff_clock_now();
    const double waited = s->speaks ? 0.0 : 1e-9 * (double)(ff_clock_now() - s->asked);
    for (int i = 0; i < s->plan->bodies && waited > silence; i++) { /* a device that never spoke */
        if (!s->body[i].known)
            ff__network_find(s,
                             (ff_trip){.code = FF_TRIP_SILENT, .body = i, .value = waited, .limit = silence});
        else if (!s->body[i].has_record)
            ff__network_find(s, (ff_trip){.code = FF_TRIP_AGE, .body = i, .value = waited, .limit = silence});
    }
    if (s->arm.fd >= 0 && !s->arm.known && waited > silence)
        ff__network_find(
            s, (ff_trip){.code = FF_TRIP_SILENT, .body = s->arm.body, .value = waited, .limit = silence});
    sample->found = s->found;
    s->found = (ff_trip){.code = FF_TRIP_NONE};
}

static ff_status wait(void *self, ff_sample *sample) {
    ff_network *s = self;
    const bool begins = s->fill.of == 0;
    if (begins && !ff__network_wait_telegram(s)) {
        if (!s->speaks && atomic_load(s->options.stop))
            return FF_ERR_LIMIT;
        sample->silent = s->silent = true;
        sample->body[0].device.silence = s->waited;
        sample->filled = false;
        report_faults(s, sample);
        return FF_ERR_DEVICE;
    }
    if (begins)
        begin_cycle(s);
    sample->k = s->k;
    sample->lost = begins ? s->fill.lost : 0;
    sample->filled = s->fill.left > 0;
    sample->wake = s->wake;
    sample->lateness_ns = s->lateness_ns;
    sample->io_ns = s->io_ns;
    sample->found = (ff_trip){.code = FF_TRIP_NONE};
    const double share = (double)(s->fill.of - s->fill.left) / (double)s->fill.of;
    for (int i = 0; i < s->plan->bodies; i++)
        report_body(
            s, i, sample->filled ? ff_pose_interpolate(s->fill.from[i], s->fill.to[i], share) : s->fill.to[i],
            sample->filled, &sample->body[i]);
    ff__network_sample_arm(s, &sample->joints);
    if (sample->filled) {
        s->fill.left--;
        return FF_OK;
    }
    s->fill.of = 0;
    bool speaks = s->arm.fd < 0 || s->arm.known;
    for (int i = 0; i < s->plan->bodies; i++) {
        s->body[i].pose = s->speaks ? s->fill.to[i] : s->body[i].measured.T;
        speaks &= s->body[i].known && s->body[i].has_record;
    }
    report_faults(s, sample);
    sample->speaks = s->speaks = s->speaks || speaks;
    return FF_OK;
}

/* ---------------------------------------------------------------------------------------------- command --
 */

static void offer(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal) {
    (void)next; /* a robot is answered when its telegram has come */
    (void)led;
    ff_network *s = self;
    s->k = k;
    s->nominal = *nominal;
}

static void write_targets(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                          const ff_wrench *measured_b, const ff_arm_order *arm, ff_sent *sent) {
    ff_network *s = self;
    (void)k;
    (void)measured_b;
    s->led = led;
    for (int i = 0; i < s->plan->bodies; i++)
        if (led >> i & 1u)
            ff__network_aim(s, i, &command[i]);
        else
            ff_output_brake(&s->body[i].output);
    for (int i = 0; i < s->plan->bodies; i++) {
        ff__network_answer(s, i, false);
        const ff_output_out *out = &s->body[i].out;
        const bool limited = out->limited || out->braking;
        sent[i] = (ff_sent){limited ? out->to : command[i], out->lag, limited};
    }
    ff__network_order_arm(s, arm);
}

static const ff_truth *truth(const void *self) {
    (void)self;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- end --
 */

/* A robot that had its answer when the stop was sent gets the stop with its next telegram, which may be as
 * late as any before the robot counts as silent; one that continues has not had it, and gets it again. */
static void end_all(ff_network *s) {
    const double silence = s->options.silence > 0.0 ? s->options.silence : FF_SAFETY_SILENCE;
    for (int i = 0; i < s->plan->bodies; i++)
        ff__network_answer(s, i, true);
    int64_t arrived, heard = ff_clock_now();
    for (int tries = 0; tries < 20;) {
        bool due = false; /* somebody was not commanded to stop yet */
        bool any = ff__network_end_arm(s, &due);
        for (int i = 0; i < s->plan->bodies; i++) {
            const ff_network_body *b = &s->body[i];
            if (ff__network_take_telegram(s, i, &arrived)) {
                ff__network_answer(s, i, true);
                any = true;
            }
            due |= b->known && !b->ended && !b->strange && s->pace - b->arrived < silence;
        }
        tries += any;
        if (any) {
            heard = ff_clock_now();
            continue;
        }
        if (1e-9 * (double)(ff_clock_now() - heard) > (due ? silence : 2.0 * s->plan->cycle))
            break;
        ff_clock_sleep_until(ff_clock_now() + 200000);
    }
}

/* The pacing robot is gone; the others still speak: each is braked at the pace of its own telegrams. */
static void brake_others(ff_network *s) {
    unsigned rest[FF_MAX_BODIES] = {0};
    int64_t arrived, heard = ff_clock_now();
    bool any = s->plan->bodies > 1;
    while (any && 1e-9 * (double)(ff_clock_now() - heard) < ff__network_patience(s)) {
        any = false;
        for (int i = 1; i < s->plan->bodies; i++) {
            ff_network_body *b = &s->body[i];
            if (!b->output.moved || b->ended || b->strange)
                continue;
            any = true;
            if (!b->fresh && !ff__network_take_telegram(s, i, &arrived))
                continue;
            heard = ff_clock_now();
            ff_output_brake(&b->output);
            ff__network_answer(s, i, rest[i] > FF_NETWORK_SETTLE);
            rest[i] += b->out.rests;
        }
        ff__network_attend_arm(s);
        ff_clock_sleep_until(ff_clock_now() + 200000);
    }
    bool due = s->arm.fd >= 0;
    for (heard = ff_clock_now(); due && 1e-9 * (double)(ff_clock_now() - heard) < ff__network_patience(s);) {
        ff__network_end_arm(s, &due);
        ff_clock_sleep_until(ff_clock_now() + 200000);
    }
}

static void release(void *self) {
    ff_network *s = self;
    s->led = 0;
    s->arm.order.holds = true;
    if (s->silent)
        brake_others(s);
    else
        end_all(s);
}

ff_station ff_network_station(ff_network *s, const ff_scenario *scenario, ff_plan *plan,
                              const ff_addresses *address, const ff_network_options *options) {
    *s = (ff_network){.scenario = scenario, .plan = plan, .address = address, .options = *options};
    s->fitting = s->fitting_sensor = ff_clockfit_default();
    s->fitting_sensor.drift = 0.005; /* its nominal period is a guess from records that jitter */
    s->epoch = ff_clock_now();
    s->virtual_now = FF_NAN;
    s->arm.fd = -1;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        s->body[i].robot_fd = s->body[i].sensor_fd = s->body[i].link.fd = s->body[i].sensor_link.fd = -1;
    return (ff_station){.self = s,
                        .devices = true,
                        .open = open_all,
                        .offer = offer,
                        .wait = wait,
                        .write = write_targets,
                        .truth = truth,
                        .range = range,
                        .bound = bound,
                        .show = show,
                        .tell = tell,
                        .release = release,
                        .close = close_all};
}
