/* Two implementations of the contact laws that share no code: along the ideal reference's own motion, the
 * plant with ideal robots must feel the reference's forces. */
#include "unit/facility/plants.h"

#include "ideal/ideal.h"

static void set_law(ff_contact *c, double k, double damping, double damping_depth, double friction) {
    c->stiffness = c->satellite_stiffness = k;
    c->damping = c->satellite_damping = damping;
    c->damping_depth = damping_depth;
    c->friction = friction;
    c->depth = FF_INF;
}

/* How many cycles were in contact. Forces of 100 N agree to rounding. */
static int compare(const ff_scenario *s, double tolerance) {
    ff_ideal_result ideal;
    char message[256] = "";
    if (ff_ideal_solve(s, NULL, NULL, &ideal, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    ff_plant *plant = make_plant(s);
    int touched = 0;
    for (uint64_t k = 0; k < ideal.samples; k++) {
        ff_setpoint c[FF_MAX_BODIES];
        for (int i = 0; i < s->satellites; i++) {
            const ff_rigid_state *x = &ideal.state[k * (uint64_t)ideal.bodies + (uint64_t)i];
            c[i] = ff_setpoint_from_state(x);
        }
        ff_plant_write(plant, k, c);
        ff_truth truth;
        assert_int_equal(ff_plant_read(plant, k, NULL, &truth), FF_OK);
        bool any = false;
        for (int i = 0; i < s->satellites; i++) {
            const ff_rigid_load *load = &ideal.contact_load[k * (uint64_t)ideal.bodies + (uint64_t)i];
            assert_vec3_near(ff_quat_rotate(c[i].T.q, truth.contact_b[i].f), load->force, tolerance);
            assert_vec3_near(truth.contact_b[i].t, load->torque, tolerance);
            any |= ff_vec3_norm(load->force) + ff_vec3_norm(load->torque) > 0.01;
        }
        touched += any;
    }
    ff_plant_free(plant);
    ff_ideal_free(&ideal);
    return touched;
}

static void make_two(ff_scenario *s, ff_rng *rng) {
    make_scenario(s, 2);
    s->cycle = 0.002;
    s->duration = 2.0;
    s->cycles = 1000;
    for (int i = 0; i < s->satellites; i++) {
        s->satellite[i].start.attitude = test_random_quat(rng);
        s->satellite[i].start.omega = test_random_vec3(rng, 0.1);
    }
}

static void test_walls_of_both_agree(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    int touched = 0;
    for (int run = 0; run < test_count(6, 100); run++) {
        ff_scenario s;
        make_two(&s, &rng);
        const ff_vec3 n = ff_vec3_unit(test_random_vec3(&rng, 1.0)), point = test_random_vec3(&rng, 0.3);
        s.satellite[0].start.velocity = ff_vec3_axpy(-0.2, n, test_random_vec3(&rng, 0.05));
        s.contacts = 1;
        s.contact[0] = make_wall(
            point, ff_vec3_axpy(-0.05, n, ff_quat_rotate(s.satellite[0].start.attitude, point)), n, 0, 0);
        set_law(&s.contact[0], 2000, 30, run % 2 ? 0.01 : 0.0, run % 3 ? 0.3 : 0.0);
        touched += compare(&s, 1e-10);
    }
    assert_true(touched > 100);
}

static void test_stops_of_both_agree(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    int touched = 0;
    for (int run = 0; run < test_count(6, 100); run++) {
        ff_scenario s;
        make_two(&s, &rng);
        s.satellite[0].start.attitude = ff_quat_identity();
        s.satellite[0].start.velocity = test_random_vec3(&rng, 0.1);
        s.contacts = 1;
        s.contact[0] = (ff_contact){.name = "stops",
                                    .kind = FF_CONTACT_STOPS,
                                    .against = -1,
                                    .rotation_stiffness = 60,
                                    .rotation_damping = 0.1,
                                    .stop_position = {{0.03, 0.03, 0.03}},
                                    .stop_rotation = {{0.05, 0.05, 0.05}}};
        set_law(&s.contact[0], 2000, 5, run % 2 ? 0.01 : 0.0, 0.0);
        touched += compare(&s, 1e-10);
    }
    assert_true(touched > 100);
}

static void test_pairs_and_cones_of_both_agree(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    int touched[2] = {0, 0};
    for (int run = 0; run < test_count(12, 200); run++) {
        ff_scenario s;
        make_two(&s, &rng);
        const bool cone = run % 2;
        ff_contact *c = &s.contact[0];
        s.contacts = 1;
        *c = (ff_contact){.name = "probe",
                          .kind = cone ? FF_CONTACT_CONE : FF_CONTACT_PAIR,
                          .body = 1,
                          .against = 0,
                          .point = test_random_vec3(&rng, 0.3),
                          .at = test_random_vec3(&rng, 0.3),
                          .normal = ff_vec3_unit(test_random_vec3(&rng, 1.0)),
                          .apex = test_random_vec3(&rng, 0.3),
                          .axis = ff_vec3_unit(test_random_vec3(&rng, 1.0)),
                          .half_angle = ff_rng_range(&rng, 0.4, 1.2)};
        set_law(c, 3000, 20, run % 3 ? 0.02 : 0.0, run % 4 > 1 ? 0.2 : 0.0);
        if (cone && run % 3 == 0)
            c->depth = 0.3;
        /* the tip starts in front of plane or apex and goes for it, a little aside */
        ff_rigid_state *a = &s.satellite[0].start, *b = &s.satellite[1].start;
        a->position = test_random_vec3(&rng, 1.0);
        const ff_vec3 out = cone ? c->axis : c->normal, foot = cone ? c->apex : c->at;
        const ff_vec3 tip_o = ff_vec3_add(ff_vec3_axpy(0.15, out, foot), test_random_vec3(&rng, 0.02));
        const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(a), tip_o);
        b->position = ff_vec3_sub(tip, ff_quat_rotate(b->attitude, c->point));
        a->velocity = test_random_vec3(&rng, 0.05);
        b->velocity = ff_vec3_add(ff_vec3_axpy(-0.3, ff_quat_rotate(a->attitude, out), a->velocity),
                                  test_random_vec3(&rng, 0.05));
        touched[cone] += compare(&s, 1e-10);
    }
    print_message("cycles in contact: pairs %d, cones %d\n", touched[0], touched[1]);
    assert_true(touched[0] > 100 && touched[1] > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walls_of_both_agree),
        cmocka_unit_test(test_stops_of_both_agree),
        cmocka_unit_test(test_pairs_and_cones_of_both_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
