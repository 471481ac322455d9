/* The bounded past, for recomputation: a ring of the newest rows behind the state. */
#include "fidelity/impact/impact.h"

void ff__impact_history_reset(const impact_model *model, impact_history *history) {
    /* rows are written before they are read */
    *history = (impact_history){.rows = model->rows, .bodies = (uint64_t)model->bodies};
}

static impact_past *row_at(impact_history *history, uint64_t n) {
    return (impact_past *)(history + 1) + (n & (history->rows - 1)) * history->bodies;
}

impact_past *ff__impact_history_push(impact_history *history) {
    return row_at(history, history->count++);
}

impact_past *ff__impact_history_at(impact_history *history, uint64_t n) {
    if (n >= history->count || n + history->rows < history->count)
        return NULL;
    return row_at(history, n);
}
