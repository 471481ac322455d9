/* The real-time thread neither allocates nor meets a page fault, over many cycles in lock step; and a long
 * run with lost packets and jitter gains no energy. malloc is replaced by one that counts. */
#include "sides.h"

static _Thread_local bool guarded;
static atomic_ulong allocations;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they bring their own malloc */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static void watch(void) {
    if (guarded)
        atomic_fetch_add(&allocations, 1);
}
void *malloc(size_t size) {
    watch();
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    watch();
    return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
    watch();
    return __libc_realloc(memory, size);
}

#endif

static void enter(void *user) {
    (void)user;
    guarded = true;
}
static void leave(void *user) {
    (void)user;
    guarded = false;
}

static const char text[] = BETWEEN_WALLS("guard", "40", "");

typedef struct pair {
    ff_scenario scenario;
    ff_facility_result facility;
    ff_rt_result rt;
    double start_energy, most_energy, last_energy;
    int contacts;
    bool touching;
    uint64_t rows;
    uint64_t samples, asked, answers, done;
} pair;

static ff_status watch_row(void *self, const ff_row *row) {
    pair *p = self;
    const double energy = row->body[0].energy.kinetic;
    if (p->rows++ == 0)
        p->start_energy = energy;
    p->most_energy = fmax(p->most_energy, energy);
    p->last_energy = energy;
    p->contacts += row->body[0].in_contact && !p->touching;
    p->touching = row->body[0].in_contact;
    return FF_OK;
}

/* A viewer that commands all the time: the guard holds with it, too. */
static void watch_sample(void *self, const ff_telemetry_sample *sample) {
    pair *p = self;
    p->samples++;
    if (!isfinite(sample->level[0][FF_LEVEL_FORCE]))
        p->samples = 0;
}
static bool next_order(void *self, ff_order *order) {
    pair *p = self;
    if (p->asked - p->answers > 4)
        return false;
    *order = (ff_order){.verb = p->asked % 3 ? FF_ORDER_SET : FF_ORDER_ZERO,
                        .parameter = (int)(p->asked % 5),
                        .value = p->asked % 2 ? 1e-4 : 1e-5};
    p->asked++;
    return true;
}
static void take_answer(void *self, const ff_order_answer *answer, const char *words) {
    pair *p = self;
    p->answers++;
    p->done += answer->done && *words;
}

static pair *play(bool lockstep, double duration, const char *faults) {
    pair *p = calloc(1, sizeof *p);
    char message[256] = "", warnings[256], length[64];
    snprintf(length, sizeof length, "time.duration=%g", duration);
    const char *set[] = {length, faults};
    const ff_scenario_options options = {.set = set, .sets = 2};
    assert_int_equal(ff_scenario_parse("guard", text, sizeof text - 1, &options, &p->scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    if (!lockstep) {
        p->scenario.satellite[0].safety.missed = 1000;
        p->scenario.satellite[0].safety.age = 5.0;
    }
    /* in wall-clock time a busy machine's stalls are not a fault */
    sides both = {.scenario = &p->scenario,
                  .truth = &p->scenario,
                  .facility_options = {.lockstep = lockstep, .timeout = lockstep ? 0 : 1000},
                  .options = {.enter = enter,
                              .leave = leave,
                              .user = p,
                              .viewer = {p, watch_sample, next_order, take_answer}},
                  .sink = {.self = p, .row = watch_row},
                  .facility = &p->facility,
                  .rt = &p->rt};
    atomic_store(&allocations, 0);
    run_sides(&both);
    if (p->rt.trip.code != FF_TRIP_FINISHED)
        fail_msg("%s %s", p->rt.run.message, p->facility.message);
    return p;
}

static void drop(pair *p) {
    free(p->rt.last);
    free(p);
}

static void test_real_time_thread_neither_allocates_nor_faults(void **state) {
    (void)state;
    pair *p = play(true, 0.004 * test_count(20000, 100000), "facility.faults=[]");
    print_message("%llu cycles, %lu allocations, %lld page faults, compute p99 %.0f us\n",
                  (unsigned long long)p->rows, atomic_load(&allocations),
                  (long long)(p->rt.faults.minor + p->rt.faults.major),
                  ff_histogram_at(&p->rt.compute, 0.99));
    assert_int_equal(atomic_load(&allocations), 0);
    if (p->rt.rights.locked) /* without the right to lock memory the kernel may take pages away */
        assert_int_equal(p->rt.faults.minor + p->rt.faults.major, 0);
    assert_int_equal(p->rt.dropped_rows, 0);
    print_message("%llu samples shown, %llu dropped; %llu orders, %llu applied\n",
                  (unsigned long long)p->samples, (unsigned long long)p->rt.dropped_telemetry,
                  (unsigned long long)p->asked, (unsigned long long)p->done);
    assert_true(p->samples > 0 && p->done > 0);
    assert_int_equal(p->answers, p->asked); /* each one is answered */
    drop(p);
}

/* Two minutes (FF_TEST_LONG=1: ten) at 250 Hz with 1 % of the telegrams, of the records and of the answers
 * lost, and every packet
 * +-2 ms about its mean: a record that comes after its telegram is a cycle old when the loop reads it.
 * Virtual time; FF_TEST_LONG=1 does it in wall-clock time as well. */
static void soak(bool lockstep) {
    pair *p =
        play(lockstep, test_count(120, 600),
             "facility.faults=[{kind: rob-lost, probability: 0.01}, {kind: ft-lost, probability: 0.01}, "
             "{kind: answer-lost, probability: 0.01}, {kind: jitter, value: 0.004}]");
    const uint64_t *did = p->facility.injected;
    const double part = (double)did[FF_FAULT_ROB_LOST] / (double)p->scenario.cycles;
    print_message("%s: %llu of %llu telegrams lost, %llu of %llu records, %llu late answers for %llu lost; "
                  "arrivals %.2f ms rms; %d contacts, energy %.9f of the start's at most, %.9f at the end\n",
                  lockstep ? "virtual time" : "wall-clock time", (unsigned long long)p->rt.missed,
                  (unsigned long long)did[FF_FAULT_ROB_LOST], (unsigned long long)p->rt.sensors[0].lost,
                  (unsigned long long)did[FF_FAULT_FT_LOST], (unsigned long long)p->facility.rsi[0].late,
                  (unsigned long long)did[FF_FAULT_ANSWER_LOST], 1e3 * p->rt.run.clock[0].residual_s,
                  p->contacts, p->most_energy / p->start_energy, p->last_energy / p->start_energy);
    assert_int_equal(p->rt.state, FF_STATE_HOLD);
    assert_int_equal(p->rows, p->scenario.cycles + 1);
    assert_near(part, 0.01, 6.0 * sqrt(0.01 * 0.99 / (double)p->scenario.cycles)); /* six deviations */
    /* every telegram and record that the facility lost is one that we miss, and no other */
    assert_int_equal(p->rt.robots[0].lost, p->rt.missed);
    assert_int_equal(p->rt.filled + p->rt.missed_at_rest, p->rt.missed);
    /* telegrams and records are missed when the next one comes: after the last there is none */
    const uint64_t telegrams = did[FF_FAULT_ROB_LOST] - p->rt.missed;
    assert_true(telegrams <= 2);
    const uint64_t records = did[FF_FAULT_FT_LOST] - p->rt.sensors[0].lost;
    assert_true(records <= 2);
    if (lockstep) { /* no answer to a telegram or to us; both at once are one */
        assert_true(p->facility.rsi[0].late <= did[FF_FAULT_ROB_LOST] + did[FF_FAULT_ANSWER_LOST]);
        assert_true(p->facility.rsi[0].late > did[FF_FAULT_ROB_LOST] + did[FF_FAULT_ANSWER_LOST] / 2);
        assert_int_equal(p->rt.robots[0].late, p->facility.rsi[0].late);
    }
    /* 0.1 m between the walls, half a period of a contact: 0.57 s. Tdpa takes energy: slower towards the end
     */
    assert_true(p->contacts > p->scenario.duration / 3.0);
    if (lockstep) /* even within 4 ms; a busy machine's facility has no clock worth the name */
        assert_near(p->rt.run.clock[0].residual_s, 0.004 / sqrt(12.0), 0.1 * 0.004 / sqrt(12.0));
    assert_true(p->most_energy <= p->start_energy * (1.0 + 1e-9));
    drop(p);
}

static void test_soak_gains_no_energy(void **state) {
    (void)state;
    soak(true);
}

static void test_soak_in_wall_clock_time(void **state) {
    (void)state;
    soak(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real_time_thread_neither_allocates_nor_faults),
        cmocka_unit_test(test_soak_gains_no_energy),
    };
    const struct CMUnitTest longer[] = {
        cmocka_unit_test(test_soak_in_wall_clock_time),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return test_long() ? failed + cmocka_run_group_tests(longer, NULL, NULL) : failed;
}
