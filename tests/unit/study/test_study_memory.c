/* Memory that runs out in studies, references, emulations, the virtual facility, the loop of a scenario and
 * both sides of a run on devices. */
#include "folder_support.h"
#include "memory_support.h"
#include "emulate/arm.h"
#include "facility/plant.h"
#include "ideal/orbit.h"
#include "operator/operator.h"
#include "rt/ports.h"
#include "rows/columns.h"
#include "server/facility.h"
#include "study/contact_stability.h"
#include "study/workspace.h"

static ff_scenario scenario;
static char message[1024], page[128];

static int load(void **state) {
    const char *set[] = {"time.duration=0.04"};
    const ff_scenario_options options = {.set = set, .sets = 1, .method = "direct"};
    char warnings[256];
    if (make_folder(state) != 0)
        return -1;
    snprintf(page, sizeof page, "%s/m.html", test_folder);
    return ff_scenario_load(FF_SOURCE_DIR "/scenarios/wall.yaml", &options, &scenario, message,
                            sizeof message, warnings, sizeof warnings);
}

static bool say(ff_status status, const char **text) {
    if (status != FF_OK && !*message)
        snprintf(message, sizeof message, "%s", ff_status_text(status));
    *text = message;
    return status == FF_OK;
}

static bool workspace(void *user, const char **text) {
    (void)user;
    ff_workspace_config config;
    ff_workspace out;
    ff_workspace_default(&config);
    message[0] = 0;
    return say(ff_workspace_analyze(&scenario, &config, &out, message, sizeof message), text);
}

static void test_a_workspace(void **state) {
    (void)state;
    assert_true(memory_sweep(workspace, NULL) > 1);
}

static bool stability(void *user, const char **text) {
    (void)user;
    ff_contact_stability_config config;
    ff_contact_stability out;
    ff_contact_stability_default(&config);
    config.velocity_gain = 20;
    config.position_gain = 100;
    config.bandwidth = 25;
    config.inertia_ratio = 2;
    message[0] = 0;
    ff_status status = ff_contact_stability_analyze(&config, &out, message, sizeof message);
    if (status == FF_OK)
        status = ff_contact_stability_write_html(&config, &out, page);
    return say(status, text);
}

static void test_a_contact_stability(void **state) {
    (void)state;
    assert_true(memory_sweep(stability, NULL) > 3);
}

/* ------------------------------------------------------------------------------------ scenarios at work --
 */

static ff_scenario other;

static void load_other(const char *file, const char *const *set, int sets) {
    char path[512], warnings[1024];
    snprintf(path, sizeof path, FF_SOURCE_DIR "/scenarios/%s.yaml", file);
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_load(path, &options, &other, message, sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

static bool arms(void *user, const char **text) {
    (void)user;
    ff_emulate_result r;
    char warnings[512];
    message[0] = 0;
    const ff_status status =
        ff_emulate_arms_run(&other.arms, &r, message, sizeof message, warnings, sizeof warnings);
    if (status == FF_OK)
        assert_true(r.samples > 3 && r.pose_error < 1e-8);
    else
        assert_null(r.sample);
    ff_emulate_free(&r);
    return say(status, text);
}

static bool arms_ratio(void *user, const char **text) {
    (void)user;
    double Q[36];
    size_t n;
    message[0] = 0;
    return say(ff_emulate_arms_ratio(&other.arms, &n, Q, message, sizeof message), text);
}

static bool joint(void *user, const char **text) {
    (void)user;
    ff_emulate_result r;
    char warnings[512];
    message[0] = 0;
    const ff_status status =
        ff_emulate_joint_run(&other.emulation, &r, message, sizeof message, warnings, sizeof warnings);
    ff_emulate_free(&r);
    return say(status, text);
}

static void test_emulations(void **state) {
    (void)state;
    load_other("planar-arm-emulation", (const char *const[]){"time.duration=0.02"}, 1);
    assert_true(memory_sweep(arms, NULL) > 6);
    assert_true(memory_sweep(arms_ratio, NULL) > 6);
    load_other("papers/aghili/appendix-e", (const char *const[]){"time.duration=0.02"}, 1);
    assert_true(memory_sweep(joint, NULL) > 1);
}

static bool reference(void *user, const char **text) {
    (void)user;
    ff_ideal_result r;
    message[0] = 0;
    const ff_status status = ff_ideal_solve(&other, NULL, NULL, &r, message, sizeof message);
    if (status != FF_OK)
        assert_true(!r.state && !r.contact);
    ff_ideal_free(&r);
    return say(status, text);
}

static bool orbit(void *user, const char **text) {
    (void)user;
    ff_ideal_result r;
    message[0] = 0;
    const ff_status status = ff_orbit_solve(&other, NULL, &r, message, sizeof message);
    if (status != FF_OK)
        assert_true(!r.state && !r.contact);
    ff_ideal_free(&r);
    return say(status, text);
}

static void test_references(void **state) {
    (void)state;
    load_other("deos-client", (const char *const[]){"time.duration=2.5"}, 1); /* with a contact */
    assert_true(memory_sweep(reference, NULL) > 2);
    load_other("envisat-capture", (const char *const[]){"time.duration=0.02"}, 1);
    assert_true(memory_sweep(orbit, NULL) > 5);
}

static bool plant(void *user, const char **text) {
    (void)user;
    message[0] = 0;
    ff_plant *p = ff_plant_create(&other, message, sizeof message, NULL);
    *text = message;
    ff_plant_free(p);
    return p != NULL;
}

static bool columns(void *user, const char **text) {
    (void)user;
    ff_columns c;
    message[0] = 0;
    const ff_status status = ff_columns_init(&other, &c);
    if (status == FF_OK)
        ff_columns_free(&c);
    return say(status, text);
}

static bool loop(void *user, const char **text) {
    (void)user;
    static ff_loop_config config;
    ff_loop_memory memory;
    ff_joints_memory joints;
    message[0] = 0;
    ff_scenario_loop(&other, &config);
    ff_status status = ff_scenario_joints(&other, &config, &joints, message, sizeof message);
    if (status == FF_OK) {
        status = ff_loop_memory_open(&config, NULL, &memory, message, sizeof message);
        if (status == FF_OK)
            ff_loop_memory_close(&memory);
        ff_joints_memory_close(&joints);
    }
    return say(status, text);
}

static void test_facility_and_loop(void **state) {
    (void)state;
    load_other("envisat-capture",
               (const char *const[]){"satellites.client.sensor={kind: noisy, delay: 0.02}",
                                     "satellites.servicer.robot={kind: wrench, delay: 0.02}"},
               2);
    assert_true(memory_sweep(plant, NULL) > 8);
    assert_true(memory_sweep(loop, NULL) > 4);
    assert_true(memory_sweep(columns, NULL) > 1);
}

static ff_ports ports;
static const atomic_bool asked_to_stop = true;

static bool serve(void *user, const char **text) {
    (void)user;
    static ff_facility_result result;
    const ff_facility_options options = {.ports = ports, .stop = &asked_to_stop};
    ff_facility_run(&scenario, &options, &result);
    *text = result.message;
    return result.status == FF_OK;
}

static void see_nothing(void *self, const ff_telemetry_sample *sample) {
    (void)self;
    (void)sample;
}

/* It is asked to stop before any robot has spoken; the sensor's page is there. */
static bool operate(void *user, const char **text) {
    (void)user;
    static ff_rt_result result;
    const ff_run_options run = {0};
    const ff_rt_options options = {
        .ports = ports, .stop = &asked_to_stop, .deep_idle = true, .viewer = {.sample = see_nothing}};
    ff_rt_run(&scenario, &run, &options, &result);
    free(result.last);
    *text = result.run.message;
    return result.run.status != FF_ERR_MEMORY && result.trip.code == FF_TRIP_OPERATOR;
}

static void test_both_sides_of_devices(void **state) {
    (void)state;
    char xml[FF_ATI_XML_MAX];
    size_t used;
    struct sockaddr_in at;
    ff_http_server *server;
    const ff_ati_page sensor = ff_ati_page_default();
    ports = free_ports();
    assert_true(memory_sweep(serve, NULL) > 4);
    assert_int_equal(ff_ati_page_encode(&sensor, xml, sizeof xml - 1, &used), FF_OK);
    xml[used] = 0;
    assert_int_equal(ff_socket_address("127.0.0.1", ports.http_port, &at), FF_OK);
    assert_int_equal(ff_http_serve(&at, FF_ATI_HTTP_PATH, xml, &server, message, sizeof message), FF_OK);
    assert_true(memory_sweep(operate, NULL) > 8);
    ff_http_stop(server);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_workspace),       cmocka_unit_test(test_a_contact_stability),
        cmocka_unit_test(test_emulations),        cmocka_unit_test(test_references),
        cmocka_unit_test(test_facility_and_loop), cmocka_unit_test(test_both_sides_of_devices),
    };
    return cmocka_run_group_tests(tests, load, remove_folder);
}
