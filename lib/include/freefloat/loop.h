/* freefloat/loop.h - one readable step: the measured wrenches in, the robots' commands out. */
#ifndef FREEFLOAT_LOOP_H
#define FREEFLOAT_LOOP_H

#include "freefloat/command.h"
#include "freefloat/fidelity.h"
#include "freefloat/wrench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of the bodies may be a base with joints (freefloat/body.h). Tree and work are the caller's and stay
 * where they are. */
typedef struct ff_loop_joints_config {
    int body;                     /* which */
    const ff_tree_model *tree;    /* NULL: all are rigid */
    ff_tree_frame port;           /* where the sensor sits and the contact acts: the gripper */
    double q[FF_TREE_JOINTS_MAX]; /* [rad] or [m] at t = 0, at rest */
    ff_body_work *work;           /* for this loop alone */
} ff_loop_joints_config;

typedef struct ff_loop_body_config {
    ff_rigid_config rigid;   /* without joints */
    ff_rigid_state start;    /* satellite at t = 0; with joints: its base frame, as everywhere below */
    ff_wrench_config wrench; /* stage 1 */
    ff_mount_config mount;   /* before it: an elastic mount of the mock-up; all zero: rigid */
    bool held;               /* the contact wrench is held over the cycle; else an impulse at t_k */
    int held_by;  /* held: the body whose motion carries the wrench on through the cycle. Bodies that name the
                     same one keep their common momentum. Negative: none, it keeps its inertial direction */
    bool elastic; /* the robot's axes yield behind its motors: arm and gears are known */
    ff_arm_config arm;
    double gear_stiffness[6]; /* [N m/rad] > 0 */
    double gear_damping[6];   /* [N m s/rad] >= 0 */
    double joint_inertia[6];  /* [kg m2] behind the gears; 0: they follow the wrench at once */
    bool reacts; /* no sensor of its own: it feels the reaction to what the port behind the joints feels,
                    formed between the satellites */
} ff_loop_body_config;

/* Robots are commanded the motion relative to a nominal one [destefano2021]; everything else in the loop
 * stays absolute. The lab's placement is not here: it is one constant factor left of all robots. */
typedef struct ff_relative_config {
    bool enabled;
    ff_nominal_kind nominal;
    int of;               /* free, satellite: the body */
    ff_rigid_state start; /* prescribed: the nominal motion at t = 0; its body twist is kept */
    bool integrated;      /* integrate (11) instead of recovering the relative motion from (2) and (4) */
} ff_relative_config;

typedef struct ff_loop_config {
    ff_integrate_config integrate;
    ff_relative_config relative;
    const ff_method *method;
    ff_settings setting; /* of the method */
    ff_world world;      /* noise, delay, skew, limits, grasp, contacts; the bodies' models are filled in */
    int bodies;          /* 1..FF_MAX_BODIES */
    ff_loop_body_config body[FF_MAX_BODIES];
    ff_loop_joints_config joints;
} ff_loop_config;

/* Stages 2 and 3 as a loop runs them: a method, and the detector with its thresholds. */
typedef struct ff_loop_stage {
    const ff_method *method;
    bool detects;
    ff_detector_config detector;
    size_t model_bytes, state_bytes; /* of the method */
    int values[2];                   /* that it reports of a body, and of the run */
} ff_loop_stage;

/* The method's own model lies behind it, and the arms of elastic robots behind that: ask ff_loop_bytes for
 * the size. It may be moved by memcpy. */
typedef struct ff_loop_model {
    ff_loop_config config; /* its settings are resolved: what was not given is chosen */
    ff_loop_stage stage;
    ff_rigid_model rigid[FF_MAX_BODIES]; /* with joints: as at the start */
    ff_body jointed;                     /* of config.joints */
    ff_mount_model mount[FF_MAX_BODIES];
    ff_nominal_config nominal;
} ff_loop_model;

/* Where the kinetic energy of one body comes from [J], summed since the start. The balance closes:
 * kinetic = kinetic at start + exchanged + delay + force_controller + velocity_controller + integration +
 * loads + method + joints. With joints, kinetic is that of the whole body, and V the motion of its port. */
typedef struct ff_energy {
    double kinetic;
    double exchanged;        /* F_e.V_r T: given by the environment at the robot's own motion */
    double delay;            /* F_e.(V_c - V_r) T: injected because the robot is not where the satellite is */
    double force_controller; /* (F_c - F_e).V_c T: stage 3; negative when it removes energy */
    double velocity_controller; /* F_c.(V_s - V_c) T: the passive integrator's output correction */
    double integration;         /* added by discrete time */
    double loads;               /* work of the known loads */
    double method;              /* change by a method that recomputed the past */
    double joints; /* given by joint motors, as their measured motion shows when it is measured; with the
                      error of discrete time */
} ff_energy;

/* The method's own state lies behind it: ask ff_loop_bytes for the size. No pointers: it may be moved, saved
 * and restored by memcpy. */
typedef struct ff_loop_state {
    uint64_t k; /* cycles done */
    ff_rigid_state body[FF_MAX_BODIES];
    ff_body_state tree; /* of the body with joints; motion as in body[] */
    ff_body_view view;  /* and as its joints were measured last */
    ff_integrate_state integrate[FF_MAX_BODIES];
    ff_setpoint last[FF_MAX_BODIES];      /* the last command that was finite */
    ff_arm_joints joints[FF_MAX_BODIES];  /* motors of elastic robots, last cycle */
    ff_wrench last_wrench[FF_MAX_BODIES]; /* last valid contact wrench */
    ff_mount_state mount[FF_MAX_BODIES];
    ff_energy energy[FF_MAX_BODIES];
    ff_nominal_state nominal; /* at t_k; the inertial frame itself unless relative */
    ff_detector_state detector[FF_MAX_BODIES];
} ff_loop_state;

typedef struct ff_loop_in {
    ff_wrench_in sensor[FF_MAX_BODIES]; /* raw reading with the measured robot motion (relative: as the robots
                                           make it) */
    ff_rigid_load load[FF_MAX_BODIES];  /* known loads in this cycle */
    ff_sent sent[FF_MAX_BODIES];        /* what the robots were really sent in the cycle before */
    bool touches;                       /* there are contacts that no sensor feels: */
    ff_wrench
        contact_b[FF_MAX_BODIES]; /* theirs, about the CoM, robot's body axes: added to what is measured */
    /* with joints: measured; and the wrench of actuators on the base, base axes, about its origin */
    double q[FF_MAX_BODIES][FF_TREE_JOINTS_MAX], qd[FF_MAX_BODIES][FF_TREE_JOINTS_MAX];
    ff_wrench thrust[FF_MAX_BODIES];
} ff_loop_in;

typedef struct ff_loop_out {
    ff_setpoint command[FF_MAX_BODIES];  /* to issue at t_k; relative: to the nominal motion of t_k */
    ff_setpoint next[FF_MAX_BODIES];     /* what will be issued at t_(k+1) unless the next step changes it */
    ff_wrench measured_b[FF_MAX_BODIES]; /* F_e: contact wrench at the CoM, robot's body axes; with joints
                                            about the base's origin; a reaction as at the satellites */
    ff_rigid_state base[FF_MAX_BODIES];  /* with joints: the base at t_k, at the joints measured */
    ff_pose port[FF_MAX_BODIES];         /* with joints: in the base frame at t_k */
    ff_setpoint tip[FF_MAX_BODIES]; /* measured motion of what meets the environment: the robot's, or that
                                       of a mock-up on an elastic mount */
    ff_twist velocity_correction[FF_MAX_BODIES]; /* V_pc of the passive integrator, for t_(k+1) */
    ff_status sensor_status[FF_MAX_BODIES];
    ff_status joint_status;                  /* of the body with joints */
    ff_status command_status[FF_MAX_BODIES]; /* FF_OK, or FF_INFO_HELD: the last one, standing still */
    ff_method_out fidelity;                  /* F_c in fidelity.f_b: integrated, satellite's body axes */
} ff_loop_out;

#define FF_LOOP_LARGEST 1e9 /* [m, m/s, rad/s] a satellite beyond it has diverged */

typedef struct ff_loop_info {
    uint64_t not_finite, stale, saturated; /* samples refused, by reason */
    uint64_t held;                         /* cycles in which the last finite command was held */
} ff_loop_info;

void ff_loop_default(ff_loop_config *config); /* tdpa, lie-midpoint, 4 ms, one body of 1 kg */
/* Memory that model and state of this configuration need [bytes], aligned as malloc's; the caller's. Statuses
 * and message (may be NULL) as ff_loop_create. */
ff_status ff_loop_bytes(const ff_loop_config *config, size_t *model, size_t *state, char *message,
                        size_t message_size);
/* Checks every part; on failure `message` (may be NULL) gets one sentence that names the body and the field.
 * `size` is that of the model's memory: FF_ERR_SIZE when it is too small. */
ff_status ff_loop_create(const ff_loop_config *config, ff_loop_model *model, size_t size, char *message,
                         size_t message_size);
/* Satellites, method and commands at t = 0. FF_ERR_SIZE when the state's memory is smaller than ff_loop_bytes
 * says. */
ff_status ff_loop_reset(const ff_loop_model *model, ff_loop_state *state, size_t size, ff_loop_info *info,
                        ff_loop_out *out);
/* Between two cycles: other settings of the method, or another noise, delay or skew of its world (the rest of
 * `world` is not taken). FF_ERR_ARGUMENT, FF_ERR_UNSUPPORTED, and the model is as it was, when the method
 * refuses or would need other memory. Bounded time, as a step. */
ff_status ff_loop_update(ff_loop_model *model, const ff_world *world, const ff_settings *setting);
/* What is known of the sensors, in one place: found by a check before the run, or tuned in it. */
typedef struct ff_loop_sensor {
    ff_wrench bias_s;                 /* [N m, N] reading without load, sensor frame */
    double mockup_mass;               /* [kg] of what hangs behind the sensor; 0: nothing */
    ff_vec3 mockup_com_b;             /* [m] its CoM, body frame */
    double force_limit, torque_limit; /* [N], [N m] a component of the reading beyond it is not valid */
} ff_loop_sensor;

typedef struct ff_loop_calibration {
    ff_loop_sensor sensor[FF_MAX_BODIES];
    double skew; /* [s] by which a force is older than the pose that comes with it */
} ff_loop_calibration;

/* As it is in the model now. */
void ff_loop_calibrated(const ff_loop_model *model, ff_loop_calibration *calibration);
/* Between two cycles: sets all of it; a skew that differs takes the place of the method's own setting. FF_OK;
 * FF_ERR_NOT_FINITE, FF_ERR_ARGUMENT, FF_ERR_UNSUPPORTED: the model is as it was. */
ff_status ff_loop_calibrate(ff_loop_model *model, const ff_loop_calibration *calibration);
/* How far ahead of the satellite this body's robot is commanded [s]: 0 for methods that command the present.
 */
double ff_loop_lead(const ff_loop_model *model, const ff_loop_state *state, int body);
/* The method's columns of a body, or of the run (body < 0); up to FF_METHOD_VALUES. Returns how many. */
int ff_loop_report(const ff_loop_model *model, const ff_loop_state *state, int body, double *values);
/* The joints of t_k are measured, where a body has them: base and port of *out, the body's state and the
 * ledger's `joints` follow. Once a cycle: ff_loop_measure calls it; alone it tells where everything stands at
 * the end of a run. FF_OK; FF_ERR_NOT_FINITE: joints or thrust are not, and nothing changed. */
ff_status ff_loop_joints(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                         const ff_loop_in *in, ff_loop_out *out);
/* Stage 1 of cycle k alone: joints, then measured_b, tip and the statuses of *out. Also for cycles in which
 * nothing is advanced: limits are judged by the wrench that the loop uses. FF_OK, or FF_INFO_HELD: a sample
 * of some body was refused, its measured_b is the last valid one. */
ff_status ff_loop_measure(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          const ff_loop_in *in, ff_loop_out *out);
/* The rest of cycle k, after ff_loop_measure. FF_OK, or FF_INFO_HELD when a sample of any body was refused or
 * an input is not finite: then nothing moves, the satellites stay where they are and every robot is commanded
 * its last pose, standing still. FF_INFO_HELD also when a method's command is not finite: the satellites
 * advance, and that robot alone is held (command_status). FF_ERR_DIVERGED when the motion would leave the
 * finite numbers, or the method's own fault: the satellites are left as they were and the robots are held.
 * Commands are not bounded here: what is sent is the output stages' (freefloat/output.h). */
ff_status ff_loop_advance(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          const ff_loop_in *in, ff_loop_out *out);
/* Both in one. */
ff_status ff_loop_step(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                       const ff_loop_in *in, ff_loop_out *out);

/* A robot's motion in the frame it is commanded in, mapped to the inertial one by (23), and back. Copies it
 * unless relative. */
ff_setpoint ff_loop_to_inertial(const ff_loop_model *model, const ff_rigid_state *nominal, ff_setpoint robot);
ff_setpoint ff_loop_to_robot(const ff_loop_model *model, const ff_rigid_state *nominal, ff_setpoint inertial);

/* Sum of the ledger without `kinetic`: the change of kinetic energy that it explains. */
double ff_energy_sum(const ff_energy *energy);

#ifdef __cplusplus
}
#endif
#endif
