/* Any bytes as a scenario with its files: parts begin with a line "=== NAME", the first is the scenario. The
 * first line, after '#', may hold --sets, parted by ';'; "#all" asks for every mistake. A scenario, or one
 * line that says why not. */
#include "scenario/scenario.h"

#include "fuzz.h"

typedef struct parts {
    const char *text;
    size_t size;
} parts;

/* The part of that name. */
static bool find_part(void *self, const char *name, const char **text, size_t *length) {
    const parts *p = self;
    char mark[256];
    const int n = snprintf(mark, sizeof mark, "\n=== %s\n", name);
    const char *at = n < (int)sizeof mark ? memmem(p->text, p->size, mark, (size_t)n) : NULL;
    if (!at)
        return false;
    *text = at + n;
    const size_t left = p->size - (size_t)(*text - p->text);
    const char *end = memmem(*text, left, "\n=== ", 5);
    *length = end ? (size_t)(end - *text) : left;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ff_scenario scenario;
    char message[8192], warnings[512], set[256] = "";
    const char *sets[8];
    int count = 0;
    parts all = {(const char *)data, size};
    const uint8_t *end = size > 1 && data[0] == '#' ? memchr(data, '\n', size) : NULL;
    if (end && (size_t)(end - data) < sizeof set)
        memcpy(set, data + 1, (size_t)(end - data) - 1);
    const bool every = strcmp(set, "all") == 0;
    for (char *rest, *w = every ? NULL : strtok_r(set, ";", &rest); w && count < 8;
         w = strtok_r(NULL, ";", &rest))
        sets[count++] = w;
    const char *mark = memmem(data, size, "\n=== ", 5);
    const size_t length = mark ? (size_t)(mark - (const char *)data) + 1 : size;
    const ff_scenario_options options = {
        .set = sets, .sets = count, .all = every, .file = find_part, .file_self = &all};
    const ff_status status = ff_scenario_parse("F", (const char *)data, length, &options, &scenario, message,
                                               sizeof message, warnings, sizeof warnings);
    FUZZ_CHECK((status == FF_OK) == (message[0] == 0) && (every || !strchr(message, '\n')));
    bool plain =
        status == FF_OK && !scenario.emulates; /* an emulation has no satellite's loop, an arm its own */
    for (int i = 0; i < scenario.satellites; i++)
        plain = plain && !scenario.satellite[i].arm.present;
    if (plain) {
        ff_loop_config loop;
        ff_loop_memory memory;
        ff_scenario_loop(&scenario, &loop);
        FUZZ_CHECK(!scenario.method ||
                   ff_loop_memory_open(&loop, NULL, &memory, message, sizeof message) == FF_OK);
        if (scenario.method)
            ff_loop_memory_close(&memory);
    }
    return 0;
}
