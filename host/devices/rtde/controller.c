#include "devices/rtde/controller.h"

#include "devices/bytes.h"

#include <string.h>

typedef struct field {
    const char *name;
    uint8_t type;
    size_t offset; /* into ff_ur_report or ff_ur_registers */
} field;

#define REPORT(member) offsetof(ff_ur_report, member)
static const field outputs[] = {
    {"timestamp", FF_RTDE_DOUBLE, REPORT(timestamp)},
    {"actual_q", FF_RTDE_VECTOR6D, REPORT(q)},
    {"actual_TCP_pose", FF_RTDE_VECTOR6D, REPORT(pose)},
    {"ft_raw_wrench", FF_RTDE_VECTOR6D, REPORT(wrench)},
    {"runtime_state", FF_RTDE_UINT32, REPORT(runtime)},
    {"robot_status_bits", FF_RTDE_UINT32, REPORT(status)},
    {"safety_status_bits", FF_RTDE_UINT32, REPORT(safety)},
    {"speed_scaling", FF_RTDE_DOUBLE, REPORT(scaling)},
    {"output_int_register_24", FF_RTDE_INT32, REPORT(integer[0])},
    {"output_int_register_25", FF_RTDE_INT32, REPORT(integer[1])},
    {"output_int_register_26", FF_RTDE_INT32, REPORT(integer[2])},
    {"output_double_register_24", FF_RTDE_DOUBLE, REPORT(real[0])},
    {"output_double_register_25", FF_RTDE_DOUBLE, REPORT(real[1])},
    {"output_double_register_26", FF_RTDE_DOUBLE, REPORT(real[2])},
    {"output_double_register_27", FF_RTDE_DOUBLE, REPORT(real[3])},
    {"output_double_register_28", FF_RTDE_DOUBLE, REPORT(real[4])},
};
#define REGISTER(member) offsetof(ff_ur_registers, member)
static const field inputs[] = {
    {"input_int_register_24", FF_RTDE_INT32, REGISTER(count)},
    {"input_int_register_25", FF_RTDE_INT32, REGISTER(mode)},
    {"input_int_register_26", FF_RTDE_INT32, REGISTER(run)},
    {"input_int_register_27", FF_RTDE_INT32, REGISTER(state)},
    {"input_int_register_28", FF_RTDE_INT32, REGISTER(text)},
    {"input_int_register_29", FF_RTDE_INT32, REGISTER(base)},
    {"input_int_register_30", FF_RTDE_INT32, REGISTER(rest)},
    {"input_double_register_24", FF_RTDE_DOUBLE, REGISTER(q[0])},
    {"input_double_register_25", FF_RTDE_DOUBLE, REGISTER(q[1])},
    {"input_double_register_26", FF_RTDE_DOUBLE, REGISTER(q[2])},
    {"input_double_register_27", FF_RTDE_DOUBLE, REGISTER(q[3])},
    {"input_double_register_28", FF_RTDE_DOUBLE, REGISTER(q[4])},
    {"input_double_register_29", FF_RTDE_DOUBLE, REGISTER(q[5])},
    {"input_double_register_30", FF_RTDE_DOUBLE, REGISTER(answers)},
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs, INPUTS = sizeof inputs / sizeof *inputs };

static const char *type_name(uint8_t type) {
    return type == FF_RTDE_DOUBLE     ? "DOUBLE"
           : type == FF_RTDE_VECTOR6D ? "VECTOR6D"
           : type == FF_RTDE_UINT32   ? "UINT32"
                                      : "INT32";
}

static size_t values_of(uint8_t type) {
    return type == FF_RTDE_VECTOR6D ? 6 : 1;
}

static ff_status reply_byte(uint8_t type, bool good, uint8_t *reply, size_t room, size_t *used) {
    const uint8_t byte = good;
    return ff_rtde_encode(type, &byte, 1, reply, room, used);
}

/* Names -> rows and types; what is not there is NOT_FOUND, and the recipe is none. */
static ff_status set_up(uint8_t type, ff_span names, const field *table, size_t fields, bool taken,
                        uint8_t *row, size_t *rows, ff_rtde_recipe *recipe, uint8_t *reply, size_t room,
                        size_t *used) {
    char text[1024];
    ff_text_out out;
    bool good = true;
    *rows = 0;
    text[0] = 1; /* the recipe's number */
    ff_text_begin(&out, text + 1, sizeof text - 1);
    for (bool more = true; more;) {
        const char *comma = names.size ? memchr(names.at, ',', names.size) : NULL;
        const ff_span name = {names.at, comma ? (size_t)(comma - names.at) : names.size};
        more = comma != NULL;
        names.at += name.size + more;
        names.size -= name.size + more;
        size_t n = 0;
        while (n < fields && !ff_span_equal(name, table[n].name))
            n++;
        good = good && n < fields && !taken && *rows < FF_RTDE_FIELDS_MAX;
        if (good)
            row[(*rows)++] = (uint8_t)n;
        ff_text_put(&out, out.used ? "," : "");
        ff_text_put(&out, n == fields ? "NOT_FOUND" : taken ? "IN_USE" : type_name(table[n].type));
    }
    if (out.status != FF_OK)
        return FF_ERR_FORMAT;
    const size_t length = 1 + out.used;
    if (!good) {
        *rows = 0;
        text[0] = 0;
    }
    const ff_status status = ff_rtde_encode(type, (const uint8_t *)text, length, reply, room, used);
    size_t bad;
    ff_rtde_packet own = {type, (const uint8_t *)text, length};
    if (status == FF_OK && good)
        return ff_rtde_recipe_decode(&own, recipe, &bad);
    return status;
}

static ff_status write_registers(const ff_ur_link *link, const ff_rtde_packet *packet,
                                 ff_ur_registers *registers) {
    double value[FF_RTDE_FIELDS_MAX];
    if (!link->inputs || ff_rtde_data_decode(&link->input_recipe, packet, value, FF_RTDE_FIELDS_MAX) != FF_OK)
        return FF_ERR_FORMAT;
    for (size_t i = 0; i < link->inputs; i++)
        memcpy((char *)registers + inputs[link->input[i]].offset, &value[i], sizeof value[i]);
    return FF_INFO_GAP;
}

ff_status ff_ur_link_receive(ff_ur_link *link, const void *bytes, size_t size, bool taken,
                             ff_ur_registers *registers, uint8_t *reply, size_t room, size_t *used) {
    ff_rtde_packet packet;
    size_t whole;
    *used = 0;
    if (ff_rtde_decode(bytes, size, &packet, &whole) != FF_OK || whole != size)
        return FF_ERR_FORMAT;
    const ff_span text = {(const char *)packet.payload, packet.size};
    switch (packet.type) {
    case FF_RTDE_REQUEST_VERSION:
        link->versioned = packet.size == 2 && ff_bytes_get16(packet.payload) == FF_RTDE_VERSION;
        return reply_byte(packet.type, link->versioned, reply, room, used);
    case FF_RTDE_CONTROLLER_VERSION: {
        static const uint8_t version[16] = {0, 0, 0, 5, 0, 0, 0, 11}; /* e-Series software 5.11 */
        return ff_rtde_encode(packet.type, version, sizeof version, reply, room, used);
    }
    case FF_RTDE_SETUP_OUTPUTS: {
        if (!link->versioned || packet.size < 9)
            return FF_ERR_FORMAT;
        uint64_t bits = (uint64_t)ff_bytes_get32(packet.payload) << 32 | ff_bytes_get32(packet.payload + 4);
        memcpy(&link->frequency, &bits, sizeof bits);
        if (!(link->frequency > 0.0 && link->frequency <= 500.0))
            return FF_ERR_FORMAT;
        return set_up(packet.type, (ff_span){text.at + 8, text.size - 8}, outputs, OUTPUTS, false,
                      link->output, &link->outputs, &link->output_recipe, reply, room, used);
    }
    case FF_RTDE_SETUP_INPUTS:
        if (!link->versioned || packet.size < 1)
            return FF_ERR_FORMAT;
        return set_up(packet.type, text, inputs, INPUTS, taken, link->input, &link->inputs,
                      &link->input_recipe, reply, room, used);
    case FF_RTDE_START:
    case FF_RTDE_PAUSE:
        link->started = packet.type == FF_RTDE_START && link->outputs > 0;
        return reply_byte(packet.type, link->started || packet.type == FF_RTDE_PAUSE, reply, room, used);
    case FF_RTDE_DATA:
        return write_registers(link, &packet, registers);
    default:
        return FF_ERR_FORMAT;
    }
}

ff_status ff_ur_link_send(const ff_ur_link *link, const ff_ur_report *report, uint8_t *bytes, size_t room,
                          size_t *used) {
    double value[6 * OUTPUTS];
    size_t n = 0;
    *used = 0;
    if (!link->started)
        return FF_OK;
    for (size_t i = 0; i < link->outputs; i++) {
        const field *f = &outputs[link->output[i]];
        const size_t count = values_of(f->type);
        if (n + count > sizeof value / sizeof *value)
            return FF_ERR_SIZE;
        memcpy(value + n, (const char *)report + f->offset, count * sizeof *value);
        n += count;
    }
    return ff_rtde_data_encode(&link->output_recipe, value, bytes, room, used);
}

bool ff_ur_program_step(ff_ur_program *program, const ff_ur_registers *r) {
    const bool fits = r->count > program->taken && r->base == program->taken &&
                      (r->rest == FF_UR_ANY || (r->rest == FF_UR_RESTS) == (program->stood > 0.0));
    program->taken = fits ? r->count : program->taken;
    program->stood = fits ? 0.0 : program->stood + 1.0;
    return fits;
}

int64_t ff_ur_program_run(const char *text, size_t size) {
    static const char head[] = "def freefloat():\n", mark[] = "write_output_integer_register(25, ",
                      tail[] = "\nend\n";
    const ff_span all = {text, size};
    if (size < sizeof head + sizeof tail || memcmp(text, head, sizeof head - 1) != 0 ||
        memcmp(text + size - (sizeof tail - 1), tail, sizeof tail - 1) != 0)
        return -1;
    for (size_t at = 0; at + sizeof mark < all.size; at++)
        if (memcmp(text + at, mark, sizeof mark - 1) == 0) {
            int64_t run = 0;
            for (at += sizeof mark - 1;
                 at < size && text[at] >= '0' && text[at] <= '9' && run < 1000000000000; at++)
                run = 10 * run + (text[at] - '0');
            return run;
        }
    return -1;
}
