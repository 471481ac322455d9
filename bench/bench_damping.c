/* Cost of one step of the method damping in contact: two satellites on two robots, and of the whole loop.
 * bench_damping count [printed]: the same steps without clock, for callgrind (tools/bench). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "freefloat/loop.h"

enum { COUNT = 200000, COUNTED = 1000 }; /* steps timed; counted: four contacts */

/* A pair in steady to and fro contact, so that every step does all its work. */
static void bench(const char *name, const ff_method *method, int variant, double *ns, int count) {
    ff_loop_config config;
    ff_loop_state *state;
    ff_loop_info info;
    ff_loop_in in = {0};
    ff_loop_out out;
    ff_loop_default(&config);
    config.bodies = 2;
    config.integrate.cycle = 0.001;
    config.method = method;
    ff_settings_default(method, variant, &config.setting);
    if (method == &ff_method_damping) {
        ff_settings_set(method, &config.setting, "noise", 0.2);
        ff_settings_set(method, &config.setting, "threshold", 1.0);
    }
    config.body[0].rigid = (ff_rigid_config){300, ff_mat3_diag(98, 98, 98)};
    config.body[1].rigid = (ff_rigid_config){4000, ff_mat3_diag(3684, 3684, 3684)};
    ff_loop_model *model = bench_loop(&config, &state, &info, &out);
    if (!model)
        exit(1);
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        const double phase = 0.0158 * (k % 250), p = 1.26e-3 * sin(phase), v = 0.02 * cos(phase);
        const double f = phase < FF_PI ? 7e4 * p + 60.0 * v : 0.0;
        for (int i = 0; i < 2; i++) {
            ff_wrench_in *s = &in.sensor[i];
            *s = (ff_wrench_in){.T_wb = ff_pose_identity()};
            s->f_s.f.x = i ? f : -f;
            s->f_s.t.z = i ? -0.1 * f : 0.1 * f;
        }
        in.sensor[0].T_wb.p.x = p;
        in.sensor[0].twist.v.x = v;
        const double begin = bench_now_ns();
        ff_loop_step(model, state, &info, &in, &out);
        ns[k] = bench_now_ns() - begin;
        sum += ns[k];
    }
    free(model);
    free(state);
    if (!name)
        return;
    bench_sort(ns, count);
    printf("%-28s mean %6.0f ns  p99 %6.0f ns  worst %8.0f ns\n", name, sum / count, ns[count / 100 * 99],
           ns[count - 1]);
}

int main(int argc, char **argv) {
    double *ns = malloc(COUNT * sizeof *ns);
    if (!ns)
        return 1;
    if (argc > 1 && strcmp(argv[1], "count") == 0) {
        const bool printed = argc > 2 && strcmp(argv[2], "printed") == 0;
        bench(NULL, &ff_method_damping, printed, ns, COUNTED);
        free(ns);
        return 0;
    }
    printf("one cycle of the loop, two satellites in contact (clock included, about 20 to 40 ns)\n");
    bench("direct", &ff_method_direct, 0, ns, COUNT);
    bench("tdpa", &ff_method_tdpa, 0, ns, COUNT);
    bench("damping", &ff_method_damping, 0, ns, COUNT);
    bench("damping, printed", &ff_method_damping, 1, ns, COUNT);
    free(ns);
    return 0;
}
