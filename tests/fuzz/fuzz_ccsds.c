/* Any packet: what is taken is written again byte for byte (its spare bits apart). */
#include "devices/ccsds/ccsds.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static uint8_t out[FF_CCSDS_PACKET_MAX];
    size_t used;
    ff_ccsds_primary primary;
    ff_ccsds_cfs_command cc;
    ff_ccsds_cfs_telemetry ct;
    ff_ccsds_pus_command pc;
    ff_ccsds_pus_telemetry pt;
    if (ff_ccsds_primary_decode(bytes, size, &primary) == FF_OK) {
        FUZZ_CHECK(ff_ccsds_primary_encode(&primary, out, sizeof out) == FF_OK);
        FUZZ_CHECK(memcmp(out, bytes, FF_CCSDS_PRIMARY_SIZE) == 0);
    }
    if (ff_ccsds_cfs_command_decode(bytes, size, &cc) == FF_OK)
        FUZZ_CHECK(ff_ccsds_cfs_command_encode(&cc, out, sizeof out, &used) == FF_OK && used == size);
    if (ff_ccsds_cfs_telemetry_decode(bytes, size, &ct) == FF_OK)
        FUZZ_CHECK(ff_ccsds_cfs_telemetry_encode(&ct, out, sizeof out, &used) == FF_OK && used == size);
    if (ff_ccsds_pus_command_decode(bytes, size, &pc) == FF_OK)
        FUZZ_CHECK(ff_ccsds_pus_command_encode(&pc, out, sizeof out, &used) == FF_OK &&
                   memcmp(out, bytes, size) == 0);
    if (ff_ccsds_pus_telemetry_decode(bytes, size, &pt) == FF_OK)
        FUZZ_CHECK(ff_ccsds_pus_telemetry_encode(&pt, out, sizeof out, &used) == FF_OK &&
                   memcmp(out, bytes, size) == 0);
    return 0;
}
