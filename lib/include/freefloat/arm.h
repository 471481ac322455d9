/* freefloat/arm.h - kinematics of a six-axis arm with spherical wrist, on an optional linear rail.
 *
 * Frames: w world, b robot base (KUKA's $ROBROOT, at the rail's zero), f flange, t tool. The pose of the tool
 * is T_wt = base * shift(rail) * T_bf(A1..A6) * tool.
 *
 * Axes as KUKA counts them. With all axes at zero the arm is stretched forward along +x of the base, z up:
 *   A1 turns about -z (down), A2, A3, A5 about +y, A4 and A6 about -x (back along the arm).
 * So A2 = -90 deg lifts the upper arm upright, and A3 = +90 deg then lays the forearm forward: the home pose
 * is A = (0, -90, 90, 0, 0, 0) deg. The flange frame has z out of the flange; at the home pose its x points
 * down (KUKA: A 0, B 90, C 0 deg). In formulas, with R the right-handed rotations and e the unit vectors:
 *   R_bf = Rz(-A1) Ry(A2 + A3) Rx(-A4) Ry(A5) Rx(-A6) Ry(90 deg)
 *   p_bf = d1 ez + Rz(-A1) (a1 ex + Ry(A2) a2 ex + Ry(A2 + A3) (d4 ex + a3 ez)) + d6 R_bf ez
 *
 * Angles are rad, lengths m; only ff_arm_to_kuka and ff_arm_from_kuka know degrees and millimetres. */
#ifndef FREEFLOAT_ARM_H
#define FREEFLOAT_ARM_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ff_arm_kind {
    FF_ARM_KR120, /* KUKA KR 120 R2500 pro */
    FF_ARM_KR16   /* KUKA KR 16-2 */
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
    double speed;    /* [m/s] largest; for the caller, kinematics does not use it */
    double standoff; /* [m] wrist's distance from the base along the axis that `follow` keeps */
} ff_arm_rail;

typedef struct ff_arm_config {
    double d1;       /* [m] height of axis 2 above the base */
    double a1;       /* [m] axis 1 to axis 2, forward */
    double a2;       /* [m] axis 2 to axis 3: upper arm */
    double d4;       /* [m] axis 3 to the wrist along the forearm */
    double a3;       /* [m] axis 3 to the wrist across the forearm; negative: the wrist lies below at home */
    double d6;       /* [m] wrist to flange */
    double lower[6]; /* [rad] joint ranges, KUKA signs */
    double upper[6]; /* [rad] */
    double speed[6]; /* [rad/s] largest; for the caller */
    ff_arm_rail rail;
    ff_pose base; /* T_wb */
    ff_pose tool; /* T_ft */
} ff_arm_config;

typedef struct ff_arm_model {
    ff_arm_config config; /* checked; rail axis and quaternions unit */
    double forearm;       /* [m] hypot(d4, a3) */
    double forearm_angle; /* [rad] atan2(a3, d4) */
    ff_pose base_inverse; /* T_bw */
    ff_pose tool_inverse; /* T_tf */
} ff_arm_model;

typedef struct ff_arm_joints {
    double a[6]; /* [rad] A1..A6 */
    double rail; /* [m] */
} ff_arm_joints;

/* Distance from the singularities, each in [0, 1], 0 at the singularity. The determinant of the arm's
 * Jacobian is, but for its sign, a2 * forearm * (a1 + a2 + forearm) * shoulder * elbow * wrist [m^3]. */
typedef struct ff_arm_margin {
    double shoulder; /* wrist's distance from axis 1 over a1 + a2 + forearm */
    double elbow;    /* |sin| of the angle between upper arm and forearm: arm stretched or folded */
    double wrist;    /* |sin A5| */
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
    int outside;          /* 0: inside all ranges; else the first axis outside, 1..6 */
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
    int axis;      /* joint limit: the axis (1..6) outside in the branch nearest to the previous joints */
    double excess; /* [m] beyond or inside the reach, or beyond the rail; [rad] beyond the joint's range */
    int branches;  /* geometric solutions, 0..8 */
    int branch;    /* the one chosen */
    ff_arm_margin margin; /* of the solution chosen */
} ff_arm_info;

const char *ff_arm_reason_text(ff_arm_reason reason); /* a short sentence */

/* Parameters of a public robot: no rail, base and tool identity. FF_ERR_ARGUMENT for an unknown kind. */
ff_status ff_arm_default(ff_arm_kind kind, ff_arm_config *config);
/* FF_ERR_NOT_FINITE; FF_ERR_ARGUMENT: a2 or the forearm not positive, d1, a1, d6 negative, an empty range, a
 * rail without direction or length, a speed that is not positive. */
ff_status ff_arm_validate(const ff_arm_config *config);
/* Checks and derives. *model is untouched on a fault. */
ff_status ff_arm_create(const ff_arm_config *config, ff_arm_model *model);

/* T_wt. Any finite joints, inside the ranges or not. */
ff_pose ff_arm_forward(const ff_arm_model *model, const ff_arm_joints *joints);

/* All solutions with the rail at `rail`, sorted by branch number; *count of them. At a singularity the free
 * angle (A1 with the wrist on axis 1, A4 with A5 = 0) keeps its previous value. FF_OK also with joints
 * outside their ranges (see `outside`). FF_ERR_REACH with *count = 0 and info filled; FF_ERR_NOT_FINITE. info
 * may be NULL. */
ff_status ff_arm_inverse_all(const ff_arm_model *model, const ff_pose *T_wt, double rail,
                             const ff_arm_joints *previous, ff_arm_solution solutions[8], int *count,
                             ff_arm_info *info);
/* The solution inside all ranges that is nearest to the previous joints (least sum of squared differences);
 * the rail by its rule. FF_ERR_REACH: *joints is untouched, info says why. FF_ERR_NOT_FINITE. */
ff_status ff_arm_inverse(const ff_arm_model *model, const ff_pose *T_wt, const ff_arm_joints *previous,
                         ff_arm_joints *joints, ff_arm_info *info);

/* Columns A1..A6, rail; rows angular velocity of the tool [rad/s], then velocity of the tool's origin [m/s],
 * both in world coordinates. The rail's column is zero without a rail. */
void ff_arm_jacobian(const ff_arm_model *model, const ff_arm_joints *joints, double jacobian[6][7]);

ff_arm_margin ff_arm_singularity(const ff_arm_model *model, const ff_arm_joints *joints);

/* 0 if all joints and the rail are inside their ranges, else the first outside: 1..6, 7 the rail. */
int ff_arm_outside(const ff_arm_model *model, const ff_arm_joints *joints);

/* KUKA's AIPos: A1..A6 in degrees, E1 (the rail) in millimetres. */
void ff_arm_to_kuka(const ff_arm_joints *joints, double axis_deg[6], double *e1_mm);
ff_arm_joints ff_arm_from_kuka(const double axis_deg[6], double e1_mm);

#ifdef __cplusplus
}
#endif
#endif
