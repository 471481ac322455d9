/* fused: free flight: the delay, remembered walls that are gone, new contacts (docs/methods/fused.md, 5). */
#include "fidelity/fused/fused.h"

bool ff__fused_touched(const fused_state *state, int body) {
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        const fused_contact *x = &state->contact[c];
        if (x->open && (x->a == body || x->b == body))
            return true;
    }
    return false;
}

/* A contact of the body is over but not settled. */
bool ff__fused_settling(const fused_state *state, int body) {
    for (int c = 0; c < FUSED_CONTACTS; c++)
        if (state->contact[c].closing && (state->contact[c].a == body || state->contact[c].b == body))
            return true;
    return false;
}

/* The delay as the robot shows it while nothing happens: how far it is behind, over the speed that it makes
 * itself (in relative motion the rest comes without delay, and would turn the sign). */
static void measure_delay(const fused_model *model, fused_state *state, int i, uint64_t k, ff_vec3 carried) {
    const double T = model->integrate.cycle;
    const fused_sample *x = fused_at(state, i, k);
    const bool loaded = ff_vec3_norm(x->past.load.force) > 0.0 || ff_vec3_norm(x->past.load.torque) > 0.0;
    if (ff__fused_touched(state, i) || ff__fused_settling(state, i) || loaded) {
        state->quiet_since[i] = k;
        return;
    }
    if (model->config.delay_fixed)
        return;
    const double quiet = (double)(k - state->quiet_since[i]) * T;
    if (quiet < 3.0 * state->delay[i] + 10.0 * T || k < state->delay_wait[i])
        return;
    const ff_vec3 made = ff_vec3_sub(x->past.body.velocity, carried);
    const double speed = ff_vec3_norm(made);
    if (speed < 1e-5)
        return;
    const double behind = ff_vec3_dot(ff_vec3_sub(x->past.body.position, x->T_r.p), made) / (speed * speed);
    if (!(fabs(behind) < 1.0))
        return;
    const double gain = fmax(0.02, 1.0 / (1.0 + state->delay_count[i]++));
    const double change = fmax(gain * behind, -state->delay[i]);
    state->delay[i] += change;
    if (fabs(change) > T)
        state->info.delay_changes++;
    if (fabs(change) > 0.3 * T)
        state->delay_wait[i] = k + (uint64_t)ceil(2.0 * state->delay[i] / T) + 1;
}

/* The commands follow the delay by a tenth of the time that passes: all of a correction at once would be a
 * jerk of the robot. What is behind meanwhile says nothing new. */
void ff__fused_track_delay(const fused_model *model, fused_state *state, int i, uint64_t k, ff_vec3 carried,
                           bool limited) {
    const double T = model->integrate.cycle, most = 0.1 * T;
    if (limited)
        state->delay_wait[i] = k + (uint64_t)ceil(2.0 * state->delay[i] / T) + 1;
    measure_delay(model, state, i, k, carried);
    const double off = state->delay[i] - state->lead[i];
    if (fabs(off) <= most) {
        state->lead[i] = state->delay[i];
        return;
    }
    state->lead[i] += copysign(most, off);
    state->delay_wait[i] = k + (uint64_t)ceil(2.0 * state->delay[i] / T) + 2;
}

/* A remembered wall through which the robot passes without a force is not there any more. */
void ff__fused_check_walls(const fused_model *model, fused_state *state, uint64_t k) {
    const fused_config *config = &model->config;
    const double T = model->integrate.cycle;
    for (int w = 0; w < FUSED_WALLS; w++) {
        fused_wall *x = &state->wall[w];
        if (!x->valid || ff__fused_touched(state, x->a) || ff__fused_settling(state, x->a) ||
            (x->b >= 0 && (ff__fused_touched(state, x->b) || ff__fused_settling(state, x->b))))
            continue;
        const ff_rigid_state a = fused_robot_of(fused_at(state, x->a, k));
        const ff_rigid_state b = x->b < 0 ? fused_at_rest() : fused_robot_of(fused_at(state, x->b, k));
        const ff__place p = fused_wall_place(x);
        double s, v;
        ff__place_coordinate(&p, state->start[x->a], &a, x->b < 0 ? NULL : &b, &s, &v);
        /* a damped wall lets go before the robot has left it: only a robot that approaches can miss it */
        const double law = v >= 0.0 ? ff_profile_force(&x->surface, s - 2.0 * v * T, v) : 0.0;
        const fused_contact like = {.torque = x->torque, .b = x->b};
        const double least = x->torque ? fmax(5.0 * config->torque_noise, torque_least)
                                       : fmax(4.5 * fused_noise_of(config, &like), force_least);
        const double f = x->torque ? ff_vec3_dot(x->n, fused_at(state, x->a, k)->torque)
                                   : ff_vec3_norm(fused_measured_force(state, x->a, x->b, k));
        if (law > fmax(2.0 * least, 0.03 * x->force_max) && f < least) {
            x->missing++;
        } else
            x->missing = 0;
        /* Anticipation turns the robot round before it gets deep: a satellite that stays inside for longer
         * than the robot can be late says the same. */
        ff__place_coordinate(&p, state->start[x->a], &fused_at(state, x->a, k)->past.body,
                             x->b < 0 ? NULL : &fused_at(state, x->b, k)->past.body, &s, &v);
        x->inside = s > x->surface.x0 && v > 0.0 && f < least ? x->inside + 1 : 0;
        if (x->missing >= 2 || (double)x->inside * T > state->delay[x->a] + 8.0 * T) {
            x->valid = false;
            state->info.phantoms++;
        }
    }
}

/* What the open contacts of a body leave of one sample. */
typedef struct residue {
    ff_vec3 F;        /* [N] inertial: outside the span of their normals */
    ff_vec3 M;        /* [N m] body axes: beside the axes of the torques */
    ff_vec3 basis[3]; /* of the span of the normals, inertial; the first is a normal */
    int normals;
    int contacts;                /* along a normal, */
    bool young;                  /* one of them so new that its normal is not known yet */
    const fused_contact *bearer; /* the first */
} residue;

/* The part of a force that the open contacts cannot bear. */
static ff_vec3 outside(const residue *z, ff_vec3 F) {
    for (int j = 0; j < z->normals; j++)
        F = ff_vec3_axpy(-ff_vec3_dot(F, z->basis[j]), z->basis[j], F);
    return F;
}

static residue residue_of(fused_state *state, int i, uint64_t k) {
    const fused_sample *x = fused_at(state, i, k);
    residue z = {.F = x->force, .M = x->torque};
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        const fused_contact *o = &state->contact[c];
        if (!o->open || (o->a != i && o->b != i))
            continue;
        if (o->torque) {
            z.M = ff_vec3_axpy(-ff_vec3_dot(z.M, o->n), o->n, z.M);
            continue;
        }
        z.contacts++;
        z.young |= k < o->detected + 6;
        if (!z.bearer)
            z.bearer = o;
        ff_vec3 n = o->b < 0 ? o->n : ff_quat_rotate(fused_at(state, o->b, k)->T_r.q, o->n);
        n = outside(&z, n);
        const double size = ff_vec3_norm(n);
        if (size > 1e-3 && z.normals < 3) {
            z.basis[z.normals] = ff_vec3_scale(1.0 / size, n);
            z.F = ff_vec3_axpy(-ff_vec3_dot(z.F, z.basis[z.normals]), z.basis[z.normals], z.F);
            z.normals++;
        }
    }
    return z;
}

/* The force of a surface on body a where its robots stand, as far as it is outside the span: added to *sum.
 * False where there is none to speak of. */
static bool add_surface(fused_state *state, const ff__place *p, const ff_profile *surface, const residue *z,
                        double least, uint64_t k, ff_vec3 *sum) {
    const ff_rigid_state a = fused_robot_of(fused_at(state, p->a, k));
    const ff_rigid_state b = p->b < 0 ? fused_at_rest() : fused_robot_of(fused_at(state, p->b, k));
    double s, v;
    ff__place_coordinate(p, state->start[p->a], &a, p->b < 0 ? NULL : &b, &s, &v);
    const double law = ff_profile_force(surface, s, v);
    const ff_vec3 f = outside(z, ff_vec3_scale(law, ff__place_normal(p, p->b < 0 ? NULL : &b)));
    if (!(ff_vec3_norm(f) > least))
        return false;
    *sum = ff_vec3_add(*sum, f);
    return true;
}

/* An open contact along about the wall's normal that is on none yet: it is this wall's. */
static bool adopt(fused_state *state, int wall, uint64_t k) {
    const fused_wall *x = &state->wall[wall];
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        fused_contact *c = &state->contact[i];
        if (!c->open || c->torque || c->a != x->a || c->b != x->b || c->wall >= 0 ||
            ff_vec3_dot(c->n, x->n) < 0.85)
            continue;
        c->wall = wall;
        c->stage = REST;
        c->due = k + 1;
        ff__fused_recall(state, c, k);
        ff__replay_ask(state->replay, ff__fused_group_of(state, c->a), c->anchor);
        return true;
    }
    return false;
}

/* A force that surfaces known before explain, where the robots stand: these are touched, again or still. */
static bool recognise(const fused_model *model, fused_state *state, int i, const residue *z, double least,
                      uint64_t k) {
    unsigned walls = 0, again = 0, sure = 0;
    ff_vec3 sum = ff_vec3_zero();
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        const fused_contact *o = &state->contact[c];
        const ff__place p = fused_contact_place(o);
        if (o->closing && !o->one.tried && o->a == i && !o->torque && o->surface.valid &&
            add_surface(state, &p, &o->surface, z, 0.5 * least, k, &sum))
            again |= 1u << c;
    }
    for (int w = 0; w < FUSED_WALLS; w++) {
        const fused_wall *x = &state->wall[w];
        bool known = x->valid && x->a == i && !x->torque && !x->beside;
        for (int c = 0; c < FUSED_CONTACTS; c++)
            known &= !((state->contact[c].open || (again >> c & 1u)) && state->contact[c].wall == w);
        const ff__place p = fused_wall_place(x);
        ff_vec3 own = ff_vec3_zero();
        if (!known || !add_surface(state, &p, &x->surface, z, 0.5 * least, k, &own))
            continue;
        walls |= 1u << w;
        sum = ff_vec3_add(sum, own);
        /* where it should push, at least most of that is measured: it does, whatever else there is */
        const double part = ff_vec3_norm(own), seen = ff_vec3_dot(z->F, own) / part;
        if (z->contacts > 0 && part > 3.0 * least && seen > 0.7 * part && ff_vec3_dot(x->n, own) > 0.5 * part)
            sure |= 1u << w;
    }
    const double size = ff_vec3_norm(sum), off = ff_vec3_norm(ff_vec3_sub(z->F, sum));
    if (!(walls | again) || !(size > least) || off > 0.15 * size + 4.0 * model->config.force_noise) {
        if (!sure)
            return false;
        walls = sure; /* the rest is another's, that is not known */
        again = 0;
    }
    for (int c = 0; c < FUSED_CONTACTS; c++)
        if (again >> c & 1u)
            ff__fused_reopen(model, state, &state->contact[c], k);
    for (int w = 0; w < FUSED_WALLS; w++)
        if ((walls >> w & 1u) && !adopt(state, w, k))
            ff__fused_begin_on(model, state, w, k);
    return true;
}

/* Direction across the normal in which a point of the robot moves. */
static ff_vec3 sliding_of(const ff_rigid_state *robot, ff_vec3 r, ff_vec3 normal) {
    const ff_vec3 v = ff_rigid_point_velocity(robot, r);
    return ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(v, normal), normal, v));
}

/* Part of the whole force that a side force may be and still be the bearer's friction. *unexplained: torque
 * beyond that of the force at a point of the bearer's line, *turned where that point is known by it. */
static double friction_part(const fused_config *config, const residue *z, const fused_sample *x, double least,
                            ff_vec3 *unexplained, bool *turned) {
    const fused_contact *bearer = z->bearer;
    const double whole = ff_vec3_norm(x->force), size = ff_vec3_norm(z->F);
    const ff_rigid_state robot = fused_robot_of(x);
    double part = 0.15;
    /* a side force straight against the sliding is friction rather than a second contact */
    if (-ff_vec3_dot(z->F, sliding_of(&robot, bearer->r, z->basis[0])) > 0.9 * size || bearer->mu > 0.0)
        part = 0.4;
    /* and so is one whose line of action goes through the contact point, where its arm can tell. How far
     * that point lies along the normal is not known before the force has turned: it may be anywhere. */
    const ff_vec3 side_b = ff_quat_unrotate(x->T_r.q, z->F);
    const ff_vec3 whole_b = ff_quat_unrotate(x->T_r.q, x->force);
    const ff_vec3 n_b = ff_quat_unrotate(x->T_r.q, z->basis[0]), turn = ff_vec3_cross(n_b, whole_b);
    ff_vec3 left = ff_vec3_sub(x->torque, ff_vec3_cross(bearer->r, whole_b)), r = bearer->r;
    const double square = ff_vec3_dot(turn, turn);
    const double along = square > 0.0 ? ff_vec3_dot(turn, left) / square : 0.0;
    const ff_vec3 moved = ff_vec3_axpy(along, n_b, r);
    /* friction lies along the sliding, to or fro as the normal is not known better than that */
    if (fabs(along) < arm_longest &&
        fabs(ff_vec3_dot(z->F, sliding_of(&robot, moved, z->basis[0]))) > 0.75 * size) {
        left = ff_vec3_axpy(-along, turn, left);
        r = moved;
        *turned = z->contacts == 1 && size > fmax(least, 0.05 * whole);
    }
    *unexplained = left;
    const double arm = ff_vec3_norm(ff_vec3_cross(r, side_b));
    const double blur = hypot(config->torque_noise, ff_vec3_norm(r) * config->force_noise);
    if (z->contacts == 1 && arm > fmax(0.02 * size, 5.0 * config->torque_noise) &&
        ff_vec3_norm(left) < 0.2 * arm + 3.0 * blur)
        part = 0.4;
    return part;
}

/* A torque that no force at its point explains, three times in a row. */
static void detect_torque(const fused_model *model, fused_state *state, int i, uint64_t k, const residue *z,
                          const ff_vec3 *unexplained) {
    const fused_config *config = &model->config;
    const fused_sample *x = fused_at(state, i, k);
    ff_vec3 M = z->M;
    if (z->bearer) {
        M = unexplained ? *unexplained : ff__fused_pure_torque(state, i, k, NULL);
        for (int c = 0; c < FUSED_CONTACTS; c++)
            if (state->contact[c].open && state->contact[c].torque && state->contact[c].a == i)
                M = ff_vec3_axpy(-ff_vec3_dot(M, state->contact[c].n), state->contact[c].n, M);
    }
    /* the force's noise at the arm of the contact counts too, and so does the arm's own error */
    const double noise =
        hypot(config->torque_noise, z->bearer ? ff_vec3_norm(z->bearer->r) * config->force_noise : 0.0);
    const double moment = ff_vec3_norm(M), whole = ff_vec3_norm(x->force), all = ff_vec3_norm(x->torque);
    const double arm =
        z->bearer ? 0.05 * all + 0.005 * whole : arm_longest * (whole + 3.0 * config->force_noise);
    if (!(moment > fused_torque_on(noise) && moment > arm && moment > 0.15 * all)) {
        state->torque_hits[i] = 0;
    } else if (++state->torque_hits[i] >= 3) {
        state->torque_hits[i] = 0;
        ff__fused_begin(model, state, i, -1, true, ff_vec3_scale(1.0 / moment, M), k);
    }
}

/* Stage 2 says that there is a wrench; which contact it belongs to, or that it is a new one, is decided here.
 */
void ff__fused_detect(const fused_model *model, fused_state *state, const ff_detection *detected, int i,
                      uint64_t k) {
    const fused_sample *x = fused_at(state, i, k);
    if (!x->valid)
        return;
    double least = detected->force_on;
    bool contact = detected->contact;
    if (model->config.zero) { /* stage 2 sees the sensor's offset, too */
        const double blur = sqrt(1.0 + state->zero[i].P[0]);
        least *= blur;
        contact = ff_vec3_norm(x->force) > least ||
                  ff_vec3_norm(x->torque) > blur * fused_torque_on(model->config.torque_noise);
    }
    if (!contact) {
        state->side_hits[i] = state->torque_hits[i] = 0;
        return;
    }
    residue z = residue_of(state, i, k);
    const bool own = z.bearer && z.bearer->a == i;
    const double whole = ff_vec3_norm(x->force);
    if (own && z.contacts == 1 && z.bearer->mu > 0.0) { /* what sliding explains is not a second contact */
        const ff_rigid_state robot = fused_robot_of(x);
        const ff_vec3 u = sliding_of(&robot, z.bearer->r, z.basis[0]);
        z.F = ff_vec3_axpy(fmax(0.0, fmin(-ff_vec3_dot(z.F, u), 1.5 * z.bearer->mu * whole)), u, z.F);
    }
    ff_vec3 unexplained = ff_vec3_zero();
    bool turned = false;
    const double part = own ? friction_part(&model->config, &z, x, least, &unexplained, &turned) : 0.15;
    const double size = ff_vec3_norm(z.F);
    if (size > least && recognise(model, state, i, &z, least, k)) {
        state->side_hits[i] = 0;
        return;
    }
    if (z.contacts == 0 ? size > least : size > fmax(least, part * whole) && !z.young) {
        if (z.contacts == 0 || ++state->side_hits[i] >= 3) {
            state->side_hits[i] = 0;
            ff__fused_begin_force(model, state, i, z.F, k);
            return;
        }
    } else
        state->side_hits[i] = 0;
    if (z.bearer && ff__fused_spot_at(&model->config, state, i, k) >= 0)
        state->torque_hits[i] = 0; /* all of it at one point, whichever surfaces bear it */
    else if (!z.bearer || (own && !z.young))
        detect_torque(model, state, i, k, &z, turned ? &unexplained : NULL);
}
