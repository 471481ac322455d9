/* RSI telegrams as bytes and structs. */
#include "devices/rsi/internal.h"

#include <string.h>

static const char *const pose_names[6] = {"X", "Y", "Z", "A", "B", "C"};
static const char *const axis_names[6] = {"A1", "A2", "A3", "A4", "A5", "A6"};
static const char *const external_names[6] = {"E1", "E2", "E3", "E4", "E5", "E6"};

ff_pose ff_rsi_to_pose(const double xyzabc[6]) {
    ff_pose pose;
    pose.p = ff_vec3_make(xyzabc[0] / 1000.0, xyzabc[1] / 1000.0, xyzabc[2] / 1000.0);
    pose.q = ff_quat_from_abc(xyzabc[3] * DEG, xyzabc[4] * DEG, xyzabc[5] * DEG);
    return pose;
}

void ff_rsi_from_pose(ff_pose pose, double xyzabc[6]) {
    for (int i = 0; i < 3; i++)
        xyzabc[i] = pose.p.a[i] * 1000.0;
    ff_quat_to_abc(pose.q, &xyzabc[3], &xyzabc[4], &xyzabc[5]);
    for (int i = 3; i < 6; i++)
        xyzabc[i] /= DEG;
}

/* ------------------------------------------------------------------------------------------- reading -- */

/* Finds the named attributes among those of one element: values and a bit for each; others are ignored. */
static ff_status read_values(ff_span attributes, const char *const names[6], double values[6],
                             unsigned *present) {
    *present = 0;
    for (;;) {
        ff_span name, value;
        bool found;
        ff_status status = ff_xml_attribute(&attributes, &name, &value, &found);
        if (status != FF_OK || !found)
            return status;
        for (unsigned i = 0; i < 6; i++) {
            if (!ff_span_equal(name, names[i]))
                continue;
            if (*present & (1u << i))
                return FF_ERR_FORMAT;
            status = ff_text_read_double(ff_span_trim(value), &values[i]);
            if (status != FF_OK)
                return status;
            *present |= 1u << i;
        }
    }
}

/* One counter in the attribute `key`. */
static const char *const record_names[FF_RSI_RECORDS] = {"FT1", "FT2", "FT3", "FT4"};

static ff_status read_count(ff_span attributes, const char *key, uint64_t *count) {
    bool seen = false;
    for (;;) {
        ff_span name, value;
        bool found;
        ff_status status = ff_xml_attribute(&attributes, &name, &value, &found);
        if (status != FF_OK)
            return status;
        if (!found)
            return seen ? FF_OK : FF_ERR_FORMAT;
        if (!ff_span_equal(name, key))
            continue;
        status = seen ? FF_ERR_FORMAT : ff_text_read_u64(ff_span_trim(value), count);
        if (status != FF_OK)
            return status;
        seen = true;
    }
}

static ff_status open_root(ff_xml_reader *reader, const char *root, ff_xml_token *token) {
    do {
        const ff_status status = ff_xml_next(reader, token);
        if (status != FF_OK)
            return status;
    } while (token->kind == FF_XML_TEXT && ff_span_trim(token->text).size == 0);
    return token->kind == FF_XML_OPEN && ff_span_equal(token->name, root) ? FF_OK : FF_ERR_FORMAT;
}

static const char *const signal_names[FF_RSI_SIGNALS] = {"Mode", "Drives", "EStop", "Ovr", "Pro"};

/* Those that are there; one that is not a count is not one. */
static ff_status read_signals(ff_span attributes, ff_rsi_rob *rob) {
    for (;;) {
        ff_span name, value;
        bool found;
        ff_status status = ff_xml_attribute(&attributes, &name, &value, &found);
        if (status != FF_OK || !found)
            return status;
        for (unsigned n = 0; n < FF_RSI_SIGNALS; n++) {
            if (!ff_span_equal(name, signal_names[n]))
                continue;
            status = rob->signals & 1u << n ? FF_ERR_FORMAT : ff_text_read_u64(value, &rob->signal[n]);
            if (status != FF_OK)
                return status;
            rob->signals |= 1u << n;
        }
    }
}

static const char *const limit_names[6] = {"R", "T", "", "", "", ""};

ff_status ff_rsi_rob_decode(const char *bytes, size_t size, ff_rsi_rob *rob) {
    if (size > FF_RSI_READ_MAX)
        return FF_ERR_SIZE;
    ff_rsi_rob got = {0};
    const struct {
        const char *name;
        unsigned bit;
        const char *const *names;
        double *values;
    } known[] = {{"RIst", FF_RSI_RIST, pose_names, got.rist},
                 {"RSol", FF_RSI_RSOL, pose_names, got.rsol},
                 {"AIPos", FF_RSI_AIPOS, axis_names, got.aipos},
                 {"ASPos", FF_RSI_ASPOS, axis_names, got.aspos},
                 {"EIPos", FF_RSI_EIPOS, external_names, got.eipos}};
    ff_xml_reader reader;
    ff_xml_token token;
    ff_xml_begin(&reader, bytes, size);
    ff_status status = open_root(&reader, "Rob", &token);
    if (status != FF_OK)
        return status;
    bool children = false, stamped = false, end = token.empty;
    while (!end) {
        ff_span text;
        status = ff_xml_child(&reader, "Rob", &token, &text, &end);
        if (status != FF_OK)
            return status;
        if (end)
            break;
        children = true;
        if (ff_span_equal(token.name, "IPOC")) {
            status = stamped ? FF_ERR_FORMAT : ff_text_read_u64(text, &got.ipoc);
            stamped = true;
        } else if (ff_span_equal(token.name, "Delay")) {
            status =
                got.fields & FF_RSI_DELAY ? FF_ERR_FORMAT : read_count(token.attributes, "D", &got.delay);
            got.fields |= FF_RSI_DELAY;
        } else if (ff_span_equal(token.name, "Krc")) {
            status = got.fields & FF_RSI_KRC ? FF_ERR_FORMAT : read_signals(token.attributes, &got);
            got.fields |= FF_RSI_KRC;
        } else if (ff_span_equal(token.name, "Lim")) {
            unsigned present = 0;
            double limit[6] = {0};
            status = got.fields & FF_RSI_LIM ? FF_ERR_FORMAT
                                             : read_values(token.attributes, limit_names, limit, &present);
            if (status == FF_OK && (present != 3 || !(limit[0] > 0.0) || !(limit[1] > 0.0)))
                status = FF_ERR_FORMAT;
            got.limit[0] = limit[0];
            got.limit[1] = limit[1];
            got.fields |= FF_RSI_LIM;
        } else if (ff_span_equal(token.name, "Arrival")) {
            status = got.fields & FF_RSI_ARRIVAL ? FF_ERR_FORMAT
                                                 : read_count(token.attributes, "NS", &got.arrival_ns);
            for (int n = 0; n < FF_RSI_RECORDS && status == FF_OK; n++)
                if (read_count(token.attributes, record_names[n], &got.record_ns[n]) != FF_OK)
                    got.record_ns[n] = 0; /* nobody has to say it */
            got.fields |= FF_RSI_ARRIVAL;
        } else {
            for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
                if (!ff_span_equal(token.name, known[i].name))
                    continue;
                unsigned present = 0;
                status = got.fields & known[i].bit
                             ? FF_ERR_FORMAT
                             : read_values(token.attributes, known[i].names, known[i].values, &present);
                /* A pose or six axes with a value missing is not a measurement; external axes may be fewer.
                 */
                if (status == FF_OK && (known[i].bit == FF_RSI_EIPOS ? present == 0 : present != 0x3f))
                    status = FF_ERR_FORMAT;
                got.fields |= known[i].bit;
            }
        }
        if (status != FF_OK)
            return status;
    }
    status = ff_xml_finish(&reader);
    if (status != FF_OK)
        return status;
    if (children && !stamped)
        return FF_ERR_FORMAT;
    *rob = got;
    return children ? FF_OK : FF_INFO_HELD;
}

ff_rsi_names ff_rsi_names_default(void) {
    return (ff_rsi_names){"ImFree", "RKorr", "AK", "EK", "Stop"};
}

static bool xml_name(const char *name) {
    const size_t size = strnlen(name, FF_RSI_NAME_SIZE);
    if (size == 0 || size == FF_RSI_NAME_SIZE)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = name[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-')))
            return false;
    }
    return true;
}

ff_status ff_rsi_names_validate(const ff_rsi_names *names) {
    const char *tags[7] = {names->cartesian, names->axes, names->external, names->stop,
                           "IPOC",           "EStr",      "Life"};
    if (!xml_name(names->type))
        return FF_ERR_ARGUMENT;
    for (int i = 0; i < 4; i++) {
        if (!xml_name(tags[i]))
            return FF_ERR_ARGUMENT;
        for (int k = i + 1; k < 7; k++)
            if (strcmp(tags[i], tags[k]) == 0)
                return FF_ERR_ARGUMENT;
    }
    return FF_OK;
}

void ff_rsi_sen_type(const char *bytes, size_t size, char type[FF_RSI_NAME_SIZE]) {
    ff_xml_reader reader;
    ff_xml_token token;
    bool found = true;
    type[0] = 0;
    ff_xml_begin(&reader, bytes, size < FF_RSI_READ_MAX ? size : FF_RSI_READ_MAX);
    if (open_root(&reader, "Sen", &token) != FF_OK)
        return;
    for (ff_span attributes = token.attributes, name, value;
         found && ff_xml_attribute(&attributes, &name, &value, &found) == FF_OK;)
        if (found && ff_span_equal(name, "Type") && value.size < FF_RSI_NAME_SIZE) {
            memcpy(type, value.at, value.size);
            type[value.size] = 0;
            return;
        }
}

ff_status ff_rsi_sen_decode(const ff_rsi_names *names, const char *bytes, size_t size, ff_rsi_sen *sen) {
    if (size > FF_RSI_READ_MAX)
        return FF_ERR_SIZE;
    ff_rsi_sen got = {0};
    const struct {
        const char *name;
        unsigned tag;
        const char *const *names;
    } known[] = {{names->cartesian, FF_RSI_TAG_CARTESIAN, pose_names},
                 {names->axes, FF_RSI_TAG_AXES, axis_names},
                 {names->external, FF_RSI_TAG_EXTERNAL, external_names}};
    ff_xml_reader reader;
    ff_xml_token token;
    ff_xml_begin(&reader, bytes, size);
    ff_status status = open_root(&reader, "Sen", &token);
    if (status != FF_OK)
        return status;
    bool typed = false, stamped = false, end = token.empty;
    for (ff_span attributes = token.attributes;;) {
        ff_span name, value;
        bool found;
        status = ff_xml_attribute(&attributes, &name, &value, &found);
        if (status != FF_OK)
            return status;
        if (!found)
            break;
        typed |= ff_span_equal(name, "Type") && ff_span_equal(value, names->type);
    }
    unsigned groups = 0;
    while (!end) {
        ff_span text;
        status = ff_xml_child(&reader, "Sen", &token, &text, &end);
        if (status != FF_OK)
            return status;
        if (end)
            break;
        if (ff_span_equal(token.name, "IPOC")) {
            status = stamped ? FF_ERR_FORMAT : ff_text_read_u64(text, &got.ipoc);
            stamped = true;
        } else if (ff_span_equal(token.name, "EStr")) {
            status = got.has_text ? FF_ERR_FORMAT : ff_xml_unescape(text, got.text, sizeof got.text);
            got.has_text = true;
        } else if (ff_span_equal(token.name, "Life")) {
            status = got.alive ? FF_ERR_FORMAT : read_count(token.attributes, "B", &got.beat);
            if (status == FF_OK)
                status = read_count(token.attributes, "S", &got.state);
            got.alive = true;
        } else if (ff_span_equal(token.name, names->stop)) {
            int64_t stop = 0;
            status = got.tags & FF_RSI_STOP ? FF_ERR_FORMAT : ff_text_read_i64(text, &stop);
            got.tags |= FF_RSI_STOP;
            got.value[FF_RSI_TAG_STOP] = stop != 0;
        } else {
            for (unsigned i = 0; i < 3; i++) {
                if (!ff_span_equal(token.name, known[i].name))
                    continue;
                unsigned present = 0;
                status = groups & (1u << i) ? FF_ERR_FORMAT
                                            : read_values(token.attributes, known[i].names,
                                                          got.value + known[i].tag, &present);
                groups |= 1u << i;
                got.tags |= present << known[i].tag;
            }
        }
        if (status != FF_OK)
            return status;
    }
    status = ff_xml_finish(&reader);
    if (status != FF_OK)
        return status;
    if (!stamped)
        return FF_ERR_FORMAT;
    if (!typed)
        return FF_ERR_UNSUPPORTED;
    *sen = got;
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------- writing -- */

static void put_values(ff_text_out *out, const char *element, const char *const names[6],
                       const double values[6], unsigned present, int decimals) {
    ff_text_put(out, "<");
    ff_text_put(out, element);
    for (unsigned i = 0; i < 6; i++) {
        if (!(present & (1u << i)))
            continue;
        ff_text_put(out, " ");
        ff_text_put(out, names[i]);
        ff_text_put(out, "=\"");
        ff_text_put_double(out, values[i], decimals);
        ff_text_put(out, "\"");
    }
    ff_text_put(out, "/>");
}

static void put_count(ff_text_out *out, const char *name, uint64_t value) {
    ff_text_put(out, " ");
    ff_text_put(out, name);
    ff_text_put(out, "=\"");
    ff_text_put_u64(out, value);
    ff_text_put(out, "\"");
}

static void put_ipoc(ff_text_out *out, uint64_t ipoc) {
    ff_text_put(out, "<IPOC>");
    ff_text_put_u64(out, ipoc);
    ff_text_put(out, "</IPOC>");
}

static size_t send_size(size_t size) {
    return size < FF_RSI_SEND_MAX ? size : FF_RSI_SEND_MAX;
}

static ff_status finish_text(const ff_text_out *out, size_t *used) {
    *used = out->status == FF_OK ? out->used : 0;
    return out->status;
}

ff_status ff_rsi_rob_encode(const ff_rsi_rob *rob, int decimals, char *buffer, size_t size, size_t *used) {
    ff_text_out out;
    ff_text_begin(&out, buffer, send_size(size));
    ff_text_put(&out, "<Rob Type=\"KUKA\">");
    if (rob->fields & FF_RSI_RIST)
        put_values(&out, "RIst", pose_names, rob->rist, 0x3f, decimals);
    if (rob->fields & FF_RSI_RSOL)
        put_values(&out, "RSol", pose_names, rob->rsol, 0x3f, decimals);
    if (rob->fields & FF_RSI_AIPOS)
        put_values(&out, "AIPos", axis_names, rob->aipos, 0x3f, decimals);
    if (rob->fields & FF_RSI_ASPOS)
        put_values(&out, "ASPos", axis_names, rob->aspos, 0x3f, decimals);
    if (rob->fields & FF_RSI_EIPOS)
        put_values(&out, "EIPos", external_names, rob->eipos, 0x3f, decimals);
    if (rob->fields & FF_RSI_DELAY) {
        ff_text_put(&out, "<Delay D=\"");
        ff_text_put_u64(&out, rob->delay);
        ff_text_put(&out, "\"/>");
    }
    if (rob->fields & FF_RSI_KRC) {
        ff_text_put(&out, "<Krc");
        for (unsigned n = 0; n < FF_RSI_SIGNALS; n++)
            if (rob->signals & 1u << n)
                put_count(&out, signal_names[n], rob->signal[n]);
        ff_text_put(&out, "/>");
    }
    if (rob->fields & FF_RSI_LIM) {
        const double limit[6] = {rob->limit[0], rob->limit[1]};
        put_values(&out, "Lim", limit_names, limit, 3, decimals);
    }
    if (rob->fields & FF_RSI_ARRIVAL) {
        ff_text_put(&out, "<Arrival NS=\"");
        ff_text_put_u64(&out, rob->arrival_ns);
        for (int n = 0; n < FF_RSI_RECORDS; n++)
            if (rob->record_ns[n]) {
                ff_text_put(&out, "\" ");
                ff_text_put(&out, record_names[n]);
                ff_text_put(&out, "=\"");
                ff_text_put_u64(&out, rob->record_ns[n]);
            }
        ff_text_put(&out, "\"/>");
    }
    put_ipoc(&out, rob->ipoc);
    ff_text_put(&out, "</Rob>");
    return finish_text(&out, used);
}

ff_status ff_rsi_sen_encode(const ff_rsi_names *names, const ff_rsi_sen *sen, int decimals, char *buffer,
                            size_t size, size_t *used) {
    ff_text_out out;
    ff_text_begin(&out, buffer, send_size(size));
    ff_text_put(&out, "<Sen Type=\"");
    ff_text_put(&out, names->type);
    ff_text_put(&out, "\">");
    if (sen->has_text) {
        ff_text_put(&out, "<EStr>");
        ff_text_put_escaped(&out, (ff_span){sen->text, strnlen(sen->text, sizeof sen->text)});
        ff_text_put(&out, "</EStr>");
    }
    if (sen->alive) {
        ff_text_put(&out, "<Life");
        put_count(&out, "B", sen->beat);
        put_count(&out, "S", sen->state);
        ff_text_put(&out, "/>");
    }
    if (sen->tags & FF_RSI_STOP) {
        ff_text_put(&out, "<");
        ff_text_put(&out, names->stop);
        ff_text_put(&out, sen->value[FF_RSI_TAG_STOP] != 0.0 ? ">1</" : ">0</");
        ff_text_put(&out, names->stop);
        ff_text_put(&out, ">");
    }
    if (sen->tags & FF_RSI_ALL_CARTESIAN)
        put_values(&out, names->cartesian, pose_names, sen->value + FF_RSI_TAG_CARTESIAN, sen->tags & 0x3f,
                   decimals);
    if (sen->tags & FF_RSI_ALL_AXES)
        put_values(&out, names->axes, axis_names, sen->value + FF_RSI_TAG_AXES,
                   (sen->tags >> FF_RSI_TAG_AXES) & 0x3f, decimals);
    if (sen->tags & FF_RSI_ALL_EXTERNAL)
        put_values(&out, names->external, external_names, sen->value + FF_RSI_TAG_EXTERNAL,
                   (sen->tags >> FF_RSI_TAG_EXTERNAL) & 0x3f, decimals);
    put_ipoc(&out, sen->ipoc);
    ff_text_put(&out, "</Sen>");
    return finish_text(&out, used);
}
