/* obsw/udp.h - the socket of on-board software over UDP: an ff_obsw_opener. */
#ifndef FF_OBSW_UDP_H
#define FF_OBSW_UDP_H

#include "obsw/exchange.h"

/* Binds where commands arrive; takes them from the software's address only, whatever its port. */
ff_obsw_opener ff_obsw_udp_open;

#endif
