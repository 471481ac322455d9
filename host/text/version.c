#include "text/version.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *ff_version(void) {
    return FF_VERSION;
}

__attribute__((weak)) const char *ff_commit(void) {
    return "unknown";
}

/* Is this code in that object? */
static bool holds_us(const struct dl_phdr_info *info) {
    const uintptr_t here = (uintptr_t)&ff_version;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t from = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && here >= from && here - from < part->p_memsz)
            return true;
    }
    return false;
}

/* The note NT_GNU_BUILD_ID of the object that this is part of: the program, or libfreefloat-host. */
static int read_note(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    char *text = user;
    if (!holds_us(info))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(info->dlpi_addr + part->p_vaddr); // NOLINT(performance-no-int-to-ptr)
        const char *end = at + part->p_memsz;
        while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            memcpy(&note, at, sizeof note);
            const char *name = at + sizeof note;
            const unsigned char *id = (const unsigned char *)name + ((note.n_namesz + 3u) & ~3u);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                for (unsigned n = 0; n < note.n_descsz && n < 32; n++)
                    snprintf(text + (size_t)2 * n, 3, "%02x", id[n]);
                return 1;
            }
            at = (const char *)id + ((note.n_descsz + 3u) & ~3u);
        }
    }
    return 1;
}

const char *ff_build(char text[65]) {
    text[0] = 0;
    dl_iterate_phdr(read_note, text);
    return text;
}
