/* What a session looks like on the terminal: shared by run, compare, rt, papers and the analyses. */
#ifndef FF_SHOW_H
#define FF_SHOW_H

#include "cli.h"
#include "session/session.h"

/* What may be asked of every command that runs a scenario into a folder. */
typedef struct ff_show_ask {
    const char *out, *log, *set[FF_MAX_SETS];
    int sets;
    bool force, json, strict, quiet;
} ff_show_ask;

#define FF_SHOW_OPTS(ask)                                                               \
    FF_OPT_LIST("--set", (ask)->set, &(ask)->sets), FF_OPT("--out", &(ask)->out),       \
        FF_OPT("--log", &(ask)->log), FF_OPT_FLAG("--json", &(ask)->json),              \
        FF_OPT_FLAG("--strict", &(ask)->strict), FF_OPT_FLAG("--quiet", &(ask)->quiet), \
        FF_OPT_FLAG("--force", &(ask)->force)

/* Prints the warnings, unless --quiet was given, and the errors. */
void ff_show_notes(const ff_notes *notes);
/* The functions of session/session.h with their notes printed; execute with a bar, and on-board software
 * reached over UDP. Exit status. */
ff_session *ff_show_open(const char *path, const ff_scenario_options *options, int *status);
int ff_show_execute(ff_session *session, const ff_session_options *options, bool quiet);
/* The same, but for its notes, which are the caller's to print. */
int ff_show_executed(ff_session *session, const ff_session_options *options, bool quiet, ff_notes *notes);
int ff_show_report(const ff_session *const *sessions, int count, const char *folder);
int ff_show_folder(const char *path); /* ff_session_make_folder */

/* "csv,mcap" or "none" into options; prints one line and returns -1 for anything else. */
int ff_show_logs(const char *list, ff_session_options *options);
/* The contact table and the verdict of one run. */
void ff_show_session(const ff_session *session);
/* Why the verdict is what it is: the limits that were exceeded, the worst first, or the one that is nearest.
 */
void ff_show_reason(const ff_session *session, char *text, size_t size);
/* Prints the parts between its commas from that column on, in lines of 80. */
void ff_show_list(size_t column, const char *text);
/* The functions of runs/runs.h with their notes printed. Exit status; ff_show_finish that of the run as it
 * was, or FF_EXIT_FAILED where its results are not seen. */
int ff_show_begin(const ff_run_wanted *wanted, ff_run_folder *run);
int ff_show_finish(ff_run_folder *run, const ff_run_end *end);

/* Writes the report of one session and switches its folder in, unless it was `stopped`; then prints what was
 * asked for: the summary, or the table and what `more` adds (NULL: nothing). A session without a summary
 * leaves nothing. `status` as it was, FF_EXIT_FAILED where the report, the folder or, with --strict, the
 * verdict says so. */
int ff_show_result(const ff_session *session, ff_run_folder *run, const ff_show_ask *ask, int status,
                   bool stopped, void (*more)(const void *), const void *user);
/* The verdict as an event of the live page. */
void ff_show_verdict_live(const ff_session *session, ff_live *live);

#endif
