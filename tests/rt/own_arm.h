/* The KR 120 by arithmetic of the tests' own: what it makes of the axes that it is sent. */
#ifndef FF_TESTS_RT_OWN_ARM_H
#define FF_TESTS_RT_OWN_ARM_H

#include "freefloat/command.h"

#define DEG (FF_PI / 180.0)

/* Rotations about fixed axes, written out (command.h has the convention). */
static inline ff_vec3 about(int axis, double angle, ff_vec3 p) {
    const double c = cos(angle), s = sin(angle);
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    ff_vec3 q = p;
    q.a[i] = c * p.a[i] - s * p.a[j];
    q.a[j] = s * p.a[i] + c * p.a[j];
    return q;
}

/* A point of the flange in the base: turned by A6, A5, A4 about the wrist, then by A3 + A2, then by A1. */
static inline ff_vec3 flange_point(const ff_arm_config *c, const double a[6], ff_vec3 p) {
    p = about(1, FF_PI / 2.0, ff_vec3_add(p, ff_vec3_make(0, 0, c->d6)));
    p = about(0, -a[5], p);
    p = about(1, a[4], p);
    p = about(0, -a[3], p);
    p = ff_vec3_add(p, ff_vec3_make(c->d4, 0, c->a3));
    p = about(1, a[1] + a[2], p);
    p = ff_vec3_add(p, ff_vec3_add(ff_vec3_make(c->a1, 0, 0), about(1, a[1], ff_vec3_make(c->a2, 0, 0))));
    p = about(2, -a[0], p);
    return ff_vec3_add(p, ff_vec3_make(0, 0, c->d1));
}

/* A point of the body frame in the world. */
static inline ff_vec3 body_point(const ff_arm_model *arm, const double a[6], ff_vec3 p) {
    const ff_pose tool = arm->config.tool, base = arm->config.base;
    const ff_vec3 flange = ff_vec3_add(ff_quat_rotate(tool.q, p), tool.p);
    return ff_vec3_add(ff_quat_rotate(base.q, flange_point(&arm->config, a, flange)), base.p);
}

#endif
