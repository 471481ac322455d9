/* text/version.h - the version that every file this project writes carries. */
#ifndef FF_TEXT_VERSION_H
#define FF_TEXT_VERSION_H
#include "freefloat/base.h"
const char *ff_version(void);
/* Which commit it was built from, "-dirty" if the tree had changes then; "unknown" without git, and in
 * whatever is linked without the program's own, which alone knows (programs/CMakeLists.txt). */
const char *ff_commit(void);
/* The linker's id of the running program, or of libfreefloat-host where that is called, as hexadecimal
 * digits: another build has another one. Empty where the linker made none. */
const char *ff_build(char text[65]);
#endif
