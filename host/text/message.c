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

size_t ff_append(char *text, size_t size, size_t used, const char *format, ...) {
    const size_t room = text && used < size ? size - used : 0;
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(room ? text + used : NULL, room, format, list);
    va_end(list);
    return used + (n < 0 ? 0 : (size_t)n);
}
