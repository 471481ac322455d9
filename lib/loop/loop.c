/* One cycle of the loop: sensors in, commands out. */
#include "loop/cycle.h"

double ff_loop_lead(const ff_loop_model *model, const ff_loop_state *state, int body) {
    const ff_method *method = model->config.method;
    return method->lead ? method->lead(ff__loop_method_model(model), ff__loop_method_state(state), body)
                        : 0.0;
}

int ff_loop_report(const ff_loop_model *model, const ff_loop_state *state, int body, double *values) {
    const ff_method *method = model->config.method;
    const int count = model->stage.values[body < 0];
    if (count)
        method->report(ff__loop_method_model(model), ff__loop_method_state(state), body, values);
    return count;
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

ff_status ff_loop_reset(const ff_loop_model *model, ff_loop_state *state, size_t size, ff_loop_info *info,
                        ff_loop_out *out) {
    if (size < ff__loop_round(sizeof *state) + model->stage.state_bytes)
        return FF_ERR_SIZE;
    *info = (ff_loop_info){0};
    state->k = 0;
    ff_nominal_reset(&model->nominal, &state->nominal);
    for (int i = 0; i < model->config.bodies; i++)
        state->body[i] = model->config.body[i].start;
    ff__stage_reset(&model->stage, ff__loop_method_model(model), model->config.bodies, state->body,
                    state->detector, ff__loop_method_state(state));
    for (int i = 0; i < model->config.bodies; i++) {
        ff_integrate_reset(&state->body[i], &state->integrate[i]);
        state->last_wrench[i] = ff_wrench_zero();
        ff_mount_reset(&state->mount[i]);
        state->energy[i] =
            (ff_energy){.kinetic = ff__has_joints(&model->config, i)
                                       ? ff__joints_reset(model, state)
                                       : ff_rigid_kinetic_energy(&model->rigid[i], &state->body[i])};
        const ff_setpoint start =
            ff_loop_to_robot(model, &state->nominal.motion,
                             setpoint(&state->body[i], state->body[i].velocity, state->body[i].omega));
        state->last[i] = start;
        const double lead = ff_loop_lead(model, state, i);
        if (lead > 0.0) { /* the command before the first one */
            const double T = model->config.integrate.cycle;
            ff_rigid_state before = state->body[i]; /* with joints: at rest, so as one body */
            ff_integrate_coast(&model->rigid[i], lead - T, T, &before);
            const ff_rigid_state nominal =
                ff_nominal_coast(&model->nominal, lead - T, T, &state->nominal.motion);
            state->last[i] =
                ff_loop_to_robot(model, &nominal, setpoint(&before, before.velocity, before.omega));
        }
        /* upright, forearm forward: the branch that the nearest solutions then stay in */
        state->joints[i] = (ff_arm_joints){.a = {0, -0.5 * FF_PI, 0.5 * FF_PI, 0, 0.1, 0}};
        out->command[i] = out->next[i] = start;
        out->base[i] = state->body[i];
        out->port[i] = ff_pose_identity();
        out->measured_b[i] = out->fidelity.f_b[i] = ff_wrench_zero();
        out->velocity_correction[i] = ff_twist_zero();
        out->sensor_status[i] = out->command_status[i] = FF_OK;
        out->fidelity.in_contact[i] = out->fidelity.settling[i] = out->fidelity.has_next[i] = false;
        out->fidelity.stiffness[i] = out->fidelity.damping[i] = out->fidelity.damping_sd[i] = FF_NAN;
    }
    out->fidelity.observers = out->fidelity.look_back = 0;
    out->fidelity.bounds = 0;
    out->fidelity.has_command = false;
    out->joint_status = FF_OK;
    return FF_OK;
}

/* The last command that was finite, standing still. */
static void hold(ff_loop_state *state, int i, ff_loop_out *out) {
    state->last[i].twist = ff_twist_zero();
    out->command[i] = out->next[i] = state->last[i];
    out->command_status[i] = FF_INFO_HELD;
}

/* All of its numbers at once: zero times one that is not finite is not zero. */
static inline bool is_command(const ff_setpoint *s) {
    const ff_quat q = s->T.q;
    const ff_vec3 p = s->T.p, v = s->twist.v, w = s->twist.w;
    return 0.0 * q.w + 0.0 * q.x + 0.0 * q.y + 0.0 * q.z + 0.0 * p.x + 0.0 * p.y + 0.0 * p.z + 0.0 * v.x +
               0.0 * v.y + 0.0 * v.z + 0.0 * w.x + 0.0 * w.y + 0.0 * w.z ==
           0.0;
}

static ff_status hold_all(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          ff_loop_out *out) {
    info->held++;
    for (int i = 0; i < model->config.bodies; i++)
        hold(state, i, out);
    state->k++;
    return FF_INFO_HELD;
}

double ff_energy_sum(const ff_energy *e) {
    return e->exchanged + e->delay + e->force_controller + e->velocity_controller + e->integration +
           e->loads + e->method + e->joints;
}

/* Books one cycle of one body. Powers pair wrench and velocity in the axes of the body they act on: F_e.V_r
 * in the robot's, F.V_s and F.V_c in the satellite's. */
static void book(const ff_rigid_model *model, double T, const ff_body_sample *sample, const ff_wrench *F_c,
                 const ff_rigid_state *start, const ff_integrate_state *commanded,
                 const ff_integrate_out *step, const ff_rigid_state *end, ff_energy *energy) {
    const ff_vec3 v_r = ff_quat_unrotate(sample->T_wr.q, sample->twist_r.v);
    const ff_twist V_r = {sample->twist_r.w, v_r};
    const ff_twist V_s = {start->omega, ff_quat_unrotate(start->attitude, start->velocity)};
    const ff_twist V_c = {commanded->omega_c, ff_quat_unrotate(start->attitude, commanded->velocity_c)};
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
                                    const ff_method_out *fidelity, int body) {
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
    const double most = FF_LOOP_LARGEST;
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

/* J K^-1 J^T at the motors' angles: how the CoM yields to a wrench. False where the pose has no solution.
 */
static bool yields(const ff_loop_model *model, int i, ff_pose T_wb, ff_arm_joints *joints, double C[6][6],
                   ff_gears *gears) {
    const ff_loop_body_config *body = &model->config.body[i];
    double J[6][7];
    ff_arm_info reach;
    const ff_arm_model *arm = ff__loop_arm(model, i);
    if (ff_arm_inverse(arm, &T_wb, joints, joints, &reach) != FF_OK)
        return false;
    ff_arm_jacobian(arm, joints, J);
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            C[r][c] = 0.0;
            for (int a = 0; a < 6; a++)
                C[r][c] += J[r][a] * J[c][a] / body->gear_stiffness[a];
            gears->J[r][c] = J[r][c];
        }
        gears->motor[r] = joints->a[r];
        gears->stiffness[r] = body->gear_stiffness[r];
        gears->damping[r] = body->gear_damping[r];
        gears->inertia[r] = body->joint_inertia[r];
    }
    return true;
}

/* Stage 1 of one body. With an elastic mount it is the mock-up's motion that meets the environment, not the
 * flange's. *f_b is the last valid wrench where the reading is refused. */
static ff_status tip_of(const ff_loop_model *model, int i, ff_mount_state *mount, const ff_wrench_in *in,
                        bool fresh, ff_setpoint *tip, ff_wrench *f_b) {
    const ff_wrench_config *wrench = &model->config.body[i].wrench;
    tip->T = in->T_wb;
    tip->twist = in->twist;
    const ff_status status = ff_wrench_condition(wrench, in, f_b);
    if (status != FF_OK || !model->mount[i].elastic)
        return status;
    ff_wrench_in own = *in;
    ff_mount_step(&model->mount[i], mount, wrench, in, fresh, &own);
    tip->T = own.T_wb;
    tip->twist = own.twist;
    return ff_wrench_condition(wrench, &own, f_b);
}

void ff_loop_calibrated(const ff_loop_model *model, ff_loop_calibration *calibration) {
    *calibration = (ff_loop_calibration){.skew = model->config.world.skew};
    for (int i = 0; i < model->config.bodies; i++) {
        const ff_wrench_config *w = &model->config.body[i].wrench;
        calibration->sensor[i] =
            (ff_loop_sensor){w->bias_s, w->mockup_mass, w->mockup_com_b, w->force_limit, w->torque_limit};
    }
}

ff_status ff_loop_calibrate(ff_loop_model *model, const ff_loop_calibration *calibration) {
    ff_wrench_config wrench[FF_MAX_BODIES];
    ff_mount_config mount[FF_MAX_BODIES];
    ff_mount_model bends[FF_MAX_BODIES];
    ff_status status = FF_OK;
    for (int i = 0; i < model->config.bodies && status == FF_OK; i++) {
        const ff_loop_sensor *s = &calibration->sensor[i];
        wrench[i] = model->config.body[i].wrench;
        mount[i] = model->config.body[i].mount;
        bends[i] = model->mount[i];
        wrench[i].bias_s = s->bias_s;
        wrench[i].mockup_mass = s->mockup_mass;
        wrench[i].mockup_com_b = s->mockup_com_b;
        wrench[i].force_limit = s->force_limit;
        wrench[i].torque_limit = s->torque_limit;
        status = ff_wrench_validate(&wrench[i]);
        if (status == FF_OK && mount[i].mass > 0.0 && mount[i].mass != s->mockup_mass) {
            mount[i].mass = s->mockup_mass;
            status = ff_mount_create(&mount[i], &bends[i]);
        }
    }
    if (status == FF_OK && calibration->skew != model->config.world.skew) {
        ff_world world = model->config.world;
        ff_settings setting = model->config.setting;
        world.skew = calibration->skew;
        ff_settings_forget(model->config.method, &setting, "skew"); /* what was measured holds */
        status = ff_loop_update(model, &world, &setting);
    }
    for (int i = 0; i < model->config.bodies && status == FF_OK; i++) {
        model->config.body[i].wrench = wrench[i];
        model->config.body[i].mount = mount[i];
        model->mount[i] = bends[i];
    }
    return status;
}

/* Else the last reading stands in for a lost one. */
static bool is_fresh(const ff_loop_model *model, const ff_wrench_in *sensor) {
    return sensor->age < 0.5 * model->config.integrate.cycle;
}

ff_status ff_loop_joints(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                         const ff_loop_in *in, ff_loop_out *out) {
    out->joint_status = model->config.joints.tree ? ff__joints_measure(model, state, in, out) : FF_OK;
    info->not_finite += out->joint_status == FF_ERR_NOT_FINITE;
    return out->joint_status;
}

ff_status ff_loop_measure(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          const ff_loop_in *in, ff_loop_out *out) {
    bool refused = ff_loop_joints(model, state, info, in, out) != FF_OK;
    for (int i = 0; i < model->config.bodies; i++) {
        out->measured_b[i] = state->last_wrench[i];
        const ff_status status = tip_of(model, i, &state->mount[i], &in->sensor[i],
                                        is_fresh(model, &in->sensor[i]), &out->tip[i], &out->measured_b[i]);
        out->sensor_status[i] = status;
        if (status == FF_OK) {
            if (in->touches)
                out->measured_b[i] = ff_wrench_add(out->measured_b[i], in->contact_b[i]);
            state->last_wrench[i] = out->measured_b[i];
        }
        info->not_finite += status == FF_ERR_NOT_FINITE;
        info->stale += status == FF_INFO_STALE;
        info->saturated += status == FF_INFO_SATURATED;
        refused |= status != FF_OK;
    }
    if (model->config.joints.tree)
        ff__joints_place(model, state, out);
    return refused ? FF_INFO_HELD : FF_OK;
}

/* What stage 1 has measured, robots mapped to the inertial frame by (23). False: a sample was refused. */
static bool take_samples(const ff_loop_model *model, const ff_loop_state *state, ff_loop_info *info,
                         const ff_loop_in *in, const ff_loop_out *out, ff__cycle *c) {
    const ff_loop_config *config = &model->config;
    bool refused = out->joint_status != FF_OK;
    for (int i = 0; i < config->bodies; i++) {
        const ff_status status = out->sensor_status[i];
        const bool known = ff_vec3_finite(in->load[i].force) && ff_vec3_finite(in->load[i].torque) &&
                           is_command(&in->sent[i].to) && isfinite(in->sent[i].lag);
        info->not_finite += !known;
        refused |= status != FF_OK || !known;
        c->sample[i] = (ff_body_sample){.f_b = out->measured_b[i],
                                        .T_wr = out->tip[i].T,
                                        .twist_r = out->tip[i].twist,
                                        .load = in->load[i],
                                        .valid = status == FF_OK && is_fresh(model, &in->sensor[i])};
        if (config->relative.enabled) {
            const ff_rigid_state *nominal = &state->nominal.motion;
            map_to_inertial(nominal, &in->sensor[i].T_wb, &in->sensor[i].twist, &c->sample[i].T_wr,
                            &c->sample[i].twist_r);
            c->sample[i].carried = ff_vec3_add(
                nominal->velocity,
                ff_quat_rotate(nominal->attitude, ff_vec3_cross(nominal->omega, in->sensor[i].T_wb.p)));
        }
    }
    if (!refused && config->joints.tree)
        ff__joints_see(model, state, in, out, c);
    return !refused;
}

/* 2, 3 contact and fidelity: the wrench the satellites should feel. */
static ff_status correct(const ff_loop_model *model, ff_loop_state *state, const ff_sent *sent, ff__cycle *c,
                         ff_method_out *out) {
    const ff_loop_config *config = &model->config;
    if (config->method->needs & FF_NEEDS_COMPLIANCE)
        for (int i = 0; i < config->bodies; i++)
            if (config->body[i].elastic && !config->relative.enabled && /* arm and satellites in one frame */
                yields(model, i, c->sample[i].T_wr, &state->joints[i], c->compliance[i], &c->gears[i])) {
                c->sample[i].compliance = (const double(*)[6])c->compliance[i];
                c->sample[i].gears = &c->gears[i];
            }
    ff_method_in in = {.cycle = config->integrate.cycle,
                       .body = state->body,
                       .rigid = model->rigid,
                       .sample = c->sample,
                       .output = state->integrate,
                       .sent = sent,
                       .grasp_point = config->world.grasp.point};
    if (config->joints.tree)
        return ff__joints_correct(model, state, c, &in, out);
    return ff__stage_step(&model->stage, ff__loop_method_model(model), config->bodies, state->detector,
                          ff__loop_method_state(state), &in, out);
}

/* The satellites from t_k to t_(k+1). False: they would leave the finite numbers. */
static bool advance(const ff_loop_model *model, ff_loop_state *state, const ff_loop_in *in,
                    const ff_method_out *felt, ff__cycle *c) {
    const ff_loop_config *config = &model->config;
    const double T = config->integrate.cycle;
    const ff_rigid_state *body = felt->body;
    c->nominal = state->nominal;
    if (config->relative.enabled)
        ff_nominal_step(&model->nominal, &config->integrate, state->k, &c->nominal);
    bool finite = ff_rigid_finite(&c->nominal.motion);
    bool held[FF_MAX_BODIES];
    ff_wrench half[FF_MAX_BODIES];
    for (int i = 0; i < config->bodies; i++) {
        c->next[i] = body[i];
        held[i] = config->body[i].held && !felt->has_next[i];
        half[i] = ff_wrench_scale(0.5, felt->f_b[i]);
        if (config->integrate.scheme != FF_SCHEME_PASSIVE) { /* a method may have recomputed the state */
            state->integrate[i].velocity_c = body[i].velocity;
            state->integrate[i].omega_c = body[i].omega;
        }
        c->integrate[i] = state->integrate[i];
        const ff_rigid_load contact =
            ff_rigid_load_from_body(body[i].attitude, held[i] ? half[i] : felt->f_b[i]);
        if (ff__has_joints(config, i))
            ff__joints_advance(model, state, in, felt, c);
        else if (felt->has_next[i])
            own_step(&model->rigid[i], T, contact, in->load[i], &body[i], &felt->next[i], &c->next[i],
                     &c->integrate[i], &c->step[i]);
        else if (config->relative.enabled && config->relative.integrated)
            ff_relative_step(&config->integrate, &model->nominal, &model->rigid[i], contact, in->load[i],
                             &state->nominal.motion, &c->nominal.motion, &c->next[i], &c->integrate[i],
                             &c->step[i]);
        else
            ff_integrate_step(&config->integrate, &model->rigid[i], contact, in->load[i], &c->next[i],
                              &c->integrate[i], &c->step[i]);
    }
    for (int i = 0; i < config->bodies; i++) {
        if (held[i] && (ff__has_joints(config, i) || config->body[i].reacts))
            ff__joints_finish(model, i, c);
        else if (held[i])
            ff_integrate_finish(&model->rigid[i], T, late_half(&config->body[i], i, half[i], body, c->next),
                                &c->next[i], &c->integrate[i], &c->step[i]);
        finite = finite && is_sane(&c->next[i]);
    }
    if (config->relative.enabled && config->relative.nominal == FF_NOMINAL_SATELLITE)
        c->nominal.motion = c->next[config->relative.of];
    return finite;
}

/* Where the energy of each body came from in this cycle. */
static void balance(const ff_loop_model *model, ff_loop_state *state, const ff__cycle *c, ff_loop_out *out) {
    const ff_method_out *felt = &out->fidelity;
    for (int i = 0; i < model->config.bodies; i++) {
        const ff_rigid_model *rigid = &model->rigid[i];
        if (ff__has_joints(&model->config, i)) {
            ff__joints_book(model, state, c, felt->f_b[i], &state->energy[i]);
            out->velocity_correction[i] = ff_twist_zero();
            continue;
        }
        if (model->config.method->can & FF_CAN_PREDICT) /* it may have rewritten the present */
            state->energy[i].method += ff_rigid_kinetic_energy(rigid, &felt->body[i]) -
                                       ff_rigid_kinetic_energy(rigid, &state->body[i]);
        book(rigid, model->config.integrate.cycle, &c->sample[i], &felt->f_b[i], &felt->body[i],
             &state->integrate[i], &c->step[i], &c->next[i], &state->energy[i]);
        out->velocity_correction[i] =
            (ff_twist){ff_vec3_sub(c->next[i].omega, c->integrate[i].omega_c),
                       ff_vec3_sub(c->next[i].velocity, c->integrate[i].velocity_c)};
    }
}

/* 4 command: a predicting method refines the one issued now; the others' next pose is known already. */
static ff_status command(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                         const ff__cycle *c, ff_loop_out *out) {
    const ff_loop_config *config = &model->config;
    const double T = config->integrate.cycle;
    ff_status status = FF_OK;
    for (int i = 0; i < config->bodies; i++) {
        if (out->fidelity.has_command) {
            const ff_rigid_state *now = &out->fidelity.command[i], *next = &out->fidelity.next_command[i];
            const ff_rigid_state ahead = nominal_ahead(model, state, &out->fidelity, i);
            out->command[i] = ff_loop_to_robot(model, &ahead, setpoint(now, now->velocity, now->omega));
            const ff_rigid_state later = ff_nominal_coast(&model->nominal, T, T, &ahead);
            out->next[i] = ff_loop_to_robot(model, &later, setpoint(next, next->velocity, next->omega));
        } else {
            const ff_rigid_state commanded = {c->next[i].position, c->next[i].attitude,
                                              c->integrate[i].velocity_c, c->integrate[i].omega_c};
            out->command[i] = state->last[i];
            out->next[i] = config->relative.enabled
                               ? map_to_robot(&c->nominal.motion, &commanded)
                               : setpoint(&commanded, commanded.velocity, commanded.omega);
        }
        out->command_status[i] = FF_OK;
        const bool has = out->fidelity.has_command; /* else the command is the last one */
        if ((!has || is_command(&out->command[i])) && is_command(&out->next[i]))
            state->last[i] = has ? out->command[i] : out->next[i];
        else {
            hold(state, i, out);
            status = FF_INFO_HELD;
        }
    }
    info->held += status == FF_INFO_HELD;
    return status;
}

static void keep(const ff_loop_model *model, ff_loop_state *state, const ff__cycle *c) {
    for (int i = 0; i < model->config.bodies; i++) {
        state->body[i] = c->next[i];
        state->integrate[i] = c->integrate[i];
    }
    if (model->config.joints.tree)
        state->tree = c->tree;
    state->nominal = c->nominal;
    state->k++;
}

ff_status ff_loop_advance(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                          const ff_loop_in *in, ff_loop_out *out) {
    ff__cycle c;
    if (!take_samples(model, state, info, in, out, &c))
        return hold_all(model, state, info, out);
    const ff_status status = correct(model, state, in->sent, &c, &out->fidelity);
    if (status < 0 || !advance(model, state, in, &out->fidelity, &c)) {
        hold_all(model, state, info, out);
        return status < 0 ? status : FF_ERR_DIVERGED;
    }
    balance(model, state, &c, out);
    const ff_status commanded = command(model, state, info, &c, out);
    keep(model, state, &c);
    return commanded;
}

ff_status ff_loop_step(const ff_loop_model *model, ff_loop_state *state, ff_loop_info *info,
                       const ff_loop_in *in, ff_loop_out *out) {
    ff_loop_measure(model, state, info, in, out);
    return ff_loop_advance(model, state, info, in, out);
}
