/* Random scenes: a contact that is said to be out of reach is never touched by the reference. */
#include "support.h"

#include "ideal/ideal.h"

static ff_scenario s;

static void make(ff_rng *rng, ff_contact_kind kind) {
    static const char text[] = "name: r\ntime: {cycle: 0.1, duration: 8}\nmethod: ideal\nsatellites:\n"
                               "  a: {mass: 3, inertia: [1, 1.2, 1.5]}\n"
                               "  b: {mass: 5, inertia: [2, 2.2, 2.5]}\n"
                               "contacts:\n";
    static const char *const line[] = {
        "  - {kind: wall, body: a, at: [0, 0, 0], normal: [1, 0, 0], stiffness: 100}\n",
        "  - {kind: pair, body: a, against: b, at: [0, 0, 0], normal: [1, 0, 0], stiffness: 100}\n",
        "  - {kind: cone, body: a, against: b, apex: [0,0,0], axis: [1,0,0], half_angle: 1, stiffness: 9}\n"};
    char whole[1024], message[256];
    snprintf(whole, sizeof whole, "%s%s", text,
             line[kind == FF_CONTACT_WALL   ? 0
                  : kind == FF_CONTACT_PAIR ? 1
                                            : 2]);
    if (ff_scenario_parse("R", whole, strlen(whole), NULL, &s, message, sizeof message, NULL, 0) != FF_OK)
        fail_msg("%s", message);
    for (int i = 0; i < 2; i++) {
        ff_rigid_state *b = &s.satellite[i].start;
        b->position = test_random_vec3(rng, 2.0);
        b->velocity = test_random_vec3(rng, 0.2);
        b->attitude = test_random_quat(rng);
        b->omega = ff_rng_range(rng, 0, 1) < 0.6 ? ff_vec3_zero() : test_random_vec3(rng, 0.5);
    }
    ff_contact *c = &s.contact[0];
    c->point = test_random_vec3(rng, 0.4);
    c->at = test_random_vec3(rng, 3.0);
    c->normal = c->axis = ff_vec3_unit(test_random_vec3(rng, 1.0));
    c->apex = test_random_vec3(rng, 3.0);
    c->half_angle = ff_rng_range(rng, 0.3, 1.5);
    c->depth = ff_rng_range(rng, 0, 1) < 0.5 ? FF_INF : ff_rng_range(rng, 0.1, 2.0);
}

static void test_out_of_reach_is_never_touched(void **state) {
    (void)state;
    static const ff_contact_kind kind[] = {FF_CONTACT_WALL, FF_CONTACT_PAIR, FF_CONTACT_CONE};
    static const char *const name[] = {"wall", "pair", "cone"};
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    for (int k = 0; k < 3; k++) {
        int proven = 0;
        const int count = test_count(300, 5000);
        for (int n = 0; n < count; n++) {
            make(&rng, kind[k]);
            double clearance[FF_MAX_CONTACTS];
            char message[256];
            ff_ideal_result ideal;
            ff_scenario_clearance(&s, clearance);
            if (!(clearance[0] > 0.0))
                continue;
            proven++;
            if (ff_ideal_solve(&s, NULL, NULL, &ideal, message, sizeof message) != FF_OK)
                fail_msg("%s", message);
            if (ideal.contacts > 0)
                fail_msg("%s %d touches, though %g m away", name[k], n, clearance[0]);
            ff_ideal_free(&ideal);
        }
        print_message("%s: %d of %d proven, none touches\n", name[k], proven, count);
        assert_true(proven > count / 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_out_of_reach_is_never_touched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
