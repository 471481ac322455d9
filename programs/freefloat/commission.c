/* freefloat rt --commission: leads through the ladder of docs/safety.md, one question a step, and writes what
 * was found and who signs for it as JSON and HTML. It moves nothing itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "operator/selftest.h"
#include "text/file.h"
#include "text/json.h"

enum { ANSWER = 200 };

static const struct {
    const char *name, *done, *passes;
} ladder[] = {
    {"rehearsal", "freefloat facility and rt, the same scenario with safety: cautious",
     "verdict pass, no fault in three runs"},
    {"faults rehearsed", "the same with rob-lost, ft-silent, robot-silent, Ctrl-C",
     "the reactions of the table in docs/safety.md"},
    {"computer", "freefloat rt --selftest", "it may close the loop, not older than 30 days"},
    {"dry run", "controller in T1, drives off: the check alone, then anything but arm",
     "every row go, kinematics below 1 mm, hand pushes right"},
    {"guard and watchdog", "freefloat guard between, rt killed while it holds",
     "the guard answers, the controller stops"},
    {"stop", "T1, no contact, 10 mm/s: Ctrl-C, hold, emergency stop, enabling switch",
     "at rest each time within the stop's path and 5 cycles"},
    {"delay", "check: {delay: chirp}", "within a cycle of robot.delay"},
    {"free flight", "T1, no contact, the run's own speed, 60 s",
     "tracking below its limit, no LATE, no MISSED"},
    {"soft contact", "a spring of at most 1 kN/m, 10 mm/s, damping or tdpa",
     "peak force within 20 % of v sqrt(k m); the retreat leaves it"},
    {"contact", "the mock-ups, speed doubled from run to run",
     "peak below half of safety.force; verdict pass"},
};
enum { STEPS = sizeof ladder / sizeof *ladder };

typedef struct protocol {
    char verdict[STEPS][8], remark[STEPS][ANSWER], signed_by[ANSWER], when[32];
    bool passed;
} protocol;

/* A line of the operator's, without its end. False: there is no more. */
static bool line(const char *question, char *text, size_t size) {
    printf("%s", question);
    fflush(stdout);
    if (!fgets(text, (int)size, stdin))
        return false;
    text[strcspn(text, "\r\n")] = 0;
    return true;
}

/* One step. False: the ladder ends here. */
static bool climb(protocol *p, int n) {
    char word[ANSWER], message[256];
    printf("\n%d %s\n  do      %s\n  passes  %s\n", n + 1, ladder[n].name, ladder[n].done, ladder[n].passes);
    if (strcmp(ladder[n].name, "computer") == 0 &&
        !ff_selftest_allows(0.004, (int64_t)time(NULL), message, sizeof message)) {
        printf("  %s\n", message);
        strcpy(p->verdict[n], "fail");
        snprintf(p->remark[n], sizeof p->remark[n], "%.190s", message);
        return false;
    }
    do
        if (!line("  pass, fail or stop: ", word, sizeof word))
            return false;
    while (strcmp(word, "pass") != 0 && strcmp(word, "fail") != 0 && strcmp(word, "stop") != 0);
    if (strcmp(word, "stop") == 0)
        return false;
    strcpy(p->verdict[n], word);
    return line("  what was seen (figures, folder of the run): ", p->remark[n], sizeof p->remark[n]) &&
           strcmp(word, "pass") == 0;
}

static char *as_json(const protocol *p) {
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "protocol", "freefloat commissioning 1");
    ff_json_string(&json, "time", p->when);
    ff_json_string(&json, "signed_by", p->signed_by);
    ff_json_bool(&json, "passed", p->passed);
    ff_json_open(&json, "steps", '[');
    for (int n = 0; n < STEPS; n++) {
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "step", ladder[n].name);
        ff_json_string(&json, "passes_when", ladder[n].passes);
        ff_json_string(&json, "verdict", p->verdict[n]);
        ff_json_string(&json, "remark", p->remark[n]);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}

static void put_escaped(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(file, "&#%d;", *text);
        else
            fputc(*text, file);
}

static bool write_html(const protocol *p, const char *path) {
    ff_file_whole whole;
    if (ff_file_begin(path, &whole) != FF_OK)
        return false;
    FILE *f = whole.file;
    fprintf(f,
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>freefloat: commissioning</title>"
            "<style>body{font:16px sans-serif;max-width:60em;margin:2em auto}td,th{border:1px solid #999;"
            "padding:.3em .6em;text-align:left}table{border-collapse:collapse}</style>"
            "<h1>Commissioning: %s</h1><p>%s, signed by ",
            p->passed ? "passed" : "not passed", p->when);
    put_escaped(f, p->signed_by);
    fprintf(f, "</p><table><tr><th>step<th>passes when<th>verdict<th>what was seen");
    for (int n = 0; n < STEPS; n++) {
        fprintf(f, "<tr><td>%d %s<td>", n + 1, ladder[n].name);
        put_escaped(f, ladder[n].passes);
        fprintf(f, "<td>%s<td>", p->verdict[n]);
        put_escaped(f, p->remark[n]);
    }
    fprintf(f, "</table><p>This program is never the safety function: docs/safety.md.</p></html>\n");
    return ff_file_keep(&whole, true) == FF_OK;
}

int ff_cli_commission(const char *out) {
    static protocol p;
    const char *folder = out ? out : "commissioning";
    char path[FF_FILE_PATH];
    const time_t now = time(NULL);
    struct tm utc;
    p = (protocol){.passed = false};
    for (int n = 0; n < STEPS; n++)
        strcpy(p.verdict[n], "open");
    strftime(p.when, sizeof p.when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    printf("Ten steps, each with what must hold before the next (docs/safety.md). Nothing moves by this "
           "command.\n");
    int n = 0;
    while (n < STEPS && climb(&p, n))
        n++;
    p.passed = n == STEPS;
    line("\nsigned by (name): ", p.signed_by, sizeof p.signed_by);
    p.passed = p.passed && p.signed_by[0];
    char *json = as_json(&p);
    bool good = json && ff_folder_make(folder) == FF_OK;
    snprintf(path, sizeof path, "%.4000s/protocol.json", folder);
    good = good && ff_file_replace(path, json) == FF_OK;
    snprintf(path, sizeof path, "%.4000s/protocol.html", folder);
    good = good && write_html(&p, path);
    free(json);
    if (!good) {
        ff_cli_error("%s: the protocol cannot be written", folder);
        return FF_EXIT_FAILED;
    }
    printf("\n%s: %s/protocol.json, protocol.html\n", p.passed ? "passed" : "not passed", folder);
    return p.passed ? FF_EXIT_DONE : FF_EXIT_FAILED;
}
