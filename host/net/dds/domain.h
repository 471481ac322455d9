/* net/dds/domain.h - joining a domain of ROS 2 by Cyclone DDS. */
#ifndef FF_NET_DDS_DOMAIN_H
#define FF_NET_DDS_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

#include <dds/dds.h>

#include "net/topic_link.h"

/* A participant in the domain, on the interface of that address; the first one of a program opens the domain
 * there, the others join it. Negative with a sentence. */
dds_entity_t ff_domain_join(unsigned domain, const char *address, char *message, size_t size);
void ff_domain_leave(unsigned domain, dds_entity_t participant);

/* The caller deletes it. */
dds_qos_t *ff_domain_quality(ff_link_quality kind, int depth);

#endif
