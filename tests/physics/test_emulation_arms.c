/* [aghili, section 3]: arms with several flexible joints, emulated by rigid ones of other inertia under
 * gravity, equal the target simulated directly. Poses, motor angles, forces and energy are compared: f =
 * lambda alone proves little. */
#include "support.h"

#include "emulate/emulate.h"

typedef struct arm {
    ff_tree_model *tree;
    ff_tree_work *work;
    void *memory[2];
} arm;

static arm make_arm(const ff_tree_config *config) {
    arm a;
    char message[200] = "";
    const size_t bytes = ff_tree_memsize(config);
    a.memory[0] = malloc(bytes);
    if (ff_tree_create(config, a.memory[0], bytes, &a.tree, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    const size_t work = ff_tree_work_memsize(a.tree);
    a.memory[1] = malloc(work);
    assert_int_equal(ff_tree_work_create(a.tree, a.memory[1], work, &a.work), FF_OK);
    return a;
}

static void free_arm(arm *a) {
    free(a->memory[0]);
    free(a->memory[1]);
}

static void set_inertia(ff_tree_link_config *link, double mass, double length, ff_vec3 com) {
    link->mass = mass;
    link->com = com;
    link->inertia[0] = link->inertia[1] = link->inertia[2] = mass * length * length / 12.0;
}

static ff_emulate_result emulate(const ff_emulate_config *c) {
    ff_emulate_result r;
    char message[200] = "";
    const ff_status status = ff_emulate_run(c, &r, message, sizeof message);
    if (status != FF_OK)
        fail_msg("%s: %s", ff_status_name(status), message);
    return r;
}

static void check(const char *name, ff_emulate_result *r, double peak) {
    print_message("%s: contact %.6f s, peak %.3f N, pose %.2g, state %.2g, force %.2g N, |f - lambda| %.2g "
                  "N, constraint %.2g, "
                  "energy %.2g J\n",
                  name, r->contact_s, r->peak_force, r->pose_error, r->state_error, r->contact_error,
                  r->force_error, r->constraint, r->energy_error);
    assert_true(r->peak_force > peak); /* the contact is part of the test */
    assert_near(r->contact_s, r->contact_direct_s, 1e-9);
    assert_true(r->pose_error <= 1e-10);
    assert_true(r->state_error <= 1e-10);
    assert_true(r->contact_error <= 1e-6);
    assert_true(r->force_error <= 1e-8);
    assert_true(fabs(r->constraint) <= 1e-11);
    assert_true(r->energy_error <= 1e-9);
    assert_false(r->damped);
    ff_emulate_free(r);
}

static void planar_links(ff_tree_link_config *link, double mass) {
    for (int i = 0; i < 2; i++) {
        ff_tree_link_default(&link[i]);
        link[i].parent = i - 1;
        link[i].pose = ff_pose_identity();
        if (i)
            link[i].pose.p = ff_vec3_make(0.5, 0, 0);
        set_inertia(&link[i], mass, 0.5, ff_vec3_make(0.25, 0.01 * (i + 1), 0));
    }
}

static void test_two_flexible_joints_equal_the_direct_arm(void **state) {
    (void)state;
    ff_tree_link_config target_link[2], robot_link[2];
    planar_links(target_link, 2.0);
    planar_links(robot_link, 3.5);
    arm target = make_arm(&(ff_tree_config){.fixed_base = true, .links = 2, .link = target_link});
    arm robot = make_arm(&(ff_tree_config){.fixed_base = true, .links = 2, .link = robot_link});
    const ff_tree_frame tip = {1, {{1, 0, 0, 0}, {{0.4, 0, 0}}}};
    const ff_tree_mechanism ts = {.tree = target.tree,
                                  .tree_work = target.work,
                                  .frame = tip,
                                  .task = FF_TREE_TASK_PLANE,
                                  .base = ff_pose_identity(),
                                  .flexible = true,
                                  .motor_inertia = {0.3, 0.2},
                                  .stiffness = {60, 40},
                                  .damping = {0.5, 0.3},
                                  .motor_friction = {0.1, 0.1},
                                  .joint_friction = {0.05, 0.02}};
    const ff_tree_mechanism tr = {.tree = robot.tree,
                                  .tree_work = robot.work,
                                  .frame = tip,
                                  .task = FF_TREE_TASK_PLANE,
                                  .base = ff_pose_identity(),
                                  .gravity = {{0, -9.81, 0}},
                                  .joint_friction = {0.2, 0.2}};
    for (int scheme = 0; scheme < 2; scheme++) {
        ff_emulate_config c;
        ff_emulate_default(&c);
        assert_int_equal(ff_tree_mechanism_create(&ts, &c.target), FF_OK);
        assert_int_equal(ff_tree_mechanism_create(&tr, &c.robot), FF_OK);
        c.robot_model = c.robot;
        c.emulation.scheme = scheme ? FF_EMULATION_FREE : FF_EMULATION_CONSTRAINED;
        const double start[2] = {0.3, 0.9};
        for (int i = 0; i < 2; i++)
            c.q_s[i] = c.q_s[2 + i] = c.q_r[i] = start[i];
        c.torque[2] = -0.6;
        c.torque[3] = -0.4;
        const double x = 0.5 * cos(0.3) + 0.4 * cos(1.2);
        c.wall = (ff_emulate_wall){true, {x + 0.02, 0, 0}, {-1, 0, 0}, 5000, 30};
        c.duration = 1.5;
        c.cycle = 0.005;
        ff_emulate_result r = emulate(&c);
        check(scheme ? "two joints, free" : "two joints, constrained", &r, 1.0);
    }
    free_arm(&target);
    free_arm(&robot);
}

/* An arm of `joints` alternating axes. */
static void spatial_links(ff_tree_link_config *link, int joints, double mass, double length, int pattern) {
    for (int i = 0; i < joints; i++) {
        ff_tree_link_default(&link[i]);
        link[i].parent = i - 1;
        link[i].pose = ff_pose_identity();
        link[i].pose.p = ff_vec3_make(0, 0, i ? length : 0.2);
        const int axis = pattern == 6 ? (i == 0 || i == 3 || i == 5 ? 2 : 1) : (i % 2 ? 1 : 2);
        link[i].axis = ff_vec3_make(0, axis == 1, axis == 2);
        set_inertia(&link[i], mass * (1.0 - 0.1 * i), length + 0.05,
                    ff_vec3_make(0.01, 0.005 * i, 0.5 * length));
    }
}

typedef struct spatial_pair {
    arm target, robot;
    ff_tree_link_config target_link[7], robot_link[6];
    ff_tree_mechanism ts, tr;
    ff_emulate_config c;
} spatial_pair;

static void make_pair(spatial_pair *p, bool floating) {
    spatial_links(p->target_link, 7, 4.0, 0.25, 7);
    spatial_links(p->robot_link, 6, 8.0, 0.3, 6);
    ff_tree_config tc = {.fixed_base = !floating, .links = 7, .link = p->target_link};
    tc.base_mass = 300;
    tc.base_inertia[0] = tc.base_inertia[1] = tc.base_inertia[2] = 60;
    p->target = make_arm(&tc);
    p->robot = make_arm(&(ff_tree_config){.fixed_base = true, .links = 6, .link = p->robot_link});
    p->ts = (ff_tree_mechanism){.tree = p->target.tree,
                                .tree_work = p->target.work,
                                .frame = {6, {{1, 0, 0, 0}, {{0, 0, 0.2}}}},
                                .base = ff_pose_identity(),
                                .flexible = true};
    for (int i = 0; i < 7; i++) {
        p->ts.motor_inertia[i] = 0.4 - 0.04 * i;
        p->ts.stiffness[i] = 200 - 20 * i;
        p->ts.damping[i] = 1.0;
        p->ts.motor_friction[i] = 0.2;
    }
    p->tr = (ff_tree_mechanism){.tree = p->robot.tree,
                                .tree_work = p->robot.work,
                                .frame = {5, {{1, 0, 0, 0}, {{0, 0, 0.2}}}},
                                .base = ff_pose_identity(),
                                .gravity = {{0, 0, -9.81}}};
    for (int i = 0; i < 6; i++)
        p->tr.joint_friction[i] = 0.3;
    ff_emulate_config *c = &p->c;
    ff_emulate_default(c);
    assert_int_equal(ff_tree_mechanism_create(&p->ts, &c->target), FF_OK);
    assert_int_equal(c->target.dof, floating ? 20 : 14);
    static const double q_s[7] = {0.2, 0.6, -0.3, 0.9, 0.2, 0.7, 0.1},
                        q_r[6] = {0.3, 0.7, 0.8, -0.4, 0.9, 0.2};
    static const double motor[7] = {0.5, -1.2, 0.3, 0.9, -0.3, 0.3, 0.1};
    const size_t skip = floating ? 7 : 0, base = floating ? 6 : 0;
    if (floating)
        c->q_s[0] = 1.0;
    for (size_t i = 0; i < 7; i++) {
        c->q_s[skip + i] = c->q_s[skip + 7 + i] = q_s[i];
        c->torque[base + 7 + i] = motor[i];
    }
    memcpy(c->q_r, q_r, sizeof q_r);
    /* The robot's base stands where its end effector meets the target's. */
    ff_mechanism_terms a, b;
    ff_mechanism robot;
    assert_int_equal(ff_tree_mechanism_create(&p->tr, &robot), FF_OK);
    c->target.terms(&c->target, c->q_s, c->v_s, FF_TERMS_ALL, &a);
    robot.terms(&robot, c->q_r, c->v_r, FF_TERMS_ALL, &b);
    p->tr.base = ff_pose_mul(a.pose.pose, ff_pose_inverse(b.pose.pose));
    assert_int_equal(ff_tree_mechanism_create(&p->tr, &c->robot), FF_OK);
    c->robot_model = c->robot;
    const ff_vec3 tip = a.pose.pose.p;
    c->wall = (ff_emulate_wall){true, {tip.x, tip.y, tip.z - 0.004}, {0, 0, 1}, 3000, 20};
    c->cycle = 0.01;
    c->duration = test_long() ? 1.6 : 0.8; /* from 2 s on the robot nears a singularity, which amplifies */
}

static void free_pair(spatial_pair *p) {
    free_arm(&p->target);
    free_arm(&p->robot);
}

/* Resolved rate with force-moment accommodation drives both; the sensor's force closes the target's own loop.
 */
static void test_accommodation_controller_equals_the_direct_arm(void **state) {
    (void)state;
    spatial_pair p;
    make_pair(&p, false);
    ff_mechanism_terms scratch;
    const ff_emulate_accommodation a = {.target = &p.c.target,
                                        .terms = &scratch,
                                        .rate = {0, 0, 0, 0.01, 0, -0.03},
                                        .accommodation = 2e-4,
                                        .gain = 20,
                                        .joints = 7};
    p.c.motor = ff_emulate_accommodate;
    p.c.motor_user = &a;
    ff_emulate_result r = emulate(&p.c);
    /* It moves as commanded before the contact, and yields in it: the force settles below rate/accommodation
     * = 150 N. */
    assert_true(r.peak_force < 150.0);
    check("seven joints, accommodation", &r, 1.0);
    free_pair(&p);
}

static void test_seven_flexible_joints_equal_the_direct_arm(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        const bool floating = variant & 2, free_scheme = variant & 1;
        spatial_pair p;
        make_pair(&p, floating);
        p.c.emulation.scheme = free_scheme ? FF_EMULATION_FREE : FF_EMULATION_CONSTRAINED;
        ff_emulate_result r = emulate(&p.c);
        char name[80];
        snprintf(name, sizeof name, "seven joints on a %s base, %s", floating ? "floating" : "fixed",
                 free_scheme ? "free" : "constrained");
        check(name, &r, 1.0);
        free_pair(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_flexible_joints_equal_the_direct_arm),
        cmocka_unit_test(test_accommodation_controller_equals_the_direct_arm),
        cmocka_unit_test(test_seven_flexible_joints_equal_the_direct_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
