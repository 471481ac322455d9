#include "study/delay_margin.h"

#include <stdio.h>

static void number(FILE *f, double value) {
    if (isfinite(value))
        fprintf(f, ",%.9g", value);
    else
        fputc(',', f); /* empty: not known */
}

ff_status ff_delay_margin_write_csv(const ff_delay_margin *out, const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        return FF_ERR_IO;
    fputs("method,stiffness [N/m],delay [s],w_tau,rebound_ideal,rebound,peak_force [N],peak_force_ratio,"
          "velocity_error [m/s],angular_velocity_error [rad/s],met\n",
          f);
    for (int i = 0; i < out->cells; i++) {
        const ff_delay_cell *c = &out->cell[i];
        fputs(c->method->name, f);
        number(f, c->stiffness);
        number(f, c->delay);
        number(f, c->w_tau);
        number(f, c->rebound_ideal);
        number(f, c->run.rebound);
        number(f, c->run.peak_force);
        number(f, c->run.peak_force_ratio);
        number(f, c->run.velocity_error);
        number(f, c->run.angular_velocity_error);
        fprintf(f, ",%d\n", c->run.met ? 1 : 0);
    }
    const bool bad = ferror(f) != 0;
    return fclose(f) == 0 && !bad ? FF_OK : FF_ERR_IO;
}

enum { PANEL = 400, TOP = 56, LEFT = 64, SIDE = 300, BELOW = 60 };

static void escaped(FILE *f, const char *text) {
    for (; *text; text++)
        if (*text == '<' || *text == '&' || *text == '>')
            fprintf(f, "&#%d;", *text);
        else
            fputc(*text, f);
}

/* One panel a method: delay to the right, stiffness upward, green where the requirements hold; the number is
 * the first rebound, the title of a cell says the rest. */
ff_status ff_delay_margin_write_svg(const ff_scenario *scenario, const ff_delay_margin *out,
                                    const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        return FF_ERR_IO;
    const int n = out->map;
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' "
            "font-size='11'>\n<rect width='100%%' height='100%%' fill='white'/>\n<text x='%d' y='18' "
            "font-size='14'>",
            PANEL * out->methods, TOP + SIDE + BELOW, LEFT);
    escaped(f, scenario->name);
    fputs(": go / no go over delay and contact stiffness; numbers: speed after over before</text>\n", f);
    for (int m = 0; m < out->methods && n > 0; m++) {
        const double x0 = PANEL * m + LEFT, size = (double)SIDE / n;
        const ff_delay_cell *panel = &out->cell[m * n * n];
        fprintf(f, "<text x='%.0f' y='%d' font-size='13' font-weight='bold'>%s</text>\n", x0, TOP - 10,
                out->method[m].method->name);
        for (int k = 0; k < n; k++) {
            for (int d = 0; d < n; d++) {
                const ff_delay_cell *c = &panel[k * n + d];
                const double x = x0 + size * d, y = TOP + SIDE - size * (k + 1);
                fprintf(f,
                        "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='%s' "
                        "stroke='white'><title>%.4g N/m, %.4g ms, w tau %.3g: force %.3g times ideal, "
                        "velocity error %.3g m/s</title></rect>\n",
                        x, y, size, size, c->run.met ? "#a6d96a" : "#f4a582", c->stiffness, 1e3 * c->delay,
                        c->w_tau, c->run.peak_force_ratio, c->run.velocity_error);
                if (isfinite(c->run.rebound) && n <= 12)
                    fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='middle'>%.2f</text>\n", x + size / 2,
                            y + size / 2 + 4, c->run.rebound);
            }
            fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='end' fill='#555'>%.3g</text>\n", x0 - 4,
                    TOP + SIDE - size * (k + 0.5) + 4, panel[k * n].stiffness);
        }
        for (int d = 0; d < n; d++)
            fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle' fill='#555'>%.3g</text>\n",
                    x0 + size * (d + 0.5), TOP + SIDE + 16, 1e3 * panel[d].delay);
        fprintf(f,
                "<text x='%.1f' y='%d' text-anchor='middle'>delay [ms]</text>\n<text x='%.1f' y='%.1f' "
                "text-anchor='middle' transform='rotate(-90 %.1f %.1f)'>stiffness [N/m]</text>\n",
                x0 + SIDE / 2.0, TOP + SIDE + 36, x0 - 48, TOP + SIDE / 2.0, x0 - 48, TOP + SIDE / 2.0);
    }
    fputs("</svg>\n", f);
    const bool bad = ferror(f) != 0;
    return fclose(f) == 0 && !bad ? FF_OK : FF_ERR_IO;
}
