/* The module dds: net/topic_link.h by Cyclone DDS. Its threads hand what comes in to the socket, one of our
 * own writes what is sent; they keep off the loop's processor and come before ordinary work where that is
 * allowed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "net/dds/bytes.h"
#include "net/dds/domain.h"
#include "text/module.h"

enum {
    PEERS = 64,       /* of the two topics that are remembered */
    PRIORITY = 60,    /* below the loop's 80 */
    BUFFER = 1 << 20, /* [bytes] of the socket, each way: the oldest stay, as on a network */
    MESSAGE = 8192,   /* [bytes] of one that is sent */
    AT_ONCE = 16      /* endpoints of others that are looked at */
};

typedef enum role { WRITER, READER, RIVAL, ROLES } role; /* of what is read; of what is written; with us */

typedef struct peer { /* somebody else's reader or writer of our topics */
    dds_guid_t key;
    role role;
    bool used;
} peer;

typedef struct self {
    unsigned domain;
    dds_entity_t participant, reader, writer;
    const struct ddsi_sertype *type;
    dds_entity_t aside; /* reader or writer of the topic beside; 0: none */
    const struct ddsi_sertype *aside_type;
    dds_guid_t own;
    int near, far; /* both ends of the socket */
    char reads[FF_LINK_NAME], reads_type[FF_LINK_NAME], writes[FF_LINK_NAME], writes_type[FF_LINK_NAME];
    pthread_mutex_t lock; /* of the peers and what was found */
    peer peer[PEERS];
    ff_link_state found;
    atomic_uint count[ROLES];
    pthread_t thread;
    bool running;
} self;

/* -------------------------------------------------------------------------------------------- peers -- */

static void remember(self *l, const dds_guid_t *key, role as) {
    int free_one = -1;
    for (int i = 0; i < PEERS; i++)
        if (l->peer[i].used && memcmp(&l->peer[i].key, key, sizeof *key) == 0)
            return;
        else if (!l->peer[i].used && free_one < 0)
            free_one = i;
    if (free_one >= 0)
        l->peer[free_one] = (peer){*key, as, true};
}

static void forget(self *l, const dds_guid_t *key) {
    for (int i = 0; i < PEERS; i++)
        l->peer[i].used = l->peer[i].used && memcmp(&l->peer[i].key, key, sizeof *key) != 0;
}

/* A reader or writer in the domain has come or gone. */
static void meet(self *l, const dds_builtintopic_endpoint_t *one, bool alive, bool writes) {
    if (!alive) {
        forget(l, &one->key);
        return;
    }
    if (memcmp(&one->participant_key, &l->own, sizeof l->own) == 0 || !one->topic_name || !one->type_name)
        return;
    const bool read = strcmp(one->topic_name, l->reads) == 0,
               written = strcmp(one->topic_name, l->writes) == 0;
    if ((read && writes) || written) {
        const char *type = read ? l->reads_type : l->writes_type;
        if (strcmp(one->type_name, type) == 0)
            remember(l, &one->key, read ? WRITER : writes ? RIVAL : READER);
        else {
            l->found.other = true;
            snprintf(l->found.topic, sizeof l->found.topic, "%s", one->topic_name);
            snprintf(l->found.type, sizeof l->found.type, "%s", one->type_name);
        }
    }
}

static void look_around(self *l, dds_entity_t reader, bool writes) {
    void *got[AT_ONCE] = {NULL};
    dds_sample_info_t info[AT_ONCE];
    dds_return_t n;
    pthread_mutex_lock(&l->lock);
    while ((n = dds_take(reader, got, info, AT_ONCE, AT_ONCE)) > 0) {
        for (dds_return_t i = 0; i < n; i++)
            meet(l, got[i], info[i].instance_state == DDS_IST_ALIVE, writes);
        dds_return_loan(reader, got, n);
        memset(got, 0, sizeof got);
    }
    unsigned count[ROLES] = {0};
    for (int i = 0; i < PEERS; i++)
        if (l->peer[i].used)
            count[l->peer[i].role]++;
    for (int r = 0; r < ROLES; r++)
        atomic_store(&l->count[r], count[r]);
    pthread_mutex_unlock(&l->lock);
}

static void meet_writers(dds_entity_t reader, void *link) {
    look_around(link, reader, true);
}

static void meet_readers(dds_entity_t reader, void *link) {
    look_around(link, reader, false);
}

/* ----------------------------------------------------------------------------------------- messages -- */

static void pass(const self *l, bool aside, const dds_sample_info_t *info, const void *bytes, size_t size) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    ff_link_head head = {.arrived = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                         .from = info->publication_handle,
                         .readers = atomic_load(&l->count[READER]),
                         .rivals = atomic_load(&l->count[RIVAL]),
                         .aside = aside};
    struct iovec part[] = {{&head, sizeof head}, {(void *)(uintptr_t)bytes, size}};
    const struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
    sendmsg(l->far, &message, MSG_DONTWAIT | MSG_NOSIGNAL); /* one that stands still misses it */
}

static void hand_on(void *link, const dds_sample_info_t *info, const void *bytes, size_t size) {
    pass(link, false, info, bytes, size);
}

static void hand_aside(void *link, const dds_sample_info_t *info, const void *bytes, size_t size) {
    pass(link, true, info, bytes, size);
}

static void hear(dds_entity_t reader, void *link) {
    while (ff_bytes_take(reader, hand_on, link) > 0) {
    }
}

static void hear_aside(dds_entity_t reader, void *link) {
    while (ff_bytes_take(reader, hand_aside, link) > 0) {
    }
}

static void *write_on(void *link) {
    const self *l = link;
    uint8_t bytes[MESSAGE];
    pthread_setname_np(pthread_self(), "dds");
    for (;;) {
        const ssize_t n = recv(l->far, bytes, sizeof bytes, 0);
        if (n <= 0)
            return NULL;
        const bool aside = bytes[0];
        const dds_entity_t writer = aside ? l->aside : l->writer;
        if (writer > 0)
            ff_bytes_write(writer, aside ? l->aside_type : l->type, bytes + 1, (size_t)n - 1);
    }
}

/* ------------------------------------------------------------------------------------ start and end -- */

static dds_entity_t watch(self *l, dds_entity_t topic, dds_on_data_available_fn with) {
    dds_listener_t *listener = dds_create_listener(l);
    dds_lset_data_available(listener, with);
    const dds_entity_t reader = dds_create_reader(l->participant, topic, NULL, listener);
    dds_delete_listener(listener);
    return reader;
}

/* What is read is handed to `with`. */
static dds_entity_t open_reader(self *l, dds_entity_t topic, ff_link_quality quality, int depth,
                                dds_on_data_available_fn with) {
    dds_qos_t *q = ff_domain_quality(quality, depth);
    dds_listener_t *listener = dds_create_listener(l);
    dds_lset_data_available(listener, with);
    const dds_entity_t reader = topic < 0 ? topic : dds_create_reader(l->participant, topic, q, listener);
    dds_delete_listener(listener);
    dds_delete_qos(q);
    return reader;
}

static dds_entity_t open_writer(const self *l, dds_entity_t topic) {
    dds_qos_t *q = ff_domain_quality(FF_LINK_RELIABLE, 1);
    const dds_entity_t writer = topic < 0 ? topic : dds_create_writer(l->participant, topic, q, NULL);
    dds_delete_qos(q);
    return writer;
}

static bool open_entities(self *l, const ff_link_config *config) {
    const struct ddsi_sertype *used;
    bool good = watch(l, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, meet_writers) > 0 &&
                watch(l, DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION, meet_readers) > 0;
    if (good && config->writes) {
        const dds_entity_t topic = ff_bytes_topic(l->participant, l->writes, l->writes_type, &l->type);
        l->writer = open_writer(l, topic);
        good = l->writer > 0;
    }
    if (good && config->aside) {
        const dds_entity_t topic =
            ff_bytes_topic(l->participant, config->aside, "std_msgs::msg::dds_::String_", &l->aside_type);
        l->aside =
            config->hears ? open_reader(l, topic, FF_LINK_RELIABLE, 64, hear_aside) : open_writer(l, topic);
        good = l->aside > 0;
    }
    if (good && config->reads) {
        const dds_entity_t topic = ff_bytes_topic(l->participant, l->reads, l->reads_type, &used);
        l->reader = open_reader(l, topic, config->reliable ? FF_LINK_RELIABLE : FF_LINK_SENSOR, 64, hear);
        good = l->reader > 0;
    }
    return good;
}

/* No message is handed on after it. */
static void close_self(self *l) {
    if (l->near >= 0)
        shutdown(l->near, SHUT_RDWR);
    if (l->running)
        pthread_join(l->thread, NULL);
    if (l->participant > 0)
        ff_domain_leave(l->domain, l->participant);
    if (l->near >= 0)
        close(l->near);
    if (l->far >= 0)
        close(l->far);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* What is begun between the two runs aside of the loop, and before ordinary work if we may. */
typedef struct place {
    cpu_set_t cpus;
    int policy;
    struct sched_param priority;
} place;

static void step_aside(int loop_cpu, place *before) {
    sched_getaffinity(0, sizeof before->cpus, &before->cpus);
    pthread_getschedparam(pthread_self(), &before->policy, &before->priority);
    cpu_set_t cpus = before->cpus;
    if (loop_cpu > 0)
        CPU_CLR((size_t)loop_cpu - 1, &cpus);
    if (CPU_COUNT(&cpus) > 0)
        sched_setaffinity(0, sizeof cpus, &cpus);
    const struct sched_param priority = {.sched_priority = PRIORITY};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
}

static void step_back(const place *before) {
    pthread_setschedparam(pthread_self(), before->policy, &before->priority);
    sched_setaffinity(0, sizeof before->cpus, &before->cpus);
}

static ff_status open_link(const ff_link_config *config, ff_link *link, char *message, size_t size) {
    self *l = calloc(1, sizeof *l);
    int ends[2] = {-1, -1};
    char said[128] = "no topic, socket or thread";
    place before;
    if (!l) {
        snprintf(message, size, "no memory for ROS 2");
        return FF_ERR_MEMORY;
    }
    pthread_mutex_init(&l->lock, NULL);
    const bool paired = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
    l->near = ends[0];
    l->far = ends[1];
    const int room = BUFFER;
    for (int i = 0; i < 2 && paired; i++)
        setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    l->domain = config->domain;
    snprintf(l->reads, sizeof l->reads, "%s", config->reads ? config->reads : "");
    snprintf(l->reads_type, sizeof l->reads_type, "%s", config->reads ? config->reads_type : "");
    snprintf(l->writes, sizeof l->writes, "%s", config->writes ? config->writes : "");
    snprintf(l->writes_type, sizeof l->writes_type, "%s", config->writes ? config->writes_type : "");
    step_aside(config->loop_cpu, &before);
    l->participant = paired ? ff_domain_join(config->domain, config->address, said, sizeof said) : 0;
    if (l->participant > 0) {
        dds_get_guid(l->participant, &l->own);
        l->running = open_entities(l, config) && pthread_create(&l->thread, NULL, write_on, l) == 0;
    }
    step_back(&before);
    if (!l->running) {
        snprintf(message, size, "ROS 2: domain %u cannot be joined on %s: %s", config->domain,
                 config->address, said);
        close_self(l);
        return FF_ERR_DEVICE;
    }
    *link = (ff_link){.fd = l->near, .self = l};
    return FF_OK;
}

static void state_of(const ff_link *link, ff_link_state *state) {
    self *l = link->self;
    pthread_mutex_lock(&l->lock);
    *state = l->found;
    pthread_mutex_unlock(&l->lock);
    state->writers = atomic_load(&l->count[WRITER]);
    state->readers = atomic_load(&l->count[READER]);
    state->rivals = atomic_load(&l->count[RIVAL]);
}

static bool write_link(const ff_link *link, const void *bytes, size_t size) {
    const self *l = link->self;
    return l->writer > 0 && ff_bytes_write(l->writer, l->type, bytes, size);
}

static void close_link(ff_link *link) {
    close_self(link->self);
}

static const ff_link_table table = {open_link, state_of, write_link, close_link};

const ff_module ff_module_offer = {FF_MODULE_VERSION, &table};
