/* The version that every file this project writes carries. */
#ifndef FF_RECORD_VERSION_H
#define FF_RECORD_VERSION_H
#include "freefloat/base.h"
const char *ff_version(void);
#endif
