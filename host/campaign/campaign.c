#include "campaign/campaign.h"
#include "scenario/tree.h"
#include "text/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ff_campaign_free(ff_campaign *campaign) {
    for (int i = 0; i < campaign->varies; i++) {
        for (uint64_t j = 0; campaign->vary[i].item && j < campaign->vary[i].count; j++)
            free(campaign->vary[i].item[j]);
        free(campaign->vary[i].item);
        campaign->vary[i].item = NULL;
    }
    ff_run_inputs_free(&campaign->inputs);
    ff_held_free(&campaign->held);
    campaign->text = NULL;
}

const char *ff_campaign_column(const ff_campaign *campaign, int column) {
    return column < campaign->varies ? campaign->vary[column].path
                                     : campaign->metric[column - campaign->varies].name;
}

const char *ff_campaign_unit(const ff_campaign *campaign, int column) {
    return column < campaign->varies ? campaign->vary[column].unit
                                     : campaign->metric[column - campaign->varies].unit;
}

/* What follows from the base scenario alone. */
static ff_status own_metric(const ff_campaign *campaign, const ff_metric *metric, double *value) {
    if (!metric->scenario_only)
        return FF_OK;
    ff_metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics)
        return FF_ERR_MEMORY;
    metrics->scenario = &campaign->scenario;
    *value = ff_metric_value(metric, metrics, NULL, NULL);
    free(metrics);
    return FF_OK;
}

ff_status ff_campaign_own(const ff_campaign *campaign, int column, double *value) {
    *value = FF_NAN;
    if (column >= campaign->varies)
        return own_metric(campaign, &campaign->metric[column - campaign->varies], value);
    ff_tree tree = {0};
    ff_node *root = NULL;
    ff_tree_error error;
    const ff_status status = ff_tree_parse(&tree, campaign->text, campaign->length, NULL, &root, &error);
    if (status == FF_OK && root) {
        const ff_node *node = ff_node_at(root, campaign->vary[column].path);
        bool in_range = false;
        if (!node || node->kind != FF_NODE_SCALAR || node->quoted ||
            !ff_number_parse(node->text, value, &in_range) || !in_range)
            *value = FF_NAN;
    }
    ff_tree_free(&tree);
    return status;
}

ff_status ff_campaign_template(const ff_campaign *campaign, int method, ff_scenario_template **out,
                               char *message, size_t size) {
    const ff_variant *m = &campaign->method[method].variant;
    ff_scenario_slot slots[FF_CAMPAIGN_VARY + 1];
    const char *sets[FF_VARIANT_SETS];
    int count = 0;
    for (; count < campaign->varies; count++) {
        const ff_vary *vary = &campaign->vary[count];
        slots[count] = (ff_scenario_slot){vary->path, vary->place, (const char *const *)vary->item,
                                          vary->item ? (int)vary->count : 0};
    }
    if (!campaign->seed_varies)
        slots[count++] = (ff_scenario_slot){"time.seed", "time.seed", NULL, 0};
    for (int i = 0; i < m->sets; i++)
        sets[i] = m->set[i];
    const ff_scenario_options options = {.set = sets,
                                         .sets = m->sets,
                                         .method = m->method,
                                         .catalog = campaign->catalog,
                                         .held = (ff_held *)&campaign->held};
    return ff_scenario_template_create(campaign->base, campaign->text, campaign->length, &options, slots,
                                       count, out, message, size);
}

/* A word as a shell takes it. */
static size_t put_word(char *text, size_t size, size_t used, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=/:,";
    if (word[strspn(word, plain)] == 0)
        return ff_append(text, size, used, "%s", word);
    used = ff_append(text, size, used, "%s", "'");
    for (const char *c = word; *c; c++) {
        const char one[2] = {*c, 0};
        used = ff_append(text, size, used, "%s", *c == '\'' ? "'\\''" : one);
    }
    return ff_append(text, size, used, "%s", "'");
}

char *ff_campaign_command(const ff_campaign *campaign, uint64_t index, int method) {
    ff_campaign_case *sample = malloc(sizeof *sample);
    char *text = NULL;
    size_t size = 0;
    if (!sample)
        return NULL;
    ff_campaign_sample(campaign, index, sample);
    for (int pass = 0; pass < 2; pass++) {
        const ff_variant *m = &campaign->method[method].variant;
        size_t n = ff_append(text, size, 0, "%s", "freefloat run ");
        n = put_word(text, size, n, campaign->base);
        n = ff_append(text, size, n, "%s", " --method ");
        n = put_word(text, size, n, m->method);
        for (int i = 0; i < m->sets; i++) {
            n = ff_append(text, size, n, "%s", " --set ");
            n = put_word(text, size, n, m->set[i]);
        }
        for (int i = 0; i < campaign->varies + (campaign->seed_varies ? 0 : 1); i++) {
            const char *value =
                i < campaign->varies ? ff_campaign_case_text(campaign, sample, i) : sample->text[i];
            char *word = malloc(strlen(value) + FF_PATH_SIZE + 2);
            if (!word) { /* a command without one of its values is another run */
                free(sample);
                free(text);
                return NULL;
            }
            sprintf(word, "%s=%s", i < campaign->varies ? campaign->vary[i].path : "time.seed", value);
            n = ff_append(text, size, n, "%s", " --set ");
            n = put_word(text, size, n, word);
            free(word);
        }
        if (pass == 0) {
            size = n + 1;
            text = malloc(size);
            if (!text)
                break;
        }
    }
    free(sample);
    return text;
}
