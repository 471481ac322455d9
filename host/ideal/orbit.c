#include "ideal/orbit.h"

#include "ideal/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = FF_TREE_JOINTS_MAX };

/* The grasp: closed at a pose, or released for good. */
typedef struct hand {
    bool closed, released;
    ff_vec3 at; /* gripper in the client's frame when it closed */
    ff_quat q;
} hand;

typedef struct orbit_state {
    ff_rigid_state client; /* attitude not unit inside a step */
    ff_tree_state s;
} orbit_state;

typedef struct orbit_rate {
    ff_vec3 p, v, w;
    ff_quat q;
    ff_vec3 bp;
    ff_quat bq;
    ff_twist V;
    double qd[MOST], qdd[MOST];
} orbit_rate;

typedef struct space {
    const ff_scenario *scenario;
    int servicer, client_of;
    ff_tree_memory orbit, brain;
    size_t joints;
    ff_tree_frame gripper;
    ff_rigid_model client;
    const ff_contact *grasp; /* NULL: none */
    ff_contact plane[FF_MAX_CONTACTS];
    bool planes;
    hand hand;
    ff_computer computer;
    ff_orbit_row row;
} space;

/* ------------------------------------------------------------------------------------------ contacts -- */

/* Wrench on the gripper, gripper axes: spring and damper in six axes towards the pose it closed at. The
 * twists are body twists. */
static ff_wrench hold_wrench(const ff_contact *c, const hand *h, ff_pose gripper, ff_twist V_g,
                             ff_pose client, ff_twist V_c) {
    if (!h->closed)
        return ff_wrench_zero();
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    const ff_twist V = ff_twist_sub(V_g, ff_twist_transform(ff_pose_inverse(T), V_c));
    const ff_vec3 stretch = ff_quat_unrotate(T.q, ff_vec3_sub(T.p, h->at));
    const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(h->q), T.q));
    return (ff_wrench){ff_vec3_axpy(-c->rotation_damping, V.w, ff_vec3_scale(-c->rotation_stiffness, turn)),
                       ff_vec3_axpy(-c->damping, V.v, ff_vec3_scale(-c->stiffness, stretch))};
}

/* Half a nanosecond of grace: t is a product, the times are decimal fractions. */
static void move_hand(const ff_contact *c, double t, ff_pose gripper, ff_pose client, hand *h) {
    if (!c)
        return;
    if (t > c->opens - 5e-10)
        *h = (hand){.released = true};
    if (h->closed || h->released || t < c->closes - 5e-10)
        return;
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    if (ff_vec3_norm(ff_vec3_sub(T.p, c->at)) <= c->reach)
        *h = (hand){.closed = true, .at = T.p, .q = T.q};
}

/* The law of a plane on the client in orbit: k d + c(d) d', never
 * pulling, with Coulomb friction that is smooth at rest. Force on the gripper, gripper axes, at its tip. */
static ff_wrench plane_wrench(const ff_contact *c, ff_pose gripper, ff_twist V_g, ff_pose client,
                              ff_twist V_c) {
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    const ff_vec3 p = ff_pose_apply(T, c->point);
    const ff_vec3 tip = ff_quat_rotate(T.q, ff_vec3_add(V_g.v, ff_vec3_cross(V_g.w, c->point)));
    const ff_vec3 v = ff_vec3_sub(tip, ff_vec3_add(V_c.v, ff_vec3_cross(V_c.w, p)));
    const double d = ff_vec3_dot(c->normal, ff_vec3_sub(c->at, p)), rate = -ff_vec3_dot(c->normal, v);
    const double s = c->damping_depth > 0.0 ? fmin(1.0, d / c->damping_depth) : 1.0;
    const double f = c->law && d > 0.0
                         ? c->law->force(c->law->self, d, rate)
                         : c->satellite_stiffness * d + c->satellite_damping * s * s * (3.0 - 2.0 * s) * rate;
    if (d <= 0.0 || f <= 0.0)
        return ff_wrench_zero();
    const ff_vec3 slip = ff_vec3_axpy(rate, c->normal, v);
    const double speed = hypot(ff_vec3_norm(slip), FF_IDEAL_SLIP);
    const ff_vec3 F = ff_vec3_axpy(-c->friction * f / speed, slip, ff_vec3_scale(f, c->normal)),
                  F_g = ff_quat_unrotate(T.q, F);
    return (ff_wrench){ff_vec3_cross(c->point, F_g), F_g};
}

/* All of them on the gripper, gripper axes; row (may be NULL) gets the parts. */
static ff_wrench touch(const space *o, const ff_rigid_state *x, ff_pose gripper, ff_twist V,
                       ff_orbit_row *row) {
    const ff_scenario *s = o->scenario;
    const ff_pose client = ff_rigid_pose(x);
    const ff_twist V_c = ff_rigid_twist(x);
    const ff_wrench held = hold_wrench(o->grasp, &o->hand, gripper, V, client, V_c);
    ff_wrench sum = held;
    for (int c = 0; c < s->contacts; c++) {
        const bool grasp = &s->contact[c] == o->grasp;
        const ff_wrench part = grasp ? held : plane_wrench(&o->plane[c], gripper, V, client, V_c);
        if (!grasp)
            sum = ff_wrench_add(sum, part);
        if (row) {
            row->force[c] = ff_quat_rotate(gripper.q, part.f);
            row->touching[c] = grasp ? o->hand.closed : ff_vec3_norm(part.f) > 0.0;
        }
    }
    return sum;
}

/* ------------------------------------------------------------------------------------------- motion -- */

static ff_quat quat_rate(ff_quat q, ff_vec3 w) {
    return ff_quat_mul(q, (ff_quat){0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z});
}

static bool orbit_slope(space *o, double t, const orbit_state *x, const ff_obsw_out *u, orbit_rate *d) {
    const ff_rigid_load client_load = ff_scenario_load_at(o->scenario, o->client_of, t),
                        base_load = ff_scenario_load_at(o->scenario, o->servicer, t);
    ff_tree_kinematics(o->orbit.model, &x->s, o->orbit.work, ff_vec3_zero());
    const ff_pose gripper = ff_tree_frame_pose(o->orbit.model, o->orbit.work, &o->gripper);
    const ff_twist V = ff_tree_frame_twist(o->orbit.model, o->orbit.work, &o->gripper);
    const ff_wrench F_e = touch(o, &x->client, gripper, V, NULL);
    ff_wrench external[FF_TREE_LINKS_MAX];
    for (size_t i = 0; i < ff_tree_links(o->orbit.model); i++)
        external[i] = ff_wrench_zero();
    ff_tree_force force = {
        .base = ff_wrench_add(
            ff_obsw_thrust(u),
            (ff_wrench){base_load.torque, ff_quat_unrotate(ff_quat_unit(x->s.base.q), base_load.force)})};
    if (o->gripper.link >= 0)
        external[o->gripper.link] = ff_wrench_transform(o->gripper.offset, F_e);
    for (size_t i = 0; i < o->joints; i++) {
        const double most = ff_tree_joint_limits(o->orbit.model, i).torque_max;
        force.torque[i] = fmin(most, fmax(-most, u->joint_torque[i]));
    }
    ff_tree_acceleration a;
    if (ff_tree_forward_dynamics(o->orbit.model, o->orbit.work, &force, external, &a) != FF_OK)
        return false;
    const ff_wrench on_client = ff_wrench_scale(
        -1.0, ff_wrench_transform(ff_pose_mul(ff_pose_inverse(ff_rigid_pose(&x->client)), gripper), F_e));
    d->p = x->client.velocity;
    d->q = quat_rate(x->client.attitude, x->client.omega);
    d->v = ff_vec3_scale(o->client.mass_inv,
                         ff_vec3_add(ff_quat_rotate(x->client.attitude, on_client.f), client_load.force));
    d->w = ff_rigid_angular_acceleration(&o->client, x->client.omega,
                                         ff_vec3_add(on_client.t, client_load.torque));
    d->bp = ff_quat_rotate(x->s.base.q, x->s.twist.v);
    d->bq = quat_rate(x->s.base.q, x->s.twist.w);
    d->V = a.base;
    memcpy(d->qd, x->s.qd, sizeof d->qd);
    memcpy(d->qdd, a.qdd, sizeof d->qdd);
    return true;
}

static ff_quat quat_add(ff_quat q, double h, ff_quat d) {
    return (ff_quat){q.w + h * d.w, q.x + h * d.x, q.y + h * d.y, q.z + h * d.z};
}

static void orbit_shift(const space *o, orbit_state *x, double h, const orbit_rate *d) {
    x->client.position = ff_vec3_axpy(h, d->p, x->client.position);
    x->client.attitude = quat_add(x->client.attitude, h, d->q);
    x->client.velocity = ff_vec3_axpy(h, d->v, x->client.velocity);
    x->client.omega = ff_vec3_axpy(h, d->w, x->client.omega);
    x->s.base.p = ff_vec3_axpy(h, d->bp, x->s.base.p);
    x->s.base.q = quat_add(x->s.base.q, h, d->bq);
    x->s.twist = ff_twist_add(x->s.twist, ff_twist_scale(h, d->V));
    for (size_t i = 0; i < o->joints; i++) {
        x->s.q[i] += h * d->qd[i];
        x->s.qd[i] += h * d->qdd[i];
    }
}

/* The classical Runge-Kutta step of fourth order. The last slope is taken just before the end: a load that
 * begins there belongs to the next step. */
static bool orbit_step(space *o, double t, orbit_state *x, const ff_obsw_out *u, double h) {
    const double when[4] = {t, t + 0.5 * h, t + 0.5 * h, t + h * (1.0 - 1e-9)},
                 ahead[4] = {0.5 * h, 0.5 * h, h, 0.0}, part[4] = {h / 6, h / 3, h / 3, h / 6};
    const orbit_state from = *x;
    orbit_state y = from;
    for (int i = 0; i < 4; i++) {
        orbit_rate k;
        if (!orbit_slope(o, when[i], &y, u, &k))
            return false;
        y = from;
        orbit_shift(o, &y, ahead[i], &k);
        orbit_shift(o, x, part[i], &k);
    }
    x->client.attitude = ff_quat_unit(x->client.attitude);
    x->s.base.q = ff_quat_unit(x->s.base.q);
    return true;
}

/* --------------------------------------------------------------------------------------------- runs -- */

static ff_status make(space *o, const ff_scenario *s, ff_obsw_opener *opener, ff_obsw_record record,
                      char *message, size_t size) {
    ff_computer_config c;
    o->scenario = s;
    o->servicer = ff_scenario_servicer(s);
    o->client_of = 1 - o->servicer;
    const ff_satellite *base = &s->satellite[o->servicer];
    ff_status status = ff_tree_memory_open(base, FF_TREE_ORBIT, &o->orbit, message, size);
    if (status == FF_OK)
        status = ff_tree_memory_open(base, FF_TREE_ORBIT, &o->brain, message, size);
    if (status == FF_OK)
        status = ff_rigid_create(&s->satellite[o->client_of].rigid, &o->client);
    if (status != FF_OK)
        return status;
    o->joints = ff_tree_joints(o->orbit.model);
    o->gripper = ff_scenario_gripper(base);
    for (int n = 0; n < s->contacts; n++)
        if (s->contact[n].kind == FF_CONTACT_GRASP)
            o->grasp = &s->contact[n];
        else {
            o->plane[n] = s->contact[n];
            o->plane[n].normal = ff_vec3_unit(s->contact[n].normal);
            o->planes = true;
        }
    ff_computer_configure(s, &c);
    c.builtin.tree = o->brain.model;
    c.builtin.work = o->brain.work;
    c.opener = opener;
    c.record = record;
    c.udp.free = false; /* the reference is not paced */
    return ff_computer_open(&c, &o->computer, message, size);
}

static void start(const space *o, orbit_state *x) {
    const ff_satellite *base = &o->scenario->satellite[o->servicer];
    *x = (orbit_state){.client = o->scenario->satellite[o->client_of].start};
    x->client.attitude = ff_quat_unit(x->client.attitude);
    ff_tree_state_default(&x->s);
    x->s.base = ff_rigid_pose(&base->start);
    x->s.twist = ff_rigid_twist(&base->start);
    for (size_t i = 0; i < o->joints; i++)
        x->s.q[i] = base->arm.q[i];
}

static void fill_row(space *o, double t, const orbit_state *x, const ff_obsw_out *u, ff_obsw_action action) {
    ff_orbit_row *row = &o->row;
    ff_tree_kinematics(o->orbit.model, &x->s, o->orbit.work, ff_vec3_zero());
    const ff_pose gripper = ff_tree_frame_pose(o->orbit.model, o->orbit.work, &o->gripper);
    const ff_twist V = ff_tree_frame_twist(o->orbit.model, o->orbit.work, &o->gripper);
    const ff_pose T_bg = ff_tree_frame_in_base(o->orbit.model, o->orbit.work, &o->gripper);
    row->t = t;
    row->client = x->client;
    row->base = ff_rigid_from_twist(x->s.base, x->s.twist);
    memcpy(row->q, x->s.q, sizeof row->q);
    memcpy(row->qd, x->s.qd, sizeof row->qd);
    row->actuation = *u;
    row->action = action;
    row->F_e = touch(o, &x->client, gripper, V, row);
    row->gripper = gripper.q;
    row->on_base = ff_wrench_transform(T_bg, row->F_e);
    row->on_client =
        ff_wrench_scale(-1.0, ff_wrench_transform(ff_pose_mul(ff_pose_inverse(ff_rigid_pose(&x->client)),
                                                              ff_pose_mul(x->s.base, T_bg)),
                                                  row->F_e));
    row->energy[o->client_of] = ff_rigid_kinetic_energy(&o->client, &x->client);
    row->energy[o->servicer] = ff_tree_kinetic_energy(o->orbit.model, o->orbit.work);
}

/* One cycle from t_k: software, row, motion. */
static ff_status orbit_cycle(space *o, double t, orbit_state *x, ff_orbit_sink sink, char *message,
                             size_t size) {
    const ff_scenario *s = o->scenario;
    /* a plane's onset is met within a step: an eighth of it for a tenth of a percent of a short contact */
    const int parts = (int)lround(s->cycle / s->satellite[o->servicer].arm.cycle) * (o->planes ? 8 : 1);
    ff_obsw_out u;
    ff_obsw_action action;
    ff_tree_kinematics(o->orbit.model, &x->s, o->orbit.work, ff_vec3_zero());
    move_hand(o->grasp, t, ff_tree_frame_pose(o->orbit.model, o->orbit.work, &o->gripper),
              ff_rigid_pose(&x->client), &o->hand);
    const ff_rigid_state base = ff_rigid_from_twist(x->s.base, x->s.twist);
    ff_computer_gripper(&o->computer, o->hand.closed, t);
    ff_status status =
        ff_computer_step(&o->computer, t, &x->client, &base, x->s.q, x->s.qd, &u, &action, message, size);
    if (status == FF_OK) {
        fill_row(o, t, x, &u, action);
        status = sink.row(sink.self, &o->row);
    }
    for (int p = 0; p < parts && status == FF_OK; p++)
        if (!orbit_step(o, t + p * s->cycle / parts, x, &u, s->cycle / parts) ||
            !ff_rigid_finite(&x->client)) {
            snprintf(message, size, "the orbit diverged at %.3f s", t);
            status = FF_ERR_DIVERGED;
        }
    return status;
}

ff_status ff_orbit_run(const ff_scenario *scenario, ff_obsw_opener *opener, ff_obsw_record record,
                       ff_orbit_sink sink, char *message, size_t size) {
    space *o = calloc(1, sizeof *o);
    if (!o)
        return FF_ERR_MEMORY;
    ff_status status = make(o, scenario, opener, record, message, size);
    const bool open = status == FF_OK;
    orbit_state x;
    if (open)
        start(o, &x);
    for (uint64_t k = 0; status == FF_OK && k <= scenario->cycles; k++)
        status = orbit_cycle(o, (double)k * scenario->cycle, &x, sink, message, size);
    if (open)
        ff_computer_close(&o->computer);
    ff_tree_memory_close(&o->orbit);
    ff_tree_memory_close(&o->brain);
    free(o);
    return status;
}

/* ------------------------------------------------------------------------------------------ reference -- */

enum { MOST_CONTACTS = 256 }; /* that are kept of one run: a gripper that chatters on a plane */

typedef struct gatherer {
    const ff_scenario *scenario;
    ff_ideal_result *result;
    int open[FF_MAX_CONTACTS]; /* place in the result; -1: not touched */
    int servicer;
    uint64_t k;
} gatherer;

static ff_status gather(void *self, const ff_orbit_row *m) {
    gatherer *g = self;
    ff_ideal_result *r = g->result;
    if (g->k >= r->samples)
        return FF_OK;
    for (int i = 0; i < 2; i++) {
        const bool servicer = i == g->servicer;
        const ff_wrench f = servicer ? m->on_base : m->on_client;
        const ff_rigid_state *s = servicer ? &m->base : &m->client;
        r->state[2 * g->k + (uint64_t)i] = *s;
        r->contact_load[2 * g->k + (uint64_t)i] = ff_rigid_load_from_body(s->attitude, f);
    }
    for (int c = 0; c < g->scenario->contacts; c++) {
        const double force = ff_vec3_norm(m->force[c]);
        ff_ideal_contact *e = g->open[c] >= 0 ? &r->contact[g->open[c]] : NULL;
        if (!m->touching[c]) {
            if (e)
                e->end = m->t;
            g->open[c] = -1;
            continue;
        }
        if (!e) {
            if (r->contacts == MOST_CONTACTS)
                continue;
            g->open[c] = r->contacts;
            e = &r->contact[r->contacts++];
            *e = (ff_ideal_contact){
                .contact = c, .start = m->t, .end = FF_NAN, .before = {m->base, m->client}};
        }
        e->after[0] = m->base;
        e->after[1] = m->client;
        e->peak_force = fmax(e->peak_force, force);
        e->impulse = ff_vec3_axpy(g->scenario->cycle, m->force[c], e->impulse);
    }
    g->k++;
    return FF_OK;
}

ff_status ff_orbit_solve(const ff_scenario *scenario, ff_obsw_opener *opener, ff_ideal_result *result,
                         char *message, size_t size) {
    memset(result, 0, sizeof *result);
    if (size)
        message[0] = 0;
    const size_t values = 2 * (size_t)(scenario->cycles + 1);
    result->samples = scenario->cycles + 1;
    result->bodies = 2;
    result->state = calloc(values, sizeof *result->state);
    result->contact_load = calloc(values, sizeof *result->contact_load);
    result->contact = calloc(MOST_CONTACTS, sizeof *result->contact);
    ff_status status = FF_ERR_MEMORY;
    if (result->state && result->contact_load && result->contact) {
        gatherer g = {.scenario = scenario, .result = result, .servicer = ff_scenario_servicer(scenario)};
        for (int c = 0; c < FF_MAX_CONTACTS; c++)
            g.open[c] = -1;
        status =
            ff_orbit_run(scenario, opener, (ff_obsw_record){0}, (ff_orbit_sink){&g, gather}, message, size);
    }
    if (status != FF_OK)
        ff_ideal_free(result);
    return status;
}
