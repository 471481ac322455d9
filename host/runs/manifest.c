/* runs/manifest.c - manifest.json: what ran, from what, where, and what came out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "runs/internal.h"
#include "text/clock.h"
#include "text/json.h"
#include "text/module.h"
#include "text/version.h"

enum { MANIFEST_BYTES = 4 << 20 };

/* ------------------------------------------------------------------------------------------- writing -- */

static void put_known(ff_json *json, const char *key, const char *value) {
    ff_json_string(json, key, value && *value ? value : NULL);
}

void ff__run_time(int64_t ms, char text[32]) {
    const time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    gmtime_r(&seconds, &t);
    const size_t n = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(text + n, 32 - n, ".%03dZ", (int)(ms % 1000));
}

static void put_origin(ff_json *json, const ff_run_program *program) {
    char path[FF_FILE_PATH], build[65];
    struct utsname host = {.nodename = ""};
    uname(&host);
    ff_json_open(json, "host", '{');
    ff_json_string(json, "name", host.nodename);
    ff_json_string(json, "system", host.sysname);
    ff_json_string(json, "release", host.release);
    ff_json_string(json, "machine", host.machine);
    ff_json_integer(json, "process", (long long)getpid());
    ff_json_close(json, '}');
    ff_json_open(json, "program", '{');
    ff_module_program(path, sizeof path);
    put_known(json, "path", path);
    ff_json_string(json, "version", ff_version());
    put_known(json, "commit", program ? program->commit : NULL);
    put_known(json, "build", ff_build(build));
    ff_json_close(json, '}');
    put_known(json, "folder", getcwd(path, sizeof path) ? path : NULL);
    ff_json_open(json, "arguments", '[');
    for (int i = 0; program && i < program->argc; i++)
        ff_json_string(json, NULL, program->argv[i]);
    ff_json_close(json, ']');
}

static void put_inputs(ff_json *json, const ff_run_inputs *inputs) {
    ff_json_open(json, "inputs", '[');
    for (int i = 0; inputs && i < inputs->count; i++) {
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "role", inputs->item[i].role);
        ff_json_string(json, "path", inputs->item[i].path);
        put_known(json, "sha256", inputs->item[i].sha256);
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
}

typedef struct collection {
    ff_json *json;
    const char *folder;
    uint64_t bytes;
    int error;   /* errno */
    char *which; /* file could not be hashed */
} collection;

static bool put_result(void *user, const char *file) {
    collection *c = user;
    char path[FF_FILE_PATH], text[FF_SHA256_TEXT];
    uint64_t size;
    if (!ff__run_join(path, c->folder, file) || ff_sha256_file(path, true, text, &size) != FF_OK) {
        c->error = errno;
        snprintf(c->which, FF_FILE_PATH, "%s", file);
        return false;
    }
    c->bytes += size;
    ff_json_string(c->json, file, text);
    return true;
}

static ff_status put_results(ff_json *json, const char *folder, char which[FF_FILE_PATH]) {
    collection c = {.json = json, .folder = folder, .which = which};
    ff_json_open(json, "results", '{');
    const bool good = ff__run_files(folder, false, put_result, &c);
    ff_json_close(json, '}');
    ff_json_integer(json, "bytes", (long long)c.bytes);
    errno = c.error ? c.error : errno;
    return good ? FF_OK : FF_ERR_IO;
}

/* The last key of a manifest is the SHA-256 of what stands before it; whatever else stands there is damage.
 */
enum { SEAL = sizeof ",\n  \"sha256\": \"\"\n}\n" - 1 + FF_SHA256_TEXT - 1 };

static void put_seal(const char *text, size_t length, char seal[SEAL + 1]) {
    char hash[FF_SHA256_TEXT];
    ff_sha256(text, length, hash);
    snprintf(seal, SEAL + 1, ",\n  \"sha256\": \"%s\"\n}\n", hash);
}

static bool is_sealed(const char *text, size_t length) {
    char seal[SEAL + 1];
    if (length < SEAL)
        return false;
    put_seal(text, length - SEAL, seal);
    return strcmp(text + length - SEAL, seal) == 0;
}

/* Synced before it is renamed: a power cut leaves the former or the new one. At the beginning of a run there
 * is nothing to lose yet. */
static ff_status replace(const char *folder, const char *text, bool sync) {
    static const char end[] = "\n}\n";
    char path[FF_FILE_PATH], seal[SEAL + 1];
    ff_file_whole whole;
    const size_t length = strlen(text) - (sizeof end - 1);
    put_seal(text, length, seal);
    if (!ff__run_join(path, folder, FF_RUN_MANIFEST) || ff_file_begin(path, &whole) != FF_OK)
        return FF_ERR_IO;
    const bool good = fwrite(text, 1, length, whole.file) == length && fputs(seal, whole.file) >= 0;
    return sync ? ff_file_keep(&whole, good) : ff_file_end(&whole, good);
}

ff_status ff__manifest_write(const ff_run_folder *run, const ff_run_end *end, char which[FF_FILE_PATH]) {
    const ff_run_wanted *w = &run->wanted;
    const bool complete = end && end->whole && !end->stopped;
    char ended[32];
    snprintf(which, FF_FILE_PATH, FF_RUN_MANIFEST);
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_integer(&json, "freefloat", 1);
    ff_json_string(&json, "id", run->id);
    ff_json_string(&json, "name", w->name);
    ff_json_string(&json, "command", w->command);
    ff_json_string(&json, "state",
                   complete       ? "complete"
                   : !end         ? "running"
                   : end->stopped ? "stopped"
                                  : "incomplete");
    put_known(&json, "method", end && end->method ? end->method : w->method);
    put_known(&json, "verdict", end ? end->verdict : NULL);
    if (end)
        ff_json_integer(&json, "exit_status", end->exit_status);
    ff_json_string(&json, "started", run->started);
    const int64_t now = ff_clock_real() / 1000000;
    ff__run_time(now > 0 ? now : 0, ended);
    ff_json_string(&json, "ended", end ? ended : NULL);
    put_origin(&json, w->program);
    ff_json_string(&json, "place", run->place == FF_RUN_LINKED ? run->path : run->shown);
    put_known(&json, "key", w->key);
    put_inputs(&json, w->inputs);
    const ff_status status = complete ? put_results(&json, run->path, which) : FF_OK;
    ff_json_close(&json, '}');
    char *text = ff_json_take(&json);
    if (!text)
        return FF_ERR_MEMORY;
    const ff_status written = status == FF_OK ? replace(run->path, text, end != NULL) : status;
    free(text);
    return written;
}

/* ------------------------------------------------------------------------------------------- reading -- */

ff_status ff_manifest_read(const char *folder, ff_manifest *manifest) {
    char path[FF_FILE_PATH];
    *manifest = (ff_manifest){0};
    return ff__run_join(path, folder, FF_RUN_MANIFEST) ? ff__manifest_read_file(path, manifest) : FF_ERR_IO;
}

ff_status ff__manifest_read_file(const char *path, ff_manifest *manifest) {
    size_t length;
    *manifest = (ff_manifest){0};
    struct stat info;
    const bool there = lstat(path, &info) == 0;
    if (there && S_ISLNK(info.st_mode))
        return FF_ERR_FORMAT;
    if (there && !S_ISREG(info.st_mode)) { /* a pipe may wait for its other end */
        errno = EINVAL;
        return FF_ERR_IO;
    }
    const ff_status found = ff_file_read_own(path, MANIFEST_BYTES, &manifest->text, &length, NULL, 0);
    if (found != FF_OK)
        return found == FF_ERR_MEMORY || found == FF_ERR_IO ? found : FF_ERR_FORMAT;
    manifest->sealed = is_sealed(manifest->text, length);
    manifest->tree = calloc(1, sizeof *manifest->tree);
    ff_tree_error error;
    ff_node *root = NULL;
    ff_status status = manifest->tree
                           ? ff_tree_parse(manifest->tree, manifest->text, length, NULL, &root, &error)
                           : FF_ERR_MEMORY;
    const ff_node *mark = status == FF_OK && root ? ff_node_find(root, "freefloat") : NULL;
    if (status == FF_OK && (!mark || mark->kind != FF_NODE_SCALAR || strcmp(mark->text, "1") != 0))
        status = FF_ERR_FORMAT;
    manifest->root = root;
    if (status != FF_OK)
        ff_manifest_free(manifest);
    return status;
}

void ff__manifest_trouble(const char *folder, ff_status status, int error, char *text, size_t size) {
    char path[FF_FILE_PATH];
    struct stat info = {0};
    const bool there = ff__run_join(path, folder, FF_RUN_MANIFEST) && lstat(path, &info) == 0;
    if (!there && errno == ENOENT)
        snprintf(text, size, "it has no " FF_RUN_MANIFEST);
    else if (there && S_ISLNK(info.st_mode))
        snprintf(text, size, "its " FF_RUN_MANIFEST " is a link, which is not followed");
    else if (there && !S_ISREG(info.st_mode))
        snprintf(text, size, "its " FF_RUN_MANIFEST " is not a file but a %s",
                 S_ISDIR(info.st_mode)    ? "folder"
                 : S_ISFIFO(info.st_mode) ? "pipe"
                                          : "device");
    else if (status == FF_ERR_IO)
        snprintf(text, size, "its " FF_RUN_MANIFEST " cannot be read (%s)", strerror(error ? error : errno));
    else
        snprintf(text, size, "its " FF_RUN_MANIFEST " is damaged, or not ours");
}

void ff_manifest_free(ff_manifest *manifest) {
    if (manifest->tree)
        ff_tree_free(manifest->tree);
    free(manifest->tree);
    free(manifest->text);
    *manifest = (ff_manifest){0};
}

static const char *text_of(const ff_node *map, const char *key) {
    const ff_node *node = map ? ff_node_find(map, key) : NULL;
    return node && node->kind == FF_NODE_SCALAR && (node->quoted || strcmp(node->text, "null") != 0)
               ? node->text
               : "";
}

const char *ff_manifest_text(const ff_manifest *manifest, const char *key) {
    return text_of(manifest->root, key);
}

bool ff_manifest_complete(const ff_manifest *manifest) {
    return strcmp(ff_manifest_text(manifest, "state"), "complete") == 0;
}

/* The same path; or, since "a" and "./a" are one file, the same bytes elsewhere. */
static bool is_listed(const char *path, const char *sha256, const char *other, const char *content) {
    return (strcmp(path, other) == 0 || *sha256) && strcmp(sha256, content) == 0;
}

const char *ff_manifest_changed(const ff_manifest *manifest, const ff_run_inputs *inputs) {
    const ff_node *list = manifest->root ? ff_node_find(manifest->root, "inputs") : NULL;
    const int count = inputs ? inputs->count : 0;
    for (int i = 0; i < count; i++) {
        const ff_run_input *item = &inputs->item[i];
        const ff_node *n = list ? list->child : NULL;
        while (n && !is_listed(item->path, item->sha256, text_of(n, "path"), text_of(n, "sha256")))
            n = n->next;
        if (!n)
            return item->path;
    }
    for (const ff_node *n = list ? list->child : NULL; n; n = n->next) {
        int i = 0;
        while (i < count && !is_listed(inputs->item[i].path, inputs->item[i].sha256, text_of(n, "path"),
                                       text_of(n, "sha256")))
            i++;
        if (i == count)
            return text_of(n, "path");
    }
    return NULL;
}
