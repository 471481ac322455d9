/* Foxglove's side of the server: sockets for live/foxglove.h, which knows the protocol. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/module/server.h"

/* There is no page here. */
static int answer_request(server *s, struct lws *wsi, viewer *v, const char *path) {
    (void)s;
    (void)path;
    *v = (viewer){0};
    return ff_server_refuse(wsi, HTTP_STATUS_NOT_FOUND);
}

/* Who speaks none of the protocols is not let in. Programs that are no browser name no origin; a browser
 * names its page's, which it cannot choose: Foxglove's own application, in the browser or as a window of its
 * own. Any other page gets nothing. */
static bool good_origin(const server *s, struct lws *wsi, const char *host) {
    static const char *const known[] = {"file://", "https://app.foxglove.dev", "https://studio.foxglove.dev"};
    char origin[160];
    (void)s;
    (void)host;
    if (lws_hdr_total_length(wsi, WSI_TOKEN_PROTOCOL) <= 0)
        return false;
    if (lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) <= 0)
        return true;
    if (!ff_server_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(origin, known[i]) == 0)
            return true;
    return false;
}

static int enter(server *s, viewer *v) {
    v->client = s->live->room.foxglove->enter(s->live->foxglove, v->number, v->operates);
    v->text = malloc(FF_FOXGLOVE_MESSAGE);
    return v->client && v->text ? 0 : -1;
}

static void leave(server *s, viewer *v) {
    s->live->room.foxglove->leave(v->client);
    free(v->text);
    v->text = NULL;
    v->client = NULL;
}

static bool due(const server *s, const viewer *v) {
    const ff_foxglove_side *side = s->live->room.foxglove;
    return v->client && (side->urgent(v->client) || (v->turn > 0 && side->due(v->client)));
}

static bool shared_due(const server *s, const viewer *v) {
    return v->client && s->live->room.foxglove->due(v->client);
}

static int send_one(server *s, struct lws *wsi, viewer *v) {
    ff_foxglove_out out;
    v->turn--;
    if (!s->live->room.foxglove->next(v->client, &out))
        return 0;
    const size_t size = out.head_size + out.size;
    unsigned char *at = ff_server_room(s, size + 1);
    if (!at)
        return -1;
    memcpy(at, out.head, out.head_size);
    if (out.size)
        memcpy(at + out.head_size, out.body, out.size);
    return lws_write(wsi, at, size, out.binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT) < (int)size ? -1 : 0;
}

static int hear(server *s, struct lws *wsi, viewer *v, const char *bytes, size_t n) {
    if (v->length + n + lws_remaining_packet_payload(wsi) > FF_FOXGLOVE_MESSAGE) {
        lws_close_reason(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, NULL, 0);
        return -1;
    }
    memcpy(v->text + v->length, bytes, n);
    v->length += n;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi))
        return 0;
    const bool good =
        s->live->room.foxglove->hear(v->client, v->text, v->length, lws_frame_is_binary(wsi) != 0);
    v->length = 0;
    if (++v->heard == ORDERS)
        lws_rx_flow_control(wsi, 0); /* until the next tick */
    lws_callback_on_writable(wsi);
    return good ? 0 : -1;
}

static void deliver(server *s) {
    const ff_foxglove_side *side = s->live->room.foxglove;
    ff_live_reply reply;
    while (s->live->room.pop(&s->live->replies, &reply))
        for (int i = 0; i < FF_LIVE_VIEWERS; i++)
            if (s->who[i] && s->who[i]->number == reply.viewer)
                side->answer(s->who[i]->client, &reply);
    for (int i = 0; i < FF_LIVE_VIEWERS; i++) {
        viewer *v = s->who[i];
        if (!v)
            continue;
        side->answer(v->client, NULL);
        if (side->urgent(v->client))
            lws_callback_on_writable(s->socket[i]);
    }
}

const face ff_foxglove_face = {answer_request, good_origin, enter, leave,   due,
                               shared_due,     send_one,    hear,  deliver, FF_FOXGLOVE_SUBSCRIPTIONS};
