/* study/delay_margin.h - go or no go: what the loop's delay does to a scenario's contact, by theory and by
 * simulation, and how much delay each method bears.
 *
 * The number that governs is w*tau, contact frequency times loop delay. Theory is the first contact as one
 * mass along one line; simulation is the scenario itself, every delay and stiffness a whole run judged by its
 * own requirements. */
#ifndef FF_STUDY_DELAY_MARGIN_H
#define FF_STUDY_DELAY_MARGIN_H

#include "scenario/scenario.h"

/* One mass against one spring and damper, met at `speed`, the force felt `delay` late. */
typedef struct ff_line_contact {
    double mass;          /* [kg] > 0 */
    double stiffness;     /* [N/m] > 0 */
    double damping;       /* [N s/m] >= 0 */
    double damping_depth; /* [m] over which it grows [he2022, (24)]; 0: constant */
    double speed;         /* [m/s] > 0 */
    double delay;         /* [s] >= 0 */
} ff_line_contact;

typedef struct ff_line_rebound {
    double rebound;  /* speed after over speed before; FF_NAN: the contact does not end */
    double peak;     /* [N] largest force at the robot */
    double duration; /* [s] */
} ff_line_rebound;

/* Solved step by step: m x'' = -max(0, k x_r + c x_r'), x_r(t) = x(t - delay). FF_ERR_ARGUMENT. */
ff_status ff_line_contact_solve(const ff_line_contact *contact, ff_line_rebound *out);

/* What is asked. */
typedef struct ff_delay_margin_config {
    double delay_max;            /* [s] largest delay tried; FF_NAN: chosen from the scenario */
    int map;                     /* delays and stiffnesses of the map, 0 for none; at most FF_DELAY_MAP */
    double stiffness_span;       /* the map goes from stiffness/span to stiffness*span, > 1 */
    bool method[FF_MAX_METHODS]; /* which to judge, in the order of the scenario's setups */
    bool (*progress)(void *user, double part); /* may be NULL; false stops with FF_ERR_LIMIT */
    void *user;
    void (*begin)(void *user,
                  double runs); /* may be NULL; called once with the number of runs that progress counts */
} ff_delay_margin_config;

enum { FF_DELAY_MAP = 25, FF_DELAY_SCAN = 16, FF_DELAY_BISECTIONS = 7 };

/* One run. */
typedef struct ff_delay_case {
    ff_status status;
    double rebound;          /* of the first contact, along its normal; FF_NAN: none, or not ended */
    double peak_force;       /* [N] of the first contact, at the robot */
    double peak_force_ratio; /* largest of all contacts over ideal */
    double velocity_error, angular_velocity_error;
    bool met; /* all requirements */
} ff_delay_case;

typedef struct ff_delay_method {
    const ff_method *method;
    double rebound_theory, peak_force_theory; /* of the first contact; FF_NAN: no theory */
    ff_delay_case now;                        /* with the scenario's own delay */
    double largest_delay; /* [s] up to which all delays tried keep the requirements; FF_NAN: none does */
    bool at_least;        /* even delay_max does */
    char message[400];    /* why it could not run */
} ff_delay_method;

typedef struct ff_delay_cell {
    const ff_method *method;
    double stiffness; /* [N/m] of the first contact */
    double delay;     /* [s] */
    double w_tau;
    double rebound_ideal;
    ff_delay_case run;
} ff_delay_cell;

typedef struct ff_delay_margin {
    int contact;                                     /* index of the contact met first */
    double start;                                    /* [s] */
    double mass;                                     /* [kg] effective, at the point along the normal */
    double stiffness, damping, damping_depth, speed; /* [N/m], [N s/m], [m], [m/s] along the normal */
    double frequency;                                /* [rad/s] w */
    double robot_delay;                              /* [s] the largest robot's */
    double delay; /* [s] tau: robots by their share in the motion, lags and the sensor */
    double w_tau;
    double rebound_ideal, peak_ideal; /* of the reference */
    double rebound_law;               /* e exp(pi w tau / 2): too high above w tau = .3 */
    double delay_max;                 /* [s] tried */
    int methods;
    ff_delay_method method[FF_MAX_METHODS];
    int map;             /* points per axis */
    int cells;           /* methods * map * map */
    ff_delay_cell *cell; /* method by method, stiffness by stiffness; free with ff_delay_margin_free */
} ff_delay_margin;

void ff_delay_margin_default(ff_delay_margin_config *config);
/* Judges only the methods of the list "direct,tdpa,./mine.so"; the scenario takes the libraries' settings.
 * FF_ERR_ARGUMENT: another word, or a library that is refused; message says which. */
ff_status ff_delay_margin_pick(ff_delay_margin_config *config, const char *list, const ff_catalog *catalog,
                               ff_scenario *scenario, char *message, size_t size);
/* FF_ERR_ARGUMENT (the ideal motion meets no contact, a contact without a stiffness, bad config),
 * FF_ERR_UNSUPPORTED (an emulation), FF_ERR_MEMORY, FF_ERR_LIMIT (stopped), or what the reference says;
 * message is one sentence. */
ff_status ff_delay_margin_analyze(const ff_scenario *scenario, const ff_delay_margin_config *config,
                                  ff_delay_margin *out, char *message, size_t size);
void ff_delay_margin_free(ff_delay_margin *out);
/* Go or no go for the scenario's own method, in one or two plain sentences. */
void ff_delay_margin_sentence(const ff_scenario *scenario, const ff_delay_margin *out, char *text,
                              size_t size);
/* The map. FF_ERR_IO. */
ff_status ff_delay_margin_write_csv(const ff_delay_margin *out, const char *path);
/* The maps of every requirement on a page with the report's plots. FF_ERR_IO, FF_ERR_MEMORY. */
ff_status ff_delay_margin_write_html(const ff_scenario *scenario, const ff_delay_margin *out,
                                     const char *path);
/* Everything as one JSON object, with where the map was written (NULL: nowhere), malloc'ed; NULL without
 * memory. */
char *ff_delay_margin_json(const ff_scenario *scenario, const ff_delay_margin *out, const char *csv,
                           const char *html);

#endif
