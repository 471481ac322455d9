/* Part of the preset `coverage` alone: a process that ends by _exit (a watched method library, one that is
 * tried, on-board software in a child) writes its counters first, as exit does. Linked with --wrap=_exit. */
#include <unistd.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status) {
    __gcov_dump();
    __real__exit(status);
}
