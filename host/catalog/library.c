/* Method libraries: tried in a process of their own, named by their hash, loaded once. */
#include "catalog/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "catalog/calls.h"
#include "catalog/chamber.h"
#include "catalog/probe.h"
#include "catalog/watch.h"
#include "scenario/methods.h"
#include "text/image.h"

typedef struct library {
    ff_method outer; /* what the loop is given */
    char name[32], version[FF_METHOD_TEXT + 1];
    ff_method_section section;
    ff_method_library shown;
} library;

static library *loaded; /* in pages that are written only here */
static int count;
static library trusted[FF_LIBRARIES]; /* in this process, and not watched */
static int trusts;
static const double PATIENCE = 5.0; /* [s] for one call */

/* Whose the name is already; NULL: nobody's. */
static const char *taken_by(const char *name) {
    if (strcmp(name, "ideal") == 0 || ff_method_find(name))
        return "one that is built in";
    for (int i = 0; i < count; i++)
        if (strcmp(loaded[i].outer.name, name) == 0)
            return loaded[i].shown.path;
    for (int i = 0; i < trusts; i++)
        if (strcmp(trusted[i].outer.name, name) == 0)
            return trusted[i].shown.path;
    static const char *const summary[] = {"status", "verdict",        "timing",     "seed",         "version",
                                          "pairs",  "method_library", "satellites", "requirements", "safety"};
    for (size_t i = 0; i < sizeof summary / sizeof *summary; i++)
        if (strcmp(summary[i], name) == 0)
            return "a key of summary.json";
    const ff_section *top = ff_schema_top();
    for (int i = 0; i < top->keys; i++)
        if (strcmp(top->key[i].key, name) == 0)
            return "a key of the scenario";
    return NULL;
}

/* -------------------------------------------------------------------------------------------- the file -- */

/* From the root. False: `why`. */
static bool find_file(const char *path, char whole[4096], char *why, size_t size) {
    if (realpath(path, whole))
        return true;
    snprintf(why, size, "cannot be read: %s", strerror(errno));
    return false;
}

/* The bytes of a regular file, in `held`, which is free where there are none: `why`. */
static const ff_held_file *take_file(const char *whole, ff_held *held, char *why, size_t size) {
    const ff_held_file *file = NULL;
    char cause[200] = "";
    *held = (ff_held){0};
    if (strlen(whole) >= sizeof((ff_method_library *)0)->path)
        snprintf(why, size, "its path is longer than %zu bytes", sizeof((ff_method_library *)0)->path - 1);
    else {
        const ff_status status = ff_image_read(held, whole, &file, cause, sizeof cause);
        if (status != FF_OK)
            snprintf(why, size, "%s%s", status == FF_ERR_ARGUMENT ? "" : "cannot be read: ", cause);
    }
    if (!file)
        ff_held_free(held);
    return file;
}

/* What a trial is asked, and what it says: in memory that both processes see. */
typedef struct trial {
    const ff_held_file *file;
    char name[32];
} trial;

static void attempt(void *self) {
    trial *t = self;
    char why[400];
    const ff_method *method = ff_probe_load(count, t->file, why, sizeof why);
    ff_method outer;
    if (!method)
        ff_watch_fault(count, why);
    snprintf(t->name, sizeof t->name, "%s", method->name);
    ff_calls_wrap(count, method, &outer);
    if (!ff_probe_method(&outer, why, sizeof why))
        ff_watch_fault(count, why);
}

static bool try_file(const ff_held_file *file, char name[32], char *why, size_t size) {
    trial *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(why, size, "cannot be tried in a process of its own");
    if (t == MAP_FAILED)
        return false;
    t->file = file;
    const bool good = ff_watch_try(PATIENCE, attempt, t, why, size);
    memcpy(name, t->name, sizeof t->name);
    munmap(t, sizeof *t);
    return good;
}

/* Whether a file may join the `have` others of its list: it is tried, and its method has a name of its own.
 */
static bool admit(const ff_held_file *file, int have, char name[32], char *why, size_t size) {
    if (have == FF_LIBRARIES) {
        snprintf(why, size, "more than %d method libraries, allowed: fewer", FF_LIBRARIES);
        return false;
    }
    if (!try_file(file, name, why, size))
        return false;
    const char *by = taken_by(name);
    if (by)
        snprintf(why, size, "its method is named '%s', as %s; allowed: another name", name, by);
    return !by;
}

/* What others see of the library, once `outer` is complete. */
static void show(library *l, const ff_held_file *file) {
    memcpy(l->shown.path, file->path, strlen(file->path) + 1); /* take_file: it fits */
    memcpy(l->shown.hash, file->sha256, sizeof l->shown.hash);
    l->shown.method = &l->outer;
    ff_method_section_create(&l->outer, &l->section);
    l->shown.section = &l->section;
}

bool ff_catalog_try(void (*work)(void *self), void *self, char *why, size_t size) {
    return ff_watch_try(PATIENCE, work, self, why, size);
}

/* ----------------------------------------------------------------------------------------------- opening --
 */

static void give(void *memory, size_t bytes) {
    ff_chamber_give(memory, bytes);
    ff_watch_inspect();
}

/* The library whose file is tried, as number `count`. */
static const ff_method_library *load(const ff_held_file *file, const char *name, char *why, size_t size) {
    library *l = &loaded[count];
    if (!ff_watch_start(PATIENCE)) {
        snprintf(why, size, "cannot run in a process of its own");
        return NULL;
    }
    ff_watch_name(count, name, file->path);
    const ff_method *method = ff_probe_load(count, file, why, size);
    if (!method)
        return NULL;
    if (strcmp(method->name, name) != 0) {
        snprintf(why, size, "its method is named '%s' now, and was '%s' when it was tried", method->name,
                 name);
        return NULL;
    }
    ff_calls_wrap(count, method, &l->outer);
    snprintf(l->name, sizeof l->name, "%s", method->name); /* as they are now, whatever it writes there */
    snprintf(l->version, sizeof l->version, "%s", method->version);
    l->outer.name = l->name;
    l->outer.version = l->version;
    show(l, file);
    l->shown.take = ff_chamber_take;
    l->shown.give = give;
    count++;
    return &l->shown;
}

const ff_method_library *ff_library_open(const char *path, char *message, size_t size) {
    char whole[4096], name[32] = "";
    ff_held held;
    if (!find_file(path, whole, message, size))
        return NULL;
    for (int i = 0; i < count; i++)
        if (strcmp(loaded[i].shown.path, whole) == 0)
            return &loaded[i].shown;
    const ff_held_file *file = take_file(whole, &held, message, size);
    if (!file)
        return NULL;
    const size_t bytes = FF_LIBRARIES * sizeof *loaded;
    const ff_method_library *found = NULL;
    if (admit(file, count, name, message, size)) {
        if (!loaded && !(loaded = ff_chamber_take(bytes)))
            snprintf(message, size, "no memory");
        else {
            mprotect(loaded, bytes, PROT_READ | PROT_WRITE);
            found = load(file, name, message, size);
            mprotect(loaded, bytes, PROT_READ);
        }
    }
    ff_held_free(&held);
    return found;
}

/* ----------------------------------------------------------------------------------------------- trusted --
 */

static pthread_mutex_t trusting = PTHREAD_MUTEX_INITIALIZER;

static void *take_memory(size_t bytes) {
    return calloc(1, bytes);
}

static void give_memory(void *memory, size_t bytes) {
    (void)bytes;
    free(memory);
}

static const ff_method_library *trust_file(const ff_held_file *file, char *message, size_t size) {
    char name[32] = "";
    for (int i = 0; i < trusts; i++)
        if (strcmp(trusted[i].shown.path, file->path) == 0) {
            if (strcmp(trusted[i].shown.hash, file->sha256) == 0)
                return &trusted[i].shown;
            snprintf(message, size, "was loaded before and is another file now: start the process again");
            return NULL;
        }
    if (!admit(file, trusts, name, message, size))
        return NULL;
    const ff_method *method = ff_probe_table(file, message, size);
    if (!method)
        return NULL;
    library *l = &trusted[trusts];
    l->outer = *method;
    show(l, file);
    l->shown.take = take_memory;
    l->shown.give = give_memory;
    l->shown.copies = true;
    trusts++;
    return &l->shown;
}

static const ff_method_library *trust(const char *path, char *message, size_t size) {
    char whole[4096];
    ff_held held;
    const ff_held_file *file =
        find_file(path, whole, message, size) ? take_file(whole, &held, message, size) : NULL;
    if (!file)
        return NULL;
    const ff_method_library *found = trust_file(file, message, size);
    ff_held_free(&held);
    return found;
}

const ff_method_library *ff_library_open_trusted(const char *path, char *message, size_t size) {
    pthread_mutex_lock(&trusting);
    const ff_method_library *found = trust(path, message, size);
    pthread_mutex_unlock(&trusting);
    return found;
}

static const ff_method_library *refuse_all(const char *path, char *message, size_t size) {
    (void)path;
    snprintf(message, size, "method libraries run on devices only with --trust-method");
    return NULL;
}

static const ff_method_library *refuse_strange(const char *path, char *message, size_t size) {
    (void)path;
    snprintf(message, size,
             "a library that a log names runs only with --trust: it is code of whoever made it");
    return NULL;
}

const ff_catalog ff_catalog_libraries = {.open = ff_library_open},
                 ff_catalog_trusted = {.open = ff_library_open_trusted},
                 ff_catalog_guarded = {.open = refuse_all, .refuses = true},
                 ff_catalog_strange = {.open = refuse_strange, .refuses = true},
                 ff_catalog_closed = {.open = NULL};
