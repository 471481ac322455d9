/* The built-in coordinated controller as on-board software of its own: the same law behind obsw.h, for those
 * who want to start from it, and to see that the way to the software changes nothing. It reads the scenario
 * named in OBSW_SCENARIO for the arm and the goal, so it is linked with freefloat's host library. */
#include "obsw.h"

#include "executive/capture.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct coordinated {
    ff_scenario scenario;
    ff_capture_parts parts;
    ff_mission_config mission;
    void *memory[2];
} coordinated;

uint32_t ff_obsw_version(void) {
    return FF_OBSW_VERSION;
}

void ff_obsw_destroy(void *memory) {
    coordinated *self = memory;
    free(self->memory[0]);
    free(self->memory[1]);
    free(self);
}

void *ff_obsw_create(const ff_obsw_setup *setup) {
    const char *file = getenv("OBSW_SCENARIO");
    coordinated *self = calloc(1, sizeof *self);
    char message[400] = "OBSW_SCENARIO names no scenario", warnings[400];
    if (!self)
        return NULL;
    if (file && ff_scenario_load(file, NULL, &self->scenario, message, sizeof message, warnings,
                                 sizeof warnings) == FF_OK) {
        ff_builtin_config *law = &self->mission.obsw;
        ff_tree_model *tree = NULL;
        ff_capture_mission(&self->scenario, &self->parts, &self->mission);
        const size_t size = ff_tree_memsize(&self->parts.tree);
        self->memory[0] = malloc(size);
        if (self->memory[0] && ff_tree_create(&self->parts.tree, self->memory[0], size, &tree, message,
                                              sizeof message) == FF_OK) {
            const size_t more = ff_tree_work_memsize(tree);
            law->tree = tree;
            self->memory[1] = malloc(more);
            if (self->memory[1] && ff_tree_joints(tree) == setup->joints &&
                ff_tree_work_create(tree, self->memory[1], more, &law->work) == FF_OK)
                return self;
        }
    }
    fprintf(stderr, "%s\n", message);
    ff_obsw_destroy(self);
    return NULL;
}

int ff_obsw_step(void *memory, const ff_obsw_in *in, ff_obsw_out *out) {
    coordinated *self = memory;
    ff_builtin_step(&self->mission.obsw, in, out);
    return 0;
}
