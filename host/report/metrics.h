/* report/metrics.h - what a run is judged by, gathered row by row in fixed memory. */
#ifndef FF_REPORT_METRICS_H
#define FF_REPORT_METRICS_H

#include "ideal/ideal.h"
#include "executive/run.h"

enum { FF_MAX_EPISODES = 4096, FF_END_CYCLES = 5, FF_REQUIREMENTS = 4 };

/* One contact of a run, from its first cycle to the first of five quiet ones. */
typedef struct ff_episode {
    int contact;              /* index into scenario->contact */
    double start, end;        /* [s] end is FF_NAN while open */
    ff_rigid_state before[2]; /* [0] `body`, [1] `against` */
    ff_rigid_state after[2];
    double peak_force[2];      /* [N] on the satellite(s) */
    double peak_robot_force;   /* [N] at the robot's true pose */
    ff_vec3 impulse[2];        /* [N s] of this contact on each satellite, inertial */
    ff_vec3 load_impulse[2];   /* [N s] of the loads on each meanwhile */
    bool by_momentum;          /* the impulse is each satellite's change of momentum less the loads */
    double stiffness, damping; /* identified, FF_NAN where no method does */
    double damping_sd;         /* [N s/m] as the method sees it */
    int bounded;               /* cycles in which a bound of the identification acted */
    /* sums for the contact point and the restitution, over the measured force */
    ff_vec3 point_sum[2];   /* [N2 m] contact point from the tool's, over f^2; axes of `body`, of `against` */
    double force_square[2]; /* [N2] */
    ff_vec3 force_sum;      /* [N] sum of the true force on `body`, inertial: the normal of cones and stops */
    int reports; /* what the method reports, of the last of the surfaces of this contact; 0: nothing */
    double report[FF_METHOD_VALUES];
} ff_episode;

/* How a robot would have to move to make the satellite's motion in one formulation; sampled every 20 ms. */
typedef struct ff_motion_metrics {
    double travel, rotation; /* [m], [rad] largest distance from the start */
    double path, turned;     /* [m], [rad] whole path */
    double moving;           /* [s] faster than 0.1 mm/s or 0.1 mrad/s */
    double ball;             /* [s] first more than 1.744 m from the start; FF_INF: never */
    ff_pose start, last;
} ff_motion_metrics;

enum { FF_MOTION_ABSOLUTE, FF_MOTION_RELATIVE, FF_MOTIONS };

typedef struct ff_body_metrics {
    ff_rigid_state initial, final;
    double initial_energy, final_energy, max_energy;                    /* [J] */
    ff_energy energy;                                                   /* ledger at the end */
    double error_velocity, error_omega, error_position, error_attitude; /* largest against ideal */
    double observer_min[6];
    int observers;
    double max_force_correction, max_torque_correction; /* [N], [N m] */
    double max_velocity_correction, max_omega_correction;
    ff_setpoint robot_initial, robot_final;   /* commanded */
    double travel, rotation;                  /* [m], [rad] largest distance from the start */
    double tracking;                          /* [m] */
    ff_noise_state force_noise, torque_noise; /* of the sensor, measured in flight */
    ff_motion_metrics motion[FF_MOTIONS];     /* whichever frame was run */
} ff_body_metrics;

typedef struct ff_pair_metrics {
    ff_pose final; /* pose of b in a's body frame, from the robots' motion */
    double error_position, error_attitude;
} ff_pair_metrics;

/* Actuation and the monitors of destefano2021, IV, over a run with an arm. */
typedef struct ff_servicer_metrics {
    double max_force, max_torque; /* [N, N m] of the thrusters, largest axis */
    double max_joint_torque[FF_MAX_ARM_LINKS], max_motor_torque[FF_MAX_ARM_LINKS]; /* [N m] */
    uint64_t thrust_saturated, motor_saturated;                                    /* cycles */
    double W_c_start, W_c_drift; /* [J] (25): at the start; largest change before the first contact */
    /* (24), in the software's own unit, cycle by cycle while its phase does not change and nothing is held */
    double W_a_most, W_a_rise;      /* largest value; largest rise in one cycle */
    double W_a_excess;              /* largest of W_a' + delta, differences against means of two cycles */
    uint64_t W_a_cycles, W_a_rises; /* compared; in which it rose by more than 1e-6 of its largest value */
    double port_energy;             /* [J] (28) over the run: negative, the contact takes energy */
    double port_power_min, port_power_max; /* [W] */
    double bound;                          /* (29): largest */
    uint64_t bound_violations;             /* cycles above 1e-9 */
    /* while running */
    double W_a_last, delta_last;
    int phase_last;
    bool touched;
} ff_servicer_metrics;

typedef struct ff_requirement_result {
    const char *name;
    double limit, value;
    bool judged; /* it was measured, and there was a reference; else the value says nothing */
    bool met;    /* not broken: of what was not measured true where there was a reference */
} ff_requirement_result;

typedef struct ff_metrics {
    const ff_scenario *scenario;
    bool brief; /* set after init or reset: nobody asks for the summary, nor for poses against the reference,
                   paths of robots, tracking, noise; they stay zero */
    ff_rigid_model model[FF_MAX_BODIES];
    uint64_t rows;
    double t; /* [s] of the last row: what comes later in the reference is not the run's */
    ff_body_metrics body[FF_MAX_BODIES];
    ff_pair_metrics pair[FF_MAX_BODIES][FF_MAX_BODIES]; /* [a][b], a < b */
    ff_servicer_metrics servicer;                       /* where the scenario has an arm */
    int episodes;
    ff_episode *episode;
    bool more; /* contacts than FF_MAX_EPISODES: the later ones are not listed */
    /* while running */
    int open[FF_MAX_CONTACTS];     /* episode index or -1 */
    int quiet[FF_MAX_CONTACTS];    /* quiet cycles so far */
    int last_touch[FF_MAX_BODIES]; /* contact that touched last */
    struct {
        bool acts;     /* the method is in contact or settles one */
        bool corrects; /* it was, in that row or the one before: what a contact did may still change */
        ff_vec3 velocity, omega;
    } before[FF_MAX_BODIES];   /* of the row before */
    ff_nominal_config nominal; /* of the relative formulation, and its motion at motion_t */
    ff_rigid_state nominal_motion;
    double motion_t; /* [s] when the motions were sampled last */
    /* after ff_metrics_finish */
    double rebound_error[FF_MAX_BODIES], peak_force_ratio[FF_MAX_BODIES];
    bool compared;         /* there was a reference; else nothing here is known */
    bool forces, rebounds; /* a peak force, a change of velocity was compared with the reference's */
    double restitution_error[FF_MAX_BODIES]; /* of the approach speed */
    double diverged[FF_MAX_BODIES]; /* [s] the first contact that has no partner; FF_NAN: all are paired */
    ff_requirement_result requirement[FF_REQUIREMENTS];
    bool pass;
} ff_metrics;

ff_status ff_metrics_init(const ff_scenario *scenario, ff_metrics *metrics);
/* Starts again for another scenario in the memory that ff_metrics_init took. */
void ff_metrics_reset(const ff_scenario *scenario, ff_metrics *metrics);
void ff_metrics_free(ff_metrics *metrics);
/* Their state (text/keep.h). */
void ff_metrics_keep(ff_metrics *metrics, ff_keeper *keeper);
/* Standard deviation per axis [N], [N m]: FF_NAN where nothing was measured, 0 below FF_NOISE_LEAST. */
double ff_metrics_noise(const ff_noise_state *noise);
ff_sink ff_metrics_sink(ff_metrics *metrics);
/* What follows from an episode; FF_NAN where nothing is known. */
typedef struct ff_episode_info {
    double frequency;   /* [Hz] sqrt(k/m)/(2 pi), he2022 (25) */
    double cov;         /* relative speed after over that before the first contact of the run */
    double cof;         /* peak robot force over that of the run's first contact */
    double restitution; /* of the normal speed at the contact point; FF_NAN also where there is not one
                           normal: a cone with friction, what an arm touches */
    ff_vec3 point[2];   /* [m] (36)-(38) of lange, axes of `body` and of `against` */
} ff_episode_info;
void ff_metrics_episode(const ff_metrics *metrics, int episode, ff_episode_info *info);
/* Compares with the reference (may be NULL) and judges. `status` is the run's: a failed run cannot pass. */
void ff_metrics_finish(ff_metrics *metrics, const ff_ideal_result *ideal, ff_status status);
/* The part of the contract's summary.json, section 4.3. Returns malloc'ed JSON text, NULL when out of memory.
 */
char *ff_summary_json(const ff_metrics *metrics, const ff_run_result *run);
/* One more key at its end; takes both texts, malloc'ed, and returns the longer one, or `summary` as it was
 * where `value` is NULL or memory runs out. */
char *ff_summary_add(char *summary, const char *key, char *value);

#endif
