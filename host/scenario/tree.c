#include "scenario/tree.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "scenario/reader.h"
#include "text/message.h"

struct ff_tree_block {
    struct ff_tree_block *next;
    size_t used, size;
    max_align_t data[];
};

void *ff_tree_alloc(ff_tree *tree, size_t size) {
    const size_t align = sizeof(max_align_t);
    size = (size + align - 1) / align * align;
    struct ff_tree_block *block = tree->blocks;
    if (!block || block->size - block->used < size) {
        const size_t room = size > 16384 ? size : 16384;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct ff_tree_block){.next = tree->blocks, .size = room};
        tree->blocks = block;
    }
    void *at = (char *)block->data + block->used;
    block->used += size;
    return at;
}

void ff_tree_free(ff_tree *tree) {
    while (tree->blocks) {
        struct ff_tree_block *next = tree->blocks->next;
        free(tree->blocks);
        tree->blocks = next;
    }
    *tree = (ff_tree){0};
}

ff_shown ff_show(const char *text) {
    ff_shown shown;
    const size_t room = sizeof shown.text - 4;
    size_t n = 0;
    for (; text[n] && n < room; n++)
        shown.text[n] = text[n];
    const bool more = text[n];
    while (more && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) /* never cut a character */
        n--;
    shown.text[n] = 0;
    ff_flatten(shown.text);
    if (more)
        memcpy(shown.text + n, "...", 4);
    return shown;
}

static uint32_t hash_of(const char *text) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

ff_status ff_tree_fault(ff_tree_error *error, ff_place place, const char *format, ...) {
    va_list list;
    error->place = place;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    return FF_ERR_FORMAT;
}

static ff_status no_memory(ff_tree_error *error, ff_place place) {
    (void)ff_tree_fault(error, place, "no memory for the scenario");
    return FF_ERR_MEMORY;
}

ff_node *ff_node_find(const ff_node *map, const char *key) {
    if (!map || map->kind != FF_NODE_MAP)
        return NULL;
    if (map->count <= 16) { /* few keys: comparing is cheaper than hashing */
        for (ff_node *node = map->child; node; node = node->next)
            if (node->key[0] == key[0] && strcmp(node->key, key) == 0)
                return node;
        return NULL;
    }
    const uint32_t hash = hash_of(key);
    for (ff_node *node = map->child; node; node = node->next)
        if (node->hash == hash && strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

/* Text must be UTF-8 without control characters: what YAML 1.1 calls printable. The first byte that is not
 * gets its line and column; *end is the place after the last. */
static ff_status check_text(const char *text, size_t length, const char *argument, ff_place *end,
                            ff_tree_error *error) {
    const unsigned char *s = (const unsigned char *)text;
    ff_place place = {1, 1, argument, NULL};
    for (size_t i = 0; i < length;) {
        const unsigned char c = s[i];
        uint32_t code = c;
        const size_t n = c < 0x80 ? 1 : ff_utf8(text + i, length - i, &code);
        if (n == 0)
            return ff_tree_fault(error, place,
                                 "the text is not UTF-8 (byte 0x%02x), allowed: a YAML text file", c);
        if ((code < 0x20 && code != '\t' && code != '\n' && code != '\r') ||
            (code >= 0x7f && code < 0xa0 && code != 0x85) || code == 0xfffe || code == 0xffff ||
            code == 0xfeff)
            return ff_tree_fault(error, place, "a control character (0x%02x), allowed: a YAML text file",
                                 (unsigned)code);
        if (c == '\n') {
            place.line++;
            place.column = 1;
        } else
            place.column++;
        i += n;
    }
    *end = place;
    return FF_OK;
}

static ff_place place_of(yaml_mark_t mark, const char *argument) {
    return (ff_place){(int)mark.line + 1, (int)mark.column + 1, argument, NULL};
}

typedef struct builder {
    ff_tree *tree;
    const char *argument;
    ff_tree_error *error;
    ff_node *stack[FF_TREE_DEPTH];
    int depth;
    const char *key; /* waiting for its value */
    ff_place key_place;
    ff_node *root;
} builder;

void ff_node_add(ff_node *parent, ff_node *node) {
    if (parent->last)
        parent->last->next = node;
    else
        parent->child = node;
    parent->last = node;
    parent->count++;
}

static ff_status add(builder *b, ff_node_kind kind, ff_place place, ff_node **out) {
    if (++b->tree->nodes > FF_TREE_NODES)
        return ff_tree_fault(b->error, place, "more than %d values, allowed: fewer", FF_TREE_NODES);
    ff_node *node = ff_tree_alloc(b->tree, sizeof *node);
    if (!node)
        return no_memory(b->error, place);
    *node = (ff_node){.kind = kind, .place = place, .text = ""};
    *out = node;
    if (b->depth == 0) {
        b->root = node;
        return FF_OK;
    }
    ff_node *parent = b->stack[b->depth - 1];
    if (parent->kind == FF_NODE_MAP) {
        node->key = b->key;
        node->key_place = b->key_place;
        node->hash = hash_of(b->key);
        b->key = NULL;
    }
    ff_node_add(parent, node);
    return FF_OK;
}

/* What was just said is kept where every mistake is asked for, and what follows is read all the same. */
static ff_status keep(builder *b, ff_status status) {
    ff_tree *tree = b->tree;
    if (!tree->all || status != FF_ERR_FORMAT)
        return status;
    ff_tree_error *kept = ff_tree_alloc(tree, sizeof *kept);
    if (!kept)
        return no_memory(b->error, b->error->place);
    *kept = *b->error;
    kept->next = NULL;
    if (tree->kept)
        tree->kept_last->next = kept;
    else
        tree->kept = kept;
    tree->kept_last = kept;
    return FF_OK;
}

/* No anchor, no tag. */
static ff_status check_plain(builder *b, ff_place place, const yaml_char_t *anchor, const yaml_char_t *tag) {
    ff_status status = FF_OK;
    if (anchor)
        status = keep(b, ff_tree_fault(b->error, place, "an anchor '&%s', allowed: values written out",
                                       ff_show((const char *)anchor).text));
    if (tag && status == FF_OK)
        status = keep(b, ff_tree_fault(b->error, place, "a tag '%s', allowed: plain values",
                                       ff_show((const char *)tag).text));
    return status;
}

static ff_status open_node(builder *b, ff_node_kind kind, ff_place place, const yaml_char_t *anchor,
                           const yaml_char_t *tag) {
    ff_node *node = NULL;
    const ff_status plain = check_plain(b, place, anchor, tag);
    if (plain != FF_OK)
        return plain;
    if (b->depth > 0 && b->stack[b->depth - 1]->kind == FF_NODE_MAP && !b->key)
        return ff_tree_fault(b->error, place, "a %s as a key, allowed: a word",
                             kind == FF_NODE_MAP ? "map" : "list");
    if (b->depth >= FF_TREE_DEPTH)
        return ff_tree_fault(b->error, place, "nested more than %d levels deep, allowed: fewer",
                             FF_TREE_DEPTH);
    const ff_status status = add(b, kind, place, &node);
    if (status == FF_OK)
        b->stack[b->depth++] = node;
    return status;
}

static ff_status scalar(builder *b, const yaml_event_t *event, ff_place place) {
    const char *value = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    const ff_status plain = check_plain(b, place, event->data.scalar.anchor, event->data.scalar.tag);
    if (plain != FF_OK)
        return plain;
    if (memchr(value, 0, length))
        return ff_tree_fault(b->error, place, "a zero byte inside a text, allowed: printable characters");
    char *text = ff_tree_alloc(b->tree, length + 1);
    if (!text)
        return no_memory(b->error, place);
    memcpy(text, value, length);
    text[length] = 0;
    const ff_node *parent = b->depth > 0 ? b->stack[b->depth - 1] : NULL;
    if (parent && parent->kind == FF_NODE_MAP && !b->key) {
        const ff_node *first = ff_node_find(parent, text);
        if (first) { /* the first counts */
            const ff_status kept =
                keep(b, ff_tree_fault(b->error, place,
                                      "duplicate key '%s', it stands already in line %d column %d",
                                      ff_show(text).text, first->key_place.line, first->key_place.column));
            if (kept != FF_OK)
                return kept;
        }
        b->key = text;
        b->key_place = place;
        return FF_OK;
    }
    ff_node *node = NULL;
    const ff_status status = add(b, FF_NODE_SCALAR, place, &node);
    if (status == FF_OK) {
        node->text = text;
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    }
    return status;
}

static ff_status take(builder *b, const yaml_event_t *event, int *documents) {
    const ff_place place = place_of(event->start_mark, b->argument);
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++*documents > 1)
            return ff_tree_fault(b->error, place, "a second document, allowed: one per file");
        return FF_OK;
    case YAML_ALIAS_EVENT:
        return ff_tree_fault(b->error, place, "an alias '*%s', allowed: values written out",
                             ff_show((const char *)event->data.alias.anchor).text);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, FF_NODE_MAP, place, event->data.mapping_start.anchor,
                         event->data.mapping_start.tag);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, FF_NODE_LIST, place, event->data.sequence_start.anchor,
                         event->data.sequence_start.tag);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        b->depth--;
        return FF_OK;
    case YAML_SCALAR_EVENT:
        return scalar(b, event, place);
    default:
        return FF_OK;
    }
}

ff_status ff_tree_parse(ff_tree *tree, const char *text, size_t length, const char *argument, ff_node **root,
                        ff_tree_error *error) {
    *root = NULL;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
        text += 3;
        length -= 3;
    }
    ff_place end = {1, 1, argument, NULL};
    ff_status status = check_text(text, length, argument, &end, error);
    if (status != FF_OK)
        return status;
    yaml_parser_t parser;
    builder b = {.tree = tree, .argument = argument, .error = error};
    if (!yaml_parser_initialize(&parser))
        return no_memory(error, (ff_place){1, 1, argument, NULL});
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    int documents = 0;
    for (bool done = false; !done && status == FF_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            if (parser.error == YAML_MEMORY_ERROR)
                status = no_memory(error, (ff_place){1, 1, argument, NULL});
            else {
                /* at the end of a text without a last line break libyaml counts one line too many */
                const ff_place at = place_of(parser.problem_mark, argument);
                status = ff_tree_fault(error, at.line > end.line ? end : at, "not valid YAML: %s%s%s%s",
                                       parser.problem ? parser.problem : "it cannot be read",
                                       parser.context ? " (" : "", parser.context ? parser.context : "",
                                       parser.context ? ")" : "");
            }
            break;
        }
        done = event.type == YAML_STREAM_END_EVENT;
        status = take(&b, &event, &documents);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (status == FF_OK)
        *root = b.root;
    return status;
}

/* ----------------------------------------------------------------------------------------------- --set -- */

/* The default name of an unnamed item: contact1, contact2 ... ; only contacts have one. */
static bool is_named(const ff_node *item, const char *list, int index, const char *name) {
    const ff_node *own = ff_node_find(item, "name");
    if (own)
        return own->kind == FF_NODE_SCALAR && strcmp(own->text, name) == 0;
    char implied[32];
    snprintf(implied, sizeof implied, "contact%d", index + 1);
    return strcmp(list, "contacts") == 0 && item->kind == FF_NODE_MAP && strcmp(implied, name) == 0;
}

static bool as_index(const char *text, int *index) {
    int value = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9' || value > 100000)
            return false;
        value = 10 * value + (*c - '0');
    }
    *index = value;
    return *text != 0;
}

static ff_node *append(ff_tree *tree, ff_node *parent, const char *key, ff_place place) {
    ff_node *node = ff_tree_alloc(tree, sizeof *node);
    if (!node)
        return NULL;
    *node = (ff_node){.kind = FF_NODE_SCALAR, .text = "", .place = place, .key_place = place};
    if (parent->kind == FF_NODE_MAP) {
        node->key = key;
        node->hash = hash_of(key);
    }
    ff_node_add(parent, node);
    return node;
}

ff_node *ff_tree_copy(ff_tree *tree, const ff_node *node, const char *key, ff_place key_place) {
    ff_node *copy = ff_tree_alloc(tree, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *node;
    copy->child = copy->last = copy->next = NULL;
    copy->count = 0;
    copy->key = key;
    copy->hash = key ? hash_of(key) : 0;
    copy->key_place = key_place;
    for (const ff_node *child = node->child; child; child = child->next) {
        ff_node *below = ff_tree_copy(tree, child, child->key, child->key_place);
        if (!below)
            return NULL;
        ff_node_add(copy, below);
    }
    return copy;
}

enum { PART_SIZE = 256 }; /* of one name in a path */

/* The child of a node that a name of a path leads to; `last` is the name before it. NULL: none. */
static ff_node *child_at(const ff_node *node, const char *last, const char *part) {
    int index = 0, at = 0;
    const bool number = as_index(part, &index);
    if (node->kind == FF_NODE_MAP)
        return ff_node_find(node, part);
    if (node->kind == FF_NODE_LIST)
        for (ff_node *item = node->child; item; item = item->next, at++)
            if (is_named(item, last, at, part) || (number && at == index))
                return item;
    return NULL;
}

const ff_node *ff_node_at(const ff_node *root, const char *path) {
    char part[PART_SIZE], last[PART_SIZE] = "";
    while (root) {
        const size_t n = strcspn(path, ".");
        if (n >= sizeof part)
            return NULL;
        memcpy(part, path, n);
        part[n] = 0;
        root = child_at(root, last, part);
        if (!path[n])
            break;
        memcpy(last, part, n + 1);
        path += n + 1;
    }
    return root;
}

static void list_names(const ff_node *list, const char *of, char *text, size_t size) {
    size_t n = 0;
    int index = 0;
    text[0] = 0;
    for (const ff_node *item = list->child; item && n + 1 < size; item = item->next, index++) {
        const ff_node *name = ff_node_find(item, "name");
        char own[80];
        if (name && name->kind == FF_NODE_SCALAR)
            snprintf(own, sizeof own, "%s", ff_show(name->text).text);
        else if (strcmp(of, "contacts") == 0)
            snprintf(own, sizeof own, "contact%d", index + 1);
        else
            snprintf(own, sizeof own, "%d", index);
        n += (size_t)snprintf(text + n, size - n, "%s%s", index ? ", " : "", own);
    }
    if (list->count == 0)
        snprintf(text, size, "none");
}

ff_status ff_tree_set(ff_tree *tree, const char *assignment, const char *argument, ff_tree_error *error) {
    ff_node *node;
    return ff_tree_set_node(tree, assignment, argument, &node, error);
}

ff_status ff_tree_set_node(ff_tree *tree, const char *assignment, const char *argument, ff_node **found,
                           ff_tree_error *error) {
    const ff_place place = {1, 1, argument, NULL};
    const char *equal = strchr(assignment, '=');
    if (!equal || equal == assignment)
        return ff_tree_fault(error, place, "no %s, allowed: path=value, e.g. contacts.front.damping=3",
                             equal ? "path" : "value");
    const size_t length = (size_t)(equal - assignment);
    char *path = ff_tree_alloc(tree, length + 1);
    if (!path)
        return no_memory(error, place);
    memcpy(path, assignment, length);
    path[length] = 0;

    ff_node *value;
    ff_status status = ff_tree_parse(tree, equal + 1, strlen(equal + 1), argument, &value, error);
    if (status != FF_OK)
        return status;
    if (!value)
        return ff_tree_fault(error, place, "no value, allowed: path=value, e.g. contacts.front.damping=3");

    if (!tree->root)
        return ff_tree_fault(error, place, "the scenario is empty");
    ff_node *node = tree->root;
    const char *last = "";
    int depth = 0;
    for (char *part = path, *end; part; part = end) {
        end = strchr(part, '.');
        if (end)
            *end++ = 0;
        if (!*part)
            return ff_tree_fault(error, place,
                                 "an empty name in the path, allowed: names separated by single dots");
        if (++depth > FF_TREE_DEPTH)
            return ff_tree_fault(error, place, "a path of more than %d names, allowed: fewer", FF_TREE_DEPTH);
        int index = 0;
        const bool number = as_index(part, &index);
        if (node->kind == FF_NODE_SCALAR && node->count == -1) { /* created just now: shape by what follows */
            node->kind = number ? FF_NODE_LIST : FF_NODE_MAP;
            node->count = 0;
        }
        ff_node *next = child_at(node, last, part);
        if (node->kind == FF_NODE_LIST) {
            if (!next && !(number && index == node->count)) {
                char names[160];
                list_names(node, last, names, sizeof names);
                ff_guess guess = {.wrong = part};
                for (const ff_node *item = node->child; item; item = item->next) {
                    const ff_node *name = ff_node_find(item, "name");
                    if (name && name->kind == FF_NODE_SCALAR)
                        ff_guess_add(&guess, name->text);
                }
                return ff_tree_fault(error, place,
                                     "no item '%s' in %s%s, allowed: %s, or an index from 0 to %d",
                                     ff_show(part).text, *last ? ff_show(last).text : "the list",
                                     ff_guess_hint(&guess).text, names, node->count);
            }
        } else if (node->kind != FF_NODE_MAP)
            return ff_tree_fault(error, place,
                                 "'%s' is a plain value and has no '%s', allowed: a path to a key",
                                 ff_show(last).text, ff_show(part).text);
        if (!next) {
            next = append(tree, node, part, place);
            if (!next)
                return no_memory(error, place);
            next->count = -1;
        }
        last = part;
        node = next;
    }
    node->kind = value->kind;
    node->quoted = value->quoted;
    node->text = value->text;
    node->place = place;
    node->count = value->count;
    node->child = value->child;
    node->last = value->last;
    *found = node;
    return FF_OK;
}
