/* campaign/campaign.h - a campaign file as a checked struct: a base scenario, what varies, which methods and
 * metrics. One sample is one point of what varies; each sample runs under every method.
 *
 * Everything about a sample follows from the campaign's seed and the sample's index alone, so serial runs,
 * threads and MPI ranks give the same bits in whatever order they work. */
#ifndef FF_CAMPAIGN_CAMPAIGN_H
#define FF_CAMPAIGN_CAMPAIGN_H

#include "campaign/metric.h"
#include "runs/runs.h"
#include "session/variant.h"

enum {
    FF_CAMPAIGN_VARY = 32,
    FF_CAMPAIGN_METHODS = 32,
    FF_CAMPAIGN_METRICS = 32,
    FF_CAMPAIGN_MAPS = 32,
    FF_MAP_LIMITS = 4, /* lines of limits in one picture */
    FF_LABEL_SIZE = 128,
    FF_CAMPAIGN_WORST = 100, /* runs that `keep: {worst}` can ask for */
    FF_PATH_SIZE = 256,
    FF_VALUE_SIZE = 32, /* text of a sampled number */
};

typedef enum ff_vary_kind {
    FF_VARY_UNIFORM,  /* [low, high) */
    FF_VARY_NORMAL,   /* mean, standard deviation */
    FF_VARY_LOG,      /* log-uniform in [low, high) */
    FF_VARY_LINEAR,   /* evenly spaced over the samples, both ends included */
    FF_VARY_GRID,     /* [from, to, count], multiplies */
    FF_VARY_LOG_GRID, /* the same, evenly spaced in the logarithm */
    FF_VARY_LIST      /* given values, multiplies */
} ff_vary_kind;

typedef struct ff_vary {
    char path[FF_PATH_SIZE];       /* as in --set */
    char place[FF_PATH_SIZE + 64]; /* FILE:LINE:COL, the start of messages about it */
    ff_vary_kind kind;
    bool latin;
    double a, b;     /* range, or mean and standard deviation */
    uint64_t count;  /* list, grid: number of values; 1 otherwise */
    uint64_t stride; /* list, grid: how many combinations share one value in a row */
    char **item;     /* list: YAML texts */
    bool numeric;    /* list: all values are numbers */
    const char *unit;
} ff_vary;

/* METHOD or METHOD:key=value:... */
typedef struct ff_campaign_method {
    ff_variant variant;
    const ff_method_library *library; /* NULL: it is built in */
} ff_campaign_method;

/* A line of its own in a picture: where a column has the level `at`; in curves without `at` the column
 * itself. */
typedef struct ff_map_limit {
    int column;
    double at; /* FF_NAN: the column itself */
    char label[FF_LABEL_SIZE];
} ff_map_limit;

/* A picture: `show` over x and y; without y curves over x, one for each method. */
typedef struct ff_campaign_map {
    int x, y; /* columns: varied values first, then metrics; y -1: curves */
    int show; /* metric */
    bool log_x, log_y;
    double contour; /* FF_NAN: none */
    int limits;
    ff_map_limit limit[FF_MAP_LIMITS];
} ff_campaign_map;

typedef struct ff_campaign {
    char name[FF_NAME_SIZE];
    char path[4096]; /* of the campaign file, as given */
    char base[4096]; /* of the base scenario, from the working folder */
    char *text;      /* of the base scenario */
    size_t length;
    uint64_t seed;
    uint64_t draws;        /* random or linear entries: how many draws; 1 without */
    uint64_t combinations; /* of lists and grids */
    uint64_t samples;      /* draws * combinations */
    int varies;
    ff_vary vary[FF_CAMPAIGN_VARY];
    bool seed_varies; /* time.seed is in `vary`: then it is not set from the index */
    int methods;
    ff_campaign_method method[FF_CAMPAIGN_METHODS];
    int metrics;
    ff_metric metric[FF_CAMPAIGN_METRICS];
    bool needs_ideal; /* a metric or a method compares with the reference */
    bool keep_failed;
    int keep_worst;
    int worst_by; /* metric whose largest values are the worst */
    int maps;
    ff_campaign_map map[FF_CAMPAIGN_MAPS];
    double limit;         /* [s] wall-clock time of one run */
    bool settles;         /* until: settled; a run ends when its metrics are final */
    ff_held held;         /* the bytes of all files that it reads: whole once it is loaded */
    ff_run_inputs inputs; /* the file, the base and all that they name */
    uint64_t hash[2];     /* of their content and the program: results of another campaign are refused */
    ff_scenario scenario; /* the base with the first method, for names and requirements */
    const ff_catalog *catalog;
} ff_campaign;

/* The values of one sample: text as it goes into the scenario, the table and the command line. */
typedef struct ff_campaign_case {
    uint64_t index;
    ff_scenario_value value[FF_CAMPAIGN_VARY + 1]; /* the last one is time.seed */
    char text[FF_CAMPAIGN_VARY + 1][FF_VALUE_SIZE];
} ff_campaign_case;

/* FF_OK; FF_ERR_IO, FF_ERR_FORMAT, FF_ERR_MEMORY with one line in message. Free with ff_campaign_free, also
 * after a failure. */
ff_status ff_campaign_load(const char *path, const ff_catalog *catalog, ff_campaign *campaign, char *message,
                           size_t size, char *warnings, size_t warnings_size);
void ff_campaign_free(ff_campaign *campaign);
/* campaign/inputs.c: `inputs` and `hash` of a campaign that was read from this text. False: no memory. */
bool ff__campaign_identify(ff_campaign *campaign, const char *text, size_t length);

void ff_campaign_sample(const ff_campaign *campaign, uint64_t index, ff_campaign_case *sample);
/* The text of one varied value of a sample. */
const char *ff_campaign_case_text(const ff_campaign *campaign, const ff_campaign_case *sample, int vary);
/* The same as a number; FF_NAN for words. */
double ff_campaign_case_number(const ff_campaign *campaign, const ff_campaign_case *sample, int vary);
/* A template of the base under one method with a slot for each varied value and the seed. */
ff_status ff_campaign_template(const ff_campaign *campaign, int method, ff_scenario_template **out,
                               char *message, size_t size);
/* "freefloat run BASE --method M --set ..." that reruns one sample; malloc'ed. */
char *ff_campaign_command(const ff_campaign *campaign, uint64_t index, int method);
/* Names of the table's columns: varied paths, then metrics; with units for pictures. */
const char *ff_campaign_column(const ff_campaign *campaign, int column);
const char *ff_campaign_unit(const ff_campaign *campaign, int column);
/* The base scenario's own value of a column: what it names at a varied path, or what follows from the
 * scenario alone. FF_NAN where there is neither. FF_OK, FF_ERR_MEMORY. */
ff_status ff_campaign_own(const ff_campaign *campaign, int column, double *value);

/* splitmix64: every bit of x decides on every bit of the value. */
uint64_t ff_mix(uint64_t x);
/* The nth of a random permutation of 0 .. count - 1 that the key chooses. */
uint64_t ff_permute(uint64_t key, uint64_t count, uint64_t n);
/* Inverse of the normal distribution, 0 < p < 1. */
double ff_normal_quantile(double p);

#endif
