#include "study/delay_margin.h"

#include "text/file.h"

#include <stdio.h>

static void number(FILE *f, double value) {
    if (isfinite(value))
        fprintf(f, ",%.9g", value);
    else
        fputc(',', f); /* empty: not known */
}

ff_status ff_delay_margin_write_csv(const ff_delay_margin *out, const char *path) {
    ff_file_whole whole;
    const ff_status status = ff_file_begin(path, &whole);
    if (status != FF_OK)
        return status;
    FILE *f = whole.file;
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
    return ff_file_end(&whole, true);
}
