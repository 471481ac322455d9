/* session/folder.c - where a session's files go. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "text/file.h"

enum { LONGEST = 4096 };

static bool is_plain(char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_=:-+,", c)) || (c == '.' && !first);
}

char *ff_session_folder(const char *out, const char *name, const char *sub) {
    char *path = malloc(LONGEST);
    if (!path)
        return NULL;
    int n = snprintf(path, LONGEST, "%s", out ? out : "out/");
    n = n < LONGEST ? n : LONGEST - 1;
    const char *parts[2] = {out ? NULL : name, sub};
    for (int p = 0; p < 2; p++) {
        if (!parts[p])
            continue;
        if (p == 1 && n < LONGEST - 2)
            path[n++] = '/';
        for (const char *c = parts[p]; *c && n < LONGEST - 2; c++)
            path[n++] = is_plain(*c, c == parts[p]) ? *c : '_';
        path[n] = 0;
    }
    return path;
}

void ff_session_clear(const char *folder) {
    static const char *const name[] = {"summary.json", "report.html"};
    char path[FF_FILE_PATH];
    for (int i = 0; folder && i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        remove(path);
    }
}

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
    if (ff_file_replace(path, text) == FF_OK)
        return FF_DONE;
    return ff_notes_error(notes, FF_FAILED, "%s: cannot be written (%s)", path, strerror(errno));
}
