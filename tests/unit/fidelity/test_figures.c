/* Figures of runs with every method, to nine digits: which figure a change moves. tests/golden/lab.txt holds
 * them; FF_GOLDEN_UPDATE=1 rewrites it. It says nothing about right or wrong (test_lab, test_reports do), but
 * notices what those are too coarse for: under noise, with several contacts, outside a method's domain. */
#include "lab.h"

#define STORE FF_SOURCE_DIR "/tests/golden/lab.txt"
/* Roundings of another compiler or libm, grown over some hundred cycles. */
#define SAME 1e-8

static ff_rng rng;
TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);
static lab l;
static FILE *store;
static bool update;
static int differ, figures;

static void figure(const char *run, const char *what, double value, double scale) {
    char name[80];
    snprintf(name, sizeof name, "%s.%s", run, what);
    figures++;
    if (update) {
        fprintf(store, "%s %.12g\n", name, value);
        return;
    }
    char line[200], known[80] = "";
    double expect = FF_NAN;
    if (!fgets(line, sizeof line, store) || sscanf(line, "%79s %lf", known, &expect) != 2 ||
        strcmp(known, name) != 0)
        fail_msg("%s is not the figure that the store has here (%s): FF_GOLDEN_UPDATE=1 rewrites it", name,
                 known);
    const bool same = isfinite(value) ? fabs(value - expect) <= SAME * fmax(scale, fabs(expect))
                                      : isnan(value) == isnan(expect);
    if (!same && differ++ < 10)
        print_message("%s: %.12g instead of %.12g\n", name, value, expect);
}

static void record(const char *run, const ff_loop_config *config) {
    char name[40];
    lab_run(&l, config, model, state);
    for (int i = 0; i < l.bodies; i++) {
        const ff_rigid_state *x = &l.end[i];
        for (int a = 0; a < 3; a++) {
            snprintf(name, sizeof name, "v%d%d", i, a);
            figure(run, name, x->velocity.a[a], l.approach);
            snprintf(name, sizeof name, "w%d%d", i, a);
            figure(run, name, x->omega.a[a], l.approach);
            snprintf(name, sizeof name, "x%d%d", i, a);
            figure(run, name, x->position.a[a], l.approach);
        }
        snprintf(name, sizeof name, "energy%d", i);
        figure(run, name, state->energy[i].exchanged, state->energy[i].kinetic);
        double values[FF_METHOD_VALUES];
        const int count = ff_loop_report(model, state, i, values);
        for (int k = 0; k < count; k++) {
            snprintf(name, sizeof name, "report%d.%d", i, k);
            figure(run, name, values[k], 1e-3);
        }
    }
    double values[FF_METHOD_VALUES];
    const int count = ff_loop_report(model, state, -1, values);
    for (int k = 0; k < count; k++) {
        snprintf(name, sizeof name, "run.%d", k);
        figure(run, name, values[k], 1e-3);
    }
    figure(run, "peak", l.peak, 1.0);
    for (int k = 0; k < LAB_SAID; k++) {
        snprintf(name, sizeof name, "said.%d", k);
        figure(run, name, l.said[k], k == 7 ? 100.0 : 1.0); /* [N] of forces that cancel over a contact */
    }
}

static ff_vec3 across(void) {
    const ff_world_contact *c = &l.contact[0];
    const ff_vec3 n = c->against < 0 ? c->normal : ff_quat_rotate(l.start[1].attitude, c->normal);
    return ff_vec3_unit(ff_vec3_cross(n, test_random_vec3(&rng, 1)));
}

enum { KINDS = 12 };
static const char *const kinds[KINDS] = {"wall",   "pair",    "slides", "sticks", "tips", "corner",
                                         "funnel", "bounces", "graded", "late",   "loud", "turned"};

/* One of the kinds of contact; `loud` means noise on all but the exact ones. */
static void set_up(int kind) {
    const int bodies = kind == 1 || kind == 9 || kind == 4 ? 2 : 1;
    if (kind == 6)
        lab_cone(&l, &rng, 0.4, 9.0, 0.04, 0.4, 400);
    else
        lab_plane(&l, &rng, bodies, kind == 7 ? 0.1 : 0.4, 9.0, 0.04, 0.4, kind == 7 ? 700 : 400);
    l.noise = 0.15;
    l.torque_noise = 0.008;
    switch (kind) {
    case 2:
    case 3:
        l.contact[0].friction = kind == 2 ? 0.08 : 0.35;
        l.start[0].velocity =
            ff_vec3_axpy((kind == 2 ? 0.9 : 0.2) * l.approach, across(), l.start[0].velocity);
        break;
    case 4: {
        l.contacts = 2;
        l.contact[1] = l.contact[0];
        const ff_vec3 arm = ff_vec3_add(ff_quat_rotate(l.start[0].attitude, l.contact[0].point),
                                        ff_vec3_scale(0.4, across()));
        l.contact[1].point = ff_quat_unrotate(l.start[0].attitude, arm);
        break;
    }
    case 5: {
        const ff_vec3 t = across(), tip = ff_pose_apply(ff_rigid_pose(&l.start[0]), l.contact[0].point);
        const double away = ff_vec3_dot(ff_rigid_point_velocity(&l.start[0], l.contact[0].point), t),
                     speed = 0.6 * l.approach;
        l.start[0].velocity = ff_vec3_axpy(speed - away, t, l.start[0].velocity);
        l.contacts = 2;
        l.contact[1] = l.contact[0];
        l.contact[1].normal = ff_vec3_neg(t);
        l.contact[1].at = ff_vec3_axpy(0.5 * speed, t, tip);
        break;
    }
    case 7:
        l.load = ff_vec3_scale(-1.2 * l.approach * l.rigid[0].mass, l.contact[0].normal);
        break;
    case 8:
        l.contact[0].damping_depth = 0.003;
        break;
    case 9:
        l.delay[0] = 20;
        l.delay[1] = 5;
        break;
    case 10:
        l.noise = 1.0;
        l.torque_noise = 0.1;
        break;
    case 11:
        l.start[0].omega = ff_vec3_scale(10.0, l.start[0].omega);
        l.contact[0].friction = 0.05;
        break;
    default:
        break;
    }
}

/* The second run of a kind: two bodies change their numbers, some sensors are exact. */
static void turn_over(int kind) {
    if (l.bodies == 2)
        lab_swap(&l);
    if (kind % 3 == 2 || kind == 4)
        l.noise = l.torque_noise = 0.0;
}

/* Choices beside the defaults. */
static void choose(ff_loop_config *config, int kind) {
    if (config->method == &ff_method_fused) {
        if (kind % 2)
            test_setting(config, "tracking", 1);
        if (kind % 3 == 0)
            test_setting(config, "stiffness", 1.5 * l.contact[0].stiffness);
        if (kind % 3 == 1)
            test_setting(config, "skew", 0.002);
        if (kind % 4 == 0)
            test_setting(config, "look_back", 0.15);
        if (kind % 5 == 2)
            test_setting(config, "sensor_lag", 0.003);
        if (kind % 5 == 3)
            test_setting(config, "zero", 0);
    } else if (config->method == &ff_method_impact) {
        if (kind % 4 == 0)
            test_setting(config, "recomputation", 0);
        if (kind % 4 == 1)
            test_setting(config, "restitution", 0.8);
        if (kind % 4 == 2)
            test_setting(config, "stiffness", FF_INF);
        if (kind % 4 == 3)
            test_setting(config, "look_back", 0.06);
        if (kind % 3 == 0)
            test_setting(config, "observer", 0);
        if (kind % 3 == 1)
            test_setting(config, "torque", 1);
        if (kind % 5 == 0)
            test_setting(config, "prediction", 0);
    } else if (config->method == &ff_method_damping) {
        test_setting(config, "budget", kind % 3);
        if (kind % 2)
            test_setting(config, "known.stiffness", l.contact[0].stiffness);
        if (kind % 4 == 1)
            test_setting(config, "known.damping", l.contact[0].damping);
        if (kind % 3 == 2)
            test_setting(config, "lead", 0.01);
        test_setting(config, "adapt", kind % 3);
        test_setting(config, "form", kind % 2);
    } else if (config->method == &ff_method_tdpa) {
        test_setting(config, "law", kind % 2);
        test_setting(config, "observer", kind / 2 % 2);
        test_setting(config, "velocity", kind / 4 % 2);
        test_setting(config, "reset", kind % 3 == 0);
    }
}

static void test_figures(void **unused) {
    (void)unused;
    update = getenv("FF_GOLDEN_UPDATE") != NULL;
    store = fopen(STORE, update ? "w" : "r");
    if (!store)
        fail_msg("%s cannot be opened: FF_GOLDEN_UPDATE=1 makes it", STORE);
    for (int n = 0; n < 2 * KINDS; n++)
        for (int m = 0; ff_method_at(m); m++) {
            const ff_method *method = ff_method_at(m);
            const int kind = n % KINDS;
            for (int v = 0; v < (int)method->variants; v++) {
                char name[60];
                snprintf(name, sizeof name, "%s%s.%s.%d", kinds[kind], n < KINDS ? "" : "-else", method->name,
                         v);
                ff_rng_seed(&rng, 1 + (uint64_t)n, 71);
                set_up(kind);
                if (n >= KINDS)
                    turn_over(kind);
                ff_loop_config config;
                lab_configure(&l, method, v, &config);
                config.world.body[l.contact[0].body ? 0 : 1].carries_surface = l.bodies == 2;
                if (method == &ff_method_impact && kind % 2)
                    config.world.contact[0].at =
                        ff_vec3_axpy(3e-3, l.contact[0].normal, config.world.contact[0].at);
                if (method == &ff_method_fused && kind % 3 == 1)
                    config.world.body[0].delay += 0.006;
                if (method == &ff_method_damping && v && kind % 2)
                    test_setting(&config, "axes", 1);
                if (n >= KINDS)
                    choose(&config, kind);
                record(name, &config);
            }
        }
    fclose(store);
    print_message("%d figures\n", figures);
    if (differ)
        fail_msg("%d of %d figures moved", differ, figures);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_figures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
