#include "devices/rtde/rtde.h"

#include <string.h>

#include "devices/bytes.h"

enum { HEAD = 3 };

static const struct {
    const char *name;
    uint8_t width, count; /* [bytes] of one number, numbers */
} kinds[] = {[FF_RTDE_BOOL] = {"BOOL", 1, 1},
             [FF_RTDE_UINT8] = {"UINT8", 1, 1},
             [FF_RTDE_UINT32] = {"UINT32", 4, 1},
             [FF_RTDE_UINT64] = {"UINT64", 8, 1},
             [FF_RTDE_INT32] = {"INT32", 4, 1},
             [FF_RTDE_DOUBLE] = {"DOUBLE", 8, 1},
             [FF_RTDE_VECTOR3D] = {"VECTOR3D", 8, 3},
             [FF_RTDE_VECTOR6D] = {"VECTOR6D", 8, 6},
             [FF_RTDE_VECTOR6INT32] = {"VECTOR6INT32", 4, 6},
             [FF_RTDE_VECTOR6UINT32] = {"VECTOR6UINT32", 4, 6}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_double(uint8_t field) {
    return field == FF_RTDE_DOUBLE || field == FF_RTDE_VECTOR3D || field == FF_RTDE_VECTOR6D;
}

static bool is_signed(uint8_t field) {
    return field == FF_RTDE_INT32 || field == FF_RTDE_VECTOR6INT32;
}

static void put64(uint8_t *at, uint64_t x) {
    ff_bytes_put32(at, (uint32_t)(x >> 32));
    ff_bytes_put32(at + 4, (uint32_t)x);
}

static uint64_t get64(const uint8_t *at) {
    return (uint64_t)ff_bytes_get32(at) << 32 | ff_bytes_get32(at + 4);
}

/* Opens a packet whose payload the caller fills in. */
static ff_status begin(uint8_t type, size_t payload, uint8_t *buffer, size_t size, size_t *used) {
    *used = 0;
    if (payload > UINT16_MAX - HEAD)
        return FF_ERR_ARGUMENT;
    if (size < HEAD + payload)
        return FF_ERR_SIZE;
    ff_bytes_put16(buffer, (uint16_t)(HEAD + payload));
    buffer[2] = type;
    *used = HEAD + payload;
    return FF_OK;
}

ff_status ff_rtde_encode(uint8_t type, const uint8_t *payload, size_t payload_size, uint8_t *buffer,
                         size_t size, size_t *used) {
    const ff_status status = begin(type, payload_size, buffer, size, used);
    if (status == FF_OK && payload_size)
        memcpy(buffer + HEAD, payload, payload_size);
    return status;
}

ff_status ff_rtde_decode(const uint8_t *bytes, size_t size, ff_rtde_packet *packet, size_t *taken) {
    *taken = 0;
    if (size < 2)
        return FF_INFO_HELD;
    const size_t whole = ff_bytes_get16(bytes);
    if (whole < HEAD)
        return FF_ERR_FORMAT;
    if (size < whole)
        return FF_INFO_HELD;
    *packet = (ff_rtde_packet){bytes[2], bytes + HEAD, whole - HEAD};
    *taken = whole;
    return FF_OK;
}

ff_status ff_rtde_version_encode(uint16_t version, uint8_t *buffer, size_t size, size_t *used) {
    const ff_status status = begin(FF_RTDE_REQUEST_VERSION, 2, buffer, size, used);
    if (status == FF_OK)
        ff_bytes_put16(buffer + HEAD, version);
    return status;
}

ff_status ff_rtde_outputs_encode(double frequency, const char *names, uint8_t *buffer, size_t size,
                                 size_t *used) {
    const size_t length = strlen(names);
    *used = 0;
    if (length == 0 || length > FF_RTDE_NAMES_MAX || !(frequency > 0.0) || !(frequency <= 500.0))
        return FF_ERR_ARGUMENT;
    const ff_status status = begin(FF_RTDE_SETUP_OUTPUTS, 8 + length, buffer, size, used);
    if (status != FF_OK)
        return status;
    uint64_t bits;
    memcpy(&bits, &frequency, sizeof bits);
    put64(buffer + HEAD, bits);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): no text ends here */
    memcpy(buffer + HEAD + 8, names, length);
    return FF_OK;
}

ff_status ff_rtde_inputs_encode(const char *names, uint8_t *buffer, size_t size, size_t *used) {
    const size_t length = strlen(names);
    *used = 0;
    if (length == 0 || length > FF_RTDE_NAMES_MAX)
        return FF_ERR_ARGUMENT;
    return ff_rtde_encode(FF_RTDE_SETUP_INPUTS, (const uint8_t *)names, length, buffer, size, used);
}

ff_status ff_rtde_accepted(const ff_rtde_packet *packet) {
    const uint8_t type = packet->type;
    if (packet->size != 1 || packet->payload[0] > 1 ||
        (type != FF_RTDE_REQUEST_VERSION && type != FF_RTDE_START && type != FF_RTDE_PAUSE))
        return FF_ERR_FORMAT;
    return packet->payload[0] ? FF_OK : FF_ERR_DEVICE;
}

ff_status ff_rtde_recipe_decode(const ff_rtde_packet *packet, ff_rtde_recipe *recipe, size_t *bad) {
    if ((packet->type != FF_RTDE_SETUP_OUTPUTS && packet->type != FF_RTDE_SETUP_INPUTS) || packet->size < 2)
        return FF_ERR_FORMAT;
    ff_rtde_recipe got = {.id = packet->payload[0], .bytes = 1};
    ff_span rest = {(const char *)packet->payload + 1, packet->size - 1};
    for (bool more = true; more;) {
        const char *comma = rest.size ? memchr(rest.at, ',', rest.size) : NULL;
        const ff_span name = {rest.at, comma ? (size_t)(comma - rest.at) : rest.size};
        more = comma != NULL;
        rest.at += name.size + more;
        rest.size -= name.size + more;
        if (got.count == FF_RTDE_FIELDS_MAX)
            return FF_ERR_SIZE;
        int kind = 0;
        while (kind < KINDS && !ff_span_equal(name, kinds[kind].name))
            kind++;
        if (kind == KINDS) {
            *bad = got.count;
            return FF_ERR_UNSUPPORTED;
        }
        got.fields[got.count++] = (uint8_t)kind;
        got.bytes += (size_t)kinds[kind].width * kinds[kind].count;
        got.values += kinds[kind].count;
    }
    *recipe = got;
    return FF_OK;
}

static double get_value(uint8_t field, const uint8_t *at) {
    double x;
    uint64_t bits;
    switch (kinds[field].width) {
    case 1:
        return at[0];
    case 4:
        return is_signed(field) ? (double)(int32_t)ff_bytes_get32(at) : (double)ff_bytes_get32(at);
    default:
        bits = get64(at);
        memcpy(&x, &bits, sizeof x);
        return is_double(field) ? x : (double)bits;
    }
}

ff_status ff_rtde_data_decode(const ff_rtde_recipe *recipe, const ff_rtde_packet *packet, double *values,
                              size_t capacity) {
    if (packet->type != FF_RTDE_DATA || packet->size != recipe->bytes || packet->payload[0] != recipe->id)
        return FF_ERR_FORMAT;
    if (recipe->values > capacity)
        return FF_ERR_SIZE;
    for (int pass = 0; pass < 2; pass++) { /* look at all before writing any */
        const uint8_t *at = packet->payload + 1;
        size_t n = 0;
        for (size_t i = 0; i < recipe->count; i++)
            for (int k = 0; k < kinds[recipe->fields[i]].count;
                 k++, n++, at += kinds[recipe->fields[i]].width) {
                const double x = get_value(recipe->fields[i], at);
                if (!isfinite(x))
                    return FF_ERR_NOT_FINITE;
                if (pass)
                    values[n] = x;
            }
    }
    return FF_OK;
}

static bool fits(uint8_t field, double x) {
    if (!isfinite(x))
        return false;
    if (is_double(field))
        return true;
    if (x != floor(x))
        return false;
    switch (field) {
    case FF_RTDE_BOOL:
        return x == 0.0 || x == 1.0;
    case FF_RTDE_UINT8:
        return x >= 0.0 && x <= UINT8_MAX;
    case FF_RTDE_UINT64:
        return x >= 0.0 && x < 18446744073709551616.0;
    case FF_RTDE_INT32:
    case FF_RTDE_VECTOR6INT32:
        return x >= INT32_MIN && x <= INT32_MAX;
    default:
        return x >= 0.0 && x <= UINT32_MAX;
    }
}

ff_status ff_rtde_data_encode(const ff_rtde_recipe *recipe, const double *values, uint8_t *buffer,
                              size_t size, size_t *used) {
    *used = 0;
    size_t n = 0;
    for (size_t i = 0; i < recipe->count; i++)
        for (int k = 0; k < kinds[recipe->fields[i]].count; k++)
            if (!fits(recipe->fields[i], values[n++]))
                return FF_ERR_ARGUMENT;
    const ff_status status = begin(FF_RTDE_DATA, recipe->bytes, buffer, size, used);
    if (status != FF_OK)
        return status;
    uint8_t *at = buffer + HEAD;
    *at++ = recipe->id;
    n = 0;
    for (size_t i = 0; i < recipe->count; i++) {
        const uint8_t field = recipe->fields[i];
        for (int k = 0; k < kinds[field].count; k++, n++, at += kinds[field].width) {
            uint64_t bits;
            memcpy(&bits, &values[n], sizeof bits);
            if (kinds[field].width == 1)
                at[0] = (uint8_t)values[n];
            else if (kinds[field].width == 4)
                ff_bytes_put32(at, is_signed(field) ? (uint32_t)(int32_t)values[n] : (uint32_t)values[n]);
            else
                put64(at, is_double(field) ? bits : (uint64_t)values[n]);
        }
    }
    return FF_OK;
}

ff_status ff_rtde_message_decode(const ff_rtde_packet *packet, ff_rtde_message *message) {
    const uint8_t *at = packet->payload;
    const size_t size = packet->size;
    if (packet->type != FF_RTDE_TEXT || size < 3 || (size_t)at[0] + 3 > size)
        return FF_ERR_FORMAT;
    const size_t text = at[0], source = at[1 + text];
    if (text + source + 3 != size)
        return FF_ERR_FORMAT;
    *message =
        (ff_rtde_message){{(const char *)at + 1, text}, {(const char *)at + 2 + text, source}, at[size - 1]};
    return FF_OK;
}
