#include "fit/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ff_log_table_free(ff_log_table *table) {
    free(table->name);
    free(table->value);
    *table = (ff_log_table){0};
}

int ff_log_table_column(const ff_log_table *table, const char *name) {
    for (int i = 0; i < table->columns; i++)
        if (strcmp(table->name[i], name) == 0)
            return i;
    return -1;
}

ff__group ff__find(const ff_log_table *t, int body, const char *what) {
    char name[2 * FF_LOG_NAME];
    snprintf(name, sizeof name, "%s.%s", t->body[body], what);
    const int column = ff_log_table_column(t, name);
    return (ff__group){column < 0 ? NULL : t->value + column, (size_t)t->columns};
}

bool ff__find_motion(const ff_log_table *t, int body, ff__motion *m) {
    *m = (ff__motion){ff__find(t, body, "robot.position.x"), ff__find(t, body, "robot.attitude.w"),
                      ff__find(t, body, "robot.velocity.x"), ff__find(t, body, "robot.angular_velocity.x"),
                      ff__find(t, body, "force_measured.x"), ff__find(t, body, "torque_measured.x")};
    return m->p.at && m->q.at && m->v.at && m->w.at && m->f.at && m->t.at;
}

double ff__residual_variance(double sum, double lagged, size_t count, int fitted) {
    const double n = (double)count;
    if (!(sum > 0.0) || n <= fitted + 2.0)
        return 0.0;
    const double rho = fmin(fmax((lagged / sum + fitted / n) / (1.0 - (fitted + 2.0) / n), 0.0), 0.999);
    const double alike = (1.0 + rho) / (1.0 - rho);
    return sum / fmax(n - fitted * alike, 0.5 * n) * alike;
}
