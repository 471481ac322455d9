/* impact: where the robots touch, and which force belongs to which contact. */
#include "fidelity/impact/impact.h"

ff__place ff__impact_place(const impact_model *model, int index) {
    const ff_world_contact *c = &model->contact[index];
    const bool plane = c->shape == FF_SHAPE_PLANE;
    return (ff__place){.a = c->body,
                       .b = c->against,
                       .n = plane ? c->normal : c->axis,
                       .r = c->point,
                       .cone = plane ? NULL : &model->cone[index]};
}

ff__touch ff__impact_touch(const impact_model *model, int index, const ff_rigid_state *body) {
    const ff__place p = ff__impact_place(model, index);
    ff__touch t = ff__place_touch(&p, &body[p.a], p.b < 0 ? NULL : &body[p.b]);
    t.s += model->level[index];
    return t;
}

double ff__impact_mobility(const impact_model *model, int index, const ff_rigid_state *body,
                           const ff__touch *t) {
    const ff__place p = ff__impact_place(model, index);
    ff__port q;
    ff__place_open(model->view, &p, &body[p.a], p.b < 0 ? NULL : &body[p.b], t->n, ff_vec3_zero(), &q);
    return q.mobility;
}

double ff__impact_noise(const impact_model *config, const impact_state *state, int c) {
    const ff_world_contact *contact = &config->contact[c];
    if (!(config->detector.multiple > 0.0))
        return config->noise;
    const double own = state->noise[contact->body];
    return contact->against < 0 ? own : fmax(own, state->noise[contact->against]);
}

enum { AT_ONCE = 6 }; /* contacts among which one wrench is divided */

/* Unit normal force of a contact as wrenches on its bodies; torques over a length, so that both compare. */
static double product(const impact_model *model, const impact_measured *m, int c, int d, double per_length2) {
    const ff_world_contact *all = model->contact, *a = &all[c], *b = &all[d];
    double sum = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        const double sign_a = a->body == i      ? 1.0
                              : a->against == i ? -1.0
                                                : 0.0,
                     sign_b = b->body == i      ? 1.0
                              : b->against == i ? -1.0
                                                : 0.0;
        if (sign_a * sign_b == 0.0)
            continue;
        const ff_vec3 ma = ff_vec3_cross(ff_vec3_sub(m->at[c].tip, m->robot[i].position), m->at[c].n),
                      mb = ff_vec3_cross(ff_vec3_sub(m->at[d].tip, m->robot[i].position), m->at[d].n);
        sum += sign_a * sign_b * (ff_vec3_dot(m->at[c].n, m->at[d].n) + per_length2 * ff_vec3_dot(ma, mb));
    }
    return sum;
}

static double projection(const impact_model *model, const ff_method_in *in, const impact_measured *m, int c,
                         double per_length2) {
    const ff_world_contact *a = &model->contact[c];
    double sum = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        const double sign = a->body == i ? 1.0 : a->against == i ? -1.0 : 0.0;
        if (sign == 0.0)
            continue;
        sum += sign * ff_vec3_dot(m->at[c].n, m->force[i]);
        if (per_length2 > 0.0) {
            const ff_vec3 moment = ff_vec3_cross(ff_vec3_sub(m->at[c].tip, m->robot[i].position), m->at[c].n);
            const ff_vec3 torque = ff_quat_rotate(m->robot[i].attitude, in->sample[i].f_b.t);
            sum += sign * per_length2 * ff_vec3_dot(moment, torque);
        }
    }
    return sum;
}

/* Divides the measured wrenches among the contacts that can be their cause: least squares, without those that
 * would pull. One alone needs the forces only, and takes the mean of both sensors. White noise of variance
 * s^2 makes the share of contact a scatter by s^2 (G^-1)_aa: walls that differ little share it enlarged. */
static void divide(const impact_model *model, const ff_method_in *in, const impact_state *state,
                   impact_measured *m) {
    const impact_model *config = model;
    int list[AT_ONCE], count = 0;
    for (int c = 0; c < config->contacts; c++) {
        m->force_n[c] = 0.0;
        m->noise[c] = ff__impact_noise(config, state, c);
        const double reach = m->at[c].s + config->set.position_error;
        if (!(reach > 0.0) || count == AT_ONCE)
            continue;
        list[count++] = c;
    }
    while (count > 0) {
        double G[AT_ONCE * AT_ONCE], g[AT_ONCE], scatter[AT_ONCE];
        const double per_length2 = count > 1 ? 10.0 : 0.0; /* torques over 0.3 m */
        for (int a = 0; a < count; a++) {
            for (int b = 0; b < count; b++)
                G[a * count + b] = product(model, m, list[a], list[b], per_length2) + (a == b ? 1e-9 : 0.0);
            g[a] = projection(model, in, m, list[a], per_length2);
        }
        for (int a = 0; a < count; a++)
            scatter[a] = 1.0;
        if (count == 1) {
            g[0] /= G[0] - 1e-9;
            scatter[0] = 1.0 / (G[0] - 1e-9);
        } else if (ff_cholesky_factor((size_t)count, G) == FF_OK) {
            ff_cholesky_solve((size_t)count, G, g);
            for (int a = 0; a < count; a++) {
                double column[AT_ONCE] = {0};
                column[a] = 1.0;
                ff_cholesky_solve((size_t)count, G, column);
                scatter[a] = column[a];
            }
        }
        int worst = -1;
        for (int a = 0; a < count; a++)
            if (g[a] < 0.0 && (worst < 0 || g[a] < g[worst]))
                worst = a;
        if (worst < 0) {
            for (int a = 0; a < count; a++) {
                m->force_n[list[a]] = g[a];
                m->noise[list[a]] *= sqrt(scatter[a]);
            }
            return;
        }
        list[worst] = list[--count];
    }
}

/* n^T J_e K_r^-1 J_e^T n (IV-B): a force n at the tip is the wrench w = [r x n; n] about the CoM, and the tip
 * yields by w^T C w. */
static double give_way(const double (*C)[6], ff_vec3 r, ff_vec3 n) {
    const ff_vec3 m = ff_vec3_cross(r, n);
    const double w[6] = {m.x, m.y, m.z, n.x, n.y, n.z};
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sum += w[i] * C[i][j] * w[j];
    return sum;
}

void ff__impact_measure(const impact_model *model, const ff_method_in *in, const impact_state *state,
                        impact_measured *m) {
    for (int i = 0; i < model->bodies; i++) {
        const ff_body_sample *s = &in->sample[i];
        m->robot[i] = (ff_rigid_state){s->T_wr.p, s->T_wr.q, s->twist_r.v, s->twist_r.w};
        m->force[i] = ff_quat_rotate(s->T_wr.q, s->f_b.f);
        m->torque_b[i] = s->f_b.t;
    }
    for (int c = 0; c < model->contacts; c++) {
        const ff_world_contact *contact = &model->contact[c];
        m->at[c] = ff__impact_touch(model, c, m->robot);
        m->compliance[c] = 0.0;
        const int pair[2] = {contact->body, contact->against};
        for (int j = 0; j < 2; j++)
            if (pair[j] >= 0 && in->sample[pair[j]].compliance && model->set.gears)
                m->compliance[c] +=
                    give_way(in->sample[pair[j]].compliance,
                             ff_vec3_sub(m->at[c].tip, m->robot[pair[j]].position), m->at[c].n);
    }
    divide(model, in, state, m);
}
