/* A plant of thirty lines for tests of lib/ alone: one body, a robot that is the commanded pose some whole
 * cycles ago, a half-space spring-damper. Written apart from host/facility so that the two can disagree. */
#ifndef FF_TESTS_MINI_PLANT_H
#define FF_TESTS_MINI_PLANT_H

#include "support.h"

#include "loop_support.h"

typedef struct mini_plant {
    int delay; /* [cycles] */
    ff_vec3 point_b, at, normal;
    double stiffness, damping;
    ff_setpoint ring[256];
    double peak; /* [N] largest robot force */
} mini_plant;

static inline void mini_plant_start(mini_plant *plant, const ff_loop_config *config) {
    const ff_rigid_state *s = &config->body[0].start;
    for (int d = 0; d < 256;
         d++) { /* the past: uniform motion with the initial twist; slot of cycle -d is (256 - d) % 256 */
        const double t = -(double)d * config->integrate.cycle;
        const ff_pose T = {ff_quat_mul(s->attitude, ff_quat_exp(ff_vec3_scale(t, s->omega))),
                           ff_vec3_axpy(t, s->velocity, s->position)};
        plant->ring[(256 - d) % 256] = (ff_setpoint){T, {s->omega, s->velocity}};
    }
    plant->peak = 0.0;
}

static inline void mini_plant_cycle(mini_plant *plant, uint64_t k, const ff_setpoint *command,
                                    ff_loop_in *in) {
    plant->ring[k % 256] = *command;
    const ff_setpoint robot = plant->ring[(k + 256 - (uint64_t)plant->delay) % 256];
    const ff_vec3 r = ff_quat_rotate(robot.T.q, plant->point_b);
    const ff_vec3 v =
        ff_vec3_add(robot.twist.v, ff_quat_rotate(robot.T.q, ff_vec3_cross(robot.twist.w, plant->point_b)));
    const double d = -ff_vec3_dot(plant->normal, ff_vec3_sub(ff_vec3_add(robot.T.p, r), plant->at));
    const double rate = -ff_vec3_dot(plant->normal, v);
    const double f = d > 0.0 ? fmax(0.0, plant->stiffness * d + plant->damping * rate) : 0.0;
    plant->peak = fmax(plant->peak, f);
    const ff_vec3 f_b = ff_quat_unrotate(robot.T.q, ff_vec3_scale(f, plant->normal));
    in->sensor[0] = (ff_wrench_in){
        .f_s = {ff_vec3_cross(plant->point_b, f_b), f_b}, .T_wb = robot.T, .twist = robot.twist};
    in->load[0] = (ff_rigid_load){{{0, 0, 0}}, {{0, 0, 0}}};
}

/* Runs `cycles` cycles; returns the final state. */
static inline ff_rigid_state mini_plant_run(mini_plant *plant, const ff_loop_config *config, int cycles,
                                            ff_loop_state *state, ff_loop_info *info) {
    TEST_LOOP_MODEL(model);
    ff_loop_in in = {0};
    ff_loop_out out;
    char message[128] = "";
    if (test_loop_create(config, model, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    test_loop_reset(model, state, info, &out);
    mini_plant_start(plant, config);
    for (int k = 0; k < cycles; k++) {
        mini_plant_cycle(plant, (uint64_t)k, &out.next[0], &in);
        assert_int_equal(ff_loop_step(model, state, info, &in, &out), FF_OK);
    }
    return state->body[0];
}

#endif
