/* destefano2019: every number and claim of sections II, IV, V, VI and VII. */
#include <stddef.h>

#include "papers.h"

#define IV "destefano2019/iv.yaml"
#define TRANSLATION "destefano2019/ii-b-translation.yaml"
#define ROTATION "destefano2019/ii-b-rotation.yaml"
#define V "destefano2019/v.yaml"
#define VII "destefano2019/vii.yaml"
#define VII_A "destefano2019/vii-a.yaml"
#define PASSIVE "tdpa:reading=printed:integrator=passive"
#define CHI PASSIVE ":passive.reading=default"
#define DEFAULT "direct:integrator=lie-midpoint"

enum { IDEAL, DIRECT, PRINTED, OURS };

/* Speed after over speed before of the first contact, one axis alone so that nothing else mixes in. */
static void first_ratio(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_episode *e = ff_paper_episode(runs, run, 0);
    x[0] = e ? ff_vec3_norm(e->after[0].velocity) / ff_vec3_norm(e->before[0].velocity) : FF_NAN;
}

/* e exp(pi w tau / 2) of a contact of 2000 N/m, 50 kg and 10 ms. */
static void growth(const ff_paper_runs *runs, int run, double restitution, double x[2]) {
    (void)runs, (void)run;
    x[0] = restitution * exp(0.5 * FF_PI * sqrt(2000.0 / 50.0) * 0.01);
}

/* v w tau during contact, 2000 N/m, 280 kg, 40 ms. */
static void behind(const ff_paper_runs *runs, int run, double speed, double x[2]) {
    (void)runs, (void)run;
    x[0] = speed * sqrt(2000.0 / 280.0) * 0.04;
}

#define ONE_AXIS                                                                              \
    "satellites.client.velocity=[0, 0, 0.2]", "satellites.client.angular_velocity=[0, 0, 0]", \
        "time.duration=3"
static const ff_paper_spec delay_runs[] = {{IV, "ideal", {ONE_AXIS}},
                                           {IV, "direct", {ONE_AXIS}},
                                           {IV, "tdpa:reading=printed", {ONE_AXIS}},
                                           {IV, "tdpa", {ONE_AXIS}}};
static const ff_paper_entry delay_rows[] = {
    {"II-A: speed ratio per contact, 10 ms, no control", "grows (Fig. 4)",
     FF_CELLS("%.4f", first_ratio, 0, DIRECT, DIRECT, IDEAL),
     FF_NUMBER("theory e exp(pi w tau/2) = %.4f", growth, 0, 0.9901)},
    {"IV: speed ratio per contact, controlled", "does not grow",
     FF_CELLS("%.4f", first_ratio, 0, PRINTED, OURS, IDEAL),
     FF_TEXT("E_obs >= 0 does not stop the growth: pairing F(k) with V(k) gains pi w T/4")},
};

/* Energy at the end over that at the start of the first run, the ideal one. */
static void final_energy(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_metrics *m = ff_paper_metrics(runs, run), *ideal = ff_paper_metrics(runs, IDEAL);
    if (m && ideal)
        x[0] = m->body[0].final_energy / ideal->body[0].initial_energy;
}

/* Largest over that at the start. */
static void largest_energy(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_metrics *m = ff_paper_metrics(runs, run);
    if (m)
        x[0] = m->body[0].max_energy / m->body[0].initial_energy;
}

static void observer_min(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = runs->run[run]->probe.observer_min;
}

static void environment(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = runs->run[run]->probe.environment_min;
    x[1] = runs->run[run]->probe.environment_end;
}

/* Of all axes, after dissipation [J]. */
static void least_observer(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = FF_INF;
    for (int a = 0; a < 6; a++)
        x[0] = fmin(x[0], ff_paper_metrics(runs, run)->body[0].observer_min[a]);
}

static const ff_paper_spec port_runs[] = {{IV, "ideal", {0}},
                                          {IV, "direct", {0}},
                                          {IV, "tdpa:reading=printed", {0}},
                                          {IV, "tdpa:observer=axis", {0}}};
static const ff_paper_entry port_rows[] = {
    {"II-A: kinetic energy after 10 s over start, no control",
     "> 1",
     FF_CELLS("%.3f", final_energy, 0, DIRECT, DIRECT, IDEAL),
     {0}},
    {"Fig. 13 top: least energy at the observer, no control [J]",
     "negative",
     FF_KNOWN("%.3f", observer_min, 0, DIRECT, DIRECT, ">= 0"),
     {0}},
    {"Fig. 13 bottom: least energy at the environment, no control [J]",
     ">= 0, growing",
     FF_NUMBER("%.3g (end %.3f)", environment, DIRECT, 0),
     FF_NUMBER("%.3g (end %.3f)", environment, DIRECT, 0),
     {0},
     {0}},
    {"Fig. 14: least observer after dissipation, controlled [J]",
     ">= 0",
     FF_NUMBER("%.2g", least_observer, PRINTED, 0),
     FF_NUMBER("%.2g", least_observer, OURS, 0),
     {0},
     FF_TEXT("(17) as printed is negative whenever the controller acts; this is (17) + alpha V^2 T")},
    {"Fig. 12: kinetic energy after 10 s over start, controlled", "does not grow",
     FF_CELLS("%.4f", final_energy, 0, PRINTED, OURS, IDEAL),
     FF_TEXT("ours with observer: axis, right here because the six stops are decoupled")},
};

/* Position error against the continuous body at the end of a shortened run [m]. */
static void drift(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    const ff_paper_case *c = runs->run[run];
    if (!c)
        return;
    const ff_ideal_result *ideal = &c->session.ideal;
    x[0] =
        c->probe.final.position.x - ideal->state[(ideal->samples - 1) * (uint64_t)ideal->bodies].position.x;
}

static void energy_drift(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    if (runs->run[run])
        x[0] = runs->run[run]->probe.energy_drift;
}

static void angle(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    if (runs->run[run])
        x[0] = ff_paper_metrics(runs, run)->body[0].error_attitude;
}

#define SHORT(file, cycle, duration)                                      \
    {file, "direct", {"time.cycle=" cycle, "time.duration=" duration}}, { \
        file, DEFAULT, {                                                  \
            "time.cycle=" cycle, "time.duration=" duration                \
        }                                                                 \
    }
static const ff_paper_spec integration_runs[] = {
    SHORT(TRANSLATION, "0.1", "32"),
    SHORT(TRANSLATION, "0.1", "50"),
    SHORT(TRANSLATION, "0.01", "32"),
    SHORT(TRANSLATION, "0.01", "50"),
    SHORT(V, "0.1", "50"),
    {ROTATION, "direct:integrator=euler", {0}},
    {ROTATION, "direct:integrator=passive", {0}},
    {ROTATION, DEFAULT, {0}},
};
enum { EULER = 10, WITH_CHI, GEOMETRIC };
#define DRIFT(at, T, paper, first)                                                                      \
    {                                                                                                   \
        "II-B: position drift at " at " s, T = " T " s [m]", paper, FF_NUMBER("%.5f", drift, first, 0), \
            FF_NUMBER("%.1e", drift, (first) + 1, 0), FF_TEXT("0"),                                     \
            FF_TEXT("printed: Euler; ours: lie-midpoint")                                               \
    }
static const ff_paper_entry integration_rows[] = {
    DRIFT("32", "0.1", "0.05", 0),
    DRIFT("50", "0.1", "0.15", 2),
    DRIFT("32", "0.01", "a tenth", 4),
    DRIFT("50", "0.01", "a tenth", 6),
    {"V: position drift at 50 s, passive integrator, T = 0.1 s [m]",
     "removed (Fig. 16)",
     FF_KNOWN("%.1e", drift, 0, 8, 9, "0"),
     {0}},
    {"II-B: rotational energy drift, Euler, T = 0.1 s [J]", "grows (Fig. 8)",
     FF_KNOWN("%.2e", energy_drift, 0, EULER, GEOMETRIC, "0"),
     FF_TEXT("the paper's torque profile is only drawn; ours has its shape")},
    {"II-B: angle drift, Euler, T = 0.1 s [rad]",
     "(Fig. 7)",
     FF_KNOWN("%.2e", angle, 0, EULER, GEOMETRIC, "0"),
     {0}},
    {"V: angle drift, passive integrator, T = 0.1 s [rad]", "removed (Fig. 17)",
     FF_KNOWN("%.2e", angle, 0, WITH_CHI, GEOMETRIC, "0"),
     FF_TEXT("printed column with chi = torque; the literal (32) diverges")},
};

/* After the first contact [m/s]; with argument 1 its distance from the ideal one. */
static void speed(const ff_paper_runs *runs, int run, double error, double x[2]) {
    const ff_episode *e = ff_paper_episode(runs, run, 0), *ideal = ff_paper_episode(runs, IDEAL, 0);
    if (!e || (error != 0.0 && !ideal))
        return;
    x[0] = ff_vec3_norm(e->after[0].velocity);
    if (error != 0.0)
        x[0] = fabs(x[0] - ff_vec3_norm(ideal->after[0].velocity));
}

/* A field of ff_body_metrics of body 0, by its offset. */
static void figure(const ff_paper_runs *runs, int run, double offset, double x[2]) {
    const ff_metrics *m = ff_paper_metrics(runs, run);
    if (m)
        x[0] = *(const double *)(const void *)((const char *)&m->body[0] + (size_t)offset);
}

static void omega_error(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = ff_paper_metrics(runs, run)->body[0].error_omega * 180 / FF_PI;
}

static void force_ratio(const ff_paper_runs *runs, int run, double unused, double x[2]) {
    (void)unused;
    x[0] = ff_paper_metrics(runs, run)->peak_force_ratio[0];
}

#define Z                                                                                      \
    "satellites.client.velocity=[0, 0, 0.02]", "satellites.client.angular_velocity=[0, 0, 0]", \
        "time.duration=4"
static const ff_paper_spec overall_runs[] = {
    {VII, "ideal", {Z}},
    {VII, "direct", {Z}},
    {VII, PASSIVE, {Z}},
    {VII, "tdpa", {Z}},
    {VII, PASSIVE, {0}},
    {VII, CHI, {0}},
    {VII, "tdpa:observer=axis", {0}},
};
enum { LITERAL = 4, BY_TORQUE, AXIS };
#define FIGURE(field) ((double)offsetof(ff_body_metrics, field))
static const ff_paper_entry overall_rows[] = {
    {"VII: z speed after the first contact [m/s]", "as ideal (Fig. 22)",
     FF_CELLS("%.5f", speed, 0, PRINTED, OURS, IDEAL), FF_NUMBER("direct %.5f", speed, DIRECT, 0)},
    {"VII: velocity correction of the integrator [m/s]",
     "order 1e-4",
     FF_NUMBER("%.2e", figure, BY_TORQUE, FIGURE(max_velocity_correction)),
     FF_NUMBER("%.0f", figure, AXIS, FIGURE(max_velocity_correction)),
     {0},
     FF_TEXT("ours needs none: the default integrator is geometric")},
    {"VII: angular velocity correction of the integrator [rad/s]",
     "order 1e-4",
     FF_NUMBER("%.2e", figure, BY_TORQUE, FIGURE(max_omega_correction)),
     FF_NUMBER("%.0f", figure, AXIS, FIGURE(max_omega_correction)),
     {0},
     FF_NUMBER("printed with chi = torque; the literal (32) corrects by %.2g rad/s and more", figure, LITERAL,
               FIGURE(max_omega_correction))},
    {"VII: rebound speed error, first contacts [m/s]", "< 0.001",
     FF_KNOWN("%.5f", speed, 1, PRINTED, OURS, "0"),
     FF_NUMBER("during contact the error is v w tau = %.4f, and later contacts fall out of step", behind, 0,
               0.02)},
    {"VII: largest velocity error over 30 s [m/s]", "< 0.001",
     FF_KNOWN("%.4f", figure, FIGURE(error_velocity), BY_TORQUE, AXIS, "0"),
     FF_TEXT("at equal times; not reproduced: contacts shift in time")},
    {"VII: largest angular velocity error over 30 s [deg/s]", "0.3",
     FF_KNOWN("%.2f", omega_error, 0, BY_TORQUE, AXIS, "0"), FF_TEXT("the same")},
    {"VII: largest position error [m]",
     "0.015 (experiment)",
     FF_KNOWN("%.4f", figure, FIGURE(error_position), BY_TORQUE, AXIS, "0"),
     {0}},
    {"VII: least observer after dissipation [J]",
     ">= 0",
     FF_NUMBER("%.2g", least_observer, BY_TORQUE, 0),
     FF_NUMBER("%.2g", least_observer, AXIS, 0),
     {0},
     FF_TEXT("zero to rounding")},
    {"VII: peak robot force over ideal", "", FF_KNOWN("%.2f", force_ratio, 0, BY_TORQUE, AXIS, "1"),
     FF_TEXT("not in the paper: passive is not yet safe")},
};

static const ff_paper_spec experiment_runs[] = {
    {VII_A, "ideal", {0}}, {VII_A, "direct", {0}}, {VII_A, CHI, {0}}, {VII_A, "tdpa", {0}}};
static const ff_paper_entry experiment_rows[] = {
    {"VII-A: largest energy over start, 700 kg, off centre, no control", "diverges (Fig. 23)",
     FF_CELLS("%.3f", largest_energy, 0, DIRECT, DIRECT, IDEAL),
     FF_TEXT("delay and contacts of the facility are not given: 40 ms, 4000 N/m, 20 N s/m")},
    {"VII-A: the same, controlled",
     "no increase (Fig. 25)",
     FF_CELLS("%.3f", largest_energy, 0, PRINTED, OURS, IDEAL),
     {0}},
};

static const ff_paper_group groups[] = {
    {FF_LIST(delay_runs), FF_LIST(delay_rows), .whole = true},
    {FF_LIST(port_runs), FF_LIST(port_rows), .whole = true},
    {FF_LIST(integration_runs), FF_LIST(integration_rows), .whole = false},
    {FF_LIST(overall_runs), FF_LIST(overall_rows), .whole = true},
    {FF_LIST(experiment_runs), FF_LIST(experiment_rows), .whole = false},
};

const ff_paper ff_paper_destefano2019 = {
    "destefano2019", "De Stefano, Balachandran, Secchi 2019: passivity layer for delay and integration",
    FF_LIST(groups)};
