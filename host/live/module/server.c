/* The module live: sockets by libwebsockets, in one thread of its own: who may connect, whose turn it is, and
 * what a crowd costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "live/module/server.h"
#include "text/module.h"

enum {
    SHARE = 32,         /* viewers without the token that get something in one tick; the others in the next */
    PASSES = 8,         /* over all connections in a tick: what a rush brings waits and is done together */
    WAITING = 64 << 10, /* [bytes] that the system keeps for one who does not read */
    UNREAD = 16 << 10,  /* [bytes] that it keeps of one who is not listened to */
    STALLED = 5 * FF_LIVE_RATE, /* ticks in which a viewer takes nothing of what waits; then it is closed */
    SOCKETS = FF_LIVE_VIEWERS + 4 * GUESTS, /* with those that are being closed */
    PATIENCE = 3 /* [s] for a request to come, or the next one on the same connection */
};

/* ------------------------------------------------------------------------------------------------ checks --
 */

/* Names under which this server may be called: a page of another origin that was made to resolve here has
 * another Host, whatever its address. */
static bool own_host(const ff_live *live, const char *host) {
    char own[96];
    snprintf(own, sizeof own, "%s:%d", live->host, live->port);
    if (strcmp(host, own) == 0)
        return true;
    snprintf(own, sizeof own, "localhost:%d", live->port);
    return strcmp(live->host, "127.0.0.1") == 0 && strcmp(host, own) == 0;
}

bool ff_server_header(struct lws *wsi, enum lws_token_indexes token, char *text, int size) {
    text[0] = 0;
    return lws_hdr_total_length(wsi, token) > 0 && lws_hdr_copy(wsi, text, size, token) > 0;
}

bool ff_server_host(const server *s, struct lws *wsi, char *host, int size) {
    return ff_server_header(wsi, WSI_TOKEN_HOST, host, size) && own_host(s->live, host);
}

/* Called by a name of its own, and from where a WebSocket may come. */
static bool caller_good(const server *s, struct lws *wsi) {
    char host[128];
    return ff_server_host(s, wsi, host, sizeof host) && s->face->origin(s, wsi, host);
}

int ff_server_refuse(struct lws *wsi, unsigned code) {
    return lws_return_http_status(wsi, code, NULL) || lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* ----------------------------------------------------------------------------------------------- viewers --
 */

static int slot_of(const server *s, const viewer *v) {
    for (int i = 0; i < FF_LIVE_VIEWERS; i++)
        if (s->who[i] == v)
            return i;
    return -1;
}

static int count_viewers(const server *s) {
    int n = 0;
    for (int i = 0; i < FF_LIVE_VIEWERS; i++)
        n += s->who[i] != NULL;
    return n;
}

static void dismiss(struct lws *wsi) {
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

/* What was sent is thrown away and the connection reset. Closed in peace it would wait in the system behind
 * what is never taken, with all that memory, and before that in the library for the rest of a message. */
void ff_server_drop(struct lws *wsi) {
    const struct linger at_once = {.l_onoff = 1};
    const int fd = lws_get_socket_fd(wsi);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    shutdown(fd, SHUT_RDWR); /* unusable: the library closes it at once */
}

/* ------------------------------------------------------------------------------------------------ guests --
 * Connections before they are viewers. One that has a place and is listened to keeps it while there is another
 * that says nothing, or said something and does not come to an end, the oldest first; one that is being sent
 * the page keeps it while others read slower. So no flood takes the place of who asks for the page and reads
 * it. */

static guest *find_guest(server *s, const struct lws *wsi) {
    for (int i = 0; i < GUESTS; i++)
        if (s->guest[i].wsi == wsi)
            return &s->guest[i];
    return NULL;
}

static bool has_spoken(guest *g) {
    char c;
    g->spoke = g->spoke || recv(lws_get_socket_fd(g->wsi), &c, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
    return g->spoke;
}

/* The oldest that is silent, else the oldest that was listened to in vain; NULL: none. */
static guest *find_idle(server *s) {
    guest *silent = NULL, *vain = NULL;
    for (int i = 0; i < GUESTS; i++) {
        guest *g = &s->guest[i];
        if (g->reader)
            continue;
        if ((!silent || g->order < silent->order) && !has_spoken(g))
            silent = g;
        else if (g->spoke && g->born + 1 < s->rounds && (!vain || g->order < vain->order))
            vain = g; /* what it said was read in the pass after it came */
    }
    return silent ? silent : vain;
}

static void receive_guest(server *s, struct lws *wsi) {
    guest *g = find_guest(s, NULL);
    if (!g && (g = find_idle(s)))
        dismiss(g->wsi);
    if (!g) {
        dismiss(wsi);
        return;
    }
    *g = (guest){.wsi = wsi, .born = s->rounds, .order = ++s->guests, .ticks = s->ticks};
    const int fd = lws_get_socket_fd(wsi), waiting = WAITING, unread = UNREAD; /* refused: the system's own */
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &waiting, sizeof waiting);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &unread, sizeof unread);
}

static void forget_guest(server *s, const struct lws *wsi) {
    guest *g = find_guest(s, wsi);
    if (g)
        *g = (guest){0};
}

/* Bytes that it took in a pass, so far. */
static double pace_of(const server *s, const guest *g) {
    return (double)g->reader->sent / (double)(s->rounds - g->born + 1);
}

bool ff_server_reads(server *s, struct lws *wsi, const viewer *v) {
    guest *const own = find_guest(s, wsi), *slowest = NULL;
    int readers = 0;
    if (!own)
        return false; /* dismissed meanwhile */
    for (int i = 0; i < GUESTS; i++) {
        guest *g = &s->guest[i];
        if (!g->reader || g == own)
            continue;
        readers++;
        if (!slowest || pace_of(s, g) < pace_of(s, slowest))
            slowest = g;
    }
    if (readers >= READERS) {
        ff_server_drop(slowest->wsi);
        *slowest = (guest){0};
    }
    own->reader = v;
    own->born = s->rounds;
    return true;
}

void ff_server_read(server *s, const struct lws *wsi) {
    guest *g = find_guest(s, wsi);
    if (g)
        *g = (guest){.wsi = g->wsi, .born = s->rounds, .order = ++s->guests, .ticks = s->ticks};
}

/* Whoever asks for nothing that is answered, in whatever words, or does not read the answer, by ticks of the
 * server: a machine that paused closes nobody. */
static void part_with_guests(server *s) {
    for (int i = 0; i < GUESTS; i++) {
        guest *g = &s->guest[i];
        if (g->wsi && !g->reader && s->ticks - g->ticks > (uint64_t)PATIENCE * FF_LIVE_RATE) {
            ff_server_drop(g->wsi);
            *g = (guest){0};
        }
    }
}

/* It came with the token in its address. */
static bool has_token(const server *s, struct lws *wsi) {
    char text[64]; /* longer ones are cut, and wrong */
    const char *token = lws_get_urlarg_by_name(wsi, "token=", text, sizeof text);
    return token && s->live->room.token(s->live, token);
}

/* A place for a viewer: a free one, else that of the next in turn that came without the token. -1: none. */
static int place(server *s) {
    const int free_slot = slot_of(s, NULL);
    for (int i = 0; free_slot < 0 && i < FF_LIVE_VIEWERS; i++) {
        const int slot = (int)(s->turn++ % FF_LIVE_VIEWERS);
        if (s->who[slot]->operates)
            continue;
        dismiss(s->socket[slot]);
        s->who[slot] = NULL;
        return slot;
    }
    return free_slot;
}

static int welcome(server *s, struct lws *wsi, viewer *v) {
    const int slot = place(s);
    forget_guest(s, wsi);
    if (slot < 0)
        return -1;
    *v = (viewer){.number = ++s->numbers, .operates = v->operates};
    if (s->face->enter(s, v) != 0)
        return -1;
    s->who[slot] = v;
    s->socket[slot] = wsi;
    atomic_store_explicit(&s->live->viewers, count_viewers(s), memory_order_relaxed);
    lws_callback_on_writable(wsi);
    return 0;
}

static void farewell(server *s, viewer *v) {
    const int slot = slot_of(s, v);
    s->face->leave(s, v);
    if (slot < 0)
        return;
    s->who[slot] = NULL;
    s->socket[slot] = NULL;
    atomic_store_explicit(&s->live->viewers, count_viewers(s), memory_order_relaxed);
}

unsigned char *ff_server_room(server *s, size_t size) {
    if (LWS_PRE + size > s->buffer_size) {
        unsigned char *grown = realloc(s->buffer, LWS_PRE + size);
        if (!grown)
            return NULL;
        s->buffer = grown;
        s->buffer_size = LWS_PRE + size;
    }
    return s->buffer + LWS_PRE;
}

/* All that is due, as long as the socket takes it: each pass over all connections costs as much as they are.
 */
static int send_due(server *s, struct lws *wsi, viewer *v) {
    v->offered = 0;
    while (s->face->due(s, v)) {
        if (s->face->send(s, wsi, v) != 0)
            return -1;
        if (lws_send_pipe_choked(wsi)) {
            lws_callback_on_writable(wsi);
            break;
        }
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------- tick --
 */

/* Whether it has taken nothing for so many ticks (of the server: a machine that paused closes nobody). */
static bool stalled(const server *s, const viewer *v) {
    return v->offered && s->ticks - v->offered > STALLED;
}

/* What a tick costs is bounded, however many there are: of viewers without the token the next SHARE in turn
 * get what waits for them, the others it with what comes meanwhile. Who does not read is closed, also with
 * the token: the page of one who is still there comes back by itself. */
static void give_turns(server *s, bool status) {
    int left = SHARE, next = s->next;
    for (int n = 0; n < FF_LIVE_VIEWERS; n++) {
        const int i = (s->next + n) % FF_LIVE_VIEWERS;
        viewer *v = s->who[i];
        if (!v)
            continue;
        if (stalled(s, v)) {
            ff_server_drop(s->socket[i]);
            continue;
        }
        if (v->heard >= ORDERS)
            lws_rx_flow_control(s->socket[i], 1);
        v->heard = 0;
        v->status_due = v->status_due || status;
        v->turn = 0;
        if (!s->face->shared_due(s, v) || (!v->operates && left == 0))
            continue;
        if (!v->operates) {
            left--;
            next = (i + 1) % FF_LIVE_VIEWERS;
        }
        v->turn = s->face->turn;
        v->offered = v->offered ? v->offered : s->ticks;
        lws_callback_on_writable(s->socket[i]);
    }
    s->next = next;
}

static void on_tick(lws_sorted_usec_list_t *list) {
    server *s = lws_container_of(list, server, tick);
    free(s->status);
    s->status = NULL;
    const bool news = s->live->room.drain(s->live);
    if (s->live->foxglove)
        s->live->room.foxglove->tick(s->live->foxglove, news);
    s->face->deliver(s);
    const int64_t now = s->live->room.now();
    const bool status = now >= s->status_at;
    if (status)
        s->status_at = now + 250000000;
    s->ticks++;
    part_with_guests(s);
    give_turns(s, status);
    s->passes = 0;
    s->tick_at = now + 1000000000 / FF_LIVE_RATE;
    lws_sul_schedule(s->context, 0, &s->tick, on_tick, LWS_US_PER_SEC / FF_LIVE_RATE);
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
    const struct lws_protocols *protocol = lws_get_protocol(wsi);
    server *s = protocol ? protocol->user : NULL;
    if (!s)
        s = lws_context_user(lws_get_context(wsi));
    viewer *v = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP:
        return s->face->request(s, wsi, v, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return ff_page_send(s, wsi, v);
    case LWS_CALLBACK_HTTP_BODY: /* nothing is ever posted here */
        return -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: /* to a WebSocket, nothing else */
        return in && strcasecmp(in, "websocket") == 0 && caller_good(s, wsi) ? 0 : -1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        if (caller_good(s, wsi)) {
            v->operates = has_token(s, wsi);
            return 0;
        }
        lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL);
        return -1;
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
        receive_guest(s, wsi);
        return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        forget_guest(s, wsi);
        return 0;
    case LWS_CALLBACK_ESTABLISHED:
        return welcome(s, wsi, v);
    case LWS_CALLBACK_CLOSED:
        farewell(s, v);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return send_due(s, wsi, v);
    case LWS_CALLBACK_RECEIVE:
        return s->face->hear(s, wsi, v, in, length);
    default:
        return 0;
    }
}

/* A rush, of connections that come and go or of orders, is worked off at the ticks: a quiet server answers at
 * once, and no crowd makes it busier than so many passes. */
static void pace(server *s) {
    if (++s->passes < PASSES)
        return;
    const struct timespec until = {s->tick_at / 1000000000, s->tick_at % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL); /* woken early: no harm */
}

static void *serve(void *self) {
    server *s = self;
    pthread_setname_np(pthread_self(), "live");
    /* also because what a socket sends is worked off on the sender's CPU, before any thread there */
    s->live->room.stand_aside(s->live->loop_cpu - 1, NULL);
    lws_sul_schedule(s->context, 0, &s->tick, on_tick, 1);
    while (lws_service(s->context, 0) >= 0) {
        if (atomic_load(&s->stop) && s->live->room.now() > s->stop_at)
            break;
        s->rounds++;
        pace(s);
    }
    return NULL;
}

static ff_status start(ff_live *live, char *message, size_t size) {
    server *s = calloc(1, sizeof *s);
    if (!s)
        return FF_ERR_MEMORY;
    s->live = live;
    s->page = live->room.page;
    s->page_size = live->room.page_size;
    s->numbers = live->index << 24;
    const bool foxglove = live->kind == FF_LIVE_FOXGLOVE;
    s->face = foxglove ? &ff_foxglove_face : &ff_page_face;
    const char *const names[2][2] = {{"freefloat", NULL}, {"foxglove.sdk.v1", "foxglove.websocket.v1"}};
    for (int i = 0; i < 2 && names[foxglove][i]; i++)
        s->protocol[i] =
            (struct lws_protocols){.name = names[foxglove][i],
                                   .callback = callback,
                                   .per_session_data_size = sizeof(viewer),
                                   .rx_buffer_size = 2 * FF_LIVE_MESSAGE,
                                   .tx_packet_size = 4 * CHUNK, /* else so much as rx_buffer_size in a pass */
                                   .user = s};
    lws_set_log_level(0, NULL);
    struct lws_context_creation_info info = {
        .port = live->port,
        .iface = live->host,
        .protocols = s->protocol,
        .user = s,
        .gid = -1,
        .uid = -1,
        .fd_limit_per_thread = SOCKETS,
        .max_http_header_data = 4096,
        .max_http_header_pool = SOCKETS, /* one for each: who waits for one is closed */
        .timeout_secs = PATIENCE,
        .timeout_secs_ah_idle = PATIENCE,
        .keepalive_timeout = PATIENCE,
        .vhost_name = "live",
        .options = LWS_SERVER_OPTION_VALIDATE_UTF8 | LWS_SERVER_OPTION_DISABLE_IPV6 |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_EXPLICIT_VHOSTS};
    s->context = lws_create_context(&info);
    struct lws_vhost *vhost = s->context ? lws_create_vhost(s->context, &info) : NULL;
    if (!vhost) {
        snprintf(message, size, "%s:%d cannot be listened on (is another program there?)", live->host,
                 live->port);
        if (s->context)
            lws_context_destroy(s->context);
        free(s);
        return FF_ERR_DEVICE;
    }
    live->port = lws_get_vhost_listen_port(vhost);
    snprintf(live->url, sizeof live->url, foxglove ? "ws://%s:%d/" : "http://%s:%d/", live->host, live->port);
    const bool good = foxglove || ff_server_find_policy(s);
    live->server = s;
    if (!good || pthread_create(&s->thread, NULL, serve, s) != 0) {
        snprintf(message, size, good ? "no thread" : "the embedded page is damaged");
        lws_context_destroy(s->context);
        free(s);
        live->server = NULL;
        return good ? FF_ERR_MEMORY : FF_ERR_FORMAT;
    }
    return FF_OK;
}

static void stop(ff_live *live) {
    server *s = live->server;
    if (!s)
        return;
    /* the last row and the verdict go out, also from a busy machine */
    s->stop_at = live->room.now() + (atomic_load(&live->viewers) ? 1500000000 : 0);
    atomic_store(&s->stop, true);
    lws_cancel_service(s->context);
    pthread_join(s->thread, NULL);
    lws_context_destroy(s->context);
    free(s->status);
    free(s->buffer);
    free(s);
    live->server = NULL;
}

static const ff_live_server table = {start, stop};

const ff_module ff_module_offer = {FF_MODULE_VERSION, &table};
