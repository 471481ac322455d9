#include "freefloat/loop.h"

void ff_loop_default(ff_loop_config *config) {
    *config = (ff_loop_config){.integrate = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 0.004}, .bodies = 1};
    ff_fidelity_default(&config->fidelity);
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        ff_loop_body_config *body = &config->body[i];
        body->rigid.mass = 1.0;
        body->rigid.inertia = ff_mat3_identity();
        body->start.attitude = ff_quat_identity();
        ff_wrench_default(&body->wrench);
        ff_gate_default(&body->gate);
        body->held_by = -1;
    }
}

/* "body 2: TEXT" without stdio. */
static ff_status fault(ff_status status, int body, const char *what, char *message, size_t size) {
    if (message && size) {
        size_t n = 0;
        const char digit[2] = {(char)('0' + body), 0};
        const char *const parts[] = {
            body >= 0 ? "body " : "", body >= 0 ? digit : "", body >= 0 ? ": " : "", what, ": ",
            ff_status_text(status)};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            for (const char *c = parts[p]; *c && n + 1 < size; c++)
                message[n++] = *c;
        message[n] = 0;
    }
    return status;
}

static ff_status create_nominal(ff_loop_model *model, char *message, size_t size) {
    const ff_loop_config *config = &model->config;
    const ff_relative_config *relative = &config->relative;
    model->nominal = (ff_nominal_config){.kind = relative->nominal, .start.attitude = ff_quat_identity()};
    if (!relative->enabled)
        return FF_OK;
    const bool prescribed = relative->nominal == FF_NOMINAL_PRESCRIBED;
    if ((unsigned)relative->nominal > FF_NOMINAL_SATELLITE || relative->of < 0 ||
        relative->of >= config->bodies)
        return fault(FF_ERR_ARGUMENT, -1, "nominal motion", message, size);
    if (prescribed && !ff_rigid_finite(&relative->start))
        return fault(FF_ERR_NOT_FINITE, -1, "nominal motion", message, size);
    if (relative->integrated &&
        (relative->nominal == FF_NOMINAL_SATELLITE ||
         (config->integrate.scheme != FF_SCHEME_LIE_MIDPOINT && config->integrate.scheme != FF_SCHEME_EULER)))
        return fault(
            FF_ERR_UNSUPPORTED, -1,
            "the integrated form needs euler or lie-midpoint and a free or prescribed nominal motion",
            message, size);
    model->nominal.model = model->fidelity.body[relative->of];
    model->nominal.start = prescribed ? relative->start : config->body[relative->of].start;
    model->nominal.start.attitude = ff_quat_unit(model->nominal.start.attitude);
    return FF_OK;
}

ff_status ff_loop_create(const ff_loop_config *config, ff_loop_model *model, char *message, size_t size) {
    ff_status status;
    model->config = *config;
    if (config->bodies < 1 || config->bodies > FF_MAX_BODIES)
        return fault(FF_ERR_ARGUMENT, -1, "bodies", message, size);
    if ((status = ff_integrate_validate(&config->integrate)) != FF_OK)
        return fault(status, -1, "integrator", message, size);
    if ((status = ff_fidelity_validate(&config->fidelity)) != FF_OK)
        return fault(status, -1, "method", message, size);
    const ff_pair_config *pair = &config->fidelity.pair;
    if (pair->body >= 0 &&
        (pair->body >= config->bodies || pair->against < 0 || pair->against >= config->bodies ||
         pair->against == pair->body || !ff_vec3_finite(pair->point)))
        return fault(FF_ERR_ARGUMENT, -1, "pair", message, size);
    model->fidelity.config = config->fidelity;
    model->fidelity.integrate = config->integrate;
    model->fidelity.bodies = config->bodies;
    for (int i = 0; i < config->bodies; i++) {
        const ff_loop_body_config *body = &config->body[i];
        if ((status = ff_rigid_create(&body->rigid, &model->fidelity.body[i])) != FF_OK)
            return fault(status, i, "mass and inertia", message, size);
        if (!ff_rigid_finite(&body->start))
            return fault(FF_ERR_NOT_FINITE, i, "start", message, size);
        if ((status = ff_wrench_validate(&body->wrench)) != FF_OK)
            return fault(status, i, "sensor", message, size);
        model->mount[i].elastic = false;
        if (body->mount.mass > 0.0) {
            model->config.body[i].mount.cycle = config->integrate.cycle;
            if (body->wrench.environment || config->relative.enabled)
                return fault(FF_ERR_UNSUPPORTED, i, "elastic mount", message, size);
            if ((status = ff_mount_create(&model->config.body[i].mount, &model->mount[i])) != FF_OK)
                return fault(status, i, "elastic mount", message, size);
        }
        model->config.body[i].gate.cycle = config->integrate.cycle;
        if ((status = ff_gate_validate(&model->config.body[i].gate)) != FF_OK)
            return fault(status, i, "limits", message, size);
        if (body->held && (!ff_scheme_holds(config->integrate.scheme) || body->held_by >= config->bodies))
            return fault(FF_ERR_UNSUPPORTED, i, "held contact wrench", message, size);
        for (int a = 0; a < 6 && body->elastic; a++)
            if (!(body->gear_stiffness[a] > 0.0))
                return fault(FF_ERR_ARGUMENT, i, "gear stiffness", message, size);
        if (body->elastic && (status = ff_arm_create(&body->arm, &model->arm[i])) != FF_OK)
            return fault(status, i, "arm", message, size);
        model->config.body[i].start.attitude = ff_quat_unit(body->start.attitude);
    }
    return create_nominal(model, message, size);
}

static ff_setpoint setpoint(const ff_rigid_state *body, ff_vec3 velocity, ff_vec3 omega) {
    return (ff_setpoint){ff_rigid_pose(body), {omega, velocity}};
}

/* (23) and its inverse, written where the result is wanted: the step makes each twice a body. */
static inline void map_to_inertial(const ff_rigid_state *n, const ff_pose *T, const ff_twist *V,
                                   ff_pose *T_out, ff_twist *V_out) {
    const ff_rigid_state relative = {T->p, T->q, V->v, V->w},
                         absolute = ff_relative_to_absolute(n, &relative);
    T_out->p = absolute.position;
    T_out->q = absolute.attitude;
    V_out->v = absolute.velocity;
    V_out->w = absolute.omega;
}

static inline ff_setpoint map_to_robot(const ff_rigid_state *n, const ff_rigid_state *absolute) {
    const ff_rigid_state relative = ff_relative_from_absolute(n, absolute);
    return ff_setpoint_from_state(&relative);
}

ff_setpoint ff_loop_to_inertial(const ff_loop_model *model, const ff_rigid_state *nominal,
                                ff_setpoint robot) {
    ff_setpoint inertial = robot;
    if (model->config.relative.enabled)
        map_to_inertial(nominal, &robot.T, &robot.twist, &inertial.T, &inertial.twist);
    return inertial;
}

ff_setpoint ff_loop_to_robot(const ff_loop_model *model, const ff_rigid_state *nominal,
                             ff_setpoint inertial) {
    if (!model->config.relative.enabled)
        return inertial;
    const ff_rigid_state absolute = ff_setpoint_to_state(&inertial);
    return map_to_robot(nominal, &absolute);
}

void ff_loop_reset(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info, ff_loop_out *out) {
    *info = (ff_loop_info){0};
    state->k = 0;
    ff_nominal_reset(&model->nominal, &state->nominal);
    for (int i = 0; i < model->config.bodies; i++)
        state->body[i] = model->config.body[i].start;
    ff_fidelity_reset(&model->fidelity, state->body, &state->fidelity);
    for (int i = 0; i < model->config.bodies; i++) {
        ff_integrate_reset(&state->body[i], &state->integrate[i]);
        state->last_wrench[i] = ff_wrench_zero();
        ff_mount_reset(&state->mount[i]);
        state->energy[i] =
            (ff_energy){.kinetic = ff_rigid_kinetic_energy(&model->fidelity.body[i], &state->body[i])};
        const ff_setpoint start =
            ff_loop_to_robot(model, &state->nominal.motion,
                             setpoint(&state->body[i], state->body[i].velocity, state->body[i].omega));
        ff_setpoint gate = start;
        const double lead = ff_fidelity_lead(&model->fidelity, &state->fidelity, i);
        if (lead > 0.0) { /* the command before the first one */
            const double T = model->config.integrate.cycle;
            ff_rigid_state before = state->body[i];
            ff_integrate_coast(&model->fidelity.body[i], lead - T, T, &before);
            const ff_rigid_state nominal =
                ff_nominal_coast(&model->nominal, lead - T, T, &state->nominal.motion);
            gate = ff_loop_to_robot(model, &nominal, setpoint(&before, before.velocity, before.omega));
        }
        ff_gate_reset(gate, &state->gate[i], &info->gate[i]);
        /* upright, forearm forward: the branch that the nearest solutions then stay in */
        state->joints[i] = (ff_arm_joints){.a = {0, -0.5 * FF_PI, 0.5 * FF_PI, 0, 0.1, 0}};
        out->command[i] = out->next[i] = start;
        out->measured_b[i] = out->fidelity.f_b[i] = ff_wrench_zero();
        out->velocity_correction[i] = ff_twist_zero();
        out->sensor_status[i] = out->gate_status[i] = FF_OK;
        out->fidelity.in_contact[i] = out->fidelity.has_next[i] = false;
        out->fidelity.stiffness[i] = out->fidelity.damping[i] = out->fidelity.damping_sd[i] = FF_NAN;
    }
    out->fidelity.observers = out->fidelity.look_back = 0;
    out->fidelity.bounds = 0;
    out->fidelity.has_command = false;
    out->fidelity.fused = NULL;
}

static ff_status hold_all(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          ff_loop_out *out) {
    info->held++;
    for (int i = 0; i < model->config.bodies; i++) {
        ff_gate_hold(&state->gate[i], &out->command[i]);
        out->next[i] = out->command[i];
        out->gate_status[i] = FF_INFO_HELD;
    }
    state->k++;
    return FF_INFO_HELD;
}

double ff_energy_sum(const ff_energy *e) {
    return e->exchanged + e->delay + e->force_controller + e->velocity_controller + e->integration +
           e->loads + e->method;
}

/* Books one cycle of one body. Powers pair wrench and velocity in the axes of the body they act on: F_e.V_r
 * in the robot's, F.V_s and F.V_c in the satellite's. */
static void book(const ff_rigid_model *model, double T, const ff_body_sample *sample, const ff_wrench *F_c,
                 const ff_rigid_state *start, const ff_integrate_state *told, const ff_integrate_out *step,
                 const ff_rigid_state *end, ff_energy *energy) {
    const ff_vec3 v_r = ff_quat_unrotate(sample->T_wr.q, sample->twist_r.v);
    const ff_twist V_r = {sample->twist_r.w, v_r};
    const ff_twist V_s = {start->omega, ff_quat_unrotate(start->attitude, start->velocity)};
    const ff_twist V_c = {told->omega_c, ff_quat_unrotate(start->attitude, told->velocity_c)};
    const double at_robot = T * ff_power(sample->f_b, V_r), at_satellite = T * ff_power(sample->f_b, V_c);
    const double corrected = T * ff_power(*F_c, V_c);
    energy->exchanged += at_robot;
    energy->delay += at_satellite - at_robot;
    energy->force_controller += corrected - at_satellite;
    energy->velocity_controller += T * ff_power(*F_c, ff_twist_sub(V_s, V_c));
    energy->integration += step->scheme;
    energy->loads += step->loads;
    energy->kinetic = ff_rigid_kinetic_energy(model, end);
}

/* The nominal motion at the time a predicted command is meant for. */
static ff_rigid_state nominal_ahead(const ff_loop_model *model, const ff_loop_state *state,
                                    const ff_fidelity_out *fidelity, int body) {
    const ff_relative_config *relative = &model->config.relative;
    if (!relative->enabled || fidelity->lead[body] == 0.0)
        return state->nominal.motion;
    if (relative->nominal == FF_NOMINAL_SATELLITE && fidelity->lead[body] == fidelity->lead[relative->of])
        return fidelity->command[relative->of];
    return ff_nominal_coast(&model->nominal, fidelity->lead[body], model->config.integrate.cycle,
                            &state->nominal.motion);
}

/* Finite, and inside what a facility can mean: squares and products of it stay finite too. */
static bool is_sane(const ff_rigid_state *s) {
    const double most = 1e9; /* [m, m/s, rad/s] */
    bool sane = ff_rigid_finite(s);
    for (int a = 0; a < 3; a++)
        sane = sane && fabs(s->position.a[a]) < most && fabs(s->velocity.a[a]) < most &&
               fabs(s->omega.a[a]) < most;
    return sane;
}

/* The method advanced the body itself: what its mean wrench does not explain is the scheme's. */
static void own_step(const ff_rigid_model *model, double T, ff_rigid_load contact, ff_rigid_load loads,
                     const ff_rigid_state *start, const ff_rigid_state *end, ff_rigid_state *next,
                     ff_integrate_state *state, ff_integrate_out *out) {
    *next = *end;
    state->velocity_c = end->velocity;
    state->omega_c = end->omega;
    const ff_vec3 v = ff_vec3_scale(0.5, ff_vec3_add(start->velocity, end->velocity)),
                  w = ff_vec3_scale(0.5, ff_vec3_add(start->omega, end->omega));
    out->contact = T * ff_rigid_power(contact, start->velocity, start->omega);
    out->loads = T * ff_rigid_power(loads, v, w);
    out->scheme = ff_rigid_kinetic_energy(model, end) - ff_rigid_kinetic_energy(model, start) - out->contact -
                  out->loads;
}

/* The second half of a held wrench, as it acts on `body` at the end of the cycle: f_b carried on by the
 * motion of the body that holds it, from `before` to `next`. */
static ff_rigid_load late_half(const ff_loop_body_config *config, int i, ff_wrench f_b,
                               const ff_rigid_state *before, const ff_rigid_state *next) {
    const int o = config->held_by;
    ff_wrench f = f_b;
    if (o < 0) {
        const ff_quat back = ff_quat_mul(ff_quat_conj(next[i].attitude), before[i].attitude);
        f = (ff_wrench){ff_quat_rotate(back, f_b.t), ff_quat_rotate(back, f_b.f)};
    } else if (o != i) {
        const ff_pose then =
                          ff_pose_mul(ff_pose_inverse(ff_rigid_pose(&before[o])), ff_rigid_pose(&before[i])),
                      now = ff_pose_mul(ff_pose_inverse(ff_rigid_pose(&next[i])), ff_rigid_pose(&next[o]));
        f = ff_wrench_transform(ff_pose_mul(now, then), f_b);
    }
    return ff_rigid_load_from_body(next[i].attitude, f);
}

/* J K^-1 J^T at the motors' angles: how the CoM gives way to a wrench. False where the pose has no solution.
 */
static bool compliance_at(const ff_loop_model *model, int i, ff_pose T_wb, ff_arm_joints *joints,
                          double C[6][6]) {
    double J[6][7];
    ff_arm_info reach;
    if (ff_arm_inverse(&model->arm[i], &T_wb, joints, joints, &reach) != FF_OK)
        return false;
    ff_arm_jacobian(&model->arm[i], joints, J);
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) {
            C[r][c] = 0.0;
            for (int a = 0; a < 6; a++)
                C[r][c] += J[r][a] * J[c][a] / model->config.body[i].gear_stiffness[a];
        }
    return true;
}

/* Stage 1 of one body. With an elastic mount it is the mock-up's motion that meets the environment, not the
 * flange's. */
static ff_status tip_of(const ff_loop_model *model, int i, ff_mount_state *mount, const ff_wrench_in *in,
                        bool fresh, ff_wrench_in *tip, ff_wrench *f_b) {
    const ff_wrench_config *wrench = &model->config.body[i].wrench;
    *tip = *in;
    ff_status status = ff_wrench_condition(wrench, in, f_b);
    if (status != FF_OK || !model->mount[i].elastic)
        return status;
    ff_mount_step(&model->mount[i], mount, wrench, in, fresh, tip);
    return ff_wrench_condition(wrench, tip, f_b);
}

/* Else the last reading stands in for a lost one. */
static bool is_fresh(const ff_loop_model *model, const ff_wrench_in *sensor) {
    return sensor->age < 0.5 * model->config.integrate.cycle;
}

ff_status ff_loop_measure(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          const ff_loop_in *in, ff_loop_out *out) {
    bool refused = false;
    for (int i = 0; i < model->config.bodies; i++) {
        ff_wrench_in tip;
        out->measured_b[i] = state->last_wrench[i];
        const ff_status status = tip_of(model, i, &state->mount[i], &in->sensor[i],
                                        is_fresh(model, &in->sensor[i]), &tip, &out->measured_b[i]);
        out->tip[i] = (ff_setpoint){tip.T_wb, tip.twist};
        out->sensor_status[i] = status;
        info->not_finite += status == FF_ERR_NOT_FINITE;
        info->stale += status == FF_INFO_STALE;
        info->saturated += status == FF_INFO_SATURATED;
        refused |= status != FF_OK;
    }
    return refused ? FF_INFO_HELD : FF_OK;
}

ff_status ff_loop_step(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                       const ff_loop_in *in, ff_loop_out *out) {
    ff_loop_measure(model, state, info, in, out);
    return ff_loop_advance(model, state, info, in, out);
}

ff_status ff_loop_advance(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          const ff_loop_in *in, ff_loop_out *out) {
    const ff_loop_config *config = &model->config;
    const double T = config->integrate.cycle;
    const int n = config->bodies;
    ff_body_sample sample[FF_MAX_BODIES];

    /* what stage 1 has measured, (23): mapped to the inertial frame */
    bool refused = false;
    for (int i = 0; i < n; i++) {
        const ff_status status = out->sensor_status[i];
        refused |=
            status != FF_OK || !ff_vec3_finite(in->load[i].force) || !ff_vec3_finite(in->load[i].torque);
        sample[i] = (ff_body_sample){.f_b = out->measured_b[i],
                                     .T_wr = out->tip[i].T,
                                     .twist_r = out->tip[i].twist,
                                     .load = in->load[i],
                                     .valid = status == FF_OK && is_fresh(model, &in->sensor[i])};
        if (config->relative.enabled) {
            const ff_rigid_state *nominal = &state->nominal.motion;
            map_to_inertial(nominal, &in->sensor[i].T_wb, &in->sensor[i].twist, &sample[i].T_wr,
                            &sample[i].twist_r);
            if (config->fidelity.method == FF_METHOD_FUSED)
                sample[i].carried = ff_vec3_add(
                    nominal->velocity,
                    ff_quat_rotate(nominal->attitude, ff_vec3_cross(nominal->omega, in->sensor[i].T_wb.p)));
        }
    }
    if (refused)
        return hold_all(model, state, info, out);
    double compliance[FF_MAX_BODIES][6][6];
    for (int i = 0; i < n; i++)
        if (config->body[i].elastic && !config->relative.enabled && /* arm and satellites in one frame */
            compliance_at(model, i, sample[i].T_wr, &state->joints[i], compliance[i]))
            sample[i].compliance = (const double(*)[6])compliance[i];

    /* 2, 3 contact and fidelity: the wrench the satellites should feel */
    ff_rigid_state before[FF_MAX_BODIES], body[FF_MAX_BODIES];
    for (int i = 0; i < n; i++)
        before[i] = body[i] = state->body[i];
    const ff_fidelity_in fidelity = {.sample = sample, .output = state->integrate};
    ff_fidelity_step(&model->fidelity, &state->fidelity, &fidelity, body, &out->fidelity);

    /* advance the satellites */
    ff_rigid_state next[FF_MAX_BODIES];
    ff_integrate_state integrate[FF_MAX_BODIES];
    ff_integrate_out step[FF_MAX_BODIES];
    ff_nominal_state nominal = state->nominal;
    if (config->relative.enabled)
        ff_nominal_step(&model->nominal, &config->integrate, state->k, &nominal);
    bool finite = ff_rigid_finite(&nominal.motion);
    bool held[FF_MAX_BODIES];
    ff_wrench half[FF_MAX_BODIES];
    for (int i = 0; i < n; i++) {
        next[i] = body[i];
        held[i] = config->body[i].held && !out->fidelity.has_next[i];
        half[i] = ff_wrench_scale(0.5, out->fidelity.f_b[i]);
        if (config->integrate.scheme != FF_SCHEME_PASSIVE) { /* a method may have recomputed the state */
            state->integrate[i].velocity_c = body[i].velocity;
            state->integrate[i].omega_c = body[i].omega;
        }
        integrate[i] = state->integrate[i];
        const ff_rigid_load contact =
            ff_rigid_load_from_body(body[i].attitude, held[i] ? half[i] : out->fidelity.f_b[i]);
        if (out->fidelity.has_next[i])
            own_step(&model->fidelity.body[i], T, contact, in->load[i], &body[i], &out->fidelity.next[i],
                     &next[i], &integrate[i], &step[i]);
        else if (config->relative.enabled && config->relative.integrated)
            ff_relative_step(&config->integrate, &model->nominal, &model->fidelity.body[i], contact,
                             in->load[i], &state->nominal.motion, &nominal.motion, &next[i], &integrate[i],
                             &step[i]);
        else
            ff_integrate_step(&config->integrate, &model->fidelity.body[i], contact, in->load[i], &next[i],
                              &integrate[i], &step[i]);
    }
    for (int i = 0; i < n; i++) {
        if (held[i])
            ff_integrate_finish(&model->fidelity.body[i], T,
                                late_half(&config->body[i], i, half[i], body, next), &next[i], &integrate[i],
                                &step[i]);
        finite = finite && is_sane(&next[i]);
    }
    if (!finite) {
        hold_all(model, state, info, out);
        return FF_ERR_DIVERGED;
    }
    if (config->relative.enabled && config->relative.nominal == FF_NOMINAL_SATELLITE)
        nominal.motion = next[config->relative.of];

    for (int i = 0; i < n; i++) {
        const ff_rigid_model *rigid = &model->fidelity.body[i];
        ff_energy *energy = &state->energy[i];
        energy->method +=
            ff_rigid_kinetic_energy(rigid, &body[i]) - ff_rigid_kinetic_energy(rigid, &before[i]);
        book(rigid, T, &sample[i], &out->fidelity.f_b[i], &body[i], &state->integrate[i], &step[i], &next[i],
             energy);
        out->velocity_correction[i] = (ff_twist){ff_vec3_sub(next[i].omega, integrate[i].omega_c),
                                                 ff_vec3_sub(next[i].velocity, integrate[i].velocity_c)};

        /* 4 command: a predicting method refines the one issued now; the others' next pose is known already
         */
        const ff_gate_config *gate = &config->body[i].gate;
        ff_gate_state *passed = &state->gate[i];
        const ff_rigid_state told = {next[i].position, next[i].attitude, integrate[i].velocity_c,
                                     integrate[i].omega_c};
        const ff_setpoint coming = config->relative.enabled ? map_to_robot(&nominal.motion, &told)
                                                            : setpoint(&told, told.velocity, told.omega);
        if (out->fidelity.has_command) {
            const ff_rigid_state *c = &out->fidelity.command[i];
            const ff_rigid_state ahead = nominal_ahead(model, state, &out->fidelity, i);
            const ff_setpoint wish = ff_loop_to_robot(model, &ahead, setpoint(c, c->velocity, c->omega));
            out->gate_status[i] = ff_gate_step(gate, passed, &info->gate[i], wish, &out->command[i]);
            const ff_rigid_state *following = &out->fidelity.next_command[i];
            const ff_rigid_state later = ff_nominal_coast(&model->nominal, T, T, &ahead);
            ff_gate_state peek = *passed; /* what the next cycle will let pass */
            ff_gate_info uncounted = {0};
            ff_gate_step(
                gate, &peek, &uncounted,
                ff_loop_to_robot(model, &later, setpoint(following, following->velocity, following->omega)),
                &out->next[i]);
        } else {
            out->command[i] = passed->last;
            out->gate_status[i] = ff_gate_step(gate, passed, &info->gate[i], coming, &out->next[i]);
        }

        state->body[i] = next[i];
        state->integrate[i] = integrate[i];
        state->last_wrench[i] = sample[i].f_b;
    }
    state->nominal = nominal;
    state->k++;
    return FF_OK;
}
