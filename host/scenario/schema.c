/* Every key of a scenario but the methods' own. */
#include "scenario/schema.h"

#include <pthread.h>
#include <stdio.h>

#include "scenario/devices.h"
#include "scenario/methods.h"

/* clang-format off */
#define KEY(name, kind_of, u, r, absent, where, k, text) \
    {.key = (name), .type = FF_TYPE_##kind_of, .unit = (u), .range = FF_RANGE_##r, .fallback = (absent), .offset = (where), .kinds = (k), .doc = (text)}
#define WORD(name, kind_of, list, absent, where, k, text) \
    {.key = (name), .type = FF_TYPE_##kind_of, .unit = "", .words = (list), .fallback = (absent), .offset = (where), .kinds = (k), .doc = (text)}
#define SECTION(name, kind_of, below, absent, where, k, text) \
    {.key = (name), .type = FF_TYPE_##kind_of, .unit = "", .section = (below), .fallback = (absent), .offset = (where), .kinds = (k), .doc = (text)}
#define ANGLES(name, kind_of, u, where, text) \
    {.key = (name), .type = FF_TYPE_##kind_of, .unit = (u), .fallback = "(attitude)", .offset = (where), .preset = true, .doc = (text)}
#define TABLE(keys) (keys), (int)(sizeof(keys) / sizeof *(keys))
#define BIT(kind) (1u << (unsigned)(kind))

/* Words stand in the order of their enums. */
static const char *const fault_words[] = {"rob-lost", "rob-late", "rob-repeated", "rob-reordered", "rob-corrupt", "rob-cut", "rob-nan", "rob-empty", "rob-long",
    "rob-incomplete", "ipoc-jump", "robot-silent", "robot-stuck", "robot-jump", "robot-slow", "robot-clipped", "robot-aborts", "answer-lost", "answer-late", "ft-lost",
    "ft-repeated", "ft-reordered", "ft-corrupt", "ft-silent", "ft-frozen", "ft-stuck", "ft-saturated", "ft-broken", "ft-drift", "ft-spike", "ft-offset", "ft-restart",
    "stranger", "jitter", "clock-step", "ft-flood", "second-client", "loop-interrupted", "loop-terminated", "loop-killed", "loop-stalled", "disk-full", "facility-killed", "clock-drift",
    "ft-clock-drift", "ft-swapped", "ft-mirrored", "ft-turned", "ft-deaf", "robot-later", "robot-aside", "arm-elsewhere", "tool-off", "wall-harder", "robot-restarts", "ft-fast",
    "krc-mode", "krc-drives", "krc-estop", "krc-override", "krc-program", "krc-lost", "protective-stop", "arm-lost", "arm-stops", NULL};
static const char *const signals_words[] = {"off", "on", NULL};
static const char *const scheme_words[] = {"lie-midpoint", "euler", "passive", "splitting", NULL};
static const char *const rule_words[] = {"default", "impulse", "held", NULL};
static const char *const frame_words[] = {"absolute", "relative", NULL};
static const char *const nominal_words[] = {"free", "prescribed", "satellite", NULL};
static const char *const source_words[] = {"real", "virtual", NULL};
static const char *const push_words[] = {"hand", "skip", NULL};
static const char *const weight_words[] = {"auto", "poses", "scenario", NULL};
static const char *const delay_words[] = {"scenario", "chirp", NULL};
static const char *const mount_words[] = {"flange", "environment", NULL};
const char *const ff_contact_names[] = {"wall", "stops", "pair", "cone", "grasp", NULL};
static const char *const load_words[] = {"pulse", "halfsine", "sin2", NULL};
static const char *const reading_words[] = {"default", "printed", NULL};
static const char *const rotation_words[] = {"output", "exact", NULL};
static const char *const tracking_words[] = {"on", "off", NULL};
static const char *const switch_words[] = {"false", "true", NULL};

static const char *const target_words[] = {"flexible-joint", "arm", NULL};
static const char *const emulator_words[] = {"joint", "arm", NULL};
static const char *const base_words[] = {"fixed", "floating", NULL};
static const char *const joints_words[] = {"rigid", "flexible", NULL};
static const char *const task_words[] = {"pose", "plane", NULL};
static const char *const emulation_words[] = {"constrained", "free", NULL};
static const char *const consistency_words[] = {"newton", "clik", NULL};
static const char *const controller_words[] = {"continuous", "sampled", NULL};

static const ff_key pose_keys[] = {
    KEY("position", VEC3, "m", ANY, "[0, 0, 0]", offsetof(ff_pose, p), 0, "Origin of the second frame in the first."),
    KEY("attitude", QUATERNION, "", ANY, "[1, 0, 0, 0]", offsetof(ff_pose, q), 0, "Its attitude, unit quaternion, scalar first."),
    ANGLES("abc_deg", ABC_DEG, "deg", offsetof(ff_pose, q), "In place of `attitude`: KUKA's angles about z, then y', then x''."),
    ANGLES("rpy", RPY, "rad", offsetof(ff_pose, q), "In place of `attitude`: about the fixed axes x, y, z."),
};
static const ff_section pose_section = {"POSE", "", TABLE(pose_keys), "A pose, wherever one is asked for."};

static const ff_key time_keys[] = {
    KEY("cycle", NUMBER, "s", POSITIVE, "required", offsetof(ff_scenario, cycle), 0, "Period of the control loop."),
    KEY("duration", NUMBER, "s", POSITIVE, "required", offsetof(ff_scenario, duration), 0, "Length of the run; rounded to whole cycles, at least one, at most 1e9."),
    KEY("seed", INTEGER, "", ANY, "1", offsetof(ff_scenario, seed), 0, "Seed of all noise: the same seed gives the same bits."),
};
static const ff_section time_section = {"time", "", TABLE(time_keys), "The clock of the run."};

#define ROBOT(field) offsetof(ff_robot_config, field)
static const ff_key rail_keys[] = {
    KEY("axis", DIRECTION, "", ANY, "required", ROBOT(rail.axis), 0, "Direction of the rail in the lab; any length but zero."),
    KEY("length", NUMBER, "m", POSITIVE, "required", ROBOT(rail.length), 0, "Travel of the rail."),
    KEY("speed", NUMBER, "m/s", POSITIVE, "none", ROBOT(rail.speed), 0, "Largest speed on the rail."),
};
static const ff_section rail_section = {"satellites.NAME.robot.rail", "", TABLE(rail_keys), "A linear axis under the robot."};

#define LAG BIT(FF_ROBOT_LAG)
#define LIMITED BIT(FF_ROBOT_LIMITED)
#define JOINTS BIT(FF_ROBOT_JOINTS)
#define WRENCHED BIT(FF_ROBOT_WRENCH)
#define DELAYED (~BIT(FF_ROBOT_IDEAL))
#define FROM(kind) (~0u << (unsigned)(kind))
static const ff_key robot_keys[] = {
    WORD("kind", WORD, NULL, "ideal", ROBOT(kind), 0, "How the robot follows its commands: at once, after a delay, with a second-order lag, time-optimally within its limits, or after a delay through the elastic gears of a KR 16. `wrench`: commanded by wrenches, not poses: a robot with an inertia of its own, moved by (9) and (16) of destefano2021. `mujoco`: not built yet, refused."),
    KEY("delay", NUMBER, "s", NOT_NEGATIVE, "0", ROBOT(delay), DELAYED, "Time from a command to the motion; any fraction of a cycle."),
    KEY("jitter", NUMBER, "s", NOT_NEGATIVE, "0", ROBOT(jitter), DELAYED, "Half width of the delay's scatter in the virtual facility: each cycle's delay is drawn evenly from `delay` - `jitter` to `delay` + `jitter`, never below 0. No method is informed of it."),
    KEY("lost", NUMBER, "", SHARE, "0", ROBOT(lost), DELAYED & ~FROM(FF_ROBOT_DEVICE), "Share of commands that do not arrive, drawn in every cycle: the robot then stands at its last one. No method is informed of it. (`facility`: the fault `answer-lost`.)"),
    KEY("pose_noise", NUMBER, "m", NOT_NEGATIVE, "0", ROBOT(pose_noise), ~FROM(FF_ROBOT_DEVICE), "Standard deviation of one axis of the position that the robot reports, white; the attitude is reported as it is."),
    KEY("velocity_noise", NUMBER, "m/s", NOT_NEGATIVE, "0", ROBOT(velocity_noise), ~FROM(FF_ROBOT_DEVICE), "The same of the velocity that comes with it. Of one by differences over a cycle T: 1.41 `pose_noise`/T."),
    KEY("frequency", NUMBER, "Hz", POSITIVE, "required", ROBOT(frequency), LAG, "Natural frequency of the tracking."),
    KEY("damping", NUMBER, "", POSITIVE, "1", ROBOT(damping), LAG, "Damping ratio of the tracking."),
    KEY("velocity", NUMBER, "m/s", POSITIVE, "none", ROBOT(velocity), LIMITED, "Limit per axis."),
    KEY("acceleration", NUMBER, "m/s2", POSITIVE, "none", ROBOT(acceleration), LIMITED, "Limit per axis."),
    KEY("jerk", NUMBER, "m/s3", POSITIVE, "none", ROBOT(jerk), LIMITED, "Limit per axis."),
    KEY("angular_velocity", NUMBER, "rad/s", POSITIVE, "none", ROBOT(angular_velocity), LIMITED, "Limit per axis."),
    KEY("angular_acceleration", NUMBER, "rad/s2", POSITIVE, "none", ROBOT(angular_acceleration), LIMITED, "Limit per axis."),
    KEY("angular_jerk", NUMBER, "rad/s3", POSITIVE, "none", ROBOT(angular_jerk), LIMITED, "Limit per axis."),
    KEY("gear_stiffness", SIX, "N m/rad", POSITIVE, "[2e5, 2e5, 1e5, 2e4, 2e4, 1e4]", ROBOT(gear_stiffness), JOINTS, "Of the six gears of a KR 16; its axes yield to the contact, its motors do not."),
    KEY("gear_damping", SIX, "N m s/rad", NOT_NEGATIVE, "[800, 800, 400, 40, 40, 20]", ROBOT(gear_damping), JOINTS, "Of the six gears."),
    KEY("joint_inertia", SIX, "kg m2", POSITIVE, "[25, 25, 12, 1, 1, 0.5]", ROBOT(joint_inertia), JOINTS, "Behind the six gears, mock-up included; coupling between axes is left out."),
    KEY("mass", NUMBER, "kg", POSITIVE, "(the satellite's)", ROBOT(inertia.mass), WRENCHED, "Of the robot with all that it carries, as felt at the satellite's CoM."),
    KEY("inertia", INERTIA, "kg m2", ANY, "(the satellite's)", ROBOT(inertia.inertia), WRENCHED, "The same about the satellite's CoM (an arm's base: its origin), body axes: [xx, yy, zz] or [xx, yy, zz, xy, xz, yz]."),
    SECTION("base", SECTION, &pose_section, "{}", ROBOT(base), 0, "Pose of the robot's base in the world."),
    SECTION("tool", SECTION, &pose_section, "{}", ROBOT(tool), 0, "Pose of the satellite's CoM in the flange frame."),
    SECTION("rail", SECTION, &rail_section, "none", 0, 0, "A linear axis under the robot."),
    KEY("address", TEXT, "", ANY, "127.0.0.1", ROBOT(address), FROM(FF_ROBOT_DEVICE), "Address of this computer at which the controller's telegrams arrive. On loopback the robot is a virtual one, `ros2` with `driver: facility` alone."),
};
static const ff_key robot_arm_keys[] = {
    KEY("model", TEXT, "", ANY, "(or `a`, `d`, `alpha_deg`)", 0, 0, "URDF file, from the scenario's folder: joints, limits and frames are read, masses are not. Every joint between base and tip must be revolute, with limits."),
    KEY("tip", TEXT, "", ANY, "(the last link)", FF_NAME_SIZE, 0, "Link that is the flange: `tool` starts there."),
    KEY("base", TEXT, "", ANY, "(the root)", 2 * FF_NAME_SIZE, 0, "Link that is the controller's base, where it is not the root (UR's `base`)."),
    KEY("a", JOINTS, "m", ANY, "(or `model`)", 0, 0, "In place of a file: Denavit and Hartenberg's lengths along x, one for each axis; the frame behind axis i is Rz(q + theta) Tz(d) Tx(a) Rx(alpha) in the one before, as Universal Robots prints them. The last one is the flange."),
    KEY("d", JOINTS, "m", ANY, "(or `model`)", 0, 0, "Lengths along the axes."),
    KEY("alpha_deg", JOINTS, "deg", ANY, "(or `model`)", 0, 0, "Angles between an axis and the next; in degrees, so that right angles are exact (the closed inverse asks for that)."),
    KEY("theta_deg", JOINTS, "deg", ANY, "(all zero)", 0, 0, "What a joint's zero is off that of its row."),
    KEY("lower", JOINTS, "rad", ANY, "(with `a`: required)", 0, 0, "Ranges of the joints."),
    KEY("upper", JOINTS, "rad", ANY, "(with `a`: required)", 0, 0, "Ranges of the joints."),
    KEY("speed", JOINTS, "rad/s", POSITIVE, "(with `a`: required)", 0, 0, "Largest speeds of the joints."),
    KEY("ready", JOINTS, "rad", ANY, "(the middle of the ranges)", 0, 0, "A posture away from singularities: of several solutions at the start the nearest to it is taken by the virtual robot."),
};
static const ff_section robot_arm_section = {"satellites.NAME.robot.arm", "", TABLE(robot_arm_keys), "A robot's kinematics from a file or by lengths: any arm of six axes, with `ros2` of seven. In place of the map the name of one that is built in."};

static ff_device_section robot_devices;
static ff_section robot_section = {"satellites.NAME.robot", "robot", robot_devices.key, 0, "The robot that carries the satellite's mock-up. Keys that do not belong to the chosen kind are errors."};

#define SENSOR(field) offsetof(ff_sensor_config, field)
#define NOISY FROM(FF_SENSOR_NOISY)
static const ff_key sensor_keys[] = {
    WORD("kind", WORD, NULL, "ideal", SENSOR(kind), 0, "Exact, or with errors."),
    WORD("mount", FLAG, mount_words, "flange", SENSOR(environment), 0, "On the robot's flange, or on the environment's side."),
    SECTION("pose", SECTION, &pose_section, "{}", SENSOR(pose), 0, "Pose of the sensor in the flange frame; with `mount: environment` in the lab."),
    KEY("force_noise", NUMBER, "N", NOT_NEGATIVE, "0", SENSOR(force_noise), NOISY, "Standard deviation of the white noise on each force."),
    KEY("torque_noise", NUMBER, "N m", NOT_NEGATIVE, "0", SENSOR(torque_noise), NOISY, "Standard deviation of the white noise on each torque."),
    KEY("bias", WRENCH, "N, N m", ANY, "[0, 0, 0, 0, 0, 0]", SENSOR(bias), NOISY, "Constant error: force, then torque. The loop does not know it."),
    KEY("drift", PAIR, "N/s, N m/s", ANY, "[0, 0]", SENSOR(drift_force), NOISY, "Slope of the bias, the same on every axis."),
    KEY("resolution", PAIR, "N, N m", NOT_NEGATIVE, "[0, 0]", SENSOR(resolution_force), NOISY, "Quantum of the reading; 0: none."),
    KEY("range", PAIR, "N, N m", POSITIVE, "none", SENSOR(range_force), NOISY, "Largest reading; at and beyond it the sample is refused."),
    KEY("bandwidth", NUMBER, "Hz", POSITIVE, "none", SENSOR(bandwidth), NOISY, "First-order low pass."),
    KEY("delay", NUMBER, "s", NOT_NEGATIVE, "0", SENSOR(delay), NOISY, "Age of the reading."),
    KEY("lost", NUMBER, "", SHARE, "0", SENSOR(lost), BIT(FF_SENSOR_NOISY), "Share of readings that do not arrive, drawn in every cycle: the last one stands in, with its age. (`facility`: the fault `ft-lost`.)"),
    KEY("turned", QUATERNION, "", ANY, "[1, 0, 0, 0]", SENSOR(turned), NOISY, "Error of the virtual sensor's mounting: its axes, body to body, from those that `pose` names. The loop does not know it; the hand-push test of `rt` finds it."),
    KEY("wired", VEC3, "", ANY, "[1, 2, 3]", SENSOR(wired), NOISY, "Error of the virtual sensor's wiring: the axis (1 x, 2 y, 3 z) that each channel really carries, negative with the wrong sign; forces and torques alike."),
    KEY("address", TEXT, "", ANY, "127.0.0.1", SENSOR(address), FROM(FF_SENSOR_DEVICE), "The sensor's address. On loopback it is a virtual one."),
};
static ff_device_section sensor_devices;
static ff_section sensor_section = {"satellites.NAME.sensor", "sensor", sensor_devices.key, 0, "The force-torque sensor. Keys that do not belong to the chosen kind are errors."};

static const ff_key mockup_keys[] = {
    KEY("mass", NUMBER, "kg", POSITIVE, "required", offsetof(ff_mockup_config, mass), 0, "Mass behind the sensor."),
    KEY("com", VEC3, "m", ANY, "[0, 0, 0]", offsetof(ff_mockup_config, com), 0, "Its centre of mass in the body frame, from the satellite's CoM."),
    KEY("inertia", INERTIA, "kg m2", ANY, "[0, 0, 0]", offsetof(ff_mockup_config, inertia), 0, "About its own centre of mass, body axes; all zero: a point mass."),
    KEY("frequency", NUMBER, "Hz", POSITIVE, "none", offsetof(ff_mockup_config, frequency), 0, "Of an elastic mount between flange and mock-up, the flange held: it bends the same in all three directions and does not turn. None: rigid."),
    KEY("damping_ratio", NUMBER, "", NOT_NEGATIVE, "0.02", offsetof(ff_mockup_config, damping_ratio), 0, "Of the elastic mount."),
    WORD("compensation", FLAG, tracking_words, "on", offsetof(ff_mockup_config, unknown), 0, "Whether the loop knows the elastic mount and works with the mock-up's own motion and contact force, or takes it for rigid. Not with `mount: environment` or `frame: relative`."),
};
static const ff_section mockup_section = {"satellites.NAME.mockup", "", TABLE(mockup_keys), "What hangs behind the sensor: its weight and inertia force are removed from the reading."};

static const ff_key mesh_keys[] = {
    KEY("file", MESH, "", ANY, "required", offsetof(ff_mesh_config, file), 0, "An STL (binary or text) or OBJ file, its path from the scenario's folder; at most 20000 triangles and 8 MiB."),
    KEY("scale", NUMBER, "m", POSITIVE, "1", offsetof(ff_mesh_config, scale), 0, "One unit of the file; 0.001 for a file in millimetres."),
    SECTION("pose", SECTION, &pose_section, "{}", offsetof(ff_mesh_config, pose), 0, "The file's frame in the body frame, from the CoM."),
};
static const ff_section mesh_section = {"satellites.NAME.mesh", "", TABLE(mesh_keys), "What the report and the live page draw in place of the box; nothing is computed from it."};

static const ff_key limits_keys[] = {
    KEY("velocity", NUMBER, "m/s", POSITIVE, "none", offsetof(ff_limiter_config, velocity), 0, "Largest speed that the robot is sent; a target beyond the limits is followed as fast as all of them allow."),
    KEY("acceleration", NUMBER, "m/s2", POSITIVE, "none", offsetof(ff_limiter_config, acceleration), 0, "Largest acceleration that it is sent, from cycle to cycle."),
    KEY("jerk", NUMBER, "m/s3", POSITIVE, "none", offsetof(ff_limiter_config, jerk), 0, "Largest jerk that it is sent, from cycle to cycle."),
    KEY("angular_velocity", NUMBER, "rad/s", POSITIVE, "none", offsetof(ff_limiter_config, angular_velocity), 0, "Largest angular speed that it is sent."),
    KEY("angular_acceleration", NUMBER, "rad/s2", POSITIVE, "none", offsetof(ff_limiter_config, angular_acceleration), 0, "Largest angular acceleration that it is sent."),
    KEY("angular_jerk", NUMBER, "rad/s3", POSITIVE, "none", offsetof(ff_limiter_config, angular_jerk), 0, "Largest angular jerk that it is sent."),
};
static const ff_section limits_section = {"satellites.NAME.limits", "", TABLE(limits_keys), "Limits of what the robot is sent, as sizes of vectors: the output stage before each robot keeps them, and those of `safety` where these are smaller. In virtual time none acts unless it is named, but for `impact` and `fused`, whose corrections are steps: 50 m/s2, 5e4 m/s3, 100 rad/s2, 1e5 rad/s3; on devices cautious ones act where none is (docs/safety.md)."};

#define LINK(field) offsetof(ff_servicer_link, field)
static const char *const joint_words[] = {"revolute", "prismatic", "fixed", NULL};
static const ff_key link_keys[] = {
    KEY("name", NAME, "", ANY, "(link1, link2, ...)", LINK(name), 0, "Name of the link."),
    WORD("joint", WORD, joint_words, "revolute", LINK(row.joint), 0, "The joint that carries it; a fixed link is merged into its parent."),
    KEY("parent", NAME, "", ANY, "(the link before; the base for the first)", LINK(parent), 0, "Name of a link above it in the list, or `base`."),
    SECTION("pose", SECTION, &pose_section, "{}", LINK(row.pose), 0, "Joint frame in the parent's frame; at q = 0 the link's frame is the joint's."),
    KEY("axis", DIRECTION, "", ANY, "[0, 0, 1]", LINK(row.axis), 0, "Axis of the joint, link frame."),
    KEY("mass", NUMBER, "kg", NOT_NEGATIVE, "required", LINK(row.mass), 0, "Mass; zero only for a fixed link."),
    KEY("com", VEC3, "m", ANY, "[0, 0, 0]", LINK(row.com), 0, "Its centre of mass, link frame."),
    KEY("inertia", INERTIA, "kg m2", ANY, "required", LINK(row.inertia), 0, "About its centre of mass, link axes."),
    KEY("torque", NUMBER, "N m", POSITIVE, "none", LINK(row.torque), 0, "Largest torque of the motor, N for a prismatic joint."),
    KEY("viscous", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", LINK(row.viscous), 0, "Friction of the joint on the ground: viscous part."),
    KEY("coulomb", NUMBER, "N m", NOT_NEGATIVE, "0", LINK(row.coulomb), 0, "Friction of the joint on the ground: constant part."),
};
static const ff_section link_section = {"satellites.NAME.arm.links.INDEX", "", TABLE(link_keys), "One link of the arm with the joint that carries it. At most 32."};

#define AT(field) offsetof(ff_arm_device, field)
static const ff_key arm_device_keys[] = {
    WORD("kind", WORD, NULL, "joint-torque", AT(kind), 0, "Its protocol."),
    KEY("address", TEXT, "", ANY, "127.0.0.1", AT(address), 0, "Address of this computer at which the arm's telegrams arrive. On loopback the arm is a virtual one."),
};
static ff_device_section arm_devices;
static ff_section arm_device_section = {"emulation.robot.device", "arm", arm_devices.key, 0, "Where the arm is when the scenario runs on devices (`freefloat rt`); `run` looks at none of it."};
static ff_section servicer_device_section = {"satellites.NAME.arm.device", "arm", arm_devices.key, 0, "Where the servicer's arm is when the scenario runs on devices (`freefloat rt`); `run` looks at none of it."};

#define ARM(field) offsetof(ff_servicer_arm, field)
static const ff_key arm_keys[] = {
    SECTION("mount", SECTION, &pose_section, "{}", ARM(mount), 0, "Pose of the arm's foot in the base's body frame."),
    KEY("model", ARM_MODEL, "", ANY, "(or `links`)", 0, 0, "In place of `links`: a URDF file, its path from the scenario's folder. Its root link is the foot and has no mass; `effort` is the torque, `damping` and `friction` the joint's friction; the joints must start and end inside `lower` and `upper`, which nothing enforces in between. The last link is the end of the last branch with a joint that moves."),
    SECTION("links", LINKS, &link_section, "(required, or `model`)", 0, 0, "The links, from the base outwards."),
    SECTION("gripper", SECTION, &pose_section, "{}", ARM(gripper), 0, "Pose of the gripper in the last link."),
    KEY("joints", JOINTS, "rad", ANY, "(all zero)", ARM(q), 0, "Joints at the start, in the order of the links that move."),
    KEY("cycle", NUMBER, "s", POSITIVE, "(a quarter of the loop's)", ARM(cycle), 0, "Period of the arm's own controller; divides the loop's."),
    SECTION("device", SECTION, &servicer_device_section, "{}", ARM(device), 0, "Where it is, on devices."),
};
static const ff_section arm_section = {"satellites.NAME.arm", "", TABLE(arm_keys), "An arm on the satellite, which makes it a servicer: mass and inertia above are then those of the base alone. The arm on the ground is torque-controlled and feels gravity (destefano2021)."};

#define OBSW(field) offsetof(ff_obsw_config, field)
static const ff_key navigation_keys[] = {
    KEY("rate", NUMBER, "Hz", NOT_NEGATIVE, "0", OBSW(navigation.rate), 0, "Of the relative pose camera; 0: every cycle."),
    KEY("delay", NUMBER, "s", NOT_NEGATIVE, "0", OBSW(navigation.delay), 0, "Of the camera: a picture is seen in the first cycle this long after it was taken, the first one at once. At most 60."),
    KEY("position", NUMBER, "m", NOT_NEGATIVE, "0", OBSW(navigation.position), 0, "Half width of the camera's uniform error, each axis."),
    KEY("attitude", NUMBER, "rad", NOT_NEGATIVE, "0", OBSW(navigation.attitude), 0, "Likewise."),
    KEY("velocity", NUMBER, "m/s", NOT_NEGATIVE, "0", OBSW(navigation.velocity), 0, "Likewise."),
    KEY("angular_rate", NUMBER, "rad/s", NOT_NEGATIVE, "0", OBSW(navigation.angular_rate), 0, "Likewise."),
    KEY("star_tracker", NUMBER, "rad", NOT_NEGATIVE, "0", OBSW(navigation.star_tracker), 0, "Half width of the star tracker's error, each axis."),
    KEY("star_tracker_rate", NUMBER, "Hz", NOT_NEGATIVE, "0", OBSW(navigation.star_tracker_rate), 0, "Of the star tracker; 0: every cycle."),
    KEY("star_tracker_delay", NUMBER, "s", NOT_NEGATIVE, "0", OBSW(navigation.star_tracker_delay), 0, "Of the star tracker, as for the camera."),
    KEY("gyro", NUMBER, "rad/s", NOT_NEGATIVE, "0", OBSW(navigation.gyro), 0, "Half width of the gyro's error, each axis."),
    KEY("gyro_rate", NUMBER, "Hz", NOT_NEGATIVE, "0", OBSW(navigation.gyro_rate), 0, "Of the gyro; 0: every cycle."),
    KEY("gyro_delay", NUMBER, "s", NOT_NEGATIVE, "0", OBSW(navigation.gyro_delay), 0, "Of the gyro."),
    KEY("encoder", NUMBER, "rad", NOT_NEGATIVE, "0", OBSW(navigation.encoder), 0, "Half width of the joint encoders' error; m for a prismatic joint."),
    KEY("encoder_speed", NUMBER, "rad/s", NOT_NEGATIVE, "0", OBSW(navigation.encoder_speed), 0, "And of the joint speed that comes with it."),
    KEY("encoder_rate", NUMBER, "Hz", NOT_NEGATIVE, "0", OBSW(navigation.encoder_rate), 0, "Of the joint encoders; 0: every cycle."),
    KEY("encoder_delay", NUMBER, "s", NOT_NEGATIVE, "0", OBSW(navigation.encoder_delay), 0, "Of the joint encoders."),
};
static const ff_section navigation_section = {"satellites.NAME.obsw.navigation", "", TABLE(navigation_keys), "The sensors that the on-board software sees: relative pose camera, star tracker, gyro, joint encoders. Samples are taken on the cycle grid; each sensor has its own random stream from the seed."};

static const char *const obsw_words[] = {"builtin", "shared", "udp", NULL};
static const char *const mode_words[] = {"lockstep", "free", NULL};
static const char *const packet_words[] = {"cfs", "pus", NULL};
#define UDP BIT(2)
static const ff_key obsw_keys[] = {
    WORD("kind", WORD, obsw_words, "builtin", OBSW(kind), 0, "The built-in coordinated controller of base and arm, a shared object that exports the functions of examples/obsw/obsw.h, or any program over UDP (docs/obsw.md)."),
    KEY("library", TEXT, "", ANY, "required", OBSW(library), BIT(1), "Path of the shared object, from the working folder."),
    KEY("address", TEXT, "", ANY, "127.0.0.1", OBSW(address), UDP, "IPv4 address of the on-board software. Commands are taken from this address only."),
    KEY("port", INTEGER, "", ANY, "1234", OBSW(port), UDP, "UDP port at which it listens for the sensors; 1234 is that of cFS."),
    KEY("local_address", TEXT, "", ANY, "127.0.0.1", OBSW(local_address), UDP, "IPv4 address of this computer at which its commands arrive."),
    KEY("local_port", INTEGER, "", ANY, "1235", OBSW(local_port), UDP, "UDP port of the same."),
    WORD("mode", WORD, mode_words, "lockstep", OBSW(mode), UDP, "`lockstep`: each cycle waits for the answer to its sensors. `free`: the run is paced by the clock, and the newest command acts. The reference orbit is always in lock step."),
    WORD("packets", WORD, packet_words, "cfs", OBSW(packets), UDP, "Secondary header of the space packets: cFS, or ECSS PUS-C."),
    KEY("apid", INTEGER, "", ANY, "160", OBSW(apid), UDP, "Application process of the sensors' packets."),
    KEY("command_apid", INTEGER, "", ANY, "161", OBSW(command_apid), UDP, "And of the commands; a packet with another is refused."),
    KEY("timeout", NUMBER, "s", POSITIVE, "(udp 0.5, shared 1)", OBSW(timeout), UDP | BIT(1), "Wall clock: longest wait for one answer in lock step, or for one step of the shared object to return (its start may take ten times as long). At most 60."),
    KEY("connect", NUMBER, "s", POSITIVE, "10", OBSW(connect), UDP, "Wall clock: longest wait for the first answer; without it the run fails. At most 600."),
    KEY("hold", NUMBER, "s", NOT_NEGATIVE, "(ten cycles)", OBSW(hold), 0, "Without a good answer the last one acts for this long, then nothing acts."),
    SECTION("goal", SECTION, &pose_section, "required", OBSW(goal), 1, "Pose of the base that it keeps in the client's body frame."),
    KEY("joints", JOINTS, "rad", ANY, "(as at the start)", OBSW(q), 1, "Joints with which it grasps."),
    KEY("approach", NUMBER, "s", NOT_NEGATIVE, "9.1", OBSW(approach), 1, "The arm starts."),
    KEY("arrive", NUMBER, "s", POSITIVE, "31", OBSW(arrive), 1, "The arm has arrived; after `approach`. The grasp closes at the contact's `closes`; from then on the thrusters are off."),
    KEY("sync_rate", NUMBER, "rad/s", POSITIVE, "1.2", OBSW(sync_rate), 1, "Bandwidth of the base's control before `approach`."),
    KEY("hold_rate", NUMBER, "rad/s", POSITIVE, "0.6", OBSW(hold_rate), 1, "And after it."),
    KEY("arm_rate", NUMBER, "rad/s", POSITIVE, "3", OBSW(arm_rate), 1, "Bandwidth of the joints before the grasp."),
    KEY("grasp_rate", NUMBER, "rad/s", POSITIVE, "25", OBSW(grasp_rate), 1, "And after it."),
    KEY("detumble", NUMBER, "s", NOT_NEGATIVE, "none", OBSW(detumble), 1, "From here on, once it has grasped, it stops the tumble: the thrusters' torque on the base is `detumble_damping` times its rate, against it, as far as `thrust` goes, while the arm holds. Without it, or without thrusters, client and servicer go on turning together."),
    KEY("detumble_damping", NUMBER, "N m s/rad", POSITIVE, "2e4", OBSW(detumble_damping), 1, "Of that torque. The rate decays with the inertia of both, about their common centre of mass, over this."),
    KEY("thrust", PAIR, "N, N m", POSITIVE, "none", OBSW(force_limit), 0, "Largest force and torque of the thrusters, each axis; they act on whatever the software asks for."),
    SECTION("navigation", SECTION, &navigation_section, "{}", 0, 0, "What the software sees."),
};
static const ff_section obsw_section = {"satellites.NAME.obsw", "on-board software", TABLE(obsw_keys), "The on-board software of a satellite with an arm."};
#define SAFETY(field) offsetof(ff_safety_limits, field)
static const char *const preset_words[] = {"none", "cautious", NULL};
static const ff_key safety_keys[] = {
    WORD("preset", WORD, preset_words, "none", SAFETY(preset), 0, "Values for every limit that is not named: `cautious` are those of docs/safety.md, for a first run beside a robot. `safety: cautious` says the same."),
    KEY("box", HALF_WIDTHS, "m", NOT_NEGATIVE, "[free, free, free]", SAFETY(box), 0, "Half widths about the start, inertial axes; tested where the body would come to rest."),
    KEY("velocity", NUMBER, "m/s", POSITIVE, "none", SAFETY(velocity), 0, "Measured speed."),
    KEY("angular_velocity", NUMBER, "rad/s", POSITIVE, "none", SAFETY(angular_velocity), 0, "Measured angular speed."),
    KEY("acceleration", NUMBER, "m/s2", POSITIVE, "none", SAFETY(acceleration), 0, "Of the command."),
    KEY("angular_acceleration", NUMBER, "rad/s2", POSITIVE, "none", SAFETY(angular_acceleration), 0, "Of the command."),
    KEY("jerk", NUMBER, "m/s3", POSITIVE, "none", SAFETY(jerk), 0, "Of the command."),
    KEY("force", NUMBER, "N", POSITIVE, "none", SAFETY(force), 0, "Contact force."),
    KEY("torque", NUMBER, "N m", POSITIVE, "none", SAFETY(torque), 0, "Contact torque at the CoM."),
    KEY("spike", NUMBER, "N", POSITIVE, "none", SAFETY(spike), 0, "Change of the force in one cycle."),
    KEY("energy", NUMBER, "J", POSITIVE, "none", SAFETY(energy), 0, "Energy that the contact port has given the satellite since the start."),
    KEY("tracking", NUMBER, "m", POSITIVE, "0.01", SAFETY(tracking), 0, "Distance of the robot from the nearest of its recent commands."),
    KEY("age", NUMBER, "s", POSITIVE, "0.02", SAFETY(age), 0, "Age of the sensor's sample."),
    KEY("missed", NUMBER, "cycles", POSITIVE, "5", SAFETY(missed), 0, "Cycles in a row without a telegram: held, then stopped."),
    KEY("stop_acceleration", NUMBER, "m/s2", POSITIVE, "1", SAFETY(stop_acceleration), 0, "Of a controlled stop."),
    KEY("stop_angular_acceleration", NUMBER, "rad/s2", POSITIVE, "2", SAFETY(stop_angular_acceleration), 0, "Of a controlled stop."),
};
static const ff_section safety_section = {"satellites.NAME.safety", "", TABLE(safety_keys), "What ends a run on devices (`freefloat rt`), and where the scenario names a limit a run in virtual time, too; docs/safety.md. Not the safety function."};

#define CHECK(field) offsetof(ff_check_config, field)
static const ff_key check_keys[] = {
    WORD("push", FLAG, push_words, "hand", CHECK(no_push), 0, "The operator pushes the mock-up along its three axes and twists it about them, and the sensor must say the same; on virtual devices the facility pushes. `skip` leaves it out, and the report says so, as with an arm, whose gripper has the only sensor."),
    WORD("weight", WORD, weight_words, "auto", CHECK(weight), 0, "The mock-up's mass and CoM: identified while the robot tilts it (`poses`), or taken from `mockup` (`scenario`). `auto`: by poses wherever a sensor on the flange feels weight, that is with `facility.gravity`."),
    WORD("delay", FLAG, delay_words, "scenario", CHECK(chirp), 0, "The robot's delay: taken from `robot.delay`, or identified by a small chirp and compared with it. With a mock-up behind the sensor the chirp also identifies by how much the force is older than the pose, and `fused` and `damping` use that."),
    KEY("angle", NUMBER, "rad", POSITIVE, "0.3", CHECK(angle), 0, "Largest tilt for `weight: poses`; Cartesian corrections: at most 4.5 degrees."),
    KEY("amplitude", NUMBER, "m", POSITIVE, "0.002", CHECK(amplitude), 0, "Of the chirp, away from the motion to come; less if half of a limit of `safety` asks for it."),
    KEY("wait", NUMBER, "s", POSITIVE, "30", CHECK(wait), 0, "How long each push is waited for."),
};
static const ff_section check_section = {"satellites.NAME.check", "", TABLE(check_keys), "What `freefloat rt` tries before arming, besides what it always looks at; docs/safety.md."};

#define SATELLITE(field) offsetof(ff_satellite, field)
static const ff_key satellite_keys[] = {
    KEY("mass", NUMBER, "kg", POSITIVE, "required", SATELLITE(rigid.mass), 0, "Mass of the satellite."),
    KEY("inertia", INERTIA, "kg m2", ANY, "required", SATELLITE(rigid.inertia), 0, "About the CoM, body axes; positive, and no principal moment above the sum of the other two."),
    KEY("position", VEC3, "m", ANY, "[0, 0, 0]", SATELLITE(start.position), 0, "CoM at the start, inertial."),
    KEY("attitude", QUATERNION, "", ANY, "[1, 0, 0, 0]", SATELLITE(start.attitude), 0, "Body to inertial at the start, unit quaternion, scalar first."),
    ANGLES("abc_deg", ABC_DEG, "deg", SATELLITE(start.attitude), "In place of `attitude`: KUKA's angles about z, then y', then x''."),
    ANGLES("rpy", RPY, "rad", SATELLITE(start.attitude), "In place of `attitude`: about the fixed axes x, y, z."),
    KEY("velocity", VEC3, "m/s", ANY, "[0, 0, 0]", SATELLITE(start.velocity), 0, "Of the CoM at the start, inertial."),
    KEY("angular_velocity", VEC3, "rad/s", ANY, "[0, 0, 0]", SATELLITE(start.omega), 0, "At the start, body axes."),
    KEY("points", POINTS, "m", ANY, "{}", 0, 0, "Named points of the body, from the CoM: `{tip: [0.3, -0.2, 0.4]}`. `com` always exists."),
    SECTION("robot", SECTION, &robot_section, "{}", SATELLITE(robot), 0, "The robot that carries it."),
    SECTION("sensor", SECTION, &sensor_section, "{}", SATELLITE(sensor), 0, "Its force-torque sensor."),
    SECTION("mockup", SECTION, &mockup_section, "none", SATELLITE(mockup), 0, "What hangs behind the sensor."),
    SECTION("mesh", SECTION, &mesh_section, "none", SATELLITE(mesh), 0, "Its shape, to be looked at."),
    SECTION("limits", SECTION, &limits_section, "{}", SATELLITE(limits), 0, "Limits on the commands."),
    SECTION("arm", SECTION, &arm_section, "none", SATELLITE(arm), 0, "An arm with a gripper."),
    SECTION("obsw", SECTION, &obsw_section, "none", SATELLITE(obsw), 0, "On-board software; needed with an arm."),
    SECTION("safety", SECTION, &safety_section, "{}", SATELLITE(safety), 0, "What ends a run."),
    SECTION("check", SECTION, &check_section, "{}", SATELLITE(check), 0, "What is tried before a run on devices."),
};
static const ff_section satellite_section = {"satellites.NAME", "", TABLE(satellite_keys), "One free-floating body with its robot and sensor. A scenario has 1 to 4, each under its own name."};

static const ff_key nominal_keys[] = {
    WORD("kind", WORD, nominal_words, "free", offsetof(ff_scenario, nominal), 0, "The unforced motion of the satellite named `client` (else of the first), a prescribed one, or a satellite's own motion."),
    KEY("of", BODY, "", ANY, "required", offsetof(ff_scenario, nominal_of), BIT(FF_NOMINAL_SATELLITE), "Name of that satellite: its robot stands still, so one robot suffices for two satellites."),
    SECTION("pose", SECTION, &pose_section, "{}", offsetof(ff_scenario, nominal_pose), BIT(FF_NOMINAL_PRESCRIBED), "Pose of the nominal frame at t = 0, inertial."),
    KEY("twist", TWIST, "m/s, rad/s", ANY, "[0, 0, 0, 0, 0, 0]", offsetof(ff_scenario, nominal_twist), BIT(FF_NOMINAL_PRESCRIBED), "Its constant twist in its own axes: linear, then angular."),
};
static const ff_section nominal_section = {"nominal", "nominal motion", TABLE(nominal_keys), "With `frame: relative`: the motion that robots do not make."};

static const char *const relative_words[] = {"algebraic", "integrated", NULL};
static const ff_key relative_keys[] = {
    WORD("form", FLAG, relative_words, "algebraic", offsetof(ff_scenario, relative_integrated), 0, "`algebraic`: integrate (2) and (4) of destefano2021 and recover the relative motion; `integrated`: integrate (11), the same motion at more cost (integrators euler and lie-midpoint, nominal free or prescribed)."),
};
static const ff_section relative_section = {"relative", "", TABLE(relative_keys), "Settings of `frame: relative`."};

#define FAULT(field) offsetof(ff_fault, field)
static const ff_key fault_keys[] = {
    WORD("kind", WORD, fault_words, "required", FAULT(kind), 0, "What goes wrong; docs/safety.md lists them with the reaction."),
    KEY("body", BODY, "", ANY, "(the first satellite)", FAULT(body), 0, "Whose robot or sensor."),
    KEY("from", NUMBER, "s", NOT_NEGATIVE, "0", FAULT(from), 0, "Begin, counted from the robot's first motion."),
    KEY("to", NUMBER, "s", NOT_NEGATIVE, "none", FAULT(to), 0, "End."),
    KEY("value", NUMBER, "", ANY, "0", FAULT(value), 0, "Its size, in the fault's own unit (docs/safety.md)."),
    KEY("probability", NUMBER, "", POSITIVE, "1", FAULT(probability), 0, "Of acting in each cycle; drawn from the scenario's seed."),
};
static const ff_section fault_section = {"facility.faults.INDEX", "fault", TABLE(fault_keys), "What the virtual devices of `freefloat facility` do wrong, or what it does to the loop's process, to see what the loop does about it. `run` knows none of them."};
static const ff_key facility_keys[] = {
    SECTION("pose", SECTION, &pose_section, "{}", offsetof(ff_scenario, facility_pose), 0, "Placement of the scenario in the lab."),
    KEY("gravity", VEC3, "m/s2", ANY, "[0, 0, 0]", offsetof(ff_scenario, facility_gravity), 0, "Gravity in the lab; it acts on mock-ups, never on satellites."),
    WORD("signals", FLAG, signals_words, "off", offsetof(ff_scenario, facility_signals), 0, "Telegrams of the virtual controllers carry operating mode, drives, emergency stop, override and programme (docs/safety.md)."),
    SECTION("faults", FAULTS, &fault_section, "[]", 0, 0, "Faults, at most 16."),
};
static const ff_section facility_section = {"facility", "", TABLE(facility_keys), "The lab."};

#define CONTACT(field) offsetof(ff_contact, field)
static const ff_key same_keys[] = {
    KEY("stiffness", SERIES, "N/m", POSITIVE, "(as the contact's)", CONTACT(satellite_stiffness), 0, "Stiffness; a list of two is in series."),
    KEY("damping", NUMBER, "N s/m", NOT_NEGATIVE, "(as the contact's)", CONTACT(satellite_damping), 0, "Damping."),
};
static const ff_section same_section = {"contacts.NAME.satellite", "", TABLE(same_keys), "The contact that the satellites should have: `ideal` uses it, and the methods that can render it."};

#define WALL BIT(FF_CONTACT_WALL)
#define STOPS BIT(FF_CONTACT_STOPS)
#define PAIR BIT(FF_CONTACT_PAIR)
#define CONE BIT(FF_CONTACT_CONE)
#define GRASP BIT(FF_CONTACT_GRASP)
static const ff_key contact_keys[] = {
    KEY("name", NAME, "", ANY, "(contact1, contact2, ...)", CONTACT(name), 0, "Name in tables and paths; by default numbered by its place in the list."),
    WORD("kind", WORD, ff_contact_names, "required", CONTACT(kind), 0, "A half space, elastic stops about the origin, a plane or a cone fixed to another satellite, a spring that holds two bodies."),
    KEY("body", BODY, "", ANY, "(the only satellite)", CONTACT(body), 0, "The satellite that touches; needed when there are several."),
    KEY("point", POINT, "m", ANY, "com", CONTACT(point), WALL | PAIR | CONE | GRASP, "The point that touches: name of one of the body's points, or its place [x, y, z] in the body frame; of a body with an arm: in the frame of its gripper, [0, 0, 0] unless given."),
    KEY("against", BODY, "", ANY, "required", CONTACT(against), PAIR | CONE | GRASP, "The other satellite."),
    KEY("at", VEC3, "m", ANY, "required", CONTACT(at), WALL | PAIR | GRASP, "A point of the surface: inertial; for pair and grasp in the body frame of `against` (grasp: the place that is held)."),
    KEY("normal", DIRECTION, "", ANY, "required", CONTACT(normal), WALL | PAIR, "Points to the free side; any length but zero."),
    KEY("apex", VEC3, "m", ANY, "required", CONTACT(apex), CONE, "Tip of the cone, body frame of `against`."),
    KEY("axis", DIRECTION, "", ANY, "required", CONTACT(axis), CONE, "Out of its mouth; any length but zero."),
    KEY("half_angle", NUMBER, "rad", ACUTE, "required", CONTACT(half_angle), CONE, "Between axis and surface."),
    KEY("depth", NUMBER, "m", POSITIVE, "none", CONTACT(depth), CONE, "Length of the cone along the axis."),
    WORD("source", FLAG, source_words, "real", CONTACT(is_virtual), WALL | STOPS | PAIR | CONE, "`virtual`: nothing real is touched; the wrench follows from the measured motion of the robots and is added to what the sensors read, in `run` and on devices. Not with `frame: relative` or an arm."),
    KEY("stiffness", SERIES, "N/m", POSITIVE, "(required; stops: with `position`)", CONTACT(stiffness), 0, "Of the mock-ups' real contact, what the sensor feels; a list of two is in series."),
    KEY("damping", NUMBER, "N s/m", NOT_NEGATIVE, "0", CONTACT(damping), 0, "Of the mock-ups' real contact; one number, also for two springs in series."),
    SECTION("satellite", SECTION, &same_section, "{}", 0, 0, "The contact that the satellites should have."),
    KEY("damping_depth", NUMBER, "m", NOT_NEGATIVE, "0", CONTACT(damping_depth), WALL | PAIR | CONE, "Depth over which the damping grows smoothly from zero; 0: constant damping."),
    KEY("friction", NUMBER, "", NOT_NEGATIVE, "0", CONTACT(friction), WALL | PAIR | CONE, "Coulomb coefficient."),
    KEY("position", HALF_WIDTHS, "m", NOT_NEGATIVE, "[free, free, free]", CONTACT(stop_position), STOPS, "Half widths of the play about the origin, inertial axes; `free`: no stop on this axis."),
    KEY("rotation", HALF_WIDTHS, "rad", NOT_NEGATIVE, "[free, free, free]", CONTACT(stop_rotation), STOPS, "Half widths of the rotation vector; `free`: no stop on this axis."),
    KEY("rotation_stiffness", NUMBER, "N m/rad", POSITIVE, "(required with `rotation`, and for a grasp)", CONTACT(rotation_stiffness), STOPS | GRASP, "Stiffness of the rotation stops, or of the grasp."),
    KEY("rotation_damping", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", CONTACT(rotation_damping), STOPS | GRASP, "Damping of the rotation stops, or of the grasp."),
    KEY("closes", NUMBER, "s", NOT_NEGATIVE, "0", CONTACT(closes), GRASP, "The gripper does not close before. It then holds both bodies as they stand to each other."),
    KEY("reach", NUMBER, "m", POSITIVE, "none", CONTACT(reach), GRASP, "The gripper closes when `point` is this near to `at`; none: at the time `closes`, wherever they are."),
    KEY("opens", NUMBER, "s", POSITIVE, "none", CONTACT(opens), GRASP, "Of an arm's gripper: it lets go, and does not close again; after `closes`."),
};
static const ff_section contact_section = {"contacts.NAME", "contact", TABLE(contact_keys), "A list; each item is one contact. Keys that do not belong to the chosen kind are errors. In `--set` an item is addressed by its name or its index from 0."};

#define LOAD(field) offsetof(ff_load, field)
static const ff_key load_keys[] = {
    KEY("body", BODY, "", ANY, "(the only satellite)", LOAD(body), 0, "The satellite that is loaded; needed when there are several."),
    WORD("kind", WORD, load_words, "pulse", LOAD(kind), 0, "Constant, sin(pi s) or sin2(pi s), with s from 0 to 1 over the time of the load."),
    KEY("force", VEC3, "N", ANY, "[0, 0, 0]", LOAD(force), 0, "Peak force at the CoM, inertial."),
    KEY("torque", VEC3, "N m", ANY, "[0, 0, 0]", LOAD(torque), 0, "Peak torque, body axes."),
    KEY("from", NUMBER, "s", ANY, "required", LOAD(from), 0, "Start."),
    KEY("to", NUMBER, "s", ANY, "required", LOAD(to), 0, "End, after `from`; the load is zero at this time."),
};
static const ff_section load_section = {"loads.INDEX", "load", TABLE(load_keys), "A list of known loads, e.g. thruster pulses. They act at the CoM. A run applies their value at the start of the cycle, held for the cycle; the ideal reference applies them continuously, and begins and ends them at their own times, not at a cycle's."};

#define REQUIREMENT(field) offsetof(ff_requirements, field)
static const ff_key requirement_keys[] = {
    KEY("velocity_error", NUMBER, "m/s", POSITIVE, "0.01", REQUIREMENT(velocity_error), 0, "Largest difference of velocity to the ideal run."),
    KEY("angular_velocity_error", NUMBER, "rad/s", POSITIVE, "0.0087", REQUIREMENT(angular_velocity_error), 0, "Largest difference of angular velocity to the ideal run."),
    KEY("peak_force_ratio", NUMBER, "", POSITIVE, "1.2", REQUIREMENT(peak_force_ratio), 0, "Largest robot force over the ideal one, contact by contact."),
    KEY("restitution_error", NUMBER, "", POSITIVE, "0.05", REQUIREMENT(restitution_error), 0, "Largest difference to the ideal run of a contact's change of velocity over its approach speed, at the contact point along the normal and across it: head on the error of the coefficient of restitution."),
};
static const ff_section requirements_section = {"requirements", "", TABLE(requirement_keys), "What the run must show for the verdict `pass`."};

static const ff_key passive_keys[] = {
    WORD("reading", FLAG, reading_words, "(that of `tdpa`)", offsetof(ff_scenario, integrate.passive_printed), 0, "`printed`: the fictitious torque (32) of destefano2019 to the letter, which corrects by 0.5 rad/s and more; `default`: the torque alone."),
    WORD("rotation", FLAG, rotation_words, "output", offsetof(ff_scenario, integrate.passive_exact), 0, "`output`: Euler's rotation with its output corrected, (33)-(36) of destefano2019, which leaves the energy as Euler's; `exact`: the gyroscopic torque takes the mean rate and does no work, so the energy is what the torque gave."),
};
static const ff_section passive_section = {"passive", "", TABLE(passive_keys), "Settings of the integrator `passive`."};

#define EMULATION(field) offsetof(ff_scenario, emulation.field)
#define ARMS(field) offsetof(ff_scenario, arms.field)
#define IS_JOINT BIT(FF_TARGET_FLEXIBLE_JOINT)
#define IS_ARM BIT(FF_TARGET_ARM)
#define CHAIN(field) offsetof(ff_emulate_link, field)
static const ff_key chain_keys[] = {
    KEY("mass", NUMBER, "kg", POSITIVE, "required", CHAIN(row.mass), 0, "Of the link."),
    KEY("com", VEC3, "m", ANY, "[0, 0, 0]", CHAIN(row.com), 0, "Its centre of mass, link frame."),
    KEY("inertia", INERTIA, "kg m2", ANY, "required", CHAIN(row.inertia), 0, "About its centre of mass, link axes."),
    SECTION("pose", SECTION, &pose_section, "{}", CHAIN(row.pose), 0, "Joint frame in the link before, for the first in the base; at q = 0 the link's frame is the joint's."),
    KEY("axis", DIRECTION, "", ANY, "[0, 0, 1]", CHAIN(row.axis), 0, "The joint turns about it, link frame."),
    KEY("start", NUMBER, "rad", ANY, "0", CHAIN(start), 0, "Angle at the start. For the robot: from where the target's start pose is sought."),
    KEY("speed", NUMBER, "rad/s", ANY, "0", CHAIN(speed), 0, "Joint speed at the start; the robot's follows from the target's."),
    KEY("viscous", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", CHAIN(row.viscous), 0, "Friction of the joint."),
    KEY("motor_inertia", NUMBER, "kg m2", NOT_NEGATIVE, "0", CHAIN(motor_inertia), 0, "Flexible joints: of the motor behind the spring, at the joint's side of the gear; > 0."),
    KEY("stiffness", NUMBER, "N m/rad", NOT_NEGATIVE, "0", CHAIN(stiffness), 0, "Flexible joints: of the spring."),
    KEY("damping", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", CHAIN(damping), 0, "Flexible joints: of the spring."),
    KEY("motor_friction", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", CHAIN(motor_friction), 0, "Flexible joints: viscous, at the motor."),
    KEY("drive", NUMBER, "N m", ANY, "0", CHAIN(drive), 0, "Target: torque on the motor (flexible) or the joint (rigid), unless `accommodation` drives it."),
    KEY("torque", NUMBER, "N m", POSITIVE, "none", CHAIN(row.torque), 0, "Robot: largest torque of the motor."),
    KEY("velocity", NUMBER, "rad/s", POSITIVE, "none", CHAIN(row.velocity), 0, "Robot, on devices: largest speed of the joint; beyond, its brakes fall in and the run ends."),
    KEY("lower", NUMBER, "rad", ANY, "(none)", CHAIN(row.lower), 0, "Robot, on devices: lower end of the joint's range; beyond, the same."),
    KEY("upper", NUMBER, "rad", ANY, "none", CHAIN(row.upper), 0, "Robot, on devices: upper end of the joint's range."),
};
static const ff_section chain_section = {"emulation.target.links.INDEX", "", TABLE(chain_keys), "A link and the joint that carries it; each stands on the one before. The same for `emulation.robot.links`."};
static const ff_key drive_keys[] = {
    KEY("start", NUMBER, "rad", ANY, "0", CHAIN(start), 0, "Angle at the start, inside the file's limits. For the robot: from where the target's start pose is sought."),
    KEY("speed", NUMBER, "rad/s", ANY, "0", CHAIN(speed), 0, "Joint speed at the start; the robot's follows from the target's."),
    KEY("viscous", NUMBER, "N m s/rad", NOT_NEGATIVE, "(the file's `damping`)", CHAIN(row.viscous), 0, "Friction of the joint."),
    KEY("motor_inertia", NUMBER, "kg m2", NOT_NEGATIVE, "0", CHAIN(motor_inertia), 0, "Flexible joints: of the motor behind the spring, at the joint's side of the gear; > 0."),
    KEY("stiffness", NUMBER, "N m/rad", NOT_NEGATIVE, "0", CHAIN(stiffness), 0, "Flexible joints: of the spring."),
    KEY("damping", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", CHAIN(damping), 0, "Flexible joints: of the spring."),
    KEY("motor_friction", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", CHAIN(motor_friction), 0, "Flexible joints: viscous, at the motor."),
    KEY("drive", NUMBER, "N m", ANY, "0", CHAIN(drive), 0, "Target: torque on the motor (flexible) or the joint (rigid), unless `accommodation` drives it."),
    KEY("torque", NUMBER, "N m", POSITIVE, "(the file's `effort`)", CHAIN(row.torque), 0, "Robot: largest torque of the motor."),
};
static const ff_section drive_section = {"emulation.target.drives.INDEX", "", TABLE(drive_keys), "What a URDF file does not say of a joint, or says differently. The same for `emulation.robot.drives`."};
#define MODEL_DOC "In place of `links`: a URDF file, its path from the scenario's folder, of one chain of revolute joints; what is fixed is merged into what carries it. The last link is the end of that chain. A floating base has its mass from the scenario: then the file's root has none."
static const ff_key target_keys[] = {
    WORD("kind", WORD, target_words, "flexible-joint", offsetof(ff_scenario, target), 0, "One link behind one flexible joint, or an arm of up to seven."),
    KEY("link_inertia", NUMBER, "kg m2", POSITIVE, "required", EMULATION(target.link_inertia), IS_JOINT, "Of the link about its joint."),
    KEY("drive_inertia", NUMBER, "kg m2", POSITIVE, "required", EMULATION(target.drive_inertia), IS_JOINT, "Of the motor, at the joint's side of the gear."),
    KEY("length", NUMBER, "m", POSITIVE, "required", EMULATION(target.length), IS_JOINT, "From the joint to the point that touches; the robot's is the same."),
    KEY("stiffness", NUMBER, "N m/rad", NOT_NEGATIVE, "required", EMULATION(target.stiffness), IS_JOINT, "Of the joint."),
    KEY("damping", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", EMULATION(target.damping), IS_JOINT, "Of the joint."),
    KEY("drive_friction", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", EMULATION(target.drive_friction), IS_JOINT, "Viscous, at the motor."),
    WORD("task", WORD, task_words, "pose", ARMS(task), IS_ARM, "What the two end effectors share: the pose (a robot of six joints), or x and y of a planar arm (two joints about z)."),
    WORD("joints", FLAG, joints_words, "rigid", ARMS(target.flexible), IS_ARM, "Rigid, or motors behind springs."),
    WORD("base", FLAG, base_words, "fixed", ARMS(target.floating), IS_ARM, "Fixed, or floating: a space robot."),
    KEY("base_mass", NUMBER, "kg", NOT_NEGATIVE, "0", ARMS(target.base_mass), IS_ARM, "Of a floating base."),
    KEY("base_com", VEC3, "m", ANY, "[0, 0, 0]", ARMS(target.base_com), IS_ARM, "Its centre of mass, base frame."),
    KEY("base_inertia", INERTIA, "kg m2", ANY, "[1, 1, 1]", ARMS(target.base_inertia), IS_ARM, "About it, base axes."),
    SECTION("place", SECTION, &pose_section, "{}", ARMS(target.base), IS_ARM, "Of the base; where a floating one starts."),
    SECTION("tip", SECTION, &pose_section, "{}", ARMS(target.tip), IS_ARM, "End effector in the last link."),
    KEY("gravity", VEC3, "m/s2", ANY, "[0, 0, 0]", ARMS(target.gravity), IS_ARM, "Where the target works."),
    KEY("model", CHAIN_MODEL, "", ANY, "(or `links`)", ARMS(target), IS_ARM, MODEL_DOC),
    SECTION("drives", DRIVES, &drive_section, "(all defaults)", ARMS(target), IS_ARM, "With `model`: one row for each joint."),
    SECTION("links", CHAIN, &chain_section, "(required for an arm, or `model`)", ARMS(target), IS_ARM, "Up to seven links."),
};
static const ff_section target_section = {"emulation.target", "target", TABLE(target_keys), "The robot that is emulated."};
static const ff_key emulator_keys[] = {
    WORD("kind", WORD, emulator_words, "joint", offsetof(ff_scenario, emulator), 0, "One joint for one joint, an arm for an arm."),
    KEY("inertia", NUMBER, "kg m2", POSITIVE, "required", EMULATION(robot_inertia), IS_JOINT, "Of the rigid robot about its joint."),
    KEY("friction", NUMBER, "N m s/rad", NOT_NEGATIVE, "0", EMULATION(robot_friction), IS_JOINT, "Viscous."),
    KEY("gravity_torque", NUMBER, "N m", ANY, "0", EMULATION(gravity_torque), IS_JOINT, "Largest torque of gravity, times cos q."),
    KEY("gravity_model_error", NUMBER, "", ANY, "0", EMULATION(gravity_model_error), 0, "The controller believes the torque times 1 plus this; -0.1 is ten per cent too little."),
    KEY("friction_model_error", NUMBER, "", ANY, "0", EMULATION(friction_model_error), 0, "The same for the friction; at least -1."),
    KEY("actuator_bandwidth", NUMBER, "rad/s", POSITIVE, "none", EMULATION(actuator_bandwidth), 0, "First-order lag of the torque."),
    KEY("actuator_delay", NUMBER, "s", NOT_NEGATIVE, "0", EMULATION(actuator_delay), 0, "Pure delay of the torque; with `controller: sampled`."),
    KEY("torque_limit", NUMBER, "N m", POSITIVE, "none", EMULATION(torque_limit), IS_JOINT, "What the motor can give."),
    KEY("force_bias", NUMBER, "N", ANY, "0", EMULATION(force_bias), 0, "Constant error of the force sensor."),
    KEY("force_noise", NUMBER, "N", NOT_NEGATIVE, "0", EMULATION(force_noise), 0, "Standard deviation of its noise; with `controller: sampled`."),
    SECTION("place", SECTION, &pose_section, "(where its end effector meets the target's)", ARMS(robot.base), IS_ARM, "Of the base."),
    SECTION("tip", SECTION, &pose_section, "{}", ARMS(robot.tip), IS_ARM, "End effector in the last link."),
    KEY("gravity", VEC3, "m/s2", ANY, "[0, 0, 0]", ARMS(robot.gravity), IS_ARM, "In the lab."),
    KEY("model", CHAIN_MODEL, "", ANY, "(or `links`)", ARMS(robot), IS_ARM, MODEL_DOC),
    SECTION("drives", DRIVES, &drive_section, "(all defaults)", ARMS(robot), IS_ARM, "With `model`: one row for each joint."),
    SECTION("links", CHAIN, &chain_section, "(required for an arm, or `model`)", ARMS(robot), IS_ARM, "As many as the task has coordinates: six, or two."),
    SECTION("device", SECTION, &arm_device_section, "{}", offsetof(ff_scenario, emulator_at), 0, "Where it is, on devices."),
};
static const ff_section emulator_section = {"emulation.robot", "robot", TABLE(emulator_keys), "The rigid, torque-controlled robot that stands in for the target."};
static const ff_key gain_keys[] = {
    KEY("velocity", NUMBER, "1/s", POSITIVE, "20", EMULATION(emulation.velocity_gain), 0, "G_v of (11)."),
    KEY("position", NUMBER, "1/s2", POSITIVE, "100", EMULATION(emulation.position_gain), 0, "G_p of (11)."),
    KEY("force", NUMBER, "1/kg", NOT_NEGATIVE, "0", EMULATION(emulation.force_gain), 0, "G_f of section 2.1; Appendix A's bound stands in summary.json, `force_gain_bound_1pkg`."),
    KEY("clik", NUMBER, "1/(m2 s)", POSITIVE, "1000", EMULATION(emulation.clik_gain), 0, "K of Theorem 1, with `consistency: clik`; its bound of the constraint stands in summary.json, `clik_bound_rad`."),
};
static const ff_section gain_section = {"emulation.gains", "", TABLE(gain_keys), "Drift compensation and force-error feedback."};
static const ff_key emulation_wall_keys[] = {
    KEY("at", NUMBER, "m", POSITIVE, "required", EMULATION(wall_at), 0, "Where the tip touches, as length times angle; the arm starts at 0."),
    KEY("stiffness", NUMBER, "N/m", POSITIVE, "required", EMULATION(wall_stiffness), 0, "Of the wall."),
    KEY("damping", NUMBER, "N s/m", NOT_NEGATIVE, "0", EMULATION(wall_damping), 0, "Of the wall."),
};
static const ff_section emulation_wall_section = {"emulation.wall", "", TABLE(emulation_wall_keys), "What the tip touches."};
static const ff_key surface_keys[] = {
    KEY("at", VEC3, "m", ANY, "required", ARMS(wall.at), 0, "A point of the wall."),
    KEY("normal", DIRECTION, "", ANY, "required", ARMS(wall.normal), 0, "Points to the free side."),
    KEY("stiffness", NUMBER, "N/m", POSITIVE, "required", ARMS(wall.stiffness), 0, "Of the wall."),
    KEY("damping", NUMBER, "N s/m", NOT_NEGATIVE, "0", ARMS(wall.damping), 0, "Of the wall."),
};
static const ff_section surface_section = {"emulation.surface", "", TABLE(surface_keys), "What an arm's end effector touches."};
static const ff_key accommodation_keys[] = {
    KEY("rate", VEC3, "m/s", ANY, "[0, 0, 0]", ARMS(rate), 0, "Of the end effector; for one joint the first number, along its arc."),
    KEY("angular_rate", VEC3, "rad/s", ANY, "[0, 0, 0]", ARMS(angular_rate), 0, "Of the end effector."),
    KEY("compliance", NUMBER, "m/(s N)", NOT_NEGATIVE, "0", ARMS(compliance), 0, "How much speed a force adds; moments likewise, in rad/(s N m)."),
    KEY("gain", NUMBER, "N m s/rad", POSITIVE, "20", ARMS(gain), 0, "Of the motors' velocity control."),
};
static const ff_section accommodation_section = {"emulation.accommodation", "", TABLE(accommodation_keys), "The target's own controller: resolved rate with force-moment accommodation (aghili, Appendix E), in place of `torque`."};
static const ff_key emulation_keys[] = {
    SECTION("target", SECTION, &target_section, "required", 0, 0, "The robot that is emulated."),
    SECTION("robot", SECTION, &emulator_section, "required", 0, 0, "The rigid robot that emulates it."),
    SECTION("gains", SECTION, &gain_section, "{}", 0, 0, "Gains of the control law."),
    WORD("scheme", WORD, emulation_words, "constrained", EMULATION(emulation.scheme), 0, "The simulated tip is held where the robot is and forces are matched, or the measured force drives the simulation and poses are matched."),
    WORD("consistency", WORD, consistency_words, "newton", EMULATION(emulation.consistency), 0, "With `scheme: constrained`, how the target's joints are kept on the constraint: by iteration in each evaluation (Appendix B), or by feedback with the transposed Jacobian (Theorem 1)."),
    WORD("controller", FLAG, controller_words, "continuous", EMULATION(sampled), 0, "Evaluated inside the solver, or once a cycle with the torque held."),
    WORD("drift_compensation", FLAG, switch_words, "true", EMULATION(emulation.drift_compensation), 0, "`false`: without the feedback of (11), to show the bare force error; `scheme: constrained` only."),
    KEY("torque", NUMBER, "N m", ANY, "0", EMULATION(torque), 0, "On the target's motor; an arm's stand with its links."),
    SECTION("wall", SECTION, &emulation_wall_section, "none", 0, 0, "What the tip of one joint touches; none: free motion."),
    SECTION("surface", SECTION, &surface_section, "none", 0, 0, "The same for an arm."),
    SECTION("accommodation", SECTION, &accommodation_section, "none", 0, 0, "The target's controller; none: constant torques."),
};
static const ff_section emulation_section = {"emulation", "", TABLE(emulation_keys), "Emulation of another robot (aghili), in place of `satellites`. The time series has one row a cycle."};

static const char *method_words[10] = {"ideal"}; /* then the methods, see create_top */
#define TOP(field) offsetof(ff_scenario, field)
static const ff_key top_keys[] = {
    KEY("name", TEXT, "", ANY, "required", TOP(name), 0, "Name of the scenario, any printable text; results go to out/NAME by default."),
    SECTION("time", SECTION, &time_section, "required", 0, 0, "The clock of the run."),
    KEY("site", SITE, "", ANY, "(none)", 0, 0, "A YAML file, its path from the scenario's folder, with what the laboratory has: see below."),
    WORD("method", METHOD_NAME, method_words, "tdpa", TOP(method), 0, "How the delay is dealt with; `--method` overrides it."),
    WORD("integrator", WORD, scheme_words, "lie-midpoint", TOP(integrate.scheme), 0, "How the satellite is advanced by one cycle."),
    WORD("contact_wrench", WORD, rule_words, "default", TOP(contact_wrench), 0, "How a contact wrench enters the integrator: `impulse`, all of it at the start of the cycle, lossless in contact; `held`, constant over the cycle, which acts as half a cycle more delay. Default: `held` for satellites that a grasp connects, `impulse` for all others and with an arm. `held` goes with lie-midpoint and splitting."),
    WORD("frame", WORD, frame_words, "absolute", TOP(frame), 0, "Robots make the satellites' motion itself, or the one relative to `nominal`."),
    SECTION("satellites", SATELLITES, &satellite_section, "(required, or `emulation`)", 0, 0, "Map from name to satellite, 1 to 4."),
    SECTION("emulation", SECTION, &emulation_section, "none", 0, 0, "In place of `satellites`: a robot stands in for another one."),
    SECTION("nominal", SECTION, &nominal_section, "{}", 0, 0, "The nominal motion of `frame: relative`."),
    SECTION("relative", SECTION, &relative_section, "{}", 0, 0, "Settings of `frame: relative`."),
    SECTION("facility", SECTION, &facility_section, "{}", 0, 0, "The lab."),
    SECTION("contacts", CONTACTS, &contact_section, "[]", 0, 0, "List of contacts, at most 16."),
    WORD("allow_penetration", FLAG, switch_words, "false", TOP(allow_penetration), 0, "Whether a contact may be compressed at the start: it gives energy that no motion brought. Otherwise that is an error, with the depth."),
    SECTION("loads", LOADS, &load_section, "[]", 0, 0, "List of known loads, at most 64."),
    SECTION("requirements", SECTION, &requirements_section, "{}", TOP(requirements), 0, "Limits for the verdict."),
    SECTION("passive", SECTION, &passive_section, "{}", 0, 0, "Settings of the integrator `passive`."),
};
/* clang-format on */

/* The methods' keys stand before the last one, that of the integrator. */
enum { METHODS = 8, TOP_KEYS = (int)(sizeof top_keys / sizeof *top_keys) };
static struct {
    ff_section section;
    ff_key key[TOP_KEYS + METHODS];
    ff_method_section method[METHODS];
    char doc[METHODS][64];
} top;

static void create_top(void) {
    int keys = 0;
    robot_section.keys = ff_device_section_create(FF_DEVICE_ROBOT, TABLE(robot_keys), ROBOT(device),
                                                  &robot_arm_section, &robot_devices);
    sensor_section.keys =
        ff_device_section_create(FF_DEVICE_SENSOR, TABLE(sensor_keys), SENSOR(device), NULL, &sensor_devices);
    arm_device_section.keys = servicer_device_section.keys =
        ff_device_section_create(FF_DEVICE_ARM, TABLE(arm_device_keys), AT(device), NULL, &arm_devices);
    for (int i = 0; i < TOP_KEYS; i++) {
        for (int m = 0; i == TOP_KEYS - 1 && ff_method_at(m) && m < METHODS; m++) {
            const ff_method *method = ff_method_at(m);
            if (!method->settings)
                continue;
            ff_method_section_create(method, &top.method[m]);
            snprintf(top.doc[m], sizeof top.doc[m], "Settings of the method `%s`.", method->name);
            top.key[keys++] = (ff_key){.key = method->name,
                                       .type = FF_TYPE_METHOD,
                                       .unit = "",
                                       .fallback = "{}",
                                       .section = &top.method[m].section,
                                       .preset = true,
                                       .doc = top.doc[m]};
        }
        top.key[keys++] = top_keys[i];
    }
    for (int m = 0; ff_method_at(m) && m < METHODS; m++)
        method_words[m + 1] = ff_method_at(m)->name;
    top.section = (ff_section){"", "", top.key, keys, "The top level of the file."};
}

const ff_section *ff_schema_top(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, create_top);
    return &top.section;
}

const char *ff_range_text(const ff_key *key) {
    switch (key->range) {
    case FF_RANGE_POSITIVE:
        return "> 0";
    case FF_RANGE_NOT_NEGATIVE:
        return ">= 0";
    case FF_RANGE_ACUTE:
        return "> 0 and < pi/2";
    case FF_RANGE_SHARE:
        return ">= 0 and < 1";
    case FF_RANGE_BOUNDS:
        return key->bounds;
    default:
        return "";
    }
}

const char *ff_type_text(ff_type type) {
    switch (type) {
    case FF_TYPE_NUMBER:
        return "number";
    case FF_TYPE_INTEGER:
        return "whole number";
    case FF_TYPE_TEXT:
        return "text";
    case FF_TYPE_NAME:
        return "name";
    case FF_TYPE_TOPIC:
        return "topic";
    case FF_TYPE_NAMES:
        return "list of six or seven names";
    case FF_TYPE_WORD:
    case FF_TYPE_FLAG:
    case FF_TYPE_METHOD_NAME:
        return "word";
    case FF_TYPE_VEC3:
    case FF_TYPE_DIRECTION:
    case FF_TYPE_HALF_WIDTHS:
        return "[x, y, z]";
    case FF_TYPE_QUATERNION:
        return "[w, x, y, z], {abc_deg: [A, B, C]} or {rpy: [roll, pitch, yaw]}";
    case FF_TYPE_ABC_DEG:
        return "[A, B, C]";
    case FF_TYPE_RPY:
        return "[roll, pitch, yaw]";
    case FF_TYPE_INERTIA:
        return "[xx, yy, zz] or [xx, yy, zz, xy, xz, yz]";
    case FF_TYPE_WRENCH:
        return "[fx, fy, fz, tx, ty, tz]";
    case FF_TYPE_TWIST:
        return "[vx, vy, vz, wx, wy, wz]";
    case FF_TYPE_PAIR:
        return "force or [force, torque]";
    case FF_TYPE_SERIES:
        return "number or [k1, k2]";
    case FF_TYPE_SIX:
        return "[a1, a2, a3, a4, a5, a6]";
    case FF_TYPE_NUMBER_OR_WORD:
        return "number or word";
    case FF_TYPE_BODY:
        return "satellite's name";
    case FF_TYPE_POINT:
        return "point's name or [x, y, z]";
    case FF_TYPE_POINTS:
        return "map of [x, y, z]";
    case FF_TYPE_CONTACTS:
    case FF_TYPE_LOADS:
    case FF_TYPE_LINKS:
    case FF_TYPE_CHAIN:
    case FF_TYPE_DRIVES:
    case FF_TYPE_FAULTS:
        return "list";
    case FF_TYPE_ARM_MODEL:
    case FF_TYPE_CHAIN_MODEL:
    case FF_TYPE_MESH:
    case FF_TYPE_SITE:
        return "file's name";
    case FF_TYPE_JOINTS:
        return "[q1, q2, ...]";
    case FF_TYPE_ROBOT_ARM:
        return "word or map";
    default:
        return "map";
    }
}
