#include "freefloat/base.h"

static uint64_t splitmix64(uint64_t *x) {
    uint64_t z = (*x += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

void ff_rng_seed(ff_rng *rng, uint64_t seed, uint64_t stream) {
    uint64_t x = seed ^ (stream * 0xD1342543DE82EF95u + 0x2545F4914F6CDD1Du);
    for (int i = 0; i < 4; i++)
        rng->s[i] = splitmix64(&x);
    rng->has_spare = false;
    rng->spare = 0.0;
}

uint64_t ff_rng_next(ff_rng *rng) {
    uint64_t *s = rng->s;
    const uint64_t result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

double ff_rng_uniform(ff_rng *rng) {
    return (double)(ff_rng_next(rng) >> 11) * 0x1p-53;
}

double ff_rng_range(ff_rng *rng, double low, double high) {
    return low + (high - low) * ff_rng_uniform(rng);
}

double ff_rng_normal(ff_rng *rng) {
    if (rng->has_spare) {
        rng->has_spare = false;
        return rng->spare;
    }
    const double u = 1.0 - ff_rng_uniform(rng), v = ff_rng_uniform(rng); /* u in (0, 1] */
    const double r = sqrt(-2.0 * log(u));
    rng->spare = r * sin(2.0 * FF_PI * v);
    rng->has_spare = true;
    return r * cos(2.0 * FF_PI * v);
}
