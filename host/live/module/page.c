/* The live page's side of the server: the page itself and its files, rows and events for its viewers, their
 * orders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/module/server.h"

enum {
    CATCH_UP = 64,      /* rows in one message: a slow viewer gets the newest, a new one the past in pieces */
    HISTORY_STRIDE = 2, /* of the rows kept, a new viewer gets every second */
    WRONG_TOKENS = 5    /* then the connection is closed */
};

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

static int answer_request(server *s, struct lws *wsi, viewer *v, const char *path) {
    char host[128];
    *v = (viewer){0};
    if (!ff_server_host(s, wsi, host, sizeof host))
        return ff_server_refuse(wsi, HTTP_STATUS_FORBIDDEN);
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0)
        return ff_server_refuse(wsi, HTTP_STATUS_METHOD_NOT_ALLOWED);
    if (strcmp(path, "/favicon.ico") == 0)
        return answer_nothing(wsi);
    for (int i = 0; i < atomic_load_explicit(&s->live->files, memory_order_acquire); i++)
        if (path[0] == '/' && strcmp(path + 1, s->live->file[i].name) == 0)
            v->file = &s->live->file[i];
    if (strcmp(path, "/") != 0 && !v->file)
        return ff_server_refuse(wsi, HTTP_STATUS_NOT_FOUND);
    return ff_server_reads(s, wsi, v) ? send_head(s, wsi, v->file) : -1;
}

int ff_page_send(server *s, struct lws *wsi, viewer *v) {
    const unsigned char *bytes = v->file ? (const unsigned char *)v->file->text : s->page;
    const size_t size = v->file ? v->file->size : s->page_size;
    unsigned char buffer[LWS_PRE + CHUNK];
    for (;;) {
        const size_t left = size - v->sent, n = left < CHUNK ? left : CHUNK;
        memcpy(buffer + LWS_PRE, bytes + v->sent, n);
        v->sent += n;
        const bool last = v->sent == size;
        if (lws_write(wsi, buffer + LWS_PRE, n, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) != (int)n)
            return -1;
        if (last) {
            ff_server_read(s, wsi);
            return lws_http_transaction_completed(wsi) ? -1 : 0;
        }
        if (lws_send_pipe_choked(wsi))
            break;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

/* ----------------------------------------------------------------------------------------------- viewers --
 */

static int send_text(server *s, struct lws *wsi, const char *text) {
    const size_t n = text ? strlen(text) : 0;
    unsigned char *at = n ? ff_server_room(s, n + 1) : NULL;
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

/* The next rows for this viewer in one message: version, width, rows; at most CATCH_UP. A new viewer, or one
 * whose rows do not count any more, gets the kept past, thinned, piece by piece; one that fell behind the
 * newest only. No message is large: whoever does not read it holds little memory, and no viewer keeps others
 * waiting. */
static int send_rows(server *s, struct lws *wsi, viewer *v) {
    const ff_live *live = s->live;
    if (v->next_frame < live->oldest)
        v->begun = v->caught_up = false;
    const bool first = !v->begun;
    const uint64_t stride = v->caught_up ? 1 : HISTORY_STRIDE;
    uint64_t from = first ? live->oldest : v->next_frame;
    if (v->caught_up && live->made - from > CATCH_UP)
        from = live->made - CATCH_UP;
    if (first)
        from += (live->made - 1 - from) % stride; /* so that the last one is the newest */
    uint64_t rows = (live->made - 1 - from) / stride + 1;
    rows = rows < CATCH_UP ? rows : CATCH_UP;
    const size_t width = (size_t)live->width, size = (2 + (size_t)rows * width) * sizeof(double);
    unsigned char *at = ff_server_room(s, size);
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
        if (first && r == 0)
            memcpy(row, head, sizeof(double)); /* restart */
    }
    const uint64_t last = from + (rows - 1) * stride;
    v->begun = true;
    v->caught_up = v->caught_up || live->made - 1 - last < stride;
    v->next_frame = v->caught_up ? last + 1 : last + stride;
    return lws_write(wsi, at, size, LWS_WRITE_BINARY) < (int)size ? -1 : 0;
}

/* The first event that this viewer has not seen and that still counts. */
static uint64_t next_note(const ff_live *live, const viewer *v) {
    const uint64_t kept = live->noted > FF_LIVE_EVENTS ? live->noted - FF_LIVE_EVENTS : 0,
                   oldest = kept > live->note_oldest ? kept : live->note_oldest;
    return v->next_note > oldest ? v->next_note : oldest;
}

/* Rows, states and events are for all and come in turn (give_turns); what concerns this viewer alone at once.
 */
static bool shared_due(const server *s, const viewer *v) {
    return v->status_due || v->next_frame < s->live->made || next_note(s->live, v) < s->live->noted;
}

static bool due(const server *s, const viewer *v) {
    return !v->greeted || v->waiting || (v->turn > 0 && shared_due(s, v));
}

static int send_shared(server *s, struct lws *wsi, viewer *v) {
    const ff_live *live = s->live;
    v->turn--;
    if (v->status_due) {
        v->status_due = false;
        s->status = s->status ? s->status : s->live->room.status_json(live);
        return send_text(s, wsi, s->status);
    }
    if (v->next_frame < live->made)
        return send_rows(s, wsi, v);
    const uint64_t n = next_note(live, v);
    v->next_note = n + 1;
    return send_owned(s, wsi, s->live->room.note_json(&live->note[n % FF_LIVE_EVENTS], n));
}

/* One message, what matters most first. */
static int send_one(server *s, struct lws *wsi, viewer *v) {
    if (!v->greeted) {
        v->greeted = true;
        return send_text(s, wsi, s->live->hello);
    }
    if (!v->waiting)
        return send_shared(s, wsi, v);
    v->waiting--;
    const ff_live_reply first = v->outbox[0];
    memmove(v->outbox, v->outbox + 1, (size_t)v->waiting * sizeof *v->outbox);
    return send_owned(s, wsi, s->live->room.reply_json(&first));
}

static void reply(struct lws *wsi, viewer *v, const ff_live_reply *answer) {
    if (v->waiting == FF_LIVE_OUTBOX) {
        ff_server_drop(wsi); /* it asks and does not read */
        return;
    }
    v->outbox[v->waiting++] = *answer;
    lws_callback_on_writable(wsi);
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
        v->operates |= command.proven;
        command.viewer = v->number;
        int free_slot = -1;
        for (int i = 0; i < FF_LIVE_OUTBOX; i++)
            if (!v->pending[i].deadline)
                free_slot = i;
        taken = free_slot >= 0 && s->live->room.order(s->live, &command);
        if (taken) {
            v->pending[free_slot].id = command.id;
            v->pending[free_slot].claim = command.claim;
            v->pending[free_slot].taken = false;
            v->pending[free_slot].deadline = s->live->room.now() + (int64_t)FF_LIVE_ANSWER_TIME * 1000000000;
            return 0;
        }
        snprintf(answer.text, sizeof answer.text, "refused: too many commands wait for the loop");
    }
    reply(wsi, v, &answer);
    return 0;
}

static int hear_page(server *s, struct lws *wsi, viewer *v, const char *bytes, size_t n) {
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
    if (++v->heard == ORDERS)
        lws_rx_flow_control(wsi, 0); /* until the next tick */
    return result;
}

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
                const char *text =
                    s->live->room.overdue(s->who[i]->pending[p].claim, &s->who[i]->pending[p].taken);
                s->who[i]->pending[p].deadline =
                    text ? 0 : now + (int64_t)FF_LIVE_ANSWER_TIME * 1000000000;
                if (!text)
                    continue;
                ff_live_reply none = {.viewer = s->who[i]->number, .id = s->who[i]->pending[p].id};
                snprintf(none.text, sizeof none.text, "%s", text);
                reply(s->socket[i], s->who[i], &none);
            }
}

/* The policy stands in the page's first comment, with the hashes of its own script and style. */
bool ff_server_find_policy(server *s) {
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

/* From a page of its own alone. */
static bool own_origin(const server *s, struct lws *wsi, const char *host) {
    char origin[160];
    (void)s;
    return ff_server_header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin) &&
           strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0;
}

static int enter_page(server *s, viewer *v) {
    (void)s;
    v->status_due = true;
    return 0;
}

static void leave_page(server *s, viewer *v) {
    (void)s;
    (void)v;
}

const face ff_page_face = {answer_request, own_origin, enter_page, leave_page, due,
                           shared_due,     send_one,   hear_page,  deliver,    TURN};
