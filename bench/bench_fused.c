/* Cost of `fused`: mean and largest time of a cycle in contact, by contact length. The runs of a case are the
 * same, and the largest is that of each cycle's least time: what the machine does beside it does not count.
 * Under valgrind --tool=callgrind --toggle-collect=ff_loop_step build/bench/bench_fused CASE the instructions
 * of one case; docs/methods/fused.md states them. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "freefloat/freefloat.h"

typedef struct bench_case {
    const char *name;
    double T, delay, w, z, spin, noise;
} bench_case;

static const bench_case cases[] = {
    {"T 4 ms, 20 samples, w tau 1.5", 0.004, 0.04, 37.5, 0.1, 0.0, 0.0},
    {"T 4 ms, 63 samples", 0.004, 0.04, 12.5, 0.1, 0.0, 0.0},
    {"T 4 ms, 295 samples (destefano2019 VII)", 0.004, 0.04, 2.67, 0.0033, 0.0, 0.0},
    {"T 4 ms, 63 samples, spinning", 0.004, 0.04, 12.5, 0.1, 0.05, 0.0},
    {"T 4 ms, 295 samples, spinning, 0.3 N", 0.004, 0.04, 2.67, 0.0033, 0.05, 0.3},
    {"T 1 ms, 63 samples, spinning", 0.001, 0.016, 50.0, 0.1, 0.05, 0.0},
    {"T 1 ms, 628 samples, spinning", 0.001, 0.016, 5.0, 0.1, 0.05, 0.0},
};

int main(int argc, char **argv) {
    const int only = argc > 1 ? atoi(argv[1]) : -1;
    static ff_loop_config config;
    static ff_loop_out out;
    printf("%-44s %12s %12s %12s\n", "case", "contact us", "largest us", "flight us");
    for (int n = 0; n < (int)(sizeof cases / sizeof *cases); n++) {
        if (only >= 0 && n != only)
            continue;
        const bench_case *c = &cases[n];
        ff_loop_info info;
        ff_loop_in in = {0};
        ff_loop_state *state;
        const ff_vec3 tip = {{0.1, 0.05, 0.3}};
        ff_loop_default(&config);
        config.integrate.cycle = c->T;
        config.method = &ff_method_fused;
        ff_settings_default(config.method, 0, &config.setting);
        config.world.body[0].delay = c->delay;
        config.world.force_noise = c->noise;
        config.world.torque_noise = 0.05 * c->noise;
        config.body[0].rigid.mass = 280.0;
        config.body[0].rigid.inertia = ff_mat3_diag(18, 20, 22);
        config.body[0].start.velocity.z = 0.05;
        config.body[0].start.omega = ff_vec3_make(0.3 * c->spin, c->spin, 0.5 * c->spin);
        double busy = 0.0, most = 0.0, free_time = 0.0;
        long busy_cycles = 0, free_cycles = 0;
        enum { CYCLES = 3000 };
        static double least[CYCLES];
        for (int i = 0; i < CYCLES; i++)
            least[i] = 1e9;
        const ff_vec3 r_b = c->spin > 0.0 ? tip : ff_vec3_zero();
        for (int run = 0; run < (only >= 0 ? 1 : 20); run++) {
            static ff_setpoint ring[1024];
            ff_rng rng;
            ff_rng_seed(&rng, 1, 1);
            ff_loop_model *model = bench_loop(&config, &state, &info, &out);
            if (!model)
                return 1;
            const ff_rigid_state *s = &config.body[0].start;
            for (int i = 0; i < 1024; i++)
                ring[i] = (ff_setpoint){
                    {ff_quat_identity(), ff_vec3_scale(c->delay - (1024 - i) * c->T, s->velocity)},
                    {s->omega, s->velocity}};
            const int delay = (int)(c->delay / c->T + 0.5);
            const double k = 280.0 * c->w * c->w, d = 2.0 * c->z * c->w * 280.0;
            for (uint64_t i = 0; i < (uint64_t)(3.0 / c->T); i++) {
                const ff_setpoint *r = &ring[(i + 1024 - (uint64_t)delay) % 1024];
                const ff_vec3 p = ff_pose_apply(r->T, r_b);
                const ff_vec3 v =
                    ff_vec3_add(r->twist.v, ff_quat_rotate(r->T.q, ff_vec3_cross(r->twist.w, r_b)));
                const double depth = p.z - r_b.z - 0.02,
                             f = depth > 0.0 ? fmax(0.0, k * depth + d * v.z) : 0.0;
                const ff_vec3 F = ff_quat_unrotate(r->T.q, ff_vec3_make(0, 0, -f));
                in.sensor[0] =
                    (ff_wrench_in){.f_s = {ff_vec3_cross(r_b, F), F}, .T_wb = r->T, .twist = r->twist};
                for (int a = 0; a < 3 && c->noise > 0.0; a++)
                    in.sensor[0].f_s.f.a[a] += c->noise * ff_rng_normal(&rng);
                const double start = bench_now_ns();
                ff_loop_step(model, state, &info, &in, &out);
                const double took = 1e-3 * (bench_now_ns() - start);
                ring[i % 1024] = out.command[0];
                if (out.fidelity.in_contact[0]) {
                    busy += took;
                    busy_cycles++;
                    least[i] = fmin(least[i], took);
                } else {
                    free_time += took;
                    free_cycles++;
                }
            }
            free(model);
            free(state);
        }
        int cycles = 0;
        for (int i = 0; i < CYCLES; i++)
            if (least[i] < 1e9) {
                most = fmax(most, least[i]);
                least[cycles++] = least[i];
            }
        bench_sort(least, cycles);
        printf("%-44s %12.2f %12.2f %12.2f\n", c->name, busy / (double)(busy_cycles ? busy_cycles : 1), most,
               free_time / (double)(free_cycles ? free_cycles : 1));
        char name[96];
        snprintf(name, sizeof name, "fused in contact, %s: p99", c->name);
        bench_row(name, "us", cycles ? least[(cycles * 99) / 100] : 0.0, "", 0.0);
    }
    return 0;
}
