#include "record/logfile.h"
#include "text/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void copy_text(ff_mcap_text text, char *to, size_t size) {
    snprintf(to, size, "%.*s", (int)(text.size < size ? text.size : size), text.at);
}

static ff_status split_columns(ff_logfile *file, ff_mcap_text text) {
    int count = text.size > 0;
    for (size_t i = 0; i < text.size; i++)
        count += text.at[i] == ',';
    file->name = calloc((size_t)count + 1, sizeof *file->name);
    if (!file->name)
        return FF_ERR_MEMORY;
    size_t from = 0;
    for (size_t i = 0; i <= text.size && file->columns < count; i++)
        if (i == text.size || text.at[i] == ',') {
            copy_text((ff_mcap_text){text.at + from, i - from}, file->name[file->columns++], FF_COLUMN_NAME);
            from = i + 1;
        }
    return FF_OK;
}

/* Channels are known once the reader passed them: the first message of each kind settles it. */
static ff_status find_columns(ff_logfile *file) {
    ff_mcap_message message;
    bool end = false;
    while (!end && !file->columns) {
        const ff_status status = ff_mcap_reader_next(file->reader, &message, &end);
        if (status == FF_ERR_MEMORY || status == FF_ERR_IO)
            return status;
        if (status != FF_OK || end)
            continue;
        const ff_mcap_channel *channel = ff_mcap_reader_channel(file->reader, message.channel);
        ff_mcap_text columns;
        if (!channel || !ff_mcap_text_equal(channel->topic, "/cycle") ||
            ff_mcap_map_get(channel->metadata, "columns", &columns) != FF_OK)
            continue;
        const ff_status split = split_columns(file, columns);
        if (split != FF_OK)
            return split;
    }
    ff_mcap_reader_rewind(file->reader);
    return file->columns ? FF_OK : FF_ERR_FORMAT;
}

ff_status ff_logfile_open(const char *path, ff_logfile *file, char *message, size_t size) {
    *file = (ff_logfile){0};
    struct stat info;
    if (stat(path, &info) != 0)
        return ff_refuse(FF_ERR_IO, message, size, "cannot be read (%s)", strerror(errno));
    ff_status status = ff_mcap_reader_open(path, &file->reader);
    if (status == FF_ERR_FORMAT)
        return ff_refuse(status, message, size, "not an MCAP file");
    if (status != FF_OK)
        return ff_refuse(status, message, size, "%s", ff_logfile_text(status));
    ff_mcap_text version;
    if (ff_mcap_reader_metadata(file->reader, "freefloat", "version", &version) == FF_OK)
        copy_text(version, file->version, sizeof file->version);
    char format[16] = "1";
    if (ff_mcap_reader_metadata(file->reader, "freefloat", "format", &version) == FF_OK)
        copy_text(version, format, sizeof format);
    file->format = (int)strtol(format, NULL, 10);
    status = find_columns(file);
    if (status != FF_OK) {
        ff_logfile_close(file);
        return ff_refuse(status, message, size, "%s",
                         status == FF_ERR_FORMAT ? "the file holds no cycle of a run"
                                                 : ff_logfile_text(status));
    }
    return FF_OK;
}

const char *ff_logfile_text(ff_status status) {
    return status == FF_ERR_MEMORY ? "no memory"
           : status == FF_ERR_IO
               ? "it is a folder or not a regular file, cannot be read, or became shorter while it was read"
               : ff_status_text(status);
}

void ff_logfile_close(ff_logfile *file) {
    ff_mcap_reader_close(file->reader);
    free(file->name);
    *file = (ff_logfile){0};
}

static bool model_in_log(void *self, const char *name, const char **text, size_t *length) {
    const ff_logfile *file = self;
    char full[FF_NAME_SIZE + 16];
    ff_mcap_text found;
    snprintf(full, sizeof full, "model/%s", name);
    if (ff_mcap_reader_attachment(file->reader, full, &found) != FF_OK)
        return false;
    *text = found.at;
    *length = found.size;
    return true;
}

/* Text of the log's metadata, "(unknown)" without. */
static void find_text(const ff_logfile *file, const char *key, char *text, size_t size) {
    ff_mcap_text value;
    snprintf(text, size, "(unknown)");
    if (ff_mcap_reader_metadata(file->reader, "freefloat", key, &value) == FF_OK && value.size)
        copy_text(value, text, size);
}

/* The method library that the log names is the file it was, or what to do. */
static ff_status check_library(const ff_logfile *file, const ff_catalog *catalog, const char *path,
                               char *message, size_t size) {
    char name[32], version[64], hash[65], why[400];
    find_text(file, "method.name", name, sizeof name);
    find_text(file, "method.version", version, sizeof version);
    find_text(file, "method.sha256", hash, sizeof hash);
    const ff_method_library *library = ff_scenario_method_library(catalog, path, why, sizeof why);
    if (!library)
        return ff_refuse(
            FF_ERR_FORMAT, message, size, "made with method '%s', version %s, of %s, SHA-256 %.16s...: %s%s",
            name, version, path, hash, why,
            catalog && catalog->refuses ? "" : "; put the library that it was made with back there");
    if (strcmp(hash, library->hash) == 0)
        return FF_OK;
    return ff_refuse(FF_ERR_FORMAT, message, size,
                     "made with method '%s', version %s, of %s, SHA-256 %.16s..., but that file is now "
                     "method '%s', version %s, SHA-256 %.16s...: put the library that it was made with back "
                     "there, or run the scenario again with this one",
                     name, version, path, hash, library->method->name, library->method->version,
                     library->hash);
}

bool ff_logfile_loss(const ff_logfile *file, uint64_t damaged, char *text, size_t size) {
    const bool cut = !ff_mcap_reader_get_info(file->reader).closed;
    char parts[64] = "";
    *text = 0;
    if (damaged)
        snprintf(parts, sizeof parts, "%llu damaged part%s left out", (unsigned long long)damaged,
                 damaged == 1 ? " was" : "s were");
    if (cut || damaged)
        snprintf(text, size, "%s%s%s", cut ? "the log was cut off: its writer did not close it" : "",
                 cut && damaged ? "; " : "", parts);
    return cut || damaged;
}

ff_status ff_logfile_scenario(const ff_logfile *file, const ff_catalog *catalog, ff_scenario *scenario,
                              char *message, size_t size) {
    ff_mcap_text text, value;
    ff_status status = ff_mcap_reader_attachment(file->reader, "scenario.yaml", &text);
    if (status == FF_ERR_MEMORY || status == FF_ERR_IO)
        return ff_refuse(status, message, size, "%s", ff_logfile_text(status));
    if (status != FF_OK)
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         status == FF_ERR_FORMAT ? "the scenario in the log is damaged"
                                                 : "the log holds no scenario");
    char *memory[FF_LOG_MAX_SETS + FF_LOG_MAX_FOUND], method[1024] = "";
    const char *set[FF_LOG_MAX_SETS + FF_LOG_MAX_FOUND];
    ff_logfile *self = (ff_logfile *)(uintptr_t)file; /* read only */
    ff_scenario_options options = {.set = set, .catalog = catalog, .file = model_in_log, .file_self = self};
    const bool library =
        ff_mcap_reader_metadata(file->reader, "freefloat", "method.library", &value) == FF_OK && value.size;
    const bool asked = /* logs before it say in `method` what was asked for */
        !library && (ff_mcap_reader_metadata(file->reader, "freefloat", "option.method", &value) == FF_OK ||
                     ff_mcap_reader_metadata(file->reader, "freefloat", "method", &value) == FF_OK);
    if (library || (asked && value.size)) {
        copy_text(value, method, sizeof method);
        options.method = method;
    }
    /* those of the command line, then those that the check found */
    static const char *const source[] = {"freefloat", "freefloat.check"};
    for (int from = 0; from < 2; from++)
        for (int n = 0; options.sets < FF_LOG_MAX_SETS + FF_LOG_MAX_FOUND; n++) {
            char key[16];
            snprintf(key, sizeof key, "set.%d", n);
            if (ff_mcap_reader_metadata(file->reader, source[from], key, &value) != FF_OK)
                break;
            char *at = malloc(value.size + 1);
            if (!at) {
                status = ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
                break;
            }
            copy_text(value, at, value.size + 1);
            memory[options.sets] = at;
            set[options.sets++] = at;
        }
    char warnings[512];
    if (!status && library && (!catalog || catalog->open)) /* else it stays closed */
        status = check_library(file, catalog, method, message, size);
    if (!status)
        status = ff_scenario_parse("scenario.yaml in the log", text.at, text.size, &options, scenario,
                                   message, size, warnings, sizeof warnings);
    for (int i = 0; i < options.sets; i++)
        free(memory[i]);
    return status;
}

ff_status ff_logfile_next(ff_logfile *file, ff_logfile_kind *kind, uint64_t *k, double *values,
                          size_t capacity, size_t *n, uint64_t *damaged) {
    for (;;) {
        ff_mcap_message message;
        bool end = false;
        const ff_status status = ff_mcap_reader_next(file->reader, &message, &end);
        if (status == FF_ERR_MEMORY || status == FF_ERR_IO)
            return status;
        if (status != FF_OK) {
            ++*damaged;
            continue;
        }
        if (end) {
            *kind = FF_LOGFILE_END;
            return FF_OK;
        }
        uint64_t time;
        if (message.channel != file->cycle && message.channel != file->input &&
            message.channel != file->tuning) {
            const ff_mcap_channel *channel = ff_mcap_reader_channel(file->reader, message.channel);
            if (channel && !file->cycle && ff_mcap_text_equal(channel->topic, "/cycle"))
                file->cycle = message.channel;
            else if (channel && !file->input && ff_mcap_text_equal(channel->topic, "/input"))
                file->input = message.channel;
            else if (channel && !file->tuning && ff_mcap_text_equal(channel->topic, "/tuning"))
                file->tuning = message.channel;
            else
                continue;
        }
        if (message.channel == file->tuning) {
            if (ff_message_read_cycle(message.data, message.size, &time, &file->tuned_from, file->tuned,
                                      FF_COLUMNS_TUNING_MAX, &file->tuned_count) != FF_OK)
                file->tuned_count = 0; /* only a replay needs it */
            file->retuned = true;
            continue;
        }
        *kind = message.channel == file->cycle ? FF_LOGFILE_CYCLE : FF_LOGFILE_INPUT;
        const ff_status read =
            ff_message_read_cycle(message.data, message.size, &time, k, values, capacity, n);
        if (read != FF_OK || *kind != FF_LOGFILE_CYCLE)
            return read;
        const bool displaced = *k < file->next;
        *damaged += displaced && !file->displaced;
        file->displaced = displaced;
        if (displaced)
            continue;
        file->next = *k + 1;
        return FF_OK;
    }
}

void ff_logfile_rewind(ff_logfile *file) {
    ff_mcap_reader_rewind(file->reader);
    file->next = 0;
    file->displaced = false;
}
