/* rt/internal.h - the executive from inside: what its files share. executive.c holds the cycle and its
 * states; what crosses the network, leaves by the rings, is tried before arming or brings the robot to rest
 * has a file of its own. Everything runs in the real-time thread unless it says otherwise. */
#ifndef FF_RT_INTERNAL_H
#define FF_RT_INTERNAL_H

#include "rt/executive.h"
#include "freefloat/output.h"
#include "rt/follow.h"
#include "rt/ring.h"

enum {
    FF_RT_CHECK_CYCLES = 100, /* samples at standstill */
    FF_RT_SETTLE_CYCLES = 25, /* rest after a stop, before RSI is ended */
    FF_RT_TRACK = 512,        /* answers remembered for the tracking error */
    FF_RT_STANDS = 8          /* cycles over which a robot that stands still is seen */
};

typedef struct ff_rt_body {
    const ff_device *robot_device, *sensor_device;
    void *robot, *sensor; /* their states */
    int robot_fd, sensor_fd;
    bool known; /* the controller's address */
    struct sockaddr_in peer;
    ff_robot_report report; /* newest */
    ff_pose first;          /* of the first telegram, in the robot's base */
    double turn;            /* [rad] largest one from there that the device makes */
    bool fresh;
    bool ended;       /* was commanded to stop */
    uint64_t gap;     /* cycles lost before this telegram */
    ff_follow follow; /* its poses and its controller's clock */
    uint64_t ticks;   /* of that clock since the first telegram [cycles] */
    double arrived;   /* [s] local time of the newest telegram's arrival */
    int64_t taken;    /* [ns] when it was read */
    ff_output_config output_config;
    ff_output_state output; /* decides what is sent */
    ff_output_out out;      /* what was */
    ff_axes_state axes;     /* channel axes: behind it */
    uint64_t late;          /* answers that the controller has called late, in a row */
    bool strange;           /* its corrections count from another origin: it is not answered any more */
    unsigned standing_for;  /* telegrams in a row that show it still against a moving command */
    ff_pose stood;          /* where the robot stood before it was first moved */
    struct {
        ff_clockfit_state fit;
        uint64_t count, records; /* ft_sequence since the first record, and the number of records */
        uint32_t last;
        double first, tick; /* [s] arrival of the first; period of ft_sequence, 0: not known yet */
    } ft;
    ff_sensor_report record; /* newest */
    bool has_record;
    bool sensor_failed;             /* it does not answer */
    unsigned aged;                  /* [cycles] since the last record, or that it waited to be read */
    double record_at;               /* [s] local time of the newest record's arrival */
    double most_force, most_torque; /* [N], [N m] largest component of the reading, bias and all */
    ff_pose pose;                   /* of the last telegram */
    ff_motion_state motion;
    ff_setpoint measured;
    ff_twist acceleration;
    bool force_valid;
    ff_vec3 last_force;  /* [N] inertial, last valid */
    ff_pose T_ba;        /* the pose by the axes in the one that the controller reports, at standstill */
    ff_setpoint command; /* what it is led to; the output stage makes the answers of it */
    /* what the robot has accepted and where it was then, one of each a cycle */
    ff_pose track[FF_RT_TRACK], seen[FF_RT_TRACK];
    uint64_t tracked;
    unsigned window;
    ff_stop_state stop;
    struct {
        ff_wrench sum, square;
        ff_pose first;
        double apart, apart_angle, moved;
    } standing;
    /* tests of CHECK */
    ff_trial trial;
    ff_trial_sample *sample;
    size_t samples, sample_capacity;
    ff_wrench rest_b;    /* contact wrench at standstill, before the zero */
    const char *text;    /* to the pendant with the next answer */
    double threshold[2]; /* [N], [N m] of a push */
    ff_push_state push;
} ff_rt_body;

typedef struct ff_executive {
    const ff_scenario *scenario;
    const ff_run_options *run;
    const ff_rt_options *options;
    ff_rt_result *result;
    ff_plan plan;
    double lead[FF_MAX_BODIES]; /* [s] by which the method's commands are ahead */
    ff_rt_body body[FF_MAX_BODIES];

    ff_loop_config loop_config;
    ff_loop_memory loop;
    ff_loop_model *model; /* in it */
    ff_loop_state *state;
    ff_rigid_state nominal; /* at this cycle */
    ff_loop_in in;
    ff_loop_out out;
    ff_wrench used[FF_MAX_BODIES]; /* contact wrench of the loop's last cycle */
    ff_row row;

    ff_safety_config safety_config;
    ff_walk walk;        /* the state, and what ends the run */
    ff_trip other;       /* found by the executive, reported in the next cycle */
    unsigned standing;   /* cycles of CHECK */
    uint64_t runup;      /* cycles of it done */
    bool finished;       /* the last row was made */
    unsigned rest;       /* cycles since the stop was done */
    ff_faults faults;    /* when it began to float */
    int64_t wake, began; /* [ns] this cycle, and k = 0 */
    int64_t epoch;       /* [ns] of the local time */
    double pace;         /* [s] local time of the running cycle, by the pacing robot's clock */
    double virtual_now;  /* [s] lock step: arrival of its newest telegram; else NaN */
    ff_clockfit_config fitting, fitting_sensor;
    double io_ns;

    ff_ring rows, notes;
    ff_telemetry telemetry;
    ff_tuning tuning;
    bool held, stopped; /* asked for by the owner of commands */
    uint64_t since;     /* cycles since the last of the loop: of braking and holding */
    double level[FF_MAX_BODIES][FF_LEVEL_COUNT];
    atomic_bool measured, tests, tested, checked, armed, ended, recorder_failed, quit;
    bool testing;         /* the robot moves for a test */
    bool arrived;         /* where the motion begins */
    uint64_t approached;  /* cycles of the approach */
    uint64_t trial_cycle; /* of the test motions */
    double trial_end;     /* [s] of the longest */
    int64_t trial_began;  /* [ns] */
    int push_body, push_axis;
    bool asked; /* the push was asked for */
    ff_status recorder_status;

    /* recorder */
    ff_row *last;
    size_t last_capacity, last_next, last_count;
    ff_touch touch;
} ff_executive;

/* What the loop knows of a body's sensor: bias, mock-up and range stand there and nowhere else. */
static inline const ff_wrench_config *ff__rt_wrench(const ff_executive *e, int i) {
    return &e->model->config.body[i].wrench;
}

/* [s] of the run; negative in the run-up. */
double ff__rt_now(const ff_executive *e);
/* [s] without a telegram until a robot counts as silent. */
double ff__rt_patience(const ff_executive *e);

/* exchange.c: the devices' datagrams. */
bool ff__rt_take_telegram(ff_executive *e, ff_rt_body *b, int64_t *arrived);
bool ff__rt_clock_known(const ff_executive *e, const ff_rt_body *b);
bool ff__rt_wait_telegram(ff_executive *e, double patience);

/* send.c: the one sender. Whoever wants a robot to move sets b->command and aims; the output stage of that
 * robot decides what goes out with the answer to each of its telegrams. */
void ff__rt_bound(ff_executive *e);
void ff__rt_aim(ff_executive *e, int i);
void ff__rt_confirm(ff_executive *e, ff_rt_body *b, bool held);
void ff__rt_answer(ff_executive *e, int i, bool end);

/* rows.c: what leaves by the rings, and the orders that come back. */
void ff__rt_push_row(ff_executive *e);
void ff__rt_show_cycle(ff_executive *e);
void ff__rt_take_orders(ff_executive *e);
void ff__rt_push_aside(ff_executive *e, double t);
void ff__rt_spare_recorder(const ff_executive *e, int64_t began, uint64_t cycles);

/* preflight.c: standstill and tests of CHECK; evaluate and begin_tests in the caller's thread. */
void ff__rt_stand(ff_executive *e, int i);
void ff__rt_test_once(ff_executive *e);
void ff__rt_evaluate(ff_executive *e, bool tested);
bool ff__rt_begin_tests(ff_executive *e);

/* brake.c: the stop. */
bool ff__rt_brake(ff_executive *e);
void ff__rt_end_all(ff_executive *e);
void ff__rt_brake_others(ff_executive *e, double patience);

/* In the caller's thread, in this order. attend.c: records, asks the operator, waits for the end. */
ff_status ff__rt_open_all(ff_executive *e, char *message, size_t size);
void ff__rt_attend(ff_executive *e);
void ff__rt_conclude(ff_executive *e);

#endif
