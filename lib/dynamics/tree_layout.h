/* Memory of the tree, shared by lib/dynamics/tree*.c.
 *
 * Everything is expressed in base coordinates about the base origin, in an inertial frame that coincides with
 * the base frame at this instant. Then no quantity is moved from link to link: composite inertias, forces and
 * articulated inertias are plain sums.
 * What is the same for every link is computed for four bodies side by side (`lanes`), so that a compiler
 * vectorises it without special code; only the sums along the tree run body by body. Lanes beyond the last
 * body hold zeros.
 *
 * The inner link frame has z along the joint's axis; rows map the user's link frames onto it. */
#ifndef FF_DYNAMICS_TREE_LAYOUT_H
#define FF_DYNAMICS_TREE_LAYOUT_H

#include <string.h>

#include "freefloat/dynamics.h"

/* The loops over lanes are built twice where that helps: for the plain processor, and with 256-bit vectors
 * for processors that have them, chosen once in ff_tree_create. Everything called must then be inlined. */
#if defined(__GNUC__) && defined(__x86_64__)
#define HAVE_WIDE 1
#define WIDE static __attribute__((target("avx2")))
#else
#define HAVE_WIDE 0
#define WIDE static
#endif
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* ff_tree_<name> in both widths from one body. */
/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parameter lists */
#define TWO_WIDTHS(name, parameters, arguments) \
    WIDE void name##_wide parameters {          \
        name##_body arguments;                  \
    }                                           \
    void ff_tree_##name parameters {            \
        if (model->wide)                        \
            name##_wide arguments;              \
        else                                    \
            name##_body arguments;              \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#define LANES 4
#define ALIGNED(n) _Alignas(n)
typedef double lanes[LANES];
/* Where gcc would take a short loop apart before it vectorises. */
#if defined(__GNUC__) && !defined(__clang__)
#define WHOLE _Pragma("GCC unroll 1")
#define UNROLLED _Pragma("GCC unroll 6")
#else
#define WHOLE
#define UNROLLED
#endif
/* Loop over the four links of a block; the bodies are straight-line code that a compiler can vectorise. */
#define FOR_LANES for (int l = 0; l < LANES; l++)

/* Symmetric 3 x 3: xx yy zz xy xz yz. Spatial inertia about the base origin, ten numbers: the symmetric
 * moment of inertia, the first moment h = m c, the mass. */
enum { XX, YY, ZZ, XY, XZ, YZ, HX, HY, HZ, MASS, INERTIA_SIZE };

/* Body 0 is the base, body i + 1 the link behind joint i. */
typedef struct tree_constants {
    ALIGNED(32) lanes R0[9]; /* inner joint frame in the parent's inner link frame at q = 0, row-major */
    lanes p0[3];             /* [m] */
    lanes com[3];            /* [m] inner link frame */
    lanes inertia[6];        /* [kg m2] about the CoM */
    lanes mass;              /* [kg] */
    lanes revolute;          /* 1 or 0 */
    lanes prismatic;         /* 1 or 0 */
    lanes rotor;             /* [kg m2] or [kg] */
} tree_constants;

typedef struct tree_bodies {
    /* filled by ff_tree_positions; I when it is first needed */
    ALIGNED(32) lanes R[9]; /* inner link frame in base coordinates */
    lanes p[3];             /* [m] its origin */
    lanes s[6];             /* joint axis as a spatial vector; zero for the base */
    lanes I[INERTIA_SIZE];  /* inertia of the link */
    /* filled by ff_tree_velocities */
    lanes qd;
    lanes v[6]; /* twist */
    lanes c[6]; /* acceleration when V_b' = 0 and q'' = 0, without gravity */
    /* scratch */
    lanes t[12];            /* pose of the link in its parent's frame: rotation, position */
    lanes Ic[INERTIA_SIZE]; /* composite inertia of the subtree */
    lanes f[6];             /* forces, summed towards the base */
    lanes F[6];             /* Ic s */
    lanes B[12];            /* Coriolis operator of the subtree */
} tree_bodies;

/* Rows of six, two lanes longer, so that they are whole vectors; what stands beyond the sixth is not read. */
enum { ROW = 8 };
typedef double tree_vector[ROW];

/* Articulated body, [featherstone2008, chapter 7]: U = IA s, D = s . U, u = tau - s . pA. */
typedef struct tree_articulated {
    ALIGNED(32) tree_vector IA[6]; /* of what stands on the body */
    tree_vector pA;
    tree_vector I[6]; /* of the body itself */
    tree_vector f;
    tree_vector U;
    tree_vector a;
    double u, inverse_D;
} tree_articulated;

typedef struct tree_row {
    int body;       /* that carries it */
    ff_pose T_body; /* the user's link frame in the inner link frame of that body */
} tree_row;

typedef struct tree_joint {
    ff_tree_limits limits;
    double viscous, coulomb;
} tree_joint;

enum { BODIES_MAX = FF_TREE_JOINTS_MAX + 1, BLOCKS_MAX = (BODIES_MAX + LANES - 1) / LANES };

struct ff_tree_model {
    size_t joints, bodies, rows, blocks;
    bool fixed_base;
    bool wide; /* this processor runs the 256-bit form of the loops; same operations, same bits */
    double mass;
    size_t parent[BODIES_MAX];    /* body */
    size_t at[BODIES_MAX];        /* where a body's lane begins in the work's blocks [double] */
    tree_row *row;                /* [rows] */
    tree_joint *joint;            /* [joints] */
    ALIGNED(32) lanes unit[2][6]; /* motions of the base: four, and two */
    tree_constants block[];       /* [blocks] */
};

struct ff_tree_work {
    ff_pose base;
    ff_mat3 R_base;
    double gravity[3];             /* base coordinates */
    bool weighed;                  /* I holds the links' inertias at these positions */
    tree_articulated *articulated; /* [bodies] */
    tree_bodies block[];           /* [blocks] */
};

/* A body's lane: component k of member x is lane[AT(x, k)]. */
#define AT(member, k) (offsetof(tree_bodies, member) / sizeof(double) + LANES * (size_t)(k))

INLINE double *lane_of(const ff_tree_model *model, ff_tree_work *work, size_t body) {
    return (double *)(void *)work->block + model->at[body];
}
INLINE const double *lane_read(const ff_tree_model *model, const ff_tree_work *work, size_t body) {
    return (const double *)(const void *)work->block + model->at[body];
}

/* y = I x for a spatial inertia: [J w + h x v; m v - h x w]. */
INLINE void inertia_apply(const double *I, const double *x, double *y) {
    y[0] = I[XX] * x[0] + I[XY] * x[1] + I[XZ] * x[2] + I[HY] * x[5] - I[HZ] * x[4];
    y[1] = I[XY] * x[0] + I[YY] * x[1] + I[YZ] * x[2] + I[HZ] * x[3] - I[HX] * x[5];
    y[2] = I[XZ] * x[0] + I[YZ] * x[1] + I[ZZ] * x[2] + I[HX] * x[4] - I[HY] * x[3];
    y[3] = I[MASS] * x[3] - I[HY] * x[2] + I[HZ] * x[1];
    y[4] = I[MASS] * x[4] - I[HZ] * x[0] + I[HX] * x[2];
    y[5] = I[MASS] * x[5] - I[HX] * x[1] + I[HY] * x[0];
}

/* v x* y, the rate of a momentum y carried along with v. */
INLINE void cross_force(const double *v, const double *y, double *z) {
    z[0] = v[1] * y[2] - v[2] * y[1] + v[4] * y[5] - v[5] * y[4];
    z[1] = v[2] * y[0] - v[0] * y[2] + v[5] * y[3] - v[3] * y[5];
    z[2] = v[0] * y[1] - v[1] * y[0] + v[3] * y[4] - v[4] * y[3];
    z[3] = v[1] * y[5] - v[2] * y[4];
    z[4] = v[2] * y[3] - v[0] * y[5];
    z[5] = v[0] * y[4] - v[1] * y[3];
}

/* v x s, the rate of a motion vector s carried along with v. */
INLINE void cross_motion(const double *v, const double *s, double *z) {
    z[0] = v[1] * s[2] - v[2] * s[1];
    z[1] = v[2] * s[0] - v[0] * s[2];
    z[2] = v[0] * s[1] - v[1] * s[0];
    z[3] = v[1] * s[5] - v[2] * s[4] + v[4] * s[2] - v[5] * s[1];
    z[4] = v[2] * s[3] - v[0] * s[5] + v[5] * s[0] - v[3] * s[2];
    z[5] = v[0] * s[4] - v[1] * s[3] + v[3] * s[1] - v[4] * s[0];
}

/* Inertias of four links in base coordinates. */
INLINE void link_inertias(const tree_constants *restrict k, const tree_bodies *restrict b,
                          lanes *restrict I) {
    FOR_LANES {
        const double r00 = b->R[0][l], r01 = b->R[1][l], r02 = b->R[2][l];
        const double r10 = b->R[3][l], r11 = b->R[4][l], r12 = b->R[5][l];
        const double r20 = b->R[6][l], r21 = b->R[7][l], r22 = b->R[8][l];
        const double px = b->p[0][l], py = b->p[1][l], pz = b->p[2][l];
        const double cx = k->com[0][l], cy = k->com[1][l], cz = k->com[2][l], m = k->mass[l];
        const double x = px + r00 * cx + r01 * cy + r02 * cz;
        const double y = py + r10 * cx + r11 * cy + r12 * cz;
        const double z = pz + r20 * cx + r21 * cy + r22 * cz;
        const double hx = m * x, hy = m * y, hz = m * z;

        /* R J R^T; the trace gives the last diagonal entry. */
        const double jxx = k->inertia[XX][l], jyy = k->inertia[YY][l], jzz = k->inertia[ZZ][l];
        const double jxy = k->inertia[XY][l], jxz = k->inertia[XZ][l], jyz = k->inertia[YZ][l];
        const double a00 = r00 * jxx + r01 * jxy + r02 * jxz;
        const double a01 = r00 * jxy + r01 * jyy + r02 * jyz;
        const double a02 = r00 * jxz + r01 * jyz + r02 * jzz;
        const double a10 = r10 * jxx + r11 * jxy + r12 * jxz;
        const double a11 = r10 * jxy + r11 * jyy + r12 * jyz;
        const double a12 = r10 * jxz + r11 * jyz + r12 * jzz;
        const double xx = a00 * r00 + a01 * r01 + a02 * r02;
        const double yy = a10 * r10 + a11 * r11 + a12 * r12;
        const double xy = a00 * r10 + a01 * r11 + a02 * r12;
        const double xz = a00 * r20 + a01 * r21 + a02 * r22;
        const double yz = a10 * r20 + a11 * r21 + a12 * r22;
        const double zz = jxx + jyy + jzz - xx - yy;

        const double hxx = hx * x, hyy = hy * y, hzz = hz * z;
        I[XX][l] = xx + hyy + hzz;
        I[YY][l] = yy + hxx + hzz;
        I[ZZ][l] = zz + hxx + hyy;
        I[XY][l] = xy - hx * y;
        I[XZ][l] = xz - hx * z;
        I[YZ][l] = yz - hy * z;
        I[HX][l] = hx;
        I[HY][l] = hy;
        I[HZ][l] = hz;
        I[MASS][l] = m;
    }
}

/* Fills I: of the positions alone not everyone asks for it. */
INLINE void weigh(const ff_tree_model *model, ff_tree_work *work) {
    if (work->weighed)
        return;
    for (size_t n = 0; n < model->blocks; n++)
        link_inertias(&model->block[n], &work->block[n], work->block[n].I);
    work->weighed = true;
}

/* Sums the bodies' inertias towards the base: Ic. */
INLINE void composite_inertias(const ff_tree_model *model, ff_tree_work *work) {
    weigh(model, work);
    for (size_t n = 0; n < model->blocks; n++)
        memcpy(work->block[n].Ic, work->block[n].I, sizeof work->block[n].I);
    for (size_t i = model->bodies - 1; i > 0; i--) {
        const double *restrict b = lane_of(model, work, i);
        double *restrict a = lane_of(model, work, model->parent[i]);
        for (int k = 0; k < INERTIA_SIZE; k++)
            a[AT(Ic, k)] += b[AT(Ic, k)];
    }
}

#endif
