/* What each method refuses of its settings and of the world, one value at a time: values that come past the
 * table's ranges, as a library's caller may hand them over. */
#include "direct_support.h"

static ff_rng rng;
static instance n;

/* A number straight into the struct, whatever the range says. */
static void poke(const char *name, double value) {
    const int k = ff_setting_find(n.method, name);
    assert_true(k >= 0);
    memcpy((char *)n.setting.bytes + n.method->setting[k].offset, &value, sizeof value);
}

static void fresh(const ff_method *method) {
    instance_draw(&n, &rng, method, 0, 2);
    if (method->resolve)
        method->resolve(&n.world, n.setting.given, n.setting.bytes);
}

static ff_status checked(ff_complaint *complaint) {
    return ff_method_check(n.method, &n.world, n.setting.bytes, n.setting.given, complaint);
}

static void test_settings_out_of_range(void **unused) {
    (void)unused;
    static const struct {
        const ff_method *method;
        const char *name;
        double good, bad;
        const char *blamed;
    } cases[] = {
        {&ff_method_tdpa, "threshold", 0.0, -1e-9, "threshold"},
        {&ff_method_tdpa, "torque_threshold", 0.0, -1e-9, "threshold"},
        {&ff_method_damping, "threshold", 0.0, -1e-9, "threshold"},
        {&ff_method_damping, "torque_threshold", 0.0, -1e-9, "threshold"},
        {&ff_method_damping, "lead", 0.0, -1e-9, "lead"},
        {&ff_method_damping, "lead_filter", 0.0, -1e-9, "lead"},
        {&ff_method_damping, "forget", 0.5, 1.0, ""},
        {&ff_method_damping, "prior", 0.1, 0.0, ""},
        {&ff_method_damping, "trust", 0.1, 0.0, ""},
        {&ff_method_damping, "rate", 0.1, 0.0, ""},
        {&ff_method_damping, "stiffness_walk", 0.0, -1.0, ""},
        {&ff_method_damping, "damping_walk", 0.0, -1.0, ""},
        {&ff_method_damping, "known.stiffness", 1.0, 0.0, "known"},
        {&ff_method_damping, "known.stiffness", 1.0, FF_INF, "known"},
        {&ff_method_damping, "known.damping", 0.0, -1e-9, "known"},
        {&ff_method_damping, "known.damping", 0.0, FF_INF, "known"},
        {&ff_method_impact, "stiffness", 1.0, 0.0, ""},
        {&ff_method_impact, "restitution", 0.14, 0.13, ""},
        {&ff_method_impact, "restitution", 1.0, 1.01, ""},
        {&ff_method_impact, "look_back", 0.0, -1e-9, ""},
        {&ff_method_impact, "position_error", 1e-9, 0.0, ""},
        {&ff_method_impact, "position_error", 1.0, FF_INF, ""},
        {&ff_method_impact, "drift", 0.0, -1e-9, ""},
        {&ff_method_impact, "threshold", 0.0, -1e-9, ""},
        {&ff_method_impact, "delay", 0.0, -1e-9, ""},
        {&ff_method_fused, "force_noise", 0.0, -1e-9, ""},
        {&ff_method_fused, "force_noise", 1.0, FF_INF, ""},
        {&ff_method_fused, "torque_noise", 0.0, -1e-9, ""},
        {&ff_method_fused, "stiffness", 0.0, -1e-9, ""},
        {&ff_method_fused, "look_back", 0.0, -1e-9, ""},
        {&ff_method_fused, "look_back", 1.0, FF_NAN, ""},
        {&ff_method_fused, "skew", -1.0, FF_INF, ""},
        {&ff_method_fused, "delay", 9.99, 10.0, "delay"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_complaint complaint = {"?", "?"};
        fresh(cases[i].method);
        poke(cases[i].name, cases[i].good);
        if (checked(&complaint) != FF_OK)
            fail_msg("%s refuses %s: %g: %s", n.method->name, cases[i].name, cases[i].good, complaint.text);
        poke(cases[i].name, cases[i].bad);
        if (checked(&complaint) != FF_ERR_ARGUMENT || strcmp(complaint.setting, cases[i].blamed) != 0)
            fail_msg("%s takes %s: %g, or blames \"%s\"", n.method->name, cases[i].name, cases[i].bad,
                     complaint.setting);
    }
    /* a guess belongs to an identified stiffness */
    ff_complaint complaint;
    fresh(&ff_method_impact);
    poke("guess", 1000.0);
    assert_int_equal(checked(&complaint), FF_ERR_ARGUMENT);
    assert_string_equal(complaint.setting, "guess");
    poke("stiffness", FF_INF);
    assert_int_equal(checked(&complaint), FF_OK);
    poke("guess", 0.0);
    assert_int_equal(checked(&complaint), FF_ERR_ARGUMENT);
}

static ff_world_contact plane(void) {
    return (ff_world_contact){.shape = FF_SHAPE_PLANE,
                              .body = 0,
                              .against = 1,
                              .normal = {{0, 0.6, 0.8}},
                              .stiffness = 1e3,
                              .satellite_stiffness = 1e3};
}

static void test_contacts_that_are_refused(void **unused) {
    (void)unused;
    ff_complaint complaint;
    for (int k = 0; k < 34; k++) {
        fresh(&ff_method_impact);
        n.world.contacts = 1;
        ff_world_contact *c = &n.world.contact[0];
        *c = plane();
        if (k >= 24) {
            c->shape = FF_SHAPE_CONE;
            c->axis = ff_vec3_make(0.6, 0, 0.8);
            c->half_angle = 0.5;
            c->depth = 1.0;
        }
        assert_int_equal(checked(&complaint), FF_OK);
        double *real[] = {&c->stiffness,         &c->satellite_stiffness, &c->damping,
                          &c->satellite_damping, &c->damping_depth,       &c->friction};
        switch (k) {
        case 0:
            c->body = -1;
            break;
        case 1:
            c->body = 2;
            break;
        case 2:
            c->against = -2;
            break;
        case 3:
            c->against = 2;
            break;
        case 4:
            c->against = 0; /* itself */
            break;
        case 5:
            c->point.y = FF_NAN;
            break;
        case 6:
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
            *real[k - 6] = -1.0;
            break;
        case 12:
        case 13:
            *real[k - 12] = FF_INF;
            break;
        case 14:
        case 15:
            *real[k - 14] = 0.0;
            break;
        case 16:
            c->at.x = FF_INF;
            break;
        case 17:
            c->normal.z = 0.81;
            break;
        case 18:
            c->normal = ff_vec3_zero();
            break;
        case 19:
            c->shape = (ff_world_shape)2;
            break;
        case 20:
            n.world.contacts = -1;
            break;
        case 21:
            n.world.contacts = FF_METHOD_CONTACTS + 1;
            break;
        case 22:
            n.world.force_noise = -1.0;
            break;
        case 23:
            n.world.body[1].delay = FF_INF;
            break;
        case 24:
            c->apex.z = FF_NAN;
            break;
        case 25:
            c->half_angle = 0.0;
            break;
        case 26:
            c->half_angle = 0.5 * FF_PI;
            break;
        case 27:
            c->depth = 0.0;
            break;
        case 28:
            c->axis.x = 0.59;
            break;
        case 29:
            n.world.body[0].delay = -1e-9;
            break;
        case 30:
            n.world.force_noise = FF_NAN;
            break;
        case 31: /* the last of many */
            n.world.contacts = 3;
            n.world.contact[1] = n.world.contact[2] = *c;
            n.world.contact[2].stiffness = -1.0;
            break;
        default:
            continue;
        }
        const ff_status status = checked(&complaint);
        if (status != (k == 20 || k == 21 ? FF_ERR_SIZE : FF_ERR_ARGUMENT))
            fail_msg("case %d: %s", k, ff_status_name(status));
    }
    /* fused knows no geometry, but each robot's delay and acceleration */
    for (int i = 0; i < 2; i++) {
        fresh(&ff_method_fused);
        assert_int_equal(checked(&complaint), FF_OK);
        n.world.body[i].acceleration = -1.0;
        assert_int_equal(checked(&complaint), FF_ERR_ARGUMENT);
        n.world.body[i].acceleration = 0.0;
        n.world.body[i].delay = 10.5;
        assert_int_equal(checked(&complaint), FF_ERR_ARGUMENT);
    }
    /* without a world the settings alone are judged */
    for (int m = 0; ff_method_at(m); m++) {
        fresh(ff_method_at(m));
        assert_int_equal(ff_method_check(n.method, NULL, n.setting.bytes, n.setting.given, &complaint),
                         FF_OK);
    }
}

/* Which thresholds the detector gets: five times the noise, the given ones, and when they alone hold. */
static void test_thresholds_reach_the_detector(void **unused) {
    (void)unused;
    const ff_method *const methods[] = {&ff_method_tdpa, &ff_method_damping, &ff_method_impact};
    for (int m = 0; m < 3; m++)
        for (int given = 0; given < 4; given++) {
            instance_draw(&n, &rng, methods[m], 0, 1);
            n.world.noisy = true;
            n.world.force_noise = 0.3;
            n.world.torque_noise = 0.05;
            if (given & 1)
                instance_set(&n, "threshold", 4.0);
            if ((given & 2) && m < 2)
                instance_set(&n, "torque_threshold", 2.0);
            instance_start(&n);
            ff_detector_config c;
            ff_detector_default(&c);
            assert_true(ff_method_detector(n.method, &n.world, n.model, &c));
            assert_int_equal(ff_detector_validate(&c), FF_OK);
            ff_detector_config noise;
            ff_world_detector(&n.world, &noise);
            assert_near(c.force_on, given & 1 ? 4.0 : noise.force_on, 0.0);
            if (m < 2)
                assert_near(c.torque_on, given & 2 ? 2.0 : noise.torque_on, 0.0);
            assert_int_equal(c.fixed, m < 2 ? given != 0 : given & 1);
            assert_near(c.multiple, 5.0, 0.0);
        }
}

/* What is not given comes from the world; what is given stays. */
static void test_the_world_fills_what_is_not_given(void **unused) {
    (void)unused;
    static const struct {
        const ff_method *method;
        const char *name;
        double of_the_world, given;
    } cases[] = {{&ff_method_damping, "noise", 0.3, 0.7},
                 {&ff_method_damping, "skew", 0.002, -0.001},
                 {&ff_method_fused, "force_noise", 0.3, 0.7},
                 {&ff_method_fused, "torque_noise", 0.05, 0.7},
                 {&ff_method_fused, "skew", 0.002, -0.001},
                 {&ff_method_tdpa, "threshold", 1.5, 0.7},
                 {&ff_method_tdpa, "torque_threshold", 0.25, 0.7},
                 {&ff_method_damping, "threshold", 1.5, 0.7},
                 {&ff_method_damping, "torque_threshold", 0.25, 0.7},
                 {&ff_method_impact, "threshold", 1.5, 0.7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int given = 0; given < 2; given++) {
            instance_draw(&n, &rng, cases[i].method, 0, 1);
            n.world.force_noise = 0.3;
            n.world.torque_noise = 0.05;
            n.world.skew = 0.002;
            n.world.noisy = true;
            if (given)
                instance_set(&n, cases[i].name, cases[i].given);
            n.method->resolve(&n.world, n.setting.given, n.setting.bytes);
            const double got = ff_settings_get(n.method, &n.setting, cases[i].name);
            if (fabs(got - (given ? cases[i].given : cases[i].of_the_world)) > 1e-12)
                fail_msg("%s.%s is %g", n.method->name, cases[i].name, got);
        }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 59);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_out_of_range),
        cmocka_unit_test(test_contacts_that_are_refused),
        cmocka_unit_test(test_thresholds_reach_the_detector),
        cmocka_unit_test(test_the_world_fills_what_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
