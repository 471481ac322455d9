/* runs/verify.c - is a run what its manifest says, and does its log give the same bits again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/replay.h"
#include "runs/internal.h"
#include "runs/list.h"
#include "text/message.h"

enum { SUMMARY_BYTES = 16 << 20 };

typedef struct verification {
    const char *folder;
    char from[FF_FILE_PATH]; /* from where the paths of inputs start */
    const ff_catalog *catalog;
    ff_run_take *take;
    void *user;
    ff_run_verify *out;
    const ff_node *results;
} verification;

static void report_check(const verification *v, const char *kind, const char *what, const char *recorded,
                         const char *found, bool good) {
    const ff_run_finding finding = {.kind = kind, .what = what, .a = recorded, .b = found, .good = good};
    v->take(v->user, &finding);
}

static const char *filled_member(const ff_node *node, const char *key) {
    const ff_node *found = ff_node_find(node, key);
    return found && found->kind == FF_NODE_SCALAR && (found->quoted || strcmp(found->text, "null") != 0)
               ? found->text
               : "";
}

/* Paths stand as they were given, from the folder in which the program was started. Where that folder was
 * moved as a whole or copied, the run still has its place in it: then from where it is now. */
static void find_start(const char *folder, const ff_manifest *m, char from[FF_FILE_PATH]) {
    const char *place = ff_manifest_text(m, "place");
    char *now = realpath(folder, NULL);
    const size_t whole = now ? strlen(now) : 0, part = strlen(place);
    snprintf(from, FF_FILE_PATH, "%s", ff_manifest_text(m, "folder"));
    if (part && whole > part + 1 && whole - part < FF_FILE_PATH && now[whole - part - 1] == '/' &&
        strcmp(now + whole - part, place) == 0)
        snprintf(from, FF_FILE_PATH, "%.*s", (int)(whole - part - 1), now);
    free(now);
}

static void check_input(const verification *v, const ff_node *input) {
    char path[FF_FILE_PATH], hash[FF_SHA256_TEXT], text[FF_FILE_PATH + 80];
    const char *name = filled_member(input, "path"), *recorded = filled_member(input, "sha256");
    uint64_t size;
    if (*name == '/')
        snprintf(path, sizeof path, "%s", name);
    else if (!ff__run_join(path, v->from, name))
        *path = 0;
    if (!*recorded)
        return; /* from a pipe */
    const bool read = ff_sha256_file(path, false, hash, &size) == FF_OK;
    const bool same = read && strcmp(hash, recorded) == 0;
    if (!read)
        snprintf(text, sizeof text, "%s cannot be read (%s)", path, strerror(errno));
    v->out->changed += !same;
    report_check(v, "input", name, recorded, read ? hash : text, same);
}

/* "the same bits", or what differs. loop: there is something to replay; of the ideal reference there is none,
 * and the hash is all that can be verified. */
static bool replay(const verification *v, const char *path, bool *loop, char *text, size_t size) {
    char message[1024] = "";
    ff_logfile file;
    ff_replay_result result = {0};
    ff_scenario *scenario = malloc(sizeof *scenario);
    ff_status status = scenario ? ff_logfile_open(path, &file, message, sizeof message) : FF_ERR_MEMORY;
    if (status == FF_OK) {
        status = ff_replay_check(&file, message, sizeof message);
        if (status == FF_OK)
            status = ff_logfile_scenario(&file, v->catalog, scenario, message, sizeof message);
        *loop = status != FF_OK || (!scenario->emulates && scenario->method);
        if (status == FF_OK && *loop)
            status = ff_replay(&file, scenario, &result, message, sizeof message);
        ff_logfile_close(&file);
    }
    if (status != FF_OK)
        snprintf(text, size, "%s", *message ? message : ff_status_text(status));
    else if (!*loop)
        snprintf(text, size, "nothing: the ideal reference has no loop");
    else if (result.differs)
        snprintf(text, size, "cycle %llu: %s was %.17g, is %.17g", (unsigned long long)result.cycle,
                 result.column, result.recorded, result.replayed);
    else
        snprintf(text, size, "%llu cycles, the same bits%s", (unsigned long long)result.cycles,
                 result.cut ? ", but the log was cut off" : "");
    free(scenario);
    return status == FF_OK && !result.differs && !result.cut;
}

static void check_result(const verification *v, const ff_node *node) {
    char path[FF_FILE_PATH], hash[FF_SHA256_TEXT], text[1200];
    const char *recorded = node->kind == FF_NODE_SCALAR ? node->text : "";
    const bool read = ff__run_is_below(node->key) && ff__run_join(path, v->folder, node->key) &&
                      ff__run_hash(v->folder, node->key, hash) == FF_OK;
    const bool same = read && strcmp(hash, recorded) == 0;
    const bool link = !read && ff__run_is_below(node->key) && ff__run_is_link(v->folder, node->key);
    v->out->checked++;
    v->out->different += !same;
    report_check(v, "result", node->key, recorded,
                 read   ? hash
                 : link ? "a link, which is not followed"
                        : "cannot be read",
                 same);
    const size_t n = strlen(node->key);
    if (!read || n < 8 || strcmp(node->key + n - 8, "log.mcap") != 0)
        return;
    bool loop = true;
    const bool again = replay(v, path, &loop, text, sizeof text);
    v->out->checked++;
    v->out->different += !again;
    v->out->replayed += again && loop;
    report_check(v, "log", node->key, "the same bits", text, again);
}

/* One run's verdict and method stand in its summary, too. */
static ff_status check_summary(const verification *v, const ff_manifest *m) {
    static const char *const key[] = {"method", "verdict"};
    char path[FF_FILE_PATH], *text = NULL;
    size_t length;
    ff_tree tree = {0};
    ff_node *root = NULL;
    ff_tree_error error;
    const char *command = ff_manifest_text(m, "command");
    if ((strcmp(command, "run") != 0 && strcmp(command, "rt") != 0) ||
        ff__run_is_link(v->folder, "summary.json") || !ff__run_join(path, v->folder, "summary.json"))
        return FF_OK;
    ff_status status = ff_file_read_own(path, SUMMARY_BYTES, &text, &length, NULL, 0);
    if (status == FF_OK)
        status = ff_tree_parse(&tree, text, length, NULL, &root, &error);
    for (size_t i = 0; status == FF_OK && root && root->kind == FF_NODE_MAP && i < sizeof key / sizeof *key;
         i++) {
        const char *recorded = ff_manifest_text(m, key[i]), *found = filled_member(root, key[i]);
        const bool same = !*found || strcmp(recorded, found) == 0;
        v->out->checked++;
        v->out->different += !same;
        if (!same)
            report_check(v, "run", key[i], recorded, found, false);
    }
    ff_tree_free(&tree);
    free(text);
    return status == FF_ERR_MEMORY ? status : FF_OK;
}

/* Is there what every run writes. */
static bool has_results(const ff_node *results) {
    for (const ff_node *n = results && results->kind == FF_NODE_MAP ? results->child : NULL; n; n = n->next) {
        const char *slash = strrchr(n->key, '/'), *name = slash ? slash + 1 : n->key;
        if (strcmp(name, "summary.json") == 0 || strcmp(name, "delay-margin.csv") == 0)
            return true;
    }
    return false;
}

/* A file that the run did not write is said, and no fault: notes, exports. */
static bool check_other(void *user, const char *file) {
    const verification *v = user;
    if (!ff_node_find(v->results, file))
        report_check(v, "other", file, "-", "not of this run", true);
    return true;
}

ff_status ff_runs_verify(const char *folder, const ff_catalog *catalog, ff_run_take *take, void *user,
                         ff_run_verify *out, char *message, size_t size) {
    char fresh[FF_FILE_PATH];
    struct stat info;
    ff_manifest m;
    *out = (ff_run_verify){0};
    errno = 0;
    const ff_status status = ff_manifest_read(folder, &m);
    const int unread = errno;
    const bool moving = ff__run_join(fresh, folder, FF_RUN_NEW) && stat(fresh, &info) == 0;
    if (status == FF_ERR_MEMORY)
        return ff_refuse(status, message, size, "no memory");
    if (status != FF_OK && moving)
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         "a switch to a new run was cut short; the next run with --out completes it");
    if (status != FF_OK) {
        char why[200];
        ff__manifest_trouble(folder, status, unread, why, sizeof why);
        return ff_refuse(
            FF_ERR_FORMAT, message, size, "%s%s", why,
            status == FF_ERR_IO && unread == ENOENT ? ": not a run, or one of a version before 0.2" : "");
    }
    if (!ff_manifest_complete(&m)) {
        ff_refuse(FF_ERR_FORMAT, message, size, "the run is %s: %s",
                  ff__run_locked(folder) ? "still written" : "not complete", ff_manifest_text(&m, "state"));
        ff_manifest_free(&m);
        return FF_ERR_FORMAT;
    }
    const ff_node *inputs = ff_node_find(m.root, "inputs");
    verification v = {.folder = folder,
                      .catalog = catalog,
                      .take = take,
                      .user = user,
                      .out = out,
                      .results = ff_node_find(m.root, "results")};
    if (!has_results(v.results)) {
        ff_manifest_free(&m);
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         "its manifest.json is damaged, or not ours: its results have no summary.json");
    }
    find_start(folder, &m, v.from);
    out->checked++;
    out->different += !m.sealed;
    if (!m.sealed)
        report_check(&v, "run", FF_RUN_MANIFEST, "its own SHA-256", "not what was written", false);
    for (const ff_node *n = inputs && inputs->kind == FF_NODE_LIST ? inputs->child : NULL; n; n = n->next)
        check_input(&v, n);
    for (const ff_node *n = v.results->child; n; n = n->next)
        check_result(&v, n);
    errno = 0;
    const bool enough = check_summary(&v, &m) == FF_OK;
    const bool walked = enough && ff__run_files(folder, true, check_other, &v);
    const int error = enough ? errno : ENOMEM;
    ff_manifest_free(&m);
    if (walked)
        return FF_OK;
    return ff_refuse(error == ENOMEM ? FF_ERR_MEMORY : FF_ERR_FORMAT, message, size,
                     "its files cannot be listed (%s)", strerror(error));
}
