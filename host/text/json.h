/* text/json.h - a small JSON writer into memory: commas and escapes in one place, null for what is not
 * finite. */
#ifndef FF_TEXT_JSON_H
#define FF_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "freefloat/base.h"

typedef struct ff_json {
    char *text; /* malloc'ed, zero terminated */
    size_t length, capacity;
    bool comma;  /* the next value needs one */
    bool failed; /* out of memory: everything after is ignored */
    int depth;
    bool pretty;
} ff_json;

void ff_json_init(ff_json *json, bool pretty);
void ff_json_free(ff_json *json);
/* The text, which is now the caller's to free; NULL: memory ran out. */
char *ff_json_take(ff_json *json);
void ff_json_open(ff_json *json, const char *key, char bracket /* '{' or '[' */);
void ff_json_close(ff_json *json, char bracket /* '}' or ']' */);
/* key NULL inside arrays. Numbers are written with the fewest digits that read back to the same double. */
void ff_json_number(ff_json *json, const char *key, double value);
void ff_json_integer(ff_json *json, const char *key, long long value);
void ff_json_bool(ff_json *json, const char *key, bool value);
void ff_json_string(ff_json *json, const char *key, const char *value); /* NULL: null */
void ff_json_vector(ff_json *json, const char *key, const double *values, int count);
void ff_json_vec3(ff_json *json, const char *key, ff_vec3 value);
void ff_json_quat(ff_json *json, const char *key, ff_quat value);

#endif
