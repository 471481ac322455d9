/* record/rosbag.h - what `ros2 bag` reads beside a log.mcap: metadata.yaml, version 5 (Humble). */
#ifndef FF_RECORD_ROSBAG_H
#define FF_RECORD_ROSBAG_H

#include <stdio.h>

#include "record/mcap.h"

/* Of the log at `path`, which the file names as `name`. What is damaged is left out. FF_ERR_IO,
 * FF_ERR_FORMAT, FF_ERR_MEMORY. */
ff_status ff_rosbag_metadata(const char *path, const char *name, FILE *out, int *topics, uint64_t *messages);

#endif
