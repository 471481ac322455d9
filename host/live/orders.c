/* Who may order what: a line of the page into a checked command, and the checks that Foxglove's and ROS 2's
 * calls pass, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"

/* As long for a right guess as for a wrong one. */
bool ff_live__token(const ff_live *live, const char *given) {
    unsigned char difference = strlen(given) != 32;
    for (int i = 0; i < 32; i++)
        difference |= (unsigned char)(live->token[i] ^ given[difference ? 0 : i]);
    return live->control && difference == 0;
}

bool ff_live__permit(const ff_live *live, ff_live_verb verb, const char *token, bool operates, char *text,
                     size_t size) {
    const char *name = ff_live_verb_name(verb);
    const unsigned bit = FF_LIVE_BIT(verb);
    if (!((live->open | live->guarded) & bit)) {
        snprintf(text, size, "%s is not offered here", name);
        return false;
    }
    const bool needs_token = (live->guarded & bit) || !live->loopback;
    if (needs_token && !live->control) {
        snprintf(text, size, "%s needs --control", name);
        return false;
    }
    if (needs_token && !operates && (!token || !ff_live__token(live, token))) {
        snprintf(text, size, token ? "%s refused: wrong token" : "%s refused: it needs the token", name);
        return false;
    }
    return true;
}

bool ff_live__order(ff_live *live, ff_live_command *command) {
    command->claim = ff_claim_open(&live->claims);
    return ff_ring_push(&live->commands, command);
}

const char *ff_live__overdue(ff_claim claim, bool *taken) {
    if (*taken)
        return "the loop took it, but its answer was lost: look at the state";
    *taken = !ff_claim_take(claim);
    return *taken ? NULL : "the loop did not answer: the order is void";
}

bool ff_live__within(const ff_live *live, const ff_live_command *command, char *text, size_t size) {
    double low = 0.01, high = 100.0;
    if (command->verb == FF_LIVE_SET) {
        low = live->parameter[command->parameter].low;
        high = live->parameter[command->parameter].high;
    } else if (command->verb == FF_LIVE_SEEK) {
        low = -1e9;
        high = 1e9;
    }
    if (command->value >= low && command->value <= high)
        return true;
    snprintf(text, size, "%s refused: a number between %.6g and %.6g is needed",
             ff_live_verb_name(command->verb), low, high);
    return false;
}

int ff_live__parameter(const ff_live *live, const char *name) {
    for (int p = 0; p < live->parameters; p++)
        if (strcmp(live->parameter[p].name, name) == 0)
            return p;
    return -1;
}

bool ff_live__parse(const ff_live *live, const char *line, size_t length, ff_live_command *command,
                    char *text, size_t size) {
    char copy[FF_LIVE_MESSAGE + 1], *word[6], *rest = NULL;
    const char *token = NULL;
    int words = 0;
    *command = (ff_live_command){.verb = FF_LIVE_VERBS, .parameter = -1, .value = FF_NAN};
    snprintf(text, size, "not a command");
    if (length == 0 || length > FF_LIVE_MESSAGE)
        return false;
    for (size_t i = 0; i < length; i++)
        if (line[i] < 0x20 || line[i] > 0x7e)
            return false;
    memcpy(copy, line, length);
    copy[length] = 0;
    for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
        if (strncmp(w, "token=", 6) == 0) {
            token = w + 6;
        } else if (words == 4) {
            return false;
        } else {
            word[words++] = w;
        }
    }
    if (words < 2 || strspn(word[0], "0123456789") != strlen(word[0]) || strlen(word[0]) > 9)
        return false;
    command->id = (uint32_t)strtoul(word[0], NULL, 10);
    for (int v = 0; v < FF_LIVE_VERBS; v++)
        if (strcmp(word[1], ff_live_verb_name((ff_live_verb)v)) == 0)
            command->verb = (ff_live_verb)v;
    if (command->verb == FF_LIVE_VERBS)
        return false;
    if (!ff_live__permit(live, command->verb, token, false, text, size))
        return false;
    command->proven = token && live->control && ff_live__token(live, token);
    int next = 2;
    if (command->verb == FF_LIVE_SET) {
        command->parameter = next < words ? ff_live__parameter(live, word[next]) : -1;
        if (command->parameter < 0) {
            snprintf(text, size, "set refused: no such parameter");
            return false;
        }
        next++;
    }
    if (command->verb == FF_LIVE_SET || command->verb == FF_LIVE_SPEED || command->verb == FF_LIVE_SEEK) {
        char *end = NULL;
        command->value = next < words ? strtod(word[next], &end) : FF_NAN;
        if (!end || *end)
            command->value = FF_NAN;
        if (!ff_live__within(live, command, text, size))
            return false;
        next++;
    }
    if (next != words) {
        snprintf(text, size, "%s refused: too many words", word[1]);
        return false;
    }
    return true;
}
