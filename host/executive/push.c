/* The hand-push test: does the sensor feel what the operator does, along the right axis? */
#include "executive/check.h"

#include <stdio.h>
#include <string.h>

enum { RELEASED = 10 /* [cycles] below half of the threshold end a push */ };

static const char *const push_text[6] = {"push +x", "push +y", "push +z", "twist +x", "twist +y", "twist +z"};

const char *ff_push_text(int axis) {
    return axis >= 0 && axis < 6 ? push_text[axis] : "";
}

int ff_push_asked(const char *text) {
    for (int axis = 0; axis < 6; axis++)
        if (strcmp(text, push_text[axis]) == 0)
            return axis;
    return -1;
}

/* A hand presses with some ten newtons; a sensor of small range gets less. */
double ff_push_threshold(int axis, double noise, double range) {
    return fmin(fmax(axis < 3 ? 2.0 : 0.2, 10.0 * noise), 0.2 * range);
}

bool ff_push_virtual(int axis, double t, double noise, double range, ff_wrench *push_b) {
    const double begin = 0.02, length = 0.12;
    *push_b = ff_wrench_zero();
    if (t > begin + length)
        return false;
    if (t < begin)
        return true;
    const double size =
        fmin(fmax(axis < 3 ? 10.0 : 1.0, 40.0 * noise), 0.5 * range) * sin(FF_PI * (t - begin) / length);
    ff_vec3 along = ff_vec3_zero();
    along.a[axis % 3] = size;
    along.a[(axis + 1) % 3] = -0.15 * size;
    along.a[(axis + 2) % 3] = 0.2 * size;
    *(axis < 3 ? &push_b->f : &push_b->t) = along;
    return true;
}

void ff_push_start(ff_push_state *state, int axis) {
    *state = (ff_push_state){.axis = axis};
}

bool ff_push_step(ff_push_state *state, double threshold, double wait, double cycle, ff_wrench f_b,
                  ff_check_push *push) {
    const ff_vec3 v = state->axis < 3 ? f_b.f : f_b.t;
    const double size = ff_vec3_norm(v);
    state->waited += cycle;
    if (!state->pushed && state->waited > wait) {
        *push = (ff_check_push){.done = true, .seen = -1, .part = FF_INF};
        return true;
    }
    if (size > threshold)
        state->pushed = true;
    if (!state->pushed)
        return false;
    if (size > 0.5 * threshold) {
        state->sum = ff_vec3_add(state->sum, v);
        state->count++;
        state->released = 0;
        return false;
    }
    if (++state->released < RELEASED)
        return false;
    *push = (ff_check_push){.done = true, .sample = ff_vec3_scale(1.0 / state->count, state->sum)};
    return true;
}

void ff_push_judge(int axis, ff_check_push *push, char *reason, size_t size) {
    const char *kind = axis < 3 ? "pushed towards" : "twisted about", *unit = axis < 3 ? "N" : "N m";
    const char name = (char)('x' + axis % 3);
    push->right = false;
    if (push->seen < 0) {
        push->part = FF_INF;
        snprintf(reason, size, "%s +%c: the sensor saw nothing", kind, name);
        return;
    }
    int most = 0;
    double other = 0.0;
    for (int a = 0; a < 3; a++) {
        if (fabs(push->sample.a[a]) > fabs(push->sample.a[most]))
            most = a;
        if (a != axis % 3)
            other = fmax(other, fabs(push->sample.a[a]));
    }
    const double asked = push->sample.a[axis % 3];
    push->seen = most + (axis < 3 ? 0 : 3);
    push->negative = push->sample.a[most] < 0.0;
    push->part = asked > 0.0 ? other / asked : FF_INF;
    push->right = push->part <= 0.5;
    if (push->right)
        snprintf(reason, size, "%s +%c: the sensor agrees", kind, name);
    else
        snprintf(reason, size,
                 "%s +%c: the sensor says %s%c%c (%.3g, %.3g, %.3g %s): wrong mounting, wiring or sign", kind,
                 name, most == axis % 3 && !push->negative ? "no clear " : "", push->negative ? '-' : '+',
                 'x' + most, push->sample.x, push->sample.y, push->sample.z, unit);
}
