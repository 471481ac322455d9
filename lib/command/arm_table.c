/* Public robots as data: lengths or chains, ranges and speeds, with the source of each number. Published
 * facts of the makers, read from the public files named here (Apache-2.0 or BSD, of which nothing is copied
 * but these numbers), not from the makers' own pages; docs/robots.md says what to compare before a robot
 * moves. */
#include "command/arm.h"

#define DEG (FF_PI / 180.0)

typedef struct entry {
    int axes;
    double length[6];   /* d1 a1 a2 d4 a3 d6; all 0: the chain is made by code below */
    double range[7][3]; /* [deg], [deg], [deg/s] */
    double ready[7];    /* [deg] */
} entry;

/* KUKA's ready: flange down, elbow up; A5 in the middle between the wrist's singularity and its end: a
 * satellite that turns needs both. */
#define KUKA_READY \
    { 0, -90, 120, 0, 60, 0 }
/* UR's: upper arm up and forward, tool down */
#define UR_READY \
    { 0, -90, 90, -90, -90, 0 }
#define UR_TURN(speed) \
    { -360, 360, speed }

/* clang-format off */
static const entry table[] = {
    /* Lengths: public URDF kuka_experimental/kuka_kr120_support/urdf/kr120r2500pro_macro.xacro. Ranges and
     * speeds: KUKA's data sheet KR QUANTEC pro, KR 120 R2500 pro; not the URDF's, which repeats those of the
     * KR 16. Cross-check: the sheet's reach of 2496 mm is a1 + a2 cos 5 deg + forearm, so A2 ends at -5. */
    [FF_ARM_KR120] = {6, {0.675, 0.350, 1.150, 1.000, -0.041, 0.215},
                      {{-185, 185, 136}, {-140, -5, 130}, {-120, 155, 120}, {-350, 350, 292}, {-125, 125, 258}, {-350, 350, 284}}, KUKA_READY},
    /* Public URDF kuka_experimental/kuka_kr16_support/urdf/kr16_2_macro.xacro, which follows KUKA's KR 16-2
     * specification. The sheet's reach of 1611 mm is a1 + a2 + forearm. */
    [FF_ARM_KR16] = {6, {0.675, 0.260, 0.680, 0.670, -0.035, 0.158},
                     {{-185, 185, 156}, {-155, 35, 156}, {-130, 154, 156}, {-350, 350, 330}, {-130, 130, 330}, {-350, 350, 615}}, KUKA_READY},
    /* Public URDF kroshu/kuka_robot_descriptions, kuka_quantec_support/urdf/kr210_r2700_2_macro.xacro. The
     * sheet's reach of 2700 mm is a1 + a2 cos 5 deg + forearm to 1 mm. Speeds of A1 and A2 are 2.0384 and
     * 1.9451 rad/s there. */
    [FF_ARM_KR210] = {6, {0.645, 0.330, 1.150, 1.220, 0.115, 0.215},
                      {{-185, 185, 2.0384 / DEG}, {-140, -5, 1.9451 / DEG}, {-120, 168, 112}, {-350, 350, 179}, {-125, 125, 172}, {-350, 350, 220}}, KUKA_READY},
    /* DH parameters as Universal Robots publishes them, compared with quotations in public repositories for the
     * UR10e and UR20; those of the UR5e were not. Ranges and speeds:
     * Universal_Robots_ROS2_Description/config/MODEL/joint_limits.yaml (the elbow ends where the arm is folded,
     * at 180 degrees). */
    [FF_ARM_UR5E] = {6, {0}, {UR_TURN(180), UR_TURN(180), {-180, 180, 180}, UR_TURN(180), UR_TURN(180), UR_TURN(180)}, UR_READY},
    [FF_ARM_UR10E] = {6, {0}, {UR_TURN(120), UR_TURN(120), {-180, 180, 180}, UR_TURN(180), UR_TURN(180), UR_TURN(180)}, UR_READY},
    [FF_ARM_UR20] = {6, {0}, {UR_TURN(120), UR_TURN(120), {-180, 180, 150}, UR_TURN(210), UR_TURN(210), UR_TURN(210)}, UR_READY},
    /* DH parameters (Craig) and joint limits as Franka Robotics publishes them for the FR3; the position limits
     * were compared with a quotation in a public repository, lengths and speeds were not. */
    [FF_ARM_FR3] = {7, {0},
                    {{-2.7437 / DEG, 2.7437 / DEG, 2.62 / DEG}, {-1.7837 / DEG, 1.7837 / DEG, 2.62 / DEG}, {-2.9007 / DEG, 2.9007 / DEG, 2.62 / DEG},
                     {-3.0421 / DEG, -0.1518 / DEG, 2.62 / DEG}, {-2.8065 / DEG, 2.8065 / DEG, 5.26 / DEG}, {0.5445 / DEG, 4.5169 / DEG, 4.18 / DEG},
                     {-3.0159 / DEG, 3.0159 / DEG, 5.26 / DEG}}, {0, -45, 0, -135, 0, 90, 45}},
    /* Public URDF kroshu/kuka_robot_descriptions, kuka_lbr_iiwa_support/urdf/lbr_iiwa14_r820_macro.xacro, its
     * frame tool0. */
    [FF_ARM_IIWA14] = {7, {0},
                       {{-170, 170, 85}, {-120, 120, 85}, {-170, 170, 100}, {-120, 120, 75}, {-170, 170, 130}, {-120, 120, 135}, {-175, 175, 135}},
                       {0, 25, 0, 90, 0, 60, 0}},
};
/* clang-format on */

static const char *const names[] = {
#define NAME(kind, name, text) [FF_ARM_##kind] = name,
    FF_ARMS(NAME)
#undef NAME
};
static const char *const texts[] = {
#define TEXT(kind, name, text) [FF_ARM_##kind] = text,
    FF_ARMS(TEXT)
#undef TEXT
};

const char *ff_arm_name(ff_arm_kind kind) {
    return (unsigned)kind < FF_ARM_KINDS ? names[kind] : NULL;
}

const char *ff_arm_text(ff_arm_kind kind) {
    return (unsigned)kind < FF_ARM_KINDS ? texts[kind] : NULL;
}

static const ff_quat turn_x = {0.70710678118654752440, 0.70710678118654752440, 0, 0}; /* Rx(90 deg) */

static void put(ff_arm_config *c, int i, double x, double y, double z, double dx, double dy, double dz) {
    c->axis[i] = (ff_arm_axis){ff_vec3_make(x, y, z), ff_vec3_make(dx, dy, dz)};
}

/* Universal Robots' DH rows (a, d, alpha) = (0, d1, 90), (-a2, 0, 0), (-a3, 0, 0), (0, d4, 90), (0, d5, -90),
 * (0, d6, 0), at zero angles and in the controller's base. */
static void put_ur(ff_arm_config *c, double d1, double a2, double a3, double d4, double d5, double d6) {
    put(c, 0, 0, 0, 0, 0, 0, 1);
    put(c, 1, 0, 0, d1, 0, -1, 0);
    put(c, 2, -a2, 0, 0, 0, -1, 0);
    put(c, 3, -a3, 0, 0, 0, -1, 0);
    put(c, 4, 0, -d4, 0, 0, 0, -1);
    put(c, 5, 0, 0, -d5, 0, -1, 0);
    c->flange = (ff_pose){turn_x, ff_vec3_make(0, -d6, 0)};
}

static void put_fr3(ff_arm_config *c) {
    put(c, 0, 0, 0, 0, 0, 0, 1);
    put(c, 1, 0, 0, 0.333, 0, 1, 0);
    put(c, 2, 0, 0, 0.316, 0, 0, 1);
    put(c, 3, 0.0825, 0, 0, 0, -1, 0);
    put(c, 4, -0.0825, 0, 0.384, 0, 0, 1);
    put(c, 5, 0, 0, 0, 0, -1, 0);
    put(c, 6, 0.088, 0, 0, 0, 0, -1);
    c->flange = (ff_pose){{0, 1, 0, 0}, ff_vec3_make(0, 0, -0.107)};
}

static void put_iiwa14(ff_arm_config *c) {
    static const double up[7] = {0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081};
    static const double y[7] = {0, 1, 0, -1, 0, 1, 0};
    for (int i = 0; i < 7; i++)
        put(c, i, 0, 0, up[i], 0, y[i], y[i] == 0.0 ? 1 : 0);
    c->flange = (ff_pose){ff_quat_identity(), ff_vec3_make(0, 0, 0.071)};
}

ff_status ff_arm_default(ff_arm_kind kind, ff_arm_config *config) {
    if ((unsigned)kind >= FF_ARM_KINDS)
        return FF_ERR_ARGUMENT;
    const entry *e = &table[kind];
    ff_arm_config c = {.axes = e->axes,
                       .chain = e->length[2] == 0.0,
                       .d1 = e->length[0],
                       .a1 = e->length[1],
                       .a2 = e->length[2],
                       .d4 = e->length[3],
                       .a3 = e->length[4],
                       .d6 = e->length[5],
                       .rail = {.rule = FF_ARM_RAIL_NONE, .axis = {{0, 1, 0}}}};
    c.base = c.tool = c.flange = ff_pose_identity();
    for (int i = 0; i < e->axes; i++) {
        c.lower[i] = e->range[i][0] * DEG;
        c.upper[i] = e->range[i][1] * DEG;
        c.speed[i] = e->range[i][2] * DEG;
        c.ready[i] = e->ready[i] * DEG;
    }
    if (kind == FF_ARM_UR5E)
        put_ur(&c, 0.1625, 0.425, 0.3922, 0.1333, 0.0997, 0.0996);
    if (kind == FF_ARM_UR10E)
        put_ur(&c, 0.1807, 0.6127, 0.57155, 0.17415, 0.11985, 0.11655);
    if (kind == FF_ARM_UR20)
        put_ur(&c, 0.2363, 0.8620, 0.7287, 0.2010, 0.1593, 0.1543);
    if (kind == FF_ARM_FR3)
        put_fr3(&c);
    if (kind == FF_ARM_IIWA14)
        put_iiwa14(&c);
    *config = c;
    return FF_OK;
}
