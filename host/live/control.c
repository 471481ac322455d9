#include "live/control.h"

#include <stdio.h>
#include <string.h>

#include "live/internal.h"

void ff_live_parameters(const ff_tuning_table *table, ff_live_config *config) {
    for (int i = 0; i < table->count && config->parameters < FF_LIVE_MAX_PARAMETERS; i++) {
        const ff_tuning_parameter *from = &table->parameter[i];
        ff_live_parameter *p = &config->parameter[config->parameters++];
        *p = (ff_live_parameter){.low = from->low, .high = from->high, .value = from->value};
        snprintf(p->name, sizeof p->name, "%s", from->name);
        snprintf(p->unit, sizeof p->unit, "%s", from->unit);
        snprintf(p->effect, sizeof p->effect, "%s", from->effect);
    }
}

static bool in_contact(const ff_live_control *control, const ff_run_access *access) {
    for (int i = 0; access->out && access->k > 0 && i < control->scenario->satellites; i++)
        if (access->out->fidelity.in_contact[i])
            return true;
    return false;
}

/* The limits that are differences of what is sent. */
static void add_limits(const ff_scenario *scenario, ff_live_config *config) {
    static const char *const name[FF_LIVE_GATE] = {"commanded acceleration", "commanded angular acceleration",
                                                   "commanded jerk", "commanded angular jerk"};
    static const char *const unit[FF_LIVE_GATE] = {"m/s2", "rad/s2", "m/s3", "rad/s3"};
    config->gauges = FF_LIVE_GATE * scenario->satellites;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_limiter_config *l = &scenario->satellite[i].limits;
        const double limit[FF_LIVE_GATE] = {l->acceleration, l->angular_acceleration, l->jerk,
                                            l->angular_jerk};
        for (int n = 0; n < FF_LIVE_GATE; n++) {
            if (!isfinite(limit[n]) || config->limits == FF_LIVE_MAX_LIMITS)
                continue;
            ff_live_limit *bar = &config->limit[config->limits++];
            *bar = (ff_live_limit){
                .limit = limit[n], .gauge = FF_LIVE_GATE * i + n + 1, .scale = 1.0, .trips = true};
            snprintf(bar->name, sizeof bar->name, "%s of %s", name[n], scenario->satellite[i].name);
            snprintf(bar->unit, sizeof bar->unit, "%s", unit[n]);
        }
    }
}

void ff_live_control_gauges(ff_live_control *control, const ff_row *row,
                            double gauge[FF_LIVE_GATE * FF_MAX_BODIES]) {
    const double rate = 1.0 / control->scenario->cycle;
    for (int i = 0; i < control->scenario->satellites; i++) {
        double *g = &gauge[FF_LIVE_GATE * i];
        const ff_twist now = row->body[i].command.twist;
        const ff_twist change = ff_twist_sub(now, control->twist[i]);
        const ff_twist a = {ff_vec3_scale(rate, change.w), ff_vec3_scale(rate, change.v)};
        const ff_twist j = ff_twist_sub(a, control->acceleration[i]);
        g[0] = control->seen > 0 ? ff_vec3_norm(a.v) : 0.0;
        g[1] = control->seen > 0 ? ff_vec3_norm(a.w) : 0.0;
        g[2] = control->seen > 1 ? rate * ff_vec3_norm(j.v) : 0.0;
        g[3] = control->seen > 1 ? rate * ff_vec3_norm(j.w) : 0.0;
        control->twist[i] = now;
        control->acceleration[i] = a;
    }
    control->seen += control->seen < 2;
}

static ff_status take(void *self, const ff_row *row) {
    ff_live_control *control = self;
    double gauge[FF_LIVE_GATE * FF_MAX_BODIES];
    ff_live_control_gauges(control, row, gauge);
    ff_live_push(control->live, row, gauge); /* a full ring is the page's loss, not the run's */
    return FF_OK;
}

ff_sink ff_live_control_sink(ff_live_control *control) {
    return (ff_sink){.self = control, .axes = true, .row = take};
}

ff_status ff_live_control_start(ff_live_control *control, const ff_scenario *scenario,
                                const ff_live_doors *doors, char *message, size_t size) {
    *control = (ff_live_control){.scenario = scenario, .paced = true, .speed = 1.0};
    ff_live_config *c = &control->config;
    *c = (ff_live_config){
        .mode = "run",
        .scenario = scenario,
        .open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_RESUME) | FF_LIVE_BIT(FF_LIVE_STOP) |
                FF_LIVE_BIT(FF_LIVE_SPEED), /* nothing real moves, so continuing is not arming */
        .guarded = FF_LIVE_BIT(FF_LIVE_ZERO) | FF_LIVE_BIT(FF_LIVE_SET)};
    ff_status status = ff_tuning_create(&control->tuning, scenario, false);
    if (!status)
        status = ff_live_limits(scenario, c);
    if (status) {
        snprintf(message, size, "%s", ff_status_text(status));
    } else {
        add_limits(scenario, c);
        ff_live_parameters(&control->tuning.table, c);
        status = ff_live_open(c, doors, &control->live, message, size);
    }
    if (status)
        ff_tuning_free(&control->tuning);
    return status;
}

void ff_live_control_stop(ff_live_control *control) {
    ff_live_stop(control->live);
    ff_tuning_free(&control->tuning);
}

static void answer(ff_live_control *control, const ff_live_command *command, double t, bool done,
                   const char *text) {
    ff_live_answer(control->live, command, done, text);
    ff_live_event(control->live, done ? FF_LIVE_INFO : FF_LIVE_WARNING, t, text);
}

/* What one cycle lends to zeroing and tuning. */
static ff_tuning_access lend(const ff_live_control *control, const ff_run_access *access) {
    const ff_scenario *scenario = control->scenario;
    ff_tuning_access a = {.t = access->t,
                          .cycle = scenario->cycle,
                          .bodies = scenario->satellites,
                          .moves = access->model != NULL,
                          .floats = access->model != NULL,
                          .touching = in_contact(control, access),
                          .model = access->model};
    for (int i = 0; access->model && access->k > 0 && i < a.bodies; i++) {
        ff_wrench_config *w = &access->model->config.body[i].wrench;
        a.bias[i] = &w->bias_s;
        a.reading_s[i] = ff_tuning_reading(w, access->in->sensor[i].T_wb, access->out->measured_b[i]);
    }
    return a;
}

static void tell_answers(ff_live_control *control) {
    ff_order_answer a;
    char text[FF_LIVE_TEXT];
    while (ff_tuning_answer(&control->tuning, &a)) {
        const ff_live_command command = {.id = a.order.id, .viewer = a.order.from};
        ff_tuning_text(&control->tuning, &a, text, sizeof text);
        if (a.done && a.order.verb == FF_ORDER_SET)
            ff_live_set_parameter(control->live, a.order.parameter, a.is);
        answer(control, &command, a.t, a.done, text);
    }
}

/* Takes the commands that wait and applies them. model may be NULL. */
static void apply(ff_live_control *control, const ff_run_access *access) {
    ff_live_command command;
    char text[FF_LIVE_TEXT];
    while (ff_live_next_command(control->live, &command)) {
        const bool tunes = command.verb == FF_LIVE_SET || command.verb == FF_LIVE_ZERO; /* takes it itself */
        if (!tunes && !ff_claim_take(command.claim))
            continue;
        switch (command.verb) {
        case FF_LIVE_HOLD:
            control->held = true;
            answer(control, &command, access->t, true, "held");
            break;
        case FF_LIVE_RESUME:
            control->held = false;
            answer(control, &command, access->t, true, "continues");
            break;
        case FF_LIVE_STOP:
            control->stopped = true;
            answer(control, &command, access->t, true, "stopped by a viewer");
            break;
        case FF_LIVE_SPEED:
            control->speed = command.value;
            control->anchor_ns = 0;
            snprintf(text, sizeof text, "pace %.3g x", command.value);
            answer(control, &command, access->t, true, text);
            break;
        case FF_LIVE_SET:
        case FF_LIVE_ZERO: {
            if (!access->model) {
                answer(control, &command, access->t, false, "refused: this run has nothing to zero or tune");
                break;
            }
            const ff_order order = {.verb = command.verb == FF_LIVE_SET ? FF_ORDER_SET : FF_ORDER_ZERO,
                                    .parameter = command.parameter,
                                    .value = command.value,
                                    .id = command.id,
                                    .from = command.viewer,
                                    .claim = command.claim};
            ff_tuning_access a = lend(control, access);
            ff_tuning_ask(&control->tuning, &order);
            ff_tuning_apply(&control->tuning, &a);
            tell_answers(control);
            break;
        }
        default:
            answer(control, &command, access->t, false, "not offered here");
        }
    }
}

enum { LONGEST_SLEEP = 50000000 };        /* [ns] an interrupt is answered within this, at any speed */
#define LONGEST_WAIT INT64_C(20000000000) /* [ns] then rows are lost */

bool ff_live_control_between(void *self, const ff_run_access *access) {
    ff_live_control *control = self;
    if (access->k > 0 && access->model) {
        ff_tuning_access a = lend(control, access);
        ff_tuning_advance(&control->tuning, &a);
        tell_answers(control);
    }
    apply(control, access);
    while (control->held && !control->stopped && !(control->interrupted && control->interrupted())) {
        ff_live_set_phase(control->live, FF_LIVE_HELD);
        control->anchor_ns = 0;
        ff_clock_sleep_until(ff_clock_now() + 5000000);
        apply(control, access);
    }
    ff_live_set_phase(control->live, control->stopped ? FF_LIVE_STOPPED : FF_LIVE_RUNNING);
    if (control->stopped || (control->interrupted && control->interrupted()))
        return false;
    if (!control->paced)
        return true;
    int64_t now = ff_clock_now();
    /* virtual time can wait for who gets every row, on a busy machine */
    const int64_t patience = now + LONGEST_WAIT;
    for (;
         ff_live_behind(control->live) && now < patience && !(control->interrupted && control->interrupted());
         now = ff_clock_now()) {
        control->anchor_ns = 0;
        ff_clock_sleep_until(now + 2000000);
    }
    if (!control->anchor_ns) {
        control->anchor_ns = now;
        control->anchor_t = access->t;
    }
    const int64_t due =
        control->anchor_ns + (int64_t)(1e9 * (access->t - control->anchor_t) / control->speed);
    for (; now < due && !(control->interrupted && control->interrupted()); now = ff_clock_now())
        ff_clock_sleep_until(due - now > LONGEST_SLEEP ? now + LONGEST_SLEEP : due);
    ff_live_set_late(control->live, now > due ? (double)(now - due) : 0.0);
    if (now - due > 500000000) /* the machine slept: continue from here, do not catch up */
        control->anchor_ns = 0;
    return true;
}
