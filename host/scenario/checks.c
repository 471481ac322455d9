/* What only the whole scenario can tell: keys that belong together, and warnings. */
#include "scenario/internal.h"

#include <stdio.h>
#include <string.h>

static bool check_time(ff_reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const ff_node *time = ff_node_find(root, "time"), *duration = ff_node_find(time, "duration");
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

static bool check_method(ff_reader *r, ff_place place) {
    if (ff_schema_method_available(r->scenario->fidelity.method))
        return true;
    ff_names list = {"", 0};
    for (int m = 0; m < FF_METHOD_COUNT; m++)
        if (ff_schema_method_available((ff_method)m))
            ff_names_add(&list, ff_method_name((ff_method)m));
    return ff_reader_fail(r, place, "method '%s' is not available yet; available: %s",
                          ff_method_name(r->scenario->fidelity.method), list.text);
}

static void set_defaults(ff_scenario *s) {
    memset(s, 0, sizeof *s);
    ff_fidelity_default(&s->fidelity);
    ff_emulation_default(&s->emulation.emulation);
    s->impact_delay = s->impact_guess = FF_NAN;
}

/* How far the tip of a contact stands inside the other's surface at the start [m]; negative: free. */
static double start_depth(const ff_scenario *s, const ff_contact *c) {
    const ff_rigid_state *a = &s->satellite[c->body].start;
    ff_vec3 p = ff_pose_apply(ff_rigid_pose(a), c->point);
    if (c->kind == FF_CONTACT_PAIR || c->kind == FF_CONTACT_CONE)
        p = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&s->satellite[c->against].start)), p);
    if (c->kind != FF_CONTACT_CONE)
        return ff_vec3_dot(c->normal, ff_vec3_sub(c->at, p));
    const ff_vec3 r = ff_vec3_sub(p, c->apex);
    const double z = ff_vec3_dot(c->axis, r), rho = ff_vec3_norm(ff_vec3_axpy(-z, c->axis, r));
    if (z > c->depth) /* in front of the mouth */
        return -1.0;
    return rho * cos(c->half_angle) - z * sin(c->half_angle);
}

/* A contact that is compressed at the start gives energy that no motion brought: seldom meant. */
static void warn_overlap(ff_reader *r, const ff_node *root) {
    const ff_node *item = ff_node_find(root, "contacts");
    item = item ? item->child : NULL;
    for (int c = 0; c < r->scenario->contacts && item; c++, item = item->next) {
        const ff_contact *contact = &r->scenario->contact[c];
        if (contact->kind == FF_CONTACT_STOPS || contact->kind == FF_CONTACT_GRASP)
            continue;
        const double depth = start_depth(r->scenario, contact);
        if (depth > 1e-9)
            ff_reader_warn(r, item->place, "warning: contact %s is compressed by %.3g m at the start",
                           contact->name, depth);
    }
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

/* What the method cannot do is said before anything moves. */
static bool check_impact(ff_reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const ff_node *impact = ff_node_find(root, "impact"), *start = ff_node_find(impact, "guess");
    s->impact_detector_given = ff_node_find(impact, "threshold") != NULL;
    if (start && !s->fidelity.impact.identified)
        return ff_reader_fail(r, start->place,
                              "guess belongs to stiffness: identified, allowed: stiffness: identified");
    if (s->fidelity.method != FF_METHOD_IMPACT)
        return true;
    const ff_node *item = ff_node_find(root, "contacts");
    item = item ? item->child : NULL;
    for (int c = 0; c < s->contacts && item; c++, item = item->next)
        if (s->contact[c].kind != FF_CONTACT_WALL && s->contact[c].kind != FF_CONTACT_PAIR &&
            s->contact[c].kind != FF_CONTACT_CONE)
            return ff_reader_fail(
                r, item->place,
                "method 'impact' does not know contacts of this kind, allowed: wall, pair, cone; for the "
                "others method direct, tdpa, damping%s",
                ff_scenario_servicer(s) < 0 ? ", fused" : "");
    return true;
}

static bool is_printed(const ff_node *root, const char *method) {
    const ff_node *reading = ff_node_find(ff_node_find(root, method), "reading");
    return reading && reading->kind == FF_NODE_SCALAR && strcmp(reading->text, "printed") == 0;
}

/* The settings of a method start from one reading or the other before single keys override them. */
static void start_methods(ff_scenario *s, const ff_node *root) {
    if (is_printed(root, "tdpa"))
        ff_tdpa_printed(&s->fidelity.tdpa);
    if (is_printed(root, "damping"))
        ff_damping_printed(&s->fidelity.damping);
    if (is_printed(root, "impact"))
        ff_impact_printed(&s->fidelity.impact);
}

/* A scenario floats satellites or emulates a robot. */
static bool check_subject(ff_reader *r, const ff_node *root) {
    if (root->kind != FF_NODE_MAP)
        return true;
    const ff_node *emulation = ff_node_find(root, "emulation");
    if (!emulation && !ff_node_find(root, "satellites"))
        return ff_reader_fail(r, root->place, "the scenario lacks the key 'satellites', allowed: map");
    static const char *const foreign[] = {"satellites", "contacts", "loads", "nominal", "frame"};
    for (size_t i = 0; emulation && i < sizeof foreign / sizeof *foreign; i++) {
        const ff_node *node = ff_node_find(root, foreign[i]);
        if (node)
            return ff_reader_fail(r, node->key_place,
                                  "key '%s' does not belong to an emulation, allowed: emulation alone",
                                  foreign[i]);
    }
    r->scenario->emulates = emulation != NULL;
    return true;
}

/* A scenario with an arm: client and servicer, one grasp by the arm's gripper, perfect or late robots. */
static bool check_servicer(ff_reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const int servicer = ff_scenario_servicer(s);
    if (servicer < 0)
        return true;
    const ff_node *satellites = ff_node_find(root, "satellites"), *contacts = ff_node_find(root, "contacts");
    if (s->satellites != 2 || s->satellite[1 - servicer].arm.present)
        return ff_reader_fail(r, satellites->place,
                              "a scenario with an arm has %d satellites, allowed: the servicer and one "
                              "client without an arm",
                              s->satellites);
    if (s->contacts > 1 ||
        (s->contacts == 1 && (s->contact[0].kind != FF_CONTACT_GRASP || s->contact[0].body != servicer)))
        return ff_reader_fail(r, contacts->place,
                              "contacts of a scenario with an arm, allowed: one grasp whose body is '%s'",
                              s->satellite[servicer].name);
    if (s->fidelity.method == FF_METHOD_IMPACT || s->fidelity.method == FF_METHOD_FUSED) {
        const ff_node *method = ff_node_find(root, "method");
        return ff_reader_fail(
            r, method ? method->place : root->place,
            "method '%s' predicts its satellites as rigid bodies and knows no torques of an arm, "
            "allowed: ideal, direct, tdpa, damping",
            ff_method_name(s->fidelity.method));
    }
    if (s->integrate.scheme != FF_SCHEME_LIE_MIDPOINT)
        return ff_reader_fail(r, ff_node_find(root, "integrator")->place,
                              "integrator '%s' knows no arm, allowed: lie-midpoint",
                              ff_scheme_name(s->integrate.scheme));
    ff_servicer_arm *arm = &s->satellite[servicer].arm;
    if (!(arm->cycle > 0.0))
        arm->cycle = 0.25 * s->cycle;
    if (isnan(s->satellite[servicer].obsw.hold))
        s->satellite[servicer].obsw.hold = 10.0 * s->cycle;
    const double parts = s->cycle / arm->cycle;
    if (parts < 0.5 || fabs(parts - round(parts)) > 1e-9 * parts)
        return ff_reader_fail(r, satellites->place,
                              "the arm's cycle is %.9g, allowed: the loop's divided by a whole number",
                              arm->cycle);
    if (s->frame == FF_FRAME_RELATIVE && (s->nominal == FF_NOMINAL_SATELLITE || s->relative_integrated))
        return ff_reader_fail(r, root->place,
                              "with an arm the nominal motion is, allowed: free, prescribed; form algebraic");
    return true;
}

bool ff__read_scenario(ff_reader *r, const ff_node *root, const char *method) {
    ff_scenario *s = r->scenario;
    set_defaults(s);
    start_methods(s, root);
    if (!check_subject(r, root) || !ff__read_section(r, root, &ff_schema, s) || !check_time(r, root))
        return false;

    const ff_node *given = ff_node_find(root, "method");
    ff_place place = given ? given->place : root->place;
    if (method) {
        char argument[FF_NAME_SIZE];
        snprintf(argument, sizeof argument, "--method %s", ff_show(method).text);
        place = (ff_place){1, 1, argument};
        const ff_node node = {.kind = FF_NODE_SCALAR, .text = method, .place = place};
        int word = 0;
        if (!ff_reader_word(r, &node, ff__find_key(&ff_schema, "method"), &word))
            return false;
        s->fidelity.method = (ff_method)word;
        if (!check_method(r, place))
            return false;
    } else if (!check_method(r, place))
        return false;

    if (!check_impact(r, root))
        return false;
    warn_overlap(r, root);
    warn_untouchable(r, root);
    if (s->frame == FF_FRAME_RELATIVE && s->relative_integrated &&
        (s->nominal == FF_NOMINAL_SATELLITE ||
         (s->integrate.scheme != FF_SCHEME_LIE_MIDPOINT && s->integrate.scheme != FF_SCHEME_EULER)))
        return ff_reader_fail(r, ff_node_find(ff_node_find(root, "relative"), "form")->place,
                              "form 'integrated' does not go with %s, allowed: %s",
                              s->nominal == FF_NOMINAL_SATELLITE ? "nominal kind 'satellite'"
                                                                 : ff_scheme_name(s->integrate.scheme),
                              s->nominal == FF_NOMINAL_SATELLITE ? "free, prescribed"
                                                                 : "lie-midpoint, euler");
    if (s->nominal != FF_NOMINAL_SATELLITE)
        for (int i = s->satellites - 1; i >= 0; i--)
            if (i == 0 || strcmp(s->satellite[i].name, "client") == 0) {
                s->nominal_of = i;
                break;
            }
    if (s->contact_wrench == FF_CONTACT_RULE_HELD && !ff_scheme_holds(s->integrate.scheme))
        return ff_reader_fail(
            r, ff_node_find(root, "contact_wrench")->place,
            "contact_wrench 'held' does not go with integrator '%s', allowed: lie-midpoint, splitting",
            ff_scheme_name(s->integrate.scheme));
    if (!check_servicer(r, root))
        return false;
    if (!ff_node_find(ff_node_find(root, "passive"), "reading"))
        s->integrate.passive_printed = s->tdpa_printed;
    const ff_node *tdpa = ff_node_find(root, "tdpa");
    s->detector_given = ff_node_find(tdpa, "threshold") != NULL;
    s->torque_detector_given = ff_node_find(tdpa, "torque_threshold") != NULL;
    const ff_node *damping = ff_node_find(root, "damping");
    s->damping_given.threshold = ff_node_find(damping, "threshold") != NULL;
    s->damping_given.torque_threshold = ff_node_find(damping, "torque_threshold") != NULL;
    s->damping_given.noise = ff_node_find(damping, "noise") != NULL;
    s->damping_given.skew = ff_node_find(damping, "skew") != NULL;
    const ff_node *fused = ff_node_find(root, "fused");
    s->fused_given.delay = ff_node_find(fused, "delay") != NULL;
    s->fused_given.force_noise = ff_node_find(fused, "force_noise") != NULL;
    s->fused_given.torque_noise = ff_node_find(fused, "torque_noise") != NULL;
    s->fused_given.skew = ff_node_find(fused, "skew") != NULL;
    for (int i = 0; i < s->satellites; i++)
        s->satellite[i].limits.cycle = s->cycle;
    s->emulation.cycle = s->cycle;
    s->emulation.duration = s->duration;
    s->emulation.seed = s->seed;
    return !s->emulates || ff__check_emulation(r, root);
}
