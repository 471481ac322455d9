/* fit/log.h - what a recorded run says of the facility: the robots' delay and lag, the contact's
 * stiffness and damping, the mock-up's mass and centre of mass, each with its uncertainty.
 *
 * A log is a table of named columns (rows/columns.h), from a simulated run or from hardware. Only what a
 * facility can measure is used: commands, robot poses and twists, wrenches. Standard deviations are those of
 * the least-squares fit, widened by the residuals' own correlation. */
#ifndef FF_FIT_LOG_H
#define FF_FIT_LOG_H

#include "freefloat/base.h"

enum { FF_LOG_BODIES = 4, FF_LOG_NAME = 256 };

typedef struct ff_log_table {
    int columns;
    char (*name)[FF_LOG_NAME]; /* without the unit: "client.robot.position.x" */
    size_t rows;
    double *value; /* value[row * columns + column] */
    double cycle;  /* [s] between two rows */
    int bodies;
    char body[FF_LOG_BODIES][FF_LOG_NAME];
} ff_log_table;

void ff_log_table_free(ff_log_table *table);
/* -1: there is none. */
int ff_log_table_column(const ff_log_table *table, const char *name);

/* A number and its standard deviation. */
typedef struct ff_estimate {
    double value, sd;
} ff_estimate;

typedef enum ff_log_lag {
    FF_LOG_LAG_NONE,  /* robot(t) = command(t - delay) */
    FF_LOG_LAG_FIRST, /* T x' + x = u: stands T behind a steady motion */
    FF_LOG_LAG_SECOND /* x'' = w^2 (u - x) + 2 z w (u' - x'): stands behind changes only */
} ff_log_lag;

typedef struct ff_log_delay {
    ff_log_lag lag;
    ff_estimate delay;     /* [s] pure */
    ff_estimate time;      /* [s] first-order time constant; FF_NAN */
    ff_estimate frequency; /* [Hz] second order; FF_NAN */
    ff_estimate damping;   /* ratio, second order; FF_NAN */
    double residual;       /* [m] or [rad] rms of what the model leaves */
    size_t rows;           /* that were fitted; with FF_ERR_ARGUMENT: the delay is not below delay_max */
    bool rotation;         /* the attitude moved, not the position */
} ff_log_delay;

typedef struct ff_log_contact {
    ff_estimate stiffness; /* [N/m] */
    ff_estimate damping;   /* [N s/m] mean over the contacts */
    ff_vec3 point;         /* [m] body frame of the body, across the force */
    int other;             /* body that felt the opposite force; -1: the lab */
    int contacts;
    size_t rows;
    double residual; /* [N] rms */
} ff_log_contact;

typedef struct ff_log_payload {
    ff_estimate mass;   /* [kg] */
    ff_estimate com[3]; /* [m] body frame, from the satellite's CoM */
    ff_wrench bias;     /* [N m], [N] of the sensor, its own frame */
    ff_wrench bias_sd;
    double turned; /* [rad] how far the mock-up turned in the field of gravity */
    size_t rows;
    double residual_force, residual_torque; /* [N], [N m] rms */
} ff_log_payload;

/* delay_max [s] bounds the search; FF_NAN: 0.5 s or a quarter of the log. FF_ERR_ARGUMENT (a column is
 * missing, the log is short, the robot hardly moved, the delay is not below delay_max), FF_ERR_MEMORY;
 * message is one sentence. */
ff_status ff_log_identify_delay(const ff_log_table *table, int body, double delay_max, ff_log_delay *out,
                                char *message, size_t size);
/* skew [s]: by how much the force is older than the pose in the same row; each millisecond that it is wrong
 * shifts the damping by stiffness * 1 ms. FF_ERR_ARGUMENT also without any contact of four rows. */
ff_status ff_log_identify_contact(const ff_log_table *table, int body, double skew, ff_log_contact *out,
                                  char *message, size_t size);
/* gravity_w [m/s2] in the axes of the robot's pose, T_bs the sensor frame in the body frame. FF_ERR_ARGUMENT
 * also when the mock-up did not turn enough to separate its weight from the sensor's bias. */
ff_status ff_log_identify_payload(const ff_log_table *table, int body, ff_vec3 gravity_w, ff_pose T_bs,
                                  ff_log_payload *out, char *message, size_t size);

#endif
