#include "operator/tuning.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void add(ff_tuning_table *table, ff_tuning_parameter p, const char *body, const char *name) {
    if (table->count == FF_TUNING_PARAMETERS)
        return;
    snprintf(p.name, sizeof p.name, "%s%s%s", body, *body ? "." : "", name);
    for (char *c = p.name; *c; c++) /* the page's words are separated by blanks */
        if (*c <= ' ' || *c > '~')
            *c = '_';
    table->parameter[table->count++] = p;
}

/* Those whose tightening can only stop the run, never move the robot. */
static const struct {
    const char *name, *unit, *effect;
    size_t offset;
    ff_level_name level;
} limits[] = {
    {"limit.force", "N", "a larger contact force stops the run", offsetof(ff_safety_limits, force),
     FF_LEVEL_FORCE},
    {"limit.torque", "N m", "a larger contact torque stops the run", offsetof(ff_safety_limits, torque),
     FF_LEVEL_TORQUE},
    {"limit.velocity", "m/s", "a faster robot stops the run", offsetof(ff_safety_limits, velocity),
     FF_LEVEL_VELOCITY},
    {"limit.energy", "J", "more energy from the contact stops the run", offsetof(ff_safety_limits, energy),
     FF_LEVEL_ENERGY},
    {"limit.tracking", "m", "a robot farther from its command stops the run",
     offsetof(ff_safety_limits, tracking), FF_LEVEL_TRACKING},
};

static double *limit_at(ff_safety_limits *l, size_t offset) {
    return (double *)(void *)((char *)l + offset);
}

bool ff_tuning_watches(const ff_tuning_parameter *parameter, ff_level_name level) {
    for (size_t n = 0; n < sizeof limits / sizeof *limits; n++)
        if (parameter->kind == FF_TUNING_LIMIT && parameter->limit == limits[n].offset)
            return limits[n].level == level;
    return false;
}

/* The smaller of what a force [N] or torque [N m] of one body is limited to and of what can be read of it. */
static double least(const char *unit, const ff_safety_limits *l, double force_range, double torque_range) {
    if (strcmp(unit, "N") == 0)
        return fmin(l->force, force_range);
    return strcmp(unit, "N m") == 0 ? fmin(l->torque, torque_range) : FF_INF;
}

/* A threshold above this would hide a contact from the method until the limit ends the run. */
static double most_of_setting(const ff_scenario *scenario, const ff_setting *s, double value) {
    double high = s->tune_high;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *body = &scenario->satellite[i];
        const double limit =
            least(s->unit, &body->safety, body->sensor.range_force, body->sensor.range_torque);
        high = fmin(high, FF_TUNING_SHARE * limit);
    }
    return fmax(high, value); /* what the scenario asks for is allowed */
}

void ff_tuning_list(const ff_scenario *scenario, bool devices, ff_tuning_table *table) {
    ff_loop_config loop;
    *table = (ff_tuning_table){0};
    ff_scenario_loop(scenario, &loop);
    const ff_method *method = loop.method;
    if (method && method->resolve)
        method->resolve(&loop.world, loop.setting.given, loop.setting.bytes);
    for (int n = 0; n < FF_TUNED_SETTINGS && ff_tuned_setting(method, n); n++) {
        const ff_setting *s = ff_tuned_setting(method, n);
        const double value = ff_settings_get(method, &loop.setting, s->name);
        add(table,
            (ff_tuning_parameter){.unit = s->unit,
                                  .effect = s->effect,
                                  .kind = FF_TUNING_SETTING,
                                  .setting = s,
                                  .low = s->tune_low,
                                  .high = most_of_setting(scenario, s, value),
                                  .value = value},
            "", s->name);
    }
    for (int i = 0; devices && i < scenario->satellites; i++)
        for (size_t n = 0; n < sizeof limits / sizeof *limits; n++) {
            ff_safety_limits l = scenario->satellite[i].safety;
            const double most = *limit_at(&l, limits[n].offset);
            if (isfinite(most) && most > 0.0)
                add(table,
                    (ff_tuning_parameter){.unit = limits[n].unit,
                                          .effect = limits[n].effect,
                                          .kind = FF_TUNING_LIMIT,
                                          .body = i,
                                          .limit = limits[n].offset,
                                          .low = 0.001 * most,
                                          .high = most,
                                          .value = most},
                    scenario->satellite[i].name, limits[n].name);
        }
}

/* The upper end by the limits as they have been tightened, and by the sensors' own ranges. */
static double most_now(const ff_tuning_parameter *p, const ff_loop_model *model,
                       const ff_safety_config *safety) {
    double high = p->high;
    for (int i = 0; p->kind == FF_TUNING_SETTING && safety && i < safety->bodies; i++) {
        const ff_wrench_config *sensor = &model->config.body[i].wrench;
        high = fmin(high, FF_TUNING_SHARE *
                              least(p->unit, &safety->limits[i], sensor->force_limit, sensor->torque_limit));
    }
    return fmax(high, p->value);
}

/* Checks and sets one; safety may be NULL without devices. False: `why` (static text), and nothing changed.
 */
static bool set_parameter(ff_tuning_table *table, int parameter, double value, ff_loop_model *model,
                          ff_safety_config *safety, double *high, const char **why) {
    *why = "set refused: no such parameter";
    if (parameter < 0 || parameter >= table->count)
        return false;
    ff_tuning_parameter *p = &table->parameter[parameter];
    *why = "set refused: this method has nothing to tune";
    if (p->kind == FF_TUNING_SETTING &&
        (!model || ff_setting_find(model->config.method, p->setting->name) < 0))
        return false;
    const double most = most_now(p, model, safety);
    *why = "set refused: outside its range";
    if (!(value >= p->low && value <= most)) {
        *high = most;
        return false;
    }
    if (p->kind == FF_TUNING_LIMIT) {
        *why = "set refused: no such limits here";
        if (!safety)
            return false;
        *limit_at(&safety->limits[p->body], p->limit) = value;
    } else {
        ff_settings next = model->config.setting; /* the operator's number, not the measured noise's */
        if (ff_settings_set(model->config.method, &next, p->setting->name, value) != FF_OK ||
            ff_loop_update(model, &model->config.world, &next) != FF_OK)
            return false;
    }
    p->value = value;
    *why = "set";
    return true;
}

/* ------------------------------------------------------------------------------------------------- queue --
 */

ff_status ff_tuning_create(ff_tuning *tuning, const ff_scenario *scenario, bool devices) {
    *tuning = (ff_tuning){0};
    ff_tuning_list(scenario, devices, &tuning->table);
    ff_status status = ff_ring_create(&tuning->orders, sizeof(ff_order), FF_TUNING_ORDERS);
    if (!status) /* room for an answer to all that wait, and to the zeroing */
        status = ff_ring_create(&tuning->answers, sizeof(ff_order_answer), 2 * FF_TUNING_ORDERS);
    return status;
}

void ff_tuning_free(ff_tuning *tuning) {
    ff_ring_free(&tuning->orders);
    ff_ring_free(&tuning->answers);
}

bool ff_tuning_ask(ff_tuning *tuning, const ff_order *order) {
    return ff_ring_push(&tuning->orders, order);
}

bool ff_tuning_answer(ff_tuning *tuning, ff_order_answer *answer) {
    return ff_ring_pop(&tuning->answers, answer);
}

void ff_tuning_text(const ff_tuning *tuning, const ff_order_answer *a, char *text, size_t size) {
    if (a->done && a->order.verb == FF_ORDER_SET) {
        const ff_tuning_parameter *p = &tuning->table.parameter[a->order.parameter];
        snprintf(text, size, "%s is now %.6g %s, it was %.6g", p->name, a->is, p->unit, a->was);
    } else if (a->done && a->order.verb == FF_ORDER_ZERO) {
        snprintf(text, size, "zeroed: %.3g N was the largest force taken away", a->is);
    } else if (a->high > 0.0) {
        const ff_tuning_parameter *p = &tuning->table.parameter[a->order.parameter];
        const bool limit = p->kind == FF_TUNING_LIMIT;
        snprintf(text, size, "%s refused: %.6g %s, allowed %.6g to %.6g: %s", p->name, a->order.value,
                 p->unit, a->low, a->high,
                 limit ? "limits are only tightened in flight"
                       : "more would hide a contact; stop, and ask for it in the scenario");
    } else {
        snprintf(text, size, "%s", a->text);
    }
}

/* ---------------------------------------------------------------------------------------------- applying --
 */

static void tell(ff_tuning *tuning, const ff_order *order, double t, bool done, const char *text) {
    const ff_order_answer answer = {.order = *order, .done = done, .t = t, .text = text};
    ff_ring_push(&tuning->answers, &answer);
}

static void start_zero(ff_tuning *tuning, const ff_tuning_access *access, const ff_order *order) {
    if ((tuning->zero_left && ff_claim_waits(tuning->zero.claim)) || tuning->ramp_left) {
        tell(tuning, order, access->t, false, "zero refused: already zeroing");
        return;
    }
    tuning->zero = *order;
    tuning->zero_cycles = tuning->zero_left = (uint64_t)fmax(1.0, ceil(FF_TUNING_ZERO_TIME / access->cycle));
    memset(tuning->sum, 0, sizeof tuning->sum);
}

static void set(ff_tuning *tuning, ff_tuning_access *access, const ff_order *order) {
    const int n = order->parameter;
    ff_order_answer answer = {.order = *order, .t = access->t};
    answer.was = n >= 0 && n < tuning->table.count ? tuning->table.parameter[n].value : FF_NAN;
    answer.done = set_parameter(&tuning->table, n, order->value, access->model, access->safety, &answer.high,
                                &answer.text);
    answer.low = answer.high > 0.0 ? tuning->table.parameter[n].low : 0.0;
    answer.is = order->value;
    access->changed = answer.done ? n + 1 : 0;
    access->was = answer.was;
    ff_ring_push(&tuning->answers, &answer);
}

/* A force that grows slowly, zeroed again and again, would never reach its limit: all that was taken away
 * stays below a share of it. */
static bool may_remove(const ff_tuning *tuning, const ff_tuning_access *access) {
    for (int i = 0; access->safety && i < access->bodies; i++) {
        const ff_safety_limits *limit = &access->safety->limits[i];
        const ff_wrench mean = ff_wrench_scale(1.0 / (double)tuning->zero_cycles, tuning->sum[i]),
                        all = ff_wrench_add(tuning->removed[i], mean);
        if (!(ff_vec3_norm(all.f) <= FF_TUNING_SHARE * limit->force) ||
            !(ff_vec3_norm(all.t) <= FF_TUNING_SHARE * limit->torque))
            return false;
    }
    return true;
}

/* The bias goes to its new value in as many equal steps as were averaged: no jump of the force, no spike. */
void ff_tuning_advance(ff_tuning *tuning, ff_tuning_access *access) {
    if (tuning->ramp_left) {
        tuning->ramp_left--;
        for (int i = 0; i < access->bodies; i++)
            *access->bias[i] = ff_wrench_add(*access->bias[i], tuning->step[i]);
        return;
    }
    if (!tuning->zero_left)
        return;
    if (access->touching || !access->floats) {
        tuning->zero_left = 0;
        tell(tuning, &tuning->zero, access->t, false,
             access->floats ? "zero given up: in contact" : "zero given up: the run stands");
        return;
    }
    for (int i = 0; i < access->bodies; i++)
        tuning->sum[i] = ff_wrench_add(tuning->sum[i], access->reading_s[i]);
    if (--tuning->zero_left)
        return;
    const double n = (double)tuning->zero_cycles;
    if (!may_remove(tuning, access)) {
        tell(tuning, &tuning->zero, access->t, false,
             "zero refused: all zeroings together would hide more than a tenth of a limit; stop, and start "
             "anew");
        return;
    }
    if (!ff_claim_take(tuning->zero.claim))
        return;
    ff_order_answer answer = {.order = tuning->zero, .done = true, .t = access->t, .text = "zeroed"};
    for (int i = 0; i < access->bodies; i++) {
        const ff_wrench mean = ff_wrench_scale(1.0 / n, tuning->sum[i]);
        tuning->step[i] = ff_wrench_scale(1.0 / n, mean);
        tuning->removed[i] = ff_wrench_add(tuning->removed[i], mean);
        answer.is = fmax(answer.is, ff_vec3_norm(mean.f));
    }
    tuning->ramp_left = tuning->zero_cycles;
    access->zeroed = true;
    access->removed = answer.is;
    ff_ring_push(&tuning->answers, &answer);
}

ff_wrench ff_tuning_reading(const ff_wrench_config *config, ff_pose T_wb, ff_wrench f_b) {
    const ff_pose T_bs =
        config->environment ? ff_pose_mul(ff_pose_inverse(T_wb), config->T_ws) : config->T_bs;
    return ff_wrench_transform(ff_pose_inverse(T_bs), f_b);
}

void ff_tuning_apply(ff_tuning *tuning, ff_tuning_access *access) {
    ff_order order;
    do {
        if (!ff_ring_pop(&tuning->orders, &order))
            return;
    } while (order.verb == FF_ORDER_ZERO ? !ff_claim_waits(order.claim) : !ff_claim_take(order.claim));
    switch (order.verb) {
    case FF_ORDER_HOLD:
        access->hold = true;
        tell(tuning, &order, access->t, true, "comes to rest and holds; stop ends the run");
        return;
    case FF_ORDER_RETREAT:
        access->hold = access->retreat = access->moves || access->held;
        tell(tuning, &order, access->t, access->hold,
             access->hold ? "comes to rest, leaves a contact and holds; stop ends the run"
                          : "refused: only while the robot moves or is held");
        return;
    case FF_ORDER_STOP:
        access->stop = true;
        tell(tuning, &order, access->t, true, "comes to rest and ends");
        return;
    case FF_ORDER_ZERO:
    case FF_ORDER_SET:
        if (!access->floats)
            tell(tuning, &order, access->t, false, "refused: only while the satellite floats");
        else if (access->touching)
            tell(tuning, &order, access->t, false, "refused: in contact");
        else if (order.verb == FF_ORDER_ZERO)
            start_zero(tuning, access, &order);
        else
            set(tuning, access, &order);
        return;
    }
    tell(tuning, &order, access->t, false, "not offered here");
}
