#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/contact_stability.h"
#include "analyze.h"
#include "cli.h"
#include "scenario/reader.h"
#include "session/inertia_ratio.h"

/* Each analysis is one row; argv[0] is its own name. */
typedef struct analysis {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} analysis;

static int contact_stability(int argc, char **argv);

static const analysis analyses[] = {
    {"contact-stability", contact_stability,
     "inertia ratios at which an emulating robot's contact is stable"},
    {"delay-margin", ff_analyze_delay_margin, "go or no go: how much loop delay a scenario's contact bears"},
    {"workspace", ff_analyze_workspace,
     "how long a motion stays inside a robot's reach, absolute and relative"},
    {"log", ff_analyze_log, "delay, contact or payload identified from a recorded run"},
};
enum { ANALYSES = sizeof analyses / sizeof *analyses };

static void usage(FILE *out) {
    fputs("usage: freefloat analyze ANALYSIS [options]\n"
          "       (freefloat analyze ANALYSIS --help explains one)\n\n",
          out);
    for (size_t i = 0; i < ANALYSES; i++) {
        char line[160];
        snprintf(line, sizeof line, "  %-17s  %s\n", analyses[i].name, analyses[i].summary);
        ff_cli_wrapped(out, line);
    }
    ff_cli_wrapped(out,
                   "\nexample: freefloat analyze contact-stability --velocity-gain 20 --position-gain 100 "
                   "--bandwidth 25\n");
}

int ff_cmd_analyze(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return FF_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return FF_EXIT_DONE;
    }
    for (size_t i = 0; i < ANALYSES; i++)
        if (strcmp(argv[1], analyses[i].name) == 0)
            return analyses[i].run(argc - 1, argv + 1);
    ff_guess guess = {.wrong = argv[1]};
    for (size_t i = 0; i < ANALYSES; i++)
        ff_guess_add(&guess, analyses[i].name);
    ff_cli_error("freefloat analyze: unknown analysis '%s'%s; freefloat analyze --help lists them",
                 ff_show(argv[1]).text, ff_guess_hint(&guess).text);
    return FF_EXIT_USAGE;
}

/* --------------------------------------------------------------------------------------- contact-stability
 * -- */

static const char contact_help[] =
    "usage: freefloat analyze contact-stability --velocity-gain G --position-gain G (--bandwidth W | --delay "
    "S) [options]\n"
    "\n"
    "A robot that stands in for another one presses on a wall. Its actuators lag, and the contact may ring. "
    "Q is the\n"
    "target's Cartesian inertia over the robot's, seen at the contact. Prints the band of Q that is stable, "
    "and for a\n"
    "given Q how fast the contact settles and which frequency it amplifies most.\n"
    "\n"
    "  --velocity-gain G        [1/s] drift compensation G_v\n"
    "  --position-gain G        [1/s2] drift compensation G_p\n"
    "  --bandwidth W            [rad/s] the actuators' first-order bandwidth\n"
    "  --delay S                [s] or a pure delay instead\n"
    "  --inertia-ratio Q|FILE   a number, a file with the rows of a square matrix of up to 6 rows, or\n"
    "                           a scenario.yaml that emulates: Q at its start\n"
    "  --robot-inertia M        [kg] the robot's Cartesian inertia, needed with a contact\n"
    "  --contact-damping B      [N s/m] of the contact; unknown: taken as none\n"
    "  --contact-stiffness K    [N/m] of the contact; unknown: taken as very stiff\n"
    "  --plot FILE.html         amplification over frequency, growth rate over Q: a page to zoom and read "
    "off\n"
    "  --json                   print one JSON object instead of the table\n"
    "  --quiet                  print nothing but errors\n"
    "\n"
    "exit status: 0 done, 1 the plot could not be written or a root not confirmed, 2 bad usage\n"
    "example: freefloat analyze contact-stability --velocity-gain 32 --position-gain 256 --bandwidth 60 "
    "--inertia-ratio 3\n";

static void print_text(const ff_contact_stability_config *c, const ff_contact_stability *r, bool asked,
                       const ff_contact_stability_axes *axes) {
    const bool lag = isfinite(c->bandwidth),
               known = isfinite(c->contact_damping) || isfinite(c->contact_stiffness);
    if (isnan(r->q_high))
        printf("stable at no inertia ratio");
    else if (isinf(r->q_high))
        printf("stable from inertia ratio %.3g on", r->q_low);
    else if (r->q_low > 0.0)
        printf("stable from inertia ratio %.3g up to %.3g", r->q_low, r->q_high);
    else
        printf("stable up to inertia ratio %.3g", r->q_high);
    if (asked) {
        const double q = c->inertia_ratio;
        const char *whose = axes->n > 1 ? "the worst direction's" : "your";
        if (r->stable && r->peak_transmissivity > 1.0 + 1e-9)
            printf("; %s %.1f amplifies %.1f rad/s by %.1f", whose, q, r->peak_frequency_radps,
                   r->peak_transmissivity);
        else if (r->stable)
            printf("; %s %.3g amplifies nothing", whose, q);
        else if (isinf(r->peak_transmissivity))
            printf("; %s %.3g is at the edge: the contact neither settles nor grows", whose, q);
        else
            printf("; %s %.3g is unstable: the contact grows by a factor e every %.3g s", whose, q,
                   1.0 / r->growth_rate);
    }
    printf("\n\n");
    const struct {
        const char *name;
        double value;
        const char *unit, *note;
    } row[] = {
        {"q_critical", r->q_critical, "", "rigid contact, first-order lag (33)"},
        {"q_low", r->q_low, "", lag && !known ? "stiff contact, damping taken as none" : "true band"},
        {"q_high", r->q_high, "", "true band"},
        {"growth_rate", r->growth_rate, "1/s", "negative settles"},
        {"peak_transmissivity", r->peak_transmissivity, "", "largest |f / lambda| (34)"},
        {"peak_frequency", r->peak_frequency_radps, "rad/s", ""},
        {"force_sensitivity", r->force_sensitivity, "", "force error per disturbance (28)"},
        {"constraint_sensitivity", r->constraint_sensitivity, "s2", "M_r times pose error, the same (27)"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char value[32] = "-";
        if (isfinite(row[i].value))
            snprintf(value, sizeof value, "%.5g", row[i].value);
        else if (isinf(row[i].value))
            snprintf(value, sizeof value, "unlimited");
        printf("  %-22s %10s %-5s %s\n", row[i].name, value, row[i].unit, row[i].note);
    }
    if (axes->n > 1) {
        printf("\n  eigenvalues of Q       ");
        for (size_t i = 0; i < axes->n; i++)
            printf(" %.5g", axes->value[i]);
        printf("\n  worst force direction  ");
        for (size_t i = 0; i < axes->n; i++)
            printf(" %.4f", axes->direction[axes->worst][i]);
        printf("\n");
    }
}

#define CONTACT "analyze contact-stability"

static int contact_stability(int argc, char **argv) {
    ff_contact_stability_config c;
    ff_contact_stability_default(&c);
    const char *ratio = NULL, *plot = NULL;
    bool json = false, quiet = false;
    const ff_option options[] = {
        FF_OPT_NUMBER("--velocity-gain", &c.velocity_gain),
        FF_OPT_NUMBER("--position-gain", &c.position_gain),
        FF_OPT_NUMBER("--bandwidth", &c.bandwidth),
        FF_OPT_NUMBER("--delay", &c.delay),
        FF_OPT_NUMBER("--robot-inertia", &c.robot_inertia),
        FF_OPT_NUMBER("--contact-damping", &c.contact_damping),
        FF_OPT_NUMBER("--contact-stiffness", &c.contact_stiffness),
        FF_OPT("--inertia-ratio", &ratio),
        FF_OPT("--plot", &plot),
        FF_OPT_FLAG("--json", &json),
        FF_OPT_FLAG("--quiet", &quiet),
        {0},
    };
    int exit_status;
    if (ff_cli_parse(argc, argv, CONTACT, contact_help, options, NULL, NULL, &exit_status))
        return exit_status;
    if (isnan(c.velocity_gain) || isnan(c.position_gain)) {
        ff_cli_error("freefloat " CONTACT ": %s is missing",
                     isnan(c.velocity_gain) ? "--velocity-gain" : "--position-gain");
        return FF_EXIT_USAGE;
    }

    char message[256] = "";
    double Q[36];
    ff_contact_stability_axes axes = {.n = 0};
    ff_contact_stability r;
    ff_status status;
    if (ratio && !ff_cli_number(ratio, &c.inertia_ratio)) {
        c.inertia_ratio = FF_NAN;
        size_t n;
        if (ff_inertia_ratio_read(ratio, &n, Q, message, sizeof message) != FF_OK) {
            ff_cli_error("freefloat " CONTACT ": %s", message);
            return FF_EXIT_USAGE;
        }
        status = ff_contact_stability_matrix(&c, n, Q, &axes, &r, message, sizeof message);
        if (status == FF_OK)
            c.inertia_ratio = axes.value[axes.worst];
    } else {
        status = ff_contact_stability_analyze(&c, &r, message, sizeof message);
    }
    if (status != FF_OK) {
        ff_cli_error("freefloat " CONTACT ": %s", message);
        return status == FF_ERR_CONVERGENCE ? FF_EXIT_FAILED : FF_EXIT_USAGE;
    }
    const double controller = 2.0 * c.position_gain / c.velocity_gain; /* w_p of (33) */
    if (c.bandwidth < controller && !quiet)
        fprintf(stderr,
                "warning: the actuators' bandwidth %.4g rad/s is below the controller's, %.4g rad/s\n",
                c.bandwidth, controller);
    const size_t length = plot ? strlen(plot) : 0;
    if (plot && (length < 6 || strcmp(plot + length - 5, ".html") != 0)) {
        ff_cli_error("freefloat " CONTACT ": --plot '%s', allowed: a page, FILE.html", plot);
        return FF_EXIT_USAGE;
    }
    if (plot && ff_contact_stability_write_html(&c, &r, plot) != FF_OK) {
        ff_cli_error("freefloat " CONTACT ": '%s' cannot be written", plot);
        return FF_EXIT_FAILED;
    }
    if (json)
        return ff_cli_json(ff_contact_stability_json(&c, &r, ratio != NULL, &axes));
    if (!quiet)
        print_text(&c, &r, ratio != NULL, &axes);
    if (plot && !quiet) {
        putchar('\n');
        ff_cli_line("plot: %s", plot);
    }
    return FF_EXIT_DONE;
}
