/* impact: the table of the method: settings, sizes, report. */
#include "fidelity/impact/impact.h"

static const char *const readings[] = {"default", "printed", NULL},
                         *const normals[] = {"tools", "force", NULL},
                         *const torques[] = {"lever", "measured", NULL},
                         *const online[] = {"identified", NULL};
enum { THRESHOLD = 12 }; /* its place in the table */

#define ANY .low = -FF_INF, .high = FF_INF
#define POSITIVE .low = 0.0, .high = FF_INF, .above_low = true
#define NOT_NEGATIVE .low = 0.0, .high = FF_INF
#define AT(field) offsetof(impact_settings, field)
/* clang-format off */
static const ff_setting table[] = {
    {"reading", FF_SETTING_CHOICE, "", AT(reading), "default", ANY, .choice = readings, .help = "`printed`: section IV-B of lange to the letter: `normal: force`, `torque: measured`, `observer: false`. The settings below override single choices."},
    {"normal", FF_SETTING_CHOICE, "", AT(normal), "(tools; printed: force)", ANY, .choice = normals, .help = "Direction of the satellites' force: normal of the known tools at the satellites, or the measured force's, (17)."},
    {"torque", FF_SETTING_CHOICE, "", AT(torque), "(lever; printed: measured)", ANY, .choice = torques, .help = "Of the satellites: force times lever, (13), or with the rest of the measured torque, (21)."},
    {"prediction", FF_SETTING_BOOLEAN, "", AT(prediction), "true", ANY, .help = "Command the motion one delay ahead."},
    {"recomputation", FF_SETTING_BOOLEAN, "", AT(recomputation), "true", ANY, .help = "Once a contact is measured, recompute the steps since the satellites touched."},
    {"observer", FF_SETTING_BOOLEAN, "", AT(observer), "(true; printed: false)", ANY, .help = "Take the mock-ups' own damping off the measured force; `false`: it is ignored, as in the paper's section IV-B."},
    {"gears", FF_SETTING_BOOLEAN, "", AT(gears), "true", ANY, .help = "With `joints` robots: count the gears' compliance into the stiffness, 1/k = 1/k_en + n^T J_e K_r^-1 J_e^T n."},
    {"stiffness", FF_SETTING_REAL, "N/m", AT(stiffness), "(each contact's own)", POSITIVE, .choice = online, .help = "What the method believes of the mock-ups' stiffness; `identified`: found from force and position during contact."},
    {"guess", FF_SETTING_REAL, "N/m", AT(guess), "(each contact's own)", POSITIVE, .help = "Where `stiffness: identified` starts from."},
    {"restitution", FF_SETTING_REAL, "", AT(restitution), "(from the satellites' damping)", .low = 0.3, .high = 1.0, .help = "Of the satellites' contacts, in place of their damping."},
    {"delay", FF_SETTING_REAL, "s", AT(delay), "(each robot's `delay`)", NOT_NEGATIVE, .help = "How far ahead to predict."},
    {"look_back", FF_SETTING_REAL, "s", AT(look_back), "none", NOT_NEGATIVE, .help = "Maximum time that is recomputed; never more than 1023 cycles."},
    {"threshold", FF_SETTING_REAL, "N", AT(threshold), "(5 times the noise measured in flight, at least the largest `force_noise`)", NOT_NEGATIVE, .help = "Force above which there is contact. A number is taken as it is."},
    {"position_error", FF_SETTING_REAL, "m", AT(position_error), "0.01", POSITIVE, .help = "How far surfaces may lie from where the scenario puts them; a force farther away is not taken for a contact."},
    {"drift", FF_SETTING_REAL, "m/sqrt(s)", AT(drift), "5e-5", NOT_NEGATIVE, .help = "Random walk of a surface's place during a contact: how fast older forces are forgotten."},
};
/* Causality: what was used, how far it looked back. */
static const ff_report_column columns[] = {
    {"prediction", "", FF_REPORT_BOOLEAN, true, .help = "motion is commanded one delay ahead"},
    {"recomputation", "", FF_REPORT_BOOLEAN, true, .help = "steps since the satellites touched are recomputed"},
    {"recomputations", "", FF_REPORT_INTEGER, true, .help = "cycles that rewrote the past"},
    {"longest_look_back_s", "s", FF_REPORT_REAL, true, .help = "the farthest of them"},
    {"look_back_bounded_cycles", "", FF_REPORT_INTEGER, true, .help = "cycles in which the look-back was too short"},
};
/* clang-format on */

static void defaults(int variant, void *settings) {
    *(impact_settings *)settings = (impact_settings){.reading = variant,
                                                     .normal = variant ? NORMAL_FORCE : NORMAL_TOOLS,
                                                     .torque = variant ? TORQUE_MEASURED : TORQUE_LEVER,
                                                     .prediction = true,
                                                     .recomputation = true,
                                                     .observer = !variant,
                                                     .gears = true,
                                                     .stiffness = FF_NAN,
                                                     .guess = FF_NAN,
                                                     .restitution = FF_NAN,
                                                     .delay = FF_NAN,
                                                     .look_back = FF_INF,
                                                     .position_error = 0.01,
                                                     .drift = 5e-5};
}

/* The scenario's noise is where the measured one starts, and its least; an ideal sensor has none. */
static void resolve(const ff_world *world, uint64_t given, void *settings) {
    if (!(given >> THRESHOLD & 1u))
        ((impact_settings *)settings)->threshold = 5.0 * world->force_noise;
}

static bool finite_positive(double x) {
    return x > 0.0 && isfinite(x);
}

static bool contact_good(const ff_world_contact *c, int bodies) {
    if (c->body < 0 || c->body >= bodies || c->against < -1 || c->against >= bodies ||
        c->against == c->body || !ff_vec3_finite(c->point))
        return false;
    if (!finite_positive(c->stiffness) || !finite_positive(c->satellite_stiffness) || !(c->damping >= 0.0) ||
        !(c->satellite_damping >= 0.0) || !(c->damping_depth >= 0.0) || !(c->friction >= 0.0))
        return false;
    if (c->shape == FF_SHAPE_PLANE)
        return ff_vec3_finite(c->at) && fabs(ff_vec3_norm(c->normal) - 1.0) < 1e-6;
    return c->shape == FF_SHAPE_CONE && ff_vec3_finite(c->apex) && c->half_angle > 0.0 &&
           c->half_angle < 0.5 * FF_PI && c->depth > 0.0 && fabs(ff_vec3_norm(c->axis) - 1.0) < 1e-6;
}

static ff_status check(const ff_world *world, const void *settings, uint64_t given, ff_complaint *complaint) {
    const impact_settings *s = settings;
    (void)given;
    *complaint =
        (ff_complaint){"guess", "guess belongs to stiffness: identified, allowed: stiffness: identified"};
    if (!isnan(s->guess) && s->stiffness != FF_INF)
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"", "one of its settings is outside its range"};
    if ((!isnan(s->stiffness) && !(s->stiffness > 0.0)) || (!isnan(s->guess) && !finite_positive(s->guess)) ||
        (!isnan(s->restitution) && !(s->restitution >= 0.14 && s->restitution <= 1.0)) ||
        !(s->look_back >= 0.0) || !finite_positive(s->position_error) || !(s->drift >= 0.0) ||
        !(s->threshold >= 0.0) || s->delay < 0.0)
        return FF_ERR_ARGUMENT;
    if (!world)
        return FF_OK;
    *complaint = (ff_complaint){"", "a robot's delay, or the sensors' noise, is negative or not finite"};
    for (int i = 0; i < world->bodies; i++)
        if (!(world->body[i].delay >= 0.0) || !isfinite(world->body[i].delay))
            return FF_ERR_ARGUMENT;
    if (!(world->force_noise >= 0.0))
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"", "a contact lacks body, shape, stiffness or a unit normal"};
    if (world->contacts < 0 || world->contacts > FF_METHOD_CONTACTS)
        return FF_ERR_SIZE;
    for (int c = 0; c < world->contacts; c++)
        if (!contact_good(&world->contact[c], world->bodies))
            return FF_ERR_ARGUMENT;
    return FF_OK;
}

/* Of the history: what may be looked back, and what passes while a spread recomputation catches up. */
static int bits_of(const ff_world *world, const impact_settings *s) {
    const double most = s->recomputation ? s->look_back / world->integrate.cycle : 0.0;
    return ff__ring_bits(most + 64.0, 7, HISTORY_BITS);
}

static size_t bytes(const ff_world *world, const void *settings, size_t *state) {
    *state = sizeof(impact_state) + ff__ring_bytes(bits_of(world, settings), world->bodies, sizeof(ff__past));
    return sizeof(impact_model);
}

static void create(const ff_world *world, const void *settings, uint64_t given, void *memory) {
    const impact_settings *s = settings;
    impact_model *model = memory;
    *model = (impact_model){.set = *s,
                            .identified = s->stiffness == FF_INF,
                            .stiffness = s->stiffness == FF_INF ? s->guess : s->stiffness,
                            .noise = world->force_noise,
                            .integrate = world->integrate,
                            .bits = bits_of(world, s),
                            .bodies = world->bodies,
                            .contacts = world->contacts};
    for (int i = 0; i < world->bodies; i++) {
        model->view[i].rigid = world->body[i].rigid;
        model->delay[i] = isnan(s->delay) ? world->body[i].delay : s->delay;
    }
    for (int c = 0; c < world->contacts; c++) {
        const ff_world_contact *x = &world->contact[c];
        model->contact[c] = *x;
        model->cone[c] = (ff__cone){x->apex, cos(x->half_angle), sin(x->half_angle), x->depth};
        model->level[c] = x->shape == FF_SHAPE_PLANE ? ff_vec3_dot(x->normal, x->at) : 0.0;
    }
    ff_detector_default(&model->detector);
    model->detector.force_on = s->threshold;
    model->detector.multiple = world->noisy ? 5.0 : 0.0;
    model->detector.fixed = given >> THRESHOLD & 1u;
}

static void detector(const void *model, ff_detector_config *config) {
    *config = ((const impact_model *)model)->detector;
}

static void reset(const void *self, const ff_rigid_state *body, void *memory) {
    const impact_model *model = self;
    impact_state *state = memory;
    (void)body;
    *state = (impact_state){0};
    ff__history_reset(&state->history, model->bits, model->bodies, sizeof(ff__past), state + 1);
}

static double lead(const void *self, const void *state, int body) {
    const impact_model *model = self;
    (void)state;
    return model->set.prediction ? model->delay[body] : 0.0;
}

static void report_run(const void *self, const void *memory, int body, double *values) {
    const impact_model *model = self;
    const impact_state *state = memory;
    if (body >= 0)
        return;
    values[0] = model->set.prediction;
    values[1] = model->set.recomputation;
    values[2] = (double)state->recomputations;
    values[3] = state->longest_look_back * model->integrate.cycle;
    values[4] = (double)state->bounded;
}

const ff_method ff_method_impact = {
    FF_METHOD("impact", "1",
              "Settings of the method `impact` (lange). It knows the geometry of "
              "walls, pairs and cones, their stiffness and damping, and renders "
              "the `satellite` contact."),
    .needs = FF_NEEDS_GEOMETRY | FF_NEEDS_COMPLIANCE,
    .can = FF_CAN_RELATIVE | FF_CAN_PREDICT,
    FF_METHOD_TAKES(table, impact_settings),
    .variants = 2,
    .column = columns,
    .columns = sizeof columns / sizeof *columns,
    .defaults = defaults,
    .resolve = resolve,
    .check = check,
    .bytes = bytes,
    .create = create,
    .detector = detector,
    .reset = reset,
    .lead = lead,
    .step = ff__impact_step,
    .report = report_run};
