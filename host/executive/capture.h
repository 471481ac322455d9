/* executive/capture.h - a scenario with an arm: its mission, its rows, its reference. */
#ifndef FF_EXECUTIVE_CAPTURE_H
#define FF_EXECUTIVE_CAPTURE_H

#include "executive/mission.h"
#include "executive/run.h"

/* What a mission's config points to; keep it as long as the config. */
typedef struct ff_capture_parts {
    ff_tree_config tree;
    ff_tree_link_config link[FF_MAX_ARM_LINKS];
} ff_capture_parts;

void ff_capture_mission(const ff_scenario *scenario, ff_capture_parts *parts, ff_mission_config *mission);
/* ff_run for a scenario with an arm. */
void ff_capture_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result);
/* ff_ideal_solve for it: the orbit with the same on-board software, a session of its own. opener as in
 * ff_run_options. Free with ff_ideal_free. */
ff_status ff_capture_reference(const ff_scenario *scenario, ff_obsw_opener *opener, ff_ideal_result *result,
                               char *message, size_t size);

#endif
