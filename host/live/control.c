#include "live/control.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "live/internal.h"

static void parameter(ff_live_config *config, const char *name, const char *unit, double value, double high,
                      const char *effect) {
    ff_live_parameter *p = &config->parameter[config->parameters++];
    *p = (ff_live_parameter){.low = 0.0, .high = high, .value = value};
    snprintf(p->name, sizeof p->name, "%s", name);
    snprintf(p->unit, sizeof p->unit, "%s", unit);
    snprintf(p->effect, sizeof p->effect, "%s", effect);
}

/* The thresholds only say what counts as touch: they bound what noise may do and cannot make the robot jump
 * outside contact. */
void ff_live_parameters(const ff_scenario *scenario, ff_live_config *config) {
    ff_loop_config loop;
    ff_scenario_loop(scenario, &loop);
    const ff_method method = loop.fidelity.method;
    const ff_detector_config *d = method == FF_METHOD_TDPA      ? &loop.fidelity.tdpa.detector
                                  : method == FF_METHOD_DAMPING ? &loop.fidelity.damping.detector
                                                                : NULL;
    if (!d)
        return;
    parameter(config, "threshold", "N", d->force_on, 50.0,
              "forces below it are noise and do not move the satellite");
    parameter(config, "torque_threshold", "N m", d->torque_on, 20.0,
              "torques below it are noise and do not turn the satellite");
}

static ff_detector_config *detector(ff_loop_model *model) {
    ff_fidelity_config *f = &model->fidelity.config;
    return f->method == FF_METHOD_TDPA      ? &f->tdpa.detector
           : f->method == FF_METHOD_DAMPING ? &f->damping.detector
                                            : NULL;
}

static bool in_contact(const ff_live_control *control, const ff_run_access *access) {
    for (int i = 0; access->k > 0 && i < control->scenario->satellites; i++)
        if (access->out->fidelity.in_contact[i])
            return true;
    return false;
}

ff_status ff_live_control_start(ff_live_control *control, const ff_scenario *scenario, const char *address,
                                bool token, char *message, size_t size) {
    *control = (ff_live_control){.scenario = scenario, .paced = true, .speed = 1.0};
    ff_live_config *c = &control->config;
    *c = (ff_live_config){
        .address = address,
        .mode = "run",
        .scenario = scenario,
        .open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_RESUME) | FF_LIVE_BIT(FF_LIVE_STOP) |
                FF_LIVE_BIT(FF_LIVE_SPEED), /* nothing real moves, so going on is no arming */
        .guarded = FF_LIVE_BIT(FF_LIVE_ZERO) | FF_LIVE_BIT(FF_LIVE_SET),
        .control = token};
    ff_live_parameters(scenario, c);
    const ff_status status = ff_live_limits(scenario, c);
    if (status) {
        snprintf(message, size, "%s", ff_status_text(status));
        return status;
    }
    return ff_live_start(c, &control->live, message, size);
}

static void answer(ff_live_control *control, const ff_live_command *command, double t, bool done,
                   const char *text) {
    ff_live_answer(control->live, command, done, text);
    ff_live_event(control->live, done ? FF_LIVE_INFO : FF_LIVE_WARNING, t, text);
}

static void set_parameter(ff_live_control *control, const ff_run_access *access,
                          const ff_live_command *command) {
    ff_live_parameter *p = &control->config.parameter[command->parameter];
    char text[FF_LIVE_TEXT];
    ff_detector_config *d = access->model ? detector(access->model) : NULL;
    if (!d) {
        answer(control, command, access->t, false, "set refused: this method has nothing to tune");
        return;
    }
    if (in_contact(control, access)) {
        answer(control, command, access->t, false, "set refused: in contact");
        return;
    }
    ff_detector_config next = *d;
    *(strcmp(p->name, "threshold") == 0 ? &next.force_on : &next.torque_on) = command->value;
    if (ff_detector_validate(&next) != FF_OK) {
        answer(control, command, access->t, false, "set refused: outside its range");
        return;
    }
    *d = next;
    snprintf(text, sizeof text, "%s is now %.6g %s, it was %.6g", p->name, command->value, p->unit, p->value);
    p->value = command->value;
    answer(control, command, access->t, true, text);
}

static void start_zero(ff_live_control *control, const ff_run_access *access,
                       const ff_live_command *command) {
    if (!access->model) {
        answer(control, command, access->t, false, "zero refused: this method has no sensor");
    } else if (control->zero_left) {
        answer(control, command, access->t, false, "zero refused: already zeroing");
    } else if (in_contact(control, access)) {
        answer(control, command, access->t, false, "zero refused: in contact");
    } else {
        control->zero_cycles = control->zero_left =
            (uint64_t)ceil(FF_LIVE_ZERO_TIME / control->scenario->cycle);
        control->zero_command = *command;
        memset(control->zero_sum, 0, sizeof control->zero_sum);
    }
}

/* What is left of the contact wrench without contact, in the sensor's frame, belongs to the bias. */
static void go_on_zeroing(ff_live_control *control, const ff_run_access *access) {
    if (in_contact(control, access)) {
        control->zero_left = 0;
        answer(control, &control->zero_command, access->t, false, "zero given up: something was touched");
        return;
    }
    ff_loop_config *config = &access->model->config;
    for (int i = 0; i < control->scenario->satellites; i++) {
        const ff_wrench_config *w = &config->body[i].wrench;
        const ff_pose T_bs =
            w->environment ? ff_pose_mul(ff_pose_inverse(access->in->sensor[i].T_wb), w->T_ws) : w->T_bs;
        control->zero_sum[i] = ff_wrench_add(
            control->zero_sum[i], ff_wrench_transform(ff_pose_inverse(T_bs), access->out->measured_b[i]));
    }
    if (--control->zero_left)
        return;
    double most = 0.0;
    for (int i = 0; i < control->scenario->satellites; i++) {
        ff_wrench_config *w = &config->body[i].wrench;
        const ff_wrench mean = ff_wrench_scale(1.0 / (double)control->zero_cycles, control->zero_sum[i]);
        w->bias_s = ff_wrench_add(w->bias_s, mean);
        most = fmax(most, ff_vec3_norm(mean.f));
    }
    char text[FF_LIVE_TEXT];
    snprintf(text, sizeof text, "zeroed: %.3g N was the largest force taken away", most);
    answer(control, &control->zero_command, access->t, true, text);
}

void ff_live_control_apply(ff_live_control *control, const ff_run_access *access) {
    ff_live_command command;
    char text[FF_LIVE_TEXT];
    while (ff_live_next_command(control->live, &command)) {
        switch (command.verb) {
        case FF_LIVE_HOLD:
            control->held = true;
            answer(control, &command, access->t, true, "held");
            break;
        case FF_LIVE_RESUME:
            control->held = false;
            answer(control, &command, access->t, true, "goes on");
            break;
        case FF_LIVE_STOP:
            control->stopped = true;
            answer(control, &command, access->t, true, "stopped by the page");
            break;
        case FF_LIVE_SPEED:
            control->speed = command.value;
            control->anchor_ns = 0;
            snprintf(text, sizeof text, "pace %.3g x", command.value);
            answer(control, &command, access->t, true, text);
            break;
        case FF_LIVE_SET:
            set_parameter(control, access, &command);
            break;
        case FF_LIVE_ZERO:
            start_zero(control, access, &command);
            break;
        default:
            answer(control, &command, access->t, false, "not offered here");
        }
    }
}

static void sleep_until(int64_t ns) {
    const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

bool ff_live_control_between(void *self, const ff_run_access *access) {
    ff_live_control *control = self;
    if (control->zero_left && access->k > 0)
        go_on_zeroing(control, access);
    ff_live_control_apply(control, access);
    while (control->held && !control->stopped && !(control->interrupted && control->interrupted())) {
        ff_live_set_phase(control->live, FF_LIVE_HELD);
        control->anchor_ns = 0;
        sleep_until(ff_live__now() + 5000000);
        ff_live_control_apply(control, access);
    }
    ff_live_set_phase(control->live, control->stopped ? FF_LIVE_STOPPED : FF_LIVE_RUNNING);
    if (control->stopped || (control->interrupted && control->interrupted()))
        return false;
    if (!control->paced)
        return true;
    int64_t now = ff_live__now();
    if (!control->anchor_ns) {
        control->anchor_ns = now;
        control->anchor_t = access->t;
    }
    const int64_t due =
        control->anchor_ns + (int64_t)(1e9 * (access->t - control->anchor_t) / control->speed);
    if (due > now)
        sleep_until(due);
    now = ff_live__now();
    ff_live_set_late(control->live, now > due ? (double)(now - due) : 0.0);
    if (now - due > 500000000) /* the machine slept: go on from here, do not catch up */
        control->anchor_ns = 0;
    return true;
}
