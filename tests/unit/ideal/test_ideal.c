/* What ff_ideal_solve promises beyond physics: records, progress, errors, bad input. */
#include "ideal/vector.h"
#include "ideal_support.h"

#include <nvector/nvector_serial.h>

static ff_status try_solve(const ff_scenario *s, char *message, size_t size) {
    ff_ideal_result r;
    const ff_status status = ff_ideal_solve(s, NULL, NULL, &r, message, size);
    if (status != FF_OK) {
        assert_null(r.state);
        assert_null(r.contact_load);
        assert_null(r.contact);
        assert_true(strlen(message) > 10);
    }
    ff_ideal_free(&r);
    return status;
}

static void test_solve_bad_input_is_refused_with_a_sentence(void **state) {
    (void)state;
    ff_scenario good, s;
    char message[256];
    make_scenario(&good, 0.01, 1);
    add_body(&good, 10, ff_mat3_diag(1, 1, 1));
    add_contact(&good, FF_CONTACT_WALL, 100, 1)->at.z = 5;
    assert_int_equal(try_solve(&good, message, sizeof message), FF_OK);
    assert_string_equal(message, "");
    s = good;
    s.contact[0].kind = FF_CONTACT_GRASP;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_ARGUMENT); /* it holds nothing */
    s = good;
    s.contact[0].body = 1;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_ARGUMENT);
    s = good;
    s.contact[0].kind = FF_CONTACT_PAIR;
    s.contact[0].against = 0;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_ARGUMENT);
    s = good;
    s.contact[0].satellite_stiffness = FF_NAN;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_ARGUMENT);
    s = good;
    s.satellite[0].rigid.mass = 0;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_MASS);
    s = good;
    s.satellite[0].rigid.inertia = ff_mat3_diag(1, 1, 5);
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_INERTIA);
    s = good;
    s.satellite[0].start.velocity.x = HUGE_VAL;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_NOT_FINITE);
    s = good;
    s.satellites = 0;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_ARGUMENT);
    s = good;
    s.cycle = 0;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_ARGUMENT);
    s = good;
    add_load(&s, FF_LOAD_PULSE, ff_vec3_zero(), ff_vec3_zero(), 0, 1)->body = 3;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_ARGUMENT);
    s = good;
    s.cycles = UINT64_MAX / 2;
    assert_int_equal(try_solve(&s, message, sizeof message), FF_ERR_MEMORY);
#define REFUSED(change, status, says)                                     \
    do {                                                                  \
        s = good;                                                         \
        change;                                                           \
        assert_int_equal(try_solve(&s, message, sizeof message), status); \
        assert_non_null(strstr(message, says));                           \
    } while (0)
    ff_contact *c = &s.contact[0];
    REFUSED(c->body = -1, FF_ERR_ARGUMENT, "contact 'contact0' names a satellite that does not exist");
    REFUSED((c->kind = FF_CONTACT_PAIR, c->against = 1), FF_ERR_ARGUMENT, "does not exist");
    REFUSED((c->kind = FF_CONTACT_CONE, c->against = 0), FF_ERR_ARGUMENT, "one against itself");
    REFUSED((c->kind = FF_CONTACT_GRASP, c->against = -1), FF_ERR_ARGUMENT, "does not exist");
    REFUSED(c->satellite_stiffness = -1, FF_ERR_ARGUMENT, "stiffness and damping must be finite");
    REFUSED(c->satellite_stiffness = FF_INF, FF_ERR_ARGUMENT, "stiffness and damping must be finite");
    REFUSED(c->satellite_damping = -1, FF_ERR_ARGUMENT, "stiffness and damping must be finite");
    REFUSED(c->satellite_damping = FF_INF, FF_ERR_ARGUMENT, "stiffness and damping must be finite");
    REFUSED((c->kind = FF_CONTACT_STOPS, c->rotation_stiffness = -1), FF_ERR_ARGUMENT, "must be finite");
    REFUSED((c->kind = FF_CONTACT_STOPS, c->rotation_damping = FF_NAN), FF_ERR_ARGUMENT, "must be finite");
    REFUSED(s.satellites = FF_MAX_BODIES + 1, FF_ERR_ARGUMENT, "out of range");
    REFUSED(s.contacts = -1, FF_ERR_ARGUMENT, "out of range");
    REFUSED(s.contacts = FF_MAX_CONTACTS + 1, FF_ERR_ARGUMENT, "out of range");
    REFUSED(s.loads = -1, FF_ERR_ARGUMENT, "out of range");
    REFUSED(s.loads = FF_MAX_LOADS + 1, FF_ERR_ARGUMENT, "out of range");
    REFUSED(s.cycle = FF_INF, FF_ERR_ARGUMENT, "out of range");
    REFUSED(add_load(&s, FF_LOAD_PULSE, ff_vec3_zero(), ff_vec3_zero(), 0, 1)->body = -1, FF_ERR_ARGUMENT,
            "load 0 acts on a satellite that does not exist");
    REFUSED(s.satellite[0].arm.present = true, FF_ERR_UNSUPPORTED, "a reference of its own: the orbit");
#undef REFUSED
    ff_ideal_result r;
    assert_int_equal(ff_ideal_solve_within(&good, 1e-5, NULL, NULL, &r, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_int_equal(ff_ideal_solve_within(&good, 1e-20, NULL, NULL, &r, message, sizeof message),
                     FF_ERR_ARGUMENT);
}

/* A force that is not finite makes CVODE give up: a status and a sentence, nothing printed. */
static void test_solve_without_a_solution_says_so(void **state) {
    (void)state;
    ff_scenario s;
    char message[256];
    make_scenario(&s, 0.01, 1);
    add_body(&s, 10, ff_mat3_diag(1, 1, 1));
    add_load(&s, FF_LOAD_PULSE, ff_vec3_make(FF_NAN, 0, 0), ff_vec3_zero(), 0, 1);
    const ff_status status = try_solve(&s, message, sizeof message);
    assert_true(status == FF_ERR_CONVERGENCE || status == FF_ERR_DIVERGED);
}

static void test_solve_zero_cycles_gives_the_start(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.01, 0);
    add_body(&s, 10, ff_mat3_diag(1, 1, 1))->start.position.x = 3;
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_int_equal(r.samples, 1);
    assert_near(r.state[0].position.x, 3, 0);
    ff_ideal_free(&r);
}

typedef struct watch {
    int calls;
    double last, stop_at;
    bool grows;
} watch;

static bool on_progress(void *user, double part) {
    watch *w = user;
    w->calls++;
    w->grows = w->grows && part >= w->last && part <= 1;
    w->last = part;
    return part < w->stop_at;
}

static void test_progress_is_called_and_can_stop(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.01, 300);
    add_body(&s, 10, ff_mat3_diag(1, 1.2, 1.4))->start.omega = ff_vec3_make(0.5, 0.6, 0.7);
    ff_ideal_result r;
    char message[256];
    watch w = {.stop_at = 2, .grows = true};
    assert_int_equal(ff_ideal_solve(&s, on_progress, &w, &r, message, sizeof message), FF_OK);
    /* each hundredth, and every thousand steps */
    assert_true(w.grows && w.calls >= 80 && w.calls <= 102 + (int)(r.steps / 1000));
    assert_near(w.last, 1, 0);
    ff_ideal_free(&r);
    w = (watch){.stop_at = 0.5, .grows = true};
    assert_int_equal(ff_ideal_solve(&s, on_progress, &w, &r, message, sizeof message), FF_ERR_LIMIT);
    assert_near(w.last, 0.5, 0.02);
    assert_null(r.state);
}

/* Gaps shorter than five cycles belong to one contact, longer ones part it. The satellite is pushed back by a
 * pulse, so that it returns after a time of flight 2 v m / F. */
static void test_records_merge_short_gaps(void **state) {
    (void)state;
    const double m = 10, v = 0.05, k = 4e4, pressing = 20, flight = 2 * v * m / pressing; /* 50 ms */
    for (int longer = 0; longer < 2; longer++) {
        ff_scenario s;
        make_scenario(&s, longer ? 0.008 : 0.012, 0.3); /* five cycles: 40 ms or 60 ms */
        ff_satellite *b = add_body(&s, m, ff_mat3_diag(1, 1, 1));
        b->start.velocity.z = -v; /* leaves the wall just now */
        b->start.position.z = -1e-12;
        add_contact(&s, FF_CONTACT_WALL, k, 0);
        add_load(&s, FF_LOAD_PULSE, ff_vec3_make(0, 0, pressing), ff_vec3_zero(), 0, 10);
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        assert_near(r.contact[0].start, flight, 1e-9);
        if (longer) {
            assert_true(r.contacts >= 3);
            assert_near(r.contact[1].start - r.contact[0].end, flight, 1e-9);
            assert_vec3_near(r.contact[0].after[0].velocity, b->start.velocity, 1e-10);
        } else {
            assert_int_equal(r.contacts, 1);
            assert_true(isnan(r.contact[0].end));
        }
        ff_ideal_free(&r);
    }
}

/* A run that starts in contact has a record from t = 0; one that starts inside but leaves faster than the
 * surface has none until force returns. */
static void test_starts_inside(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.01, 2);
    ff_satellite *b = add_body(&s, 10, ff_mat3_diag(1, 1, 1));
    ff_contact *c = add_contact(&s, FF_CONTACT_WALL, 1000, 0);
    b->start.position.z = 0.01;
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 1);
    assert_near(r.contact[0].start, 0, 0);
    assert_near(r.contact[0].end, 0.25 * 2 * FF_PI / 10, 1e-11);
    assert_vec3_near(r.contact[0].after[0].velocity, ff_vec3_make(0, 0, -0.1), 1e-12);
    assert_near(r.contact[0].peak_force, 10, 1e-9);
    assert_vec3_near(r.contact_load[0].force, ff_vec3_make(0, 0, -10), 1e-14);
    assert_near(r.max_kinetic_energy[0], 0.05, 1e-11);
    ff_ideal_free(&r);
    c->satellite_damping = 1000;
    b->start.velocity.z = -0.1;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 0);
    assert_vec3_near(state_of(&r, s.cycles, 0)->velocity, b->start.velocity, 1e-15);
    ff_ideal_free(&r);
    /* exactly on the surface, coming in */
    c->satellite_damping = 0;
    b->start.velocity.z = 0.1;
    b->start.position.z = 0;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 1);
    assert_near(r.contact[0].start, 0, 0);
    assert_vec3_near(r.contact[0].after[0].velocity, ff_vec3_make(0, 0, -0.1), 1e-12);
    ff_ideal_free(&r);
    /* resting on the surface: nothing happens */
    b->start.velocity.z = 0;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 0);
    assert_vec3_near(state_of(&r, s.cycles, 0)->position, ff_vec3_zero(), 0);
    ff_ideal_free(&r);
}

/* Two walls hit at the same instant change mode together and act independently. */
static void test_simultaneous_contacts(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 4);
    add_body(&s, 100, ff_mat3_diag(10, 10, 10))->start.velocity = ff_vec3_make(0.1, 0.1, 0.1);
    for (int i = 0; i < 3; i++) {
        ff_contact *c = add_contact(&s, FF_CONTACT_WALL, 4000, 0);
        c->normal = c->at = ff_vec3_zero();
        c->normal.a[i] = -1;
        c->at.a[i] = 0.1;
    }
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 3);
    for (int i = 0; i < 3; i++) {
        assert_near(r.contact[i].start, 1, 1e-13);
        assert_near(r.contact[i].peak_force / (0.1 * sqrt(4000 * 100.0)), 1, 1e-9);
    }
    assert_vec3_near(state_of(&r, s.cycles, 0)->velocity, ff_vec3_make(-0.1, -0.1, -0.1), 1e-11);
    ff_ideal_free(&r);
}

/* Factors as CVODE uses them: anything, one and its opposite, the same twice, opposites, nothing. */
static double draw_factor(ff_rng *rng, double other) {
    const double some[] = {1.0, -1.0, 0.0, other, -other};
    const uint64_t i = ff_rng_next(rng) % 10;
    return i < 5 ? some[i] : ff_rng_range(rng, -3.0, 3.0);
}

static void draw_vector(ff_rng *rng, N_Vector v) {
    for (sunindextype i = 0; i < NV_LENGTH_S(v); i++)
        NV_Ith_S(v, i) = ff_rng_next(rng) % 8
                             ? ff_rng_range(rng, -1.0, 1.0) * pow(10.0, ff_rng_range(rng, -9.0, 9.0))
                             : 0.0;
}

/* Each operation gives the bits of SUNDIALS' own, in place, too, and clones have it. */
static void test_vectors_have_the_bits_of_sundials(void **state) {
    (void)state;
    enum { TERMS = 14 };
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    SUNContext context;
    assert_int_equal(SUNContext_Create(NULL, &context), 0);
    ff_vector_quicken(NULL);
    for (int trial = 0; trial < 300; trial++) {
        const sunindextype n = 1 + (sunindextype)(ff_rng_next(&rng) % 27);
        N_Vector x[2][TERMS], z[2];
        z[0] = N_VNew_Serial(n, context);
        z[1] = N_VClone(z[0]);
        ff_vector_quicken(z[1]);
        for (int k = 0; k < TERMS; k++) {
            x[0][k] = N_VClone(z[0]);
            x[1][k] = N_VClone(z[1]);
            draw_vector(&rng, x[0][k]);
            memcpy(NV_DATA_S(x[1][k]), NV_DATA_S(x[0][k]), (size_t)n * sizeof(double));
        }
        assert_ptr_not_equal(x[0][0]->ops->nvlinearsum, x[1][0]->ops->nvlinearsum);
        double c[TERMS];
        for (int k = 0; k < TERMS; k++)
            c[k] = draw_factor(&rng, k ? c[k - 1] : 1.0);
        const int what = trial % 6, count = 1 + (int)(ff_rng_next(&rng) % TERMS);
        double norm[2] = {0.0, 0.0};
        for (int own = 0; own < 2; own++) {
            N_Vector *v = x[own], to = z[own];
            N_VConst(0.0, to);
            if (what == 0)
                N_VLinearSum(c[0], v[0], c[1], v[1], to);
            else if (what == 1)
                N_VLinearSum(c[0], v[0], c[1], v[1], to = v[count % 2]);
            else if (what == 2)
                N_VScale(c[0], v[0], count % 2 ? to : (to = v[0]));
            else if (what == 3)
                N_VLinearCombination(count, c, v, to);
            else if (what == 4)
                N_VLinearCombination(count, c, v, to = v[0]);
            else
                norm[own] = N_VWrmsNorm(v[0], v[1]);
            if (own == 0)
                memcpy(NV_DATA_S(z[0]), NV_DATA_S(to), (size_t)n * sizeof(double));
            else if (memcmp(NV_DATA_S(z[0]), NV_DATA_S(to), (size_t)n * sizeof(double)) != 0)
                fail_msg("operation %d, %ld elements, %d terms, factors %g %g", what, (long)n, count, c[0],
                         c[1]);
        }
        assert_memory_equal(&norm[0], &norm[1], sizeof norm[0]);
        for (int own = 0; own < 2; own++) {
            for (int k = 0; k < TERMS; k++)
                N_VDestroy(x[own][k]);
            N_VDestroy(z[own]);
        }
    }
    SUNContext_Free(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solve_bad_input_is_refused_with_a_sentence),
        cmocka_unit_test(test_solve_without_a_solution_says_so),
        cmocka_unit_test(test_solve_zero_cycles_gives_the_start),
        cmocka_unit_test(test_progress_is_called_and_can_stop),
        cmocka_unit_test(test_records_merge_short_gaps),
        cmocka_unit_test(test_starts_inside),
        cmocka_unit_test(test_simultaneous_contacts),
        cmocka_unit_test(test_vectors_have_the_bits_of_sundials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
