/* Pair and cone contact against MuJoCo: the same two bodies, its soft contact given the same stiffness and
 * damping (solref in direct form is an acceleration per depth and speed, so both are divided by the effective
 * mass at the contact). In a plane through its axis a cone is two inclined planes: two boxes stand for it. */
#include "support.h"

#include <mujoco/mujoco.h>

#include "ideal/ideal.h"
#include "report/metrics.h"
#include "executive/run.h"

#define CASES FF_SOURCE_DIR "/scenarios/papers/lange/"

static void stop(const char *text) {
    fail_msg("MuJoCo: %s", text);
}

typedef struct impulses {
    int count;
    ff_vec3 p[8]; /* [N s] on the servicer, each contact */
    ff_vec3 velocity, omega;
} impulses;

/* Runs the model and cuts the servicer's momentum into contacts (5 ms apart or more). */
static void simulate(const char *xml, double duration, impulses *out) {
    static mjVFS vfs;
    char error[1024] = "";
    mju_user_error = stop;
    mj_defaultVFS(&vfs);
    const int length = (int)strlen(xml);
    assert_int_equal(mj_makeEmptyFileVFS(&vfs, "model.xml", length + 1), 0);
    memcpy(vfs.filedata[0], xml, (size_t)length + 1);
    mjModel *m = mj_loadXML("model.xml", &vfs, error, sizeof error);
    mj_deleteVFS(&vfs);
    if (!m)
        fail_msg("%s", error);
    mjData *d = mj_makeData(m);
    const int body = mj_name2id(m, mjOBJ_BODY, "servicer");
    const double mass = m->body_mass[body];
    const int v = m->body_dofadr[body];
    const int speed = mj_name2id(m, mjOBJ_NUMERIC, "velocity");
    for (int i = 0; i < 3; i++)
        d->qvel[v + i] = m->numeric_data[m->numeric_adr[speed] + i];
    *out = (impulses){0};
    bool touching = false;
    double quiet = 1.0;
    ff_vec3 before = {{d->qvel[v], d->qvel[v + 1], d->qvel[v + 2]}};
    while (d->time < duration) {
        const ff_vec3 now = {{d->qvel[v], d->qvel[v + 1], d->qvel[v + 2]}};
        mj_step(m, d);
        bool force = false;
        for (int i = 0; i < d->nefc; i++)
            force = force || d->efc_force[i] > 0.0;
        quiet = force ? 0.0 : quiet + m->opt.timestep;
        if (force && !touching) {
            touching = true;
            before = now;
        } else if (touching && quiet > 5e-3) {
            touching = false;
            if (out->count < 8)
                out->p[out->count++] = ff_vec3_scale(mass, ff_vec3_sub(now, before));
        }
    }
    out->velocity = ff_vec3_make(d->qvel[v], d->qvel[v + 1], d->qvel[v + 2]);
    out->omega = ff_vec3_make(d->qvel[v + 3], d->qvel[v + 4], d->qvel[v + 5]);
    mj_deleteData(d);
    mj_deleteModel(m);
}

static void run_ours(const char *file, const char *const *set, int sets, double damping, impulses *ideal_out,
                     impulses *impact_out) {
    static ff_scenario s;
    char message[512], warnings[512];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_load(file, &options, &s, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    s.contact[0].damping = s.contact[0].satellite_damping = damping;
    ff_ideal_result ideal;
    if (ff_ideal_solve(&s, NULL, NULL, &ideal, message, sizeof message) < 0)
        fail_msg("%s", message);
    *ideal_out = *impact_out = (impulses){0};
    for (int n = 0; n < ideal.contacts && n < 8; n++)
        ideal_out->p[ideal_out->count++] =
            ff_vec3_scale(s.satellite[0].rigid.mass, ff_vec3_sub(ideal.contact[n].after[0].velocity,
                                                                 ideal.contact[n].before[0].velocity));
    const ff_rigid_state *end = &ideal.state[(ideal.samples - 1) * (uint64_t)ideal.bodies];
    ideal_out->velocity = end->velocity;
    ideal_out->omega = end->omega;
    ff_metrics metrics;
    ff_run_result result;
    assert_int_equal(ff_metrics_init(&s, &metrics), FF_OK);
    const ff_sink sink = ff_metrics_sink(&metrics);
    const ff_run_options run = {.ideal = &ideal, .sinks = &sink, .count = 1};
    ff_run(&s, &run, &result);
    assert_int_equal(result.status, FF_OK);
    ff_metrics_finish(&metrics, &ideal, result.status);
    for (int n = 0; n < metrics.episodes && n < 8; n++)
        impact_out->p[impact_out->count++] =
            ff_vec3_scale(s.satellite[0].rigid.mass, ff_vec3_sub(metrics.episode[n].after[0].velocity,
                                                                 metrics.episode[n].before[0].velocity));
    impact_out->velocity = metrics.body[0].final.velocity;
    ff_metrics_free(&metrics);
    ff_ideal_free(&ideal);
}

static void compare(const char *name, const impulses *truth, const impulses *ours, int count) {
    assert_int_equal(truth->count, count);
    assert_int_equal(ours->count, count);
    for (int n = 0; n < count; n++) {
        const double size = ff_vec3_norm(truth->p[n]);
        print_message("%s contact %d: [%.4f %.4f] N s, MuJoCo [%.4f %.4f]\n", name, n + 1, ours->p[n].x,
                      ours->p[n].y, truth->p[n].x, truth->p[n].y);
        assert_vec3_near(ours->p[n], truth->p[n], 2e-3 * size);
    }
}

/* A small ball at the tip; faces stand back by its radius, so that its centre touches where the point would.
 */
#define HEAD                                                                                                 \
    "<mujoco><option timestep='0.0001' integrator='RK4' gravity='0 0 0'/>"                                   \
    "<default><geom condim='1' friction='0 0 0' solref='%.9g %.9g' solimp='0.9999 0.9999 0.001'/></default>" \
    "<custom><numeric name='velocity' data='%g %g 0'/></custom><worldbody>"                                  \
    "<body name='servicer' pos='%g %g 0'><freejoint/><inertial pos='0 0 0' mass='100' diaginertia='10 10 "   \
    "10'/>"                                                                                                  \
    "<geom type='sphere' size='0.01' pos='%g %g 0'/></body>"

static void test_pair(void **state) {
    (void)state;
    for (int damped = 0; damped < 2; damped++) {
        /* tip 0.1 m off the CoM; 1/m = 2/100 + 0.1^2/10 + 0.1^2/10 */
        const double k = 5e4, c = damped ? 400.0 : 0.0, per_mass = 0.02 + 0.001 + 0.001;
        char xml[4096];
        snprintf(xml, sizeof xml,
                 HEAD "<body name='client' pos='1 0 0'><freejoint/><inertial pos='0 0 0' mass='100' "
                      "diaginertia='10 10 10'/>"
                      "<geom type='box' size='0.2 0.5 0.5' pos='-0.29 0 0'/></body></worldbody></mujoco>",
                 -k * per_mass, -c * per_mass, 0.1, 0.0, -0.04, 0.0, 0.5, 0.1);
        impulses truth, ideal, impact;
        simulate(xml, 1.0, &truth);
        const char *const set[] = {"satellites.servicer.points={tip: [0.5, 0.1, 0]}", "time.duration=1"};
        run_ours(CASES "fig-6.yaml", set, 2, c, &ideal, &impact);
        compare(damped ? "damped pair, ideal" : "pair, ideal", &truth, &ideal, 1);
        compare(damped ? "damped pair, impact" : "pair, impact", &truth, &impact, 1);
        assert_vec3_near(ideal.omega, truth.omega, 2e-3 * ff_vec3_norm(truth.omega));
    }
}

/* The first impact of bar and cone: n = (-1, -1)/sqrt2, levers 0.8 m and (-0.7, 0.1) m. */
static void test_cone(void **state) {
    (void)state;
    const double k = 5e4, s = sqrt(0.5);
    const double lever_servicer = 0.8 * s, lever_client = (-0.7 * -s - 0.1 * -s);
    const double per_mass =
        1.0 / 100 + 1.0 / 1000 + lever_servicer * lever_servicer / 10 + lever_client * lever_client / 300;
    char xml[4096];
    /* faces through the apex (-0.6, 0) at 45 degrees, boxes behind them and 0.01 m back */
    const double out = 0.2 + 0.01, along = 0.3;
    const double x = -0.6 - along * s + out * s, y = along * s + out * s;
    snprintf(
        xml, sizeof xml,
        HEAD
        "<body name='client' pos='0 0 0'><freejoint/><inertial pos='0 0 0' mass='1000' diaginertia='300 300 "
        "300'/>"
        "<geom type='box' size='0.2 0.6 0.5' pos='%.9g %.9g 0' euler='0 0 45'/>"
        "<geom type='box' size='0.2 0.6 0.5' pos='%.9g %.9g 0' euler='0 0 -45'/></body></worldbody></mujoco>",
        -k * per_mass, 0.0, 0.05, 0.0, -1.7, 0.1, 0.8, 0.0, x, y, x, -y);
    impulses truth, ideal, impact;
    simulate(xml, 5.0, &truth);
    const char *const set[] = {"time.duration=5"};
    run_ours(CASES "fig-7.yaml", set, 1, 0.0, &ideal, &impact);
    compare("cone, ideal", &truth, &ideal, 1);
    compare("cone, impact", &truth, &impact, 1);
    assert_vec3_near(ideal.omega, truth.omega, 2e-3 * ff_vec3_norm(truth.omega));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pair), cmocka_unit_test(test_cone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
