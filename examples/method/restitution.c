/* A complete method outside the tree: a coefficient of restitution.
 *
 *   v' = -e v    along the normal, for each contact
 *
 * The robot is late, so the measured force goes on after the satellite should have left: the impulse is given
 * up to the one that turns the approach speed v into -e v, J = m_e (1 + e) v, and what is measured beyond it
 * is left out. With e <= 1 no contact gives energy: it is passive whatever the delay. The force's line of
 * action goes through the contact point, so m_e = 1/(F.H^-1 F) for the unit wrench F, spin included.
 *
 * Build:  cc -shared -fPIC -I FREEFLOAT/include restitution.c -o libmethod_example.so -lm
 * Run:    freefloat run scenarios/deos-client.yaml --method ./libmethod_example.so --set restitution.e=0.9 */
#include <freefloat/method.h>
#include <stddef.h>

typedef struct settings {
    double e, threshold; /* [-], [N] */
} settings;

typedef struct model {
    settings set;
    ff_detector_config detector;
    double cycle;
    int bodies;
} model;

typedef struct state {
    double left[FF_MAX_BODIES]; /* [N s] of the impulse that the contact may still give */
} state;

static void defaults(int variant, void *s) {
    (void)variant;
    *(settings *)s = (settings){.e = 0.8};
}

static void resolve(const ff_world *world, uint64_t given, void *s) {
    if (!(given & 2u)) /* setting 1, threshold */
        ((settings *)s)->threshold = 5.0 * world->force_noise;
}

static ff_status check(const ff_world *world, const void *s, uint64_t given, ff_complaint *why) {
    const settings *set = s;
    (void)world, (void)given;
    *why = (ff_complaint){"e", "e is outside 0 to 1, allowed: a contact that gives no energy"};
    return set->e >= 0.0 && set->e <= 1.0 ? FF_OK : FF_ERR_ARGUMENT;
}

static size_t bytes(const ff_world *world, const void *s, size_t *of_state) {
    (void)world, (void)s;
    *of_state = sizeof(state);
    return sizeof(model);
}

static void create(const ff_world *world, const void *s, uint64_t given, void *m) {
    const settings *set = s;
    *(model *)m = (model){.set = *set,
                          .detector = {.force_on = set->threshold,
                                       .torque_on = FF_INF,
                                       .multiple = world->noisy ? 5.0 : 0.0,
                                       .fixed = given & 2u,
                                       .off_ratio = 0.5,
                                       .quiet_cycles = 5},
                          .cycle = world->integrate.cycle,
                          .bodies = world->bodies};
}

static void detector(const void *m, ff_detector_config *config) {
    *config = ((const model *)m)->detector;
}

static void reset(const void *m, const ff_rigid_state *body, void *s) {
    (void)m, (void)body;
    *(state *)s = (state){{0}};
}

static ff_status step(const void *m, void *s, const ff_method_in *in, ff_method_out *out) {
    const model *self = m;
    for (int i = 0; i < self->bodies; i++) {
        double *left = &((state *)s)->left[i];
        const ff_wrench f = in->sample[i].f_b;
        const ff_rigid_state *b = &in->body[i];
        const double size = ff_vec3_norm(f.f);
        out->in_contact[i] = in->detected[i].contact;
        if (!in->detected[i].contact || !(size > 0.0))
            continue;
        /* power of the unit wrench, and the speed that it gives for each newton second */
        const ff_vec3 n = ff_vec3_scale(1.0 / size, f.f), r = ff_vec3_scale(1.0 / size, f.t);
        const double u =
            ff_vec3_dot(n, ff_quat_unrotate(b->attitude, b->velocity)) + ff_vec3_dot(r, b->omega);
        const double per =
            in->rigid[i].mass_inv + ff_vec3_dot(r, ff_mat3_apply(&in->rigid[i].inertia_inv, r));
        if (in->detected[i].began)
            *left = u < 0.0 ? -(1.0 + self->set.e) * u / per : 0.0;
        const double impulse = fmin(self->cycle * size, *left);
        *left -= impulse;
        out->f_b[i] = ff_wrench_scale(impulse / (self->cycle * size), f);
    }
    return FF_OK;
}

static const ff_setting table[] = {
    {"e", FF_SETTING_REAL, "", offsetof(settings, e), "0.8", .low = 0.0, .high = 1.0,
     .help = "Speed after a contact over the speed before it."},
    {"threshold", FF_SETTING_REAL, "N", offsetof(settings, threshold), "(5 times the noise)", .low = 0.0,
     .high = FF_INF, .help = "Force above which there is contact."},
};

static const ff_method method = {.abi = FF_METHOD_ABI,
                                 .size = sizeof(ff_method),
                                 .name = "restitution",
                                 .version = "1",
                                 .help = "A rebound with a given coefficient of restitution.",
                                 .can = FF_CAN_RELATIVE,
                                 .setting = table,
                                 .settings = sizeof table / sizeof *table,
                                 .setting_bytes = sizeof(settings),
                                 .variants = 1,
                                 .defaults = defaults,
                                 .resolve = resolve,
                                 .check = check,
                                 .bytes = bytes,
                                 .create = create,
                                 .detector = detector,
                                 .reset = reset,
                                 .step = step};

const ff_method *ff_method_entry(uint32_t abi);
const ff_method *ff_method_entry(uint32_t abi) {
    return abi == FF_METHOD_ABI ? &method : NULL;
}
