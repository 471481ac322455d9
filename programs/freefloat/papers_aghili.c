/* aghili: the paper prints few numbers (Appendix E, (33), Fig. 5); each stands here, and each of its claims
 * that can be measured. What it leaves open is chosen in scenarios/papers/aghili/appendix-e.yaml. */
#include <stdio.h>

#include "study/contact_stability.h"
#include "papers.h"

#define FILE_E "aghili/appendix-e.yaml"

static ff_paper_case *run(ff_paper_table *table, const char *a, const char *b, const char *c) {
    return ff_paper_run(table, FILE_E, "direct", a, b, c, NULL);
}

static const ff_emulate_sample *last(const ff_paper_case *c) {
    const ff_emulate_result *r = &c->session.emulation;
    return r->samples ? &r->sample[r->samples - 1] : NULL;
}

/* At the samples, 1 ms apart. */
static double direct_peak(const ff_emulate_result *r) {
    double peak = 0.0;
    for (size_t k = 0; k < r->samples; k++)
        peak = fmax(peak, fabs(r->sample[k].f_direct[0]));
    return peak;
}

/* Appendix E as printed feeds the drift back with the wrong sign: e'' = G_v e' + G_p e. */
static double printed_growth(double gv, double gp) {
    return 0.5 * (gv + sqrt(gv * gv + 4.0 * gp));
}

static void appendix_rows(ff_paper_table *table) {
    ff_paper_case *held = run(table, "emulation.scheme=constrained", NULL, NULL),
                  *free_run = run(table, "emulation.scheme=free", NULL, NULL);
    if (held && free_run && last(held) && last(free_run)) {
        const ff_emulate_result *c = &held->session.emulation, *f = &free_run->session.emulation;
        const ff_emulate_joint *e = &held->session.scenario.emulation;
        ff_paper_row *r = ff_paper_add(table, "E: first contact [s], constrained and free", "not printed");
        FF_CELL(r->ours, "%.4f, %.4f", c->contact_s, f->contact_s);
        FF_CELL(r->ideal, "%.4f", c->contact_direct_s);
        FF_CELL(r->remark,
                "ideal: the flexible arm simulated directly; wall, gains, torque and c_s are ours");
        r = ff_paper_add(table, "E: largest contact force [N]", "not printed");
        FF_CELL(r->ours, "%.2f, %.2f", c->peak_force, f->peak_force);
        FF_CELL(r->ideal, "%.2f", direct_peak(c));
        r = ff_paper_add(table, "E: contact force at 15 s [N]", "");
        FF_CELL(r->ours, "%.4f, %.4f", c->final_force, f->final_force);
        FF_CELL(r->ideal, "%.4f", last(held)->f_direct[0]);
        FF_CELL(r->remark, "tau_s/l = %.4f once the motor stands still", -e->torque / e->target.length);
        r = ff_paper_add(table, "E, 3.3: both schemes are the same motion, largest pose error [rad]",
                         "identical");
        FF_CELL(r->printed, "diverges, %.1f 1/s",
                printed_growth(e->emulation.velocity_gain, e->emulation.position_gain));
        FF_CELL(r->ours, "%.1e, %.1e", c->pose_error, f->pose_error);
        FF_CELL(r->ideal, "0");
        FF_CELL(r->remark, "E prints +G_v, +G_p: the drift feeds itself; (11) has them negative");
        r = ff_paper_add(table, "Proposition 1: f -> lambda, largest f - lambda [N]", "-> 0");
        FF_CELL(r->ours, "%.1e, %.1e", c->force_error, f->force_error);
        FF_CELL(r->ideal, "0");
        FF_CELL(r->remark, "no acceptance test alone: a wrong sign in (24) keeps it");
        r = ff_paper_add(table, "Remark 1: force feedback 1 - M_r/M_s when M_s = M_r", "0");
        FF_CELL(r->ours, "%.3g", 1.0 - e->robot_inertia / e->target.link_inertia);
        FF_CELL(r->ideal, "0");
        FF_CELL(r->remark, "Appendix E itself: link and robot have 0.05 kg m2");
    }
    FF_PAPER_FREE(held, free_run);
}

/* 4.1: the gravity that the controller knows ten per cent too small is a disturbance d = 0.1 w cos(q)/l. */
static void disturbance_rows(ff_paper_table *table) {
    const char *low = "emulation.robot.gravity_model_error=-0.1";
    ff_paper_case *phi = run(table, low, "emulation.scheme=free", NULL),
                  *bare =
                      run(table, low, "emulation.scheme=constrained", "emulation.drift_compensation=false"),
                  *fed = run(table, low, "emulation.scheme=constrained", NULL);
    if (phi && bare && fed && last(phi) && last(bare) && last(fed)) {
        const ff_emulate_joint *e = &phi->session.scenario.emulation;
        const double torque = 0.1 * e->gravity_torque * cos(last(phi)->p_r[0]);
        ff_paper_row *r = ff_paper_add(table, "4.1: constraint error, gravity model -10 %, free [rad]", "");
        FF_CELL(r->printed, "%.3g", -torque / e->robot_inertia * e->emulation.position_gain);
        FF_CELL(r->ours, "%.3e", last(phi)->constraint[0]);
        FF_CELL(r->ideal, "%.3e", -torque / (e->robot_inertia * e->emulation.position_gain));
        FF_CELL(r->remark, "(27) prints s^2/Z = s^2 + G_v s + G_p where its inverse belongs");
        r = ff_paper_add(table, "4.1: the same, constrained, no drift terms: largest f - lambda [N]", "");
        FF_CELL(r->ours, "%.4f", bare->session.emulation.force_error);
        FF_CELL(r->ideal, "%.4f", 0.1 * e->gravity_torque / e->target.length);
        FF_CELL(r->remark, "(28) with Z = 1 and Q = 1: the force error is the disturbance");
        r = ff_paper_add(table, "4.1: the same at 15 s [N]", "");
        FF_CELL(r->ours, "%.4f", last(bare)->f[0] - last(bare)->lambda[0]);
        FF_CELL(r->ideal, "%.4f", torque / e->target.length);
        r = ff_paper_add(table, "4.1: the same with (11), f - lambda at 15 s [N]", "");
        FF_CELL(r->ours, "%.1e", last(fed)->f[0] - last(fed)->lambda[0]);
        FF_CELL(r->ideal, "0");
        FF_CELL(r->remark, "Z(0) = 0: the drift feedback removes a constant disturbance");
        r = ff_paper_add(table, "3.3: which error each scheme shows (constrained / free)", "pose / force");
        FF_CELL(r->ours, "force / pose");
        FF_CELL(r->ideal, "force / pose");
        FF_CELL(r->remark, "4.1 itself has it so; constrained keeps the pose to %.0e rad",
                fabs(bare->session.emulation.constraint));
    }
    FF_PAPER_FREE(phi, bare, fed);
}

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
static void stability_rows(ff_paper_table *table) {
    ff_contact_stability_config c;
    ff_contact_stability s;
    char message[200], claim[96];
    ff_contact_stability_default(&c);
    c.velocity_gain = 20.0;
    c.position_gain = 100.0;
    c.bandwidth = 25.0;
    c.inertia_ratio = 1.0;
    if (ff_contact_stability_analyze(&c, &s, message, sizeof message) != FF_OK) {
        table->failed = true;
        return;
    }
    ff_paper_row *r = ff_paper_add(table, "4.2 (33): critical Q, w_p = 10, w_a = 25 rad/s", "5");
    FF_CELLS_KNOWN(r, "%.4g", 2.0 * 25.0 / 10.0, s.q_critical, "5");
    r = ff_paper_add(table, "4.1: largest gain of Z(jw) with these gains", "1");
    FF_CELL(r->ours, "%.4f", s.force_sensitivity);
    FF_CELL(r->ideal, "1");
    FF_CELL(r->remark, "the force error is at most Q times the disturbance, here Q = 1");
    static const double ratio[] = {4.9, 5.0, 5.1};
    for (int i = 0; i < 3; i++) {
        double rate = FF_NAN;
        if (ff_contact_stability_growth(&c, ratio[i], &rate) != FF_OK)
            table->failed = true;
        snprintf(claim, sizeof claim, "4.2: growth rate at Q = %.1f [1/s]", ratio[i]);
        r = ff_paper_add(table, claim, i == 0 ? "stable" : i == 1 ? "limit" : "unstable");
        FF_CELL(r->ours, "%+.3f", fabs(rate) < 5e-4 ? 0.0 : rate);
        const double seen = simulated_growth(&c, ratio[i]);
        FF_CELL(r->ideal, "%+.3f", fabs(seen) < 5e-4 ? 0.0 : seen);
        FF_CELL(r->remark, "ideal: the loop stepped in time");
    }
    for (int q = 1; q <= 4; q++) {
        c.inertia_ratio = q;
        if (ff_contact_stability_analyze(&c, &s, message, sizeof message) != FF_OK)
            table->failed = true;
        double peak = 0.0, w = 1.0;
        while (w < 100.0) {
            const double re = c.position_gain - w * w, im = c.velocity_gain * w;
            peak = fmax(peak, hypot(re, im) / hypot(re, im - q * w * w * w / c.bandwidth));
            w *= 1.0001;
        }
        snprintf(claim, sizeof claim, "4.3, Fig. 5: largest gain of T(jw), Q = %d", q);
        r = ff_paper_add(table, claim, "Fig. 5");
        FF_CELL(r->ours, "%.4g at %.3g rad/s", s.peak_transmissivity, s.peak_frequency_radps);
        FF_CELL(r->ideal, "%.4g", peak);
        FF_CELL(r->remark, "ideal: (34) on a fine grid");
    }
    r = ff_paper_add(table, "4.3: to avoid the resonance Q must be", "well above 5");
    FF_CELL(r->ours, "well below 5");
    FF_CELL(r->ideal, "well below 5");
    FF_CELL(r->remark, "the text has it backwards: above 5 the contact is unstable by (33)");

    c.robot_inertia = 1.0;
    c.contact_damping = 0.0;
    if (ff_contact_stability_analyze(&c, &s, message, sizeof message) != FF_OK)
        table->failed = true;
    r = ff_paper_add(table, "4.2: lower bound of Q, stiff elastic contact without damping", "none");
    FF_CELL(r->printed, "0");
    FF_CELL(r->ours, "%.3f", s.q_low);
    FF_CELL(r->ideal, "%.3f", 1.0);
    FF_CELL(r->remark, "Q > 1/(1 + B/(M_r w_a)); (33) is not sufficient");
    c.contact_damping = 25.0;
    if (ff_contact_stability_analyze(&c, &s, message, sizeof message) != FF_OK)
        table->failed = true;
    r = ff_paper_add(table, "4.2: the same with B = M_r w_a", "none");
    FF_CELL(r->printed, "0");
    FF_CELL(r->ours, "%.3f", s.q_low);
    FF_CELL(r->ideal, "%.3f", 0.5);

    ff_contact_stability_default(&c);
    c.velocity_gain = 20.0;
    c.position_gain = 100.0;
    c.delay = 0.040;
    if (ff_contact_stability_analyze(&c, &s, message, sizeof message) != FF_OK)
        table->failed = true;
    r = ff_paper_add(table, "4.2: stable Q with a pure delay of 40 ms", "\"or time delay\"");
    FF_CELL(r->printed, "0 to %.4g", s.q_critical);
    FF_CELL(r->ours, "%.3f to %.3f", s.q_low, s.q_high);
    FF_CELL(r->ideal, "0.539 to 3.09");
    FF_CELL(r->remark, "a delay is not its first-order lag");
}

void ff_paper_aghili(ff_paper_table *table) {
    appendix_rows(table);
    disturbance_rows(table);
    stability_rows(table);
}
