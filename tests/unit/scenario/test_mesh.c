/* Meshes: STL in both forms and OBJ give the same triangles; everything else is refused with a sentence. */
#include "scenario/mesh.h"
#include "support.h"

static ff_status parse(const void *bytes, size_t length, ff_mesh *mesh) {
    char message[128] = "";
    const ff_status status = ff_mesh_parse(bytes, length, mesh, message, sizeof message);
    assert_true(status == FF_OK || *message);
    return status;
}

static void test_text_stl_and_obj_share_vertices(void **state) {
    (void)state;
    static const char stl[] = "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1e0 0 0\n"
                              "vertex 0 +.5 0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\n"
                              "vertex 1 0 0\nvertex 1 0.5 -0\nvertex 0 5e-1 0\nendloop\nendfacet\nendsolid\n";
    static const char obj[] =
        "# a square\nv 0 0 0\nv 1 0 0\nv 1 .5 0\nv 0 .5 0\nvn 0 0 1\nf 1/1/1 2//1 3 -1\n";
    ff_mesh a, b;
    assert_int_equal(parse(stl, sizeof stl - 1, &a), FF_OK);
    assert_int_equal(parse(obj, sizeof obj - 1, &b), FF_OK);
    assert_int_equal(a.triangles, 2);
    assert_int_equal(a.vertices, 4);
    assert_int_equal(b.triangles, 2);
    assert_int_equal(b.vertices, 4);
    assert_near((double)a.vertex[3], 1.0, 0.0);
    assert_near((double)a.vertex[7], 0.5, 0.0);
    ff_mesh_free(&a);
    ff_mesh_free(&b);
}

static void test_binary_stl(void **state) {
    (void)state;
    unsigned char bytes[84 + 50] = {[80] = 1};
    const float corner[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    memcpy(bytes + 84 + 12, corner, sizeof corner); /* this machine is little endian */
    ff_mesh mesh;
    assert_int_equal(parse(bytes, sizeof bytes, &mesh), FF_OK);
    assert_int_equal(mesh.triangles, 1);
    assert_near((double)mesh.vertex[7], 1.0, 0.0);
    ff_mesh_free(&mesh);
    for (size_t cut = 0; cut < sizeof bytes; cut++)
        assert_int_not_equal(parse(bytes, cut, &mesh), FF_OK);
    const float bad = (float)NAN;
    memcpy(bytes + 84 + 12, &bad, sizeof bad);
    assert_int_equal(parse(bytes, sizeof bytes, &mesh), FF_ERR_FORMAT);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "hello",
        "solid\nvertex 1 2\n",
        "v 0 0 0\nf 1 2 3\n",
        "f 1 2 3\n",
        "v 1 x 2\n",
        "v 1e99 0 0\nv 0 0 0\nv 0 1 0\nf 1 2 3\n",
    };
    ff_mesh mesh;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(parse(bad[i], strlen(bad[i]), &mesh), FF_OK);
    char message[128];
    assert_int_equal(ff_mesh_load(NULL, "/nowhere/at.stl", &mesh, message, sizeof message), FF_ERR_IO);
}

static void test_too_many_triangles(void **state) {
    (void)state;
    const size_t count = FF_MESH_TRIANGLES + 1, length = 84 + 50 * count;
    unsigned char *bytes = calloc(1, length);
    assert_non_null(bytes);
    bytes[80] = (unsigned char)(count & 255);
    bytes[81] = (unsigned char)(count >> 8);
    for (size_t i = 0; i < count; i++) {
        const float corner[9] = {(float)i, 0, 0, 0, 1, 0, 0, 0, 1};
        memcpy(bytes + 84 + 50 * i + 12, corner, sizeof corner);
    }
    ff_mesh mesh;
    assert_int_equal(parse(bytes, length, &mesh), FF_ERR_LIMIT);
    free(bytes);
}

/* Blanks, signs, exponents, texture and normal numbers, a face of many corners, triangles without area. */
static void test_ways_to_write_it(void **state) {
    (void)state;
    static const char obj[] = "\tv\t0 0 0\r\n v -1E+0 0.0 0\nv 0 1e-1 0 1.0\nv 0.5 .5 1e00002\nvt 0 0\n"
                              "f 1/2/3\t2//3 3/1\r\nf -4 -3 -2 -1\nf 1 1 2\nf 1 2 2\nf 2 1 2\nusemtl x\n";
    ff_mesh m;
    assert_int_equal(parse(obj, sizeof obj - 1, &m), FF_OK);
    assert_int_equal(m.triangles, 3); /* one, and a fan of two; the rest has no area */
    assert_int_equal(m.vertices, 4);
    assert_near((double)m.vertex[3], -1.0, 0.0);
    assert_near((double)m.vertex[7], 0.1, 1e-8);
    assert_near((double)m.vertex[11], 100.0, 0.0);
    ff_mesh_free(&m);
    /* more vertices than the first room has */
    static char many[1 << 17];
    int n = 0;
    for (int k = 0; k < 3000; k++)
        n += snprintf(many + n, sizeof many - (size_t)n, "v %d %d 0\n", k, k * k % 97);
    snprintf(many + n, sizeof many - (size_t)n, "f 1 2 3000\n");
    assert_int_equal(parse(many, strlen(many), &m), FF_OK);
    assert_near((double)m.vertex[6], 2999.0, 0.0);
    ff_mesh_free(&m);
}

static void test_each_refusal_says_why(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
        ff_status status;
    } row[] = {
        {"solid x\nfacet\nvertex 0 0 0\nvertex 1 0 0\n", "a facet without three vertices", FF_ERR_FORMAT},
        {"solid x\nfacet\nvertex 0 0 z\n", "a vertex without three numbers", FF_ERR_FORMAT},
        {"v 0 0\n", "a vertex without three numbers", FF_ERR_FORMAT},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "a face names a vertex that is not there", FF_ERR_FORMAT},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999999\n",
         "a face names a vertex that is not there", FF_ERR_FORMAT},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -99999999999999999999999\n", "a face names a vertex that is not there",
         FF_ERR_FORMAT},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1e999 2 3\n", "a face's vertex is not a whole number", FF_ERR_FORMAT},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "a face names a vertex that is not there", FF_ERR_FORMAT},
        {"v 0 0 0\nv 1 0 0\nv 0 2e9 0\nf 1 2 3\n", "a vertex is not finite or beyond 1e9", FF_ERR_FORMAT},
        {"v 0 0 0\nv 1 0 0\n", "neither an STL nor an OBJ file with triangles", FF_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ff_mesh m;
        char said[128] = "";
        assert_int_equal(
            ff_mesh_parse((const unsigned char *)row[i].text, strlen(row[i].text), &m, said, sizeof said),
            row[i].status);
        assert_string_equal(said, row[i].said);
        assert_null(m.vertex);
    }
    /* faces without area are not counted, their corners are */
    const size_t room = 3 << 20;
    char *text = malloc(room), said[128] = "";
    assert_non_null(text);
    size_t n = 0;
    for (int k = 0; k <= 65535; k++)
        n += (size_t)snprintf(text + n, room - n, "v %d 0 0\nf -1 -1 -1\n", k);
    ff_mesh m;
    assert_int_equal(ff_mesh_parse((const unsigned char *)text, n, &m, said, sizeof said), FF_ERR_LIMIT);
    assert_string_equal(said, "more than 65535 vertices");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_stl_and_obj_share_vertices),
        cmocka_unit_test(test_binary_stl),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many_triangles),
        cmocka_unit_test(test_ways_to_write_it),
        cmocka_unit_test(test_each_refusal_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
