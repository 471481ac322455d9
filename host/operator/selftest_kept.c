/* What the last self-test of this computer came to, from one program to the next: a few lines of text. */
#include "operator/selftest.h"

#include "text/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static ff_status place(char *path, size_t size, bool make) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const bool own = state && *state;
    char folder[FF_FILE_PATH - 16];
    if (!own && !(home && *home))
        return FF_ERR_ARGUMENT;
    const int n =
        snprintf(folder, sizeof folder, "%s%s/freefloat", own ? state : home, own ? "" : "/.local/state");
    if (n < 0 || (size_t)n >= sizeof folder || (size_t)n + sizeof "/selftest" > size)
        return FF_ERR_SIZE;
    const ff_status status = make ? ff_folder_make(folder) : FF_OK;
    snprintf(path, size, "%s/selftest", folder);
    return status;
}

typedef struct verdict {
    char machine[80], kernel[160];
    long long when;
    int fit_250, fit_1000;
} verdict;

/* The computer by its identity, where it has one, and by its name. */
static void here(verdict *v) {
    struct utsname name;
    char *text = NULL;
    size_t length;
    *v = (verdict){.machine = "?", .kernel = "?"};
    const bool known = uname(&name) == 0;
    if (known)
        snprintf(v->kernel, sizeof v->kernel, "%.60s", name.release);
    ff_file_read("/etc/machine-id", 4096, &text, &length, NULL, 0);
    snprintf(v->machine, sizeof v->machine, "%.32s/%.40s", text ? text : "", known ? name.nodename : "?");
    for (char *c = v->machine; *c; c++)
        *c = *c <= ' ' ? '-' : *c;
    free(text);
}

ff_status ff_selftest_keep(const ff_selftest *test, int64_t now, char *path, size_t size) {
    verdict v;
    char text[512];
    const ff_status status = place(path, size, true);
    if (status != FF_OK)
        return status;
    here(&v);
    snprintf(text, sizeof text,
             "freefloat selftest 1\nmachine %s\nkernel %s\ntime %" PRId64 "\nfit_250 %d\nfit_1000 %d\n",
             v.machine, v.kernel, now, test->fit_250, test->fit_1000);
    return ff_file_replace(path, text);
}

static bool read_kept(verdict *v) {
    char path[FF_FILE_PATH], *text = NULL;
    size_t length;
    if (place(path, sizeof path, false) != FF_OK ||
        ff_file_read(path, 4096, &text, &length, NULL, 0) != FF_OK)
        return false;
    const bool good =
        sscanf(text, "freefloat selftest 1 machine %79s kernel %159s time %lld fit_250 %d fit_1000 %d",
               v->machine, v->kernel, &v->when, &v->fit_250, &v->fit_1000) == 5;
    free(text);
    return good;
}

bool ff_selftest_allows(double cycle, int64_t now, char *message, size_t size) {
    verdict kept, own;
    const bool fast = cycle < 0.004 - 1e-9;
    here(&own);
    const char *why = NULL;
    char old[80];
    if (!read_kept(&kept))
        why = "there is none";
    else if (strcmp(kept.machine, own.machine) != 0)
        why = "the last one was of another computer";
    else if (strcmp(kept.kernel, own.kernel) != 0)
        why = "the last one was with another kernel";
    else if (kept.when > now || now - kept.when > 86400LL * FF_SELFTEST_DAYS) {
        snprintf(old, sizeof old, "the last one is %.0f days old, allowed %d",
                 (double)(now - kept.when) / 86400.0, FF_SELFTEST_DAYS);
        why = old;
    } else if (!(fast ? kept.fit_1000 : kept.fit_250))
        why = fast ? "the last one refuses a 1 kHz loop" : "the last one refuses a 250 Hz loop";
    if (!why)
        return true;
    snprintf(message, size,
             "a real robot needs a passed self-test of this computer, and %s: freefloat rt --selftest", why);
    return false;
}
