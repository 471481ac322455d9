/* server/internal.h - the facility's server from inside: facility.c holds sessions and cycles, robot.c the
 * controllers' telegrams, sensor.c the sensors' records. */
#ifndef FF_SERVER_INTERNAL_H
#define FF_SERVER_INTERNAL_H

#include "devices/ros2/ros2.h"
#include "devices/rsi/settings.h"
#include "devices/rtde/controller.h"
#include "devices/torque/torque.h"
#include "devices/udp/udp.h"
#include "facility/law.h"
#include "facility/plan.h"
#include "facility/plant.h"
#include "fit/motion.h"
#include "server/facility.h"
#include "server/outside.h"

enum { FF_SERVER_LINKS = 3 }; /* clients of RTDE at once */

typedef struct ff_server_link {
    int fd;
    ff_ur_link rtde;
    uint8_t bytes[4096];
    size_t used;
} ff_server_link;

/* A controller that speaks RTDE; open, answered, stopped are counted beside RSI's. */
typedef struct ff_server_ur {
    bool here;
    int rtde, script, upload; /* sockets: both ports, and a program on its way */
    ff_server_link link[FF_SERVER_LINKS];
    char text[FF_DEVICE_TEXT_MAX];
    size_t uploaded;
    int64_t run; /* of the program that runs; -1: none does */
    ff_ur_registers registers;
    ff_ur_report report;
    ff_ur_program program; /* and what it keeps */
    double silent;         /* [s] since an order came */
    bool feels, mute;      /* its own sensor is the satellite's; a fault keeps that from speaking */
    ff_wrench wrench;
} ff_server_ur;

/* A driver on ROS 2's topics. */
enum { FF_SERVER_COMMANDS = 128 };

typedef struct ff_server_ros2 {
    bool here, feels; /* the robot is, the sensor is */
    ff_link link, sensor;
    char label[FF_ROS2_LABEL]; /* of the last command */
    bool rated;                /* which had velocities */
    double rates[FF_ARM_AXES]; /* [rad/s] */
    /* commands of the newest cycles, since seven axes leave the elbow free: it is where they put it */
    ff_arm_joints command[FF_SERVER_COMMANDS];
    uint64_t commands;
} ff_server_ros2;

typedef struct ff_server_device {
    int rsi, ati; /* sockets */
    ff_server_ur ur;
    ff_server_ros2 ros;
    ff_http_server *http;
    ff_rsi_controller_config config, usual; /* as it acts now, and without what a fault has set */
    ff_rsi_controller_state state;
    ff_ati_server_config server_config;
    ff_ati_server_state server;
    ff_ati_scale scale;
    ff_arm_joints joints, first; /* of the arm now, and at RSI_ON */
    ff_pose posed;               /* body at `joints`: an arm at rest does not move its axes; NaN: not known */
    ff_pose first_rist;
    ff_motion_state motion; /* of the commands */
    ff_setpoint command;
    char last_rob[FF_RSI_READ_MAX];
    size_t last_rob_size;
    struct { /* a sensor that the scenario describes */
        bool here;
        ff_udp_layout layout;
        ff_udp_record record; /* newest */
        struct sockaddr_in peer;
        bool known;     /* whom to send to */
        unsigned asked; /* requests since the last record */
    } udp;
    uint8_t last_record[FF_UDP_SIZE_MAX];
    size_t last_record_size;
    uint8_t overtaken[FF_UDP_SIZE_MAX]; /* a record that jitter made later than the telegram */
    size_t overtaken_size;
    double rob_late, ft_late; /* [s] this cycle's jitter */
    double sensor_period;     /* [s] of the sensor's own clock */
    bool sensor_apart;        /* not that of the first robot */
    uint64_t sensor_ticks;    /* done */
    ff_wrench reading;        /* of the cycle before */
    double overtaken_at,
        record_at; /* [s] arrival of the record that waits, and of the newest that was sent */
    ff_pose stuck;
    bool was_stuck, restarts, counted;
    bool restarted;  /* in this session, at least once */
    uint64_t missed; /* telegrams in a row that a fault has taken */
    bool jumped;     /* its counter has, or too many were missed: the loop may not answer any more */
    int32_t counts[6];
    int push;        /* what the pendant asks for, -1: nothing */
    uint64_t pushed; /* since this cycle */
    char late_answer[FF_RSI_READ_MAX];
    size_t late_size;
    bool taken; /* a fault has taken an answer of this cycle */
    bool mute;  /* lock step: none came to be taken, and none is waited for until one does */
    /* the controller's clock, in the facility's time [s] */
    double period;         /* of its cycles */
    bool apart;            /* not that of the first robot: it ticks by itself */
    uint64_t ticks;        /* done */
    double tick;           /* time of the running cycle */
    ff_twist acceleration; /* of the commands */
    bool failed;           /* RSI has stopped in a cycle of its own */
    bool mistyped;         /* answers of another Type have come: they count as late, as on a controller */
    bool refused;          /* one to this cycle's telegram */
    bool met;              /* its client has answered once: until then it begins again */
    char deferred[FF_RSI_READ_MAX + 512];
    size_t deferred_size; /* lock step: a late telegram, sent when the first robot has its answer */
} ff_server_device;

#define FF_SERVER_UR_STARTED 1.0 /* [s] a UR controller's clock at the beginning: it was started before */

/* The servicer's arm. */
typedef struct ff_server_arm {
    int fd; /* -1: there is none */
    ff_torque_arm_config config;
    ff_torque_arm arm;
    ff_torque_action action; /* of its newest cycle */
} ff_server_arm;

typedef struct ff_server {
    const ff_scenario *scenario; /* as the facility really is */
    const ff_facility_options *options;
    ff_facility_result *result;
    ff_plan plan;
    ff_addresses address;
    ff_plant *plant;
    ff_scenario *lab; /* what it was made of; its arm keeps it */
    ff_server_device device[FF_MAX_BODIES];
    ff_server_arm arm;
    int stranger;
    ff_outside outside;
    struct sockaddr_in peer; /* whose answer came last */
    uint64_t k;              /* cycles of this session */
    uint64_t moving;         /* first cycle with a correction + 1; 0: none yet */
    bool client;             /* someone has answered */
    int64_t deadline;        /* [ns] of the running cycle */
    int64_t close;           /* [ns] until when its answers count */
    uint64_t cycles;         /* of the first robot since the facility's start */
    double time;             /* [s] of its running cycle: the plant's */
    ff_loop_in in;
    ff_truth truth;
    ff_twist before[FF_MAX_BODIES]; /* of the robots, one cycle earlier */
    ff_rng rng;
    double fault[FF_FAULTS][FF_MAX_BODIES]; /* size of those that act in this cycle, else NaN */
} ff_server;

/* The fault's size if it acts on this body in this cycle, else NaN. */
static inline double ff__server_acts(const ff_server *f, ff_fault_kind kind, int body) {
    return f->fault[kind][body];
}

/* A fault of the set-up, in every cycle; else NaN. */
static inline double ff__server_always(const ff_server *f, ff_fault_kind kind, int body) {
    for (int n = 0; n < f->scenario->faults; n++)
        if (f->scenario->fault[n].kind == kind && f->scenario->fault[n].body == body)
            return f->scenario->fault[n].value;
    return FF_NAN;
}

/* facility.c: one line to whoever started it. */
void ff__server_say(const ff_server *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* sensor.c */
void ff__server_serve_requests(ff_server *f);
void ff__server_sense_until(ff_server *f, int i, double t);
void ff__server_sense(ff_server *f);

/* ur.c */
ff_status ff__server_ur_open(ff_server *f, int i, char *message, size_t size);
void ff__server_ur_close(ff_server_ur *u);
void ff__server_ur_reset(ff_server_ur *u);
void ff__server_ur_serve(ff_server *f, int i);
void ff__server_ur_send(ff_server *f, int i, ff_pose tcp, double late);
int ff__server_ur_asked(const ff_server_ur *u);
ff_arm_joints ff__server_ur_finish(ff_server *f, int i);

/* emulation.c: in place of all the rest */
void ff__server_emulate(const ff_scenario *scenario, const ff_facility_options *options,
                        ff_facility_result *result);

/* arm.c: the servicer's; nothing without one */
ff_status ff__server_arm_open(ff_server *f, char *message, size_t size);
void ff__server_arm_close(ff_server *f);
void ff__server_arm_reset(ff_server *f);
void ff__server_arm_send(ff_server *f); /* at the cycle that the plant has made */
void ff__server_arm_take(ff_server *f);
bool ff__server_arm_awaited(const ff_server *f);
void ff__server_arm_finish(ff_server *f);
void ff__server_arm_end(ff_server *f);

/* ros2.c */
ff_status ff__server_ros2_open(ff_server *f, int i, char *message, size_t size);
void ff__server_ros2_close(ff_server_ros2 *r);
void ff__server_ros2_serve(ff_server *f, int i);
void ff__server_ros2_send(ff_server *f, int i, double late);
void ff__server_ros2_sense(ff_server *f, int i, const ff_wrench *wrench, double tick);
int ff__server_ros2_asked(const ff_server_ros2 *r);
ff_arm_joints ff__server_ros2_finish(ff_server *f, int i);
/* The joints of an arm of seven axes at a pose of its body: the ones of the null space as they were commanded
 * a delay ago. */
ff_arm_joints ff__server_ros2_joints(const ff_server *f, int i, const ff_pose *T_wb);

/* robot.c */
ff_pose ff__server_moved(const ff_setpoint *from, const ff_twist *acceleration, double dt);
void ff__server_send_rob(ff_server *f, int i);
bool ff__server_take_answers(ff_server *f);
bool ff__server_undelivered(const ff_server *f, int i);
bool ff__server_unanswerable(const ff_server *f, int i);
double ff__server_pace_follows(const ff_server *f);
bool ff__server_takes_answer(const ff_server *f, int i);
bool ff__server_awaited(ff_server *f, int i, int64_t waited);
void ff__server_rearm(ff_server_device *d);
void ff__server_restart(ff_server *f, int i, bool counted);
void ff__server_finish(ff_server *f, int i);
void ff__server_tick_until(ff_server *f, int i, double t);

#endif
