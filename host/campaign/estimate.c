/* campaign/estimate.c - what a campaign would cost: a few samples, spread over the whole, are run and timed.
 */
#include <stdlib.h>

#include "campaign/conduct.h"
#include "campaign/worker.h"
#include "text/clock.h"

enum { PROBES = 256 };
static const double PATIENCE = 1.0; /* [s] */

ff_outcome ff_conduct_estimate(const ff_campaign *c, double workers, ff_conduct_cost *cost, ff_notes *notes) {
    char message[512] = "no memory";
    *cost = (ff_conduct_cost){.runs = (double)c->samples * c->methods};
    ff_references *references = ff_references_create((size_t)16 << 20);
    ff_worker *worker = references ? ff_worker_create(c, references, NULL, message, sizeof message) : NULL;
    ff_record *records = malloc(sizeof *records * (size_t)c->methods);
    const bool ready = worker && records;
    const double begin = ff_clock_seconds();
    const uint64_t most = c->samples < PROBES ? c->samples : PROBES;
    uint64_t probes = 0;
    double first = 0.0;
    for (; ready && probes < most && ff_clock_seconds() - begin < PATIENCE; probes++) {
        int count;
        const uint64_t index = (uint64_t)((double)c->samples * ((double)probes + 0.5) / (double)most);
        ff_worker_run(worker, index, UINT32_MAX, records, &count);
        for (int i = 0; i < count; i++)
            cost->probes_failed += records[i].status < 0;
        cost->probes += count;
        if (probes == 0)
            first = ff_clock_seconds() - begin; /* caches fill here */
    }
    const double spent = ff_clock_seconds() - begin;
    cost->sample_s = probes > 1 ? (spent - first) / (double)(probes - 1) : spent;
    /* 20 us a run to write and read its record */
    cost->seconds = cost->sample_s * (double)c->samples / workers + 2e-5 * cost->runs;
    /* a record of the journal, a line of results.csv */
    cost->bytes = cost->runs * (24.0 + 8.0 * c->metrics + 20.0 + 12.0 * c->varies + 20.0 * c->metrics);
    if (!ready)
        ff_notes_error(notes, FF_FAILED, "freefloat campaign: %s", worker ? "no memory" : message);
    ff_worker_free(worker);
    ff_references_free(references);
    free(records);
    return ready ? FF_DONE : FF_FAILED;
}
