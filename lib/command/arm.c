/* Kinematics of an arm: the chain as a product of exponentials, and the choice among the inverse's solutions.
 * The closed inverses are arm_closed.c's, the iterative one is arm_search.c's. */
#include "command/arm.h"

#include <string.h>

#define DEG (FF_PI / 180.0)

enum {
    QUICK = 5,      /* iterations of the search in the loop: from a cycle before, two or three are needed */
    LONG = 60,      /* and from anywhere */
    BEGINNINGS = 48 /* of which at least one leads to a solution, if there is any */
};

const char *ff_arm_reason_text(ff_arm_reason reason) {
    switch (reason) {
    case FF_ARM_REACHED:
        return "reached";
    case FF_ARM_TOO_FAR:
        return "the wrist would lie beyond the stretched arm";
    case FF_ARM_TOO_NEAR:
        return "the wrist would lie inside the folded arm";
    case FF_ARM_JOINT_LIMIT:
        return "every branch leaves the range of a joint";
    case FF_ARM_RAIL_LIMIT:
        return "the rail position is outside the rail";
    }
    return "unknown reason";
}

static bool unit_near(ff_quat q) {
    return fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0) < 1e-6;
}

static bool ready_finite(const ff_arm_config *c) {
    for (int i = 0; i < c->axes; i++)
        if (!isfinite(c->ready[i]))
            return false;
    return true;
}

static ff_status check_chain(const ff_arm_config *c) {
    if (!ff_pose_finite(c->flange))
        return FF_ERR_NOT_FINITE;
    double reach = ff_vec3_norm(c->flange.p);
    for (int i = 0; i < c->axes; i++) {
        if (!ff_vec3_finite(c->axis[i].offset) || !ff_vec3_finite(c->axis[i].direction))
            return FF_ERR_NOT_FINITE;
        if (!(fabs(ff_vec3_norm(c->axis[i].direction) - 1.0) < 1e-6))
            return FF_ERR_ARGUMENT;
        reach += i > 0 ? ff_vec3_norm(c->axis[i].offset) : 0.0;
    }
    return reach > 0.0 && unit_near(c->flange.q) ? FF_OK : FF_ERR_ARGUMENT;
}

static ff_status check_lengths(const ff_arm_config *c) {
    if (!isfinite(c->d1) || !isfinite(c->a1) || !isfinite(c->a2) || !isfinite(c->d4) || !isfinite(c->a3) ||
        !isfinite(c->d6))
        return FF_ERR_NOT_FINITE;
    const bool good = c->axes == 6 && c->d1 >= 0.0 && c->a1 >= 0.0 && c->d6 >= 0.0 && c->a2 > 0.0 &&
                      hypot(c->d4, c->a3) > 0.0;
    return good ? FF_OK : FF_ERR_ARGUMENT;
}

ff_status ff_arm_validate(const ff_arm_config *c) {
    if (c->axes != 6 && c->axes != 7)
        return FF_ERR_ARGUMENT;
    const ff_status status = c->chain ? check_chain(c) : check_lengths(c);
    if (status != FF_OK)
        return status;
    if (!ff_pose_finite(c->base) || !ff_pose_finite(c->tool) || !ready_finite(c))
        return FF_ERR_NOT_FINITE;
    if (!unit_near(c->base.q) || !unit_near(c->tool.q))
        return FF_ERR_ARGUMENT;
    for (int i = 0; i < c->axes; i++) {
        if (!isfinite(c->lower[i]) || !isfinite(c->upper[i]))
            return FF_ERR_NOT_FINITE;
        if (!(c->lower[i] < c->upper[i]) || !(c->speed[i] > 0.0))
            return FF_ERR_ARGUMENT;
    }
    const ff_arm_rail *r = &c->rail;
    switch (r->rule) {
    case FF_ARM_RAIL_NONE:
        return FF_OK;
    case FF_ARM_RAIL_GIVEN:
    case FF_ARM_RAIL_FOLLOW:
        if (c->axes != 6)
            return FF_ERR_ARGUMENT;
        if (!ff_vec3_finite(r->axis) || !isfinite(r->lower) || !isfinite(r->upper) || !isfinite(r->standoff))
            return FF_ERR_NOT_FINITE;
        return ff_vec3_norm(r->axis) > 0.0 && r->lower < r->upper && r->speed > 0.0 ? FF_OK : FF_ERR_ARGUMENT;
    }
    return FF_ERR_ARGUMENT;
}

ff_status ff_arm_create(const ff_arm_config *config, ff_arm_model *model) {
    const ff_status status = ff_arm_validate(config);
    if (status)
        return status;
    ff_arm_model m = {.config = *config};
    ff_arm_config *c = &m.config;
    c->base.q = ff_quat_unit(config->base.q);
    c->tool.q = ff_quat_unit(config->tool.q);
    c->rail.axis = ff_vec3_unit(config->rail.axis);
    if (!c->chain)
        ff__arm_lengths(c);
    c->flange.q = ff_quat_unit(c->flange.q);
    m.reach = ff_vec3_norm(c->flange.p);
    for (int i = 0; i < c->axes; i++) {
        c->axis[i].direction = ff_vec3_unit(c->axis[i].direction);
        m.reach += i > 0 ? ff_vec3_norm(c->axis[i].offset) : 0.0;
    }
    m.base_inverse = ff_pose_inverse(c->base);
    m.tool_inverse = ff_pose_inverse(c->tool);
    ff__arm_recognise(&m);
    *model = m;
    return FF_OK;
}

/* ----------------------------------------------------------------------------------------------- forward --
 */

static ff_vec3 rail_shift(const ff_arm_model *model, double rail) {
    return model->config.rail.rule == FF_ARM_RAIL_NONE ? ff_vec3_zero()
                                                       : ff_vec3_scale(rail, model->config.rail.axis);
}

void ff__arm_chain_at(const ff_arm_model *model, const double *q, ff__arm_chain *k) {
    const ff_arm_config *c = &model->config;
    ff_pose at = ff_pose_identity();
    for (int i = 0; i < c->axes; i++) {
        const ff_arm_axis *axis = &c->axis[i];
        const double half = 0.5 * q[i], s = sin(half);
        at.p = i > 0 ? ff_vec3_add(at.p, ff_quat_rotate(at.q, axis->offset)) : axis->offset;
        k->point[i] = at.p;
        k->axis[i] = i > 0 ? ff_quat_rotate(at.q, axis->direction) : axis->direction;
        const ff_quat turn = {cos(half), s * axis->direction.x, s * axis->direction.y, s * axis->direction.z};
        at.q = i > 0 ? ff_quat_mul(at.q, turn) : turn;
    }
    k->T_bf = ff_pose_mul(at, c->flange);
}

static ff_pose tool_of(const ff_arm_model *model, const ff__arm_chain *k, double rail) {
    const ff_pose T_bf = {k->T_bf.q, ff_vec3_add(k->T_bf.p, rail_shift(model, rail))};
    return ff_pose_mul(ff_pose_mul(model->config.base, T_bf), model->config.tool);
}

ff_pose ff_arm_forward(const ff_arm_model *model, const ff_arm_joints *joints) {
    ff__arm_chain k;
    ff__arm_chain_at(model, joints->a, &k);
    return tool_of(model, &k, joints->rail);
}

ff_pose ff_arm_jacobian_at(const ff_arm_model *model, const ff_arm_joints *joints, double jacobian[6][7]) {
    ff__arm_chain k;
    ff__arm_chain_at(model, joints->a, &k);
    const ff_quat q = model->config.base.q;
    const ff_vec3 tool = ff_pose_apply(k.T_bf, model->config.tool.p);
    for (int i = 0; i < 7; i++) {
        ff_vec3 w = ff_vec3_zero(), v;
        if (i < model->config.axes) {
            w = k.axis[i];
            v = ff_vec3_cross(w, ff_vec3_sub(tool, k.point[i]));
        } else {
            v = rail_shift(model, 1.0);
        }
        w = ff_quat_rotate(q, w);
        v = ff_quat_rotate(q, v);
        for (int r = 0; r < 3; r++) {
            jacobian[r][i] = w.a[r];
            jacobian[3 + r][i] = v.a[r];
        }
    }
    return tool_of(model, &k, joints->rail);
}

void ff_arm_jacobian(const ff_arm_model *model, const ff_arm_joints *joints, double jacobian[6][7]) {
    ff_arm_jacobian_at(model, joints, jacobian);
}

ff_twist ff_arm_twist(const ff_arm_model *model, const ff_arm_joints *joints,
                      const double rates[FF_ARM_AXES]) {
    double J[6][7];
    ff_twist twist = ff_twist_zero();
    ff_arm_jacobian(model, joints, J);
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < model->config.axes; a++) {
            twist.w.a[i] += J[i][a] * rates[a];
            twist.v.a[i] += J[3 + i][a] * rates[a];
        }
    twist.w = ff_quat_unrotate(ff_arm_forward(model, joints).q, twist.w);
    return twist;
}

ff_status ff_arm_rates(const ff_arm_model *model, const ff_arm_joints *joints, const ff_twist *twist,
                       double rates[FF_ARM_AXES]) {
    const int n = model->config.axes;
    const ff_vec3 w = ff_quat_rotate(ff_arm_forward(model, joints).q, twist->w);
    double J[6][7], a[36], b[6];
    size_t pivots[6];
    ff_arm_jacobian(model, joints, J);
    for (int i = 0; i < 36; i++) { /* seven: J^T (J J^T)^-1 */
        a[i] = n == 6 ? J[i / 6][i % 6] : 0.0;
        for (int k = 0; n > 6 && k < n; k++)
            a[i] += J[i / 6][k] * J[i % 6][k];
    }
    for (int i = 0; i < 3; i++) {
        b[i] = w.a[i];
        b[3 + i] = twist->v.a[i];
    }
    const ff_status status = ff_lu_factor(6, a, pivots);
    if (status != FF_OK)
        return status;
    ff_lu_solve(6, a, pivots, b);
    for (int k = 0; k < n; k++) {
        rates[k] = n == 6 ? b[k] : 0.0;
        for (int i = 0; n > 6 && i < 6; i++)
            rates[k] += J[i][k] * b[i];
    }
    return FF_OK;
}

ff_arm_margin ff_arm_singularity(const ff_arm_model *m, const ff_arm_joints *joints) {
    const double *q = joints->a;
    ff_arm_margin margin;
    if (m->form == FF_ARM_SEARCH) {
        margin.shoulder = margin.elbow = margin.wrist = margin.smallest = ff__arm_condition(m, q);
        return margin;
    }
    double forward, bend, wrist, longest = m->a1 + m->a2 + m->forearm;
    if (m->form == FF_ARM_ELBOW) {
        const double a2 = m->sign[1] * q[1] + m->zero[1], a3 = m->sign[2] * q[2] + m->zero[2];
        /* forward distance of the wrist from axis 1; forearm elevation -(A2 + A3) + forearm_angle */
        bend = m->forearm_angle - a3;
        forward = m->a1 + m->a2 * cos(a2) + m->forearm * cos(m->forearm_angle - a2 - a3);
        wrist = m->sign[4] * q[4] + m->zero[4];
    } else {
        const double upper = q[1] + m->zero[1], turn = q[1] + m->sign[2] * q[2], fore = turn + m->zero[2];
        const double hand = turn + m->sign[3] * q[3];
        bend = fore - upper;
        forward = m->a1 + m->a2 * cos(upper) + m->forearm * cos(fore) + m->d4 * cos(hand) + m->a3 * sin(hand);
        wrist = q[4] - m->zero[4];
        longest += hypot(m->d4, m->a3);
    }
    margin.shoulder = fabs(forward) / longest;
    margin.elbow = fabs(sin(bend));
    margin.wrist = fabs(sin(wrist));
    margin.smallest = fmin(margin.shoulder, fmin(margin.elbow, margin.wrist));
    return margin;
}

int ff_arm_outside(const ff_arm_model *model, const ff_arm_joints *joints) {
    const ff_arm_config *c = &model->config;
    for (int i = 0; i < c->axes; i++)
        if (!(joints->a[i] >= c->lower[i] - EDGE && joints->a[i] <= c->upper[i] + EDGE))
            return i + 1;
    if (c->rail.rule != FF_ARM_RAIL_NONE &&
        !(joints->rail >= c->rail.lower - EDGE && joints->rail <= c->rail.upper + EDGE))
        return 7;
    return 0;
}

/* ----------------------------------------------------------------------------------------------- inverse --
 */

/* The turn of an angle that is nearest to `near`; if that leaves the range and another turn is inside, the
 * one nearest among those. */
static double choose_turn(double angle, double near, double lower, double upper) {
    const double turn = 2.0 * FF_PI;
    const double best = angle + turn * round((near - angle) / turn);
    if (best < lower - EDGE) {
        const double up = best + turn * ceil((lower - EDGE - best) / turn);
        return up <= upper + EDGE ? up : best;
    }
    if (best > upper + EDGE) {
        const double down = best - turn * ceil((best - upper - EDGE) / turn);
        return down >= lower - EDGE ? down : best;
    }
    return best;
}

static bool joints_finite(const ff_arm_joints *j) {
    for (int i = 0; i < FF_ARM_AXES; i++)
        if (!isfinite(j->a[i]))
            return false;
    return isfinite(j->rail);
}

/* T_bf with the arm's own base at the origin, that is, without the rail. */
static ff_pose flange_in_base(const ff_arm_model *model, const ff_pose *T_wt) {
    const ff_pose T = {ff_quat_unit(T_wt->q), T_wt->p};
    return ff_pose_mul(ff_pose_mul(model->base_inverse, T), model->tool_inverse);
}

/* An arm without a closed inverse: what is found from the previous joints, then from elsewhere. A solution
 * that is there already does not count again. */
static int search_all(const ff_arm_model *model, const ff_pose *T_bf, const double *previous, int most,
                      ff_arm_solution solution[8], ff_arm_info *info) {
    int count = 0;
    info->excess = FF_INF;
    for (int n = -1; n < BEGINNINGS && count < most; n++) {
        ff_arm_solution *s = &solution[count];
        *s = (ff_arm_solution){.branch = count};
        if (n < 0)
            memcpy(s->joints.a, previous, sizeof s->joints.a);
        else
            ff__arm_begin(model, n, s->joints.a);
        const double left = ff__arm_search(model, T_bf, s->joints.a, LONG, n < 0 ? 0.0 : FF_INF);
        info->excess = fmin(info->excess, left);
        bool fresh = left < FF__ARM_FOUND;
        for (int k = 0; k < count && fresh; k++) {
            double apart = 0.0;
            for (int i = 0; i < model->config.axes; i++)
                apart = fmax(apart, fabs(remainder(s->joints.a[i] - solution[k].joints.a[i], 2.0 * FF_PI)));
            fresh = apart > 1e-3;
        }
        count += fresh;
    }
    info->reason = count ? FF_ARM_REACHED : FF_ARM_TOO_FAR;
    info->excess = count ? 0.0 : info->excess;
    return count;
}

static bool in_range(const ff_arm_model *model, ff_arm_solution *s, const double *previous, double rail) {
    const ff_arm_config *c = &model->config;
    for (int i = 0; i < c->axes; i++)
        s->joints.a[i] = choose_turn(s->joints.a[i], previous[i], c->lower[i], c->upper[i]);
    s->joints.rail = 0.0;
    const int outside = ff_arm_outside(model, &s->joints);
    s->outside = outside <= c->axes ? outside : 0;
    s->joints.rail = rail;
    return !s->outside;
}

/* The search of a running loop: from the previous joints alone. */
static int search_near(const ff_arm_model *model, const ff_pose *T_bf, const double *previous, double dt,
                       ff_arm_solution *s, ff_arm_info *info) {
    *s = (ff_arm_solution){0};
    memcpy(s->joints.a, previous, sizeof s->joints.a);
    const double left = ff__arm_search(model, T_bf, s->joints.a, QUICK, dt);
    if (left < FF__ARM_FOUND)
        return 1;
    info->reason = FF_ARM_TOO_FAR;
    info->excess = left;
    return 0;
}

/* Solutions for the pose: all; or dt after the previous joints, as many as a choice needs. */
static ff_status solve(const ff_arm_model *model, const ff_pose *T_wt, double rail,
                       const ff_arm_joints *previous, double dt, bool all, ff_arm_solution solutions[8],
                       int *count, ff_arm_info *info) {
    *info = (ff_arm_info){.reason = FF_ARM_REACHED};
    ff_pose T = flange_in_base(model, T_wt);
    T.p = ff_vec3_sub(T.p, rail_shift(model, rail));
    const double *from = previous->a;
    if (model->form != FF_ARM_SEARCH)
        *count = ff__arm_closed(model, &T, from, solutions, info);
    else if (isfinite(dt))
        *count = search_near(model, &T, from, dt, solutions, info);
    else { /* the nearest will do, if it is inside the ranges */
        *count = all ? 0 : search_all(model, &T, from, 1, solutions, info);
        if (*count == 0 || !in_range(model, solutions, from, rail))
            *count = search_all(model, &T, from, 8, solutions, info);
    }
    for (int i = 0; i < *count; i++)
        in_range(model, &solutions[i], from, rail);
    info->branches = *count;
    return *count ? FF_OK : FF_ERR_REACH;
}

ff_status ff_arm_inverse_all(const ff_arm_model *model, const ff_pose *T_wt, double rail,
                             const ff_arm_joints *previous, ff_arm_solution solutions[8], int *count,
                             ff_arm_info *info) {
    ff_arm_info found;
    *count = 0;
    if (info)
        *info = (ff_arm_info){.reason = FF_ARM_REACHED};
    if (!ff_pose_finite(*T_wt) || !isfinite(rail) || !joints_finite(previous))
        return FF_ERR_NOT_FINITE;
    const ff_status status = solve(model, T_wt, rail, previous, FF_INF, true, solutions, count, &found);
    if (info)
        *info = found;
    return status;
}

double ff_arm_along(const ff_arm_model *model, const ff_pose *T_wt) {
    if (model->config.rail.rule == FF_ARM_RAIL_NONE)
        return 0.0;
    const ff_pose T_bf = flange_in_base(model, T_wt);
    return ff_vec3_dot(model->config.rail.axis, ff__arm_wrist(model, &T_bf));
}

ff_status ff_arm_inverse(const ff_arm_model *model, const ff_pose *T_wt, const ff_arm_joints *previous,
                         ff_arm_joints *joints, ff_arm_info *info) {
    return ff_arm_inverse_after(model, T_wt, previous, FF_INF, joints, info);
}

ff_status ff_arm_inverse_after(const ff_arm_model *model, const ff_pose *T_wt, const ff_arm_joints *previous,
                               double dt, ff_arm_joints *joints, ff_arm_info *info) {
    const ff_arm_rail *r = &model->config.rail;
    ff_arm_info found = {.reason = FF_ARM_REACHED};
    ff_arm_solution solutions[8];
    int count = 0;
    if (!ff_pose_finite(*T_wt) || !joints_finite(previous))
        return FF_ERR_NOT_FINITE;
    double rail = 0.0;
    if (r->rule == FF_ARM_RAIL_GIVEN)
        rail = previous->rail;
    if (r->rule == FF_ARM_RAIL_FOLLOW) {
        const double step = r->speed * dt;
        rail = ff_arm_along(model, T_wt) - r->standoff;
        rail = fmin(fmax(rail, previous->rail - step), previous->rail + step);
        rail = fmin(fmax(rail, r->lower), r->upper);
    }
    ff_status status = FF_OK;
    if (r->rule == FF_ARM_RAIL_GIVEN && !(rail >= r->lower - EDGE && rail <= r->upper + EDGE)) {
        found.reason = FF_ARM_RAIL_LIMIT;
        found.excess = rail > r->upper ? rail - r->upper : r->lower - rail;
        status = FF_ERR_REACH;
    }
    if (!status)
        status = solve(model, T_wt, rail, previous, dt, false, solutions, &count, &found);
    if (!status) {
        int best = -1, nearest = 0;
        double best_distance = FF_INF, nearest_distance = FF_INF;
        for (int i = 0; i < count; i++) {
            double distance = 0.0;
            for (int k = 0; k < model->config.axes; k++) {
                const double d = solutions[i].joints.a[k] - previous->a[k];
                distance += d * d;
            }
            if (distance < nearest_distance) {
                nearest_distance = distance;
                nearest = i;
            }
            if (!solutions[i].outside && distance < best_distance) {
                best_distance = distance;
                best = i;
            }
        }
        if (best >= 0) {
            *joints = solutions[best].joints;
            found.branch = solutions[best].branch;
            found.margin = ff_arm_singularity(model, joints);
        } else {
            const int axis = solutions[nearest].outside;
            const double a = solutions[nearest].joints.a[axis - 1];
            found.reason = FF_ARM_JOINT_LIMIT;
            found.axis = axis;
            found.excess = fmax(a - model->config.upper[axis - 1], model->config.lower[axis - 1] - a);
            status = FF_ERR_REACH;
        }
    }
    if (info)
        *info = found;
    return status;
}

/* ------------------------------------------------------------------------------------------------- KUKA --
 */

void ff_arm_to_kuka(const ff_arm_joints *joints, double axis_deg[6], double *e1_mm) {
    for (int i = 0; i < 6; i++)
        axis_deg[i] = joints->a[i] / DEG;
    *e1_mm = joints->rail * 1e3;
}

ff_arm_joints ff_arm_from_kuka(const double axis_deg[6], double e1_mm) {
    ff_arm_joints joints = {.rail = e1_mm * 1e-3};
    for (int i = 0; i < 6; i++)
        joints.a[i] = axis_deg[i] * DEG;
    return joints;
}
