#include "report/geometry.h"

#include "report/json.h"

static const char *robot_name(ff_robot_kind kind) {
    static const char *const name[] = {"ideal",  "delay",  "lag",    "limited",
                                       "joints", "wrench", "mujoco", "kuka-rsi"};
    return (size_t)kind < sizeof name / sizeof *name ? name[kind] : "unknown";
}

static const char *contact_name(ff_contact_kind kind) {
    static const char *const name[] = {"wall", "stops", "pair", "cone", "grasp"};
    return (size_t)kind < sizeof name / sizeof *name ? name[kind] : "unknown";
}

static void satellite(ff_json *json, const ff_satellite *s) {
    const ff_mat3 *j = &s->rigid.inertia;
    const double inertia[6] = {j->m[0][0], j->m[1][1], j->m[2][2], j->m[0][1], j->m[0][2], j->m[1][2]};
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "name", s->name);
    ff_json_number(json, "mass_kg", s->rigid.mass);
    ff_json_vector(json, "inertia_kgm2", inertia, 6);
    ff_json_open(json, "points", '{');
    for (int i = 0; i < s->points; i++)
        ff_json_vec3(json, s->point[i].name, s->point[i].r);
    ff_json_close(json, '}');
    ff_json_open(json, "robot", '{');
    ff_json_string(json, "kind", robot_name(s->robot.kind));
    ff_json_number(json, "delay_s", s->robot.delay);
    ff_json_close(json, '}');
    ff_json_close(json, '}');
}

static void contact(ff_json *json, const ff_scenario *scenario, const ff_contact *c) {
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "name", c->name);
    ff_json_string(json, "kind", contact_name(c->kind));
    ff_json_string(json, "body", scenario->satellite[c->body].name);
    ff_json_string(json, "against", c->against >= 0 ? scenario->satellite[c->against].name : NULL);
    ff_json_vec3(json, "point", c->point);
    if (c->kind == FF_CONTACT_WALL || c->kind == FF_CONTACT_PAIR) {
        ff_json_vec3(json, "at", c->at);
        ff_json_vec3(json, "normal", c->normal);
    }
    if (c->kind == FF_CONTACT_CONE) {
        ff_json_vec3(json, "apex", c->apex);
        ff_json_vec3(json, "axis", c->axis);
        ff_json_number(json, "half_angle_rad", c->half_angle);
        ff_json_number(json, "depth_m", c->depth);
    }
    if (c->kind == FF_CONTACT_STOPS)
        ff_json_vec3(json, "stop_position", c->stop_position);
    ff_json_close(json, '}');
}

char *ff_report_geometry(const ff_scenario *scenario) {
    ff_json json;
    ff_json_init(&json, false);
    ff_json_open(&json, NULL, '{');
    ff_json_open(&json, "satellites", '[');
    for (int i = 0; i < scenario->satellites; i++)
        satellite(&json, &scenario->satellite[i]);
    ff_json_close(&json, ']');
    ff_json_open(&json, "contacts", '[');
    for (int i = 0; i < scenario->contacts; i++)
        contact(&json, scenario, &scenario->contact[i]);
    ff_json_close(&json, ']');
    ff_json_close(&json, '}');
    if (!json.failed)
        return json.text;
    ff_json_free(&json);
    return NULL;
}
