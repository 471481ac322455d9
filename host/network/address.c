#include "network/address.h"

#include <stdio.h>

static ff_status refuse(const char *name, char *message, size_t size, const char *text) {
    snprintf(message, size, "satellites.%s: %s", name, text);
    return FF_ERR_ARGUMENT;
}

/* The n-th device of a kind, which the scenario names and gives address and ports; below 0 the first one
 * stands for a virtual one. */
static const ff_device *device_of(ff_device_kind kind, int n, bool *named) {
    *named = n >= 0;
    return ff_device_of(kind, n >= 0 ? n : 0);
}

static unsigned port_of(unsigned option, unsigned scenario, bool named, unsigned usual, unsigned step) {
    return option ? option + step : named ? scenario : usual + step;
}

static ff_status find(const ff_satellite *satellite, const ff_ports *ports, int i, ff_address *body,
                      char *message, size_t size) {
    const ff_robot_config *robot = &satellite->robot;
    const ff_sensor_config *sensor = &satellite->sensor;
    const unsigned step = (unsigned)i;
    bool own_robot, own_sensor;
    body->robot = device_of(FF_DEVICE_ROBOT, (int)robot->kind - (int)FF_ROBOT_DEVICE, &own_robot);
    body->sensor = device_of(FF_DEVICE_SENSOR, (int)sensor->kind - (int)FF_SENSOR_DEVICE, &own_sensor);
    const unsigned robot_port =
        port_of(ports->rsi_port, (unsigned)robot->device.port, own_robot, body->robot->port, step);
    const unsigned sensor_port =
        port_of(ports->ati_port, (unsigned)sensor->device.port, own_sensor, body->sensor->port, step);
    const unsigned page_port =
        port_of(ports->http_port, (unsigned)sensor->device.page_port, own_sensor, body->sensor->second, step);
    const unsigned program_port =
        port_of(0, (unsigned)robot->device.page_port, own_robot, body->robot->second, step);
    const char *robot_address = own_robot ? robot->address : "127.0.0.1";
    if (ff_socket_address(robot_address, robot_port, &body->robot_at) != FF_OK ||
        ff_socket_address(robot_address, program_port, &body->program_at) != FF_OK)
        return refuse(satellite->name, message, size,
                      "robot.address and port must be an IPv4 address and at most 65535");
    const char *address = own_sensor ? sensor->address : "127.0.0.1";
    if (ff_socket_address(address, sensor_port, &body->sensor_at) != FF_OK ||
        ff_socket_address(address, page_port, &body->page_at) != FF_OK)
        return refuse(satellite->name, message, size,
                      "sensor.address and its ports must be an IPv4 address and at most 65535");
    if (own_sensor && body->sensor->page &&
        page_port == 0) /* as on the device; a virtual one has no right to that */
        body->page_at.sin_port =
            htons(ff_socket_is_loopback(&body->page_at) ? (uint16_t)body->sensor->second : 80);
    if (body->sensor->frame) { /* inside the robot, behind its controller */
        if (!body->robot->frame)
            return refuse(
                satellite->name, message, size,
                "a sensor of kind ur-force is inside the arm, allowed: with a robot of kind ur-rtde");
        body->sensor_at = body->page_at = body->robot_at;
    }
    /* a driver on this computer may have a real robot behind it */
    const bool drives = body->robot->topics && !robot->device.facility,
               feels = body->sensor->topics && !sensor->device.facility;
    body->virtual = ff_socket_is_loopback(&body->robot_at) && ff_socket_is_loopback(&body->sensor_at) &&
                    !drives && !feels;
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
    const int servicer = ff_scenario_servicer(scenario);
    if (servicer < 0)
        return FF_OK;
    const ff_status status =
        ff_address_find_arm(&scenario->satellite[servicer].arm.device, ports, scenario->satellites,
                            &addresses->arm, &addresses->arm_at, message, size);
    addresses->virtual &= status == FF_OK && ff_socket_is_loopback(&addresses->arm_at);
    return status;
}

ff_status ff_address_find_arm(const ff_arm_device *arm, const ff_ports *ports, int robots,
                              const ff_device **device, struct sockaddr_in *at, char *message, size_t size) {
    *device = ff_device_of(FF_DEVICE_ARM, arm->kind);
    const unsigned port = ports->rsi_port ? ports->rsi_port + (unsigned)robots : (unsigned)arm->device.port;
    if (ff_socket_address(arm->address, port, at) == FF_OK)
        return FF_OK;
    snprintf(message, size, "device.address is '%s', allowed: an IPv4 address", arm->address);
    return FF_ERR_ARGUMENT;
}
