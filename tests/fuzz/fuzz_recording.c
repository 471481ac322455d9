/* Any bytes as log.csv: by rows for the live page, as a table for the fits. Times go forward, every row can
 * be had. */
#include "live/recording.h"
#include "record/table.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *path = fuzz_file("log.csv", bytes, size);
    char message[5000] = "";
    ff_recording r;
    if (ff_recording_open(&r, path, message, sizeof message) == FF_OK) {
        double *values = malloc((size_t)r.columns * sizeof *values);
        for (size_t i = 0; i < r.rows; i++) {
            ff_recording_row(&r, i, values);
            FUZZ_CHECK(!i || values[0] >= ff_recording_time(&r, i - 1));
        }
        FUZZ_CHECK(!r.lost && r.rows > 0 && ff_recording_at(&r, 1e300) == r.rows - 1);
        free(values);
        ff_recording_close(&r);
    } else {
        FUZZ_CHECK(message[0]);
    }
    ff_log_table t;
    message[0] = 0;
    if (ff_log_table_read(path, &t, message, sizeof message) == FF_OK) {
        FUZZ_CHECK(t.rows >= 8 && t.bodies > 0 && t.columns > 0);
        ff_log_table_free(&t);
    } else {
        FUZZ_CHECK(message[0]);
    }
    return 0;
}
