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

/* What the rows need beyond the summary: energies at the two ports over time, body 0. */
typedef struct ff_paper_probe {
    double observer_min;    /* [J] least of -sum F_e.V_c T: the paper's E_obs1 with alpha = 0 */
    double environment_end; /* [J] -sum F_e.V_r T at the end: at the interaction port */
    double environment_min;
    double observer_end;
    ff_rigid_state final;
    double energy_drift; /* [J] largest |H - H_ideal| */
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

/* One claim of a paper: its word on it, what its equations give as printed, what freefloat's default gives,
 * the ideal, and a remark. Empty cells print as "-". */
typedef struct ff_paper_entry {
    const char *claim, *paper;
    ff_paper_cell printed, ours, ideal, remark;
} ff_paper_entry;

typedef struct ff_paper_group {
    const ff_paper_spec *spec;
    int specs;
    const ff_paper_entry *entry;
    int entries;
    bool whole; /* no rows where a run failed */
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
