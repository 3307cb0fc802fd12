/* SPDX-License-Identifier: MIT */
#include "routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

int ti_routes_init (struct ti_routes *self, uint32_t max, uint64_t seed)
{
    uint32_t buckets = 1;

    memset (self, 0, sizeof *self);
    while (buckets < max)
        buckets *= 2;
    self->items = calloc (max, sizeof *self->items);
    self->buckets = malloc (buckets * sizeof *self->buckets);
    if (!self->items || !self->buckets) {
        ti_routes_deinit (self);
        return TIED_ERR_NOMEM;
    }
    self->max = max;
    self->mask = buckets - 1;
    self->seed = seed;
    self->last = TI_ROUTE_NONE;
    for (uint32_t i = 0; i < buckets; i++)
        self->buckets[i] = TI_ROUTE_NONE;
    for (uint32_t i = 0; i < max; i++)
        self->items[i].next = i + 1 < max ? i + 1 : TI_ROUTE_NONE;
    return 0;
}

void ti_routes_deinit (struct ti_routes *self)
{
    free (self->items);
    free (self->buckets);
    memset (self, 0, sizeof *self);
}

static uint32_t bucket_of (const struct ti_routes *self, const void *bytes, size_t size)
{
    uint64_t words[TI_ROUTE_MAX / 8] = {0};
    uint64_t hash = self->seed ^ size;

    memcpy (words, bytes, size);
    for (size_t i = 0; i * 8 < size; i++)
        hash = ti_mix (hash ^ words[i]);
    return (uint32_t)hash & self->mask;
}

static bool is_at (const struct ti_routes *self, uint32_t index, const void *bytes, size_t size)
{
    const struct ti_route *item = &self->items[index];

    return item->size == size && memcmp (item->bytes, bytes, size) == 0;
}

uint32_t ti_routes_find (struct ti_routes *self, const void *bytes, size_t size)
{
    uint32_t index;

    if (size < 1 || size > TI_ROUTE_MAX)
        return TI_ROUTE_NONE;
    if (self->last != TI_ROUTE_NONE && is_at (self, self->last, bytes, size))
        return self->last;
    index = self->buckets[bucket_of (self, bytes, size)];
    while (index != TI_ROUTE_NONE && !is_at (self, index, bytes, size))
        index = self->items[index].next;
    if (index != TI_ROUTE_NONE)
        self->last = index;
    return index;
}

uint32_t ti_routes_add (struct ti_routes *self, const void *bytes, size_t size)
{
    uint32_t index = self->free;
    uint32_t bucket;

    if (size < 1 || size > TI_ROUTE_MAX || self->count == self->max)
        return TI_ROUTE_NONE;
    bucket = bucket_of (self, bytes, size);
    self->free = self->items[index].next;
    self->items[index].size = (uint8_t)size;
    memcpy (self->items[index].bytes, bytes, size);
    self->items[index].next = self->buckets[bucket];
    self->buckets[bucket] = index;
    self->count++;
    return index;
}

void ti_routes_remove (struct ti_routes *self, uint32_t index)
{
    struct ti_route *item = &self->items[index];
    uint32_t *link;

    TI_ASSERT (index < self->max);
    TI_ASSERT (item->size > 0);
    link = &self->buckets[bucket_of (self, item->bytes, item->size)];
    while (*link != index)
        link = &self->items[*link].next;
    *link = item->next;
    item->next = self->free;
    item->size = 0;
    self->free = index;
    self->count--;
    if (self->last == index)
        self->last = TI_ROUTE_NONE;
}
