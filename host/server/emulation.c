/* The robot of an emulation as a device: an arm that is commanded by joint torques (devices/torque), the
 * plant of `run` behind it. */
#include "emulate/arm.h"
#include "server/internal.h"
#include "text/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* [rad/s] of the joints under their brakes: critically damped, a thousandth is left of a speed after 0.2 s.
 */
static const double BRAKE_RATE = 50.0;

typedef struct arm_server {
    const ff_facility_options *options;
    ff_facility_result *result;
    ff_emulate_machine machine;
    ff_emulate_plant *plant;
    ff_torque_arm_config config;
    ff_torque_arm arm;
    struct sockaddr_in to;
    int fd;
    int64_t deadline; /* [ns] of the running cycle */
    bool client;      /* somebody has answered in this session */
    double time;      /* [s] since the facility began */
} arm_server;

static void tell_arm(const arm_server *f, const char *line) {
    if (f->options->say)
        f->options->say(f->options->user, line);
}

/* The tip's force in the task's axes as a wrench: of a plane its x and y, of one joint along the arc. */
static void put_wrench(const ff_mechanism *m, const double *f, double *wrench) {
    for (size_t i = 0; i < m->task; i++)
        wrench[m->spatial ? (i + 3) % 6 : i] = f[i];
}

static ff_status measure_arm(arm_server *f, ff_torque_measured *m) {
    const ff_emulate_robot robot = ff_emulate_plant_robot(f->plant);
    const ff_mechanism *mechanism = &f->machine.config.robot;
    const size_t n = mechanism->dof;
    ff_emulate_reading x;
    const ff_status status = robot.read(robot.self, &x);
    if (status != FF_OK)
        return status;
    memset(m, 0, sizeof *m);
    m->arrives = f->time;
    memcpy(m->q, x.q, n * sizeof *x.q);
    memcpy(m->qd, x.v, n * sizeof *x.v);
    memcpy(m->torque, x.torque, n * sizeof *x.torque);
    put_wrench(mechanism, x.f, m->wrench);
    ff_mechanism_terms terms;
    mechanism->terms(mechanism, x.q, x.v, FF_TERMS_POSITION, &terms);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < mechanism->task; i++)
            m->external[j] += terms.J[i * n + j] * x.f[i];
    return FF_OK;
}

/* Commands that came; true once the telegram has its own. */
static bool take_command(arm_server *f) {
    uint8_t bytes[FF_DEVICE_READ_MAX];
    struct sockaddr_in from;
    int64_t stamp;
    for (int n = 0; n < 16; n++) {
        const long size = ff_socket_receive(f->fd, bytes, sizeof bytes, &from, &stamp);
        if (size == 0)
            break;
        if (!ff_socket_same(&from, &f->to)) { /* whoever it is: it is not who is sent telegrams */
            f->arm.count.strange++;
            continue;
        }
        ff_torque_arm_receive(&f->config, &f->arm, bytes, size > 0 ? (size_t)size : sizeof bytes + 1);
    }
    return f->arm.answered;
}

/* Until the command is there or the cycle is over; in lock step as long as somebody may answer. False: he has
 * gone. */
static bool wait_command(arm_server *f) {
    const bool steps = f->options->lockstep;
    const double patience = !f->client ? 0.02 : f->options->patience > 0.0 ? f->options->patience : 20.0;
    f->deadline += (int64_t)llround(1e9 * f->config.cycle);
    const int64_t now = ff_clock_now();
    if (f->deadline < now - 50000000) /* fell behind: do not race */
        f->deadline = now;
    const int64_t until = steps ? now + (int64_t)(1e9 * patience) : f->deadline;
    for (;;) {
        const bool taken = take_command(f);
        const int64_t left = until - ff_clock_now();
        if ((taken && steps) || left <= 0 || atomic_load(f->options->stop))
            return taken || !steps || !f->client;
        ff_socket_wait(f->fd, left < 20000000 ? left : 20000000);
    }
}

static ff_status start_arm(arm_server *f, char *message, size_t size) {
    ff_status status;
    ff_emulate_plant_free(f->plant);
    f->plant = ff_emulate_plant_create(&f->machine.config, message, size, &status);
    ff_torque_arm_reset(&f->arm, (uint32_t)(ff_clock_real() / 1000000));
    f->client = false;
    return status;
}

/* One cycle; false when the session has ended. */
static bool arm_cycle(arm_server *f) {
    ff_torque_measured measured;
    ff_torque_action action;
    uint8_t bytes[FF_TORQUE_TELEGRAM_MAX];
    size_t used;
    f->time += f->config.cycle;
    if (measure_arm(f, &measured) != FF_OK ||
        ff_torque_arm_send(&f->config, &f->arm, &measured, bytes, sizeof bytes, &used) != FF_OK) {
        tell_arm(f, "the arm's motion is not finite: it stopped");
        return false;
    }
    ff_socket_send(f->fd, bytes, used, &f->to);
    const bool there = wait_command(f);
    ff_torque_arm_finish(&f->config, &f->arm, &action);
    if (!f->client && f->arm.answered) {
        tell_arm(f, "a client answers");
        f->client = true;
    }
    const ff_emulate_robot robot = ff_emulate_plant_robot(f->plant);
    if (action.brakes)
        ff_emulate_plant_brake(f->plant, BRAKE_RATE);
    else if (robot.drive(robot.self, action.torque) != FF_OK)
        return false;
    const bool gone = f->arm.answered && f->arm.command.mode == FF_TORQUE_END,
               stands = f->arm.state == FF_TORQUE_FAULT && f->arm.missing > 25;
    return there && !gone && !stands;
}

static void end_arm(arm_server *f) {
    ff_facility_result *result = f->result;
    char line[256];
    if (!f->client)
        return;
    result->sessions++;
    result->arm = f->arm.count;
    result->cycles = f->arm.count.cycles;
    ff_emulate_plant_contact(f->plant, &result->contact_s, &result->peak_force);
    snprintf(line, sizeof line,
             "the arm %s%s after %llu cycles; %llu commands late, %llu stale, %llu strange, %llu malformed",
             f->arm.state == FF_TORQUE_FAULT ? "stands: " : "ended",
             f->arm.state == FF_TORQUE_FAULT ? ff_torque_fault_text((int)f->arm.fault) : "",
             (unsigned long long)result->cycles, (unsigned long long)f->arm.count.late,
             (unsigned long long)f->arm.count.stale, (unsigned long long)f->arm.count.strange,
             (unsigned long long)f->arm.count.malformed);
    tell_arm(f, line);
}

static ff_status open_arm(arm_server *f, const ff_scenario *scenario, char *message, size_t size) {
    ff_status status = scenario->target == FF_TARGET_ARM
                           ? ff_emulate_arms_open(&scenario->arms, &f->machine, message, size)
                           : ff_emulate_joint_open(&scenario->emulation, &f->machine, message, size);
    if (status != FF_OK)
        return status;
    f->machine.config.sampled = true; /* the arm does not ask who computes its torques */
    f->config = ff_torque_arm_default();
    ff_scenario_emulator_limits(scenario, &f->config.limits);
    f->config.cycle = scenario->cycle;
    f->config.lockstep = f->options->lockstep;
    if (f->options->timeout)
        f->config.silent = f->options->timeout;
    const ff_device *device;
    status =
        ff_address_find_arm(&scenario->emulator_at, &f->options->ports, 0, &device, &f->to, message, size);
    if (status == FF_OK && !ff_socket_is_loopback(&f->to)) {
        snprintf(message, size, "the scenario names an arm that is not on loopback: it is not virtual");
        return FF_ERR_UNSUPPORTED;
    }
    struct sockaddr_in any = f->to;
    any.sin_port = 0;
    if (status == FF_OK)
        status = ff_socket_open(&any, &f->fd, NULL, message, size);
    return status == FF_OK ? start_arm(f, message, size) : status;
}

void ff__server_emulate(const ff_scenario *scenario, const ff_facility_options *options,
                        ff_facility_result *result) {
    arm_server f = {.options = options, .result = result, .fd = -1};
    char *message = result->message;
    const size_t size = sizeof result->message;
    ff_status status = open_arm(&f, scenario, message, size);
    if (status == FF_OK) {
        char line[FF_NAME_SIZE + 128];
        snprintf(line, sizeof line, "%s: joint torques to port %u every %g ms%s", scenario->name,
                 ntohs(f.to.sin_port), 1e3 * f.config.cycle, options->lockstep ? " (lockstep)" : "");
        tell_arm(&f, line);
        if (options->ready)
            atomic_store(options->ready, true);
        f.deadline = ff_clock_now();
        while (status == FF_OK && !atomic_load(options->stop)) {
            if (arm_cycle(&f))
                continue;
            end_arm(&f);
            if (options->once && result->sessions)
                break;
            status = start_arm(&f, message, size);
        }
        if (atomic_load(options->stop))
            end_arm(&f);
    }
    result->status = status;
    if (f.fd >= 0)
        close(f.fd);
    ff_emulate_plant_free(f.plant);
    ff_emulate_machine_close(&f.machine);
}
