/* text/notes.h - what an operation answers to whoever started it: an outcome, and sentences to show, errors
 * and warnings apart. Who prints them, or raises them as an exception, is the caller's choice. */
#ifndef FF_TEXT_NOTES_H
#define FF_TEXT_NOTES_H

/* The exit statuses of every command. */
typedef enum ff_outcome {
    FF_DONE = 0,
    FF_FAILED = 1, /* it began and did not succeed: limits, diverged, device, disk */
    FF_REFUSED = 2 /* bad usage or input: nothing was begun */
} ff_outcome;

enum { FF_NOTES_SIZE = 8192 };

/* One sentence a line, each with its newline, in the order in which they came; what does not fit is cut off.
 */
typedef struct ff_notes {
    char error[FF_NOTES_SIZE], warning[FF_NOTES_SIZE];
} ff_notes;

void ff_notes_clear(ff_notes *notes);
/* Adds a line to the errors and returns the outcome: `return ff_notes_error(notes, FF_REFUSED, ...)`. notes
 * may be NULL. */
ff_outcome ff_notes_error(ff_notes *notes, ff_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds one or several lines to the warnings; an empty text adds none. notes may be NULL. */
void ff_notes_warning(ff_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
