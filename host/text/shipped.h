/* text/shipped.h - scenarios and campaigns that come with the program, by their names. */
#ifndef FF_TEXT_SHIPPED_H
#define FF_TEXT_SHIPPED_H

#include <stdbool.h>

#include "text/file.h"

/* Where the shipped file is that `name` means: "deos-client" of the kind "scenarios" is deos-client.yaml in
 * share/freefloat/scenarios beside the folder of the program's own file (an installed copy), or in
 * `scenarios` beside it (the build tree); where this is part of libfreefloat-host, the same from the
 * library's folder. False: a file of this very name is there, or none is shipped. */
bool ff_shipped_find(const char *kind, const char *name, char path[FF_FILE_PATH]);
/* The names that are shipped of a kind, in order of the alphabet; how many, at most `most`. */
enum { FF_SHIPPED_NAME = 64 };
int ff_shipped_names(const char *kind, char (*name)[FF_SHIPPED_NAME], int most);
/* The folder that scenarios/, campaigns/, examples/ and docs/ of an installed copy are in. False: this is the
 * build tree, where they are the project's. */
bool ff_shipped_installed(char path[FF_FILE_PATH]);

#endif
