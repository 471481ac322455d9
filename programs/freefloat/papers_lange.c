/* lange: every number and claim of sections IV-F, IV-G and V. The printed reading is the simplified procedure
 * of IV-B with the prediction of IV-F: no damping of the mock-ups, no step recomputed. */
#include <stdio.h>

#include "papers.h"

#define FOLDER "lange/"
#define PRINTED "impact.recomputation=false", "impact.observer=false"
#define DELAYED                                              \
    "satellites.servicer.robot={kind: delay, delay: 0.024}", \
        "satellites.client.robot={kind: delay, delay: 0.024}"

static ff_vec3 velocity(const ff_paper_case *c, int body) {
    const ff_vec3 none = {{FF_NAN, FF_NAN, FF_NAN}};
    return c ? c->session.metrics.body[body].final.velocity : none;
}

static double peak(const ff_paper_case *c, bool robot) {
    const ff_episode *e = ff_paper_episode(c, 0);
    return !e ? FF_NAN : robot ? e->peak_robot_force : e->peak_force[0];
}

static double restitution(const ff_paper_case *c) {
    return ff_paper_info(c, 0).restitution;
}

static int closed_contacts(const ff_paper_case *c) {
    int count = 0;
    for (int n = 0; c && n < c->session.metrics.episodes; n++)
        count += !isnan(c->session.metrics.episode[n].end);
    return count;
}

/* The four runs of one row. */
typedef struct runs {
    ff_paper_case *ideal, *printed, *ours;
} runs;

static void free_runs(runs *r) {
    FF_PAPER_FREE(r->ideal, r->printed, r->ours);
}

static void figure_6(ff_paper_table *table) {
    static const char *const file = FOLDER "fig-6.yaml";
    runs r = {ff_paper_run(table, file, "ideal", NULL), ff_paper_run(table, file, "impact", PRINTED, NULL),
              ff_paper_run(table, file, "impact", NULL)};
    ff_paper_row *row = ff_paper_add(table, "Fig. 6: client after the impact [m/s]", "servicer's speed");
    FF_CELLS(row, "%.5f", velocity(r.printed, 1).x, velocity(r.ours, 1).x, velocity(r.ideal, 1).x);
    row = ff_paper_add(table, "Fig. 6: largest force between the satellites [N]", "157");
    FF_CELLS(row, "%.1f", peak(r.printed, false), peak(r.ours, false), peak(r.ideal, false));
    FF_CELL(row->remark, "1581 N s/m times the speed, which is not given: 157 N mean 0.1 m/s");
    row = ff_paper_add(table, "Fig. 6: largest force between the robots [N]", "364");
    FF_CELLS(row, "%.1f", peak(r.printed, true), peak(r.ours, true), peak(r.ideal, true));
    FF_CELL(row->remark, "limits are not given: 0.411 m/s2 after 12 ms");
    free_runs(&r);
}

static void causality(ff_paper_table *table) {
    static const char *const file = FOLDER "fig-6.yaml";
    static const struct {
        const char *claim, *paper, *set[2];
    } row[] = {
        {"IV-F: client [m/s], 24 ms, neither",
         "fails",
         {"impact.prediction=false", "impact.recomputation=false"}},
        {"IV-F: the same, prediction alone", "-", {"impact.prediction=true", "impact.recomputation=false"}},
        {"IV-F: the same, recomputation alone",
         "-",
         {"impact.prediction=false", "impact.recomputation=true"}},
        {"IV-F: the same, both", "servicer's speed", {"impact.prediction=true", "impact.recomputation=true"}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ff_paper_case *c = ff_paper_run(table, file, "impact", DELAYED, row[i].set[0], row[i].set[1], NULL);
        ff_paper_row *r = ff_paper_add(table, row[i].claim, row[i].paper);
        FF_CELL(r->ours, "%.5f", velocity(c, 1).x);
        FF_CELL(r->ideal, "0.10000");
        if (c)
            FF_CELL(
                r->remark, "looked back %.0f ms; %s",
                1e3 * *ff_method_value(&ff_method_impact, true, c->session.run.report, "longest_look_back_s"),
                i ? "" : "v (1 + sqrt(1 + (w tau)^2))/2 = 0.1128");
        ff_paper_case_free(c);
    }
}

static void figure_7(ff_paper_table *table) {
    static const char *const file = FOLDER "fig-7.yaml";
    runs r = {ff_paper_run(table, file, "ideal", NULL), ff_paper_run(table, file, "impact", PRINTED, NULL),
              ff_paper_run(table, file, "impact", NULL)};
    ff_paper_row *row = ff_paper_add(table, "Fig. 7: contacts of bar and cone", "4");
    FF_CELLS(row, "%d", closed_contacts(r.printed), closed_contacts(r.ours), closed_contacts(r.ideal));
    FF_CELL(row->remark,
            "geometry is not given: half-angle 45 deg, tip 0.8 m, apex -0.6 m, offset 0.1 m, 0.05 m/s");
    row = ff_paper_add(table, "Fig. 7: servicer at the end [m/s]", "diverge");
    FF_CELL(row->printed, "%.5f %.5f", velocity(r.printed, 0).x, velocity(r.printed, 0).y);
    FF_CELL(row->ours, "%.5f %.5f", velocity(r.ours, 0).x, velocity(r.ours, 0).y);
    FF_CELL(row->ideal, "%.5f %.5f", velocity(r.ideal, 0).x, velocity(r.ideal, 0).y);
    if (r.ideal && r.printed && r.ours) {
        row = ff_paper_add(table, "Fig. 7: servicer's spin at the end [rad/s]", "small");
        FF_CELLS(row, "%.5f", r.printed->session.metrics.body[0].final.omega.z,
                 r.ours->session.metrics.body[0].final.omega.z,
                 r.ideal->session.metrics.body[0].final.omega.z);
    }
    free_runs(&r);
}

static void stiffness_rows(ff_paper_table *table) {
    static const char *const file = FOLDER "fig-6.yaml";
    static const struct {
        const char *claim, *set;
    } row[] = {{"IV-G: client [m/s], stiffness believed 10 % low", "impact.stiffness=45e3"},
               {"IV-G: the same, 30 % low", "impact.stiffness=35e3"},
               {"IV-G: the same, 30 % high", "impact.stiffness=65e3"},
               {"IV-G: the same, identified", "impact.stiffness=identified"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *guess = i == 3 ? "impact.guess=35e3" : "impact.delay=0.012";
        ff_paper_case *printed = ff_paper_run(table, file, "impact", PRINTED, row[i].set, guess, NULL);
        ff_paper_case *ours = ff_paper_run(table, file, "impact", row[i].set, guess, NULL);
        ff_paper_row *r = ff_paper_add(table, row[i].claim, i < 3 ? "marginal" : "-");
        FF_CELLS_KNOWN(r, "%.5f", velocity(printed, 1).x, velocity(ours, 1).x, "0.10000");
        if (i < 3)
            FF_CELL(r->remark, "limited robots; with a pure delay it does not matter");
        else
            FF_CELL(r->remark, "started 30 %% low");
        FF_PAPER_FREE(printed, ours);
    }
}

static void restitution_rows(ff_paper_table *table) {
    static const char *const file = FOLDER "fig-6.yaml";
    static const char *const damping[2] = {"contacts.docking.damping=0", "contacts.docking.damping=300"};
    static const char *const e[2] = {"impact.restitution=0.8", "impact.restitution=0.5"};
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 2; i++) {
            char claim[96];
            snprintf(claim, sizeof claim, "IV-C: restitution %s assigned, mock-ups %s damping",
                     i ? "0.5" : "0.8", d ? "with" : "without");
            ff_paper_case *printed =
                ff_paper_run(table, file, "impact", DELAYED, PRINTED, damping[d], e[i], NULL);
            ff_paper_case *ours = ff_paper_run(table, file, "impact", DELAYED, damping[d], e[i], NULL);
            ff_paper_row *r = ff_paper_add(table, claim, "future work");
            FF_CELLS_KNOWN(r, "%.4f", restitution(printed), restitution(ours), i ? "0.5" : "0.8");
            FF_PAPER_FREE(printed, ours);
        }
}

static void wall_rows(ff_paper_table *table) {
    static const char *const delay[4] = {
        "satellites.client.robot.delay=0.01", "satellites.client.robot.delay=0.02",
        "satellites.client.robot.delay=0.03", "satellites.client.robot.delay=0.04"};
    for (int i = 0; i < 4; i++) {
        char claim[96];
        ff_paper_case *direct =
            ff_paper_run(table, FOLDER "wall.yaml", "direct", delay[i], "time.duration=3", NULL);
        ff_paper_case *ours =
            ff_paper_run(table, FOLDER "wall.yaml", "impact", delay[i], "time.duration=3", NULL);
        snprintf(claim, sizeof claim, "III-B: speed ratio at a wall, %d ms", 10 * (i + 1));
        ff_paper_row *r = ff_paper_add(table, claim, "increased");
        const ff_episode *a = ff_paper_episode(direct, 0), *b = ff_paper_episode(ours, 0);
        FF_CELL(r->printed, "%.3f", a ? ff_vec3_norm(a->after[0].velocity) / 0.1 : FF_NAN);
        FF_CELL(r->ours, "%.4f", b ? ff_vec3_norm(b->after[0].velocity) / 0.1 : FF_NAN);
        FF_CELL(r->ideal, "1");
        FF_CELL(r->remark, "printed: (1) with the measured force; robot's peak %.1f N, ideal 223.6",
                peak(ours, true));
        FF_PAPER_FREE(direct, ours);
    }
}

void ff_paper_lange(ff_paper_table *table) {
    wall_rows(table);
    figure_6(table);
    causality(table);
    stiffness_rows(table);
    restitution_rows(table);
    figure_7(table);
}
