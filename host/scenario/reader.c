#include "scenario/reader.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "text/file.h"
#include "text/message.h"

static size_t put_place(char *text, size_t size, const char *label, ff_place place) {
    const int n = place.argument ? snprintf(text, size, "%s: ", place.argument)
                                 : snprintf(text, size, "%s:%d:%d: ", place.file ? place.file : label,
                                            place.line, place.column);
    const size_t used = n < 0 ? 0 : (size_t)n;
    return used < size ? used : size - 1;
}

/* Always false, so that a reader may `return ff_reader_fail(...)`. */
static bool same_place(ff_place a, ff_place b) {
    return a.line == b.line && a.column == b.column && a.argument == b.argument && a.file == b.file;
}

bool ff_reader_sound(const ff_reader *r, const ff_node *node) {
    if (!node || !r->faults)
        return true;
    if (r->faults > FF_READER_FAULTS)
        return false;
    for (int i = 0; i < r->faults; i++)
        if (same_place(r->fault[i], node->place))
            return false;
    if (node->kind == FF_NODE_SCALAR)
        return true;
    for (const ff_node *child = node->child; child; child = child->next)
        if (!ff_reader_sound(r, child))
            return false;
    return true;
}

bool ff_reader_sound_keys(const ff_reader *r, const ff_node *map, const char *const *keys) {
    bool sound = true;
    for (; r->faults && *keys; keys++)
        sound = sound && ff_reader_sound(r, ff_node_find(map, *keys));
    return sound;
}

static void doubt(ff_reader *r, ff_place place) {
    if (r->faults < FF_READER_FAULTS)
        r->fault[r->faults] = place;
    r->faults += r->faults <= FF_READER_FAULTS;
}

bool ff_reader_fail(ff_reader *r, ff_place place, const char *format, ...) {
    doubt(r, place);
    if (!r->message || !r->size)
        return false;
    size_t from = 0;
    if (ff_reader_all(r) && r->said) {
        if (r->said + 2 >= r->size)
            return false;
        from = r->said;
        r->message[from++] = '\n';
    }
    char *line = r->message + from;
    const size_t room = r->size - from, n = put_place(line, room, r->label, place);
    va_list list;
    va_start(list, format);
    vsnprintf(line + n, room - n, format, list);
    va_end(list);
    ff_flatten(line);
    r->said = from + strlen(line);
    return false;
}

void ff_reader_warn(ff_reader *r, ff_place place, const char *format, ...) {
    char line[512];
    const size_t n = put_place(line, sizeof line, r->label, place);
    va_list list;
    va_start(list, format);
    vsnprintf(line + n, sizeof line - n, format, list);
    va_end(list);
    ff_flatten(line);
    const size_t length = strlen(line), need = length + (r->warned ? 1 : 0);
    if (!r->warnings || r->warned + need + 1 > r->warnings_size)
        return;
    if (r->warned)
        r->warnings[r->warned++] = '\n';
    memcpy(r->warnings + r->warned, line, length + 1);
    r->warned += length;
}

void ff_names_add(ff_names *list, const char *name) {
    const int n = snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s",
                           list->used ? ", " : "", name);
    list->used += n < 0 ? 0 : (size_t)n;
    if (list->used >= sizeof list->text)
        list->used = sizeof list->text - 1;
}

/* Edits (insert, delete, change, swap of neighbours) from a to b, at most `limit` + 1. */
static int distance(const char *a, const char *b, int limit) {
    enum { LONGEST = 31 };
    int row[3][LONGEST + 1];
    const int n = (int)strnlen(a, LONGEST + 1), m = (int)strnlen(b, LONGEST + 1);
    if (n > LONGEST || m > LONGEST || abs(n - m) > limit)
        return limit + 1;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *up = row[(i + 2) % 3], *above = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = up[j - 1] + (a[i - 1] != b[j - 1]);
            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above[j - 2] + 1 < best)
                best = above[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

/* Close is: two edits at most, and fewer than half of the letters; the dashes of an option are none. The same
 * name is no other one (a file that is there and cannot be read). */
void ff_guess_add(ff_guess *g, const char *candidate) {
    enum { EDITS = 2 };
    const char *wrong = g->wrong + strspn(g->wrong, "-"), *right = candidate + strspn(candidate, "-");
    const int d = distance(wrong, right, EDITS);
    if (strcmp(g->wrong, candidate) != 0 && d <= EDITS && 2 * d < (int)strlen(wrong) &&
        (!g->best || d < g->distance)) {
        g->best = candidate;
        g->distance = d;
    }
}

ff_shown ff_guess_hint(const ff_guess *g) {
    ff_shown shown = {""};
    if (g->best)
        snprintf(shown.text, sizeof shown.text, " (did you mean '%.40s'?)", g->best);
    return shown;
}

ff_shown ff_guess_among(const char *wrong, size_t length, const char *const *candidates) {
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), wrong);
    ff_guess g = {.wrong = word};
    for (; *candidates; candidates++)
        ff_guess_add(&g, *candidates);
    return ff_guess_hint(&g);
}

const char *ff_node_kind_text(const ff_node *node) {
    if (node->kind == FF_NODE_MAP)
        return "a map";
    if (node->kind == FF_NODE_LIST)
        return "a list";
    return node->quoted ? "text in quotes" : *node->text ? "a plain value" : "empty";
}

void ff_node_know_numbers(ff_node *node) {
    if (!node)
        return;
    bool in_range = false;
    if (node->kind == FF_NODE_SCALAR && !node->quoted &&
        ff_number_parse(node->text, &node->number, &in_range))
        node->known = in_range;
    for (ff_node *child = node->child; child; child = child->next)
        ff_node_know_numbers(child);
}

static bool within(const ff_key *key, double value) {
    return (key->above_low ? value > key->low : value >= key->low) &&
           (key->below_high ? value < key->high : value <= key->high);
}

bool ff_reader_number(ff_reader *r, const ff_node *node, const ff_key *key, double *value) {
    const char *const range = ff_range_text(key);
    const char *const unit = key->unit;
    bool in_range = true;
    if (node->known) {
        *value = node->number;
    } else if (node->kind != FF_NODE_SCALAR || node->quoted ||
               !ff_number_parse(node->text, value, &in_range)) {
        const bool plain = node->kind == FF_NODE_SCALAR && !node->quoted && *node->text;
        return ff_reader_fail(
            r, node->place, "%s must be a number, not %s%s%s, allowed: a finite number%s%s%s%s%s", key->key,
            plain ? "'" : "", plain ? ff_show(node->text).text : ff_node_kind_text(node), plain ? "'" : "",
            *range ? " " : "", range, *unit ? " [" : "", unit, *unit ? "]" : "");
    }
    const bool divides = key->range == FF_RANGE_POSITIVE && *value > 0.0;
    if (!in_range || fabs(*value) > FF_NUMBER_MOST || (divides && *value < FF_NUMBER_LEAST))
        return ff_reader_fail(r, node->place, "%s is %s, allowed: a number of size " FF_NUMBER_SIZES,
                              key->key, ff_show(node->text).text);
    const bool inside = key->range == FF_RANGE_POSITIVE       ? *value > 0.0
                        : key->range == FF_RANGE_NOT_NEGATIVE ? *value >= 0.0
                        : key->range == FF_RANGE_ACUTE        ? *value > 0.0 && *value < FF_PI / 2
                        : key->range == FF_RANGE_SHARE        ? *value >= 0.0 && *value < 1.0
                        : key->range == FF_RANGE_BOUNDS       ? within(key, *value)
                                                              : true;
    if (!inside)
        return ff_reader_fail(r, node->place, "%s is %s, allowed: %s%s%s%s", key->key,
                              ff_show(node->text).text, range, *unit ? " [" : "", unit, *unit ? "]" : "");
    return true;
}

bool ff_reader_numbers(ff_reader *r, const ff_node *node, const ff_key *key, int count, double *value) {
    if (node->kind != FF_NODE_LIST || node->count != count) {
        const bool list = node->kind == FF_NODE_LIST;
        if (list)
            return ff_reader_fail(r, node->place, "%s has %d values, allowed: %s", key->key, node->count,
                                  ff_type_text(key->type));
        return ff_reader_fail(r, node->place, "%s must be a list, not %s, allowed: %s", key->key,
                              ff_node_kind_text(node), ff_type_text(key->type));
    }
    bool good = true;
    for (const ff_node *item = node->child; item && (good || ff_reader_all(r)); item = item->next)
        good = ff_reader_number(r, item, key, value++) && good;
    return good;
}

bool ff_reader_integer(ff_reader *r, const ff_node *node, const ff_key *key, uint64_t *value) {
    const char *text = node->kind == FF_NODE_SCALAR && !node->quoted ? node->text : "";
    uint64_t sum = 0;
    bool good = *text != 0;
    for (; good && *text; text++) {
        const unsigned digit = (unsigned)(unsigned char)*text - '0';
        good = digit <= 9 && sum <= (UINT64_MAX - digit) / 10;
        sum = good ? 10 * sum + digit : 0;
    }
    if (!good)
        return ff_reader_fail(
            r, node->place, "%s must be a whole number, not %s, allowed: 0 to 18446744073709551615", key->key,
            node->kind == FF_NODE_SCALAR && *node->text ? ff_show(node->text).text : ff_node_kind_text(node));
    if (key->range == FF_RANGE_BOUNDS && !within(key, (double)sum))
        return ff_reader_fail(r, node->place, "%s is %s, allowed: %s", key->key, ff_show(node->text).text,
                              key->bounds);
    *value = sum;
    return true;
}

bool ff_reader_text(ff_reader *r, const ff_node *node, const char *what, char *text, size_t size) {
    if (node->kind != FF_NODE_SCALAR ||
        (!node->quoted && (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0)))
        return ff_reader_fail(r, node->place, "%s must be text, not %s, allowed: 1 to %zu bytes", what,
                              node->kind == FF_NODE_SCALAR ? "empty" : ff_node_kind_text(node), size - 1);
    const size_t length = strlen(node->text);
    if (length == 0 || length >= size || !ff_shown_text(node->text))
        return ff_reader_fail(r, node->place, "%s is '%s', allowed: 1 to %zu bytes of printable text", what,
                              ff_show(node->text).text, size - 1);
    memcpy(text, node->text, length + 1);
    return true;
}

/* As ROS 2 takes it: tokens of letters, digits and underscores behind a slash each, none of which begins with
 * a digit. */
static bool is_topic(const char *name) {
    bool token = false;
    for (; *name; name++) {
        const bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || *name == '_';
        const bool starts = name[0] == '/' && name[1] != '/' && name[1] != 0;
        if (*name == '/' ? !starts : !letter && !(token && *name >= '0' && *name <= '9'))
            return false;
        token = *name != '/';
    }
    return token;
}

bool ff_reader_topic(ff_reader *r, const ff_node *node, const char *what, char *text) {
    if (!ff_reader_text(r, node, what, text, FF_NAME_SIZE))
        return false;
    return (text[0] == '/' && is_topic(text)) ||
           ff_reader_fail(
               r, node->place,
               "%s '%s' is no topic, allowed: names of letters, digits and underscores, each behind "
               "a slash: /joint_states",
               what, ff_show(text).text);
}

bool ff_reader_names(ff_reader *r, const ff_node *node, const char *what, char names[][FF_NAME_SIZE]) {
    if (node->kind != FF_NODE_LIST || node->count < FF_ARM_AXES - 1 || node->count > FF_ARM_AXES)
        return ff_reader_fail(r, node->place, "%s must be a list of six or seven, not %s%s, allowed: names",
                              what, ff_node_kind_text(node),
                              node->kind == FF_NODE_LIST ? " of another length" : "");
    int n = 0;
    *names[FF_ARM_AXES - 1] = 0;
    for (const ff_node *one = node->child; one; one = one->next, n++) {
        if (!ff_reader_text(r, one, what, names[n], FF_NAME_SIZE))
            return false;
        for (int k = 0; k < n; k++)
            if (strcmp(names[k], names[n]) == 0)
                return ff_reader_fail(r, one->place, "%s: '%s' stands there twice, allowed: once", what,
                                      ff_show(names[n]).text);
    }
    return true;
}

bool ff_reader_name(ff_reader *r, ff_place place, const char *what, const char *name) {
    const size_t length = strlen(name);
    const bool good = length > 0 && length < FF_NAME_SIZE && name[0] != ' ' && name[length - 1] != ' ' &&
                      name[strspn(name, "0123456789")] != 0 && !name[strcspn(name, "./,=:\"\\")] &&
                      ff_shown_text(name);
    if (!good)
        return ff_reader_fail(
            r, place,
            "%s '%s' is not a valid name, allowed: 1 to %d bytes, not only digits, none of . / , = : \" \\",
            what, ff_show(name).text, FF_NAME_SIZE - 1);
    return true;
}

bool ff_reader_mistyped(ff_reader *r, const ff_node *map, const char *key) {
    for (const ff_node *child = map->kind == FF_NODE_MAP ? map->child : NULL; child; child = child->next) {
        bool refused = false;
        for (int i = 0; i < r->foreigns && !refused; i++)
            refused = same_place(r->foreign[i], child->key_place);
        ff_guess g = {.wrong = child->key};
        if (refused)
            ff_guess_add(&g, key);
        if (g.best) {
            doubt(r, map->place);
            return true;
        }
    }
    return false;
}

bool ff_reader_unknown(ff_reader *r, const ff_node *child, const char *where, const ff_names *list,
                       const ff_guess *g) {
    if (r->foreigns < FF_READER_FAULTS)
        r->foreign[r->foreigns++] = child->key_place;
    return ff_reader_fail(r, child->key_place, "unknown key '%s' in %s%s, allowed: %s",
                          ff_show(child->key).text, where, ff_guess_hint(g).text, list->text);
}

bool ff_reader_keys(ff_reader *r, const ff_node *map, const char *where, const char *const *allowed) {
    for (const ff_node *child = map->child; child; child = child->next) {
        bool known = false;
        ff_names list = {"", 0};
        ff_guess g = {.wrong = child->key};
        for (int i = 0; allowed[i]; i++) {
            known = known || strcmp(child->key, allowed[i]) == 0;
            ff_names_add(&list, allowed[i]);
            ff_guess_add(&g, allowed[i]);
        }
        if (!known)
            return ff_reader_unknown(r, child, where, &list, &g);
    }
    return true;
}

bool ff_reader_count(ff_reader *r, const ff_node *node, const char *what, double least, uint64_t *value) {
    double number = FF_NAN;
    bool in_range = false;
    const bool plain = node->kind == FF_NODE_SCALAR && !node->quoted;
    if (!plain || !ff_number_parse(node->text, &number, &in_range) || number != floor(number) ||
        !(number >= least && number <= 9e15))
        return ff_reader_fail(r, node->place, "%s must be a whole number from %.0f on, not '%s'", what, least,
                              plain && *node->text ? ff_show(node->text).text : ff_node_kind_text(node));
    *value = (uint64_t)number;
    return true;
}

bool ff_reader_says(const ff_node *node, const char *word) {
    static const char *const same[][2] = {{"on", "true"}, {"off", "false"}};
    if (node->kind != FF_NODE_SCALAR)
        return false;
    if (node->text[0] == word[0] && strcmp(node->text, word) == 0)
        return true;
    for (int i = 0; i < 2 && !node->quoted; i++)
        for (int j = 0; j < 2; j++)
            if (strcmp(word, same[i][j]) == 0 && strcmp(node->text, same[i][!j]) == 0)
                return true;
    return false;
}

bool ff_reader_word(ff_reader *r, const ff_node *node, const ff_key *key, int *value) {
    for (int i = 0; key->words[i]; i++)
        if (ff_reader_says(node, key->words[i])) {
            *value = i;
            return true;
        }
    ff_names list = {"", 0};
    ff_guess g = {.wrong = node->text};
    for (int i = 0; key->words[i]; i++) {
        ff_names_add(&list, key->words[i]);
        ff_guess_add(&g, key->words[i]);
    }
    if (node->kind != FF_NODE_SCALAR || !*node->text)
        return ff_reader_fail(r, node->place, "%s must be a word, not %s, allowed: %s", key->key,
                              ff_node_kind_text(node), list.text);
    return ff_reader_fail(r, node->place, "unknown %s '%s'%s, allowed: %s", key->key,
                          ff_show(node->text).text, ff_guess_hint(&g).text, list.text);
}

bool ff_reader_direction(ff_reader *r, const ff_node *node, const ff_key *key, ff_vec3 *value) {
    if (!ff_reader_numbers(r, node, key, 3, value->a))
        return false;
    const double size = fmax(fabs(value->x), fmax(fabs(value->y), fabs(value->z)));
    if (!(size > 0.0))
        return ff_reader_fail(r, node->place, "%s is zero, allowed: a direction of any other length",
                              key->key);
    /* scaled first: squares of 1e-200 vanish */
    *value = ff_vec3_unit(ff_vec3_make(value->x / size, value->y / size, value->z / size));
    return true;
}

/* {abc_deg: [A, B, C]}: KUKA's degrees about z, then y', then x''; {rpy: [roll, pitch, yaw]}: radians about
 * the fixed x, y, z; {quaternion: [...]}: as without the map. */
static bool read_attitude(ff_reader *r, const ff_node *map, const ff_key *key, ff_quat *value) {
    const ff_node *form = map->child;
    if (map->count != 1)
        return ff_reader_fail(r, map->place, "%s has %d forms, allowed: one of quaternion, abc_deg, rpy",
                              key->key, map->count);
    char name[64];
    snprintf(name, sizeof name, "%.30s.%.20s", key->key, form->key);
    const ff_key named = {.key = name, .unit = ""};
    if (strcmp(form->key, "quaternion") == 0)
        return ff_reader_quaternion(r, form, key, value);
    const bool degrees = strcmp(form->key, "abc_deg") == 0;
    if (!degrees && strcmp(form->key, "rpy") != 0) {
        static const char *const forms[] = {"quaternion", "abc_deg", "rpy", NULL};
        return ff_reader_keys(r, map, key->key, forms);
    }
    return ff_reader_angles(r, form, &named, degrees, value);
}

bool ff_reader_angles(ff_reader *r, const ff_node *node, const ff_key *key, bool degrees, ff_quat *value) {
    double a[3];
    if (!ff_reader_numbers(r, node, key, 3, a))
        return false;
    *value = degrees ? ff_quat_from_abc(a[0] * FF_PI / 180.0, a[1] * FF_PI / 180.0, a[2] * FF_PI / 180.0)
                     : ff_quat_from_abc(a[2], a[1], a[0]);
    return true;
}

bool ff_reader_quaternion(ff_reader *r, const ff_node *node, const ff_key *key, ff_quat *value) {
    double q[4];
    if (node->kind == FF_NODE_MAP)
        return read_attitude(r, node, key, value);
    if (!ff_reader_numbers(r, node, key, 4, q))
        return false;
    double size = 0.0, sum = 0.0;
    for (int i = 0; i < 4; i++)
        size = fmax(size, fabs(q[i]));
    if (!(size > 0.0))
        return ff_reader_fail(r, node->place, "%s is the zero quaternion, allowed: unit length, scalar first",
                              key->key);
    for (int i = 0; i < 4; i++)
        sum += q[i] / size * (q[i] / size);
    const double norm = size * sqrt(sum);
    if (fabs(norm - 1.0) > 1e-6)
        ff_reader_warn(r, node->place, "warning: %s has length %.9g instead of 1, it is normalised", key->key,
                       norm);
    *value = ff_quat_unit((ff_quat){q[0] / size, q[1] / size, q[2] / size, q[3] / size});
    return true;
}

bool ff_reader_inertia(ff_reader *r, const ff_node *node, const ff_key *key, ff_mat3 *value) {
    double a[6] = {0};
    const int count = node->kind == FF_NODE_LIST && node->count == 6 ? 6 : 3;
    if (!ff_reader_numbers(r, node, key, count, a))
        return false;
    *value = (ff_mat3){{{a[0], a[3], a[4]}, {a[3], a[1], a[5]}, {a[4], a[5], a[2]}}};
    return true;
}

bool ff_reader_half_widths(ff_reader *r, const ff_node *node, const ff_key *key, ff_vec3 *value) {
    if (node->kind != FF_NODE_LIST || node->count != 3)
        return ff_reader_numbers(r, node, key, 3, value->a);
    int i = 0;
    bool good = true;
    for (const ff_node *item = node->child; item && (good || ff_reader_all(r)); item = item->next, i++) {
        if (item->kind == FF_NODE_SCALAR && strcmp(item->text, "free") == 0)
            value->a[i] = FF_INF;
        else
            good = ff_reader_number(r, item, key, &value->a[i]) && good;
    }
    return good;
}

/* The file in the same folder whose name is nearest. */
static ff_shown nearest_file(const char *path) {
    char folder[FF_FILE_PATH], best[256] = "";
    const char *slash = strrchr(path, '/');
    ff_guess guess = {.wrong = slash ? slash + 1 : path};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    DIR *all = opendir(folder);
    for (const struct dirent *one; all && (one = readdir(all));) {
        ff_guess_add(&guess, one->d_name);
        if (guess.best == one->d_name) {
            snprintf(best, sizeof best, "%s", one->d_name);
            guess.best = best;
        }
    }
    if (all)
        closedir(all);
    return ff_guess_hint(&guess);
}

ff_status ff_reader_file(ff_reader *r, ff_held *held, const char *path, const ff_held_file **file) {
    const ff_place start = {1, 1, NULL, NULL};
    char why[200] = "";
    size_t length;
    const ff_status status = ff_held_read(held, path, FF_TREE_BYTES, file, &length, why, sizeof why);
    if (status == FF_ERR_ARGUMENT)
        ff_reader_fail(r, start, "this is a folder, allowed: a YAML file");
    else if (status == FF_ERR_SIZE)
        ff_reader_fail(r, start, "the file has %zu bytes, allowed: at most 16 MB", length);
    else if (status == FF_ERR_MEMORY)
        ff_reader_fail(r, start, "no memory for the file");
    else if (status != FF_OK)
        ff_reader_fail(r, start, "the file cannot be read: %s%s", why, nearest_file(path).text);
    return status == FF_ERR_ARGUMENT ? FF_ERR_IO : status == FF_ERR_SIZE ? FF_ERR_FORMAT : status;
}
