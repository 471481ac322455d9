#include "report/geometry.h"

#include <stdlib.h>
#include <string.h>

#include "facility/plan.h"
#include "text/json.h"
#include "report/limits.h"
#include "scenario/mesh.h"

static void pose(ff_json *json, const char *key, ff_pose T) {
    ff_json_open(json, key, '{');
    ff_json_vec3(json, "position", T.p);
    ff_json_quat(json, "attitude", T.q);
    ff_json_close(json, '}');
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void bytes(ff_json *json, const char *key, const void *data, size_t size) {
    const unsigned char *p = data;
    char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;
    for (size_t i = 0; text && i < size; i += 3) {
        const unsigned v = (unsigned)p[i] << 16 | (i + 1 < size ? (unsigned)p[i + 1] << 8 : 0) |
                           (i + 2 < size ? p[i + 2] : 0);
        *at++ = base64[v >> 18];
        *at++ = base64[v >> 12 & 63];
        *at++ = i + 1 < size ? base64[v >> 6 & 63] : '=';
        *at++ = i + 2 < size ? base64[v & 63] : '=';
    }
    if (text)
        *at = 0;
    ff_json_string(json, key, text);
    free(text);
}

/* Vertices in the body frame as float32, triangles as uint16, both little endian. A file that is not held
 * and has gone leaves the box. */
static void mesh(ff_json *json, ff_held *held, const ff_mesh_config *config) {
    char message[128];
    ff_mesh m;
    if (!config->present || ff_mesh_load(held, config->file, &m, message, sizeof message) != FF_OK)
        return;
    for (size_t i = 0; i < m.vertices; i++) {
        const ff_vec3 v =
            ff_vec3_make((double)m.vertex[3 * i], (double)m.vertex[3 * i + 1], (double)m.vertex[3 * i + 2]);
        const ff_vec3 r =
            ff_vec3_add(config->pose.p, ff_quat_rotate(config->pose.q, ff_vec3_scale(config->scale, v)));
        for (size_t k = 0; k < 3; k++)
            m.vertex[3 * i + k] = (float)r.a[k];
    }
    ff_json_open(json, "mesh", '{');
    bytes(json, "vertices", m.vertex, 3 * m.vertices * sizeof *m.vertex);
    bytes(json, "triangles", m.index, 3 * m.triangles * sizeof *m.index);
    ff_json_close(json, '}');
    ff_mesh_free(&m);
}

/* Enough to place every link from the joints' angles. */
static void arm(ff_json *json, const ff_servicer_arm *a) {
    if (!a->present)
        return;
    ff_json_open(json, "arm", '{');
    pose(json, "mount", a->mount);
    pose(json, "gripper", a->gripper);
    ff_json_open(json, "links", '[');
    int joint = 0;
    for (int i = 0; i < a->links; i++) {
        const ff_link_row *l = &a->link[i].row;
        const bool moves = l->joint != FF_JOINT_FIXED;
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "name", a->link[i].name);
        ff_json_integer(json, "parent", l->parent == FF_TREE_BASE ? -1 : l->parent);
        ff_json_string(json, "joint",
                       !moves                           ? "fixed"
                       : l->joint == FF_JOINT_PRISMATIC ? "prismatic"
                                                        : "revolute");
        ff_json_integer(json, "q", moves ? joint : -1);
        joint += moves;
        pose(json, "pose", l->pose);
        ff_json_vec3(json, "axis", l->axis);
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
    ff_json_close(json, '}');
}

static void limits(ff_json *json, const ff_scenario *scenario, bool devices) {
    ff_columns columns;
    ff_report_limit limit[FF_REPORT_LIMITS];
    if (ff_columns_init(scenario, &columns) != FF_OK) {
        json->failed = true; /* a page without the limits would look as if there were none */
        return;
    }
    const int count = ff_report_limits(scenario, &columns, devices, limit);
    ff_json_open(json, "limits", '[');
    for (int i = 0; i < count; i++) {
        const ff_report_limit *l = &limit[i];
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "name", l->name);
        ff_json_string(json, "unit", l->unit);
        ff_json_number(json, "limit", l->limit);
        ff_json_number(json, "scale", l->scale);
        ff_json_bool(json, "trips", l->trips);
        ff_json_open(json, "columns", '[');
        for (int c = 0; c < l->count; c++) {
            char name[FF_COLUMN_NAME];
            memcpy(name, columns.name[l->column + c], sizeof name);
            char *unit = strrchr(name, '[');
            if (unit && unit > name)
                unit[-1] = 0;
            ff_json_string(json, NULL, name);
        }
        ff_json_close(json, ']');
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
    ff_columns_free(&columns);
}

/* The arm that carries the satellite: enough to place it from its axes, as freefloat/command.h says. */
static void carrier(ff_json *json, const ff_scenario *scenario, int i, bool devices) {
    const ff_satellite *s = &scenario->satellite[i];
    char message[256];
    ff_arm_model arm;
    ff_arm_joints joints;
    if (ff_plan_place(scenario, i, devices, &arm, &joints, message, sizeof message) != FF_OK)
        return;
    const ff_arm_config *c = &arm.config;
    ff_json_open(json, "arm", '{');
    pose(json, "base", c->base);
    pose(json, "flange", c->flange);
    pose(json, "tool", c->tool);
    if (!s->sensor.environment) /* in the flange's frame, as the mock-up is bolted on here */
        pose(json, "sensor",
             ff_pose_mul(ff_pose_mul(c->tool, ff_pose_inverse(s->robot.tool)), s->sensor.pose));
    if (c->rail.rule != FF_ARM_RAIL_NONE) {
        ff_json_open(json, "rail", '{');
        ff_json_vec3(json, "axis", c->rail.axis);
        ff_json_number(json, "lower", c->rail.lower);
        ff_json_number(json, "upper", c->rail.upper);
        ff_json_close(json, '}');
    }
    ff_json_open(json, "axes", '[');
    for (int a = 0; a < c->axes; a++) {
        ff_json_open(json, NULL, '{');
        ff_json_vec3(json, "offset", c->axis[a].offset);
        ff_json_vec3(json, "direction", c->axis[a].direction);
        ff_json_number(json, "lower", c->lower[a]);
        ff_json_number(json, "upper", c->upper[a]);
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
    ff_json_close(json, '}');
}

static void satellite_shape(ff_json *json, const ff_scenario *scenario, int body, bool devices) {
    const ff_satellite *s = &scenario->satellite[body];
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
    ff_json_string(json, "kind", ff_robot_name((int)s->robot.kind));
    ff_json_number(json, "delay_s", s->robot.delay);
    if (!scenario->emulates)
        carrier(json, scenario, body, devices);
    ff_json_close(json, '}');
    mesh(json, scenario->held, &s->mesh);
    arm(json, &s->arm);
    ff_json_close(json, '}');
}

static void contact(ff_json *json, const ff_scenario *scenario, const ff_contact *c) {
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "name", c->name);
    ff_json_string(json, "kind", ff_contact_names[c->kind]);
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
    if (c->kind == FF_CONTACT_GRASP)
        ff_json_vec3(json, "at", c->at);
    if (c->kind == FF_CONTACT_STOPS)
        ff_json_vec3(json, "stop_position", c->stop_position);
    ff_json_close(json, '}');
}

char *ff_report_geometry(const ff_scenario *scenario, bool devices) {
    ff_json json;
    ff_json_init(&json, false);
    ff_json_open(&json, NULL, '{');
    ff_json_open(&json, "satellites", '[');
    for (int i = 0; i < scenario->satellites; i++)
        satellite_shape(&json, scenario, i, devices);
    ff_json_close(&json, ']');
    ff_json_open(&json, "contacts", '[');
    for (int i = 0; i < scenario->contacts; i++)
        contact(&json, scenario, &scenario->contact[i]);
    ff_json_close(&json, ']');
    ff_json_bool(&json, "relative", scenario->frame == FF_FRAME_RELATIVE);
    if (!scenario->emulates)
        limits(&json, scenario, devices);
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}
