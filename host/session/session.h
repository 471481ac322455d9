/* session/session.h - one scenario from its file to its files: load, reference, run, judge, write. Nothing is
 * printed: outcomes and sentences are returned (text/notes.h), rows leave through a sink, the judgement is
 * `summary` and `metrics`. */
#ifndef FF_SESSION_SESSION_H
#define FF_SESSION_SESSION_H

#include "emulate/emulate.h"
#include "executive/run.h"
#include "ideal/ideal.h"
#include "record/log.h"
#include "record/store.h"
#include "report/collect.h"
#include "report/history.h"
#include "report/metrics.h"
#include "runs/runs.h"
#include "text/notes.h"

typedef struct ff_session {
    ff_scenario scenario; /* its files are in `held`, unless the options had another place for them */
    ff_held held;
    ff_ideal_result ideal;
    ff_run_result run;
    ff_metrics metrics;
    ff_emulate_result emulation;      /* scenario.emulates */
    ff_report_collector report;       /* empty without a folder */
    ff_history history;               /* states and events */
    bool devices;                     /* ran on devices: the safety limits acted */
    char *summary;                    /* JSON text; NULL: nothing was run */
    bool whole;                       /* every file that was asked for is written */
    char label[FF_NAME_SIZE];         /* the method's name, or what a variant is called */
    char refusal[1024];               /* why it was not loaded; "" */
    struct ff_variant *variant;       /* its own method with settings, where ff_session_open was given one */
    struct ff_session_course *course; /* while it is under way; NULL: it is not */
    /* where the scenario came from, for the log; the strings are the caller's */
    const char *path, *method, *set[FF_LOG_MAX_SETS];
    int sets;
} ff_session;

/* What runs the scenario: ff_run unless another is given. */
typedef void ff_runner(void *self, const ff_scenario *scenario, const ff_run_options *options,
                       ff_run_result *result);

typedef struct ff_session_options {
    const char *out;   /* folder for this run's files; NULL: none are written */
    bool csv;          /* log.csv */
    bool mcap;         /* log.mcap */
    bool plain;        /* its chunks are not compressed */
    bool unjudged;     /* no ideal reference is solved: nothing is compared with it */
    ff_sink extra;     /* one more consumer of the rows; row NULL: none */
    ff_runner *runner; /* NULL: ff_run */
    void *runner_self;
    /* The same of a scenario that emulates: as ff_emulate_arms_run; NULL: virtual. */
    ff_status (*emulator)(void *runner_self, const ff_scenario *scenario, ff_emulate_result *result,
                          char *message, size_t size);
    char *(*extend)(void *runner_self,
                    char *summary); /* more keys of summary.json; takes and gives malloc'ed; may be NULL */
    bool (*between)(void *user, const ff_run_access *access); /* as in ff_run_options */
    void *between_user;
    ff_obsw_opener *opener; /* as in ff_run_options */
    /* Both may be NULL. A phase covers from..to of the whole and does `amount` units of work (0: not
     * counted); progress is given the part of the phase that is done, and ends it by answering false. */
    void (*phase)(void *user, double from, double to, double amount, const char *unit);
    bool (*progress)(void *user, double part);
    void *user;
} ff_session_options;

/* A new session with the scenario loaded; or NULL, *outcome FF_REFUSED (the scenario) or FF_FAILED (memory)
 * and a line in notes. */
ff_session *ff_session_open(const char *path, const ff_scenario_options *options, ff_outcome *outcome,
                            ff_notes *notes);
/* The first URDF file that the scenario names, as it was read; NULL: none. */
const char *ff_session_description(const ff_session *session);
void ff_session_close(ff_session *session); /* NULL is allowed */
/* Both for a session in the caller's memory. FF_REFUSED: the scenario, with `refusal` and run.status, which
 * is FF_ERR_UNSUPPORTED where only the method cannot run it; nothing needs to be freed then. */
ff_outcome ff_session_load(ff_session *session, const char *path, const ff_scenario_options *options,
                           ff_notes *notes);
void ff_session_free(ff_session *session);

/* Everything that may refuse a loaded scenario before the first cycle of its run; ff_session_execute begins
 * with it. FF_DONE; FF_REFUSED with one line; FF_FAILED: memory. */
ff_outcome ff_session_prepare(const ff_scenario *scenario, ff_notes *notes);
/* Runs and writes summary.json and the logs. FF_DONE, whatever the verdict; FF_FAILED: the run, the disk or
 * memory, with a summary as far as there is one; FF_REFUSED: the folder cannot be written into, or nothing
 * can run what the scenario asks for. */
ff_outcome ff_session_execute(ff_session *session, const ff_session_options *options, ff_notes *notes);
/* The same cycle by cycle: begin, then step until it says that the run has ended, then end; `options` and
 * what they point to are lent until then. FF_REFUSED also: a scenario that emulates, or whose ideal orbit is
 * asked for, which run in one piece. Where begin does not say FF_DONE there is nothing to end. */
ff_outcome ff_session_begin(ff_session *session, const ff_session_options *options, ff_notes *notes);
/* What begin opened; NULL before it and after the end. */
ff_running *ff_session_running(const ff_session *session);
/* False: it has ended. */
bool ff_session_step(ff_session *session);
/* Why it ended before its last cycle: FF_FAILED with one line. FF_DONE: it did not. */
ff_outcome ff_session_failure(const ff_session *session, ff_notes *notes);
/* As ff_session_execute; a run that has not ended is stopped (FF_ERR_LIMIT). */
ff_outcome ff_session_end(ff_session *session, ff_notes *notes);
/* Left before its end, in place of that: the logs keep their rows. NULL is allowed. */
void ff_session_leave(ff_session *session);
/* State between two steps (text/keep.h). Refused also where log files are written. */
void ff_session_keep(ff_session *session, ff_keeper *keeper);
/* summary.json as it would be if the run ended here; malloc'ed, NULL: no memory. */
char *ff_session_peek(const ff_session *session);

/* A session that was run without a folder gathers what its report shows: from the rows that were recorded of
 * it, all columns of which the page shows those that are there. FF_FAILED: no memory. */
ff_outcome ff_session_collect(ff_session *session, const ff_store *rows, ff_notes *notes);
/* The log of a scenario that emulates, whose rows are made at its end. FF_ERR_MEMORY. */
ff_status ff_session_emulated(const ff_session *session, ff_store *store);
/* Writes folder/report.html with all sessions, which must have a summary. FF_FAILED: it cannot be written. */
ff_outcome ff_session_report(const ff_session *const *sessions, int count, const char *folder,
                             ff_notes *notes);

/* "free" or "constrained", "sampled" or "continuous": of a scenario that emulates. */
const char *ff_session_scheme(const ff_session *session);
const char *ff_session_controller(const ff_session *session);

/* A folder of its own for a session that is to be run (runs/runs.h): what was claimed is settled, or
 * abandoned. */
typedef struct ff_session_claim {
    ff_run_inputs inputs;
    ff_run_folder folder; /* .path for the session's `out` */
} ff_session_claim;
/* out: as of --out, NULL: out/NAME. FF_REFUSED: as ff_run_begin. */
ff_outcome ff_session_claim_folder(const ff_session *session, const char *out, bool force,
                                   const ff_run_program *program, ff_session_claim *claim, ff_notes *notes);
/* Writes the report and switches the folder in, unless the run was `stopped`; a session without a summary
 * leaves nothing. *where: the folder in which the report is; NULL: nowhere. The outcome as it was, or
 * FF_FAILED: report or folder. */
ff_outcome ff_session_settle(const ff_session *session, ff_run_folder *folder, ff_outcome outcome,
                             bool stopped, const char **where, ff_notes *notes);
void ff_session_claim_free(ff_session_claim *claim);

/* "pass" or "fail"; an emulation passes when it ends well: nothing else is required of it. */
const char *ff_session_verdict(const ff_session *session);
/* "csv,mcap" or "none" into options. FF_REFUSED: anything else. */
ff_outcome ff_session_logs(const char *list, ff_session_options *options, ff_notes *notes);

/* mkdir -p. FF_REFUSED: it cannot be written into. */
ff_outcome ff_session_make_folder(const char *path, ff_notes *notes);
/* Writes text to folder/name, whole or not at all. FF_FAILED. */
ff_outcome ff_session_write(const char *folder, const char *name, const char *text, ff_notes *notes);

#endif
