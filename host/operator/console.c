#include "operator/console.h"

#include <string.h>

#define WORDS(X)                                                                                  \
    X("hold", FF_ORDER_HOLD, "the robots come to rest and stay until stopped")                    \
    X("retreat", FF_ORDER_RETREAT, "the same; held and pushed, they leave the contact once more") \
    X("zero", FF_ORDER_ZERO, "the mean reading of 0.25 s becomes bias; refused in contact")       \
    X("stop", FF_ORDER_STOP, "the robots come to rest, the run ends; as Ctrl-C")

static const struct {
    const char *word;
    ff_order_verb verb;
} words[] = {
#define ROW(word, verb, text) {word, verb},
    WORDS(ROW)
#undef ROW
};

ff_console_line ff_console_read(const char *line, ff_order *order) {
    static const char blanks[] = " \t\r\n";
    line += strspn(line, blanks);
    const size_t length = strcspn(line, blanks);
    if (length == 0)
        return FF_CONSOLE_EMPTY;
    if (line[length + strspn(line + length, blanks)]) /* one word alone */
        return FF_CONSOLE_UNKNOWN;
    if (length == 4 && strncmp(line, "help", length) == 0)
        return FF_CONSOLE_HELP;
    for (size_t n = 0; n < sizeof words / sizeof *words; n++)
        if (strlen(words[n].word) == length && strncmp(line, words[n].word, length) == 0) {
            *order = (ff_order){.verb = words[n].verb, .from = FF_CONSOLE_VIEWER};
            return FF_CONSOLE_ORDER;
        }
    return FF_CONSOLE_UNKNOWN;
}

const char *ff_console_help(void) {
    return "while it runs, type one of these and Enter:\n"
#define ROW(word, verb, text) "  " word ": " text "\n"
        WORDS(ROW)
#undef ROW
            ;
}
