/* The files of a KUKA controller, for the cell that a scenario describes. */
#include "server/internal.h"
#include "server/rsi_files.h"

#include "text/file.h"
#include "text/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 65536 };

static ff_status write_one(const char *folder, const char *name, const char *text, char *message,
                           size_t size) {
    char path[FF_FILE_PATH];
    if (ff_append(path, sizeof path, 0, "%s/%s", folder, name) >= sizeof path)
        return ff_refuse(FF_ERR_IO, message, size, "--controller-files %s: the path is too long", folder);
    char *end = strrchr(path, '/');
    *end = 0;
    ff_status status = ff_folder_make(path);
    *end = '/';
    if (status == FF_OK)
        status = ff_file_replace(path, text);
    return status == FF_OK ? FF_OK : ff_refuse(FF_ERR_IO, message, size, "%s: %s", path, strerror(errno));
}

/* A comment of XML holds no two hyphens, a comment of KRL no end of line. */
static void title_of(const ff_scenario *scenario, int i, char *title, size_t size) {
    snprintf(title, size, "%s, robot of %s", scenario->name, scenario->satellite[i].name);
    ff_flatten(title);
    for (char *at = title; (at = strstr(at, "--")) != NULL;)
        at[1] = ' ';
    for (char *at = title; (at = strpbrk(at, "<>&")) != NULL;)
        *at = ' ';
}

static ff_status write_cell(const ff_scenario *scenario, const ff_plan *plan, const ff_address *address,
                            int i, const char *folder, int *files, char *message, size_t size) {
    ff_device_settings settings = scenario->satellite[i].robot.device;
    const ff_plan_body *body = &plan->body[i];
    char title[3 * FF_NAME_SIZE];
    double carriage;
    settings.cycle = plan->cycle;
    settings.tool = body->arm.config.tool;
    settings.rail = body->arm.config.rail.rule != FF_ARM_RAIL_NONE;
    ff_rsi_cell cell = {
        .settings = &settings,
        .address = scenario->satellite[i].robot.address,
        .port = ntohs(address->robot_at.sin_port),
        .title = title,
        .rail = settings.rail ? 1e3 * (body->arm.config.rail.upper - body->arm.config.rail.lower) : 0.0};
    title_of(scenario, i, title, sizeof title);
    ff_arm_to_kuka(&body->home, cell.axes, &carriage);
    char *text = malloc(TEXT_MAX);
    ff_status status =
        text ? FF_OK : ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the controller's files");
    const char *name;
    for (int n = 0; status == FF_OK; n++) {
        const size_t length = ff_rsi_file(&cell, n, &name, text, TEXT_MAX);
        if (!length)
            break;
        status = length < TEXT_MAX ? write_one(folder, name, text, message, size)
                                   : ff_refuse(FF_ERR_SIZE, message, size, "%s is too long", name);
        ++*files;
    }
    free(text);
    return status;
}

ff_status ff_facility_files(const ff_scenario *scenario, const ff_ports *ports, const char *folder,
                            char *message, size_t size) {
    ff_plan *plan = calloc(1, sizeof *plan);
    ff_addresses address;
    if (!plan)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the controller's files");
    int robots = 0, files = 0;
    for (int i = 0; i < scenario->satellites; i++) {
        const int n = (int)scenario->satellite[i].robot.kind - (int)FF_ROBOT_DEVICE;
        robots += n >= 0 && ff_device_of(FF_DEVICE_ROBOT, n) == &ff_device_rsi;
    }
    ff_status status =
        robots ? ff_plan_create(scenario, plan, message, size)
               : ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                           "the scenario names no robot of kind kuka-rsi, whose controller needs files");
    if (status == FF_OK)
        status = ff_addresses_find(scenario, ports, &address, message, size);
    for (int i = 0; i < scenario->satellites && status == FF_OK; i++) {
        char below[FF_FILE_PATH];
        if (address.body[i].robot != &ff_device_rsi || scenario->satellite[i].robot.kind < FF_ROBOT_DEVICE)
            continue;
        ff_append(below, sizeof below, 0, "%s%s%s", folder, robots > 1 ? "/" : "",
                  robots > 1 ? scenario->satellite[i].name : "");
        status = write_cell(scenario, plan, &address.body[i], i, below, &files, message, size);
    }
    free(plan);
    if (status == FF_OK)
        snprintf(message, size, "%d files of %d controller%s", files, robots, robots > 1 ? "s" : "");
    return status;
}
