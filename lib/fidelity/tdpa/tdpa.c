/* Time-delay compensation by passivity [destefano2019, IV, VI].
 *
 *   symbol        here
 *   F_e(k)        sample->f_b, turned into the satellite's axes     V_s(k)  body->velocity, omega
 *   V_c(k)        output->velocity_c, omega_c                        E_obs1  state->energy
 *   alpha(k)      alpha                                              F_c(k)  out->f_b
 *
 * Sign of port power: F.V > 0 means that the environment gives energy to the satellite; the observer counts
 * what the environment has absorbed, so it falls while energy is given back and must not become negative.
 *
 * Departures from print, with their reasons (docs/methods/destefano2019.md):
 *  - (17) as printed is negative whenever the controller acts; the state kept here is E_obs + alpha V^2 T,
 * after dissipation, the quantity that stays >= 0.
 *  - one observer on the whole wrench of all bodies: per-axis ones destroy the transfer between axes of an
 * oblique or off-centre contact, and a contact between two satellites is one exchange. Where stops are all
 * that is touched and the axes are principal ones, no contact has two axes: there each axis has its own, or
 * contacts that overlap would spend each other's energy.
 *  - F_e(k) is paired with the velocity in the middle of the step it drives; with V_s(k) each contact gains
 * pi w T/4.
 *  - the observer is reset at the end of a contact: surplus from real damping would mask later activity.
 *  - the clamp replaces the division by V^2. */
#include "fidelity/tdpa/tdpa.h"

#include <stddef.h>

/* One port: wrench component(s) F, velocity V at the start of the cycle, F.V and F.H^-1 F over the port, and
 * its energy E. Returns the part s of F that may act (clamp, and damper on the whole wrench), 0..1. */
typedef struct port {
    double FV;  /* [W] F.V at the start of the cycle */
    double FHF; /* [N^2/kg] F.H^-1 F */
    double VV;  /* [kg-free] V.V, only for one axis */
    double V;   /* velocity, only for one axis */
    double H;   /* mass or moment, only for one axis */
} port;

/* Energy [J] that the satellite gains over one cycle when s F acts, by the observer's choice of velocity. */
static double gain(const tdpa_settings *config, const port *p, double T, double s) {
    const double mid = config->velocity == VELOCITY_MIDPOINT ? 0.5 * T * T * s * s * p->FHF : 0.0;
    return T * s * p->FV + mid;
}

/* The largest s in [0, 1] with which the energy gained does not exceed E, the energy absorbed so
 * far. */
static double clamp(const tdpa_settings *config, const port *p, double T, double E) {
    if (gain(config, p, T, 1.0) <= E)
        return 1.0;
    if (!(E > 0.0))
        E = 0.0;
    if (config->velocity == VELOCITY_START)
        return p->FV > 0.0 ? fmin(1.0, E / (T * p->FV)) : 1.0;
    return ff_clamp_scale(p->FV, p->FHF, T, E);
}

/* (18), (13): F_c = F_e - alpha V, alpha = -E/(V^2 T). Above 2 H/T the damper itself creates energy, so alpha
 * is bounded by H/T; there is no velocity threshold, which would raise the force peaks. Returns F_pc; *E is
 * what remains. */
static double damper(const port *p, double T, double *E) {
    if (!(*E < 0.0) || !(p->VV > 0.0))
        return 0.0;
    const double alpha = fmin(-*E / (p->VV * T), p->H / T);
    *E += alpha * p->VV * T;
    return alpha * p->V;
}

static void step_wrench(const tdpa_model *model, tdpa_state *state, const ff_rigid_model *rigid,
                        const ff_rigid_load *F, const ff_rigid_state *velocity, ff_method_out *out,
                        ff_rigid_load *F_c) {
    const tdpa_settings *config = &model->settings;
    const double T = model->integrate.cycle;
    port p = {0};
    for (int i = 0; i < model->bodies; i++) {
        const ff_rigid_model *m = &rigid[i];
        p.FV += ff_rigid_power(F[i], velocity[i].velocity, velocity[i].omega);
        p.FHF += m->mass_inv * ff_vec3_dot(F[i].force, F[i].force) +
                 ff_vec3_dot(F[i].torque, ff_mat3_apply(&m->inertia_inv, F[i].torque));
    }
    double *E = &state->energy[0][0], s;
    if (config->law == LAW_CLAMP) {
        s = clamp(config, &p, T, *E);
        *E -= gain(config, &p, T, s);
    } else {
        /* The damper on the whole wrench scales it too: F_pc = (1 - s) F dissipates (1 - s) T F.V, bounded as
         * alpha is. */
        *E -= gain(config, &p, T, 1.0);
        s = 1.0;
        if (*E < 0.0 && p.FV > 0.0) {
            s = fmax(0.0, 1.0 + *E / (T * p.FV));
            *E += (1.0 - s) * T * p.FV;
        }
    }
    for (int i = 0; i < model->bodies; i++)
        F_c[i] = ff_rigid_load_scale(s, F[i]);
    out->observers = 1;
    out->observer[0][0] = *E;
}

static void step_axis(const tdpa_model *model, tdpa_state *state, const ff_rigid_model *rigid,
                      const ff_rigid_load *F, const ff_rigid_state *velocity, ff_method_out *out,
                      ff_rigid_load *F_c) {
    const tdpa_settings *config = &model->settings;
    const double T = model->integrate.cycle;
    out->observers = 6;
    for (int i = 0; i < model->bodies; i++) {
        const ff_rigid_model *m = &rigid[i];
        for (int a = 0; a < 6; a++) { /* three of the force, inertial axes; three of the torque, body axes */
            const bool linear = a < 3;
            const double f = linear ? F[i].force.a[a] : F[i].torque.a[a - 3];
            const double v = linear ? velocity[i].velocity.a[a] : velocity[i].omega.a[a - 3];
            const double h_inv = linear ? m->mass_inv : m->inertia_inv.m[a - 3][a - 3];
            const port p = {.FV = f * v, .FHF = f * f * h_inv, .VV = v * v, .V = v, .H = 1.0 / h_inv};
            double *E = &state->energy[i][a], corrected;
            if (config->law == LAW_CLAMP) {
                const double s = clamp(config, &p, T, *E);
                *E -= gain(config, &p, T, s);
                corrected = s * f;
            } else {
                *E -= gain(config, &p, T, 1.0); /* (17) */
                corrected = f - damper(&p, T, E);
            }
            *(linear ? &F_c[i].force.a[a] : &F_c[i].torque.a[a - 3]) = corrected;
            out->observer[i][a] = *E;
        }
    }
}

/* The wrenches of all bodies as the observers judge them. */
static void judge(const tdpa_model *model, tdpa_state *state, const ff_method_in *in, ff_method_out *out) {
    const tdpa_settings *config = &model->settings;
    ff_rigid_load F[FF_MAX_BODIES], F_c[FF_MAX_BODIES];
    ff_rigid_state velocity[FF_MAX_BODIES];
    const ff_rigid_state *body = in->body;
    bool any = false, ended_any = false;
    for (int i = 0; i < model->bodies; i++) {
        ff_wrench f_b = in->sample[i].f_b;
        const bool contact = in->detected[i].contact;
        out->in_contact[i] = contact;
        any |= contact;
        ended_any |= in->detected[i].ended;
        if (!contact)
            f_b = ff_wrench_zero();
        F[i] = ff_rigid_load_from_body(body[i].attitude, f_b);
        velocity[i] = body[i];
        if (model->integrate.scheme == FF_SCHEME_PASSIVE) { /* section VI: the observer takes V_c */
            velocity[i].velocity = in->output[i].velocity_c;
            velocity[i].omega = in->output[i].omega_c;
        }
    }
    if (config->reset == RESET_CONTACT && ended_any && !any)
        for (int i = 0; i < FF_MAX_BODIES; i++)
            for (int a = 0; a < 6; a++)
                state->energy[i][a] = 0.0;

    if (config->observer == OBSERVER_WRENCH)
        step_wrench(model, state, in->rigid, F, velocity, out, F_c);
    else
        step_axis(model, state, in->rigid, F, velocity, out, F_c);

    for (int i = 0; i < model->bodies; i++)
        out->f_b[i] = (ff_wrench){F_c[i].torque, ff_quat_unrotate(body[i].attitude, F_c[i].force)};
}

/* ------------------------------------------------------------------------------------------------ table --
 */

static void defaults(int variant, void *settings) {
    *(tdpa_settings *)settings = variant ? (tdpa_settings){.reading = variant,
                                                           .observer = OBSERVER_AXIS,
                                                           .velocity = VELOCITY_START,
                                                           .reset = RESET_NEVER,
                                                           .law = LAW_DAMPER}
                                         : (tdpa_settings){0};
}

/* Six contacts at most on each body, none of which moves more than one axis? */
static bool decoupled(const ff_world *world) {
    bool all = world->stops;
    for (int i = 0; i < world->bodies && all; i++) {
        const ff_mat3 *I = &world->body[i].rigid.inertia;
        all = I->m[0][1] == 0.0 && I->m[0][2] == 0.0 && I->m[1][2] == 0.0;
    }
    return all;
}

static void resolve(const ff_world *world, uint64_t given, void *settings) {
    tdpa_settings *s = settings;
    ff_detector_config noise;
    ff_world_detector(world, &noise);
    if (!(given >> OBSERVER & 1u) && decoupled(world))
        s->observer = OBSERVER_AXIS;
    if (!(given >> THRESHOLD & 1u))
        s->threshold = noise.force_on;
    if (!(given >> TORQUE_THRESHOLD & 1u))
        s->torque_threshold = noise.torque_on;
}

static ff_status check(const ff_world *world, const void *settings, uint64_t given, ff_complaint *complaint) {
    const tdpa_settings *s = settings;
    (void)given;
    *complaint = (ff_complaint){"threshold", "thresholds must not be negative"};
    if (!(s->threshold >= 0.0) || !(s->torque_threshold >= 0.0))
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"pair", "a pair is two bodies, and the gripper a point"};
    const ff_world_grasp *g = world ? &world->grasp : NULL;
    if (g && g->body >= 0 &&
        (g->body >= world->bodies || g->against < 0 || g->against >= world->bodies || g->against == g->body ||
         !ff_vec3_finite(g->point)))
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

static void create(const ff_world *world, const void *settings, uint64_t given, void *model) {
    tdpa_model *m = model;
    *m = (tdpa_model){.settings = *(const tdpa_settings *)settings,
                      .integrate = world->integrate,
                      .bodies = world->bodies,
                      .pair = world->grasp};
    if (m->settings.pair == PAIR_OFF || m->settings.reading)
        m->pair.body = -1;
    m->fixed = given >> THRESHOLD & 1u || given >> TORQUE_THRESHOLD & 1u;
}

static void detector(const void *model, ff_detector_config *config) {
    const tdpa_model *m = model;
    config->force_on = m->settings.threshold;
    config->torque_on = m->settings.torque_threshold;
    config->fixed = m->fixed;
}

static ff_status step(const void *model, void *state, const ff_method_in *in, ff_method_out *out) {
    const tdpa_model *m = model;
    tdpa_state *s = state;
    judge(m, s, in, out);
    if (m->pair.body >= 0)
        ff__tdpa_pair(m, &s->pair, in, out);
    return FF_OK;
}

#define ANY .low = -FF_INF, .high = FF_INF
#define AT(field) offsetof(tdpa_settings, field)
/* clang-format off */
static const char *const readings[] = {"default", "printed", NULL}, *const observers[] = {"wrench", "axis", NULL},
    *const velocities[] = {"midpoint", "start", NULL}, *const resets[] = {"contact", "never", NULL},
    *const laws[] = {"clamp", "damper", NULL}, *const pairs[] = {"on", "off", NULL};
static const ff_setting settings[] = { /* in the order of tdpa.h */
    {"reading", FF_SETTING_CHOICE, "", AT(reading), "default", ANY, .choice = readings, .help = "`printed`: sections IV to VI of destefano2019 to the letter, also in the passive integrator. The settings below override single choices."},
    {"observer", FF_SETTING_CHOICE, "", AT(observer), "(wrench; stops alone, and printed: axis)", ANY, .choice = observers, .help = "One energy observer on the whole wrench, or one per axis. By default one per axis where `stops` are all that is touched and the inertia has no products: there no contact has two axes."},
    {"velocity", FF_SETTING_CHOICE, "", AT(velocity), "(midpoint; printed: start)", ANY, .choice = velocities, .help = "Velocity that the force is paired with."},
    {"reset", FF_SETTING_CHOICE, "", AT(reset), "(contact; printed: never)", ANY, .choice = resets, .help = "When the observer starts again from zero."},
    {"law", FF_SETTING_CHOICE, "", AT(law), "(clamp; printed: damper)", ANY, .choice = laws, .help = "How the wrench is corrected."},
    {"pair", FF_SETTING_CHOICE, "", AT(pair), "on", ANY, .choice = pairs, .help = "With a grasp: one observer on the relative motion of the two bodies (the first grasp of the list whose bodies touch nothing else), which damps it with equal and opposite wrenches; `off`, and `printed`: as other contacts."},
    {"threshold", FF_SETTING_REAL, "N", AT(threshold), "(5 times the noise measured in flight, at least the largest `force_noise`)", .low = 0.0, .high = FF_INF, .effect = "forces below it are noise and do not move the satellite", .tune_high = 50.0, .help = "Force above which there is contact. A number is taken as it is."},
    {"torque_threshold", FF_SETTING_REAL, "N m", AT(torque_threshold), "(5 times the noise measured in flight, at least the largest `torque_noise`)", .low = 0.0, .high = FF_INF, .effect = "torques below it are noise and do not turn the satellite", .tune_high = 20.0, .help = "Torque above which there is contact. A number is taken as it is."},
};
/* clang-format on */

const ff_method ff_method_tdpa = {
    FF_METHOD("tdpa", "1",
              "Settings of the method `tdpa` (destefano2019). They may stand in a scenario that runs another "
              "method."),
    FF_METHOD_TAKES(settings, tdpa_settings),
    .needs = FF_NEEDS_GRASP,
    .can = FF_CAN_TREE | FF_CAN_RELATIVE,
    .variants = 2,
    .model_bytes = sizeof(tdpa_model),
    .state_bytes = sizeof(tdpa_state),
    .defaults = defaults,
    .resolve = resolve,
    .check = check,
    .create = create,
    .detector = detector,
    .step = step};
