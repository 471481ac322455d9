/* The plant as a whole: cycles, frames, errors, and that reading never allocates. */
#include "unit/facility/plants.h"

#include "facility/sensors.h"

#include <stdatomic.h>

/* Counts what the C library is asked for; the real allocators do the work. */
static atomic_long allocations;
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}
void *realloc(void *p, size_t size) {
    allocations++;
    return __libc_realloc(p, size);
}
#define COUNTS 1
#else
#define COUNTS 0
#endif

static void test_read_ideal_robot_is_where_the_command_is(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    ff_scenario s;
    make_scenario(&s, 2);
    ff_plant *plant = make_plant(&s);
    for (uint64_t k = 0; k < 20; k++) {
        const ff_setpoint c[2] = {random_setpoint(&rng, 1.0), random_setpoint(&rng, 1.0)};
        ff_plant_write(plant, k, c);
        ff_loop_in in;
        ff_truth truth;
        assert_int_equal(ff_plant_read(plant, k, &in, &truth), FF_OK);
        for (int i = 0; i < 2; i++) {
            assert_memory_equal(&truth.robot[i], &c[i], sizeof c[i]);
            assert_memory_equal(&in.sensor[i].T_wb, &c[i].T, sizeof(ff_pose));
            assert_memory_equal(&in.sensor[i].twist, &c[i].twist, sizeof(ff_twist));
            assert_true(in.sensor[i].age == 0.0);
            assert_vec3_near(in.sensor[i].f_s.f, ff_vec3_zero(), 0.0);
        }
        /* a second command for the same cycle does not change the cycle, nor does a second read */
        const ff_setpoint other[2] = {random_setpoint(&rng, 1.0), random_setpoint(&rng, 1.0)};
        ff_plant_write(plant, k, other);
        assert_int_equal(ff_plant_read(plant, k, NULL, &truth), FF_OK);
        assert_memory_equal(&truth.robot[0], &c[0], sizeof c[0]);
    }
    assert_int_equal(ff_plant_read(plant, 3, NULL, NULL), FF_ERR_ARGUMENT);
    ff_plant_free(plant);
}

/* Force at a point off the centre, on each of six axes: f and r x f about the CoM, seen through every frame.
 */
static void test_read_lever_arm_six_axes(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            ff_scenario s;
            make_scenario(&s, 1);
            ff_vec3 n = ff_vec3_zero();
            n.a[axis] = sign;
            const ff_vec3 r = ff_vec3_make(0.3, -0.2, 0.4);
            s.contacts = 1; /* 1 mm deep: the wall stands 1 mm above the point along its normal */
            s.contact[0] = make_wall(r, ff_vec3_axpy(1e-3, n, r), n, 2000.0, 0.0);
            ff_plant *plant = make_plant(&s);
            ff_loop_in in;
            ff_truth truth;
            const ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
            ff_plant_write(plant, 0, &c);
            assert_int_equal(ff_plant_read(plant, 0, &in, &truth), FF_OK);
            const ff_vec3 f = ff_vec3_scale(2.0, n);
            ff_vec3 t = ff_vec3_zero(); /* r x f, written out */
            if (axis == 0)
                t = ff_vec3_make(0, 0.4 * f.x, 0.2 * f.x);
            if (axis == 1)
                t = ff_vec3_make(-0.4 * f.y, 0, 0.3 * f.y);
            if (axis == 2)
                t = ff_vec3_make(-0.2 * f.z, -0.3 * f.z, 0);
            assert_vec3_near(in.sensor[0].f_s.f, f, 1e-12);
            assert_vec3_near(in.sensor[0].f_s.t, t, 1e-12);
            assert_vec3_near(truth.force[0], f, 1e-12);
            assert_vec3_near(truth.wrench[0].t, t, 1e-12);
            assert_true(truth.touching[0]);
            ff_plant_free(plant);
        }
}

/* base, tool, sensor pose, mount, mock-up and gravity at random: stage 1 of the loop gets the true contact
 * wrench back. */
static void test_read_random_frames_stage_one_recovers_contact(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int run = 0; run < test_count(300, 10000); run++) {
        ff_scenario s;
        make_scenario(&s, 1);
        ff_satellite *a = &s.satellite[0];
        a->robot.base = test_random_pose(&rng, 2.0);
        a->robot.tool = test_random_pose(&rng, 0.5);
        a->sensor.pose = test_random_pose(&rng, 0.5);
        a->sensor.environment = run % 2;
        s.facility_gravity = test_random_vec3(&rng, 9.81);
        s.facility_pose = test_random_pose(&rng, 2.0);
        if (run % 3) {
            a->mockup.present = true;
            a->mockup.mass = 20.0;
            a->mockup.com = test_random_vec3(&rng, 0.2);
            a->mockup.inertia = ff_mat3_diag(1.0, 1.2, 0.7);
        }
        const ff_setpoint c0 = random_setpoint(&rng, 1.0);
        ff_setpoint c1 = c0;
        c1.twist.v = ff_vec3_add(c1.twist.v, test_random_vec3(&rng, 0.01));
        c1.twist.w = ff_vec3_add(c1.twist.w, test_random_vec3(&rng, 0.01));
        const ff_vec3 point = test_random_vec3(&rng, 0.5), n = ff_vec3_unit(test_random_vec3(&rng, 1.0));
        const double d = 0.01;
        s.contacts = 1;
        s.contact[0] = make_wall(point, ff_vec3_axpy(d, n, ff_pose_apply(c0.T, point)), n, 2000.0, 0.0);
        ff_plant *plant = make_plant(&s);
        ff_loop_in in;
        ff_truth truth;
        ff_plant_write(plant, 0, &c0);
        ff_plant_read(plant, 0, &in, &truth);
        ff_plant_write(plant, 1, &c1);
        assert_int_equal(ff_plant_read(plant, 1, &in, &truth), FF_OK);
        /* the acceleration is the difference of the velocities */
        assert_vec3_near(in.sensor[0].acceleration.v,
                         ff_vec3_scale(1.0 / s.cycle, ff_vec3_sub(c1.twist.v, c0.twist.v)), 1e-12);
        assert_vec3_near(in.sensor[0].acceleration.w,
                         ff_vec3_scale(1.0 / s.cycle, ff_vec3_sub(c1.twist.w, c0.twist.w)), 1e-12);
        /* truth, written out: f = k d n at the point */
        const ff_vec3 f_b = ff_quat_unrotate(c0.T.q, ff_vec3_scale(2000.0 * d, n));
        assert_vec3_near(truth.contact_b[0].f, f_b, 1e-11);
        assert_vec3_near(truth.contact_b[0].t, ff_vec3_cross(point, f_b), 1e-11);

        /* the loop is given the frames by hand, not by the plant's own function */
        ff_wrench_config config;
        ff_wrench_default(&config);
        config.environment = a->sensor.environment;
        config.T_ws = ff_pose_mul(ff_pose_inverse(s.facility_pose), a->sensor.pose);
        config.T_bs = ff_pose_mul(ff_pose_inverse(a->robot.tool), a->sensor.pose);
        config.gravity_w = ff_quat_unrotate(s.facility_pose.q, s.facility_gravity);
        config.mockup_mass = a->mockup.mass;
        config.mockup_com_b = a->mockup.com;
        config.mockup_inertia = a->mockup.inertia;
        ff_wrench got;
        assert_int_equal(ff_wrench_condition(&config, &in.sensor[0], &got), FF_OK);
        /* 20 kg at up to 15 m/s2 + 0.01/T: the mock-up's 300 N limit the rounding to some 1e-13 */
        assert_vec3_near(got.f, truth.contact_b[0].f, 1e-12);
        assert_vec3_near(got.t, truth.contact_b[0].t, 1e-12);
        ff_loop_config loop; /* what the scenario gives the loop is the same */
        ff_scenario_loop(&s, &loop);
        assert_int_equal(ff_wrench_condition(&loop.body[0].wrench, &in.sensor[0], &got), FF_OK);
        assert_vec3_near(got.f, truth.contact_b[0].f, 1e-12);
        assert_vec3_near(got.t, truth.contact_b[0].t, 1e-12);
        ff_plant_free(plant);
    }
}

/* A mock-up at rest: its weight, at its own lever arm, with the right sign. */
static void test_read_mockup_at_rest_weighs(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 1);
    s.facility_gravity = ff_vec3_make(0, 0, -9.81);
    s.satellite[0].mockup.present = true;
    s.satellite[0].mockup.mass = 10.0;
    s.satellite[0].mockup.com = ff_vec3_make(0.1, 0, 0);
    s.satellite[0].mockup.inertia = ff_mat3_diag(1, 1, 1);
    ff_plant *plant = make_plant(&s);
    ff_loop_in in;
    const ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
    ff_plant_write(plant, 0, &c);
    ff_plant_read(plant, 0, &in, NULL);
    assert_vec3_near(in.sensor[0].f_s.f, ff_vec3_make(0, 0, -98.1), 1e-12);
    assert_vec3_near(in.sensor[0].f_s.t, ff_vec3_make(0, 9.81, 0), 1e-12);
    ff_plant_free(plant);
}

/* A lab that is turned: gravity and the environment's sensor stand in the lab, the robots in the inertial
 * frame. */
static void test_frames_turned_lab(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 1);
    s.facility_pose.q = ff_quat_exp(ff_vec3_make(0.5 * FF_PI, 0, 0)); /* inertial y is lab z */
    s.facility_gravity = ff_vec3_make(0, 0, -9.81);
    ff_wrench_config frames;
    ff_sensor_frames(&s, 0, &frames);
    assert_vec3_near(frames.gravity_w, ff_vec3_make(0, -9.81, 0), 1e-14);
    s.satellite[0].sensor.environment = true;
    s.satellite[0].sensor.pose.p = ff_vec3_make(0, 0, 2);
    ff_sensor_frames(&s, 0, &frames);
    assert_vec3_near(frames.T_ws.p, ff_vec3_make(0, 2, 0), 1e-14);
}

static void test_read_not_finite_command_diverged(void **state) {
    (void)state;
    const ff_robot_kind kinds[] = {FF_ROBOT_IDEAL, FF_ROBOT_DELAY, FF_ROBOT_LAG, FF_ROBOT_LIMITED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ff_scenario s;
        make_scenario(&s, 1);
        s.satellite[0].robot.kind = kinds[i];
        ff_plant *plant = make_plant(&s);
        ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
        ff_plant_write(plant, 0, &c);
        assert_int_equal(ff_plant_read(plant, 0, NULL, NULL), FF_OK);
        c.T.q.x = FF_NAN;
        ff_plant_write(plant, 1, &c);
        assert_int_equal(ff_plant_read(plant, 1, NULL, NULL), FF_ERR_DIVERGED);
        ff_plant_reset(plant);
        c.T.q.x = 0;
        ff_plant_write(plant, 0, &c);
        assert_int_equal(ff_plant_read(plant, 0, NULL, NULL), FF_OK);
        ff_plant_free(plant);
    }
}

/* Cycles that were left out: the robot stands at its last command. */
static void test_read_missing_commands_hold(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 1);
    s.satellite[0].robot.kind = FF_ROBOT_DELAY;
    s.satellite[0].robot.delay = 2 * s.cycle;
    ff_plant *plant = make_plant(&s);
    ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
    c.T.p.x = 1.0;
    c.twist.v.x = 0.5;
    ff_plant_write(plant, 0, &c);
    ff_truth truth;
    ff_plant_read(plant, 5, NULL, &truth);
    assert_near(truth.robot[0].T.p.x, 1.0, 0.0);
    assert_near(truth.robot[0].twist.v.x, 0.0, 0.0);
    c.T.p.x = 2.0;
    ff_plant_write(plant, 100, &c); /* far ahead: the cycles between are made up */
    ff_plant_read(plant, 101, NULL, &truth);
    assert_near(truth.robot[0].T.p.x, 1.0, 0.0);
    ff_plant_read(plant, 102, NULL, &truth);
    assert_near(truth.robot[0].T.p.x, 2.0, 0.0);
    ff_plant_free(plant);
}

static void refused(const ff_scenario *s, const char *words) {
    char message[256] = "";
    ff_plant *plant = ff_plant_create(s, message, sizeof message, NULL);
    assert_null(plant);
    if (!strstr(message, words))
        fail_msg("\"%s\" lacks \"%s\"", message, words);
    assert_null(strchr(message, '\n'));
}

static void set_gears(ff_robot_config *r) {
    for (int a = 0; a < 6; a++)
        r->gear_stiffness[a] = r->gear_damping[a] = r->joint_inertia[a] = 1.0;
}

static void test_create_refuses_with_a_sentence(void **state) {
    (void)state;
    ff_scenario good, s;
    make_scenario(&good, 2);
    good.contacts = 1;
    good.contact[0] = make_wall(ff_vec3_zero(), ff_vec3_zero(), ff_vec3_make(0, 0, 2), 1.0, 0.0);

    const ff_robot_kind kinds[] = {FF_ROBOT_JOINTS, FF_ROBOT_WRENCH, FF_ROBOT_MUJOCO};
    const char *const names[] = {"joints", "wrench", "mujoco"};
    for (int i = 0; i < 3; i++) {
        s = good;
        s.satellite[1].robot.kind = kinds[i];
        refused(&s, names[i]);
        refused(&s, "satellites.servicer");
    }
#define REFUSED(change, words) \
    do {                       \
        s = good;              \
        change;                \
        refused(&s, words);    \
    } while (0)
    REFUSED(s.contact[0].kind = FF_CONTACT_GRASP, "contacts.front: the contact's against");
    REFUSED((s.contact[0].kind = FF_CONTACT_GRASP, s.contact[0].against = 1, s.contact[0].reach = -1),
            "reach");
    REFUSED((s.frame = FF_FRAME_RELATIVE, s.nominal = FF_NOMINAL_PRESCRIBED, s.nominal_twist.w.x = FF_NAN),
            "nominal");
    REFUSED((s.satellite[0].robot.rail.present = true, s.satellite[0].robot.kind = FF_ROBOT_JOINTS), "rail");
    REFUSED(s.cycle = 0.0, "cycle");
    REFUSED(s.satellites = FF_MAX_BODIES + 1, "number of satellites");
    REFUSED(s.contact[0].normal = ff_vec3_zero(), "normal");
    REFUSED(s.contact[0].stiffness = -1, "stiffness");
    REFUSED(s.contact[0].body = 2, "body");
    REFUSED((s.contact[0].kind = FF_CONTACT_PAIR, s.contact[0].against = 0), "against");
    REFUSED((s.contact[0].kind = FF_CONTACT_CONE, s.contact[0].against = 1), "axis");
    REFUSED((s.contact[0].kind = FF_CONTACT_CONE, s.contact[0].against = 1,
             s.contact[0].axis = ff_vec3_make(1, 0, 0)),
            "half_angle");
    REFUSED((s.contact[0].kind = FF_CONTACT_STOPS, s.contact[0].stop_position.x = FF_NAN), "half widths");
    REFUSED((s.contact[0].kind = FF_CONTACT_STOPS, s.contact[0].rotation_damping = -1), "rotation_damping");
    REFUSED((s.satellite[0].robot.kind = FF_ROBOT_DELAY, s.satellite[0].robot.delay = -1), "delay");
    REFUSED((s.satellite[0].robot.kind = FF_ROBOT_DELAY, s.satellite[0].robot.delay = 1e9), "delay");
    REFUSED((s.satellite[0].robot.kind = FF_ROBOT_LAG, s.satellite[0].robot.frequency = 0), "frequency");
    REFUSED((s.satellite[0].robot.kind = FF_ROBOT_LIMITED, s.satellite[0].robot.jerk = 0), "limit");
    REFUSED(s.satellite[0].robot.tool.q.w = 0, "tool");
    REFUSED(s.satellite[0].sensor.pose.q.w = 2, "sensor's pose");
    REFUSED(s.satellite[0].start.attitude.w = 0, "start");
    REFUSED(s.facility_gravity.x = FF_NAN, "gravity");
    REFUSED((s.satellite[0].sensor.kind = FF_SENSOR_NOISY, s.satellite[0].sensor.force_noise = -1), "noise");
    REFUSED((s.satellite[0].sensor.kind = FF_SENSOR_NOISY, s.satellite[0].sensor.range_force = 0), "range");
    REFUSED((s.satellite[0].sensor.kind = FF_SENSOR_NOISY, s.satellite[0].sensor.bias.f.x = FF_NAN), "bias");
    REFUSED((s.satellite[0].sensor.kind = FF_SENSOR_NOISY, s.satellite[0].sensor.delay = -1), "delay");
    REFUSED((s.satellite[0].mockup.present = true, s.satellite[0].mockup.mass = -1), "mock-up");
    REFUSED(s.cycle = FF_INF, "cycle");
    REFUSED(s.satellites = 0, "number of satellites");
    REFUSED(s.contacts = -1, "number of satellites or contacts");
    REFUSED(s.contacts = FF_MAX_CONTACTS + 1, "number of satellites or contacts");
    REFUSED(s.facility_pose.q.w = 0, "facility's pose");
    REFUSED(s.satellite[0].start.position.x = FF_NAN, "start");
    REFUSED((s.frame = FF_FRAME_RELATIVE, s.nominal = FF_NOMINAL_PRESCRIBED, s.nominal_pose.q.w = FF_NAN),
            "nominal");
    ff_contact *c = &s.contact[0];
    REFUSED(c->kind = (ff_contact_kind)9, "kind is unknown");
    REFUSED(c->body = -1, "body");
    REFUSED((c->kind = FF_CONTACT_PAIR, c->against = 2), "against");
    REFUSED(c->stiffness = FF_INF, "stiffness");
    REFUSED(c->damping = -1, "damping");
    REFUSED(c->damping_depth = FF_NAN, "damping_depth");
    REFUSED(c->friction = -0.1, "friction");
    REFUSED(c->at.x = FF_NAN, "normal, at and point");
    REFUSED(c->point.x = FF_INF, "normal, at and point");
    REFUSED((c->kind = FF_CONTACT_CONE, c->against = 1, c->axis.x = 1, c->half_angle = 2), "half_angle");
    REFUSED((c->kind = FF_CONTACT_CONE, c->against = 1, c->axis.x = 1, c->half_angle = 1, c->depth = 0),
            "depth");
    REFUSED((c->kind = FF_CONTACT_GRASP, c->against = -1), "against");
    REFUSED((c->kind = FF_CONTACT_GRASP, c->against = 1, c->reach = 1, c->closes = -1), "closes");
    REFUSED((c->kind = FF_CONTACT_GRASP, c->against = 1, c->reach = 1, c->rotation_stiffness = -1),
            "rotation_stiffness");
    REFUSED((c->kind = FF_CONTACT_GRASP, c->against = 1, c->reach = 1, c->rotation_damping = FF_NAN),
            "rotation_damping");
    REFUSED((c->kind = FF_CONTACT_STOPS, c->rotation_stiffness = -1), "rotation_stiffness");
    REFUSED((c->kind = FF_CONTACT_STOPS, c->stop_rotation.z = -1), "half widths");
    ff_robot_config *r = &s.satellite[0].robot;
    REFUSED(r->base.p.x = FF_NAN, "base");
    REFUSED((r->kind = FF_ROBOT_DELAY, r->jitter = -1), "jitter");
    REFUSED((r->kind = FF_ROBOT_DELAY, r->jitter = 1e9), "jitter");
    REFUSED((r->kind = FF_ROBOT_LAG, r->frequency = FF_INF), "frequency");
    REFUSED((r->kind = FF_ROBOT_LAG, r->damping = 0), "damping");
    REFUSED((r->kind = FF_ROBOT_LAG, r->damping = FF_INF), "damping");
    REFUSED((r->kind = FF_ROBOT_JOINTS, r->gear_stiffness[0] = 1), "gear");
    REFUSED((r->kind = FF_ROBOT_JOINTS, set_gears(r), r->gear_damping[5] = -1), "gear");
    REFUSED((r->kind = FF_ROBOT_JOINTS, set_gears(r), r->joint_inertia[2] = 0), "gear");
    REFUSED((r->kind = FF_ROBOT_JOINTS, set_gears(r), r->base.p.x = 9),
            "cannot hold the satellite at its start");
    ff_sensor_config *f = &s.satellite[0].sensor;
    REFUSED((f->kind = FF_SENSOR_NOISY, f->torque_noise = FF_INF), "noise");
    REFUSED((f->kind = FF_SENSOR_NOISY, f->resolution_force = -1), "resolution");
    REFUSED((f->kind = FF_SENSOR_NOISY, f->resolution_torque = -1), "resolution");
    REFUSED((f->kind = FF_SENSOR_NOISY, f->drift_force = FF_NAN), "drift");
    REFUSED((f->kind = FF_SENSOR_NOISY, f->drift_torque = FF_NAN), "drift");
    REFUSED((f->kind = FF_SENSOR_NOISY, f->range_torque = 0), "range");
    REFUSED((f->kind = FF_SENSOR_NOISY, f->bandwidth = 0), "bandwidth");
    REFUSED((f->kind = FF_SENSOR_NOISY, f->delay = 1e9), "delay");
#undef REFUSED
    /* no buffer, no crash */
    s = good;
    s.cycle = FF_NAN;
    assert_null(ff_plant_create(&s, NULL, 0, NULL));
    ff_plant_free(NULL);
}

static void test_read_never_allocates(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, 5, 0);
    ff_scenario s;
    make_scenario(&s, 4);
    const ff_robot_kind kinds[] = {FF_ROBOT_LIMITED, FF_ROBOT_DELAY, FF_ROBOT_LAG, FF_ROBOT_DELAY};
    for (int i = 0; i < 4; i++) {
        s.satellite[i].robot.kind = kinds[i];
        s.satellite[i].robot.acceleration = 1.0;
        s.satellite[i].robot.jerk = 50.0;
        s.satellite[i].robot.delay = 0.0411 * (double)i;
        s.satellite[i].sensor.kind = FF_SENSOR_NOISY;
        s.satellite[i].sensor.force_noise = 0.1;
        s.satellite[i].sensor.bandwidth = 50;
        s.satellite[i].sensor.delay = 0.0051;
    }
    s.contacts = 2;
    s.contact[0] = make_wall(ff_vec3_zero(), ff_vec3_zero(), ff_vec3_make(0, 0, 1), 100.0, 1.0);
    s.contact[1] = s.contact[0];
    s.contact[1].kind = FF_CONTACT_PAIR;
    s.contact[1].against = 2;
    const long before_create = allocations;
    ff_plant *plant = make_plant(&s);
    if (COUNTS)
        assert_true(allocations > before_create); /* the counter counts */
    ff_loop_in in;
    ff_truth truth;
    ff_setpoint c[4];
    for (int i = 0; i < 4; i++)
        c[i] = random_setpoint(&rng, 0.1);
    const long before = allocations;
    for (uint64_t k = 0; k < 1000; k++) {
        ff_plant_write(plant, k, c);
        ff_plant_read(plant, k, &in, &truth);
    }
    ff_plant_reset(plant);
    assert_int_equal(allocations, before);
    ff_plant_free(plant);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_ideal_robot_is_where_the_command_is),
        cmocka_unit_test(test_read_lever_arm_six_axes),
        cmocka_unit_test(test_read_random_frames_stage_one_recovers_contact),
        cmocka_unit_test(test_read_mockup_at_rest_weighs),
        cmocka_unit_test(test_frames_turned_lab),
        cmocka_unit_test(test_read_not_finite_command_diverged),
        cmocka_unit_test(test_read_missing_commands_hold),
        cmocka_unit_test(test_create_refuses_with_a_sentence),
        cmocka_unit_test(test_read_never_allocates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
