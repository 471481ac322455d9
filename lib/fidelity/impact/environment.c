/* impact: what is known of each contact: where its surface lies, how stiff it is, when it begins and ends. */
#include "fidelity/impact/impact.h"

#define SMALLEST_FORCE 1e-6 /* [N] below it a force is rounding of stage 1 */
#define CHANGE 1e-12        /* [m] an offset that changed less has not changed */
#define PACE 16.0           /* rows that may be looked back again for each cycle since the last time */
#define SLIDES 2e-3         /* [m/s] slip of the robots from which friction is known to be Coulomb's */

/* The slope of force over depth, weighed with what was believed before (to one half of itself). The intercept
 * is left out, so absolute positions do not enter. */
double ff__impact_stiffness(const impact_model *config, const impact_state *state, int contact,
                            double *deviation) {
    const double k = isnan(config->stiffness) ? config->contact[contact].stiffness : config->stiffness;
    *deviation = 0.0;
    if (!config->identified)
        return k;
    const impact_episode *e = &state->episode[contact];
    const double noise = ff__impact_noise(config, state, contact) + 1e-3, square = noise * noise;
    const double belief = 4.0 / (k * k), information = belief + e->Sxx / square;
    *deviation = 1.0 / sqrt(information);
    return fmin(fmax((k * belief + e->Sxy / square) / information, 0.1 * k), 10.0 * k);
}

/* Part of the damping that acts at this depth: [he2022, (24)]. A force was felt, so a constant damper acts as
 * a whole, wherever the surface is believed before the first sample. */
static double damping_part(const ff_world_contact *c, double depth) {
    if (!(c->damping_depth > 0.0) || depth >= c->damping_depth)
        return 1.0;
    const double s = fmax(depth / c->damping_depth, 0.0);
    return s * s * (3.0 - 2.0 * s);
}

/* Slope of force over depth within this contact, added to what earlier ones gave. */
static void identify(impact_episode *e, double depth, double force) {
    e->n += 1.0;
    const double dx = depth - e->x, dy = force - e->y;
    e->x += dx / e->n;
    e->y += dy / e->n;
    e->Sxx += dx * (depth - e->x);
    e->Sxy += dx * (force - e->y);
}

/* (18) and (24): the force less its damper, over the stiffness, less the depth of the robots. The filter's
 * state is the offset, a slow random walk; its first value is unknown within position_error. */
static void filter(const impact_model *config, const impact_state *state, int index, double T,
                   const impact_measured *m, impact_episode *e) {
    const ff_world_contact *c = &config->contact[index];
    const ff__touch *robot = &m->at[index];
    const double damper =
        config->set.observer ? c->damping * damping_part(c, robot->s + e->estimate) * robot->v : 0.0;
    const double spring = e->force - damper;
    identify(e, robot->s, spring);
    double deviation;
    double k = ff__impact_stiffness(config, state, index, &deviation);
    if (!config->identified) /* the identified one contains it */
        k /= 1.0 + k * m->compliance[index];
    const double R = m->noise[index] * m->noise[index] / (k * k) + 1e-24;
    e->variance += config->set.drift * config->set.drift * T;
    const double gain = e->variance / (e->variance + R);
    e->estimate += gain * (spring / k - robot->s - e->estimate);
    e->variance *= 1.0 - gain;
    e->stiffness = k;
    /* f/k over the speed of approach, for the robots' first touch */
    e->since = robot->v > 0.0 ? fmin(spring / (k * robot->v), T) : 0.0;
}

/* Friction from the samples in which the robots slide, where it differs from the scenario's by more than
 * noise does; the scenario's coefficient is the maximum. */
static void note_friction(const impact_model *config, const impact_state *state, int index,
                          const impact_measured *m, impact_episode *e) {
    const ff_world_contact *c = &config->contact[index];
    if (!(c->friction > 0.0))
        return;
    for (int k = 0; k < config->contacts; k++) { /* one force, two causes: nothing to learn */
        const ff_world_contact *x = &config->contact[k];
        if (k != index && m->force_n[k] > 0.0 && (x->body == c->body || x->against == c->body))
            return;
    }
    const ff__touch *t = &m->at[index];
    const ff_vec3 slip = ff_vec3_axpy(-ff_vec3_dot(t->n, t->slip), t->n, t->slip);
    const double speed = ff_vec3_norm(slip);
    if (speed < SLIDES)
        return;
    e->mu_xx += e->force * e->force;
    e->mu_xy -= e->force * ff_vec3_dot(m->force[c->body], slip) / speed;
    const double mu = e->mu_xy / e->mu_xx,
                 deviation = ff__impact_noise(config, state, index) / sqrt(e->mu_xx);
    e->mu_found = fabs(mu - c->friction) > 4.0 * deviation ? fmin(fmax(mu, 0.0), c->friction) : c->friction;
}

static ff_vec3 in_surface(const ff_world_contact *c, const ff_rigid_state *body, ff_vec3 v) {
    return c->against < 0 ? v : ff_quat_unrotate(body[c->against].attitude, v);
}

/* (17), and the torque of (21) beyond force times lever. */
static void note_printed(const ff_world_contact *c, int index, const impact_measured *m, impact_episode *e) {
    const int pair[2] = {c->body, c->against};
    const double size = ff_vec3_norm(m->force[c->body]);
    if (size > 0.0)
        e->n_o = in_surface(c, m->robot, ff_vec3_scale(1.0 / size, m->force[c->body]));
    for (int j = 0; j < (c->against >= 0 ? 2 : 1); j++) {
        const ff_rigid_state *robot = &m->robot[pair[j]];
        const ff_vec3 lever = ff_vec3_sub(m->at[index].tip, robot->position);
        e->rest_b[j] = ff_vec3_sub(
            m->torque_b[pair[j]], ff_quat_unrotate(robot->attitude, ff_vec3_cross(lever, m->force[pair[j]])));
    }
}

/* What the report says of the surface; the method itself believes the scenario, or the slope above. */
static void note_surface(const impact_model *model, int index, const impact_measured *m, impact_episode *e) {
    const ff__touch *t = &m->at[index];
    const bool first = !e->surface.begun;
    const ff_identify_in sample = {.cycle = model->integrate.cycle,
                                   .force = e->force,
                                   .step = first ? 0.0 : t->s - e->depth,
                                   .speed = t->v,
                                   .mass = 1.0 / ff__impact_mobility(model, index, m->robot, t)};
    ff_identify_config config;
    ff_identify_out out;
    ff_identify_default(&config);
    config.noise = m->noise[index];
    ff_identify_step(&config, &e->surface, &sample, &out);
    if (out.valid)
        e->found = out;
    config.graded = true;
    ff_identify_step(&config, &e->graded, &sample, &out);
    if (out.valid)
        e->found_graded = out;
    e->depth = t->s;
}

static void open_episode(const impact_model *model, int index, uint64_t row, const ff_rigid_state *body,
                         impact_episode *e) {
    const impact_model *config = model;
    const ff_world_contact *c = &config->contact[index];
    /* stiffness and friction are the surface's, whichever contact showed them */
    const impact_episode before = *e;
    *e = (impact_episode){.open = true,
                          .known = true,
                          .begin = row,
                          .last = row,
                          .Sxx = before.Sxx,
                          .Sxy = before.Sxy,
                          .mu_xx = before.mu_xx,
                          .mu_xy = before.mu_xy};
    e->variance = config->set.position_error * config->set.position_error;
    e->damping = c->satellite_damping;
    e->mu = e->mu_found = before.mu_xx > 0.0 ? before.mu_found : c->friction;
    if (!isnan(config->set.restitution)) {
        const ff__touch t = ff__impact_touch(model, index, body);
        const double inverse = ff__impact_mobility(model, index, body, &t);
        e->damping =
            2.0 * ff_contact_damping_ratio(config->set.restitution) * sqrt(c->satellite_stiffness / inverse);
    }
}

/* Rows that may be looked back. */
double ff__impact_look_back(const impact_model *model) {
    return fmin(floor(model->set.look_back / model->integrate.cycle + 1e-9), HISTORY_ROWS - 1);
}

static void take_newest(impact_episode *e) {
    e->offset = e->estimate;
    e->mu = e->mu_found;
}

/* Whether what is known of the contact should be applied to the whole of it. Such a change does no work, so
 * it can wait until it is worth it; one that cannot be applied, because the contact is older than the
 * look-back, would do work and is left out: *bounded. */
static impact_look settle(const impact_model *model, const impact_state *state, double noise, int index,
                          uint64_t row, bool begins, impact_episode *e, bool *bounded) {
    const impact_model *config = model;
    if (!config->set.recomputation) {
        take_newest(e);
        return LOOK_NOT;
    }
    const double worth = CHANGE + (begins ? 0.0 : 0.3 * noise / e->stiffness);
    const bool differs = fabs(e->estimate - e->offset) > worth ||
                         fabs(e->mu_found - e->mu) > 0.01 * config->contact[index].friction;
    e->again = false;
    if (!differs && !begins)
        return LOOK_NOT;
    const double age = (double)(row - e->begin);
    if (age > ff__impact_look_back(model)) {
        *bounded = true;
        return LOOK_NOT;
    }
    if (e->touching && (double)(row - state->looked) * PACE < age) { /* there will be more data soon */
        e->again = true;
        return LOOK_NOT;
    }
    if (age > REPLAY_ROWS)
        return LOOK_SPREAD;
    take_newest(e);
    return LOOK_NOW;
}

/* Follows one contact for one cycle; says whether the satellites' past should be looked at again. */
impact_look ff__impact_follow(const impact_model *model, impact_state *state, int index, uint64_t row,
                              const ff_rigid_state *body, const impact_measured *m, bool *bounded) {
    const impact_model *config = model;
    const ff_world_contact *c = &config->contact[index];
    impact_episode *e = &state->episode[index];
    double on = fmax(state->force_on[c->body], SMALLEST_FORCE);
    if (c->against >= 0)
        on = fmax(on, state->force_on[c->against]);
    if (config->detector.multiple > 0.0 && !config->detector.fixed)
        on = fmax(on, config->detector.multiple * m->noise[index]);
    const double force = m->force_n[index];
    const bool begins = !e->open && force > on;
    if (begins)
        open_episode(model, index, row, body, e);
    e->force = force;
    /* Between the thresholds the force of a robot that has left the surface may be noise, and as a sample of
     * where the surface lies it would draw it out to the robot: then the place decides. */
    e->touching = e->open && (force > on || (force > fmax(config->detector.off_ratio * on, SMALLEST_FORCE) &&
                                             m->at[index].s + e->estimate > -3.0 * sqrt(e->variance)));
    if (e->touching) {
        filter(config, state, index, model->integrate.cycle, m, e);
        note_friction(config, state, index, m, e);
        note_printed(c, index, m, e);
        note_surface(model, index, m, e);
    }
    impact_look asks = LOOK_NOT;
    if (e->touching || (e->again && e->known))
        asks = settle(model, state, m->noise[index], index, row, begins, e, bounded);
    if (!e->open) {
        e->known = e->known && e->last + HISTORY_ROWS > row;
        return asks;
    }
    const ff__touch t = ff__impact_touch(model, index, body);
    const bool apart = !(t.s + e->offset > 0.0);
    if (e->touching || !apart) {
        e->quiet = 0;
        e->last = row;
    } else if (++e->quiet >= config->detector.quiet_cycles) {
        e->open = false;
    }
    return asks;
}
