/* Any byte stream to the RTDE reader: recipes, data and texts, and what is read is written back alike. */
#include "devices/rtde/rtde.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static double values[6 * FF_RTDE_FIELDS_MAX];
    static uint8_t out[65536];
    ff_rtde_recipe recipe = {0};
    bool known = false;
    for (size_t from = 0; from < size;) {
        ff_rtde_packet packet;
        size_t taken, used, bad;
        if (ff_rtde_decode(bytes + from, size - from, &packet, &taken) != FF_OK)
            break;
        FUZZ_CHECK(taken >= 3 && taken <= size - from);
        ff_rtde_message message;
        ff_rtde_message_decode(&packet, &message);
        ff_rtde_accepted(&packet);
        known |= ff_rtde_recipe_decode(&packet, &recipe, &bad) == FF_OK;
        if (known &&
            ff_rtde_data_decode(&recipe, &packet, values, sizeof values / sizeof values[0]) == FF_OK) {
            const ff_status status = ff_rtde_data_encode(&recipe, values, out, sizeof out, &used);
            /* a BOOL above 1 or a UINT64 that rounds up to 2^64 cannot be written */
            FUZZ_CHECK(status == FF_OK ? used == taken : status == FF_ERR_ARGUMENT);
        }
        from += taken;
    }
    return 0;
}
