/* runs/runs.h - every run owns its folder. Where results are written, by whom at a time, and when a reader
 * may take them for whole: a folder with a lock while it is written, a manifest that names inputs and results
 * by their SHA-256, and a switch that shows a run only once it is complete. Everything that writes results
 * goes through here.
 *
 *   out/.runs/NAME/ID/        one run: its files, manifest.json
 *   out/NAME -> .runs/NAME/ID the newest complete one: a symbolic link, replaced by rename(2)
 *   DIR/                      --out DIR: the files themselves; over a former complete run they are written
 * into DIR/.freefloat.new and moved when complete */
#ifndef FF_RUNS_RUNS_H
#define FF_RUNS_RUNS_H

#include <stdbool.h>

#include "scenario/scenario.h"
#include "text/file.h"
#include "text/notes.h"
#include "text/sha256.h"

/* --------------------------------------------------------------------------------------------- inputs -- */

/* A file that the results depend on. */
typedef struct ff_run_input {
    char *role, *path; /* "scenario", "model", "mesh", "onboard", "method" ... */
    char sha256[FF_SHA256_TEXT];
} ff_run_input;

typedef struct ff_run_inputs {
    int count;
    ff_run_input *item;
    bool failed; /* memory ran out: the list is not whole */
} ff_run_inputs;

/* sha256: of bytes that are held (text/held.h); NULL: of the file as it is now, of which nothing is computed
 * (it is not there, or its scenario holds nothing). A file that is listed already is not added again. */
void ff_run_inputs_add(ff_run_inputs *inputs, const char *role, const char *path, const char *sha256);
/* A scenario's file and every file that it names: models, meshes, on-board software, its method's library. */
void ff_run_inputs_scenario(ff_run_inputs *inputs, const char *path, const ff_scenario *scenario);
void ff_run_inputs_free(ff_run_inputs *inputs);

/* ------------------------------------------------------------------------------------------- one run -- */

/* What writes. */
typedef struct ff_run_program {
    int argc;
    char *const *argv;
    const char *commit; /* "" unknown */
} ff_run_program;

typedef struct ff_run_wanted {
    const char *out;  /* --out DIR; NULL: out/NAME */
    const char *name; /* of the scenario or campaign */
    bool force;       /* --force: also over what is not ours, or not complete */
    const char *command, *method;
    const char *key;               /* a run of the same key is continued; NULL: never */
    const ff_run_inputs *inputs;   /* may be NULL */
    const ff_run_program *program; /* may be NULL */
} ff_run_wanted;

typedef enum ff_run_place { FF_RUN_LINKED, FF_RUN_DIRECT, FF_RUN_STAGED } ff_run_place;

enum { FF_RUN_ID = 40 };

/* What is pointed to by `wanted` stays the caller's until finish or abandon. */
typedef struct ff_run_folder {
    char shown[FF_FILE_PATH];  /* where the results will be: out/NAME or DIR */
    char path[FF_FILE_PATH];   /* where to write them */
    char former[FF_FILE_PATH]; /* a complete run of the same key; "" none */
    char id[FF_RUN_ID], started[32];
    ff_run_wanted wanted;
    ff_run_place place;
    bool made;    /* the folder was not there */
    bool resumed; /* what an earlier process began is continued in it */
    int lock;     /* descriptor; -1 none */
} ff_run_folder;

typedef struct ff_run_end {
    bool whole;   /* every file that was asked for is written, whatever the verdict */
    bool stopped; /* by a signal before its end */
    int exit_status;
    const char *method, *verdict; /* NULL: unknown */
} ff_run_end;

/* Makes and locks a folder. FF_REFUSED: it cannot be written into, another process writes there, it holds
 * what is neither a complete run of ours nor to be replaced (`force`), or another campaign's results: one
 * line. */
ff_outcome ff_run_begin(const ff_run_wanted *wanted, ff_run_folder *run, ff_notes *notes);
/* A whole run: its files are hashed and synced, the manifest
 * says complete, then it is switched in. Otherwise the folder stays as it is, marked, and what was shown
 * before is shown still. FF_FAILED with a line, also for a run that is not whole. Releases the lock in any
 * case. */
ff_outcome ff_run_finish(ff_run_folder *run, const ff_run_end *end, ff_notes *notes);
/* Nothing ran: removes what was written, but for what was there before. */
void ff_run_abandon(ff_run_folder *run);

/* NAME as a folder's: everything outside [A-Za-z0-9._=:,+-] and a dot at the start becomes '_'. */
void ff_run_plain(const char *name, char *plain, size_t size);
/* folder/NAME with NAME so written. False: it is too long. */
bool ff_run_below(const char *folder, const char *name, char path[FF_FILE_PATH]);

/* -------------------------------------------------------------------------------------------- manifest -- */

struct ff_tree;
struct ff_node;

/* A manifest.json that was read. */
typedef struct ff_manifest {
    struct ff_tree *tree;
    char *text;
    const struct ff_node *root;
    bool sealed; /* its last key is the hash of all before it: it is as it was written */
} ff_manifest;

/* folder/manifest.json, no link. FF_ERR_IO: there is none; FF_ERR_FORMAT: it is not one of ours;
 * FF_ERR_MEMORY. */
ff_status ff_manifest_read(const char *folder, ff_manifest *manifest);
void ff_manifest_free(ff_manifest *manifest); /* zero is allowed */
/* The text under a key; "" where there is none. */
const char *ff_manifest_text(const ff_manifest *manifest, const char *key);
bool ff_manifest_complete(const ff_manifest *manifest);
/* The path of the first input whose bytes are not those of the list any more, or that only one of both has;
 * NULL: none. */
const char *ff_manifest_changed(const ff_manifest *manifest, const ff_run_inputs *inputs);

#endif
