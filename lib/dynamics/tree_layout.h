/* Memory of the tree, shared by lib/dynamics/tree*.c.
 *
 * Everything is expressed in base coordinates about the base origin, in an inertial frame that coincides with
 * the base frame at this instant. Then no quantity is moved from link to link: composite inertias, forces and
 * articulated inertias are plain sums.
 * What is the same for every link is computed for four links side by side (`lanes`), so that a compiler
 * vectorises it without special code; only the sums along the tree run link by link. Lanes beyond the last
 * joint hold massless links and cost nothing else.
 *
 * The inner link frame has z along the joint's axis; rows map the user's link frames onto it. */
#ifndef FF_DYNAMICS_TREE_LAYOUT_H
#define FF_DYNAMICS_TREE_LAYOUT_H

#include "freefloat/tree.h"

#define LANES 4
typedef double lanes[LANES];

/* Symmetric 3 x 3: xx yy zz xy xz yz. Spatial inertia about the base origin, ten numbers: the symmetric
 * moment of inertia, the first moment h = m c, the mass. */
enum { XX, YY, ZZ, XY, XZ, YZ, HX, HY, HZ, MASS, INERTIA_SIZE };

typedef struct tree_constants {
    lanes R0[9];      /* inner joint frame in the parent's inner link frame at q = 0, row-major */
    lanes p0[3];      /* [m] */
    lanes com[3];     /* [m] inner link frame */
    lanes inertia[6]; /* [kg m2] about the CoM */
    lanes mass;       /* [kg] */
    lanes revolute;   /* 1 or 0 */
    lanes prismatic;  /* 1 or 0 */
    lanes rotor;      /* [kg m2] or [kg] */
} tree_constants;

typedef struct tree_links {
    /* filled by ff_tree_positions */
    lanes R[9];             /* inner link frame in base coordinates */
    lanes p[3];             /* [m] its origin */
    lanes s[6];             /* joint axis as a spatial vector */
    lanes I[INERTIA_SIZE];  /* inertia of the link */
    lanes Ic[INERTIA_SIZE]; /* scratch: composite inertia of the subtree */
    /* filled by ff_tree_velocities */
    lanes qd;
    lanes v[6]; /* twist */
    lanes c[6]; /* acceleration when V_b' = 0 and q'' = 0, without gravity */
    /* scratch */
    lanes t[10]; /* joint rotation; shift by a prismatic joint */
    lanes f[6];  /* forces, summed towards the base */
    lanes F[6];  /* Ic s */
    lanes G[6];  /* Coriolis column or row */
    lanes B[12]; /* Coriolis operator of the subtree */
} tree_links;

/* Articulated body of one joint, [featherstone2008, chapter 7]: U = IA s, D = s . U, u = tau - s . pA. */
typedef struct tree_articulated {
    double IA[6][6];
    double pA[6];
    double U[6];
    double u, inverse_D;
    double a[6];
} tree_articulated;

typedef struct tree_row {
    int joint;       /* joint that moves it, or FF_TREE_BASE */
    ff_pose T_joint; /* the user's link frame in the inner link frame of that joint (or in the base) */
} tree_row;

typedef struct tree_joint {
    ff_tree_limits limits;
    double viscous, coulomb;
} tree_joint;

struct ff_tree_model {
    size_t joints, rows, blocks;
    bool fixed_base;
    double mass;
    double base[INERTIA_SIZE]; /* inertia of the base with all that is fixed to it */
    int parent[FF_TREE_JOINTS_MAX];
    tree_row *row;          /* [rows] */
    tree_joint *joint;      /* [joints] */
    tree_constants block[]; /* [blocks] */
};

struct ff_tree_work {
    ff_pose base;
    ff_mat3 R_base;
    double twist[6];
    double gravity[3]; /* base coordinates */
    double base_Ic[INERTIA_SIZE];
    double base_f[6];
    tree_articulated base_articulated;
    tree_articulated *articulated; /* [joints] */
    tree_links block[];            /* [blocks] */
};

/* Component k of joint i. */
#define LINK(array, member, k, i) ((array)[(i) / LANES].member[k][(i) % LANES])
#define LINK1(array, member, i) ((array)[(i) / LANES].member[(i) % LANES])

/* y = I x for a spatial inertia: [J w + h x v; m v - h x w]. */
static inline void inertia_apply(const double *I, const double *x, double *y) {
    y[0] = I[XX] * x[0] + I[XY] * x[1] + I[XZ] * x[2] + I[HY] * x[5] - I[HZ] * x[4];
    y[1] = I[XY] * x[0] + I[YY] * x[1] + I[YZ] * x[2] + I[HZ] * x[3] - I[HX] * x[5];
    y[2] = I[XZ] * x[0] + I[YZ] * x[1] + I[ZZ] * x[2] + I[HX] * x[4] - I[HY] * x[3];
    y[3] = I[MASS] * x[3] - I[HY] * x[2] + I[HZ] * x[1];
    y[4] = I[MASS] * x[4] - I[HZ] * x[0] + I[HX] * x[2];
    y[5] = I[MASS] * x[5] - I[HX] * x[1] + I[HY] * x[0];
}

/* v x* y, the rate of a momentum y carried along with v. */
static inline void cross_force(const double *v, const double *y, double *z) {
    z[0] = v[1] * y[2] - v[2] * y[1] + v[4] * y[5] - v[5] * y[4];
    z[1] = v[2] * y[0] - v[0] * y[2] + v[5] * y[3] - v[3] * y[5];
    z[2] = v[0] * y[1] - v[1] * y[0] + v[3] * y[4] - v[4] * y[3];
    z[3] = v[1] * y[5] - v[2] * y[4];
    z[4] = v[2] * y[3] - v[0] * y[5];
    z[5] = v[0] * y[4] - v[1] * y[3];
}

/* v x s, the rate of a motion vector s carried along with v. */
static inline void cross_motion(const double *v, const double *s, double *z) {
    z[0] = v[1] * s[2] - v[2] * s[1];
    z[1] = v[2] * s[0] - v[0] * s[2];
    z[2] = v[0] * s[1] - v[1] * s[0];
    z[3] = v[1] * s[5] - v[2] * s[4] + v[4] * s[2] - v[5] * s[1];
    z[4] = v[2] * s[3] - v[0] * s[5] + v[5] * s[0] - v[3] * s[2];
    z[5] = v[0] * s[4] - v[1] * s[3] + v[3] * s[1] - v[4] * s[0];
}

/* Sums the links' inertias towards the base: block.Ic and base_Ic. */
void ff__tree_composite(const ff_tree_model *model, ff_tree_work *work);

#endif
