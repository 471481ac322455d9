/* playground/system.c - what a page does not have, and the rooms of host/ ask for all the same: files,
 * clocks, modules and on-board software in a shared object. Each is refused with one sentence; time stands
 * still. */
#include <errno.h>

#include "obsw/shared.h"
#include "record/csv.h"
#include "record/log.h"
#include "scenario/urdf.h"
#include "text/clock.h"
#include "text/file.h"
#include "text/message.h"
#include "text/module.h"
#include "text/version.h"

static const char *const NO_FILES = "the page reads and writes no files; use freefloat run";

ff_status ff_file_read(const char *path, size_t limit, char **text, size_t *length, char *why, size_t size) {
    (void)path, (void)limit;
    *text = NULL;
    *length = 0;
    return ff_refuse(FF_ERR_IO, why, size, "%s", NO_FILES);
}

ff_status ff_file_begin(const char *path, ff_file_whole *whole) {
    (void)path, (void)whole;
    errno = ENOTSUP;
    return FF_ERR_IO;
}

ff_status ff_file_end(ff_file_whole *whole, bool good) {
    (void)whole, (void)good;
    errno = ENOTSUP;
    return FF_ERR_IO;
}

ff_status ff_file_rescue(ff_file_whole *whole, const char *cut) {
    (void)cut;
    return ff_file_end(whole, false);
}

ff_status ff_file_replace(const char *path, const char *text) {
    (void)path, (void)text;
    return ff_file_end(NULL, false);
}

ff_status ff_folder_make(const char *path) {
    return ff_file_replace(path, "");
}

/* A session without a folder opens no log. */
ff_status ff_csv_open(const char *path, const ff_scenario *scenario, ff_csv *csv) {
    (void)path, (void)scenario, (void)csv;
    return ff_file_end(NULL, false);
}
ff_sink ff_csv_sink(ff_csv *csv) {
    (void)csv;
    return (ff_sink){0};
}
ff_status ff_csv_close(ff_csv *csv, bool whole) {
    (void)csv, (void)whole;
    return FF_OK;
}
ff_status ff_log_open(const char *path, const ff_scenario *scenario, const ff_log_source *source,
                      ff_log *log) {
    (void)path, (void)scenario, (void)source, (void)log;
    return ff_file_end(NULL, false);
}
ff_sink ff_log_sink(ff_log *log) {
    (void)log;
    return (ff_sink){0};
}
ff_status ff_log_close(ff_log *log) {
    (void)log;
    return FF_OK;
}

int64_t ff_clock_now(void) {
    return 0;
}

double ff_clock_seconds(void) {
    return 0.0;
}

double ff_clock_worked(void) {
    return 0.0;
}

int64_t ff_clock_real(void) {
    return 0;
}

const void *ff_module_table(const char *name, char *message, size_t size) {
    snprintf(message, size, "the page has no module %s; use freefloat run", name);
    return NULL;
}

const char *ff_version(void) {
    return FF_VERSION;
}

const char *ff_build(char text[65]) {
    snprintf(text, 65, "page");
    return text;
}

static const char *const NO_XML = "the page reads no URDF files; use freefloat run, or a table of links";

ff_status ff_urdf_parse(const char *label, const char *text, size_t length, bool frames, ff_urdf *urdf,
                        char *message, size_t size) {
    (void)label, (void)text, (void)length, (void)frames, (void)urdf;
    return ff_refuse(FF_ERR_UNSUPPORTED, message, size, "%s", NO_XML);
}

ff_status ff_urdf_load(ff_held *held, const char *path, bool frames, ff_urdf *urdf, char *message,
                       size_t size) {
    (void)held, (void)path, (void)frames, (void)urdf;
    return ff_refuse(FF_ERR_UNSUPPORTED, message, size, "%s", NO_XML);
}

ff_status ff_urdf_chain(const char *label, const ff_urdf *urdf, ff_urdf *chain, ff_pose *tip, char *message,
                        size_t size) {
    (void)label, (void)urdf, (void)chain, (void)tip;
    return ff_refuse(FF_ERR_UNSUPPORTED, message, size, "%s", NO_XML);
}

ff_status ff_obsw_shared_open(ff_obsw_shared *shared, ff_held *held, const char *path,
                              const ff_obsw_setup *setup, double timeout, char *message, size_t size) {
    (void)held, (void)path, (void)setup, (void)timeout;
    *shared = (ff_obsw_shared){0};
    return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                     "the page loads no shared object; use freefloat run, or obsw: {kind: built-in}");
}

ff_status ff_obsw_shared_step(ff_obsw_shared *shared, const ff_obsw_in *in, ff_obsw_out *out) {
    (void)shared, (void)in, (void)out;
    return FF_ERR_UNSUPPORTED;
}

void ff_obsw_shared_close(ff_obsw_shared *shared) {
    (void)shared;
}

bool ff_obsw_shared_text(const ff_obsw_shared_info *info, double timeout, char *text, size_t size) {
    (void)info, (void)timeout, (void)text, (void)size;
    return false;
}
