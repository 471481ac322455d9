/* The built-in coordinated controller as on-board software of its own: the same law behind obsw.h, for those
 * who want to start from it, and to see that how the software is reached changes nothing. It reads the
 * scenario named in OBSW_SCENARIO for the arm and the goal, so it is linked with freefloat's host library. */
#include "obsw.h"

#include "obsw/computer.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct coordinated {
    ff_scenario scenario;
    ff_computer_config computer;
    ff_tree_memory tree;
} coordinated;

uint32_t ff_obsw_version(void) {
    return FF_OBSW_VERSION;
}

void ff_obsw_destroy(void *memory) {
    coordinated *self = memory;
    ff_tree_memory_close(&self->tree);
    free(self);
}

void *ff_obsw_create(const ff_obsw_setup *setup) {
    const char *file = getenv("OBSW_SCENARIO");
    coordinated *self = calloc(1, sizeof *self);
    char message[400] = "OBSW_SCENARIO names no scenario", warnings[400];
    if (!self)
        return NULL;
    if (file &&
        ff_scenario_load(file, NULL, &self->scenario, message, sizeof message, warnings, sizeof warnings) ==
            FF_OK &&
        ff_tree_memory_open(&self->scenario.satellite[ff_scenario_servicer(&self->scenario)], FF_TREE_ORBIT,
                            &self->tree, message, sizeof message) == FF_OK &&
        ff_tree_joints(self->tree.model) == setup->joints) {
        ff_computer_configure(&self->scenario, &self->computer);
        ff_builtin_config *law = &self->computer.builtin;
        law->tree = self->tree.model;
        law->work = self->tree.work;
        for (int c = 0; c < self->scenario.contacts; c++) /* the gripper says nothing here: its times do */
            if (self->scenario.contact[c].kind == FF_CONTACT_GRASP) {
                law->grasp = self->scenario.contact[c].closes;
                law->release = self->scenario.contact[c].opens;
            }
        return self;
    }
    fprintf(stderr, "%s\n", message);
    ff_obsw_destroy(self);
    return NULL;
}

int ff_obsw_step(void *memory, const ff_obsw_in *in, ff_obsw_out *out) {
    coordinated *self = memory;
    ff_builtin_step(&self->computer.builtin, in, out);
    return 0;
}
