/* command/arm.h - what the parts of the arm's kinematics share: arm.c the chain and the choice of a solution,
 * arm_closed.c the closed inverses, arm_search.c the iterative one, arm_table.c public robots. */
#ifndef FF_COMMAND_ARM_H
#define FF_COMMAND_ARM_H

#include "freefloat/command.h"

/* Lengths below this [m] leave a direction undefined; sines below SINGULAR leave an angle undefined. */
#define ON_AXIS 1e-12
#define SINGULAR 1e-12
/* Rounding allowed at the edge of the reach [m] and of a range [rad]. */
#define EDGE 1e-12

/* Everything the forward map and the Jacobian need, in base coordinates, without the rail. */
typedef struct ff__arm_chain {
    ff_vec3 axis[FF_ARM_AXES];  /* unit, positive sense */
    ff_vec3 point[FF_ARM_AXES]; /* on the axis [m] */
    ff_pose T_bf;
} ff__arm_chain;

void ff__arm_chain_at(const ff_arm_model *model, const double *q, ff__arm_chain *chain);

/* arm_closed.c: which form the chain has; its constants into the model. */
void ff__arm_recognise(ff_arm_model *model);
/* A lengths' chain. */
void ff__arm_lengths(ff_arm_config *config);
/* Where the wrist is, as the rail follows it. T_bf: the flange in the base. */
ff_vec3 ff__arm_wrist(const ff_arm_model *model, const ff_pose *T_bf);
/* Up to eight solutions for a flange in the base, sorted; turns are not chosen, ranges not looked at. */
int ff__arm_closed(const ff_arm_model *model, const ff_pose *T_bf, const double *previous,
                   ff_arm_solution solution[8], ff_arm_info *info);

/* arm_search.c: from q, at most so many iterations; dt [s]: how far the seventh axis may be led (0: not at
 * all). Returns what is left of the error [m]; less than FF__ARM_FOUND: found. */
#define FF__ARM_FOUND 1e-10
double ff__arm_search(const ff_arm_model *model, const ff_pose *T_bf, double *q, int iterations, double dt);
/* A beginning for the search, n from 0. */
void ff__arm_begin(const ff_arm_model *model, int n, double *q);
/* Smallest singular value of the Jacobian, lengths over the reach. */
double ff__arm_condition(const ff_arm_model *model, const double *q);

#endif
