/* campaign/metric.h - one column of a campaign's table: a path of summary.json, or a derived quantity. */
#ifndef FF_CAMPAIGN_METRIC_H
#define FF_CAMPAIGN_METRIC_H

#include "report/metrics.h"

typedef enum ff_metric_kind {
    FF_METRIC_BODY,    /* a number of ff_body_metrics */
    FF_METRIC_CONTACT, /* of one contact of a satellite */
    FF_METRIC_ERROR,   /* rebound and force ratio of one satellite */
    FF_METRIC_TEXT,    /* any other path: found in the written summary */
    FF_METRIC_DERIVED
} ff_metric_kind;

typedef struct ff_metric {
    char name[FF_NAME_SIZE]; /* the column */
    char path[256];
    ff_metric_kind kind;
    int body;
    int number;                 /* contact: which of the satellite's, in order of start */
    char contact[FF_NAME_SIZE]; /* or the first of this name */
    size_t offset;              /* of the number */
    int code;                   /* which derived quantity, or which number of a contact */
    int component;
    bool needs_ideal;
    bool scenario_only; /* known before the run, also for one that failed */
    bool detailed;      /* not among those that brief metrics gather */
    bool settles;       /* final once the contacts are over and nothing but free flight follows */
    const char *unit;
    const ff_method *method; /* of a contact's number that a method reports */
    const char *column;
} ff_metric;

/* Finds what `path` means for this scenario. FF_ERR_FORMAT with a sentence that says what is allowed. */
ff_status ff_metric_parse(const ff_scenario *scenario, const char *name, const char *path, ff_metric *metric,
                          char *message, size_t size);
/* The value after a run; FF_NAN where there is none. ideal may be NULL where no metric needs it; text: the
 * summary, needed for FF_METRIC_TEXT. */
double ff_metric_value(const ff_metric *metric, const ff_metrics *metrics, const ff_ideal_result *ideal,
                       const char *text);
/* Yes or no of each run (`pass`): what a group of runs has is the share of yes, and more of it is better. */
bool ff_metric_share(const ff_metric *metric);
/* The limit that the scenario sets for it; FF_NAN without. */
double ff_metric_requirement(const ff_metric *metric, const ff_scenario *scenario);

/* campaign/limits.c: limits of the first contact that follow from the scenario alone. */
typedef enum ff_limit {
    FF_LIMIT_CAUSAL, /* least peak_force_ratio on a wall met for the first time, onset just after a sample */
    FF_LIMIT_CAUSAL_FLOOR, /* the same with the onset at a sample: no phase gives less */
    FF_LIMIT_NOISE,        /* [m/s] least standard deviation of the rebound speed (Cramer-Rao) */
    FF_LIMIT_NOISE_FIGURE, /* [m/s] what `fused` promises: .3 % + 7 (sigma/F)/sqrt(N) of the approach */
    FF_LIMIT_SKEW,         /* [m/s] rebound error of a skew that is not configured */
    FF_LIMIT_SKEW_SHARE,   /* the same over the rebound */
    FF_LIMIT_DIRECT,       /* delay over the largest with which `direct` in lasting contact is stable */
    FF_LIMIT_SAMPLES,      /* cycles in the ideal contact */
    FF_LIMIT_FORCE         /* ideal peak force over the noise */
} ff_limit;
/* FF_NAN where the contact is neither a wall nor a pair, or does not close. */
double ff_limit_value(ff_limit limit, const ff_scenario *scenario);

/* [kg] of a contact at its point along its normal, at the start. */
double ff_effective_mass(const ff_scenario *scenario, const ff_contact *contact);
/* w tau of the first contact: sqrt(stiffness/effective mass) times the largest delay of its robots. */
double ff_omega_tau(const ff_scenario *scenario);
/* A number in JSON text by its path (names and indices separated by dots); false when it is not there. null
 * is FF_NAN. */
bool ff_json_lookup(const char *json, const char *path, double *value);

#endif
