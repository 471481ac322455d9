/* destefano2019: every number and claim of sections II, IV, V, VI and VII. */
#include <stdio.h>

#include "papers.h"

#define FOLDER "destefano2019/"

/* Speed after over speed before of the first contact, one axis alone so that nothing else mixes in. */
static double first_ratio(const ff_paper_case *c) {
    const ff_episode *e = ff_paper_episode(c, 0);
    return e ? ff_vec3_norm(e->after[0].velocity) / ff_vec3_norm(e->before[0].velocity) : FF_NAN;
}

static void delay_rows(ff_paper_table *table) {
    static const char *const one_axis[] = {"satellites.client.velocity=[0, 0, 0.2]",
                                           "satellites.client.angular_velocity=[0, 0, 0]", "time.duration=3"};
    static const char *const file = FOLDER "iv.yaml";
    ff_paper_case *ideal = ff_paper_run(table, file, "ideal", one_axis[0], one_axis[1], one_axis[2], NULL);
    ff_paper_case *direct = ff_paper_run(table, file, "direct", one_axis[0], one_axis[1], one_axis[2], NULL);
    ff_paper_case *printed =
        ff_paper_run(table, file, "tdpa:reading=printed", one_axis[0], one_axis[1], one_axis[2], NULL);
    ff_paper_case *ours = ff_paper_run(table, file, "tdpa", one_axis[0], one_axis[1], one_axis[2], NULL);
    if (ideal && direct && printed && ours) {
        ff_paper_row *r =
            ff_paper_add(table, "II-A: speed ratio per contact, 10 ms, no control", "grows (Fig. 4)");
        FF_CELLS(r, "%.4f", first_ratio(direct), first_ratio(direct), first_ratio(ideal));
        FF_CELL(r->remark, "theory e exp(pi w tau/2) = %.4f",
                0.9901 * exp(0.5 * FF_PI * sqrt(2000.0 / 50.0) * 0.01));
        r = ff_paper_add(table, "IV: speed ratio per contact, controlled", "does not grow");
        FF_CELLS(r, "%.4f", first_ratio(printed), first_ratio(ours), first_ratio(ideal));
        FF_CELL(r->remark, "E_obs >= 0 does not stop the growth: pairing F(k) with V(k) gains pi w T/4");
    }
    FF_PAPER_FREE(ideal, direct, printed, ours);
}

static void port_rows(ff_paper_table *table) {
    ff_paper_case *ideal = ff_paper_run(table, FOLDER "iv.yaml", "ideal", NULL);
    ff_paper_case *direct = ff_paper_run(table, FOLDER "iv.yaml", "direct", NULL);
    ff_paper_case *printed = ff_paper_run(table, FOLDER "iv.yaml", "tdpa:reading=printed", NULL);
    ff_paper_case *ours = ff_paper_run(table, FOLDER "iv.yaml", "tdpa:observer=axis", NULL);
    if (ideal && direct && printed && ours) {
        const double start = ideal->session.metrics.body[0].initial_energy;
        ff_paper_row *r =
            ff_paper_add(table, "II-A: kinetic energy after 10 s over start, no control", "> 1");
        FF_CELLS(r, "%.3f", direct->session.metrics.body[0].final_energy / start,
                 direct->session.metrics.body[0].final_energy / start,
                 ideal->session.metrics.body[0].final_energy / start);
        r = ff_paper_add(table, "Fig. 13 top: least energy at the observer, no control [J]", "negative");
        FF_CELLS_KNOWN(r, "%.3f", direct->probe.observer_min, direct->probe.observer_min, ">= 0");
        r = ff_paper_add(table, "Fig. 13 bottom: least energy at the environment, no control [J]",
                         ">= 0, growing");
        FF_CELL(r->printed, "%.3g (end %.3f)", direct->probe.environment_min, direct->probe.environment_end);
        FF_CELL(r->ours, "%.3g (end %.3f)", direct->probe.environment_min, direct->probe.environment_end);
        r = ff_paper_add(table, "Fig. 14: least observer after dissipation, controlled [J]", ">= 0");
        double least[2] = {FF_INF, FF_INF};
        for (int a = 0; a < 6; a++) {
            least[0] = fmin(least[0], printed->session.metrics.body[0].observer_min[a]);
            least[1] = fmin(least[1], ours->session.metrics.body[0].observer_min[a]);
        }
        FF_CELL(r->printed, "%.2g", least[0]);
        FF_CELL(r->ours, "%.2g", least[1]);
        FF_CELL(r->remark,
                "(17) as printed is negative whenever the controller acts; this is (17) + alpha V^2 T");
        r = ff_paper_add(table, "Fig. 12: kinetic energy after 10 s over start, controlled", "does not grow");
        FF_CELLS(r, "%.4f", printed->session.metrics.body[0].final_energy / start,
                 ours->session.metrics.body[0].final_energy / start,
                 ideal->session.metrics.body[0].final_energy / start);
        FF_CELL(r->remark, "ours with observer: axis, right here because the six stops are decoupled");
    }
    FF_PAPER_FREE(ideal, direct, printed, ours);
}

/* Position error against the continuous body at the end of a shortened run. */
static double drift(ff_paper_table *table, const char *file, const char *variant, const char *cycle,
                    const char *duration) {
    double value = FF_NAN;
    ff_paper_case *c = ff_paper_run(table, file, variant, cycle, duration, NULL);
    if (c) {
        const ff_ideal_result *x = &c->session.ideal;
        value = c->probe.final.position.x - x->state[(x->samples - 1) * (uint64_t)x->bodies].position.x;
    }
    ff_paper_case_free(c);
    return value;
}

static void integration_rows(ff_paper_table *table) {
    static const struct {
        const char *claim, *paper, *cycle, *duration;
    } row[] = {
        {"II-B: position drift at 32 s, T = 0.1 s [m]", "0.05", "time.cycle=0.1", "time.duration=32"},
        {"II-B: position drift at 50 s, T = 0.1 s [m]", "0.15", "time.cycle=0.1", "time.duration=50"},
        {"II-B: position drift at 32 s, T = 0.01 s [m]", "a tenth", "time.cycle=0.01", "time.duration=32"},
        {"II-B: position drift at 50 s, T = 0.01 s [m]", "a tenth", "time.cycle=0.01", "time.duration=50"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ff_paper_row *r = ff_paper_add(table, row[i].claim, row[i].paper);
        FF_CELL(r->printed, "%.5f",
                drift(table, FOLDER "ii-b-translation.yaml", "direct", row[i].cycle, row[i].duration));
        FF_CELL(r->ours, "%.1e",
                drift(table, FOLDER "ii-b-translation.yaml", "direct:integrator=lie-midpoint", row[i].cycle,
                      row[i].duration));
        FF_CELL(r->ideal, "0");
        FF_CELL(r->remark, "printed: Euler; ours: lie-midpoint");
    }
    ff_paper_row *r = ff_paper_add(table, "V: position drift at 50 s, passive integrator, T = 0.1 s [m]",
                                   "removed (Fig. 16)");
    FF_CELLS_KNOWN(
        r, "%.1e", drift(table, FOLDER "v.yaml", "direct", "time.cycle=0.1", "time.duration=50"),
        drift(table, FOLDER "v.yaml", "direct:integrator=lie-midpoint", "time.cycle=0.1", "time.duration=50"),
        "0");

    static const char *const scheme[3] = {"direct:integrator=euler", "direct:integrator=passive",
                                          "direct:integrator=lie-midpoint"};
    double energy[3] = {FF_NAN, FF_NAN, FF_NAN}, angle[3] = {FF_NAN, FF_NAN, FF_NAN};
    for (int i = 0; i < 3; i++) {
        ff_paper_case *c = ff_paper_run(table, FOLDER "ii-b-rotation.yaml", scheme[i], NULL);
        if (c) {
            energy[i] = c->probe.energy_drift;
            angle[i] = c->session.metrics.body[0].error_attitude;
        }
        ff_paper_case_free(c);
    }
    r = ff_paper_add(table, "II-B: rotational energy drift, Euler, T = 0.1 s [J]", "grows (Fig. 8)");
    FF_CELLS_KNOWN(r, "%.2e", energy[0], energy[2], "0");
    FF_CELL(r->remark, "the paper's torque profile is only drawn; ours has its shape");
    r = ff_paper_add(table, "II-B: angle drift, Euler, T = 0.1 s [rad]", "(Fig. 7)");
    FF_CELLS_KNOWN(r, "%.2e", angle[0], angle[2], "0");
    r = ff_paper_add(table, "V: angle drift, passive integrator, T = 0.1 s [rad]", "removed (Fig. 17)");
    FF_CELLS_KNOWN(r, "%.2e", angle[1], angle[2], "0");
    FF_CELL(r->remark, "printed column with chi = torque; the literal (32) diverges");
}

static void overall_rows(ff_paper_table *table) {
    static const char *const file = FOLDER "vii.yaml";
    static const char *const z[3] = {"satellites.client.velocity=[0, 0, 0.02]",
                                     "satellites.client.angular_velocity=[0, 0, 0]", "time.duration=4"};
    static const char *const variant[4] = {"ideal", "direct", "tdpa:reading=printed:integrator=passive",
                                           "tdpa"};
    double speed[4] = {FF_NAN, FF_NAN, FF_NAN, FF_NAN};
    for (int i = 0; i < 4; i++) {
        ff_paper_case *c = ff_paper_run(table, file, variant[i], z[0], z[1], z[2], NULL);
        const ff_episode *e = ff_paper_episode(c, 0);
        if (e)
            speed[i] = ff_vec3_norm(e->after[0].velocity);
        ff_paper_case_free(c);
    }
    ff_paper_row *r = ff_paper_add(table, "VII: z speed after the first contact [m/s]", "as ideal (Fig. 22)");
    FF_CELLS(r, "%.5f", speed[2], speed[3], speed[0]);
    FF_CELL(r->remark, "direct %.5f", speed[1]);

    ff_paper_case *printed = ff_paper_run(table, file, "tdpa:reading=printed:integrator=passive", NULL);
    ff_paper_case *chi =
        ff_paper_run(table, file, "tdpa:reading=printed:integrator=passive:passive.reading=default", NULL);
    ff_paper_case *ours = ff_paper_run(table, file, "tdpa:observer=axis", NULL);
    if (printed && chi && ours) {
        const ff_body_metrics *p = &printed->session.metrics.body[0], *q = &chi->session.metrics.body[0],
                              *o = &ours->session.metrics.body[0];
        r = ff_paper_add(table, "VII: velocity correction of the integrator [m/s]", "order 1e-4");
        FF_CELL(r->printed, "%.2e", q->max_velocity_correction);
        FF_CELL(r->ours, "%.0f", o->max_velocity_correction);
        FF_CELL(r->remark, "ours needs none: the default integrator is geometric");
        r = ff_paper_add(table, "VII: angular velocity correction of the integrator [rad/s]", "order 1e-4");
        FF_CELL(r->printed, "%.2e", q->max_omega_correction);
        FF_CELL(r->ours, "%.0f", o->max_omega_correction);
        FF_CELL(r->remark, "printed with chi = torque; the literal (32) corrects by %.2g rad/s and more",
                p->max_omega_correction);
        r = ff_paper_add(table, "VII: rebound speed error, first contacts [m/s]", "< 0.001");
        FF_CELLS_KNOWN(r, "%.5f", fabs(speed[2] - speed[0]), fabs(speed[3] - speed[0]), "0");
        FF_CELL(r->remark, "during contact the error is v w tau = %.4f, and later contacts fall out of step",
                0.02 * sqrt(2000.0 / 280.0) * 0.04);
        r = ff_paper_add(table, "VII: largest velocity error over 30 s [m/s]", "< 0.001");
        FF_CELLS_KNOWN(r, "%.4f", q->error_velocity, o->error_velocity, "0");
        FF_CELL(r->remark, "at equal times; not reproduced: contacts shift in time");
        r = ff_paper_add(table, "VII: largest angular velocity error over 30 s [deg/s]", "0.3");
        FF_CELLS_KNOWN(r, "%.2f", q->error_omega * 180 / FF_PI, o->error_omega * 180 / FF_PI, "0");
        FF_CELL(r->remark, "the same");
        r = ff_paper_add(table, "VII: largest position error [m]", "0.015 (experiment)");
        FF_CELLS_KNOWN(r, "%.4f", q->error_position, o->error_position, "0");
        double least[2] = {FF_INF, FF_INF};
        for (int a = 0; a < 6; a++) {
            least[0] = fmin(least[0], q->observer_min[a]);
            least[1] = fmin(least[1], o->observer_min[a]);
        }
        r = ff_paper_add(table, "VII: least observer after dissipation [J]", ">= 0");
        FF_CELL(r->printed, "%.2g", least[0]);
        FF_CELL(r->ours, "%.2g", least[1]);
        FF_CELL(r->remark, "zero to rounding");
        r = ff_paper_add(table, "VII: peak robot force over ideal", "");
        FF_CELLS_KNOWN(r, "%.2f", chi->session.metrics.peak_force_ratio[0],
                       ours->session.metrics.peak_force_ratio[0], "1");
        FF_CELL(r->remark, "not in the paper: passive is not yet safe");
    }
    FF_PAPER_FREE(printed, chi, ours);
}

static void experiment_rows(ff_paper_table *table) {
    static const char *const variant[4] = {
        "ideal", "direct", "tdpa:reading=printed:integrator=passive:passive.reading=default", "tdpa"};
    double energy[4] = {FF_NAN, FF_NAN, FF_NAN, FF_NAN};
    for (int i = 0; i < 4; i++) {
        ff_paper_case *c = ff_paper_run(table, FOLDER "vii-a.yaml", variant[i], NULL);
        if (c)
            energy[i] = c->session.metrics.body[0].max_energy / c->session.metrics.body[0].initial_energy;
        ff_paper_case_free(c);
    }
    ff_paper_row *r = ff_paper_add(table, "VII-A: largest energy over start, 700 kg, off centre, no control",
                                   "diverges (Fig. 23)");
    FF_CELLS(r, "%.3f", energy[1], energy[1], energy[0]);
    FF_CELL(r->remark, "delay and contacts of the facility are not given: 40 ms, 4000 N/m, 20 N s/m");
    r = ff_paper_add(table, "VII-A: the same, controlled", "no increase (Fig. 25)");
    FF_CELLS(r, "%.3f", energy[2], energy[3], energy[0]);
}

void ff_paper_destefano2019(ff_paper_table *table) {
    delay_rows(table);
    port_rows(table);
    integration_rows(table);
    overall_rows(table);
    experiment_rows(table);
}
