/* Any configuration page: a page that is taken has a usable scale. */
#include "devices/ati/ati.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    ff_ati_page page;
    if (ff_ati_page_decode((const char *)bytes, size, &page) == FF_OK) {
        ff_ati_scale scale;
        FUZZ_CHECK(ff_ati_page_scale(&page, &scale) == FF_OK);
        FUZZ_CHECK(scale.force > 0 && scale.torque > 0);
        char text[4096];
        size_t used;
        if (ff_ati_page_encode(&page, text, sizeof text, &used) == FF_OK) {
            ff_ati_page again;
            const ff_status status = ff_ati_page_decode(text, used, &again);
            /* nine decimals: a scale below half of the last becomes zero and is refused */
            FUZZ_CHECK(status == FF_OK || status == FF_ERR_ARGUMENT);
        }
    }
    char back[256];
    ff_xml_unescape((ff_span){(const char *)bytes, size}, back, sizeof back);
    return 0;
}
