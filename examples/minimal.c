/* The smallest loop: a 280 kg satellite meets a spring through a robot that is 40 ms late.
 *
 *   m v' = F,   F measured where the robot is, not where the satellite is.
 *
 * Build:  cc minimal.c $(pkg-config --cflags --libs freefloat) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <freefloat/freefloat.h>

int main(void) {
    enum { DELAY = 10 }; /* cycles of 4 ms */
    static ff_loop_info info;
    static ff_loop_in in;
    static ff_loop_out out;

    ff_loop_config config;
    ff_loop_default(&config); /* tdpa, lie-midpoint, 4 ms */
    config.body[0].rigid.mass = 280;
    config.body[0].rigid.inertia = ff_mat3_diag(18, 20, 22);
    config.body[0].start.velocity = ff_vec3_make(0.02, 0, 0);

    char message[128];
    size_t model_bytes, state_bytes; /* memory is yours: ask how much, keep it as long as the loop */
    if (ff_loop_bytes(&config, &model_bytes, &state_bytes, message, sizeof message) != FF_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    ff_loop_model *model = malloc(model_bytes);
    ff_loop_state *state = malloc(state_bytes);
    if (!model || !state || ff_loop_create(&config, model, model_bytes, message, sizeof message) != FF_OK ||
        ff_loop_reset(model, state, state_bytes, &info, &out) != FF_OK)
        return 1;

    ff_setpoint sent[DELAY + 1];
    for (int i = 0; i <= DELAY; i++)
        sent[i] = out.next[0];
    for (int k = 0; k < 1000; k++) {
        sent[k % (DELAY + 1)] = out.next[0];                   /* to the robot ... */
        const ff_setpoint robot = sent[(k + 1) % (DELAY + 1)]; /* ... which is DELAY cycles behind */
        const double depth = robot.T.p.x - 0.01;               /* a wall of 2000 N/m at x = 10 mm */
        in.sensor[0] = (ff_wrench_in){.T_wb = robot.T, .twist = robot.twist};
        in.sensor[0].f_s.f.x = depth > 0 ? -2000 * depth : 0;      /* from the sensor */
        if (ff_loop_step(model, state, &info, &in, &out) != FF_OK) /* one cycle */
            return 1;
    }
    const double before = 0.02, after = -state->body[0].velocity.x;
    printf("speed %.4f m/s before the contact, %.4f after\n", before, after);
    free(state);
    free(model);
    return fabs(after - before) < 1e-4 ? 0 : 1;
}
