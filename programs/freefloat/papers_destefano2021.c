/* destefano2021: the unforced pair, the capture of Envisat, and what the robots would have to do without it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "study/workspace.h"
#include "papers.h"
#include "executive/capture.h"

/* The paper's robots follow at once. */
#define ON_TIME "satellites.client.robot={kind: ideal}", "satellites.servicer.robot={kind: ideal}"

#define DEG (FF_PI / 180.0)

static void unforced_rows(ff_paper_table *table) {
    ff_paper_case *relative = ff_paper_run(table, "destefano2021/unforced.yaml", "direct", NULL);
    ff_paper_case *euler =
        ff_paper_run(table, "destefano2021/unforced.yaml", "direct", "integrator=euler", NULL);
    ff_paper_case *absolute =
        ff_paper_run(table, "destefano2021/unforced.yaml", "direct", "frame=absolute", NULL);
    if (relative && euler && absolute) {
        const ff_pair_metrics *p = &relative->session.metrics.pair[0][1],
                              *e = &euler->session.metrics.pair[0][1];
        ff_paper_row *r =
            ff_paper_add(table, "Fig. 8: relative position without forces, 60 s, largest error [m]", "1e-3");
        FF_CELLS_KNOWN(r, "%.2g", e->error_position, p->error_position, "0");
        FF_CELL(r->remark, "printed: Euler; the paper's figure holds the robots' accuracy");
        r = ff_paper_add(table, "Fig. 9: relative attitude, largest error [rad]", "2e-3");
        FF_CELLS_KNOWN(r, "%.2g", e->error_attitude, p->error_attitude, "0");
        r = ff_paper_add(table, "III: the client's robot, unforced: travel [m], rotation [rad]", "0");
        FF_CELL(r->ours, "%.2g, %.2g", relative->session.metrics.body[0].travel,
                relative->session.metrics.body[0].rotation);
        FF_CELL(r->ideal, "0");
        FF_CELL(r->remark, "absolute: %.2g m, %.3f rad", absolute->session.metrics.body[0].travel,
                absolute->session.metrics.body[0].rotation);
    }
    FF_PAPER_FREE(relative, euler, absolute);
}

typedef struct figures {
    double base9, rate, grasp, before, after, W_c0, W_c, bound;
    ff_vec3 origin;
    double drift;
    bool held;
} figures;

static ff_status take(void *self, const ff_mission_row *m) {
    figures *f = self;
    if (m->t <= 9.0)
        f->base9 = ff_vec3_norm(m->base_error);
    if (m->t == 0.0)
        f->W_c0 = m->W_c;
    if (!m->held) {
        f->W_c = fmax(f->W_c, fabs(m->W_c - f->W_c0));
        if (m->t >= 15.0)
            for (int i = 0; i < 3; i++)
                f->rate = fmax(f->rate, fabs(m->rate.a[i]) / DEG);
    }
    if (m->held && !f->held) {
        f->held = true;
        f->grasp = m->t;
        f->origin = m->origin;
    }
    if (f->held) {
        f->drift = fmax(f->drift, ff_vec3_norm(ff_vec3_sub(m->origin, f->origin)) / ff_vec3_norm(f->origin));
        double *speed = m->t < f->grasp + 5.0 ? &f->before : &f->after;
        if (m->t < f->grasp + 5.0 || m->t > f->grasp + 10.0)
            *speed = fmax(*speed, m->gripper_speed);
    }
    f->bound = fmax(f->bound, m->bound);
    return FF_OK;
}

static bool mission(ff_paper_table *table, const ff_scenario *scenario, bool noise, figures *f) {
    ff_capture_parts parts;
    ff_mission_config config;
    ff_mission_info info;
    char message[256] = "";
    *f = (figures){.bound = -FF_INF};
    ff_capture_mission(scenario, &parts, &config);
    if (noise)
        config.computer.navigation = (ff_navigation_config){.rate = 10,
                                                            .position = 5e-3,
                                                            .attitude = 0.2 * DEG,
                                                            .velocity = 2e-3,
                                                            .angular_rate = 0.15 * DEG};
    const ff_status status =
        ff_mission_run(&config, (ff_mission_sink){f, take}, &info, message, sizeof message);
    if (status < 0) {
        ff_cli_error("destefano2021: %s", *message ? message : ff_status_text(status));
        table->failed = true;
    }
    return status >= 0;
}

/* A KR 120 that carries client or servicer through the capture: where it is placed best, until when it stays
 * away from its joints' ends and from singularities. */
typedef struct way {
    size_t count, most;
    ff_pose *pose[3]; /* client's CoM, its grapple point, servicer */
} way;

enum { WAYS = 3 };

static ff_status walk(void *self, const ff_mission_row *m) {
    way *w = self;
    if (w->count < w->most) {
        const ff_pose grapple = {ff_quat_identity(), {{-2.9, 0, 0}}};
        w->pose[0][w->count] = m->robot[0].T;
        w->pose[1][w->count] = ff_pose_mul(m->robot[0].T, grapple);
        w->pose[2][w->count++] = m->robot[1].T;
    }
    return FF_OK;
}

static void span_text(const ff_workspace_span *s, char *text, size_t size) {
    if (isnan(s->from))
        snprintf(text, size, "never");
    else
        snprintf(text, size, s->reason == FF_WORKSPACE_INSIDE ? "> %.1f" : "%.1f", s->until);
}

static void workspace_rows(ff_paper_table *table, const ff_scenario *scenario) {
    static const char *const name[WAYS] = {"client", "client held at 2.9 m", "servicer"};
    ff_capture_parts parts;
    ff_mission_config config;
    ff_mission_info info;
    ff_workspace_config workspace;
    const ff_robot_config robot = {.base = ff_pose_identity(), .tool = ff_pose_identity()};
    char message[256] = "";
    ff_workspace_span span[2][WAYS];
    ff_workspace_default(&workspace);
    ff_capture_mission(scenario, &parts, &config);
    workspace.sample = config.cycle;
    way w = {.most = (size_t)scenario->cycles + 1};
    ff_pose *memory = malloc(WAYS * w.most * sizeof *memory);
    ff_status status = memory ? FF_OK : FF_ERR_MEMORY;
    for (int i = 0; i < WAYS && memory; i++)
        w.pose[i] = memory + (size_t)i * w.most;
    for (int absolute = 0; absolute < 2 && status >= 0; absolute++) {
        config.absolute = absolute;
        w.count = 0;
        status = ff_mission_run(&config, (ff_mission_sink){&w, walk}, &info, message, sizeof message);
        for (int i = 0; i < WAYS && status >= 0; i++)
            status = ff_workspace_trace(&workspace, &robot, w.pose[i], w.count, &span[absolute][i]);
    }
    free(memory);
    if (status < 0) {
        ff_cli_error("destefano2021: workspace: %s", *message ? message : ff_status_text(status));
        table->failed = true;
        return;
    }
    for (int i = 0; i < WAYS; i++) {
        char relative[24], absolute[24], title[120];
        span_text(&span[0][i], relative, sizeof relative);
        span_text(&span[1][i], absolute, sizeof absolute);
        snprintf(title, sizeof title, "II: KR 120 reaches, %s: absolute, relative [s]", name[i]);
        ff_paper_row *r = ff_paper_add(table, title, i == 1 ? "14, fits" : "-, fits");
        FF_CELL(r->ours, "%s, %s", absolute, relative);
        if (isfinite(span[1][i].ball))
            FF_CELL(r->remark, "absolute: %s; it leaves the ball of 1.744 m at %.1f s",
                    ff_workspace_reason_text(span[1][i].reason), span[1][i].ball);
    }
}

/* Base and joints of two runs, sampled alike. */
typedef struct trace {
    size_t count, most;
    ff_mission_row *row;
} trace;

static ff_status follow(void *self, const ff_mission_row *m) {
    trace *t = self;
    if (t->count < t->most)
        t->row[t->count++] = *m;
    return FF_OK;
}

/* Assumption 2: the arm on the ground is the orbit's. Here it is not; the approach shows how far that takes
 * it.
 */
static void assumption_rows(ff_paper_table *table, const ff_scenario *scenario) {
    static const char *const what[] = {"arm 5 % heavier than its model",
                                       "joint friction 0.2 N m + 0.5 N m s"};
    ff_capture_parts parts, real;
    ff_mission_config config;
    ff_mission_info info;
    char message[256] = "";
    ff_capture_mission(scenario, &parts, &config);
    config.duration = fmin(config.duration, 32.0);
    trace t[2];
    for (int i = 0; i < 2; i++)
        t[i] = (trace){.most = (size_t)scenario->cycles + 1,
                       .row = malloc(((size_t)scenario->cycles + 1) * sizeof(ff_mission_row))};
    ff_status status = t[0].row && t[1].row ? FF_OK : FF_ERR_MEMORY;
    if (status >= 0)
        status = ff_mission_orbit(&config, (ff_mission_sink){&t[0], follow}, message, sizeof message);
    for (int w = 0; w < 2 && status >= 0; w++) {
        ff_mission_config unused;
        ff_capture_mission(scenario, &real, &unused);
        for (size_t i = 0; i < real.tree.links; i++) {
            ff_tree_link_config *link = &real.link[i];
            for (int k = 0; k < 6 && w == 0; k++)
                link->inertia[k] *= 1.05;
            if (w == 0)
                link->mass *= 1.05;
            else {
                link->viscous = 0.5;
                link->coulomb = 0.2;
            }
        }
        config.real_arm = &real.tree;
        t[1].count = 0;
        status = ff_mission_run(&config, (ff_mission_sink){&t[1], follow}, &info, message, sizeof message);
        double base = 0, joint = 0;
        for (size_t k = 0; k < t[0].count && k < t[1].count; k++) {
            base =
                fmax(base, ff_vec3_norm(ff_vec3_sub(t[0].row[k].base.position, t[1].row[k].base.position)));
            for (int i = 0; i < scenario->satellite[ff_scenario_servicer(scenario)].arm.joints; i++)
                joint = fmax(joint, fabs(t[0].row[k].q[i] - t[1].row[k].q[i]));
        }
        char title[120];
        snprintf(title, sizeof title, "assumption 2 violated, %s: base [mm], joints [rad]", what[w]);
        ff_paper_row *r = ff_paper_add(table, title, "assumed");
        FF_CELL(r->ours, "%.1f, %.2f", 1e3 * base, joint);
        FF_CELL(r->ideal, "0, 0");
        FF_CELL(r->remark, "largest difference to the orbit in %.0f s of approach", config.duration);
    }
    if (status < 0) {
        ff_cli_error("destefano2021: %s", *message ? message : ff_status_text(status));
        table->failed = true;
    }
    free(t[0].row);
    free(t[1].row);
}

static void capture_rows(ff_paper_table *table) {
    ff_paper_case *relative = ff_paper_run(table, "../envisat-capture.yaml", "direct", ON_TIME, NULL);
    ff_paper_case *absolute =
        ff_paper_run(table, "../envisat-capture.yaml", "direct", ON_TIME, "frame=absolute", NULL);
    figures exact, noisy;
    if (relative && absolute && mission(table, &relative->session.scenario, false, &exact) &&
        mission(table, &relative->session.scenario, true, &noisy)) {
        const ff_metrics *m = &relative->session.metrics;
        ff_paper_row *r = ff_paper_add(table, "Fig. 12: base error at 9 s [mm]", "near 0");
        FF_CELL(r->ours, "%.3f", 1e3 * exact.base9);
        FF_CELL(r->ideal, "0");
        r = ff_paper_add(table, "Fig. 13: rate relative to the client, 15 s to grasp [deg/s]", "0.2");
        FF_CELL(r->ours, "%.3f", noisy.rate);
        FF_CELL(r->ideal, "%.2g", exact.rate);
        FF_CELL(r->remark, "navigation at 10 Hz, +-5 mm, 0.2 deg, 2 mm/s, 0.15 deg/s; ideal: without");
        r = ff_paper_add(table, "V: grasp [s]", "32.6");
        FF_CELL(r->ours, "%.3f", exact.grasp);
        r = ff_paper_add(table, "V: relative speed after the grasp, 0-5 s and after 10 s [mm/s]", "decays");
        FF_CELL(r->ours, "%.2f, %.2f", 1e3 * exact.before, 1e3 * exact.after);
        FF_CELL(r->ideal, "decays");
        r = ff_paper_add(table, "facility against orbit (12), 48 s: base [m], [rad]", "");
        FF_CELL(r->ours, "%.2g, %.2g", m->body[1].error_position, m->body[1].error_attitude);
        FF_CELL(r->ideal, "0");
        FF_CELL(r->remark, "arm at 1 ms under gravity, base at 4 ms");
        r = ff_paper_add(table, "(25): W_c in the approach, change [J]", "0");
        FF_CELL(r->ours, "%.2g", exact.W_c);
        FF_CELL(r->ideal, "0");
        r = ff_paper_add(table, "(29): speed of the servicer robot beyond its bound [m/s]", "<= 0");
        FF_CELL(r->ours, "%.3f", exact.bound);
        r = ff_paper_add(table, "angular momentum after the grasp, relative change", "");
        FF_CELL(r->ours, "%.1g", exact.drift);
        FF_CELL(r->ideal, "0");
        r = ff_paper_add(table, "III: travel of client and servicer robot [m]", "fits");
        FF_CELL(r->ours, "%.3f, %.3f", m->body[0].travel, m->body[1].travel);
        FF_CELL(r->remark, "absolute: %.3f, %.3f", absolute->session.metrics.body[0].travel,
                absolute->session.metrics.body[1].travel);
        r = ff_paper_add(table, "II: absolute, time until the grapple point has moved 1.744 m [s]", "14");
        FF_CELL(r->ours, "%.2f", 2.0 * asin(1.744 / (2.0 * 2.9)) / (2.5 * DEG));
        FF_CELL(r->remark, "2.9 m at 2.5 deg/s: a ball around the start, in closed form");
        workspace_rows(table, &relative->session.scenario);
        assumption_rows(table, &relative->session.scenario);
    }
    FF_PAPER_FREE(relative, absolute);
}

void ff_paper_destefano2021(ff_paper_table *table) {
    unforced_rows(table);
    capture_rows(table);
}
