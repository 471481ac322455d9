#include "operator/touch.h"

#include "facility/environment.h"

ff_status ff_touch_create(ff_touch *touch, const ff_scenario *scenario, char *message, size_t size) {
    *touch = (ff_touch){.scenario = scenario};
    for (int i = 0; i < FF_MAX_BODIES; i++)
        touch->touched[i] = -1;
    for (int c = 0; c < scenario->contacts; c++) {
        touch->contact[c] = scenario->contact[c];
        const ff_status status =
            ff_environment_prepare(&touch->contact[c], scenario->satellites, message, size);
        if (status != FF_OK)
            return status;
    }
    return FF_OK;
}

/* The body is shifted by 1 mm against the force, so that calibration errors do not hide the contact. */
static int nearest(const ff_touch *touch, const ff_row *row, int i, ff_vec3 force, double size) {
    const ff_scenario *scenario = touch->scenario;
    ff_setpoint robot[FF_MAX_BODIES];
    for (int j = 0; j < scenario->satellites; j++)
        robot[j] = row->body[j].inertial;
    robot[i].T.p = ff_vec3_axpy(-0.001 / size, force, robot[i].T.p);
    int best = -1;
    double most = 0.0;
    for (int c = 0; c < scenario->contacts; c++) {
        ff_environment_out out;
        if (scenario->contact[c].body != i || !ff_environment_contact(&touch->contact[c], robot, &out))
            continue;
        const double along = ff_vec3_dot(out.force, force);
        if (best < 0 || along > most) {
            best = c;
            most = along;
        }
    }
    return best >= 0 ? best : touch->touched[i];
}

/* Through an arm all is touched by the gripper, whose place is not looked at: it says itself whether it holds
 * something; any other force is the first contact that is not a grasp. */
static void find_by_arm(const ff_touch *touch, int servicer, ff_row *row) {
    const ff_scenario *s = touch->scenario;
    const ff_row_body *b = &row->body[servicer];
    int bump = -1;
    for (int c = 0; c < s->contacts; c++) {
        if (row->touching[c])
            return;
        bump = bump < 0 && s->contact[c].kind != FF_CONTACT_GRASP ? c : bump;
    }
    if (bump < 0 || row->final || !(ff_vec3_norm(b->measured_b.f) > touch->threshold[servicer]))
        return;
    row->touching[bump] = true;
    row->contact_force[bump] = ff_quat_rotate(b->inertial.T.q, b->measured_b.f);
}

void ff_touch_find(ff_touch *touch, ff_row *row) {
    const int servicer = ff_scenario_servicer(touch->scenario);
    if (servicer >= 0) {
        find_by_arm(touch, servicer, row);
        return;
    }
    for (int i = 0; i < touch->scenario->satellites; i++) {
        const ff_row_body *b = &row->body[i];
        const ff_vec3 force = ff_quat_rotate(b->inertial.T.q, b->measured_b.f);
        const double size = ff_vec3_norm(force);
        touch->touched[i] =
            row->final || !(size > touch->threshold[i]) ? -1 : nearest(touch, row, i, force, size);
        if (touch->touched[i] >= 0) {
            row->touching[touch->touched[i]] = true;
            row->contact_force[touch->touched[i]] = force;
        }
    }
}
