#include "operator/telemetry.h"

#include <stdlib.h>

#include "operator/rights.h"
#include "text/clock.h"

enum {
    SAMPLES = 256,    /* in the ring */
    NAP_NS = 4000000, /* between two looks: shorter than a frame of the page */
    WAITING = 16
};

static void show(ff_telemetry *t, ff_telemetry_sample *sample) {
    ff_row *row = &sample->row;
    for (int i = 0; i < t->touch.scenario->satellites; i++) {
        t->touch.threshold[i] = atomic_load_explicit(&t->threshold[i], memory_order_relaxed);
        row->body[i].ideal = ff_row_no_reference();
        if (t->ideal && row->t >= 0.0 && row->k < t->ideal->samples)
            row->body[i].ideal = t->ideal->state[row->k * (uint64_t)t->ideal->bodies + (uint64_t)i];
    }
    ff_touch_find(&t->touch, row);
    t->viewer.sample(t->viewer.self, sample);
}

static void bring(ff_telemetry *t, const ff_order_answer *answer) {
    char text[160];
    ff_tuning_text(t->tuning, answer, text, sizeof text);
    if (t->viewer.answer)
        t->viewer.answer(t->viewer.self, answer, text);
}

static void *watch(void *self) {
    ff_telemetry *t = self;
    ff_rights_stand_aside(t->loop_cpu, NULL);
    for (bool last = false;;) {
        const bool ends = atomic_load_explicit(&t->stop, memory_order_acquire);
        ff_order order;
        ff_order_answer answer;
        while (t->shown && ff_ring_pop(&t->samples, t->shown))
            show(t, t->shown);
        while (ff_tuning_answer(t->tuning, &answer))
            bring(t, &answer);
        for (int n = 0; n < WAITING && t->viewer.next && t->viewer.next(t->viewer.self, &order); n++) {
            answer = (ff_order_answer){.order = order, .done = ends && order.verb == FF_ORDER_STOP};
            answer.text = ends ? "the run has ended" : "refused: too many orders wait for the loop";
            if (ends || !ff_tuning_ask(t->tuning, &order))
                bring(t, &answer);
        }
        if (last)
            break;
        last = ends; /* once more, for what came meanwhile */
        if (!last)
            ff_clock_sleep_until(ff_clock_now() + NAP_NS);
    }
    /* orders that the loop did not take any more */
    ff_order order;
    while (ff_ring_pop(&t->tuning->orders, &order))
        bring(t, &(ff_order_answer){
                     .order = order, .done = order.verb == FF_ORDER_STOP, .text = "the run has ended"});
    return NULL;
}

ff_status ff_telemetry_start(ff_telemetry *t, const ff_viewer *viewer, int loop_cpu, ff_tuning *tuning,
                             const ff_touch *touch, const ff_ideal_result *ideal) {
    *t = (ff_telemetry){
        .viewer = *viewer, .loop_cpu = loop_cpu, .tuning = tuning, .ideal = ideal, .touch = *touch};
    if (!viewer->sample && !viewer->next)
        return FF_OK;
    if (viewer->sample) {
        t->out = calloc(1, sizeof *t->out);
        t->shown = calloc(1, sizeof *t->shown);
        if (!t->out || !t->shown ||
            ff_ring_create(&t->samples, sizeof(ff_telemetry_sample), SAMPLES) != FF_OK)
            return FF_ERR_MEMORY;
    }
    if (pthread_create(&t->thread, NULL, watch, t) != 0)
        return FF_ERR_MEMORY;
    t->running = true;
    return FF_OK;
}

void ff_telemetry_push(ff_telemetry *t, const ff_telemetry_sample *sample) {
    if (t->running && t->out)
        ff_ring_push(&t->samples, sample);
}

void ff_telemetry_stop(ff_telemetry *t) {
    if (t->running) {
        atomic_store_explicit(&t->stop, true, memory_order_release);
        pthread_join(t->thread, NULL);
        t->running = false;
    }
    ff_ring_free(&t->samples);
    free(t->out);
    free(t->shown);
    t->out = t->shown = NULL;
}
