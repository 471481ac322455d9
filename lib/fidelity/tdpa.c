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
 * oblique or off-centre contact, and a contact between two satellites is one exchange.
 *  - F_e(k) is paired with the velocity in the middle of the step it drives; with V_s(k) each contact gains
 * pi w T/4.
 *  - the observer is reset at the end of a contact: surplus from real damping would mask later activity.
 *  - the clamp replaces the division by V^2. */
#include "fidelity/internal.h"

void ff_tdpa_default(ff_tdpa_config *config) {
    *config = (ff_tdpa_config){.observer = FF_TDPA_OBSERVER_WRENCH,
                               .velocity = FF_TDPA_VELOCITY_MIDPOINT,
                               .reset = FF_TDPA_RESET_CONTACT,
                               .law = FF_TDPA_LAW_CLAMP};
    ff_detector_default(&config->detector);
}

void ff_tdpa_printed(ff_tdpa_config *config) {
    *config = (ff_tdpa_config){.observer = FF_TDPA_OBSERVER_AXIS,
                               .velocity = FF_TDPA_VELOCITY_START,
                               .reset = FF_TDPA_RESET_NEVER,
                               .law = FF_TDPA_LAW_DAMPER};
    ff_detector_default(&config->detector);
}

void ff__tdpa_reset(ff_tdpa_state *state) {
    *state = (ff_tdpa_state){0};
    for (int i = 0; i < FF_MAX_BODIES; i++)
        ff_detector_reset(&state->detector[i]);
}

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
static double gain(const ff_tdpa_config *config, const port *p, double T, double s) {
    const double mid = config->velocity == FF_TDPA_VELOCITY_MIDPOINT ? 0.5 * T * T * s * s * p->FHF : 0.0;
    return T * s * p->FV + mid;
}

/* Readings 6: the largest s in [0, 1] with which the energy gained does not exceed E, the energy absorbed so
 * far. */
static double clamp(const ff_tdpa_config *config, const port *p, double T, double E) {
    if (gain(config, p, T, 1.0) <= E)
        return 1.0;
    if (!(E > 0.0))
        E = 0.0;
    if (config->velocity == FF_TDPA_VELOCITY_START)
        return p->FV > 0.0 ? fmin(1.0, E / (T * p->FV)) : 1.0;
    return ff__clamp_scale(p->FV, p->FHF, T, E);
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

static void step_wrench(const ff_fidelity_model *model, ff_tdpa_state *state, const ff_rigid_load *F,
                        const ff_rigid_state *velocity, ff_fidelity_out *out, ff_rigid_load *F_c) {
    const ff_tdpa_config *config = &model->config.tdpa;
    const double T = model->integrate.cycle;
    port p = {0};
    for (int i = 0; i < model->bodies; i++) {
        const ff_rigid_model *m = &model->body[i];
        p.FV += ff_rigid_power(F[i], velocity[i].velocity, velocity[i].omega);
        p.FHF += m->mass_inv * ff_vec3_dot(F[i].force, F[i].force) +
                 ff_vec3_dot(F[i].torque, ff_mat3_apply(&m->inertia_inv, F[i].torque));
    }
    double *E = &state->energy[0][0], s;
    if (config->law == FF_TDPA_LAW_CLAMP) {
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

static void step_axis(const ff_fidelity_model *model, ff_tdpa_state *state, const ff_rigid_load *F,
                      const ff_rigid_state *velocity, ff_fidelity_out *out, ff_rigid_load *F_c) {
    const ff_tdpa_config *config = &model->config.tdpa;
    const double T = model->integrate.cycle;
    out->observers = 6;
    for (int i = 0; i < model->bodies; i++) {
        const ff_rigid_model *m = &model->body[i];
        for (int a = 0; a < 6; a++) { /* three of the force, inertial axes; three of the torque, body axes */
            const bool linear = a < 3;
            const double f = linear ? F[i].force.a[a] : F[i].torque.a[a - 3];
            const double v = linear ? velocity[i].velocity.a[a] : velocity[i].omega.a[a - 3];
            const double h_inv = linear ? m->mass_inv : m->inertia_inv.m[a - 3][a - 3];
            const port p = {.FV = f * v, .FHF = f * f * h_inv, .VV = v * v, .V = v, .H = 1.0 / h_inv};
            double *E = &state->energy[i][a], corrected;
            if (config->law == FF_TDPA_LAW_CLAMP) {
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

void ff__tdpa_step(const ff_fidelity_model *model, ff_tdpa_state *state, const ff_fidelity_in *in,
                   const ff_rigid_state *body, ff_fidelity_out *out) {
    const ff_tdpa_config *config = &model->config.tdpa;
    ff_rigid_load F[FF_MAX_BODIES], F_c[FF_MAX_BODIES];
    ff_rigid_state velocity[FF_MAX_BODIES];
    bool any = false, ended_any = false;
    for (int i = 0; i < model->bodies; i++) {
        ff_wrench f_b = in->sample[i].f_b;
        bool began, ended;
        ff_detector_observe(&config->detector, &state->detector[i], f_b);
        const bool contact = ff_detector_step(&config->detector, &state->detector[i], ff_vec3_norm(f_b.f),
                                              ff_vec3_norm(f_b.t), &began, &ended);
        out->in_contact[i] = contact;
        any |= contact;
        ended_any |= ended;
        if (!contact)
            f_b = ff_wrench_zero();
        F[i] = ff_rigid_load_from_body(body[i].attitude, f_b);
        velocity[i] = body[i];
        if (model->integrate.scheme == FF_SCHEME_PASSIVE) { /* section VI: the observer takes V_c */
            velocity[i].velocity = in->output[i].velocity_c;
            velocity[i].omega = in->output[i].omega_c;
        }
    }
    if (config->reset == FF_TDPA_RESET_CONTACT && ended_any && !any)
        for (int i = 0; i < FF_MAX_BODIES; i++)
            for (int a = 0; a < 6; a++)
                state->energy[i][a] = 0.0;

    if (config->observer == FF_TDPA_OBSERVER_WRENCH)
        step_wrench(model, state, F, velocity, out, F_c);
    else
        step_axis(model, state, F, velocity, out, F_c);

    for (int i = 0; i < model->bodies; i++)
        out->f_b[i] = (ff_wrench){F_c[i].torque, ff_quat_unrotate(body[i].attitude, F_c[i].force)};
}
