/* The robot of an emulation as it is, driven by torques that are held for a cycle; and its controller alone.
 */
#include "emulate/internal.h"
#include "text/message.h"

#include <stdlib.h>
#include <string.h>

struct ff_emulate_plant {
    run r;                                 /* the robot's side of it alone */
    double (*line)[FF_EMULATION_TASK_MAX]; /* torques on their way: the delay is `whole` cycles and a part */
    size_t whole, k;
    double part, t;
    bool braked;
    double at[FF_EMULATION_TASK_MAX]; /* where the brakes hold the joints */
};

/* Measured at the start of a cycle: true f and p_r'' under the torque of the last one. */
static ff_status read_plant(void *self, ff_emulate_reading *x) {
    ff_emulate_plant *p = self;
    run *r = &p->r;
    const ff_emulate_config *c = r->c;
    const size_t n = c->robot.dof;
    double dy[STATE_MAX];
    const ff_status status = ff__emulate_robot_rates(r, p->t, r->robot.y, dy);
    if (status < 0)
        return status;
    memset(x, 0, sizeof *x);
    memcpy(x->q, r->robot.y, n * sizeof *x->q);
    memcpy(x->v, r->robot.y + n, n * sizeof *x->v);
    memcpy(x->torque, r->lagged ? r->robot.y + 2 * n : r->held, n * sizeof *x->torque);
    memcpy(x->true_f, r->f_r, sizeof x->true_f);
    memcpy(x->p_dd, r->p_dd, sizeof x->p_dd);
    for (size_t i = 0; i < n; i++)
        x->f[i] = r->f_r[i] + c->sensor.force_bias[i] + c->sensor.force_noise * ff_rng_normal(&r->rng);
    return FF_OK;
}

/* A cycle under the held torque. Delayed commands switch inside the cycle when the delay is not a multiple of
 * it. */
static ff_status drive_plant(void *self, const double *torque) {
    static const double nothing[FF_EMULATION_TASK_MAX] = {0};
    ff_emulate_plant *p = self;
    run *r = &p->r;
    const size_t slots = p->whole + 2, k = p->k++;
    const double from = p->t, to = (double)(k + 1) * r->c->cycle, switches = from + p->part * (to - from);
    p->braked = false;
    memcpy(p->line[k % slots], torque, sizeof p->line[0]);
    if (p->part > 0.0) {
        memcpy(r->held, k > p->whole ? p->line[(k - p->whole - 1) % slots] : nothing, sizeof r->held);
        const ff_status status = ff__emulate_advance(r, &r->robot, &p->t, switches, true);
        if (status != FF_OK)
            return status;
    }
    memcpy(r->held, k >= p->whole ? p->line[(k - p->whole) % slots] : nothing, sizeof r->held);
    return ff__emulate_advance(r, &r->robot, &p->t, to, true);
}

/* e'' + 2 r e' + r^2 e = 0 about `at`, solved. */
void ff_emulate_plant_brake(ff_emulate_plant *p, double rate) {
    run *r = &p->r;
    const size_t n = r->c->robot.dof;
    const double h = r->c->cycle, decay = exp(-rate * h);
    double *q = r->robot.y, *v = r->robot.y + n;
    if (!p->braked)
        memcpy(p->at, q, n * sizeof *q);
    p->braked = true;
    for (size_t i = 0; i < n; i++) {
        const double e = q[i] - p->at[i], slope = v[i] + rate * e;
        q[i] = p->at[i] + decay * (e + slope * h);
        v[i] = decay * (v[i] - rate * slope * h);
        r->held[i] = 0.0;
        if (r->lagged)
            r->robot.y[2 * n + i] = 0.0;
    }
    ff__emulate_touch(&r->robot);
}

void ff_emulate_plant_contact(const ff_emulate_plant *p, double *first, double *peak) {
    *first = p->r.robot.touch.first;
    *peak = p->r.robot.touch.peak;
}

static ff_status begin_plant(ff_emulate_plant *p, char *message, size_t size) {
    run *r = &p->r;
    const ff_emulate_config *c = r->c;
    const size_t n = c->robot.dof;
    const double ratio = c->actuator.delay / c->cycle;
    p->whole = (size_t)floor(ratio + 1e-9);
    p->part = fmax(ratio - (double)p->whole, 0.0) > 1e-9 ? ratio - (double)p->whole : 0.0;
    p->line = calloc(p->whole + 2, sizeof *p->line);
    if (!p->line || SUNContext_Create(NULL, &r->sun) != 0)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    r->lagged = isfinite(c->actuator.bandwidth);
    memcpy(r->robot.y, c->q_r, n * sizeof *c->q_r);
    memcpy(r->robot.y + n, c->v_r, n * sizeof *c->v_r);
    r->robot.size = 2 * n + (r->lagged ? n : 0);
    if (ff__emulate_start_side(r, &r->robot) != FF_OK)
        return ff_refuse(FF_ERR_MEMORY, message, size, "the solver could not be set up");
    if (c->wall.present && r->robot.touch.inside)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the end effector starts inside the wall");
    ff_rng_seed(&r->rng, c->sensor.seed, 1);
    return FF_OK;
}

ff_emulate_plant *ff_emulate_plant_create(const ff_emulate_config *config, char *message, size_t size,
                                          ff_status *why) {
    *why = ff__emulate_check(config, message, size);
    if (*why != FF_OK)
        return NULL;
    ff_emulate_plant *p = calloc(1, sizeof *p);
    if (!p) {
        *why = ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
        return NULL;
    }
    p->r.c = config;
    *why = begin_plant(p, message, size);
    if (*why == FF_OK)
        return p;
    ff_emulate_plant_free(p);
    return NULL;
}

void ff_emulate_plant_free(ff_emulate_plant *p) {
    if (!p)
        return;
    ff__emulate_end_side(&p->r.robot);
    if (p->r.sun)
        SUNContext_Free(&p->r.sun);
    free(p->line);
    free(p);
}

ff_emulate_robot ff_emulate_plant_robot(ff_emulate_plant *plant) {
    return (ff_emulate_robot){plant, read_plant, drive_plant};
}

/* ----------------------------------------------------------------------------------------- controller -- */

struct ff_emulate_controller {
    run r; /* the controller's part of it */
};

ff_emulate_controller *ff_emulate_controller_create(const ff_emulate_config *config, char *message,
                                                    size_t size, ff_status *why) {
    *why = ff__emulate_check(config, message, size);
    if (*why != FF_OK)
        return NULL;
    ff_emulate_controller *c = calloc(1, sizeof *c);
    if (!c) {
        *why = ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
        return NULL;
    }
    c->r.c = config;
    *why = ff__emulate_begin_controller(&c->r, message, size);
    if (*why == FF_OK)
        return c;
    free(c);
    return NULL;
}

void ff_emulate_controller_free(ff_emulate_controller *controller) {
    free(controller);
}

ff_status ff_emulate_controller_step(ff_emulate_controller *controller, uint64_t k,
                                     const ff_emulate_reading *reading, double *torque) {
    run *r = &controller->r;
    const double T = r->c->cycle, t = (double)k * T;
    const ff_status status = ff__emulate_control(r, t, (double)(k + 1) * T - t, reading);
    memcpy(torque, r->out.torque, r->c->robot.dof * sizeof *torque);
    return status;
}
