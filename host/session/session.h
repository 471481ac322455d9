/* session/session.h - one scenario from its file to its files: load, reference, run, judge, write. Nothing is
 * printed: outcomes and sentences are returned (text/notes.h), rows leave through a sink, the judgement is
 * `summary` and `metrics`. */
#ifndef FF_SESSION_SESSION_H
#define FF_SESSION_SESSION_H

#include "emulate/emulate.h"
#include "executive/run.h"
#include "ideal/ideal.h"
#include "record/log.h"
#include "report/collect.h"
#include "report/history.h"
#include "report/metrics.h"
#include "text/notes.h"

typedef struct ff_session {
    ff_scenario scenario; /* its files are in `held`, unless the options had another place for them */
    ff_held held;
    ff_ideal_result ideal;
    ff_run_result run;
    ff_metrics metrics;
    ff_emulate_result emulation; /* scenario.emulates */
    ff_report_collector report;  /* empty without a folder */
    ff_history history;          /* states and events */
    bool devices;                /* ran on devices: the safety limits acted */
    char *summary;               /* JSON text; NULL: nothing was run */
    bool whole;                  /* every file that was asked for is written */
    char label[FF_NAME_SIZE];    /* the method's name, or what a variant is called */
    char refusal[1024];          /* why it was not loaded; "" */
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
    ff_sink extra;     /* one more consumer of the rows; row NULL: none */
    ff_runner *runner; /* NULL: ff_run */
    void *runner_self;
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
/* Writes folder/report.html with all sessions, which must have a summary. FF_FAILED: it cannot be written. */
ff_outcome ff_session_report(const ff_session *const *sessions, int count, const char *folder,
                             ff_notes *notes);

/* "free" or "constrained", "sampled" or "continuous": of a scenario that emulates. */
const char *ff_session_scheme(const ff_session *session);
const char *ff_session_controller(const ff_session *session);

/* mkdir -p. FF_REFUSED: it cannot be written into. */
ff_outcome ff_session_make_folder(const char *path, ff_notes *notes);
/* Writes text to folder/name, whole or not at all. FF_FAILED. */
ff_outcome ff_session_write(const char *folder, const char *name, const char *text, ff_notes *notes);

#endif
