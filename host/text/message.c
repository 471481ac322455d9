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

void ff_flatten(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
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
