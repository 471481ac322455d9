/* `site: FILE`: the laboratory apart from the experiment. Its robots, sensors, limits and frames are laid
 * under the scenario's tree before anything of it is read, so that what reads a scenario knows nothing of
 * sites. */
#include "scenario/internal.h"

#include <stdio.h>
#include <string.h>

#include "text/file.h"

/* Where a node of a site stands. */
static void mark(ff_node *node, const char *file) {
    node->place.file = node->key_place.file = file;
    for (ff_node *child = node->child; child; child = child->next)
        mark(child, file);
}

static ff_status out_of_memory(ff_tree_error *error, ff_place place) {
    (void)ff_tree_fault(error, place, "no memory for the site");
    return FF_ERR_MEMORY;
}

/* Where both name a kind and they differ, the keys of the one do not belong to the other. */
static bool other_kind(const ff_node *own, const ff_node *site) {
    const ff_node *a = ff_node_find(own, "kind"), *b = ff_node_find(site, "kind");
    return a &&
           (!b || a->kind != FF_NODE_SCALAR || b->kind != FF_NODE_SCALAR || strcmp(a->text, b->text) != 0);
}

/* What the scenario says stands; maps are merged key by key. False: no memory. */
static bool lay_under(ff_tree *tree, ff_node *own, const ff_node *site) {
    if (own->kind != FF_NODE_MAP || site->kind != FF_NODE_MAP || other_kind(own, site))
        return true;
    for (const ff_node *child = site->child; child; child = child->next) {
        ff_node *mine = ff_node_find(own, child->key);
        if (mine) {
            if (!lay_under(tree, mine, child))
                return false;
            continue;
        }
        ff_node *copy = ff_tree_copy(tree, child, child->key, child->key_place);
        if (!copy)
            return false;
        ff_node_add(own, copy);
    }
    return true;
}

/* lay_under for one key of a map. */
static bool lay_key(ff_tree *tree, ff_node *map, const char *key, const ff_node *site) {
    ff_node *own = ff_node_find(map, key);
    if (!site || (own && own->kind != FF_NODE_MAP))
        return true;
    if (own)
        return lay_under(tree, own, site);
    own = ff_tree_copy(tree, site, key, site->key_place);
    if (own)
        ff_node_add(map, own);
    return own != NULL;
}

static void take_out(ff_node *map, const char *key) {
    ff_node *before = NULL;
    for (ff_node *child = map->child; child; before = child, child = child->next)
        if (strcmp(child->key, key) == 0) {
            if (before)
                before->next = child->next;
            else
                map->child = child->next;
            if (map->last == child)
                map->last = before;
            map->count--;
            return;
        }
}

/* `robot: NAME` and `robot: {site: NAME, ...}` take the site's robot of that name; a satellite that names
 * none takes the one that is called as it is. */
static ff_status take_device(ff_tree *tree, ff_node *satellite, const char *key, const ff_node *devices,
                             const char *list, ff_tree_error *error) {
    ff_node *own = ff_node_find(satellite, key);
    const ff_node *name = !own ? NULL : own->kind == FF_NODE_SCALAR ? own : ff_node_find(own, "site");
    const bool named = name && name->kind == FF_NODE_SCALAR && *name->text;
    const ff_node *device = ff_node_find(devices, named ? name->text : satellite->key);
    if (named && !device) {
        ff_names all = {"", 0};
        ff_guess guess = {.wrong = name->text};
        for (const ff_node *one = devices ? devices->child : NULL; one; one = one->next) {
            ff_names_add(&all, one->key);
            ff_guess_add(&guess, one->key);
        }
        return ff_tree_fault(error, name->place, "the site has no %s '%s'%s, allowed: %s", list,
                             ff_show(name->text).text, ff_guess_hint(&guess).text,
                             all.used ? all.text : "a site that lists some");
    }
    if (!device)
        return FF_OK;
    if (own && own->kind == FF_NODE_SCALAR)
        take_out(satellite, key);
    else if (own)
        take_out(own, "site");
    return lay_key(tree, satellite, key, device) ? FF_OK : out_of_memory(error, device->place);
}

/* What the site says of one satellite: by its name, by the names of its devices, and what holds for all. */
static ff_status lay_satellite(ff_tree *tree, ff_node *satellite, const ff_node *site, ff_tree_error *error) {
    static const char *const shared[] = {"safety", "limits"};
    ff_status status = FF_OK;
    if (satellite->kind != FF_NODE_MAP)
        return FF_OK; /* its reader says so */
    const ff_node *same = ff_node_find(ff_node_find(site, "satellites"), satellite->key);
    status = take_device(tree, satellite, "robot", ff_node_find(site, "robots"), "robot", error);
    if (status == FF_OK)
        status = take_device(tree, satellite, "sensor", ff_node_find(site, "sensors"), "sensor", error);
    if (status == FF_OK && same && !lay_under(tree, satellite, same))
        status = out_of_memory(error, same->place);
    for (int i = 0; i < 2 && status == FF_OK; i++)
        if (!lay_key(tree, satellite, shared[i], ff_node_find(site, shared[i])))
            status = out_of_memory(error, site->place);
    return status;
}

/* The site's own lists, and satellites that this scenario does not have, are not keys of a scenario. */
static ff_status lay_site(ff_tree *tree, const ff_node *site, ff_tree_error *error) {
    static const char *const own[] = {"robots", "sensors", "safety", "limits", "satellites"};
    ff_node *satellites = ff_node_find(tree->root, "satellites");
    for (ff_node *one = satellites && satellites->kind == FF_NODE_MAP ? satellites->child : NULL; one;
         one = one->next) {
        const ff_status status = lay_satellite(tree, one, site, error);
        if (status != FF_OK)
            return status;
    }
    for (const ff_node *child = site->child; child; child = child->next) {
        bool listed = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            listed |= strcmp(child->key, own[i]) == 0;
        if (!listed && !lay_key(tree, tree->root, child->key, child))
            return out_of_memory(error, child->place);
    }
    return FF_OK;
}

/* Each list of the site is a map of maps, so that a slip there is found even where no satellite takes it. */
static ff_status check_site(const ff_node *site, ff_tree_error *error) {
    static const char *const lists[] = {"robots", "sensors", "satellites"};
    if (site->kind != FF_NODE_MAP)
        return ff_tree_fault(error, site->place,
                             "the site is %s, allowed: a map with robots, sensors, safety, ...",
                             ff_node_kind_text(site));
    const ff_node *inner = ff_node_find(site, "site");
    if (inner)
        return ff_tree_fault(error, inner->key_place, "a site that names another site, allowed: one site");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const ff_node *list = ff_node_find(site, lists[i]);
        if (list && list->kind != FF_NODE_MAP)
            return ff_tree_fault(error, list->place, "%s must be a map of names, allowed: {NAME: {...}}",
                                 lists[i]);
        for (const ff_node *one = list ? list->child : NULL; one; one = one->next)
            if (one->kind != FF_NODE_MAP)
                return ff_tree_fault(error, one->place,
                                     "'%s' must be a map of keys, allowed: {kind: ..., ...}",
                                     ff_show(one->key).text);
    }
    return FF_OK;
}

/* The text, from the disk or from where the options say (a log). */
static ff_status read_site(ff_reader *r, ff_held *held, const char *name, const char *path, const char **text,
                           size_t *length, char *why, size_t size) {
    if (r->options && r->options->file) {
        if (r->options->file(r->options->file_self, name, text, length))
            return FF_OK;
        snprintf(why, size, "it is not in the log");
        return FF_ERR_IO;
    }
    const ff_held_file *file;
    const ff_status status = ff_held_read(held, path, FF_TREE_BYTES, &file, length, why, size);
    if (status == FF_OK) {
        *text = file->text;
        *length = file->length;
    } else if (!*why)
        snprintf(why, size, "%s",
                 status == FF_ERR_ARGUMENT ? "it is a folder"
                 : status == FF_ERR_SIZE   ? "it has more than 16 MB"
                                           : "no memory");
    return status;
}

ff_status ff__lay_site(ff_reader *r, ff_tree_error *error) {
    const ff_node *named = r->tree->root->kind == FF_NODE_MAP ? ff_node_find(r->tree->root, "site") : NULL;
    if (!named || named->kind != FF_NODE_SCALAR || !*named->text)
        return FF_OK; /* none, or its reader says what is wrong */
    char path[FF_FILE_PATH], why[200] = "";
    const char *text = NULL;
    size_t length = 0;
    ff_held own = {0}, *const held = r->options && r->options->held ? r->options->held : &own;
    ff_scenario_place(r->label, named->text, path);
    ff_status status = read_site(r, held, named->text, path, &text, &length, why, sizeof why);
    if (status != FF_OK) {
        ff_held_free(&own);
        (void)ff_tree_fault(error, named->place, "the site '%s' cannot be read: %s, allowed: a YAML file",
                            ff_show(named->text).text, why);
        return status == FF_ERR_MEMORY ? FF_ERR_MEMORY : FF_ERR_FORMAT;
    }
    ff_node *site = NULL;
    char *const file = ff_tree_alloc(r->tree, strlen(path) + 1);
    status =
        file ? ff_tree_parse(r->tree, text, length, NULL, &site, error) : out_of_memory(error, named->place);
    if (file)
        memcpy(file, path, strlen(path) + 1);
    if (status != FF_OK && file)
        error->place.file = file;
    ff_held_free(&own);
    if (status != FF_OK || !site)
        return status;
    mark(site, file);
    status = check_site(site, error);
    return status == FF_OK ? lay_site(r->tree, site, error) : status;
}

void ff__beside(const ff_reader *r, const ff_node *node, const char *name, char *full, size_t size) {
    const char *file = node->place.file, *slash = strrchr(r->label, '/');
    const size_t folder = slash ? (size_t)(slash - r->label) + 1 : 0;
    if (file && strncmp(file, r->label, folder) == 0) /* as the scenario would name it */
        file += folder;
    slash = file && name[0] != '/' ? strrchr(file, '/') : NULL;
    snprintf(full, size, "%.*s%s", slash ? (int)(slash - file) + 1 : 0, slash ? file : "", name);
}
