/* The maps and curves of the analyses on the report's own page: zoom, values under the cursor, light and
 * dark. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/contact_stability.h"
#include "study/delay_margin.h"
#include "report/study.h"

/* Edges halfway between the places, as far beyond the ends. */
static void edges(const double *at, int count, bool log, double *edge) {
    for (int i = 0; i + 1 < count; i++)
        edge[i + 1] = log ? sqrt(at[i] * at[i + 1]) : 0.5 * (at[i] + at[i + 1]);
    const double last = at[count - 1];
    if (count == 1) {
        edge[0] = log ? at[0] / 1.1 : at[0] - 0.5;
        edge[1] = log ? at[0] * 1.1 : at[0] + 0.5;
        return;
    }
    edge[0] = log ? at[0] * at[0] / edge[1] : 2.0 * at[0] - edge[1];
    edge[count] = log ? last * last / edge[count - 1] : 2.0 * last - edge[count - 1];
}

static double velocity_error(const ff_delay_cell *c) {
    return c->run.velocity_error;
}
static double angular_error(const ff_delay_cell *c) {
    return c->run.angular_velocity_error;
}
static double force_ratio(const ff_delay_cell *c) {
    return c->run.peak_force_ratio;
}
static double rebound(const ff_delay_cell *c) {
    return c->run.rebound;
}
static double met(const ff_delay_cell *c) {
    return c->run.met ? 0.0 : 1.0;
}

ff_status ff_delay_margin_write_html(const ff_scenario *scenario, const ff_delay_margin *out,
                                     const char *path) {
    const int n = out->map;
    const ff_requirements *r = &scenario->requirements;
    const struct {
        const char *title, *note, *unit;
        double (*of)(const ff_delay_cell *cell);
        double limit;
    } shown[] = {
        {"go or no go", "whether every requirement is met", "", met, 0.5},
        {"velocity error against ideal", "largest of the run", "m/s", velocity_error, r->velocity_error},
        {"angular velocity error against ideal", "largest of the run", "rad/s", angular_error,
         r->angular_velocity_error},
        {"peak force over ideal", "largest of all contacts", "", force_ratio, r->peak_force_ratio},
        {"rebound", "speed after over before, first contact", "", rebound, FF_NAN},
    };
    char lead[512];
    ff_delay_margin_sentence(scenario, out, lead, sizeof lead);
    const bool go = strncmp(lead, "GO", 2) == 0;
    ff_study study;
    const char *reason = strstr(lead, ": "); /* the word stands before it on the page */
    ff_study_open(&study, go ? FF_STUDY_GOOD : FF_STUDY_BAD, go ? "Go" : "No go", reason ? reason + 2 : lead);
    static const char *const heads[] = {"Method", "#Rebound", "#Peak force over ideal", "#Largest delay (ms)",
                                        "Requirements now"};
    ff_study_table(&study, "Methods", false, heads, 5);
    for (int m = 0; m < out->methods; m++) {
        const ff_delay_method *at = &out->method[m];
        char number[3][32];
        snprintf(number[0], sizeof number[0], "%.4g", at->now.rebound);
        snprintf(number[1], sizeof number[1], "%.4g", at->now.peak_force_ratio);
        snprintf(number[2], sizeof number[2], "%s%.4g", at->at_least ? "at least " : "",
                 1e3 * at->largest_delay);
        const char *const cell[] = {at->method->name, number[0], number[1], number[2],
                                    at->now.met ? "met" : "not met"};
        ff_study_row(&study, cell, 5);
    }
    ff_study_table_end(&study);
    double delay[FF_DELAY_MAP], stiffness[FF_DELAY_MAP], value[FF_DELAY_MAP * FF_DELAY_MAP],
        x_edge[FF_DELAY_MAP + 1], y_edge[FF_DELAY_MAP + 1];
    for (int i = 0; i < n; i++) {
        delay[i] = 1e3 * out->cell[i].delay;
        stiffness[i] = out->cell[i * n].stiffness;
    }
    if (n > 0) {
        edges(delay, n, false, x_edge);
        edges(stiffness, n, true, y_edge);
    }
    for (size_t s = 0; n > 0 && s < sizeof shown / sizeof *shown; s++) {
        double least = FF_INF, most = 0.0;
        for (int i = 0; i < out->cells; i++) {
            const double v = shown[s].of(&out->cell[i]);
            least = isfinite(v) ? fmin(least, v) : least;
            most = isfinite(v) ? fmax(most, v) : most;
        }
        const ff_study_map map = {.title = shown[s].title,
                                  .note = shown[s].note,
                                  .unit = shown[s].unit,
                                  .log = least > 0.0 && most > 50.0 * least,
                                  .limit = isfinite(shown[s].limit) ? shown[s].limit : FF_NAN,
                                  .x = {"delay", "ms", false, n, delay, x_edge},
                                  .y = {"stiffness", "N/m", true, n, stiffness, y_edge},
                                  .point = {1e3 * out->robot_delay, out->stiffness}};
        ff_study_map_open(&study, &map);
        for (int m = 0; m < out->methods; m++) {
            for (int i = 0; i < n * n; i++) {
                const double v = shown[s].of(&out->cell[m * n * n + i]);
                value[i] = isfinite(v) ? v : FF_NAN;
            }
            ff_study_panel(&study, out->method[m].method->name, value, n, n);
        }
        ff_study_map_end(&study);
    }
    return ff_study_write(&study, path, scenario->name);
}

ff_status ff_contact_stability_write_html(const ff_contact_stability_config *config,
                                          const ff_contact_stability *out, const char *path) {
    enum { POINTS = 240, RATIOS = 120 };
    char lead[256];
    snprintf(
        lead, sizeof lead,
        "Contact stability of an emulation: inertia ratios Q from %.4g to %.4g are stable, critical %.4g.",
        out->q_low, out->q_high, out->q_critical);
    const double q_top = isfinite(out->q_high) ? out->q_high : out->q_critical;
    const double scale = sqrt(config->position_gain);
    const double asked = config->inertia_ratio;
    const bool stable = asked >= out->q_low && asked <= out->q_high;
    ff_study study;
    ff_study_open(&study,
                  isnan(asked) ? FF_STUDY_NONE
                  : stable     ? FF_STUDY_GOOD
                               : FF_STUDY_BAD,
                  isnan(asked) ? "Not judged: no inertia ratio was given"
                  : stable     ? "Stable"
                               : "Unstable",
                  lead);
    double x[POINTS], y[POINTS];
    const ff_study_curves transmissivity = {.title = "force transmissivity |T(jw)|",
                                            .unit = "",
                                            .log = true,
                                            .limit = FF_NAN,
                                            .x_name = "frequency",
                                            .x_unit = "rad/s",
                                            .x_log = true,
                                            .point = FF_NAN};
    ff_study_curves_open(&study, &transmissivity);
    for (int curve = 0; curve < 5; curve++) {
        const double q = curve < 4 ? 0.2 * (curve + 1) * q_top : config->inertia_ratio;
        if (isnan(q) || !(q > 0.0))
            continue;
        for (int i = 0; i < POINTS; i++) {
            x[i] = 0.1 * scale * pow(1000.0, (double)i / (POINTS - 1));
            const double t = cabs(ff_contact_stability_transmissivity(config, q, x[i]));
            y[i] = t > 1e-6 ? t : FF_NAN;
        }
        char label[64];
        snprintf(label, sizeof label, "Q = %.4g%s", q, curve < 4 ? "" : " (asked)");
        ff_study_line(&study, label, curve, false, x, y, POINTS);
    }
    ff_study_curves_end(&study);
    const ff_study_curves growth = {.title = "growth rate over the inertia ratio",
                                    .note = "above zero the contact is unstable",
                                    .unit = "1/s",
                                    .limit = FF_NAN,
                                    .x_name = "inertia ratio Q",
                                    .x_unit = "",
                                    .point = asked};
    const double q_end = 1.6 * fmax(q_top, isnan(config->inertia_ratio) ? 0.0 : config->inertia_ratio);
    for (int i = 0; i < RATIOS; i++) {
        x[i] = q_end * (i + 1) / RATIOS;
        if (ff_contact_stability_growth(config, x[i], &y[i]) != FF_OK)
            y[i] = FF_NAN;
    }
    ff_study_curves_open(&study, &growth);
    ff_study_line(&study, "growth rate", 0, false, x, y, RATIOS);
    const double ends[2] = {x[0], x[RATIOS - 1]}, zero[2] = {0.0, 0.0};
    ff_study_line(&study, "zero", 2, false, ends, zero, 2);
    ff_study_curves_end(&study);
    return ff_study_write(&study, path, "Contact stability");
}
