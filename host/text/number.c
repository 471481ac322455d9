#include "text/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
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

/* Few digits, a small power of ten: both are doubles, and one operation rounds as the whole number would
 * (Clinger, "How to read floating point numbers accurately", 1990). False: not so few. The text is_number. */
static bool parse_short(const char *text, double *value) {
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool negative = *text == '-';
    const char *c = text + (*text == '+' || *text == '-');
    int64_t mantissa = 0;
    int behind = 0, power = 0, count = 0;
    for (bool point = false; *c && *c != 'e' && *c != 'E'; c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        mantissa = 10 * mantissa + (*c - '0');
        behind += point;
        if (++count > 15)
            return false;
    }
    if (*c) {
        const bool below = c[1] == '-';
        for (c += 1 + (c[1] == '+' || c[1] == '-'); *c && power < 100; c++)
            power = 10 * power + (*c - '0');
        power = below ? -power : power;
    }
    power -= behind;
    if (power < -22 || power > 22)
        return false;
    const double size = power < 0 ? (double)mantissa / ten[-power] : (double)mantissa * ten[power];
    *value = negative ? -size : size;
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
    if (parse_short(text, value))
        return true;
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
