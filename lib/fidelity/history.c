/* The bounded past of the loop, for methods that look back: a ring of the newest rows in the state itself. */
#include "freefloat/fidelity.h"

void ff_history_reset(ff_history *history) {
    history->count = 0; /* rows are written before they are read */
}

ff_history_row *ff_history_push(ff_history *history) {
    return &history->row[history->count++ % FF_HISTORY_ROWS];
}

ff_history_row *ff_history_at(ff_history *history, uint64_t n) {
    if (n >= history->count || n + FF_HISTORY_ROWS < history->count)
        return NULL;
    return &history->row[n % FF_HISTORY_ROWS];
}
