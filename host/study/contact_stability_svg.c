#include "study/contact_stability.h"

#include <stdio.h>

enum { WIDTH = 860, HEIGHT = 340, LEFT = 60, TOP = 40, PLOT = 330, TALL = 240, SECOND = 490, POINTS = 300 };

static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

static void frame(FILE *f, int x, const char *title, const char *horizontal) {
    fprintf(f,
            "<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#999'/>\n"
            "<text x='%d' y='%d'>%s</text>\n<text x='%d' y='%d' text-anchor='middle'>%s</text>\n",
            x, TOP, PLOT, TALL, x, TOP - 14, title, x + PLOT / 2, TOP + TALL + 36, horizontal);
}

static void label(FILE *f, double x, double y, const char *anchor, double value) {
    fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='%s' fill='#555'>%.3g</text>\n", x, y, anchor, value);
}

/* Left |T(jw)| of (34) on two logarithmic axes, right the growth rate over Q with the band of stable ratios.
 */
ff_status ff_contact_stability_write_svg(const ff_contact_stability_config *config,
                                         const ff_contact_stability *out, const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        return FF_ERR_IO;
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' "
            "font-size='12'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            WIDTH, HEIGHT);

    static const double part[] = {0.2, 0.4, 0.6, 0.8};
    static const char *const colour[] = {"#c6dbef", "#9ecae1", "#6baed6", "#3182bd"};
    const double q_top = isfinite(out->q_high) ? out->q_high : out->q_critical;
    const double scale = sqrt(config->position_gain), w_low = 0.1 * scale, w_high = 100.0 * scale;
    const double t_low = 0.05, t_high = 20.0;
    frame(f, LEFT, "force transmissivity |T(j\xcf\x89)|", "\xcf\x89 [rad/s]");
    for (int decade = 0; decade <= 3; decade++)
        label(f, LEFT + PLOT * decade / 3.0, TOP + TALL + 16, "middle", w_low * pow(10.0, decade));
    for (int i = -1; i <= 1; i++) {
        const double t = pow(10.0, i);
        label(f, LEFT - 6, TOP + TALL * log(t_high / t) / log(t_high / t_low) + 4, "end", t);
    }
    for (int curve = 0; curve < 5; curve++) {
        const double q = curve < 4 ? part[curve] * q_top : config->inertia_ratio;
        if (isnan(q) || !(q > 0.0))
            continue;
        fprintf(f, "<polyline fill='none' stroke='%s' stroke-width='%s' points='",
                curve < 4 ? colour[curve] : "#d62728", curve < 4 ? "1" : "2");
        for (int i = 0; i <= POINTS; i++) {
            const double w = w_low * pow(w_high / w_low, (double)i / POINTS);
            const double t = clamp(cabs(ff_contact_stability_transmissivity(config, q, w)), t_low, t_high);
            fprintf(f, "%.1f,%.1f ", LEFT + PLOT * (double)i / POINTS,
                    TOP + TALL * log(t_high / t) / log(t_high / t_low));
        }
        fprintf(f, "'><title>Q = %.4g</title></polyline>\n", q);
    }

    const double q_end = 1.6 * fmax(q_top, isnan(config->inertia_ratio) ? 0.0 : config->inertia_ratio);
    double growth[61], low = -1e-9, high = 1e-9;
    for (int i = 0; i <= 60; i++) {
        growth[i] = FF_NAN;
        const double q = q_end * (i + 1) / 61.0;
        if (ff_contact_stability_growth(config, q, &growth[i]) != FF_OK)
            continue;
        growth[i] = clamp(growth[i], -config->velocity_gain, config->velocity_gain);
        low = fmin(low, growth[i]);
        high = fmax(high, growth[i]);
    }
    frame(f, SECOND, "growth rate [1/s] over the inertia ratio", "Q = M_s / M_r");
    if (!isnan(out->q_low)) {
        const double x0 = SECOND + PLOT * clamp(out->q_low / q_end, 0, 1),
                     x1 = SECOND + PLOT * clamp(q_top / q_end, 0, 1);
        fprintf(f, "<rect x='%.1f' y='%d' width='%.1f' height='%d' fill='#2ca02c' fill-opacity='0.12'/>\n",
                x0, TOP, x1 - x0, TALL);
        label(f, x0, TOP + TALL + 16, "middle", out->q_low);
        label(f, x1, TOP + TALL + 16, "middle", q_top);
    }
    const double zero = TOP + TALL * high / (high - low);
    fprintf(f, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#999'/>\n", SECOND, SECOND + PLOT, zero,
            zero);
    label(f, SECOND - 6, zero + 4, "end", 0.0);
    label(f, SECOND - 6, TOP + TALL, "end", low);
    label(f, SECOND - 6, TOP + 10, "end", high);
    fprintf(f, "<polyline fill='none' stroke='#1f77b4' stroke-width='2' points='");
    for (int i = 0; i <= 60; i++)
        if (!isnan(growth[i]))
            fprintf(f, "%.1f,%.1f ", SECOND + PLOT * (i + 1) / 61.0,
                    TOP + TALL * (high - growth[i]) / (high - low));
    fprintf(f, "'/>\n");
    if (!isnan(out->growth_rate))
        fprintf(f, "<circle cx='%.1f' cy='%.1f' r='4' fill='#d62728'/>\n",
                SECOND + PLOT * config->inertia_ratio / q_end,
                TOP + TALL * clamp((high - out->growth_rate) / (high - low), 0, 1));
    fprintf(f, "</svg>\n");
    const bool failed = ferror(f) != 0;
    return fclose(f) != 0 || failed ? FF_ERR_IO : FF_OK;
}
