/* A robot's kinematics from a URDF file: the joints between two links as a chain. */
#include "scenario/urdf.h"
#include "scenario/tree.h"
#include "text/message.h"

#include <string.h>

static int find_link(const ff_urdf *urdf, const char *name) {
    for (int i = 0; i < urdf->links; i++)
        if (strcmp(urdf->link[i].name, name) == 0)
            return i;
    return strcmp(urdf->root, name) == 0 ? FF_TREE_BASE : -2;
}

/* A link's frame in the root's with all joints at zero. */
static ff_pose link_frame(const ff_urdf *urdf, int at) {
    ff_pose T = ff_pose_identity();
    for (; at >= 0; at = urdf->link[at].row.parent)
        T = ff_pose_mul(urdf->link[at].row.pose, T);
    T.q = ff_quat_unit(T.q);
    return T;
}

static bool put_axis(const ff_refusal *to, const ff_urdf_link *link, ff_pose T, ff_pose T_br, ff_vec3 *last,
                     ff_arm_config *arm) {
    const ff_link_row *row = &link->row;
    if (row->joint != FF_JOINT_REVOLUTE)
        return ff_refuse_at(to, link->line, "joint '%s' is prismatic, allowed in a robot's arm: revolute",
                            link->joint_name);
    if (!isfinite(row->lower) || !isfinite(row->upper) || !isfinite(row->velocity))
        return ff_refuse_at(to, link->line,
                            "joint '%s' has no limits, allowed in a robot's arm: type revolute with <limit "
                            "lower upper effort velocity>",
                            link->joint_name);
    if (!(row->lower < row->upper))
        return ff_refuse_at(to, link->line, "joint '%s' cannot move: lower and upper are both %.9g",
                            link->joint_name, row->lower);
    const ff_pose own = ff_pose_mul(T_br, T);
    const int i = arm->axes++;
    arm->axis[i] = (ff_arm_axis){ff_vec3_sub(own.p, *last), ff_quat_rotate(own.q, row->axis)};
    *last = own.p;
    arm->lower[i] = row->lower;
    arm->upper[i] = row->upper;
    arm->speed[i] = row->velocity;
    arm->ready[i] = 0.5 * (row->lower + row->upper);
    return true;
}

ff_status ff_urdf_arm(const char *label, const ff_urdf *urdf, const char *base, const char *tip,
                      ff_arm_config *arm, char *message, size_t size) {
    const ff_refusal to = {label, message, size};
    const int from = *base ? find_link(urdf, base) : FF_TREE_BASE,
              end = *tip ? find_link(urdf, tip) : urdf->links - 1;
    if (from == -2 || end == -2) {
        ff_refuse_at(&to, urdf->root_line, "the model has no link '%s', allowed: one of its links",
                     ff_show(from == -2 ? base : tip).text);
        return FF_ERR_FORMAT;
    }
    *arm = (ff_arm_config){.chain = true, .rail = {.rule = FF_ARM_RAIL_NONE, .axis = {{0, 1, 0}}}};
    arm->base = arm->tool = ff_pose_identity();
    for (int at = from; at >= 0; at = urdf->link[at].row.parent)
        if (urdf->link[at].row.joint != FF_JOINT_FIXED) {
            ff_refuse_at(&to, urdf->link[at].line,
                         "the base '%s' hangs on the moving joint '%s', allowed: a "
                         "link that stands still",
                         base, urdf->link[at].joint_name);
            return FF_ERR_FORMAT;
        }
    int path[FF_URDF_LINKS], links = 0, moving = 0;
    for (int at = end; at >= 0; at = urdf->link[at].row.parent) {
        path[links++] = at;
        moving += urdf->link[at].row.joint != FF_JOINT_FIXED;
    }
    if (moving != 6 && moving != 7) {
        ff_refuse_at(&to, urdf->root_line, "%d joints move between '%s' and '%s', allowed: 6 or 7", moving,
                     urdf->root, end >= 0 ? urdf->link[end].name : urdf->root);
        return FF_ERR_FORMAT;
    }
    const ff_pose T_br = ff_pose_inverse(link_frame(urdf, from));
    ff_vec3 last = ff_vec3_zero();
    while (links-- > 0)
        if (urdf->link[path[links]].row.joint != FF_JOINT_FIXED &&
            !put_axis(&to, &urdf->link[path[links]], link_frame(urdf, path[links]), T_br, &last, arm))
            return FF_ERR_FORMAT;
    arm->flange = ff_pose_mul(T_br, link_frame(urdf, end));
    arm->flange.q = ff_quat_unit(arm->flange.q);
    arm->flange.p = ff_vec3_sub(arm->flange.p, last);
    if (ff_arm_validate(arm) == FF_OK)
        return FF_OK;
    ff_refuse_at(&to, urdf->root_line, "the arm has no length between '%s' and '%s'", urdf->root,
                 end >= 0 ? urdf->link[end].name : urdf->root);
    return FF_ERR_FORMAT;
}
