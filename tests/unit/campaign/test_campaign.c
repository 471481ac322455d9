/* Campaign files: what is read, what is refused and where, and the samples that follow from them. */
#include "campaign/campaign.h"
#include "campaign/journal.h"
#include "campaign/worker.h"
#include "support.h"
#include "text/clock.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/ff_campaign_XXXXXX";

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    char path[128];
    snprintf(path, sizeof path, "%s/base.yaml", folder);
    FILE *file = fopen(path, "w");
    fputs(
        "name: base\n"
        "time: {cycle: 0.004, duration: 2}\n"
        "satellites:\n"
        "  body: {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0], robot: {kind: delay, delay: "
        "0.016}}\n"
        "contacts:\n"
        "  - {name: right, kind: wall, at: [0.02, 0, 0], normal: [-1, 0, 0], stiffness: 2000, damping: 40}\n",
        file);
    return fclose(file);
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT: our own folder */
}

/* Reads a campaign from text. The message is left in `message`. */
static ff_status load(const char *text, ff_campaign *c, char *message, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return ff_campaign_load(path, NULL, c, message, size, NULL, 0);
}

static ff_campaign *load_good(const char *text) {
    char message[1024];
    ff_campaign *c = calloc(1, sizeof *c);
    if (load(text, c, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    return c;
}

static void drop(ff_campaign *c) {
    ff_campaign_free(c);
    free(c);
}

static const char good[] =
    "name: t\nbase: base.yaml\nmethods: [direct, tdpa]\nsamples: 100\nseed: 7\nvary:\n"
    "  satellites.body.robot.delay: {uniform: [0.005, 0.03]}\n"
    "  contacts.right.stiffness: {log: [1000, 20000]}\n"
    "  satellites.body.velocity.0: {linear: [0.02, 0.08]}\n"
    "  satellites.body.mass: {normal: [200, 5]}\n"
    "  time.cycle: {list: [0.002, 0.004]}\n"
    "  contacts.right.damping: {grid: [0, 40, 3]}\n"
    "metrics: {first: satellites.body.contacts.0.speed_after_mps, error: rebound_error}\n";

static void test_load_counts_draws_times_combinations(void **state) {
    (void)state;
    ff_campaign *c = load_good(good);
    assert_int_equal(c->draws, 100);
    assert_int_equal(c->combinations, 6);
    assert_int_equal(c->samples, 600);
    assert_int_equal(c->methods, 2);
    assert_true(c->needs_ideal);
    assert_string_equal(c->vary[0].unit, "s");
    assert_string_equal(c->vary[1].unit, "N/m");
    drop(c);
}

static void test_samples_ignored_where_all_are_lists(void **state) {
    (void)state;
    ff_campaign *c =
        load_good("name: t\nbase: base.yaml\nsamples: 50\nvary:\n  time.cycle: {list: [0.002, 0.004]}\n");
    assert_int_equal(c->samples, 2);
    assert_int_equal(c->methods, 1); /* the base's own */
    drop(c);
}

static void test_refuses_with_line_and_column(void **state) {
    (void)state;
    static const struct {
        const char *text, *expect;
    } bad[] = {
        {"", "c.yaml:1:1: the file is empty"},
        {"name: t\n", "lacks the key 'base'"},
        {"name: t\nbase: none.yaml\n", "c.yaml:2:7: the base scenario"},
        {"name: t\nbase: base.yaml\nvary:\n  satellites.body.mas: {uniform: [1, 2]}\nsamples: 3\n",
         "c.yaml:4:3: unknown key 'mas'"},
        {"name: t\nbase: base.yaml\nvary:\n  satellites.boddy.mass: {uniform: [1, 2]}\nsamples: 3\n",
         "c.yaml:4:3:"},
        {"name: t\nbase: base.yaml\nvary:\n  contacts.left.damping: {uniform: [1, 2]}\nsamples: 3\n",
         "c.yaml:4:3: no item 'left'"},
        {"name: t\nbase: base.yaml\nvary:\n  satellites.body.mass: {uniform: [2, 2]}\nsamples: 3\n",
         "c.yaml:4:35: the range from 2 to 2 is empty"},
        {"name: t\nbase: base.yaml\nvary:\n  satellites.body.mass: {uniform: [3, 2]}\nsamples: 3\n",
         "is empty"},
        {"name: t\nbase: base.yaml\nvary:\n  contacts.right.stiffness: {log: [0, 2]}\nsamples: 3\n",
         "c.yaml:4:36: the logarithm of 0"},
        {"name: t\nbase: base.yaml\nvary:\n  contacts.right.stiffness: {log: [1, -2]}\nsamples: 3\n",
         "logarithm"},
        {"name: t\nbase: base.yaml\nvary:\n  satellites.body.mass: {normal: [200, 0]}\nsamples: 3\n",
         "deviation is 0"},
        {"name: t\nbase: base.yaml\nsamples: 1\nuntil: forever\n",
         "c.yaml:4:8: until is 'forever', allowed: settled, end"},
        {"name: t\nbase: base.yaml\nsamples: 1\nmetrics: {a: rebound_error, b: pass}\nuntil: settled\n",
         "c.yaml:5:8: until is 'settled', but 'pass' changes up to the end of a run"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {list: []}\n", "at least one value"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {grid: [0.001, 0.004]}\n", "number of values"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {grid: [0.001, 0.004, 2.5]}\n", "whole number"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {squared: [1, 2]}\n",
         "c.yaml:4:16: unknown key 'squared'"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {uniform: [1, 2], log: [1, 2]}\n", "varies twice"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {uniform: [1kg, 2]}\n",
         "must be a number, not '1kg'"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {uniform: [0.001, 0.002]}\n",
         "lacks the key 'samples'"},
        {"name: t\nbase: base.yaml\nsamples: 0\nvary:\n  time.cycle: {uniform: [0.001, 0.002]}\n",
         "c.yaml:3:10:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: [flying]\n", "c.yaml:4:11: --method flying"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: [tdpa, tdpa]\n", "given twice"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: ['tdpa:reading=other']\n", "c.yaml:4:11:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: satellites.body.speed}\n",
         "c.yaml:4:14: no number"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: satellites.bodi.final.position_m.0}\n",
         "no satellite is named"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: satellites.body.final.position_m}\n",
         "is a list"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: timing.cycle_max_ns}\n", "times differ"},
        {"name: t\nbase: base.yaml\nsamples: 2\nkeep: {worst: 1000}\n", "c.yaml:4:15:"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmetrics: [contacts, "
         "causal_limit]\nmaps: [{x: time.cycle, y: causal_limit, show: contacts, limits: [{of: "
         "causal_limit}]}]\n",
         "lacks the key 'at'"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\n"
         "maps: [{x: time.cycle, show: rebound_error, limits: [{at: 3}]}]\n",
         "c.yaml:4:54: a limit lacks the key 'of'"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\n"
         "maps: [{x: time.cycle, show: rebound_error, limits: [{of: nothing}]}]\n",
         "of names no column"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\n"
         "maps: [{x: time.cycle, show: rebound_error, limits: [{of: time.cycle, level: 2}]}]\n",
         "unknown key 'level' in a limit"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\n"
         "maps: [{x: time.cycle, show: rebound_error, limits: 3}]\n",
         "limits must be a list"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmaps: [{x: nothing, show: rebound_error}]\n",
         "c.yaml:4:12: x names no column"},
        {"name: t\nbase: base.yaml\nsamples: 2\nlimit: 0\n", "c.yaml:4:8: limit is 0"},
        {"name: t\nbase: base.yaml\nsamples: 2\nsample: 3\n", "c.yaml:4:1: unknown key 'sample'"},
        {"name: t\nbase: base.yaml\nsamples: 2\nname: u\n", "duplicate key 'name'"},
        {"name: t\nbase: base.yaml\nvary:\n  satellites.body.robot: {list: [{kind: ideal}]}\n"
         "  satellites.body.robot.delay: {list: [0]}\n",
         "c.yaml:5:3: 'satellites.body.robot.delay' lies within"},
        {"name: t\nbase: base.yaml\nvary:\n  a: {list: [1]}\n", "c.yaml:4:3: unknown key 'a'"},
        {"name: t\nbase: base.yaml\nsamples: 2\nlatin: perhaps\n", "allowed: false, true"},
        {"- name\n- base\n", "must be a map"},
        {"base: base.yaml\n", "lacks the key 'name'"},
        {"name: [t]\nbase: base.yaml\n", "c.yaml:1:7:"},
        {"name: t\nbase: [base.yaml]\n", "c.yaml:2:7:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nseed: -1\n", "c.yaml:4:7:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nlimit: soon\n", "c.yaml:4:8:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: 3\n", "c.yaml:4:7:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {time.cycle: 0.004}\n", "must say how it varies"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {time.cycle: {latin: true}}\n", "c.yaml:4:20:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {time.cycle: {uniform: [0.001, 0.002], latin: 3}}\n",
         "c.yaml:4:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {time.cycle: {list: [0.001], latin: true}}\n",
         "latin belongs to uniform, normal and log, not to list"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {time.cycle: {uniform: 3}}\n", "must be a list"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {time.cycle: {uniform: [1, 2, 3]}}\n",
         "must be a list"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {'a=b': {list: [1]}}\n", "is not a path"},
        {"name: t\nbase: base.yaml\nsamples: 2\nvary: {method: {list: [direct]}}\n", "compared by `methods`"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: direct\n", "must be a list of 1 to"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: []\n", "must be a list of 1 to"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: [[direct]]\n", "c.yaml:4:11:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: [':a=b']\n", "is not a method"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: ['tdpa:reading']\n",
         "must have the form METHOD:key=value"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: ['tdpa:=printed']\n",
         "must have the form METHOD:key=value"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: 3\n", "c.yaml:4:10:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: []\n", "c.yaml:4:10:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: [contacts]}\n", "must be a path or a name"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {index: contacts}\n",
         "'index' cannot name a column"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {status: contacts}\n",
         "'status' cannot name a column"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {'a,b': contacts}\n", "cannot name a column"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmetrics: {time.cycle: "
         "contacts}\n",
         "is a varied value already"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: [contacts, contacts]\n",
         "two metrics are named 'contacts'"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: "
         "satellites.body.contacts.left.speed_after_mps}\n",
         "c.yaml:4:14:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: satellites.body.contacts.0.colour}\n",
         "is not a value of a contact"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: "
         "satellites.body.contacts.0.velocity_after_mps}\n",
         "is a list"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: satellites.body.contacts..speed_after_mps}\n",
         "c.yaml:4:14:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {a: scenario}\n", "it is text"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmaps: 3\n", "c.yaml:4:7:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmaps: [3]\n",
         "a map must be {x: PATH, y: PATH, show: METRIC}"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{x: time.cycle}]\n",
         "lacks the key 'show'"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{show: "
         "rebound_error}]\n",
         "lacks the key 'x'"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{x: time.cycle, show: "
         "rebound_error, colour: 1}]\n",
         "unknown key 'colour'"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{x: time.cycle, show: "
         "time.cycle}]\n",
         "show names no metric"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{x: time.cycle, y: "
         "[1], show: rebound_error}]\n",
         "y names no column"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{x: time.cycle, show: "
         "rebound_error, contour: high}]\n",
         "c.yaml:4:"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{x: time.cycle, show: "
         "rebound_error, limits: [3]}]\n",
         "a limit must be {of: COLUMN"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmaps: [{x: time.cycle, show: "
         "rebound_error, limits: [{of: time.cycle, at: high}]}]\n",
         "c.yaml:4:"},
        {"name: t\nbase: base.yaml\nvary: {satellites.body.robot: {list: [{kind: ideal}, {kind: delay, "
         "delay: 0.01}]}}\nmaps: [{x: satellites.body.robot, show: rebound_error}]\n",
         "whose values are words"},
        {"name: t\nbase: base.yaml\nsamples: 2\nkeep: 3\n", "keep must be a map"},
        {"name: t\nbase: base.yaml\nsamples: 2\nkeep: {best: 3}\n", "unknown key 'best'"},
        {"name: t\nbase: base.yaml\nsamples: 2\nkeep: {failed: 3}\n", "c.yaml:4:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nkeep: {by: nothing}\n", "by names no metric"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {linear: [0.002, 0.002]}\nsamples: 3\n",
         "allowed: two different ends"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {grid: [0.002, 0.002, 3]}\n",
         "allowed: two different ends"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {uniform: [0.001, fast]}\nsamples: 3\n",
         "must be a number, not 'fast'"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {normal: [0.001]}\nsamples: 3\n",
         "mean and standard deviation"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {list: 3}\n", "at least one value"},
        {"name: t\nbase: base.yaml\nsamples: many\nvary:\n  time.cycle: {list: [0.002]}\n", "c.yaml:3:10:"},
        {"name: t\nbase: base.yaml\nvary:\n  satellites.body.robot.delay: {list: [0]}\n  "
         "satellites.body.robot: {list: [{kind: ideal}]}\n",
         "c.yaml:5:3: 'satellites.body.robot' lies within 'satellites.body.robot.delay'"},
        {"name: t\nbase: base.yaml\nvary:\n  '': {list: [0]}\n", "is not a path"},
        {"name: t\nbase: base.yaml\nvary:\n  time.cycle: {grid: [0.001, 0.002, 100000000]}\n  "
         "satellites.body.mass: {grid: [1, 2, 100000000]}\n",
         "more than 9e15 combinations"},
        {"name: t\nbase: base.yaml\nsamples: 1000000000\nvary:\n  time.cycle: {grid: [0.001, 0.002, "
         "100000000]}\n  satellites.body.mass: {uniform: [1, 2]}\n",
         "more than 9e15 samples"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: [./none.so]\n", "c.yaml:4:11:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: ['tdpa:a=1:b=1:c=1:d=1:e=1:f=1:g=1:h=1:i=1']\n",
         "must have the form METHOD:key=value"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmethods: ['a,b']\n", "is not a method"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {method: contacts}\n",
         "'method' cannot name a column"},
        {"name: t\nbase: base.yaml\nsamples: 2\nmetrics: {'': contacts}\n", "cannot name a column"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmetrics: [contacts, "
         "causal_limit]\nmaps: [{x: time.cycle, show: contacts, limits: [{of: causal_limit, at: 1}, {of: "
         "causal_limit, at: 1}, {of: causal_limit, at: 1}, {of: causal_limit, at: 1}, {of: causal_limit, at: "
         "1}]}]\n",
         "limits must be a list of up to 4"},
        {"name: t\nbase: base.yaml\nvary: {time.cycle: {list: [0.002, 0.004]}}\nmetrics: [contacts, "
         "causal_limit]\nmaps: [{x: time.cycle, show: contacts, limits: [{of: causal_limit, at: 1, label: "
         "[a]}]}]\n",
         "c.yaml:5:"},
        {"name: t\nbase: base.yaml\nsamples: 2\nkeep: {worst: many}\n", "c.yaml:4:15:"},
        {"name: t\nbase: " FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml\nsamples: 2\n",
         "the base scenario is an emulation"},
        {"name: t\nbase: bad.yaml\nsamples: 2\n", "bad.yaml:1:1:"}, /* its own mistake, its own line */
    };
    char path[128];
    snprintf(path, sizeof path, "%s/bad.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("name: x\n", file);
    fclose(file);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ff_campaign *c = calloc(1, sizeof *c);
        char message[2048];
        const ff_status status = load(bad[i].text, c, message, sizeof message);
        if (status >= 0 || !strstr(message, bad[i].expect) || strchr(message, '\n'))
            fail_msg("%s\n-> '%s', expected '%s'", bad[i].text, message, bad[i].expect);
        drop(c);
    }
}

/* More of one thing than there is room for: each list is refused before anything of it is lost. */
static void test_refuses_more_than_there_is_room_for(void **state) {
    (void)state;
    static const struct {
        const char *head, *each, *tail, *expect;
        int count;
    } cases[] = {
        {"vary: {", "contacts.right.stiffness.%d: {list: [1]}, ", "}\n", "more than 32 varied values", 33},
        {"samples: 2\nmethods: [", "'tdpa:force_noise=%d', ", "]\n", "methods must be a list of 1 to 32", 33},
        {"samples: 2\nmetrics: {", "m%d: contacts, ", "}\n", "more than 32 metrics", 33},
        {"vary: {time.cycle: {list: [0.002]}}\nmaps: [",
         "{x: time.cycle, show: rebound_error, contour: %d}, ", "]\n", "maps must be a list of up to 32", 33},
        {"samples: 2\nmethods: ['tdpa:reading=", "%04d", "']\n", "is too long", 60}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[8192] = "name: t\nbase: base.yaml\n", message[2048];
        strcat(text, cases[i].head);
        for (int n = 0; n < cases[i].count; n++)
            sprintf(text + strlen(text), cases[i].each, n); /* NOLINT: the formats above */
        strcat(text, cases[i].tail);
        ff_campaign *c = calloc(1, sizeof *c);
        assert_true(load(text, c, message, sizeof message) < 0);
        if (!strstr(message, cases[i].expect))
            fail_msg("%s, expected %s", message, cases[i].expect);
        drop(c);
    }
}

/* What is left out has its default; a base beside the campaign's folder; values in quotes; limits with and
 * without a name. */
static void test_defaults_quotes_and_limits(void **state) {
    (void)state;
    char path[160], message[1024], warnings[512] = "x";
    snprintf(path, sizeof path, "%s/sub", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/sub/c.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("name: t\nbase: ../base.yaml\nvary:\n"
          "  contacts.right.stiffness: {grid: [2000, 2000, 1]}\n"
          "  time.seed: {grid: [1, 3, 3]}\n"
          "  name: {list: ['it''s', 'a, b', plain]}\n"
          "metrics: {contacts: ~, causal_limit: , omega_tau: omega_tau}\n"
          "maps:\n"
          "  - {x: time.seed, show: contacts, limits: [{of: causal_limit}, {of: omega_tau, at: 0.5, label: "
          "slow}]}\n"
          "  - {x: time.seed, y: contacts.right.stiffness, show: contacts, limits: [{of: causal_limit, at: "
          "1.25}]}\n",
          file);
    fclose(file);
    ff_campaign *c = calloc(1, sizeof *c);
    if (ff_campaign_load(path, NULL, c, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    assert_string_equal(warnings, "");
    char plain[160];
    snprintf(plain, sizeof plain, "%s/base.yaml", folder);
    assert_string_equal(c->base, plain); /* not sub/../base.yaml */
    assert_int_equal(c->samples, 9);
    assert_true(c->seed_varies);
    assert_string_equal(c->metric[0].path, "contacts");
    assert_string_equal(c->metric[1].path, "causal_limit");
    assert_string_equal(c->map[0].limit[0].label, "causal_limit");
    assert_string_equal(c->map[0].limit[1].label, "slow");
    assert_string_equal(c->map[1].limit[0].label, "causal_limit = 1.25");
    static const char *const names[] = {"'it''s'", "'a, b'", "plain"}, *const shell[] = {"'it'\\''s'", "a, b",
                                                                                         "plain"};
    for (uint64_t i = 0; i < 3; i++) {
        ff_campaign_case sample;
        ff_campaign_sample(c, i, &sample);
        assert_string_equal(ff_campaign_case_text(c, &sample, 2), names[i]); /* as YAML reads it back */
        char *command = ff_campaign_command(c, i, 0);
        assert_non_null(command);
        if (!strstr(command, i == 0 ? "it'\\''" : shell[i])) /* and the shell */
            fail_msg("%s", command);
        assert_null(strstr(command, "samples"));
        free(command);
    }
    drop(c);
    /* without metrics: the two that every reader asks for; an absolute base */
    char text[256];
    snprintf(text, sizeof text, "name: t\nbase: %s\nsamples: 1\n", plain);
    c = load_good(text);
    assert_int_equal(c->metrics, 2);
    assert_string_equal(c->metric[0].path, "rebound_error");
    assert_string_equal(c->metric[1].path, "peak_force_ratio");
    assert_string_equal(c->base, plain);
    assert_true(c->settles);
    drop(c);
}

static void test_sample_follows_from_seed_and_index_alone(void **state) {
    (void)state;
    ff_campaign *c = load_good(good), *d = load_good(good);
    ff_campaign_case a, b;
    for (uint64_t i = 0; i < c->samples; i++) {
        ff_campaign_sample(c, i, &a);
        ff_campaign_sample(d, c->samples - 1 - i, &b); /* another order before */
        ff_campaign_sample(d, i, &b);
        for (int v = 0; v < c->varies; v++)
            assert_string_equal(ff_campaign_case_text(c, &a, v), ff_campaign_case_text(d, &b, v));
        assert_string_equal(a.text[c->varies], b.text[d->varies]);
        const double delay = ff_campaign_case_number(c, &a, 0), k = ff_campaign_case_number(c, &a, 1),
                     v = ff_campaign_case_number(c, &a, 2);
        assert_true(delay >= 0.005 && delay <= 0.03 && k >= 1000.0 && k <= 20000.0);
        assert_near(v, 0.02 + 0.06 * (double)(i / 6) / 99.0, 1e-9);
        assert_near(ff_campaign_case_number(c, &a, 4), i / 3 % 2 ? 0.004 : 0.002, 0.0);
        assert_near(ff_campaign_case_number(c, &a, 5), 20.0 * (double)(i % 3), 0.0);
    }
    drop(c);
    drop(d);
}

static void test_latin_fills_every_stratum_once(void **state) {
    (void)state;
    ff_campaign *c = load_good("name: t\nbase: base.yaml\nsamples: 500\nlatin: true\nseed: 3\nvary:\n"
                               "  satellites.body.robot.delay: {uniform: [0, 0.05]}\n"
                               "  contacts.right.stiffness: {log: [1000, 20000]}\n");
    bool seen[2][500] = {{0}};
    for (uint64_t i = 0; i < 500; i++) {
        ff_campaign_case a;
        ff_campaign_sample(c, i, &a);
        const int s[2] = {(int)(ff_campaign_case_number(c, &a, 0) / 0.05 * 500.0),
                          (int)(log(ff_campaign_case_number(c, &a, 1) / 1000.0) / log(20.0) * 500.0)};
        for (int v = 0; v < 2; v++) {
            assert_in_range(s[v], 0, 499);
            assert_false(seen[v][s[v]]);
            seen[v][s[v]] = true;
        }
    }
    drop(c);
}

static void test_permute_is_a_permutation(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 2, 3, 7, 64, 1000}, seed = test_seed();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        bool seen[1000] = {0};
        for (uint64_t i = 0; i < sizes[k]; i++) {
            const uint64_t n = ff_permute(seed + k, sizes[k], i);
            assert_true(n < sizes[k] && !seen[n]);
            seen[n] = true;
        }
    }
}

static void test_normal_quantile_inverts_erfc(void **state) {
    (void)state;
    for (double p = 1e-12; p < 1.0; p = p < 0.01 ? p * 3.0 : p + 0.013) {
        const double x = ff_normal_quantile(p), back = 0.5 * erfc(-x / sqrt(2.0));
        assert_near(back / p, 1.0, 2e-12);
    }
    assert_near(ff_normal_quantile(0.975), 1.959963984540054, 1e-12);
}

static void test_normal_draws_have_mean_and_deviation(void **state) {
    (void)state;
    ff_campaign *c = load_good(
        "name: t\nbase: base.yaml\nsamples: 20000\nvary:\n  satellites.body.mass: {normal: [200, 5]}\n");
    double sum = 0.0, squares = 0.0;
    for (uint64_t i = 0; i < c->samples; i++) {
        ff_campaign_case a;
        ff_campaign_sample(c, i, &a);
        const double x = (ff_campaign_case_number(c, &a, 0) - 200.0) / 5.0;
        sum += x;
        squares += x * x;
    }
    assert_near(sum / 20000.0, 0.0, 4.0 / sqrt(20000.0));
    assert_near(squares / 20000.0, 1.0, 4.0 * sqrt(2.0 / 20000.0));
    drop(c);
}

/* A row of the table and `freefloat run` of its command line are the same run. */
static void test_worker_equals_a_run_with_set(void **state) {
    (void)state;
    ff_campaign *c = load_good(good);
    char message[512], warnings[64];
    ff_references *store = ff_references_create(1 << 20);
    ff_worker *worker = ff_worker_create(c, store, NULL, message, sizeof message);
    assert_non_null(worker);
    for (uint64_t index = 0; index < c->samples; index += 97) {
        ff_record records[2];
        int count;
        assert_int_equal(ff_worker_run(worker, index, 3, records, &count), FF_OK);
        assert_int_equal(count, 2);
        for (int m = 0; m < 2; m++) {
            ff_campaign_case sample;
            ff_campaign_sample(c, index, &sample);
            char set[FF_CAMPAIGN_VARY + 1][320];
            const char *sets[FF_CAMPAIGN_VARY + 1];
            for (int i = 0; i <= c->varies; i++) {
                snprintf(set[i], sizeof set[i], "%s=%s", i < c->varies ? c->vary[i].path : "time.seed",
                         i < c->varies ? ff_campaign_case_text(c, &sample, i) : sample.text[i]);
                sets[i] = set[i];
            }
            ff_scenario scenario;
            const ff_scenario_options options = {
                .set = sets, .sets = c->varies + 1, .method = c->method[m].variant.method};
            assert_int_equal(ff_scenario_load(c->base, &options, &scenario, message, sizeof message, warnings,
                                              sizeof warnings),
                             FF_OK);
            ff_metrics metrics;
            assert_int_equal(ff_metrics_init(&scenario, &metrics), FF_OK);
            const ff_sink sink = ff_metrics_sink(&metrics);
            const ff_run_options run = {.sinks = &sink, .count = 1};
            ff_run_result result;
            ff_run(&scenario, &run, &result);
            ff_metrics_finish(&metrics, NULL, result.status);
            const double first = ff_metric_value(&c->metric[0], &metrics, NULL, NULL);
            assert_true(first == records[m].metric[0] || (isnan(first) && isnan(records[m].metric[0])));
            ff_metrics_free(&metrics);
        }
    }
    ff_worker_free(worker);
    ff_references_free(store);
    drop(c);
}

static void test_references_are_shared_where_only_the_robot_differs(void **state) {
    (void)state;
    ff_campaign *c = load_good("name: t\nbase: base.yaml\nmethods: [direct, tdpa]\nsamples: 20\nvary:\n"
                               "  satellites.body.robot.delay: {uniform: [0.005, 0.03]}\n"
                               "  contacts.right.damping: {list: [0, 40]}\n");
    char message[512];
    ff_references *store = ff_references_create(1 << 22);
    ff_worker *worker = ff_worker_create(c, store, NULL, message, sizeof message);
    ff_record records[2];
    int count;
    for (uint64_t i = 0; i < c->samples; i++)
        ff_worker_run(worker, i, 3, records, &count);
    uint64_t computed, found;
    ff_references_count(store, &computed, &found);
    assert_int_equal(computed, 2);
    assert_int_equal(found, 78);
    ff_worker_free(worker);
    ff_references_free(store);
    drop(c);
}

static void test_restitution_and_omega_tau_of_one_wall(void **state) {
    (void)state;
    ff_campaign *c = load_good(
        "name: t\nbase: base.yaml\nmethods: [ideal]\nsamples: 1\n"
        "metrics: {e: restitution, w: omega_tau, before: satellites.body.contacts.0.speed_before_mps,"
        " after: satellites.body.contacts.right.speed_after_mps, n: contacts}\n");
    char message[512];
    ff_references *store = ff_references_create(1 << 22);
    ff_worker *worker = ff_worker_create(c, store, NULL, message, sizeof message);
    ff_record record;
    int count;
    assert_int_equal(ff_worker_run(worker, 0, 1, &record, &count), FF_OK);
    assert_near(record.metric[0], record.metric[3] / record.metric[2], 1e-9);
    assert_near(record.metric[1], sqrt(2000.0 / 200.0) * 0.016, 1e-15);
    assert_near(record.metric[4], 1.0, 0.0);
    ff_worker_free(worker);
    ff_references_free(store);
    drop(c);
}

static void test_a_run_past_its_limit_is_a_row(void **state) {
    (void)state;
    ff_campaign *c = load_good("name: t\nbase: base.yaml\nmethods: [direct]\nsamples: 1\nlimit: 1e-9\n"
                               "metrics: [contacts]\n");
    char message[512];
    ff_worker *worker = ff_worker_create(c, NULL, NULL, message, sizeof message);
    ff_record record;
    int count;
    assert_int_equal(ff_worker_run(worker, 0, 1, &record, &count), FF_OK);
    assert_int_equal(count, 1);
    assert_true(record.status < 0);
    assert_string_equal(record.reason, "failed: ran past its limit of 1e-09 s");
    ff_worker_free(worker);
    drop(c);
}

/* The limit counts what was computed: a pause does not make a run late, and one that was late is not done for
 * good, while it is a row of the table. */
static ff_status count_late(void *user, const ff_record *record) {
    *(int *)user += strncmp(record->reason, FF_REASON_LATE, sizeof FF_REASON_LATE - 1) == 0 ? 100 : 1;
    return FF_OK;
}

static void test_a_late_run_is_made_again(void **state) {
    (void)state;
    ff_campaign *c = load_good("name: t\nbase: base.yaml\nmethods: [direct]\nsamples: 2\nlimit: 0.5\n"
                               "metrics: [contacts]\n");
    char message[512];
    /* as SIGSTOP does: time passes, the thread does not work */
    const double worked = ff_clock_worked(), began = ff_clock_seconds();
    usleep(100000);
    assert_true(ff_clock_seconds() - began > 0.099 && ff_clock_worked() - worked < 0.05);
    ff_journal journal;
    ff_record record = {.slot = 0, .status = FF_ERR_LIMIT, .reason = FF_REASON_LATE " of 0.5 s"};
    unsigned char bytes[FF_RECORD_BYTES];
    assert_int_equal(ff_journal_open(folder, c, &journal, message, sizeof message), FF_OK);
    assert_int_equal(ff_journal_append(&journal, bytes, ff_record_encode(&record, c->metrics, bytes)), FF_OK);
    assert_int_equal(ff_journal_rescan(&journal), FF_OK);
    assert_true(ff_slots_has(&journal.slots, 0)); /* in the table of this start */
    ff_journal_close(&journal);
    assert_int_equal(ff_journal_open(folder, c, &journal, message, sizeof message), FF_OK);
    assert_false(ff_slots_has(&journal.slots, 0)); /* the next one makes it again */
    record = (ff_record){.slot = 0};
    assert_int_equal(ff_journal_append(&journal, bytes, ff_record_encode(&record, c->metrics, bytes)), FF_OK);
    assert_int_equal(ff_journal_rescan(&journal), FF_OK);
    int counted = 0;
    assert_int_equal(ff_journal_each(&journal, count_late, &counted), FF_OK);
    assert_int_equal(counted, 1); /* and its row is the new one */
    ff_journal_close(&journal);
    drop(c);
}

static void test_a_stopped_sample_leaves_no_record(void **state) {
    (void)state;
    ff_campaign *c =
        load_good("name: t\nbase: base.yaml\nmethods: [direct]\nsamples: 1\nmetrics: [contacts]\n");
    char message[512];
    atomic_bool stop;
    atomic_init(&stop, true);
    ff_worker *worker = ff_worker_create(c, NULL, &stop, message, sizeof message);
    ff_record record;
    int count;
    assert_int_equal(ff_worker_run(worker, 0, 1, &record, &count), FF_ERR_LIMIT);
    assert_int_equal(count, 0);
    ff_worker_free(worker);
    drop(c);
}

/* Every path of the contract's summary that the tables answer gives what the summary says. */
static void test_metric_paths_equal_the_summary(void **state) {
    (void)state;
    static const char *const paths[] = {"satellites.body.initial.kinetic_energy_J",
                                        "satellites.body.final.position_m.0",
                                        "satellites.body.final.attitude_wxyz.0",
                                        "satellites.body.final.velocity_mps.0",
                                        "satellites.body.final.angular_velocity_radps.1",
                                        "satellites.body.final.kinetic_energy_J",
                                        "satellites.body.max_kinetic_energy_J",
                                        "satellites.body.error_vs_ideal.velocity_mps",
                                        "satellites.body.error_vs_ideal.angular_velocity_radps",
                                        "satellites.body.error_vs_ideal.position_m",
                                        "satellites.body.error_vs_ideal.attitude_rad",
                                        "satellites.body.error_vs_ideal.rebound_speed_mps",
                                        "satellites.body.error_vs_ideal.peak_force_ratio",
                                        "satellites.body.contacts.0.start_s",
                                        "satellites.body.contacts.0.end_s",
                                        "satellites.body.contacts.0.duration_s",
                                        "satellites.body.contacts.0.speed_before_mps",
                                        "satellites.body.contacts.0.speed_after_mps",
                                        "satellites.body.contacts.0.velocity_after_mps.0",
                                        "satellites.body.contacts.0.angular_velocity_after_radps.2",
                                        "satellites.body.contacts.0.peak_force_N",
                                        "satellites.body.contacts.0.peak_robot_force_N",
                                        "satellites.body.contacts.0.impulse_Ns.0",
                                        "satellites.body.passivity.max_force_correction_N",
                                        "satellites.body.passivity.max_velocity_correction_mps",
                                        "satellites.body.passivity.observer_min_J.0",
                                        "satellites.body.robot.travel_m",
                                        "satellites.body.robot.rotation_rad",
                                        "satellites.body.robot.max_tracking_error_m",
                                        "satellites.body.energy.delay_J",
                                        "requirements.0.value",
                                        "cycles"};
    ff_scenario scenario;
    char message[512], warnings[64], base[128];
    snprintf(base, sizeof base, "%s/base.yaml", folder);
    const ff_scenario_options options = {.method = "tdpa"};
    assert_int_equal(
        ff_scenario_load(base, &options, &scenario, message, sizeof message, warnings, sizeof warnings),
        FF_OK);
    ff_ideal_result ideal;
    assert_int_equal(ff_ideal_solve(&scenario, NULL, NULL, &ideal, message, sizeof message), FF_OK);
    ff_metrics metrics;
    assert_int_equal(ff_metrics_init(&scenario, &metrics), FF_OK);
    const ff_sink sink = ff_metrics_sink(&metrics);
    const ff_run_options run = {.ideal = &ideal, .sinks = &sink, .count = 1};
    ff_run_result result;
    ff_run(&scenario, &run, &result);
    ff_metrics_finish(&metrics, &ideal, result.status);
    char *text = ff_summary_json(&metrics, &result);
    int direct = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        ff_metric metric;
        if (strcmp(paths[i], "satellites.body.passivity.observer_min_J.0") == 0)
            continue; /* there only once the method has observed: needs a longer probe */
        if (ff_metric_parse(&scenario, "m", paths[i], &metric, message, sizeof message) != FF_OK)
            fail_msg("%s: %s", paths[i], message);
        double expect;
        if (!ff_json_lookup(text, paths[i], &expect))
            fail_msg("%s is not in the summary", paths[i]);
        const double got = ff_metric_value(&metric, &metrics, &ideal, text);
        if (!(got == expect || (isnan(got) && isnan(expect))))
            fail_msg("%s is %.17g, the summary says %.17g", paths[i], got, expect);
        direct += metric.kind != FF_METRIC_TEXT;
    }
    assert_true(direct > 25);
    free(text);
    ff_metrics_free(&metrics);
    ff_ideal_free(&ideal);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_counts_draws_times_combinations),
        cmocka_unit_test(test_samples_ignored_where_all_are_lists),
        cmocka_unit_test(test_refuses_with_line_and_column),
        cmocka_unit_test(test_refuses_more_than_there_is_room_for),
        cmocka_unit_test(test_defaults_quotes_and_limits),
        cmocka_unit_test(test_sample_follows_from_seed_and_index_alone),
        cmocka_unit_test(test_latin_fills_every_stratum_once),
        cmocka_unit_test(test_permute_is_a_permutation),
        cmocka_unit_test(test_normal_quantile_inverts_erfc),
        cmocka_unit_test(test_normal_draws_have_mean_and_deviation),
        cmocka_unit_test(test_worker_equals_a_run_with_set),
        cmocka_unit_test(test_references_are_shared_where_only_the_robot_differs),
        cmocka_unit_test(test_restitution_and_omega_tau_of_one_wall),
        cmocka_unit_test(test_a_run_past_its_limit_is_a_row),
        cmocka_unit_test(test_a_late_run_is_made_again),
        cmocka_unit_test(test_a_stopped_sample_leaves_no_record),
        cmocka_unit_test(test_metric_paths_equal_the_summary),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
