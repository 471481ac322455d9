/* Contacts, loads, faults: lists of sections. */
#include "scenario/internal.h"

#include <stdio.h>
#include <string.h>

static bool read_point(ff_reader *r, const ff_node *node, ff_contact *contact) {
    const ff_key key = {.key = "point", .type = FF_TYPE_VEC3, .unit = "m", .range = FF_RANGE_ANY};
    if (!node) {
        contact->point = ff_vec3_zero();
        return true;
    }
    if (node->kind == FF_NODE_LIST)
        return ff_reader_numbers(r, node, &key, 3, contact->point.a);
    const ff_satellite *body = &r->scenario->satellite[contact->body];
    ff_names list = {"", 0};
    ff_guess g = {.wrong = node->text};
    for (int i = 0; i < body->points; i++) {
        if (node->kind == FF_NODE_SCALAR && strcmp(node->text, body->point[i].name) == 0) {
            contact->point = body->point[i].r;
            return true;
        }
        ff_names_add(&list, body->point[i].name);
        ff_guess_add(&g, body->point[i].name);
    }
    if (node->kind != FF_NODE_SCALAR || !*node->text)
        return ff_reader_fail(r, node->place,
                              "point must be a name or three numbers, not %s, allowed: %s, [x, y, z]",
                              ff_node_kind_text(node), list.text);
    return ff_reader_fail(r, node->place, "satellite %s has no point '%s'%s, allowed: %s, [x, y, z]",
                          body->name, ff_show(node->text).text, ff_guess_hint(&g).text, list.text);
}

/* `body` may be left out where there is only one satellite. */
static bool check_body(ff_reader *r, const ff_node *node) {
    if (r->scenario->satellites == 1 || ff_node_find(node, "body"))
        return true;
    ff_names list = {"", 0};
    for (int i = 0; i < r->scenario->satellites; i++)
        ff_names_add(&list, r->scenario->satellite[i].name);
    return ff_reader_fail(r, node->place, "%s lacks the key 'body', allowed: %s", r->path, list.text);
}

/* It is known which satellite is meant. */
static bool has_body(const ff_reader *r, const ff_node *node) {
    const ff_node *body = ff_node_find(node, "body");
    for (int i = 0; body && i < r->scenario->satellites; i++)
        if (body->kind == FF_NODE_SCALAR && strcmp(body->text, r->scenario->satellite[i].name) == 0)
            return true;
    return !body && r->scenario->satellites == 1;
}

/* A section below a list, and what it stands on. False: no more can be said of it. */
static bool read_one(ff_reader *r, const ff_node *node, const ff_section *section, void *base, bool *good) {
    const bool all = ff_reader_all(r);
    *good = ff__read_section(r, node, section, base);
    if (*good || all)
        *good = (node->kind != FF_NODE_MAP || check_body(r, node)) && *good;
    return *good || (all && node->kind == FF_NODE_MAP);
}

static bool lacks(ff_reader *r, const ff_node *node, const char *key, const char *unit) {
    return !ff_reader_mistyped(r, node, key) &&
           ff_reader_fail(r, node->place, "%s lacks the key '%s', allowed: > 0 [%s]", r->path, key, unit);
}

static bool read_contact(ff_reader *r, const ff_node *node, const ff_section *section, ff_contact *contact) {
    contact->against = -1;
    contact->satellite_stiffness = contact->satellite_damping = FF_NAN;
    bool good;
    if (!read_one(r, node, section, contact, &good))
        return false;
    const bool all = ff_reader_all(r);
    if (has_body(r, node))
        good = read_point(r, ff_node_find(node, "point"), contact) && good;
    if (!good && !all)
        return false;
    /* the section below lies on the contact itself; fill what it left open, key by key */
    if (isnan(contact->satellite_stiffness))
        contact->satellite_stiffness = contact->stiffness;
    if (isnan(contact->satellite_damping))
        contact->satellite_damping = contact->damping;
    const ff_node *kind = ff_node_find(node, "kind"), *against = ff_node_find(node, "against"),
                  *position = ff_node_find(node, "position"), *rotation = ff_node_find(node, "rotation");
    if (against && contact->against == contact->body && has_body(r, node))
        good = ff_reader_fail(r, against->place, "against names the body itself, allowed: another satellite");
    if (!kind || !ff_reader_sound(r, kind) || (!good && !all))
        return good;
    const bool stops = contact->kind == FF_CONTACT_STOPS;
    if (stops && !position && !rotation)
        return ff_reader_fail(r, node->place, "%s has no stop, allowed: position [m], rotation [rad] or both",
                              r->path);
    if ((!stops || position) && !ff_node_find(node, "stiffness"))
        good = lacks(r, node, "stiffness", "N/m");
    if ((good || all) && (rotation || contact->kind == FF_CONTACT_GRASP) &&
        !ff_node_find(node, "rotation_stiffness"))
        good = lacks(r, node, "rotation_stiffness", "N m/rad");
    return good;
}

bool ff__check_list(ff_reader *r, const ff_node *node, const ff_key *key, int most) {
    if (node->kind != FF_NODE_LIST)
        return ff_reader_fail(r, node->place, "%s must be a list, not %s, allowed: - {...} items, or []",
                              key->key, ff_node_kind_text(node));
    if (node->count > most)
        return ff_reader_fail(r, node->place, "%d %s, allowed: at most %d", node->count, key->key, most);
    return true;
}

/* Every item of a list; `one` reads item number n, from 0. */
static bool read_items(ff_reader *r, const ff_node *node, const ff_key *key,
                       bool (*one)(ff_reader *, const ff_node *, const ff_key *, int n)) {
    bool good = true;
    int n = 0;
    for (const ff_node *item = node->child; item && (good || ff_reader_all(r)); item = item->next)
        good = one(r, item, key, n++) && good;
    r->path[0] = 0;
    return good;
}

static bool one_contact(ff_reader *r, const ff_node *item, const ff_key *key, int n) {
    ff_scenario *s = r->scenario;
    ff_contact *contact = &s->contact[n];
    s->contacts = n + 1;
    snprintf(contact->name, sizeof contact->name, "contact%d", n + 1);
    snprintf(r->path, sizeof r->path, "contact %d", n + 1);
    const bool good = read_contact(r, item, key->section, contact);
    if (!good && !ff_reader_all(r))
        return false;
    for (int i = 0; i < n; i++)
        if (strcmp(s->contact[i].name, contact->name) == 0) {
            const ff_node *name = ff_node_find(item, "name");
            return ff_reader_fail(r, name ? name->place : item->place,
                                  "contact %d is also named '%s', allowed: names of their own", i + 1,
                                  ff_show(contact->name).text);
        }
    return good;
}

bool ff__read_contacts(ff_reader *r, const ff_node *node, const ff_key *key) {
    return ff__check_list(r, node, key, FF_MAX_CONTACTS) && read_items(r, node, key, one_contact);
}

static bool one_load(ff_reader *r, const ff_node *item, const ff_key *key, int n) {
    ff_load *load = &r->scenario->load[n];
    r->scenario->loads = n + 1;
    snprintf(r->path, sizeof r->path, "load %d", n + 1);
    bool good;
    if (!read_one(r, item, key->section, load, &good))
        return false;
    if (!ff_node_find(item, "force") && !ff_node_find(item, "torque"))
        good =
            ff_reader_fail(r, item->place, "%s is empty, allowed: force [N], torque [N m] or both", r->path);
    if (!good && !ff_reader_all(r))
        return false;
    static const char *const span[] = {"from", "to", NULL};
    const ff_node *to = ff_node_find(item, "to");
    if (to && ff_node_find(item, "from") && ff_reader_sound_keys(r, item, span) && !(load->to > load->from))
        good =
            ff_reader_fail(r, to->place, "to is %.9g, allowed: after from = %.9g [s]", load->to, load->from);
    return good;
}

bool ff__read_loads(ff_reader *r, const ff_node *node, const ff_key *key) {
    return ff__check_list(r, node, key, FF_MAX_LOADS) && read_items(r, node, key, one_load);
}

/* Of kinds whose value is not free. */
static bool check_value(ff_reader *r, const ff_node *item, const ff_fault *fault) {
    static const struct {
        ff_fault_kind kind;
        double low, high;
        const char *text;
    } whole[] = {{FF_FAULT_FT_MIRRORED, 1, 6, "an axis, 1 to 6 (Fx to Tz)"},
                 {FF_FAULT_KRC_MODE, 1, 4, "a mode, 1 to 4 (T1, T2, AUT, EXT)"},
                 {FF_FAULT_KRC_OVERRIDE, 0, 100, "whole percent, 0 to 100"},
                 {FF_FAULT_KRC_LOST, 0, 5, "a signal, 1 to 5 (Mode to Pro), or 0: all"}};
    for (size_t n = 0; n < sizeof whole / sizeof *whole; n++)
        if (fault->kind == whole[n].kind && !(fault->value >= whole[n].low && fault->value <= whole[n].high &&
                                              fault->value == floor(fault->value)))
            return ff_reader_fail(r, item->place, "value is %.9g, allowed: %s", fault->value, whole[n].text);
    if (fault->kind == FF_FAULT_WALL_HARDER && !(fault->value > 0.0))
        return ff_reader_fail(r, item->place, "value is %.9g, allowed: above 0, times the stiffness",
                              fault->value);
    return true;
}

static bool one_fault(ff_reader *r, const ff_node *item, const ff_key *key, int n) {
    ff_fault *fault = &r->scenario->fault[n];
    r->scenario->faults = n + 1;
    snprintf(r->path, sizeof r->path, "fault %d", n + 1);
    static const char *const span[] = {"from", "to", NULL}, *const what[] = {"kind", "value", NULL};
    bool good = ff__read_section(r, item, key->section, fault);
    if ((!good && !ff_reader_all(r)) || item->kind != FF_NODE_MAP)
        return false;
    if (ff_reader_sound_keys(r, item, span) && !(fault->to > fault->from))
        good = ff_reader_fail(r, item->place, "to is %.9g, allowed: after from = %.9g [s]", fault->to,
                              fault->from);
    if (!good && !ff_reader_all(r))
        return false;
    return (!ff_node_find(item, "kind") || !ff_reader_sound_keys(r, item, what) ||
            check_value(r, item, fault)) &&
           good;
}

bool ff__read_faults(ff_reader *r, const ff_node *node, const ff_key *key) {
    return ff__check_list(r, node, key, FF_MAX_FAULTS) && read_items(r, node, key, one_fault);
}
