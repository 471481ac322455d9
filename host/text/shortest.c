/* The shortest decimal that reads back to the same double, by Giulietti's method ("The Schubfach way to
 * render doubles", 2020): the double's rounding interval is scaled by one power of ten, in 128 bits, and the
 * decimal is picked from the interval with integers alone. Of the shortest ones it is the nearest. */
#include "text/number.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FIRST = -292, LAST = 324, LIMBS = 36 };

/* [hi, lo]: 10^k, k from FIRST to LAST, rounded up to 128 bits, the first of them set. */
static uint64_t power[LAST - FIRST + 1][2];
static pthread_once_t power_once = PTHREAD_ONCE_INIT;

/* Bits [at, at + 64) of a number of 32-bit limbs; beyond its ends there is nothing. */
static uint64_t bits(const uint32_t *limb, int at) {
    uint64_t value = 0;
    for (int i = (at + 64 * LIMBS) / 32 - 2 * LIMBS, shift = 32 * i - at; shift < 64; i++, shift += 32) {
        const uint64_t word = i >= 0 && i < LIMBS ? limb[i] : 0;
        value |= shift < 0 ? word >> -shift : word << shift;
    }
    return value;
}

static int length(const uint32_t *limb) {
    int n = LIMBS;
    while (limb[n - 1] == 0)
        n--;
    return 32 * n - __builtin_clz(limb[n - 1]);
}

static void keep(int k, const uint32_t *limb, bool exact) {
    uint64_t *p = power[k - FIRST];
    const int top = length(limb);
    p[0] = bits(limb, top - 64);
    p[1] = bits(limb, top - 128);
    if (!exact && ++p[1] == 0)
        p[0]++;
}

static void power_create(void) {
    uint32_t up[LIMBS] = {1}, down[LIMBS] = {0};
    for (int k = 0; k <= LAST; k++) { /* 10^k, exactly */
        keep(k, up, k <= 55);         /* 5^55 < 2^128 < 5^56 */
        uint64_t carry = 0;
        for (int i = 0; i < LIMBS; i++) {
            carry += 10 * (uint64_t)up[i];
            up[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    down[LIMBS - 1] = 0x80000000u; /* floor(2^N / 10^n): its first bits are those of 10^-n */
    for (int k = -1; k >= FIRST; k--) {
        uint64_t rest = 0;
        for (int i = LIMBS - 1; i >= 0; i--) {
            rest = rest << 32 | down[i];
            down[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        keep(k, down, false);
    }
}

/* floor(g c / 2^128), its last bit set if something was cut off. */
static uint64_t scaled(const uint64_t g[2], uint64_t c) {
    __extension__ typedef unsigned __int128 wide;
    const wide y = (wide)g[0] * c + (uint64_t)((wide)g[1] * c >> 64);
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

/* v = digits 10^exponent for a finite v > 0 given by its bits. */
static uint64_t decimal(uint64_t v, int *exponent) {
    const uint64_t fraction = v & 0xfffffffffffffu;
    const int biased = (int)(v >> 52);
    const uint64_t c = biased ? fraction | 0x10000000000000u : fraction;
    const int q = (biased ? biased : 1) - 1075;
    const bool lowest = fraction == 0 && biased > 1; /* the double below is half as far */
    /* floor(log10(2^q)), or of 3/4 of it; floor(log2(10^-k)): fixed-point logarithms, exact in this range */
    const int k = (int)(((long)q * 1262611 - (lowest ? 524031 : 0)) >> 22);
    const int h = q + (int)(((long)-k * 1741647) >> 19) + 1;
    const uint64_t *g = power[-k - FIRST];
    const uint64_t odd = c & 1; /* the ends of an even one's interval read back to it */
    const uint64_t low = scaled(g, (4 * c - (lowest ? 1 : 2)) << h) + odd, middle = scaled(g, (4 * c) << h),
                   high = scaled(g, (4 * c + 2) << h) - odd;
    const uint64_t s = middle / 4;
    *exponent = k;
    if (s >= 10) {
        const uint64_t tens = s / 10;
        const bool below = low <= 40 * tens, above = 40 * tens + 40 <= high;
        if (below != above) {
            *exponent = k + 1;
            return tens + above;
        }
    }
    const bool below = low <= 4 * s, above = 4 * s + 4 <= high;
    if (below != above)
        return s + above;
    return s + (middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1)));
}

/* Two digits at a time, the last ones first; where the first of them stands. */
static char *put_digits(uint64_t value, char *end) {
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
        "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
        "9899";
    while (value >= 10) {
        const uint64_t rest = value / 100;
        end -= 2;
        memcpy(end, pairs + 2 * (value - 100 * rest), 2);
        value = rest;
    }
    if (value)
        *--end = (char)('0' + value);
    return end;
}

/* digits 10^exponent as %g writes it: with an exponent from `most` digits before the point or four zeros
 * behind it on. */
static int put_decimal(uint64_t digits, int exponent, int most, const char *buffer, char *out) {
    char digit[20];
    if (digits % 100000000 == 0) { /* a short one */
        digits /= 100000000;
        exponent += 8;
    }
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    const char *first = put_digits(digits, digit + sizeof digit);
    const int n = (int)(digit + sizeof digit - first), point = n + exponent; /* 0.ddd 10^point */
    if (point > most || point < -3) {
        *out++ = *first;
        if (n > 1) {
            *out++ = '.';
            memcpy(out, first + 1, (size_t)n - 1);
            out += n - 1;
        }
        const int power_of_ten = point < 1 ? 1 - point : point - 1;
        *out++ = 'e';
        *out++ = point < 1 ? '-' : '+';
        if (power_of_ten >= 100)
            *out++ = (char)('0' + power_of_ten / 100);
        *out++ = (char)('0' + power_of_ten / 10 % 10);
        *out++ = (char)('0' + power_of_ten % 10);
    } else if (point <= 0) {
        memcpy(out, "0.000", (size_t)(2 - point));
        out += 2 - point;
        memcpy(out, first, (size_t)n);
        out += n;
    } else if (n <= point) {
        memcpy(out, first, (size_t)n);
        memset(out + n, '0', (size_t)(point - n));
        out += point;
    } else {
        memcpy(out, first, (size_t)point);
        out[point] = '.';
        memcpy(out + point + 1, first + point, (size_t)(n - point));
        out += n + 1;
    }
    *out = 0;
    return (int)(out - buffer);
}

int ff_number_shortest(double value, char buffer[FF_NUMBER_SIZE]) {
    uint64_t v;
    char *out = buffer;
    int exponent;
    memcpy(&v, &value, sizeof v);
    if (v >> 63)
        *out++ = '-';
    v &= ~(UINT64_C(1) << 63);
    if (v == 0) {
        *out++ = '0';
        *out = 0;
        return (int)(out - buffer);
    }
    pthread_once(&power_once, power_create);
    const uint64_t digits = decimal(v, &exponent);
    return put_decimal(digits, exponent, 17, buffer, out);
}

/* v 10^p for v given by its bits, rounded to an integer below 2^60. False where 128 bits do not decide: close
 * to halves. */
static bool scaled_integer(uint64_t v, int p, uint64_t *integer) {
    __extension__ typedef unsigned __int128 wide;
    const uint64_t c = ((v & 0xfffffffffffffu) | 0x10000000000000u) << 11;
    const uint64_t *g = power[p - FIRST];
    const wide product = (wide)g[0] * c + (uint64_t)((wide)g[1] * c >> 64); /* some two too small or large */
    /* of 2^(biased exponent - 1075 - 11) and of the power's 2^(floor(log2(10^p)) - 127), 64 bits cut off */
    const int shift = -((int)(v >> 52) - 1086 + (int)(((long)p * 1741647) >> 19) - 127 + 64);
    const wide half = (wide)1 << (shift - 1), fraction = product & (2 * half - 1);
    *integer = (uint64_t)(product >> shift) + (fraction > half);
    return fraction + 4 < half || fraction > half + 4;
}

int ff_number_nine(double value, char buffer[FF_NUMBER_SIZE]) {
    uint64_t v, digits = 0;
    memcpy(&v, &value, sizeof v);
    const int biased = (int)(v >> 52) & 0x7ff;
    char *out = buffer;
    if (biased > 100 && biased < 1900) { /* others have no place in a scenario */
        pthread_once(&power_once, power_create);
        if (v >> 63)
            *out++ = '-';
        v &= ~(UINT64_C(1) << 63);
        const int least = (int)(((long)(biased - 1023) * 1262611) >> 22); /* floor(log10), or one less */
        int p = 8 - least;
        bool sure = scaled_integer(v, p, &digits);
        if (digits >= 1000000000)
            sure = scaled_integer(v, --p, &digits);
        if (sure)
            return put_decimal(digits, -p, 9, buffer, out);
    }
    return snprintf(buffer, FF_NUMBER_SIZE, "%.9g", value);
}

int ff_number_integer(uint64_t value, char buffer[FF_NUMBER_SIZE]) {
    char digit[20];
    const char *first = put_digits(value, digit + sizeof digit);
    const size_t n = (size_t)(digit + sizeof digit - first);
    memcpy(buffer, n ? first : "0", n ? n : 1);
    buffer[n ? n : 1] = 0;
    return n ? (int)n : 1;
}
