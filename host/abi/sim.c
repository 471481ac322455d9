/* abi/sim.c - a scenario opened, run or stepped, and what came of it: session/ behind handles. */
#include "abi/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catalog/library.h"
#include "obsw/udp.h"
#include "text/shipped.h"

/* -------------------------------------------------------------------------------------------------- open --
 */

static bool copy_text(char **to, const char *from) {
    *to = from ? strdup(from) : NULL;
    return *to || !from;
}

static bool copy_options(ffh_sim *sim, const char *path, const ffh_options *o) {
    char shipped[FF_FILE_PATH];
    const bool named = !o->text && ff_shipped_find("scenarios", path, shipped);
    bool good = copy_text(&sim->path, named ? shipped : path) && copy_text(&sim->method, o->method) &&
                copy_text(&sim->out, o->out) && copy_text(&sim->log, o->log);
    sim->set = calloc((size_t)o->sets + 1, sizeof *sim->set);
    good = good && sim->set;
    for (int i = 0; i < o->sets && good; i++)
        good = copy_text(&sim->set[sim->sets++], o->set[i]);
    sim->wants_folder = o->out;
    sim->force = o->force;
    sim->unjudged = o->unjudged;
    sim->progress = o->progress;
    sim->user = o->user;
    return good && (!o->text || ff_held_put(&sim->held, path, o->text, o->length) == FF_OK);
}

static int load(ffh_sim *sim, const ffh_options *o, ffh_error *error) {
    ff_notes notes = {.error = ""};
    const bool brings = o->parts && o->parts->method;
    const ff_scenario_options common = {.set = (const char *const *)sim->set,
                                        .sets = sim->sets,
                                        .method = brings ? "direct" : sim->method,
                                        .catalog = &ff_catalog_trusted,
                                        .held = &sim->held};
    sim->session = calloc(1, sizeof *sim->session);
    if (!sim->session)
        return ff__abi_fail(error, FFH_MEMORY, "%s: no memory", sim->path);
    const ff_outcome outcome = ff_variant_load_named(sim->session, sim->path, &common, &sim->variant, &notes);
    if (outcome != FF_DONE) {
        const bool method = sim->session->run.status == FF_ERR_UNSUPPORTED;
        free(sim->session);
        sim->session = NULL;
        return ff__abi_notes(error, method ? FFH_METHOD : FFH_SCENARIO, outcome, &notes);
    }
    return ff__abi_notes(error, FFH_OK, FF_DONE, &notes);
}

static int open_store(ffh_sim *sim, const ffh_options *o, ffh_error *error) {
    const ff_scenario *s = &sim->session->scenario;
    const char *wrong = "";
    const ff_status status = ff_store_init(s, o->record, o->records, &wrong, &sim->store);
    if (status == FF_ERR_ARGUMENT)
        return ff__abi_fail(error, FFH_ARGUMENT, "record: no column of %s is named '%s'", s->name, wrong);
    if (status != FF_OK)
        return ff__abi_fail(error, FFH_MEMORY,
                            "%s: no memory for the columns of %llu cycles; record fewer columns", s->name,
                            (unsigned long long)s->cycles);
    sim->stores = true;
    return FFH_OK;
}

ffh_sim *ffh_open(const char *path, const ffh_options *options, ffh_error *error) {
    static const ffh_options none;
    const ffh_options *o = options ? options : &none;
    ff__abi_clear(error);
    if (!path) {
        ff__abi_fail(error, FFH_ARGUMENT, "no path");
        return NULL;
    }
    ffh_sim *sim = calloc(1, sizeof *sim);
    if (!sim || !copy_options(sim, path, o)) {
        ff__abi_fail(error, FFH_MEMORY, "%s: no memory", path);
        ffh_close(sim);
        return NULL;
    }
    sim->claim.folder.lock = -1;
    ff_notes notes = {.error = ""};
    const ff_outcome logs = ff_session_logs(sim->log ? sim->log : "csv", &sim->options, &notes);
    int kind = logs == FF_DONE ? load(sim, o, error) : ff__abi_notes(error, FFH_ARGUMENT, logs, &notes);
    char warning[sizeof error->warning];
    snprintf(warning, sizeof warning, "%s", error ? error->warning : "");
    if (kind == FFH_OK && o->parts)
        kind = ff__abi_bring(sim, o->parts, error);
    if (kind == FFH_OK && !sim->session->scenario.emulates)
        kind = open_store(sim, o, error);
    if (kind == FFH_OK) {
        if (error)
            snprintf(error->warning, sizeof error->warning, "%s", warning);
        return sim;
    }
    ffh_close(sim);
    return NULL;
}

void ffh_close(ffh_sim *sim) {
    if (!sim)
        return;
    ff_session_leave(sim->session);
    if (sim->claimed) { /* a run that was not ended: what is there stays, marked as not complete */
        ff_notes notes = {.error = ""};
        const ff_run_end end = {.stopped = true, .exit_status = FF_FAILED};
        ff_run_finish(&sim->claim.folder, &end, &notes);
        ff_session_claim_free(&sim->claim);
    }
    ff_session_close(sim->session); /* the manifest names what is in it */
    ff_store_free(&sim->store);
    ff_held_free(&sim->held);
    for (int i = 0; i < sim->sets; i++)
        free(sim->set[i]);
    free(sim->set);
    free(sim->path);
    free(sim->method);
    free(sim->out);
    free(sim->log);
    free(sim->summary);
    free(sim);
}

/* --------------------------------------------------------------------------------------------------- run --
 */

static void next_phase(void *user, double from, double to, double amount, const char *unit) {
    ffh_sim *sim = user;
    (void)amount;
    (void)unit;
    sim->from = from;
    sim->to = to;
}

static bool report_progress(void *user, double part) {
    ffh_sim *sim = user;
    return !sim->halt &&
           (!sim->progress || sim->progress(sim->user, sim->from + part * (sim->to - sim->from)));
}

/* A part that failed stops the run at once. */
static bool between(void *user, const ff_run_access *access) {
    (void)access;
    return !((const ffh_sim *)user)->halt;
}

static int kind_of(const ffh_sim *sim, ff_outcome outcome) {
    const ff_status status = sim->session->run.status;
    if (outcome == FF_DONE)
        return FFH_OK;
    if (sim->halt)
        return *sim->why ? FFH_PART : FFH_STOPPED;
    if (outcome == FF_REFUSED)
        return status == FF_ERR_UNSUPPORTED ? FFH_METHOD : status < 0 ? FFH_SCENARIO : FFH_FILES;
    if (status == FF_ERR_MEMORY)
        return FFH_MEMORY;
    if (status == FF_ERR_LIMIT && strncmp(sim->session->run.message, "stopped at", 10) == 0)
        return FFH_STOPPED;
    return status < 0 || sim->session->scenario.emulates ? FFH_RUN : FFH_FILES;
}

/* The folder, and what the session needs. */
static ff_outcome prepare(ffh_sim *sim, ff_notes *notes) {
    if (sim->wants_folder) {
        const ff_outcome claimed = ff_session_claim_folder(sim->session, *sim->out ? sim->out : NULL,
                                                           sim->force, NULL, &sim->claim, notes);
        if (claimed != FF_DONE) {
            ff_session_claim_free(&sim->claim);
            return claimed;
        }
        sim->claimed = true;
        sim->options.out = sim->claim.folder.path;
    } else
        sim->options.csv = sim->options.mcap = false;
    sim->options.unjudged = sim->unjudged;
    sim->options.phase = next_phase;
    sim->options.progress = report_progress;
    sim->options.user = sim;
    sim->options.opener = ff_obsw_udp_open;
    if (sim->stores)
        sim->options.extra = ff_store_sink(&sim->store);
    if (sim->contacts || sim->sensors || sim->obsw) {
        sim->options.between = between;
        sim->options.between_user = sim;
    }
    return FF_DONE;
}

/* What was said; a part's own reason in place of what followed from it. */
static int said(const ffh_sim *sim, int kind, ff_outcome outcome, const ff_notes *notes, ffh_error *error) {
    const int found = ff__abi_notes(error, kind, outcome, notes);
    if (error && found == FFH_PART)
        snprintf(error->text, sizeof error->text, "%s: %s", sim->session->scenario.name, sim->why);
    return found;
}

/* After the last cycle: the folder is switched in, unless the run was stopped. */
static int settle(ffh_sim *sim, ff_outcome outcome, ff_notes *notes, ffh_error *error) {
    const int kind = kind_of(sim, outcome);
    if (sim->session->scenario.emulates && sim->session->emulation.samples && !sim->stores)
        sim->stores = ff_session_emulated(sim->session, &sim->store) == FF_OK;
    if (sim->claimed) {
        const char *where;
        outcome = ff_session_settle(sim->session, &sim->claim.folder, outcome,
                                    kind == FFH_STOPPED || kind == FFH_PART, &where, notes);
        snprintf(sim->where, sizeof sim->where, "%s", where ? where : "");
        ff_session_claim_free(&sim->claim);
        sim->claimed = false;
    }
    sim->over = true; /* and nothing of it changes any more */
    return said(sim, kind == FFH_OK ? FFH_FILES : kind, outcome, notes, error);
}

static int refuse_busy(const ffh_sim *sim, ffh_error *error) {
    return ff__abi_fail(error, FFH_ARGUMENT,
                        "%s: it is in use, by another thread or by a part that is called", sim->path);
}

int ff__abi_enter(ffh_sim *sim, int as, ffh_error *error) {
    ff__abi_clear(error);
    for (int found = FF__ABI_FREE; !atomic_compare_exchange_strong(&sim->busy, &found, as);
         found = FF__ABI_FREE) {
        if (found == FF__ABI_RUNS)
            return refuse_busy(sim, error);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    return FFH_OK;
}

void ff__abi_leave(ffh_sim *sim) {
    atomic_store_explicit(&sim->busy, FF__ABI_FREE, memory_order_release);
}

static int once(const ffh_sim *sim, ffh_error *error) {
    return sim->over ? ff__abi_fail(error, FFH_ARGUMENT, "%s: the run is over; open it again", sim->path)
                     : FFH_OK;
}

static int end(ffh_sim *sim, ffh_error *error) {
    if (once(sim, error) != FFH_OK || !sim->begun)
        return FFH_ARGUMENT;
    ff_notes notes = {.error = ""};
    return settle(sim, ff_session_end(sim->session, &notes), &notes, error);
}

static int run(ffh_sim *sim, ffh_error *error) {
    if (once(sim, error) != FFH_OK)
        return FFH_ARGUMENT;
    if (sim->begun) {
        while (ff_session_step(sim->session))
            ;
        return end(sim, error);
    }
    ff_notes notes = {.error = ""};
    const ff_outcome prepared = prepare(sim, &notes);
    if (prepared != FF_DONE)
        return ff__abi_notes(error, FFH_FILES, prepared, &notes);
    return settle(sim, ff_session_execute(sim->session, &sim->options, &notes), &notes, error);
}

static int begin(ffh_sim *sim, ffh_error *error) {
    if (once(sim, error) != FFH_OK || sim->begun)
        return sim->begun ? FFH_OK : FFH_ARGUMENT;
    ff_notes notes = {.error = ""};
    ff_outcome outcome = prepare(sim, &notes);
    if (outcome != FF_DONE)
        return ff__abi_notes(error, FFH_FILES, outcome, &notes);
    outcome = ff_session_begin(sim->session, &sim->options, &notes);
    if (outcome != FF_DONE)
        return settle(sim, outcome, &notes, error);
    sim->begun = true;
    return ff__abi_notes(error, FFH_OK, FF_DONE, &notes);
}

static int alone(ffh_sim *sim, int as, int (*call)(ffh_sim *sim, ffh_error *error), ffh_error *error) {
    if (ff__abi_enter(sim, as, error) != FFH_OK)
        return FFH_ARGUMENT;
    const int kind = call(sim, error);
    ff__abi_leave(sim);
    return kind;
}

int ffh_run(ffh_sim *sim, ffh_error *error) {
    return alone(sim, FF__ABI_RUNS, run, error);
}

int ffh_begin(ffh_sim *sim, ffh_error *error) {
    return alone(sim, FF__ABI_RUNS, begin, error);
}

static int failure(ffh_sim *sim, ffh_error *error) {
    if (!ff__abi_running(sim, error))
        return FFH_ARGUMENT;
    ff_notes notes = {.error = ""};
    const ff_outcome outcome = ff_session_failure(sim->session, &notes);
    return said(sim, kind_of(sim, outcome), outcome, &notes, error);
}

int ffh_failure(ffh_sim *sim, ffh_error *error) {
    return alone(sim, FF__ABI_TOUCHES, failure, error);
}

int ffh_end(ffh_sim *sim, ffh_error *error) {
    return alone(sim, FF__ABI_RUNS, end, error);
}

int64_t ffh_step(ffh_sim *sim, int64_t cycles) {
    int64_t done = 0;
    if (ff__abi_enter(sim, FF__ABI_RUNS, NULL) != FFH_OK)
        return -1;
    while (done < cycles && sim->begun && !sim->over && ff_session_step(sim->session))
        done++;
    ff__abi_leave(sim);
    return done;
}

int ffh_cycle(ffh_sim *sim) {
    return (int)ffh_step(sim, 1);
}

ff_running *ff__abi_running(const ffh_sim *sim, ffh_error *error) {
    ff_running *running = sim->begun && !sim->over ? ff_session_running(sim->session) : NULL;
    ff__abi_clear(error);
    if (!running)
        ff__abi_fail(error, FFH_ARGUMENT, "%s: no run is under way", sim->path);
    return running;
}

/* ----------------------------------------------------------------------------------------------- results --
 */

int ffh_columns(const ffh_sim *sim) {
    return sim->store.count;
}

int ffh_column_at(const ffh_sim *sim, int index, ffh_column *column) {
    if (index < 0 || index >= sim->store.count)
        return FFH_ARGUMENT;
    const ff_store_column *c = &sim->store.column[index];
    *column =
        (ffh_column){.name = c->name, .unit = c->unit, .value = c->value, .now = &sim->store.row[index]};
    return FFH_OK;
}

uint64_t ffh_rows(ffh_sim *sim) {
    if (ff__abi_enter(sim, FF__ABI_TOUCHES, NULL) != FFH_OK)
        return sim->store.filed; /* those before the last few can be looked at while it runs */
    ff_store_file(&sim->store);
    ff__abi_leave(sim);
    return sim->store.rows;
}

const char *ffh_summary(ffh_sim *sim) {
    if (sim->over)
        return sim->session->summary;
    if (ff__abi_enter(sim, FF__ABI_TOUCHES, NULL) != FFH_OK)
        return NULL;
    free(sim->summary);
    sim->summary = sim->begun && !sim->over ? ff_session_peek(sim->session) : NULL;
    ff__abi_leave(sim);
    return sim->over ? sim->session->summary : sim->summary;
}

int ffh_report(ffh_sim *const *sims, int count, const char *folder, ffh_error *error) {
    ff_notes notes = {.error = ""};
    ff__abi_clear(error);
    const ff_session **sessions = calloc((size_t)count + 1, sizeof *sessions);
    ff_outcome outcome = sessions ? FF_DONE : ff_notes_error(&notes, FF_FAILED, "no memory");
    int entered = 0;
    for (; entered < count && outcome == FF_DONE; entered++) {
        ffh_sim *sim = sims[entered];
        if (ff__abi_enter(sim, FF__ABI_TOUCHES, error) != FFH_OK) {
            outcome = ff_notes_error(&notes, FF_REFUSED, "%s", error ? error->text : "it is in use");
            break;
        }
        ff_store_file(&sim->store);
        sessions[entered] = sim->session;
        if (!sim->session->summary)
            outcome = ff_notes_error(&notes, FF_REFUSED, "%s: the report is made when the run has ended",
                                     sim->path);
        else
            outcome = ff_session_collect(sim->session, &sim->store, &notes);
    }
    if (outcome == FF_DONE)
        outcome = ff_session_report(sessions, count, folder, &notes);
    while (entered > 0)
        ff__abi_leave(sims[--entered]);
    free(sessions);
    return ff__abi_notes(error, outcome == FF_REFUSED ? FFH_ARGUMENT : FFH_FILES, outcome, &notes);
}

const char *ffh_folder(const ffh_sim *sim) {
    return sim->where;
}

void ffh_describe(const ffh_sim *sim, ffh_info *info) {
    const ff_scenario *s = &sim->session->scenario;
    const int servicer = ff_scenario_servicer(s);
    *info = (ffh_info){.name = s->name,
                       .method = s->emulates ? "emulation" : ff_scenario_method_name(s),
                       .label = s->emulates ? "emulation" : sim->session->label,
                       .cycle = s->cycle,
                       .cycles = s->cycles,
                       .bodies = s->satellites,
                       .contacts = s->contacts,
                       .joints = servicer >= 0 ? s->satellite[servicer].arm.joints : 0,
                       .emulates = s->emulates};
    for (int i = 0; i < s->satellites; i++)
        info->body[i] = s->satellite[i].name;
}
