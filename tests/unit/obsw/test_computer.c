/* The servicer's computer: what acts when the software is late, silent, wrong or dead; one path for all
 * kinds. The link is a fake one in memory: no socket, no clock; the one over UDP is tested alone. */
#include "net/socket.h"
#include "obsw/computer.h"
#include "obsw/udp.h"
#include "servicer_model.h"
#include "support.h"
#include "text/clock.h"

#include <arpa/inet.h>
#include <unistd.h>

#define CYCLE 0.004
enum { N = SERVICER_JOINTS, QUEUE = 64 };

typedef struct fake {
    uint8_t packet[QUEUE][FF_OBSW_PACKET_MAX + 64];
    long size[QUEUE]; /* or FF_OBSW_STRANGER, FF_OBSW_TOO_LONG */
    int first, waiting;
    ff_obsw_wire wire;
    uint64_t sent;
    ff_obsw_frame frame; /* of the last sensors */
    ff_obsw_in in;
    /* what the peer does with sensors; may queue any packets */
    void (*peer)(struct fake *f);
    double force;
    int mode;
} fake;

static fake the; /* one session at a time */

static void queue(const void *bytes, long size) {
    assert_true(the.waiting < QUEUE);
    const int at = (the.first + the.waiting++) % QUEUE;
    the.size[at] = size;
    if (size > 0)
        memcpy(the.packet[at], bytes, (size_t)size);
}

static void command(uint64_t sequence, uint16_t count, double force, uint8_t *bytes, size_t *used) {
    ff_obsw_frame f = the.frame;
    ff_obsw_out out = {.storage = FF_NAN, .dissipation = FF_NAN};
    f.sequence = sequence;
    f.count = count;
    out.force[0] = force;
    out.joint_torque[1] = 0.1 * force;
    assert_int_equal(ff_obsw_command_encode(&the.wire, &f, &out, bytes, 512, used), FF_OK);
}

static void answer(uint64_t sequence, uint16_t count, double force) {
    uint8_t bytes[512];
    size_t used;
    command(sequence, count, force, bytes, &used);
    queue(bytes, (long)used);
}

static bool fake_send(void *self, const void *bytes, size_t size) {
    fake *f = self;
    assert_int_equal(ff_obsw_sensors_decode(&f->wire, bytes, size, &f->frame, &f->in), FF_OBSW_TAKEN);
    f->sent++;
    if (f->peer)
        f->peer(f);
    return true;
}

static long fake_receive(void *self, void *buffer, size_t size, double wait) {
    fake *f = self;
    (void)wait;
    if (f->waiting == 0)
        return FF_OBSW_NOTHING;
    const int at = f->first;
    f->first = (f->first + 1) % QUEUE;
    f->waiting--;
    if (f->size[at] > (long)size)
        return FF_OBSW_TOO_LONG;
    if (f->size[at] > 0)
        memcpy(buffer, f->packet[at], (size_t)f->size[at]);
    return f->size[at];
}

static double fake_pace(void *self, double t) {
    (void)self;
    (void)t;
    return 0;
}

static void fake_close(void *self) {
    (void)self;
}

static ff_status fake_open(const ff_obsw_udp_config *config, ff_obsw_link *link, char *message, size_t size) {
    if (size)
        message[0] = 0;
    the.wire = config->wire;
    *link = (ff_obsw_link){&the, 42, fake_send, fake_receive, fake_pace, fake_close};
    return FF_OK;
}

typedef struct rig {
    servicer_model model;
    ff_tree_model *tree;
    ff_tree_work *work;
    void *memory[2];
    ff_computer computer;
    ff_obsw_out out;
    ff_obsw_action action;
    char message[300];
    int k;
} rig;

static ff_status start(rig *r, const ff_computer_config *config) {
    *r = (rig){0};
    servicer_model_make(&r->model);
    const size_t size = ff_tree_memsize(&r->model.config);
    r->memory[0] = malloc(size);
    assert_int_equal(
        ff_tree_create(&r->model.config, r->memory[0], size, &r->tree, r->message, sizeof r->message), FF_OK);
    r->memory[1] = malloc(ff_tree_work_memsize(r->tree));
    assert_int_equal(ff_tree_work_create(r->tree, r->memory[1], ff_tree_work_memsize(r->tree), &r->work),
                     FF_OK);
    ff_computer_config c = *config;
    c.builtin.tree = r->tree;
    c.builtin.work = r->work;
    c.cycle = CYCLE;
    return ff_computer_open(&c, &r->computer, r->message, sizeof r->message);
}

static ff_status step(rig *r) {
    const ff_rigid_state client = {.attitude = {1, 0, 0, 0}},
                         base = {.position = {{-5.2, 0, 0}}, .attitude = {1, 0, 0, 0}};
    const double q[N] = {0}, qd[N] = {0};
    return ff_computer_step(&r->computer, r->k++ * CYCLE, &client, &base, q, qd, &r->out, &r->action,
                            r->message, sizeof r->message);
}

static void stop(rig *r) {
    ff_computer_close(&r->computer);
    free(r->memory[0]);
    free(r->memory[1]);
}

static void udp(ff_computer_config *c, void (*peer)(fake *)) {
    ff_computer_default(c);
    c->kind = FF_OBSW_UDP;
    c->opener = fake_open;
    c->udp.timeout = 0.001;
    c->udp.connect = 0.05;
    the = (fake){.peer = peer};
}

static void good_peer(fake *f) {
    answer(f->in.sequence, (uint16_t)f->in.sequence, f->force);
}

static void test_lock_step_takes_the_answer_to_its_sensors(void **state) {
    (void)state;
    for (int pus = 0; pus < 2; pus++) {
        ff_computer_config c;
        rig r;
        udp(&c, good_peer);
        c.udp.wire.pus = pus;
        assert_int_equal(start(&r, &c), FF_OK);
        for (int k = 0; k < 100; k++) {
            the.force = k;
            assert_int_equal(step(&r), FF_OK);
            assert_near(r.out.force[0], k, 0);
            assert_near(r.out.joint_torque[1], 0.1 * k, 0);
            assert_int_equal(r.action, FF_OBSW_FRESH);
            assert_true(the.frame.sequence == (uint64_t)k && the.frame.lockstep);
            assert_near(the.frame.t, k * CYCLE, 0);
        }
        assert_int_equal(r.computer.info.missed, 0);
        assert_int_equal(r.computer.info.exchange.taken, 100);
        stop(&r);
    }
}

/* Each kind of bad packet, once in place of the answer: refused and counted for its reason, the last good
 * actuation acts, and the next good answer is taken. */
static void bad_peer(fake *f) {
    uint8_t b[512];
    size_t n;
    if (f->mode < 0) {
        good_peer(f);
        return;
    }
    command(f->in.sequence, 7, 1e6, b, &n); /* what must never act */
    switch (f->mode) {
    case FF_OBSW_SHORT:
        queue(b, (long)n - 1);
        break;
    case FF_OBSW_LONG:
        b[n] = 0;
        queue(b, (long)n + 1);
        break;
    case FF_OBSW_CHECKSUM:
        b[40] ^= 1;
        queue(b, (long)n);
        break;
    case FF_OBSW_FOREIGN:
        f->wire.apid_command = 5;
        command(f->in.sequence, 7, 1e6, b, &n);
        f->wire.apid_command = FF_OBSW_APID_COMMAND;
        queue(b, (long)n);
        break;
    case FF_OBSW_VERSIONS:
        f->frame.joints--;
        command(f->in.sequence, 7, 1e6, b, &n);
        f->frame.joints++;
        queue(b, (long)n);
        break;
    case FF_OBSW_OLD:
        answer(f->frame.lockstep ? f->in.sequence - 1 : 1, 7, 1e6);
        break;
    case FF_OBSW_AHEAD:
        answer(f->in.sequence + 1, 7, 1e6);
        break;
    default:
        answer(f->in.sequence, 7, FF_NAN);
    }
}

static void test_each_bad_packet_is_refused_and_counted(void **state) {
    (void)state;
    for (int free = 0; free < 2; free++)
        for (int kind = 0; kind < FF_OBSW_REFUSALS; kind++) {
            ff_computer_config c;
            rig r;
            udp(&c, bad_peer);
            c.udp.free = free;
            assert_int_equal(start(&r, &c), FF_OK);
            the.mode = -1;
            the.force = 3;
            for (int k = 0; k < 5; k++)
                assert_int_equal(step(&r), FF_OK);
            the.mode = kind;
            for (int k = 0; k < 3; k++) {
                assert_int_equal(step(&r), FF_OK);
                assert_near(r.out.force[0], 3, 0);
                assert_int_equal(r.action, FF_OBSW_HELD);
            }
            the.mode = -1;
            the.force = 4;
            assert_int_equal(step(&r), FF_OK);
            assert_near(r.out.force[0], 4, 0);
            const ff_obsw_exchange_info *x = &r.computer.info.exchange;
            for (int i = 0; i < FF_OBSW_REFUSALS; i++)
                assert_int_equal(x->refused[i], i == kind ? 3 : 0);
            stop(&r);
        }
}

static void stranger_peer(fake *f) {
    if (f->in.sequence >= 2) {
        queue(NULL, FF_OBSW_STRANGER);
        queue(NULL, FF_OBSW_TOO_LONG);
        f->frame.session++;
        answer(f->in.sequence, 1, 1e6);
        f->frame.session--;
    }
    good_peer(f);
}

/* Another sender, another session, a datagram beyond the buffer; the good answer behind them is still found.
 */
static void test_strangers_are_passed_over(void **state) {
    (void)state;
    ff_computer_config c;
    rig r;
    udp(&c, stranger_peer);
    the.force = 2;
    assert_int_equal(start(&r, &c), FF_OK);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(step(&r), FF_OK);
        assert_near(r.out.force[0], 2, 0);
        assert_int_equal(r.action, FF_OBSW_FRESH);
    }
    assert_int_equal(r.computer.info.exchange.refused[FF_OBSW_FOREIGN], 4);
    assert_int_equal(r.computer.info.exchange.refused[FF_OBSW_LONG], 2);
    stop(&r);
}

/* Free running: of several the newest acts, by its sensors and then by its own count, also when that wraps.
 */
static void test_free_running_takes_the_newest(void **state) {
    (void)state;
    ff_computer_config c;
    rig r;
    udp(&c, good_peer);
    c.udp.free = true;
    assert_int_equal(start(&r, &c), FF_OK);
    assert_int_equal(step(&r), FF_OK); /* the first answer is waited for */
    the.peer = NULL;
    answer(1, 0x3ffe, 10);
    answer(1, 0x3fff, 11);
    answer(1, 0x0000, 12); /* wrapped: newer */
    answer(1, 0x3ffd, 13); /* older */
    answer(0, 0x0001, 14); /* older sensors */
    assert_int_equal(step(&r), FF_OK);
    assert_near(r.out.force[0], 12, 0);
    assert_int_equal(r.computer.info.exchange.refused[FF_OBSW_OLD], 2);
    assert_int_equal(step(&r), FF_OK); /* nothing new: it acts on */
    assert_near(r.out.force[0], 12, 0);
    assert_int_equal(r.action, FF_OBSW_HELD);
    answer(2, 0x0002, 15); /* late by a cycle: still newer than what acts */
    assert_int_equal(step(&r), FF_OK);
    assert_near(r.out.force[0], 15, 0);
    assert_int_equal(r.action, FF_OBSW_FRESH);
    stop(&r);
}

/* A peer that dies: its last answer acts for `hold`, then nothing does; it is not waited for for ever; when
 * it speaks again it acts again. */
static void test_peer_that_dies_and_comes_back(void **state) {
    (void)state;
    for (int free = 0; free < 2; free++) {
        ff_computer_config c;
        rig r;
        udp(&c, good_peer);
        c.udp.free = free;
        c.hold = 0.02; /* five cycles */
        the.force = 8;
        assert_int_equal(start(&r, &c), FF_OK);
        for (int k = 0; k < 10; k++)
            step(&r);
        the.peer = NULL;
        the.waiting = 0;
        for (int k = 0; k < 20; k++) {
            assert_int_equal(step(&r), FF_OK);
            assert_int_equal(r.action, k < 5 ? FF_OBSW_HELD : FF_OBSW_ZERO);
            assert_near(r.out.force[0], k < 5 ? 8 : 0, 0);
            assert_near(r.out.joint_torque[1], k < 5 ? 0.8 : 0, 0);
        }
        assert_int_equal(r.computer.info.missed, 20);
        assert_int_equal(r.computer.info.held, 5);
        assert_int_equal(r.computer.info.zeroed, 15);
        assert_near(r.computer.info.longest_silence, 20 * CYCLE, 1e-12);
        if (!free)
            assert_true(r.computer.exchange.gone);
        the.peer = good_peer;
        for (int k = 0; k < 2; k++)
            assert_int_equal(step(&r), FF_OK);
        assert_near(r.out.force[0], 8, 0);
        assert_int_equal(r.action, FF_OBSW_FRESH);
        assert_false(r.computer.exchange.gone);
        stop(&r);
    }
}

static void test_no_first_answer_is_an_error(void **state) {
    (void)state;
    ff_computer_config c;
    rig r;
    udp(&c, NULL);
    assert_int_equal(start(&r, &c), FF_OK);
    assert_int_equal(step(&r), FF_ERR_DEVICE);
    assert_non_null(strstr(r.message, "127.0.0.1 port 1234"));
    stop(&r);
    c.opener = NULL; /* where there is no network */
    assert_int_equal(start(&r, &c), FF_ERR_UNSUPPORTED);
    stop(&r);
}

/* What is not an address or has no port is refused with both; what became of a library in words. */
static void test_addresses_and_ends_are_said(void **state) {
    (void)state;
    static const struct {
        const char *address, *local;
        unsigned port;
    } bad[] = {{"localhost", "127.0.0.1", 1234}, {"127.0.0.1", "here", 1234}, {"127.0.0.1", "127.0.0.1", 0}};
    ff_computer_config c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ff_obsw_link link;
        char text[256] = "", expected[256];
        udp(&c, NULL);
        snprintf(c.udp.address, sizeof c.udp.address, "%s", bad[i].address);
        snprintf(c.udp.local_address, sizeof c.udp.local_address, "%s", bad[i].local);
        c.udp.port = bad[i].port;
        assert_int_equal(ff_obsw_udp_open(&c.udp, &link, text, sizeof text), FF_ERR_DEVICE);
        snprintf(expected, sizeof expected, "%s port %u and %s port %u are not two IPv4 addresses with ports",
                 bad[i].address, bad[i].port, bad[i].local, c.udp.local_port);
        assert_string_equal(text, expected);
    }
    char text[256] = "";
    assert_false(ff_obsw_shared_text(&(ff_obsw_shared_info){0}, 1.0, text, sizeof text));
    assert_string_equal(text, "");
    assert_true(ff_obsw_shared_text(&(ff_obsw_shared_info){.died = true, .died_signal = 11, .died_at = 0.5},
                                    1.0, text, sizeof text));
    assert_memory_equal(text, "the on-board software crashed in its step at 0.500 s: ", 54);
    assert_true(
        ff_obsw_shared_text(&(ff_obsw_shared_info){.died = true, .died_at = 0.5}, 1.0, text, sizeof text));
    assert_string_equal(text, "the on-board software ended its process in its step at 0.500 s");
    assert_true(
        ff_obsw_shared_text(&(ff_obsw_shared_info){.stuck = 1, .stuck_at = 0.25}, 1.5, text, sizeof text));
    assert_string_equal(text, "the on-board software did not return from its step at 0.250 s within 1.5 s");
    assert_string_equal(ff_obsw_kind_name(FF_OBSW_SHARED), "shared");
}

/* The link itself, with sockets of this test as the on-board software, as a stranger and as who has the port.
 */
static void test_link_over_udp(void **state) {
    (void)state;
    ff_computer_config c;
    ff_obsw_link link, second;
    struct sockaddr_in peer, stranger, here;
    int fd, other;
    int64_t stamp;
    char text[256] = "", bytes[16] = "";
    udp(&c, NULL);
    ff_socket_address("127.0.0.1", 0, &peer);
    ff_socket_address("127.0.0.2", 0, &stranger);
    assert_int_equal(ff_socket_open(&peer, &fd, &peer, text, sizeof text), FF_OK);
    assert_int_equal(ff_socket_open(&stranger, &other, NULL, text, sizeof text), FF_OK);
    c.udp.port = ntohs(peer.sin_port);
    c.udp.local_port = 0; /* any */
    assert_int_equal(ff_obsw_udp_open(&c.udp, &link, text, sizeof text), FF_OK);
    assert_int_equal(link.receive(link.self, bytes, sizeof bytes, 0.0), FF_OBSW_NOTHING);
    assert_true(link.send(link.self, "sensors", 7));
    assert_true(ff_socket_wait(fd, 1000000000));
    assert_int_equal(ff_socket_receive(fd, bytes, sizeof bytes, &here, &stamp), 7);
    assert_memory_equal(bytes, "sensors", 7);
    assert_true(ff_socket_send(fd, "command", 7, &here));
    assert_int_equal(link.receive(link.self, bytes, sizeof bytes, 1.0), 7);
    assert_memory_equal(bytes, "command", 7);
    assert_true(ff_socket_send(fd, "longer than the buffer", 22, &here));
    assert_int_equal(link.receive(link.self, bytes, sizeof bytes, 1.0), FF_OBSW_TOO_LONG);
    assert_true(ff_socket_send(other, "command", 7, &here));
    assert_int_equal(link.receive(link.self, bytes, sizeof bytes, 1.0), FF_OBSW_STRANGER);
    /* its port is taken, and no two sessions have the same number */
    c.udp.local_port = ntohs(here.sin_port);
    assert_int_equal(ff_obsw_udp_open(&c.udp, &second, text, sizeof text), FF_ERR_DEVICE);
    assert_non_null(strstr(text, "cannot be bound"));
    c.udp.local_port = 0;
    assert_int_equal(ff_obsw_udp_open(&c.udp, &second, text, sizeof text), FF_OK);
    assert_int_not_equal(second.session, link.session);
    /* free running: the first time given is now, a later one is waited for */
    const int64_t before = ff_clock_now();
    assert_true(link.pace(link.self, 10.0) >= 0.0);
    const double late = link.pace(link.self, 10.02);
    assert_true(late >= 0.0);
    assert_true(ff_clock_now() - before >= 20000000); /* [ns] never early, however busy the computer */
    second.close(second.self);
    link.close(link.self);
    close(fd);
    close(other);
}

/* A recording stands for software of any kind here: NaN, silence, and the thrusters' limits. */
static bool recorded(void *self, uint64_t k, ff_obsw_out *out) {
    (void)self;
    out->force[0] = k == 3 ? FF_NAN : 30;
    out->force[1] = -30;
    out->torque[2] = 5;
    out->joint_torque[6] = k == 5 ? FF_INF : 1;
    return k != 4;
}

static void test_limits_and_nan_are_one_path_for_all_kinds(void **state) {
    (void)state;
    ff_computer_config c;
    rig r;
    ff_computer_default(&c);
    c.record = (ff_obsw_record){NULL, recorded};
    c.force_limit = 20;
    c.torque_limit = 6;
    assert_int_equal(start(&r, &c), FF_OK);
    for (int k = 0; k < 8; k++) {
        assert_int_equal(step(&r), FF_OK);
        assert_int_equal(r.action, k >= 3 && k <= 5 ? FF_OBSW_HELD : FF_OBSW_FRESH);
        assert_near(r.out.force[0], 20, 0);
        assert_near(r.out.force[1], -20, 0);
        assert_near(r.out.torque[2], 5, 0);
        assert_near(r.out.joint_torque[6], 1, 0);
    }
    assert_int_equal(r.computer.info.saturated, 8);
    assert_int_equal(r.computer.info.missed, 3);
    assert_near(r.computer.info.most_force, 30, 0);
    stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_step_takes_the_answer_to_its_sensors),
        cmocka_unit_test(test_each_bad_packet_is_refused_and_counted),
        cmocka_unit_test(test_strangers_are_passed_over),
        cmocka_unit_test(test_free_running_takes_the_newest),
        cmocka_unit_test(test_peer_that_dies_and_comes_back),
        cmocka_unit_test(test_no_first_answer_is_an_error),
        cmocka_unit_test(test_addresses_and_ends_are_said),
        cmocka_unit_test(test_link_over_udp),
        cmocka_unit_test(test_limits_and_nan_are_one_path_for_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
