/* text/notes.c - lines added to a bounded text. */
#include "text/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text/message.h"

void ff_notes_clear(ff_notes *notes) {
    notes->error[0] = notes->warning[0] = 0;
}

/* The text ends with a newline, whatever was cut off. */
static void end_line(char *text) {
    const size_t n = strlen(text);
    if (n == 0 || text[n - 1] == '\n')
        return;
    if (n + 1 < FF_NOTES_SIZE)
        memcpy(text + n, "\n", 2);
    else
        text[n - 1] = '\n';
}

static void add(char text[FF_NOTES_SIZE], const char *format, va_list list) {
    const size_t used = strlen(text);
    vsnprintf(text + used, FF_NOTES_SIZE - used, format, list);
    end_line(text);
}

ff_outcome ff_notes_error(ff_notes *notes, ff_outcome outcome, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const size_t used = notes ? strlen(notes->error) : 0;
    if (notes) {
        add(notes->error, format, list);
        const size_t end = strlen(notes->error);
        notes->error[end - (end > used)] = 0; /* the newline is the only one */
        ff_flatten(notes->error + used);
        end_line(notes->error);
    }
    va_end(list);
    return outcome;
}

void ff_notes_warning(ff_notes *notes, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (notes)
        add(notes->warning, format, list);
    va_end(list);
}
