/* runs/inputs.c - the files that results depend on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "obsw/computer.h"
#include "runs/internal.h"
#include "text/image.h"

/* "a" and "./a"; a link, or one of a file's several names, stays a file of its own: it may lead elsewhere. */
static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return strcmp(a, b) == 0 || (lstat(a, &x) == 0 && lstat(b, &y) == 0 && S_ISREG(x.st_mode) &&
                                 x.st_nlink == 1 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

void ff_run_inputs_add(ff_run_inputs *inputs, const char *role, const char *path, const char *sha256) {
    for (int i = 0; i < inputs->count; i++)
        if (is_same_file(inputs->item[i].path, path))
            return;
    ff_run_input *item = realloc(inputs->item, ((size_t)inputs->count + 1) * sizeof *item);
    if (!item) {
        inputs->failed = true;
        return;
    }
    inputs->item = item;
    item += inputs->count++;
    *item = (ff_run_input){.role = strdup(role), .path = strdup(path)};
    inputs->failed = inputs->failed || !item->role || !item->path;
    uint64_t size;
    if (sha256)
        snprintf(item->sha256, sizeof item->sha256, "%s", sha256);
    else
        ff_sha256_file(path, false, item->sha256, &size);
    if (!item->role || !item->path) { /* so that nobody stumbles over it */
        free(item->role);
        free(item->path);
        inputs->count--;
    }
}

void ff_run_inputs_free(ff_run_inputs *inputs) {
    for (int i = 0; i < inputs->count; i++) {
        free(inputs->item[i].role);
        free(inputs->item[i].path);
    }
    free(inputs->item);
    *inputs = (ff_run_inputs){0};
}

/* By the bytes that were read, where they are held. */
static void add_held(ff_run_inputs *inputs, const char *role, const char *path, const ff_held *held) {
    const ff_held_file *file = ff_held_find(held, path);
    ff_run_inputs_add(inputs, role, path, file ? file->sha256 : NULL);
}

void ff_run_inputs_scenario(ff_run_inputs *inputs, const char *path, const ff_scenario *scenario) {
    char full[FF_FILE_PATH];
    add_held(inputs, "scenario", path, scenario->held);
    if (*scenario->site) {
        ff_scenario_place(path, scenario->site, full);
        add_held(inputs, "site", full, scenario->held);
    }
    for (int i = 0; i < scenario->models; i++) {
        ff_scenario_place(path, scenario->model[i], full);
        add_held(inputs, "model", full, scenario->held);
    }
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *s = &scenario->satellite[i];
        if (s->mesh.present)
            add_held(inputs, "mesh", s->mesh.file, scenario->held);
        const ff_held_file *file;
        if (s->arm.present && s->obsw.kind == FF_OBSW_SHARED) {
            if (scenario->held) /* what is hashed now is what is loaded then */
                ff_image_read(scenario->held, s->obsw.library, &file, NULL, 0);
            add_held(inputs, "on-board software", s->obsw.library, scenario->held);
        }
    }
    const ff_method_library *library = ff_scenario_library(scenario);
    if (library)
        ff_run_inputs_add(inputs, "method", library->path, library->hash);
}
