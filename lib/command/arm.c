/* Kinematics of a six-axis arm with spherical wrist. The inverse is the textbook decoupling (wrist centre,
 * then two-link arm, then wrist angles; e.g. Siciliano et al., Robotics, 2.12), written for KUKA's axes
 * directly so that no table of offsets and signs stands between a joint and AIPos. */
#include "freefloat/command.h"

#define DEG (FF_PI / 180.0)

/* Lengths below this [m] leave a direction undefined; sines below SINGULAR leave A4 undefined. */
#define ON_AXIS 1e-12
#define SINGULAR 1e-12
/* Rounding allowed at the edge of the reach [m] and of a range [rad]. */
#define EDGE 1e-12

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

static void set_ranges(ff_arm_config *config, const double deg[6][3]) {
    for (int i = 0; i < 6; i++) {
        config->lower[i] = deg[i][0] * DEG;
        config->upper[i] = deg[i][1] * DEG;
        config->speed[i] = deg[i][2] * DEG;
    }
}

ff_status ff_arm_default(ff_arm_kind kind, ff_arm_config *config) {
    ff_arm_config c = {.rail = {.rule = FF_ARM_RAIL_NONE, .axis = {{0, 1, 0}}}};
    c.base = c.tool = ff_pose_identity();
    switch (kind) {
    case FF_ARM_KR120: {
        /* Lengths: public URDF kuka_experimental/kuka_kr120_support/urdf/kr120r2500pro_macro.xacro. Ranges
         * and speeds: KUKA's data sheet KR QUANTEC pro, KR 120 R2500 pro; not the URDF's, which repeats those
         * of the KR 16. Cross-check: the sheet's reach of 2496 mm is a1 + a2 cos 5 deg + forearm, so A2 ends
         * at -5. */
        c.d1 = 0.675;
        c.a1 = 0.350;
        c.a2 = 1.150;
        c.d4 = 1.000;
        c.a3 = -0.041;
        c.d6 = 0.215;
        set_ranges(&c, (const double[6][3]){{-185, 185, 136},
                                            {-140, -5, 130},
                                            {-120, 155, 120},
                                            {-350, 350, 292},
                                            {-125, 125, 258},
                                            {-350, 350, 284}});
        break;
    }
    case FF_ARM_KR16: {
        /* Public URDF kuka_experimental/kuka_kr16_support/urdf/kr16_2_macro.xacro, which follows KUKA's KR
         * 16-2 specification. The sheet's reach of 1611 mm is a1 + a2 + forearm. */
        c.d1 = 0.675;
        c.a1 = 0.260;
        c.a2 = 0.680;
        c.d4 = 0.670;
        c.a3 = -0.035;
        c.d6 = 0.158;
        set_ranges(&c, (const double[6][3]){{-185, 185, 156},
                                            {-155, 35, 156},
                                            {-130, 154, 156},
                                            {-350, 350, 330},
                                            {-130, 130, 330},
                                            {-350, 350, 615}});
        break;
    }
    default:
        return FF_ERR_ARGUMENT;
    }
    *config = c;
    return FF_OK;
}

static bool unit_near(ff_quat q) {
    return fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0) < 1e-6;
}

ff_status ff_arm_validate(const ff_arm_config *c) {
    if (!isfinite(c->d1) || !isfinite(c->a1) || !isfinite(c->a2) || !isfinite(c->d4) || !isfinite(c->a3) ||
        !isfinite(c->d6) || !ff_pose_finite(c->base) || !ff_pose_finite(c->tool))
        return FF_ERR_NOT_FINITE;
    if (c->d1 < 0.0 || c->a1 < 0.0 || c->d6 < 0.0 || !(c->a2 > 0.0) || !(hypot(c->d4, c->a3) > 0.0))
        return FF_ERR_ARGUMENT;
    if (!unit_near(c->base.q) || !unit_near(c->tool.q))
        return FF_ERR_ARGUMENT;
    for (int i = 0; i < 6; i++) {
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
    m.config.base.q = ff_quat_unit(config->base.q);
    m.config.tool.q = ff_quat_unit(config->tool.q);
    m.config.rail.axis = ff_vec3_unit(config->rail.axis);
    m.forearm = hypot(config->d4, config->a3);
    m.forearm_angle = atan2(config->a3, config->d4);
    m.base_inverse = ff_pose_inverse(m.config.base);
    m.tool_inverse = ff_pose_inverse(m.config.tool);
    *model = m;
    return FF_OK;
}

/* ----------------------------------------------------------------------------------------------- forward --
 */

static ff_mat3 rot_x(double angle) {
    const double c = cos(angle), s = sin(angle);
    return (ff_mat3){{{1, 0, 0}, {0, c, -s}, {0, s, c}}};
}
static ff_mat3 rot_y(double angle) {
    const double c = cos(angle), s = sin(angle);
    return (ff_mat3){{{c, 0, s}, {0, 1, 0}, {-s, 0, c}}};
}
static ff_mat3 rot_z(double angle) {
    const double c = cos(angle), s = sin(angle);
    return (ff_mat3){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
}
static ff_vec3 column(const ff_mat3 *m, int i) {
    return ff_vec3_make(m->m[0][i], m->m[1][i], m->m[2][i]);
}

/* x -> z of the flange: Ry(90 deg) without rounding */
static const ff_mat3 flange_turn = {{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}};

static ff_vec3 rail_shift(const ff_arm_model *model, double rail) {
    return model->config.rail.rule == FF_ARM_RAIL_NONE ? ff_vec3_zero()
                                                       : ff_vec3_scale(rail, model->config.rail.axis);
}

/* Everything the forward map and the Jacobian need, in base coordinates. */
typedef struct chain {
    ff_vec3 axis[6];  /* unit, positive sense */
    ff_vec3 point[6]; /* on the axis [m] */
    ff_vec3 wrist;    /* [m] */
    ff_mat3 R_bf;
    ff_vec3 p_bf;
} chain;

static void chain_at(const ff_arm_model *model, const ff_arm_joints *j, chain *k) {
    const ff_arm_config *c = &model->config;
    const ff_mat3 R1 = rot_z(-j->a[0]);
    const ff_mat3 R2 = ff_mat3_mul(R1, rot_y(j->a[1]));
    const ff_mat3 R3 = ff_mat3_mul(R1, rot_y(j->a[1] + j->a[2]));
    const ff_mat3 R4 = ff_mat3_mul(R3, rot_x(-j->a[3]));
    const ff_mat3 R5 = ff_mat3_mul(R4, rot_y(j->a[4]));
    const ff_mat3 R6 = ff_mat3_mul(R5, rot_x(-j->a[5]));
    const ff_vec3 origin = rail_shift(model, j->rail);
    const ff_vec3 p1 = ff_vec3_add(origin, ff_vec3_make(0, 0, c->d1));
    const ff_vec3 p2 = ff_vec3_axpy(c->a1, column(&R1, 0), p1);
    const ff_vec3 p3 = ff_vec3_axpy(c->a2, column(&R2, 0), p2);
    k->wrist = ff_vec3_axpy(c->a3, column(&R3, 2), ff_vec3_axpy(c->d4, column(&R3, 0), p3));
    k->R_bf = ff_mat3_mul(R6, flange_turn);
    k->p_bf = ff_vec3_axpy(c->d6, column(&R6, 0), k->wrist);
    k->axis[0] = ff_vec3_make(0, 0, -1);
    k->axis[1] = k->axis[2] = column(&R1, 1);
    k->axis[3] = ff_vec3_neg(column(&R3, 0));
    k->axis[4] = column(&R4, 1);
    k->axis[5] = ff_vec3_neg(column(&R5, 0));
    k->point[0] = p1;
    k->point[1] = p2;
    k->point[2] = p3;
    k->point[3] = k->point[4] = k->point[5] = k->wrist;
}

ff_pose ff_arm_forward(const ff_arm_model *model, const ff_arm_joints *joints) {
    chain k;
    chain_at(model, joints, &k);
    const ff_pose T_bf = {ff_quat_from_mat3(k.R_bf), k.p_bf};
    return ff_pose_mul(ff_pose_mul(model->config.base, T_bf), model->config.tool);
}

void ff_arm_jacobian(const ff_arm_model *model, const ff_arm_joints *joints, double jacobian[6][7]) {
    chain k;
    chain_at(model, joints, &k);
    const ff_quat q = model->config.base.q;
    const ff_vec3 tool = ff_vec3_add(k.p_bf, ff_mat3_apply(&k.R_bf, model->config.tool.p));
    for (int i = 0; i < 7; i++) {
        ff_vec3 w = ff_vec3_zero(), v;
        if (i < 6) {
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
}

ff_arm_margin ff_arm_singularity(const ff_arm_model *model, const ff_arm_joints *joints) {
    const ff_arm_config *c = &model->config;
    const double *a = joints->a;
    /* forward distance of the wrist from axis 1; forearm elevation -(A2 + A3) + forearm_angle */
    const double forward =
        c->a1 + c->a2 * cos(a[1]) + model->forearm * cos(model->forearm_angle - a[1] - a[2]);
    ff_arm_margin m;
    m.shoulder = fabs(forward) / (c->a1 + c->a2 + model->forearm);
    m.elbow = fabs(sin(model->forearm_angle - a[2]));
    m.wrist = fabs(sin(a[4]));
    m.smallest = fmin(m.shoulder, fmin(m.elbow, m.wrist));
    return m;
}

int ff_arm_outside(const ff_arm_model *model, const ff_arm_joints *joints) {
    const ff_arm_config *c = &model->config;
    for (int i = 0; i < 6; i++)
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
    for (int i = 0; i < 6; i++)
        if (!isfinite(j->a[i]))
            return false;
    return isfinite(j->rail);
}

/* T_bf with the arm's own base at the origin, that is, without the rail. */
static ff_pose flange_in_base(const ff_arm_model *model, const ff_pose *T_wt) {
    const ff_pose T = {ff_quat_unit(T_wt->q), T_wt->p};
    return ff_pose_mul(ff_pose_mul(model->base_inverse, T), model->tool_inverse);
}

static ff_vec3 wrist_centre(const ff_arm_model *model, const ff_pose *T_bf) {
    return ff_vec3_axpy(-model->config.d6, ff_quat_rotate(T_bf->q, ff_vec3_make(0, 0, 1)), T_bf->p);
}

ff_status ff_arm_inverse_all(const ff_arm_model *model, const ff_pose *T_wt, double rail,
                             const ff_arm_joints *previous, ff_arm_solution solutions[8], int *count,
                             ff_arm_info *info) {
    const ff_arm_config *c = &model->config;
    *count = 0;
    if (info)
        *info = (ff_arm_info){.reason = FF_ARM_REACHED};
    if (!ff_pose_finite(*T_wt) || !isfinite(rail) || !joints_finite(previous))
        return FF_ERR_NOT_FINITE;
    ff_pose T = flange_in_base(model, T_wt);
    T.p = ff_vec3_sub(T.p, rail_shift(model, rail));
    const ff_vec3 w = wrist_centre(model, &T);
    /* R0 = R_bf Ry(-90 deg): its x axis leaves the flange */
    const ff_mat3 R0 = ff_mat3_mul(ff_quat_to_mat3(T.q), ff_mat3_transpose(flange_turn));
    const double radius = hypot(w.x, w.y), z = w.z - c->d1;
    const double azimuth = radius > ON_AXIS ? atan2(w.y, w.x) : -previous->a[0];
    const double longest = c->a2 + model->forearm, shortest = fabs(c->a2 - model->forearm);

    ff_arm_reason reason = FF_ARM_REACHED;
    double excess = FF_INF;
    for (int back = 0; back < 2; back++) {
        const double forward = (back ? -radius : radius) - c->a1;
        const double reach = hypot(forward, z);
        if (reach > longest + EDGE || reach < shortest - EDGE) {
            const double over = reach > longest ? reach - longest : shortest - reach;
            if (over < excess) {
                excess = over;
                reason = reach > longest ? FF_ARM_TOO_FAR : FF_ARM_TOO_NEAR;
            }
            continue;
        }
        const double a1 = -(azimuth + (back ? FF_PI : 0.0));
        /* cosine of the elevation of the forearm over that of the upper arm, as 1 - c and 1 + c to keep the
         * digits at both ends */
        const double minus =
            fmax((longest - reach) * (longest + reach) / (2.0 * c->a2 * model->forearm), 0.0);
        const double plus =
            fmax((reach - shortest) * (reach + shortest) / (2.0 * c->a2 * model->forearm), 0.0);
        const double bend = 2.0 * atan2(sqrt(minus), sqrt(plus));
        for (int low = 0; low < 2; low++) {
            /* elbow above the line: the forearm hangs down from the upper arm */
            const double gamma = low ? bend : -bend;
            const double lift =
                atan2(z, forward) - atan2(model->forearm * sin(gamma), c->a2 + model->forearm * cos(gamma));
            const double a2 = -lift, a3 = model->forearm_angle - gamma;
            const ff_mat3 R3 = ff_mat3_mul(rot_z(-a1), rot_y(a2 + a3));
            const ff_mat3 M = ff_mat3_mul(ff_mat3_transpose(R3), R0);
            /* M = Rx(-A4) Ry(A5) Rx(-A6); first column (c5, -s4 s5, -c4 s5) */
            const double s5 = hypot(M.m[1][0], M.m[2][0]);
            for (int flip = 0; flip < 2; flip++) {
                const double sign = flip ? -1.0 : 1.0;
                const double a5 = atan2(sign * s5, M.m[0][0]);
                const double a4 =
                    s5 > SINGULAR ? atan2(-sign * M.m[1][0], -sign * M.m[2][0]) : previous->a[3];
                /* A6 from what is left: then A4 + A6 stays exact where A4 alone is not. */
                const ff_mat3 left = ff_mat3_mul(rot_x(-a4), rot_y(a5));
                const ff_mat3 rest = ff_mat3_mul(ff_mat3_transpose(left), M);
                const double a6 = atan2(rest.m[1][2] - rest.m[2][1], rest.m[1][1] + rest.m[2][2]);
                const double angle[6] = {a1, a2, a3, a4, a5, a6};
                ff_arm_solution *s = &solutions[(*count)++];
                *s = (ff_arm_solution){.joints = {.rail = rail}};
                for (int i = 0; i < 6; i++)
                    s->joints.a[i] = choose_turn(angle[i], previous->a[i], c->lower[i], c->upper[i]);
                s->branch =
                    (back ? FF_ARM_BACK : 0) | (low ? FF_ARM_ELBOW_LOW : 0) | (flip ? FF_ARM_WRIST_FLIP : 0);
                const int outside = ff_arm_outside(model, &s->joints);
                s->outside = outside < 7 ? outside : 0;
            }
        }
    }
    /* by branch number: insertion sort of at most eight */
    for (int i = 1; i < *count; i++) {
        const ff_arm_solution s = solutions[i];
        int k = i;
        for (; k > 0 && solutions[k - 1].branch > s.branch; k--)
            solutions[k] = solutions[k - 1];
        solutions[k] = s;
    }
    if (info) {
        info->branches = *count;
        if (*count == 0) {
            info->reason = reason;
            info->excess = excess;
        }
    }
    return *count ? FF_OK : FF_ERR_REACH;
}

double ff_arm_along(const ff_arm_model *model, const ff_pose *T_wt) {
    if (model->config.rail.rule == FF_ARM_RAIL_NONE)
        return 0.0;
    const ff_pose T_bf = flange_in_base(model, T_wt);
    return ff_vec3_dot(model->config.rail.axis, wrist_centre(model, &T_bf));
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
        status = ff_arm_inverse_all(model, T_wt, rail, previous, solutions, &count, &found);
    if (!status) {
        int best = -1, nearest = 0;
        double best_distance = FF_INF, nearest_distance = FF_INF;
        for (int i = 0; i < count; i++) {
            double distance = 0.0;
            for (int k = 0; k < 6; k++) {
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
