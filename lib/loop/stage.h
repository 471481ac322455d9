/* loop/stage.h - stages 2 and 3 of a loop: a method with its detector, in memory of the caller. */
#ifndef FF_LOOP_STAGE_H
#define FF_LOOP_STAGE_H

#include "freefloat/loop.h"

/* Checks the method against world and settings; resolves the settings, withholds from the world what the
 * method does not need, and asks for its memory. *complaint says why not. */
ff_status ff__stage_prepare(const ff_method *method, ff_world *world, ff_settings *setting,
                            ff_loop_stage *stage, ff_complaint *complaint);
/* After prepare: the method's model. */
void ff__stage_create(ff_loop_stage *stage, const ff_world *world, const ff_settings *setting, void *model);
ff_status ff__stage_update(ff_loop_stage *stage, const ff_world *world, const ff_settings *setting,
                           void *model);
void ff__stage_reset(const ff_loop_stage *stage, const void *model, int bodies, const ff_rigid_state *body,
                     ff_detector_state *detector, void *state);
/* One cycle; in->detected is filled here. */
ff_status ff__stage_step(const ff_loop_stage *stage, const void *model, int bodies,
                         ff_detector_state *detector, void *state, ff_method_in *in, ff_method_out *out);

/* The method's memory behind that of the loop. */
enum { FF__LOOP_ALIGN = 16 };
static inline size_t ff__loop_round(size_t bytes) {
    return (bytes + FF__LOOP_ALIGN - 1) & ~(size_t)(FF__LOOP_ALIGN - 1);
}
static inline void *ff__loop_method_model(const ff_loop_model *model) {
    return (void *)((uintptr_t)model + ff__loop_round(sizeof *model));
}
/* Arms behind the method's model: up to that of the last elastic robot. */
static inline size_t ff__loop_arms(const ff_loop_config *config) {
    int count = 0;
    for (int i = 0; i < config->bodies; i++)
        count = config->body[i].elastic ? i + 1 : count;
    return (size_t)count * sizeof(ff_arm_model);
}
static inline ff_arm_model *ff__loop_arm(const ff_loop_model *model, int i) {
    return (ff_arm_model *)((uintptr_t)ff__loop_method_model(model) +
                            ff__loop_round(model->stage.model_bytes)) +
           i;
}
static inline void *ff__loop_method_state(const ff_loop_state *state) {
    return (void *)((uintptr_t)state + ff__loop_round(sizeof *state));
}

#endif
