/* text/json_read.h - a strict reader of small JSON texts from strangers (RFC 8259): into an array of the
 * caller's, nothing is allocated, nothing outside of the text is read, depth and count are bounded. */
#ifndef FF_TEXT_JSON_READ_H
#define FF_TEXT_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

enum { FF_JSON_DEPTH = 8 };

typedef enum ff_json_kind {
    FF_JSON_NULL,
    FF_JSON_FALSE,
    FF_JSON_TRUE,
    FF_JSON_NUMBER,
    FF_JSON_STRING,
    FF_JSON_ARRAY,
    FF_JSON_OBJECT /* a string before each of its values */
} ff_json_kind;

typedef struct ff_json_token {
    ff_json_kind kind;
    const char *at; /* into the text: of a string behind its first quote */
    size_t length;  /* [bytes] of a string without its quotes, as it stands */
    int next;       /* the token behind this value with all that is in it */
} ff_json_token;

/* How many tokens the text is; -1: it is not JSON, or deeper or longer than there is room. */
int ff_json_read(const char *text, size_t length, ff_json_token *token, int capacity);
/* The value of a key; -1: not an object, no such key, or twice. */
int ff_json_member(const ff_json_token *token, int object, const char *key);
/* A string's text. False: none, or no room, or with a zero in it. */
bool ff_json_text(const ff_json_token *token, char *text, size_t size);
bool ff_json_is(const ff_json_token *token, const char *text);
/* A finite number. */
bool ff_json_value(const ff_json_token *token, double *value);
/* A whole number from 0 to most. */
bool ff_json_whole(const ff_json_token *token, double most, unsigned *value);

#endif
