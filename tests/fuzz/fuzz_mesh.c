/* Any bytes as an STL or OBJ file: triangles of vertices that are there, or a reason. */
#include "scenario/mesh.h"

#include <math.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    ff_mesh mesh;
    char message[256] = "";
    unsigned char *copy = malloc(size + 1); /* as a file is read: a zero behind it */
    memcpy(copy, bytes, size);
    copy[size] = 0;
    if (ff_mesh_parse(copy, size, &mesh, message, sizeof message) == FF_OK) {
        for (size_t i = 0; i < 3 * mesh.triangles; i++)
            FUZZ_CHECK(mesh.index[i] < mesh.vertices);
        for (size_t i = 0; i < 3 * mesh.vertices; i++)
            FUZZ_CHECK(isfinite(mesh.vertex[i]));
        ff_mesh_free(&mesh);
    } else {
        FUZZ_CHECK(message[0]);
    }
    free(copy);
    return 0;
}
