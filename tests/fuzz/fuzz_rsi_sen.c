/* Any answer to the controller's side: corrections stay finite and within the clip. */
#include "devices/rsi/rsi.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const ff_rsi_controller_config config =
        ff_rsi_controller_config_default(size % 2 ? FF_RSI_RELATIVE : FF_RSI_ABSOLUTE);
    ff_rsi_sen sen, again;
    char text[FF_RSI_SEND_MAX];
    size_t used;
    if (ff_rsi_sen_decode(&config.names, (const char *)bytes, size, &sen) == FF_OK &&
        ff_rsi_sen_encode(&config.names, &sen, 6, text, sizeof text, &used) == FF_OK) {
        const ff_status status = ff_rsi_sen_decode(&config.names, text, used, &again);
        FUZZ_CHECK(status == FF_OK && again.ipoc == sen.ipoc && again.tags == sen.tags);
    }
    ff_rsi_controller_state state;
    ff_rsi_controller_reset(&config, &state);
    ff_rsi_rob rob = {0};
    for (size_t from = 0, datagrams = 0; from < size && datagrams < 16; datagrams++) {
        const uint8_t *stop = memchr(bytes + from, 0, size - from);
        const size_t n = stop ? (size_t)(stop - (bytes + from)) : size - from;
        if (ff_rsi_controller_send(&config, &state, &rob, text, sizeof text, &used) != FF_OK)
            break;
        state.ipoc = 4208163; /* that of the corpus, so that answers are taken */
        ff_rsi_controller_receive(&config, &state, (const char *)bytes + from, n);
        ff_rsi_correction c;
        ff_rsi_controller_finish(&config, &state, &c);
        FUZZ_CHECK(ff_pose_finite(c.pose));
        for (int i = 0; i < 6; i++)
            FUZZ_CHECK(fabs(c.axes[i]) <= 5.0001 * FF_PI / 180.0);
        for (int i = 0; i < 3; i++)
            FUZZ_CHECK(fabs(c.pose.p.a[i]) <= 0.0050001);
        from += n + 1;
    }
    return 0;
}
