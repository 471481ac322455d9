#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "catalog/library.h"
#include "commands.h"
#include "live/control.h"
#include "operator/console.h"
#include "operator/emulation.h"
#include "record/csv.h"
#include "text/clock.h"
#include "text/json.h"
#include "operator/operator.h"
#include "operator/rights.h"
#include "operator/selftest.h"
#include "show.h"

static const char help[] =
    "usage: freefloat rt FILE [options]\n"
    "       freefloat rt --selftest\n"
    "       freefloat rt --commission [--out DIR]\n\n"
    "Closes the loop on the devices that the scenario names, in wall-clock time: a KUKA (RSI) or UR (RTDE) "
    "controller or a ROS 2 driver and "
    "an "
    "ATI\nsensor (RDT) for each satellite; of an emulation an arm that is commanded by joint torques. "
    "Without such devices in the scenario it talks to freefloat "
    "facility on "
    "this computer.\nWrites the same files as run. This program is never the safety function: "
    "docs/safety.md.\n\n"
    "  --arm              arm without asking; only if every device is virtual\n"
    "  --trust-method     run a method from a shared object (method: ./mine.so) in the real-time thread\n"
    "  --method M, --set PATH=VALUE, --out DIR, --force, --log LIST, --json, --strict, --quiet   as for run\n"
    "  --rsi-port N       port for the controller's telegrams (default 59152, or the scenario's)\n"
    "  --ati-port N       the sensor's port (default 49152)\n"
    "  --http-port N      the port of the sensor's page (default 49180)\n"
    "  --wait S           how long to wait for the devices (default 10)\n"
    "  --silence S        a robot silent for so long is lost (default 0.1)\n"
    "  --cpu N            CPU of the real-time thread (default the last)\n"
    "  --idle             allows deep idle states between cycles: the processor wakes later, saves power\n"
    "  --live ADDRESS     shows it on a page, e.g. 127.0.0.1:8080; the page can hold and stop, never "
    "arm\n" FF_CLI_DOORS_HELP "  --selftest         may this computer close a 250 Hz or 1 kHz loop?\n"
    "  --commission       leads through the steps from rehearsal to contact, writes protocol.json and "
    ".html\n\n"
    "At the terminal, once it is armed: hold, retreat, zero, stop and Enter act as the page's orders; help "
    "lists them.\n\n"
    "exit status: 0 done, 1 the run failed or was stopped, 2 bad usage or scenario\n"
    "example: freefloat facility scenarios/deos-client.yaml & freefloat rt scenarios/deos-client.yaml\n";

static atomic_bool stop;

static void on_signal(int number) {
    (void)number;
    atomic_store(&stop, true);
}

/* Whatever would end or suspend the program while the robot floats is an order to stop. */
static void take_signals(void) {
    static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGTSTP, SIGTTIN, SIGTTOU,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], on_signal);
    signal(SIGPIPE, SIG_IGN); /* seen where the text is written */
}

typedef struct desk { /* the operator's */
    ff_rt_options options;
    ff_rt_result result;
    ff_rt_emulation emulation; /* in place of the result, of a scenario that emulates */
    const ff_scenario *scenario;
    bool arm, quiet;
    atomic_bool begun;      /* the run-up: what happens has a time of the run */
    atomic_bool armed;      /* the terminal's questions are over: what is typed is an order */
    ff_live_doors doors;    /* where it is shown */
    ff_live *live;          /* NULL: nowhere */
    pthread_mutex_t events; /* states come from the recorder's thread, answers from the telemetry's */
    ff_tuning_table table;
    int bar[FF_MAX_BODIES][FF_LEVEL_COUNT]; /* limit's number on the page; -1: none */
    double shown, rested;                   /* [s] t of the newest row that was shown; ff_row's */
} desk;

static void show_check(const desk *d, const ff_check *check) {
    char *text = ff_check_text(d->scenario, check);
    if (text)
        fputs(text, stdout);
    free(text);
    fflush(stdout);
}

/* Asks and waits for the operator as long as there is something to decide: Ctrl-C and a loop that has ended,
 * a silent robot's for example, end it, too. What was typed before the question does not answer it. */
static bool typed(const desk *d, const char *question, const char *word) {
    char line[64] = "";
    const size_t n = strlen(word);
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    tcflush(STDIN_FILENO, TCIFLUSH);
    fputs(question, stdout);
    fflush(stdout);
    int ready = 0;
    while (ready == 0 || (ready < 0 && errno == EINTR)) {
        if (atomic_load(&stop) || atomic_load(&d->result.ended)) {
            printf("\n");
            return false;
        }
        ready = poll(&keys, 1, 50);
    }
    const ssize_t got = read(STDIN_FILENO, line, sizeof line - 1);
    return got == (ssize_t)n + 1 && strncmp(line, word, n) == 0 && line[n] == '\n';
}

/* The tests of the check move the robot a little: that, too, is the operator's decision. */
static bool permit(void *user, const ff_check *check) {
    const desk *d = user;
    if (d->arm)
        return true;
    ff_progress_clear();
    show_check(d, check);
    return typed(
        d, "test? The robot will tilt its tool or move by millimetres, and come back. Type test and Enter: ",
        "test");
}

static bool confirm(void *user, const ff_check *check) {
    desk *d = user;
    if (!d->quiet || !d->arm) { /* nobody decides without having seen it */
        ff_progress_clear();
        show_check(d, check);
    }
    if (check->no_go.code != FF_TRIP_NONE)
        return false;
    const bool yes = d->arm || typed(d, "arm? The robot will move. Type arm and Enter: ", "arm");
    atomic_store(&d->armed, yes);
    return yes;
}

static void tell_event(desk *d, ff_live_level level, double t, const char *text) {
    pthread_mutex_lock(&d->events);
    ff_live_event(d->live, level, t, text);
    pthread_mutex_unlock(&d->events);
}

static ff_live_phase phase_of(ff_state state) {
    if (state == FF_STATE_FAULT)
        return FF_LIVE_FAULT;
    if (state >= FF_STATE_BRAKE)
        return FF_LIVE_HELD;
    return state >= FF_STATE_APPROACH ? FF_LIVE_RUNNING : FF_LIVE_STARTING;
}

static void tell_page(desk *d, const ff_rt_note *n) {
    char text[FF_LIVE_TEXT];
    if (n->kind == FF_NOTE_TRIP) {
        const bool fault = n->trip.code > FF_TRIP_FINISHED;
        if (fault)
            ff_trip_sentence(&n->trip, d->scenario->satellite[n->trip.body].name, text, sizeof text);
        else
            snprintf(text, sizeof text, "%s", ff_trip_text(n->trip.code));
        tell_event(d, fault ? FF_LIVE_ALARM : FF_LIVE_INFO, n->t, text);
        return;
    }
    if (n->kind == FF_NOTE_SAY) {
        tell_event(d, FF_LIVE_INFO, n->t, n->text);
        return;
    }
    if (n->state == FF_STATE_END) /* what it came to stays on the page */
        return;
    if (n->state != FF_STATE_FLOAT && n->state != FF_STATE_CONTACT) { /* contacts are events of their own */
        snprintf(text, sizeof text, "%s: %s", ff_state_name(n->state), ff_state_text(n->state));
        tell_event(d, n->state == FF_STATE_FAULT ? FF_LIVE_ALARM : FF_LIVE_INFO, n->t, text);
    }
    ff_live_set_state(d->live, ff_state_name(n->state));
    ff_live_set_phase(d->live, phase_of(n->state));
}

static void note(void *user, const ff_rt_note *n) {
    desk *d = user;
    char when[24] = "       -  "; /* summary.json has it: how long before t = 0 is known once that has come */
    if (n->timed && !n->before)
        snprintf(when, sizeof when, "%8.3f s", n->t);
    if (!d->quiet)
        ff_progress_clear();
    if (!n->before && !atomic_exchange(&d->begun, true))
        ff_live_set_before(d->live, false);
    if (d->live && n->kind != FF_NOTE_TEXT) /* that one is an answer: the page has it */
        tell_page(d, n);
    if (n->kind == FF_NOTE_TRIP && n->trip.code > FF_TRIP_FINISHED) {
        char sentence[FF_TRIP_SENTENCE];
        ff_trip_sentence(&n->trip, d->scenario->satellite[n->trip.body].name, sentence, sizeof sentence);
        if (n->before)
            snprintf(when, sizeof when, "before the run");
        else
            snprintf(when, sizeof when, "%.3f s", n->t);
        ff_cli_error("%s: %s, %s", when, ff_state_name(n->state), sentence);
    } else if (!d->quiet && n->kind == FF_NOTE_SAY) {
        ff_cli_line("%s  %s", when, n->text);
    } else if (!d->quiet && n->kind == FF_NOTE_TEXT && strcmp(n->text, "zeroed") == 0) {
        printf("%s  zeroed, maximum force removed %.3g N\n", when, n->trip.value);
    } else if (!d->quiet && n->kind == FF_NOTE_TEXT) {
        ff_cli_line("%s  %s set to %.6g, it was %.6g", when, n->text, n->trip.value, n->trip.limit);
    } else if (!d->quiet && n->kind == FF_NOTE_STATE)
        printf("%s  %s\n", when, ff_state_name(n->state));
    if (fflush(stdout) != 0 || ferror(stdout))
        atomic_store(&stop, true); /* nobody sees what happens any more */
}

/* -------------------------------------------------- the terminal and the page, in the telemetry thread --
 */

/* A line that the operator typed. Only the terminal of a program in the foreground is read. */
static bool next_typed(const desk *d, ff_order *order) {
    char line[80];
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!atomic_load(&d->armed) || tcgetpgrp(STDIN_FILENO) != getpgrp() || poll(&keys, 1, 0) <= 0)
        return false;
    const ssize_t got = read(STDIN_FILENO, line, sizeof line - 1);
    line[got > 0 ? got : 0] = '\0';
    switch (ff_console_read(line, order)) {
    case FF_CONSOLE_ORDER:
        return true;
    case FF_CONSOLE_HELP:
        ff_progress_clear();
        fputs(ff_console_help(), stdout);
        fflush(stdout);
        return false;
    case FF_CONSOLE_UNKNOWN:
        ff_progress_clear();
        ff_cli_error("not an order: %.*s; help lists them", (int)strcspn(line, "\r\n"), line);
        return false;
    default:
        return false;
    }
}

static void answer_typed(const desk *d, const ff_order_answer *answer, const char *text) {
    char when[24] = "       -  ";
    const bool begun = atomic_load(&d->begun);
    if (begun)
        snprintf(when, sizeof when, "%8.3f s", answer->t);
    ff_progress_clear();
    if (!answer->done && begun)
        ff_cli_error("%.3f s: %s", answer->t, text);
    else if (!answer->done)
        ff_cli_error("%s", text);
    else if (!d->quiet && answer->order.verb != FF_ORDER_ZERO) { /* that one is a note, too */
        ff_cli_line("%s  %s", when, text);
        fflush(stdout);
    }
}

/* Before the run and between its parts its time stands still, or begins again: whoever watches sees a cycle
 * pass with each row. */
static void show_sample(void *self, const ff_telemetry_sample *sample) {
    desk *d = self;
    ff_row row = sample->row;
    if (!(row.t > d->shown))
        d->rested += d->shown - row.t + d->scenario->cycle;
    d->shown = row.t;
    row.rested = d->rested;
    ff_live_set_late(d->live, row.lateness_ns);
    ff_live_push(d->live, &row, &sample->level[0][0]);
}

static bool next_order(void *self, ff_order *order) {
    static const ff_order_verb verb[FF_LIVE_VERBS] = {[FF_LIVE_HOLD] = FF_ORDER_HOLD,
                                                      [FF_LIVE_STOP] = FF_ORDER_STOP,
                                                      [FF_LIVE_RETREAT] = FF_ORDER_RETREAT,
                                                      [FF_LIVE_ZERO] = FF_ORDER_ZERO,
                                                      [FF_LIVE_SET] = FF_ORDER_SET};
    const desk *d = self;
    ff_live_command c;
    if (d->live && ff_live_next_command(d->live, &c))
        *order = (ff_order){.verb = verb[c.verb],
                            .parameter = c.parameter,
                            .value = c.value,
                            .id = c.id,
                            .from = c.viewer,
                            .claim = c.claim};
    else if (!next_typed(d, order))
        return false;
    if (order->verb == FF_ORDER_STOP && ff_claim_take(order->claim)) {
        order->claim = (ff_claim){0}; /* it acts here already */
        atomic_store(&stop, true);    /* as Ctrl-C: also where no telegram paces the loop yet */
    }
    return true;
}

static void tell_answer(void *self, const ff_order_answer *answer, const char *text) {
    desk *d = self;
    const ff_live_command command = {.id = answer->order.id, .viewer = answer->order.from};
    if (answer->order.from == FF_CONSOLE_VIEWER)
        answer_typed(d, answer, text);
    if (!d->live)
        return;
    if (answer->done && answer->order.verb == FF_ORDER_SET) {
        const ff_tuning_parameter *p = &d->table.parameter[answer->order.parameter];
        ff_live_set_parameter(d->live, answer->order.parameter, answer->is);
        for (int n = 0; p->kind == FF_TUNING_LIMIT && n < FF_LEVEL_COUNT; n++)
            if (ff_tuning_watches(p, (ff_level_name)n))
                ff_live_set_limit(d->live, d->bar[p->body][n], answer->is);
    }
    if (answer->order.from != FF_CONSOLE_VIEWER)
        ff_live_answer(d->live, &command, answer->done, text);
    tell_event(d, answer->done ? FF_LIVE_INFO : FF_LIVE_WARNING, answer->t, text);
}

/* One bar for every safety limit that the scenario gives. */
static void add_levels(desk *d, const ff_scenario *scenario, ff_live_config *config) {
    config->gauges = FF_MAX_BODIES * FF_LEVEL_COUNT;
    for (int i = 0; i < scenario->satellites; i++)
        for (int n = 0; n < FF_LEVEL_COUNT; n++) {
            const ff_level_name level = (ff_level_name)n;
            const double limit = level == FF_LEVEL_SILENT && d->options.silence > 0.0
                                     ? d->options.silence
                                     : ff_level_limit(&scenario->satellite[i].safety, level);
            d->bar[i][n] = -1;
            if (level == FF_LEVEL_JOINT && scenario->satellite[i].robot.device.cartesian)
                continue; /* its controller alone knows its joints */
            if (!isfinite(limit) || !(limit > 0.0) || config->limits == FF_LIVE_MAX_LIMITS)
                continue;
            ff_live_limit *l = &config->limit[config->limits];
            *l = (ff_live_limit){
                .limit = limit, .gauge = i * FF_LEVEL_COUNT + n + 1, .scale = 1.0, .trips = true};
            snprintf(l->name, sizeof l->name, "%s%s%s", ff_level_text(level),
                     scenario->satellites > 1 ? " of " : "",
                     scenario->satellites > 1 ? scenario->satellite[i].name : "");
            snprintf(l->unit, sizeof l->unit, "%s", ff_level_unit(level));
            d->bar[i][n] = config->limits++;
        }
}

static int start_live(desk *d, const ff_scenario *scenario) {
    char message[256] = "no memory";
    ff_live_config *config = calloc(1, sizeof *config);
    ff_status status = FF_ERR_MEMORY;
    if (config) {
        *config = (ff_live_config){.mode = "rt",
                                   .scenario = scenario,
                                   .open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_STOP) |
                                           FF_LIVE_BIT(FF_LIVE_RETREAT),
                                   .guarded = FF_LIVE_BIT(FF_LIVE_ZERO) | FF_LIVE_BIT(FF_LIVE_SET),
                                   .loop_cpu = 1 + ff_rights_cpu(d->options.cpu)};
        ff_tuning_list(scenario, true, &d->table);
        ff_live_parameters(&d->table, config);
        add_levels(d, scenario, config);
        status = ff_live_limits(scenario, config);
        if (!status)
            status = ff_live_open(config, &d->doors, &d->live, message, sizeof message);
    }
    free(config);
    if (status < 0) {
        ff_cli_error("%s", message);
        return FF_EXIT_USAGE;
    }
    pthread_mutex_init(&d->events, NULL);
    d->options.viewer.sample = show_sample;
    ff_live_set_before(d->live, true);
    ff_cli_live(d->live, d->doors.control);
    return FF_EXIT_DONE;
}

static void runner(void *self, const ff_scenario *scenario, const ff_run_options *options,
                   ff_run_result *result) {
    desk *d = self;
    d->scenario = scenario;
    ff_rt_run(scenario, options, &d->options, &d->result);
    *result = d->result.run;
}

/* The same of an arm that stands where an emulation begins. */
static bool confirm_arm(void *user, const char *text) {
    desk *d = user;
    fputs(text, stdout);
    fflush(stdout);
    return typed(d, "arm? The robot will move. Type arm and Enter: ", "arm");
}

static ff_status emulator(void *self, const ff_scenario *scenario, ff_emulate_result *result, char *message,
                          size_t size) {
    desk *d = self;
    d->scenario = scenario;
    return ff_rt_emulate(scenario, &d->options, d->arm ? NULL : confirm_arm, result, &d->emulation, message,
                         size);
}

static void put_counts(ff_json *json, const char *name, const ff_device_counters *robot) {
    ff_json_open(json, name, '{');
    ff_json_integer(json, "received", (long long)robot->received);
    ff_json_integer(json, "answered", (long long)robot->answered);
    ff_json_integer(json, "late", (long long)robot->late);
    ff_json_integer(json, "lost", (long long)robot->lost);
    ff_json_integer(json, "repeated", (long long)robot->repeated);
    ff_json_integer(json, "reordered", (long long)robot->reordered);
    ff_json_integer(json, "malformed", (long long)robot->malformed);
    ff_json_integer(json, "empty", (long long)robot->empty);
    ff_json_integer(json, "unanswered", (long long)robot->unanswered);
    ff_json_integer(json, "refused", (long long)robot->refused);
    ff_json_close(json, '}');
}

/* What was lost and late in transit, as each side counted it: the controller's policy is its own. */
static char *devices_json(const desk *d) {
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    const bool arm = d->scenario->emulates;
    ff_json_integer(&json, "strangers", (long long)(arm ? d->emulation.strangers : d->result.strangers));
    if (arm)
        put_counts(&json, "arm", &d->emulation.arm);
    else if (ff_scenario_servicer(d->scenario) >= 0)
        put_counts(&json, "arm", &d->result.arm);
    ff_json_open(&json, "satellites", '{');
    for (int i = 0; i < d->scenario->satellites; i++) {
        const ff_device_counters *robot = &d->result.robots[i];
        const ff_device_counters *sensor = &d->result.sensors[i];
        ff_json_open(&json, d->scenario->satellite[i].name, '{');
        put_counts(&json, "robot", robot);
        ff_json_open(&json, "sensor", '{');
        ff_json_integer(&json, "received", (long long)sensor->received);
        ff_json_integer(&json, "lost", (long long)sensor->lost);
        ff_json_integer(&json, "repeated", (long long)sensor->repeated);
        ff_json_integer(&json, "reordered", (long long)sensor->reordered);
        ff_json_integer(&json, "restarts", (long long)sensor->restarts);
        ff_json_integer(&json, "bad", (long long)sensor->bad);
        ff_json_integer(&json, "spiked", (long long)sensor->spiked);
        ff_json_close(&json, '}');
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, '}');
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}

/* How late the loop woke and how long it took, of a run that has cycles. */
static char *real_time_json(const desk *d) {
    const ff_rt_result *r = &d->result;
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_number(&json, "wake_up_p50_us", ff_histogram_at(&r->lateness, 0.5));
    ff_json_number(&json, "wake_up_p99_us", ff_histogram_at(&r->lateness, 0.99));
    ff_json_number(&json, "compute_p99_us", ff_histogram_at(&r->compute, 0.99));
    ff_json_number(&json, "input_output_p99_us", ff_histogram_at(&r->io, 0.99));
    ff_json_integer(&json, "missed_cycles", (long long)r->missed);
    ff_json_integer(&json, "page_faults", (long long)(r->faults.minor + r->faults.major));
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}

/* Whether the loop was begun and anybody answered. */
static bool heard(const desk *d) {
    bool any = !d->scenario; /* it was not: there is another reason */
    any = any || d->result.heard || d->emulation.arm.received;
    for (int i = 0; d->scenario && i < d->scenario->satellites; i++)
        any = any || d->result.robots[i].received || d->result.sensors[i].received;
    return any;
}

static char *add_devices(void *self, char *summary) {
    const desk *d = self;
    if (d->result.check.rows)
        summary = ff_summary_add(summary, "check", ff_check_json(d->scenario, &d->result.check));
    if (d->result.run.cycles)
        summary = ff_summary_add(summary, "real_time", real_time_json(d));
    return ff_summary_add(summary, "devices", devices_json(d));
}

/* The last two seconds before a fault, at full rate. False: they cannot be written. */
static bool write_last(const desk *d, const ff_run_folder *folder) {
    if (d->result.trip.code <= FF_TRIP_FINISHED || !d->result.last_count)
        return true;
    char path[4400];
    snprintf(path, sizeof path, "%.4300s/fault.csv", folder->path);
    ff_csv csv;
    bool good = ff_csv_open(path, d->scenario, &csv) == FF_OK;
    if (good) {
        const ff_sink sink = ff_csv_sink(&csv);
        for (size_t i = 0; i < d->result.last_count; i++)
            good = sink.row(sink.self, &d->result.last[i]) == FF_OK && good;
        good = ff_csv_close(&csv, good) == FF_OK;
    }
    if (!good)
        ff_cli_error("%s: cannot be written (%s)", path, strerror(errno));
    else if (!d->quiet)
        ff_cli_line("last 2 s before the fault %s/fault.csv", folder->shown);
    return good;
}

/* How late the loop of an emulation woke. */
static void show_arm(const ff_rt_emulation *r) {
    ff_cli_sentence(
        "wake-up p50 %.0f us, p99 %.0f us; compute p99 %.0f us; %llu telegrams lost, %llu answers "
        "not taken",
        ff_histogram_at(&r->lateness, 0.5), ff_histogram_at(&r->lateness, 0.99),
        ff_histogram_at(&r->compute, 0.99), (unsigned long long)r->missed, (unsigned long long)r->untaken);
    if (*r->rights.missing)
        ff_cli_sentence("%s", r->rights.missing);
}

static void show_end(const void *self) {
    const desk *d = self;
    const ff_rt_result *r = &d->result;
    if (d->emulation.arm.answered)
        show_arm(&d->emulation);
    if (!r->run.cycles)
        return;
    unsigned long long late = 0;
    for (int i = 0; i < d->scenario->satellites; i++)
        late += r->robots[i].late;
    ff_cli_sentence(
        "%s%s; wake-up p50 %.0f us, p99 %.0f us; compute p99 %.0f us, input and output p99 %.0f us; "
        "%llu cycles missed, %llu answers late, %llu page faults",
        ff_state_name(r->state), r->retreated ? " after a retreat" : "", ff_histogram_at(&r->lateness, 0.5),
        ff_histogram_at(&r->lateness, 0.99), ff_histogram_at(&r->compute, 0.99),
        ff_histogram_at(&r->io, 0.99), (unsigned long long)r->missed, late,
        (unsigned long long)r->faults.minor + (unsigned long long)r->faults.major);
    for (int i = 0; i < d->scenario->satellites; i++) {
        const ff_run_clock *c = &r->run.clock[i];
        if (c->known)
            ff_cli_sentence(
                "%s: controller's clock %+.2f ppm, arrivals %.3g ms rms about it, maximum %.3g ms; "
                "sensor %.4f Hz, %.3g ms rms",
                d->scenario->satellite[i].name, c->drift_ppm, 1e3 * c->residual_s, 1e3 * c->largest_s,
                c->sensor_hz, 1e3 * c->sensor_s);
    }
    if (*r->rights.missing)
        ff_cli_sentence("%s", r->rights.missing);
}

/* A number after an option; false after one line. */
static bool number(const char *name, const char *text, double low, double high, double *value) {
    char *end = NULL;
    if (!text)
        return true;
    *value = strtod(text, &end);
    if (*text && !*end && *value >= low && *value <= high)
        return true;
    ff_cli_error("%s %s: allowed: a number from %g to %g", name, text, low, high);
    return false;
}

/* After a fault the page stays, with the files of the run, until whoever looks at it leaves or ends it. */
static void stay(desk *d, const ff_run_folder *folder) {
    static const char *const names[] = {"fault.csv", "report.html"};
    const int64_t patience = 3000000000; /* [ns] a page that is loaded again is back by then */
    ff_live_command c;
    for (int n = 0; n < 2; n++)
        if (ff_live_offer(d->live, folder->shown, names[n]) != FF_OK)
            ff_live_offer(d->live, folder->path, names[n]);
    fprintf(stderr, "the page stays until it is closed, Stop is pressed there, or Ctrl-C\n");
    for (int64_t seen = ff_clock_now(); !atomic_load(&stop) && ff_clock_now() - seen < patience;) {
        if (ff_live_get_info(d->live).viewers)
            seen = ff_clock_now();
        while (ff_live_next_command(d->live, &c)) {
            if (!ff_claim_take(c.claim))
                continue;
            const bool ends = c.verb == FF_LIVE_STOP;
            ff_live_answer(d->live, &c, ends, ends ? "the page ends" : "refused: the run is over");
            if (ends)
                atomic_store(&stop, true);
        }
        ff_clock_sleep_until(ff_clock_now() + 50000000);
    }
}

/* A domain is on one interface: --ros on another one than the driver would show the node where the operator
 * did not say. */
static bool ros_apart(const desk *d, const ff_scenario *scenario, const ff_addresses *address) {
    for (int i = 0; d->doors.ros && i < scenario->satellites; i++) {
        const ff_robot_config *robot = &scenario->satellite[i].robot;
        const ff_sensor_config *sensor = &scenario->satellite[i].sensor;
        const struct {
            bool here;
            const char *address;
            unsigned domain;
        } one[] = {
            {address->body[i].robot->topics != NULL, robot->address, (unsigned)robot->device.domain},
            {address->body[i].sensor->topics != NULL, sensor->address, (unsigned)sensor->device.domain}};
        const char *colon = strrchr(d->doors.ros, ':');
        for (int n = 0; n < 2 && colon; n++) {
            const size_t length = (size_t)(colon - d->doors.ros);
            if (one[n].here && strtoul(colon + 1, NULL, 10) == one[n].domain &&
                (strlen(one[n].address) != length || strncmp(one[n].address, d->doors.ros, length) != 0)) {
                ff_cli_error(
                    "--ros: domain %u is on %s by the scenario's driver, and on %.*s here, allowed: the "
                    "same, or another domain",
                    one[n].domain, one[n].address, (int)length, d->doors.ros);
                return true;
            }
        }
    }
    return false;
}

static int close_loop(desk *d, const char *file, const ff_scenario_options *load, ff_session_options *options,
                      const ff_show_ask *ask) {
    int status;
    ff_session *session = ff_show_open(file, load, &status);
    if (!session)
        return status;
    ff_plan plan;
    char message[256] = "";
    ff_addresses address = {0};
    const bool arm = session->scenario.emulates;
    if (arm && ff_cli_door(&d->doors)) {
        ff_cli_error("%s: emulations have no live page yet; their report shows them", ff_cli_door(&d->doors));
        status = FF_EXIT_USAGE;
    } else if (arm && ff_rt_emulation_check(&session->scenario, &d->options.ports, &address.virtual, message,
                                            sizeof message) != FF_OK) {
        ff_cli_error("%s: %s", file, message);
        status = FF_EXIT_USAGE;
    }
    if (!arm && (ff_plan_create(&session->scenario, &plan, message, sizeof message) != FF_OK ||
                 ff_addresses_find(&session->scenario, &d->options.ports, &address, message,
                                   sizeof message) != FF_OK)) {
        ff_cli_error("%s: %s", file, message);
        status = FF_EXIT_USAGE;
    }
    if (status == FF_EXIT_DONE && ros_apart(d, &session->scenario, &address))
        status = FF_EXIT_USAGE;
    if (status == FF_EXIT_DONE && !address.virtual && (d->arm || !isatty(STDIN_FILENO))) {
        ff_cli_error("%s: a device is not virtual: the operator arms at the local console, after the check, "
                     "without --arm",
                     file);
        status = FF_EXIT_USAGE;
    }
    if (status == FF_EXIT_DONE && !address.virtual &&
        !ff_rt_may_move(&session->scenario, message, sizeof message)) {
        ff_cli_error("%s: %s", file, message);
        status = FF_EXIT_USAGE;
    }
    if (status == FF_EXIT_DONE) {
        if (address.virtual && !isatty(STDIN_FILENO))
            d->arm = true; /* nothing real can move */
        struct stat input;
        if (!d->quiet && fstat(STDIN_FILENO, &input) == 0 &&
            (S_ISFIFO(input.st_mode) || S_ISREG(input.st_mode)))
            ff_cli_warn_lines("warning: the standard input is not a terminal: no order is read from it; "
                              "--live takes orders, "
                              "SIGINT stops");
        take_signals();
        ff_run_inputs inputs = {0};
        ff_run_inputs_scenario(&inputs, session->path, &session->scenario);
        const ff_run_wanted wanted = {.out = ask->out,
                                      .name = session->scenario.name,
                                      .force = ask->force,
                                      .command = "rt",
                                      .method = session->label,
                                      .inputs = &inputs,
                                      .program = ff_cli_program()};
        ff_run_folder folder;
        status = ff_show_begin(&wanted, &folder);
        options->out = folder.path;
        session->devices = true;
        d->options.viewer = (ff_viewer){.self = d, .answer = tell_answer};
        const bool shown = ff_cli_door(&d->doors) != NULL;
        d->doors.description = ff_session_description(session);
        if (shown || isatty(STDIN_FILENO))
            d->options.viewer.next = next_order;
        if (status == FF_EXIT_DONE && shown)
            status = start_live(d, &session->scenario);
        if (arm)
            options->emulator = emulator;
        if (status == FF_EXIT_DONE)
            status = ff_show_execute(session, options, d->quiet);
        if (status == FF_EXIT_FAILED && address.virtual && !heard(d) && !stop)
            ff_cli_error(
                "no virtual device was heard: start it first, in another terminal: freefloat facility %s",
                file);
        if (d->live && session->summary && d->result.trip.code == FF_TRIP_FINISHED)
            ff_show_verdict_live(session, d->live);
        if (d->live && d->result.state != FF_STATE_FAULT)
            ff_live_set_phase(d->live,
                              d->result.trip.code == FF_TRIP_FINISHED ? FF_LIVE_ENDED : FF_LIVE_STOPPED);
        const bool fault = d->live && d->result.state == FF_STATE_FAULT;
        if (!fault)
            ff_live_stop(d->live);
        if (folder.lock >= 0) {
            session->whole = (!session->summary || write_last(d, &folder)) && session->whole;
            status = ff_show_result(session, &folder, ask, status, false, show_end, d);
        }
        if (fault && ff_live_get_info(d->live).viewers)
            stay(d, &folder);
        if (fault)
            ff_live_stop(d->live);
        d->live = NULL;
        ff_run_inputs_free(&inputs);
        free(d->result.last);
    }
    ff_session_close(session);
    return status;
}

int ff_cmd_rt(int argc, char **argv) {
    const char *file, *method = NULL, *rsi = NULL, *ati = NULL, *http = NULL, *wait = NULL, *silence = NULL,
                      *cpu = NULL;
    ff_live_doors doors = {0};
    int status;
    bool arm = false, selftest = false, commission = false, deep_idle = false, trust = false;
    ff_show_ask ask = {.log = "csv,mcap"};
    const ff_option options[] = {FF_OPT("--method", &method),
                                 FF_SHOW_OPTS(&ask),
                                 FF_OPT_FLAG("--arm", &arm),
                                 FF_OPT_FLAG("--selftest", &selftest),
                                 FF_OPT_FLAG("--commission", &commission),
                                 FF_OPT("--rsi-port", &rsi),
                                 FF_OPT("--ati-port", &ati),
                                 FF_OPT("--http-port", &http),
                                 FF_OPT("--wait", &wait),
                                 FF_OPT("--silence", &silence),
                                 FF_OPT("--cpu", &cpu),
                                 FF_CLI_DOORS(&doors),
                                 FF_OPT_FLAG("--idle", &deep_idle),
                                 FF_OPT_FLAG("--trust-method", &trust),
                                 {0}};
    if (ff_cli_parse(argc, argv, "rt", help, options, NULL, &file, &status))
        return status;
    if (selftest)
        return ff_cli_selftest(ask.json, deep_idle);
    if (commission)
        return ff_cli_commission(ask.out);
    if (!file)
        return ff_cli_missing("rt", "scenario");
    if (!ff_cli_doors("rt", &doors))
        return FF_EXIT_USAGE;
    static desk d; /* large: it holds the histograms */
    d = (desk){.arm = arm, .quiet = ask.quiet || ask.json, .doors = doors};
    double seconds = 0.0, silent = 0.0, which = -1.0;
    if (!number("--wait", wait, 0.1, 3600.0, &seconds) ||
        !number("--silence", silence, 0.01, 60.0, &silent) || !number("--cpu", cpu, 0.0, 1023.0, &which) ||
        ff_cli_ports(rsi, ati, http, &d.options.ports) != 0)
        return FF_EXIT_USAGE;
    d.options.wait = seconds;
    d.options.silence = silent;
    d.options.priority = 80;
    d.options.cpu = (int)which;
    d.options.deep_idle = deep_idle;
    d.options.stop = &stop;
    d.options.permit = permit;
    d.options.confirm = confirm;
    d.options.note = note;
    d.options.user = &d;
    ff_session_options session_options = {.runner = runner, .runner_self = &d, .extend = add_devices};
    if (ff_show_logs(ask.log, &session_options) != 0)
        return FF_EXIT_USAGE;
    const ff_scenario_options load = {
        .set = ask.set,
        .sets = ask.sets,
        .method = method,
        .catalog = trust ? &ff_catalog_libraries : &ff_catalog_guarded}; /* it runs in the real-time thread */
    return close_loop(&d, file, &load, &session_options, &ask);
}
