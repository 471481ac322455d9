/* executive/virtual_contact.h - contacts with `source: virtual`: nothing real is touched; their wrench
 * follows from the measured motion of the robots and is added to what the sensors read [he2022, 4.1]. The
 * first step before metal touches metal. */
#ifndef FF_EXECUTIVE_VIRTUAL_CONTACT_H
#define FF_EXECUTIVE_VIRTUAL_CONTACT_H

#include "scenario/scenario.h"

typedef struct ff_virtual_contacts {
    int count;
    ff_contact contact[FF_MAX_CONTACTS];
} ff_virtual_contacts;

/* Those of the scenario. FF_OK, or what ff_environment_prepare says, with a sentence. */
ff_status ff_virtual_contacts_open(ff_virtual_contacts *contacts, const ff_scenario *scenario, char *message,
                                   size_t size);
/* in->contact_b of every satellite from the motion in in->sensor. */
void ff_virtual_contacts_step(const ff_virtual_contacts *contacts, int satellites, ff_loop_in *in);

#endif
