#include "text/shipped.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text/module.h"

enum { PLACES = 5 };
/* From the program's folder, and from the library's: lib, lib/TRIPLET, build/python/freefloat/_native, and
 * the folders of build trees. */
static const char *const beside_program[PLACES] = {"../share/freefloat", ".."},
                         *const beside_library[PLACES] = {"../share/freefloat", "../../share/freefloat",
                                                          "../../../..", "..", "../.."};

/* The folder of a kind in the n-th place. */
static bool folder_of(int n, const char *kind, char path[FF_FILE_PATH]) {
    char self[FF_FILE_PATH];
    bool library;
    if (!ff_module_own_folder(self, sizeof self, &library))
        return false;
    const char *const place = library ? beside_library[n] : beside_program[n];
    const int used = place ? snprintf(path, FF_FILE_PATH, "%s/%s/%s", self, place, kind) : 0;
    return used > 0 && used < FF_FILE_PATH;
}

static bool is_file(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && !S_ISDIR(s.st_mode);
}

bool ff_shipped_find(const char *kind, const char *name, char path[FF_FILE_PATH]) {
    const size_t length = strlen(name);
    if (length == 0 || length > 200 || strcmp(name, "-") == 0 || name[0] == '.' || name[0] == '/' ||
        is_file(name))
        return false;
    const size_t folder_length =
        strlen(kind); /* "scenarios/deos-client.yaml", as the help's examples have it */
    if (strncmp(name, kind, folder_length) == 0 && name[folder_length] == '/')
        return ff_shipped_find(kind, name + folder_length + 1, path);
    const char *const ending = length > 5 ? name + length - 5 : "";
    const bool whole = strcmp(ending, ".yaml") == 0 || strcmp(ending, ".urdf") == 0;
    for (int n = 0; n < PLACES; n++) {
        char folder[FF_FILE_PATH], candidate[FF_FILE_PATH + 256];
        if (!folder_of(n, kind, folder))
            continue;
        snprintf(candidate, sizeof candidate, "%s/%s%s", folder, name, whole ? "" : ".yaml");
        char *real = is_file(candidate) ? realpath(candidate, NULL) : NULL;
        const bool fits = real && strlen(real) < FF_FILE_PATH;
        if (fits)
            snprintf(path, FF_FILE_PATH, "%s", real);
        free(real);
        if (fits)
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

int ff_shipped_names(const char *kind, char (*name)[FF_SHIPPED_NAME], int most) {
    int count = 0;
    for (int n = 0; n < PLACES && count == 0; n++) { /* of the first place that has some */
        char folder[FF_FILE_PATH];
        DIR *const dir = folder_of(n, kind, folder) ? opendir(folder) : NULL;
        for (const struct dirent *e; dir && count < most && (e = readdir(dir));) {
            const size_t length = strlen(e->d_name);
            if (length <= 5 || length - 5 >= FF_SHIPPED_NAME || strcmp(e->d_name + length - 5, ".yaml") != 0)
                continue;
            memcpy(name[count], e->d_name, length - 5);
            name[count++][length - 5] = 0;
        }
        if (dir)
            closedir(dir);
    }
    qsort(name, (size_t)count, sizeof *name, by_name);
    return count;
}

bool ff_shipped_installed(char path[FF_FILE_PATH]) {
    char folder[FF_FILE_PATH];
    char *real = folder_of(0, "scenarios", folder) ? realpath(folder, NULL) : NULL;
    const bool fits = real && strlen(real) < FF_FILE_PATH;
    if (fits) {
        *strrchr(real, '/') = 0;
        snprintf(path, FF_FILE_PATH, "%s", real);
    }
    free(real);
    return fits;
}
