/* One scenario read again and again with other values in its slots: campaigns. */
#include "scenario/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ff_scenario_template {
    ff_tree tree;
    const char *label;
    ff_scenario_options options; /* method, catalog and files of what is read */
    int slots;
    ff_node **node;  /* where each slot's value stands */
    ff_node ***item; /* parsed items of each slot */
    int *items;
};

static ff_status template_fill(ff_scenario_template *t, const ff_scenario_slot *slots, ff_tree_error *error) {
    for (int i = 0; i < t->slots; i++) {
        const size_t size = strlen(slots[i].path) + 3;
        char *assignment = ff_tree_alloc(&t->tree, size);
        t->items[i] = slots[i].count;
        t->item[i] = ff_tree_alloc(&t->tree, sizeof(ff_node *) * (size_t)(slots[i].count + 1));
        if (!assignment || !t->item[i])
            return FF_ERR_MEMORY;
        snprintf(assignment, size, "%s=0", slots[i].path);
        ff_status status = ff_tree_set_node(&t->tree, assignment, slots[i].argument, &t->node[i], error);
        for (int j = 0; status == FF_OK && j < slots[i].count; j++) {
            const char *text = slots[i].items[j];
            status = ff_tree_parse(&t->tree, text, strlen(text), slots[i].argument, &t->item[i][j], error);
            if (status == FF_OK && !t->item[i][j]) {
                *error = (ff_tree_error){.place = {1, 1, slots[i].argument, NULL}, .text = "an empty value"};
                status = FF_ERR_FORMAT;
            }
            ff_node_know_numbers(t->item[i][j]);
        }
        if (status != FF_OK)
            return status;
    }
    ff_node_know_numbers(t->tree.root);
    return FF_OK;
}

ff_status ff_scenario_template_create(const char *label, const char *text, size_t length,
                                      const ff_scenario_options *options, const ff_scenario_slot *slots,
                                      int count, ff_scenario_template **out, char *message, size_t size) {
    ff_reader r = {.label = label, .options = options, .message = message, .size = size};
    const ff_place start = {1, 1, NULL, NULL};
    *out = NULL;
    if (message && size)
        message[0] = 0;
    ff_scenario_template *t = calloc(1, sizeof *t);
    if (!t) {
        ff_reader_fail(&r, start, "no memory for the scenario");
        return FF_ERR_MEMORY;
    }
    ff_tree_error error = {.place = start, .text = "no memory for the scenario"};
    r.tree = &t->tree;
    t->slots = count;
    if (options)
        t->options = (ff_scenario_options){
            .method = options->method, .catalog = options->catalog, .held = options->held};
    t->label = label;
    t->node = ff_tree_alloc(&t->tree, sizeof(void *) * (size_t)(count + 1));
    t->item = ff_tree_alloc(&t->tree, sizeof(void *) * (size_t)(count + 1));
    t->items = ff_tree_alloc(&t->tree, sizeof *t->items * (size_t)(count + 1));
    ff_status status = t->node && t->item && t->items ? FF_OK : FF_ERR_MEMORY;
    if (status == FF_OK)
        status = ff__read_tree(&r, text, length, &error);
    if (status == FF_OK)
        status = template_fill(t, slots, &error);
    if (status != FF_OK) {
        ff_reader_fail(&r, error.place, "%s", error.text);
        ff_scenario_template_free(t);
        return status;
    }
    *out = t;
    return FF_OK;
}

ff_status ff_scenario_template_read(ff_scenario_template *t, const ff_scenario_value *values,
                                    ff_scenario *scenario, char *message, size_t size) {
    for (int i = 0; i < t->slots; i++) {
        ff_node *node = t->node[i];
        const ff_scenario_value *value = &values[i];
        const ff_node *item = value->item >= 0 && value->item < t->items[i] ? t->item[i][value->item] : NULL;
        node->kind = item ? item->kind : FF_NODE_SCALAR;
        node->quoted = item ? item->quoted : false;
        node->text = item ? item->text : value->text;
        node->known = item && item->known;
        node->number = item ? item->number : 0.0;
        node->count = item ? item->count : 0;
        node->child = item ? item->child : NULL;
        node->last = item ? item->last : NULL;
    }
    ff_reader r = {.label = t->label,
                   .tree = &t->tree,
                   .scenario = scenario,
                   .options = &t->options,
                   .message = message,
                   .size = size};
    if (message && size)
        message[0] = 0;
    const bool good = ff__read_scenario(&r, t->tree.root, t->options.method);
    scenario->held = t->options.held;
    return good ? FF_OK : FF_ERR_FORMAT;
}

void ff_scenario_template_free(ff_scenario_template *t) {
    if (!t)
        return;
    ff_tree_free(&t->tree);
    free(t);
}
