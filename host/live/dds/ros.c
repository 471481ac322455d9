/* The module ros: topics and services of live/ros.h on the wire by Cyclone DDS, as ROS 2 names and knows
 * them, in a thread of its own. Cyclone's threads keep off the loop's processor, as this one does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "live/ros.h"
#include "net/dds/bytes.h"
#include "net/dds/domain.h"
#include "text/cdr.h"
#include "text/module.h"

enum {
    PERIOD = 4000000, /* [ns] between two looks at rows and requests: each row is sent, four at 1 kHz */
    SERVICES = FF_LIVE_VERBS + 8,
    URGENT = -10, /* niceness */
    GID = 24      /* [bytes] of an entity's name in ros_discovery_info, as Humble has it */
};

typedef struct channel {
    dds_entity_t writer; /* 0: none */
    const struct ddsi_sertype *type;
} channel;

typedef struct node {
    ff_live *live;
    ff_ros_wire wire;
    dds_entity_t participant;
    channel topic[FF_TOPICS_MAX];
    int services;
    dds_entity_t reader[SERVICES];
    channel reply[SERVICES];
    channel graph; /* ros_discovery_info: who the node is */
    int hearing;   /* the service whose requests are taken */
    pthread_t thread;
    bool running;
    atomic_bool stop;
    cpu_set_t before;
} node;

static void publish(void *self, int topic, const void *bytes, size_t size) {
    const node *n = self;
    if (n->topic[topic].writer > 0)
        ff_bytes_write(n->topic[topic].writer, n->topic[topic].type, bytes, size);
}

static void reply(void *self, int service, const void *bytes, size_t size) {
    const node *n = self;
    ff_bytes_write(n->reply[service].writer, n->reply[service].type, bytes, size);
}

static void hear(void *self, const dds_sample_info_t *info, const void *bytes, size_t size) {
    node *n = self;
    (void)info;
    n->live->room.ros->request(n->live->ros, n->hearing, bytes, size);
}

/* ------------------------------------------------------------------------------------------ entities -- */

static bool open_writer(const node *n, const char *name, const char *type, ff_link_quality kind, int depth,
                        channel *out) {
    const dds_entity_t topic = ff_bytes_topic(n->participant, name, type, &out->type);
    dds_qos_t *q = ff_domain_quality(kind, depth);
    out->writer = topic < 0 ? topic : dds_create_writer(n->participant, topic, q, NULL);
    dds_delete_qos(q);
    return out->writer > 0;
}

static bool open_reader(const node *n, const char *name, const char *type, dds_entity_t *reader) {
    const struct ddsi_sertype *used;
    const dds_entity_t topic = ff_bytes_topic(n->participant, name, type, &used);
    dds_qos_t *q = ff_domain_quality(FF_LINK_RELIABLE, 10);
    *reader = topic < 0 ? topic : dds_create_reader(n->participant, topic, q, NULL);
    dds_delete_qos(q);
    return *reader > 0;
}

static bool open_entities(node *n) {
    const ff_ros_side *side = n->live->room.ros;
    const ff_ros *ros = n->live->ros;
    bool good = true;
    for (int i = 0; i < side->topics(ros) && good; i++) {
        ff_ros_topic t;
        side->topic(ros, i, &t);
        good = !t.offered || open_writer(n, t.name, t.type, t.quality, t.depth, &n->topic[i]);
    }
    n->services = side->services(ros);
    for (int i = 0; i < n->services && good; i++) {
        ff_ros_service s;
        side->service(ros, i, &s);
        good = open_reader(n, s.request, s.request_type, &n->reader[i]) &&
               open_writer(n, s.reply, s.reply_type, FF_LINK_RELIABLE, 10, &n->reply[i]);
    }
    return good && open_writer(n, "ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
                               FF_LINK_LATCHED, 1, &n->graph);
}

static void put_gid(ff_cdr *c, dds_entity_t entity) {
    dds_guid_t guid = {{0}};
    uint8_t gid[GID] = {0};
    dds_get_guid(entity, &guid);
    memcpy(gid, guid.v, sizeof guid.v);
    ff_cdr_put_raw(c, gid, sizeof gid);
}

/* rmw_dds_common/ParticipantEntitiesInfo: `ros2 node list` shows /freefloat, and whose its topics are. */
static void introduce(node *n) {
    static uint8_t bytes[64 + GID * (FF_TOPICS_MAX + 2 * SERVICES)];
    ff_cdr c = ff_cdr_begin(bytes, sizeof bytes);
    size_t used;
    uint64_t writers = 0;
    put_gid(&c, n->participant);
    ff_cdr_put_number(&c, 1, 4);
    ff_cdr_put_string(&c, "/");
    ff_cdr_put_string(&c, "freefloat");
    ff_cdr_put_number(&c, (uint64_t)n->services, 4);
    for (int i = 0; i < n->services; i++)
        put_gid(&c, n->reader[i]);
    for (int i = 0; i < FF_TOPICS_MAX; i++)
        writers += n->topic[i].writer > 0;
    ff_cdr_put_number(&c, writers + (uint64_t)n->services, 4);
    for (int i = 0; i < FF_TOPICS_MAX; i++)
        if (n->topic[i].writer > 0)
            put_gid(&c, n->topic[i].writer);
    for (int i = 0; i < n->services; i++)
        put_gid(&c, n->reply[i].writer);
    if (ff_cdr_finish(&c, &used) == FF_OK)
        ff_bytes_write(n->graph.writer, n->graph.type, bytes, used);
}

/* -------------------------------------------------------------------------------------------- thread -- */

static void *serve(void *self) {
    node *n = self;
    const ff_ros_side *side = n->live->room.ros;
    pthread_setname_np(pthread_self(), "ros");
    n->live->room.stand_aside(n->live->loop_cpu - 1, NULL);
    int64_t due = n->live->room.now();
    for (bool last = false; !last;) {
        last = atomic_load(&n->stop);
        for (n->hearing = 0; n->hearing < n->services; n->hearing++)
            ff_bytes_take(n->reader[n->hearing], hear, n);
        side->tick(n->live->ros);
        due += PERIOD;
        const int64_t now = n->live->room.now();
        due = due > now ? due : now;
        const struct timespec until = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    return NULL;
}

static void close_node(node *n) {
    if (n->participant > 0)
        ff_domain_leave((unsigned)n->live->port, n->participant);
    free(n);
}

static ff_status start(ff_live *live, char *message, size_t size) {
    if (live->port > FF_LINK_DOMAINS) {
        snprintf(message, size, "domain %d: allowed: 0 to %d", live->port, FF_LINK_DOMAINS);
        return FF_ERR_ARGUMENT;
    }
    node *n = calloc(1, sizeof *n);
    if (!n)
        return FF_ERR_MEMORY;
    n->live = live;
    n->wire = (ff_ros_wire){n, publish, reply};
    live->room.stand_aside(live->loop_cpu - 1, &n->before);
    /* before ordinary work, where that is allowed: each row is sent, and a ring holds four seconds of them */
    const int nice = getpriority(PRIO_PROCESS, 0);
    setpriority(PRIO_PROCESS, 0, nice < URGENT ? nice : URGENT);
    char said[128] = "no topic or thread";
    n->participant = ff_domain_join((unsigned)live->port, live->host, said, sizeof said);
    const bool good = n->participant > 0 && open_entities(n);
    if (good) {
        introduce(n);
        live->room.ros->begin(live->ros, &n->wire);
    }
    const bool runs = good && pthread_create(&n->thread, NULL, serve, n) == 0;
    setpriority(PRIO_PROCESS, 0, nice);
    sched_setaffinity(0, sizeof n->before, &n->before);
    if (!runs) {
        snprintf(message, size, "domain %d cannot be joined on %s: %s", live->port, live->host, said);
        close_node(n);
        return FF_ERR_DEVICE;
    }
    snprintf(live->url, sizeof live->url, "domain %d on %s", live->port, live->host);
    live->server = n;
    return FF_OK;
}

static void stop(ff_live *live) {
    node *n = live->server;
    if (!n)
        return;
    atomic_store(&n->stop, true);
    pthread_join(n->thread, NULL);
    close_node(n);
    live->server = NULL;
}

static const ff_live_server table = {start, stop};

const ff_module ff_module_offer = {FF_MODULE_VERSION, &table};
