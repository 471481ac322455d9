/* abi/internal.h - what the files of the room share. */
#ifndef FF_ABI_INTERNAL_H
#define FF_ABI_INTERNAL_H

#include <stdatomic.h>

#include "abi/freefloat_host.h"
#include "obsw/computer.h"
#include "record/store.h"
#include "scenario/methods.h"
#include "session/variant.h"

/* Nothing is wrong yet. error may be NULL. */
void ff__abi_clear(ffh_error *error);
/* One sentence; returns `kind`. */
int ff__abi_fail(ffh_error *error, int kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What an operation said: FFH_OK with its warnings, or `kind`, and the place that the first line names. */
int ff__abi_notes(ffh_error *error, int kind, ff_outcome outcome, const ff_notes *notes);
bool ff__abi_finite(const double *values, size_t count);
static inline ff_vec3 ff__abi_vec3(const double *v) {
    return ff_vec3_make(v[0], v[1], v[2]);
}

/* abi/parts.c: functions of the caller's, as the scenario takes them. */
typedef struct ff__abi_part {
    ffh_sim *sim;
    void *user;
    union {
        ffh_contact_law *contact;
        ffh_sensor_law *sensor;
    };
    const char *name; /* of the contact or satellite */
    ff_contact_law contact_law;
    ff_sensor_law sensor_law;
} ff__abi_part;

struct ffh_sim {
    ff_session *session;
    ff_held held; /* its text, where it was given one */
    char *path, *method;
    ff_variant variant; /* where the method is one with settings of its own */
    char **set;
    int sets;
    bool wants_folder, force, claimed, begun;
    atomic_bool over;
    atomic_int busy; /* what is under way: FF__ABI_... */
    char *out, *log;
    ff_session_claim claim;
    char where[FF_FILE_PATH];
    ff_session_options options;
    bool unjudged;
    int (*progress)(void *user, double part);
    void *user;
    double from, to; /* the phase that progress is of, as part of the whole */
    ff_store store;
    bool stores;
    char *summary; /* as it is now */
    /* parts */
    int halt;      /* one of them failed: the run stops */
    char why[200]; /* what it answered that cannot be; "": it said by itself that it failed */
    ff__abi_part contact[FF_MAX_CONTACTS], sensor[FF_MAX_BODIES];
    int contacts, sensors;
    ffh_obsw_step *obsw;
    void *obsw_user;
    ff_obsw_call obsw_call;
    ffh_obsw_in obsw_in; /* always the same ones */
    ffh_obsw_out obsw_out;
    ffh_method_step *step;
    void *step_user;
    ffh_method_io *io;
    char method_name[32];
    ff_method table;
    ff_method_section section;
    ff_method_library library;
};

/* Puts them in place. FFH_OK; FFH_ARGUMENT: a contact or satellite of that name is not there, or cannot have
 * one. */
int ff__abi_bring(ffh_sim *sim, const ffh_parts *parts, ffh_error *error);
/* abi/sim.c: a call begins, and ends. While one RUNS any other, of another thread or of a part, is refused
 * (FFH_ARGUMENT with *error); one that only TOUCHES is short and calls no part: others wait for it, so that
 * no reader keeps the thread that runs from its cycle. */
enum { FF__ABI_FREE, FF__ABI_RUNS, FF__ABI_TOUCHES };
int ff__abi_enter(ffh_sim *sim, int as, ffh_error *error);
void ff__abi_leave(ffh_sim *sim);
/* The run that is under way; NULL with *error: there is none. */
ff_running *ff__abi_running(const ffh_sim *sim, ffh_error *error);

#endif
