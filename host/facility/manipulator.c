#include "facility/manipulator.h"

#include "facility/environment.h"
#include "facility/law.h"
#include "text/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = FF_TREE_JOINTS_MAX };

/* [rad/s] of the joints under their brakes, in the measure of their own inertia: critically damped, so a
 * joint that moved at v comes v/(e r) further, and has lost all but a thousandth of it after 0.2 s. */
static const double HOLD_RATE = 50.0;

typedef struct grip {
    bool closed;
    ff_vec3 at; /* gripper in the client's frame when it closed */
    ff_quat q;
} grip;

struct ff_manipulator {
    const ff_scenario *scenario;
    int servicer, client;
    ff_arm_law law;       /* (22) */
    ff_arm_drive drive;   /* in its place; torque NULL: none */
    ff_tree_memory arm;   /* as it is */
    ff_tree_memory known; /* wrench robot: as its drive knows it */
    size_t joints;
    int parts; /* own cycles of one of the loop's */
    ff_tree_frame gripper;
    ff_vec3 gravity;         /* in the robots' frame */
    const ff_contact *grasp; /* NULL: none */
    ff_contact
        bump[FF_MAX_CONTACTS]; /* body frames: of the gripper (motion 1) and of the client (motion 0) */
    /* state */
    ff_setpoint before[2], now[2]; /* of client and servicer: one cycle ago, now */
    double qdd[MOST];
    ff_arm_order order;
    double held[MOST]; /* where the brakes hold the joints */
    grip grip;
    ff_sample_joints sample;
    ff_truth_arm truth;
};

enum { CLIENT, SERVICER };

/* --------------------------------------------------------------------------------------------- setup -- */

static ff_status make(ff_manipulator *m, const ff_scenario *s, char *message, size_t size) {
    ff_status status;
    m->scenario = s;
    m->servicer = ff_scenario_servicer(s);
    m->client = 1 - m->servicer;
    const ff_satellite *base = &s->satellite[m->servicer];
    if ((status = ff_arm_law_open(&m->law, s, message, size)) != FF_OK ||
        (status = ff_tree_memory_open(base, FF_TREE_GROUND, &m->arm, message, size)) != FF_OK)
        return status;
    if (base->robot.kind == FF_ROBOT_WRENCH &&
        (status = ff_tree_memory_open(base, FF_TREE_CARRIED, &m->known, message, size)) != FF_OK)
        return status;
    m->joints = m->law.joints;
    m->parts = m->law.parts;
    if (ff_tree_joints(m->arm.model) != m->joints)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the arm on the ground must have the joints of the one in orbit");
    m->gripper = m->law.model.gripper;
    m->gravity = m->law.model.gravity;
    for (int c = 0; c < s->contacts; c++) {
        if (s->contact[c].kind == FF_CONTACT_GRASP) {
            m->grasp = &s->contact[c];
            continue;
        }
        m->bump[c] = s->contact[c];
        m->bump[c].normal = ff_vec3_unit(s->contact[c].normal);
        m->bump[c].body = SERVICER;
        m->bump[c].against = CLIENT;
    }
    return FF_OK;
}

ff_manipulator *ff_manipulator_create(const ff_scenario *scenario, char *message, size_t size,
                                      ff_status *why) {
    ff_manipulator *m = calloc(1, sizeof *m);
    *why = FF_ERR_MEMORY;
    if (!m) {
        snprintf(message, size, "no memory for the arm");
        return NULL;
    }
    const ff_status status = *why = make(m, scenario, message, size);
    if (status == FF_OK) {
        ff_manipulator_reset(m);
        return m;
    }
    if (!message[0])
        snprintf(message, size, "%s", ff_status_text(status));
    ff_manipulator_free(m);
    return NULL;
}

void ff_manipulator_free(ff_manipulator *m) {
    if (!m)
        return;
    ff_arm_law_close(&m->law);
    ff_tree_memory_close(&m->arm);
    ff_tree_memory_close(&m->known);
    free(m);
}

void ff_manipulator_keep(ff_manipulator *m, ff_keeper *keeper) {
    ff_keep(keeper, &m->law.state, sizeof m->law.state);
    ff_keep(keeper, m->before, sizeof *m - offsetof(ff_manipulator, before)); /* all behind "state" */
}

void ff_manipulator_reset(ff_manipulator *m) {
    const ff_servicer_arm *arm = &m->scenario->satellite[m->servicer].arm;
    m->grip = (grip){0};
    m->order = (ff_arm_order){.grips = ff_arm_law_grips(m->scenario, 0.0)};
    ff_arm_law_reset(&m->law);
    m->sample = (ff_sample_joints){0};
    m->truth = (ff_truth_arm){0};
    memset(m->qdd, 0, sizeof m->qdd);
    memcpy(m->sample.q, arm->q, sizeof arm->q);
}

static void hold(ff_manipulator *m, bool holds) {
    if (holds && !m->order.holds)
        memcpy(m->held, m->sample.q, sizeof m->held);
    m->order.holds = holds;
}

void ff_manipulator_order(ff_manipulator *m, const ff_arm_order *order) {
    hold(m, order->holds);
    m->order = *order;
}

void ff_manipulator_drive(ff_manipulator *m, ff_arm_drive drive) {
    m->drive = drive;
}

const ff_sample_joints *ff_manipulator_joints(const ff_manipulator *m) {
    return &m->sample;
}

/* ------------------------------------------------------------------------------------------- contact -- */

/* Wrench on the gripper, gripper axes: spring and damper in six axes towards the pose it closed at. The
 * twists are body twists. */
static ff_wrench grip_wrench(const ff_contact *c, const grip *g, ff_pose gripper, ff_twist V_g,
                             ff_pose client, ff_twist V_c, ff_twist *relative) {
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    const ff_twist V = ff_twist_sub(V_g, ff_twist_transform(ff_pose_inverse(T), V_c));
    if (relative)
        *relative = V;
    if (!g->closed)
        return ff_wrench_zero();
    const ff_vec3 stretch = ff_quat_unrotate(T.q, ff_vec3_sub(T.p, g->at));
    const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(g->q), T.q));
    return (ff_wrench){ff_vec3_axpy(-c->rotation_damping, V.w, ff_vec3_scale(-c->rotation_stiffness, turn)),
                       ff_vec3_axpy(-c->damping, V.v, ff_vec3_scale(-c->stiffness, stretch))};
}

static void move_gripper(const ff_contact *c, bool grips, ff_pose gripper, ff_pose client, grip *g) {
    if (!c || !grips)
        *g = (grip){.closed = false};
    if (!c || !grips || g->closed)
        return;
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    if (ff_vec3_norm(ff_vec3_sub(T.p, c->at)) <= c->reach)
        *g = (grip){.closed = true, .at = T.p, .q = T.q};
}

static ff_twist body_twist(const ff_setpoint *s) {
    return (ff_twist){s->twist.w, ff_quat_unrotate(s->T.q, s->twist.v)};
}

/* A robot between two cycles: pose interpolated, body twist linear in time. */
typedef struct carried {
    ff_pose T;
    ff_twist V, A;
} carried;

static carried between(const ff_setpoint *a, const ff_setpoint *b, double s, double T) {
    const ff_twist V0 = body_twist(a), V1 = body_twist(b), d = ff_twist_sub(V1, V0);
    return (carried){ff_pose_interpolate(a->T, b->T, s), ff_twist_add(V0, ff_twist_scale(s, d)),
                     ff_twist_scale(1.0 / T, d)};
}

/* Wrench on the gripper, gripper axes; *truth (may be NULL) gets each contact's part in `wrench`. */
static ff_wrench contact_at(const ff_manipulator *m, const carried *client, ff_twist *relative,
                            ff_truth *truth) {
    const ff_scenario *s = m->scenario;
    const ff_pose gripper = ff_tree_frame_pose(m->arm.model, m->arm.work, &m->gripper);
    const ff_twist V = ff_tree_frame_twist(m->arm.model, m->arm.work, &m->gripper);
    const ff_wrench held = grip_wrench(m->grasp, &m->grip, gripper, V, client->T, client->V, relative);
    ff_wrench sum = held;
    const ff_setpoint motion[2] = {
        [CLIENT] = {client->T, {client->V.w, ff_quat_rotate(client->T.q, client->V.v)}},
        [SERVICER] = {gripper, {V.w, ff_quat_rotate(gripper.q, V.v)}}};
    for (int c = 0; c < s->contacts; c++) {
        const bool grasp = &s->contact[c] == m->grasp;
        ff_environment_out out = {.on_body = held};
        if (!grasp) {
            ff_environment_contact(&m->bump[c], motion, &out);
            sum = ff_wrench_add(sum, out.on_body);
        }
        if (truth) {
            truth->wrench[c] = out.on_body;
            truth->touching[c] = grasp ? m->grip.closed : ff_vec3_norm(out.on_body.f) > 0.0;
        }
    }
    return sum;
}

/* ----------------------------------------------------------------------------------------- inner cycle -- */

static void on_links(const ff_manipulator *m, ff_wrench F_e, ff_wrench *external) {
    const size_t links = ff_tree_links(m->arm.model);
    for (size_t i = 0; i < links; i++)
        external[i] = ff_wrench_zero();
    if (m->gripper.link >= 0)
        external[m->gripper.link] = ff_wrench_transform(m->gripper.offset, F_e);
}

static void place_arm(const ff_manipulator *m, const carried *base, const double *q, const double *qd) {
    ff_tree_state x;
    x.base = base->T;
    x.twist = base->V;
    for (size_t i = 0; i < m->joints; i++) {
        x.q[i] = q[i];
        x.qd[i] = qd[i];
    }
    ff_tree_kinematics(m->arm.model, &x, m->arm.work, m->gravity);
}

/* (20): the arm on the moving base, under gravity, the commanded torque and the contact. */
static bool arm_rate(const ff_manipulator *m, double s, const double *q, const double *qd,
                     const double *tau_q, double *qdd) {
    const double T = m->scenario->cycle;
    const carried base = between(&m->before[SERVICER], &m->now[SERVICER], s, T);
    const carried client = between(&m->before[CLIENT], &m->now[CLIENT], s, T);
    ff_wrench external[FF_TREE_LINKS_MAX];
    place_arm(m, &base, q, qd);
    on_links(m, contact_at(m, &client, NULL, NULL), external);
    ff_tree_force force = {.base = ff_wrench_zero()};
    double friction[MOST] = {0};
    ff_tree_friction(m->arm.model, qd, 0.01, friction);
    for (size_t i = 0; i < m->joints; i++)
        force.torque[i] = tau_q[i] + friction[i];
    ff_tree_acceleration a = {.base = base.A};
    if (ff_tree_forward_dynamics(m->arm.model, m->arm.work, &force, external, &a) != FF_OK)
        return false;
    memcpy(qdd, a.qdd, m->joints * sizeof *qdd);
    return true;
}

/* Brakes: e'' + 2 r e' + r^2 e = 0 about where the joints were, by the inverse dynamics of the arm as it is,
 * its weight and the contact carried. */
static void brake_torque(const ff_manipulator *m, const carried *base, const carried *client, double *tau) {
    ff_tree_acceleration a = {.base = base->A};
    ff_tree_force force;
    ff_wrench external[FF_TREE_LINKS_MAX];
    place_arm(m, base, m->sample.q, m->sample.qd);
    on_links(m, contact_at(m, client, NULL, NULL), external);
    for (size_t i = 0; i < m->joints; i++)
        a.qdd[i] = -2.0 * HOLD_RATE * m->sample.qd[i] - HOLD_RATE * HOLD_RATE * (m->sample.q[i] - m->held[i]);
    ff_tree_inverse_dynamics(m->arm.model, m->arm.work, &a, external, &force);
    memcpy(tau, force.torque, m->joints * sizeof *tau);
}

void ff_manipulator_measure(const ff_manipulator *m, double s, ff_arm_measured *x) {
    const double T = m->scenario->cycle;
    const carried base = between(&m->before[SERVICER], &m->now[SERVICER], s, T);
    const carried client = between(&m->before[CLIENT], &m->now[CLIENT], s, T);
    ff_tree_acceleration still = {.base = ff_twist_zero()};
    ff_tree_force free, pushed;
    ff_wrench external[FF_TREE_LINKS_MAX];
    *x = (ff_arm_measured){.joints = &m->sample};
    place_arm(m, &base, m->sample.q, m->sample.qd);
    x->port = contact_at(m, &client, NULL, NULL);
    on_links(m, x->port, external);
    ff_tree_inverse_dynamics(m->arm.model, m->arm.work, &still, NULL, &free);
    ff_tree_inverse_dynamics(m->arm.model, m->arm.work, &still, external, &pushed);
    for (size_t i = 0; i < m->joints; i++)
        x->external[i] = free.torque[i] - pushed.torque[i];
}

/* The motors' torque in the arm's cycle `part` of the loop's, within what they give. */
static void motor_torque(ff_manipulator *m, int part, double *tau) {
    const double T = m->scenario->cycle, s = (double)part / m->parts, middle = (part + 0.5) / m->parts;
    if (m->drive.torque) {
        ff_arm_measured measured;
        ff_manipulator_measure(m, s, &measured);
        hold(m, !m->drive.torque(m->drive.self, part, &measured, tau, &m->order.grips));
    } else if (!m->order.holds)
        ff_arm_law_torque(&m->law, part, m->sample.q, m->sample.qd, m->order.torque, tau);
    if (m->order.holds) {
        const carried base = between(&m->before[SERVICER], &m->now[SERVICER], middle, T);
        const carried client = between(&m->before[CLIENT], &m->now[CLIENT], middle, T);
        brake_torque(m, &base, &client, tau);
    }
    for (size_t i = 0; i < m->joints; i++) {
        const double most = ff_tree_joint_limits(m->arm.model, i).torque_max;
        m->sample.saturated = m->sample.saturated || fabs(tau[i]) > most;
        tau[i] = m->sample.motor[i] = fmin(most, fmax(-most, tau[i]));
    }
}

/* One step of Runge and Kutta from part s of the loop's cycle, ds of it. */
static bool arm_step(ff_manipulator *m, double s, double ds, double h, const double *tau) {
    double k1[MOST], k2[MOST], k3[MOST], k4[MOST], v2[MOST], v3[MOST], v4[MOST], y[MOST];
    const size_t n = m->joints;
    double *q = m->sample.q, *qd = m->sample.qd;
    if (!arm_rate(m, s, q, qd, tau, k1))
        return false;
    for (size_t i = 0; i < n; i++) {
        y[i] = q[i] + 0.5 * h * qd[i];
        v2[i] = qd[i] + 0.5 * h * k1[i];
    }
    if (!arm_rate(m, s + 0.5 * ds, y, v2, tau, k2))
        return false;
    for (size_t i = 0; i < n; i++) {
        y[i] = q[i] + 0.5 * h * v2[i];
        v3[i] = qd[i] + 0.5 * h * k2[i];
    }
    if (!arm_rate(m, s + 0.5 * ds, y, v3, tau, k3))
        return false;
    for (size_t i = 0; i < n; i++) {
        y[i] = q[i] + h * v3[i];
        v4[i] = qd[i] + h * k3[i];
    }
    if (!arm_rate(m, s + ds, y, v4, tau, k4))
        return false;
    for (size_t i = 0; i < n; i++) {
        q[i] += h / 6 * (qd[i] + 2 * v2[i] + 2 * v3[i] + v4[i]);
        qd[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
        m->qdd[i] = k4[i];
    }
    return true;
}

static bool advance(ff_manipulator *m) {
    const double h = m->scenario->cycle / m->parts;
    double tau[MOST];
    m->sample.saturated = false;
    for (int p = 0; p < m->parts; p++) {
        const double s = (double)p / m->parts, ds = 1.0 / m->parts;
        motor_torque(m, p, tau);
        if (!arm_step(m, s, ds, h, tau))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------------- wrench robots -- */

/* What an arm in motion and its contact ask of the base that carries it, base axes: the rows of (14) without
 * the base's own inertia, and the weight. */
static ff_wrench carry(const ff_manipulator *m, const ff_tree_memory *t) {
    const carried base = between(&m->before[SERVICER], &m->now[SERVICER], 1.0, m->scenario->cycle);
    ff_tree_acceleration a = {.base = base.A};
    ff_tree_state x;
    ff_tree_force force;
    ff_wrench external[FF_TREE_LINKS_MAX];
    ff_tree_state_default(&x);
    x.base = m->now[SERVICER].T;
    x.twist = body_twist(&m->now[SERVICER]);
    memcpy(x.q, m->sample.q, sizeof x.q);
    memcpy(x.qd, m->sample.qd, sizeof x.qd);
    on_links(m, m->truth.port, external);
    memcpy(a.qdd, m->qdd, sizeof a.qdd);
    ff_tree_kinematics(t->model, &x, t->work, m->gravity);
    ff_tree_inverse_dynamics(t->model, t->work, &a, external, &force);
    return ff_wrench_scale(-1.0, force.base);
}

/* What acts on the robots that are commanded by wrenches, (9) and (16): the contact, and on the base also the
 * arm. */
static void push_robots(const ff_manipulator *m, ff_pose gripper, ff_robot *robot, ff_truth *truth) {
    ff_robot *client = &robot[m->client], *base = &robot[m->servicer];
    const ff_wrench on_client = ff_wrench_scale(
        -1.0, ff_wrench_transform(ff_pose_mul(ff_pose_inverse(client->now.T), gripper), m->truth.port));
    truth->contact_b[m->client] = on_client;
    truth->contact_b[m->servicer] =
        ff_wrench_transform(ff_pose_mul(ff_pose_inverse(base->now.T), gripper), m->truth.port);
    ff_robot_push(client, on_client, on_client);
    if (base->config.kind != FF_ROBOT_WRENCH)
        return;
    const ff_wrench measured = carry(m, &m->known);
    ff_robot_push(base, carry(m, &m->arm), measured);
}

/* --------------------------------------------------------------------------------------------- cycle -- */

ff_status ff_manipulator_step(ff_manipulator *m, uint64_t k, ff_robot *robot, const ff_rigid_state *nominal,
                              ff_truth *truth) {
    m->before[CLIENT] = m->now[CLIENT];
    m->before[SERVICER] = m->now[SERVICER];
    m->now[CLIENT] = robot[m->client].now;
    m->now[SERVICER] = robot[m->servicer].now;
    if (k == 0)
        memcpy(m->before, m->now, sizeof m->before);
    else if (!advance(m))
        return FF_ERR_DIVERGED;
    const carried base = {m->now[SERVICER].T, body_twist(&m->now[SERVICER]), ff_twist_zero()},
                  client = {m->now[CLIENT].T, body_twist(&m->now[CLIENT]), ff_twist_zero()};
    place_arm(m, &base, m->sample.q, m->sample.qd);
    const ff_pose gripper = ff_tree_frame_pose(m->arm.model, m->arm.work, &m->gripper);
    move_gripper(m->grasp, m->order.grips, gripper, client.T, &m->grip);
    ff_twist relative;
    m->truth.port = contact_at(m, &client, &relative, truth);
    m->truth.port_power = ff_power(m->truth.port, relative);
    m->sample.closed = m->grip.closed;
    push_robots(m, gripper, robot, truth);
    const ff_quat attitude =
        m->scenario->frame == FF_FRAME_RELATIVE ? ff_quat_mul(nominal->attitude, gripper.q) : gripper.q;
    for (int c = 0; c < m->scenario->contacts; c++)
        truth->force[c] = ff_quat_rotate(attitude, truth->wrench[c].f);
    truth->arm = m->truth;
    ff_arm_law_see(&m->law, &m->now[SERVICER], nominal);
    return FF_OK;
}
