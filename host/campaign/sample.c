/* The values of a sample from the campaign's seed and the index alone. */
#include "campaign/campaign.h"

#include "text/number.h"

uint64_t ff_mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* A Feistel network permutes the smallest even power of two that holds `count`; numbers outside are sent
 * through again until they fall inside. No table: latin hypercubes of any size in fixed memory. */
uint64_t ff_permute(uint64_t key, uint64_t count, uint64_t n) {
    unsigned half = 1;
    while (half < 31 && (1ull << (2 * half)) < count)
        half++;
    const uint64_t mask = (1ull << half) - 1;
    do {
        uint64_t left = n >> half, right = n & mask;
        for (uint64_t round = 0; round < 6; round++) {
            const uint64_t next = left ^ (ff_mix(key ^ (round << 56) ^ right) & mask);
            left = right;
            right = next;
        }
        n = left << half | right;
    } while (n >= count);
    return n;
}

/* Newton's iteration on log Phi(x) = log p for the smaller tail: log Phi is concave, so from the left of the
 * root, where -sqrt(-2 log p) lies, it rises to it from any distance. */
double ff_normal_quantile(double p) {
    const double tail = p < 0.5 ? p : 1.0 - p;
    double x = -sqrt(-2.0 * log(tail));
    for (int i = 0; i < 50; i++) {
        const double phi = exp(-0.5 * x * x) / sqrt(2.0 * FF_PI), cumulative = 0.5 * erfc(-x / sqrt(2.0));
        const double step = log(cumulative / tail) * cumulative / phi;
        x -= step;
        if (!(fabs(step) > 1e-13 * (1.0 + fabs(x))))
            break;
    }
    return p < 0.5 ? x : -x;
}

/* Nine digits: what the table and the command line show is exactly what ran. */
static void put_number(double value, char *text) {
    ff_number_nine(value, text);
}

static double evenly(double a, double b, uint64_t n, uint64_t count) {
    return count > 1 ? a + (b - a) * ((double)n / (double)(count - 1)) : a;
}

static double drawn(const ff_campaign *campaign, int i, uint64_t draw) {
    const ff_vary *vary = &campaign->vary[i];
    if (vary->kind == FF_VARY_LINEAR)
        return evenly(vary->a, vary->b, draw, campaign->draws);
    ff_rng rng;
    ff_rng_seed(&rng, ff_mix(campaign->seed ^ ff_mix(draw)), (uint64_t)i + 1);
    double u = ff_rng_uniform(&rng);
    if (vary->latin) {
        const uint64_t key = ff_mix(campaign->seed ^ ff_mix(0xC0FFEEu + (uint64_t)i));
        u = ((double)ff_permute(key, campaign->draws, draw) + u) / (double)campaign->draws;
    }
    if (vary->kind == FF_VARY_NORMAL)
        return vary->a + vary->b * ff_normal_quantile(fmin(fmax(u, 0x1p-54), 1.0 - 0x1p-53));
    if (vary->kind == FF_VARY_LOG)
        return vary->a * exp(u * log(vary->b / vary->a));
    return vary->a + (vary->b - vary->a) * u;
}

void ff_campaign_sample(const ff_campaign *campaign, uint64_t index, ff_campaign_case *sample) {
    const uint64_t draw = index / campaign->combinations, combination = index % campaign->combinations;
    sample->index = index;
    for (int i = 0; i < campaign->varies; i++) {
        const ff_vary *vary = &campaign->vary[i];
        char *text = sample->text[i];
        sample->value[i] = (ff_scenario_value){-1, text};
        const uint64_t n = vary->kind >= FF_VARY_GRID ? combination / vary->stride % vary->count : 0;
        if (vary->kind == FF_VARY_LIST)
            sample->value[i] = (ff_scenario_value){(int)n, vary->item[n]};
        else if (vary->kind == FF_VARY_GRID)
            put_number(evenly(vary->a, vary->b, n, vary->count), text);
        else if (vary->kind == FF_VARY_LOG_GRID)
            put_number(exp(evenly(log(vary->a), log(vary->b), n, vary->count)), text);
        else
            put_number(drawn(campaign, i, draw), text);
    }
    /* 53 bits, so that every reader of the summary keeps them */
    char *seed = sample->text[campaign->varies];
    ff_number_integer(ff_mix(ff_mix(campaign->seed + 0x5EEDu) ^ ff_mix(index)) >> 11, seed);
    sample->value[campaign->varies] = (ff_scenario_value){-1, seed};
}

const char *ff_campaign_case_text(const ff_campaign *campaign, const ff_campaign_case *sample, int vary) {
    return campaign->vary[vary].kind == FF_VARY_LIST ? sample->value[vary].text : sample->text[vary];
}

double ff_campaign_case_number(const ff_campaign *campaign, const ff_campaign_case *sample, int vary) {
    double number;
    bool in_range;
    return campaign->vary[vary].numeric &&
                   ff_number_parse(ff_campaign_case_text(campaign, sample, vary), &number, &in_range)
               ? number
               : FF_NAN;
}
