/* freefloat/output.h - the output stage of one robot: the only code that decides what the robot is sent.
 *
 * It runs once for every telegram of that robot, not once for every cycle of the loop. Everything that wants
 * the robot to move (loop, run-up, test motions, retreat) only sets the target. Without a target that is new
 * enough the stage brakes by itself and stands.
 *
 * What is bounded. The robot makes one step per telegram, from the last answer that it accepted to the next.
 * With p_n the accepted positions and T the cycle, the stage keeps for every answer
 *   |v| <= velocity,      v_n = (p_n - p_(n-1)) / T
 *   |a| <= acceleration,  a_n = (v_n - v_(n-1)) / T
 *   |j| <= jerk,          j_n = (a_n - a_(n-1)) / T
 * as Euclidean norms (so each component keeps them, too), and the same for the rotation with the rotation
 * vectors r_n = log(q_(n-1)^-1 q_n) in place of the steps, components in body axes. A target inside these
 * bounds is sent as it is, to the bit (a jump that small, too, though the robot may then have to go beyond
 * it). Any other is followed by the time-optimal limiter (command.h) along three axes that share the limits:
 * from rest on a straight line, in the time of one axis (of 0.9996 of the limits), and never beyond a target
 * that stands; from any motion a target that stands is met, and not left again: within twice the time that is
 * planned when it is seen to stand (that is at most 1/0.9 of what each axis needs with 1/sqrt(3) of each
 * limit), or the robot comes to rest within this time and a stop, and continues from there on a straight
 * line.
 *
 * The box. A step is sent only if a stop that begins with the next answer ends inside the box, or not further
 * out than one that begins with this answer; else that is what begins. So a robot that moves inside comes to
 * rest inside, whatever its targets, its jerk and the acceleration in progress: the end of the stop is the
 * closed form of the stage's own (ff_limiter_stop_path), axis by axis. With a bounded jerk a seventh of its
 * path is kept as room: where an answer is clipped the stop begins anew and may become longer. Only a stop
 * that begins at the velocity limit and is bent by it may end further out, by less than one step at that
 * velocity.
 *
 * What was accepted. The answer is known to be accepted when the next telegram comes: ff_output_confirm. If
 * it was not, or if the controller has held the robot meanwhile, the robot stands: the differences above
 * start again from rest at the last accepted pose. The controller may have taken an answer that is called
 * lost. Both truths are at most one step apart, that is velocity * T; the next answers keep the bound on the
 * velocity against both, and those on acceleration and jerk against the one that the controller's counters
 * support: a step that is within the acceleration of a robot that stands at either of two places exists only
 * if these are closer than 2 acceleration T^2.
 *
 * Real-time safe: no allocation, a bounded number of iterations, no state but the one passed in. */
#ifndef FREEFLOAT_OUTPUT_H
#define FREEFLOAT_OUTPUT_H

#include "freefloat/command.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each > 0; FF_INF: no limit. resolution and angular_resolution may be 0. */
typedef struct ff_output_config {
    double cycle;                     /* [s] between two telegrams */
    double velocity;                  /* [m/s] */
    double acceleration;              /* [m/s2] */
    double jerk;                      /* [m/s3] */
    double angular_velocity;          /* [rad/s] */
    double angular_acceleration;      /* [rad/s2] */
    double angular_jerk;              /* [rad/s3] */
    double stop_acceleration;         /* [m/s2] of a stop; at most `acceleration` acts */
    double stop_angular_acceleration; /* [rad/s2] */
    double patience;                  /* [s] a target that is older is none */
    double resolution;                /* [m] of the wire: the last decimal of an answer */
    double angular_resolution;        /* [rad] */
    bool boxed;                       /* the robot is kept in a box: */
    ff_vec3 centre, box;              /* [m] lab: its centre and half widths, each >= 0 or FF_INF */
    bool
        rest_unasked; /* nobody reads out->rest: without a box it is not computed (half of a step) but zero */
} ff_output_config;

/* The bounded motion on which the stage leads the robot while the target itself is not sent. */
typedef struct ff_output_course {
    bool active;
    bool exact;                     /* the robot is on it: else it begins again from the accepted poses */
    bool chasing;                   /* to the target */
    bool stopping;                  /* to rest */
    bool releasing;                 /* which begins by taking back the acceleration */
    bool late;                      /* a target that stands was not met in its time: to rest, then straight */
    double due;                     /* [s] until it shall be met; 0: not said yet */
    ff_vec3 velocity, acceleration; /* at the last answer */
    ff_vec3 axis[2];                /* chasing: the plan's first two axes */
    ff_vec3 share;                  /* each axis' part of the limits; stopping: of the lab's axes */
    ff_vec3 fast;                   /* chasing: of the velocity */
} ff_output_course;

typedef struct ff_output_state {
    bool moved; /* a target was given once */
    /* accepted by the robot, to the wire's rounding; v in the lab, w in body axes */
    ff_pose pose;
    ff_twist velocity, acceleration;
    /* sent since, not yet confirmed */
    bool pending;
    ff_pose sent;
    ff_twist sent_velocity, sent_acceleration;
    /* an answer called lost that the controller may have taken */
    bool doubtful;
    ff_pose doubt;
    ff_output_course course[2]; /* translation, rotation; at the answer sent */
    /* the target and the one before it */
    int targets; /* 0, 1, 2 of them are known */
    bool steady; /* it is where it was, and stands */
    ff_setpoint target, target_before;
    double time, time_before; /* [s] */
} ff_output_state;

typedef struct ff_output_out {
    ff_setpoint to;   /* to be sent */
    bool limited;     /* it is not the target, because a limit acts */
    bool braking;     /* there is no target: stopping, or at rest */
    bool rests;       /* and there: the answer repeats the last one */
    double lag;       /* [m] from what is sent to the target; 0 without a target */
    double lag_angle; /* [rad] */
    bool beyond;      /* a stop after the target's step would end outside the box: that step is not sent */
    ff_vec3 rest;     /* [m] lab: where that stop would end; else one after what is sent */
} ff_output_out;

/* Cautious: 2 m/s, 10 m/s2, 2500 m/s3; 3 rad/s, 20 rad/s2, 5000 rad/s3; stops with 1 m/s2 and 2 rad/s2;
 * patience five cycles of 4 ms; no rounding. docs/safety.md says where the values come from. */
void ff_output_default(ff_output_config *config);
/* FF_ERR_ARGUMENT: a value is not > 0, a resolution is < 0 or not finite, a box has no width or centre. */
ff_status ff_output_validate(const ff_output_config *config);

/* At rest at `pose` (body in the lab), without a target. */
void ff_output_reset(ff_output_state *state, ff_pose pose);
/* A telegram has come. accepted: the robot has taken the answer to the one before; stood: its controller has
 * held it since, or no answer was sent. Call once per telegram, before ff_output_step. */
void ff_output_confirm(ff_output_state *state, bool accepted, bool stood);
/* It stands at `pose`, and nothing that was sent can move it any more; the targets stay. */
void ff_output_stand(ff_output_state *state, ff_pose pose);
/* The robot shall be there, with that twist (w body, v lab), at `time` [s]. FF_OK, or FF_INFO_HELD: not
 * finite, and taken as no target. */
ff_status ff_output_target(ff_output_state *state, const ff_setpoint *target, double time);
/* There is no target any more. */
void ff_output_brake(ff_output_state *state);
/* From now on nothing accelerates more than a stop does: what a stop leads to, out of a contact, is part of
 * it. */
void ff_output_slow(ff_output_config *config);
/* The answer to the telegram of `time` [s]. A target of another time is led along its twist, or, for a robot
 * that asks a little earlier, taken between the last two. Never anything that is not finite. */
void ff_output_step(const ff_output_config *config, ff_output_state *state, double time, ff_output_out *out);
/* [m] lab: from the last answer to where the robot comes to rest if the stage brakes from now on, where that
 * answer was made with velocity v [m/s] and acceleration a [m/s2] (differences as above:
 * state->sent_velocity.v, state->sent_acceleration.v). Sum of ff_limiter_stop_path over the axes, each with
 * its part of stop_acceleration and jerk, from the continuous motion behind the differences: velocity v +
 * cycle a / 2; where the axes together would break a limit, the acceleration is taken back before. NaN for
 * what is not finite. */
ff_vec3 ff_output_stop_path(const ff_output_config *config, ff_vec3 v, ff_vec3 a);
/* What the wire will really carry for the answer just made. A difference of at most two of its last decimals
 * is rounding: it does not add up, is not motion, and changes nothing. Any other (the axes stand against it,
 * the protocol refuses it) replaces what was sent. A pose that is not finite changes nothing. */
void ff_output_wire(const ff_output_config *config, ff_output_state *state, ff_pose pose);

/* ---------------------------------------------------------------------------------------------- axes -- */

/* The axes behind the pose: checked after the Cartesian bounds, never clamped. A pose that they cannot follow
 * is not sent; they brake instead, all together on a straight line in axis space, each within its own
 * deceleration speed / FF_AXES_STOP. */
#define FF_AXES_STOP 0.25 /* [s] in which an axis at full speed comes to rest */

typedef struct ff_axes_state {
    ff_arm_joints at, rate;        /* accepted: [rad], [rad/s]; rail [m], [m/s] */
    ff_arm_joints sent, sent_rate; /* not yet confirmed */
    bool pending, braking;
} ff_axes_state;

typedef enum ff_axes_reason {
    FF_AXES_FOLLOW,
    FF_AXES_REACH, /* no joints for this pose: info says why */
    FF_AXES_SPEED  /* an axis would be faster than it can */
} ff_axes_reason;

typedef struct ff_axes_out {
    ff_axes_reason reason;
    ff_arm_info info;
    int axis;            /* speed: 1..7 */
    double speed, limit; /* [rad/s] of it */
    bool rests;          /* braking has come to its end */
} ff_axes_out;

void ff_axes_reset(ff_axes_state *state, const ff_arm_joints *at);
void ff_axes_confirm(ff_axes_state *state, bool accepted, bool stood);
/* They stand there, as ff_output_stand. */
void ff_axes_stand(ff_axes_state *state, const ff_arm_joints *at);
/* The joints as they are, once everything rests: a brake is over. */
void ff_axes_hold(ff_axes_state *state);
/* Joints of the pose T_wt, dt [s] after those given; FF_AXES_FOLLOW only if every axis is inside its range
 * and fast enough. */
ff_axes_reason ff_axes_reach(const ff_arm_model *arm, const ff_pose *T_wt, double dt,
                             const ff_arm_joints *from, ff_arm_joints *joints, ff_axes_out *out);
/* The joints to send for the pose. Once they cannot follow they brake to rest, whatever is asked then. */
void ff_axes_step(const ff_arm_model *arm, double cycle, ff_axes_state *state, const ff_pose *T_wt,
                  ff_arm_joints *joints, ff_axes_out *out);

#ifdef __cplusplus
}
#endif
#endif
