#include "net/dds/bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_radmin.h>

typedef struct sample {
    struct ddsi_serdata c;
    uint32_t size;  /* [bytes] with the CDR header */
    uint8_t data[]; /* padded to four */
} sample;

static sample *new_sample(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind, size_t size) {
    sample *s = calloc(1, sizeof *s + (size + 3) / 4 * 4);
    if (s) {
        ddsi_serdata_init(&s->c, type, kind);
        s->c.hash = type->serdata_basehash;
        s->size = (uint32_t)size;
    }
    return s;
}

static const sample *sample_of(const struct ddsi_serdata *d) {
    return (const sample *)d;
}

static bool same_key(const struct ddsi_serdata *a, const struct ddsi_serdata *b) {
    (void)a;
    (void)b;
    return true; /* no keys: one instance */
}

static uint32_t size_of(const struct ddsi_serdata *d) {
    return sample_of(d)->size;
}

static struct ddsi_serdata *from_network(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                         const struct nn_rdata *piece, size_t size) {
    sample *s = size >= 4 && size <= FF_BYTES_MOST ? new_sample(type, kind, size) : NULL;
    for (uint32_t at = 0; s && piece; piece = piece->nextfrag) {
        if (piece->maxp1 <= at)
            continue;
        if (piece->min > at || piece->maxp1 > size) { /* a gap, or more than was said */
            free(s);
            return NULL;
        }
        const unsigned char *from = NN_RMSG_PAYLOADOFF(piece->rmsg, NN_RDATA_PAYLOAD_OFF(piece));
        memcpy(s->data + at, from + (at - piece->min), piece->maxp1 - at);
        at = piece->maxp1;
    }
    return s ? &s->c : NULL;
}

static struct ddsi_serdata *from_parts(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                       ddsrt_msg_iovlen_t parts, const ddsrt_iovec_t *part, size_t size) {
    sample *s = new_sample(type, kind, size);
    size_t at = 0;
    for (ddsrt_msg_iovlen_t i = 0; s && i < parts && at < size; i++) {
        const size_t left = size - at, n = part[i].iov_len < left ? part[i].iov_len : left;
        memcpy(s->data + at, part[i].iov_base, n);
        at += n;
    }
    return s ? &s->c : NULL;
}

static struct ddsi_serdata *from_key(const struct ddsi_sertype *type, const struct ddsi_keyhash *key) {
    (void)key;
    sample *s = new_sample(type, SDK_KEY, 0);
    return s ? &s->c : NULL;
}

static struct ddsi_serdata *from_sample(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                        const void *given) {
    (void)type;
    (void)kind;
    (void)given;
    return NULL;
}

static void copy_out(const struct ddsi_serdata *d, size_t from, size_t size, void *to) {
    memcpy(to, sample_of(d)->data + from, size);
}

static struct ddsi_serdata *lend(const struct ddsi_serdata *d, size_t from, size_t size, ddsrt_iovec_t *to) {
    to->iov_base = (void *)(uintptr_t)(sample_of(d)->data + from);
    to->iov_len = size;
    return ddsi_serdata_ref(d);
}

static void lent(struct ddsi_serdata *d, const ddsrt_iovec_t *from) {
    (void)from;
    ddsi_serdata_unref(d);
}

static bool to_sample(const struct ddsi_serdata *d, void *to, void **memory, void *end) {
    (void)d;
    (void)to;
    (void)memory;
    (void)end;
    return false;
}

static struct ddsi_serdata *to_untyped(const struct ddsi_serdata *d) {
    sample *s = new_sample(d->type, SDK_KEY, 0);
    if (s)
        s->c.type = NULL;
    return s ? &s->c : NULL;
}

static bool untyped_to_sample(const struct ddsi_sertype *type, const struct ddsi_serdata *d, void *to,
                              void **memory, void *end) {
    (void)type;
    return to_sample(d, to, memory, end);
}

static void free_sample(struct ddsi_serdata *d) {
    free(d);
}

static size_t print_sample(const struct ddsi_sertype *type, const struct ddsi_serdata *d, char *text,
                           size_t size) {
    (void)type;
    (void)d;
    if (size)
        text[0] = 0;
    return 0;
}

static void key_hash(const struct ddsi_serdata *d, struct ddsi_keyhash *hash, bool md5) {
    (void)d;
    (void)md5;
    memset(hash, 0, sizeof *hash);
}

static const struct ddsi_serdata_ops sample_calls = {.eqkey = same_key,
                                                     .get_size = size_of,
                                                     .from_ser = from_network,
                                                     .from_ser_iov = from_parts,
                                                     .from_keyhash = from_key,
                                                     .from_sample = from_sample,
                                                     .to_ser = copy_out,
                                                     .to_ser_ref = lend,
                                                     .to_ser_unref = lent,
                                                     .to_sample = to_sample,
                                                     .to_untyped = to_untyped,
                                                     .untyped_to_sample = untyped_to_sample,
                                                     .free = free_sample,
                                                     .print = print_sample,
                                                     .get_keyhash = key_hash};

/* -------------------------------------------------------------------------------------------- types -- */

static void free_type(struct ddsi_sertype *type) {
    ddsi_sertype_fini(type);
    free(type);
}

static void zero_samples(const struct ddsi_sertype *type, void *samples, size_t count) {
    (void)type;
    (void)samples;
    (void)count;
}

static void realloc_samples(void **to, const struct ddsi_sertype *type, void *old, size_t had, size_t count) {
    (void)type;
    (void)old;
    (void)had;
    for (size_t i = 0; i < count; i++)
        to[i] = NULL;
}

static void free_samples(const struct ddsi_sertype *type, void **samples, size_t count, dds_free_op_t how) {
    (void)type;
    (void)samples;
    (void)count;
    (void)how;
}

static bool same_type(const struct ddsi_sertype *a, const struct ddsi_sertype *b) {
    (void)a;
    (void)b;
    return true; /* its name is all that it is */
}

static uint32_t hash_type(const struct ddsi_sertype *type) {
    (void)type;
    return 0;
}

static const struct ddsi_sertype_ops type_calls = {.version = ddsi_sertype_v0,
                                                   .free = free_type,
                                                   .zero_samples = zero_samples,
                                                   .realloc_samples = realloc_samples,
                                                   .free_samples = free_samples,
                                                   .equal = same_type,
                                                   .hash = hash_type};

dds_entity_t ff_bytes_topic(dds_entity_t participant, const char *name, const char *type,
                            const struct ddsi_sertype **used) {
    struct ddsi_sertype *t = calloc(1, sizeof *t);
    if (!t)
        return DDS_RETCODE_OUT_OF_RESOURCES;
    ddsi_sertype_init(t, type, &type_calls, &sample_calls, true);
    struct ddsi_sertype *given = t;
    const dds_entity_t topic = dds_create_topic_sertype(participant, name, &given, NULL, NULL, NULL);
    if (topic < 0)
        ddsi_sertype_unref(t);
    *used = given;
    return topic;
}

bool ff_bytes_write(dds_entity_t writer, const struct ddsi_sertype *type, const void *bytes, size_t size) {
    sample *s = size <= UINT32_MAX / 2 ? new_sample(type, SDK_DATA, size) : NULL;
    if (!s)
        return false;
    memcpy(s->data, bytes, size);
    return dds_writecdr(writer, &s->c) == DDS_RETCODE_OK;
}

int ff_bytes_take(dds_entity_t reader,
                  void (*with)(void *self, const dds_sample_info_t *info, const void *bytes, size_t size),
                  void *self) {
    struct ddsi_serdata *got[FF_BYTES_TAKEN];
    dds_sample_info_t info[FF_BYTES_TAKEN];
    const dds_return_t n = dds_takecdr(reader, got, FF_BYTES_TAKEN, info, DDS_ANY_STATE);
    for (dds_return_t i = 0; i < n; i++) {
        if (info[i].valid_data)
            with(self, &info[i], sample_of(got[i])->data, sample_of(got[i])->size);
        ddsi_serdata_unref(got[i]);
    }
    return n > 0 ? (int)n : 0;
}
