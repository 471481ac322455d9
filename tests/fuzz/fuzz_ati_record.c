/* Any datagram to both sides of RDT. */
#include "devices/ati/ati.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    ff_ati_record records[FF_ATI_BUFFERED_MAX], record;
    uint8_t out[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE];
    size_t n = 0, used;
    if (ff_ati_records_decode(bytes, size, records, FF_ATI_BUFFERED_MAX, &n) == FF_OK)
        for (size_t k = 0; k < n; k++) {
            char text[64];
            FUZZ_CHECK(ff_ati_record_encode(&records[k], out, sizeof out) == FF_OK);
            FUZZ_CHECK(memcmp(out, bytes + k * FF_ATI_RECORD_SIZE, FF_ATI_RECORD_SIZE) == 0);
            ff_ati_status_text(records[k].status, text, sizeof text);
            FUZZ_CHECK(strlen(text) < sizeof text);
        }
    const ff_ati_client_config config = ff_ati_client_config_default();
    ff_ati_client_state client;
    ff_ati_client_reset(&client);
    ff_ati_client_start(&client);
    ff_ati_client_poll(&config, &client, 0, out, sizeof out, &used);
    ff_ati_client_receive(&config, &client, 0, bytes, size, &record);
    ff_ati_client_receive(&config, &client, 0, bytes, size, &record);
    ff_ati_server_state server;
    ff_ati_server_reset(&server);
    const ff_ati_peer peer = {{127, 0, 0, 1}, 1};
    for (size_t from = 0; from < size; from += 8) {
        ff_ati_request request, again;
        const size_t left = size - from, whole = left < 8 ? left : 8;
        if (ff_ati_request_decode(bytes + from, left, &request) == FF_OK) {
            FUZZ_CHECK(ff_ati_request_encode(&request, out, sizeof out, &used) == FF_OK);
            FUZZ_CHECK(ff_ati_request_decode(out, used, &again) == FF_OK && again.count == request.count);
        }
        ff_ati_server_receive(&server, peer, bytes + from, whole);
        const int32_t counts[6] = {INT32_MAX, INT32_MIN, 1, -1, 0, (int32_t)size};
        FUZZ_CHECK(ff_ati_server_sample(&(ff_ati_server_config){.buffer = 3, .axia = size % 2}, &server, 0,
                                        counts, out, sizeof out, &used) >= 0);
        FUZZ_CHECK(used <= sizeof out);
    }
    return 0;
}
