/* lange: every number and claim of sections IV-F, IV-G and V. As printed is the simplified procedure of IV-B
 * with the prediction of IV-F: no damping of the mock-ups, no step recomputed. */
#include <stdio.h>

#include "papers.h"

#define WALL "lange/wall.yaml"
#define FIG_6 "lange/fig-6.yaml"
#define FIG_7 "lange/fig-7.yaml"
#define PRINTED "impact.recomputation=false", "impact.observer=false"
#define DELAYED                                              \
    "satellites.servicer.robot={kind: delay, delay: 0.024}", \
        "satellites.client.robot={kind: delay, delay: 0.024}"
#define NEITHER "impact.prediction=false", "impact.recomputation=false"
#define PREDICTED "impact.prediction=true", "impact.recomputation=false"
#define RECOMPUTED "impact.prediction=false", "impact.recomputation=true"
#define BOTH "impact.prediction=true", "impact.recomputation=true"

/* Velocity of a body at the end [m/s], x and y. */
static void velocity(const ff_paper_runs *runs, int run, double body, double x[2]) {
    const ff_metrics *m = ff_paper_metrics(runs, run);
    if (!m)
        return;
    x[0] = m->body[(int)body].final.velocity.x;
    x[1] = m->body[(int)body].final.velocity.y;
}

static void spin(const ff_paper_runs *runs, int run, double body, double x[2]) {
    const ff_metrics *m = ff_paper_metrics(runs, run);
    x[0] = m ? m->body[(int)body].final.omega.z : FF_NAN;
}

/* Largest force of the first contact [N], between satellites or (argument 1) between robots. */
static void peak(const ff_paper_runs *runs, int run, double robot, double x[2]) {
    const ff_episode *e = ff_paper_episode(runs, run, 0);
    x[0] = !e ? FF_NAN : robot != 0.0 ? e->peak_robot_force : e->peak_force[0];
}

static void restitution(const ff_paper_runs *runs, int run, double n, double x[2]) {
    x[0] = ff_paper_info(runs, run, (int)n).restitution;
}

static void closed_contacts(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_metrics *m = ff_paper_metrics(runs, run);
    x[0] = 0.0;
    for (int n = 0; m && n < m->episodes; n++)
        x[0] += !isnan(m->episode[n].end);
}

/* Speed after the first contact over that of the approach, 0.1 m/s. */
static void speed_ratio(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_episode *e = ff_paper_episode(runs, run, 0);
    x[0] = e ? ff_vec3_norm(e->after[0].velocity) / 0.1 : FF_NAN;
}

static void look_back(const ff_paper_runs *runs, int run, double theory, char *text, size_t size) {
    const ff_paper_case *c = runs->run[run];
    if (c)
        snprintf(text, size, "looked back %.0f ms; %s",
                 1e3 *
                     *ff_method_value(&ff_method_impact, true, c->session.run.report, "longest_look_back_s"),
                 theory != 0.0 ? "v (1 + sqrt(1 + (w tau)^2))/2 = 0.1128" : "");
}

#define AT_WALL(variant, delay)                                       \
    {                                                                 \
        WALL, variant, {                                              \
            "satellites.client.robot.delay=" delay, "time.duration=3" \
        }                                                             \
    }
static const ff_paper_spec wall_runs[] = {
    AT_WALL("direct", "0.01"), AT_WALL("impact", "0.01"), AT_WALL("direct", "0.02"),
    AT_WALL("impact", "0.02"), AT_WALL("direct", "0.03"), AT_WALL("impact", "0.03"),
    AT_WALL("direct", "0.04"), AT_WALL("impact", "0.04"),
};
#define WALL_ROW(ms, direct, ours)                                                                          \
    {                                                                                                       \
        "III-B: speed ratio at a wall, " ms " ms", "increased", FF_NUMBER("%.3f", speed_ratio, direct, 0),  \
            FF_NUMBER("%.4f", speed_ratio, ours, 0), FF_TEXT("1"),                                          \
            FF_NUMBER("printed: (1) with the measured force; robot's peak %.1f N, ideal 223.6", peak, ours, \
                      1)                                                                                    \
    }
static const ff_paper_entry wall_rows[] = {WALL_ROW("10", 0, 1), WALL_ROW("20", 2, 3), WALL_ROW("30", 4, 5),
                                           WALL_ROW("40", 6, 7)};

enum { IDEAL, AS_PRINTED, OURS };
static const ff_paper_spec figure_6_runs[] = {
    {FIG_6, "ideal", {0}}, {FIG_6, "impact", {PRINTED}}, {FIG_6, "impact", {0}}};
static const ff_paper_entry figure_6_rows[] = {
    {"Fig. 6: client after the impact [m/s]",
     "servicer's speed",
     FF_CELLS("%.5f", velocity, 1, AS_PRINTED, OURS, IDEAL),
     {0}},
    {"Fig. 6: largest force between the satellites [N]", "157",
     FF_CELLS("%.1f", peak, 0, AS_PRINTED, OURS, IDEAL),
     FF_TEXT("1581 N s/m times the speed, which is not given: 157 N mean 0.1 m/s")},
    {"Fig. 6: largest force between the robots [N]", "364",
     FF_CELLS("%.1f", peak, 1, AS_PRINTED, OURS, IDEAL),
     FF_TEXT("limits are not given: 0.411 m/s2 after 12 ms")},
};

static const ff_paper_spec causality_runs[] = {{FIG_6, "impact", {DELAYED, NEITHER}},
                                               {FIG_6, "impact", {DELAYED, PREDICTED}},
                                               {FIG_6, "impact", {DELAYED, RECOMPUTED}},
                                               {FIG_6, "impact", {DELAYED, BOTH}}};
#define CAUSALITY(claim, paper, which, theory)                                          \
    {                                                                                   \
        claim, paper, {0}, FF_NUMBER("%.5f", velocity, which, 1), FF_TEXT("0.10000"), { \
            .text = look_back, .run = (which), .argument = (theory)                     \
        }                                                                               \
    }
static const ff_paper_entry causality_rows[] = {
    CAUSALITY("IV-F: client [m/s], 24 ms, neither", "fails", 0, 1),
    CAUSALITY("IV-F: the same, prediction alone", "-", 1, 0),
    CAUSALITY("IV-F: the same, recomputation alone", "-", 2, 0),
    CAUSALITY("IV-F: the same, both", "servicer's speed", 3, 0),
};

#define BELIEVED(...)                            \
    {FIG_6, "impact", {PRINTED, __VA_ARGS__}}, { \
        FIG_6, "impact", {                       \
            __VA_ARGS__                          \
        }                                        \
    }
static const ff_paper_spec stiffness_runs[] = {BELIEVED("impact.stiffness=45e3", "impact.delay=0.012"),
                                               BELIEVED("impact.stiffness=35e3", "impact.delay=0.012"),
                                               BELIEVED("impact.stiffness=65e3", "impact.delay=0.012"),
                                               BELIEVED("impact.stiffness=identified", "impact.guess=35e3")};
#define STIFFNESS(claim, paper, first, remark) \
    { claim, paper, FF_KNOWN("%.5f", velocity, 1, first, (first) + 1, "0.10000"), FF_TEXT(remark) }
#define LIMITED "limited robots; with a pure delay it does not matter"
static const ff_paper_entry stiffness_rows[] = {
    STIFFNESS("IV-G: client [m/s], stiffness believed 10 % low", "marginal", 0, LIMITED),
    STIFFNESS("IV-G: the same, 30 % low", "marginal", 2, LIMITED),
    STIFFNESS("IV-G: the same, 30 % high", "marginal", 4, LIMITED),
    STIFFNESS("IV-G: the same, identified", "-", 6, "started 30 % low"),
};

#define RESTITUTION(damping, e)                                                                            \
    {FIG_6, "impact", {DELAYED, PRINTED, "contacts.docking.damping=" damping, "impact.restitution=" e}}, { \
        FIG_6, "impact", {                                                                                 \
            DELAYED, "contacts.docking.damping=" damping, "impact.restitution=" e                          \
        }                                                                                                  \
    }
static const ff_paper_spec restitution_runs[] = {RESTITUTION("0", "0.8"), RESTITUTION("0", "0.5"),
                                                 RESTITUTION("300", "0.8"), RESTITUTION("300", "0.5")};
#define RESTITUTION_ROW(e, mockups, first)                                               \
    {                                                                                    \
        "IV-C: restitution " e " assigned, mock-ups " mockups " damping", "future work", \
            FF_KNOWN("%.4f", restitution, 0, first, (first) + 1, e), {                   \
            0                                                                            \
        }                                                                                \
    }
static const ff_paper_entry restitution_rows[] = {
    RESTITUTION_ROW("0.8", "without", 0), RESTITUTION_ROW("0.5", "without", 2),
    RESTITUTION_ROW("0.8", "with", 4), RESTITUTION_ROW("0.5", "with", 6)};

static const ff_paper_spec figure_7_runs[] = {
    {FIG_7, "ideal", {0}}, {FIG_7, "impact", {PRINTED}}, {FIG_7, "impact", {0}}};
static const ff_paper_entry figure_7_rows[] = {
    {"Fig. 7: contacts of bar and cone", "4", FF_CELLS("%.0f", closed_contacts, 0, AS_PRINTED, OURS, IDEAL),
     FF_TEXT("geometry is not given: half-angle 45 deg, tip 0.8 m, apex -0.6 m, offset 0.1 m, 0.05 m/s")},
    {"Fig. 7: servicer at the end [m/s]",
     "diverge",
     FF_CELLS("%.5f %.5f", velocity, 0, AS_PRINTED, OURS, IDEAL),
     {0}},
    {"Fig. 7: servicer's spin at the end [rad/s]",
     "small",
     FF_CELLS("%.5f", spin, 0, AS_PRINTED, OURS, IDEAL),
     {0}},
};

static const ff_paper_group groups[] = {
    {FF_LIST(wall_runs), FF_LIST(wall_rows), .whole = false},
    {FF_LIST(figure_6_runs), FF_LIST(figure_6_rows), .whole = false},
    {FF_LIST(causality_runs), FF_LIST(causality_rows), .whole = false},
    {FF_LIST(stiffness_runs), FF_LIST(stiffness_rows), .whole = false},
    {FF_LIST(restitution_runs), FF_LIST(restitution_rows), .whole = false},
    {FF_LIST(figure_7_runs), FF_LIST(figure_7_rows), .whole = false},
};

const ff_paper ff_paper_lange = {
    "lange", "Lange, Grunwald, Albu-Schaeffer: hard impacts of two satellites on two robots",
    FF_LIST(groups)};
