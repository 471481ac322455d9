/* A scripted station: robots that follow at once, a force that the test prescribes, faults where the test
 * wants them, and a list of what was asked of it. */
#ifndef FF_TESTS_SCRIPT_H
#define FF_TESTS_SCRIPT_H

#include "support.h"

#include "executive/executive.h"

enum { SCRIPT_CALLS = 64 };

typedef struct script {
    int bodies;
    char calls[SCRIPT_CALLS]; /* O offer, W wait, X write, one letter each */
    int count, opened, closed;
    double lead[FF_MAX_BODIES]; /* [s] at the opening */
    ff_rigid_state nominal;     /* offered last */
    const ff_truth *truth;      /* what is really there; NULL: nobody knows */
    uint64_t k;
    unsigned led;
    ff_pose at[FF_MAX_BODIES]; /* where the robots stand: at their command, or where they were left */
    ff_setpoint offered[FF_MAX_BODIES], written[FF_MAX_BODIES];
    ff_sent sent[FF_MAX_BODIES];
    ff_wrench measured[FF_MAX_BODIES];
    double behind; /* [m] what is sent is always so far behind the command; 0: it is the command */
    ff_arm_order arm;
    ff_sample_joints joints; /* that the arm reports */
    ff_wrench force;         /* that every sensor reads */
    ff_status refuses;       /* to open */
    uint64_t fails_at;       /* this cycle's wait, with: */
    ff_status failure;       /* FF_OK: never */
    uint64_t spoils_at;      /* this cycle's sample: */
    int spoils;            /* the number with this index in the first body's reading is not one; < 0: none */
    const ff_sample *said; /* instead of all that: these samples, one for each cycle */
} script;

static void script_call(script *s, char what) {
    if (s->count < SCRIPT_CALLS - 1)
        s->calls[s->count++] = what;
}

static ff_status script_open(void *self, const double *lead, char *message, size_t size) {
    script *s = self;
    memcpy(s->lead, lead, sizeof s->lead);
    if (s->refuses < 0) {
        snprintf(message, size, "the script refuses");
        return s->refuses;
    }
    s->opened++;
    return FF_OK;
}

static void script_offer(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                         const ff_rigid_state *nominal) {
    script *s = self;
    s->led = led;
    s->nominal = *nominal;
    script_call(s, 'O');
    s->k = k;
    memcpy(s->offered, next, (size_t)s->bodies * sizeof *next);
}

static ff_status script_wait(void *self, ff_sample *sample) {
    script *s = self;
    script_call(s, 'W');
    if (s->failure < 0 && s->k == s->fails_at)
        return s->failure;
    if (s->said) {
        *sample = s->said[s->k];
        return FF_OK;
    }
    sample->k = s->k;
    sample->joints = s->joints;
    for (int i = 0; i < s->bodies; i++) {
        const bool led = s->led >> i & 1u;
        const ff_twist twist = led ? s->offered[i].twist : ff_twist_zero();
        if (led)
            s->at[i] = s->offered[i].T;
        sample->body[i].sensor = (ff_wrench_in){.f_s = s->force, .T_wb = s->at[i], .twist = twist};
        sample->body[i].sent = s->sent[i];
        sample->body[i].next = (ff_sent){.to = {s->at[i], twist}};
        sample->body[i].rests = !led;
    }
    if (s->bodies < FF_MAX_BODIES) { /* nobody asks for it */
        ff_sample_body *other = &sample->body[s->bodies];
        other->sensor = (ff_wrench_in){.f_s.f.x = 7.0, .T_wb = ff_pose_identity()};
        other->sent = other->next = (ff_sent){.lag = 1.0, .limited = true};
    }
    if (s->spoils >= 0 && s->k == s->spoils_at) {
        double *number = (double *)&sample->body[0].sensor;
        number[s->spoils] = FF_NAN;
    }
    return FF_OK;
}

static void script_write(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                         const ff_wrench *measured_b, const ff_arm_order *arm, ff_sent *sent) {
    script *s = self;
    s->led = led;
    s->arm = *arm;
    script_call(s, 'X');
    assert_int_equal(k, s->k);
    memcpy(s->written, command, (size_t)s->bodies * sizeof *command);
    memcpy(s->measured, measured_b, (size_t)s->bodies * sizeof *measured_b);
    for (int i = 0; i < s->bodies; i++) {
        s->sent[i] = (ff_sent){command[i], s->behind, s->behind > 0.0};
        s->sent[i].to.T.p.x -= s->behind;
        sent[i] = s->sent[i];
    }
}

static const ff_truth *script_truth(const void *self) {
    return ((const script *)self)->truth;
}

static void script_close(void *self) {
    script *s = self;
    s->closed++;
}

static ff_station script_station(script *s) {
    return (ff_station){.self = s,
                        .open = script_open,
                        .offer = script_offer,
                        .wait = script_wait,
                        .write = script_write,
                        .truth = script_truth,
                        .close = script_close};
}

#endif
