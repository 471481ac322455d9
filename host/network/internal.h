/* network/internal.h - the network station from inside: what its files share. */
#ifndef FF_NETWORK_INTERNAL_H
#define FF_NETWORK_INTERNAL_H

#include "network/network.h"

/* [s] without a telegram until a robot counts as silent. */
static inline double ff__network_patience(const ff_network *s) {
    if (!s->speaks)
        return s->options.wait > 0.0 ? s->options.wait : 10.0;
    return s->options.silence > 0.0 ? s->options.silence : FF_SAFETY_SILENCE;
}

/* What is wrong; the first thing found counts. */
static inline void ff__network_find(ff_network *s, ff_trip trip) {
    if (s->found.code == FF_TRIP_NONE)
        s->found = trip;
}

/* exchange.c: the devices' datagrams. */
double ff__network_local_time(const ff_network *s,
                              int64_t stamp); /* [s] of an arrival, by the kernel's stamp */
bool ff__network_take_telegram(ff_network *s, int i, int64_t *arrived);
bool ff__network_wait_telegram(ff_network *s);

/* send.c: the one sender. */
void ff__network_aim(ff_network *s, int i, const ff_setpoint *command);
void ff__network_confirm(ff_network *s, int i, bool jumped);
void ff__network_answer(ff_network *s, int i, bool end);

/* arm.c: the servicer's arm; nothing without one. attend reads its telegrams and answers those that are due;
 * end has it stop: a telegram was taken, *due: it has not been commanded to yet. */
ff_status ff__network_open_arm(ff_network *s, uint32_t run, char *message, size_t size);
void ff__network_close_arm(ff_network *s);
void ff__network_attend_arm(ff_network *s);
void ff__network_sample_arm(ff_network *s, ff_sample_joints *joints);
void ff__network_order_arm(ff_network *s, const ff_arm_order *order);
bool ff__network_end_arm(ff_network *s, bool *due);

#endif
