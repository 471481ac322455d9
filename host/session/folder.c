/* session/folder.c - where a session's files go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

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
