#include "text/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* The absolute path of a module of this program. */
static bool path_of(const char *name, char *path, size_t size) {
    static const char *const place[] = {"../" FF_LIBDIR "/freefloat", "modules"};
    char self[PATH_SIZE], candidate[PATH_SIZE + 64];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s/%s.so", self, place[i], name);
        char *whole = realpath(candidate, NULL);
        if (whole) {
            snprintf(path, size, "%s", whole);
            free(whole);
            return true;
        }
        if (i == 0)
            snprintf(path, size, "%s", candidate);
    }
    return false;
}

const void *ff_module_table(const char *name, char *message, size_t size) {
    char path[PATH_SIZE + 64] = "";
    if (!path_of(name, path, sizeof path)) {
        snprintf(message, size, "the module %s is missing: no %s; install freefloat again, with it", name,
                 *path ? path : "/proc/self/exe");
        return NULL;
    }
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const ff_module *module = library ? dlsym(library, "ff_module_offer") : NULL;
    if (!module)
        snprintf(message, size, "the module %s cannot be loaded: %s", name, dlerror());
    else if (strcmp(module->version, FF_MODULE_VERSION) != 0)
        snprintf(message, size, "%s is of version %s, allowed: %s; install freefloat again", path,
                 module->version, FF_MODULE_VERSION);
    else
        return module->table;
    return NULL;
}
