/* session/internal.h - shared by the files of the room. */
#ifndef FF_SESSION_INTERNAL_H
#define FF_SESSION_INTERNAL_H

#include "session/session.h"

/* ff_session_execute for a scenario that emulates. */
ff_outcome ff__session_emulate(ff_session *session, const ff_session_options *options, ff_notes *notes);
/* ff_session_prepare for the same. */
ff_outcome ff__session_prepare_emulation(const ff_scenario *scenario, ff_notes *notes);

/* The series of its report; false: no memory. */
bool ff__session_collect_emulation(ff_session *session);

#endif
