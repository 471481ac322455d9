/* Any bytes as a URDF file: rows that are finite, or one line that says why not. */
#include "scenario/urdf.h"

#include <math.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ff_urdf urdf, chain;
    ff_pose tip;
    char message[512] = "";
    char *text = malloc(size + 1);
    memcpy(text, bytes, size);
    text[size] = 0;
    const ff_status status = ff_urdf_parse("F", text, size, false, &urdf, message, sizeof message);
    free(text);
    FUZZ_CHECK((status == FF_OK) == (message[0] == 0) && !strchr(message, '\n'));
    FUZZ_CHECK(!strstr(message, "the module")); /* else nothing is tried at all */
    if (status != FF_OK)
        return 0;
    FUZZ_CHECK(urdf.links >= 0 && urdf.links <= FF_URDF_LINKS && urdf.joints <= urdf.links);
    if (ff_urdf_chain("F", &urdf, &chain, &tip, message, sizeof message) == FF_OK)
        FUZZ_CHECK(isfinite(tip.p.x) && isfinite(chain.root_mass) && chain.links <= urdf.links);
    return 0;
}
