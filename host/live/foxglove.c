#include "live/foxglove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/json.h"
#include "text/json_read.h"
#include "text/version.h"

enum { KEEP = 64, TOKENS = 2048, ID = 64, WRONG = 5 };
enum { OP_MESSAGE = 1, OP_TIME = 2, OP_RESPONSE = 3 };       /* to a client */
enum { OP_CLIENT_MESSAGE = 1, OP_CALL = 2, CALL_HEAD = 13 }; /* from one */
enum { STATUS_WARNING = 1, STATUS_ERROR = 2 };

typedef struct kept { /* the newest messages of a topic */
    unsigned char *bytes;
    size_t size, room;
    uint64_t stamp;
} kept;

typedef struct channel {
    int slots; /* 1, or KEEP where each message counts */
    kept *slot;
    uint64_t made; /* messages so far; number n stands at n % slots */
    int wanted;    /* subscriptions */
} channel;

struct ff_foxglove {
    ff_live *live;
    ff_broadcast broadcast;
    channel channel[FF_TOPICS_MAX];
    uint64_t stamp, ticks; /* of the newest row [ns]; how many there were */
    char *greeting[3];     /* serverInfo, channels, services */
    ff_json_token token[TOKENS];
};

typedef struct pending {
    uint32_t id;      /* the command's */
    int64_t deadline; /* [ns] 0: free */
    ff_claim claim;
    bool taken; /* by the loop */
    ff_live_verb verb;
    uint32_t call;
    bool json; /* as the call came */
    int parameter;
    char request[ID];
} pending;

struct ff_foxglove_client {
    ff_foxglove *server;
    uint32_t number, commands;
    bool operates;
    int greeted, wrong;
    struct {
        uint32_t id;
        int channel;
        uint64_t next; /* the first message that it has not got */
    } subscription[FF_FOXGLOVE_SUBSCRIPTIONS];
    int subscriptions, turn;
    uint64_t ticks; /* as its clock shows */
    struct {
        void *bytes;
        size_t size;
        bool binary;
    } outbox[FF_FOXGLOVE_OUTBOX];
    int waiting;
    void *sent; /* what the last call of next lent */
    pending pending[FF_LIVE_OUTBOX];
    bool follows[FF_LIVE_MAX_PARAMETERS];
    double shown[FF_LIVE_MAX_PARAMETERS];
};

/* --------------------------------------------------------------------------------------- the topics -- */

static bool wants_topic(void *self, int topic) {
    const ff_foxglove *f = self;
    return f->channel[topic].wanted || (f->broadcast.topics.topic[topic].use & FF_TOPIC_LATCHED) ||
           topic == f->broadcast.topics.event;
}

static ff_status keep_message(void *self, int topic, uint64_t stamp, const void *bytes, size_t size) {
    ff_foxglove *f = self;
    channel *c = &f->channel[topic];
    kept *k = &c->slot[c->made % (uint64_t)c->slots];
    if (size > k->room) {
        unsigned char *grown = realloc(k->bytes, size);
        if (!grown)
            return FF_OK; /* this one is missed */
        k->bytes = grown;
        k->room = size;
    }
    memcpy(k->bytes, bytes, size);
    k->size = size;
    k->stamp = stamp;
    c->made++;
    return FF_OK;
}

static ff_topic_taker keeper(ff_foxglove *f) {
    return (ff_topic_taker){.self = f, .wants = wants_topic, .take = keep_message};
}

static void serve_tick(ff_foxglove *f, bool news) {
    const ff_topic_taker taker = keeper(f);
    if (news && f->live->row) {
        f->stamp = ff_topics_stamp(f->live->row->t + f->live->row->rested);
        f->ticks++;
        ff_topics_row(&f->broadcast.topics, f->live->row, &taker);
    }
    ff_broadcast_tick(&f->broadcast, f->live, &taker);
}

/* ------------------------------------------------------------------------------------------ greeting -- */

static bool is_service(const ff_live *live, int verb) {
    return ((live->open | live->guarded) & FF_LIVE_BIT(verb)) && verb != FF_LIVE_SET &&
           verb != FF_LIVE_SPEED && verb != FF_LIVE_SEEK;
}

static void begin_op(ff_json *json, const char *op) {
    ff_json_init(json, false);
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "op", op);
}

static char *end_op(ff_json *json) {
    ff_json_close(json, '}');
    return ff_json_take(json);
}

static char *server_info(const ff_live *live, const ff_scenario *scenario, const char *session) {
    static const char *const can[] = {"time", "parameters", "parametersSubscribe", "services"};
    ff_json json;
    char text[128];
    begin_op(&json, "serverInfo");
    snprintf(text, sizeof text, "freefloat %s", ff_version());
    ff_json_string(&json, "name", text);
    ff_json_open(&json, "capabilities", '[');
    for (size_t i = 0; i < sizeof can / sizeof *can; i++)
        ff_json_string(&json, NULL, can[i]);
    ff_json_close(&json, ']');
    ff_json_open(&json, "supportedEncodings", '[');
    ff_json_string(&json, NULL, "cdr");
    ff_json_string(&json, NULL, "json");
    ff_json_close(&json, ']');
    ff_json_open(&json, "metadata", '{');
    ff_json_string(&json, "scenario", scenario->name);
    ff_json_string(&json, "method", ff_scenario_method_name(scenario));
    for (int i = 0; i < live->parameters; i++) { /* the protocol has no place for a range of its own */
        const ff_live_parameter *p = &live->parameter[i];
        snprintf(text, sizeof text, "%.6g to %.6g %s", p->low, p->high, p->unit);
        ff_json_string(&json, p->name, text);
    }
    ff_json_close(&json, '}');
    ff_json_string(&json, "sessionId", session);
    return end_op(&json);
}

static char *channels(const ff_topics *topics) {
    ff_json json;
    begin_op(&json, "advertise");
    ff_json_open(&json, "channels", '[');
    for (int i = 0; i < topics->count; i++) {
        const ff_topic *t = &topics->topic[i];
        ff_json_open(&json, NULL, '{');
        ff_json_integer(&json, "id", i + 1);
        ff_json_string(&json, "topic", t->name);
        ff_json_string(&json, "encoding", "cdr");
        ff_json_string(&json, "schemaName", t->type);
        ff_json_string(&json, "schemaEncoding", "ros2msg");
        ff_json_string(&json, "schema", t->schema);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    return end_op(&json);
}

static void side_of_call(ff_json *json, const char *key, const char *name, const char *schema) {
    ff_json_open(json, key, '{');
    ff_json_string(json, "encoding", "cdr");
    ff_json_string(json, "schemaName", name);
    ff_json_string(json, "schemaEncoding", "ros2msg");
    ff_json_string(json, "schema", schema);
    ff_json_close(json, '}');
}

/* A service's number is that of its verb, counted from 1. */
static char *services(const ff_live *live) {
    ff_json json;
    begin_op(&json, "advertiseServices");
    ff_json_open(&json, "services", '[');
    for (int v = 0; v < FF_LIVE_VERBS; v++) {
        char name[48];
        if (!is_service(live, v))
            continue;
        snprintf(name, sizeof name, "/freefloat/%s", ff_live_verb_name((ff_live_verb)v));
        ff_json_open(&json, NULL, '{');
        ff_json_integer(&json, "id", v + 1);
        ff_json_string(&json, "name", name);
        ff_json_string(&json, "type", "std_srvs/srv/Trigger");
        side_of_call(&json, "request", "std_srvs/srv/Trigger_Request", "");
        side_of_call(&json, "response", "std_srvs/srv/Trigger_Response", "bool success\nstring message\n");
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    return end_op(&json);
}

ff_status ff_foxglove_create(ff_live *live, const ff_live_config *config, const char *session,
                             ff_foxglove **out) {
    ff_foxglove *f = calloc(1, sizeof *f);
    if (!f || !config->scenario) {
        free(f);
        return f ? FF_ERR_ARGUMENT : FF_ERR_MEMORY;
    }
    f->live = live;
    ff_status status = ff_broadcast_init(&f->broadcast, live, config);
    const ff_topics *topics = &f->broadcast.topics;
    for (int i = 0; i < topics->count && !status; i++) {
        f->channel[i].slots = topics->topic[i].use & FF_TOPIC_EVERY ? KEEP : 1;
        f->channel[i].slot = calloc((size_t)f->channel[i].slots, sizeof(kept));
        status = f->channel[i].slot ? FF_OK : FF_ERR_MEMORY;
    }
    if (!status) {
        const ff_topic_taker taker = keeper(f);
        f->greeting[0] = server_info(live, config->scenario, session);
        f->greeting[1] = channels(topics);
        f->greeting[2] = services(live);
        status = f->greeting[0] && f->greeting[1] && f->greeting[2]
                     ? ff_broadcast_begin(&f->broadcast, &taker)
                     : FF_ERR_MEMORY;
    }
    if (status) {
        ff_foxglove_free(f);
        return status;
    }
    *out = f;
    return FF_OK;
}

void ff_foxglove_free(ff_foxglove *f) {
    if (!f)
        return;
    for (int i = 0; i < FF_TOPICS_MAX; i++) {
        for (int k = 0; f->channel[i].slot && k < f->channel[i].slots; k++)
            free(f->channel[i].slot[k].bytes);
        free(f->channel[i].slot);
    }
    for (int i = 0; i < 3; i++)
        free(f->greeting[i]);
    ff_broadcast_free(&f->broadcast);
    free(f);
}

/* ------------------------------------------------------------------------------------------- clients -- */

static ff_foxglove_client *enter_client(ff_foxglove *f, uint32_t number, bool operates) {
    ff_foxglove_client *c = calloc(1, sizeof *c);
    if (c) {
        c->server = f;
        c->number = number;
        c->operates = operates;
    }
    return c;
}

static void leave_client(ff_foxglove_client *c) {
    if (!c)
        return;
    for (int i = 0; i < c->subscriptions; i++)
        c->server->channel[c->subscription[i].channel].wanted--;
    for (int i = 0; i < c->waiting; i++)
        free(c->outbox[i].bytes);
    free(c->sent);
    free(c);
}

/* Takes the bytes, which may be NULL: no memory. False: it asks and does not read. */
static bool post(ff_foxglove_client *c, void *bytes, size_t size, bool binary) {
    if (!bytes)
        return true;
    if (c->waiting == FF_FOXGLOVE_OUTBOX) {
        free(bytes);
        return false;
    }
    c->outbox[c->waiting].bytes = bytes;
    c->outbox[c->waiting].size = size;
    c->outbox[c->waiting++].binary = binary;
    return true;
}

static bool post_text(ff_foxglove_client *c, char *text) {
    return post(c, text, text ? strlen(text) : 0, false);
}

static bool complain(ff_foxglove_client *c, int level, const char *text) {
    ff_json json;
    begin_op(&json, "status");
    ff_json_integer(&json, "level", level);
    ff_json_string(&json, "message", text);
    return post_text(c, end_op(&json));
}

/* ---------------------------------------------------------------------------------------- parameters -- */

static double value_of(const ff_live *live, int i) {
    return atomic_load_explicit(&live->parameter_now[i], memory_order_relaxed);
}

static bool tell_parameters(ff_foxglove_client *c, const bool which[FF_LIVE_MAX_PARAMETERS],
                            const char *request) {
    const ff_live *live = c->server->live;
    ff_json json;
    begin_op(&json, "parameterValues");
    ff_json_open(&json, "parameters", '[');
    for (int i = 0; i < live->parameters; i++) {
        if (!which[i])
            continue;
        c->shown[i] = value_of(live, i);
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "name", live->parameter[i].name);
        ff_json_number(&json, "value", c->shown[i]);
        ff_json_string(&json, "type", "float64");
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    if (*request)
        ff_json_string(&json, "id", request);
    return post_text(c, end_op(&json));
}

/* Names in a list; an empty one means all. False: not a list of names. */
static bool named(const ff_live *live, const ff_json_token *token, int list,
                  bool which[FF_LIVE_MAX_PARAMETERS]) {
    memset(which, 0, FF_LIVE_MAX_PARAMETERS * sizeof *which);
    if (list < 0 || token[list].kind != FF_JSON_ARRAY)
        return false;
    for (int i = list + 1; i < token[list].next; i = token[i].next) {
        char name[sizeof live->parameter[0].name];
        if (token[i].kind != FF_JSON_STRING)
            return false;
        const int p = ff_json_text(&token[i], name, sizeof name) ? ff_live__parameter(live, name) : -1;
        if (p >= 0)
            which[p] = true;
    }
    for (int p = 0; token[list].next == list + 1 && p < live->parameters; p++)
        which[p] = true;
    return true;
}

/* ------------------------------------------------------------------------------------------- commands -- */

static bool fail_call(ff_foxglove_client *c, const pending *p, const char *text) {
    ff_json json;
    begin_op(&json, "serviceCallFailure");
    ff_json_integer(&json, "serviceId", (long long)p->verb + 1);
    ff_json_integer(&json, "callId", p->call);
    ff_json_string(&json, "message", text);
    return post_text(c, end_op(&json));
}

/* A value that was not taken: why, and what it still is. */
static bool end_set(ff_foxglove_client *c, const pending *p, bool done, const char *text) {
    bool which[FF_LIVE_MAX_PARAMETERS] = {false};
    which[p->parameter] = true;
    return (done || complain(c, STATUS_ERROR, text)) && tell_parameters(c, which, p->request);
}

static bool refuse_pending(ff_foxglove_client *c, const pending *p, const char *text) {
    return p->verb == FF_LIVE_SET ? end_set(c, p, false, text) : fail_call(c, p, text);
}

static void put_u32(unsigned char *at, uint64_t x) {
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(x >> (8 * i));
}

static uint32_t get_u32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* In the encoding of the call. */
static bool end_call(ff_foxglove_client *c, const pending *p, bool done, const char *text) {
    unsigned char cdr[FF_LIVE_TEXT + 32], *bytes;
    size_t used = 0;
    char *json_text = NULL;
    const void *body = cdr;
    if (p->json) {
        ff_json json;
        ff_json_init(&json, false);
        ff_json_open(&json, NULL, '{');
        ff_json_bool(&json, "success", done);
        ff_json_string(&json, "message", text);
        json_text = end_op(&json);
        used = json_text ? strlen(json_text) : 0;
        body = json_text;
    } else if (ff_message_trigger(done, text, cdr, sizeof cdr, &used) != FF_OK)
        return true;
    const char *encoding = p->json ? "json" : "cdr";
    const size_t n = strlen(encoding);
    bytes = malloc(CALL_HEAD + n + used);
    if (bytes && body) {
        bytes[0] = OP_RESPONSE;
        put_u32(bytes + 1, (uint64_t)p->verb + 1);
        put_u32(bytes + 5, p->call);
        put_u32(bytes + 9, n);
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): its length is before it */
        memcpy(bytes + CALL_HEAD, encoding, n);
        memcpy(bytes + CALL_HEAD + n, body, used);
    } else {
        free(bytes); /* no memory: the call ends by its deadline at the client */
        bytes = NULL;
    }
    free(json_text);
    return post(c, bytes, CALL_HEAD + n + used, true);
}

static void give_answer(ff_foxglove_client *c, const ff_live_reply *reply) {
    const int64_t now = reply ? 0 : c->server->live->room.now();
    for (int i = 0; i < FF_LIVE_OUTBOX; i++) {
        pending *p = &c->pending[i];
        if (!p->deadline || (reply ? p->id != reply->id : p->deadline >= now))
            continue;
        const char *text = reply ? reply->text : c->server->live->room.overdue(p->claim, &p->taken);
        p->deadline = text ? 0 : now + (int64_t)FF_LIVE_ANSWER_TIME * 1000000000;
        if (!text)
            continue;
        if (!reply)
            refuse_pending(c, p, text);
        else if (p->verb == FF_LIVE_SET)
            end_set(c, p, reply->done, reply->text);
        else
            end_call(c, p, reply->done, reply->text);
    }
}

/* Checks an order and hands it to the loop. */
static bool order_loop(ff_foxglove_client *c, pending *asked, double value) {
    ff_live *live = c->server->live;
    ff_live_command command = {.verb = asked->verb,
                               .parameter = asked->parameter,
                               .value = value,
                               .id = ++c->commands,
                               .viewer = c->number};
    char text[FF_LIVE_TEXT];
    if (!ff_live__permit(live, asked->verb, NULL, c->operates, text, sizeof text) ||
        (asked->verb == FF_LIVE_SET && !ff_live__within(live, &command, text, sizeof text)))
        return refuse_pending(c, asked, text);
    for (int i = 0; i < FF_LIVE_OUTBOX; i++)
        if (!c->pending[i].deadline && live->room.order(live, &command)) {
            asked->id = command.id;
            asked->claim = command.claim;
            asked->deadline = live->room.now() + (int64_t)FF_LIVE_ANSWER_TIME * 1000000000;
            c->pending[i] = *asked;
            return true;
        }
    return refuse_pending(c, asked, "refused: too many commands wait for the loop");
}

/* ------------------------------------------------------------------------------------------- hearing -- */

static bool hear_subscribe(ff_foxglove_client *c, const ff_json_token *t, int list) {
    const ff_topics *topics = &c->server->broadcast.topics;
    if (list < 0 || t[list].kind != FF_JSON_ARRAY)
        return complain(c, STATUS_ERROR, "subscribe: a list 'subscriptions' is needed");
    for (int i = list + 1; i < t[list].next; i = t[i].next) {
        const int id = ff_json_member(t, i, "id"), on = ff_json_member(t, i, "channelId");
        unsigned number, topic;
        if (id < 0 || on < 0 || !ff_json_whole(&t[id], UINT32_MAX, &number) ||
            !ff_json_whole(&t[on], topics->count, &topic) || topic == 0)
            return complain(c, STATUS_ERROR, "subscribe: no such channel");
        for (int k = 0; k < c->subscriptions; k++)
            if (c->subscription[k].id == number)
                return complain(c, STATUS_ERROR, "subscribe: this id is in use");
        if (c->subscriptions == FF_FOXGLOVE_SUBSCRIPTIONS)
            return complain(c, STATUS_ERROR, "subscribe: too many subscriptions");
        channel *from = &c->server->channel[topic - 1];
        const bool past =
            (topics->topic[topic - 1].use & FF_TOPIC_LATCHED) || (int)topic - 1 == topics->event;
        const uint64_t has = from->made < (uint64_t)from->slots ? from->made : (uint64_t)from->slots;
        from->wanted++;
        c->subscription[c->subscriptions].id = number;
        c->subscription[c->subscriptions].channel = (int)topic - 1;
        c->subscription[c->subscriptions++].next = from->made - (past ? has : 0);
    }
    return true;
}

static bool hear_unsubscribe(ff_foxglove_client *c, const ff_json_token *t, int list) {
    if (list < 0 || t[list].kind != FF_JSON_ARRAY)
        return complain(c, STATUS_ERROR, "unsubscribe: a list 'subscriptionIds' is needed");
    for (int i = list + 1; i < t[list].next; i = t[i].next) {
        unsigned number;
        bool found = false;
        for (int k = 0; ff_json_whole(&t[i], UINT32_MAX, &number) && k < c->subscriptions && !found; k++)
            if (c->subscription[k].id == number) {
                found = true;
                c->server->channel[c->subscription[k].channel].wanted--;
                c->subscription[k] = c->subscription[--c->subscriptions];
            }
        if (!found && !complain(c, STATUS_WARNING, "unsubscribe: no such subscription"))
            return false;
    }
    return true;
}

static bool hear_set(ff_foxglove_client *c, const ff_json_token *t, int list, const char *request) {
    if (list < 0 || t[list].kind != FF_JSON_ARRAY)
        return complain(c, STATUS_ERROR, "setParameters: a list 'parameters' is needed");
    for (int i = list + 1; i < t[list].next; i = t[i].next) {
        const int name = ff_json_member(t, i, "name"), value = ff_json_member(t, i, "value");
        char text[sizeof c->server->live->parameter[0].name];
        pending asked = {.verb = FF_LIVE_SET, .parameter = -1};
        double number;
        if (name >= 0 && ff_json_text(&t[name], text, sizeof text))
            asked.parameter = ff_live__parameter(c->server->live, text);
        snprintf(asked.request, sizeof asked.request, "%s", request);
        bool good;
        if (asked.parameter < 0)
            good = complain(c, STATUS_ERROR, "set refused: no such parameter");
        else if (value < 0 || !ff_json_value(&t[value], &number))
            good = end_set(c, &asked, false, "set refused: a number is needed");
        else
            good = order_loop(c, &asked, number);
        if (!good)
            return false;
    }
    return true;
}

static bool hear_text(ff_foxglove_client *c, const char *text, size_t size) {
    ff_json_token *t = c->server->token;
    char op[32], request[ID] = "";
    bool which[FF_LIVE_MAX_PARAMETERS];
    const int count = ff_json_read(text, size, t, TOKENS), name = count > 0 ? ff_json_member(t, 0, "op") : -1;
    if (name < 0 || !ff_json_text(&t[name], op, sizeof op))
        return complain(c, STATUS_ERROR, "not a message: a JSON object with 'op' is needed");
    const int id = ff_json_member(t, 0, "id");
    if (id >= 0 && !ff_json_text(&t[id], request, sizeof request))
        return complain(c, STATUS_ERROR, "'id' is a text of at most 63 bytes");
    if (strcmp(op, "subscribe") == 0)
        return hear_subscribe(c, t, ff_json_member(t, 0, "subscriptions"));
    if (strcmp(op, "unsubscribe") == 0)
        return hear_unsubscribe(c, t, ff_json_member(t, 0, "subscriptionIds"));
    if (strcmp(op, "setParameters") == 0)
        return hear_set(c, t, ff_json_member(t, 0, "parameters"), request);
    const bool get = strcmp(op, "getParameters") == 0, follow = strcmp(op, "subscribeParameterUpdates") == 0;
    if (get || follow || strcmp(op, "unsubscribeParameterUpdates") == 0) {
        if (!named(c->server->live, t, ff_json_member(t, 0, "parameterNames"), which))
            return complain(c, STATUS_ERROR, "a list 'parameterNames' is needed");
        if (get)
            return tell_parameters(c, which, request);
        for (int i = 0; i < c->server->live->parameters; i++) {
            c->shown[i] = which[i] && follow ? value_of(c->server->live, i) : c->shown[i];
            c->follows[i] = which[i] ? follow : c->follows[i];
        }
        return true;
    }
    return complain(c, STATUS_ERROR, "not offered here");
}

static bool hear_call(ff_foxglove_client *c, const unsigned char *bytes, size_t size) {
    const ff_live *live = c->server->live;
    const uint32_t service = size >= CALL_HEAD ? get_u32(bytes + 1) : 0;
    const size_t length = size >= CALL_HEAD ? get_u32(bytes + 9) : 0;
    if (size < CALL_HEAD || length > size - CALL_HEAD || service == 0 || service > FF_LIVE_VERBS ||
        !is_service(live, (int)service - 1))
        return complain(c, STATUS_ERROR, "a call of no service");
    pending asked = {.verb = (ff_live_verb)(service - 1), .call = get_u32(bytes + 5)};
    asked.json = length == 4 && memcmp(bytes + CALL_HEAD, "json", 4) == 0;
    if (!asked.json && (length != 3 || memcmp(bytes + CALL_HEAD, "cdr", 3) != 0))
        return fail_call(c, &asked, "the encoding is not offered; allowed: cdr, json");
    return order_loop(c, &asked, 0.0); /* a Trigger's request is empty: what else comes is not looked at */
}

static bool hear_message(ff_foxglove_client *c, const void *bytes, size_t size, bool binary) {
    if (!binary)
        return hear_text(c, bytes, size);
    if (size > 0 && *(const unsigned char *)bytes == OP_CALL)
        return hear_call(c, bytes, size);
    return complain(c, STATUS_ERROR, "nothing can be published here") && ++c->wrong < WRONG;
}

/* ------------------------------------------------------------------------------------------- sending -- */

static bool client_urgent(const ff_foxglove_client *c) {
    return c->greeted < 3 || c->waiting;
}

static int behind(const ff_foxglove_client *c) {
    for (int n = 0; n < c->subscriptions; n++) {
        const int i = (c->turn + n) % c->subscriptions;
        if (c->subscription[i].next < c->server->channel[c->subscription[i].channel].made)
            return i;
    }
    return -1;
}

static int changed(const ff_foxglove_client *c) {
    const ff_live *live = c->server->live;
    for (int i = 0; i < live->parameters; i++)
        if (c->follows[i] && c->shown[i] != value_of(live, i))
            return i;
    return -1;
}

static bool client_due(const ff_foxglove_client *c) {
    return client_urgent(c) || c->ticks < c->server->ticks || behind(c) >= 0 || changed(c) >= 0;
}

static void put_u64(unsigned char *at, uint64_t x) {
    put_u32(at, x & UINT32_MAX);
    put_u32(at + 4, x >> 32);
}

static bool next_data(ff_foxglove_client *c, ff_foxglove_out *out) {
    const int i = behind(c);
    if (i < 0)
        return false;
    const channel *from = &c->server->channel[c->subscription[i].channel];
    uint64_t *next = &c->subscription[i].next;
    if (from->made - *next > (uint64_t)from->slots)
        *next = from->made - (uint64_t)from->slots;
    const kept *k = &from->slot[*next % (uint64_t)from->slots];
    ++*next;
    c->turn = *next < from->made ? i : i + 1;
    out->head[0] = OP_MESSAGE;
    put_u32(out->head + 1, c->subscription[i].id);
    put_u64(out->head + 5, k->stamp);
    out->head_size = 13;
    out->body = k->bytes;
    out->size = k->size;
    out->binary = true;
    return true;
}

/* What concerns this client alone first, then its clock, then what it has subscribed to, in turn. */
static bool next_message(ff_foxglove_client *c, ff_foxglove_out *out) {
    *out = (ff_foxglove_out){.size = 0};
    free(c->sent);
    c->sent = NULL;
    if (c->greeted < 3) {
        out->body = c->server->greeting[c->greeted++];
        out->size = strlen(out->body);
        return true;
    }
    const int parameter = c->waiting ? -1 : changed(c);
    if (parameter >= 0) {
        bool which[FF_LIVE_MAX_PARAMETERS] = {false};
        which[parameter] = true;
        tell_parameters(c, which, "");
    }
    if (c->waiting) {
        out->body = c->sent = c->outbox[0].bytes;
        out->size = c->outbox[0].size;
        out->binary = c->outbox[0].binary;
        memmove(c->outbox, c->outbox + 1, (size_t)--c->waiting * sizeof *c->outbox);
        return true;
    }
    if (c->ticks < c->server->ticks) {
        c->ticks = c->server->ticks;
        out->head[0] = OP_TIME;
        put_u64(out->head + 1, c->server->stamp);
        out->head_size = 9;
        out->binary = true;
        return true;
    }
    return next_data(c, out);
}

const ff_foxglove_side ff_foxglove_calls = {serve_tick,  enter_client,  leave_client, hear_message,
                                            give_answer, client_urgent, client_due,   next_message};
