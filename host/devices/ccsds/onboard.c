#include "devices/ccsds/onboard.h"

#include <math.h>
#include <string.h>

#include "devices/bytes.h"

const char *ff_obsw_refusal_name(ff_obsw_refusal refusal) {
    static const char *const name[FF_OBSW_REFUSALS] = {"short",   "long", "checksum", "foreign",
                                                       "version", "old",  "ahead",    "not_finite"};
    return refusal >= 0 && refusal < FF_OBSW_REFUSALS ? name[refusal] : "taken";
}

void ff_obsw_wire_default(ff_obsw_wire *wire) {
    *wire = (ff_obsw_wire){.apid_sensors = FF_OBSW_APID_SENSORS, .apid_command = FF_OBSW_APID_COMMAND};
}

/* --------------------------------------------------------------------------------------------- packets -- */

/* What the codecs of ccsds.h call a fault, as one of our reasons: they do not distinguish a checksum from a
 * format.
 */
static ff_obsw_refusal reason(const ff_obsw_wire *wire, bool telecommand, const uint8_t *bytes, size_t size) {
    ff_ccsds_primary p;
    if (size < FF_CCSDS_PRIMARY_SIZE)
        return FF_OBSW_SHORT;
    const ff_status status = ff_ccsds_primary_decode(bytes, size, &p);
    if (status == FF_ERR_SIZE)
        return FF_OBSW_SHORT;
    if (status != FF_OK)
        return FF_OBSW_FOREIGN;
    if (p.size < size)
        return FF_OBSW_LONG;
    if (p.telecommand != telecommand || !p.secondary || p.segmentation != 3 ||
        p.apid != (telecommand ? wire->apid_command : wire->apid_sensors))
        return FF_OBSW_FOREIGN;
    return FF_OBSW_CHECKSUM;
}

typedef struct payload {
    const uint8_t *at;
    size_t size;
    uint16_t apid, count;
} payload;

static ff_obsw_refusal open_command(const ff_obsw_wire *wire, const uint8_t *bytes, size_t size, payload *p) {
    if (wire->pus) {
        ff_ccsds_pus_command c;
        if (ff_ccsds_pus_command_decode(bytes, size, &c) != FF_OK)
            return reason(wire, true, bytes, size);
        if (c.service != FF_OBSW_PUS_SERVICE || c.subtype != FF_OBSW_PUS_COMMAND)
            return FF_OBSW_FOREIGN;
        *p = (payload){c.payload, c.payload_size, c.apid, c.count};
    } else {
        ff_ccsds_cfs_command c;
        if (ff_ccsds_cfs_command_decode(bytes, size, &c) != FF_OK)
            return reason(wire, true, bytes, size);
        if (c.function != FF_OBSW_FUNCTION)
            return FF_OBSW_FOREIGN;
        *p = (payload){c.payload, c.payload_size, c.apid, c.count};
    }
    return p->apid == wire->apid_command ? FF_OBSW_TAKEN : FF_OBSW_FOREIGN;
}

static ff_obsw_refusal open_sensors(const ff_obsw_wire *wire, const uint8_t *bytes, size_t size, payload *p) {
    if (wire->pus) {
        ff_ccsds_pus_telemetry t;
        if (ff_ccsds_pus_telemetry_decode(bytes, size, &t) != FF_OK)
            return reason(wire, false, bytes, size);
        if (t.service != FF_OBSW_PUS_SERVICE || t.subtype != FF_OBSW_PUS_SENSORS)
            return FF_OBSW_FOREIGN;
        if (t.payload_size < FF_OBSW_PUS_TIME)
            return FF_OBSW_SHORT;
        *p = (payload){t.payload + FF_OBSW_PUS_TIME, t.payload_size - FF_OBSW_PUS_TIME, t.apid, t.count};
    } else {
        ff_ccsds_cfs_telemetry t;
        if (ff_ccsds_cfs_telemetry_decode(bytes, size, &t) != FF_OK)
            return reason(wire, false, bytes, size);
        *p = (payload){t.payload, t.payload_size, t.apid, t.count};
    }
    return p->apid == wire->apid_sensors ? FF_OBSW_TAKEN : FF_OBSW_FOREIGN;
}

/* Version and length, once the packet around them is right. */
static ff_obsw_refusal fits(const payload *p, size_t fixed, size_t each, uint32_t *joints) {
    uint32_t version;
    if (p->size < fixed)
        return FF_OBSW_SHORT;
    ff_bytes_get_le32(ff_bytes_get_le32(p->at, &version), joints);
    if (version != FF_OBSW_VERSION || *joints > FF_OBSW_JOINTS)
        return FF_OBSW_VERSIONS;
    const size_t need = fixed + each * *joints;
    return p->size < need ? FF_OBSW_SHORT : p->size > need ? FF_OBSW_LONG : FF_OBSW_TAKEN;
}

/* The walk through the sensors' payload, once for each direction. */
static void put_sensors(const ff_obsw_frame *f, const ff_obsw_in *in, uint8_t *at) {
    at = ff_bytes_put_le32(ff_bytes_put_le32(at, FF_OBSW_VERSION), f->joints);
    at = ff_bytes_put_le32(ff_bytes_put_le32(at, f->session), f->lockstep ? 1 : 0);
    at = ff_bytes_put_le64(at, f->sequence);
    at = ff_bytes_put_doubles(ff_bytes_put_doubles(at, &f->t, 1), &f->cycle, 1);
    at = ff_bytes_put_doubles(ff_bytes_put_doubles(at, &in->camera_t, 1), in->client_position, 3);
    at = ff_bytes_put_doubles(ff_bytes_put_doubles(at, in->client_attitude, 4), in->client_velocity, 3);
    at = ff_bytes_put_doubles(at, in->client_angular_velocity, 3);
    at = ff_bytes_put_doubles(ff_bytes_put_doubles(at, &in->star_tracker_t, 1), in->attitude, 4);
    at = ff_bytes_put_doubles(ff_bytes_put_doubles(at, &in->gyro_t, 1), in->angular_velocity, 3);
    at = ff_bytes_put_doubles(at, &in->encoder_t, 1);
    ff_bytes_put_doubles(ff_bytes_put_doubles(at, in->q, f->joints), in->qd, f->joints);
}

ff_status ff_obsw_sensors_encode(const ff_obsw_wire *wire, const ff_obsw_frame *f, const ff_obsw_in *in,
                                 uint8_t *buffer, size_t size, size_t *used) {
    uint8_t bytes[FF_OBSW_PUS_TIME + FF_OBSW_SENSORS_SIZE + 16 * FF_OBSW_JOINTS];
    *used = 0;
    if (f->joints > FF_OBSW_JOINTS)
        return FF_ERR_ARGUMENT;
    const size_t length = FF_OBSW_SENSORS_SIZE + 16 * (size_t)f->joints;
    const double whole = floor(f->t);
    const uint32_t seconds = (uint32_t)whole;
    const uint16_t subseconds = (uint16_t)((f->t - whole) * 65536.0);
    put_sensors(f, in, bytes + FF_OBSW_PUS_TIME);
    if (!wire->pus) {
        const ff_ccsds_cfs_telemetry t = {.apid = wire->apid_sensors,
                                          .count = f->count & 0x3fff,
                                          .seconds = seconds,
                                          .subseconds = subseconds,
                                          .payload = bytes + FF_OBSW_PUS_TIME,
                                          .payload_size = length};
        return ff_ccsds_cfs_telemetry_encode(&t, buffer, size, used);
    }
    ff_bytes_put32(bytes, seconds);
    ff_bytes_put16(bytes + 4, subseconds);
    const ff_ccsds_pus_telemetry t = {.apid = wire->apid_sensors,
                                      .count = f->count & 0x3fff,
                                      .service = FF_OBSW_PUS_SERVICE,
                                      .subtype = FF_OBSW_PUS_SENSORS,
                                      .type_count = (uint16_t)f->sequence,
                                      .payload = bytes,
                                      .payload_size = length + FF_OBSW_PUS_TIME};
    return ff_ccsds_pus_telemetry_encode(&t, buffer, size, used);
}

ff_obsw_refusal ff_obsw_sensors_decode(const ff_obsw_wire *wire, const uint8_t *bytes, size_t size,
                                       ff_obsw_frame *frame, ff_obsw_in *in) {
    payload p = {0};
    ff_obsw_frame f = {0};
    ff_obsw_in x = {0};
    uint32_t flags;
    ff_obsw_refusal refusal = open_sensors(wire, bytes, size, &p);
    if (refusal == FF_OBSW_TAKEN)
        refusal = fits(&p, FF_OBSW_SENSORS_SIZE, 16, &f.joints);
    if (refusal != FF_OBSW_TAKEN)
        return refusal;
    const uint8_t *at = ff_bytes_get_le32(ff_bytes_get_le32(p.at + 8, &f.session), &flags);
    at = ff_bytes_get_le64(at, &f.sequence);
    at = ff_bytes_get_doubles(ff_bytes_get_doubles(at, &f.t, 1), &f.cycle, 1);
    at = ff_bytes_get_doubles(ff_bytes_get_doubles(at, &x.camera_t, 1), x.client_position, 3);
    at = ff_bytes_get_doubles(ff_bytes_get_doubles(at, x.client_attitude, 4), x.client_velocity, 3);
    at = ff_bytes_get_doubles(at, x.client_angular_velocity, 3);
    at = ff_bytes_get_doubles(ff_bytes_get_doubles(at, &x.star_tracker_t, 1), x.attitude, 4);
    at = ff_bytes_get_doubles(ff_bytes_get_doubles(at, &x.gyro_t, 1), x.angular_velocity, 3);
    at = ff_bytes_get_doubles(at, &x.encoder_t, 1);
    ff_bytes_get_doubles(ff_bytes_get_doubles(at, x.q, f.joints), x.qd, f.joints);
    f.lockstep = flags & 1;
    f.count = p.count;
    x.sequence = f.sequence;
    x.t = f.t;
    *frame = f;
    *in = x;
    return FF_OBSW_TAKEN;
}

ff_status ff_obsw_command_encode(const ff_obsw_wire *wire, const ff_obsw_frame *f, const ff_obsw_out *out,
                                 uint8_t *buffer, size_t size, size_t *used) {
    uint8_t bytes[FF_OBSW_COMMAND_SIZE + 8 * FF_OBSW_JOINTS];
    *used = 0;
    if (f->joints > FF_OBSW_JOINTS)
        return FF_ERR_ARGUMENT;
    uint8_t *at = ff_bytes_put_le32(ff_bytes_put_le32(bytes, FF_OBSW_VERSION), f->joints);
    at = ff_bytes_put_le64(ff_bytes_put_le32(ff_bytes_put_le32(at, f->session), out->phase), f->sequence);
    at = ff_bytes_put_doubles(ff_bytes_put_doubles(ff_bytes_put_doubles(at, &f->t, 1), out->force, 3),
                              out->torque, 3);
    at = ff_bytes_put_doubles(ff_bytes_put_doubles(at, &out->storage, 1), &out->dissipation, 1);
    at = ff_bytes_put_doubles(at, out->joint_torque, f->joints);
    const size_t length = (size_t)(at - bytes);
    if (wire->pus) {
        const ff_ccsds_pus_command c = {.apid = wire->apid_command,
                                        .count = f->count & 0x3fff,
                                        .service = FF_OBSW_PUS_SERVICE,
                                        .subtype = FF_OBSW_PUS_COMMAND,
                                        .payload = bytes,
                                        .payload_size = length};
        return ff_ccsds_pus_command_encode(&c, buffer, size, used);
    }
    const ff_ccsds_cfs_command c = {.apid = wire->apid_command,
                                    .count = f->count & 0x3fff,
                                    .function = FF_OBSW_FUNCTION,
                                    .payload = bytes,
                                    .payload_size = length};
    return ff_ccsds_cfs_command_encode(&c, buffer, size, used);
}

ff_obsw_refusal ff_obsw_command_decode(const ff_obsw_wire *wire, uint32_t joints, const uint8_t *bytes,
                                       size_t size, ff_obsw_frame *frame, ff_obsw_out *out) {
    payload p = {0};
    ff_obsw_frame f = {0};
    ff_obsw_out x = {0};
    ff_obsw_refusal refusal = open_command(wire, bytes, size, &p);
    if (refusal == FF_OBSW_TAKEN)
        refusal = fits(&p, FF_OBSW_COMMAND_SIZE, 8, &f.joints);
    if (refusal != FF_OBSW_TAKEN)
        return refusal;
    if (f.joints != joints)
        return FF_OBSW_VERSIONS;
    const uint8_t *at = ff_bytes_get_le32(ff_bytes_get_le32(p.at + 8, &f.session), &x.phase);
    at = ff_bytes_get_le64(at, &f.sequence);
    at = ff_bytes_get_doubles(ff_bytes_get_doubles(ff_bytes_get_doubles(at, &f.t, 1), x.force, 3), x.torque,
                              3);
    at = ff_bytes_get_doubles(ff_bytes_get_doubles(at, &x.storage, 1), &x.dissipation, 1);
    ff_bytes_get_doubles(at, x.joint_torque, f.joints);
    f.count = p.count;
    if (!ff_obsw_out_finite(&x, joints))
        return FF_OBSW_NOT_FINITE;
    *frame = f;
    *out = x;
    return FF_OBSW_TAKEN;
}

bool ff_obsw_out_finite(const ff_obsw_out *out, size_t joints) {
    bool finite = true;
    for (int i = 0; i < 3; i++)
        finite = finite && isfinite(out->force[i]) && isfinite(out->torque[i]);
    for (size_t i = 0; i < joints; i++)
        finite = finite && isfinite(out->joint_torque[i]);
    return finite;
}
