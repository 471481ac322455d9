#include "network/address.h"

#include <stdio.h>

#define FF_HTTP_PORT 49180

static ff_status refuse(const char *name, char *message, size_t size, const char *text) {
    snprintf(message, size, "satellites.%s: %s", name, text);
    return FF_ERR_ARGUMENT;
}

static ff_status find(const ff_satellite *satellite, const ff_ports *options, int i, ff_address *body,
                      char *message, size_t size) {
    const ff_robot_config *robot = &satellite->robot;
    const ff_sensor_config *sensor = &satellite->sensor;
    const bool rsi = robot->kind == FF_ROBOT_KUKA_RSI, ati = sensor->kind == FF_SENSOR_ATI_RDT;
    const unsigned step = (unsigned)i;
    body->robot = ff_device_find(FF_DEVICE_ROBOT, ff_robot_names[robot->kind]);
    body->sensor = ff_device_find(FF_DEVICE_SENSOR, ff_sensor_names[sensor->kind]);
    const unsigned rsi_port = options->rsi_port ? options->rsi_port + step
                              : rsi             ? (unsigned)robot->port
                                                : body->robot->port + step;
    const unsigned ati_port = options->ati_port ? options->ati_port + step
                              : ati             ? (unsigned)sensor->port
                                                : body->sensor->port + step;
    const unsigned http_port = options->http_port ? options->http_port + step
                               : ati              ? (unsigned)sensor->http_port
                                                  : FF_HTTP_PORT + step;
    if (ff_socket_address(rsi ? robot->address : "127.0.0.1", rsi_port, &body->robot_at) != FF_OK)
        return refuse(satellite->name, message, size,
                      "robot.address and port must be an IPv4 address and at most 65535");
    const char *address = ati ? sensor->address : "127.0.0.1";
    if (ff_socket_address(address, ati_port, &body->sensor_at) != FF_OK ||
        ff_socket_address(address, http_port, &body->page_at) != FF_OK)
        return refuse(satellite->name, message, size,
                      "sensor.address and its ports must be an IPv4 address and at most 65535");
    body->virtual = ff_socket_is_loopback(&body->robot_at) && ff_socket_is_loopback(&body->sensor_at);
    return FF_OK;
}

ff_status ff_addresses_find(const ff_scenario *scenario, const ff_ports *ports, ff_addresses *addresses,
                            char *message, size_t size) {
    *addresses = (ff_addresses){.virtual = true};
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_status status = find(&scenario->satellite[i], ports, i, &addresses->body[i], message, size);
        if (status != FF_OK)
            return status;
        addresses->virtual &= addresses->body[i].virtual;
    }
    return FF_OK;
}
