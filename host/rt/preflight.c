#include "rt/internal.h"

#include <stdio.h>

/* The arm is led on from where it stands: in the branch of its own axes, from the carriage's own place, and
 * from its own pose. What that and the controller's differ by, up to the check's limits, would be a jump in
 * the first command. */
static void begin_from(ff_executive *e, int i) {
    ff_rt_body *b = &e->body[i];
    ff_plan_body *plan = &e->plan.body[i];
    const ff_arm_joints joints = b->report.joints;
    const ff_pose T = ff_arm_forward(&plan->arm, &joints);
    plan->home = joints;
    ff_axes_reset(&b->axes, &joints);
    b->T_ba = ff_pose_mul(ff_pose_inverse(ff_plan_from_rist(plan, b->report.pose)), T);
    b->T_ba.q = ff_quat_unit(b->T_ba.q);
    if (plan->arm.config.rail.rule == FF_ARM_RAIL_FOLLOW)
        plan->arm.config.rail.standoff = ff_arm_along(&plan->arm, &T) - joints.rail;
}

void ff__rt_stand(ff_executive *e, int i) {
    ff_rt_body *b = &e->body[i];
    const ff_wrench f_s = e->in.sensor[i].f_s;
    if (e->standing == 0) {
        begin_from(e, i);
        b->standing.sum = b->standing.square = ff_wrench_zero();
        b->standing.first = b->measured.T;
        b->standing.apart = b->standing.apart_angle = b->standing.moved = 0.0;
    }
    b->standing.sum = ff_wrench_add(b->standing.sum, f_s);
    b->rest_b = ff_wrench_add(e->standing ? b->rest_b : ff_wrench_zero(),
                              ff_wrench_scale(1.0 / FF_RT_CHECK_CYCLES, e->out.measured_b[i]));
    for (int a = 0; a < 3; a++) {
        b->standing.square.f.a[a] += f_s.f.a[a] * f_s.f.a[a];
        b->standing.square.t.a[a] += f_s.t.a[a] * f_s.t.a[a];
    }
    const ff_arm_joints joints = b->report.joints;
    const ff_pose T = ff_arm_forward(&e->plan.body[i].arm, &joints);
    b->standing.apart = fmax(b->standing.apart, ff_vec3_norm(ff_vec3_sub(T.p, b->measured.T.p)));
    b->standing.apart_angle = fmax(b->standing.apart_angle, ff_quat_angle(T.q, b->measured.T.q));
    b->standing.moved =
        fmax(b->standing.moved, ff_vec3_norm(ff_vec3_sub(b->measured.T.p, b->standing.first.p)));
}

/* One cycle of the tests of CHECK: the small motions of all robots together, then the pushes one by one. */
void ff__rt_test_once(ff_executive *e) {
    const double t = (double)e->trial_cycle * e->plan.cycle;
    e->testing = false;
    for (int i = 0; i < e->plan.bodies; i++)
        e->testing |= t < e->body[i].trial.end;
    if (e->testing) {
        for (int i = 0; i < e->plan.bodies && e->trial_cycle == 0; i++)
            e->body[i].trial.park = e->body[i].measured.T; /* from where it stands, and back there */
        e->trial_cycle++;
        for (int i = 0; i < e->plan.bodies; i++) {
            ff_rt_body *b = &e->body[i];
            b->command = ff_trial_at(&b->trial, t);
            if (b->samples < b->sample_capacity)
                b->sample[b->samples++] = (ff_trial_sample){b->command, b->measured, b->record.f_s};
        }
        if (e->trial_cycle == 1)
            e->trial_began = e->wake;
        ff__rt_push_aside(e, ff__rt_now(e) - e->trial_end + t);
        ff__rt_spare_recorder(e, e->trial_began, e->trial_cycle);
        return;
    }
    while (e->push_body < e->plan.bodies && e->scenario->satellite[e->push_body].check.no_push)
        e->push_body++;
    if (e->push_body == e->plan.bodies) {
        atomic_store_explicit(&e->tested, true, memory_order_release);
        return;
    }
    ff_rt_body *b = &e->body[e->push_body];
    const ff_satellite *satellite = &e->scenario->satellite[e->push_body];
    if (!e->asked) {
        ff_rt_note note = {.kind = FF_NOTE_SAY, .t = ff__rt_now(e), .state = e->walk.state};
        snprintf(note.text, sizeof note.text, "%.60s: %.40s%s", satellite->name, ff_push_text(e->push_axis),
                 e->push_axis < 3 ? " along the mock-up's axis, then let go"
                                  : " about the mock-up's axis, right-handed, then let go");
        ff_ring_push(&e->notes, &note);
        ff_push_start(&b->push, e->push_axis);
        e->asked = true;
    }
    ff_check_push *push = &e->result->check.body[e->push_body].push[e->push_axis];
    if (!ff_push_step(&b->push, b->threshold[e->push_axis >= 3], satellite->check.wait, e->plan.cycle,
                      ff_wrench_sub(e->out.measured_b[e->push_body], b->rest_b), push)) {
        b->text = ff_push_text(e->push_axis);
        return;
    }
    e->asked = false;
    if (++e->push_axis == 6 || push->seen < 0) { /* in vain once: the others need not be waited for */
        e->push_axis = 0;
        e->push_body++;
    }
}

/* The weight in the sensor frame at a pose. */
static ff_wrench weight_at(const ff_wrench_config *wrench, ff_pose T_wb) {
    if (!(wrench->mockup_mass > 0.0) || wrench->environment)
        return ff_wrench_zero();
    const ff_wrench_in rest = {.T_wb = T_wb};
    return ff_wrench_transform(ff_pose_inverse(wrench->T_bs), ff_wrench_mockup(wrench, &rest));
}

/* Weight and delay from the test motions. What the fits leave at rest is the drift that remains. */
static void evaluate_trial(ff_executive *e, int i) {
    ff_rt_body *b = &e->body[i];
    ff_rt_check *check = &e->result->check;
    char message[160] = "the robot did not move";
    const double mass = e->scenario->satellite[i].rigid.mass;
    if (b->trial.poses) {
        const ff_status status = ff_trial_weigh(&b->trial, ff__rt_wrench(e, i), b->sample, b->samples,
                                                &check->body[i].payload, message, sizeof message);
        const ff_log_payload *p = &check->body[i].payload;
        check->body[i].weighed = status == FF_OK;
        if (status != FF_OK && e->scenario->satellite[i].check.weight == FF_WEIGHT_AUTO &&
            !(ff__rt_wrench(e, i)->mockup_mass >
              0.0)) { /* nothing was said to hang there, and nothing does */
            ff_check_skip(check, i, "mock-up's weight", "mockup_mass_kg", message);
        } else if (status != FF_OK) {
            ff_check_add(check, i, "mock-up's mass", "mockup_mass_kg", FF_NAN, FF_NAN, "kg", FF_TRIP_WEIGHT,
                         message);
        } else {
            static const char *const what[] = {"mock-up's CoM, x", "mock-up's CoM, y", "mock-up's CoM, z"};
            static const char *const key[] = {"mockup_com_x_m", "mockup_com_y_m", "mockup_com_z_m"};
            ff_check_add(check, i, "mock-up's mass", "mockup_mass_kg", p->mass.value, FF_INF, "kg",
                         FF_TRIP_WEIGHT, NULL);
            for (int a = 0; a < 3; a++)
                ff_check_show(check, i, what[a], key[a], p->com[a].value, "m");
            check->body[i].bias = p->bias;
            ff_wrench_config fitted = *ff__rt_wrench(e, i);
            fitted.mockup_mass = p->mass.value;
            fitted.mockup_com_b = ff_vec3_make(p->com[0].value, p->com[1].value, p->com[2].value);
            check->body[i].drift = ff_trial_drift(&b->trial, &fitted, p->bias, b->sample, b->samples) / mass;
        }
    }
    const char *why;
    if (!ff_trial_weighs(e->scenario, i, &why))
        ff_check_skip(check, i, "mock-up's weight", "mockup_mass_kg", why);
    /* an answer is never older than the telegram before: one cycle at least */
    const double cycle = e->plan.cycle, said = fmax(e->plan.body[i].delay, cycle);
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
            ff_trial_align(&b->trial, ff__rt_wrench(e, i), e->plan.virtual ? 0.5 * cycle : 0.0, b->sample,
                           b->samples, &check->body[i].skew, message, sizeof message) == FF_OK;
        if (check->body[i].aligned)
            ff_check_show(check, i, "force older than pose", "skew_ms", 1e3 * check->body[i].skew.value,
                          "ms");
        else
            ff_check_skip(check, i, "force older than pose", "skew_ms", message);
    } else {
        ff_check_show(check, i, "delay, from the scenario", "delay_ms", 1e3 * said, "ms");
    }
}

static void evaluate_pushes(ff_executive *e, int i) {
    ff_rt_check *check = &e->result->check;
    static const char *const key[] = {"push_x", "push_y", "push_z", "twist_x", "twist_y", "twist_z"};
    if (e->scenario->satellite[i].check.no_push) {
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

/* Evaluates what was measured at standstill and, once they were made, by the tests. In the caller's thread,
 * while the robot holds. */
void ff__rt_evaluate(ff_executive *e, bool tested) {
    ff_rt_check *check = &e->result->check;
    const double deg = FF_PI / 180.0;
    check->no_go = (ff_trip){.code = FF_TRIP_NONE};
    check->rows = 0;
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        const double n = FF_RT_CHECK_CYCLES;
        const ff_wrench mean = ff_wrench_scale(1.0 / n, b->standing.sum);
        double force = 0.0, torque = 0.0;
        for (int a = 0; a < 3; a++) {
            force = fmax(force, b->standing.square.f.a[a] / n - mean.f.a[a] * mean.f.a[a]);
            torque = fmax(torque, b->standing.square.t.a[a] / n - mean.t.a[a] * mean.t.a[a]);
        }
        const double noise = sqrt(fmax(0.0, force));
        check->body[i].bias = ff_wrench_sub(mean, weight_at(ff__rt_wrench(e, i), b->standing.first));
        check->body[i].force_noise = noise;
        check->body[i].torque_noise = sqrt(fmax(0.0, torque));
        check->body[i].drift = noise / sqrt(n) / e->scenario->satellite[i].rigid.mass;
        check->body[i].apart = b->standing.apart;
        check->body[i].apart_angle = b->standing.apart_angle;
        check->body[i].moved = b->standing.moved;
        const ff_pose park = ff_plan_runup(&e->plan, i, -FF_INF).T;
        check->body[i].off = ff_vec3_norm(ff_vec3_sub(park.p, b->standing.first.p));
        check->body[i].off_angle = ff_quat_angle(park.q, b->standing.first.q);
        ff_check_add(check, i, "axes against pose", "kinematics_mm", 1e3 * check->body[i].apart, 1.0, "mm",
                     FF_TRIP_KINEMATICS, NULL);
        ff_check_add(check, i, "axes against pose", "kinematics_deg", check->body[i].apart_angle / deg, 0.1,
                     "deg", FF_TRIP_KINEMATICS, NULL);
        ff_check_add(check, i, "from the start of the run", "start_mm", 1e3 * check->body[i].off, 1.0, "mm",
                     FF_TRIP_START, NULL);
        ff_check_add(check, i, "from the start of the run", "start_deg", check->body[i].off_angle / deg, 0.1,
                     "deg", FF_TRIP_START, NULL);
        ff_check_add(check, i, "moved at standstill", "standstill_mm", 1e3 * check->body[i].moved, 1.0, "mm",
                     FF_TRIP_STANDSTILL, NULL);
        if (tested)
            evaluate_trial(e, i);
        if (tested)
            evaluate_pushes(e, i);
        const double range = ff__rt_wrench(e, i)->force_limit;
        ff_check_add(check, i, "bias and 5 sd of the noise", "bias_N",
                     ff_vec3_norm(check->body[i].bias.f) + 5.0 * noise, 0.5 * range, "N", FF_TRIP_BIAS, NULL);
        ff_check_show(check, i, "force noise, sd", "force_noise_N", noise, "N");
        ff_check_show(check, i, "torque noise, sd", "torque_noise_Nm", check->body[i].torque_noise, "N m");
        ff_check_show(check, i, "residual drift", "drift_mmps2", 1e3 * check->body[i].drift, "mm/s2");
        const ff_ideal_result *ideal = e->run->ideal;
        if (ideal && ideal->samples) {
            double when;
            const double margin = ff_check_margin(&e->plan.body[i], ideal->state + i, (size_t)ideal->bodies,
                                                  ideal->samples, e->plan.cycle, &when);
            char reason[160];
            snprintf(reason, sizeof reason, "the true motion leaves the arm's reach at %.2f s", when);
            ff_check_least(check, i, "joints of the true motion", "joint_margin_deg", margin / deg, 0.0,
                           "deg", isfinite(margin) ? FF_TRIP_JOINT : FF_TRIP_REACH, reason);
        }
        const ff_output_config *output = &b->output_config;
        const ff_twist start = e->plan.body[i].start.twist;
        ff_check_add(check, i, "speed at the start", "start_speed_mps", ff_vec3_norm(start.v),
                     output->velocity, "m/s", FF_TRIP_VELOCITY, NULL);
        ff_check_add(check, i, "turning at the start", "start_turn_radps", ff_vec3_norm(start.w),
                     output->angular_velocity, "rad/s", FF_TRIP_ANGULAR_VELOCITY, NULL);
        ff_forecast *forecast = &check->body[i].forecast;
        ff_safety_forecast(e->scenario, i, check->body[i].timed ? check->body[i].delay.delay.value : FF_NAN,
                           forecast);
        ff_check_add(check, i, "contact frequency times delay", "w_tau", forecast->w_tau, forecast->most, "",
                     FF_TRIP_NO_GO, NULL);
        ff_check_add(check, i, "predicted force and limit", "peak_force_N", forecast->force,
                     e->scenario->satellite[i].safety.force, "N", FF_TRIP_FORCE, NULL);
        ff_check_add(check, i, "predicted force and range", "peak_force_range_N", forecast->force, range, "N",
                     FF_TRIP_RANGE, NULL);
        e->touch.threshold[i] = fmax(2e-6, 5.0 * noise);
        atomic_store_explicit(&e->telemetry.threshold[i], e->touch.threshold[i], memory_order_relaxed);
        /* the limits' thresholds use the measured noise: the real-time thread reads them only while it moves
         */
        e->safety_config.contact[i] = fmax(1e-3, 5.0 * noise);
        b->threshold[0] = ff_push_threshold(0, noise, range);
        b->threshold[1] =
            ff_push_threshold(3, check->body[i].torque_noise, ff__rt_wrench(e, i)->torque_limit);
    }
}

/* The tests of CHECK, if there are any. True: they run; false: there is nothing more to wait for. */
bool ff__rt_begin_tests(ff_executive *e) {
    ff_rt_check *check = &e->result->check;
    bool any = false, moves = false;
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        char message[160];
        any |= !e->scenario->satellite[i].check.no_push;
        if (!(b->trial.end > 0.0))
            continue;
        moves = true;
        if (ff_trial_reach(&b->trial, &e->plan.body[i], message, sizeof message) != FF_OK)
            ff_check_add(check, i, "reach of the test motion", "trial_reach", 1.0, 0.0, "", FF_TRIP_REACH,
                         message);
    }
    if (check->no_go.code != FF_TRIP_NONE || !(any || moves))
        return false;
    if (moves && !(e->options->permit ? e->options->permit(e->options->user, check) : e->plan.virtual)) {
        atomic_store(&e->quit, true);
        return true;
    }
    atomic_store_explicit(&e->tests, true, memory_order_release);
    return true;
}
