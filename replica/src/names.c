/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

int ti_names_init (struct ti_names *self, uint32_t max)
{
    uint32_t slots = 2;

    memset (self, 0, sizeof *self);
    while (slots < 2 * max)
        slots *= 2;
    self->items = calloc (max ? max : 1, sizeof *self->items);
    self->slots = calloc (slots, sizeof *self->slots);
    self->max = max;
    self->mask = slots - 1;
    if (self->items && self->slots)
        return 0;
    ti_names_deinit (self);
    return TIED_ERR_NOMEM;
}

void ti_names_deinit (struct ti_names *self)
{
    free (self->items);
    free (self->slots);
    memset (self, 0, sizeof *self);
}

int ti_names_add (struct ti_names *self, const char *text, size_t size)
{
    struct ti_name *item;
    uint32_t at;

    TI_ASSERT (size >= 1);
    TI_ASSERT (size <= TIED_NAME_MAX);
    if (ti_names_find (self, text, size) != TI_NAME_NONE)
        return TIED_ERR_EXISTS;
    if (self->count == self->max)
        return TIED_ERR_FULL;
    item = &self->items[self->count];
    item->hash = ti_hash_bytes (text, size);
    item->size = size;
    memcpy (item->text, text, size);
    at = (uint32_t)item->hash & self->mask;
    while (self->slots[at] != 0)
        at = (at + 1) & self->mask;
    self->slots[at] = ++self->count;
    return (int)(self->count - 1);
}

uint32_t ti_names_find (const struct ti_names *self, const void *text, size_t size)
{
    uint64_t hash = ti_hash_bytes (text, size <= TIED_NAME_MAX ? size : 0);
    uint32_t at = (uint32_t)hash & self->mask;

    for (; self->slots[at] != 0; at = (at + 1) & self->mask) {
        const struct ti_name *item = &self->items[self->slots[at] - 1];
        if (item->hash == hash && item->size == size && memcmp (item->text, text, size) == 0)
            return self->slots[at] - 1;
    }
    return TI_NAME_NONE;
}
