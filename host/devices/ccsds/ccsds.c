#include "devices/ccsds/ccsds.h"

#include <string.h>

#include "devices/bytes.h"

ff_status ff_ccsds_primary_encode(const ff_ccsds_primary *p, uint8_t *buffer, size_t size) {
    if (size < FF_CCSDS_PRIMARY_SIZE)
        return FF_ERR_SIZE;
    if (p->apid > 0x7ff || p->segmentation > 3 || p->count > 0x3fff || p->size < 7 ||
        p->size > FF_CCSDS_PACKET_MAX)
        return FF_ERR_ARGUMENT;
    ff_bytes_put16(buffer, (uint16_t)((p->telecommand ? 0x1000 : 0) | (p->secondary ? 0x0800 : 0) | p->apid));
    ff_bytes_put16(buffer + 2, (uint16_t)((p->segmentation << 14) | p->count));
    ff_bytes_put16(buffer + 4, (uint16_t)(p->size - 7));
    return FF_OK;
}

ff_status ff_ccsds_primary_decode(const uint8_t *bytes, size_t size, ff_ccsds_primary *p) {
    if (size < FF_CCSDS_PRIMARY_SIZE)
        return FF_ERR_SIZE;
    const uint16_t id = ff_bytes_get16(bytes), sequence = ff_bytes_get16(bytes + 2);
    if (id >> 13)
        return FF_ERR_UNSUPPORTED;
    const size_t whole = (size_t)ff_bytes_get16(bytes + 4) + 7;
    if (whole > size)
        return FF_ERR_SIZE;
    *p = (ff_ccsds_primary){.telecommand = (id & 0x1000) != 0,
                            .secondary = (id & 0x0800) != 0,
                            .apid = id & 0x7ff,
                            .segmentation = (uint8_t)(sequence >> 14),
                            .count = sequence & 0x3fff,
                            .size = whole};
    return FF_OK;
}

/* What all four packet kinds share. overhead counts every byte that is not payload. */
static ff_status begin(bool telecommand, uint16_t apid, uint16_t count, size_t overhead, size_t payload,
                       uint8_t *buffer, size_t size, size_t *used) {
    *used = 0;
    if (payload > FF_CCSDS_PACKET_MAX - overhead)
        return FF_ERR_ARGUMENT;
    const ff_ccsds_primary primary = {.telecommand = telecommand,
                                      .secondary = true,
                                      .apid = apid,
                                      .segmentation = 3,
                                      .count = count,
                                      .size = overhead + payload};
    if (size < primary.size)
        return FF_ERR_SIZE;
    const ff_status status = ff_ccsds_primary_encode(&primary, buffer, size);
    if (status == FF_OK)
        *used = primary.size;
    return status;
}

static ff_status open_packet(const uint8_t *bytes, size_t size, bool telecommand, size_t overhead,
                             ff_ccsds_primary *primary) {
    const ff_status status = ff_ccsds_primary_decode(bytes, size, primary);
    if (status != FF_OK)
        return status;
    if (primary->telecommand != telecommand || !primary->secondary || primary->size != size ||
        size < overhead || primary->segmentation != 3)
        return FF_ERR_FORMAT;
    return FF_OK;
}

static uint8_t xor_of(const uint8_t *bytes, size_t size) {
    uint8_t x = 0xff;
    for (size_t i = 0; i < size; i++)
        x ^= bytes[i];
    return x;
}

static void copy_payload(uint8_t *at, const uint8_t *payload, size_t size) {
    if (size)
        memcpy(at, payload, size);
}

ff_status ff_ccsds_cfs_command_encode(const ff_ccsds_cfs_command *c, uint8_t *buffer, size_t size,
                                      size_t *used) {
    *used = 0;
    if (c->function > 0x7f)
        return FF_ERR_ARGUMENT;
    const ff_status status =
        begin(true, c->apid, c->count, FF_CCSDS_CFS_COMMAND_SIZE, c->payload_size, buffer, size, used);
    if (status != FF_OK)
        return status;
    buffer[6] = c->function;
    buffer[7] = 0;
    copy_payload(buffer + 8, c->payload, c->payload_size);
    buffer[7] = xor_of(buffer, *used);
    return FF_OK;
}

ff_status ff_ccsds_cfs_command_decode(const uint8_t *bytes, size_t size, ff_ccsds_cfs_command *c) {
    ff_ccsds_primary p;
    const ff_status status = open_packet(bytes, size, true, FF_CCSDS_CFS_COMMAND_SIZE, &p);
    if (status != FF_OK)
        return status;
    if (xor_of(bytes, size) != 0)
        return FF_ERR_FORMAT;
    *c = (ff_ccsds_cfs_command){p.apid, p.count, bytes[6] & 0x7f, bytes + 8, size - 8};
    return FF_OK;
}

ff_status ff_ccsds_cfs_telemetry_encode(const ff_ccsds_cfs_telemetry *t, uint8_t *buffer, size_t size,
                                        size_t *used) {
    const ff_status status =
        begin(false, t->apid, t->count, FF_CCSDS_CFS_TELEMETRY_SIZE, t->payload_size, buffer, size, used);
    if (status != FF_OK)
        return status;
    ff_bytes_put32(buffer + 6, t->seconds);
    ff_bytes_put16(buffer + 10, t->subseconds);
    ff_bytes_put32(buffer + 12, 0);
    copy_payload(buffer + 16, t->payload, t->payload_size);
    return FF_OK;
}

ff_status ff_ccsds_cfs_telemetry_decode(const uint8_t *bytes, size_t size, ff_ccsds_cfs_telemetry *t) {
    ff_ccsds_primary p;
    const ff_status status = open_packet(bytes, size, false, FF_CCSDS_CFS_TELEMETRY_SIZE, &p);
    if (status != FF_OK)
        return status;
    *t = (ff_ccsds_cfs_telemetry){p.apid,     p.count,  ff_bytes_get32(bytes + 6), ff_bytes_get16(bytes + 10),
                                  bytes + 16, size - 16};
    return FF_OK;
}

uint16_t ff_ccsds_crc16(const uint8_t *bytes, size_t size) {
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < size; i++) {
        crc = (uint16_t)(crc ^ (bytes[i] << 8));
        for (int k = 0; k < 8; k++)
            crc = (uint16_t)((crc & 0x8000) ? (crc << 1) ^ 0x1021 : crc << 1);
    }
    return crc;
}

enum { PUS_VERSION = 2, PUS_TC = 11, PUS_TM = 13, CRC = 2 };

static void put_crc(uint8_t *buffer, size_t size) {
    ff_bytes_put16(buffer + size - CRC, ff_ccsds_crc16(buffer, size - CRC));
}

/* A packet followed by its own CRC has CRC 0. */
static ff_status check_pus(const uint8_t *bytes, size_t size) {
    if (ff_ccsds_crc16(bytes, size) != 0)
        return FF_ERR_FORMAT;
    return bytes[6] >> 4 == PUS_VERSION ? FF_OK : FF_ERR_UNSUPPORTED;
}

ff_status ff_ccsds_pus_command_encode(const ff_ccsds_pus_command *c, uint8_t *buffer, size_t size,
                                      size_t *used) {
    *used = 0;
    if (c->ack > 15)
        return FF_ERR_ARGUMENT;
    const ff_status status =
        begin(true, c->apid, c->count, PUS_TC + CRC, c->payload_size, buffer, size, used);
    if (status != FF_OK)
        return status;
    buffer[6] = (uint8_t)(PUS_VERSION << 4 | c->ack);
    buffer[7] = c->service;
    buffer[8] = c->subtype;
    ff_bytes_put16(buffer + 9, c->source);
    copy_payload(buffer + PUS_TC, c->payload, c->payload_size);
    put_crc(buffer, *used);
    return FF_OK;
}

ff_status ff_ccsds_pus_command_decode(const uint8_t *bytes, size_t size, ff_ccsds_pus_command *c) {
    ff_ccsds_primary p;
    ff_status status = open_packet(bytes, size, true, PUS_TC + CRC, &p);
    if (status == FF_OK)
        status = check_pus(bytes, size);
    if (status != FF_OK)
        return status;
    *c = (ff_ccsds_pus_command){.apid = p.apid,
                                .count = p.count,
                                .ack = bytes[6] & 15,
                                .service = bytes[7],
                                .subtype = bytes[8],
                                .source = ff_bytes_get16(bytes + 9),
                                .payload = bytes + PUS_TC,
                                .payload_size = size - PUS_TC - CRC};
    return FF_OK;
}

ff_status ff_ccsds_pus_telemetry_encode(const ff_ccsds_pus_telemetry *t, uint8_t *buffer, size_t size,
                                        size_t *used) {
    *used = 0;
    if (t->time_status > 15)
        return FF_ERR_ARGUMENT;
    const ff_status status =
        begin(false, t->apid, t->count, PUS_TM + CRC, t->payload_size, buffer, size, used);
    if (status != FF_OK)
        return status;
    buffer[6] = (uint8_t)(PUS_VERSION << 4 | t->time_status);
    buffer[7] = t->service;
    buffer[8] = t->subtype;
    ff_bytes_put16(buffer + 9, t->type_count);
    ff_bytes_put16(buffer + 11, t->destination);
    copy_payload(buffer + PUS_TM, t->payload, t->payload_size);
    put_crc(buffer, *used);
    return FF_OK;
}

ff_status ff_ccsds_pus_telemetry_decode(const uint8_t *bytes, size_t size, ff_ccsds_pus_telemetry *t) {
    ff_ccsds_primary p;
    ff_status status = open_packet(bytes, size, false, PUS_TM + CRC, &p);
    if (status == FF_OK)
        status = check_pus(bytes, size);
    if (status != FF_OK)
        return status;
    *t = (ff_ccsds_pus_telemetry){.apid = p.apid,
                                  .count = p.count,
                                  .time_status = bytes[6] & 15,
                                  .service = bytes[7],
                                  .subtype = bytes[8],
                                  .type_count = ff_bytes_get16(bytes + 9),
                                  .destination = ff_bytes_get16(bytes + 11),
                                  .payload = bytes + PUS_TM,
                                  .payload_size = size - PUS_TM - CRC};
    return FF_OK;
}
