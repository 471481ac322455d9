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
