/* On-board software as processes of their own, over UDP on 127.0.0.1: the path to the software changes
 * nothing. */
#include "support.h"

#include "obsw/udp.h"
#include "net/socket.h"
#include "executive/capture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPTURE FF_SOURCE_DIR "/scenarios/envisat-capture.yaml"

typedef struct record {
    uint64_t n, room;
    ff_mission_row *row;
} record;

static ff_status keep(void *self, const ff_mission_row *row) {
    record *r = self;
    assert_true(r->n < r->room);
    r->row[r->n++] = *row;
    return FF_OK;
}

/* Two ports that were free a moment ago. */
static void free_ports(unsigned *a, unsigned *b) {
    struct sockaddr_in any, got[2];
    char message[200];
    int fd[2];
    assert_int_equal(ff_socket_address("127.0.0.1", 0, &any), FF_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(ff_socket_open(&any, &fd[i], &got[i], message, sizeof message), FF_OK);
    close(fd[0]);
    close(fd[1]);
    *a = ntohs(got[0].sin_port);
    *b = ntohs(got[1].sin_port);
}

static pid_t launch(const char *program, const char *script, unsigned port, unsigned answer_port) {
    char a[16], b[16];
    snprintf(a, sizeof a, "%u", port);
    snprintf(b, sizeof b, "%u", answer_port);
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("OBSW_SCENARIO", CAPTURE, 1);
        setenv("OBSW_IDLE", "20", 1);
        if (script)
            execlp(program, program, script, a, "127.0.0.1", b, (char *)NULL);
        else
            execl(program, program, a, "127.0.0.1", b, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static void end(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static ff_scenario scenario;
static ff_capture_parts parts;

/* The start of the capture of Envisat; noise too, so that the sensors are exercised. */
static void make(double duration, ff_mission_config *c) {
    char message[400], warnings[400];
    assert_int_equal(
        ff_scenario_load(CAPTURE, NULL, &scenario, message, sizeof message, warnings, sizeof warnings),
        FF_OK);
    for (int i = 0; i < scenario.satellites; i++)
        scenario.satellite[i].robot.kind = FF_ROBOT_IDEAL;
    scenario.duration = duration;
    ff_capture_mission(&scenario, &parts, c);
    c->computer.navigation.rate = 10;
    c->computer.navigation.delay = 0.05;
    c->computer.navigation.position = 1e-3;
    c->computer.navigation.gyro = 1e-6;
}

static void go_over_udp(ff_mission_config *c) {
    c->computer.kind = FF_OBSW_UDP;
    c->computer.opener = ff_obsw_udp_open;
    c->computer.udp.timeout = 10; /* a loaded machine is not a late peer */
    free_ports(&c->computer.udp.port, &c->computer.udp.local_port);
}

static record new_record(const ff_mission_config *c) {
    const uint64_t room = (uint64_t)llround(c->duration / c->cycle) + 1;
    record r = {0, room, calloc(room, sizeof *r.row)};
    assert_non_null(r.row);
    return r;
}

static void run(const ff_mission_config *c, record *to, ff_mission_info *info) {
    char message[300] = "";
    if (ff_mission_run(c, (ff_mission_sink){to, keep}, info, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
}

/* Bit for bit: states, joints and actuation. */
static void assert_same(const record *a, const record *b) {
    assert_int_equal(a->n, b->n);
    for (uint64_t k = 0; k < a->n; k++) {
        const ff_mission_row *x = &a->row[k], *y = &b->row[k];
        assert_memory_equal(&x->client, &y->client, sizeof x->client);
        assert_memory_equal(&x->base, &y->base, sizeof x->base);
        assert_memory_equal(x->q, y->q, sizeof x->q);
        assert_memory_equal(x->qd, y->qd, sizeof x->qd);
        assert_memory_equal(x->actuation.force, y->actuation.force, sizeof x->actuation.force);
        assert_memory_equal(x->actuation.torque, y->actuation.torque, sizeof x->actuation.torque);
        assert_memory_equal(x->actuation.joint_torque, y->actuation.joint_torque, 7 * sizeof(double));
        for (int i = 0; i < 2; i++)
            assert_memory_equal(&x->sent[i].to, &y->sent[i].to, sizeof x->sent[i].to);
    }
}

/* The law of the built-in controller in another process gives the built-in one's bits. */
static void test_lock_step_equals_the_built_in_controller(void **state) {
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        ff_mission_config c;
        ff_mission_info info;
        make(pass ? test_count(10, 48) : 3, &c); /* into the approach; the whole capture in the long form */
        record inside = new_record(&c), outside = new_record(&c);
        run(&c, &inside, &info);
        go_over_udp(&c);
        const pid_t pid = launch(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL, c.computer.udp.port,
                                 c.computer.udp.local_port);
        run(&c, &outside, &info);
        end(pid);
        assert_same(&inside, &outside);
        assert_int_equal(info.obsw.missed, 0);
        assert_int_equal(info.obsw.exchange.taken, outside.n);
        for (int i = 0; i < FF_OBSW_REFUSALS; i++)
            if (i != FF_OBSW_OLD) /* the first sensors may be sent twice */
                assert_int_equal(info.obsw.exchange.refused[i], 0);
        print_message("%llu answers, mean %.0f us, longest %.0f us\n",
                      (unsigned long long)info.obsw.exchange.taken, 1e6 * info.obsw.exchange.answer_mean_s,
                      1e6 * info.obsw.exchange.answer_most);
        free(inside.row);
        free(outside.row);
    }
}

/* hold.c as a shared object, as a program, and in Python: the same bits. */
static void test_c_and_python_equal_the_shared_object(void **state) {
    (void)state;
    ff_mission_config c;
    ff_mission_info info;
    make(2, &c);
    record shared = new_record(&c);
    c.computer.kind = FF_OBSW_SHARED;
    c.computer.library = FF_BUILD_DIR "/examples/libobsw_hold.so";
    run(&c, &shared, &info);
    for (int python = 0; python < 2; python++) {
        if (python && system("python3 -c 'import socket, struct' 2>/dev/null") != 0) {
            print_message("no python3: hold.py is not tested\n");
            continue;
        }
        record outside = new_record(&c);
        go_over_udp(&c);
        const pid_t pid = launch(python ? "python3" : FF_BUILD_DIR "/examples/obsw_hold_udp",
                                 python ? FF_SOURCE_DIR "/examples/obsw/hold.py" : NULL, c.computer.udp.port,
                                 c.computer.udp.local_port);
        run(&c, &outside, &info);
        end(pid);
        assert_same(&shared, &outside);
        free(outside.row);
    }
    free(shared.row);
}

/* The reference orbit is a session of its own with the same peer, which starts its software anew for it. */
static void test_one_peer_serves_orbit_and_facility(void **state) {
    (void)state;
    ff_mission_config c;
    ff_mission_info info;
    char message[300] = "";
    make(2, &c);
    c.computer.navigation = (ff_navigation_config){0};
    record orbit = new_record(&c), ground = new_record(&c);
    go_over_udp(&c);
    const pid_t pid =
        launch(FF_BUILD_DIR "/examples/obsw_hold_udp", NULL, c.computer.udp.port, c.computer.udp.local_port);
    assert_int_equal(ff_mission_orbit(&c, (ff_mission_sink){&orbit, keep}, message, sizeof message), FF_OK);
    run(&c, &ground, &info);
    end(pid);
    for (uint64_t k = 0; k < ground.n; k++) {
        assert_vec3_near(ground.row[k].base.position, orbit.row[k].base.position, 1e-6);
        assert_true(ff_quat_angle(ground.row[k].base.attitude, orbit.row[k].base.attitude) < 1e-5);
    }
    free(orbit.row);
    free(ground.row);
}

/* Free running: the run takes its time on the clock, commands act, the loop stays closed. How many arrive in
 * which cycle is the machine's affair and not asserted. */
static void test_free_running_closes_the_loop(void **state) {
    (void)state;
    ff_mission_config c;
    ff_mission_info info;
    make(2, &c);
    c.computer.navigation = (ff_navigation_config){0};
    c.computer.hold = 10;
    record inside = new_record(&c), outside = new_record(&c);
    run(&c, &inside, &info);
    go_over_udp(&c);
    c.computer.udp.free = true;
    struct timespec a, b;
    const pid_t pid = launch(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL, c.computer.udp.port,
                             c.computer.udp.local_port);
    clock_gettime(CLOCK_MONOTONIC, &a);
    run(&c, &outside, &info);
    clock_gettime(CLOCK_MONOTONIC, &b);
    end(pid);
    const double wall = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    double off = 0;
    for (uint64_t k = 0; k < outside.n; k++)
        off = fmax(off, ff_vec3_norm(ff_vec3_sub(outside.row[k].base.position, inside.row[k].base.position)));
    print_message("%.2f s of wall clock, %llu of %llu commands, at most %.2g m from lock step\n", wall,
                  (unsigned long long)info.obsw.exchange.taken, (unsigned long long)info.obsw.exchange.sent,
                  off);
    assert_true(wall >= 2 - 0.01); /* never faster than the clock */
    assert_true(info.obsw.exchange.taken > 10);
    assert_int_equal(info.obsw.zeroed, 0);
    assert_true(ff_vec3_norm(outside.row[outside.n - 1].base_error) <
                0.8 * ff_vec3_norm(outside.row[0].base_error));
    free(inside.row);
    free(outside.row);
}

/* The peer is killed in the run: held, then zero; the run ends in order and the momentum stays what it was.
 */
typedef struct killer {
    record *to;
    pid_t pid;
} killer;

static ff_status keep_and_kill(void *self, const ff_mission_row *row) {
    killer *k = self;
    if (k->to->n == 250)
        end(k->pid);
    return keep(k->to, row);
}

static void test_peer_that_dies(void **state) {
    (void)state;
    ff_mission_config c;
    ff_mission_info info;
    char message[300] = "";
    make(3, &c);
    record r = new_record(&c);
    go_over_udp(&c);
    c.computer.udp.timeout = 0.02;
    killer k = {&r, launch(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL, c.computer.udp.port,
                           c.computer.udp.local_port)};
    if (ff_mission_run(&c, (ff_mission_sink){&k, keep_and_kill}, &info, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(r.n, 751);
    assert_true(info.obsw.zeroed >= 480 && info.obsw.held >= 10);
    for (uint64_t i = 300; i < r.n; i++) {
        assert_int_equal(r.row[i].action, FF_OBSW_ZERO);
        assert_near(r.row[i].actuation.force[0], 0, 0);
        assert_vec3_near(r.row[i].linear, r.row[300].linear, 1e-9 * ff_vec3_norm(r.row[300].linear));
    }
    free(r.row);
}

/* Somebody else on the network sends what he should not, in every cycle: each is refused and counted, and the
 * run has the bits of the undisturbed one. */
typedef struct intruder {
    record *to;
    int fd, stranger;
    struct sockaddr_in at;
    ff_obsw_wire wire;
} intruder;

static void intrude(const intruder *x, int kind) {
    const ff_obsw_frame f = {.joints = 7, .session = 1, .sequence = 0};
    ff_obsw_out out = {.phase = 9};
    ff_obsw_wire wire = x->wire;
    uint8_t b[2000] = {0};
    size_t n;
    out.force[0] = kind == 5 ? FF_NAN : 1e9;
    wire.apid_command = (uint16_t)(wire.apid_command + (kind == 2));
    assert_int_equal(ff_obsw_command_encode(&wire, &f, &out, b, sizeof b, &n), FF_OK);
    if (kind == 1)
        b[n - 1] ^= 1; /* checksum */
    if (kind == 0)
        n--;
    if (kind == 3)
        n = sizeof b; /* beyond any packet */
    ff_socket_send(kind == 4 ? x->stranger : x->fd, b, n, &x->at);
}

static ff_status keep_and_intrude(void *self, const ff_mission_row *row) {
    const intruder *x = self;
    for (int kind = 0; kind < 7; kind++) /* 6: well-formed, of another session */
        intrude(x, kind);
    return keep(x->to, row);
}

static void test_bad_packets_on_the_network_change_nothing(void **state) {
    (void)state;
    ff_mission_config c;
    ff_mission_info info;
    char message[300] = "";
    make(1, &c);
    record alone = new_record(&c), disturbed = new_record(&c);
    run(&c, &alone, &info);
    go_over_udp(&c);
    struct sockaddr_in me, other;
    intruder x = {.to = &disturbed, .wire = c.computer.udp.wire};
    ff_socket_address("127.0.0.1", c.computer.udp.local_port, &x.at);
    ff_socket_address("127.0.0.1", 0, &me);
    ff_socket_address("127.0.0.9", 0, &other);
    assert_int_equal(ff_socket_open(&me, &x.fd, NULL, message, sizeof message), FF_OK);
    assert_int_equal(ff_socket_open(&other, &x.stranger, NULL, message, sizeof message), FF_OK);
    const pid_t pid = launch(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL, c.computer.udp.port,
                             c.computer.udp.local_port);
    if (ff_mission_run(&c, (ff_mission_sink){&x, keep_and_intrude}, &info, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    end(pid);
    close(x.fd);
    close(x.stranger);
    assert_same(&alone, &disturbed);
    const uint64_t *refused = info.obsw.exchange.refused,
                   n = disturbed.n - 1; /* the last ones are not read */
    assert_int_equal(refused[FF_OBSW_SHORT], n);
    assert_int_equal(refused[FF_OBSW_CHECKSUM], n);
    assert_int_equal(refused[FF_OBSW_LONG], n);
    assert_int_equal(refused[FF_OBSW_NOT_FINITE], n);
    assert_int_equal(refused[FF_OBSW_FOREIGN], 3 * n); /* APID, sender, session */
    assert_int_equal(info.obsw.missed, 0);
    free(alone.row);
    free(disturbed.row);
}

static void test_nobody_answers(void **state) {
    (void)state;
    ff_mission_config c;
    ff_mission_info info;
    char message[300] = "";
    make(1, &c);
    record r = new_record(&c);
    go_over_udp(&c);
    c.computer.udp.connect = 0.3;
    assert_int_equal(ff_mission_run(&c, (ff_mission_sink){&r, keep}, &info, message, sizeof message),
                     FF_ERR_DEVICE);
    assert_non_null(strstr(message, "no on-board software answered"));
    assert_int_equal(r.n, 0); /* nothing moved */
    snprintf(c.computer.udp.address, sizeof c.computer.udp.address, "localhost");
    assert_int_equal(ff_mission_run(&c, (ff_mission_sink){&r, keep}, &info, message, sizeof message),
                     FF_ERR_DEVICE);
    assert_non_null(strstr(message, "IPv4"));
    free(r.row);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_step_equals_the_built_in_controller),
        cmocka_unit_test(test_c_and_python_equal_the_shared_object),
        cmocka_unit_test(test_one_peer_serves_orbit_and_facility),
        cmocka_unit_test(test_free_running_closes_the_loop),
        cmocka_unit_test(test_peer_that_dies),
        cmocka_unit_test(test_bad_packets_on_the_network_change_nothing),
        cmocka_unit_test(test_nobody_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
