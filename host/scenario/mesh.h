/* scenario/mesh.h - a small triangle mesh from an STL (binary or text) or OBJ file, only to be looked at. */
#ifndef FF_SCENARIO_MESH_H
#define FF_SCENARIO_MESH_H

#include "freefloat/base.h"
#include "text/held.h"

enum {
    FF_MESH_TRIANGLES = 20000, /* at most */
    FF_MESH_BYTES = 8 << 20    /* of a file, at most */
};

typedef struct ff_mesh {
    size_t vertices, triangles;
    float *vertex;   /* 3 each, as the file gives them; equal ones once */
    uint16_t *index; /* 3 each */
} ff_mesh;

/* As `held` (may be NULL) has the file. FF_ERR_IO, FF_ERR_FORMAT, FF_ERR_LIMIT (too large), FF_ERR_MEMORY;
 * `message` says why. */
ff_status ff_mesh_load(ff_held *held, const char *path, ff_mesh *mesh, char *message, size_t size);
/* From memory, for tests. */
ff_status ff_mesh_parse(const unsigned char *bytes, size_t length, ff_mesh *mesh, char *message, size_t size);
void ff_mesh_free(ff_mesh *mesh);

#endif
