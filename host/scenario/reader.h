/* scenario/reader.h - the strict reader of YAML files: every value is checked for kind and range, every
 * message names file, line and column, what is wrong and what is allowed. Scenarios and campaigns are read
 * with it. */
#ifndef FF_SCENARIO_READER_H
#define FF_SCENARIO_READER_H

#include "scenario/schema.h"
#include "scenario/tree.h"

enum { FF_READER_FAULTS = 64 };

typedef struct ff_reader {
    const char *label; /* the file's name in messages */
    ff_tree *tree;
    ff_scenario *scenario;
    const ff_scenario_options *options;
    const ff_method_library *named; /* by the file, where another method was asked for; NULL: none */
    ff_place method;                /* where the method was asked for */
    char argument[FF_NAME_SIZE];    /* its origin, if that was an option */
    bool unsupported;               /* all that is wrong is what the method cannot do */
    char *message;
    size_t size;
    size_t said;                      /* of message, where every mistake is asked for */
    ff_place fault[FF_READER_FAULTS]; /* where they are, as many as fit */
    int faults;
    ff_place foreign[FF_READER_FAULTS]; /* keys that nothing knows, as many as fit */
    int foreigns;
    char *warnings;
    size_t warnings_size, warned;
    char path[256]; /* of the section being read, as in --set */
} ff_reader;

/* Is every mistake asked for: then what follows one is read all the same. */
static inline bool ff_reader_all(const ff_reader *r) {
    return r->options && r->options->all;
}
/* Always false, so that a reader may `return ff_reader_fail(...)`. */
bool ff_reader_fail(ff_reader *r, ff_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Nothing was said of this value, nor of one inside it: what is checked with others may build on it. NULL,
 * which stands for a default: true. */
bool ff_reader_sound(const ff_reader *r, const ff_node *node);
/* The same of these keys of a map; the last one is NULL. */
bool ff_reader_sound_keys(const ff_reader *r, const ff_node *map, const char *const *keys);
/* A key of the map was refused that may be this one, mistyped: that it is missing need not be said as well.
 */
bool ff_reader_mistyped(ff_reader *r, const ff_node *map, const char *key);
/* One more line of warnings, if there is room. */
void ff_reader_warn(ff_reader *r, ff_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The whole file, which is held's. FF_ERR_IO (a folder, too), FF_ERR_FORMAT (above FF_TREE_BYTES),
 * FF_ERR_MEMORY. */
ff_status ff_reader_file(ff_reader *r, ff_held *held, const char *path, const ff_held_file **file);

/* A list of allowed words, and the one that was probably meant. */
typedef struct ff_names {
    char text[900];
    size_t used;
} ff_names;
typedef struct ff_guess {
    const char *wrong, *best;
    int distance;
} ff_guess;
void ff_names_add(ff_names *list, const char *name);
void ff_guess_add(ff_guess *g, const char *candidate);
ff_shown ff_guess_hint(const ff_guess *g); /* " (did you mean 'x'?)", or nothing */
/* The same of a word of `length` among several, NULL at their end. */
ff_shown ff_guess_among(const char *wrong, size_t length, const char *const *candidates);
const char *ff_node_kind_text(const ff_node *node);

/* Campaigns read one tree again and again: the numbers in it are worked out once. */
void ff_node_know_numbers(ff_node *node);

/* Values under a key. False: a message was written. */
bool ff_reader_number(ff_reader *r, const ff_node *node, const ff_key *key, double *value);
bool ff_reader_numbers(ff_reader *r, const ff_node *node, const ff_key *key, int count, double *value);
bool ff_reader_integer(ff_reader *r, const ff_node *node, const ff_key *key, uint64_t *value);
/* A scalar that is this word. YAML 1.1 takes on and off for booleans and writes them back as true and false:
 * without quotes on is true, and off is false. */
bool ff_reader_says(const ff_node *node, const char *word);
bool ff_reader_word(ff_reader *r, const ff_node *node, const ff_key *key, int *value);
bool ff_reader_direction(ff_reader *r, const ff_node *node, const ff_key *key, ff_vec3 *value);
bool ff_reader_quaternion(ff_reader *r, const ff_node *node, const ff_key *key, ff_quat *value);
/* KUKA's A, B, C in degrees, or roll, pitch, yaw in radians. */
bool ff_reader_angles(ff_reader *r, const ff_node *node, const ff_key *key, bool degrees, ff_quat *value);
bool ff_reader_inertia(ff_reader *r, const ff_node *node, const ff_key *key, ff_mat3 *value);
bool ff_reader_half_widths(ff_reader *r, const ff_node *node, const ff_key *key, ff_vec3 *value);
/* A whole number from `least` on, up to 9e15; 1e4 is one. */
bool ff_reader_count(ff_reader *r, const ff_node *node, const char *what, double least, uint64_t *value);
/* Printable text of 1 to size - 1 bytes. */
bool ff_reader_text(ff_reader *r, const ff_node *node, const char *what, char *text, size_t size);
/* Every key of the map is one of those allowed, NULL at their end. */
bool ff_reader_keys(ff_reader *r, const ff_node *map, const char *where, const char *const *allowed);
/* The message about one that is not; always false. */
bool ff_reader_unknown(ff_reader *r, const ff_node *child, const char *where, const ff_names *list,
                       const ff_guess *g);
/* A ROS topic's name; six names that differ. */
bool ff_reader_topic(ff_reader *r, const ff_node *node, const char *what, char *text);
bool ff_reader_names(ff_reader *r, const ff_node *node, const char *what, char names[][FF_NAME_SIZE]);
/* A name stands in paths (a.b=c), in pairs (a/b), in lists (a,b) and in column titles. */
bool ff_reader_name(ff_reader *r, ff_place place, const char *what, const char *name);

#endif
