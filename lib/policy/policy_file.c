/* SPDX-License-Identifier: MIT */
/*
 * "*" is read first, wherever it stands: the others begin with its settings. `NAME: {}` begins with
 * nothing and stays so: one copy.
 */
#include "policy_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "policy_schema.h"
#include "text/quote.h"
#include "text/units.h"
#include "wire/fields.h"
#include "yaml/document_file.h"

/* What the walk hands to parse_methods (). */
struct context {
    uint32_t max;
};

static void set_none (struct tied_policy *policy)
{
    tied_policy_init (policy);
    policy->mode = TIED_MODE_SINGLE;
}

static int refuse_pair (struct ti_reader *reader,
                        const struct ti_node *node,
                        const char *what,
                        uint64_t value_ns,
                        const char *than,
                        uint64_t limit_ns)
{
    char value[TI_UNITS_TEXT_MAX], limit[TI_UNITS_TEXT_MAX];
    return ti_reader_refuse (reader, node, "%s is %s, %s %s", what,
                             ti_format_duration (value_ns, value), than,
                             ti_format_duration (limit_ns, limit));
}

/* hedge_floor <= hedge_initial <= hedge_ceiling. What the map does not say itself gives way. */
static int
settle_delays (struct ti_reader *reader, const struct ti_node *map, struct tied_policy *policy)
{
    const struct ti_node *floor = ti_node_get (reader->document, map, "hedge_floor");
    const struct ti_node *ceiling = ti_node_get (reader->document, map, "hedge_ceiling");
    const struct ti_node *initial = ti_node_get (reader->document, map, "hedge_initial");
    if (policy->hedge_floor_ns > policy->hedge_ceiling_ns) {
        if (floor && ceiling)
            return refuse_pair (reader, floor, "hedge_floor", policy->hedge_floor_ns,
                                "above hedge_ceiling", policy->hedge_ceiling_ns);
        if (floor)
            policy->hedge_ceiling_ns = policy->hedge_floor_ns;
        else
            policy->hedge_floor_ns = policy->hedge_ceiling_ns;
    }
    if (initial && policy->hedge_initial_ns < policy->hedge_floor_ns)
        return refuse_pair (reader, initial, "hedge_initial", policy->hedge_initial_ns,
                            "below hedge_floor", policy->hedge_floor_ns);
    if (initial && policy->hedge_initial_ns > policy->hedge_ceiling_ns)
        return refuse_pair (reader, initial, "hedge_initial", policy->hedge_initial_ns,
                            "above hedge_ceiling", policy->hedge_ceiling_ns);
    policy->hedge_initial_ns = ti_max (policy->hedge_floor_ns,
                                       ti_min (policy->hedge_initial_ns, policy->hedge_ceiling_ns));
    return 0;
}

static int
read_settings (struct ti_reader *reader, const struct ti_node *map, struct tied_policy *policy)
{
    const char *bad = NULL;
    if (map->kind == TI_NODE_MAP && map->count == 0) {
        set_none (policy);
        return 0;
    }
    int rc = ti_schema_apply_to (ti_policy_fields, reader, map, policy);
    if (rc == 0)
        rc = settle_delays (reader, map, policy);
    if (rc == 0 && tied_policy_check (policy, &bad) != 0)
        rc = ti_reader_refuse (reader, map, "%s is out of its range", bad);
    return rc;
}

static int read_method (struct ti_reader *reader,
                        const struct ti_node *node,
                        const struct tied_policy *inherited,
                        struct ti_named_policy *out)
{
    const size_t length = strlen (reader->path);
    snprintf (out->name, sizeof out->name, "%s", node->key);
    out->policy = *inherited;
    snprintf (reader->path + length, sizeof reader->path - length, ".%s", node->key);
    int rc = read_settings (reader, node, &out->policy);
    reader->path[length] = '\0';
    return rc;
}

static int check_names (struct ti_reader *reader, const struct ti_node *methods, uint32_t max)
{
    const struct ti_document *document = reader->document;
    char quoted[TI_QUOTE_MAX];
    uint32_t count = 1;
    for (const struct ti_node *node = ti_node_first (document, methods); node;
         node = ti_node_next (document, node)) {
        if (!ti_wire_is_name (node->key, strlen (node->key)))
            return ti_document_refuse (document, node->key_line, node->key_column, reader->why,
                                       "%s is no method: a name has 1 to %d bytes, no blank and no "
                                       "control character",
                                       ti_quote (node->key, quoted), TIED_NAME_MAX);
        count += strcmp (node->key, "*") != 0;
        if (count > max) {
            ti_document_refuse (document, node->key_line, node->key_column, reader->why,
                                "%s is one method more than the %u that there may be, \"*\" "
                                "among them (methods_max)",
                                ti_quote (node->key, quoted), max);
            return TIED_ERR_FULL;
        }
    }
    return 0;
}

static int parse_methods (struct ti_reader *reader,
                          const struct ti_field *field,
                          const struct ti_node *node,
                          void *base)
{
    struct ti_policies *self = base;
    const struct context *context = reader->context;
    (void)field;
    if (node->kind != TI_NODE_MAP)
        return ti_reader_refuse (reader, node, "a map of methods is wanted here: NAME: {...}");
    int rc = check_names (reader, node, context->max);
    if (rc)
        return rc;
    struct ti_named_policy *items =
        realloc (self->items, ((size_t)node->count + 1) * sizeof *items);
    if (!items) {
        ti_reader_refuse (reader, node, "no memory");
        return TIED_ERR_NOMEM;
    }
    self->items = items;
    const struct tied_policy defaults = items[0].policy;
    const struct ti_node *star = ti_node_get (reader->document, node, "*");
    if (star)
        rc = read_method (reader, star, &defaults, &items[0]);
    for (const struct ti_node *child = ti_node_first (reader->document, node); rc == 0 && child;
         child = ti_node_next (reader->document, child))
        if (child != star)
            rc = read_method (reader, child, &items[0].policy, &items[self->count++]);
    return rc;
}

static const struct ti_field top_fields[] = {
    {.key = "methods",
     .type = TI_TYPE_TREE,
     .fields = ti_policy_fields,
     .value_text = "map of method names, and `\"*\"`, to settings",
     .help = "what is not given is inherited from `\"*\"`, and that from the defaults",
     .is_needed = true,
     .parse = parse_methods},
    {.key = NULL},
};

const struct ti_schema ti_policy_schema = {.noun = "a policy file", .fields = top_fields};

int ti_policies_read_text (const char *name,
                           const char *text,
                           size_t size,
                           uint32_t max,
                           struct ti_policies *out,
                           char why[TI_DOCUMENT_WHY_MAX])
{
    struct ti_document document;
    struct context context = {.max = max};
    struct ti_policies made = {.count = 1, .items = calloc (1, sizeof *made.items)};
    if (!made.items) {
        snprintf (why, TI_DOCUMENT_WHY_MAX, "%.80s: no memory", name);
        return TIED_ERR_NOMEM;
    }
    made.items[0].name[0] = '*';
    tied_policy_init (&made.items[0].policy);
    int rc = ti_document_read (name, text, size, &document, why);
    if (rc == 0) {
        struct ti_reader reader = {
            .document = &document, .context = &context, .why = why, .path = ""};
        rc = ti_schema_apply (&ti_policy_schema, &reader, &made);
        ti_document_deinit (&document);
    }
    if (rc)
        ti_policies_deinit (&made);
    else
        *out = made;
    return rc;
}

int ti_policies_read_file (const char *path,
                           uint32_t max,
                           struct ti_policies *out,
                           char why[TI_DOCUMENT_WHY_MAX])
{
    char *text;
    size_t size;
    int rc = ti_document_read_file (path, &text, &size, why);
    if (rc == 0) {
        rc = ti_policies_read_text (path, text, size, max, out, why);
        free (text);
    }
    return rc;
}

void ti_policies_deinit (struct ti_policies *self)
{
    free (self->items);
    *self = (struct ti_policies){.items = NULL};
}
