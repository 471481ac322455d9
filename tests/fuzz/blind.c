/* Many inputs in little time: mutations of what libFuzzer has found, without looking at what they reach. The
 * fuzzer finds the ways into a parser, at some ten thousand inputs a second; this drives a packet parser
 * along them at some million. Linked to a target instead of libFuzzer; the input stands at the end of its
 * block, so that the sanitizer sees a read beyond it. fast_NAME (FAST) is without AddressSanitizer, some
 * times as quick: a page that may not be touched stands behind the input, undefined behaviour is a trap, the
 * stack has its guards.
 *
 *   blind_NAME SECONDS LONGEST SEED WORDS FILE...     WORDS: a dictionary of libFuzzer, or - */
#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#ifdef FAST
#include <sys/mman.h>
static uint8_t *make_block(size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    uint8_t *all = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FUZZ_CHECK(all != MAP_FAILED && mprotect(all + room, page, PROT_NONE) == 0);
    return all + room - size;
}
#define __sanitizer_set_death_callback(callback) (void)(callback)
#else
void __sanitizer_set_death_callback(void (*callback)(void));
static uint8_t *make_block(size_t size) {
    return malloc(size);
}
#endif

typedef struct text {
    uint8_t *byte;
    size_t size;
} text;

enum { TEXTS = 20000, WORDS = 400 };
static text seeds[TEXTS], words[WORDS];
static size_t seeds_count, words_count, longest;
static uint64_t state;
static uint8_t *now, *end; /* of the input */

static void keep_input(void) {
    FILE *f = fopen("blind-found", "wb");
    if (f) {
        fwrite(now, 1, (size_t)(end - now), f);
        fclose(f);
    }
}

static void on_abort(int number) {
    (void)number;
    keep_input();
    _exit(1);
}

static uint64_t next(void) { /* xorshift64* */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Du >> 16;
}

static size_t below(size_t n) { /* by a product: a division takes as long as a packet */
    return (size_t)((next() & 0xffffffffu) * (n ? n : 1) >> 32);
}

/* ---------------------------------------------------------------------------------------------- mutations --
 */

static size_t remove_part(uint8_t *b, size_t n) {
    const size_t at = below(n), part = 1 + below(n - at < 16 ? n - at : 16);
    if (at + part > n)
        return n;
    memmove(b + at, b + at + part, n - at - part);
    return n - part;
}

static size_t insert(uint8_t *b, size_t n, const uint8_t *from, size_t part) {
    const size_t at = below(n + 1);
    if (n + part > longest)
        return n;
    memmove(b + at + part, b + at, n - at);
    memmove(b + at, from, part);
    return n + part;
}

static void overwrite(uint8_t *b, size_t n, const uint8_t *from, size_t part) {
    if (part <= n)
        memcpy(b + below(n - part + 1), from, part);
}

static size_t mutate(uint8_t *b, size_t n) {
    static const uint8_t edge[] = {0x00, 0xff, 0x7f, 0x80, 0x01, 0xfe, '0',
                                   '9',  '-',  '.',  '"',  '<',  '>',  'e'};
    uint8_t number[8];
    const text *word = &words[below(words_count)], *other = &seeds[below(seeds_count)];
    const uint64_t any = next();
    switch (below(n ? 9 : 2)) {
    case 0:
        return words_count ? insert(b, n, word->byte, word->size) : n;
    case 1:
        return insert(b, n, edge + below(sizeof edge), 1);
    case 2:
        b[below(n)] ^= (uint8_t)(1u << below(8));
        return n;
    case 3:
        b[below(n)] = (uint8_t)any;
        return n;
    case 4:
        b[below(n)] = edge[below(sizeof edge)];
        return n;
    case 5:
        return remove_part(b, n);
    case 6:
        if (words_count)
            overwrite(b, n, word->byte, word->size);
        return n;
    case 7: /* a number of 16 or 32 bits near an edge or near the length */
        for (int i = 0; i < 4; i++)
            number[i] = (uint8_t)((any & 1 ? n + (any >> 2 & 7) - 4 : any) >> (24 - 8 * i));
        overwrite(b, n, any & 2 ? number : number + 2, any & 2 ? 4 : 2);
        return n;
    default: { /* the end of another */
        const size_t cut = below(n + 1), from = below(other->size + 1), part = other->size - from;
        if (cut + part > longest)
            return n;
        memcpy(b + cut, other->byte + from, part);
        return cut + part;
    }
    }
}

/* ------------------------------------------------------------------------------------------------ reading --
 */

static void add(text *list, size_t most, size_t *count, const uint8_t *byte, size_t size) {
    if (*count >= most || size > longest)
        return;
    list[*count].byte = malloc(size + 1);
    FUZZ_CHECK(list[*count].byte);
    memcpy(list[*count].byte, byte, size);
    list[(*count)++].size = size;
}

static void read_seed(const char *path) {
    static uint8_t bytes[1 << 16];
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    add(seeds, TEXTS, &seeds_count, bytes, fread(bytes, 1, sizeof bytes, f));
    fclose(f);
}

static void read_words(const char *path) {
    char line[512];
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        uint8_t word[256];
        size_t n = 0;
        const char *c = strchr(line, '"'), *last = strrchr(line, '"');
        while (*line != '#' && c && ++c < last && n < sizeof word)
            if (c[0] == '\\' && c[1] == 'x' && isxdigit((unsigned char)c[2]) &&
                isxdigit((unsigned char)c[3])) {
                const char hex[] = {c[2], c[3], 0};
                word[n++] = (uint8_t)strtoul(hex, NULL, 16);
                c += 3;
            } else {
                c += *c == '\\';
                word[n++] = (uint8_t)*c;
            }
        if (n)
            add(words, WORDS, &words_count, word, n);
    }
    if (f)
        fclose(f);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 2;
    longest = strtoul(argv[2], NULL, 10);
    state = strtoull(argv[3], NULL, 10) * 2 + 1;
    read_words(argv[4]);
    add(seeds, TEXTS, &seeds_count, (const uint8_t *)"", 0);
    for (int i = 5; i < argc; i++)
        read_seed(argv[i]);
    static uint8_t *block; /* seen at the end, so not a leak */
    uint8_t *work = malloc(longest + 8);
    block = make_block(longest);
    FUZZ_CHECK(block && work);
    now = end = block + longest;
    static const int ends[] = {SIGABRT,
#ifdef FAST
                               SIGSEGV, SIGBUS, SIGILL,
                               SIGTRAP, SIGFPE
#endif
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], on_abort);
    __sanitizer_set_death_callback(keep_input);
    const double limit = seconds() + strtod(argv[1], NULL);
    unsigned long long inputs = 0;
    while (inputs < seeds_count || inputs % 64 || seconds() < limit) { /* each as it is, then changed */
        const bool plain = inputs < seeds_count;
        const text *seed = &seeds[plain ? inputs : below(seeds_count)];
        size_t n = seed->size;
        memcpy(work, seed->byte, n);
        for (size_t k = plain ? 0 : 1 + below(5); k; k--)
            n = mutate(work, n);
        now = end - n;
        memcpy(now, work, n);
        LLVMFuzzerTestOneInput(now, n);
        inputs++;
    }
    printf("%llu inputs, %zu seeds, %zu words, no crash\n", inputs, seeds_count, words_count);
    now = end = NULL;
    free(work);
    return 0;
}
