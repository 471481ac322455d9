#include "text/json.h"
#include "text/message.h"
#include "text/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ff_json_init(ff_json *json, bool pretty) {
    *json = (ff_json){.pretty = pretty};
}

void ff_json_free(ff_json *json) {
    free(json->text);
    *json = (ff_json){0};
}

char *ff_json_take(ff_json *json) {
    if (json->failed)
        ff_json_free(json);
    char *text = json->text;
    *json = (ff_json){0};
    return text;
}

static void put(ff_json *json, const char *bytes, size_t count) {
    if (json->failed)
        return;
    if (json->length + count + 1 > json->capacity) {
        const size_t capacity = 2 * (json->length + count) + 256;
        char *text = realloc(json->text, capacity);
        if (!text) {
            json->failed = true;
            return;
        }
        json->text = text;
        json->capacity = capacity;
    }
    memcpy(json->text + json->length, bytes, count);
    json->length += count;
    json->text[json->length] = 0;
}

static void put_text(ff_json *json, const char *text) {
    put(json, text, strlen(text));
}

static void put_string(ff_json *json, const char *value) {
    put_text(json, "\"");
    while (*value) {
        char escape[16];
        uint32_t code = 0;
        const size_t shown = ff_shown_character(value), n = shown ? shown : ff_utf8(value, SIZE_MAX, &code);
        if (shown && *value != '"' && *value != '\\')
            put(json, value, n);
        else {
            if (shown)
                snprintf(escape, sizeof escape, "\\%c", *value);
            else if (n) /* no such character needs two of them: none is beyond U+FFFF but U+1FFFE and its like
                         */
                snprintf(escape, sizeof escape, "\\u%04x", code < 0x10000 ? (unsigned)code : 0xfffdu);
            else
                snprintf(escape, sizeof escape, "?");
            put_text(json, escape);
        }
        value += n ? n : 1;
    }
    put_text(json, "\"");
}

static void begin(ff_json *json, const char *key) {
    if (json->comma)
        put_text(json, json->pretty && key ? "," : json->pretty ? ", " : ",");
    if (json->pretty && key && json->depth) {
        put_text(json, "\n");
        for (int i = 0; i < json->depth; i++)
            put_text(json, "  ");
    }
    if (key) {
        put_string(json, key);
        put_text(json, json->pretty ? ": " : ":");
    }
    json->comma = true;
}

void ff_json_open(ff_json *json, const char *key, char bracket) {
    begin(json, key);
    put(json, &bracket, 1);
    json->depth++;
    json->comma = false;
}

void ff_json_close(ff_json *json, char bracket) {
    json->depth--;
    if (json->pretty && bracket == '}' && json->comma) {
        put_text(json, "\n");
        for (int i = 0; i < json->depth; i++)
            put_text(json, "  ");
    }
    put(json, &bracket, 1);
    json->comma = true;
    if (json->depth == 0)
        put_text(json, "\n");
}

void ff_json_number(ff_json *json, const char *key, double value) {
    char buffer[FF_NUMBER_SIZE];
    ff_number_format(value, buffer);
    begin(json, key);
    put_text(json, buffer);
}

void ff_json_integer(ff_json *json, const char *key, long long value) {
    char buffer[32];
    snprintf(buffer, sizeof buffer, "%lld", value);
    begin(json, key);
    put_text(json, buffer);
}

void ff_json_bool(ff_json *json, const char *key, bool value) {
    begin(json, key);
    put_text(json, value ? "true" : "false");
}

void ff_json_string(ff_json *json, const char *key, const char *value) {
    begin(json, key);
    if (value)
        put_string(json, value);
    else
        put_text(json, "null");
}

void ff_json_vector(ff_json *json, const char *key, const double *values, int count) {
    ff_json_open(json, key, '[');
    for (int i = 0; i < count; i++)
        ff_json_number(json, NULL, values[i]);
    ff_json_close(json, ']');
}

void ff_json_vec3(ff_json *json, const char *key, ff_vec3 value) {
    ff_json_vector(json, key, value.a, 3);
}

void ff_json_quat(ff_json *json, const char *key, ff_quat q) {
    const double values[4] = {q.w, q.x, q.y, q.z};
    ff_json_vector(json, key, values, 4);
}
