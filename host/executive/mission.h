/* executive/mission.h - the mission of a servicer with an arm: its computer with the on-board software, as
 * the guidance of a run. The phases (synchronise, approach, hold, released) are the software's. */
#ifndef FF_EXECUTIVE_MISSION_H
#define FF_EXECUTIVE_MISSION_H

#include "executive/guidance.h"
#include "obsw/computer.h"

typedef struct ff_mission {
    ff_tree_memory brain; /* the built-in controller's own model of the servicer */
    ff_computer computer;
} ff_mission;

/* Of a scenario with an arm. opener, record: as in ff_computer_config. FF_OK; what ff_computer_open says,
 * FF_ERR_MEMORY, with a sentence and nothing left open. */
ff_status ff_mission_open(ff_mission *mission, const ff_scenario *scenario, ff_obsw_opener *opener,
                          ff_obsw_record record, char *message, size_t size);
/* For ff_run_options.guidance; `mission` must outlive the run. */
ff_guidance ff_mission_guidance(ff_mission *mission);
void ff_mission_close(ff_mission *mission);

#endif
