/* freefloat/base.h - the status list, vectors, quaternions, poses, spatial algebra, small fixed-size solves.
 *
 * Conventions (docs/notation.md): SI units; quaternions scalar first, body to inertial; T_ab maps
 * b-coordinates to a; spatial vectors angular first; matrices row-major. Everything here is pure arithmetic:
 * no allocation, no system call, no global state. */
#ifndef FREEFLOAT_BASE_H
#define FREEFLOAT_BASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FF_VERSION "0.2.0"
#define FF_PI 3.14159265358979323846
/* The standard macros are floats: these do not promote. */
#define FF_INF ((double)INFINITY)
#define FF_NAN ((double)NAN)

/* ---------------------------------------------------------------------------------------------- status -- */

/* One list feeds the enum, the names and the sentences. Zero is success, positive is information (the step
 * was done, something deserves a count), negative is a fault (nothing was changed, the last safe value
 * holds). */
#define FF_STATUS_LIST(X)                                                                \
    X(FF_OK, 0, "done")                                                                  \
    X(FF_INFO_HELD, 1, "the last safe value is held")                                    \
    X(FF_INFO_LIMITED, 2, "a limit acted")                                               \
    X(FF_INFO_STALE, 3, "the sample is older than allowed")                              \
    X(FF_INFO_SATURATED, 4, "the sensor is saturated")                                   \
    X(FF_INFO_GAP, 5, "a sample is missing before this one")                             \
    X(FF_ERR_ARGUMENT, -1, "an argument is outside its range")                           \
    X(FF_ERR_NOT_FINITE, -2, "a value is not finite")                                    \
    X(FF_ERR_MASS, -3, "the mass must be positive")                                      \
    X(FF_ERR_INERTIA, -4, "the inertia is not physical (positive, triangle inequality)") \
    X(FF_ERR_SINGULAR, -5, "a matrix or direction is singular")                          \
    X(FF_ERR_SIZE, -6, "a buffer or table is too small")                                 \
    X(FF_ERR_FORMAT, -7, "the bytes do not have the expected form")                      \
    X(FF_ERR_DIVERGED, -8, "the motion diverged")                                        \
    X(FF_ERR_LIMIT, -9, "a limit was exceeded")                                          \
    X(FF_ERR_DEVICE, -10, "a device failed")                                             \
    X(FF_ERR_IO, -11, "a file could not be read or written")                             \
    X(FF_ERR_MEMORY, -12, "no memory")                                                   \
    X(FF_ERR_UNSUPPORTED, -13, "not supported")                                          \
    X(FF_ERR_REACH, -14, "the pose cannot be reached")                                   \
    X(FF_ERR_CONVERGENCE, -15, "the iteration did not converge")

typedef enum ff_status {
#define FF_STATUS_ENUM(name, value, text) name = (value),
    FF_STATUS_LIST(FF_STATUS_ENUM)
#undef FF_STATUS_ENUM
} ff_status;

const char *ff_status_name(ff_status status); /* "FF_OK"; "FF_STATUS_UNKNOWN" for a value not in the list */
const char *ff_status_text(ff_status status); /* a short sentence */

/* --------------------------------------------------------------------------------------------- vectors -- */

typedef union ff_vec3 {
    struct {
        double x, y, z;
    };
    double a[3];
} ff_vec3;

typedef struct ff_mat3 {
    double m[3][3]; /* row-major */
} ff_mat3;

typedef struct ff_quat {
    double w, x, y, z; /* unit, scalar first */
} ff_quat;

/* T_ab: p_a = q * p_b + p */
typedef struct ff_pose {
    ff_quat q; /* attitude of b in a */
    ff_vec3 p; /* [m] origin of b in a */
} ff_pose;

/* Spatial vectors, angular part first. The frame is part of the variable's name. */
typedef struct ff_twist {
    ff_vec3 w; /* [rad/s] */
    ff_vec3 v; /* [m/s] */
} ff_twist;

typedef struct ff_wrench {
    ff_vec3 t; /* [N m] torque */
    ff_vec3 f; /* [N] force */
} ff_wrench;

static inline ff_vec3 ff_vec3_make(double x, double y, double z) {
    return (ff_vec3){{x, y, z}};
}
static inline ff_vec3 ff_vec3_zero(void) {
    return (ff_vec3){{0.0, 0.0, 0.0}};
}
static inline ff_vec3 ff_vec3_add(ff_vec3 a, ff_vec3 b) {
    return (ff_vec3){{a.x + b.x, a.y + b.y, a.z + b.z}};
}
static inline ff_vec3 ff_vec3_sub(ff_vec3 a, ff_vec3 b) {
    return (ff_vec3){{a.x - b.x, a.y - b.y, a.z - b.z}};
}
static inline ff_vec3 ff_vec3_scale(double s, ff_vec3 a) {
    return (ff_vec3){{s * a.x, s * a.y, s * a.z}};
}
static inline ff_vec3 ff_vec3_neg(ff_vec3 a) {
    return (ff_vec3){{-a.x, -a.y, -a.z}};
}
/* a + s b */
static inline ff_vec3 ff_vec3_axpy(double s, ff_vec3 b, ff_vec3 a) {
    return (ff_vec3){{a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}};
}
static inline double ff_vec3_dot(ff_vec3 a, ff_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline ff_vec3 ff_vec3_cross(ff_vec3 a, ff_vec3 b) {
    return (ff_vec3){{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}};
}
static inline double ff_vec3_norm(ff_vec3 a) {
    return sqrt(ff_vec3_dot(a, a));
}
/* Of its components by size. */
static inline double ff_vec3_largest(ff_vec3 a) {
    return fmax(fmax(fabs(a.x), fabs(a.y)), fabs(a.z));
}
static inline bool ff_vec3_finite(ff_vec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
/* Unit vector along a; zero if a is zero. */
ff_vec3 ff_vec3_unit(ff_vec3 a);

ff_mat3 ff_mat3_identity(void);
ff_mat3 ff_mat3_diag(double a, double b, double c);
ff_mat3 ff_mat3_skew(ff_vec3 a); /* skew(a) b = a x b */
ff_mat3 ff_mat3_add(ff_mat3 a, ff_mat3 b);
ff_mat3 ff_mat3_scale(double s, ff_mat3 a);
ff_mat3 ff_mat3_mul(ff_mat3 a, ff_mat3 b);
ff_mat3 ff_mat3_transpose(ff_mat3 a);
double ff_mat3_det(ff_mat3 a);
/* Inverse of a regular matrix. FF_ERR_SINGULAR if |det| is below 1e-14 of the product of the column norms;
 * then *inverse is untouched. */
ff_status ff_mat3_inverse(ff_mat3 a, ff_mat3 *inverse);
/* Eigenvalues (ascending) and eigenvectors (columns of *vectors, right-handed) of a symmetric matrix. */
void ff_mat3_eigen(ff_mat3 symmetric, ff_vec3 *values, ff_mat3 *vectors);
static inline ff_vec3 ff_mat3_apply(const ff_mat3 *a, ff_vec3 b) {
    return (ff_vec3){{a->m[0][0] * b.x + a->m[0][1] * b.y + a->m[0][2] * b.z,
                      a->m[1][0] * b.x + a->m[1][1] * b.y + a->m[1][2] * b.z,
                      a->m[2][0] * b.x + a->m[2][1] * b.y + a->m[2][2] * b.z}};
}
static inline ff_vec3 ff_mat3_apply_transpose(const ff_mat3 *a, ff_vec3 b) {
    return (ff_vec3){{a->m[0][0] * b.x + a->m[1][0] * b.y + a->m[2][0] * b.z,
                      a->m[0][1] * b.x + a->m[1][1] * b.y + a->m[2][1] * b.z,
                      a->m[0][2] * b.x + a->m[1][2] * b.y + a->m[2][2] * b.z}};
}

/* --------------------------------------------------------------------------------- rotations and poses -- */

static inline ff_quat ff_quat_identity(void) {
    return (ff_quat){1.0, 0.0, 0.0, 0.0};
}
static inline ff_quat ff_quat_conj(ff_quat q) {
    return (ff_quat){q.w, -q.x, -q.y, -q.z};
}
static inline ff_quat ff_quat_mul(ff_quat a, ff_quat b) {
    return (ff_quat){
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
/* q v q*: a vector from body to inertial coordinates. q must be unit. */
static inline ff_vec3 ff_quat_rotate(ff_quat q, ff_vec3 v) {
    const ff_vec3 u = {{q.x, q.y, q.z}};
    const ff_vec3 t = ff_vec3_scale(2.0, ff_vec3_cross(u, v));
    return ff_vec3_add(ff_vec3_axpy(q.w, t, v), ff_vec3_cross(u, t));
}
/* q* v q: a vector from inertial to body coordinates. */
static inline ff_vec3 ff_quat_unrotate(ff_quat q, ff_vec3 v) {
    return ff_quat_rotate(ff_quat_conj(q), v);
}
/* Unit quaternion along q; identity if q is zero or not finite. */
ff_quat ff_quat_unit(ff_quat q);
/* Exponential: rotation vector [rad] to quaternion; exact to rounding for every size, also near zero. */
ff_quat ff_quat_exp_large(ff_vec3 rotation); /* any angle, by sine and cosine */
/* exp(r) = (cos(a/2), sin(a/2)/a r), a = |r|; below 1e-3 rad the series is exact to rounding (a^6 term): that
 * is every step of a loop, so it stands here for the compiler to put in place. */
static inline ff_quat ff_quat_exp(ff_vec3 r) {
    const double a2 = ff_vec3_dot(r, r);
    if (!(a2 < 1e-6))
        return ff_quat_exp_large(r);
    const double c = 1.0 - a2 * 0.125 + a2 * a2 * (1.0 / 384.0);
    const double s = 0.5 - a2 * (1.0 / 48.0) + a2 * a2 * (1.0 / 3840.0);
    return (ff_quat){c, s * r.x, s * r.y, s * r.z};
}
/* Logarithm: rotation vector of the shorter arc, |.| <= pi. */
ff_vec3 ff_quat_log(ff_quat q);
/* Geodesic from a (s = 0) to b (s = 1), shorter arc; s outside [0, 1] extrapolates. */
ff_quat ff_quat_slerp(ff_quat a, ff_quat b, double s);
/* Angle of the rotation between a and b [rad], in [0, pi], accurate near zero. */
double ff_quat_angle(ff_quat a, ff_quat b);
ff_mat3 ff_quat_to_mat3(ff_quat q);
ff_quat ff_quat_from_mat3(ff_mat3 r);
/* KUKA's R = Rz(a) Ry(b) Rx(c), angles [rad]; the inverse returns b in [-pi/2, pi/2]. */
ff_quat ff_quat_from_abc(double a, double b, double c);
void ff_quat_to_abc(ff_quat q, double *a, double *b, double *c);

static inline ff_pose ff_pose_identity(void) {
    return (ff_pose){{1, 0, 0, 0}, {{0, 0, 0}}};
}
static inline ff_pose ff_pose_mul(ff_pose ab, ff_pose bc) /* T_ac */
{
    return (ff_pose){ff_quat_mul(ab.q, bc.q), ff_vec3_add(ab.p, ff_quat_rotate(ab.q, bc.p))};
}
static inline ff_pose ff_pose_inverse(ff_pose ab) /* T_ba */
{
    return (ff_pose){ff_quat_conj(ab.q), ff_vec3_neg(ff_quat_unrotate(ab.q, ab.p))};
}
static inline ff_vec3 ff_pose_apply(ff_pose ab, ff_vec3 p_b) /* a point from b to a */
{
    return ff_vec3_add(ab.p, ff_quat_rotate(ab.q, p_b));
}
bool ff_pose_finite(ff_pose pose);
/* Position linearly, attitude on the geodesic. */
ff_pose ff_pose_interpolate(ff_pose a, ff_pose b, double s);

/* --------------------------------------------------------------------------------------- spatial algebra --
 */

static inline ff_twist ff_twist_zero(void) {
    return (ff_twist){{{0, 0, 0}}, {{0, 0, 0}}};
}
static inline ff_wrench ff_wrench_zero(void) {
    return (ff_wrench){{{0, 0, 0}}, {{0, 0, 0}}};
}
static inline ff_twist ff_twist_add(ff_twist a, ff_twist b) {
    return (ff_twist){ff_vec3_add(a.w, b.w), ff_vec3_add(a.v, b.v)};
}
static inline ff_twist ff_twist_sub(ff_twist a, ff_twist b) {
    return (ff_twist){ff_vec3_sub(a.w, b.w), ff_vec3_sub(a.v, b.v)};
}
static inline ff_twist ff_twist_scale(double s, ff_twist a) {
    return (ff_twist){ff_vec3_scale(s, a.w), ff_vec3_scale(s, a.v)};
}
static inline ff_wrench ff_wrench_add(ff_wrench a, ff_wrench b) {
    return (ff_wrench){ff_vec3_add(a.t, b.t), ff_vec3_add(a.f, b.f)};
}
static inline ff_wrench ff_wrench_sub(ff_wrench a, ff_wrench b) {
    return (ff_wrench){ff_vec3_sub(a.t, b.t), ff_vec3_sub(a.f, b.f)};
}
static inline ff_wrench ff_wrench_scale(double s, ff_wrench a) {
    return (ff_wrench){ff_vec3_scale(s, a.t), ff_vec3_scale(s, a.f)};
}
bool ff_twist_finite(ff_twist a);
bool ff_wrench_finite(ff_wrench a);
/* Power of a wrench at a twist in the same frame [W]: t.w + f.v */
static inline double ff_power(ff_wrench a, ff_twist b) {
    return ff_vec3_dot(a.t, b.w) + ff_vec3_dot(a.f, b.v);
}
/* Ad(T_ab): body twist of b-coordinates in a: w_a = R w_b, v_a = R v_b + p x (R w_b). */
ff_twist ff_twist_transform(ff_pose T_ab, ff_twist x_b);
/* The same force and line of action in a-coordinates: f_a = R f_b, t_a = R t_b + p x f_a. */
ff_wrench ff_wrench_transform(ff_pose T_ab, ff_wrench x_b);
/* ad(a) b, the Lie bracket of twists: [w_a x w_b; w_a x v_b + v_a x w_b]. */
ff_twist ff_twist_cross(ff_twist a, ff_twist b);
/* ad(a)^T dual: [w_a x t + v_a x f; w_a x f] (rate of a wrench's coordinates, Featherstone's crf). */
ff_wrench ff_twist_cross_wrench(ff_twist a, ff_wrench b);
/* exp of a body twist over time h from pose a: T exp(h [x]); and its inverse, the log over SE(3). */
ff_pose ff_pose_exp(ff_twist x);
ff_twist ff_pose_log(ff_pose a);

/* ------------------------------------------------------------------------------------------ small solves --
 */

/* Row-major n x n, leading dimension n. Cholesky in place (lower triangle). FF_ERR_SINGULAR when not positive
 * definite. The solve takes the factor. Both are loops over caller memory: n is bounded by the caller. */
ff_status ff_cholesky_factor(size_t n, double *a);
void ff_cholesky_solve(size_t n, const double *factor, double *b);
/* LU with partial pivoting, in place; pivots[n]. FF_ERR_SINGULAR on a zero pivot. */
ff_status ff_lu_factor(size_t n, double *a, size_t *pivots);
void ff_lu_solve(size_t n, const double *factor, const size_t *pivots, double *b);

/* --------------------------------------------------------------------------------------------- random -- */

/* A small counter-seeded generator (splitmix64 into xoshiro256**): the same seed and stream give the same
 * bits on every machine. Plain copy; one per consumer, never shared. */
typedef struct ff_rng {
    uint64_t s[4];
    double spare; /* second value of the last normal pair */
    bool has_spare;
} ff_rng;

void ff_rng_seed(ff_rng *rng, uint64_t seed, uint64_t stream);
uint64_t ff_rng_next(ff_rng *rng);
double ff_rng_uniform(ff_rng *rng);                        /* [0, 1) */
double ff_rng_range(ff_rng *rng, double low, double high); /* [low, high) */
double ff_rng_normal(ff_rng *rng);                         /* mean 0, sd 1 */

#ifdef __cplusplus
}
#endif
#endif
