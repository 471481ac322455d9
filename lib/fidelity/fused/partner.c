/* fused: which body bears the opposite of a contact's force (docs/methods/fused.md, 2).
 *
 * Two explanations of the forces F of body a and G of body b, each with one unknown force a row: both touch
 * each other (F = f, G = -f: |F + G|^2/2 is left), or a touches the world and b flies (|G|^2 is left). The
 * difference of what they leave, over the variance of a reading, is twice the logarithm of how much likelier
 * one is. The first samples decide by its sign; those that follow may revise it, as long as the contact is
 * alone on its bodies. */
#include "fidelity/fused/fused.h"

enum { WINDOW = 8 };                    /* samples that the first word is of */
static const double unequal = 0.08;     /* of the force: by how much two sensors may differ */
static const double certain = 20.0;     /* twice the logarithm of the odds at which it is revised */
static const double doubted = 15.0;     /* the same, below which a force may still be a pair's: one sample of
                                           5.5 sigma, which noise makes once in 1e7 */
static const double noise_least = 4e-3; /* [N] */

static void weigh(const fused_model *model, fused_state *state, int a, int b, uint64_t i, fused_bearing *z) {
    const fused_sample *x = fused_at(state, a, i), *y = fused_at(state, b, i);
    if (!x->valid || !y->valid)
        return;
    const ff_vec3 both = ff_vec3_add(x->force, y->force);
    const double F = ff_vec3_dot(x->force, x->force), G = ff_vec3_dot(y->force, y->force);
    const double unit =
        square(model->config.force_noise) + square(noise_least) + square(unequal) * fmax(F, G);
    z->pair += 0.5 * ff_vec3_dot(both, both) / unit;
    z->a_alone += G / unit;
    z->b_alone += F / unit;
    z->both = ff_vec3_add(z->both, both);
    z->force = ff_vec3_axpy(0.5, ff_vec3_sub(x->force, y->force), z->force);
    z->rows++;
}

/* Both bodies have the same impulse but for a fifth of it, and four standard deviations of what noise makes.
 */
static bool opposite(const fused_config *config, const fused_bearing *z) {
    const double noise = hypot(config->force_noise, noise_least);
    return ff_vec3_norm(z->both) < 0.2 * ff_vec3_norm(z->force) + 4.0 * noise * sqrt(2.0 * z->rows);
}

/* Of a body that touches no more than others: the one whose force is most like the opposite. Noise, and
 * sensors that differ, do not make it the world's. *doubtful: one sensor's noise rather than both's force. */
static int partner_of_bodies(const fused_model *model, fused_state *state, int a, uint64_t k,
                             bool *doubtful) {
    int found = -1;
    double least = FF_INF;
    for (int b = 0; b < model->bodies; b++) {
        const double left =
            ff_vec3_norm(ff_vec3_add(fused_at(state, a, k)->force, fused_at(state, b, k)->force));
        if (b != a && left < least) {
            found = b;
            least = left;
        }
    }
    *doubtful = model->config.force_noise > 0.0 &&
                ff_vec3_norm(fused_measured_force(state, a, found, k)) <
                    fused_force_on(0.70710678118654752 * model->config.force_noise);
    return found;
}

/* The body that bears the opposite of a's force in sample k and those before; -1: the world. *doubtful: noise
 * still hides whether the opposite is there. A force that is taken for the world's moves one of two bodies,
 * and their momentum with it: of bodies that nothing fixed is near none is. */
static int partner(const fused_model *model, fused_state *state, int a, uint64_t k, bool *doubtful) {
    if (model->config.bodies_only[a])
        return partner_of_bodies(model, state, a, k, doubtful);
    *doubtful = false;
    for (int b = 0; b < model->bodies; b++) {
        if (b == a)
            continue;
        const uint64_t since =
            state->free_since[a] > state->free_since[b] ? state->free_since[a] : state->free_since[b];
        fused_bearing z = {0};
        for (uint64_t i = k; i + WINDOW > k && i > since; i--)
            weigh(model, state, a, b, i, &z);
        if (z.pair < z.a_alone && opposite(&model->config, &z))
            return b;
        *doubtful |=
            model->config.force_noise > 0.0 && z.pair - z.a_alone < doubted && opposite(&model->config, &z);
    }
    return -1;
}

/* The only open contact of a body; NULL: there is none, or another one. */
static fused_contact *only_one(fused_state *state, int body, int *count) {
    fused_contact *found = NULL;
    *count = 0;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        fused_contact *c = &state->contact[i];
        if (c->open && (c->a == body || c->b == body)) {
            found = c;
            ++*count;
        }
    }
    return *count == 1 ? found : NULL;
}

/* Mean force on a since a contact was detected. */
static ff_vec3 mean_force(fused_state *state, int a, int b, uint64_t from, uint64_t k) {
    ff_vec3 sum = ff_vec3_zero();
    for (uint64_t i = from; i <= k; i++)
        sum = ff_vec3_add(sum, fused_measured_force(state, a, b, i));
    return ff_vec3_unit(sum);
}

/* The contacts that were taken for something else are undone, and begin again as one of a and b (the world:
 * b < 0), from where the earliest of them began. */
static void begin_again(const fused_model *model, fused_state *state, fused_contact *c, fused_contact *other,
                        int a, int b, uint64_t k) {
    uint64_t anchor = c->anchor, detected = c->detected;
    ff__fused_withdraw(state, c);
    if (other) {
        anchor = other->anchor < anchor ? other->anchor : anchor;
        detected = other->detected < detected ? other->detected : detected;
        ff__fused_withdraw(state, other);
    }
    if (b >= 0 && model->config.plane_of[a] > model->config.plane_of[b]) {
        const int swap = a;
        a = b;
        b = swap;
    }
    const fused_onset at = {.a = a,
                            .b = b,
                            .n = mean_force(state, a, b, detected, k),
                            .wall = -1,
                            .anchor = anchor,
                            .detected = detected};
    fused_contact *born = ff__fused_begin_at(model, state, &at, k);
    if (born)
        ff__replay_ask(state->replay, ff__fused_group_of(state, a), born->anchor);
    state->info.partners++;
}

void ff__fused_begin_force(const fused_model *model, fused_state *state, int i, ff_vec3 F, uint64_t k) {
    bool doubtful;
    const int b = partner(model, state, i, k, &doubtful);
    const ff_vec3 n = ff_vec3_scale(1.0 / ff_vec3_norm(F), F);
    int count = 0;
    if (doubtful) /* the next sample tells; the replay begins at the onset all the same */
        return;
    if (b < 0) {
        ff__fused_begin(model, state, i, b, false, n, k);
        return;
    }
    /* what was taken for b's contact with the world is this one, unless its own rows say no */
    fused_contact *const other = only_one(state, b, &count);
    const bool same = other && !other->torque && other->b < 0 && !other->frozen &&
                      other->bears[i].pair - other->bears[i].a_alone < certain;
    if (same)
        begin_again(model, state, other, NULL, b, i, k);
    else if (model->config.plane_of[i] > model->config.plane_of[b])
        ff__fused_begin(model, state, b, i, false, ff_vec3_neg(n), k);
    else
        ff__fused_begin(model, state, i, b, false, n, k);
}

/* A contact on the world: is its opposite borne by a body? */
static void seek_partner(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    for (int b = 0; b < model->bodies; b++) {
        int count = 0;
        if (b == c->a)
            continue;
        fused_contact *const other = only_one(state, b, &count);
        if (count > 1 || (other && (other->torque || other->b >= 0 || other->frozen)))
            continue;
        fused_bearing *const z = &c->bears[b];
        weigh(model, state, c->a, b, k, z);
        if (z->a_alone - z->pair > certain && opposite(&model->config, z)) {
            begin_again(model, state, c, other, c->a, b, k);
            return;
        }
    }
}

/* A contact of two bodies: is the opposite really there? */
static void doubt_partner(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    int count = 0;
    fused_bearing *const z = &c->bears[c->b];
    if (!only_one(state, c->b, &count))
        return;
    weigh(model, state, c->a, c->b, k, z);
    if (z->pair - z->a_alone > certain && !model->config.bodies_only[c->a])
        begin_again(model, state, c, NULL, c->a, -1, k);
    else if (z->pair - z->b_alone > certain && !model->config.bodies_only[c->b])
        begin_again(model, state, c, NULL, c->b, -1, k);
}

void ff__fused_revise_partners(const fused_model *model, fused_state *state, uint64_t k) {
    if (model->bodies < 2)
        return;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        fused_contact *c = &state->contact[i];
        int count = 0;
        if (!c->open || c->torque || c->frozen || c->detected >= k || only_one(state, c->a, &count) != c)
            continue;
        if (c->b < 0)
            seek_partner(model, state, c, k);
        else
            doubt_partner(model, state, c, k);
    }
}
