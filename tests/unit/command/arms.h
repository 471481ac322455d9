/* The shipped arms once more, as rows of a URDF (origin xyz and rpy, axis) taken from the makers' own tables
 * and not from lib/: Universal Robots' and Franka's DH rows, KUKA's public URDFs. Shared by the test of the
 * kinematics and by the one against MuJoCo. */
#ifndef TEST_COMMAND_ARMS_H
#define TEST_COMMAND_ARMS_H

#include "freefloat/command.h"

#define HALF_PI 1.57079632679489661923

typedef struct arm_row {
    double xyz[3], rpy[3], axis[3];
} arm_row;

typedef struct arm_urdf {
    ff_arm_kind kind;
    int axes;
    arm_row row[8]; /* the joints, then the fixed one to the tip */
} arm_urdf;

/* A DH row (Denavit, Hartenberg): turn theta about z, go d along z and a along x, turn alpha about x. What
 * follows joint i belongs to the origin of joint i + 1. */
#define UR(kind_, d1, a2, a3, d4, d5, d6)                                                              \
    {                                                                                                  \
        kind_, 6, {                                                                                    \
            {{0, 0, 0}, {0, 0, 0}, {0, 0, 1}}, {{0, 0, d1}, {HALF_PI, 0, 0}, {0, 0, 1}},               \
                {{a2, 0, 0}, {0, 0, 0}, {0, 0, 1}}, {{a3, 0, 0}, {0, 0, 0}, {0, 0, 1}},                \
                {{0, 0, d4}, {HALF_PI, 0, 0}, {0, 0, 1}}, {{0, 0, d5}, {-HALF_PI, 0, 0}, {0, 0, 1}}, { \
                {0, 0, d6}, {0, 0, 0}, {                                                               \
                    0, 0, 1                                                                            \
                }                                                                                      \
            }                                                                                          \
        }                                                                                              \
    }

static const arm_urdf arm_urdfs[] = {
    {FF_ARM_KR120,
     6,
     {{{0, 0, 0.675}, {0, 0, 0}, {0, 0, -1}},
      {{0.35, 0, 0}, {0, 0, 0}, {0, 1, 0}},
      {{1.15, 0, 0}, {0, 0, 0}, {0, 1, 0}},
      {{1.0, 0, -0.041}, {0, 0, 0}, {-1, 0, 0}},
      {{0, 0, 0}, {0, 0, 0}, {0, 1, 0}},
      {{0, 0, 0}, {0, 0, 0}, {-1, 0, 0}},
      {{0.215, 0, 0}, {0, HALF_PI, 0}, {0, 0, 1}}}},
    {FF_ARM_KR16,
     6,
     {{{0, 0, 0.675}, {0, 0, 0}, {0, 0, -1}},
      {{0.26, 0, 0}, {0, 0, 0}, {0, 1, 0}},
      {{0.68, 0, 0}, {0, 0, 0}, {0, 1, 0}},
      {{0.67, 0, -0.035}, {0, 0, 0}, {-1, 0, 0}},
      {{0, 0, 0}, {0, 0, 0}, {0, 1, 0}},
      {{0, 0, 0}, {0, 0, 0}, {-1, 0, 0}},
      {{0.158, 0, 0}, {0, HALF_PI, 0}, {0, 0, 1}}}},
    /* kr210_r2700_2_macro.xacro, its own frames */
    {FF_ARM_KR210,
     6,
     {{{0, 0, 0}, {-2 * HALF_PI, 0, 0}, {0, 0, 1}},
      {{0.33, 0, -0.645}, {HALF_PI, 0, 0}, {0, 0, 1}},
      {{1.15, 0, 0}, {0, 0, -HALF_PI}, {0, 0, 1}},
      {{0.115, 0, 0}, {HALF_PI, 0, 0}, {0, 0, 1}},
      {{0, 0, -1.22}, {-HALF_PI, 0, 0}, {0, 0, 1}},
      {{0, 0, 0}, {HALF_PI, 0, 0}, {0, 0, 1}},
      {{0, 0, -0.215}, {0, 2 * HALF_PI, 0}, {0, 0, 1}}}},
    UR(FF_ARM_UR5E, 0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
    UR(FF_ARM_UR10E, 0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
    UR(FF_ARM_UR20, 0.2363, -0.8620, -0.7287, 0.2010, 0.1593, 0.1543),
    /* Craig's rows: go a along x, turn alpha about x, turn theta about z, go d along z */
    {FF_ARM_FR3,
     7,
     {{{0, 0, 0.333}, {0, 0, 0}, {0, 0, 1}},
      {{0, 0, 0}, {-HALF_PI, 0, 0}, {0, 0, 1}},
      {{0, -0.316, 0}, {HALF_PI, 0, 0}, {0, 0, 1}},
      {{0.0825, 0, 0}, {HALF_PI, 0, 0}, {0, 0, 1}},
      {{-0.0825, 0.384, 0}, {-HALF_PI, 0, 0}, {0, 0, 1}},
      {{0, 0, 0}, {HALF_PI, 0, 0}, {0, 0, 1}},
      {{0.088, 0, 0}, {HALF_PI, 0, 0}, {0, 0, 1}},
      {{0, 0, 0.107}, {0, 0, 0}, {0, 0, 1}}}},
    {FF_ARM_IIWA14,
     7,
     {{{0, 0, 0.1575}, {0, 0, 0}, {0, 0, 1}},
      {{0, 0, 0.2025}, {0, 0, 0}, {0, 1, 0}},
      {{0, 0, 0.2045}, {0, 0, 0}, {0, 0, 1}},
      {{0, 0, 0.2155}, {0, 0, 0}, {0, -1, 0}},
      {{0, 0, 0.1845}, {0, 0, 0}, {0, 0, 1}},
      {{0, 0, 0.2155}, {0, 0, 0}, {0, 1, 0}},
      {{0, 0, 0.081}, {0, 0, 0}, {0, 0, 1}},
      {{0, 0, 0.071}, {0, 0, 0}, {0, 0, 1}}}},
};
enum { ARM_URDFS = sizeof arm_urdfs / sizeof *arm_urdfs };

#endif
