#include "live/ros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/cdr.h"

/* Beside the orders: rcl_interfaces of a node's parameters. */
enum { LIST, GET, TYPES, DESCRIBE, SET, SET_ATOMICALLY, PARAMETER_SERVICES };
static const struct {
    const char *name, *type;
} parameter_service[PARAMETER_SERVICES] = {
    {"list_parameters", "ListParameters"},        {"get_parameters", "GetParameters"},
    {"get_parameter_types", "GetParameterTypes"}, {"describe_parameters", "DescribeParameters"},
    {"set_parameters", "SetParameters"},          {"set_parameters_atomically", "SetParametersAtomically"}};
enum {
    DEPTH = 15000
}; /* messages kept for a reliable reader that is slow: 15 s at 1 kHz; then it loses
     the oldest, alone. One that is gone has been given up by DDS before */
enum { TYPE_NONE = 0, TYPE_INTEGER = 2, TYPE_DOUBLE = 3 }; /* rcl_interfaces/ParameterType */

static const char too_many[] = "refused: too many requests wait for an answer, ask again in a second";

typedef struct asked { /* a request that the loop has not answered yet */
    int64_t deadline;  /* [ns] 0: free */
    int service;
    uint64_t from, sequence;
    int orders; /* of a set: parameters in it, each with its own answer */
    int answered;
    struct {
        uint32_t id;
        ff_claim claim;
        bool taken; /* by the loop */
        bool waits; /* for room in the loop's queue: */
        ff_live_command command;
        bool done;
        char text[FF_LIVE_TEXT];
    } order[FF_ROS_PARAMETERS];
} asked;

struct ff_ros {
    ff_live *live;
    ff_broadcast broadcast;
    const ff_ros_wire *wire;
    unsigned allowed;
    int verbs;
    ff_live_verb verb[FF_LIVE_VERBS];
    asked pending[FF_ROS_PENDING + 1]; /* the last one: for what is refused at once, in a flood */
    uint32_t commands;
    unsigned char reply[256 << 10];
};

/* -------------------------------------------------------------------------------------------- names -- */

bool ff_ros_allow(const char *list, unsigned *bits, char *text, size_t size) {
    *bits = 0;
    while (*list) {
        const size_t n = strcspn(list, ",");
        int verb = 0;
        while (verb < FF_LIVE_VERBS && (strlen(ff_live_verb_name((ff_live_verb)verb)) != n ||
                                        strncmp(ff_live_verb_name((ff_live_verb)verb), list, n) != 0))
            verb++;
        if (verb == FF_LIVE_VERBS || verb == FF_LIVE_SPEED || verb == FF_LIVE_SEEK) {
            snprintf(text, size, "'%.*s' cannot be allowed; allowed: hold, stop, resume, retreat, zero, set",
                     (int)(n < 40 ? n : 40), list);
            return false;
        }
        *bits |= FF_LIVE_BIT(verb);
        list += n + (list[n] == ',');
    }
    return true;
}

static int topics_of(const ff_ros *ros) {
    return ros->broadcast.topics.count;
}

static void topic_of(const ff_ros *ros, int i, ff_ros_topic *out) {
    const ff_topic *t = &ros->broadcast.topics.topic[i];
    *out = (ff_ros_topic){.depth = DEPTH, .offered = !t->columns};
    snprintf(out->name, sizeof out->name, "rt%s", t->name);
    ff_link_type(t->type, "", out->type, sizeof out->type);
    if (t->use & FF_TOPIC_LATCHED) {
        out->quality = FF_LINK_LATCHED;
        out->depth = 1;
    } else if (t->use & FF_TOPIC_SENSOR) {
        out->quality = FF_LINK_SENSOR;
        out->depth = 5;
    } else if (i == ros->broadcast.topics.clock) {
        out->quality = FF_LINK_SENSOR;
        out->depth = 1;
    }
}

static int services_of(const ff_ros *ros) {
    return ros->verbs + PARAMETER_SERVICES;
}

static void service_of(const ff_ros *ros, int i, ff_ros_service *out) {
    const bool order = i < ros->verbs;
    const char *name = order ? ff_live_verb_name(ros->verb[i]) : parameter_service[i - ros->verbs].name;
    char type[64];
    snprintf(type, sizeof type, "%s/srv/%s", order ? "std_srvs" : "rcl_interfaces",
             order ? "Trigger" : parameter_service[i - ros->verbs].type);
    snprintf(out->request, sizeof out->request, "rq/freefloat/%sRequest", name);
    snprintf(out->reply, sizeof out->reply, "rr/freefloat/%sReply", name);
    ff_link_type(type, "_Request", out->request_type, sizeof out->request_type);
    ff_link_type(type, "_Response", out->reply_type, sizeof out->reply_type);
}

/* --------------------------------------------------------------------------------------- publishing -- */

static ff_status publish_message(void *self, int topic, uint64_t stamp, const void *bytes, size_t size) {
    const ff_ros *ros = self;
    (void)stamp;
    ros->wire->publish(ros->wire->self, topic, bytes, size);
    return FF_OK;
}

static bool wants_message(void *self, int topic) {
    const ff_ros *ros = self;
    return !ros->broadcast.topics.topic[topic].columns;
}

static ff_topic_taker publisher(ff_ros *ros) {
    return (ff_topic_taker){.self = ros, .wants = wants_message, .take = publish_message};
}

static void each_row(ff_live *live) {
    const ff_topic_taker taker = publisher(live->ros);
    ff_topics_row(&live->ros->broadcast.topics, live->row, &taker);
}

static void begin_ros(ff_ros *ros, const ff_ros_wire *wire) {
    const ff_topic_taker taker = publisher(ros);
    ros->wire = wire;
    ros->live->each = each_row;
    ff_broadcast_begin(&ros->broadcast, &taker);
}

/* ------------------------------------------------------------------------------------------ replies -- */

static ff_cdr begin_reply(ff_ros *ros, uint64_t from, uint64_t sequence) {
    ff_cdr c = ff_cdr_begin(ros->reply, sizeof ros->reply);
    ff_cdr_put_number(&c, from, 8);
    ff_cdr_put_number(&c, sequence, 8);
    return c;
}

static void send_reply(ff_ros *ros, int service, const ff_cdr *c) {
    size_t used;
    if (ff_cdr_finish(c, &used) == FF_OK)
        ros->wire->reply(ros->wire->self, service, ros->reply, used);
}

static void settle(ff_ros *ros, asked *a) {
    ff_cdr c = begin_reply(ros, a->from, a->sequence);
    const int parameters = a->service - ros->verbs;
    if (parameters == SET)
        ff_cdr_put_number(&c, (uint64_t)a->orders, 4);
    bool all = true;
    const char *why = "";
    for (int i = 0; i < a->orders; i++) {
        if (parameters !=
            SET_ATOMICALLY) { /* Trigger's answer has the same layout as one SetParametersResult */
            ff_cdr_put_number(&c, a->order[i].done, 1);
            ff_cdr_put_string(&c, parameters == SET && a->order[i].done ? "" : a->order[i].text);
        }
        why = all && !a->order[i].done ? a->order[i].text : why;
        all = all && a->order[i].done;
    }
    if (parameters == SET_ATOMICALLY) {
        ff_cdr_put_number(&c, all, 1);
        ff_cdr_put_string(&c, why);
    }
    a->deadline = 0;
    send_reply(ros, a->service, &c);
}

static void end_order(ff_ros *ros, asked *a, int i, bool done, const char *text) {
    a->order[i].id = 0;
    a->order[i].done = done;
    snprintf(a->order[i].text, sizeof a->order[i].text, "%s", text);
    if (++a->answered == a->orders)
        settle(ros, a);
}

/* Hands an order to the loop; where its queue is full, later. */
static void pass_on(ff_ros *ros, asked *a, int i) {
    ff_live_command *command = &a->order[i].command;
    command->id = ros->commands = ros->commands == UINT32_MAX ? 1 : ros->commands + 1;
    a->order[i].waits = !ros->live->room.order(ros->live, command);
    if (!a->order[i].waits) {
        a->order[i].id = command->id;
        a->order[i].claim = command->claim;
        a->order[i].taken = false;
    }
}

/* Checks an order first. */
static void ask_loop(ff_ros *ros, asked *a, int i, ff_live_verb verb, int parameter, double value) {
    ff_live *live = ros->live;
    const ff_live_command command = {
        .verb = verb, .parameter = parameter, .value = value, .viewer = live->index << 24};
    char text[FF_LIVE_TEXT];
    if (!(ros->allowed & FF_LIVE_BIT(verb))) {
        snprintf(text, sizeof text, "%s refused: it is not in --ros-allow", ff_live_verb_name(verb));
        end_order(ros, a, i, false, text);
    } else if (verb == FF_LIVE_SET && !ff_live__within(live, &command, text, sizeof text))
        end_order(ros, a, i, false, text);
    else {
        a->order[i].command = command;
        pass_on(ros, a, i);
    }
}

static void give_up(ff_ros *ros, asked *a, int64_t now) {
    bool waits = false;
    for (int i = 0; a->deadline && i < a->orders; i++) {
        const char *text = a->order[i].waits ? "refused: too many commands wait for the loop"
                           : a->order[i].id  ? ros->live->room.overdue(a->order[i].claim, &a->order[i].taken)
                                             : NULL;
        a->order[i].waits = false;
        if (text)
            end_order(ros, a, i, false, text);
        else
            waits = waits || a->order[i].id;
    }
    if (a->deadline && waits)
        a->deadline = now + (int64_t)FF_LIVE_ANSWER_TIME * 1000000000;
}

static void take_answers(ff_ros *ros) {
    ff_live_reply reply;
    const int64_t now = ros->live->room.now();
    while (ros->live->room.pop(&ros->live->replies, &reply))
        for (int p = 0; p < FF_ROS_PENDING; p++)
            for (int i = 0; ros->pending[p].deadline && i < ros->pending[p].orders; i++)
                if (ros->pending[p].order[i].id == reply.id && reply.id)
                    end_order(ros, &ros->pending[p], i, reply.done, reply.text);
    for (int p = 0; p < FF_ROS_PENDING; p++)
        for (int i = 0; ros->pending[p].deadline && i < ros->pending[p].orders; i++)
            if (ros->pending[p].order[i].waits)
                pass_on(ros, &ros->pending[p], i);
    for (int p = 0; p < FF_ROS_PENDING; p++)
        if (ros->pending[p].deadline && ros->pending[p].deadline < now)
            give_up(ros, &ros->pending[p], now);
}

static void tick_ros(ff_ros *ros) {
    const ff_topic_taker taker = publisher(ros);
    ros->live->room.drain(ros->live);
    ff_broadcast_tick(&ros->broadcast, ros->live, &taker);
    take_answers(ros);
}

/* --------------------------------------------------------------------------------------- parameters -- */

static void put_value(ff_cdr *c, bool known, double value) {
    ff_cdr_put_number(c, known ? TYPE_DOUBLE : TYPE_NONE, 1);
    ff_cdr_put_number(c, 0, 1); /* bool */
    ff_cdr_put_number(c, 0, 8); /* integer */
    ff_cdr_put_double(c, known ? value : 0.0);
    ff_cdr_put_string(c, "");
    for (int i = 0; i < 5; i++) /* arrays of bytes, bools, integers, doubles, strings */
        ff_cdr_put_number(c, 0, 4);
}

/* rcl_interfaces/ParameterDescriptor, with the range. */
static void put_description(ff_cdr *c, const ff_live_parameter *p, const char *name) {
    ff_cdr_put_string(c, name);
    ff_cdr_put_number(c, p ? TYPE_DOUBLE : TYPE_NONE, 1);
    ff_cdr_put_string(c, p ? p->effect : "");
    ff_cdr_put_string(c, p ? p->unit : "");
    ff_cdr_put_number(c, 0, 1); /* read_only */
    ff_cdr_put_number(c, 0, 1); /* dynamic_typing */
    ff_cdr_put_number(c, p ? 1 : 0, 4);
    if (p) {
        ff_cdr_put_double(c, p->low);
        ff_cdr_put_double(c, p->high);
        ff_cdr_put_double(c, 0.0);
    }
    ff_cdr_put_number(c, 0, 4); /* integer_range */
}

/* The next name of a list; longer ones are none of ours. */
static bool next_name(ff_cdr_in *in, char *name, size_t size) {
    const size_t before = in->used;
    const ff_status status = ff_cdr_get_string(in, name, size);
    if (status == FF_ERR_SIZE) {
        in->used = before;
        const uint64_t n = ff_cdr_get_uint(in, 4);
        in->used += (size_t)n; /* it is there: the reader looked */
        snprintf(name, size, "?");
    }
    return !in->bad;
}

static void read_parameters(ff_ros *ros, int service, int kind, ff_cdr_in *in, uint64_t from,
                            uint64_t sequence) {
    const ff_live *live = ros->live;
    ff_cdr c = begin_reply(ros, from, sequence);
    char name[sizeof live->parameter[0].name];
    if (kind == LIST) { /* prefixes and depth: there are few enough */
        ff_cdr_put_number(&c, (uint64_t)live->parameters, 4);
        for (int i = 0; i < live->parameters; i++)
            ff_cdr_put_string(&c, live->parameter[i].name);
        ff_cdr_put_number(&c, 0, 4);
        send_reply(ros, service, &c);
        return;
    }
    const uint64_t asked_for = ff_cdr_get_uint(in, 4);
    if (in->bad || asked_for > (in->size - in->used) / 4)
        return;
    /* too many: none, as a node answers where it gives nothing */
    const uint64_t count = asked_for > FF_ROS_PARAMETERS ? 0 : asked_for;
    ff_cdr_put_number(&c, count, 4);
    for (uint64_t n = 0; n < count; n++) {
        if (!next_name(in, name, sizeof name))
            return;
        const int p = ff_live__parameter(live, name);
        if (kind == GET)
            put_value(&c, p >= 0,
                      p >= 0 ? atomic_load_explicit(&live->parameter_now[p], memory_order_relaxed) : 0.0);
        else if (kind == TYPES)
            ff_cdr_put_number(&c, p >= 0 ? TYPE_DOUBLE : TYPE_NONE, 1);
        else
            put_description(&c, p >= 0 ? &live->parameter[p] : NULL, name);
    }
    send_reply(ros, service, &c);
}

static void skip_list(ff_cdr_in *in, size_t each) {
    const uint64_t n = ff_cdr_get_uint(in, 4);
    if (n == 0 || in->bad)
        return;
    ff_cdr_get_uint(in, each); /* aligns, and looks at the first */
    if (in->bad || n - 1 > (in->size - in->used) / each)
        in->bad = true;
    else
        in->used += (size_t)(n - 1) * each;
}

/* rcl_interfaces/Parameter. *good: it is a number. */
static bool read_value(ff_cdr_in *in, double *value, bool *good) {
    char text[8];
    const uint64_t type = ff_cdr_get_uint(in, 1);
    ff_cdr_get_uint(in, 1);
    const int64_t integer = (int64_t)ff_cdr_get_uint(in, 8);
    const double number = ff_cdr_get_double(in);
    if (in->bad || !next_name(in, text, sizeof text))
        return false;
    skip_list(in, 1);
    skip_list(in, 1);
    skip_list(in, 8);
    skip_list(in, 8);
    const uint64_t texts = in->bad ? 0 : ff_cdr_get_uint(in, 4);
    for (uint64_t i = 0; i < texts && !in->bad; i++)
        next_name(in, text, sizeof text);
    *good = type == TYPE_DOUBLE || type == TYPE_INTEGER;
    *value = type == TYPE_INTEGER ? (double)integer : number;
    return !in->bad;
}

/* The same answer for each of a set's parameters, or for all of them. */
static void refuse_set(ff_ros *ros, asked *a, uint64_t count, const char *why) {
    ff_cdr c = begin_reply(ros, a->from, a->sequence);
    const bool each = a->service - ros->verbs == SET;
    if (each)
        ff_cdr_put_number(&c, count, 4);
    for (uint64_t n = 0; n < (each ? count : 1); n++) {
        ff_cdr_put_number(&c, count == 0, 1);
        ff_cdr_put_string(&c, why);
    }
    a->deadline = 0;
    send_reply(ros, a->service, &c);
}

static void set_parameters(ff_ros *ros, asked *a, ff_cdr_in *in) {
    enum { LEAST = 48 }; /* [bytes] of a parameter with an empty name */
    const uint64_t count = ff_cdr_get_uint(in, 4);
    const bool flood = a == &ros->pending[FF_ROS_PENDING];
    struct {
        int parameter;
        double value;
        bool good;
    } set[FF_ROS_PARAMETERS];
    if (in->bad || count > (in->size - in->used) / LEAST) {
        a->deadline = 0;
        return;
    }
    if (count == 0 || count > FF_ROS_PARAMETERS || flood) {
        char text[FF_LIVE_TEXT] = "";
        if (count > FF_ROS_PARAMETERS)
            snprintf(text, sizeof text, "set refused: %llu parameters in one request, allowed: %d at most",
                     (unsigned long long)count, FF_ROS_PARAMETERS);
        else if (count)
            snprintf(text, sizeof text, "%s", too_many);
        refuse_set(ros, a, count, text);
        return;
    }
    for (uint64_t n = 0; n < count; n++) { /* all of it is read before any of it acts */
        char name[sizeof ros->live->parameter[0].name];
        if (!next_name(in, name, sizeof name) || !read_value(in, &set[n].value, &set[n].good)) {
            a->deadline = 0;
            return;
        }
        set[n].parameter = ff_live__parameter(ros->live, name);
    }
    a->orders = (int)count;
    const bool several = a->service - ros->verbs == SET_ATOMICALLY && count > 1;
    for (int n = 0; n < (int)count; n++)
        if (several) /* the loop takes one a cycle */
            end_order(ros, a, n, false, "set refused: one parameter at a time");
        else if (set[n].parameter < 0)
            end_order(ros, a, n, false, "set refused: no such parameter");
        else if (!set[n].good)
            end_order(ros, a, n, false, "set refused: a number is needed");
        else
            ask_loop(ros, a, n, FF_LIVE_SET, set[n].parameter, set[n].value);
}

static void take_request(ff_ros *ros, int service, const void *bytes, size_t size) {
    ff_cdr_in in = ff_cdr_open(bytes, size);
    const uint64_t from = ff_cdr_get_uint(&in, 8), sequence = ff_cdr_get_uint(&in, 8);
    const int kind = service - ros->verbs;
    if (in.bad || service < 0 || service >= services_of(ros) || size > FF_ROS_REQUEST)
        return; /* whom to answer is not known */
    if (kind >= 0 && kind < SET) {
        read_parameters(ros, service, kind, &in, from, sequence);
        return;
    }
    asked *a = NULL;
    for (int p = 0; p < FF_ROS_PENDING && !a; p++)
        a = ros->pending[p].deadline ? NULL : &ros->pending[p];
    const bool flood = !a;
    a = flood ? &ros->pending[FF_ROS_PENDING] : a;
    *a = (asked){.deadline = ros->live->room.now() + (int64_t)FF_LIVE_ANSWER_TIME * 1000000000,
                 .service = service,
                 .from = from,
                 .sequence = sequence,
                 .orders = 1};
    if (kind < 0 && flood)
        end_order(ros, a, 0, false, too_many);
    else if (kind < 0)
        ask_loop(ros, a, 0, ros->verb[service], -1, 0.0);
    else
        set_parameters(ros, a, &in);
}

/* ------------------------------------------------------------------------------------ start and end -- */

ff_status ff_ros_create(ff_live *live, const ff_live_config *config, ff_ros **out) {
    ff_ros *ros = calloc(1, sizeof *ros);
    if (!ros || !config->scenario) {
        free(ros);
        return ros ? FF_ERR_ARGUMENT : FF_ERR_MEMORY;
    }
    ros->live = live;
    ros->allowed = config->allowed & (live->open | live->guarded);
    for (int v = 0; v < FF_LIVE_VERBS; v++)
        if (((live->open | live->guarded) & FF_LIVE_BIT(v)) && v != FF_LIVE_SET && v != FF_LIVE_SPEED &&
            v != FF_LIVE_SEEK)
            ros->verb[ros->verbs++] = (ff_live_verb)v;
    const ff_status status = ff_broadcast_init(&ros->broadcast, live, config);
    if (status) {
        ff_ros_free(ros);
        return status;
    }
    *out = ros;
    return FF_OK;
}

void ff_ros_free(ff_ros *ros) {
    if (ros)
        ff_broadcast_free(&ros->broadcast);
    free(ros);
}

const ff_ros_side ff_ros_calls = {topics_of, topic_of, services_of, service_of,
                                  begin_ros, tick_ros, take_request};
