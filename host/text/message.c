#include "text/message.h"

#include <stdarg.h>
#include <stdio.h>

ff_status ff_refuse(ff_status status, char *message, size_t size, const char *format, ...) {
    if (message && size) {
        va_list list;
        va_start(list, format);
        vsnprintf(message, size, format, list);
        va_end(list);
    }
    return status;
}

size_t ff_utf8(const char *text, size_t length, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)text;
    const size_t n = *c < 0x80             ? 1
                     : (*c & 0xe0) == 0xc0 ? 2
                     : (*c & 0xf0) == 0xe0 ? 3
                     : (*c & 0xf8) == 0xf0 ? 4
                                           : 0;
    if (n == 0 || n > length)
        return 0;
    *code = n == 1 ? *c : *c & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (c[i] & 0x3fu);
    }
    return *code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : n;
}

size_t ff_shown_character(const char *text) {
    uint32_t c = 0;
    const size_t n = ff_utf8(text, SIZE_MAX, &c);
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    const bool turns = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                       (c >= 0x2066 && c <= 0x2069);
    const bool none = c == 0x2028 || c == 0x2029 || c == 0xfeff || (c & 0xfffe) == 0xfffe;
    return n && !control && !turns && !none ? n : 0;
}

bool ff_shown_text(const char *text) {
    for (size_t n; *text; text += n)
        if ((n = ff_shown_character(text)) == 0)
            return false;
    return true;
}

void ff_flatten(char *text) {
    while (*text) {
        const size_t n = ff_shown_character(text);
        if (n == 0)
            *text = '?';
        text += n ? n : 1;
    }
}

bool ff_refuse_at(const ff_refusal *to, long line, const char *format, ...) {
    if (!to->message || !to->size)
        return false;
    const size_t used = ff_append(to->message, to->size, 0, "%s:%ld: ", to->label, line);
    if (used < to->size) {
        va_list list;
        va_start(list, format);
        vsnprintf(to->message + used, to->size - used, format, list);
        va_end(list);
    }
    ff_flatten(to->message);
    return false;
}

size_t ff_append(char *text, size_t size, size_t used, const char *format, ...) {
    const size_t room = text && used < size ? size - used : 0;
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(room ? text + used : NULL, room, format, list);
    va_end(list);
    return used + (n < 0 ? 0 : (size_t)n);
}
