/* libFuzzer: any bytes as a scenario; the first line, after '#', may hold a --set. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ff_scenario scenario;
    char message[512], warnings[512], set[256] = "";
    const char *const sets[] = {set};
    const uint8_t *end = size > 1 && data[0] == '#' ? memchr(data, '\n', size) : NULL;
    if (end && (size_t)(end - data) < sizeof set)
        memcpy(set, data + 1, (size_t)(end - data) - 1);
    const ff_scenario_options options = {.set = sets, .sets = set[0] ? 1 : 0};
    const ff_status status = ff_scenario_parse("F", (const char *)data, size, &options, &scenario, message,
                                               sizeof message, warnings, sizeof warnings);
    if (strchr(message, '\n') || (status == FF_OK) != (message[0] == 0))
        abort();
    if (status == FF_OK && !scenario.emulates) { /* an emulation has no satellite's loop */
        ff_loop_config loop;
        ff_loop_memory memory;
        ff_scenario_loop(&scenario, &loop);
        if (scenario.method && ff_loop_memory_open(&loop, NULL, &memory, message, sizeof message) != FF_OK)
            abort();
        if (scenario.method)
            ff_loop_memory_close(&memory);
    }
    return 0;
}
