/* The module live: the page and its WebSocket by libwebsockets, in one thread of its own. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"
#include "text/module.h"

#include <libwebsockets.h>
#include <pthread.h>

enum {
    CHUNK = 16384,      /* [bytes] of the page in one write */
    CATCH_UP = 64,      /* rows that a slow viewer gets at once: the newest */
    HISTORY_STRIDE = 2, /* of the rows kept, a new viewer gets every second */
    WRONG_TOKENS = 5,   /* then the connection is closed */
    GUESTS = 128,       /* connections that are no viewers (yet); a further one takes the place of another */
    SOCKETS = FF_LIVE_VIEWERS + 4 * GUESTS, /* with those that are being closed */
    PATIENCE = 3 /* [s] for a request to come, or the next one on the same connection */
};

typedef struct viewer {
    size_t sent;              /* [bytes] of the page, to who asks for it */
    const ff_live_file *file; /* in its place; NULL: the page itself */
    uint32_t number;
    bool greeted, caught_up;
    bool operates; /* came with the token: nobody takes its place */
    uint64_t next_frame, next_note;
    bool status_due;
    ff_live_reply outbox[FF_LIVE_OUTBOX];
    int waiting;
    struct {
        uint32_t id;
        int64_t deadline; /* [ns] 0: free */
    } pending[FF_LIVE_OUTBOX];
    char message[FF_LIVE_MESSAGE];
    size_t length;
    int wrong;
} viewer;

typedef struct server {
    ff_live *live;
    struct lws_context *context;
    struct lws_protocols protocol[2];
    char policy[1024];
    const unsigned char *page;
    size_t page_size;
    pthread_t thread;
    atomic_bool stop;
    int64_t stop_at;
    lws_sorted_usec_list_t tick;
    int64_t status_at;
    viewer *who[FF_LIVE_VIEWERS];
    struct lws *socket[FF_LIVE_VIEWERS];
    struct lws *guest[GUESTS];
    uint32_t numbers, turn;
    unsigned char *buffer; /* one message */
    size_t buffer_size;
} server;

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

static bool header(struct lws *wsi, enum lws_token_indexes token, char *text, int size) {
    text[0] = 0;
    return lws_hdr_total_length(wsi, token) > 0 && lws_hdr_copy(wsi, text, size, token) > 0;
}

/* Called by a name of its own; a socket also from a page of its own. */
static bool caller_good(const ff_live *live, struct lws *wsi, bool socket) {
    char host[128], origin[160];
    if (!header(wsi, WSI_TOKEN_HOST, host, sizeof host) || !own_host(live, host))
        return false;
    return !socket || (header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) &&
                       strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0);
}

/* -------------------------------------------------------------------------------------------------- page --
 */

/* Files of the run are shown by themselves: their scripts know nothing of the page and its token. */
static int send_head(server *s, struct lws *wsi, const ff_live_file *file) {
    const char *dot = file ? strrchr(file->name, '.') : NULL;
    const char *type =
        dot && strcmp(dot, ".csv") == 0 ? "text/csv; charset=utf-8" : "text/html; charset=utf-8";
    const char *const field[][2] = {{"content-security-policy:", file ? "sandbox allow-scripts" : s->policy},
                                    {"x-content-type-options:", "nosniff"},
                                    {"x-frame-options:", "DENY"},
                                    {"referrer-policy:", "no-referrer"},
                                    {"cross-origin-opener-policy:", "same-origin"},
                                    {"cross-origin-resource-policy:", "same-origin"},
                                    {"cache-control:", "no-store"}};
    unsigned char head[LWS_PRE + 2048], *start = head + LWS_PRE, *at = start, *end = head + sizeof head - 1;
    int failed =
        lws_add_http_common_headers(wsi, HTTP_STATUS_OK, type, file ? file->size : s->page_size, &at, end);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) /* one that finds no room changes nothing */
        failed |= lws_add_http_header_by_name(wsi, (const unsigned char *)field[i][0],
                                              (const unsigned char *)field[i][1], (int)strlen(field[i][1]),
                                              &at, end);
    if (failed || lws_finalize_write_http_header(wsi, start, &at, end))
        return -1;
    lws_callback_on_writable(wsi);
    return 0;
}

/* An answer without any body. */
static int answer_nothing(struct lws *wsi) {
    unsigned char head[LWS_PRE + 512], *start = head + LWS_PRE, *at = start, *end = head + sizeof head - 1;
    if (lws_add_http_header_status(wsi, HTTP_STATUS_NO_CONTENT, &at, end) ||
        lws_finalize_write_http_header(wsi, start, &at, end))
        return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* An answer without a page. */
static int answer_status(struct lws *wsi, unsigned code) {
    return lws_return_http_status(wsi, code, NULL) || lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int answer_request(server *s, struct lws *wsi, viewer *v, const char *path) {
    *v = (viewer){0};
    if (!caller_good(s->live, wsi, false))
        return answer_status(wsi, HTTP_STATUS_FORBIDDEN);
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0)
        return answer_status(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);
    if (strcmp(path, "/favicon.ico") == 0)
        return answer_nothing(wsi);
    for (int i = 0; i < atomic_load_explicit(&s->live->files, memory_order_acquire); i++)
        if (path[0] == '/' && strcmp(path + 1, s->live->file[i].name) == 0)
            v->file = &s->live->file[i];
    if (strcmp(path, "/") != 0 && !v->file)
        return answer_status(wsi, HTTP_STATUS_NOT_FOUND);
    return send_head(s, wsi, v->file);
}

static int send_page(server *s, struct lws *wsi, viewer *v) {
    const size_t size = v->file ? v->file->size : s->page_size, left = size - v->sent,
                 n = left < CHUNK ? left : CHUNK;
    unsigned char buffer[LWS_PRE + CHUNK];
    memcpy(buffer + LWS_PRE, (v->file ? (const unsigned char *)v->file->text : s->page) + v->sent, n);
    v->sent += n;
    const bool last = v->sent == size;
    if (lws_write(wsi, buffer + LWS_PRE, n, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) != (int)n)
        return -1;
    if (last)
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    lws_callback_on_writable(wsi);
    return 0;
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

/* Connections before they are viewers. When all places are taken the next in turn loses its own: silent ones
 * keep nobody out, and an attack that reconnects hits its own connections as often as others. */
static void receive_guest(server *s, struct lws *wsi) {
    int slot = -1;
    for (int i = 0; i < GUESTS && slot < 0; i++)
        slot = s->guest[i] ? -1 : i;
    if (slot < 0) {
        slot = (int)(s->turn++ % GUESTS);
        dismiss(s->guest[slot]);
    }
    s->guest[slot] = wsi;
}

static void forget_guest(server *s, const struct lws *wsi) {
    for (int i = 0; i < GUESTS; i++)
        if (s->guest[i] == wsi)
            s->guest[i] = NULL;
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
    *v = (viewer){.number = ++s->numbers, .status_due = true, .operates = v->operates};
    s->who[slot] = v;
    s->socket[slot] = wsi;
    atomic_store_explicit(&s->live->viewers, count_viewers(s), memory_order_relaxed);
    lws_callback_on_writable(wsi);
    return 0;
}

static void farewell(server *s, const viewer *v) {
    const int slot = slot_of(s, v);
    if (slot < 0)
        return;
    s->who[slot] = NULL;
    s->socket[slot] = NULL;
    atomic_store_explicit(&s->live->viewers, count_viewers(s), memory_order_relaxed);
}

static unsigned char *room(server *s, size_t size) {
    if (LWS_PRE + size > s->buffer_size) {
        unsigned char *grown = realloc(s->buffer, LWS_PRE + size);
        if (!grown)
            return NULL;
        s->buffer = grown;
        s->buffer_size = LWS_PRE + size;
    }
    return s->buffer + LWS_PRE;
}

static int send_text(server *s, struct lws *wsi, const char *text) {
    const size_t n = text ? strlen(text) : 0;
    unsigned char *at = n ? room(s, n + 1) : NULL;
    if (!at)
        return -1;
    memcpy(at, text, n + 1);
    return lws_write(wsi, at, n, LWS_WRITE_TEXT) < (int)n ? -1 : 0;
}

static int send_owned(server *s, struct lws *wsi, char *text) {
    const int result = send_text(s, wsi, text);
    free(text);
    return result;
}

/* The newest rows that this viewer has not seen, in one message: version, width, rows. A new viewer gets the
 * kept past once, thinned; one that fell behind gets the newest only. */
static int send_rows(server *s, struct lws *wsi, viewer *v) {
    const ff_live *live = s->live;
    uint64_t from = v->next_frame, stride = 1;
    const bool fresh = !v->caught_up || from < live->oldest; /* new, or what it has seen does not count */
    if (fresh)
        from = live->oldest;
    if (fresh)
        stride = HISTORY_STRIDE;
    else if (live->made - from > CATCH_UP)
        from = live->made - CATCH_UP;
    if (stride > 1 && (live->made - 1 - from) % stride) /* so that the last one is the newest */
        from += (live->made - 1 - from) % stride;
    const uint64_t rows = (live->made - 1 - from) / stride + 1;
    const size_t width = (size_t)live->width, size = (2 + (size_t)rows * width) * sizeof(double);
    unsigned char *at = room(s, size);
    if (!at)
        return -1;
    const double head[2] = {1.0, (double)width};
    memcpy(at, head, sizeof head);
    const int64_t now = s->live->room.now();
    for (uint64_t r = 0; r < rows; r++) {
        const uint64_t slot = (from + r * stride) % FF_LIVE_HISTORY;
        unsigned char *row = at + sizeof head + r * width * sizeof(double);
        memcpy(row, live->frame + slot * width, width * sizeof(double));
        const double age = 1e-9 * (double)(now - live->stamp[slot]);
        memcpy(row + sizeof(double), &age, sizeof age);
        if (fresh && r == 0)
            memcpy(row, head, sizeof(double)); /* restart */
    }
    v->next_frame = live->made;
    v->caught_up = true;
    return lws_write(wsi, at, size, LWS_WRITE_BINARY) < (int)size ? -1 : 0;
}

/* The first event that this viewer has not seen and that still counts. */
static uint64_t next_note(const ff_live *live, const viewer *v) {
    const uint64_t kept = live->noted > FF_LIVE_EVENTS ? live->noted - FF_LIVE_EVENTS : 0,
                   oldest = kept > live->note_oldest ? kept : live->note_oldest;
    return v->next_note > oldest ? v->next_note : oldest;
}

/* One message a call, what matters most first. */
static int send_next(server *s, struct lws *wsi, viewer *v) {
    const ff_live *live = s->live;
    int result = 0;
    if (!v->greeted) {
        v->greeted = true;
        result = send_text(s, wsi, live->hello);
    } else if (v->waiting) {
        result = send_owned(s, wsi, s->live->room.reply_json(&v->outbox[0]));
        v->waiting--;
        memmove(v->outbox, v->outbox + 1, (size_t)v->waiting * sizeof *v->outbox);
    } else if (v->status_due) {
        v->status_due = false;
        result = send_owned(s, wsi, s->live->room.status_json(live));
    } else if (v->next_frame < live->made) {
        result = send_rows(s, wsi, v);
    } else if (next_note(live, v) < live->noted) {
        const uint64_t n = next_note(live, v);
        v->next_note = n + 1;
        result = send_owned(s, wsi, s->live->room.note_json(&live->note[n % FF_LIVE_EVENTS], n));
    } else {
        return 0;
    }
    lws_callback_on_writable(wsi);
    return result;
}

static int reply(struct lws *wsi, viewer *v, const ff_live_reply *answer) {
    if (v->waiting == FF_LIVE_OUTBOX)
        return -1; /* it asks and does not read */
    v->outbox[v->waiting++] = *answer;
    lws_callback_on_writable(wsi);
    return 0;
}

static int order(server *s, struct lws *wsi, viewer *v) {
    ff_live_command command;
    ff_live_reply answer = {.viewer = v->number};
    bool taken =
        s->live->room.parse(s->live, v->message, v->length, &command, answer.text, sizeof answer.text);
    answer.id = command.id;
    if (!taken && strstr(answer.text, "wrong token") && ++v->wrong >= WRONG_TOKENS)
        return -1;
    if (taken) {
        command.viewer = v->number;
        int free_slot = -1;
        for (int i = 0; i < FF_LIVE_OUTBOX; i++)
            if (!v->pending[i].deadline)
                free_slot = i;
        taken = free_slot >= 0 && s->live->room.push(&s->live->commands, &command);
        if (taken) {
            v->pending[free_slot].id = command.id;
            v->pending[free_slot].deadline = s->live->room.now() + (int64_t)FF_LIVE_ANSWER_TIME * 1000000000;
            return 0;
        }
        snprintf(answer.text, sizeof answer.text, "refused: too many commands wait for the loop");
    }
    return reply(wsi, v, &answer);
}

static int hear(server *s, struct lws *wsi, viewer *v, const char *bytes, size_t n) {
    if (lws_frame_is_binary(wsi) || v->length + n + lws_remaining_packet_payload(wsi) > sizeof v->message) {
        lws_close_reason(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, NULL, 0);
        return -1;
    }
    memcpy(v->message + v->length, bytes, n);
    v->length += n;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi))
        return 0;
    const int result = order(s, wsi, v);
    v->length = 0;
    return result;
}

/* -------------------------------------------------------------------------------------------------- tick --
 */

static void deliver(server *s) {
    ff_live_reply answer;
    while (s->live->room.pop(&s->live->replies, &answer)) {
        for (int i = 0; i < FF_LIVE_VIEWERS; i++) {
            viewer *v = s->who[i];
            if (!v || v->number != answer.viewer)
                continue;
            for (int p = 0; p < FF_LIVE_OUTBOX; p++)
                if (v->pending[p].deadline && v->pending[p].id == answer.id) {
                    v->pending[p].deadline = 0;
                    reply(s->socket[i], v, &answer);
                    break;
                }
        }
    }
    const int64_t now = s->live->room.now();
    for (int i = 0; i < FF_LIVE_VIEWERS; i++)
        for (int p = 0; s->who[i] && p < FF_LIVE_OUTBOX; p++)
            if (s->who[i]->pending[p].deadline && s->who[i]->pending[p].deadline < now) {
                const ff_live_reply none = {s->who[i]->number, s->who[i]->pending[p].id, false,
                                            "the loop did not answer"};
                s->who[i]->pending[p].deadline = 0;
                reply(s->socket[i], s->who[i], &none);
            }
}

static void on_tick(lws_sorted_usec_list_t *list) {
    server *s = lws_container_of(list, server, tick);
    const bool fresh = s->live->room.drain(s->live);
    deliver(s);
    const int64_t now = s->live->room.now();
    const bool status = now >= s->status_at;
    if (status)
        s->status_at = now + 250000000;
    for (int i = 0; i < FF_LIVE_VIEWERS; i++) {
        if (!s->who[i])
            continue;
        s->who[i]->status_due = s->who[i]->status_due || status;
        if (fresh || status || next_note(s->live, s->who[i]) < s->live->noted)
            lws_callback_on_writable(s->socket[i]);
    }
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
        return answer_request(s, wsi, v, in);
    case LWS_CALLBACK_HTTP_WRITEABLE:
        return send_page(s, wsi, v);
    case LWS_CALLBACK_HTTP_BODY: /* nothing is ever posted here */
        return -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: /* to a WebSocket, nothing else */
        return in && strcasecmp(in, "websocket") == 0 && caller_good(s->live, wsi, true) ? 0 : -1;
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        if (caller_good(s->live, wsi, true)) {
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
        return send_next(s, wsi, v);
    case LWS_CALLBACK_RECEIVE:
        return hear(s, wsi, v, in, length);
    default:
        return 0;
    }
}

/* What a socket sends over the network's stack is worked off on the sender's CPU, before any thread there:
 * not on the loop's. */
static void keep_off(int cpu) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    CPU_CLR((size_t)cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set); /* refused: it runs where it may */
}

static void *serve(void *self) {
    server *s = self;
    if (s->live->loop_cpu > 0)
        keep_off(s->live->loop_cpu - 1);
    lws_sul_schedule(s->context, 0, &s->tick, on_tick, 1);
    while (lws_service(s->context, 0) >= 0)
        if (atomic_load(&s->stop) && s->live->room.now() > s->stop_at)
            break;
    return NULL;
}

/* The policy stands in the page's first comment, with the hashes of its own script and style. */
static bool find_policy(server *s) {
    static const char mark[] = "<!--ff:policy ";
    const char *at = memmem(s->live->room.page, s->live->room.page_size, mark, sizeof mark - 1);
    const char *end = at ? strstr(at, "-->") : NULL;
    if (!end)
        return false;
    at += sizeof mark - 1;
    const int n =
        snprintf(s->policy, sizeof s->policy, "%.*s; connect-src 'self' ws://%s:%d; frame-ancestors 'none'",
                 (int)(end - at), at, s->live->host, s->live->port);
    return n > 0 && n < (int)sizeof s->policy;
}

static ff_status start(ff_live *live, char *message, size_t size) {
    server *s = calloc(1, sizeof *s);
    if (!s)
        return FF_ERR_MEMORY;
    s->live = live;
    s->page = live->room.page;
    s->page_size = live->room.page_size;
    s->protocol[0] = (struct lws_protocols){.name = "freefloat",
                                            .callback = callback,
                                            .per_session_data_size = sizeof(viewer),
                                            .rx_buffer_size = 2 * FF_LIVE_MESSAGE,
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
    snprintf(live->url, sizeof live->url, "http://%s:%d/", live->host, live->port);
    const bool good = find_policy(s);
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
    free(s->buffer);
    free(s);
    live->server = NULL;
}

static const ff_live_server table = {start, stop};

const ff_module ff_module_offer = {FF_MODULE_VERSION, &table};
