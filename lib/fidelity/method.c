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

static bool setting_good(const ff_method *method, const ff_setting *s) {
    if (!s->name || !*s->name || !s->unit || !s->absent || !s->help || (int)s->type < 0 ||
        s->type > FF_SETTING_GROUP)
        return false;
    if (s->type == FF_SETTING_CHOICE && choices(s) < 2)
        return false;
    if (s->effect && (s->type != FF_SETTING_REAL || !(s->tune_low <= s->tune_high) ||
                      !(s->tune_low >= s->low) || !(s->tune_high <= s->high)))
        return false;
    return s->low <= s->high && s->offset <= method->setting_bytes &&
           size_of(s->type) <= method->setting_bytes - s->offset;
}

static bool name_good(const char *name) {
    size_t n = 0;
    for (; name && name[n]; n++)
        if (!((name[n] >= 'a' && name[n] <= 'z') || (name[n] >= 'A' && name[n] <= 'Z') ||
              (name[n] >= '0' && name[n] <= '9') || name[n] == '-' || name[n] == '_'))
            return false;
    return n > 0 && n < 32;
}

ff_status ff_method_validate(const ff_method *method, const char **why) {
    const char *unused;
    why = why ? why : &unused;
    *why = "it has another abi";
    if (method->abi != FF_METHOD_ABI || method->size != sizeof(ff_method))
        return FF_ERR_ARGUMENT;
    *why = "its name is not 1 to 31 letters, digits, - and _";
    if (!name_good(method->name))
        return FF_ERR_ARGUMENT;
    *why = "it lacks its version, its help or one of its functions";
    if (!method->version || !method->help || method->variants < 1 || !method->defaults || !method->check ||
        !method->bytes || !method->create || !method->reset || !method->step)
        return FF_ERR_ARGUMENT;
    *why = "it has more than 64 settings, or more than 512 bytes of them";
    if (method->settings > FF_METHOD_SETTINGS || method->setting_bytes > FF_METHOD_SETTING_BYTES ||
        (method->settings && !method->setting))
        return FF_ERR_ARGUMENT;
    *why = "one of its settings lacks name, range, words or a place in the struct";
    for (uint32_t n = 0; n < method->settings; n++)
        if (!setting_good(method, &method->setting[n]))
            return FF_ERR_ARGUMENT;
    *why = "two of its settings have one name";
    for (uint32_t n = 0; n < method->settings; n++)
        if (ff_setting_find(method, method->setting[n].name) != (int)n)
            return FF_ERR_ARGUMENT;
    *why = "its report has more than 32 values, or columns without name or words";
    if (method->columns && (!method->column || !method->report))
        return FF_ERR_ARGUMENT;
    for (uint32_t n = 0; n < method->columns; n++) {
        const ff_report_column *c = &method->column[n];
        if (!c->name || !*c->name || !c->unit || !c->help ||
            ((c->type == FF_REPORT_CHOICE || c->type == FF_REPORT_FLAGS) && !c->label))
            return FF_ERR_ARGUMENT;
    }
    if (method->columns > 2 * FF_METHOD_VALUES || ff_method_values(method, false) > FF_METHOD_VALUES ||
        ff_method_values(method, true) > FF_METHOD_VALUES)
        return FF_ERR_ARGUMENT;
    *why = "";
    return FF_OK;
}

int ff_setting_find(const ff_method *method, const char *name) {
    for (uint32_t n = 0; n < method->settings; n++)
        if (strcmp(method->setting[n].name, name) == 0)
            return (int)n;
    return -1;
}

void ff_settings_default(const ff_method *method, int variant, ff_settings *settings) {
    *settings = (ff_settings){0};
    method->defaults(variant, settings->bytes);
}

ff_status ff_settings_set(const ff_method *method, ff_settings *settings, const char *name, double value) {
    const int n = ff_setting_find(method, name);
    if (n < 0)
        return FF_ERR_ARGUMENT;
    const ff_setting *s = &method->setting[n];
    char *at = (char *)settings->bytes + s->offset;
    const bool inside = value >= s->low && value <= s->high && !(s->above_low && value == s->low) &&
                        !(s->below_high && value == s->high);
    const uint64_t whole = value >= 0.0 && value < 1e15 ? (uint64_t)value : 0;
    const int index = (int)(whole < 1000 ? whole : 1000);
    const bool flag = index == 1;
    switch (s->type) {
    case FF_SETTING_REAL:
        if (!(inside && isfinite(value)) && !(s->choice && value == FF_INF))
            return FF_ERR_ARGUMENT;
        memcpy(at, &value, sizeof value);
        break;
    case FF_SETTING_INTEGER:
        if (!inside || (double)whole != value)
            return FF_ERR_ARGUMENT;
        memcpy(at, &whole, sizeof whole);
        break;
    case FF_SETTING_BOOLEAN:
        if (value != 0.0 && value != 1.0)
            return FF_ERR_ARGUMENT;
        memcpy(at, &flag, sizeof flag);
        break;
    case FF_SETTING_CHOICE:
        if ((double)index != value || index >= choices(s))
            return FF_ERR_ARGUMENT;
        memcpy(at, &index, sizeof index);
        break;
    case FF_SETTING_VECTOR:
    case FF_SETTING_GROUP:
        return FF_ERR_ARGUMENT;
    }
    settings->given |= UINT64_C(1) << n;
    return FF_OK;
}

double ff_settings_get(const ff_method *method, const ff_settings *settings, const char *name) {
    const int n = ff_setting_find(method, name);
    if (n < 0)
        return FF_NAN;
    const char *at = (const char *)settings->bytes + method->setting[n].offset;
    double real;
    uint64_t whole;
    bool flag;
    int index;
    switch (method->setting[n].type) {
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
        break;
    }
    return FF_NAN;
}

void ff_settings_forget(const ff_method *method, ff_settings *settings, const char *name) {
    const int n = ff_setting_find(method, name);
    if (n >= 0)
        settings->given &= ~(UINT64_C(1) << n);
}

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
