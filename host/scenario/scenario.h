/* scenario/scenario.h - a scenario as a checked struct; plain data, copied freely (campaigns do).
 *
 * ff_scenario_load reads the file, applies the --set overrides, checks everything and fills defaults.
 * Whatever is wrong is one line, "FILE:LINE:COL: what is wrong, what is allowed". Every key stands in one
 * table (schema.c) from which docs/scenario.md is generated. */
#ifndef FF_SCENARIO_SCENARIO_H
#define FF_SCENARIO_SCENARIO_H

#include "devices/device.h"
#include "scenario/emulation.h"
#include "freefloat/loop.h"
#include "freefloat/output.h"
#include "text/file.h"
#include "text/held.h"

enum {
    FF_NAME_SIZE = 128,
    FF_MAX_CONTACTS = 16,
    FF_MAX_LOADS = 64,
    FF_MAX_POINTS = 16,
    FF_MAX_ARM_LINKS = FF_TREE_JOINTS_MAX, /* rows of an arm's table */
    FF_MAX_FAULTS = 16,
    FF_MAX_MODELS = 4,   /* URDF files of one scenario */
    FF_MAX_METHODS = 12, /* methods that a scenario has settings for */
};

/* Names of kinds, in the order of their enums and NULL at the end: the reader's words, and what messages,
 * reports and pages say. */
extern const char *const ff_contact_names[];
/* The same of a robot or sensor, a device's own name among them; NULL beyond the last. */
const char *ff_robot_name(int kind);
const char *ff_sensor_name(int kind);

/* Functions of this process that a caller brings in place of what a scenario names; they are the caller's,
 * and outlive the scenario. No file can name one. Of a contact: the normal force [N] at depth [m] > 0 that
 * grows at rate [m/s]; it never pulls, what is negative is zero. Of a sensor: its reading [N m, N] of the
 * wrench that enters it at t [s], sensor frame. On-board software (obsw.h): true: *out is its answer. */
typedef struct ff_contact_law {
    void *self;
    double (*force)(void *self, double depth, double rate);
} ff_contact_law;
typedef struct ff_sensor_law {
    void *self;
    ff_wrench (*read)(void *self, double t, ff_wrench f_s);
} ff_sensor_law;
struct ff_obsw_in;
struct ff_obsw_out;
typedef struct ff_obsw_call {
    void *self;
    bool (*step)(void *self, const struct ff_obsw_in *in, struct ff_obsw_out *out);
} ff_obsw_call;

typedef enum ff_robot_kind {
    FF_ROBOT_IDEAL,
    FF_ROBOT_DELAY,
    FF_ROBOT_LAG,
    FF_ROBOT_LIMITED,
    FF_ROBOT_JOINTS,
    FF_ROBOT_WRENCH,
    FF_ROBOT_MUJOCO,
    FF_ROBOT_DEVICE /* the first of the list of devices; the others follow it */
} ff_robot_kind;

typedef struct ff_robot_config {
    ff_robot_kind kind;
    double delay;                        /* [s] >= 0 */
    double jitter;                       /* [s] >= 0, half width */
    double lost;                         /* share of commands that do not arrive */
    double pose_noise, velocity_noise;   /* [m], [m/s] of what is measured, sd of one axis */
    double frequency;                    /* [Hz] lag; of a device: 0, it follows after its delay alone */
    double damping;                      /* ratio, lag, default 1 */
    double velocity, acceleration, jerk; /* limited: [m/s], [m/s2], [m/s3], FF_INF: absent */
    double angular_velocity, angular_acceleration, angular_jerk;
    double gear_stiffness[6]; /* joints: [N m/rad] */
    double gear_damping[6];   /* [N m s/rad] */
    double joint_inertia[6];  /* [kg m2] */
    ff_rigid_config inertia;  /* wrench: of the robot and what it carries, about the CoM, body axes */
    ff_pose base;             /* world to base */
    ff_pose tool;             /* flange to CoM */
    struct {
        bool present;
        ff_vec3 axis;
        double length, speed;
    } rail;
    char address[FF_NAME_SIZE]; /* a device: where this computer listens */
    ff_device_settings device;
} ff_robot_config;

/* It follows as a second-order system: frequency and damping hold. */
static inline bool ff_robot_lags(const ff_robot_config *robot) {
    return robot->kind == FF_ROBOT_LAG || (robot->kind >= FF_ROBOT_DEVICE && robot->frequency > 0.0);
}

/* The devices follow the last one. */
typedef enum ff_sensor_kind { FF_SENSOR_IDEAL, FF_SENSOR_NOISY, FF_SENSOR_DEVICE } ff_sensor_kind;

typedef struct ff_sensor_config {
    ff_sensor_kind kind;
    bool environment;                 /* mount: environment */
    ff_pose pose;                     /* flange: sensor in the flange frame; environment: in the lab */
    double force_noise, torque_noise; /* sd [N], [N m] */
    ff_wrench bias;                   /* as the file gives it: force first there */
    double drift_force, drift_torque; /* [N/s], [N m/s]: bias ramps, same on every axis */
    double resolution_force, resolution_torque; /* quantum [N], [N m]; 0: none */
    double range_force, range_torque;           /* [N], [N m]; FF_INF */
    double bandwidth;                           /* [Hz]; FF_INF */
    double delay;                               /* [s] */
    double lost;                                /* share of readings that do not arrive */
    const ff_sensor_law *law;                   /* in place of all that makes a reading wrong; NULL: none */
    ff_quat turned;                             /* the virtual one: sensor as it is, in the sensor as named */
    ff_vec3 wired;                              /* +-1, 2, 3: axis that each channel carries */
    char address[FF_NAME_SIZE];                 /* a device: the sensor's */
    ff_device_settings device;
} ff_sensor_config;

/* What ends a run on devices. FF_INF: not watched. docs/safety.md */
typedef struct ff_safety_limits {
    int preset;                       /* 1: cautious values for what is not named */
    ff_vec3 box;                      /* [m] half widths about the start, inertial axes */
    double velocity;                  /* [m/s] measured */
    double angular_velocity;          /* [rad/s] */
    double acceleration;              /* [m/s2] */
    double angular_acceleration;      /* [rad/s2] */
    double jerk;                      /* [m/s3] */
    double force;                     /* [N] contact force at the CoM */
    double torque;                    /* [N m] */
    double spike;                     /* [N] change of the force in one cycle */
    double energy;                    /* [J] that the port may have given since the start */
    double tracking;                  /* [m] robot from its delayed command */
    double age;                       /* [s] of the sensor's sample */
    double missed;                    /* [cycles] in a row without a telegram before the stop */
    double stop_acceleration;         /* [m/s2] of a controlled stop */
    double stop_angular_acceleration; /* [rad/s2] */
} ff_safety_limits;

typedef enum ff_weight_check {
    FF_WEIGHT_AUTO, /* by poses wherever a sensor feels weight */
    FF_WEIGHT_POSES,
    FF_WEIGHT_SCENARIO
} ff_weight_check;

/* What is tried before a run on devices. */
typedef struct ff_check_config {
    bool no_push;           /* leave out the hand-push test */
    ff_weight_check weight; /* how the mock-up's mass and CoM are known */
    bool chirp;             /* identify the robot's delay */
    double angle;           /* [rad] tilt */
    double amplitude;       /* [m] of the chirp */
    double wait;            /* [s] for each push */
} ff_check_config;

typedef struct ff_mockup_config {
    bool present;
    double mass;          /* [kg] */
    ff_vec3 com;          /* [m] body frame, from the satellite's CoM */
    ff_mat3 inertia;      /* [kg m2] about its CoM */
    double frequency;     /* [Hz] of its bending on the flange, the flange held; FF_INF: rigid */
    double damping_ratio; /* of the same */
    bool unknown;         /* compensation: off */
} ff_mockup_config;

typedef struct ff_mesh_config { /* only to be looked at */
    bool present;
    char file[2 * FF_NAME_SIZE]; /* as it is opened */
    double scale;                /* metres in a unit of the file */
    ff_pose pose;                /* of the file's frame in the body frame, from the CoM */
} ff_mesh_config;

typedef struct ff_point {
    char name[FF_NAME_SIZE];
    ff_vec3 r; /* [m] body frame, from the CoM */
} ff_point;

typedef struct ff_servicer_link {
    char name[FF_NAME_SIZE];
    char parent[FF_NAME_SIZE]; /* as the table names it; "": the row before, the base for the first */
    char joint[FF_NAME_SIZE];  /* as a URDF file names it; "" in a table */
    ff_link_row row;           /* positions and speed have limits in a URDF file only */
} ff_servicer_link;

/* Where an arm that is commanded by joint torques is, on devices. */
typedef struct ff_arm_device {
    int kind;                   /* the n-th of its kind in the list */
    char address[FF_NAME_SIZE]; /* where this computer listens */
    ff_device_settings device;
} ff_arm_device;

typedef struct ff_servicer_arm {
    bool present;
    char root[FF_NAME_SIZE]; /* of a URDF file: its link that stands on the mount; "" in a table */
    ff_pose mount, gripper;  /* first joint's parent frame in the base; gripper in the last link */
    int links, joints;
    ff_servicer_link link[FF_MAX_ARM_LINKS];
    double q[FF_MAX_ARM_LINKS]; /* at the start */
    double cycle;               /* [s] of the arm's own controller */
    ff_arm_device device;       /* where it is, on devices */
} ff_servicer_arm;

typedef struct ff_obsw_config {
    const ff_obsw_call *call;   /* in place of all kinds; NULL: none */
    int kind;                   /* 0: built-in, 1: shared object, 2: UDP */
    char library[FF_NAME_SIZE]; /* its path, from the working folder */
    char address[FF_NAME_SIZE], local_address[FF_NAME_SIZE];
    uint64_t port, local_port;
    int mode;    /* 0: lock step, 1: free running */
    int packets; /* 0: cFS, 1: PUS-C */
    uint64_t apid, command_apid;
    double timeout; /* [s] wall clock, for one answer in lock step, or one step of a shared object */
    double connect; /* [s] wall clock, for the first answer */
    double hold;    /* [s] of run time */
    ff_pose goal;
    double q[FF_MAX_ARM_LINKS];
    double approach, arrive;
    double detumble; /* [s] FF_INF: never */
    double sync_rate, hold_rate, arm_rate, grasp_rate, detumble_damping;
    double force_limit, torque_limit;
    struct {
        double rate, delay, position, attitude, velocity, angular_rate;
        double star_tracker, star_tracker_rate, star_tracker_delay;
        double gyro, gyro_rate, gyro_delay;
        double encoder, encoder_speed, encoder_rate, encoder_delay;
    } navigation;
} ff_obsw_config;

typedef struct ff_satellite {
    char name[FF_NAME_SIZE];
    ff_rigid_config rigid;
    ff_rigid_state start;
    int points; /* point[0] is com */
    ff_point point[FF_MAX_POINTS];
    ff_robot_config robot;
    ff_arm_config own_arm; /* of a robot with `own`: here, for the plant copies its robots in every cycle */
    ff_sensor_config sensor;
    ff_mockup_config mockup;
    ff_mesh_config mesh;
    ff_limiter_config
        limits; /* on what the robot is sent, as vectors; FF_INF unless the scenario names them */
    ff_servicer_arm arm;
    const ff_servicer_arm *ground_arm; /* the arm on the ground where it is not the orbit's: the caller's;
                                          NULL: it is (assumption 2 of destefano2021) */
    ff_obsw_config obsw;
    ff_safety_limits safety;
    struct {
        bool any, tracking, age, missed; /* any limit; one that has a default on devices */
    } safety_named;                      /* by the scenario: only these act in virtual time */
    ff_check_config check;
} ff_satellite;

/* The kinematics of a satellite's robot that is a device. */
static inline void ff_satellite_arm(const ff_satellite *satellite, ff_arm_config *arm) {
    if (satellite->robot.device.own)
        *arm = satellite->own_arm;
    else
        ff_arm_default(satellite->robot.device.arm, arm);
}

/* Axes of the arm that carries a satellite. */
static inline int ff_satellite_axes(const ff_satellite *satellite) {
    ff_arm_config arm = {.axes = 6};
    if (satellite->robot.kind >= FF_ROBOT_DEVICE)
        ff_satellite_arm(satellite, &arm);
    return arm.axes;
}

typedef enum ff_contact_kind {
    FF_CONTACT_WALL,
    FF_CONTACT_STOPS,
    FF_CONTACT_PAIR,
    FF_CONTACT_CONE,
    FF_CONTACT_GRASP
} ff_contact_kind;

typedef struct ff_contact {
    char name[FF_NAME_SIZE];
    ff_contact_kind kind;
    int body;                  /* satellite index */
    int against;               /* pair, cone: the other satellite; -1 otherwise */
    bool is_virtual;           /* nothing real is touched: computed from where the robots are */
    ff_vec3 point;             /* [m] body frame of `body`; if that has an arm: of its gripper */
    ff_vec3 at, normal;        /* wall: inertial; pair: body frame of `against`; unit normal */
    double stiffness, damping; /* [N/m], [N s/m]: the mock-ups' real contact (series already combined) */
    double satellite_stiffness, satellite_damping; /* the contact the satellites should have */
    double damping_depth;                          /* [m] 0: damping is constant; else he2022 (24) */
    double friction;                               /* Coulomb coefficient */
    ff_vec3 apex, axis;                            /* cone, body frame of `against` */
    double half_angle;                             /* [rad] */
    double depth;                                  /* [m] along the axis, FF_INF */
    ff_vec3 stop_position, stop_rotation;          /* stops: half widths [m], [rad]; FF_INF: free axis */
    double rotation_stiffness, rotation_damping;   /* stops, grasp: [N m/rad], [N m s/rad] */
    double closes;                                 /* grasp: [s] not before */
    double reach;                                  /* grasp: [m] closes when so near; FF_INF: at once */
    double opens;                                  /* grasp: [s] lets go, for good; FF_INF: never */
    const ff_contact_law *law;                     /* in place of stiffness and damping, not of a grasp or of
                                                      stops; NULL: none */
} ff_contact;

typedef enum ff_load_kind { FF_LOAD_PULSE, FF_LOAD_HALFSINE, FF_LOAD_SIN2 } ff_load_kind;

typedef struct ff_load {
    int body;
    ff_load_kind kind;
    ff_vec3 force;   /* [N] inertial */
    ff_vec3 torque;  /* [N m] body */
    double from, to; /* [s] acts on [from, to) */
} ff_load;

typedef enum ff_frame_kind { FF_FRAME_ABSOLUTE, FF_FRAME_RELATIVE } ff_frame_kind;

/* What a virtual device does wrong, to see what the loop does about it. Words in schema.c, same order. */
typedef enum ff_fault_kind {
    FF_FAULT_ROB_LOST,
    FF_FAULT_ROB_LATE,
    FF_FAULT_ROB_REPEATED,
    FF_FAULT_ROB_REORDERED,
    FF_FAULT_ROB_CORRUPT,
    FF_FAULT_ROB_CUT,
    FF_FAULT_ROB_NAN,
    FF_FAULT_ROB_EMPTY,
    FF_FAULT_ROB_LONG,
    FF_FAULT_ROB_INCOMPLETE,
    FF_FAULT_IPOC_JUMP,
    FF_FAULT_ROBOT_SILENT,
    FF_FAULT_ROBOT_STUCK,
    FF_FAULT_ROBOT_JUMP,
    FF_FAULT_ROBOT_SLOW,
    FF_FAULT_ROBOT_CLIPPED,
    FF_FAULT_ROBOT_ABORTS,
    FF_FAULT_ANSWER_LOST,
    FF_FAULT_ANSWER_LATE,
    FF_FAULT_FT_LOST,
    FF_FAULT_FT_REPEATED,
    FF_FAULT_FT_REORDERED,
    FF_FAULT_FT_CORRUPT,
    FF_FAULT_FT_SILENT,
    FF_FAULT_FT_FROZEN,
    FF_FAULT_FT_STUCK,
    FF_FAULT_FT_SATURATED,
    FF_FAULT_FT_BROKEN,
    FF_FAULT_FT_DRIFT,
    FF_FAULT_FT_SPIKE,
    FF_FAULT_FT_OFFSET,
    FF_FAULT_FT_RESTART,
    FF_FAULT_STRANGER,
    FF_FAULT_JITTER,
    FF_FAULT_CLOCK_STEP,
    FF_FAULT_FT_FLOOD,      /* datagrams of a stranger before each record */
    FF_FAULT_SECOND_CLIENT, /* asks the sensor for its stream */
    /* of the processes (rt/outside.h) */
    FF_FAULT_LOOP_INTERRUPTED, /* SIGINT, once */
    FF_FAULT_LOOP_TERMINATED,  /* SIGTERM, once */
    FF_FAULT_LOOP_KILLED,
    FF_FAULT_LOOP_STALLED,
    FF_FAULT_DISK_FULL, /* the loop's files cannot grow */
    FF_FAULT_FACILITY_KILLED,
    FF_FAULT_CLOCK_DRIFT,    /* [ppm] the controller's cycle is longer by so much, all the time */
    FF_FAULT_FT_CLOCK_DRIFT, /* [ppm] the same of the sensor's period */
    /* of the set-up: from the beginning to the end, before anything moves */
    FF_FAULT_FT_SWAPPED,     /* x and y of force and torque */
    FF_FAULT_FT_MIRRORED,    /* the sign of one axis, 1 to 6: Fx to Tz */
    FF_FAULT_FT_TURNED,      /* [deg] about the sensor's z */
    FF_FAULT_FT_DEAF,        /* reads nothing */
    FF_FAULT_ROBOT_LATER,    /* [s] its delay is longer than the scenario's */
    FF_FAULT_ROBOT_ASIDE,    /* [m] along y: it does not stand where the run begins */
    FF_FAULT_ARM_ELSEWHERE,  /* [m] on the rail; wrist turned over */
    FF_FAULT_TOOL_OFF,       /* [m] the controller's tool is longer than the scenario's */
    FF_FAULT_WALL_HARDER,    /* how many times stiffer the contacts are than the scenario's */
    FF_FAULT_ROBOT_RESTARTS, /* silent while it acts; then corrections count from where it stands */
    FF_FAULT_FT_FAST,        /* records a cycle, always; what strikes a record strikes the first of them */
    /* what the controller says of itself, with facility.signals */
    FF_FAULT_KRC_MODE,        /* the operating mode is `value` */
    FF_FAULT_KRC_DRIVES,      /* off: the robot stands */
    FF_FAULT_KRC_ESTOP,       /* pressed: the robot stands */
    FF_FAULT_KRC_OVERRIDE,    /* `value` percent; 0: the robot stands */
    FF_FAULT_KRC_PROGRAM,     /* stopped: the robot stands */
    FF_FAULT_KRC_LOST,        /* signal 1 to 5 is not in the telegram; 0: none is */
    FF_FAULT_PROTECTIVE_STOP, /* of a robot that reports it: it stands */
    FF_FAULTS
} ff_fault_kind;

typedef struct ff_fault {
    ff_fault_kind kind;
    int body;
    double from, to;    /* [s] since the robot began to move */
    double value;       /* size, in the fault's own unit */
    double probability; /* of acting in a cycle */
} ff_fault;

typedef struct ff_requirements {
    double velocity_error;         /* [m/s] */
    double angular_velocity_error; /* [rad/s] */
    double peak_force_ratio;
    double restitution_error; /* of the approach speed */
} ff_requirements;

/* What an emulated target is. */
typedef enum ff_target_kind { FF_TARGET_FLEXIBLE_JOINT, FF_TARGET_ARM } ff_target_kind;

/* How a measured contact wrench enters the integrator. Words in schema.c, same order. */
typedef enum ff_contact_rule {
    /* held for satellites without an arm that a grasp connects, if the integrator can; else impulse */
    FF_CONTACT_RULE_DEFAULT,
    FF_CONTACT_RULE_IMPULSE,
    FF_CONTACT_RULE_HELD
} ff_contact_rule;

/* A method in a shared object. */
struct ff_method_section;
typedef struct ff_method_library {
    const ff_method *method;
    const struct ff_method_section *section; /* its settings as keys (scenario/methods.h) */
    char path[1024];                         /* the file, from the root */
    char hash[65];                           /* its SHA-256 */
    void *(*take)(size_t bytes);             /* memory for loops with it, zero; NULL: there is none */
    void (*give)(void *memory, size_t bytes);
    bool copies; /* that memory may be copied: a run with it can be saved and restored */
} ff_method_library;

/* What a scenario may name beyond what is built in. Whoever reads one is given it; NULL: nothing, and method
 * libraries are refused. */
typedef struct ff_catalog {
    /* The library at a path, from the working folder (`method: ./mine.so`); NULL and one line in `message`,
     * which does not name the path.
     * NULL: libraries are left closed. The scenario is read as with `direct`, a map that no key explains is
     * taken for the library's settings, and a warning says that they are unchecked. */
    const ff_method_library *(*open)(const char *path, char *message, size_t size);
    bool refuses; /* `open` takes none, and says what to do */
} ff_catalog;

/* A word for a method as options and campaigns give it: the name itself, or that of the library at the path.
 * NULL, and one line in `message`: the library cannot be opened. */
const char *ff_scenario_method_word(const ff_catalog *catalog, const char *word, char *message, size_t size);
/* The library at the path. NULL: a name, with an empty `message`, or one line. */
const ff_method_library *ff_scenario_method_library(const ff_catalog *catalog, const char *word,
                                                    char *message, size_t size);

/* A method and what the scenario says to it. */
typedef struct ff_method_setup {
    const ff_method *method;
    const ff_method_library *library; /* that it came from; NULL: it is built in */
    ff_settings setting;
} ff_method_setup;

typedef struct ff_scenario {
    char name[FF_NAME_SIZE];
    int models;
    char model[FF_MAX_MODELS][FF_NAME_SIZE]; /* URDF files as the scenario names them */
    char site[FF_NAME_SIZE]; /* the file that its laboratory stands in, as it names it; "": none */
    ff_held *held;           /* the files that it was read from, the caller's; NULL: they are not held */
    double cycle, duration;  /* [s] */
    uint64_t cycles;         /* round(duration/cycle) */
    uint64_t seed;
    const ff_method *method; /* NULL: ideal, the reference itself */
    char unchecked[256]; /* path of a library that was left closed; then `direct` stands for it; "" none */
    int setups;          /* settings of every method: a scenario may be run with another one */
    ff_method_setup setup[FF_MAX_METHODS];
    ff_integrate_config integrate;
    ff_contact_rule contact_wrench;
    ff_frame_kind frame;
    ff_nominal_kind nominal;
    int nominal_of;           /* satellite index */
    ff_pose nominal_pose;     /* prescribed: at t = 0 */
    ff_twist nominal_twist;   /* prescribed: body twist, constant */
    bool relative_integrated; /* relative: {form: integrated} */
    ff_pose facility_pose;    /* placement in the lab */
    ff_vec3 facility_gravity; /* [m/s2] lab */
    bool facility_signals;    /* the virtual controllers say what they do */
    int faults;
    ff_fault fault[FF_MAX_FAULTS];
    int satellites;
    ff_satellite satellite[FF_MAX_BODIES];
    int contacts;
    ff_contact contact[FF_MAX_CONTACTS];
    int loads;
    ff_load load[FF_MAX_LOADS];
    ff_requirements requirements;
    bool allow_penetration; /* a contact may be compressed at the start */
    bool emulates;          /* `emulation` stands in place of `satellites` */
    ff_target_kind target;
    ff_target_kind emulator;    /* kind of the robot: the same */
    ff_emulate_joint emulation; /* target: flexible-joint, and what both kinds share */
    ff_emulate_arms arms;       /* target: arm */
    ff_arm_device emulator_at;  /* where the robot is, on devices */
} ff_scenario;

/* Value of a load at time t: zero outside [from, to). halfsine: sin(pi s), sin2: sin^2(pi s), s =
 * (t-from)/(to-from). */
ff_rigid_load ff_load_at(const ff_load *load, double t);
/* Sum of the loads on one body at time t. */
ff_rigid_load ff_scenario_load_at(const ff_scenario *scenario, int body, double t);
/* What the joints of the robot that emulates may do, on devices. */
void ff_scenario_emulator_limits(const ff_scenario *scenario, ff_joint_limits *limits);
/* Does a limit of `safety` act in virtual time: is any named? */
bool ff_scenario_watched(const ff_scenario *scenario);
/* Is any key of `limits` or a limit of `safety` named? */
bool ff_scenario_bounded(const ff_scenario *scenario);
/* Does the scenario's method command ahead, and correct what it foresaw? */
bool ff_scenario_predicts(const ff_scenario *scenario);
/* Those of one satellite; the others FF_INF. How it stops is set in any case. */
ff_safety_limits ff_scenario_watched_limits(const ff_satellite *satellite);
/* What the answers to one robot keep: the smaller of `limits` and of these limits where one is finite, else
 * what `otherwise` says, whose resolutions are taken over. A target lasts five cycles. */
void ff_scenario_output(const ff_satellite *satellite, const ff_safety_limits *safety, double cycle,
                        const ff_output_config *otherwise, ff_output_config *output);
/* The same in virtual time: nothing is bounded but what the scenario names; where its method predicts,
 * acceleration and jerk are (50 m/s2, 5e4 m/s3, 100 rad/s2, 1e5 rad/s3): a correction of the past is a step
 * of the command. */
void ff_scenario_watched_output(const ff_scenario *scenario, int body, ff_output_config *output);
/* The satellite with an arm, -1 if there is none. */
int ff_scenario_servicer(const ff_scenario *scenario);
/* Its gripper. */
ff_tree_frame ff_scenario_gripper(const ff_satellite *satellite);
/* Its tree: base and arm. link[FF_MAX_ARM_LINKS] is the caller's; names stay the scenario's. */
void ff_scenario_tree(const ff_satellite *satellite, ff_tree_config *tree, ff_tree_link_config *link);

/* A tree in memory of its own size. */
typedef struct ff_tree_memory {
    ff_tree_model *model;
    ff_tree_work *work;
    void *memory[2];
} ff_tree_memory;
/* Which tree of a satellite with an arm: the orbit's on its free base; on a base that is carried, the
 * orbit's arm; and on such a base the arm that is really there. */
typedef enum ff_tree_kind { FF_TREE_ORBIT, FF_TREE_CARRIED, FF_TREE_GROUND } ff_tree_kind;
/* FF_OK; FF_ERR_MEMORY, what ff_tree_validate says, with a sentence and nothing held. Zero it before. */
ff_status ff_tree_memory_open(const ff_satellite *satellite, ff_tree_kind kind, ff_tree_memory *memory,
                              char *message, size_t size);
void ff_tree_memory_close(ff_tree_memory *memory);

/* What the loop's body with joints points to. */
typedef struct ff_joints_memory {
    ff_tree_memory tree;
    void *work;
} ff_joints_memory;
/* Into config->joints of a scenario with an arm; else nothing. FF_OK, or as ff_tree_memory_open. */
ff_status ff_scenario_joints(const ff_scenario *scenario, ff_loop_config *config, ff_joints_memory *memory,
                             char *message, size_t size);
void ff_joints_memory_close(ff_joints_memory *memory);
/* The nominal motion at t = 0 (also where the frame is absolute and nothing uses it). */
ff_rigid_state ff_scenario_nominal(const ff_scenario *scenario);
/* For each contact how far from touching the scenario provably stays [m]; 0: it may touch. clearance has room
 * for FF_MAX_CONTACTS. */
void ff_scenario_clearance(const ff_scenario *scenario, double *clearance);
/* The loop's configuration for this scenario; what its joints point to: ff_scenario_joints. */
void ff_scenario_loop(const ff_scenario *scenario, ff_loop_config *loop);

/* A loop in memory of its own size. */
typedef struct ff_loop_memory {
    ff_loop_model *model;
    ff_loop_state *state;
    size_t model_bytes, state_bytes;
    const ff_method_library *library; /* that it came from; NULL: malloc */
} ff_loop_memory;
/* Takes the memory that the configuration needs and creates the model; the state is to be reset. On failure
 * nothing is held and `message` says why. library: of the method, NULL for one that is built in. */
ff_status ff_loop_memory_open(const ff_loop_config *config, const ff_method_library *library,
                              ff_loop_memory *memory, char *message, size_t size);
void ff_loop_memory_close(ff_loop_memory *memory);

/* That the scenario's method came from; NULL: it is built in. */
const ff_method_library *ff_scenario_library(const ff_scenario *scenario);
/* The method that a word names, which the scenario may be run with: a library's with its defaults, unless the
 * scenario has settings for it. NULL, and one line in `message`: there is none. */
const ff_method *ff_scenario_take_method(ff_scenario *scenario, const ff_catalog *catalog, const char *word,
                                         char *message, size_t size);
/* The scenario is run with the method that a caller brings, and these bytes as its settings; library and
 * method are the caller's. False: it has as many as it can. */
bool ff_scenario_bring_method(ff_scenario *scenario, const ff_method_library *library, const void *settings,
                              size_t bytes);
/* "ideal", or the method's. */
const char *ff_scenario_method_name(const ff_scenario *scenario);
/* The settings of the scenario's method as one line: "a: 1, b: 2". */
void ff_scenario_settings_text(const ff_scenario *scenario, char *text, size_t size);
/* What the scenario says to a method; NULL: it is none of those that the scenario was read with. */
ff_settings *ff_scenario_setting(ff_scenario *scenario, const ff_method *method);
/* `contact_wrench` for one satellite: held over the cycle, or an impulse at its start. */
bool ff_scenario_holds(const ff_scenario *scenario, int body);

/* One override of --set: "path=value". */
typedef struct ff_scenario_options {
    const char *const *set; /* count strings "path=value" */
    int sets;
    const char *method;        /* --method, or NULL */
    const ff_catalog *catalog; /* may be NULL */
    bool all;                  /* every mistake, a line each in the message; else the first */
    /* Where the files that the scenario names are found instead of on the disk, e.g. in a log; NULL: on the
     * disk. False: not there. The text must outlive the call. */
    bool (*file)(void *self, const char *name, const char **text, size_t *length);
    void *file_self;
    ff_held *held; /* keeps what is read from the disk, and outlives the scenario; NULL: nothing is kept */
} ff_scenario_options;

/* KEY=VALUE of a method's variant, as --methods and campaigns write it, into `set` with its full path: a key
 * of the scenario's top (integrator) or with dots stands as it is, any other belongs to the method's own
 * section. false: it does not fit. */
bool ff_scenario_variant_set(const char *method, const char *text, size_t length, char *set, size_t size);

/* Where a file is that the scenario at `path` names: from its folder. */
void ff_scenario_place(const char *path, const char *name, char place[FF_FILE_PATH]);
/* Reads a file. FF_OK; FF_ERR_IO, FF_ERR_FORMAT, FF_ERR_UNSUPPORTED where only the method cannot run it
 * (message is the one line for the user). warnings: one line
 * each, newline separated (may be empty). */
ff_status ff_scenario_load(const char *path, const ff_scenario_options *options, ff_scenario *scenario,
                           char *message, size_t size, char *warnings, size_t warnings_size);
/* The same from memory; `label` stands for FILE in messages. */
ff_status ff_scenario_parse(const char *label, const char *text, size_t length,
                            const ff_scenario_options *options, ff_scenario *scenario, char *message,
                            size_t size, char *warnings, size_t warnings_size);

/* A scenario to be read again and again with other values at a few paths, without parsing the text again:
 * campaigns make one for each thread. Every reading is checked as a file would be. */
typedef struct ff_scenario_template ff_scenario_template;

typedef struct ff_scenario_slot {
    const char *path;         /* as in --set */
    const char *argument;     /* what messages about this value start with; must outlive the template */
    const char *const *items; /* YAML texts to choose from by number; may be NULL */
    int count;
} ff_scenario_slot;

typedef struct ff_scenario_value {
    int item;         /* >= 0: one of the slot's items */
    const char *text; /* otherwise a plain scalar, e.g. "0.004" */
} ff_scenario_value;

/* options as for ff_scenario_parse (may be NULL). FF_OK with *out to be freed; FF_ERR_FORMAT, FF_ERR_MEMORY
 * with a message, also when a slot's path leads nowhere. */
ff_status ff_scenario_template_create(const char *label, const char *text, size_t length,
                                      const ff_scenario_options *options, const ff_scenario_slot *slots,
                                      int count, ff_scenario_template **out, char *message, size_t size);
/* values: one for each slot. Allocates nothing. */
ff_status ff_scenario_template_read(ff_scenario_template *model, const ff_scenario_value *values,
                                    ff_scenario *scenario, char *message, size_t size);
void ff_scenario_template_free(ff_scenario_template *model);

/* Writes docs/scenario.md's tables from the schema. */
ff_status ff_scenario_write_reference(const char *path);

#endif
