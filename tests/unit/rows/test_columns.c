/* One list of fields feeds every log and page: its columns read and write the row where they say, no two
 * share a name or a place, and docs/report.md shows the same list. */
#include "support.h"

#include "rows/columns.h"

static ff_scenario scenario;

static void load(const char *file) {
    char message[1024], warnings[2048];
    if (ff_scenario_load(file, NULL, &scenario, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static double value_of(const ff_columns *columns, const double *values, const char *body, const char *what) {
    const int i = ff_columns_find(columns, body, what);
    if (i < 0)
        fail_msg("no column %s.%s", body, what);
    return values[i];
}

static void randomize(ff_rng *rng, void *memory, size_t size) {
    double *at = memory;
    for (size_t i = 0; i < size / sizeof *at; i++)
        at[i] = ff_rng_normal(rng);
}

static void test_values_are_the_row_s(void **state) {
    (void)state;
    load("scenarios/envisat-capture.yaml");
    ff_columns c;
    assert_int_equal(ff_columns_init(&scenario, &c), FF_OK);
    ff_row *row = calloc(1, sizeof *row);
    double *v = calloc((size_t)c.count, sizeof *v);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    const int s = ff_scenario_servicer(&scenario), o = 1 - s;
    const char *name = scenario.satellite[s].name, *other = scenario.satellite[o].name;
    ff_row_body *b = &row->body[o];
    randomize(&rng, &b->satellite, sizeof b->satellite);
    randomize(&rng, &b->ideal, sizeof b->ideal);
    randomize(&rng, &b->robot, sizeof b->robot);
    randomize(&rng, &b->command, sizeof b->command);
    randomize(&rng, &b->energy, sizeof b->energy);
    b->in_contact = true;
    row->t = 3.25;
    row->bounds = 5;
    row->status = FF_ERR_DIVERGED;
    row->servicer.q[2] = 0.5;
    row->servicer.motor[1] = -7.0;
    row->servicer.phase = 4;
    row->servicer.W_a = FF_NAN;
    row->contact_force[0] = ff_vec3_make(2.0, -3.0, 6.0);
    row->touching[0] = true;
    ff_columns_values(&c, row, v);
    assert_true(value_of(&c, v, "", "t [s]") == 3.25);
    assert_true(value_of(&c, v, other, "position.y [m]") == b->satellite.position.y);
    assert_true(value_of(&c, v, other, "attitude.w") == b->satellite.attitude.w);
    assert_true(value_of(&c, v, other, "attitude.z") == b->satellite.attitude.z);
    assert_true(value_of(&c, v, other, "ideal.angular_velocity.x [rad/s]") == b->ideal.omega.x);
    assert_true(value_of(&c, v, other, "robot.attitude.x") == b->robot.T.q.x);
    assert_true(value_of(&c, v, other, "robot.velocity.z [m/s]") == b->robot.twist.v.z);
    assert_true(value_of(&c, v, other, "command.angular_velocity.y [rad/s]") == b->command.twist.w.y);
    assert_true(value_of(&c, v, other, "energy.loads [J]") == b->energy.loads);
    assert_true(value_of(&c, v, other, "in_contact") == 1.0);
    assert_true(value_of(&c, v, name, "in_contact") == 0.0);
    const ff_vec3 apart = ff_vec3_sub(b->satellite.velocity, b->ideal.velocity);
    /* a norm of three numbers of size 1: a few roundings */
    assert_near(value_of(&c, v, other, "error.velocity [m/s]"),
                sqrt(apart.x * apart.x + apart.y * apart.y + apart.z * apart.z), 1e-14);
    assert_true(value_of(&c, v, name, "joint.3.angle [rad]") == 0.5);
    assert_true(value_of(&c, v, name, "joint.2.motor_torque [N m]") == -7.0);
    assert_true(value_of(&c, v, name, "obsw.phase") == 4.0);
    assert_true(isnan(value_of(&c, v, name, "monitor.W_a")));
    char contact[FF_NAME_SIZE + 16];
    snprintf(contact, sizeof contact, "contact.%s", scenario.contact[0].name);
    assert_near(value_of(&c, v, contact, "force [N]"), 7.0, 1e-15);
    assert_true(value_of(&c, v, contact, "force.y [N]") == -3.0);
    assert_true(value_of(&c, v, contact, "touching") == 1.0);
    assert_true(value_of(&c, v, "", "identified.bounds") == 5.0);
    assert_true(value_of(&c, v, "", "status") == FF_ERR_DIVERGED);
    assert_int_equal(ff_columns_find(&c, "", "velocity"), -1);
    free(row);
    free(v);
    ff_columns_free(&c);
}

/* Every number in a column of its own: what is written into one is read from it alone, bit for bit, and the
 * names are distinguished. */
static void check_places(ff_rng *rng, const ff_columns *c) {
    ff_row *row = calloc(1, sizeof *row);
    double *given = calloc((size_t)c->count, sizeof *given), *got = calloc((size_t)c->count, sizeof *got);
    for (int i = 0; i < c->count; i++) {
        const ff_field_type type = c->column[i].field->type;
        const double whole = floor(ff_rng_range(rng, 1.0, 1e6));
        given[i] = type == FF_FIELD_FLAG                               ? (double)(i % 2)
                   : type == FF_FIELD_INT || type == FF_FIELD_UNSIGNED ? whole
                   : i % 17 == 3                                       ? FF_NAN
                                                                       : ff_rng_normal(rng);
    }
    ff_columns_take(c, given, row);
    ff_columns_values(c, row, got);
    for (int i = 0; i < c->count; i++) {
        if (c->column[i].field->type != FF_FIELD_COMPUTED && !same_bits(given[i], got[i]))
            fail_msg("%s: %.17g came back as %.17g", c->name[i], given[i], got[i]);
        for (int j = 0; j < i; j++)
            if (strcmp(c->name[i], c->name[j]) == 0)
                fail_msg("two columns are called %s", c->name[i]);
    }
    free(row);
    free(given);
    free(got);
}

static void test_columns_have_places_of_their_own(void **state) {
    (void)state;
    static const char *const files[] = {"scenarios/envisat-capture.yaml", "scenarios/deos-client.yaml",
                                        "scenarios/wall.yaml"};
    static ff_status (*const init[])(const ff_scenario *, ff_columns *) = {
        ff_columns_init, ff_columns_init_input, ff_columns_init_tuning};
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (int relative = 0; relative < 2; relative++)
            for (size_t k = 0; k < sizeof init / sizeof *init; k++) {
                load(files[f]);
                if (relative)
                    scenario.frame = FF_FRAME_RELATIVE;
                ff_columns c;
                assert_int_equal(init[k](&scenario, &c), FF_OK);
                check_places(&rng, &c);
                if (k == 1)
                    assert_int_equal(c.count, 47 * scenario.satellites); /* docs/protocols.md says so */
                if (k == 2)
                    assert_true(c.count == 3 + 6 * scenario.satellites && c.count <= FF_COLUMNS_TUNING_MAX);
                ff_columns_free(&c);
            }
}

/* ----------------------------------------------------------------------------------------------- docs -- */

static char *document(void) {
    static const struct {
        ff_part first, last;
        const char *title;
    } sections[] = {
        {FF_PART_TIME, FF_PART_CYCLE, "`/cycle` and log.csv"},
        {FF_PART_INPUT, FF_PART_INPUT, "`/input`"},
        {FF_PART_TUNING, FF_PART_BIAS, "`/tuning`"},
    };
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        fprintf(f, "\n### %s\n\n| column | unit | holds |\n|---|---|---|\n", sections[s].title);
        for (int p = (int)sections[s].first; p <= (int)sections[s].last; p++) {
            const ff_part_fields *part = ff_columns_part((ff_part)p);
            for (int i = 0; i < part->count; i++) {
                const ff_field *x = &part->field[i];
                fprintf(f, "| `%s%s`%s | %s | %s%s |\n", part->prefix, x->name,
                        x->type == FF_FIELD_VEC3   ? " `.x` `.y` `.z`"
                        : x->type == FF_FIELD_QUAT ? " `.w` `.x` `.y` `.z`"
                                                   : "",
                        x->unit, x->text, x->flags & FF_FIELD_UNDRAWN ? "; not in report.html" : "");
            }
        }
    }
    fclose(f);
    return text;
}

/* FF_WRITE_DOCS=1 writes the tables below the page's first part anew. */
static void test_docs_show_the_list(void **state) {
    (void)state;
    static char page[64 * 1024];
    FILE *f = fopen(FF_SOURCE_DIR "/docs/report.md", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = 0;
    fclose(f);
    char *expected = document(), *tables = strstr(page, "\n### ");
    if (getenv("FF_WRITE_DOCS")) {
        f = fopen(FF_SOURCE_DIR "/docs/report.md", "w");
        assert_non_null(f);
        fprintf(f, "%.*s%s", tables ? (int)(tables - page) : (int)strlen(page), page, expected);
        fclose(f);
    } else {
        assert_non_null(tables);
        if (strcmp(tables, expected) != 0)
            fail_msg("docs/report.md is not the list of rows/columns.c: run this test with FF_WRITE_DOCS=1");
    }
    free(expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_the_row_s),
        cmocka_unit_test(test_columns_have_places_of_their_own),
        cmocka_unit_test(test_docs_show_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
