#include "ideal/vector.h"

#include <math.h>
#include <nvector/nvector_serial.h>

/* z = a x + b y. SUNDIALS takes a factor out where both are the same but for the sign; its other special
 * cases have the bits of the plain sum. */
static void linear_sum(realtype a, N_Vector xv, realtype b, N_Vector yv, N_Vector zv) {
    const sunindextype n = NV_LENGTH_S(xv);
    const double *x = NV_DATA_S(xv), *y = NV_DATA_S(yv);
    double *z = NV_DATA_S(zv);
    if (a == b && a != -1.0)
        for (sunindextype i = 0; i < n; i++)
            z[i] = a * (x[i] + y[i]);
    else if (a == -b && fabs(a) != 1.0)
        for (sunindextype i = 0; i < n; i++)
            z[i] = a * (x[i] - y[i]);
    else
        for (sunindextype i = 0; i < n; i++)
            z[i] = a * x[i] + b * y[i];
}

static void scale(realtype c, N_Vector xv, N_Vector zv) {
    const sunindextype n = NV_LENGTH_S(xv);
    const double *x = NV_DATA_S(xv);
    double *z = NV_DATA_S(zv);
    for (sunindextype i = 0; i < n; i++)
        z[i] = c * x[i];
}

/* z = sum of c[k] x[k], from the first to the last. z may be x[0]. */
static int combine(int count, realtype *c, N_Vector *xv, N_Vector zv) {
    enum { ABREAST = 4 };
    const sunindextype n = NV_LENGTH_S(zv);
    double *z = NV_DATA_S(zv);
    sunindextype i = 0;
    for (; i + ABREAST <= n; i += ABREAST) {
        double sum[ABREAST];
        for (int j = 0; j < ABREAST; j++)
            sum[j] = c[0] * NV_DATA_S(xv[0])[i + j];
        for (int k = 1; k < count; k++) {
            const double *x = NV_DATA_S(xv[k]) + i;
            for (int j = 0; j < ABREAST; j++)
                sum[j] += c[k] * x[j];
        }
        for (int j = 0; j < ABREAST; j++)
            z[i + j] = sum[j];
    }
    for (; i < n; i++) {
        double sum = c[0] * NV_DATA_S(xv[0])[i];
        for (int k = 1; k < count; k++)
            sum += c[k] * NV_DATA_S(xv[k])[i];
        z[i] = sum;
    }
    return 0;
}

static realtype weighted_norm(N_Vector xv, N_Vector wv) {
    const sunindextype n = NV_LENGTH_S(xv);
    const double *x = NV_DATA_S(xv), *w = NV_DATA_S(wv);
    double sum = 0.0;
    for (sunindextype i = 0; i < n; i++) {
        const double part = x[i] * w[i];
        sum += part * part;
    }
    return sqrt(sum / (double)n);
}

void ff_vector_quicken(N_Vector v) {
    if (!v)
        return;
    v->ops->nvlinearsum = linear_sum;
    v->ops->nvscale = scale;
    v->ops->nvlinearcombination = combine;
    v->ops->nvwrmsnorm = weighted_norm;
}
