#include "campaign/reference.h"

#include "ideal/orbit.h"

#include "ideal/closed.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ff_references {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    size_t limit, bytes;
    uint64_t clock, computed, found;
    ff_reference *list;
};

ff_references *ff_references_create(size_t limit) {
    ff_references *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->limit = limit;
    pthread_mutex_init(&store->lock, NULL);
    pthread_cond_init(&store->ready, NULL);
    return store;
}

static void drop(ff_reference *reference) {
    ff_ideal_free(&reference->result);
    free(reference);
}

void ff_references_free(ff_references *store) {
    if (!store)
        return;
    while (store->list) {
        ff_reference *next = store->list->next;
        drop(store->list);
        store->list = next;
    }
    pthread_mutex_destroy(&store->lock);
    pthread_cond_destroy(&store->ready);
    free(store);
}

static void add(uint64_t key[2], const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        key[0] = (key[0] ^ word) * 0x9E3779B97F4A7C15u;
        key[0] ^= key[0] >> 29;
        key[1] = (key[1] + word) * 0xD1342543DE82EF95u;
        key[1] ^= key[1] >> 32;
    }
    if (size) {
        uint64_t word = 0;
        memcpy(&word, bytes, size);
        key[0] = (key[0] ^ word) * 0xBF58476D1CE4E5B9u;
        key[1] = (key[1] + word) * 0x94D049BB133111EBu;
    }
}

/* What the reference sees: the clock, bodies, contacts and loads; robots, sensors, methods, integrator and
 * seed are not among it. A contact counts whole, so that a key added to it later counts until someone says
 * otherwise. Scenarios are cleared before they are read: padding compares equal. */
static void key_of(const ff_scenario *scenario, uint64_t key[2]) {
    key[0] = 0x243F6A8885A308D3u;
    key[1] = 0x13198A2E03707344u;
    add(key, &scenario->cycle, sizeof scenario->cycle);
    add(key, &scenario->cycles, sizeof scenario->cycles);
    add(key, &scenario->satellites, sizeof scenario->satellites);
    add(key, &scenario->contacts, sizeof scenario->contacts);
    add(key, &scenario->loads, sizeof scenario->loads);
    for (int i = 0; i < scenario->satellites; i++) {
        add(key, &scenario->satellite[i].rigid, sizeof scenario->satellite[i].rigid);
        add(key, &scenario->satellite[i].start, sizeof scenario->satellite[i].start);
    }
    for (int i = 0; i < scenario->contacts; i++) {
        ff_contact contact;
        memcpy(&contact, &scenario->contact[i], sizeof contact);
        memset(contact.name, 0, sizeof contact.name);
        contact.stiffness = contact.damping = 0.0; /* the mock-ups': the reference has the satellites' */
        add(key, &contact, sizeof contact);
    }
    for (int i = 0; i < scenario->loads; i++)
        add(key, &scenario->load[i], sizeof scenario->load[i]);
}

/* Forgets the longest unused ones until the rest fits. */
static void evict(ff_references *store) {
    while (store->bytes > store->limit) {
        ff_reference **oldest = NULL;
        for (ff_reference **at = &store->list; *at; at = &(*at)->next)
            if (!(*at)->users && (!oldest || (*at)->used < (*oldest)->used))
                oldest = at;
        if (!oldest)
            return;
        ff_reference *gone = *oldest;
        *oldest = gone->next;
        store->bytes -= gone->bytes;
        drop(gone);
    }
}

const ff_reference *ff_references_take(ff_references *store, const ff_scenario *scenario,
                                       ff_ideal_progress progress, void *user) {
    uint64_t key[2];
    key_of(scenario, key);
    pthread_mutex_lock(&store->lock);
    for (ff_reference *r = store->list; r; r = r->next)
        if (r->key[0] == key[0] && r->key[1] == key[1]) {
            r->users++;
            r->used = ++store->clock;
            store->found++;
            while (!r->ready)
                pthread_cond_wait(&store->ready, &store->lock);
            pthread_mutex_unlock(&store->lock);
            return r;
        }
    ff_reference *r = calloc(1, sizeof *r);
    if (r) {
        r->key[0] = key[0];
        r->key[1] = key[1];
        r->users = 1;
        r->used = ++store->clock;
        r->next = store->list;
        store->list = r;
        store->computed++;
    }
    pthread_mutex_unlock(&store->lock);
    if (!r)
        return NULL;
    const bool arm = ff_scenario_servicer(scenario) >= 0;
    r->status = arm ? ff_orbit_solve(scenario, NULL, &r->result, r->message, sizeof r->message)
                    : ff_ideal_closed(scenario, &r->result);
    if (!arm && r->status == FF_ERR_UNSUPPORTED)
        r->status = ff_ideal_solve(scenario, progress, user, &r->result, r->message, sizeof r->message);
    pthread_mutex_lock(&store->lock);
    r->bytes = sizeof *r + (size_t)r->result.samples * (size_t)r->result.bodies *
                               (sizeof *r->result.state + sizeof *r->result.contact_load);
    store->bytes += r->bytes;
    r->ready = true;
    if (r->status == FF_ERR_LIMIT) /* stopped: whoever comes next tries again */
        r->key[0] = r->key[1] = 0;
    evict(store);
    pthread_cond_broadcast(&store->ready);
    pthread_mutex_unlock(&store->lock);
    return r;
}

void ff_references_release(ff_references *store, const ff_reference *reference) {
    if (!reference)
        return;
    pthread_mutex_lock(&store->lock);
    for (ff_reference *r = store->list; r; r = r->next)
        if (r == reference)
            r->users--;
    evict(store);
    pthread_mutex_unlock(&store->lock);
}

void ff_references_count(ff_references *store, uint64_t *computed, uint64_t *found) {
    pthread_mutex_lock(&store->lock);
    *computed = store->computed;
    *found = store->found;
    pthread_mutex_unlock(&store->lock);
}
