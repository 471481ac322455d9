/* Any packet to or from on-board software: what is taken is finite and is written again byte for byte. */
#include "devices/ccsds/onboard.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    for (int pus = 0; pus < 2; pus++)
        for (uint32_t joints = 0; joints < 9; joints += 7) {
            uint8_t again[FF_OBSW_PACKET_MAX + 64];
            size_t used;
            ff_obsw_wire wire;
            ff_obsw_frame frame;
            ff_obsw_out out;
            ff_obsw_in in;
            ff_obsw_wire_default(&wire);
            wire.pus = pus;
            if (ff_obsw_command_decode(&wire, joints, bytes, size, &frame, &out) == FF_OBSW_TAKEN) {
                FUZZ_CHECK(ff_obsw_out_finite(&out, joints));
                FUZZ_CHECK(ff_obsw_command_encode(&wire, &frame, &out, again, sizeof again, &used) == FF_OK);
                FUZZ_CHECK(used == size);
            }
            if (ff_obsw_sensors_decode(&wire, bytes, size, &frame, &in) == FF_OBSW_TAKEN)
                FUZZ_CHECK(frame.joints <= FF_OBSW_JOINTS);
        }
    return 0;
}
