/* report/pairing.h - which contact of a run is which of the reference, and how they differ. */
#ifndef FF_REPORT_PAIRING_H
#define FF_REPORT_PAIRING_H

#include "report/metrics.h"

/* Velocity of the contact point of `body`, relative to `against` where there is one: state[0], state[1]. */
ff_vec3 ff_metrics_point_velocity(const ff_contact *contact, const ff_rigid_state *state);

/* Fills rebound_error, peak_force_ratio, restitution_error, diverged, forces and rebounds.
 *
 * A contact of the run is that of the reference on the same surface which begins nearest to it, where both
 * begin within T of each other and at places no farther apart than the reference's point moves in T. T is the
 * reference contact's own duration, five cycles (that separate contacts) and half the time to the
 * nearest other contact on the surface, or of the flight before it, whichever is less: beyond, another
 * partner would be as good. What chatters within one partner belongs to it; a partner whose time another of
 * the run's contacts covers is not missed. Contacts of less than a twentieth of the reference's largest
 * force, and those that the end of the run (its last row, also where it ended early) may have cut off, need
 * no partner. */
void ff_metrics_compare(ff_metrics *metrics, const ff_ideal_result *ideal);

#endif
