/* report/geometry.h - what stands in the 3-D replay: satellites, arms, walls, cones, stops, robots, as JSON.
 */
#ifndef FF_REPORT_GEOMETRY_H
#define FF_REPORT_GEOMETRY_H

#include "scenario/scenario.h"

/* The scenario's bodies and contacts for ff_report_run.geometry; the caller frees it. NULL without memory.
 * Without a mesh a satellite is drawn as the solid cuboid of its mass and inertia. The limits of the run
 * stand there, too; `devices`: with those of docs/safety.md that acted. */
char *ff_report_geometry(const ff_scenario *scenario, bool devices);

#endif
