#include "text/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    const char *at, *end;
    ff_json_token *token;
    int count, capacity, depth;
} reading;

static void skip_blank(reading *r) {
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

static ff_json_token *begin_token(reading *r, ff_json_kind kind) {
    if (r->count == r->capacity)
        return NULL;
    ff_json_token *t = &r->token[r->count++];
    *t = (ff_json_token){.kind = kind, .at = r->at, .next = r->count};
    return t;
}

static bool hexadecimal(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool read_string(reading *r) {
    r->at++;
    ff_json_token *t = begin_token(r, FF_JSON_STRING);
    if (!t)
        return false;
    for (; r->at < r->end && *r->at != '"'; r->at++) {
        if ((unsigned char)*r->at < 0x20)
            return false;
        if (*r->at != '\\')
            continue;
        if (++r->at == r->end || !*r->at || !strchr("\"\\/bfnrtu", *r->at))
            return false;
        for (int i = 0; *r->at == 'u' && i < 4; i++)
            if (r->end - r->at <= i + 1 || !hexadecimal(r->at[i + 1]))
                return false;
    }
    if (r->at == r->end)
        return false;
    t->length = (size_t)(r->at++ - t->at);
    return true;
}

static bool read_digits(reading *r) {
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > from;
}

static bool read_number(reading *r) {
    ff_json_token *t = begin_token(r, FF_JSON_NUMBER);
    if (!t)
        return false;
    if (*r->at == '-')
        r->at++;
    const char *first = r->at;
    if (!read_digits(r) || (*first == '0' && r->at > first + 1))
        return false;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!read_digits(r))
            return false;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        if (!read_digits(r))
            return false;
    }
    t->length = (size_t)(r->at - t->at);
    return true;
}

static bool read_word(reading *r) {
    static const struct {
        const char *word;
        ff_json_kind kind;
    } words[] = {{"null", FF_JSON_NULL}, {"false", FF_JSON_FALSE}, {"true", FF_JSON_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i].word, n) != 0)
            continue;
        ff_json_token *t = begin_token(r, words[i].kind);
        if (!t)
            return false;
        t->length = n;
        r->at += n;
        return true;
    }
    return false;
}

static bool read_value(reading *r); /* NOLINT(misc-no-recursion): to FF_JSON_DEPTH */

static bool read_list(reading *r, char close) { /* NOLINT(misc-no-recursion) */
    const int mine = r->count;
    if (r->depth == FF_JSON_DEPTH || !begin_token(r, close == '}' ? FF_JSON_OBJECT : FF_JSON_ARRAY))
        return false;
    r->depth++;
    r->at++;
    skip_blank(r);
    if (r->at < r->end && *r->at == close) {
        r->at++;
    } else {
        for (;;) {
            skip_blank(r);
            if (close == '}') {
                if (r->at == r->end || *r->at != '"' || !read_string(r))
                    return false;
                skip_blank(r);
                if (r->at == r->end || *r->at++ != ':')
                    return false;
            }
            if (!read_value(r))
                return false;
            skip_blank(r);
            if (r->at == r->end || (*r->at != ',' && *r->at != close))
                return false;
            if (*r->at++ == close)
                break;
        }
    }
    r->token[mine].length = (size_t)(r->at - r->token[mine].at);
    r->token[mine].next = r->count;
    r->depth--;
    return true;
}

static bool read_value(reading *r) { /* NOLINT(misc-no-recursion) */
    skip_blank(r);
    if (r->at == r->end)
        return false;
    if (*r->at == '{' || *r->at == '[')
        return read_list(r, *r->at == '{' ? '}' : ']');
    if (*r->at == '"')
        return read_string(r);
    if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))
        return read_number(r);
    return read_word(r);
}

int ff_json_read(const char *text, size_t length, ff_json_token *token, int capacity) {
    reading r = {.at = text, .end = text + length, .token = token, .capacity = capacity};
    if (!read_value(&r))
        return -1;
    skip_blank(&r);
    return r.at == r.end ? r.count : -1;
}

int ff_json_member(const ff_json_token *token, int object, const char *key) {
    int found = -1;
    if (object < 0 || token[object].kind != FF_JSON_OBJECT)
        return -1;
    for (int i = object + 1; i < token[object].next; i = token[i + 1].next)
        if (ff_json_is(&token[i], key)) {
            if (found >= 0)
                return -1;
            found = i + 1;
        }
    return found;
}

/* One code point as UTF-8; 0: no room. */
static size_t put_point(unsigned long c, char *to, size_t room) {
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (n > room)
        return 0;
    if (n == 1) {
        to[0] = (char)c;
        return 1;
    }
    static const unsigned char mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(mark[n] | c);
    return n;
}

static unsigned long four(const char *at) {
    char digit[5] = {at[0], at[1], at[2], at[3], 0};
    return strtoul(digit, NULL, 16);
}

bool ff_json_text(const ff_json_token *token, char *text, size_t size) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = token->at, *end = at + token->length;
    size_t n = 0;
    if (token->kind != FF_JSON_STRING || size == 0)
        return false;
    while (at < end) {
        unsigned long c = (unsigned char)*at++;
        if (c == '\\' && *at == 'u') {
            c = four(at + 1);
            at += 5;
            if (c >= 0xd800 && c < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
                const unsigned long low = four(at + 2);
                if (low < 0xdc00 || low > 0xdfff)
                    return false;
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                at += 6;
            } else if (c >= 0xd800 && c <= 0xdfff)
                return false;
            const size_t used = put_point(c, text + n, size - 1 - n);
            if (!used || c == 0)
                return false;
            n += used;
            continue;
        }
        if (c == '\\')
            c = (unsigned char)to[strchr(from, *at++) - from];
        if (n + 1 >= size || c == 0)
            return false;
        text[n++] = (char)c;
    }
    text[n] = 0;
    return true;
}

bool ff_json_is(const ff_json_token *token, const char *text) {
    char own[128];
    return ff_json_text(token, own, sizeof own) && strcmp(own, text) == 0;
}

bool ff_json_value(const ff_json_token *token, double *value) {
    char text[64];
    if (token->kind != FF_JSON_NUMBER || token->length >= sizeof text)
        return false;
    memcpy(text, token->at, token->length);
    text[token->length] = 0;
    *value = strtod(text, NULL);
    return isfinite(*value);
}

bool ff_json_whole(const ff_json_token *token, double most, unsigned *value) {
    double number;
    if (!ff_json_value(token, &number) || number < 0.0 || number > most || number != floor(number))
        return false;
    *value = (unsigned)number;
    return true;
}
