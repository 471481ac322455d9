/* Cost of one step of the whole loop under the method impact: two satellites on two robots, the bar in the
 * cone. Steps in contact and steps in flight are counted apart; p99 and the largest beside the mean.
 * bench_impact count CASE: one run of cone, late, noisy or long, for callgrind (tools/bench). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "facility/plant.h"

static void report(const char *name, double *ns, int count) {
    double sum = 0.0;
    if (!count)
        return;
    for (int i = 0; i < count; i++)
        sum += ns[i];
    bench_sort(ns, count);
    printf("  %-12s %8d steps  mean %7.0f ns  p99 %7.0f ns  largest %7.0f ns\n", name, count, sum / count,
           ns[count * 99 / 100], ns[count - 1]);
}

enum { RUNS = 40 };

static struct {
    ff_scenario scenario;
    ff_loop_config config;
    ff_loop_memory loop;
    ff_loop_info info;
    ff_loop_in in;
    ff_loop_out out;
} m;

static void bench(const char *label, const char *file, const char *const *set, int sets, int runs) {
    char message[512], warnings[512];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_load(file, &options, &m.scenario, message, sizeof message, warnings, sizeof warnings) !=
        FF_OK) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    ff_scenario_loop(&m.scenario, &m.config);
    ff_plant *plant = ff_plant_create(&m.scenario, message, sizeof message, NULL);
    if (!plant || ff_loop_memory_open(&m.config, NULL, &m.loop, message, sizeof message) != FF_OK) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    const size_t room = (size_t)runs * (size_t)m.scenario.cycles;
    double *contact = malloc(room * sizeof *contact), *flight = malloc(room * sizeof *flight);
    double *all = malloc(room * sizeof *all);
    if (!contact || !flight || !all)
        exit(1);
    int contacts = 0, flights = 0, count = 0;
    for (int r = 0; r < runs; r++) {
        ff_loop_reset(m.loop.model, m.loop.state, m.loop.state_bytes, &m.info, &m.out);
        for (int i = 0; i < m.scenario.satellites; i++)
            ff_plant_set_lead(plant, i, ff_loop_lead(m.loop.model, m.loop.state, i));
        for (uint64_t k = 0; k < m.scenario.cycles; k++) {
            ff_plant_write(plant, k, m.out.next);
            ff_plant_read(plant, k, &m.in, NULL);
            const double begin = bench_now_ns();
            ff_loop_step(m.loop.model, m.loop.state, &m.info, &m.in, &m.out);
            const double ns = bench_now_ns() - begin;
            ff_plant_write(plant, k, m.out.command);
            all[count++] = ns;
            if (m.out.fidelity.in_contact[0])
                contact[contacts++] = ns;
            else
                flight[flights++] = ns;
        }
    }
    if (label) {
        printf("%s\n", label);
        report("all", all, count);
        report("in contact", contact, contacts);
        report("in flight", flight, flights);
    }
    free(contact);
    free(flight);
    free(all);
    ff_plant_free(plant);
    ff_loop_memory_close(&m.loop);
}

int main(int argc, char **argv) {
    static const char *const noisy[] = {
        "satellites.servicer.sensor={kind: noisy, force_noise: 0.5, torque_noise: 0.05}",
        "satellites.client.sensor={kind: noisy, force_noise: 0.5, torque_noise: 0.05}"};
    static const char *const late[] = {"satellites.servicer.robot={kind: delay, delay: 0.04}",
                                       "satellites.client.robot={kind: delay, delay: 0.04}"};
    static const char *const lasting[] = {
        "satellites.servicer.sensor={kind: noisy, force_noise: 0.5, torque_noise: 0.05}",
        "satellites.client.sensor={kind: noisy, force_noise: 0.5, torque_noise: 0.05}",
        "satellites.servicer.robot={kind: limited, delay: 0.02, acceleration: 0.12}",
        "satellites.client.robot={kind: limited, delay: 0.02, acceleration: 0.12}",
        "time.cycle=0.001",
        "time.duration=3"};
    const char *const file = "scenarios/papers/lange/fig-7.yaml", *const central =
                                                                      "scenarios/papers/lange/fig-6.yaml";
    if (argc > 2 && strcmp(argv[1], "count") == 0) {
        if (strcmp(argv[2], "noisy") == 0)
            bench(NULL, central, noisy, 2, 1);
        else if (strcmp(argv[2], "long") == 0)
            bench(NULL, central, lasting, 6, 1);
        else
            bench(NULL, file, late, strcmp(argv[2], "late") == 0 ? 2 : 0, 1);
        return 0;
    }
    bench("bar and cone, 12 ms", file, NULL, 0, RUNS);
    bench("bar and cone, 40 ms", file, late, 2, RUNS);
    bench("bar and cone, 12 ms, 0.5 N of noise", file, noisy, 2, RUNS);
    bench("central impact, limited robots, 0.5 N of noise", central, noisy, 2, RUNS);
    bench("the same at 1 ms with slow robots", central, lasting, 6, RUNS);
    return 0;
}
