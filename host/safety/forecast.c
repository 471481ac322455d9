/* Go or no-go: what the contacts to come will be like, from the scenario alone. */
#include "safety/safety.h"

/* One body at a contact. */
typedef struct side {
    double mass;   /* [kg] with an arm's links */
    double lever;  /* [m] of the contact about the CoM, at most */
    double delay;  /* [s] robot and sensor */
    ff_vec3 point; /* [m] inertial, at the start */
} side;

static double robot_delay(const ff_satellite *satellite) {
    return satellite->robot.kind == FF_ROBOT_IDEAL ? 0.0 : satellite->robot.delay;
}

static side side_of(const ff_satellite *satellite, ff_vec3 point, bool gripper) {
    const ff_rigid_state *start = &satellite->start;
    side s = {.mass = satellite->rigid.mass,
              .lever = ff_vec3_norm(point),
              .delay = robot_delay(satellite) + satellite->sensor.delay,
              .point = ff_vec3_add(start->position, ff_quat_rotate(start->attitude, point))};
    const ff_servicer_arm *arm = &satellite->arm;
    if (!arm->present)
        return s;
    for (int n = 0; n < arm->links; n++) {
        s.mass += arm->link[n].row.mass;
        s.lever += gripper ? ff_vec3_norm(arm->link[n].row.pose.p) : 0.0; /* stretched */
    }
    s.lever += gripper ? ff_vec3_norm(arm->mount.p) + ff_vec3_norm(arm->gripper.p) : 0.0;
    return s;
}

/* [m] about its CoM at which the partner is touched: at its surface, beside it by as much as the path misses
 * the CoM; where the partner's spin brings the surface rather than the path, where the point is. */
static double partner_lever(const ff_contact *contact, const ff_rigid_state *partner, ff_vec3 point,
                            ff_vec3 velocity) {
    const double surface = ff_vec3_norm(contact->kind == FF_CONTACT_CONE ? contact->apex : contact->at);
    const ff_vec3 p = ff_vec3_sub(point, partner->position);
    const double speed = ff_vec3_norm(velocity), far = ff_vec3_norm(p);
    if (!(speed > 0.0) || speed < ff_vec3_norm(partner->omega) * far)
        return fmax(surface, far);
    const double along = ff_vec3_dot(p, velocity) / speed;
    return hypot(surface, sqrt(fmax(0.0, far * far - along * along)));
}

/* Beyond w tau = 1 the robot is more than a radian of the contact behind: half a rebound passes before it
 * answers, and no method of the five papers was shown there. Direct integration multiplies the energy by
 * about exp(pi w tau / 2) in a rebound (docs/methods/direct.md), so it is refused above 0.5. */
void ff_safety_forecast(const ff_scenario *scenario, int body, double known_delay, ff_forecast *forecast) {
    const ff_satellite *own = &scenario->satellite[body];
    const double mine = (isnan(known_delay) ? robot_delay(own) : known_delay) + own->sensor.delay;
    *forecast = (ff_forecast){.delay = mine + scenario->cycle,
                              .most = scenario->method == &ff_method_direct ? 0.5 : 1.0};
    for (int c = 0; c < scenario->contacts; c++) {
        const ff_contact *contact = &scenario->contact[c];
        if ((contact->body != body && contact->against != body) || !(contact->stiffness > 0.0))
            continue;
        const ff_satellite *first = &scenario->satellite[contact->body];
        const side a = side_of(first, contact->point, true);
        ff_vec3 velocity = first->start.velocity;
        double mass = a.mass, delay = mine, turning = ff_vec3_norm(first->start.omega) * a.lever;
        if (contact->against >= 0) {
            const ff_satellite *second = &scenario->satellite[contact->against];
            const side b = side_of(second, ff_vec3_zero(), false);
            velocity = ff_vec3_sub(velocity, second->start.velocity);
            mass = a.mass * b.mass / (a.mass + b.mass);
            turning +=
                ff_vec3_norm(second->start.omega) * partner_lever(contact, &second->start, a.point, velocity);
            delay = fmax(delay, contact->body == body ? b.delay : a.delay);
        }
        const double speed = ff_vec3_norm(velocity) + turning, w = sqrt(contact->stiffness / mass),
                     w_tau = w * (delay + scenario->cycle);
        const double force = speed * fmax(sqrt(contact->stiffness * mass) * exp(w_tau), contact->damping);
        forecast->frequency = fmax(forecast->frequency, w);
        forecast->delay = fmax(forecast->delay, delay + scenario->cycle);
        forecast->w_tau = fmax(forecast->w_tau, w_tau);
        forecast->force = fmax(forecast->force, force);
    }
}
