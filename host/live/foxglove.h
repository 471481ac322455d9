/* live/foxglove.h - Foxglove's WebSocket protocol (foxglove.sdk.v1, and foxglove.websocket.v1 which is the
 * same) without the sockets: what a client says into subscriptions and checked commands, what it gets as
 * messages.
 *
 * A server keeps the newest message of each topic that somebody has subscribed to, and gives each client
 * those that it has not got yet, when its socket takes them: one that does not read costs nothing and misses
 * the rest. Times are the run's own. Services are hold, zero, stop ... as the page's orders (live/orders.c
 * checks both); arming is not among them. */
#ifndef FF_LIVE_FOXGLOVE_H
#define FF_LIVE_FOXGLOVE_H

#include "live/broadcast.h"

enum {
    FF_FOXGLOVE_MESSAGE = 32 << 10,  /* [bytes] largest message taken from a client */
    FF_FOXGLOVE_SUBSCRIPTIONS = 256, /* of one client */
    FF_FOXGLOVE_OUTBOX = 24, /* answers that wait for one client; one that does not read them is closed */
    FF_FOXGLOVE_HEAD = 13    /* [bytes] before a message's own */
};

typedef struct ff_foxglove_client ff_foxglove_client;

/* A message to be sent: the head, then the body, which stays until the next call. */
typedef struct ff_foxglove_out {
    unsigned char head[FF_FOXGLOVE_HEAD];
    size_t head_size;
    const void *body;
    size_t size; /* [bytes] of the body */
    bool binary;
} ff_foxglove_out;

/* session: drawn anew for each server. FF_ERR_MEMORY. */
ff_status ff_foxglove_create(ff_live *live, const ff_live_config *config, const char *session,
                             ff_foxglove **foxglove);
void ff_foxglove_free(ff_foxglove *foxglove); /* NULL is fine */

/* What the sockets' side calls, all in the server's thread. */
struct ff_foxglove_side {
    /* After the rows were taken in: the newest messages; `news`: there are new rows. */
    void (*tick)(ff_foxglove *foxglove, bool news);
    /* operates: it came with the token. NULL: no memory. */
    ff_foxglove_client *(*enter)(ff_foxglove *foxglove, uint32_t number, bool operates);
    void (*leave)(ff_foxglove_client *client);
    /* A whole message. False: the client is to be closed. */
    bool (*hear)(ff_foxglove_client *client, const void *bytes, size_t size, bool binary);
    /* An answer of the loop to this client; NULL: time is over for those that wait longest. */
    void (*answer)(ff_foxglove_client *client, const ff_live_reply *reply);
    bool (*urgent)(const ff_foxglove_client *client);               /* something for it alone waits */
    bool (*due)(const ff_foxglove_client *client);                  /* something waits */
    bool (*next)(ff_foxglove_client *client, ff_foxglove_out *out); /* and is this; false: nothing */
};
extern const ff_foxglove_side ff_foxglove_calls;

#endif
