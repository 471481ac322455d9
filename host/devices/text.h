/* devices/text.h - numbers and small XML documents in bounded buffers, without locale, allocation or
 * recursion.
 *
 * Telegrams arrive from the network: every function here takes a length, reads nothing beyond it, and gives a
 * status instead of a guess. Numbers never pass through the C library's locale (a comma for a point moves a
 * robot). */
#ifndef FF_DEVICES_TEXT_H
#define FF_DEVICES_TEXT_H

#include "freefloat/base.h"

/* A piece of someone else's buffer. */
typedef struct ff_span {
    const char *at;
    size_t size; /* [bytes] */
} ff_span;

bool ff_span_equal(ff_span span, const char *text);
ff_span ff_span_trim(ff_span span); /* without blanks at both ends */

/* ---------------------------------------------------------------------------------------------- numbers --
 */

/* [+-]digits[.digits][(e|E)[+-]digits], nothing before or after. The value is correctly rounded when the
 * digits fit 53 bits and the power of ten is within 22 (every telegram's case), else within one unit in the
 * last place. FF_ERR_FORMAT: not such a number (also nan, inf, hexadecimal, empty, more than 64 characters);
 * FF_ERR_NOT_FINITE: it overflows a double. *value is written only on FF_OK. */
ff_status ff_text_read_double(ff_span text, double *value);
/* Decimal digits only; FF_ERR_FORMAT otherwise or beyond 64 bit. */
ff_status ff_text_read_u64(ff_span text, uint64_t *value);
ff_status ff_text_read_i64(ff_span text, int64_t *value);

/* An output buffer that remembers its first fault: write all, then ask once. */
typedef struct ff_text_out {
    char *at;
    size_t size; /* [bytes] capacity */
    size_t used; /* [bytes] */
    ff_status status;
} ff_text_out;

#define FF_TEXT_DECIMALS_MAX 9
#define FF_TEXT_VALUE_MAX 1e9 /* larger magnitudes have no place in a telegram */

void ff_text_begin(ff_text_out *out, char *buffer, size_t size);
void ff_text_put(ff_text_out *out, const char *text);
void ff_text_put_u64(ff_text_out *out, uint64_t value);
/* Fixed notation, nearest value, decimals in [0, 9]; never "-0.000". Sets FF_ERR_NOT_FINITE for NaN and
 * infinity, FF_ERR_ARGUMENT beyond FF_TEXT_VALUE_MAX. */
void ff_text_put_double(ff_text_out *out, double value, int decimals);
/* Text content with & < > " ' escaped; control characters become blanks. */
void ff_text_put_escaped(ff_text_out *out, ff_span text);
/* One line of parts, whole or cut, with its end. */
void ff_text_line(char *line, size_t size, const char *const *part, size_t parts);
#define FF_TEXT_LINE(line, size, ...)                            \
    ff_text_line(line, size, (const char *const[]){__VA_ARGS__}, \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
/* The value that ff_text_put_double prints, as the peer reads it. */
double ff_text_round(double value, int decimals);

/* -------------------------------------------------------------------------------------------------- XML --
 */

typedef enum ff_xml_kind { FF_XML_END_OF_TEXT = 0, FF_XML_OPEN, FF_XML_CLOSE, FF_XML_TEXT } ff_xml_kind;

typedef struct ff_xml_token {
    ff_xml_kind kind;
    ff_span name;       /* of an element */
    ff_span attributes; /* of FF_XML_OPEN, between name and > */
    ff_span text;       /* of FF_XML_TEXT, not unescaped */
    bool empty;         /* FF_XML_OPEN of the form <x/>: no FF_XML_CLOSE follows */
} ff_xml_token;

typedef struct ff_xml_reader {
    const char *at, *end;
} ff_xml_reader;

/* Trailing NUL bytes are not part of the document: several peers send them. */
void ff_xml_begin(ff_xml_reader *reader, const char *bytes, size_t size);
/* The next token; declarations and comments are passed over. FF_ERR_FORMAT for anything malformed. */
ff_status ff_xml_next(ff_xml_reader *reader, ff_xml_token *token);
/* Takes the next name="value" off the front of *attributes. *found is false at the end. Single quotes work
 * too. */
ff_status ff_xml_attribute(ff_span *attributes, ff_span *name, ff_span *value, bool *found);
/* Undoes the five named entities and decimal or hexadecimal references up to 0x7f into buffer,
 * NUL-terminated. FF_ERR_SIZE if it does not fit, FF_ERR_FORMAT for an unknown entity. */
ff_status ff_xml_unescape(ff_span text, char *buffer, size_t size);
/* After the root was opened: reads one flat child. On FF_OK *token is the child's FF_XML_OPEN and *text its
 * content (empty for <x/>); *end is set, and the root's close consumed, when no child is left. Children of
 * children are passed over to a depth of 8; deeper is FF_ERR_FORMAT. */
ff_status ff_xml_child(ff_xml_reader *reader, const char *root, ff_xml_token *token, ff_span *text,
                       bool *end);
/* After the root's close only blanks may follow: FF_ERR_FORMAT otherwise. */
ff_status ff_xml_finish(ff_xml_reader *reader);

#endif
