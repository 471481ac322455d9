/* freefloat/freefloat.h - the whole library: one header per room, in the order of the signal. */
#ifndef FREEFLOAT_FREEFLOAT_H
#define FREEFLOAT_FREEFLOAT_H

#include "freefloat/base.h"
#include "freefloat/dynamics.h"
#include "freefloat/integrate.h"
#include "freefloat/wrench.h"
#include "freefloat/contact.h"
#include "freefloat/fidelity.h"
#include "freefloat/command.h"
#include "freefloat/output.h"
#include "freefloat/loop.h"
#include "freefloat/emulation.h"

#endif
