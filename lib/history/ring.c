/* The newest rows: a ring that may be moved, and the past of several bodies in it. */
#include "history/history.h"

int ff__ring_bits(double rows, int least, int most) {
    int bits = least;
    while (bits < most && (double)(UINT64_C(1) << bits) < rows)
        bits++;
    return bits;
}

size_t ff__ring_bytes(int bits, int series, size_t row) {
    return ((size_t)series << bits) * row;
}

void ff__ring_place(ff__ring *ring, int bits, size_t row, void *rows) {
    *ring = (ff__ring){.at = (char *)rows - (char *)ring,
                       .bytes = (uint32_t)row,
                       .mask = (UINT64_C(1) << bits) - 1,
                       .bits = bits};
}

void ff__history_reset(ff__history *history, int bits, int bodies, size_t row, void *rows) {
    *history = (ff__history){.bodies = bodies};
    ff__ring_place(&history->ring, bits, row, rows);
    for (int i = 0; i < bodies; i++)
        ff__history_at(history, i, 0)->limit = 0.0;
}

ff_status ff__history_push(ff__history *history, const ff_rigid_state *body, const ff_rigid_load *load) {
    for (int i = 0; i < history->bodies; i++)
        if (!ff_rigid_finite(&body[i]) || !ff_vec3_finite(load[i].force) || !ff_vec3_finite(load[i].torque))
            return FF_ERR_NOT_FINITE;
    for (int i = 0; i < history->bodies; i++) {
        ff__past *row = ff__history_at(history, i, history->count);
        row->body = body[i];
        row->load = load[i];
    }
    history->count++;
    return FF_OK;
}
