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
     FF_TEXT("ideal: the flexible arm simulated directly; wall, gains, torque and c_s are ours"),
     FF_ASSERT(FF_NEAR(OURS, 0.394877, 1e-5), FF_SECOND(OURS, 0.394877, 1e-5),
               FF_NEAR(IDEAL, 0.394877, 1e-5))},
    {"E: largest contact force [N]",
     "not printed",
     {0},
     FF_NUMBER("%.2f, %.2f", both, HELD, OF(peak_force)),
     FF_NUMBER("%.2f", peak_direct, HELD, 0),
     {0},
     FF_ASSERT(FF_NEAR(OURS, 27.137, 5e-3), FF_SECOND(OURS, 27.137, 5e-3), FF_NEAR(IDEAL, 27.137, 5e-3))},
    {"E: contact force at 15 s [N]",
     "",
     {0},
     FF_NUMBER("%.4f, %.4f", both, HELD, OF(final_force)),
     FF_NUMBER("%.4f", force_direct, HELD, 0),
     FF_NUMBER("tau_s/l = %.4f once the motor stands still", motor_force, HELD, 0),
     FF_ASSERT(FF_NEAR(OURS, -5.0 / 3, 3e-4), FF_SECOND(OURS, -5.0 / 3, 3e-4))},
    {"E, 3.3: both schemes are the same motion, largest pose error [rad]", "identical",
     FF_NUMBER("diverges, %.1f 1/s", printed_growth, HELD, 0),
     FF_NUMBER("%.1e, %.1e", both, HELD, OF(pose_error)), FF_TEXT("0"),
     FF_TEXT("E prints +G_v, +G_p: the drift feeds itself; (11) has them negative"), FF_SAYS(0, 1e-10, "o"),
     FF_ASSERT(FF_NEAR(PRINTED, 24.142, 1e-3), FF_SECOND(OURS, 0, 1e-10))},
    {"Proposition 1: f -> lambda, largest f - lambda [N]",
     "-> 0",
     {0},
     FF_NUMBER("%.1e, %.1e", both, HELD, OF(force_error)),
     FF_TEXT("0"),
     FF_TEXT("no acceptance test alone: a wrong sign in (24) keeps it"),
     FF_SAYS(0, 1e-10, "o"),
     FF_ASSERT(FF_SECOND(OURS, 0, 1e-10))},
    {"Remark 1: force feedback 1 - M_r/M_s when M_s = M_r",
     "0",
     {0},
     FF_NUMBER("%.3g", force_feedback, HELD, 0),
     FF_TEXT("0"),
     FF_TEXT("Appendix E itself: link and robot have 0.05 kg m2"),
     FF_SAYS(0, 0, "o")},
};

/* -------------------------------------------------------------------------------------- disturbances -- */

enum { PHI, BARE, FED, FEEDBACK };

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

/* 2.1: the disturbance over 1 + M_s G_f [N]. */
static void feedback_ideal(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    const ff_emulate_joint *e = joint(runs, run);
    disturbance(runs, PHI, unused, x);
    x[0] /= 1.0 + e->target.link_inertia / (e->target.length * e->target.length) * e->emulation.force_gain;
}

static const ff_paper_spec disturbance_runs[] = {
    {APPENDIX_E, "direct", {LOW, FREE}},
    {APPENDIX_E, "direct", {LOW, CONSTRAINED, "emulation.drift_compensation=false"}},
    {APPENDIX_E, "direct", {LOW, CONSTRAINED}},
    {APPENDIX_E,
     "direct",
     {LOW, CONSTRAINED, "emulation.drift_compensation=false", "emulation.gains.force=1.8"}}};
static const ff_paper_entry disturbance_rows[] = {
    {"4.1: constraint error, gravity model -10 %, free [rad]", "",
     FF_NUMBER("%.3g", constraint_printed, PHI, 0), FF_NUMBER("%.3e", constraint_end, PHI, 0),
     FF_NUMBER("%.3e", constraint_ideal, PHI, 0),
     FF_TEXT("(27) prints s^2/Z = s^2 + G_v s + G_p where its inverse belongs"),
     FF_ASSERT(FF_NEAR(OURS, -9.800e-3, 2e-6), FF_NEAR(IDEAL, -9.800e-3, 2e-6), FF_NEAR(PRINTED, -98, 0.1))},
    {"4.1: the same, constrained, no drift terms: largest f - lambda [N]",
     "",
     {0},
     FF_NUMBER("%.4f", force_error, BARE, 0),
     FF_NUMBER("%.4f", disturbance, PHI, 0),
     FF_TEXT("(28) with Z = 1 and Q = 1: the force error is the disturbance"),
     FF_ASSERT(FF_NEAR(OURS, 0.5 / 3, 1e-4), FF_NEAR(IDEAL, 0.5 / 3, 1e-4))},
    {"4.1: the same at 15 s [N]",
     "",
     {0},
     FF_NUMBER("%.4f", force_error_end, BARE, 0),
     FF_NUMBER("%.4f", disturbance, PHI, 1),
     {0},
     FF_ASSERT(FF_NEAR(OURS, 0.16333, 5e-5), FF_NEAR(IDEAL, 0.16333, 5e-5))},
    {"4.1: the same with (11), f - lambda at 15 s [N]",
     "",
     {0},
     FF_NUMBER("%.1e", force_error_end, FED, 0),
     FF_TEXT("0"),
     FF_TEXT("Z(0) = 0: the drift feedback removes a constant disturbance"),
     FF_ASSERT(FF_NEAR(OURS, 0, 1e-8))},
    {"3.3: pose error of the constrained scheme under the disturbance [rad]",
     "has one (3.3); none (4.1)",
     {0},
     FF_NUMBER("%.0e", constraint_largest, BARE, 0),
     FF_TEXT("0"),
     FF_TEXT("3.3 says that the first scheme shows pose errors and the second force errors; 4.1 has it the "
             "other way, and so has the run"),
     FF_SAYS(1e-6, FF_INF, ""),
     FF_ASSERT(FF_NEAR(OURS, 0, 1e-8))},
    {"2.1: the same as 4.1, G_f = 1.8 1/kg, largest f - lambda [N]",
     "improves",
     {0},
     FF_NUMBER("%.4f", force_error, FEEDBACK, 0),
     FF_NUMBER("%.4f", feedback_ideal, FEEDBACK, 0),
     FF_TEXT("+G_f e_f: e_f is divided by 1 + M_s G_f = 2, M_s = m_s1/l^2; 2.1 prints -G_f, with which (14) "
             "as it should read gives 1 - M_s G_f"),
     FF_SAYS(0, 0.166, "o"),
     FF_ASSERT(FF_NEAR(OURS, 0.25 / 3, 1e-4))},
};

/* -------------------------------------------------------------------- kinematics, bounds, accommodation --
 */

#define CLIK(k) "emulation.consistency=clik", "emulation.gains.clik=" k
#define PLANAR "../planar-arm-emulation.yaml"
#define YIELDING "aghili/accommodation.yaml"

/* |Phi| over the radius of Theorem 1's ball. */
static void in_ball(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = fabs(result(runs, run)->constraint) / result(runs, run)->clik_bound;
}

static void constraint(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = fabs(result(runs, run)->constraint);
}

/* By which the constraint shrinks from this run to the next. */
static void shrinks(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = fabs(result(runs, run)->constraint / result(runs, run + 1)->constraint);
}

static void gain_bound(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = result(runs, run)->force_gain_bound;
}

static void pose_error(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = result(runs, run)->pose_error;
}

static void final_force(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = result(runs, run)->final_force;
}

/* At rest the motor's torque gain (rate + c f)/l holds -f l [N]. */
static void yields_to(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_emulate_joint *e = joint(runs, run);
    x[0] = -e->rate / (e->compliance + e->target.length * e->target.length / e->gain);
}

enum { WEAK, STRONG, ITERATED, ARM_GAIN, ARM_MORE, YIELDS, YIELDS_FREE };
static const ff_paper_spec kinematics_runs[] = {
    {APPENDIX_E, "direct", {CONSTRAINED, CLIK("2000"), "time.duration=2"}},
    {APPENDIX_E, "direct", {CONSTRAINED, CLIK("8000"), "time.duration=2"}},
    {APPENDIX_E, "direct", {CONSTRAINED, "time.duration=2"}},
    {PLANAR, "direct", {"emulation.gains.force=0.2"}},
    {PLANAR, "direct", {"emulation.gains.force=100"}},
    {YIELDING, "direct", {CONSTRAINED}},
    {YIELDING, "direct", {FREE}},
};
static const ff_paper_entry kinematics_rows[] = {
    {"Theorem 1: largest constraint with CLIK over the radius of its ball",
     "<= 1",
     {0},
     FF_NUMBER("%.3f", in_ball, STRONG, 0),
     {0},
     FF_NUMBER("K = 8000 1/(m2 s); K = 2000: %.3f", in_ball, WEAK, 0),
     FF_SAYS(0, 1, "o"),
     FF_ASSERT(FF_BETWEEN(OURS, 0.5, 1))},
    {"Theorem 1: the same, four times the gain: constraint smaller by",
     "arbitrarily",
     {0},
     FF_NUMBER("%.2f", shrinks, WEAK, 0),
     FF_TEXT("4"),
     FF_NUMBER("%.1e rad with K = 8000", constraint, STRONG, 0),
     FF_SAYS(3, 5, "o")},
    {"Appendix B: the same by Newton-Raphson [rad]",
     "<= eps",
     {0},
     FF_NUMBER("%.0e", constraint, ITERATED, 0),
     FF_TEXT("0"),
     FF_TEXT("the default: consistency: newton"),
     FF_SAYS(0, 1e-12, "o")},
    {"Appendix A: largest G_f that its bound allows, planar arm [1/kg]",
     "2 G_v/lambda_max(M_s')",
     {0},
     FF_NUMBER("%.2f", gain_bound, ARM_GAIN, 0),
     {0},
     FF_TEXT("least over the run, summary.json: force_gain_bound_1pkg; of Appendix E's own arm there is "
             "none, its "
             "inertia is constant"),
     FF_ASSERT(FF_NEAR(OURS, 25.6, 0.3))},
    {"Appendix A: pose error with G_f = 0.2 1/kg [m]",
     "stable if below",
     {0},
     FF_NUMBER("%.0e", pose_error, ARM_GAIN, 0),
     FF_TEXT("0"),
     FF_NUMBER(
         "with 100, beyond the bound: %.0e. It is sufficient, not necessary: 1 + G_f M_s only adds inertia",
         pose_error, ARM_MORE, 0),
     FF_SAYS(0, 1e-9, "o")},
    {"E: accommodation, contact force once at rest [N]",
     "named, not stated",
     {0},
     FF_NUMBER("%.4f", final_force, YIELDS, 0),
     FF_NUMBER("%.4f", yields_to, YIELDS, 0),
     FF_NUMBER("rate 0.05 m/s, compliance 0.01 m/(s N), gain 20: -rate/(c + l^2/gain); free scheme %.4f",
               final_force, YIELDS_FREE, 0),
     FF_ASSERT(FF_NEAR(OURS, -0.05 / 0.0145, 2e-3))},
    {"E: the same, largest pose error against the direct arm [rad]",
     "identical",
     {0},
     FF_NUMBER("%.0e", pose_error, YIELDS, 0),
     FF_TEXT("0"),
     FF_NUMBER("free scheme %.0e", pose_error, YIELDS_FREE, 0),
     FF_SAYS(0, 1e-10, "o")},
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

static void resonance(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)run, (void)unused;
    x[0] = of(runs)->q[4].peak_transmissivity / of(runs)->q[1].peak_transmissivity;
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

#define GROWTH(Q, paper, i, low, high)                                                       \
    {                                                                                        \
        "4.2: growth rate at Q = " Q " [1/s]", paper, {0}, FF_NUMBER("%+.3f", rate, 0, i),   \
            FF_NUMBER("%+.3f", rate_seen, 0, i), FF_TEXT("ideal: the loop stepped in time"), \
            FF_SAYS(low, high, "o"), FF_ASSERT(FF_BETWEEN(IDEAL, low, high))                 \
    }
#define GAIN(text, Q, value)                                                                     \
    {                                                                                            \
        "4.3, Fig. 5: largest gain of T(jw), Q = " text, "Fig. 5", {0},                          \
            FF_NUMBER("%.4g at %.3g rad/s", transmissivity, 0, Q),                               \
            FF_NUMBER("%.4g", transmissivity_grid, 0, Q), FF_TEXT("ideal: (34) on a fine grid"), \
            FF_ASSERT(FF_NEAR(OURS, value, 2e-3), FF_NEAR(IDEAL, value, 2e-3))                   \
    }
static const ff_paper_entry stability_rows[] = {
    {"4.2 (33): critical Q, w_p = 10, w_a = 25 rad/s",
     "5",
     FF_TEXT("5"),
     FF_NUMBER("%.4g", critical, 0, 0),
     FF_TEXT("5"),
     {0},
     FF_SAYS(5 - 1e-9, 5 + 1e-9, "o")},
    {"4.1: largest gain of Z(jw) with these gains",
     "1",
     {0},
     FF_NUMBER("%.4f", sensitivity, 0, 0),
     FF_TEXT("1"),
     FF_TEXT("the force error is at most Q times the disturbance, here Q = 1"),
     FF_SAYS(1 - 1e-4, 1 + 1e-4, "o")},
    GROWTH("4.9", "stable", 0, -0.0425, -0.0395),
    GROWTH("5.0", "limit", 1, 0, 0),
    GROWTH("5.1", "unstable", 2, 0.0375, 0.0405),
    GAIN("1", 1, 1.6478),
    GAIN("2", 2, 2.611),
    GAIN("3", 3, 4.494),
    GAIN("4", 4, 10.097),
    {"4.3: largest gain of T(jw), Q = 4 over that at Q = 1",
     "resonance falls as Q rises",
     {0},
     FF_NUMBER("%.2f", resonance, 0, 0),
     {0},
     FF_TEXT("the text asks for Q \"sufficiently larger than 5\"; above 5 the contact is unstable by (33)"),
     FF_SAYS(0, 1, ""),
     FF_ASSERT(FF_NEAR(OURS, 10.10 / 1.648, 0.01))},
    {"4.2: lower bound of Q, stiff elastic contact without damping", "none", FF_TEXT("0"),
     FF_NUMBER("%.3f", lower_bound, 0, 0), FF_TEXT("1.000"),
     FF_TEXT("Q > 1/(1 + B/(M_r w_a)); (33) is not sufficient"), FF_SAYS(0, 0, ""),
     FF_ASSERT(FF_NEAR(OURS, 1, 1e-3))},
    {"4.2: the same with B = M_r w_a", "none", FF_TEXT("0"), FF_NUMBER("%.3f", lower_bound, 0, 1),
     FF_TEXT("0.500"), FF_TEXT("the contact's damping lowers the bound, and does not remove it"),
     FF_SAYS(0, 0, ""), FF_ASSERT(FF_NEAR(OURS, 0.5, 1e-3))},
    {"4.2: stable Q with a pure delay of 40 ms", "\"or time delay\"",
     FF_NUMBER("0 to %.4g", delayed_critical, 0, 0), FF_NUMBER("%.3f to %.3f", delayed_band, 0, 0),
     FF_TEXT("0.539 to 3.09"), FF_TEXT("a delay is not its first-order lag"),
     FF_ASSERT(FF_NEAR(PRINTED, 5, 1e-3), FF_NEAR(OURS, 0.5394, 1e-4), FF_SECOND(OURS, 3.0913, 1e-4))},
};

static const ff_paper_group groups[] = {
    {FF_LIST(appendix_runs), FF_LIST(appendix_rows), .whole = true, .prepare = have_samples, .bytes = 1},
    {FF_LIST(disturbance_runs), FF_LIST(disturbance_rows), .whole = true, .prepare = have_samples,
     .bytes = 1},
    {FF_LIST(kinematics_runs), FF_LIST(kinematics_rows), .whole = true, .prepare = have_samples, .bytes = 1},
    {NULL, 0, FF_LIST(stability_rows), .prepare = analyze_all, .bytes = sizeof(stabilities)},
};

const ff_paper ff_paper_aghili = {"aghili", "Aghili: emulation of another robot, contact stability",
                                  FF_LIST(groups)};
