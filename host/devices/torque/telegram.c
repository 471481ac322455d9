/* The bytes of both directions. */
#include "devices/torque/torque.h"

#include "devices/bytes.h"
#include "devices/ccsds/ccsds.h"

static const char telegram_mark[4] = {'F', 'F', 'J', 'T'}, command_mark[4] = {'F', 'F', 'J', 'C'};

static bool all_finite(const double *x, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += 0.0 * x[i];
    return sum == 0.0;
}

static uint8_t *put_le16(uint8_t *at, unsigned x) {
    at[0] = (uint8_t)x;
    at[1] = (uint8_t)(x >> 8);
    return at + 2;
}

static unsigned get_le16(const uint8_t *at) {
    return at[0] | (unsigned)at[1] << 8;
}

/* Mark, length, version, joints. */
static uint8_t *begin(uint8_t *at, const char *mark, size_t whole, unsigned joints) {
    memcpy(at, mark, 4);
    at = put_le16(at + 4, (unsigned)whole);
    at[0] = FF_TORQUE_VERSION;
    at[1] = (uint8_t)joints;
    return at + 2;
}

static void seal(uint8_t *bytes, size_t whole) {
    put_le16(bytes + whole - 2, ff_ccsds_crc16(bytes, whole - 2));
}

/* All that does not depend on what is inside. */
static ff_status check(const uint8_t *bytes, size_t size, const char *mark, size_t fixed, size_t each) {
    if (size < 10 || memcmp(bytes, mark, 4) != 0)
        return FF_ERR_FORMAT;
    if (size != get_le16(bytes + 4))
        return FF_ERR_SIZE;
    if (ff_ccsds_crc16(bytes, size - 2) != get_le16(bytes + size - 2)) /* before anything is believed of it */
        return FF_ERR_FORMAT;
    if (bytes[6] != FF_TORQUE_VERSION)
        return FF_ERR_UNSUPPORTED;
    const size_t joints = bytes[7];
    return joints >= 1 && joints <= FF_TREE_JOINTS_MAX && size == fixed + each * joints ? FF_OK : FF_ERR_SIZE;
}

const char *ff_torque_fault_text(int fault) {
    static const char *const text[] = {
#define FF_TORQUE_TEXT(name, text) text,
        FF_TORQUE_FAULTS(FF_TORQUE_TEXT)
#undef FF_TORQUE_TEXT
    };
    return fault >= 0 && fault < FF_TORQUE_FAULT_COUNT ? text[fault] : "unknown";
}

static bool telegram_sane(const ff_torque_telegram *t) {
    return t->state >= 0 && t->state < FF_TORQUE_STATES && t->fault >= 0 &&
           t->fault < FF_TORQUE_FAULT_COUNT && t->session != 0 && t->flags < 16 && t->cycle > 0.0;
}

static bool telegram_finite(const ff_torque_telegram *t) {
    const double times[] = {t->time, t->cycle, t->arrives};
    return all_finite(times, 3) && all_finite(t->wrench, 6) && all_finite(t->q, t->joints) &&
           all_finite(t->qd, t->joints) && all_finite(t->torque, t->joints) &&
           all_finite(t->external, t->joints);
}

ff_status ff_torque_telegram_encode(const ff_torque_telegram *t, uint8_t *bytes, size_t size, size_t *used) {
    *used = 0;
    const size_t n = t->joints;
    if (n < 1 || n > FF_TREE_JOINTS_MAX || !telegram_sane(t) || !telegram_finite(t))
        return FF_ERR_ARGUMENT;
    const size_t whole = FF_TORQUE_TELEGRAM_SIZE + 32 * n;
    if (size < whole)
        return FF_ERR_SIZE;
    uint8_t *at = begin(bytes, telegram_mark, whole, t->joints);
    at[0] = (uint8_t)t->state;
    at[1] = (uint8_t)t->fault;
    at = put_le16(at + 2, t->flags);
    const uint32_t numbers[] = {t->session, t->sequence, t->echo, t->run, t->late};
    for (size_t i = 0; i < 5; i++)
        at = ff_bytes_put_le32(at, numbers[i]);
    at = ff_bytes_put_doubles(at, (const double[]){t->time, t->cycle, t->arrives}, 3);
    at = ff_bytes_put_doubles(at, t->wrench, 6);
    at = ff_bytes_put_doubles(at, t->q, n);
    at = ff_bytes_put_doubles(at, t->qd, n);
    at = ff_bytes_put_doubles(at, t->torque, n);
    ff_bytes_put_doubles(at, t->external, n);
    seal(bytes, whole);
    *used = whole;
    return FF_OK;
}

ff_status ff_torque_telegram_decode(const uint8_t *bytes, size_t size, ff_torque_telegram *telegram) {
    const ff_status status = check(bytes, size, telegram_mark, FF_TORQUE_TELEGRAM_SIZE, 32);
    if (status != FF_OK)
        return status;
    ff_torque_telegram t;
    memset(&t, 0, sizeof t);
    const size_t n = t.joints = bytes[7];
    t.state = bytes[8];
    t.fault = bytes[9];
    t.flags = get_le16(bytes + 10);
    const uint8_t *at = bytes + 12;
    at = ff_bytes_get_le32(at, &t.session);
    at = ff_bytes_get_le32(at, &t.sequence);
    at = ff_bytes_get_le32(at, &t.echo);
    at = ff_bytes_get_le32(at, &t.run);
    at = ff_bytes_get_le32(at, &t.late);
    double times[3];
    at = ff_bytes_get_doubles(at, times, 3);
    t.time = times[0];
    t.cycle = times[1];
    t.arrives = times[2];
    at = ff_bytes_get_doubles(at, t.wrench, 6);
    at = ff_bytes_get_doubles(at, t.q, n);
    at = ff_bytes_get_doubles(at, t.qd, n);
    at = ff_bytes_get_doubles(at, t.torque, n);
    ff_bytes_get_doubles(at, t.external, n);
    if (!telegram_finite(&t))
        return FF_ERR_NOT_FINITE;
    if (!telegram_sane(&t))
        return FF_ERR_FORMAT;
    *telegram = t;
    return FF_OK;
}

static bool command_sane(const ff_torque_command *c) {
    return c->mode >= 0 && c->mode < FF_TORQUE_MODES && c->session != 0 && c->run != 0;
}

ff_status ff_torque_command_encode(const ff_torque_command *c, uint8_t *bytes, size_t size, size_t *used) {
    *used = 0;
    const size_t n = c->joints;
    if (n < 1 || n > FF_TREE_JOINTS_MAX || !command_sane(c) || !all_finite(c->torque, n) ||
        !all_finite(c->q, n))
        return FF_ERR_ARGUMENT;
    const size_t whole = FF_TORQUE_COMMAND_SIZE + 16 * n;
    if (size < whole)
        return FF_ERR_SIZE;
    uint8_t *at = begin(bytes, command_mark, whole, c->joints);
    at[0] = (uint8_t)c->mode;
    at[1] = c->grips;
    at = put_le16(at + 2, 0);
    at = ff_bytes_put_le32(at, c->session);
    at = ff_bytes_put_le32(at, c->sequence);
    at = ff_bytes_put_le32(at, c->run);
    at = ff_bytes_put_doubles(at, c->torque, n);
    ff_bytes_put_doubles(at, c->q, n);
    seal(bytes, whole);
    *used = whole;
    return FF_OK;
}

ff_status ff_torque_command_decode(const uint8_t *bytes, size_t size, ff_torque_command *command) {
    const ff_status status = check(bytes, size, command_mark, FF_TORQUE_COMMAND_SIZE, 16);
    if (status != FF_OK)
        return status;
    ff_torque_command c;
    memset(&c, 0, sizeof c);
    const size_t n = c.joints = bytes[7];
    c.mode = bytes[8];
    c.grips = bytes[9];
    const uint8_t *at = bytes + 12;
    at = ff_bytes_get_le32(at, &c.session);
    at = ff_bytes_get_le32(at, &c.sequence);
    at = ff_bytes_get_le32(at, &c.run);
    at = ff_bytes_get_doubles(at, c.torque, n);
    ff_bytes_get_doubles(at, c.q, n);
    if (!all_finite(c.torque, n) || !all_finite(c.q, n))
        return FF_ERR_NOT_FINITE;
    if (!command_sane(&c) || bytes[9] > 1 || get_le16(bytes + 10) != 0)
        return FF_ERR_FORMAT;
    *command = c;
    return FF_OK;
}
