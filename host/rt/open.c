#include "rt/internal.h"

#include <stdio.h>
#include <stdlib.h>

/* What the sensor says of itself. */
static ff_status read_page(ff_executive *e, int i, char *message, size_t size) {
    const ff_device *device = e->body[i].sensor_device;
    if (!device->page)
        return FF_OK;
    char *page = malloc(FF_DEVICE_PAGE_MAX + 1024);
    size_t used = 0;
    ff_status status = page ? FF_OK : FF_ERR_MEMORY;
    /* the facility may be starting at this moment */
    const int64_t give_up =
        ff_clock_now() + (int64_t)(1e9 * (e->options->wait > 0.0 ? e->options->wait : 10.0));
    for (; !status;) {
        status = ff_http_get(&e->plan.body[i].page_at, device->page, 1.0, page, FF_DEVICE_PAGE_MAX, &used,
                             message, size);
        if (status != FF_ERR_DEVICE || ff_clock_now() > give_up || atomic_load(e->options->stop))
            break;
        status = FF_OK;
        ff_clock_sleep_until(ff_clock_now() + 50000000);
    }
    if (!status) {
        message[0] = 0;
        status = device->configure(e->body[i].sensor, page, used);
        if (status != FF_OK)
            snprintf(message, size, "the sensor's page: %s", ff_status_text(status));
    }
    free(page);
    return status;
}

/* A sensor's range is the smaller of the scenario's and its own. */
static ff_status take_range(ff_executive *e, int i, char *message, size_t size) {
    ff_device_range range;
    ff_loop_calibration c;
    e->body[i].sensor_device->range(e->body[i].sensor, &range);
    ff_loop_calibrated(e->model, &c);
    c.sensor[i].force_limit = fmin(c.sensor[i].force_limit, range.force);
    c.sensor[i].torque_limit = fmin(c.sensor[i].torque_limit, range.torque);
    const ff_status status = ff_loop_calibrate(e->model, &c);
    if (status != FF_OK)
        snprintf(message, size, "the sensor's page: its range is not positive");
    return status;
}

static ff_status open_body(ff_executive *e, int i, char *message, size_t size) {
    ff_rt_body *b = &e->body[i];
    const ff_plan_body *plan = &e->plan.body[i];
    b->robot_device = plan->robot;
    b->sensor_device = plan->sensor;
    b->robot = calloc(1, plan->robot->bytes);
    b->sensor = calloc(1, plan->sensor->bytes);
    if (!b->robot || !b->sensor) {
        snprintf(message, size, "no memory for the devices");
        return FF_ERR_MEMORY;
    }
    ff_status status = ff_socket_open(&plan->robot_at, &b->robot_fd, NULL, message, size);
    if (status != FF_OK)
        return status;
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (ff_socket_is_loopback(&plan->sensor_at))
        any.sin_addr = plan->sensor_at.sin_addr;
    status = ff_socket_open(&any, &b->sensor_fd, NULL, message, size);
    if (status != FF_OK)
        return status;
    const double cycles = ceil(plan->delay / e->plan.cycle);
    b->window = (unsigned)fmin(FF_RT_TRACK, cycles + 50.0);
    const ff_device_settings settings = {.cartesian = plan->cartesian,
                                         .increments = plan->increments,
                                         .rail = plan->arm.config.rail.rule != FF_ARM_RAIL_NONE,
                                         .window = (unsigned)fmin(FF_RT_TRACK, cycles + 50.0)};
    ff_device_range range;
    plan->robot->open(b->robot, &settings);
    plan->robot->range(b->robot, &range);
    b->turn = range.turn;
    plan->sensor->open(b->sensor, &settings);
    ff_axes_reset(&b->axes, &plan->home);
    b->T_ba = ff_pose_identity();
    b->command = ff_plan_runup(&e->plan, i, -FF_INF);
    status = read_page(e, i, message, size);
    return status == FF_OK ? take_range(e, i, message, size) : status;
}

ff_status ff__rt_open_all(ff_executive *e, char *message, size_t size) {
    const ff_scenario *scenario = e->scenario;
    ff_status status = ff_plan_create(scenario, &e->options->ports, &e->plan, message, size);
    if (status != FF_OK)
        return status;
    if (!e->plan.virtual && !e->options->confirm) {
        snprintf(message, size, "real devices are armed by the operator at the console, after the check");
        return FF_ERR_ARGUMENT;
    }
    ff_scenario_loop(scenario, &e->loop_config);
    if ((status = ff_loop_memory_open(&e->loop_config, &e->loop, message, size)) != FF_OK)
        return status;
    e->model = e->loop.model;
    e->state = e->loop.state;
    ff_loop_reset(e->model, e->state, e->loop.state_bytes, &e->result->run.info, &e->out);
    /* a method that predicts issues its commands ahead of the motion: so does the run-up, and begins earlier
     */
    double most = 0.0;
    for (int i = 0; i < e->plan.bodies; i++) {
        e->lead[i] = fmax(0.0, ff_loop_lead(e->model, e->state, i));
        most = fmax(most, e->lead[i]);
    }
    if (e->plan.runup)
        e->plan.runup += (uint64_t)ceil(most / e->plan.cycle);
    ff_safety_configure(scenario, NULL, &e->safety_config);
    ff__rt_bound(e);
    ff_walk_reset(&e->walk, FF_STATE_OFF);
    if ((status = ff_touch_create(&e->touch, scenario, message, size)) != FF_OK)
        return status;
    /* two seconds and more: the recorder may be held up by its disk */
    const size_t slots = (size_t)fmax(1024.0, ceil(2.5 / e->plan.cycle));
    e->last_capacity = (size_t)fmax(16.0, ceil(2.0 / e->plan.cycle));
    e->last = calloc(e->last_capacity, sizeof *e->last);
    if (!e->last || ff_ring_create(&e->rows, sizeof(ff_row), slots) != FF_OK ||
        ff_tuning_create(&e->tuning, scenario, true) != FF_OK ||
        ff_ring_create(&e->notes, sizeof(ff_rt_note), 64) != FF_OK) {
        snprintf(message, size, "no memory for the recorder's ring");
        return FF_ERR_MEMORY;
    }
    for (int i = 0; i < e->plan.bodies && !status; i++) {
        ff_rt_body *b = &e->body[i];
        ff_trial_plan(scenario, &e->plan, i, &b->trial);
        e->trial_end = fmax(e->trial_end, b->trial.end);
        if (b->trial.end > 0.0) {
            b->sample_capacity = (size_t)(b->trial.end / e->plan.cycle) + 2;
            b->sample = calloc(b->sample_capacity, sizeof *b->sample);
            if (!b->sample) {
                snprintf(message, size, "no memory for the tests");
                return FF_ERR_MEMORY;
            }
        }
        status = open_body(e, i, message, size);
    }
    if (!status)
        status = ff_telemetry_start(&e->telemetry, &e->options->viewer, &e->tuning, &e->touch, e->run->ideal);
    return status;
}
