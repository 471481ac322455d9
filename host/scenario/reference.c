/* docs/scenario.md from the table: the reference cannot say anything else than the reader does. */
#include "scenario/scenario.h"

#include "scenario/schema.h"

#include <stdio.h>
#include <string.h>

static const char introduction[] =
    "# Scenario files\n"
    "\n"
    "<!-- Written from host/scenario/schema.c by ff_scenario_write_reference; a test compares. Change the "
    "table, "
    "not this file. -->\n"
    "\n"
    "A scenario is one YAML file: what floats, what it touches, which robot carries it, and how it is "
    "judged.\n"
    "Only `name`, `time`, and each satellite's `mass` and `inertia` are required; everything else has the "
    "default "
    "below.\n"
    "Start from `scenarios/deos-client.yaml` or `scenarios/template.yaml`.\n"
    "\n"
    "- SI units. A number is written `0.004`, `-3`, `1e4`; `1000kg`, `0,004`, `nan`, `.inf`, `0x10` and "
    "numbers in "
    "quotes are errors.\n"
    "- Linear velocities and forces are inertial, angular velocities and torques in body axes. Quaternions "
    "are "
    "scalar first, body to inertial; one that is not of unit length is normalised with a warning.\n"
    "- An inertia of six numbers holds the entries as they stand in the matrix: xx, yy, zz, xy, xz, yz.\n"
    "- Unknown and duplicate keys are errors, also a key that does not belong to the chosen `kind`. Anchors, "
    "aliases, tags and a second document are refused; a file has at most 16 MB and 32 levels.\n"
    "- Contacts compressed at the start are an error, with the depth, unless `allow_penetration: true`. "
    "Contacts "
    "that provably nothing reaches (no load, arm or other contact pushes the bodies, and their straight path "
    "stays clear) give a warning line.\n"
    "- A mistake is one line, `FILE:LINE:COL: what is wrong, what is allowed`, and the exit status is 2.\n"
    "- `--set path=value` changes one value or a whole subtree before anything is checked; it may name keys "
    "that "
    "the file leaves out. Values are YAML. List items are addressed by name or by index from 0:\n"
    "  `--set contacts.front.damping=3`, `--set satellites.client.velocity.0=0.02`,\n"
    "  `--set 'satellites.client.robot={kind: lag, delay: 0.01, frequency: 8}'`, `--set "
    "tdpa.reading=printed`.\n"
    "\n"
    "## Example\n"
    "\n"
    "```yaml\n"
    "name: deos-client\n"
    "time: {cycle: 0.004, duration: 30, seed: 1}\n"
    "method: tdpa\n"
    "integrator: lie-midpoint\n"
    "satellites:\n"
    "  client:\n"
    "    mass: 280                              # kg\n"
    "    inertia: [18, 20, 22]                  # kg m2\n"
    "    velocity: [0.01, 0.015, 0.02]          # m/s, inertial\n"
    "    angular_velocity: [0.01, 0.02, 0.03]   # rad/s, body\n"
    "    points: {tip: [0.3, -0.2, 0.4]}        # m, body frame, from the CoM\n"
    "    robot: {kind: delay, delay: 0.040}     # s\n"
    "    sensor: {kind: noisy, force_noise: 0.1, torque_noise: 0.01}   # N, N m\n"
    "contacts:                                  # the normal points to the free side\n"
    "  - {name: front, kind: wall, body: client, point: com, at: [0, 0, 0.03], normal: [0, 0, -1], "
    "stiffness: 2000, "
    "damping: 5}\n"
    "loads:                                     # a thruster pulse from 5 s to 10 s\n"
    "  - {body: client, kind: pulse, force: [6, 0, 0], from: 5, to: 10}\n"
    "requirements: {velocity_error: 0.01, angular_velocity_error: 0.0087, peak_force_ratio: 1.2}\n"
    "```\n";

static void put_words(FILE *file, const ff_key *key) {
    for (int i = 0; key->words[i]; i++)
        fprintf(file, "%s`%s`", i ? ", " : "", key->words[i]);
}

static void put_allowed(FILE *file, const ff_section *section, const ff_key *key) {
    const char *range = ff_range_text(key);
    if (key->words)
        put_words(file, key);
    if (*range)
        fprintf(file, "%s%s", key->words ? ", or a number " : "", range);
    if (!key->kinds)
        return;
    const ff_key *kind = NULL;
    for (int i = 0; i < section->keys && !kind; i++)
        if (strcmp(section->key[i].key, "kind") == 0)
            kind = &section->key[i];
    fprintf(file, "%sonly", key->words || *range ? "; " : "");
    for (int i = 0, shown = 0; kind && kind->words && kind->words[i]; i++)
        if (key->kinds >> (unsigned)i & 1u)
            fprintf(file, "%s `%s`", shown++ ? "," : "", kind->words[i]);
}

static void put_default(FILE *file, const ff_key *key) {
    const char *text = key->fallback;
    const size_t length = strlen(text);
    if (strcmp(text, "required") == 0)
        fputs("**required**", file);
    else if (strcmp(text, "none") == 0)
        fputs("none", file);
    else if (text[0] == '(')
        fprintf(file, "%.*s", (int)length - 2, text + 1);
    else
        fprintf(file, "`%s`", text);
}

static void put_row(FILE *file, const ff_section *section, const ff_key *key) {
    fprintf(file, "| `%s` | %s%s%s%s | ", key->key, ff_type_text(key->type), *key->unit ? " [" : "",
            key->unit, *key->unit ? "]" : "");
    put_default(file, key);
    fputs(" | ", file);
    put_allowed(file, section, key);
    fprintf(file, " | %s |\n", key->doc);
}

enum { MOST_SECTIONS = 64 };

static void put_section(FILE *file, const ff_section *section, const ff_section **seen, int *count) {
    for (int i = 0; i < *count; i++)
        if (seen[i] == section)
            return;
    if (*count == MOST_SECTIONS)
        return;
    seen[(*count)++] = section;
    if (*section->path)
        fprintf(file, "\n## %s\n", section->path);
    else
        fprintf(file, "\n## Top level\n");
    fprintf(file, "\n%s\n\n| key | type [unit] | default | allowed | meaning |\n|---|---|---|---|---|\n",
            section->doc);
    for (int i = 0; i < section->keys; i++)
        put_row(file, section, &section->key[i]);
    for (int i = 0; i < section->keys; i++)
        if (section->key[i].section)
            put_section(file, section->key[i].section, seen, count);
}

static const char site[] =
    "\n## Site\n\n"
    "`site: lab.yaml` keeps the laboratory apart from the experiment. The file has the same keys; what the "
    "scenario "
    "says stands, and maps are merged key by key. Where both name a `kind` and the two differ, the "
    "scenario's map "
    "replaces the site's whole. Lists are not merged. Mistakes name the site's own file and line; `--set` "
    "comes last. "
    "Beside a scenario's keys a site has\n\n"
    "| key | is |\n|---|---|\n"
    "| `robots`, `sensors` | maps from a name to a robot or sensor. A satellite takes one by `robot: NAME`, "
    "by "
    "`robot: {site: NAME, delay: 0.05}` with keys of its own, or, where it names none, the one that has its "
    "own name |\n"
    "| `safety`, `limits` | of every satellite, as far as it has none of its own |\n"
    "| `satellites` | by name; those that the scenario does not have are left out |\n\n"
    "Files that a site names are looked for in its own folder. The site is an input of the run: its hash "
    "stands in the "
    "manifest, its text in log.mcap. A site cannot name another one.\n\n"
    "```yaml\n"
    "# lab.yaml\n"
    "robots: {left: {kind: kuka-rsi, delay: 0.04}, right: {kind: kuka-rsi, delay: 0.04}}\n"
    "sensors: {left: {kind: ati-rdt}}\n"
    "safety: cautious\n"
    "facility: {gravity: [0, 0, -9.81]}\n"
    "```\n";

static void put_methods(FILE *file) {
    fputs("\nMethods of this version:", file);
    fputs(" `ideal`", file);
    for (int m = 0; ff_method_at(m); m++)
        fprintf(file, ", `%s`", ff_method_at(m)->name);
    fputs(". Naming another one is an error that lists them.\n", file);
}

ff_status ff_scenario_write_reference(const char *path) {
    const ff_section *seen[MOST_SECTIONS];
    int count = 0;
    FILE *file = fopen(path, "w");
    if (!file)
        return FF_ERR_IO;
    fputs(introduction, file);
    put_methods(file);
    fputs(site, file);
    put_section(file, ff_schema_top(), seen, &count);
    const bool bad = ferror(file) != 0;
    return fclose(file) != 0 || bad ? FF_ERR_IO : FF_OK;
}
