/* runs/inputs.c - the files that results depend on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "obsw/computer.h"
#include "runs/internal.h"

void ff_run_inputs_add(ff_run_inputs *inputs, const char *role, const char *path, const char *sha256) {
    for (int i = 0; i < inputs->count; i++)
        if (strcmp(inputs->item[i].path, path) == 0)
            return;
    ff_run_input *item = realloc(inputs->item, ((size_t)inputs->count + 1) * sizeof *item);
    if (!item) {
        inputs->failed = true;
        return;
    }
    inputs->item = item;
    item += inputs->count++;
    *item = (ff_run_input){.role = strdup(role), .path = strdup(path), .held = sha256 != NULL};
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

/* Another file, or another content, has another of these. */
struct ff_run_seen {
    dev_t device;
    ino_t node;
    off_t size;
    struct timespec written, changed;
};

ff_status ff_run_watch_begin(const ff_run_inputs *inputs, ff_run_watch *watch) {
    *watch = (ff_run_watch){.inputs = inputs, .seen = calloc((size_t)inputs->count + 1, sizeof *watch->seen)};
    return watch->seen ? FF_OK : FF_ERR_MEMORY;
}

const char *ff_run_watch_changed(ff_run_watch *watch) {
    for (int i = 0; i < watch->inputs->count; i++) {
        const ff_run_input *item = &watch->inputs->item[i];
        struct stat info;
        char sha256[FF_SHA256_TEXT] = "";
        uint64_t size;
        if (item->held)
            continue;
        const bool file = stat(item->path, &info) == 0 && S_ISREG(info.st_mode);
        struct ff_run_seen now;
        memset(&now, 0, sizeof now); /* also what lies between its members: it is compared as bytes */
        if (file) {
            now.device = info.st_dev;
            now.node = info.st_ino;
            now.size = info.st_size;
            now.written = info.st_mtim;
            now.changed = info.st_ctim;
        }
        if (file && memcmp(&now, &watch->seen[i], sizeof now) == 0)
            continue;
        if (file)
            ff_sha256_file(item->path, false, sha256, &size);
        if (strcmp(sha256, item->sha256) != 0)
            return item->path;
        memcpy(&watch->seen[i], &now, sizeof now);
    }
    return NULL;
}

void ff_run_watch_end(ff_run_watch *watch) {
    free(watch->seen);
    *watch = (ff_run_watch){0};
}

void ff_run_inputs_scenario(ff_run_inputs *inputs, const char *path, const ff_scenario *scenario) {
    char full[FF_FILE_PATH];
    const char *slash = strrchr(path, '/');
    ff_run_inputs_add(inputs, "scenario", path, scenario->sha256);
    for (int i = 0; i < scenario->models; i++) { /* names start from the scenario's folder */
        const char *name = scenario->model[i];
        snprintf(full, sizeof full, "%.*s%s", *name != '/' && slash ? (int)(slash - path) + 1 : 0, path,
                 name);
        ff_run_inputs_add(inputs, "model", full, NULL);
    }
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *s = &scenario->satellite[i];
        if (s->mesh.present)
            ff_run_inputs_add(inputs, "mesh", s->mesh.file, NULL);
        if (s->arm.present && s->obsw.kind == FF_OBSW_SHARED)
            ff_run_inputs_add(inputs, "on-board software", s->obsw.library, NULL);
    }
    const ff_method_library *library = ff_scenario_library(scenario);
    if (library)
        ff_run_inputs_add(inputs, "method", library->path, library->hash);
}
