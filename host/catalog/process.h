/* catalog/process.h - what foreign code must leave as it found it, because all of a process shares it:
 * standard descriptors, working folder, limits of files, signal handlers and mask, the decimal point. */
#ifndef FF_CATALOG_PROCESS_H
#define FF_CATALOG_PROCESS_H

/* As it is now is how it should stay; and the mask of this thread. Handlers that the program sets for itself
 * later are its own. */
void ff_process_note(void);
void ff_process_note_thread(void);
/* NULL: as it was noted. Else what foreign code did: "closes or replaces its standard output". */
const char *ff_process_changed(void);

#endif
