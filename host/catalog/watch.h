/* catalog/watch.h - foreign code in a process that another one watches: whatever that code does, in whichever
 * function and cycle (a crash, an end of the process, a call that does not return, a descriptor closed), the
 * watching process says it in one line. A trial is watched for its verdict; from ff_watch_start on the
 * program itself is, and ends with status 1. */
#ifndef FF_CATALOG_WATCH_H
#define FF_CATALOG_WATCH_H

#include <stdbool.h>
#include <stddef.h>

enum { FF_WATCHED = 4, FF_WATCH_STATUS = 1 };

/* Runs trial(self) in a child process that holds no descriptor but /dev/null, and awaits it; call it while
 * there is one thread. True: it ended by ff_watch_end. False: `why` is one line without a name, "crashes when
 * it is DOING: ...". */
bool ff_watch_try(double patience, void (*trial)(void *self), void *self, char *why, size_t size);
/* Forks, once; call it while there is one thread. The parent stays inside until the child has ended and then
 * ends with the child's status; it passes signals on. True, in the child; false: no process can be made. */
bool ff_watch_start(double patience); /* [s] that a call may last */
/* How messages name foreign code number n, 0 to FF_WATCHED - 1. */
void ff_watch_name(int n, const char *name, const char *path);
/* Around every call of it, from any thread; `doing` is a constant: "crashes when it is DOING". Leaving a call
 * that is `rare`, and others every 10 ms, inspects the process (catalog/process.h). */
void ff_watch_enter(int n, const char *doing);
void ff_watch_leave(bool rare);
/* Ends the process: "method 'NAME' (PATH) WHY when it is DOING". */
_Noreturn void ff_watch_fault(int n, const char *why);
/* The same for the call that this thread is in; returns where it is in none. */
void ff_watch_fault_here(const char *why);
/* Nothing that the code did in calls that are over shows in the process, or it is a fault of the last one. */
void ff_watch_inspect(void);
/* The last call of a program that ended by itself: without it, code from outside has ended it. Nothing of the
 * library runs after it. Returns where nothing is watched. */
void ff_watch_end(int status);

#endif
