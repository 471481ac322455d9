/* On-board software as processes of their own, over UDP on 127.0.0.1: the path to the software changes
 * nothing. */
#include "mission_support.h"

#include "obsw/udp.h"
#include "net/socket.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
static mission_record more;

static ff_obsw_config *obsw(void) {
    return &scenario.satellite[SERVICER].obsw;
}

static const mission_options over_udp = {.opener = ff_obsw_udp_open};

/* The start of the capture of Envisat; noise too, so that the sensors are exercised. */
static void make(double duration) {
    mission_load(NULL, 0, duration, &scenario);
    obsw()->navigation.rate = 10;
    obsw()->navigation.delay = 0.05;
    obsw()->navigation.position = 1e-3;
    obsw()->navigation.gyro = 1e-6;
}

static void see_all(void) {
    memset(&obsw()->navigation, 0, sizeof obsw()->navigation);
}

static void go_over_udp(void) {
    unsigned port[2];
    obsw()->kind = FF_OBSW_UDP;
    obsw()->timeout = 10; /* a loaded machine is not a late peer */
    free_ports(&port[0], &port[1]);
    obsw()->port = port[0];
    obsw()->local_port = port[1];
}

static pid_t launch_for(const char *program, const char *script) {
    return launch(program, script, (unsigned)obsw()->port, (unsigned)obsw()->local_port);
}

static void run(mission_record *to, ff_obsw_info *info) {
    char message[300] = "";
    if (mission_try(&scenario, &over_udp, to, info, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
}

/* Bit for bit: states, joints and actuation. */
static void assert_same(const mission_record *a, const mission_record *b) {
    assert_int_equal(a->n, b->n);
    for (int k = 0; k < a->n; k++) {
        const mission_row *x = &a->row[k], *y = &b->row[k];
        assert_memory_equal(&x->client, &y->client, sizeof x->client);
        assert_memory_equal(&x->base, &y->base, sizeof x->base);
        assert_memory_equal(x->q, y->q, sizeof x->q);
        assert_memory_equal(x->qd, y->qd, sizeof x->qd);
        assert_memory_equal(x->actuation.force, y->actuation.force, sizeof x->actuation.force);
        assert_memory_equal(x->actuation.torque, y->actuation.torque, sizeof x->actuation.torque);
        assert_memory_equal(x->actuation.joint_torque, y->actuation.joint_torque, 7 * sizeof(double));
        assert_memory_equal(x->command, y->command, sizeof x->command);
    }
}

#if defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__) /* look at accesses: the start has all of them */
enum { PASSES = 1 };
#else
enum { PASSES = 2 };
#endif

/* The law of the built-in controller in another process gives the built-in one's bits. */
static void test_lock_step_equals_the_built_in_controller(void **state) {
    (void)state;
    for (int pass = 0; pass < PASSES; pass++) {
        ff_obsw_info info = {0};
        make(pass ? test_count(10, 48) : 3); /* into the approach; the whole capture in the long form */
        run(&facility, &info);
        go_over_udp();
        const pid_t pid = launch_for(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL);
        run(&more, &info);
        end(pid);
        assert_same(&facility, &more);
        assert_int_equal(info.missed, 0);
        assert_int_equal(info.exchange.taken, more.n);
        for (int i = 0; i < FF_OBSW_REFUSALS; i++)
            if (i != FF_OBSW_OLD) /* the first sensors may be sent twice */
                assert_int_equal(info.exchange.refused[i], 0);
        print_message("%llu answers, mean %.0f us, longest %.0f us\n",
                      (unsigned long long)info.exchange.taken, 1e6 * info.exchange.answer_mean_s,
                      1e6 * info.exchange.answer_most);
    }
}

/* hold.c as a shared object, as a program, and in Python: the same bits. */
static void test_c_and_python_equal_the_shared_object(void **state) {
    (void)state;
    ff_obsw_info info = {0};
    make(2);
    obsw()->kind = FF_OBSW_SHARED;
    snprintf(obsw()->library, sizeof obsw()->library, "%s", FF_BUILD_DIR "/examples/libobsw_hold.so");
    run(&facility, &info);
    for (int python = 0; python < 2; python++) {
        if (python && system("python3 -c 'import socket, struct' 2>/dev/null") != 0) {
            print_message("no python3: hold.py is not tested\n");
            continue;
        }
        go_over_udp();
        const pid_t pid = launch_for(python ? "python3" : FF_BUILD_DIR "/examples/obsw_hold_udp",
                                     python ? FF_SOURCE_DIR "/examples/obsw/hold.py" : NULL);
        run(&more, &info);
        end(pid);
        assert_same(&facility, &more);
    }
}

/* The reference orbit is a session of its own with the same peer, which starts its software anew for it. */
static void test_one_peer_serves_orbit_and_facility(void **state) {
    (void)state;
    ff_obsw_info info = {0};
    char message[300] = "";
    make(2);
    see_all();
    go_over_udp();
    const pid_t pid = launch_for(FF_BUILD_DIR "/examples/obsw_hold_udp", NULL);
    assert_int_equal(mission_try_orbit(&scenario, &over_udp, &orbit, message, sizeof message), FF_OK);
    run(&facility, &info);
    end(pid);
    for (int k = 0; k < facility.n; k++) {
        assert_vec3_near(facility.row[k].base.position, orbit.row[k].base.position, 1e-6);
        assert_true(ff_quat_angle(facility.row[k].base.attitude, orbit.row[k].base.attitude) < 1e-5);
    }
}

/* Free running: the run takes its time on the clock, commands act, the loop stays closed. How many arrive in
 * which cycle is the machine's affair and not asserted. */
static void test_free_running_closes_the_loop(void **state) {
    (void)state;
    ff_obsw_info info = {0};
    make(2);
    see_all();
    obsw()->hold = 10;
    run(&facility, &info);
    go_over_udp();
    obsw()->mode = 1;
    struct timespec a, b;
    const pid_t pid = launch_for(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL);
    clock_gettime(CLOCK_MONOTONIC, &a);
    run(&more, &info);
    clock_gettime(CLOCK_MONOTONIC, &b);
    end(pid);
    const double wall = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    double off = 0;
    for (int k = 0; k < more.n; k++)
        off = fmax(off, ff_vec3_norm(ff_vec3_sub(more.row[k].base.position, facility.row[k].base.position)));
    print_message("%.2f s of wall clock, %llu of %llu commands, at most %.2g m from lock step\n", wall,
                  (unsigned long long)info.exchange.taken, (unsigned long long)info.exchange.sent, off);
    assert_true(wall >= 2 - 0.01); /* never faster than the clock */
    assert_true(info.exchange.taken > 10);
    assert_int_equal(info.zeroed, 0);
    assert_true(ff_vec3_norm(more.row[more.n - 1].see.base_error) <
                0.8 * ff_vec3_norm(more.row[0].see.base_error));
}

/* The peer is killed in the run: held, then zero; the run ends in order and the momentum stays what it was.
 */
typedef struct killer {
    int rows;
    pid_t pid;
} killer;

static void kill_later(void *self, const mission_row *row) {
    killer *k = self;
    (void)row;
    if (k->rows++ == 100)
        end(k->pid);
}

static void test_peer_that_dies(void **state) {
    (void)state;
    ff_obsw_info info = {0};
    char message[300] = "";
    make(1);
    go_over_udp();
    obsw()->timeout = 0.02; /* in each cycle without it */
    killer k = {0, launch_for(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL)};
    const mission_options options = {.opener = ff_obsw_udp_open, .self = &k, .row = kill_later};
    if (mission_try(&scenario, &options, &facility, &info, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(facility.n, 251);
    assert_true(info.zeroed >= 130 && info.held >= 10); /* of 150 */
    const ff_vec3 momentum = facility.row[150].see.linear;
    for (int i = 150; i < facility.n; i++) {
        assert_int_equal(facility.row[i].action, FF_OBSW_ZERO);
        assert_near(facility.row[i].actuation.force[0], 0, 0);
        assert_vec3_near(facility.row[i].see.linear, momentum, 1e-9 * ff_vec3_norm(momentum));
    }
}

/* Somebody else on the network sends what he should not, in every cycle: each is refused and counted, and the
 * run has the bits of the undisturbed one. */
typedef struct intruder {
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

static void intrude_all(void *self, const mission_row *row) {
    const intruder *x = self;
    (void)row;
    for (int kind = 0; kind < 7; kind++) /* 6: well-formed, of another session */
        intrude(x, kind);
}

static void test_bad_packets_on_the_network_change_nothing(void **state) {
    (void)state;
    ff_obsw_info info = {0};
    char message[300] = "";
    make(1);
    run(&facility, &info);
    go_over_udp();
    struct sockaddr_in me, other;
    ff_computer_config configured;
    ff_computer_configure(&scenario, &configured);
    intruder x = {.wire = configured.udp.wire};
    const mission_options options = {.opener = ff_obsw_udp_open, .self = &x, .row = intrude_all};
    ff_socket_address("127.0.0.1", configured.udp.local_port, &x.at);
    ff_socket_address("127.0.0.1", 0, &me);
    ff_socket_address("127.0.0.9", 0, &other);
    assert_int_equal(ff_socket_open(&me, &x.fd, NULL, message, sizeof message), FF_OK);
    assert_int_equal(ff_socket_open(&other, &x.stranger, NULL, message, sizeof message), FF_OK);
    const pid_t pid = launch_for(FF_BUILD_DIR "/examples/obsw_coordinated_udp", NULL);
    if (mission_try(&scenario, &options, &more, &info, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    end(pid);
    close(x.fd);
    close(x.stranger);
    assert_same(&facility, &more);
    const uint64_t *refused = info.exchange.refused,
                   n = (uint64_t)more.n - 1; /* the last ones are not read */
    assert_int_equal(refused[FF_OBSW_SHORT], n);
    assert_int_equal(refused[FF_OBSW_CHECKSUM], n);
    assert_int_equal(refused[FF_OBSW_LONG], n);
    assert_int_equal(refused[FF_OBSW_NOT_FINITE], n);
    assert_int_equal(refused[FF_OBSW_FOREIGN], 3 * n); /* APID, sender, session */
    assert_int_equal(info.missed, 0);
}

static void test_nobody_answers(void **state) {
    (void)state;
    ff_obsw_info info = {0};
    char message[300] = "";
    make(1);
    go_over_udp();
    obsw()->connect = 0.3;
    assert_int_equal(mission_try(&scenario, &over_udp, &facility, &info, message, sizeof message),
                     FF_ERR_DEVICE);
    assert_non_null(strstr(message, "no on-board software answered"));
    assert_int_equal(facility.n, 0); /* nothing moved */
    snprintf(obsw()->address, sizeof obsw()->address, "localhost");
    assert_int_equal(mission_try(&scenario, &over_udp, &facility, &info, message, sizeof message),
                     FF_ERR_DEVICE);
    assert_non_null(strstr(message, "IPv4"));
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
