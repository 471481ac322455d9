#include "net/dds/domain.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_TEXT = 128, OPEN = 8 };

/* The domains that this module has opened: who joins later does not open it again, who leaves last closes. */
static struct {
    unsigned domain;
    int participants; /* 0: free */
    dds_entity_t entity;
} opened[OPEN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

dds_qos_t *ff_domain_quality(ff_link_quality kind, int depth) {
    dds_qos_t *q = dds_create_qos();
    dds_qset_reliability(q, kind == FF_LINK_SENSOR ? DDS_RELIABILITY_BEST_EFFORT : DDS_RELIABILITY_RELIABLE,
                         0); /* a reader that stands still is not waited for */
    dds_qset_history(q, DDS_HISTORY_KEEP_LAST, depth);
    dds_qset_writer_data_lifecycle(q, false);
    if (kind == FF_LINK_LATCHED) {
        dds_qset_durability(q, DDS_DURABILITY_TRANSIENT_LOCAL);
        dds_qset_durability_service(q, 0, DDS_HISTORY_KEEP_LAST, depth, DDS_LENGTH_UNLIMITED,
                                    DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
    }
    return q;
}

/* On loopback no multicast: who looks for us there asks each participant. What a reader has not confirmed yet
 * is bounded by a topic's depth alone: Cyclone's own bound begins at 30 kB and shrinks while something is sent
 * again, and as we never wait, what is beyond it would not be sent at all. What the environment says of
 * Cyclone (CYCLONEDDS_URI: DDS Security, interfaces, buffers) comes after ours and wins. */
static dds_entity_t open_domain(unsigned domain, const char *address) {
    const char *more = getenv("CYCLONEDDS_URI");
    const bool loopback = ntohl(inet_addr(address)) >> 24 == 127;
    char text[4096];
    const int used = snprintf(
        text, sizeof text,
        "<Domain><General><Interfaces><NetworkInterface address=\"%s\"/></Interfaces>%s</General>"
        "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</"
        "MaxAutoParticipantIndex>%s"
        "</Discovery><Internal><Watermarks><WhcHigh>64 MB</WhcHigh><WhcHighInit>64 MB</WhcHighInit>"
        "<WhcAdaptive>false</WhcAdaptive></Watermarks></Internal><Tracing><Verbosity>none</Verbosity></Tracing></Domain>%s%s",
        address, loopback ? "<AllowMulticast>false</AllowMulticast>" : "",
        loopback ? "<Peers><Peer address=\"127.0.0.1\"/></Peers>" : "", more && *more ? "," : "",
        more ? more : "");
    return used < (int)sizeof text ? dds_create_domain(domain, text) : DDS_RETCODE_BAD_PARAMETER;
}

/* Cyclone prints what goes wrong; the last of it while a domain is opened is part of our own line. */
static void take_log(void *self, const dds_log_data_t *said) {
    char *text = self;
    if (text && said->size > said->hdrsize)
        snprintf(text, LOG_TEXT, "%.*s", (int)strcspn(said->message, "\n"), said->message);
}

static int place_of(unsigned domain) {
    int place = -1;
    for (int i = 0; i < OPEN; i++)
        if (opened[i].participants && opened[i].domain == domain)
            return i;
        else if (!opened[i].participants && place < 0)
            place = i;
    return place;
}

dds_entity_t ff_domain_join(unsigned domain, const char *address, char *message, size_t size) {
    char said[LOG_TEXT] = "";
    pthread_mutex_lock(&lock);
    const int at = place_of(domain);
    dds_entity_t participant = DDS_RETCODE_OUT_OF_RESOURCES;
    if (at >= 0) {
        dds_set_log_sink(take_log, said);
        dds_entity_t entity = opened[at].participants ? opened[at].entity : open_domain(domain, address);
        if (entity == DDS_RETCODE_PRECONDITION_NOT_MET) /* another part of the program has opened it */
            entity = 0;
        dds_qos_t *q = dds_create_qos();
        dds_qset_userdata(q, "enclave=/;", 10);
        participant = entity < 0 ? entity : dds_create_participant(domain, q, NULL);
        dds_delete_qos(q);
        dds_set_log_sink(take_log, NULL);
        if (participant > 0) {
            opened[at].domain = domain;
            opened[at].entity = entity;
            opened[at].participants++;
        } else if (entity > 0 && !opened[at].participants)
            dds_delete(entity);
    }
    pthread_mutex_unlock(&lock);
    if (participant < 0)
        snprintf(message, size, "%s", *said ? said : dds_strretcode(-participant));
    return participant;
}

void ff_domain_leave(unsigned domain, dds_entity_t participant) {
    pthread_mutex_lock(&lock);
    const int at = place_of(domain);
    dds_delete(participant);
    if (at >= 0 && opened[at].participants && --opened[at].participants == 0 && opened[at].entity > 0)
        dds_delete(opened[at].entity);
    pthread_mutex_unlock(&lock);
}
