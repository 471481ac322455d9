/* Limits that a scenario sets by itself, against integration and the equations they come from; the lines that
 * pictures draw of them; and the metrics of a run. */
#include "campaign/output.h"
#include "support.h"

static ff_scenario scenario;

typedef struct wall {
    double mass, k, c, speed, delay, cycle, noise, skew;
} wall;

static wall random_wall(ff_rng *rng) {
    wall w = {.mass = ff_rng_range(rng, 50.0, 500.0),
              .k = ff_rng_range(rng, 2000.0, 40000.0),
              .speed = ff_rng_range(rng, 0.02, 0.1),
              .delay = ff_rng_range(rng, 0.01, 0.15),
              .cycle = 0.004,
              .noise = ff_rng_range(rng, 0.1, 2.0),
              .skew = ff_rng_range(rng, 0.001, 0.006)};
    w.c = 2.0 * ff_rng_range(rng, 0.02, 0.45) * sqrt(w.k * w.mass);
    return w;
}

static void load(const wall *w) {
    char text[1024], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: limits\ntime: {cycle: %.17g, duration: 3}\nsatellites:\n"
             "  body: {mass: %.17g, inertia: [20, 20, 20], velocity: [%.17g, 0.01, 0],\n"
             "         robot: {kind: delay, delay: %.17g},\n"
             "         sensor: {kind: noisy, force_noise: %.17g, delay: %.17g}}\n"
             "contacts:\n  - {name: right, kind: wall, body: body, at: [0.05, 0, 0], normal: [-1, 0, 0],\n"
             "     stiffness: %.17g, damping: %.17g}\n",
             w->cycle, w->mass, w->speed, w->delay, w->noise, w->skew, w->k, w->c);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

/* The contact in small steps: peak force, duration, speed after over before. */
static void integrate(const wall *w, double *peak, double *duration, double *e) {
    const double h = 1e-5 / sqrt(w->k / w->mass);
    double x = 0.0, v = w->speed;
    *peak = w->c * w->speed;
    for (int i = 1;; i++) {
        const double x_mid = x + 0.5 * h * v, v_mid = v - 0.5 * h * (w->k * x + w->c * v) / w->mass;
        x += h * v_mid;
        v -= h * (w->k * x_mid + w->c * v_mid) / w->mass;
        const double force = w->k * x + w->c * v;
        *peak = fmax(*peak, force);
        if (force <= 0.0) {
            *duration = i * h;
            *e = -v / w->speed;
            return;
        }
    }
}

static void test_limits_follow_from_the_contact(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 6; n++) {
        const wall w = random_wall(&rng);
        double peak, duration, e;
        integrate(&w, &peak, &duration, &e);
        load(&w);
        const double late = w.speed * (w.k * (w.delay + w.skew + w.cycle) + w.c) / peak,
                     floor = w.speed * (w.k * (w.delay + w.skew) + w.c) / peak;
        assert_near(ff_limit_value(FF_LIMIT_CAUSAL, &scenario), fmax(1.0, late), 1e-6 * late);
        assert_near(ff_limit_value(FF_LIMIT_CAUSAL_FLOOR, &scenario), fmax(1.0, floor), 1e-6 * floor);
        const double samples = duration / w.cycle, relative = w.noise / peak / sqrt(samples);
        assert_near(ff_limit_value(FF_LIMIT_SAMPLES, &scenario), samples, 1e-4 * samples);
        assert_near(ff_limit_value(FF_LIMIT_FORCE, &scenario), peak / w.noise, 1e-6 * peak / w.noise);
        assert_near(ff_limit_value(FF_LIMIT_NOISE_FIGURE, &scenario), w.speed * (0.003 + 7.0 * relative),
                    1e-4 * relative);
        const double share = 0.5 * FF_PI * sqrt(w.k / w.mass) * w.skew;
        assert_near(ff_limit_value(FF_LIMIT_SKEW_SHARE, &scenario), share, 1e-12);
        assert_near(ff_limit_value(FF_LIMIT_SKEW, &scenario), w.speed * share * e, 1e-4 * w.speed * share);
    }
}

/* Growth of m x'' = -k x(t - tau) - c x'(t - tau) over the last half of a long time, by velocity Verlet. */
static double growth(const wall *w, double tau) {
    enum { BACK = 400, LONG = 400 * 400 };
    static double x[LONG + BACK], v[LONG + BACK];
    const double h = tau / BACK;
    double first = 0.0, last = 0.0;
    for (int i = 0; i < BACK; i++) {
        x[i] = 0.0;
        v[i] = 1.0;
    }
    for (int i = BACK; i < LONG + BACK; i++) {
        const int j = i - BACK;
        const double a0 = -(w->k * x[j] + w->c * v[j]) / w->mass,
                     a1 = -(w->k * x[j + 1] + w->c * v[j + 1]) / w->mass;
        x[i] = x[i - 1] + h * v[i - 1] + 0.5 * h * h * a0;
        v[i] = v[i - 1] + 0.5 * h * (a0 + a1);
        const double energy = w->k * x[i] * x[i] + w->mass * v[i] * v[i];
        if (j > LONG / 4 && j <= LONG / 2)
            first = fmax(first, energy);
        if (j > 3 * (LONG / 4))
            last = fmax(last, energy);
    }
    return last / first;
}

static void test_direct_limit_is_where_lasting_contact_begins_to_grow(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 4; n++) {
        wall w = random_wall(&rng);
        w.skew = 0.0;
        load(&w);
        const double largest = w.delay / ff_limit_value(FF_LIMIT_DIRECT, &scenario);
        const double below = growth(&w, 0.97 * largest), above = growth(&w, 1.03 * largest);
        print_message("z %.2f: largest delay %.4f s, growth below %.3g, above %.3g\n",
                      w.c / (2.0 * sqrt(w.k * w.mass)), largest, below, above);
        assert_true(below < 1.0 && above > 1.0);
    }
}

/* sd(e) of the best estimate of k, c and x0 from the force alone, at samples T apart: (J'J)^-1 sigma^2 with
 * rows (x, v, -k), and de/dk, de/dc by differences. */
static double best_sd(const wall *w) {
    double M[3][3] = {{0}};
    const double a = w->c / (2.0 * w->mass), wd = sqrt(w->k / w->mass - a * a);
    double peak, duration, e;
    integrate(w, &peak, &duration, &e);
    for (int n = 0; (n + 0.5) * w->cycle < duration; n++) {
        const double t = (n + 0.5) * w->cycle;
        const double d = exp(-a * t) * w->speed;
        const double row[3] = {d / wd * sin(wd * t), d * (cos(wd * t) - a / wd * sin(wd * t)), -w->k};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                M[i][j] += row[i] * row[j];
    }
    double slope[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        wall up = *w, down = *w;
        const double step = 1e-3 * (i ? 2.0 * sqrt(w->k * w->mass) : w->k);
        up.k += i ? 0.0 : step;
        down.k -= i ? 0.0 : step;
        up.c += i ? step : 0.0;
        down.c -= i ? step : 0.0;
        double e_up, e_down;
        integrate(&up, &peak, &duration, &e_up);
        integrate(&down, &peak, &duration, &e_down);
        slope[i] = (e_up - e_down) / (2.0 * step);
    }
    /* slope' M^-1 slope by elimination */
    double y[3];
    for (int i = 0; i < 3; i++) {
        y[i] = slope[i];
        for (int j = 0; j < i; j++) {
            const double part = M[i][j] / M[j][j];
            for (int k = j; k < 3; k++)
                M[i][k] -= part * M[j][k];
            y[i] -= part * y[j];
        }
    }
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        sum += y[i] * y[i] / M[i][i];
    return w->noise * sqrt(sum);
}

static void test_noise_limit_is_the_bound_of_cramer_and_rao(void **state) {
    (void)state;
    const double z[] = {0.01, 0.0343, 0.1, 0.2, 0.3, 0.4};
    for (int i = 0; i < 6; i++) {
        wall w = {200.0, 20000.0, 0.0, 0.05, 0.04, 0.002, 0.3, 0.0};
        w.c = 2.0 * z[i] * sqrt(w.k * w.mass);
        load(&w);
        const double limit = ff_limit_value(FF_LIMIT_NOISE, &scenario) / w.speed, best = best_sd(&w);
        print_message("z %.3f: sd(e) %.4g by the samples, %.4g by the integral\n", z[i], best, limit);
        assert_near(limit, best, 0.01 * best); /* the last sample may fall in or out */
    }
}

/* ------------------------------------------------------------------------------------------- pictures -- */

enum { NX = 11, NY = 6 };

/* A picture over x = 1 .. 2 and y = 10 .. 1000 (log) whose limit's column is x - 1 + ln(y/10)/ln(100). */
static ff_output *make_picture(ff_campaign *c, bool flat) {
    ff_output *o = calloc(1, sizeof *o);
    o->segment = malloc(FF_CONTOUR_SEGMENTS * sizeof *o->segment);
    memset(c, 0, sizeof *c);
    o->campaign = c;
    snprintf(c->name, sizeof c->name, "drawn");
    c->methods = c->maps = 1;
    c->metrics = 3;
    c->samples = 1;
    for (int i = 0; i < 3; i++)
        c->metric[i] = (ff_metric){.name = {(char)('a' + i)}, .unit = ""};
    snprintf(c->method[0].variant.label, sizeof c->method[0].variant.label, "direct");
    c->map[0] = (ff_campaign_map){.x = 0, .y = flat ? -1 : 1, .show = 2, .contour = FF_NAN, .limits = 1};
    c->map[0].limit[0] = (ff_map_limit){.column = 0, .at = 0.75, .label = "the <limit>"};
    ff_picture *p = &o->picture[0];
    p->x = (ff_axis){.column = 0, .count = NX};
    p->y = (ff_axis){.column = flat ? -1 : 1, .count = flat ? 1 : NY, .log = true};
    for (int i = 0; i < NX; i++)
        p->x.at[i] = 1.0 + 0.1 * i;
    for (int i = 0; i <= NX; i++)
        p->x.edge[i] = 0.95 + 0.1 * i;
    for (int i = 0; i < p->y.count; i++)
        p->y.at[i] = 10.0 * pow(100.0, i / (NY - 1.0));
    for (int i = 0; i <= p->y.count; i++)
        p->y.edge[i] = 10.0 * pow(100.0, (i - 0.5) / (NY - 1.0));
    p->cell = calloc(NX * NY, sizeof *p->cell);
    p->limit = calloc(NX * NY, sizeof *p->limit);
    for (int y = 0; y < p->y.count; y++)
        for (int x = 0; x < NX; x++) {
            const double value = p->x.at[x] - 1.0 + log(p->y.at[y] / 10.0) / log(100.0);
            p->cell[y * NX + x] = (ff_cell){.count = 1, .most = 1.0 + x, .sum = 1.0 + x};
            /* two runs in a cell: their mean counts */
            p->limit[y * NX + x] = (ff_cell){.count = 2, .most = value + 0.1, .sum = 2.0 * value};
        }
    return o;
}

static void drop_picture(ff_output *o) {
    ff_output_free(o);
    free(o);
}

static void test_contour_lies_on_the_level(void **state) {
    (void)state;
    static ff_campaign c;
    static ff_segment segment[FF_CONTOUR_SEGMENTS];
    ff_output *o = make_picture(&c, false);
    const ff_picture *p = &o->picture[0];
    const int n = ff_picture_contour(p, ff_picture_limit(o, 0, 0, 0), true, 0.75, segment);
    assert_true(n >= 10);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            assert_near(segment[i].x[k] - 1.0 + log(segment[i].y[k] / 10.0) / log(100.0), 0.75, 1e-12);
    for (int i = 1; i < n; i++) { /* one line, piece after piece */
        assert_true(segment[i].x[0] == segment[i - 1].x[1]);
        assert_true(segment[i].y[0] == segment[i - 1].y[1]);
    }
    assert_near(fabs(segment[0].x[0] - segment[n - 1].x[1]), 0.75, 1e-12); /* from border to border */
    /* the largest values lie 0.1 higher */
    const int m = ff_picture_contour(p, ff_picture_limit(o, 0, 0, 0), false, 0.75, segment);
    assert_true(m > 0);
    assert_near(segment[0].x[0] - 1.0 + log(segment[0].y[0] / 10.0) / log(100.0), 0.65, 1e-12);
    drop_picture(o);
}

/* A ring is one line that ends where it began. */
static void test_contour_closes_a_ring(void **state) {
    (void)state;
    static ff_campaign c;
    static ff_segment segment[FF_CONTOUR_SEGMENTS];
    ff_output *o = make_picture(&c, false);
    ff_picture *p = &o->picture[0];
    for (int i = 0; i < NX * NY; i++)
        p->limit[i] = (ff_cell){.count = 1, .sum = i == 3 * NX + 5 || i == 3 * NX + 6 ? 1.0 : 0.0};
    const int n = ff_picture_contour(p, p->limit, true, 0.5, segment);
    assert_int_equal(n, 6);
    for (int i = 1; i < n; i++)
        assert_true(segment[i].x[0] == segment[i - 1].x[1] && segment[i].y[0] == segment[i - 1].y[1]);
    assert_true(segment[n - 1].x[1] == segment[0].x[0] && segment[n - 1].y[1] == segment[0].y[0]);
    p->limit[3 * NX + 5].count = 0; /* no value: no line through it */
    assert_int_equal(ff_picture_contour(p, p->limit, true, 0.5, segment), 2);
    drop_picture(o);
}

/* Path data of the nth black line in the picture. */
static const char *black_line(const char *svg, int n) {
    for (const char *at = svg; (at = strstr(at, "stroke=\"#000\"")) != NULL; at++)
        if (n-- == 0) {
            const char *d = strstr(at, " d=\"");
            return d ? d + 4 : NULL;
        }
    return NULL;
}

static void test_map_draws_the_limit_in_its_place(void **state) {
    (void)state;
    static ff_campaign c;
    ff_output *o = make_picture(&c, false);
    char *svg = ff_figure_map(o, 0);
    assert_non_null(svg);
    assert_non_null(strstr(svg, "the &lt;limit&gt;</text>"));
    const char *d = black_line(svg, 0);
    assert_non_null(d);
    int points = 0;
    /* the panel: 300 wide from 74, 240 high from 68; edges 0.95 .. 2.05 and 10^0.8 .. 10^3.2 */
    for (char *end; *d == 'M' || *d == 'L'; d = end, points++) {
        const double px = strtod(d + 1, &end), py = strtod(end, &end);
        const double x = 0.95 + (px - 74.0) / 300.0 * 1.1, y = 3.2 - (py - 68.0) / 240.0 * 2.4;
        assert_near(x - 1.0 + (y - 1.0) / 2.0, 0.75, 1e-3);
    }
    assert_true(points >= 10);
    free(svg);
    c.map[0].limit[0].at = 7.0;
    svg = ff_figure_map(o, 0);
    assert_non_null(strstr(svg, "(outside this picture)"));
    free(svg);
    drop_picture(o);
}

static void test_curves_draw_the_limit_and_its_crossing(void **state) {
    (void)state;
    static ff_campaign c;
    ff_output *o = make_picture(&c, true);
    /* upright at x = 1.75: 460 wide from 74 over 1 .. 2 */
    char *svg = ff_figure_map(o, 0);
    const char *d = black_line(svg, 0);
    assert_non_null(d);
    assert_true(strncmp(d, "M419.0 358.0V58.0", 17) == 0);
    free(svg);
    /* the column itself; only what lies on the scale of the curves (0.6 .. 11.4) is drawn: x = 1.7 on */
    c.map[0].limit[0].at = FF_NAN;
    svg = ff_figure_map(o, 0);
    d = black_line(svg, 0);
    assert_non_null(d);
    int points = 0;
    for (char *end; *d == 'M' || *d == 'L'; d = end, points++) {
        const double px = strtod(d + 1, &end), py = strtod(end, &end);
        const double x = 1.0 + (px - 74.0) / 460.0, y = 0.6 + (358.0 - py) / 300.0 * 10.8;
        assert_near(y, x - 1.0, 0.01);
    }
    assert_int_equal(points, 5);
    free(svg);
    drop_picture(o);
}

/* ------------------------------------------------------------------------------------------- metrics -- */

/* Two satellites that meet: the first at the start turned by a quarter about z, the second at rest. */
static void make_two(ff_contact_kind kind, bool pair) {
    memset(&scenario, 0, sizeof scenario);
    scenario.cycle = 0.004;
    scenario.satellites = 2;
    for (int i = 0; i < 2; i++) {
        ff_satellite *s = &scenario.satellite[i];
        snprintf(s->name, sizeof s->name, "%s", i ? "b" : "a");
        s->rigid.mass = i ? 300.0 : 100.0;
        s->rigid.inertia = ff_mat3_diag(30, 40, 50);
        s->start.attitude = ff_quat_identity();
        s->robot.kind = FF_ROBOT_DELAY;
        s->robot.delay = i ? 0.03 : 0.02;
    }
    scenario.satellite[0].start.velocity = ff_vec3_make(0.06, 0, 0);
    scenario.satellite[1].start.velocity = ff_vec3_make(pair ? -0.02 : 0.0, 0, 0);
    scenario.contacts = 1;
    ff_contact *c = &scenario.contact[0];
    *c = (ff_contact){.name = "touch",
                      .kind = kind,
                      .against = pair ? 1 : -1,
                      .normal = ff_vec3_make(-1, 0, 0),
                      .axis = ff_vec3_make(1, 0, 0),
                      .stiffness = 3000.0,
                      .damping = 100.0,
                      .satellite_stiffness = 3000.0,
                      .satellite_damping = 100.0};
}

static void test_two_satellites_meet_as_one_of_the_reduced_mass_meets_a_wall(void **state) {
    (void)state;
    make_two(FF_CONTACT_PAIR, true);
    const double reduced = 100.0 * 300.0 / 400.0;
    assert_near(ff_effective_mass(&scenario, &scenario.contact[0]), reduced, 1e-12);
    assert_near(ff_omega_tau(&scenario), 0.03 * sqrt(3000.0 / reduced), 1e-12); /* the later robot's */
    double of_pair[FF_LIMIT_FORCE + 1];
    scenario.satellite[0].sensor =
        (ff_sensor_config){.kind = FF_SENSOR_NOISY, .force_noise = 0.5, .delay = 0.002};
    for (int l = 0; l <= FF_LIMIT_FORCE; l++)
        of_pair[l] = ff_limit_value((ff_limit)l, &scenario);
    const wall one = {.mass = reduced,
                      .k = 3000,
                      .c = 100,
                      .speed = 0.08,
                      .delay = 0.03,
                      .cycle = 0.004,
                      .noise = 0.5,
                      .skew = 0.002};
    load(&one);
    for (int l = 0; l <= FF_LIMIT_FORCE; l++) {
        const double alone = ff_limit_value((ff_limit)l, &scenario);
        assert_true(alone > 0.0);
        assert_near(of_pair[l], alone, 1e-9 * alone);
    }
    /* a lever: 1/m + r^2/J, with r across the normal and J about the axis across both */
    make_two(FF_CONTACT_PAIR, true);
    scenario.contact[0].point = ff_vec3_make(0.3, 0.4, 0);
    scenario.contact[0].at = ff_vec3_make(-0.3, 0, 0.5);
    const double levered = 1.0 / (1.0 / 100.0 + 0.16 / 50.0 + 1.0 / 300.0 + 0.25 / 40.0);
    assert_near(ff_effective_mass(&scenario, &scenario.contact[0]), levered, 1e-12 * levered);
    /* turned by a quarter about z, the normal of `b` lies along y */
    scenario.satellite[1].start.attitude = ff_quat_exp(ff_vec3_make(0, 0, FF_PI / 2));
    const double turned = 1.0 / (1.0 / 100.0 + 0.09 / 50.0 + 1.0 / 300.0 + 0.25 / 40.0);
    assert_near(ff_effective_mass(&scenario, &scenario.contact[0]), turned, 1e-12 * turned);
    /* a cone and a grasp along their axis, stops by their mass, a wall without the other */
    make_two(FF_CONTACT_CONE, true);
    scenario.contact[0].apex = ff_vec3_make(0, 0.5, 0);
    const double cone = 1.0 / (1.0 / 100.0 + 1.0 / 300.0 + 0.25 / 50.0);
    assert_near(ff_effective_mass(&scenario, &scenario.contact[0]), cone, 1e-12 * cone);
    scenario.contact[0].kind = FF_CONTACT_GRASP;
    assert_near(ff_effective_mass(&scenario, &scenario.contact[0]), cone, 1e-12 * cone);
    make_two(FF_CONTACT_STOPS, false);
    assert_near(ff_effective_mass(&scenario, &scenario.contact[0]), 100.0, 0.0);
    make_two(FF_CONTACT_WALL, false);
    scenario.satellite[0].robot.kind = FF_ROBOT_IDEAL;
    assert_near(ff_effective_mass(&scenario, &scenario.contact[0]), 100.0, 1e-12);
    assert_near(ff_omega_tau(&scenario), 0.0, 0.0);
}

static double metric_of(const char *path, const ff_metrics *metrics, const ff_ideal_result *ideal,
                        const char *text) {
    ff_metric metric;
    char message[1024];
    if (ff_metric_parse(&scenario, "m", path, &metric, message, sizeof message) != FF_OK)
        fail_msg("%s: %s", path, message);
    return ff_metric_value(&metric, metrics, ideal, text);
}

static void test_where_nothing_is_defined_nothing_is_said(void **state) {
    (void)state;
    ff_metrics metrics = {.scenario = &scenario};
    static const char *const paths[] = {"omega_tau", "restitution", "causal_limit", "noise_limit",
                                        "samples_in_contact"};
    make_two(FF_CONTACT_CONE, true); /* no single normal */
    assert_true(isnan(ff_limit_value(FF_LIMIT_CAUSAL, &scenario)));
    scenario.contacts = 0;
    for (size_t i = 0; i < 5; i++)
        assert_true(isnan(metric_of(paths[i], &metrics, NULL, NULL)));
    /* overdamped: the contact ends only in the limit */
    make_two(FF_CONTACT_WALL, false);
    scenario.contact[0].satellite_damping = scenario.contact[0].damping = 3.0 * sqrt(3000.0 * 100.0);
    for (size_t i = 1; i < 5; i++)
        if (i != 2)
            assert_true(isnan(metric_of(paths[i], &metrics, NULL, NULL)));
    /* what needs the reference, where there is none */
    static const char *const against[] = {"rebound_error", "rebound_ratio", "peak_force_ratio",
                                          "velocity_error", "angular_velocity_error"};
    for (size_t i = 0; i < 5; i++)
        assert_true(isnan(metric_of(against[i], &metrics, NULL, NULL)));
    assert_true(isnan(metric_of("energy_ratio", &metrics, NULL, NULL))); /* all at rest */
    assert_true(isnan(metric_of("counters.held", &metrics, NULL, NULL)));
    assert_near(metric_of("counters.held", &metrics, NULL, "{\"counters\": {\"held\": 4}}"), 4.0, 0.0);
    assert_near(metric_of("pass", &metrics, NULL, NULL), 0.0, 0.0);
    metrics.pass = true;
    assert_near(metric_of("pass", &metrics, NULL, NULL), 1.0, 0.0);
}

static void test_values_of_contacts_are_those_of_the_side_asked_for(void **state) {
    (void)state;
    make_two(FF_CONTACT_PAIR, true);
    scenario.contacts = 2;
    scenario.contact[1] = scenario.contact[0];
    scenario.contact[1].kind = FF_CONTACT_WALL;
    scenario.contact[1].against = -1;
    snprintf(scenario.contact[1].name, sizeof scenario.contact[1].name, "wall");
    ff_episode episode[3] = {{.contact = 1, .start = 0.5, .end = 0.7},
                             {.contact = 0,
                              .start = 1.0,
                              .end = 1.25,
                              .peak_force = {20, 21},
                              .peak_robot_force = 22,
                              .impulse = {{{1, 2, 3}}, {{-1, -2, -4}}},
                              .stiffness = 2900,
                              .damping = 98},
                             {.contact = 0, .start = 2.0, .end = FF_NAN}};
    for (int side = 0; side < 2; side++) {
        episode[1].before[side].velocity = ff_vec3_make(3 + side, 0, 4);
        episode[1].after[side].velocity = ff_vec3_make(0, -5 - side, 12);
        episode[1].after[side].omega = ff_vec3_make(0.1, 0.2, 0.3 + side);
    }
    ff_metrics metrics = {.scenario = &scenario, .episodes = 3, .episode = episode};
    metrics.body[0].initial_energy = 2.0;
    metrics.body[1].initial_energy = 1.0;
    metrics.body[0].max_energy = 2.5;
    metrics.body[1].max_energy = 2.0;
    metrics.rebound_error[1] = 0.125;
    metrics.peak_force_ratio[0] = 1.5;
    const struct {
        const char *path;
        double value;
    } cases[] = {{"satellites.a.contacts.0.start_s", 0.5}, /* the first of all that `a` takes part in */
                 {"satellites.b.contacts.0.start_s", 1.0}, /* the wall is none of b's */
                 {"satellites.a.contacts.touch.start_s", 1.0},
                 {"satellites.a.contacts.1.duration_s", 0.25},
                 {"satellites.a.contacts.2.end_s", FF_NAN},
                 {"satellites.a.contacts.3.start_s", FF_NAN}, /* there is none */
                 {"satellites.b.contacts.wall.start_s", FF_NAN},
                 {"satellites.a.contacts.1.speed_before_mps", 5.0},
                 {"satellites.a.contacts.1.speed_after_mps", 13.0},
                 {"satellites.a.contacts.1.velocity_before_mps.0", 3.0},
                 {"satellites.b.contacts.0.velocity_before_mps.0", 4.0},
                 {"satellites.b.contacts.0.velocity_after_mps.1", -6.0},
                 {"satellites.b.contacts.0.angular_velocity_after_radps.2", 1.3},
                 {"satellites.a.contacts.1.peak_force_N", 20.0},
                 {"satellites.b.contacts.0.peak_force_N", 21.0},
                 {"satellites.b.contacts.0.peak_robot_force_N", 22.0},
                 {"satellites.a.contacts.1.impulse_Ns.2", 3.0},
                 {"satellites.b.contacts.0.impulse_Ns.2", -4.0}, /* its own */
                 {"satellites.a.contacts.1.stiffness_Npm", 2900.0},
                 {"satellites.a.contacts.1.damping_Nspm", 98.0},
                 {"satellites.b.error_vs_ideal.rebound_speed_mps", 0.125},
                 {"satellites.a.error_vs_ideal.peak_force_ratio", 1.5},
                 {"energy_ratio", 1.5},
                 {"contacts", 3.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double value = metric_of(cases[i].path, &metrics, NULL, NULL);
        if (!(fabs(value - cases[i].value) < 1e-12 || (isnan(value) && isnan(cases[i].value))))
            fail_msg("%s is %.17g, not %.17g", cases[i].path, value, cases[i].value);
    }
    /* against the reference: both sides of a pair, the largest difference; the first for the ratio */
    ff_ideal_contact right[2] = {{.contact = 0, .start = 1.0, .end = 1.25},
                                 {.contact = 0, .start = 2.0, .end = FF_NAN}};
    right[0].after[0].velocity = ff_vec3_make(0, 0, 10);
    right[0].after[1].velocity = ff_vec3_make(0, 0, 12);
    ff_ideal_result ideal = {.bodies = 2, .contacts = 2, .contact = right};
    assert_near(metric_of("rebound_error", &metrics, &ideal, NULL), 3.0,
                1e-12); /* 13 against 10, 13.4 against 12 */
    assert_near(metric_of("rebound_ratio", &metrics, &ideal, NULL), 1.3, 1e-12);
    right[1].end = 2.5; /* the reference left it, the run did not: no rebound speed, no error of it */
    assert_true(isnan(metric_of("rebound_error", &metrics, &ideal, NULL)));
    metrics.episodes = 2;
    assert_true(isnan(metric_of("rebound_error", &metrics, &ideal, NULL)));
}

static void test_json_lookup_finds_numbers_by_path(void **state) {
    (void)state;
    const char json[] =
        "{\"a\": {\"b\": [1, {\"c\": 2.5, \"d\": \"x,}\\\"\"}, null], \"t\": true}, \"e\": -3}\n";
    double value = 0.0;
    assert_true(ff_json_lookup(json, "a.b.1.c", &value) && value == 2.5);
    assert_true(ff_json_lookup(json, "a.b.0", &value) && value == 1.0);
    assert_true(ff_json_lookup(json, "a.b.2", &value) && isnan(value));
    assert_true(ff_json_lookup(json, "a.t", &value) && value == 1.0);
    assert_true(ff_json_lookup(json, "e", &value) && value == -3.0);
    assert_false(ff_json_lookup(json, "a.b.3", &value));
    assert_false(ff_json_lookup(json, "a.b.1.d", &value));
    assert_false(ff_json_lookup(json, "f", &value));
    assert_false(ff_json_lookup(json, "e.f", &value));
    assert_false(ff_json_lookup(json, "a.b.x", &value)); /* a list has no names */
    assert_true(ff_json_lookup("{\"a\": false}", "a", &value) && value == 0.0);
    assert_true(ff_json_lookup("{ \"a\"\r\n:\t[ 1 , 2\n]}", "a.1", &value) && value == 2.0);
    for (size_t n = 0; n + 6 < sizeof json; n++) { /* cut before it: it is not there */
        char cut[sizeof json];
        memcpy(cut, json, n);
        cut[n] = 0;
        assert_false(ff_json_lookup(cut, "e", &value));
        assert_false(ff_json_lookup(cut, "a.b.9", &value));
    }
}

static void test_requirements_of_metrics(void **state) {
    (void)state;
    make_two(FF_CONTACT_PAIR, true);
    scenario.requirements =
        (ff_requirements){.velocity_error = 1, .angular_velocity_error = 2, .peak_force_ratio = 3};
    static const struct {
        const char *path;
        double limit;
    } cases[] = {{"rebound_error", 1},
                 {"velocity_error", 1},
                 {"angular_velocity_error", 2},
                 {"peak_force_ratio", 3},
                 {"satellites.a.error_vs_ideal.rebound_speed_mps", 1},
                 {"satellites.a.error_vs_ideal.peak_force_ratio", 3},
                 {"satellites.a.error_vs_ideal.velocity_mps", 1},
                 {"satellites.a.error_vs_ideal.angular_velocity_radps", 2},
                 {"satellites.a.error_vs_ideal.position_m", 0},
                 {"satellites.a.contacts.0.start_s", 0},
                 {"satellites.a.final.kinetic_energy_J", 0},
                 {"contacts", 0}}; /* 0: none */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_metric metric;
        char message[1024];
        assert_int_equal(ff_metric_parse(&scenario, "m", cases[i].path, &metric, message, sizeof message),
                         FF_OK);
        const double limit = ff_metric_requirement(&metric, &scenario);
        if (!(cases[i].limit > 0 ? limit == cases[i].limit : isnan(limit)))
            fail_msg("%s: %g", cases[i].path, limit);
    }
    char longer[400];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    const struct {
        const char *name, *path, *says;
    } bad[] = {{"m", longer, "is too long"},
               {longer, "contacts", "is too long"},
               {"m", "contacts.4", "no number 'contacts.4'"},
               {"m", "satellites.a.final.position_m.3", "is a list"},
               {"m", "satellites.a.final.position_m.x", "is a list"},
               {"m", "satellites.a.final.position_m.00", "is a list"},
               {"m", "satellites.a", "no satellite is named 'a'"}, /* what of it? */
               {"m", "satellites.c.final", "allowed: a, ..."},
               {"m", "satellites.a.contacts.0", "names no contact's value"},
               {"m", "satellites.a.contacts.-1.start_s", "no contact is named '-1'"},
               {"m", "timing.cycle_max_ns", "times differ"},
               {"m", "status", "it is text"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ff_metric metric;
        char message[1024];
        assert_int_equal(
            ff_metric_parse(&scenario, bad[i].name, bad[i].path, &metric, message, sizeof message),
            FF_ERR_FORMAT);
        if (!strstr(message, bad[i].says))
            fail_msg("%s: %s", bad[i].path, message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_follow_from_the_contact),
        cmocka_unit_test(test_direct_limit_is_where_lasting_contact_begins_to_grow),
        cmocka_unit_test(test_noise_limit_is_the_bound_of_cramer_and_rao),
        cmocka_unit_test(test_two_satellites_meet_as_one_of_the_reduced_mass_meets_a_wall),
        cmocka_unit_test(test_where_nothing_is_defined_nothing_is_said),
        cmocka_unit_test(test_values_of_contacts_are_those_of_the_side_asked_for),
        cmocka_unit_test(test_json_lookup_finds_numbers_by_path),
        cmocka_unit_test(test_requirements_of_metrics),
        cmocka_unit_test(test_contour_lies_on_the_level),
        cmocka_unit_test(test_contour_closes_a_ring),
        cmocka_unit_test(test_map_draws_the_limit_in_its_place),
        cmocka_unit_test(test_curves_draw_the_limit_and_its_crossing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
