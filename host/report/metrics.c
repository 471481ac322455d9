#include "report/metrics.h"
#include "report/pairing.h"

#include <string.h>
#include <stdlib.h>

ff_status ff_metrics_init(const ff_scenario *scenario, ff_metrics *metrics) {
    *metrics = (ff_metrics){.episode = malloc(FF_MAX_EPISODES * sizeof *metrics->episode)};
    if (!metrics->episode)
        return FF_ERR_MEMORY;
    ff_metrics_reset(scenario, metrics);
    return FF_OK;
}

void ff_metrics_reset(const ff_scenario *scenario, ff_metrics *metrics) {
    *metrics = (ff_metrics){.scenario = scenario, .episode = metrics->episode};
    for (int i = 0; i < scenario->satellites; i++) {
        ff_rigid_create(&scenario->satellite[i].rigid, &metrics->model[i]);
        metrics->last_touch[i] = -1;
        metrics->diverged[i] = FF_NAN;
        for (int a = 0; a < 6; a++)
            metrics->body[i].observer_min[a] = FF_INF;
    }
    for (int c = 0; c < FF_MAX_CONTACTS; c++)
        metrics->open[c] = -1;
    metrics->nominal =
        (ff_nominal_config){.kind = scenario->nominal, .model = metrics->model[scenario->nominal_of]};
    metrics->nominal_motion = ff_scenario_nominal(scenario);
    metrics->servicer.bound = -FF_INF;
    metrics->servicer.W_a_last = metrics->servicer.W_a_rise = metrics->servicer.W_a_excess = FF_NAN;
}

void ff_metrics_free(ff_metrics *metrics) {
    free(metrics->episode);
    metrics->episode = NULL;
}

void ff_metrics_keep(ff_metrics *metrics, ff_keeper *keeper) {
    ff_episode *const episode = metrics->episode;
    const ff_scenario *const scenario = metrics->scenario;
    metrics->episode = NULL;
    ff_keep_around(keeper, metrics, sizeof *metrics, &metrics->scenario);
    metrics->episode = episode;
    metrics->scenario = scenario;
    if (metrics->episodes >= 0 && metrics->episodes <= FF_MAX_EPISODES)
        ff_keep(keeper, episode, (size_t)metrics->episodes * sizeof *episode);
    else
        keeper->failed = true;
}

static void grow(double *largest, double value) {
    if (!(value <= *largest) && !isnan(*largest)) /* FF_NAN sticks: what is not a number is not a success */
        *largest = value;
}

/* The same of a norm: most rows are known to be no larger without its root. */
static void grow_norm(double *largest, ff_vec3 v) {
    if (!(ff_vec3_dot(v, v) <= (1.0 - 1e-15) * *largest * *largest))
        grow(largest, ff_vec3_norm(v));
}

/* And of an angle: asin s is at most s + (pi/2 - 1) s^3. */
static void grow_angle(double *largest, ff_quat a, ff_quat b) {
    const ff_quat r = ff_quat_mul(ff_quat_conj(a), b);
    const double square = r.x * r.x + r.y * r.y + r.z * r.z, s = sqrt(square);
    if (!((2.0 + 1e-12) * s * (1.0 + 0.571 * square) <= *largest))
        grow(largest, ff_quat_angle(a, b));
}

double ff_metrics_noise(const ff_noise_state *noise) {
    const double deviation = ff_noise_deviation(noise);
    return noise->samples == 0 ? FF_NAN : deviation > 1.001 * FF_NOISE_LEAST ? deviation : 0.0;
}

/* What only the summary and a few columns of campaigns say. */
static void take_details(ff_metrics *metrics, int i, const ff_row *row) {
    const ff_row_body *b = &row->body[i];
    ff_body_metrics *m = &metrics->body[i];
    m->energy = b->energy;
    if (!isnan(b->ideal.position.x)) {
        grow_norm(&m->error_position, ff_vec3_sub(b->satellite.position, b->ideal.position));
        grow_angle(&m->error_attitude, b->satellite.attitude, b->ideal.attitude);
    }
    for (int a = 0; a < 6; a++)
        if (!isnan(b->observer[a])) {
            m->observer_min[a] = fmin(m->observer_min[a], b->observer[a]);
            if (a >= m->observers)
                m->observers = a + 1;
        }
    if (!row->final && row->status == FF_OK) {
        grow_norm(&m->max_torque_correction, ff_vec3_sub(b->measured_b.t, b->corrected_b.t));
        if (metrics->scenario->satellite[i].sensor.kind != FF_SENSOR_IDEAL) {
            ff_noise_step(&m->force_noise, 0.0, b->measured_b.f);
            ff_noise_step(&m->torque_noise, 0.0, b->measured_b.t);
        }
    }
    grow_norm(&m->max_omega_correction, b->velocity_correction.w);
    grow_norm(&m->travel, ff_vec3_sub(b->command.T.p, m->robot_initial.T.p));
    grow_angle(&m->rotation, b->command.T.q, m->robot_initial.T.q);
    grow_norm(&m->tracking, ff_vec3_sub(b->inertial.T.p, b->satellite.position));
}

static void take_body(ff_metrics *metrics, int i, const ff_row *row) {
    const ff_row_body *b = &row->body[i];
    ff_body_metrics *m = &metrics->body[i];
    const double energy = b->energy.kinetic;
    if (metrics->rows == 0) {
        m->initial = b->satellite;
        m->initial_energy = energy;
        m->robot_initial = b->command;
    }
    m->final = b->satellite;
    m->final_energy = energy;
    m->robot_final = b->command;
    grow(&m->max_energy, energy);
    if (!isnan(b->ideal.position.x)) {
        grow_norm(&m->error_velocity, ff_vec3_sub(b->satellite.velocity, b->ideal.velocity));
        grow_norm(&m->error_omega, ff_vec3_sub(b->satellite.omega, b->ideal.omega));
    }
    if (!row->final && row->status == FF_OK)
        grow_norm(&m->max_force_correction, ff_vec3_sub(b->measured_b.f, b->corrected_b.f));
    grow_norm(&m->max_velocity_correction, b->velocity_correction.v);
    if (!metrics->brief)
        take_details(metrics, i, row);
}

/* The motion of both formulations, from the satellites: the absolute one is theirs, the relative one is
 * theirs seen from the nominal motion. */
static void take_motions(ff_metrics *metrics, const ff_row *row) {
    const double T = row->t - metrics->motion_t;
    const bool first = metrics->rows == 0;
    if (!first && !row->final && T < 0.02)
        return;
    metrics->motion_t = row->t;
    ff_rigid_state *n = &metrics->nominal_motion;
    if (metrics->nominal.kind == FF_NOMINAL_SATELLITE)
        *n = row->body[metrics->scenario->nominal_of].satellite;
    else if (T > 0.0)
        *n = ff_nominal_coast(&metrics->nominal, T, fmin(T, 0.02), n);
    for (int i = 0; i < metrics->scenario->satellites; i++)
        for (int w = 0; w < FF_MOTIONS; w++) {
            ff_motion_metrics *motion = &metrics->body[i].motion[w];
            ff_pose at = ff_rigid_pose(&row->body[i].satellite);
            if (w == FF_MOTION_RELATIVE)
                at = ff_pose_mul(ff_pose_inverse(ff_rigid_pose(n)), at);
            if (first)
                *motion = (ff_motion_metrics){.ball = FF_INF, .start = at, .last = at};
            const double step = ff_vec3_norm(ff_vec3_sub(at.p, motion->last.p)),
                         turn = ff_quat_angle(motion->last.q, at.q),
                         distance = ff_vec3_norm(ff_vec3_sub(at.p, motion->start.p));
            grow(&motion->travel, distance);
            grow_angle(&motion->rotation, motion->start.q, at.q);
            motion->path += step;
            motion->turned += turn;
            if (step > 1e-4 * T || turn > 1e-4 * T)
                motion->moving += T;
            if (distance > 1.744 && isinf(motion->ball))
                motion->ball = row->t;
            motion->last = at;
        }
}

static void take_pairs(ff_metrics *metrics, const ff_row *row) {
    for (int a = 0; a < metrics->scenario->satellites; a++)
        for (int b = a + 1; b < metrics->scenario->satellites; b++) {
            ff_pair_metrics *p = &metrics->pair[a][b];
            const ff_row_body *A = &row->body[a], *B = &row->body[b];
            p->final = ff_pose_mul(ff_pose_inverse(A->command.T), B->command.T);
            if (isnan(A->ideal.position.x))
                continue;
            const ff_pose ideal =
                ff_pose_mul(ff_pose_inverse(ff_rigid_pose(&A->ideal)), ff_rigid_pose(&B->ideal));
            grow_norm(&p->error_position, ff_vec3_sub(p->final.p, ideal.p));
            grow_angle(&p->error_attitude, p->final.q, ideal.q);
        }
}

/* The satellite's own contact may begin earlier or last longer than the robot's only where a method gives it
 * a contact of its own; elsewhere the satellite feels what the sensor feels, and noise is not a contact. */
static bool satellite_has_own_contact(const ff_method *method) {
    return method && method->can & FF_CAN_PREDICT;
}

/* [lange, IV-E] the tool centre point d_t of each side: the force passes it at a right angle to the line to
 * the contact, (37). */
static ff_vec3 tool_point(const ff_contact *contact, int side) {
    if (side == 0)
        return contact->point;
    return contact->kind == FF_CONTACT_CONE ? contact->apex : contact->at;
}

/* Steps that such a method rewrote are in no row's force: the impulse is what changed the momentum, less the
 * loads. */
static ff_vec3 changed_momentum(const ff_metrics *metrics, const ff_episode *e, int side) {
    const ff_contact *contact = &metrics->scenario->contact[e->contact];
    const double mass = metrics->model[side ? contact->against : contact->body].mass;
    return ff_vec3_sub(ff_vec3_scale(mass, ff_vec3_sub(e->after[side].velocity, e->before[side].velocity)),
                       e->load_impulse[side]);
}

/* [N] of contact c on one of its satellites, inertial: what the satellite feels, all of it where nothing else
 * touches it. Else the true force at the robot, applied to the satellite as the loop does, and of what the
 * sensor and the method changed of their sum a part by its size. */
static ff_vec3 own_force(const ff_scenario *scenario, int c, int side, const ff_row *row) {
    const int body = side ? scenario->contact[c].against : scenario->contact[c].body;
    const ff_row_body *b = &row->body[body];
    const ff_vec3 felt = ff_quat_rotate(b->satellite.attitude, b->corrected_b.f);
    ff_vec3 sum = ff_vec3_zero();
    double sizes = 0.0;
    int touching = 0;
    for (int i = 0; i < scenario->contacts; i++) {
        const bool other = scenario->contact[i].against == body;
        if (!row->touching[i] || (scenario->contact[i].body != body && !other))
            continue;
        sum = ff_vec3_axpy(other ? -1.0 : 1.0, row->contact_force[i], sum);
        sizes += ff_vec3_norm(row->contact_force[i]);
        touching++;
    }
    if (touching < 2 || !(sizes > 0.0))
        return felt;
    const ff_quat to = ff_quat_mul(b->satellite.attitude, ff_quat_conj(b->inertial.T.q));
    const ff_vec3 own = ff_vec3_scale(side ? -1.0 : 1.0, row->contact_force[c]),
                  rest = ff_vec3_sub(felt, ff_quat_rotate(to, sum));
    return ff_vec3_axpy(ff_vec3_norm(own) / sizes, rest, ff_quat_rotate(to, own));
}

/* What a settlement corrects after a contact's end is its own: by how much the bodies' velocities differ from
 * those of the row before, loads apart. */
static void take_settlement(const ff_metrics *metrics, ff_episode *e, const ff_row *row) {
    const ff_contact *contact = &metrics->scenario->contact[e->contact];
    const int bodies[2] = {contact->body, contact->against};
    for (int j = 0; j < (contact->against >= 0 ? 2 : 1); j++) {
        const int i = bodies[j];
        const ff_row_body *b = &row->body[i];
        const double mass = metrics->model[i].mass;
        const ff_vec3 moved = ff_vec3_axpy(-metrics->scenario->cycle / mass, b->load.force,
                                           ff_vec3_sub(b->satellite.velocity, metrics->before[i].velocity));
        if (!metrics->before[i].corrects || metrics->last_touch[i] != e->contact ||
            !(ff_vec3_norm(moved) > 1e-9 * ff_vec3_norm(b->satellite.velocity)))
            continue;
        e->after[j].velocity = ff_vec3_add(e->after[j].velocity, moved);
        e->after[j].omega =
            ff_vec3_add(e->after[j].omega, ff_vec3_sub(b->satellite.omega, metrics->before[i].omega));
        e->impulse[j] = ff_vec3_axpy(mass, moved, e->impulse[j]);
    }
}

static void take_contact(ff_metrics *metrics, int c, const ff_row *row) {
    const ff_scenario *scenario = metrics->scenario;
    const ff_contact *contact = &scenario->contact[c];
    const int bodies[2] = {contact->body, contact->against};
    const int count = contact->against >= 0 ? 2 : 1;
    bool active = row->touching[c];
    if (!active && satellite_has_own_contact(scenario->method) && metrics->last_touch[contact->body] == c)
        active = ff_vec3_norm(row->body[contact->body].corrected_b.f) > 0.0;

    int open = metrics->open[c];
    if (open < 0) {
        if (!active)
            return;
        if (metrics->episodes == FF_MAX_EPISODES) {
            metrics->more = true;
            return;
        }
        open = metrics->open[c] = metrics->episodes++;
        metrics->quiet[c] = 0;
        ff_episode *e = &metrics->episode[open];
        *e = (ff_episode){.contact = c,
                          .start = row->t,
                          .end = FF_NAN,
                          .stiffness = FF_NAN,
                          .damping = FF_NAN,
                          .damping_sd = FF_NAN};
        for (int j = 0; j < count; j++)
            e->before[j] = row->body[bodies[j]].satellite;
    }
    ff_episode *e = &metrics->episode[open];
    if (row->body[contact->body].reports && !row->final) {
        e->reports = row->body[contact->body].reports;
        memcpy(e->report, row->body[contact->body].report, sizeof e->report);
    }
    if (active) {
        metrics->quiet[c] = 0;
        for (int j = 0; j < count; j++) {
            const ff_row_body *b = &row->body[bodies[j]];
            grow_norm(&e->peak_force[j], b->corrected_b.f);
            e->after[j] = b->satellite;
            e->impulse[j] = ff_vec3_axpy(scenario->cycle, own_force(scenario, c, j, row), e->impulse[j]);
            e->load_impulse[j] = ff_vec3_axpy(scenario->cycle, b->load.force, e->load_impulse[j]);
        }
        const ff_row_body *b = &row->body[contact->body];
        grow_norm(&e->peak_robot_force, row->contact_force[c]);
        e->force_sum = ff_vec3_add(e->force_sum, row->contact_force[c]);
        for (int j = 0; j < count; j++) {
            const ff_wrench f = row->body[bodies[j]].measured_b;
            const ff_vec3 d =
                ff_vec3_sub(ff_contact_tool_point(f, tool_point(contact, j)), tool_point(contact, j));
            const double square = ff_vec3_dot(f.f, f.f);
            e->point_sum[j] = ff_vec3_axpy(square, d, e->point_sum[j]);
            e->force_square[j] += square;
        }
        if (!isnan(
                b->identified_stiffness)) { /* the method's value covers the contact so far: keep the last */
            e->stiffness = b->identified_stiffness;
            e->damping = b->identified_damping;
            e->damping_sd = b->identified_damping_sd;
        }
        e->bounded += row->bounds != 0;
        return;
    }
    if (metrics->quiet[c]++ == 0) { /* the values of the first quiet cycle stand if four more follow */
        e->end = row->t;
        e->by_momentum = satellite_has_own_contact(scenario->method);
        for (int j = 0; j < count; j++) {
            e->after[j] = row->body[bodies[j]].satellite;
            if (e->by_momentum)
                e->impulse[j] = changed_momentum(metrics, e, j);
        }
    } else if (satellite_has_own_contact(scenario->method))
        take_settlement(metrics, e, row);
    for (int j = 0; j < count; j++)
        e->load_impulse[j] =
            ff_vec3_axpy(scenario->cycle, row->body[bodies[j]].load.force, e->load_impulse[j]);
    /* a method with a contact of its own may let it continue after a pause */
    if (metrics->quiet[c] >= FF_END_CYCLES &&
        !(satellite_has_own_contact(scenario->method) &&
          (row->body[contact->body].in_contact || row->body[contact->body].settling ||
           metrics->before[contact->body].acts) &&
          metrics->last_touch[contact->body] == c))
        metrics->open[c] = -1;
}

/* (24): W_a' <= -delta from one cycle to the next. The software's phase names its storage function: another
 * phase, another W_a. In contact the port's power adds to it, (28). */
static void take_storage(ff_servicer_metrics *m, double cycle, const ff_row_servicer *s) {
    if (!isnan(s->W_a)) {
        m->W_a_most = fmax(m->W_a_most, s->W_a);
        if (!isnan(m->W_a_last) && s->phase == m->phase_last && !m->touched) {
            const double rise = s->W_a - m->W_a_last;
            const double excess = rise / cycle + 0.5 * (s->delta + m->delta_last);
            m->W_a_rise = isnan(m->W_a_rise) ? rise : fmax(m->W_a_rise, rise);
            if (!isnan(excess))
                m->W_a_excess = isnan(m->W_a_excess) ? excess : fmax(m->W_a_excess, excess);
            m->W_a_cycles++;
            m->W_a_rises += rise > 1e-6 * m->W_a_most; /* a sampled controller has a floor */
        }
    }
    m->W_a_last = s->W_a;
    m->delta_last = s->delta;
    m->phase_last = s->phase;
}

static void take_servicer(ff_metrics *metrics, const ff_row *row) {
    const ff_row_servicer *s = &row->servicer;
    ff_servicer_metrics *m = &metrics->servicer;
    const int joints = metrics->scenario->satellite[ff_scenario_servicer(metrics->scenario)].arm.joints;
    for (int i = 0; i < 3; i++) {
        grow(&m->max_force, fabs(s->thrust.f.a[i]));
        grow(&m->max_torque, fabs(s->thrust.t.a[i]));
    }
    for (int i = 0; i < joints; i++) {
        grow(&m->max_joint_torque[i], fabs(s->torque[i]));
        grow(&m->max_motor_torque[i], fabs(s->motor[i]));
    }
    m->thrust_saturated += s->thrust_saturated;
    m->motor_saturated += s->motor_saturated;
    m->touched = m->touched || row->touching[0];
    if (metrics->rows == 0)
        m->W_c_start = s->W_c;
    if (!m->touched)
        grow(&m->W_c_drift, fabs(s->W_c - m->W_c_start));
    take_storage(m, metrics->scenario->cycle, s);
    if (!row->final)
        m->port_energy += metrics->scenario->cycle * s->port_power;
    m->port_power_min = fmin(m->port_power_min, s->port_power);
    m->port_power_max = fmax(m->port_power_max, s->port_power);
    m->bound = fmax(m->bound, s->bound);
    m->bound_violations += s->bound > 1e-9;
}

static ff_status take(void *self, const ff_row *row) {
    ff_metrics *metrics = self;
    for (int i = 0; i < metrics->scenario->satellites; i++)
        take_body(metrics, i, row);
    if (!metrics->brief) {
        take_motions(metrics, row);
        take_pairs(metrics, row);
    }
    for (int c = 0; c < metrics->scenario->contacts; c++) /* before any contact asks whose force it is */
        if (row->touching[c]) {
            const ff_contact *contact = &metrics->scenario->contact[c];
            metrics->last_touch[contact->body] = c;
            if (contact->against >= 0)
                metrics->last_touch[contact->against] = c;
        }
    for (int c = 0; c < metrics->scenario->contacts; c++)
        take_contact(metrics, c, row);
    for (int i = 0; i < metrics->scenario->satellites; i++) {
        const bool acts = row->body[i].in_contact || row->body[i].settling;
        metrics->before[i].corrects =
            acts || metrics->before[i].acts; /* the last correction stands in the next row */
        metrics->before[i].acts = acts;
        metrics->before[i].velocity = row->body[i].satellite.velocity;
        metrics->before[i].omega = row->body[i].satellite.omega;
    }
    if (ff_scenario_servicer(metrics->scenario) >= 0)
        take_servicer(metrics, row);
    metrics->rows++;
    metrics->t = row->t;
    return FF_OK;
}

ff_sink ff_metrics_sink(ff_metrics *metrics) {
    return (ff_sink){.self = metrics, .row = take};
}

/* The reference's episodes have located times and peaks: take them instead of the sampled ones. */
static void exact_episodes(ff_metrics *metrics, const ff_ideal_result *ideal) {
    metrics->episodes = 0;
    metrics->more = false;
    for (int i = 0; i < ideal->contacts && ideal->contact[i].start <= metrics->t; i++) {
        const ff_ideal_contact *x = &ideal->contact[i];
        metrics->more = i >= FF_MAX_EPISODES;
        if (metrics->more)
            break;
        metrics->episode[metrics->episodes++] = (ff_episode){.contact = x->contact,
                                                             .start = x->start,
                                                             .end = x->end,
                                                             .before = {x->before[0], x->before[1]},
                                                             .after = {x->after[0], x->after[1]},
                                                             .peak_force = {x->peak_force, x->peak_force},
                                                             .peak_robot_force = x->peak_force,
                                                             .impulse = {x->impulse, ff_vec3_neg(x->impulse)},
                                                             .stiffness = FF_NAN,
                                                             .damping = FF_NAN,
                                                             .damping_sd = FF_NAN,
                                                             .force_sum = x->impulse};
    }
}

static double relative_speed(const ff_contact *contact, const ff_rigid_state *state) {
    return ff_vec3_norm(contact->against < 0 ? state[0].velocity
                                             : ff_vec3_sub(state[0].velocity, state[1].velocity));
}

/* [m/s] Of the contact point, relative to `against` where there is one, along the surface's normal there and
 * then; negative: they approach. Where the normal is not one, of cones and stops, the direction of the
 * impulse stands for it, which is normal without friction. */
static double normal_speed(const ff_contact *contact, const ff_rigid_state *state, ff_vec3 force_sum) {
    ff_vec3 n = contact->normal;
    if (contact->kind == FF_CONTACT_PAIR && contact->against >= 0)
        n = ff_quat_rotate(state[1].attitude, n);
    else if (contact->kind != FF_CONTACT_WALL && contact->kind != FF_CONTACT_PAIR)
        n = ff_vec3_unit(force_sum);
    return ff_vec3_dot(n, ff_metrics_point_velocity(contact, state));
}

void ff_metrics_episode(const ff_metrics *metrics, int episode, ff_episode_info *info) {
    const ff_episode *e = &metrics->episode[episode], *first = &metrics->episode[0];
    const ff_contact *contact = &metrics->scenario->contact[e->contact];
    double mass_inv = metrics->model[contact->body].mass_inv;
    if (contact->against >= 0)
        mass_inv += metrics->model[contact->against].mass_inv;
    info->frequency = sqrt(e->stiffness * mass_inv) / (2.0 * FF_PI);
    const ff_vec3 nan3 = {{FF_NAN, FF_NAN, FF_NAN}};
    for (int j = 0; j < 2; j++)
        info->point[j] = e->force_square[j] > 0.0
                             ? ff_vec3_axpy(1.0 / e->force_square[j], e->point_sum[j], tool_point(contact, j))
                             : nan3;
    const bool closed = !isnan(e->end);
    const double before = normal_speed(contact, e->before, e->force_sum),
                 after = normal_speed(contact, e->after, e->force_sum);
    const bool normal = !(contact->kind == FF_CONTACT_CONE && contact->friction > 0.0) &&
                        !metrics->scenario->satellite[contact->body].arm.present;
    info->restitution = closed && normal && before < 0.0 ? -after / before : FF_NAN;
    const double initial = relative_speed(&metrics->scenario->contact[first->contact], first->before);
    info->cov = closed && initial > 0.0 ? relative_speed(contact, e->after) / initial : FF_NAN;
    info->cof = first->peak_robot_force > 0.0 ? e->peak_robot_force / first->peak_robot_force : FF_NAN;
}

/* No cycle was run: a device that does not answer, a check that refuses. Zeros would look like results. */
static void forget_zeros(ff_metrics *metrics) {
    const ff_vec3 none = {{FF_NAN, FF_NAN, FF_NAN}};
    for (int i = 0; i < metrics->scenario->satellites; i++) {
        ff_body_metrics *m = &metrics->body[i];
        m->final = (ff_rigid_state){
            .position = none, .attitude = {FF_NAN, FF_NAN, FF_NAN, FF_NAN}, .velocity = none, .omega = none};
        m->initial_energy = m->final_energy = m->max_energy = FF_NAN;
        m->error_velocity = m->error_omega = m->error_position = m->error_attitude = FF_NAN;
        m->travel = m->rotation = m->tracking = FF_NAN;
    }
}

void ff_metrics_finish(ff_metrics *metrics, const ff_ideal_result *ideal, ff_status status) {
    const ff_scenario *scenario = metrics->scenario;
    for (int c = 0; c < scenario->contacts; c++) /* fewer than five quiet cycles before the end: still open */
        if (metrics->open[c] >= 0)
            metrics->episode[metrics->open[c]].end = FF_NAN;
    if (ideal && !scenario->method)
        exact_episodes(metrics, ideal);
    metrics->compared = ideal != NULL;
    if (ideal)
        ff_metrics_compare(metrics, ideal);
    double velocity = 0.0, omega = 0.0, ratio = 0.0, restitution = 0.0;
    bool paired = true;
    for (int i = 0; i < scenario->satellites; i++) {
        grow(&velocity, metrics->body[i].error_velocity);
        grow(&omega, metrics->body[i].error_omega);
        grow(&ratio, metrics->peak_force_ratio[i]);
        grow(&restitution, metrics->restitution_error[i]);
        paired = paired && isnan(metrics->diverged[i]);
    }
    const ff_requirements *r = &scenario->requirements;
    metrics->requirement[0] =
        (ff_requirement_result){"velocity_error", r->velocity_error, velocity, true, false};
    metrics->requirement[1] =
        (ff_requirement_result){"angular_velocity_error", r->angular_velocity_error, omega, true, false};
    metrics->requirement[2] =
        (ff_requirement_result){"peak_force_ratio", r->peak_force_ratio, ratio, metrics->forces, false};
    /* contacts that cannot be paired are not known to be right */
    metrics->requirement[3] =
        (ff_requirement_result){"restitution_error", r->restitution_error, paired ? restitution : FF_INF,
                                metrics->rebounds || !paired, false};
    metrics->pass = status >= 0 && ideal != NULL;
    for (int i = 0; i < FF_REQUIREMENTS; i++) {
        metrics->requirement[i].judged = ideal != NULL && metrics->rows > 0 && metrics->requirement[i].judged;
        metrics->requirement[i].met =
            ideal != NULL && metrics->requirement[i].value <= metrics->requirement[i].limit;
        metrics->pass = metrics->pass && metrics->requirement[i].met;
    }
    if (metrics->rows == 0)
        forget_zeros(metrics);
}
