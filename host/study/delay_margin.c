#include "study/delay_margin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/metrics.h"
#include "scenario/schema.h"
#include "text/message.h"

void ff_delay_margin_default(ff_delay_margin_config *config) {
    *config = (ff_delay_margin_config){.delay_max = FF_NAN, .map = 7, .stiffness_span = 4.0};
    for (int m = 0; m < FF_MAX_METHODS; m++)
        config->method[m] = true;
}

ff_status ff_delay_margin_pick(ff_delay_margin_config *config, const char *list, const ff_catalog *catalog,
                               ff_scenario *scenario, char *message, size_t size) {
    memset(config->method, 0, sizeof config->method);
    for (const char *c = list; *c;) {
        const size_t n = strcspn(c, ",");
        char word[1024], why[400] = "its path is too long";
        snprintf(word, sizeof word, "%.*s", (int)n, c);
        const ff_method *method =
            n < sizeof word ? ff_scenario_take_method(scenario, catalog, word, why, sizeof why) : NULL;
        if (!method)
            return ff_refuse(FF_ERR_ARGUMENT, message, size, "'%.400s' %s", word, why);
        for (int m = 0; m < scenario->setups; m++)
            config->method[m] = config->method[m] || scenario->setup[m].method == method;
        c += n + (c[n] == ',');
    }
    return FF_OK;
}

typedef struct work {
    const ff_scenario *scenario;
    const ff_delay_margin_config *config;
    ff_scenario *copy; /* the variant at hand */
    ff_ideal_result ideal;
    double robot_delay; /* [s] the largest in the file */
    ff_vec3 normal;     /* inertial, of the first contact's impulse on `body` */
    int first;          /* contact met first */
    double part, share; /* progress so far, and what one run adds */
} work;

/* Contact point in the body frame of `i`, the first contact's place at `state`. */
static ff_vec3 point_of(const ff_scenario *s, const ff_contact *c, const ff_rigid_state state[2],
                        bool other) {
    if (c->kind == FF_CONTACT_STOPS)
        return ff_vec3_zero();
    if (!other)
        return c->point;
    (void)s;
    const ff_vec3 world = ff_pose_apply(ff_rigid_pose(&state[0]), c->point);
    return ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&state[1])), world);
}

/* [m/s] approach positive: how fast the two come together along the normal at the contact point. */
static double approach(const work *w, const ff_rigid_state state[2]) {
    const ff_contact *c = &w->scenario->contact[w->first];
    ff_vec3 v = ff_rigid_point_velocity(&state[0], point_of(w->scenario, c, state, false));
    if (c->against >= 0)
        v = ff_vec3_sub(v, ff_rigid_point_velocity(&state[1], point_of(w->scenario, c, state, true)));
    return -ff_vec3_dot(v, w->normal);
}

/* 1/m of one body at a point along a direction: 1/m + (r x n) . I^-1 (r x n). */
static double mobility(const ff_scenario *s, int body, const ff_rigid_state *state, ff_vec3 r, ff_vec3 n) {
    ff_rigid_model model;
    if (ff_rigid_create(&s->satellite[body].rigid, &model) != FF_OK)
        return FF_NAN;
    const ff_vec3 lever = ff_vec3_cross(r, ff_quat_unrotate(state->attitude, n));
    return model.mass_inv + ff_vec3_dot(lever, ff_mat3_apply(&model.inertia_inv, lever));
}

/* [s] The robot's delay and the sensor's own. A lag that is fed the command's velocity stands still behind a
 * steady motion: it changes the gain by (w/w_n)^2 and the phase only by its cube. */
static double loop_delay(const ff_satellite *b) {
    double tau = b->robot.kind == FF_ROBOT_IDEAL ? 0.0 : b->robot.delay;
    if (b->sensor.kind != FF_SENSOR_IDEAL) {
        tau += b->sensor.delay;
        if (isfinite(b->sensor.bandwidth) && b->sensor.bandwidth > 0.0)
            tau += 1.0 / (2.0 * FF_PI * b->sensor.bandwidth);
    }
    return tau;
}

/* All robots' delays follow the largest; without any, all get it. */
static void set_delay(const work *w, double delay) {
    for (int i = 0; i < w->scenario->satellites; i++) {
        const ff_robot_config *from = &w->scenario->satellite[i].robot;
        ff_robot_config *to = &w->copy->satellite[i].robot;
        const double own = from->kind == FF_ROBOT_IDEAL ? 0.0 : from->delay;
        *to = *from;
        to->delay = w->robot_delay > 0.0 ? delay * own / w->robot_delay : delay;
        if (to->kind == FF_ROBOT_IDEAL && to->delay > 0.0)
            to->kind = FF_ROBOT_DELAY;
    }
}

/* Stiffness alone: damping stays what the file says. */
static void set_stiffness(const work *w, double factor) {
    for (int i = 0; i < w->scenario->contacts; i++) {
        const ff_contact *from = &w->scenario->contact[i];
        ff_contact *to = &w->copy->contact[i];
        to->stiffness = factor * from->stiffness;
        to->satellite_stiffness = factor * from->satellite_stiffness;
        to->rotation_stiffness = factor * from->rotation_stiffness;
    }
}

static bool tick(work *w) {
    w->part = fmin(1.0, w->part + w->share);
    return !w->config->progress || w->config->progress(w->config->user, w->part);
}

/* Runs the copy under a method. FF_ERR_LIMIT when stopped; FF_ERR_MEMORY, which would look like a requirement
 * that is not met. */
static ff_status judge(work *w, const ff_method *method, ff_delay_case *out, char *message, size_t size) {
    *out = (ff_delay_case){.rebound = FF_NAN,
                           .peak_force = FF_NAN,
                           .peak_force_ratio = FF_NAN,
                           .velocity_error = FF_NAN,
                           .angular_velocity_error = FF_NAN};
    ff_metrics metrics;
    w->copy->method = method;
    out->status = ff_metrics_init(w->copy, &metrics);
    if (out->status != FF_OK)
        return out->status;
    const ff_sink sink = ff_metrics_sink(&metrics);
    const ff_run_options options = {.ideal = &w->ideal, .sinks = &sink, .count = 1};
    ff_run_result run;
    ff_run(w->copy, &options, &run);
    out->status = run.status;
    if (message && run.status < 0)
        snprintf(message, size, "%.*s", (int)size - 1, run.message);
    ff_metrics_finish(&metrics, &w->ideal, run.status);
    for (int n = 0; n < metrics.episodes; n++)
        if (metrics.episode[n].contact == w->first) {
            const ff_episode *e = &metrics.episode[n];
            if (!isnan(e->end))
                out->rebound = -approach(w, e->after) / approach(w, e->before);
            out->peak_force = e->peak_robot_force;
            break;
        }
    out->velocity_error = metrics.requirement[0].value;
    out->angular_velocity_error = metrics.requirement[1].value;
    out->peak_force_ratio = metrics.requirement[2].value;
    out->met = metrics.pass;
    ff_metrics_free(&metrics);
    return run.status == FF_ERR_MEMORY ? FF_ERR_MEMORY : tick(w) ? FF_OK : FF_ERR_LIMIT;
}

static ff_status ended(ff_status status, char *message, size_t size) {
    return ff_refuse(status, message, size, "%s", status == FF_ERR_MEMORY ? "no memory" : "stopped");
}

/* The first contact as one mass along one line. */
static ff_status describe(work *w, ff_delay_margin *out, char *message, size_t size) {
    const ff_scenario *s = w->scenario;
    if (w->ideal.contacts == 0)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the ideal motion meets no contact within its duration: there is nothing to judge");
    const ff_ideal_contact *met = &w->ideal.contact[0];
    const ff_contact *c = &s->contact[met->contact];
    w->first = out->contact = met->contact;
    const ff_vec3 impulse = ff_vec3_sub(met->after[0].velocity, met->before[0].velocity);
    if (!(c->stiffness > 0.0) || !(ff_vec3_norm(impulse) > 0.0))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the first contact has no stiffness along a line: w tau is not defined for it");
    w->normal = ff_vec3_unit(impulse);
    if (c->kind == FF_CONTACT_STOPS) { /* several axes may push in one contact; the first one is the line */
        double nearest = FF_INF;
        for (int a = 0; a < 3; a++) {
            const double x = met->before[0].position.a[a], gap = c->stop_position.a[a] - fabs(x);
            if (gap < nearest) {
                nearest = gap;
                w->normal = ff_vec3_zero();
                w->normal.a[a] = x > 0.0 ? -1.0 : 1.0;
            }
        }
    }
    double inverse = mobility(s, c->body, &met->before[0], point_of(s, c, met->before, false), w->normal);
    double tau = inverse * loop_delay(&s->satellite[c->body]);
    if (c->against >= 0) {
        const double other =
            mobility(s, c->against, &met->before[1], point_of(s, c, met->before, true), w->normal);
        inverse += other;
        tau += other * loop_delay(&s->satellite[c->against]);
    }
    out->start = met->start;
    out->mass = 1.0 / inverse;
    out->stiffness = c->stiffness;
    out->damping = c->damping;
    out->damping_depth = c->damping_depth;
    out->speed = approach(w, met->before);
    out->frequency = sqrt(out->stiffness / out->mass);
    out->robot_delay = w->robot_delay;
    out->delay = tau / inverse;
    out->w_tau = out->frequency * out->delay;
    out->rebound_ideal = isnan(met->end) ? FF_NAN : -approach(w, met->after) / out->speed;
    out->peak_ideal = met->peak_force;
    const ff_line_contact line = {out->mass,          out->stiffness, out->damping,
                                  out->damping_depth, out->speed,     0.0};
    ff_line_rebound sharp;
    const ff_status status = ff_line_contact_solve(&line, &sharp);
    if (status != FF_OK)
        return ff_refuse(status, message, size, "the first contact is not approached along its normal");
    out->rebound_law = sharp.rebound * exp(0.5 * FF_PI * out->w_tau);
    return FF_OK;
}

/* direct: the line with its delay. tdpa caps its rebound at 1 and cannot lower the force of the approach
 * (docs/methods/direct.md). The other methods aim at the ideal contact; of one from
 * outside nothing is known. */
static ff_status theory(const ff_delay_margin *m, ff_delay_method *out) {
    ff_line_contact line = {m->mass, m->stiffness, m->damping, m->damping_depth, m->speed, m->delay};
    ff_line_rebound late, sharp;
    out->rebound_theory = out->peak_force_theory = FF_NAN;
    if (ff_method_find(out->method->name) != out->method)
        return FF_OK;
    ff_status status = ff_line_contact_solve(&line, &late);
    line.delay = 0.0;
    if (status == FF_OK)
        status = ff_line_contact_solve(&line, &sharp);
    if (status != FF_OK) /* a delay beyond every theory is shown without one */
        return status == FF_ERR_MEMORY ? status : FF_OK;
    const bool aims = out->method->can & FF_CAN_PREDICT;
    out->rebound_theory = out->method == &ff_method_direct ? late.rebound
                          : out->method == &ff_method_tdpa ? fmin(1.0, late.rebound)
                                                           : sharp.rebound;
    out->peak_force_theory = aims ? sharp.peak : late.peak;
    return FF_OK;
}

/* A scan first, because more delay is not always worse; then the edge of the first failure is bisected. */
static ff_status search(work *w, double delay_max, ff_delay_method *out) {
    double good = FF_NAN, bad = FF_NAN;
    ff_delay_case one;
    for (int i = 0; i <= FF_DELAY_SCAN; i++) {
        const double delay = delay_max * i / FF_DELAY_SCAN;
        set_delay(w, delay);
        const ff_status status = judge(w, out->method, &one, NULL, 0);
        if (status != FF_OK)
            return status;
        if (!one.met) {
            bad = delay;
            break;
        }
        good = delay;
    }
    for (int i = 0; i < FF_DELAY_BISECTIONS && !isnan(good) && !isnan(bad); i++) {
        const double delay = 0.5 * (good + bad);
        set_delay(w, delay);
        const ff_status status = judge(w, out->method, &one, NULL, 0);
        if (status != FF_OK)
            return status;
        if (one.met)
            good = delay;
        else
            bad = delay;
    }
    out->largest_delay = good;
    out->at_least = !isnan(good) && isnan(bad);
    return FF_OK;
}

static ff_status fill_map(work *w, ff_delay_margin *out, char *message, size_t size) {
    const int n = w->config->map;
    double top = 2.0 * out->robot_delay;
    for (int m = 0; m < out->methods; m++)
        if (!out->method[m].at_least && isfinite(out->method[m].largest_delay))
            top = fmax(top, 1.5 * out->method[m].largest_delay);
    top = fmin(fmax(top, 0.25 * out->delay_max), out->delay_max);
    out->cell = calloc((size_t)out->methods * (size_t)n * (size_t)n, sizeof *out->cell);
    if (!out->cell)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    out->map = n;
    out->cells = out->methods * n * n;
    const double fixed = out->delay - out->robot_delay; /* lags and sensor, when the robots are alike */
    for (int k = 0; k < n; k++) {
        const double factor = pow(w->config->stiffness_span, n > 1 ? 2.0 * k / (n - 1) - 1.0 : 0.0);
        set_stiffness(w, factor);
        w->copy->method = NULL;
        ff_ideal_free(&w->ideal);
        ff_status status = ff_ideal_solve(w->copy, NULL, NULL, &w->ideal, message, size);
        if (status < 0)
            return status;
        double rebound = FF_NAN;
        for (int i = 0; i < w->ideal.contacts; i++)
            if (w->ideal.contact[i].contact == w->first && !isnan(w->ideal.contact[i].end)) {
                rebound = -approach(w, w->ideal.contact[i].after) / approach(w, w->ideal.contact[i].before);
                break;
            }
        for (int m = 0; m < out->methods; m++)
            for (int d = 0; d < n; d++) {
                ff_delay_cell *cell = &out->cell[(m * n + k) * n + d];
                const double delay = n > 1 ? top * d / (n - 1) : out->robot_delay;
                cell->method = out->method[m].method;
                cell->stiffness = factor * out->stiffness;
                cell->delay = delay;
                cell->w_tau = sqrt(cell->stiffness / out->mass) * fmax(0.0, delay + fixed);
                cell->rebound_ideal = rebound;
                set_delay(w, delay);
                status = judge(w, cell->method, &cell->run, NULL, 0);
                if (status != FF_OK)
                    return ended(status, message, size);
            }
    }
    return FF_OK;
}

static ff_status analyze(work *w, ff_delay_margin *out, char *message, size_t size) {
    const ff_scenario *s = w->scenario;
    *w->copy = *s;
    w->copy->method = NULL;
    ff_status status = ff_ideal_solve(w->copy, NULL, NULL, &w->ideal, message, size);
    if (status < 0)
        return status;
    for (int i = 0; i < s->satellites; i++)
        if (s->satellite[i].robot.kind != FF_ROBOT_IDEAL)
            w->robot_delay = fmax(w->robot_delay, s->satellite[i].robot.delay);
    status = describe(w, out, message, size);
    if (status != FF_OK)
        return status;
    out->delay_max = isnan(w->config->delay_max)
                         ? fmax(4.0 * w->robot_delay, fmin(0.25, 2.0 / out->frequency))
                         : w->config->delay_max;
    for (int m = 0; m < s->setups; m++)
        if (w->config->method[m] || s->setup[m].method == s->method)
            out->method[out->methods++].method = s->setup[m].method;
    if (out->methods == 0)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "no method to judge");
    /* Progress counts runs, as if every search ran to its end. */
    const int each = 2 + FF_DELAY_SCAN + FF_DELAY_BISECTIONS;
    const int runs = out->methods * (each + w->config->map * w->config->map);
    w->share = 1.0 / runs;
    if (w->config->begin)
        w->config->begin(w->config->user, runs);
    for (int m = 0; m < out->methods; m++) {
        ff_delay_method *method = &out->method[m];
        set_delay(w, out->robot_delay);
        method->largest_delay = FF_NAN;
        status = theory(out, method);
        if (status == FF_OK)
            status = judge(w, method->method, &method->now, method->message, sizeof method->message);
        if (status == FF_OK)
            status = search(w, out->delay_max, method);
        if (status != FF_OK)
            return ended(status, message, size);
        w->part = (double)(m + 1) * each * w->share;
    }
    return w->config->map > 0 ? fill_map(w, out, message, size) : FF_OK;
}

ff_status ff_delay_margin_analyze(const ff_scenario *scenario, const ff_delay_margin_config *config,
                                  ff_delay_margin *out, char *message, size_t size) {
    *out = (ff_delay_margin){0};
    if (scenario->emulates)
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "an emulation has no satellite; see freefloat analyze contact-stability");
    if (config->map < 0 || config->map > FF_DELAY_MAP || !(config->stiffness_span > 1.0) ||
        !(isnan(config->delay_max) || (config->delay_max > 0.0 && isfinite(config->delay_max))))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "delay_max must be > 0, the stiffness span > 1, the map 0 to 25 points");
    ff_scenario *copy = malloc(sizeof *copy);
    if (!copy)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    work w = {.scenario = scenario, .config = config, .copy = copy};
    const ff_status status = analyze(&w, out, message, size);
    ff_ideal_free(&w.ideal);
    free(copy);
    if (status < 0)
        ff_delay_margin_free(out);
    return status;
}

void ff_delay_margin_free(ff_delay_margin *out) {
    free(out->cell);
    out->cell = NULL;
    out->cells = 0;
}

void ff_delay_margin_sentence(const ff_scenario *scenario, const ff_delay_margin *out, char *text,
                              size_t size) {
    const ff_delay_method *own = NULL, *best = NULL;
    for (int m = 0; m < out->methods; m++) {
        const ff_delay_method *method = &out->method[m];
        if (method->method == scenario->method)
            own = method;
        const double reach = method->at_least ? FF_INF : method->largest_delay;
        if (method->now.met && (!best || reach > (best->at_least ? FF_INF : best->largest_delay)))
            best = method;
    }
    if (!own) /* `method: ideal` in the file */
        own = best ? best : &out->method[0];
    char reach[96] = "at no delay that was tried";
    if (own->at_least)
        snprintf(reach, sizeof reach, "up to at least %.4g ms", 1e3 * own->largest_delay);
    else if (isfinite(own->largest_delay))
        snprintf(reach, sizeof reach, "up to %.4g ms", 1e3 * own->largest_delay);
    int used = snprintf(text, size,
                        "%s: %s at %.4g ms of robot delay (w tau %.3g) %s the requirements; it keeps them %s",
                        own->now.met ? "GO" : "NO GO", own->method->name, 1e3 * out->robot_delay, out->w_tau,
                        own->now.met ? "keeps" : "breaks", reach);
    if (!own->now.met && used > 0 && (size_t)used < size) {
        if (best)
            snprintf(text + used, size - (size_t)used, "; %s keeps them %s%.4g ms", best->method->name,
                     best->at_least ? "up to at least " : "up to ", 1e3 * best->largest_delay);
        else
            snprintf(text + used, size - (size_t)used, "; no method judged here keeps them");
    }
}
