/* rt/obsw_socket.h - the socket of on-board software over UDP: an ff_obsw_opener. */
#ifndef FF_RT_OBSW_SOCKET_H
#define FF_RT_OBSW_SOCKET_H

#include "obsw/link.h"

/* Binds where commands arrive; takes them from the software's address only, whatever its port. */
ff_obsw_opener ff_rt_obsw_open;

#endif
