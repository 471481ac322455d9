/* campaign/conduct.h - a campaign from its checked description to its folder: begin, run, finish. Nothing is
 * printed: what there is to say is in the notes and in the struct. Under mpirun every rank begins and runs;
 * rank 0 keeps the files and finishes. */
#ifndef FF_CAMPAIGN_CONDUCT_H
#define FF_CAMPAIGN_CONDUCT_H

#include "campaign/output.h"
#include "campaign/pool.h"
#include "text/notes.h"

typedef struct ff_conduct_options {
    const char *folder; /* of rank 0, locked; NULL: there is none, and nothing begins */
    int threads;        /* of this rank, >= 1 */
    /* All may be NULL. `begin` names what is done next ("checking", "runs", "logs"), progress is called a few
     * times a second and stops it by answering false, `end` follows. */
    void (*begin)(void *user, const char *what);
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void (*end)(void *user);
    void *user;
} ff_conduct_options;

typedef struct ff_conduct {
    const ff_campaign *campaign;
    ff_conduct_options options;
    ff_journal journal;  /* rank 0; slots.done when it begins: runs that need not be made */
    ff_pool_result pool; /* of the runs made now */
    ff_output *output;   /* after ff_conduct_finish; NULL: there is none */
    int kept;            /* logs written */
} ff_conduct;

/* Where a campaign's results go; it stays where it is until its folder is finished or abandoned. */
typedef struct ff_conduct_place {
    char key[40], methods[1024];
    ff_run_folder folder;
} ff_conduct_place;

/* The folder of a campaign's results: one that an earlier process began, or a new one. A complete one of the
 * same inputs gives its journal: nothing is run again. FF_REFUSED: as ff_run_begin. */
ff_outcome ff_conduct_claim(const ff_campaign *campaign, const char *out, bool force,
                            const ff_run_program *program, ff_conduct_place *place, ff_notes *notes);
/* Opens the folder's journal. FF_REFUSED on every rank where rank 0 cannot. Repairs of what an earlier
 * process left half done are warnings. */
ff_outcome ff_conduct_begin(const ff_campaign *campaign, const ff_ranks *ranks,
                            const ff_conduct_options *options, ff_conduct *conduct, ff_notes *notes);
/* Checks every sample's scenario, once for a folder, then makes the runs that the journal lacks. FF_REFUSED:
 * a sample's scenario is bad; FF_FAILED: the disk; or stopped by `progress` (pool.stopped), with no error.
 * Stops the ranks at its end. */
ff_outcome ff_conduct_run(ff_conduct *conduct, ff_ranks *ranks, ff_notes *notes);
/* Rank 0: results.csv, the maps, summary.json, report.html, and the logs that `keep` asks for. FF_FAILED: one
 * of them could not be written. */
ff_outcome ff_conduct_finish(ff_conduct *conduct, ff_notes *notes);
void ff_conduct_free(ff_conduct *conduct);

/* What a campaign would cost, from probe runs of about a second. */
typedef struct ff_conduct_cost {
    double runs, sample_s, seconds, bytes;
    int probes, probes_failed; /* runs */
} ff_conduct_cost;

/* workers: threads times ranks. FF_FAILED: no memory. */
ff_outcome ff_conduct_estimate(const ff_campaign *campaign, double workers, ff_conduct_cost *cost,
                               ff_notes *notes);

/* campaign/keep.c: the logs of the worst and the failed runs, each in folder/kept/INDEX-METHOD. How many, or
 * -1 with an error. */
int ff__conduct_keep(const ff_conduct *conduct, ff_notes *notes);

#endif
