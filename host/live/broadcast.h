/* live/broadcast.h - what a run that is watched says on topics (record/topics.h) beside its rows: its state,
 * its events, and diagnostics of limits and timing. For Foxglove and ROS 2, in the server's thread. */
#ifndef FF_LIVE_BROADCAST_H
#define FF_LIVE_BROADCAST_H

#include "live/internal.h"
#include "record/topics.h"

enum { FF_BROADCAST_DIAGNOSTICS = FF_LIVE_MAX_LIMITS + 2 };

typedef struct ff_broadcast {
    ff_topics topics;
    char *description; /* or NULL */
    char *title;
    uint64_t noted; /* events said so far */
    int state;      /* as said last; -1: none */
    double *most;   /* of each limit since the last diagnostics */
    double late, compute, io;
    uint64_t seen; /* frames that are in these */
    int64_t due;   /* [ns] of the next diagnostics */
    ff_message_diagnostic *diagnostic;
    char (*message)[64];
    char (*name)[FF_NAME_SIZE + 64];
} ff_broadcast;

ff_status ff_broadcast_init(ff_broadcast *broadcast, const ff_live *live, const ff_live_config *config);
void ff_broadcast_free(ff_broadcast *broadcast);
/* What stands from the start. */
ff_status ff_broadcast_begin(ff_broadcast *broadcast, const ff_topic_taker *taker);
/* What happened since the last call; after the server took in its rows. */
ff_status ff_broadcast_tick(ff_broadcast *broadcast, const ff_live *live, const ff_topic_taker *taker);

#endif
