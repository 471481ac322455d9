/* session/folder.c - where a session's files go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scenario/reader.h"
#include "session/session.h"
#include "text/file.h"

ff_outcome ff_session_make_folder(const char *path, ff_notes *notes) {
    if (ff_folder_make(path) == FF_OK)
        return FF_DONE;
    return ff_notes_error(notes, FF_REFUSED,
                          "%s: cannot write into this folder (%s); choose another with --out", path,
                          strerror(errno));
}

ff_outcome ff_session_write(const char *folder, const char *name, const char *text, ff_notes *notes) {
    char path[FF_FILE_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ff_file_whole whole; /* synced with all of the run */
    if (ff_file_begin(path, &whole) == FF_OK && ff_file_end(&whole, fputs(text, whole.file) >= 0) == FF_OK)
        return FF_DONE;
    return ff_notes_error(notes, FF_FAILED, "%s: cannot be written (%s)", path, strerror(errno));
}

ff_outcome ff_session_claim_folder(const ff_session *session, const char *out, bool force,
                                   const ff_run_program *program, ff_session_claim *claim, ff_notes *notes) {
    *claim = (ff_session_claim){.folder = {.lock = -1}};
    ff_run_inputs_scenario(&claim->inputs, session->path, &session->scenario);
    const ff_run_wanted wanted = {.out = out,
                                  .name = session->scenario.name,
                                  .force = force,
                                  .command = "run",
                                  .method = session->label,
                                  .inputs = &claim->inputs,
                                  .program = program};
    return ff_run_begin(&wanted, &claim->folder, notes);
}

const char *ff_session_verdict(const ff_session *session) {
    return session->metrics.pass ? "pass" : "fail";
}

ff_outcome ff_session_settle(const ff_session *session, ff_run_folder *folder, ff_outcome outcome,
                             bool stopped, const char **where, ff_notes *notes) {
    *where = NULL;
    if (!session->summary) {
        ff_run_abandon(folder);
        return outcome;
    }
    const bool written = ff_session_report(&session, 1, folder->path, notes) == FF_DONE;
    const ff_run_end end = {.whole = session->whole && written,
                            .stopped = stopped,
                            .exit_status = (int)(outcome == FF_DONE && !written ? FF_FAILED : outcome),
                            .method = session->label,
                            .verdict = ff_session_verdict(session)};
    const ff_outcome finished = ff_run_finish(folder, &end, notes);
    if (written)
        *where = end.whole && !stopped ? folder->shown : folder->path;
    return end.exit_status == FF_DONE ? finished : (ff_outcome)end.exit_status;
}

void ff_session_claim_free(ff_session_claim *claim) {
    ff_run_inputs_free(&claim->inputs);
}

ff_outcome ff_session_logs(const char *list, ff_session_options *options, ff_notes *notes) {
    static const char *const formats[] = {"csv", "mcap", "mcap-plain", "none", NULL};
    for (const char *c = list; *c;) {
        const size_t n = strcspn(c, ",");
        if (n == 3 && strncmp(c, "csv", n) == 0)
            options->csv = true;
        else if (n == 4 && strncmp(c, "mcap", n) == 0)
            options->mcap = true;
        else if (n == 10 && strncmp(c, "mcap-plain", n) == 0)
            options->mcap = options->plain = true;
        else if (!(n == 4 && strncmp(c, "none", n) == 0))
            return ff_notes_error(
                notes, FF_REFUSED,
                "--log %s: '%.*s' is not a log format%s; allowed: csv, mcap, mcap-plain, none", list, (int)n,
                c, ff_guess_among(c, n, formats).text);
        c += n + (c[n] == ',');
    }
    return FF_DONE;
}
