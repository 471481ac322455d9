#include "scenario/urdf.h"

#include "scenario/tree.h"
#include "scenario/xml.h"
#include "text/file.h"
#include "text/message.h"
#include "text/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct body {
    char name[FF_URDF_NAME];
    int line;
    double mass;
    ff_vec3 com;
    ff_mat3 inertia;
    int above; /* joint that carries it, -1: none */
} body;

typedef struct joint {
    ff_urdf_link row; /* all but parent and what the body says */
    int from, to;     /* bodies */
    int moving;       /* joints that move, from this one outwards */
} joint;

typedef struct reader {
    ff_refusal to;
    const ff_xml *xml;
    bool frames; /* nothing but where things are */
    int bodies, joints;
    body body[FF_URDF_LINKS + 1];
    joint joint[FF_URDF_LINKS];
} reader;

/* ---------------------------------------------------------------------------------- elements, attributes --
 */

static const char *name_of(const xmlNode *node) {
    return (const char *)node->name;
}

static bool is(const xmlNode *node, const char *name) {
    return node->type == XML_ELEMENT_NODE && !node->ns && strcmp(name_of(node), name) == 0;
}

/* Is a word one of a list of words with single blanks between? */
static bool listed(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; length && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0))
            return true;
    return false;
}

/* An element that is read holds only what is known, each child once. */
static bool check_element(const reader *r, const xmlNode *node, const char *attributes, const char *children,
                          const char *repeated) {
    for (const xmlAttr *a = node->properties; a; a = a->next)
        if (!listed(attributes, (const char *)a->name))
            return ff_refuse_at(&r->to, r->xml->line(node), "unknown attribute '%s' of <%s>, allowed: %s",
                                ff_show((const char *)a->name).text, name_of(node),
                                *attributes ? attributes : "none");
    for (const xmlNode *c = node->children; c; c = c->next) {
        if (c->type != XML_ELEMENT_NODE)
            continue;
        if (c->ns || !(listed(children, name_of(c)) || listed(repeated, name_of(c))))
            return ff_refuse_at(&r->to, r->xml->line(c), "unknown element <%s> in <%s>, allowed: %s%s%s",
                                ff_show(name_of(c)).text, name_of(node), *children ? children : "none",
                                *repeated ? " " : "", repeated);
        for (const xmlNode *d = c->next; d && !listed(repeated, name_of(c)); d = d->next)
            if (is(d, name_of(c)))
                return ff_refuse_at(&r->to, r->xml->line(d), "a second <%s> in <%s>, allowed: one",
                                    name_of(c), name_of(node));
    }
    return true;
}

static const xmlNode *child_of(const xmlNode *node, const char *name) {
    for (const xmlNode *c = node->children; c; c = c->next)
        if (is(c, name))
            return c;
    return NULL;
}

/* *found says whether the attribute is there. False when it does not fit. */
static bool read_attribute(const reader *r, const xmlNode *node, const char *name, char *text, size_t size,
                           bool *found) {
    xmlChar *value = r->xml->attribute(node, (const xmlChar *)name);
    *found = value != NULL;
    if (!value)
        return true;
    const size_t length = strlen((const char *)value);
    if (length < size)
        memcpy(text, value, length + 1);
    r->xml->free_text(value);
    return length < size ||
           ff_refuse_at(&r->to, r->xml->line(node), "%s of <%s> has %zu bytes, allowed: fewer than %zu", name,
                        name_of(node), length, size);
}

/* Link names stand in messages, and in tables as those of a scenario do. */
static bool read_name(const reader *r, const xmlNode *node, const char *attribute, char *text) {
    bool found = false;
    if (!read_attribute(r, node, attribute, text, FF_URDF_NAME, &found))
        return false;
    const bool good = found && *text && !text[strcspn(text, ",=\"\\")] && ff_shown_text(text);
    if (!found)
        return ff_refuse_at(&r->to, r->xml->line(node), "<%s> lacks %s, allowed: %s=\"...\"", name_of(node),
                            attribute, attribute);
    return good || ff_refuse_at(&r->to, r->xml->line(node),
                                "%s '%s' of <%s> is not a valid name, allowed: printable, none of , = \" \\",
                                attribute, ff_show(text).text, name_of(node));
}

/* `count` numbers with blanks between; absent: *found is false and value stays. */
static bool read_numbers(const reader *r, const xmlNode *node, const char *name, int count, double *value,
                         bool *found) {
    char text[512];
    double number[3] = {0};
    if (!read_attribute(r, node, name, text, sizeof text, found) || !*found)
        return !*found;
    int have = 0;
    for (char *at = text, *end; *(at += strspn(at, " \t\r\n")); at = end) {
        end = at + strcspn(at, " \t\r\n");
        const char after = *end;
        bool in_range = true;
        double one = 0.0;
        *end = 0;
        if (!ff_number_parse(at, &one, &in_range) || !in_range || fabs(one) > FF_NUMBER_MOST)
            return ff_refuse_at(&r->to, r->xml->line(node),
                                "%s of <%s> is '%s', allowed: %s of size " FF_NUMBER_SIZES, name,
                                name_of(node), ff_show(at).text, count == 1 ? "a number" : "numbers");
        *end = after;
        if (have < count)
            number[have] = one;
        have++;
    }
    if (have != count)
        return ff_refuse_at(&r->to, r->xml->line(node), "%s of <%s> has %d numbers, allowed: %d", name,
                            name_of(node), have, count);
    memcpy(value, number, sizeof *value * (size_t)count);
    return true;
}

static bool read_number(const reader *r, const xmlNode *node, const char *name, bool required,
                        double *value) {
    bool found = false;
    if (!read_numbers(r, node, name, 1, value, &found))
        return false;
    return found || !required ||
           ff_refuse_at(&r->to, r->xml->line(node), "<%s> lacks %s, allowed: a number", name_of(node), name);
}

/* rpy: fixed axes x, y, z, so R = Rz(yaw) Ry(pitch) Rx(roll). */
static bool read_origin(const reader *r, const xmlNode *parent, ff_pose *pose) {
    const xmlNode *node = child_of(parent, "origin");
    double rpy[3] = {0};
    bool found;
    *pose = ff_pose_identity();
    if (!node)
        return true;
    if (!check_element(r, node, "xyz rpy", "", "") || !read_numbers(r, node, "xyz", 3, pose->p.a, &found) ||
        !read_numbers(r, node, "rpy", 3, rpy, &found))
        return false;
    pose->q = ff_quat_from_abc(rpy[2], rpy[1], rpy[0]);
    return true;
}

/* -------------------------------------------------------------------------------------------------- links --
 */

static bool read_inertial(const reader *r, const xmlNode *node, body *b) {
    const xmlNode *mass = child_of(node, "mass"), *inertia = child_of(node, "inertia");
    ff_pose pose;
    ff_mat3 *I = &b->inertia;
    if (!check_element(r, node, "", "origin mass inertia", "") || !read_origin(r, node, &pose))
        return false;
    if (!mass || !inertia)
        return ff_refuse_at(&r->to, r->xml->line(node),
                            "link '%s' lacks <%s> in <inertial>, allowed: <mass value=\"...\"/> "
                            "and <inertia ixx=\"...\" .../>",
                            b->name, mass ? "inertia" : "mass");
    if (!check_element(r, mass, "value", "", "") || !read_number(r, mass, "value", true, &b->mass))
        return false;
    if (!(b->mass >= 0.0))
        return ff_refuse_at(&r->to, r->xml->line(mass), "the mass of link '%s' is %.9g, allowed: > 0 [kg]",
                            b->name, b->mass);
    if (!check_element(r, inertia, "ixx ixy ixz iyy iyz izz", "", "") ||
        !read_number(r, inertia, "ixx", true, &I->m[0][0]) ||
        !read_number(r, inertia, "iyy", true, &I->m[1][1]) ||
        !read_number(r, inertia, "izz", true, &I->m[2][2]) ||
        !read_number(r, inertia, "ixy", false, &I->m[0][1]) ||
        !read_number(r, inertia, "ixz", false, &I->m[0][2]) ||
        !read_number(r, inertia, "iyz", false, &I->m[1][2]))
        return false;
    I->m[1][0] = I->m[0][1];
    I->m[2][0] = I->m[0][2];
    I->m[2][1] = I->m[1][2];
    bool zero = true;
    for (int i = 0; i < 9; i++)
        zero = zero && I->m[i / 3][i % 3] == 0.0;
    if (b->mass == 0.0 && !zero)
        return ff_refuse_at(&r->to, r->xml->line(mass),
                            "link '%s' has inertia but no mass, allowed: mass > 0 [kg]", b->name);
    const ff_rigid_config rigid = {.mass = b->mass, .inertia = *I};
    if (!zero && ff_rigid_validate(&rigid) != FF_OK) {
        ff_vec3 moment;
        ff_mat3 axes;
        ff_mat3_eigen(*I, &moment, &axes);
        return ff_refuse_at(
            &r->to, r->xml->line(inertia),
            "the inertia of link '%s' has principal moments %.6g, %.6g, %.6g, allowed: all > 0 and none "
            "above the sum of the other two [kg m2]",
            b->name, moment.x, moment.y, moment.z);
    }
    const ff_mat3 R = ff_quat_to_mat3(pose.q);
    b->com = pose.p;
    *I = ff_mat3_mul(R, ff_mat3_mul(*I, ff_mat3_transpose(R)));
    return true;
}

static bool read_link(reader *r, const xmlNode *node) {
    if (r->bodies == FF_URDF_LINKS + 1)
        return ff_refuse_at(&r->to, r->xml->line(node), "more than %d links, allowed: fewer",
                            FF_URDF_LINKS + 1);
    body *b = &r->body[r->bodies];
    *b = (body){.line = (int)r->xml->line(node), .above = -1};
    if (!check_element(r, node, "name type", "inertial",
                       "visual collision contact self_collision_checking") ||
        !read_name(r, node, "name", b->name))
        return false;
    for (int i = 0; i < r->bodies; i++)
        if (strcmp(r->body[i].name, b->name) == 0)
            return ff_refuse_at(&r->to, b->line, "link '%s' stands already in line %d, allowed: another name",
                                b->name, r->body[i].line);
    const xmlNode *inertial = child_of(node, "inertial");
    r->bodies++;
    return !inertial || read_inertial(r, inertial, b);
}

/* ------------------------------------------------------------------------------------------------- joints --
 */

static bool read_kind(const reader *r, const xmlNode *node, ff_urdf_link *row, char *type, size_t size) {
    bool found = false;
    if (!read_attribute(r, node, "type", type, size, &found))
        return false;
    if (!found)
        return ff_refuse_at(&r->to, row->line,
                            "joint '%s' lacks type, allowed: revolute, continuous, prismatic, fixed",
                            row->joint_name);
    if (strcmp(type, "revolute") == 0 || strcmp(type, "continuous") == 0)
        row->row.joint = FF_JOINT_REVOLUTE;
    else if (strcmp(type, "prismatic") == 0)
        row->row.joint = FF_JOINT_PRISMATIC;
    else if (strcmp(type, "fixed") == 0)
        row->row.joint = FF_JOINT_FIXED;
    else
        return ff_refuse_at(&r->to, row->line,
                            "joint '%s' is of type '%s', allowed: revolute, continuous, prismatic, fixed",
                            row->joint_name, ff_show(type).text);
    return true;
}

static bool read_end(const reader *r, const xmlNode *node, const ff_urdf_link *row, const char *which,
                     int *body_at) {
    const xmlNode *end = child_of(node, which);
    char name[FF_URDF_NAME];
    if (!end)
        return ff_refuse_at(&r->to, row->line, "joint '%s' lacks <%s link=\"...\"/>", row->joint_name, which);
    if (!check_element(r, end, "link", "", "") || !read_name(r, end, "link", name))
        return false;
    for (int i = 0; i < r->bodies; i++)
        if (strcmp(r->body[i].name, name) == 0) {
            *body_at = i;
            return true;
        }
    return ff_refuse_at(&r->to, r->xml->line(end),
                        "joint '%s': no link is named '%s', allowed: a <link> of this file", row->joint_name,
                        ff_show(name).text);
}

static bool read_axis(const reader *r, const xmlNode *node, ff_urdf_link *row) {
    const xmlNode *axis = child_of(node, "axis");
    bool found = false;
    row->row.axis = ff_vec3_make(1.0, 0.0, 0.0); /* URDF's default, unlike the scenario's */
    if (!axis)
        return true;
    if (!check_element(r, axis, "xyz", "", "") || !read_numbers(r, axis, "xyz", 3, row->row.axis.a, &found))
        return false;
    const double size = fmax(fabs(row->row.axis.x), fmax(fabs(row->row.axis.y), fabs(row->row.axis.z)));
    if (row->row.joint != FF_JOINT_FIXED && !(size > 0.0))
        return ff_refuse_at(&r->to, r->xml->line(axis),
                            "the axis of joint '%s' is zero, allowed: any other direction", row->joint_name);
    if (size > 0.0) /* scaled first: squares of 1e-200 vanish */
        row->row.axis = ff_vec3_unit(
            ff_vec3_make(row->row.axis.x / size, row->row.axis.y / size, row->row.axis.z / size));
    return true;
}

/* A revolute or prismatic joint must have limits (so says the format); a continuous one has no positions. */
static bool read_limit(const reader *r, const xmlNode *node, ff_urdf_link *row, bool continuous) {
    const xmlNode *limit = child_of(node, "limit");
    row->row.torque = row->row.velocity = row->row.upper = FF_INF;
    row->row.lower = -FF_INF;
    if (row->row.joint == FF_JOINT_FIXED)
        return true;
    if (!limit)
        return continuous ||
               ff_refuse_at(&r->to, row->line,
                            "joint '%s' lacks <limit lower upper effort velocity>, allowed without: "
                            "type continuous, fixed",
                            row->joint_name);
    if (!continuous)
        row->row.lower = row->row.upper = 0.0;
    double ignored = 0.0;
    if (!check_element(r, limit, "lower upper effort velocity", "", "") ||
        !read_number(r, limit, "lower", false, continuous ? &ignored : &row->row.lower) ||
        !read_number(r, limit, "upper", false, continuous ? &ignored : &row->row.upper) ||
        !read_number(r, limit, "effort", true, &row->row.torque) ||
        !read_number(r, limit, "velocity", true, &row->row.velocity))
        return false;
    if (!(row->row.torque > 0.0 || (r->frames && row->row.torque == 0.0)) || !(row->row.velocity > 0.0))
        return ff_refuse_at(&r->to, r->xml->line(limit),
                            "joint '%s' has effort %.9g and velocity %.9g, allowed: both > 0",
                            row->joint_name, row->row.torque, row->row.velocity);
    return row->row.lower <= row->row.upper ||
           ff_refuse_at(&r->to, r->xml->line(limit),
                        "joint '%s' has lower %.9g and upper %.9g, allowed: lower <= upper", row->joint_name,
                        row->row.lower, row->row.upper);
}

static bool read_friction(const reader *r, const xmlNode *node, ff_urdf_link *row) {
    const xmlNode *dynamics = child_of(node, "dynamics");
    if (!dynamics)
        return true;
    if (!check_element(r, dynamics, "damping friction", "", "") ||
        !read_number(r, dynamics, "damping", false, &row->row.viscous) ||
        !read_number(r, dynamics, "friction", false, &row->row.coulomb))
        return false;
    return (row->row.viscous >= 0.0 && row->row.coulomb >= 0.0) ||
           ff_refuse_at(&r->to, r->xml->line(dynamics),
                        "joint '%s' has damping %.9g and friction %.9g, allowed: both >= 0", row->joint_name,
                        row->row.viscous, row->row.coulomb);
}

static bool read_joint(reader *r, const xmlNode *node) {
    if (r->joints == FF_URDF_LINKS)
        return ff_refuse_at(&r->to, r->xml->line(node), "more than %d joints, allowed: fewer", FF_URDF_LINKS);
    joint *j = &r->joint[r->joints];
    char type[FF_URDF_NAME];
    *j = (joint){.row = {.line = (int)r->xml->line(node)}};
    if (!read_name(r, node, "name", j->row.joint_name))
        return false;
    for (int i = 0; i < r->joints; i++)
        if (strcmp(r->joint[i].row.joint_name, j->row.joint_name) == 0)
            return ff_refuse_at(&r->to, j->row.line,
                                "joint '%s' stands already in line %d, allowed: another name",
                                j->row.joint_name, r->joint[i].row.line);
    if (child_of(node, "mimic"))
        return ff_refuse_at(
            &r->to, r->xml->line(child_of(node, "mimic")),
            "joint '%s' mimics another one, which is not supported, allowed: joints that move freely, or "
            "fixed",
            j->row.joint_name);
    if (!read_kind(r, node, &j->row, type, sizeof type) ||
        !check_element(r, node, "name type",
                       "origin parent child axis limit dynamics calibration safety_controller", "") ||
        !read_end(r, node, &j->row, "parent", &j->from) || !read_end(r, node, &j->row, "child", &j->to) ||
        !read_origin(r, node, &j->row.row.pose) || !read_axis(r, node, &j->row) ||
        !read_limit(r, node, &j->row, strcmp(type, "continuous") == 0) || !read_friction(r, node, &j->row))
        return false;
    if (j->from == j->to)
        return ff_refuse_at(&r->to, j->row.line, "joint '%s' joins link '%s' to itself, allowed: two links",
                            j->row.joint_name, r->body[j->to].name);
    int *above = &r->body[j->to].above;
    if (*above >= 0)
        return ff_refuse_at(
            &r->to, j->row.line,
            "link '%s' hangs on joint '%s' and on joint '%s', allowed: one joint (loops are not supported)",
            r->body[j->to].name, r->joint[*above].row.joint_name, j->row.joint_name);
    *above = r->joints++;
    return true;
}

/* --------------------------------------------------------------------------------------------------- tree --
 */

static bool find_root(const reader *r, int *root) {
    *root = -1;
    for (int i = 0; i < r->bodies; i++)
        if (r->body[i].above < 0) {
            if (*root >= 0)
                return ff_refuse_at(&r->to, r->body[i].line,
                                    "links '%s' and '%s' both hang on no joint, allowed: one root",
                                    r->body[*root].name, r->body[i].name);
            *root = i;
        }
    return true;
}

/* Counts for each joint what moves beyond it. False: some link never reaches a root. */
static bool count_moving(reader *r) {
    for (int i = 0; i < r->joints; i++) {
        int at = i, steps = 0;
        for (; at >= 0 && steps <= r->joints; at = r->body[r->joint[at].from].above, steps++)
            r->joint[at].moving += r->joint[i].row.row.joint != FF_JOINT_FIXED;
        if (at >= 0)
            return ff_refuse_at(&r->to, r->joint[i].row.line,
                                "joint '%s' stands in or on a loop, allowed: a tree",
                                r->joint[i].row.joint_name);
    }
    return true;
}

/* Depth first with a stack: the file says how deep it goes. */
static void put_rows(const reader *r, int root, ff_urdf *urdf) {
    int stack[FF_URDF_LINKS], row_of[FF_URDF_LINKS + 1], top = 0;
    row_of[root] = FF_TREE_BASE;
    for (int at = root;;) {
        for (int moves = 1; moves >= 0; moves--) /* what is pushed last comes first */
            for (int i = r->joints - 1; i >= 0; i--)
                if (r->joint[i].from == at && (r->joint[i].moving > 0) == moves)
                    stack[top++] = i;
        if (top == 0)
            return;
        const joint *j = &r->joint[stack[--top]];
        const body *b = &r->body[j->to];
        ff_urdf_link *row = &urdf->link[urdf->links];
        *row = j->row;
        memcpy(row->name, b->name, sizeof row->name);
        row->row.parent = row_of[j->from];
        row->row.mass = b->mass;
        row->row.com = b->com;
        row->row.inertia = b->inertia;
        row_of[j->to] = urdf->links++;
        urdf->joints += row->row.joint != FF_JOINT_FIXED;
        at = j->to;
    }
}

/* A moving link has mass, its own or that of what is fixed to it. */
static bool check_masses(const reader *r, const ff_urdf *urdf) {
    double mass[FF_URDF_LINKS];
    for (int i = urdf->links - 1; i >= 0; i--)
        mass[i] = urdf->link[i].row.mass;
    for (int i = urdf->links - 1; i >= 0; i--)
        if (urdf->link[i].row.joint == FF_JOINT_FIXED && urdf->link[i].row.parent >= 0)
            mass[urdf->link[i].row.parent] += mass[i];
    for (int i = 0; i < urdf->links; i++)
        if (urdf->link[i].row.joint != FF_JOINT_FIXED && !(mass[i] > 0.0))
            for (int b = 0; b < r->bodies; b++)
                if (strcmp(r->body[b].name, urdf->link[i].name) == 0)
                    return ff_refuse_at(
                        &r->to, r->body[b].line,
                        "link '%s' moves and has no mass, allowed: <inertial> with mass > 0 [kg]",
                        urdf->link[i].name);
    return true;
}

static bool read_robot(reader *r, const xmlNode *robot, ff_urdf *urdf) {
    if (!robot || !is(robot, "robot"))
        return ff_refuse_at(&r->to, robot ? r->xml->line(robot) : 1,
                            "the file holds <%s>, allowed: <robot>, a URDF file",
                            robot ? ff_show(name_of(robot)).text : "nothing");
    for (const xmlNode *c = robot->children; c; c = c->next) {
        if (c->type == XML_ELEMENT_NODE && c->ns && c->ns->prefix &&
            strcmp((const char *)c->ns->prefix, "xacro") == 0)
            return ff_refuse_at(&r->to, r->xml->line(c),
                                "this is a xacro file, allowed: URDF, which the xacro program makes of it");
        if (is(c, "link") && !read_link(r, c))
            return false;
    }
    for (const xmlNode *c = robot->children; c; c = c->next)
        if (is(c, "joint") && !read_joint(r, c))
            return false;
    if (r->joints == 0)
        return ff_refuse_at(&r->to, r->xml->line(robot),
                            "the robot has %d links and no joint, allowed: a root and links that "
                            "joints carry",
                            r->bodies);
    int root;
    if (!find_root(r, &root) || !count_moving(r))
        return false;
    memcpy(urdf->root, r->body[root].name, sizeof urdf->root);
    urdf->root_line = r->body[root].line;
    urdf->root_mass = r->body[root].mass;
    put_rows(r, root, urdf);
    return r->frames || check_masses(r, urdf);
}

/* ------------------------------------------------------------------------------------------------ document
 * -- */

/* Without a document type there are no entities to expand or to fetch. */
typedef struct watch {
    const ff_xml *xml;
    bool subset; /* there was one */
} watch;

static void refuse_subset(void *context, const xmlChar *name, const xmlChar *external,
                          const xmlChar *system) {
    xmlParserCtxt *parser = context;
    watch *w = parser->_private;
    (void)name, (void)external, (void)system;
    w->subset = true;
    w->xml->stop(parser);
}

static bool read_document(reader *r, xmlParserCtxt *parser, const char *text, size_t length, ff_urdf *urdf) {
    watch w = {.xml = r->xml};
    if (length > FF_URDF_BYTES)
        return ff_refuse_at(&r->to, 1, "the file has %zu bytes, allowed: at most 4 MB", length);
    parser->_private = &w;
    parser->sax->internalSubset = refuse_subset;
    xmlDoc *document = r->xml->read(parser, text, (int)length, NULL, NULL,
                                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                        XML_PARSE_NOCDATA | XML_PARSE_BIG_LINES);
    const xmlError *error = r->xml->error(parser);
    bool good = false;
    if (w.subset)
        ff_refuse_at(&r->to, 1, "the file has a document type, allowed: none (no entities)");
    else if (!document) {
        char said[200];
        snprintf(said, sizeof said, "%s", error && error->message ? error->message : "no document");
        said[strcspn(said, "\r\n")] = 0;
        ff_refuse_at(&r->to, error && error->line > 0 ? error->line : 1, "this is not XML: %s", said);
    } else
        good = read_robot(r, r->xml->root(document), urdf);
    r->xml->free_document(document);
    return good;
}

ff_status ff_urdf_parse(const char *label, const char *text, size_t length, bool frames, ff_urdf *urdf,
                        char *message, size_t size) {
    char why[400];
    if (message && size)
        message[0] = 0;
    memset(urdf, 0, sizeof *urdf);
    const ff_refusal to = {label, message, size};
    const ff_xml *xml = ff_module_table("xml", why, sizeof why);
    if (!xml) {
        ff_refuse_at(&to, 1, "%s", why);
        return FF_ERR_UNSUPPORTED;
    }
    reader *r = calloc(1, sizeof *r);
    xmlParserCtxt *parser = xml->new_parser();
    ff_status status = FF_OK;
    if (!r || !parser) {
        ff_refuse_at(&to, 1, "no memory for the model");
        status = FF_ERR_MEMORY;
    } else {
        r->to = to;
        r->xml = xml;
        r->frames = frames;
        if (!read_document(r, parser, text, length, urdf))
            status = FF_ERR_FORMAT;
    }
    if (parser)
        xml->free_parser(parser);
    free(r);
    return status;
}

ff_status ff_urdf_load(ff_held *held, const char *path, bool frames, ff_urdf *urdf, char *message,
                       size_t size) {
    ff_held own = {0};
    const ff_held_file *file;
    size_t length;
    char why[200];
    ff_status status = ff_held_read(held ? held : &own, path, FF_URDF_BYTES, &file, &length, why, sizeof why);
    if (status == FF_ERR_ARGUMENT)
        status = ff_refuse(FF_ERR_IO, message, size, "not a regular file");
    else if (status == FF_ERR_SIZE) /* the parser says what is too long */
        status = ff_urdf_parse(path, "", length, frames, urdf, message, size);
    else if (status != FF_OK)
        status = ff_refuse(FF_ERR_IO, message, size, "%s", why);
    else
        status = ff_urdf_parse(path, file->text, length, frames, urdf, message, size);
    ff_held_free(&own);
    return status;
}

/* -------------------------------------------------------------------------------------------------- chain --
 */

/* Adds to a body what is fixed to it at T: masses, and inertias about the common CoM (Steiner). */
static void merge(ff_link_row *into, const ff_link_row *part, ff_pose T) {
    const double mass = into->mass + part->mass;
    if (!(part->mass > 0.0))
        return;
    const ff_mat3 R = ff_quat_to_mat3(T.q);
    const ff_mat3 turned = ff_mat3_mul(R, ff_mat3_mul(part->inertia, ff_mat3_transpose(R)));
    const ff_vec3 com = ff_vec3_add(T.p, ff_quat_rotate(T.q, part->com));
    const ff_vec3 apart = ff_vec3_sub(com, into->com);
    /* two point masses about their common centre: m1 m2/(m1 + m2) (d^2 1 - d d') = -mu skew(d)^2 */
    const ff_mat3 d = ff_mat3_skew(apart);
    const ff_mat3 steiner = ff_mat3_scale(-into->mass * part->mass / mass, ff_mat3_mul(d, d));
    into->inertia = ff_mat3_add(ff_mat3_add(into->inertia, turned), steiner);
    into->com = ff_vec3_add(into->com, ff_vec3_scale(part->mass / mass, apart));
    into->mass = mass;
}

ff_status ff_urdf_chain(const char *label, const ff_urdf *urdf, ff_urdf *chain, ff_pose *tip, char *message,
                        size_t size) {
    int host[FF_URDF_LINKS]; /* row of the chain that a link belongs to */
    ff_pose T[FF_URDF_LINKS];
    memset(chain, 0, sizeof *chain);
    memcpy(chain->root, urdf->root, sizeof chain->root);
    chain->root_line = urdf->root_line;
    chain->root_mass = urdf->root_mass;
    *tip = ff_pose_identity();
    for (int i = 0; i < urdf->links; i++) {
        const ff_urdf_link *row = &urdf->link[i];
        const int below = row->row.parent < 0 ? FF_TREE_BASE : host[row->row.parent];
        const ff_pose pose =
            row->row.parent < 0 ? row->row.pose : ff_pose_mul(T[row->row.parent], row->row.pose);
        host[i] = below;
        T[i] = pose;
        if (row->row.joint != FF_JOINT_FIXED) {
            if (below != chain->links - 1) {
                const ff_refusal to = {label, message, size};
                ff_refuse_at(&to, row->line,
                             "joint '%s' starts a second branch, allowed: one chain of moving joints",
                             row->joint_name);
                return FF_ERR_FORMAT;
            }
            host[i] = chain->links;
            T[i] = ff_pose_identity();
            chain->link[chain->links] = *row;
            chain->link[chain->links].row.pose = pose;
            chain->link[chain->links++].row.parent = below;
        } else if (below == FF_TREE_BASE)
            chain->root_mass += row->row.mass;
        else
            merge(&chain->link[below].row, &row->row, pose);
        *tip = T[i];
    }
    chain->joints = chain->links;
    return FF_OK;
}
