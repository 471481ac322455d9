#include "obsw/shared.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* dlsym gives an object pointer; POSIX lets it stand for a function. */
static bool find(void *library, const char *name, void *function, size_t bytes) {
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, bytes);
    return symbol != NULL;
}

ff_status ff_obsw_shared_open(ff_obsw_shared *shared, const char *path, const ff_obsw_setup *setup,
                              char *message, size_t size) {
    uint32_t (*version)(void);
    void *(*create)(const ff_obsw_setup *);
    *shared = (ff_obsw_shared){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!shared->library) {
        snprintf(message, size, "the on-board software does not load: %s", dlerror());
        return FF_ERR_DEVICE;
    }
    const char *lacks = NULL;
    if (!find(shared->library, "ff_obsw_version", &version, sizeof version))
        lacks = "ff_obsw_version";
    else if (!find(shared->library, "ff_obsw_create", &create, sizeof create))
        lacks = "ff_obsw_create";
    else if (!find(shared->library, "ff_obsw_step", &shared->step, sizeof shared->step))
        lacks = "ff_obsw_step";
    else if (!find(shared->library, "ff_obsw_destroy", &shared->destroy, sizeof shared->destroy))
        lacks = "ff_obsw_destroy";
    if (lacks)
        snprintf(message, size, "the on-board software %s lacks the function %s", path, lacks);
    else if (version() != FF_OBSW_VERSION) {
        snprintf(message, size, "the on-board software %s is of version %u, allowed: %u", path, version(),
                 FF_OBSW_VERSION);
        lacks = "version";
    } else if (!(shared->self = create(setup))) {
        snprintf(message, size, "the on-board software %s refuses to start", path);
        lacks = "self";
    }
    if (!lacks)
        return FF_OK;
    dlclose(shared->library);
    *shared = (ff_obsw_shared){0};
    return FF_ERR_DEVICE;
}

void ff_obsw_shared_close(ff_obsw_shared *shared) {
    if (!shared->library)
        return;
    shared->destroy(shared->self);
    dlclose(shared->library);
    *shared = (ff_obsw_shared){0};
}
