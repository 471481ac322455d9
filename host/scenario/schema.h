/* scenario/schema.h - every key of a scenario in one table: what reads it, and what docs/scenario.md says. */
#ifndef FF_SCENARIO_SCHEMA_H
#define FF_SCENARIO_SCHEMA_H

#include "scenario/scenario.h"

typedef enum ff_type {
    FF_TYPE_NUMBER,         /* double */
    FF_TYPE_INTEGER,        /* uint64_t */
    FF_TYPE_TEXT,           /* char[FF_NAME_SIZE], any printable text */
    FF_TYPE_NAME,           /* char[FF_NAME_SIZE], a name that paths and tables can hold */
    FF_TYPE_TOPIC,          /* char[FF_NAME_SIZE], a ROS topic's name */
    FF_TYPE_NAMES,          /* char[FF_ARM_AXES][FF_NAME_SIZE], six or seven that differ */
    FF_TYPE_WORD,           /* enum: index into words */
    FF_TYPE_FLAG,           /* bool: index into two words */
    FF_TYPE_VEC3,           /* ff_vec3 */
    FF_TYPE_DIRECTION,      /* ff_vec3, normalised, not zero */
    FF_TYPE_HALF_WIDTHS,    /* ff_vec3, each a number or `free` (FF_INF) */
    FF_TYPE_QUATERNION,     /* ff_quat, normalised with a warning */
    FF_TYPE_ABC_DEG,        /* the same ff_quat from three angles [deg], in place of the quaternion's key */
    FF_TYPE_RPY,            /* likewise [rad] */
    FF_TYPE_INERTIA,        /* ff_mat3 from 3 or 6 numbers */
    FF_TYPE_WRENCH,         /* ff_wrench from force, then torque */
    FF_TYPE_TWIST,          /* ff_twist from linear, then angular */
    FF_TYPE_PAIR,           /* two doubles: force, torque; one number is the force */
    FF_TYPE_SERIES,         /* double; two numbers are springs in series */
    FF_TYPE_NUMBER_OR_WORD, /* double; the one word of `words`: FF_INF */
    FF_TYPE_METHOD_NAME,    /* const ff_method *: index into words, 0: ideal, NULL */
    FF_TYPE_METHOD,         /* section: settings of the method that the key names */
    FF_TYPE_SIX,            /* six doubles */
    FF_TYPE_BODY,           /* int: name of a satellite */
    FF_TYPE_POINT,          /* name of a point of the body, or three numbers; read with the contact */
    FF_TYPE_SECTION,        /* a map of its own */
    FF_TYPE_POINTS,         /* map: name to three numbers */
    FF_TYPE_SATELLITES,     /* map: name to section */
    FF_TYPE_CONTACTS,       /* list of sections */
    FF_TYPE_LOADS,          /* list of sections */
    FF_TYPE_LINKS,          /* list of sections, into ff_servicer_arm */
    FF_TYPE_JOINTS,         /* list of numbers, one for each joint; read with the satellite */
    FF_TYPE_CHAIN,          /* list of sections, into ff_emulate_arm */
    FF_TYPE_FAULTS,         /* list of sections */
    FF_TYPE_ROBOT_ARM,      /* a word, or a map with a URDF file, into the arm of ff_device_settings */
    FF_TYPE_ARM_MODEL,      /* a URDF file's name, its links into ff_servicer_arm */
    FF_TYPE_CHAIN_MODEL,    /* the same into ff_emulate_arm */
    FF_TYPE_SITE,           /* a site's file name: laid under the scenario before it is read */
    FF_TYPE_MESH,           /* a mesh file's name, opened and checked, its path into char[2 * FF_NAME_SIZE] */
    FF_TYPE_DRIVES          /* list of sections, one for each joint of a URDF file, into ff_emulate_arm */
} ff_type;

typedef enum ff_range {
    FF_RANGE_ANY,
    FF_RANGE_POSITIVE,
    FF_RANGE_NOT_NEGATIVE,
    FF_RANGE_ACUTE,
    FF_RANGE_SHARE, /* 0 to below 1 */
    FF_RANGE_BOUNDS /* by the key's own numbers */
} ff_range;

typedef struct ff_section ff_section;

typedef struct ff_key {
    const char *key;
    ff_type type;
    ff_range range;
    const char *unit; /* "" none */
    /* "required"; YAML that is read when the key is absent ("none": FF_INF, or a section that is left out);
     * or words in brackets when code decides. */
    const char *fallback;
    size_t offset; /* in the section's struct */
    const char *const *words;
    const ff_section *section;
    const char *doc;
    unsigned kinds; /* bit k: the key belongs to kind k of the section; 0: to all */
    bool own;       /* read for its kinds alone: another key of the section may have the name */
    bool preset;    /* when it is absent the value stays as it was set beforehand */
    double low, high;
    bool above_low, below_high; /* the bound itself is outside */
    const char *bounds;         /* their text */
} ff_key;

struct ff_section {
    const char *path; /* as in --set */
    const char *noun; /* "robot": in messages about its kinds; "" */
    const ff_key *key;
    int keys;
    const char *doc;
};

/* The top of the table; sections hang below it, those of the methods among them. */
const ff_section *ff_schema_top(void);

const char *ff_range_text(const ff_key *key); /* "> 0"; "" when any number will do */
const char *ff_type_text(ff_type type);       /* "number", "[x, y, z]" ... */

#endif
