/* freefloat guard: an independent process between a controller and the loop. Here its configuration is taken
 * from the scenario; what it does then is host/monitor's alone. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "catalog/library.h"
#include "commands.h"
#include "facility/plan.h"
#include "monitor/monitor.h"
#include "scenario/reader.h"
#include "show.h"

static const char help[] =
    "usage: freefloat guard FILE [options]\n\n"
    "A second, independent watch over one robot. It stands between the robot's controller (RSI) and "
    "freefloat rt and "
    "relays\nin both directions while every answer keeps the limits. When an answer does not, or none comes "
    "in time, "
    "it answers "
    "itself:\nthe robot comes to rest, is held, and RSI ends. It shares no code with the loop but vectors "
    "and "
    "quaternions.\n\n"
    "  --satellite NAME   whose robot (default: the first)\n"
    "  --listen A:P       where the controller sends to (default 0.0.0.0:59152)\n"
    "  --loop A:P         where freefloat rt --rsi-port P listens (default 127.0.0.1:59162)\n"
    "  --patience S       an answer that takes longer is missing (default 0.8 of the cycle)\n"
    "  --margin X         its limits are those of the scenario times X (default 1.05)\n"
    "  --once             end after the first session\n"
    "  --set PATH=VALUE   overrides one key of the scenario; give rt the same\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 nothing happened, 1 it has stopped a robot or a port is taken, 2 bad usage or scenario\n"
    "example: freefloat guard scenarios/deos-client.yaml --listen 127.0.0.1:59152 --loop 127.0.0.1:59162\n"
    "         freefloat rt scenarios/deos-client.yaml --rsi-port 59162\n";

static volatile int stop;

static void on_signal(int number) {
    (void)number;
    stop = 1;
}

static void print_line(void *user, const char *line) {
    const bool *quiet = user;
    if (!*quiet)
        printf("guard: %s\n", line);
    fflush(stdout);
}

/* Ahead of the loop, which runs at 80; without the right it says so. */
static void take_rights(bool quiet) {
    const struct sched_param priority = {.sched_priority = 85};
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0 && !quiet)
        printf("guard: no right to real-time priority: a busy computer may make its answers late\n");
    (void)mlockall(MCL_CURRENT | MCL_FUTURE);
}

/* Limits and geometry of one body, as numbers. */
static void configure(const ff_scenario *s, const ff_plan_body *body, const ff_satellite *satellite,
                      double margin, ff_monitor_config *c) {
    const ff_arm_config *arm = &body->arm.config;
    const ff_output_config *o = &body->output;
    *c = (ff_monitor_config){
        .cycle = s->cycle,
        .axes = !body->cartesian,
        .relative = body->increments,
        .d1 = arm->d1,
        .a1 = arm->a1,
        .a2 = arm->a2,
        .d4 = arm->d4,
        .a3 = arm->a3,
        .d6 = arm->d6,
        .base = arm->base,
        .tool = arm->tool,
        .misfit = 1e-3,
        .velocity = margin * o->velocity,
        .acceleration = margin * o->acceleration,
        .jerk = margin * o->jerk,
        .angular_velocity = margin * o->angular_velocity,
        .angular_acceleration = margin * o->angular_acceleration,
        .angular_jerk = margin * o->angular_jerk,
        .centre = body->start.T.p,
        .stop_acceleration = o->stop_acceleration,
        .stop_angular_acceleration = o->stop_angular_acceleration,
    };
    memcpy(c->lower, arm->lower, sizeof c->lower);
    memcpy(c->upper, arm->upper, sizeof c->upper);
    memcpy(c->speed, arm->speed, sizeof c->speed);
    /* the robot stands where the run-up begins, perhaps outside of what it may leave later */
    const ff_vec3 park = ff_arm_forward(&body->arm, &body->home).p;
    for (int i = 0; i < 3; i++)
        c->box.a[i] =
            fmax(margin * satellite->safety.box.a[i], fabs(park.a[i] - c->centre.a[i]) + 2.0 * c->misfit);
}

/* The satellite that --satellite names; -1, said. */
static int choose(const ff_scenario *s, const char *name) {
    for (int i = 0; i < s->satellites; i++)
        if (!name || strcmp(s->satellite[i].name, name) == 0)
            return i;
    ff_names all = {"", 0};
    ff_guess guess = {.wrong = name};
    for (int i = 0; i < s->satellites; i++) {
        ff_names_add(&all, s->satellite[i].name);
        ff_guess_add(&guess, s->satellite[i].name);
    }
    ff_cli_error("freefloat guard: --satellite %s: the scenario has no such satellite%s, allowed: %s", name,
                 ff_guess_hint(&guess).text, all.text);
    return -1;
}

static int watch(const ff_scenario *s, const char *name, double margin, ff_relay_options *relay) {
    char message[512] = "";
    ff_plan plan;
    ff_monitor monitor;
    ff_monitor_config config;
    const int body = choose(s, name);
    if (body < 0)
        return FF_EXIT_USAGE;
    if (ff_plan_create(s, &plan, message, sizeof message) != FF_OK) {
        ff_cli_error("freefloat guard: %s", message);
        return FF_EXIT_USAGE;
    }
    if (plan.body[body].arm.config.rail.rule != FF_ARM_RAIL_NONE) {
        ff_cli_error("freefloat guard: a robot on a rail is not supported");
        return FF_EXIT_USAGE;
    }
    if (plan.body[body].arm.config.chain) {
        ff_cli_error("freefloat guard: it knows arms with lengths as KUKA's alone (kr120, kr16, kr210)");
        return FF_EXIT_USAGE;
    }
    configure(s, &plan.body[body], &s->satellite[body], margin, &config);
    if (relay->patience <= 0.0)
        relay->patience = 0.8 * s->cycle;
    ff_status status = ff_monitor_create(&monitor, &config);
    if (status == FF_OK) {
        ff_cli_on_request(on_signal);
        take_rights(*(const bool *)relay->user);
        status = ff_relay_run(&monitor, relay, message, sizeof message);
    }
    if (status < 0)
        ff_cli_error("freefloat guard: %s", *message ? message : ff_status_text(status));
    return status == FF_OK ? FF_EXIT_DONE : status == FF_ERR_ARGUMENT ? FF_EXIT_USAGE : FF_EXIT_FAILED;
}

int ff_cmd_guard(int argc, char **argv) {
    const char *file, *sets[FF_MAX_SETS], *name = NULL, *listen = "0.0.0.0:59152", *loop = "127.0.0.1:59162";
    double patience = 0.0, margin = 1.05;
    int count = 0, status;
    bool once = false, quiet = false;
    const ff_option options[] = {FF_OPT("--satellite", &name),
                                 FF_OPT("--listen", &listen),
                                 FF_OPT("--loop", &loop),
                                 FF_OPT_NUMBER("--patience", &patience),
                                 FF_OPT_NUMBER("--margin", &margin),
                                 FF_OPT_FLAG("--once", &once),
                                 FF_OPT_LIST("--set", sets, &count),
                                 FF_OPT_FLAG("--quiet", &quiet),
                                 {0}};
    if (ff_cli_parse(argc, argv, "guard", help, options, "scenario", &file, &status))
        return status;
    if (!(margin >= 1.0 && margin <= 10.0) || patience < 0.0) {
        ff_cli_error("freefloat guard: --margin is 1 to 10, --patience positive; see freefloat guard --help");
        return FF_EXIT_USAGE;
    }
    const ff_scenario_options load = {.set = sets, .sets = count, .catalog = &ff_catalog_libraries};
    ff_session *session = ff_show_open(file, &load, &status);
    if (session) {
        ff_relay_options relay = {.listen = listen,
                                  .loop = loop,
                                  .patience = patience,
                                  .idle = 2.0,
                                  .once = once,
                                  .stop = &stop,
                                  .note = print_line,
                                  .user = &quiet};
        status = watch(&session->scenario, name, margin, &relay);
    }
    ff_session_close(session);
    return status;
}
