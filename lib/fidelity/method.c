/* A method's table checked, and its settings by name. */
#include "freefloat/method.h"

#include <string.h>

static size_t size_of(ff_setting_type type) {
    switch (type) {
    case FF_SETTING_REAL:
        return sizeof(double);
    case FF_SETTING_INTEGER:
        return sizeof(uint64_t);
    case FF_SETTING_BOOLEAN:
        return sizeof(bool);
    case FF_SETTING_CHOICE:
        return sizeof(int);
    case FF_SETTING_VECTOR:
        return sizeof(ff_vec3);
    case FF_SETTING_GROUP:
    case FF_SETTING_TOPIC:
    case FF_SETTING_NAMES:
        break;
    }
    return 0;
}

static int choices(const ff_setting *s) {
    int n = 0;
    while (s->choice && s->choice[n])
        n++;
    return n;
}

static bool name_good(const char *name) {
    size_t n = 0;
    for (; name && name[n]; n++)
        if (!((name[n] >= 'a' && name[n] <= 'z') || (name[n] >= 'A' && name[n] <= 'Z') ||
              (name[n] >= '0' && name[n] <= '9') || name[n] == '-' || name[n] == '_'))
            return false;
    return n > 0 && n < 32;
}

/* One line without control characters, of at most FF_METHOD_TEXT bytes. */
static bool line_good(const char *text) {
    size_t n = 0;
    for (; text && text[n]; n++)
        if (n >= FF_METHOD_TEXT || (unsigned char)text[n] < 0x20 || text[n] == 0x7f)
            return false;
    return text != NULL;
}

/* `least` lines or more, NULL behind them. */
static bool lines_good(const char *const *line, int least) {
    int n = 0;
    for (; line && line[n]; n++)
        if (n >= FF_METHOD_WORDS || !line_good(line[n]))
            return false;
    return n >= least;
}

/* The setting's name at its place in the table: "key", or "group.key" somewhere behind the group. */
static bool setting_named(const ff_method *method, uint32_t n) {
    const ff_setting *s = &method->setting[n];
    size_t dot = 0;
    while (s->name && s->name[dot] && s->name[dot] != '.')
        dot++;
    if (!s->name || !s->name[dot])
        return name_good(s->name);
    if (s->type == FF_SETTING_GROUP || !name_good(s->name + dot + 1))
        return false;
    for (uint32_t g = 0; g < n; g++)
        if (method->setting[g].type == FF_SETTING_GROUP && strlen(method->setting[g].name) == dot &&
            memcmp(method->setting[g].name, s->name, dot) == 0)
            return true;
    return false;
}

/* Has no other setting its bytes. */
static bool setting_apart(const ff_method *method, uint32_t n) {
    const ff_setting *s = &method->setting[n];
    for (uint32_t i = 0; i < n; i++) {
        const ff_setting *other = &method->setting[i];
        if (size_of(s->type) && size_of(other->type) && s->offset < other->offset + size_of(other->type) &&
            other->offset < s->offset + size_of(s->type))
            return false;
    }
    return true;
}

/* Does the setting take this number. */
static bool inside(const ff_setting *s, double value) {
    const bool within = value >= s->low && value <= s->high && !(s->above_low && value == s->low) &&
                        !(s->below_high && value == s->high);
    switch (s->type) {
    case FF_SETTING_REAL:
        return (within && isfinite(value)) || (s->choice && value == FF_INF);
    case FF_SETTING_INTEGER:
        return within && value >= 0.0 && value < 1e15 && value == floor(value);
    case FF_SETTING_BOOLEAN:
        return value == 0.0 || value == 1.0;
    case FF_SETTING_CHOICE:
        return value >= 0.0 && value < (double)choices(s) && value == floor(value);
    case FF_SETTING_VECTOR:
    case FF_SETTING_GROUP:
    case FF_SETTING_TOPIC:
    case FF_SETTING_NAMES:
        break;
    }
    return false;
}

/* A number, and not in words. */
static bool has_default(const ff_setting *s) {
    return *s->absent != '(' && s->type != FF_SETTING_GROUP && s->type != FF_SETTING_VECTOR;
}

/* NULL: setting n is whole. Else what is wrong with it. */
static const char *setting_wrong(const ff_method *method, uint32_t n) {
    const ff_setting *s = &method->setting[n];
    const size_t size = s->type == FF_SETTING_VECTOR ? sizeof(double) : size_of(s->type);
    if ((int)s->type < 0 || s->type > FF_SETTING_GROUP)
        return "the type of a setting is unknown";
    if (!setting_named(method, n))
        return "the name of a setting is not 1 to 31 letters, digits, - and _, with its group before it";
    if (ff_setting_find(method, s->name) != (int)n)
        return "two of its settings have one name";
    if (!line_good(s->unit) || !line_good(s->absent) || !line_good(s->help))
        return "a setting lacks unit, default or help, or one is not a line of at most 500 bytes";
    if (s->offset > method->setting_bytes || size_of(s->type) > method->setting_bytes - s->offset)
        return "a setting lies beyond setting_bytes";
    if (size && s->offset % size)
        return "a setting is not aligned as its type";
    if (!setting_apart(method, n))
        return "two of its settings overlap";
    if (!(s->low <= s->high))
        return "the range of a setting is empty";
    if (s->choice ? !lines_good(s->choice, s->type == FF_SETTING_CHOICE ? 2 : 1)
                  : s->type == FF_SETTING_CHOICE)
        return "a setting lacks the words of its choice";
    if (s->effect && s->type != FF_SETTING_REAL)
        return "a setting that can be tuned is not a real number";
    if (s->effect && !line_good(s->effect))
        return "the effect of a setting is not a line of at most 500 bytes";
    if (s->effect && !(s->tune_low <= s->tune_high && s->tune_low >= s->low && s->tune_high <= s->high))
        return "the range for tuning a setting is empty or outside its range";
    if (!method->defaults && has_default(s) && !inside(s, s->initial))
        return "the default of one of its settings is outside its range";
    return NULL;
}

/* The same for a column of its report. */
static const char *column_wrong(const ff_method *method, uint32_t n) {
    const ff_report_column *c = &method->column[n];
    if ((int)c->type < 0 || c->type > FF_REPORT_VECTOR)
        return "the type of a column of its report is unknown";
    if (!name_good(c->name))
        return "the name of a column of its report is not 1 to 31 letters, digits, - and _";
    for (uint32_t i = 0; i < n; i++)
        if (method->column[i].run == c->run && strcmp(method->column[i].name, c->name) == 0)
            return "two columns of its report have one name";
    if (!line_good(c->unit) || !line_good(c->help))
        return "a column of its report lacks unit or help, or one is not a line of at most 500 bytes";
    if ((c->type == FF_REPORT_CHOICE && !lines_good(c->label, 1)) ||
        (c->type == FF_REPORT_FLAGS && !lines_good(c->label, 2)))
        return "a column of its report lacks its words";
    return NULL;
}

/* And for all but settings and columns. */
static const char *table_wrong(const ff_method *method) {
    const uint32_t needs = FF_NEEDS_GEOMETRY | FF_NEEDS_GRASP | FF_NEEDS_COMPLIANCE | FF_NEEDS_DETECTION,
                   can = FF_CAN_TREE | FF_CAN_RELATIVE | FF_CAN_PREDICT;
    if (method->abi != FF_METHOD_ABI)
        return "it has another abi";
    if (method->size != sizeof(ff_method))
        return "its size is not that of ff_method";
    if (!name_good(method->name))
        return "its name is not 1 to 31 letters, digits, - and _";
    if (!line_good(method->version) || !line_good(method->help))
        return "it lacks version or help, or one is not a line of at most 500 bytes";
    if (!method->step)
        return "it lacks its step";
    if (method->bytes && (!method->create || !method->reset))
        return "it has `bytes` without `create` and `reset`";
    if (method->needs & ~needs || method->can & ~can)
        return "its `needs` or `can` has a bit that this version does not know";
    if (method->variants > 2)
        return "it has more than 2 variants";
    if (method->settings > FF_METHOD_SETTINGS || method->setting_bytes > FF_METHOD_SETTING_BYTES)
        return "it has more than 64 settings, or more than 512 bytes of them";
    if (method->settings && !method->setting)
        return "it lacks the table of its settings";
    if (method->columns > 2 * FF_METHOD_VALUES)
        return "its report has more than 64 columns";
    if (method->columns && (!method->column || !method->report))
        return "it has columns without `column` or `report`";
    return NULL;
}

ff_status ff_method_validate(const ff_method *method, const char **why) {
    const char *wrong = table_wrong(method);
    for (uint32_t n = 0; !wrong && n < method->settings; n++)
        wrong = setting_wrong(method, n);
    for (uint32_t n = 0; !wrong && n < method->columns; n++)
        wrong = column_wrong(method, n);
    if (!wrong && (ff_method_values(method, false) > FF_METHOD_VALUES ||
                   ff_method_values(method, true) > FF_METHOD_VALUES))
        wrong = "its report has more than 40 values";
    if (why)
        *why = wrong ? wrong : "";
    return wrong ? FF_ERR_ARGUMENT : FF_OK;
}

int ff_setting_find(const ff_method *method, const char *name) {
    for (uint32_t n = 0; n < method->settings; n++)
        if (strcmp(method->setting[n].name, name) == 0)
            return (int)n;
    return -1;
}

/* A value that the setting takes: vectors and groups take none. */
static void put(const ff_setting *s, ff_settings *settings, double value) {
    char *at = (char *)settings->bytes + s->offset;
    if (s->type == FF_SETTING_REAL) {
        memcpy(at, &value, sizeof value);
        return;
    }
    const uint64_t whole = (uint64_t)value;
    const int index = (int)whole;
    const bool flag = whole == 1;
    if (s->type == FF_SETTING_INTEGER)
        memcpy(at, &whole, sizeof whole);
    else if (s->type == FF_SETTING_BOOLEAN)
        memcpy(at, &flag, sizeof flag);
    else
        memcpy(at, &index, sizeof index);
}

void ff_settings_default(const ff_method *method, int variant, ff_settings *settings) {
    *settings = (ff_settings){0};
    if (method->defaults)
        method->defaults(variant, settings->bytes);
    for (uint32_t n = 0; !method->defaults && n < method->settings; n++)
        if (has_default(&method->setting[n]))
            put(&method->setting[n], settings, method->setting[n].initial);
}

ff_status ff_settings_validate(const ff_method *method, const ff_settings *settings, const char **name) {
    for (uint32_t n = 0; n < method->settings; n++) {
        const ff_setting *s = &method->setting[n];
        if (!has_default(s) || inside(s, ff_setting_value(s, settings)))
            continue;
        if (name)
            *name = s->name;
        return FF_ERR_ARGUMENT;
    }
    return FF_OK;
}

ff_status ff_settings_set(const ff_method *method, ff_settings *settings, const char *name, double value) {
    const int n = ff_setting_find(method, name);
    if (n < 0)
        return FF_ERR_ARGUMENT;
    if (!inside(&method->setting[n], value))
        return FF_ERR_ARGUMENT;
    put(&method->setting[n], settings, value);
    settings->given |= UINT64_C(1) << n;
    return FF_OK;
}

double ff_setting_value(const ff_setting *s, const ff_settings *settings) {
    const char *at = (const char *)settings->bytes + s->offset;
    double real;
    uint64_t whole;
    bool flag;
    int index;
    switch (s->type) {
    case FF_SETTING_REAL:
        memcpy(&real, at, sizeof real);
        return real;
    case FF_SETTING_INTEGER:
        memcpy(&whole, at, sizeof whole);
        return (double)whole;
    case FF_SETTING_BOOLEAN:
        memcpy(&flag, at, sizeof flag);
        return flag ? 1.0 : 0.0;
    case FF_SETTING_CHOICE:
        memcpy(&index, at, sizeof index);
        return (double)index;
    case FF_SETTING_VECTOR:
    case FF_SETTING_GROUP:
    case FF_SETTING_TOPIC:
    case FF_SETTING_NAMES:
        break;
    }
    return FF_NAN;
}

double ff_settings_get(const ff_method *method, const ff_settings *settings, const char *name) {
    const int n = ff_setting_find(method, name);
    return n < 0 ? FF_NAN : ff_setting_value(&method->setting[n], settings);
}

void ff_settings_forget(const ff_method *method, ff_settings *settings, const char *name) {
    const int n = ff_setting_find(method, name);
    if (n >= 0)
        settings->given &= ~(UINT64_C(1) << n);
}

/* ----------------------------------------------------------------------------- what stands for a function --
 */

ff_status ff_method_check(const ff_method *method, const ff_world *world, const void *settings,
                          uint64_t given, ff_complaint *complaint) {
    return method->check ? method->check(world, settings, given, complaint) : FF_OK;
}

size_t ff_method_bytes(const ff_method *method, const ff_world *world, const void *settings, size_t *state) {
    if (method->bytes)
        return method->bytes(world, settings, state);
    *state = method->state_bytes;
    return method->create ? method->model_bytes : method->setting_bytes;
}

void ff_method_create(const ff_method *method, const ff_world *world, const void *settings, uint64_t given,
                      void *model) {
    if (method->create)
        method->create(world, settings, given, model);
    else if (method->setting_bytes)
        memcpy(model, settings, method->setting_bytes);
}

ff_status ff_method_update(const ff_method *method, void *model, const ff_world *world, const void *settings,
                           uint64_t given) {
    if (method->update)
        return method->update(model, world, settings, given);
    ff_method_create(method, world, settings, given, model);
    return FF_OK;
}

void ff_method_reset(const ff_method *method, const void *model, const ff_rigid_state *body, void *state) {
    if (method->reset)
        method->reset(model, body, state);
    else if (method->state_bytes)
        memset(state, 0, method->state_bytes);
}

void ff_world_detector(const ff_world *world, ff_detector_config *config) {
    ff_detector_default(config);
    config->force_on = 5.0 * world->force_noise;
    config->torque_on = 5.0 * world->torque_noise;
    config->multiple = world->noisy ? 5.0 : 0.0;
}

bool ff_method_detector(const ff_method *method, const ff_world *world, const void *model,
                        ff_detector_config *config) {
    if (!method->detector && !(method->needs & FF_NEEDS_DETECTION))
        return false;
    ff_world_detector(world, config);
    if (method->detector)
        method->detector(model, config);
    return true;
}

/* ----------------------------------------------------------------------------------------------- report --
 */

int ff_method_values(const ff_method *method, bool run) {
    int n = 0;
    for (uint32_t c = 0; c < method->columns; c++)
        if (method->column[c].run == run)
            n += method->column[c].type == FF_REPORT_VECTOR ? 3 : 1;
    return n;
}

const double *ff_method_value(const ff_method *method, bool run, const double *values, const char *name) {
    for (uint32_t c = 0; c < method->columns; c++) {
        const ff_report_column *column = &method->column[c];
        if (column->run != run)
            continue;
        if (strcmp(column->name, name) == 0)
            return values;
        values += column->type == FF_REPORT_VECTOR ? 3 : 1;
    }
    return NULL;
}
