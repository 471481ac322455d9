/* METHOD:key=value:... - a method with settings of its own, as compare and papers name it. */
#ifndef FF_VARIANT_H
#define FF_VARIANT_H

#include "show.h"

enum { FF_MAX_VARIANTS = 32, FF_VARIANT_SETS = 8 };

typedef struct ff_variant {
    char label[FF_NAME_SIZE];       /* as given; of a library its method's own name */
    char method[1024];              /* or the path of its library */
    char set[FF_VARIANT_SETS][160]; /* full paths */
    int sets;
} ff_variant;

/* Splits "direct,tdpa:reading=printed". Returns the count, or -1 after one line on stderr. */
int ff_variants_parse(const char *list, ff_variant *variants);
/* Loads the file with the common overrides and then the variant's. */
int ff_variant_load(ff_session *session, const char *file, const ff_variant *variant, const char *const *sets,
                    int count);

#endif
