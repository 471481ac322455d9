/* scenario/tree.h - YAML text as a tree of nodes that know where they stand. Bounded in depth and number;
 * anchors, aliases, tags, further documents and duplicate keys are refused here. */
#ifndef FF_SCENARIO_TREE_H
#define FF_SCENARIO_TREE_H

#include "freefloat/base.h"
#include "text/number.h"

enum {
    FF_TREE_DEPTH = 32,      /* levels of nesting */
    FF_TREE_NODES = 10000,   /* values in one file */
    FF_TREE_BYTES = 16 << 20 /* size of one file [byte] */
};

typedef enum ff_node_kind { FF_NODE_SCALAR, FF_NODE_LIST, FF_NODE_MAP } ff_node_kind;

/* Where something stands: a line and column of the file, or an argument of the command line. */
typedef struct ff_place {
    int line, column;     /* from 1 */
    const char *argument; /* "--set path=value"; NULL: in a file */
    const char *file;     /* a site's, beside the one that is read; NULL: that one */
} ff_place;

typedef struct ff_node {
    ff_node_kind kind;
    bool quoted;      /* scalar in quotes or a block: text, never a number */
    bool known;       /* scalar: `number` is what its text says */
    const char *text; /* scalar; no zero byte inside */
    double number;
    ff_place place;
    int count; /* children of a list or map */
    struct ff_node *child, *last, *next;
    const char *key; /* in a map */
    uint32_t hash;   /* of key */
    ff_place key_place;
} ff_node;

typedef struct ff_tree_error {
    ff_place place;
    char text[256];
    struct ff_tree_error *next;
} ff_tree_error;

typedef struct ff_tree {
    ff_node *root; /* NULL: the text holds no document */
    bool all;      /* every mistake is asked for: one after which the text can still be read is kept */
    ff_tree_error *kept, *kept_last;
    struct ff_tree_block *blocks;
    struct ff_tree_model_file *models; /* URDF files that were read, in the tree's memory */
    int nodes;
} ff_tree;

/* What is wrong where; FF_ERR_FORMAT. */
ff_status ff_tree_fault(ff_tree_error *error, ff_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* argument (may be NULL) becomes the place of every node. FF_OK, FF_ERR_FORMAT, FF_ERR_MEMORY. The nodes are
 * added to the tree's memory; ff_tree_free releases all. Zero-initialise the tree before the first call. */
ff_status ff_tree_parse(ff_tree *tree, const char *text, size_t length, const char *argument, ff_node **root,
                        ff_tree_error *error);
void ff_tree_free(ff_tree *tree);
/* Memory of the tree; NULL when there is none. */
void *ff_tree_alloc(ff_tree *tree, size_t size);
/* A copy of a node with all below it, under another key of a map; NULL: no memory. */
ff_node *ff_tree_copy(ff_tree *tree, const ff_node *node, const char *key, ff_place key_place);
/* The node becomes the last child of a map or list; it must have no other parent. */
void ff_node_add(ff_node *parent, ff_node *child);
/* The value under a key of a map; NULL if absent or not a map. */
ff_node *ff_node_find(const ff_node *map, const char *key);
/* The node at a path, as ff_tree_set finds it; NULL: nothing stands there. */
const ff_node *ff_node_at(const ff_node *root, const char *path);
/* Applies "path=value". argument: what messages call it, e.g. "--set path=value". */
ff_status ff_tree_set(ff_tree *tree, const char *assignment, const char *argument, ff_tree_error *error);
/* The same, and says which node was set: whoever sets it again and again need not search again. */
ff_status ff_tree_set_node(ff_tree *tree, const char *assignment, const char *argument, ff_node **node,
                           ff_tree_error *error);

/* A text as messages show it: no control characters, at most 60 bytes, whole characters. */
typedef struct ff_shown {
    char text[64];
} ff_shown;
ff_shown ff_show(const char *text);

#endif
