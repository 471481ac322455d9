/* campaign/inputs.c - which files a campaign's results depend on, and what tells it from another one. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "campaign/campaign.h"
#include "scenario/tree.h"
#include "text/image.h"
#include "text/version.h"

static void digest(uint64_t hash[2], const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        hash[0] = (hash[0] ^ (unsigned char)bytes[i]) * 0x100000001B3u;
        hash[1] = ff_mix(hash[1] + (unsigned char)bytes[i]);
    }
    hash[0] = ff_mix(hash[0] ^ length);
    hash[1] = ff_mix(hash[1] ^ length);
}

/* A text that names a file from here or from the base's folder: which it is, is known where it is read, so
 * that every such file counts. */
static void list_text(ff_campaign *c, const char *text) {
    char path[FF_FILE_PATH];
    struct stat info;
    const char *slash = strrchr(c->base, '/');
    for (int from = 0; from < 2; from++) {
        const int folder = from && slash ? (int)(slash - c->base) + 1 : 0;
        snprintf(path, sizeof path, "%.*s%s", folder, c->base, text);
        const ff_held_file *file = NULL;
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
            c->inputs.failed |= ff_image_read(&c->held, path, &file, NULL, 0) == FF_ERR_MEMORY;
            ff_run_inputs_add(&c->inputs, "varied", path, file ? file->sha256 : NULL);
        }
    }
}

static void list_node(ff_campaign *c, const ff_node *node) {
    if (node->kind == FF_NODE_SCALAR)
        list_text(c, node->text);
    for (const ff_node *n = node->kind == FF_NODE_SCALAR ? NULL : node->child; n; n = n->next)
        list_node(c, n);
}

/* The texts in a value, which is YAML in one line. */
static void list_value(ff_campaign *c, const char *value) {
    ff_tree tree = {0};
    ff_tree_error error;
    ff_node *root = NULL;
    const ff_status status = ff_tree_parse(&tree, value, strlen(value), NULL, &root, &error);
    if (status == FF_OK && root)
        list_node(c, root);
    c->inputs.failed = c->inputs.failed || status == FF_ERR_MEMORY;
    ff_tree_free(&tree);
}

static void list_inputs(ff_campaign *c, const char *text, size_t length) {
    char sha256[FF_SHA256_TEXT];
    const char *value;
    ff_sha256(text, length, sha256);
    ff_run_inputs_add(&c->inputs, "campaign", c->path, sha256);
    ff_sha256(c->text, c->length, sha256);
    ff_run_inputs_add(&c->inputs, "scenario", c->base, sha256);
    ff_run_inputs_scenario(&c->inputs, c->base, &c->scenario);
    for (int m = 0; m < c->methods; m++) {
        if (c->method[m].library)
            ff_run_inputs_add(&c->inputs, "method", c->method[m].library->path, c->method[m].library->hash);
        for (int i = 0; i < c->method[m].variant.sets; i++)
            if ((value = strchr(c->method[m].variant.set[i], '='))) /* path=value */
                list_value(c, value + 1);
    }
    for (int i = 0; i < c->varies; i++)
        for (uint64_t k = 0; c->vary[i].item && k < c->vary[i].count; k++)
            list_value(c, c->vary[i].item[k]);
}

bool ff__campaign_identify(ff_campaign *campaign, const char *text, size_t length) {
    char buffer[65];
    const char *build = ff_build(buffer);
    campaign->hash[0] = 0xCBF29CE484222325u;
    digest(campaign->hash, text, length);
    digest(campaign->hash, campaign->text, campaign->length);
    digest(campaign->hash, ff_version(), strlen(ff_version()));
    digest(campaign->hash, build, strlen(build));
    list_inputs(campaign, text, length);
    for (int i = 0; i < campaign->inputs.count; i++)
        digest(campaign->hash, campaign->inputs.item[i].sha256, strlen(campaign->inputs.item[i].sha256));
    return !campaign->inputs.failed;
}
