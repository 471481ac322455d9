/* The published cases rerun: each paper has one file with its rows, all share this frame. */
#ifndef FF_PAPERS_H
#define FF_PAPERS_H

#include "session.h"

/* One claim of a paper, as text: paper / printed reading / ours / ideal / remark. Empty cells print as "-".
 */
typedef struct ff_paper_row {
    char claim[96], paper[64], printed[64], ours[64], ideal[64], remark[160];
} ff_paper_row;

typedef struct ff_paper_table {
    ff_paper_row *row;
    int rows, capacity;
    bool quiet;
    bool failed; /* a case could not be run */
} ff_paper_table;

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

/* Runs FILE (below scenarios/papers/) as a variant, e.g. "tdpa:reading=printed", with extra overrides ended
 * by NULL. NULL after one line on stderr and table->failed when it cannot. Free with ff_paper_case_free. */
ff_paper_case *ff_paper_run(ff_paper_table *table, const char *file, const char *variant, ...)
    __attribute__((sentinel));
void ff_paper_case_free(ff_paper_case *c); /* NULL is allowed */
void ff_paper_cases_free(ff_paper_case *const *c, size_t count);
#define FF_PAPER_FREE(...)                                     \
    ff_paper_cases_free((ff_paper_case *const[]){__VA_ARGS__}, \
                        sizeof(ff_paper_case *[]){__VA_ARGS__} / sizeof(ff_paper_case *))
/* The next row: claim and the paper's word on it; the other cells are empty. */
ff_paper_row *ff_paper_add(ff_paper_table *table, const char *claim, const char *paper);
/* printf into one cell of a row; into two or three alike. */
#define FF_CELL(field, ...) snprintf(field, sizeof field, __VA_ARGS__)
#define FF_CELLS(row, format, printed_, ours_, ideal_)                               \
    (FF_CELL((row)->printed, format, printed_), FF_CELL((row)->ours, format, ours_), \
     FF_CELL((row)->ideal, format, ideal_))
#define FF_CELLS_KNOWN(row, format, printed_, ours_, ideal_)                         \
    (FF_CELL((row)->printed, format, printed_), FF_CELL((row)->ours, format, ours_), \
     FF_CELL((row)->ideal, "%s", ideal_))

/* Episode n of body 0, or NULL. */
const ff_episode *ff_paper_episode(const ff_paper_case *c, int n);
/* Its ratios, not a number where there is none. */
ff_episode_info ff_paper_info(const ff_paper_case *c, int n);

void ff_paper_destefano2019(ff_paper_table *table);
void ff_paper_he2022(ff_paper_table *table);
void ff_paper_destefano2021(ff_paper_table *table);
void ff_paper_aghili(ff_paper_table *table);
void ff_paper_lange(ff_paper_table *table);

#endif
