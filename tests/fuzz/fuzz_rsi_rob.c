/* Any datagram to the PC's side: a status, finite values, and what was read can be written and read again. */
#include "devices/rsi/rsi.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    ff_rsi_rob rob, again;
    char text[FF_RSI_SEND_MAX];
    size_t used;
    if (ff_rsi_rob_decode((const char *)bytes, size, &rob) == FF_OK) {
        const double *const sets[] = {rob.rist, rob.rsol, rob.aipos, rob.aspos, rob.eipos};
        for (int k = 0; k < 5; k++)
            for (int i = 0; i < 6; i++)
                FUZZ_CHECK(isfinite(sets[k][i]));
        if (ff_rsi_rob_encode(&rob, 6, text, sizeof text, &used) == FF_OK) {
            FUZZ_CHECK(ff_rsi_rob_decode(text, used, &again) == FF_OK);
            FUZZ_CHECK(again.ipoc == rob.ipoc && again.fields == rob.fields);
        }
    }
    ff_rsi_client_config config = ff_rsi_client_config_default();
    config.channel = size % 2 ? FF_RSI_BY_AXES : FF_RSI_BY_CARTESIAN;
    static ff_rsi_client_state state; /* its ring is large; reset by hand */
    ff_rsi_client_reset(&state);
    for (size_t from = 0, datagrams = 0; from < size && datagrams < 16;
         datagrams++) { /* several datagrams, parted by a zero byte */
        const uint8_t *stop = memchr(bytes + from, 0, size - from);
        const size_t n = stop ? (size_t)(stop - (bytes + from)) : size - from;
        if (ff_rsi_client_receive(&config, &state, (const char *)bytes + from, n, &rob) >= 0) {
            const ff_status status = ff_rsi_client_answer(&config, &state, NULL, text, sizeof text, &used);
            FUZZ_CHECK(status == FF_OK || status == FF_ERR_ARGUMENT);
        }
        from += n + 1;
    }
    return 0;
}
