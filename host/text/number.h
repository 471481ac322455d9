/* text/number.h - numbers as text, strictly, and back with the fewest digits. */
#ifndef FF_TEXT_NUMBER_H
#define FF_TEXT_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { FF_NUMBER_SIZE = 32 }; /* bytes that ff_number_format needs */

/* [+-] digits [. digits] [e [+-] digits], the whole text, whatever the locale: strtod alone takes 1000kg,
 * hex, nan and a locale's comma. False: not such a number. *in_range: neither overflow nor underflow. */
bool ff_number_parse(const char *text, double *value, bool *in_range);
/* Sizes that numbers from files may have: products of ten of them, or of their reciprocals, are finite. Below
 * it only what nothing is divided by. */
#define FF_NUMBER_LEAST 1e-30
#define FF_NUMBER_MOST 1e30
#define FF_NUMBER_SIZES "1e-30 to 1e30"
/* The fewest digits that read back to the same double, and of these the nearest; in the form of %.17g. For a
 * finite value. Returns the length. */
int ff_number_shortest(double value, char buffer[FF_NUMBER_SIZE]);
/* Nine digits, as %.9g writes any double. Returns the length. */
int ff_number_nine(double value, char buffer[FF_NUMBER_SIZE]);
/* As %llu. */
int ff_number_integer(uint64_t value, char buffer[FF_NUMBER_SIZE]);
/* The shortest; "null" when not finite. */
void ff_number_format(double value, char buffer[FF_NUMBER_SIZE]);

/* Neither negative nor NaN nor infinite. */
static inline bool ff_at_least_zero(double x) {
    return x >= 0.0 && isfinite(x);
}

#endif
