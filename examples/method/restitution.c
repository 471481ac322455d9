/* A complete method outside the tree: a coefficient of restitution.
 *
 *   v' = -e v    along the normal, for each contact
 *
 * The robot is late, so the measured force continues after the satellite should have left: the impulse is
 * given up to the one that turns the approach speed v into -e v, J = m_e (1 + e) v, and what is measured
 * beyond it is left out. With e <= 1 no contact gives energy: it is passive whatever the delay. The force's
 * line of action goes through the contact point, so m_e = 1/(F.H^-1 F) for the unit wrench F, spin included.
 *
 * Build:  cc -shared -fPIC -I FREEFLOAT/include restitution.c -o libmethod_example.so -lm
 * Run:    freefloat run scenarios/deos-client.yaml --method ./libmethod_example.so --set restitution.e=0.9 */
#include <freefloat/method.h>

typedef struct settings {
    double e;
} settings;

typedef struct state {
    double left[FF_MAX_BODIES]; /* [N s] of the impulse that the contact may still give */
} state;

/* Contact is where there is a force: a torque alone has no line of action. */
static void detector(const void *set, ff_detector_config *config) {
    (void)set;
    config->torque_on = FF_INF;
}

/* The speed that counts is that against what is touched: here the wall, which stands. */
static ff_status check(const ff_world *world, const void *set, uint64_t given, ff_complaint *complaint) {
    (void)set, (void)given;
    if (!world || world->bodies == 1)
        return FF_OK;
    *complaint = (ff_complaint){"", "two satellites that meet are not its case; allowed: one satellite"};
    return FF_ERR_UNSUPPORTED;
}

static ff_status step(const void *set, void *s, const ff_method_in *in, ff_method_out *out) {
    const double e = ((const settings *)set)->e;
    for (int i = 0; i < in->bodies; i++) {
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
            *left = u < 0.0 ? -(1.0 + e) * u / per : 0.0;
        const double impulse = fmin(in->cycle * size, *left);
        *left -= impulse;
        out->f_b[i] = ff_wrench_scale(impulse / (in->cycle * size), f);
    }
    return FF_OK;
}

static const ff_setting table[] = {
    FF_SETTING_OF(settings, e, "", 0.8, 0.0, 1.0, "Speed after a contact over the speed before it.")};

static const ff_method method = {
    FF_METHOD("restitution", "1", "A rebound with a given coefficient of restitution."),
    FF_METHOD_TAKES(table, settings),
    .needs = FF_NEEDS_DETECTION,
    .can = FF_CAN_RELATIVE,
    .state_bytes = sizeof(state),
    .check = check,
    .detector = detector,
    .step = step};
FF_METHOD_EXPORT(method)
