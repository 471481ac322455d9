/* Passivity with the damping of the real contact [he2022, 3].
 *
 *   symbol        here
 *   F_mea, F_s    sample->f_b, after the lead (10)        v_des   contact point's velocity of the satellites
 *   c_d           port->known.damping                      E_obs   port->energy (printed), state->energy
 * (clamp) F_ek (9)      F_ek                                     F_alpha, F_comp (12)-(15)   F_alpha, scale
 *
 * Sign of port power: (7)-(15) hold for the force of the satellite on the environment, so (3), (4) take
 * -F_comp; with the other sign the motion diverges. F.V below is the power the environment gives to the
 * satellites, and v_des = -F.V/|F|: for a force through one point the power of the whole wrench is that of
 * the force there, so (16), (17) of the satellites need no contact point, and scaling the wrench contains
 * (14).
 *
 * The default law, and why it is not the printed one (docs/methods/he2022.md): the clamp of tdpa may give
 * back what the environment absorbed, less what the identified surface dissipates, the sum of c v^2 T. The
 * sum is that of the contact which the satellites would have without delay, on the identified surface
 * (`budget: velocity`, the default; in closed form, (1 - e^2) of the absorbed energy, `budget: restitution`).
 * At the robot's motion (`budget: robot`) it is that of a deeper contact: twice as much at 20 ms in 4.1,
 * whatever the estimate. Printed (8)-(15) over-damp: the observer leaves the damping out, the applied force
 * keeps it, the delayed force dissipates again. */
#include "freefloat/fidelity.h"

#include <stddef.h>

enum { LAW_CLAMP, LAW_PRINTED };
/* What the surface keeps, the sum of c v^2 T: over the contact that the satellites have without delay; of the
 * same contact in closed form, 1 - e^2; at the robot's motion. */
enum { BUDGET_VELOCITY, BUDGET_RESTITUTION, BUDGET_ROBOT };
enum { AXES_FORCE, AXES_EACH }; /* printed: controller along the force, or on each axis as in (11)-(13) */

/* [he2022, 3]. The default is the clamp of tdpa whose energy budget is reduced by what the identified surface
 * dissipates; `printed` is the observer and controller (8)-(15). */
typedef struct damping_settings {
    int reading, budget, axes, form, adapt;
    double lead, lead_filter;                                                     /* [s] */
    double forget, noise, skew, prior, stiffness_walk, damping_walk, trust, rate; /* ff_identify_config */
    double known_stiffness, known_damping; /* [N/m], [N s/m] instead of the identified; FF_NAN: none */
    double threshold, torque_threshold;    /* [N], [N m] */
} damping_settings;

typedef struct damping_model {
    int law, budget, axes;
    ff_lead_config lead;
    ff_identify_config identify;
    bool measured_noise; /* identify with the noise measured in flight, not identify.noise */
    double known_stiffness, known_damping;
    ff_detector_config detector;
    ff_integrate_config integrate;
    int bodies;
} damping_model;

/* One contact per body; a contact between two bodies lives under the lower index. */
typedef struct damping_port {
    int partner;                  /* -1: the environment */
    ff_vec3 normal;               /* along the force on the body when identification began, inertial */
    double absorbed;              /* [J] what the environment took in this contact */
    double absorbed_most;         /* [J] the largest of it */
    double speed_square;          /* [m2/s] robot's approach speed squared, summed over the contact */
    double loss;                  /* [J] to be withheld from the satellites */
    double energy;                /* [J] printed: E_obs after dissipation */
    double force, speed, damping; /* printed: last cycle's F_s, v_des, c_d */
    ff_identify_state identify;   /* of the robot's contact: what is reported */
    ff_identify_state own;        /* weighed as the satellite's own contact: what the budget takes */
    ff_identify_state graded;     /* damping by depth: the reported mean over time */
    ff_identify_out known, known_own, known_graded; /* last published */
} damping_port;

typedef struct damping_state {
    double energy; /* [J] absorbed by the environment in this contact, all bodies, not yet given back */
    ff_lead_state lead[FF_MAX_BODIES];
    ff_pose last[FF_MAX_BODIES]; /* robots' poses of the last cycle */
    bool has_last;
    damping_port port[FF_MAX_BODIES];
} damping_state;

static void end_port(damping_port *port) {
    const double energy = port->energy;
    *port = (damping_port){.partner = -1, .energy = energy};
}

/* ------------------------------------------------------------------------------------------------ ports --
 */

typedef struct robot_force { /* of one body, at its robot */
    bool contact, strong;    /* by the detector; above its lower threshold */
    ff_wrench f_b;           /* measured, robot's body axes: identified with its own time stamp */
    ff_wrench lead_b;        /* after the lead (10): for the law */
    ff_vec3 f_w;             /* f_b's force, inertial */
} robot_force;

/* [N] standard deviation of a sensor's force per axis. */
static double noise_of(const damping_model *model, const ff_detection *detected) {
    return model->measured_noise ? detected->force_noise : model->identify.noise;
}

/* Two bodies touch each other when their forces cancel; a force that no other answers is the environment's.
 */
static int find_partner(const damping_model *model, const ff_detection *detected, const robot_force *force,
                        int i) {
    const double size = ff_vec3_norm(force[i].f_w);
    double best = 0.25 * size + 5.0 * noise_of(model, &detected[i]);
    int partner = -1;
    for (int j = 0; j < model->bodies; j++) {
        const double rest = ff_vec3_norm(ff_vec3_add(force[i].f_w, force[j].f_w));
        if (j != i && force[j].contact && rest < best) {
            best = rest;
            partner = j;
        }
    }
    return partner;
}

/* A force through one point has no torque along itself; otherwise (stops, two contacts at once) the CoM
 * stands for the point. */
static ff_vec3 point_of(ff_wrench f_b) {
    const double along = ff_vec3_dot(f_b.t, ff_vec3_unit(f_b.f));
    return fabs(along) <= 0.1 * ff_vec3_norm(f_b.t) ? ff_contact_point(f_b) : ff_vec3_zero();
}

static ff_vec3 point_velocity(const ff_body_sample *s, ff_vec3 r_b) {
    return ff_vec3_add(s->twist_r.v, ff_quat_rotate(s->T_wr.q, ff_vec3_cross(s->twist_r.w, r_b)));
}

/* (16)-(19): motion of the contact point into the surface, of body i relative to its partner. The same
 * body-fixed point is moved from the last pose to this one. Against a partner the step is that in the
 * partner's axes, then and now: a turn that both make is not an approach, so one robot that renders the
 * relative motion (Fig. 5) sees what two robots see. */
static void approach(const damping_state *state, const ff_body_sample *sample, const robot_force *force,
                     int i, int j, ff_vec3 normal, double *step, double *speed) {
    const ff_vec3 r = point_of(force[i].f_b), p = ff_pose_apply(sample[i].T_wr, r);
    ff_vec3 moved = ff_vec3_sub(p, ff_pose_apply(state->last[i], r));
    ff_vec3 v = point_velocity(&sample[i], r);
    if (j >= 0) {
        const ff_vec3 r_j = ff_pose_apply(ff_pose_inverse(sample[j].T_wr), p);
        const ff_vec3 then =
            ff_vec3_sub(ff_pose_apply(state->last[j], r_j), ff_pose_apply(state->last[i], r));
        moved = ff_quat_rotate(sample[j].T_wr.q, ff_quat_unrotate(state->last[j].q, then));
        v = ff_vec3_sub(v, point_velocity(&sample[j], r_j));
    }
    *step = -ff_vec3_dot(moved, normal);
    *speed = -ff_vec3_dot(v, normal);
}

/* Keeps the newest estimate, with what is known beforehand in its place. */
static void take_known(const damping_model *config, const ff_identify_out *found, ff_identify_out *known) {
    const bool k = !isnan(config->known_stiffness), c = !isnan(config->known_damping);
    if (found->valid)
        *known = *found;
    if (k)
        known->stiffness = known->mean_stiffness = config->known_stiffness;
    if (c) {
        known->damping = known->mean_damping = config->known_damping;
        known->damping_sd = known->mean_damping_sd = 0.0;
    }
    known->valid = known->valid || (k && c);
}

/* Follows the contact of body i (and its partner) for one cycle; mass is the port's effective mass. */
static void identify(const damping_model *model, damping_state *state, const ff_method_in *in,
                     const robot_force *force, int i, double mass, ff_method_out *out) {
    const damping_model *config = model;
    damping_port *port = &state->port[i];
    const double T = model->integrate.cycle, size = ff_vec3_norm(force[i].f_w);
    if (!force[i].strong || !(mass > 0.0)) /* strong: above zero at least */
        return;
    const ff_vec3 normal = ff_vec3_scale(1.0 / size, force[i].f_w);
    if (port->identify.started && ff_vec3_dot(normal, port->normal) < 0.9) { /* another surface */
        ff_identify_reset(&port->identify);
        ff_identify_reset(&port->own);
        ff_identify_reset(&port->graded);
    }
    if (!port->identify.started)
        port->normal = normal;

    double step, speed;
    approach(state, in->sample, force, i, port->partner, normal, &step, &speed);
    ff_identify_out found;
    const ff_identify_in sample = {.cycle = T, .force = size, .step = step, .speed = speed, .mass = mass};
    ff_identify_config other = config->identify;
    other.noise = noise_of(config, &in->detected[i]);
    ff_identify_step(&other, &port->identify, &sample, &found);
    out->bounds |= found.bounds;
    take_known(config, &found, &port->known);
    if (config->law == LAW_CLAMP) {
        other.shallow = true;
        ff_identify_step(&other, &port->own, &sample, &found);
        take_known(config, &found, &port->known_own);
        if (other.form == FF_IDENTIFY_OFFSET) {
            other.shallow = false;
            other.graded = true;
            ff_identify_step(&other, &port->graded, &sample, &found);
            take_known(config, &found, &port->known_graded);
        }
    }
    port->speed_square += speed * speed * T;
}

/* An estimate no larger than its own uncertainty is noise: shrunk by (1 - sd^2/c^2). */
static double significant_damping(const ff_identify_out *known) {
    const double c = known->damping, sd = known->damping_sd;
    return c > sd ? c * (1.0 - sd * sd / (c * c)) : 0.0;
}

/* The mean damping is over time, as the paper's; until the graded fit is sure, the constant one stands in. */
static void report(const damping_port *port, int i, ff_method_out *out) {
    if (!port->known.valid)
        return;
    const ff_identify_out *known = port->known_graded.valid ? &port->known_graded : &port->known;
    out->stiffness[i] = port->known.mean_stiffness;
    out->damping[i] = known->mean_damping;
    out->damping_sd[i] = known->mean_damping_sd;
}

/* ------------------------------------------------------------------------------------------------- laws --
 */

typedef struct power {
    double FV, FHF, F; /* [W], [N2/kg], [N] of a port */
} power;

static power power_of(const ff_rigid_model *m, const ff_rigid_load *F, const ff_rigid_state *velocity,
                      int i) {
    return (power){.FV = ff_rigid_power(F[i], velocity[i].velocity, velocity[i].omega),
                   .FHF = m->mass_inv * ff_vec3_dot(F[i].force, F[i].force) +
                          ff_vec3_dot(F[i].torque, ff_mat3_apply(&m->inertia_inv, F[i].torque)),
                   .F = ff_vec3_norm(F[i].force)};
}

/* What of the absorbed energy the surface keeps. */
static void settle_loss(const damping_model *config, damping_port *port, double mass) {
    const ff_identify_out *known = config->budget == BUDGET_ROBOT ? &port->known : &port->known_own;
    if (!known->valid)
        return;
    const double c = significant_damping(known), z = c / (2.0 * sqrt(known->stiffness * mass));
    switch (config->budget) {
    case BUDGET_ROBOT:
        port->loss = c * port->speed_square;
        break;
    case BUDGET_RESTITUTION: {
        const double e = ff_contact_restitution(z);
        port->loss = (1.0 - e * e) * port->absorbed_most;
        break;
    }
    case BUDGET_VELOCITY:
    default:
        port->loss = ff_contact_loss(z) * port->absorbed_most;
    }
}

/* One observer for all bodies, as in tdpa: a contact between two satellites is one exchange. */
static double clamp_step(const damping_model *model, damping_state *state, const power *total,
                         ff_method_out *out) {
    const double T = model->integrate.cycle;
    double loss = 0.0;
    for (int i = 0; i < model->bodies; i++)
        loss += state->port[i].loss;
    const double s = ff_clamp_scale(total->FV, total->FHF, T, state->energy - loss);
    state->energy -= T * s * total->FV + 0.5 * T * T * s * s * total->FHF;
    out->observers = 1;
    out->observer[0][0] = state->energy;
    return s;
}

/* (8), (9), (12), (13), (15) along the force. Departure: alpha <= m/T, above which the damper itself creates
 * energy. Returns F_comp/F_s. */
static double printed_force(damping_port *port, const power *p, double T, double mass) {
    const double c = port->known.valid ? port->known.damping : 0.0, F = p->F;
    const double v = -p->FV / F;
    const double F_ek = v > 0.0 ? port->force - port->damping * port->speed : F - c * v; /* (9) */
    port->energy += F_ek * v * T;                                                        /* (8) */
    port->force = F;
    port->speed = v;
    port->damping = c;
    if (!(port->energy < 0.0))
        return 1.0;
    const double alpha = fmin(-port->energy / (v * v * T), mass / T); /* (13) */
    port->energy += alpha * v * v * T; /* the term F_alpha(i-1) v(i-1) T of (8), booked at once */
    return (F + alpha * v) / F;        /* (12), (15) */
}

/* (11)-(14) on each inertial axis: they reduce to F_alpha,i = -E_i/(v_i T), E_i = E |F_i|/|F|. */
static void printed_axes(const damping_model *model, damping_port *port, int i, const power *p, double mass,
                         const ff_rigid_state *body, ff_rigid_load *F) {
    const double T = model->integrate.cycle, size = p->F;
    const double c = port->known.valid ? port->known.damping : 0.0, v_f = -p->FV / size;
    const int j = port->partner;
    const ff_vec3 r_b = point_of((ff_wrench){F[i].torque, ff_quat_unrotate(body[i].attitude, F[i].force)});
    const ff_vec3 point = ff_vec3_add(body[i].position, ff_quat_rotate(body[i].attitude, r_b));
    ff_vec3 v = ff_rigid_point_velocity(&body[i], r_b), r_j = ff_vec3_zero();
    if (j >= 0) {
        r_j = ff_quat_unrotate(body[j].attitude, ff_vec3_sub(point, body[j].position));
        v = ff_vec3_sub(v, ff_rigid_point_velocity(&body[j], r_j));
    }
    const double F_ek = v_f > 0.0 ? port->force - port->damping * port->speed : size - c * v_f;
    port->energy += F_ek * v_f * T;
    port->force = size;
    port->speed = v_f;
    port->damping = c;
    if (!(port->energy < 0.0))
        return;
    ff_vec3 F_alpha = ff_vec3_zero();
    double given = 0.0;
    for (int a = 0; a < 3; a++) {
        const double E = port->energy * fabs(F[i].force.a[a]) / size;
        if (v.a[a] != 0.0)
            F_alpha.a[a] = fmin(-E / (v.a[a] * v.a[a] * T), mass / T) * v.a[a];
        given += F_alpha.a[a] * v.a[a] * T;
    }
    port->energy += given;
    /* the satellite feels -F_alpha at the contact point, its partner the opposite */
    F[i].force = ff_vec3_sub(F[i].force, F_alpha);
    F[i].torque = ff_vec3_sub(F[i].torque, ff_vec3_cross(r_b, ff_quat_unrotate(body[i].attitude, F_alpha)));
    if (j >= 0) {
        F[j].force = ff_vec3_add(F[j].force, F_alpha);
        F[j].torque =
            ff_vec3_add(F[j].torque, ff_vec3_cross(r_j, ff_quat_unrotate(body[j].attitude, F_alpha)));
    }
}

/* ------------------------------------------------------------------------------------------------- step --
 */

/* Detector and lead of each body; ends what has ended. */
static void sense(const damping_model *model, damping_state *state, const ff_method_in *in,
                  robot_force *force, ff_method_out *out) {
    const damping_model *config = model;
    bool any = false;
    for (int i = 0; i < model->bodies; i++) {
        const ff_wrench measured = in->sample[i].f_b;
        const double size = ff_vec3_norm(measured.f);
        const bool contact = in->detected[i].contact;
        if (in->detected[i].began)
            ff_lead_reset(&state->lead[i]);
        force[i].contact = contact;
        force[i].strong = contact && size > config->detector.off_ratio * in->detected[i].force_on;
        force[i].f_b = contact ? measured : ff_wrench_zero();
        force[i].lead_b = contact
                              ? ff_lead_step(&config->lead, &state->lead[i], model->integrate.cycle, measured)
                              : ff_wrench_zero();
        force[i].f_w = ff_quat_rotate(in->sample[i].T_wr.q, force[i].f_b.f);
        out->in_contact[i] = contact;
        any |= contact;
    }
    for (int i = 0; i < model->bodies; i++) {
        damping_port *port = &state->port[i];
        const int j = port->partner;
        if (!force[i].contact && !(j >= 0 && force[j].contact)) {
            /* what its surface kept is not the other contacts' to give back */
            state->energy = fmax(0.0, state->energy - port->loss);
            end_port(port);
        } else if (!port->identify.started) {
            const int partner = force[i].contact ? find_partner(model, in->detected, force, i) : -1;
            if (partner != port->partner) {
                ff_identify_reset(&port->identify);
                ff_identify_reset(&port->own);
                ff_identify_reset(&port->graded);
            }
            port->partner = partner;
        }
    }
    if (!any)
        state->energy = 0.0;
}

static ff_status step(const void *self, void *memory, const ff_method_in *in, ff_method_out *out) {
    const damping_model *model = self;
    damping_state *state = memory;
    const ff_rigid_state *body = in->body;
    const damping_model *config = model;
    const double T = model->integrate.cycle;
    robot_force force[FF_MAX_BODIES];
    ff_rigid_load F[FF_MAX_BODIES];
    ff_rigid_state velocity[FF_MAX_BODIES];
    power of[FF_MAX_BODIES], total = {0};
    sense(model, state, in, force, out);
    for (int i = 0; i < model->bodies; i++) {
        if (!state->has_last)
            state->last[i] = in->sample[i].T_wr;
        F[i] = ff_rigid_load_from_body(body[i].attitude, force[i].lead_b);
        velocity[i] = body[i];
        if (model->integrate.scheme == FF_SCHEME_PASSIVE) {
            velocity[i].velocity = in->output[i].velocity_c;
            velocity[i].omega = in->output[i].omega_c;
        }
        of[i] = power_of(&in->rigid[i], F, velocity, i);
        total.FV += of[i].FV;
        total.FHF += of[i].FHF;
    }

    for (int i = 0; i < model->bodies; i++) {
        damping_port *port = &state->port[i];
        const int j = port->partner;
        if (!force[i].contact || (j >= 0 && j < i && state->port[j].partner == i))
            continue; /* the lower index carries the contact */
        power p = of[i];
        if (j >= 0) {
            p.FV += of[j].FV;
            p.FHF += of[j].FHF;
        }
        const double mass = p.FHF > 0.0 ? p.F * p.F / p.FHF : 0.0;
        identify(model, state, in, force, i, mass, out);
        report(port, i, out);
        if (j >= 0)
            report(port, j, out);
        if (config->law == LAW_CLAMP) {
            port->absorbed -= T * p.FV + 0.5 * T * T * p.FHF;
            port->absorbed_most = fmax(port->absorbed_most, port->absorbed);
            settle_loss(config, port, mass);
        } else if (p.F > 0.0) {
            if (config->axes == AXES_EACH) {
                printed_axes(model, port, i, &p, mass, velocity, F);
            } else {
                const double s = printed_force(port, &p, T, mass);
                F[i] = ff_rigid_load_scale(s, F[i]);
                if (j >= 0)
                    F[j] = ff_rigid_load_scale(s, F[j]);
            }
            out->observers = 1;
            out->observer[0][0] = port->energy;
        }
    }
    if (config->law == LAW_CLAMP) {
        const double s = clamp_step(model, state, &total, out);
        for (int i = 0; i < model->bodies; i++)
            F[i] = ff_rigid_load_scale(s, F[i]);
    }
    for (int i = 0; i < model->bodies; i++) {
        out->f_b[i] = (ff_wrench){F[i].torque, ff_quat_unrotate(body[i].attitude, F[i].force)};
        state->last[i] = in->sample[i].T_wr;
    }
    state->has_last = true;
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------------ table --
 */

static const char *const readings[] = {"default", "printed", NULL},
                         *const budgets[] = {"velocity", "restitution", "robot", NULL},
                         *const axes_words[] = {"force", "each", NULL},
                         *const forms[] = {"offset", "increments", NULL},
                         *const adapts[] = {"fixed", "R", "RQ", NULL};
enum { NOISE = 8, SKEW, THRESHOLD = 18, TORQUE_THRESHOLD }; /* places in the table */

#define ANY .low = -FF_INF, .high = FF_INF
#define POSITIVE .low = 0.0, .high = FF_INF, .above_low = true
#define NOT_NEGATIVE .low = 0.0, .high = FF_INF
#define AT(field) offsetof(damping_settings, field)
/* clang-format off */
static const ff_setting table[] = {
    {"reading", FF_SETTING_CHOICE, "", AT(reading), "default", ANY, .choice = readings, .help = "`printed`: observer, controller and filter of he2022, (8)-(15) and (22), to the letter; they over-damp. The settings below override single choices."},
    {"budget", FF_SETTING_CHOICE, "", AT(budget), "velocity", ANY, .choice = budgets, .help = "What the surface keeps of the absorbed energy, the sum of c v2 T: of the contact without delay, of the same in closed form, or at the robot's motion."},
    {"axes", FF_SETTING_CHOICE, "", AT(axes), "force", ANY, .choice = axes_words, .help = "With `reading: printed`: controller along the force, or on each axis as in (11)-(13)."},
    {"lead", FF_SETTING_REAL, "s", AT(lead), "0", NOT_NEGATIVE, .help = "Measurement delay that is compensated, (10): force plus this time its derivative."},
    {"lead_filter", FF_SETTING_REAL, "s", AT(lead_filter), "0.01", NOT_NEGATIVE, .help = "Time constant of the derivative's filter."},
    {"form", FF_SETTING_CHOICE, "", AT(form), "(offset; printed: increments)", ANY, .choice = forms, .help = "Identification from the force itself with an unknown offset, or from its increments, (21)."},
    {"adapt", FF_SETTING_CHOICE, "", AT(adapt), "fixed", ANY, .choice = adapts, .help = "Which noise the Sage-Husa filter learns: none, the force's, or the force's and the parameters'."},
    {"forget", FF_SETTING_REAL, "", AT(forget), "0.98", .low = 0.0, .high = 1.0, .above_low = true, .below_high = true, .help = "Forgetting factor of that adaptation."},
    {"noise", FF_SETTING_REAL, "N", AT(noise), "(measured in flight; before that the largest `force_noise`)", NOT_NEGATIVE, .help = "Standard deviation of the force that the identification assumes."},
    {"skew", FF_SETTING_REAL, "s", AT(skew), "(the largest sensor `delay`)", ANY, .help = "By how much the force is older than the robot's pose."},
    {"prior", FF_SETTING_REAL, "", AT(prior), "(0.1; printed: 0.05)", POSITIVE, .help = "Standard deviation of the damping ratio before a contact."},
    {"stiffness_walk", FF_SETTING_REAL, "", AT(stiffness_walk), "(0; printed: 0.1)", NOT_NEGATIVE, .help = "How far the stiffness may wander in one contact, as part of itself."},
    {"damping_walk", FF_SETTING_REAL, "", AT(damping_walk), "(0; printed: 0.01)", NOT_NEGATIVE, .help = "How far the damping may wander in one contact, as part of sqrt(k m)."},
    {"trust", FF_SETTING_REAL, "", AT(trust), "(0.015; printed: 0.05)", POSITIVE, .help = "Estimates are used once the stiffness is known to this part."},
    {"rate", FF_SETTING_REAL, "", AT(rate), "0.1", POSITIVE, .help = "Largest change of an estimate in a cycle, as part of k and of sqrt(k m)."},
    {"known", FF_SETTING_GROUP, "", 0, "{}", ANY, .help = "Stiffness and damping that are known: identification is not used for them."},
    {"known.stiffness", FF_SETTING_REAL, "N/m", AT(known_stiffness), "(identified)", POSITIVE, .help = "Taken instead of the identified one."},
    {"known.damping", FF_SETTING_REAL, "N s/m", AT(known_damping), "(identified)", NOT_NEGATIVE, .help = "Taken instead of the identified one."},
    {"threshold", FF_SETTING_REAL, "N", AT(threshold), "(5 times the noise measured in flight, at least the largest `force_noise`)", NOT_NEGATIVE, .effect = "forces below it are noise and do not move the satellite", .tune_high = 50.0, .help = "Force above which there is contact. A number is taken as it is."},
    {"torque_threshold", FF_SETTING_REAL, "N m", AT(torque_threshold), "(5 times the noise measured in flight, at least the largest `torque_noise`)", NOT_NEGATIVE, .effect = "torques below it are noise and do not turn the satellite", .tune_high = 20.0, .help = "Torque above which there is contact. A number is taken as it is."},
};
/* clang-format on */

static void defaults(int variant, void *settings) {
    ff_identify_config identify;
    if (variant)
        ff_identify_printed(&identify);
    else
        ff_identify_default(&identify);
    *(damping_settings *)settings = (damping_settings){.reading = variant,
                                                       .lead_filter = 0.01,
                                                       .form = (int)identify.form,
                                                       .adapt = (int)identify.adapt,
                                                       .forget = identify.forget,
                                                       .noise = identify.noise,
                                                       .skew = identify.skew,
                                                       .prior = identify.prior,
                                                       .stiffness_walk = identify.stiffness_walk,
                                                       .damping_walk = identify.damping_walk,
                                                       .trust = identify.trust,
                                                       .rate = identify.rate,
                                                       .known_stiffness = FF_NAN,
                                                       .known_damping = FF_NAN};
}

static void resolve(const ff_world *world, uint64_t given, void *settings) {
    damping_settings *s = settings;
    if (!(given >> NOISE & 1u))
        s->noise = world->force_noise;
    if (!(given >> SKEW & 1u)) /* time stamps say it on hardware */
        s->skew = world->skew;
    ff_detector_config noise;
    ff_world_detector(world, &noise);
    if (!(given >> THRESHOLD & 1u))
        s->threshold = noise.force_on;
    if (!(given >> TORQUE_THRESHOLD & 1u))
        s->torque_threshold = noise.torque_on;
}

static void set_identify(const damping_settings *s, ff_identify_config *identify) {
    ff_identify_default(identify);
    identify->form = (ff_identify_form)s->form;
    identify->adapt = (ff_identify_adapt)s->adapt;
    identify->forget = s->forget;
    identify->noise = s->noise;
    identify->skew = s->skew;
    identify->prior = s->prior;
    identify->stiffness_walk = s->stiffness_walk;
    identify->damping_walk = s->damping_walk;
    identify->trust = s->trust;
    identify->rate = s->rate;
}

static ff_status check(const ff_world *world, const void *settings, uint64_t given, ff_complaint *complaint) {
    const damping_settings *s = settings;
    const ff_lead_config lead = {s->lead, s->lead_filter};
    ff_identify_config identify;
    (void)world;
    (void)given;
    set_identify(s, &identify);
    *complaint = (ff_complaint){"threshold", "thresholds must not be negative"};
    if (!(s->threshold >= 0.0) || !(s->torque_threshold >= 0.0))
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"lead", "lead and lead_filter must not be negative"};
    if (ff_lead_validate(&lead) != FF_OK)
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"", "the identification's settings are outside their ranges"};
    if (ff_identify_validate(&identify) != FF_OK)
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"known", "a known stiffness is > 0 and a known damping >= 0, both finite"};
    if (s->known_stiffness <= 0.0 || s->known_damping < 0.0 || isinf(s->known_stiffness) ||
        isinf(s->known_damping))
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

static void create(const ff_world *world, const void *settings, uint64_t given, void *memory) {
    const damping_settings *s = settings;
    damping_model *model = memory;
    *model = (damping_model){.law = s->reading ? LAW_PRINTED : LAW_CLAMP,
                             .budget = s->budget,
                             .axes = s->axes,
                             .lead = {s->lead, s->lead_filter},
                             .measured_noise = world->noisy && !(given >> NOISE & 1u),
                             .known_stiffness = s->known_stiffness,
                             .known_damping = s->known_damping,
                             .integrate = world->integrate,
                             .bodies = world->bodies};
    set_identify(s, &model->identify);
    ff_world_detector(world, &model->detector);
    model->detector.force_on = s->threshold;
    model->detector.torque_on = s->torque_threshold;
    model->detector.fixed = given >> THRESHOLD & 1u || given >> TORQUE_THRESHOLD & 1u;
}

static void detector(const void *model, ff_detector_config *config) {
    *config = ((const damping_model *)model)->detector;
}

static void reset(const void *model, const ff_rigid_state *body, void *memory) {
    damping_state *state = memory;
    (void)model;
    (void)body;
    *state = (damping_state){0};
    for (int i = 0; i < FF_MAX_BODIES; i++)
        end_port(&state->port[i]);
}

const ff_method ff_method_damping = {
    FF_METHOD(
        "damping", "1",
        "Settings of the method `damping` (he2022). They may stand in a scenario that runs another method."),
    FF_METHOD_TAKES(table, damping_settings),
    .can = FF_CAN_TREE | FF_CAN_RELATIVE,
    .variants = 2,
    .model_bytes = sizeof(damping_model),
    .state_bytes = sizeof(damping_state),
    .defaults = defaults,
    .resolve = resolve,
    .check = check,
    .create = create,
    .detector = detector,
    .reset = reset,
    .step = step};
