/* Stages 2 and 3: what a method may know, its memory, and one cycle of detector and method. */
#include "loop/stage.h"

ff_status ff__stage_prepare(const ff_method *method, ff_world *world, ff_settings *setting,
                            ff_loop_stage *stage, ff_complaint *complaint) {
    *complaint = (ff_complaint){"", "there is none"};
    if (!method)
        return FF_ERR_UNSUPPORTED;
    *stage = (ff_loop_stage){.method = method};
    if (!(method->needs & FF_NEEDS_GEOMETRY))
        world->contacts = 0;
    if (!(method->needs & FF_NEEDS_GRASP))
        world->grasp = (ff_world_grasp){.body = -1, .against = -1};
    if (method->resolve)
        method->resolve(world, setting->given, setting->bytes);
    *complaint = (ff_complaint){"", "its settings are refused"};
    const ff_status status = ff_method_check(method, world, setting->bytes, setting->given, complaint);
    if (status != FF_OK)
        return status;
    stage->model_bytes = ff_method_bytes(method, world, setting->bytes, &stage->state_bytes);
    for (int run = 0; run < 2; run++)
        stage->values[run] = ff_method_values(method, run);
    return FF_OK;
}

void ff__stage_create(ff_loop_stage *stage, const ff_world *world, const ff_settings *setting, void *model) {
    ff_method_create(stage->method, world, setting->bytes, setting->given, model);
    stage->detects = ff_method_detector(stage->method, world, model, &stage->detector);
}

ff_status ff__stage_update(ff_loop_stage *stage, const ff_world *world, const ff_settings *setting,
                           void *model) {
    const ff_status status = ff_method_update(stage->method, model, world, setting->bytes, setting->given);
    if (status == FF_OK)
        stage->detects = ff_method_detector(stage->method, world, model, &stage->detector);
    return status;
}

void ff__stage_reset(const ff_loop_stage *stage, const void *model, int bodies, const ff_rigid_state *body,
                     ff_detector_state *detector, void *state) {
    for (int i = 0; i < bodies; i++)
        ff_detector_reset(&detector[i]);
    ff_method_reset(stage->method, model, body, state);
}

ff_status ff__stage_step(const ff_loop_stage *stage, const void *model, int bodies,
                         ff_detector_state *detector, void *state, ff_method_in *in, ff_method_out *out) {
    ff_detection detected[FF_MAX_BODIES];
    for (int i = 0; i < bodies; i++) {
        if (stage->detects)
            ff_detector_run(&stage->detector, &detector[i], in->sample[i].f_b, &detected[i]);
        else
            detected[i] = (ff_detection){0};
        out->f_b[i] = ff_wrench_zero();
        out->in_contact[i] = out->settling[i] = out->has_next[i] = false;
        out->body[i] = in->body[i];
        out->lead[i] = 0.0;
        out->stiffness[i] = out->damping[i] = out->damping_sd[i] = FF_NAN;
    }
    out->has_command = false;
    out->observers = out->look_back = 0;
    out->bounds = 0;
    in->bodies = bodies;
    in->detected = detected;
    return stage->method->step(model, state, in, out);
}
