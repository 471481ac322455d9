/* report_sample KIND OUT.html: report files for the browser tests, from a small simulation of a satellite
 * that bounces between two walls behind a robot with delay.
 *
 * KIND: single (30 s, 4 ms, valid), failed (delay uncorrected), compare (three variants), hostile (names that
 * look like markup), long (48 s, 10 min with FF_TEST_LONG, 1 kHz), diverged (not finite at the end), raw
 * (single, uncompressed), tables (no series). Beside OUT.html stand OUT.html.f64 (all rows of the first run
 * as doubles), OUT.html.names (its columns, one per line) and OUT.html.json (its summary). The methods here
 * are toys; the program's own are in lib/. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "freefloat/base.h"
#include "report/html.h"

enum { HISTORY = 256, COLUMNS_MAX = 128, CONTACTS_MAX = 4096, TEXT = 256 };
static const double MASS = 280, WALL = 0.03, STIFFNESS = 2000, DAMPING = 5;
static const double INERTIA[3] = {18, 20, 22};
static const ff_vec3 TIP = {{0.12, -0.08, 0.0}};

typedef struct body {
    ff_vec3 x, v, w;
    ff_quat q;
} body;

typedef struct touch {
    bool on;
    double force;
} touch;

typedef struct contact {
    int wall;
    double start, end, before, after, peak, peak_robot;
} contact;

typedef struct table {
    char name[COLUMNS_MAX][TEXT];
    double row[COLUMNS_MAX];
    int columns, at;
    bool named;
} table;

/* The first cycle gives the columns their names, each cycle their values. */
static void put(table *t, double value, const char *format, const char *a, const char *b, const char *c) {
    if (!t->named)
        snprintf(t->name[t->at], TEXT, format, a, b, c);
    t->row[t->at++] = value;
}

static void put3(table *t, const char *body_name, const char *what, const char *unit, ff_vec3 v) {
    const char *axis[] = {"x", "y", "z"};
    char tail[64];
    for (int i = 0; i < 3; i++) {
        snprintf(tail, sizeof tail, "%s [%s]", axis[i], unit);
        put(t, v.a[i], "%s.%s.%s", body_name, what, tail);
    }
}

static void put_attitude(table *t, const char *body_name, const char *what, ff_quat q) {
    put(t, q.w, "%s.%s.%s", body_name, what, "w");
    put(t, q.x, "%s.%s.%s", body_name, what, "x");
    put(t, q.y, "%s.%s.%s", body_name, what, "y");
    put(t, q.z, "%s.%s.%s", body_name, what, "z");
}

static void put_body(table *t, const char *body_name, const char *prefix, const body *b) {
    char what[64];
    snprintf(what, sizeof what, "%sposition", prefix);
    put3(t, body_name, what, "m", b->x);
    snprintf(what, sizeof what, "%sattitude", prefix);
    put_attitude(t, body_name, what, b->q);
    snprintf(what, sizeof what, "%svelocity", prefix);
    put3(t, body_name, what, "m/s", b->v);
    if (strcmp(prefix, "robot.") != 0) {
        snprintf(what, sizeof what, "%sangular_velocity", prefix);
        put3(t, body_name, what, "rad/s", b->w);
    }
}

/* Walls at z = +-WALL touch the tip; force inertial, torque about the CoM in body axes. */
static void walls(const body *b, touch out[2], ff_vec3 *force, ff_vec3 *torque) {
    ff_vec3 arm = ff_quat_rotate(b->q, TIP);
    double z = b->x.z + arm.z;
    double vz = b->v.z + ff_quat_rotate(b->q, ff_vec3_cross(b->w, TIP)).z;
    double total = 0;
    for (int i = 0; i < 2; i++) {
        double side = i == 0 ? 1 : -1;
        double depth = side * z - WALL;
        double f = depth > 0 ? fmax(0, STIFFNESS * depth + DAMPING * side * vz) : 0;
        out[i] = (touch){.on = f > 0, .force = f};
        total -= side * f;
    }
    *force = ff_vec3_make(0, 0, total);
    *torque = ff_vec3_cross(TIP, ff_quat_rotate(ff_quat_conj(b->q), *force));
}

static void advance(body *b, ff_vec3 force, ff_vec3 torque, double dt) {
    b->v = ff_vec3_axpy(dt / MASS, force, b->v);
    b->x = ff_vec3_axpy(dt, b->v, b->x);
    ff_vec3 h = ff_vec3_make(INERTIA[0] * b->w.x, INERTIA[1] * b->w.y, INERTIA[2] * b->w.z);
    ff_vec3 rate = ff_vec3_sub(torque, ff_vec3_cross(b->w, h));
    for (int i = 0; i < 3; i++)
        b->w.a[i] += dt * rate.a[i] / INERTIA[i];
    b->q = ff_quat_unit(ff_quat_mul(b->q, ff_quat_exp(ff_vec3_scale(dt, b->w))));
}

static double energy(const body *b) {
    double e = 0.5 * MASS * ff_vec3_dot(b->v, b->v);
    for (int i = 0; i < 3; i++)
        e += 0.5 * INERTIA[i] * b->w.a[i] * b->w.a[i];
    return e;
}

static void json_string(FILE *f, const char *s) {
    putc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putc('\\', f);
        putc(*s, f);
    }
    putc('"', f);
}

static void json_number(FILE *f, double v) {
    if (isfinite(v))
        fprintf(f, "%.10g", v);
    else
        fputs("null", f);
}

typedef struct sample {
    const char *scenario, *satellite, *wall[2], *method;
    double cycle, delay, correction; /* share of the delay's error that the toy method takes away */
    long cycles;
    bool diverge;
} sample;

typedef struct result {
    ff_report_series *series;
    char *summary, *geometry;
} result;

static char *geometry_json(const sample *s) {
    char *json = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&json, &size);
    fputs("{\"satellites\":[{\"name\":", f);
    json_string(f, s->satellite);
    fprintf(
        f,
        ",\"mass_kg\":%g,\"inertia_kgm2\":[%g,%g,%g,0,0,0],\"points\":{\"com\":[0,0,0],\"tip\":[%g,%g,%g]},",
        MASS, INERTIA[0], INERTIA[1], INERTIA[2], TIP.x, TIP.y, TIP.z);
    fprintf(f, "\"robot\":{\"kind\":\"delay\",\"delay_s\":%g}}],\"contacts\":[", s->delay);
    for (int i = 0; i < 2; i++) {
        fprintf(f, "%s{\"name\":", i ? "," : "");
        json_string(f, s->wall[i]);
        fputs(",\"kind\":\"wall\",\"body\":", f);
        json_string(f, s->satellite);
        fprintf(f, ",\"against\":null,\"point\":[%g,%g,%g],\"at\":[0,0,%g],\"normal\":[0,0,%d]}", TIP.x,
                TIP.y, TIP.z, i ? -WALL : WALL, i ? 1 : -1);
    }
    fputs("]}", f);
    fclose(f);
    return json;
}

static char *summary_json(const sample *s, const body *first, const body *last, double max_energy,
                          double error, double angular_error, double peak_ratio, const contact *list,
                          int contacts, bool finite) {
    char *json = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&json, &size);
    fputs("{\"scenario\":", f);
    json_string(f, s->scenario);
    fputs(",\"method\":", f);
    json_string(f, s->method);
    fprintf(f, ",\"integrator\":\"euler\",\"cycle_s\":%g,\"cycles\":%ld,\"satellites\":{", s->cycle,
            s->cycles);
    json_string(f, s->satellite);
    fprintf(f, ":{\"initial\":{\"kinetic_energy_J\":%.10g},\"final\":{\"kinetic_energy_J\":", energy(first));
    json_number(f, finite ? energy(last) : FF_NAN);
    fputs("},\"max_kinetic_energy_J\":", f);
    json_number(f, max_energy);
    fputs(",\"contacts\":[", f);
    for (int i = 0; i < contacts; i++) {
        const contact *c = &list[i];
        fprintf(f, "%s{\"name\":", i ? "," : "");
        json_string(f, s->wall[c->wall]);
        fprintf(f, ",\"start_s\":%.10g,\"end_s\":", c->start);
        json_number(f, c->end);
        fputs(",\"speed_before_mps\":", f);
        json_number(f, c->before);
        fputs(",\"speed_after_mps\":", f);
        json_number(f, c->after);
        fprintf(f,
                ",\"peak_force_N\":%.10g,\"peak_robot_force_N\":%.10g,\"stiffness_Npm\":null,\"damping_"
                "Nspm\":null}",
                c->peak, c->peak_robot);
    }
    fputs("],\"passivity\":{\"observer_min_J\":[-0.0123],\"max_force_correction_N\":1.5,\"max_velocity_"
          "correction_mps\":0}",
          f);
    fprintf(f, ",\"robot\":{\"travel_m\":0.5,\"rotation_rad\":0.4,\"max_tracking_error_m\":%.6g}}},",
            s->delay * 0.025);
    fputs("\"timing\":{\"cycle_mean_ns\":2150,\"cycle_max_ns\":19800,\"real_time_factor\":1850},"
          "\"requirements\":[",
          f);
    const char *name[] = {"velocity_error", "angular_velocity_error", "peak_force_ratio"};
    double limit[] = {0.01, 0.0087, 1.2}, value[] = {error, angular_error, peak_ratio};
    bool pass = true;
    for (int i = 0; i < 3; i++) {
        bool met = finite && value[i] <= limit[i];
        pass = pass && met;
        fprintf(f, "%s{\"name\":\"%s\",\"limit\":%g,\"value\":", i ? "," : "", name[i], limit[i]);
        json_number(f, finite ? value[i] : FF_NAN);
        fprintf(f, ",\"met\":%s}", met ? "true" : "false");
    }
    fprintf(f, "],\"verdict\":\"%s\"}", pass ? "pass" : "fail");
    fclose(f);
    return json;
}

static result simulate(const sample *s, FILE *log, FILE *names) {
    static table t;
    static contact list[CONTACTS_MAX];
    static body history[HISTORY];
    memset(&t, 0, sizeof t);
    int contacts = 0, lag = (int)lround(s->delay / s->cycle), quiet[2] = {0, 0}, open[2] = {-1, -1};
    body b = {.x = ff_vec3_make(0, 0, -0.01),
              .v = ff_vec3_make(0.01, 0.015, 0.02),
              .w = ff_vec3_make(0.01, 0.02, 0.03)};
    b.q = ff_quat_identity();
    const body first = b;
    body ideal = b;
    ff_rng rng;
    ff_rng_seed(&rng, 7, 0);
    double exchanged = 0, delay_energy = 0, removed = 0, max_energy = 0, error_max = 0, angular_max = 0;
    double peak = 0, ideal_peak = 0;
    ff_report_series *series = NULL;
    result out = {0};
    for (long k = 0; k <= s->cycles; k++) {
        history[k % HISTORY] = b;
        body robot = k >= lag ? history[(k - lag) % HISTORY] : b;
        if (k < lag)
            robot.x = ff_vec3_axpy(-s->delay, b.v, b.x);
        touch at_robot[2], at_body[2];
        ff_vec3 force, torque, true_force, true_torque;
        walls(&robot, at_robot, &force, &torque);
        walls(&b, at_body, &true_force, &true_torque);
        ff_vec3 corrected = ff_vec3_axpy(s->correction, ff_vec3_sub(true_force, force), force);
        ff_vec3 corrected_torque = ff_vec3_axpy(s->correction, ff_vec3_sub(true_torque, torque), torque);
        double power = ff_vec3_dot(force, b.v) + ff_vec3_dot(torque, b.w);
        double power_robot = ff_vec3_dot(force, robot.v) + ff_vec3_dot(torque, robot.w);
        double power_corrected = ff_vec3_dot(corrected, b.v) + ff_vec3_dot(corrected_torque, b.w);
        exchanged += s->cycle * power_robot;
        delay_energy += s->cycle * (power - power_robot);
        removed += s->cycle * (power_corrected - power);
        double t_k = (double)k * s->cycle;
        for (int i = 0; i < 2; i++) {
            bool on = at_robot[i].on || (s->correction > 0 && at_body[i].on);
            quiet[i] = on ? 0 : quiet[i] + 1;
            if (on && open[i] < 0 && contacts < CONTACTS_MAX) {
                open[i] = contacts;
                list[contacts++] = (contact){
                    .wall = i, .start = t_k, .end = FF_NAN, .before = ff_vec3_norm(b.v), .after = FF_NAN};
            }
            if (open[i] >= 0) {
                contact *c = &list[open[i]];
                c->peak_robot = fmax(c->peak_robot, at_robot[i].force);
                c->peak = fmax(c->peak, ff_vec3_norm(corrected));
                if (quiet[i] == 5) {
                    c->end = t_k - 4 * s->cycle;
                    c->after = ff_vec3_norm(b.v);
                    open[i] = -1;
                }
            }
            peak = fmax(peak, at_robot[i].force);
        }
        double error = ff_vec3_norm(ff_vec3_sub(b.v, ideal.v)),
               angular = ff_vec3_norm(ff_vec3_sub(b.w, ideal.w));
        error_max = fmax(error_max, error);
        angular_max = fmax(angular_max, angular);
        max_energy = fmax(max_energy, energy(&b));
        const char *n = s->satellite;
        ff_quat to_body = ff_quat_conj(b.q);
        t.at = 0;
        put(&t, t_k, "t [s]%s%s%s", "", "", "");
        put_body(&t, n, "", &b);
        put_body(&t, n, "ideal.", &ideal);
        put_body(&t, n, "robot.", &robot);
        put3(&t, n, "force_measured", "N", ff_quat_rotate(to_body, force));
        put3(&t, n, "torque_measured", "N m", torque);
        put3(&t, n, "force_corrected", "N", ff_quat_rotate(to_body, corrected));
        put3(&t, n, "torque_corrected", "N m", corrected_torque);
        put3(&t, n, "velocity_correction", "m/s", ff_vec3_zero());
        put3(&t, n, "angular_velocity_correction", "rad/s", ff_vec3_zero());
        put(&t, energy(&b), "%s.energy.%s [%s]", n, "kinetic", "J");
        put(&t, exchanged, "%s.energy.%s [%s]", n, "exchanged", "J");
        put(&t, delay_energy, "%s.energy.%s [%s]", n, "delay", "J");
        put(&t, removed, "%s.energy.%s [%s]", n, "force_controller", "J");
        put(&t, 0, "%s.energy.%s [%s]", n, "velocity_controller", "J");
        put(&t, energy(&b) - energy(&first) - exchanged - delay_energy - removed, "%s.energy.%s [%s]", n,
            "integration", "J");
        put(&t, delay_energy + removed, "%s.observer.%s [%s]", n, "0", "J");
        put(&t, error, "%s.error.%s [%s]", n, "velocity", "m/s");
        put(&t, angular, "%s.error.%s [%s]", n, "angular_velocity", "rad/s");
        for (int i = 0; i < 2; i++) {
            put(&t, at_robot[i].force, "contact.%s.force [%s]%s", s->wall[i], "N", "");
            put(&t, at_robot[i].on, "contact.%s.touching%s%s", s->wall[i], "", "");
        }
        put(&t, 1900 * exp(0.12 * fabs(ff_rng_normal(&rng))) + (ff_rng_uniform(&rng) < 0.002 ? 9000 : 0),
            "timing.compute [ns]%s%s%s", "", "", "");
        if (s->diverge && k > s->cycles * 9 / 10)
            for (int i = 1; i < t.at; i++)
                t.row[i] = k % 2 ? FF_NAN : HUGE_VAL;
        if (!t.named) {
            t.columns = t.at;
            t.named = true;
            const char *pointers[COLUMNS_MAX];
            for (int i = 0; i < t.columns; i++)
                pointers[i] = t.name[i];
            series = ff_report_series_create(t.columns, pointers);
            for (int i = 0; names && i < t.columns; i++)
                fprintf(names, "%s\n", t.name[i]);
        }
        if (!series || ff_report_add_row(series, t.row) != FF_OK)
            exit(1);
        if (log)
            fwrite(t.row, sizeof t.row[0], (size_t)t.columns, log);
        if (k == s->cycles)
            break;
        advance(&b, corrected, corrected_torque, s->cycle);
        for (int i = 0; i < 20; i++) {
            touch touched[2];
            ff_vec3 f, m;
            walls(&ideal, touched, &f, &m);
            ideal_peak = fmax(ideal_peak, fmax(touched[0].force, touched[1].force));
            advance(&ideal, f, m, s->cycle / 20);
        }
    }
    out.series = series;
    out.summary = summary_json(s, &first, &b, max_energy, error_max, angular_max,
                               ideal_peak > 0 ? peak / ideal_peak : 1, list, contacts, !s->diverge);
    out.geometry = geometry_json(s);
    return out;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr,
                "usage: report_sample single|failed|compare|hostile|long|diverged|raw|tables OUT.html\n");
        return 2;
    }
    const char *kind = argv[1], *path = argv[2];
    sample s = {.scenario = "bouncing-client",
                .satellite = "client",
                .wall = {"upper", "lower"},
                .method = "blend",
                .cycle = 0.004,
                .delay = 0.040,
                .correction = 0.995,
                .cycles = 7500};
    const char *title = "bouncing-client, blend";
    if (!strcmp(kind, "failed")) {
        s.correction = 0;
        s.method = "none";
        title = "bouncing-client, none";
    } else if (!strcmp(kind, "hostile")) {
        s.scenario = title = "<img src=x onerror=alert(1)>";
        s.satellite = "<b>sat</b></script><script>alert(2)</script>";
        s.wall[0] = "\"><svg onload=alert(3)>";
        s.method = "<!--<script>";
    } else if (!strcmp(kind, "long")) {
        s.cycle = 0.001;
        s.cycles = getenv("FF_TEST_LONG") ? 600000 : 48000;
    } else if (!strcmp(kind, "diverged")) {
        s.diverge = true;
        s.cycles = 2000;
    }
    char name[4096];
    snprintf(name, sizeof name, "%s.f64", path);
    FILE *log = fopen(name, "wb");
    snprintf(name, sizeof name, "%s.names", path);
    FILE *names = fopen(name, "w");
    snprintf(name, sizeof name, "%s.json", path);
    FILE *summary = fopen(name, "w");
    if (!log || !names || !summary)
        return 1;
    bool compare = !strcmp(kind, "compare");
    int n = compare ? 3 : 1;
    const double correction[] = {0, 0.9, 0.995};
    const char *label[] = {"none", "blend:share=0.9", "blend:share=0.995"};
    ff_report_run runs[3] = {0};
    result results[3] = {0};
    for (int i = 0; i < n; i++) {
        if (compare) {
            s.correction = correction[i];
            s.method = i ? "blend" : "none";
        }
        results[i] = simulate(&s, i == 0 ? log : NULL, i == 0 ? names : NULL);
        runs[i] = (ff_report_run){.label = compare ? label[i] : s.method,
                                  .summary = results[i].summary,
                                  .series = strcmp(kind, "tables") ? results[i].series : NULL,
                                  .geometry = results[i].geometry};
    }
    fputs(results[0].summary, summary);
    ff_report_options options = {.raw = !strcmp(kind, "raw")};
    ff_status status =
        ff_report_write_with(path, compare ? "bouncing-client, three variants" : title, runs, n, &options);
    for (int i = 0; i < n; i++) {
        ff_report_series_destroy(results[i].series);
        free(results[i].summary);
        free(results[i].geometry);
    }
    bool failed = fclose(log) | fclose(names) | fclose(summary);
    if (status)
        fprintf(stderr, "%s: %s\n", path, ff_status_text(status));
    return status || failed ? 1 : 0;
}
