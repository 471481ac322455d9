#include "devices/rsi.h"

#include <string.h>

#define DEG (FF_PI / 180.0)

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
                /* A pose or six axes with a value missing is no measurement; external axes may be fewer. */
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
    const char *tags[6] = {names->cartesian, names->axes, names->external, names->stop, "IPOC", "EStr"};
    if (!xml_name(names->type))
        return FF_ERR_ARGUMENT;
    for (int i = 0; i < 4; i++) {
        if (!xml_name(tags[i]))
            return FF_ERR_ARGUMENT;
        for (int k = i + 1; k < 6; k++)
            if (strcmp(tags[i], tags[k]) == 0)
                return FF_ERR_ARGUMENT;
    }
    return FF_OK;
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

/* -------------------------------------------------------------------------------------- the PC's side -- */

ff_rsi_client_config ff_rsi_client_config_default(void) {
    return (ff_rsi_client_config){.names = ff_rsi_names_default(),
                                  .mode = FF_RSI_ABSOLUTE,
                                  .channel = FF_RSI_BY_AXES,
                                  .decimals = 6,
                                  .max_rotation = 5.0 * DEG,
                                  .clip_translation = 1e-3,
                                  .clip_rotation = 0.1 * DEG,
                                  .clip_window = 50,
                                  .clip_cycles = 10};
}

ff_status ff_rsi_client_config_validate(const ff_rsi_client_config *config) {
    if (ff_rsi_names_validate(&config->names) != FF_OK)
        return FF_ERR_ARGUMENT;
    if (config->mode != FF_RSI_ABSOLUTE && config->mode != FF_RSI_RELATIVE)
        return FF_ERR_ARGUMENT;
    if (config->channel != FF_RSI_BY_AXES && config->channel != FF_RSI_BY_CARTESIAN)
        return FF_ERR_ARGUMENT;
    if (config->decimals < 0 || config->decimals > FF_TEXT_DECIMALS_MAX)
        return FF_ERR_ARGUMENT;
    if (!(config->max_rotation > 0.0) || !(config->max_rotation <= FF_PI))
        return FF_ERR_ARGUMENT;
    if (!(config->clip_translation > 0.0) || !(config->clip_rotation > 0.0) || config->clip_cycles == 0)
        return FF_ERR_ARGUMENT;
    if (config->clip_window == 0 || config->clip_window > FF_RSI_WINDOW_MAX)
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

ff_pose ff_rsi_rob_pose(const ff_rsi_rob *rob) {
    return ff_rsi_to_pose(rob->rist);
}

void ff_rsi_rob_axes(const ff_rsi_rob *rob, double axes[6]) {
    for (int i = 0; i < 6; i++)
        axes[i] = rob->aipos[i] * DEG;
}

void ff_rsi_client_reset(ff_rsi_client_state *state) {
    *state = (ff_rsi_client_state){0};
}

/* Rotation of a Cartesian total [deg] as a quaternion. */
static ff_quat rotation_of(const double total[6]) {
    return ff_quat_from_abc(total[3] * DEG, total[4] * DEG, total[5] * DEG);
}

/* The distance of x from the range of recent totals of one tag [mm or deg]. A robot that lags lies between
 * commands of the past; one that is clipped lies outside all of them. */
static double outside(const ff_rsi_client_state *state, unsigned window, int tag, double x) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (unsigned i = 0; i < window && i < state->recent_count; i++) {
        const unsigned at = (state->recent_next + FF_RSI_WINDOW_MAX - 1 - i) % FF_RSI_WINDOW_MAX;
        low = fmin(low, state->recent[at][tag]);
        high = fmax(high, state->recent[at][tag]);
    }
    return x < low ? low - x : x > high ? x - high : 0.0;
}

/* The smallest angle [deg] between the measured turn and a recent commanded one. */
static double outside_rotation(const ff_rsi_client_state *state, unsigned window, ff_quat turned) {
    double least = HUGE_VAL;
    for (unsigned i = 0; i < window && i < state->recent_count; i++) {
        const unsigned at = (state->recent_next + FF_RSI_WINDOW_MAX - 1 - i) % FF_RSI_WINDOW_MAX;
        least = fmin(least, ff_quat_angle(turned, rotation_of(state->recent[at])) / DEG);
    }
    return least;
}

static void watch_clipping(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                           const ff_rsi_rob *rob) {
    double excess = 0.0, by = 0.0; /* excess: distance over its bound */
    int worst = 0;
    if (state->recent_count == 0)
        return;
    for (int i = 0; i < 12; i++) {
        int tag;
        double x, bound;
        if (i < 6 && config->channel == FF_RSI_BY_CARTESIAN) {
            if (i == 3) { /* the three angles together, as one rotation */
                const ff_quat turned =
                    ff_quat_mul(rotation_of(rob->rist), ff_quat_conj(rotation_of(state->first.rist)));
                const double away = outside_rotation(state, config->clip_window, turned);
                if (away * DEG / config->clip_rotation > excess) {
                    excess = away * DEG / config->clip_rotation;
                    by = away;
                    worst = FF_RSI_TAG_CARTESIAN + 3;
                }
            }
            if (i >= 3)
                continue;
            tag = FF_RSI_TAG_CARTESIAN + i;
            x = rob->rist[i] - state->first.rist[i];
            bound = config->clip_translation * 1000.0;
        } else if (i < 6) {
            tag = FF_RSI_TAG_AXES + i;
            x = rob->aipos[i] - state->first.aipos[i];
            bound = config->clip_rotation / DEG;
        } else {
            const int e = i - 6;
            if (!config->use_external || !(rob->fields & FF_RSI_EIPOS))
                break;
            tag = FF_RSI_TAG_EXTERNAL + e;
            x = rob->eipos[e] - state->first.eipos[e];
            bound =
                config->external_linear[e] ? config->clip_translation * 1000.0 : config->clip_rotation / DEG;
        }
        const double away = outside(state, config->clip_window, tag, x);
        if (away / bound > excess) {
            excess = away / bound;
            by = away;
            worst = tag;
        }
    }
    state->apart = excess > 1.0 ? state->apart + 1 : 0;
    if (state->apart >= config->clip_cycles && !state->info.clipped) {
        state->info.clipped = true;
        state->info.clipped_tag = worst;
        state->info.clipped_by = by;
    }
}

/* What has become of the last answer, by the controller's own counters. */
static void settle(ff_rsi_client_state *state, const ff_rsi_rob *got, uint64_t lost) {
    const bool counts = got->fields & FF_RSI_DELAY;
    state->restarted |= counts && got->delay < state->delay;
    state->late = !counts ? lost : got->delay >= state->delay ? got->delay - state->delay : got->delay;
    state->taken = state->answered && (counts ? state->late <= lost : lost == 0);
    state->stood = !state->taken || state->late > 0;
    if (state->taken)
        memcpy(state->accepted, state->sent, sizeof state->accepted);
    else
        memcpy(state->sent, state->accepted, sizeof state->sent);
}

ff_status ff_rsi_client_receive(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                                const char *bytes, size_t size, ff_rsi_rob *rob) {
    ff_rsi_rob got;
    ff_status status = ff_rsi_rob_decode(bytes, size, &got);
    const unsigned needed = config->channel == FF_RSI_BY_AXES ? FF_RSI_AIPOS : FF_RSI_RIST;
    if (status == FF_OK && (!(got.fields & needed) || (config->use_external && !(got.fields & FF_RSI_EIPOS))))
        status = FF_ERR_FORMAT;
    if (status == FF_INFO_HELD) {
        state->info.empty++;
        return status;
    }
    if (status != FF_OK) {
        state->info.malformed++;
        return status;
    }
    if (!state->started) {
        state->started = true;
        state->first = got;
        state->ipoc_step = config->ipoc_step;
        state->first_delay = got.delay;
    } else {
        if (got.ipoc == state->ipoc) {
            state->info.repeated++;
            return FF_INFO_STALE;
        }
        if (got.ipoc <
            state->ipoc) { /* one that was overtaken; two in order are a counter that began again */
            state->olders = state->olders && got.ipoc > state->older ? state->olders + 1 : 1;
            state->older = got.ipoc;
            state->restarted |= state->olders > 1;
            state->info.reordered++;
            return FF_INFO_STALE;
        }
        const uint64_t step = got.ipoc - state->ipoc, lost = state->info.lost;
        if (state->ipoc_step == 0 || (config->ipoc_step == 0 && step < state->ipoc_step))
            state->ipoc_step = step; /* a gap between the first two is undone by the first whole cycle */
        if (step > state->ipoc_step) {
            state->info.lost += step / state->ipoc_step - 1;
            status = FF_INFO_GAP;
        }
        state->info.unanswered += state->due;
        settle(state, &got, state->info.lost - lost);
    }
    state->delay = got.delay;
    state->olders = 0;
    state->answered = false;
    if (got.fields & FF_RSI_DELAY)
        state->info.late = got.delay >= state->first_delay ? got.delay - state->first_delay : got.delay;
    state->ipoc = got.ipoc;
    state->due = true;
    state->info.received++;
    watch_clipping(config, state, &got);
    *rob = got;
    return status;
}

/* Totals [mm deg] since the first telegram that the command asks for. */
static ff_status command_totals(const ff_rsi_client_config *config, const ff_rsi_client_state *state,
                                const ff_rsi_command *command, double total[18]) {
    if (config->channel == FF_RSI_BY_CARTESIAN) {
        if (!ff_pose_finite(command->pose))
            return FF_ERR_NOT_FINITE;
        /* p = p_first + d, R = R(d) R_first, both in the frame of RIst (POSCORR with RefCorrSys as RIst). */
        const ff_pose first = ff_rsi_to_pose(state->first.rist);
        const ff_pose d = {ff_quat_mul(command->pose.q, ff_quat_conj(first.q)),
                           ff_vec3_sub(command->pose.p, first.p)};
        if (ff_quat_angle(d.q, ff_quat_identity()) > config->max_rotation)
            return FF_ERR_LIMIT;
        ff_rsi_from_pose(d, total + FF_RSI_TAG_CARTESIAN);
    } else {
        for (int i = 0; i < 6; i++) {
            if (!isfinite(command->axes[i]))
                return FF_ERR_NOT_FINITE;
            total[FF_RSI_TAG_AXES + i] = command->axes[i] / DEG - state->first.aipos[i];
        }
    }
    if (config->use_external)
        for (int i = 0; i < 6; i++) {
            if (!isfinite(command->external[i]))
                return FF_ERR_NOT_FINITE;
            const double x =
                config->external_linear[i] ? command->external[i] * 1000.0 : command->external[i] / DEG;
            total[FF_RSI_TAG_EXTERNAL + i] = x - state->first.eipos[i];
        }
    for (int i = 0; i < 18; i++)
        if (fabs(total[i]) > FF_TEXT_VALUE_MAX)
            return FF_ERR_LIMIT;
    return FF_OK;
}

ff_status ff_rsi_client_answer(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                               const ff_rsi_command *command, char *buffer, size_t size, size_t *used) {
    *used = 0;
    if (!state->due)
        return FF_ERR_ARGUMENT;
    double total[18] = {0};
    memcpy(total, state->sent, sizeof total);
    ff_status refused = FF_OK;
    if (command) {
        double asked[18] = {0};
        refused = command_totals(config, state, command, asked);
        if (refused == FF_OK)
            memcpy(total, asked, sizeof total);
    }
    ff_rsi_sen sen = {.ipoc = state->ipoc};
    sen.tags = config->channel == FF_RSI_BY_AXES ? FF_RSI_ALL_AXES : FF_RSI_ALL_CARTESIAN;
    if (config->use_external)
        sen.tags |= FF_RSI_ALL_EXTERNAL;
    if (command && command->stop) {
        sen.tags |= FF_RSI_STOP;
        sen.value[FF_RSI_TAG_STOP] = 1.0;
    }
    if (command && command->text) {
        sen.has_text = true;
        strncpy(sen.text, command->text, sizeof sen.text - 1);
    }
    double sent[18];
    memcpy(sent, state->sent, sizeof sent);
    for (int i = 0; i < 18; i++) {
        if (!(sen.tags & (1u << i)))
            continue;
        if (config->mode == FF_RSI_ABSOLUTE) {
            sen.value[i] = total[i];
            sent[i] = ff_text_round(total[i], config->decimals);
        } else {
            /* The increment is what the controller still lacks, so rounding never adds up. */
            sen.value[i] = ff_text_round(total[i] - state->sent[i], config->decimals);
            sent[i] = state->sent[i] + sen.value[i];
        }
    }
    if (config->mode == FF_RSI_RELATIVE && config->channel == FF_RSI_BY_CARTESIAN) {
        /* Rotations compose: the increment turns the last total into the new one. */
        const ff_quat step = ff_quat_mul(rotation_of(total), ff_quat_conj(rotation_of(state->sent)));
        double abc[6];
        ff_rsi_from_pose((ff_pose){step, ff_vec3_zero()}, abc);
        for (int i = 3; i < 6; i++)
            sen.value[i] = ff_text_round(abc[i], config->decimals);
        const ff_quat reached = ff_quat_mul(rotation_of(sen.value), rotation_of(state->sent));
        ff_rsi_from_pose((ff_pose){reached, ff_vec3_zero()}, abc);
        memcpy(sent + 3, abc + 3, 3 * sizeof abc[0]);
    }
    const ff_status status = ff_rsi_sen_encode(&config->names, &sen, config->decimals, buffer, size, used);
    if (status != FF_OK)
        return status;
    memcpy(state->sent, sent, sizeof sent);
    memcpy(state->recent[state->recent_next], sent, sizeof sent);
    state->recent_next = (state->recent_next + 1) % FF_RSI_WINDOW_MAX;
    if (state->recent_count < FF_RSI_WINDOW_MAX)
        state->recent_count++;
    state->due = false;
    state->answered = true;
    state->info.answered++;
    state->info.refused += refused != FF_OK;
    return refused;
}

/* -------------------------------------------------------------------------------- the controller's side --
 */

ff_rsi_controller_config ff_rsi_controller_config_default(ff_rsi_mode mode) {
    ff_rsi_controller_config config = {.names = ff_rsi_names_default(),
                                       .mode = mode,
                                       .fields = FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | FF_RSI_DELAY,
                                       .decimals = 6,
                                       .ipoc_start = 4,
                                       .ipoc_step = 4,
                                       .timeout = 10,
                                       .poscorr_rotation_deg = 5.0,
                                       .poscorrmon_translation_mm = 6.0,
                                       .poscorrmon_rotation_deg = 6.0};
    for (int i = 0; i < FF_RSI_TAGS; i++)
        config.holdon[i] = mode == FF_RSI_ABSOLUTE && i != FF_RSI_TAG_STOP;
    for (int i = 0; i < 3; i++) {
        config.poscorr_lower_mm[i] = -5.0;
        config.poscorr_upper_mm[i] = 5.0;
    }
    for (int i = 0; i < 12; i++) {
        config.axiscorr_lower[i] = -5.0;
        config.axiscorr_upper[i] = 5.0;
        config.axiscorrmon[i] = 6.0;
    }
    return config;
}

ff_status ff_rsi_controller_config_validate(const ff_rsi_controller_config *config) {
    bool good = ff_rsi_names_validate(&config->names) == FF_OK;
    good = good && (config->mode == FF_RSI_ABSOLUTE || config->mode == FF_RSI_RELATIVE);
    good = good && config->decimals >= 0 && config->decimals <= FF_TEXT_DECIMALS_MAX && config->ipoc_step > 0;
    good = good && (config->fields & (FF_RSI_RIST | FF_RSI_AIPOS)) && config->fields < 128;
    for (int i = 0; i < 3; i++)
        good = good && config->poscorr_lower_mm[i] <= 0.0 && config->poscorr_upper_mm[i] >= 0.0;
    for (int i = 0; i < 12; i++)
        good = good && config->axiscorr_lower[i] <= 0.0 && config->axiscorr_upper[i] >= 0.0 &&
               config->axiscorrmon[i] >= 0.0;
    good = good && config->poscorr_rotation_deg >= 0.0 && config->poscorrmon_translation_mm >= 0.0 &&
           config->poscorrmon_rotation_deg >= 0.0;
    return good ? FF_OK : FF_ERR_ARGUMENT;
}

void ff_rsi_controller_reset(const ff_rsi_controller_config *config, ff_rsi_controller_state *state) {
    *state = (ff_rsi_controller_state){.ipoc = config->ipoc_start, .rotation = {1, 0, 0, 0}};
}

ff_status ff_rsi_controller_send(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                 ff_rsi_rob *rob, char *buffer, size_t size, size_t *used) {
    *used = 0;
    if (state->stopped != FF_RSI_RUNNING)
        return FF_ERR_DEVICE;
    if (state->open)
        return FF_ERR_ARGUMENT;
    rob->fields = config->fields;
    rob->delay = state->info.late;
    rob->ipoc = state->ipoc;
    const ff_status status = ff_rsi_rob_encode(rob, config->decimals, buffer, size, used);
    if (status != FF_OK)
        return status;
    state->open = true;
    state->answered = false;
    state->info.sent++;
    return FF_OK;
}

ff_status ff_rsi_controller_receive(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                    const char *bytes, size_t size) {
    ff_rsi_sen sen;
    const ff_status status = ff_rsi_sen_decode(&config->names, bytes, size, &sen);
    if (status != FF_OK) {
        state->info.malformed++;
        return status;
    }
    if (!state->open || sen.ipoc != state->ipoc) {
        const bool past = state->info.sent > 0 && sen.ipoc < state->ipoc && sen.ipoc >= config->ipoc_start &&
                          (sen.ipoc - config->ipoc_start) % config->ipoc_step == 0;
        if (past)
            state->info.too_late++;
        else
            state->info.strange++;
        return past ? FF_INFO_STALE : FF_ERR_ARGUMENT;
    }
    if (state->answered) {
        state->info.repeated++;
        return FF_INFO_STALE;
    }
    state->sen = sen;
    state->answered = true;
    state->info.accepted++;
    return FF_OK;
}

static double clip(double x, double low, double high, bool *acted) {
    const double y = x < low ? low : x > high ? high : x;
    *acted |= y != x;
    return y;
}

static ff_rsi_correction correction_of(const ff_rsi_controller_config *config,
                                       const ff_rsi_controller_state *state) {
    ff_rsi_correction c;
    c.pose.q = state->rotation;
    for (int i = 0; i < 3; i++)
        c.pose.p.a[i] = state->translation_mm[i] / 1000.0;
    for (int i = 0; i < 6; i++) {
        c.axes[i] = state->axes[i] * DEG;
        c.external[i] = config->external_linear[i] ? state->axes[6 + i] / 1000.0 : state->axes[6 + i] * DEG;
    }
    return c;
}

/* Tags -> cumulative correction -> clip -> monitor. A correction that the monitor rejects is not applied. */
static ff_status apply(const ff_rsi_controller_config *config, ff_rsi_controller_state *state) {
    const bool relative = config->mode == FF_RSI_RELATIVE;
    bool acted = false, abort = false;
    double translation[3], length = 0.0;
    for (int i = 0; i < 3; i++) {
        const double x = state->value[i] + (relative ? state->translation_mm[i] : 0.0);
        translation[i] = clip(x, config->poscorr_lower_mm[i], config->poscorr_upper_mm[i], &acted);
        length += translation[i] * translation[i];
    }
    ff_quat rotation = rotation_of(state->value);
    if (relative)
        rotation = ff_quat_unit(ff_quat_mul(rotation, state->rotation));
    double angle = ff_quat_angle(rotation, ff_quat_identity()) / DEG;
    if (angle > config->poscorr_rotation_deg) {
        rotation = ff_quat_exp(ff_vec3_scale(config->poscorr_rotation_deg / angle, ff_quat_log(rotation)));
        angle = config->poscorr_rotation_deg;
        acted = true;
    }
    abort |= sqrt(length) > config->poscorrmon_translation_mm || angle > config->poscorrmon_rotation_deg;
    double axes[12];
    for (int i = 0; i < 12; i++) {
        const double x = state->value[FF_RSI_TAG_AXES + i] + (relative ? state->axes[i] : 0.0);
        axes[i] = clip(x, config->axiscorr_lower[i], config->axiscorr_upper[i], &acted);
        abort |= fabs(axes[i]) > config->axiscorrmon[i];
    }
    state->info.clipped += acted;
    if (abort) {
        state->stopped = FF_RSI_STOP_MONITOR;
        return FF_ERR_LIMIT;
    }
    memcpy(state->translation_mm, translation, sizeof translation);
    memcpy(state->axes, axes, sizeof axes);
    state->rotation = rotation;
    return acted ? FF_INFO_LIMITED : FF_OK;
}

ff_status ff_rsi_controller_finish(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                   ff_rsi_correction *correction) {
    *correction = correction_of(config, state);
    if (state->stopped != FF_RSI_RUNNING)
        return FF_ERR_DEVICE;
    if (!state->open)
        return FF_ERR_ARGUMENT;
    state->open = false;
    state->ipoc += config->ipoc_step;
    if (config->only_send)
        return FF_OK;
    const bool late = !state->answered;
    for (int i = 0; i < FF_RSI_TAGS; i++) {
        if (!late && (state->sen.tags & (1u << i)))
            state->value[i] = state->sen.value[i];
        else if (!config->holdon[i])
            state->value[i] = 0.0;
    }
    if (late) {
        state->info.late++;
        state->late_row++;
        const uint64_t count = config->timeout_total ? state->info.late : state->late_row;
        if (config->timeout && count >= config->timeout) {
            state->stopped = FF_RSI_STOP_TIMEOUT;
            return FF_ERR_DEVICE;
        }
    } else {
        state->late_row = 0;
        if (state->sen.has_text)
            memcpy(state->text, state->sen.text, sizeof state->text);
        if (state->value[FF_RSI_TAG_STOP] != 0.0) {
            state->stopped = FF_RSI_STOP_ASKED;
            return FF_ERR_DEVICE;
        }
    }
    const ff_status status = apply(config, state);
    *correction = correction_of(config, state);
    if (status == FF_ERR_LIMIT)
        return status;
    return late ? FF_INFO_HELD : status;
}
