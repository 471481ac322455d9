/* What every target needs: a check that stops the fuzzer, in release builds too. */
#ifndef FF_FUZZ_H
#define FF_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define FUZZ_CHECK(condition) \
    do {                      \
        if (!(condition))     \
            abort();          \
    } while (0)

#endif
