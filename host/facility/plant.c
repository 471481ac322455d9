#include "facility/plant.h"

#include "facility/environment.h"
#include "facility/manipulator.h"
#include "facility/robots.h"
#include "facility/sensors.h"

#include <stdio.h>
#include <stdlib.h>

/* An elastic mount: how far the mock-up is from where the flange would hold it. */
typedef struct ff_mount {
    double rate, ratio, mass; /* [rad/s] 0: rigid, damping ratio, [kg] */
    ff_vec3 d, d_dot, swing;  /* [m], [m/s], [m/s2] inertial */
} ff_mount;

struct ff_plant {
    int bodies, contacts;
    uint64_t next; /* the cycle that the next read makes; all before are done */
    ff_robot robot[FF_MAX_BODIES];
    ff_sensor sensor[FF_MAX_BODIES];
    ff_mount mount[FF_MAX_BODIES];
    ff_contact contact[FF_MAX_CONTACTS];
    ff_grasp grasp[FF_MAX_CONTACTS];
    ff_manipulator *arm; /* through which all contacts are, and its servicer; NULL: none */
    int servicer;
    double cycle;
    ff_wrench push[FF_MAX_BODIES];    /* by hand, body axes */
    ff_wrench_in last[FF_MAX_BODIES]; /* readings of cycle next - 1 */
    ff_truth truth;                   /* and what was there */
    bool relative;
    ff_rigid_state start, nominal; /* nominal motion at t = 0 and now */
    ff_status status;
};

static ff_plant *give_up(ff_plant *plant, char *message, size_t size, const char *list, const char *name,
                         const char *what) {
    if (message && size > 0) {
        if (name)
            snprintf(message, size, "%s.%s: %s", list, name, what);
        else
            snprintf(message, size, "%s", what);
    }
    ff_plant_free(plant);
    return NULL;
}

ff_plant *ff_plant_create(const ff_scenario *scenario, char *message, size_t size, ff_status *why) {
    char what[256] = "";
    ff_status status;
    why = why ? why : &status;
    *why = FF_ERR_ARGUMENT;
    if (!(scenario->cycle > 0.0) || !isfinite(scenario->cycle))
        return give_up(NULL, message, size, NULL, NULL, "the cycle must be > 0 [s]");
    if (scenario->satellites < 1 || scenario->satellites > FF_MAX_BODIES || scenario->contacts < 0 ||
        scenario->contacts > FF_MAX_CONTACTS)
        return give_up(NULL, message, size, NULL, NULL,
                       "the number of satellites or contacts is outside its range");
    if (!ff_robot_pose_ok(scenario->facility_pose) || !ff_vec3_finite(scenario->facility_gravity))
        return give_up(NULL, message, size, NULL, NULL,
                       "the facility's pose and gravity must be finite, its attitude a unit quaternion");

    ff_plant *plant = calloc(1, sizeof *plant);
    if (!plant) {
        *why = FF_ERR_MEMORY;
        return give_up(NULL, message, size, NULL, NULL, "no memory for the virtual facility");
    }
    plant->bodies = scenario->satellites;
    plant->contacts = scenario->contacts;
    plant->cycle = scenario->cycle;
    plant->relative = scenario->frame == FF_FRAME_RELATIVE;
    plant->start = ff_scenario_nominal(scenario);
    plant->start.attitude = ff_quat_unit(plant->start.attitude);
    if (plant->relative &&
        (!ff_rigid_finite(&plant->start) || !ff_robot_pose_ok(ff_rigid_pose(&plant->start))))
        return give_up(plant, message, size, NULL, NULL,
                       "the nominal motion must be finite, its attitude a unit quaternion");
    for (int i = 0; i < plant->bodies; i++) {
        const ff_satellite *satellite = &scenario->satellite[i];
        if (!ff_rigid_finite(&satellite->start) || !ff_robot_pose_ok(ff_rigid_pose(&satellite->start)))
            return give_up(plant, message, size, "satellites", satellite->name,
                           "the start must be finite, its attitude a unit quaternion");
        ff_rigid_state start = satellite->start;
        start.attitude = ff_quat_unit(start.attitude);
        if (plant->relative)
            start = ff_relative_from_absolute(&plant->start, &start);
        *why = ff_robot_create(&plant->robot[i], &satellite->robot, &start, scenario->cycle, scenario->seed,
                               i, what, sizeof what);
        if (*why == FF_OK)
            *why = ff_sensor_create(&plant->sensor[i], scenario, i, what, sizeof what);
        if (*why != FF_OK)
            return give_up(plant, message, size, "satellites", satellite->name, what);
        const ff_mockup_config *mockup = &satellite->mockup;
        if (mockup->present && isfinite(mockup->frequency))
            plant->mount[i] = (ff_mount){.rate = 2.0 * FF_PI * mockup->frequency,
                                         .ratio = mockup->damping_ratio,
                                         .mass = mockup->mass};
    }
    plant->servicer = ff_scenario_servicer(scenario);
    if (plant->servicer >= 0 && !(plant->arm = ff_manipulator_create(scenario, what, sizeof what, why)))
        return give_up(plant, message, size, "satellites", scenario->satellite[plant->servicer].name, what);
    for (int i = 0; i < plant->contacts; i++) {
        plant->contact[i] = scenario->contact[i];
        *why = ff_environment_prepare(&plant->contact[i], plant->bodies, what, sizeof what);
        if (*why != FF_OK)
            return give_up(plant, message, size, "contacts", scenario->contact[i].name, what);
    }
    *why = FF_OK;
    ff_plant_reset(plant);
    return plant;
}

void ff_plant_free(ff_plant *plant) {
    if (!plant)
        return;
    for (int i = 0; i < plant->bodies; i++) {
        ff_robot_free(&plant->robot[i]);
        ff_sensor_free(&plant->sensor[i]);
    }
    ff_manipulator_free(plant->arm);
    free(plant);
}

void ff_plant_reset(ff_plant *plant) {
    plant->next = 0;
    plant->nominal = plant->start;
    for (int c = 0; c < plant->contacts; c++)
        plant->grasp[c] = (ff_grasp){0};
    for (int i = 0; i < plant->bodies; i++) {
        plant->mount[i].d = plant->mount[i].d_dot = plant->mount[i].swing = ff_vec3_zero();
        plant->push[i] = ff_wrench_zero();
        ff_robot_reset(&plant->robot[i]);
        ff_sensor_reset(&plant->sensor[i]);
    }
    if (plant->arm)
        ff_manipulator_reset(plant->arm);
}

void ff_plant_keep(ff_plant *plant, ff_keeper *keeper) {
    for (int i = 0; i < plant->bodies; i++) {
        ff_robot_keep(&plant->robot[i], keeper);
        ff_sensor_keep(&plant->sensor[i], keeper);
    }
    if (plant->arm)
        ff_manipulator_keep(plant->arm, keeper);
    ff_keep(keeper, plant->mount, sizeof plant->mount);
    ff_keep(keeper, plant->grasp, sizeof plant->grasp);
    ff_keep(keeper, plant->push, sizeof plant->push);
    ff_keep(keeper, plant->last, sizeof plant->last);
    ff_keep(keeper, &plant->truth, sizeof plant->truth);
    ff_keep(keeper, &plant->nominal, sizeof plant->nominal);
    ff_keep(keeper, &plant->next, sizeof plant->next);
    ff_keep(keeper, &plant->status, sizeof plant->status);
}

void ff_plant_set_lead(ff_plant *plant, int body, double lead) {
    plant->robot[body].lead = lead;
    ff_plant_reset(plant);
}

bool ff_plant_late(const ff_plant *plant) {
    bool late = true;
    for (int i = 0; i < plant->bodies; i++)
        late = late && ff_robot_late(&plant->robot[i]);
    return late;
}

void ff_plant_write(ff_plant *plant, uint64_t k, const ff_setpoint *command) {
    if (k + 1 < plant->next)
        return; /* the past is not rewritten */
    /* Reads that were left out are made up before their commands leave the rings. */
    if (k > plant->next)
        ff_plant_read(plant, k - 1, NULL, NULL);
    for (int i = 0; i < plant->bodies; i++)
        ff_robot_write(&plant->robot[i], k, &command[i]);
}

void ff_plant_write_contact(ff_plant *plant, const ff_wrench *measured_b) {
    if (plant->arm)
        return; /* its drives are given the arm's whole reaction with the contact */
    for (int i = 0; i < plant->bodies; i++)
        ff_robot_push(&plant->robot[i], plant->robot[i].felt, measured_b[i]);
}

void ff_plant_write_arm(ff_plant *plant, const ff_arm_order *order) {
    if (plant->arm)
        ff_manipulator_order(plant->arm, order);
}

void ff_plant_drive_arm(ff_plant *plant, ff_arm_drive drive) {
    ff_manipulator_drive(plant->arm, drive);
}

void ff_plant_measure_arm(const ff_plant *plant, ff_arm_measured *measured) {
    ff_manipulator_measure(plant->arm, 1.0, measured);
}

void ff_plant_write_nominal(ff_plant *plant, const ff_rigid_state *nominal) {
    plant->nominal = *nominal;
}

/* [destefano2021, (23)] */
static ff_setpoint to_inertial(const ff_plant *plant, const ff_setpoint *robot) {
    if (!plant->relative)
        return *robot;
    const ff_rigid_state c = ff_setpoint_to_state(robot), t = ff_relative_to_absolute(&plant->nominal, &c);
    return ff_setpoint_from_state(&t);
}

/* Wrenches on the bodies of all real contacts at these motions. */
static void contact_wrenches(const ff_plant *plant, const ff_setpoint *robot, ff_wrench *contact_b) {
    for (int i = 0; i < plant->bodies; i++)
        contact_b[i] = ff_wrench_zero();
    for (int c = 0; c < plant->contacts && !plant->arm; c++) {
        const ff_contact *contact = &plant->contact[c];
        ff_environment_out out;
        if (contact->is_virtual || !ff_environment_contact(contact, robot, &out))
            continue;
        contact_b[contact->body] = ff_wrench_add(contact_b[contact->body], out.on_body);
        if (contact->against >= 0 && (contact->kind == FF_CONTACT_PAIR || contact->kind == FF_CONTACT_CONE))
            contact_b[contact->against] = ff_wrench_add(contact_b[contact->against], out.on_other);
    }
}

/* Axes and contacts together over these parts of the cycle. A surface's damping acts on the velocity that its
 * own impulse changes: three passes, the error of each is (h c/m)/2 of the one before. True where something
 * is touched at the end. */
static bool give_way_by(ff_plant *plant, double from, double to) {
    bool touched = false;
    for (int i = 0; i < plant->bodies; i++)
        if (plant->robot[i].config.kind == FF_ROBOT_JOINTS)
            ff_robot_substep(&plant->robot[i], from, to);
    for (int pass = 0; pass < 3; pass++) {
        ff_setpoint motion[FF_MAX_BODIES];
        ff_wrench contact_b[FF_MAX_BODIES];
        for (int i = 0; i < plant->bodies; i++) {
            const ff_setpoint robot = ff_robot_between(&plant->robot[i], to);
            motion[i] = to_inertial(plant, &robot);
        }
        contact_wrenches(plant, motion, contact_b);
        touched = false;
        for (int i = 0; i < plant->bodies; i++) {
            touched = touched || ff_vec3_norm(contact_b[i].f) > 0.0;
            if (plant->robot[i].config.kind == FF_ROBOT_JOINTS)
                ff_robot_meet(&plant->robot[i], contact_b[i], from, to);
        }
    }
    return touched;
}

/* Substeps that resolve the tips on their surfaces: hw < 1/20, h c/m < 1/10, m the axes' inertia at the tip.
 */
static int yielding_steps(const ff_plant *plant) {
    enum { MOST = 2000 };
    double wanted = FF_ROBOT_SUBSTEPS;
    for (int c = 0; c < plant->contacts; c++) {
        const ff_contact *x = &plant->contact[c];
        double mobility = ff_robot_mobility(&plant->robot[x->body], x->point);
        if (x->against >= 0)
            mobility += ff_robot_mobility(&plant->robot[x->against], x->at);
        wanted = fmax(wanted, plant->cycle *
                                  fmax(20.0 * sqrt(x->stiffness * mobility), 10.0 * x->damping * mobility));
    }
    return (int)fmin(MOST, ceil(wanted));
}

/* Robots that yield, in substeps. The one in which a surface is met is taken once more in sixteenths: a
 * damped surface's force begins with a step. */
static void give_way(ff_plant *plant) {
    bool any = false, touching = false;
    for (int i = 0; i < plant->bodies; i++) {
        any = any || plant->robot[i].config.kind == FF_ROBOT_JOINTS;
        touching = touching || ff_vec3_norm(plant->robot[i].joints.contact_b.f) > 0.0;
    }
    const int steps = any ? yielding_steps(plant) : 0;
    for (int s = 0; s < steps; s++) {
        const double from = (double)s / steps, to = s + 1 < steps ? (s + 1.0) / steps : 1.0;
        ff_robot_joints before[FF_MAX_BODIES];
        for (int i = 0; i < plant->bodies; i++)
            before[i] = plant->robot[i].joints;
        const bool now = give_way_by(plant, from, to);
        if (now && !touching) {
            enum { PARTS = 16 };
            for (int i = 0; i < plant->bodies; i++)
                plant->robot[i].joints = before[i];
            for (int n = 0; n < PARTS; n++)
                give_way_by(plant, from + (to - from) * n / PARTS,
                            n + 1 < PARTS ? from + (to - from) * (n + 1) / PARTS : to);
        }
        touching = now;
    }
}

/* Mock-ups on elastic mounts: m (a_flange + d'') = F(flange + d) - m w^2 d - 2 z w m d', in substeps that
 * resolve both the mount and the contact on the mock-up's mass. Gravity bends the mount by a constant, which
 * calibration takes for geometry: left out. */
static void bend(ff_plant *plant) {
    bool any = false;
    double fastest = 0.0;
    for (int i = 0; i < plant->bodies; i++)
        if (plant->mount[i].rate > 0.0) {
            any = true;
            double k = 0.0;
            for (int c = 0; c < plant->contacts; c++)
                k += plant->contact[c].body == i || plant->contact[c].against == i
                         ? plant->contact[c].stiffness
                         : 0.0;
            fastest = fmax(fastest, hypot(plant->mount[i].rate, sqrt(k / plant->mount[i].mass)));
        }
    if (!any)
        return;
    const int most = 2000, wanted = (int)fmin(most, ceil(20.0 * fastest * plant->cycle));
    const int steps = wanted < FF_ROBOT_SUBSTEPS ? FF_ROBOT_SUBSTEPS : wanted;
    const double h = plant->cycle / steps;
    for (int s = 1; s <= steps; s++) {
        ff_setpoint motion[FF_MAX_BODIES];
        ff_wrench contact_b[FF_MAX_BODIES];
        const double part = (double)s / steps;
        for (int i = 0; i < plant->bodies; i++) {
            const ff_robot *r = &plant->robot[i];
            const ff_setpoint flange = {
                ff_pose_interpolate(r->last.T, r->now.T, part),
                ff_twist_add(r->last.twist, ff_twist_scale(part, ff_twist_sub(r->now.twist, r->last.twist)))};
            motion[i] = to_inertial(plant, &flange);
            motion[i].T.p = ff_vec3_add(motion[i].T.p, plant->mount[i].d);
            motion[i].twist.v = ff_vec3_add(motion[i].twist.v, plant->mount[i].d_dot);
        }
        contact_wrenches(plant, motion, contact_b);
        for (int i = 0; i < plant->bodies; i++) {
            ff_mount *m = &plant->mount[i];
            if (!(m->rate > 0.0))
                continue;
            const ff_vec3 F = ff_quat_rotate(motion[i].T.q, contact_b[i].f);
            ff_vec3 a = ff_vec3_axpy(-m->rate * m->rate, m->d, ff_vec3_scale(1.0 / m->mass, F));
            a = ff_vec3_axpy(-2.0 * m->ratio * m->rate, m->d_dot, a);
            m->swing = ff_vec3_sub(a, plant->robot[i].acceleration.v);
            m->d_dot = ff_vec3_axpy(h, m->swing, m->d_dot);
            m->d = ff_vec3_axpy(h, m->d_dot, m->d);
        }
    }
}

/* All contacts are the gripper's; the arm's own sensor reads them, the robots say where they are. */
static ff_status touch_by_arm(ff_plant *plant, uint64_t k) {
    ff_truth *truth = &plant->truth;
    const ff_status status = ff_manipulator_step(plant->arm, k, plant->robot, &plant->nominal, truth);
    for (int i = 0; i < plant->bodies; i++) {
        plant->last[i] = (ff_wrench_in){.T_wb = truth->robot[i].T, .twist = truth->robot[i].twist};
        truth->drive[i] = plant->robot[i].driven;
    }
    plant->last[plant->servicer].f_s = truth->arm.port;
    return status;
}

static ff_status make_cycle(ff_plant *plant, uint64_t k) {
    ff_truth *truth = &plant->truth;
    ff_status status = FF_OK;
    for (int i = 0; i < plant->bodies; i++)
        ff_robot_step(&plant->robot[i], k);
    give_way(plant);
    bend(plant);
    for (int i = 0; i < plant->bodies; i++) {
        truth->robot[i] = plant->robot[i].now;
        truth->inertial[i] = to_inertial(plant, &truth->robot[i]);
        truth->inertial[i].T.p = ff_vec3_add(truth->inertial[i].T.p, plant->mount[i].d);
        truth->inertial[i].twist.v = ff_vec3_add(truth->inertial[i].twist.v, plant->mount[i].d_dot);
        truth->contact_b[i] = ff_wrench_zero();
        if (!ff_pose_finite(truth->robot[i].T) || !ff_twist_finite(truth->robot[i].twist))
            status = FF_ERR_DIVERGED;
    }
    if (plant->arm)
        return status == FF_OK ? touch_by_arm(plant, k) : status;
    for (int c = 0; c < plant->contacts; c++) {
        const ff_contact *contact = &plant->contact[c];
        ff_environment_out out;
        truth->touching[c] = contact->kind == FF_CONTACT_GRASP
                                 ? ff_environment_grasp(contact, &plant->grasp[c], (double)k * plant->cycle,
                                                        truth->inertial, &out)
                                 : ff_environment_contact(contact, truth->inertial, &out);
        truth->force[c] = out.force;
        truth->wrench[c] = out.on_body;
        if (!truth->touching[c] || contact->is_virtual) /* what nothing real touches is known, but not felt */
            continue;
        truth->contact_b[contact->body] = ff_wrench_add(truth->contact_b[contact->body], out.on_body);
        if (contact->against >= 0 && (contact->kind == FF_CONTACT_PAIR || contact->kind == FF_CONTACT_CONE ||
                                      contact->kind == FF_CONTACT_GRASP))
            truth->contact_b[contact->against] =
                ff_wrench_add(truth->contact_b[contact->against], out.on_other);
    }
    for (int i = 0; i < plant->bodies; i++) {
        plant->sensor[i].swing = plant->mount[i].swing;
        ff_sensor_step(&plant->sensor[i], k, &plant->robot[i],
                       ff_wrench_add(truth->contact_b[i], plant->push[i]), &plant->last[i]);
        ff_robot_push(&plant->robot[i], truth->contact_b[i], truth->contact_b[i]);
    }
    return status;
}

ff_status ff_plant_read(ff_plant *plant, uint64_t k, ff_loop_in *in, ff_truth *truth) {
    if (k + 1 < plant->next)
        return FF_ERR_ARGUMENT;
    while (plant->next <= k)
        plant->status = make_cycle(plant, plant->next++);
    if (in)
        for (int i = 0; i < plant->bodies; i++)
            in->sensor[i] = plant->last[i];
    if (truth) {
        for (int i = 0; i < plant->bodies; i++) {
            truth->robot[i] = plant->truth.robot[i];
            truth->inertial[i] = plant->truth.inertial[i];
            truth->contact_b[i] = plant->truth.contact_b[i];
        }
        for (int c = 0; c < plant->contacts; c++) {
            truth->force[c] = plant->truth.force[c];
            truth->wrench[c] = plant->truth.wrench[c];
            truth->touching[c] = plant->truth.touching[c];
        }
    }
    return plant->status;
}

const ff_wrench_in *ff_plant_sensors(const ff_plant *plant) {
    return plant->last;
}

const ff_sample_joints *ff_plant_joints(const ff_plant *plant) {
    return plant->arm ? ff_manipulator_joints(plant->arm) : NULL;
}

const ff_truth *ff_plant_truth(const ff_plant *plant) {
    return &plant->truth;
}

void ff_plant_push(ff_plant *plant, int body, ff_wrench push_b) {
    plant->push[body] = push_b;
}
