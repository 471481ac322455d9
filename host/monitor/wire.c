/* Telegrams as the monitor reads them: by name, each element once, nothing assumed. Stricter than the loop's
 * reader, and not the same code: what one of them misunderstands the other should not. */
#include "monitor/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const pose_names[6] = {"X", "Y", "Z", "A", "B", "C"};
static const char *const axis_names[6] = {"A1", "A2", "A3", "A4", "A5", "A6"};

/* A whole telegram as text with an end: it ends with `closing`, and has no zero bytes, comments, declarations
 * or sections. */
static bool as_text(const char *bytes, size_t size, const char *closing, char text[FF_MONITOR_SIZE]) {
    while (size > 0 && memchr(" \t\r\n", bytes[size - 1], 5))
        size--;
    const size_t length = strlen(closing);
    if (size < length || size >= FF_MONITOR_SIZE || memchr(bytes, '\0', size) ||
        memcmp(bytes + size - length, closing, length) != 0)
        return false;
    memcpy(text, bytes, size);
    text[size] = '\0';
    return !strstr(text, "<!");
}

/* Behind "<NAME"; NULL: not there. `twice` is set when there is a second one. */
static const char *element(const char *text, const char *name, bool *twice) {
    const size_t length = strlen(name);
    const char *found = NULL;
    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<'))
        if (strncmp(at + 1, name, length) == 0 && strchr(" \t\r\n/>", at[1 + length]) && at[1 + length]) {
            *twice = *twice || found;
            found = found ? found : at + 1 + length;
        }
    return found;
}

static bool number(const char *from, char end, double *value) {
    const char *to = strchr(from, end);
    char digits[48];
    if (!to || to == from || (size_t)(to - from) >= sizeof digits ||
        strspn(from, "0123456789+-.eE") != (size_t)(to - from))
        return false;
    memcpy(digits, from, (size_t)(to - from));
    digits[to - from] = '\0';
    char *rest;
    *value = strtod(digits, &rest);
    return *rest == '\0' && isfinite(*value);
}

/* NAME="1.5" among the attributes that begin at `from`. */
static bool attribute(const char *from, const char *name, double *value) {
    const char *const end = strchr(from, '>');
    const size_t length = strlen(name);
    int found = 0;
    for (const char *at = from; end && at < end; at++)
        if (strchr(" \t\r\n", *at) && strncmp(at + 1, name, length) == 0 && at[1 + length] == '=') {
            const char quote = at[2 + length];
            if ((quote != '"' && quote != '\'') || !number(at + 3 + length, quote, value))
                return false;
            found++;
        }
    return found == 1;
}

static bool six(const char *from, const char *const names[6], double value[6]) {
    bool good = true;
    for (int i = 0; i < 6; i++)
        good = good && attribute(from, names[i], &value[i]);
    return good;
}

/* <IPOC>123</IPOC> */
static bool stamp(const char *text, uint64_t *ipoc) {
    bool twice = false;
    const char *from = element(text, "IPOC", &twice);
    if (!from || twice || *from != '>' || strspn(from + 1, "0123456789") - 1 >= 19)
        return false;
    char *end;
    *ipoc = strtoull(from + 1, &end, 10);
    return *end == '<';
}

bool monitor_read_rob(const char *bytes, size_t size, monitor_rob *rob) {
    char text[FF_MONITOR_SIZE];
    bool twice = false;
    if (!as_text(bytes, size, "</Rob>", text) || !element(text, "Rob", &twice))
        return false;
    *rob = (monitor_rob){0};
    const char *tool = element(text, "RIst", &twice), *axes = element(text, "AIPos", &twice),
               *late = element(text, "Delay", &twice);
    double delay = 0.0;
    if (!tool || twice || !six(tool, pose_names, rob->tool) || !stamp(text, &rob->ipoc))
        return false;
    if ((axes && !six(axes, axis_names, rob->axis)) ||
        (late && (!attribute(late, "D", &delay) || delay < 0.0 || delay > 1e9)))
        return false;
    static const char *const set_names[2] = {"RSol", "ASPos"};
    for (int n = 0; n < 2; n++) {
        const char *set = element(text, set_names[n], &twice);
        if (twice || (set && !six(set, n ? axis_names : pose_names, rob->set[n])))
            return false;
        rob->has_set[n] = set != NULL;
    }
    rob->has_axes = axes != NULL;
    rob->counts = late != NULL;
    rob->delay = (uint64_t)delay;
    return true;
}

bool monitor_read_sen(const char *bytes, size_t size, bool axes, monitor_sen *sen) {
    char text[FF_MONITOR_SIZE];
    bool twice = false;
    if (!as_text(bytes, size, "</Sen>", text) || !element(text, "Sen", &twice))
        return false;
    *sen = (monitor_sen){0};
    const char *tool = element(text, "RKorr", &twice), *joint = element(text, "AK", &twice),
               *rail = element(text, "EK", &twice), *stop = element(text, "Stop", &twice);
    const char *mine = axes ? joint : tool, *other = axes ? tool : joint;
    if (twice || !mine || other || rail || !stamp(text, &sen->ipoc))
        return false;
    sen->stop = stop && strncmp(stop, ">1<", 3) == 0;
    if (stop && !sen->stop && strncmp(stop, ">0<", 3) != 0)
        return false;
    return six(mine, axes ? axis_names : pose_names, sen->value);
}

size_t monitor_write_sen(const monitor_sen *sen, bool axes, const char *text, char *buffer, size_t size) {
    const char *const *names = axes ? axis_names : pose_names;
    char values[6 * 40];
    int used = 0;
    for (int i = 0; i < 6; i++)
        used +=
            snprintf(values + used, sizeof values - (size_t)used, " %s=\"%.9f\"", names[i], sen->value[i]);
    const int n = snprintf(
        buffer, size, "<Sen Type=\"ImFree\"><EStr>%s</EStr>%s<%s%s/><IPOC>%llu</IPOC></Sen>", text,
        sen->stop ? "<Stop>1</Stop>" : "", axes ? "AK" : "RKorr", values, (unsigned long long)sen->ipoc);
    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}
