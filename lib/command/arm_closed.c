/* Closed inverses of two families of six-axis arms, and how a chain is recognised as one of them.
 *
 * Elbow arms with a spherical wrist: the textbook decoupling (wrist centre, then two-link arm, then wrist
 * angles; e.g. Siciliano et al., Robotics, 2.12), written for KUKA's axes; other arms of the family differ by
 * the sense and zero of their joints, by where their base and flange are, and by a shoulder to one side.
 * Offset arms (axes 2, 3, 4 parallel, 5 across them, 6 across 5 and meeting it; Universal Robots): the point
 * where 5 and 6 meet keeps its distance from the plane of the arm, which gives axis 1; the part of axis 6
 * along axis 2 gives axis 5; what is left is a planar arm of two links (e.g. Hawkins, Analytic inverse
 * kinematics for the Universal Robots, 2013). */
#include "command/arm.h"

#define EXACT 1e-11 /* [m], [rad] a chain of a family is one to this */

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

/* x -> z of the flange: Ry(90 deg) without rounding */
static const ff_mat3 flange_turn = {{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}};

void ff__arm_lengths(ff_arm_config *c) {
    static const ff_vec3 down = {{0, 0, -1}}, left = {{0, 1, 0}}, back = {{-1, 0, 0}};
    c->axis[0] = (ff_arm_axis){ff_vec3_make(0, 0, c->d1), down};
    c->axis[1] = (ff_arm_axis){ff_vec3_make(c->a1, 0, 0), left};
    c->axis[2] = (ff_arm_axis){ff_vec3_make(c->a2, 0, 0), left};
    c->axis[3] = (ff_arm_axis){ff_vec3_make(c->d4, 0, c->a3), back};
    c->axis[4] = (ff_arm_axis){ff_vec3_zero(), left};
    c->axis[5] = (ff_arm_axis){ff_vec3_zero(), back};
    c->flange = (ff_pose){ff_quat_from_mat3(flange_turn), ff_vec3_make(c->d6, 0, 0)};
}

/* --------------------------------------------------------------------------------------------- recognise --
 */

static bool across(ff_vec3 a, ff_vec3 b) {
    return fabs(ff_vec3_dot(a, b)) < EXACT;
}

static bool along(ff_vec3 a, ff_vec3 b) {
    return ff_vec3_norm(ff_vec3_cross(a, b)) < EXACT;
}

/* Where two axes that are across each other meet. */
static bool meet(ff_vec3 p, ff_vec3 u, ff_vec3 q, ff_vec3 v, ff_vec3 *at) {
    const ff_vec3 d = ff_vec3_sub(q, p);
    *at = ff_vec3_axpy(ff_vec3_dot(d, u), u, p);
    return ff_vec3_norm(ff_vec3_cross(ff_vec3_sub(*at, q), v)) < EXACT;
}

/* From base coordinates into axes x, y, z that stand at `origin`. */
static ff_pose frame_inverse(ff_vec3 x, ff_vec3 y, ff_vec3 z, ff_vec3 origin) {
    const ff_mat3 R = {{{x.x, x.y, x.z}, {y.x, y.y, y.z}, {z.x, z.y, z.z}}};
    return (ff_pose){ff_quat_unit(ff_quat_from_mat3(R)), ff_vec3_neg(ff_mat3_apply(&R, origin))};
}

/* An angle about +y whose x axis points along v (in the plane of x and z). */
static double angle_y(ff_vec3 v) {
    return atan2(-v.z, v.x);
}

static ff_vec3 column(const ff_mat3 *m, int i) {
    return ff_vec3_make(m->m[0][i], m->m[1][i], m->m[2][i]);
}

static bool recognise_elbow(ff_arm_model *m, const ff__arm_chain *k) {
    const ff_vec3 *u = k->axis, *p = k->point;
    ff_vec3 wrist, again;
    if (!across(u[0], u[1]) || !along(u[1], u[2]) || !across(u[2], u[3]) || !across(u[3], u[4]) ||
        !across(u[4], u[5]) || !meet(p[3], u[3], p[4], u[4], &wrist) ||
        !meet(wrist, u[4], p[5], u[5], &again) || ff_vec3_norm(ff_vec3_sub(wrist, again)) > EXACT)
        return false;
    const ff_vec3 z = ff_vec3_neg(u[0]);
    ff_vec3 y = u[1];
    if (ff_vec3_dot(ff_vec3_cross(y, z), ff_vec3_sub(p[1], p[0])) < 0.0)
        y = ff_vec3_neg(y); /* axis 2 lies in front */
    const ff_pose stand = frame_inverse(ff_vec3_cross(y, z), y, z, p[0]);
    const ff_vec3 shoulder = ff_pose_apply(stand, p[1]), elbow = ff_pose_apply(stand, p[2]),
                  hand = ff_pose_apply(stand, wrist);
    const ff_vec3 upper = ff_vec3_make(elbow.x - shoulder.x, 0, elbow.z - shoulder.z);
    const ff_vec3 fore = ff_vec3_make(hand.x - elbow.x, 0, hand.z - elbow.z);
    ff_vec3 ahead = ff_vec3_neg(ff_quat_rotate(stand.q, u[3]));
    m->sign[3] = ff_vec3_dot(ahead, fore) < 0.0 ? -1.0 : 1.0;
    ahead = ff_vec3_scale(m->sign[3], ahead);
    m->sign[0] = m->sign[4] = m->sign[5] = 1.0;
    m->sign[1] = ff_vec3_dot(u[1], y) < 0.0 ? -1.0 : 1.0;
    m->sign[2] = ff_vec3_dot(u[2], y) < 0.0 ? -1.0 : 1.0;
    m->d1 = shoulder.z;
    m->a1 = shoulder.x;
    m->side = hand.y;
    m->a2 = ff_vec3_norm(upper);
    m->zero[0] = m->zero[5] = 0.0;
    m->zero[1] = angle_y(upper);
    const double lift = angle_y(ahead);
    m->zero[2] = lift - m->zero[1];
    const ff_mat3 R3 = rot_y(lift);
    m->d4 = ff_vec3_dot(fore, column(&R3, 0));
    m->a3 = ff_vec3_dot(fore, column(&R3, 2));
    m->d6 = 0.0;
    const ff_vec3 five = ff_mat3_apply_transpose(&R3, ff_quat_rotate(stand.q, u[4]));
    m->zero[3] = atan2(-five.z, five.y);
    const ff_mat3 R4 = ff_mat3_mul(R3, rot_x(-m->zero[3]));
    const ff_vec3 out = ff_mat3_apply_transpose(&R4, ff_vec3_neg(ff_quat_rotate(stand.q, u[5])));
    m->zero[4] = angle_y(out);
    if (!(m->a2 > EXACT) || !(hypot(m->d4, m->a3) > EXACT))
        return false;
    const ff_mat3 R6 = ff_mat3_mul(ff_mat3_mul(R4, rot_y(m->zero[4])), flange_turn);
    const ff_pose own = {ff_quat_unit(ff_quat_from_mat3(R6)), hand};
    m->hand = ff_pose_mul(ff_pose_inverse(ff_pose_mul(stand, k->T_bf)), own);
    m->hand.q = ff_quat_unit(m->hand.q);
    m->stand = stand;
    m->forearm = hypot(m->d4, m->a3);
    m->forearm_angle = atan2(m->a3, m->d4);
    return true;
}

static bool recognise_offset(ff_arm_model *m, const ff__arm_chain *k) {
    const ff_vec3 *u = k->axis, *p = k->point;
    ff_vec3 point;
    if (!across(u[0], u[1]) || !along(u[1], u[2]) || !along(u[1], u[3]) || !across(u[3], u[4]) ||
        !across(u[4], u[5]) || !meet(p[4], u[4], p[5], u[5], &point))
        return false;
    const ff_pose stand = frame_inverse(ff_vec3_cross(u[1], u[0]), u[1], u[0], p[0]);
    const ff_vec3 shoulder = ff_pose_apply(stand, p[1]), elbow = ff_pose_apply(stand, p[2]),
                  wrist = ff_pose_apply(stand, p[3]), end = ff_pose_apply(stand, point);
    const ff_vec3 upper = ff_vec3_make(elbow.x - shoulder.x, 0, elbow.z - shoulder.z);
    const ff_vec3 fore = ff_vec3_make(wrist.x - elbow.x, 0, wrist.z - elbow.z);
    m->sign[0] = m->sign[1] = m->sign[4] = m->sign[5] = 1.0;
    m->sign[2] = ff_vec3_dot(u[2], u[1]) < 0.0 ? -1.0 : 1.0;
    m->sign[3] = ff_vec3_dot(u[3], u[1]) < 0.0 ? -1.0 : 1.0;
    m->d1 = shoulder.z;
    m->a1 = shoulder.x;
    m->a2 = ff_vec3_norm(upper);
    m->forearm = ff_vec3_norm(fore);
    m->d4 = end.x - wrist.x;
    m->a3 = end.z - wrist.z;
    m->d6 = 0.0;
    m->side = end.y;
    if (!(m->a2 > EXACT) || !(m->forearm > EXACT))
        return false;
    m->zero[1] = angle_y(upper);
    m->zero[2] = angle_y(fore);
    m->stand = stand;
    m->hand = (ff_pose){ff_quat_conj(ff_quat_mul(stand.q, k->T_bf.q)), ff_vec3_zero()};
    m->bend = ff_quat_rotate(stand.q, u[4]);
    m->roll = ff_quat_rotate(stand.q, u[5]);
    /* angle of axis 5 at which axis 6 lies along axis 2 */
    m->zero[4] = atan2(ff_vec3_cross(m->bend, m->roll).y, m->roll.y);
    m->point = ff_pose_apply(ff_pose_inverse(k->T_bf), point);
    return true;
}

void ff__arm_recognise(ff_arm_model *m) {
    static const double still[FF_ARM_AXES] = {0};
    const ff_arm_config *c = &m->config;
    m->stand = m->hand = ff_pose_identity();
    if (!c->chain) {
        m->form = FF_ARM_ELBOW;
        m->plain = true;
        m->d1 = c->d1, m->a1 = c->a1, m->a2 = c->a2, m->d4 = c->d4, m->a3 = c->a3, m->d6 = c->d6;
        m->forearm = hypot(c->d4, c->a3);
        m->forearm_angle = atan2(c->a3, c->d4);
        for (int i = 0; i < 6; i++)
            m->sign[i] = 1.0;
        return;
    }
    ff__arm_chain k;
    ff__arm_chain_at(m, still, &k);
    m->form = FF_ARM_SEARCH;
    if (c->axes == 6 && recognise_elbow(m, &k))
        m->form = FF_ARM_ELBOW;
    else if (c->axes == 6 && recognise_offset(m, &k))
        m->form = FF_ARM_OFFSET;
}

ff_vec3 ff__arm_wrist(const ff_arm_model *m, const ff_pose *T_bf) {
    if (m->form == FF_ARM_SEARCH)
        return T_bf->p;
    if (m->form == FF_ARM_OFFSET)
        return ff_pose_apply(*T_bf, m->point);
    const ff_pose T = m->plain ? *T_bf : ff_pose_mul(*T_bf, m->hand);
    return ff_vec3_axpy(-m->d6, ff_quat_rotate(T.q, ff_vec3_make(0, 0, 1)), T.p);
}

/* ---------------------------------------------------------------------------------------------- solutions --
 */

/* What keeps the two links from reaching; the nearest miss of all branches counts. */
static bool links_reach(const ff_arm_model *m, double forward, double z, double *gamma, ff_arm_info *info) {
    const double longest = m->a2 + m->forearm, shortest = fabs(m->a2 - m->forearm);
    const double reach = hypot(forward, z);
    if (reach > longest + EDGE || reach < shortest - EDGE) {
        const double over = reach > longest ? reach - longest : shortest - reach;
        if (over < info->excess) {
            info->excess = over;
            info->reason = reach > longest ? FF_ARM_TOO_FAR : FF_ARM_TOO_NEAR;
        }
        return false;
    }
    /* cosine of the elevation of the forearm over that of the upper arm, as 1 - c and 1 + c to keep the
     * digits at both ends */
    const double minus = fmax((longest - reach) * (longest + reach) / (2.0 * m->a2 * m->forearm), 0.0);
    const double plus = fmax((reach - shortest) * (reach + shortest) / (2.0 * m->a2 * m->forearm), 0.0);
    *gamma = 2.0 * atan2(sqrt(minus), sqrt(plus));
    return true;
}

/* Elevation of the upper arm, the forearm gamma above it. */
static double lift_of(const ff_arm_model *m, double forward, double z, double gamma) {
    return atan2(z, forward) - atan2(m->forearm * sin(gamma), m->a2 + m->forearm * cos(gamma));
}

/* Horizontal distance along the arm's plane; false: the point is nearer to axis 1 than its side. */
static bool plane_reach(const ff_arm_model *m, double radius, double *ahead, ff_arm_info *info) {
    *ahead = radius;
    if (m->side == 0.0)
        return true;
    const double left = (radius - fabs(m->side)) * (radius + fabs(m->side));
    *ahead = sqrt(fmax(left, 0.0));
    if (radius >= fabs(m->side) - EDGE)
        return true;
    if (fabs(m->side) - radius < info->excess) {
        info->excess = fabs(m->side) - radius;
        info->reason = FF_ARM_TOO_NEAR;
    }
    return false;
}

static int elbow_solutions(const ff_arm_model *m, const ff_pose *T_bf, const double *previous,
                           ff_arm_solution *solution, ff_arm_info *info) {
    const ff_pose T = m->plain ? *T_bf : ff_pose_mul(ff_pose_mul(m->stand, *T_bf), m->hand);
    const ff_vec3 w = ff_vec3_axpy(-m->d6, ff_quat_rotate(T.q, ff_vec3_make(0, 0, 1)), T.p);
    /* R0 = R_bf Ry(-90 deg): its x axis leaves the flange */
    const ff_mat3 R0 = ff_mat3_mul(ff_quat_to_mat3(T.q), ff_mat3_transpose(flange_turn));
    const double radius = hypot(w.x, w.y), z = w.z - m->d1;
    double ahead;
    int count = 0;
    if (!plane_reach(m, radius, &ahead, info))
        return 0;
    for (int back = 0; back < 2; back++) {
        const double far = back ? -ahead : ahead, forward = far - m->a1;
        double bend;
        if (!links_reach(m, forward, z, &bend, info))
            continue;
        const double azimuth = radius > ON_AXIS ? atan2(w.y, w.x) : -(m->sign[0] * previous[0] + m->zero[0]);
        const double a1 =
            m->side == 0.0 ? -(azimuth + (back ? FF_PI : 0.0)) : -(azimuth - atan2(m->side, far));
        for (int low = 0; low < 2; low++) {
            /* elbow above the line: the forearm hangs down from the upper arm */
            const double gamma = low ? bend : -bend;
            const double a2 = -lift_of(m, forward, z, gamma), a3 = m->forearm_angle - gamma;
            const ff_mat3 R3 = ff_mat3_mul(rot_z(-a1), rot_y(a2 + a3));
            const ff_mat3 M = ff_mat3_mul(ff_mat3_transpose(R3), R0);
            /* M = Rx(-A4) Ry(A5) Rx(-A6); first column (c5, -s4 s5, -c4 s5) */
            const double s5 = hypot(M.m[1][0], M.m[2][0]);
            for (int flip = 0; flip < 2; flip++) {
                const double sign = flip ? -1.0 : 1.0;
                const double a5 = atan2(sign * s5, M.m[0][0]);
                const double a4 = s5 > SINGULAR ? atan2(-sign * M.m[1][0], -sign * M.m[2][0])
                                                : m->sign[3] * previous[3] + m->zero[3];
                /* A6 from what is left: then A4 + A6 stays exact where A4 alone is not. */
                const ff_mat3 left = ff_mat3_mul(rot_x(-a4), rot_y(a5));
                const ff_mat3 rest = ff_mat3_mul(ff_mat3_transpose(left), M);
                const double a6 = atan2(rest.m[1][2] - rest.m[2][1], rest.m[1][1] + rest.m[2][2]);
                const double angle[6] = {a1, a2, a3, a4, a5, a6};
                ff_arm_solution *s = &solution[count++];
                *s = (ff_arm_solution){.branch = (back ? FF_ARM_BACK : 0) | (low ? FF_ARM_ELBOW_LOW : 0) |
                                                 (flip ? FF_ARM_WRIST_FLIP : 0)};
                for (int i = 0; i < 6; i++)
                    s->joints.a[i] = m->sign[i] * (angle[i] - m->zero[i]);
            }
        }
    }
    return count;
}

/* v turned by q about the unit axis. */
static ff_vec3 turned(ff_vec3 axis, double q, ff_vec3 v) {
    return ff_quat_rotate(ff_quat_exp(ff_vec3_scale(q, axis)), v);
}

/* The angle about y of v against from, both as far as they lie in the plane of x and z. */
static double angle_between(ff_vec3 from, ff_vec3 v) {
    return atan2(v.x * from.z - v.z * from.x, v.x * from.x + v.z * from.z);
}

static int offset_solutions(const ff_arm_model *m, const ff_pose *T_bf, const double *previous,
                            ff_arm_solution *solution, ff_arm_info *info) {
    const ff_pose T = ff_pose_mul(m->stand, *T_bf);
    const ff_vec3 w = ff_pose_apply(T, m->point);
    const ff_quat turn = ff_quat_mul(T.q, m->hand.q); /* from how the flange is at zero angles */
    const double radius = hypot(w.x, w.y);
    double ahead;
    int count = 0;
    if (!plane_reach(m, radius, &ahead, info))
        return 0;
    const double azimuth = atan2(w.y, w.x);
    for (int back = 0; back < 2; back++) {
        const double far = back ? -ahead : ahead;
        const double q1 = radius > ON_AXIS ? azimuth - atan2(m->side, far) : previous[0];
        /* M = Ry(theta) exp(axis5 q5) exp(axis6 q6), axes as at zero angles */
        const ff_quat M = ff_quat_mul(ff_quat_exp(ff_vec3_make(0, 0, -q1)), turn);
        const ff_vec3 out = ff_quat_rotate(M, m->roll);
        const double s5 = hypot(out.x, out.z);
        for (int flip = 0; flip < 2; flip++) {
            const double q5 = m->zero[4] + atan2(flip ? -s5 : s5, out.y);
            const ff_vec3 before = turned(m->bend, q5, m->roll);
            double theta, q6 = previous[5];
            if (s5 > SINGULAR) {
                theta = angle_between(before, out);
            } else { /* axes 4 and 6 are one: axis 6 stays */
                const ff_vec3 five = ff_quat_rotate(M, turned(m->roll, -q6, m->bend));
                theta = angle_between(m->bend, five);
            }
            const ff_quat rest = ff_quat_mul(ff_quat_exp(ff_vec3_scale(-q5, m->bend)),
                                             ff_quat_mul(ff_quat_exp(ff_vec3_make(0, -theta, 0)), M));
            q6 = 2.0 * atan2(ff_vec3_dot(m->roll, ff_vec3_make(rest.x, rest.y, rest.z)), rest.w);
            /* from the meeting point back to axis 4, along the hand as it lies in the plane */
            const double c = cos(theta), s = sin(theta);
            const double x = far - (c * m->d4 + s * m->a3) - m->a1, z = w.z - (c * m->a3 - s * m->d4) - m->d1;
            double bend;
            if (!links_reach(m, x, z, &bend, info))
                continue;
            for (int low = 0; low < 2; low++) {
                const double gamma = low ? bend : -bend, lift = lift_of(m, x, z, gamma);
                /* about +y, so against the elevation */
                const double q2 = -lift - m->zero[1], fore = -(lift + gamma) - m->zero[2];
                const double q3 = m->sign[2] * (fore - q2), q4 = m->sign[3] * (theta - fore);
                ff_arm_solution *at = &solution[count++];
                *at = (ff_arm_solution){.joints = {.a = {q1, q2, q3, q4, q5, q6}},
                                        .branch = (back ? FF_ARM_BACK : 0) | (low ? FF_ARM_ELBOW_LOW : 0) |
                                                  (flip ? FF_ARM_WRIST_FLIP : 0)};
            }
        }
    }
    return count;
}

int ff__arm_closed(const ff_arm_model *m, const ff_pose *T_bf, const double *previous,
                   ff_arm_solution solution[8], ff_arm_info *info) {
    info->excess = FF_INF;
    const int count = m->form == FF_ARM_ELBOW ? elbow_solutions(m, T_bf, previous, solution, info)
                                              : offset_solutions(m, T_bf, previous, solution, info);
    /* by branch number: insertion sort of at most eight */
    for (int i = 1; i < count; i++) {
        const ff_arm_solution s = solution[i];
        int k = i;
        for (; k > 0 && solution[k - 1].branch > s.branch; k--)
            solution[k] = solution[k - 1];
        solution[k] = s;
    }
    if (count) {
        info->excess = 0.0;
        info->reason = FF_ARM_REACHED;
    }
    return count;
}
