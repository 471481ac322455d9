#include "study/workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ideal/ideal.h"
#include "ideal/orbit.h"
#include "text/message.h"

enum { COARSE = 80, SAMPLES_MAX = 20000 };

void ff_workspace_default(ff_workspace_config *config) {
    *config = (ff_workspace_config){
        .name = ff_arm_name(FF_ARM_KR120), .margin = 0.02, .ball = 1.744, .sample = 0.01};
    ff_arm_default(FF_ARM_KR120, &config->arm);
}

const char *ff_workspace_reason_text(ff_workspace_reason reason) {
    switch (reason) {
    case FF_WORKSPACE_TOO_FAR:
        return "beyond the stretched arm";
    case FF_WORKSPACE_TOO_NEAR:
        return "inside the folded arm";
    case FF_WORKSPACE_JOINT_LIMIT:
        return "a joint's limit";
    case FF_WORKSPACE_RAIL_LIMIT:
        return "the end of the rail";
    case FF_WORKSPACE_SINGULAR:
        return "a singularity";
    case FF_WORKSPACE_TOO_FAST:
        return "an axis is too slow";
    default:
        return "inside to the end";
    }
}

typedef struct trial {
    size_t end; /* first pose outside, or count */
    ff_workspace_reason reason;
    int axis;
    double margin;
    ff_arm_joints start;
} trial;

static ff_workspace_reason why(const ff_arm_info *info) {
    switch (info->reason) {
    case FF_ARM_TOO_FAR:
        return FF_WORKSPACE_TOO_FAR;
    case FF_ARM_TOO_NEAR:
        return FF_WORKSPACE_TOO_NEAR;
    case FF_ARM_RAIL_LIMIT:
        return FF_WORKSPACE_RAIL_LIMIT;
    default:
        return FF_WORKSPACE_JOINT_LIMIT;
    }
}

/* The axis that leaves its range if the joints continue without a jump; 0: none does. */
static int leaving_axis(const ff_arm_model *arm, const ff_pose *pose, const ff_arm_joints *at) {
    ff_arm_solution solution[8];
    int branches = 0, axis = 0;
    double nearest = FF_INF;
    if (ff_arm_inverse_all(arm, pose, at->rail, at, solution, &branches, NULL) != FF_OK)
        return 0;
    for (int b = 0; b < branches; b++) {
        double sum = 0.0;
        int out = 0;
        for (int i = 0; i < arm->config.axes; i++) { /* the same turn as before, whatever the range */
            const double step = remainder(solution[b].joints.a[i] - at->a[i], 2.0 * FF_PI);
            const double angle = at->a[i] + step;
            sum += step * step;
            if (!out && (angle < arm->config.lower[i] || angle > arm->config.upper[i]))
                out = i + 1;
        }
        if (sum < nearest) {
            nearest = sum;
            axis = out;
        }
    }
    return axis;
}

/* Follows the motion from `first` on in one branch, as continuous joints. dt <= 0: speeds are not judged. */
static void follow(const ff_workspace_config *config, const ff_arm_model *arm, const ff_pose *pose,
                   size_t first, size_t count, double dt, trial *t) {
    ff_arm_joints at = t->start;
    t->reason = FF_WORKSPACE_INSIDE;
    t->axis = 0;
    t->margin = 1.0;
    for (t->end = first; t->end < count; t->end++) {
        ff_arm_joints next = at;
        ff_arm_info info;
        if (ff_arm_inverse(arm, &pose[t->end], &at, &next, &info) != FF_OK) {
            t->reason = why(&info);
            t->axis = info.axis;
            return;
        }
        if (info.margin.smallest < config->margin) {
            t->reason = FF_WORKSPACE_SINGULAR;
            return;
        }
        for (int i = 0; i < arm->config.axes && dt > 0.0 && t->end > first; i++)
            if (fabs(next.a[i] - at.a[i]) > arm->config.speed[i] * dt) {
                const int leaving = leaving_axis(arm, &pose[t->end], &at);
                t->reason = leaving ? FF_WORKSPACE_JOINT_LIMIT : FF_WORKSPACE_TOO_FAST;
                t->axis = leaving ? leaving : i + 1;
                return;
            }
        if (dt > 0.0 && t->end > first && fabs(next.rail - at.rail) > arm->config.rail.speed * dt &&
            arm->config.rail.rule != FF_ARM_RAIL_NONE) {
            t->reason = FF_WORKSPACE_TOO_FAST;
            t->axis = 7;
            return;
        }
        t->margin = fmin(t->margin, info.margin.smallest);
        at = next;
    }
}

/* The branch that lasts longest from pose `first` on. False: no joints reach it; best->reason says why. */
static bool start_at(const ff_workspace_config *config, const ff_arm_model *arm, const ff_pose *pose,
                     size_t first, size_t count, double dt, trial *best) {
    const ff_arm_joints zero = {{0}, 0.0};
    ff_arm_solution solution[8];
    ff_arm_joints any = zero;
    ff_arm_info info;
    int branches = 0;
    *best = (trial){.end = first, .margin = 0.0};
    /* the rail follows the pose; its place is the same for all branches */
    if (ff_arm_inverse(arm, &pose[first], &zero, &any, &info) != FF_OK) {
        best->reason = why(&info);
        best->axis = info.axis;
        return false;
    }
    ff_arm_inverse_all(arm, &pose[first], any.rail, &zero, solution, &branches, &info);
    for (int i = 0; i < branches; i++) {
        trial t = {.start = solution[i].joints};
        if (solution[i].outside)
            continue;
        follow(config, arm, pose, first, count, dt, &t);
        if (t.end > best->end || (t.end == best->end && t.margin > best->margin))
            *best = t;
    }
    if (best->end == first)
        best->reason = FF_WORKSPACE_SINGULAR;
    return best->end > first;
}

static ff_status make_arm(const ff_workspace_config *config, const ff_robot_config *robot, ff_pose base,
                          ff_pose tool, ff_pose start, ff_arm_model *arm) {
    ff_arm_config c = config->arm;
    c.base = base;
    c.tool = tool;
    if (robot->rail.present) {
        c.rail = (ff_arm_rail){.rule = FF_ARM_RAIL_FOLLOW,
                               .axis = ff_quat_unrotate(base.q, robot->rail.axis),
                               .lower = -0.5 * robot->rail.length,
                               .upper = 0.5 * robot->rail.length,
                               .speed = isfinite(robot->rail.speed) ? robot->rail.speed : 1e9};
        /* the carriage starts in the middle, and keeps the flange's distance along the rail */
        c.rail.standoff = ff_vec3_dot(
            c.rail.axis, ff_pose_mul(ff_pose_inverse(base), ff_pose_mul(start, ff_pose_inverse(tool))).p);
    }
    return ff_arm_create(&c, arm);
}

static bool identity(ff_pose p) {
    return ff_vec3_norm(p.p) == 0.0 && fabs(p.q.w) == 1.0;
}

static bool report_progress(const ff_workspace_config *config, double part) {
    return !config->progress || config->progress(config->user, part);
}

/* Candidates: where the flange starts as the base sees it, in which direction it looks, and how the base is
 * turned. */
static ff_status place(const ff_workspace_config *config, const ff_robot_config *robot, const ff_pose *pose,
                       size_t count, ff_pose *base, ff_pose *tool) {
    static const double x[] = {1.0, 1.35, 1.7, 2.05}, y[] = {-0.8, -0.4, 0.0, 0.4, 0.8},
                        z[] = {0.4, 0.9, 1.4, 1.9};
    /* flange axis forward, forward and down, down; then turned about the vertical */
    const double pitch[] = {FF_PI / 2, 0.75 * FF_PI, FF_PI};
    /* the grid fits KUKA's arms; others by how long they are */
    ff_arm_model model, usual;
    ff_arm_config kr120;
    ff_arm_default(FF_ARM_KR120, &kr120);
    ff_arm_create(&kr120, &usual);
    const ff_status valid = ff_arm_create(&config->arm, &model);
    if (valid != FF_OK)
        return valid;
    const double part = config->arm.chain ? model.reach / usual.reach : 1.0;
    ff_pose few[COARSE];
    size_t n = count < COARSE ? count : COARSE;
    for (size_t i = 0; i < n; i++)
        few[i] = pose[n > 1 ? i * (count - 1) / (n - 1) : 0];
    trial best = {.end = 0, .margin = -1.0};
    bool found = false;
    const size_t candidates = 4 * 5 * 4 * 3 * 4;
    for (size_t c = 0; c < candidates; c++) {
        if (c % 16 == 0 && !report_progress(config, (double)c / (double)candidates))
            return FF_ERR_LIMIT;
        const size_t ix = c % 4, iy = c / 4 % 5, iz = c / 20 % 4, ip = c / 80 % 3, iw = c / 240;
        const ff_quat yaw = ff_quat_exp(ff_vec3_make(0.0, 0.0, 0.5 * FF_PI * (double)iw));
        const ff_pose T_bf = {ff_quat_exp(ff_vec3_make(0.0, pitch[ip], 0.0)),
                              ff_vec3_make(part * x[ix], part * y[iy], part * z[iz])};
        /* the CoM at the flange; the mock-up is bolted on as the start asks */
        ff_pose b = {yaw, ff_vec3_sub(pose[0].p, ff_quat_rotate(yaw, T_bf.p))};
        const ff_pose t = {ff_quat_mul(ff_quat_conj(ff_quat_mul(yaw, T_bf.q)), pose[0].q), ff_vec3_zero()};
        ff_arm_model arm;
        const ff_status status = make_arm(config, robot, b, t, pose[0], &arm);
        if (status != FF_OK)
            return status;
        trial one;
        start_at(config, &arm, few, 0, n, 0.0, &one);
        if (one.end > best.end || (one.end == best.end && one.margin > best.margin)) {
            best = one;
            *base = b;
            *tool = t;
            found = true;
        }
    }
    return found ? FF_OK : FF_ERR_REACH;
}

static void measure(const ff_workspace_config *config, const ff_pose *pose, size_t count,
                    ff_workspace_span *out) {
    out->ball = FF_INF;
    out->travel = out->turn = 0.0;
    for (size_t k = 0; k < count; k++) {
        const double d = ff_vec3_norm(ff_vec3_sub(pose[k].p, pose[0].p));
        const double r = ff_vec3_norm(ff_quat_log(ff_quat_mul(ff_quat_conj(pose[0].q), pose[k].q)));
        out->travel = fmax(out->travel, d);
        out->turn = fmax(out->turn, r);
        if (d > config->ball && !isfinite(out->ball))
            out->ball = (double)k * config->sample;
    }
}

ff_status ff_workspace_trace(const ff_workspace_config *config, const ff_robot_config *robot,
                             const ff_pose *pose, size_t count, ff_workspace_span *out) {
    *out = (ff_workspace_span){.from = FF_NAN, .until = FF_NAN, .margin = FF_NAN};
    if (count == 0 || !(config->sample > 0.0) || !(config->margin >= 0.0 && config->margin < 1.0) ||
        !(config->ball > 0.0))
        return FF_ERR_ARGUMENT;
    measure(config, pose, count, out);
    out->base = robot->base;
    out->tool = robot->tool;
    ff_status status = FF_OK;
    if (identity(robot->base) && identity(robot->tool)) {
        out->placed = true;
        status = place(config, robot, pose, count, &out->base, &out->tool);
    }
    ff_arm_model arm;
    if (status == FF_OK)
        status = make_arm(config, robot, out->base, out->tool, pose[0], &arm);
    if (status != FF_OK)
        return status;
    trial t = {0};
    size_t first = 0;
    for (; first < count; first++)
        if (first % 256 == 0 && !report_progress(config, 1.0))
            return FF_ERR_LIMIT;
        else if (start_at(config, &arm, pose, first, count, config->sample, &t))
            break;
        else if (first == 0)
            out->reason = t.reason, out->axis = t.axis;
    if (first == count)
        return FF_OK;
    out->from = (double)first * config->sample;
    out->until = (double)(t.end < count ? t.end : count - 1) * config->sample;
    out->reason = t.reason;
    out->axis = t.axis;
    out->margin = t.margin;
    out->start = t.start;
    out->axes = arm.config.axes;
    const ff_pose last = pose[t.end < count ? t.end : count - 1];
    out->distance = ff_vec3_norm(ff_vec3_sub(last.p, pose[0].p));
    out->rotation = ff_vec3_norm(ff_quat_log(ff_quat_mul(ff_quat_conj(pose[0].q), last.q)));
    return FF_OK;
}

/* One motion's progress as a part of all of them. */
typedef struct motions {
    const ff_workspace_config *config;
    int done, all;
} motions;

static bool tell_motion(void *self, double part) {
    const motions *m = self;
    return report_progress(m->config, (m->done + part) / m->all);
}

ff_status ff_workspace_analyze(const ff_scenario *scenario, const ff_workspace_config *config,
                               ff_workspace *out, char *message, size_t size) {
    *out = (ff_workspace){.duration = (double)scenario->cycles * scenario->cycle,
                          .bodies = scenario->satellites};
    if (scenario->emulates)
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "an emulation has no satellite whose motion could leave");
    ff_scenario *copy = malloc(sizeof *copy);
    ff_ideal_result forced = {0}, nominal = {0};
    ff_pose *pose = NULL;
    ff_status status = copy ? FF_OK : ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    if (status == FF_OK) {
        *copy = *scenario;
        copy->method = NULL;
        copy->frame = FF_FRAME_ABSOLUTE;
        const int servicer = ff_scenario_servicer(copy);
        status = servicer < 0 ? ff_ideal_solve(copy, NULL, NULL, &forced, message, size)
                              : ff_orbit_solve(copy, NULL, &forced, message, size); /* the orbit */
        if (servicer >= 0)
            copy->satellite[servicer].arm.present = false;
    }
    if (status == FF_OK && scenario->nominal != FF_NOMINAL_SATELLITE) {
        /* [destefano2021] nominal: the same start, nothing acts */
        copy->contacts = copy->loads = 0;
        status = ff_ideal_solve(copy, NULL, NULL, &nominal, message, size);
    }
    motions m = {.config = config, .all = 2 * scenario->satellites};
    ff_workspace_config c = *config;
    c.progress = tell_motion;
    c.user = &m;
    const uint64_t cap = scenario->cycles / SAMPLES_MAX + 1;
    uint64_t stride = (uint64_t)fmax(1.0, round(c.sample / scenario->cycle));
    stride = stride > cap ? stride : cap;
    c.sample = (double)stride * scenario->cycle;
    const size_t count = (size_t)(scenario->cycles / stride) + 1;
    if (status == FF_OK) {
        pose = malloc(count * sizeof *pose);
        if (!pose)
            status = ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    }
    const uint64_t bodies = (uint64_t)scenario->satellites;
    const ff_ideal_result *n = scenario->nominal == FF_NOMINAL_SATELLITE ? &forced : &nominal;
    for (int i = 0; i < scenario->satellites && status == FF_OK; i++)
        for (int relative = 0; relative < 2 && status == FF_OK; relative++) {
            for (size_t k = 0; k < count; k++) {
                const uint64_t at = (uint64_t)k * stride * bodies;
                pose[k] = ff_rigid_pose(&forced.state[at + (uint64_t)i]);
                if (relative) /* g_n^-1 g */
                    pose[k] = ff_pose_mul(
                        ff_pose_inverse(ff_rigid_pose(&n->state[at + (uint64_t)scenario->nominal_of])),
                        pose[k]);
            }
            status = ff_workspace_trace(&c, &scenario->satellite[i].robot, pose, count,
                                        relative ? &out->relative[i] : &out->absolute[i]);
            m.done++;
            if (status == FF_ERR_LIMIT)
                ff_refuse(status, message, size, "stopped");
            else if (status != FF_OK)
                ff_refuse(status, message, size, "the robot's base, tool or rail cannot be used for an arm");
        }
    free(pose);
    ff_ideal_free(&forced);
    ff_ideal_free(&nominal);
    free(copy);
    return status;
}

static void clause(const ff_workspace *w, const ff_workspace_span *s, char *text, size_t size) {
    char reason[64];
    if (s->axis > 0 && (s->reason == FF_WORKSPACE_JOINT_LIMIT || s->reason == FF_WORKSPACE_TOO_FAST))
        snprintf(reason, sizeof reason,
                 s->reason == FF_WORKSPACE_JOINT_LIMIT ? "axis %d at its limit" : "axis %d too slow",
                 s->axis);
    else
        snprintf(reason, sizeof reason, "%s", ff_workspace_reason_text(s->reason));
    if (isnan(s->from))
        snprintf(text, size, "never inside the robot's reach (%s)", reason);
    else if (s->reason == FF_WORKSPACE_INSIDE)
        snprintf(text, size, "inside%s for the whole %.4g s", s->from > 0.0 ? " from later on" : "",
                 w->duration - s->from);
    else
        snprintf(text, size, "inside for %.4g s, outside from %.4g s on (%s)", s->until - s->from, s->until,
                 reason);
}

void ff_workspace_sentence(const ff_scenario *scenario, const ff_workspace *out, int body, char *text,
                           size_t size) {
    char absolute[160], relative[160], ball[80] = "";
    clause(out, &out->absolute[body], absolute, sizeof absolute);
    clause(out, &out->relative[body], relative, sizeof relative);
    if (isfinite(out->absolute[body].ball))
        snprintf(ball, sizeof ball, " (the ball around the start is left at %.4g s)",
                 out->absolute[body].ball);
    snprintf(text, size, "%s: its own motion is %s%s; relative to the nominal motion it is %s",
             scenario->satellite[body].name, absolute, ball, relative);
}
