/* Devices as kinds of robots and sensors, their settings as keys. */
#include "scenario/devices.h"

#include "scenario/methods.h"
#include "text/message.h"

_Static_assert((int)FF_DEVICE_WORD == (int)FF_NAME_SIZE, "a text of a device is one of a scenario");

static const char *name_of(ff_device_kind kind, int n) {
    if (kind == FF_DEVICE_ROBOT)
        return ff_robot_name(n);
    if (kind == FF_DEVICE_SENSOR)
        return ff_sensor_name(n);
    const ff_device *device = ff_device_of(kind, n);
    return device ? device->name : NULL;
}

int ff_device_section_create(ff_device_kind kind, const ff_key *shared, int count, size_t offset,
                             const ff_section *arm, ff_device_section *section) {
    /* the devices follow the virtual kinds; an arm has none */
    static const int first[] = {
        [FF_DEVICE_ROBOT] = FF_ROBOT_DEVICE, [FF_DEVICE_SENSOR] = FF_SENSOR_DEVICE, [FF_DEVICE_ARM] = 0};
    const char *name;
    for (int i = 0; i < FF_DEVICE_WORDS - 1 && (name = name_of(kind, i)); i++)
        section->word[i] = name;
    int keys = 0;
    for (int i = 0; i < count; i++)
        section->key[keys++] = shared[i];
    size_t used = ff_append(section->doc, sizeof section->doc, 0, "%s", shared[0].doc);
    const ff_device *device;
    for (int n = 0; (device = ff_device_of(kind, n)) != NULL; n++) {
        used = ff_append(section->doc, sizeof section->doc, used, " `%s`: %s", device->name, device->help);
        for (unsigned i = 0; i < device->settings && keys < FF_DEVICE_KEYS; i++) {
            const ff_setting *setting = &device->setting[i];
            ff_key *key = &section->key[keys];
            ff_setting_key(setting, setting->name, key, section->range[keys], sizeof section->range[keys]);
            key->offset += offset;
            key->kinds = 1u << (unsigned)(n + first[kind]);
            if (setting->choice == ff_arm_names) {
                key->type = FF_TYPE_ROBOT_ARM;
                key->section = arm;
            }
            if (setting->choice == ff_device_text) {
                key->type = FF_TYPE_TEXT;
                key->words = NULL;
            }
            key->own = true;
            key->preset = false;
            keys++;
        }
    }
    section->key[0].words = section->word;
    section->key[0].doc = section->doc;
    return keys;
}
