/* freefloat_host.h - libfreefloat-host: scenarios, runs, campaigns and the numerics behind them, for other
 * languages. Small and stable: opaque handles, arrays of doubles, texts; every symbol has a version. The
 * command line does the same by the same functions underneath, so the bits are the same.
 *
 * No call prints, and none keeps state between handles: different handles may be used by different threads at
 * once, one handle by one thread at a time (a second one is refused, except for what is read). SI units;
 * quaternions scalar first; velocities inertial, rates in body axes; wrenches about the centre of mass. Texts
 * are UTF-8. A pointer that a handle gave is valid until the handle is closed, unless said otherwise. */
#ifndef FREEFLOAT_HOST_H
#define FREEFLOAT_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define FFH_ABI 1 /* raised where a call or a struct below becomes another one */

/* FFH_ABI of the library; and its version, "0.2.0". */
int ffh_abi(void);
const char *ffh_version(void);

/* ------------------------------------------------------------------------------------------------ errors --
 */

enum {
    FFH_OK = 0,
    FFH_ARGUMENT, /* a value of the caller is wrong */
    FFH_SCENARIO, /* the scenario or campaign file, or an override: nothing was begun */
    FFH_METHOD,   /* no such method, a library that cannot be loaded, or one that cannot run this scenario */
    FFH_RUN,      /* it began and did not succeed: diverged, a limit, a device */
    FFH_STOPPED,  /* by `progress`, or by what a part returned */
    FFH_FILES,    /* a folder or file cannot be written or read */
    FFH_MEMORY,
    FFH_STATE, /* of another scenario or build, or something in it cannot be copied */
    FFH_PART   /* a part that was brought answered with what is not finite */
};

typedef struct ffh_error {
    int kind;         /* FFH_... */
    int outcome;      /* exit status of the command: 0 done, 1 failed, 2 refused */
    int line, column; /* of `file`; 0: not known */
    char file[1024];  /* "" none */
    char text[8192];  /* lines as the command prints them */
    char warning[8192];
} ffh_error;

/* -------------------------------------------------------------------------------- parts that are brought --
 */

/* Functions of the caller's in place of what a scenario names. They are called by the thread that runs or
 * steps, once a cycle or more often, and outlive the handle.
 *
 * Of a contact (wall, pair or cone): the normal force [N] at depth [m] > 0 that grows at rate [m/s]; negative
 * is zero. The ideal reference uses it, too. */
typedef double ffh_contact_law(void *user, double depth, double rate);
/* Of a sensor: f[6] is the wrench that enters it, force then torque, sensor frame, and becomes its reading.
 * 0; anything else stops the run. */
typedef int ffh_sensor_law(void *user, double t, double *f);

enum { FFH_JOINTS = 32 };
/* What on-board software sees and does, as in obsw.h; all in the axes of the servicer's base. */
typedef struct ffh_obsw_in {
    double sequence, t, camera_t;
    double client_position[3], client_attitude[4], client_velocity[3], client_angular_velocity[3];
    double attitude[4], angular_velocity[3];
    double q[FFH_JOINTS], qd[FFH_JOINTS];
    double star_tracker_t, gyro_t, encoder_t;
} ffh_obsw_in;
typedef struct ffh_obsw_out {
    double force[3], torque[3], joint_torque[FFH_JOINTS];
    double storage, dissipation, phase; /* preset: not reported, 0 */
} ffh_obsw_out;
/* 0: *out is its answer; positive: it gave none; negative: stops the run. The reference of a scenario with an
 * arm flies with the same software: `sequence` is 0 at each beginning. `in` and `out` are always the same
 * ones. */
typedef int ffh_obsw_step(void *user, const ffh_obsw_in *in, ffh_obsw_out *out);

enum { FFH_BODIES = 4, FFH_METHOD_STATE = 256 };
/* One satellite in one cycle, as a method sees it; and what the method answers. */
typedef struct ffh_method_body {
    double position[3], attitude[4], velocity[3], angular_velocity[3]; /* satellite at t_k */
    double force[3], torque[3];                                        /* contact wrench, robot's body axes */
    double robot_position[3], robot_attitude[4], robot_velocity[3], robot_angular_velocity[3]; /* measured */
    double load_force[3], load_torque[3]; /* known: force inertial, torque body axes */
    double mass;
    double in_contact; /* as stage 2 detects it: 0 or 1 */
    double valid;      /* 0: the wrench repeats the last good one */
} ffh_method_body;
typedef struct ffh_method_answer {
    double force[3], torque[3]; /* to integrate, satellite's body axes; preset: those measured */
    double in_contact;          /* preset: as detected */
    double observer;            /* [J] of all bodies; not a number: none */
} ffh_method_answer;
typedef struct ffh_method_io {
    double k, t, cycle;
    double bodies;
    ffh_method_body in[FFH_BODIES];
    ffh_method_answer out[FFH_BODIES];
    double state[FFH_METHOD_STATE]; /* its memory, zero before the first cycle; saved and restored with the
                                       run */
} ffh_method_io;
/* 0, or anything else, which stops the run. `io` is always the same one. */
typedef int ffh_method_step(void *user, ffh_method_io *io);

typedef struct ffh_parts {
    const char *method_name; /* letters, digits, - and _ */
    ffh_method_step *method; /* NULL: the scenario's */
    void *method_user;
    ffh_method_io *method_io; /* the caller's memory */
    ffh_obsw_step *obsw;      /* NULL: the scenario's */
    void *obsw_user;
    int contacts; /* laws of contacts, by name */
    const char *const *contact_name;
    ffh_contact_law *const *contact_law;
    void *const *contact_user;
    int sensors; /* of satellites, by name */
    const char *const *sensor_body;
    ffh_sensor_law *const *sensor_law;
    void *const *sensor_user;
} ffh_parts;

/* ------------------------------------------------------------------------------------------------- a run --
 */

typedef struct ffh_sim ffh_sim;

typedef struct ffh_options {
    const char *text;       /* the scenario itself, `path` names it; NULL: it is in the file */
    size_t length;          /* of the text [bytes] */
    const char *method;     /* METHOD, METHOD:key=value:..., or the path of a library; NULL: the file's */
    const char *const *set; /* "path=value" */
    int sets;
    const char *const *record; /* patterns of columns to keep ("client.*"); NULL: all */
    int records;
    int unjudged;           /* no ideal reference: no errors against it */
    const char *out;        /* folder as of --out; NULL: no files. "" stands for out/NAME */
    const char *log;        /* csv, mcap, mcap-plain or none, separated by commas; NULL: csv */
    int force;              /* as --force */
    const ffh_parts *parts; /* NULL: none */
    int (*progress)(void *user, double part); /* a few hundred times a run; 0 stops it. NULL: none */
    void *user;
} ffh_options;

/* A scenario read and checked. NULL: *error. What `options` points to may go, but for parts, progress and
 * what they use. A method library runs in this process, unwatched, once it has passed a trial in another one.
 */
ffh_sim *ffh_open(const char *path, const ffh_options *options, ffh_error *error);
void ffh_close(ffh_sim *sim); /* NULL is allowed */

/* To its end, as `freefloat run`. FFH_OK whatever the verdict; FFH_RUN, FFH_STOPPED: the rows and the summary
 * are there as far as it came. */
int ffh_run(ffh_sim *sim, ffh_error *error);

/* The same cycle by cycle: begin, step until it says 0 or less, end. Where a run was begun, run continues it.
 */
int ffh_begin(ffh_sim *sim, ffh_error *error);
/* Up to `cycles` of them. How many were done: fewer where the run ended, which it did if 0; -1: it is in use.
 */
int64_t ffh_step(ffh_sim *sim, int64_t cycles);
/* One cycle: 1, or 0: the run has ended; -1: it is in use. */
int ffh_cycle(ffh_sim *sim);
/* What ended it before its last cycle, as ffh_end will say; nothing is ended by asking, and a saved state can
 * still be restored. FFH_OK: nothing did. */
int ffh_failure(ffh_sim *sim, ffh_error *error);
int ffh_end(ffh_sim *sim, ffh_error *error);

/* A column of log.csv. value: rows of it, where it is recorded, filled up to what ffh_rows said last; now: of
 * the newest row, recorded or not; not a number before the first. They stay where they are. */
typedef struct ffh_column {
    const char *name; /* "client.velocity.z" */
    const char *unit; /* "m/s"; "" none */
    const double *value;
    const double *now;
} ffh_column;
int ffh_columns(const ffh_sim *sim); /* of a scenario that emulates: after its run */
int ffh_column_at(const ffh_sim *sim, int index, ffh_column *column);
uint64_t ffh_rows(ffh_sim *sim);

/* summary.json, or as it would be now; NULL: nothing was run, or no memory. Valid until the next call. */
const char *ffh_summary(ffh_sim *sim);
/* Writes folder/report.html, of several runs one that compares them. */
int ffh_report(ffh_sim *const *sims, int count, const char *folder, ffh_error *error);
/* Where the results are: out/NAME or DIR; "" none. */
const char *ffh_folder(const ffh_sim *sim);

typedef struct ffh_info {
    const char *name, *method, *label; /* of the scenario; label: the method with its settings */
    double cycle;                      /* [s] */
    uint64_t cycles;
    int bodies, contacts, joints, emulates;
    const char *body[FFH_BODIES];
} ffh_info;
void ffh_describe(const ffh_sim *sim, ffh_info *info);

/* ------------------------------------------------------------------------------------ between two cycles --
 */

/* Bytes that ffh_save needs now. 0: *error. */
size_t ffh_state_size(ffh_sim *sim, ffh_error *error);
/* All that the run consists of, rows included. It may be restored as often as wanted, also by another handle
 * of the same scenario and options, of this build; and after a run's last cycle or failure, until ffh_end.
 * FFH_STATE: it is not that, or something in the run cannot be copied; the run is as it was. */
int ffh_save(ffh_sim *sim, void *state, size_t bytes, ffh_error *error);
int ffh_restore(ffh_sim *sim, const void *state, size_t bytes, ffh_error *error);

/* What acts from the next cycle on, until it is set again. A load on the satellite: force inertial, torque in
 * body axes, f[6]. A hand on the mock-up, which the sensor feels beside the contacts: force and torque about
 * the CoM, robot's body axes, f[6]. A command for the robot in place of the loop's: position, attitude,
 * velocity, angular velocity, m[13]; NULL: the loop's again. FFH_ARGUMENT: not finite, no such body, method
 * ideal. */
int ffh_load(ffh_sim *sim, int body, const double *f, ffh_error *error);
int ffh_push(ffh_sim *sim, int body, const double *f, ffh_error *error);
int ffh_command(ffh_sim *sim, int body, const double *m, ffh_error *error);

/* --------------------------------------------------------------------------------------------- campaigns --
 */

typedef struct ffh_campaign ffh_campaign;

typedef struct ffh_campaign_options {
    const char *out; /* folder as of --out; "": out/NAME */
    int force;
    int threads;                              /* 0: one for each core */
    int (*progress)(void *user, double part); /* a few times a second; 0 stops it. NULL: none */
    void *user;
} ffh_campaign_options;

/* Runs the campaign of a file into its folder, as `freefloat campaign`, and reads the table. A campaign that
 * was begun there is continued. NULL: *error; FFH_STOPPED: what is done is kept in the folder. */
ffh_campaign *ffh_campaign_run(const char *path, const ffh_campaign_options *options, ffh_error *error);
void ffh_campaign_close(ffh_campaign *campaign);
typedef struct ffh_campaign_info {
    const char *name, *folder, *summary; /* summary.json */
    uint64_t samples;
    int methods, varied, metrics;
} ffh_campaign_info;
void ffh_campaign_describe(const ffh_campaign *campaign, ffh_campaign_info *info);
const char *ffh_campaign_method(const ffh_campaign *campaign, int method);
/* Of the varied values (first) and metrics: name, unit and values. A varied value has one for each sample, a
 * metric [sample][method]; not a number: none. NULL: no such column. */
const double *ffh_campaign_column(const ffh_campaign *campaign, int column, const char **name,
                                  const char **unit);
/* A varied value that is a word or a list, of one sample (from 0), as results.csv has it; NULL: it is a
 * number. Valid until the next call. */
const char *ffh_campaign_text(ffh_campaign *campaign, int column, uint64_t sample);

/* ---------------------------------------------------------------------------------------------- numerics --
 */

typedef struct ffh_rigid {
    double mass, inertia[6]; /* [kg]; [kg m2] xx yy zz xy xz yz, entries as they stand in the matrix */
    double com[3];           /* [m] of a tree's base, in its frame; else zero */
} ffh_rigid;
/* A free body over `steps` cycles of h [s] by one of the integrators ("lie-midpoint", "euler", "passive",
 * "splitting"). state[13]: position, attitude, velocity, angular velocity. contact and load, f[6] each, force
 * (inertial) then torque (body axes), one for all steps, or one for each of them (`each`); NULL: none.
 * after[steps][13] are the states behind each step, energy[steps][3] (may be NULL) what contact, loads and
 * the scheme gave [J]. */
int ffh_rigid_advance(const ffh_rigid *body, const char *integrator, double h, size_t steps,
                      const double *state, const double *contact, const double *load, int each, double *after,
                      double *energy, ffh_error *error);
/* Of n states: kinetic energy [J]; momentum [N s] and angular momentum [N m s] about the CoM, inertial axes,
 * momentum[n][6]. Either may be NULL. */
int ffh_rigid_measure(const ffh_rigid *body, const double *state, size_t n, double *kinetic, double *momentum,
                      ffh_error *error);

/* A tree of links from a URDF file, on a fixed base, or on a free one with this inertia in place of the
 * file's root. */
typedef struct ffh_tree ffh_tree;
ffh_tree *ffh_tree_urdf(const char *path, const ffh_rigid *base, ffh_error *error);
void ffh_tree_close(ffh_tree *tree);
typedef struct ffh_tree_info {
    int joints, links, dof; /* dof: joints, and 6 of a free base before them */
    double mass;
    const char *joint[FFH_JOINTS];               /* names of those that move */
    double lower[FFH_JOINTS], upper[FFH_JOINTS]; /* [rad] or [m] */
} ffh_tree_info;
void ffh_tree_describe(const ffh_tree *tree, ffh_tree_info *info);
/* One evaluation for each of n rows: q[n][joints]; base[n][7] (position, attitude; NULL: at the origin) and
 * v[n][dof] (NULL: at rest; of a free base angular, then linear, in base axes, then the joints); gravity[3]
 * (NULL: none). What is asked for (not NULL): mass_matrix[n][dof][dof], bias[n][dof] (C v + g), kinetic[n]
 * [J], and of the frame `link` (a row of the file; -1: the last): pose[n][7], jacobian[n][6][dof] (angular
 * first, in the frame's axes). With acceleration[n][dof] also force[n][dof] that makes it; with
 * force_in[n][dof] the acceleration that it makes. */
typedef struct ffh_tree_ask {
    const double *q, *base, *v, *gravity, *acceleration, *force_in;
    int link;
    double *mass_matrix, *bias, *kinetic, *pose, *jacobian, *force, *acceleration_out;
} ffh_tree_ask;
int ffh_tree_evaluate(ffh_tree *tree, const ffh_tree_ask *ask, size_t n, ffh_error *error);

/* What a log says of the facility, as `freefloat analyze log`: "delay", "contact" or "payload"; JSON, to be
 * freed by ffh_free. The log is a file, or columns in memory (path is then what messages call it). NULL:
 * *error. */
typedef struct ffh_identify_options {
    const char *body;     /* satellite; NULL: all */
    const char *scenario; /* file; payload: gravity and the sensor's place; NULL: as below */
    double gravity[3];    /* [m/s2] */
    double skew;          /* [s] contact: the force is so much older than the pose */
    double delay_max;     /* [s] delay: largest that is tried; 0: chosen */
    int columns;          /* in memory; 0: read the file */
    const char *const *name;
    const double *const *value; /* [columns][rows] */
    uint64_t rows;
} ffh_identify_options;
char *ffh_identify(const char *path, const char *what, const ffh_identify_options *options, ffh_error *error);
void ffh_free(void *text);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
