#include "record/log.h"

#include "text/clock.h"
#include "text/file.h"
#include "text/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static ff_status take_found(void *self, const char *const *set, int count) {
    ff_log *log = self;
    char keys[FF_LOG_MAX_FOUND][16];
    ff_mcap_pair pairs[FF_LOG_MAX_FOUND];
    if (count > FF_LOG_MAX_FOUND)
        return FF_ERR_SIZE;
    for (int i = 0; i < count; i++) {
        snprintf(keys[i], sizeof keys[i], "set.%d", i);
        pairs[i] = (ff_mcap_pair){keys[i], set[i]};
    }
    return ff_mcap_writer_metadata(log->writer, "freefloat.check", pairs, (size_t)count);
}

static ff_status add_metadata(ff_log *log, const ff_log_source *source) {
    char keys[FF_LOG_MAX_SETS][16], cycle[40], format[16];
    ff_mcap_pair pairs[FF_LOG_MAX_SETS + 20];
    size_t n = 0;
    snprintf(cycle, sizeof cycle, "%.17g", log->scenario->cycle);
    pairs[n++] = (ff_mcap_pair){"version", ff_version()};
    snprintf(format, sizeof format, "%d", FF_LOG_FORMAT);
    pairs[n++] = (ff_mcap_pair){"format", format};
    char started[32] = "", host[256] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    gethostname(host, sizeof host - 1);
    pairs[n++] = (ff_mcap_pair){"commit", ff_commit()};
    pairs[n++] = (ff_mcap_pair){"started", started};
    pairs[n++] = (ff_mcap_pair){"host", host};
    pairs[n++] = (ff_mcap_pair){"name", log->scenario->name};
    pairs[n++] = (ff_mcap_pair){"file", source->path ? source->path : ""};
    /* what it ran under, and what the command line asked for: a replay asks for the same */
    pairs[n++] = (ff_mcap_pair){"method", ff_scenario_method_name(log->scenario)};
    pairs[n++] = (ff_mcap_pair){"option.method", source->method ? source->method : ""};
    const ff_method_library *library = ff_scenario_library(log->scenario);
    char settings[1024];
    if (library) { /* no version of ours says what it does */
        ff_scenario_settings_text(log->scenario, settings, sizeof settings);
        pairs[n++] = (ff_mcap_pair){"method.name", library->method->name};
        pairs[n++] = (ff_mcap_pair){"method.version", library->method->version};
        pairs[n++] = (ff_mcap_pair){"method.library", library->path};
        pairs[n++] = (ff_mcap_pair){"method.sha256", library->hash};
        pairs[n++] = (ff_mcap_pair){"method.settings", settings};
    }
    pairs[n++] = (ff_mcap_pair){"cycle", cycle};
    for (int i = 0; i < source->sets && i < FF_LOG_MAX_SETS; i++) {
        snprintf(keys[i], sizeof keys[i], "set.%d", i);
        pairs[n++] = (ff_mcap_pair){keys[i], source->set[i]};
    }
    return ff_mcap_writer_metadata(log->writer, "freefloat", pairs, n);
}

static ff_status add_channels(ff_log *log) {
    uint16_t schemas[FF_MESSAGE_KINDS] = {0};
    ff_status status = FF_OK;
    for (int i = 0; i < log->topics.count && !status; i++) {
        const ff_topic *topic = &log->topics.topic[i];
        if (topic->columns)
            status = ff_message_add_columns(log->writer, strrchr(topic->type, '/') + 1, topic->name,
                                            topic->columns, &log->channel[i]);
        else
            status = ff_message_add_channel(log->writer, schemas, topic->kind, topic->name, NULL, 0,
                                            &log->channel[i]);
    }
    return status;
}

static ff_status write_message(void *self, int topic, uint64_t stamp, const void *bytes, size_t size) {
    const ff_log *log = self;
    return ff_mcap_writer_message(log->writer, log->channel[topic], stamp, stamp, bytes, size);
}

static ff_topic_taker taker_of(ff_log *log) {
    return (ff_topic_taker){.self = log, .take = write_message};
}

/* A file that the scenario names, under that name. */
static ff_status attach(ff_log *log, const char *name, const char *type, const char *text, size_t length) {
    char full[FF_NAME_SIZE + 16];
    snprintf(full, sizeof full, "model/%s", name);
    return ff_mcap_writer_attachment(log->writer, full, type, 0, text, length);
}

ff_status ff_log_open(const char *path, const ff_scenario *scenario, const ff_log_source *source,
                      ff_log *log) {
    ff_mcap_writer_config config = ff_mcap_writer_config_default();
    config.codec = source->compress ? ff_codec_zstd() : NULL;
    *log = (ff_log){.scenario = scenario, .sync = source->sync, .codec = config.codec};
    ff_status status = ff_topics_init(scenario, FF_TOPIC_LOG, &log->topics);
    if (!status)
        status = ff_overview_init(&log->topics.columns, &log->overview);
    const ff_topic_taker taker = taker_of(log);
    if (!status)
        status = ff_mcap_writer_open(path, &config, &log->writer);
    if (!status && log->sync)
        status = ff_folder_sync(path); /* the file's name is on the disk, too */
    if (!status)
        status = add_metadata(log, source);
    if (!status && source->text)
        status = ff_mcap_writer_attachment(log->writer, "scenario.yaml", "application/yaml", 0, source->text,
                                           source->length);
    if (!status && source->site_text)
        status = attach(log, scenario->site, "application/yaml", source->site_text, source->site_length);
    for (int i = 0; i < scenario->models && !status; i++)
        if (source->model_text[i])
            status = attach(log, scenario->model[i], "application/xml", source->model_text[i],
                            source->model_length[i]);
    if (!status)
        status = add_channels(log);
    for (int i = 0; i < scenario->models && !status; i++)
        if (source->model_text[i])
            status = ff_topics_describe(&log->topics, source->model_text[i], source->model_length[i], &taker);
    if (!status)
        status = ff_topics_begin(&log->topics, &taker);
    if (status != FF_OK)
        ff_log_close(log);
    return status;
}

/* ------------------------------------------------------------------------------------------------ rows -- */

static ff_status take_event(void *self, double t, int code, ff_event_level level, const char *text,
                            double value, double limit) {
    ff_log *log = self;
    const ff_topic_taker taker = taker_of(log);
    return ff_topics_event(&log->topics, t, code, level, text, value, limit, &taker);
}

static ff_status take_state(void *self, double t, int state, const char *name) {
    ff_log *log = self;
    const ff_topic_taker taker = taker_of(log);
    return ff_topics_state(&log->topics, t, state, name, &taker);
}

/* In a run that is faster than time the disk is not asked for more than it is in one that is not. */
static ff_status flush(void *self) {
    ff_log *log = self;
    const int64_t now = log->sync ? ff_clock_now() : 0;
    const ff_status status = ff_mcap_writer_flush(log->writer);
    if (status != FF_OK || !log->sync || now - log->synced < (int64_t)(0.5e9 * FF_SINK_FLUSH))
        return status;
    log->synced = now;
    return ff_mcap_writer_sync(log->writer);
}

static ff_status take(void *self, const ff_row *row) {
    ff_log *log = self;
    const ff_topic_taker taker = taker_of(log);
    if (!log->started) {
        log->started = true;
        log->flushed = row->t;
    }
    ff_status status = ff_topics_row(&log->topics, row, &taker);
    if (status == FF_OK)
        status = ff_overview_take(&log->overview, &log->topics.columns, row);
    if (status != FF_OK)
        return status;
    /* one row more would lie beyond the bound */
    if (row->t + 2.0 * log->scenario->cycle - log->flushed > FF_SINK_FLUSH || row->status < 0) {
        log->flushed = row->t + log->scenario->cycle;
        return flush(log);
    }
    return FF_OK;
}

ff_sink ff_log_sink(ff_log *log) {
    return (ff_sink){.self = log,
                     .axes = true,
                     .row = take,
                     .state = take_state,
                     .event = take_event,
                     .found = take_found,
                     .flush = flush};
}

ff_status ff_log_close(ff_log *log) {
    ff_status status = FF_OK;
    if (log->writer) {
        status = ff_mcap_writer_flush(log->writer);
        if (!status)
            status = ff_overview_write(&log->overview, log->codec, log->writer);
        const ff_status closed = ff_mcap_writer_close(log->writer);
        status = status ? status : closed;
    }
    ff_overview_free(&log->overview);
    ff_topics_free(&log->topics);
    *log = (ff_log){0};
    return status;
}
