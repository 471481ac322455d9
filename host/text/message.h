/* text/message.h - sentences into a caller's buffer. */
#ifndef FF_TEXT_MESSAGE_H
#define FF_TEXT_MESSAGE_H

#include "freefloat/base.h"

/* Writes the sentence, if there is a buffer, and returns the status: `return ff_refuse(FF_ERR_FORMAT, ...)`.
 */
ff_status ff_refuse(ff_status status, char *message, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Where sentences about the lines of a text go. */
typedef struct ff_refusal {
    const char *label; /* the text's name */
    char *message;     /* may be NULL */
    size_t size;
} ff_refusal;
/* "LABEL:LINE: sentence" in one line. Always false, so that a reader may `return ff_refuse_at(...)`. */
bool ff_refuse_at(const ff_refusal *to, long line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Bytes of the character of UTF-8 (RFC 3629) that begins here, of `length` that are there or up to a zero; 0:
 * none does. */
size_t ff_utf8(const char *text, size_t length, uint32_t *code);
/* Such a character that a line can show: no control character (C0, C1), no mark that ends a line or turns the
 * direction of writing; 0: none. */
size_t ff_shown_character(const char *text);
bool ff_shown_text(const char *text); /* of such characters alone */
/* Nothing else than those, whatever was quoted: every other byte becomes '?'. */
void ff_flatten(char *text);
/* Adds to a text that is `used` long; returns its length with the piece, even where that did not fit or text
 * is NULL, so that a first pass can count. */
size_t ff_append(char *text, size_t size, size_t used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
