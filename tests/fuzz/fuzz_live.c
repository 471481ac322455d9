/* Any message to the live page: a checked command, or a reason; nothing guarded without the token. */
#include "live/internal.h"
#include "text/message.h"

#include <math.h>

#include "fuzz.h"

static const char token[] = "0123456789abcdef0123456789abcdef";

/* nothing is served here */
extern const unsigned char ff_live_page[];
extern const size_t ff_live_page_size;
const unsigned char ff_live_page[1] = {0};
const size_t ff_live_page_size = 1;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ff_live live;
    if (!live.parameters) {
        live.open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_SPEED) | FF_LIVE_BIT(FF_LIVE_SEEK);
        live.guarded = FF_LIVE_BIT(FF_LIVE_SET) | FF_LIVE_BIT(FF_LIVE_ZERO);
        live.control = true;
        live.loopback = true;
        live.parameters = 1;
        live.parameter[0] = (ff_live_parameter){.name = "gain", .low = 0.5, .high = 2.0, .value = 1.0};
        memcpy(live.token, token, sizeof token);
    }
    ff_live_command command;
    char text[FF_LIVE_TEXT];
    char *copy = malloc(size ? size : 1); /* a block of its own: no byte behind it */
    memcpy(copy, bytes, size);
    if (ff_live__parse(&live, copy, size, &command, text, sizeof text)) {
        const unsigned bit = FF_LIVE_BIT(command.verb);
        FUZZ_CHECK((live.open | live.guarded) & bit);
        FUZZ_CHECK(!(live.guarded & bit) || memmem(bytes, size, token, sizeof token - 1));
        if (command.verb == FF_LIVE_SET)
            FUZZ_CHECK(command.parameter == 0 && command.value >= 0.5 && command.value <= 2.0);
        if (command.verb == FF_LIVE_SPEED || command.verb == FF_LIVE_SEEK)
            FUZZ_CHECK(isfinite(command.value));
    } else {
        FUZZ_CHECK(text[0]);
    }
    char words[300];
    const size_t n = size < sizeof words - 1 ? size : sizeof words - 1;
    memcpy(words, bytes, n);
    words[n] = 0;
    ff_flatten(words);
    FUZZ_CHECK(ff_shown_text(words));
    free(copy);
    return 0;
}
