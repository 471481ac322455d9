#include "devices/text.h"

#include <string.h>

bool ff_span_equal(ff_span span, const char *text) {
    const size_t size = strlen(text);
    return span.size == size && memcmp(span.at, text, size) == 0;
}

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool digit(char c) {
    return c >= '0' && c <= '9';
}

ff_span ff_span_trim(ff_span span) {
    while (span.size && blank(span.at[0])) {
        span.at++;
        span.size--;
    }
    while (span.size && blank(span.at[span.size - 1]))
        span.size--;
    return span;
}

/* ---------------------------------------------------------------------------------------------- numbers --
 */

/* Powers of ten that a double holds exactly. */
static const double ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* One correctly rounded operation on two exact operands is correctly rounded. Beyond that, long double (64
 * bits of mantissa here) by steps of 1e22. */
static double scale_by_ten(uint64_t mantissa, int exponent) {
    if (mantissa == 0)
        return 0.0;
    if (mantissa <= (UINT64_C(1) << 53) && exponent >= -22 && exponent <= 22)
        return exponent < 0 ? (double)mantissa / ten[-exponent] : (double)mantissa * ten[exponent];
    if (exponent > 400)
        return HUGE_VAL;
    if (exponent < -400)
        return 0.0;
    long double x = (long double)mantissa;
    while (exponent > 0) {
        const int step = exponent > 22 ? 22 : exponent;
        x *= (long double)ten[step];
        exponent -= step;
    }
    while (exponent < 0) {
        const int step = exponent < -22 ? 22 : -exponent;
        x /= (long double)ten[step];
        exponent += step;
    }
    return (double)x;
}

ff_status ff_text_read_double(ff_span text, double *value) {
    const char *at = text.at, *end = text.at + text.size;
    if (text.size == 0 || text.size > 64)
        return FF_ERR_FORMAT;
    bool negative = false;
    if (*at == '-' || *at == '+')
        negative = *at++ == '-';
    uint64_t mantissa = 0;
    int exponent = 0, digits = 0;
    bool any = false, point = false;
    for (; at < end && (digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        if (digits < 19) { /* 19 digits always fit 64 bits; the rest only moves the point */
            mantissa = mantissa * 10 + (uint64_t)(*at - '0');
            digits += mantissa != 0;
            exponent -= point;
        } else {
            exponent += !point;
        }
    }
    if (!any)
        return FF_ERR_FORMAT;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        bool down = false;
        if (at < end && (*at == '-' || *at == '+'))
            down = *at++ == '-';
        if (at == end)
            return FF_ERR_FORMAT;
        int written = 0;
        for (; at < end && digit(*at); at++)
            if (written < 100000)
                written = written * 10 + (*at - '0');
        exponent += down ? -written : written;
    }
    if (at != end)
        return FF_ERR_FORMAT;
    const double magnitude = scale_by_ten(mantissa, exponent);
    if (!isfinite(magnitude))
        return FF_ERR_NOT_FINITE;
    *value = negative ? -magnitude : magnitude;
    return FF_OK;
}

ff_status ff_text_read_u64(ff_span text, uint64_t *value) {
    if (text.size == 0 || text.size > 20)
        return FF_ERR_FORMAT;
    uint64_t x = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (!digit(text.at[i]))
            return FF_ERR_FORMAT;
        const uint64_t d = (uint64_t)(text.at[i] - '0');
        if (x > (UINT64_MAX - d) / 10)
            return FF_ERR_FORMAT;
        x = x * 10 + d;
    }
    *value = x;
    return FF_OK;
}

ff_status ff_text_read_i64(ff_span text, int64_t *value) {
    bool negative = false;
    if (text.size && (text.at[0] == '-' || text.at[0] == '+')) {
        negative = text.at[0] == '-';
        text.at++;
        text.size--;
    }
    uint64_t x;
    const ff_status status = ff_text_read_u64(text, &x);
    if (status != FF_OK)
        return status;
    if (x > (uint64_t)INT64_MAX)
        return FF_ERR_FORMAT;
    *value = negative ? -(int64_t)x : (int64_t)x;
    return FF_OK;
}

void ff_text_begin(ff_text_out *out, char *buffer, size_t size) {
    *out = (ff_text_out){buffer, size, 0, size ? FF_OK : FF_ERR_SIZE};
    if (size)
        buffer[0] = 0;
}

static void put_bytes(ff_text_out *out, const char *bytes, size_t size) {
    if (out->status != FF_OK)
        return;
    if (size >= out->size - out->used) { /* one byte stays for the NUL */
        out->status = FF_ERR_SIZE;
        return;
    }
    memcpy(out->at + out->used, bytes, size);
    out->used += size;
    out->at[out->used] = 0;
}

void ff_text_put(ff_text_out *out, const char *text) {
    put_bytes(out, text, strlen(text));
}

void ff_text_line(char *line, size_t size, const char *const *part, size_t parts) {
    ff_text_out out;
    if (!size)
        return;
    ff_text_begin(&out, line, size - 1);
    for (size_t i = 0; i < parts; i++)
        ff_text_put(&out, part[i]);
    line[out.used] = 0;
}

void ff_text_put_u64(ff_text_out *out, uint64_t value) {
    char digits[20];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put_bytes(out, digits + n, sizeof digits - n);
}

/* The nearest multiple of 10^-decimals, as an integer; ties to even, exact. The whole part is exact; the
 * product of the fraction is known with its rounding error (fma), so the decision is made on the true value.
 */
static int64_t to_fixed(double value, int decimals) {
    double whole;
    const double fraction = modf(value, &whole);
    const double p = fraction * ten[decimals], error = fma(fraction, ten[decimals], -p);
    double near = rint(p);
    const double rest = p - near; /* exact; at the middle the error decides, however small */
    if (rest == 0.5 && error > 0.0)
        near += 1.0;
    else if (rest == -0.5 && error < 0.0)
        near -= 1.0;
    return (int64_t)whole * (int64_t)ten[decimals] + (int64_t)near;
}

double ff_text_round(double value, int decimals) {
    if (!(fabs(value) <= FF_TEXT_VALUE_MAX) || decimals < 0 || decimals > FF_TEXT_DECIMALS_MAX)
        return value;
    const int64_t fixed = to_fixed(value, decimals);
    return (fixed < 0 ? -1.0 : 1.0) * scale_by_ten((uint64_t)(fixed < 0 ? -fixed : fixed), -decimals);
}

void ff_text_put_double(ff_text_out *out, double value, int decimals) {
    if (out->status != FF_OK)
        return;
    if (!isfinite(value)) {
        out->status = FF_ERR_NOT_FINITE;
        return;
    }
    if (fabs(value) > FF_TEXT_VALUE_MAX || decimals < 0 || decimals > FF_TEXT_DECIMALS_MAX) {
        out->status = FF_ERR_ARGUMENT;
        return;
    }
    const int64_t fixed = to_fixed(value, decimals);
    uint64_t magnitude = (uint64_t)(fixed < 0 ? -fixed : fixed);
    char digits[24];
    size_t n = sizeof digits;
    for (int i = 0; i < decimals; i++) {
        digits[--n] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    }
    if (decimals)
        digits[--n] = '.';
    do {
        digits[--n] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude);
    if (fixed < 0)
        digits[--n] = '-';
    put_bytes(out, digits + n, sizeof digits - n);
}

void ff_text_put_escaped(ff_text_out *out, ff_span text) {
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.at[i];
        switch (c) {
        case '&':
            ff_text_put(out, "&amp;");
            break;
        case '<':
            ff_text_put(out, "&lt;");
            break;
        case '>':
            ff_text_put(out, "&gt;");
            break;
        case '"':
            ff_text_put(out, "&quot;");
            break;
        case '\'':
            ff_text_put(out, "&apos;");
            break;
        default:
            put_bytes(out, (unsigned char)c < 32 || c == 127 ? " " : &c, 1);
        }
    }
}

/* -------------------------------------------------------------------------------------------------- XML --
 */

void ff_xml_begin(ff_xml_reader *reader, const char *bytes, size_t size) {
    while (size && bytes[size - 1] == 0)
        size--;
    *reader = (ff_xml_reader){bytes, bytes + size};
}

static bool name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c) || c == '_' || c == '.' || c == '-' ||
           c == ':';
}

static ff_span take_name(const char **at, const char *end) {
    ff_span name = {*at, 0};
    while (*at < end && name_char(**at))
        (*at)++;
    name.size = (size_t)(*at - name.at);
    return name;
}

static void skip_blanks(const char **at, const char *end) {
    while (*at < end && blank(**at))
        (*at)++;
}

/* Moves past the given terminator; false if it is not there. */
static bool skip_past(const char **at, const char *end, const char *terminator) {
    const size_t size = strlen(terminator);
    for (const char *p = *at; (size_t)(end - p) >= size; p++)
        if (memcmp(p, terminator, size) == 0) {
            *at = p + size;
            return true;
        }
    return false;
}

static bool starts_with(const char *at, const char *end, const char *text) {
    const size_t size = strlen(text);
    return (size_t)(end - at) >= size && memcmp(at, text, size) == 0;
}

ff_status ff_xml_next(ff_xml_reader *reader, ff_xml_token *token) {
    const char *at = reader->at, *end = reader->end;
    *token = (ff_xml_token){.kind = FF_XML_END_OF_TEXT};
    for (;;) {
        if (starts_with(at, end, "<?")) {
            if (!skip_past(&at, end, "?>"))
                return FF_ERR_FORMAT;
        } else if (starts_with(at, end, "<!--")) {
            if (!skip_past(&at, end, "-->"))
                return FF_ERR_FORMAT;
        } else {
            break;
        }
    }
    if (at == end) {
        reader->at = at;
        return FF_OK;
    }
    if (*at != '<') {
        token->kind = FF_XML_TEXT;
        token->text.at = at;
        while (at < end && *at != '<')
            if (*at++ == 0)
                return FF_ERR_FORMAT;
        token->text.size = (size_t)(at - token->text.at);
        reader->at = at;
        return FF_OK;
    }
    at++;
    if (at < end && *at == '/') {
        at++;
        token->kind = FF_XML_CLOSE;
        token->name = take_name(&at, end);
        skip_blanks(&at, end);
        if (token->name.size == 0 || at == end || *at != '>')
            return FF_ERR_FORMAT;
        reader->at = at + 1;
        return FF_OK;
    }
    token->kind = FF_XML_OPEN;
    token->name = take_name(&at, end);
    if (token->name.size == 0)
        return FF_ERR_FORMAT;
    token->attributes.at = at;
    char quote = 0; /* a > inside a quoted value does not end the tag */
    while (at < end && (quote || *at != '>')) {
        if (*at == 0 || (!quote && *at == '<'))
            return FF_ERR_FORMAT;
        if (quote && *at == quote)
            quote = 0;
        else if (!quote && (*at == '"' || *at == '\''))
            quote = *at;
        at++;
    }
    if (at == end)
        return FF_ERR_FORMAT;
    token->attributes.size = (size_t)(at - token->attributes.at);
    if (token->attributes.size && at[-1] == '/') {
        token->attributes.size--;
        token->empty = true;
    }
    reader->at = at + 1;
    return FF_OK;
}

ff_status ff_xml_attribute(ff_span *attributes, ff_span *name, ff_span *value, bool *found) {
    const char *at = attributes->at, *end = at + attributes->size;
    *found = false;
    const char *before = at;
    skip_blanks(&at, end);
    if (at == end) {
        *attributes = (ff_span){at, 0};
        return FF_OK;
    }
    if (at == before) /* blanks must part the attributes */
        return FF_ERR_FORMAT;
    *name = take_name(&at, end);
    skip_blanks(&at, end);
    if (name->size == 0 || at == end || *at != '=')
        return FF_ERR_FORMAT;
    at++;
    skip_blanks(&at, end);
    if (at == end || (*at != '"' && *at != '\''))
        return FF_ERR_FORMAT;
    const char quote = *at++;
    value->at = at;
    while (at < end && *at != quote)
        at++;
    if (at == end)
        return FF_ERR_FORMAT;
    value->size = (size_t)(at - value->at);
    at++;
    *attributes = (ff_span){at, (size_t)(end - at)};
    *found = true;
    return FF_OK;
}

static bool entity(ff_span name, char *c) {
    static const struct {
        const char *name;
        char c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (ff_span_equal(name, known[i].name)) {
            *c = known[i].c;
            return true;
        }
    if (name.size < 2 || name.at[0] != '#')
        return false;
    const bool hex = name.at[1] == 'x';
    unsigned x = 0;
    size_t i = hex ? 2 : 1;
    if (i == name.size)
        return false;
    for (; i < name.size; i++) {
        const char d = name.at[i];
        if (digit(d))
            x = x * (hex ? 16 : 10) + (unsigned)(d - '0');
        else if (hex && d >= 'a' && d <= 'f')
            x = x * 16 + (unsigned)(d - 'a') + 10;
        else if (hex && d >= 'A' && d <= 'F')
            x = x * 16 + (unsigned)(d - 'A') + 10;
        else
            return false;
        if (x > 0x7f)
            return false;
    }
    *c = (char)x;
    return x != 0;
}

ff_status ff_xml_unescape(ff_span text, char *buffer, size_t size) {
    size_t used = 0;
    if (size == 0)
        return FF_ERR_SIZE;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.at[i];
        if (c == '&') {
            const char *stop = memchr(text.at + i, ';', text.size - i);
            if (!stop || !entity((ff_span){text.at + i + 1, (size_t)(stop - (text.at + i + 1))}, &c))
                return FF_ERR_FORMAT;
            i = (size_t)(stop - text.at);
        }
        if (used + 1 >= size)
            return FF_ERR_SIZE;
        buffer[used++] = c;
    }
    buffer[used] = 0;
    return FF_OK;
}

ff_status ff_xml_child(ff_xml_reader *reader, const char *root, ff_xml_token *token, ff_span *text,
                       bool *end) {
    enum { DEPTH = 8 };
    ff_status status;
    *end = false;
    *text = (ff_span){"", 0};
    do { /* blanks between the children; other text there belongs to nobody */
        status = ff_xml_next(reader, token);
        if (status != FF_OK)
            return status;
        if (token->kind == FF_XML_TEXT && ff_span_trim(token->text).size != 0)
            return FF_ERR_FORMAT;
    } while (token->kind == FF_XML_TEXT);
    if (token->kind == FF_XML_CLOSE) {
        *end = true;
        return ff_span_equal(token->name, root) ? FF_OK : FF_ERR_FORMAT;
    }
    if (token->kind != FF_XML_OPEN)
        return FF_ERR_FORMAT;
    if (token->empty)
        return FF_OK;
    ff_span open[DEPTH] = {token->name};
    int depth = 1;
    while (depth > 0) {
        ff_xml_token inner;
        status = ff_xml_next(reader, &inner);
        if (status != FF_OK)
            return status;
        switch (inner.kind) {
        case FF_XML_TEXT:
            if (depth == 1 && text->size == 0)
                *text = ff_span_trim(inner.text);
            break;
        case FF_XML_OPEN:
            if (inner.empty)
                break;
            if (depth == DEPTH)
                return FF_ERR_FORMAT;
            open[depth++] = inner.name;
            break;
        case FF_XML_CLOSE:
            depth--;
            if (inner.name.size != open[depth].size ||
                memcmp(inner.name.at, open[depth].at, inner.name.size) != 0)
                return FF_ERR_FORMAT;
            break;
        case FF_XML_END_OF_TEXT:
            return FF_ERR_FORMAT;
        }
    }
    return FF_OK;
}

ff_status ff_xml_finish(ff_xml_reader *reader) {
    ff_xml_token token;
    for (;;) {
        const ff_status status = ff_xml_next(reader, &token);
        if (status != FF_OK)
            return status;
        if (token.kind == FF_XML_END_OF_TEXT)
            return FF_OK;
        if (token.kind != FF_XML_TEXT || ff_span_trim(token.text).size != 0)
            return FF_ERR_FORMAT;
    }
}
