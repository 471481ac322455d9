/* fused: the table of the method: settings, sizes, report. */
#include "fidelity/fused/fused.h"

#define NOT_NEGATIVE .low = 0.0, .high = FF_INF
#define AT(field) offsetof(fused_settings, field)
enum {
    FORCE_NOISE = 2,
    TORQUE_NOISE,
    SKEW,
    SENSOR_LAG = 7,
    ZERO,
    POSE_NOISE,
    VELOCITY_NOISE
}; /* places in the table */

/* clang-format off */
static const char *const trackings[] = {"on", "off", NULL};
static const ff_setting settings[] = {
    {"delay", FF_SETTING_REAL, "s", AT(delay), "(the robot's: dead time and lag)", NOT_NEGATIVE, .help = "Delay to start from, for every robot; it is corrected in free flight."},
    {"tracking", FF_SETTING_CHOICE, "", AT(tracking), "on", .choice = trackings, .help = "Whether the delay is followed in free flight, or kept as given."},
    {"force_noise", FF_SETTING_REAL, "N", AT(force_noise), "(the largest `force_noise`)", NOT_NEGATIVE, .help = "Standard deviation of one axis of the force."},
    {"torque_noise", FF_SETTING_REAL, "N m", AT(torque_noise), "(the largest `torque_noise`)", NOT_NEGATIVE, .help = "Standard deviation of one axis of the torque."},
    {"skew", FF_SETTING_REAL, "s", AT(skew), "(the largest sensor `delay`)", .low = -FF_INF, .high = FF_INF, .help = "By how much the force is older than the robot's pose; from a calibration."},
    {"stiffness", FF_SETTING_REAL, "N/m", AT(stiffness), "0", NOT_NEGATIVE, .help = "A guess that is believed to its own size; 0: none. It is not needed."},
    {"look_back", FF_SETTING_REAL, "s", AT(look_back), "none", NOT_NEGATIVE, .help = "The longest contact that is recomputed from its beginning: memory is reserved for it. Never more than 960 cycles."},
    {"sensor_lag", FF_SETTING_REAL, "s", AT(sensor_lag), "(the largest sensor's, 1/(2 pi `bandwidth`))", NOT_NEGATIVE, .help = "Time constant of the sensor's low pass; 0: none."},
    {"zero", FF_SETTING_CHOICE, "", AT(zero), "(on where a sensor is not `ideal`)", .choice = trackings, .help = "Whether the sensor's offset and its drift are learnt in free flight, or taken to be zero. A run then begins in flight."},
    {"pose_noise", FF_SETTING_REAL, "m", AT(pose_noise), "(the largest `pose_noise`)", NOT_NEGATIVE, .help = "Standard deviation of one axis of the position that the robots report."},
    {"velocity_noise", FF_SETTING_REAL, "m/s", AT(velocity_noise), "(the largest `velocity_noise`)", NOT_NEGATIVE, .help = "The same of their velocity."},
};

static const char *const laws[] = {"none", "k p + c v", "p^1.5 (k + c v)", "p (k + c v)", "p^1.25 (k + c v)", "k p + c S(p/d) v", NULL};
static const char *const kinds[] = {"force", "torque", NULL};
static const char *const validity[] = {"inside", "outside: because ", /* then FUSED_FEW_SAMPLES ... */
    "fewer than 4 samples in contact", "noise hides how large it is", "the sensor's delay matters at this stiffness", "longer than the history", "no surface was identified",
    "the sensor's bandwidth matters at this stiffness", "another contact at the same time", "friction is not known well enough", "neither law nor friction explains the force", "the robot's gears give way as much as the surface", "noise of the robot's pose hides how stiff it is", NULL};
static const ff_report_column columns[] = {
    {"law", "", FF_REPORT_CHOICE, .label = laws, .help = "force of the surface by depth p and its rate v"},
    {"kind", "", FF_REPORT_CHOICE, .label = kinds, .help = "along a normal, or about it"},
    {"stiffness", "N/m", FF_REPORT_REAL, .help = "k of the law; exponent n: N/m^n"},
    {"stiffness_sd", "N/m", FF_REPORT_REAL, .help = "its standard deviation"},
    {"damping", "N s/m", FF_REPORT_REAL, .help = "c of the law"},
    {"damping_sd", "N s/m", FF_REPORT_REAL, .help = "its standard deviation"},
    {"surface_m", "m", FF_REPORT_VECTOR, .help = "a point on the surface"},
    {"surface_sd_m", "m", FF_REPORT_REAL, .help = "standard deviation of its place along the normal"},
    {"normal", "", FF_REPORT_VECTOR, .help = "inertial, on a moving surface in that body's axes"},
    {"contact_point_m", "m", FF_REPORT_VECTOR, .help = "body axes"},
    {"friction", "", FF_REPORT_REAL, .help = "Coulomb coefficient"},
    {"delay_s", "s", FF_REPORT_REAL, .help = "as the robot shows it"},
    {"delay_configured_s", "s", FF_REPORT_REAL, .help = "as configured"},
    {"causal_peak_limit_N", "N", FF_REPORT_REAL, .help = "least robot force that any causal method reaches without a known wall"},
    {"ideal_peak_N", "N", FF_REPORT_REAL, .help = "of this surface without delay"},
    {"samples", "", FF_REPORT_INTEGER, .help = "in contact, as the satellite feels it"},
    {"known_wall", "", FF_REPORT_BOOLEAN, .help = "the wall was known before"},
    {"validity", "", FF_REPORT_FLAGS, .label = validity, .help = "inside: three standard deviations of the impulse are below 3 %; or why not"},
    {"restitution_sd", "", FF_REPORT_REAL, .help = "standard deviation of e"},
    {"impulse_sd", "", FF_REPORT_REAL, .help = "of the impulse, relative to it; the root of the squares of what follows:"},
    {"noise_sd", "", FF_REPORT_REAL, .help = "by the sensor's noise and offset"},
    {"time_sd", "", FF_REPORT_REAL, .help = "by the skew"},
    {"bandwidth_sd", "", FF_REPORT_REAL, .help = "by the sensor's low pass"},
    {"pose_sd", "", FF_REPORT_REAL, .help = "by noise of the robots' poses and velocities"},
    {"gears_sd", "", FF_REPORT_REAL, .help = "by the robots' gears"},
    {"friction_sd", "", FF_REPORT_REAL, .help = "by friction"},
    {"others_sd", "", FF_REPORT_REAL, .help = "by other contacts at the same time"},
    {"misfit_sd", "", FF_REPORT_REAL, .help = "by force that neither law nor friction explains"},
    {"energy_sd_J", "J", FF_REPORT_REAL, .help = "by how much all contacts so far may have made the kinetic energy wrong"},
    {"turn_sd", "", FF_REPORT_REAL, .help = "standard deviation of the angular impulse about the CoM, relative to the impulse times the radius of gyration, by the contact point; once it is settled"},
    {"energy_net_active", "", FF_REPORT_INTEGER, true, .help = "kicks that the energy limit reduced"},
    {"false_alarms", "", FF_REPORT_INTEGER, true, .help = "contacts that were noise"},
    {"phantom_walls", "", FF_REPORT_INTEGER, true, .help = "remembered walls that were not there any more"},
    {"law_switches", "", FF_REPORT_INTEGER, true, .help = "changes of a surface's law"},
    {"stiffness_at_bound", "", FF_REPORT_INTEGER, true, .help = "estimates with the least stiffness"},
    {"look_back_reached", "", FF_REPORT_INTEGER, true, .help = "cycles of contacts longer than the history"},
    {"delay_changes", "", FF_REPORT_INTEGER, true, .help = "corrections of the delay by more than a cycle"},
    {"settlements_refused", "", FF_REPORT_INTEGER, true, .help = "settlements that would have moved a contact's impulse by more than two standard deviations"},
    {"partners_revised", "", FF_REPORT_INTEGER, true, .help = "contacts of two satellites taken for one with the world first, or the other way round"},
};
/* clang-format on */

static void defaults(int variant, void *memory) {
    (void)variant;
    *(fused_settings *)memory = (fused_settings){.delay = FF_NAN, .look_back = FF_INF};
}

static void resolve(const ff_world *world, uint64_t given, void *memory) {
    fused_settings *s = memory;
    if (!(given >> FORCE_NOISE & 1u))
        s->force_noise = world->force_noise;
    if (!(given >> TORQUE_NOISE & 1u))
        s->torque_noise = world->torque_noise;
    if (!(given >> SKEW & 1u))
        s->skew = world->skew;
    if (!(given >> SENSOR_LAG & 1u))
        s->sensor_lag = world->sensor_lag;
    if (!(given >> ZERO & 1u))
        s->zero = world->offset ? 0 : 1;
    if (!(given >> POSE_NOISE & 1u))
        s->pose_noise = world->pose_noise;
    if (!(given >> VELOCITY_NOISE & 1u))
        s->velocity_noise = world->velocity_noise;
}

static double delay_of(const ff_world *world, const fused_settings *s, int body) {
    return isnan(s->delay) ? world->body[body].delay + world->body[body].lag : s->delay;
}

static ff_status check(const ff_world *world, const void *memory, uint64_t given, ff_complaint *complaint) {
    const fused_settings *s = memory;
    (void)given;
    *complaint = (ff_complaint){
        "", "noise, stiffness, look_back or sensor_lag is negative, or one of its settings not finite"};
    if (!(s->force_noise >= 0.0) || !(s->torque_noise >= 0.0) || !(s->stiffness >= 0.0) ||
        !(s->look_back >= 0.0) || !(s->sensor_lag >= 0.0) || !(s->pose_noise >= 0.0) ||
        !(s->velocity_noise >= 0.0) ||
        !isfinite(s->force_noise + s->torque_noise + s->stiffness + s->skew + s->sensor_lag + s->pose_noise +
                  s->velocity_noise))
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"delay", "a robot's delay is 0 to 10 s, and its acceleration not negative"};
    for (int i = 0; world && i < world->bodies; i++)
        if (!(delay_of(world, s, i) >= 0.0 && delay_of(world, s, i) < 10.0) ||
            !(world->body[i].acceleration >= 0.0))
            return FF_ERR_ARGUMENT;
    return FF_OK;
}

static int bits_of(const ff_world *world, const fused_settings *s) {
    return ff__ring_bits(s->look_back / world->integrate.cycle + SPARE, 8, FUSED_BITS);
}

/* Axes are kept where a robot has any that yield. */
static bool yields(const ff_world *world) {
    for (int i = 0; i < world->bodies; i++)
        if (world->body[i].yields)
            return true;
    return false;
}

static size_t bytes(const ff_world *world, const void *memory, size_t *state) {
    const int bits = bits_of(world, memory);
    *state = sizeof(fused_state) + ff__ring_bytes(bits, world->bodies, sizeof(fused_sample)) +
             ff__ring_bytes(bits, FUSED_CONTACTS, sizeof(fused_row)) +
             (yields(world) ? ff__ring_bytes(bits, world->bodies, sizeof(fused_axes)) : 0);
    return sizeof(fused_model);
}

/* A pose that is older than the force is not modelled so: the motion is carried on instead. */
static void model_sensor(fused_model *model) {
    const double T = model->integrate.cycle, skew = model->config.skew, lag = model->config.sensor_lag;
    const double cycles = fmin(skew / T, (double)((1 << model->bits) - SPARE));
    model->hears = skew >= 0.0 && (skew > 0.0 || lag > 0.0);
    if (!model->hears)
        return;
    model->channel = (ff_profile_channel){.whole = (int)floor(cycles + 1e-9),
                                          .part = fmax(0.0, cycles - floor(cycles + 1e-9)),
                                          .corner = lag > 0.0 ? T / lag : 0.0,
                                          .decay = lag > 0.0 ? exp(-T / lag) : 0.0};
}

static void create(const ff_world *world, const void *memory, uint64_t given, void *self) {
    const fused_settings *s = memory;
    fused_model *model = self;
    (void)given;
    *model = (fused_model){.config = {.delay_fixed = s->tracking != 0,
                                      .force_noise = s->force_noise,
                                      .torque_noise = s->torque_noise,
                                      .skew = s->skew,
                                      .sensor_lag = s->sensor_lag,
                                      .zero = s->zero == 0,
                                      .swings = world->swings,
                                      .pose_noise = s->pose_noise,
                                      .velocity_noise = s->velocity_noise,
                                      .stiffness = s->stiffness},
                           .integrate = world->integrate,
                           .bits = bits_of(world, s),
                           .bodies = world->bodies,
                           .yields = yields(world)};
    for (int i = 0; i < world->bodies; i++) {
        model->view[i].rigid = world->body[i].rigid;
        model->config.delay[i] = delay_of(world, s, i);
        model->config.acceleration[i] = world->body[i].acceleration;
        model->config.plane_of[i] = world->body[i].carries_surface;
        model->config.bodies_only[i] = world->body[i].bodies_only && world->bodies > 1;
    }
    model_sensor(model);
}

/* Each sample by itself: when a contact ends is decided by its own law and force. */
static void detector(const void *self, ff_detector_config *config) {
    const fused_config *c = &((const fused_model *)self)->config;
    ff_detector_default(config);
    config->force_on = fused_force_on(c->force_noise);
    config->torque_on = fused_torque_on(c->torque_noise);
    config->off_ratio = 1.0;
    config->quiet_cycles = 1;
}

static void reset(const void *self, const ff_rigid_state *body, void *memory) {
    const fused_model *model = self;
    fused_state *state = memory;
    *state = (fused_state){0};
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        state->delay[i] = state->lead[i] = model->config.delay[i];
        state->report[i] = (fused_report){
            .delay = state->delay[i], .delay_configured = state->delay[i], .outside = FUSED_NO_ESTIMATE};
        state->start[i] = i < model->bodies ? body[i].attitude : ff_quat_identity();
    }
    ff_rng_seed(&state->rng, model->config.random_estimates, 7);
    ff__history_reset(&state->history, model->bits, model->bodies, sizeof(fused_sample), state + 1);
    char *rows = (char *)(state + 1) + ff__ring_bytes(model->bits, model->bodies, sizeof(fused_sample));
    for (int c = 0; c < FUSED_CONTACTS; c++, rows += ff__ring_bytes(model->bits, 1, sizeof(fused_row)))
        ff__ring_place(&state->contact[c].rows, model->bits, sizeof(fused_row), rows);
    if (model->yields)
        ff__ring_place(&state->axes, model->bits, sizeof(fused_axes), rows);
}

static double lead(const void *model, const void *state, int body) {
    (void)model;
    return ((const fused_state *)state)->lead[body];
}

static double *put_vec3(double *values, ff_vec3 v) {
    for (int a = 0; a < 3; a++)
        *values++ = v.a[a];
    return values;
}

static void report(const void *model, const void *memory, int body, double *values) {
    const fused_state *state = memory;
    (void)model;
    if (body < 0) {
        const fused_info *f = &state->info;
        const uint32_t counts[] = {f->net,       f->false_alarms,  f->phantoms, f->law_switches, f->bounds,
                                   f->look_back, f->delay_changes, f->refused,  f->partners};
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            values[n] = counts[n];
        return;
    }
    const fused_report *r = &state->report[body];
    *values++ = r->known ? 1.0 + r->law : 0.0;
    *values++ = r->torque;
    *values++ = r->known ? r->stiffness : FF_NAN;
    *values++ = r->known ? r->stiffness_sd : FF_NAN;
    *values++ = r->known ? r->damping : FF_NAN;
    *values++ = r->known ? r->damping_sd : FF_NAN;
    values = put_vec3(values, r->surface);
    *values++ = r->known ? r->surface_sd : FF_NAN;
    values = put_vec3(values, r->normal);
    values = put_vec3(values, r->point);
    *values++ = r->friction;
    *values++ = r->delay;
    *values++ = r->delay_configured;
    *values++ = r->peak_limit;
    *values++ = r->peak_ideal;
    *values++ = r->samples;
    *values++ = r->warm;
    *values++ = r->outside;
    *values++ = r->known ? r->restitution_sd : FF_NAN;
    *values++ = r->known ? r->impulse_sd : FF_NAN;
    for (int n = 0; n < FUSED_CAUSES; n++)
        *values++ = r->known ? r->cause[n] : FF_NAN;
    *values++ = state->account[body].sd;
    *values++ = r->known ? r->turn_sd : FF_NAN;
}

const ff_method ff_method_fused = {
    FF_METHOD("fused", "1",
              "Settings of the method `fused`, which knows nothing of the contacts. "
              "They may stand in a scenario that runs another method."),
    .needs = FF_NEEDS_COMPLIANCE,
    .can = FF_CAN_TREE | FF_CAN_RELATIVE | FF_CAN_PREDICT,
    FF_METHOD_TAKES(settings, fused_settings),
    .variants = 1,
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
    .step = ff__fused_step,
    .report = report};
