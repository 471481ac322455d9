#include "text/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t numbers_once = PTHREAD_ONCE_INIT;
static locale_t numbers;

static void numbers_create(void) {
    numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static const char *digits(const char *c) {
    while (*c >= '0' && *c <= '9')
        c++;
    return c;
}

static bool is_number(const char *text) {
    const char *c = text + (*text == '+' || *text == '-');
    const char *end = digits(c);
    bool any = end > c;
    if (*end == '.') {
        c = end + 1;
        end = digits(c);
        any = any || end > c;
    }
    if (!any)
        return false;
    if (*end == 'e' || *end == 'E') {
        c = end + 1;
        c += *c == '+' || *c == '-';
        end = digits(c);
        if (end == c)
            return false;
    }
    return *end == 0 && end - text < 400;
}

static bool mantissa_is_zero(const char *text) {
    for (; *text && *text != 'e' && *text != 'E'; text++)
        if (*text >= '1' && *text <= '9')
            return false;
    return true;
}

bool ff_number_parse(const char *text, double *value, bool *in_range) {
    *in_range = true;
    if (text[0] >= '0' && text[0] <= '9' && text[1] == 0) { /* most defaults: no need to look closer */
        *value = text[0] - '0';
        return true;
    }
    if (!is_number(text))
        return false;
    pthread_once(&numbers_once, numbers_create);
    *value = numbers ? strtod_l(text, NULL, numbers) : strtod(text, NULL);
    *in_range = isfinite(*value) && (*value != 0.0 || mantissa_is_zero(text));
    return true;
}

void ff_number_format(double value, char buffer[FF_NUMBER_SIZE]) {
    if (!isfinite(value)) {
        memcpy(buffer, "null", 5);
        return;
    }
    ff_number_shortest(value, buffer);
}
