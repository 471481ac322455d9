#include "rows/axes.h"

#include <string.h>
#include "facility/plan.h"

#define FOUND 1e-11 /* [m, rad] that may be left between the pose and that of the joints */

enum { STEPS = 3 }; /* of Newton: from a cycle before, the second one leaves 1e-12 */

/* What the tool still has to turn and move, in world axes. */
static double left(ff_pose T, ff_pose now, double error[6]) {
    const ff_vec3 d = ff_vec3_sub(T.p, now.p), r = ff_quat_log(ff_quat_mul(T.q, ff_quat_conj(now.q)));
    for (int i = 0; i < 3; i++) {
        error[i] = r.a[i];
        error[3 + i] = d.a[i];
    }
    return fmax(ff_vec3_norm(d), ff_vec3_norm(r));
}

static void stand(const ff_arm_model *arm, const ff_arm_joints *q, ff_row_posture *p) {
    p->T = ff_arm_jacobian_at(arm, q, p->jacobian);
    p->joints = *q;
    p->known = true;
}

static bool newton(const ff_arm_model *arm, ff_pose T, double dt, ff_arm_joints *at, ff_row_posture *p) {
    double b[6], a[36];
    size_t pivots[6];
    if (!p->known || memcmp(&p->joints, at, sizeof *at) != 0)
        stand(arm, at, p);
    double far = left(T, p->T, b);
    for (int n = 0; n < STEPS && far > FOUND; n++) {
        ff_arm_joints q = p->joints;
        for (int i = 0; i < 36; i++)
            a[i] = p->jacobian[i / 6][i % 6];
        if (ff_lu_factor(6, a, pivots) != FF_OK)
            return false;
        ff_lu_solve(6, a, pivots, b);
        for (int i = 0; i < 6; i++) {
            /* a step that no axis makes: the search has left the branch */
            if (!(fabs(b[i]) <= arm->config.speed[i] * dt))
                return false;
            q.a[i] += b[i];
        }
        stand(arm, &q, p);
        far = left(T, p->T, b);
    }
    if (!(far <= FOUND) || ff_arm_outside(arm, &p->joints))
        return false;
    *at = p->joints;
    return true;
}

/* Joints of T_wt, dt [s] after *at, which they replace. By Newton's method from there, where that does not
 * lead to them at once by ff_arm_inverse_after. False: there are none, *at stays. */
static bool follow(const ff_arm_model *arm, ff_pose T_wt, double dt, ff_arm_joints *at, ff_row_posture *p) {
    if (arm->config.axes == 6 && arm->config.rail.rule == FF_ARM_RAIL_NONE && newton(arm, T_wt, dt, at, p))
        return true;
    ff_arm_joints q;
    if (ff_arm_inverse_after(arm, &T_wt, at, dt, &q, NULL) != FF_OK)
        return false;
    *at = q;
    return true;
}

void ff_row_arms_open(const ff_scenario *scenario, const ff_sink *sinks, int count, ff_row_arms *arms) {
    char message[256];
    *arms = (ff_row_arms){.bodies = scenario->satellites, .cycle = scenario->cycle};
    for (int i = 0; i < count; i++)
        arms->wanted = arms->wanted || sinks[i].axes;
    for (int i = 0; arms->wanted && i < arms->bodies; i++)
        if (ff_plan_place(scenario, i, false, &arms->arm[i], &arms->at[i], message, sizeof message) != FF_OK)
            arms->arm[i].config.axes = 0;
}

void ff_row_arms_find(ff_row_arms *arms, ff_row *row) {
    for (int i = 0; i < arms->bodies; i++) {
        ff_row_body *b = &row->body[i];
        const bool found = arms->wanted && arms->arm[i].config.axes &&
                           follow(&arms->arm[i], b->robot.T, arms->cycle, &arms->at[i], &arms->posture[i]);
        b->device.joints = arms->at[i];
        for (int a = 0; !found && a < FF_ARM_AXES; a++)
            b->device.joints.a[a] = FF_NAN;
        if (!found)
            b->device.joints.rail = FF_NAN;
    }
}

void ff_row_arms_keep(ff_row_arms *arms, ff_keeper *keeper) {
    ff_keep(keeper, arms->at, sizeof arms->at);
}
