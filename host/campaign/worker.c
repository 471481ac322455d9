#include "campaign/worker.h"

#include "campaign/settled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/clock.h"

struct ff_worker {
    const ff_campaign *campaign;
    ff_references *references;
    const atomic_bool *stop;
    ff_scenario_template *template[FF_CAMPAIGN_METHODS];
    double deadline; /* [s] processor time, of the run at hand */
    bool late, stopped;
    ff_settled settled; /* asked only where the campaign's runs may end early */
    unsigned asked;
    bool needs_text, brief; /* a metric is found in the summary's text; none asks for details */
    ff_campaign_case sample;
    ff_scenario scenario;
    ff_metrics metrics;
    ff_run_result run;
};

ff_worker *ff_worker_create(const ff_campaign *campaign, ff_references *references, const atomic_bool *stop,
                            char *message, size_t size) {
    ff_worker *worker = calloc(1, sizeof *worker);
    if (!worker || ff_metrics_init(&worker->scenario, &worker->metrics) != FF_OK) {
        snprintf(message, size, "no memory for a worker");
        free(worker);
        return NULL;
    }
    worker->campaign = campaign;
    worker->references = references;
    worker->stop = stop;
    worker->brief = true;
    for (int i = 0; i < campaign->metrics; i++) {
        worker->needs_text = worker->needs_text || campaign->metric[i].kind == FF_METRIC_TEXT;
        worker->brief = worker->brief && !campaign->metric[i].detailed;
    }
    for (int m = 0; m < campaign->methods; m++)
        if (ff_campaign_template(campaign, m, &worker->template[m], message, size) != FF_OK) {
            ff_worker_free(worker);
            return NULL;
        }
    return worker;
}

void ff_worker_free(ff_worker *worker) {
    if (!worker)
        return;
    for (int m = 0; m < worker->campaign->methods; m++)
        ff_scenario_template_free(worker->template[m]);
    ff_metrics_free(&worker->metrics);
    free(worker);
}

static ff_status read_scenario(ff_worker *worker, int method, char *message, size_t size) {
    return ff_scenario_template_read(worker->template[method], worker -> sample.value, &worker->scenario,
                                     message, size);
}

ff_status ff_worker_check(ff_worker *worker, uint64_t index, char *message, size_t size) {
    ff_campaign_sample(worker->campaign, index, &worker->sample);
    ff_status status = FF_OK;
    for (int m = 0; m < worker->campaign->methods && status == FF_OK; m++)
        status = read_scenario(worker, m, message, size);
    if (status != FF_OK) {
        const size_t n = strlen(message);
        snprintf(message + n, size - n, " (sample %llu)", (unsigned long long)index);
    }
    return status;
}

/* Asked a hundred times a run: continue? */
static bool go_on(void *user, double part) {
    ff_worker *worker = user;
    (void)part;
    worker->stopped = worker->stop && atomic_load_explicit(worker->stop, memory_order_relaxed);
    if (++worker->asked % 8 == 0) /* the clock costs more than the question */
        worker->late = ff_clock_worked() > worker->deadline;
    return !worker->stopped && !worker->late && !worker->settled.over;
}

static void set_reason(ff_worker *worker, const char *text, ff_record *record) {
    if (worker->late) /* not where it was then: another machine gets further */
        snprintf(record->reason, sizeof record->reason, FF_REASON_LATE " of %.6g s", worker->campaign->limit);
    else
        snprintf(record->reason, sizeof record->reason, "failed: %.180s",
                 *text ? text : ff_status_text(record->status));
}

/* The run itself, with the worker's scenario. One with a log goes to its end, and its summary is whole. */
static ff_status simulate(ff_worker *worker, const ff_sink *extra, const ff_reference **reference) {
    const ff_campaign *campaign = worker->campaign;
    worker->deadline = ff_clock_worked() + campaign->limit;
    worker->late = worker->stopped = false;
    worker->asked = 0;
    worker->run = (ff_run_result){0};
    ff_metrics_reset(&worker->scenario, &worker->metrics);
    worker->metrics.brief = worker->brief && !extra;
    worker->settled = (ff_settled){0};
    *reference = NULL;
    if (campaign->needs_ideal) {
        *reference = ff_references_take(worker->references, &worker->scenario, go_on, worker);
        const ff_status status = *reference ? (*reference)->status : FF_ERR_MEMORY;
        if (status < 0) {
            worker->run.status = status;
            snprintf(worker->run.message, sizeof worker->run.message, "the ideal reference: %s",
                     *reference && (*reference)->message[0] ? (*reference)->message : ff_status_text(status));
            return status;
        }
    }
    const ff_ideal_result *ideal = *reference ? &(*reference)->result : NULL;
    ff_sink sinks[2] = {ff_metrics_sink(&worker->metrics)};
    int count = 1;
    if (extra)
        sinks[count++] = *extra;
    else if (campaign->settles) {
        ff_settled_begin(&worker->settled, &worker->scenario, &worker->metrics);
        if (worker->settled.possible)
            sinks[count++] = ff_settled_sink(&worker->settled);
    }
    const ff_run_options options = {
        .ideal = ideal, .sinks = sinks, .count = count, .progress = go_on, .user = worker};
    ff_run(&worker->scenario, &options, &worker->run);
    if (worker->run.status == FF_ERR_LIMIT && worker->settled.over && !worker->stopped && !worker->late) {
        worker->run.status = FF_OK; /* nobody stopped it: the rest has no say */
        worker->run.message[0] = '\0';
    }
    ff_metrics_finish(&worker->metrics, ideal, worker->run.status);
    return worker->run.status;
}

static ff_status one(ff_worker *worker, int method, ff_record *record) {
    const ff_campaign *campaign = worker->campaign;
    const ff_reference *reference;
    *record = (ff_record){.slot = worker->sample.index * (uint64_t)campaign->methods + (uint64_t)method};
    for (int i = 0; i < campaign->metrics; i++)
        record->metric[i] = FF_NAN;
    char message[FF_REASON_SIZE];
    record->status = read_scenario(worker, method, message, sizeof message);
    if (record->status != FF_OK) {
        set_reason(worker, message, record);
        return FF_OK;
    }
    record->status = simulate(worker, NULL, &reference);
    const ff_ideal_result *ideal = reference && reference->status >= 0 ? &reference->result : NULL;
    char *text =
        worker->needs_text && record->status >= 0 ? ff_summary_json(&worker->metrics, &worker->run) : NULL;
    if (worker->needs_text && record->status >= 0 && !text)
        record->status = FF_ERR_MEMORY;
    const bool good = record->status >= 0;
    if (!good)
        set_reason(worker, worker->run.message, record);
    for (int i = 0; i < campaign->metrics; i++)
        if (good || campaign->metric[i].scenario_only)
            record->metric[i] = ff_metric_value(&campaign->metric[i], &worker->metrics, ideal, text);
    free(text);
    ff_references_release(worker->references, reference);
    return worker->stopped ? FF_ERR_LIMIT : FF_OK;
}

ff_status ff_worker_run(ff_worker *worker, uint64_t index, uint32_t mask, ff_record *records, int *count) {
    *count = 0;
    ff_campaign_sample(worker->campaign, index, &worker->sample);
    for (int m = 0; m < worker->campaign->methods; m++)
        if (mask >> (unsigned)m & 1u) {
            const ff_status status = one(worker, m, &records[*count]);
            if (status < 0)
                return status;
            (*count)++;
        }
    return FF_OK;
}

ff_status ff_worker_rerun(ff_worker *worker, uint64_t index, int method,
                          ff_sink (*prepare)(void *user, const ff_scenario *scenario), void *user,
                          ff_worker_view *view) {
    char message[FF_REASON_SIZE];
    const ff_reference *reference;
    ff_campaign_sample(worker->campaign, index, &worker->sample);
    ff_status status = read_scenario(worker, method, message, sizeof message);
    if (status != FF_OK)
        return status;
    const ff_sink extra = prepare(user, &worker->scenario);
    simulate(worker, extra.row ? &extra : NULL, &reference);
    if (worker->run.status >= 0 || worker->metrics.rows) {
        *view = (ff_worker_view){&worker->metrics, &worker->run};
        status = FF_OK;
    } else
        status = worker->run.status;
    ff_references_release(worker->references, reference);
    return status;
}
