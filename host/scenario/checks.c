/* What only the whole scenario shows: keys that belong together, and warnings. */
#include "scenario/internal.h"
#include "scenario/methods.h"

#include <stdio.h>
#include <string.h>

static bool check_time(ff_reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const ff_node *time = ff_node_find(root, "time"), *duration = ff_node_find(time, "duration");
    if (!duration || !(s->cycle > 0.0) || !(s->duration > 0.0))
        return true; /* it has been said what is wrong with them */
    if (s->duration < s->cycle)
        return ff_reader_fail(r, duration->place, "duration is %.9g, allowed: at least one cycle, %.9g [s]",
                              s->duration, s->cycle);
    const double cycles = round(s->duration / s->cycle);
    if (!(cycles <= 1e9))
        return ff_reader_fail(r, duration->place,
                              "duration is %.9g, %.3g cycles, allowed: at most 1e9 cycles", s->duration,
                              cycles);
    s->cycles = (uint64_t)cycles;
    s->integrate.cycle = s->cycle;
    return true;
}

/* How far the tip of a contact stands inside the other's surface at the start [m], or a stop is exceeded [m]
 * or [rad]; negative: free. */
static double start_depth(const ff_scenario *s, const ff_contact *c, const char **unit) {
    const ff_rigid_state *a = &s->satellite[c->body].start;
    *unit = "m";
    if (c->kind == FF_CONTACT_STOPS) {
        const ff_vec3 phi = ff_quat_log(a->attitude);
        double depth = -FF_INF, turn = -FF_INF;
        for (int i = 0; i < 3; i++) {
            depth = fmax(depth, fabs(a->position.a[i]) - c->stop_position.a[i]);
            turn = fmax(turn, fabs(phi.a[i]) - c->stop_rotation.a[i]);
        }
        if (depth > 0.0 || !(turn > 0.0))
            return depth;
        *unit = "rad";
        return turn;
    }
    ff_vec3 p = ff_pose_apply(ff_rigid_pose(a), c->point);
    if (c->against >= 0)
        p = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&s->satellite[c->against].start)), p);
    if (c->kind != FF_CONTACT_CONE)
        return ff_vec3_dot(c->normal, ff_vec3_sub(c->at, p));
    const ff_vec3 r = ff_vec3_sub(p, c->apex);
    const double z = ff_vec3_dot(c->axis, r), rho = ff_vec3_norm(ff_vec3_axpy(-z, c->axis, r));
    const bool behind = z * cos(c->half_angle) + rho * sin(c->half_angle) < 0.0;
    return fmin(behind ? ff_vec3_norm(r) : rho * cos(c->half_angle) - z * sin(c->half_angle), c->depth - z);
}

static const ff_node *satellite_node(const ff_node *root, int n) {
    const ff_node *all = ff_node_find(root, "satellites");
    const ff_node *one = all && all->kind == FF_NODE_MAP ? all->child : NULL;
    while (one && n-- > 0)
        one = one->next;
    return one;
}

/* Where the contact and what it touches are at the start was read. */
static bool placed(const ff_reader *r, const ff_node *root, const ff_node *item, const ff_contact *contact) {
    static const char *const start[] = {"position", "attitude", "abc_deg", "rpy", "points", NULL};
    static const char *const own[] = {"kind",     "body",     "against", "point",      "at",
                                      "normal",   "apex",     "axis",    "half_angle", "depth",
                                      "position", "rotation", NULL};
    static const char *const face[] = {"at", "normal", NULL},
                             *const cone[] = {"apex", "axis", "half_angle", NULL}, *const nothing[] = {NULL};
    const ff_node *body = satellite_node(root, contact->body), *other = NULL;
    if (contact->against >= 0)
        other = satellite_node(root, contact->against);
    const char *const *needed = contact->kind == FF_CONTACT_CONE    ? cone
                                : contact->kind == FF_CONTACT_STOPS ? nothing
                                                                    : face;
    bool all = ff_node_find(item, "kind") && (ff_node_find(item, "body") || r->scenario->satellites == 1);
    for (; *needed; needed++)
        all = all && ff_node_find(item, *needed);
    return all && ff_reader_sound_keys(r, item, own) && ff_reader_sound_keys(r, body, start) &&
           ff_reader_sound_keys(r, other, start);
}

/* A contact that is compressed at the start gives energy that no motion brought: seldom meant. Where a
 * gripper is at the start only its arm knows. */
static bool check_overlap(ff_reader *r, const ff_node *root) {
    const ff_scenario *s = r->scenario;
    const ff_node *item = ff_node_find(root, "contacts");
    bool good = true;
    item = item && !s->allow_penetration ? item->child : NULL;
    for (int c = 0; c < s->contacts && item && (good || ff_reader_all(r)); c++, item = item->next) {
        const ff_contact *contact = &s->contact[c];
        if (contact->kind == FF_CONTACT_GRASP || s->satellite[contact->body].arm.present ||
            !placed(r, root, item, contact))
            continue;
        const char *unit;
        const double depth = start_depth(s, contact, &unit);
        if (depth > 1e-9)
            good = ff_reader_fail(r, item->place,
                                  "contact %s is compressed by %.3g %s at the start, allowed: apart, or "
                                  "allow_penetration: true",
                                  contact->name, depth, unit);
    }
    return good;
}

/* A contact that nothing can reach is a wrong sign or a forgotten velocity. */
static void warn_untouchable(ff_reader *r, const ff_node *root) {
    double clearance[FF_MAX_CONTACTS];
    const ff_node *item = ff_node_find(root, "contacts");
    if (!r->warnings || !item)
        return;
    ff_scenario_clearance(r->scenario, clearance);
    item = item->child;
    for (int c = 0; c < r->scenario->contacts && item; c++, item = item->next)
        if (clearance[c] > 0.0)
            ff_reader_warn(
                r, item->place,
                "warning: contact %s cannot touch: nothing pushes the satellites, and in %.9g s they come no "
                "nearer than %.3g m",
                r->scenario->contact[c].name, r->scenario->duration, clearance[c]);
}

/* A start above what the robot may be sent: the robot is slower than the satellite from the first cycle on.
 */
static void warn_start(ff_reader *r, const ff_node *root) {
    const ff_node *item = ff_node_find(root, "satellites");
    item =
        item && r->scenario->frame != FF_FRAME_RELATIVE ? item->child : NULL; /* there the robot's differs */
    for (int i = 0; i < r->scenario->satellites && item; i++, item = item->next) {
        const ff_satellite *s = &r->scenario->satellite[i];
        const double speed = ff_vec3_norm(s->start.velocity), turn = ff_vec3_norm(s->start.omega);
        if (speed > s->limits.velocity)
            ff_reader_warn(r, item->place,
                           "warning: satellite %s starts at %.4g m/s, its robot may move at %.4g "
                           "(limits.velocity): it lags from the start",
                           s->name, speed, s->limits.velocity);
        if (turn > s->limits.angular_velocity)
            ff_reader_warn(r, item->place,
                           "warning: satellite %s starts at %.4g rad/s, its robot may turn at %.4g "
                           "(limits.angular_velocity): it lags from the start",
                           s->name, turn, s->limits.angular_velocity);
    }
}

/* The method, and the arm or frame that it does not take. */
static bool refuse_method(ff_reader *r, uint32_t can, const char *what, const char *word) {
    const ff_scenario *s = r->scenario;
    ff_names list = {"", 0};
    ff_names_add(&list, "ideal");
    for (int m = 0; m < s->setups; m++)
        if (s->setup[m].method->can & can)
            ff_names_add(&list, s->setup[m].method->name);
    if (ff_scenario_library(s))
        return ff_reader_fail(r, r->method,
                              "method '%s' does not take %s: its table lacks %s, allowed: %s, or a library "
                              "that has it",
                              s->method->name, what, word, list.text);
    return ff_reader_fail(
        r, r->method,
        "method '%s' computes the contact force itself, but the arm's joints have felt the measured one "
        "(docs/methods/arm.md), allowed: %s",
        s->method->name, list.text);
}

static bool check_method(ff_reader *r) {
    const ff_scenario *s = r->scenario;
    if (!s->method || *s->unchecked)
        return true;
    bool good = true;
    if (ff_scenario_servicer(s) >= 0 && !(s->method->can & FF_CAN_TREE))
        good = refuse_method(r, FF_CAN_TREE, "an arm", "FF_CAN_TREE");
    if (s->frame == FF_FRAME_RELATIVE && !(s->method->can & FF_CAN_RELATIVE) && (good || ff_reader_all(r)))
        good = refuse_method(r, FF_CAN_RELATIVE, "frame: relative", "FF_CAN_RELATIVE");
    return good;
}

/* What the method cannot do is said before anything moves. */
static bool check_geometry(ff_reader *r, const ff_node *root) {
    const ff_scenario *s = r->scenario;
    if (!s->method || !(s->method->needs & FF_NEEDS_GEOMETRY) || ff_scenario_servicer(s) >= 0)
        return true; /* check_servicer says more of an arm */
    const ff_node *item = ff_node_find(root, "contacts");
    item = item ? item->child : NULL;
    bool good = true;
    for (int c = 0; c < s->contacts && item && (good || ff_reader_all(r)); c++, item = item->next)
        if (s->contact[c].kind != FF_CONTACT_WALL && s->contact[c].kind != FF_CONTACT_PAIR &&
            s->contact[c].kind != FF_CONTACT_CONE && ff_reader_sound(r, ff_node_find(item, "kind")))
            good = ff_reader_fail(
                r, item->place,
                "method '%s' does not know contacts of this kind, allowed: wall, pair, cone; for the "
                "others method direct, tdpa, damping, fused",
                s->method->name);
    return good;
}

/* A scenario floats satellites or emulates a robot. */
static bool check_subject(ff_reader *r, const ff_node *root) {
    if (root->kind != FF_NODE_MAP)
        return true;
    const ff_node *emulation = ff_node_find(root, "emulation");
    if (!emulation && !ff_node_find(root, "satellites"))
        return ff_reader_fail(r, root->place, "the scenario lacks the key 'satellites', allowed: map");
    static const char *const foreign[] = {"satellites", "contacts", "loads", "nominal", "frame"};
    bool good = true;
    r->scenario->emulates = emulation != NULL;
    for (size_t i = 0; emulation && i < sizeof foreign / sizeof *foreign && (good || ff_reader_all(r)); i++) {
        const ff_node *node = ff_node_find(root, foreign[i]);
        if (node)
            good = ff_reader_fail(r, node->key_place,
                                  "key '%s' does not belong to an emulation, allowed: emulation alone",
                                  foreign[i]);
    }
    return good;
}

/* A scenario with an arm: client and servicer, one grasp by the arm's gripper, perfect or late robots. */
static bool check_servicer(ff_reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const int servicer = ff_scenario_servicer(s);
    const bool all = ff_reader_all(r);
    const ff_node *satellites = ff_node_find(root, "satellites"), *contacts = ff_node_find(root, "contacts"),
                  *item = contacts ? contacts->child : NULL;
    for (int c = 0; c < s->contacts && servicer < 0; c++)
        if (s->contact[c].kind == FF_CONTACT_GRASP && isfinite(s->contact[c].opens))
            return ff_reader_fail(r, contacts->place,
                                  "only the gripper of an arm opens again, allowed: no key 'opens'");
    if (servicer < 0)
        return true;
    bool good = true;
    if (s->satellites != 2 || s->satellite[1 - servicer].arm.present)
        return ff_reader_fail(r, satellites->place,
                              "a scenario with an arm has %d satellites, allowed: the servicer and one "
                              "client without an arm",
                              s->satellites);
    int grasps = 0;
    for (int c = 0; c < s->contacts && item && (good || all); c++, item = item->next) {
        const ff_contact *k = &s->contact[c];
        if (!ff_reader_sound(r, item))
            continue;
        grasps += k->kind == FF_CONTACT_GRASP;
        if (grasps > 1 || k->body != servicer || (k->kind != FF_CONTACT_GRASP && k->kind != FF_CONTACT_PAIR))
            good = ff_reader_fail(
                r, contacts->place,
                "contacts of a scenario with an arm, allowed: one grasp and any pairs, whose body is '%s'",
                s->satellite[servicer].name);
        else if (k->kind == FF_CONTACT_GRASP && !(k->opens > k->closes))
            good = ff_reader_fail(r, contacts->place,
                                  "the grasp opens at %.9g s, allowed: after it closes, %.9g s", k->opens,
                                  k->closes);
    }
    const ff_node *scheme = ff_node_find(root, "integrator");
    if ((good || all) && s->integrate.scheme != FF_SCHEME_LIE_MIDPOINT && scheme &&
        ff_reader_sound(r, scheme))
        good =
            ff_reader_fail(r, scheme->place, "integrator '%s' does not go with an arm, allowed: lie-midpoint",
                           ff_scheme_name(s->integrate.scheme));
    ff_servicer_arm *arm = &s->satellite[servicer].arm;
    if (!(arm->cycle > 0.0))
        arm->cycle = 0.25 * s->cycle;
    if (isnan(s->satellite[servicer].obsw.hold))
        s->satellite[servicer].obsw.hold = 10.0 * s->cycle;
    const double parts = s->cycle / arm->cycle;
    const ff_node *own = ff_node_find(ff_node_find(satellite_node(root, servicer), "arm"), "cycle"),
                  *loop = ff_node_find(ff_node_find(root, "time"), "cycle");
    if ((good || all) && loop && ff_reader_sound(r, loop) && ff_reader_sound(r, own) &&
        (parts < 0.5 || fabs(parts - round(parts)) > 1e-9 * parts))
        good = ff_reader_fail(r, satellites->place,
                              "the arm's cycle is %.9g, allowed: the loop's divided by a whole number",
                              arm->cycle);
    const ff_node *nominal = ff_node_find(ff_node_find(root, "nominal"), "kind"),
                  *form = ff_node_find(ff_node_find(root, "relative"), "form");
    const bool relative = s->frame == FF_FRAME_RELATIVE && ff_reader_sound(r, ff_node_find(root, "frame"));
    if ((good || all) && relative && s->nominal == FF_NOMINAL_SATELLITE && ff_reader_sound(r, nominal))
        good = ff_reader_fail(r, nominal->place,
                              "nominal kind 'satellite' does not go with an arm, allowed: free, prescribed");
    if ((good || all) && relative && s->relative_integrated && ff_reader_sound(r, form))
        good =
            ff_reader_fail(r, form->place, "form 'integrated' does not go with an arm, allowed: algebraic");
    return good;
}

/* Settings of a method in a shared object. */
static bool read_library(ff_reader *r, const ff_node *root) {
    const ff_method_library *library = ff_scenario_library(r->scenario);
    const ff_node *node = library ? ff_node_find(root, library->method->name) : NULL;
    if (!node)
        return true;
    const ff_key key = {.key = library->method->name,
                        .type = FF_TYPE_METHOD,
                        .unit = "",
                        .fallback = "{}",
                        .section = &library->section->section};
    return ff__read_method(r, node, &key);
}

static bool check_form(ff_reader *r, const ff_node *root) {
    const ff_scenario *s = r->scenario;
    const bool of_satellite = s->nominal == FF_NOMINAL_SATELLITE,
               scheme =
                   s->integrate.scheme == FF_SCHEME_LIE_MIDPOINT || s->integrate.scheme == FF_SCHEME_EULER;
    static const char *const all[] = {"nominal", "integrator", "frame", "relative", NULL};
    if (s->frame != FF_FRAME_RELATIVE || !s->relative_integrated || (!of_satellite && scheme) ||
        !ff_reader_sound_keys(r, root, all))
        return true;
    return ff_reader_fail(r, ff_node_find(ff_node_find(root, "relative"), "form")->place,
                          "form 'integrated' does not go with %s, allowed: %s",
                          of_satellite ? "nominal kind 'satellite'" : ff_scheme_name(s->integrate.scheme),
                          of_satellite ? "free, prescribed" : "lie-midpoint, euler");
}

static bool check_contact_wrench(ff_reader *r, const ff_node *root) {
    const ff_scenario *s = r->scenario;
    static const char *const both[] = {"contact_wrench", "integrator", NULL};
    if (s->contact_wrench != FF_CONTACT_RULE_HELD || ff_scheme_holds(s->integrate.scheme) ||
        !ff_reader_sound_keys(r, root, both))
        return true;
    return ff_reader_fail(
        r, ff_node_find(root, "contact_wrench")->place,
        "contact_wrench 'held' does not go with integrator '%s', allowed: lie-midpoint, splitting",
        ff_scheme_name(s->integrate.scheme));
}

/* Where the robots are is known in the inertial frame alone, and a gripper only to its arm. */
static bool check_virtual(ff_reader *r, const ff_node *root) {
    const ff_scenario *s = r->scenario;
    const ff_node *contacts = ff_node_find(root, "contacts"), *item = contacts ? contacts->child : NULL;
    const bool relative = s->frame == FF_FRAME_RELATIVE && ff_reader_sound(r, ff_node_find(root, "frame"));
    bool good = true;
    for (int c = 0; c < s->contacts && item && (good || ff_reader_all(r)); c++, item = item->next)
        if (s->contact[c].is_virtual && (relative || ff_scenario_servicer(s) >= 0) &&
            ff_reader_sound(r, ff_node_find(item, "source")))
            good = ff_reader_fail(r, ff_node_find(item, "source")->place,
                                  "source 'virtual' does not go with %s, allowed: real",
                                  relative ? "frame: relative" : "an arm");
    return good;
}

static void settle_nominal(ff_scenario *s) {
    if (s->nominal != FF_NOMINAL_SATELLITE)
        for (int i = s->satellites - 1; i >= 0; i--)
            if (i == 0 || strcmp(s->satellite[i].name, "client") == 0) {
                s->nominal_of = i;
                break;
            }
    if (ff_scenario_servicer(s) >= 0 && s->satellites == 2) /* who has no arm, whatever its name */
        s->nominal_of = 1 - ff_scenario_servicer(s);
}

/* The first mistake ends it, unless every one is asked for: then what stands behind one is checked as far as
 * it does not build on it. */
bool ff__read_scenario(ff_reader *r, const ff_node *root, const char *method) {
    ff_scenario *s = r->scenario;
    const bool all = ff_reader_all(r);
    memset(s, 0, sizeof *s);
    ff_emulation_default(&s->emulation.emulation);
    const ff_node *base = root->kind == FF_NODE_MAP ? ff_node_find(root, "base") : NULL;
    if (base && !ff_node_find(root, "satellites") && !ff_node_find(root, "emulation"))
        return ff_reader_fail(r, base->key_place, "this is a campaign: freefloat campaign takes it");
    const bool subject = check_subject(r, root);
    if (!subject && !all)
        return false;
    const bool known = ff__start_methods(r, root, method);
    if (!known && !all)
        return false;
    const bool whole = ff__read_section(r, root, ff_schema_top(), s);
    if (!whole && !all)
        return false;
    bool good = read_library(r, root) && subject && known && whole;
    if (!good && !all)
        return false;
    good = check_time(r, root) && good;
    if (known && (good || all) && !check_method(r)) {
        r->unsupported = good;
        good = false;
    }
    if (root->kind != FF_NODE_MAP || (!good && !all))
        return false;
    if (known && !check_geometry(r, root)) {
        r->unsupported = good;
        good = false;
    }
    if (!good && !all)
        return false;
    good = check_overlap(r, root) && good;
    if (!good && !all)
        return false;
    if (whole && known) {
        warn_untouchable(r, root);
        warn_start(r, root);
    }
    settle_nominal(s);
    const bool form = check_form(r, root), rule = (form || all) && check_contact_wrench(r, root),
               servicer = (rule || all) && check_servicer(r, root),
               source = (servicer || all) && check_virtual(r, root);
    if (!whole || !known || !form || !rule || !servicer || !source)
        return s->emulates && all && ff_reader_sound(r, ff_node_find(root, "emulation")) &&
               ff__check_emulation(r, root) && false;
    if (!ff_node_find(ff_node_find(root, "passive"), "reading"))
        s->integrate.passive_printed =
            ff_settings_get(&ff_method_tdpa, ff_scenario_setting(s, &ff_method_tdpa), "reading") == 1.0;
    s->emulation.cycle = s->cycle;
    s->emulation.duration = s->duration;
    s->emulation.seed = s->seed;
    if (s->emulates)
        return ff__check_emulation(r, root) && good;
    return good;
}
