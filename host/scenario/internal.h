/* scenario/internal.h - what the parts of the scenario's reader share: values.c reads a section by its table,
 * satellites.c, models.c, contacts.c and emulation.c what a table cannot say, checks.c judges the whole. */
#ifndef FF_SCENARIO_INTERNAL_H
#define FF_SCENARIO_INTERNAL_H

#include "scenario/reader.h"

/* values.c */
const ff_key *ff__find_key(const ff_section *section, const char *name);
const char *ff__where(const ff_reader *r);
bool ff__read_below(ff_reader *r, const ff_node *node, const ff_key *key, void *base);
bool ff__read_section(ff_reader *r, const ff_node *node, const ff_section *section, void *base);

/* satellites.c */
bool ff__read_points(ff_reader *r, const ff_node *node, const ff_key *key, ff_satellite *satellite);
bool ff__read_links(ff_reader *r, const ff_node *node, const ff_key *key, ff_servicer_arm *arm);
bool ff__read_satellites(ff_reader *r, const ff_node *node, const ff_key *key);

/* models.c */
bool ff__read_site(ff_reader *r, const ff_node *node);
bool ff__read_mesh(ff_reader *r, const ff_node *node, char *path);
bool ff__read_robot_arm(ff_reader *r, const ff_node *node, const ff_key *key, void *at);
bool ff__read_arm_model(ff_reader *r, const ff_node *node, ff_servicer_arm *arm);
bool ff__read_chain_model(ff_reader *r, const ff_node *node, ff_emulate_arm *arm);
bool ff__read_drives(ff_reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm);
bool ff__check_starts(ff_reader *r, const ff_node *section, const ff_emulate_arm *arm);

/* contacts.c */
bool ff__check_list(ff_reader *r, const ff_node *node, const ff_key *key, int most);
bool ff__read_contacts(ff_reader *r, const ff_node *node, const ff_key *key);
bool ff__read_loads(ff_reader *r, const ff_node *node, const ff_key *key);
bool ff__read_faults(ff_reader *r, const ff_node *node, const ff_key *key);

/* methods.c: which method, every method's settings; the settings in a map that is named as the method */
bool ff__start_methods(ff_reader *r, const ff_node *root, const char *method);
bool ff__read_method(ff_reader *r, const ff_node *node, const ff_key *key);

/* emulation.c */
bool ff__read_chain(ff_reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm);
bool ff__check_emulation(ff_reader *r, const ff_node *root);

/* checks.c */
bool ff__read_scenario(ff_reader *r, const ff_node *root, const char *method);

/* scenario.c: text -> the reader's tree, with its site and the values of --set */
ff_status ff__read_tree(ff_reader *r, const char *text, size_t length, ff_tree_error *error);

/* site.c: what the site that the tree names says, under what stands there; the name, as the scenario would
 * write it, of a file that a node names from its own file's folder */
ff_status ff__lay_site(ff_reader *r, ff_tree_error *error);
void ff__beside(const ff_reader *r, const ff_node *node, const char *name, char *full, size_t size);

#endif
