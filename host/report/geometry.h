/* report/geometry.h - what stands in the 3-D replay: satellites, walls, cones, stops, robots, as JSON. */
#ifndef FF_REPORT_GEOMETRY_H
#define FF_REPORT_GEOMETRY_H

#include "scenario/scenario.h"

/* The scenario's bodies and contacts for ff_report_run.geometry; the caller frees it. NULL without memory.
 * Boxes are drawn as the solid cuboid of the satellite's mass and inertia. */
char *ff_report_geometry(const ff_scenario *scenario);

#endif
