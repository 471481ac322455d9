/* freefloat/freefloat.h - the whole library: one header per room, in the order of the signal. */
#ifndef FREEFLOAT_FREEFLOAT_H
#define FREEFLOAT_FREEFLOAT_H

#include "freefloat/base.h"

#endif
