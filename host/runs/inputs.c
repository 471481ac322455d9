/* runs/inputs.c - the files that results depend on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "obsw/computer.h"
#include "runs/internal.h"

static ff_run_seen look_at(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return (ff_run_seen){0};
    return (ff_run_seen){.device = (uint64_t)info.st_dev,
                         .node = (uint64_t)info.st_ino,
                         .size = (uint64_t)info.st_size,
                         .written = 1000000000 * (int64_t)info.st_mtim.tv_sec + info.st_mtim.tv_nsec,
                         .changed = 1000000000 * (int64_t)info.st_ctim.tv_sec + info.st_ctim.tv_nsec};
}

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
    *item = (ff_run_input){
        .role = strdup(role), .path = strdup(path), .seen = look_at(path), .held = sha256 != NULL};
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

ff_status ff_run_watch_begin(const ff_run_inputs *inputs, ff_run_watch *watch) {
    *watch = (ff_run_watch){.inputs = inputs, .seen = calloc((size_t)inputs->count + 1, sizeof *watch->seen)};
    for (int i = 0; watch->seen && i < inputs->count; i++)
        watch->seen[i] = inputs->item[i].seen;
    return watch->seen ? FF_OK : FF_ERR_MEMORY;
}

static bool is_same(const ff_run_input *item, ff_run_seen *seen) {
    char sha256[FF_SHA256_TEXT] = "";
    uint64_t size;
    const ff_run_seen now = look_at(item->path);
    if (item->held || memcmp(&now, seen, sizeof now) == 0)
        return true;
    ff_sha256_file(item->path, false, sha256, &size);
    *seen = now;
    return strcmp(sha256, item->sha256) == 0;
}

const char *ff_run_watch_changed(ff_run_watch *watch) {
    for (int i = 0; i < watch->inputs->count; i++)
        if (!is_same(&watch->inputs->item[i], &watch->seen[i]))
            return watch->inputs->item[i].path;
    return NULL;
}

const char *ff_run_inputs_changed(const ff_run_inputs *inputs, const char *role) {
    for (int i = 0; i < inputs->count; i++) {
        ff_run_seen seen = inputs->item[i].seen;
        if ((!role || strcmp(role, inputs->item[i].role) == 0) && !is_same(&inputs->item[i], &seen))
            return inputs->item[i].path;
    }
    return NULL;
}

void ff_run_watch_end(ff_run_watch *watch) {
    free(watch->seen);
    *watch = (ff_run_watch){0};
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
        if (s->arm.present && s->obsw.kind == FF_OBSW_SHARED)
            ff_run_inputs_add(inputs, FF_RUN_ONBOARD, s->obsw.library, NULL);
    }
    const ff_method_library *library = ff_scenario_library(scenario);
    if (library)
        ff_run_inputs_add(inputs, "method", library->path, library->hash);
}
