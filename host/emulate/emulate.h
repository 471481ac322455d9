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

/* Warnings, one line each (may be empty): bandwidth below the controller's, Q outside the stable band. */
ff_status ff_emulate_joint_run(const ff_emulate_joint *joint, ff_emulate_result *result, char *message,
                               size_t size, char *warnings, size_t warnings_size);

#endif
