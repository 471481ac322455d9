/* catalog/watch.h - a program with foreign code in it, watched from outside: from ff_watch_start on it runs
 * in a child process whose result its parent awaits. Whatever that code does, in whichever function and cycle
 * (a crash, an end of the process, a call that does not return), the parent says it in one line and ends with
 * status 1. */
#ifndef FF_CATALOG_WATCH_H
#define FF_CATALOG_WATCH_H

#include <stdbool.h>

enum { FF_WATCHED = 4, FF_WATCH_STATUS = 1 };

/* Forks, once; call it while there is one thread. The parent stays inside until the child has ended and then
 * ends with the child's status; it passes signals on. True, in the child; false: no process can be made. */
bool ff_watch_start(double patience); /* [s] that a call may last */
/* A crash of this process ends it by its signal, for the parent to say in one line what a sanitizer would say
 * in a page. */
void ff_watch_crash_plainly(void);
/* How messages name foreign code number n, 0 to FF_WATCHED - 1. */
void ff_watch_name(int n, const char *name, const char *path);
/* Around every call of it, from any thread; `doing` is a constant: "crashes when it is DOING". */
void ff_watch_enter(int n, const char *doing);
void ff_watch_leave(void);
/* Ends the program: "method 'NAME' (PATH) WHY when it is DOING". */
_Noreturn void ff_watch_fault(int n, const char *why);
/* The last call of a program that ended by itself: without it, code from outside has ended it. Nothing of the
 * library runs after it. Returns where nothing is watched. */
void ff_watch_end(int status);

#endif
