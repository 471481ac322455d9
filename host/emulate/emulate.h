/* emulate/emulate.h - runs an emulation against the target simulated directly [aghili].
 *
 * Three mechanisms: the target, the robot as it is, and the robot as its controller believes it to be. The
 * robot meets a wall; a copy of the target, simulated directly against the same wall, is the truth the run is
 * compared with. Both are solved by SUNDIALS with the contact's events located. `continuous` evaluates the
 * controller inside the solver; `sampled` calls lib's step once a cycle, holds the torque, and integrates the
 * plant between. */
#ifndef FF_EMULATE_EMULATE_H
#define FF_EMULATE_EMULATE_H

#include "scenario/emulation.h"

typedef struct ff_emulate_actuator {
    double bandwidth;                         /* [rad/s] first order; FF_INF: ideal */
    double delay;                             /* [s] pure; sampled controllers only */
    double torque_max[FF_EMULATION_TASK_MAX]; /* [N m] what the motor can give; FF_INF */
} ff_emulate_actuator;

typedef struct ff_emulate_sensor {
    double force_noise;                       /* [N] or [N m] sd, sampled controllers only */
    double force_bias[FF_EMULATION_TASK_MAX]; /* added to the measured force */
    uint64_t seed;
} ff_emulate_sensor;

/* The target's own controller: generalised force B tau_s [m] at its state; f is the contact force it feels.
 */
typedef void (*ff_emulate_motor)(const void *user, double t, const double *q, const double *v,
                                 const double *f, double *force);

/* Resolved rate with force-moment accommodation, the target's controller that Appendix E names: the motors
 * follow q_d' = J^+ (rate + accommodation f) by velocity control, tau = gain (q_d' - q_motor'). */
typedef struct ff_emulate_accommodation {
    const ff_mechanism *target;
    ff_mechanism_terms *terms; /* scratch */
    double rate[FF_EMULATION_TASK_MAX];
    double accommodation; /* [m/(s N)] >= 0 */
    double gain;          /* [N m s/rad] > 0 */
    size_t joints;        /* number of motors: they stand last in q and v */
    bool rigid;           /* no springs: the motors are the joints themselves */
} ff_emulate_accommodation;
void ff_emulate_accommodate(const void *accommodation, double t, const double *q, const double *v,
                            const double *f, double *force);

/* What a robot that is commanded by torques reports at the start of a cycle. */
typedef struct ff_emulate_reading {
    double q[FF_EMULATION_TASK_MAX], v[FF_EMULATION_TASK_MAX]; /* [rad], [rad/s] of its joints */
    double torque[FF_EMULATION_TASK_MAX];                      /* [N m] at them */
    double f[FF_EMULATION_TASK_MAX];      /* contact force as it is measured, task axes */
    double true_f[FF_EMULATION_TASK_MAX]; /* without the sensor's errors; devices: f */
    double p_dd[FF_EMULATION_TASK_MAX];   /* task acceleration; devices: 0 */
} ff_emulate_reading;

/* Such a robot, cycle by cycle: read, then drive. */
typedef struct ff_emulate_robot {
    void *self;
    ff_status (*read)(void *self, ff_emulate_reading *reading);
    ff_status (*drive)(void *self, const double *torque); /* held until the next reading */
} ff_emulate_robot;

typedef struct ff_emulate_config {
    ff_mechanism target, robot, robot_model;
    ff_emulation_config emulation;
    ff_emulate_actuator actuator;
    ff_emulate_sensor sensor;
    ff_emulate_wall wall;
    ff_emulate_motor motor; /* NULL: `torque` constant */
    const void *motor_user;
    double torque[FF_EMULATION_DOF_MAX];    /* [N m] B tau_s */
    double q_s[FF_EMULATION_POSITIONS_MAX]; /* start; the robot's start must show the same end effector */
    double v_s[FF_EMULATION_DOF_MAX];
    double q_r[FF_EMULATION_TASK_MAX], v_r[FF_EMULATION_TASK_MAX];
    double duration, cycle; /* [s] cycle: of the sampled controller and of the time series */
    bool sampled;
} ff_emulate_config;

typedef struct ff_emulate_sample {
    double t;
    double p_r[FF_EMULATION_TASK_MAX]; /* task coordinates; spatial: position in [3..5], rotation vector in
                                          [0..2] */
    double p_direct[FF_EMULATION_TASK_MAX];
    double f[FF_EMULATION_TASK_MAX], f_direct[FF_EMULATION_TASK_MAX], lambda[FF_EMULATION_TASK_MAX];
    double constraint[FF_EMULATION_TASK_MAX], pose_error[FF_EMULATION_TASK_MAX];
    double torque[FF_EMULATION_TASK_MAX];
    double q_s[FF_EMULATION_POSITIONS_MAX], q_direct[FF_EMULATION_POSITIONS_MAX];
    double energy, energy_direct; /* [J] of the simulated target and of the direct one; FF_NAN if not known */
} ff_emulate_sample;

typedef struct ff_emulate_result {
    size_t samples;
    ff_emulate_sample *sample; /* free with ff_emulate_free */
    size_t positions;          /* numbers in q_s */
    double contact_s;          /* first contact of the robot; FF_NAN: none */
    double contact_direct_s;   /* and of the direct target */
    double peak_force;         /* [N] largest |f|, between the samples too */
    double final_force;      /* [N] at the end, along the wall's inward direction: pushing back is negative */
    double pose_error;       /* largest |p_r - p_direct| component [m or rad] */
    double state_error;      /* largest |q_s - q_direct| */
    double contact_error;    /* [N] largest |f - f_direct| */
    double force_error;      /* [N] largest |f - lambda| */
    double constraint;       /* Phi of the largest size, signed */
    double energy_error;     /* [J] largest difference */
    double force_gain_bound; /* [1/kg] Appendix A, the least over the run; FF_INF: the inertia never grows */
    double clik_bound;       /* Theorem 1: what |constraint| stays below with `clik` */
    bool damped, limited;    /* ever */
} ff_emulate_result;

void ff_emulate_default(ff_emulate_config *config);
/* FF_ERR_ARGUMENT, FF_ERR_NOT_FINITE, FF_ERR_REACH (start poses differ), FF_ERR_SINGULAR, FF_ERR_UNSUPPORTED
 * (delay or noise with a continuous controller), FF_ERR_DIVERGED, FF_ERR_CONVERGENCE, FF_ERR_MEMORY; message
 * is one sentence. */
ff_status ff_emulate_run(const ff_emulate_config *config, ff_emulate_result *result, char *message,
                         size_t size);
void ff_emulate_free(ff_emulate_result *result);
/* The same with a robot of the caller's; of a sampled controller. Contact and peak are then those that its
 * readings show. */
ff_status ff_emulate_run_on(const ff_emulate_config *config, const ff_emulate_robot *robot,
                            ff_emulate_result *result, char *message, size_t size);

/* The robot as it is, with its actuators, its sensor and the wall: what `run` drives and `facility` serves.
 * *config is kept. NULL: *why and a sentence, as ff_emulate_run. */
typedef struct ff_emulate_plant ff_emulate_plant;
ff_emulate_plant *ff_emulate_plant_create(const ff_emulate_config *config, char *message, size_t size,
                                          ff_status *why);
void ff_emulate_plant_free(ff_emulate_plant *plant); /* NULL is allowed */
ff_emulate_robot ff_emulate_plant_robot(ff_emulate_plant *plant);
/* A cycle under its brakes: the joints come to rest where they were when these fell in, critically damped
 * with `rate` [rad/s]; the plant's own time stands still. */
void ff_emulate_plant_brake(ff_emulate_plant *plant, double rate);
/* First contact [s], FF_NAN: none; largest force [N], between the readings too. */
void ff_emulate_plant_contact(const ff_emulate_plant *plant, double *first, double *peak);

/* The controller alone, for a loop in real time: a step neither allocates nor waits. *config is kept. */
typedef struct ff_emulate_controller ff_emulate_controller;
ff_emulate_controller *ff_emulate_controller_create(const ff_emulate_config *config, char *message,
                                                    size_t size, ff_status *why);
void ff_emulate_controller_free(ff_emulate_controller *controller); /* NULL is allowed */
/* FF_OK; negative: *torque [n] is the last one. */
ff_status ff_emulate_controller_step(ff_emulate_controller *controller, uint64_t k,
                                     const ff_emulate_reading *reading, double *torque);

/* An emulation as a scenario describes it; the mechanisms of `config` stand in memory of its own. */
typedef struct ff_emulate_machine {
    ff_emulate_config config;
    double length; /* [m] one joint, whose task is an arc; 0: an arm */
    void *memory;
    void (*discard)(void *memory);
} ff_emulate_machine;
void ff_emulate_machine_close(ff_emulate_machine *machine);
/* Figures of one joint become angles. */
void ff_emulate_machine_finish(const ff_emulate_machine *machine, ff_emulate_result *result);
ff_status ff_emulate_joint_open(const ff_emulate_joint *joint, ff_emulate_machine *machine, char *message,
                                size_t size);

/* Warnings, one line each (may be empty): bandwidth below the controller's, Q outside the stable band. */
ff_status ff_emulate_joint_run(const ff_emulate_joint *joint, ff_emulate_result *result, char *message,
                               size_t size, char *warnings, size_t warnings_size);

#endif
