/* Bodies marched again over their history. */
#include "support.h"

#include "history/history.h"

static ff_rng rng;

enum { BITS = 7, BODIES = 2, ROWS = 100 };
static const double T = 0.004;

/* All that is needed to continue, in one piece of memory. */
typedef struct memory {
    ff__history history;
    ff__ring force; /* [N] beside the law of actor 0 */
    ff__past rows[BODIES << BITS];
    double forces[1 << BITS];
} memory;

static ff_body_view view[BODIES];
static const ff_profile spring[2] = {{.valid = true, .k = 3000.0, .c = 5.0, .x0 = 2e-3},
                                     {.valid = true, .law = 1, .k = 40000.0, .c = 0.0, .x0 = 1e-3}};

static void set_up(memory *m) {
    const ff_rigid_config config = {.mass = 100.0, .inertia = ff_mat3_diag(10, 12, 14)};
    ff__history_reset(&m->history, BITS, BODIES, sizeof(ff__past), m->rows);
    ff__ring_place(&m->force, BITS, sizeof(double), m->forces);
    ff_rigid_state body[BODIES];
    ff_rigid_load load[BODIES];
    for (int i = 0; i < BODIES; i++) {
        assert_int_equal(ff_rigid_create(&config, &view[i].rigid), FF_OK);
        body[i] = (ff_rigid_state){
            .attitude = {1, 0, 0, 0}, .velocity = {{i ? 0.0 : 0.05, 0.01, 0}}, .omega = {{0.05, -0.02, 0.1}}};
        load[i] = (ff_rigid_load){{{0.1 * i, 0, 0}}, {{0, 0.01, 0}}};
    }
    for (int k = 0; k <= ROWS; k++) {
        m->forces[k] = ff_rng_range(&rng, -1.0, 1.0);
        assert_int_equal(ff__history_push(&m->history, body, load), FF_OK);
    }
}

/* Contact 0 acts from its row on and has a series; contact 1 joins later and ends. */
static void begin(memory *m, ff__march *w, ff__actor act[2], uint64_t from) {
    ff__march_begin(w, view, NULL, T, BODIES, 3u, act);
    act[0] = (ff__actor){.p = {.a = 0, .b = 1, .n = ff_vec3_make(-1, 0, 0), .r = ff_vec3_make(0, 0.1, 0.2)},
                         .surface = &spring[0],
                         .mu = 0.1,
                         .from = 10,
                         .until = UINT64_MAX,
                         .series = &m->force};
    act[1] = (ff__actor){
        .p = {.a = 0, .b = -1, .n = ff_vec3_make(0, -1, 0)}, .surface = &spring[1], .from = 40, .until = 80};
    w->acts = 2;
    ff__replay_load(w, &m->history, from);
    w->limit = ff__history_at(&m->history, 0, from)->limit;
}

static void run(memory *m, uint64_t from, uint64_t to) {
    ff__march w;
    ff__actor act[2];
    int work = 1;
    begin(m, &w, act, from);
    assert_int_equal(ff__replay_rows(&w, &m->history, from, to, 0, &work), to);
}

/* The same by hand, a fresh march in each row with the contacts that act there. */
static void test_contacts_join_and_end_at_their_rows(void **unused) {
    (void)unused;
    static memory m, by_hand;
    set_up(&m);
    memcpy(&by_hand, &m, sizeof m);
    run(&m, 0, ROWS);
    for (uint64_t k = 0; k < ROWS; k++) {
        ff__march w;
        ff__actor all[2], act[2];
        begin(&by_hand, &w, all, k);
        w.acts = 0;
        w.act = act;
        if (k >= 10) {
            act[w.acts] = all[0];
            act[w.acts].f0 = by_hand.forces[k];
            act[w.acts++].f1 = by_hand.forces[k + 1];
        }
        if (k >= 40 && k < 80)
            act[w.acts++] = all[1];
        ff__march_step(&w, T);
        for (int i = 0; i < BODIES; i++)
            ff__history_at(&by_hand.history, i, k + 1)->body = w.x[i];
    }
    bool differ = false;
    for (uint64_t k = 0; k <= ROWS; k++)
        for (int i = 0; i < BODIES; i++) {
            const ff__past *a = ff__history_at(&m.history, i, k), *b = ff__history_at(&by_hand.history, i, k);
            assert_memory_equal(&a->body, &b->body, sizeof a->body);
            differ |= k > 40 && a->body.velocity.y != 0.01;
        }
    assert_true(differ);
}

/* In parts, by what a cycle may spend, with everything moved to other memory in between: the same bits. */
static void test_parts_in_other_memory_give_the_same_bits(void **unused) {
    (void)unused;
    static memory whole, part[2];
    set_up(&whole);
    memcpy(&part[0], &whole, sizeof whole);
    run(&whole, 0, ROWS);
    uint64_t at = 0;
    int now = 0, parts = 0;
    while (at < ROWS) {
        ff__march w;
        ff__actor act[2];
        int work = 1 + (int)(ff_rng_next(&rng) % 60);
        begin(&part[now], &w, act, at);
        const uint64_t reached = ff__replay_rows(&w, &part[now].history, at, ROWS, 2, &work);
        assert_true(reached > at && (reached == ROWS || work <= 0));
        at = reached;
        memcpy(&part[1 - now], &part[now], sizeof whole);
        memset(&part[now], 0x55, sizeof whole);
        now = 1 - now;
        parts++;
    }
    assert_true(parts > 1);
    assert_memory_equal(part[now].rows, whole.rows, sizeof whole.rows);
}

/* Again from the middle, with nothing changed: the same bits; and what is not moving follows its rows. */
static void test_replay_from_the_middle_repeats_itself(void **unused) {
    (void)unused;
    static memory m, again;
    set_up(&m);
    run(&m, 0, ROWS);
    memcpy(&again, &m, sizeof m);
    run(&again, 33, ROWS);
    assert_memory_equal(again.rows, m.rows, sizeof m.rows);

    ff__march w;
    ff__actor act[2];
    int work = 1;
    begin(&again, &w, act, 0);
    w.acts = 0;
    w.moving = 1u;
    ff__replay_rows(&w, &again.history, 0, ROWS, 0, &work);
    assert_memory_equal(&w.x[1], &ff__history_at(&m.history, 1, ROWS - 1)->body, sizeof w.x[1]);
    assert_memory_equal(&again.rows[1 << BITS], &m.rows[1 << BITS], sizeof(ff__past) << BITS);
    const double t = ROWS * T; /* a free flight with its load: none on body 0 but a torque */
    const ff_rigid_state end = ff__history_at(&again.history, 0, ROWS)->body;
    assert_vec3_near(end.position, ff_vec3_make(0.05 * t, 0.01 * t, 0), 1e-14);
}

/* Without a law the measured force itself acts, linear between the rows: m v is the trapezoidal sum; a force
 * that would pull does not. */
static void test_measured_force_alone_is_a_trapezoid(void **unused) {
    (void)unused;
    static memory m;
    set_up(&m);
    ff__march w;
    ff__actor act[2];
    int work = 1;
    begin(&m, &w, act, 0);
    act[0] = (ff__actor){
        .p = {.a = 0, .b = -1, .n = ff_vec3_make(0, 0, 1)}, .from = 5, .until = 50, .series = &m.force};
    w.acts = 1;
    ff__replay_rows(&w, &m.history, 0, ROWS, 0, &work);
    double sum = 0.0;
    for (int k = 5; k < 50; k++)
        sum += 0.5 * T * (fmax(0.0, m.forces[k]) + fmax(0.0, m.forces[k + 1]));
    assert_near(ff__history_at(&m.history, 0, ROWS)->body.velocity.z, sum / 100.0, 1e-15);
    assert_near(w.impulse[0].force.z, sum, 1e-13);
}

/* Recomputations that share a body are one, from the earlier cycle; others are left alone. */
static void test_replays_join(void **unused) {
    (void)unused;
    static ff__replay replay[FF_MAX_BODIES];
    for (int i = 0; i < 500; i++) {
        memset(replay, 0, sizeof replay);
        bool has[FF_MAX_BODIES] = {false};
        uint64_t from[FF_MAX_BODIES] = {0};
        unsigned group[FF_MAX_BODIES] = {0}; /* brute force: of each body */
        for (int n = 0; n < 6; n++) {
            unsigned bodies = (unsigned)(1 + ff_rng_next(&rng) % 15);
            uint64_t at = ff_rng_next(&rng) % 1000;
            ff__replay_ask(replay, bodies, at);
            for (bool grew = true; grew;) {
                grew = false;
                for (int b = 0; b < FF_MAX_BODIES; b++)
                    if (has[b] && bodies >> b & 1u) {
                        grew |= (group[b] & ~bodies) != 0;
                        bodies |= group[b];
                        at = from[b] < at ? from[b] : at;
                    }
            }
            for (int b = 0; b < FF_MAX_BODIES; b++)
                if (bodies >> b & 1u) {
                    has[b] = true;
                    group[b] = bodies;
                    from[b] = at;
                }
            for (int b = 0; b < FF_MAX_BODIES; b++) {
                int slots = 0;
                for (int k = 0; k < FF_MAX_BODIES; k++)
                    if (replay[k].active && replay[k].bodies >> b & 1u) {
                        slots++;
                        assert_int_equal(replay[k].bodies, group[b]);
                        assert_int_equal(replay[k].at, from[b]);
                    }
                assert_int_equal(slots, has[b]);
                assert_int_equal(ff__replay_active(replay, 1u << b), has[b]);
                assert_int_equal(ff__replay_reached(replay, 1u << b), has[b] ? from[b] : 0);
            }
        }
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contacts_join_and_end_at_their_rows),
        cmocka_unit_test(test_parts_in_other_memory_give_the_same_bits),
        cmocka_unit_test(test_replay_from_the_middle_repeats_itself),
        cmocka_unit_test(test_measured_force_alone_is_a_trapezoid),
        cmocka_unit_test(test_replays_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
