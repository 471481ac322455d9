/* campaign/inputs.c - which files a campaign's results depend on, and what tells it from another one. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "campaign/campaign.h"
#include "text/version.h"

static void digest(uint64_t hash[2], const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        hash[0] = (hash[0] ^ (unsigned char)bytes[i]) * 0x100000001B3u;
        hash[1] = ff_mix(hash[1] + (unsigned char)bytes[i]);
    }
    hash[0] = ff_mix(hash[0] ^ length);
    hash[1] = ff_mix(hash[1] ^ length);
}

/* A word that names a file from here or from the base's folder: which it is, is known where it is read, so
 * that every such file counts. */
static void list_word(ff_campaign *c, const char *word, size_t length) {
    char path[FF_FILE_PATH];
    struct stat info;
    const char *slash = strrchr(c->base, '/');
    const bool file = memchr(word, '.', length) || memchr(word, '/', length);
    for (int from = 0; file && from < 2; from++) {
        const int folder = from && slash ? (int)(slash - c->base) + 1 : 0;
        snprintf(path, sizeof path, "%.*s%.*s", folder, c->base, (int)length, word);
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
            ff_run_inputs_add(&c->inputs, "varied", path, NULL);
    }
}

/* The words of a YAML text in one line. */
static void list_words(ff_campaign *c, const char *text) {
    static const char between[] = " \t\n,:={}[]'\"";
    for (const char *at = text; *(at += strspn(at, between));) {
        const size_t n = strcspn(at, between);
        list_word(c, at, n);
        at += n;
    }
}

static void list_inputs(ff_campaign *c, const char *text, size_t length) {
    char sha256[FF_SHA256_TEXT];
    ff_sha256(text, length, sha256);
    ff_run_inputs_add(&c->inputs, "campaign", c->path, sha256);
    ff_sha256(c->text, c->length, sha256);
    ff_run_inputs_add(&c->inputs, "scenario", c->base, sha256);
    ff_run_inputs_scenario(&c->inputs, c->base, &c->scenario);
    for (int m = 0; m < c->methods; m++) {
        if (c->method[m].library)
            ff_run_inputs_add(&c->inputs, "method", c->method[m].library->path, c->method[m].library->hash);
        for (int i = 0; i < c->method[m].variant.sets; i++)
            list_words(c, c->method[m].variant.set[i]);
    }
    for (int i = 0; i < c->varies; i++)
        for (uint64_t k = 0; c->vary[i].item && k < c->vary[i].count; k++)
            list_words(c, c->vary[i].item[k]);
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
