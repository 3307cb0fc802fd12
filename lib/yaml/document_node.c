/* SPDX-License-Identifier: MIT */
/* A document that has been read: its nodes, and refusals that say where. */
#include "document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#include <tied/error.h>

int ti_document_refuse (const struct ti_document *self,
                        uint32_t line,
                        uint32_t column,
                        char why[TI_DOCUMENT_WHY_MAX],
                        const char *format,
                        ...)
{
    va_list args;
    va_start (args, format);
    int length = snprintf (why, TI_DOCUMENT_WHY_MAX, "%s:%u:%u: ", self->name, line, column);
    TI_ASSERT (length > 0 && length < TI_DOCUMENT_WHY_MAX);
    vsnprintf (why + length, (size_t)(TI_DOCUMENT_WHY_MAX - length), format, args);
    va_end (args);
    return TIED_ERR_INVAL;
}

void ti_document_deinit (struct ti_document *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        free (self->nodes[i].text);
        free (self->nodes[i].key);
    }
    free (self->nodes);
    *self = (struct ti_document){.nodes = NULL};
}

const struct ti_node *ti_node_first (const struct ti_document *self, const struct ti_node *node)
{
    return node->count ? &self->nodes[node->first] : NULL;
}

const struct ti_node *ti_node_next (const struct ti_document *self, const struct ti_node *node)
{
    return node->next ? &self->nodes[node->next] : NULL;
}

const struct ti_node *
ti_node_get (const struct ti_document *self, const struct ti_node *node, const char *key)
{
    if (node->kind != TI_NODE_MAP)
        return NULL;
    const struct ti_node *child = ti_node_first (self, node);
    while (child && strcmp (child->key, key) != 0)
        child = ti_node_next (self, child);
    return child;
}
