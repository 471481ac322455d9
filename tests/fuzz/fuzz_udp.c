/* Any description of a record, and any datagram behind it. */
#include "devices/udp/udp.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    enum { HEAD = 32 };
    if (size < HEAD)
        return 0;
    ff_device_settings s = {.size = bytes[0] + 256u * (bytes[1] % 5u),
                            .number = bytes[2] % 4,
                            .little = bytes[3] & 1,
                            .polled = bytes[3] & 2,
                            .force_at = {{bytes[4], bytes[5], bytes[6]}},
                            .torque_at = {{bytes[7], bytes[8], bytes[9]}},
                            .force_scale = 0.25,
                            .torque_scale = 0.5,
                            .force_unit = "N",
                            .torque_unit = "Nm",
                            .counter = bytes[10] & 1 ? (double)bytes[11] : FF_INF,
                            .counter_bytes = bytes[12] % 6,
                            .status = bytes[10] & 2 ? (double)bytes[13] : FF_INF,
                            .status_bytes = bytes[14] % 6,
                            .listen = bytes[3] & 4};
    memcpy(s.mark, bytes + 15, 5);
    memcpy(s.request, bytes + 20, 6);
    memcpy(s.farewell, bytes + 26, 6);
    ff_udp_layout layout;
    ff_udp_record record, again;
    uint8_t out[FF_UDP_SIZE_MAX], state[1024];
    if (ff_udp_layout_of(&s, &layout))
        return 0;
    bytes += HEAD;
    size -= HEAD;
    if (ff_udp_decode(&layout, bytes, size, &record) == FF_OK) {
        FUZZ_CHECK(ff_udp_encode(&layout, &record, out) >= FF_OK);
        FUZZ_CHECK(ff_udp_decode(&layout, out, layout.size, &again) == FF_OK || layout.counter_bytes ||
                   layout.status_bytes);
    }
    ff_device_sample sample;
    size_t used;
    FUZZ_CHECK(ff_device_udp.bytes <= sizeof state);
    ff_device_udp.open(state, &s);
    for (size_t n = 0; n + layout.size <= size && n < 16 * layout.size; n += layout.size) {
        ff_device_udp.sample(state, (double)n, bytes + n, layout.size, &sample);
        ff_device_udp.answer(state, (double)n, NULL, out, sizeof out, &used);
        FUZZ_CHECK(used <= sizeof out);
    }
    ff_device_udp.sample(state, 0.0, bytes, size, &sample);
    return 0;
}
