/* aghili: the paper prints few numbers (Appendix E, (33), Fig. 5); each stands here, and each of its claims
 * that can be measured. What it leaves open is chosen in scenarios/papers/aghili/appendix-e.yaml. */
#include <stdio.h>

#include "papers.h"
#include "study/contact_stability.h"

#define APPENDIX_E "aghili/appendix-e.yaml"
#define CONSTRAINED "emulation.scheme=constrained"
#define FREE "emulation.scheme=free"
#define LOW "emulation.robot.gravity_model_error=-0.1"

static const ff_emulate_result *result(const ff_paper_runs *runs, int run) {
    return &runs->run[run]->session.emulation;
}

static const ff_emulate_joint *joint(const ff_paper_runs *runs, int run) {
    return &runs->run[run]->session.scenario.emulation;
}

static const ff_emulate_sample *last(const ff_paper_runs *runs, int run) {
    const ff_emulate_result *r = result(runs, run);
    return &r->sample[r->samples - 1];
}

/* Every run has samples. */
static bool have_samples(ff_paper_runs *runs) {
    for (int i = 0; i < FF_PAPER_RUNS && runs->run[i]; i++)
        if (result(runs, i)->samples == 0)
            return false;
    return true;
}

/* At the samples, 1 ms apart. */
static double direct_peak(const ff_emulate_result *r) {
    double peak = 0.0;
    for (size_t k = 0; k < r->samples; k++)
        peak = fmax(peak, fabs(r->sample[k].f_direct[0]));
    return peak;
}

/* ------------------------------------------------------------------------------------------ Appendix E -- */

enum { HELD, FREE_RUN };

/* A field of ff_emulate_result, by its offset, of both schemes. */
static void both(const ff_paper_runs *runs, int run, double offset, double x[2]) {
    (void)run;
    for (int i = 0; i < 2; i++)
        x[i] = *(const double *)(const void *)((const char *)result(runs, i) + (size_t)offset);
}

static void contact_direct(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = result(runs, run)->contact_direct_s;
}

static void peak_direct(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = direct_peak(result(runs, run));
}

static void force_direct(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = last(runs, run)->f_direct[0];
}

/* tau_s / l [N] */
static void motor_force(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = -joint(runs, run)->torque / joint(runs, run)->target.length;
}

/* Appendix E as printed feeds the drift back with the wrong sign: e'' = G_v e' + G_p e [1/s]. */
static void printed_growth(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const double gv = joint(runs, run)->emulation.velocity_gain,
                 gp = joint(runs, run)->emulation.position_gain;
    x[0] = 0.5 * (gv + sqrt(gv * gv + 4.0 * gp));
}

/* 1 - M_r/M_s */
static void force_feedback(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = 1.0 - joint(runs, run)->robot_inertia / joint(runs, run)->target.link_inertia;
}

#define OF(field) ((double)offsetof(ff_emulate_result, field))
static const ff_paper_spec appendix_runs[] = {{APPENDIX_E, "direct", {CONSTRAINED}},
                                              {APPENDIX_E, "direct", {FREE}}};
static const ff_paper_entry appendix_rows[] = {
    {"E: first contact [s], constrained and free",
     "not printed",
     {0},
     FF_NUMBER("%.4f, %.4f", both, HELD, OF(contact_s)),
     FF_NUMBER("%.4f", contact_direct, HELD, 0),
     FF_TEXT("ideal: the flexible arm simulated directly; wall, gains, torque and c_s are ours")},
    {"E: largest contact force [N]",
     "not printed",
     {0},
     FF_NUMBER("%.2f, %.2f", both, HELD, OF(peak_force)),
     FF_NUMBER("%.2f", peak_direct, HELD, 0),
     {0}},
    {"E: contact force at 15 s [N]",
     "",
     {0},
     FF_NUMBER("%.4f, %.4f", both, HELD, OF(final_force)),
     FF_NUMBER("%.4f", force_direct, HELD, 0),
     FF_NUMBER("tau_s/l = %.4f once the motor stands still", motor_force, HELD, 0)},
    {"E, 3.3: both schemes are the same motion, largest pose error [rad]", "identical",
     FF_NUMBER("diverges, %.1f 1/s", printed_growth, HELD, 0),
     FF_NUMBER("%.1e, %.1e", both, HELD, OF(pose_error)), FF_TEXT("0"),
     FF_TEXT("E prints +G_v, +G_p: the drift feeds itself; (11) has them negative")},
    {"Proposition 1: f -> lambda, largest f - lambda [N]",
     "-> 0",
     {0},
     FF_NUMBER("%.1e, %.1e", both, HELD, OF(force_error)),
     FF_TEXT("0"),
     FF_TEXT("no acceptance test alone: a wrong sign in (24) keeps it")},
    {"Remark 1: force feedback 1 - M_r/M_s when M_s = M_r",
     "0",
     {0},
     FF_NUMBER("%.3g", force_feedback, HELD, 0),
     FF_TEXT("0"),
     FF_TEXT("Appendix E itself: link and robot have 0.05 kg m2")},
};

/* -------------------------------------------------------------------------------------- disturbances -- */

enum { PHI, BARE, FED };

/* The gravity that the controller knows ten per cent too small [N m], at the end of the free run. */
static double torque(const ff_paper_runs *runs) {
    return 0.1 * joint(runs, PHI)->gravity_torque * cos(last(runs, PHI)->p_r[0]);
}

/* (27) as printed, and its inverse. */
static void constraint_printed(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_emulate_joint *e = joint(runs, run);
    x[0] = -torque(runs) / e->robot_inertia * e->emulation.position_gain;
}

static void constraint_ideal(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_emulate_joint *e = joint(runs, run);
    x[0] = -torque(runs) / (e->robot_inertia * e->emulation.position_gain);
}

static void constraint_end(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = last(runs, run)->constraint[0];
}

static void constraint_largest(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = fabs(result(runs, run)->constraint);
}

static void force_error(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = result(runs, run)->force_error;
}

static void force_error_end(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = last(runs, run)->f[0] - last(runs, run)->lambda[0];
}

/* d = 0.1 w cos(q)/l: at its largest, or (argument 1) at the end [N]. */
static void disturbance(const ff_paper_runs *runs, int run, double end, double x[2]) {
    const ff_emulate_joint *e = joint(runs, run);
    x[0] = (end != 0.0 ? torque(runs) : 0.1 * e->gravity_torque) / e->target.length;
}

static const ff_paper_spec disturbance_runs[] = {
    {APPENDIX_E, "direct", {LOW, FREE}},
    {APPENDIX_E, "direct", {LOW, CONSTRAINED, "emulation.drift_compensation=false"}},
    {APPENDIX_E, "direct", {LOW, CONSTRAINED}}};
static const ff_paper_entry disturbance_rows[] = {
    {"4.1: constraint error, gravity model -10 %, free [rad]", "",
     FF_NUMBER("%.3g", constraint_printed, PHI, 0), FF_NUMBER("%.3e", constraint_end, PHI, 0),
     FF_NUMBER("%.3e", constraint_ideal, PHI, 0),
     FF_TEXT("(27) prints s^2/Z = s^2 + G_v s + G_p where its inverse belongs")},
    {"4.1: the same, constrained, no drift terms: largest f - lambda [N]",
     "",
     {0},
     FF_NUMBER("%.4f", force_error, BARE, 0),
     FF_NUMBER("%.4f", disturbance, PHI, 0),
     FF_TEXT("(28) with Z = 1 and Q = 1: the force error is the disturbance")},
    {"4.1: the same at 15 s [N]",
     "",
     {0},
     FF_NUMBER("%.4f", force_error_end, BARE, 0),
     FF_NUMBER("%.4f", disturbance, PHI, 1),
     {0}},
    {"4.1: the same with (11), f - lambda at 15 s [N]",
     "",
     {0},
     FF_NUMBER("%.1e", force_error_end, FED, 0),
     FF_TEXT("0"),
     FF_TEXT("Z(0) = 0: the drift feedback removes a constant disturbance")},
    {"3.3: which error each scheme shows (constrained / free)",
     "pose / force",
     {0},
     FF_TEXT("force / pose"),
     FF_TEXT("force / pose"),
     FF_NUMBER("4.1 itself has it so; constrained keeps the pose to %.0e rad", constraint_largest, BARE, 0)},
};

/* ----------------------------------------------------------------------------------------- stability -- */

/* Q/w_a x''' + x'' + G_v x' + G_p x = 0 by Runge-Kutta; the growth from two maxima of x far apart. */
static double simulated_growth(const ff_contact_stability_config *c, double q) {
    const double h = 1e-3, begin = 5.0, end = 45.0;
    double y[3] = {1.0, 0.0, 0.0}, t_first = FF_NAN, first = 0.0, t_last = 0.0, final = 0.0, y_old = 1.0;
    for (int k = 0; (double)k * h < end; k++) {
        double slope[4][3], at[3];
        for (int stage = 0; stage < 4; stage++) {
            const double part = stage == 0 ? 0.0 : stage == 3 ? h : 0.5 * h;
            for (int i = 0; i < 3; i++)
                at[i] = y[i] + (stage ? part * slope[stage - 1][i] : 0.0);
            slope[stage][0] = at[1];
            slope[stage][1] = at[2];
            slope[stage][2] =
                -(at[2] + c->velocity_gain * at[1] + c->position_gain * at[0]) * c->bandwidth / q;
        }
        y_old = y[1];
        for (int i = 0; i < 3; i++)
            y[i] += h / 6.0 * (slope[0][i] + 2.0 * (slope[1][i] + slope[2][i]) + slope[3][i]);
        if ((double)k * h > begin && y_old > 0.0 && y[1] <= 0.0) {
            t_last = (double)k * h;
            final = y[0];
            if (isnan(t_first)) {
                t_first = t_last;
                first = final;
            }
        }
    }
    return log(final / first) / (t_last - t_first);
}

/* w_p = 2 G_p/G_v = 10 and w_a = 25 of Fig. 5, critically damped: G_v = 20, G_p = 100. */
static ff_contact_stability_config figure_5(double inertia_ratio) {
    ff_contact_stability_config c;
    ff_contact_stability_default(&c);
    c.velocity_gain = 20.0;
    c.position_gain = 100.0;
    c.bandwidth = 25.0;
    c.inertia_ratio = inertia_ratio;
    return c;
}

typedef struct stabilities {
    ff_contact_stability q[5];   /* Fig. 5 with Q = 1 to 4, at their numbers */
    ff_contact_stability met[2]; /* a stiff contact without damping, and with B = M_r w_a */
    ff_contact_stability delayed;
    double growth[3]; /* at Q = 4.9, 5, 5.1 */
} stabilities;

static const double ratio[] = {4.9, 5.0, 5.1};

static bool analyze_all(ff_paper_runs *runs) {
    stabilities *s = runs->memory;
    char message[200];
    bool good = true;
    for (int q = 1; q <= 4; q++) {
        const ff_contact_stability_config c = figure_5(q);
        good = good && ff_contact_stability_analyze(&c, &s->q[q], message, sizeof message) == FF_OK;
    }
    for (int i = 0; i < 3; i++) {
        const ff_contact_stability_config c = figure_5(1.0);
        good = good && ff_contact_stability_growth(&c, ratio[i], &s->growth[i]) == FF_OK;
    }
    for (int i = 0; i < 2; i++) {
        ff_contact_stability_config c = figure_5(4.0);
        c.robot_inertia = 1.0;
        c.contact_damping = i ? 25.0 : 0.0;
        good = good && ff_contact_stability_analyze(&c, &s->met[i], message, sizeof message) == FF_OK;
    }
    ff_contact_stability_config c;
    ff_contact_stability_default(&c);
    c.velocity_gain = 20.0;
    c.position_gain = 100.0;
    c.delay = 0.040;
    return good && ff_contact_stability_analyze(&c, &s->delayed, message, sizeof message) == FF_OK;
}

static const stabilities *of(const ff_paper_runs *runs) {
    return runs->memory;
}

static void critical(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)run, (void)unused;
    x[0] = of(runs)->q[1].q_critical;
}

static void sensitivity(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)run, (void)unused;
    x[0] = of(runs)->q[1].force_sensitivity;
}

static void rate(const ff_paper_runs *runs, int run, double i, double x[2]) {
    (void)run;
    const double r = of(runs)->growth[(int)i];
    x[0] = fabs(r) < 5e-4 ? 0.0 : r;
}

static void rate_seen(const ff_paper_runs *runs, int run, double i, double x[2]) {
    (void)runs, (void)run;
    const ff_contact_stability_config c = figure_5(1.0);
    const double r = simulated_growth(&c, ratio[(int)i]);
    x[0] = fabs(r) < 5e-4 ? 0.0 : r;
}

static void transmissivity(const ff_paper_runs *runs, int run, double q, double x[2]) {
    (void)run;
    x[0] = of(runs)->q[(int)q].peak_transmissivity;
    x[1] = of(runs)->q[(int)q].peak_frequency_radps;
}

/* (34) on a fine grid. */
static void transmissivity_grid(const ff_paper_runs *runs, int run, double q, double x[2]) {
    (void)runs, (void)run;
    const ff_contact_stability_config c = figure_5(q);
    x[0] = 0.0;
    for (double w = 1.0; w < 100.0; w *= 1.0001) {
        const double re = c.position_gain - w * w, im = c.velocity_gain * w;
        x[0] = fmax(x[0], hypot(re, im) / hypot(re, im - q * w * w * w / c.bandwidth));
    }
}

static void lower_bound(const ff_paper_runs *runs, int run, double damped, double x[2]) {
    (void)run;
    x[0] = of(runs)->met[(int)damped].q_low;
}

static void delayed_band(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)run, (void)unused;
    x[0] = of(runs)->delayed.q_low;
    x[1] = of(runs)->delayed.q_high;
}

static void delayed_critical(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)run, (void)unused;
    x[0] = of(runs)->delayed.q_critical;
}

#define GROWTH(Q, paper, i)                                                                 \
    {                                                                                       \
        "4.2: growth rate at Q = " Q " [1/s]", paper, {0}, FF_NUMBER("%+.3f", rate, 0, i),  \
            FF_NUMBER("%+.3f", rate_seen, 0, i), FF_TEXT("ideal: the loop stepped in time") \
    }
#define GAIN(text, Q)                                                                           \
    {                                                                                           \
        "4.3, Fig. 5: largest gain of T(jw), Q = " text, "Fig. 5", {0},                         \
            FF_NUMBER("%.4g at %.3g rad/s", transmissivity, 0, Q),                              \
            FF_NUMBER("%.4g", transmissivity_grid, 0, Q), FF_TEXT("ideal: (34) on a fine grid") \
    }
static const ff_paper_entry stability_rows[] = {
    {"4.2 (33): critical Q, w_p = 10, w_a = 25 rad/s",
     "5",
     FF_TEXT("5"),
     FF_NUMBER("%.4g", critical, 0, 0),
     FF_TEXT("5"),
     {0}},
    {"4.1: largest gain of Z(jw) with these gains",
     "1",
     {0},
     FF_NUMBER("%.4f", sensitivity, 0, 0),
     FF_TEXT("1"),
     FF_TEXT("the force error is at most Q times the disturbance, here Q = 1")},
    GROWTH("4.9", "stable", 0),
    GROWTH("5.0", "limit", 1),
    GROWTH("5.1", "unstable", 2),
    GAIN("1", 1),
    GAIN("2", 2),
    GAIN("3", 3),
    GAIN("4", 4),
    {"4.3: to avoid the resonance Q must be",
     "well above 5",
     {0},
     FF_TEXT("well below 5"),
     FF_TEXT("well below 5"),
     FF_TEXT("the text has it backwards: above 5 the contact is unstable by (33)")},
    {"4.2: lower bound of Q, stiff elastic contact without damping", "none", FF_TEXT("0"),
     FF_NUMBER("%.3f", lower_bound, 0, 0), FF_TEXT("1.000"),
     FF_TEXT("Q > 1/(1 + B/(M_r w_a)); (33) is not sufficient")},
    {"4.2: the same with B = M_r w_a",
     "none",
     FF_TEXT("0"),
     FF_NUMBER("%.3f", lower_bound, 0, 1),
     FF_TEXT("0.500"),
     {0}},
    {"4.2: stable Q with a pure delay of 40 ms", "\"or time delay\"",
     FF_NUMBER("0 to %.4g", delayed_critical, 0, 0), FF_NUMBER("%.3f to %.3f", delayed_band, 0, 0),
     FF_TEXT("0.539 to 3.09"), FF_TEXT("a delay is not its first-order lag")},
};

static const ff_paper_group groups[] = {
    {FF_LIST(appendix_runs), FF_LIST(appendix_rows), .whole = true, .prepare = have_samples, .bytes = 1},
    {FF_LIST(disturbance_runs), FF_LIST(disturbance_rows), .whole = true, .prepare = have_samples,
     .bytes = 1},
    {NULL, 0, FF_LIST(stability_rows), .prepare = analyze_all, .bytes = sizeof(stabilities)},
};

const ff_paper ff_paper_aghili = {"aghili", "Aghili: emulation of another robot, contact stability",
                                  FF_LIST(groups)};
