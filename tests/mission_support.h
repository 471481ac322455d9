/* What the tests of the capture of Envisat share [destefano2021, V]: the mission, and its rows on the
 * facility and in orbit. */
#ifndef FF_TESTS_MISSION_SUPPORT_H
#define FF_TESTS_MISSION_SUPPORT_H

#include "support.h"

#include "executive/mission.h"
#include "servicer_model.h"

#define DEG (FF_PI / 180)
enum { MISSION_ROWS = 15001 };

typedef struct mission_record {
    int n;
    ff_mission_row row[MISSION_ROWS];
} mission_record;

static servicer_model mission_servicer;
static mission_record facility, orbit;

static inline ff_status mission_keep(void *self, const ff_mission_row *row) {
    mission_record *r = self;
    if (r->n < MISSION_ROWS)
        r->row[r->n++] = *row;
    return FF_OK;
}

static inline void mission_make(ff_mission_config *c, ff_vec3 client_omega) {
    servicer_model_make(&mission_servicer);
    ff_mission_default(c);
    c->duration = 48;
    c->client = envisat_rigid;
    c->client_start = (ff_rigid_state){.attitude = {1, 0, 0, 0}, .omega = client_omega};
    c->servicer = &mission_servicer.config;
    c->gripper = servicer_gripper();
    c->servicer_start = (ff_pose){ff_quat_from_abc(2 * DEG, -1.5 * DEG, 1 * DEG), {{-5.25, .08, -.05}}};
    memcpy(c->q_start, servicer_folded, sizeof servicer_folded);
    c->grapple = ff_vec3_make(-2.9, 0, 0);
    c->grasp_stiffness = 2000;
    c->grasp_damping = 150;
    c->grasp_rotation_stiffness = 200;
    c->grasp_rotation_damping = 2;
    c->obsw.goal = (ff_pose){{1, 0, 0, 0}, {{-5.10, 0, 0}}};
    memcpy(c->obsw.q_start, servicer_folded, sizeof servicer_folded);
    memcpy(c->obsw.q_goal, servicer_reached, sizeof servicer_reached);
}

static inline void mission_run(const ff_mission_config *c, mission_record *to) {
    char message[200] = "";
    ff_mission_info info;
    to->n = 0;
    if (ff_mission_run(c, (ff_mission_sink){to, mission_keep}, &info, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    print_message("%llu cycles, step %.0f ns\n", (unsigned long long)info.cycles, info.step_ns);
}

static inline void mission_fly(const ff_mission_config *c, mission_record *to) {
    char message[200] = "";
    to->n = 0;
    if (ff_mission_orbit(c, (ff_mission_sink){to, mission_keep}, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
}

#endif
