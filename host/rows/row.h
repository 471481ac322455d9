/* rows/row.h - one cycle of one run, as every consumer sees it: log, metrics, report, telemetry. */
#ifndef FF_ROWS_ROW_H
#define FF_ROWS_ROW_H

#include "rows/tuned.h"

/* On devices: the robot's axes, and its controller's clock as fitted to ours. */
typedef struct ff_row_device {
    bool has_joints, has_clock;
    ff_arm_joints joints; /* measured */
    double drift;         /* its seconds over ours, minus 1 */
    double offset;        /* [s] our time minus its own at its newest telegram */
    double residual, rms; /* [s] of the newest telegram's arrival, + late; of all */
} ff_row_device;

typedef struct ff_row_body {
    ff_rigid_state satellite;     /* at t_k */
    ff_rigid_state ideal;         /* at t_k; FF_NAN without a reference */
    ff_setpoint command;          /* what the robot is really sent at t_k, in the frame the robots move in */
    double lag;                   /* [m] from it to what the loop commands */
    bool limited;                 /* it is not what the loop commands */
    ff_setpoint robot;            /* where the robot really is, in that frame */
    ff_setpoint inertial;         /* the robot's motion in the inertial frame: robot unless relative */
    ff_wrench measured_b;         /* F_e, robot's body axes */
    ff_wrench corrected_b;        /* F_c, satellite's body axes */
    ff_twist velocity_correction; /* V_pc */
    ff_rigid_load load;
    /* the loop's input: enough to repeat the step */
    ff_wrench_in sensor; /* what the devices said */
    ff_sent sent;        /* what the robot was sent in the cycle before */
    ff_energy energy;    /* ledger before this cycle's step */
    bool in_contact;     /* says the method */
    bool settling;       /* so does it: what a contact did may still be corrected */
    double observer[6];  /* [J] FF_NAN where there is none */
    /* of the touched surface, over this contact so far; FF_NAN where nothing is identified */
    int reports; /* what the method reports of the last contact, by its columns; 0: nothing */
    double report[FF_METHOD_VALUES];
    ff_row_device device;
    double identified_stiffness, identified_damping, identified_damping_sd; /* [N/m], [N s/m], [N s/m] */
} ff_row_body;

/* Of the satellite with an arm. */
typedef struct ff_row_servicer {
    double q[FF_MAX_ARM_LINKS], qd[FF_MAX_ARM_LINKS]; /* measured joints */
    ff_wrench thrust;                                 /* F_b, base axes, about the base's origin */
    double torque[FF_MAX_ARM_LINKS];                  /* tau of the on-board software */
    double motor[FF_MAX_ARM_LINKS];                   /* of the motors on the ground, (22) */
    bool thrust_saturated, motor_saturated;
    int phase;  /* says the on-board software */
    int action; /* ff_obsw_action: 0 its answer acts, 1 its last one does, 2 nothing does */
    /* monitors of destefano2021, IV; FF_NAN: not reported */
    double W_c;        /* [J] (25) */
    double W_a, delta; /* (24), in the software's own unit */
    double port_power; /* [W] (28): (V_a - V_c) . F_e */
    double bound;      /* [m/s, rad/s] (29): not positive */
} ff_row_servicer;

typedef struct ff_row {
    uint64_t k;
    double t;      /* [s] k * cycle */
    double rested; /* [s] on devices, for who watches: what has passed outside of the run's time; stamps are
                      of t and this */
    bool final;    /* the state at the end: no wrench was measured any more */
    ff_status status; /* of the loop's step */
    double compute_ns;
    double lateness_ns, io_ns; /* on devices: of the wake-up, of receiving and sending */
    uint64_t missed;           /* on devices: cycles without a telegram so far */
    uint64_t dropped;          /* samples that the ring to the viewer did not take, so far */
    bool aside;      /* on devices: no cycle of the run; kept only for the last 2 s before a fault */
    unsigned bounds; /* FF_BOUND_...: bounds of the identification that acted */
    ff_row_body body[FF_MAX_BODIES];
    ff_vec3 contact_force[FF_MAX_CONTACTS]; /* [N] true force of each contact on its body, inertial */
    bool touching[FF_MAX_CONTACTS];
    ff_tuned tuned; /* what orders can change, as this cycle's step had it; it stays until it is got again */
    ff_row_servicer servicer; /* where the scenario has an arm */
} ff_row;

/* Starts the row of cycle k with the satellites as the loop holds them before its step. What ff_row_loop and
 * ff_row_sent fill is not cleared, nor what this scenario does not use: a row's memory is zero before its
 * first cycle. */
void ff_row_begin(const ff_scenario *scenario, const ff_loop_state *state, uint64_t k, bool final,
                  ff_row *row);
/* Adds what went into the loop's step and came out of it. */
void ff_row_loop(const ff_scenario *scenario, const ff_loop_model *model, const ff_loop_state *state,
                 const ff_loop_in *in, const ff_loop_out *out, ff_status status, ff_row *row);
/* And what was really sent of its commands. */
void ff_row_sent(const ff_scenario *scenario, const ff_sent *sent, ff_row *row);
/* Without a last step: the outputs of the final row. */
void ff_row_settle(const ff_scenario *scenario, ff_loop_out *out);
/* A reference that is not there. */
ff_rigid_state ff_row_no_reference(void);

#endif
