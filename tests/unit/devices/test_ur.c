/* A Universal Robots controller over RTDE as a device: what is refused before anything moves, what a telegram
 * says of the last answer, the program, and the virtual controller's side. */
#include "devices/device.h"
#include "devices/rtde/controller.h"

#include "support.h"

#include <stdlib.h>

enum { RUN = 4711 };

typedef struct cell {
    void *state;
    ff_ur_link link;
    ff_ur_registers registers;
    ff_ur_report report;
    char message[300], program[FF_DEVICE_TEXT_MAX];
    uint8_t out[FF_DEVICE_SEND_MAX], in[FF_DEVICE_READ_MAX];
    size_t used, size;
    ff_device_sample sample;
} cell;

static void begin(cell *c, double cycle) {
    const ff_device_settings settings = {.cycle = cycle,
                                         .tool = {{0, 1, 0, 0}, {{0.1, 0, 0.25}}},
                                         .lookahead = 0.03,
                                         .gain = 2000,
                                         .run = RUN};
    *c = (cell){.state = calloc(1, ff_device_rtde.bytes)};
    assert_non_null(c->state);
    ff_device_rtde.open(c->state, &settings);
    c->report = (ff_ur_report){.timestamp = 10.0, .status = 1, .safety = 1, .scaling = 1, .runtime = 1};
}

static ff_status say(cell *c, bool first) {
    return ff_device_rtde.greet(c->state, first ? NULL : c->in, c->size, c->out, sizeof c->out, &c->used,
                                c->message, sizeof c->message);
}

/* Until the program is asked for: the controller's replies as it makes them. */
static ff_status greet(cell *c, bool taken) {
    ff_status status = say(c, true);
    while (status == FF_INFO_HELD) {
        assert_true(c->used > 0);
        ff_ur_link_receive(&c->link, c->out, c->used, taken, &c->registers, c->in, sizeof c->in, &c->size);
        assert_true(c->size > 0);
        status = say(c, false);
    }
    return status;
}

static ff_status tell(cell *c) {
    assert_int_equal(ff_ur_link_send(&c->link, &c->report, c->in, sizeof c->in, &c->size), FF_OK);
    return say(c, false);
}

/* Greeted, the program runs. */
static void meet(cell *c) {
    begin(c, 0.002);
    assert_int_equal(greet(c, false), FF_INFO_LIMITED);
    assert_int_equal(
        ff_ur_link_receive(&c->link, c->out, c->used, false, &c->registers, c->in, sizeof c->in, &c->size),
        FF_INFO_GAP);
    const size_t length = ff_device_rtde.program(c->state, c->program, sizeof c->program);
    c->report.integer[1] = (double)ff_ur_program_run(c->program, length);
    c->report.status = 3;
    c->report.runtime = FF_UR_PLAYING;
    assert_int_equal(tell(c), FF_OK);
}

static ff_status telegram(cell *c, double after) {
    c->report.timestamp += after;
    assert_int_equal(ff_ur_link_send(&c->link, &c->report, c->in, sizeof c->in, &c->size), FF_OK);
    return ff_device_rtde.sample(c->state, 0.0, c->in, c->size, &c->sample);
}

static ff_status answer(cell *c, const ff_robot_order *order) {
    const ff_status status = ff_device_rtde.answer(c->state, 0.0, order, c->out, sizeof c->out, &c->used);
    if (c->used)
        ff_ur_link_receive(&c->link, c->out, c->used, false, &c->registers, c->in, sizeof c->in, &c->size);
    return status;
}

static void test_meets_and_holds(void **unused) {
    (void)unused;
    cell c;
    meet(&c);
    assert_int_equal(c.registers.mode, FF_UR_HOLD);
    assert_int_equal(c.registers.run, RUN);
    assert_near(c.link.frequency, 500, 1e-9);
    for (int a = 0; a < 6; a++)
        c.report.q[a] = 0.1 * a - 0.3;
    c.report.pose[0] = 0.5;
    c.report.pose[3] = FF_PI / 2;
    assert_int_equal(telegram(&c, 0.002), FF_OK);
    assert_near(c.sample.robot.joints.a[5], 0.2, 0);
    assert_near(ff_quat_angle(c.sample.robot.pose.q, ff_quat_exp(ff_vec3_make(FF_PI / 2, 0, 0))), 0, 1e-15);
    assert_false(c.sample.robot.taken); /* nothing was sent before it */
    assert_true(isnan(c.sample.robot.arrives));
    /* never moved: holds, and says which telegram it answers */
    assert_int_equal(answer(&c, &(ff_robot_order){.state = 5}), FF_OK);
    assert_int_equal(c.registers.mode, FF_UR_HOLD);
    assert_int_equal(c.registers.state, 5);
    assert_near(c.registers.answers, c.report.timestamp, 0);
    assert_near(c.registers.q[0], -0.3, 0);
    /* moved, then held at the last target, then ended */
    assert_int_equal(telegram(&c, 0.002), FF_OK);
    ff_robot_order order = {.moves = true, .joints = {.a = {1, 2, 3, 4, 5, 6}}, .text = "push"};
    assert_int_equal(answer(&c, &order), FF_OK);
    assert_int_equal(c.registers.mode, FF_UR_SERVO);
    assert_near(c.registers.q[5], 6, 0);
    assert_near(c.registers.text, ff_ur_text_number("push"), 0);
    assert_int_equal(telegram(&c, 0.002), FF_OK);
    assert_int_equal(answer(&c, &(ff_robot_order){.stop = true}), FF_OK);
    assert_int_equal(c.registers.mode, FF_UR_END);
    assert_near(c.registers.q[5], 6, 0);
    assert_int_equal(c.registers.count, 3);
    free(c.state);
}

/* The program at the other end: its orders come to it `depth` cycles later. */
typedef struct far {
    ff_ur_program program;
    ff_ur_registers way[64], at; /* by order; in its registers */
    double hold[6];              /* what it executes */
    int came;                    /* orders that have come to it */
} far;

/* One step of the program with the orders up to this one; what it says is in the next telegram. */
static bool executes(cell *c, far *f, int up_to) {
    for (; f->came < up_to; f->came++)
        f->at = f->way[(f->came + 1) % 64];
    const bool fits = ff_ur_program_step(&f->program, &f->at);
    if (fits)
        memcpy(f->hold, f->at.q, sizeof f->hold);
    c->report.integer[0] = f->program.taken;
    c->report.integer[2] = f->program.stood;
    return fits;
}

/* A telegram and its answer: joint 1 goes on by 1 from where the device says that the robot is, from rest
 * by 0.5. */
static void goes_on(cell *c, far *f, double *at, bool *moves) {
    assert_int_equal(telegram(c, 0.002), FF_OK);
    ff_robot_order order = {.moves = true};
    if (c->sample.robot.back) {
        ff_robot_order is = {0};
        ff_device_rtde.sent(c->state, &is);
        *at = is.joints.a[0];
        *moves = false;
    }
    *at += *moves ? 1.0 : 0.5;
    *moves = true;
    order.joints.a[0] = *at;
    assert_int_equal(answer(c, &order), FF_OK);
    f->way[(int)c->registers.count % 64] = c->registers;
}

/* Whatever happens to orders on their way, from none to three cycles long: each step that is executed was
 * made for the one before it, a step after one without an order begins at rest. */
static void test_executes_a_chain(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    for (int n = 0; n < 200; n++) {
        cell c;
        far f = {.program = ff_ur_program_begin()};
        meet(&c);
        int depth = (int)(4.0 * ff_rng_uniform(&rng)), stall = 0, steps = 0, late = 0;
        double at = 0.0, last = 0.0;
        bool moves = false, stood = true;
        for (int k = 0; k < 400; k++) {
            goes_on(&c, &f, &at, &moves);
            late += c.sample.robot.late > 0;
            assert_false(c.sample.robot.restarted);
            if (k > 20 && k < 300 && !stall && ff_rng_uniform(&rng) < 0.05)
                stall =
                    1 + (int)(10.0 * ff_rng_uniform(&rng)); /* nothing comes for so long, then all at once */
            if (k == 300)
                stall = 0;
            if (k > 20 && k < 300 && ff_rng_uniform(&rng) < 0.02)
                depth = (int)(4.0 * ff_rng_uniform(&rng));
            stall -= stall > 0;
            const bool took = executes(&c, &f, stall ? f.came : (int)c.registers.count - depth);
            const double step = f.hold[0] - last;
            last = f.hold[0];
            if (!took)
                assert_near(step, 0.0, 0.0);
            else
                assert_near(step, stood ? 0.5 : 1.0, 0.0);
            steps += took;
            stood = !took;
        }
        assert_true(!stood && steps > 100); /* and it goes on */
        assert_true(late < 400 - 100);
        free(c.state);
    }
}

/* Orders that never come to the program are late in every cycle, once they are overdue. */
static void test_overdue(void **unused) {
    (void)unused;
    cell c;
    far f = {.program = ff_ur_program_begin()};
    double at = 0.0;
    bool moves = false;
    meet(&c);
    for (int k = 0; k < 20; k++) {
        goes_on(&c, &f, &at, &moves);
        assert_int_equal(c.sample.robot.taken, k > 0);
        assert_int_equal(c.sample.robot.late, 0);
        executes(&c, &f, (int)c.registers.count);
    }
    for (int k = 0; k < 12; k++) { /* seen at once; three cycles for the first order of a new chain */
        executes(&c, &f, f.came);
        goes_on(&c, &f, &at, &moves);
        assert_int_equal(c.sample.robot.late, k == 0 || k > 3);
        assert_int_equal(c.sample.robot.back, k == 0 || k > 3);
        assert_int_equal(c.sample.robot.stood, !c.sample.robot.taken);
    }
    executes(&c, &f, (int)c.registers.count); /* the newest of them is taken */
    goes_on(&c, &f, &at, &moves);
    assert_true(c.sample.robot.taken);
    assert_near(f.hold[0], 20.0, 0.0);
    free(c.state);
}

static void test_what_became_of_the_answer(void **unused) {
    (void)unused;
    cell c;
    far f = {.program = ff_ur_program_begin()};
    double at = 0.0;
    bool moves = false;
    meet(&c);
    for (int k = 0; k < 5; k++) {
        goes_on(&c, &f, &at, &moves);
        executes(&c, &f, (int)c.registers.count);
    }
    /* two telegrams are missing: their answers, too */
    executes(&c, &f, f.came);
    executes(&c, &f, f.came);
    assert_int_equal(telegram(&c, 0.006), FF_INFO_GAP);
    assert_int_equal(c.sample.robot.lost, 2);
    assert_int_equal(c.sample.robot.late, 3);
    assert_true(c.sample.robot.back);
    /* one that was not answered: what is sent next begins at rest */
    assert_int_equal(telegram(&c, 0.002), FF_OK);
    assert_true(c.sample.robot.back && !c.sample.robot.taken);
    ff_robot_order order = {.moves = true, .joints.a = {at}};
    answer(&c, &order);
    assert_near(c.registers.base, 5.0, 0.0);
    assert_near(c.registers.rest, 1.0, 0.0);
    /* the program began again, or another one did, or it took what was never sent: nothing is trusted */
    static const double said[][2] = {{0, RUN}, {5, RUN + 1}, {7, RUN}};
    for (int n = 0; n < 3; n++) {
        c.report.integer[0] = said[n][0];
        c.report.integer[1] = said[n][1];
        telegram(&c, 0.002);
        assert_true(c.sample.robot.restarted && !c.sample.robot.taken && !c.sample.robot.back);
        free(c.state);
        f = (far){.program = ff_ur_program_begin()};
        at = 0.0;
        moves = false;
        meet(&c);
        for (int k = 0; k < 6; k++) {
            goes_on(&c, &f, &at, &moves);
            executes(&c, &f, (int)c.registers.count);
        }
    }
    assert_int_equal(telegram(&c, -9.0), FF_ERR_DEVICE); /* the controller was started again */
    free(c.state);
}

static void test_status_bits(void **unused) {
    (void)unused;
    static const struct {
        double status, safety, scaling;
        unsigned drives, emergency, override, program, protective;
    } cases[] = {{3, 1, 1, 1, 0, 100, 1, 0},       {1, 1, 1, 1, 0, 100, 0, 0},
                 {3, 1 << 2, 1, 1, 0, 100, 1, 1},  {3, 1 << 4, 0.5, 1, 0, 50, 1, 1},
                 {2, 1 << 7, 1, 0, 1, 100, 1, 0},  {3, 1 << 5, 0, 1, 1, 0, 1, 0},
                 {3, 1 << 10, 1, 1, 0, 100, 1, 1}, {3, 1 << 9 | 1 << 6, 1, 1, 1, 100, 1, 1}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        cell c;
        meet(&c);
        c.report.status = cases[n].status;
        c.report.safety = cases[n].safety;
        c.report.scaling = cases[n].scaling;
        assert_int_equal(telegram(&c, 0.002), FF_OK);
        const ff_robot_report *r = &c.sample.robot;
        assert_false(r->signals >> FF_SIGNAL_MODE & 1u);
        assert_int_equal(r->signal[FF_SIGNAL_DRIVES], cases[n].drives);
        assert_int_equal(r->signal[FF_SIGNAL_EMERGENCY], cases[n].emergency);
        assert_int_equal(r->signal[FF_SIGNAL_OVERRIDE], cases[n].override);
        assert_int_equal(r->signal[FF_SIGNAL_PROGRAM], cases[n].program);
        assert_int_equal(r->signal[FF_SIGNAL_PROTECTIVE], cases[n].protective);
        free(c.state);
    }
}

static void expect(cell *c, ff_status got, const char *said) {
    assert_int_equal(got, FF_ERR_DEVICE);
    if (!strstr(c->message, said))
        fail_msg("'%s' lacks '%s'", c->message, said);
    free(c->state);
}

static void test_refused_before_anything_moves(void **unused) {
    (void)unused;
    cell c;
    begin(&c, 0.002); /* an old controller */
    say(&c, true);
    memcpy(c.in, (uint8_t[]){0, 4, 'V', 0}, c.size = 4);
    expect(&c, say(&c, false), "RTDE protocol version 2 is refused");
    begin(&c, 0.001);
    expect(&c, greet(&c, false), "time.cycle is too short, allowed: 0.002 s");
    begin(&c, 0.002); /* somebody else writes the registers */
    expect(&c, greet(&c, true), "input_int_register_24 is not there, of another type, or another client");
    begin(&c, 0.002); /* a field is not there */
    say(&c, true);
    memcpy(c.in, (uint8_t[]){0, 4, 'V', 1}, c.size = 4);
    say(&c, false);
    const char missing[] = "\0\0O\1DOUBLE,NOT_FOUND";
    memcpy(c.in, missing, c.size = sizeof missing - 1);
    c.in[1] = (uint8_t)c.size;
    expect(&c, say(&c, false), "RTDE field actual_q is not there");
    begin(&c, 0.002); /* it is of another type */
    say(&c, true);
    memcpy(c.in, (uint8_t[]){0, 4, 'V', 1}, c.size = 4);
    say(&c, false);
    const char other[] =
        "\0\0O\1DOUBLE,VECTOR6INT32,VECTOR6D,UINT32,UINT32,UINT32,DOUBLE,INT32,INT32,INT32,DOUBLE,"
        "DOUBLE,DOUBLE,DOUBLE,DOUBLE";
    memcpy(c.in, other, c.size = sizeof other - 1);
    c.in[1] = (uint8_t)c.size;
    expect(&c, say(&c, false), "RTDE field actual_q");
    begin(&c, 0.002); /* it says why */
    greet(&c, false);
    memcpy(c.in, "\0\x0fM\x05wrong\4here\0", c.size = 15);
    expect(&c, say(&c, false), "the robot's controller says: wrong");
    begin(&c, 0.002); /* bytes that are none */
    say(&c, true);
    memcpy(c.in, "HTTP/1.1 400", c.size = 12);
    expect(&c, say(&c, false), "its answer is not RTDE");
}

/* The program was sent, and does not run: it is waited for, and said what for. */
static void test_names_what_keeps_the_program(void **unused) {
    (void)unused;
    static const struct {
        double status, safety;
        const char *said;
    } cases[] = {{1, 1, "is it in local control? Set it to remote control"},
                 {0, 1, "the arm is not powered on"},
                 {1, 4, "a protective stop is on"},
                 {1, 1 << 6, "an emergency stop is on"},
                 {1, 1 << 4, "its safety system has stopped it"}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        cell c;
        begin(&c, 0.002);
        assert_int_equal(greet(&c, false), FF_INFO_LIMITED);
        c.report.status = cases[n].status;
        c.report.safety = cases[n].safety;
        assert_int_equal(tell(&c), FF_INFO_HELD);
        if (!strstr(c.message, cases[n].said))
            fail_msg("'%s' lacks '%s'", c.message, cases[n].said);
        /* another program runs: not ours */
        c.report.status = 3;
        c.report.integer[1] = RUN - 1;
        assert_int_equal(tell(&c), FF_INFO_HELD);
        free(c.state);
    }
}

static void test_program(void **unused) {
    (void)unused;
    cell c;
    meet(&c);
    assert_non_null(
        strstr(c.program, "set_tcp(p[0.100000000, 0.000000000, 0.250000000, 3.141592654, 0.0000"));
    assert_non_null(strstr(c.program, "rtde_set_watchdog(\"input_int_register_24\", 10, \"stop\")"));
    assert_non_null(strstr(c.program, "servoj(hold, t=0.002000, lookahead_time=0.030000, gain=2000)"));
    assert_non_null(strstr(c.program, "if read_input_integer_register(26) != 4711:"));
    assert_non_null(strstr(c.program, "fits = count > taken and read_input_integer_register(29) == taken\n"));
    assert_null(strstr(c.program, "nan"));
    int open = 0; /* every block ends */
    for (char *line = strtok(c.program, "\n"); line; line = strtok(NULL, "\n")) {
        open += line[strlen(line) - 1] == ':';
        open -= strcmp(line + strspn(line, " "), "end") == 0;
    }
    assert_int_equal(open, 0);
    char small[100];
    assert_int_equal(ff_device_rtde.program(c.state, small, sizeof small), 0);
    assert_int_equal(ff_ur_program_run("def freefloat():\n", 17), -1);
    assert_int_equal(ff_ur_program_run("", 0), -1);
    free(c.state);
}

/* Anything to the virtual controller: it hangs up, and nothing else. */
static void test_controller_bears_anything(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    cell c;
    meet(&c);
    for (int n = 0; n < 20000; n++) {
        ff_ur_link link = c.link;
        ff_ur_registers registers = {0};
        uint8_t bytes[300], reply[2048];
        size_t used, size = 3 + (size_t)(ff_rng_uniform(&rng) * 200.0);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)(ff_rng_uniform(&rng) * 256.0);
        bytes[0] = 0;
        bytes[1] = (uint8_t)size;
        bytes[2] = (uint8_t) "VvOISPUM?"[n % 9];
        const ff_status status =
            ff_ur_link_receive(&link, bytes, size, n % 2, &registers, reply, sizeof reply, &used);
        assert_true(used <= sizeof reply);
        assert_true(status >= 0 || used == 0);
    }
    free(c.state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meets_and_holds),
        cmocka_unit_test(test_what_became_of_the_answer),
        cmocka_unit_test(test_executes_a_chain),
        cmocka_unit_test(test_overdue),
        cmocka_unit_test(test_status_bits),
        cmocka_unit_test(test_refused_before_anything_moves),
        cmocka_unit_test(test_names_what_keeps_the_program),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_controller_bears_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
