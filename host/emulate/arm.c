#include "emulate/arm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulate/analysis.h"
#include "text/message.h"

/* A mechanism and the memory it stands on. */
typedef struct built {
    ff_tree_link_config row[FF_ARM_LINKS_MAX];
    ff_tree_model *tree;
    ff_tree_work *work;
    void *memory[2];
    ff_tree_mechanism shape;
    ff_mechanism mechanism;
} built;

typedef struct pair {
    built target, robot, believed;
    ff_emulate_config c;
    ff_mechanism_terms a, b, scratch;
    ff_emulation_work work;
    ff_emulate_accommodation accommodation;
} pair;

static void release(built *b) {
    free(b->memory[0]);
    free(b->memory[1]);
}

static ff_status build(const ff_emulate_arm *arm, ff_tree_task task, const char *who, built *b, char *message,
                       size_t size) {
    const size_t n = (size_t)arm->links, needed = task == FF_TREE_TASK_POSE ? 6 : 2;
    char text[200] = "";
    if (n < needed) {
        snprintf(message, size, "%s: %zu links, allowed: at least the %zu coordinates of the task", who, n,
                 needed);
        return FF_ERR_SIZE;
    }
    ff_tree_config tree;
    ff_tree_config_default(&tree);
    tree.fixed_base = !arm->floating;
    tree.base_mass = arm->base_mass;
    tree.base_com = arm->base_com;
    ff_link_inertia(&arm->base_inertia, tree.base_inertia);
    tree.links = n;
    tree.link = b->row;
    b->shape = (ff_tree_mechanism){.task = task,
                                   .gravity = arm->gravity,
                                   .base = arm->base,
                                   .flexible = arm->flexible,
                                   .frame = {(int)n - 1, arm->tip}};
    for (size_t i = 0; i < n; i++) {
        const ff_emulate_link *link = &arm->link[i];
        b->row[i] = ff_link_tree(&link->row);
        b->shape.joint_friction[i] = link->row.viscous;
        b->shape.motor_inertia[i] = link->motor_inertia;
        b->shape.stiffness[i] = link->stiffness;
        b->shape.damping[i] = link->damping;
        b->shape.motor_friction[i] = link->motor_friction;
    }
    ff_status status = ff_tree_validate(&tree, text, sizeof text);
    if (status == FF_OK) {
        const size_t bytes = ff_tree_memsize(&tree);
        b->memory[0] = malloc(bytes);
        status = b->memory[0] ? ff_tree_create(&tree, b->memory[0], bytes, &b->tree, text, sizeof text)
                              : FF_ERR_MEMORY;
    }
    if (status == FF_OK) {
        const size_t bytes = ff_tree_work_memsize(b->tree);
        b->memory[1] = malloc(bytes);
        status = b->memory[1] ? ff_tree_work_create(b->tree, b->memory[1], bytes, &b->work) : FF_ERR_MEMORY;
    }
    if (status == FF_OK) {
        b->shape.tree = b->tree;
        b->shape.tree_work = b->work;
        status = ff_tree_mechanism_create(&b->shape, &b->mechanism);
        if (status == FF_ERR_INERTIA)
            snprintf(text, sizeof text, "a motor's inertia must be > 0 (flexible: true)");
    }
    if (status != FF_OK)
        snprintf(message, size, "%s: %s", who, *text ? text : ff_status_text(status));
    return status;
}

/* Newton on the pose: the joints that show `goal`, from the robot's own start. */
static ff_status reach(const ff_mechanism *m, const ff_task_pose *goal, ff_mechanism_terms *terms,
                       double *q) {
    const size_t n = m->task;
    const double rest[FF_EMULATION_TASK_MAX] = {0};
    for (int i = 0; i < 60; i++) {
        double e[FF_EMULATION_TASK_MAX], J[36], size = 0.0;
        size_t pivots[FF_EMULATION_TASK_MAX];
        m->terms(m, q, rest, FF_TERMS_POSITION, terms);
        ff_task_difference(m, goal, &terms->pose, e);
        for (size_t k = 0; k < n; k++)
            size = fmax(size, fabs(e[k]));
        if (size < 1e-13)
            return FF_OK;
        memcpy(J, terms->J, n * n * sizeof *J);
        if (ff_lu_factor(n, J, pivots) != FF_OK)
            return FF_ERR_SINGULAR;
        ff_lu_solve(n, J, pivots, e);
        double step = 0.0;
        for (size_t k = 0; k < n; k++)
            step = fmax(step, fabs(e[k]));
        const double part = step > 0.5 ? 0.5 / step : 1.0;
        for (size_t k = 0; k < n; k++)
            q[k] += part * e[k];
    }
    double e[FF_EMULATION_TASK_MAX], size = 0.0;
    ff_task_difference(m, goal, &terms->pose, e);
    for (size_t k = 0; k < n; k++)
        size = fmax(size, fabs(e[k]));
    return size < 1e-9 ? FF_OK : FF_ERR_REACH;
}

/* The robot's joint speeds that follow the target's end effector. */
static ff_status match_speed(pair *p) {
    const ff_mechanism *s = &p->c.target, *r = &p->c.robot;
    const size_t n = r->task;
    double J[36], v[FF_EMULATION_TASK_MAX];
    size_t pivots[FF_EMULATION_TASK_MAX];
    s->terms(s, p->c.q_s, p->c.v_s, FF_TERMS_ALL, &p->a);
    r->terms(r, p->c.q_r, p->c.v_r, FF_TERMS_POSITION, &p->b);
    for (size_t i = 0; i < n; i++) {
        v[i] = 0.0;
        for (size_t j = 0; j < s->dof; j++)
            v[i] += p->a.J[i * s->dof + j] * p->c.v_s[j];
    }
    memcpy(J, p->b.J, n * n * sizeof *J);
    if (ff_lu_factor(n, J, pivots) != FF_OK)
        return FF_ERR_SINGULAR;
    ff_lu_solve(n, J, pivots, v);
    memcpy(p->c.v_r, v, n * sizeof *v);
    return FF_OK;
}

/* Where the target starts, and how fast; its motors' torques. */
static void start_target(const ff_emulate_arm *target, ff_emulate_config *c) {
    const size_t skip = target->floating ? 7 : 0, base = target->floating ? 6 : 0,
                 motor = target->flexible ? (size_t)target->links : 0;
    if (target->floating) {
        const ff_pose *T = &target->base;
        memcpy(c->q_s, (double[]){T->q.w, T->q.x, T->q.y, T->q.z, T->p.x, T->p.y, T->p.z},
               7 * sizeof *c->q_s);
    }
    for (size_t i = 0; i < (size_t)target->links; i++) {
        const ff_emulate_link *link = &target->link[i];
        c->q_s[skip + i] = c->q_s[skip + motor + i] = link->start;
        c->v_s[base + i] = c->v_s[base + motor + i] = link->speed;
        c->torque[base + motor + i] = link->drive;
    }
}

/* The robot shows the target's start: its base is put there unless it is given, then its joints. */
static ff_status place_robot(ff_emulate_arm *robot, ff_tree_task task, pair *p, char *message, size_t size) {
    ff_emulate_config *c = &p->c;
    ff_status status = FF_OK;
    for (int i = 0; i < robot->links; i++)
        c->q_r[i] = robot->link[i].start;
    c->target.terms(&c->target, c->q_s, c->v_s, FF_TERMS_ALL, &p->a);
    if (!robot->base_given) {
        const ff_mechanism *m = &p->robot.mechanism;
        m->terms(m, c->q_r, c->v_r, FF_TERMS_ALL, &p->b);
        if (task == FF_TREE_TASK_POSE)
            robot->base =
                ff_pose_mul(ff_pose_mul(p->a.pose.pose, ff_pose_inverse(p->b.pose.pose)), robot->base);
        else
            for (int i = 0; i < 2; i++)
                robot->base.p.a[i] += p->a.pose.x[i] - p->b.pose.x[i];
        p->robot.shape.base = robot->base;
        status = ff_tree_mechanism_create(&p->robot.shape, &p->robot.mechanism);
    }
    c->robot = p->robot.mechanism;
    if (status == FF_OK)
        status = reach(&c->robot, &p->a.pose, &p->b, c->q_r);
    if (status == FF_OK)
        status = match_speed(p);
    if (status != FF_OK)
        return ff_refuse(
            status, message, size, "%s",
            status == FF_ERR_SINGULAR
                ? "the start pose is singular for the robot: choose other start angles or another base"
                : "the robot cannot show the target's start pose: choose another base or start angles");
    return FF_OK;
}

/* The target's joints hold the rates that the scenario gives, and yield to the force. */
static void accommodate(const ff_emulate_arms *arms, pair *p) {
    ff_emulate_accommodation *a = &p->accommodation;
    *a = (ff_emulate_accommodation){.target = &p->c.target,
                                    .terms = &p->scratch,
                                    .accommodation = arms->compliance,
                                    .gain = arms->gain,
                                    .joints = (size_t)arms->target.links,
                                    .rigid = !arms->target.flexible};
    for (size_t i = 0; i < 3; i++)
        if (arms->task == FF_TREE_TASK_POSE) {
            a->rate[i] = arms->angular_rate.a[i];
            a->rate[3 + i] = arms->rate.a[i];
        } else if (i < 2) {
            a->rate[i] = arms->rate.a[i];
        }
    p->c.motor = ff_emulate_accommodate;
    p->c.motor_user = a;
}

static ff_status assemble(const ff_emulate_arms *arms, pair *p, char *message, size_t size) {
    ff_emulate_arm robot = arms->robot, believed;
    const size_t n = arms->task == FF_TREE_TASK_POSE ? 6 : 2;
    if ((size_t)robot.links != n) {
        snprintf(message, size, "robot: %d links, allowed: %zu, as many as the task has coordinates",
                 robot.links, n);
        return FF_ERR_SIZE;
    }
    if (robot.flexible || robot.floating)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "robot: allowed is a rigid arm on a fixed base");
    ff_status status = build(&arms->target, arms->task, "target", &p->target, message, size);
    if (status == FF_OK)
        status = build(&robot, arms->task, "robot", &p->robot, message, size);
    if (status != FF_OK)
        return status;
    ff_emulate_config *c = &p->c;
    ff_emulate_default(c);
    c->target = p->target.mechanism;
    start_target(&arms->target, c);
    status = place_robot(&robot, arms->task, p, message, size);
    if (status != FF_OK)
        return status;
    believed = robot;
    believed.gravity = ff_vec3_scale(1.0 + arms->gravity_model_error, robot.gravity);
    for (int i = 0; i < believed.links; i++)
        believed.link[i].row.viscous *= 1.0 + arms->friction_model_error;
    status = build(&believed, arms->task, "robot", &p->believed, message, size);
    if (status != FF_OK)
        return status;
    c->robot_model = p->believed.mechanism;
    c->emulation = arms->emulation;
    c->actuator.bandwidth = arms->actuator_bandwidth;
    c->actuator.delay = arms->actuator_delay;
    for (size_t i = 0; i < n; i++) {
        c->actuator.torque_max[i] = robot.link[i].row.torque;
        c->sensor.force_bias[i] = arms->task == FF_TREE_TASK_POSE && i < 3 ? 0.0 : arms->force_bias;
    }
    c->sensor.force_noise = arms->force_noise;
    c->sensor.seed = arms->seed;
    c->wall = arms->wall;
    c->duration = arms->duration;
    c->cycle = arms->cycle;
    c->sampled = arms->sampled;
    if (arms->accommodates)
        accommodate(arms, p);
    return FF_OK;
}

static void discard(void *memory) {
    pair *p = memory;
    release(&p->target);
    release(&p->robot);
    release(&p->believed);
    free(p);
}

/* Q of an assembled pair at its start. */
static ff_status ratio(pair *p, size_t *n, double *Q) {
    double M_s[36], M_r[36];
    *n = p->c.robot.task;
    ff_status status = ff_emulation_cartesian_inertia(&p->c.target, p->c.q_s, &p->work, M_s);
    if (status == FF_OK)
        status = ff_emulation_cartesian_inertia(&p->c.robot, p->c.q_r, &p->work, M_r);
    return status == FF_OK ? ff_contact_stability_ratio(*n, M_s, M_r, Q) : status;
}

/* What the analysis says of the contact before it happens. */
static void foretell(const ff_emulate_arms *arms, pair *p, char *warnings, size_t size) {
    ff_contact_stability_config c;
    ff_contact_stability s;
    ff_contact_stability_axes axes;
    double Q[36];
    size_t n;
    if (!ff__emulate_analysis(&arms->emulation, arms->actuator_bandwidth, arms->actuator_delay, &c, warnings,
                              size))
        return;
    if (arms->wall.present && ratio(p, &n, Q) == FF_OK &&
        ff_contact_stability_matrix(&c, n, Q, &axes, &s, NULL, 0) == FF_OK && !s.stable)
        ff__emulate_warn(warnings, size,
                         "the contact is not stable: inertia ratio %.4g, stable from %.4g to %.4g\n",
                         axes.value[axes.worst], s.q_low, s.q_high);
}

ff_status ff_emulate_arms_open(const ff_emulate_arms *arms, ff_emulate_machine *machine, char *message,
                               size_t size) {
    *machine = (ff_emulate_machine){0};
    pair *p = calloc(1, sizeof *p);
    if (!p)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    const ff_status status = assemble(arms, p, message, size);
    if (status == FF_OK)
        *machine = (ff_emulate_machine){.config = p->c, .memory = p, .discard = discard};
    else
        discard(p);
    return status;
}

ff_status ff_emulate_arms_run(const ff_emulate_arms *arms, ff_emulate_result *result, char *message,
                              size_t size, char *warnings, size_t warnings_size) {
    *result = (ff_emulate_result){.contact_s = FF_NAN, .contact_direct_s = FF_NAN};
    if (warnings && warnings_size)
        warnings[0] = '\0';
    ff_emulate_machine machine;
    ff_status status = ff_emulate_arms_open(arms, &machine, message, size);
    if (status != FF_OK)
        return status;
    if (warnings)
        foretell(arms, machine.memory, warnings, warnings_size);
    status = ff_emulate_run(&machine.config, result, message, size);
    ff_emulate_machine_close(&machine);
    return status;
}

ff_status ff_emulate_arms_ratio(const ff_emulate_arms *arms, size_t *n, double *Q, char *message,
                                size_t size) {
    pair *p = calloc(1, sizeof *p);
    if (!p)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    ff_status status = assemble(arms, p, message, size);
    if (status == FF_OK) {
        status = ratio(p, n, Q);
        if (status != FF_OK)
            ff_refuse(status, message, size,
                      "the start pose is singular: the Cartesian inertia has no limit there");
    }
    discard(p);
    return status;
}
