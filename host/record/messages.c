#include "record/messages.h"
#include "text/cdr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- schemas --
 */

#define PART "================================================================================\nMSG: "
#define HEADER_PART                        \
    PART "std_msgs/Header\n"               \
         "builtin_interfaces/Time stamp\n" \
         "string frame_id\n" TIME_PART
#define TIME_PART                    \
    PART "builtin_interfaces/Time\n" \
         "int32 sec\n"               \
         "uint32 nanosec\n"
#define VECTOR_PART                \
    PART "geometry_msgs/Vector3\n" \
         "float64 x\n"             \
         "float64 y\n"             \
         "float64 z\n"
#define POSE_PART                                                              \
    PART "geometry_msgs/Pose\n"                                                \
         "geometry_msgs/Point position\n"                                      \
         "geometry_msgs/Quaternion orientation\n" PART "geometry_msgs/Point\n" \
         "float64 x\n"                                                         \
         "float64 y\n"                                                         \
         "float64 z\n" PART "geometry_msgs/Quaternion\n"                       \
         "float64 x\n"                                                         \
         "float64 y\n"                                                         \
         "float64 z\n"                                                         \
         "float64 w\n"

static const struct {
    const char *name, *text;
} schemas_of[FF_MESSAGE_KINDS] = {
    [FF_MESSAGE_WRENCH_STAMPED] = {"geometry_msgs/msg/WrenchStamped",
                                   "std_msgs/Header header\n"
                                   "geometry_msgs/Wrench wrench\n" HEADER_PART PART "geometry_msgs/Wrench\n"
                                   "geometry_msgs/Vector3 force\n"
                                   "geometry_msgs/Vector3 torque\n" VECTOR_PART},
    [FF_MESSAGE_POSE_STAMPED] = {"geometry_msgs/msg/PoseStamped",
                                 "std_msgs/Header header\n"
                                 "geometry_msgs/Pose pose\n" HEADER_PART POSE_PART},
    [FF_MESSAGE_TWIST_STAMPED] = {"geometry_msgs/msg/TwistStamped",
                                  "std_msgs/Header header\n"
                                  "geometry_msgs/Twist twist\n" HEADER_PART PART "geometry_msgs/Twist\n"
                                  "geometry_msgs/Vector3 linear\n"
                                  "geometry_msgs/Vector3 angular\n" VECTOR_PART},
    [FF_MESSAGE_JOINT_STATE] = {"sensor_msgs/msg/JointState", "std_msgs/Header header\n"
                                                              "string[] name\n"
                                                              "float64[] position\n"
                                                              "float64[] velocity\n"
                                                              "float64[] effort\n" HEADER_PART},
    [FF_MESSAGE_ENERGY] = {"freefloat_msgs/msg/Energy",
                           "builtin_interfaces/Time stamp\n"
                           "float64 kinetic # J, of the satellite\n"
                           "float64 port # J, entered through the contact port\n"
                           "float64 observer # J, passivity observer after dissipation\n"
                           "float64 dissipated # J, by the passivity layer\n" TIME_PART},
    [FF_MESSAGE_TIMING] = {"freefloat_msgs/msg/Timing",
                           "builtin_interfaces/Time stamp\n"
                           "uint64 cycle\n"
                           "float64 lateness # s, of the wake-up\n"
                           "float64 compute # s\n"
                           "float64 io # s, devices\n"
                           "uint64 missed # cycles so far\n"
                           "uint64 dropped # telemetry records so far\n" TIME_PART},
    [FF_MESSAGE_STATE] = {"freefloat_msgs/msg/State", "builtin_interfaces/Time stamp\n"
                                                      "uint8 state\n"
                                                      "string name\n" TIME_PART},
    [FF_MESSAGE_EVENT] = {"freefloat_msgs/msg/Event", "builtin_interfaces/Time stamp\n"
                                                      "int32 code\n"
                                                      "uint8 level # 0 info, 1 warning, 2 fault\n"
                                                      "string text\n"
                                                      "float64 value\n"
                                                      "float64 limit\n" TIME_PART},
    [FF_MESSAGE_TF] = {"tf2_msgs/msg/TFMessage",
                       "geometry_msgs/TransformStamped[] transforms\n" PART "geometry_msgs/TransformStamped\n"
                       "std_msgs/Header header\n"
                       "string child_frame_id\n"
                       "geometry_msgs/Transform transform\n" HEADER_PART PART "geometry_msgs/Transform\n"
                       "geometry_msgs/Vector3 translation\n"
                       "geometry_msgs/Quaternion rotation\n" VECTOR_PART PART "geometry_msgs/Quaternion\n"
                       "float64 x\n"
                       "float64 y\n"
                       "float64 z\n"
                       "float64 w\n"},
    [FF_MESSAGE_TEXT] = {"std_msgs/msg/String", "string data\n"},
    [FF_MESSAGE_MARKERS] = {"visualization_msgs/msg/MarkerArray",
                            "visualization_msgs/Marker[] markers\n" PART "visualization_msgs/Marker\n"
                            "int32 ARROW=0\n"
                            "int32 CUBE=1\n"
                            "int32 SPHERE=2\n"
                            "int32 CYLINDER=3\n"
                            "int32 LINE_STRIP=4\n"
                            "int32 LINE_LIST=5\n"
                            "int32 CUBE_LIST=6\n"
                            "int32 SPHERE_LIST=7\n"
                            "int32 POINTS=8\n"
                            "int32 TEXT_VIEW_FACING=9\n"
                            "int32 MESH_RESOURCE=10\n"
                            "int32 TRIANGLE_LIST=11\n"
                            "int32 ADD=0\n"
                            "int32 MODIFY=0\n"
                            "int32 DELETE=2\n"
                            "int32 DELETEALL=3\n"
                            "std_msgs/Header header\n"
                            "string ns\n"
                            "int32 id\n"
                            "int32 type\n"
                            "int32 action\n"
                            "geometry_msgs/Pose pose\n"
                            "geometry_msgs/Vector3 scale\n"
                            "std_msgs/ColorRGBA color\n"
                            "builtin_interfaces/Duration lifetime\n"
                            "bool frame_locked\n"
                            "geometry_msgs/Point[] points\n"
                            "std_msgs/ColorRGBA[] colors\n"
                            "string texture_resource\n"
                            "sensor_msgs/CompressedImage texture\n"
                            "visualization_msgs/UVCoordinate[] uv_coordinates\n"
                            "string text\n"
                            "string mesh_resource\n"
                            "visualization_msgs/MeshFile mesh_file\n"
                            "bool mesh_use_embedded_materials\n" HEADER_PART POSE_PART VECTOR_PART PART
                            "std_msgs/ColorRGBA\n"
                            "float32 r\n"
                            "float32 g\n"
                            "float32 b\n"
                            "float32 a\n" PART "builtin_interfaces/Duration\n"
                            "int32 sec\n"
                            "uint32 nanosec\n" PART "sensor_msgs/CompressedImage\n"
                            "std_msgs/Header header\n"
                            "string format\n"
                            "uint8[] data\n" PART "visualization_msgs/UVCoordinate\n"
                            "float32 u\n"
                            "float32 v\n" PART "visualization_msgs/MeshFile\n"
                            "string filename\n"
                            "uint8[] data\n"},
    [FF_MESSAGE_CLOCK] = {"freefloat_msgs/msg/Clock",
                          "builtin_interfaces/Time stamp\n"
                          "float64 drift # its seconds over the computer's, minus 1\n"
                          "float64 offset # s, the computer's time minus its own\n"
                          "float64 residual # s, of the newest packet; positive: late\n"
                          "float64 rms # s\n" TIME_PART},
    [FF_MESSAGE_DIAGNOSTICS] = {"diagnostic_msgs/msg/DiagnosticArray",
                                "std_msgs/Header header\n"
                                "diagnostic_msgs/DiagnosticStatus[] status\n" HEADER_PART PART
                                "diagnostic_msgs/DiagnosticStatus\n"
                                "byte OK=0\n"
                                "byte WARN=1\n"
                                "byte ERROR=2\n"
                                "byte STALE=3\n"
                                "byte level\n"
                                "string name\n"
                                "string message\n"
                                "string hardware_id\n"
                                "diagnostic_msgs/KeyValue[] values\n" PART "diagnostic_msgs/KeyValue\n"
                                "string key\n"
                                "string value\n"},
    [FF_MESSAGE_TIME] = {"rosgraph_msgs/msg/Clock", "builtin_interfaces/Time clock\n" TIME_PART},
};

const char *ff_message_type(ff_message_kind kind) {
    return schemas_of[kind].name;
}

const char *ff_message_schema(ff_message_kind kind) {
    return schemas_of[kind].text;
}

/* A ROS field's name: letters, digits and single underscores, the unit left out. */
static size_t field_name(const char *column, size_t length, char *name, size_t size) {
    size_t n = 0;
    for (size_t i = 0; i < length && column[i] != ' ' && n + 1 < size; i++) {
        const char c = column[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
        if (n == 0 && !letter)
            name[n++] = 'c';
        if (letter || digit)
            name[n++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        else if (n > 0 && name[n - 1] != '_' && n + 1 < size)
            name[n++] = '_';
    }
    name[n] = 0;
    return n;
}

/* Every column as a field of its own. The bytes are those of a sequence: how many, then the doubles. Names
 * that become equal as fields are numbered. malloc'ed; NULL: no memory. */
char *ff_message_columns_schema(const char *columns) {
    static const char head[] =
        "builtin_interfaces/Time stamp\nuint64 cycle\nuint32 columns # how many follow\n";
    enum { NAME = 200 };
    size_t count = 1;
    for (const char *c = columns; *c; c++)
        count += *c == ',';
    char *text = malloc(sizeof head + sizeof TIME_PART + strlen(columns) + count * (2 * NAME + 32));
    char(*used)[NAME] = malloc(count * sizeof *used);
    if (text && used) {
        size_t at = (size_t)sprintf(text, "%s", head), n = 0;
        for (const char *c = columns; *c && n < count; n++) {
            const size_t length = strcspn(c, ",");
            char name[NAME - 12];
            field_name(c, length, name, sizeof name);
            snprintf(used[n], NAME, "%s", name);
            for (int same = 2, again = 1; again; same++) {
                again = 0;
                for (size_t i = 0; i < n && !again; i++)
                    again = strcmp(used[i], used[n]) == 0;
                if (again)
                    snprintf(used[n], NAME, "%s_%d", name, same);
            }
            at += (size_t)sprintf(text + at, "float64 %s # %.*s\n", used[n],
                                  (int)(length < NAME ? length : NAME), c);
            c += length + (c[length] == ',');
        }
        sprintf(text + at, "%s", TIME_PART);
    } else {
        free(text);
        text = NULL;
    }
    free(used);
    return text;
}

ff_status ff_message_add_columns(ff_mcap_writer *writer, const char *name, const char *topic,
                                 const char *columns, uint16_t *channel) {
    const ff_mcap_pair pair = {"columns", columns};
    char *text = ff_message_columns_schema(columns), kind[64];
    uint16_t schema = 0;
    if (!text)
        return FF_ERR_MEMORY;
    snprintf(kind, sizeof kind, "freefloat_msgs/msg/%s", name);
    ff_status status = ff_mcap_writer_add_schema(writer, kind, "ros2msg", text, strlen(text), &schema);
    free(text);
    if (!status)
        status = ff_mcap_writer_add_channel(writer, schema, topic, "cdr", &pair, 1, channel);
    return status;
}

ff_status ff_message_add_channel(ff_mcap_writer *writer, uint16_t schemas[FF_MESSAGE_KINDS],
                                 ff_message_kind kind, const char *topic, const ff_mcap_pair *metadata,
                                 size_t pairs, uint16_t *channel) {
    if (schemas[kind] == 0) {
        const char *text = schemas_of[kind].text;
        const ff_status status = ff_mcap_writer_add_schema(writer, schemas_of[kind].name, "ros2msg", text,
                                                           strlen(text), &schemas[kind]);
        if (status != FF_OK)
            return status;
    }
    return ff_mcap_writer_add_channel(writer, schemas[kind], topic, "cdr", metadata, pairs, channel);
}

ff_status ff_message_wrench(uint64_t time, const char *frame, ff_wrench wrench, void *buffer, size_t size,
                            size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_header(&c, time, frame);
    ff_cdr_put_vec3(&c, wrench.f);
    ff_cdr_put_vec3(&c, wrench.t);
    return ff_cdr_finish(&c, used);
}

static void put_pose(ff_cdr *c, ff_pose pose) {
    ff_cdr_put_vec3(c, pose.p);
    ff_cdr_put_double(c, pose.q.x);
    ff_cdr_put_double(c, pose.q.y);
    ff_cdr_put_double(c, pose.q.z);
    ff_cdr_put_double(c, pose.q.w);
}

ff_status ff_message_pose(uint64_t time, const char *frame, ff_pose pose, void *buffer, size_t size,
                          size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_header(&c, time, frame);
    put_pose(&c, pose);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_twist(uint64_t time, const char *frame, ff_twist twist, void *buffer, size_t size,
                           size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_header(&c, time, frame);
    ff_cdr_put_vec3(&c, twist.v);
    ff_cdr_put_vec3(&c, twist.w);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_joints(uint64_t time, const char *frame, size_t n, const char *const *names,
                            const double *position, const double *velocity, const double *effort,
                            void *buffer, size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_header(&c, time, frame);
    ff_cdr_put_number(&c, names ? n : 0, 4);
    for (size_t i = 0; names && i < n; i++)
        ff_cdr_put_string(&c, names[i]);
    ff_cdr_put_doubles(&c, position, n);
    ff_cdr_put_doubles(&c, velocity, n);
    ff_cdr_put_doubles(&c, effort, n);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_tf(uint64_t time, int n, const ff_message_transform *transform, void *buffer,
                        size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_number(&c, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        ff_cdr_put_header(&c, time, transform[i].frame);
        ff_cdr_put_string(&c, transform[i].child);
        put_pose(&c, transform[i].pose);
    }
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_markers(uint64_t time, int n, const ff_message_marker *marker, void *buffer, size_t size,
                             size_t *used) {
    enum { ADD = 0, DELETE = 2 };
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_number(&c, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        const ff_message_marker *m = &marker[i];
        ff_cdr_put_header(&c, time, m->frame);
        ff_cdr_put_string(&c, m->ns);
        ff_cdr_put_number(&c, (uint32_t)m->id, 4);
        ff_cdr_put_number(&c, (uint64_t)m->shape, 4);
        ff_cdr_put_number(&c, m->gone ? DELETE : ADD, 4);
        put_pose(&c, m->pose);
        ff_cdr_put_vec3(&c, m->scale);
        for (int k = 0; k < 4; k++) {
            uint32_t bits;
            memcpy(&bits, &m->color[k], sizeof bits);
            ff_cdr_put_number(&c, bits, 4);
        }
        ff_cdr_put_time(&c, 0);      /* lifetime: until it is replaced */
        ff_cdr_put_number(&c, 1, 1); /* it moves with its frame */
        ff_cdr_put_number(&c, m->points, 4);
        for (size_t k = 0; k < m->points; k++)
            ff_cdr_put_vec3(&c, m->point[k]);
        ff_cdr_put_number(&c, 0, 4);  /* colours of points */
        ff_cdr_put_string(&c, "");    /* texture: its name, ... */
        ff_cdr_put_header(&c, 0, ""); /* ... the picture, ... */
        ff_cdr_put_string(&c, "");
        ff_cdr_put_number(&c, 0, 4);
        ff_cdr_put_number(&c, 0, 4); /* ... and where it lies */
        ff_cdr_put_string(&c, "");   /* text */
        ff_cdr_put_string(&c, "");   /* mesh: its name, the file's name, the file, its materials */
        ff_cdr_put_string(&c, "");
        ff_cdr_put_number(&c, 0, 4);
        ff_cdr_put_number(&c, 0, 1);
    }
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_time(uint64_t time, void *buffer, size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_time(&c, time);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_diagnostics(uint64_t time, int n, const ff_message_diagnostic *status, void *buffer,
                                 size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_header(&c, time, "");
    ff_cdr_put_number(&c, (uint64_t)n, 4);
    for (int i = 0; i < n; i++) {
        ff_cdr_put_number(&c, status[i].level, 1);
        ff_cdr_put_string(&c, status[i].name);
        ff_cdr_put_string(&c, status[i].message);
        ff_cdr_put_string(&c, status[i].hardware);
        ff_cdr_put_number(&c, (uint64_t)status[i].values, 4);
        for (int k = 0; k < status[i].values; k++) {
            ff_cdr_put_string(&c, status[i].value[k].key);
            ff_cdr_put_string(&c, status[i].value[k].value);
        }
    }
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_trigger(bool success, const char *text, void *buffer, size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_number(&c, success, 1);
    ff_cdr_put_string(&c, text);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_text(const char *text, void *buffer, size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_string(&c, text);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_put_energy(uint64_t time, const ff_message_energy *energy, void *buffer, size_t size,
                                size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_time(&c, time);
    ff_cdr_put_double(&c, energy->kinetic);
    ff_cdr_put_double(&c, energy->port);
    ff_cdr_put_double(&c, energy->observer);
    ff_cdr_put_double(&c, energy->dissipated);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_put_timing(uint64_t time, const ff_message_timing *timing, void *buffer, size_t size,
                                size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_time(&c, time);
    ff_cdr_put_number(&c, timing->cycle, 8);
    ff_cdr_put_double(&c, timing->lateness);
    ff_cdr_put_double(&c, timing->compute);
    ff_cdr_put_double(&c, timing->io);
    ff_cdr_put_number(&c, timing->missed, 8);
    ff_cdr_put_number(&c, timing->dropped, 8);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_put_clock(uint64_t time, const ff_message_clock *clock, void *buffer, size_t size,
                               size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_time(&c, time);
    ff_cdr_put_double(&c, clock->drift);
    ff_cdr_put_double(&c, clock->offset);
    ff_cdr_put_double(&c, clock->residual);
    ff_cdr_put_double(&c, clock->rms);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_state(uint64_t time, uint8_t state, const char *name, void *buffer, size_t size,
                           size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_time(&c, time);
    ff_cdr_put_number(&c, state, 1);
    ff_cdr_put_string(&c, name);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_event(uint64_t time, int32_t code, uint8_t level, const char *text, double value,
                           double limit, void *buffer, size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_time(&c, time);
    ff_cdr_put_number(&c, (uint32_t)code, 4);
    ff_cdr_put_number(&c, level, 1);
    ff_cdr_put_string(&c, text);
    ff_cdr_put_double(&c, value);
    ff_cdr_put_double(&c, limit);
    return ff_cdr_finish(&c, used);
}

ff_status ff_message_cycle(uint64_t time, uint64_t cycle, const double *values, size_t n, void *buffer,
                           size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(buffer, size);
    ff_cdr_put_time(&c, time);
    ff_cdr_put_number(&c, cycle, 8);
    ff_cdr_put_doubles(&c, values, n);
    return ff_cdr_finish(&c, used);
}

/* ----------------------------------------------------------------------------------------------- reading --
 */

ff_status ff_message_read_cycle(const void *bytes, size_t size, uint64_t *time, uint64_t *cycle,
                                double *values, size_t capacity, size_t *n) {
    ff_cdr_in c = ff_cdr_open(bytes, size);
    const uint64_t t = ff_cdr_get_time(&c), k = ff_cdr_get_uint(&c, 8), count = ff_cdr_get_uint(&c, 4);
    if (c.bad || count > (c.size - c.used) / 8)
        return FF_ERR_FORMAT;
    if (count > capacity)
        return FF_ERR_SIZE;
    for (size_t i = 0; i < count; i++)
        values[i] = ff_cdr_get_double(&c);
    if (c.bad)
        return FF_ERR_FORMAT;
    *time = t;
    *cycle = k;
    *n = (size_t)count;
    return FF_OK;
}

ff_status ff_message_read_state(const void *bytes, size_t size, uint64_t *time, uint8_t *state, char *name,
                                size_t capacity) {
    ff_cdr_in c = ff_cdr_open(bytes, size);
    const uint64_t t = ff_cdr_get_time(&c);
    const uint8_t s = (uint8_t)ff_cdr_get_uint(&c, 1);
    const ff_status status = ff_cdr_get_string(&c, name, capacity);
    if (status != FF_OK)
        return status;
    *time = t;
    *state = s;
    return FF_OK;
}

ff_status ff_message_read_event(const void *bytes, size_t size, uint64_t *time, int32_t *code, uint8_t *level,
                                char *text, size_t capacity, double *value, double *limit) {
    ff_cdr_in c = ff_cdr_open(bytes, size);
    const uint64_t t = ff_cdr_get_time(&c);
    const uint32_t k = (uint32_t)ff_cdr_get_uint(&c, 4);
    const uint8_t l = (uint8_t)ff_cdr_get_uint(&c, 1);
    const ff_status status = ff_cdr_get_string(&c, text, capacity);
    if (status != FF_OK)
        return status;
    const double x = ff_cdr_get_double(&c), bound = ff_cdr_get_double(&c);
    if (c.bad)
        return FF_ERR_FORMAT;
    *time = t;
    *code = (int32_t)k;
    *level = l;
    *value = x;
    *limit = bound;
    return FF_OK;
}
