/* operator/tuning.h - orders to a running loop: a bounded queue with one producer, applied by the real-time
 * thread between two cycles, each answered through a second queue.
 *
 * What may be tuned is a table (docs/live.md, docs/safety.md): settings for which the method's own table
 * allows it, such as thresholds, which only say what counts as touch, and limits, which may only be
 * tightened. No setting disarms a limit: one that is a force or a torque stays below a tenth of what is
 * limited and of what the sensors can read. None of them is an input of the motion, so that a change makes no
 * bump; a new bias is ramped in. Nothing here arms, and nothing resumes. */
#ifndef FF_OPERATOR_TUNING_H
#define FF_OPERATOR_TUNING_H

#include "safety/levels.h"
#include "operator/ring.h"
#include "rows/tuned.h"

enum {
    FF_TUNING_ORDERS = 16,    /* that may wait */
    FF_TUNING_PARAMETERS = 32 /* in the table */
};
#define FF_TUNING_SHARE 0.1 /* of a limit and of a range: what a setting in N or N m may be */
#define FF_TUNING_ZERO_TIME                                                        \
    0.25 /* [s] over which the reading is averaged, and over which it is ramped in \
          */

typedef enum ff_tuning_kind { FF_TUNING_SETTING, FF_TUNING_LIMIT } ff_tuning_kind;

typedef struct ff_tuning_parameter {
    char name[FF_NAME_SIZE + 24];
    const char *unit, *effect;
    ff_tuning_kind kind;
    const ff_setting *setting; /* of the method */
    int body;                  /* of a limit */
    size_t limit;              /* its offset in ff_safety_limits */
    double low, high, value;
} ff_tuning_parameter;

typedef struct ff_tuning_table {
    int count;
    ff_tuning_parameter parameter[FF_TUNING_PARAMETERS];
} ff_tuning_table;

/* The method's settings that may be tuned; with `devices` also the limits that are finite. */
void ff_tuning_list(const ff_scenario *scenario, bool devices, ff_tuning_table *table);
/* Is this limit the one that the level is held against? */
bool ff_tuning_watches(const ff_tuning_parameter *parameter, ff_level_name level);

typedef enum ff_order_verb {
    FF_ORDER_HOLD,    /* come to rest and stay, until stopped */
    FF_ORDER_STOP,    /* come to rest and end */
    FF_ORDER_RETREAT, /* as hold; held already, out of a contact once more */
    FF_ORDER_ZERO,    /* the mean of the reading becomes bias */
    FF_ORDER_SET
} ff_order_verb;

typedef struct ff_order {
    ff_order_verb verb;
    int parameter; /* SET */
    double value;
    uint32_t id, from; /* the asker's, untouched */
    ff_claim claim;    /* taken when it takes effect; one that was given up has none, and no answer */
} ff_order;

typedef struct ff_order_answer {
    ff_order order;
    bool done;
    double t;         /* [s] run time when it took effect */
    double was, is;   /* SET: before and after; ZERO: largest force taken away [N] in `is` */
    double low, high; /* SET that was refused by its value: what is allowed; else 0 */
    const char *text; /* static; why not, or what was done */
} ff_order_answer;

/* What the real-time thread lends for one cycle. */
typedef struct ff_tuning_access {
    double t, cycle;
    int bodies;
    bool moves;      /* the robot is commanded to move */
    bool floats;     /* it follows its satellite: contact is known, and what is left of the reading */
    bool held;       /* it was ordered to hold, and does */
    bool touching;   /* a force, or the method says contact */
    bool hold, stop; /* set here: the operator's stop was asked for */
    bool retreat;    /* set here: out of a contact once more */
    int changed;     /* set here: a parameter that has a new value, counted from 1; 0: none */
    double was;      /* and its old one */
    bool zeroed;     /* set here: a zeroing has its mean, and ramps it in from the next cycle on */
    double removed;  /* [N] the largest force that it takes away */
    ff_loop_model *model;
    ff_safety_config *safety;
    ff_wrench
        reading_s[FF_MAX_BODIES];   /* [N m, N] what is left of the reading without contact, sensor frame */
    ff_wrench *bias[FF_MAX_BODIES]; /* subtracted from the next reading */
} ff_tuning_access;

typedef struct ff_tuning {
    ff_ring orders, answers;
    ff_tuning_table table;
    /* the real-time thread's */
    uint64_t zero_cycles, zero_left, ramp_left;
    ff_wrench sum[FF_MAX_BODIES], step[FF_MAX_BODIES];
    ff_wrench removed[FF_MAX_BODIES]; /* by all zeroings so far, sensor frame */
    ff_order zero;
} ff_tuning;

ff_status ff_tuning_create(ff_tuning *tuning, const ff_scenario *scenario, bool devices);
void ff_tuning_free(ff_tuning *tuning);
/* The one owner of commands, in its thread. False: too many wait. */
bool ff_tuning_ask(ff_tuning *tuning, const ff_order *order);
bool ff_tuning_answer(ff_tuning *tuning, ff_order_answer *answer);
/* One sentence for an answer. Not in the real-time thread. */
void ff_tuning_text(const ff_tuning *tuning, const ff_order_answer *answer, char *text, size_t size);
/* The loop's thread, between cycles; bounded, no lock, no call into the system. First once a cycle what a
 * zeroing still has to do, then at most one order. */
void ff_tuning_advance(ff_tuning *tuning, ff_tuning_access *access);
void ff_tuning_apply(ff_tuning *tuning, ff_tuning_access *access);
/* What is left of a contact wrench [body axes] in its sensor's frame. */
ff_wrench ff_tuning_reading(const ff_wrench_config *config, ff_pose T_wb, ff_wrench f_b);

#endif
