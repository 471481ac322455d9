/* abi/state.c - between two cycles: what acts from the next one on, and the whole state of a run as bytes. */
#include "abi/internal.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------- acting --
 */

static int refuse_body(const ffh_sim *sim, int body, const double *values, size_t count, ffh_error *error) {
    if (body < 0 || body >= sim->session->scenario.satellites)
        return ff__abi_fail(error, FFH_ARGUMENT, "%s: satellite %d of %d", sim->path, body + 1,
                            sim->session->scenario.satellites);
    if (values && !ff__abi_finite(values, count))
        return ff__abi_fail(error, FFH_ARGUMENT, "%s: '%s': every number must be finite", sim->path,
                            sim->session->scenario.satellite[body].name);
    return FFH_OK;
}

static int done(ffh_sim *sim, ff_status status, ffh_error *error) {
    ff__abi_leave(sim);
    if (status == FF_OK)
        return FFH_OK;
    return ff__abi_fail(error, FFH_ARGUMENT, "%s: method ideal has neither robots nor sensors", sim->path);
}

/* The run, for this call alone until done(); NULL with *error. */
static ff_running *act(ffh_sim *sim, int body, const double *values, size_t count, ffh_error *error) {
    if (ff__abi_enter(sim, FF__ABI_TOUCHES, error) != FFH_OK)
        return NULL;
    ff_running *running = ff__abi_running(sim, error);
    if (running && refuse_body(sim, body, values, count, error) == FFH_OK)
        return running;
    ff__abi_leave(sim);
    return NULL;
}

int ffh_load(ffh_sim *sim, int body, const double *f, ffh_error *error) {
    ff_running *running = act(sim, body, f, 6, error);
    return !running ? FFH_ARGUMENT
                    : done(sim,
                           ff_running_load(
                               running, body,
                               (ff_rigid_load){.force = ff__abi_vec3(f), .torque = ff__abi_vec3(f + 3)}),
                           error);
}

int ffh_push(ffh_sim *sim, int body, const double *f, ffh_error *error) {
    ff_running *running = act(sim, body, f, 6, error);
    return !running
               ? FFH_ARGUMENT
               : done(sim, ff_running_push(running, body, (ff_wrench){ff__abi_vec3(f + 3), ff__abi_vec3(f)}),
                      error);
}

int ffh_command(ffh_sim *sim, int body, const double *m, ffh_error *error) {
    const double n = m ? m[3] * m[3] + m[4] * m[4] + m[5] * m[5] + m[6] * m[6] : 1.0;
    if (!(n > 0.25 && n < 4.0))
        return ff__abi_fail(error, FFH_ARGUMENT, "%s: the commanded attitude is not a unit quaternion",
                            sim->path);
    ff_running *running = act(sim, body, m, 13, error);
    if (!running)
        return FFH_ARGUMENT;
    if (!m)
        return done(sim, ff_running_command(running, body, NULL), error);
    const ff_setpoint command = {
        .T = {.q = ff_quat_unit((ff_quat){m[3], m[4], m[5], m[6]}), .p = ff__abi_vec3(m)},
        .twist = {.w = ff__abi_vec3(m + 10), .v = ff__abi_vec3(m + 7)}};
    return done(sim, ff_running_command(running, body, &command), error);
}

/* -------------------------------------------------------------------------------------------------- state --
 */

/* What a state belongs to: another one is refused. */
typedef struct head {
    char magic[8];
    uint32_t abi, bytes_of_row;
    uint64_t bytes, scenario, sum; /* sum: of what follows */
} head;

static uint64_t mix(uint64_t hash, const void *data, size_t bytes) { /* FNV-1a */
    const unsigned char *at = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text) {
    return text ? mix(hash, text, strlen(text) + 1) : mix(hash, "", 1);
}

/* Of the bytes behind the head; they are a whole number of words in all but the last. */
static uint64_t sum_of(const void *data, size_t bytes) {
    const unsigned char *at = data;
    uint64_t sum = bytes, word;
    for (; bytes >= sizeof word; at += sizeof word, bytes -= sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    return mix(sum, at, bytes);
}

static head head_of(const ffh_sim *sim) {
    head h = {.abi = FFH_ABI, .bytes_of_row = (uint32_t)sizeof(ff_row), .scenario = 14695981039346656037u};
    memcpy(h.magic, "ffstate", 8);
    const ff_held_file *file = ff_held_find(&sim->held, sim->path);
    h.scenario = mix_text(h.scenario, file ? file->sha256 : sim->path);
    h.scenario = mix_text(h.scenario, sim->session->label);
    for (int i = 0; i < sim->sets; i++)
        h.scenario = mix_text(h.scenario, sim->set[i]);
    for (int i = 0; i < sim->store.taken; i++)
        h.scenario = mix(h.scenario, &sim->store.take[i], sizeof sim->store.take[i]);
    const int32_t parts[] = {sim->unjudged, sim->contacts, sim->sensors, sim->obsw != NULL};
    h.scenario = mix(h.scenario, parts, sizeof parts);
    return h;
}

static void keep(ffh_sim *sim, ff_keeper *keeper) {
    ff_store_keep(&sim->store, keeper);
    ff_session_keep(sim->session, keeper);
}

static size_t count(ffh_sim *sim, ffh_error *error) {
    ff_keeper keeper = {.does = FF_KEEP_COUNT};
    if (!ff__abi_running(sim, error))
        return 0;
    keep(sim, &keeper);
    if (!keeper.unkept)
        return sizeof(head) + keeper.bytes;
    ff__abi_fail(error, FFH_STATE, "%s: its state cannot be saved: %s", sim->path, keeper.unkept);
    return 0;
}

/* A run that failed has no next cycle to continue from. */
static size_t count_to_save(ffh_sim *sim, ffh_error *error) {
    ff_notes notes = {.error = ""};
    if (ff__abi_running(sim, error) && ff_session_failure(sim->session, &notes) != FF_DONE) {
        ff__abi_fail(error, FFH_STATE, "%s: its state cannot be saved: the run has failed", sim->path);
        return 0;
    }
    return count(sim, error);
}

size_t ffh_state_size(ffh_sim *sim, ffh_error *error) {
    if (ff__abi_enter(sim, FF__ABI_TOUCHES, error) != FFH_OK)
        return 0;
    const size_t size = count_to_save(sim, error);
    ff__abi_leave(sim);
    return size;
}

static int save(ffh_sim *sim, void *state, size_t bytes, ffh_error *error) {
    const size_t size = count_to_save(sim, error);
    if (!size)
        return error ? error->kind : FFH_STATE;
    if (bytes < size)
        return ff__abi_fail(error, FFH_ARGUMENT, "%s: %zu bytes for a state of %zu", sim->path, bytes, size);
    head h = head_of(sim);
    h.bytes = size;
    ff_keeper keeper = {
        .does = FF_KEEP_SAVE, .at = (unsigned char *)state + sizeof h, .left = bytes - sizeof h};
    keep(sim, &keeper);
    h.sum = sum_of((const unsigned char *)state + sizeof h, size - sizeof h);
    memcpy(state, &h, sizeof h);
    return FFH_OK;
}

int ffh_save(ffh_sim *sim, void *state, size_t bytes, ffh_error *error) {
    if (ff__abi_enter(sim, FF__ABI_TOUCHES, error) != FFH_OK)
        return FFH_ARGUMENT;
    const int kind = save(sim, state, bytes, error);
    ff__abi_leave(sim);
    return kind;
}

static int restore(ffh_sim *sim, const void *state, size_t bytes, ffh_error *error) {
    head h, own = head_of(sim);
    if (!count(sim, error))
        return error ? error->kind : FFH_STATE;
    if (bytes < sizeof h || (memcpy(&h, state, sizeof h), memcmp(h.magic, own.magic, sizeof h.magic) != 0) ||
        h.bytes != bytes || h.bytes < sizeof h)
        return ff__abi_fail(error, FFH_STATE, "%s: these bytes are not the state of a run", sim->path);
    if (h.abi != own.abi || h.bytes_of_row != own.bytes_of_row)
        return ff__abi_fail(error, FFH_STATE, "%s: the state is of another version", sim->path);
    if (h.scenario != own.scenario)
        return ff__abi_fail(error, FFH_STATE,
                            "%s: the state is of another scenario, method, override or other options",
                            sim->path);
    if (h.sum != sum_of((const unsigned char *)state + sizeof h, (size_t)h.bytes - sizeof h))
        return ff__abi_fail(error, FFH_STATE, "%s: the state is damaged", sim->path);
    ff_keeper keeper = {.does = FF_KEEP_RESTORE,
                        .at = (unsigned char *)(uintptr_t)state + sizeof h, /* it is only read */
                        .left = (size_t)h.bytes - sizeof h};
    keep(sim, &keeper);
    sim->halt = 0;
    *sim->why = 0;
    if (keeper.failed || keeper.left)
        return ff__abi_fail(error, FFH_STATE, "%s: the state does not fit: this run cannot be continued",
                            sim->path);
    return FFH_OK;
}

int ffh_restore(ffh_sim *sim, const void *state, size_t bytes, ffh_error *error) {
    if (ff__abi_enter(sim, FF__ABI_TOUCHES, error) != FFH_OK)
        return FFH_ARGUMENT;
    const int kind = restore(sim, state, bytes, error);
    ff__abi_leave(sim);
    return kind;
}
