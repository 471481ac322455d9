#include "report/geometry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_string(FILE *f, const char *s) {
    putc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20)
            fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void put_number(FILE *f, double value) {
    if (isfinite(value))
        fprintf(f, "%.9g", value);
    else
        fputs("null", f);
}

static void put_vector(FILE *f, const char *key, const double *v, int n) {
    fprintf(f, ",\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        if (i)
            putc(',', f);
        put_number(f, v[i]);
    }
    putc(']', f);
}

static void put_vec3(FILE *f, const char *key, ff_vec3 v) {
    double a[3] = {v.x, v.y, v.z};
    put_vector(f, key, a, 3);
}

static const char *robot_name(ff_robot_kind kind) {
    static const char *const name[] = {"ideal",  "delay",  "lag",    "limited",
                                       "joints", "wrench", "mujoco", "kuka-rsi"};
    return (size_t)kind < sizeof name / sizeof *name ? name[kind] : "unknown";
}

static void put_satellite(FILE *f, const ff_satellite *s) {
    const ff_mat3 *j = &s->rigid.inertia;
    double inertia[6] = {j->m[0][0], j->m[1][1], j->m[2][2], j->m[0][1], j->m[0][2], j->m[1][2]};
    fputs("{\"name\":", f);
    put_string(f, s->name);
    fputs(",\"mass_kg\":", f);
    put_number(f, s->rigid.mass);
    put_vector(f, "inertia_kgm2", inertia, 6);
    fputs(",\"points\":{", f);
    for (int i = 0; i < s->points; i++) {
        if (i)
            putc(',', f);
        put_string(f, s->point[i].name);
        fputs(":[", f);
        for (int k = 0; k < 3; k++) {
            if (k)
                putc(',', f);
            put_number(f, k == 0 ? s->point[i].r.x : k == 1 ? s->point[i].r.y : s->point[i].r.z);
        }
        putc(']', f);
    }
    fprintf(f, "},\"robot\":{\"kind\":\"%s\",\"delay_s\":", robot_name(s->robot.kind));
    put_number(f, s->robot.delay);
    fputs("}}", f);
}

static void put_contact(FILE *f, const ff_scenario *scenario, const ff_contact *c) {
    static const char *const kind[] = {"wall", "stops", "pair", "cone", "grasp"};
    fputs("{\"name\":", f);
    put_string(f, c->name);
    fprintf(f, ",\"kind\":\"%s\",\"body\":",
            (size_t)c->kind < sizeof kind / sizeof *kind ? kind[c->kind] : "unknown");
    put_string(f, scenario->satellite[c->body].name);
    fputs(",\"against\":", f);
    if (c->against >= 0)
        put_string(f, scenario->satellite[c->against].name);
    else
        fputs("null", f);
    put_vec3(f, "point", c->point);
    if (c->kind == FF_CONTACT_WALL || c->kind == FF_CONTACT_PAIR) {
        put_vec3(f, "at", c->at);
        put_vec3(f, "normal", c->normal);
    }
    if (c->kind == FF_CONTACT_CONE) {
        put_vec3(f, "apex", c->apex);
        put_vec3(f, "axis", c->axis);
        fputs(",\"half_angle_rad\":", f);
        put_number(f, c->half_angle);
        fputs(",\"depth_m\":", f);
        put_number(f, c->depth);
    }
    if (c->kind == FF_CONTACT_STOPS)
        put_vec3(f, "stop_position", c->stop_position);
    putc('}', f);
}

char *ff_report_geometry(const ff_scenario *scenario) {
    char *json = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&json, &size);
    if (!f)
        return NULL;
    fputs("{\"satellites\":[", f);
    for (int i = 0; i < scenario->satellites; i++) {
        if (i)
            putc(',', f);
        put_satellite(f, &scenario->satellite[i]);
    }
    fputs("],\"contacts\":[", f);
    for (int i = 0; i < scenario->contacts; i++) {
        if (i)
            putc(',', f);
        put_contact(f, scenario, &scenario->contact[i]);
    }
    fputs("]}", f);
    bool failed = ferror(f) != 0;
    failed = fclose(f) != 0 || failed;
    if (failed) {
        free(json);
        return NULL;
    }
    return json;
}
