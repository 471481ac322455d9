/* The published cases rerun. A paper is a table: groups of runs, and rows whose cells name a run and a
 * quantity of it. papers.c runs and prints them; each paper's file holds its table and the quantities only it
 * needs. */
#ifndef FF_PAPERS_H
#define FF_PAPERS_H

#include "show.h"

/* One run: FILE below scenarios/papers/, as a variant ("tdpa:reading=printed"), with overrides. */
typedef struct ff_paper_spec {
    const char *file, *variant;
    const char *set[6];
} ff_paper_spec;

/* What the rows need beyond the summary: energies of body 0 over time. [0] translation, [1] rotation. */
typedef struct ff_paper_probe {
    double observer_min;    /* [J] least of -sum F_e.V_c T: the paper's E_obs1 with alpha = 0 */
    double environment_end; /* [J] -sum F_e.V_r T at the end: at the interaction port */
    double environment_min;
    double observer_end;
    ff_rigid_state final;
    double observer[2];     /* [J] -sum F_e.V_s T so far */
    double observer_low[2]; /* and its least value */
    double extra[2];        /* [J] sum of (21), (24): what Euler adds by the paper's count */
    double port[2];         /* [J] sum of T F.V_c, with the velocity at the end of each cycle */
    double port_error[2];   /* [J] largest |H - H(0) - port| */
    double energy_error[2]; /* [J] largest |H - H_ideal| at the samples */
    double output_error[2]; /* [J] the same of the output V_c */
    double force, torque;   /* [N], [N m] largest measured */
    double star_tracker;    /* [rad] largest error of body 1's attitude as its robot shows it (23) */
    ff_vec3 touched;        /* [N2 m] sum over f^2 of the true contact point of contact 0 on its `against` */
    double touched_weight;  /* [N2] */
    ff_vec3 velocity;       /* [m/s] at the start */
    double axis;            /* largest |v_i| over |v_i(0)| of one axis, inertial */
    double start[2];        /* [J] H(0) */
    ff_rigid_load last;     /* F_c and loads of the cycle before */
    ff_twist correction;    /* V_pc of it */
    bool begun;
} ff_paper_probe;

typedef struct ff_paper_case {
    ff_session session;
    ff_paper_probe probe;
} ff_paper_case;

enum { FF_PAPER_RUNS = 20 };

/* The runs of a group, in the order of its specs; NULL: it could not be run. */
typedef struct ff_paper_runs {
    ff_paper_case *run[FF_PAPER_RUNS];
    void *memory; /* what the group's `prepare` made of them */
} ff_paper_runs;

/* One or two numbers of a run; FF_NAN before the call, and to be left so for a run that is NULL. */
typedef void ff_paper_number(const ff_paper_runs *runs, int run, double argument, double x[2]);
/* The same as text. */
typedef void ff_paper_text(const ff_paper_runs *runs, int run, double argument, char *text, size_t size);

typedef struct ff_paper_cell {
    const char *format;      /* of the numbers; without them the cell's own text */
    ff_paper_number *number; /* or NULL */
    int run;
    double argument;
    ff_paper_text *text; /* or NULL */
} ff_paper_cell;

#define FF_TEXT(words) \
    { .format = (words) }
#define FF_NUMBER(form, of, which, with) \
    { .format = (form), .number = (of), .run = (which), .argument = (with) }
/* The cells printed, ours, ideal: one quantity of three runs, or of two and a known value. */
#define FF_CELLS(form, of, with, printed_, ours_, ideal_) \
    FF_NUMBER(form, of, printed_, with), FF_NUMBER(form, of, ours_, with), FF_NUMBER(form, of, ideal_, with)
#define FF_KNOWN(form, of, with, printed_, ours_, ideal_) \
    FF_NUMBER(form, of, printed_, with), FF_NUMBER(form, of, ours_, with), FF_TEXT(ideal_)

/* The columns that hold numbers of ours. */
typedef enum ff_paper_column {
    FF_COLUMN_PRINTED, /* the paper's equations to the letter */
    FF_COLUMN_OURS,    /* freefloat's default */
    FF_COLUMN_BEST,    /* the best variant of the paper's method, by its name */
    FF_COLUMN_FUSED,   /* the method `fused` */
    FF_COLUMN_IDEAL,   /* without delay and sampling, or a closed form */
    FF_COLUMNS
} ff_paper_column;

/* A number of a row lies between two bounds, which are part of what is allowed. */
typedef struct ff_paper_check {
    bool given;
    ff_paper_column column;
    int part; /* of the cell's one or two numbers */
    double low, high;
} ff_paper_check;

#define FF_BETWEEN(column_, low_, high_) \
    { .given = true, .column = FF_COLUMN_##column_, .low = (low_), .high = (high_) }
#define FF_NEAR(column_, value_, tolerance_) \
    FF_BETWEEN(column_, (value_) - (tolerance_), (value_) + (tolerance_))
#define FF_SECOND(column_, value_, tolerance_)                                                   \
    {                                                                                            \
        .given = true, .column = FF_COLUMN_##column_, .part = 1, .low = (value_) - (tolerance_), \
        .high = (value_) + (tolerance_)                                                          \
    }

/* What a paper says, as bounds of the number that a row holds ("does not grow": at most 1), and the columns
 * that keep to it, of those with a number: 'p', 'o', 'b', 'f'. The others must not, or the row is out of
 * date. `fitted`: an input that the paper does not state was chosen to meet its number, which then shows
 * nothing. */
typedef struct ff_paper_word {
    const char *kept_by; /* NULL: the paper says nothing that can be compared */
    double low, high;
    bool fitted;
} ff_paper_word;

#define FF_SAYS(low_, high_, kept_by_) .word = {.kept_by = (kept_by_), .low = (low_), .high = (high_)}
#define FF_FITTED(low_, high_, kept_by_) \
    .word = {.kept_by = (kept_by_), .low = (low_), .high = (high_), .fitted = true}
#define FF_ASSERT(...) .check = {__VA_ARGS__}

enum { FF_PAPER_CHECKS = 6 };

/* One claim of a paper: its word on it, what its equations give as printed, what freefloat's default gives,
 * the ideal, and a remark; the best variant and `fused` where they differ from the default. Empty cells are
 * left out. What `word` and `check` assert is judged in every run of the command, so a table that is printed
 * without complaint is a tested one; a row that asserts nothing is a complaint itself. */
typedef struct ff_paper_entry {
    const char *claim, *paper;
    ff_paper_cell printed, ours, ideal, remark;
    ff_paper_cell best, fused;
    const char *best_name; /* the variant of `best` */
    ff_paper_word word;
    ff_paper_check check[FF_PAPER_CHECKS];
} ff_paper_entry;

typedef struct ff_paper_group {
    const ff_paper_spec *spec;
    int specs;
    const ff_paper_entry *entry;
    int entries;
    bool whole; /* no rows where a run failed */
    bool slow;  /* takes seconds: left out by --short */
    /* Once the runs are there: into runs->memory, of `bytes` bytes, zero. False: no rows. May be NULL. */
    bool (*prepare)(ff_paper_runs *runs);
    size_t bytes;
} ff_paper_group;

#define FF_LIST(array) (array), (int)(sizeof(array) / sizeof *(array))

typedef struct ff_paper {
    const char *key, *title;
    const ff_paper_group *group;
    int groups;
} ff_paper;

extern const ff_paper ff_paper_destefano2019, ff_paper_he2022, ff_paper_destefano2021, ff_paper_aghili,
    ff_paper_lange;

/* Episode n of a run's body 0, or NULL. */
const ff_episode *ff_paper_episode(const ff_paper_runs *runs, int run, int n);
/* Its ratios, not a number where there is none. */
ff_episode_info ff_paper_info(const ff_paper_runs *runs, int run, int n);
const ff_metrics *ff_paper_metrics(const ff_paper_runs *runs, int run); /* or NULL */

#endif
