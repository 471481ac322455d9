/* record/log.h - log.mcap: every cycle of a run bit for bit, messages for the viewers, and what a replay
 * needs.
 *
 * Channels: /cycle (all columns of the log, a field each), /input (what the devices said and the loads: the
 * loop's input), /tuning (what an order may change of the loop: before the first cycle, and before each one
 * with other values), /state and /event, /timing, and for each satellite /NAME/pose, /NAME/twist,
 * /NAME/robot/pose, /NAME/target, /NAME/wrench (measured, robot's body axes; raw, applied) and /NAME/energy;
 * on devices also /NAME/clock (the controller's, as fitted). /joint_states has an arm's joints, on devices
 * the robots' axes; /clock the run's time. /tf has satellites and robots in the frame `inertial` and an arm's
 * links, /robot_description the URDF, /scene and /forces what viewers draw (record/scene.h); links and forces
 * 50 times a second, and where a contact begins or ends. With `frame: relative` the robots' and commands'
 * poses are in the frame `robots`. The scenario's text is the attachment scenario.yaml, the URDF files that
 * it names are attachments model/NAME; the metadata `freefloat` holds version, commit, format, when and where
 * it was written, method, overrides and the cycle.
 */
#ifndef FF_RECORD_LOG_H
#define FF_RECORD_LOG_H

#include "record/overview.h"
#include "record/topics.h"

enum {
    FF_LOG_FORMAT = 2,    /* raised where the program before cannot replay what this one writes, or this what
                             that wrote; 1 stands for logs without it, of version 0.1 */
    FF_LOG_MAX_SETS = 72, /* those of the caller, and of a variant of a method */
    FF_LOG_MAX_FOUND = 2 + 2 * FF_MAX_BODIES
};

typedef struct ff_log_source { /* the scenario as it was given */
    const char *path;          /* its name in messages */
    const char *text;
    size_t length; /* [bytes] */
    const char *const *set;
    int sets;
    const char *method; /* or NULL */
    /* files that the scenario names: its site, and URDF files as scenario->model says; NULL: not to be had */
    const char *site_text;
    size_t site_length; /* [bytes] */
    const char *model_text[FF_MAX_MODELS];
    size_t model_length[FF_MAX_MODELS]; /* [bytes] */
    bool sync;     /* what is flushed shall survive a power cut: not from a thread that must be on time */
    bool compress; /* its chunks, where the module for it is there */
} ff_log_source;

typedef struct ff_log {
    ff_mcap_writer *writer;
    const ff_scenario *scenario;
    ff_topics topics;
    uint16_t channel[FF_TOPICS_MAX]; /* of each */
    ff_overview overview;            /* empty where there is no memory for it */
    const ff_codec *codec;           /* NULL: nothing is compressed */
    double flushed;                  /* [s] run time of the last flush */
    bool sync;
    int64_t synced; /* [ns] CLOCK_MONOTONIC */
    bool started;
} ff_log;

/* FF_ERR_IO when the file cannot be created, FF_ERR_MEMORY. */
ff_status ff_log_open(const char *path, const ff_scenario *scenario, const ff_log_source *source,
                      ff_log *log);
/* With states, events and findings; at most FF_LOG_MAX_FOUND of these. */
ff_sink ff_log_sink(ff_log *log);
/* FF_ERR_IO when not everything reached the file. */
ff_status ff_log_close(ff_log *log);

#endif
