/* Files that a scenario names: URDF arms, meshes, its site. */
#include "scenario/internal.h"
#include "scenario/mesh.h"
#include "scenario/urdf.h"
#include "text/message.h"

#include <stdio.h>
#include <string.h>

/* URDF files are read once for a tree of nodes: campaigns read the scenario again and again. */
struct ff_tree_model_file {
    struct ff_tree_model_file *next;
    const char *name, *path; /* as the scenario says it; as it is opened */
    bool frames;             /* read for its frames alone */
    ff_urdf urdf;
};

static void note_model(ff_scenario *s, const char *name) {
    for (int i = 0; i < s->models; i++)
        if (strcmp(s->model[i], name) == 0)
            return;
    if (s->models < FF_MAX_MODELS) /* an emulation names two */
        snprintf(s->model[s->models++], FF_NAME_SIZE, "%s", name);
}

/* The name of a file, from the scenario's folder; one that a site names is looked for beside the site. */
static bool read_file_name(ff_reader *r, const ff_node *node, const char *what, char name[FF_NAME_SIZE]) {
    char own[FF_NAME_SIZE], full[2 * FF_FILE_PATH];
    if (!ff_reader_text(r, node, what, own, sizeof own))
        return false;
    ff__beside(r, node, own, full, sizeof full);
    if (strlen(full) >= FF_NAME_SIZE)
        return ff_reader_fail(r, node->place, "the path '%s' is too long, allowed: %d bytes",
                              ff_show(full).text, FF_NAME_SIZE - 1);
    memcpy(name, full, strlen(full) + 1);
    return true;
}

/* Its keys were laid into the tree before; here its name is kept, as an input of the run. */
bool ff__read_site(ff_reader *r, const ff_node *node) {
    return ff_reader_text(r, node, "site", r->scenario->site, FF_NAME_SIZE);
}

/* From the disk, or from where the options say. */
static ff_status load_model(const ff_reader *r, const char *name, const char *path, bool frames,
                            ff_urdf *urdf, char *text, size_t size) {
    const char *bytes;
    size_t length;
    if (!r->options || !r->options->file)
        return ff_urdf_load(r->options ? r->options->held : NULL, path, frames, urdf, text, size);
    if (r->options->file(r->options->file_self, name, &bytes, &length))
        return ff_urdf_parse(name, bytes, length, frames, urdf, text, size);
    snprintf(text, size, "it is not in the log");
    return FF_ERR_IO;
}

/* NULL after fail. Relative names start from the scenario's folder. */
static const struct ff_tree_model_file *read_model(ff_reader *r, const ff_node *node, bool frames) {
    char name[FF_NAME_SIZE], text[400];
    if (!read_file_name(r, node, "model", name))
        return NULL;
    note_model(r->scenario, name);
    for (const struct ff_tree_model_file *m = r->tree->models; m; m = m->next)
        if (strcmp(m->name, name) == 0 && m->frames == frames)
            return m;
    const char *slash = name[0] == '/' ? NULL : strrchr(r->label, '/');
    const size_t folder = slash ? (size_t)(slash - r->label) + 1 : 0, length = strlen(name);
    struct ff_tree_model_file *m = ff_tree_alloc(r->tree, sizeof *m);
    char *path = ff_tree_alloc(r->tree, folder + length + 1);
    if (!m || !path) {
        ff_reader_fail(r, node->place, "no memory for the model");
        return NULL;
    }
    memcpy(path, r->label, folder);
    memcpy(path + folder, name, length + 1);
    const ff_status status = load_model(r, name, path, frames, &m->urdf, text, sizeof text);
    if (status == FF_ERR_IO)
        ff_reader_fail(r, node->place,
                       "model '%s' cannot be read: %s, allowed: a URDF file, from the scenario's folder",
                       ff_show(name).text, text);
    else if (status != FF_OK && r->message && r->size)
        snprintf(r->message, r->size, "%s", text);
    if (status != FF_OK)
        return NULL;
    m->path = path;
    m->frames = frames;
    m->name = path + folder;
    m->next = r->tree->models;
    r->tree->models = m;
    return m;
}

/* Read to be checked only: what is drawn asks `held` for it again; in a log's scenario, which holds nothing,
 * the disk, and does without where it is gone. */
bool ff__read_mesh(ff_reader *r, const ff_node *node, char *path) {
    char name[FF_NAME_SIZE], text[128];
    if (!read_file_name(r, node, "file", name))
        return false;
    const char *slash = name[0] == '/' ? NULL : strrchr(r->label, '/');
    const size_t folder = slash ? (size_t)(slash - r->label) + 1 : 0, length = strlen(name);
    if (folder + length >= 2 * (size_t)FF_NAME_SIZE)
        return ff_reader_fail(r, node->place, "the path of the mesh '%s' is too long, allowed: %d bytes",
                              ff_show(name).text, 2 * FF_NAME_SIZE - 1);
    memcpy(path, r->label, folder);
    memcpy(path + folder, name, length + 1);
    if (r->options && r->options->file) /* of a log: nothing is computed from it, and its file may be gone */
        return true;
    ff_mesh mesh;
    if (ff_mesh_load(r->options ? r->options->held : NULL, path, &mesh, text, sizeof text) != FF_OK)
        return ff_reader_fail(
            r, node->place,
            "mesh '%s': %s, allowed: an STL or OBJ file of at most %d triangles, from the scenario's "
            "folder",
            ff_show(name).text, text, FF_MESH_TRIANGLES);
    ff_mesh_free(&mesh);
    return true;
}

/* `ready`: a list in place of the middle of the ranges. */
static bool read_ready(ff_reader *r, const ff_node *node, const ff_key *key, ff_arm_config *arm) {
    if (!node)
        return true;
    if (node->kind != FF_NODE_LIST || node->count != arm->axes)
        return ff_reader_fail(r, node->place, "ready must be a list of %d, allowed: one angle for each joint",
                              arm->axes);
    if (!ff_reader_numbers(r, node, key, arm->axes, arm->ready))
        return false;
    for (int i = 0; i < arm->axes; i++)
        if (!(arm->ready[i] >= arm->lower[i] && arm->ready[i] <= arm->upper[i]))
            return ff_reader_fail(r, node->place, "ready: joint %d is at %.9g, allowed: %.9g to %.9g [rad]",
                                  i + 1, arm->ready[i], arm->lower[i], arm->upper[i]);
    return true;
}

/* A list of `count` numbers, required; fallback: what it is where it is not there. */
static bool read_row(ff_reader *r, const ff_node *map, const ff_key *arm, const char *name, int count,
                     const double *fallback, double *value) {
    const ff_node *node = ff_node_find(map, name);
    if (!node && !fallback)
        return ff_reader_fail(r, map->place, "arm lacks the key '%s', allowed: one number for each axis",
                              name);
    if (!node) {
        memcpy(value, fallback, (size_t)count * sizeof *value);
        return true;
    }
    if (node->kind != FF_NODE_LIST || node->count != count)
        return ff_reader_fail(
            r, node->place, "%s must be a list of %d, allowed: one number for each axis of `a`", name, count);
    return ff_reader_numbers(r, node, ff__find_key(arm->section, name), count, value);
}

/* About z, or x: right angles are exact. */
static ff_quat turn_deg(double deg, bool about_x) {
    const double rest = remainder(deg, 360.0), half = rest * FF_PI / 360.0, right = sqrt(0.5);
    double c = cos(half), s = sin(half);
    if (fabs(rest) == 90.0) {
        c = right;
        s = rest > 0.0 ? right : -right;
    } else if (fabs(rest) == 180.0) {
        c = 0.0;
        s = 1.0;
    }
    return about_x ? (ff_quat){c, s, 0, 0} : (ff_quat){c, 0, 0, s};
}

/* Denavit and Hartenberg's rows as a chain of axes, at zero angles. */
static bool read_lengths(ff_reader *r, const ff_node *map, const ff_key *key, ff_arm_config *arm) {
    static const double zero[FF_ARM_AXES];
    double a[FF_ARM_AXES], d[FF_ARM_AXES], alpha[FF_ARM_AXES], theta[FF_ARM_AXES];
    const ff_node *first = ff_node_find(map, "a");
    const int n = first && first->kind == FF_NODE_LIST ? first->count : 0;
    if (n != 6 && n != 7)
        return ff_reader_fail(r, first ? first->place : map->place,
                              "arm has neither a model nor six or seven numbers under a, allowed: model: "
                              "FILE.urdf, or a, d, alpha_deg, lower, upper, speed of each axis");
    *arm = (ff_arm_config){.axes = n, .chain = true, .rail = {.rule = FF_ARM_RAIL_NONE, .axis = {{0, 1, 0}}}};
    arm->base = arm->tool = ff_pose_identity();
    if (!read_row(r, map, key, "a", n, NULL, a) || !read_row(r, map, key, "d", n, NULL, d) ||
        !read_row(r, map, key, "alpha_deg", n, NULL, alpha) ||
        !read_row(r, map, key, "theta_deg", n, zero, theta) ||
        !read_row(r, map, key, "lower", n, NULL, arm->lower) ||
        !read_row(r, map, key, "upper", n, NULL, arm->upper) ||
        !read_row(r, map, key, "speed", n, NULL, arm->speed))
        return false;
    ff_pose T = ff_pose_identity();
    ff_vec3 last = ff_vec3_zero();
    for (int i = 0; i < n; i++) {
        arm->axis[i].offset = ff_vec3_sub(T.p, last);
        arm->axis[i].direction = ff_vec3_unit(ff_quat_rotate(T.q, ff_vec3_make(0, 0, 1)));
        arm->ready[i] = 0.5 * (arm->lower[i] + arm->upper[i]);
        last = T.p;
        const ff_pose turned = ff_pose_mul(T, (ff_pose){turn_deg(theta[i], false), ff_vec3_zero()});
        T.p = ff_pose_apply(turned, ff_vec3_make(a[i], 0, d[i]));
        T.q = ff_quat_unit(ff_quat_mul(turned.q, turn_deg(alpha[i], true)));
    }
    arm->flange = (ff_pose){T.q, ff_vec3_sub(T.p, last)};
    for (int i = 0; i < n; i++)
        if (!(arm->lower[i] < arm->upper[i]))
            return ff_reader_fail(r, ff_node_find(map, "upper")->place,
                                  "upper of axis %d is %.9g, allowed: above lower, %.9g [rad]", i + 1,
                                  arm->upper[i], arm->lower[i]);
    return ff_arm_validate(arm) == FF_OK ||
           ff_reader_fail(r, first->place, "the arm has no length, allowed: a and d of a real one");
}

/* An arm by its name, by its URDF file or by lengths. */
bool ff__read_robot_arm(ff_reader *r, const ff_node *node, const ff_key *key, void *at) {
    ff_satellite *satellite = (ff_satellite *)((char *)at - offsetof(ff_satellite, robot.device.arm));
    ff_device_settings *settings = (ff_device_settings *)((char *)at - offsetof(ff_device_settings, arm));
    struct {
        char model[FF_NAME_SIZE], tip[FF_NAME_SIZE], base[FF_NAME_SIZE];
    } names = {"", "", ""};
    settings->own = false;
    if (node->kind == FF_NODE_SCALAR) {
        int word = 0;
        if (!ff_reader_word(r, node, key, &word))
            return false;
        settings->arm = (ff_arm_kind)word;
        return true;
    }
    if (node->kind != FF_NODE_MAP)
        return ff_reader_fail(r, node->place,
                              "arm must be a name or a map, not %s, allowed: kr120, ..., {model: FILE.urdf, "
                              "tip: LINK}, or {a, d, alpha_deg, lower, upper, speed}",
                              ff_node_kind_text(node));
    if (!ff__read_below(r, node, key, &names))
        return false;
    const ff_node *model = ff_node_find(node, "model");
    if (model) {
        static const char *const rows[] = {"a", "d", "alpha_deg", "theta_deg", "lower", "upper", "speed"};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (ff_node_find(node, rows[i]))
                return ff_reader_fail(r, ff_node_find(node, rows[i])->key_place,
                                      "%s beside a model, allowed: one of them", rows[i]);
    }
    const struct ff_tree_model_file *file = model ? read_model(r, model, true) : NULL;
    char text[400];
    if (model ? !file : !read_lengths(r, node, key, &satellite->own_arm))
        return false;
    if (file && ff_urdf_arm(file->path, &file->urdf, names.base, names.tip, &satellite->own_arm, text,
                            sizeof text) != FF_OK) {
        if (r->message && r->size)
            snprintf(r->message, r->size, "%s", text);
        return false;
    }
    settings->own = true;
    return read_ready(r, ff_node_find(node, "ready"), ff__find_key(key->section, "ready"),
                      &satellite->own_arm);
}

bool ff__read_arm_model(ff_reader *r, const ff_node *node, ff_servicer_arm *arm) {
    const struct ff_tree_model_file *file = read_model(r, node, false);
    if (!file)
        return false;
    const ff_refusal to = {file->path, r->message, r->size};
    const ff_urdf *urdf = &file->urdf;
    if (urdf->root_mass > 0.0)
        return ff_refuse_at(
            &to, urdf->root_line,
            "the root link '%s' has a mass of %.9g kg, which would be dropped, allowed: none (add "
            "it to the satellite's, or carry it on a fixed joint)",
            urdf->root, urdf->root_mass);
    if (urdf->links > FF_MAX_ARM_LINKS)
        return ff_refuse_at(&to, urdf->root_line,
                            "the model has %d links beyond its root, allowed: at most %d", urdf->links,
                            FF_MAX_ARM_LINKS);
    for (int i = 0; i < urdf->links; i++) {
        arm->link[i] = (ff_servicer_link){.row = urdf->link[i].row};
        snprintf(arm->link[i].name, sizeof arm->link[i].name, "%s", urdf->link[i].name);
        snprintf(arm->link[i].joint, sizeof arm->link[i].joint, "%s", urdf->link[i].joint_name);
    }
    snprintf(arm->root, sizeof arm->root, "%s", urdf->root);
    arm->links = urdf->links;
    arm->joints = urdf->joints;
    return true;
}

bool ff__read_chain_model(ff_reader *r, const ff_node *node, ff_emulate_arm *arm) {
    const struct ff_tree_model_file *file = read_model(r, node, false);
    char text[400];
    ff_urdf chain;
    ff_pose tip;
    if (!file)
        return false;
    const ff_refusal to = {file->path, r->message, r->size};
    if (ff_urdf_chain(file->path, &file->urdf, &chain, &tip, text, sizeof text) != FF_OK) {
        if (r->message && r->size)
            snprintf(r->message, r->size, "%s", text);
        return false;
    }
    if (arm->floating && chain.root_mass > 0.0)
        return ff_refuse_at(
            &to, chain.root_line,
            "the root link '%s' and what is fixed to it have a mass of %.9g kg, which would be "
            "dropped, allowed: none with base: floating (add it to base_mass)",
            chain.root, chain.root_mass);
    if (chain.links < 1 || chain.links > FF_ARM_LINKS_MAX)
        return ff_refuse_at(&to, chain.root_line, "the model has %d joints that move, allowed: 1 to %d",
                            chain.links, FF_ARM_LINKS_MAX);
    for (int i = 0; i < chain.links; i++) {
        const ff_urdf_link *from = &chain.link[i];
        if (from->row.joint != FF_JOINT_REVOLUTE)
            return ff_refuse_at(
                &to, from->line,
                "joint '%s' is prismatic, allowed in an emulation: revolute, continuous, fixed",
                from->joint_name);
        const ff_rigid_config body = {.mass = from->row.mass, .inertia = from->row.inertia};
        if (ff_rigid_validate(&body) != FF_OK)
            return ff_refuse_at(&to, from->line,
                                "link '%s' has no inertia, allowed: positive definite [kg m2]", from->name);
        if (from->row.coulomb > 0.0)
            ff_reader_warn(r, node->place,
                           "warning: joint '%s' has friction %.9g, an emulated arm has its damping alone",
                           from->joint_name, from->row.coulomb);
        arm->link[i] = (ff_emulate_link){.row = from->row};
    }
    arm->links = chain.links;
    arm->tip = ff_pose_mul(tip, arm->tip);
    return true;
}

bool ff__read_drives(ff_reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm) {
    if (arm->links == 0)
        return ff_reader_fail(r, node->place, "drives without a model, allowed: beside model: FILE.urdf");
    if (node->kind != FF_NODE_LIST || node->count != arm->links)
        return ff_reader_fail(r, node->place,
                              "drives must be a list of %d, allowed: one row for each joint of the model",
                              arm->links);
    ff_emulate_link *link = arm->link;
    for (const ff_node *item = node->child; item; item = item->next)
        if (!ff__read_section(r, item, key->section, link++))
            return false;
    return true;
}

/* Start angles inside the limits of the file. */
bool ff__check_starts(ff_reader *r, const ff_node *section, const ff_emulate_arm *arm) {
    const ff_node *model = ff_node_find(section, "model");
    const struct ff_tree_model_file *file = model ? read_model(r, model, false) : NULL;
    if (!file)
        return !model;
    int joint = 0;
    for (int i = 0; i < file->urdf.links; i++) {
        const ff_urdf_link *from = &file->urdf.link[i];
        if (from->row.joint == FF_JOINT_FIXED)
            continue;
        const double start = arm->link[joint++].start;
        if (!(start >= from->row.lower && start <= from->row.upper))
            return ff_reader_fail(r, section->place, "joint '%s' starts at %.9g, allowed: %.9g to %.9g [rad]",
                                  from->joint_name, start, from->row.lower, from->row.upper);
    }
    return true;
}
