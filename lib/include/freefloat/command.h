/* freefloat/command.h - stage 4: satellite's pose -> robot: kinematics of an arm, and the trajectory limiter.
 * What a robot is really sent is decided by its output stage alone (freefloat/output.h). */
#ifndef FREEFLOAT_COMMAND_H
#define FREEFLOAT_COMMAND_H

#include "freefloat/dynamics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ======================================== limiter ======================================== */

/* the online trajectory limiter: follows a moving target as fast as limits allow.
 *
 * One axis. Given the state (position, velocity, acceleration) at t and the target's position and velocity at
 * t, the limiter plans the time-optimal motion that meets the target, taken to continue with constant
 * velocity, with its velocity and no acceleration, and evaluates it at t + dt. The plan is piecewise constant
 * in jerk and integrated exactly: as long as the target keeps its course, it does not matter how often the
 * axis is stepped.
 *
 * Limits are bounds on |velocity|, |acceleration|, |jerk|; FF_INF takes one away:
 *   all three        third order, up to seven segments and the return into a violated limit
 *   jerk infinite    second order: bang-bang with a cruise at the velocity limit; the acceleration may jump
 *   both infinite    the velocity jumps too; only its bound acts
 *   all infinite     the target at once
 * A start outside its limits comes back as fast as the higher derivatives allow: the acceleration first at
 * full jerk, the velocity to its limit (with the acceleration zero there, so that it does not fall below and
 * rise again). A target faster than the velocity limit is followed at the limit: its velocity is clamped in
 * the plan, and the axis never reports that it has met it; while such a target is ahead an axis that is
 * faster slows down to the limit and no further.
 *
 * Six axes: three of the position in the world frame, three of the attitude in the body frame (below).
 * Real-time safe: no allocation, a bounded number of iterations, no state but the one passed in. */

/* ---------------------------------------------------------------------------------------------- one axis --
 */

/* Each > 0; FF_INF: no limit. Units with m for a translation, rad for a rotation. */
typedef struct ff_limiter_limits {
    double velocity;     /* [m/s] or [rad/s] */
    double acceleration; /* [m/s^2] */
    double jerk;         /* [m/s^3] */
} ff_limiter_limits;

typedef struct ff_limiter_axis {
    double position;     /* [m] or [rad] */
    double velocity;     /* [m/s] */
    double acceleration; /* [m/s^2]; ignored on entry when the jerk is not limited */
} ff_limiter_axis;

typedef struct ff_limiter_target {
    double position; /* [m] at the start of the step */
    double velocity; /* [m/s] taken as constant */
} ff_limiter_target;

/* Constant jerk for a duration. Velocity and acceleration are those at its start, relative to the target. */
typedef struct ff_limiter_segment {
    double duration;     /* [s] may be FF_INF in the last one */
    double velocity;     /* [m/s] */
    double acceleration; /* [m/s^2] */
    double jerk;         /* [m/s^3] */
} ff_limiter_segment;

#define FF_LIMITER_SEGMENTS 10

typedef struct ff_limiter_plan {
    ff_limiter_target target; /* velocity clamped to the limit */
    double offset;            /* [m] position relative to the target at the start */
    double duration;          /* [s] until the target is met; FF_INF if it never is */
    bool clamped;             /* the target is faster than the velocity limit */
    int count;
    ff_limiter_segment segment[FF_LIMITER_SEGMENTS];
} ff_limiter_plan;

/* FF_ERR_ARGUMENT if a limit is not > 0 (NaN included). */
ff_status ff_limiter_validate_limits(const ff_limiter_limits *limits);
/* The time-optimal plan. FF_ERR_NOT_FINITE for a state or target that is not finite, FF_ERR_ARGUMENT for bad
 * limits; *plan is then untouched. */
ff_status ff_limiter_plan_axis(const ff_limiter_limits *limits, const ff_limiter_axis *state,
                               const ff_limiter_target *target, ff_limiter_plan *plan);
/* The state t >= 0 [s] after the start of the plan. From `duration` on it is exactly the moving target. */
ff_limiter_axis ff_limiter_plan_at(const ff_limiter_plan *plan, double t);
/* One cycle of dt >= 0 [s]. FF_OK: the axis is on the target at the end; FF_INFO_LIMITED: not there yet.
 * FF_ERR_NOT_FINITE, FF_ERR_ARGUMENT (limits, dt): the state is untouched. */
ff_status ff_limiter_step_axis(const ff_limiter_limits *limits, ff_limiter_axis *state,
                               const ff_limiter_target *target, double dt);

/* One cycle of dt >= 0 [s] on the fastest motion to rest (velocity and acceleration zero), wherever that
 * ends. The velocity limit does not act. FF_OK: at rest at the end; otherwise as ff_limiter_step_axis. */
ff_status ff_limiter_stop_axis(const ff_limiter_limits *limits, ff_limiter_axis *state, double dt);
/* [m] From here to where that motion ends, with its sign. From velocity v0 and acceleration a0, jerk J,
 * acceleration A >= |a0|: the acceleration goes to -d p at full jerk, is held there for a time h, and is
 * taken back, d = sign(v0 + a0 |a0| / 2J),  p = min(A, sqrt(J d v0 + a0^2 / 2)),  h = (J d v0 + a0^2 / 2 -
 * p^2) / (J p) >= 0; d is the sign of the velocity left when the acceleration is simply taken back, so a
 * motion that brakes harder than it can release in time passes through zero and comes back, no other one
 * does. With a0 along v0 this is the path v0 t + a0 t^2 / 3 while the acceleration falls to zero in t = |a0|
 * / J, and from v1 = v0 + a0 t / 2 on v1 / 2 (v1 / A + A / J), or v1 sqrt(v1 / J) where A is not reached.
 * Without a limit of the jerk: v0 |v0| / 2A; of neither: 0. The velocity limit does not act. NaN for limits
 * that are not > 0, a velocity or (with a limit of the jerk) an acceleration that is not finite. */
double ff_limiter_stop_path(const ff_limiter_limits *limits, double velocity, double acceleration);

/* ----------------------------------------------------------------------------------------------- a pose --
 */

/* Bounds on each component: position in world axes, rotation in body axes. */
typedef struct ff_limiter_config {
    double velocity;             /* [m/s] */
    double acceleration;         /* [m/s^2] */
    double jerk;                 /* [m/s^3] */
    double angular_velocity;     /* [rad/s] */
    double angular_acceleration; /* [rad/s^2] */
    double angular_jerk;         /* [rad/s^3] */
} ff_limiter_config;

typedef struct ff_limiter_state {
    ff_pose pose;          /* body in world */
    ff_twist velocity;     /* v [m/s] world, w [rad/s] body */
    ff_twist acceleration; /* v [m/s^2] world, w [rad/s^2] body: rates of the components above */
} ff_limiter_state;

typedef struct ff_limiter_in {
    ff_pose pose;      /* target at the start of the step */
    ff_twist velocity; /* v world, w in the target's body frame; taken as constant */
} ff_limiter_in;

/* No limit at all: every value FF_INF. */
void ff_limiter_default(ff_limiter_config *config);
/* FF_ERR_ARGUMENT if a value is not > 0. */
ff_status ff_limiter_validate(const ff_limiter_config *config);
/* At rest in acceleration, at the given pose and velocity. */
void ff_limiter_reset(ff_limiter_state *state, ff_pose pose, ff_twist velocity);
/* One cycle of all six axes; statuses as ff_limiter_step_axis, FF_OK only when all six are on the target.
 *
 * Rotation: the error is the rotation vector r = log(q^-1 q_target) in the body frame; the three components
 * of r and of the target's angular velocity turned into the body frame are the targets of three axes that
 * stand at zero with the body's angular velocity. What the axes return is the body's angular velocity and its
 * rate, component by component: the limits hold exactly. The attitude is integrated from it. For a rotation
 * about one body axis this is the one-axis limiter, exactly. For others the axes couple in the order of |r|;
 * each step starts from the true attitude, so they still meet the target exactly, but neither the time nor
 * the absence of overshoot is then that of one axis. */
ff_status ff_limiter_step(const ff_limiter_config *config, ff_limiter_state *state, const ff_limiter_in *in,
                          double dt);

/* ======================================== arm ======================================== */

/* kinematics of an arm of six or seven axes, one with six also on a linear rail.
 *
 * Frames: w world, b robot base (the controller's: KUKA's $ROBROOT, UR's base), f flange, t tool. The pose of
 * the tool is T_wt = base * shift(rail) * T_bf(q) * tool. An arm is given by its lengths or by its chain.
 *
 * Lengths: six axes as KUKA counts them. With all axes at zero the arm is stretched forward along +x of the
 * base, z up: A1 turns about -z (down), A2, A3, A5 about +y, A4 and A6 about -x (back along the arm).
 * So A2 = -90 deg lifts the upper arm upright, and A3 = +90 deg then lays the forearm forward: the home pose
 * is A = (0, -90, 90, 0, 0, 0) deg. The flange frame has z out of the flange; at the home pose its x points
 * down (KUKA: A 0, B 90, C 0 deg). In formulas, with R the right-handed rotations and e the unit vectors:
 *   R_bf = Rz(-A1) Ry(A2 + A3) Rx(-A4) Ry(A5) Rx(-A6) Ry(90 deg)
 *   p_bf = d1 ez + Rz(-A1) (a1 ex + Ry(A2) a2 ex + Ry(A2 + A3) (d4 ex + a3 ez)) + d6 R_bf ez
 *
 * Chain: any axes, as they stand with all joints at zero, in base axes: a unit direction, and the offset of a
 * point of the axis from the one before. With exp a right-handed rotation by the joint's angle (a product of
 * exponentials), R_0 = 1, p_0 = 0:
 *   p_i = p_(i-1) + R_(i-1) offset_i,  R_i = R_(i-1) exp(direction_i q_i),  T_bf = (R_n, p_n) * flange
 *
 * The inverse is closed where the geometry allows it (found when the model is created, to 1e-11):
 *   FF_ARM_ELBOW   A1 across A2, A2 along A3, A4 across A3, a spherical wrist (KUKA, most industrial arms)
 *   FF_ARM_OFFSET  axes 2, 3, 4 parallel, 5 and 6 across and meeting (Universal Robots)
 * else FF_ARM_SEARCH: damped least squares from the previous joints, with the seventh axis led towards the
 * middle of the ranges in the null space; a bounded number of iterations.
 *
 * Angles are rad, lengths m; only ff_arm_to_kuka and ff_arm_from_kuka know degrees and millimetres. */

#define FF_ARM_AXES 7

/* X(KIND, name in a scenario, what it is) */
#define FF_ARMS(X)                                 \
    X(KR120, "kr120", "KUKA KR 120 R2500 pro")     \
    X(KR16, "kr16", "KUKA KR 16-2")                \
    X(KR210, "kr210", "KUKA KR 210 R2700-2")       \
    X(UR5E, "ur5e", "Universal Robots UR5e")       \
    X(UR10E, "ur10e", "Universal Robots UR10e")    \
    X(UR20, "ur20", "Universal Robots UR20")       \
    X(FR3, "fr3", "Franka Research 3, seven axes") \
    X(IIWA14, "iiwa14", "KUKA LBR iiwa 14 R820, seven axes")

typedef enum ff_arm_kind {
#define FF_ARM_ENUM(kind, name, text) FF_ARM_##kind,
    FF_ARMS(FF_ARM_ENUM)
#undef FF_ARM_ENUM
        FF_ARM_KINDS
} ff_arm_kind;

typedef enum ff_arm_rail_rule {
    FF_ARM_RAIL_NONE,  /* no rail: rail positions are 0 */
    FF_ARM_RAIL_GIVEN, /* the caller's: inverse kinematics keeps the previous rail position */
    FF_ARM_RAIL_FOLLOW /* the carriage keeps the wrist at `standoff` ahead along the rail, within its ends */
} ff_arm_rail_rule;

typedef struct ff_arm_rail {
    ff_arm_rail_rule rule;
    ff_vec3 axis;    /* direction of positive travel in the base frame; made unit */
    double lower;    /* [m] */
    double upper;    /* [m] */
    double speed;    /* [m/s] largest, for ff_arm_inverse_after */
    double standoff; /* [m] wrist's distance from the base along the axis that `follow` keeps */
} ff_arm_rail;

typedef struct ff_arm_axis {
    ff_vec3 offset;    /* [m] from a point of the axis before, at first from the base */
    ff_vec3 direction; /* unit */
} ff_arm_axis;

typedef struct ff_arm_config {
    int axes;   /* 6 or 7; 6 by the lengths */
    bool chain; /* given by `axis` and `flange`, else by the lengths */
    double d1;  /* [m] height of axis 2 above the base */
    double a1;  /* [m] axis 1 to axis 2, forward */
    double a2;  /* [m] axis 2 to axis 3: upper arm */
    double d4;  /* [m] axis 3 to the wrist along the forearm */
    double a3;  /* [m] axis 3 to the wrist across the forearm; negative: the wrist lies below at home */
    double d6;  /* [m] wrist to flange */
    ff_arm_axis axis[FF_ARM_AXES];
    ff_pose flange;            /* with all joints at zero: base axes, from the last axis' point */
    double lower[FF_ARM_AXES]; /* [rad] joint ranges */
    double upper[FF_ARM_AXES]; /* [rad] */
    double speed[FF_ARM_AXES]; /* [rad/s] largest; for the caller */
    double ready[FF_ARM_AXES]; /* [rad] a posture to begin from, away from the singularities */
    ff_arm_rail rail;          /* of six axes */
    ff_pose base;              /* T_wb */
    ff_pose tool;              /* T_ft */
} ff_arm_config;

typedef enum ff_arm_form { FF_ARM_ELBOW, FF_ARM_OFFSET, FF_ARM_SEARCH } ff_arm_form;

/* Derived; `config` and the poses are for the caller, the rest is the inverse's own. */
typedef struct ff_arm_model {
    ff_arm_config config; /* checked; rail axis and quaternions unit; the chain filled in */
    ff_arm_form form;
    double reach;                        /* [m] of the chain from axis 1's point: no pose is farther */
    double forearm;                      /* [m] elbow: hypot(d4, a3); offset: axis 3 to axis 4 */
    double forearm_angle;                /* [rad] elbow: atan2(a3, d4) */
    double d1, a1, a2, d4, a3, d6, side; /* [m] elbow, offset: lengths; side: what is along axis 2 */
    double sign[6], zero[6];             /* elbow: A = sign q + zero; offset: see arm_closed.c */
    bool plain;                          /* the next two are identity */
    ff_pose stand;                       /* base in the frame of the closed form */
    ff_pose hand;                        /* elbow: flange of the closed form in the arm's; offset: its turn */
    ff_vec3 point;                       /* [m] offset: where axes 5 and 6 meet, in the flange frame */
    ff_vec3 bend, roll;                  /* offset: axes 5 and 6 in that frame, at zero */
    ff_pose base_inverse;                /* T_bw */
    ff_pose tool_inverse;                /* T_tf */
} ff_arm_model;

typedef struct ff_arm_joints {
    double a[FF_ARM_AXES]; /* [rad]; the seventh is 0 with six axes */
    double rail;           /* [m] */
} ff_arm_joints;

/* Distance from the singularities, each in [0, 1], 0 at the singularity. With lengths the determinant of the
 * arm's Jacobian is, but for its sign, a2 * forearm * (a1 + a2 + forearm) * shoulder * elbow * wrist [m^3].
 * FF_ARM_OFFSET: the same with the forearm from axis 3 to 4, and the hand from there to where axes 5 and 6
 * meet added to the length that the shoulder is measured by. FF_ARM_SEARCH: all four are the Jacobian's
 * smallest singular value, lengths over `reach`. */
typedef struct ff_arm_margin {
    double shoulder; /* wrist's distance from axis 1 (offset: beyond its side), over a1 + a2 + forearm */
    double elbow;    /* |sin| of the angle between upper arm and forearm: arm stretched or folded */
    double wrist;    /* |sin A5|; offset: |sin| between axes 4 and 6 */
    double smallest;
} ff_arm_margin;

/* Which of the eight branches; bits of ff_arm_solution.branch. */
enum {
    FF_ARM_BACK = 1, /* wrist behind axis 1: the arm reaches over its head */
    FF_ARM_ELBOW_LOW =
        2, /* forearm bent up from the upper arm; with the wrist in front, the elbow hangs low */
    FF_ARM_WRIST_FLIP = 4 /* A5 < 0 */
};

typedef struct ff_arm_solution {
    ff_arm_joints joints; /* turns chosen inside the ranges and nearest to the previous joints */
    int branch;           /* sum of the bits above */
    int outside;          /* 0: inside all ranges; else the first axis outside, 1..7 */
} ff_arm_solution;

typedef enum ff_arm_reason {
    FF_ARM_REACHED,
    FF_ARM_TOO_FAR,     /* the wrist lies beyond the stretched arm */
    FF_ARM_TOO_NEAR,    /* the wrist lies inside the folded arm */
    FF_ARM_JOINT_LIMIT, /* every branch leaves a joint's range */
    FF_ARM_RAIL_LIMIT   /* the given rail position is outside the rail */
} ff_arm_reason;

typedef struct ff_arm_info {
    ff_arm_reason reason;
    int axis;      /* joint limit: the axis (1..7) outside in the branch nearest to the previous joints */
    double excess; /* [m] beyond or inside the reach, or beyond the rail; [rad] beyond the joint's range */
    int branches;  /* geometric solutions, 0..8 */
    int branch;    /* the one chosen */
    ff_arm_margin margin; /* of the solution chosen */
} ff_arm_info;

const char *ff_arm_reason_text(ff_arm_reason reason); /* a short sentence */

/* Parameters of a public robot: no rail, base and tool identity. FF_ERR_ARGUMENT for an unknown kind. */
ff_status ff_arm_default(ff_arm_kind kind, ff_arm_config *config);
/* Its name in a scenario, and what it is; NULL for an unknown kind. */
const char *ff_arm_name(ff_arm_kind kind);
const char *ff_arm_text(ff_arm_kind kind);
/* FF_ERR_NOT_FINITE; FF_ERR_ARGUMENT: neither six nor seven axes, a direction that is not unit, a2 or the
 * forearm not positive, d1, a1, d6 negative, an empty range, a rail without direction or length or with seven
 * axes, a speed that is not positive. */
ff_status ff_arm_validate(const ff_arm_config *config);
/* Checks and derives. *model is untouched on a fault. */
ff_status ff_arm_create(const ff_arm_config *config, ff_arm_model *model);

/* T_wt. Any finite joints, inside the ranges or not. */
ff_pose ff_arm_forward(const ff_arm_model *model, const ff_arm_joints *joints);

/* All solutions with the rail at `rail`, sorted by branch number; *count of them. FF_ARM_SEARCH: up to eight
 * that were found from different beginnings, numbered as they came. At a singularity the free
 * angle (A1 with the wrist on axis 1, A4 or with an offset A6 with A5 = 0) keeps its previous value. FF_OK
 * also with joints outside their ranges (see `outside`). FF_ERR_REACH with *count = 0 and info filled;
 * FF_ERR_NOT_FINITE. info may be NULL. */
ff_status ff_arm_inverse_all(const ff_arm_model *model, const ff_pose *T_wt, double rail,
                             const ff_arm_joints *previous, ff_arm_solution solutions[8], int *count,
                             ff_arm_info *info);
/* The solution inside all ranges that is nearest to the previous joints (least sum of squared differences);
 * the rail by its rule. FF_ERR_REACH: *joints is untouched, info says why. FF_ERR_NOT_FINITE. */
ff_status ff_arm_inverse(const ff_arm_model *model, const ff_pose *T_wt, const ff_arm_joints *previous,
                         ff_arm_joints *joints, ff_arm_info *info);
/* The same dt [s] after the previous joints: a carriage that follows goes no faster than the rail's speed,
 * the arm reaches the rest. FF_ARM_SEARCH: for real-time use, a few iterations from the previous joints
 * alone (ff_arm_inverse, where that fails, begins elsewhere, too: up to some ms). */
ff_status ff_arm_inverse_after(const ff_arm_model *model, const ff_pose *T_wt, const ff_arm_joints *previous,
                               double dt, ff_arm_joints *joints, ff_arm_info *info);
/* [m] of the wrist along the rail, seen from the base at the rail's zero; 0 without a rail. */
double ff_arm_along(const ff_arm_model *model, const ff_pose *T_wt);

/* Columns A1..A6, then A7 or the rail; rows angular velocity of the tool [rad/s], then velocity of the tool's
 * origin [m/s], both in world coordinates. The last column is zero with six axes and no rail. */
void ff_arm_jacobian(const ff_arm_model *model, const ff_arm_joints *joints, double jacobian[6][7]);
/* The same, and T_wt (ff_arm_forward) in one pass over the chain. */
ff_pose ff_arm_jacobian_at(const ff_arm_model *model, const ff_arm_joints *joints, double jacobian[6][7]);
/* The tool's motion while the axes turn at these rates [rad/s], as many as the arm has, and back: angular
 * velocity in the tool's axes, velocity of its origin in the world's, as ff_setpoint has them. A rail stands.
 * Of seven axes the rates are the least ones (sum of squares): none of the null space. FF_ERR_SINGULAR:
 * *rates is untouched. */
ff_twist ff_arm_twist(const ff_arm_model *model, const ff_arm_joints *joints,
                      const double rates[FF_ARM_AXES]);
ff_status ff_arm_rates(const ff_arm_model *model, const ff_arm_joints *joints, const ff_twist *twist,
                       double rates[FF_ARM_AXES]);

ff_arm_margin ff_arm_singularity(const ff_arm_model *model, const ff_arm_joints *joints);

/* 0 if all joints and the rail are inside their ranges, else the first outside: 1..7; 7 of six axes: the
 * rail.
 */
int ff_arm_outside(const ff_arm_model *model, const ff_arm_joints *joints);

/* KUKA's AIPos: A1..A6 in degrees, E1 (the rail) in millimetres. */
void ff_arm_to_kuka(const ff_arm_joints *joints, double axis_deg[6], double *e1_mm);
ff_arm_joints ff_arm_from_kuka(const double axis_deg[6], double e1_mm);

#ifdef __cplusplus
}
#endif
#endif
