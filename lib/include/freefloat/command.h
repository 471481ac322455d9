/* freefloat/command.h - stage 4: satellite's pose -> robot; the one gate every command passes. */
#ifndef FREEFLOAT_COMMAND_H
#define FREEFLOAT_COMMAND_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A motion set point: pose and velocity at one time. */
typedef struct ff_setpoint {
    ff_pose T;      /* body in the lab */
    ff_twist twist; /* w body [rad/s], v in the lab [m/s] */
} ff_setpoint;

/* INFINITY: no limit. */
typedef struct ff_gate_config {
    double cycle;                /* [s] */
    double velocity;             /* [m/s] */
    double acceleration;         /* [m/s2] */
    double angular_velocity;     /* [rad/s] */
    double angular_acceleration; /* [rad/s2] */
} ff_gate_config;

typedef struct ff_gate_state {
    ff_setpoint last; /* the last safe command */
    bool started;
} ff_gate_state;

typedef struct ff_gate_info {
    uint64_t held;    /* commands that were not finite */
    uint64_t limited; /* commands that a limit changed */
} ff_gate_info;

void ff_gate_default(ff_gate_config *config);
ff_status ff_gate_validate(const ff_gate_config *config);
void ff_gate_reset(ff_setpoint start, ff_gate_state *state, ff_gate_info *info);
/* Checks finite, then limits velocity and acceleration. FF_OK, FF_INFO_LIMITED, or FF_INFO_HELD when the wish
 * is not finite: the last safe pose goes out again, standing still. */
ff_status ff_gate_step(const ff_gate_config *config, ff_gate_state *state, ff_gate_info *info,
                       ff_setpoint wish, ff_setpoint *command);
/* Repeats the last safe pose, standing still. */
void ff_gate_hold(ff_gate_state *state, ff_setpoint *command);

#ifdef __cplusplus
}
#endif
#endif
