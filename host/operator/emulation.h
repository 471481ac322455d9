/* operator/emulation.h - an emulation on devices: the controller in a real-time thread, paced by the
 * telegrams of an arm that is commanded by joint torques. */
#ifndef FF_OPERATOR_EMULATION_H
#define FF_OPERATOR_EMULATION_H

#include "emulate/arm.h"
#include "operator/operator.h"

typedef struct ff_rt_emulation {
    ff_device_counters arm;
    ff_rights rights;
    ff_histogram lateness, compute;
    uint64_t missed;    /* cycles without a telegram */
    uint64_t untaken;   /* answers that the arm did not take */
    uint64_t strangers; /* datagrams from elsewhere */
} ff_rt_emulation;

/* Whether the scenario can be run so: FF_ERR_UNSUPPORTED, FF_ERR_ARGUMENT with a sentence. *virtual: nothing
 * outside this computer can be behind its address. */
ff_status ff_rt_emulation_check(const ff_scenario *scenario, const ff_ports *ports, bool *virtual,
                                char *message, size_t size);
/* Meets the arm, runs the scenario to its end or to the first fault, then simulates the target directly,
 * beside what was measured. confirm: in the caller's thread, once the arm stands where the scenario begins;
 * false ends it. FF_OK; FF_ERR_DEVICE, FF_ERR_LIMIT and others with a sentence, the samples as far as they
 * go. */
ff_status ff_rt_emulate(const ff_scenario *scenario, const ff_rt_options *options,
                        bool (*confirm)(void *user, const char *text), ff_emulate_result *result,
                        ff_rt_emulation *rt, char *message, size_t size);

#endif
