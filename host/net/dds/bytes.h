/* net/dds/bytes.h - a type for Cyclone DDS whose samples are CDR bytes as they are: messages are made and
 * read by record/ alone, and need no generated code. */
#ifndef FF_NET_DDS_BYTES_H
#define FF_NET_DDS_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include <dds/dds.h>

enum {
    FF_BYTES_MOST = 64 << 10, /* [bytes] of a sample from the network; a larger one is not taken */
    FF_BYTES_TAKEN = 4        /* samples at a time */
};

struct ddsi_sertype;

/* A topic whose type has this name; *used: that type, for writers. Negative: Cyclone's error. */
dds_entity_t ff_bytes_topic(dds_entity_t participant, const char *name, const char *type,
                            const struct ddsi_sertype **used);
/* Bytes with their CDR header. False: they are lost, since a reader leaves no room for them. */
bool ff_bytes_write(dds_entity_t writer, const struct ddsi_sertype *type, const void *bytes, size_t size);
/* Takes at most FF_BYTES_TAKEN samples and hands each to `with`; returns how many it took. */
int ff_bytes_take(dds_entity_t reader,
                  void (*with)(void *self, const dds_sample_info_t *info, const void *bytes, size_t size),
                  void *self);

#endif
