/* he2022: every number and claim of section 4, on virtual contacts. */
#include <stdio.h>

#include "papers.h"

#define FOLDER "he2022/"

/* Settings shared by the runs of one row. */
typedef struct he_case {
    const char *file;
    const char *delay[2], *damping[2], *noise[2];
} he_case;

static const he_case wall = {
    FOLDER "4-1.yaml",
    {"satellites.servicer.robot.delay=0.02", "satellites.target.robot.delay=0.02"},
    {"contacts.front.damping=100", "contacts.rear.damping=100"},
    {"satellites.servicer.sensor.force_noise=0", "satellites.target.sensor.force_noise=0"},
};

static ff_paper_case *run(ff_paper_table *table, const he_case *c, const char *variant) {
    return ff_paper_run(table, c->file, variant, c->delay[0], c->delay[1], c->damping[0], c->damping[1],
                        c->noise[0], c->noise[1], NULL);
}

static double cov(const ff_paper_case *c, int n) {
    return ff_paper_info(c, n).cov;
}

static double cof(const ff_paper_case *c, int n) {
    return ff_paper_info(c, n).cof;
}

static double cov_of(ff_paper_table *table, const he_case *c, const char *variant, int n) {
    ff_paper_case *ran = run(table, c, variant);
    const double value = cov(ran, n);
    ff_paper_case_free(ran);
    return value;
}

/* Mean over the contacts of one run; sd may be NULL. */
static double mean_of(const ff_paper_case *c, bool damping, double *sd) {
    double sum = 0.0, square = 0.0;
    int count = 0;
    for (int n = 0; c && n < c->session.metrics.episodes; n++) {
        const ff_episode *e = &c->session.metrics.episode[n];
        const double x = damping ? e->damping : e->stiffness;
        if (isnan(x) || isnan(e->end))
            continue;
        sum += x;
        square += x * x;
        count++;
    }
    const double mean = count ? sum / count : FF_NAN;
    if (sd)
        *sd = count ? sqrt(fmax(0.0, square / count - mean * mean)) : FF_NAN; /* (26) */
    return mean;
}

static void delay_rows(ff_paper_table *table) {
    static const struct {
        const char *name, *set[2];
    } delay[] = {
        {"10 ms", {"satellites.servicer.robot.delay=0.01", "satellites.target.robot.delay=0.01"}},
        {"20 ms", {"satellites.servicer.robot.delay=0.02", "satellites.target.robot.delay=0.02"}},
        {"30 ms", {"satellites.servicer.robot.delay=0.03", "satellites.target.robot.delay=0.03"}},
    };
    for (int i = 0; i < 3; i++) {
        he_case c = wall;
        char claim[96];
        c.delay[0] = delay[i].set[0];
        c.delay[1] = delay[i].set[1];
        snprintf(claim, sizeof claim, "4.1: CoV of the first collision, no control, %s", delay[i].name);
        ff_paper_row *r = ff_paper_add(table, claim, "diverges");
        const double ideal = cov_of(table, &c, "ideal", 0), direct = cov_of(table, &c, "direct", 0);
        FF_CELLS(r, "%.4f", direct, direct, ideal);
        snprintf(claim, sizeof claim, "4.1: the same, controlled, %s", delay[i].name);
        r = ff_paper_add(table, claim, "about 1 (Fig. 12)");
        FF_CELLS(r, "%.4f", cov_of(table, &c, "damping:reading=printed", 0), cov_of(table, &c, "damping", 0),
                 ideal);
        FF_CELL(r->remark, "printed over-damps: the delayed damping force dissipates once more");
        he_case lossless = c;
        lossless.damping[0] = "contacts.front.damping=0";
        lossless.damping[1] = "contacts.rear.damping=0";
        snprintf(claim, sizeof claim, "4.1: the same without contact damping, %s", delay[i].name);
        r = ff_paper_add(table, claim, "1 (\"unchangeable\")");
        FF_CELLS_KNOWN(r, "%.4f", cov_of(table, &lossless, "damping:reading=printed", 0),
                       cov_of(table, &lossless, "damping", 0), "1");
    }
    ff_paper_case *ideal = run(table, &wall, "ideal"), *ours = run(table, &wall, "damping"),
                  *printed = run(table, &wall, "damping:reading=printed");
    for (int n = 0; n < 3; n++) {
        char claim[96];
        snprintf(claim, sizeof claim, "4.1: CoV of collision %d, 20 ms", n + 1);
        ff_paper_row *r = ff_paper_add(table, claim, "about 1 (Fig. 12)");
        FF_CELLS(r, "%.4f", cov(printed, n), cov(ours, n), cov(ideal, n));
    }
    FF_PAPER_FREE(ideal, ours, printed);
}

static void identification_rows(ff_paper_table *table) {
    he_case c = wall;
    c.noise[0] = "satellites.servicer.sensor.force_noise=0.2";
    c.noise[1] = "satellites.target.sensor.force_noise=0.2";
    ff_paper_case *ours = run(table, &c, "damping"), *printed = run(table, &c, "damping:reading=printed");
    ff_paper_row *r = ff_paper_add(table, "4.1: mean identified stiffness [N/mm]", "70.23");
    FF_CELLS_KNOWN(r, "%.2f", 1e-3 * mean_of(printed, false, NULL), 1e-3 * mean_of(ours, false, NULL), "70");
    FF_CELL(r->remark, "0.2 N of noise, 20 ms");
    r = ff_paper_add(table, "4.1: mean identified damping [N s/mm]", "0.068");
    FF_CELLS_KNOWN(r, "%.3f", 1e-3 * mean_of(printed, true, NULL), 1e-3 * mean_of(ours, true, NULL), "0.065");
    FF_CELL(r->remark, "true mean over the time of the contact; it grows from 0 to 0.1 with depth");
    FF_PAPER_FREE(ours, printed);
}

static void real_rows(ff_paper_table *table) {
    static const struct {
        const char *file, *name, *paper;
    } mass[] = {{FOLDER "4-2-low.yaml", "900 kg", "-"},
                {FOLDER "4-2.yaml", "450 kg", "2.2"},
                {FOLDER "4-2-high.yaml", "300 kg", "-"}};
    for (int i = 0; i < 3; i++) {
        he_case c = wall;
        char claim[96];
        c.file = mass[i].file;
        c.noise[0] = "satellites.servicer.sensor.force_noise=0.2";
        c.noise[1] = "satellites.target.sensor.force_noise=0.2";
        ff_paper_case *ours = run(table, &c, "damping"), *printed = run(table, &c, "damping:reading=printed"),
                      *direct = run(table, &c, "direct"), *ideal = run(table, &c, "ideal");
        if (ours && printed && direct && ideal) {
            double sd, printed_sd;
            const double k = mean_of(ours, false, &sd), pk = mean_of(printed, false, &printed_sd);
            const double m =
                1.0 / (ours->session.metrics.model[0].mass_inv + ours->session.metrics.model[1].mass_inv);
            snprintf(claim, sizeof claim, "4.2: contact frequency (25), %s [Hz]", mass[i].name);
            ff_paper_row *r = ff_paper_add(table, claim, mass[i].paper);
            FF_CELLS(r, "%.3f", sqrt(pk / m) / (2 * FF_PI), sqrt(k / m) / (2 * FF_PI),
                     sqrt(78630 / m) / (2 * FF_PI));
            snprintf(claim, sizeof claim, "4.2: stiffness, mean and (26), %s [N/mm]", mass[i].name);
            r = ff_paper_add(table, claim, i == 1 ? "78.63" : "very close");
            FF_CELL(r->printed, "%.2f, %.2f", 1e-3 * pk, 1e-3 * printed_sd);
            FF_CELL(r->ours, "%.2f, %.2f", 1e-3 * k, 1e-3 * sd);
            FF_CELL(r->ideal, "78.63");
            snprintf(claim, sizeof claim, "4.2: CoV after three collisions, %s", mass[i].name);
            r = ff_paper_add(table, claim, "converges (Fig. 17)");
            FF_CELLS(r, "%.4f", cov(printed, 2), cov(ours, 2), cov(ideal, 2));
            FF_CELL(r->remark, "without control %.2f", cov(direct, 2));
            snprintf(claim, sizeof claim, "4.2: CoF of the third collision, %s", mass[i].name);
            r = ff_paper_add(table, claim, "falls (Fig. 17)");
            FF_CELLS(r, "%.4f", cof(printed, 2), cof(ours, 2), cof(ideal, 2));
            FF_CELL(r->remark, "without control %.2f", cof(direct, 2));
        }
        FF_PAPER_FREE(ours, printed, direct, ideal);
    }
}

/* Largest difference of the satellites' velocities after each contact and at the end [m/s]. */
static double velocity_difference(const ff_paper_case *a, const ff_paper_case *b) {
    if (!a || !b || a->session.metrics.episodes != b->session.metrics.episodes)
        return FF_NAN;
    const ff_metrics *x = &a->session.metrics, *y = &b->session.metrics;
    double largest = 0.0;
    for (int i = 0; i < 2; i++) {
        for (int n = 0; n < x->episodes; n++)
            if (!isnan(x->episode[n].end))
                largest = fmax(largest, ff_vec3_norm(ff_vec3_sub(x->episode[n].after[i].velocity,
                                                                 y->episode[n].after[i].velocity)));
        largest =
            fmax(largest, ff_vec3_norm(ff_vec3_sub(x->body[i].final.velocity, y->body[i].final.velocity)));
    }
    return largest;
}

/* Fig. 5: the paper's facility has one robot. */
static void one_robot_rows(ff_paper_table *table) {
    static const struct {
        const char *two, *one, *name;
    } file[] = {{FOLDER "4-1.yaml", FOLDER "4-1-one-robot.yaml", "4.1"},
                {FOLDER "4-2.yaml", FOLDER "4-2-one-robot.yaml", "4.2"}};
    for (int i = 0; i < 2; i++) {
        char claim[96];
        ff_paper_case *two = ff_paper_run(table, file[i].two, "damping", NULL),
                      *two_printed = ff_paper_run(table, file[i].two, "damping:reading=printed", NULL),
                      *one = ff_paper_run(table, file[i].one, "damping", NULL),
                      *printed = ff_paper_run(table, file[i].one, "damping:reading=printed", NULL),
                      *ideal = ff_paper_run(table, file[i].one, "ideal", NULL);
        snprintf(claim, sizeof claim, "%s: CoV after three collisions, one robot (Fig. 5)", file[i].name);
        ff_paper_row *r = ff_paper_add(table, claim, i ? "converges (Fig. 17)" : "about 1 (Fig. 12)");
        FF_CELLS(r, "%.4f", cov(printed, 2), cov(one, 2), cov(ideal, 2));
        snprintf(claim, sizeof claim, "%s: one robot against two, velocities [m/s]", file[i].name);
        r = ff_paper_add(table, claim, "-");
        FF_CELLS_KNOWN(r, "%.1e", velocity_difference(two_printed, printed), velocity_difference(two, one),
                       "0");
        FF_CELL(r->remark, "largest, after each contact and at the end");
        FF_PAPER_FREE(two, two_printed, one, printed, ideal);
    }
}

void ff_paper_he2022(ff_paper_table *table) {
    delay_rows(table);
    identification_rows(table);
    real_rows(table);
    one_robot_rows(table);
}
