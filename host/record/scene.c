#include "record/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/mesh.h"

enum {
    CONE_SIDES = 24,
    SHAPES = 2 * FF_MAX_BODIES + FF_MAX_CONTACTS + 1 + FF_MAX_ARM_LINKS /* markers, at most */
};

static const float body_color[4] = {0.35f, 0.55f, 0.85f, 1.0f}, robot_color[4] = {0.95f, 0.55f, 0.15f, 0.25f},
                   wall_color[4] = {0.55f, 0.57f, 0.6f, 0.6f}, arm_color[4] = {0.85f, 0.85f, 0.85f, 1.0f},
                   force_color[4] = {0.85f, 0.15f, 0.15f, 1.0f};

/* What is being drawn: the markers and the points that they refer to. */
typedef struct drawing {
    ff_message_marker marker[SHAPES];
    int count;
    ff_vec3 *point[SHAPES]; /* of a marker; NULL: none */
    char robot[FF_MAX_BODIES][FF_NAME_SIZE + 16];
    bool failed; /* no memory */
} drawing;

static ff_message_marker *add(drawing *d, const char *frame, const char *ns, ff_message_shape shape,
                              const float color[4], size_t points) {
    ff_message_marker *m = &d->marker[d->count];
    *m = (ff_message_marker){.frame = frame, .ns = ns, .id = d->count, .shape = shape, .points = points};
    m->pose.q = ff_quat_identity();
    memcpy(m->color, color, sizeof m->color);
    if (points) {
        m->scale = ff_vec3_make(1.0, 1.0, 1.0);
        d->point[d->count] = malloc(points * sizeof(ff_vec3));
        d->failed |= !d->point[d->count];
        m->points = d->point[d->count] ? points : 0;
    }
    m->point = d->point[d->count];
    d->count++;
    return m;
}

/* The solid cuboid with this mass and inertia: edges [m], and where it lies in the body frame. */
static ff_vec3 cuboid(const ff_rigid_config *rigid, ff_quat *turn) {
    ff_vec3 j, edge;
    ff_mat3 axes;
    ff_mat3_eigen(rigid->inertia, &j, &axes);
    *turn = ff_quat_from_mat3(axes);
    for (int i = 0; i < 3; i++)
        edge.a[i] = fmax(0.02, sqrt(fmax(0.0, 6.0 / rigid->mass * (j.x + j.y + j.z - 2.0 * j.a[i]))));
    return edge;
}

static double size_of(const ff_satellite *s) {
    ff_quat turn;
    const ff_vec3 edge = cuboid(&s->rigid, &turn);
    return fmax(edge.x, fmax(edge.y, edge.z));
}

void ff_scene_sizes(const ff_scenario *scenario, double size_m[FF_MAX_BODIES]) {
    for (int i = 0; i < scenario->satellites; i++)
        size_m[i] = size_of(&scenario->satellite[i]);
}

/* True: the satellite has a mesh, and it was read. */
static bool add_mesh(drawing *d, ff_held *held, const char *frame, const char *ns,
                     const ff_mesh_config *config, const float color[4]) {
    char message[128];
    ff_mesh mesh;
    if (!config->present || ff_mesh_load(held, config->file, &mesh, message, sizeof message) != FF_OK)
        return false;
    ff_message_marker *m = add(d, frame, ns, FF_SHAPE_TRIANGLES, color, 3 * mesh.triangles);
    m->pose = config->pose;
    for (size_t i = 0; i < m->points; i++) {
        const float *v = &mesh.vertex[3 * (size_t)mesh.index[i]];
        d->point[d->count - 1][i] =
            ff_vec3_scale(config->scale, ff_vec3_make((double)v[0], (double)v[1], (double)v[2]));
    }
    ff_mesh_free(&mesh);
    return true;
}

/* A grasp holds the body's surface: where its place lies inside the box, the box is pushed along the axis on
 * which it lies farthest out, until the face is there. Zero where there is none. */
static ff_vec3 pushed(const ff_scenario *s, int body, ff_vec3 edge, ff_quat turn) {
    for (int k = 0; k < s->contacts; k++) {
        const ff_contact *c = &s->contact[k];
        if (c->kind != FF_CONTACT_GRASP || c->against != body)
            continue;
        const ff_vec3 at = ff_quat_unrotate(turn, c->at);
        int far = 0;
        for (int a = 1; a < 3; a++)
            if (fabs(at.a[a]) / edge.a[a] > fabs(at.a[far]) / edge.a[far])
                far = a;
        const double inside = 0.5 * edge.a[far] - fabs(at.a[far]);
        ff_vec3 push = ff_vec3_zero();
        push.a[far] = inside > 0.0 ? copysign(inside, -at.a[far]) : 0.0;
        return ff_quat_rotate(turn, push);
    }
    return ff_vec3_zero();
}

static void add_satellite(drawing *d, const ff_scenario *scenario, int i) {
    const ff_satellite *s = &scenario->satellite[i];
    snprintf(d->robot[i], sizeof d->robot[i], "%s/robot", s->name);
    const struct {
        const char *frame, *ns;
        const float *color;
    } is[] = {{s->name, "bodies", body_color}, {d->robot[i], "robots", robot_color}};
    for (int k = 0; k < 2; k++)
        if (!add_mesh(d, scenario->held, is[k].frame, is[k].ns, &s->mesh, is[k].color)) {
            ff_message_marker *m = add(d, is[k].frame, is[k].ns, FF_SHAPE_CUBE, is[k].color, 0);
            m->scale = cuboid(&s->rigid, &m->pose.q);
            m->pose.p = pushed(scenario, i, m->scale, m->pose.q);
        }
}

/* The rotation that takes z to n, a unit vector. */
static ff_quat from_z(ff_vec3 n) {
    if (n.z < -1.0 + 1e-12)
        return (ff_quat){0.0, 1.0, 0.0, 0.0};
    return ff_quat_unit((ff_quat){1.0 + n.z, -n.y, n.x, 0.0});
}

/* A plate behind the plane through `at`, as wide as three of the bodies that touch it. */
static void add_wall(drawing *d, const char *frame, const ff_contact *c, double size) {
    const double thick = 0.02 * size;
    ff_message_marker *m = add(d, frame, "walls", FF_SHAPE_CUBE, wall_color, 0);
    m->pose = (ff_pose){from_z(c->normal), ff_vec3_add(c->at, ff_vec3_scale(-0.5 * thick, c->normal))};
    m->scale = ff_vec3_make(3.0 * size, 3.0 * size, thick);
}

static void add_cone(drawing *d, const char *frame, const ff_contact *c, double size) {
    const double depth = c->depth < FF_INF ? c->depth : size, radius = depth * tan(c->half_angle);
    ff_message_marker *m = add(d, frame, "walls", FF_SHAPE_TRIANGLES, wall_color, 3 * CONE_SIDES);
    m->pose = (ff_pose){from_z(c->axis), c->apex};
    ff_vec3 *at = d->point[d->count - 1];
    for (int i = 0; at && i < CONE_SIDES; i++) {
        const double a = 2.0 * FF_PI * i / CONE_SIDES, b = 2.0 * FF_PI * (i + 1) / CONE_SIDES;
        *at++ = ff_vec3_zero();
        *at++ = ff_vec3_make(radius * cos(a), radius * sin(a), depth);
        *at++ = ff_vec3_make(radius * cos(b), radius * sin(b), depth);
    }
}

/* The edges of the box that the body's point may move in; an axis without a stop is as long as the body. */
static void add_stops(drawing *d, const ff_contact *c, double size) {
    ff_message_marker *m = add(d, "inertial", "walls", FF_SHAPE_LINES, wall_color, 24);
    ff_vec3 *at = d->point[d->count - 1], half;
    m->scale.x = 0.01 * size;
    for (int i = 0; i < 3; i++)
        half.a[i] = fmin(c->stop_position.a[i], size);
    for (int axis = 0; at && axis < 3; axis++)
        for (int side = 0; side < 4; side++)
            for (int end = 0; end < 2; end++) {
                const int next = (axis + 1) % 3, last = (axis + 2) % 3;
                at->a[axis] = end ? half.a[axis] : -half.a[axis];
                at->a[next] = side & 1 ? half.a[next] : -half.a[next];
                at->a[last] = side & 2 ? half.a[last] : -half.a[last];
                at++;
            }
}

static void add_contact(drawing *d, const ff_scenario *s, const ff_contact *c) {
    const double size = size_of(&s->satellite[c->body]);
    const char *frame = c->against >= 0 ? s->satellite[c->against].name : "inertial";
    if (c->kind == FF_CONTACT_WALL || c->kind == FF_CONTACT_PAIR)
        add_wall(d, frame, c, c->kind == FF_CONTACT_WALL ? size : size / 3.0);
    else if (c->kind == FF_CONTACT_CONE)
        add_cone(d, frame, c, size);
    else if (c->kind == FF_CONTACT_STOPS)
        add_stops(d, c, size);
}

/* Each link as the lines from its frame to the joints that it carries, and to its centre of mass. */
static void add_arm(drawing *d, const ff_servicer_arm *arm) {
    for (int i = 0; arm->present && i < arm->links; i++) {
        const ff_link_row *l = &arm->link[i].row;
        size_t children = 1;
        for (int k = i + 1; k < arm->links; k++)
            children += arm->link[k].row.parent == i;
        ff_message_marker *m = add(d, arm->link[i].name, "arm", FF_SHAPE_LINES, arm_color, 2 * children);
        ff_vec3 *at = d->point[d->count - 1];
        m->scale.x = 0.03;
        if (!at)
            return;
        *at++ = ff_vec3_zero();
        *at++ = i == arm->links - 1 ? arm->gripper.p : l->com;
        for (int k = i + 1; k < arm->links; k++)
            if (arm->link[k].row.parent == i) {
                *at++ = ff_vec3_zero();
                *at++ = arm->link[k].row.pose.p;
            }
    }
}

ff_status ff_scene_bodies(const ff_scenario *s, uint64_t time, void **bytes, size_t *used) {
    drawing *d = calloc(1, sizeof *d);
    *bytes = NULL;
    if (!d)
        return FF_ERR_MEMORY;
    for (int i = 0; i < s->satellites; i++)
        add_satellite(d, s, i);
    for (int i = 0; i < s->contacts; i++)
        add_contact(d, s, &s->contact[i]);
    for (int i = 0; i < s->satellites; i++)
        add_arm(d, &s->satellite[i].arm);
    size_t size = 64;
    for (int i = 0; i < d->count; i++)
        size += 512 + 2 * FF_NAME_SIZE + d->marker[i].points * sizeof(ff_vec3);
    ff_status status = FF_ERR_MEMORY;
    *bytes = d->failed ? NULL : malloc(size);
    if (*bytes)
        status = ff_message_markers(time, d->count, d->marker, *bytes, size, used);
    for (int i = 0; i < d->count; i++)
        free(d->point[i]);
    free(d);
    return status;
}

/* ---------------------------------------------------------------------------------------- each cycle -- */

/* A link's frame in that of its parent, its joint at q. */
static ff_pose at_joint(const ff_link_row *l, double q) {
    ff_pose moved = ff_pose_identity();
    if (l->joint == FF_JOINT_PRISMATIC)
        moved.p = ff_vec3_scale(q, l->axis);
    else if (l->joint != FF_JOINT_FIXED)
        moved.q = ff_quat_exp_large(ff_vec3_scale(q, l->axis));
    return ff_pose_mul(l->pose, moved);
}

static void mount_name(const ff_satellite *s, char *name, size_t size) {
    snprintf(name, size, "%s%s", *s->arm.root ? s->arm.root : s->name, *s->arm.root ? "" : "/mount");
}

int ff_scene_frames(const ff_scenario *s, const ff_row *row, ff_scene_names *names,
                    ff_message_transform transform[FF_SCENE_LINK_FRAMES]) {
    const int servicer = ff_scenario_servicer(s);
    if (servicer < 0)
        return 0;
    const char *base = s->satellite[servicer].name;
    const ff_servicer_arm *arm = &s->satellite[servicer].arm;
    int n = 0, joint = 0;
    mount_name(&s->satellite[servicer], names->mount, sizeof names->mount);
    snprintf(names->gripper, sizeof names->gripper, "%s/gripper", base);
    transform[n++] = (ff_message_transform){base, names->mount, arm->mount};
    for (int i = 0; i < arm->links; i++) {
        const ff_link_row *l = &arm->link[i].row;
        const double q = l->joint != FF_JOINT_FIXED ? row->servicer.q[joint++] : 0.0;
        transform[n++] =
            (ff_message_transform){l->parent == FF_TREE_BASE ? names->mount : arm->link[l->parent].name,
                                   arm->link[i].name, at_joint(l, q)};
    }
    transform[n++] = (ff_message_transform){arm->link[arm->links - 1].name, names->gripper, arm->gripper};
    return n;
}

/* The body's frame that a contact's point is given in. */
static ff_pose point_frame(const ff_scenario *s, const ff_row *row, int body) {
    const ff_servicer_arm *arm = &s->satellite[body].arm;
    ff_pose T = ff_rigid_pose(&row->body[body].satellite), link[FF_MAX_ARM_LINKS];
    if (!arm->present)
        return T;
    int joint = 0;
    for (int i = 0; i < arm->links; i++) {
        const ff_link_row *l = &arm->link[i].row;
        const double q = l->joint != FF_JOINT_FIXED ? row->servicer.q[joint++] : 0.0;
        const ff_pose parent = l->parent == FF_TREE_BASE ? ff_pose_mul(T, arm->mount) : link[l->parent];
        link[i] = ff_pose_mul(parent, at_joint(l, q));
    }
    return ff_pose_mul(link[arm->links - 1], arm->gripper);
}

ff_status ff_scene_forces(const ff_scenario *s, const double size_m[FF_MAX_BODIES], const ff_row *row,
                          uint64_t time, void *buffer, size_t size, size_t *used) {
    ff_message_marker marker[FF_MAX_CONTACTS];
    ff_vec3 point[FF_MAX_CONTACTS][2];
    for (int i = 0; i < s->contacts; i++) {
        const ff_contact *c = &s->contact[i];
        const ff_satellite *body = &s->satellite[c->body];
        const double length = size_m[c->body], force = ff_vec3_norm(row->contact_force[i]);
        const double speed = fmax(0.01, ff_vec3_norm(body->start.velocity));
        const double usual = speed * sqrt(c->stiffness * body->rigid.mass);
        const bool shown = row->touching[i] && force > 0.0;
        point[i][0] = ff_pose_apply(point_frame(s, row, c->body), c->point);
        point[i][1] = point[i][0];
        if (shown)
            point[i][1] =
                ff_vec3_add(point[i][0], ff_vec3_scale(fmin(0.5 * length / usual, 2.0 * length / force),
                                                       row->contact_force[i]));
        marker[i] = (ff_message_marker){.frame = "inertial",
                                        .ns = c->name,
                                        .id = i,
                                        .shape = FF_SHAPE_ARROW,
                                        .gone = !shown,
                                        .pose = ff_pose_identity(),
                                        .scale = ff_vec3_make(0.02 * length, 0.05 * length, 0.08 * length),
                                        .point = point[i],
                                        .points = 2};
        memcpy(marker[i].color, force_color, sizeof force_color);
    }
    return ff_message_markers(time, s->contacts, marker, buffer, size, used);
}

/* ---------------------------------------------------------------------------------------------- URDF -- */

static void put_origin(FILE *to, ff_pose T) {
    double a, b, c;
    ff_quat_to_abc(T.q, &a, &b, &c); /* Rz(a) Ry(b) Rx(c): URDF's yaw, pitch and roll */
    fprintf(to, "    <origin xyz=\"%.9g %.9g %.9g\" rpy=\"%.9g %.9g %.9g\"/>\n", T.p.x, T.p.y, T.p.z, c, b,
            a);
}

/* A name as an attribute's text. */
static void put_quoted(FILE *to, const char *name) {
    for (; *name; name++)
        switch (*name) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(*name, to);
        }
}

static void put_link(FILE *to, const ff_servicer_arm *arm, int i, const char *mount) {
    const char *name = arm->link[i].name;
    const ff_link_row *l = &arm->link[i].row;
    const ff_mat3 *j = &l->inertia;
    fputs("  <link name=\"", to);
    put_quoted(to, name);
    fprintf(to, "\">\n   <inertial>\n    <origin xyz=\"%.9g %.9g %.9g\"/>\n    <mass value=\"%.9g\"/>\n",
            l->com.x, l->com.y, l->com.z, l->mass);
    fprintf(to,
            "    <inertia ixx=\"%.9g\" iyy=\"%.9g\" izz=\"%.9g\" ixy=\"%.9g\" ixz=\"%.9g\" iyz=\"%.9g\"/>\n"
            "   </inertial>\n  </link>\n  <joint name=\"",
            j->m[0][0], j->m[1][1], j->m[2][2], j->m[0][1], j->m[0][2], j->m[1][2]);
    put_quoted(to, name);
    fprintf(to, "\" type=\"%s\">\n",
            l->joint == FF_JOINT_FIXED       ? "fixed"
            : l->joint == FF_JOINT_PRISMATIC ? "prismatic"
                                             : "continuous");
    put_origin(to, l->pose);
    fputs("    <parent link=\"", to);
    put_quoted(to, l->parent == FF_TREE_BASE ? mount : arm->link[l->parent].name);
    fputs("\"/>\n    <child link=\"", to);
    put_quoted(to, name);
    fprintf(to, "\"/>\n    <axis xyz=\"%.9g %.9g %.9g\"/>\n  </joint>\n", l->axis.x, l->axis.y, l->axis.z);
}

char *ff_scene_urdf(const ff_scenario *s) {
    const ff_satellite *body = &s->satellite[ff_scenario_servicer(s)];
    char *text = NULL, mount[FF_NAME_SIZE + 16];
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        return NULL;
    mount_name(body, mount, sizeof mount);
    fputs("<robot name=\"", to);
    put_quoted(to, body->name);
    fputs("\">\n  <link name=\"", to);
    put_quoted(to, mount);
    fputs("\"/>\n", to);
    for (int i = 0; i < body->arm.links; i++)
        put_link(to, &body->arm, i, mount);
    fputs("</robot>\n", to);
    const bool good = !ferror(to);
    if (fclose(to) == 0 && good)
        return text;
    free(text);
    return NULL;
}
