/* Records of a described sensor. */
#include "devices/udp/udp.h"

#include "devices/ati/ati.h"

#include <string.h>

static const size_t width[] = {2, 4, 4, 8};

static int digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Pairs of hexadecimal digits, blanks between them; "absent": no bytes. False: something else. */
static bool read_hex(const char *text, uint8_t *bytes, size_t *count) {
    *count = 0;
    if (strcmp(text, "absent") == 0)
        return true;
    while (*text) {
        if (*text == ' ') {
            text++;
            continue;
        }
        const int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
        if (low < 0 || *count >= FF_UDP_TEXT_MAX)
            return false;
        bytes[(*count)++] = (uint8_t)(16 * high + low);
        text += 2;
    }
    return true;
}

/* A whole number of bytes from the start; INF: there is none. */
static bool read_place(double at, size_t bytes, size_t size, size_t *place) {
    if (!(at >= 0.0) || at != floor(at) || at + (double)bytes > (double)size)
        return false;
    *place = (size_t)at;
    return true;
}

const char *ff_udp_layout_of(const ff_device_settings *s, ff_udp_layout *l) {
    double force, torque;
    *l = (ff_udp_layout){.size = (size_t)s->size,
                         .number = (ff_udp_number)s->number,
                         .little = s->little,
                         .counter_bytes = isfinite(s->counter) ? (size_t)s->counter_bytes : 0,
                         .status_bytes = isfinite(s->status) ? (size_t)s->status_bytes : 0,
                         .polled = s->polled};
    if (l->size < 1 || l->size > FF_UDP_SIZE_MAX)
        return "size is that of a datagram, allowed: 1 to 1024 bytes";
    if (!ff_ati_unit(s->force_unit, false, &force) || !ff_ati_unit(s->torque_unit, true, &torque))
        return "force_unit or torque_unit is not known, allowed: N kN lbf klbf kgf gf and Nm kNm Nmm lbf-in "
               "lbf-ft "
               "kgf-cm kgf-m";
    l->scale[0] = s->force_scale * force;
    l->scale[1] = s->torque_scale * torque;
    for (int n = 0; n < 6; n++)
        if (!read_place(n < 3 ? s->force_at.a[n] : s->torque_at.a[n - 3], width[l->number], l->size,
                        &l->at[n]))
            return "force or torque lies outside the datagram, allowed: whole numbers of bytes from its "
                   "start, the last "
                   "number within `size`";
    for (int n = 0; n < 6; n++)
        for (int k = 0; k < n; k++)
            if (l->at[n] < l->at[k] + width[l->number] && l->at[k] < l->at[n] + width[l->number])
                return "two numbers of force and torque overlap, allowed: one place each";
    if (l->counter_bytes > 4 || l->counter_bytes == 3 ||
        (l->counter_bytes && !read_place(s->counter, l->counter_bytes, l->size, &l->counter_at)))
        return "counter lies outside the datagram or is of another width, allowed: 1, 2 or 4 bytes within "
               "`size`";
    if (l->status_bytes > 4 || l->status_bytes == 3 ||
        (l->status_bytes && !read_place(s->status, l->status_bytes, l->size, &l->status_at)))
        return "status lies outside the datagram or is of another width, allowed: 1, 2 or 4 bytes within "
               "`size`";
    if (!read_hex(s->mark, l->mark, &l->marks) || !read_hex(s->request, l->request, &l->requests) ||
        !read_hex(s->farewell, l->farewell, &l->farewells) || l->marks > l->size)
        return "mark, request and farewell are bytes, allowed: absent, or up to 63 pairs of hexadecimal "
               "digits, the mark "
               "within `size`";
    if (!l->requests && (!s->listen || l->polled))
        return "nothing makes it send here, allowed: a request, or the port `listen` of this computer that "
               "it sends to";
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ numbers --
 */

static uint64_t get(const ff_udp_layout *l, const uint8_t *at, size_t bytes) {
    uint64_t x = 0;
    for (size_t n = 0; n < bytes; n++)
        x = x << 8 | at[l->little ? bytes - 1 - n : n];
    return x;
}

static void put(const ff_udp_layout *l, uint8_t *at, size_t bytes, uint64_t x) {
    for (size_t n = 0; n < bytes; n++, x >>= 8)
        at[l->little ? n : bytes - 1 - n] = (uint8_t)x;
}

static double number_of(const ff_udp_layout *l, const uint8_t *at) {
    const uint64_t x = get(l, at, width[l->number]);
    float single;
    double real;
    const uint32_t low = (uint32_t)x;
    switch (l->number) {
    case FF_UDP_INT16:
        return (double)(int16_t)(uint16_t)x;
    case FF_UDP_INT32:
        return (double)(int32_t)low;
    case FF_UDP_FLOAT32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case FF_UDP_FLOAT64:
        break;
    }
    memcpy(&real, &x, sizeof real);
    return real;
}

static bool put_number(const ff_udp_layout *l, uint8_t *at, double value) {
    uint64_t x = 0;
    bool fits = true;
    if (l->number == FF_UDP_FLOAT64)
        memcpy(&x, &value, sizeof value);
    else if (l->number == FF_UDP_FLOAT32) {
        const float single = (float)value;
        uint32_t low;
        memcpy(&low, &single, sizeof low);
        x = low;
    } else {
        const double most = l->number == FF_UDP_INT16 ? 32767.0 : 2147483647.0, whole = rint(value);
        fits = whole <= most && whole >= -most - 1.0;
        x = (uint64_t)(int64_t)fmin(most, fmax(-most - 1.0, isnan(whole) ? 0.0 : whole));
    }
    put(l, at, width[l->number], x);
    return fits;
}

ff_status ff_udp_decode(const ff_udp_layout *l, const void *bytes, size_t size, ff_udp_record *record) {
    const uint8_t *at = bytes;
    ff_udp_record got = {0};
    if (size != l->size || memcmp(at, l->mark, l->marks) != 0)
        return FF_ERR_FORMAT;
    for (int n = 0; n < 6; n++) {
        got.value[n] = number_of(l, at + l->at[n]);
        if (!isfinite(got.value[n]))
            return FF_ERR_NOT_FINITE;
    }
    got.counter = (uint32_t)get(l, at + l->counter_at, l->counter_bytes);
    got.status = (uint32_t)get(l, at + l->status_at, l->status_bytes);
    *record = got;
    return FF_OK;
}

ff_status ff_udp_encode(const ff_udp_layout *l, const ff_udp_record *record, uint8_t *bytes) {
    bool fits = true;
    memset(bytes, 0, l->size);
    memcpy(bytes, l->mark, l->marks);
    for (int n = 0; n < 6; n++)
        fits &= put_number(l, bytes + l->at[n], record->value[n]);
    put(l, bytes + l->counter_at, l->counter_bytes, record->counter);
    put(l, bytes + l->status_at, l->status_bytes, record->status);
    return fits ? FF_OK : FF_INFO_SATURATED;
}
