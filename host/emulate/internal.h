/* What the solver, its right-hand sides and the samples of an emulation share. */
#ifndef FF_EMULATE_INTERNAL_H
#define FF_EMULATE_INTERNAL_H

#include "emulate/bounds.h"
#include "emulate/emulate.h"

#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

enum {
    STATE_MAX = 2 * FF_EMULATION_POSITIONS_MAX + 2 * FF_EMULATION_DOF_MAX + 32,
    STEPS_MAX = 100000 /* of the solver, within one sample */
};

/* Contact of one end effector, with the signs of depth and force fixed between events, so that the solver
 * sees a smooth right-hand side. */
typedef struct touch {
    bool inside, pushing; /* depth > 0; stiffness d + damping d' > 0 */
    double first;         /* [s] */
    double peak;          /* [N] */
} touch;

typedef struct run run;
typedef struct system_side {
    run *r;
    bool direct;
    size_t size;
    touch touch;
    double y[STATE_MAX];
    void *cvode;
    N_Vector vector;
    SUNNonlinearSolver solver;
    ff_status fault;
} system_side;

struct run {
    const ff_emulate_config *c;
    ff_emulation_model model;
    ff_emulation_work work;
    ff_emulation_out out;
    ff_emulation_state state; /* sampled: lib's own */
    ff_mechanism_terms terms;
    double held[FF_EMULATION_TASK_MAX]; /* [N m] sampled: torque at the motor's input */
    ff_emulate_reading reading;         /* sampled: of this cycle */
    double f_r[FF_EMULATION_TASK_MAX];  /* true contact force of the last evaluation */
    double p_dd[FF_EMULATION_TASK_MAX]; /* true task acceleration of the last evaluation */
    bool lagged;                        /* actuators with a bandwidth are states */
    ff_rng rng;
    SUNContext sun;
    system_side robot, direct;
    ff_emulate_bounds bounds;
    bool damped, limited;
};

/* emulate.c: the solver of one side, and the controller's part of a run. */
ff_status ff__emulate_start_side(run *r, system_side *side);
void ff__emulate_end_side(system_side *side);
/* Integrates one side to `to`, restarting at each event. */
ff_status ff__emulate_advance(run *r, system_side *side, double *t, double to, bool restart);
/* In contact or not, by where the side stands now. */
void ff__emulate_touch(system_side *side);
ff_status ff__emulate_check(const ff_emulate_config *c, char *message, size_t size);
ff_status ff__emulate_begin_controller(run *r, char *message, size_t size);
ff_status ff__emulate_control(run *r, double t, double T, const ff_emulate_reading *reading);

/* Depth and force of the wall at this pose and velocity, whatever their signs. */
void ff__emulate_wall_gap(const ff_emulate_config *c, const ff_mechanism *m, const ff_task_pose *pose,
                          const double *velocity, double *depth, double *force);
/* Generalized force of the target's motors. */
void ff__emulate_target_force(const ff_emulate_config *c, double t, const double *q, const double *v,
                              const double *f, double *force);
/* Numbers that hold a task pose. */
size_t ff__emulate_reference_size(const ff_mechanism *m);
/* J v. */
void ff__emulate_task_velocity(const ff_mechanism *m, const ff_mechanism_terms *terms, const double *v,
                               double *out);
/* Joint and task acceleration under a torque and the contact force. */
ff_status ff__emulate_robot_acceleration(run *r, const ff_mechanism_terms *terms, const double *torque,
                                         const double *f, double *v_dot, double *p_dd);
/* Of the robot, its actuators and a controller that does not sample: what r->robot.y holds. */
ff_status ff__emulate_robot_rates(run *r, double t, const double *y, double *dy);
/* Of the target alone, in contact itself. */
ff_status ff__emulate_direct_rates(run *r, double t, const double *y, double *dy);

#endif
