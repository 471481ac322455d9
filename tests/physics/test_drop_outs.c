/* Readings and commands that do not arrive, through the virtual facility: what they cost `fused`. A reading
 * that stands in for a lost one is not learnt from. */
#include "support.h"

#include "executive/run.h"

static ff_scenario scenario;
static double last_speed, highest;

static ff_status keep(void *self, const ff_row *row) {
    (void)self;
    last_speed = row->body[0].satellite.velocity.x;
    highest = fmax(highest, ff_vec3_norm(row->body[0].satellite.velocity));
    return FF_OK;
}

/* 200 kg at 0.05 m/s against 20 kN/m, w tau = 0.4; error of the speed of departure over that of approach. */
static double rebound(double damping, double readings, double commands, unsigned seed) {
    char text[1024], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: lost\ntime: {cycle: 0.004, duration: 3, seed: %u}\nmethod: fused\nsatellites:\n"
             "  body: {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0],\n"
             "         robot: {kind: delay, delay: 0.04, lost: %g}, sensor: {kind: noisy, lost: %g}}\n"
             "contacts:\n  - {name: right, kind: wall, body: body, at: [0.05, 0, 0], normal: [-1, 0, 0],\n"
             "     stiffness: 20000, damping: %g}\n",
             seed, commands, readings, damping);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    highest = 0.0;
    const ff_sink sink = {.self = NULL, .row = keep};
    const ff_run_options options = {.sinks = &sink, .count = 1};
    ff_run_result result;
    ff_run(&scenario, &options, &result);
    if (result.status < 0)
        fail_msg("%s", result.message);
    return last_speed / 0.05 + ff_contact_restitution(damping / (2.0 * sqrt(20000.0 * 200.0)));
}

/* A lost command makes the robot stop for a cycle and jump in the next: there the measured velocity is not
 * the motion between two poses, which the fit of the damping must take for true. */
static void test_lost_packets_cost_fused_little(void **unused) {
    (void)unused;
    const double share[] = {0.01, 0.05, 0.2, 0.4}, allowed[] = {0.001, 0.01, 0.03, 0.04},
                 damping[] = {0.0, 137.1, 723.4};
    for (int i = 0; i < 4; i++) {
        double worst[2] = {0.0, 0.0};
        for (unsigned n = 0; n < (unsigned)test_count(5, 100); n++)
            for (int d = 0; d < 3; d++)
                for (int both = 0; both < 2; both++) {
                    const double e = rebound(damping[d], share[i], both ? share[i] : 0.0, 1 + n);
                    worst[both] = fmax(worst[both], fabs(e));
                    assert_true(highest <= 0.05 * (1.0 + 1e-12));
                }
        print_message("%4.0f %% lost: error of e %.3f %% (readings), %.3f %% (and commands)\n",
                      100.0 * share[i], 100.0 * worst[0], 100.0 * worst[1]);
        assert_true(worst[0] < 0.0005 && worst[1] < allowed[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lost_packets_cost_fused_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
