#include "net/topic_link.h"

#include "text/module.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const ff_link_table *table(char *message, size_t size) {
    return ff_module_table("dds", message, size);
}

void ff_link_type(const char *type, const char *suffix, char *out, size_t size) {
    const char *slash = strrchr(type, '/'), *first = strchr(type, '/');
    snprintf(out, size, "%.*s::%.*s::dds_::%s%s_", (int)(first - type), type, (int)(slash - first - 1),
             first + 1, slash + 1, suffix);
}

ff_status ff_link_open(const ff_link_config *config, ff_link *link, char *message, size_t size) {
    char reads[FF_LINK_NAME], reads_type[FF_LINK_NAME], writes[FF_LINK_NAME], writes_type[FF_LINK_NAME],
        aside[FF_LINK_NAME];
    ff_link_config wire = *config;
    char text[200];
    const ff_link_table *dds = table(text, sizeof text);
    *link = (ff_link){.fd = -1};
    if (!dds) {
        snprintf(message, size, "ROS 2 needs Cyclone DDS when freefloat is built: %s", text);
        return FF_ERR_UNSUPPORTED;
    }
    if (config->reads) {
        snprintf(reads, sizeof reads, "rt%s", config->reads);
        ff_link_type(config->reads_type, "", reads_type, sizeof reads_type);
        wire.reads = reads;
        wire.reads_type = reads_type;
    }
    if (config->writes) {
        snprintf(writes, sizeof writes, "rt%s", config->writes);
        ff_link_type(config->writes_type, "", writes_type, sizeof writes_type);
        wire.writes = writes;
        wire.writes_type = writes_type;
    }
    if (config->aside) {
        snprintf(aside, sizeof aside, "rt%s", config->aside);
        wire.aside = aside;
    }
    return dds->open(&wire, link, message, size);
}

void ff_link_look(const ff_link *link, ff_link_state *state) {
    char text[200];
    const ff_link_table *dds = table(text, sizeof text);
    *state = (ff_link_state){0};
    if (dds && link->fd >= 0)
        dds->state(link, state);
}

bool ff_link_write(const ff_link *link, const void *bytes, size_t size) {
    char text[200];
    const ff_link_table *dds = link->fd >= 0 ? table(text, sizeof text) : NULL;
    return dds && dds->write(link, bytes, size);
}

void ff_link_close(ff_link *link) {
    char text[200];
    const ff_link_table *dds = link->fd >= 0 && link->self ? table(text, sizeof text) : NULL;
    if (dds)
        dds->close(link);
    *link = (ff_link){.fd = -1};
}

long ff_link_receive(const ff_link *link, void *buffer, size_t size, int64_t *arrived_ns) {
    struct iovec part = {buffer, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ff_link_head head;
    *arrived_ns = 0;
    const ssize_t n = recvmsg(link->fd, &message, MSG_DONTWAIT);
    if (n <= 0)
        return 0;
    if ((size_t)n < sizeof head || message.msg_flags & MSG_TRUNC)
        return -1;
    memcpy(&head, buffer, sizeof head);
    *arrived_ns = head.arrived;
    return (long)n;
}

bool ff_link_send(const ff_link *link, bool aside, const void *bytes, size_t size) {
    uint8_t where = aside; /* before the bytes, for the thread that writes them */
    struct iovec part[] = {{&where, 1}, {(void *)(uintptr_t)bytes, size}};
    const struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
    return sendmsg(link->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size + 1;
}
