/* ideal/vector.h - the arithmetic of SUNDIALS' serial vectors, compiled by us.
 *
 * Distributions ship SUNDIALS without optimization (Debian 12: each element of a sum takes some twenty
 * instructions), and CVODE's interpolation is nothing but such sums: they were half of a reference's time. */
#ifndef FF_IDEAL_VECTOR_H
#define FF_IDEAL_VECTOR_H

#include <sundials/sundials_nvector.h>

/* Exchanges the operations that CVODE spends its time in for ours, to the bit the same; what is cloned from v
 * has them, too. v: a serial vector; NULL is left alone. */
void ff_vector_quicken(N_Vector v);

#endif
