/* SPDX-License-Identifier: MIT */
/*
 * Circular doubly linked lists inside one array: a node is an index, a list is the index of its
 * sentinel. Removal needs no list, and a whole list moves to another in O(1). Nodes are not
 * counted here: who needs a length keeps it.
 */
#ifndef TI_LINKS_H
#define TI_LINKS_H

#include <stdbool.h>
#include <stdint.h>

struct ti_link {
    uint32_t next;
    uint32_t prev;
};

/* A lone node, or an empty list. */
static inline void ti_links_reset (struct ti_link *links, uint32_t node)
{
    links[node] = (struct ti_link){node, node};
}

static inline bool ti_links_is_alone (const struct ti_link *links, uint32_t node)
{
    return links[node].next == node;
}

/* Append a lone node to a list. */
static inline void ti_links_append (struct ti_link *links, uint32_t list, uint32_t node)
{
    const uint32_t last = links[list].prev;
    links[node] = (struct ti_link){list, last};
    links[last].next = node;
    links[list].prev = node;
}

/* Take a node out of whatever list holds it; harmless for a lone node. */
static inline void ti_links_remove (struct ti_link *links, uint32_t node)
{
    const struct ti_link at = links[node];
    links[at.prev].next = at.next;
    links[at.next].prev = at.prev;
    ti_links_reset (links, node);
}

/* Move all of list `from` behind the end of list `to`, in order. */
static inline void ti_links_move (struct ti_link *links, uint32_t to, uint32_t from)
{
    if (ti_links_is_alone (links, from))
        return;
    const uint32_t first = links[from].next;
    const uint32_t last = links[from].prev;
    const uint32_t tail = links[to].prev;
    links[tail].next = first;
    links[first].prev = tail;
    links[last].next = to;
    links[to].prev = last;
    ti_links_reset (links, from);
}

#endif
