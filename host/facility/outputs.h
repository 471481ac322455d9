/* facility/outputs.h - the output stages of the robots in virtual time (freefloat/output.h), one before each:
 * what is sent of the commands. A cycle is offered and then written, from the same state, so that a method
 * may refine its commands. Every answer is accepted. Where nothing is bounded the commands pass as they are.
 */
#ifndef FF_FACILITY_OUTPUTS_H
#define FF_FACILITY_OUTPUTS_H

#include "freefloat/fidelity.h"
#include "freefloat/output.h"

typedef struct ff_outputs {
    bool act; /* else the commands pass as they are */
    int bodies;
    double cycle; /* [s] */
    struct {
        ff_output_config config;
        ff_output_state state, before; /* after this cycle's answer, and before it: it may be made again */
        ff_output_out out;
        ff_setpoint offered; /* whose answer `state` and `out` are, */
        bool leads;          /* if it was led there */
        ff_vec3 rest; /* [m] where a stop would end after the last answer, or after one that was not sent */
        bool beyond;  /* the latter, since the last sample: it would end outside the box */
        bool boxed;   /* the same, since its target was last sent */
    } body[FF_MAX_BODIES];
} ff_outputs;

/* config: one for each body; NULL: nothing is bounded. */
void ff_outputs_open(const ff_output_config *config, int bodies, double cycle, ff_outputs *outputs);
/* What is sent of the commands of cycle k. led: bit i is set where body i is led to command[i]; any other is
 * brought to rest with what its stop allows, and from rest it is led with no more. unseen: nobody looks at
 * the answer before ff_outputs_write makes it, so that none is made here. */
void ff_outputs_offer(ff_outputs *outputs, uint64_t k, const ff_setpoint *command, unsigned led, bool unseen,
                      ff_sent *sent);
/* The same again, in place of what was offered. */
void ff_outputs_write(ff_outputs *outputs, uint64_t k, const ff_setpoint *command, unsigned led,
                      ff_sent *sent);
/* [m] Where a stop would end after what the body's robot was to be sent last. */
ff_vec3 ff_outputs_ahead(const ff_outputs *outputs, int body);
/* The body's robot is sent the same pose for good. */
bool ff_outputs_rest(const ff_outputs *outputs, int body);

#endif
