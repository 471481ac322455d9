/* he2022: every number and claim of section 4, on virtual contacts. */
#include "papers.h"

#define WALL "he2022/4-1.yaml"

/* delay [s], contact damping [N s/m] and noise [N] of both robots, contacts and sensors */
#define RUN(file, variant, delay, damping, noise)                                             \
    {                                                                                         \
        file, variant, {                                                                      \
            "satellites.servicer.robot.delay=" delay, "satellites.target.robot.delay=" delay, \
                "contacts.front.damping=" damping, "contacts.rear.damping=" damping,          \
                "satellites.servicer.sensor.force_noise=" noise,                              \
                "satellites.target.sensor.force_noise=" noise                                 \
        }                                                                                     \
    }
#define AS_PRINTED "damping:reading=printed"

static void cov(const ff_paper_runs *runs, int run, double n, double x[2]) {
    x[0] = ff_paper_info(runs, run, (int)n).cov;
}

static void cof(const ff_paper_runs *runs, int run, double n, double x[2]) {
    x[0] = ff_paper_info(runs, run, (int)n).cof;
}

/* Mean over the contacts of one run, and its standard deviation (26). */
static void mean_of(const ff_paper_runs *runs, int run, bool damping, double x[2]) {
    const ff_metrics *m = ff_paper_metrics(runs, run);
    double sum = 0.0, square = 0.0;
    int count = 0;
    for (int n = 0; m && n < m->episodes; n++) {
        const ff_episode *e = &m->episode[n];
        const double value = damping ? e->damping : e->stiffness;
        if (isnan(value) || isnan(e->end))
            continue;
        sum += value;
        square += value * value;
        count++;
    }
    const double mean = count ? sum / count : FF_NAN;
    x[0] = mean;
    x[1] = count ? sqrt(fmax(0.0, square / count - mean * mean)) : FF_NAN;
}

/* [N/mm], or [N s/mm] with argument 1 */
static void identified(const ff_paper_runs *runs, int run, double damping, double x[2]) {
    mean_of(runs, run, damping != 0.0, x);
    x[0] *= 1e-3;
    x[1] *= 1e-3;
}

/* (25) with the identified stiffness, or with the argument's [Hz]. */
static void frequency(const ff_paper_runs *runs, int run, double stiffness, double x[2]) {
    const ff_metrics *metrics = ff_paper_metrics(runs, run);
    if (!metrics)
        return;
    double k[2] = {stiffness, 0.0};
    if (!(stiffness > 0.0))
        mean_of(runs, run, false, k);
    const double m = 1.0 / (metrics->model[0].mass_inv + metrics->model[1].mass_inv);
    x[0] = sqrt(k[0] / m) / (2 * FF_PI);
}

#define DELAYS(delay)                                                                      \
    RUN(WALL, "ideal", delay, "100", "0"), RUN(WALL, "direct", delay, "100", "0"),         \
        RUN(WALL, AS_PRINTED, delay, "100", "0"), RUN(WALL, "damping", delay, "100", "0"), \
        RUN(WALL, AS_PRINTED, delay, "0", "0"), RUN(WALL, "damping", delay, "0", "0")
static const ff_paper_spec delay_runs[] = {DELAYS("0.01"), DELAYS("0.02"), DELAYS("0.03")};
#define DELAY_ROWS(ms, first)                                                            \
    {"4.1: CoV of the first collision, no control, " ms " ms",                           \
     "diverges",                                                                         \
     FF_CELLS("%.4f", cov, 0, (first) + 1, (first) + 1, first),                          \
     {0}},                                                                               \
        {"4.1: the same, controlled, " ms " ms", "about 1 (Fig. 12)",                    \
         FF_CELLS("%.4f", cov, 0, (first) + 2, (first) + 3, first),                      \
         FF_TEXT("printed over-damps: the delayed damping force dissipates once more")}, \
    {                                                                                    \
        "4.1: the same without contact damping, " ms " ms", "1 (\"unchangeable\")",      \
            FF_KNOWN("%.4f", cov, 0, (first) + 4, (first) + 5, "1"), {                   \
            0                                                                            \
        }                                                                                \
    }
#define COLLISION(number, n)                                                                                 \
    {                                                                                                        \
        "4.1: CoV of collision " number ", 20 ms", "about 1 (Fig. 12)", FF_CELLS("%.4f", cov, n, 8, 9, 6), { \
            0                                                                                                \
        }                                                                                                    \
    }
static const ff_paper_entry delay_rows[] = {
    DELAY_ROWS("10", 0), DELAY_ROWS("20", 6), DELAY_ROWS("30", 12),
    COLLISION("1", 0),   COLLISION("2", 1),   COLLISION("3", 2),
};

static const ff_paper_spec identification_runs[] = {RUN(WALL, AS_PRINTED, "0.02", "100", "0.2"),
                                                    RUN(WALL, "damping", "0.02", "100", "0.2")};
static const ff_paper_entry identification_rows[] = {
    {"4.1: mean identified stiffness [N/mm]", "70.23", FF_KNOWN("%.2f", identified, 0, 0, 1, "70"),
     FF_TEXT("0.2 N of noise, 20 ms")},
    {"4.1: mean identified damping [N s/mm]", "0.068", FF_KNOWN("%.3f", identified, 1, 0, 1, "0.065"),
     FF_TEXT("true mean over the time of the contact; it grows from 0 to 0.1 with depth")},
};

enum { PRINTED, OURS, DIRECT, IDEAL };
#define MASS(file)                                                                               \
    {                                                                                            \
        RUN(file, AS_PRINTED, "0.02", "100", "0.2"), RUN(file, "damping", "0.02", "100", "0.2"), \
            RUN(file, "direct", "0.02", "100", "0.2"), RUN(file, "ideal", "0.02", "100", "0.2")  \
    }
static const ff_paper_spec low_runs[] = MASS("he2022/4-2-low.yaml"), middle_runs[] = MASS("he2022/4-2.yaml"),
                           high_runs[] = MASS("he2022/4-2-high.yaml");
#define MASS_ROWS(kg, paper, stiffness)                                                        \
    {                                                                                          \
        {"4.2: contact frequency (25), " kg " kg [Hz]", paper,                                 \
         FF_NUMBER("%.3f", frequency, PRINTED, 0),      FF_NUMBER("%.3f", frequency, OURS, 0), \
         FF_NUMBER("%.3f", frequency, OURS, 78630),     {0}},                                  \
            {"4.2: stiffness, mean and (26), " kg " kg [N/mm]",                                \
             stiffness,                                                                        \
             FF_KNOWN("%.2f, %.2f", identified, 0, PRINTED, OURS, "78.63"),                    \
             {0}},                                                                             \
            {"4.2: CoV after three collisions, " kg " kg", "converges (Fig. 17)",              \
             FF_CELLS("%.4f", cov, 2, PRINTED, OURS, IDEAL),                                   \
             FF_NUMBER("without control %.2f", cov, DIRECT, 2)},                               \
        {                                                                                      \
            "4.2: CoF of the third collision, " kg " kg", "falls (Fig. 17)",                   \
                FF_CELLS("%.4f", cof, 2, PRINTED, OURS, IDEAL),                                \
                FF_NUMBER("without control %.2f", cof, DIRECT, 2)                              \
        }                                                                                      \
    }
static const ff_paper_entry low_rows[] = MASS_ROWS("900", "-", "very close"),
                            middle_rows[] = MASS_ROWS("450", "2.2", "78.63"),
                            high_rows[] = MASS_ROWS("300", "-", "very close");

/* Largest difference of the satellites' velocities after each contact and at the end [m/s], of a run with one
 * robot and of the run two before it. */
static void velocity_difference(const ff_paper_runs *runs, int run, double unused, double out[2]) {
    (void)unused;
    const ff_metrics *x = ff_paper_metrics(runs, run - 2), *y = ff_paper_metrics(runs, run);
    if (!x || !y || x->episodes != y->episodes)
        return;
    out[0] = 0.0;
    for (int i = 0; i < 2; i++) {
        for (int n = 0; n < x->episodes; n++)
            if (!isnan(x->episode[n].end))
                out[0] = fmax(out[0], ff_vec3_norm(ff_vec3_sub(x->episode[n].after[i].velocity,
                                                               y->episode[n].after[i].velocity)));
        out[0] =
            fmax(out[0], ff_vec3_norm(ff_vec3_sub(x->body[i].final.velocity, y->body[i].final.velocity)));
    }
}

/* Fig. 5: the paper's facility has one robot. */
#define ONE_ROBOT(section)                                                                         \
    {                                                                                              \
        {"he2022/" section ".yaml", AS_PRINTED, {0}}, {"he2022/" section ".yaml", "damping", {0}}, \
            {"he2022/" section "-one-robot.yaml", AS_PRINTED, {0}},                                \
            {"he2022/" section "-one-robot.yaml", "damping", {0}}, {                               \
            "he2022/" section "-one-robot.yaml", "ideal", {                                        \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define ONE_ROBOT_ROWS(section, paper)                                \
    {                                                                 \
        {section ": CoV after three collisions, one robot (Fig. 5)",  \
         paper,                                                       \
         FF_CELLS("%.4f", cov, 2, 2, 3, 4),                           \
         {0}},                                                        \
        {                                                             \
            section ": one robot against two, velocities [m/s]", "-", \
                FF_KNOWN("%.1e", velocity_difference, 0, 2, 3, "0"),  \
                FF_TEXT("largest, after each contact and at the end") \
        }                                                             \
    }
static const ff_paper_spec one_wall_runs[] = ONE_ROBOT("4-1"), one_real_runs[] = ONE_ROBOT("4-2");
static const ff_paper_entry one_wall_rows[] = ONE_ROBOT_ROWS("4.1", "about 1 (Fig. 12)"),
                            one_real_rows[] = ONE_ROBOT_ROWS("4.2", "converges (Fig. 17)");

static const ff_paper_group groups[] = {
    {FF_LIST(delay_runs), FF_LIST(delay_rows), .whole = false},
    {FF_LIST(identification_runs), FF_LIST(identification_rows), .whole = false},
    {FF_LIST(low_runs), FF_LIST(low_rows), .whole = true},
    {FF_LIST(middle_runs), FF_LIST(middle_rows), .whole = true},
    {FF_LIST(high_runs), FF_LIST(high_rows), .whole = true},
    {FF_LIST(one_wall_runs), FF_LIST(one_wall_rows), .whole = false},
    {FF_LIST(one_real_runs), FF_LIST(one_real_rows), .whole = false},
};

const ff_paper ff_paper_he2022 = {
    "he2022", "He, Shen, Gao 2022: passivity with the contact damping identified on line", FF_LIST(groups)};
