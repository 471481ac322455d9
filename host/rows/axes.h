/* rows/axes.h - the axes of robots that no device reports: by the kinematics of docs/robots.md from where the
 * robot really is. */
#ifndef FF_ROWS_AXES_H
#define FF_ROWS_AXES_H

#include "rows/sink.h"
#include "text/keep.h"

/* Where Newton's method ended: it begins there in the next row. */
typedef struct ff_row_posture {
    bool known;
    ff_arm_joints joints; /* that T and the Jacobian are of */
    ff_pose T;
    double jacobian[6][7];
} ff_row_posture;

typedef struct ff_row_arms {
    bool wanted; /* a sink shows them: else nothing is computed, and they are NaN */
    int bodies;
    double cycle; /* [s] */
    ff_arm_model arm[FF_MAX_BODIES];
    ff_arm_joints at[FF_MAX_BODIES]; /* the last ones that were found */
    ff_row_posture posture[FF_MAX_BODIES];
} ff_row_arms;

/* Which arms they are (ff_plan_place), where one of the sinks shows axes. A robot whose arm cannot stand
 * there has none. */
void ff_row_arms_open(const ff_scenario *scenario, const ff_sink *sinks, int count, ff_row_arms *arms);
/* row->body[].device.joints from row->body[].robot; NaN out of reach. */
void ff_row_arms_find(ff_row_arms *arms, ff_row *row);
void ff_row_arms_keep(ff_row_arms *arms, ff_keeper *keeper);

#endif
