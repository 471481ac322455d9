#include "campaign/pool.h"

#include "campaign/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/clock.h"

enum {
    REPORT = 1,           /* to rank 0: a head, then records */
    WORK = 2,             /* from rank 0: items; none: there is no more */
    STOP = 3,             /* from rank 0: leave what you do */
    MOST_ITEMS = 4096,    /* in one message */
    REFERENCES = 48 << 20 /* bytes of ideal references kept */
};

typedef struct item {
    uint64_t index;
    uint32_t mask, unused;
} item;

typedef struct report {
    uint64_t runs;
    uint32_t wants; /* asks for work */
    uint32_t bye;
    double rate; /* samples a second */
} report;

typedef struct pool {
    const ff_campaign *campaign;
    const ff_ranks *ranks;
    ff_journal *journal;
    ff_references *references;
    atomic_bool stop;
    pthread_mutex_t lock; /* of the work */
    pthread_cond_t more;
    bool closed; /* no more work will come */
    /* rank 0 */
    uint64_t cursor; /* next sample to hand out */
    pthread_mutex_t writing;
    int error; /* errno of the journal */
    uint64_t done;
    /* other ranks */
    item queue[2 * MOST_ITEMS];
    int first, waiting;
    unsigned char *out;
    size_t used, room;
    /* both */
    uint64_t runs, samples;
    int busy; /* threads still at work */
    char message[512];
} pool;

/* Between two looks for messages: short at first, when the ranks' rates are not known yet and work comes one
 * by one; later a hundredth of the time passed, at most 5 ms, a tenth of what is handed out at once, for each
 * look takes the core from a thread at work; and short again when the last work is handed out and ranks wait
 * for each other. */
static double pause_after(double passed, bool ending) {
    return fmin(fmax(0.01 * passed, 2e-4), ending ? 1e-3 : 5e-3);
}

static void rest(double seconds) {
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&t, NULL);
}

/* ----------------------------------------------------------------------------------------- handing out -- */

/* Rank 0, under the lock: the next sample of which a run is missing. */
static bool next_item(pool *p, item *work) {
    const ff_campaign *c = p->campaign;
    while (p->cursor < c->samples) {
        *work = (item){.index = p->cursor++};
        for (int m = 0; m < c->methods; m++)
            if (!ff_slots_has(&p->journal->slots, work->index * (uint64_t)c->methods + (uint64_t)m))
                work->mask |= 1u << (unsigned)m;
        if (work->mask)
            return true;
    }
    return false;
}

/* For a thread; waits where work may still come. */
static bool take_item(pool *p, item *work) {
    bool got = false;
    pthread_mutex_lock(&p->lock);
    while (!atomic_load(&p->stop)) {
        if (p->journal)
            got = next_item(p, work);
        else if (p->waiting) {
            *work = p->queue[p->first];
            p->first = (p->first + 1) % (2 * MOST_ITEMS);
            p->waiting--;
            got = true;
        }
        if (got || p->journal || p->closed)
            break;
        pthread_cond_wait(&p->more, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return got;
}

/* -------------------------------------------------------------------------------------------- results -- */

static void write_records(pool *p, const unsigned char *bytes, size_t count, uint64_t runs) {
    pthread_mutex_lock(&p->writing);
    if (!p->error && count && ff_journal_append(p->journal, bytes, count) != FF_OK) {
        p->error = errno ? errno : EIO;
        atomic_store(&p->stop, true);
    } else if (!p->error) {
        p->runs += runs;
        p->done += runs;
    }
    pthread_mutex_unlock(&p->writing);
}

static void keep_records(pool *p, const unsigned char *bytes, size_t count, uint64_t runs) {
    pthread_mutex_lock(&p->writing);
    if (p->used + count > p->room) {
        const size_t room = 2 * (p->used + count) + 65536;
        unsigned char *larger = realloc(p->out, room);
        if (larger) {
            p->out = larger;
            p->room = room;
        }
    }
    if (p->used + count <= p->room) { /* else these runs are made again by the next resume */
        memcpy(p->out + p->used, bytes, count);
        p->used += count;
        p->runs += runs;
    }
    p->samples++;
    pthread_mutex_unlock(&p->writing);
}

static void *work_on(void *user) {
    pool *p = user;
    char message[512] = "no memory";
    ff_worker *worker = ff_worker_create(p->campaign, p->references, &p->stop, message, sizeof message);
    ff_record *records = malloc(sizeof *records * (size_t)p->campaign->methods);
    unsigned char *bytes = malloc(FF_RECORD_BYTES * (size_t)p->campaign->methods);
    item work;
    if (!worker || !records || !bytes) {
        pthread_mutex_lock(&p->lock);
        snprintf(p->message, sizeof p->message, "%s", worker ? "no memory" : message);
        atomic_store(&p->stop, true);
        pthread_mutex_unlock(&p->lock);
    } else
        while (take_item(p, &work)) {
            int count;
            if (ff_worker_run(worker, work.index, work.mask, records, &count) < 0 && count == 0)
                continue; /* stopped in the middle: nothing is kept of it */
            size_t n = 0;
            for (int i = 0; i < count; i++)
                n += ff_record_encode(&records[i], p->campaign->metrics, bytes + n);
            (p->journal ? write_records : keep_records)(p, bytes, n, (uint64_t)count);
        }
    ff_worker_free(worker);
    free(records);
    free(bytes);
    pthread_mutex_lock(&p->lock);
    p->busy--;
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ending: all work is handed out. */
static int still_busy(pool *p, bool *ending) {
    pthread_mutex_lock(&p->lock);
    const int busy = p->busy;
    *ending = p->cursor >= p->campaign->samples;
    pthread_mutex_unlock(&p->lock);
    return busy;
}

/* ---------------------------------------------------------------------------------- main thread, rank 0 --
 */

/* About a twentieth of a second of work, less near the end so that all finish together. */
static void send_work(pool *p, int to, double rate) {
    static item items[MOST_ITEMS];
    uint64_t most = rate > 0.0 ? (uint64_t)(0.05 * rate) + 1 : 1;
    int count = 0;
    pthread_mutex_lock(&p->lock);
    const uint64_t left = p->campaign->samples - p->cursor;
    const uint64_t share = left / (2 * (uint64_t)p->ranks->count) + 1;
    most = most < share ? most : share;
    most = most < MOST_ITEMS ? most : MOST_ITEMS;
    while (!atomic_load(&p->stop) && (uint64_t)count < most && next_item(p, &items[count]))
        count++;
    pthread_mutex_unlock(&p->lock);
    ff_ranks_send(p->ranks, to, WORK, items, (size_t)count * sizeof *items);
}

static int serve(pool *p, unsigned char **buffer, size_t *room, int *alive) {
    int from, kind, handled = 0;
    size_t bytes;
    while (ff_ranks_probe(p->ranks, &from, &kind, &bytes)) {
        if (bytes > *room) {
            unsigned char *larger = realloc(*buffer, bytes);
            if (!larger) {
                p->error = ENOMEM;
                atomic_store(&p->stop, true);
                return handled;
            }
            *buffer = larger;
            *room = bytes;
        }
        ff_ranks_receive(p->ranks, from, kind, *buffer, bytes);
        handled++;
        report head;
        if (kind != REPORT || bytes < sizeof head)
            continue;
        memcpy(&head, *buffer, sizeof head);
        write_records(p, *buffer + sizeof head, bytes - sizeof head, head.runs);
        if (head.wants)
            send_work(p, from, head.rate);
        if (head.bye)
            --*alive;
    }
    return handled;
}

static void lead(pool *p, const ff_pool_options *options, ff_pool_result *result) {
    const uint64_t total = p->campaign->samples * (uint64_t)p->campaign->methods;
    unsigned char *buffer = NULL;
    size_t room = 0;
    int alive = p->ranks->count - 1;
    const double begin = ff_clock_seconds();
    double shown = 0.0, synced = begin;
    bool announced = false, ending;
    while (still_busy(p, &ending) || alive) {
        const int handled = serve(p, &buffer, &room, &alive);
        const double t = ff_clock_seconds();
        if (t - shown > 0.1) {
            shown = t;
            pthread_mutex_lock(&p->writing);
            const uint64_t done = p->done;
            pthread_mutex_unlock(&p->writing);
            if (!atomic_load(&p->stop) && options->progress &&
                !options->progress(options->user, done, total)) {
                result->stopped = true;
                atomic_store(&p->stop, true);
            }
        }
        if (t - synced > 2.0) { /* a power cut loses two seconds at most */
            synced = t;
            pthread_mutex_lock(&p->writing);
            if (!p->error && ff_journal_sync(p->journal) != FF_OK) {
                p->error = errno ? errno : EIO;
                atomic_store(&p->stop, true);
            }
            pthread_mutex_unlock(&p->writing);
        }
        if (atomic_load(&p->stop) && !announced) {
            announced = true;
            for (int r = 1; r < p->ranks->count; r++)
                ff_ranks_send(p->ranks, r, STOP, NULL, 0);
        }
        if (!handled)
            rest(pause_after(p->ranks->on ? ff_clock_seconds() - begin : 1.0, ending));
    }
    free(buffer);
}

/* ------------------------------------------------------------------------------ main thread, other ranks --
 */

static void receive(pool *p, bool *asked) {
    static item items[MOST_ITEMS];
    int from, kind;
    size_t bytes;
    while (ff_ranks_probe(p->ranks, &from, &kind, &bytes)) {
        if (bytes > sizeof items)
            return;
        ff_ranks_receive(p->ranks, from, kind, items, bytes);
        pthread_mutex_lock(&p->lock);
        if (kind == STOP)
            atomic_store(&p->stop, true);
        else if (kind == WORK) {
            const int count = (int)(bytes / sizeof *items);
            *asked = false;
            p->closed = p->closed || count == 0;
            for (int i = 0; i < count; i++)
                p->queue[(p->first + p->waiting++) % (2 * MOST_ITEMS)] = items[i];
        }
        pthread_cond_broadcast(&p->more);
        pthread_mutex_unlock(&p->lock);
    }
}

static void follow(pool *p) {
    unsigned char *sending = NULL;
    bool asked = false, bye = false;
    double begin = ff_clock_seconds(), sent = 0.0;
    int largest = 1; /* items waiting after the last delivery */
    for (;;) {
        receive(p, &asked);
        const bool idle = ff_ranks_sent(p->ranks);
        if (idle && bye)
            break;
        if (idle) {
            pthread_mutex_lock(&p->lock);
            const int waiting = p->waiting, busy = p->busy;
            const bool over = p->closed || atomic_load(&p->stop);
            pthread_mutex_unlock(&p->lock);
            largest = waiting > largest ? waiting : largest;
            pthread_mutex_lock(&p->writing);
            const bool wants = !over && !asked && waiting <= largest / 2;
            bye = busy == 0 && (over || atomic_load(&p->stop)) && !asked;
            if (bye || wants || (p->used && ff_clock_seconds() - sent > 0.005)) {
                const report head = {.runs = p->runs,
                                     .wants = wants,
                                     .bye = bye,
                                     .rate = (double)p->samples / (ff_clock_seconds() - begin + 1e-6)};
                unsigned char *larger = realloc(sending, sizeof head + p->used);
                if (larger) {
                    sending = larger;
                    memcpy(sending, &head, sizeof head);
                    if (p->used)
                        memcpy(sending + sizeof head, p->out, p->used);
                    ff_ranks_post(p->ranks, 0, REPORT, sending, sizeof head + p->used);
                    p->used = 0;
                    p->runs = 0;
                    sent = ff_clock_seconds();
                    asked = asked || wants;
                    if (wants)
                        largest = 1;
                } else
                    bye = false;
            }
            pthread_mutex_unlock(&p->writing);
        }
        rest(pause_after(ff_clock_seconds() - begin, p->closed));
    }
    free(sending);
}

/* ---------------------------------------------------------------------------------------------- the run --
 */

ff_status ff_pool_run(const ff_campaign *campaign, ff_journal *journal, const ff_ranks *ranks,
                      const ff_pool_options *options, ff_pool_result *result) {
    *result = (ff_pool_result){0};
    pool *p = calloc(1, sizeof *p);
    const int threads = options->threads < 1 ? 1 : options->threads;
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    if (p)
        p->references = ff_references_create(REFERENCES);
    if (!p || !thread || !p->references) {
        snprintf(result->message, sizeof result->message, "no memory for the campaign");
        if (p)
            ff_references_free(p->references);
        free(thread);
        free(p);
        return FF_ERR_MEMORY;
    }
    p->campaign = campaign;
    p->ranks = ranks;
    p->journal = journal;
    p->done = journal ? journal->slots.done : 0;
    atomic_init(&p->stop, false);
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->writing, NULL);
    pthread_cond_init(&p->more, NULL);
    const double begin = ff_clock_seconds();
    int started = 0;
    pthread_mutex_lock(&p->lock);
    while (started < threads && pthread_create(&thread[started], NULL, work_on, p) == 0)
        started++;
    p->busy = started;
    pthread_mutex_unlock(&p->lock);
    if (!started) {
        snprintf(p->message, sizeof p->message, "no thread can be started");
        atomic_store(&p->stop, true);
    }
    if (journal)
        lead(p, options, result);
    else
        follow(p);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    if (journal && !p->error && ff_journal_sync(journal) != FF_OK)
        p->error = errno ? errno : EIO;
    if (journal && options->progress && !result->stopped)
        options->progress(options->user, p->done, campaign->samples * (uint64_t)campaign->methods);
    result->seconds = ff_clock_seconds() - begin;
    result->runs = p->runs;
    ff_references_count(p->references, &result->references, &result->shared);
    ff_status status = FF_OK;
    if (p->error) {
        snprintf(result->message, sizeof result->message, "%.400s: cannot be written (%s)", journal->path,
                 strerror(p->error));
        status = FF_ERR_IO;
    } else if (p->message[0]) {
        snprintf(result->message, sizeof result->message, "%s", p->message);
        status = FF_ERR_MEMORY;
    }
    ff_references_free(p->references);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->writing);
    pthread_cond_destroy(&p->more);
    free(p->out);
    free(p);
    free(thread);
    return status;
}

/* -------------------------------------------------------------------------------------------- the check --
 */

typedef struct check {
    const ff_campaign *campaign;
    uint64_t part, parts; /* of all ranks and threads */
    atomic_bool *stop;
    _Atomic uint64_t *done, *bad; /* bad: the smallest index that is */
    _Atomic int *finished;        /* parts */
    char message[512];
} check;

enum { STRIPE = 256 };

static void *check_part(void *user) {
    check *c = user;
    ff_worker *worker = ff_worker_create(c->campaign, NULL, NULL, c->message, sizeof c->message);
    if (!worker) {
        atomic_store(c->bad, 0);
        atomic_fetch_add(c->finished, 1);
        return NULL;
    }
    const uint64_t samples = c->campaign->samples;
    for (uint64_t stripe = c->part; stripe * STRIPE < samples && !atomic_load(c->stop); stripe += c->parts) {
        const uint64_t begin = stripe * STRIPE;
        uint64_t i = begin;
        const uint64_t end = samples - i < STRIPE ? samples : i + STRIPE;
        for (; i < end; i++)
            if (i >= atomic_load(c->bad) || ff_worker_check(worker, i, c->message, sizeof c->message) < 0)
                break;
        if (i < end) { /* later ones of this part do not matter */
            uint64_t least = atomic_load(c->bad);
            while (i < least && !atomic_compare_exchange_weak(c->bad, &least, i)) {
            }
            break;
        }
        atomic_fetch_add(c->done, end - begin);
    }
    ff_worker_free(worker);
    atomic_fetch_add(c->finished, 1);
    return NULL;
}

ff_status ff_pool_check(const ff_campaign *campaign, const ff_ranks *ranks, const ff_pool_options *options,
                        ff_pool_result *result) {
    *result = (ff_pool_result){0};
    const int threads = options->threads < 1 ? 1 : options->threads;
    check *part = calloc((size_t)threads, sizeof *part);
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    atomic_bool stop;
    _Atomic uint64_t done, bad;
    _Atomic int finished;
    atomic_init(&finished, 0);
    atomic_init(&stop, false);
    atomic_init(&done, 0);
    atomic_init(&bad, UINT64_MAX);
    const double begin = ff_clock_seconds();
    int started = 0;
    for (; part && thread && started < threads; started++) {
        part[started] = (check){.campaign = campaign,
                                .part = (uint64_t)(ranks->rank * threads + started),
                                .parts = (uint64_t)(ranks->count * threads),
                                .stop = &stop,
                                .done = &done,
                                .bad = &bad,
                                .finished = &finished};
        if (pthread_create(&thread[started], NULL, check_part, &part[started]) != 0) {
            check_part(&part[started]); /* alone, then */
            part[started].part = UINT64_MAX;
        }
    }
    const uint64_t own = campaign->samples / (uint64_t)ranks->count; /* stripes are whole: it may be more */
    while (atomic_load(&finished) < started) {
        const uint64_t now = atomic_load(&done);
        if (ranks->rank == 0 && options->progress &&
            !options->progress(options->user, now < own ? now : own, own)) {
            result->stopped = true;
            atomic_store(&stop, true);
            break;
        }
        rest(1e-3);
    }
    for (int i = 0; i < started; i++)
        if (part[i].part != UINT64_MAX)
            pthread_join(thread[i], NULL);
    result->seconds = ff_clock_seconds() - begin;
    free(part);
    free(thread);
    const bool ran = started > 0;
    const bool stopped = ff_ranks_least(ranks, result->stopped ? 0 : 1) == 0;
    const uint64_t least = ff_ranks_least(ranks, ran ? atomic_load(&bad) : 0);
    result->stopped = stopped;
    if (least == UINT64_MAX || stopped)
        return FF_OK;
    ff_worker *worker = ff_worker_create(campaign, NULL, NULL, result->message, sizeof result->message);
    if (worker && ff_worker_check(worker, least, result->message, sizeof result->message) == FF_OK)
        snprintf(result->message, sizeof result->message, "no memory for the check");
    ff_worker_free(worker);
    return FF_ERR_FORMAT;
}
