/* The table of a tree, its checks, and the constants derived from it. */
#include "dynamics/tree_layout.h"

/* ------------------------------------------------------------------------------------------ messages -- */

/* Text into the caller's buffer, always terminated, cut where it ends. */
typedef struct sentence {
    char *at;
    size_t left;
} sentence;

static void say(sentence *s, const char *text) {
    while (s->left > 1 && *text) {
        *s->at++ = *text++;
        s->left--;
    }
    if (s->left)
        *s->at = '\0';
}

static void say_count(sentence *s, size_t value) {
    char digits[24];
    size_t n = sizeof digits - 1;
    digits[n] = '\0';
    do
        digits[--n] = (char)('0' + value % 10);
    while (value /= 10);
    say(s, &digits[n]);
}

static ff_status refuse(sentence *s, ff_status status, const ff_tree_config *config, size_t row,
                        const char *what) {
    if (row == config->links) {
        say(s, "base: ");
    } else {
        say(s, "link ");
        say_count(s, row);
        if (config->link[row].name) {
            say(s, " (");
            say(s, config->link[row].name);
            say(s, ")");
        }
        say(s, ": ");
    }
    say(s, what);
    return status;
}

/* ------------------------------------------------------------------------------------------ defaults -- */

void ff_tree_config_default(ff_tree_config *config) {
    *config = (ff_tree_config){0};
}

void ff_tree_link_default(ff_tree_link_config *link) {
    *link = (ff_tree_link_config){.parent = FF_TREE_BASE,
                                  .joint = FF_JOINT_REVOLUTE,
                                  .axis = {{0, 0, 1}},
                                  .pose = {{1, 0, 0, 0}, {{0, 0, 0}}},
                                  .q_min = -HUGE_VAL,
                                  .q_max = HUGE_VAL,
                                  .velocity_max = HUGE_VAL,
                                  .torque_max = HUGE_VAL};
}

void ff_tree_state_default(ff_tree_state *state) {
    *state = (ff_tree_state){.base = {{1, 0, 0, 0}, {{0, 0, 0}}}};
}

/* -------------------------------------------------------------------------------------- rigid bodies -- */

static ff_mat3 symmetric(const double *j) {
    return (ff_mat3){{{j[XX], j[XY], j[XZ]}, {j[XY], j[YY], j[YZ]}, {j[XZ], j[YZ], j[ZZ]}}};
}

/* A rigid part, about its own CoM. */
typedef struct part {
    double mass;
    ff_vec3 com;
    ff_mat3 inertia;
} part;

/* m (c^2 1 - c c^T) */
static ff_mat3 point_inertia(double mass, ff_vec3 c) {
    ff_mat3 j = ff_mat3_diag(ff_vec3_dot(c, c), ff_vec3_dot(c, c), ff_vec3_dot(c, c));
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            j.m[r][k] -= c.a[r] * c.a[k];
    return ff_mat3_scale(mass, j);
}

static part part_moved(part x, ff_pose T) {
    const ff_mat3 R = ff_quat_to_mat3(T.q);
    return (part){x.mass, ff_pose_apply(T, x.com),
                  ff_mat3_mul(R, ff_mat3_mul(x.inertia, ff_mat3_transpose(R)))};
}

static part part_joined(part a, part b) {
    const double mass = a.mass + b.mass;
    if (!(mass > 0.0))
        return a;
    const ff_vec3 com =
        ff_vec3_scale(1.0 / mass, ff_vec3_add(ff_vec3_scale(a.mass, a.com), ff_vec3_scale(b.mass, b.com)));
    return (part){mass, com,
                  ff_mat3_add(ff_mat3_add(a.inertia, point_inertia(a.mass, ff_vec3_sub(a.com, com))),
                              ff_mat3_add(b.inertia, point_inertia(b.mass, ff_vec3_sub(b.com, com))))};
}

static part link_part(const ff_tree_link_config *link) {
    return (part){link->mass, link->com, symmetric(link->inertia)};
}

static ff_pose unit_pose(ff_pose pose) {
    return (ff_pose){ff_quat_unit(pose.q), pose.p};
}

/* -------------------------------------------------------------------------------------------- checks -- */

enum { STRICT = 1, MAY_BE_ZERO = 0 };

/* Principal moments positive, none larger than the sum of the others (to rounding: a flat plate is allowed).
 */
static bool physical(ff_mat3 inertia, int strict) {
    ff_vec3 d;
    ff_mat3 axes;
    ff_mat3_eigen(inertia, &d, &axes);
    const double slack = 1e-9 * fabs(d.z);
    if (strict ? !(d.x > 1e-12 * d.z && d.x > 0.0) : !(d.x >= -slack))
        return false;
    return d.x + d.y >= d.z - slack;
}

static bool finite_numbers(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static bool bound(double x) /* a limit: positive, infinity allowed */
{
    return x > 0.0;
}

static ff_status check_link(const ff_tree_config *config, size_t r, sentence *s) {
    const ff_tree_link_config *k = &config->link[r];
    const ff_quat q = k->pose.q;
    const double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (k->parent < FF_TREE_BASE || k->parent >= (int)r)
        return refuse(s, FF_ERR_ARGUMENT, config, r,
                      "its parent must be the base (-1) or a link above it in the table");
    if (k->joint != FF_JOINT_REVOLUTE && k->joint != FF_JOINT_PRISMATIC && k->joint != FF_JOINT_FIXED)
        return refuse(s, FF_ERR_ARGUMENT, config, r, "the joint must be revolute, prismatic or fixed");
    if (!ff_pose_finite(k->pose) || !ff_vec3_finite(k->com) || !finite_numbers(k->inertia, 6) ||
        !isfinite(k->mass) || !finite_numbers(&k->rotor_inertia, 1) || !isfinite(k->viscous) ||
        !isfinite(k->coulomb))
        return refuse(s, FF_ERR_NOT_FINITE, config, r,
                      "pose, mass, CoM, inertia and friction must be finite");
    if (!(fabs(norm - 1.0) < 1e-3))
        return refuse(s, FF_ERR_ARGUMENT, config, r, "the joint frame's quaternion must have length 1");
    if (k->mass < 0.0)
        return refuse(s, FF_ERR_MASS, config, r, "the mass must be positive");
    const bool fixed = k->joint == FF_JOINT_FIXED;
    if (!physical(symmetric(k->inertia), fixed || k->mass == 0.0 ? MAY_BE_ZERO : STRICT))
        return refuse(s, FF_ERR_INERTIA, config, r,
                      "the inertia must be positive definite and obey the triangle inequality");
    if (k->mass == 0.0 && !(k->inertia[XX] + k->inertia[YY] + k->inertia[ZZ] == 0.0))
        return refuse(s, FF_ERR_MASS, config, r, "it has inertia but no mass; the mass must be positive");
    if (fixed)
        return FF_OK;
    if (!ff_vec3_finite(k->axis))
        return refuse(s, FF_ERR_NOT_FINITE, config, r, "the axis must be finite");
    if (!(ff_vec3_norm(k->axis) > 1e-9))
        return refuse(s, FF_ERR_SINGULAR, config, r, "the joint's axis must not be zero");
    if (!(k->q_min <= k->q_max))
        return refuse(s, FF_ERR_ARGUMENT, config, r, "q_min must not exceed q_max");
    if (!bound(k->velocity_max) || !bound(k->torque_max))
        return refuse(s, FF_ERR_ARGUMENT, config, r, "the velocity and torque limits must be positive");
    if (k->rotor_inertia < 0.0 || k->viscous < 0.0 || k->coulomb < 0.0)
        return refuse(s, FF_ERR_ARGUMENT, config, r, "rotor inertia and friction must not be negative");
    return FF_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the sentence is written through a copy of the pointer */
ff_status ff_tree_validate(const ff_tree_config *config, char *message, size_t message_size) {
    sentence s = {message, message ? message_size : 0};
    say(&s, "");
    if (config->links > FF_TREE_LINKS_MAX) {
        say(&s, "a tree may have at most ");
        say_count(&s, FF_TREE_LINKS_MAX);
        say(&s, " links, the table has ");
        say_count(&s, config->links);
        return FF_ERR_SIZE;
    }
    if (config->links && !config->link) {
        say(&s, "the table of links is missing");
        return FF_ERR_ARGUMENT;
    }
    size_t joints = 0;
    double mass[FF_TREE_LINKS_MAX + 1]; /* that moves with each row; the last is the base */
    size_t owner[FF_TREE_LINKS_MAX];    /* the row that a row is fixed to */
    const size_t base = config->links;
    mass[base] = config->base_mass;
    for (size_t r = 0; r < config->links; r++) {
        const ff_status status = check_link(config, r, &s);
        if (status)
            return status;
        const ff_tree_link_config *k = &config->link[r];
        owner[r] = r;
        mass[r] = k->mass;
        if (k->joint == FF_JOINT_FIXED) {
            owner[r] = k->parent < 0 ? base : owner[k->parent];
            mass[owner[r]] += k->mass;
        } else {
            joints++;
        }
    }
    if (joints > FF_TREE_JOINTS_MAX) {
        say(&s, "a tree may have at most ");
        say_count(&s, FF_TREE_JOINTS_MAX);
        say(&s, " joints, the table has ");
        say_count(&s, joints);
        return FF_ERR_SIZE;
    }
    for (size_t r = 0; r < config->links; r++)
        if (config->link[r].joint != FF_JOINT_FIXED && !(mass[r] > 0.0))
            return refuse(&s, FF_ERR_MASS, config, r, "the mass is missing; it must be positive");
    if (config->fixed_base)
        return FF_OK;
    if (!isfinite(config->base_mass) || !ff_vec3_finite(config->base_com) ||
        !finite_numbers(config->base_inertia, 6))
        return refuse(&s, FF_ERR_NOT_FINITE, config, base, "mass, CoM and inertia must be finite");
    if (!(config->base_mass > 0.0))
        return refuse(&s, FF_ERR_MASS, config, base, "the mass of a free base must be positive");
    if (!physical(symmetric(config->base_inertia), STRICT))
        return refuse(&s, FF_ERR_INERTIA, config, base,
                      "the inertia must be positive definite and obey the triangle inequality");
    return FF_OK;
}

/* -------------------------------------------------------------------------------------------- create -- */

static size_t moving(const ff_tree_config *config) {
    size_t joints = 0;
    for (size_t r = 0; r < config->links; r++)
        joints += config->link[r].joint != FF_JOINT_FIXED;
    return joints;
}

static size_t blocks_for(size_t joints) {
    return (joints + 1 + LANES - 1) / LANES;
}

/* The caller's memory from the first aligned byte on. */
enum { ALIGNMENT = 64 };
static void *aligned(void *memory) {
    const size_t past = (uintptr_t)memory % ALIGNMENT;
    return (char *)memory + (past ? ALIGNMENT - past : 0);
}

size_t ff_tree_memsize(const ff_tree_config *config) {
    const size_t joints = moving(config);
    return ALIGNMENT + sizeof(ff_tree_model) + blocks_for(joints) * sizeof(tree_constants) +
           config->links * sizeof(tree_row) + joints * sizeof(tree_joint);
}

size_t ff_tree_work_memsize(const ff_tree_model *model) {
    return ALIGNMENT + sizeof(ff_tree_work) + model->blocks * sizeof(tree_bodies) +
           model->bodies * sizeof(tree_articulated);
}

/* The shortest rotation that takes z onto a unit axis; half a turn about x for -z. */
static ff_quat z_onto(ff_vec3 axis) {
    if (axis.x == 0.0 && axis.y == 0.0)
        return axis.z > 0.0 ? ff_quat_identity() : (ff_quat){0, 1, 0, 0};
    if (axis.z < 0.0) /* from -z, so that the half angle stays away from 90 degrees */
        return ff_quat_mul(ff_quat_unit((ff_quat){1.0 - axis.z, axis.y, -axis.x, 0}), (ff_quat){0, 1, 0, 0});
    return ff_quat_unit((ff_quat){1.0 + axis.z, -axis.y, axis.x, 0});
}

static void store_part(ff_tree_model *model, size_t body, const part *x) {
    tree_constants *b = &model->block[body / LANES];
    const size_t l = body % LANES;
    const ff_mat3 *j = &x->inertia;
    const double inertia[6] = {j->m[0][0], j->m[1][1], j->m[2][2], j->m[0][1], j->m[0][2], j->m[1][2]};
    for (int k = 0; k < 6; k++)
        b->inertia[k][l] = inertia[k];
    for (int k = 0; k < 3; k++)
        b->com[k][l] = x->com.a[k];
    b->mass[l] = x->mass;
    model->mass += x->mass;
}

ff_status ff_tree_create(const ff_tree_config *config, void *memory, size_t bytes, ff_tree_model **out,
                         char *message, size_t message_size) {
    const ff_status status = ff_tree_validate(config, message, message_size);
    if (status)
        return status;
    sentence s = {message, message ? message_size : 0};
    if (!memory || bytes < ff_tree_memsize(config)) {
        say(&s, "the tree's memory is too small: it needs ");
        say_count(&s, ff_tree_memsize(config));
        say(&s, " bytes");
        return FF_ERR_SIZE;
    }
    memset(memory, 0, ff_tree_memsize(config));
    ff_tree_model *model = aligned(memory);
    model->rows = config->links;
    model->joints = moving(config);
    model->bodies = model->joints + 1;
    model->blocks = blocks_for(model->joints);
    model->fixed_base = config->fixed_base;
#if HAVE_WIDE
    model->wide = __builtin_cpu_supports("avx2");
#endif
    model->row = (tree_row *)(void *)&model->block[model->blocks];
    model->joint = (tree_joint *)(void *)&model->row[model->rows];

    for (size_t k = 0; k < 6; k++)
        model->unit[k / LANES][k][k % LANES] = 1.0;
    for (size_t i = 0; i < model->bodies; i++)
        model->at[i] = i / LANES * (sizeof(tree_bodies) / sizeof(double)) + i % LANES;

    part body[BODIES_MAX] = {{0}}; /* in the inner link frame */
    if (!config->fixed_base)
        body[0] = (part){config->base_mass, config->base_com, symmetric(config->base_inertia)};
    size_t bodies = 1;
    for (size_t r = 0; r < config->links; r++) {
        const ff_tree_link_config *k = &config->link[r];
        const tree_row carrier = k->parent < 0 ? (tree_row){0, ff_pose_identity()} : model->row[k->parent];
        const ff_pose T = ff_pose_mul(carrier.T_body, unit_pose(k->pose));
        if (k->joint == FF_JOINT_FIXED) {
            model->row[r] = (tree_row){carrier.body, T};
            body[carrier.body] = part_joined(body[carrier.body], part_moved(link_part(k), T));
            continue;
        }
        const size_t i = bodies++;
        tree_constants *b = &model->block[i / LANES];
        const size_t l = i % LANES;
        const ff_pose inner = {z_onto(ff_vec3_unit(k->axis)), {{0, 0, 0}}}; /* inner frame in the user's */
        const ff_pose T0 = ff_pose_mul(T, inner);
        const ff_mat3 R0 = ff_quat_to_mat3(T0.q);
        model->parent[i] = (size_t)carrier.body;
        model->row[r] = (tree_row){(int)i, ff_pose_inverse(inner)};
        body[i] = part_moved(link_part(k), model->row[r].T_body);
        for (int e = 0; e < 9; e++)
            b->R0[e][l] = R0.m[e / 3][e % 3];
        for (int e = 0; e < 3; e++)
            b->p0[e][l] = T0.p.a[e];
        b->revolute[l] = k->joint == FF_JOINT_REVOLUTE;
        b->prismatic[l] = k->joint == FF_JOINT_PRISMATIC;
        b->rotor[l] = k->rotor_inertia;
        model->joint[i - 1] =
            (tree_joint){{k->q_min, k->q_max, k->velocity_max, k->torque_max}, k->viscous, k->coulomb};
    }
    for (size_t i = 0; i < bodies; i++)
        store_part(model, i, &body[i]);
    *out = model;
    return FF_OK;
}

ff_status ff_tree_work_create(const ff_tree_model *model, void *memory, size_t bytes, ff_tree_work **out) {
    if (!memory || bytes < ff_tree_work_memsize(model))
        return FF_ERR_SIZE;
    memset(memory, 0, ff_tree_work_memsize(model));
    ff_tree_work *work = aligned(memory);
    work->articulated = (tree_articulated *)(void *)&work->block[model->blocks];
    for (int k = 0; k < 9; k += 4) /* the base frame in itself */
        work->block[0].R[k][0] = 1.0;
    *out = work;
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------- answers -- */

size_t ff_tree_joints(const ff_tree_model *model) {
    return model->joints;
}

size_t ff_tree_links(const ff_tree_model *model) {
    return model->rows;
}

size_t ff_tree_dof(const ff_tree_model *model) {
    return model->joints + (model->fixed_base ? 0u : 6u);
}

bool ff_tree_fixed_base(const ff_tree_model *model) {
    return model->fixed_base;
}

double ff_tree_mass(const ff_tree_model *model) {
    return model->mass;
}

int ff_tree_joint_of_link(const ff_tree_model *model, int link) {
    return link < 0 ? FF_TREE_BASE : model->row[link].body - 1;
}

ff_tree_limits ff_tree_joint_limits(const ff_tree_model *model, size_t joint) {
    return model->joint[joint].limits;
}

void ff_tree_friction(const ff_tree_model *model, const double *qd, double speed, double *torque) {
    for (size_t i = 0; i < model->joints; i++)
        torque[i] = -(model->joint[i].viscous * qd[i] + model->joint[i].coulomb * tanh(qd[i] / speed));
}
