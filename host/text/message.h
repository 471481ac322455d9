/* text/message.h - sentences into a caller's buffer. */
#ifndef FF_TEXT_MESSAGE_H
#define FF_TEXT_MESSAGE_H

#include "freefloat/base.h"

/* Writes the sentence, if there is a buffer, and returns the status: `return ff_refuse(FF_ERR_FORMAT, ...)`.
 */
ff_status ff_refuse(ff_status status, char *message, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds to a text that is `used` long; returns its length with the piece, even where that did not fit or text
 * is NULL, so that a first pass can count. */
size_t ff_append(char *text, size_t size, size_t used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
