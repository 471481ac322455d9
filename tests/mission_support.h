/* What the tests of the capture of Envisat share [destefano2021, V]: the mission as a scenario, and its rows
 * on the facility and in orbit. */
#ifndef FF_TESTS_MISSION_SUPPORT_H
#define FF_TESTS_MISSION_SUPPORT_H

#include "support.h"

#include "executive/executive.h"
#include "executive/mission.h"
#include "facility/virtual.h"
#include "ideal/orbit.h"
#include "servicer_model.h"
#include "study/capture.h"

#define DEG (FF_PI / 180)
#define CAPTURE FF_SOURCE_DIR "/scenarios/envisat-capture.yaml"
enum { CLIENT, SERVICER, GRIP = 0, MISSION_ROWS = 15001 };

typedef struct mission_row {
    double t;
    ff_rigid_state client, base;
    double q[FF_MAX_ARM_LINKS], qd[FF_MAX_ARM_LINKS];
    ff_obsw_out actuation;
    int action;
    ff_wrench F_e;
    ff_wrench drive[2];
    ff_setpoint command[2], inertial[2], robot[2];
    ff_energy energy[2];
    double W_c, bound, port_power;
    double star_tracker[4];
    bool held;
    ff_vec3 bump; /* force of the second contact */
    ff_capture_figures see;
} mission_row;

typedef struct mission_record {
    int n;
    mission_row row[MISSION_ROWS];
} mission_record;

static mission_record facility __attribute__((unused)), orbit __attribute__((unused));

/* A run: what is asked, what comes back. */
typedef struct mission_options {
    ff_obsw_record record;
    ff_obsw_opener *opener;
    void *self;
    void (*row)(void *self, const mission_row *row); /* after each cycle; may be NULL */
} mission_options;

typedef struct mission_runner {
    ff_executive executive;
    ff_virtual station;
    ff_mission mission;
    ff_run_result result;
    ff_capture capture;
    const mission_options *options;
    mission_record *to;
    mission_row row;
} mission_runner;

/* The shipped capture on ideal robots. */
static inline void mission_load(const char *const *set, int sets, double duration, ff_scenario *s) {
    char message[400] = "", warnings[400];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_load(CAPTURE, &options, s, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    for (int i = 0; i < s->satellites; i++) {
        s->satellite[i].robot.kind = FF_ROBOT_IDEAL;
        s->satellite[i].robot.delay = 0;
    }
    s->duration = duration;
    s->cycles = (uint64_t)llround(duration / s->cycle);
}

static inline void mission_last(ff_scenario *s, double duration) {
    s->duration = duration;
    s->cycles = (uint64_t)llround(duration / s->cycle);
}

/* The base stands still as seen from the client, at this pose of its frame. */
static inline void mission_fly_along(ff_scenario *s, ff_pose at) {
    const ff_rigid_state still = {at.p, at.q, {{0, 0, 0}}, {{0, 0, 0}}};
    s->satellite[SERVICER].start = ff_relative_to_absolute(&s->satellite[CLIENT].start, &still);
}

static inline void mission_make(ff_scenario *s, ff_vec3 client_omega) {
    mission_load(NULL, 0, 48, s);
    s->facility_pose = ff_pose_identity();
    s->satellite[CLIENT].rigid = envisat_rigid;
    s->satellite[CLIENT].start = (ff_rigid_state){.attitude = {1, 0, 0, 0}, .omega = client_omega};
    mission_fly_along(s, (ff_pose){ff_quat_from_abc(2 * DEG, -1.5 * DEG, 1 * DEG), {{-5.25, .08, -.05}}});
}

static inline ff_status mission_keep(void *self, const ff_row *row) {
    mission_runner *r = self;
    const ff_truth *truth = ff_plant_truth(r->station.plant);
    const ff_row_servicer *s = &row->servicer;
    mission_row *to = &r->row;
    to->t = row->t;
    to->client = row->body[CLIENT].satellite;
    to->base = row->body[SERVICER].satellite;
    memcpy(to->q, s->q, sizeof to->q);
    memcpy(to->qd, s->qd, sizeof to->qd);
    to->actuation = (ff_obsw_out){.phase = (uint32_t)s->phase, .storage = s->W_a, .dissipation = s->delta};
    memcpy(to->actuation.force, s->thrust.f.a, sizeof to->actuation.force);
    memcpy(to->actuation.torque, s->thrust.t.a, sizeof to->actuation.torque);
    memcpy(to->actuation.joint_torque, s->torque, SERVICER_JOINTS * sizeof(double));
    to->action = s->action;
    to->F_e = truth->arm.port;
    for (int i = 0; i < 2; i++) {
        to->drive[i] = truth->drive[i];
        to->command[i] = row->body[i].command;
        to->inertial[i] = row->body[i].inertial;
        to->robot[i] = row->body[i].robot;
        to->energy[i] = row->body[i].energy;
    }
    to->W_c = s->W_c;
    to->bound = s->bound;
    to->port_power = s->port_power;
    memcpy(to->star_tracker, r->mission.computer.in.attitude, sizeof to->star_tracker);
    to->held = row->touching[GRIP];
    to->bump = row->contact_force[GRIP + 1];
    ff_capture_see(&r->capture, &to->client, &to->base, to->q, to->qd, &to->see);
    if (r->options->row)
        r->options->row(r->options->self, to);
    if (r->to->n < MISSION_ROWS)
        r->to->row[r->to->n++] = *to;
    return FF_OK;
}

static inline ff_status mission_keep_orbit(void *self, const ff_orbit_row *row) {
    mission_runner *r = self;
    mission_row *to = &r->row;
    *to = (mission_row){.t = row->t,
                        .client = row->client,
                        .base = row->base,
                        .actuation = row->actuation,
                        .action = (int)row->action,
                        .F_e = row->F_e,
                        .held = row->touching[GRIP],
                        .bump = row->force[GRIP + 1]};
    memcpy(to->q, row->q, sizeof to->q);
    memcpy(to->qd, row->qd, sizeof to->qd);
    ff_capture_see(&r->capture, &to->client, &to->base, to->q, to->qd, &to->see);
    if (r->options->row)
        r->options->row(r->options->self, to);
    if (r->to->n < MISSION_ROWS)
        r->to->row[r->to->n++] = *to;
    return FF_OK;
}

static inline mission_runner *mission_runner_new(const ff_scenario *s, const mission_options *options,
                                                 mission_record *to) {
    static const mission_options none = {0};
    char message[200] = "";
    mission_runner *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->options = options ? options : &none;
    r->to = to;
    to->n = 0;
    assert_int_equal(ff_capture_open(&r->capture, s, message, sizeof message), FF_OK);
    return r;
}

/* On the facility. What the run says; info (may be NULL) of the on-board software. */
static inline ff_status mission_try(const ff_scenario *s, const mission_options *options, mission_record *to,
                                    ff_obsw_info *info, char *message, size_t size) {
    mission_runner *r = mission_runner_new(s, options, to);
    const ff_sink sink = {.self = r, .row = mission_keep};
    ff_run_options run = {.sinks = &sink, .count = 1};
    ff_status status = ff_mission_open(&r->mission, s, r->options->opener, r->options->record, message, size);
    if (status == FF_OK) {
        run.guidance = ff_mission_guidance(&r->mission);
        status =
            ff_executive_open(&r->executive, s, ff_virtual_station(&r->station, s), &run, NULL, &r->result);
        if (status == FF_OK) {
            while (!r->executive.ended)
                status = ff_executive_cycle(&r->executive);
            ff_executive_close(&r->executive);
        }
        snprintf(message, size, "%s", r->result.message);
        if (info)
            *info = r->mission.computer.info;
        ff_mission_close(&r->mission);
    }
    ff_capture_close(&r->capture);
    free(r);
    return status;
}

static inline void mission_run(const ff_scenario *s, mission_record *to) {
    char message[400] = "";
    if (mission_try(s, NULL, to, NULL, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(to->n, (int)s->cycles + 1);
}

/* In orbit. */
static inline ff_status mission_try_orbit(const ff_scenario *s, const mission_options *options,
                                          mission_record *to, char *message, size_t size) {
    mission_runner *r = mission_runner_new(s, options, to);
    const ff_status status = ff_orbit_run(s, r->options->opener, r->options->record,
                                          (ff_orbit_sink){r, mission_keep_orbit}, message, size);
    ff_capture_close(&r->capture);
    free(r);
    return status;
}

static inline void mission_fly(const ff_scenario *s, mission_record *to) {
    char message[400] = "";
    if (mission_try_orbit(s, NULL, to, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
}

#endif
