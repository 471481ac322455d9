/* Limits that a scenario sets by itself, against integration and the equations they come from; and the lines
 * that pictures draw of them. */
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
    snprintf(c->method[0].label, sizeof c->method[0].label, "direct");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_follow_from_the_contact),
        cmocka_unit_test(test_direct_limit_is_where_lasting_contact_begins_to_grow),
        cmocka_unit_test(test_noise_limit_is_the_bound_of_cramer_and_rao),
        cmocka_unit_test(test_contour_lies_on_the_level),
        cmocka_unit_test(test_contour_closes_a_ring),
        cmocka_unit_test(test_map_draws_the_limit_in_its_place),
        cmocka_unit_test(test_curves_draw_the_limit_and_its_crossing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
