#include "devices/ati/ati.h"

#include <string.h>

#include "devices/bytes.h"

/* --------------------------------------------------------------------------------------------- request -- */

enum { HEADER = 0x1234, EXTENDED = 0x8000 };

ff_status ff_ati_request_encode(const ff_ati_request *request, uint8_t *buffer, size_t size, size_t *used) {
    const size_t needed = request->extended ? FF_ATI_EXTENDED_SIZE : FF_ATI_REQUEST_SIZE;
    *used = 0;
    if (request->command & EXTENDED)
        return FF_ERR_ARGUMENT;
    if (size < needed)
        return FF_ERR_SIZE;
    ff_bytes_put16(buffer, HEADER);
    ff_bytes_put16(buffer + 2, (uint16_t)(request->command | (request->extended ? EXTENDED : 0)));
    ff_bytes_put32(buffer + 4, request->count);
    if (request->extended) {
        memcpy(buffer + 8, request->address, 4);
        ff_bytes_put16(buffer + 12, request->port);
    }
    *used = needed;
    return FF_OK;
}

static bool known_command(uint16_t command) {
    return command <= FF_ATI_START_MULTI || command == FF_ATI_RESET_LATCH || command == FF_ATI_BIAS;
}

ff_status ff_ati_request_decode(const uint8_t *bytes, size_t size, ff_ati_request *request) {
    if (size < FF_ATI_REQUEST_SIZE || ff_bytes_get16(bytes) != HEADER)
        return FF_ERR_FORMAT;
    const uint16_t word = ff_bytes_get16(bytes + 2);
    ff_ati_request got = {.command = (uint16_t)(word & 0x7fff), .count = ff_bytes_get32(bytes + 4)};
    got.extended = (word & EXTENDED) != 0;
    if (size != (got.extended ? FF_ATI_EXTENDED_SIZE : FF_ATI_REQUEST_SIZE))
        return FF_ERR_FORMAT;
    if (got.extended) {
        memcpy(got.address, bytes + 8, 4);
        got.port = ff_bytes_get16(bytes + 12);
    }
    if (!known_command(got.command))
        return FF_ERR_UNSUPPORTED;
    *request = got;
    return FF_OK;
}

/* --------------------------------------------------------------------------------------------- records -- */

ff_status ff_ati_record_encode(const ff_ati_record *record, uint8_t *buffer, size_t size) {
    if (size < FF_ATI_RECORD_SIZE)
        return FF_ERR_SIZE;
    ff_bytes_put32(buffer, record->rdt_sequence);
    ff_bytes_put32(buffer + 4, record->ft_sequence);
    ff_bytes_put32(buffer + 8, record->status);
    for (int i = 0; i < 6; i++)
        ff_bytes_put32(buffer + 12 + 4 * i, (uint32_t)record->counts[i]);
    return FF_OK;
}

ff_status ff_ati_records_decode(const uint8_t *bytes, size_t size, ff_ati_record *records, size_t capacity,
                                size_t *count) {
    const size_t n = size / FF_ATI_RECORD_SIZE;
    if (n == 0 || n > FF_ATI_BUFFERED_MAX || size % FF_ATI_RECORD_SIZE != 0)
        return FF_ERR_FORMAT;
    if (n > capacity)
        return FF_ERR_SIZE;
    for (size_t k = 0; k < n; k++, bytes += FF_ATI_RECORD_SIZE) {
        records[k].rdt_sequence = ff_bytes_get32(bytes);
        records[k].ft_sequence = ff_bytes_get32(bytes + 4);
        records[k].status = ff_bytes_get32(bytes + 8);
        for (int i = 0; i < 6; i++) /* two's complement on the wire, as on every machine we build for */
            records[k].counts[i] = (int32_t)ff_bytes_get32(bytes + 12 + 4 * i);
    }
    *count = n;
    return FF_OK;
}

ff_status ff_ati_status_check(uint32_t status) {
    const uint32_t mild =
        (uint32_t)FF_ATI_STATUS_ERROR | (uint32_t)FF_ATI_STATUS_SATURATED | (uint32_t)FF_ATI_STATUS_LATCHED;
    if (status & ~mild)
        return FF_ERR_DEVICE;
    if (status & FF_ATI_STATUS_SATURATED)
        return FF_INFO_SATURATED;
    if (status & FF_ATI_STATUS_LATCHED)
        return FF_INFO_LIMITED;
    return status ? FF_ERR_DEVICE : FF_OK; /* the summary bit alone names no cause: do not trust the sample */
}

/* Also the busy bit, 3, which is not an error, says that the data may be affected; and a simulated error, 28,
 * is there to be taken for one. */
ff_status ff_axia_status_check(uint32_t status) {
    const uint32_t range = (uint32_t)FF_AXIA_STATUS_RANGE | (uint32_t)FF_AXIA_STATUS_GAUGE,
                   latched = FF_AXIA_STATUS_LATCHED;
    if (status & ~((uint32_t)FF_ATI_STATUS_ERROR | range | latched))
        return FF_ERR_DEVICE;
    if (status & range)
        return FF_INFO_SATURATED;
    if (status & (uint32_t)FF_ATI_STATUS_ERROR)
        return FF_ERR_DEVICE;
    return status ? FF_INFO_LIMITED : FF_OK;
}

const char *ff_ati_status_text(uint32_t status, char *buffer, size_t size) {
    static const char *const names[32] = {
        [31] = "error",
        [30] = "CPU or RAM",
        [29] = "digital board",
        [28] = "analog board",
        [27] = "serial link",
        [26] = "program memory",
        [25] = "halted by configuration",
        [24] = "settings not valid",
        [23] = "configuration does not fit calibration",
        [22] = "network",
        [21] = "CAN",
        [20] = "RDT",
        [19] = "EtherNet/IP",
        [18] = "DeviceNet",
        [17] = "saturated or A/D",
        [16] = "threshold latched",
        [14] = "watchdog",
        [13] = "stack",
        [12] = "EEPROM",
        [11] = "flash",
        [10] = "analog board watchdog",
        [9] = "gauge current too high",
        [8] = "gauge current too low",
        [7] = "analog ground",
        [6] = "analog supply too high",
        [5] = "analog supply too low",
        [4] = "serial link data missing",
        [3] = "reference voltage",
        [2] = "temperature",
        [1] = "HTTP",
    };
    ff_text_out out;
    ff_text_begin(&out, buffer, size);
    if (status == 0)
        ff_text_put(&out, "healthy");
    bool first = true;
    for (int bit = 31; bit >= 0; bit--) {
        if (!(status & (UINT32_C(1) << bit)))
            continue;
        if (!first)
            ff_text_put(&out, ", ");
        ff_text_put(&out, names[bit] ? names[bit] : "reserved bit");
        first = false;
    }
    return buffer;
}

/* ------------------------------------------------------------------------------------------ configuration --
 */

ff_ati_page ff_ati_page_default(void) {
    return (ff_ati_page){.product = "freefloat virtual F/T",
                         .counts_per_force = 1e6,
                         .counts_per_torque = 1e6,
                         .force_unit = "N",
                         .torque_unit = "Nm",
                         .rdt_enabled = true,
                         .rate = 1000,
                         .buffer = 1};
}

bool ff_ati_unit(const char *unit, bool torque, double *factor) {
    static const struct {
        const char *name;
        bool torque;
        double si;
    } units[] = {
        /* international avoirdupois pound 0.45359237 kg, standard gravity 9.80665 m/s2, inch 0.0254 m: exact
         */
        {"N", false, 1.0},
        {"kN", false, 1e3},
        {"lbf", false, 0.45359237 * 9.80665},
        {"klbf", false, 1e3 * 0.45359237 * 9.80665},
        {"kgf", false, 9.80665},
        {"gf", false, 9.80665e-3},
        {"Nm", true, 1.0},
        {"kNm", true, 1e3},
        {"Nmm", true, 1e-3},
        {"lbfin", true, 0.45359237 * 9.80665 * 0.0254},
        {"lbfft", true, 0.45359237 * 9.80665 * 0.3048},
        {"kgfcm", true, 9.80665e-2},
        {"kgfm", true, 9.80665},
    };
    char plain[16];
    size_t n = 0;
    for (const char *c = unit; *c; c++)
        if (*c != '-') {
            if (n + 1 == sizeof plain)
                return false;
            plain[n++] = *c;
        }
    plain[n] = 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (units[i].torque == torque && strcmp(plain, units[i].name) == 0) {
            *factor = units[i].si;
            return true;
        }
    return false;
}

ff_status ff_ati_page_scale(const ff_ati_page *page, ff_ati_scale *scale) {
    double force, torque;
    if (!(page->counts_per_force > 0.0) || !(page->counts_per_torque > 0.0) ||
        !isfinite(page->counts_per_force) || !isfinite(page->counts_per_torque))
        return FF_ERR_ARGUMENT;
    if (!ff_ati_unit(page->force_unit, false, &force) || !ff_ati_unit(page->torque_unit, true, &torque))
        return FF_ERR_UNSUPPORTED;
    *scale = (ff_ati_scale){force / page->counts_per_force, torque / page->counts_per_torque};
    return FF_OK;
}

double ff_ati_page_range(const ff_ati_page *page, bool torque) {
    double least = FF_INF, factor = 1.0;
    ff_ati_unit(torque ? page->torque_unit : page->force_unit, torque, &factor);
    for (int a = torque ? 3 : 0; page->has_range && a < (torque ? 6 : 3); a++)
        if (page->range[a] > 0.0)
            least = fmin(least, page->range[a] * factor);
    return least;
}

/* Six numbers parted by semicolons; one more semicolon may end the list. */
static ff_status read_six(ff_span text, double values[6]) {
    for (int i = 0; i < 6; i++) {
        const char *stop = text.size ? memchr(text.at, ';', text.size) : NULL;
        const size_t size = stop ? (size_t)(stop - text.at) : text.size;
        const ff_status status = ff_text_read_double(ff_span_trim((ff_span){text.at, size}), &values[i]);
        if (status != FF_OK)
            return status;
        text.at += size + (stop != NULL);
        text.size -= size + (stop != NULL);
    }
    return ff_span_trim(text).size ? FF_ERR_FORMAT : FF_OK;
}

static ff_status read_unsigned(ff_span text, uint64_t most, uint64_t *value) {
    uint64_t got;
    const ff_status status = ff_text_read_u64(text, &got);
    if (status != FF_OK)
        return status;
    if (got > most)
        return FF_ERR_FORMAT;
    *value = got;
    return FF_OK;
}

/* Elements of the page that are read; the first four must be there. */
enum {
    CPF = 1,
    CPT = 2,
    FU = 4,
    TU = 8,
    NEEDED = 15,
    PROD = 16,
    RANGE = 32,
    RDT = 64,
    RATE = 128,
    BUFFER = 256,
    RUN = 512,
    BIAS = 1024
};

static unsigned element_bit(ff_span name) {
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {{"cfgcpf", CPF},        {"cfgcpt", CPT},  {"scfgfu", FU},   {"scfgtu", TU},
                 {"prodname", PROD},     {"cfgmr", RANGE}, {"comrdte", RDT}, {"comrdtrate", RATE},
                 {"comrdtbsiz", BUFFER}, {"runstat", RUN}, {"setbias", BIAS}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (ff_span_equal(name, known[i].name))
            return known[i].bit;
    return 0;
}

static ff_status read_element(unsigned bit, ff_span text, ff_ati_page *page) {
    uint64_t number = 0;
    ff_status status = FF_OK;
    switch (bit) {
    case CPF:
        return ff_text_read_double(text, &page->counts_per_force);
    case CPT:
        return ff_text_read_double(text, &page->counts_per_torque);
    case FU:
        return ff_xml_unescape(text, page->force_unit, sizeof page->force_unit);
    case TU:
        return ff_xml_unescape(text, page->torque_unit, sizeof page->torque_unit);
    case PROD:
        status = ff_xml_unescape(text, page->product, sizeof page->product);
        page->product[sizeof page->product - 1] = 0;
        return status == FF_ERR_SIZE ? FF_OK : status; /* a long name is not a reason to refuse the sensor */
    case RANGE:
        page->has_range = true;
        return read_six(text, page->range);
    case RDT:
        page->rdt_enabled = ff_span_equal(text, "Enabled") || ff_span_equal(text, "1");
        return FF_OK;
    case RATE:
        status = read_unsigned(text, 1000000, &number);
        page->rate = (unsigned)number;
        return status;
    case BUFFER:
        status = read_unsigned(text, 1000000, &number);
        page->buffer = (unsigned)number;
        return status;
    case RUN: /* hexadecimal on some devices: only a plain number is read, it repeats the records' status */
        if (read_unsigned(text, UINT32_MAX, &number) == FF_OK)
            page->status = (uint32_t)number;
        return FF_OK;
    case BIAS:
        page->has_bias = true;
        return read_six(text, page->bias);
    default:
        return FF_OK;
    }
}

/* Up to the root element's opening tag. */
static ff_status open_root(ff_xml_reader *reader) {
    ff_xml_token token;
    do {
        const ff_status status = ff_xml_next(reader, &token);
        if (status != FF_OK)
            return status;
    } while (token.kind == FF_XML_TEXT && ff_span_trim(token.text).size == 0);
    return token.kind == FF_XML_OPEN && !token.empty && ff_span_equal(token.name, "netft") ? FF_OK
                                                                                           : FF_ERR_FORMAT;
}

ff_status ff_ati_page_decode(const char *bytes, size_t size, ff_ati_page *page) {
    if (size > FF_ATI_XML_MAX)
        return FF_ERR_SIZE;
    ff_ati_page got = {.rdt_enabled = true};
    unsigned seen = 0;
    ff_xml_reader reader;
    ff_xml_begin(&reader, bytes, size);
    ff_status status = open_root(&reader);
    for (bool end = false; status == FF_OK && !end;) {
        ff_xml_token token;
        ff_span text;
        status = ff_xml_child(&reader, "netft", &token, &text, &end);
        if (status != FF_OK || end)
            break;
        const unsigned bit = element_bit(token.name);
        if (bit & seen)
            return FF_ERR_FORMAT;
        seen |= bit;
        status = read_element(bit, text, &got);
        if (status == FF_ERR_SIZE)
            status = FF_ERR_FORMAT;
    }
    if (status == FF_OK)
        status = ff_xml_finish(&reader);
    if (status != FF_OK)
        return status;
    if ((seen & NEEDED) != NEEDED)
        return FF_ERR_FORMAT;
    *page = got;
    ff_ati_scale scale;
    status = ff_ati_page_scale(&got, &scale);
    if (status != FF_OK)
        return status;
    return got.rdt_enabled ? FF_OK : FF_ERR_UNSUPPORTED;
}

static void put_element(ff_text_out *out, const char *name, const char *text) {
    ff_text_put(out, "<");
    ff_text_put(out, name);
    ff_text_put(out, ">");
    ff_text_put_escaped(out, (ff_span){text, strlen(text)});
    ff_text_put(out, "</");
    ff_text_put(out, name);
    ff_text_put(out, ">\n");
}

static void put_number(ff_text_out *out, const char *name, double x) {
    char digits[32];
    ff_text_out number;
    ff_text_begin(&number, digits, sizeof digits);
    ff_text_put_double(&number, x, x == floor(x) ? 0 : 9);
    if (number.status != FF_OK && out->status == FF_OK)
        out->status = number.status;
    put_element(out, name, digits);
}

static void put_six(ff_text_out *out, const char *name, const double values[6]) {
    char digits[192];
    ff_text_out list;
    ff_text_begin(&list, digits, sizeof digits);
    for (int i = 0; i < 6; i++) {
        if (i)
            ff_text_put(&list, ";");
        ff_text_put_double(&list, values[i], values[i] == floor(values[i]) ? 0 : 9);
    }
    if (list.status != FF_OK && out->status == FF_OK)
        out->status = list.status;
    put_element(out, name, digits);
}

ff_status ff_ati_page_encode(const ff_ati_page *page, char *buffer, size_t size, size_t *used) {
    ff_text_out out;
    ff_text_begin(&out, buffer, size);
    ff_text_put(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<netft>\n");
    put_element(&out, "prodname", page->product);
    put_number(&out, "runstat", page->status);
    put_number(&out, "cfgcpf", page->counts_per_force);
    put_number(&out, "cfgcpt", page->counts_per_torque);
    put_element(&out, "scfgfu", page->force_unit);
    put_element(&out, "scfgtu", page->torque_unit);
    if (page->has_range)
        put_six(&out, "cfgmr", page->range);
    if (page->has_bias)
        put_six(&out, "setbias", page->bias);
    put_element(&out, "comrdte", page->rdt_enabled ? "Enabled" : "Disabled");
    put_number(&out, "comrdtrate", page->rate);
    put_number(&out, "comrdtbsiz", page->buffer);
    ff_text_put(&out, "</netft>\n");
    *used = out.status == FF_OK ? out.used : 0;
    return out.status;
}

ff_wrench ff_ati_to_wrench(ff_ati_scale scale, const int32_t counts[6]) {
    ff_wrench w;
    for (int i = 0; i < 3; i++) {
        w.f.a[i] = counts[i] * scale.force;
        w.t.a[i] = counts[3 + i] * scale.torque;
    }
    return w;
}

static int32_t saturate(double x, bool *acted) {
    if (x > INT32_MAX) {
        *acted = true;
        return INT32_MAX;
    }
    if (x < INT32_MIN) {
        *acted = true;
        return INT32_MIN;
    }
    return (int32_t)x;
}

ff_status ff_ati_from_wrench(ff_ati_scale scale, ff_wrench wrench, int32_t counts[6]) {
    if (!ff_wrench_finite(wrench))
        return FF_ERR_NOT_FINITE;
    bool acted = false;
    for (int i = 0; i < 3; i++) {
        counts[i] = saturate(rint(wrench.f.a[i] / scale.force), &acted);
        counts[3 + i] = saturate(rint(wrench.t.a[i] / scale.torque), &acted);
    }
    return acted ? FF_INFO_SATURATED : FF_OK;
}

/* ---------------------------------------------------------------------------------------------- sequence --
 */

ff_status ff_ati_sequence_step(ff_ati_sequence *state, uint32_t number) {
    enum { RESTART = 1000 };
    if (!state->started) {
        state->started = true;
        state->last = number;
        state->received++;
        return FF_OK;
    }
    const int32_t ahead =
        (int32_t)(number - state->last); /* modulo 2^32: the wrap is one step like any other */
    if (ahead == 0) {
        state->repeated++;
        return FF_INFO_STALE;
    }
    if (ahead < 0 && ahead >= -RESTART) {
        state->reordered++;
        return FF_INFO_STALE;
    }
    state->last = number;
    state->received++;
    if (ahead < 0) {
        state->restarts++;
        return FF_INFO_GAP;
    }
    state->lost += (uint64_t)ahead - 1;
    return ahead == 1 ? FF_OK : FF_INFO_GAP;
}

/* ------------------------------------------------------------------------------------------ the PC's side --
 */

ff_ati_client_config ff_ati_client_config_default(void) {
    return (ff_ati_client_config){
        .start = {.command = FF_ATI_START}, .retry = 0.1, .silence = 0.1, .retries = 20, .frozen = 50};
}

ff_status ff_ati_client_config_validate(const ff_ati_client_config *config) {
    const uint16_t command = config->start.command;
    if (command < FF_ATI_START_BLOCK || command > FF_ATI_START_MULTI)
        return FF_ERR_ARGUMENT;
    if (!(config->retry > 0.0) || !(config->silence > 0.0) || config->retries == 0)
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

void ff_ati_client_reset(ff_ati_client_state *state) {
    *state = (ff_ati_client_state){0};
}

void ff_ati_client_start(ff_ati_client_state *state) {
    if (state->phase == FF_ATI_STARTING || state->phase == FF_ATI_STREAMING)
        return;
    state->phase = FF_ATI_STARTING;
    state->tries = 0;
    state->stop_asked = false;
}

void ff_ati_client_bias(ff_ati_client_state *state) {
    state->bias_asked = true;
}

void ff_ati_client_stop(ff_ati_client_state *state) {
    state->stop_asked = true;
}

ff_status ff_ati_client_poll(const ff_ati_client_config *config, ff_ati_client_state *state, double now,
                             uint8_t *buffer, size_t size, size_t *used) {
    *used = 0;
    if (state->stop_asked) {
        const ff_status status =
            ff_ati_request_encode(&(ff_ati_request){.command = FF_ATI_STOP}, buffer, size, used);
        if (status == FF_OK) {
            state->stop_asked = false;
            state->phase = FF_ATI_IDLE;
        }
        return status;
    }
    if (state->phase == FF_ATI_FAILED)
        return FF_ERR_DEVICE;
    if (state->phase == FF_ATI_STREAMING && now - state->heard_at > config->silence) {
        state->phase = FF_ATI_STARTING;
        state->tries = 0;
    }
    const bool ask =
        state->phase == FF_ATI_STARTING && (state->tries == 0 || now - state->asked_at >= config->retry);
    if (ask) {
        if (state->tries >= config->retries) {
            state->phase = FF_ATI_FAILED;
            return FF_ERR_DEVICE;
        }
        const ff_status status = ff_ati_request_encode(&config->start, buffer, size, used);
        if (status != FF_OK)
            return status;
        state->tries++;
        state->starts++;
        state->asked_at = now;
        state->fresh = true; /* each start restarts rdt_sequence */
        return FF_OK;
    }
    if (state->bias_asked && state->phase == FF_ATI_STREAMING) {
        const ff_status status =
            ff_ati_request_encode(&(ff_ati_request){.command = FF_ATI_BIAS}, buffer, size, used);
        if (status != FF_OK)
            return status;
        state->bias_asked = false;
    }
    return FF_OK;
}

/* A start was asked for, but this record was under way before: it continues the old numbering. */
static bool still_old(const ff_ati_client_config *config, const ff_ati_client_state *state, double now,
                      const ff_ati_record *record) {
    return state->sequence.started && now - state->asked_at <= config->retry &&
           (int32_t)(record->rdt_sequence - state->last.rdt_sequence) > 0 &&
           (int32_t)(record->ft_sequence - state->last.ft_sequence) > 0;
}

ff_status ff_ati_client_receive(const ff_ati_client_config *config, ff_ati_client_state *state, double now,
                                const uint8_t *bytes, size_t size, ff_ati_record *record) {
    ff_ati_record records[FF_ATI_BUFFERED_MAX];
    size_t count = 0;
    const ff_status status = ff_ati_records_decode(bytes, size, records, FF_ATI_BUFFERED_MAX, &count);
    if (status != FF_OK) {
        state->malformed++;
        return status;
    }
    if (state->phase == FF_ATI_IDLE ||
        state->phase == FF_ATI_FAILED) /* leftovers of a stream that was stopped */
        return FF_INFO_STALE;
    bool any = false, gap = false;
    size_t bad = count; /* the last one that must not be used */
    for (size_t k = 0; k < count; k++) {
        if (state->fresh && !still_old(config, state, now, &records[k])) {
            state->fresh = false;
            state->sequence.started = false; /* what was lost in a silent spell cannot be counted */
        }
        const ff_status step = ff_ati_sequence_step(&state->sequence, records[k].rdt_sequence);
        if (step == FF_INFO_STALE)
            continue;
        gap |= step == FF_INFO_GAP;
        state->same = state->sequence.received > 1 && records[k].ft_sequence == state->last.ft_sequence
                          ? state->same + 1
                          : 0;
        state->last = records[k];
        const ff_status health = ff_ati_status_check(records[k].status);
        bad = health < 0 || health == FF_INFO_SATURATED ? k : bad;
        any = true;
    }
    if (!any)
        return FF_INFO_STALE;
    state->phase = FF_ATI_STREAMING;
    state->tries = 0;
    state->heard_at = now;
    *record = bad < count ? records[bad] : state->last;
    const ff_status health = ff_ati_status_check(record->status);
    if (health != FF_OK) {
        state->unhealthy++;
        return health;
    }
    if (config->frozen && state->same >= config->frozen)
        return FF_INFO_HELD;
    return gap ? FF_INFO_GAP : FF_OK;
}

/* --------------------------------------------------------------------------------------- the sensor's side
 * -- */

void ff_ati_server_reset(ff_ati_server_state *state) {
    *state = (ff_ati_server_state){0};
}

static bool same_peer(const ff_ati_peer *a, const ff_ati_peer *b) {
    return memcmp(a->address, b->address, 4) == 0 && a->port == b->port;
}

ff_status ff_ati_server_receive(ff_ati_server_state *state, ff_ati_peer from, const uint8_t *bytes,
                                size_t size) {
    ff_ati_request request;
    const ff_status status = ff_ati_request_decode(bytes, size, &request);
    if (status != FF_OK)
        return status;
    if (request.extended) {
        memcpy(from.address, request.address, 4);
        from.port = request.port;
    }
    switch (request.command) {
    case FF_ATI_STOP:
        state->streaming = false;
        break;
    case FF_ATI_RESET_LATCH:
        state->latched = false;
        break;
    case FF_ATI_BIAS:
        memcpy(state->bias, state->counts, sizeof state->bias);
        break;
    default: { /* the starts; the last one to ask owns the stream */
        const bool stolen = state->streaming && !same_peer(&state->peer, &from);
        state->streaming = true;
        state->buffered = request.command == FF_ATI_START_BUFFERED;
        state->peer = from;
        state->left = request.count;
        state->rdt_sequence = 0;
        state->held = 0;
        state->stolen += stolen;
        return stolen ? FF_INFO_LIMITED : FF_OK;
    }
    }
    return FF_OK;
}

ff_status ff_ati_server_sample(const ff_ati_server_config *config, ff_ati_server_state *state,
                               uint32_t status, const int32_t counts[6], uint8_t *buffer, size_t size,
                               size_t *used) {
    *used = 0;
    if (config->buffer == 0 || config->buffer > FF_ATI_BUFFERED_MAX)
        return FF_ERR_ARGUMENT;
    const unsigned per = state->buffered ? config->buffer : 1;
    if (state->streaming && size < (size_t)per * FF_ATI_RECORD_SIZE)
        return FF_ERR_SIZE;
    memcpy(state->counts, counts, sizeof state->counts);
    state->ft_sequence++;
    state->latched |= (status & FF_ATI_STATUS_LATCHED) != 0;
    if (!state->streaming)
        return FF_OK;
    bool acted = false;
    ff_ati_record record = {.rdt_sequence = ++state->rdt_sequence, .ft_sequence = state->ft_sequence};
    for (int i = 0; i < 6; i++)
        record.counts[i] = saturate((double)counts[i] - (double)state->bias[i], &acted);
    record.status = status;
    if (acted)
        record.status |= (uint32_t)FF_ATI_STATUS_ERROR | ff_ati_saturated(config->axia);
    if (state->latched)
        record.status |= (config->axia ? 0u : (uint32_t)FF_ATI_STATUS_ERROR) | FF_ATI_STATUS_LATCHED;
    ff_ati_record_encode(&record, state->pending + (size_t)state->held * FF_ATI_RECORD_SIZE,
                         FF_ATI_RECORD_SIZE);
    state->held++;
    const bool last = state->left == 1;
    if (state->left)
        state->left--;
    if (state->held >= per || last) {
        *used = (size_t)state->held * FF_ATI_RECORD_SIZE;
        memcpy(buffer, state->pending, *used);
        state->held = 0;
    }
    if (last)
        state->streaming = false;
    return acted ? FF_INFO_SATURATED : FF_OK;
}
