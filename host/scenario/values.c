/* A section of the scenario by its table of keys: values, defaults, foreign keys. */
#include "scenario/internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static bool read_body(ff_reader *r, const ff_node *node, const ff_key *key, int *value) {
    for (int i = 0; i < r->scenario->satellites; i++)
        if (node->kind == FF_NODE_SCALAR && strcmp(node->text, r->scenario->satellite[i].name) == 0) {
            *value = i;
            return true;
        }
    ff_names list = {"", 0};
    ff_guess g = {.wrong = node->text};
    for (int i = 0; i < r->scenario->satellites; i++) {
        const char *name = r->scenario->satellite[i].name;
        ff_names_add(&list, name);
        ff_guess_add(&g, name);
    }
    if (node->kind != FF_NODE_SCALAR || !*node->text)
        return ff_reader_fail(r, node->place, "%s must be a satellite's name, not %s, allowed: %s", key->key,
                              ff_node_kind_text(node), list.text);
    return ff_reader_fail(r, node->place, "%s: no satellite is named '%s'%s, allowed: %s", key->key,
                          ff_show(node->text).text, ff_guess_hint(&g).text, list.text);
}

bool ff__read_below(ff_reader *r, const ff_node *node, const ff_key *key, void *base) {
    const size_t length = strlen(r->path), own = strlen(key->key);
    if (length + own + 2 <= sizeof r->path) { /* not snprintf: campaigns come here every few microseconds */
        r->path[length] = '.';
        memcpy(r->path + length + (length ? 1 : 0), key->key, own + 1);
    }
    const bool good = ff__read_section(r, node, key->section, base);
    r->path[length] = 0;
    return good;
}

static bool read_value(ff_reader *r, const ff_node *node, const ff_key *key, void *base) {
    void *at = (char *)base + key->offset;
    double *number = at;
    int word = 0;
    switch (key->type) {
    case FF_TYPE_NUMBER:
        return ff_reader_number(r, node, key, number);
    case FF_TYPE_INTEGER:
        return ff_reader_integer(r, node, key, at);
    case FF_TYPE_TEXT:
        return ff_reader_text(r, node, key->key, at, FF_NAME_SIZE);
    case FF_TYPE_NAME:
        return ff_reader_text(r, node, key->key, at, FF_NAME_SIZE) &&
               ff_reader_name(r, node->place, key->key, at);
    case FF_TYPE_TOPIC:
        return ff_reader_topic(r, node, key->key, at);
    case FF_TYPE_NAMES:
        return ff_reader_names(r, node, key->key, at);
    case FF_TYPE_WORD:
        if (!ff_reader_word(r, node, key, &word))
            return false;
        memcpy(at, &word, sizeof word);
        return true;
    case FF_TYPE_FLAG:
        if (!ff_reader_word(r, node, key, &word))
            return false;
        *(bool *)at = word == 1;
        return true;
    case FF_TYPE_VEC3:
        return ff_reader_numbers(r, node, key, 3, ((ff_vec3 *)at)->a);
    case FF_TYPE_DIRECTION:
        return ff_reader_direction(r, node, key, at);
    case FF_TYPE_HALF_WIDTHS:
        return ff_reader_half_widths(r, node, key, at);
    case FF_TYPE_QUATERNION:
        return ff_reader_quaternion(r, node, key, at);
    case FF_TYPE_ABC_DEG:
    case FF_TYPE_RPY:
        return ff_reader_angles(r, node, key, key->type == FF_TYPE_ABC_DEG, at);
    case FF_TYPE_INERTIA:
        return ff_reader_inertia(r, node, key, at);
    case FF_TYPE_WRENCH: {
        double a[6];
        if (!ff_reader_numbers(r, node, key, 6, a))
            return false;
        *(ff_wrench *)at = (ff_wrench){ff_vec3_make(a[3], a[4], a[5]), ff_vec3_make(a[0], a[1], a[2])};
        return true;
    }
    case FF_TYPE_TWIST: {
        double a[6];
        if (!ff_reader_numbers(r, node, key, 6, a))
            return false;
        *(ff_twist *)at = (ff_twist){ff_vec3_make(a[3], a[4], a[5]), ff_vec3_make(a[0], a[1], a[2])};
        return true;
    }
    case FF_TYPE_PAIR:
        if (node->kind == FF_NODE_LIST)
            return ff_reader_numbers(r, node, key, 2, number);
        return ff_reader_number(r, node, key, number);
    case FF_TYPE_SERIES: {
        double k[2];
        if (node->kind != FF_NODE_LIST)
            return ff_reader_number(r, node, key, number);
        if (!ff_reader_numbers(r, node, key, 2, k))
            return false;
        *number = k[0] / (1.0 + k[0] / k[1]);
        return *number > 0.0 ||
               ff_reader_fail(r, node->place, "%s is zero in series, allowed: > 0 [N/m]", key->key);
    }
    case FF_TYPE_SIX:
        return ff_reader_numbers(r, node, key, 6, number);
    case FF_TYPE_NUMBER_OR_WORD:
        if (!ff_reader_says(node, key->words[0]))
            return ff_reader_number(r, node, key, number);
        *number = FF_INF;
        return true;
    case FF_TYPE_METHOD_NAME: /* read before all others */
        return true;
    case FF_TYPE_METHOD:
        return ff__read_method(r, node, key);
    case FF_TYPE_BODY:
        return read_body(r, node, key, at);
    case FF_TYPE_POINT: /* needs the body: read with the contact */
        return true;
    case FF_TYPE_SECTION:
        return ff__read_below(r, node, key, at);
    case FF_TYPE_POINTS:
        return ff__read_points(r, node, key, base);
    case FF_TYPE_SATELLITES:
        return ff__read_satellites(r, node, key);
    case FF_TYPE_CONTACTS:
        return ff__read_contacts(r, node, key);
    case FF_TYPE_LOADS:
        return ff__read_loads(r, node, key);
    case FF_TYPE_CHAIN:
        return ff__read_chain(r, node, key, at);
    case FF_TYPE_LINKS:
        return ff__read_links(r, node, key, base);
    case FF_TYPE_JOINTS: /* needs the arm: read with the satellite */
        return true;
    case FF_TYPE_FAULTS:
        return ff__read_faults(r, node, key);
    case FF_TYPE_ROBOT_ARM:
        return ff__read_robot_arm(r, node, key, at);
    case FF_TYPE_ARM_MODEL:
        return ff__read_arm_model(r, node, base);
    case FF_TYPE_CHAIN_MODEL:
        return ff__read_chain_model(r, node, at);
    case FF_TYPE_MESH:
        return ff__read_mesh(r, node, at);
    case FF_TYPE_SITE:
        return ff__read_site(r, node);
    case FF_TYPE_DRIVES:
        return ff__read_drives(r, node, key, at);
    }
    return false;
}

/* Defaults are read like a file's values, but parsed once for all: campaigns read a scenario every few
 * microseconds. The nodes are never changed afterwards, so threads share them. */
enum { FALLBACK_SLOTS = 512 };
static struct {
    ff_tree tree;
    const char *text[FALLBACK_SLOTS]; /* the table's own literal is the key */
    const ff_node *node[FALLBACK_SLOTS];
} fallbacks;
static pthread_mutex_t fallbacks_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool fallbacks_ready;

static unsigned fallback_slot(const char *text) {
    unsigned slot = (unsigned)((uintptr_t)text >> 1) * 2654435761u >> 23; /* 9 bits */
    while (fallbacks.text[slot] && fallbacks.text[slot] != text)
        slot = (slot + 1) % FALLBACK_SLOTS;
    return slot;
}

/* False without memory: what is missing is parsed by the next call. */
static bool fallbacks_add(const ff_section *section, int depth) {
    for (int i = 0; i < section->keys; i++) {
        const ff_key *key = &section->key[i];
        const char *text = key->fallback;
        const unsigned slot = fallback_slot(text);
        if (!fallbacks.text[slot] && text[0] != '(' && strcmp(text, "none") != 0 &&
            strcmp(text, "required") != 0) {
            ff_tree_error error;
            ff_node *node = NULL;
            if (ff_tree_parse(&fallbacks.tree, text, strlen(text), NULL, &node, &error) != FF_OK)
                return false;
            ff_node_know_numbers(node);
            fallbacks.text[slot] = text;
            fallbacks.node[slot] = node;
        }
        if (key->section && depth < 8 && !fallbacks_add(key->section, depth + 1))
            return false;
    }
    return true;
}

static bool fallbacks_create(void) {
    if (atomic_load_explicit(&fallbacks_ready, memory_order_acquire))
        return true;
    pthread_mutex_lock(&fallbacks_lock);
    const bool ready = fallbacks_add(ff_schema_top(), 0);
    atomic_store_explicit(&fallbacks_ready, ready, memory_order_release);
    pthread_mutex_unlock(&fallbacks_lock);
    return ready;
}

/* The table's own text is read like a file's: what the reference says is what happens. */
static bool read_fallback(ff_reader *r, const ff_key *key, void *base) {
    if (key->fallback[0] == '(')
        return true;
    if (key->fallback[0] == 'n' && strcmp(key->fallback, "none") == 0) {
        double *number = (double *)((char *)base + key->offset);
        if (key->type == FF_TYPE_NUMBER || key->type == FF_TYPE_PAIR)
            number[0] = FF_INF;
        if (key->type == FF_TYPE_PAIR)
            number[1] = FF_INF;
        return true;
    }
    if (!fallbacks_create())
        return ff_reader_fail(r, (ff_place){1, 1, NULL, NULL}, "no memory for the defaults");
    return read_value(r, fallbacks.node[fallback_slot(key->fallback)], key, base);
}

const ff_key *ff__find_key(const ff_section *section, const char *name) {
    for (int i = 0; i < section->keys; i++)
        if (section->key[i].key[0] == name[0] && strcmp(section->key[i].key, name) == 0)
            return &section->key[i];
    return NULL;
}

static bool belongs(const ff_key *key, int kind) {
    return key->kinds == 0 || kind < 0 || (key->kinds >> (unsigned)kind & 1u);
}

/* By name; of several the one that belongs to the kind. */
static const ff_key *find_key_of(const ff_section *section, const char *name, int kind) {
    const ff_key *first = ff__find_key(section, name);
    for (const ff_key *key = first; key && key < section->key + section->keys; key++)
        if (belongs(key, kind) && strcmp(key->key, name) == 0)
            return key;
    return first;
}

const char *ff__where(const ff_reader *r) {
    return *r->path ? r->path : "the scenario";
}

/* The settings of a method in a shared object stand at the top level, too. */
static bool is_library(const ff_reader *r, const ff_section *section, const ff_node *child) {
    if (section != ff_schema_top())
        return false;
    if (r->named && strcmp(r->named->method->name, child->key) == 0)
        return true;
    const ff_method_library *library = ff_scenario_library(r->scenario);
    return library ? strcmp(library->method->name, child->key) == 0
                   : *r->scenario->unchecked && child->kind == FF_NODE_MAP;
}

/* Every key of the map must be one of the section and belong to its kind. */
static bool known_keys(ff_reader *r, const ff_node *node, const ff_section *section, int kind,
                       const char *kind_word) {
    const int faults = r->faults; /* a foreign key takes nothing from the others */
    bool good = true;
    for (const ff_node *child = node->child; child; child = child->next) {
        const ff_key *key = find_key_of(section, child->key, kind);
        if ((key && belongs(key, kind)) || (!key && is_library(r, section, child)))
            continue;
        ff_names list = {"", 0};
        ff_guess g = {.wrong = child->key};
        for (int i = 0; i < section->keys; i++)
            if (belongs(&section->key[i], kind)) {
                ff_names_add(&list, section->key[i].key);
                ff_guess_add(&g, section->key[i].key);
            }
        if (key)
            good =
                ff_reader_fail(r, child->key_place, "key '%s' does not belong to %s kind '%s', allowed: %s",
                               child->key, section->noun, kind_word, list.text);
        else
            good = ff_reader_unknown(r, child, ff__where(r), &list, &g);
        if (!ff_reader_all(r))
            break;
    }
    r->faults = faults;
    return good;
}

/* An attitude has one form. */
static bool one_attitude(ff_reader *r, const ff_node *node, const ff_key *key) {
    static const char *const forms[] = {"attitude", "abc_deg", "rpy"};
    const ff_node *given = ff_node_find(node, key->key);
    for (int i = 0; i < 3; i++)
        if (strcmp(forms[i], key->key) != 0 && ff_node_find(node, forms[i]))
            return ff_reader_fail(r, given->key_place, "%s beside %s, allowed: one of attitude, abc_deg, rpy",
                                  key->key, forms[i]);
    return true;
}

/* Reads the kind first, refuses foreign keys, then goes through the table: absent keys take their defaults.
 */
bool ff__read_section(ff_reader *r, const ff_node *node, const ff_section *section, void *base) {
    ff_node word, map;
    const ff_key *preset = section && node->kind == FF_NODE_SCALAR ? ff__find_key(section, "preset") : NULL;
    for (int i = 0; preset && preset->words[i]; i++)
        if (ff_reader_says(node, preset->words[i])) { /* `section: WORD`: `section: {preset: WORD}` */
            word = *node;
            word.key = "preset";
            word.key_place = node->place;
            word.next = NULL;
            map = (ff_node){
                .kind = FF_NODE_MAP, .place = node->place, .count = 1, .child = &word, .last = &word};
            node = &map;
            break;
        }
    if (node->kind != FF_NODE_MAP)
        return ff_reader_fail(r, node->place,
                              "%s must be a map, not %s, allowed: keys with values, or {}%s%s", ff__where(r),
                              ff_node_kind_text(node), preset ? ", or " : "", preset ? preset->words[1] : "");
    const ff_key *kind_key = ff__find_key(section, "kind");
    int kind = -1;
    bool lost = false; /* nobody knows which kind is meant: what belongs to any of them is read */
    const char *kind_word = "";
    if (kind_key) {
        const ff_node *given = ff_node_find(node, "kind");
        if (given) {
            if (!ff_reader_word(r, given, kind_key, &kind)) {
                if (!ff_reader_all(r))
                    return false;
                kind = -1;
                lost = true;
            }
        } else {
            lost = strcmp(kind_key->fallback, "required") == 0;
            for (int i = 0; kind_key->words[i]; i++)
                if (kind_key->words[i][0] == kind_key->fallback[0] &&
                    strcmp(kind_key->words[i], kind_key->fallback) == 0)
                    kind = i;
        }
        if (kind >= 0)
            kind_word = kind_key->words[kind];
    }
    bool good = known_keys(r, node, section, kind, kind_word) && !(lost && ff_node_find(node, "kind"));
    for (int i = 0; i < section->keys && (good || ff_reader_all(r)); i++) {
        const ff_key *key = &section->key[i];
        if (key->own && (lost || !belongs(key, kind)))
            continue;
        if (lost && key == kind_key && ff_node_find(node, "kind"))
            continue;
        const ff_node *child = node->count ? ff_node_find(node, key->key) : NULL;
        const bool required = key->fallback[0] == 'r' && strcmp(key->fallback, "required") == 0;
        if (!child && required && belongs(key, kind) && !(lost && key->kinds) &&
            !ff_reader_mistyped(r, node, key->key))
            good = ff_reader_fail(r, node->place, "%s lacks the key '%s', allowed: %s%s%s%s", ff__where(r),
                                  key->key, ff_type_text(key->type), *key->unit ? " [" : "", key->unit,
                                  *key->unit ? "]" : "");
        const bool below = key->section || key->type == FF_TYPE_POINTS;
        /* a pair given as one number leaves the other at its default */
        const bool replaced = child && (below || key->type != FF_TYPE_PAIR);
        if (!required && !replaced && !key->preset && !read_fallback(r, key, base))
            return false;
        const bool angles = key->type == FF_TYPE_ABC_DEG || key->type == FF_TYPE_RPY;
        if (child && ((angles && !one_attitude(r, node, key)) || !read_value(r, child, key, base)))
            good = false;
    }
    return good;
}
