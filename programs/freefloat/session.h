/* One scenario from file to files: load, reference, run, judge, write. Shared by run, compare and papers. */
#ifndef FF_SESSION_H
#define FF_SESSION_H

#include "cli.h"
#include "emulate/emulate.h"
#include "ideal/ideal.h"
#include "record/log.h"
#include "report/collect.h"
#include "report/metrics.h"
#include "executive/run.h"

typedef struct ff_session {
    ff_scenario scenario;
    ff_ideal_result ideal;
    ff_run_result run;
    ff_metrics metrics;
    ff_emulate_result emulation; /* scenario.emulates */
    ff_report_collector report;  /* empty without a folder */
    bool devices;                /* ran on devices: the safety limits acted */
    char *summary;               /* JSON text */
    char label[FF_NAME_SIZE];
    /* where the scenario came from, for the log; the strings are the caller's */
    const char *path, *method, *set[FF_LOG_MAX_SETS];
    int sets;
} ff_session;

/* What runs the scenario: ff_run unless another is given. */
typedef void ff_runner(void *self, const ff_scenario *scenario, const ff_run_options *options,
                       ff_run_result *result);

typedef struct ff_session_options {
    const char *out; /* folder for this run's files; NULL: none are written */
    bool csv;        /* log.csv */
    bool mcap;       /* log.mcap */
    bool quiet;
    ff_sink extra;     /* one more consumer of the rows; row NULL: none */
    ff_runner *runner; /* NULL: ff_run */
    void *runner_self;
    char *(*extend)(void *runner_self,
                    char *summary); /* more keys of summary.json; takes and gives malloc'ed */
    bool (*between)(void *user, const ff_run_access *access); /* as in ff_run_options */
    void *between_user;
} ff_session_options;

/* What may be asked of every command that runs a scenario into a folder. */
typedef struct ff_session_ask {
    const char *out, *log, *set[FF_MAX_SETS];
    int sets;
    bool json, strict, quiet;
} ff_session_ask;

#define FF_SESSION_OPTS(ask)                                                      \
    FF_OPT_LIST("--set", (ask)->set, &(ask)->sets), FF_OPT("--out", &(ask)->out), \
        FF_OPT("--log", &(ask)->log), FF_OPT_FLAG("--json", &(ask)->json),        \
        FF_OPT_FLAG("--strict", &(ask)->strict), FF_OPT_FLAG("--quiet", &(ask)->quiet)

/* A new session with the scenario loaded, or NULL and *status after one line. */
ff_session *ff_session_open(const char *path, const ff_scenario_options *options, int *status);
void ff_session_close(ff_session *session); /* NULL is allowed */
/* Loads; on failure prints the line and returns FF_EXIT_USAGE. */
int ff_session_load(ff_session *session, const char *path, const ff_scenario_options *options);
/* Runs and writes. Returns FF_EXIT_DONE, FF_EXIT_FAILED (summary still written), FF_EXIT_USAGE (folder). */
int ff_session_execute(ff_session *session, const ff_session_options *options);
void ff_session_free(ff_session *session);
/* The part of both for a scenario that emulates (session_emulation.c). */
int ff_session_emulate(ff_session *session, const ff_session_options *options);
void ff_session_print_emulation(const ff_session *session);
/* Writes folder/report.html, with all sessions that have a summary. 0, or -1 after one printed line. */
int ff_session_report(const ff_session *const *sessions, int count, const char *folder);

/* The same for one session, then what was asked for on stdout: the summary, or the table and what `more` adds
 * (NULL: nothing). `status` as it was, FF_EXIT_FAILED where the report or, with --strict, the verdict says
 * so.
 */
int ff_session_show(const ff_session *session, const char *folder, const ff_session_ask *ask, int status,
                    void (*more)(const void *), const void *user);
/* The verdict as an event of the live page. */
void ff_session_tell(const ff_session *session, ff_live *live);

/* out/NAME with everything outside [A-Za-z0-9._=:-] replaced; malloc'ed. */
char *ff_session_folder(const char *out, const char *name, const char *sub);
/* Writes text to folder/name by way of a temporary file, so that what stands there is whole. 0, or -1 with
 * errno. */
int ff_write_whole(const char *folder, const char *name, const char *text);
/* mkdir -p; prints one line and returns -1 when impossible. */
int ff_make_folder(const char *path);
/* "csv,mcap" or "none" into options; prints one line and returns -1 for anything else. */
int ff_session_logs(const char *list, ff_session_options *options);
/* The contact table and the verdict of one run. */
void ff_session_print(const ff_session *session);

#endif
