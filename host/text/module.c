#include "text/module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const char own_file_mark; /* an address of this code */

static bool whole_path(const char *name, char *path, size_t size) {
    char *whole = name ? realpath(name, NULL) : NULL;
    if (!whole)
        return false;
    snprintf(path, size, "%s", whole);
    free(whole);
    return true;
}

bool ff_module_program(char *path, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = 0;
    /* without /proc, as in a bare chroot: the name that the kernel was given */
    return length > 0 || whole_path((const char *)(uintptr_t)getauxval(AT_EXECFN), path, size);
}

/* The file that this code is in. False: it cannot be found. */
static bool own_file(char *path, size_t size, bool *library) {
    Dl_info info;
    struct link_map *map = NULL;
    *library = dladdr1(&own_file_mark, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name[0] &&
               strchr(map->l_name, '/');
    return *library ? whole_path(map->l_name, path, size) : ff_module_program(path, size);
}

bool ff_module_own_folder(char *path, size_t size, bool *library) {
    if (!own_file(path, size, library))
        return false;
    *strrchr(path, '/') = 0;
    return true;
}

bool ff_module_path(const char *file, char *path, size_t size) {
    static const char *const beside_program[] = {"../" FF_LIBDIR "/freefloat", "modules"},
                             *const beside_library[] = {"freefloat", "modules"};
    char self[PATH_SIZE], candidate[PATH_SIZE + 64];
    bool library;
    if (!ff_module_own_folder(self, sizeof self, &library))
        return false;
    const char *const *place = library ? beside_library : beside_program;
    for (size_t i = 0; i < 2; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s/%s", self, place[i], file);
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
    char path[PATH_SIZE + 64] = "", file[64];
    snprintf(file, sizeof file, "%s.so", name);
    if (!ff_module_path(file, path, sizeof path)) {
        snprintf(message, size, "the module %s is missing: no %s; install freefloat again, with it", name,
                 *path ? path : "/proc");
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
