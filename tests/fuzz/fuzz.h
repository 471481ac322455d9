/* What every target needs: a check that stops the fuzzer, in release builds too. */
#ifndef FF_FUZZ_H
#define FF_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define FUZZ_CHECK(condition) \
    do {                      \
        if (!(condition))     \
            abort();          \
    } while (0)

/* The bytes as a file of this name in a folder of this process; its path. */
static inline const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size) {
    static char folder[] = "/tmp/ff-fuzz-XXXXXX", path[64];
    static int made;
    if (!made)
        FUZZ_CHECK(mkdtemp(folder));
    made = 1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    FUZZ_CHECK(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
    return path;
}

#endif
