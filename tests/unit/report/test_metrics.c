/* What a run is judged by, from rows whose truth is known: errors, contacts, motions, pairs, monitors of an
 * arm, the verdict; and what summary.json says of a method's own report. */
#include "report/history.h"
#include "report/metrics.h"

#include "support.h"

enum { A, B };
static const double CYCLE = 0.01;

static ff_scenario scenario;
static ff_metrics metrics;
static ff_row row;

/* Two satellites that a pair contact joins, without a method of their own. */
static void make(void) {
    memset(&scenario, 0, sizeof scenario);
    snprintf(scenario.name, sizeof scenario.name, "made");
    scenario.cycle = CYCLE;
    scenario.satellites = 2;
    scenario.method = &ff_method_direct;
    for (int i = 0; i < 2; i++) {
        snprintf(scenario.satellite[i].name, sizeof scenario.satellite[i].name, "%c", "ab"[i]);
        scenario.satellite[i].rigid = (ff_rigid_config){i ? 300.0 : 100.0, ff_mat3_diag(30, 40, 50)};
        scenario.satellite[i].start.attitude = ff_quat_identity();
    }
    scenario.contacts = 1;
    scenario.contact[0] = (ff_contact){
        .name = "touch", .kind = FF_CONTACT_PAIR, .body = A, .against = B, .normal = {{-1, 0, 0}}};
    scenario.requirements =
        (ff_requirements){.velocity_error = 1, .angular_velocity_error = 1, .peak_force_ratio = 2};
    if (metrics.episode)
        ff_metrics_reset(&scenario, &metrics);
    else
        assert_int_equal(ff_metrics_init(&scenario, &metrics), FF_OK);
    memset(&row, 0, sizeof row);
    for (int i = 0; i < 2; i++) {
        ff_row_body *b = &row.body[i];
        b->satellite.attitude = b->ideal.attitude = b->command.T.q = b->inertial.T.q = ff_quat_identity();
        b->ideal.position.x = FF_NAN; /* no reference */
        b->identified_stiffness = FF_NAN;
        for (int a = 0; a < 6; a++)
            b->observer[a] = FF_NAN;
    }
}

static void take(void) {
    const ff_sink sink = ff_metrics_sink(&metrics);
    row.t = (double)row.k * CYCLE;
    assert_int_equal(sink.row(sink.self, &row), FF_OK);
    row.k++;
}

static int free_metrics(void **state) {
    (void)state;
    ff_metrics_free(&metrics);
    return 0;
}

static void test_errors_are_the_largest_and_a_number_that_is_none_sticks(void **state) {
    (void)state;
    make();
    for (int k = 0; k < 3; k++) { /* off by 0, 1, 0.5 times what follows */
        const double part = k == 1 ? 1.0 : k == 2 ? 0.5 : 0.0;
        row.body[A].ideal = row.body[B].ideal = (ff_rigid_state){.attitude = ff_quat_identity()};
        row.body[A].satellite.velocity = ff_vec3_make(0.3 * part, 0, 0.4 * part);
        row.body[A].satellite.omega = ff_vec3_make(0, 0.2 * part, 0);
        row.body[A].energy.kinetic = 13.3 * part * part; /* with an arm not the satellite's alone */
        row.body[A].satellite.position = ff_vec3_make(0, 0, 2.0 * part);
        row.body[A].satellite.attitude = ff_quat_exp(ff_vec3_make(0.6 * part, 0, 0));
        row.body[A].inertial.T.p = ff_vec3_make(0, 1.5 * part, 2.0 * part); /* the robot beside it */
        row.body[A].command.T.p = ff_vec3_make(part, part, part);
        row.body[A].command.T.q = ff_quat_exp(ff_vec3_make(0, 0, 0.7 * part));
        row.body[A].measured_b.f = ff_vec3_make(0, 8.0 * part, 0);
        row.body[A].corrected_b.f = ff_vec3_make(0, 2.0 * part, 0);
        row.body[A].measured_b.t = ff_vec3_make(part, 0, 0);
        row.body[A].velocity_correction =
            (ff_twist){ff_vec3_make(0, 0.02 * part, 0), ff_vec3_make(0.01 * part, 0, 0)};
        row.body[A].observer[0] = -part;
        row.body[A].observer[2] = part;
        take();
    }
    const ff_body_metrics *m = &metrics.body[A];
    assert_near(m->error_velocity, 0.5, 1e-12);
    assert_near(m->error_omega, 0.2, 1e-12);
    assert_near(m->error_position, 2.0, 1e-12);
    assert_near(m->error_attitude, 0.6, 1e-9);
    assert_near(m->tracking, 1.5, 1e-12);
    assert_near(m->travel, sqrt(3.0), 1e-12);
    assert_near(m->rotation, 0.7, 1e-9);
    assert_near(m->max_force_correction, 6.0, 1e-12);
    assert_near(m->max_torque_correction, 1.0, 1e-12);
    assert_near(m->max_velocity_correction, 0.01, 1e-12);
    assert_near(m->max_omega_correction, 0.02, 1e-12);
    assert_near(m->observer_min[0], -1.0, 0.0);
    assert_near(m->observer_min[2], 0.0, 0.0);
    assert_int_equal(m->observers, 3);
    assert_near(m->max_energy, 13.3, 1e-9);
    assert_near(m->initial_energy, 0.0, 0.0);
    assert_near(m->final_energy, m->max_energy / 4.0, 1e-9);
    assert_near(metrics.pair[A][B].error_position, sqrt(3.0), 1e-9); /* from the commands */
    assert_true(isnan(ff_metrics_noise(&m->force_noise)));           /* an ideal sensor has none to measure */
    const ff_ideal_result ideal = {.bodies = 2};
    ff_metrics_finish(&metrics, &ideal, FF_OK);
    assert_true(metrics.pass);
    ff_metrics_finish(&metrics, &ideal, FF_ERR_LIMIT); /* a failed run cannot pass */
    assert_false(metrics.pass);
    ff_metrics_finish(&metrics, NULL, FF_OK); /* nor one that is compared with nothing */
    assert_false(metrics.pass);
    row.body[B].satellite.velocity.x = FF_NAN;
    take();
    row.body[B].satellite.velocity.x = 0.0;
    take();
    ff_metrics_finish(&metrics, &ideal, FF_OK);
    assert_true(isnan(metrics.requirement[0].value));
    assert_false(metrics.requirement[0].met);
    assert_true(metrics.requirement[1].met);
    assert_false(metrics.pass);
}

static void test_without_a_cycle_nothing_is_judged_and_nothing_is_zero(void **state) {
    (void)state;
    make();
    const ff_ideal_result ideal = {.bodies = 2};
    ff_metrics_finish(&metrics, &ideal, FF_ERR_DEVICE);
    assert_false(metrics.pass);
    for (int i = 0; i < FF_REQUIREMENTS; i++)
        assert_false(metrics.requirement[i].judged);
    const ff_body_metrics *m = &metrics.body[A];
    const double value[] = {m->initial_energy, m->final_energy, m->max_energy,       m->error_velocity,
                            m->error_omega,    m->tracking,     m->final.velocity.z, m->final.attitude.w};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        assert_true(isnan(value[i]));
}

/* Touching or not, one letter a row: '#' with 5 N on both, '.' without. */
static void play(const char *touching) {
    for (const char *c = touching; *c; c++) {
        const bool on = *c == '#';
        row.touching[0] = on;
        row.contact_force[0] = ff_vec3_make(on ? -6.0 : 0.0, 0, 0);
        for (int i = 0; i < 2; i++) {
            row.body[i].corrected_b.f = row.body[i].measured_b.f =
                ff_vec3_make(on ? (i ? 5.0 : -5.0) : 0.0, 0, 0);
            row.body[i].satellite.velocity =
                ff_vec3_make((i ? -0.01 : 0.06) * (on || row.k < 3 ? 1.0 : -0.5), 0, 0);
        }
        take();
    }
}

static void test_a_contact_lasts_from_its_first_row_to_the_first_of_five_quiet_ones(void **state) {
    (void)state;
    make();
    row.body[A].identified_stiffness = 1875.0;
    row.body[A].identified_damping = 12.0;
    row.body[A].identified_damping_sd = 1.0;
    row.body[A].load.force = ff_vec3_make(0, 2.0, 0);
    row.bounds = 1;
    play("...##########...##.....##....");
    ff_metrics_finish(&metrics, NULL, FF_OK);
    assert_int_equal(metrics.episodes, 2);
    const ff_episode *e = &metrics.episode[0];
    assert_near(e->start, 0.03, 1e-12);
    assert_near(e->end, 0.18, 1e-12); /* three quiet rows in between are a pause, not an end */
    assert_near(e->before[A].velocity.x, 0.06, 1e-12);
    assert_near(e->after[A].velocity.x, -0.03, 1e-12);
    assert_near(e->after[B].velocity.x, 0.005, 1e-12);
    assert_near(e->peak_force[0], 5.0, 0.0);
    assert_near(e->peak_force[1], 5.0, 0.0);
    assert_near(e->peak_robot_force, 6.0, 0.0);
    assert_near(e->impulse[0].x, -5.0 * 12 * CYCLE, 1e-12);
    assert_near(e->load_impulse[0].y, 2.0 * 20 * CYCLE, 1e-12); /* to its fifth quiet row */
    assert_near(e->stiffness, 1875.0, 0.0);
    assert_near(e->damping_sd, 1.0, 0.0);
    assert_int_equal(e->bounded, 12);
    ff_episode_info info;
    ff_metrics_episode(&metrics, 0, &info);
    assert_near(info.frequency, sqrt(1875.0 / 75.0) / (2.0 * FF_PI), 1e-12); /* the reduced mass */
    assert_near(info.cov, 0.5, 1e-12);
    assert_near(info.cof, 1.0, 0.0);
    assert_near(info.restitution, 0.5, 1e-12);
    assert_true(isnan(metrics.episode[1].end)); /* four quiet rows before the end: still open */
    ff_metrics_episode(&metrics, 1, &info);
    assert_true(isnan(info.restitution) && isnan(info.cov));
    /* the contact's point: force at r gives the torque r x f; its part along the force is the tool's */
    make();
    scenario.contact[0].point = ff_vec3_make(0.5, 0, 0);
    row.body[A].measured_b = (ff_wrench){ff_vec3_cross(ff_vec3_make(0.5, 0.2, 0.1), ff_vec3_make(-5, 0, 0)),
                                         ff_vec3_make(-5, 0, 0)};
    row.touching[0] = true;
    take();
    ff_metrics_finish(&metrics, NULL, FF_OK);
    ff_metrics_episode(&metrics, 0, &info);
    assert_vec3_near(info.point[0], ff_vec3_make(0.5, 0.2, 0.1), 1e-9);
    assert_true(isnan(info.point[1].x)); /* the other side felt nothing */
    assert_true(isnan(info.cof));        /* and the robot neither */
}

static double restitution(void) {
    ff_episode_info info;
    ff_metrics_episode(&metrics, 0, &info);
    return info.restitution;
}

/* One contact that begins with `before` and ends with `after`; the force has a part along the surface. */
static void bounce(ff_vec3 before, ff_vec3 after) {
    for (int k = 0; k < 8; k++) {
        row.touching[0] = k < 3;
        row.contact_force[0] = row.touching[0] ? ff_vec3_make(-5, -4, 0) : ff_vec3_zero();
        row.body[A].satellite.velocity = k < 3 ? before : after;
        take();
    }
    ff_metrics_finish(&metrics, NULL, FF_OK);
}

/* Friction turns the impulse away from the normal; restitution is of the speed along the normal all the same.
 */
static void test_restitution_is_along_the_surfaces_normal(void **state) {
    (void)state;
    const ff_vec3 before = ff_vec3_make(0.05, 0.03, 0), after = ff_vec3_make(-0.04, -0.01, 0);
    make();
    scenario.contact[0].kind = FF_CONTACT_WALL;
    scenario.contact[0].against = -1;
    scenario.contact[0].friction = 0.8;
    bounce(before, after);
    assert_near(restitution(), 0.8, 1e-12);
    /* a pair's normal stands in `against`, which turns meanwhile */
    make();
    scenario.contact[0].friction = 0.8;
    const double angle[2] = {0.3, 0.4};
    for (int k = 0; k < 8; k++) {
        const ff_vec3 n = ff_quat_rotate(ff_quat_exp(ff_vec3_make(0, 0, angle[k >= 3])),
                                         ff_vec3_make(-1, 0, 0)),
                      along = ff_vec3_cross(n, ff_vec3_make(0, 0, 1));
        row.touching[0] = k < 3;
        row.contact_force[0] = row.touching[0] ? ff_vec3_make(-5, -4, 0) : ff_vec3_zero();
        row.body[B].satellite.attitude = ff_quat_exp(ff_vec3_make(0, 0, angle[k >= 3]));
        row.body[A].satellite.velocity = ff_vec3_axpy(k < 3 ? -0.05 : 0.03, n, ff_vec3_scale(0.2, along));
        take();
    }
    ff_metrics_finish(&metrics, NULL, FF_OK);
    assert_near(restitution(), 0.6, 1e-12);
    /* a cone has a normal everywhere and stops have several: the impulse's direction, without friction */
    const double along = (5 * 0.04 + 4 * 0.01) / (5 * 0.05 + 4 * 0.03);
    make();
    scenario.contact[0].kind = FF_CONTACT_CONE;
    bounce(before, after);
    assert_near(restitution(), along, 1e-12);
    make();
    scenario.contact[0].kind = FF_CONTACT_CONE;
    scenario.contact[0].friction = 0.1;
    bounce(before, after);
    assert_true(isnan(restitution()));
    make();
    scenario.satellite[A].arm.present = true; /* what touches is its gripper, not a point of the base */
    bounce(before, after);
    assert_true(isnan(restitution()));
}

/* What a satellite feels of two contacts at once is each one's own force and a share of what sensor and
 * method changed; the partner of one feels that one alone; a load is in none. */
static void test_contacts_at_one_time_have_an_impulse_each(void **state) {
    (void)state;
    make();
    scenario.contacts = 2;
    scenario.contact[1] = (ff_contact){
        .name = "wall", .kind = FF_CONTACT_WALL, .body = A, .against = -1, .normal = {{0, 1, 0}}};
    const ff_quat turned = ff_quat_exp(ff_vec3_make(0, 0, 0.2));
    row.body[A].satellite.attitude = turned; /* the robot lags by 0.2 rad */
    row.body[A].load.force = ff_vec3_make(0, 0, 9);
    for (int k = 0; k < 10; k++) {
        row.touching[0] = k < 2;
        row.touching[1] = k < 4;
        row.contact_force[0] = ff_vec3_make(k < 2 ? -6 : 0, 0, 0);
        row.contact_force[1] = ff_vec3_make(0, k < 4 ? 2 : 0, 0);
        /* the sensor sees 10 % more of both */
        row.body[A].corrected_b.f =
            ff_vec3_scale(1.1, ff_vec3_add(row.contact_force[0], row.contact_force[1]));
        row.body[B].corrected_b.f = ff_vec3_scale(-1.2, row.contact_force[0]);
        take();
    }
    ff_metrics_finish(&metrics, NULL, FF_OK);
    assert_int_equal(metrics.episodes, 2);
    const ff_episode *pair = &metrics.episode[0], *wall = &metrics.episode[1];
    const ff_vec3 more = ff_vec3_make(-0.6, 0.2, 0); /* three quarters of it the pair's */
    const ff_vec3 of_pair = ff_vec3_axpy(0.75, more, ff_vec3_make(-6, 0, 0)),
                  of_wall = ff_vec3_axpy(0.25, more, ff_vec3_make(0, 2, 0));
    assert_vec3_near(pair->impulse[0], ff_vec3_scale(2 * CYCLE, ff_quat_rotate(turned, of_pair)), 1e-12);
    assert_vec3_near(pair->impulse[1], ff_vec3_make(2 * CYCLE * 7.2, 0, 0), 1e-12);
    const ff_vec3 alone = ff_vec3_make(0, 2.2, 0);
    assert_vec3_near(wall->impulse[0],
                     ff_vec3_scale(2 * CYCLE, ff_quat_rotate(turned, ff_vec3_add(of_wall, alone))), 1e-12);
    assert_false(pair->by_momentum);
}

static void test_more_contacts_than_are_listed_are_said(void **state) {
    (void)state;
    make();
    for (int i = 0; i < FF_MAX_EPISODES; i++)
        play("#.....");
    assert_int_equal(metrics.episodes, FF_MAX_EPISODES);
    assert_false(metrics.more);
    play("#");
    assert_int_equal(metrics.episodes, FF_MAX_EPISODES);
    assert_true(metrics.more);
    /* of the reference, too, where the run is the reference itself */
    scenario.method = NULL;
    ff_ideal_contact *contact = calloc(FF_MAX_EPISODES + 1, sizeof *contact);
    assert_non_null(contact);
    ff_ideal_result ideal = {.bodies = 2, .contacts = FF_MAX_EPISODES + 1, .contact = contact};
    for (int i = 0; i <= FF_MAX_EPISODES; i++)
        contact[i] = (ff_ideal_contact){.start = i, .end = i + 0.5, .peak_force = 7.0};
    contact[0].impulse = ff_vec3_make(0, 30.0, 0);
    metrics.more = false;
    metrics.t = FF_MAX_EPISODES + 1.0;
    ff_metrics_finish(&metrics, &ideal, FF_OK);
    assert_true(metrics.more);
    assert_int_equal(metrics.episodes, FF_MAX_EPISODES);
    assert_near(metrics.episode[9].start, 9.0, 0.0);
    assert_near(metrics.episode[9].peak_force[1], 7.0, 0.0);
    assert_near(metrics.episode[0].impulse[0].y, 30.0, 0.0);
    assert_near(metrics.episode[0].impulse[1].y, -30.0, 0.0);
    free(contact);
}

static void test_rebounds_and_forces_against_the_reference(void **state) {
    (void)state;
    make();
    play("...##.....##......#.....");
    scenario.cycles = 24;
    ff_ideal_contact contact[2] = {{.start = 0.03, .end = 0.05, .peak_force = 4.0},
                                   {.start = 0.1, .end = FF_NAN, .peak_force = 1.5}};
    contact[0].after[A].velocity = ff_vec3_make(0, 0.04, 0); /* the run: 0.03 */
    contact[0].after[B].velocity = ff_vec3_make(0, 0.01, 0); /* 0.005 */
    const ff_ideal_result ideal = {.bodies = 2, .contacts = 2, .contact = contact};
    ff_metrics_finish(&metrics, &ideal, FF_OK);
    assert_int_equal(metrics.episodes, 3);
    assert_near(metrics.rebound_error[A], 0.01, 1e-12);
    assert_near(metrics.rebound_error[B], 0.005, 1e-12);
    /* 6 N against 4, against 1.5, and once more while the reference still touches */
    assert_near(metrics.peak_force_ratio[A], 4.0, 1e-12);
    assert_near(metrics.requirement[2].value, 4.0, 1e-12);
    assert_false(metrics.pass);
    /* a torque alone has no force to compare */
    make();
    row.touching[0] = true;
    take();
    contact[0].peak_force = contact[1].peak_force = 0.0;
    ff_metrics_finish(&metrics, &ideal, FF_OK);
    assert_near(metrics.peak_force_ratio[A], 0.0, 0.0);
}

/* A method with a contact of its own: it lasts while the method says so, and its impulse is the change of
 * momentum less the loads, whatever the rows' forces say, with what is corrected of it afterwards. */
static void test_a_predicting_method_has_its_own_contact(void **state) {
    (void)state;
    make();
    scenario.method = &ff_method_fused;
    row.body[A].load.force = ff_vec3_make(0, 0, 3.0);
    for (int k = 0; k < 30; k++) {
        row.touching[0] = k >= 5 && k < 8;
        row.body[A].corrected_b.f = ff_vec3_make(k >= 5 && k < 12 ? -4.0 : 0.0, 0, 0);
        row.body[A].in_contact = k >= 5 && k < 20;
        row.body[A].settling = k >= 20 && k < 24;
        /* corrected once more while it lasts, and by the settlement, whose last step stands in the row after
         * the next; not after it */
        row.body[A].satellite.velocity = ff_vec3_make(k < 12   ? 0.05
                                                      : k < 15 ? -0.04
                                                      : k < 24 ? -0.045
                                                      : k < 25 ? -0.046
                                                      : k < 26 ? -0.047
                                                               : -0.1,
                                                      0, 3.0 * CYCLE / 100.0 * k);
        row.body[A].reports = k == 10 ? 1 : 0;
        row.body[A].report[0] = 17.0;
        take();
    }
    ff_metrics_finish(&metrics, NULL, FF_OK);
    assert_int_equal(metrics.episodes, 1);
    const ff_episode *e = &metrics.episode[0];
    assert_near(e->start, 0.05, 1e-12);
    assert_near(e->end, 0.12, 1e-12);
    assert_near(e->impulse[0].x, 100.0 * -0.097, 1e-9);
    assert_near(e->impulse[0].z, 0.0, 1e-9);
    assert_true(e->by_momentum);
    assert_near(e->after[0].velocity.x, -0.047, 1e-12);
    assert_int_equal(e->reports, 1);
    assert_near(e->report[0], 17.0, 0.0);
}

/* A straight path with a steady turn: lengths, angles, and when the ball of 1.744 m is left. */
static void test_motions_of_both_formulations(void **state) {
    (void)state;
    make();
    scenario.nominal = FF_NOMINAL_SATELLITE;
    scenario.nominal_of = A;
    ff_metrics_reset(&scenario, &metrics);
    for (int k = 0; k <= 400; k++) {
        const double t = k * CYCLE;
        row.body[A].satellite.position = ff_vec3_make(0.6 * t, 0.8 * t, 0);
        row.body[A].satellite.attitude = ff_quat_exp(ff_vec3_make(0, 0, 0.5 * t));
        row.body[B].satellite.position = ff_vec3_make(5, 0, 0);
        row.final = k == 400;
        take();
    }
    const ff_motion_metrics *m = &metrics.body[A].motion[FF_MOTION_ABSOLUTE];
    assert_near(m->travel, 4.0, 1e-9);
    assert_near(m->path, 4.0, 1e-9);
    assert_near(m->rotation, 2.0, 1e-9);
    assert_near(m->turned, 2.0, 1e-9);
    assert_near(m->moving, 4.0, 1e-9);
    assert_near(m->ball, 1.75, 0.021);               /* looked at each 20 ms */
    m = &metrics.body[A].motion[FF_MOTION_RELATIVE]; /* seen from itself it rests */
    assert_near(m->path, 0.0, 1e-9);
    assert_near(m->moving, 0.0, 0.0);
    assert_true(isinf(m->ball));
    m = &metrics.body[B].motion[FF_MOTION_ABSOLUTE];
    assert_near(m->path, 0.0, 0.0);
    m = &metrics.body[B].motion[FF_MOTION_RELATIVE]; /* seen from A it turns about it */
    assert_near(m->turned, 2.0, 1e-9);
    /* relative to a prescribed motion with the same speed: the difference alone */
    make();
    scenario.nominal = FF_NOMINAL_PRESCRIBED;
    scenario.nominal_pose = ff_pose_identity();
    scenario.nominal_twist.v = ff_vec3_make(0.6, 0, 0);
    ff_metrics_reset(&scenario, &metrics);
    for (int k = 0; k <= 100; k++) {
        row.body[A].satellite.position = ff_vec3_make(0.6 * k * CYCLE, 0.8 * k * CYCLE, 0);
        row.final = k == 100; /* between two looks, too */
        take();
    }
    assert_near(metrics.body[A].motion[FF_MOTION_RELATIVE].travel, 0.8, 1e-9);
}

static void test_noise_is_measured_in_flight(void **state) {
    (void)state;
    make();
    scenario.satellite[A].sensor.kind = FF_SENSOR_NOISY;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int k = 0; k < 4000; k++) {
        for (int a = 0; a < 3; a++)
            row.body[A].measured_b.f.a[a] = 0.5 * ff_rng_normal(&rng);
        take();
    }
    /* sd of an estimate by 12000 numbers: 0.65 %; the estimator's window is shorter: ten times that */
    assert_near(ff_metrics_noise(&metrics.body[A].force_noise) / 0.5, 1.0, 0.1);
    assert_near(ff_metrics_noise(&metrics.body[A].torque_noise), 0.0, 0.0);
}

/* ------------------------------------------------------------------------------------ an arm's monitors --
 */

static void test_monitors_of_an_arm(void **state) {
    (void)state;
    make();
    scenario.satellite[B].arm.present = true;
    scenario.satellite[B].arm.joints = 2;
    ff_metrics_reset(&scenario, &metrics);
    const double W_a[] = {FF_NAN, 10, 9, 9.5, 8, 8, 8}, W_c[] = {3, 3.2, 3, 3, 9, 9, 9};
    for (int k = 0; k < 7; k++) {
        ff_row_servicer *s = &row.servicer;
        *s = (ff_row_servicer){
            .W_a = W_a[k], .delta = 1.0, .W_c = W_c[k], .port_power = k < 5 ? -2.0 : 1.0, .bound = k - 5.0};
        s->thrust.f = ff_vec3_make(0, -4.0 * k, 1);
        s->thrust.t = ff_vec3_make(0.5 * k, 0, 0);
        s->torque[1] = -3.0 * k;
        s->motor[0] = 7.0;
        s->thrust_saturated = k == 2;
        s->motor_saturated = k > 3;
        s->phase = k >= 4; /* another phase, another storage function: not compared with the one before */
        row.touching[0] = k >= 4;
        row.final = k == 6;
        take();
    }
    const ff_servicer_metrics *m = &metrics.servicer;
    assert_near(m->max_force, 24.0, 0.0);
    assert_near(m->max_torque, 3.0, 0.0);
    assert_near(m->max_joint_torque[1], 18.0, 0.0);
    assert_near(m->max_motor_torque[0], 7.0, 0.0);
    assert_int_equal(m->thrust_saturated, 1);
    assert_int_equal(m->motor_saturated, 3);
    assert_near(m->W_c_start, 3.0, 0.0);
    assert_near(m->W_c_drift, 0.2, 1e-12); /* what follows the touch is the contact's */
    assert_int_equal(m->W_a_cycles, 2);
    assert_int_equal(m->W_a_rises, 1);
    assert_near(m->W_a_most, 10.0, 0.0);
    assert_near(m->W_a_rise, 0.5, 1e-12);
    assert_near(m->W_a_excess, 0.5 / CYCLE + 1.0, 1e-9);
    assert_near(m->port_energy, CYCLE * (5 * -2.0 + 1.0), 1e-12); /* the last row has no step */
    assert_near(m->port_power_min, -2.0, 0.0);
    assert_near(m->port_power_max, 1.0, 0.0);
    assert_near(m->bound, 1.0, 0.0);
    assert_int_equal(m->bound_violations, 1);
}

/* ------------------------------------------------------------------------------------------- summary -- */

static const char *const colours[] = {"red", "green", NULL}, *const faults[] = {"inside", "outside: ", "slow",
                                                                                "weak", NULL};
static const ff_report_column columns[] = {{"real_s", "s", FF_REPORT_REAL, false, NULL, ""},
                                           {"count", "", FF_REPORT_INTEGER, false, NULL, ""},
                                           {"huge", "", FF_REPORT_INTEGER, false, NULL, ""},
                                           {"yes", "", FF_REPORT_BOOLEAN, false, NULL, ""},
                                           {"colour", "", FF_REPORT_CHOICE, false, colours, ""},
                                           {"no_colour", "", FF_REPORT_CHOICE, false, colours, ""},
                                           {"domain", "", FF_REPORT_FLAGS, false, faults, ""},
                                           {"clean", "", FF_REPORT_FLAGS, false, faults, ""},
                                           {"no_flags", "", FF_REPORT_FLAGS, false, faults, ""},
                                           {"point_m", "m", FF_REPORT_VECTOR, false, NULL, ""},
                                           {"runs", "", FF_REPORT_INTEGER, true, NULL, ""}};
static const ff_method law = {.name = "law", .columns = 11, .column = columns};

static void assert_has(const char *text, const char *words) {
    if (!strstr(text, words))
        fail_msg("no '%s' in %s", words, text);
}

static void test_summary_of_reports_safety_and_clocks(void **state) {
    (void)state;
    make();
    scenario.method = &law;
    row.body[A].reports = 1;
    const double report[] = {0.25, 7, 1e300, 1, 1, 5, 3, 0, -1, 1, 2, 3};
    memcpy(row.body[A].report, report, sizeof report);
    row.touching[0] = true;
    take();
    ff_metrics_finish(&metrics, NULL, FF_OK);
    ff_run_result run = {.reports = 1, .report = {4}, .cycles = 200, .wall_s = 0.5, .status = FF_ERR_LIMIT};
    snprintf(run.message, sizeof run.message, "stopped");
    run.safety.watched = true;
    run.safety.cause = (ff_trip){.code = FF_TRIP_FORCE, .body = B, .value = 51, .limit = 50};
    run.safety.stopped[B] = true;
    run.clock[A] = (ff_run_clock){.known = true, .drift_ppm = 12.5, .sensor_hz = 4000, .sensor_s = 1e-6};
    char *text = ff_summary_json(&metrics, &run);
    assert_non_null(text);
    static const char *const words[] = {"\"status\": \"stopped\"",
                                        "\"real_s\": 0.25",
                                        "\"count\": 7",
                                        "\"huge\": null",
                                        "\"yes\": true",
                                        "\"colour\": \"green\"",
                                        "\"no_colour\": null",
                                        "\"domain\": \"outside: slow, weak\"",
                                        "\"clean\": \"inside\"",
                                        "\"no_flags\": null",
                                        "\"runs\": 4",
                                        "\"real_time_factor\": 4",
                                        "\"satellite\": \"b\"",
                                        "\"value\": 51",
                                        "\"limit\": 50",
                                        "\"drift_ppm\": 12.5",
                                        "\"sensor_hz\": 4000",
                                        "\"drift_ppm\": null",
                                        "\"sensor_hz\": null",
                                        "\"verdict\": \"fail\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_has(text, words[i]);
    free(text);
    /* ended as ordered: no satellite is at fault; no clock is known; not paced */
    run = (ff_run_result){.cycles = 1};
    run.safety.watched = true;
    run.safety.cause.code = FF_TRIP_FINISHED;
    text = ff_summary_json(&metrics, &run);
    assert_non_null(text);
    assert_has(text, "\"real_time_factor\": null");
    assert_has(text, "\"status\": \"done\"");
    assert_null(strstr(text, "\"satellite\":"));
    assert_null(strstr(text, "\"clocks\""));
    free(text);
    /* on-board software in a shared object, and over UDP */
    scenario.satellite[B].arm.present = true;
    static const struct {
        ff_obsw_kind kind;
        int mode;
        const char *words[3];
    } cases[] = {{FF_OBSW_SHARED,
                  0,
                  {"\"steps_not_returned\": 2", "\"not_returned_at_s\": 1.5", "\"died_of_signal\": 11"}},
                 {FF_OBSW_UDP, 0, {"\"mode\": \"lockstep\"", "\"sent\": 9", "\"refused\""}},
                 {FF_OBSW_UDP, 1, {"\"mode\": \"free\"", "\"taken\": 8", "\"answer_max_s\""}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scenario.satellite[B].obsw.kind = (int)cases[i].kind;
        scenario.satellite[B].obsw.mode = cases[i].mode;
        run.obsw.shared = (ff_obsw_shared_info){
            .stuck = 2, .stuck_at = 1.5, .died = true, .died_at = 2.5, .died_signal = 11};
        run.obsw.exchange = (ff_obsw_exchange_info){.sent = 9, .taken = 8};
        text = ff_summary_json(&metrics, &run);
        assert_non_null(text);
        for (int w = 0; w < 3; w++)
            assert_has(text, cases[i].words[w]);
        free(text);
    }
}

/* States and events stand in summary.json in their order; more than are kept are not written, and break
 * nothing. */
static void test_events_stand_in_their_order(void **state) {
    (void)state;
    static ff_history history;
    const ff_sink sink = ff_history_sink(&history);
    assert_int_equal(sink.state(sink.self, -0.5, 1, "CHECK"), FF_OK);
    assert_int_equal(sink.row(sink.self, &row), FF_OK);
    assert_int_equal(sink.event(sink.self, 1.25, FF_TRIP_FORCE, FF_EVENT_FAULT, "too \"large\"", 8.5, 8.0),
                     FF_OK);
    assert_int_equal(sink.event(sink.self, 1.5, 0, FF_EVENT_INFO, "an order", 5.0, 10.0), FF_OK);
    assert_int_equal(sink.state(sink.self, 2.0, 9, "FAULT"), FF_OK);
    char *text = ff_summary_add(strdup("{\n  \"a\": 1\n}\n"), "events", ff_history_json(&history));
    static const char *const words[] = {
        "\"a\": 1,\n  \"events\": [", "\"time_s\": -0.5,\n    \"state\": \"CHECK\"\n  }",
        "\"level\": \"fault\",\n    \"text\": \"too \\\"large\\\" (8.5, allowed 8 N)\"\n  }",
        "\"level\": \"info\",\n    \"text\": \"an order\"\n  }",
        "\"time_s\": 2,\n    \"state\": \"FAULT\"\n  }]"};
    const char *at = text;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        at = strstr(at, words[w]);
        assert_non_null(at);
    }
    free(text);
    for (int i = 0; i < 2 * FF_HISTORY_SIZE; i++)
        sink.state(sink.self, 3.0, 9, "LATER");
    assert_int_equal(history.count, 4 + 2 * FF_HISTORY_SIZE);
    text = ff_history_json(&history);
    int shown = 0;
    for (at = text; (at = strstr(at, "time_s")) != NULL; at++)
        shown++;
    assert_int_equal(shown, FF_HISTORY_SIZE);
    free(text);
    text = ff_summary_add(strdup("{}"), "nothing", NULL);
    assert_string_equal(text, "{}");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_stand_in_their_order),
        cmocka_unit_test(test_errors_are_the_largest_and_a_number_that_is_none_sticks),
        cmocka_unit_test(test_without_a_cycle_nothing_is_judged_and_nothing_is_zero),
        cmocka_unit_test(test_a_contact_lasts_from_its_first_row_to_the_first_of_five_quiet_ones),
        cmocka_unit_test(test_restitution_is_along_the_surfaces_normal),
        cmocka_unit_test(test_contacts_at_one_time_have_an_impulse_each),
        cmocka_unit_test(test_more_contacts_than_are_listed_are_said),
        cmocka_unit_test(test_rebounds_and_forces_against_the_reference),
        cmocka_unit_test(test_a_predicting_method_has_its_own_contact),
        cmocka_unit_test(test_motions_of_both_formulations),
        cmocka_unit_test(test_noise_is_measured_in_flight),
        cmocka_unit_test(test_monitors_of_an_arm),
        cmocka_unit_test(test_summary_of_reports_safety_and_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, free_metrics);
}
