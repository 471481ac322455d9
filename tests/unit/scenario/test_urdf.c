/* Arms from URDF files. */
#include "support.h"

#include "scenario/scenario.h"
#include "scenario/urdf.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static ff_scenario s, yaml;
static ff_urdf urdf, chain;
static char message[1024], warnings[1024];
static char folder[] = "/tmp/ff_urdf_XXXXXX", file[64], model[64];

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static char *slurp(const char *path, size_t *length) {
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    *length = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    return text;
}

static ff_status parse(const char *text) {
    return ff_urdf_parse("F.urdf", text, strlen(text), false, &urdf, message, sizeof message);
}

static void expect_bad(const char *text, const char *said) {
    if (parse(text) != FF_ERR_FORMAT)
        fail_msg("'%s' was read", said);
    if (strcmp(message, said) != 0)
        fail_msg("said    '%s'\nexpected '%s'", message, said);
}

#define BODY(name, mass)                                 \
    "<link name='" name "'><inertial><mass value='" mass \
    "'/><inertia ixx='1' iyy='1' izz='1'/></inertial></link>\n"
#define JOINT(name, type, from, to, more)                                                              \
    "<joint name='" name "' type='" type "'><parent link='" from "'/><child link='" to "'/>" more "</" \
    "joint>\n"
#define LIMIT "<limit lower='-1' upper='2' effort='3' velocity='4'/>"
#define ROBOT(inside) "<robot name='r'>\n" inside "</robot>\n"
#define FOOT "<link name='foot'/>\n"

/* ------------------------------------------------------------------------------------------- the same tree
 * -- */

static void mass_matrix(const ff_satellite *satellite, const double *q, double *M, size_t *dof) {
    ff_tree_config tree;
    ff_tree_link_config link[FF_MAX_ARM_LINKS];
    ff_tree_model *m = NULL;
    ff_tree_work *work = NULL;
    ff_scenario_tree(satellite, &tree, link);
    const size_t bytes = ff_tree_memsize(&tree);
    void *memory = malloc(bytes);
    assert_int_equal(ff_tree_create(&tree, memory, bytes, &m, message, sizeof message), FF_OK);
    const size_t more = ff_tree_work_memsize(m);
    void *scratch = malloc(more);
    assert_int_equal(ff_tree_work_create(m, scratch, more, &work), FF_OK);
    ff_tree_state state = {.base = ff_pose_identity()};
    memcpy(state.q, q, sizeof *q * ff_tree_joints(m));
    *dof = ff_tree_dof(m);
    ff_tree_kinematics(m, &state, work, ff_vec3_zero());
    ff_tree_mass_matrix(m, work, M);
    free(scratch);
    free(memory);
}

/* scenarios/envisat-capture.yaml with its table, and with the same arm's URDF file beside it. */
static void test_servicer_arm_is_the_table_of_the_scenario(void **state) {
    (void)state;
    const char *path = FF_SOURCE_DIR "/scenarios/envisat-capture.yaml";
    if (ff_scenario_load(path, NULL, &yaml, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    size_t length;
    char *text = slurp(path, &length), *links = strstr(text, "      links:\n"),
         *end = strstr(text, "      gripper:");
    assert_true(links && end && links < end);
    char *whole = malloc(length + 64);
    assert_non_null(whole);
    snprintf(whole, length + 64, "%.*s      model: envisat-arm.urdf\n%s", (int)(links - text), text, end);
    if (ff_scenario_parse(path, whole, strlen(whole), NULL, &s, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    free(whole);
    free(text);
    const ff_satellite *a = &yaml.satellite[1], *b = &s.satellite[1];
    assert_int_equal(b->arm.links, 7);
    assert_int_equal(b->arm.joints, 7);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    static double A[FF_TREE_JOINTS_MAX * FF_TREE_JOINTS_MAX * 2],
        B[FF_TREE_JOINTS_MAX * FF_TREE_JOINTS_MAX * 2];
    for (int n = 0; n < 20; n++) {
        double q[7];
        size_t dof, other;
        for (int i = 0; i < 7; i++)
            q[i] = 6.0 * ff_rng_uniform(&rng) - 3.0;
        mass_matrix(a, q, A, &dof);
        mass_matrix(b, q, B, &other);
        assert_int_equal(dof, 13);
        assert_int_equal(other, 13);
        for (size_t i = 0; i < dof * dof; i++)
            assert_near(A[i], B[i], 1e-12 * fmax(1.0, fabs(A[i])));
    }
    for (int i = 0; i < 7; i++) {
        assert_near(a->arm.link[i].row.torque, b->arm.link[i].row.torque, 0);
        assert_near(b->arm.link[i].row.upper, 2.9, 0);
        assert_near(b->arm.link[i].row.velocity, 2, 0);
    }
    assert_string_equal(b->arm.link[6].name, "gripper");
}

/* ------------------------------------------------------------------------------------------------- values --
 */

static void test_joints_and_inertias_are_read_as_the_format_means_them(void **state) {
    (void)state;
    const char *text = ROBOT(
        FOOT
        "<link name='a'><inertial><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><mass value='2.5'/>"
        "<inertia ixx='1' iyy='2' izz='2.5' ixy='0.1'/></inertial><visual/><visual/></link>\n" BODY("b", "1")
            BODY("c", "1") "<link name='tool'/>\n<gazebo/>\n" JOINT(
                "j1", "revolute", "foot", "a",
                "<origin xyz='0.1 0 0' rpy='0.3 0.2 0.1'/>" LIMIT "<dynamics damping='0.5' friction='0.25'/>")
                JOINT("j2", "continuous", "a", "b", "<axis xyz='0 0 -2'/>")
                    JOINT("j3", "prismatic", "b", "c", "<axis xyz='0 1 0'/>" LIMIT)
                        JOINT("t", "fixed", "c", "tool", ""));
    if (parse(text) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(urdf.links, 4);
    assert_int_equal(urdf.joints, 3);
    assert_string_equal(urdf.root, "foot");
    const ff_link_row *a = &urdf.link[0].row, *b = &urdf.link[1].row, *c = &urdf.link[2].row;
    assert_near(a->mass, 2.5, 0);
    assert_near(a->com.y, 2, 0);
    /* a quarter turn about z exchanges xx and yy and turns xy's sign */
    assert_near(a->inertia.m[0][0], 2, 1e-15);
    assert_near(a->inertia.m[1][1], 1, 1e-15);
    assert_near(a->inertia.m[0][1], -0.1, 1e-15);
    assert_near(a->inertia.m[2][2], 2.5, 1e-15);
    assert_near(a->axis.x, 1, 0); /* the format's default */
    assert_near(a->lower, -1, 0);
    assert_near(a->upper, 2, 0);
    assert_near(a->torque, 3, 0);
    assert_near(a->velocity, 4, 0);
    assert_near(a->viscous, 0.5, 0);
    assert_near(a->coulomb, 0.25, 0);
    /* R = Rz(0.1) Ry(0.2) Rx(0.3), written out */
    const ff_mat3 R = ff_quat_to_mat3(a->pose.q);
    assert_near(R.m[0][0], cos(0.1) * cos(0.2), 1e-15);
    assert_near(R.m[2][0], -sin(0.2), 1e-15);
    assert_near(R.m[2][1], cos(0.2) * sin(0.3), 1e-15);
    assert_near(R.m[1][0], sin(0.1) * cos(0.2), 1e-15);
    assert_near(b->axis.z, -1, 0);
    assert_true(isinf(b->upper) && isinf(b->lower) && isinf(b->torque));
    assert_int_equal(c->joint, FF_JOINT_PRISMATIC);
    assert_int_equal(urdf.link[3].row.joint, FF_JOINT_FIXED);
    assert_int_equal(urdf.link[3].row.parent, 2);
    assert_near(urdf.link[3].row.mass, 0, 0);
}

static void test_numbers_do_not_depend_on_the_locale(void **state) {
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is none, nothing changes */
    assert_int_equal(parse(ROBOT(FOOT BODY("a", "1.5") JOINT("j", "continuous", "foot", "a", ""))), FF_OK);
    assert_near(urdf.link[0].row.mass, 1.5, 0);
    setlocale(LC_ALL, "C");
}

/* Frames that hang beside the arm come before it, wherever they stand in the file. */
static void test_last_row_is_the_end_of_the_arm(void **state) {
    (void)state;
    assert_int_equal(
        parse(ROBOT(FOOT BODY("a", "1") BODY("b", "1") "<link name='camera'/><link name='tool'/>" JOINT(
            "j1", "continuous", "foot", "a", "") JOINT("j2", "continuous", "a", "b", "")
                        JOINT("t", "fixed", "b", "tool", "") JOINT("k", "fixed", "a", "camera", ""))),
        FF_OK);
    assert_int_equal(urdf.links, 4);
    assert_string_equal(urdf.link[1].name, "camera");
    assert_string_equal(urdf.link[3].name, "tool");
}

/* Two equal bodies 2 m apart: the inertia about the common centre grows by m d^2/2. */
static void test_chain_merges_what_is_fixed(void **state) {
    (void)state;
    ff_pose tip;
    assert_int_equal(
        parse(ROBOT("<link name='foot'/><link name='post'/>" BODY("a", "3") BODY(
            "load", "3") "<link name='tool'/>" JOINT("p", "fixed", "foot", "post", "<origin xyz='0 0 1'/>")
                        JOINT("j", "continuous", "post", "a", "<origin xyz='0 1 0'/>")
                            JOINT("l", "fixed", "a", "load", "<origin xyz='2 0 0'/>")
                                JOINT("t", "fixed", "load", "tool", "<origin xyz='0 0 5'/>"))),
        FF_OK);
    assert_int_equal(ff_urdf_chain("F.urdf", &urdf, &chain, &tip, message, sizeof message), FF_OK);
    assert_int_equal(chain.links, 1);
    const ff_link_row *a = &chain.link[0].row;
    assert_near(a->pose.p.y, 1, 1e-15);
    assert_near(a->pose.p.z, 1, 1e-15);
    assert_near(a->mass, 6, 0);
    assert_near(a->com.x, 1, 1e-15);
    assert_near(a->inertia.m[0][0], 2, 1e-14);
    assert_near(a->inertia.m[1][1], 8, 1e-14);
    assert_near(a->inertia.m[2][2], 8, 1e-14);
    assert_near(tip.p.x, 2, 1e-15);
    assert_near(tip.p.z, 5, 1e-15);
}

/* ------------------------------------------------------------------------------------------------- faults --
 */

static void test_bad_documents(void **state) {
    (void)state;
    expect_bad(
        "<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><robot>&x;</robot>",
        "F.urdf:1: the file has a document type, allowed: none (no entities)");
    expect_bad("<sdf/>", "F.urdf:1: the file holds <sdf>, allowed: <robot>, a URDF file");
    expect_bad("<robot xmlns:xacro='http://x'>\n<xacro:macro/></robot>",
               "F.urdf:2: this is a xacro file, allowed: URDF, which the xacro program makes of it");
    expect_bad(ROBOT(FOOT),
               "F.urdf:1: the robot has 1 links and no joint, allowed: a root and links that joints "
               "carry");
    assert_int_equal(parse("<robot>\n<link>"), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "this is not XML: "));
    assert_int_equal(parse(""), FF_ERR_FORMAT);
    assert_int_equal(strncmp(message, "F.urdf:1: this is not XML: ", 27), 0);
    char *large = malloc(FF_URDF_BYTES + 1);
    assert_non_null(large);
    memset(large, ' ', FF_URDF_BYTES + 1);
    assert_int_equal(ff_urdf_parse("F.urdf", large, FF_URDF_BYTES + 1, false, &urdf, message, sizeof message),
                     FF_ERR_FORMAT);
    assert_string_equal(message, "F.urdf:1: the file has 4194305 bytes, allowed: at most 4 MB");
    assert_int_equal(ff_urdf_parse("F.urdf", large, FF_URDF_BYTES + 1, false, &urdf, NULL, 0), FF_ERR_FORMAT);
    free(large);
    assert_int_equal(ff_urdf_load(NULL, "/tmp", false, &urdf, message, sizeof message), FF_ERR_IO);
    assert_string_equal(message, "not a regular file");
}

static void test_bad_links(void **state) {
    (void)state;
#define LINK(inside) \
    ROBOT(FOOT "<link name='a'>" inside "</link>\n" JOINT("j", "continuous", "foot", "a", ""))
#define INERTIA(mass, values) "<inertial><mass value='" mass "'/><inertia " values "/></inertial>"
    expect_bad(LINK(""), "F.urdf:3: link 'a' moves and has no mass, allowed: <inertial> with mass > 0 [kg]");
    expect_bad(LINK(INERTIA("-1", "ixx='1' iyy='1' izz='1'")),
               "F.urdf:3: the mass of link 'a' is -1, allowed: > 0 [kg]");
    expect_bad(LINK(INERTIA("0", "ixx='1' iyy='1' izz='1'")),
               "F.urdf:3: link 'a' has inertia but no mass, allowed: mass > 0 [kg]");
    expect_bad(
        LINK(INERTIA("1", "ixx='-1' iyy='1' izz='1'")),
        "F.urdf:3: the inertia of link 'a' has principal moments -1, 1, 1, allowed: all > 0 and none above "
        "the sum of the other two [kg m2]");
    expect_bad(
        LINK(INERTIA("1", "ixx='1' iyy='1' izz='3'")),
        "F.urdf:3: the inertia of link 'a' has principal moments 1, 1, 3, allowed: all > 0 and none above "
        "the sum of the other two [kg m2]");
    expect_bad(LINK(INERTIA("1", "ixx='1' iyy='1'")), "F.urdf:3: <inertia> lacks izz, allowed: a number");
    expect_bad(
        LINK("<inertial><mass value='1'/></inertial>"),
        "F.urdf:3: link 'a' lacks <inertia> in <inertial>, allowed: <mass value=\"...\"/> and <inertia "
        "ixx=\"...\" .../>");
    expect_bad(LINK("<inertial><inertia/></inertial>"),
               "F.urdf:3: link 'a' lacks <mass> in <inertial>, allowed: <mass value=\"...\"/> and <inertia "
               "ixx=\"...\" .../>");
    expect_bad(LINK(INERTIA("1,5", "ixx='1'")),
               "F.urdf:3: value of <mass> is '1,5', allowed: a number of size 1e-30 to 1e30");
    expect_bad(LINK(INERTIA("1", "ixx='-2e30'")),
               "F.urdf:3: ixx of <inertia> is '-2e30', allowed: a number of size 1e-30 to 1e30");
    expect_bad(LINK(INERTIA("1e999", "ixx='1'")),
               "F.urdf:3: value of <mass> is '1e999', allowed: a number of size 1e-30 to 1e30");
    expect_bad(LINK("<inertail/>"),
               "F.urdf:3: unknown element <inertail> in <link>, allowed: inertial visual "
               "collision contact self_collision_checking");
    expect_bad(LINK("<inertial/><inertial/>"), "F.urdf:3: a second <inertial> in <link>, allowed: one");
    expect_bad(LINK("<inertial><origin xyz='1 2'/></inertial>"),
               "F.urdf:3: xyz of <origin> has 2 numbers, allowed: 3");
    expect_bad(LINK("<inertial><origin ryp='1 2 3'/></inertial>"),
               "F.urdf:3: unknown attribute 'ryp' of <origin>, allowed: xyz rpy");
    expect_bad(ROBOT("<link/>"), "F.urdf:2: <link> lacks name, allowed: name=\"...\"");
    expect_bad(ROBOT("<link name='a,b'/>"),
               "F.urdf:2: name 'a,b' of <link> is not a valid name, allowed: printable, none of , = \" \\");
    expect_bad(ROBOT(FOOT FOOT), "F.urdf:3: link 'foot' stands already in line 2, allowed: another name");
    char text[8192] = "<robot>", name[160];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    snprintf(text, sizeof text, "<robot><link name='%s'/></robot>", name);
    expect_bad(text, "F.urdf:1: name of <link> has 159 bytes, allowed: fewer than 128");
    size_t used = (size_t)snprintf(text, sizeof text, "<robot>");
    for (int i = 0; i < FF_URDF_LINKS + 2; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "<link name='l%d'/>", i);
    snprintf(text + used, sizeof text - used, "</robot>");
    expect_bad(text, "F.urdf:1: more than 65 links, allowed: fewer");
}

static void test_bad_joints(void **state) {
    (void)state;
#define ARM(joint) ROBOT(FOOT BODY("a", "1") BODY("b", "1") joint "\n") /* NOLINT: strings */
#define FIRST(type, more) ARM(JOINT("j", type, "foot", "a", more) JOINT("k", "fixed", "a", "b", ""))
    expect_bad(FIRST("floating", ""),
               "F.urdf:5: joint 'j' is of type 'floating', allowed: revolute, continuous, "
               "prismatic, fixed");
    expect_bad(FIRST("planar", ""), "F.urdf:5: joint 'j' is of type 'planar', allowed: revolute, continuous, "
                                    "prismatic, fixed");
    expect_bad(ARM("<joint name='j'/>"),
               "F.urdf:5: joint 'j' lacks type, allowed: revolute, continuous, prismatic, fixed");
    expect_bad(
        FIRST("revolute", "<mimic joint='k'/>"),
        "F.urdf:5: joint 'j' mimics another one, which is not supported, allowed: joints that move freely, "
        "or fixed");
    expect_bad(FIRST("revolute", ""),
               "F.urdf:5: joint 'j' lacks <limit lower upper effort velocity>, allowed "
               "without: type continuous, fixed");
    expect_bad(FIRST("revolute", "<limit effort='0' velocity='1'/>"),
               "F.urdf:5: joint 'j' has effort 0 and velocity 1, allowed: both > 0");
    expect_bad(FIRST("revolute", "<limit velocity='1'/>"),
               "F.urdf:5: <limit> lacks effort, allowed: a number");
    expect_bad(FIRST("revolute", "<limit lower='1' effort='1' velocity='1'/>"),
               "F.urdf:5: joint 'j' has lower 1 and upper 0, allowed: lower <= upper");
    expect_bad(FIRST("continuous", "<axis xyz='0 0 0'/>"),
               "F.urdf:5: the axis of joint 'j' is zero, allowed: any other direction");
    expect_bad(FIRST("continuous", "<dynamics damping='-1'/>"),
               "F.urdf:5: joint 'j' has damping -1 and friction 0, allowed: both >= 0");
    expect_bad(ARM("<joint name='j' type='fixed'/>"), "F.urdf:5: joint 'j' lacks <parent link=\"...\"/>");
    expect_bad(ARM(JOINT("j", "fixed", "foot", "nowhere", "")),
               "F.urdf:5: joint 'j': no link is named 'nowhere', allowed: a <link> of this file");
    expect_bad(ARM(JOINT("j", "fixed", "a", "a", "")),
               "F.urdf:5: joint 'j' joins link 'a' to itself, allowed: two links");
    expect_bad(ARM(JOINT("j", "fixed", "foot", "a", "") JOINT("j", "fixed", "a", "b", "")),
               "F.urdf:6: joint 'j' stands already in line 5, allowed: another name");
    expect_bad(ARM(JOINT("j", "fixed", "foot", "a", "") JOINT("k", "fixed", "b", "a", "")),
               "F.urdf:6: link 'a' hangs on joint 'j' and on joint 'k', allowed: one joint (loops are not "
               "supported)");
    expect_bad(ARM(JOINT("j", "fixed", "foot", "a", "")),
               "F.urdf:4: links 'foot' and 'b' both hang on no joint, allowed: one root");
    expect_bad(ARM(JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "b", "a", "")),
               "F.urdf:5: joint 'j' stands in or on a loop, allowed: a tree");
    ff_pose tip;
    assert_int_equal(
        parse(ARM(JOINT("j", "continuous", "foot", "a", "") JOINT("k", "continuous", "foot", "b", ""))),
        FF_OK);
    assert_int_equal(ff_urdf_chain("F.urdf", &urdf, &chain, &tip, message, sizeof message), FF_ERR_FORMAT);
    assert_string_equal(message,
                        "F.urdf:6: joint 'k' starts a second branch, allowed: one chain of moving joints");
}

/* Every number of every element: what is not one, and what is missing. */
static void test_every_attribute_is_checked(void **state) {
    (void)state;
#define I(six) INERTIA_OF("1", six)
#define INERTIA_OF(mass, six) "<inertial><mass value='" mass "'/><inertia " six "/></inertial>"
#define WITH(inside) ROBOT(FOOT "<link name='a'>" inside "</link>\n" JOINT("j", "fixed", "foot", "a", ""))
#define CARRIED(more) ROBOT(FOOT BODY("a", "1") JOINT("j", "revolute", "foot", "a", more))
    static const struct {
        const char *text, *said;
    } row[] = {
        {WITH(I("ixx='x' iyy='1' izz='1'")), "F.urdf:3: ixx"},
        {WITH(I("ixx='1' iyy='x' izz='1'")), "F.urdf:3: iyy"},
        {WITH(I("ixx='1' iyy='1' izz='x'")), "F.urdf:3: izz"},
        {WITH(I("ixx='1' iyy='1' izz='1' ixy='x'")), "F.urdf:3: ixy"},
        {WITH(I("ixx='1' iyy='1' izz='1' ixz='x'")), "F.urdf:3: ixz"},
        {WITH(I("ixx='1' iyy='1' izz='1' iyz='x'")), "F.urdf:3: iyz"},
        {WITH(I("ixx='1' iyy='1' izz='1' iww='1'")),
         "F.urdf:3: unknown attribute 'iww' of <inertia>, allowed: "},
        {WITH("<inertial><mass value='1' unit='t'/><inertia/></inertial>"),
         "F.urdf:3: unknown attribute 'unit' of <mass>"},
        {WITH("<inertial><mass/><inertia/></inertial>"), "F.urdf:3: <mass> lacks value, allowed: a number"},
        {WITH("<inertial><origin xyz='0 0 0' rpy='0 0'/><mass value='1'/></inertial>"), "F.urdf:3: rpy"},
        {WITH("<inertial><origin xyz='0 0 0 0'/><mass value='1'/></inertial>"), "F.urdf:3: xyz"},
        {WITH("<inertial x='1'/>"), "F.urdf:3: unknown attribute 'x' of <inertial>, allowed: none"},
        {CARRIED("<axis xyz='0 0'/>" LIMIT), "F.urdf:4: xyz"},
        {CARRIED("<axis dir='0 0 1'/>" LIMIT), "F.urdf:4: unknown attribute 'dir' of <axis>, allowed: xyz"},
        {CARRIED("<axis><x/></axis>" LIMIT), "F.urdf:4: unknown element <x> in <axis>, allowed: none"},
        {CARRIED("<limit lower='x' upper='2' effort='3' velocity='4'/>"), "F.urdf:4: lower"},
        {CARRIED("<limit lower='0' upper='x' effort='3' velocity='4'/>"), "F.urdf:4: upper"},
        {CARRIED("<limit lower='0' upper='2' effort='x' velocity='4'/>"), "F.urdf:4: effort"},
        {CARRIED("<limit lower='0' upper='2' effort='3' velocity='x'/>"), "F.urdf:4: velocity"},
        {CARRIED("<limit lower='0' upper='2' effort='3' velocity='0'/>"),
         "F.urdf:4: joint 'j' has effort 3 and velocity 0, allowed: both > 0"},
        {CARRIED("<limit lower='3' upper='2' effort='3' velocity='4'/>"),
         "F.urdf:4: joint 'j' has lower 3 and upper 2, allowed: lower <= upper"},
        {CARRIED("<limit stop='3'/>"), "F.urdf:4: unknown attribute 'stop' of <limit>, allowed: lower upper"},
        {CARRIED(LIMIT "<dynamics damping='x'/>"), "F.urdf:4: damping"},
        {CARRIED(LIMIT "<dynamics friction='x'/>"), "F.urdf:4: friction"},
        {CARRIED(LIMIT "<dynamics wear='1'/>"), "F.urdf:4: unknown attribute 'wear' of <dynamics>"},
        {CARRIED(LIMIT "<dynamics damping='1' friction='-1'/>"),
         "F.urdf:4: joint 'j' has damping 1 and friction -1, allowed: both >= 0"},
        {CARRIED(LIMIT "<spring/>"), "F.urdf:4: unknown element <spring> in <joint>, allowed: origin"},
        {CARRIED(LIMIT "<origin xyz='1 2'/>"), "F.urdf:4: xyz"},
        {ROBOT(FOOT BODY("a", "1") "<joint type='fixed'><parent link='foot'/><child link='a'/></joint>"),
         "F.urdf:4: <joint> lacks name"},
        {ROBOT(FOOT BODY("a", "1") "<joint name='j' type='fixed'><parent/><child link='a'/></joint>"),
         "F.urdf:4: <parent> lacks link"},
        {ROBOT(
             FOOT BODY("a", "1") "<joint name='j' type='fixed'><parent link='foot'/><child x='a'/></joint>"),
         "F.urdf:4: unknown attribute 'x' of <child>, allowed: link"},
        {ROBOT(FOOT "<link name='a\x7f'/>"), "F.urdf:3: "},
        {"", "F.urdf:1: this is not XML: "},
        {"<r:robot xmlns:r='x'/>", "F.urdf:1: the file holds <robot>, allowed: <robot>, a URDF file"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(parse(row[i].text), FF_ERR_FORMAT);
        if (strncmp(message, row[i].said, strlen(row[i].said)) != 0)
            fail_msg("said    '%s'\nexpected '%s'", message, row[i].said);
    }
    /* nobody to tell, and a line cut off by its buffer */
    assert_int_equal(ff_urdf_parse("F.urdf", "<", 1, false, &urdf, NULL, 0), FF_ERR_FORMAT);
    assert_int_equal(ff_urdf_parse("F.urdf", "<sdf/>", 6, false, &urdf, message, 8), FF_ERR_FORMAT);
    assert_string_equal(message, "F.urdf:");
    /* a continuous joint's positions are read and not used */
    assert_int_equal(
        parse(ROBOT(FOOT BODY("a", "1") JOINT("j", "continuous", "foot", "a",
                                              "<limit lower='1' upper='2' effort='3' velocity='4'/>"))),
        FF_OK);
    assert_true(urdf.link[0].row.lower == -FF_INF && urdf.link[0].row.upper == FF_INF);
    assert_true(urdf.link[0].row.torque == 3 && urdf.link[0].row.velocity == 4);
    /* every link hangs on a joint, so one of them closes a loop: one joint more than fit */
    static char many[1 << 14];
    int n = snprintf(many, sizeof many, "<robot name='r'>");
    for (int i = 0; i <= FF_URDF_LINKS; i++)
        n += snprintf(many + n, sizeof many - (size_t)n, "<link name='l%d'/>", i);
    for (int i = 0; i <= FF_URDF_LINKS; i++)
        n += snprintf(many + n, sizeof many - (size_t)n,
                      "<joint name='j%d' type='fixed'><parent link='l%d'/><child link='l%d'/></joint>", i,
                      (i + 1) % (FF_URDF_LINKS + 1), i);
    snprintf(many + n, sizeof many - (size_t)n, "</robot>");
    assert_int_equal(parse(many), FF_ERR_FORMAT);
    assert_string_equal(message, "F.urdf:1: more than 64 joints, allowed: fewer");
}

/* ---------------------------------------------------------------------------------------------- scenarios --
 */

#define CAPTURE(arm, obsw)                                         \
    "name: c\ntime: {cycle: 0.004, duration: 1}\nmethod: direct\n" \
    "satellites:\n  client: {mass: 100, inertia: [10, 10, 10]}\n"  \
    "  servicer:\n    mass: 500\n    inertia: [90, 90, 90]\n"      \
    "    arm: " arm "\n    obsw: {goal: {position: [-5, 0, 0]}" obsw "}\n"
#define EMULATION(target, robot)                                                   \
    "name: e\ntime: {cycle: 0.005, duration: 1}\nemulation:\n"                     \
    "  target: {kind: arm, task: plane, tip: {position: [0.5, 0, 0]}" target "}\n" \
    "  robot: {kind: arm, tip: {position: [0.5, 0, 0]}" robot "}\n"
#define TWO ", drives: [{start: 0.3}, {start: 0.9, torque: 7}]"
#define ROWS ", links: [{mass: 1, inertia: [1, 1, 1]}, {mass: 1, inertia: [1, 1, 1], start: 0.9}]"

static ff_status load(const char *text) {
    write_text(file, text);
    return ff_scenario_load(file, NULL, &s, message, sizeof message, warnings, sizeof warnings);
}

static void load_bad(const char *text, const char *said) {
    assert_int_equal(load(text), FF_ERR_FORMAT);
    if (!strstr(message, said))
        fail_msg("said    '%s'\nexpected '%s'", message, said);
}

static const char planar[] = ROBOT(
    FOOT BODY("a", "1") BODY("b", "2") JOINT("j", "revolute", "foot", "a", "<axis xyz='0 0 1'/>" LIMIT)
        JOINT("k", "revolute", "a", "b",
              "<origin xyz='0.5 0 0'/><axis xyz='0 0 1'/>" LIMIT "<dynamics damping='0.1' friction='0.2'/>"));

static bool find_file(void *self, const char *name, const char **text, size_t *length) {
    *text = self;
    *length = strlen(self);
    return strcmp(name, "m.urdf") == 0;
}

/* A log holds its models: they are read from it, never from the disk. */
static void test_models_from_elsewhere(void **state) {
    (void)state;
    const char *const text = CAPTURE("{model: m.urdf}", "");
    char changed[2048]; /* another mass than any file on the disk has */
    snprintf(changed, sizeof changed, "%s", planar);
    memcpy(strstr(changed, "mass value='1'"), "mass value='5'", 14);
    ff_scenario_options options = {.file = find_file, .file_self = changed};
    assert_int_equal(ff_scenario_parse("nowhere/F", text, strlen(text), &options, &s, message, sizeof message,
                                       warnings, sizeof warnings),
                     FF_OK);
    assert_near(s.satellite[1].arm.link[0].row.mass, 5, 0);
    assert_int_equal(s.models, 1);
    assert_string_equal(s.model[0], "m.urdf");
    const char *const other = CAPTURE("{model: n.urdf}", "");
    assert_int_equal(ff_scenario_parse("nowhere/F", other, strlen(other), &options, &s, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_ERR_FORMAT);
    assert_string_equal(message,
                        "nowhere/F:9:18: model 'n.urdf' cannot be read: it is not in the log, allowed: a "
                        "URDF file, from the scenario's folder");
    options.file_self = "<robot";
    assert_int_equal(ff_scenario_parse("nowhere/F", text, strlen(text), &options, &s, message, sizeof message,
                                       warnings, sizeof warnings),
                     FF_ERR_FORMAT);
    assert_memory_equal(message, "m.urdf:1: this is not XML: ", 27);
}

static void test_servicer_refuses_what_it_cannot_have(void **state) {
    (void)state;
    write_text(model, planar);
    if (load(CAPTURE("{model: m.urdf, joints: [0.1, 0.2]}", "")) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(s.satellite[1].arm.joints, 2);
    assert_near(s.satellite[1].arm.link[1].row.coulomb, 0.2, 0);
    load_bad(CAPTURE("{}", ""), "lacks the key 'links', allowed: list, or model: FILE.urdf");
    load_bad(CAPTURE("{model: m.urdf, links: [{mass: 1, inertia: [1, 1, 1]}]}", ""),
             "links beside a model, allowed: one of them");
    load_bad(CAPTURE("{model: n.urdf}", ""),
             "f.yaml:9:18: model 'n.urdf' cannot be read: No such file or directory");
    load_bad(CAPTURE("{model: [1]}", ""), "model must be text");
    load_bad(CAPTURE("{model: m.urdf, joints: [0, 2.5]}", ""),
             "joints: the joint of 'b' is at 2.5, allowed: -1 to 2");
    load_bad(CAPTURE("{model: m.urdf}", ", joints: [-1.5, 0]"),
             "joints: the joint of 'a' is at -1.5, allowed: -1 to 2");
    write_text(model, ROBOT(BODY("foot", "7") BODY("a", "1") JOINT("j", "continuous", "foot", "a", "")));
    load_bad(
        CAPTURE("{model: m.urdf}", ""),
        "m.urdf:2: the root link 'foot' has a mass of 7 kg, which would be dropped, allowed: none (add it to "
        "the satellite's, or carry it on a fixed joint)");
    write_text(model, "<robot>\n<link name='a'><x/></link></robot>");
    load_bad(CAPTURE("{model: m.urdf}", ""), "/m.urdf:2: unknown element <x> in <link>");
}

static void test_emulation_takes_a_chain(void **state) {
    (void)state;
    write_text(model, planar);
    if (load(EMULATION(", model: m.urdf" TWO, ", model: m.urdf" TWO)) != FF_OK)
        fail_msg("%s", message);
    assert_non_null(
        strstr(warnings, "warning: joint 'k' has friction 0.2, an emulated arm has its damping alone"));
    const ff_emulate_arm *arm = &s.arms.robot;
    assert_int_equal(arm->links, 2);
    assert_near(arm->link[1].row.mass, 2, 0);
    assert_near(arm->link[1].start, 0.9, 0);
    assert_near(arm->link[1].row.viscous, 0.1, 0);
    assert_near(arm->link[0].row.torque, 3, 0);
    assert_near(arm->link[1].row.torque, 7, 0);
    assert_near(arm->tip.p.x, 0.5, 0);
    load_bad(EMULATION("", ROWS),
             "emulation.target lacks the key 'links', allowed: list, or model: FILE.urdf");
    load_bad(EMULATION(ROWS ", model: m.urdf", ROWS), "links beside a model, allowed: one of them");
    load_bad(EMULATION(ROWS TWO, ROWS), "drives without a model, allowed: beside model: FILE.urdf");
    load_bad(EMULATION(", model: m.urdf, drives: [{}]", ROWS),
             "drives must be a list of 2, allowed: one row");
    load_bad(EMULATION(", model: m.urdf, drives: [{mass: 1}, {}]", ROWS), "unknown key 'mass'");
    load_bad(EMULATION(", model: m.urdf, drives: [{start: 3}, {}]", ROWS),
             "joint 'j' starts at 3, allowed: -1 to 2 [rad]");
    write_text(model, ROBOT(FOOT BODY("a", "1") JOINT("j", "prismatic", "foot", "a", LIMIT)));
    load_bad(EMULATION(", model: m.urdf", ROWS), "m.urdf:4: joint 'j' is prismatic, allowed in an emulation");
    write_text(model, ROBOT(BODY("foot", "7") BODY("a", "1") JOINT("j", "fixed", "foot", "a", "")));
    load_bad(EMULATION(", model: m.urdf", ROWS),
             "m.urdf:2: the model has 0 joints that move, allowed: 1 to 7");
    load_bad(EMULATION(", base: floating, base_mass: 9, model: m.urdf", ROWS),
             "the root link 'foot' and what is fixed to it have a mass of 8 kg, which would be dropped");
    write_text(model, ROBOT(FOOT "<link name='a'><inertial><mass value='1'/><inertia ixx='0' iyy='0' "
                                 "izz='0'/></inertial></link>" JOINT("j", "continuous", "foot", "a", "")));
    load_bad(EMULATION(", model: m.urdf", ROWS),
             "link 'a' has no inertia, allowed: positive definite [kg m2]");
    write_text(model, ROBOT(FOOT BODY("a", "1") BODY("b", "1") JOINT("j", "continuous", "foot", "a", "")
                                JOINT("k", "continuous", "foot", "b", "")));
    load_bad(EMULATION(", model: m.urdf", ROWS), "m.urdf:6: joint 'k' starts a second branch");
}

/* A campaign's template reads the file once: it may even vanish. */
static void test_template_reads_the_file_once(void **state) {
    (void)state;
    write_text(model, planar);
    const char *text = CAPTURE("{model: m.urdf}", "");
    const ff_scenario_slot slot = {.path = "satellites.client.mass", .argument = "mass"};
    ff_scenario_template *t = NULL;
    assert_int_equal(
        ff_scenario_template_create(file, text, strlen(text), NULL, &slot, 1, &t, message, sizeof message),
        FF_OK);
    ff_scenario_value value = {-1, "120"};
    assert_int_equal(ff_scenario_template_read(t, &value, &s, message, sizeof message), FF_OK);
    assert_int_equal(unlink(model), 0);
    value.text = "130";
    assert_int_equal(ff_scenario_template_read(t, &value, &s, message, sizeof message), FF_OK);
    assert_int_equal(s.satellite[1].arm.joints, 2);
    assert_near(s.satellite[0].rigid.mass, 130, 0);
    ff_scenario_template_free(t);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(file, sizeof file, "%s/f.yaml", folder);
    snprintf(model, sizeof model, "%s/m.urdf", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(file);
    unlink(model);
    return rmdir(folder);
}

/* ------------------------------------------------------------------------------------------ a robot's arm --
 */

#define TURN(n, from, to, xyz, axis) \
    JOINT("j" n, "revolute", from, to, "<origin xyz='" xyz "'/><axis xyz='" axis "'/>" LIMIT)
#define LINKS                                                                                        \
    FOOT "<link name='base'/><link name='a'/><link name='b'/><link name='c'/><link name='d'/><link " \
         "name='e'/>\n<link name='f'/><link name='tool0'/><link name='finger'/>\n"
#define FIVE                                   \
    TURN("1", "foot", "a", "0 0 0.5", "0 0 1") \
    TURN("2", "a", "b", "0.1 0 0", "0 1 0")    \
    TURN("3", "b", "c", "0 0 0.6", "0 1 0")    \
    TURN("4", "c", "d", "0.5 0 0", "1 0 0") TURN("5", "d", "e", "0 0 0", "0 1 0")
#define ENDS                                                                                       \
    JOINT("flange", "fixed", "f", "tool0", "<origin xyz='0.1 0 0' rpy='0 1.5707963267948966 0'/>") \
    JOINT("root", "fixed", "foot", "base", "<origin xyz='0 0 0.1' rpy='0 0 3.141592653589793'/>")
#define GRIP JOINT("grip", "prismatic", "f", "finger", "<axis xyz='0 1 0'/>" LIMIT)
#define ARM6 FIVE TURN("6", "e", "f", "0 0 0", "1 0 0") ENDS GRIP

static ff_status read_arm(const char *text, const char *base, const char *tip, ff_arm_config *arm) {
    if (ff_urdf_parse("F.urdf", text, strlen(text), true, &urdf, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    return ff_urdf_arm("F.urdf", &urdf, base, tip, arm, message, sizeof message);
}

static void test_a_robot_s_arm_is_read_between_two_links(void **state) {
    (void)state;
    ff_arm_config arm;
    ff_arm_model own;
    const ff_arm_joints zero = {.rail = 0};
    /* no masses, a gripper on another branch: frames and limits are all that counts */
    assert_int_equal(read_arm(ROBOT(LINKS ARM6), "", "tool0", &arm), FF_OK);
    assert_int_equal(arm.axes, 6);
    assert_int_equal(ff_arm_create(&arm, &own), FF_OK);
    assert_int_equal(own.form, FF_ARM_ELBOW);
    ff_pose T = ff_arm_forward(&own, &zero);
    assert_near(T.p.x, 0.7, 1e-15);
    assert_near(T.p.z, 1.1, 1e-15);
    assert_near(arm.lower[3], -1, 0);
    assert_near(arm.upper[5], 2, 0);
    assert_near(arm.speed[0], 4, 0);
    assert_near(arm.ready[0], 0.5, 0);
    /* seen from the controller's base: half a turn about z, 0.1 m up */
    assert_int_equal(read_arm(ROBOT(LINKS ARM6), "base", "tool0", &arm), FF_OK);
    assert_int_equal(ff_arm_create(&arm, &own), FF_OK);
    T = ff_arm_forward(&own, &zero);
    assert_near(T.p.x, -0.7, 1e-15);
    assert_near(T.p.z, 1.0, 1e-15);
}

static void expect_no_arm(const char *text, const char *base, const char *tip, const char *said) {
    ff_arm_config arm;
    assert_int_equal(read_arm(text, base, tip, &arm), FF_ERR_FORMAT);
    if (strcmp(message, said) != 0)
        fail_msg("said    '%s'\nexpected '%s'", message, said);
}

static void test_what_is_not_an_arm_is_refused(void **state) {
    (void)state;
    expect_no_arm(ROBOT(LINKS ARM6), "", "tool1",
                  "F.urdf:2: the model has no link 'tool1', allowed: one of its links");
    expect_no_arm(ROBOT(LINKS ARM6), "world", "tool0",
                  "F.urdf:2: the model has no link 'world', allowed: one of its links");
    expect_no_arm(ROBOT(LINKS ARM6), "b", "tool0",
                  "F.urdf:6: the base 'b' hangs on the moving joint 'j2', allowed: a link that stands still");
    expect_no_arm(ROBOT(LINKS ARM6), "", "e",
                  "F.urdf:2: 5 joints move between 'foot' and 'e', allowed: 6 or 7");
    expect_no_arm(ROBOT(LINKS ARM6), "", "foot",
                  "F.urdf:2: 0 joints move between 'foot' and 'foot', allowed: 6 or 7");
    expect_no_arm(
        ROBOT(LINKS FIVE JOINT("j6", "continuous", "e", "f", "<axis xyz='1 0 0'/>") ENDS GRIP), "", "tool0",
        "F.urdf:10: joint 'j6' has no limits, allowed in a robot's arm: type revolute with <limit lower "
        "upper effort velocity>");
    expect_no_arm(ROBOT(LINKS FIVE JOINT("j6", "prismatic", "e", "f", "<axis xyz='1 0 0'/>" LIMIT) ENDS GRIP),
                  "", "tool0", "F.urdf:10: joint 'j6' is prismatic, allowed in a robot's arm: revolute");
    expect_no_arm(ROBOT(LINKS FIVE JOINT(
                      "j6", "revolute", "e", "f",
                      "<axis xyz='1 0 0'/><limit lower='1' upper='1' effort='0' velocity='1'/>") ENDS GRIP),
                  "", "tool0", "F.urdf:10: joint 'j6' cannot move: lower and upper are both 1");
    /* a joint without limits, a mimic: by the file's own reader */
    expect_bad(
        ROBOT(LINKS FIVE JOINT("j6", "revolute", "e", "f", "<axis xyz='1 0 0'/>") ENDS GRIP),
        "F.urdf:10: joint 'j6' lacks <limit lower upper effort velocity>, allowed without: type continuous, "
        "fixed");
    expect_bad(
        ROBOT(LINKS FIVE JOINT("j6", "revolute", "e", "f", "<mimic joint='j5'/>" LIMIT) ENDS GRIP),
        "F.urdf:10: joint 'j6' mimics another one, which is not supported, allowed: joints that move freely, "
        "or fixed");
    /* with masses asked for, an effort of nothing is refused as before */
    expect_bad(ROBOT(FOOT BODY("a", "1") JOINT("j", "revolute", "foot", "a",
                                               "<limit lower='-1' upper='1' effort='0' velocity='1'/>")),
               "F.urdf:4: joint 'j' has effort 0 and velocity 1, allowed: both > 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_robot_s_arm_is_read_between_two_links),
        cmocka_unit_test(test_what_is_not_an_arm_is_refused),
        cmocka_unit_test(test_servicer_arm_is_the_table_of_the_scenario),
        cmocka_unit_test(test_joints_and_inertias_are_read_as_the_format_means_them),
        cmocka_unit_test(test_numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(test_last_row_is_the_end_of_the_arm),
        cmocka_unit_test(test_chain_merges_what_is_fixed),
        cmocka_unit_test(test_bad_documents),
        cmocka_unit_test(test_bad_links),
        cmocka_unit_test(test_bad_joints),
        cmocka_unit_test(test_every_attribute_is_checked),
        cmocka_unit_test(test_models_from_elsewhere),
        cmocka_unit_test(test_servicer_refuses_what_it_cannot_have),
        cmocka_unit_test(test_emulation_takes_a_chain),
        cmocka_unit_test(test_template_reads_the_file_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
