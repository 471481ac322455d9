/* live/module/server.h - the module live: one server on one socket, for the page or for Foxglove; what both
 * share is in server.c, what is the one's or the other's in page.c and foxglove.c. All of it runs in one
 * thread. */
#ifndef FF_LIVE_MODULE_SERVER_H
#define FF_LIVE_MODULE_SERVER_H

#include <libwebsockets.h>
#include <pthread.h>

#include "live/foxglove.h"

enum {
    CHUNK = 16384, /* [bytes] of the page in one write */
    ORDERS = 2,    /* that a viewer is listened to in a tick */
    TURN = 4,      /* messages that a viewer of the page gets in a tick, beside answers */
    GUESTS = 128,  /* connections that are no viewers (yet); a further one takes the place of another */
    READERS = 64   /* of them, that are being sent a page or a file */
};

typedef struct viewer {
    size_t sent;              /* [bytes] of the page, to who asks for it */
    const ff_live_file *file; /* in its place; NULL: the page itself */
    uint32_t number;
    bool greeted, begun, caught_up; /* begun: it got the first piece of the past */
    bool operates;                  /* came with the token, or gave it: nobody takes its place */
    int turn;                       /* messages that it may still get in this tick */
    int heard;                      /* orders in this tick */
    uint64_t offered;               /* the tick since which it has taken nothing; 0: nothing waits */
    uint64_t next_frame, next_note;
    bool status_due;
    ff_live_reply outbox[FF_LIVE_OUTBOX];
    int waiting;
    struct {
        uint32_t id;
        int64_t deadline; /* [ns] 0: free */
        ff_claim claim;
        bool taken; /* by the loop */
    } pending[FF_LIVE_OUTBOX];
    char message[FF_LIVE_MESSAGE];
    size_t length;
    int wrong;
    ff_foxglove_client *client; /* Foxglove's: in place of most of the above */
    char *text;                 /* and its message */
} viewer;

typedef struct server server;

/* A connection that is no viewer. */
typedef struct guest {
    struct lws *wsi;      /* NULL: a free place */
    uint64_t born;        /* the pass in which it came, or in which its last request was answered */
    uint64_t order;       /* who came first */
    uint64_t ticks;       /* since which it has asked for nothing */
    bool spoke;           /* something of it has come */
    const viewer *reader; /* it is being sent something; NULL: nothing */
} guest;

/* What the page and Foxglove do each in their own way. */
typedef struct face {
    int (*request)(server *s, struct lws *wsi, viewer *v, const char *path); /* HTTP */
    bool (*origin)(const server *s, struct lws *wsi, const char *host);      /* may it open a WebSocket? */
    int (*enter)(server *s, viewer *v);
    void (*leave)(server *s, viewer *v);
    bool (*due)(const server *s, const viewer *v); /* something waits, and it is its turn */
    bool (*shared_due)(const server *s, const viewer *v);
    int (*send)(server *s, struct lws *wsi, viewer *v); /* one message */
    int (*hear)(server *s, struct lws *wsi, viewer *v, const char *bytes, size_t n);
    void (*deliver)(server *s); /* answers of the loop */
    int turn;                   /* messages in a tick, beside answers */
} face;

struct server {
    ff_live *live;
    const face *face;
    struct lws_context *context;
    struct lws_protocols protocol[4];
    char policy[1024];
    const unsigned char *page;
    size_t page_size;
    pthread_t thread;
    atomic_bool stop;
    int64_t stop_at;
    lws_sorted_usec_list_t tick;
    int64_t tick_at, status_at; /* [ns] the next ones */
    uint64_t ticks;             /* from 1 */
    int passes;                 /* in this tick */
    viewer *who[FF_LIVE_VIEWERS];
    struct lws *socket[FF_LIVE_VIEWERS];
    guest guest[GUESTS];
    uint64_t rounds, guests; /* passes, and connections that came, so far */
    uint32_t numbers, turn;
    int next;              /* of who[]: the first that has its turn in the next tick */
    char *status;          /* of this tick, once somebody needed it */
    unsigned char *buffer; /* one message */
    size_t buffer_size;
};

extern const face ff_page_face, ff_foxglove_face;

/* Server.c's. */
bool ff_server_header(struct lws *wsi, enum lws_token_indexes token, char *text, int size);
bool ff_server_host(const server *s, struct lws *wsi, char *host, int size); /* called by a name of its own */
unsigned char *ff_server_room(server *s, size_t size);                       /* NULL: no memory */
int ff_server_refuse(struct lws *wsi, unsigned code);                        /* an answer without a page */
bool ff_server_reads(server *s, struct lws *wsi, const viewer *v); /* it is sent something; false: full */
void ff_server_read(server *s, const struct lws *wsi);             /* it has all of it */
void ff_server_drop(struct lws *wsi);                                        /* one who does not read */
/* Page.c's. */
bool ff_server_find_policy(server *s); /* false: the embedded page is damaged */
int ff_page_send(server *s, struct lws *wsi, viewer *v);

#endif
