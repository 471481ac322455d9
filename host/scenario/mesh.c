#include "scenario/mesh.h"
#include "text/file.h"
#include "text/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 65535, SLOTS = 1 << 17, FACE = 64 };

typedef struct shaper {
    ff_mesh *mesh;
    uint32_t *slot; /* hash of vertices: number + 1 */
    char *message;
    size_t size;
} shaper;

static uint32_t hash(const float v[3]) {
    uint32_t bits[3], h = 2166136261u;
    memcpy(bits, v, sizeof bits);
    for (int i = 0; i < 3; i++)
        h = (h ^ bits[i]) * 16777619u;
    return h ^ (h >> 15);
}

/* Number of the vertex, a new one if it was not there; negative: too many. */
static int vertex_of(shaper *b, const float given[3]) {
    float v[3];
    for (int i = 0; i < 3; i++)
        v[i] = given[i] + 0.0f; /* one zero */
    ff_mesh *m = b->mesh;
    for (uint32_t at = hash(v) % SLOTS;; at = (at + 1) % SLOTS) {
        if (b->slot[at] == 0) {
            if (m->vertices == VERTICES)
                return -1;
            memcpy(m->vertex + 3 * m->vertices, v, sizeof v);
            b->slot[at] = (uint32_t)++m->vertices;
            return (int)m->vertices - 1;
        }
        const float *there = m->vertex + 3 * (size_t)(b->slot[at] - 1);
        if (there[0] == v[0] && there[1] == v[1] && there[2] == v[2])
            return (int)b->slot[at] - 1;
    }
}

static ff_status triangle(shaper *b, float corner[3][3]) {
    ff_mesh *m = b->mesh;
    if (m->triangles == FF_MESH_TRIANGLES)
        return ff_refuse(FF_ERR_LIMIT, b->message, b->size, "more than 20000 triangles");
    int n[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            if (!(fabsf(corner[i][k]) < 1e9f))
                return ff_refuse(FF_ERR_FORMAT, b->message, b->size, "a vertex is not finite or beyond 1e9");
        if ((n[i] = vertex_of(b, corner[i])) < 0)
            return ff_refuse(FF_ERR_LIMIT, b->message, b->size, "more than 65535 vertices");
    }
    if (n[0] == n[1] || n[1] == n[2] || n[0] == n[2])
        return FF_OK; /* no area */
    for (int i = 0; i < 3; i++)
        m->index[3 * m->triangles + (size_t)i] = (uint16_t)n[i];
    m->triangles++;
    return FF_OK;
}

static uint32_t little(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static ff_status binary_stl(shaper *b, const unsigned char *bytes, size_t count) {
    ff_status status = FF_OK;
    for (size_t t = 0; t < count && !status; t++) {
        float corner[3][3];
        for (size_t i = 0; i < 9; i++) {
            const uint32_t bits = little(bytes + 84 + 50 * t + 12 + 4 * i);
            memcpy(&corner[i / 3][i % 3], &bits, sizeof bits);
        }
        status = triangle(b, corner);
    }
    return status;
}

/* Locale-free number; false: none. */
static bool number(const char **at, float *value) {
    const char *c = *at;
    while (*c == ' ' || *c == '\t')
        c++;
    const char *begin = c;
    double sign = 1.0, mantissa = 0.0;
    int digits = 0, exponent = 0;
    if (*c == '+' || *c == '-')
        sign = *c++ == '-' ? -1.0 : 1.0;
    for (; *c >= '0' && *c <= '9'; c++, digits++)
        mantissa = 10.0 * mantissa + (*c - '0');
    if (*c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++, digits++, exponent--)
            mantissa = 10.0 * mantissa + (*c - '0');
    if (digits == 0 || c - begin > 60)
        return false;
    if (*c == 'e' || *c == 'E') {
        int e = 0, minus = 0;
        c++;
        if (*c == '+' || *c == '-')
            minus = *c++ == '-';
        for (; *c >= '0' && *c <= '9'; c++)
            e = e < 1000 ? 10 * e + (*c - '0') : e;
        exponent += minus ? -e : e;
    }
    *value = (float)(sign * mantissa * pow(10.0, exponent));
    *at = c;
    return true;
}

static const char *word(const char *line, const char *name) {
    while (*line == ' ' || *line == '\t')
        line++;
    const size_t n = strlen(name);
    return strncmp(line, name, n) == 0 && (line[n] == ' ' || line[n] == '\t') ? line + n : NULL;
}

static ff_status text_stl(shaper *b, const char *text) {
    float corner[3][3];
    int have = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *at = word(line, "vertex");
        if (!at)
            continue;
        for (int k = 0; k < 3; k++)
            if (!number(&at, &corner[have][k]))
                return ff_refuse(FF_ERR_FORMAT, b->message, b->size, "a vertex without three numbers");
        if (++have < 3)
            continue;
        have = 0;
        const ff_status status = triangle(b, corner);
        if (status)
            return status;
    }
    return have ? ff_refuse(FF_ERR_FORMAT, b->message, b->size, "a facet without three vertices") : FF_OK;
}

/* The vertices of an OBJ file as they stand, for its faces. */
static ff_status obj(shaper *b, const char *text) {
    size_t count = 0, capacity = 1024;
    float(*v)[3] = malloc(capacity * sizeof *v);
    ff_status status = v ? FF_OK : FF_ERR_MEMORY;
    for (const char *line = text; line && !status;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *at = word(line, "v");
        if (at) {
            if (count == capacity) {
                float(*grown)[3] = realloc(v, (capacity *= 2) * sizeof *v);
                if (!grown) {
                    status = FF_ERR_MEMORY;
                    break;
                }
                v = grown;
            }
            for (int k = 0; k < 3 && !status; k++)
                if (!number(&at, &v[count][k]))
                    status = ff_refuse(FF_ERR_FORMAT, b->message, b->size, "a vertex without three numbers");
            count++;
            continue;
        }
        if (!(at = word(line, "f")))
            continue;
        size_t corner[FACE];
        int n = 0;
        char *end;
        for (long value;
             n < FACE && (value = strtol(at, &end, 10), end != at);) { /* a limit when it is larger */
            const long k = value < 0 ? (long)count + value : value - 1;
            at = end;
            if (*at && !strchr(" \t\r\n/", *at)) {
                status =
                    ff_refuse(FF_ERR_FORMAT, b->message, b->size, "a face's vertex is not a whole number");
                break;
            }
            if (k < 0 || (size_t)k >= count) {
                status =
                    ff_refuse(FF_ERR_FORMAT, b->message, b->size, "a face names a vertex that is not there");
                break;
            }
            corner[n++] = (size_t)k;
            while (*at && *at != ' ' && *at != '\t' && *at != '\n' && *at != '\r') /* texture, normal */
                at++;
        }
        for (int i = 2; i < n && !status; i++) { /* a fan */
            float c[3][3];
            memcpy(c[0], v[corner[0]], sizeof c[0]);
            memcpy(c[1], v[corner[i - 1]], sizeof c[1]);
            memcpy(c[2], v[corner[i]], sizeof c[2]);
            status = triangle(b, c);
        }
    }
    free(v);
    return status;
}

ff_status ff_mesh_parse(const unsigned char *bytes, size_t length, ff_mesh *mesh, char *message,
                        size_t size) {
    *mesh = (ff_mesh){0};
    shaper b = {mesh, calloc(SLOTS, sizeof *b.slot), message, size};
    mesh->vertex = malloc((size_t)VERTICES * 3 * sizeof *mesh->vertex);
    mesh->index = malloc((size_t)FF_MESH_TRIANGLES * 3 * sizeof *mesh->index);
    char *text = malloc(length + 1);
    ff_status status = FF_ERR_MEMORY;
    snprintf(message, size, "no memory");
    if (b.slot && mesh->vertex && mesh->index && text) {
        memcpy(text, bytes, length);
        text[length] = 0;
        const uint64_t count = length >= 84 ? little(bytes + 80) : 0;
        if (count > 0 && length == 84 + 50 * count)
            status = binary_stl(&b, bytes, (size_t)count);
        else if (strlen(text) != length)
            status = ff_refuse(FF_ERR_FORMAT, message, size, "neither an STL nor an OBJ file");
        else if (strncmp(text, "solid", 5) == 0)
            status = text_stl(&b, text);
        else
            status = obj(&b, text);
        if (!status && mesh->triangles == 0)
            status = ff_refuse(FF_ERR_FORMAT, message, size, "neither an STL nor an OBJ file with triangles");
    }
    free(text);
    free(b.slot);
    if (status)
        ff_mesh_free(mesh);
    return status;
}

ff_status ff_mesh_load(ff_held *held, const char *path, ff_mesh *mesh, char *message, size_t size) {
    *mesh = (ff_mesh){0};
    ff_held own = {0};
    const ff_held_file *file;
    size_t length;
    ff_status status = ff_held_read(held ? held : &own, path, FF_MESH_BYTES, &file, &length, message, size);
    if (status == FF_ERR_SIZE) {
        snprintf(message, size, "larger than 8 MiB");
        status = FF_ERR_LIMIT;
    } else if (status != FF_OK)
        status = FF_ERR_IO;
    else
        status = ff_mesh_parse((const unsigned char *)file->text, length, mesh, message, size);
    ff_held_free(&own);
    return status;
}

void ff_mesh_free(ff_mesh *mesh) {
    free(mesh->vertex);
    free(mesh->index);
    *mesh = (ff_mesh){0};
}
