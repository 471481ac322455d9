#include "executive/mission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/clock.h"

enum { CLIENT, SERVICER, MOST = FF_TREE_JOINTS_MAX };

void ff_mission_default(ff_mission_config *config) {
    memset(config, 0, sizeof *config);
    config->cycle = 0.004;
    config->arm_cycle = 0.001;
    config->seed = 1;
    config->lab = ff_pose_identity();
    config->servicer_start = ff_pose_identity();
    config->gravity = ff_vec3_make(0, 0, -9.81);
    config->gripper = (ff_tree_frame){FF_TREE_BASE, ff_pose_identity()};
    ff_builtin_default(&config->obsw);
    ff_computer_default(&config->computer);
    config->grasp_reach = config->opens = FF_INF;
    config->world.grasp = (ff_world_grasp){.body = -1, .against = -1};
    for (int i = 0; i < 2; i++)
        config->robot[i] =
            (ff_robot_config){.base = ff_pose_identity(), .tool = ff_pose_identity(), .damping = 1};
}

/* ------------------------------------------------------------------------------------------- the trees -- */

typedef struct tree {
    ff_tree_model *model;
    ff_tree_work *work;
    void *memory[2];
} tree;

static ff_status tree_make(const ff_tree_config *config, bool fixed, tree *t, char *message, size_t size) {
    ff_tree_config own = *config;
    own.fixed_base = fixed;
    const ff_status checked = ff_tree_validate(&own, message, size);
    if (checked != FF_OK)
        return checked;
    const size_t bytes = ff_tree_memsize(&own);
    t->memory[0] = malloc(bytes);
    if (!t->memory[0])
        return FF_ERR_MEMORY;
    ff_status status = ff_tree_create(&own, t->memory[0], bytes, &t->model, message, size);
    if (status != FF_OK)
        return status;
    const size_t more = ff_tree_work_memsize(t->model);
    t->memory[1] = malloc(more);
    return t->memory[1] ? ff_tree_work_create(t->model, t->memory[1], more, &t->work) : FF_ERR_MEMORY;
}

static void tree_free(tree *t) {
    free(t->memory[0]);
    free(t->memory[1]);
}

/* --------------------------------------------------------------------------------------------- contact -- */

typedef struct grip {
    bool closed, released;
    ff_vec3 at; /* gripper in the client's frame when it closed */
    ff_quat q;
} grip;

/* Wrench on the gripper, gripper axes: spring and damper in six axes towards the pose it closed at. The
 * twists are body twists. */
static ff_wrench grip_wrench(const ff_mission_config *config, const grip *g, ff_pose gripper, ff_twist V_g,
                             ff_pose client, ff_twist V_c, ff_twist *relative) {
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    const ff_twist V = ff_twist_sub(V_g, ff_twist_transform(ff_pose_inverse(T), V_c));
    if (relative)
        *relative = V;
    if (!g->closed)
        return ff_wrench_zero();
    const ff_vec3 stretch = ff_quat_unrotate(T.q, ff_vec3_sub(T.p, g->at));
    const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(g->q), T.q));
    return (ff_wrench){
        ff_vec3_axpy(-config->grasp_rotation_damping, V.w,
                     ff_vec3_scale(-config->grasp_rotation_stiffness, turn)),
        ff_vec3_axpy(-config->grasp_damping, V.v, ff_vec3_scale(-config->grasp_stiffness, stretch))};
}

static void grip_update(const ff_mission_config *config, double t, ff_pose gripper, ff_pose client, grip *g) {
    if (t > config->opens - 5e-10)
        *g = (grip){.released = true};
    if (g->closed || g->released || t < config->obsw.grasp - 5e-10)
        return;
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    if (ff_vec3_norm(ff_vec3_sub(T.p, config->grapple)) <= config->grasp_reach)
        *g = (grip){.closed = true, .at = T.p, .q = T.q};
}

/* -------------------------------------------------------------------------------------- on-board software --
 */

static ff_status computer_make(const ff_mission_config *config, const tree *model, bool orbit,
                               ff_computer *out, char *message, size_t size) {
    ff_computer_config c = config->computer;
    c.cycle = config->cycle;
    c.seed = config->seed;
    c.builtin = config->obsw;
    c.builtin.tree = model->model;
    c.builtin.work = model->work;
    c.udp.free = c.udp.free && !orbit; /* the reference is not paced */
    return ff_computer_open(&c, out, message, size);
}

/* The built-in controller holds from the moment the gripper has really closed. */
static void tell_grip(ff_computer *c, const grip *g, double t) {
    if (!g->closed)
        c->config.builtin.grasp = FF_INF;
    else if (isinf(c->config.builtin.grasp))
        c->config.builtin.grasp = t;
}

static ff_wrench thrust(const ff_obsw_out *out) {
    return (ff_wrench){ff_vec3_make(out->torque[0], out->torque[1], out->torque[2]),
                       ff_vec3_make(out->force[0], out->force[1], out->force[2])};
}

static ff_rigid_load load_at(const ff_mission_config *config, int which, double t) {
    return config->load ? config->load(config->load_of, which, t) : (ff_rigid_load){{{0, 0, 0}}, {{0, 0, 0}}};
}

/* --------------------------------------------------------------------------------------------- the start --
 */

static ff_rigid_state start_of(const ff_mission_config *config, size_t joints, ff_rigid_state *client,
                               ff_tree_state *servicer) {
    *client = config->client_start;
    client->attitude = ff_quat_unit(client->attitude);
    ff_tree_state_default(servicer);
    /* V_b(0) = Ad(g_s^-1) V_t(0): it stands still as seen from the client (printed with g_c) */
    const ff_rigid_state still = {
        config->servicer_start.p, config->servicer_start.q, {{0, 0, 0}}, {{0, 0, 0}}};
    const ff_rigid_state base =
        config->absolute_start ? config->start : ff_relative_to_absolute(client, &still);
    servicer->base = ff_rigid_pose(&base);
    servicer->twist = ff_rigid_twist(&base);
    for (size_t i = 0; i < joints; i++)
        servicer->q[i] = config->q_start[i];
    return base;
}

static void fill_row(const ff_mission_config *config, const tree *orbit, const ff_rigid_model *client_model,
                     const ff_rigid_state *client, const ff_tree_state *s, ff_mission_row *row) {
    row->client = *client;
    row->base = ff_rigid_from_twist(s->base, s->twist);
    memcpy(row->q, s->q, sizeof row->q);
    memcpy(row->qd, s->qd, sizeof row->qd);
    const ff_rigid_state b = ff_relative_from_absolute(client, &row->base);
    row->base_error = ff_vec3_sub(b.position, config->obsw.goal.p);
    row->rate = b.omega;
    ff_tree_kinematics(orbit->model, s, orbit->work, ff_vec3_zero());
    const ff_pose gripper = ff_tree_frame_pose(orbit->model, orbit->work, &config->gripper);
    const ff_twist V_g = ff_tree_frame_twist(orbit->model, orbit->work, &config->gripper);
    ff_twist V;
    const grip open = {0};
    grip_wrench(config, &open, gripper, V_g, ff_rigid_pose(client), ff_rigid_twist(client), &V);
    row->gripper_speed = ff_vec3_norm(V.v);
    const ff_tree_momentum m = ff_tree_total_momentum(orbit->model, orbit->work);
    row->linear = ff_vec3_axpy(client_model->mass, client->velocity, m.linear);
    row->origin =
        ff_vec3_add(ff_vec3_add(m.origin, ff_rigid_angular_momentum(client_model, client)),
                    ff_vec3_scale(client_model->mass, ff_vec3_cross(client->position, client->velocity)));
}

/* --------------------------------------------------------------------------------------------- facility --
 */

/* Everything of one run; large, so on the heap. */
typedef struct facility {
    const ff_mission_config *config;
    tree orbit, arm, brain;
    tree known; /* wrench robot: the arm as its drive knows it, on a fixed base */
    size_t joints;
    ff_servicer_model servicer; /* for (22) */
    ff_loop_config loop;
    ff_loop_model *model;
    ff_loop_state *state;
    void *body_memory; /* of the loop's body with joints */
    ff_loop_info loop_info;
    ff_loop_in in;
    ff_loop_out out;
    ff_wrench F_e;      /* on the gripper, gripper axes */
    ff_outputs outputs; /* between the commands and the robots */
    ff_robot robot[2];
    ff_setpoint before[2]; /* robots' true motion one cycle ago */
    double q[MOST], qd[MOST], qdd[MOST];
    double tau[MOST];      /* of the on-board software, held */
    double motor[MOST];    /* of (22), as the motors gave it last */
    ff_servicer_in arm_in; /* for (22) */
    ff_vec3 gravity;       /* in the robots' frame */
    grip grip;
    ff_computer computer;
    bool motor_saturated;
    ff_mission_row row;
} facility;

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

/* Wrench on the gripper, gripper axes; row (may be NULL) gets its parts. */
static ff_wrench contact_at(facility *f, const carried *client, const ff_tree_work *work, ff_twist *relative,
                            ff_mission_row *row) {
    const ff_pose gripper = ff_tree_frame_pose(f->arm.model, work, &f->config->gripper);
    const ff_twist V = ff_tree_frame_twist(f->arm.model, work, &f->config->gripper);
    ff_wrench sum = grip_wrench(f->config, &f->grip, gripper, V, client->T, client->V, relative);
    if (row)
        row->grip = sum;
    const ff_setpoint motion[2] = {
        [CLIENT] = {client->T, {client->V.w, ff_quat_rotate(client->T.q, client->V.v)}},
        [SERVICER] = {gripper, {V.w, ff_quat_rotate(gripper.q, V.v)}}};
    for (int i = 0; i < f->config->bumps; i++) {
        ff_environment_out out;
        ff_environment_contact(&f->config->bump[i], motion, &out);
        sum = ff_wrench_add(sum, out.on_body);
        if (row)
            row->bump[i] = out.on_body.f;
    }
    return sum;
}

/* (20): the arm on the moving base, under gravity, the commanded torque and the contact. */
static bool arm_rate(facility *f, double s, const double *q, const double *qd, const double *tau_q,
                     double *qdd) {
    const double T = f->config->cycle;
    const carried base = between(&f->before[SERVICER], &f->robot[SERVICER].now, s, T);
    const carried client = between(&f->before[CLIENT], &f->robot[CLIENT].now, s, T);
    ff_tree_state x;
    x.base = base.T;
    x.twist = base.V;
    for (size_t i = 0; i < f->joints; i++) {
        x.q[i] = q[i];
        x.qd[i] = qd[i];
    }
    ff_tree_kinematics(f->arm.model, &x, f->arm.work, f->gravity);
    ff_wrench external[FF_TREE_LINKS_MAX];
    const size_t links = ff_tree_links(f->arm.model);
    for (size_t i = 0; i < links; i++)
        external[i] = ff_wrench_zero();
    if (f->config->gripper.link >= 0)
        external[f->config->gripper.link] =
            ff_wrench_transform(f->config->gripper.offset, contact_at(f, &client, f->arm.work, NULL, NULL));
    ff_tree_force force = {.base = ff_wrench_zero()};
    double friction[MOST] = {0};
    if (f->config->friction)
        ff_tree_friction(f->arm.model, qd, 0.01, friction);
    for (size_t i = 0; i < f->joints; i++)
        force.torque[i] = tau_q[i] + friction[i];
    ff_tree_acceleration a = {.base = base.A};
    if (ff_tree_forward_dynamics(f->arm.model, f->arm.work, &force, external, &a) != FF_OK)
        return false;
    memcpy(qdd, a.qdd, f->joints * sizeof *qdd);
    return true;
}

/* The arm from t_(k-1) to t_k: in each of its own cycles the torque (22) once, then one RK4 step. The torque
 * is held, so it is the one of the cycle's middle: at its start, gravity alone would be half a cycle old. */
static bool arm_advance(facility *f) {
    const int parts = (int)lround(f->config->cycle / f->config->arm_cycle);
    const double h = f->config->cycle / parts;
    const size_t n = f->joints;
    f->motor_saturated = false;
    double tau_q[MOST], k1[MOST], k2[MOST], k3[MOST], k4[MOST], v2[MOST], v3[MOST], v4[MOST], y[MOST];
    for (int p = 0; p < parts; p++) {
        const double s = (double)p / parts, ds = 1.0 / parts;
        const carried base =
            between(&f->before[SERVICER], &f->robot[SERVICER].now, s + 0.5 * ds, f->config->cycle);
        f->arm_in.g_m = base.T;
        f->arm_in.V_m = base.V;
        for (size_t i = 0; i < n; i++) {
            f->arm_in.q[i] = f->q[i] + 0.5 * h * f->qd[i];
            f->arm_in.qd[i] = f->qd[i];
        }
        memcpy(f->arm_in.tau, f->tau, sizeof f->tau);
        ff_servicer_torque(&f->servicer, f->orbit.work, &f->arm_in, tau_q);
        for (size_t i = 0; i < n; i++) {
            const double most = ff_tree_joint_limits(f->arm.model, i).torque_max;
            f->motor_saturated = f->motor_saturated || fabs(tau_q[i]) > most;
            tau_q[i] = f->motor[i] = fmin(most, fmax(-most, tau_q[i]));
        }
        if (!arm_rate(f, s, f->q, f->qd, tau_q, k1))
            return false;
        for (size_t i = 0; i < n; i++) {
            y[i] = f->q[i] + 0.5 * h * f->qd[i];
            v2[i] = f->qd[i] + 0.5 * h * k1[i];
        }
        if (!arm_rate(f, s + 0.5 * ds, y, v2, tau_q, k2))
            return false;
        for (size_t i = 0; i < n; i++) {
            y[i] = f->q[i] + 0.5 * h * v2[i];
            v3[i] = f->qd[i] + 0.5 * h * k2[i];
        }
        if (!arm_rate(f, s + 0.5 * ds, y, v3, tau_q, k3))
            return false;
        for (size_t i = 0; i < n; i++) {
            y[i] = f->q[i] + h * v3[i];
            v4[i] = f->qd[i] + h * k3[i];
        }
        if (!arm_rate(f, s + ds, y, v4, tau_q, k4))
            return false;
        for (size_t i = 0; i < n; i++) {
            f->q[i] += h / 6 * (f->qd[i] + 2 * v2[i] + 2 * v3[i] + v4[i]);
            f->qd[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
            f->qdd[i] = k4[i];
        }
    }
    return true;
}

/* What an arm in motion and its contact ask of the base that carries it, base axes: the rows of (14) without
 * the base's own inertia, and the weight. */
static ff_wrench carry(facility *f, const tree *t, const ff_tree_state *x) {
    const carried base = between(&f->before[SERVICER], &f->robot[SERVICER].now, 1.0, f->config->cycle);
    ff_tree_acceleration a = {.base = base.A};
    ff_tree_force force;
    ff_wrench external[FF_TREE_LINKS_MAX];
    for (size_t i = 0; i < ff_tree_links(t->model); i++)
        external[i] = ff_wrench_zero();
    if (f->config->gripper.link >= 0)
        external[f->config->gripper.link] = ff_wrench_transform(f->config->gripper.offset, f->F_e);
    memcpy(a.qdd, f->qdd, sizeof a.qdd);
    ff_tree_kinematics(t->model, x, t->work, f->gravity);
    ff_tree_inverse_dynamics(t->model, t->work, &a, external, &force);
    return ff_wrench_scale(-1.0, force.base);
}

/* What acts on the robots that are commanded by wrenches, (9) and (16): the contact, and on the base also the
 * arm. */
static void push_robots(facility *f, const ff_tree_state *ground, ff_pose gripper) {
    const ff_wrench on_client = ff_wrench_scale(
        -1.0, ff_wrench_transform(ff_pose_mul(ff_pose_inverse(f->robot[CLIENT].now.T), gripper), f->F_e));
    ff_robot_push(&f->robot[CLIENT], on_client, on_client);
    if (f->config->robot[SERVICER].kind != FF_ROBOT_WRENCH)
        return;
    const ff_wrench measured = carry(f, &f->known, ground);
    ff_robot_push(&f->robot[SERVICER], carry(f, &f->arm, ground), measured);
}

/* What the loop may know of a robot. */
static ff_world_body known_of(const ff_robot_config *robot) {
    return (ff_world_body){
        .delay = robot->kind == FF_ROBOT_IDEAL ? 0.0 : robot->delay,
        .lag = robot->kind == FF_ROBOT_LAG ? 2.0 * robot->damping / (2.0 * FF_PI * robot->frequency) : 0.0};
}

static ff_status loop_make(facility *f, char *message, size_t size) {
    const ff_mission_config *config = f->config;
    ff_loop_config *loop = &f->loop;
    ff_tree_state start;
    ff_body body;
    ff_loop_default(loop);
    loop->integrate.cycle = config->cycle;
    loop->bodies = 2;
    loop->world = config->world;
    for (int i = 0; i < 2; i++) {
        loop->world.body[i] = known_of(&config->robot[i]);
        loop->body[i].held = config->held;
    }
    if (loop->world.grasp.body >= 0)
        loop->world.grasp = (ff_world_grasp){.body = SERVICER, .against = CLIENT};
    loop->method = config->method ? config->method : &ff_method_direct;
    loop->setting = config->setting;
    if (!config->method)
        ff_settings_default(loop->method, 0, &loop->setting);
    loop->relative = (ff_relative_config){
        .enabled = true,
        .nominal = config->absolute || config->prescribed ? FF_NOMINAL_PRESCRIBED : FF_NOMINAL_FREE,
        .of = CLIENT,
        .start = {.attitude = {1, 0, 0, 0}}};
    if (config->prescribed && !config->absolute)
        loop->relative.start = config->nominal;
    loop->body[CLIENT].rigid = config->client;
    loop->body[CLIENT].reacts = true;
    loop->body[SERVICER].start = start_of(config, f->joints, &loop->body[CLIENT].start, &start);
    ff_loop_joints_config *joints = &loop->joints;
    joints->body = SERVICER;
    joints->tree = f->orbit.model;
    joints->port = config->gripper;
    memcpy(joints->q, config->q_start, sizeof joints->q);
    ff_status status = ff_body_tree(joints->tree, 1, &joints->port, &body);
    if (status != FF_OK)
        return status;
    const size_t bytes = ff_body_work_memsize(&body);
    f->body_memory = malloc(bytes);
    if (!f->body_memory)
        return FF_ERR_MEMORY;
    ff_body_work_create(&body, f->body_memory, bytes, &joints->work);
    size_t model_bytes, state_bytes;
    if ((status = ff_loop_bytes(loop, &model_bytes, &state_bytes, message, size)) != FF_OK)
        return status;
    f->model = malloc(model_bytes);
    f->state = malloc(state_bytes);
    if (!f->model || !f->state)
        return FF_ERR_MEMORY;
    if ((status = ff_loop_create(loop, f->model, model_bytes, message, size)) != FF_OK)
        return status;
    return ff_loop_reset(f->model, f->state, state_bytes, &f->loop_info, &f->out);
}

static ff_status facility_make(const ff_mission_config *config, facility *f, char *message, size_t size) {
    ff_status status;
    f->config = config;
    if ((status = tree_make(config->servicer, false, &f->orbit, message, size)) != FF_OK ||
        (status = tree_make(config->servicer, false, &f->brain, message, size)) != FF_OK ||
        (status = tree_make(config->real_arm ? config->real_arm : config->servicer, true, &f->arm, message,
                            size)) != FF_OK)
        return status;
    if (config->robot[SERVICER].kind == FF_ROBOT_WRENCH &&
        (status = tree_make(config->servicer, true, &f->known, message, size)) != FF_OK)
        return status;
    f->joints = ff_tree_joints(f->orbit.model);
    if (ff_tree_joints(f->arm.model) != f->joints || !(config->cycle > 0.0) || !(config->arm_cycle > 0.0) ||
        fabs(config->cycle / config->arm_cycle - round(config->cycle / config->arm_cycle)) > 1e-9) {
        snprintf(message, size, "the arm's cycle must divide the cycle, and both arms have the same joints");
        return FF_ERR_ARGUMENT;
    }
    f->gravity = ff_quat_unrotate(config->lab.q, config->gravity);
    f->servicer = (ff_servicer_model){f->orbit.model, config->gripper, f->gravity};
    if ((status = loop_make(f, message, size)) != FF_OK)
        return status;
    memcpy(f->q, config->q_start, sizeof f->q);
    ff_outputs_open(config->bounded ? config->output : NULL, 2, config->cycle, &f->outputs);
    for (int i = 0; i < 2; i++) {
        const ff_setpoint *c = &f->out.next[i];
        const ff_rigid_state start = ff_setpoint_to_state(c);
        if ((status = ff_robot_create(&f->robot[i], &config->robot[i], &start, config->cycle, config->seed, i,
                                      message, size)) != FF_OK)
            return status;
        f->robot[i].lead = ff_loop_lead(f->model, f->state, i);
        ff_robot_reset(&f->robot[i]);
    }
    return computer_make(config, &f->brain, false, &f->computer, message, size);
}

static void facility_free(facility *f) {
    ff_computer_close(&f->computer);
    for (int i = 0; i < 2; i++)
        ff_robot_free(&f->robot[i]);
    free(f->body_memory);
    free(f->model);
    free(f->state);
    tree_free(&f->orbit);
    tree_free(&f->known);
    tree_free(&f->arm);
    tree_free(&f->brain);
}

static ff_rigid_state mapped(const facility *f, int which) {
    const ff_setpoint *s = &f->robot[which].now;
    const ff_rigid_state r = ff_setpoint_to_state(s);
    return ff_relative_to_absolute(&f->state->nominal.motion, &r);
}

/* Every state that (22) takes; joints and torques are the arm's own cycle's. */
static void fill_arm(facility *f) {
    const ff_rigid_state *n = &f->state->nominal.motion;
    ff_servicer_in *in = &f->arm_in;
    in->g_n = ff_rigid_pose(n);
    in->V_n = ff_rigid_twist(n);
    in->A_n = f->model->nominal.kind == FF_NOMINAL_FREE
                  ? ff_rigid_body_acceleration(&f->model->nominal.model, in->V_n, ff_wrench_zero())
                  : ff_twist_zero();
}

static double size_of(ff_twist V) {
    return sqrt(ff_vec3_dot(V.w, V.w) + ff_vec3_dot(V.v, V.v));
}

/* (29): by how much the speed of what is about to leave exceeds |V| + |Delta V|. Metres and radians in one
 * norm, as printed. */
static double excess(const facility *f, int i) {
    const ff_setpoint *command = &f->out.next[i];
    const ff_twist V_n = ff_rigid_twist(&f->state->nominal.motion);
    return size_of(body_twist(command)) - size_of(ff_rigid_twist(&f->state->body[i])) -
           size_of(ff_relative_delta(command->T, V_n));
}

static ff_status facility_cycle(facility *f, uint64_t k, ff_mission_sink sink, ff_mission_info *info,
                                char *message, size_t size) {
    const ff_mission_config *config = f->config;
    const double t = (double)k * config->cycle;
    /* devices at t_k */
    ff_sent sent[2];
    ff_outputs_offer(&f->outputs, k, f->out.next, 3u, sent);
    if (k == 0)
        memcpy(f->in.sent, sent, sizeof sent);
    for (int i = 0; i < 2; i++) {
        f->before[i] = f->robot[i].now;
        ff_robot_write(&f->robot[i], k, &sent[i].to);
        ff_robot_step(&f->robot[i], k);
        if (k == 0)
            f->before[i] = f->robot[i].now;
    }
    if (k > 0 && !arm_advance(f))
        return FF_ERR_DIVERGED;
    ff_tree_state ground;
    ff_tree_state_default(&ground);
    ground.base = f->robot[SERVICER].now.T;
    ground.twist = body_twist(&f->robot[SERVICER].now);
    memcpy(ground.q, f->q, sizeof ground.q);
    memcpy(ground.qd, f->qd, sizeof ground.qd);
    ff_tree_kinematics(f->arm.model, &ground, f->arm.work, f->gravity);
    grip_update(config, t, ff_tree_frame_pose(f->arm.model, f->arm.work, &config->gripper),
                f->robot[CLIENT].now.T, &f->grip);
    const carried client = {f->robot[CLIENT].now.T, body_twist(&f->robot[CLIENT].now), ff_twist_zero()};
    ff_twist relative;
    f->F_e = contact_at(f, &client, f->arm.work, &relative, &f->row);
    push_robots(f, &ground, ff_tree_frame_pose(f->arm.model, f->arm.work, &config->gripper));
    for (int i = 0; i < 2; i++) {
        f->in.sensor[i] = (ff_wrench_in){.T_wb = f->robot[i].now.T, .twist = f->robot[i].now.twist};
        f->in.load[i] = load_at(config, i, t);
    }
    f->in.sensor[SERVICER].f_s = f->F_e;
    memcpy(f->in.q[SERVICER], f->q, sizeof f->q);
    memcpy(f->in.qd[SERVICER], f->qd, sizeof f->qd);

    /* on-board software on the mapped states */
    ff_obsw_out actuation;
    ff_obsw_action action;
    const uint64_t saturated = f->computer.info.saturated;
    const ff_rigid_state client_m = mapped(f, CLIENT), base_m = mapped(f, SERVICER);
    tell_grip(&f->computer, &f->grip, t);
    const ff_status answered = ff_computer_step(&f->computer, t, &client_m, &base_m, f->q, f->qd, &actuation,
                                                &action, message, size);
    if (answered < 0)
        return answered;
    f->in.thrust[SERVICER] = thrust(&actuation);
    memcpy(f->tau, actuation.joint_torque, sizeof f->tau);

    const ff_rigid_state client_now = f->state->body[CLIENT];
    fill_arm(f);
    const double begin = (double)ff_clock_now();
    const ff_status status = ff_loop_step(f->model, f->state, &f->loop_info, &f->in, &f->out);
    const double took = (double)ff_clock_now() - begin;
    info->step_ns += took;
    if (status < 0)
        return status;
    ff_outputs_write(&f->outputs, k, f->out.command, 3u, f->in.sent); /* a method that predicts refined it */
    for (int i = 0; i < 2; i++)
        ff_robot_write(&f->robot[i], k, &f->in.sent[i].to);
    if (sink.row) {
        ff_mission_row *row = &f->row;
        ff_tree_state s = ground;
        s.base = ff_rigid_pose(&f->out.base[SERVICER]);
        s.twist = ff_rigid_twist(&f->out.base[SERVICER]);
        row->t = t;
        fill_row(config, &f->orbit, &f->model->rigid[CLIENT], &client_now, &s, row);
        row->actuation = actuation;
        row->action = action;
        row->motor_saturated = f->motor_saturated;
        row->thrust_saturated = f->computer.info.saturated > saturated;
        memcpy(row->motor, f->motor, sizeof row->motor);
        row->F_e = f->F_e;
        row->robot[CLIENT] = f->robot[CLIENT].now;
        row->robot[SERVICER] = f->robot[SERVICER].now;
        for (int i = 0; i < 2; i++) {
            const ff_rigid_state *m = i == CLIENT ? &client_m : &base_m;
            row->sent[i] = f->in.sent[i];
            row->driven[i] = f->robot[i].driven;
            row->inertial[i] = ff_setpoint_from_state(m);
        }
        row->on_client = f->out.measured_b[CLIENT];
        row->on_base = f->out.measured_b[SERVICER];
        for (int i = 0; i < 2; i++)
            row->felt[i] = f->out.fidelity.f_b[i];
        row->observer = f->out.fidelity.observers > 0 ? f->out.fidelity.observer[0][0] : FF_NAN;
        for (int i = 0; i < 2; i++)
            row->load[i] = f->in.load[i];
        row->step_ns = took;
        row->W_c = ff_rigid_kinetic_energy(&f->model->rigid[CLIENT], &client_m); /* (25) */
        row->bound = fmax(excess(f, CLIENT), excess(f, SERVICER));
        row->port_power = ff_power(f->F_e, relative);
        row->held = f->grip.closed;
        row->gripper = ff_quat_mul(f->out.base[SERVICER].attitude, f->out.port[SERVICER].q);
        row->mapped_attitude = base_m.attitude;
        memcpy(row->star_tracker, f->computer.in.attitude, sizeof row->star_tracker);
        return sink.row(sink.self, row);
    }
    return FF_OK;
}

ff_status ff_mission_run(const ff_mission_config *config, ff_mission_sink sink, ff_mission_info *info,
                         char *message, size_t size) {
    *info = (ff_mission_info){0};
    facility *f = calloc(1, sizeof *f);
    if (!f)
        return FF_ERR_MEMORY;
    ff_status status = facility_make(config, f, message, size);
    const uint64_t cycles = (uint64_t)llround(config->duration / config->cycle);
    for (uint64_t k = 0; status == FF_OK && k <= cycles; k++) {
        message[0] = 0;
        status = facility_cycle(f, k, sink, info, message, size);
        if (status < 0 && !message[0])
            snprintf(message, size, "at %.3f s: %s", (double)k * config->cycle, ff_status_text(status));
        info->cycles = k + 1;
    }
    if (info->cycles)
        info->step_ns /= (double)info->cycles;
    info->obsw = f->computer.info;
    facility_free(f);
    free(f);
    return status;
}

/* ------------------------------------------------------------------------------------------------- orbit --
 */

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
    const ff_mission_config *config;
    tree orbit, brain;
    size_t joints;
    ff_rigid_model client;
    grip grip;
    ff_computer computer;
    ff_mission_row row;
} space;

static ff_quat quat_rate(ff_quat q, ff_vec3 w) {
    return ff_quat_mul(q, (ff_quat){0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z});
}

/* The law of a plane on the client as the orbit has it, apart from the facility's code: k d + c(d) d', never
 * pulling, with Coulomb friction that is smooth at rest. Force on the gripper, gripper axes, at its tip. */
static ff_wrench plane_wrench(const ff_contact *c, ff_pose gripper, ff_twist V_g, ff_pose client,
                              ff_twist V_c) {
    const ff_pose T = ff_pose_mul(ff_pose_inverse(client), gripper);
    const ff_vec3 p = ff_pose_apply(T, c->point);
    const ff_vec3 tip = ff_quat_rotate(T.q, ff_vec3_add(V_g.v, ff_vec3_cross(V_g.w, c->point)));
    const ff_vec3 v = ff_vec3_sub(tip, ff_vec3_add(V_c.v, ff_vec3_cross(V_c.w, p)));
    const double d = ff_vec3_dot(c->normal, ff_vec3_sub(c->at, p)), rate = -ff_vec3_dot(c->normal, v);
    const double s = c->damping_depth > 0.0 ? fmin(1.0, d / c->damping_depth) : 1.0;
    const double f = c->satellite_stiffness * d + c->satellite_damping * s * s * (3.0 - 2.0 * s) * rate;
    if (d <= 0.0 || f <= 0.0)
        return ff_wrench_zero();
    const ff_vec3 slip = ff_vec3_axpy(rate, c->normal, v);
    const double speed = hypot(ff_vec3_norm(slip), FF_FRICTION_SPEED);
    const ff_vec3 F = ff_vec3_axpy(-c->friction * f / speed, slip, ff_vec3_scale(f, c->normal)),
                  F_g = ff_quat_unrotate(T.q, F);
    return (ff_wrench){ff_vec3_cross(c->point, F_g), F_g};
}

static bool orbit_slope(space *o, double t, const orbit_state *x, const ff_obsw_out *u, orbit_rate *d,
                        ff_mission_row *row) {
    const ff_rigid_load client_load = load_at(o->config, CLIENT, t),
                        base_load = load_at(o->config, SERVICER, t);
    ff_tree_kinematics(o->orbit.model, &x->s, o->orbit.work, ff_vec3_zero());
    const ff_pose gripper = ff_tree_frame_pose(o->orbit.model, o->orbit.work, &o->config->gripper);
    const ff_twist V = ff_tree_frame_twist(o->orbit.model, o->orbit.work, &o->config->gripper);
    ff_wrench F_e = grip_wrench(o->config, &o->grip, gripper, V, ff_rigid_pose(&x->client),
                                ff_rigid_twist(&x->client), NULL);
    if (row)
        row->grip = F_e;
    for (int i = 0; i < o->config->bumps; i++) {
        const ff_wrench hit = plane_wrench(&o->config->bump[i], gripper, V, ff_rigid_pose(&x->client),
                                           ff_rigid_twist(&x->client));
        F_e = ff_wrench_add(F_e, hit);
        if (row)
            row->bump[i] = hit.f;
    }
    if (row) {
        row->F_e = F_e;
        row->gripper = gripper.q;
    }
    ff_wrench external[FF_TREE_LINKS_MAX];
    for (size_t i = 0; i < ff_tree_links(o->orbit.model); i++)
        external[i] = ff_wrench_zero();
    ff_tree_force force = {
        .base = ff_wrench_add(
            thrust(u),
            (ff_wrench){base_load.torque, ff_quat_unrotate(ff_quat_unit(x->s.base.q), base_load.force)})};
    if (o->config->gripper.link >= 0)
        external[o->config->gripper.link] = ff_wrench_transform(o->config->gripper.offset, F_e);
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

static bool orbit_step(space *o, double t, orbit_state *x, const ff_obsw_out *u, double h) {
    orbit_rate k1, k2, k3, k4;
    orbit_state y = *x;
    bool good = orbit_slope(o, t, x, u, &k1, NULL);
    orbit_shift(o, &y, 0.5 * h, &k1);
    good = good && orbit_slope(o, t + 0.5 * h, &y, u, &k2, NULL);
    y = *x;
    orbit_shift(o, &y, 0.5 * h, &k2);
    good = good && orbit_slope(o, t + 0.5 * h, &y, u, &k3, NULL);
    y = *x;
    orbit_shift(o, &y, h, &k3);
    good = good && orbit_slope(o, t + h * (1.0 - 1e-9), &y, u, &k4, NULL);
    orbit_shift(o, x, h / 6, &k1);
    orbit_shift(o, x, h / 3, &k2);
    orbit_shift(o, x, h / 3, &k3);
    orbit_shift(o, x, h / 6, &k4);
    x->client.attitude = ff_quat_unit(x->client.attitude);
    x->s.base.q = ff_quat_unit(x->s.base.q);
    return good;
}

ff_status ff_mission_orbit(const ff_mission_config *config, ff_mission_sink sink, char *message,
                           size_t size) {
    space *o = calloc(1, sizeof *o);
    if (!o)
        return FF_ERR_MEMORY;
    o->config = config;
    ff_status status = tree_make(config->servicer, false, &o->orbit, message, size);
    if (status == FF_OK)
        status = tree_make(config->servicer, false, &o->brain, message, size);
    if (status == FF_OK)
        status = ff_rigid_create(&config->client, &o->client);
    orbit_state x = {0};
    if (status == FF_OK) {
        o->joints = ff_tree_joints(o->orbit.model);
        start_of(config, o->joints, &x.client, &x.s);
        status = computer_make(config, &o->brain, true, &o->computer, message, size);
    }
    const uint64_t cycles = (uint64_t)llround(config->duration / config->cycle);
    /* a plane's onset is met within a step: an eighth of it for a tenth of a percent of a short contact */
    const int parts = (int)lround(config->cycle / config->arm_cycle) * (config->bumps ? 8 : 1);
    for (uint64_t k = 0; status == FF_OK && k <= cycles; k++) {
        const double t = (double)k * config->cycle;
        ff_obsw_out u;
        ff_obsw_action action;
        ff_tree_kinematics(o->orbit.model, &x.s, o->orbit.work, ff_vec3_zero());
        grip_update(config, t, ff_tree_frame_pose(o->orbit.model, o->orbit.work, &config->gripper),
                    ff_rigid_pose(&x.client), &o->grip);
        const ff_rigid_state base = ff_rigid_from_twist(x.s.base, x.s.twist);
        tell_grip(&o->computer, &o->grip, t);
        status =
            ff_computer_step(&o->computer, t, &x.client, &base, x.s.q, x.s.qd, &u, &action, message, size);
        if (status == FF_OK && sink.row) {
            ff_mission_row *row = &o->row;
            orbit_rate unused;
            row->t = t;
            row->actuation = u;
            row->action = action;
            row->held = o->grip.closed;
            orbit_slope(o, t, &x, &u, &unused, row);
            fill_row(config, &o->orbit, &o->client, &x.client, &x.s, row);
            row->W_c = ff_rigid_kinetic_energy(&o->client, &x.client);
            const ff_pose T_bg = ff_tree_frame_in_base(o->orbit.model, o->orbit.work, &config->gripper);
            row->on_base = ff_wrench_transform(T_bg, row->F_e);
            row->on_client = ff_wrench_scale(
                -1.0, ff_wrench_transform(
                          ff_pose_mul(ff_pose_inverse(ff_rigid_pose(&x.client)), ff_pose_mul(x.s.base, T_bg)),
                          row->F_e));
            row->felt[CLIENT] = row->on_client;
            row->felt[SERVICER] = row->on_base;
            row->observer = FF_NAN;
            for (int i = 0; i < 2; i++)
                row->load[i] = load_at(config, i, t);
            status = sink.row(sink.self, row);
        }
        for (int p = 0; p < parts && status == FF_OK; p++)
            if (!orbit_step(o, t + p * config->cycle / parts, &x, &u, config->cycle / parts) ||
                !ff_rigid_finite(&x.client)) {
                snprintf(message, size, "the orbit diverged at %.3f s", t);
                status = FF_ERR_DIVERGED;
            }
    }
    ff_computer_close(&o->computer);
    tree_free(&o->orbit);
    tree_free(&o->brain);
    free(o);
    return status;
}
