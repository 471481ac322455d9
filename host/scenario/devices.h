/* scenario/devices.h - robots and sensors on the network as kinds of a scenario: the list of devices gives
 * their names, their tables the keys. */
#ifndef FF_SCENARIO_DEVICES_H
#define FF_SCENARIO_DEVICES_H

#include "scenario/schema.h"

enum { FF_DEVICE_WORDS = 32, FF_DEVICE_KEYS = 96 };

/* Keys of `robot`, `sensor` or an arm's `device`, with room for all they point at. */
typedef struct ff_device_section {
    ff_key key[FF_DEVICE_KEYS];
    const char *word[FF_DEVICE_WORDS]; /* of `kind`, NULL at the end */
    char doc[2048];                    /* of `kind` */
    char range[FF_DEVICE_KEYS][64];
} ff_device_section;

/* The keys that all kinds share, the first of them `kind`, then those of each device at `offset`; returns how
 * many. `arm`: keys of one that is not built in.
 * *section must not move afterwards. */
int ff_device_section_create(ff_device_kind kind, const ff_key *shared, int count, size_t offset,
                             const ff_section *arm, ff_device_section *section);

#endif
