/* CHECK and TEST: what is measured before arming, and the table made of it. */
#include "executive/internal.h"

#include <stdio.h>
#include <stdlib.h>

ff_status ff_preflight_open(ff_preflight *p, const ff_scenario *scenario, const ff_plan *plan, bool virtual,
                            char *message, size_t size) {
    p->scenario = scenario;
    p->plan = plan;
    p->virtual = virtual;
    for (int i = 0; i < plan->bodies; i++) {
        ff_preflight_body *b = &p->body[i];
        ff_trial_plan(scenario, plan, i, &b->trial);
        p->trial_end = fmax(p->trial_end, b->trial.end);
        if (!(b->trial.end > 0.0))
            continue;
        b->capacity = (size_t)(b->trial.end / plan->cycle) + 2;
        b->sample = calloc(b->capacity, sizeof *b->sample);
        if (!b->sample) {
            snprintf(message, size, "no memory for the tests");
            return FF_ERR_MEMORY;
        }
    }
    return FF_OK;
}

void ff_preflight_close(ff_preflight *p) {
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        free(p->body[i].sample);
        p->body[i].sample = NULL;
    }
}

/* ------------------------------------------------------------------------------------------ in the cycle --
 */

void ff__preflight_stand(ff_executive *e, int i) {
    ff_preflight *p = e->phases.preflight;
    ff_preflight_body *b = &p->body[i];
    const ff_wrench_in *sensor = &e->in.sensor[i];
    const ff_pose at = sensor->T_wb;
    if (p->standing == 0) {
        b->first = at;
        b->reading = sensor->f_s;
    }
    b->sum = ff_wrench_add(b->sum, sensor->f_s);
    b->rest_b = ff_wrench_add(b->rest_b, ff_wrench_scale(1.0 / FF_PREFLIGHT_CYCLES, e->out.measured_b[i]));
    e->guard.body[i].rest_b = b->rest_b;
    b->repeated += e->sample.body[i].device.repeats > 0.0;
    const ff_wrench change = ff_wrench_sub(sensor->f_s, b->reading);
    for (int a = 0; a < 3; a++) {
        b->square.f.a[a] += change.f.a[a] * change.f.a[a];
        b->square.t.a[a] += change.t.a[a] * change.t.a[a];
    }
    const ff_pose T = ff_arm_forward(&p->plan->body[i].arm, &e->sample.body[i].device.joints);
    b->apart = fmax(b->apart, ff_vec3_norm(ff_vec3_sub(T.p, at.p)));
    b->apart_angle = fmax(b->apart_angle, ff_quat_angle(T.q, at.q));
    b->moved = fmax(b->moved, ff_vec3_norm(ff_vec3_sub(at.p, b->first.p)));
}

/* One cycle of the small motions, of all robots together. False: they are over. */
static bool move_for_test(ff_executive *e) {
    ff_preflight *p = e->phases.preflight;
    const double t = (double)p->trial_cycle * p->plan->cycle;
    p->testing = false;
    for (int i = 0; i < p->plan->bodies; i++)
        p->testing |= t < p->body[i].trial.end;
    if (!p->testing)
        return false;
    for (int i = 0; i < p->plan->bodies && p->trial_cycle == 0; i++)
        p->body[i].trial.park = e->in.sensor[i].T_wb; /* from where it stands, and back there */
    p->trial_cycle++;
    for (int i = 0; i < p->plan->bodies; i++) {
        ff_preflight_body *b = &p->body[i];
        const ff_wrench_in *sensor = &e->in.sensor[i];
        e->out.command[i] = ff_trial_at(&b->trial, t);
        if (b->samples < b->capacity)
            b->sample[b->samples++] =
                (ff_trial_sample){e->out.command[i], {sensor->T_wb, sensor->twist}, sensor->f_s};
    }
    ff_executive_aside(e, ff_executive_time(e) - p->trial_end + t);
    return true;
}

/* By hand. With an arm there is no mock-up on a sensor: the gripper's is the only one, and the client's robot
 * has none that the loop reads. */
static bool pushes(const ff_preflight *p, int i) {
    return !p->scenario->satellite[i].check.no_push && ff_scenario_servicer(p->scenario) < 0;
}

/* The small motions, then the pushes one by one. */
void ff__preflight_test(ff_executive *e) {
    ff_preflight *p = e->phases.preflight;
    if (move_for_test(e))
        return;
    while (p->push_body < p->plan->bodies && !pushes(p, p->push_body))
        p->push_body++;
    if (p->push_body == p->plan->bodies) {
        atomic_store_explicit(&p->tested, true, memory_order_release);
        return;
    }
    ff_preflight_body *b = &p->body[p->push_body];
    const ff_satellite *satellite = &p->scenario->satellite[p->push_body];
    if (!p->asked) {
        char text[160];
        snprintf(text, sizeof text, "%.60s: %.40s%s", satellite->name, ff_push_text(p->push_axis),
                 p->push_axis < 3 ? " along the mock-up's axis, then let go"
                                  : " about the mock-up's axis, right-handed, then let go");
        ff__executive_say(e, FF_EVENT_INFO, text);
        ff_push_start(&b->push, p->push_axis);
        p->asked = true;
    }
    ff_check_push *push = &p->check.body[p->push_body].push[p->push_axis];
    if (!ff_push_step(&b->push, b->threshold[p->push_axis >= 3], satellite->check.wait, p->plan->cycle,
                      ff_wrench_sub(e->out.measured_b[p->push_body], b->rest_b), push)) {
        e->station.show(e->station.self, p->push_body, ff_push_text(p->push_axis));
        return;
    }
    p->asked = false;
    if (++p->push_axis == 6 || push->seen < 0) { /* in vain once: the others need not be waited for */
        p->push_axis = 0;
        p->push_body++;
    }
}

/* ------------------------------------------------------------------------------ in the attendant's thread --
 */

/* The weight in the sensor frame at a pose. */
static ff_wrench weight_at(const ff_wrench_config *wrench, ff_pose T_wb) {
    if (!(wrench->mockup_mass > 0.0) || wrench->environment)
        return ff_wrench_zero();
    const ff_wrench_in rest = {.T_wb = T_wb};
    return ff_wrench_transform(ff_pose_inverse(wrench->T_bs), ff_wrench_mockup(wrench, &rest));
}

/* Weight and delay from the test motions. What the fits leave at rest is the drift that remains. */
static void evaluate_trial(ff_preflight *p, const ff_wrench_config *wrench, int i) {
    const ff_preflight_body *b = &p->body[i];
    ff_check *check = &p->check;
    char message[160] = "the robot did not move";
    const double mass = p->scenario->satellite[i].rigid.mass;
    if (b->trial.poses) {
        const ff_status status = ff_trial_weigh(&b->trial, wrench, b->sample, b->samples,
                                                &check->body[i].payload, message, sizeof message);
        const ff_log_payload *load = &check->body[i].payload;
        check->body[i].weighed = status == FF_OK;
        if (status != FF_OK && p->scenario->satellite[i].check.weight == FF_WEIGHT_AUTO &&
            !(wrench->mockup_mass > 0.0)) { /* nothing was said to hang there, and nothing does */
            ff_check_skip(check, i, "mock-up's weight", "mockup_mass_kg", message);
        } else if (status != FF_OK) {
            ff_check_add(check, i, "mock-up's mass", "mockup_mass_kg", FF_NAN, FF_NAN, "kg", FF_TRIP_WEIGHT,
                         message);
        } else {
            static const char *const what[] = {"mock-up's CoM, x", "mock-up's CoM, y", "mock-up's CoM, z"};
            static const char *const key[] = {"mockup_com_x_m", "mockup_com_y_m", "mockup_com_z_m"};
            ff_check_add(check, i, "mock-up's mass", "mockup_mass_kg", load->mass.value, FF_INF, "kg",
                         FF_TRIP_WEIGHT, NULL);
            for (int a = 0; a < 3; a++)
                ff_check_show(check, i, what[a], key[a], load->com[a].value, "m");
            check->body[i].bias = load->bias;
            ff_wrench_config fitted = *wrench;
            fitted.mockup_mass = load->mass.value;
            fitted.mockup_com_b = ff_vec3_make(load->com[0].value, load->com[1].value, load->com[2].value);
            check->body[i].drift =
                ff_trial_drift(&b->trial, &fitted, load->bias, b->sample, b->samples) / mass;
        }
    }
    const char *why;
    if (!ff_trial_weighs(p->scenario, i, &why))
        ff_check_skip(check, i, "mock-up's weight", "mockup_mass_kg", why);
    /* an answer is never older than the telegram before: one cycle at least */
    const double cycle = p->plan->cycle, said = fmax(p->plan->body[i].delay, cycle);
    if (b->trial.chirp) {
        const ff_status status = ff_trial_time(&b->trial, b->sample, b->samples, fmax(0.2, 2.0 * said),
                                               &check->body[i].delay, message, sizeof message);
        const ff_log_delay *d = &check->body[i].delay;
        check->body[i].timed = status == FF_OK;
        ff_check_add(check, i, "delay, apart from robot.delay", "delay_error_cycles",
                     status == FF_OK ? fabs(d->delay.value - said) / cycle : FF_NAN, 1.0, "cycles",
                     FF_TRIP_DELAY, status == FF_OK ? NULL : message);
        if (status == FF_OK)
            ff_check_show(check, i, "delay, by the chirp", "delay_ms", 1e3 * d->delay.value, "ms");
        check->body[i].aligned =
            ff_trial_align(&b->trial, wrench, p->virtual ? 0.5 * cycle : 0.0, b->sample, b->samples,
                           &check->body[i].skew, message, sizeof message) == FF_OK;
        if (check->body[i].aligned)
            ff_check_show(check, i, "force older than pose", "skew_ms", 1e3 * check->body[i].skew.value,
                          "ms");
        else
            ff_check_skip(check, i, "force older than pose", "skew_ms", message);
    } else {
        ff_check_show(check, i, "delay, from the scenario", "delay_ms", 1e3 * said, "ms");
    }
}

static void evaluate_pushes(ff_preflight *p, int i) {
    ff_check *check = &p->check;
    static const char *const key[] = {"push_x", "push_y", "push_z", "twist_x", "twist_y", "twist_z"};
    if (!pushes(p, i)) {
        ff_check_skip(check, i, "hand-push test", "push", "check: {push: skip}");
        return;
    }
    for (int axis = 0; axis < 6; axis++) {
        ff_check_push *push = &check->body[i].push[axis];
        char reason[160];
        if (!push->done)
            continue;
        ff_push_judge(axis, push, reason, sizeof reason);
        ff_check_add(check, i, ff_push_text(axis), key[axis], push->part, 0.5, "", FF_TRIP_PUSH, reason);
    }
}

/* Bias, noise and stillness, from the samples at standstill. */
static void measure_standstill(ff_preflight *p, const ff_wrench_config *wrench, int i) {
    const ff_preflight_body *b = &p->body[i];
    ff_check_body *found = &p->check.body[i];
    const double n = FF_PREFLIGHT_CYCLES;
    const ff_wrench mean = ff_wrench_scale(1.0 / n, b->sum);
    const ff_wrench shift = ff_wrench_sub(mean, b->reading);
    double force = 0.0, torque = 0.0;
    for (int a = 0; a < 3; a++) {
        force = fmax(force, b->square.f.a[a] / n - shift.f.a[a] * shift.f.a[a]);
        torque = fmax(torque, b->square.t.a[a] / n - shift.t.a[a] * shift.t.a[a]);
    }
    found->repeated = b->repeated / n;
    found->bias = ff_wrench_sub(mean, weight_at(wrench, b->first));
    found->force_noise = sqrt(fmax(0.0, force));
    found->torque_noise = sqrt(fmax(0.0, torque));
    found->drift = found->force_noise / sqrt(n) / p->scenario->satellite[i].rigid.mass;
    found->apart = b->apart;
    found->apart_angle = b->apart_angle;
    found->moved = b->moved;
    const ff_pose park = ff_plan_runup(p->plan, i, -FF_INF).T;
    found->off = ff_vec3_norm(ff_vec3_sub(park.p, b->first.p));
    found->off_angle = ff_quat_angle(park.q, b->first.q);
}

static void judge_standstill(ff_preflight *p, int i) {
    ff_check *check = &p->check;
    const ff_check_body *found = &check->body[i];
    const double deg = FF_PI / 180.0;
    ff_check_add(check, i, "axes against pose", "kinematics_mm", 1e3 * found->apart, 1.0, "mm",
                 FF_TRIP_KINEMATICS, NULL);
    ff_check_add(check, i, "axes against pose", "kinematics_deg", found->apart_angle / deg, 0.1, "deg",
                 FF_TRIP_KINEMATICS, NULL);
    ff_check_add(check, i, "from the start of the run", "start_mm", 1e3 * found->off, FF_PREFLIGHT_START_MM,
                 "mm", FF_TRIP_START, NULL);
    ff_check_add(check, i, "from the start of the run", "start_deg", found->off_angle / deg,
                 FF_PREFLIGHT_START_DEG, "deg", FF_TRIP_START, NULL);
    ff_check_add(check, i, "moved at standstill", "standstill_mm", 1e3 * found->moved, 1.0, "mm",
                 FF_TRIP_STANDSTILL, NULL);
}

static void judge_sensor(ff_preflight *p, double range, int i) {
    ff_check *check = &p->check;
    const ff_check_body *found = &check->body[i];
    ff_check_add(check, i, "bias and 5 sd of the noise", "bias_N",
                 ff_vec3_norm(found->bias.f) + 5.0 * found->force_noise, 0.5 * range, "N", FF_TRIP_BIAS,
                 NULL);
    ff_check_show(check, i, "force noise, sd", "force_noise_N", found->force_noise, "N");
    ff_check_show(check, i, "torque noise, sd", "torque_noise_Nm", found->torque_noise, "N m");
    ff_check_show(check, i, "residual drift", "drift_mmps2", 1e3 * found->drift, "mm/s2");
}

/* [s] of a stop from the largest velocity there may be, with the largest acceleration in progress that leads
 * to no more than that: it is taken back, and the velocity falls along a line (freefloat/output.h). */
static double longest_stop(double V, double A, double brakes, double J) {
    const double a = fmin(A, sqrt(2.0 * J * V)), d = fmin(brakes, A);
    if (!isfinite(J))
        return V / d;
    return a / J + (V > d * d / J ? V / d + d / J : 2.0 * sqrt(V / J));
}

/* The true motion of a body in the frame that the robots move in, to be freed; NULL: no memory. */
static ff_rigid_state *true_motion(const ff_preflight_view *view, int i) {
    const ff_ideal_result *ideal = view->ideal;
    const ff_relative_config *relative = &view->model->config.relative;
    const double T = view->model->config.integrate.cycle;
    const uint64_t n = (uint64_t)ideal->bodies;
    ff_rigid_state *motion = malloc(ideal->samples * sizeof *motion);
    ff_nominal_state nominal;
    ff_nominal_reset(&view->model->nominal, &nominal);
    for (uint64_t k = 0; k < ideal->samples && motion; k++) {
        motion[k] = ideal->state[k * n + (uint64_t)i];
        if (!relative->enabled)
            continue;
        if (relative->nominal == FF_NOMINAL_SATELLITE)
            nominal.motion = ideal->state[k * n + (uint64_t)relative->of];
        motion[k] = ff_relative_from_absolute(&nominal.motion, &motion[k]);
        nominal.motion = ff_nominal_coast(&view->model->nominal, T, T, &nominal.motion);
    }
    return motion;
}

/* The motion that is to come: does the arm reach it, is its start too fast, what will the contact be like? */
static void judge_forecast(ff_preflight *p, const ff_preflight_view *view, double range, int i) {
    ff_check *check = &p->check;
    const ff_ideal_result *ideal = view->ideal;
    const double deg = FF_PI / 180.0;
    ff_rigid_state *motion = ideal && ideal->samples ? true_motion(view, i) : NULL;
    if (motion) {
        double when;
        const double margin =
            ff_check_margin(&p->plan->body[i], motion, 1, ideal->samples, p->plan->cycle, &when);
        char reason[160];
        snprintf(reason, sizeof reason, "the true motion leaves the arm's reach at %.2f s", when);
        ff_check_least(check, i, "joints of the true motion", "joint_margin_deg", margin / deg, 0.0, "deg",
                       isfinite(margin) ? FF_TRIP_JOINT : FF_TRIP_REACH, reason);
        int axis;
        const double share =
            ff_check_speed(&p->plan->body[i], motion, 1, ideal->samples, p->plan->cycle, &axis, &when);
        free(motion);
        snprintf(reason, sizeof reason, "the true motion needs %.0f %% of the speed of A%d at %.2f s",
                 100.0 * share, axis, when);
        if (!p->plan->body[i].cartesian)
            ff_check_add(check, i, "axis speed of the true motion", "axis_speed", share, 1.0, "",
                         FF_TRIP_AXIS, reason);
    }
    const ff_output_config *output = &view->output[i];
    const ff_twist start = p->plan->body[i].start.twist;
    ff_check_add(check, i, "speed at the start", "start_speed_mps", ff_vec3_norm(start.v), output->velocity,
                 "m/s", FF_TRIP_VELOCITY, NULL);
    ff_check_add(check, i, "turning at the start", "start_turn_radps", ff_vec3_norm(start.w),
                 output->angular_velocity, "rad/s", FF_TRIP_ANGULAR_VELOCITY, NULL);
    ff_check_add(
        check, i, "longest stop", "stop_s",
        fmax(longest_stop(output->velocity, output->acceleration, output->stop_acceleration, output->jerk),
             longest_stop(output->angular_velocity, output->angular_acceleration,
                          output->stop_angular_acceleration, output->angular_jerk)),
        FF_STOP_LONGEST, "s", FF_TRIP_NO_GO,
        "a stop takes too long: raise stop_acceleration, acceleration or jerk, or lower velocity");
    ff_forecast *forecast = &check->body[i].forecast;
    ff_safety_forecast(p->scenario, i, check->body[i].timed ? check->body[i].delay.delay.value : FF_NAN,
                       forecast);
    ff_check_add(check, i, "contact frequency times delay", "w_tau", forecast->w_tau, forecast->most, "",
                 FF_TRIP_NO_GO, NULL);
    ff_check_add(check, i, "predicted force and limit", "peak_force_N", forecast->force,
                 p->scenario->satellite[i].safety.force, "N", FF_TRIP_FORCE, NULL);
    ff_check_add(check, i, "predicted force and range", "peak_force_range_N", forecast->force, range, "N",
                 FF_TRIP_RANGE, NULL);
}

void ff_preflight_evaluate(ff_preflight *p, const ff_preflight_view *view, bool tested) {
    p->check.no_go = (ff_trip){.code = FF_TRIP_NONE};
    p->check.rows = 0;
    for (int i = 0; i < p->plan->bodies; i++) {
        const ff_wrench_config *wrench = &view->model->config.body[i].wrench;
        const ff_check_body *found = &p->check.body[i];
        measure_standstill(p, wrench, i);
        judge_standstill(p, i);
        if (tested) {
            evaluate_trial(p, wrench, i);
            evaluate_pushes(p, i);
        }
        judge_sensor(p, wrench->force_limit, i);
        judge_forecast(p, view, wrench->force_limit, i);
        /* the limits' thresholds use the measured noise: the loop's thread reads them only while it moves */
        view->safety->contact[i] = fmax(1e-3, 5.0 * found->force_noise);
        p->body[i].threshold[0] = ff_push_threshold(0, found->force_noise, wrench->force_limit);
        p->body[i].threshold[1] = ff_push_threshold(3, found->torque_noise, wrench->torque_limit);
    }
}

bool ff_preflight_has_tests(ff_preflight *p, bool *moves) {
    bool any = false;
    *moves = false;
    for (int i = 0; i < p->plan->bodies; i++) {
        const ff_trial *trial = &p->body[i].trial;
        char message[160];
        any |= pushes(p, i);
        if (!(trial->end > 0.0))
            continue;
        *moves = true;
        if (ff_trial_reach(trial, &p->plan->body[i], message, sizeof message) != FF_OK)
            ff_check_add(&p->check, i, "reach of the test motion", "trial_reach", 1.0, 0.0, "", FF_TRIP_REACH,
                         message);
    }
    return p->check.no_go.code == FF_TRIP_NONE && (any || *moves);
}
