/* freefloat/method.h - what a method of stage 3 is: one constant table. The methods of this library and those
 * in a shared object of somebody else are written against this header alone; docs/methods.md walks through
 * one. A shared object exports `const ff_method *ff_method_entry(uint32_t abi)` and nothing else.
 *
 * A method is given the conditioned wrench and motion of every robot, what stage 2 detected, and the
 * satellites at t_k. It answers with the wrench that the satellites should feel in this cycle, or with the
 * satellites at t_(k+1) themselves. SI units throughout; wrenches are about the centre of mass in body axes,
 * velocities inertial, rates in body axes. */
#ifndef FREEFLOAT_METHOD_H
#define FREEFLOAT_METHOD_H

#include "freefloat/contact.h"
#include "freefloat/dynamics.h"
#include "freefloat/integrate.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FF_METHOD_ABI 4u /* of everything in this header; another one is refused */

enum {
    FF_METHOD_SETTINGS = 64,       /* settings of a method, at most: `given` has a bit for each */
    FF_METHOD_SETTING_BYTES = 512, /* of a method's struct of settings, at most */
    FF_METHOD_VALUES = 40,         /* of a report, at most */
    FF_METHOD_TEXT = 500,          /* bytes of one text of a table, at most */
    FF_METHOD_WORDS = 64,          /* of a choice or a label, at most */
    FF_METHOD_CONTACTS = 16        /* of ff_world */
};

/* --------------------------------------------------------------------------------------------- settings --
 */

typedef enum ff_setting_type {
    FF_SETTING_REAL,    /* double; with `choice` also that one word, stored as FF_INF */
    FF_SETTING_INTEGER, /* uint64_t */
    FF_SETTING_BOOLEAN, /* bool */
    FF_SETTING_CHOICE,  /* int: index into `choice` */
    FF_SETTING_VECTOR,  /* ff_vec3 */
    FF_SETTING_GROUP,   /* nothing of its own: a map whose keys are the settings named "group.key" */
    FF_SETTING_TOPIC,   /* of a device, not of a method: a ROS topic's name */
    FF_SETTING_NAMES    /* likewise: six or seven names that differ */
} ff_setting_type;

/* One setting, a key of the map in a scenario that is named as the method. Feeds the scenario reader, its
 * reference, and what an operator may tune. A setting named "reading" chooses the variant (see defaults). */
typedef struct ff_setting {
    const char *name;
    ff_setting_type type;
    const char *unit; /* "" none */
    size_t offset;    /* in the method's struct of settings */
    /* The default as it would stand in a file ("0.1", "none": FF_INF, "true"); in round brackets: words,
     * where it depends on the variant or on the world. */
    const char *absent;
    double low, high;           /* range; -FF_INF, FF_INF: any number */
    bool above_low;             /* low itself is outside */
    bool below_high;            /* high itself is outside */
    const char *const *choice;  /* words, NULL at the end */
    const char *help;           /* one line */
    const char *effect;         /* of changing it in a running loop, one line; NULL: that is not allowed */
    double tune_low, tune_high; /* range for that */
    double initial;             /* the default as a number, where the method has no function `defaults` */
} ff_setting;

/* One real setting that is a field of `type`, its default and its closed range. */
#define FF_SETTING_OF(type_, field, unit_, default_, low_, high_, help_)                            \
    {                                                                                               \
        .name = #field, .type = FF_SETTING_REAL, .unit = (unit_), .offset = offsetof(type_, field), \
        .absent = #default_, .low = (low_), .high = (high_), .initial = (default_), .help = (help_) \
    }

/* Settings of one method as they are passed on: the method's own struct, and which of them were given. A
 * setting that was not given is the method's to choose, see `resolve`. */
typedef struct ff_settings {
    uint64_t given; /* bit n: setting n of the table */
    double bytes[FF_METHOD_SETTING_BYTES / sizeof(double)];
} ff_settings;

/* Why a method refuses; both texts are constants of the method. */
typedef struct ff_complaint {
    const char *setting; /* the one to blame; "" none */
    const char *text;    /* cause, and what is allowed */
} ff_complaint;

/* ------------------------------------------------------------------------------------------------ world --
 */

/* What may be known of one satellite and its robot. */
typedef struct ff_world_body {
    ff_rigid_model rigid; /* of a tree: as it is at the start */
    ff_rigid_state start; /* at t = 0 */
    double delay;         /* [s] dead time from a command to the motion */
    double lag;           /* [s] by which the robot follows a ramp later than that */
    double acceleration;  /* [m/s2] the robot's limit; 0: none */
    bool yields;          /* its axes do, behind their motors: samples come with their gears */
    bool carries_surface; /* of two bodies that touch, this one has the surface and the other the tip */
    bool bodies_only;     /* nothing fixed is within its reach: what touches it is another body */
} ff_world_body;

typedef enum ff_world_shape { FF_SHAPE_PLANE, FF_SHAPE_CONE } ff_world_shape;

/* One pair of tools whose shape is known: a tip of `body` against a plane or cone of `against`. */
typedef struct ff_world_contact {
    ff_world_shape shape;
    int body;
    int against;                                   /* -1: fixed in the inertial frame */
    ff_vec3 point;                                 /* [m] the tip, body frame of `body` */
    ff_vec3 at, normal;                            /* plane, frame of `against`; unit, to the free side */
    ff_vec3 apex, axis;                            /* cone, frame of `against`; unit, out of its mouth */
    double half_angle;                             /* [rad] */
    double depth;                                  /* [m] of the cone along its axis; FF_INF */
    double stiffness, damping;                     /* k_e [N/m], d_e [N s/m]: the mock-ups' */
    double satellite_stiffness, satellite_damping; /* k_d, d_d: the satellites' */
    double damping_depth;                          /* [m] over which dampings grow from zero; 0: constant */
    double friction;                               /* Coulomb coefficient; 0: forces are normal */
} ff_world_contact;

/* Two bodies that hold each other. */
typedef struct ff_world_grasp {
    int body, against; /* body holds against; -1: none */
    ff_vec3 point;     /* [m] the gripper in the frame of `body`, from its CoM */
} ff_world_grasp;

/* All that a method may know. The loop fills the bodies' models, and withholds contacts and grasp from a
 * method that does not name them in `needs`. */
typedef struct ff_world {
    ff_integrate_config integrate; /* scheme and cycle */
    int bodies;
    ff_world_body body[FF_MAX_BODIES];
    double force_noise;  /* [N] standard deviation of one axis of the sensors, the largest */
    double torque_noise; /* [N m] likewise */
    bool noisy;          /* real noise: worth being measured in flight */
    bool stops;          /* all that is touched are stops along the inertial axes and about the body's own */
    double skew;         /* [s] by which a force is older than the pose that comes with it */
    ff_world_grasp grasp;
    int contacts;
    ff_world_contact contact[FF_METHOD_CONTACTS];
    double pose_noise, velocity_noise; /* [m], [m/s] of one axis of what robots report, the largest */
    double sensor_lag;                 /* [s] time constant of the sensors' low pass, the largest; 0: none */
    bool offset;                       /* a sensor may read something without a load, and drift */
    bool swings; /* a mock-up bends: what is felt at its tip is estimated, and swings about the truth */
} ff_world;

/* -------------------------------------------------------------------------------------------- one cycle --
 */

/* A robot whose axes yield behind their motors: I d'' + D d' + K d = J^T f - I m''. */
typedef struct ff_gears {
    double J[6][6];                              /* at the CoM, inertial axes, angular first; by axis */
    double motor[6];                             /* [rad] */
    double stiffness[6], damping[6], inertia[6]; /* K [N m/rad], D [N m s/rad], I [kg m2]; I 0: none */
} ff_gears;

/* What one body's robot and sensor say in one cycle, after stage 1. */
typedef struct ff_body_sample {
    ff_wrench f_b;                 /* contact wrench about the CoM, robot's body axes */
    ff_pose T_wr;                  /* measured robot pose at the time of the force */
    ff_twist twist_r;              /* its velocity: w body, v inertial */
    ff_vec3 carried;               /* [m/s] part of the motion that the robot does not make, inertial: that of
                                      the nominal motion at its place; zero unless relative */
    ff_rigid_load load;            /* known load on the satellite in this cycle */
    const double (*compliance)[6]; /* of the robot at the CoM, inertial axes, angular first: twist
                                      displacement per wrench [rad, m per N m, N]; NULL: stiff */
    bool valid;                    /* false: f_b repeats the last good value and must not be learnt from */
    const ff_gears *gears;         /* of the same robot; NULL: stiff. T_wr is where its motors are */
} ff_body_sample;

/* What one robot was really sent in the cycle before. A command inside the limits of the robot's output stage
 * is sent as it is; else the robot is led after it (freefloat/output.h). */
typedef struct ff_sent {
    ff_setpoint to; /* in the robots' frame, where `frame: relative` to the nominal motion of then */
    double lag;     /* [m] from it to what was commanded */
    bool limited;   /* it is not what was commanded */
} ff_sent;

typedef struct ff_method_in {
    double cycle;                     /* [s] from t_k to t_(k+1) */
    int bodies;                       /* rows of all that follows */
    const ff_rigid_state *body;       /* satellites at t_k */
    const ff_rigid_model *rigid;      /* and their models in this cycle: a tree's change with its joints */
    const ff_body_sample *sample;     /* robots and sensors */
    const ff_detection *detected;     /* stage 2, by the method's thresholds; all zero without detection */
    const ff_integrate_state *output; /* velocity that the robots were commanded: V_c(k) */
    const ff_sent *sent;              /* in the cycle before: where a limit acts, not what was commanded */
    ff_vec3 grasp_point;              /* [m] of ff_world.grasp, in this cycle */
    /* Only where a body has joints, else NULL: each body's view in this cycle, and its frame at t_k (with
     * joints the base's). Then body[] and sample[] of a body with joints are those of its port: the locked
     * body as it would move if it moved as the port does (ff_view_ride). */
    const ff_body_view *const *view;
    const ff_rigid_state *base;
} ff_method_in;

/* Preset by the caller: no wrench, nothing known, body as in ff_method_in. */
typedef struct ff_method_out {
    ff_wrench f_b[FF_MAX_BODIES]; /* wrench to integrate, satellite's body axes */
    bool in_contact[FF_MAX_BODIES];
    bool settling[FF_MAX_BODIES];          /* a contact is over, but what it did may still be corrected */
    ff_rigid_state body[FF_MAX_BODIES];    /* satellites at t_k, rewritten by one that recomputes the past */
    bool has_command;                      /* the method predicts its own command */
    ff_rigid_state command[FF_MAX_BODIES]; /* then: motion to command at t_k; with joints: the base's */
    double lead[FF_MAX_BODIES];            /* [s] and how far after t_k that motion lies */
    ff_rigid_state next_command[FF_MAX_BODIES]; /* and at t_(k+1), unless the next step changes it */
    bool has_next[FF_MAX_BODIES];               /* the method advanced this body itself, finer than a cycle */
    ff_rigid_state next[FF_MAX_BODIES];         /* then: the satellite at t_(k+1); f_b is the mean wrench */
    int look_back;                              /* cycles recomputed in this step, 0: none */
    double observer[FF_MAX_BODIES][6];          /* [J] after dissipation; [0][0] alone unless per axis */
    int observers; /* 0: the method has none; 1: one for all bodies; 6: six for each */
    /* of the surface that each body touches, over this contact so far; FF_NAN: nothing is known */
    double stiffness[FF_MAX_BODIES];  /* [N/m] */
    double damping[FF_MAX_BODIES];    /* [N s/m] */
    double damping_sd[FF_MAX_BODIES]; /* [N s/m] */
    unsigned bounds;                  /* FF_BOUND_... that acted in this cycle */
} ff_method_out;

/* ---------------------------------------------------------------------------------------------- report ---
 */

typedef enum ff_report_type {
    FF_REPORT_REAL, /* FF_NAN: not known */
    FF_REPORT_INTEGER,
    FF_REPORT_BOOLEAN,
    FF_REPORT_CHOICE, /* index into `label` */
    FF_REPORT_FLAGS,  /* bit mask; label: the text for none, the text before a list, then one for each bit */
    FF_REPORT_VECTOR  /* three values */
} ff_report_type;

/* What a method reports beyond ff_method_out: of the last contact of each body, or of the whole run. */
typedef struct ff_report_column {
    const char *name; /* key in summary.json, with its unit */
    const char *unit;
    ff_report_type type;
    bool run; /* of the run, not of a body */
    const char *const *label;
    const char *help;
} ff_report_column;

/* ----------------------------------------------------------------------------------------------- method --
 */

enum {                          /* needs: what the loop withholds otherwise */
       FF_NEEDS_GEOMETRY = 1,   /* shapes, places and laws of the contacts */
       FF_NEEDS_GRASP = 2,      /* which bodies hold each other, and where */
       FF_NEEDS_COMPLIANCE = 4, /* of the robots' gears */
       FF_NEEDS_DETECTION = 8   /* stage 2: contacts that begin and end */
};
enum {                      /* can */
       FF_CAN_TREE = 1,     /* bodies whose inertia changes: with an arm */
       FF_CAN_RELATIVE = 2, /* robots that make the motion relative to a nominal one */
       FF_CAN_PREDICT = 4 /* the satellites have their own contact, apart from the late robots': the past and
                             the present are recomputed (`body` is rewritten), commands lie ahead */
};

/* A method. Model and state are memory of the caller, aligned as malloc's, that may be moved by memcpy: no
 * pointers into themselves, no globals, no allocation, no system calls, and a step of bounded duration. Two
 * instances in turn give the bits of each alone. Only `step` must be there: what is NULL is done as said. */
typedef struct ff_method {
    uint32_t abi, size;  /* FF_METHOD_ABI, sizeof(ff_method) */
    const char *name;    /* as in a scenario: letters, digits, - and _ */
    const char *version; /* of the method: "1" */
    const char *help;    /* one line */
    uint32_t needs, can;
    const ff_setting *setting;
    uint32_t settings, setting_bytes;
    uint32_t variants; /* 2: also `reading: printed`; else the default alone */
    const ff_report_column *column;
    uint32_t columns;
    size_t model_bytes, state_bytes; /* of a method without `bytes` */

    /* Settings of a variant; those in brackets that depend on the world are filled by resolve. NULL:
     * `initial` of each in the table. */
    void (*defaults)(int variant, void *settings);
    /* Settings that were not given, from the world; NULL: none do. */
    void (*resolve)(const ff_world *world, uint64_t given, void *settings);
    /* FF_OK, FF_ERR_ARGUMENT, FF_ERR_UNSUPPORTED ...; then *complaint says why. world NULL: the settings
     * alone are checked, not yet resolved. NULL: the ranges of the table say all. */
    ff_status (*check)(const ff_world *world, const void *settings, uint64_t given, ff_complaint *complaint);
    /* Of the model; *state of the state. NULL: model_bytes and state_bytes. A method with it needs `create`
     * and `reset`, too: what they fill is not known otherwise. */
    size_t (*bytes)(const ff_world *world, const void *settings, size_t *state);
    /* world and settings have passed check; settings are resolved. NULL: the model is the struct of settings.
     */
    void (*create)(const ff_world *world, const void *settings, uint64_t given, void *model);
    /* In a running loop: another noise, delay or skew, other tunable settings. FF_OK, or a fault and the
     * model is as it was. The sizes do not change. NULL: create does it. */
    ff_status (*update)(void *model, const ff_world *world, const void *settings, uint64_t given);
    /* Thresholds of stage 2 for this method; *config is preset to those of the noise (ff_world_detector).
     * NULL: these, with FF_NEEDS_DETECTION; without it nothing is detected. */
    void (*detector)(const void *model, ff_detector_config *config);
    /* NULL: the state is zero. */
    void (*reset)(const void *model, const ff_rigid_state *body, void *state);
    /* [s] how far ahead the commands of a body are; NULL: it commands the present. */
    double (*lead)(const void *model, const void *state, int body);
    /* Cycle k of all bodies together: a contact between two satellites is one exchange of energy. FF_OK; or a
     * fault, which holds the robots. */
    ff_status (*step)(const void *model, void *state, const ff_method_in *in, ff_method_out *out);
    /* Values of the columns of `body`, or of the run (body < 0), one after the other; NULL: no columns. */
    void (*report)(const void *model, const void *state, int body, double *values);
} ff_method;

/* The beginning of a table; and its settings: an array of ff_setting for a struct. */
#define FF_METHOD(name_, version_, help_) \
    .abi = FF_METHOD_ABI, .size = sizeof(ff_method), .name = (name_), .version = (version_), .help = (help_)
#define FF_METHOD_TAKES(table, type_) \
    .setting = (table), .settings = sizeof(table) / sizeof *(table), .setting_bytes = sizeof(type_)

/* What a shared object exports: its table, or NULL when it was built for another abi. */
typedef const ff_method *ff_method_entry_function(uint32_t abi);

/* The same for the table of that name, at the end of a file. */
#define FF_METHOD_EXPORT(table)                                                            \
    __attribute__((visibility("default"))) const ff_method *ff_method_entry(uint32_t abi); \
    const ff_method *ff_method_entry(uint32_t abi) {                                       \
        return abi == FF_METHOD_ABI ? &(table) : NULL;                                     \
    }

/* ----------------------------------------------------------------------------------------- with settings --
 */

/* Is the table whole: abi and size, name, texts of one line, functions, bits that are known, settings with
 * unique names, types, ranges and aligned places of their own inside the struct, columns with unique names
 * and types that fit a report. FF_ERR_ARGUMENT, and *why (may be NULL) says what is wrong. */
ff_status ff_method_validate(const ff_method *method, const char **why);
/* What the table's functions of these names do, or what stands for one that is NULL. */
ff_status ff_method_check(const ff_method *method, const ff_world *world, const void *settings,
                          uint64_t given, ff_complaint *complaint);
size_t ff_method_bytes(const ff_method *method, const ff_world *world, const void *settings, size_t *state);
void ff_method_create(const ff_method *method, const ff_world *world, const void *settings, uint64_t given,
                      void *model);
ff_status ff_method_update(const ff_method *method, void *model, const ff_world *world, const void *settings,
                           uint64_t given);
void ff_method_reset(const ff_method *method, const void *model, const ff_rigid_state *body, void *state);
/* Thresholds of stage 2 as the world's noise asks for them: five standard deviations, of what is known and,
 * if it is real noise, of what is measured in flight. Of three axes of pure noise about 1.5e-5 of the samples
 * are longer. */
void ff_world_detector(const ff_world *world, ff_detector_config *config);
/* The stage's detector for a method; false: it has none. */
bool ff_method_detector(const ff_method *method, const ff_world *world, const void *model,
                        ff_detector_config *config);
/* Index of a setting in the table; -1: there is none of that name. */
int ff_setting_find(const ff_method *method, const char *name);
/* The defaults of a variant, nothing given. */
void ff_settings_default(const ff_method *method, int variant, ff_settings *settings);
/* One setting as a number: a boolean 0 or 1, a choice its index; and it is given. FF_ERR_ARGUMENT when there
 * is none of that name, or outside its range. */
ff_status ff_settings_set(const ff_method *method, ff_settings *settings, const char *name, double value);
/* The same as a number; FF_NAN: it is a vector or a group. */
double ff_setting_value(const ff_setting *setting, const ff_settings *settings);
/* The one of that name; FF_NAN also: there is none. */
double ff_settings_get(const ff_method *method, const ff_settings *settings, const char *name);
/* Is every setting whose default is not in brackets inside its range. FF_ERR_ARGUMENT, and *name (may be
 * NULL) is the first that is not. */
ff_status ff_settings_validate(const ff_method *method, const ff_settings *settings, const char **name);
/* The setting is the method's to choose again. */
void ff_settings_forget(const ff_method *method, ff_settings *settings, const char *name);
/* Values of the columns of a body (run: of the run) in one report. */
int ff_method_values(const ff_method *method, bool run);
/* One of them in `values`; NULL: there is no column of that name. */
const double *ff_method_value(const ff_method *method, bool run, const double *values, const char *name);

#ifdef __cplusplus
}
#endif
#endif
