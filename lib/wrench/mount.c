#include "freefloat/wrench.h"

/* A mock-up of mass m on an elastic mount: with d its displacement from the flange, a the flange's
 * acceleration and F the contact force, d'' = F/m - a - w^2 d - 2 z w d',     what the sensor carries: S = m
 * (w^2 d + 2 z w d'). F cannot be had by inverting this sample by sample: d follows F with two integrations,
 * whose sampled form has a zero outside the unit circle. A Kalman filter of fixed gain finds d, d', F and F'
 * instead, F as a line whose slope (and value) may change from cycle to cycle; in a line's steady state it
 * has no error. The three axes are alike and do not touch each other. */
enum { D, D_DOT, FORCE, SLOPE, STATES = FF_MOUNT_STATES, ALL = STATES + 1 }; /* the last one: a */

void ff_mount_default(ff_mount_config *config) {
    *config = (ff_mount_config){
        .rate = FF_INF, .ratio = 0.02, .cycle = 0.004, .noise = 0.0, .slope = 500.0, .mass = 1.0};
}

ff_status ff_mount_validate(const ff_mount_config *config) {
    if (isinf(config->rate) && config->rate > 0.0)
        return FF_OK; /* rigid */
    if (!isfinite(config->mass + config->rate + config->ratio + config->cycle + config->noise +
                  config->slope))
        return FF_ERR_NOT_FINITE;
    return config->mass > 0.0 && config->rate > 0.0 && config->ratio >= 0.0 && config->cycle > 0.0 &&
                   config->noise >= 0.0 && config->slope > 0.0
               ? FF_OK
               : FF_ERR_ARGUMENT;
}

static void multiply(double A[ALL][ALL], double B[ALL][ALL], double out[ALL][ALL]) {
    double C[ALL][ALL];
    for (int i = 0; i < ALL; i++)
        for (int j = 0; j < ALL; j++) {
            C[i][j] = 0.0;
            for (int k = 0; k < ALL; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < ALL; i++)
        for (int j = 0; j < ALL; j++)
            out[i][j] = C[i][j];
}

/* exp(A T): halved until small, twelve terms, squared back. */
static void transition(const ff_mount_config *c, double out[ALL][ALL]) {
    int halvings = 0;
    double h = c->cycle;
    while (h * (c->rate * fmax(1.0, c->rate) + 1.0) > 0.1 && halvings < 60) {
        h *= 0.5;
        halvings++;
    }
    double A[ALL][ALL] = {{0}}, term[ALL][ALL] = {{0}};
    A[D][D_DOT] = h;
    A[D_DOT][D] = -c->rate * c->rate * h;
    A[D_DOT][D_DOT] = -2.0 * c->ratio * c->rate * h;
    A[D_DOT][FORCE] = h;
    A[D_DOT][STATES] = -h;
    A[FORCE][SLOPE] = h;
    for (int i = 0; i < ALL; i++)
        for (int j = 0; j < ALL; j++)
            out[i][j] = term[i][j] = i == j ? 1.0 : 0.0;
    for (int n = 1; n <= 12; n++) {
        multiply(term, A, term);
        for (int i = 0; i < ALL; i++)
            for (int j = 0; j < ALL; j++) {
                term[i][j] /= n;
                out[i][j] += term[i][j];
            }
    }
    for (; halvings > 0; halvings--)
        multiply(out, out, out);
}

/* Standard deviation of the force that white noise R of the readings leaves: V = C V C' + g g' R^2 with
 * C = (1 - g H) A. */
static double noise_of_force(const ff_mount_model *model, double R) {
    double C[STATES][STATES], V[STATES][STATES] = {{0}};
    for (int i = 0; i < STATES; i++)
        for (int j = 0; j < STATES; j++)
            C[i][j] = model->A[i][j] -
                      model->gain[i] * (model->H[D] * model->A[D][j] + model->H[D_DOT] * model->A[D_DOT][j]);
    for (int n = 0; n < 2000; n++) {
        double M[STATES][STATES];
        for (int i = 0; i < STATES; i++)
            for (int j = 0; j < STATES; j++) {
                M[i][j] = 0.0;
                for (int k = 0; k < STATES; k++)
                    M[i][j] += C[i][k] * V[k][j];
            }
        for (int i = 0; i < STATES; i++)
            for (int j = 0; j < STATES; j++) {
                V[i][j] = model->gain[i] * model->gain[j] * R * R;
                for (int k = 0; k < STATES; k++)
                    V[i][j] += M[i][k] * C[j][k];
            }
    }
    return sqrt(V[FORCE][FORCE]);
}

ff_status ff_mount_create(const ff_mount_config *config, ff_mount_model *model) {
    const ff_status status = ff_mount_validate(config);
    if (status != FF_OK)
        return status;
    *model = (ff_mount_model){.config = *config, .elastic = isfinite(config->rate)};
    if (!model->elastic)
        return FF_OK;
    double A[ALL][ALL];
    transition(config, A);
    for (int i = 0; i < STATES; i++) {
        for (int j = 0; j < STATES; j++)
            model->A[i][j] = A[i][j];
        model->B[i] = A[i][STATES];
    }
    model->H[D] = config->rate * config->rate;
    model->H[D_DOT] = 2.0 * config->ratio * config->rate;
    /* all in units of F/m */
    const double slope = config->slope / config->mass, step = slope * config->cycle;
    /* between two samples the force is not a line: a reading is good to a tenth of what a cycle may bring */
    const double R = fmax(config->noise / config->mass, 0.1 * step), Q[STATES] = {0, 0, step, slope};
    double P[STATES][STATES] = {{0}};
    for (int i = 0; i < STATES; i++)
        P[i][i] = Q[i] * Q[i];
    for (int n = 0; n < 4000; n++) { /* the filter's own equations, until they stand still */
        double M[STATES][STATES], N[STATES][STATES], HN[STATES], sum = R * R;
        for (int i = 0; i < STATES; i++)
            for (int j = 0; j < STATES; j++) {
                M[i][j] = 0.0;
                for (int k = 0; k < STATES; k++)
                    M[i][j] += model->A[i][k] * P[k][j];
            }
        for (int i = 0; i < STATES; i++)
            for (int j = 0; j < STATES; j++) {
                N[i][j] = i == j ? Q[i] * Q[i] : 0.0;
                for (int k = 0; k < STATES; k++)
                    N[i][j] += M[i][k] * model->A[j][k];
            }
        for (int i = 0; i < STATES; i++)
            HN[i] = model->H[D] * N[D][i] + model->H[D_DOT] * N[D_DOT][i];
        sum += model->H[D] * HN[D] + model->H[D_DOT] * HN[D_DOT];
        for (int i = 0; i < STATES; i++) {
            model->gain[i] = HN[i] / sum;
            for (int j = 0; j < STATES; j++)
                P[i][j] = N[i][j] - HN[i] * HN[j] / sum;
        }
    }
    for (int i = 0; i < STATES; i++)
        if (!isfinite(model->gain[i]))
            return FF_ERR_NOT_FINITE;
    model->noise = config->mass * fmax(R, noise_of_force(model, R));
    return FF_OK;
}

void ff_mount_reset(ff_mount_state *state) {
    *state = (ff_mount_state){0};
}

void ff_mount_step(const ff_mount_model *model, ff_mount_state *state, const ff_wrench_config *wrench,
                   const ff_wrench_in *in, bool fresh, ff_wrench_in *tip) {
    *tip = *in;
    if (!model->elastic)
        return;
    /* what the mount carries, without the weight, inertial axes */
    const ff_wrench net = ff_wrench_transform(wrench->T_bs, ff_wrench_sub(in->f_s, wrench->bias_s));
    const ff_vec3 carried =
        ff_vec3_axpy(-model->config.mass, wrench->gravity_w, ff_quat_rotate(in->T_wb.q, net.f));
    for (int a = 0; a < 3; a++) {
        double *x = state->x[a], next[STATES];
        for (int i = 0; i < STATES; i++) {
            next[i] = model->B[i] * in->acceleration.v.a[a];
            for (int j = 0; j < STATES; j++)
                next[i] += model->A[i][j] * x[j];
        }
        const double y = carried.a[a] / model->config.mass;
        const double miss = fresh ? y - model->H[D] * next[D] - model->H[D_DOT] * next[D_DOT] : 0.0;
        for (int i = 0; i < STATES; i++)
            x[i] = next[i] + model->gain[i] * miss;
        tip->T_wb.p.a[a] += x[D];
        tip->twist.v.a[a] += x[D_DOT];
        tip->acceleration.v.a[a] = x[FORCE] - y; /* of the mock-up: m times it is F - S */
    }
}
