/* text/image.h - a shared object loaded from bytes that were read before (text/held.h), so that what was
 * hashed is what runs, whatever becomes of the file. */
#ifndef FF_TEXT_IMAGE_H
#define FF_TEXT_IMAGE_H

#include "freefloat/base.h"
#include "text/held.h"

/* The bytes of a regular file, which are held's. As ff_held_read; FF_ERR_ARGUMENT: a folder, pipe or device.
 */
ff_status ff_image_read(ff_held *held, const char *path, const ff_held_file **file, char *why, size_t size);

/* As dlopen with RTLD_NOW and RTLD_LOCAL. The bytes are copied into memory of the process that has no name
 * in any folder: dependencies are looked for as the system does, but for $ORIGIN, which would be none and is
 * refused. NULL: `why` is one line without the path. */
void *ff_image_load(const ff_held_file *file, char *why, size_t size);

#endif
