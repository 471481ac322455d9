#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"
#include "live/recording.h"
#include "text/clock.h"
#include "text/file.h"

static const char help[] =
    "usage: freefloat view DIR [options]\n\n"
    "Shows a recorded run (DIR/log.csv, or log.mcap) on the live page, with a clock of its own: play, pause, "
    "speed and "
    "time\n"
    "are set on the page. What is drawn in 3-D comes from DIR/report.html. Ctrl-C, or Close on the page, "
    "ends it.\n\n"
    "  --live ADDRESS     where (default 127.0.0.1:8080; port 0 takes a free one)\n"
    "  --quiet            print nothing but errors and the address\n\n"
    "exit status: 0 done, 1 the server failed, 2 bad usage or no such run\n"
    "example: freefloat run scenarios/deos-client.yaml && freefloat view out/deos-client\n";

/* A whole file as text; NULL when it cannot be read or is larger than `most`. */
static char *read_text(const char *folder, const char *name, size_t most) {
    char path[FF_FILE_PATH], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ff_file_read(path, most, &text, &length, NULL, 0);
    return text;
}

/* The report's own data, as the page reads it: JSON between its tags. */
static char *report_data(const char *folder) {
    static const char mark[] = "<script type=\"application/json\" id=\"ff-data\">";
    char *text = read_text(folder, "report.html", 64u << 20);
    if (!text)
        text = read_text(folder, "../report.html", 64u << 20); /* one method of a comparison */
    char *at = text ? strstr(text, mark) : NULL;
    char *end = at ? strstr(at, "</script>") : NULL;
    char *data = NULL;
    if (end) {
        *end = 0;
        data = strdup(at + sizeof mark - 1);
    }
    free(text);
    return data;
}

static int play(const char *title, const char *address, bool quiet) {
    char path[4400], message[4600] = "no memory", place[PATH_MAX];
    ff_recording recording;
    /* all of one run, also if out/NAME shows another one meanwhile */
    const char *folder = realpath(title, place) ? place : title;
    snprintf(path, sizeof path, "%s/log.csv", folder);
    if (access(path, R_OK) != 0) {
        char other[4400];
        snprintf(other, sizeof other, "%s/log.mcap", folder);
        if (access(other, R_OK) == 0)
            snprintf(path, sizeof path, "%s", other);
    }
    struct stat at;
    if (stat(folder, &at) != 0 || !S_ISDIR(at.st_mode)) {
        ff_cli_error("%s: there is no such folder, allowed: a run's, with log.csv or log.mcap", title);
        return FF_EXIT_USAGE;
    }
    if (access(path, F_OK) != 0) {
        ff_cli_error("%s: it has neither log.csv nor log.mcap: not a run's folder, or a run with --log none",
                     title);
        return FF_EXIT_USAGE;
    }
    if (ff_recording_open(&recording, path, message, sizeof message) < 0) {
        ff_cli_error("%s", message);
        return FF_EXIT_USAGE;
    }
    if (*message)
        ff_cli_error("warning: %s", message);
    ff_live_config *config = calloc(1, sizeof *config);
    char *document = report_data(folder),
         *summary = document ? NULL : read_text(folder, "summary.json", 4u << 20);
    ff_live *live = NULL;
    int status = FF_EXIT_FAILED;
    if (config) {
        *config = (ff_live_config){.address = address,
                                   .mode = "view",
                                   .columns = recording.columns,
                                   .names = (const char *const *)recording.name,
                                   .title = title,
                                   .document = document,
                                   .summary = summary,
                                   .begin = ff_recording_time(&recording, 0),
                                   .end = ff_recording_time(&recording, recording.rows - 1),
                                   .open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_RESUME) |
                                           FF_LIVE_BIT(FF_LIVE_SPEED) | FF_LIVE_BIT(FF_LIVE_SEEK) |
                                           FF_LIVE_BIT(FF_LIVE_STOP)};
        const ff_status started = ff_live_start(config, &live, message, sizeof message);
        if (started < 0) {
            ff_cli_error("freefloat view: %s", message);
            status = started == FF_ERR_ARGUMENT ? FF_EXIT_USAGE : FF_EXIT_FAILED;
        }
    }
    ff_player player = {0};
    if (live && ff_player_init(&player, live, &recording) == FF_OK) {
        ff_cli_live(live, false);
        if (!quiet)
            fprintf(stderr, "%zu rows of %s%s; Ctrl-C ends\n", recording.rows, title, strrchr(path, '/'));
        for (bool go = true; go && !ff_cli_interrupted();) {
            go = ff_player_step(&player, ff_clock_now());
            usleep(8000);
        }
        status = recording.lost ? FF_EXIT_FAILED : FF_EXIT_DONE;
        if (recording.lost)
            ff_cli_error("%s: it became shorter, or cannot be read any more, while it was shown", path);
    }
    ff_player_free(&player);
    ff_live_stop(live);
    free(config);
    free(document);
    free(summary);
    ff_recording_close(&recording);
    return status;
}

int ff_cmd_view(int argc, char **argv) {
    const char *folder = NULL, *address = "127.0.0.1:8080";
    int status;
    bool quiet = false;
    const ff_option options[] = {FF_OPT("--live", &address), FF_OPT_FLAG("--quiet", &quiet), {0}};
    if (ff_cli_parse(argc, argv, "view", help, options, "folder", &folder, &status))
        return status;
    return play(folder, address, quiet);
}
